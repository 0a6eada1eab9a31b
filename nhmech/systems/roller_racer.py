"""Roller racer: two planar bodies on an axle each, hinged to one another, moved by its
handlebar."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import imbalance
from ._planar import PlanarMotion, base, deck, wheels, with_joints
from .example import Check, Example
from .shapes import ORANGE

# rear and front masses and inertias (each mass sits on its axle), hinge ahead of the rear
# axle, front axle ahead of the hinge
NUMBERS = dict(m1=2.0, I1=0.08, m2=0.0, I2=0.01, d1=0.35, d2=0.12)
SOURCE = "Krishnaprasad and Tsakiris, Dynamical Systems 16 (2001) 347"


def example(driven: bool = False, **parameters: float) -> Example:
    """T of both bodies; neither axle moves sideways. u = torque of the joint on the front body [N
    m].

    With u = forward_speed, phi = joint: (d1 cos phi + d2) theta' = u sin phi - d2 phi',
    and for m2 = 0 the momentum along that motion::

        p = m1 u (d1 cos phi + d2) + (I1 theta' + I2 (theta' + phi')) sin phi,
        p' = -m1 u d1 sin(phi) phi' + (I1 theta' + I2 (theta' + phi')) cos(phi) phi'.

    Parameters
    ----------
    driven
        The joint follows 0.5 cos(2.5 t), a rheonomic constraint whose multiplier is the torque;
        else it is free.
    """
    numbers = {**NUMBERS, **parameters}
    racer = lagrangian_system(with_joints("joint"), _energy, parameters=tuple(NUMBERS),
                              inputs=("torque",), force=lambda s: {"joint": s.u.torque})
    handlebar = {"joint": lambda s: s.q.joint - 0.5 * ca.cos(2.5 * s.t)} if driven else {}
    rng = np.random.default_rng(0)
    samples = np.column_stack([rng.normal(size=(8, 3)),
                               np.full(8, 0.5) if driven else rng.uniform(-3, 3, 8)])
    constrained = constrain(racer, numbers, samples=samples, holonomic=handlebar, rows={
        "rear": lambda s: s.v.lateral_speed, "front": lambda s: _front(s).lateral})
    start = {"q": (0.0, 0.0, 0.0, 0.5),
             "xi": (0.0,)} if driven else {"q": (0.0, 0.0, 0.0, 0.4), "xi": (0.5, 0.2)}

    checks = []
    if not driven:
        checks.append(Check("power of the joint is the rate of energy", "d'Alembert", 1e-10,
                            lambda: imbalance(made, _energy, _power)))
    if numbers["m2"] == 0:
        checks.append(Check("momentum equation", f"{SOURCE}; in the docstring", 1e-10,
                            lambda: imbalance(made, _momentum, _momentum_rate)))
    made = Example("roller_racer", "Roller racer", SOURCE, constrained, start, tuple(checks),
                   speeds=("forward_speed",) if driven else ("forward_speed", "yaw_rate"),
                   shapes=_shapes(numbers))
    return made


def _front(s: Symbols) -> PlanarMotion:
    """Of the front axle, across which the front body cannot move."""
    return base(s).at(s.p.d1).hinge(s.q.joint, s.v.joint).at(s.p.d2)


def _spin(s: Symbols) -> ca.SX:
    return s.p.I1 * s.v.yaw_rate + s.p.I2 * (s.v.yaw_rate + s.v.joint)


def _momentum(s: Symbols) -> ca.SX:
    p, phi = s.p, s.q.joint
    return p.m1 * s.v.forward_speed * (p.d1 * ca.cos(phi) + p.d2) + _spin(s) * ca.sin(phi)


def _momentum_rate(s: Symbols) -> ca.SX:
    p, phi = s.p, s.q.joint
    return s.v.joint * (ca.cos(phi) * _spin(s) - p.m1 * s.v.forward_speed * p.d1 * ca.sin(phi))


def _energy(s: Symbols) -> ca.SX:
    return base(s).energy(s.p.m1, s.p.I1) + _front(s).energy(s.p.m2, s.p.I2)


def _power(s: Symbols) -> ca.SX:
    return s.u.torque * s.v.joint


def _shapes(p: dict) -> tuple:
    def place_front(q: np.ndarray) -> tuple[float, float, float]:
        return (q[0] + p["d1"] * np.cos(q[2]), q[1] + p["d1"] * np.sin(q[2]), q[2] + q[3])

    front, rear = p["d2"], lambda q: q[:3]
    return (*wheels(rear, 0.0, 0.12, 0.05), deck(rear, -0.08, p["d1"], 0.16, 0.07),
            *wheels(place_front, front, 0.1, 0.05),
            deck(place_front, -0.05, front + 0.05, 0.1, 0.09, ORANGE))
