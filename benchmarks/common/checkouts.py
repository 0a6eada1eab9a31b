"""Measures of this checkout and of others, interleaved, each in a process of its own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .timing import Spent

HERE = Path(__file__).resolve().parent.parent.parent
ROUNDS = 3


def checkouts() -> dict[str, Path]:
    """This one, and those that the command line names."""
    return {"here": HERE, **{path: Path(path).resolve() for path in sys.argv[1:]}}


def environment(checkout: Path) -> dict[str, str]:
    # threads of BLAS that wait for work take processor time, and so does compiling to bytecode
    # again and again
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # the stopwatch is this checkout's, whatever is measured
    path = os.pathsep.join((str(checkout), str(HERE / "benchmarks")))
    return {**kept, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}


def command_seconds(checkout: Path, words: Sequence[str]) -> float:
    """Processor time of a command [s]."""
    with Spent(children=True) as took:
        done = subprocess.run([sys.executable, "-m", "nhmech", *words], env=environment(checkout),
                              cwd=checkout, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{checkout}: nhmech {' '.join(words)}: {done.stderr}")
    return took.processor


def printed_number(checkout: Path, code: str) -> float:
    """What a piece of Python prints."""
    done = subprocess.run([sys.executable, "-c", code], env=environment(checkout),
                          cwd=checkout, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{checkout}: {code}{done.stderr}")
    return float(done.stdout)


def medians(measure: Callable[[Path, Any], float], what: Mapping[str, Any],
            unit: str) -> list[tuple]:
    """Rows of a table: the median of `ROUNDS` of each, checkout by checkout."""
    rows, places = [], checkouts()
    for name, text in what.items():
        found: dict[str, list[float]] = {place: [] for place in places}
        for _ in range(ROUNDS):
            for place, path in places.items():
                found[place].append(measure(path, text))
        rows.append((f"{name} [{unit}]", *map(statistics.median, found.values())))
    return rows
