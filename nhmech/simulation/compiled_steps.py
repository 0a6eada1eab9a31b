"""Steps of the present moment through compiled code."""

from __future__ import annotations

import ctypes

import numpy as np

from ..compile.loop import Loop, Setup
from .moment import Moment


class CompiledSteps:
    """A compiled loop on the memory of a moment; `one(pointer)` is one step.

    Parameters
    ----------
    constants
        dt and side of `Setup`.
    theta
        Parameters (ntheta,).
    angles
        Where the unwrapped angles stand in x, for the record.
    """

    def __init__(self, loop: Loop, moment: Moment, constants: tuple[float, ...], theta: np.ndarray,
                 angles: tuple[int, ...]):
        arrays = (
            theta, moment.q, moment.v, moment.x, moment.u, moment.health, moment.clock,
            np.zeros(loop.work), np.array(angles, dtype=np.int64),
        )
        # what C has the addresses of must live as long as this
        self._arrays = arrays
        self.setup = Setup(*constants, *(array.ctypes.data for array in arrays))
        self.setup.beside = moment.twist.size
        self.pointer = ctypes.byref(self.setup)
        self.loop = loop
        self.one = loop.one
        self.many = loop.many

    def run(self, steps: int, every: int = 1, phase: int = 0, record: int | None = None) -> int:
        """Up to so many steps with u held; returns a status. See `Setup`."""
        setup = self.setup
        setup.steps = steps
        setup.every = every
        setup.phase = phase
        setup.record = record
        return self.many(self.pointer)
