"""Benenti's system: two points in a plane whose velocities stay parallel."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.chetaev import chetaev
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import wander
from .example import BY_CHETAEV, CHETAEV_METHODS, Check, Example, apart, largest, solve
from .shapes import BLUE, ORANGE, Shape, pose

SOURCE = "Benenti, Regular and Chaotic Dynamics 13 (2008) 283"
NAMES = ("m1", "m2", "g")


def example(m1: float = 1.0, m2: float = 0.6, g: float = 2.0) -> Example:
    """L = (m1 |v1|^2 + m2 |v2|^2) / 2 - g (m1 y1 + m2 y2) with x1' y2' = x2' y1', by Chetaev's
    rule.

    m1, m2 [kg], and g [m/s^2] along -y in the plane. With speeds a, b along the common direction,
    at the angle theta::

        a' = b' = -g sin(theta),
        theta' = -g cos(theta) (m1 a + m2 b) / (m1 a^2 + m2 b^2),
        lambda = m2 (b theta' + g cos(theta)) / a.

    The constraint is quadratic and homogeneous in the velocities: the energy is constant, and so
    is a - b. Without gravity both points move in straight lines.
    """
    free = lagrangian_system(euclidean("x1", "y1", "x2", "y2"), _lagrangian, parameters=NAMES)
    turn, speeds = 0.4, (1.0, 0.7)
    along = np.array([np.cos(turn), np.sin(turn)])
    start = {"q": (0.0, 0.0, 0.0, 0.5), "xi": (*(speeds[0] * along), *(speeds[1] * along))}
    equations = chetaev(constrain(free, dict(zip(NAMES, (m1, m2, g)))), {
        "parallel": lambda s: s.v.x1 * s.v.y2 - s.v.x2 * s.v.y1}, near=(start["q"], start["xi"]))

    def turning(a: float, b: float, theta: float) -> float:
        return float(-g * np.cos(theta) * (m1 * a + m2 * b) / (m1 * a ** 2 + m2 * b ** 2))

    def intrinsic() -> float:
        """Both paths for 1 s by speeds and direction."""
        from scipy.integrate import solve_ivp

        def rate(_, z):
            a, b, theta = z[:3]
            c, s = np.cos(theta), np.sin(theta)
            return [-g * s, -g * s, turning(a, b, theta), a * c, a * s, b * c, b * s]

        t = np.linspace(0, 1, 6)
        expected = solve_ivp(rate, (0, 1), [*speeds, turn, *start["q"]], method="DOP853",
                             t_eval=t, rtol=1e-13, atol=1e-14).y[3:].T
        return largest(solve(made, t, rtol=1e-13)[0] - expected)

    def force() -> float:
        worst, rng = 0.0, np.random.default_rng(3)
        for _ in range(6):
            a, b, theta = rng.uniform(0.4, 1.5, 3)
            c, s = np.cos(theta), np.sin(theta)
            found = equations.multipliers(0, rng.normal(size=4), (a * c, a * s, b * c, b * s), [],
                                          made.constrained.parameters)
            exact = m2 * (b * turning(a, b, theta) + g * c) / a
            worst = largest(worst, apart(float(found), exact))
        return worst

    made = Example(
        "benenti", "Two points with parallel velocities", SOURCE, equations.constrained, start,
        (Check("paths by speeds and direction", "in the docstring", 1e-10, intrinsic),
         Check("lambda", "in the docstring", 1e-11, force),
         Check("energy over 1 s", "C is homogeneous", 1e-10,
               lambda: wander(made, free.energy, duration=1.0))),
        equations.names, CHETAEV_METHODS, BY_CHETAEV,
        shapes=(Shape("sphere", (0.05,), lambda q: pose((q[0], q[1], 0.05)), BLUE, trail=True),
                Shape("sphere", (0.05,), lambda q: pose((q[2], q[3], 0.05)), ORANGE, trail=True)))
    return made


def _lagrangian(s: Symbols) -> ca.SX:
    return (s.p.m1 * (s.v.x1 ** 2 + s.v.y1 ** 2) / 2 + s.p.m2 * (s.v.x2 ** 2 + s.v.y2 ** 2) / 2
            - s.p.g * (s.p.m1 * s.q.y1 + s.p.m2 * s.q.y2))
