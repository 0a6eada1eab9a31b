"""A particle on a spring with two holonomic constraints."""

from __future__ import annotations

import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.writing import constrain, lagrangian_system
from ._checks import along
from .example import Check, Example, largest, solve
from .shapes import ORANGE, Shape, pose


def example(m: float = 0.7, k: float = 2.0, c1: float = 0.6, c2: float = 2.0, x1: float = 2.4,
            speed: float = 0.5) -> Example:
    """L = m |x'|^2 / 2 - k |x|^2 / 2 with x1 x2 x3 = c1 and x1 + x2 = c2 (paper 001, section 12).

    One degree of freedom, s = x1: with p = s (c2 - s) and X = c1 / p for x3,
    m (2 + X_s^2) s'' + m X_s X_ss s'^2 + k (2 s - c2 + X X_s) = 0. Where x1 > x2 and D = 1 / (x1 -
    x2) the multipliers are those of the paper, made from the inverse functions of (x1 x2 x3, x1 +
    x2).
    """
    def lagrangian(s):
        speed, distance = s.v.x1**2 + s.v.x2**2 + s.v.x3**2, s.q.x1**2 + s.q.x2**2 + s.q.x3**2
        return (s.p.m * speed - s.p.k * distance) / 2

    particle = lagrangian_system(euclidean("x1", "x2", "x3", units=("m/s",) * 3), lagrangian,
                                 parameters=("m", "k", "c1", "c2"))

    def place(s):
        return np.stack([s, c2 - s, c1 / (s * (c2 - s))], axis=-1)

    holonomic = {"product": lambda s: s.q.x1 * s.q.x2 * s.q.x3 - s.p.c1,
                 "sum": lambda s: s.q.x1 + s.q.x2 - s.p.c2}
    constrained = constrain(particle, {"m": m, "k": k, "c1": c1, "c2": c2}, holonomic=holonomic,
                            samples=place(np.linspace(c2 + 0.2, c2 + 1.2, 8)))
    times = np.linspace(0, 5, 11)

    def multipliers() -> float:
        """The three equations of section 12: both multipliers, and the one for the motion."""
        q, xi = solve(made, times, rtol=1e-13)
        R1, R2, R3 = (m * along(made, "acceleration", times, q, xi) + k * q).T
        x3, D = q[:, 2], (c2 ** 2 - 4 * c1 / q[:, 2]) ** -0.5
        lam = along(made, "multipliers", times, q, xi)
        first, second = (lam[:, 0] - (R2 - R1) * D / x3,
                         lam[:, 1] - R1 * (1 + c2 * D) / 2 - R2 * (1 - c2 * D) / 2)
        return largest(first, second, (R1 - R2) * c1 * D / x3 ** 2 + R3)

    def reduced() -> float:
        from scipy.integrate import solve_ivp

        def rate(_, y):
            s, s_rate = y
            p, p_s = s * (c2 - s), c2 - 2 * s
            X, X_s, X_ss = c1 / p, -c1 * p_s / p ** 2, 2 * c1 / p ** 2 + 2 * c1 * p_s ** 2 / p ** 3
            return s_rate, -(m * X_s * X_ss * s_rate ** 2
                             + k * (2 * s - c2 + X * X_s)) / (m * (2 + X_s ** 2))

        expected = solve_ivp(rate, (0, times[-1]), (x1, speed), "DOP853", times, rtol=1e-13,
                             atol=1e-14).y
        q, xi = solve(made, times, rtol=1e-13)
        return largest(q - place(expected[0]), xi[:, 0] - expected[1])

    def energy() -> float:
        values = along(made, particle.energy, times, *solve(made, times, rtol=1e-13))[:, 0]
        return largest(values / values[0] - 1)

    made = Example(
        "two_constraints_spring", "Particle on x1 x2 x3 = c1, x1 + x2 = c2, with a spring",
        "paper 001, section 12", constrained, {"q": tuple(place(np.float64(x1))), "xi": (speed,)},
        (Check("multipliers from the inverse functions", "paper 001, section 12", 1e-10,
               multipliers),
         Check("motion with one degree of freedom", "x1 as the only coordinate, this file", 1e-10,
               reduced),
         Check("energy", "conservation", 1e-11, energy)),
        speeds=("x1'",),
        shapes=(Shape("sphere", (0.06,), lambda q: pose(q), ORANGE),))
    return made
