"""Arrays that can be read by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..errors import SimulationError


class Named(Mapping):
    """Numbers by name, read-only. `extra` names are found too but not listed."""

    def __init__(self, names: tuple[str, ...], values: np.ndarray, extra: Mapping[str, float] | None = None):
        self.names, self.values_array, self._extra = names, values, extra or {}

    def __getitem__(self, key: str | int) -> float:
        if isinstance(key, (int, np.integer)):
            return float(self.values_array[key])
        if key in self.names:
            return float(self.values_array[self.names.index(key)])
        if key in self._extra:
            return float(self._extra[key])
        raise SimulationError(f"no {key!r} here; there are {', '.join([*self.names, *self._extra])}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.values_array, dtype=dtype)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name}: {value:.6g}" for name, value in zip(self.names, self.values_array)) + "}"
