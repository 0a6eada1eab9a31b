"""Arguments read as numbers, words and callables: the one place where bad ones are refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .errors import InputError, listed


def is_finite(value) -> bool:
    """Whether it is a finite number."""
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def read_number(what: str, value, expected: str, *, above: float = -math.inf,
                least: float = -math.inf) -> float:
    """A finite number greater than `above`, `least` or more. Raises `InputError` that says what was
    expected."""
    try:
        # false for NaN too
        if above < value < math.inf and value >= least and not isinstance(value, bool):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"{what} = {value!r} must be {expected}")


def read_positive(what: str, value) -> float:
    """A positive finite number. Raises `InputError`."""
    return read_number(what, value, "a positive number", above=0.0)


def read_count(what: str, value) -> int:
    """A whole number from one on. Raises `InputError`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{what} = {value!r} must be a whole number, 1 or more")
    return int(value)


def as_numbers(value) -> np.ndarray | None:
    """A copy as an array of floats; None where it cannot be one."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None


def read_array(what: str, value, shape: Sequence[int], expected: str) -> np.ndarray:
    """Finite numbers of that shape, a copy. Raises `InputError` that says what was expected."""
    array = as_numbers(value)
    if array is None or array.shape != tuple(shape) or not np.isfinite(array).all():
        raise InputError(f"{what} = {value!r} must be {expected}")
    return array


def read_positives(what: str, value, names: Sequence[str]) -> np.ndarray:
    """A positive number for each of some names, (n,). Raises `InputError`."""
    expected = f"{len(names)} positive numbers: {listed(names)}"
    array = read_array(what, value, (len(names),), expected)
    if not (array > 0).all():
        raise InputError(f"{what} = {value!r} must be {expected}")
    return array


def read_names(what: str, value) -> tuple[str, ...]:
    """A sequence of names, or a single one. Raises `InputError`."""
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{what} = {value!r} must be a sequence of names")
    return names


def read_mapping(what: str, value, expected: str, *, keys: type = str) -> dict[Any, Any]:
    """Values by name, a copy; nothing where None. Raises `InputError` that says what was expected;
    `keys` is `object` where a name that is none gets a better error later."""
    value = {} if value is None else value
    if not isinstance(value, Mapping) or not all(isinstance(name, keys) for name in value):
        raise InputError(f"{what} = {value!r} must be a mapping, {expected}")
    return dict(value)


def read_word(what: str, value, known: Iterable[str]) -> str:
    """One of some words. Raises `InputError` with those that there are."""
    known = tuple(known)
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{what} {value!r} does not exist; there are {listed(known)}")
    return value
