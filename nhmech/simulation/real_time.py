"""Loops that keep pace with the clock."""

from __future__ import annotations

import time
from collections.abc import Callable


def keep_pace(rate: float, is_done: Callable[[], bool], tick: Callable[[], object]) -> None:
    """Calls `tick` at a rate [1/s] until `is_done()`. After a late call, the next period begins at
    once; periods that were missed are skipped."""
    due = time.monotonic()
    while not is_done():
        tick()
        due = max(due + 1 / rate, time.monotonic())
        time.sleep(max(due - time.monotonic(), 0.0))
