"""A central force, with the areal velocity as a quasi-velocity."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.quasi_velocities import change_of_basis
from ..mechanics.writing import constrain, lagrangian_system
from ._checks import along
from .example import Check, Example, largest, solve
from .shapes import BLUE, ORANGE, Shape, pose


def example(k: float = 1.3, c: float = 0.0) -> Example:
    """Unit mass in the plane under F(r) = -k / r^2 - c r^3, in quasi-velocities w1 = r',
    w2 = r^2 theta' (paper 002, example 5.1).

    L = (w1^2 + w2^2 / r^2) / 2 + k / r - c r^4 / 4, [X_1, X_2] = -2 / r X_2, and then w1' = F +
    w2^2 / r^3, w2' = 0: w2 is twice the areal velocity. For c = 0 the motion is that of Kepler's
    equation.
    """
    polar = euclidean("r", "theta", units=("m/s", "rad/s"))
    space = change_of_basis(polar, ca.diag(ca.vertcat(1, polar.q[0] ** -2)), ("r'", "w2"),
                            ("m/s", "m^2/s"))

    def lagrangian(s):
        return (s.v.r ** 2 + s.v.w2 ** 2 / s.q.r ** 2) / 2 + s.p.k / s.q.r - s.p.c * s.q.r ** 4 / 4

    particle = lagrangian_system(space, lagrangian, parameters=("k", "c"))
    samples = np.c_[np.linspace(0.6, 1.5, 8), np.linspace(-3, 3, 8)]
    start = {"q": (0.9, 0.0), "xi": (0.25, 1.1)}
    times = np.linspace(0, 4, 9)

    def hamel_symbols() -> float:
        """Largest deviation of all structure functions from c^2_12 = -c^2_21 = -2/r."""
        values = ca.Function("structure", [space.q], [ca.densify(c) for c in space.structure])
        found = np.array([[part.full() for part in values(q)] for q in samples])
        found[:, 1, 0, 1] += 2 / samples[:, 0]
        found[:, 1, 1, 0] -= 2 / samples[:, 0]
        return largest(found)

    def conserved() -> float:
        q, xi = solve(made, times, rtol=1e-13)
        energy = along(made, particle.energy, times, q, xi)[:, 0]
        return largest(xi[:, 1] - start["xi"][1], energy - energy[0])

    def kepler() -> float:
        q, xi = solve(made, times, rtol=1e-13)
        exact = np.stack(kepler_motion(k, start["q"][0], *start["xi"], times), axis=1)
        return largest(np.c_[q, xi[:, 0]] - exact)

    checks = [Check("Hamel symbols", "paper 002, example 5.1", 1e-13, hamel_symbols),
              Check("areal velocity and energy conserved", "paper 002, example 5.1", 1e-11,
                    conserved)]
    if c == 0:
        checks.append(Check("r, theta, r' by Kepler's equation", "this file", 1e-11, kepler))
    made = Example("areal_velocity", "Central force with the areal velocity as quasi-velocity",
                   "paper 002, example 5.1", constrain(particle, {"k": k, "c": c}, samples=samples),
                   start, checks, shapes=(Shape("sphere", (0.08,), lambda q: pose(), ORANGE),
                           Shape("sphere", (0.05,),
                                 lambda q: pose((q[0] * np.cos(q[1]), q[0] * np.sin(q[1]), 0)),
                                 BLUE, trail=True)))
    return made


def kepler_motion(k: float, r0: float, r0_rate: float, w2: float,
                  t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """r, theta, r' (each (N,)) of an ellipse that starts at theta = 0, from Kepler's
    equation u - e sin u = n t + const."""
    a = 1 / (2 / r0 - (r0_rate ** 2 + (w2 / r0) ** 2) / k)
    e = np.sqrt(1 - w2 ** 2 / (k * a))
    n = np.sqrt(k / a ** 3)
    u0 = np.arctan2(r0 * r0_rate / np.sqrt(k * a), 1 - r0 / a)
    mean = u0 - e * np.sin(u0) + n * t
    u = mean
    for _ in range(20):                                   # Newton; e is far from 1
        u = u - (u - e * np.sin(u) - mean) / (1 - e * np.cos(u))
    r = a * (1 - e * np.cos(u))

    # without a jump: the second term stays within +-90 degrees
    def true_anomaly(u):
        ratio = e / (1 + np.sqrt(1 - e ** 2))
        return u + 2 * np.arctan(ratio * np.sin(u) / (1 - ratio * np.cos(u)))

    return r, true_anomaly(u) - true_anomaly(u0), np.sqrt(k * a) * e * np.sin(u) / r
