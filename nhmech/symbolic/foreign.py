"""Symbols of an expression that were not declared."""

from __future__ import annotations

import casadi as ca


def foreign_symbols(expression: ca.SX, known: ca.SX) -> list[ca.SX]:
    """The symbols in an expression that are not among `known`, a column of symbols."""
    return [symbol for symbol in ca.symvar(expression) if not ca.depends_on(known, symbol)]
