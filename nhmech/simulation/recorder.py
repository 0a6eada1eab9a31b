"""Collects a run's states into arrays, and into a file while the run goes on."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from ..errors import SimulationError
from .run_file import SUFFIX, RunFile, without_events
from .trajectory import Trajectory, npz_path

FLUSH = 0.5                  # [s] real time between two looks at whether rows go to the file
LARGEST = 1 << 28            # [bytes] that are asked for at once before they are needed
# [bytes] of rows that are held in memory while there is a file, unless one chunk of steps needs
# more
WINDOW = 1 << 20


class Recorder:
    """Rows (`RowLayout`) of a simulator, as many as turn out to be needed.

    Parameters
    ----------
    save
        The run file that the whole run goes into; the rows go to `save.part` at least each half
        second, and memory holds the last.
    """

    def __init__(self, simulator, capacity: int, save=None):
        self.simulator, self.columns = simulator, simulator.columns
        width = sum(self.columns.widths)
        self.save, self.file = (
            (None, None) if save is None else (npz_path(save), self._opened(npz_path(save)))
        )
        capacity = min(capacity, (LARGEST if save is None else WINDOW) // (8 * width))
        self.rows = np.empty((max(capacity, 4), width))
        self._address, self.n = self.rows.ctypes.data, 0
        self.events: list[tuple[float, str]] = []
        if self.file is not None:
            self._end, self._noted, self._next = self.file.begin, 0, time.monotonic() + FLUSH

    def add(self) -> None:
        """Records the present state; a moment that is there already is written over."""
        s = self.simulator
        if self.n and self.rows[self.n - 1, 0] == s.t:
            self.n -= 1
        self.room(1)
        s._now.block.take(self.columns.places, out=self.rows[self.n], mode="clip")
        self.n += 1

    def room(self, rows: int) -> int:
        """Address of memory for so many further rows; `n` is raised by whoever fills them."""
        if (
            self.file is not None
            and self.n > 1
            and (self.n + rows > len(self.rows) or time.monotonic() > self._next)
        ):
            self.flush()
        while self.n + rows > len(self.rows):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
            self._address = self.rows.ctypes.data
        return self._address + self.n * self.rows.strides[0]

    # -- the file ----------------------------------------------------------------------------------
    def _opened(self, save: Path) -> RunFile:
        names = {"names": self.columns.names, "speeds": self.columns.speeds.tolist(),
                 "events": [event.name for event in self.simulator.events]}
        about = {"widths": self.columns.widths, "source": self.simulator.simulated.source,
                 "kinematic": self.simulator.kinematic, "settings": self.simulator.settings}
        return RunFile(part_path(save), {**names, **about}, sum(self.columns.widths))

    def flush(self, everything: bool = False) -> None:
        """Moves the rows to the file, but for the last one, which may yet be written over.

        The state changes in one stroke, so that Ctrl-C finds the rows here or there.

        Raises
        ------
        SimulationError
            With the record where the disk refuses; the rows are kept in memory from then on.
        """
        file, keep = self.file, 0 if everything else 1
        known = [event.name for event in self.simulator.events]
        try:
            end, noted = self._end, len(self.events)
            for moment, name in self.events[self._noted:]:
                end = file.write(end, file.row(np.nan, moment, known.index(name)))
            end = file.write(end, self.rows[:self.n - keep])
        except OSError as error:
            vars(self).update(file=None, _broken=file)
            why = (
                f"{file.path} cannot be written: {error.strerror}; what it holds so far can be read"
            )
            raise SimulationError(why, self._trajectory(why)) from error
        rows = np.empty_like(self.rows)
        rows[:keep] = self.rows[self.n - keep:self.n]
        vars(self).update(rows=rows, _address=rows.ctypes.data, n=keep, _end=end, _noted=noted,
                          _next=time.monotonic() + FLUSH)

    _broken: RunFile | None = None

    def _recorded(self) -> np.ndarray:
        """All rows, those of the file included."""
        file = self.file or self._broken
        if file is None or self._end == file.begin:
            return self.rows[:self.n]
        there, _ = without_events(file.rows(self._end),
                                  [event.name for event in self.simulator.events])
        return np.concatenate([there, self.rows[:self.n]]) if self.n else there

    # -- the end -----------------------------------------------------------------------------------
    def trajectory(self, stop: str) -> Trajectory:
        """The immutable record; where there is a file, the run is saved, and what is needed is read
        from there.

        Raises
        ------
        SimulationError
            With the record where the file cannot be written.
        """
        if self.file is None:
            return self._trajectory(stop)
        try:
            self.flush(everything=True)
        except SimulationError as error:
            raise SimulationError(str(error), self._trajectory(stop)) from error
        result = self._trajectory(stop)
        try:
            result.save(self.save)
        except SimulationError as error:
            raise SimulationError(f"{error}; the run is in {self.file.path}", result) from error
        self.file.close(remove=True)
        return result

    def _trajectory(self, stop: str) -> Trajectory:
        s, rows = self.simulator, self._recorded()
        if self.file is None and 2 * len(rows) < len(self.rows):
            # so as not to keep memory for a run that ended early
            rows = rows.copy()
        return Trajectory.recorded(rows, self.columns, stop, tuple(sorted(self.events)), s.simulated,
                                   s.kinematic, s.settings)


def part_path(save) -> Path:
    """Where the rows go of a run that will be saved as `save`."""
    save = npz_path(save)
    return save.with_name(save.name + SUFFIX)
