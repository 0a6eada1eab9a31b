"""Masses for bodies without any: wheels of rubber, a base of water."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np
import pinocchio as pin
from lxml import etree

from ..errors import FEW, listed
from .description import FoundWheel
from .layout import Layout, LinkShape
from .notice import Notice, NoticeKind
from .text.source import Element
from .validate_inertia import read_inertia, write_inertia
from .wheels.rims import find_rim, read_vertices

# kg/m^3, natural rubber: NIST, Composition of materials used in the ESTAR database
_RUBBER = 920.0
_WATER = 1000.0        # kg/m^3
_WIDTH = 0.5           # of the radius: width of a wheel of which no shape tells it


def give_mass(layout: Layout, contacts: Sequence[FoundWheel]) -> list[Notice]:
    """Give wheels that roll on a joint and have no mass that of solid rubber of their size, and a
    robot of which nothing has mass a base like water of its shapes; nothing where it has none."""
    notices = []
    if not any(_has_mass(layout, link) for link in layout.links):
        base = _fill(layout, layout.root, _WATER)
        if base is None:
            return []
        notices.append(Notice(NoticeKind.REPAIR, "a robot without mass; repaired: its base has "
                              f"that of water ({_WATER:g} kg/m^3) in its shapes, 0 -> {base:.3g} "
                              "kg"))
    given = []
    for wheel in (contact.wheel for contact in contacts):
        if wheel.joint is None or not wheel.radius:
            continue
        joint = layout.joints[wheel.joint]
        if any(_has_mass(layout, link) for link in layout.rigid(joint.child)):
            continue
        rim = find_rim(layout, joint)
        width = rim.width if rim is not None and rim.width > 0 else _WIDTH * wheel.radius
        mass = _RUBBER * pi * wheel.radius ** 2 * width
        axial, across = mass * wheel.radius ** 2 / 2, mass * (3 * wheel.radius ** 2
                                                              + width ** 2) / 12
        _write_inertial(layout, joint.child, mass, np.zeros(3) if rim is None else rim.centre,
                        across * np.eye(3) + (axial - across) * np.outer(joint.axis, joint.axis))
        given.append(f"{wheel.name} 0 -> {mass:.3g} kg")
    if given:
        notices.append(Notice(NoticeKind.REPAIR, "wheels without mass; repaired: they have that "
                              f"of solid rubber ({_RUBBER:g} kg/m^3) of their size: "
                              f"{listed(given, FEW)}"))
    return notices


def _has_mass(layout: Layout, link: str) -> bool:
    return any(read_inertia(layout.source, inertial)[0] > 0
               for inertial in layout.links[link].findall("inertial"))


def _fill(layout: Layout, head: str, density: float) -> float | None:
    """Gives a body the mass [kg] of the boxes about its shapes; None without shapes."""
    shapes = [s for link in layout.rigid(head)
              for s in layout.shapes(link, head) or layout.shapes(link, head, "visual")]
    parts = [box for shape in shapes if (box := _box(layout, shape, density)) is not None]
    if not parts:
        return None
    body = sum(parts[1:], parts[0])
    _write_inertial(layout, head, body.mass, body.lever, body.inertia)
    return float(body.mass)


def _box(layout: Layout, shape: LinkShape, density: float) -> pin.Inertia | None:
    """The inertia of the box about a shape, where that was asked; None of a mesh that is missing
    and of what is flat."""
    place = pin.SE3(shape.X_LS[:3, :3], shape.centre)
    if shape.kind == "mesh":
        vertices = read_vertices(layout, shape)
        if vertices is None:
            return None
        size = np.ptp(vertices, axis=0)
        place = pin.SE3(np.eye(3), vertices.min(axis=0) + size / 2)
    elif shape.kind == "box":
        size = np.array(shape.size)
    else:
        wide = 2 * shape.size[0]
        size = np.array([wide, wide, shape.size[1] if shape.kind == "cylinder" else wide])
    mass = density * float(np.prod(size))
    return place.act(pin.Inertia.FromBox(mass, *map(float, size))) if mass > 0 else None


def _write_inertial(layout: Layout, name: str, mass: float, centre: Sequence[float] | np.ndarray,
                    inertia: np.ndarray) -> None:
    link = layout.links[name]
    for old in link.findall("inertial"):
        link.remove(old)
    inertial = etree.SubElement(link, "inertial")
    format_number(etree.SubElement(inertial, "origin"), "xyz", centre)
    format_number(etree.SubElement(inertial, "mass"), "value", [mass])
    write_inertia(inertial, inertia)


def format_number(element: Element, attribute: str, values: Sequence[float] | np.ndarray) -> None:
    """Write numbers with all their digits."""
    element.set(attribute, " ".join(repr(float(value)) for value in values))
