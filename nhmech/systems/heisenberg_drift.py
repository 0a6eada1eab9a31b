"""Heisenberg's system with drift: a particle on an affine distribution."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import imbalance, random_motions
from .example import Check, Example, largest
from .shapes import ORANGE, Shape, pose

SOURCE = ("Bloch, Nonholonomic Mechanics and Control (2003), section 1.8; the affine part: Fasso "
          "and Sansonetto, J. Nonlinear Science 26 (2016) 519")
NAMES = ("c", "f")


def example(c: float = 0.4, f: float = 0.7) -> Example:
    """L = (x'^2 + y'^2 + z'^2) / 2 + f x, unit mass, with z' = y x' - x y' + c.

    Drift c [m/s], force f [N] along x::

        lambda = f y / (1 + x^2 + y^2),   x'' = f - lambda y,   y'' = lambda x,   z'' = lambda.

    With f = 0 the particle moves in a straight line, whatever the drift. The constraint works on
    it: E' = lambda c, so that the energy is not constant for c != 0; E - c z' is, the moving energy
    of the translation along z.
    """
    particle = lagrangian_system(euclidean("x", "y", "z"), _lagrangian, parameters=NAMES)
    constrained = constrain(particle, {"c": c, "f": f}, rows={
        "drift": lambda s: s.v.z - s.q.y * s.v.x + s.q.x * s.v.y - s.p.c})

    def newton() -> float:
        worst = 0.0
        for (x, y, _), _, a, (lam,) in random_motions(made, 8):
            force = f * y / (1 + x ** 2 + y ** 2)
            expected = np.array([f - force * y, force * x, force])
            worst = largest(worst, a - expected, lam - force)
        return worst

    made = Example(
        "heisenberg_drift", "Heisenberg's system with drift", SOURCE, constrained,
        {"q": (0.2, -0.6, 0.0), "xi": (0.5, 0.8)},
        (Check("accelerations and force", "in the docstring", 1e-12, newton),
         Check("power of the constraint", "E' = lambda c, in the docstring", 1e-12,
               lambda: imbalance(made, _energy, _power)),
         Check("E - c z' is constant", "Fasso and Sansonetto 2016", 1e-12,
               lambda: imbalance(made, lambda s: _energy(s) - s.p.c * s.v.z,
                                 lambda s: ca.SX(0)))),
        ("x'", "y'"),
        shapes=(Shape("sphere", (0.08,), lambda q: pose(q), ORANGE, trail=True),))
    return made


def _energy(s: Symbols) -> ca.SX:
    return (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2 - s.p.f * s.q.x


def _lagrangian(s: Symbols) -> ca.SX:
    return _energy(s) + 2 * s.p.f * s.q.x


def _power(s: Symbols) -> ca.SX:
    return s.p.c * s.p.f * s.q.y / (1 + s.q.x ** 2 + s.q.y ** 2)
