"""How a run stays open to Ctrl-C while its steps are taken in C."""

from __future__ import annotations

import math
import time

CHUNK = 20_000      # most steps in C between two looks at Ctrl-C
LOOK = 0.1          # [s] that the steps between two looks should take at most: a key feels prompt
TWICE = 2.0         # [s] between two presses that count as one wish to leave the program

_last_press = -math.inf     # [s] of the process, for Ctrl-C is sent to the process


class Pace:
    """How many steps to take between two looks at Ctrl-C, learnt from the time that they take."""

    def __init__(self) -> None:
        self.steps = CHUNK // 100

    def learn(self, seconds: float) -> None:
        """Takes more steps at once after a quick call, fewer after a slow one."""
        self.steps = min(2 * self.steps, CHUNK) if seconds < LOOK else max(self.steps // 2, 1)


def is_second_press() -> bool:
    """Notes a Ctrl-C. Returns whether the last one is no more than `TWICE` ago."""
    global _last_press
    before, _last_press = _last_press, time.monotonic()
    return _last_press - before <= TWICE
