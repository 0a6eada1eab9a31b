"""Veselova's problem: a rigid body that cannot turn about the vertical."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..mechanics.algebroid import rotation
from ..mechanics.algebroid_makers import special_orthogonal
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._ball import spin
from ._checks import imbalance, random_motions, wander
from .example import Check, Example, apart, largest
from .heavy_top import vertical
from .shapes import Shape, attitude_pose

SOURCE = "Veselova 1986; Fedorov and Jovanovic, J. Nonlinear Science 14 (2004) 341"
NAMES = ("I1", "I2", "I3")


def example(I: Sequence[float] = (1.0, 1.4, 2.0)) -> Example:
    """L = omega . I omega / 2 on SO(3), omega in the body, with gamma . omega = 0, gamma the
    vertical as the body sees it.

    Principal moments of inertia I [kg m^2]. The multiplier is the torque about the vertical::

        I omega' = I omega x omega + lambda gamma,   gamma' = gamma x omega,
        lambda = -gamma . I^-1 (I omega x omega) / (gamma . I^-1 gamma).

    The energy and both level components of the angular momentum in the world are constant. The
    turns about the vertical are a purely kinematic symmetry; `veselova_sphere` is what they leave.
    """
    body = lagrangian_system(special_orthogonal(), _energy, parameters=NAMES)
    constrained = constrain(body, dict(zip(NAMES, I)), rows={
        "vertical": lambda s: ca.dot(vertical(s), spin(s))})

    def euler() -> float:
        """omega' and lambda as in the docstring."""
        worst = 0.0
        for (x, y, z, w), v, a, (lam,) in random_motions(made, 8):
            gamma = np.array([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)])
            rate, force = turning(gamma, v, np.asarray(I))
            worst = largest(worst, apart(a, rate), apart(lam, force))
        return worst

    made = Example(
        "veselova", "Veselova's problem on SO(3)", SOURCE, constrained,
        {"q": (np.sin(0.4), 0.0, 0.0, np.cos(0.4)), "xi": (0.6, 0.3)},
        (Check("omega' and the torque by Euler", "in the docstring", 1e-11, euler),
         Check("level angular momentum in the world", SOURCE, 1e-11,
               lambda: imbalance(made, _level_momentum, lambda s: ca.SX.zeros(2))),
         Check("energy over 1 s", "d'Alembert", 1e-10,
               lambda: wander(made, body.energy, duration=1.0))),
        shapes=(Shape("box", (1.2, 0.8, 0.3), attitude_pose),),
        generators={"about the vertical": lambda s: dict(zip(
            ("wx", "wy", "wz"), ca.vertsplit(vertical(s))))})
    return made


def turning(gamma: np.ndarray, omega: np.ndarray, I: np.ndarray) -> tuple[np.ndarray, float]:
    """omega' (3,) and lambda by Euler's equations."""
    torque = np.cross(I * omega, omega)
    force = -gamma @ (torque / I) / (gamma @ (gamma / I))
    return (torque + force * gamma) / I, float(force)


def _energy(s: Symbols) -> ca.SX:
    return ca.dot(ca.vertcat(s.p.I1, s.p.I2, s.p.I3), spin(s) ** 2) / 2


def _level_momentum(s: Symbols) -> ca.SX:
    turn = rotation(ca.vertcat(s.q.qx, s.q.qy, s.q.qz, s.q.qw))
    return (turn @ (ca.vertcat(s.p.I1, s.p.I2, s.p.I3) * spin(s)))[:2]
