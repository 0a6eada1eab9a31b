"""Messages of one kind that differ in numbers alone, of eight bytes or four, as bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

MARK = (1_234_567_891, 987_654_321)      # a stamp that no other bytes of a message look like


class Template:
    """Serialises messages by writing numbers into the bytes of one that was serialised before:
    strings, lengths and places of all numbers stay. `serialise`: message -> bytes. `build`:
    (seconds, nanoseconds, numbers (n,)) -> message."""

    def __init__(self, serialise: Callable[[Any], Any], build: Callable[..., Any], count: int):
        marks = np.random.default_rng(1).uniform(1.0, 2.0, count)
        data = bytes(serialise(build(*MARK, marks)))
        self._bytes = np.frombuffer(data, np.uint8)
        self._stamps = _places(data, struct.pack("<iI", *MARK))
        self._numbers = [(place, kind) for mark in marks.tolist() for kind in ("<f8", "<f4")
                         for place in _places(data, np.array(mark, kind).tobytes())]

    def fill(self, stamps: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Messages (N, bytes), of stamps (N,) [ns] and numbers (N, n)."""
        found = np.repeat(self._bytes[None], len(stamps), axis=0)
        clock = np.column_stack(divmod(stamps, 10 ** 9)).astype("<u4").view(np.uint8)
        for place in self._stamps:
            found[:, place:place + 8] = clock
        for (place, kind), column in zip(self._numbers, numbers.T):
            cells = column.astype(kind)[:, None].view(np.uint8)
            found[:, place:place + cells.shape[1]] = cells
        return found


def _places(data: bytes, pattern: bytes) -> Sequence[int]:
    """Where a pattern of a whole number of words stands."""
    return [i for i in range(0, len(data) - len(pattern) + 1, 4)
            if data[i:i + len(pattern)] == pattern]
