"""One colour for each contact, the same in every picture: trails and legend of the viewer, plots,
reports."""

from __future__ import annotations

from .drawable import Colour

# hues of Okabe and Ito, which the colour-blind tell apart, darker for lines on light ground
CONTACTS = ("#D64A0F", "#0069B2", "#00946B", "#C7619E", "#E09900", "#4CA8E0", "#000000", "#999933")


def contact_colour(number: int) -> str:
    """#RRGGBB of contact `number`, its place in `contact_names`; repeats after eight."""
    return CONTACTS[number % len(CONTACTS)]


def contact_rgb(number: int) -> Colour:
    """The same as (r, g, b) in [0, 1]."""
    red, green, blue = (part / 255 for part in bytes.fromhex(contact_colour(number)[1:]))
    return red, green, blue
