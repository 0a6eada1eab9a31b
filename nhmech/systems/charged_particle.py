"""A charged particle in a uniform magnetic field, on TP/G with G = U(1)."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.writing import constrain
from ._gauge import adapted_system, product_basis_error
from .example import Check, Example, largest, solve
from .shapes import ORANGE, Shape, pose


def example(m: float = 1.5, B: float = 0.8, charge: float = 1.2,
            velocity=(0.5, -0.3, 0.2)) -> Example:
    """l = m |q'|^2 / 2 + (xi + A q')^2 / 2 with A = B (x dy - y dx) / 2, a field B along
    z (paper 002, example 6.1, for U(1)).

    The fibre momentum e = xi + A q' is the charge: constant, and m q'' = e q' x B. Helix: with zeta
    = x + i y, zeta' turns at the rate Omega = -e B / m, zeta = zeta0 + zeta0' (exp(i Omega t) - 1)
    / (i Omega).
    """
    def connection(q):
        return B / 2 * ca.horzcat(-q[1], q[0], 0)

    system = adapted_system("u(1)", connection, ("charge",))
    times = np.linspace(0, 10, 11)

    def helix() -> float:
        q, v = solve(made, times, rtol=1e-13)
        turn, speed = -1j * charge * B / m, velocity[0] + 1j * velocity[1]
        place, rate = speed * np.expm1(turn * times) / turn, speed * np.exp(turn * times)
        exact = np.c_[place.real, place.imag, velocity[2] * times, rate.real, rate.imag,
                      np.full((len(times), 2), (velocity[2], charge))]
        return largest(np.c_[q, v] - exact)

    def other_basis() -> float:
        return product_basis_error(made, "u(1)", connection, m)

    made = Example("charged_particle", "Charged particle in a uniform magnetic field, TP/U(1)",
                   "paper 002, example 6.1, eq. (14)",
                   constrain(system, {"m": m}), {"q": (0.0, 0.0, 0.0), "xi": (*velocity, charge)},
                   (Check("helix, charge constant", "closed form of this file", 1e-12, helix),
                    Check("the same in the product basis", "paper 002, eq. (14)", 1e-12,
                          other_basis)),
                   shapes=(Shape("sphere", (0.05,), lambda q: pose(q), ORANGE, trail=True),))
    return made
