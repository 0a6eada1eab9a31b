"""Ctrl-C ends a run; pressed twice, it ends the program that would begin the next one."""

from __future__ import annotations

import math
import time

TWICE = 2.0      # [s] between two presses that count as one wish

_latest = -math.inf


def pressed_twice() -> bool:
    """Notes a Ctrl-C, and says whether the last one is no more than `TWICE` ago."""
    global _latest
    before, _latest = _latest, time.monotonic()
    return _latest - before <= TWICE
