"""Takes the steps of a run in the equations that hold, rolling or sliding, and locates events and
bounds within them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..compile.loop import Loop
from .bounds import Bound, Bounds
from .contact.coulomb import ROLL, SLIP
from .events import Event
from .propagator import Bookmark, Propagator
from .state import State

# accuracy of the time of a zero [s], and relative to t where t is large
LOCATED = 1e-10
FEW, AHEAD = 4, 256     # least and most steps taken on trial before events are evaluated


class _TrialRows:
    """Rows of steps that are taken on trial, as `Propagator.advance_many` writes them."""

    every = 1

    def __init__(self, width: int):
        self.rows = np.empty((AHEAD + 1, width))
        self.n = 0

    def room(self, rows: int) -> int:
        """Address of memory for so many rows."""
        return self.rows.__array_interface__["data"][0] + self.n * self.rows.strides[0]

    def extend(self, rows: int) -> None:
        """Counts so many rows as written."""
        self.n += rows


class Watch:
    """Takes the steps of a run, and after each one checks the `watched` events, then the bounds;
    adds (time [s], name) of each event to `noted`. If wheels may slide, one of the bounds is the
    end of rolling: from there on, steps are taken in the equations of sliding wheels, until all of
    them roll again."""

    def __init__(self, events: Iterable[Event], bounds: Bounds, propagator: Propagator,
                 noted: list[tuple[float, str]]):
        self.events = tuple(events)
        self.bounds = bounds
        self.noted = noted
        self.watched: tuple[Event | Bound, ...] = (*self.events, *bounds.found)
        self._propagator = propagator
        # of the events, at the time before them
        self._latest: tuple[float, list[float]] | None = None
        moment = propagator.moment
        nq, nv, nu = moment.q.size, moment.v.size, moment.u.size
        self._sizes = 1, 1 + nq, 1 + nq + nv, 1 + nq + nv + nu
        if self.events:
            self._ahead = _TrialRows(self._sizes[-1] + moment.beside + len(moment.layout.angles))

    def begin(self) -> str | None:
        """Lets wheels slide if they cannot roll with the inputs at the start, and records the
        limits that are exceeded there. Returns the name of a terminal one."""
        propagator, self._latest = self._propagator, None
        coulomb, moment = propagator.coulomb, propagator.moment
        if not (coulomb is None or propagator.slides or coulomb.room(moment.state) > 0):
            self.noted.append((moment.t, SLIP))
            propagator.slip()
        if not self.watched:
            return None
        state = moment.state
        values = self._read(state)
        self.bounds.take_side(values[len(self.events):])
        passed = [one for one, value in zip(self.watched, values)
                  if value <= 0 and (isinstance(one, Bound) or one.limit)]
        if not passed:
            return None
        self.noted += [(state.t, one.name) for one in passed]
        return next((one.name for one in passed if one.terminal), None)

    def free_steps(self, loop: Loop, steps: int) -> int:
        """The number of the next `steps`, with constant inputs, that end before any event. They are
        taken on trial in compiled code, and undone. Zero if `step` must take the next one."""
        if not self.events:
            return steps
        looks = [event.along for event in self.events if event.along is not None]
        propagator = self._propagator
        is_adaptive = propagator.atlas.chart.scheme.method is None
        if steps < FEW or len(looks) < len(self.events) or is_adaptive:
            return 0
        before, ahead, moment = propagator.bookmark(), self._ahead, propagator.moment
        latest = self._read_events(moment.state)
        ahead.n = 0
        try:
            done, _ = propagator.advance_many(loop, min(steps, AHEAD), ahead, 0)
            ahead.rows[done, :self._sizes[-1]] = np.concatenate(
                ([moment.t], moment.q, moment.v, moment.u))
        finally:
            propagator.restore(before)
        if not done:
            return 0
        t, *others = np.split(ahead.rows[1:done + 1, :self._sizes[-1]], self._sizes[:-1], axis=1)
        values = np.array([look(t[:, 0], *others) for look in looks])
        before_them = np.column_stack([latest, values[:, :-1]])
        free = min(int(np.flatnonzero(np.append(event.is_crossed(*pair), True))[0])
                   for event, *pair in zip(self.events, before_them, values))
        if free == done:
            self._latest = float(t[-1, 0]), values[:, -1].tolist()
        return free

    def step(self, length: float, record: Callable[[], None] = lambda: None) -> str | None:
        """One step of `length` [s]. If there is a terminal event within it, the step ends there,
        and the name of the event is returned. Where rolling ends within the step, `record` is
        called, and wheels may slide in the rest of the step."""
        propagator, moment = self._propagator, self._propagator.moment
        k, t0, is_whole = moment.k, moment.t0, length == propagator.dt
        end = t0 + (k + 1) * propagator.dt if is_whole else moment.t + length
        name = self._step(length)
        if name == SLIP:
            record()
            moment.clock[1] = k
            propagator.slip()
            name = self._step(end - moment.t) if end > moment.t else None
            if name is None and is_whole:
                moment.clock[...] = end, k + 1, t0
        if name is None and propagator.roll():
            self.noted.append((moment.t, ROLL))
        return name

    def _step(self, dt: float) -> str | None:
        """A step in the present equations, to its end or to the first terminal event."""
        propagator = self._propagator
        is_whole = dt == propagator.dt
        if is_whole and not self.events and propagator.step_in_c():
            return None
        before = propagator.bookmark() if self.watched else None
        if not (is_whole and self.events and propagator.step_in_c()):
            propagator.advance(dt)
        return None if before is None else self._look(before)

    def _look(self, before: Bookmark) -> str | None:
        """Records the events since `before`. If one is terminal, goes back to the first of these
        and returns its name."""
        # compared with the last side of a bound, because a new command may have jumped across it
        old = self.bounds.signs.tolist()
        if self.events:
            old = [*self._read_events(self._propagator.moment.state_of(before[0])), *old]
        values = self._read(self._propagator.moment.state)
        first = None
        for i, (one, start, value) in enumerate(zip(self.watched, old, values)):
            if one.is_crossed(start, value):
                t = self._locate(i, before, start)
                self.noted.append((t, one.name))
                if one.terminal and (first is None or t < first[0]):
                    first = t, one.name
        if first is None:
            self.bounds.take_side(values[len(self.events):])
            return None
        t, name = first
        # later events did not happen
        self.noted[:] = [noted for noted in self.noted if noted[0] <= t]
        self._propagator.restore(before)
        if t > self._propagator.moment.t:
            self._propagator.advance(t - self._propagator.moment.t)
        return name

    def _locate(self, i: int, before: Bookmark, start: float) -> float:
        """Time [s] of a zero within the last step, by bisection of the step itself: the end of an
        interval of `LOCATED` for an event, its beginning for a bound, which is not passed."""
        propagator, one = self._propagator, self.watched[i]
        after, end = propagator.bookmark(), propagator.moment.t
        propagator.restore(before)
        t = propagator.moment.t
        low, high = 0.0, end - t
        while high - low > LOCATED * max(1.0, abs(t)):
            middle = (low + high) / 2
            propagator.restore(before)
            propagator.advance(middle)
            if one.is_crossed(start, self._value(i, propagator.moment.state)):
                high = middle
            else:
                low = middle
        propagator.restore(after)
        return t + (low if isinstance(one, Bound) else high)

    def _value(self, i: int, state: State) -> float:
        n = len(self.events)
        return self.events[i].value(state) if i < n else self.bounds.read(state)[i - n]

    def _read(self, state: State) -> list[float]:
        bounds = self.bounds.read(state)
        return [*self._read_events(state), *bounds] if self.events else bounds

    def _read_events(self, state: State) -> list[float]:
        if self._latest is None or self._latest[0] != state.t:
            self._latest = state.t, [event.value(state) for event in self.events]
        return self._latest[1]
