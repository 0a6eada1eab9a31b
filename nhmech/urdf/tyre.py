"""Tyres: the slip of a wheel under a force, and a table of plausible numbers."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from ..checks import read_number, show
from ..errors import InputError, listed
from .tyre_loads import find_load_terms


@dataclass(frozen=True)
class Grip:
    """The force of a tyre in one direction.

    Attributes
    ----------
    stiffness
        Slope of force over slip where there is none: K_x [N], longitudinal, over kappa; the
        cornering stiffness K_y [N/rad], lateral, over tan(alpha).
    friction
        mu, the greatest force over the load; None of a tyre that is linear in the slip.
    shape
        C of the magic formula, of which D sin(pi C / 2) is the force that is left at large slip:
        between 1 and 2.
    curvature
        E of the magic formula, at most 1.
    relaxation
        sigma [m], the way rolled until 63 % of the force is there; 0 for a force that is there at
        once.

    Raises
    ------
    InputError
        For numbers that no tyre has.
    """

    stiffness: float
    friction: float | None = None
    shape: float = 1.5
    curvature: float = 0.0
    relaxation: float = 0.0

    def __post_init__(self) -> None:
        read_number("tyre: stiffness", self.stiffness, "a positive number [N, N/rad]", above=0)
        if self.friction is not None:
            read_number("tyre: friction", self.friction, "a positive coefficient", above=0)
        if not 1 <= read_number("tyre: shape", self.shape, "a number from 1 to 2") <= 2:
            raise InputError(f"tyre: shape = {self.shape!r} must be a number from 1 to 2")
        if read_number("tyre: curvature", self.curvature, "a number up to 1") > 1:
            raise InputError(f"tyre: curvature = {self.curvature!r} must be at most 1: beyond it "
                             "the force falls again as the slip grows from zero")
        if read_number("tyre: relaxation", self.relaxation, "a length [m]") < 0:
            raise InputError(f"tyre: relaxation = {self.relaxation!r} must be a length [m], or 0")


@dataclass(frozen=True, repr=False)
class Tyre:
    """A tyre: its force is a function of its slip.

    Attributes
    ----------
    longitudinal, lateral
        The two directions.
    load
        F_0 [N] for which the stiffness holds; it is proportional to the load then. None of a tyre
        whose stiffness does not depend on the load.
    low_speed
        v_0 [m/s]. Slip is the sliding speed over `|V|`; from v_0 down to rest over
        (V^2 + v_0^2) / (2 v_0), so that there it is a viscous force.
    follows
        Name of the set by whose load terms the coefficients change while the load shifts: the
        numbers are those at F_0. They stay as they are if None.

    Raises
    ------
    InputError
        For numbers that no tyre has, and for friction without a load.

    Notes
    -----
    Slip as in ISO 8855: kappa = -V_sx / `|V_x|`, tan(alpha) = V_sy / `|V_x|`, of the velocity V_s
    of the tyre's material at the contact and the velocity V of the wheel's centre. The sets of
    `TYRES` go by name, with the coefficients of their load F_0; "passenger_car@3000" is that one
    under a load of 3000 N, whose coefficients follow the load from there. `Wheel(tyre=)` takes a
    text such as "passenger_car lateral.friction=0.8".

    Examples
    --------
    >>> Tyre.read("passenger_car lateral.friction=0.8").lateral.friction
    0.8
    >>> Tyre.read("passenger_car")
    Tyre.read('passenger_car')
    """

    longitudinal: Grip
    lateral: Grip
    load: float | None = None
    low_speed: float = 0.5
    follows: str | None = None

    def __post_init__(self) -> None:
        for what in ("longitudinal", "lateral"):
            if not isinstance(getattr(self, what), Grip):
                raise InputError(f"tyre: {what} = {show(getattr(self, what))} must be a Grip, such "
                                 "as Grip(stiffness=60e3)")
        if self.load is not None:
            read_number("tyre: load", self.load, "a force [N]", above=0)
        read_number("tyre: low_speed", self.low_speed, "a speed [m/s]", above=0)
        if self.follows is not None:
            find_load_terms(self.follows).at(self.load or 0.0)
        limited = [what for what in ("longitudinal", "lateral")
                   if getattr(self, what).friction is not None]
        if len(limited) == 1:
            raise InputError(f"tyre: friction is given for the {limited[0]} direction only; give "
                             "it for both, or for a linear tyre for neither")
        if self.follows is not None and not limited:
            raise InputError("tyre: follows= needs friction= in both directions: it changes with "
                             "the load")
        if limited and self.load is None:
            raise InputError("tyre: friction needs load=, the load [N] for which the stiffness "
                             "holds")

    @classmethod
    def read(cls, value: Tyre | str) -> Tyre:
        """A tyre from one, from the name of a set, or from a text: a name, numbers, or a name and
        the numbers that differ.

        Raises
        ------
        InputError
            For names that do not exist, with the nearest that do, and words that are no numbers.
        """
        return read_tyre(value)

    @property
    def is_limited(self) -> bool:
        """Whether it follows the magic formula; else its force is linear in the slip."""
        return self.lateral.friction is not None

    def __repr__(self) -> str:
        return f"Tyre.read({str(self)!r})"

    def __str__(self) -> str:
        """As `read` takes it."""
        names = [name for name, known in TYRES.items() if known == self]
        if names:
            return names[0]
        words = [] if self.follows is None else [f"{self.follows}@{self.load!r}"]
        known = _find_set(words[0]).numbers() if words else {}
        return " ".join([*words, *(f"{name}={value!r}" for name, value in self.numbers().items()
                                   if known.get(name) != value)])

    def numbers(self) -> dict[str, float]:
        """Its numbers by name, "lateral.stiffness" and so on, without those that are None."""
        found: dict[str, float | None] = {}
        for name, value in asdict(replace(self, follows=None)).items():
            inner = value.items() if isinstance(value, dict) else ()
            found |= {f"{name}.{what}": number for what, number in inner}
            if not inner:
                found[name] = value
        return {name: float(value) for name, value in found.items() if value is not None}


# Where they are from is in docs/howto/tyres.md. Robots' tyres are hardly ever measured: theirs are
# plausible in size.
TYRES = MappingProxyType({
    "passenger_car": Tyre(Grip(86040.0, 1.21, 1.685, 0.344, 0.74),
                          Grip(46010.0, 0.99, 1.193, -1.003, 0.54), load=4000.0),
    "bicycle": Tyre(Grip(8000.0, 1.0, relaxation=0.2), Grip(6900.0, 1.0, 1.3, relaxation=0.25),
                    load=400.0),
    "robot_pneumatic": Tyre(Grip(3000.0, 0.8, relaxation=0.08),
                            Grip(2000.0, 0.8, 1.3, relaxation=0.08), load=200.0, low_speed=0.1),
    "robot_rubber": Tyre(Grip(600.0, 0.7, relaxation=0.01), Grip(500.0, 0.7, 1.3, relaxation=0.01),
                         load=30.0, low_speed=0.1),
})

_GRIP = tuple(field.name for field in fields(Grip))
_NUMBERS = (*(f"{direction}.{what}" for direction in ("longitudinal", "lateral")
              for what in _GRIP), "load", "low_speed")


def read_tyre(value: object) -> Tyre:
    """As `Tyre.read`."""
    if isinstance(value, Tyre):
        return value
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"tyre = {show(value)} must be a Tyre, or one of {listed(TYRES)}")
    first, *rest = value.split()
    base = None if "=" in first else _find_set(first)
    numbers: dict[str, float] = {}
    for word in rest if base is not None else [first, *rest]:
        name, equals, text = word.partition("=")
        if not equals or name not in _NUMBERS:
            raise _unknown(f"tyre: {word!r} is not of the form NAME=NUMBER", name, _NUMBERS)
        numbers[name] = _read_word(name, text)
    return change_tyre(base, numbers)


def _read_word(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"tyre: {name}={text!r} is not a number") from None


def _find_set(word: str) -> Tyre:
    """A set by its name, or "NAME@LOAD" for a load [N]."""
    name, at, load = word.partition("@")
    if name not in TYRES:
        raise _unknown(f"tyre: there is no set {name!r}", name, TYRES)
    if not at:
        return TYRES[name]
    numbers = find_load_terms(name).at(_read_word("load", load))
    return replace(change_tyre(TYRES[name], numbers), follows=name)


def _unknown(text: str, name: str, known: Iterable[str]) -> InputError:
    names = tuple(known)
    near = difflib.get_close_matches(name, names, 1, 0.5)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return InputError(f"{text}{meant}; there are {listed(names)}")


def change_tyre(base: Tyre | None, numbers: Mapping[str, float]) -> Tyre:
    """A tyre with some numbers; all that it needs where there is none to begin with."""
    parts: dict[str, dict[str, Any]] = {"longitudinal": {}, "lateral": {}, "": {}}
    for name, value in numbers.items():
        direction, _, what = name.rpartition(".")
        parts[direction][what] = value
    if base is not None:
        return replace(base, longitudinal=replace(base.longitudinal, **parts["longitudinal"]),
                       lateral=replace(base.lateral, **parts["lateral"]), **parts[""])
    for direction in ("longitudinal", "lateral"):
        if "stiffness" not in parts[direction]:
            raise InputError(f"tyre: {direction}.stiffness is missing; write it, or begin with one "
                             f"of {listed(TYRES)}")
    return Tyre(Grip(**parts["longitudinal"]), Grip(**parts["lateral"]),
                parts[""].get("load"), **{k: v for k, v in parts[""].items() if k != "load"})


def restore_tyre(values: dict) -> Tyre:
    """A tyre from what `dataclasses.asdict` made of it."""
    grips = {what: Grip(**values[what]) for what in ("longitudinal", "lateral")}
    return Tyre(**{**values, **grips})
