"""A free particle with z' = y x'."""

from __future__ import annotations

import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.writing import constrain, lagrangian_system
from .example import Check, Example, solve
from .shapes import ORANGE, Shape, pose


def example() -> Example:
    """L = (x'^2 + y'^2 + z'^2) / 2 with z' - y x' = 0.

    Solution: y = y0 + c t, and x' = k / sqrt(1 + y^2) with c, k constant (paper 002, example 7.1).
    """
    particle = lagrangian_system(euclidean("x", "y", "z"), lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    constrained = constrain(particle, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x})
    start = {"q": (0.0, 0.5, 0.0), "xi": (1.0, -0.4)}

    def closed_form() -> float:
        t = np.linspace(0, 5, 11)
        q, xi = solve(made, t)
        y = start["q"][1] + start["xi"][1] * t
        speed = start["xi"][0] * np.sqrt(1 + y[0] ** 2) / np.sqrt(1 + y ** 2)
        return float(max(np.abs(q[:, 1] - y).max(), np.abs(xi[:, 0] - speed).max()))

    made = Example("nonholonomic_particle", "Free particle with z' = y x'", "paper 002, example 7.1", constrained, start,
                   (Check("y and x' in closed form", "paper 002, example 7.1", 1e-10, closed_form),), speeds=("x'", "y'"),
                   shapes=(Shape("sphere", (0.1,), lambda q: pose(q), ORANGE, trail=True),))
    return made
