"""Controllers built from other controllers: held, delayed, limited, switched, added.

Each takes any callable (t, state) -> Command and is one; `reset` reaches the controllers inside,
and `start` is that of the first of them. What they see instead of the state itself is in
`measurement`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import as_numbers, read_time, read_word
from ..errors import InputError, SimulationError
from ..simulation.callbacks import controller_name, optional_attribute
from ..simulation.command import (
    NAMED,
    NOT_YET,
    Command,
    Controller,
    JointPosition,
    JointTorque,
    JointVelocity,
    NamedCommand,
    commanded_twist,
)
from ..simulation.state import State

Bound = float | Mapping[str, float]
NOTHING_YET = np.array(NOT_YET)        # of a controller that has commanded no twist so far
# [s] by which a moment that is due may be missed, for times are multiples of dt in floating point
EARLY = 1e-9


class Combinator:
    """A controller with others inside.

    Parameters
    ----------
    inside
        The controllers.
    """

    def __init__(self, *inside: Controller):
        if not inside:
            raise InputError(f"{type(self).__name__} needs at least one controller")
        for controller in inside:
            if not callable(controller):
                raise InputError(f"{type(self).__name__} takes controllers, that is, callables (t, "
                                 f"state) -> command, not {controller!r}")
        self.inside = inside

    def __repr__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Name for messages, such as Delay(PurePursuit)."""
        return f"{type(self).__name__}({', '.join(map(controller_name, self.inside))})"

    @property
    def start(self) -> dict:
        """Arguments of `Simulator.reset` that go with the first controller inside."""
        return getattr(self.inside[0], "start", {})

    @property
    def path_reference(self) -> dict | None:
        """The path reference of the first inner controller that follows a path."""
        return self._first_inside("path_reference")

    @property
    def measurement_noise(self) -> dict[str, float] | None:
        """Measurement noise of the first inner controller that has any."""
        return self._first_inside("measurement_noise")

    def _first_inside(self, name: str) -> Any:
        found = (optional_attribute(controller, name) for controller in self.inside)
        return next((value for value in found if value is not None), None)

    @property
    def commanded_twist(self) -> np.ndarray | None:
        """The twist of the first inner controller that commands twists, after the changes of this
        one."""
        return next((twist for twist in self._inner_twists() if twist is not None), None)

    def _inner_twists(self) -> list[np.ndarray | None]:
        return [commanded_twist(controller) for controller in self.inside]

    def reset(self) -> None:
        """Resets the controllers inside that have a `reset`, and forgets the run so far."""
        for controller in self.inside:
            if hasattr(controller, "reset"):
                controller.reset()
        self._forget()

    def _forget(self) -> None:
        """Resets the memory of a subclass."""


class Hold(Combinator):
    """Calls a controller at a fixed period and holds its command in between (zero-order hold).

    Parameters
    ----------
    controller
        The controller inside.
    period
        [s].

    Examples
    --------
    >>> from nhmech.control import Hold, TwistDrive
    >>> slow = Hold(TwistDrive(vehicle, (0.5, 0.0, 0.0)), period=0.05)
    >>> Simulator(vehicle, slow, control_period=0.01).run(0.1).stop
    'duration'
    """

    def __init__(self, controller: Controller, period: float):
        super().__init__(controller)
        self.period = read_time("period", period)
        self._forget()

    def _forget(self) -> None:
        self._due = -math.inf
        self._command: Command = None

    def __call__(self, t: float, state: State) -> Command:
        if t >= self._due - EARLY:
            begin = t if self._due == -math.inf else self._due
            self._due = begin + self.period * (math.floor((t - begin + EARLY) / self.period) + 1)
            self._command = self.inside[0](t, state)
        return self._command


class Delay(Combinator):
    """Delays commands: u(t) = k(t - delay, state at t - delay).

    No command (None) is given before the first one has arrived. If the delay is not a multiple of
    the control period, the newest command that is old enough is used.

    Parameters
    ----------
    controller
        The controller inside.
    delay
        [s].
    """

    def __init__(self, controller: Controller, delay: float):
        super().__init__(controller)
        self.delay = read_time("delay", delay)
        self._forget()

    def _forget(self) -> None:
        self._waiting: deque[tuple[float, Command, np.ndarray | None]] = deque()
        self._command: Command = None
        self._twist: np.ndarray | None = NOTHING_YET

    @property
    def commanded_twist(self) -> np.ndarray | None:
        """The twist that has arrived by now."""
        return None if super().commanded_twist is None else self._twist

    def __call__(self, t: float, state: State) -> Command:
        command = self.inside[0](t, state)
        self._waiting.append((t, command, super().commanded_twist))
        while self._waiting and self._waiting[0][0] <= t - self.delay + EARLY:
            _, self._command, self._twist = self._waiting.popleft()
        return self._command


class Saturation(Combinator):
    """Clips commands to bounds: +- one number, or one number by joint name.

    Numbers that are not finite are passed on; the simulator refuses them.

    Parameters
    ----------
    controller
        The controller inside.
    effort
        [N m, N] of `JointTorque`.
    velocity
        [rad/s, m/s] of `JointVelocity`.
    position
        [rad, m] of `JointPosition`.
    plain
        Bound for commands that are plain numbers, one for all or one for each; `effort` if that is
        a number.

    Raises
    ------
    InputError
        For bounds that are negative or no numbers.
    """

    def __init__(self, controller: Controller, *, effort: Bound | None = None,
                 velocity: Bound | None = None,
                 position: Bound | None = None, plain: float | Sequence[float] | None = None):
        super().__init__(controller)
        self._bounds: dict[type[NamedCommand], Bound | None] = {
            JointTorque: _read_bound("effort", effort),
            JointVelocity: _read_bound("velocity", velocity),
            JointPosition: _read_bound("position", position)}
        if plain is None and isinstance(effort, (int, float)):
            plain = effort
        self._plain = None if plain is None else as_numbers(plain)
        if plain is not None and not (self._plain is not None and np.all(self._plain >= 0)):
            raise InputError(f"plain = {plain} must be bounds, zero or more")

    def __call__(self, t: float, state: State) -> Command:
        return self._cut(self.inside[0](t, state))

    def _cut(self, command: Command) -> Command:
        if isinstance(command, NAMED):
            return self._cut_named(command)
        if isinstance(command, (list, tuple)) and any(isinstance(part, NAMED) for part in command):
            return [self._cut_named(part) if isinstance(part, NAMED) else part for part in command]
        if self._plain is None:
            return command
        value = np.asarray(command)
        if value.dtype.kind not in "fiu" or self._plain.shape not in ((), value.shape):
            # not a command at all, or of the wrong size: the simulator reports it
            return command
        return np.where(np.isfinite(value), np.clip(value, -self._plain, self._plain), value)

    def _cut_named(self, command: NamedCommand) -> NamedCommand:
        bound = self._bounds[type(command)]
        if bound is None or not isinstance(command.values, Mapping):
            return command
        cut = {}
        for name, value in command.values.items():
            limit = bound.get(name, math.inf) if isinstance(bound, Mapping) else bound
            beyond = isinstance(value, (int, float, np.number)) and limit < abs(value) < math.inf
            cut[name] = math.copysign(limit, value) if beyond else value
        return replace(command, values=cut)


class Switch(Combinator):
    """Uses one controller until `when`, and another from then on.

    The second controller's `reset` is called only at the start of the run; at the switch it
    continues with the time and the state of the run.

    Parameters
    ----------
    first, second
        The controllers.
    when
        A time [s], or a predicate (t, state) -> bool.
    latch
        Whether the second controller stays active after the switch; otherwise the predicate decides
        at each call and must have its own hysteresis.
    """

    def __init__(self, first: Controller, second: Controller,
                 when: float | Callable[[float, State], bool], *, latch: bool = True):
        super().__init__(first, second)
        self.when = when if callable(when) else read_time("when", when)
        self.latch = latch
        self._forget()

    def _forget(self) -> None:
        self._switched = False

    def __call__(self, t: float, state: State) -> Command:
        if not (self._switched and self.latch):
            self._switched = (bool(self.when(t, state)) if callable(self.when)
                              else t >= self.when - EARLY)
        return self.inside[self._switched](t, state)

    @property
    def commanded_twist(self) -> np.ndarray | None:
        """The twist of the active controller."""
        twists = self._inner_twists()
        active, other = twists[self._switched], twists[not self._switched]
        return NOTHING_YET if active is None and other is not None else active


class Sum(Combinator):
    """Adds the commands of several controllers, for example a feed-forward and a feedback.

    All must return plain numbers, or all named commands, whose values are added joint by joint for
    each kind. None counts as zero.

    Parameters
    ----------
    inside
        The controllers.

    Raises
    ------
    SimulationError
        For a mixture of the two.
    """

    def __call__(self, t: float, state: State) -> Command:
        answers = [(controller, answer) for controller in self.inside
                   if (answer := controller(t, state)) is not None]
        if len(answers) < 2:
            return answers[0][1] if answers else None
        parts = [part for _, answer in answers
                 for part in (answer if isinstance(answer, (list, tuple)) else (answer,))]
        if all(isinstance(part, NAMED) and isinstance(part.values, Mapping) for part in parts):
            return _add_named(parts)
        try:
            arrays = [np.asarray(answer, dtype=float) for _, answer in answers]
        except (TypeError, ValueError):
            arrays = []
        if len({array.shape for array in arrays}) != 1:
            found = ", ".join(f"{type(answer).__name__}{list(np.asarray(answer).shape) or ''} of "
                              f"{controller_name(controller)}" for controller, answer in answers)
            raise SimulationError(f"Sum cannot add {found}: all controllers must return arrays of "
                                  "one length, or all must return named commands")
        return sum(arrays[1:], arrays[0])

    @property
    def commanded_twist(self) -> np.ndarray | None:
        """The sum of the twists of those that command one."""
        twists = [twist for twist in self._inner_twists() if twist is not None]
        there = [twist for twist in twists if np.isfinite(twist).all()]
        if there:
            return sum(there[1:], there[0])
        return NOTHING_YET if twists else None


def _add_named(parts: Iterable[NamedCommand]) -> list[NamedCommand]:
    """One command of each kind, its values added joint by joint, with the sum of the acceleration
    limits."""
    totals: dict[type[NamedCommand], dict[str, float]] = {}
    accelerations: list[float | None] = []
    for part in parts:
        total = totals.setdefault(type(part), {})
        for joint, value in part.values.items():
            total[joint] = total.get(joint, 0.0) + value
        if isinstance(part, JointVelocity):
            accelerations.append(part.acceleration)
    known = [value for value in accelerations if value is not None]
    most = sum(known) if known and len(known) == len(accelerations) else None
    return [JointVelocity(total, most) if kind is JointVelocity else kind(total)
            for kind, total in totals.items()]


def _read_bound(name: str, bound: Bound | None) -> Bound | None:
    if bound is not None:
        for value in bound.values() if isinstance(bound, Mapping) else (bound,):
            if not (isinstance(value, (int, float, np.number)) and value >= 0):
                raise InputError(f"{name} = {bound!r} must be a bound, zero or more, or such "
                                 "bounds by joint name")
    return bound


class Exchange(Combinator):
    """Several controllers by name, of which one, `chosen`, commands; at first the first. A
    controller that takes over is reset, so that it begins with the current state."""

    def __init__(self, controllers: Mapping[str, Controller]):
        super().__init__(*controllers.values())
        self.controllers = dict(controllers)
        self.chosen = next(iter(self.controllers))

    def choose(self, name: str) -> None:
        """Hands over to another controller from the next call on. Raises `InputError` for an
        unknown name."""
        read_word("controller", name, self.controllers)
        controller = self.controllers[name]
        if name != self.chosen and hasattr(controller, "reset"):
            controller.reset()
        self.chosen = name

    def __call__(self, t: float, state: State) -> Command:
        return self.controllers[self.chosen](t, state)

    @property
    def commanded_twist(self) -> np.ndarray | None:
        """The twist of the chosen controller."""
        twists = dict(zip(self.controllers, self._inner_twists()))
        active = twists[self.chosen]
        known = any(twist is not None for twist in twists.values())
        return NOTHING_YET if active is None and known else active
