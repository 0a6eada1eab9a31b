"""A coin with a rounded rim, a torus outside, that rolls, leans and turns."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import random_motions, wander
from .example import Check, Example, apart, largest
from .falling_disc import SPEEDS, growth, space
from .shapes import AXLE, disc_shapes, pose

SOURCE = "Newton and Euler, in this file; Chaplygin 1897 for bodies of revolution"
GRAVITY = 9.81      # [m/s^2]


def example(m: float = 0.4, r: float = 0.15, crown: float = 0.04, A: float | None = None,
            C: float | None = None) -> Example:
    """L = m |v_C|^2 / 2 + (A (u1^2 + u3^2) + C u2^2) / 2 - m g z_C on the space of `falling_disc`,
    but (x, y) is the middle C.

    m [kg], outer radius r and radius of the rim `crown` [m], moments of inertia across and along
    the axle A, C [kg m^2], those of a uniform disc of radius r where None.

    In the leaning frame the contact sees C at a = (0, crown sin(lean), r - crown + crown
    cos(lean)), so that z_C = crown + (r - crown) cos(lean), and rolling is v_C = u x a. With crown
    = 0 it is the disc. Upright and rolling at u2 it is stable where C (C + m r^2) u2^2 / A > m g
    (r - crown), sooner than the disc.
    """
    A, C = m * r ** 2 / 4 if A is None else A, m * r ** 2 / 2 if C is None else C
    names = ("m", "r", "crown", "A", "C", "g")
    coin = lagrangian_system(space(), _lagrangian, parameters=names)
    rng = np.random.default_rng(0)
    samples = np.column_stack([rng.normal(size=(8, 3)), rng.uniform(-1.1, 1.1, 8),
                               rng.normal(size=8)])
    constrained = constrain(coin, dict(zip(names, (m, r, crown, A, C, GRAVITY))), samples=samples,
                            rows={"rolling_x": lambda s: s.v.x - _level(s)[0],
                                  "rolling_y": lambda s: s.v.y - _level(s)[1]})

    def newton_euler() -> float:
        """Moments about the contact in the leaning frame, which turns at f = (u1, u3 tan(lean),
        u3)::

            I u' + f x I u + m a x a_C = -m g a x n,   a_C = u' x a + u x a' + f x (u x a).

        The force is m times the acceleration of the middle.
        """
        worst, inertia = 0.0, np.diag((A, C, A))
        for (_, _, yaw, lean, _), v, found, lam in random_motions(made, 8):
            u, (c, s) = v[2:], (np.cos(lean), np.sin(lean))
            a, n = np.array([0, crown * s, r - crown + crown * c]), np.array([0, s, c])
            frame = np.array([u[0], u[2] * s / c, u[2]])
            rest = (np.cross(u, crown * u[0] * np.array([0, c, -s]))
                    + np.cross(frame, np.cross(u, a)))
            moment = (-m * GRAVITY * np.cross(a, n) - np.cross(frame, inertia @ u)
                      - m * np.cross(a, rest))
            rate = np.linalg.solve(inertia + m * (a @ a * np.eye(3) - np.outer(a, a)), moment)
            ahead, left, up = np.cross(rate, a) + rest
            across = c * left - s * up
            force = m * np.array([np.cos(yaw) * ahead - np.sin(yaw) * across,
                                  np.sin(yaw) * ahead + np.cos(yaw) * across])
            worst = largest(worst, apart(found[2:], rate), apart(lam, force))
        return worst

    def threshold() -> float:
        """Squared growth rate upright and rolling."""
        expected = [(m * GRAVITY * (r - crown) - C * (C + m * r ** 2) * u2 ** 2 / A)
                    / (A + m * r ** 2) for u2 in (2, 6)]
        found = [growth(made, 0, 0, u2, 0) for u2 in (2, 6)]
        return largest(np.array(found) / expected - 1)

    made = Example(
        "torus_coin", "Coin with a rounded rim", SOURCE, constrained,
        {"q": (0.0, 0.0, 0.0, 0.3, 0.0), "xi": (0.2, 8.0, 0.5)},
        (Check("accelerations and force by Newton and Euler", "in this file", 1e-11, newton_euler),
         Check("stability of upright rolling", "in the docstring", 1e-10, threshold),
         Check("energy over 50 s", "d'Alembert", 1e-10,
               lambda: wander(made, coin.energy, duration=50.0))),
        SPEEDS,
        shapes=disc_shapes(r, 2 * crown, lambda q: pose(
            (q[0], q[1], crown + (r - crown) * np.cos(q[3])), q[2], q[3], q[4]) @ AXLE))
    return made


def _level(s: Symbols) -> ca.SX:
    """u x a (2,), along world's x and y."""
    c, sine = ca.cos(s.q.lean), ca.sin(s.q.lean)
    side, up = s.p.crown * sine, s.p.r - s.p.crown + s.p.crown * c
    ahead = s.v.u2 * up - s.v.u3 * side
    left = -c * s.v.u1 * up - sine * s.v.u1 * side
    return ca.vertcat(ca.cos(s.q.yaw) * ahead - ca.sin(s.q.yaw) * left,
                      ca.sin(s.q.yaw) * ahead + ca.cos(s.q.yaw) * left)


def _lagrangian(s: Symbols) -> ca.SX:
    p, height = s.p, s.p.crown + (s.p.r - s.p.crown) * ca.cos(s.q.lean)
    fall = -(p.r - p.crown) * ca.sin(s.q.lean) * s.v.u1
    return (p.m * (s.v.x ** 2 + s.v.y ** 2 + fall ** 2) / 2
            + (p.A * (s.v.u1 ** 2 + s.v.u3 ** 2) + p.C * s.v.u2 ** 2) / 2 - p.m * p.g * height)
