"""A bead on a parabola."""

from __future__ import annotations

import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.writing import constrain, lagrangian_system
from ._checks import along
from .example import Check, Example, largest, solve
from .shapes import ORANGE, Shape, pose


def example(m: float = 0.8, g: float = 9.81, x1: float = 0.9) -> Example:
    """L = m (x1'^2 + x2'^2) / 2 - m g x2 with x2 - x1^2 = 0; released at rest at x1 (paper 001,
    section 10).

    (1 + 4 x1^2) x1'' + 4 x1 x1'^2 + 2 g x1 = 0, and lambda = -m x1'' / (2 x1) = m (g + 2 x1'^2) /
    (1 + 4 x1^2), which is regular at x1 = 0 too. Period 4 E(-4 a^2) / sqrt(2 g), with a the
    amplitude and E the complete elliptic integral of parameter -4 a^2.
    """
    bead = lagrangian_system(euclidean("x1", "x2", units=("m/s", "m/s")),
                             lambda s: s.p.m * (s.v.x1 ** 2 + s.v.x2 ** 2) / 2
                             - s.p.m * s.p.g * s.q.x2, parameters=("m", "g"))
    places = np.linspace(-1.1, 1.3, 8)
    constrained = constrain(bead, {"m": m, "g": g},
                            holonomic={"wire": lambda s: s.q.x2 - s.q.x1 ** 2},
                            samples=np.c_[places, places ** 2])
    times = np.linspace(0, 2, 9)

    def multiplier() -> float:
        q, xi = solve(made, times)
        x, speed, acceleration = q[:, 0], xi[:, 0], along(made, "acceleration", times, q, xi)[:, 0]
        lam = along(made, "multipliers", times, q, xi)[:, 0]
        forms = -m * acceleration / (2 * x), m * (g + 2 * speed ** 2) / (1 + 4 * x ** 2)
        return largest(*(lam - form for form in forms))

    def period() -> float:
        from scipy.special import ellipe

        quarter = ellipe(-4 * x1 ** 2) / np.sqrt(2 * g)
        q, xi = solve(made, quarter * np.arange(5), rtol=1e-13)
        return largest(q[1::2, 0], np.abs(xi[1::2, 0]) - x1 * np.sqrt(2 * g), q[2, 0] + x1,
                       q[4, 0] - x1, xi[::2, 0])

    def energy() -> float:
        values = along(made, bead.energy, times, *solve(made, times, rtol=1e-13))[:, 0]
        return largest(values / (m * g * x1 ** 2) - 1)

    made = Example(
        "bead_parabola", "Bead on the parabola x2 = x1^2", "paper 001, section 10", constrained,
        {"q": (x1, x1**2), "xi": (0.0,)},
        (Check("multiplier in both closed forms", "paper 001, section 10", 1e-10, multiplier),
         Check("turning points and period", "complete elliptic integral, this file", 1e-11, period),
         Check("energy", "conservation", 1e-11, energy)),
        speeds=("x1'",),
        shapes=(Shape("sphere", (0.05,), lambda q: pose((q[0], 0, q[1])), ORANGE),))
    return made
