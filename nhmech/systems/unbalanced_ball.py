"""A ball whose centre of mass is off its middle; where it is a body of revolution, Routh's
sphere."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols, constrain, lagrangian_system, symbols
from ._ball import RATES, ball_shapes, ball_space, body_rotation, rolling, spin
from ._checks import imbalance, random_motions, wander
from .example import Check, Example, apart, largest

GRAVITY = 9.81      # [m/s^2]


def example(m: float = 0.8, r: float = 0.1, c: float = 0.025,
            I: Sequence[float] = (0.0031, 0.0031, 0.0024)) -> Example:
    """L = m |v_G|^2 / 2 + omega . I omega / 2 - m g z_G, the centre of mass G at c along
    the body's z axis from the middle.

    m [kg], radius r, offset c [m], moments of inertia I about G along the body's axes [kg m^2].

    With I1 = I2 three integrals of motion: the energy, Jellett's J = H_G . a and Routh's
    D = omega_z sqrt(I1 I3 + m (I3 a_z^2 + I1 (a_x^2 + a_y^2))), a = r gamma + c e_z from the
    contact to G, in the body; otherwise the energy alone (Jellett 1872; Routh 1905, art. 243).
    """
    names = ("m", "r", "c", "I1", "I2", "I3", "g")
    ball = lagrangian_system(ball_space(), _lagrangian, parameters=names)
    constrained = constrain(ball, dict(zip(names, (m, r, c, *I, GRAVITY))), rows=rolling())
    start = {"q": (0.0, 0.0, np.sin(0.6), 0.0, 0.0, np.cos(0.6)), "xi": (1.0, 3.0, 12.0)}

    def newton_euler() -> float:
        """Moments about the contact, where the plane's force has none:

        I w' + w x I w + m a x (w' x a + w x (w x c e_z)) = -m g a x gamma.
        """
        worst, tensor, rho = 0.0, np.diag(I), np.array([0, 0, c])
        rotation = ca.Function("R", [ball.q], [body_rotation(symbols(ball))])
        for q, v, found, _ in random_motions(made, 8):
            w, gamma = v[2:], rotation(q).full()[2]
            a = r * gamma + rho
            inertia = tensor + m * (a @ a * np.eye(3) - np.outer(a, a))
            moment = (-m * GRAVITY * np.cross(a, gamma) - np.cross(w, tensor @ w)
                      - m * np.cross(a, np.cross(w, np.cross(w, rho))))
            expected = np.linalg.solve(inertia, moment)
            worst = largest(worst, apart(found[2:], expected))
        return worst

    s, symmetric = symbols(ball), I[0] == I[1]
    kept = (ball.energy, jellett(s), routh(s)) if symmetric else (ball.energy,)
    checks = [Check("angular acceleration", "moments about the contact, in this file", 1e-11,
                    newton_euler),
              Check("energy, Jellett's and Routh's integrals over 100 s" if symmetric
                    else "energy over 100 s",
                    "Jellett 1872; Routh 1905, art. 243", 1e-10, lambda: wander(made, *kept))]
    if symmetric:
        checks.append(Check("dJ/dt = dD/dt = 0", "Jellett 1872; Routh 1905, art. 243", 1e-11,
                            lambda: imbalance(made, lambda s: ca.vertcat(jellett(s), routh(s)),
                                              lambda s: ca.SX.zeros(2))))
    made = Example("unbalanced_ball", "Ball with its centre of mass off the middle",
                   "Routh 1905, art. 243",
                   constrained, start, tuple(checks), RATES, shapes=ball_shapes(r))
    return made


def jellett(s: Symbols) -> ca.SX:
    """J = H_G . a [kg m^3/s]."""
    return ca.dot(_moments(s) * spin(s), _arm(s))


def routh(s: Symbols) -> ca.SX:
    """D [kg m^2 rad/s]."""
    a = _arm(s)
    return s.v.wz * ca.sqrt(s.p.I1 * s.p.I3
                            + s.p.m * (s.p.I3 * a[2] ** 2 + s.p.I1 * (a[0] ** 2 + a[1] ** 2)))


def _arm(s: Symbols) -> ca.SX:
    """From the contact to G, in the body [m]."""
    return s.p.r * body_rotation(s)[2, :].T + ca.vertcat(0, 0, s.p.c)


def _moments(s: Symbols) -> ca.SX:
    return ca.vertcat(s.p.I1, s.p.I2, s.p.I3)


def _lagrangian(s: Symbols) -> ca.SX:
    R, omega = body_rotation(s), spin(s)
    velocity = ca.vertcat(s.v.x, s.v.y, 0) + R @ ca.cross(omega, ca.vertcat(0, 0, s.p.c))
    return (s.p.m * ca.sumsqr(velocity) / 2 + ca.dot(_moments(s), omega**2) / 2
            - s.p.m * s.p.g * s.p.c * R[2, 2])
