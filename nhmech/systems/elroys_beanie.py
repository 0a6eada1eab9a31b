"""Elroy's beanie: two planar bodies on one pin, with a spring between them."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols, constrain, lagrangian_system, symbols
from ._checks import wander
from ._planar import base, deck, with_joints
from .example import Check, Example, largest, solve
from .shapes import ORANGE

SOURCE = "Marsden, Montgomery and Ratiu, Memoirs of the AMS 436 (1990), section 1"
NAMES = ("m", "I1", "I2", "k")


def example(m: float = 1.6, I1: float = 0.08, I2: float = 0.02, k: float = 0.9) -> Example:
    """L = m (u^2 + w^2) / 2 + I1 theta'^2 / 2 + I2 (theta' + psi')^2 / 2 - k psi^2 / 2 on SE(2) x
    R: no constraint, the symmetry is all of SE(2).

    Mass m [kg] of both bodies, pinned at their centres; moments of inertia I1, I2 [kg m^2]; the
    spring k [N m/rad]. u, w are the velocity of the pin in the first body. The pin moves evenly in
    a line, p = I1 theta' + I2 (theta' + psi') is constant, and the shape swings::

        psi'' = -k psi (I1 + I2) / (I1 I2),
        theta = theta_0 + (p t - I2 (psi - psi_0)) / (I1 + I2).

    With p = 0 the second body turns the first by swinging: the geometric phase.
    """
    numbers = dict(zip(NAMES, (m, I1, I2, k)))
    beanie = lagrangian_system(with_joints("psi"), _lagrangian, parameters=NAMES)
    start = {"q": (0.2, -0.1, 0.5, 0.9), "xi": (0.3, 0.1, 0.4, -1.2)}

    def closed_form() -> float:
        t = np.linspace(0, 4, 9)
        (x, y, theta, psi), (u, w, turn, swing) = start["q"], start["xi"]
        rate, total = np.sqrt(k * (I1 + I2) / (I1 * I2)), I1 + I2
        p = total * turn + I2 * swing
        shape = psi * np.cos(rate * t) + swing / rate * np.sin(rate * t)
        heading = theta + (p * t - I2 * (shape - psi)) / total
        c, s = np.cos(theta), np.sin(theta)
        exact = np.stack([x + (c * u - s * w) * t, y + (s * u + c * w) * t, heading, shape], 1)
        return largest(solve(made, t, rtol=1e-13)[0] - exact)

    s = symbols(beanie)
    spin = s.p.I1 * s.v.yaw_rate + s.p.I2 * (s.v.yaw_rate + s.v.psi)
    made = Example(
        "elroys_beanie", "Elroy's beanie", SOURCE, constrain(beanie, numbers), start,
        (Check("motion in closed form", "in the docstring", 1e-10, closed_form),
         Check("energy and angular momentum over 50 s", "Noether", 1e-10,
               lambda: wander(made, beanie.energy, spin, duration=50.0))),
        ("forward_speed", "lateral_speed", "yaw_rate", "psi"),
        shapes=(deck(lambda q: q[:3], -0.3, 0.3, 0.15, 0.05),
                deck(lambda q: (q[0], q[1], q[2] + q[3]), -0.2, 0.2, 0.08, 0.1, ORANGE)))
    return made


def _lagrangian(s: Symbols) -> ca.SX:
    first = base(s)
    return (first.energy(s.p.m, s.p.I1) + s.p.I2 * (first.turn + s.v.psi) ** 2 / 2
            - s.p.k * s.q.psi ** 2 / 2)
