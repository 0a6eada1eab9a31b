"""A line that says how far a run is; nothing where standard error is no terminal."""

from __future__ import annotations

import sys
import time


class Progress:
    """Callable (t, state) for `Simulator.run`; draws at most ten times a second."""

    def __init__(self, duration: float, stream=None):
        self.duration = duration
        self.stream = stream if stream is not None else sys.stderr
        self.shown = self.stream.isatty()
        self.bar = self.task = None
        self.next = 0.0

    def __enter__(self):
        if self.shown:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self.bar = Progress(
                TextColumn("{task.completed:8.2f} s of {task.total:g} s"),
                BarColumn(),
                TextColumn("{task.fields[factor]} x real time"),
                TimeRemainingColumn(),
                console=Console(file=self.stream),
                transient=True,
            )
            self.bar.start()
            self.task = self.bar.add_task("", total=self.duration, factor="-")
        self.begin = time.perf_counter()
        return self

    def __call__(self, t, state=None):
        if self.bar is None:
            return
        now = time.perf_counter()
        if now >= self.next:
            self.next = now + 0.1
            self.bar.update(self.task, completed=float(t), factor=f"{t / max(now - self.begin, 1e-9):.1f}")

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.stop()
