"""Notices to the user about a robot that loads nevertheless."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ..errors import Remedy, Statement


class NoticeKind(str, Enum):
    """The subject of a notice; the values are the words in files."""

    # the file's text
    REPAIR = "repair"
    SECOND_SHAPE = "second shape"
    EMPTY_SHAPE = "empty shape"
    IMPOSSIBLE_INERTIA = "impossible inertia"
    MASSLESS = "massless"
    MISSING_MESH = "missing mesh"
    ROUNDED_ANGLES = "rounded angles"
    ONE_AXLE = "one axle"
    OPPOSED_AXES = "opposed axes"
    LEANING_STEERING = "leaning steering"
    CAMBER = "camber"
    # wheels and supports
    SKID = "skid"
    ROLLERS = "rollers"
    OTHER_KIND = "other kind"
    UNLISTED_WHEEL = "unlisted wheel"
    HANDLE = "handle"
    OTHER_RADIUS = "other radius"
    OTHER_SIDES = "other sides"
    OTHER_SEPARATION = "other separation"
    OFF_PLANE = "off plane"
    NO_ROLLING = "no rolling"
    WHEEL_INERTIA = "wheel inertia"
    CASTER_SHAPE = "caster shape"
    NO_SUPPORT = "no support"
    FREE_PITCH = "free pitch"
    ROLLS_SIDEWAYS = "rolls sideways"
    UPSIDE_DOWN = "upside down"
    OVERLAP = "overlap"
    # joints
    DRIVEN_FROM = "driven from"
    NOT_DRIVEN = "not driven"
    DRIVEN_FOLLOWER = "driven follower"
    UNKNOWN_JOINT = "unknown joint"
    LOCKED_STEERING = "locked steering"
    HELD = "held"
    FREED_FOLLOWER = "freed follower"
    DROPPED_MIMIC = "dropped mimic"
    IGNORED_LIMITS = "ignored limits"
    DEGREES = "degrees"
    COULOMB_FRICTION = "Coulomb friction"
    # the vehicle that was built
    SHARED_SHAFT = "shared shaft"
    SUPPORT_OFFSETS = "support offsets"
    ROLLER_RANK = "roller rank"
    STIFFNESS = "stiffness"
    UNENFORCED_LIMITS = "unenforced limits"
    BELOW_GROUND = "below ground"
    TILTED = "tilted"
    RADIUS_SCALE = "radius scale"
    SHORT_WHEELBASE = "short wheelbase"
    LOW_CENTRE = "low centre of mass"
    UNSUPPORTED_CENTRE = "unsupported centre of mass"
    MASS_SCALE = "mass scale"
    INERTIA_SCALE = "inertia scale"
    # a run
    LIFTED = "lifted"
    TIPS = "tips at rest"
    NOT_PRESSED = "not pressed"
    TWIST_RESIDUAL = "twist residual"
    COARSE_STEPS = "coarse steps"
    CONSERVATION = "conservation"
    OTHER_ROBOT = "other robot"


@dataclass(frozen=True)
class Notice(Statement):
    """One thing that was ignored, dropped, substituted or looks odd.

    Attributes
    ----------
    kind
        What it is about; code that looks for a notice compares this.
    text
        A sentence for the user, without the last full stop.
    remedy
        What to do about it, where that is an option of `load`.
    """

    kind: NoticeKind
    text: str
    remedy: Remedy | None = None

    __str__ = Statement.__str__

    def as_dict(self) -> dict[str, str]:
        """The notice as JSON values, for a run file."""
        remedy = self.remedy
        return {"kind": self.kind.value, "text": self.text} | ({} if remedy is None else {
            "python": remedy.python, "command": remedy.command})

    @classmethod
    def of_dict(cls, found: Mapping[str, str]) -> Notice:
        """The notice from `as_dict`. Raises `ValueError` and `KeyError` for anything else."""
        remedy = Remedy(found["python"], found["command"]) if "python" in found else None
        return cls(NoticeKind(found["kind"]), found["text"], remedy)


def unsaid(notices: Sequence[Notice], said: Sequence[Notice]) -> list[Notice]:
    """The notices about a run, without what those `said` about its vehicle made known: one whose
    centre of mass is outside its contacts tips at rest."""
    falls = any(notice.kind is NoticeKind.UNSUPPORTED_CENTRE for notice in said)
    return [notice for notice in notices if not (falls and notice.kind is NoticeKind.TIPS)]
