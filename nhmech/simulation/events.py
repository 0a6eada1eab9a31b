"""Zeros of functions of the state that end or mark a run: what they are, and how they are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..checks import is_finite
from ..errors import InputError, SimulationError
from .callbacks import call
from .propagator import Bookmark, Propagator
from .state import State

# [s] to which a zero is located, and its part of t where t is large
LOCATED = 1e-10


@dataclass(frozen=True)
class Event:
    """A moment at which a function of time and state is zero.

    Attributes
    ----------
    name
        As in `trajectory.events`, and in `trajectory.stop` where it ends the run.
    function
        Any callable (t, state) -> number.
    terminal
        Ends the run there; otherwise the time is only noted in `trajectory.events`.
    direction
        +1 for rising zeros only, -1 for falling ones only, 0 for both.
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

    def is_crossed(self, before: float, after: float) -> bool:
        """Whether the function went through zero between two values."""
        rising, falling = before < 0 <= after, before > 0 >= after
        return (rising and self.direction >= 0) or (falling and self.direction <= 0)

    def value(self, state: State) -> float:
        """The function at a state. Raises `SimulationError` where it fails or is not a number."""
        value = call(self.function, f"event {self.name!r}", state)
        if not is_finite(value):
            raise SimulationError(f"event {self.name!r} is {value!r} at t = {state.t:.6g} s; "
                                  "expected a finite number")
        return float(value)

    def __repr__(self) -> str:
        direction = {1: "rising", -1: "falling"}.get(self.direction, "any direction")
        kind = "terminal" if self.terminal else "noted"
        return f"Event({self.name!r}, {kind}, {direction}{', limit' if self.limit else ''})"


class Watch:
    """Takes the steps of a run, and looks at events after each of them.

    Parameters
    ----------
    noted
        List to which (time [s], name) of each event is added.
    """

    def __init__(self, events: Iterable[Event], propagator: Propagator,
                 noted: list[tuple[float, str]]):
        self.events = tuple(events)
        self.noted = noted
        self._propagator = propagator
        self._values = self._read() if self.events else []
        self._is_begun = False

    def step(self, dt: float) -> str | None:
        """One step of `dt` [s]. Returns the name of a terminal event on its way, at which the
        moment is then."""
        name = None if self._is_begun else self._begin()
        if name is not None:
            return name
        before = self._propagator.bookmark() if self.events else None
        if dt == self._propagator.dt:
            self._propagator.step()
        else:
            self._propagator.advance(dt)
        return None if before is None else self._look(before)

    def _begin(self) -> str | None:
        """Notes limits that are passed at the start. Returns the name of a terminal one."""
        self._is_begun = True
        name = None
        state = self._propagator.moment.state
        for i, event in enumerate(self.events):
            if event.limit and (value := event.value(state)) <= 0:
                self._values[i] = value
                self.noted.append((state.t, event.name))
                name = name or (event.name if event.terminal else None)
        return name

    def _look(self, before: Bookmark) -> str | None:
        """Notes what was crossed since `before`. Goes back to the first terminal event and returns
        its name."""
        old, self._values = self._values, self._read()
        first = None
        for event, start, value in zip(self.events, old, self._values):
            if event.is_crossed(start, value):
                t = self._locate(event, before, start)
                self.noted.append((t, event.name))
                if event.terminal and (first is None or t < first[0]):
                    first = t, event.name
        if first is None:
            return None
        t, name = first
        # what came later did not happen
        self.noted[:] = [noted for noted in self.noted if noted[0] <= t]
        self._propagator.restore(before)
        self._propagator.advance(t - self._propagator.moment.t)
        return name

    def _locate(self, event: Event, before: Bookmark, start: float) -> float:
        """Time [s] of the zero within the last step, by bisection of the step itself."""
        propagator = self._propagator
        after, end = propagator.bookmark(), propagator.moment.t
        propagator.restore(before)
        t = propagator.moment.t
        low, high = 0.0, end - t
        while high - low > LOCATED * max(1.0, abs(t)):
            middle = (low + high) / 2
            propagator.restore(before)
            propagator.advance(middle)
            if event.is_crossed(start, event.value(propagator.moment.state)):
                high = middle
            else:
                low = middle
        propagator.restore(after)
        return t + high

    def _read(self) -> list[float]:
        state = self._propagator.moment.state
        return [event.value(state) for event in self.events]


def read_events(events: object) -> tuple[Event, ...]:
    """Events, as a tuple. Raises `InputError` for what is none."""
    found = tuple(events) if isinstance(events, Iterable) else (events,)
    for event in found:
        if not isinstance(event, Event):
            raise InputError(f"events = {events!r} must be a list of Event(name, function), and "
                             f"{event!r} is none")
    return found
