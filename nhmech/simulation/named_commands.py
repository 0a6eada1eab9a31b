"""Reads commands by name: names are looked up once for each set of them, numbers each time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from ..checks import is_finite
from .command import NAMED, BadCommand, NamedCommand

Plan = TypeVar("Plan")
Entry = tuple[type, str]      # one of NAMED, and a joint
KEPT = 100                    # sets of names; somebody may command ever others


class NamedReader(Generic[Plan]):
    """Turns a command into its numbers, and what is known of its names.

    Parameters
    ----------
    plan
        Makes of (class of the command, joint), joint by joint, what is known of them; raises
        `BadCommand` for names that cannot be commanded.

    Attributes
    ----------
    plans
        Those that were made, by their names.
    """

    def __init__(self, plan: Callable[[Sequence[Entry]], Plan]):
        self._plan = plan
        self.plans: dict[tuple, Plan] = {}

    def __repr__(self) -> str:
        return f"<NamedReader of {len(self.plans)} sets of names>"

    def __call__(self, command: NamedCommand | Sequence[NamedCommand],
                 t: float) -> tuple[Plan, list[float]]:
        """What is known of the names, and the numbers in their order. Raises `BadCommand` for
        what is no command, bad names and numbers that are not finite."""
        numbers: list[float] = []
        key = []
        for part in command if isinstance(command, (list, tuple)) else (command,):
            values = part.values if isinstance(part, NAMED) else None
            if type(values) is not dict and not isinstance(values, Mapping):
                raise _refusal(part, t)
            key.append((type(part), *values))
            for number in values.values():
                # a difference that is not zero: infinite, or not a number
                if type(number) is not float or number - number != 0.0:
                    number = _read_number(part, number, t)
                numbers.append(number)
        names = tuple(key)
        found = self.plans.get(names)
        if found is None:
            if len(self.plans) >= KEPT:
                self.plans.clear()
            found = self.plans[names] = self._make(names, t)
        return found, numbers

    def learn(self, other: NamedReader) -> None:
        """Plans for all the names that another one has planned for."""
        for names in other.plans.keys() - self.plans.keys():
            self.plans[names] = self._make(names, 0.0)

    def _make(self, names: tuple, t: float) -> Plan:
        entries = [(kind, name) for kind, *joints in names for name in joints]
        once: set[str] = set()
        for _, name in entries:
            if name in once:
                raise BadCommand(f"at t = {t:.6g} s: joint {name!r} is commanded twice")
            once.add(name)
        try:
            return self._plan([(next(known for known in NAMED if issubclass(kind, known)), name)
                               for kind, name in entries])
        except BadCommand as error:
            raise BadCommand(f"at t = {t:.6g} s: {error}") from None


def _refusal(part: object, t: float) -> BadCommand:
    """Of what is no command."""
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
