"""Tractors with one or two trailers, hitched as a test wants it."""

from __future__ import annotations

from functools import cache

from lxml import etree
from support import joint

import nhmech

DRAWBARS, HITCHES = (1.4, 1.2), ("hitch_1_joint", "hitch_2_joint")


@cache
def train(count: int, behind: float = 0.0, speeds: tuple[str, ...] | None = None,
          ahead: float = 0.0, turned: float = 0.0, aside: float = 0.0):
    """The shipped tractor with so many of its trailers; the second one is hitched `behind` [m]
    the first one's axle (0.35 as shipped); in the base's frame the car's origin is at (-ahead,
    -aside) [m], and `turned` [rad]."""
    root = etree.parse(str(nhmech.urdf_path("trailers"))).getroot()
    hitch = root.find("joint[@name='hitch_2_joint']")
    hitch.find("origin").set("xyz", f"{-DRAWBARS[0] - behind} 0 0")
    if count == 1:
        gone = {"trailer_2", "trailer_2_left_wheel", "trailer_2_right_wheel"}
        tag = root.find("nhmech")
        for parent, child in [(root, e) for e in root] + [(tag, e) for e in tag]:
            named = child.get("name") or str(child.get("joint")).removesuffix("_joint")
            of = child.find("child").get("link") if child.tag == "joint" else named
            if of in gone:
                parent.remove(child)
    if ahead or turned or aside:
        first = next(link.get("name") for link in root.iter("link") if root.find(
            f"joint/child[@link='{link.get('name')}']") is None)
        root.append(etree.fromstring('<link name="ahead"/>'))
        root.append(etree.fromstring(joint("rigid", "ahead", first, (-ahead, -aside, 0),
                                         (0, 0, turned), kind="fixed")))
    return nhmech.load(etree.tostring(root).decode(), speeds=speeds)
