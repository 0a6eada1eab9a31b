"""Veselova's problem without its angle about the vertical: on so(3) x S^2."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..mechanics.action_algebroid import action_algebroid
from ..mechanics.writing import Symbols, constrain, lagrangian_system, symbols
from ._ball import spin
from ._checks import imbalance, random_motions, wander
from .example import Check, Example, apart, largest, solve
from .shapes import ORANGE, Shape, pose
from .veselova import NAMES, SOURCE, example as whole, turning

GAMMA = ("gamma_x", "gamma_y", "gamma_z")


def example(I: Sequence[float] = (1.0, 1.4, 2.0)) -> Example:
    """l = omega . I omega / 2 on the action algebroid so(3) x S^2, gamma' = gamma x omega, with
    gamma . omega = 0.

    Principal moments of inertia I [kg m^2]. These are the equations of `veselova` without its
    attitude. |gamma| = 1 is kept by the anchor. The energy and

        |I omega|^2 - (gamma . I omega)^2

    are constant: the level angular momentum, squared.
    """
    space = action_algebroid("so(3)", GAMMA, ca.skew)
    body = lagrangian_system(space, _energy, parameters=NAMES)
    places = np.random.default_rng(0).normal(size=(8, 3))
    places /= np.linalg.norm(places, axis=1)[:, None]
    constrained = constrain(body, dict(zip(NAMES, I)), samples=places, rows={
        "vertical": lambda s: ca.dot(_gamma(s), spin(s))})

    def euler() -> float:
        worst = 0.0
        for gamma, v, a, (lam,) in random_motions(made, 8):
            rate, force = turning(gamma, v, np.asarray(I))
            worst = largest(worst, apart(a, rate), apart(lam, force))
        return worst

    def on_the_group() -> float:
        """gamma along a motion on SO(3), 1 s."""
        times = np.linspace(0, 1, 6)
        full = whole(I)
        q, xi = solve(full, times)
        x, y, z, w = q.T
        gamma = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], 1)
        begin = q[0], xi[0], full.constrained.parameters
        v = full.equations().velocity(0, *begin).full().ravel()
        start = v[list(made.equations().frame.speeds)]
        found, _ = solve(made, times, start={"q": gamma[0], "xi": start})
        return largest(found - gamma)

    made = Example(
        "veselova_sphere", "Veselova's problem on so(3) x S^2", SOURCE, constrained,
        {"q": (0.0, np.sin(0.8), np.cos(0.8)), "xi": (0.6, 0.3)},
        (Check("omega' and the torque by Euler", "in this folder, veselova", 1e-11, euler),
         Check("the motion on SO(3), seen from the body", "veselova", 1e-10, on_the_group),
         Check("level momentum", SOURCE, 1e-11,
               lambda: imbalance(made, _level_square, lambda s: ca.SX(0))),
         Check("energy and |gamma| over 2 s", "d'Alembert", 1e-10,
               lambda: wander(made, body.energy, ca.sumsqr(_gamma(symbols(body))),
                              duration=2.0))),
        shapes=(Shape("sphere", (0.06,), lambda q: pose(q), ORANGE, trail=True),))
    return made


def _gamma(s: Symbols) -> ca.SX:
    return ca.vertcat(s.q.gamma_x, s.q.gamma_y, s.q.gamma_z)


def _momentum(s: Symbols) -> ca.SX:
    return ca.vertcat(s.p.I1, s.p.I2, s.p.I3) * spin(s)


def _energy(s: Symbols) -> ca.SX:
    return ca.dot(_momentum(s), spin(s)) / 2


def _level_square(s: Symbols) -> ca.SX:
    return ca.sumsqr(_momentum(s)) - ca.dot(_gamma(s), _momentum(s)) ** 2
