"""Whether the radii of wheels agree with the heights of their axles, and with the distances between
them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

from ...errors import ModelError, Remedy
from ..description import FoundWheel, Reason, Witness
from ..layout import Layout, to_words
from ..notice import Notice, NoticeKind
from ..remedy import suggest
from ..upright import carry
from ..wheel import Wheel
from .casters import find_casters, list_wheels
from .stance import BESIDE, UP, allowance, bottom_R, centre_R, footprint, usual_radius
from .swivels import steering_joints

# of the radius: by so much more a height over base_footprint is no rounding any more
_GROSS = 0.5
# of the largest radius: wheels of built vehicles are not that far apart, not those of long trains,
# and as little as one radius would be a thousand in millimetres
_APART = 500.0
# of the largest distance: radii of built vehicles are smaller, and a thousandth is in metres
_LARGE = 100.0
_SHAPES = (Witness.PRIMITIVE, Witness.COLLISION_MESH, Witness.DRAWN)


def check_distances(layout: Layout, contacts: Sequence[FoundWheel]) -> None:
    """Raises `ModelError`, with the first length in metres, if a wheel is so far from all others
    that origins must be in millimetres, or so large that radii must be."""
    wheels = [c.wheel for c in contacts]
    centres = np.array([centre_R(layout, w) for w in wheels])
    if len(wheels) < 2:
        return
    gaps = np.linalg.norm(centres[:, None] - centres, axis=2)
    nearest = (gaps + np.diag(np.full(len(wheels), np.inf))).min(axis=1)
    radius, alone = max(w.radius for w in wheels), wheels[int(np.argmax(nearest))]
    # wheels at one place are no farther apart by smaller radii
    if _LARGE * gaps.max() < radius <= 1000 * _LARGE * gaps.max():
        largest = next(w for w in wheels if w.radius == radius)
        smaller = [replace(c, wheel=replace(c.wheel, radius=c.wheel.radius / 1000))
                   for c in contacts]
        raise layout.source.error(
            layout.joints[largest.name].element,
            f"{largest.name!r} would have radius {radius:.4g} m, though all wheels are within "
            f"{gaps.max():.4g} m: lengths are in metres, and the scale of a mesh of millimetres is "
            '"0.001 0.001 0.001"', suggest("If radii are in millimetres: ",
                                           list_wheels(layout, smaller)))
    if nearest.max() <= _APART * radius:
        return
    path = layout.path(layout.carrier(alone))
    joint = max(path, key=lambda joint: float(np.linalg.norm(joint.X_PC[:3, 3])))
    metres = to_words(joint.X_PC[:3, 3] / 1000)
    raise layout.source.error(
        joint.element, f"{alone.name!r} would stand {nearest.max():.4g} m from all other wheels, "
        f"whose largest radius is {radius:.4g} m: <origin> is in metres. If it is in millimetres "
        f'here, write xyz="{metres}", and all others likewise')


def check_root(layout: Layout, wheels: Sequence[Wheel]) -> None:
    """Raises `ModelError`, with the root that would do, if the root's frame leans against the
    ground: the wheels stand in one plane across their steering axes, and not across its z axis.

    Axles that are steered meet in a point of the plane in which the base is upright, as are the
    axes that steer them.
    """
    axes = [layout.axis_R(joint) for joint in steering_joints(layout, wheels)]
    if len(wheels) < 3 or not axes:
        return
    mean = sum(axis * np.sign(axis[2]) for axis in axes)
    up = mean / np.linalg.norm(mean)
    standing, leaning = (np.ptp([bottom_R(layout, w, way) for w in wheels]) for way in (up, UP))
    if not standing <= BESIDE * min(w.radius for w in wheels) < leaning:
        return
    rpy = pin.rpy.matrixToRpy(pin.Quaternion.FromTwoVectors(up, np.array(UP)).matrix())
    raise ModelError(
        f"{layout.source.label}: the root {layout.root!r} leans by "
        f"{np.degrees(np.arccos(up[2])):.3g} degrees against the ground on which its wheels "
        f"stand, across their steering axes, and z of a root has to be up: "
        f"{carry(layout.root, to_words(rpy, 9))}")


def check_heights(layout: Layout, contacts: Sequence[FoundWheel]) -> None:
    """Every wheel that was found stands in the plane of the others, and not far off the file's
    base_footprint.
    """
    wheels = [c.wheel for c in contacts]
    ground = _plane(layout, wheels)
    usual = usual_radius(wheels)
    off = [w for w in wheels if abs(bottom_R(layout, w) - ground) > allowance(w.radius, usual)]
    if off:
        table = ", ".join(f"{w.name}: axle at {centre_R(layout, w)[2]:.4f}, radius {w.radius:.4g}, "
                          f"bottom at {bottom_R(layout, w):.4f}" for w in wheels)
        fitting = [_fit(layout, c, ground) if c.wheel in off else c for c in contacts]
        standing = [c for c in contacts if c.wheel not in off]
        names = ", ".join(w.name for w in off)
        leave: list[str | Remedy] = []
        if standing:
            leave = ["; if not: ", list_wheels(layout, standing)]
        raise layout.source.error(
            layout.joints[off[0].name].element,
            f"the wheels do not stand in one plane (heights in metres; {table})",
            suggest(f"If {names} should touch the ground: ", list_wheels(layout, fitting),
                    *leave, "; or correct the collision shape or the joint's origin"))
    mark = footprint(layout)
    if mark is None:
        return
    link, floor = mark
    doubtful = [c for c in contacts if _contradicts(layout, c, floor)]
    if doubtful:
        wheel = doubtful[0].wheel
        fitting = [_fit(layout, c, floor) if c in doubtful else c for c in contacts]
        raise ModelError(
            f"{layout.source.label}: the wheels' radius contradicts the height of their axles: "
            f"{wheel.name} has its axle {centre_R(layout, wheel)[2] - floor:.4f} m above "
            f"{link!r}, which marks the ground, and radius {wheel.radius:.4g} m",
            suggest("If the height is right: ", list_wheels(layout, fitting),
                    "; if the shape is: ", list_wheels(layout, contacts)))


def report_heights(layout: Layout, wheels: Sequence[Wheel]) -> list[Notice]:
    """A notice about contacts that were given and are off the plane of the others."""
    if len(wheels) < 2:
        return []
    ground, usual = _plane(layout, wheels), usual_radius(wheels)
    off = []
    for wheel in wheels:
        gap = bottom_R(layout, wheel) - ground
        if abs(gap) > allowance(wheel.radius, usual):
            off.append(f"{wheel.name} {1e3 * abs(gap):.1f} mm {'above' if gap > 0 else 'below'}")
    if not off:
        return []
    return [Notice(NoticeKind.OFF_PLANE,
                   f"contacts out of the plane of the others as given: {', '.join(off)}")]


def _plane(layout: Layout, wheels: Sequence[Wheel]) -> float:
    """Height that most wheels reach, in the root's frame [m]; of equally many, that of
    base_footprint, that which casters reach, or else of the first."""
    mark = footprint(layout)
    floor = None if mark is None else mark[1]
    bottoms, usual = [bottom_R(layout, w) for w in wheels], usual_radius(wheels)

    def reaching(height: float) -> list[Wheel]:
        return [w for b, w in zip(bottoms, wheels, strict=True)
                if abs(b - height) <= allowance(w.radius, usual)]

    def support(height: float) -> tuple[int, bool]:
        return (len(reaching(height)),
                floor is not None and abs(floor - height) <= allowance(usual, usual))

    def casters(height: float) -> int:
        return len(find_casters(layout, [FoundWheel(w, Reason("")) for w in reaching(height)])[0])
    most = max(map(support, bottoms))
    best = [height for height in bottoms if support(height) == most]
    return best[0] if len(best) <= most[0] else max(best, key=casters)


def _contradicts(layout: Layout, contact: FoundWheel, floor: float) -> bool:
    """Whether the height of an axle makes one single shape unlikely to be the wheel; a
    base_footprint that is as high as the axle does not mark the ground of any wheel."""
    shapes = [f for f in contact.reason.supporting if f.witness in _SHAPES]
    above = centre_R(layout, contact.wheel)[2] - floor
    gap = bottom_R(layout, contact.wheel) - floor
    radius = contact.wheel.radius
    return len(shapes) == 1 and above > allowance(radius, radius) and abs(gap) > _GROSS * radius


def _fit(layout: Layout, contact: FoundWheel, ground: float) -> FoundWheel:
    """The wheel with the radius that its height asks for, unless it lies below the ground."""
    height = float(centre_R(layout, contact.wheel)[2]) - ground
    if height <= 0:
        return contact
    return replace(contact, wheel=replace(contact.wheel, radius=float(f"{height:.4g}")))
