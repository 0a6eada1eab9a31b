"""Time-varying linear-quadratic regulator along a recorded run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..analysis.derivatives import StepJacobian, step_jacobian
from ..attitude import wrap
from ..checks import check_arguments
from ..errors import InputError
from ..mechanics.system import HasConstrained
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..simulation.state import State
from ..simulation.state_vector import StateVector
from .lqr import ANGLE, rolling_radii
from .riccati import read_weights

PLACE = 10.0         # weight of x and y where none is given
FOLLOWS = 1e-6       # relative to the state: what a step from one record may miss the next one by


@check_arguments
class TrackingLQR:
    """u_k = u*_k - K_k (x_k - x*_k) along a recorded run (x*, u*).

    A_k, B_k are the exact Jacobians of the steps from one record to the next (`step_jacobian`), so
    that K minimises::

        sum_k (x_k - x*_k)'Q (x_k - x*_k) + (u_k - u*_k)'R (u_k - u*_k)
            + final (x_N - x*_N)'Q (x_N - x*_N)

    to second order, by P_N = final Q, K = (R + B'P B)^-1 B'P A, P_k = Q + A'P (A - B K) backwards
    (Bryson and Ho, Applied Optimal Control, 1975, chapter 5). x is the state vector. Weights are 1
    over the square of the scales: the vehicle's length, 0.3 rad, both per sqrt(length / gravity)
    for speeds; wheel angles have none. They are multiplied by the interval of the records, so that
    the cost is an integral.

    After the last record the last gain and reference are kept.

    `A`, `B`, `K`, `P` (N, ...), `names`.

    Parameters
    ----------
    vehicle
        The vehicle of the run.
    trajectory
        A run in dynamic mode, recorded so often that u did not change between two records.
    dt
        Step of the run [s]; the interval between the first two records if None.
    weights
        Weights by name of a flat coordinate or a speed, 10 of x and y and 1 of others.
    effort
        Weight of all inputs.
    final
        Weight of the end.

    Raises
    ------
    InputError
        For a kinematic run, for one with too few records, and where steps from one record do not
        lead to the next.
    """

    def __init__(self, vehicle: HasConstrained, trajectory: Trajectory, *, dt: float | None = None,
                 weights: Mapping[str, float] | None = None, effort: float = 0.1,
                 final: float = 10.0):
        simulated, run = Simulated.of(vehicle), trajectory
        if run.kinematic:
            raise InputError("a kinematic run has no forces to regulate; record the run in dynamic "
                             "mode")
        if len(run) < 3:
            raise InputError(f"a run of {len(run)} records is too short to be tracked")
        self.simulated = simulated
        self.dt = float(run.t[1] - run.t[0]) if dt is None else float(dt)
        counts = np.round(np.diff(run.t) / self.dt).astype(int)
        whole = np.abs(counts * self.dt - np.diff(run.t)) < 1e-9
        last = len(counts) if whole.all() else int(np.argmin(whole))
        if last < 2:
            raise InputError(f"the records lie {run.t[1] - run.t[0]:.6g} s apart, no multiple of "
                             f"dt = {self.dt} s: give the time step of the run")
        jacobian = step_jacobian(vehicle, self.dt)
        self.state_vector = StateVector(simulated.constrained.system.algebroid, run.xi.shape[1])
        self.names, self.inputs = jacobian.names, jacobian.inputs
        x = np.array([self.state_vector.assemble(q, xi) for q, xi in zip(run.q[:last + 1], run.xi)])
        self._t, self.x, self.u = run.t[:last + 1], x, run.u[:last + 1]
        nx, nu = x.shape[1], run.u.shape[1]
        self.A, self.B = np.empty((last, nx, nx)), np.empty((last, nx, nu))
        for k in range(last):
            self.A[k], self.B[k] = self._interval(jacobian, k, counts[k])
        place = dict.fromkeys(("x", "y"), PLACE) if simulated.vehicle is not None else {}
        weights = place | read_weights(weights, self.names)
        interval, nconf = float(run.t[1] - run.t[0]), self.state_vector.nconf
        scales, time = _scales(simulated, self.names, nconf)
        self.Q = interval * np.diag([weights.get(name, 1.0) / scale ** 2
                                     for name, scale in zip(self.names, scales)])
        largest = (np.abs(self.B[:, nconf:]) / scales[nconf:, None]).max(axis=(0, 1))
        effect = largest * time / interval
        self.R = interval * effort * np.diag(np.where(effect > 0, effect, 1.0) ** 2)
        self.final = final * self.Q / interval * time
        self.K, self.P = riccati_backwards(self.A, self.B, self.Q, self.R, self.final)
        self._names = simulated.equations.names

    def __repr__(self) -> str:
        return f"TrackingLQR({self.simulated.name}, states={self.names}, inputs={self.inputs})"

    def _interval(self, jacobian: StepJacobian, k: int,
                  count: int) -> tuple[np.ndarray, np.ndarray]:
        """A_k, B_k over `count` steps. Raises `InputError` if they do not lead to the next
        record."""
        x, A = self.x[k], np.eye(self.x.shape[1])
        B = np.zeros((len(x), self.u.shape[1]))
        for i in range(count):
            x, a, b, _ = jacobian.with_step(self._t[k] + i * self.dt, x, self.u[k],
                                            self.simulated.theta)
            A, B = a @ A, a @ B + b
        missed = x - self.x[k + 1]
        for slot in self.state_vector.angle_slots():
            missed[slot] = wrap(missed[slot])
        if not np.abs(missed).max() <= FOLLOWS * max(1.0, np.abs(x).max()):
            raise InputError(f"steps of {self.dt} s from the record at t = {self._t[k]:.6g} s miss "
                             f"the next one by {np.abs(missed).max():.3g}. Record each control "
                             "period (run(..., every=...)), and give dt= where it is not the "
                             "interval of the records")
        return A, B

    @property
    def start(self) -> dict:
        """Arguments for `Simulator.reset`: on the run's beginning."""
        return {"q": self.state_vector.configuration(self.x[0]),
                "xi": dict(zip(self._names, map(float, self.x[0, self.state_vector.nconf:])))}

    def error(self, t: float, state: State) -> tuple[int, np.ndarray]:
        """Index of the record that holds now, and x - x* (nx,)."""
        k = max(int(np.searchsorted(self._t, t + self.dt / 2, side="right")) - 1, 0)
        xi = np.array([state.xi[name] for name in self._names])
        x = self.state_vector.assemble(state.q, xi, near=self.x[k])
        if self.simulated.vehicle is not None and x[3:7] @ self.x[k, 3:7] < 0:
            x[3:7] *= -1                                              # the same attitude
        return k, x - self.x[k]

    def __call__(self, t: float, state: State) -> np.ndarray:
        k, error = self.error(t, state)
        return self.u[k] - self.K[min(k, len(self.K) - 1)] @ error


def riccati_backwards(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray,
                      final: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """K (N, nu, n) and P (N + 1, n, n) of the finite horizon for A (N, n, n), B (N, n, nu).

    P_N = final; the least cost is x_0'P_0 x_0."""
    P, K = np.empty((len(A) + 1, *final.shape)), np.empty((len(A), B.shape[2], B.shape[1]))
    P[-1] = final
    for k in range(len(A) - 1, -1, -1):
        K[k] = np.linalg.solve(R + B[k].T @ P[k + 1] @ B[k], B[k].T @ P[k + 1] @ A[k])
        closed = A[k] - B[k] @ K[k]
        # stays symmetric and positive in rounding
        P[k] = Q + closed.T @ P[k + 1] @ closed + K[k].T @ R @ K[k]
    return K, P


def _scales(simulated: Simulated, names: tuple[str, ...], nconf: int) -> tuple[np.ndarray, float]:
    """The size of each flat coordinate and speed that costs one unit (inf: no cost), and the time
    scale of the inputs [s]."""
    vehicle = simulated.vehicle
    if vehicle is None:
        return np.ones(len(names)), 1.0
    length = vehicle.steering.length
    time = float(np.sqrt(length / vehicle.parameters.values["gravity"]))
    rolled = rolling_radii(vehicle)
    # a quaternion has half the angle
    scales = []
    for i, name in enumerate(names):
        if i < nconf:
            scales.append(np.inf if name in rolled else length if i < 3 else ANGLE / 2 if i < 7
                          else ANGLE)
        else:
            unit = simulated.equations.units[i - nconf]
            angle = length / rolled[name] if name in rolled else ANGLE
            scales.append((length if unit.startswith("m") else angle) / time)
    return np.array(scales), time
