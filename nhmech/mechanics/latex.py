"""CasADi expressions as SymPy's, for simplification and LaTeX. Needs the extra `latex`."""

from __future__ import annotations

import operator
import re

import casadi as ca

from ..errors import MechanicsError


def to_sympy(expression: ca.SX):
    """A SymPy matrix, or a scalar expression for (1, 1).

    Raises `MechanicsError` where SymPy is missing, or for an operation it does not know.
    """
    try:
        import sympy
    except ImportError as error:
        raise MechanicsError("LaTeX needs SymPy: pip install sympy") from error
    known: dict[int, object] = {}
    rows, columns = expression.shape
    entries = [[_converted(ca.SX(expression[i, j]), sympy, known) for j in range(columns)] for i in range(rows)]
    return entries[0][0] if expression.is_scalar() else sympy.Matrix(rows, columns, sum(entries, []))


def latex(expression: ca.SX) -> str:
    """LaTeX of the simplified expression."""
    value = to_sympy(expression)
    import sympy

    return sympy.latex(value.applyfunc(sympy.simplify) if hasattr(value, "applyfunc") else sympy.simplify(value))


def _converted(e: ca.SX, sympy, known):
    key = e.element_hash()
    if key in known:
        return known[key]
    if e.is_constant():
        simple = abs(float(e)) < 1e6 and float(e * 5040).is_integer()
        value = sympy.nsimplify(float(e), rational=True) if simple else sympy.Float(float(e))
    elif e.is_symbolic():
        value = sympy.Symbol(_symbol(e.name()), real=True)
    else:
        parts = [_converted(e.dep(i), sympy, known) for i in range(e.n_dep())]
        value = _applied(e.op(), parts, sympy)
    known[key] = value
    return value


def _applied(op: int, x: list, sympy):
    if op in (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_POW, ca.OP_CONSTPOW):
        a, b = x
        apply = {ca.OP_ADD: operator.add, ca.OP_SUB: operator.sub, ca.OP_MUL: operator.mul, ca.OP_DIV: operator.truediv}
        return apply.get(op, operator.pow)(a, b)
    if op in (ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV):
        return {ca.OP_NEG: -x[0], ca.OP_SQ: x[0] ** 2, ca.OP_TWICE: 2 * x[0], ca.OP_INV: 1 / x[0]}[op]
    names = {ca.OP_SIN: "sin", ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos",
             ca.OP_ATAN: "atan", ca.OP_ATAN2: "atan2", ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_SQRT: "sqrt",
             ca.OP_TANH: "tanh", ca.OP_FABS: "Abs", ca.OP_SIGN: "sign"}
    if op not in names:
        raise MechanicsError(f"CasADi operation {op} has no counterpart in SymPy here")
    return getattr(sympy, names[op])(*x)


def _symbol(name: str) -> str:
    r"""x' becomes \dot{x}, x'' \ddot{x}; other names are left to SymPy, which knows Greek letters and indices."""
    primes = re.fullmatch(r"(\w+)('{1,2})", name)
    return rf"\{'d' * len(primes[2])}ot{{{primes[1]}}}" if primes else name
