"""Wheels that somebody wrote down: names checked, link, axle and point filled in from the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

import numpy as np

from ...errors import InputError, ModelError, NhmechError, Remedy, listed
from ..description import FoundWheel, Reason
from ..layout import Joint, Layout, to_triple, to_words
from ..notice import Notice
from ..remedy import option, suggest
from ..wheel import Wheel
from .axis_hints import axis_error, upright_axes
from .radii import read_radii, report_radii, weigh_radii
from .rims import PARALLEL, Rim, find_rim
from .stance import axle_R, centre_R

_FLAT = 0.9999   # of 1: the upward part of an axle that is taken as vertical, up to 0.8 degrees


class Origin(Enum):
    """Where a name was written: in the file or in an argument of `load`; begins messages."""

    TAG = "<nhmech>"
    DRIVE = "<drive>"
    WHEELS = "the wheels given"
    FREE = "the joints to free"
    LOCKED = "the joints to lock"
    SKID = "skid"

    def error(self, message: str, remedy: Remedy | None = None) -> NhmechError:
        """The error to raise: `ModelError` about a file, `InputError` about an argument."""
        in_file = self in (Origin.TAG, Origin.DRIVE)
        return (ModelError if in_file else InputError)(f"{self.value}: {message}", remedy)


def read_wheels(wheels: object, origin: Origin) -> tuple[Wheel, ...]:
    """The wheels as a tuple."""
    try:
        given = (wheels,) if isinstance(wheels, Wheel) else tuple(wheels)  # type: ignore[arg-type]
    except TypeError:
        raise origin.error(f"{wheels!r} is not a sequence of Wheel") from None
    if not given:
        raise origin.error("none; leave them out to have the wheels found, or list at least one")
    seen = set()
    for wheel in given:
        if not isinstance(wheel, Wheel):
            raise origin.error(f"{wheel!r} is not a Wheel; write Wheel(joint, kind, radius)")
        if wheel.name in seen:
            raise origin.error(f"wheel {wheel.name!r} is listed twice; list each joint or link "
                               "once")
        seen.add(wheel.name)
    return given


def complete_wheels(layout: Layout, wheels: Sequence[Wheel],
                    origin: Origin) -> tuple[list[FoundWheel], list[Notice]]:
    """The wheels as given, each with `link` (the child of its joint), `axis` (unit) and `point`
    filled in; and notices. Raises `InputError` for unknown names, joints that cannot roll, axes
    across the joint, links that do not belong to the joint, wheels that lie flat; `ModelError`
    where the file lists such wheels.
    """
    contacts: list[FoundWheel] = []
    against: dict[str, Reason] = {}
    for wheel in wheels:
        if wheel.joint is None:
            contact = _complete_on_link(layout, wheel, origin)
        else:
            joint = find_joint(layout, wheel.joint, origin)
            rim = find_rim(layout, joint)
            contact = _complete_on_joint(layout, wheel, joint, rim, origin)
            if wheel.radius:
                height = float(centre_R(layout, contact.wheel)[2])
                radii = read_radii(layout, joint, height)
                facts, contradiction = weigh_radii(radii, wheel.radius, None)
                contact = replace(contact, reason=replace(contact.reason, facts=facts))
                if contradiction is not None:
                    against[wheel.name] = contradiction
        _check_stands(layout, contact.wheel, origin)
        contacts.append(contact)
    return contacts, report_radii(against)


def _complete_on_joint(layout: Layout, wheel: Wheel, joint: Joint, rim: Rim | None,
                       origin: Origin) -> FoundWheel:
    if not joint.turns:
        raise origin.error(f"{layout.source.at(joint.element)} is {joint.type} and cannot roll; "
                           "name a continuous or revolute joint, or the link alone")
    link = joint.child if wheel.link is None else wheel.link
    check_link(layout, link, origin)
    if link not in layout.rigid(joint.child):
        raise origin.error(f"wheel {wheel.name!r}: link {link!r} does not turn with the joint; "
                           f"its rotor is {listed(layout.rigid(joint.child))}")
    X = layout.X(joint.child, link)
    axis = joint.axis
    if wheel.axis is not None:
        axis = X[:3, :3] @ _unit(wheel.axis)
        if not wheel.traits.is_ball and np.linalg.norm(np.cross(axis, joint.axis)) > PARALLEL:
            raise origin.error(f"wheel {wheel.name!r}: axis={wheel.axis} is not the joint's axis "
                               f"{to_triple(joint.axis)}, about which it turns; leave axis= out")
    if wheel.point is not None:
        point, where = X[:3, :3] @ wheel.point + X[:3, 3], Reason("its point is given")
    elif rim is not None:
        point = np.array(rim.centre)
        where = replace(rim.reason, pattern=f"its centre is that of the {rim.reason.pattern}")
    else:
        point, where = np.zeros(3), Reason("its centre is the joint's origin")
    filled = replace(wheel, link=joint.child, axis=to_triple(axis), point=to_triple(point))
    return FoundWheel(filled, replace(where, pattern=f"from {origin.value}; {where.pattern}"))


def _complete_on_link(layout: Layout, wheel: Wheel, origin: Origin) -> FoundWheel:
    link = layout.carrier(wheel)
    check_link(layout, link, origin)
    axis = None if wheel.axis is None else to_triple(_unit(wheel.axis))
    if wheel.point is not None:
        point, where = np.array(wheel.point), "its point is given"
    else:
        kinds = ("sphere",) if wheel.traits.is_ball else ("cylinder", "sphere")
        shape = next((s for s in layout.shapes(link) if s.kind in kinds), None)
        point = np.zeros(3) if shape is None else shape.centre
        where = "its centre is " + ("the link's origin" if shape is None
                                    else f"that of the collision {shape.kind}")
    filled = replace(wheel, axis=axis, point=to_triple(point))
    return FoundWheel(filled, Reason(f"from {origin.value}; {where}"))


def _check_stands(layout: Layout, wheel: Wheel, origin: Origin) -> None:
    """A wheel whose axle is vertical lies flat: no point of its rim is the lowest. A ball on such a
    joint has no direction in which it rolls."""
    if (wheel.axis is None or not wheel.traits.held or not wheel.radius
            or abs(axle_R(layout, wheel)[2]) < _FLAT):
        return
    if wheel.traits.is_ball and wheel.joint is not None:
        ball = Wheel(None, wheel.kind, wheel.radius, link=wheel.link)
        turning = [j.name for j in layout.path(layout.joints[wheel.joint].child) if j.turns]
        raise origin.error(f"{layout.source.at(layout.joints[wheel.joint].element)}: its axis is "
                           "vertical in the start pose, so it rolls no ball",
                           suggest("To name the ball alone, which all joints above it turn: ",
                                   option("wheels", [ball]), ", ", option("free", turning)))
    joint = None if wheel.joint is None else layout.joints[wheel.joint]
    mistaken = upright_axes(layout)
    if joint in mistaken:
        raise axis_error(layout, [joint, *(j for j in mistaken if j is not joint)])
    where = layout.source.label if joint is None else layout.source.at(joint.element)
    raise origin.error(f"{where}: wheel {wheel.name!r}: its axle ({to_words(np.array(wheel.axis))})"
                       " is vertical in the start pose, so it would lie flat; an axle is "
                       'horizontal, such as <axis xyz="0 1 0"/>')


def find_joint(layout: Layout, name: str, origin: Origin) -> Joint:
    """The joint of that name. Raises an error that lists the joints there are."""
    if name not in layout.joints:
        moving = [j.name for j in layout.joints.values() if j.moves]
        raise origin.error(f"joint {name!r} does not exist in {layout.source.label}; joints that "
                           f"move: {listed(moving)}")
    return layout.joints[name]


def check_link(layout: Layout, name: str, origin: Origin) -> None:
    """Raises an error that lists the links there are where none has that name."""
    if name not in layout.links:
        raise origin.error(f"link {name!r} does not exist in {layout.source.label}; links: "
                           f"{listed(layout.links)}")


def _unit(axis: Sequence[float]) -> np.ndarray:
    return np.array(axis) / np.linalg.norm(axis)
