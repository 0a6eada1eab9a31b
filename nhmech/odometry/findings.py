"""Kinds of findings about a log, by name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FindingKind(str, Enum):
    """The subject of a finding; the values are the words of messages and JSON."""

    # the messages
    NOT_FINITE = "not finite"
    UNORDERED = "unordered"
    DUPLICATE = "duplicate"
    MISSING = "missing"
    CLOCK_JUMP = "clock jump"
    CLOCK_OFFSET = "clock offset"
    # the odometry against its wheels
    SIGN = "sign"
    SWAPPED = "swapped"
    RADIUS = "radius"
    SEPARATION = "separation"
    WHEELBASE = "wheelbase"
    SENSOR_POSE = "sensor pose"
    LATERAL_VELOCITY = "lateral velocity"
    TWIST = "twist"
    # the motion
    SLIP = "slip"


EPOCH = 1e5          # [s]: larger times are those of the wall's clock


def at(t: float) -> str:
    """A time [s] in a sentence; wall-clock times to the millisecond."""
    return f"{t:.3f}" if abs(t) > EPOCH else f"{t:.6g}"


# of the motion, and of what lasts of it
SLIDING = (FindingKind.SLIP, FindingKind.LATERAL_VELOCITY)
LASTING = (FindingKind.SIGN, FindingKind.SWAPPED, FindingKind.RADIUS, FindingKind.SEPARATION,
           FindingKind.WHEELBASE)


@dataclass(frozen=True)
class Finding:
    """One thing that contradicts ideal rolling, or the log itself.

    Attributes
    ----------
    kind
        What it is about; code that looks for a finding compares this.
    text
        A sentence, without the last full stop.
    start, end
        When [s]; None if it is the whole log.
    """

    kind: FindingKind
    text: str
    start: float | None = None
    end: float | None = None

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.text}"

    def as_dict(self) -> dict[str, str | float | None]:
        """The finding as JSON values."""
        return {"kind": self.kind.value, "text": self.text, "start": self.start, "end": self.end}
