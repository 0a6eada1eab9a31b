from .description import (
    Description as Description,
    MidAxle as MidAxle,
    Released as Released,
)
from .notice import Notice as Notice, NoticeKind as NoticeKind
from .wheel import KINDS as KINDS, Wheel as Wheel, WheelKind as WheelKind
