"""Evaluation of CasADi functions through buffers, without copies or allocation."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from typing import Any

import casadi as ca
import numpy as np


class Buffered:
    """A `casadi.Function` with dense outputs on fixed memory.

    Calling through arrays costs CasADi a hundred microseconds; through its buffer interface less
    than one. `inputs` and `outputs` are column-major NumPy arrays that live as long as this object;
    outputs are overwritten by the next call. `trigger()` evaluates `inputs`. Outputs with one
    column are vectors (rows,), except those with an index in `matrices`, because CasADi does not
    tell a vector from a matrix of one column.
    """

    def __init__(self, function: ca.Function, matrices: Collection[int] = ()):
        for i in range(function.n_out()):
            if not function.sparsity_out(i).is_dense():
                raise ValueError(f"output {function.name_out(i)!r} of {function.name()} must be "
                                 "dense")
        self.function = function
        self.inputs = [_memory(function.size_in(i), function.nnz_in(i))
                       for i in range(function.n_in())]
        self.outputs = [_memory(function.size_out(i), function.nnz_out(i), i in matrices)
                        for i in range(function.n_out())]
        self._buffer, self.trigger = function.buffer()
        for i, array in enumerate(self.inputs):
            if array.size:
                self._buffer.set_arg(i, array.reshape(-1, order="F").data)
        for i, array in enumerate(self.outputs):
            if array.size:
                self._buffer.set_res(i, array.reshape(-1, order="F").data)

        self._numbers: list[tuple[int, np.ndarray, Any]] = [
            (i, array, array.data) for i, array in enumerate(self.inputs) if array.shape == (1,)]
        self._arrays = [(i, array) for i, array in enumerate(self.inputs) if array.size > 1]

    def bind(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray] = ()) -> None:
        """Replaces the memory of the first inputs and outputs, for callers that write and read it
        themselves and only call `trigger`; each array is contiguous and as long as before."""
        for kept, given, bind in ((self.inputs, inputs, self._buffer.set_arg),
                                  (self.outputs, outputs, self._buffer.set_res)):
            for i, array in enumerate(given):
                kept[i] = array
                if array.size:
                    bind(i, array.data)

    def __call__(self, *values: Any) -> list[np.ndarray]:
        for i, memory, number in self._numbers:
            value = values[i]
            if type(value) is float:
                number[0] = value        # a fifth of what NumPy takes over it
            else:
                memory[...] = value
        for i, memory in self._arrays:
            memory[...] = values[i]
        self.trigger()
        return self.outputs


class ThreadBuffered(threading.local):
    """The same for several threads, each with its own memory; results are copies."""

    def __init__(self, function: ca.Function, matrices: Collection[int] = ()):
        self._evaluate = Buffered(function, matrices)

    def __call__(self, *values: Any) -> list[np.ndarray]:
        return [output.copy() for output in self._evaluate(*values)]


def _memory(size: tuple[int, int], nonzeros: int, is_matrix: bool = False) -> np.ndarray:
    rows, columns = size
    if nonzeros not in (0, rows * columns):
        raise ValueError(f"an argument of size {size} must be dense")
    return np.zeros((rows, columns) if columns != 1 or is_matrix else rows, order="F")
