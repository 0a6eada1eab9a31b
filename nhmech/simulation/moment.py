"""Steps through the compiled loop, between two moments whose memory C knows already."""

from __future__ import annotations

import ctypes

import numpy as np

from ..compile.loop import Loop, Setup


class Moment:
    """q, v, x, u and health side by side in one block of memory, so that a copy of all is one copy."""

    def __init__(self, sizes: tuple[int, int, int, int], constants: tuple[float, ...], theta: int, angles: int):
        self.block = np.zeros(sum(sizes) + 3)
        self.q, self.v, self.x, self.u, self.health = np.split(self.block, np.cumsum(sizes))
        q, v, x, u, health = (part.ctypes.data for part in (self.q, self.v, self.x, self.u, self.health))
        self.setup = Setup(*constants, u, theta, x, q, v, health, angles)
        self.pointer = ctypes.byref(self.setup)


class Turns:
    """Two moments that take turns: steps are written to the one that is not shown, so that an interruption finds either whole.

    sizes      of q, v, x, u
    constants  dt, side, poor, flat, loose of `Setup`
    angles     where the unwrapped angles stand in x, for the record
    """

    def __init__(self, loop: Loop, sizes: tuple[int, int, int, int], constants: tuple[float, ...], theta: np.ndarray,
                 angles: tuple[int, ...]):
        self._call = loop.call
        self._kept = theta, np.array(angles, dtype=np.int64)
        addresses = [array.ctypes.data for array in self._kept]
        self.now, self.then = Moment(sizes, constants, *addresses), Moment(sizes, constants, *addresses)

    def take(self, x: np.ndarray, q: np.ndarray, v: np.ndarray, guard: float) -> None:
        """Starts from a state that did not come from here."""
        now = self.now
        now.x[:], now.q[:], now.v[:], now.health[2] = x, q, v, guard

    def advance(self, t0: float, k: int, u: np.ndarray, steps: int = 1, every: int = 1, phase: int = 0,
                record: int | None = None) -> tuple[int, int]:
        """Steps from t0 + k dt with u held; `now` is where they led. Returns a status and how many were done.

        Rows go to the address `record` before every step with (phase + i) % every == 0.
        """
        then = self.then
        then.block[:] = self.now.block
        then.u[:] = u
        status = self._call(then.pointer, t0, k, steps, every, phase, record)
        done = then.setup.done
        if done:
            self.now, self.then = then, self.now
        return status, done
