"""One CasADi function evaluated at many points; it is compiled to C once that pays."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..once import cached_property
from ..symbolic.buffered import Buffered
from .background import Build
from .compiled_function import begin_function, in_c

WIDTHS = 16, 128     # points in one call; the larger number if there are as many
# Instructions of the virtual machine (5 ns each) after which it pays to look for compiled code in
# the cache (0.02 s), and to compile (0.1 s), which takes a few times as long but helps other
# processes too.
LOOK, BUILD = 4_000_000, 20_000_000


class Pointwise:
    """A `casadi.Function` of vectors, evaluated at many points: row k of each argument gives row k
    of each output. Threads must not share one.
    """

    def __init__(self, function: ca.Function):
        self._function = function
        self._cost = max(function.n_instructions(), 1)
        self._work = 0            # instructions executed so far
        self._left = [BUILD, LOOK]
        self._build: Build | None = None      # while it goes on beside a loop

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
        """The outputs at one point; the next call overwrites them. Such a call never waits for a
        compiler."""
        self._count(1, wait=False)
        return self._one(*values)

    def __call__(self, *arguments: np.ndarray) -> list[np.ndarray]:
        """Outputs (N, rows) or (N, rows, columns) at N points, of arguments (N, n), or (n,) if
        constant."""
        count = max(len(part) for part in arguments if part.ndim == 2)
        self._count(count)
        # CasADi stores matrices by columns
        found = [np.empty((count, columns * rows)) for rows, columns in self._shapes]
        width = WIDTHS[count >= WIDTHS[1]]
        if width not in self._rooms:
            self._rooms[width] = _Room(self._function, width)
        room = self._rooms[width]
        for begin in range(0, count, width):
            part = slice(begin, min(begin + width, count))
            room.evaluate([values[part] if values.ndim == 2 else values for values in arguments],
                          [whole[part] for whole in found], part.stop - begin)
        return [whole if columns == 1 else whole.reshape(count, columns, rows).swapaxes(1, 2)
                for whole, (rows, columns) in zip(found, self._shapes)]

    def compile(self) -> None:
        """Compiles the function now, for users who cannot wait for it later."""
        self._count(BUILD // self._cost + 1)

    def _count(self, points: int, wait: bool = True) -> None:
        """Counts the work. After enough work, looks for compiled code, then compiles: in the
        background unless `wait` is set."""
        self._work += points * self._cost
        while self._left and self._work >= self._left[-1]:
            if self._left[-1] == BUILD:
                self._build = self._build or (None if wait else begin_function(self._function))
                if self._build is not None and not self._build.is_done:
                    if not wait:
                        return
                    self._build.wait()
            quicker = in_c(self._function, build=self._left.pop() == BUILD and wait)
            if quicker is not None:
                self._function, self._left = quicker, []
                vars(self).pop("_one", None)
                vars(self).pop("_rooms", None)


class _Room:
    """The function and its memory for a fixed number of points."""

    def __init__(self, function: ca.Function, width: int):
        self._mapped = mapped = Buffered(function.map(width))
        self._inputs, self._outputs = (
            [memory.reshape(-1, order="F").reshape(width, memory.size // width)
             for memory in memories] for memories in (mapped.inputs, mapped.outputs))

    def evaluate(self, arguments: list[np.ndarray], outputs: list[np.ndarray], count: int) -> None:
        """Evaluates at `count` points; the remaining memory repeats the last of them."""
        for memory, values in zip(self._inputs, arguments):
            memory[:count] = values
            memory[count:] = memory[count - 1]
        self._mapped.trigger()
        for output, memory in zip(outputs, self._outputs):
            output[...] = memory[:count]
