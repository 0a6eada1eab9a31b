"""Reads arguments as numbers, words and arrays, and refuses wrong ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean, listed

LARGEST = 1 << 63      # of what C takes for a whole number, which counts become
LARGEST_NUMBER = 1e150      # whose square is a number still
LONGEST = 120      # characters of a value in a message


def show(value: object) -> str:
    """A value in one line of a message."""
    try:
        text = " ".join(repr(value).split())
    except Exception:                # of somebody else's class, or a number of too many digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def of_a_file(value: object) -> str:
    """How a file becomes a vehicle, to append to a message, if the value names one."""
    return " (nhmech.load makes one of a file)" if isinstance(value, (str, PathLike)) else ""


def is_finite(value) -> bool:
    """Whether a value is a finite number."""
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def as_number(value) -> float | None:
    """A real number of any type, also in an array of no dimensions, as a float; None for anything
    else, and if it is too large."""
    if type(value) is float:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    # NumPy counts spans of time as whole numbers
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_, np.timedelta64)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def read_number(what: str, value, expected: str, *, above: float = -math.inf,
                least: float = -math.inf) -> float:
    """A finite number greater than `above`, `least` or more. Raises `InputError` that says what was
    expected."""
    number = as_number(value)
    # false for NaN too
    if number is not None and above < number < math.inf and number >= least:
        return number
    raise InputError(f"{what} = {show(value)} must be {expected}")


def read_positive(what: str, value) -> float:
    """A positive finite number. Raises `InputError`."""
    return read_number(what, value, "a positive number", above=0.0)


def read_time(what: str, value) -> float:
    """A positive finite time [s]. Raises `InputError`."""
    return read_number(what, value, "a positive time in seconds", above=0.0)


def read_count(what: str, value) -> int:
    """A whole number, one or more. Raises `InputError`."""
    # NumPy counts spans of time as whole numbers
    is_whole = (isinstance(value, (int, np.integer))
                and not isinstance(value, (bool, np.timedelta64)))
    if not is_whole or not 1 <= value < LARGEST:
        raise InputError(f"{what} = {show(value)} must be a whole number, 1 or more")
    return int(value)


def as_numbers(value) -> np.ndarray | None:
    """A copy as an array of floats; None if it cannot be one, or is text that looks like it."""
    try:
        found = np.asarray(value)
        kind = found.dtype.kind
        if kind not in "biufO" or kind == "O" and not all(isinstance(x, Real) for x in found.flat):
            return None
        return np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return None


def are_degrees(angles: Sequence[float]) -> bool:
    """Whether angles [rad] look like degrees: more than a turn, all in whole or half numbers."""
    return max(map(abs, angles)) > math.tau and all((2 * angle).is_integer() for angle in angles)


def read_array(what: str, value, shape: Sequence[int], expected: str) -> np.ndarray:
    """Finite numbers of that shape, a copy. Raises `InputError` that says what was expected."""
    array = as_numbers(value)
    if array is None or array.shape != tuple(shape) or not np.isfinite(array).all():
        raise InputError(f"{what} = {show(value)} must be {expected}")
    return array


def read_vector(what: str, value, names: Sequence[str]) -> np.ndarray:
    """A finite number for each of some names, (n,). Raises `InputError`."""
    return read_array(what, value, (len(names),), f"{len(names)} finite numbers: {listed(names)}")


def read_positives(what: str, value, names: Sequence[str]) -> np.ndarray:
    """A positive number for each of some names, (n,). Raises `InputError`."""
    expected = f"{len(names)} positive numbers: {listed(names)}"
    array = read_array(what, value, (len(names),), expected)
    if not (array > 0).all():
        raise InputError(f"{what} = {show(value)} must be {expected}")
    return array


def as_items(value: Any) -> tuple[Any, ...]:
    """The items of an iterable; for anything else, and for a text, the value itself."""
    try:
        return (value,) if isinstance(value, str) else tuple(value)
    except TypeError:
        return (value,)


def read_names(what: str, value) -> tuple[str, ...]:
    """A sequence of names, or a single one. Raises `InputError`."""
    names = as_items(value)
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{what} = {show(value)} must be a sequence of names")
    return names


def read_mapping(what: str, value, expected: str, *, keys: type = str) -> dict[Any, Any]:
    """A copy of a mapping, empty for None. Raises `InputError` with what was expected; `keys` is
    `object` if wrong names get a better error later."""
    value = {} if value is None else value
    if not isinstance(value, Mapping) or not all(isinstance(name, keys) for name in value):
        raise InputError(f"{what} = {show(value)} must be a mapping, {expected}")
    return dict(value)


def read_word(what: str, value, known: Iterable[str]) -> str:
    """One of some words. Raises `InputError` with the valid words."""
    known = tuple(known)
    if not isinstance(value, str) or value not in known:
        near = did_you_mean(value, known) if isinstance(value, str) else ""
        raise InputError(f"{what} {show(value)} does not exist; there are {listed(known)}{near}")
    return value
