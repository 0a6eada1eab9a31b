"""The errors of this package.

Messages carry what is wrong, where (file, element, line, joint), the value found, and what would
be right.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar
from unicodedata import category

V = TypeVar("V")


@dataclass(frozen=True)
class Remedy:
    """The remedy for an error or a notice, for Python and for the command line.

    Attributes
    ----------
    python
        Sentences for a caller of `nhmech.load`, without the last full stop.
    command
        The same for someone who types `nhmech run`.
    """

    python: str
    command: str


def printable(text: str) -> str:
    """The text with control characters, including those of direction, as escapes: text from a file
    must not move the cursor or reverse a line."""
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or category(c)[0] != "C" else ascii(c)[1:-1] for c in text)


class Statement:
    """A text for the user and, if there is one, its remedy. `str()` gives both for Python.

    Attributes
    ----------
    text
        What is wrong or odd, and where; it names no option of either language.
    remedy
        What to do about it, or None.
    """

    text: str
    remedy: Remedy | None

    def __str__(self) -> str:
        return self._add(None if self.remedy is None else self.remedy.python)

    @property
    def command_line(self) -> str:
        """Text and remedy in the words of the command line."""
        return self._add(None if self.remedy is None else self.remedy.command)

    def _add(self, remedy: str | None) -> str:
        # below a list the remedy has a line of its own
        between = "\n" if "\n" in self.text else ". "
        return printable(self.text if remedy is None else f"{self.text}{between}{remedy}")


class NhmechError(Statement, Exception):
    """Root of all errors of this package.

    Examples
    --------
    >>> try:
    ...     nhmech.load("no such file.urdf")
    ... except nhmech.NhmechError as error:
    ...     print(type(error).__name__)
    ModelError
    """

    def __init__(self, text: str = "", remedy: Remedy | None = None):
        super().__init__(text)
        self.text = text
        self.remedy = remedy


class InputError(NhmechError, ValueError):
    """An argument cannot be used as given, wherever it is given: wrong type, shape, sign or name.

    Examples
    --------
    >>> nhmech.Wheel("left_wheel_joint", "disk", 0.1)
    Traceback (most recent call last):
        ...
    nhmech.errors.InputError: ...
    """


class UnknownName(InputError, KeyError):
    """A name that is not there, of those that are; also a `KeyError`, so that `in` and `get` work.

    Examples
    --------
    >>> run.reactions[-1].components["left_wheel"]
    Traceback (most recent call last):
        ...
    nhmech.errors.UnknownName: no 'left_wheel' here; there are left_wheel_joint, ...
    """


class ByName(dict[str, V]):
    """Values by name; an unknown one is answered with those that there are."""

    def __missing__(self, name: str) -> V:
        raise unknown_name(name, self)


class OutputError(NhmechError, OSError):
    """A file cannot be written; `filename` names it.

    Examples
    --------
    >>> Simulator(vehicle).run(0.01).save_html("/no/such/folder/run.html")
    Traceback (most recent call last):
        ...
    nhmech.errors.OutputError: ...
    """


class ModelError(NhmechError):
    """The robot description, its wheels or the ground do not make a vehicle.

    Examples
    --------
    >>> nhmech.load("<robot name='stone'><link name='base'/></robot>")
    Traceback (most recent call last):
        ...
    nhmech.errors.ModelError: ...
    """


class MechanicsError(NhmechError):
    """A system, a distribution or a frame is inconsistent.

    For example, its rank or a shape is wrong, or it is singular where it must be regular.

    Examples
    --------
    >>> from nhmech.mechanics import constrain, euclidean, lagrangian_system
    >>> particle = lagrangian_system(euclidean("x"), lambda s: s.v.x**2 / 2)
    >>> rows = {"slow": lambda s: s.v.x - 1, "fast": lambda s: s.v.x - 2}
    >>> nhmech.gibbs_appell(constrain(particle, rows=rows))
    Traceback (most recent call last):
        ...
    nhmech.errors.MechanicsError: ...
    """


class CompileError(NhmechError):
    """Generated code could not be compiled or loaded.

    Examples
    --------
    >>> issubclass(CompileError, NhmechError)
    True
    """


class SimulationError(NhmechError):
    """A run stopped by a failure; `trajectory` holds what was computed until then.

    Examples
    --------
    >>> def broken(t, state):
    ...     if t > 0.01:
    ...         raise RuntimeError("cable loose")
    >>> try:
    ...     Simulator(vehicle, broken).run(1.0)
    ... except SimulationError as error:
    ...     print(len(error.trajectory) > 5)
    True
    """

    def __init__(self, text: str, trajectory: Any = None, remedy: Remedy | None = None):
        super().__init__(text, remedy)
        # a `Trajectory`, which stands too high for this module to import its type
        self.trajectory = trajectory


REPR = 8      # names that the repr of an object shows: one line or two
FEW = 8       # names that a notice shows, so that what it says of them is not far away


def unknown_name(name: object, known: Iterable[object]) -> UnknownName:
    """The error about a name that is none of the known ones."""
    return UnknownName(f"no {name!r} here; there are {listed(known)}")


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """"; did you mean 'circle'?", to append to a message about an unknown word; empty if no known
    word is similar."""
    near = get_close_matches(str(word), [str(name) for name in known], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def listed(names: Iterable[object], most: int = 30) -> str:
    """The names, separated by commas, at most `most` of them; "none" without any."""
    shown = [str(name) for name in names]
    text = ", ".join(shown[:most]) or "none"
    return f"{text} and {len(shown) - most} more" if len(shown) > most else text
