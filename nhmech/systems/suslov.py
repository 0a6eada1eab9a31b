"""Suslov's problem: a rigid body that cannot turn about one axis fixed in it."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid_makers import special_orthogonal
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import random_motions, wander
from .example import Check, Example, largest, solve
from .shapes import Shape, attitude_pose

SOURCE = "Suslov 1946; Bloch, Nonholonomic Mechanics and Control (2003), section 8.6"
NAMES = ("I1", "I2", "I3", "I13", "I23")


def example(I1: float = 1.0, I2: float = 1.4, I3: float = 2.0, I13: float = 0.3,
            I23: float = -0.2) -> Example:
    """L = omega . I omega / 2 on SO(3), omega in the body, with omega_3 = 0.

    Moments of inertia I1, I2, I3 and products I13, I23 [kg m^2]; the first two axes are chosen so
    that I12 = 0. From I omega' = I omega x omega + lambda e_3::

        I1 w1' = -(I13 w1 + I23 w2) w2,   I2 w2' = (I13 w1 + I23 w2) w1,
        lambda = I13 w1' + I23 w2' + (I2 - I1) w1 w2.

    The energy is constant; every motion goes from one steady rotation, on the line I13 w1 + I23 w2
    = 0, to the opposite one, so that no volume is kept.
    """
    numbers = dict(zip(NAMES, (I1, I2, I3, I13, I23)))
    body = lagrangian_system(special_orthogonal(), _energy, parameters=NAMES)
    constrained = constrain(body, numbers, rows={"axis": lambda s: s.v.wz})

    def euler() -> float:
        """w' and lambda as in the docstring."""
        worst = 0.0
        for _, (w1, w2, _), a, (lam,) in random_motions(made):
            across = I13 * w1 + I23 * w2
            first, second = -across * w2 / I1, across * w1 / I2
            force = I13 * first + I23 * second + (I2 - I1) * w1 * w2
            worst = largest(worst, a[0] - first, a[1] - second, a[2], lam - force)
        return worst

    def steady() -> float:
        """The end of a long motion: on the line, with the energy of the start."""
        _, w = solve(made, (0.0, 150.0))
        start = made.start["xi"]
        along = np.array([I23, -I13])
        size = np.sqrt((I1 * start[0] ** 2 + I2 * start[1] ** 2)
                       / (I1 * along[0] ** 2 + I2 * along[1] ** 2))
        return largest(w[1] + size * along)

    made = Example(
        "suslov", "Suslov's problem on SO(3)", SOURCE, constrained,
        {"q": (0.0, 0.0, 0.0, 1.0), "xi": (0.8, 0.3)},
        (Check("w' and the torque about the axis by Euler", "in the docstring", 1e-12, euler),
         Check("a steady rotation at the end", "in the docstring", 1e-10, steady),
         Check("energy over 100 s", "d'Alembert", 1e-10, lambda: wander(made, body.energy))),
        ("wx", "wy"), shapes=(Shape("box", (1.2, 0.8, 0.3), attitude_pose),))
    return made


def momentum(s: Symbols) -> ca.SX:
    """I omega (3,) in the body [kg m^2/s]."""
    p = s.p
    inertia = ca.blockcat([[p.I1, 0, p.I13], [0, p.I2, p.I23], [p.I13, p.I23, p.I3]])
    return inertia @ ca.vertcat(s.v.wx, s.v.wy, s.v.wz)


def _energy(s: Symbols) -> ca.SX:
    return ca.dot(momentum(s), ca.vertcat(s.v.wx, s.v.wy, s.v.wz)) / 2
