"""Optimal control by direct collocation: a `casadi.Opti` with the dynamics in place; cost and
constraints are added."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments, read_array, read_count, read_positive, read_positives
from ..errors import SimulationError
from ..mechanics.system import HasConstrained
from ..simulation.dynamics import Dynamics, dynamics
from ..simulation.state import State


@dataclass(frozen=True, eq=False)
class Plan:
    """The result of `Collocation`; as a controller (t, state) -> u, it plays the inputs back.

    After its end all inputs are zero.

    Attributes
    ----------
    t
        (N+1,) [s].
    x
        (N+1, nx).
    u
        (N, nu); u[k] is held from t[k] on.
    """

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray

    def __repr__(self) -> str:
        return f"Plan({len(self.u)} intervals to t = {self.t[-1]:.6g} s, nu = {self.u.shape[1]})"

    def __call__(self, t: float, state: State) -> np.ndarray:
        k = int(np.searchsorted(self.t, t + 1e-9 * self.t[-1], side="right")) - 1
        return self.u[k] if k < len(self.u) else np.zeros(self.u.shape[1])


@check_arguments
class Collocation:
    """Optimal control by direct collocation on a number of equal intervals.

    The states and inputs on the intervals are unknowns that satisfy dx/dt = f(t, x, u); the cost
    and further constraints are added by the user.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.
    intervals
        N; u is held over each.
    duration
        [s]; if None it is an unknown, kept positive.
    degree
        d of the polynomial in each interval, which satisfies the equation at d Gauss-Legendre
        points.
    unit
        Units in which the inputs are measured (nu,) [N m, N], chosen so that the unknowns are near
        one; 1 if None.

    Attributes
    ----------
    opti
        `casadi.Opti`: `minimize` a cost, and `subject_to` constraints.
    x, u
        Unknowns, (nx, N+1) and (nu, N).
    duration
        Unknown or number [s].
    dynamics
        `simulation.dynamics.Dynamics`.
    inner
        Unknown states between, (nx, N d), d to an interval.

    Notes
    -----
    With h the length of an interval, p the polynomial through its start x_k and the points x_kj at
    the roots c_j of the shifted Legendre polynomial of degree d::

        p'(c_j) = h f(t_k + c_j h, x_kj, u_k),   x_k+1 = p(1)

    the Gauss method of order 2 d. It keeps quadratic invariants, and so the length of quaternions.
    (J. T. Betts, Practical Methods for Optimal Control and Estimation Using Nonlinear Programming,
    2nd ed., SIAM 2010, chapter 4; E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration,
    IV.2.)
    """

    def __init__(self, constrained: HasConstrained, intervals: int, duration: float | None = None,
                 degree: int = 3, unit: ArrayLike | None = None):
        self.n, self.degree = read_count("intervals", intervals), read_count("degree", degree)
        self.dynamics: Dynamics = dynamics(constrained)
        f, n = self.dynamics, self.n
        self.unit = np.ones(f.nu) if unit is None else read_positives("unit", unit, f.inputs)
        self.opti = ca.Opti()
        self.x, self._w = self.opti.variable(f.nx, n + 1), self.opti.variable(f.nu, n)
        self.u = ca.diag(self.unit) @ self._w
        self.duration: ca.MX | float
        if duration is None:
            self.duration = self.opti.variable()
            self.opti.subject_to(self.duration > 0)
        else:
            self.duration = read_positive("duration", duration)
        # x_kj, interval by interval
        self.inner = self.opti.variable(f.nx, n * degree)
        self._collocate()

    def __repr__(self) -> str:
        return f"<Collocation of {self.dynamics!r}: {self.n} intervals of degree {self.degree}>"

    def _collocate(self) -> None:
        f, n, d, h = self.dynamics, self.n, self.degree, self.duration / self.n
        roots = ca.collocation_points(d, "legendre")
        # (d+1, d), (d+1, 1): rows are x_k, x_k1 ... x_kd
        slopes, ends, _ = ca.collocation_coeff(roots)
        moments = ca.DM([[k + c for k in range(n) for c in roots]]) * h
        u, theta = ca.kron(self.u, np.ones((1, d))), ca.repmat(ca.DM(f.theta), 1, n * d)
        rates = f.rate.map(n * d)(moments, self.inner, u, theta)
        for k in range(n):
            points = ca.horzcat(self.x[:, k], self.inner[:, k * d:(k + 1) * d])
            self.opti.subject_to(points @ slopes == h * rates[:, k * d:(k + 1) * d])
            self.opti.subject_to(self.x[:, k + 1] == points @ ends)

    def bound(self, expression: ca.MX, lower: ArrayLike, upper: ArrayLike) -> None:
        """lower <= expression <= upper, entry by entry; the columns of a matrix are moments."""
        rows, columns = expression.shape
        low, high = (ca.repmat(ca.DM(np.broadcast_to(np.asarray(b, dtype=float), (rows,))), 1,
                               columns) for b in (lower, upper))
        self.opti.subject_to(self.opti.bounded(ca.vec(low), ca.vec(expression), ca.vec(high)))

    def guess(self, x: np.ndarray, u: np.ndarray | None = None,
              duration: float | None = None) -> None:
        """Sets the initial guess: x (N+1, nx), u (N, nu) (zero if None), and the duration [s] if it
        is unknown."""
        shape = self.n + 1, self.dynamics.nx
        x = read_array("the initial guess of x", x, shape, f"finite numbers of shape {shape}")
        self.opti.set_initial(self.x, x.T)
        points = ca.collocation_points(self.degree, "legendre")
        parts = (np.arange(self.n)[:, None] + points).ravel()
        self.opti.set_initial(self.inner, np.array([np.interp(parts, np.arange(self.n + 1), column)
                                                    for column in x.T]))
        w = np.zeros(self._w.shape) if u is None else (np.asarray(u, dtype=float) / self.unit).T
        self.opti.set_initial(self._w, w)
        if duration is not None:
            self.opti.set_initial(self.duration, duration)

    def solve(self, iterations: int = 500, tolerance: float = 1e-8, quiet: bool = True) -> Plan:
        """Solves the problem by IPOPT, to its relative `tolerance`. Raises `SimulationError` with
        IPOPT's verdict if it finds no solution."""
        # "sb": its banner
        silence: dict[str, int | str] = {"print_level": 0, "sb": "yes"} if quiet else {}
        self.opti.solver("ipopt", {"print_time": not quiet, "expand": True},
                         {"max_iter": iterations, "tol": tolerance, **silence})
        try:
            found = self.opti.solve()
        except RuntimeError as error:
            verdict = self.opti.return_status()
            raise SimulationError(f"no plan found: IPOPT says {verdict} after "
                                  f"{self.opti.stats().get('iter_count')} iterations. Try another "
                                  "guess, more time, or fewer constraints") from error

        def value(expression: ca.MX, shape: tuple[int, int]) -> np.ndarray:
            return np.asarray(found.value(expression), dtype=float).reshape(shape, order="F")

        t = np.linspace(0.0, float(found.value(self.duration)), self.n + 1)
        return Plan(t, value(self.x, self.x.shape).T, value(self.u, self.u.shape).T)
