"""The step loop: calls the controller, takes steps, checks events, records; and single steps, which
a program requests one by one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from ..compile.loop_error import steps_to_estimate
from ..ctrl_c import forget_ctrl_c, hear_ctrl_c
from ..errors import CompileError, NhmechError, Remedy, SimulationError
from .bounds import Bounds
from .contact.coulomb import ROLL, SLIP
from .events import Event
from .inputs import Inputs
from .pacing import is_second_press
from .propagator import Propagator
from .runs.recorder import Recorder
from .runs.trajectory import Trajectory
from .state import State
from .step_error import step_notice
from .watch import Watch

PROGRESS = 200      # steps between two reports of progress
GO_ON = "Simulator(on_limit=\"warn\", on_fall=\"warn\", on_lift=\"warn\") goes on"
TURNS = 50          # calls of the controller between two reports and two checks of the file

Progress = Callable[[float, State], None]


class StepLoop:
    """The runs of one simulator, each from its present moment on."""

    def __init__(self, propagator: Propagator, inputs: Inputs, events: Sequence[Event],
                 bounds: Bounds):
        self._propagator = propagator
        self._moment = propagator.moment
        self._inputs = inputs
        self._events = events
        self._bounds = bounds

    def run(self, duration: float, steps: int, recorder: Recorder,
            progress: Progress | None) -> Trajectory:
        """Runs for a duration [s], in so many steps, the last of which may be shorter than dt."""
        moment = self._moment
        begin = moment.k
        try:
            with hear_ctrl_c():
                stop = self._advance(duration, steps, recorder, progress)
        except KeyboardInterrupt:
            forget_ctrl_c()
            stop = "interrupted"
        except CompileError:
            raise                         # a failure of the machine, not of the run
        except NhmechError as error:
            recorder.add()
            if self._propagator.gauge.is_coarse(moment):
                self._note_errors(recorder)
            raise SimulationError(error.text, recorder.trajectory(str(error)),
                                  error.remedy) from error
        except MemoryError as error:
            why = (f"out of memory at t = {moment.t:.6g} s: record fewer states (run(..., "
                   "every=100)) or keep them on disk (save=...)")
            raise SimulationError(why, recorder.trajectory(why)) from error
        recorder.add()
        if progress is not None and moment.k > begin and stop != "interrupted":
            progress(moment.t, moment.state)
        if self._propagator.gauge.is_coarse(moment):
            self._note_errors(recorder)
        trajectory = recorder.trajectory(stop)
        if stop == "interrupted" and is_second_press():
            raise KeyboardInterrupt
        return trajectory

    def _advance(self, duration: float, steps: int, recorder: Recorder,
                 progress: Progress | None) -> str:
        """The loop itself. Returns the reason of its end."""
        propagator, inputs, moment = self._propagator, self._inputs, self._moment
        dt, end = propagator.dt, moment.t + duration
        whole = steps if abs(steps * dt - duration) <= 1e-9 * dt else steps - 1
        watch = Watch(self._events, self._bounds, propagator, recorder.events)
        k = reported = 0
        while k < steps:
            if inputs.update() or k == 0:
                inputs.note_twist()
            if k == 0 and (name := watch.begin()):
                return f"event: {name}"
            if propagator.spare is not None:
                propagator.choose_scheme(steps - k)
            done, refused = self._take_in_c(watch, whole - k, recorder, k)
            k += done
            if refused:
                if done and propagator.runs_feedback:
                    inputs.update()      # a control period may begin with the refused step
                recorder.note(k)
                length = min(dt, end - moment.t) if k == whole else dt
                if name := watch.step(length, recorder.add):
                    return f"event: {name}"
                k += 1
            if progress is not None and k // PROGRESS != reported:
                reported = k // PROGRESS
                progress(moment.t, moment.state)
        return "duration"

    def _take_in_c(self, watch: Watch, most: int, recorder: Recorder, k: int) -> tuple[int, bool]:
        """Takes at most so many whole steps in C, from step k on, as long as nothing else happens
        between them. Returns their number, and whether `watch` must take the next one."""
        propagator, inputs = self._propagator, self._inputs
        if propagator.spare is not None:
            most = min(most, steps_to_estimate(self._moment.k))
        loop = propagator.loop() if most else None
        free = 0 if loop is None else watch.free_steps(loop, inputs.hold(most))
        if loop is None or not free:
            return 0, True
        if free == 1 and self._takes_turns:
            update = self._update if self._moment.twist.size else inputs.update
            return propagator.take_turns(loop, min(most, TURNS), update, recorder, k)
        return propagator.advance_many(loop, free, recorder, k)

    @property
    def _takes_turns(self) -> bool:
        """Whether the controller is called at every step, and nothing else happens between
        steps."""
        propagator = self._propagator
        watched = self._events or propagator.spare
        return not watched and self._inputs.every == 1

    def _update(self) -> None:
        self._inputs.update()
        self._inputs.note_twist()

    def _note_errors(self, recorder: Recorder) -> None:
        """Adds a notice to the record and the log if the steps were too long."""
        propagator = self._propagator
        notice = step_notice(propagator.gauge, propagator.atlas, self._moment,
                             propagator.simulated.theta, propagator.dt)
        if notice is not None:
            recorder.notices.append(notice)
            logging.getLogger("nhmech").warning("%s", notice)


class StepsByHand:
    """Steps outside a run. They check no events, raise an error at a bound where a run would end,
    and are recorded if there is a `recorder`. `is_first` is true before the first step since the
    start."""

    def __init__(self, propagator: Propagator, bounds: Bounds):
        self.recorder: Recorder | None = None
        self.is_first = True
        self._propagator = propagator
        self._watch = Watch((), bounds, propagator, [])

    def step(self) -> None:
        """One step that compiled code alone cannot take. Logs a warning if a bound is crossed, and
        raises `SimulationError` if it is a terminal one."""
        watch, propagator = self._watch, self._propagator
        begins, self.is_first = self.is_first, False
        terminal = watch.begin() if begins else None
        terminal = terminal or watch.step(propagator.dt)
        for t, name in watch.noted:
            if name not in (terminal, SLIP, ROLL):
                logging.getLogger("nhmech").warning("t = %.6g s: %s", t, name)
        watch.noted.clear()
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
