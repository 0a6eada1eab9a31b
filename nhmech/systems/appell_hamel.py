"""The machine of Appell and Hamel: a constraint that is quadratic in the velocities."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.chetaev import chetaev
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import random_motions, wander
from .example import BY_CHETAEV, CHETAEV_METHODS, Check, Example, apart, largest, solve
from .shapes import ORANGE, Shape, pose

SOURCE = "Appell 1911; Hamel 1938; Neimark and Fufaev 1972, chapter IV"
NAMES = ("m", "g", "k")


def example(m: float = 0.7, g: float = 9.81, k: float = 1.6) -> Example:
    """L = m (x'^2 + y'^2 + z'^2) / 2 - m g z with x'^2 + y'^2 = k^2 z'^2, by Chetaev's rule.

    A mass m [kg] hangs on a thread whose drum turns with a wheel that rolls below it, in the limit
    of no offset; k is the ratio of their radii, g [m/s^2]. The direction of (x', y') stays, and

        z'' = -g / (1 + k^2),   lambda = m z'' / (2 z').

    The constraint is homogeneous in the velocities, so that the energy is constant. At rest its
    differential vanishes, and nothing says which way the wheel goes.
    """
    free = lagrangian_system(euclidean("x", "y", "z"), _lagrangian, parameters=NAMES)
    fall, direction = -0.5, np.array([0.6, 0.8])
    start = {"q": (0.2, 0.1, 3.0), "xi": (*(-k * fall * direction), fall)}
    equations = chetaev(constrain(free, dict(zip(NAMES, (m, g, k)))), {
        "machine": lambda s: s.v.x ** 2 + s.v.y ** 2 - (s.p.k * s.v.z) ** 2},
        near=(start["q"], start["xi"]))
    down = -g / (1 + k ** 2)

    def closed_form() -> float:
        t = np.linspace(0, 2, 9)
        q, v = solve(made, t)
        z = fall * t + down * t ** 2 / 2
        exact = np.c_[np.outer(-k * z, direction), z] + made.start["q"]
        rates = np.outer(fall + down * t, [*(-k * direction), 1])
        return largest(q - exact, v - rates)

    def force() -> float:
        found = equations.multipliers(0, start["q"], start["xi"], [], (m, g, k))
        return abs(float(found) - m * down / (2 * fall))

    def newton() -> float:
        """On the manifold or off it: m a = -m g e_z + lambda dC/dv, and dC/dt = 0."""
        worst = 0.0
        for _, v, a, _ in random_motions(made, 8):
            normal = np.array([2 * v[0], 2 * v[1], -2 * k ** 2 * v[2]])
            pull = np.array([0, 0, -g])
            expected = pull - normal * (normal @ pull) / (normal @ normal)
            worst = largest(worst, apart(a, expected))
        return worst

    made = Example(
        "appell_hamel", "The machine of Appell and Hamel", SOURCE, equations.constrained, start,
        (Check("motion in closed form", "in the docstring", 1e-10, closed_form),
         Check("lambda", SOURCE, 1e-11, force),
         Check("accelerations by Newton", "in this file", 1e-11, newton),
         Check("energy over 2 s", "C is homogeneous", 1e-10,
               lambda: wander(made, free.energy, duration=2.0))),
        equations.names, CHETAEV_METHODS, BY_CHETAEV,
        shapes=(Shape("sphere", (0.1,), lambda q: pose(q), ORANGE),
                Shape("cylinder", (0.2, 0.05), lambda q: pose((q[0], q[1], 0.0)), trail=True)))
    return made


def _lagrangian(s: Symbols) -> ca.SX:
    return (s.p.m * (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2 - s.p.m * s.p.g * s.q.z)
