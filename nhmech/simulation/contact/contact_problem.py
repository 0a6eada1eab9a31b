"""The contact solver: Signorini's condition and Coulomb friction at several contacts at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from threading import local

import casadi as ca
import numpy as np

from ...once import cached_property
from ...symbolic.buffered import Buffered

ROUNDS = 60            # iterations of Newton's method at most; three to six near the solution
SWEEPS = 200           # sweeps of Gauss-Seidel at most, before another try of Newton's method
HALVES = 12            # halvings of one step of Newton's method at most
# Where Newton's method fails, the ground gets a compliance, at first as large as W itself, which is
# divided by one of these factors again and again until the ground is nearly rigid.
STIFFEN, SOFTEST = (10.0, 3.0, 1.5), 1e-10
# residual relative to the velocities: the aim of Newton's method, and what is accepted where
# rounding stops it
SOLVED, GOOD = 1e-13, 1e-10


@dataclass(frozen=True)
class Cone:
    """One contact among the unknowns: the index of its normal impulse, those of the impulses along
    the ground, which follow it (two, one or none), and its friction coefficient."""

    normal: int
    along: tuple[int, ...]
    mu: float


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """Impulses P and velocities u = W P + g of all contacts with, at each of them::

        P_n >= 0,  u_n >= 0,  P_n u_n = 0                        (Signorini)
        |P_t| <= mu P_n,  and P_t = -mu P_n u_t/|u_t| where u_t is not zero       (Coulomb)

    This is the complementarity of P in Coulomb's cone and u + (mu |u_t|, 0) in its dual (de Saxce
    and Feng, Mathematical and Computer Modelling 28, 1998, 225-245), written as the zero of a
    function (Alart and Curnier, Computer Methods in Applied Mechanics and Engineering 92, 1991,
    353-375)::

        P_n = max(z, 0),  P_t = projection of P_t - rho u_t onto the disc of radius mu max(z, 0)

    with z = P_n - rho u_n. It is solved by Newton's method; where that fails, by continuation from
    compliant ground, where the contacts are less redundant.
    """

    W: np.ndarray  # (n, n), change of velocities by unit impulses [1/kg]; not singular
    g: np.ndarray  # (n,), velocities without impulses [m/s]
    cones: Sequence[Cone]

    @cached_property
    def _rho(self) -> np.ndarray:
        """rho (n,) [kg]; the entries along the ground at one contact are equal."""
        rho = 1 / np.diag(self.W)
        for cone in self.cones:
            if cone.along:
                rho[list(cone.along)] = rho[list(cone.along)].min()
        return rho

    @cached_property
    def _moves(self) -> np.ndarray:
        """Derivative of P - rho u."""
        return np.eye(len(self.g)) - self._rho[:, None] * self.W

    @np.errstate(over="ignore", invalid="ignore")        # of an iteration that diverges
    def solve(self, P: np.ndarray, floor: float = 0.0) -> tuple[np.ndarray, float]:
        """P (n,) from a first guess, and its residual relative to the largest of |g| and `floor`
        [m/s]. The residual is below 1e-12 if there is a solution."""
        scale = float(np.abs(self.g).max(initial=floor)) or 1.0
        best, least = self.newton(P, scale)
        for factor in STIFFEN:
            if least <= GOOD:
                break
            found, error = self.newton(self._harden(np.zeros_like(P), factor, scale), scale)
            if error < least:
                best, least = found, error
        best = best.copy()
        normals = [cone.normal for cone in self.cones]
        best[normals] = np.maximum(best[normals], 0.0)      # rounding errors of open contacts
        return best, least

    def _harden(self, P: np.ndarray, factor: float, scale: float) -> np.ndarray:
        """P by continuation over grounds of decreasing compliance."""
        softness = 1.0
        while softness > SOFTEST:
            W = self.W + softness * self.W.diagonal().max() * np.eye(len(P))
            softer = ContactProblem(W, self.g, self.cones)
            P, error = softer.newton(P, scale)
            if error > GOOD:
                P, _ = softer.newton(softer.sweep(P), scale)
            softness /= factor
        return P

    def newton(self, P: np.ndarray, scale: float) -> tuple[np.ndarray, float]:
        """Semismooth Newton's method with a line search on the residual; P and the residual
        relative to `scale` [m/s]."""
        value, slope = self._residual(P)
        size = self._size(value)
        for _ in range(ROUNDS):
            if size <= SOLVED * scale:
                break
            try:
                step = np.linalg.solve(slope, -value)
            except np.linalg.LinAlgError:
                break
            for _ in range(HALVES):
                trial = P + step
                found, steep = self._residual(trial)
                new = self._size(found)
                if new < size:
                    break
                step = step / 2
            else:
                break                       # stopped by rounding
            P, value, slope, size = trial, found, steep, new
        return P, size / scale

    def _size(self, value: np.ndarray) -> float:
        """Norm of a residual, as a velocity [m/s]."""
        speeds = value / self._rho
        return math.sqrt(speeds @ speeds)

    def sweep(self, P: np.ndarray) -> np.ndarray:
        """Projected Gauss-Seidel, contact by contact."""
        P, rho = P.copy(), self._rho
        for _ in range(SWEEPS):
            before = P.copy()
            for cone in self.cones:
                i, j = cone.normal, list(cone.along)
                P[i] = max(P[i] - rho[i] * (self.W[i] @ P + self.g[i]), 0.0)
                if j:
                    y = P[j] - rho[j] * (self.W[j] @ P + self.g[j])
                    length, radius = math.sqrt(y @ y), cone.mu * P[i] if P[i] else 0.0
                    P[j] = y if length <= radius else y * (radius / length)
            if np.abs(P - before).max(initial=0.0) <= 1e-15 * np.abs(P).max(initial=0.0):
                break
        return P

    def _residual(self, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P - projection(P - rho u) (n,) and its derivative (n, n)."""
        moves = self._moves
        moved = moves @ P - self._rho * self.g
        value, slope = P.copy(), np.eye(len(P))
        project, y = _projection(), np.zeros(3)
        for cone in self.cones:
            n = 1 + len(cone.along)
            rows = slice(cone.normal, cone.normal + n)
            y[...] = 0.0
            y[:n] = moved[rows]
            found, change = project(y, cone.mu)
            value[rows] -= found[:n]
            slope[rows] -= change[:n, :n] @ moves[rows]
        return value, slope


def projection_to_cone() -> ca.Function:
    """(y (3,), mu) -> p (3,), dp/dy (3, 3): p_n = max(y_n, 0), and p_t the projection of y_t onto
    the disc of radius mu p_n. mu may be infinite."""
    y, mu = ca.SX.sym("y", 3), ca.SX.sym("mu")
    square = ca.sumsqr(y[1:])
    slides = square > (mu * y[0]) ** 2
    length = ca.sqrt(ca.if_else(slides, square, 1.0))
    radius = ca.if_else(slides, mu, 0.0) * y[0]      # keeps an infinite mu out of the derivative
    along = ca.if_else(slides, radius / length, 1.0) * y[1:]
    p = ca.if_else(y[0] > 0, ca.vertcat(y[0], along), ca.SX.zeros(3, 1))
    return ca.Function("project_to_cone", [y, mu],
                       [ca.densify(p), ca.densify(ca.jacobian(p, y))], {"cse": True})


_MEMORY = local()       # one function per thread


def _projection() -> Buffered:
    if not hasattr(_MEMORY, "projection"):
        _MEMORY.projection = Buffered(projection_to_cone())
    return _MEMORY.projection
