"""Limits of a commanded speed, of its acceleration, and of its jerk."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import InputError

NO_LIMIT = math.nan
NEGATIVE = ("min_velocity", "max_acceleration_reverse", "max_deceleration", "min_jerk")
# the limit without which one does nothing
NEEDED = {"min_velocity": "max_velocity", "max_acceleration_reverse": "max_acceleration",
          "max_deceleration": "max_acceleration", "max_deceleration_reverse": "max_acceleration",
          "min_jerk": "max_jerk"}


@dataclass(frozen=True)
class SpeedLimits:
    """Of one component of a twist [m/s, m/s^2, m/s^3, or in rad], with the names, signs and rules
    of `diff_drive_controller` (`control_toolbox::RateLimiter`); NaN if there is none.

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
    max_jerk, min_jerk
        Of a change that grows, up (positive) and down (negative), the second minus the first where
        NaN; a change that ends may end at once.

    Raises
    ------
    InputError
        For a wrong sign, and for a limit that does nothing without another one.
    """

    max_velocity: float = NO_LIMIT
    min_velocity: float = NO_LIMIT
    max_acceleration: float = NO_LIMIT
    max_acceleration_reverse: float = NO_LIMIT
    max_deceleration: float = NO_LIMIT
    max_deceleration_reverse: float = NO_LIMIT
    max_jerk: float = NO_LIMIT
    min_jerk: float = NO_LIMIT

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            needed, right = NEEDED.get(name, name), "negative" if name in NEGATIVE else "positive"
            if value > 0 if name in NEGATIVE else value < 0:
                raise InputError(f"{name} = {value:g} must be {right}, zero, or NaN for no limit")
            if not math.isnan(value) and math.isnan(getattr(self, needed)):
                raise InputError(f"{name} = {value:g} does nothing without {needed}; set that too")

    def clip(self, wanted: float, before: float, passed: float, change: float = 0.0) -> float:
        """The speed that is commanded, `passed` [s] after `before` was, which a `change` in as much
        time had led to."""
        more = wanted - before - change
        if more * (wanted - before) > 0:
            most = self.max_jerk * passed ** 2
            least = _first(self.min_jerk * passed ** 2, -most)
            wanted = before + change + _between(more, least, most)
        up = self.max_acceleration
        down = _first(self.max_acceleration_reverse, -up)
        if before > 0:
            down = _first(self.max_deceleration, down)
        elif before < 0:
            up = _first(self.max_deceleration_reverse, up)
        wanted = before + _between(wanted - before, down * passed, up * passed)
        return _between(wanted, _first(self.min_velocity, -self.max_velocity), self.max_velocity)


def _first(value: float, other: float) -> float:
    """The value, or another one if it is NaN."""
    return other if math.isnan(value) else value


def _between(value: float, least: float, most: float) -> float:
    """The value within bounds; NaN is no bound."""
    if value < least:
        return least
    return most if value > most else value
