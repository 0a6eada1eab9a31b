"""Textbook systems, one file each: a derivation, and what it is held against."""

from typing import TYPE_CHECKING

from .. import lazy

if TYPE_CHECKING:
    from .catalogue import load_system as load_system, system_names as system_names
    from .example import Check as Check, Example as Example
    from .shapes import Shape as Shape

lazy.attach(__name__, {
    "catalogue": "load_system system_names",
    "example": "Check Example",
    "shapes": "Shape",
})
