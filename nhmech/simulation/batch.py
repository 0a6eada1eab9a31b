"""Many runs of one system at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from ..checks import is_finite
from ..compile.status import Status
from ..errors import SimulationError
from ..vehicle.least_norm import least_norm
from .batch_input import Policy, Stepper, asked, checked, started, stepper

# instructions times cases between two looks at Ctrl-C: about a quarter of a second
SLICE = 500_000_000
SHARE = 1_000_000        # instructions times cases that are worth a further thread

@dataclass(frozen=True, eq=False)
class Batch:
    """What `simulate_batch` returns: K recorded moments of N cases.

    Attributes
    ----------
    t
        (K,) [s].
    x
        (K, N, nx) state vectors: configuration with unwrapped angles, then xi; columns are
        contiguous.
    u
        (K, N, nu) held from each t on.
    theta
        (N, ntheta).
    status
        (N,) `Status`: 0 where a case ran to the end; `reason` has it in words.
    stopped_at
        (N,) [s] time of the last good state, which fills the rest of the case's record.
    names
        Of the columns of x: "q" and "xi"; and "u", "theta".
    stepper
        What made the steps.

    Examples
    --------
    >>> x0 = nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)] * 2)
    >>> batch = nhmech.simulate_batch(vehicle, x0, u=[0.2, 0.3], dt=0.01, steps=10)
    >>> float(batch.t[-1]), batch.x.shape, batch.reason(0)
    (0.1, (11, 2, 11), 'ran to the end')
    """

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    theta: np.ndarray
    status: np.ndarray
    stopped_at: np.ndarray
    names: dict[str, tuple[str, ...]]
    stepper: Stepper = field(repr=False)

    def __post_init__(self):
        for name in ("t", "x", "u", "theta", "status", "stopped_at"):
            # what the caller passed in stays writable
            view = getattr(self, name).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.status)

    @property
    def ok(self) -> np.ndarray:
        """(N,) which cases ran to the end."""
        return self.status == Status.DONE

    @property
    def xi(self) -> np.ndarray:
        """Independent speeds, (K, N, nxi)."""
        return self.x[:, :, self.stepper.state_vector.nconf:]

    def column(self, name: str) -> np.ndarray:
        """One named column, (K, N): a speed of that name, else a coordinate or an input. Raises
        `SimulationError`."""
        for part, array in (("xi", self.xi), ("q", self.x), ("u", self.u)):
            if name in self.names[part]:
                return array[:, :, self.names[part].index(name)]
        raise SimulationError(f"no column {name!r}; there are "
                              f"{', '.join(sorted(set(sum(self.names.values(), ()))))}")

    def reason(self, case: int) -> str:
        """Why a case ended."""
        return Status(self.status[case]).sentence

    def q(self, k: int = -1) -> np.ndarray:
        """Configurations at one recorded moment, (N, nq)."""
        vector = self.stepper.state_vector
        return vector.configuration(self.x[k, :, :vector.nconf].T).T

    def v(self, k: int = -1) -> np.ndarray:
        """All fibre coordinates at one recorded moment, (N, nv)."""
        velocity = self.stepper.equations.velocity.map(len(self))
        return velocity(self.t[k], self.q(k).T, self.xi[k].T, self.theta.T).full().T

    def multipliers(self, k: int = -1) -> np.ndarray:
        """lambda of the kept rows at one recorded moment, (N, len(frame.kept))."""
        multipliers = self.stepper.equations.multipliers.map(len(self))
        return multipliers(self.t[k], self.q(k).T, self.xi[k].T, self.u[k].T, self.theta.T).full().T

    def reactions(self, k: int = -1):
        """Ground forces at one recorded moment, `batch_reactions.BatchReactions`; `SimulationError`
        without wheels."""
        from .batch import batch_reactions

        return batch_reactions(self, k)


def simulate_batch(constrained, x0, u: np.ndarray | Policy | None = None, *, dt: float, steps: int,
                   every: int = 1, control_every: int = 1, theta=None, threads: int | None = None,
                   device: str = "cpu") -> Batch:
    """Runs many cases of a system side by side, with the steps of `Simulator`.

    The cases run in vectors and threads. A case whose step fails (not finite, off the constraints,
    independent speeds that go bad, a wheel lying down) stops at its last good state; the others go
    on.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.
    x0
        (N, nx) state vectors: `start_states`, or rows of `Batch.x`; |phi| <= 1e-6 m is projected
        away.
    u
        (N, nu) or (nu,), held all the time; (periods, N, nu), one for each control period; a policy
        (t, x (N, nx)) -> u (N, nu), asked once per control period, whose x is a view that the next
        steps overwrite; None for no effort.
    dt, steps
        Step [s] and how many.
    every
        Records each so many steps; the first and the last state always.
    control_every
        Steps in a control period.
    theta
        (N, ntheta) or (ntheta,), values of the symbolic parameters; the system's own where None.
    threads
        Of the processor; as many as the work is worth where None. The result does not depend on it.
    device
        "cpu", or "gpu": the same step as a CUDA kernel, a case a thread (extra `gpu`; its speed is
        unmeasured). Arrays stay NumPy's, so a policy costs two copies a control period.

    Raises
    ------
    SimulationError
        For wrong shapes, for values that are not finite, for an x0 off the constraints, and for a
        policy that fails (its `trajectory` is the `Batch` until then).
    CompileError
        Where there is no GPU to use.

    Examples
    --------
    >>> x0 = nhmech.start_states(vehicle, [(0.0, 0.0, 0.1 * i) for i in range(4)])
    >>> batch = simulate_batch(vehicle, x0, u=[0.2, 0.3], dt=0.01, steps=10)
    >>> bool(batch.ok.all()), batch.x.shape
    (True, (11, 4, 11))
    """
    if not (is_finite(dt) and dt > 0):
        raise SimulationError(f"dt = {dt!r} must be a positive time in seconds")
    whole = {"steps": steps, "every": every, "control_every": control_every,
             "threads": 1 if threads is None else threads}
    for name, value in whole.items():
        if not (isinstance(value, (int, np.integer)) and value >= 1):
            raise SimulationError(f"{name} = {value} must be a whole number from 1 on")
    if device not in ("cpu", "gpu"):
        raise SimulationError(f"device = {device!r} must be 'cpu' or 'gpu'")
    made = stepper(constrained, device)
    names = made.names
    x0 = checked("x0", x0, [(None, made.state_vector.nx)], names["q"] + names["xi"])
    count, nu, ntheta, periods = (
        len(x0),
        len(names["u"]),
        len(names["theta"]),
        -(-steps // control_every),
    )
    shapes = [(count, ntheta), (ntheta,)]
    if theta is None:
        theta = made.simulated.theta
    else:
        theta = checked("theta", theta, shapes, names["theta"])
    theta = np.broadcast_to(theta, (count, ntheta))
    if not callable(u):
        u = (
            np.zeros(nu)
            if u is None
            else checked("u", u, [(periods, count, nu), (count, nu), (nu,)], names["u"])
        )
        u = np.broadcast_to(u, (count, nu)) if u.ndim < 3 else u

    state = started(made, x0, theta)
    moments = np.append(np.arange(0, steps, every), steps)
    record = np.empty((len(moments), made.state_vector.nx, state.room))
    held = np.empty((len(moments), count, nu)) if callable(u) else None
    # a GPU's kernel is launched in slices of its own
    slice_ = SLICE // (made.cost * count) + 1 if device == "cpu" else steps
    parts = _parts(threads, made, count * min(control_every if callable(u) else steps, slice_),
                   state.room)

    def so_far(k: int) -> Batch:
        """The record of a run whose policy fails at step k."""
        rows, status = -(-k // every), state.status[:count].copy()
        x = np.concatenate([record[:rows], state.x[None]])[:, :, :count].transpose(0, 2, 1)
        u = np.concatenate([held[:rows], held[rows - 1:rows] if rows else np.zeros((1, count, nu))])
        return Batch(np.append(moments[:rows], k) * dt, x, u, theta, status,
                     np.where(status == Status.DONE, k, state.done[:count]) * dt, names, made)

    k, command = 0, u
    with ThreadPoolExecutor(parts) as pool:
        while k < steps and not state.status.all():
            stop = steps
            if callable(u):
                stop = min(k - k % control_every + control_every, steps)
                if k % control_every == 0:
                    try:
                        command = asked(u, k * dt, state.cases, nu)
                    except SimulationError as error:
                        raise SimulationError(str(error), so_far(k)) from error
                    held[-(-k // every):-(-stop // every)] = command
            stop = min(stop, k + slice_)
            made.runner.run(state, command, theta, dt=dt, k0=k, steps=stop - k,
                            hold=control_every,
                            every=every, record=record, spread=pool.map if parts > 1 else map,
                            parts=parts)
            k = stop
    # the last state; and what is left, where every case has stopped
    record[-(-k // every):] = state.x
    if held is not None:
        held[-(-k // every):] = command
    elif u.ndim < 3:
        held = np.broadcast_to(u, (len(moments), count, nu))
    else:
        held = u[np.minimum(moments // control_every, periods - 1)]
    status = state.status[:count]
    stopped_at = np.where(status == Status.DONE, steps, state.done[:count]) * dt
    return Batch(moments * dt, record[:, :, :count].transpose(0, 2, 1), held, theta, status,
                 stopped_at, names, made)


def _parts(threads: int | None, made: Stepper, steps: int, room: int) -> int:
    """How many threads share the cases in one call of so many steps."""
    if threads is None:
        cores = (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
        threads = min(cores, 1 + steps * made.cost // SHARE)
    return min(threads, room // made.runner.width)


@dataclass(frozen=True)
class BatchReactions:
    """N cases, m force components, c contacts.

    Attributes
    ----------
    names
        Of the components, "contact/direction".
    forces
        (N, m) on the wheels [N].
    contacts
        Names.
    feasible
        (N,) whether normals >= 0 could be met; where not, a wheel lifts off and the least-norm
        split without that condition is given.
    """

    names: tuple[str, ...]
    forces: np.ndarray
    contacts: tuple[str, ...]
    feasible: np.ndarray

    @property
    def normal(self) -> np.ndarray:
        """Normal forces, (N, c) [N]; NaN where a contact has no normal row."""
        columns = {name: self.forces[:, i] for i, name in enumerate(self.names)}
        return np.stack([columns.get(f"{contact}/normal", np.full(len(self.forces), np.nan))
                         for contact in self.contacts], axis=1)

    @property
    def friction(self) -> np.ndarray:
        """Friction coefficient each contact needs, |tangential| / normal, (N, c); infinite if
        nothing presses it."""
        squares = np.zeros((len(self.forces), len(self.contacts)))
        for i, name in enumerate(self.names):
            contact, direction = name.rsplit("/", 1)
            if direction != "normal":
                squares[:, self.contacts.index(contact)] += self.forces[:, i] ** 2
        tangential, normal = np.sqrt(squares), self.normal
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(normal > 0, tangential / normal, np.where(tangential > 0, np.inf, 0.0))


def batch_reactions(batch, k: int) -> BatchReactions:
    """As `vehicle.reactions.reactions`, case by case: multipliers of kept rows, spread over
    contacts with least norm.

    The norm is one step of linear algebra for all cases; those that it would pull at the ground are
    done again with normals >= 0.
    """
    vehicle = batch.stepper.simulated.vehicle
    if vehicle is None:
        raise SimulationError("only a vehicle has wheels and ground forces; "
                              "Batch.multipliers has the multipliers of any system")
    rows, count = vehicle.constrained.distribution.names, len(batch)
    names = tuple(f"{c.name}/{direction}" for c in vehicle.contacts for direction in c.held
                  if f"{c.name}/{direction}" in rows)
    index, kept = [rows.index(name) for name in names], list(batch.stepper.equations.frame.kept)
    A = (
        vehicle.functions.constraints
        .map(count)(batch.t[k], batch.q(k).T, batch.theta.T)[0]
        .full()
    )
    A = A.reshape(len(rows), count, -1).transpose(1, 0, 2)                      # (N, m, nv)
    carried = [i for i in index if i in kept]
    lam = batch.multipliers(k)[:, [kept.index(i) for i in carried]]
    load = np.einsum("ni,nij->nj", lam, A[:, carried])
    matrices = A[:, index].transpose(0, 2, 1)
    forces = np.einsum("nij,nj->ni", np.linalg.pinv(matrices, rcond=1e-10), load)
    normals = np.array([name.endswith("/normal") for name in names])
    feasible = np.ones(count, dtype=bool)
    least = -1e-9 * np.abs(forces).max(axis=1, keepdims=True, initial=0.0)
    for i in np.flatnonzero((forces[:, normals] < least).any(axis=1)):
        forces[i], feasible[i], _ = least_norm(matrices[i], load[i], normals)
    return BatchReactions(names, forces, tuple(vehicle.contact_names), feasible)
