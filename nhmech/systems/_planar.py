"""Motion in the plane with velocities seen from the body: what the wheeled systems of this folder
are written in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..mechanics.algebroid import LieAlgebroid, line, product
from ..mechanics.algebroid_makers import special_euclidean_2
from ..mechanics.writing import Symbols
from .shapes import AXLE, BLUE, DARK, Color, Shape, pose


def with_joints(*names: str) -> LieAlgebroid:
    """A body in the plane, and angles [rad] of joints on it whose rates carry their names."""
    return product(special_euclidean_2(), *[line(name, "rad/s") for name in names])


@dataclass(frozen=True)
class PlanarMotion:
    """How a point of a body moves: its velocity ahead and to the left of the body [m/s],
    and the body's turning rate [rad/s]."""

    forward: ca.SX
    lateral: ca.SX
    turn: ca.SX

    def at(self, ahead, left=0) -> PlanarMotion:
        """Of the point `ahead` and to the `left` [m] of this one on the same body."""
        return PlanarMotion(self.forward - left * self.turn, self.lateral + ahead * self.turn,
                            self.turn)

    def hinge(self, angle, rate) -> PlanarMotion:
        """Of the same point on a second body, hinged here and turned by `angle` to the left."""
        c, s = ca.cos(angle), ca.sin(angle)
        return PlanarMotion(c * self.forward + s * self.lateral,
                            c * self.lateral - s * self.forward, self.turn + rate)

    def energy(self, mass, inertia) -> ca.SX:
        """Kinetic energy [J] of a body with its centre of mass here, `inertia` about the vertical
        through it."""
        return (mass * (self.forward ** 2 + self.lateral ** 2) + inertia * self.turn ** 2) / 2


def base(s: Symbols) -> PlanarMotion:
    """Of the origin of the first body."""
    return PlanarMotion(s.v.forward_speed, s.v.lateral_speed, s.v.yaw_rate)


def wheels(place: Callable[[np.ndarray], ArrayLike], ahead: float, half_track: float,
           radius: float) -> tuple[Shape, ...]:
    """Two wheels on an axle `ahead` of the place (x, y, heading) of a body, or one where the track
    is zero."""
    def at(left: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda q: _pose(place(q), radius) @ pose((ahead, left, 0)) @ AXLE

    return tuple(Shape("cylinder", (radius, 0.25 * radius), at(left), DARK, trail=True)
                 for left in sorted({half_track, -half_track}))


def deck(place: Callable[[np.ndarray], ArrayLike], back: float, front: float, width: float,
         height: float, color: Color = BLUE) -> Shape:
    """A flat box from `back` to `front` ahead of the place (x, y, heading) of a body."""
    return Shape("box", (front - back, width, 0.1 * width),
                 lambda q: _pose(place(q), height) @ pose(((back + front) / 2, 0, 0)), color)


def _pose(place: ArrayLike, height: float) -> np.ndarray:
    x, y, heading = np.asarray(place)
    return pose((x, y, height), heading)
