"""What is read of a robot's file: its description, notices about it, and the kinds of wheels."""

from typing import TYPE_CHECKING

from .. import lazy

if TYPE_CHECKING:
    from .description import (
        Description as Description,
        MidAxle as MidAxle,
        Released as Released,
    )
    from .notice import Notice as Notice, NoticeKind as NoticeKind
    from .wheel import KINDS as KINDS, Wheel as Wheel, WheelKind as WheelKind

lazy.attach(__name__, {
    "description": "Description MidAxle Released",
    "notice": "Notice NoticeKind",
    "wheel": "KINDS Wheel WheelKind",
})
