"""What calls cost: the stopwatch of all benchmarks.

A clock may stand still for milliseconds and then jump (that of the processor does, in a virtual
machine whose host is busy), so that a short call seems to cost nothing and the least of many calls
is none. Here a figure is the median of windows, and a window lasts until both clocks, that of the
processor and that on the wall, have been seen to move by `ENOUGH`.
"""

from __future__ import annotations

import resource
import statistics
from collections.abc import Callable
from time import perf_counter, process_time

ENOUGH = 0.05          # [s]
WINDOWS = 5
ROUNDS = 7
# [s] on the wall within which the clock of the processor has to have moved enough
PATIENCE = 120.0


class Spent:
    """What is spent within a `with` block, which does something so many `times`.

    Attributes
    ----------
    processor, wall
        By the clock of this process, all its threads together, and by that on the wall [s]; where
        `children` is set, the former has the processes too that it starts and waits for.
    """

    def __init__(self, times: float = 1.0, children: bool = False):
        self.times, self._children = times, children

    def __enter__(self) -> Spent:
        self.processor, self.wall = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        processor, wall = self._now()
        self.processor, self.wall = processor - self.processor, wall - self.wall

    def _now(self) -> tuple[float, float]:
        others = resource.getrusage(resource.RUSAGE_CHILDREN) if self._children else None
        waited = 0.0 if others is None else others.ru_utime + others.ru_stime
        return process_time() + waited, perf_counter()


def window(measure: Callable[[], Spent], least: float = ENOUGH) -> float:
    """Processor time of doing something once [s], in the mean of a window: `measure` is asked until
    what it spent is `least` on both clocks. Between its own readings of them it may prepare what it
    likes.

    Raises `RuntimeError` where the clock of the processor stands still for good."""
    processor = wall = times = 0.0
    while min(processor, wall) < least:
        found = measure()
        processor, wall, times = processor + found.processor, wall + found.wall, times + found.times
        if wall > PATIENCE and processor < least:
            raise RuntimeError(f"{wall:g} s passed, and the clock of the processor moved by "
                               f"{processor:g} s: nothing can be measured with it")
    return processor / times


def seconds(call: Callable[[], object], least: float = ENOUGH) -> float:
    """Processor time of a call [s], in the mean of one window without a pause."""
    times = 1

    def measure() -> Spent:
        nonlocal times
        with Spent(times) as took:
            for _ in range(times):
                call()
        times *= 2
        return took

    return window(measure, least)


def median(measure: Callable[[], float], windows: int = WINDOWS) -> float:
    """Of what one window after the other gives."""
    return statistics.median(measure() for _ in range(windows))


def interleaved(measures: dict[str, Callable[[], float]], rounds: int = ROUNDS,
                enough: float = 4.0) -> dict[str, float]:
    """Medians of what each function returns, one round after another so that all see the same
    machine.

    After three rounds, a function that has had `enough` seconds sits out.
    """
    found: dict[str, list[float]] = {name: [] for name in measures}
    passed = dict.fromkeys(measures, 0.0)
    for i in range(rounds):
        for name, measure in measures.items():
            if i < 3 or passed[name] < enough:
                with Spent() as took:
                    found[name].append(measure())
                passed[name] += took.wall
    return {name: statistics.median(values) for name, values in found.items()}
