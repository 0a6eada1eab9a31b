"""Numbers of a vehicle that a user may want to change or differentiate by."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping

import casadi as ca
import numpy as np

from ..errors import ModelError


class Parameters:
    """Named values, some of them symbols.

    A value is a plain number, which folds into the expressions, unless its name is among
    `symbolic`: then it is an entry of theta, and derivatives by it exist.
    """

    def __init__(self, values: Mapping[str, float], symbolic: Iterable[str] = ()):
        self.values = dict(values)
        self.symbolic = tuple(symbolic)
        for name in self.symbolic:
            self.require(name)
        self._symbols = {name: ca.SX.sym(name) for name in self.symbolic}

    def require(self, name: str) -> None:
        """Raises `ModelError` with the nearest names where there is no such parameter."""
        if name not in self.values:
            near = difflib.get_close_matches(str(name), self.values, 4,
                                             0.3) or list(self.values)[:8]
            raise ModelError(f"unknown parameter {name!r}; near it: {', '.join(near)}")

    def __getitem__(self, name: str):
        return self._symbols.get(name, self.values[name])

    def get(self, name: str):
        """The value, or 0.0 where there is no such parameter."""
        return self[name] if name in self.values else 0.0

    @property
    def theta(self) -> ca.SX:
        return ca.vertcat(ca.SX(0, 1), *self._symbols.values())

    @property
    def numbers(self) -> np.ndarray:
        """Values for `theta`, (ntheta,)."""
        return np.array([self.values[name] for name in self.symbolic])

    def changed(self, changes: Mapping[str, float]) -> Parameters:
        """A copy with other values. Raises `ModelError` for unknown names and values that are not
        finite."""
        values = dict(self.values)
        for name, value in changes.items():
            self.require(name)
            try:
                values[name] = float(value) if math.isfinite(value) else math.nan
            except (TypeError, ValueError, OverflowError):
                values[name] = math.nan
            if math.isnan(values[name]):
                raise ModelError(f"parameter {name!r} = {value!r} is not a finite number")
        return Parameters(values, self.symbolic)


def present(value) -> bool:
    """Whether a value belongs into an expression: a symbol, or a number that is not zero."""
    return isinstance(value, ca.SX) or value != 0
