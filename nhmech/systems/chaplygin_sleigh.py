"""Chaplygin's sleigh: a body on a blade, its centre of mass ahead of it."""

from __future__ import annotations

import numpy as np

from ..mechanics.algebroid_makers import special_euclidean_2
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import imbalance, motion_at, random_motions, wander
from .example import Check, Example, largest, solve
from .shapes import ORANGE, Shape, pose

SOURCE = "Chaplygin 1911; Neimark and Fufaev 1972"


def example(m: float = 2.0, I: float = 0.3, a: float = 0.25, v0: float = 0.4,
            w0: float = 1.5) -> Example:
    """L = m (v^2 + (s + a w)^2) / 2 + I w^2 / 2 with s = 0; v, s [m/s] along and across the blade,
    w [rad/s] the turning rate.

    m [kg], moment of inertia I about the centre of mass [kg m^2], which is a [m] ahead of the
    blade; v0, w0 at the start.

    v' = a w^2, w' = -m a v w / (I + m a^2): every motion ends straight, centre of mass ahead. With
    V^2 = v0^2 + (I + m a^2) w0^2 / m and k = m |a| V / (I + m a^2), v = sign(a) V tanh(k t + c) and
    w = W sech(k t + c); the blade's force to the left is I m v w / (I + m a^2).
    """
    sleigh = lagrangian_system(special_euclidean_2(), _lagrangian, parameters=("m", "I", "a"))
    constrained = constrain(sleigh, {"m": m, "I": I, "a": a},
                            rows={"blade": lambda s: s.v.lateral_speed})
    J = I + m * a ** 2

    def accelerations() -> float:
        worst = 0.0
        for _, (v, _, w), rates, lam in random_motions(made):
            worst = largest(worst, rates - (a * w ** 2, 0, -m * a * v * w / J),
                            lam[0] - I * m * v * w / J)
        return worst

    def closed_form() -> float:
        """Heading, v, w and the blade's force for 12 s."""
        t = np.linspace(0, 12, 25)
        q, xi = solve(made, t)
        V = np.sqrt(v0 ** 2 + J * w0 ** 2 / m)
        k, W = m * abs(a) * V / J, np.sign(w0) * V * np.sqrt(m / J)
        c = np.arctanh(np.sign(a) * v0 / V)
        v, w = np.sign(a) * V * np.tanh(k * t + c), W / np.cosh(k * t + c)
        heading = 2 * W / k * (np.arctan(np.tanh((k * t + c) / 2)) - np.arctan(np.tanh(c / 2)))
        blade = motion_at(made, q, xi)[2][:, 0]
        speeds, force = np.stack([v, w], axis=1), I * m * v * w / J
        return largest(q[:, 2] - heading, xi - speeds, blade - force)

    made = Example(
        "chaplygin_sleigh",
        "Chaplygin sleigh",
        SOURCE,
        constrained,
        {"q": (0.0, 0.0, 0.0), "xi": (v0, w0)},
        (
            Check("accelerations and force of the blade", SOURCE, 1e-12, accelerations),
            Check(
                "momentum equation p' = -m a v w",
                "p = (I + m a^2) w; Bloch 2003, section 1.7",
                1e-12,
                lambda: imbalance(
                    made,
                    lambda s: (s.p.I + s.p.m * s.p.a**2) * s.v.yaw_rate,
                    lambda s: -s.p.m * s.p.a * s.v.forward_speed * s.v.yaw_rate,
                ),
            ),
            Check("v, w, heading and force in closed form", SOURCE, 1e-10, closed_form),
            Check("energy over 100 s", "d'Alembert", 1e-11, lambda: wander(made, sleigh.energy)),
        ),
        ("forward_speed", "yaw_rate"),
        shapes=_shapes(a),
    )
    return made


def _lagrangian(s: Symbols):
    speed = s.v.forward_speed ** 2 + (s.v.lateral_speed + s.p.a * s.v.yaw_rate) ** 2
    return s.p.m * speed / 2 + s.p.I * s.v.yaw_rate ** 2 / 2


def _shapes(a: float) -> tuple[Shape, ...]:
    def at(ahead: float, height: float):
        return lambda q: pose((q[0] + ahead * np.cos(q[2]), q[1] + ahead * np.sin(q[2]), height),
                              yaw=q[2])

    return (Shape("box", (2.5 * abs(a), 1.2 * abs(a), 0.2 * abs(a)), at(a, 0.3 * abs(a))),
            Shape("box", (0.6 * abs(a), 0.04 * abs(a), 0.3 * abs(a)), at(0, 0.15 * abs(a)), ORANGE,
                  trail=True))
