"""CasADi expressions as SymPy's, for simplification and LaTeX. Needs the extra `latex`."""

from __future__ import annotations

import operator
import re

import casadi as ca

from ..errors import MechanicsError


def to_sympy(expression: ca.SX):
    """A SymPy matrix, or a scalar expression for (1, 1).

    Raises
    ------
    MechanicsError
        Where SymPy is missing, or for an operation it does not know.
    """
    try:
        import sympy
    except ImportError as error:
        raise MechanicsError("LaTeX needs SymPy: pip install sympy") from error
    known: dict[int, object] = {}
    rows, columns = expression.shape
    entries = [[_convert(ca.SX(expression[i, j]), sympy,
                           known) for j in range(columns)] for i in range(rows)]
    return (
        entries[0][0] if expression.is_scalar() else sympy.Matrix(rows, columns, sum(entries, []))
    )


def latex(expression: ca.SX) -> str:
    """LaTeX of the simplified expression."""
    value = to_sympy(expression)
    import sympy

    return sympy.latex(
        value.applyfunc(sympy.simplify) if hasattr(value, "applyfunc") else sympy.simplify(value)
    )


def _convert(e: ca.SX, sympy, known):
    key = e.element_hash()
    if key in known:
        return known[key]
    if e.is_constant():
        simple = abs(float(e)) < 1e6 and float(e * 5040).is_integer()
        value = sympy.nsimplify(float(e), rational=True) if simple else sympy.Float(float(e))
    elif e.is_symbolic():
        value = sympy.Symbol(_symbol(e.name()), real=True)
    else:
        parts = [_convert(e.dep(i), sympy, known) for i in range(e.n_dep())]
        value = _apply(e.op(), parts, sympy)
    known[key] = value
    return value


def _apply(op: int, x: list, sympy):
    if op in (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_POW, ca.OP_CONSTPOW):
        a, b = x
        apply = {ca.OP_ADD: operator.add, ca.OP_SUB: operator.sub, ca.OP_MUL: operator.mul,
                 ca.OP_DIV: operator.truediv}
        return apply.get(op, operator.pow)(a, b)
    if op in (ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV):
        return {ca.OP_NEG: -x[0], ca.OP_SQ: x[0] ** 2, ca.OP_TWICE: 2 * x[0],
                ca.OP_INV: 1 / x[0]}[op]
    names = {ca.OP_SIN: "sin", ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_ASIN: "asin",
             ca.OP_ACOS: "acos",
             ca.OP_ATAN: "atan", ca.OP_ATAN2: "atan2", ca.OP_EXP: "exp", ca.OP_LOG: "log",
             ca.OP_SQRT: "sqrt", ca.OP_TANH: "tanh", ca.OP_FABS: "Abs", ca.OP_SIGN: "sign"}
    if op not in names:
        raise MechanicsError(f"CasADi operation {op} has no counterpart in SymPy here")
    return getattr(sympy, names[op])(*x)


def _symbol(name: str) -> str:
    r"""x' becomes \dot{x}, x'' \ddot{x}; other names are left to SymPy, which knows Greek letters
    and indices."""
    primes = re.fullmatch(r"(\w+)('{1,2})", name)
    return rf"\{'d' * len(primes[2])}ot{{{primes[1]}}}" if primes else name


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


def text(expression: ca.SX) -> str:
    """One scalar expression, e.g. `m (x'^2 + y'^2) / 2`."""
    return _write(ca.SX(expression), {})[0]


def _write(e: ca.SX, known: dict[int, tuple[str, int]]) -> tuple[str, int]:
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
    op, parts = e.op(), [_write(e.dep(i), known) for i in range(e.n_dep())]

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
