"""Single steps, which a program requests one by one."""

from __future__ import annotations

import logging

from ..errors import Remedy, SimulationError
from .bounds import Bounds
from .contact.coulomb import ROLL, SLIP
from .contact.rolling_or_sliding import RollingOrSliding
from .propagator import Propagator
from .runs.recorder import Recorder
from .runs.trajectory import Trajectory

GO_ON = "Simulator(on_limit=\"warn\", on_fall=\"warn\", on_lift=\"warn\") goes on"


class StepsByHand:
    """Steps outside a run. They check no events, raise an error at a bound where a run would end,
    and are recorded if there is a `recorder`. `is_first` is true before the first step since the
    start."""

    def __init__(self, propagator: Propagator, bounds: Bounds):
        self.recorder: Recorder | None = None
        self.is_first = True
        self._propagator = propagator
        self._course = RollingOrSliding((), bounds, propagator, [])

    def step(self) -> None:
        """One step that compiled code alone cannot take. Logs a warning if a bound is crossed, and
        raises `SimulationError` if it is a terminal one."""
        course, propagator = self._course, self._propagator
        begins, self.is_first = self.is_first, False
        if begins:
            course.judge()
        terminal = course.watch.begin() if begins else None
        terminal = terminal or course.step(propagator.dt)
        for t, name in course.watch.noted:
            if name not in (terminal, SLIP, ROLL):
                logging.getLogger("nhmech").warning("t = %.6g s: %s", t, name)
        course.watch.noted.clear()
        if terminal is not None:
            raise SimulationError(f"stopped at t = {propagator.moment.t:.6g} s: {terminal}",
                                  remedy=Remedy(GO_ON, GO_ON))

    def end_record(self, stop: str) -> Trajectory:
        """The record. Raises `SimulationError` if there is none, or if it cannot be written."""
        recorder, self.recorder = self.recorder, None
        if recorder is None:
            raise SimulationError("nothing is recorded: call record() first")
        recorder.add()
        return recorder.trajectory(stop)
