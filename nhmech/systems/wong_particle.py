"""Wong's particle: isospin in the field of the Wu-Yang monopole, on TP/G with G = SO(3)."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.algebroid_makers import curvature, structure_constants
from ..mechanics.writing import constrain
from ._gauge import BASE, adapted_system, product_basis_error
from .example import Check, Example, largest, solve
from .shapes import DARK, ORANGE, Shape, pose

PLACE, VELOCITY, ISOSPIN = (
    np.array([1.0, 0.2, -0.3]),
    np.array([-0.4, 0.9, 0.2]),
    np.array([0.7, -0.5, 1.1]),
)


def monopole(q: ca.SX) -> ca.SX:
    """A (3, 3) with A q' = q x q' / |q|^2."""
    return ca.skew(q) / ca.sumsqr(q)


def example(m: float = 1.3) -> Example:
    """l = m |q'|^2 / 2 + |I|^2 / 2 with I = xi + A q', A q' = q x q' / |q|^2, over R^3 without
    its origin (paper 002, example 6.1).

    Wong's equations are m q_i'' = B^K_ij q_j' I_K and I' = (A q') x I, with B the curvature eps_ijk
    q_k q_K / |q|^4. Hence mu = I . q / |q|, the speed and J = m q x q' - mu q / |q| are constant,
    |q|^2 is a quadratic function of time, and q / |q| turns about J at the rate |J| / (m |q|^2):
    the particle moves on a cone, and I is carried along it by parallel transport.
    """
    system = adapted_system("so(3)", monopole, ("isospin_x", "isospin_y", "isospin_z"))
    rng = np.random.default_rng(0)
    samples = rng.uniform(0.4, 1.2, (8, 3))
    times = np.linspace(0, 4, 9)

    def cone() -> float:
        from scipy.spatial.transform import Rotation

        q, v = solve(made, times, rtol=1e-13)
        square, drift, area = (PLACE @ PLACE, PLACE @ VELOCITY,
                               np.linalg.norm(np.cross(PLACE, VELOCITY)))
        radial = PLACE / np.sqrt(square)
        mu = ISOSPIN @ radial
        J = m * np.cross(PLACE, VELOCITY) - mu * radial
        speed, size = VELOCITY @ VELOCITY, np.linalg.norm(J)
        distance = np.sqrt(square + 2 * drift * times + speed * times ** 2)
        angles = size / m * (np.arctan2(speed * times + drift,
                                        area) - np.arctan2(drift, area)) / area
        about = Rotation.from_rotvec(np.outer(angles, J / size))
        carried = Rotation.from_rotvec(np.outer(mu / size * angles, radial))
        exact = np.c_[distance[:, None] * about.apply(radial), (about * carried).apply(ISOSPIN)]
        return largest(np.c_[q, v[:, 3:]] - exact)

    def field() -> float:
        """Curvature against eps_ijk q_k q_K / |q|^4, that is -skew(q) q_K / |q|^4."""
        forms = curvature(BASE, structure_constants("so(3)"), monopole(BASE.q))
        field = ca.Function("field", [BASE.q], [ca.densify(B) for B in forms])
        return largest(*(B + ca.skew(q) * q[K] / (q @ q) ** 2
                         for q in samples for K, B in enumerate(field(q))))

    def other_basis() -> float:
        return product_basis_error(made, "so(3)", monopole, m)

    made = Example(
        "wong_particle", "Wong's particle in a monopole field, TP/SO(3)",
        "paper 002, example 6.1, eq. (14)", constrain(system, {"m": m}, samples=samples),
        {"q": tuple(PLACE), "xi": (*VELOCITY, *ISOSPIN)},
        (Check("motion on a cone, isospin carried along", "closed form of this file", 1e-11, cone),
         Check("curvature of the monopole", "Wu and Yang 1969, this file", 1e-13, field),
         Check("the same in the product basis", "paper 002, eq. (14)", 1e-11, other_basis)),
        shapes=(Shape("sphere", (0.06,), lambda q: pose(), DARK),
                Shape("sphere", (0.05,), lambda q: pose(q), ORANGE, trail=True)))
    return made

