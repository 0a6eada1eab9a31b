"""Reads commands. Names are looked up once for each set of names, numbers at each call."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..checks import is_finite
from ..once import cached_property
from .command import NAMED, BadCommand, Command, JointVelocity, NamedCommand, is_named
from .moment import Moment

Plan = TypeVar("Plan")
KEPT = 100                    # cached sets of names, because a controller may use ever new ones
Numbers = np.ndarray | array      # of floats


class Part(NamedTuple):
    """One of `NAMED`, or a class made from it, and the joints it names."""

    given: type
    joints: tuple[str, ...]

    @property
    def kind(self) -> type:
        """The class in `NAMED`."""
        return next(known for known in NAMED if issubclass(self.given, known))

    @property
    def is_limited(self) -> bool:
        """Whether its commands also have a limit."""
        return self.kind is JointVelocity


class CommandReader(Generic[Plan]):
    """Splits a command into its numbers and a plan of how to carry it out, which depends only on
    its names.

    Parameters
    ----------
    plan
        Makes the plan for the parts of a command; for an array, if given None. Raises `BadCommand`
        for names that cannot be commanded.
    what, names
        What the numbers of an array are, and their names.

    Attributes
    ----------
    plans
        The plans made so far, by their parts.
    """

    def __init__(self, plan: Callable[[Sequence[Part] | None], Plan], what: str,
                 names: Sequence[str]):
        self._plan = plan
        self._what, self._names = what, names
        self._shape = (len(names),)
        self.plans: dict[tuple[Part, ...], Plan] = {}
        self._latest: list[Plan] = []
        self._reads: list[tuple] = []      # how to read the parts of the latest command

    def __repr__(self) -> str:
        return f"<CommandReader of {self._what}, {len(self.plans)} sets of names>"

    def read(self, command: Command, moment: Moment) -> tuple[Plan, Numbers]:
        """The plan of a command, and its numbers, which the limits follow. Raises as `check` does,
        except for numbers that are not finite, and arrays of a wrong type."""
        if type(command) is np.ndarray:
            return self._plain, command
        parts: Any = command if type(command) in (list, tuple) else (command,)
        if self._reads and len(parts) == len(self._reads):
            numbers: list[float] = []
            limits = []
            for part, (given, count, pick, is_limited) in zip(parts, self._reads):
                values = part.values if type(part) is given else None
                if type(values) is not dict or len(values) != count:
                    break
                try:
                    numbers += pick(values)
                except KeyError:
                    break
                if is_limited:
                    limits.append(math.inf if part.acceleration is None else part.acceleration)
            else:
                for number in numbers:
                    if type(number) is not float:
                        break
                else:
                    return self._latest[0], array("d", numbers + limits if limits else numbers)
        return self.check(command, moment.t)

    def check(self, command: Command, t: float) -> tuple[Plan, Numbers]:
        """The same, checked. Raises `BadCommand` for anything but a command, unknown names, wrong
        sizes, and numbers that are not finite."""
        if not is_named(command):
            return self._plain, self._read_plain(command, t)
        parts, numbers, limits = [], [], []
        for part in command if isinstance(command, (list, tuple)) else (command,):
            values = part.values if isinstance(part, NAMED) else None
            if not isinstance(values, Mapping):
                raise _refusal(part, t)
            parts.append(Part(type(part), tuple(values)))
            numbers += [_read_number(part, number, t) for number in values.values()]
            if parts[-1].is_limited:
                limits.append(math.inf if part.acceleration is None else part.acceleration)
        plan = self._find(tuple(parts), t)
        self._latest = [plan]
        self._reads = [(part.given, len(part.joints), _picker(part.joints), part.is_limited)
                       for part in parts]
        return plan, array("d", numbers + limits)

    @cached_property
    def _plain(self) -> Plan:
        return self._plan(None)

    def learn(self, other: CommandReader) -> None:
        """Makes plans for all sets of names that another reader has seen."""
        for parts in other.plans:
            self._find(parts, 0.0)

    def _find(self, parts: tuple[Part, ...], t: float) -> Plan:
        found = self.plans.get(parts)
        if found is None:
            if len(self.plans) >= KEPT:
                self.plans.clear()
            found = self.plans[parts] = self._make(parts, t)
        return found

    def _make(self, parts: tuple[Part, ...], t: float) -> Plan:
        once: set[str] = set()
        for name in (name for part in parts for name in part.joints):
            if name in once:
                raise BadCommand(f"at t = {t:.6g} s: joint {name!r} is commanded twice")
            once.add(name)
        try:
            return self._plan(parts)
        except BadCommand as error:
            raise BadCommand(f"at t = {t:.6g} s: {error}") from None

    def _read_plain(self, command: object, t: float) -> np.ndarray:
        n, columns = len(self._names), f"{self._what} of {', '.join(self._names) or 'no joint'}"
        try:
            value = np.asarray(command).astype(float, casting="same_kind", copy=False)
        except (TypeError, ValueError, OverflowError) as error:
            what = getattr(command, "dtype", type(command).__name__)
            raise BadCommand(f"at t = {t:.6g} s returned {what}; return an array, JointTorque, "
                             "JointVelocity or JointPosition (an array has "
                             f"{n} numbers: {columns})") from error
        if value.shape != self._shape:
            raise BadCommand(f"at t = {t:.6g} s returned shape {value.shape}, expected ({n},): "
                             f"{columns}")
        if not np.isfinite(value).all():
            raise BadCommand(f"at t = {t:.6g} s returned {value}: not finite ({columns})")
        return value


def _picker(joints: Sequence[str]) -> Callable[[dict], Sequence]:
    """A function that reads the numbers of these joints from a dict."""
    if len(joints) > 1:
        return itemgetter(*joints)      # of one joint it would be the number alone
    return lambda values: [values[name] for name in joints]


def _refusal(part: object, t: float) -> BadCommand:
    """The error for anything but a command."""
    if not isinstance(part, NAMED):
        return BadCommand(f"at t = {t:.6g} s returned {type(part).__name__}; return an array, "
                          "JointTorque, JointVelocity or JointPosition")
    return BadCommand(f"at t = {t:.6g} s: {type(part).__name__} takes a mapping of joint names "
                      f"to numbers, not {part.values!r}")


def _read_number(part: NamedCommand, number: object, t: float) -> float:
    is_number = isinstance(number, (int, float, np.number))
    if is_number and is_finite(number):
        return float(number)       # type: ignore[arg-type]
    name = next(name for name, value in part.values.items() if value is number)
    raise BadCommand(f"at t = {t:.6g} s: {type(part).__name__} for {name!r} is "
                     f"{number if is_number else repr(number)}; expected a finite number")
