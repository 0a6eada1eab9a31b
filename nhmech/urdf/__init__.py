"""What is read of a robot's file: its description, and the kinds of wheels."""

from typing import TYPE_CHECKING

from .. import lazy

if TYPE_CHECKING:
    from .description import Description as Description
    from .wheel import KINDS as KINDS, Wheel as Wheel, WheelKind as WheelKind

lazy.attach(__name__, {
    "description": "Description",
    "wheel": "KINDS Wheel WheelKind",
})
