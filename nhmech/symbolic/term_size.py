"""How large the terms of a sum are, beside which what cancels among them is rounding."""

from __future__ import annotations

import casadi as ca


def term_size(expression: ca.SX) -> ca.SX:
    """The sum of the magnitudes of a scalar's terms: |a| + |b| of a - b."""
    size, waiting = ca.SX(0.0), [ca.SX(expression)]
    while waiting:
        e = waiting.pop()
        if e.n_dep() and e.op() in (ca.OP_ADD, ca.OP_SUB, ca.OP_NEG):
            waiting += (e.dep(i) for i in range(e.n_dep()))
        else:
            size += ca.fabs(e)
    return size
