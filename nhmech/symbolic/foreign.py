"""What has no place in an expression: symbols that were not declared, numbers that are none."""

from __future__ import annotations

import math

import casadi as ca


def foreign_symbols(expression: ca.SX, known: ca.SX) -> list[ca.SX]:
    """The symbols in an expression that are not among `known`, a column of symbols."""
    return [symbol for symbol in ca.symvar(expression) if not ca.depends_on(known, symbol)]


def wrong_numbers(expression: ca.SX) -> list[float]:
    """The constants in an expression that are infinite or NaN."""
    made = ca.Function("numbers", ca.symvar(expression), [expression])
    return [number for k in range(made.n_instructions()) if made.instruction_id(k) == ca.OP_CONST
            and not math.isfinite(number := made.instruction_constant(k))]
