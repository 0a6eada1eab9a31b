"""A progress bar; nothing if standard error is no terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import numpy as np

if TYPE_CHECKING:
    from rich.progress import Progress as Bar, TaskID

PERIOD = 0.1  # [s] between two drawings: a person sees it move, and a run does not wait for it


class HasEnergy(Protocol):
    """A vehicle, or anything else with an energy."""

    def energy(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        """Kinetic and potential energy [J]."""


class Progress:
    """Callable (t, state) for `Simulator.run` that draws a progress bar of `duration` [s] at most
    ten times a second, if the stream (standard error by default) is a terminal. For a `vehicle` it
    adds the energy and its change, which is the numerical drift of an undriven motion."""

    def __init__(self, duration: float, stream: TextIO | None = None,
                 vehicle: HasEnergy | None = None):
        self.duration, self.vehicle = duration, vehicle
        self.stream = stream if stream is not None else sys.stderr
        self.bar: Bar | None = None
        self._task: TaskID | None = None
        self._first_energy: float | None = None
        self.next, self._begin = 0.0, 0.0

    def __enter__(self) -> Progress:
        self._begin = time.perf_counter()
        if self.stream.isatty():
            self.bar = self._make_bar()
            self.bar.start()
            self._task = self.bar.add_task("", total=self.duration, **self._fields(0.0, None))
        return self

    def __call__(self, t: float, state: Any = None) -> None:
        if self.bar is None or self._task is None:
            return
        now = time.perf_counter()
        if now >= self.next:
            self.next = now + PERIOD
            fields = self._fields(float(t), state, now - self._begin)
            self.bar.update(self._task, completed=float(t), **fields)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def _make_bar(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, Progress as Bar, TextColumn, TimeRemainingColumn

        energy = [] if self.vehicle is None else [TextColumn("energy {task.fields[energy]}")]
        return Bar(TextColumn("{task.completed:.2f} of {task.total:g} s"),
                   BarColumn(bar_width=16),
                   TextColumn("in {task.fields[real]} s, {task.fields[factor]} x"),
                   *energy, TimeRemainingColumn(),
                   console=Console(file=self.stream), transient=True)

    def _fields(self, t: float, state: Any, real: float = 0.0) -> dict[str, Any]:
        fields = {"real": f"{real:.1f}", "factor": f"{t / max(real, 1e-9):.1f}", "energy": "-"}
        if self.vehicle is not None and state is not None:
            energy = self.vehicle.energy(t, state.q, state.v)
            if self._first_energy is None:
                self._first_energy = energy
            fields["energy"] = f"{energy:.4g} J ({energy - self._first_energy:+.1e})"
        return fields
