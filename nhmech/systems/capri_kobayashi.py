"""A singular Lagrangian of the type of Capri and Kobayashi: one particle without kinetic
energy, two that feel a magnetic field."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.system import LagrangianSystem
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import random_motions, wander
from .example import Check, Example, largest, solve

SOURCE = "paper 004, section VII.A"


def singular_system() -> LagrangianSystem:
    """L = sum_i m_i (x_i'^2 + y_i'^2) + y_i' x_i - x_i' y_i - x_i^2 - y_i^2 for i = 2, 3, less x1^2
    + y1^2: Hessian of rank 4 of 6.

    Primary constraints p_x1 = p_y1 = 0, secondary and last x1 = y1 = 0, all of the second class.
    """
    return lagrangian_system(euclidean("x1", "y1", "x2", "y2", "x3", "y3"), _lagrangian,
                             parameters=("m2", "m3"))


def example(m2: float = 0.7, m3: float = 1.6) -> Example:
    """`singular_system` on the manifold x1 = y1 = 0 that the constraint algorithm ends
    at, given as holonomic constraints.

    Their multipliers vanish there: the constraints are the system's own. m z'' = -i z' - z for z =
    x + i y, so that z = A exp(i s t) + B exp(i s' t) with m s^2 + s - 1 = 0; the angular momenta
    J_i = x_i p_yi - y_i p_xi are constant.
    """
    system = singular_system()
    rng = np.random.default_rng(0)
    samples = np.column_stack([np.zeros((8, 2)), rng.normal(size=(8, 4))])
    constrained = constrain(system, {"m2": m2, "m3": m3},
                            holonomic={"x1": lambda s: s.q.x1, "y1": lambda s: s.q.y1},
                            samples=samples)
    start = {"q": (0.0, 0.0, 0.6, -0.2, -0.3, 0.5), "xi": (0.1, 0.4, 0.7, 0.2)}

    def accelerations() -> float:
        worst = 0.0
        for q, v, a, lam in random_motions(made):
            for m, (x, y), (vx, vy), found in ((m2, q[2:4], v[2:4], a[2:4]),
                                               (m3, q[4:], v[4:], a[4:])):
                worst = largest(worst, found - np.array([vy - x, -vx - y]) / m, lam)
        return worst

    def closed_form() -> float:
        t = np.linspace(0, 20, 21)
        q, _ = solve(made, t)
        second = _oscillation(m2, start["q"][2:4], start["xi"][:2], t)
        third = _oscillation(m3, start["q"][4:], start["xi"][2:], t)
        return largest(q - np.hstack([np.zeros_like(second), second, third]))

    v, (x2, y2, x3, y3) = system.v, (system.q[i] for i in range(2, 6))
    J2 = x2 * (2 * m2 * v[3] + x2) - y2 * (2 * m2 * v[2] - y2)
    J3 = x3 * (2 * m3 * v[5] + x3) - y3 * (2 * m3 * v[4] - y3)
    made = Example("capri_kobayashi", "Singular Lagrangian of Capri-Kobayashi type", SOURCE,
                   constrained, start, (
        Check("accelerations; multipliers vanish", SOURCE, 1e-12, accelerations),
        Check("two frequencies for each particle", "closed form in this file", 1e-10, closed_form),
        Check("J2, J3 and energy over 100 s", SOURCE, 1e-10,
              lambda: wander(made, J2, J3, system.energy))),
        ("x2'", "y2'", "x3'", "y3'"),
        ("gibbs_appell", "lagrange_multipliers", "hamel", "lagrange_dalembert"),
        "projection needs the unconstrained SODE, and the Hessian of L has rank 4 of 6")
    return made


def frequencies(m: float) -> tuple[float, float]:
    """The roots of m s^2 + s - 1 = 0 [rad/s]."""
    root = np.sqrt(1 + 4 * m)
    return (-1 + root) / (2 * m), (-1 - root) / (2 * m)


def _oscillation(m: float, place, speed, t: np.ndarray) -> np.ndarray:
    s, other = frequencies(m)
    z, rate = complex(*place), complex(*speed)
    A = (rate - 1j * other * z) / (1j * (s - other))
    motion = A * np.exp(1j * s * t) + (z - A) * np.exp(1j * other * t)
    return np.stack([motion.real, motion.imag], axis=1)


def _lagrangian(s: Symbols) -> ca.SX:
    def particle(m: ca.SX, x: ca.SX, y: ca.SX, vx: ca.SX, vy: ca.SX) -> ca.SX:
        return m * (vx ** 2 + vy ** 2) + vy * x - vx * y - x ** 2 - y ** 2

    q, v = s.q, s.v
    return (particle(s.p.m2, q.x2, q.y2, v.x2, v.y2) + particle(s.p.m3, q.x3, q.y3, v.x3, v.y3)
            - q.x1 ** 2 - q.y1 ** 2)
