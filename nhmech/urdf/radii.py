"""The radius of a wheel: what each source gives, which of them counts, and what contradicts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .description import Fact, Reason, Witness
from .layout import Joint, Layout
from .rims import Rim, RimSource, is_partial, largest_rims
from .stance import footprint

# part of a mesh's radius: makers give cylinders the effective radius of a loaded tyre, up to so
# much below the tread, or round it up
_MESH = (0.07, 0.05)
_OTHER = (0.1, 0.1)    # of any other source's radius, below and above
_HEIGHT = 5e-3         # m: a height may always be so much off

_WITNESSES = {RimSource.COLLISION_PRIMITIVE: Witness.PRIMITIVE,
              RimSource.COLLISION_MESH: Witness.COLLISION_MESH,
              RimSource.VISUAL_PRIMITIVE: Witness.DRAWN, RimSource.VISUAL_MESH: Witness.DRAWN}


@dataclass(frozen=True)
class Radius:
    """What one source gives.

    Attributes
    ----------
    witness
        The source.
    value
        [m]
    reason
        The source in words.
    rim
        Where it is a shape.
    below, above
        How far another radius may be off it and still agree [m].
    """

    witness: Witness
    value: float
    reason: Reason
    rim: Rim | None
    below: float
    above: float

    def agrees(self, radius: float) -> bool:
        """Whether another radius [m] is the same within what files usually differ by."""
        return self.value - self.below <= radius <= self.value + self.above

    @classmethod
    def of_plane(cls, value: float) -> Radius:
        """The height of an axle over the plane of the other wheels [m]."""
        slack = max(_HEIGHT, _OTHER[0] * value)
        return cls(Witness.PLANE, value, Reason("height of its axle over the plane of the other "
                                                "wheels"), None, slack, slack)


def read_radii(layout: Layout, joint: Joint, height: float | None = None) -> list[Radius]:
    """What every source says of the radius of the wheel on a joint, the best source first:
    collision cylinder or sphere, collision mesh, drawn shapes, height of the axle.

    Parameters
    ----------
    layout
        The robot.
    joint
        On which the wheel rolls.
    height
        Of the wheel's centre in the root's frame [m], to be compared with the base_footprint;
        None to leave that out.
    """
    found = []
    for rank, rim in enumerate(largest_rims(layout, joint)):
        if rim is None:
            continue
        below, above = ((part * rim.radius) for part in (_MESH if rim.is_mesh else _OTHER))
        # without one of the meshes, the others are perhaps only a part of the wheel
        if rank > 0 and is_partial(layout, joint):
            above = float("inf")
        found.append(Radius(_WITNESSES[rim.source], rim.radius, rim.reason, rim, below, above))
    mark = footprint(layout)
    if height is not None and mark is not None and height > mark[1]:
        value = height - mark[1]
        slack = max(_HEIGHT, _OTHER[0] * value)
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
                chosen: Radius | None) -> tuple[tuple[Fact, ...], str]:
    """What the sources say of a radius [m], and those that contradict it in words; "" where none
    does."""
    facts = tuple(Fact(r.witness, r is chosen or r.agrees(radius), r.value) for r in radii)
    against = [f"the {r.reason} {'is' if r.rim is None else 'has'} {r.value:.4g} m"
               for r, fact in zip(radii, facts, strict=True) if not fact.agrees]
    return facts, " and ".join(against)
