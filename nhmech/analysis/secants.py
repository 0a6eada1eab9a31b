"""The zero of a function between two of its values."""

from __future__ import annotations

from collections.abc import Callable

STEPS, CLOSE = 40, 1e-9   # of the search, far more than it takes; relative width


def find_zero(function: Callable[[float], float], low: float, high: float, left: float,
              over: float) -> float:
    """Where a function that is `left` >= 0 at `low` and `over` < 0 at `high` vanishes: secants that
    keep both ends (the Illinois method; Dowell and Jarratt, BIT 11, 1971, 168-174)."""
    held = None
    for _ in range(STEPS):
        near = CLOSE * high
        if high - low <= near:
            break
        # not nearer to an end than half of that: the other end comes near too
        secant = (low * over - high * left) / (over - left)
        middle = min(max(secant, low + near / 2), high - near / 2)
        value = function(middle)
        # what stays where it is twice counts half
        weight = 2 if held == (value >= 0) else 1
        if held := value >= 0:
            low, left, over = middle, value, over / weight
        else:
            high, over, left = middle, value, left / weight
    return low
