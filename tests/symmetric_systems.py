"""Textbook systems with symmetry, typed from their Lagrangians, for the tests of symmetry, momentum
and reduction."""

from __future__ import annotations

import casadi as ca
import numpy as np

from nhmech.mechanics.algebroid import circle, euclidean, product
from nhmech.mechanics.algebroid_makers import special_euclidean_2, special_orthogonal
from nhmech.mechanics.system import ConstrainedSystem
from nhmech.mechanics.writing import constrain, lagrangian_system

CARRIAGE = {"a": 0.1, "r": 0.25, "l": 0.12, "m": 4.0, "m0": 3.0, "I": 0.1885, "C": 0.0025}
INERTIA = (1.0, 2.0, 3.5)

X = {"x": lambda s: {"x": 1}}
Y = {"y": lambda s: {"y": 1}}
TURN = {"turn": lambda s: {"x": -s.q.y, "y": s.q.x, "phi": 1}}
SE2 = {**X, **Y, **TURN}


def carriage(force=None, inputs=()) -> ConstrainedSystem:
    """Paper 004, example VII.2."""
    def lagrangian(s):
        offset = s.p.m0 * s.p.l * s.v.phi * (s.v.y * ca.cos(s.q.phi) - s.v.x * ca.sin(s.q.phi))
        return (s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2 + offset + s.p.I * s.v.phi ** 2 / 2
                + s.p.C * (s.v.psi1 ** 2 + s.v.psi2 ** 2) / 2)

    system = lagrangian_system(euclidean("x", "y", "phi", "psi1", "psi2"), lagrangian,
                               parameters=tuple(CARRIAGE), force=force, inputs=inputs)
    return constrain(system, CARRIAGE, rows={
        "forward x": lambda s: s.v.x + s.p.a * ca.cos(s.q.phi) / 2 * (s.v.psi1 + s.v.psi2),
        "forward y": lambda s: s.v.y + s.p.a * ca.sin(s.q.phi) / 2 * (s.v.psi1 + s.v.psi2),
        "yaw": lambda s: s.v.phi + s.p.a / (2 * s.p.r) * (s.v.psi1 - s.v.psi2)})


def carriage_in_body_speeds() -> ConstrainedSystem:
    """The same carriage on SE(2) x S^1 x S^1, all angles embedded, with the chassis' speeds in its
    own frame."""
    space = product(special_euclidean_2(v_names=("forward", "lateral", "yaw"), embedded=True),
                    circle("psi1"), circle("psi2"))

    def lagrangian(s):
        return (s.p.m * (s.v.forward ** 2 + s.v.lateral ** 2) / 2
                + s.p.m0 * s.p.l * s.v.yaw * s.v.lateral
                + s.p.I * s.v.yaw ** 2 / 2 + s.p.C * (s.v.psi1 ** 2 + s.v.psi2 ** 2) / 2)

    return constrain(lagrangian_system(space, lagrangian, parameters=tuple(CARRIAGE)), CARRIAGE,
                     rows={
        "rolling": lambda s: s.v.forward + s.p.a / 2 * (s.v.psi1 + s.v.psi2),
        "lateral": lambda s: s.v.lateral,
        "yaw": lambda s: s.v.yaw + s.p.a / (2 * s.p.r) * (s.v.psi1 - s.v.psi2)})


def vertical_disk(m=1.3, R=0.4, I1=0.05, I2=0.1) -> ConstrainedSystem:
    """Paper 004, example VII.1."""
    numbers = {"m": m, "R": R, "I1": I1, "I2": I2}
    system = lagrangian_system(
        euclidean("x", "y", "theta1", "theta2"),
        lambda s: (
            (s.p.m * (s.v.x**2 + s.v.y**2) + s.p.I1 * s.v.theta1**2 + s.p.I2 * s.v.theta2**2) / 2
        ),
        parameters=tuple(numbers),
    )
    return constrain(system, numbers,
                     rows={"x": lambda s: s.v.x - s.p.R * ca.cos(s.q.theta1) * s.v.theta2,
                                            "y": lambda s: s.v.y
                                            - s.p.R * ca.sin(s.q.theta1) * s.v.theta2})


def sleigh(m=2.0, I=0.3, a=0.25) -> ConstrainedSystem:
    """Chaplygin's sleigh: blade at (x, y), centre of mass a ahead of it."""
    def lagrangian(s):
        x, y = s.v.x - a * ca.sin(s.q.phi) * s.v.phi, s.v.y + a * ca.cos(s.q.phi) * s.v.phi
        return m * (x ** 2 + y ** 2) / 2 + I * s.v.phi ** 2 / 2

    return constrain(lagrangian_system(euclidean("x", "y", "phi"), lagrangian),
                     rows={"blade": lambda s: s.v.y * ca.cos(s.q.phi) - s.v.x * ca.sin(s.q.phi)})


def particle() -> ConstrainedSystem:
    """z' = y x' (paper 002, example 7.1)."""
    return constrain(lagrangian_system(euclidean("x", "y", "z"),
                                       lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2),
                     rows={"slope": lambda s: s.v.z - s.q.y * s.v.x})


def skate_with_flywheel() -> ConstrainedSystem:
    """A knife edge that carries a wheel whose spin w is coupled to where it is: d/dw lies in the
    distribution."""
    free = lagrangian_system(
        euclidean("x", "y", "phi", "w"),
        lambda s: (
            (
                s.v.x**2
                + s.v.y**2
                + s.v.phi**2
                + 3 * s.v.w**2
                + s.v.w * (s.v.x * ca.sin(s.q.y) + s.v.phi * ca.cos(s.q.x))
            )
            / 2
        ),
    )
    return constrain(free,
                     rows={"skate": lambda s: s.v.y * ca.cos(s.q.phi) - s.v.x * ca.sin(s.q.phi)})


def rigid_body() -> ConstrainedSystem:
    """A free rigid body on SO(3), angular velocity in the body."""
    return constrain(lagrangian_system(special_orthogonal(), lambda s: (
        INERTIA[0] * s.v.wx ** 2 + INERTIA[1] * s.v.wy ** 2 + INERTIA[2] * s.v.wz ** 2) / 2))


def capri_kobayashi(polar: bool, m2=0.7, m3=1.6) -> ConstrainedSystem:
    """Paper 004, section VII.A, on its final constraint manifold x1 = y1 = 0; mass of each
    oscillator is 2 m_i."""
    names = ("x1", "y1", "r2", "w2", "r3", "w3") if polar else ("x1", "y1", "x2", "y2", "x3", "y3")

    def lagrangian(s):
        total = -s.q.x1 ** 2 - s.q.y1 ** 2
        for m, i in ((m2, 2), (m3, 3)):
            if polar:
                r, r_rate, w = (getattr(part, name)
                                for part, name in ((s.q, f"r{i}"), (s.v, f"r{i}"), (s.v, f"w{i}")))
                total += m * (r_rate ** 2 + r ** 2 * w ** 2) + r ** 2 * w - r ** 2
            else:
                x, y, vx, vy = (getattr(part, f"{axis}{i}") for part in (s.q, s.v) for axis in "xy")
                total += m * (vx ** 2 + vy ** 2) + vy * x - vx * y - x ** 2 - y ** 2
        return total

    samples = np.random.default_rng(0).uniform(0.3, 1.5, (8, 6))
    samples[:, :2] = 0
    system = lagrangian_system(euclidean(*names), lagrangian)
    return constrain(system, holonomic={"x1": lambda s: s.q.x1, "y1": lambda s: s.q.y1},
                     samples=samples)


SPIN = {"w": lambda s: {"w": 1}}
TORUS = {f"turn {i}": lambda s,
         i=i: {f"x{i}": -getattr(s.q, f"y{i}"), f"y{i}": getattr(s.q, f"x{i}")} for i in (2, 3)}
POLAR_TORUS = {f"turn {i}": lambda s, i=i: {f"w{i}": 1} for i in (2, 3)}
