"""Capsules, which URDF's own parser does not know, as a cylinder and two balls."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pinocchio as pin
from lxml import etree

from .fault import Element
from .source import Source


def split_capsules(source: Source) -> None:
    """Replaces every capsule by a cylinder and a ball at each end: the same set of points."""
    for element in (*source.root.iterfind("link/visual"), *source.root.iterfind("link/collision")):
        shape = next(element.iterfind("geometry/*"), None)
        if shape is not None and shape.tag == "capsule":
            _split(source, element, shape)


def _split(source: Source, element: Element, shape: Element) -> None:
    half = source.number(shape, "length") / 2
    ends = [_move(source, element, end) for end in (-half, half)]
    shape.tag = "cylinder"
    for ball in ends:
        sphere = next(ball.iterfind("geometry/*"))
        sphere.tag = "sphere"
        del sphere.attrib["length"]
        element.addnext(ball)


def _move(source: Source, element: Element, along: float) -> Element:
    """A copy of a shape, farther along its z axis."""
    copy = deepcopy(element)
    origin = copy.find("origin")
    if origin is None:
        origin = etree.SubElement(copy, "origin")
    at, rpy = (source.triple(origin, name, (0.0, 0.0, 0.0)) for name in ("xyz", "rpy"))
    moved = np.array(at) + along * pin.rpy.rpyToMatrix(*rpy)[:, 2]
    origin.set("xyz", " ".join(repr(float(p)) for p in moved))
    return copy
