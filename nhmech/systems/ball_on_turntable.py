"""A homogeneous ball on a table that turns: an affine constraint."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols, constrain, lagrangian_system, symbols
from ._ball import RATES, ball_shapes, ball_space, rolling, spin
from ._checks import imbalance, random_motions, wander
from .example import Check, Example, apart, largest, solve

GRAVITY = 9.81      # [m/s^2]
SOURCE = "Neimark and Fufaev 1972; Lewis and Murray 1995"


def example(m: float = 0.5, r: float = 0.06, I: float = 0.00072, Omega: float = 3.0,
            tilt: float = 0.0) -> Example:
    """L = m (x'^2 + y'^2) / 2 + I |omega|^2 / 2 + m g sin(tilt) x with v + omega x (-r n) = Omega n
    x (x, y).

    m [kg], radius r [m], moment of inertia I [kg m^2], the table's rate Omega [rad/s] about its
    normal n through the origin, its tilt [rad] down along x. Components, those of the angular
    velocity too, are along axes of the table's plane that do not turn.

    v' = alpha Omega n x v + (1 - alpha) g_tangential with alpha = I / (I + m r^2): a circle at the
    rate alpha Omega, 2/7 for a solid ball and 2/5 for a shell, round a point that drifts with
    (0, g sin(tilt)) (1 - alpha) / (alpha Omega). The energy is not constant, for the table works on
    the ball; E - Omega L_z changes by -Omega times gravity's moment about n, on the level not at
    all.
    """
    names = ("m", "r", "I", "Omega", "tilt", "g")
    ball = lagrangian_system(ball_space(world=True), _lagrangian, parameters=names)
    constrained = constrain(ball, dict(zip(names, (m, r, I, Omega, tilt, GRAVITY))),
                            rows=rolling(lambda s: s.p.Omega, world=True))
    x0, v0, wz = np.array([0.4, -0.1]), np.array([0.3, 0.2]), 1.1
    start = {"q": (*x0, 0.0, 0.0, 0.0, 1.0),
             "xi": ((x0[0] * Omega - v0[1]) / r, (v0[0] + x0[1] * Omega) / r, wz)}
    alpha = I / (I + m * r ** 2)
    rate, slope = alpha * Omega, np.array([(1 - alpha) * GRAVITY * np.sin(tilt), 0.0])
    drift = np.array([0.0, slope[0] / rate])

    def acceleration() -> float:
        """v' and the table's force m v' - m g_tangential."""
        worst = 0.0
        for _, v, a, lam in random_motions(made):
            expected = rate * np.array([-v[1], v[0]]) + slope
            force = m * expected - m * slope / (1 - alpha)
            worst = largest(worst, apart(a[:2], expected), apart(lam, force))
        return worst

    def path() -> float:
        """x, y for 10 s."""
        t, u = np.linspace(0, 10, 21), v0 - drift
        q, _ = solve(made, t)
        c, s = np.cos(rate * t), np.sin(rate * t)
        circle = np.stack([s * u[0] - (1 - c) * u[1], (1 - c) * u[0] + s * u[1]], axis=1)
        exact = x0 + np.outer(t, drift) + circle / rate
        return apart(q[:, :2], exact)

    checks = [Check("acceleration and force of the table", SOURCE, 1e-11, acceleration),
              Check("circle, and its drift on a slope", SOURCE, 1e-10, path),
              Check("E - Omega L_z changes by the slope's moment", "in the docstring", 1e-11,
                    lambda: imbalance(made, moving_energy, _slope_moment))]
    if tilt == 0:
        checks.append(Check("T - Omega L_z over 100 s", SOURCE, 1e-10,
                            lambda: wander(made, moving_energy(symbols(ball)))))
    made = Example("ball_on_turntable", "Ball on a turntable", SOURCE, constrained, start,
                   tuple(checks), RATES, shapes=ball_shapes(r))
    return made


def moving_energy(s: Symbols) -> ca.SX:
    """E - Omega L_z [J], L_z about the table's axis."""
    return (_kinetic(s) - _lift(s)
            - s.p.Omega * (s.p.m * (s.q.x * s.v.y - s.q.y * s.v.x) + s.p.I * s.v.wz))


def _slope_moment(s: Symbols) -> ca.SX:
    return s.p.Omega * s.q.y * s.p.m * s.p.g * ca.sin(s.p.tilt)


def _kinetic(s: Symbols) -> ca.SX:
    return s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2 + s.p.I * ca.sumsqr(spin(s)) / 2


def _lift(s: Symbols) -> ca.SX:
    """Minus the potential energy: x points down the slope."""
    return s.p.m * s.p.g * ca.sin(s.p.tilt) * s.q.x


def _lagrangian(s: Symbols) -> ca.SX:
    return _kinetic(s) + _lift(s)
