"""A disk that rolls upright on the plane: a Chaplygin system whose gyroscopic form vanishes."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import along, curvature_term, random_motions
from .example import Check, Example, apart, largest, solve
from .shapes import AXLE, disc_shapes, pose


def example(m: float = 1.3, R: float = 0.4, I1: float = 0.05, I2: float = 0.1) -> Example:
    """L = m (x'^2 + y'^2) / 2 + I1 theta1'^2 / 2 + I2 theta2'^2 / 2
    with x' = R cos(theta1) theta2', y' = R sin(theta1) theta2'.

    m [kg], radius R [m], moments of inertia [kg m^2] about the vertical diameter (heading theta1)
    and the axle (spin theta2).

    Both angles turn at constant rate; the multipliers are the ground's force m R theta1' theta2'
    (-sin, cos)(theta1). L* = (I1 theta1'^2 + (m R^2 + I2) theta2'^2) / 2 and the reduced 2-form is
    that of L* (paper 004, example VII.1).
    """
    space = euclidean("x", "y", "theta1", "theta2", units=("m/s", "m/s", "rad/s", "rad/s"))
    disk = lagrangian_system(space, _lagrangian, parameters=("m", "R", "I1", "I2"))
    constrained = constrain(disk, {"m": m, "R": R, "I1": I1, "I2": I2}, rows={
        "rolling_x": lambda s: s.v.x - s.p.R * ca.cos(s.q.theta1) * s.v.theta2,
        "rolling_y": lambda s: s.v.y - s.p.R * ca.sin(s.q.theta1) * s.v.theta2})

    def ground_force() -> float:
        worst = 0.0
        for q, v, a, lam in random_motions(made):
            force = m * R * v[2] * v[3] * np.array([-np.sin(q[2]), np.cos(q[2])])
            worst = largest(worst, lam - force, a[2:])
        return worst

    def reduced() -> float:
        """Energy on the constraints against L*, and the curvature term that must vanish."""
        n, rng = 5, np.random.default_rng(2)
        q, xi = rng.normal(size=(n, 4)), rng.normal(size=(n, 2))
        terms = along(made, ca.vertcat(disk.energy, curvature_term(made)), np.zeros(len(q)), q,
                      xi)
        exact = np.stack([(I1 * xi[:, 0] ** 2 + (m * R ** 2 + I2) * xi[:, 1] ** 2) / 2,
                          np.zeros(n)], axis=1)
        return largest(terms - exact)

    def circle() -> float:
        t, (turn, spin), heading = np.linspace(0, 20, 21), start["xi"], start["q"][2]
        q, _ = solve(made, t)
        angle, radius = heading + turn * t, R * spin / turn
        exact = np.stack([radius * (np.sin(angle) - np.sin(heading)),
                          radius * (np.cos(heading) - np.cos(angle)), angle, spin * t], axis=1)
        return apart(q, exact)

    start = {"q": (0.0, 0.0, 0.2, 0.0), "xi": (0.6, 5.0)}
    made = Example("vertical_disk", "Vertical rolling disk", "paper 004, example VII.1",
                   constrained, start, (
        Check("theta1'' = theta2'' = 0 and the ground's force", "closed form in this file", 1e-12,
              ground_force),
        Check("L* and zero gyroscopic form", "paper 004, example VII.1", 1e-12, reduced),
        Check("circle", "closed form in this file", 1e-10, circle)), ("theta1'", "theta2'"),
        shapes=disc_shapes(R, 0.12 * R,
                           lambda q: pose((q[0], q[1], R), q[2], 0.0, q[3]) @ AXLE))
    return made


def _lagrangian(s: Symbols) -> ca.SX:
    return (s.p.m * (s.v.x ** 2 + s.v.y ** 2) + s.p.I1 * s.v.theta1 ** 2
            + s.p.I2 * s.v.theta2 ** 2) / 2
