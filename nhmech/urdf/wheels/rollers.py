"""What a wheel touches the ground with: rollers, as joints of their own or as parts of its mesh, or
a tyre."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import radians
from pathlib import PurePosixPath

import numpy as np

from ..layout import Joint, Layout, LinkShape
from .rims import find_mesh, read_vertices

_FEWEST = 5                # rollers of a wheel: with fewer it would hobble
_SAME_RADIUS = 0.03        # of the wheel's radius: rollers are equally far from its axle
_SAME_ANGLE = radians(5)   # rollers lie alike
_REACH = 0.95              # of the wheel's radius: a roller and a tread reach it
_BESIDE = 0.2              # of the wheel's radius: a tread in one piece is about the axle
_SLENDER, _ROUND = 0.75, 0.8  # of a roller: width over length, and both widths over each other
_ACROSS = 0.2              # of a unit vector: the axis of a roller does not point to the axle
_PROFILE = 0.02            # of the wheel's radius: points of its outline that differ
_CELLS = 1 << 20           # more than there are along a radius: two numbers as one sort faster
_PLAIN = 12                # points of the outline of a plain drum, which stands for any wheel
_OBLIQUE = (radians(25), radians(65))  # of mecanum rollers to the axle; those of omni wheels lie
#                                        across it


@dataclass(frozen=True)
class Rollers:
    """The rollers of a wheel."""

    # from the axle to the axis of the roller on the ground [rad], seen from above, positive from
    # left to forward
    angle: float
    source: str  # where they were seen, for messages
    # whether each has a joint of its own: then the sign of the angle is that of the real wheel, and
    # otherwise of a picture that is often used on both sides
    turn: bool

    @property
    def is_oblique(self) -> bool:
        """Whether they are those of a mecanum wheel, and not of an omni wheel."""
        return _OBLIQUE[0] < abs(self.angle) < _OBLIQUE[1]


def find_rollers(layout: Layout, joint: Joint) -> Rollers | None:
    """The rollers on the rotor of a joint; None where none are seen."""
    turning = roller_joints(layout, joint)
    if turning:
        angle = _mean([_angle(layout, joint, roller) for roller in turning])
        return Rollers(angle, f"{len(turning)} joints with rollers on {joint.child!r}", True)
    for shape, vertices, parts in _meshes(layout, joint):
        angles = _roller_angles(vertices, parts, joint.axis)
        if len(angles) >= _FEWEST:
            return Rollers(_mean(angles), f"{len(angles)} rollers in the mesh "
                                          f"{PurePosixPath(shape.mesh).name!r}", False)
    return None


def roller_joints(layout: Layout, joint: Joint) -> list[Joint]:
    """Joints of rollers on the rotor of a joint: many that turn, about axes across the way to the
    axle, equally far from it, with nothing on them that moves."""
    found: list[tuple[float, Joint]] = []
    for other in layout.joints.values():
        if not other.turns or layout.body(other.parent) != layout.body(joint.child):
            continue
        offset = _offset(layout, joint, other)
        distance = float(np.linalg.norm(offset))
        axis = layout.X(joint.child, other.child)[:3, :3] @ other.axis
        if (distance > 0 and abs(axis @ offset) < _ACROSS * distance
                and not layout.carried_joints(other.child)):
            found.append((distance, other))
    far = float(np.median([distance for distance, _ in found])) if found else 0.0
    alike = [other for distance, other in found if abs(distance - far) < 0.1 * far]
    return alike if len(alike) >= _FEWEST else []


def find_tyre(layout: Layout, joint: Joint) -> str | None:
    """The mesh in which a wheel is drawn with a tread in one piece; None where none is, and where
    it is a plain drum, which stands for any wheel."""
    for shape, vertices, parts in _meshes(layout, joint):
        along, radii = _cylindrical(vertices, joint.axis)
        radius = float(radii.max())
        cells = np.round(np.column_stack([along, radii]) / (_PROFILE * radius)).astype(np.int64)
        outline = np.unique(cells @ (_CELLS, 1))
        if len(outline) <= _PLAIN or len(_roller_angles(vertices, parts, joint.axis)) >= _FEWEST:
            continue
        for part in parts:
            points = vertices[part]
            middle = (points.max(axis=0) + points.min(axis=0)) / 2
            beside = np.linalg.norm(middle - joint.axis * (joint.axis @ middle))
            if radii[part].max() > _REACH * radius and beside < _BESIDE * radius:
                return PurePosixPath(shape.mesh).name
    return None


def _meshes(layout: Layout, joint: Joint) -> Iterator[tuple[LinkShape, np.ndarray,
                                                            Sequence[np.ndarray]]]:
    """Shape, vertices (n, 3) in the frame of the joint's child [m] and connected parts of every
    mesh of a rotor; each file once."""
    seen = set()
    for tag in ("visual", "collision"):
        for link in layout.rigid(joint.child):
            for shape in layout.shapes(link, joint.child, tag):
                mesh, vertices = find_mesh(layout, shape), read_vertices(layout, shape)
                if mesh is None or vertices is None or shape.mesh in seen:
                    continue
                seen.add(shape.mesh)
                yield shape, vertices, mesh.parts


def _roller_angles(vertices: np.ndarray, parts: Sequence[np.ndarray],
                   axle: np.ndarray) -> list[float]:
    """Angles [rad] of the parts of a mesh that look like the rollers of one wheel."""
    _, radii = _cylindrical(vertices, axle)
    radius = float(radii.max())
    found: list[tuple[float, float]] = []
    for part in parts:
        points = vertices[part]
        if radii[part].max() < _REACH * radius or len(points) < 6:
            continue
        middle = points.mean(axis=0)
        outward = middle - axle * (axle @ middle)
        distance = float(np.linalg.norm(outward))
        if distance < _BESIDE * radius:
            continue
        sizes, axes = np.linalg.eigh(np.cov(points.T))
        thin, wide, long = np.sqrt(np.maximum(sizes, 0.0))
        if (wide < _SLENDER * long and thin > _ROUND * wide
                and abs(axes[:, 2] @ outward) < _ACROSS * distance):
            found.append((distance, _angle_of(axes[:, 2], axle, outward)))
    if not found:
        return []
    far, turned = np.median([distance for distance, _ in found]), _mean([a for _, a in found])
    return [angle for distance, angle in found if abs(distance - far) < _SAME_RADIUS * radius
            and abs(_acute(angle - turned)) < _SAME_ANGLE]


def _angle(layout: Layout, joint: Joint, roller: Joint) -> float:
    axis = layout.X(joint.child, roller.child)[:3, :3] @ roller.axis
    return _angle_of(axis, joint.axis, _offset(layout, joint, roller))


def _angle_of(axis: np.ndarray, axle: np.ndarray, outward: np.ndarray) -> float:
    """Of a roller's axis to the axle, once the wheel has turned it to the ground; the same for both
    senses of either."""
    forward = np.cross(axle, -outward / np.linalg.norm(outward))
    return _acute(np.arctan2(axis @ forward, axis @ axle))


def _acute(angle: float) -> float:
    """The angle of a line without direction [rad], above -pi/2 and up to pi/2."""
    return float(np.pi / 2 - (np.pi / 2 - angle) % np.pi)


def _mean(angles: Sequence[float]) -> float:
    """Of lines without direction: those at -pi/2 and at pi/2 are one."""
    return _acute(np.angle(np.mean(np.exp(2j * np.array(angles)))) / 2)


def _offset(layout: Layout, joint: Joint, other: Joint) -> np.ndarray:
    """From the axle of a joint to the origin of another on its rotor, (3,) in the child's frame."""
    at = layout.X(joint.child, other.child)[:3, 3]
    return at - joint.axis * (joint.axis @ at)


def _cylindrical(vertices: np.ndarray, axle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place along the axle and distance from it (n,) of every vertex."""
    along = vertices @ axle
    return along, np.linalg.norm(vertices - np.outer(along, axle), axis=1)
