"""The rim of a wheel: what is round about a joint's axis in collision and visual shapes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import product
from pathlib import Path, PurePosixPath

import numpy as np

from ..description import Reason
from ..layout import Joint, Layout, LinkShape, to_triple
from ..mesh_files import Mesh
from ..packages import package_of
from ..text.source import Triple
from .revolution import OFF_AXLE, find_solid

PARALLEL = 0.02  # rad: axles and cylinders are tilted by roundings such as 1.57
_CAMBER = 0.21   # rad: 12 degrees; wheelchairs for sports have the most
# part of a mesh's radius: a collision mesh so much smaller than what is drawn is the hub alone
_BELOW = 0.07
_TAGS = ("collision", "visual")
_HUGE = 3.0      # m: a larger wheel is one in millimetres


class RimSource(Enum):
    """What a rim is taken from, the best evidence first; the value is how messages call it."""

    COLLISION_PRIMITIVE = "collision"
    COLLISION_MESH = "collision mesh"
    VISUAL_PRIMITIVE = "visual"
    VISUAL_MESH = "visual mesh"


# the drawn shapes of a wheel are parts of one picture: the largest of them is the tread
_RANKS = ((RimSource.COLLISION_PRIMITIVE,), (RimSource.COLLISION_MESH,),
          (RimSource.VISUAL_PRIMITIVE, RimSource.VISUAL_MESH))


@dataclass(frozen=True)
class Rim:
    """One piece of evidence for a radius."""

    radius: float  # [m]
    centre: Triple  # (3,) on the axle, in the frame of the joint's child [m]
    width: float  # along the axle [m]; of a mesh, that of its tread
    link: str  # that has the shape
    source: RimSource  # what kind of shape it is
    shape: str  # "cylinder" or "sphere", or the name of the mesh's file

    @property
    def is_mesh(self) -> bool:
        return self.source in (RimSource.COLLISION_MESH, RimSource.VISUAL_MESH)

    @property
    def is_ball(self) -> bool:
        return self.shape == "sphere" and not self.is_mesh

    @property
    def reason(self) -> Reason:
        """"collision cylinder of 'left_wheel'", or "visual mesh 'tyre.stl' of 'left_wheel'"."""
        if self.is_mesh:
            return Reason(f"{self.source.value} {{}} of {{}}", (self.shape, self.link))
        return Reason(f"{self.source.value} {self.shape} of {{}}", (self.link,))


@dataclass(frozen=True)
class UnusedMesh:
    """A mesh of a rotor that says nothing about a radius, and why; package: where it should be, if
    the file was not found."""

    link: str
    filename: str
    why: str
    package: str | None = None

    def __str__(self) -> str:
        return f"the mesh {self.filename!r} of link {self.link!r} {self.why}"


def is_horizontal(layout: Layout, joint: Joint) -> bool:
    """Whether the joint's axis is horizontal in the start pose, up to `PARALLEL`."""
    return abs(layout.axis_R(joint)[2]) < PARALLEL


def has_camber(layout: Layout, joint: Joint) -> bool:
    """Whether the joint's axis leans as that of a wheel with camber: by little, and mirrored by
    another joint's on the other side."""
    axis, at = layout.axis_R(joint), layout.X_RL[joint.child][:3, 3]
    if not joint.turns or not PARALLEL <= abs(axis[2]) < _CAMBER:
        return False
    for other in layout.joints.values():
        across = (layout.X_RL[other.child][:3, 3] - at) * (1.0, 1.0, 0.0)
        apart = np.linalg.norm(across)
        if other is joint or not other.turns or not apart > 0:
            continue
        mirrored = axis - 2 * across * (across @ axis) / apart ** 2
        if (np.linalg.norm(np.cross(mirrored, layout.axis_R(other))) < PARALLEL
                and np.linalg.norm(np.cross(across / apart, axis)) < _CAMBER):
            return True
    return False


def find_rim(layout: Layout, joint: Joint, *, meshes: bool = True) -> Rim | None:
    """The rim on the rotor of `joint` (its child and what is fixed to it), with its centre on the
    joint's axis; None if there is none, or without `meshes` if one of them could count.

    A collision cylinder or sphere goes before a collision mesh, and that before a visual; of equal
    ones the largest, unless a better source is so much smaller that it is only the hub or a gear. A
    visual is no evidence while a mesh of its link is missing, nor is any mesh while all of a link's
    are, for the missing one may be the tyre.
    """
    links = layout.rigid(joint.child)
    best = _largest(_rims(layout, joint, links, _RANKS[0]))
    solid = [link for link in links
             if any(s.kind != "mesh" for s in layout.shapes(link, joint.child))]
    others = [link for link in links if link not in solid or best is None]
    if not meshes:
        return best if not any(layout.shapes(link, tag=tag) for link in others
                               for tag in _TAGS) else None
    if any(_is_unseen(layout, link) for link in links):
        return best
    for rank in _RANKS[1:]:
        rim = _largest(_rims(layout, joint, [link for link in others if rank is _RANKS[1]
                                             or not _is_partial(layout, link)], rank))
        if rim is not None and (best is None or rim.radius * (1 - _BELOW) > best.radius):
            best = rim
    return best


def _largest(rims: Iterable[Rim]) -> Rim | None:
    """The largest; of equal ones, up to rounding, the first."""
    best = None
    for rim in rims:
        if best is None or rim.radius > best.radius * (1 + 1e-9):
            best = rim
    return best


def largest_rims(layout: Layout, joint: Joint) -> list[Rim | None]:
    """The largest rim among the collision cylinders and spheres of a rotor, its collision meshes,
    and what is drawn of it."""
    links = layout.rigid(joint.child)
    return [_largest(_rims(layout, joint, links, rank)) for rank in _RANKS]


def find_reach(layout: Layout, joint: Joint, rim: Rim) -> float:
    """Distance from the axle [m] of what stands out farthest among the primitives beside a rim: a
    tyre that is put together of many parts has no rim of its own."""
    tag = rim.source.value.partition(" ")[0]
    return max((_farthest(shape, joint.axis) for link in layout.rigid(joint.child)
                for shape in layout.shapes(link, joint.child, tag) if shape.kind != "mesh"),
               default=rim.radius)


def _farthest(shape: LinkShape, axis: np.ndarray) -> float:
    """Of the points of a primitive, the largest distance from a line through the origin [m]."""
    angles = np.arange(0.0, 2 * np.pi, np.pi / 32)
    if shape.kind == "box":
        points = np.array(list(product(*((-s / 2, s / 2) for s in shape.size))))
    elif shape.kind == "sphere":
        points = np.zeros((1, 3))
    else:
        rings = [(shape.size[0] * np.cos(angles), shape.size[0] * np.sin(angles),
                  np.full(len(angles), end * shape.size[1] / 2)) for end in (-1, 1)]
        points = np.hstack(rings).T
    placed = points @ shape.X_LS[:3, :3].T + shape.centre
    off = float(np.linalg.norm(np.cross(axis, placed), axis=1).max())
    return off + (shape.size[0] if shape.kind == "sphere" else 0.0)


def unused_meshes(layout: Layout, joint: Joint) -> list[UnusedMesh]:
    """The meshes of a rotor that give no radius."""
    found: dict[str, UnusedMesh] = {}
    for shape in (s for tag in _TAGS for link in layout.rigid(joint.child)
                  for s in layout.shapes(link, joint.child, tag) if s.kind == "mesh"):
        path, package = _path(layout, shape), None
        if path is None:
            package, why = package_of(shape.mesh), "was not found"
        elif layout.source.meshes.mesh(path) is None:
            why = "cannot be read"
        else:
            solid = layout.source.meshes.solid(path, shape.scale, shape.X_LS, joint.axis)
            if solid is not None and solid.radius <= _HUGE:
                continue
            why = ("is not round about the axle" if solid is None else
                   f"would make a wheel of {solid.radius:.4g} m: is it in millimetres? Then "
                   'give it scale="0.001 0.001 0.001"')
        found.setdefault(shape.mesh, UnusedMesh(shape.link, shape.mesh, why, package))
    return list(found.values())


def crossed_cylinder(layout: Layout, joint: Joint) -> tuple[float, np.ndarray] | None:
    """Radius [m] and direction (3,), in the child's frame, of a cylinder on the axle, but across
    it; of one that is only drawn where nothing collides."""
    links = layout.rigid(joint.child)
    tag = "collision" if any(map(layout.shapes, links)) else "visual"
    for link in links:
        for shape in layout.shapes(link, joint.child, tag):
            if (shape.kind == "cylinder" and _is_across(shape, joint)
                    and np.linalg.norm(shape.centre) < (1 + OFF_AXLE) * shape.size[0]):
                return shape.size[0], shape.axis
    return None


def beside_cylinder(layout: Layout, joint: Joint) -> tuple[float, float] | None:
    """Radius and distance from the axle [m] of the largest cylinder that lies along an axle and
    beside it; of one that is only drawn where nothing collides."""
    links = layout.rigid(joint.child)
    tag = "collision" if any(map(layout.shapes, links)) else "visual"
    found = [(shape.size[0], float(np.linalg.norm(np.cross(joint.axis, shape.centre))))
             for link in links for shape in layout.shapes(link, joint.child, tag)
             if shape.kind == "cylinder" and not _is_across(shape, joint)]
    return max(((r, off) for r, off in found if off < r), default=None)


def beside_mesh(layout: Layout, joint: Joint) -> tuple[str, float, np.ndarray] | None:
    """A mesh of a rotor that is round about a line along the axle and beside it: its name, radius
    [m] and middle (3,), in the child's frame. So are exported parts whose joints have no place."""
    for tag in _TAGS:
        for shape in (s for link in layout.rigid(joint.child)
                      for s in layout.shapes(link, joint.child, tag) if s.kind == "mesh"):
            vertices = read_vertices(layout, shape)
            if vertices is None:
                continue
            middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
            solid = find_solid(vertices - middle, joint.axis)
            off = np.linalg.norm(np.cross(joint.axis, middle))
            if solid is not None and OFF_AXLE * solid.radius < off:
                return PurePosixPath(shape.mesh).name, solid.radius, middle
    return None


def equal_rims(layout: Layout, joint: Joint, rim: Rim) -> list[Rim]:
    """All rims of a rotor from the same source and of the same size, this one included."""
    found = _rims(layout, joint, layout.rigid(joint.child), [rim.source])
    return [r for r in found if abs(r.radius - rim.radius) < _BELOW * rim.radius]


def find_mesh(layout: Layout, shape: LinkShape) -> Mesh | None:
    """The mesh of a shape; None where it has none, or its file cannot be had."""
    path = _path(layout, shape) if shape.mesh else None
    return None if path is None else layout.source.meshes.mesh(path)


def read_vertices(layout: Layout, shape: LinkShape) -> np.ndarray | None:
    """The vertices (n, 3) of a mesh in the frame of its shape's placement [m]; None where it cannot
    be had, has none, or has some that are not finite."""
    mesh = find_mesh(layout, shape)
    if mesh is None or not len(mesh.vertices) or not np.all(np.isfinite(mesh.vertices)):
        return None
    return mesh.vertices * shape.scale @ shape.X_LS[:3, :3].T + shape.centre


def _is_across(shape: LinkShape, joint: Joint) -> bool:
    return bool(np.linalg.norm(np.cross(shape.axis, joint.axis)) > PARALLEL)


def _rims(layout: Layout, joint: Joint, links: Iterable[str],
          sources: Collection[RimSource]) -> Iterator[Rim]:
    for source in sources:
        tag = source.value.partition(" ")[0]
        is_mesh = source in (RimSource.COLLISION_MESH, RimSource.VISUAL_MESH)
        for link in links:
            for shape in layout.shapes(link, joint.child, tag):
                if is_mesh != (shape.kind == "mesh"):
                    continue
                rim = (_mesh_rim if is_mesh else _primitive_rim)(layout, shape, joint, source)
                if rim is not None:
                    yield rim


def _primitive_rim(layout: Layout, shape: LinkShape, joint: Joint,
                   source: RimSource) -> Rim | None:
    if shape.kind not in ("cylinder", "sphere") or shape.size[0] <= 0:
        return None
    if shape.kind == "cylinder" and _is_across(shape, joint):
        return None
    radius = shape.size[0]
    along = joint.axis * (joint.axis @ shape.centre)
    if np.linalg.norm(shape.centre - along) > OFF_AXLE * radius:
        return None
    width = shape.size[1] if shape.kind == "cylinder" else 2 * radius
    return Rim(radius, to_triple(along, 12), width, shape.link, source, shape.kind)


def _mesh_rim(layout: Layout, shape: LinkShape, joint: Joint, source: RimSource) -> Rim | None:
    path = _path(layout, shape)
    if path is None:
        return None
    solid = layout.source.meshes.solid(path, shape.scale, shape.X_LS, joint.axis)
    if solid is None or solid.radius > _HUGE:
        return None
    # no mesh is better than a hundredth of a per cent, and fewer digits read better
    return Rim(float(f"{solid.radius:.4g}"), to_triple(joint.axis * solid.along, 6), solid.width,
               shape.link, source, PurePosixPath(shape.mesh).name)


def is_partial(layout: Layout, joint: Joint) -> bool:
    """Whether a mesh of a rotor is missing."""
    return any(_is_partial(layout, link) for link in layout.rigid(joint.child))


def _is_partial(layout: Layout, link: str) -> bool:
    """Whether a mesh of a link is missing."""
    return any(_is_missing(layout, s) for tag in _TAGS for s in layout.shapes(link, tag=tag))


def _is_unseen(layout: Layout, link: str) -> bool:
    """Whether missing meshes are all there is of a link, or all but what is drawn of it."""
    return _is_partial(layout, link) and all(_is_missing(layout, s) for s in layout.shapes(link))


def _is_missing(layout: Layout, shape: LinkShape) -> bool:
    return shape.kind == "mesh" and _path(layout, shape) is None


def _path(layout: Layout, shape: LinkShape) -> Path | None:
    source = layout.source
    return source.meshes.path(shape.mesh, source.packages, source.path)
