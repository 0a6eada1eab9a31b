"""Particles in a gauge field: the Kaluza-Klein Lagrangian on TP/G, in the two bases that paper 002
writes it in."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ..mechanics.algebroid import euclidean, product
from ..mechanics.algebroid_makers import atiyah, lie_algebra
from ..mechanics.system import LagrangianSystem
from ..mechanics.writing import constrain, lagrangian_system
from .example import Example, largest

BASE = euclidean("x", "y", "z", units=("m/s",) * 3)


def adapted_system(group: str, connection: Callable[[ca.SX], ca.SX],
                   names: tuple[str, ...]) -> LagrangianSystem:
    """l = m |q'|^2 / 2 + |e|^2 / 2 with e = xi + A q' the fibre momentum, called `names`:
    the basis of horizontal lifts, where the field is in the brackets."""
    def lagrangian(s) -> ca.SX:
        return (s.p.m * (s.v.x ** 2 + s.v.y ** 2
                         + s.v.z ** 2) + sum(getattr(s.v, name) ** 2 for name in names)) / 2

    return lagrangian_system(atiyah(BASE, group, connection, names), lagrangian, parameters=("m",))


def product_basis_error(example: Example, group: str, connection: Callable[[ca.SX], ca.SX],
                        mass: float) -> float:
    """Largest difference of accelerations from those of l = m |q'|^2 / 2 + |xi + A q'|^2 / 2 on TM
    x g, eq. (14) of paper 002.

    There the brackets know nothing of the field; it is in the Lagrangian.
    """
    space = product(BASE, lie_algebra(group))
    q, v, a = space.q, ca.SX.sym("v", space.nv), ca.SX.sym("a", space.nv)
    momentum = v[3:] + connection(q) @ v[:3]
    plain = LagrangianSystem.from_lagrangian(
        space, v, a, mass * ca.sumsqr(v[:3]) / 2 + ca.sumsqr(momentum) / 2)
    constrained = constrain(plain, samples=example.constrained.configurations)
    other = Example("product basis", "", "", constrained, {}, ()).equations()
    to_adapted = ca.Function("to_adapted", [q, v, a], [ca.vertcat(v[:3], momentum), ca.vertcat(
        a[:3], ca.jtimes(momentum, q, v[:3]) + ca.jtimes(momentum, v, a))])
    own, rng, worst = example.equations(), np.random.default_rng(2), 0.0
    for place in example.constrained.configurations[:5]:
        speeds = rng.normal(size=space.nv)
        velocity, acceleration = to_adapted(place, speeds,
                                            other.acceleration(0, place, speeds, [], []))
        worst = largest(worst, acceleration - own.acceleration(0, place, velocity, [], mass))
    return worst
