"""Numbers that can be read by name, and not written to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ..errors import InputError, listed


class UnknownName(InputError, KeyError):
    """A name that is not there; also a `KeyError`, so that `in` and `get` work."""

    def __str__(self) -> str:
        return str(self.args[0])


class Named(Mapping[str, float]):
    """Numbers by name, read-only: `values[places[name]]`.

    Parameters
    ----------
    places
        Name -> index in `values`.
    values
        All numbers.
    extra
        Further names that can be read, and are not listed.
    """

    __slots__ = ("_places", "_values", "_extra")

    def __init__(self, places: Mapping[str, int], values: np.ndarray,
                 extra: Mapping[str, int] = {}):
        self._places = places
        self._values = values
        self._extra = extra

    @classmethod
    def of(cls, names: tuple[str, ...], values: np.ndarray) -> Named:
        """Names of consecutive numbers."""
        return cls({name: i for i, name in enumerate(names)}, values)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._places)

    @property
    def values_array(self) -> np.ndarray:
        """The listed numbers in their order, a copy."""
        return self._values[list(self._places.values())]

    def __getitem__(self, key: str | int) -> float:
        if isinstance(key, (int, np.integer)):
            return float(self.values_array[key])
        place = self._places.get(key)
        if place is None:
            place = self._extra.get(key)
        if place is None:
            raise UnknownName(f"no {key!r} here; there are "
                              f"{listed([*self._places, *self._extra])}")
        return float(self._values[place])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __array__(self, dtype: npt.DTypeLike | None = None,
                  copy: bool | None = None) -> np.ndarray:
        return np.array(self.values_array, dtype=dtype)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name}: {value:.6g}" for name, value in self.items()) + "}"
