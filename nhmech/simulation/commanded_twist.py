"""The body twist that a controller commands, for the runs that keep it."""

from __future__ import annotations

import numpy as np

from ..errors import SimulationError
from .command import optional, raised_in

NAMES = ("commanded_forward_speed", "commanded_lateral_speed", "commanded_yaw_rate")
UNITS = ("m/s", "m/s", "rad/s")
NOT_YET = (np.nan,) * len(NAMES)      # of a controller that commands twists and has commanded none so far


def commanded_twist(controller) -> np.ndarray | None:
    """(3,) forward [m/s], lateral [m/s], yaw rate [rad/s] of the base that the last command is to bring about.

    A controller says so by an attribute (or property) `commanded_twist`: three numbers after each of its calls,
    `NOT_YET` before the first and whenever it commands none for a while. It is there from the beginning, for a run
    looks once whether to keep it. None, or no such attribute: this controller commands no twists.

    Raises `SimulationError` where it is something else.
    """
    try:
        found = optional(controller, "commanded_twist")
    except Exception as error:
        raise SimulationError(f"commanded_twist raised {type(error).__name__}: {error}{raised_in(error)}") from error
    if found is None:
        return None
    try:
        twist = np.array(found, dtype=float)
    except (TypeError, ValueError, OverflowError):
        twist = np.zeros(0)
    if twist.shape != (len(NAMES),) or not (np.isfinite(twist).all() or np.isnan(twist).all()):
        raise SimulationError(f"commanded_twist is {found!r}; expected forward [m/s], lateral [m/s] and yaw rate "
                              "[rad/s], three numbers that are finite, or all NaN where there is none, or None of a "
                              "controller that commands no twists")
    return twist
