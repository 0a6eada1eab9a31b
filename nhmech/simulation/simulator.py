"""The step loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from ..compile.loop import Loop
from ..compile.status import Status
from ..errors import NhmechError, SimulationError
from . import arguments, diagnosis
from .chart import GOOD, Chart
from .command import (
    NAMES,
    NOT_YET,
    BadCommand,
    Command,
    commanded_twist,
    controller_name,
    raised_in,
)
from .events import Event, Watch
from .integrators import FLAT, POOR, Step
from .inverse_dynamics import is_commands
from .moment import CLOCK, CompiledSteps, Moment, RowLayout, state_layout
from .recorder import Recorder
from .schemes import SCHEMES
from .sensors import Sensors
from .settings import settings_of
from .simulated import Simulated
from .state import State
from .trajectory import Trajectory

# steps of a run for which C is built; code that is in the cache already is used for any
WORTH_COMPILING = 5000
CHUNK = 20_000              # most steps in C between two looks at Ctrl-C, and fewer
LOOK = 0.1                  # [s] where they take longer than this

Controller = Callable[[float, State], Command]


class Simulator:
    """Runs a vehicle (or any `ConstrainedSystem`) with a controller in the loop.

    A failure (numbers that are not finite, a wheel lying flat, rank lost, an error inside the
    controller) raises `SimulationError` carrying the trajectory so far.

    Parameters
    ----------
    constrained
        What moves.
    controller
        Callable (t, state) -> Command, asked once per control period; its `reset()` is called by
        `reset` if it has one, and what its attribute `commanded_twist` says, if it has one, is a
        column of its runs (`simulation.commanded_twist`).
    dt
        Step [s].
    control_period
        [s], a multiple of dt; dt where None.
    integrator
        "rk4" or "dop853".
    events
        `Event`s, located in time to 1e-9 s.
    wrench
        Link name -> callable (t, state) -> (6,) force [N] and torque [N m] in W at the link's
        origin.
    mode
        "dynamic", or "kinematic": the controller commands speeds, forces play no part; commands
        that contradict each other, as of redundant wheels, are followed in the least-squares sense.

    Examples
    --------
    >>> torque = JointTorque({"left_wheel_joint": 0.2, "right_wheel_joint": 0.3})
    >>> simulator = Simulator(vehicle, lambda t, state: torque, control_period=0.01)
    >>> start = simulator.reset(pose=(1.0, 0.0, 0.5))
    >>> run = simulator.run(0.1)
    >>> float(run.t[-1]), run.stop
    (0.1, 'duration')
    """

    def __init__(self, constrained, controller: Controller | None = None, *, dt: float = 1e-3,
                 control_period: float | None = None, integrator: str = "rk4",
                 events: Sequence[Event] = (),
                 wrench: Mapping[str, Callable] | None = None, mode: str = "dynamic"):
        self.control_every = arguments.steps_of(dt, control_period)
        self.dt = float(dt)
        scheme = SCHEMES[arguments.one_of("integrator", integrator, SCHEMES)]
        self.kinematic = arguments.one_of("mode", mode, ("dynamic", "kinematic")) == "kinematic"
        arguments.called("controller", controller, "(t, state) -> command")
        self.events, self.wrench = arguments.events_of(events), arguments.wrenches_of(wrench)
        self.simulated = Simulated.of(constrained, tuple(self.wrench))
        self.controller, self._who = controller, f"controller {controller_name(controller)}"
        self._charts = [Chart(self.simulated.equations, self.simulated.limits, scheme,
                              self.kinematic)]
        self.primary = self._charts[0]
        sensors = Sensors(self.simulated, self._charts, self.kinematic)
        self._layout = state_layout(self.simulated, self.primary.state_vector, self.primary.equations.names,
                              self.primary.speeds, sensors)
        self._told = self._twist() is not None
        self.columns = RowLayout.of(self.primary, self._told)
        system, told = self.simulated.constrained.system, len(NAMES) if self._told else 0
        self._now = Moment(system.algebroid.nq, system.algebroid.nv, self.primary.state_vector.nx,
                           system.u.numel(), told)
        self._q, self._v, self._x, self._u, self._efforts = (
            *self._now.parts, self._now.u[: self.simulated.nu],
        )
        self._started, self.chart, self._compiled, self._taken = False, self.primary, None, 0

    # -- the clock and what has been reached, in memory that compiled code writes to ---------------
    @property
    def t(self) -> float:
        """Time [s]."""
        return self._now.block.item(CLOCK)

    @cached_property
    def settings(self) -> dict:
        """How it runs, as in `Trajectory.settings`."""
        return settings_of(self)

    @property
    def _k(self) -> int:
        return int(self._now.block.item(CLOCK + 1))

    @property
    def _guard(self) -> float:
        return self._now.health.item(2)

    # -- starting ----------------------------------------------------------------------------------
    def reset(self, pose=None, joints: Mapping[str, float] | None = None,
              xi: Mapping[str, float] | Sequence[float] | None = None, *,
              q: np.ndarray | None = None) -> State:
        """Puts the vehicle on the ground at rest, or with the given speeds.

        Parameters
        ----------
        pose, joints
            As in `Vehicle.configuration`.
        xi
            Independent speeds, or any fibre coordinates by name that determine them; unnamed ones
            are as small as they can be.
        q
            The whole configuration instead of pose and joints.

        Raises
        ------
        ModelError
            For a pose that cannot be placed.
        SimulationError
            For speeds that do not exist or contradict each other.
        """
        q = self.simulated.configuration(pose, arguments.positions_of(joints), q)
        if self.chart is not self.primary:
            self._choose(self.primary)
        self._now.block[...] = 0
        self._now.twist[...] = np.nan
        self._q[...] = q
        self._x[...] = self.chart.at_rest(q)
        self._started = True
        margin = self.chart.margin(0.0, self._x, self.simulated.theta)
        self._side = np.sign(margin)
        if not abs(margin) >= POOR:
            self._rechart()
        elif self._compiled is not None:
            self._compiled.setup.side = self._side
        self._set_speeds(xi)
        self._settle(*self.chart.project(0.0, self._x, self.simulated.theta))
        state = self.state
        if hasattr(self.controller, "reset"):
            self._ask(lambda *_: self.controller.reset(), f"reset of {self._who}", state,
                      takes="nothing")
        return state

    def _set_speeds(self, xi) -> None:
        chart, nconf = self.chart, self.chart.state_vector.nconf
        if xi is None:
            return
        names = self.simulated.constrained.system.algebroid.v_names
        xi = arguments.speeds_of(xi, self.primary.equations.names, names)
        if not xi:
            return
        E, e0 = chart.inverse_dynamics.frame_at(0.0, self._q, self.simulated.theta)
        rows = [names.index(name) for name in xi]
        wanted = np.array(list(xi.values()))
        solution = np.linalg.lstsq(E[rows], wanted - e0[rows], rcond=1e-9)[0]
        error = np.abs(E[rows] @ solution + e0[rows] - wanted).max()
        if error > 1e-9 * max(1.0, np.abs(wanted).max()):
            raise SimulationError(f"the speeds {dict(xi)} contradict the constraints by "
                                  f"{error:.3g}; independent here are "
                                  f"{', '.join(chart.equations.names)}")
        self._x[nconf:] = solution

    # -- reading -----------------------------------------------------------------------------------
    @property
    def state(self) -> State:
        """The present moment, a copy."""
        if not self._started:
            self.reset()
        block = self._now.block
        return State(block.item(CLOCK), block.copy(), self._layout)

    # -- stepping ----------------------------------------------------------------------------------
    def step(self) -> State:
        """Asks the controller where its period begins, advances by dt, and returns the new
        state."""
        if not self._started:
            self.reset()
        self._control()
        self._step()
        return self.state

    def _step(self) -> None:
        """One step, in C where there is code; what that refuses is taken in another chart, or
        Python says why not."""
        compiled = self._compiled
        if compiled is None:
            # looks for the loop at the first step, and has it built after many
            self._taken += 1
            loop = (
                self.chart.loop(build=self._taken > 1)
                if self._taken in (1, WORTH_COMPILING)
                else None
            )
            compiled = None if loop is None else self._ready(loop)
        if compiled is None or compiled.one(compiled.pointer) != Status.DONE:
            self._advance(self.dt)

    def _ready(self, loop: Loop) -> CompiledSteps:
        """The compiled loop on the present moment's memory."""
        if self._compiled is None or self._compiled.loop is not loop:
            constants = self.dt, self._side
            self._compiled = CompiledSteps(loop, self._now, constants, self.simulated.theta,
                                           self.primary.state_vector.angle_slots())
        return self._compiled

    def run(self, duration: float, *, every: int = 1,
            progress: Callable[[float, State], None] | None = None, save=None) -> Trajectory:
        """Runs for `duration` [s] and returns what happened.

        The end of the duration, a terminal event and Ctrl-C return with `trajectory.stop` saying
        which; a failure raises `SimulationError` with what was computed in `.trajectory`. A second
        Ctrl-C within two seconds raises `KeyboardInterrupt`, out of a program that makes one run
        after another; that run is saved too.

        Parameters
        ----------
        every
            Records each so many steps (the first and the last state always).
        progress
            Called now and then with (t, state).
        save
            Path of the run file (`.npz`); until the end its rows are in `save.part`, which a kill
            leaves readable.
        """
        arguments.run_of(duration, every, progress, save)
        if not self._started:
            self.reset()
        steps = math.ceil(duration / self.dt - 1e-9)
        # the last may be a part
        whole = steps if abs(steps * self.dt - duration) <= 1e-9 * self.dt else steps - 1
        recorder = Recorder(self, steps // max(every, 1) + 3, save)
        end, stop, told, started = self.t + duration, "duration", 0, self._k
        loop = self.chart.loop(build=steps >= WORTH_COMPILING)
        try:
            watch = Watch(self, recorder) if self.events else None
            k, chunk, asked = 0, CHUNK // 100, None
            while k < steps:
                # C may come back, to let Ctrl-C be heard, before a step is whole
                if k != asked:
                    if (self._control() or asked is None) and self._told:
                        twist = self._twist()
                        self._now.twist[...] = NOT_YET if twist is None else twist
                    asked = k
                if k == 0 and watch is not None and (name := watch.passed()):
                    stop = f"event: {name}"
                    break
                last = k == whole
                if loop is not None and watch is None and not last:
                    begun = time.perf_counter()
                    # steps until the controller is asked again
                    held = whole - k
                    if self.controller is not None or self.wrench:
                        held = min(held, self.control_every - self._k % self.control_every)
                    k += self._advance_many(loop, min(held, chunk), held, k, every, recorder)
                    chunk = min(2 * chunk,
                                CHUNK) if time.perf_counter() - begun < LOOK else max(chunk // 2, 1)
                    loop = self.chart.loop(build=steps >= WORTH_COMPILING)
                else:
                    if k % every == 0:
                        recorder.add()
                    before = None if watch is None else self._snapshot()
                    self._advance(min(self.dt, end - self.t)) if last else self._step()
                    k += 1
                    if watch is not None and (name := watch.crossed(before)):
                        stop = f"event: {name}"
                        break
                if progress is not None and k // 200 != told:
                    told = k // 200
                    progress(self.t, self.state)
        except KeyboardInterrupt:
            stop = "interrupted"
        except NhmechError as error:
            recorder.add()
            raise SimulationError(str(error), recorder.trajectory(str(error))) from error
        recorder.add()
        if progress is not None and self._k > started and stop != "interrupted":
            progress(self.t, self.state)
        trajectory = recorder.trajectory(stop)
        if stop == "interrupted" and pressed_twice():
            raise KeyboardInterrupt
        return trajectory

    def _control(self) -> bool:
        """Asks controller and wrenches where a control period begins, and says whether one does."""
        if self.control_every > 1 and self._k % self.control_every:
            return False
        state = self.state if self.controller is not None or self.wrench else None
        if self.controller is not None:
            command = self._ask(self.controller, self._who, state)
            try:
                if self.kinematic:
                    xi = self._x[self.chart.state_vector.nconf:]
                    xi[...] = self._speeds(command, state, xi)
                    self._settle(*self.chart.project(state.t, self._x, self.simulated.theta))
                elif type(command) is np.ndarray:
                    self._efforts[...] = self.chart.inverse_dynamics.plain(command, state.t, self.simulated.nu)
                else:
                    xi = self._x[self.chart.state_vector.nconf:]
                    self._efforts[...] = self.chart.inverse_dynamics.efforts(
                        command, state, state.t, self._q, xi, self.simulated.theta, self.simulated.nu
                    )
            except BadCommand as error:
                raise SimulationError(f"{self._who} {error}") from error
        if self.wrench:
            self._push(state)
        return True

    def _twist(self) -> np.ndarray | None:
        """What the controller says that it has commanded; see `commanded_twist`."""
        try:
            return commanded_twist(self.controller)
        except SimulationError as error:
            raise SimulationError(f"{self._who}: {error}") from error

    def _push(self, state: State) -> None:
        for i, (body, function) in enumerate(self.wrench.items()):
            given = self._ask(function, f"wrench on {body!r}",
                              state) if callable(function) else function
            at = self.simulated.nu + 6 * i
            self._u[at:at + 6] = arguments.wrench_on(body, given, self.t)

    def _speeds(self, command, state: State, xi: np.ndarray) -> np.ndarray:
        if self.chart is not self.primary and command is not None and not is_commands(command):
            wanted = self.primary.inverse_dynamics.speeds_for(command, state, self.t, self._q, xi,
                                                   self.simulated.theta)
            E, e0 = self.chart.inverse_dynamics.frame_at(self.t, self._q, self.simulated.theta)
            rows = self.primary.speeds
            return np.linalg.lstsq(E[rows], wanted - e0[rows], rcond=1e-9)[0]
        return self.chart.inverse_dynamics.speeds_for(command, state, self.t, self._q, xi, self.simulated.theta)

    def _ask(self, function, what: str, state: State, takes: str = "(t, state)"):
        try:
            return function(state.t, state)
        except NhmechError as error:
            raise SimulationError(f"{what} at t = {self.t:.6g} s: {error}") from error
        except Exception as error:
            raised = f"{what} raised {type(error).__name__} at t = {self.t:.6g} s: {error}{raised_in(error, takes)}"
            raise SimulationError(raised) from error

    def _advance(self, dt: float) -> None:
        step = self._tried(dt)
        if step.status is Status.SINGULAR:
            try:
                self._rechart(step.q)
            except NhmechError as error:
                # what takes the rank away is a wheel lying down
                if self._guard < FLAT:
                    raise SimulationError(diagnosis.fallen(self)) from error
                raise
            step = self._tried(dt)
        k, t, t0 = self._k + 1, self.t + dt, self._now.block.item(CLOCK + 2)
        if dt == self.dt:
            t = t0 + k * dt
        else:
            t0 = t - k * self.dt
        self._now.take(step.x, step.q, step.v, step.health, (t, k, t0))

    def _tried(self, dt: float) -> Step:
        """Where a step from here leads, DONE or SINGULAR. Raises `SimulationError` where it leads
        nowhere."""
        step = self.chart.advance(self.t, self._x, self._u, self.simulated.theta, dt, self._side,
                                  self._guard)
        if step.status not in (Status.DONE, Status.SINGULAR):
            raise SimulationError(diagnosis.failed(self, dt, step))
        return step

    def _advance_many(self, loop: Loop, steps: int, held: int, k: int, every: int,
                      recorder: Recorder) -> int:
        """Up to so many steps in C, of those for which u is held; returns how many were done."""
        compiled = self._ready(loop)
        setup = compiled.setup
        record = recorder.room((steps - 1 + k % every) // every + 1)
        setup.rows, setup.limit = 0, self._k + held
        try:
            status = compiled.run(steps, every, k % every, record)
        finally:
            recorder.n += setup.rows         # Ctrl-C is heard when C returns, with its rows written
        if status == Status.DONE:
            return setup.done
        # the one that was refused, in another chart or to say why not
        self._advance(self.dt)
        return setup.done + 1

    def _settle(self, x, q, v, health) -> None:
        """Takes a state at the present time."""
        self._now.take(x, q, v, health, self._now.clock)

    def _rechart(self, end: np.ndarray | None = None) -> None:
        """Moves to rows and speeds that serve here and at the configuration `end` of the next step,
        the same motion.

        Raises `NhmechError` where none do, for the constraints lose rank.
        """
        theta, ends = self.simulated.theta, (self._q,) if end is None else (self._q, end)
        best = max(self._charts, key=lambda chart: self._worth(chart, ends))
        if self._worth(best, ends) < GOOD:
            best = Chart(self.simulated.rechosen(ends[-1]), self.simulated.limits,
                         self.chart.scheme, self.kinematic)
            self._charts.append(best)
            if not self._worth(best, ends) > 0:
                raise self.simulated.rank_lost(ends[-1], f"within a step from t = {self.t:.6g} s")
        self._x[...] = self._in(best, self._v)
        self._choose(best)
        self._side = np.sign(best.margin(self.t, self._x, theta))

    def _worth(self, chart: Chart, ends: Sequence[np.ndarray]) -> float:
        """Least margin of a chart at some configurations; none where a singularity lies between
        them."""
        margins = [chart.margin(self.t, chart.at_rest(q), self.simulated.theta) for q in ends]
        return min(np.abs(margins)) if len(set(np.sign(margins))) == 1 else 0.0

    def _in(self, chart: Chart, v: np.ndarray) -> np.ndarray:
        return chart.state_vector.assemble(self._q, v[chart.speeds], near=self._x)

    # -- going back --------------------------------------------------------------------------------
    def _snapshot(self) -> tuple:
        return self._now.block.copy(), self._side, self.chart

    def _restore(self, snapshot: tuple) -> None:
        self._now.block[...], self._side, chart = snapshot
        if chart is not self.chart:
            self._choose(chart)

    def _choose(self, chart: Chart) -> None:
        self.chart, self._compiled, self._taken = chart, None, 0


TWICE = 2.0      # [s] between two presses that count as one wish

_latest = -math.inf


def pressed_twice() -> bool:
    """Notes a Ctrl-C, and says whether the last one is no more than `TWICE` ago."""
    global _latest
    before, _latest = _latest, time.monotonic()
    return _latest - before <= TWICE
