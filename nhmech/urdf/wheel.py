"""Contacts with the ground as a user describes them, and the kinds of wheels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, fields
from math import inf, pi, radians
from typing import Any

import numpy as np

from ..checks import as_number, read_array, read_number, read_word
from ..errors import InputError, listed
from .tyre import Tyre, read_tyre

BOTH = ("longitudinal", "lateral")


def _tyre(sine: Any, along: Any, radius: Any, crown: Any) -> tuple[Any, Any]:
    """Profile of a wheel whose edge is a circular arc; of a disc where the crown is 0."""
    return radius - crown, crown


def _ball(sine: Any, along: Any, radius: Any, crown: Any) -> tuple[Any, Any]:
    return 0, radius


@dataclass(frozen=True)
class WheelKind:
    """The common properties of all wheels of a kind.

    A new kind is one entry of `KINDS`: the loader, the contact rows, the command line and the
    contract test of `tests/test_contact.py` follow the entry.

    Attributes
    ----------
    held
        The tangential directions without slip: "longitudinal", "lateral", or "roller" (the
        direction of `Wheel.roller_angle`).
    profile
        (sine, along, radius, crown) -> (flat, crown), with sine = `|a x n|` and along = a.n of the
        axle a and the ground's normal n. The contact point is K = C - flat d - crown n, where d is
        the unit vector across the axle in the plane of a and n. The arguments are numbers or
        symbols: the profile uses arithmetic on them and nothing else. K must be the point of the
        wheel's surface whose normal is n.
    is_ball
        Whether it looks the same from every side: it needs no axle, and it cannot lie flat.
    needed, refused
        Fields of `Wheel` that a user must give, and those that have no meaning for the kind.
    """

    held: tuple[str, ...]
    profile: Callable[[Any, Any, Any, Any], tuple[Any, Any]] = _tyre
    is_ball: bool = False
    needed: tuple[str, ...] = ("radius",)
    refused: tuple[str, ...] = ("crown", "roller_angle")

    @property
    def grips(self) -> bool:
        """Whether it holds both directions on an axle: the vehicle can only turn if such wheels are
        steered or scrub."""
        return set(BOTH) <= set(self.held) and not self.is_ball

    @property
    def has_rollers(self) -> bool:
        """Whether it drives and slides sideways at once."""
        return bool(self.held) and "lateral" not in self.held


KINDS = {
    "disc": WheelKind(BOTH),
    "torus": WheelKind(BOTH, needed=("radius", "crown"), refused=("roller_angle",)),
    "sphere": WheelKind(BOTH, _ball, is_ball=True),
    "caster_ball": WheelKind((), _ball, is_ball=True),
    "omni": WheelKind(("longitudinal",)),
    "mecanum": WheelKind(("roller",), needed=("radius", "roller_angle"), refused=("crown",)),
    "blade": WheelKind(("lateral",), needed=("axis", "point"),
                       refused=("joint", "radius", "crown", "roller_angle")),
}

# how the ground acts on a wheel along its surface
LAWS = ("rolling", "coulomb", "tyre")

# what to write for a field that is missing
_HINTS = {
    "radius": "a positive length in metres",
    "crown": "the radius of the tyre's cross-section [m]",
    "roller_angle": "usually +-0.7853981633974483 (45 degrees)",
    "axis": "the axle (of a blade its lateral direction) in the frame of its link, such as "
            "(0, 1, 0)",
    "point": "where it touches the ground, in the frame of its link [m]",
}
_SHORTEST_AXIS = 1e-9      # shorter than any axis that was meant as a direction


@dataclass(frozen=True)
class Wheel:
    """One contact of a vehicle with the ground.

    Attributes
    ----------
    joint
        The rolling joint; None where the contact is fixed to `link` (caster ball, blade, a ball
        that is a whole link).
    kind
        One of `KINDS`; it decides which of the other fields are needed.
    radius
        To the outside of the wheel [m].
    crown
        Radius of the tyre's cross-section [m]; of a torus only.
    roller_angle
        Of a mecanum wheel: angle [rad] from the axle to the roller's axis, seen from above,
        positive from left to forward. The no-slip direction is sin(angle) forward + cos(angle)
        left.
    axis
        Axle in the frame of `link`; the joint's own axis if None. Of a blade: its lateral
        direction.
    mu
        Friction coefficient, used for wheels that may slide, and in reports.
    stiffness
        Vertical stiffness [N/m], which decides how wheels share a load that is undetermined for
        rigid bodies; only ratios matter.
    driven
        Whether a motor drives the wheel; None leaves it to the file. Only for a wheel with a joint.
    link
        The body that carries the contact; the child of `joint` if None.
    point
        Wheel centre C in the frame of `link` [m]; the centre of the coaxial collision shape where
        None. Of a blade: its contact point.
    law
        One of `LAWS`: "rolling": ideal rolling. "coulomb": the wheel rolls as long as friction
        suffices and slides otherwise (`Simulator` has `mu` and restitution); for kinds that hold
        some direction. "tyre": the forces follow from the slip; for wheels on an axle that hold
        both directions.
    tyre
        For the law "tyre": a `Tyre`, the name of one of `TYRES`, or its text.

    Raises
    ------
    InputError
        For an unknown kind, a missing field that the kind needs, a field that has no meaning for
        it, and numbers out of range.

    Examples
    --------
    >>> Wheel("left_wheel_joint", "disc", 0.1)
    Wheel('left_wheel_joint', 'disc', 0.1)
    >>> Wheel(None, "caster_ball", 0.03, link="caster_link")
    Wheel(None, 'caster_ball', 0.03, link='caster_link')
    """

    joint: str | None
    kind: str = "disc"
    radius: float = 0.0
    _: KW_ONLY
    crown: float = 0.0
    roller_angle: float | None = None
    axis: tuple[float, float, float] | None = None
    mu: float | None = None
    driven: bool | None = None
    link: str | None = None
    point: tuple[float, float, float] | None = None
    stiffness: float | None = None
    law: str = "rolling"
    tyre: Tyre | str | None = None

    def __post_init__(self) -> None:
        for what in ("joint", "link"):
            if not isinstance(getattr(self, what), (str, type(None))):
                raise InputError(f"wheel: {what}={getattr(self, what)!r} must be a name")
        if self.joint is None and self.link is None:
            raise InputError("a wheel needs the name of its joint, or of the link that carries the "
                             "contact")
        where = f"wheel {self.name!r}"
        read_word(f"{where}: kind", self.kind, KINDS)
        self._check_numbers(where)
        self._check_fields(where)
        self._check_law(where)

    def _check_numbers(self, where: str) -> None:
        for what in ("radius", "crown"):
            value = getattr(self, what)
            if read_number(f"{where}: {what}", value, "a length in metres") < 0:
                raise InputError(f"{where}: {what} = {value!r} must be a positive length in metres")
        if self.radius and self.crown > self.radius:
            raise InputError(f"{where}: crown {self.crown} must lie between 0 and the radius "
                             f"{self.radius}")
        if self.roller_angle is not None:
            angle = read_number(f"{where}: roller_angle", self.roller_angle, "an angle [rad]")
            if abs(angle) > pi:
                raise InputError(f"{where}: roller_angle = {angle:g} is more than half a turn; "
                                 f"angles are in radians. If degrees were meant: "
                                 f"{radians(angle):.7g}")
        if self.mu is not None and as_number(self.mu) != inf:
            read_number(f"{where}: mu", self.mu, "a positive number, or inf", above=0)
        if self.stiffness is not None:
            read_number(f"{where}: stiffness", self.stiffness, "a positive number [N/m]", above=0)
        for what in ("axis", "point"):
            if getattr(self, what) is not None:
                array = read_array(f"{where}: {what}", getattr(self, what), (3,),
                                   "three finite numbers")
                object.__setattr__(self, what, tuple(array.tolist()))
        if self.axis is not None and np.linalg.norm(self.axis) < _SHORTEST_AXIS:
            raise InputError(f"{where}: axis={self.axis} has no direction")

    def _check_fields(self, where: str) -> None:
        """Raises `InputError` for a field that is missing, or that has no meaning for the kind."""
        given = {field.name for field in fields(self) if getattr(self, field.name) is not None}
        given -= {what for what in ("radius", "crown") if getattr(self, what) == 0}
        needed = [*self.traits.needed]
        if self.joint is None and not self.traits.is_ball:
            needed.append("axis")
        if self.joint is None and self.driven is not None:
            raise InputError(f"{where}: driven={self.driven!r} has no meaning without a joint to "
                             "drive; leave it out, or name the joint")
        for what in needed:
            if what not in given:
                raise InputError(f"{where}: kind {self.kind!r} needs {what}=, {_HINTS[what]}")
        for what in self.traits.refused:
            if what in given:
                raise InputError(f"{where}: {what}={getattr(self, what)!r} has no meaning for kind "
                                 f"{self.kind!r}; leave it out")

    def _check_law(self, where: str) -> None:
        """Raises `InputError` for a law that the kind cannot have; reads the tyre."""
        read_word(f"{where}: law", self.law, LAWS)
        if self.law == "coulomb" and not self.traits.held:
            able = [kind for kind, traits in KINDS.items() if traits.held]
            raise InputError(f"{where}: law='coulomb' has no meaning for kind {self.kind!r}, which "
                             f"has no friction; it is for {listed(able)}")
        if self.law == "coulomb" and self.mu == inf:
            raise InputError(f"{where}: mu=inf contradicts law='coulomb': a wheel that cannot slip "
                             "has law='rolling'")
        if self.law != "tyre":
            if self.tyre is not None:
                raise InputError(f"{where}: tyre={self.tyre!r} has no meaning with law="
                                 f'{self.law!r}; write law="tyre"')
            return
        if not self.traits.grips:
            able = [kind for kind, traits in KINDS.items() if traits.grips]
            raise InputError(f"{where}: law='tyre' has no meaning for kind {self.kind!r}, which "
                             f"has no tyre; it is for {listed(able)}")
        if self.tyre is None:
            raise InputError(f"{where}: law='tyre' needs tyre=, such as tyre='passenger_car'")
        try:
            object.__setattr__(self, "tyre", read_tyre(self.tyre))
        except InputError as error:
            raise InputError(f"{where}: {error.text}", error.remedy) from None

    def __repr__(self) -> str:
        words = [repr(self.joint), repr(self.kind)] + [repr(self.radius)] * bool(self.radius)
        words += [f"{what}={value!r}" for what, default in _BY_NAME.items()
                  if (value := getattr(self, what)) != default]
        return f"Wheel({', '.join(words)})"

    @property
    def name(self) -> str:
        """The joint's name, else the link's."""
        name = self.joint if self.joint is not None else self.link
        assert name is not None      # the constructor refuses a wheel without either
        return name

    @property
    def traits(self) -> WheelKind:
        """The properties of its kind: held directions, profile, fields."""
        return KINDS[self.kind]

    @property
    def held(self) -> tuple[str, ...]:
        """The tangential directions without slip: those of its kind, or none for a tyre."""
        return () if self.law == "tyre" else self.traits.held


_BY_NAME = {field.name: field.default for field in fields(Wheel) if field.kw_only}
