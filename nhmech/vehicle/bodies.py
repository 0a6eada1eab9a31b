"""Points of a vehicle's bodies that can touch the ground: corners, balls, and rims of cylinders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import casadi as ca
import coal
import numpy as np
import pinocchio as pin

from ..urdf.notice import Notice
from .clearance import (
    Pose,
    below_ground,
    body_shapes,
    directions,
    on_ground,
    outermost,
    world_poses,
)
from .contact import Mount
from .ground import Ground
from .model import body_names, is_prismatic, joint_axis
from .vehicle import Vehicle

CORNERS = 32         # of one body at most: its outermost vertices in that many directions
LEANS = 0.1          # above this |axle x n| only the lowest point of a rim touches
UPRIGHT = 1e-8       # below this |axle x n| it has no lowest point: it is level to rounding


@dataclass(frozen=True, eq=False)
class BodyContacts:
    """Unilateral contacts of bodies with the ground.

    From the twist (6,) of a body (velocity of its joint's origin and angular velocity, in W),
    `touch` computes the velocity of one of its points relative to the ground, along the normal and
    the two tangents. Poses and twists are computed once for each body.
    """

    # link of each contact, (k,); "LINK body" if a wheel has the name of the link
    links: tuple[str, ...]
    owners: tuple[int, ...]  # index of the body of each contact, (k,)
    points: ca.SX  # data of each point for `touch`, a function of theta, (10, k)
    poses: ca.SX  # rotation (by columns) and position of the bodies in W, a function of q, (12, n)
    # Jacobian (6 n, nv) of the twists of the bodies by w (nv,), which is v with the base's
    # velocities along the axes of W
    jacobian: ca.SX
    # (t, pose (12,), point (10,)) -> J (3, 6), b (3,) and height [m]: the velocity is J twist + b.
    # The height is infinite if there is no such point: a rim that lies flat has no lowest point.
    touch: ca.Function
    heights: ca.SX  # heights of all contacts, a function of t, q and theta, (k,) [m]
    notices: tuple[Notice, ...] = ()  # about shapes that are below the ground already

    def __repr__(self) -> str:
        return f"<BodyContacts: {len(self.links)} points>"

    @classmethod
    def none(cls, vehicle: Vehicle) -> BodyContacts:
        """No contacts, for a vehicle whose bodies are not to touch the ground."""
        return cls._on(vehicle, [])

    @classmethod
    def of(cls, vehicle: Vehicle) -> BodyContacts:
        """The points of the collision shapes, or of the box of equal mass and inertia for a body
        without any; for wheels, those of a circle that can lie flat. A point on or below the ground
        in the default configuration is left out, with a notice."""
        found = list(_points(vehicle))
        system = vehicle.constrained.system
        at_start = ca.Function("heights", [system.t, system.q, system.theta],
                               [cls._on(vehicle, found).heights])(
            0.0, vehicle.configuration(), vehicle.theta).full().ravel()
        tolerance = on_ground(vehicle)
        lowest: dict[str, float] = {}
        for (joint, _), height in zip(found, at_start):
            link = _link(vehicle, joint)
            lowest[link] = min(height, lowest.get(link, 0.0))
        return cls._on(vehicle, [one for one, height in zip(found, at_start)
                                 if height > tolerance],
                       below_ground(vehicle, lowest, "its points below the ground make no contact"))

    @classmethod
    def _on(cls, vehicle: Vehicle, points: Sequence[tuple[int, _LowestPoint]],
            notices: tuple[Notice, ...] = ()) -> BodyContacts:
        poses, joints = world_poses(vehicle), list(dict.fromkeys(joint for joint, _ in points))
        nv, t = vehicle.algebroid.nv, vehicle.constrained.system.t
        touch = touch_function(vehicle.ground)
        heights = (touch(t, poses[joint].numbers, point.numbers)[2] for joint, point in points)
        return cls(
            tuple(_link(vehicle, joint) for joint, _ in points),
            tuple(joints.index(joint) for joint, _ in points),
            ca.horzcat(ca.SX(10, 0), *(point.numbers for _, point in points)),
            ca.horzcat(ca.SX(12, 0), *(poses[joint].numbers for joint in joints)),
            ca.vertcat(ca.SX(0, nv), *(_twist(vehicle.model, poses, joint) for joint in joints)),
            touch, ca.vertcat(ca.SX(0, 1), *heights), notices)


# -- points of a body ------------------------------------------------------------------------------
@dataclass(frozen=True)
class _LowestPoint:
    """The lowest point of a circle about an axle that is thickened by a ball: of a tyre, of a ball
    (circle zero), or of a corner (both radii zero).
    """

    # centre, axle: in the frame of the body, (3,); the axle is zero if there is none
    centre: ca.SX
    axle: np.ndarray
    # circle, ball: radii
    circle: ca.SX | float = 0.0
    ball: ca.SX | float = 0.0
    # flattest, steepest: |axle x n| between which there is such a contact
    flattest: float = 0.0
    steepest: float = np.inf

    @property
    def numbers(self) -> ca.SX:
        """All numbers of the point, (10,)."""
        return ca.vertcat(self.centre, ca.DM(self.axle), self.circle, self.ball, self.flattest,
                          self.steepest)


NO_AXLE = np.zeros(3)


def _ball(centre: ca.SX, radius: float = 0.0) -> _LowestPoint:
    return _LowestPoint(centre, NO_AXLE, ball=radius)


def touch_function(ground: Ground) -> ca.Function:
    """`BodyContacts.touch` on a ground."""
    t, pose, twist, point = (ca.SX.sym(name, size) for name, size in (
        ("t", 1), ("pose", 12), ("twist", 6), ("point", 10)))
    height, velocity = _touch(ground, t, pose, twist, point)
    return ca.Function("touch_ground", [t, pose, point], [
        ca.densify(part) for part in (ca.jacobian(velocity, twist), ca.substitute(
            velocity, twist, ca.SX.zeros(6)), height)], {"cse": True})


def touch_rate_function(ground: Ground) -> ca.Function:
    """(t, pose, twist (6,), its rate (6,), point) -> time derivative of the velocity relative to
    the ground (3,)."""
    t, pose, twist, rate, point = (ca.SX.sym(name, size) for name, size in (
        ("t", 1), ("pose", 12), ("twist", 6), ("rate", 6), ("point", 10)))
    _, velocity = _touch(ground, t, pose, twist, point)
    turning = ca.skew(twist[3:]) @ ca.reshape(pose[:9], 3, 3)
    found = ca.jtimes(velocity, ca.vertcat(t, pose, twist),
                      ca.vertcat(1, ca.vec(turning), twist[:3], rate))
    return ca.Function("touch_rate", [t, pose, twist, rate, point], [ca.densify(found)],
                       {"cse": True})


def _touch(ground: Ground, t: ca.SX, pose: ca.SX, twist: ca.SX,
           point: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Height of a point of a body, and the velocity of its lowest part relative to the ground."""
    R, p, n = ca.reshape(pose[:9], 3, 3), pose[9:], ca.SX(ca.sparsify(ca.DM(ground.normal)))
    axle, (circle, ball, flattest, steepest) = R @ point[3:6], ca.vertsplit(point[6:])
    across = n - axle * ca.dot(axle, n)
    sine = ca.sqrt(ca.fmax(ca.sumsqr(across), UPRIGHT ** 2))
    place = p + R @ point[:3] - circle / sine * across - ball * n
    from_origin = place - ca.DM(ground.point) - ca.DM(ground.velocity) * t
    moves = ca.DM(ground.velocity) + ca.cross(ca.DM(ground.angular_velocity), from_origin)
    velocity = twist[:3] + ca.cross(twist[3:], place - p) - moves
    along = ca.SX(ca.sparsify(ca.DM(np.array([ground.normal, *ground.tangents]))))
    is_there = ca.logic_and(sine > flattest, sine < steepest)
    return ca.if_else(is_there, ca.dot(n, from_origin), ca.inf), along @ velocity


def _circle(centre: ca.SX, axle: np.ndarray, radius: ca.SX | float,
            crown: ca.SX | float = 0.0) -> list[_LowestPoint]:
    spokes = np.linalg.svd(axle[None])[2][1:]
    return [_LowestPoint(centre + radius * ca.DM(spoke), axle, 0.0, crown, steepest=LEANS)
            for spoke in (*spokes, *-spokes)]


def _cylinder(shape: coal.Cylinder, place: pin.SE3) -> list[_LowestPoint]:
    axle = place.rotation[:, 2]
    return [point for end in _ends(shape, place) for point in (
        _LowestPoint(end, axle, shape.radius, flattest=UPRIGHT), *_circle(end, axle, shape.radius))]


def _ends(shape: coal.Cylinder | coal.Capsule, place: pin.SE3) -> list[ca.SX]:
    return [ca.SX(ca.DM(place.act(np.array([0, 0, z])))) for z in (shape.halfLength,
                                                                   -shape.halfLength)]


# shapes that are round
ROUND: dict[type, Callable[..., list[_LowestPoint]]] = {
    coal.Sphere: lambda shape, place: [_ball(ca.SX(ca.DM(place.translation)), shape.radius)],
    coal.Cylinder: _cylinder,
    coal.Capsule: lambda shape, place: [_ball(end, shape.radius) for end in _ends(shape, place)],
}
SIGNS = np.array(list(product((1, -1), repeat=3)))
# shapes that have corners -> these (k, 3)
ANGULAR: dict[type, Callable[..., np.ndarray]] = {
    coal.Box: lambda shape: SIGNS * np.asarray(shape.halfSide),
    coal.BVHModelBase: lambda shape: np.asarray(shape.vertices()),
    coal.ConvexBase: lambda shape: np.asarray(shape.points()),
}


def _points(vehicle: Vehicle) -> Iterator[tuple[int, _LowestPoint]]:
    """Joint and point of everything that can touch the ground."""
    model = vehicle.model
    mounts = [c.mount for c in vehicle.contacts]
    # wheels touch the ground with their circles, not with their collision shapes
    wheels = {_spin_joint(model, mount) for mount in mounts if mount.wheel.radius > 0
              and (mount.spin is not None or mount.wheel.held)}
    shapes = body_shapes(vehicle, [j for j in range(1, model.njoints) if j not in wheels])
    for joint, own in shapes.items():
        yield from ((joint, point) for point in _of_shapes(own))
    for mount in mounts:
        if mount.axle is not None and mount.wheel.radius > 0:
            yield from _of_wheel(vehicle, mount)


def _of_shapes(shapes: Sequence[pin.GeometryObject]) -> Iterator[_LowestPoint]:
    corners = [np.zeros((0, 3))]
    for shape in shapes:
        for kind, make in ROUND.items():
            if isinstance(shape.geometry, kind):
                yield from make(shape.geometry, shape.placement)
        for kind, read in ANGULAR.items():
            if isinstance(shape.geometry, kind):
                place = shape.placement
                corners.append(read(shape.geometry) @ place.rotation.T + place.translation)
    points = np.concatenate(corners)
    if len(points) > CORNERS:
        points = outermost(points, directions(CORNERS))
    yield from (_ball(ca.SX(ca.DM(point))) for point in points)


def _of_wheel(vehicle: Vehicle, mount: Mount) -> Iterator[tuple[int, _LowestPoint]]:
    """The points of a wheel's circle, on the body that turns with it."""
    model, wheel = vehicle.model, mount.wheel
    joint, centre, axle = _spin_joint(model, mount), mount.centre, mount.axle
    assert axle is not None, "circles have axles"
    if joint != mount.body:
        place = model.jointPlacements[joint]
        centre, axle = place.actInv(centre), place.rotation.T @ axle
    radius, crown = (vehicle.parameters.get(f"{wheel.name}.{what}") for what in ("radius", "crown"))
    flat, crown = wheel.traits.profile(0, 1, radius, crown)
    yield from ((joint, point) for point in _circle(ca.SX(ca.DM(centre)), axle, flat, crown))


def _spin_joint(model: pin.Model, mount: Mount) -> int:
    """The joint whose body turns with a wheel."""
    if mount.spin is None:
        return mount.body
    return next(j for j in range(2, model.njoints) if model.joints[j].idx_v == mount.spin)


# -- how they move ---------------------------------------------------------------------------------
def _twist(model: pin.Model, poses: dict[int, Pose], joint: int) -> ca.SX:
    """Jacobian (6, nv) of the velocity in W of the origin of a joint's body, and of its angular
    velocity, by the joint rates."""
    columns, place = ca.SX(6, model.nv), poses[joint].p
    columns[:3, :3], columns[3:, 3:6] = ca.SX.eye(3), ca.SX.eye(3)
    columns[:3, 3:6] = -ca.skew(place - poses[1].p)
    while joint > 1:
        own, column = poses[joint], model.joints[joint].idx_v
        axis = own.R @ ca.DM(joint_axis(model, joint))
        if is_prismatic(model, joint):
            columns[:3, column] = axis
        else:
            columns[:3, column], columns[3:, column] = ca.cross(axis, place - own.p), axis
        joint = model.parents[joint]
    return columns


def _link(vehicle: Vehicle, joint: int) -> str:
    """The link that names the contacts of a joint's body."""
    link = body_names(vehicle.model)[joint]
    # a wheel or a blade of the link itself
    return f"{link} body" if link in vehicle.contact_names else link
