from .description import (
    Description as Description,
    MidAxle as MidAxle,
    Released as Released,
    Scrubbing as Scrubbing,
)
from .notice import Notice as Notice, NoticeKind as NoticeKind
from .tyre import TYRES as TYRES, Grip as Grip, Tyre as Tyre
from .wheel import KINDS as KINDS, LAWS as LAWS, Wheel as Wheel, WheelKind as WheelKind
