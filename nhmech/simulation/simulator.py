"""The step loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

from ..compile.loop import DONE, NEWTON, NOT_FINITE, Loop
from ..errors import NhmechError, SimulationError
from .chart import FLAT, GOOD, LOOSE, POOR, Chart
from .command import Command
from .event import Event
from .integrators import INTEGRATORS
from .moment import Moment, Turns
from .named import Named
from .reader import Reader
from .recorder import Recorder
from .servo import is_commands
from .state import State
from .subject import Subject
from .trajectory import Trajectory

WORTH_COMPILING = 5000      # steps of a run for which C is built; code that is in the cache already is used for any
CHUNK = 20_000              # most steps in C between two looks at Ctrl-C, and fewer
LOOK = 0.1                  # [s] where they take longer than this

Controller = Callable[[float, State], Command]


class Simulator:
    """Runs a vehicle (or any `ConstrainedSystem`) with a controller in the loop.

    constrained     what moves
    controller      callable (t, state) -> Command, asked once per control period; its `reset()` is called by `reset` if it has one
    dt              step [s]
    control_period  [s], a multiple of dt; dt where None
    integrator      "rk4" or "dop853"
    events          `Event`s, located in time to 1e-9 s
    wrench          link name -> callable (t, state) -> (6,) force [N] and torque [N m] in W at the link's origin
    mode            "dynamic", or "kinematic": the controller commands speeds, forces play no part

    A failure (numbers that are not finite, a wheel lying flat, rank lost, an error inside the controller) raises `SimulationError`
    carrying the trajectory so far.
    """

    def __init__(self, constrained, controller: Controller | None = None, *, dt: float = 1e-3, control_period: float | None = None,
                 integrator: str = "rk4", events: Sequence[Event] = (), wrench: Mapping[str, Callable] | None = None, mode: str = "dynamic"):
        if not (math.isfinite(dt) and dt > 0):
            raise SimulationError(f"dt = {dt} must be a positive time in seconds")
        period = dt if control_period is None else control_period
        every = round(period / dt)
        if every < 1 or abs(every * dt - period) > 1e-9 * period:
            raise SimulationError(f"control_period = {period} s must be a multiple of dt = {dt} s")
        if integrator not in INTEGRATORS:
            raise SimulationError(f"integrator {integrator!r} does not exist; there are {', '.join(INTEGRATORS)}")
        if mode not in ("dynamic", "kinematic"):
            raise SimulationError(f'mode {mode!r} does not exist; use "dynamic" or "kinematic"')
        self.subject = Subject.of(constrained, tuple(wrench or ()))
        self.controller, self.dt, self.control_every = controller, dt, every
        self.events, self.wrench, self.kinematic = tuple(events), dict(wrench or {}), mode == "kinematic"
        self._charts = [Chart(self.subject.equations, self.subject.limits, integrator, self.kinematic)]
        self.primary = self._charts[0]
        self._reader = Reader(self.subject, self.primary.flat, self.primary.equations.names, self.primary.speeds)
        self._started, self._turns, self._taken = False, None, 0

    # -- starting ------------------------------------------------------------------------------------------------
    def reset(self, pose=None, joints: Mapping[str, float] | None = None, xi: Mapping[str, float] | Sequence[float] | None = None, *,
              q: np.ndarray | None = None) -> State:
        """Puts the vehicle on the ground at rest, or with the given speeds.

        pose, joints  as in `Vehicle.configuration`
        xi            independent speeds, or any fibre coordinates by name that determine them; unnamed ones are as small as they can be
        q             the whole configuration instead of pose and joints

        Raises `ModelError` for a pose that cannot be placed, `SimulationError` for speeds that do not exist or contradict each other.
        """
        q = self.subject.configuration(pose, joints or {}, q)
        self.t, self._k, self._t0 = 0.0, 0, 0.0
        self.chart = self.primary
        self._v = np.zeros(self.subject.constrained.system.algebroid.nv)
        self._q = q
        self._x = self.chart.flat.flatten(q, np.zeros(self.chart.flat.nxi))
        self._started = True
        margin = self.chart.margin(0.0, self._x, self.subject.theta)
        self._side = np.sign(margin)
        if not abs(margin) >= POOR:
            self._rechart()
        self._set_speeds(xi)
        self._settle(*self.chart.project(0.0, self._x, self.subject.theta))
        self._u, self._turns, self._taken = np.zeros(self.subject.constrained.system.u.numel()), None, 0
        if hasattr(self.controller, "reset"):
            self.controller.reset()
        return self.state

    def _set_speeds(self, xi) -> None:
        chart, nconf = self.chart, self.chart.flat.nconf
        if xi is None:
            return
        if not isinstance(xi, Mapping):
            value = np.asarray(xi, dtype=float)
            if value.shape != (len(self.primary.speeds),) or not np.all(np.isfinite(value)):
                raise SimulationError(f"xi = {xi} must be {len(self.primary.speeds)} finite numbers: {', '.join(self.primary.equations.names)}")
            xi = dict(zip(self.primary.equations.names, value))
        names = self.subject.constrained.system.algebroid.v_names
        for name, value in xi.items():
            if name not in names or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
                raise SimulationError(f"speed {name!r} = {value}: give finite numbers for some of {', '.join(names)}")
        if not xi:
            return
        E, e0 = chart.frame_at(0.0, self._q, self.subject.theta)
        rows = [names.index(name) for name in xi]
        wanted = np.array(list(xi.values()))
        solution = np.linalg.lstsq(E[rows], wanted - e0[rows], rcond=1e-9)[0]
        error = np.abs(E[rows] @ solution + e0[rows] - wanted).max()
        if error > 1e-9 * max(1.0, np.abs(wanted).max()):
            raise SimulationError(f"the speeds {dict(xi)} contradict the constraints by {error:.3g}; independent here are {', '.join(chart.equations.names)}")
        self._x[nconf:] = solution

    # -- reading -------------------------------------------------------------------------------------------------
    @property
    def state(self) -> State:
        """The present moment, a copy."""
        if not self._started:
            self.reset()
        turns = self._turns
        if turns is not None and turns.now.x is self._x:
            return self._reader.copied(self.t, turns.now.block)
        return self._reader.state(self.t, self._q, self._v, self._x, self._u)

    def _require_start(self) -> None:
        if not self._started:
            self.reset()

    # -- stepping ------------------------------------------------------------------------------------------------
    def step(self) -> State:
        """Asks the controller where its period begins, advances by dt, and returns the new state."""
        self._require_start()
        self._control()
        if not self._step_in_c():
            self._advance(self.dt)
        return self.state

    def _step_in_c(self) -> bool:
        """One step through the compiled loop; False where there is none, or where it refuses and Python is to say why."""
        turns = self._turns
        if turns is None:
            self._taken += 1                # looks for the loop at the first step, and has it built after many
            loop = self.chart.loop(build=self._taken > 1) if self._taken in (1, WORTH_COMPILING) else None
            if loop is None:
                return False
            turns = self._ready(loop)
        elif self._x is not turns.now.x:
            turns = self._ready(None)
        status, done = turns.advance(self._t0, self._k, self._u)
        self._show(turns.now, done)
        return status == DONE

    def _ready(self, loop: Loop | None) -> Turns:
        """The moments of the compiled loop, at the present state."""
        if self._turns is None:
            sizes = len(self._q), len(self._v), len(self._x), len(self._u)
            self._turns = Turns(loop, sizes, (self.dt, self._side, POOR, FLAT, LOOSE), self.subject.theta, self.primary.flat.angle_slots())
        self._turns.take(self._x, self._q, self._v, self._guard)
        return self._turns

    def _show(self, moment: Moment, done: int) -> None:
        """Takes a state of the compiled loop and its time in one stroke, as `_settle` does."""
        if done:
            k = self._k + done
            vars(self).update(_x=moment.x, _q=moment.q, _v=moment.v, _guard=moment.health.item(2), _k=k, t=self._t0 + k * self.dt)

    def run(self, duration: float, *, every: int = 1, progress: Callable[[float, State], None] | None = None) -> Trajectory:
        """Runs for `duration` [s] and returns what happened.

        every     records each so many steps (the first and the last state always)
        progress  called now and then with (t, state)

        The end of the duration, a terminal event and Ctrl-C return with `trajectory.stop` saying which; a failure raises
        `SimulationError` with what was computed in `.trajectory`.
        """
        if not (math.isfinite(duration) and duration >= 0):
            raise SimulationError(f"duration = {duration} must be a time in seconds")
        if not isinstance(every, (int, np.integer)) or every < 1:
            raise SimulationError(f"every = {every!r} must be a whole number of steps, 1 or more")
        self._require_start()
        steps = math.ceil(duration / self.dt - 1e-9)
        whole = steps if abs(steps * self.dt - duration) <= 1e-9 * self.dt else steps - 1      # the last one may be a part
        recorder = Recorder(self, steps // max(every, 1) + 3)
        end, stop, told, started = self.t + duration, "duration", 0, self._k
        values = [self._value(event) for event in self.events]
        loop = None if self.events else self.chart.loop(build=steps >= WORTH_COMPILING)
        try:
            k, chunk = 0, CHUNK // 100
            while k < steps:
                self._control()
                if k == 0 and (name := self._passed(values, recorder)):
                    stop = f"event: {name}"
                    break
                last = k == whole
                if loop is not None and not last:
                    begun = time.perf_counter()
                    k += self._advance_many(loop, min(self._until_control(), whole - k, chunk), k, every, recorder)
                    chunk = min(2 * chunk, CHUNK) if time.perf_counter() - begun < LOOK else max(chunk // 2, 1)
                    loop = self.chart.loop(build=steps >= WORTH_COMPILING)
                else:
                    if k % every == 0:
                        recorder.add()
                    before = self._snapshot()
                    self._advance(min(self.dt, end - self.t) if last else self.dt)
                    k += 1
                    if self.events and (name := self._watch(values, before, recorder)):
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
        return recorder.trajectory(stop)

    def _control(self) -> None:
        if self._k % self.control_every:
            return
        nu = self.subject.nu
        state = self.state if self.controller is not None or self.wrench else None
        if self.controller is not None:
            command = self._ask(self.controller, "controller", state)
            if type(command) is np.ndarray and not self.kinematic:
                self._u[:nu] = self.chart.servo.plain(command, self.t, nu)
            elif self.kinematic:
                xi = self._x[self.chart.flat.nconf:]
                self._x[self.chart.flat.nconf:] = self._speeds(command, state, xi)
                self._settle(*self.chart.project(self.t, self._x, self.subject.theta))
            else:
                xi = self._x[self.chart.flat.nconf:]
                self._u[:nu] = self.chart.servo.efforts(command, state, self.t, self._q, xi, self.subject.theta, nu)
        for i, (body, function) in enumerate(self.wrench.items()):
            value = np.asarray(self._ask(function, f"wrench on {body!r}", state) if callable(function) else function, dtype=float)
            if value.shape != (6,) or not np.all(np.isfinite(value)):
                raise SimulationError(f"wrench on {body!r} at t = {self.t:.6g} s is {value}; expected 6 finite numbers (force, torque) in W")
            self._u[nu + 6 * i:nu + 6 * i + 6] = value

    def _speeds(self, command, state: State, xi: np.ndarray) -> np.ndarray:
        if self.chart is not self.primary and command is not None and not is_commands(command):
            E, e0 = self.chart.frame_at(self.t, self._q, self.subject.theta)
            rows = self.primary.speeds
            return np.linalg.lstsq(E[rows], np.asarray(command, dtype=float) - e0[rows], rcond=1e-9)[0]
        return self.chart.servo.speeds_for(command, state, self.t, self._q, xi, self.subject.theta)

    def _ask(self, function, what: str, state: State):
        try:
            return function(self.t, state)
        except NhmechError:
            raise
        except Exception as error:
            raise SimulationError(f"{what} raised {type(error).__name__} at t = {self.t:.6g} s: {error}") from error

    def _advance(self, dt: float) -> None:
        x, q, v, health = self._tried(dt)
        if health[1] * self._side < POOR:
            try:
                self._rechart(q)
            except NhmechError as error:
                if self._guard < FLAT:                            # what takes the rank away is a wheel lying down
                    raise SimulationError(self._fallen()) from error
                raise
            x, q, v, health = self._tried(dt)
        k = self._k + 1
        t0 = self._t0 if dt == self.dt else self.t + dt - k * self.dt
        self._settle(x, q, v, health, _k=k, _t0=t0, t=t0 + k * dt if dt == self.dt else self.t + dt)

    def _tried(self, dt: float) -> list[np.ndarray]:
        """Where a step from here leads: x, q, v, health. Raises `SimulationError` where it leads nowhere."""
        theta = self.subject.theta
        x, q, v, health = (np.array(part) for part in self.chart.step(self.t, self._x, self._u, theta, dt))
        for _ in range(NEWTON):
            if not health[0] > LOOSE:
                break
            x, q, v, health = (np.array(part) for part in self.chart.project(self.t + dt, x, theta))
        if not (np.isfinite(health).all() and np.isfinite(x).all()) or health[0] > LOOSE:
            raise SimulationError(self._diagnosis(dt))
        low, high = sorted((health[2], self._guard))
        if low < FLAT and high > 1.5 * low:
            raise SimulationError(self._fallen())
        return [x, q, v, health]

    def _until_control(self) -> int:
        """Steps until the controller is asked again."""
        if self.controller is None and not self.wrench:
            return CHUNK
        return self.control_every - self._k % self.control_every

    def _advance_many(self, loop: Loop, steps: int, k: int, every: int, recorder: Recorder) -> int:
        """Up to so many steps in C; returns how many were done."""
        turns = self._turns if self._turns is not None and self._x is self._turns.now.x else self._ready(loop)
        record = recorder.room((steps - 1 + k % every) // every + 1)
        status, done = turns.advance(self._t0, self._k, self._u, steps, every, k % every, record)
        tried = done + (status != DONE)                           # a step that was not taken was recorded before it was tried
        rows = (k % every + tried - 1) // every + (k % every == 0) if tried else 0
        self._show(turns.now, done)
        recorder.n += rows
        if status == NOT_FINITE:
            raise SimulationError(self._diagnosis(self.dt))
        if status == DONE:
            return done
        self._advance(self.dt)                                    # the one that was refused, in another chart or to say why not
        return done + 1

    def _settle(self, x, q, v, health, **clock) -> None:
        """Takes a state and its time in one stroke, so that Ctrl-C finds the moment before or the one after."""
        vars(self).update(_x=np.array(x), _q=np.array(q), _v=np.array(v), _guard=float(health[2]), **clock)

    def _diagnosis(self, dt: float) -> str:
        """Why a step gave numbers that are not finite."""
        if self._guard < FLAT and self.subject.constrained.guard_names:
            return self._fallen()
        return (f"stopped at t = {self.t:.6g} s: the step of {dt} s gave numbers that are not finite or off the constraints; speeds before it "
                f"were {Named.of(self.primary.equations.names, self._v[self.primary.speeds])!r}. Try a smaller dt, and look at masses and efforts")

    def _fallen(self) -> str:
        """Which guard is about to vanish."""
        s, constrained = self.subject.constrained.system, self.subject.constrained
        values = ca.Function("guards", [s.t, s.q, s.theta], [constrained.guards])(self.t, self._q, self.subject.theta).full().ravel()
        names = constrained.guard_names or tuple(f"guard {i} vanishes" for i in range(len(values)))
        return f"stopped at t = {self.t:.6g} s: {names[int(np.argmin(values))]}"

    def _rechart(self, end: np.ndarray | None = None) -> None:
        """Moves to rows and speeds that serve here, and at the configuration `end` of the next step; the motion does not depend on the choice.

        Raises `NhmechError` where none do, for the constraints lose rank.
        """
        theta, ends = self.subject.theta, (self._q,) if end is None else (self._q, end)
        best = max(self._charts, key=lambda chart: self._worth(chart, ends))
        if self._worth(best, ends) < GOOD:
            best = Chart(self.subject.rechosen(ends[-1]), self.subject.limits, self.chart.integrator, self.kinematic)
            self._charts.append(best)
            if not self._worth(best, ends) > 0:
                raise self.subject.rank_lost(ends[-1], f"within a step from t = {self.t:.6g} s")
        self._x, self.chart, self._turns, self._taken = self._in(best, self._v), best, None, 0
        self._side = np.sign(best.margin(self.t, self._x, theta))

    def _worth(self, chart: Chart, ends: Sequence[np.ndarray]) -> float:
        """Least margin of a chart at some configurations; none where a singularity lies between them."""
        margins = [chart.margin(self.t, chart.flat.flatten(q, np.zeros(chart.flat.nxi)), self.subject.theta) for q in ends]
        return min(np.abs(margins)) if len(set(np.sign(margins))) == 1 else 0.0

    def _in(self, chart: Chart, v: np.ndarray) -> np.ndarray:
        return chart.flat.flatten(self._q, v[chart.speeds], near=self._x)

    # -- events --------------------------------------------------------------------------------------------------
    def _value(self, event: Event, state: State | None = None) -> float:
        """The event's function now. Raises `SimulationError` where it fails or is not a number."""
        value = self._ask(event.function, f"event {event.name!r}", self.state if state is None else state)
        if not np.isfinite(value):
            raise SimulationError(f"event {event.name!r} is {value} at t = {self.t:.6g} s")
        return float(value)

    def _passed(self, values: list[float], recorder: Recorder) -> str | None:
        """Notes limits that are passed at the start; returns the name of a terminal one."""
        name = None
        for i, event in enumerate(self.events):
            if event.limit and (value := self._value(event)) <= 0:
                values[i] = value
                recorder.events.append((self.t, event.name))
                name = name or (event.name if event.terminal else None)
        return name

    def _watch(self, values: list[float], before: tuple, recorder: Recorder) -> str | None:
        """Notes crossed events; goes back to the moment of the first terminal one and returns its name."""
        state, first = self.state, None
        for i, event in enumerate(self.events):
            after = self._value(event, state)
            if event.crossed(values[i], after):
                moment = self._locate(event, before, values[i])
                recorder.events.append((moment, event.name))
                if event.terminal and (first is None or moment < first[0]):
                    first = (moment, event.name)
            values[i] = after
        if first is None:
            return None
        recorder.events[:] = [noted for noted in recorder.events if noted[0] <= first[0]]      # what came later did not happen
        self._restore(before)
        self._advance(first[0] - self.t)
        return first[1]

    def _locate(self, event: Event, before: tuple, start: float) -> float:
        """Time of the zero within the last step [s], by bisection of the step itself."""
        after = self._snapshot()
        t, low, high = before[0], 0.0, self.t - before[0]
        while high - low > 1e-10 * max(1.0, abs(t)):
            middle = (low + high) / 2
            self._restore(before)
            self._advance(middle)
            low, high = (low, middle) if event.crossed(start, self._value(event)) else (middle, high)
        self._restore(after)
        return t + high

    def _snapshot(self) -> tuple:
        return self.t, self._k, self._t0, self._x, self._q, self._v, self._guard, self._side, self.chart

    def _restore(self, snapshot: tuple) -> None:
        self.t, self._k, self._t0, self._x, self._q, self._v, self._guard, self._side, self.chart = snapshot
        self._turns, self._taken = None, 0
