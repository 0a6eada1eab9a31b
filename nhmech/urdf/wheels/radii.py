"""The radius of a wheel: what each source gives, which of them counts, and what contradicts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..description import Fact, Reason, Witness
from ..layout import Joint, Layout, to_triple
from ..notice import Notice, NoticeKind
from .rims import Rim, RimSource, find_reach, find_rim, is_partial, largest_rims
from .rollers import roller_joints
from .stance import footprint

# part of a mesh's radius: makers give cylinders the effective radius of a loaded tyre, up to so
# much below the tread, or round it up
_MESH = (0.07, 0.05)
_OTHER = (0.1, 0.1)    # of any other source's radius, below and above

_WITNESSES = {RimSource.COLLISION_PRIMITIVE: Witness.PRIMITIVE,
              RimSource.COLLISION_MESH: Witness.COLLISION_MESH,
              RimSource.VISUAL_PRIMITIVE: Witness.DRAWN, RimSource.VISUAL_MESH: Witness.DRAWN}


@dataclass(frozen=True)
class Radius:
    """What one source gives."""

    witness: Witness  # the source
    value: float  # [m]
    reason: Reason  # the source in words
    rim: Rim | None  # where it is a shape
    # below, above: how far another radius may be off it and still agree [m]
    below: float
    above: float

    def agrees(self, radius: float) -> bool:
        """Whether another radius [m] is the same within what files usually differ by."""
        return self.value - self.below <= radius <= self.value + self.above

    @classmethod
    def of_plane(cls, value: float) -> Radius:
        """The height of an axle over the plane of the other wheels [m]."""
        slack = _OTHER[0] * value
        return cls(Witness.PLANE, value, Reason("height of its axle over the plane of the other "
                                                "wheels"), None, slack, slack)


def find_wheel_rim(layout: Layout, joint: Joint, *, meshes: bool = True) -> Rim | None:
    """The rim of a rotor, that of its rollers where it carries any. `joint`: on which the wheel
    rolls. `meshes`: whether to read meshes; without it, None where one of them could count."""
    rings = []
    for roller in roller_joints(layout, joint):
        rim = find_rim(layout, roller)
        if rim is not None:
            at = (layout.X(joint.child, roller.child) @ [*rim.centre, 1.0])[:3]
            along = joint.axis * (joint.axis @ at)
            radius = float(np.linalg.norm(at - along)) + rim.radius
            rings.append(replace(rim, radius=float(f"{radius:.4g}"), centre=to_triple(along, 6)))
    if not rings:
        return find_rim(layout, joint, meshes=meshes)
    return max(rings, key=lambda ring: ring.radius)


def read_radii(layout: Layout, joint: Joint, height: float | None = None) -> list[Radius]:
    """What every source says of the radius of the wheel on a joint, the best source first:
    collision cylinder or sphere, collision mesh, drawn shapes, height of the axle. `joint`: on
    which the wheel rolls. `height`: of the wheel's centre in the root's frame [m], to be compared
    with the base_footprint; None to leave that out.
    """
    found = []
    best = find_wheel_rim(layout, joint)
    rims = largest_rims(layout, joint)
    if best is not None and best not in rims:      # of rollers
        rims = [best]
    for rim in rims:
        # what is smaller on another link than the rim is another part: a hub, a gear
        if rim is None or (best is not None and rim.link != best.link
                           and rim.radius < best.radius):
            continue
        below, above = ((part * rim.radius) for part in (_MESH if rim.is_mesh else _OTHER))
        # without one of the meshes, the others are perhaps only a part of the wheel
        if rim.source is not RimSource.COLLISION_PRIMITIVE and is_partial(layout, joint):
            above = float("inf")
        if not rim.is_mesh:
            above = max(above, find_reach(layout, joint, rim) * (1 + _OTHER[1]) - rim.radius)
        found.append(Radius(_WITNESSES[rim.source], rim.radius, rim.reason, rim, below, above))
    mark = footprint(layout)
    if height is not None and mark is not None and height > mark[1]:
        value = height - mark[1]
        slack = _OTHER[0] * value
        found.append(Radius(Witness.FOOTPRINT, value, Reason("height of its axle over {}",
                                                             (mark[0],)), None, slack, slack))
    told = layout.elements.wheel_radii(joint.name, layout.rigid(joint.child))
    for teller, value in told.items():
        found.append(Radius(Witness.ELEMENT, value, Reason(f"radius in {teller}"), None,
                            *(part * value for part in _OTHER)))
    return found


def choose_radius(radii: Sequence[Radius], rim: Rim | None) -> Radius | None:
    """The source that counts: the rim that was found, or else a height; unless another shape and a
    further source agree with each other and both contradict it."""
    first = next((r for r in radii if r.rim == rim), None)
    if first is None or rim is None:
        return first
    against = [r for r in radii if not r.agrees(first.value)]
    for r in against:
        if r.rim is not None and any(s.agrees(r.value) for s in against if s is not r):
            return r
    return first


def weigh_radii(radii: Sequence[Radius], radius: float,
                chosen: Radius | None) -> tuple[tuple[Fact, ...], Reason | None]:
    """What the sources say of a radius [m], and those that contradict it in words, or None."""
    facts = tuple(Fact(r.witness, r is chosen or r.agrees(radius), r.value) for r in radii)
    against = [r for r, fact in zip(radii, facts, strict=True) if not fact.agrees]
    if not against:
        return facts, None
    words = [f"the {r.reason.pattern} {'is' if r.rim is None else 'has'} {r.value:.4g} m"
             for r in against]
    origin = "as given" if chosen is None else f"from the {chosen.reason.pattern}"
    sources = [r.reason for r in ([] if chosen is None else [chosen]) + against]
    return facts, Reason(f"radius {radius:.6g} m {origin}, although {' and '.join(words)}",
                         tuple(name for reason in sources for name in reason.names))


def report_radii(against: Mapping[str, Reason]) -> list[Notice]:
    """Notices about radii that other sources contradict, by the name of the wheel; those that
    differ only in names share one."""
    wheels: dict[str, list[str]] = {}
    for name, reason in against.items():
        wheels.setdefault(reason.pattern, []).append(name)
    return [Notice(NoticeKind.OTHER_RADIUS, f"{', '.join(names)}: {against[names[0]]}")
            for names in wheels.values()]
