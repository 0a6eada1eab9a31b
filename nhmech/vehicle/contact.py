"""Rolling contact: contact point, rows and height of every kind of wheel.

The contact is the material point of the wheel that touches now. Its position along the rim is a function of the configuration, so
the time derivative of the rows contains the migration of the contact point.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from .tree import Body
from .wheel import Wheel

# which tangential directions a kind holds still
HELD = {"disc": ("longitudinal", "lateral"), "torus": ("longitudinal", "lateral"), "sphere": ("longitudinal", "lateral"),
        "caster_ball": (), "omni": ("longitudinal",), "mecanum": ("roller",), "blade": ("lateral",)}


@dataclass(frozen=True)
class Mount:
    """Where a wheel sits: the body that carries it (and does not spin with it), centre and axle in that body's frame.

    body    index of the carrying joint
    centre  C (3,) [m]
    axle    unit (3,), or None for a ball without axle
    spin    index in v of the wheel's own rate, or None where the carrier itself rolls
    """

    wheel: Wheel
    body: int
    centre: np.ndarray
    axle: np.ndarray | None
    spin: int | None


@dataclass(frozen=True)
class Contact:
    """A wheel on the ground, all vectors in the frame of the carrying body.

    point       K, the contact point
    velocity    of the wheel's material at K, relative to the ground's [m/s]
    directions  name -> unit vector: "normal", "longitudinal", "lateral", and "roller" for a mecanum wheel
    height      of the lowest point above the ground [m]
    sine        |axle x n|: zero where there is no contact point; None for balls
    """

    mount: Mount
    point: ca.SX
    velocity: ca.SX
    directions: dict[str, ca.SX]
    height: ca.SX
    sine: ca.SX | None

    @property
    def name(self) -> str:
        return self.mount.wheel.name

    @property
    def held(self) -> tuple[str, ...]:
        """Directions without slip, the normal first."""
        return ("normal", *HELD[self.mount.wheel.kind])

    def speed(self, direction: str) -> ca.SX:
        """Component of the contact point's velocity [m/s]; zero for the held directions."""
        return ca.dot(self.velocity, self.directions[direction])


def contact(mount: Mount, body: Body, v: ca.SX, radius, crown, ground_velocity) -> Contact:
    """The contact of a mounted wheel.

    ground_velocity  point (3,) from the ground's reference point, in the body's frame -> velocity of the ground's material there
    """
    wheel, n = mount.wheel, body.world["n"]
    centre = ca.SX(ca.sparsify(ca.DM(mount.centre)))
    omega = body.omega
    sine = None
    if mount.axle is None:
        longitudinal, lateral = body.world["t1"], body.world["t2"]
    else:
        axle = ca.SX(ca.sparsify(ca.DM(mount.axle)))
        longitudinal, sine = _rolling_direction(mount.axle, n)
        lateral = ca.cross(n, longitudinal)
        if mount.spin is not None:
            omega = omega + axle * v[mount.spin]
    if wheel.kind in ("sphere", "caster_ball"):
        lever, drop = -radius * n, radius
    elif wheel.kind == "blade":
        lever, drop = ca.SX(3, 1), 0
    else:
        down = ca.cross(axle, longitudinal)
        lever, drop = (radius - crown) * down - crown * n, (radius - crown) * sine + crown
    directions = {"normal": n, "longitudinal": longitudinal, "lateral": lateral}
    if wheel.kind == "mecanum":
        directions["roller"] = np.sin(wheel.roller_angle) * longitudinal + np.cos(wheel.roller_angle) * lateral
    point = centre + lever
    velocity = body.velocity_of(centre) + ca.cross(omega, lever) - ground_velocity(body, body.position + point)
    return Contact(mount, point, velocity, directions, ca.dot(n, body.position + centre) - drop, sine)


def _rolling_direction(axle: np.ndarray, n: ca.SX) -> tuple[ca.SX, ca.SX]:
    """unit(axle x n) and |axle x n|.

    Where the axle is level by structure, or all but one component of the product are structurally zero, the size needs no root.
    """
    if not ca.sparsify(ca.dot(ca.SX(ca.sparsify(ca.DM(axle))), n)).nnz():
        return ca.cross(ca.SX(ca.sparsify(ca.DM(axle))), n), ca.SX(1)
    product = ca.sparsify(ca.cross(ca.SX(ca.sparsify(ca.DM(axle))), n))
    rows = product.sparsity().row()
    if len(rows) == 1:
        k = rows[0]
        sign = np.sign(np.cross(axle, (0.0, 0.0, 1.0))[k])              # upright vehicles have n near z
        if sign:
            direction = ca.SX(3, 1)
            direction[k] = sign
            return direction, sign * product[k]
    sine = ca.sqrt(ca.sumsqr(product))
    return product / sine, sine
