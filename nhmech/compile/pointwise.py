"""A function of numbers, at each of many points: in C once there has been enough to do."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from .buffered import Buffered, in_c

WIDTH = 64     # points in a call
FEW = 6        # points that are quicker one by one
# instructions of the virtual machine, 5 ns each, from which it is worth while to look for compiled
# code, and to compile, which takes some times as long but is kept for other processes: 0.02 s and
# 0.1 s
LOOK, BUILD = 4_000_000, 20_000_000


class Pointwise:
    """A `casadi.Function` of vectors, evaluated at points: row k of each argument makes row k of
    each output. Not to be shared by threads.

    Parameters
    ----------
    function
        With dense outputs.
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
    def _many(self) -> Buffered:
        return Buffered(self._function.map(WIDTH))

    def one(self, *values: object) -> list[np.ndarray]:
        """The outputs at one point, which the next call overwrites."""
        self._count(1)
        return self._one(*values)

    def __call__(self, *arguments: np.ndarray) -> list[np.ndarray]:
        """(N, n) each, or (n,) for what is the same at all points -> (N, rows) or
        (N, rows, columns) of each output."""
        count = max(len(part) for part in arguments if part.ndim == 2)
        self._count(count)
        function = self._function
        shapes = [function.size_out(i) for i in range(function.n_out())]
        # CasADi's columns one after the other
        found = [np.empty((count, columns * rows)) for rows, columns in shapes]
        if count <= FEW:
            for k in range(count):
                outputs = self._one(*(part[k] if part.ndim == 2 else part for part in arguments))
                for whole, output in zip(found, outputs):
                    whole[k] = output.ravel(order="F")
        else:
            self._fill(count, arguments, found)
        return [whole if columns == 1 else whole.reshape(count, columns, rows).swapaxes(1, 2)
                for whole, (rows, columns) in zip(found, shapes)]

    def _fill(self, count: int, arguments: tuple[np.ndarray, ...], found: list[np.ndarray]) -> None:
        many, function = self._many, self._function
        inputs = [memory.reshape(-1, order="F").reshape(WIDTH, function.nnz_in(i))
                  for i, memory in enumerate(many.inputs)]
        outputs = [memory.reshape(-1, order="F").reshape(WIDTH, function.nnz_out(i))
                   for i, memory in enumerate(many.outputs)]
        for begin in range(0, count, WIDTH):
            # the last points again, so that no number of the room is undefined
            begin = max(min(begin, count - WIDTH), 0)
            part = slice(begin, min(begin + WIDTH, count))
            size = part.stop - begin
            for memory, values in zip(inputs, arguments):
                memory[:size] = values[part] if values.ndim == 2 else values
                memory[size:] = memory[size - 1]
            many.trigger()
            for whole, memory in zip(found, outputs):
                whole[part] = memory[:size]

    def _count(self, points: int) -> None:
        """Looks for compiled code, and has it made, when there has been enough to do."""
        self._asked += points * self._cost
        while self._left and self._asked >= self._left[-1]:
            quicker = in_c(self._function, build=self._left.pop() == BUILD)
            if quicker is not None:
                self._function, self._left = quicker, []
                vars(self).pop("_one", None)
                vars(self).pop("_many", None)
