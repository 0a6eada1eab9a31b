"""How a run responds to Ctrl-C while its steps are taken in C."""

from __future__ import annotations

import math
import time

CHUNK = 20_000      # steps in C between two checks for Ctrl-C, at most
LOOK = 0.1          # [s] between two checks, at most
TWICE = 2.0         # [s] within which a second Ctrl-C means to leave the program

_last_press = -math.inf     # [s]; one for the process, because Ctrl-C is sent to the process


class Pace:
    """Number of steps between two checks for Ctrl-C, learnt from the time that they take."""

    def __init__(self) -> None:
        self.steps = CHUNK // 100

    def learn(self, seconds: float) -> None:
        """Increases the number after a quick call, and reduces it after a slow one."""
        self.steps = min(2 * self.steps, CHUNK) if seconds < LOOK else max(self.steps // 2, 1)


def is_second_press() -> bool:
    """Records a Ctrl-C. Returns whether the previous one was at most `TWICE` ago."""
    global _last_press
    before, _last_press = _last_press, time.monotonic()
    return _last_press - before <= TWICE
