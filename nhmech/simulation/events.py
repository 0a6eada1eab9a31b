"""Moments that end or mark a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import SimulationError
from .state import State


@dataclass(frozen=True)
class Event:
    """A zero of `function(t, state)`.

    Attributes
    ----------
    name
        What it is called in `Trajectory.stop` and `Trajectory.events`.
    function
        (t, state) -> number, whose zero it is.
    terminal
        Ends the run there; otherwise the moment is only noted in `trajectory.events`.
    direction
        +1 rising zeros only, -1 falling ones only, 0 both.
    limit
        The function is to stay positive: a run that starts where it is not, with the first command,
        has its event at the start.

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

    def crossed(self, before: float, after: float) -> bool:
        """Whether the function went through zero between two values."""
        rising, falling = before < 0 <= after, before > 0 >= after
        return (rising and self.direction >= 0) or (falling and self.direction <= 0)


class Watch:
    """Looks at a simulator's events after each step and notes them in a recorder."""

    def __init__(self, simulator, recorder):
        self.simulator, self.recorder = simulator, recorder
        state = simulator.state
        self.values = [self._value(event, state) for event in simulator.events]

    def passed(self) -> str | None:
        """Notes limits that are passed at the start; returns the name of a terminal one."""
        s, state, name = self.simulator, self.simulator.state, None
        for i, event in enumerate(s.events):
            if event.limit and (value := self._value(event, state)) <= 0:
                self.values[i] = value
                self.recorder.events.append((s.t, event.name))
                name = name or (event.name if event.terminal else None)
        return name

    def crossed(self, before: tuple) -> str | None:
        """Notes what was crossed since the snapshot `before`; goes back to the first terminal one,
        returns its name."""
        s, state, first = self.simulator, self.simulator.state, None
        for i, event in enumerate(s.events):
            after = self._value(event, state)
            if event.crossed(self.values[i], after):
                moment = self._locate(event, before, self.values[i])
                self.recorder.events.append((moment, event.name))
                if event.terminal and (first is None or moment < first[0]):
                    first = (moment, event.name)
            self.values[i] = after
        if first is None:
            return None
        # what came later did not happen
        self.recorder.events[:] = [noted for noted in self.recorder.events if noted[0] <= first[0]]
        s._restore(before)
        s._advance(first[0] - s.t)
        return first[1]

    def _locate(self, event: Event, before: tuple, start: float) -> float:
        """Time of the zero within the last step [s], by bisection of the step itself."""
        s = self.simulator
        after, end = s._snapshot(), s.t
        s._restore(before)
        t = s.t
        low, high = 0.0, end - t
        while high - low > 1e-10 * max(1.0, abs(t)):
            middle = (low + high) / 2
            s._restore(before)
            s._advance(middle)
            low, high = (
                (low, middle)
                if event.crossed(start, self._value(event, s.state))
                else (middle, high)
            )
        s._restore(after)
        return t + high

    def _value(self, event: Event, state: State) -> float:
        """The event's function at a state. Raises `SimulationError` where it fails or is not a
        number."""
        value = self.simulator._ask(event.function, f"event {event.name!r}", state)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = np.nan
        if not np.isfinite(number):
            raise SimulationError(f"event {event.name!r} is {value!r} at t = {state.t:.6g} s; "
                                  "expected a finite number")
        return number
