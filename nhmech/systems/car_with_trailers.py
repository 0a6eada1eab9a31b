"""Car with n trailers, hitched on the axle ahead or behind it."""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from ..mechanics.writing import Symbols, constrain, lagrangian_system
from ._checks import imbalance
from ._planar import PlanarMotion, base, deck, wheels, with_joints
from .example import Check, Example
from .shapes import GREY, ORANGE

# car: mass, inertia about its centre of mass, that ahead of the rear axle, wheelbase, inertia of
# the steered wheel
# about its kingpin; each trailer: hitch behind the axle ahead, drawbar from hitch to axle, mass,
# inertia, centre of
# mass ahead of its axle [kg, m, kg m^2]
CAR = dict(mass=400.0, inertia=120.0, ahead=0.5, wheelbase=1.1, steering_inertia=0.8)
TRAILER = dict(behind=0.35, drawbar=1.2, mass=110.0, inertia=18.0, ahead=0.05)
SOURCE = ("Altafini, IEEE Trans. Robotics and Automation 17 (2001) 630 (general n-trailer); "
          "Sordalen 1993 (on-axle)")


def example(n: int = 2, **parameters: float) -> Example:
    """Kinetic energy of n + 1 bodies in the plane and a steered wheel; no axle moves sideways.
    u = thrust [N], steering torque [N m].

    The car has one steered wheel in front; hitch_i is the angle of trailer i against the body
    ahead, behind_i its hitch behind that body's axle (0: on-axle; the first one is), drawbar_i from
    hitch to axle; further trailer_i parameters mass_i, inertia_i, ahead_i. With V_0 =
    forward_speed, W_0 = V_0 tan(steering) / wheelbase, and h, e, d of trailer i::

        V_i = V_{i-1} cos h - e W_{i-1} sin h
        W_i = -(V_{i-1} sin h + e W_{i-1} cos h) / d
        h' = W_i - W_{i-1}

    d/dt T = thrust V_0 + torque steering', and I_s (W_0 + steering')' = torque: two speeds, two
    equations.

    Raises
    ------
    MechanicsError
        For n < 0.
    """
    if n < 0 or n != int(n):
        raise MechanicsError(f"a car has n = 0, 1, 2, ... trailers, not {n}")
    numbers = CAR | {f"{name}_{i}": value for i in range(1, n + 1)
                     for name, value in TRAILER.items()}
    numbers |= {"behind_1": 0.0} if n else {}
    space = with_joints("steering", *[f"hitch_{i}" for i in range(1, n + 1)])
    train = lagrangian_system(space, lambda s: _energy(s, n), parameters=tuple(numbers),
                              inputs=("thrust", "steering"),
                              force=lambda s: {"forward_speed": s.u.thrust,
                                               "steering": s.u.steering})
    rng = np.random.default_rng(0)
    rows = {f"trailer_{i}": lambda s, i=i: list(_axles(s, n))[i].lateral for i in range(1, n + 1)}
    samples = np.column_stack([rng.normal(size=(8, 3)), rng.uniform(-0.8, 0.8, (8, n + 1))])
    constrained = constrain(train, numbers | parameters, samples=samples, rows={
        "rear": lambda s: s.v.lateral_speed,
        "front": lambda s: base(s).at(s.p.wheelbase).hinge(s.q.steering, 0).lateral, **rows})
    checks = (Check("angles of the chain", SOURCE, 1e-11,
                    lambda: imbalance(made, lambda s: _angles(s, n), lambda s: _rates(s, n))),
              Check("power is the rate of energy", "d'Alembert", 1e-10,
                    lambda: imbalance(made, lambda s: _energy(s, n), _power)),
              Check("steering turns its wheel alone", "d'Alembert", 1e-11,
                    lambda: imbalance(made, _spin, lambda s: s.u.steering)))
    made = Example("car_with_trailers", f"Car with {n} trailers, on- and off-axle hitches", SOURCE,
                   constrained, {"q": (0.0, 0.0, 0.0, 0.3, *[-0.1] * n), "xi": (1.5, 0.1)}, checks,
                   speeds=("forward_speed", "steering"), shapes=_shapes(numbers | parameters, n))
    return made


def _axles(s: Symbols, n: int) -> Iterator[PlanarMotion]:
    """Of the middle of the car's rear axle and of every trailer's."""
    here, p = base(s), vars(s.p)
    yield here
    for i in range(1, n + 1):
        angle, rate = vars(s.q)[f"hitch_{i}"], vars(s.v)[f"hitch_{i}"]
        here = here.at(-p[f"behind_{i}"]).hinge(angle, rate).at(-p[f"drawbar_{i}"])
        yield here


def _energy(s: Symbols, n: int) -> ca.SX:
    car, *trailers = _axles(s, n)
    p = vars(s.p)
    chain = sum(trailer.at(p[f"ahead_{i}"]).energy(p[f"mass_{i}"], p[f"inertia_{i}"])
                for i, trailer in enumerate(trailers, 1))
    wheel = s.p.steering_inertia * (car.turn + s.v.steering) ** 2 / 2
    return car.at(s.p.ahead).energy(s.p.mass, s.p.inertia) + wheel + chain


def _power(s: Symbols) -> ca.SX:
    return s.u.thrust * s.v.forward_speed + s.u.steering * s.v.steering


def _spin(s: Symbols) -> ca.SX:
    return s.p.steering_inertia * (s.v.yaw_rate + s.v.steering)


def _angles(s: Symbols, n: int) -> ca.SX:
    return ca.vertcat(s.q.yaw, *[vars(s.q)[f"hitch_{i}"] for i in range(1, n + 1)])


def _rates(s: Symbols, n: int) -> ca.SX:
    """By the recursion of the docstring, from the car to the last trailer."""
    V, W, p = s.v.forward_speed, s.v.forward_speed * ca.tan(s.q.steering) / s.p.wheelbase, vars(s.p)
    rates = [W]
    for i in range(1, n + 1):
        c, sn, e = (ca.cos(vars(s.q)[f"hitch_{i}"]), ca.sin(vars(s.q)[f"hitch_{i}"]),
                    p[f"behind_{i}"])
        before = W
        V, W = V * c - e * W * sn, -(V * sn + e * W * c) / p[f"drawbar_{i}"]
        rates.append(W - before)
    return ca.vertcat(*rates)


def _shapes(p: dict, n: int) -> tuple:
    def place(i: int):
        """Axle (x, y, heading) of the i-th body."""
        def at(q):
            x, y, heading = q[:3]
            for k in range(1, i + 1):
                x, y = (x - p[f"behind_{k}"] * np.cos(heading),
                        y - p[f"behind_{k}"] * np.sin(heading))
                heading = heading + q[3 + k]
                x, y = (x - p[f"drawbar_{k}"] * np.cos(heading),
                        y - p[f"drawbar_{k}"] * np.sin(heading))
            return x, y, heading
        return at

    def front(q):
        return (q[0] + p["wheelbase"] * np.cos(q[2]), q[1] + p["wheelbase"] * np.sin(q[2]),
                q[2] + q[3])

    car, shapes = place(0), list(wheels(front, 0.0, 0.0, 0.2))
    shapes += [*wheels(car, 0.0, 0.42, 0.2),
               deck(car, -0.2, p["wheelbase"] + 0.3, 0.7, 0.35, ORANGE)]
    for i in range(1, n + 1):
        shapes += [*wheels(place(i), 0.0, 0.42, 0.2), deck(place(i), -0.35, 0.45, 0.75, 0.3)]
        shapes.append(deck(place(i), 0.45, p[f"drawbar_{i}"], 0.06, 0.2, GREY))
    return tuple(shapes)
