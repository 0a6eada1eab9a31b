"""Where a run leaves the equations of rolling, and takes them up again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..bounds import Bounds
from ..events import Event, Watch
from ..propagator import Propagator
from .coulomb import ROLL, SLIP


class RollingEnd:
    """Takes the steps of a run in whichever equations serve: those of rolling, or those of wheels
    that may slide.

    Parameters
    ----------
    noted
        List to which (time [s], name) of each event is added.

    Attributes
    ----------
    watch
        Looks at events and bounds, of which one is the end of rolling where wheels may slide.
    """

    def __init__(self, events: Sequence[Event], bounds: Bounds, propagator: Propagator,
                 noted: list[tuple[float, str]]):
        self._propagator = propagator
        self._coulomb = propagator.coulomb
        self.watch = Watch(events, bounds, propagator, noted)

    def judge(self) -> None:
        """Lets wheels slide from the start on where they cannot roll with its inputs."""
        propagator, moment = self._propagator, self._propagator.moment
        if self._coulomb is None or propagator.slides or self._coulomb.room(moment.state) > 0:
            return
        self.watch.noted.append((moment.t, SLIP))
        propagator.slip()

    def step(self, length: float, record: Callable[[], None] = lambda: None) -> str | None:
        """One step of a length [s]. Returns the name of a terminal event. Where rolling ends on the
        way, `record` is called there, and the rest is taken with wheels that may slide."""
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
