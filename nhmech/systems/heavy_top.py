"""The heavy top: a rigid body about a fixed point, in gravity."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import rotation
from ..mechanics.algebroid_makers import special_orthogonal
from ..mechanics.writing import Symbols, constrain, lagrangian_system, symbols
from ._checks import random_motions, wander
from .example import Check, Example, apart, largest, solve
from .shapes import Shape, attitude_pose

SOURCE = "Arnold, Mathematical Methods of Classical Mechanics, section 30"
NAMES = ("I1", "I2", "I3", "m", "l", "g")


def example(I1: float = 0.8, I2: float = 0.8, I3: float = 0.5, m: float = 1.5, l: float = 0.4,
            g: float = 9.81) -> Example:
    """L = omega . I omega / 2 - m g l gamma_3 on SO(3), omega in the body, gamma the vertical as
    the body sees it; the centre of mass is at l along the body's third axis.

    Principal moments of inertia about the fixed point I1, I2, I3 [kg m^2], m [kg], l [m], g
    [m/s^2]::

        I omega' = I omega x omega + m g l gamma x e_3,   gamma' = gamma x omega.

    Energy and gamma . I omega are constant, and with I1 = I2 also omega_3. Its steady precession at
    the lean theta and the rate n about the vertical has
    I1 n^2 cos(theta) - I3 omega_3 n + m g l = 0 for I1 = I2.
    """
    numbers = dict(zip(NAMES, (I1, I2, I3, m, l, g)))
    top = lagrangian_system(special_orthogonal(), _lagrangian, parameters=NAMES)
    lean, rate = 0.5, 1.8
    spin = (I1 * rate ** 2 * np.cos(lean) + m * g * l) / (I3 * rate)
    start = {"q": (np.sin(lean / 2), 0.0, 0.0, np.cos(lean / 2)),
             "xi": (0.0, rate * np.sin(lean), spin)}
    inertia = np.array([I1, I2, I3])

    def euler() -> float:
        worst = 0.0
        for (x, y, z, w), omega, a, _ in random_motions(made):
            gamma = np.array([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)])
            torque = m * g * l * np.array([gamma[1], -gamma[0], 0.0])
            expected = (np.cross(inertia * omega, omega) + torque) / inertia
            worst = largest(worst, apart(a, expected))
        return worst

    def precession() -> float:
        """The vertical in the body is where it was, turned about the body's third axis."""
        times = np.linspace(0, 20, 11)
        q, w = solve(made, times, rtol=1e-13)
        x, y = q[:, 0], q[:, 1]
        return largest(1 - 2 * (x * x + y * y) - np.cos(lean), w[:, 2] - spin)

    s = symbols(top)
    kept = [_vertical_momentum(s), top.energy, *([s.v.wz] if I1 == I2 else [])]
    checks = [Check("accelerations by Euler", "in the docstring", 1e-12, euler),
              Check("constants of the motion over 50 s", SOURCE, 1e-10,
                    lambda: wander(made, *kept, duration=50.0))]
    if I1 == I2:
        checks.append(Check("steady precession", "in the docstring", 1e-10, precession))
    made = Example("heavy_top", "Heavy top", SOURCE, constrain(top, numbers), start, tuple(checks),
                   shapes=(Shape("box", (0.5, 0.5, 0.1), attitude_pose),))
    return made


def vertical(s: Symbols) -> ca.SX:
    """gamma (3,), in the body."""
    return rotation(ca.vertcat(s.q.qx, s.q.qy, s.q.qz, s.q.qw))[2, :].T


def _momentum(s: Symbols) -> ca.SX:
    return ca.vertcat(s.p.I1 * s.v.wx, s.p.I2 * s.v.wy, s.p.I3 * s.v.wz)


def _vertical_momentum(s: Symbols) -> ca.SX:
    return ca.dot(vertical(s), _momentum(s))


def _lagrangian(s: Symbols) -> ca.SX:
    omega = ca.vertcat(s.v.wx, s.v.wy, s.v.wz)
    return ca.dot(_momentum(s), omega) / 2 - s.p.m * s.p.g * s.p.l * vertical(s)[2]
