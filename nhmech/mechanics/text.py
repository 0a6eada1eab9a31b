"""CasADi expressions as readable mathematics, in plain text."""

from __future__ import annotations

import casadi as ca

# how strongly an operator binds its operands
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(1, 6)

_CALLS = {ca.OP_SIN: "sin", ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos",
          ca.OP_ATAN: "atan", ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_SQRT: "sqrt", ca.OP_TANH: "tanh",
          ca.OP_SINH: "sinh", ca.OP_COSH: "cosh", ca.OP_FABS: "abs", ca.OP_ATAN2: "atan2", ca.OP_SIGN: "sign",
          ca.OP_FMIN: "min", ca.OP_FMAX: "max"}


def text(expression: ca.SX) -> str:
    """One scalar expression, e.g. `m (x'^2 + y'^2) / 2`."""
    return _written(ca.SX(expression), {})[0]


def _written(e: ca.SX, known: dict[int, tuple[str, int]]) -> tuple[str, int]:
    """Text and how strongly it binds; shared parts are written once."""
    key = e.element_hash()
    if key not in known:
        known[key] = _node(e, known)
    return known[key]


def _node(e: ca.SX, known) -> tuple[str, int]:
    if e.is_constant():
        return _number(float(e))
    if e.is_symbolic():
        return e.name(), _ATOM
    op, parts = e.op(), [_written(e.dep(i), known) for i in range(e.n_dep())]

    def at(i: int, level: int) -> str:
        return parts[i][0] if parts[i][1] >= level else f"({parts[i][0]})"

    if op == ca.OP_ADD:
        return f"{at(0, _SUM)} + {at(1, _SUM)}".replace("+ -", "- "), _SUM
    if op == ca.OP_SUB:
        return f"{at(0, _SUM)} - {at(1, _PRODUCT)}", _SUM
    if op == ca.OP_NEG:
        return f"-{at(0, _PRODUCT)}", _SIGN if parts[0][1] > _PRODUCT else _SUM
    if op == ca.OP_MUL:
        return f"{at(0, _PRODUCT)} {at(1, _POWER)}", _PRODUCT
    if op == ca.OP_DIV:
        return f"{at(0, _PRODUCT)} / {at(1, _POWER)}", _PRODUCT
    if op == ca.OP_SQ:
        return f"{at(0, _ATOM)}^2", _POWER
    if op == ca.OP_TWICE:
        return f"2 {at(0, _POWER)}", _PRODUCT
    if op == ca.OP_INV:
        return f"1 / {at(0, _POWER)}", _PRODUCT
    if op in (ca.OP_POW, ca.OP_CONSTPOW):
        return f"{at(0, _ATOM)}^{at(1, _ATOM)}", _POWER
    name = _CALLS.get(op, f"op{op}")
    return f"{name}({', '.join(part[0] for part in parts)})", _ATOM


def _number(value: float) -> tuple[str, int]:
    if value == int(value) and abs(value) < 1e15:
        return str(int(value)), _ATOM if value >= 0 else _SUM
    return f"{value:.12g}", _ATOM if value >= 0 else _SUM
