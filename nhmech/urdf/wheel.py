"""What touches the ground, as a user writes it down."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from ..errors import ModelError

KINDS = ("disc", "torus", "sphere", "caster_ball", "omni", "mecanum", "blade")
_ROUND = ("disc", "torus", "omni", "mecanum")


@dataclass(frozen=True)
class Wheel:
    """One contact with the ground.

    Attributes
    ----------
    joint
        Name of the rolling joint; None where the contact is fixed to `link` (caster ball, blade, a
        ball that is a whole link).
    kind
        One of `KINDS`.
    radius
        To the outside of the wheel [m]; 0 for a blade.
    crown
        Radius of the tyre's cross-section [m] (torus).
    roller_angle
        Mecanum: angle [rad] from the axle to the roller's axis, seen from above, positive from left
        to forward: the no-slip direction is sin(angle) forward + cos(angle) left.
    axis
        Axle in the frame of `link`, unit; the joint's own axis where None. A blade: its lateral
        direction.
    mu
        Friction coefficient, for reports only.
    driven
        True or False overrides what the file says; None leaves it to the file.
    link
        The body that carries the contact; the child of `joint` where None.
    point
        Wheel centre C in the frame of `link` [m]; where None, the centre of the coaxial collision
        shape. A blade: its contact point.

    Raises
    ------
    ModelError
        For a kind that does not exist or numbers that make no wheel.
    """

    joint: str | None
    kind: str = "disc"
    radius: float = 0.0
    crown: float = 0.0
    roller_angle: float | None = None
    axis: tuple[float, float, float] | None = None
    mu: float | None = None
    driven: bool | None = None
    link: str | None = None
    point: tuple[float, float, float] | None = None

    def __post_init__(self):
        if self.joint is None and self.link is None:
            raise ModelError("a wheel needs the name of its joint, or of the link that carries the "
                             "contact")
        where = f"wheel {self.name!r}"
        if self.kind not in KINDS:
            raise ModelError(f"{where}: kind {self.kind!r} does not exist; choose one of "
                             f"{', '.join(KINDS)}")
        if not isfinite(self.radius) or (self.kind != "blade" and self.radius <= 0):
            raise ModelError(f"{where}: radius {self.radius} must be a positive length in metres")
        if self.kind == "mecanum" and self.roller_angle is None:
            raise ModelError(f"{where}: a mecanum wheel needs roller_angle=, usually "
                             "+-0.7853981633974483 (45 degrees)")
        if self.kind == "torus" and not 0 < self.crown <= self.radius:
            raise ModelError(f"{where}: crown {self.crown} must lie between 0 and the radius "
                             f"{self.radius}")
        if self.kind in _ROUND and self.joint is None and self.axis is None:
            raise ModelError(f"{where}: a {self.kind} fixed to a link needs axis=, its axle in the "
                             "link's frame")

    @property
    def name(self) -> str:
        """The joint's name, else the link's."""
        return self.joint if self.joint is not None else self.link
