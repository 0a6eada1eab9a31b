"""The present moment of a run, in memory that compiled code knows."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ..compile.loop import Loop, Setup


CLOCK = -3      # where t stands in the block, followed by k and t0
EXTRA = 6       # numbers after q, v, x, u, twist


class Moment:
    """q, v, x, u, twist, health and the clock (t, k, t0), side by side in one block: a copy of all is one copy, and all
    change in one stroke, so that Ctrl-C finds the moment before a step or the one after.

    `q`, `v`, `x`, `u` (together `parts`), `twist`, `health`, `clock` are views. twist is what was commanded with u, and
    empty where nothing is (ntwist = 0); health is (|phi| before the last projection, the frame's margin, the least
    guard); t = t0 + k dt [s].
    """

    def __init__(self, nq: int, nv: int, nx: int, nu: int, ntwist: int = 0):
        sizes = nq, nv, nx, nu, ntwist, 3, 3
        ends = [sum(sizes[:i + 1]) for i in range(len(sizes))]
        self.block = np.zeros(ends[-1])
        views = (self.block[end - size:end] for size, end in zip(sizes, ends))
        *self.parts, self.twist, self.health, self.clock = views
        self.q, self.v, self.x, self.u = self.parts
        self._held = self.block[ends[2]:ends[4]]

    def take(self, x: np.ndarray, q: np.ndarray, v: np.ndarray, health: np.ndarray, clock: Sequence[float]) -> None:
        """Another state and time; u and twist stay."""
        self.block[...] = np.concatenate((q, v, x, self._held, health, clock))


class CompiledSteps:
    """Steps of a moment through a compiled loop; `one(pointer)` is one of them.

    constants  dt, side, poor, flat, loose of `Setup`
    angles     where the unwrapped angles stand in x, for the record
    """

    def __init__(self, loop: Loop, moment: Moment, constants: tuple[float, ...], theta: np.ndarray,
                 angles: tuple[int, ...]):
        places, work = np.array(angles, dtype=np.int64), np.zeros(loop.work)
        known = theta, moment.q, moment.v, moment.x, moment.u, moment.health, moment.clock, work, places
        self._kept = known                                        # what C has the addresses of lives as long as this
        self.setup = Setup(*constants, *(array.ctypes.data for array in known))
        self.setup.beside = moment.twist.size
        self.pointer = ctypes.byref(self.setup)
        self.loop, self.one, self.many = loop, loop.one, loop.many

    def run(self, steps: int, every: int = 1, phase: int = 0, record: int | None = None) -> int:
        """Up to so many steps with u held; returns a status. See `Setup`."""
        setup = self.setup
        setup.steps, setup.every, setup.phase, setup.record = steps, every, phase, record
        return self.many(self.pointer)
