"""Heights above the ground of those parts of a vehicle that can touch it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import casadi as ca
import coal
import numpy as np
import pinocchio as pin

from ..mechanics.algebroid import rotation
from ..urdf.notice import Notice, NoticeKind
from .geometry import inertia_box, reach
from .model import body_names, is_prismatic, joint_axis
from .placement import OFFSET_TOLERANCE, SIZE
from .tree import joint_cos_sin, rotation_about
from .vehicle import Vehicle

STILL = 1e-9        # [m] heights that differ by less over all samples are constant
# A mesh keeps its outermost vertices in so many directions: a ball loses at most 6 % of its radius.
DIRECTIONS = 64
GOLDEN = np.pi * (3 - np.sqrt(5))      # [rad] angle of the spiral of directions


@dataclass(frozen=True, eq=False)
class Clearance:
    """Heights above the ground of the links that can touch it [m].

    A link is left out if its height cannot change (the wheels keep the base level) or if it rolls
    on the ground itself; so is a shape that is on or below the ground at the start.
    """

    links: tuple[str, ...]  # their names
    heights: ca.Function  # (t, q) -> the lowest point of each, (n,)
    notices: tuple[Notice, ...] = ()  # about shapes that are below the ground already

    def __repr__(self) -> str:
        return f"<Clearance of {', '.join(self.links) or 'nothing'}>"


_known: WeakKeyDictionary[Vehicle, Clearance] = WeakKeyDictionary()


def clearance(vehicle: Vehicle) -> Clearance:
    """The `Clearance` of a vehicle, computed once. Shapes are only read if a link can touch the
    ground.

    Collision shapes are exact; meshes have their outermost vertices in 64 directions; a body
    without shapes has the box of equal mass and inertia.
    """
    if vehicle not in _known:
        _known[vehicle] = _find(vehicle)
    return _known[vehicle]


def _find(vehicle: Vehicle) -> Clearance:
    system, model, poses = vehicle.constrained.system, vehicle.model, world_poses(vehicle)
    samples, spins = vehicle.constrained.configurations, {c.mount.spin for c in vehicle.contacts}
    places = [ca.vertcat(_normal(vehicle, pose), _rise(vehicle, pose.p)) for pose in poses.values()]
    moving = [joint for joint, moves in zip(poses, _change(vehicle, places, samples))
              if moves and model.joints[joint].idx_v not in spins]
    # link -> height of each of its shapes, and whether the file has it
    parts: dict[str, list[tuple[ca.SX, bool]]] = {}
    for joint, shapes in body_shapes(vehicle, moving).items():
        for shape in shapes:
            height = _height(vehicle, shape, poses[joint])
            if _change(vehicle, [height], samples)[0]:
                link = model.frames[shape.parentFrame].name
                parts.setdefault(link, []).append((height, bool(shape.name)))
    kept, lowest = {}, {}
    tolerance = on_ground(vehicle)
    for link, heights in parts.items():
        at_start = [_evaluate(vehicle, height, vehicle.configuration()).item()
                    for height, _ in heights]
        clear = [height for (height, _), value in zip(heights, at_start) if value > tolerance]
        if clear:
            kept[link] = ca.mmin(ca.vertcat(*clear))
        lowest[link] = min((value for (_, is_drawn), value in zip(heights, at_start) if is_drawn),
                           default=0.0)
    found = ca.densify(ca.vertcat(*kept.values()))
    return Clearance(tuple(kept), ca.Function("heights", [system.t, system.q], [found]),
                     below_ground(vehicle, lowest, "falls onto it are not detected"))


def on_ground(vehicle: Vehicle) -> float:
    """What is lower at the start stands on the ground [m]."""
    return OFFSET_TOLERANCE * min(
        (c.mount.wheel.radius for c in vehicle.contacts if c.mount.wheel.radius > 0), default=SIZE)


def below_ground(vehicle: Vehicle, lowest: Mapping[str, float], effect: str) -> tuple[Notice, ...]:
    """Notices about links whose shapes are below the ground at the start, from the heights of their
    lowest points [m]."""
    return tuple(
        Notice(NoticeKind.BELOW_GROUND, f"{link}: a collision shape reaches {-1e3 * height:.3g} mm "
                                        f"below the ground at the start; {effect}")
        for link, height in lowest.items() if height < -on_ground(vehicle))


@dataclass(frozen=True)
class Pose:
    """Rotation and position of a joint's body in W."""

    R: ca.SX
    p: ca.SX

    @property
    def numbers(self) -> ca.SX:
        """Rotation by columns, then position, (12,)."""
        return ca.vertcat(ca.vec(self.R), self.p)


def world_poses(vehicle: Vehicle) -> dict[int, Pose]:
    """Joint -> pose of its body."""
    model, q = vehicle.model, vehicle.algebroid.q
    poses = {1: Pose(rotation(q[3:7]), q[:3])}
    for joint in range(2, model.njoints):
        parent, place = poses[model.parents[joint]], model.jointPlacements[joint]
        axis = joint_axis(model, joint)
        R = parent.R @ ca.SX(ca.sparsify(ca.DM(place.rotation)))
        p = parent.p + parent.R @ ca.SX(ca.DM(place.translation))
        if is_prismatic(model, joint):
            p = p + R @ (ca.DM(axis) * q[model.joints[joint].idx_q])
        else:
            R = R @ rotation_about(axis, *joint_cos_sin(model, joint, q))
        poses[joint] = Pose(R, p)
    return poses


def _normal(vehicle: Vehicle, pose: Pose) -> ca.SX:
    """The ground's normal in the frame of a body."""
    return pose.R.T @ ca.SX(ca.sparsify(ca.DM(np.array(vehicle.ground.normal))))


def _rise(vehicle: Vehicle, point: ca.SX) -> ca.SX:
    """Height of a point of W above the ground."""
    ground, t = vehicle.ground, vehicle.constrained.system.t
    return ca.dot(ca.DM(ground.normal), point - ca.DM(ground.point) - ca.DM(ground.velocity) * t)


def _height(vehicle: Vehicle, shape: pin.GeometryObject, pose: Pose) -> ca.SX:
    """Height of the lowest point of a shape."""
    reach = next(of for kind, of in REACHES.items() if isinstance(shape.geometry, kind))
    place = shape.placement
    centre = pose.p + pose.R @ ca.SX(ca.DM(place.translation))
    return _rise(vehicle, centre) - reach(shape.geometry)(
        ca.DM(place.rotation.T) @ _normal(vehicle, pose))


def _change(vehicle: Vehicle, values: list[ca.SX], samples: np.ndarray) -> list[bool]:
    """Whether each of some vector functions of q differs between samples."""
    found = [_evaluate(vehicle, value, samples.T) for value in values]
    return [bool(np.ptp(each, axis=1).max(initial=0.0) > STILL) for each in found]


def _evaluate(vehicle: Vehicle, value: ca.SX, q: np.ndarray) -> np.ndarray:
    system = vehicle.constrained.system
    return ca.Function("value", [system.t, system.q], [value])(0.0, q).full()


def body_shapes(vehicle: Vehicle,
                joints: Collection[int]) -> dict[int, list[pin.GeometryObject]]:
    """Joint -> collision shapes of its body; a body without any, which is no contact itself, has
    the box of equal mass and inertia, without a name."""
    shapes: dict[int, list[pin.GeometryObject]] = {joint: [] for joint in joints}
    for shape in vehicle.collision_model.geometryObjects if shapes else ():
        if shape.parentJoint in shapes:
            shapes[shape.parentJoint].append(shape)
    model = vehicle.model
    rolling = {c.mount.body for c in vehicle.contacts if c.mount.spin is None}
    for joint, found in shapes.items():
        box = None if found or joint in rolling else inertia_box(model.inertias[joint],
                                                                 reach(model))
        if box is not None:
            sides, axes = box
            found.append(pin.GeometryObject(
                "", joint, model.getFrameId(body_names(model)[joint], pin.FrameType.BODY),
                pin.SE3(axes, model.inertias[joint].lever), coal.Box(*sides)))
    return shapes


def _box_reach(half: np.ndarray) -> Callable[[ca.SX], ca.SX]:
    return lambda n: ca.dot(ca.DM(half), ca.fabs(n))


def _round_reach(radius: float, half_length: float) -> Callable[[ca.SX], ca.SX]:
    """A cylinder along z; without a half length, a flat disc."""
    return lambda n: radius * ca.sqrt(n[0] ** 2 + n[1] ** 2) + half_length * ca.fabs(n[2])


def directions(count: int) -> np.ndarray:
    """Unit vectors (count, 3), evenly distributed along a spiral."""
    heights = np.linspace(1, -1, count)
    angles = GOLDEN * np.arange(count)
    across = np.sqrt(1 - heights ** 2)
    return np.column_stack([across * np.cos(angles), across * np.sin(angles), heights])


def outermost(points: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The points among (k, 3) that are farthest in one of the directions (n, 3)."""
    return points[np.unique((points @ along.T).argmax(axis=0))]


def _points_reach(points: np.ndarray) -> Callable[[ca.SX], ca.SX]:
    """Depth of the lowest of the outermost points; n points away from the ground."""
    vertices = outermost(points, directions(DIRECTIONS))
    return lambda n: -ca.mmin(ca.DM(vertices) @ n)


# shape -> depth of its lowest point below its origin, for n (3,) in its frame
REACHES: dict[type, Callable[..., Callable[[ca.SX], ca.SX]]] = {
    coal.Box: lambda shape: _box_reach(np.asarray(shape.halfSide)),
    coal.Sphere: lambda shape: lambda n: shape.radius,
    coal.Cylinder: lambda shape: _round_reach(shape.radius, shape.halfLength),
    coal.Capsule: lambda shape: lambda n: shape.radius + shape.halfLength * ca.fabs(n[2]),
    coal.BVHModelBase: lambda shape: _points_reach(np.asarray(shape.vertices())),
    coal.ConvexBase: lambda shape: _points_reach(np.asarray(shape.points())),
}
