"""What a referee finds in a log, each thing by its name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FindingKind(str, Enum):
    """What a finding is about; the value is how messages and JSON spell it."""

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
        When [s]; None where it is the whole log.
    """

    kind: FindingKind
    text: str
    start: float | None = None
    end: float | None = None

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.text}"

    def as_dict(self) -> dict[str, str | float | None]:
        """As JSON has it."""
        return {"kind": self.kind.value, "text": self.text, "start": self.start, "end": self.end}
