"""Colours for links without any, by the function of the link.

One quiet family instead of a rainbow: cool greys for what belongs to the vehicle, apart by their
lightness (contrast 1.6 and more wherever two of them touch), and sand, apart by its hue, for what
it carries. Each has a contrast of 1.6 and more to the light and to the dark floor of the page.
Mirrored links have the same function, and so the same colour.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..urdf.description import Description
from ..urdf.text.source import Element

# as a URDF writes colours
BODY = "0.486 0.604 0.722 1"        # the root link: blue grey
PART = "0.729 0.769 0.804 1"        # fixed to it: light grey
WHEEL = "0.263 0.294 0.329 1"       # what rolls: slate
SUPPORT = "0.612 0.569 0.525 1"     # casters without a joint: warm grey
STEERING = "0.396 0.447 0.498 1"    # forks, knuckles, hitches: between body and wheel
# beyond any other joint: sand, link by link
ARMS = ("0.788 0.627 0.416 1", "0.659 0.514 0.345 1")
STRIPE = "0.930 0.930 0.900 1"      # shows that a plain wheel rolls


def link_colours(root: Element, description: Description) -> dict[str, str]:
    """Link -> colour, for all links of a robot."""
    below: dict[str, list[Element]] = {}
    for joint in _joints(root):
        below.setdefault(joint.find("parent").get("link"), []).append(joint)
    children = {joint.find("child").get("link") for joint in _joints(root)}
    tops = [link.get("name") for link in root.iterfind("link") if link.get("name") not in children]
    supports = {wheel.link for wheel in description.wheels if wheel.joint is None}
    found: dict[str, str] = {}
    pending = [(top, BODY, 0) for top in tops]
    while pending:
        link, colour, arm = pending.pop()
        found[link] = SUPPORT if link in supports and colour in (BODY, PART) else colour
        for joint in below.get(link, ()):
            moves = joint.get("type") != "fixed"
            beyond = arm + (moves and joint.get("name") not in (*description.rolling,
                                                                *description.steering))
            pending.append((joint.find("child").get("link"),
                            _colour(joint, colour, beyond, description), beyond))
    return found


def _colour(joint: Element, above: str, arm: int, description: Description) -> str:
    """Colour of the link below a joint, from that of the link above it and the joints of its
    arm."""
    if joint.get("name") in description.rolling:
        return WHEEL
    if joint.get("name") in description.steering:
        return STEERING
    if arm:
        return ARMS[arm % len(ARMS)]
    return PART if above == BODY else above


def _joints(root: Element) -> Iterator[Element]:
    for joint in root.iterfind("joint"):
        if joint.find("parent") is not None and joint.find("child") is not None:
            yield joint
