"""Processor time of programs that this one has started."""

from __future__ import annotations

import os
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def time_of_children() -> float:
    """Processor time [s] of the programs that this process has started, and of those that they
    have, as far as they run; nan on a system that does not say (Linux does)."""
    if not Path("/proc/self/task").exists():
        return float("nan")
    total, left = 0, _children("self")
    while left:
        pid = left.pop()
        try:
            # after the name, which may have brackets and spaces: the state is the third field
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            left += _children(pid)
        except OSError:                 # it has ended meanwhile
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def _children(pid: str) -> list[str]:
    """Process numbers."""
    return [child for task in Path(f"/proc/{pid}/task").glob("*/children")
            for child in task.read_text().split()]
