"""A knife edge on an inclined plane: it does not slide down for ever."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.system import ConstrainedSystem
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import random_motions, wander
from .example import Check, Example, apart, largest, solve
from .shapes import Shape, pose

SOURCE = "Neimark and Fufaev 1972, chapter III; Bloch 2003, section 1.6"
NAMES = ("m", "J", "g", "tilt")
EDGE = Shape("box", (0.4, 0.05, 0.1), lambda q: pose((q[0], q[1], 0.05), yaw=q[2]), trail=True)


def example(m: float = 1.2, J: float = 0.05, g: float = 9.81, tilt: float = 0.3) -> Example:
    """L = m (x'^2 + y'^2) / 2 + J phi'^2 / 2 + m g sin(tilt) x, x down the slope, with
    x' sin(phi) = y' cos(phi).

    m [kg], J [kg m^2] about the contact, which carries the mass, g [m/s^2], tilt [rad]. From rest
    at the origin, turned at the rate w from phi = 0, it draws a cycloid across the slope::

        x = g sin(tilt) sin(w t)^2 / (2 w^2),
        y = g sin(tilt) (w t - sin(2 w t) / 2) / (2 w^2).
    """
    numbers = dict(zip(NAMES, (m, J, g, tilt)))
    constrained = knife_edge(_lagrangian, numbers)
    rate, pull = 1.5, g * np.sin(tilt)

    def cycloid() -> float:
        t = np.linspace(0, 0.9, 10)          # short of phi = 90 deg, where x' determines nothing
        q, _ = solve(made, t, rtol=1e-13, start={"q": (0.0, 0.0, 0.0), "xi": (0.0, rate)})
        wt = rate * t
        exact = pull / (2 * rate ** 2) * np.stack([np.sin(wt) ** 2, wt - np.sin(2 * wt) / 2], 1)
        return largest(q[:, :2] - exact)

    made = Example(
        "knife_edge_on_incline", "Knife edge on an incline", SOURCE, constrained,
        {"q": (0.0, 0.0, 0.0), "xi": (0.0, rate)},
        (Check("accelerations and force by Newton", "in this file", 1e-11,
               lambda: newton_error(made, m, lambda x: pull)),
         Check("cycloid", SOURCE, 1e-10, cycloid),
         Check("energy until phi = 77 deg", "d'Alembert", 1e-10,
               lambda: wander(made, constrained.system.energy, duration=0.9, rtol=1e-13))),
        ("x'", "phi'"),
        shapes=(EDGE,),
        generators={"across": lambda s: {"y": 1}})
    return made


def knife_edge(lagrangian: Callable[[Symbols], ca.SX],
               numbers: Mapping[str, float]) -> ConstrainedSystem:
    """An edge at (x, y) that moves along its heading phi alone."""
    rng = np.random.default_rng(0)
    space = euclidean("x", "y", "phi", units=("m/s", "m/s", "rad/s"))
    return constrain(lagrangian_system(space, lagrangian, parameters=tuple(numbers)), numbers,
                     samples=np.column_stack([rng.normal(size=(8, 2)), rng.uniform(-1.2, 1.2, 8)]),
                     rows={"edge": lambda s: s.v.x * ca.sin(s.q.phi) - s.v.y * ca.cos(s.q.phi)})


def newton_error(made: Example, m: float, pull: Callable[[float], float]) -> float:
    """The speed along the edge grows with what pulls along it, pull(x) [m/s^2] down the slope; the
    force across it is what turns the velocity, less what pulls across."""
    worst = 0.0
    for q, v, a, (lam,) in random_motions(made):
        c, s = np.cos(q[2]), np.sin(q[2])
        speed, down = c * v[0] + s * v[1], pull(q[0])
        expected = np.array([c * down * c - s * speed * v[2], s * down * c + c * speed * v[2], 0.0])
        force = -m * (speed * v[2] + down * s)
        worst = largest(worst, apart(a, expected), apart(lam, force))
    return worst


def _lagrangian(s: Symbols) -> ca.SX:
    return (s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2 + s.p.J * s.v.phi ** 2 / 2
            + s.p.m * s.p.g * ca.sin(s.p.tilt) * s.q.x)
