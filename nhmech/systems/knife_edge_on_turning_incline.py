"""A knife edge on a plane whose tilt grows: a Lagrangian that depends on time."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols
from ._checks import imbalance
from .example import Check, Example, apart, solve
from .knife_edge_on_incline import EDGE, knife_edge, newton_error

SOURCE = "Newton's law in the turning plane; compare Bloch 2003, section 1.6"
NAMES = ("m", "J", "g", "tilt", "rate")


def example(m: float = 1.2, J: float = 0.05, g: float = 9.81, tilt: float = 0.1,
            rate: float = 0.8) -> Example:
    """L = m (x'^2 + y'^2 + w^2 x^2) / 2 + J (phi'^2 + w^2) / 2 + m g sin(alpha) x, alpha = tilt +
    w t, with x' sin(phi) = y' cos(phi).

    The plane turns about its level axis y at w = `rate` [rad/s]; x points down the slope. m [kg] at
    the contact, J [kg m^2] about every axis, g [m/s^2], tilt [rad] at t = 0.

    The plane's turning pushes outward: along the edge u' = cos(phi) (w^2 x + g sin(alpha)), phi' is
    constant. Without phi' and with phi = 0, x = a cosh(w t) + b sinh(w t) - g sin(alpha) / (2 w^2).
    """
    numbers = dict(zip(NAMES, (m, J, g, tilt, rate)))
    constrained = knife_edge(_lagrangian, numbers)

    def straight() -> float:
        """x down the slope for 2 s."""
        t, (x, speed) = np.linspace(0, 2, 9), (0.3, 0.4)
        q, _ = solve(made, t, rtol=1e-13, start={"q": (x, 0.0, 0.0), "xi": (speed, 0.0)})
        part = g / (2 * rate ** 2)
        exact = ((x + part * np.sin(tilt)) * np.cosh(rate * t)
                 + (speed + part * rate * np.cos(tilt)) / rate * np.sinh(rate * t)
                 - part * np.sin(tilt + rate * t))
        return apart(q[:, 0], exact)

    made = Example(
        "knife_edge_on_turning_incline", "Knife edge on a turning incline", SOURCE, constrained,
        {"q": (0.0, 0.0, 0.0), "xi": (0.0, 1.0)},
        (Check("accelerations and force by Newton", "in this file", 1e-11,
               lambda: newton_error(made, m, lambda x: rate ** 2 * x + g * np.sin(tilt))),
         Check("straight down the slope", "in the docstring", 1e-10, straight),
         Check("dE/dt = -dL/dt", "Lagrange", 1e-11, lambda: imbalance(made, _energy, _power))),
        ("x'", "phi'"),
        shapes=(EDGE,),
        generators={"across": lambda s: {"y": 1}})
    return made


def _pull(s: Symbols) -> ca.SX:
    """What of the Lagrangian depends on time."""
    return s.p.m * s.p.g * ca.sin(s.p.tilt + s.p.rate * s.t) * s.q.x


def _squares(s: Symbols) -> ca.SX:
    return s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2 + s.p.J * s.v.phi ** 2 / 2


def _turning(s: Symbols) -> ca.SX:
    return s.p.rate ** 2 * (s.p.m * s.q.x ** 2 + s.p.J) / 2


def _lagrangian(s: Symbols) -> ca.SX:
    return _squares(s) + _turning(s) + _pull(s)


def _energy(s: Symbols) -> ca.SX:
    """v dL/dv - L."""
    return _squares(s) - _turning(s) - _pull(s)


def _power(s: Symbols) -> ca.SX:
    return -s.p.m * s.p.g * s.p.rate * ca.cos(s.p.tilt + s.p.rate * s.t) * s.q.x
