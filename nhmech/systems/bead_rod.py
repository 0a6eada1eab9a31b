"""A bead on a rod that turns at a constant rate."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean
from ..mechanics.writing import constrain, lagrangian_system, symbols
from ._checks import along
from .example import Check, Example, largest, solve
from .shapes import GREY, ORANGE, Shape, pose


def example(m: float = 0.8, omega: float = 1.5, r: float = 0.3, r_rate: float = -0.2) -> Example:
    """L = m (x'^2 + y'^2) / 2 with x - r cos(omega t) = 0 and y - r sin(omega t) = 0 (paper 001,
    section 11).

    r = r0 cosh(omega t) + r0' / omega sinh(omega t). The multipliers are the components of the
    force on the bead, 2 m omega r' (-sin, cos). Energy is not conserved; m (r'^2 - omega^2 r^2) / 2
    is. The coordinate r has no inertia, L is singular.
    """
    bead = lagrangian_system(euclidean("x", "y", "r", units=("m/s",) * 3),
                             lambda s: s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2,
                             parameters=("m", "omega"))
    radii = np.linspace(-1.0, 1.2, 8)
    constrained = constrain(bead, {"m": m, "omega": omega},
                            samples=np.c_[radii, np.zeros(8), radii], holonomic={
        "along x": lambda s: s.q.x - s.q.r * ca.cos(s.p.omega * s.t),
        "along y": lambda s: s.q.y - s.q.r * ca.sin(s.p.omega * s.t)})
    times = np.linspace(0, 2, 9)
    exact = r * np.cosh(omega * times) + r_rate / omega * np.sinh(omega * times)
    exact_rate = r * omega * np.sinh(omega * times) + r_rate * np.cosh(omega * times)
    cos, sin = np.cos(omega * times), np.sin(omega * times)

    def motion() -> float:
        q, xi = solve(made, times, rtol=1e-13)
        return largest(q - np.c_[exact * cos, exact * sin, exact], xi[:, 0] - exact_rate)

    def multipliers() -> float:
        lam = along(made, "multipliers", times, *solve(made, times, rtol=1e-13))
        return largest(lam - 2 * m * omega * exact_rate[:, None] * np.c_[-sin, cos])

    def integrals() -> float:
        """Energy as in the closed form, which is not constant; the Jacobi integral as at first."""
        q, xi = solve(made, times, rtol=1e-13)
        s = symbols(bead)
        jacobi = along(made, s.p.m * (s.v.r ** 2 - s.p.omega ** 2 * s.q.r ** 2) / 2, times, q,
                       xi)[:, 0]
        energy = along(made, bead.energy, times, q, xi)[:, 0]
        return largest(jacobi - m * (r_rate ** 2 - (omega * r) ** 2) / 2,
                       energy - m * (exact_rate ** 2 + omega ** 2 * exact ** 2) / 2)

    made = Example(
        "bead_rod", "Bead on a turning rod (rheonomic)", "paper 001, section 11", constrained,
        {"q": (r, 0.0, r), "xi": (r_rate,)},
        (Check("motion in closed form", "r'' = omega^2 r, this file", 1e-12, motion),
         Check("multipliers in closed form", "paper 001, section 11", 1e-11, multipliers),
         Check("energy and Jacobi integral", "this file", 1e-11, integrals)),
        speeds=("r'",),
        methods=("gibbs_appell", "lagrange_multipliers", "hamel", "lagrange_dalembert"),
        why_not="projection: L is singular, r has no inertia of its own",
        shapes=(Shape("box", (3.0, 0.02, 0.02), lambda q: pose(yaw=np.arctan2(q[1], q[0])), GREY),
                Shape("sphere", (0.05,), lambda q: pose((q[0], q[1], 0)), ORANGE)))
    return made
