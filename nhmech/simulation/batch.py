"""Many runs of one system at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from ..checks import read_count, read_word
from ..compile.pointwise import Pointwise
from ..compile.status import Status
from ..ctrl_c import hear_ctrl_c
from ..errors import SimulationError
from ..mechanics.system import HasConstrained
from ..once import cached_property
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
from .contact.force_reader import force_reader
from .feedback import Feedback, largest_efforts
from .integration.schemes import FIXED
from .runs.forces_along import BatchReactions
from .runs.history import History, lock
from .runs.limit_spans import LimitColumns, LimitSpan
from .runs.recorder import check_size
from .simulated import Simulated

# instructions times cases between two checks for Ctrl-C: about a quarter of a second
SLICE = 500_000_000
SHARE = 1_000_000        # instructions times cases from which another thread pays


@dataclass(frozen=True, eq=False, repr=False)
class Batch(History):
    """The result of `simulate_batch`: K recorded moments of N cases.

    It has the attributes and methods of a `Trajectory`, with the case as first index; `table` has a
    row for each moment of each case.

    Attributes
    ----------
    t
        (K,) [s].
    x
        (N, K, nx) state vectors: configuration with unwrapped angles, then xi.
    u
        (N, K, nu) held from each t on.
    theta
        (N, ntheta).
    status
        (N,) `Status`: 0 where a case ran to the end; `stop` has it in words.
    stopped_at
        (N,) [s] time of the last good state, which fills the rest of the case's record.
    stepper
        What made the steps.

    Examples
    --------
    >>> x0 = nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)] * 2)
    >>> batch = nhmech.simulate_batch(vehicle, x0, u=[0.2, 0.3], dt=0.01, duration=0.1)
    >>> float(batch.t[-1]), batch.x.shape, batch.stop[0]
    (0.1, (2, 11, 11), 'ran to the end')
    >>> batch.column("forward_speed").shape
    (2, 11)
    """

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    theta: np.ndarray
    status: np.ndarray
    stopped_at: np.ndarray
    stepper: Stepper = field(repr=False)

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        return (f"<Batch of {len(self)} cases of {self.simulated.name}: {len(self.t)} states each, "
                f"{self.t[0]:.6g} to {self.t[-1]:.6g} s, {self.ok.sum()} ran to the end>")

    def at(self, k: int) -> Batch:
        """The batch at one recorded moment alone (K = 1), for example to compute only its
        forces."""
        k = range(len(self.t))[k]
        return replace(self, t=self.t[k:k + 1], x=self.x[:, k:k + 1], u=self.u[:, k:k + 1])

    # -- how the cases ended -----------------------------------------------------------------------
    @property
    def ok(self) -> np.ndarray:
        """(N,) which cases ran to the end."""
        return self.status == Status.DONE

    @cached_property
    def stop(self) -> tuple[str, ...]:
        """Why each case ended; at a limit or a fall, which one."""
        sentences = {int(status): status.sentence for status in Status}
        found = [sentences[status] for status in self.status.tolist()]
        bounds = self.stepper.bounds
        for case in np.flatnonzero(np.isin(self.status, (Status.LIMIT, Status.GROUNDED))):
            found[case] = bounds.next_one(self.stepper.equations, self.stopped_at[case],
                                          self.x[case, -1], self.theta[case],
                                          Status(self.status[case])).name
        return tuple(found)

    # -- the states --------------------------------------------------------------------------------
    @cached_property
    def simulated(self) -> Simulated:
        """The simulated system."""
        return self.stepper.simulated

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Of the columns: "x", "q", "v", "xi", "u", "angles", "theta"."""
        system, x = self.simulated.constrained.system, self.stepper.names["x"]
        angles = tuple(x[i] for i in self.stepper.state_vector.angle_slots())
        return {**self.stepper.names, "q": system.algebroid.q_names, "v": system.algebroid.v_names,
                "angles": angles}

    @cached_property
    def xi(self) -> np.ndarray:
        """Independent speeds (N, K, nxi)."""
        return self.x[..., self.stepper.state_vector.nconf:]

    @cached_property
    def angles(self) -> np.ndarray:
        """Unwrapped angles of the continuous joints (N, K, na) [rad]."""
        return lock(self.x[..., list(self.stepper.state_vector.angle_slots())])

    @cached_property
    def q(self) -> np.ndarray:
        """Configurations (N, K, nq)."""
        columns = np.moveaxis(self.x, -1, 0)
        return lock(np.moveaxis(self.stepper.state_vector.configuration(columns), 0, -1))

    @cached_property
    def v(self) -> np.ndarray:
        """Fibre coordinates (N, K, nv)."""
        return lock(self.evaluate(self.stepper.equations.velocity, self.q, self.xi))

    @cached_property
    def limits(self) -> tuple[tuple[LimitSpan, ...], ...]:
        """When a joint was at one of its limits, case by case."""
        columns = LimitColumns.of(self.simulated, self.names)
        parts = {"q": self.q, "angles": self.angles, "v": self.v, "u": self.u}
        return tuple(
            columns.spans([{"t": self.t, **{name: part[case] for name, part in parts.items()}}])[0]
            for case in range(len(self)))

    # -- forces ----------------------------------------------------------------------------------
    @cached_property
    def multipliers(self) -> np.ndarray:
        """lambda of the kept rows, (N, K, len(frame.kept))."""
        return lock(self.evaluate(self.stepper.equations.multipliers, self.q, self.xi, self.u))

    @cached_property
    def reactions(self) -> BatchReactions:
        """Ground forces at each recorded moment, computed when they are first read.

        Raises
        ------
        SimulationError
            For a system without wheels.
        """
        vehicle = self.simulated.vehicle
        if vehicle is None:
            raise SimulationError("only a vehicle has wheels and ground forces; "
                                  "Batch.multipliers has the multipliers of any system")
        cases, moments = self.x.shape[:2]
        rows = [np.broadcast_to(part, (cases, moments, part.shape[-1])).reshape(cases * moments, -1)
                for part in (self.t[:, None], self.q, self.v, self.u, self.theta[:, None])]
        found = force_reader(vehicle).read(rows[0][:, 0], *rows[1:])
        forces, supported = found.split
        return BatchReactions(found.components, lock(forces.reshape(cases, moments, -1)),
                              tuple(vehicle.contact_names), lock(supported.reshape(cases, moments)))


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
        first = None if callable(u) else u if u.ndim == 2 else u[0]
        self.state = start_cases(made, x0, theta, first)
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
