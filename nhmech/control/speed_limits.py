"""Limits of a commanded speed and of its change."""

from __future__ import annotations

import math
from dataclasses import dataclass

NO_LIMIT = math.nan


@dataclass(frozen=True)
class SpeedLimits:
    """Of one component of a twist [m/s, m/s^2, or rad/s, rad/s^2], with the names and signs of
    `diff_drive_controller`; NaN where there is none.

    Attributes
    ----------
    max_velocity, min_velocity
        Forward and backward; min_velocity is -max_velocity where NaN.
    max_acceleration, max_acceleration_reverse
        Away from zero, forward (positive) and backward (negative); the second is minus the first
        where NaN.
    max_deceleration, max_deceleration_reverse
        Towards zero, from forward (negative) and from backward (positive);
        max_acceleration_reverse and max_acceleration where NaN.
    """

    max_velocity: float = NO_LIMIT
    min_velocity: float = NO_LIMIT
    max_acceleration: float = NO_LIMIT
    max_acceleration_reverse: float = NO_LIMIT
    max_deceleration: float = NO_LIMIT
    max_deceleration_reverse: float = NO_LIMIT

    def clip(self, wanted: float, before: float, passed: float) -> float:
        """The speed that is commanded, `passed` [s] after `before` was."""
        most = abs(self.max_velocity)
        wanted = _between(wanted, _first(self.min_velocity, -most), most)
        if before * wanted < 0:               # through zero it first slows down
            wanted = 0.0
        ahead, back = self.max_acceleration, _first(self.max_acceleration_reverse,
                                                    self.max_acceleration)
        up, down = ((ahead, _first(self.max_deceleration, back)) if (before or wanted) > 0 else
                    (back, _first(self.max_deceleration_reverse, ahead)))
        step = abs(down if abs(wanted) < abs(before) else up) * passed
        return before + _between(wanted - before, -step, step)


def _first(value: float, other: float) -> float:
    """The value; another one where it is NaN."""
    return other if math.isnan(value) else value


def _between(value: float, least: float, most: float) -> float:
    """The value within bounds, of which NaN bounds nothing."""
    if value < least:
        return least
    return most if value > most else value
