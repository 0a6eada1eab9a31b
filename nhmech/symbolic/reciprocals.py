"""Divisions by one and the same number, made into products with its reciprocal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import casadi as ca

# quotients by one divisor from which its reciprocal pays: a processor takes four products in the
# time of a division, and cannot begin the next division meanwhile
SEVERAL = 3


def share_reciprocals(function: ca.Function) -> ca.Function:
    """The same SX function, where divisors of `SEVERAL` quotients, as pivots are, divide once. Its
    numbers are equal up to an ulp of each quotient; NaN stays NaN.
    """
    program = [(function.instruction_id(k), function.instruction_input(k),
                function.instruction_output(k)) for k in range(function.n_instructions())]
    divisors = _divisors(program)
    uses = Counter(divisors.values())
    if max(uses.values(), default=0) < SEVERAL:
        return function
    inputs, value = function.sx_in(), [ca.SX()] * function.sz_w()
    outputs = [[ca.SX(0)] * function.nnz_out(i) for i in range(function.n_out())]
    reciprocals: dict[tuple[int, int], ca.SX] = {}
    for k, (kind, given, place) in enumerate(program):
        if kind == ca.OP_OUTPUT:
            outputs[place[0]][place[1]] = value[given[0]]
        elif kind == ca.OP_INPUT:
            value[place[0]] = inputs[given[0]].nz[given[1]]
        elif kind == ca.OP_CONST:
            value[place[0]] = ca.SX(function.instruction_constant(k))
        elif len(given) == 1:
            value[place[0]] = ca.SX.unary(kind, value[given[0]])
        elif (divisor := divisors.get(k)) is not None and uses[divisor] >= SEVERAL:
            if divisor not in reciprocals:
                # of the negative: CasADi makes a / d of a (1 / d)
                reciprocals[divisor] = ca.SX(-1) / value[given[1]]
            value[place[0]] = -(value[given[0]] * reciprocals[divisor])
        else:
            value[place[0]] = ca.SX.binary(kind, *(value[i] for i in given))
    written = [ca.SX(function.sparsity_out(i), ca.vertcat(ca.SX(0, 1), *entries))
               for i, entries in enumerate(outputs)]
    return ca.Function(function.name(), inputs, written, function.name_in(), function.name_out(),
                       {"cse": True})


Program = Sequence[tuple[int, Sequence[int], Sequence[int]]]     # operation, from where, to where


def _divisors(program: Program) -> dict[int, tuple[int, int]]:
    """Instruction that divides -> its divisor, if not constant: where it is stored, and since
    when."""
    since: dict[int, int] = {}
    found, constant = {}, set()
    for k, (kind, given, place) in enumerate(program):
        if kind == ca.OP_DIV and since[given[1]] not in constant:
            found[k] = given[1], since[given[1]]
        if kind == ca.OP_CONST:
            constant.add(k)
        if kind != ca.OP_OUTPUT:
            since[place[0]] = k
    return found
