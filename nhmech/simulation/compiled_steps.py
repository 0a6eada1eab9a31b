"""A compiled loop on the memory of the present moment."""

from __future__ import annotations

import ctypes
from typing import Protocol

import numpy as np

from ..compile.loop import Loop, Setup
from .moment import Moment


class RowSink(Protocol):
    """Memory that compiled code writes rows to: a `Recorder`, or one that discards them."""

    every: int

    def room(self, rows: int) -> int: ...

    def extend(self, rows: int) -> None: ...


class CompiledSteps:
    """A compiled loop on the memory of a moment; `one(pointer)` is one step.

    Parameters
    ----------
    constants
        dt and side of `Setup`.
    theta
        Parameters (ntheta,).
    signs, split
        Sides of the bounds (n,), and the distribution of the load that they use.
    gauge
        Memory of a `StepGauge`.
    angles
        Indices of the unwrapped angles in x, for the record.
    references, hold
        Of a controller inside the loop: its references, and the number of steps in its period.
    """

    def __init__(self, loop: Loop, moment: Moment, constants: tuple[float, ...], *,
                 theta: np.ndarray, signs: np.ndarray, split: np.ndarray, gauge: np.ndarray,
                 angles: tuple[int, ...], references: np.ndarray, hold: int):
        arrays = (theta, signs, split, np.array([np.nan, 0.0, 1.0]), moment.q, moment.v, moment.x,
                  moment.u, moment.health, moment.clock, np.zeros(loop.work), gauge,
                  np.array(angles, dtype=np.int64), references)
        # keeps alive the memory whose addresses C has
        self._arrays = arrays
        self.setup = Setup(*constants, *(array.ctypes.data for array in arrays[:-1]))
        self.setup.references, self.setup.hold = references.ctypes.data, hold
        self.setup.u, self.setup.beside = moment.inputs_address, moment.beside
        self.pointer = ctypes.byref(self.setup)
        self.loop = loop
        self.one = loop.one
        self.many = loop.many

    def run(self, steps: int, every: int = 1, phase: int = 0, record: int | None = None) -> int:
        """Takes up to so many steps with constant u; returns a status. See `Setup`."""
        setup = self.setup
        setup.steps = steps
        setup.every = every
        setup.phase = phase
        setup.record = record
        return self.many(self.pointer)
