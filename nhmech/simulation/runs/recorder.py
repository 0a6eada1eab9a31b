"""Collects the states of a run into rows, and into a file while the run goes on."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import numpy as np

from ...errors import InputError, OutputError, SimulationError
from ...urdf.notice import Notice
from ..moment import Moment
from .run_file import SUFFIX, RunFile, split_events
from .run_info import RunInfo
from .trajectory import Trajectory, npz_path

FLUSH = 0.5                  # [s] of real time between two flushes to the file
LARGEST = 1 << 28            # [bytes] that are reserved in advance, at most
GIB = 1 << 30
MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")      # of this machine [bytes]
# [bytes] of rows in memory while there is a file, at most, unless one call of C needs more
WINDOW = 1 << 20


class RowBuffer:
    """The rows in memory: the array `rows`, of which the first `n` are filled, begins at `address`.
    `end` is the end of the file that contains the rows before them [bytes], and `noted` the number
    of events in that file."""

    def __init__(self, rows: np.ndarray, n: int = 0, end: int = 0, noted: int = 0):
        self.rows = rows
        self.n = n
        self.end = end
        self.noted = noted
        # `rows.ctypes.data` is the same, but slower
        self.address = rows.__array_interface__["data"][0]


def check_size(rows: int, each: int, otherwise: str = "") -> None:
    """Raises `InputError` if so many rows of `each` bytes exceed the memory of this machine."""
    if rows * each > MEMORY:
        raise InputError(f"the record of this run has {rows:.3g} rows and takes "
                         f"{rows * each / GIB:.3g} GiB of memory, of which this machine has "
                         f"{MEMORY / GIB:.3g}: record fewer states (every=100){otherwise}")


class Recorder:
    """Collects the rows of a run (`RowLayout`), its `events` (time [s], name) and its `notices`.

    `info` is common to all runs of the simulator. About `capacity` rows are expected; the state is
    recorded before every `every`-th step. Rows are written to `save.part` about twice a second, so
    that memory holds only the last ones; the finished run is written to `save`.
    """

    def __init__(self, moment: Moment, info: RunInfo, capacity: int, every: int,
                 save: str | os.PathLike | None = None):
        width = info.layout.width
        self.every = every
        self.events: list[tuple[float, str]] = []
        self.notices: list[Notice] = []
        self._moment = moment
        self._info = info
        self._save = None if save is None else npz_path(save)
        self._file = None if save is None else RunFile(part_path(save), info.header(), width)
        self._disk_is_full = False
        self._next_flush = time.monotonic() + FLUSH
        if save is None:
            check_size(capacity, 8 * width, " or keep them on disk (save=...)")
        capacity = min(capacity, (LARGEST if save is None else WINDOW) // (8 * width))
        self._window = RowBuffer(np.empty((max(capacity, 4), width)),
                              end=0 if self._file is None else self._file.begin)

    @property
    def rows(self) -> np.ndarray:
        """The rows in memory, with room for more."""
        return self._window.rows

    def note(self, k: int) -> None:
        """Records the state before step k of the run, if it is due."""
        if k % self.every == 0:
            self.add()

    def add(self) -> None:
        """Records the present state; overwrites the last row if it has the same time."""
        window = self._window
        if window.n and window.rows[window.n - 1, 0] == self._moment.t:
            window.n -= 1
        self.room(1)
        window = self._window
        self._moment.block.take(self._info.layout.places, out=window.rows[window.n], mode="clip")
        window.n += 1

    def room(self, rows: int) -> int:
        """Address of memory for so many further rows. After filling them, call `extend`."""
        window = self._window
        streamed = self._file is not None and not self._disk_is_full
        if streamed and window.n > 1 and (window.n + rows > len(window.rows)
                                          or time.monotonic() > self._next_flush):
            self.flush()
            window = self._window
        while window.n + rows > len(window.rows):
            more = np.concatenate([window.rows, np.empty_like(window.rows)])
            window = RowBuffer(more, window.n, window.end, window.noted)
        self._window = window
        return window.address + window.n * window.rows.strides[0]

    def extend(self, rows: int) -> None:
        """Counts so many rows, written to the memory from `room`, as recorded."""
        self._window.n += rows

    # -- the file ----------------------------------------------------------------------------------
    def flush(self, everything: bool = False) -> None:
        """Moves the rows to the file, except for the last one, which may still be overwritten.

        The buffer is replaced in one assignment, so that Ctrl-C finds each row in one place.
        """
        file, window, keep = self._file, self._window, 0 if everything else 1
        assert file is not None, "only a run that is saved has a file"
        last = window.n - keep
        try:
            end = window.end
            for moment, name in self.events[window.noted:]:
                end = file.write(end, file.row(np.nan, moment, self._info.events.index(name)))
            end = file.write(end, window.rows[:last])
        except OSError as error:
            self._disk_is_full = True
            why = (f"{file.path} cannot be written: {error.strerror}; what it holds so far can be "
                   "read")
            raise SimulationError(why, self._trajectory(why)) from error
        # new memory: views of the old rows may be in use
        rows = np.empty_like(window.rows)
        rows[:keep] = window.rows[last:window.n]
        self._window = RowBuffer(rows, keep, end, len(self.events))
        self._next_flush = time.monotonic() + FLUSH

    def _read_back(self) -> np.ndarray:
        """All rows, including those in the file."""
        file, window = self._file, self._window
        assert file is not None, "only a run that is saved has a file"
        if window.end == file.begin:
            return window.rows[:window.n]
        written = file.rows(window.end)
        if window.noted:
            written, _ = split_events(written, self._info.events)
        return np.concatenate([written, window.rows[:window.n]]) if window.n else written

    # -- the end -----------------------------------------------------------------------------------
    def trajectory(self, stop: str) -> Trajectory:
        """The finished run. If there is a file, the run is saved, and read from it when needed.
        """
        if self._file is None or self._save is None or self._disk_is_full:
            return self._trajectory(stop)
        try:
            self.flush(everything=True)
        except SimulationError as error:
            raise SimulationError(str(error), self._trajectory(stop)) from error
        end = self._window.end
        try:
            result = Trajectory.save_rows(self._save, self._read_back(),
                                          partial(self._file.blocks, end), self._info, stop,
                                          self.events, self.notices)
        except (OutputError, ValueError) as error:
            raise SimulationError(f"{error}; the run is in {self._file.path}",
                                  self._trajectory(stop)) from error
        self._file.close(remove=True)
        return result

    def _trajectory(self, stop: str) -> Trajectory:
        rows = self._window.rows[:self._window.n] if self._file is None else self._read_back()
        if self._file is None and 2 * len(rows) < len(self._window.rows):
            # a copy, which frees memory after a run that ended early
            rows = rows.copy()
        return Trajectory.of_rows(rows, self._info, stop, self.events, self.notices)


def part_path(save: str | os.PathLike) -> Path:
    """Path of the file that receives the rows of a run to be saved as `save`."""
    path = npz_path(save)
    return path.with_name(path.name + SUFFIX)
