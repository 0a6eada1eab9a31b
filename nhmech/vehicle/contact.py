"""Rolling contact: contact point, rows and height of every kind of wheel.

The contact point is the material point of the wheel that touches the ground now. Its position along
the rim is a function of the configuration, so the time derivative of the rows contains the
migration of the contact point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..urdf.wheel import Wheel
from .context import BuildContext
from .model import joint_axis
from .tree import Body

ROUNDING = 1e-14      # smaller entries of unit vectors, or of lengths [m], are rounding errors of 0


@dataclass(frozen=True)
class Mount:
    """How a wheel is mounted: the body that carries it (and does not spin with it), and the wheel's
    centre and axle in the frame of that body.
    """

    wheel: Wheel
    body: int  # index of the carrying joint
    centre: np.ndarray  # C (3,) [m]
    axle: np.ndarray | None  # unit (3,), or None for a ball without axle
    spin: int | None  # index in v of the wheel's own rate; None if the carrier itself rolls


@dataclass(frozen=True)
class Contact:
    """A wheel on the ground, all vectors in the frame of the carrying body."""

    mount: Mount
    point: ca.SX  # K, the contact point
    # unit vectors: "normal", "longitudinal", "lateral", "roller" of a mecanum wheel
    directions: dict[str, ca.SX]
    velocity: ca.SX  # of the wheel's material at K relative to the ground [m/s]
    speeds: dict[str, ca.SX]  # components of the velocity
    advance: ca.SX  # longitudinal speed of the wheel's centre over the ground at K [m/s]
    height: ca.SX  # of the lowest point above the ground [m]
    sine: ca.SX | None  # |axle x n|, zero if the wheel lies on its side; None for balls

    def __repr__(self) -> str:
        return f"<Contact of {self.mount.wheel!r}>"

    @property
    def name(self) -> str:
        return self.mount.wheel.name

    @property
    def held(self) -> tuple[str, ...]:
        """Directions without slip, the normal first."""
        return ("normal", *self.mount.wheel.held)

    def speed(self, direction: str) -> ca.SX:
        """Component of the contact point's velocity [m/s]; zero for the held directions."""
        return self.speeds[direction]


def mounts(model: pin.Model, wheels: Sequence[Wheel]) -> tuple[Mount, ...]:
    """One `Mount` for each wheel. Raises `ModelError` if a link does not turn with its joint."""
    return tuple(_mount(model, wheel) for wheel in wheels)


def _mount(model: pin.Model, wheel: Wheel) -> Mount:
    frame = _link_frame(model, wheel)
    point = np.zeros(3) if wheel.point is None else np.array(wheel.point)
    centre = frame.placement.act(point)
    if wheel.joint is None:
        axle = None
        if wheel.axis is not None and not wheel.traits.is_ball:
            axle = frame.placement.rotation @ wheel.axis
            axle = without_rounding(axle / np.linalg.norm(axle))
        return Mount(wheel, frame.parentJoint, without_rounding(centre), axle, None)
    joint = model.getJointId(wheel.joint)
    if frame.parentJoint != joint:
        raise ModelError(f"wheel {wheel.name!r}: link {wheel.link!r} does not turn with joint "
                         f"{wheel.joint!r}")
    axis, placement = joint_axis(model, joint), model.jointPlacements[joint]
    # the point on the axle, which does not depend on the angle of the wheel
    centre = placement.act(axis * (axis @ centre))
    return Mount(wheel, model.parents[joint], without_rounding(centre),
                 without_rounding(placement.rotation @ axis), model.joints[joint].idx_v)


def _link_frame(model: pin.Model, wheel: Wheel) -> pin.Frame:
    if wheel.link is None:
        joint = model.getJointId(wheel.joint)
        frames = [f for f in model.frames if f.type == pin.FrameType.BODY
                  and f.parentJoint == joint]
        if not frames:
            raise ModelError(f"wheel {wheel.name!r}: joint {wheel.joint!r} carries no link")
        return frames[0]
    if not model.existFrame(wheel.link, pin.FrameType.BODY):
        links = ", ".join(f.name for f in model.frames if f.type == pin.FrameType.BODY)
        raise ModelError(
            f"wheel {wheel.name!r}: there is no link {wheel.link!r}; links are {links}"
        )
    return model.frames[model.getFrameId(wheel.link, pin.FrameType.BODY)]


def without_rounding(vector: np.ndarray) -> np.ndarray:
    """A vector of unit size whose entries below `ROUNDING` are set to zero, so that they vanish
    from expressions."""
    return np.where(np.abs(vector) < ROUNDING, 0.0, vector)


def contact(context: BuildContext, mount: Mount, body: Body) -> Contact:
    """The contact of a mounted wheel; `body` is the one that carries it.

    With e, l the longitudinal and lateral directions, a = sine l + (a.n) n and K - C = -flat d -
    crown n, where d = e x a, the triple products omega x (K - C) . direction are written out::

        normal        flat (a.n) omega.e
        longitudinal  -omega.(flat a + crown l) - (flat + crown sine) phi'
        lateral       (flat sine + crown) omega.e

    omega is that of the carrying body, phi' the wheel's own rate.
    """
    wheel, n, v = mount.wheel, body.world["n"], context.v
    centre = ca.SX(ca.sparsify(ca.DM(mount.centre)))
    sine: ca.SX | int
    if mount.axle is None:
        sine, along, axle = 1, ca.SX(1, 1), ca.SX(3, 1)
        longitudinal, lateral = body.world["t1"], body.world["t2"]
    else:
        axle = ca.SX(ca.sparsify(ca.DM(mount.axle)))
        along = ca.sparsify(ca.dot(axle, n))
        longitudinal, sine = _rolling_direction(mount.axle, n, along)
        lateral = ca.cross(n, longitudinal) if along.nnz() else axle
    spin = v[mount.spin] if mount.spin is not None else ca.SX(1, 1)
    radius, crown = (context.parameters.get(f"{wheel.name}.{what}") for what in ("radius", "crown"))
    flat, crown = wheel.traits.profile(sine, along, radius, crown)
    drop = flat * sine + crown
    turn = ca.dot(body.omega, longitudinal)
    rolling = ca.dot(body.omega, flat * axle + crown * lateral) + (flat + crown * sine) * spin
    directions = {"normal": n, "longitudinal": longitudinal, "lateral": lateral}
    lift = {"normal": flat * along * turn, "longitudinal": -rolling, "lateral": drop * turn}
    arm = -flat * ca.cross(longitudinal, axle) - crown * n
    hub = body.velocity_of(centre) - _ground_velocity(context, body, centre + arm)
    velocity = hub + ca.cross(body.omega + spin * axle, arm)
    speeds = {name: ca.dot(hub, direction) + lift[name] for name, direction in directions.items()}
    if wheel.roller_angle is not None:
        s, c = np.sin(wheel.roller_angle), np.cos(wheel.roller_angle)
        directions["roller"] = s * longitudinal + c * lateral
        speeds["roller"] = s * speeds["longitudinal"] + c * speeds["lateral"]
    return Contact(mount, centre + arm, directions, velocity, speeds, ca.dot(hub, longitudinal),
                   ca.dot(n, body.position + centre) - drop, None if mount.axle is None else sine)


def _ground_velocity(context: BuildContext, body: Body, point: ca.SX) -> ca.SX:
    """Velocity of the ground's material at a point of the body, in the body's frame [m/s]."""
    velocity = body.world["velocity"] if any(context.ground.velocity) else ca.SX(3, 1)
    if not any(context.ground.angular_velocity):
        return velocity
    return velocity + ca.cross(body.world["turning"], body.position + point)


def _rolling_direction(axle: np.ndarray, n: ca.SX, along: ca.SX) -> tuple[ca.SX, ca.SX]:
    """unit(axle x n) and |axle x n|.

    |axle x n| needs no square root if the axle is structurally level, or if only one component of
    the product is structurally nonzero.
    """
    product = ca.sparsify(ca.cross(ca.SX(ca.sparsify(ca.DM(axle))), n))
    if not along.nnz():
        return product, ca.SX(1)
    rows = product.sparsity().row()
    if len(rows) == 1:
        k = rows[0]
        # upright vehicles have n near z
        sign = np.sign(np.cross(axle, (0.0, 0.0, 1.0))[k])
        if sign:
            direction = ca.SX(3, 1)
            direction[k] = sign
            return direction, sign * product[k]
    sine = ca.sqrt(ca.sumsqr(product))
    return product / sine, sine
