"""A thin disc that rolls, leans and turns."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import LieAlgebroid, euclidean
from ..mechanics.quasi_velocities import change_of_basis
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import random_motions, wander
from .example import Check, Example, apart, largest
from .shapes import AXLE, disc_shapes, pose

SOURCE = "Neimark and Fufaev 1972"
GRAVITY = 9.81      # [m/s^2]
SPEEDS = ("u1", "u2", "u3")


def space() -> LieAlgebroid:
    """q = (x, y [m] of the contact, yaw, lean, spin [rad]), R = Rz(yaw) Rx(lean) Ry(spin),
    the axle along the body's y axis.

    Quasi-velocities x', y' and the disc's angular velocity along the axes of the leaning frame,
    which does not spin: u1 = lean', u2 = spin' + yaw' sin(lean), u3 = yaw' cos(lean).
    Singular where the disc lies flat, and has no contact point.
    """
    plain = euclidean("x", "y", "yaw", "lean", "spin",
                      units=("m/s", "m/s", "rad/s", "rad/s", "rad/s"))
    lean = plain.q[3]
    basis = ca.diagcat(ca.SX.eye(2),
                       ca.blockcat([[0, 0, 1 / ca.cos(lean)], [1, 0, 0], [0, 1, -ca.tan(lean)]]))
    return change_of_basis(plain, basis, ("x'", "y'", *SPEEDS), plain.v_units)


def example(m: float = 2.0, r: float = 0.3, A: float | None = None,
            C: float | None = None) -> Example:
    """L = m |v_C|^2 / 2 + (A (u1^2 + u3^2) + C u2^2) / 2 - m g r cos(lean), C the middle;
    x' = r cos(yaw) spin', y' = r sin(yaw) spin'.

    m [kg], radius r [m], moments of inertia across and along the axle A, C [kg m^2], those of a
    uniform disc where None. (x, y) is the contact, which wanders round the rim at r spin'; the
    multipliers are the ground's horizontal force in the world.

    (A + m r^2) u1' = m g r sin(lean) - A u3^2 tan(lean) + (C + m r^2) u2 u3
    (C + m r^2) u2' = -m r^2 u1 u3
    A u3' = A u1 u3 tan(lean) - C u1 u2
    """
    A, C = m * r ** 2 / 4 if A is None else A, m * r ** 2 / 2 if C is None else C
    names = ("m", "r", "A", "C", "g")
    disc = lagrangian_system(space(), _lagrangian, parameters=names)
    rng = np.random.default_rng(0)
    samples = np.column_stack([rng.normal(size=(8, 3)), rng.uniform(-1.1, 1.1, 8),
                               rng.normal(size=8)])
    constrained = constrain(disc, dict(zip(names, (m, r, A, C, GRAVITY))), samples=samples, rows={
        "rolling_x": lambda s: s.v.x - s.p.r * ca.cos(s.q.yaw) * _spin_rate(s),
        "rolling_y": lambda s: s.v.y - s.p.r * ca.sin(s.q.yaw) * _spin_rate(s)})

    def newton_euler() -> float:
        """u' as in the docstring: moments about the contact in the leaning frame.
        The force is m times the acceleration of the middle."""
        worst, size = 0.0, m * r ** 2
        for q, (_, _, *u), a, lam in random_motions(made):
            (u1, u2, u3), tan = u, np.tan(q[3])
            leaning = (m * GRAVITY * r * np.sin(q[3]) - A * u3 ** 2 * tan
                       + (C + size) * u2 * u3) / (A + size)
            expected = np.array([leaning, -size * u1 * u3 / (C + size),
                                 u1 * u3 * tan - C * u1 * u2 / A])
            ahead, left, up = (r * (expected[1] + u1 * u3), r * (u2 * u3 - expected[0]),
                               -r * (u1**2 + u2 * u3 * tan))
            level = left * np.cos(q[3]) - up * np.sin(q[3])
            c, s = np.cos(q[2]), np.sin(q[2])
            force = m * np.array([c * ahead - s * level, s * ahead + c * level])
            worst = largest(worst, apart(a[2:], expected), apart(lam, force))
        return worst

    def thresholds() -> float:
        """Squared growth rates upright: rolling, (m g r - C (C + m r^2) u2^2 / A) / (A + m r^2);
        spinning, m g r / (A + m r^2) - u3^2."""
        J, size = A + m * r ** 2, C + m * r ** 2
        rolling = [abs(growth(made, 0, 0, u2, 0) - (m * GRAVITY * r - C * size * u2**2 / A) / J)
                   for u2 in (3, 4, 10)]
        spinning = [abs(growth(made, 0, 0, 0, u3) - (m * GRAVITY * r / J - u3**2)) for u3 in (3, 6)]
        return largest(*rolling, *spinning)

    made = Example(
        "falling_disc", "Falling disc", SOURCE, constrained,
        {"q": (0.0, 0.0, 0.0, 0.3, 0.0), "xi": (0.2, 4.0, 0.5)},
        (Check("accelerations and force by Newton and Euler", "in this file", 1e-11, newton_euler),
         Check("stability of upright rolling and spinning", SOURCE, 1e-10, thresholds),
         Check("energy over 100 s", "d'Alembert", 1e-10, lambda: wander(made, disc.energy))),
        SPEEDS,
        shapes=disc_shapes(r, 0.03 * r, lambda q: _place(q, r)))
    return made


def growth(example: Example, lean: float, u1: float, u2: float, u3: float) -> float:
    """lambda^2 of the one pair of nonzero eigenvalues of a steady motion, from the derivative of
    the drift [1/s^2]."""
    system, u = example.constrained.system, ca.SX.sym("u", 3)
    q_rate, u_rate = example.equations().drift(0, system.q, u, system.u, system.theta)
    state, flow = ca.vertcat(system.q[3], u), ca.vertcat(q_rate[3], u_rate)
    jacobian = ca.Function("J", [system.q, u, system.theta], [ca.jacobian(flow, state)])
    J = jacobian((0, 0, 0, lean, 0), (u1, u2, u3), example.constrained.parameters).full()
    return float(np.trace(J @ J) / 2)


def _spin_rate(s: Symbols) -> ca.SX:
    return s.v.u2 - s.v.u3 * ca.tan(s.q.lean)


def _lagrangian(s: Symbols) -> ca.SX:
    p, c, sine = s.p, ca.cos(s.q.yaw), ca.sin(s.q.yaw)
    middle = ca.vertcat(c * s.v.x + sine * s.v.y + p.r * ca.tan(s.q.lean) * s.v.u3,
                        c * s.v.y - sine * s.v.x
                        - p.r * ca.cos(s.q.lean) * s.v.u1, -p.r * ca.sin(s.q.lean) * s.v.u1)
    return (p.m * ca.sumsqr(middle) / 2
            + (p.A * (s.v.u1 ** 2 + s.v.u3 ** 2) + p.C * s.v.u2 ** 2) / 2
            - p.m * p.g * p.r * ca.cos(s.q.lean))


def _place(q: np.ndarray, r: float) -> np.ndarray:
    middle = (q[0] + r * np.sin(q[3]) * np.sin(q[2]), q[1] - r * np.sin(q[3]) * np.cos(q[2]),
              r * np.cos(q[3]))
    return pose(middle, q[2], q[3], q[4]) @ AXLE
