"""Commands that a controller may return, and the twist of the base that it may report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np

from ..checks import as_numbers, read_number
from ..errors import SimulationError
from .callbacks import error_location, optional_attribute
from .state import State

TWIST_NAMES = ("commanded_forward_speed", "commanded_lateral_speed", "commanded_yaw_rate")
TWIST_UNITS = ("m/s", "m/s", "rad/s")
# the twist of a controller that has not commanded one yet
NOT_YET = (np.nan,) * len(TWIST_NAMES)


class BadCommand(SimulationError):
    """A command that cannot be carried out; the simulator adds the controller's name."""


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
    acceleration
        Largest acceleration of any of these joints [rad/s^2, m/s^2]; all accelerations are scaled
        by one factor to respect it. No limit if None. A kinematic run follows at once.

    Raises
    ------
    InputError
        For an acceleration that is not positive.

    Examples
    --------
    >>> wheels = "left_wheel_joint", "right_wheel_joint"
    >>> roll = JointVelocity(dict.fromkeys(wheels, 2.0), acceleration=20.0)
    >>> Simulator(vehicle, lambda t, state: roll).run(0.01).stop
    'duration'
    """

    values: Mapping[str, float]
    acceleration: float | None = None

    def __post_init__(self) -> None:
        if self.acceleration is not None:
            read_number("acceleration", self.acceleration, "a positive number of rad/s^2",
                        above=0.0)

    def hold_back(self, accelerations: Iterable[float]) -> float:
        """The factor, at most 1, that brings the largest of some accelerations within the limit."""
        most = max(map(abs, accelerations), default=0.0)
        if self.acceleration is None or most <= self.acceleration:
            return 1.0
        return self.acceleration / most


@dataclass(frozen=True)
class JointPosition:
    """Wanted positions by joint name [rad, m].

    Attributes
    ----------
    values
        Joint name -> wanted position [rad, m].

    Examples
    --------
    >>> turn = JointPosition({"left_wheel_joint": 0.1, "right_wheel_joint": 0.1})
    >>> Simulator(vehicle, lambda t, state: turn).run(0.01).stop
    'duration'
    """

    values: Mapping[str, float]


NamedCommand = JointTorque | JointVelocity | JointPosition
NAMED = (JointTorque, JointVelocity, JointPosition)

# Efforts of the driven joints in their order (in kinematic mode: xi), one command, several, or
# None for nothing
Command = np.ndarray | NamedCommand | Sequence[NamedCommand] | None


class Controller(Protocol):
    """Supplies the inputs of a simulation.

    It is a function (t, state) -> Command, or an object that is called like one. Such an object may
    also have `reset()`, called at the start of each run; `name`, for messages;
    `start`, the arguments of `Simulator.reset` that go with it; `commanded_twist`; and
    `path_reference`, which run files keep.
    """

    def __call__(self, t: float, state: State, /) -> Command: ...


def is_named(command: Command) -> TypeGuard[NamedCommand | Sequence[NamedCommand]]:
    """Whether a command is made of named ones rather than of plain numbers."""
    if isinstance(command, (list, tuple)):
        return bool(command) and isinstance(command[0], NAMED)
    return isinstance(command, NAMED)


def commanded_twist(controller: object) -> np.ndarray | None:
    """The twist of the base that the last command aims at, (3,): forward speed [m/s], lateral speed
    [m/s], yaw rate [rad/s]; None for a controller that commands no twists.

    A controller provides it as an attribute or property `commanded_twist`, which is `NOT_YET`
    before the first call and whenever there is none for a while. A run looks only once whether it
    exists.
    """
    try:
        found = optional_attribute(controller, "commanded_twist")
    except Exception as error:
        raise SimulationError(f"commanded_twist raised {type(error).__name__}: "
                              f"{error}{error_location(error)}") from error
    if found is None:
        return None
    twist = as_numbers(found)
    if twist is None or twist.shape != (len(TWIST_NAMES),) or not (
            np.isfinite(twist).all() or np.isnan(twist).all()):
        raise SimulationError(f"commanded_twist is {found!r}; expected forward [m/s], lateral "
                              "[m/s] and yaw rate [rad/s], three numbers that are finite, or all "
                              "NaN where there is none, or None of a controller that commands no "
                              "twists")
    return twist
