"""The rim of a wheel: the largest collision cylinder or sphere that is coaxial with a joint."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from .layout import Joint, Layout
from .validate_inertia import read_inertia

PARALLEL = 0.02  # rad: axles and cylinders are tilted by roundings such as 1.57
# m, and part of the radius: how far a rim's centre may lie beside its axle
_OFF_AXLE = (1e-3, 0.02)


@dataclass(frozen=True)
class Rim:
    """radius [m]; centre (3,) on the axle, in the frame of the joint's child; link and kind of the
    shape it is from."""

    radius: float
    centre: tuple[float, float, float]
    link: str
    kind: str


def is_horizontal(layout: Layout, joint: Joint) -> bool:
    """Whether the joint's axis is horizontal in the start pose, up to `PARALLEL`."""
    return abs(layout.axis_R(joint)[2]) < PARALLEL


def find_rim(layout: Layout, joint: Joint, links=None) -> Rim | None:
    """The rim on the rotor of `joint` (its child and what is fixed to it, or only `links` of
    these), or None."""
    best = None
    for link in layout.rigid(joint.child):
        if links is not None and link not in links:
            continue
        for shape in layout.shapes(link, joint.child):
            if shape.kind not in ("cylinder", "sphere") or shape.size[0] <= 0:
                continue
            if (
                shape.kind == "cylinder"
                and np.linalg.norm(np.cross(shape.X_LS[:3, 2], joint.axis)) > PARALLEL
            ):
                continue
            along = joint.axis * (joint.axis @ shape.centre)
            if np.linalg.norm(shape.centre - along) > max(
                _OFF_AXLE[0], _OFF_AXLE[1] * shape.size[0]
            ):
                continue
            if best is None or shape.size[0] > best.radius * (1 + 1e-9):
                best = Rim(shape.size[0], tuple(float(c) + 0.0 for c in np.round(along, 12)), link,
                           shape.kind)
    return best


def crossed_cylinder(layout: Layout, joint: Joint) -> tuple[float, np.ndarray] | None:
    """Radius [m] and direction (3,), in the child's frame, of a collision cylinder on the axle, but
    across it."""
    for link in layout.rigid(joint.child):
        for shape in layout.shapes(link, joint.child):
            if shape.kind != "cylinder" or not shape.size[0] > 0:
                continue
            if np.linalg.norm(shape.centre) < _OFF_AXLE[0] + shape.size[0] \
                    and np.linalg.norm(np.cross(shape.X_LS[:3, 2], joint.axis)) > PARALLEL:
                return float(shape.size[0]), shape.X_LS[:3, 2]
    return None


def has_mesh(layout: Layout, joint: Joint) -> bool:
    """Whether the rotor of `joint` is drawn or collides as a mesh."""
    elements = (
        e
        for link in layout.rigid(joint.child)
        for e in layout.links[link]
        if isinstance(e.tag, str)
    )
    return any(e.find("geometry/mesh") is not None for e in elements)


def radius_hint(layout: Layout, joint: Joint) -> float | None:
    """A radius [m] to suggest where there is no rim: of the visual cylinder, else of a solid disc
    of this inertia."""
    drawn = [float(e.get("radius")) for link in layout.rigid(joint.child)
             for e in layout.links[link].findall("visual/geometry/cylinder")]
    if drawn:
        return round(max(drawn), 4)
    inertial = layout.links[joint.child].find("inertial")
    if inertial is None:
        return None
    mass, X, inertia = read_inertia(layout.source, inertial)
    about_axle = joint.axis @ X[:3, :3] @ inertia @ X[:3, :3].T @ joint.axis
    return round(sqrt(2 * about_axle / mass), 3) if mass > 0 and about_axle > 0 else None
