"""Parameters of the node, named and meant as in ros2_control's `diff_drive_controller` where it has
them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from ..errors import InputError, listed

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


@dataclass(frozen=True)
class Settings:
    """How the node behaves; `read` takes the dotted names of a ROS parameter file.

    Attributes
    ----------
    dt
        Step [s].
    speed_factor
        Simulated seconds in a second.
    cmd_vel_timeout
        [s] after which the last command ends and the vehicle brakes; 0 for never.
    base_frame_id
        What odometry is of: the root link where empty; "base_footprint" is its shadow on the plane.
    linear_x, linear_y, angular_z
        Limits of the commanded twist, "linear.x.max_velocity" and so on.

    Raises
    ------
    InputError
        For values that make no sense.

    Examples
    --------
    >>> from nhmech.ros import Settings
    >>> Settings.read({"linear.x.max_velocity": 0.5}).linear_x.max_velocity
    0.5
    """

    dt: float = 1e-3
    speed_factor: float = 1.0
    cmd_vel_timeout: float = 0.5
    base_frame_id: str = ""
    linear_x: SpeedLimits = field(default_factory=SpeedLimits)
    linear_y: SpeedLimits = field(default_factory=SpeedLimits)
    angular_z: SpeedLimits = field(default_factory=SpeedLimits)

    def __post_init__(self) -> None:
        for name in ("dt", "speed_factor"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"parameter {name} = {getattr(self, name)} must be positive")
        if not 0 <= self.cmd_vel_timeout < math.inf:
            raise InputError(f"parameter cmd_vel_timeout = {self.cmd_vel_timeout} must be 0 "
                             "(never) or a time in seconds")

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Settings:
        """From the names and values of ROS parameters.

        Raises
        ------
        InputError
            For a name or a value that it cannot take.
        """
        known = parameters()
        values: dict[str, Any] = {}
        limits: dict[str, dict[str, float]] = {}
        for name, value in given.items():
            if name not in known:
                near = get_close_matches(name, known, 1)
                raise InputError(f"no parameter {name!r}; " + (
                    f"did you mean {near[0]}?" if near else f"there are {listed(known, 40)}"))
            value = _read_value(name, value, known[name])
            group, dot, leaf = name.rpartition(".")
            if dot:
                limits.setdefault(group.replace(".", "_"), {})[leaf] = value
            else:
                values[name] = value
        values |= {group: SpeedLimits(**words) for group, words in limits.items()}
        return cls(**values)


def parameters() -> dict[str, Any]:
    """ROS name of each parameter -> its default."""
    found: dict[str, Any] = {}
    defaults = Settings()
    for part in fields(Settings):
        value = getattr(defaults, part.name)
        if isinstance(value, SpeedLimits):
            dotted = part.name.replace("_", ".")
            found |= {f"{dotted}.{limit.name}": NO_LIMIT for limit in fields(SpeedLimits)}
        else:
            found[part.name] = value
    return found


def _read_value(name: str, value: object, default: object) -> Any:
    """A value of the default's type."""
    if isinstance(default, str):
        if isinstance(value, str):
            return value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise InputError(f"parameter {name} = {value!r} is not of the type of its default, {default!r}")
