"""Repairs of a description that is sound as a text: rounded angles, leaning steering axes, wheels
without mass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi, radians

import numpy as np
from lxml import etree

from ..errors import listed
from .description import FoundWheel
from .layout import Layout
from .notice import Notice, NoticeKind
from .text.source import Element, Source, name_of
from .validate_inertia import read_inertia, write_inertia
from .wheels.rims import find_rim

# rad, a third of a degree: an angle this near to a right angle was meant to be one. 4.71 is 2.4e-3
# away from 3 pi / 2, 3.14 is 1.6e-3 away from pi
SNAP = 5e-3
# rad; steering axes leaning less are upright where a lean would lift one of more than three
# contacts: kingpins of cars lean by up to 15 degrees inwards and 10 backwards
LEAN = radians(20)
# kg/m^3, natural rubber: NIST, Composition of materials used in the ESTAR database
_RUBBER = 920.0
_WIDTH = 0.5           # of the radius: width of a wheel of which no shape tells it
_ROUNDING = 1e-12      # rad; sines and cosines are not exact
_WORTH_SAYING = 1e-5   # rad


def give_wheels_mass(layout: Layout, contacts: Sequence[FoundWheel]) -> list[Notice]:
    """Give wheels that roll on a joint and have no mass that of solid rubber of their size."""
    given = []
    for wheel in (contact.wheel for contact in contacts):
        if wheel.joint is None or not wheel.radius:
            continue
        joint = layout.joints[wheel.joint]
        if any(read_inertia(layout.source, inertial)[0] > 0 for link in layout.rigid(joint.child)
               for inertial in layout.links[link].findall("inertial")):
            continue
        rim = find_rim(layout, joint)
        width = rim.width if rim is not None and rim.width > 0 else _WIDTH * wheel.radius
        centre = np.zeros(3) if rim is None else rim.centre
        mass = _RUBBER * pi * wheel.radius ** 2 * width
        axial, across = mass * wheel.radius ** 2 / 2, mass * (3 * wheel.radius ** 2
                                                              + width ** 2) / 12
        link = layout.links[joint.child]
        for old in link.findall("inertial"):
            link.remove(old)
        inertial = etree.SubElement(link, "inertial")
        write(etree.SubElement(inertial, "origin"), "xyz", centre)
        write(etree.SubElement(inertial, "mass"), "value", [mass])
        write_inertia(inertial, across * np.eye(3)
                      + (axial - across) * np.outer(joint.axis, joint.axis))
        given.append(f"{wheel.name} 0 -> {mass:.3g} kg")
    if not given:
        return []
    return [Notice(NoticeKind.REPAIR, "wheels without mass; repaired: they have that of solid "
                                      f"rubber ({_RUBBER:g} kg/m^3) of their size: "
                                      f"{listed(given, 12)}")]


def snap_joints(source: Source, names: Iterable[str]) -> list[Notice]:
    """Turn joint frames that were meant to be at right angles exactly there: rpy 1.57 becomes pi/2.

    Only the named joints (those that carry wheels) and only angles within `SNAP` of a non-zero
    multiple of pi/2, and axes within `SNAP` of a coordinate axis. Without it every axle of such a
    robot leans by 0.0008 rad, and a car's tilted steering axes lock it. A notice reports changes of
    1e-5 rad and more.
    """
    wanted = set(names)
    changes = {name_of(joint): max(_snap_origin(source, joint), _snap_axis(source, joint))
               for joint in source.root.findall("joint") if name_of(joint) in wanted}
    rounded = {name: change for name, change in changes.items() if change >= _WORTH_SAYING}
    if not rounded:
        return []
    return [Notice(NoticeKind.ROUNDED_ANGLES,
                   f"{', '.join(rounded)}: angles rounded to 1.57 and the like are taken as the "
                   f"right angles they stand for (up to {max(rounded.values()):.1e} rad away)")]


def straighten_steering(layout: Layout, names: Iterable[str]) -> list[Notice]:
    """Make steering axes that lean by less than `LEAN` upright in the start pose.

    For more than three contacts: a rigid base cannot follow what leaning axes do to the heights.
    """
    leaning = []
    for name in names:
        joint = layout.joints[name]
        x, y, z = layout.axis_R(joint)
        lean = float(np.arctan2(np.hypot(x, y), abs(z)))
        if _ROUNDING < lean < LEAN:
            upright = layout.X_RL[joint.child][:3, :3].T @ (0, 0, np.sign(z))
            axis = joint.element.find("axis")
            if axis is None:
                axis = etree.SubElement(joint.element, "axis")
            write(axis, "xyz", upright)
            leaning.append(f"{name} ({np.degrees(lean):.2g} deg)")
    if not leaning:
        return []
    return [Notice(NoticeKind.LEANING_STEERING,
                   f"{', '.join(leaning)}: leaning steering axes are taken as upright, since more "
                   "than three contacts bear a rigid base")]


def _snap_origin(source: Source, joint: Element) -> float:
    """Round the angles of a joint's `<origin>`; returns the largest change [rad]."""
    origin = joint.find("origin")
    if origin is None or not origin.get("rpy"):
        return 0.0
    rpy = source.triple(origin, "rpy")
    snapped = [_snap(angle) for angle in rpy]
    if snapped != list(rpy):
        write(origin, "rpy", snapped)
    return max(abs(a - b) for a, b in zip(rpy, snapped, strict=True))


def _snap_axis(source: Source, joint: Element) -> float:
    """Round a joint's `<axis>` to a coordinate axis near it; returns the change [rad]."""
    axis = joint.find("axis")
    if axis is None or joint.get("type") == "fixed":
        return 0.0
    given = np.array(source.triple(axis, "xyz"))
    unit = given / np.linalg.norm(given)
    straight = np.where(np.abs(unit) > 0.5, np.sign(unit), 0.0)
    tilt = float(np.linalg.norm(unit - straight))
    if not 0 < tilt < SNAP:
        return 0.0
    write(axis, "xyz", straight)
    return tilt


def _snap(angle: float) -> float:
    turns = round(angle / (pi / 2))
    near = turns * (pi / 2)
    return near if turns != 0 and abs(angle - near) < SNAP else angle


def write(element: Element, attribute: str, values: Sequence[float] | np.ndarray) -> None:
    """Write numbers with all their digits."""
    element.set(attribute, " ".join(repr(float(value)) for value in values))
