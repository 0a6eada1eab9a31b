"""Steps that a program asks for one by one."""

from __future__ import annotations

import logging

from ..errors import Remedy, SimulationError
from .bounds import Bounds
from .contact.coulomb import ROLL, SLIP
from .contact.rolling_end import RollingEnd
from .propagator import Propagator
from .runs.recorder import Recorder
from .runs.trajectory import Trajectory

GO_ON = "Simulator(on_limit=\"warn\", on_fall=\"warn\", on_lift=\"warn\") goes on"


class StepsByHand:
    """Steps outside the loop of a run: they check no events, a bound at which a run would end is an
    error, and they are recorded by `recorder` if there is one. `is_first` is true before the first
    step since the start."""

    def __init__(self, propagator: Propagator, bounds: Bounds):
        self.recorder: Recorder | None = None
        self.is_first = True
        self._propagator = propagator
        self._course = RollingEnd((), bounds, propagator, [])

    def step(self) -> None:
        """One step, for which compiled code alone will not do; warns of bounds that are passed.
        Raises `SimulationError` for a terminal one."""
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
        """The record. Raises `SimulationError` where there is none, or it cannot be written."""
        recorder, self.recorder = self.recorder, None
        if recorder is None:
            raise SimulationError("nothing is recorded: call record() first")
        recorder.add()
        return recorder.trajectory(stop)
