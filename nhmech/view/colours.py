"""One colour for each contact, the same in every picture: trails and legend of the viewer, plots,
reports."""

from __future__ import annotations

# hues of Okabe and Ito, which the colour-blind tell apart, darker for lines on light ground
CONTACTS = ("#D64A0F", "#0069B2", "#00946B", "#C7619E", "#E09900", "#4CA8E0", "#000000", "#999933")


def contact_colour(number: int) -> str:
    """#RRGGBB of contact `number`, its place in `contact_names`; from the ninth on they come
    again."""
    return CONTACTS[number % len(CONTACTS)]


def contact_rgb(number: int) -> tuple[float, float, float]:
    """The same as (r, g, b) in [0, 1]."""
    return tuple(part / 255 for part in bytes.fromhex(contact_colour(number)[1:]))
