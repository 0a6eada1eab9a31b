"""Snakeboard: a board on two trucks that steer, driven by a rotor and the steering alone."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import imbalance
from ._planar import PlanarMotion, base, deck, wheels, with_joints
from .example import Check, Example
from .shapes import GREY, ORANGE, Shape, pose

# total mass, inertias of board, rotor and each truck, distance of the trucks from the middle;
# J + J0 + 2 J1 = m r^2 as in the paper
NUMBERS = dict(m=4.0, J=0.09, J0=0.06, J1=0.005, r=0.2)
SOURCE = ("Bloch, Krishnaprasad, Marsden, Murray, Arch. Rational Mech. Anal. 136 (1996) 21, "
          "the snakeboard")


def example(trucks: str = "coupled", **parameters: float) -> Example:
    """L = m (x'^2 + y'^2) / 2 + J theta'^2 / 2 + J0 (theta' + psi')^2 / 2
    + J1 ((theta' + back')^2 + (theta' + front')^2) / 2.

    Neither truck moves sideways: -sin(theta + back) x' + cos(theta + back) y' - r cos(back) theta'
    = 0, and with +r for `front`. u = torques of the rotor and of the steering [N m]. The motion
    along the constraints that is a rigid one::

        xi_Q = a d/dx + b d/dy + c d/dtheta,    c = sin(back - front),
        (a, b) = -r (cos(back) (cos, sin)(theta + front) + cos(front) (cos, sin)(theta + back)),

    has the momentum p = dL/dq' . xi_Q, and p' = dL/dq' . (d xi/dt)_Q.
    With front = -back and J + J0 + 2 J1 = m r^2 that is p' = 2 J0 cos^2(back) back' psi' -
    tan(back) back' p.

    Parameters
    ----------
    trucks
        "coupled": front = -back, one steering torque; "independent": each truck has its own.

    Raises
    ------
    MechanicsError
        For other trucks.
    """
    if trucks not in ("coupled", "independent"):
        raise MechanicsError(f"trucks are 'coupled' or 'independent', not {trucks!r}")
    numbers, coupled = {**NUMBERS, **parameters}, trucks == "coupled"
    inputs = ("rotor", "back") if coupled else ("rotor", "back", "front")
    board = lagrangian_system(with_joints("rotor", "back", "front"), _energy,
                              parameters=tuple(NUMBERS), inputs=inputs, force=lambda s: vars(s.u))
    rng = np.random.default_rng(0)
    back = np.linspace(-1.2, 1.2, 8)
    front = -back if coupled else rng.uniform(-1.2, 1.2, 8)
    samples = np.column_stack([rng.normal(size=(8, 4)), back, front])
    steering = {"steering": lambda s: s.q.back + s.q.front} if coupled else {}
    constrained = constrain(board, numbers, samples=samples, holonomic=steering, rows={
        "back": lambda s: _truck(s, -1).lateral, "front": lambda s: _truck(s, 1).lateral})
    checks = [Check("power of the torques is the rate of energy", "d'Alembert", 1e-10,
                    lambda: imbalance(made, _energy, _power)),
              Check("momentum equation", SOURCE, 1e-10,
                    lambda: imbalance(made, _momentum, _momentum_rate))]
    if (coupled and abs(numbers["J"] + numbers["J0"] + 2 * numbers["J1"]
                        - numbers["m"] * numbers["r"] ** 2) < 1e-12):
        checks.append(Check("momentum equation of the coupled board", SOURCE, 1e-10,
                            lambda: imbalance(made, _momentum, _coupled_rate)))
    start = {"q": (0.0, 0.0, 0.0, 0.0, 0.4, -0.4),
             "xi": (0.3, 2.0, 0.2) if coupled else (0.3, 2.0, 0.2, -0.2)}
    made = Example("snakeboard", f"Snakeboard, {trucks} trucks", SOURCE, constrained, start,
                   tuple(checks), speeds=("forward_speed", *inputs), shapes=_shapes(numbers))
    return made


def _truck(s: Symbols, side: int) -> PlanarMotion:
    """Of the front (1) or back (-1) truck, seen from it."""
    angle, rate = (s.q.front, s.v.front) if side == 1 else (s.q.back, s.v.back)
    return base(s).at(side * s.p.r).hinge(angle, rate)


def _energy(s: Symbols) -> ca.SX:
    p, turn = s.p, s.v.yaw_rate
    trucks = (turn + s.v.back) ** 2 + (turn + s.v.front) ** 2
    return base(s).energy(p.m, p.J) + (p.J0 * (turn + s.v.rotor) ** 2 + p.J1 * trucks) / 2


def _power(s: Symbols) -> ca.SX:
    return sum((torque * vars(s.v)[name] for name, torque in vars(s.u).items()), ca.SX(0))


def _generator(s: Symbols) -> ca.SX:
    """(a, b, c) of xi_Q, (3,)."""
    ahead = [s.q.yaw + angle for angle in (s.q.front, s.q.back)]
    cosines = ca.cos(s.q.back), ca.cos(s.q.front)
    a, b = (-s.p.r * sum(cosine * f(angle)
                         for cosine, angle in zip(cosines, ahead)) for f in (ca.cos, ca.sin))
    return ca.vertcat(a, b, ca.sin(s.q.back - s.q.front))


def _canonical(s: Symbols) -> tuple[ca.SX, ca.SX]:
    """x', y', and dL/d(x', y', theta'), in the world's axes."""
    c, sn, v = ca.cos(s.q.yaw), ca.sin(s.q.yaw), s.v
    velocity = ca.vertcat(c * v.forward_speed - sn * v.lateral_speed,
                          sn * v.forward_speed + c * v.lateral_speed)
    spin = s.p.J * v.yaw_rate + s.p.J0 * (v.yaw_rate
                                          + v.rotor) + s.p.J1 * (2 * v.yaw_rate + v.back + v.front)
    return velocity, ca.vertcat(s.p.m * velocity, spin)


def _momentum(s: Symbols) -> ca.SX:
    return ca.dot(_canonical(s)[1], _generator(s))


def _momentum_rate(s: Symbols) -> ca.SX:
    """dL/dq' . (d xi/dt)_Q: xi = (a + y c, b - x c, c) in se(2),
    and (xi1, xi2, xi3)_Q = (xi1 - y xi3, xi2 + x xi3, xi3)."""
    velocity, momentum = _canonical(s)
    generator = _generator(s)
    angles, rates = ca.vertcat(s.q.yaw, s.q.back,
                               s.q.front), ca.vertcat(s.v.yaw_rate, s.v.back, s.v.front)
    rate = ca.jtimes(generator, angles, rates)
    return ca.dot(momentum, rate + generator[2] * ca.vertcat(velocity[1], -velocity[0], 0))


def _coupled_rate(s: Symbols) -> ca.SX:
    angle, rate = s.q.back, s.v.back
    return 2 * s.p.J0 * ca.cos(angle) ** 2 * rate * s.v.rotor - ca.tan(angle) * rate * _momentum(s)


def _shapes(p: dict) -> tuple:
    def truck(side: int):
        return lambda q: (q[0] + side * p["r"] * np.cos(q[2]), q[1] + side * p["r"] * np.sin(q[2]),
                          q[2] + q[5 if side == 1 else 4])

    rotor = Shape("box", (0.06, 1.6 * p["r"], 0.03),
                  lambda q: pose((q[0], q[1], 0.14), q[2] + q[3]), ORANGE)
    shapes = [deck(lambda q: q[:3], -1.3 * p["r"], 1.3 * p["r"], 0.14, 0.09), rotor]
    for side in (1, -1):
        shapes += [*wheels(truck(side), 0.0, 0.08, 0.03),
                   deck(truck(side), -0.03, 0.03, 0.14, 0.05, GREY)]
    return tuple(shapes)
