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
from .wheel import Wheel

_BALLS = ("sphere", "caster_ball")
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
        For unknown names, joints that cannot roll, axes of zero length or across the joint, links
        that do not belong to the joint, blades without axis or point, wheels that lie flat.
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
        axis = X[:3, :3] @ _unit(wheel, origin)
        if wheel.kind not in _BALLS and np.linalg.norm(np.cross(axis, joint.axis)) > PARALLEL:
            raise ModelError(f"{origin}: wheel {wheel.name!r}: axis={wheel.axis} is not the "
                             f"joint's axis {_tuple(joint.axis)}, about which it turns; leave "
                             "axis= out")
    rim, notices = find_rim(layout, joint), []
    if wheel.point is not None:
        point, where = X[:3, :3] @ _finite(wheel, origin) + X[:3, 3], "its point is given"
    elif rim is not None:
        point, where = (
            np.array(rim.centre), f"its centre is that of the collision {rim.kind} of {rim.link!r}",
        )
    else:
        point, where = np.zeros(3), "its centre is the joint's origin"
    if (
        rim is not None
        and wheel.kind != "blade"
        and abs(rim.radius - wheel.radius) > 0.1 * rim.radius
    ):
        notices.append(f"{wheel.name}: radius {wheel.radius:.6g} m as given, although the "
                       f"collision {rim.kind} of {rim.link!r} has {rim.radius:.6g} m")
    filled = replace(wheel, link=joint.child, axis=_tuple(axis), point=_tuple(point))
    return FoundWheel(filled, f"from {origin}; {where}"), notices


def _on_link(layout: Layout, wheel: Wheel, origin: str) -> tuple[FoundWheel, list[str]]:
    check_link(layout, wheel.link, origin)
    axis = None if wheel.axis is None else _unit(wheel, origin)
    if wheel.kind == "blade" and axis is None:
        raise ModelError(f"{origin}: wheel {wheel.name!r}: a blade needs axis=, its lateral "
                         "direction in the frame of its link, such as (0, 1, 0)")
    if wheel.point is not None:
        point, where = _finite(wheel, origin), "its point is given"
    elif wheel.kind == "blade":
        raise ModelError(f"{origin}: wheel {wheel.name!r}: a blade needs point=, where it touches "
                         "the ground, in the frame of its link [m]")
    else:
        kinds = ("sphere",) if wheel.kind in _BALLS else ("cylinder", "sphere")
        shape = next((s for s in layout.shapes(wheel.link) if s.kind in kinds), None)
        point = np.zeros(3) if shape is None else shape.centre
        where = "the link's origin" if shape is None else f"that of the collision {shape.kind}"
        where = f"its centre is {where}"
    filled = replace(wheel, axis=None if axis is None else _tuple(axis), point=_tuple(point))
    return FoundWheel(filled, f"from {origin}; {where}"), []


def _check_stands(layout: Layout, wheel: Wheel, origin: str) -> None:
    """A wheel whose axle is vertical lies flat: no point of its rim is the lowest."""
    if wheel.kind in (*_BALLS,
                      "blade") or abs((layout.X_RL[wheel.link][:3, :3] @ wheel.axis)[2]) < _FLAT:
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


def _finite(wheel: Wheel, origin: str, what: str = "point") -> np.ndarray:
    try:
        value = np.array(getattr(wheel, what), dtype=float)
    except (TypeError, ValueError):
        value = np.array([np.nan])
    if value.shape != (3,) or not np.all(np.isfinite(value)):
        raise ModelError(f"{origin}: wheel {wheel.name!r}: "
                         f"{what}={getattr(wheel, what)!r} must be three finite numbers")
    return value


def _unit(wheel: Wheel, origin: str) -> np.ndarray:
    axis = _finite(wheel, origin, "axis")
    if np.linalg.norm(axis) < 1e-9:
        raise ModelError(f"{origin}: wheel {wheel.name!r}: axis={wheel.axis} has no direction")
    return axis / np.linalg.norm(axis)


def _tuple(array) -> tuple[float, float, float]:
    return tuple(float(c) + 0.0 for c in np.round(array, 15))
