"""Chaplygin's ball: its centre of mass in the middle, its moments of inertia all different."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..mechanics.writing import Symbols, constrain, lagrangian_system, symbols
from ._ball import RATES, ball_shapes, ball_space, body_rotation, rolling, spin
from ._checks import imbalance, wander
from .example import Check, Example


def example(m: float = 1.5, r: float = 0.12, I: Sequence[float] = (0.006, 0.009, 0.013)) -> Example:
    """L = m (x'^2 + y'^2) / 2 + omega . I omega / 2, rolling without slipping.

    m [kg], radius r [m], principal moments of inertia I [kg m^2].

    Its angular momentum about the contact, K = R ((I + m r^2) omega - m r^2 (omega . gamma) gamma)
    with gamma the vertical seen in the body, is constant in the world, and so is the energy K .
    omega / 2 (Chaplygin 1903; Borisov and Mamaev 2001).
    """
    names = ("m", "r", "I1", "I2", "I3")
    ball = lagrangian_system(ball_space(), _lagrangian, parameters=names)
    constrained = constrain(ball, dict(zip(names, (m, r, *I))), rows=rolling())
    start = {"q": (0.0, 0.0, 0.0, 0.0, 0.0, 1.0), "xi": (4.0, -2.5, 1.5)}
    made = Example("chaplygin_ball", "Chaplygin ball", "Chaplygin 1903", constrained, start, (
                       Check("dK/dt = 0 in the world", "Chaplygin 1903; in the docstring", 1e-12,
                             lambda: imbalance(made, momentum, lambda s: ca.SX.zeros(3))),
                       Check("K . omega / 2 is constant", "in the docstring", 1e-12,
                             lambda: imbalance(made, _half_power, lambda s: ca.SX(0))),
                       Check("K and energy over 100 s", "Chaplygin 1903", 1e-10,
                             lambda: wander(made, momentum(symbols(ball)), ball.energy))),
        RATES, shapes=ball_shapes(r))
    return made


def momentum(s: Symbols) -> ca.SX:
    """K (3,) in the world [kg m^2/s]."""
    R, omega = body_rotation(s), spin(s)
    gamma, size = R[2, :].T, s.p.m * s.p.r ** 2
    return R @ (ca.vertcat(s.p.I1, s.p.I2, s.p.I3) * omega
                + size * (omega - ca.dot(omega, gamma) * gamma))


def _lagrangian(s: Symbols) -> ca.SX:
    turning = s.p.I1 * s.v.wx ** 2 + s.p.I2 * s.v.wy ** 2 + s.p.I3 * s.v.wz ** 2
    return s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2 + turning / 2


def _half_power(s: Symbols) -> ca.SX:
    return ca.dot(momentum(s), body_rotation(s) @ spin(s)) / 2
