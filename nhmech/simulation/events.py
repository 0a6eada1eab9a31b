"""Events: zeros of functions of time and state that end or mark a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..checks import as_items, is_finite
from ..errors import InputError, SimulationError
from .callbacks import call
from .state import State

Number = TypeVar("Number", float, np.ndarray)


@dataclass(frozen=True)
class Event:
    """A moment at which a function of time and state is zero.

    It is found where the function has different signs before and after a step: of two zeros within
    one step nothing is seen.

    Attributes
    ----------
    name
        As in `trajectory.events`, and in `trajectory.stop` where it ends the run.
    function
        Any callable (t, state) -> number.
    terminal
        Whether the run ends there; otherwise the time is only recorded in `trajectory.events`.
    direction
        +1 for rising zeros only, -1 for falling ones only, 0 for both.
    limit
        Whether the function must stay positive: a run that starts where it is not positive, with
        the first command, has its event at the start.
    along
        A fast evaluation of many states at once, (t (N,), q (N, nq), v (N, nv), u (N, nu)) -> (N,)
        numbers with the sign of `function`, not necessarily its values. If every event of a run has
        one, all steps between two commands are taken in compiled code.

    Examples
    --------
    >>> far = Event("one metre", lambda t, state: state.pose[0] - 1.0)
    >>> simulator = Simulator(vehicle, events=[far])
    >>> start = simulator.reset(xi={"forward_speed": 1.0})
    >>> simulator.run(5.0).stop
    'event: one metre'
    """

    name: str
    function: Callable[[float, State], float]
    terminal: bool = True
    direction: int = 0
    limit: bool = False
    along: Callable[..., np.ndarray] | None = None

    def is_crossed(self, before: Number, after: Number) -> Number | bool:
        """Whether the function went through zero between two values, or between the values of two
        arrays."""
        rising, falling = (before < 0) & (after >= 0), (before > 0) & (after <= 0)
        return (rising & (self.direction >= 0)) | (falling & (self.direction <= 0))

    def value(self, state: State) -> float:
        """The function at a state. Raises `SimulationError` if it fails or returns no number."""
        value = call(self.function, f"event {self.name!r}", state)
        if not is_finite(value):
            raise SimulationError(f"event {self.name!r} is {value!r} at t = {state.t:.6g} s; "
                                  "expected a finite number")
        return float(value)

    def __repr__(self) -> str:
        direction = {1: "rising", -1: "falling"}.get(self.direction, "any direction")
        kind = "terminal" if self.terminal else "noted"
        return f"Event({self.name!r}, {kind}, {direction}{', limit' if self.limit else ''})"


def read_events(events: object) -> tuple[Event, ...]:
    """Events, as a tuple. Raises `InputError` for anything else."""
    found = as_items(events)
    for event in found:
        if not isinstance(event, Event):
            raise InputError(f"events = {events!r} must be a list of Event(name, function), and "
                             f"{event!r} is none")
    return found
