"""A ball on a plane: its place x, y, a quaternion for its attitude, and rolling. No angle is
singular."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..mechanics.algebroid import LieAlgebroid, euclidean, product, rotation
from ..mechanics.algebroid_makers import special_orthogonal
from ..mechanics.writing import Scalar, Symbols
from .shapes import BLUE, ORANGE, Shape, matrix_of, placed

RATES = ("wx", "wy", "wz")          # the angular velocity's components


def ball_space(world: bool = False) -> LieAlgebroid:
    """R^2 x SO(3): q = (x, y [m], quaternion from body to world), v = (x', y' [m/s], wx, wy, wz
    [rad/s]).

    The angular velocity is taken in the body, or in the world, where a homogeneous ball needs no
    attitude for its dynamics: then dR/dt = hat(w) R, and the structure functions, those of
    right-invariant fields, have the other sign.
    """
    turning = special_orthogonal()
    if world:
        x, y, z, w = (turning.q[i] for i in range(4))
        rows = ca.horzcat(w, z, -y), ca.horzcat(-z, w,
                                                x), ca.horzcat(y, -x, w), ca.horzcat(-x, -y, -z)
        anchor = ca.vertcat(*rows) / 2
        turning = replace(turning, anchor=anchor, structure=tuple(-c for c in turning.structure))
    return product(euclidean("x", "y", units=("m/s", "m/s")), turning)


def body_rotation(s: Symbols) -> ca.SX:
    """R (3, 3) from body to world."""
    return rotation(ca.vertcat(s.q.qx, s.q.qy, s.q.qz, s.q.qw))


def spin(s: Symbols) -> ca.SX:
    """wx, wy, wz (3,) [rad/s]."""
    return ca.vertcat(s.v.wx, s.v.wy, s.v.wz)


def rolling(table_rate: Scalar = lambda s: ca.SX(0), world: bool = False) -> dict[str, Scalar]:
    """v_C + omega x (-r n) = table_rate n x (x, y), n along z and r = s.p.r.

    The multipliers are the force of the plane, world components [N].
    """
    def omega(s: Symbols) -> ca.SX:
        return spin(s) if world else body_rotation(s) @ spin(s)

    return {"rolling_x": lambda s: s.v.x - s.p.r * omega(s)[1] + table_rate(s) * s.q.y,
            "rolling_y": lambda s: s.v.y + s.p.r * omega(s)[0] - table_rate(s) * s.q.x}


def ball_shapes(radius: float) -> tuple[Shape, ...]:
    """The ball, and two bars through it that show its attitude."""
    def at(q: np.ndarray) -> np.ndarray:
        return placed(matrix_of(q[2:6]), (q[0], q[1], radius))

    long, thick = 2.04 * radius, 0.3 * radius
    return (Shape("sphere", (radius,), at, BLUE, trail=True),
            Shape("box", (long, thick, thick), at, ORANGE),
            Shape("box", (thick, thick, long), at, ORANGE))
