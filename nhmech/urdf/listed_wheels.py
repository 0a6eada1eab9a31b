"""Wheels that somebody wrote down: names checked, link, axle and point filled in from the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import ModelError
from .axis_hints import suggest_axis, upright_axes
from .inference import FoundWheel
from .layout import Joint, Layout
from .rims import PARALLEL, find_rim
from .stance import axle_R
from .wheel import Wheel

_FLAT = 0.9999  # of 1: the upward part of an axle that is taken as vertical, up to 0.8 degrees


def read_wheels(wheels, origin: str) -> tuple[Wheel, ...]:
    """The wheels as a tuple; `ModelError` for what is no sequence of `Wheel`, is empty, or names a
    contact twice."""
    if isinstance(wheels, Wheel):
        wheels = [wheels]
    try:
        wheels = tuple(wheels)
    except TypeError:
        raise ModelError(f"{origin}: {wheels!r} is not a sequence of Wheel") from None
    if not wheels:
        raise ModelError(f"{origin}: is empty; leave it out to have the wheels found, or list at "
                         "least one Wheel")
    seen = set()
    for wheel in wheels:
        if not isinstance(wheel, Wheel):
            raise ModelError(
                f"{origin}: {wheel!r} is not a Wheel; write Wheel(joint, kind, radius)"
            )
        if wheel.name in seen:
            raise ModelError(f"{origin}: wheel {wheel.name!r} is listed twice; list each joint or "
                             "link once")
        seen.add(wheel.name)
    return wheels


def complete_wheels(layout: Layout, wheels: Sequence[Wheel],
                    origin: str) -> tuple[list[FoundWheel], list[str]]:
    """The wheels as given, each with `link` (the child of its joint), `axis` (unit) and `point`
    filled in; and notices.

    `origin` says who gave them ("wheels=" or "<nhmech>").

    Raises
    ------
    ModelError
        For unknown names, joints that cannot roll, axes across the joint, links that do not belong
        to the joint, wheels that lie flat.
    """
    contacts, notices = [], []
    for wheel in wheels:
        place = _on_joint if wheel.joint is not None else _on_link
        contact, notice = place(layout, wheel, origin)
        _check_stands(layout, contact.wheel, origin)
        contacts.append(contact)
        notices += notice
    return contacts, notices


def _on_joint(layout: Layout, wheel: Wheel, origin: str) -> tuple[FoundWheel, list[str]]:
    joint = find_joint(layout, wheel.joint, origin)
    if not joint.turns:
        raise ModelError(f"{origin}: {layout.source.at(joint.element)} is {joint.type} and cannot "
                         "roll; name a continuous or revolute joint, or the link alone")
    link = wheel.link if wheel.link is not None else joint.child
    check_link(layout, link, origin)
    if link not in layout.rigid(joint.child):
        rotor = ", ".join(layout.rigid(joint.child))
        raise ModelError(f"{origin}: wheel {wheel.name!r}: "
                         f"link {link!r} does not turn with the joint; its rotor is {rotor}")
    X = layout.X(joint.child, link)
    axis = joint.axis
    if wheel.axis is not None:
        axis = X[:3, :3] @ _unit(wheel.axis)
        if not wheel.traits.is_ball and np.linalg.norm(np.cross(axis, joint.axis)) > PARALLEL:
            raise ModelError(f"{origin}: wheel {wheel.name!r}: axis={wheel.axis} is not the "
                             f"joint's axis {_tuple(joint.axis)}, about which it turns; leave "
                             "axis= out")
    rim, notices = find_rim(layout, joint), []
    if wheel.point is not None:
        point, where = X[:3, :3] @ np.array(wheel.point) + X[:3, 3], "its point is given"
    elif rim is not None:
        point, where = (
            np.array(rim.centre), f"its centre is that of the collision {rim.kind} of {rim.link!r}",
        )
    else:
        point, where = np.zeros(3), "its centre is the joint's origin"
    if rim is not None and abs(rim.radius - wheel.radius) > 0.1 * rim.radius:
        notices.append(f"{wheel.name}: radius {wheel.radius:.6g} m as given, although the "
                       f"collision {rim.kind} of {rim.link!r} has {rim.radius:.6g} m")
    filled = replace(wheel, link=joint.child, axis=_tuple(axis), point=_tuple(point))
    return FoundWheel(filled, f"from {origin}; {where}"), notices


def _on_link(layout: Layout, wheel: Wheel, origin: str) -> tuple[FoundWheel, list[str]]:
    check_link(layout, wheel.link, origin)
    axis = None if wheel.axis is None else _unit(wheel.axis)
    if wheel.point is not None:
        point, where = wheel.point, "its point is given"
    else:
        kinds = ("sphere",) if wheel.traits.is_ball else ("cylinder", "sphere")
        shape = next((s for s in layout.shapes(wheel.link) if s.kind in kinds), None)
        point = np.zeros(3) if shape is None else shape.centre
        where = "the link's origin" if shape is None else f"that of the collision {shape.kind}"
        where = f"its centre is {where}"
    filled = replace(wheel, axis=None if axis is None else _tuple(axis), point=_tuple(point))
    return FoundWheel(filled, f"from {origin}; {where}"), []


def _check_stands(layout: Layout, wheel: Wheel, origin: str) -> None:
    """A wheel whose axle is vertical lies flat: no point of its rim is the lowest."""
    if wheel.traits.is_ball or not wheel.radius or abs(axle_R(layout, wheel)[2]) < _FLAT:
        return
    joint = layout.joints.get(wheel.joint)
    mistaken = upright_axes(layout)
    if joint in mistaken:
        raise ModelError(suggest_axis(layout, [joint, *(j for j in mistaken if j is not joint)]))
    where = layout.source.label if joint is None else layout.source.at(joint.element)
    raise ModelError(f"{origin}: {where}: wheel {wheel.name!r}: its axle "
                     f"({' '.join(f'{c:g}' for c in wheel.axis)}) is vertical in the start pose, "
                     "so it would lie flat; an axle is horizontal, such as <axis xyz=\"0 1 0\"/>")


def find_joint(layout: Layout, name: str, origin: str) -> Joint:
    """The joint of that name. Raises `ModelError` listing the joints there are."""
    if name not in layout.joints:
        moving = [j.name for j in layout.joints.values() if j.moves]
        shown = ", ".join(moving[:30]) + (f" and {len(moving) - 30} more" if len(moving) > 30
                                          else "")
        raise ModelError(f"{origin}: joint {name!r} does not exist in {layout.source.label}; "
                         f"joints that move: {shown or 'none'}")
    return layout.joints[name]


def check_link(layout: Layout, name: str, origin: str) -> None:
    """Raises `ModelError` listing the links there are where none has that name."""
    if name not in layout.links:
        links = list(layout.links)
        shown = ", ".join(links[:30]) + (f" and {len(links) - 30} more" if len(links) > 30 else "")
        raise ModelError(f"{origin}: link {name!r} does not exist in {layout.source.label}; links: "
                         f"{shown}")


def _unit(axis: Sequence[float]) -> np.ndarray:
    return np.array(axis) / np.linalg.norm(axis)


def _tuple(array) -> tuple[float, float, float]:
    return tuple(float(c) + 0.0 for c in np.round(array, 15))
