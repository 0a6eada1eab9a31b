"""The decisions of the loader about a robot: the interface between reading files and building
mechanics."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from ..checks import check_arguments
from ..errors import REPR, listed
from .notice import Notice
from .wheel import Wheel


@dataclass(frozen=True)
class JointLimits:
    """Limits of a joint, infinite where there is none: position [rad, m], velocity [rad/s, m/s],
    effort [N m, N]."""

    lower: float = float("-inf")
    upper: float = float("inf")
    velocity: float = float("inf")
    effort: float = float("inf")


NO_LIMITS = JointLimits()


@dataclass(frozen=True)
class Mimic:
    """q_joint = multiplier q_leader + offset."""

    joint: str
    leader: str
    multiplier: float = 1.0
    offset: float = 0.0


class Witness(str, Enum):
    """An independent source of evidence about a wheel; its value is how messages call it."""

    PRIMITIVE = "collision primitive"
    COLLISION_MESH = "collision mesh"
    DRAWN = "drawn shape"
    PLANE = "common plane"
    FOOTPRINT = "height over base_footprint"
    AXLE = "level axle"
    JOINT = "free joint"
    LEAF = "nothing hangs on it"
    PARTNER = "partner on the axle"
    ROLLERS = "rollers"
    ELEMENT = "controller or plugin"
    NAME = "name"


@dataclass(frozen=True)
class Fact:
    """The statement of one source about a wheel."""

    witness: Witness  # the source
    agrees: bool  # whether it supports that this is a wheel, and of this radius
    radius: float | None = None  # the radius that it gives by itself [m]; None where it gives none

    def __str__(self) -> str:
        return self.witness.value + (f" {self.radius:.4g} m" if self.radius is not None else "")


@dataclass(frozen=True)
class Reason:
    """Where a wheel and its radius came from, as a sentence; equal but for the names, it has an
    equal pattern.

    Attributes
    ----------
    pattern
        The sentence, with {} in the place of each name.
    names
        Of joints, links and the like.
    facts
        What each source says of the wheel; those that say nothing are not in it.
    """

    pattern: str
    names: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()

    def __str__(self) -> str:
        return self.pattern.format(*map(repr, self.names))

    @property
    def supporting(self) -> tuple[Fact, ...]:
        """Facts that agree with the wheel as it was taken."""
        return tuple(fact for fact in self.facts if fact.agrees)

    @property
    def contradicting(self) -> tuple[Fact, ...]:
        """Facts that contradict the wheel as it was taken."""
        return tuple(fact for fact in self.facts if not fact.agrees)


@dataclass(frozen=True)
class FoundWheel:
    """A wheel with link, axis and point filled in, and where it and its radius came from."""

    wheel: Wheel
    reason: Reason


@check_arguments
@dataclass(frozen=True)
class MidAxle:
    """Skid steering: the wheels scrub, and the middle between their axles does not slip sideways.

    Attributes
    ----------
    track
        Apparent track over the true one; more than 1 for the usual scrubbing.
    """

    track: float = 1.0


@dataclass(frozen=True)
class Released:
    """Skid steering: these wheels slip sideways without resistance, the others do not.

    Attributes
    ----------
    wheels
        Their names.
    """

    wheels: tuple[str, ...]


@dataclass(frozen=True)
class Scrubbing:
    """Skid steering by friction: all wheels hold sideways as they do along.

    Ideal rolling then goes straight only; the vehicle turns where its wheels slide
    (`Simulator(contact="coulomb")`).
    """


Skid = MidAxle | Released | Scrubbing
SKID_MODELS: dict[str, Skid] = {"mid-axle": MidAxle(), "coulomb": Scrubbing()}


@dataclass(frozen=True)
class Description:
    """A validated robot, its wheels, and the role of every joint that can move.

    Attributes
    ----------
    xml
        Plain URDF text that Pinocchio can read (xacro expanded).
    name
        Of the robot.
    root
        Name of the root link.
    wheels
        Each with link, axis (unit, in the link's frame; None for ball kinds without one) and point
        filled in.
    rolling
        Joints of the wheels, in the order of `wheels`.
    path
        Where it came from; None for a string.
    steering
        Joints between the root and a wheel that stay free: steering, swivels, hitches.
    driven
        Joints that take effort or commands, a subset of the moving ones.
    free
        Other joints released by the user.
    locked
        Joint -> position [rad, m] at which it is held.
    mimic
        Couplings between moving joints that act as constraints.
    damping
        Joint -> viscous coefficient [N m s/rad, N s/m].
    limits
        Joint -> `JointLimits`, for the moving joints.
    speeds
        Names of the independent speeds the user asked for, or None.
    skid
        What gives way where ideal rolling forbids to turn; None where nothing has to.
    reasons
        Wheel name -> where it and its radius came from.
    notices
        What was ignored, dropped or substituted.
    packages
        Package name -> folder, for meshes.
    mu
        Wheel name -> friction coefficient, where `<mu1>` and `<mu2>` of the file say it.
    stiffness
        Wheel name -> vertical stiffness [N/m], where `<kp>` of the file says it.
    confined
        Whether it came out of a run file, which may be anybody's: its meshes are read below the
        packages and the robot's own folder alone.
    """

    xml: str
    name: str
    root: str
    wheels: tuple[Wheel, ...]
    rolling: tuple[str, ...]
    path: Path | None = None
    steering: tuple[str, ...] = ()
    driven: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    locked: dict[str, float] = field(default_factory=dict)
    mimic: tuple[Mimic, ...] = ()
    damping: dict[str, float] = field(default_factory=dict)
    limits: dict[str, JointLimits] = field(default_factory=dict)
    speeds: tuple[str, ...] | None = None
    skid: Skid | None = None
    reasons: dict[str, Reason] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    packages: dict[str, Path] = field(default_factory=dict)
    mu: dict[str, float] = field(default_factory=dict)
    stiffness: dict[str, float] = field(default_factory=dict)
    confined: bool = False

    def __repr__(self) -> str:
        wheels = listed((wheel.name for wheel in self.wheels), REPR)
        driven = listed(self.driven, REPR)
        return f"<Description of {self.name!r}: wheels {wheels}; driven {driven}>"

    @property
    def released(self) -> tuple[str, ...]:
        """Wheels whose lateral row `skid` frees."""
        return self.skid.wheels if isinstance(self.skid, Released) else ()

    @property
    def track_factor(self) -> float | None:
        """The track factor of the mid-axle model, or None."""
        return self.skid.track if isinstance(self.skid, MidAxle) else None
