"""Receding-horizon control with the vehicle's own dynamics."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..analysis.derivatives import step_jacobian
from ..checks import check_arguments, read_count, read_positive
from ..compile.compiled_function import compile_function
from ..errors import ModelError
from ..simulation.batch_input import start_states
from ..simulation.dynamics import Dynamics, dynamics
from ..simulation.state import State
from ..urdf.description import NO_LIMITS
from ..vehicle.vehicle import Vehicle
from .path import Path, Pose
from .tracking import Tracker
from .unit_effort import effort_limits, unit_efforts

AHEAD = 2.0                       # units of the path that the horizon covers
# weights of errors in units of length, radians, speeds
LATERAL, ALONG, HEADING, SPEED, TURN = 20.0, 4.0, 5.0, 2.0, 0.5
# weights of efforts, in `unit_effort`, and of what they change by from stage to stage
EFFORT, CHANGE = 0.02, 0.05
LIMIT = 100.0                     # weight of a joint's position beyond its limit [1/rad]
FIRST = 5                         # Gauss-Newton steps of the first call; one of each further call
HALVINGS = 10                     # of such a step, at most
EQUAL = 1e-12                     # relative: a cost that differs by less is no larger one


@check_arguments
class MPC(Tracker):
    """Model predictive control: finds the efforts that follow the path best over a horizon.

    Parameters
    ----------
    vehicle, path, speed
        As of `Tracker`.
    stages
        N parts of the horizon, over each of which the efforts are held.
    horizon
        [s]; if None, the time in which the path advances by two units.
    effort
        Weight of the efforts, against errors of the path in units.

    Raises
    ------
    ModelError
        As `Tracker` does, and for a vehicle without driven joints, or whose effort limits are all
        zero.

    Notes
    -----
    The efforts minimise::

        min over u_0 ... u_N-1 of sum_k |r(x_k+1)|^2 + |w u_k|^2 + |w' (u_k - u_k-1)|^2,
        x_k+1 = F(x_k, u_k),   |u| <= limits

    F is the simulator's Runge-Kutta step with the vehicle's Gibbs-Appell equations. r are the
    errors of P (`unicycle.py`) from a point that goes along the path at its pace, from where the
    vehicle is nearest: across, along, heading, speed, turning rate; and how far a driven joint is
    beyond its limits. Each call takes one Gauss-Newton step from the last solution, shifted in
    time: F, its derivatives along it, one bounded least-squares problem in u alone. The step is
    halved until the sum is no larger than before. Where the last solution leads to no finite state
    any more, the search begins again at efforts of zero.

    M. Diehl, H. G. Bock, J. P. Schloeder, A real-time iteration scheme for nonlinear optimization
    in optimal feedback control, SIAM J. Control Optim. 43 (2005) 1714. Bounded least squares: P. B.
    Stark, R. L. Parker, Computational Statistics 10 (1995) 129.
    """

    def __init__(self, vehicle: Vehicle, path: Path, *, speed: float = 0.5, stages: int = 20,
                 horizon: float | None = None, effort: float = EFFORT):
        super().__init__(vehicle, path, speed=speed, drive=lambda *_: self.efforts)
        if not vehicle.driven:
            raise ModelError(f"{vehicle.name!r} has no driven joint: there is nothing to control")
        self.stages, self.dynamics = read_count("stages", stages), dynamics(vehicle)
        ahead = (AHEAD * self.unit / self.speed if horizon is None
                 else read_positive("horizon", horizon))
        self.period = ahead / stages                                   # [s] of a stage
        self._step = step_jacobian(vehicle, self.period)
        self._move = compile_function(self.dynamics.integrator)
        self._errors = compile_function(_errors(self.dynamics, self))
        start = start_states(vehicle, [self.start["pose"]])[0]
        self.unit_effort = unit_efforts(vehicle, self.dynamics, start, self.speed,
                                        self.unit / self.speed)
        self._most = effort_limits(vehicle, self.dynamics.inputs)
        if not self._most.any():
            inputs = ", ".join(self.dynamics.inputs)
            raise ModelError(f"the effort limits of {inputs} of {vehicle.name!r} are all 0: no "
                             "joint can be driven")
        nu, weights = self.dynamics.nu, (read_positive("effort", effort), CHANGE)
        scaled = np.tile(1 / self.unit_effort, stages)
        before = np.eye(stages * nu) - np.eye(stages * nu, k=-nu)
        # rows of efforts and of their changes
        self._held = np.vstack([weights[0] * np.diag(scaled), weights[1] * before * scaled])

    def reset(self) -> None:
        super().reset()
        self._plan: tuple[float, np.ndarray] | None = None      # its time, and u (N, nu)
        # it commands efforts
        self.commanded_twist = None

    def law(self, t: float, pose: Pose, s: float) -> tuple[float, float]:
        """Speed and turning rate of the point that is followed."""
        v = self.pace(s)
        return v, v * self.path.station(s)[3]

    def efforts(self, t: float, state: State) -> np.ndarray:
        """u of the driven joints [N m, N], (nu,)."""
        _, s = self._locate(t, state)
        x = self.dynamics.of(state)
        u, steps = self._shift(t), 1 if self._plan is not None else FIRST
        held, reference = np.asarray(state.u[:self.dynamics.nu]), self._reference(t, s)
        cost = self._cost(t, x, u, held, reference)
        if not np.isfinite(cost):
            u, steps = np.zeros_like(u), FIRST
            cost = self._cost(t, x, u, held, reference)
        for _ in range(steps):
            u, cost = self._improve(t, x, u, held, reference, cost)
        self._plan = t, u
        return u[0].copy()

    def _shift(self, t: float) -> np.ndarray:
        """The last solution at the stages from t on; empty at the first call."""
        if self._plan is None:
            return np.zeros((self.stages, self.dynamics.nu))
        begun, u = self._plan
        passed = np.floor(np.arange(self.stages) + (t - begun) / self.period + 1e-9).astype(int)
        return u[np.clip(passed, 0, self.stages - 1)]

    def _reference(self, t: float, s: float) -> np.ndarray:
        """The reference at the end of each stage: x, y, heading, speed, turning rate, (N, 5)."""
        rows = []
        for _ in range(self.stages):
            s += self.pace(s) * self.period
            x, y, heading, _ = self.path.station(s)
            rows.append((x, y, heading, *self.law(t, (x, y, heading), s)))
        return np.array(rows)

    def _cost(self, t: float, x: np.ndarray, u: np.ndarray, held: np.ndarray,
              reference: np.ndarray) -> float:
        """The sum that is to be least, or what is not finite."""
        total = np.sum(self._effort_errors(u, held) ** 2)
        for k, wanted in enumerate(reference):
            x = self._move(t + k * self.period, x, u[k], self.dynamics.theta, self.period)[0].copy()
            total += np.sum(self._errors(x, wanted)[0] ** 2)
        return float(total)

    def _effort_errors(self, u: np.ndarray, held: np.ndarray) -> np.ndarray:
        """w u_k, then w' (u_k - u_k-1), (2 N nu,)."""
        errors, begin = self._held @ u.ravel(), u.size
        errors[begin:begin + self.dynamics.nu] -= CHANGE * held / self.unit_effort
        return errors

    def _improve(self, t: float, x: np.ndarray, u: np.ndarray, held: np.ndarray,
                 reference: np.ndarray, cost: float) -> tuple[np.ndarray, float]:
        """One Gauss-Newton step from u (N, nu), with x_k as a function of it, and its cost."""
        begin, nu, n, theta = x, self.dynamics.nu, u.size, self.dynamics.theta
        S: np.ndarray = np.zeros((self.dynamics.nx, n))
        values, slopes = [], []
        for k, wanted in enumerate(reference):
            x, A, B, _ = self._step.with_step(t + k * self.period, x, u[k], theta)
            S = A @ S
            S[:, k * nu:(k + 1) * nu] += B
            r, slope = self._errors(x, wanted)
            values.append(r.ravel().copy())
            slopes.append(slope @ S)
        most, change = np.tile(self._most, self.stages), np.zeros(n)
        # an effort whose limit is zero is no unknown
        free = most > 0
        J = np.vstack([*slopes, self._held])[:, free]
        r = np.concatenate([*values, self._effort_errors(u, held)])
        low, high = -most - u.ravel(), most - u.ravel()
        change[free] = np.linalg.solve(J.T @ J, -J.T @ r)
        if np.any((change < low) | (change > high)):
            from scipy.optimize import lsq_linear

            change[free] = lsq_linear(J, -r, (low[free], high[free]), method="bvls").x
        whole = np.clip(u + change.reshape(u.shape), -self._most, self._most) - u
        for k in range(HALVINGS):
            tried = u + whole / 2 ** k
            found = self._cost(t, begin, tried, held, reference)
            if found <= cost * (1 + EQUAL):
                return tried, found
        return u, cost


def _errors(f: Dynamics, tracker: MPC) -> ca.Function:
    """(x, reference (5,)) -> r, dr/dx."""
    point, unit, speed = tracker.unicycle, tracker.unit, tracker.speed
    x, wanted = ca.SX.sym("x", f.nx), ca.SX.sym("wanted", 5)
    pose = f.pose(x)
    # no effort in it: the configuration's rate has none
    rate = ca.jtimes(pose, x, f(0.0, x, ca.SX.zeros(f.nu)))
    c, s = ca.cos(pose[2]), ca.sin(pose[2])
    arm = ca.vertcat(c * point.offset[0] - s * point.offset[1],
                     s * point.offset[0] + c * point.offset[1])
    place, velocity = pose[:2] + arm, rate[:2] + rate[2] * ca.vertcat(-arm[1], arm[0])
    heading = pose[2] + point.yaw
    tangent = ca.vertcat(ca.cos(wanted[2]), ca.sin(wanted[2]))
    off = place - wanted[:2]
    across, along = tangent[0] * off[1] - tangent[1] * off[0], ca.dot(tangent, off)
    parts = [LATERAL * across / unit, ALONG * along / unit,
             HEADING * 2 * ca.sin((heading - wanted[2]) / 2),
             SPEED * (ca.dot(tangent, velocity) - wanted[3]) / speed,
             TURN * (rate[2] - wanted[4]) * unit / speed]
    for name in f.inputs:
        limit = tracker.vehicle.limits.get(name, NO_LIMITS)
        if limit.upper < np.inf:
            joint = x[f.coordinate(name)]
            beyond = ca.fmax(joint - limit.upper, 0) + ca.fmin(joint - limit.lower, 0)
            parts.append(LIMIT * beyond)
    r = ca.vertcat(*parts)
    return ca.Function("nhmech_mpc", [x, wanted], [ca.densify(r), ca.densify(ca.jacobian(r, x))],
                       {"cse": True})
