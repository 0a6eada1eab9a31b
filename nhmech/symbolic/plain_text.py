"""Expressions as plain text, as they stand: nothing is simplified."""

from __future__ import annotations

from math import inf

import casadi as ca

# how strongly an operator binds its operands
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(1, 6)

# operator -> layout, how strongly each operand must bind, how strongly the result does
_OPERATORS = {
    ca.OP_ADD: ("{} + {}", (_SUM, _SUM), _SUM),
    ca.OP_SUB: ("{} - {}", (_SUM, _PRODUCT), _SUM),
    ca.OP_MUL: ("{} {}", (_PRODUCT, _POWER), _PRODUCT),
    ca.OP_DIV: ("{} / {}", (_PRODUCT, _POWER), _PRODUCT),
    ca.OP_SQ: ("{}^2", (_ATOM,), _POWER),
    ca.OP_TWICE: ("2 {}", (_POWER,), _PRODUCT),
    ca.OP_INV: ("1 / {}", (_POWER,), _PRODUCT),
    ca.OP_POW: ("{}^{}", (_ATOM, _ATOM), _POWER),
    ca.OP_CONSTPOW: ("{}^{}", (_ATOM, _ATOM), _POWER),
}

_CALLS = {ca.OP_SIN: "sin", ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_ASIN: "asin",
          ca.OP_ACOS: "acos",
          ca.OP_ATAN: "atan", ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_SQRT: "sqrt",
          ca.OP_TANH: "tanh",
          ca.OP_SINH: "sinh", ca.OP_COSH: "cosh", ca.OP_FABS: "abs", ca.OP_ATAN2: "atan2",
          ca.OP_SIGN: "sign", ca.OP_FMIN: "min", ca.OP_FMAX: "max"}


def text(expression: ca.SX, most: float = inf) -> str:
    """One expression, e.g. `m (x'^2 + y'^2) / 2`. Raises `OverflowError` if it gets longer."""
    known: dict[int, tuple[str, int]] = {}      # text and how strongly it binds
    stack = [ca.SX(expression)]
    while stack:  # deeper than Python's recursion goes
        parts = [stack[-1].dep(i) for i in range(stack[-1].n_dep())]
        if missing := [part for part in parts if part.element_hash() not in known]:
            stack += missing
            continue
        e = stack.pop()
        written = _node(e, [known[part.element_hash()] for part in parts])
        if len(written[0]) > most:
            raise OverflowError
        known[e.element_hash()] = written
    return written[0]


def _node(e: ca.SX, parts: list[tuple[str, int]]) -> tuple[str, int]:
    """Text and how strongly it binds, of an expression whose parts are written."""
    if e.is_constant():
        return _number(float(e))
    if e.is_symbolic():
        return e.name(), _ATOM
    op = e.op()

    def at(i: int, level: int) -> str:
        return parts[i][0] if parts[i][1] >= level else f"({parts[i][0]})"

    if op == ca.OP_NEG:
        return f"-{at(0, _PRODUCT)}", _SIGN if parts[0][1] > _PRODUCT else _SUM
    if op in _OPERATORS:
        layout, needed, level = _OPERATORS[op]
        written = layout.format(*(at(i, least) for i, least in enumerate(needed)))
        return (written.replace("+ -", "- ") if op == ca.OP_ADD else written), level
    name = _CALLS.get(op, f"op{op}")
    return f"{name}({', '.join(part[0] for part in parts)})", _ATOM


def _number(value: float) -> tuple[str, int]:
    if value == int(value) and abs(value) < 1e15:
        return str(int(value)), _ATOM if value >= 0 else _SUM
    return f"{value:.12g}", _ATOM if value >= 0 else _SUM
