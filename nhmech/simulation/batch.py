"""Many runs of one system at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np

from ..checks import read_count, read_word
from ..compile.pointwise import Pointwise
from ..compile.status import Status
from ..ctrl_c import hear_ctrl_c
from ..errors import SimulationError
from ..mechanics.system import HasConstrained
from .arguments import read_period
from .batch_input import (
    Policy,
    Stepper,
    ask_policy,
    check_feedback,
    check_integrator,
    read_inputs,
    read_rows,
    read_steps,
    start_cases,
    stepper,
)
from .feedback import Feedback, largest_efforts
from .integration.schemes import FIXED
from .runs.batch import Batch
from .runs.history import lock
from .runs.recorder import check_size

# instructions times cases between two checks for Ctrl-C: about a quarter of a second
SLICE = 500_000_000
SHARE = 1_000_000        # instructions times cases from which another thread pays


@hear_ctrl_c()
def simulate_batch(constrained: HasConstrained, x0: np.ndarray,
                   u: np.ndarray | Policy | Feedback | None = None, *, dt: float, duration: float,
                   control_period: float | None = None, every: int = 1,
                   theta: np.ndarray | None = None, threads: int | None = None,
                   device: str = "cpu", on_limit: str = "stop", on_fall: str = "stop",
                   integrator: str = "rk4", references: np.ndarray | None = None) -> Batch:
    """Runs N cases of a vehicle (or any `ConstrainedSystem`) side by side.

    The steps are those of `Simulator`, vectorised and threaded. A case whose step fails (values not
    finite, constraints violated, independent speeds that become singular, a wheel lying flat, a
    limit or the ground reached) stops at its last good state; the others continue.

    Parameters
    ----------
    constrained
        The vehicle or constrained system, once for each case.
    x0
        (N, nx) state vectors: `start_states`, or `Batch.x[:, -1]`; |phi| <= 1e-6 m is projected
        away.
    u
        (N, nu) or (nu,), held throughout; (N, periods, nu), one for each control period; a policy
        (t, x (N, nx)) -> u (N, nu), called once per control period with a view x that later steps
        overwrite; a `control.Feedback`, evaluated within the compiled step; None for no effort.
        Efforts are cut at the limits of their joints.
    dt
        Step [s].
    duration
        [s], a multiple of dt.
    control_period
        [s], a multiple of dt; dt if None.
    every
        Records the state every so many steps, and always the first and the last one.
    theta
        (N, ntheta) or (ntheta,), values of the symbolic parameters; the system's own if None.
    threads
        Number of processor threads; chosen by the amount of work if None. The result does not
        depend on it.
    device
        "cpu", or "gpu": the same step as a CUDA kernel, a case a thread (extra `gpu`).
        Arrays stay NumPy's, so a policy costs two copies a control period.
    on_limit, on_fall
        "stop" or "ignore", for undriven joints at their limits and for parts of the vehicle that
        touch the ground; as in `Simulator`, but not located within the step.
    integrator
        One of `Simulator` with steps of dt: all but "dop853" and "auto".
    references
        (N, nr) or (nr,), numbers of a `Feedback`; its own if None.

    Raises
    ------
    InputError
        For wrong shapes, values that are not finite, times that do not go together, an x0 off the
        constraints.
    SimulationError
        For a policy that fails; its `trajectory` is the `Batch` until then.
    CompileError
        If there is no GPU to use.

    Examples
    --------
    >>> x0 = nhmech.start_states(vehicle, [(0.0, 0.1 * i, 0.0) for i in range(3)])
    >>> batch = nhmech.simulate_batch(vehicle, x0, [0.2, 0.3], dt=0.01, duration=0.5, every=10)
    >>> batch
    <Batch of 3 cases of 'differential_drive': 6 states each, 0 to 0.5 s, 3 ran to the end>
    """
    dt, period = read_period(dt, control_period)
    steps = read_steps(duration, dt)
    read_count("every", every)
    if threads is not None:
        read_count("threads", threads)
    read_word("device", device, ("cpu", "gpu"))
    read_word("on_limit", on_limit, ("stop", "ignore"))
    read_word("on_fall", on_fall, ("stop", "ignore"))
    read_word("integrator", integrator, FIXED)
    law = u if isinstance(u, Feedback) else None
    check_feedback(law, constrained, references, period)
    made = stepper(constrained, device, on_limit, on_fall, integrator,
                   None if law is None else law.function)
    check_integrator(made.simulated, integrator, u)
    names = made.names
    x0 = read_rows("x0", x0, [(None, made.state_vector.nx)], names["x"])
    count, ntheta = len(x0), len(names["theta"])
    check_size(steps // every + 2, 8 * made.state_vector.nx * count)
    if theta is None:
        theta = made.simulated.theta
    else:
        theta = read_rows("theta", theta, [(count, ntheta), (ntheta,)], names["theta"])
    theta = np.broadcast_to(theta, (count, ntheta))
    inputs: np.ndarray | Policy
    if isinstance(u, Feedback):
        given = u.references if references is None else references
        inputs = read_inputs(given, count, steps, u.names)
    else:
        inputs = u if callable(u) else read_inputs(u, count, -(-steps // period), names["u"])
    run = _Run(made, x0, inputs, theta, dt=dt, steps=steps, period=period, every=every)
    run.advance(threads, steps if device == "gpu" else SLICE // (made.cost * count) + 1)
    return run.batch(steps)


class _Run:
    """A batch while it is computed. `u`: (count, nu), (periods, count, nu) or a policy. `period`:
    number of steps in a control period."""

    def __init__(self, made: Stepper, x0: np.ndarray, u: np.ndarray | Policy, theta: np.ndarray, *,
                 dt: float, steps: int, period: int, every: int):
        self.made = made
        most = largest_efforts(made.simulated, made.names["u"])
        self.most = most if np.isfinite(most).any() and made.control is None else None
        u = u if callable(u) else self._cut(u)
        self.u = u
        self.theta = theta
        self.dt = dt
        self.steps = steps
        self.period = period
        self.every = every
        self.state = start_cases(made, x0, theta, None if callable(u) else u)
        self.moments = np.append(np.arange(0, steps, every), steps)
        self.record = np.empty((len(self.moments), made.state_vector.nx, self.state.room))
        # the latest inputs of a policy, and those at each recorded moment
        self.command = np.zeros((len(x0), len(made.names["u"]))) if callable(u) else u
        self.held = np.zeros((len(self.moments), *self.command.shape)) if callable(u) else u
        self._commanded = 0

    def advance(self, threads: int | None, most: int) -> None:
        """Steps until the end, or until every case has stopped; at most `most` steps between two
        checks for Ctrl-C."""
        state, runner, k = self.state, self.made.runner, 0
        stretch = min(self.period if callable(self.u) else self.steps, most)
        parts = _parts(threads, self.made, state.count * stretch, state.room)
        with ThreadPoolExecutor(parts) as pool:
            spread = pool.map if parts > 1 else map
            while k < self.steps and not state.status.all():
                stop = min(k + self.period, self.steps) if callable(self.u) else self.steps
                self._call_policy(k, stop)
                while k < stop and not state.status.all():
                    n = min(stop - k, most)
                    runner.run(state, self.command, self.theta, dt=self.dt, k0=k, steps=n,
                               hold=self.period, every=self.every, record=self.record,
                               spread=spread, parts=parts)
                    k += n
        # the last state; if every case has stopped, it also fills the remaining rows
        self.record[self._row(k):] = state.x

    def batch(self, stop: int) -> Batch:
        """The record until step `stop`."""
        rows = self._row(stop)
        moments = np.append(self.moments[:rows], stop)
        record = self.record[:rows + 1]
        record[rows] = self.state.x
        count, status = self.state.count, self.state.status[:self.state.count].copy()
        last = np.where(status == Status.DONE, stop, self.state.done[:count])
        x = record[:, :, :count].transpose(2, 0, 1)
        return Batch(lock(moments * self.dt), lock(x), lock(self._inputs(moments)),
                     lock(self.theta), lock(status), lock(last * self.dt), self.made)

    def _row(self, k: int) -> int:
        """The row of the first recorded moment at or after step k."""
        return -(-k // self.every)

    def _call_policy(self, k: int, stop: int) -> None:
        """Calls the policy, if there is one, for the inputs from step k to `stop`."""
        if not callable(self.u):
            return
        state = self.state
        try:
            given = ask_policy(self.u, k * self.dt, state.cases, self.held.shape[2])
        except SimulationError as error:
            raise SimulationError(str(error), self.batch(k)) from error
        bad = np.flatnonzero(~np.isfinite(given).all(axis=1))
        stopped = bad[state.status[bad] == Status.DONE]
        state.status[stopped], state.done[stopped] = Status.UNCOMMANDED, k
        self.command = self._cut(given)
        self.held[self._row(k):self._row(stop)] = self.command
        self._commanded = self._row(stop)

    def _cut(self, u: np.ndarray) -> np.ndarray:
        """Inputs within the effort limits of the joints; a `Feedback` keeps them by itself."""
        return u if self.most is None else np.clip(u, -self.most, self.most)

    def _inputs(self, moments: np.ndarray) -> np.ndarray:
        rows = len(moments)
        if callable(self.u):
            # if every case has stopped, the remaining rows too
            self.held[self._commanded:rows] = self.command
            return self.held[:rows].swapaxes(0, 1)
        if self.made.control is not None:
            return self._inputs_of_law(self.made.control, self.u, moments)
        if self.u.ndim == 2:
            return np.broadcast_to(self.u[:, None], (len(self.u), rows, self.u.shape[1]))
        return self.u[np.minimum(moments // self.period, len(self.u) - 1)].swapaxes(0, 1)

    def _inputs_of_law(self, control: ca.Function, references: np.ndarray,
                      moments: np.ndarray) -> np.ndarray:
        """The inputs that a law returns for the recorded states."""
        count, rows = self.state.count, len(moments)
        x = self.record[:rows, :, :count].transpose(2, 0, 1).reshape(count * rows, -1)
        t = np.tile(moments * self.dt, count)[:, None]
        held = (np.repeat(part, rows, axis=0) for part in (references, self.theta))
        (found,) = Pointwise(control)(t, x, *held)
        return found.reshape(count, rows, -1)


def _parts(threads: int | None, made: Stepper, steps: int, room: int) -> int:
    """Number of threads that share the cases in one call of so many steps."""
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        cores = os.cpu_count() or 1 if affinity is None else len(affinity(0))
        threads = min(cores, 1 + steps * made.cost // SHARE)
    return min(threads, room // made.runner.width)
