"""Arguments read as numbers, words and callables: the one place where bad ones are refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from .errors import InputError, listed


def is_finite(value) -> bool:
    """Whether it is a finite number."""
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def read_number(what: str, value, expected: str, *, above: float = -math.inf) -> float:
    """A finite number greater than `above`. Raises `InputError` that says what was expected."""
    if isinstance(value, bool) or not is_finite(value) or not value > above:
        raise InputError(f"{what} = {value!r} must be {expected}")
    return float(value)


def read_array(what: str, value, shape: Sequence[int], expected: str) -> np.ndarray:
    """Finite numbers of that shape, a copy. Raises `InputError` that says what was expected."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None or array.shape != tuple(shape) or not np.isfinite(array).all():
        raise InputError(f"{what} = {value!r} must be {expected}")
    return array


def read_word(what: str, value, known: Iterable[str]) -> str:
    """One of some words. Raises `InputError` with those that there are."""
    known = tuple(known)
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{what} {value!r} does not exist; there are {listed(known)}")
    return value
