"""Points of a vehicle's bodies that can meet the ground: corners, balls, and rims of cylinders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import coal
import numpy as np
import pinocchio as pin

from ..mechanics.algebroid import rotation
from ..urdf.notice import Notice, NoticeKind
from .clearance import directions, outermost
from .contact import Mount
from .geometry import inertia_box, reach
from .model import is_prismatic, joint_axis
from .placement import OFFSET_TOLERANCE, SIZE
from .tree import cos_sin, rotation_about
from .vehicle import Vehicle

CORNERS = 32         # of one body at most: its outermost vertices in so many directions
AROUND = 4           # points of a rim that turn with it: those on which it can lie flat
LEANS = 0.1          # |axle x n| above which a rim touches at its lowest point only
UPRIGHT = 1e-8       # and below which that point is nowhere; a rim so flat is level to rounding


@dataclass(frozen=True, eq=False)
class BodyContacts:
    """Contacts of bodies with the ground, all of them unilateral.

    The velocity of each over the ground is J w + b, with w (nv,) the velocities whose first six are
    those of the base along the axes of W; row by row along the normal, and along the two tangents
    of the ground.

    Attributes
    ----------
    links
        Of each contact, the link it is on, (k,); where a wheel has that name, "LINK body".
    jacobian, drift
        J (3 k, nv) and b (3 k,).
    heights
        (k,) [m]; infinite where there is no such point, as of the lowest point of a rim that is
        flat.
    notices
        About shapes that are below the ground already.
    """

    links: tuple[str, ...]
    jacobian: ca.SX
    drift: ca.SX
    heights: ca.SX
    notices: tuple[Notice, ...] = ()

    def __repr__(self) -> str:
        return f"<BodyContacts: {len(self.links)} points>"

    @classmethod
    def none(cls, nv: int) -> BodyContacts:
        """Of a vehicle whose bodies do not touch the ground."""
        return cls((), ca.SX(0, nv), ca.SX(0, 1), ca.SX(0, 1))

    @classmethod
    def of(cls, vehicle: Vehicle) -> BodyContacts:
        """Those of the collision shapes, and of the box of mass and inertia of a body without any;
        of wheels, those of a circle that can lie flat. A point that is on or below the ground where
        the vehicle stands is left out, with a notice."""
        poses = _poses(vehicle)
        found = [_Touch.of(vehicle, poses, *where) for where in _points(vehicle)]
        start = vehicle.configuration()
        system = vehicle.constrained.system
        heights = ca.vertcat(ca.SX(0, 1), *(touch.height for touch in found))
        at_start = ca.Function("heights", [system.t, system.q, system.theta], [heights])(
            0.0, start, vehicle.theta).full().ravel()
        tolerance = OFFSET_TOLERANCE * min(
            (c.mount.wheel.radius for c in vehicle.contacts if c.mount.wheel.radius > 0),
            default=SIZE)
        kept = [one for one, height in zip(found, at_start) if height > tolerance]
        lowest: dict[str, float] = {}
        for touch, height in zip(found, at_start):
            lowest[touch.link] = min(height, lowest.get(touch.link, 0.0))
        notices = tuple(
            Notice(NoticeKind.BELOW_GROUND, f"{link}: a collision shape reaches {-1e3 * depth:.3g} "
                   "mm below the ground at the start; those of its points do not meet the ground")
            for link, depth in lowest.items() if depth < -tolerance)
        empty = cls.none(vehicle.algebroid.nv)
        return cls(tuple(touch.link for touch in kept),
                   ca.vertcat(empty.jacobian, *(touch.jacobian for touch in kept)),
                   ca.vertcat(empty.drift, *(touch.drift for touch in kept)),
                   ca.vertcat(empty.heights, *(touch.height for touch in kept)), notices)


def height_where_it_is(height: ca.SX, sine: ca.SX) -> ca.SX:
    """Height of the lowest point of a circle: infinite where it lies flat, which has none.

    Parameters
    ----------
    sine
        |axle x n|.
    """
    return ca.if_else(sine > UPRIGHT, height, ca.inf)


# -- points of a body ------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Ball:
    """A corner, or a ball around a point of a body."""

    centre: ca.SX
    radius: float = 0.0

    def place(self, pose: _Pose, n: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The material point that is lowest, in W; and zero where there is one, else infinity."""
        return pose.R @ self.centre + pose.p - self.radius * n, ca.SX(0)


@dataclass(frozen=True)
class _Lowest:
    """The lowest point of a circle about an axle."""

    centre: ca.SX
    axle: np.ndarray
    radius: float

    def place(self, pose: _Pose, n: ca.SX) -> tuple[ca.SX, ca.SX]:
        """As of `_Ball`."""
        axle = pose.R @ ca.DM(self.axle)
        across = n - axle * ca.dot(axle, n)
        sine = ca.norm_2(across)
        return (pose.R @ self.centre + pose.p - self.radius * across / ca.fmax(sine, UPRIGHT),
                height_where_it_is(ca.SX(0), sine))


@dataclass(frozen=True)
class _Around:
    """A point of a circle about an axle, which touches the ground where the circle lies flat. The
    circle may be the middle of a tyre of that crown."""

    point: ca.SX
    axle: np.ndarray
    crown: ca.SX | float = 0.0

    def place(self, pose: _Pose, n: ca.SX) -> tuple[ca.SX, ca.SX]:
        """As of `_Ball`."""
        square = 1 - ca.dot(pose.R @ ca.DM(self.axle), n) ** 2
        return (pose.R @ self.point + pose.p - self.crown * n,
                ca.if_else(square < LEANS ** 2, ca.SX(0), ca.inf))


_Point = _Ball | _Lowest | _Around


def _circle(centre: ca.SX, axle: np.ndarray, radius: ca.SX | float,
            crown: ca.SX | float = 0.0) -> list[_Point]:
    """The points that turn with a circle."""
    side = np.linalg.svd(axle[None])[2][1]
    angles = 2 * np.pi * np.arange(AROUND) / AROUND
    spokes = [np.cos(a) * side + np.sin(a) * np.cross(axle, side) for a in angles]
    return [_Around(centre + radius * ca.DM(spoke), axle, crown) for spoke in spokes]


def _cylinder(shape: coal.Cylinder, place: pin.SE3) -> list[_Point]:
    axle = place.rotation[:, 2]
    ends = [ca.SX(ca.DM(place.translation + side * shape.halfLength * axle)) for side in (1, -1)]
    return [point for end in ends for point in (_Lowest(end, axle, shape.radius),
                                                *_circle(end, axle, shape.radius))]


def _capsule(shape: coal.Capsule, place: pin.SE3) -> list[_Point]:
    ends = (place.act(np.array([0, 0, side * shape.halfLength])) for side in (1, -1))
    return [_Ball(ca.SX(ca.DM(end)), shape.radius) for end in ends]


# shapes that are round
ROUND: dict[type, Callable[..., list[_Point]]] = {
    coal.Sphere: lambda shape, place: [_Ball(ca.SX(ca.DM(place.translation)), shape.radius)],
    coal.Cylinder: _cylinder,
    coal.Capsule: _capsule,
}
SIGNS = np.array(np.meshgrid([1, -1], [1, -1], [1, -1])).reshape(3, 8).T
# shapes that have corners -> these (k, 3)
ANGULAR: dict[type, Callable[..., np.ndarray]] = {
    coal.Box: lambda shape: SIGNS * np.asarray(shape.halfSide),
    coal.BVHModelBase: lambda shape: np.asarray(shape.vertices()),
}


def _points(vehicle: Vehicle) -> Iterator[tuple[int, _Point]]:
    """Joint and point of all that can touch the ground."""
    model = vehicle.model
    mounts = [c.mount for c in vehicle.contacts]
    on_ground = {mount.body for mount in mounts if mount.spin is None}
    # of wheels it is the circle that touches, not the shape that stands for them
    wheels = {_spinning(model, mount) for mount in mounts if mount.wheel.radius > 0
              and (mount.spin is not None or mount.wheel.held)}
    shapes: dict[int, list[pin.GeometryObject]] = {
        joint: [] for joint in range(1, model.njoints) if joint not in wheels}
    for shape in vehicle.collision_model.geometryObjects:
        if shape.parentJoint in shapes:
            shapes[shape.parentJoint].append(shape)
    size = reach(model)
    for joint, own in shapes.items():
        inertia = model.inertias[joint]
        # a body that touches the ground by itself may be of any form there
        box = None if own or joint in on_ground else inertia_box(inertia, size)
        if box is not None:
            half = coal.Box(*box[0])
            own = [pin.GeometryObject("", joint, pin.SE3(box[1], inertia.lever), half)]
        yield from ((joint, point) for point in _of_shapes(own))
    for mount in mounts:
        if mount.axle is not None and mount.wheel.radius > 0:
            yield from _of_wheel(vehicle, mount)


def _of_shapes(shapes: Sequence[pin.GeometryObject]) -> Iterator[_Point]:
    """Of one body."""
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
    yield from (_Ball(ca.SX(ca.DM(point))) for point in points)


def _of_wheel(vehicle: Vehicle, mount: Mount) -> Iterator[tuple[int, _Point]]:
    """The points of a wheel's circle, on the body that turns with it."""
    model, wheel = vehicle.model, mount.wheel
    joint, centre, axle = _spinning(model, mount), mount.centre, mount.axle
    assert axle is not None, "circles have axles"
    if joint != mount.body:
        place = model.jointPlacements[joint]
        centre, axle = place.actInv(centre), place.rotation.T @ axle
    radius, crown = (vehicle.parameters.get(f"{wheel.name}.{what}") for what in ("radius", "crown"))
    flat, crown = wheel.traits.profile(1, 0, radius, crown)
    yield from ((joint, point) for point in _circle(ca.SX(ca.DM(centre)), axle, flat, crown))


def _spinning(model: pin.Model, mount: Mount) -> int:
    """The joint whose body turns with a wheel."""
    if mount.spin is None:
        return mount.body
    return next(j for j in range(2, model.njoints) if model.joints[j].idx_v == mount.spin)


# -- how they move ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Pose:
    """Of a joint's body in W: rotation and place; and axis and index in v of the joint."""

    R: ca.SX
    p: ca.SX
    parent: int
    axis: ca.SX
    column: int
    slides: bool

    def column_at(self, point: ca.SX) -> ca.SX:
        """Velocity in W of a point of this body, or of one that it carries, per unit of the
        joint's rate."""
        return self.axis if self.slides else ca.cross(self.axis, point - self.p)


def _poses(vehicle: Vehicle) -> dict[int, _Pose]:
    """Of all joints' bodies."""
    model, q = vehicle.model, vehicle.algebroid.q
    poses = {1: _Pose(rotation(q[3:7]), q[:3], 0, ca.SX(3, 1), 0, False)}
    for joint in range(2, model.njoints):
        own, parent = model.joints[joint], poses[model.parents[joint]]
        place, axis = model.jointPlacements[joint], joint_axis(model, joint)
        slides = is_prismatic(model, joint)
        R = parent.R @ ca.SX(ca.sparsify(ca.DM(place.rotation)))
        p = parent.p + parent.R @ ca.SX(ca.DM(place.translation))
        if slides:
            p = p + R @ (ca.DM(axis) * q[own.idx_q])
        else:
            R = R @ rotation_about(axis, *cos_sin(model, joint, q))
        poses[joint] = _Pose(R, p, model.parents[joint], R @ ca.DM(axis), own.idx_v, slides)
    return poses


@dataclass(frozen=True)
class _Touch:
    """Rows and height of one contact."""

    link: str
    jacobian: ca.SX
    drift: ca.SX
    height: ca.SX

    @classmethod
    def of(cls, vehicle: Vehicle, poses: dict[int, _Pose], joint: int, point: _Point) -> _Touch:
        """Of a point on a joint's body."""
        model, ground, t = vehicle.model, vehicle.ground, vehicle.constrained.system.t
        n = ca.SX(ca.sparsify(ca.DM(ground.normal)))
        place, alive = point.place(poses[joint], n)
        columns = ca.SX(3, vehicle.algebroid.nv)
        columns[:, :3], columns[:, 3:6] = ca.SX.eye(3), -ca.skew(place - poses[1].p)
        body = joint
        while body > 1:
            columns[:, poses[body].column] = poses[body].column_at(place)
            body = poses[body].parent
        along = ca.SX(ca.sparsify(ca.DM(np.array([ground.normal, *ground.tangents]))))
        velocity = ca.DM(ground.velocity)
        from_origin = place - ca.DM(ground.point) - velocity * t
        moves = velocity + ca.cross(ca.DM(ground.angular_velocity), from_origin)
        link = next(frame.name for frame in model.frames if frame.type == pin.FrameType.BODY
                    and frame.parentJoint == joint)
        if link in vehicle.contact_names:       # a wheel or a blade of the link itself
            link = f"{link} body"
        return cls(link, along @ columns, -along @ moves, ca.dot(n, from_origin) + alive)
