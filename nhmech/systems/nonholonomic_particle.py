"""A free particle with z' = y x'."""

from __future__ import annotations

import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.writing import constrain, lagrangian_system
from ._checks import along
from .example import Check, Example, largest, solve
from .shapes import ORANGE, Shape, pose


def example(y: float = 0.3, x_rate: float = 1.2, y_rate: float = 0.8) -> Example:
    """L = (x'^2 + y'^2 + z'^2) / 2 with z' - y x' = 0, unit mass (paper 002, example 7.1).

    x'' = -y x' y' / (1 + y^2), y'' = 0, lambda = x' y' / (1 + y^2).
    So y = y0 + y' t, x' = k / sqrt(1 + y^2) with k constant, and x = k (asinh y - asinh y0) / y',
    z = k (sqrt(1 + y^2) - sqrt(1 + y0^2)) / y'.
    """
    particle = lagrangian_system(euclidean("x", "y", "z"),
                                 lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    constrained = constrain(particle, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x})
    times = np.linspace(0, 4, 9)
    high = y + y_rate * times
    k = x_rate * np.sqrt(1 + y ** 2)

    def closed_form() -> float:
        q, xi = solve(made, times, rtol=1e-13)
        x = k * (np.arcsinh(high) - np.arcsinh(y)) / y_rate
        z = k * (np.sqrt(1 + high ** 2) - np.sqrt(1 + y ** 2)) / y_rate
        exact = np.c_[x, high, z, k / np.sqrt(1 + high ** 2), np.full_like(high, y_rate)]
        return largest(np.c_[q, xi] - exact)

    def multiplier() -> float:
        q, xi = solve(made, times, rtol=1e-13)
        return largest(along(made, "multipliers", times, q, xi)[:, 0]
                       - k * y_rate / (1 + high ** 2) ** 1.5)

    made = Example(
        "nonholonomic_particle", "Free particle with z' = y x'", "paper 002, example 7.1",
        constrained, {"q": (0.0, y, 0.0), "xi": (x_rate, y_rate)},
        (Check("motion in closed form", "paper 002, example 7.1, integrated in this file", 1e-12,
               closed_form),
         Check("multiplier in closed form", "paper 002, example 7.1", 1e-12, multiplier)),
        speeds=("x'", "y'"),
        shapes=(Shape("sphere", (0.1,), lambda q: pose(q), ORANGE, trail=True),))
    return made
