"""A line that says how far a run is; nothing where standard error is no terminal."""

from __future__ import annotations

import sys
import time


class Progress:
    """Callable (t, state) for `Simulator.run`; draws at most ten times a second.

    Parameters
    ----------
    duration
        Of the run, which begins at t = 0 [s].
    stream
        Where it is drawn, if that is a terminal; standard error.
    vehicle
        Has energy(t, q, v) [J]; its change since the first drawing is shown, the drift where
        nothing drives.
    """

    def __init__(self, duration: float, stream=None, vehicle=None):
        self.duration, self.vehicle = duration, vehicle
        self.stream = stream if stream is not None else sys.stderr
        self.shown = self.stream.isatty()
        self.bar = self.task = self.first = None
        self.next = 0.0

    def __enter__(self):
        if self.shown:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self.bar = Progress(
                TextColumn("{task.completed:.2f} of {task.total:g} s"),
                BarColumn(bar_width=16),
                TextColumn("in {task.fields[real]} s, {task.fields[factor]} x"),
                *([TextColumn("energy {task.fields[energy]}")] if self.vehicle is not None else []),
                TimeRemainingColumn(),
                console=Console(file=self.stream),
                transient=True,
            )
            self.bar.start()
            self.task = self.bar.add_task("", total=self.duration, **self.fields(0.0, None))
        self.begin = time.perf_counter()
        return self

    def __call__(self, t, state=None):
        if self.bar is None:
            return
        now = time.perf_counter()
        if now >= self.next:
            self.next = now + 0.1
            self.bar.update(self.task, completed=float(t),
                            **self.fields(float(t), state, now - self.begin))

    def fields(self, t: float, state, real: float = 0.0) -> dict[str, str]:
        """What is drawn beside the bar."""
        fields = {"real": f"{real:.1f}", "factor": f"{t / max(real, 1e-9):.1f}", "energy": "-"}
        if self.vehicle is not None and state is not None:
            energy = self.vehicle.energy(t, state.q, state.v)
            self.first = energy if self.first is None else self.first
            fields["energy"] = f"{energy:.4g} J ({energy - self.first:+.1e})"
        return fields

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.stop()
