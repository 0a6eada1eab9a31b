"""Limits of a commanded speed and of its change."""

from __future__ import annotations

import math
from dataclasses import dataclass

NO_LIMIT = math.nan


@dataclass(frozen=True)
class SpeedLimits:
    """Of one component of a twist [m/s, m/s^2, or rad/s, rad/s^2]; NaN where there is none.

    Attributes
    ----------
    max_velocity, min_velocity
        Forward and backward; `min_velocity` is -max_velocity where NaN.
    max_acceleration
        Away from zero.
    max_deceleration
        Towards zero, negative as in `diff_drive_controller`; -max_acceleration where NaN.
    """

    max_velocity: float = NO_LIMIT
    min_velocity: float = NO_LIMIT
    max_acceleration: float = NO_LIMIT
    max_deceleration: float = NO_LIMIT

    def clip(self, wanted: float, before: float, passed: float) -> float:
        """The speed that is commanded, `passed` [s] after `before` was."""
        most = abs(self.max_velocity)
        least = -most if math.isnan(self.min_velocity) else self.min_velocity
        wanted = _between(wanted, least, most)
        down = -abs(self.max_acceleration if math.isnan(self.max_deceleration)
                    else self.max_deceleration) * passed
        if before * wanted < 0:               # through zero it first slows down
            wanted = 0.0
        change = wanted - before
        step = abs(down) if abs(wanted) < abs(before) else abs(self.max_acceleration) * passed
        return before + _between(change, -step, step)


def _between(value: float, least: float, most: float) -> float:
    """The value within bounds, of which NaN bounds nothing."""
    if value < least:
        return least
    return most if value > most else value
