"""Takes the steps of a run, and changes between the equations of rolling and those of sliding."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..bounds import Bounds
from ..events import Event, Watch
from ..propagator import Propagator
from .coulomb import ROLL, SLIP


class RollingOrSliding:
    """Takes the steps of a run in the equations that hold: those of rolling, or those of wheels
    that may slide or fly.

    Parameters
    ----------
    noted
        A list that receives (time [s], name) of each event.

    Attributes
    ----------
    watch
        Locates events and bounds. If wheels may slide, one bound is the end of rolling.
    """

    def __init__(self, events: Sequence[Event], bounds: Bounds, propagator: Propagator,
                 noted: list[tuple[float, str]]):
        self._propagator = propagator
        self._coulomb = propagator.coulomb
        self.watch = Watch(events, bounds, propagator, noted)

    def judge(self) -> None:
        """Begins with sliding wheels if rolling is impossible with the inputs at the start."""
        propagator, moment = self._propagator, self._propagator.moment
        if self._coulomb is None or propagator.slides or self._coulomb.room(moment.state) > 0:
            return
        self.watch.noted.append((moment.t, SLIP))
        propagator.slip()

    def step(self, length: float, record: Callable[[], None] = lambda: None) -> str | None:
        """One step of `length` [s]. Returns the name of a terminal event, else None. Where rolling
        ends within the step, `record` is called, and wheels may slide in the rest of the step."""
        propagator, moment = self._propagator, self._propagator.moment
        k, t0, whole = moment.k, moment.t0, length == propagator.dt
        end = t0 + (k + 1) * propagator.dt if whole else moment.t + length
        name = self.watch.step(length)
        if name == SLIP:
            record()
            moment.clock[1] = k
            propagator.slip()
            name = self.watch.step(end - moment.t) if end > moment.t else None
            if name is None and whole:
                moment.clock[...] = end, k + 1, t0
        if name is None and propagator.roll():
            self.watch.noted.append((moment.t, ROLL))
        return name
