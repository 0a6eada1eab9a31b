"""Reconstruction: the motion of the group from the motion of the base."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments, read_array, read_number, show
from ..errors import REPR, InputError, MechanicsError, listed
from .equations import Equations
from .symmetry import Symmetry
from .system import ConstrainedSystem


class Reduced(Protocol):
    """A `Reduction` or a `Quotient`."""

    symmetry: Symmetry
    base: ConstrainedSystem
    lift: ca.Function

    def place(self, q: np.ndarray) -> np.ndarray: ...

    def equations(self) -> Equations: ...


@dataclass(frozen=True)
class ReducedMotion:
    """A run of the reduced system.

    Attributes
    ----------
    t
        (N,) [s].
    r
        (N, base.nq) coordinates of the base.
    xi
        (N, nxi) its quasi-velocities.
    names
        Names of the quasi-velocities.
    velocity
        t -> base velocity (base.nv,), between the times as well.
    """

    t: np.ndarray
    r: np.ndarray
    xi: np.ndarray
    names: tuple[str, ...]
    velocity: Callable[[float], np.ndarray]

    def __repr__(self) -> str:
        return (f"<ReducedMotion of {listed(self.names, REPR)}: {len(self.t)} states, "
                f"{self.t[0]:g} to {self.t[-1]:g} s>")


@dataclass(frozen=True)
class FullMotion:
    """A motion on the whole configuration space.

    Attributes
    ----------
    t
        (N,) [s].
    q, v
        (N, nq), (N, nv).
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray

    def __repr__(self) -> str:
        return (f"<FullMotion of {self.q.shape[1]} coordinates: {len(self.t)} states, "
                f"{self.t[0]:g} to {self.t[-1]:g} s>")


@check_arguments
def run_reduced(reduced: Reduced, times: ArrayLike, r: ArrayLike, xi: ArrayLike,
                u: Callable[[float], ArrayLike] | None = None,
                rtol: float = 1e-13) -> ReducedMotion:
    """Integrates the equations of a reduced system (DOP853).

    Parameters
    ----------
    reduced
        From `chaplygin`, `at_momentum` or `quotient`.
    times
        (N,) [s].
    r
        Start, (base.nq,).
    xi
        Start, in the order of `reduced.equations().names`.
    u
        t -> inputs; zero if None.
    rtol
        Relative tolerance.

    Raises
    ------
    MechanicsError
        For a start of the wrong size, and where the integrator gives up.
    """
    equations, theta = reduced.equations(), reduced.base.parameters
    nr = reduced.base.system.algebroid.nq
    no_input = np.zeros(reduced.base.system.u.numel())
    times, r, xi = (np.atleast_1d(np.asarray(x, dtype=float)) for x in (times, r, xi))
    if r.shape != (nr,) or xi.shape != (len(equations.names),):
        raise MechanicsError(f"the reduced system starts from {nr} coordinates "
                             f"({', '.join(reduced.base.system.algebroid.q_names)}) and "
                             f"{len(equations.names)} velocities ({', '.join(equations.names)}); "
                             f"got shapes {r.shape} and {xi.shape}")

    def rate(t, y):
        given = no_input if u is None else read_array(
            "u(t)", u(t), no_input.shape, f"{len(no_input)} finite numbers")
        parts = equations.drift(t, y[:nr], y[nr:], given, theta)
        return np.concatenate([part.full().ravel() for part in parts])

    solution = _integrate(rate, times, np.concatenate([r, xi]), rtol)

    def velocity(t: float) -> np.ndarray:
        y = solution.sol(t)
        return equations.velocity(t, y[:nr], y[nr:], theta).full().ravel()

    return ReducedMotion(solution.t, solution.y[:nr].T, solution.y[nr:].T, equations.names,
                         velocity)


@check_arguments
def reconstruct(reduced: Reduced, motion: ReducedMotion, q: ArrayLike,
                rtol: float = 1e-13) -> FullMotion:
    """The full motion of a reduced one: q(t) from dq/dt = rho(q) v.

    v is the lift of the base's velocity: horizontal for Chaplygin's reduction, with S eta(r, xi) at
    J = mu.

    For translations and S^1 that is a quadrature, for SE(2) and SO(3) the equation g' = g zeta(t),
    solved in the embedding. Source: paper 004, after eqs. (22) and (23).

    Parameters
    ----------
    reduced
        From `chaplygin`, `at_momentum` or `quotient`.
    motion
        From `run_reduced`.
    q
        (nq,) start; its base part is where the motion starts.
    rtol
        Relative tolerance of the integration.

    Raises
    ------
    MechanicsError
        Where q does not stand over the start of the motion.
    """
    q, space = np.asarray(q, dtype=float), reduced.symmetry.constrained.system.algebroid
    if q.shape != (space.nq,):
        raise MechanicsError(f"q has shape {q.shape}, expected ({space.nq},)")
    place = reduced.place(q)
    gap = np.abs(place - motion.r[0]).max(initial=0.0)
    if not gap <= 1e-9 * (1 + np.abs(q).max(initial=0.0)):
        raise MechanicsError("q does not project to the start of the reduced motion: "
                             f"{', '.join(reduced.base.system.algebroid.q_names)} are {place}, the "
                             f"motion starts at {motion.r[0]}")
    theta = reduced.base.parameters

    def rate(t, y):
        return reduced.lift(t, y, motion.velocity(t), theta)[0].full().ravel()

    found = _integrate(rate, motion.t, q, rtol).y.T
    v = np.array([reduced.lift(t, y, motion.velocity(t), theta)[1].full().ravel()
                  for t, y in zip(motion.t, found)])
    return FullMotion(motion.t, found, v)


def _integrate(rate: Callable, times: np.ndarray, start: np.ndarray, rtol: float):
    from scipy.integrate import solve_ivp

    read_number("rtol", rtol, "a number between 1e-14 and 1", least=1e-14)
    ordered = times.ndim == 1 and len(times) > 1 and (np.diff(times) > 0).all()
    if not ordered or rtol >= 1:
        raise InputError(f"times = {show(times)} must be two or more [s], each after the last, and "
                         f"rtol = {rtol} less than 1")
    solution = solve_ivp(rate, (times[0], times[-1]), start, method="DOP853", t_eval=times,
                         rtol=rtol, atol=1e-2 * rtol, dense_output=True)
    if not solution.success:
        raise MechanicsError("integration stopped at t = "
                             f"{solution.t[-1] if len(solution.t) else times[0]:.6g} s: "
                             f"{solution.message}")
    return solution
