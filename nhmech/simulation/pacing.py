"""The pace of loops: how often steps in C let Ctrl-C through, and loops in real time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

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


def keep_pace(rate: float, is_done: Callable[[], bool], tick: Callable[[], object]) -> None:
    """Calls `tick` at a rate [1/s] until `is_done()`. After a late call, the next period begins at
    once; periods that were missed are skipped."""
    due = time.monotonic()
    while not is_done():
        tick()
        due = max(due + 1 / rate, time.monotonic())
        time.sleep(max(due - time.monotonic(), 0.0))
