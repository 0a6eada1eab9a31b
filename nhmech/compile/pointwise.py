"""A function of numbers, at each of many points: in C once there has been enough to do."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ..symbolic.buffered import Buffered
from .buffered import in_c

WIDTHS = 16, 128     # points in a call; the larger one from where it is filled
# instructions of the virtual machine, 5 ns each, from which it is worth while to look for compiled
# code, and to compile, which takes some times as long but is kept for other processes: 0.02 s and
# 0.1 s
LOOK, BUILD = 4_000_000, 20_000_000


class Pointwise:
    """A `casadi.Function` of vectors, evaluated at points: row k of each argument makes row k of
    each output. Not to be shared by threads.
    """

    def __init__(self, function: ca.Function):
        self._function = function
        self._cost = max(function.n_instructions(), 1)
        self._asked = 0            # instructions so far
        self._left = [BUILD, LOOK]

    def __repr__(self) -> str:
        return f"<Pointwise {self._function.name()}: {self._cost} instructions>"

    @cached_property
    def _one(self) -> Buffered:
        return Buffered(self._function)

    @cached_property
    def _shapes(self) -> list[tuple[int, int]]:
        return [self._function.size_out(i) for i in range(self._function.n_out())]

    @cached_property
    def _rooms(self) -> dict[int, _Room]:
        return {}

    def one(self, *values: object) -> list[np.ndarray]:
        """The outputs at one point, which the next call overwrites."""
        self._count(1)
        return self._one(*values)

    def __call__(self, *arguments: np.ndarray) -> list[np.ndarray]:
        """(N, n) each, or (n,) for what is the same at all points -> (N, rows) or
        (N, rows, columns) of each output."""
        count = max(len(part) for part in arguments if part.ndim == 2)
        self._count(count)
        # CasADi's columns one after the other
        found = [np.empty((count, columns * rows)) for rows, columns in self._shapes]
        width = WIDTHS[count >= WIDTHS[1]]
        if width not in self._rooms:
            self._rooms[width] = _Room(self._function, width)
        room = self._rooms[width]
        for begin in range(0, count, width):
            # the last points again, so that no number of the room is undefined
            begin = max(min(begin, count - width), 0)
            part = slice(begin, min(begin + width, count))
            room.evaluate([values[part] if values.ndim == 2 else values for values in arguments],
                          [whole[part] for whole in found], part.stop - begin)
        return [whole if columns == 1 else whole.reshape(count, columns, rows).swapaxes(1, 2)
                for whole, (rows, columns) in zip(found, self._shapes)]

    def compile(self) -> None:
        """Has it compiled now, for those who cannot wait for it later."""
        self._count(BUILD // self._cost + 1)

    def _count(self, points: int) -> None:
        """Counts the work done, and starts a compilation when there has been enough."""
        self._asked += points * self._cost
        while self._left and self._asked >= self._left[-1]:
            quicker = in_c(self._function, build=self._left.pop() == BUILD)
            if quicker is not None:
                self._function, self._left = quicker, []
                vars(self).pop("_one", None)
                vars(self).pop("_rooms", None)


class _Room:
    """Memory for the function at a number of points."""

    def __init__(self, function: ca.Function, width: int):
        self._mapped = mapped = Buffered(function.map(width))
        self._inputs, self._outputs = (
            [memory.reshape(-1, order="F").reshape(width, memory.size // width)
             for memory in memories] for memories in (mapped.inputs, mapped.outputs))

    def evaluate(self, arguments: list[np.ndarray], outputs: list[np.ndarray], count: int) -> None:
        """At `count` points; what is left of the room repeats the last one."""
        for memory, values in zip(self._inputs, arguments):
            memory[:count] = values
            memory[count:] = memory[count - 1]
        self._mapped.trigger()
        for output, memory in zip(outputs, self._outputs):
            output[...] = memory[:count]
