"""Rolling contact: contact point, rows and height of every kind of wheel.

The contact is the material point of the wheel that touches now. Its position along the rim is a
function of the configuration, so the time derivative of the rows contains the migration of the
contact point.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..urdf.description import Description
from ..urdf.wheel import Wheel
from .model import joint_axis
from .tree import Body


@dataclass(frozen=True)
class Mount:
    """Where a wheel sits: the body that carries it (and does not spin with it), centre and axle in
    that body's frame.

    Attributes
    ----------
    body
        Index of the carrying joint.
    centre
        C (3,) [m].
    axle
        Unit (3,), or None for a ball without axle.
    spin
        Index in v of the wheel's own rate, or None where the carrier itself rolls.
    """

    wheel: Wheel
    body: int
    centre: np.ndarray
    axle: np.ndarray | None
    spin: int | None


@dataclass(frozen=True)
class Contact:
    """A wheel on the ground, all vectors in the frame of the carrying body.

    Attributes
    ----------
    point
        K, the contact point.
    directions
        Name -> unit vector: "normal", "longitudinal", "lateral", and "roller" for a mecanum wheel.
    velocity
        Of the wheel's material at K, relative to the ground's [m/s].
    speeds
        Name -> component of that velocity.
    height
        Of the lowest point above the ground [m].
    sine
        |axle x n|: zero where there is no contact point; None for balls.
    """

    mount: Mount
    point: ca.SX
    directions: dict[str, ca.SX]
    velocity: ca.SX
    speeds: dict[str, ca.SX]
    height: ca.SX
    sine: ca.SX | None

    @property
    def name(self) -> str:
        return self.mount.wheel.name

    @property
    def held(self) -> tuple[str, ...]:
        """Directions without slip, the normal first."""
        return ("normal", *self.mount.wheel.traits.held)

    def speed(self, direction: str) -> ca.SX:
        """Component of the contact point's velocity [m/s]; zero for the held directions."""
        return self.speeds[direction]


def contact(mount: Mount, body: Body, v: ca.SX, radius, crown, ground_velocity) -> Contact:
    """The contact of a mounted wheel.

    With e, l the longitudinal and lateral directions, a = sine l + (a.n) n and K - C = -(r - rc) d
    - rc n, where d = e x a, the triple products omega x (K - C) . direction are written out::

        normal        (r - rc) (a.n) omega.e
        longitudinal  -omega.((r - rc) a + rc l) - ((r - rc) + rc sine) phi'
        lateral       ((r - rc) sine + rc) omega.e

    omega is that of the carrying body, phi' the wheel's own rate.

    Parameters
    ----------
    ground_velocity
        In the body's frame: point (3,) from the ground's reference point -> velocity of its
        material there.
    """
    wheel, n = mount.wheel, body.world["n"]
    centre = ca.SX(ca.sparsify(ca.DM(mount.centre)))
    if mount.axle is None:
        sine, along, axle = None, 0, ca.SX(3, 1)
        longitudinal, lateral = body.world["t1"], body.world["t2"]
    else:
        axle = ca.SX(ca.sparsify(ca.DM(mount.axle)))
        along = ca.sparsify(ca.dot(axle, n))
        longitudinal, sine = _rolling_direction(mount.axle, n, along)
        lateral = ca.cross(n, longitudinal) if along.nnz() else axle
    spin = v[mount.spin] if mount.spin is not None else 0
    flat, crown = wheel.traits.profile(1 if sine is None else sine, along, radius, crown)
    drop = flat * sine + crown if mount.axle is not None else crown
    turn = ca.dot(body.omega, longitudinal)
    rim = flat + (crown * sine if sine is not None else 0)
    rolling = ca.dot(body.omega, flat * axle + crown * lateral) + rim * spin
    directions = {"normal": n, "longitudinal": longitudinal, "lateral": lateral}
    lift = {"normal": flat * along * turn, "longitudinal": -rolling, "lateral": drop * turn}
    arm = -(flat * ca.cross(longitudinal, axle) if mount.axle is not None else 0) - crown * n
    hub = body.velocity_of(centre) - ground_velocity(body, body.position + centre + arm)
    velocity = hub + ca.cross(body.omega + spin * axle, arm)
    speeds = {name: ca.dot(hub, direction) + lift[name] for name, direction in directions.items()}
    if "roller" in wheel.traits.held:
        s, c = np.sin(wheel.roller_angle), np.cos(wheel.roller_angle)
        directions["roller"] = s * longitudinal + c * lateral
        speeds["roller"] = s * speeds["longitudinal"] + c * speeds["lateral"]
    return Contact(mount, centre + arm, directions, velocity, speeds,
                   ca.dot(n, body.position + centre) - drop, sine)


def _rolling_direction(axle: np.ndarray, n: ca.SX, along: ca.SX) -> tuple[ca.SX, ca.SX]:
    """unit(axle x n) and |axle x n|.

    The size needs no root where the axle is level by structure, or all but one component of the
    product are zero so.
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


def mounts(model: pin.Model, description: Description) -> tuple[Mount, ...]:
    """One `Mount` for each wheel. Raises `ModelError` where a wheel's link does not turn with its
    joint."""
    return tuple(_mount(model, wheel) for wheel in description.wheels)


def _mount(model: pin.Model, wheel: Wheel) -> Mount:
    frame = _link_frame(model, wheel)
    point = np.zeros(3) if wheel.point is None else np.asarray(wheel.point, dtype=float)
    centre = frame.placement.act(point)
    if wheel.joint is None:
        ball = wheel.axis is None or wheel.traits.is_ball
        axle = None
        if not ball:
            axle = frame.placement.rotation @ wheel.axis
            axle = _clean(axle / np.linalg.norm(axle))
        return Mount(wheel, frame.parentJoint, _clean(centre), axle, None)
    joint = model.getJointId(wheel.joint)
    if frame.parentJoint != joint:
        raise ModelError(f"wheel {wheel.name!r}: link {wheel.link!r} does not turn with joint "
                         f"{wheel.joint!r}")
    axis = joint_axis(model, joint)
    placement = model.jointPlacements[joint]
    # on the axle, where it does not depend on the wheel's angle
    centre = placement.act(axis * (axis @ centre))
    return Mount(wheel, model.parents[joint], _clean(centre), _clean(placement.rotation @ axis),
                 model.joints[joint].idx_v)


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


def body_names(model: pin.Model) -> list[str]:
    """The link that names each joint's body, index 0 for the universe."""
    names = ["universe"] + [""] * (model.njoints - 1)
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and not names[frame.parentJoint]:
            names[frame.parentJoint] = frame.name
    return names


def _clean(vector: np.ndarray) -> np.ndarray:
    """Entries that are rounding noise of a unit-sized number become zero, so that they leave the
    expressions."""
    return np.where(np.abs(vector) < 1e-15, 0.0, vector)
