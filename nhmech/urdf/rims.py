"""The rim of a wheel: the largest collision cylinder or sphere that is coaxial with a joint."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import sqrt

import numpy as np

from .layout import CollisionShape, Joint, Layout, to_triple
from .source import Triple
from .validate_inertia import read_inertia

PARALLEL = 0.02  # rad: axles and cylinders are tilted by roundings such as 1.57
# m, and part of the radius: how far a rim's centre may lie beside its axle
_OFF_AXLE = (1e-3, 0.02)


@dataclass(frozen=True)
class Rim:
    """radius [m]; centre (3,) on the axle, in the frame of the joint's child; link and kind of the
    shape it is from."""

    radius: float
    centre: Triple
    link: str
    kind: str


def is_horizontal(layout: Layout, joint: Joint) -> bool:
    """Whether the joint's axis is horizontal in the start pose, up to `PARALLEL`."""
    return abs(layout.axis_R(joint)[2]) < PARALLEL


def find_rim(layout: Layout, joint: Joint, links: Collection[str] | None = None) -> Rim | None:
    """The rim on the rotor of `joint` (its child and what is fixed to it, or only `links` of
    these), or None."""
    best = None
    for link in layout.rigid(joint.child):
        for shape in layout.shapes(link, joint.child) if links is None or link in links else ():
            if shape.kind not in ("cylinder", "sphere") or shape.size[0] <= 0:
                continue
            if shape.kind == "cylinder" and _is_across(shape, joint):
                continue
            radius = shape.size[0]
            along = joint.axis * (joint.axis @ shape.centre)
            if np.linalg.norm(shape.centre - along) > max(_OFF_AXLE[0], _OFF_AXLE[1] * radius):
                continue
            # of equal ones the first, also where rounding makes the next a little larger
            if best is None or radius > best.radius * (1 + 1e-9):
                best = Rim(radius, to_triple(along, 12), link, shape.kind)
    return best


def crossed_cylinder(layout: Layout, joint: Joint) -> tuple[float, np.ndarray] | None:
    """Radius [m] and direction (3,), in the child's frame, of a collision cylinder on the axle, but
    across it."""
    for link in layout.rigid(joint.child):
        for shape in layout.shapes(link, joint.child):
            if (shape.kind == "cylinder" and shape.size[0] > 0 and _is_across(shape, joint)
                    and np.linalg.norm(shape.centre) < _OFF_AXLE[0] + shape.size[0]):
                return shape.size[0], shape.axis
    return None


def _is_across(shape: CollisionShape, joint: Joint) -> bool:
    return bool(np.linalg.norm(np.cross(shape.axis, joint.axis)) > PARALLEL)


def has_mesh(layout: Layout, joint: Joint) -> bool:
    """Whether the rotor of `joint` is drawn or collides as a mesh."""
    return any(next(layout.links[link].iterfind("*/geometry/mesh"), None) is not None
               for link in layout.rigid(joint.child))


def radius_hint(layout: Layout, joint: Joint) -> float | None:
    """A radius [m] to suggest where there is no rim: of the visual cylinder, else of a solid disc
    of this inertia."""
    drawn = [layout.source.number(e, "radius") for link in layout.rigid(joint.child)
             for e in layout.links[link].findall("visual/geometry/cylinder")]
    if drawn:
        return round(max(drawn), 4)
    inertial = layout.links[joint.child].find("inertial")
    if inertial is None:
        return None
    mass, X, inertia = read_inertia(layout.source, inertial)
    about_axle = joint.axis @ X[:3, :3] @ inertia @ X[:3, :3].T @ joint.axis
    return round(sqrt(2 * about_axle / mass), 3) if mass > 0 and about_axle > 0 else None
