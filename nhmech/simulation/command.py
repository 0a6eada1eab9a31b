"""What a controller may answer."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import SimulationError
from .state import ATTRIBUTES, State


class BadCommand(SimulationError):
    """A command that cannot be carried out; the simulator adds whose it is."""


@dataclass(frozen=True)
class JointTorque:
    """Efforts by joint name [N m, N].

    Driven joints that are not named get none.

    Attributes
    ----------
    values
        Joint name -> effort [N m, N].

    Examples
    --------
    >>> push = JointTorque({"left_wheel_joint": 0.2, "right_wheel_joint": 0.2})
    >>> Simulator(vehicle, lambda t, state: push).run(0.01).stop
    'duration'
    """

    values: Mapping[str, float]


@dataclass(frozen=True)
class JointVelocity:
    """Wanted rates by joint name [rad/s, m/s].

    Attributes
    ----------
    values
        Joint name -> wanted rate [rad/s, m/s].

    Examples
    --------
    >>> roll = JointVelocity({"left_wheel_joint": 2.0, "right_wheel_joint": 2.0})
    >>> Simulator(vehicle, lambda t, state: roll).run(0.01).stop
    'duration'
    """

    values: Mapping[str, float]


@dataclass(frozen=True)
class JointPosition:
    """Wanted positions by joint name [rad, m].

    Attributes
    ----------
    values
        Joint name -> wanted position [rad, m].

    Examples
    --------
    >>> turn = JointPosition({"left_wheel_joint": 1.0, "right_wheel_joint": 1.0})
    >>> Simulator(vehicle, lambda t, state: turn).run(0.01).stop
    'duration'
    """

    values: Mapping[str, float]


HERE = Path(__file__).parent
NAMED = (JointTorque, JointVelocity, JointPosition)

# Efforts of the driven joints in their order (in kinematic mode: xi), one command, several, or
# None for nothing
Named = JointTorque | JointVelocity | JointPosition
Command = np.ndarray | Named | Sequence[Named] | None


def controller_name(controller) -> str:
    """How messages call a controller: its own `name`, that of a function, or its class."""
    name = getattr(controller, "name", None)
    if isinstance(name, str):
        return name
    return getattr(controller, "__qualname__", type(controller).__name__).rpartition("<locals>.")[2]


def optional(controller, name: str):
    """What its attribute (or property) of that name says; None where there is no such. What a
    property raises is raised here, an `AttributeError` too."""
    try:
        return getattr(controller, name)
    except AttributeError:
        if inspect.getattr_static(controller, name, None) is None:
            return None
        raise


def raised_in(error: Exception, takes: str = "") -> str:
    """" (file.py, line 12)" of an error in somebody's function; nothing where it was not raised in
    a file.

    An attribute that no `State` has is followed by those that it has: here, since a `__getattr__`
    of the state's own would slow every attribute down.

    Parameters
    ----------
    takes
        What the function must take, for a `TypeError` of the call itself.
    """
    found = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        # who called it, and what it asked, is not to blame
        if Path(file).parent != HERE:
            found = file, trace.tb_lineno
        trace = trace.tb_next
    if found is None:
        return f"; it must take {takes}" if takes and isinstance(error, TypeError) else ""
    file, line = found
    where = f" ({Path(file).name}, line {line})" if file.endswith(".py") else ""
    if isinstance(error, AttributeError) and isinstance(error.obj, State):
        return f"{where}; a state has {', '.join(ATTRIBUTES)}; x, y and heading are its `pose`"
    return where


NAMES = ("commanded_forward_speed", "commanded_lateral_speed", "commanded_yaw_rate")
UNITS = ("m/s", "m/s", "rad/s")
# of a controller that commands twists and has commanded none so far
NOT_YET = (np.nan,) * len(NAMES)


def commanded_twist(controller) -> np.ndarray | None:
    """(3,) forward [m/s], lateral [m/s], yaw rate [rad/s] of the base that the last command is to
    bring about.

    A controller says so by an attribute (or property) `commanded_twist`: three numbers after each
    of its calls, `NOT_YET` before the first and whenever it commands none for a while. It is there
    from the beginning, for a run looks once whether to keep it. None, or no such attribute: this
    controller commands no twists.

    Raises
    ------
    SimulationError
        Where it is something else.
    """
    try:
        found = optional(controller, "commanded_twist")
    except Exception as error:
        raise SimulationError(f"commanded_twist raised {type(error).__name__}: "
                              f"{error}{raised_in(error)}") from error
    if found is None:
        return None
    try:
        twist = np.array(found, dtype=float)
    except (TypeError, ValueError, OverflowError):
        twist = np.zeros(0)
    if twist.shape != (len(NAMES),) or not (np.isfinite(twist).all() or np.isnan(twist).all()):
        raise SimulationError(f"commanded_twist is {found!r}; expected forward [m/s], lateral "
                              "[m/s] and yaw rate [rad/s], three numbers that are finite, or all "
                              "NaN where there is none, or None of a controller that commands no "
                              "twists")
    return twist
