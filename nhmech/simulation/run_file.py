"""The file that a run appends to while it goes on: one line of JSON, then rows of float64.

A row is (t, q, v, u, angles), with the commanded twist before the angles where the controller
commands one; one whose t is NaN notes an event: its time and its number in the header's list. Bytes
after the last whole row are what a killed process left of one.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import SimulationError
from .settings import dumps

SUFFIX = ".part"
MAGIC = b'{"nhmech": "run"'
# the header ends at a multiple of this, so that rows can be mapped into memory
ALIGN = 64
# what file systems without locks answer
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
UNLOCKED = ("%s is on a file system without locks: another run that is saved there at the same "
            "time would not be noticed")


class RunFile:
    """A run file that is being written; `path` ends in `.part`.

    What stands under this name already is kept as `path~`. Where there are no locks, another run
    may rename this file while it is written; so it is read by its descriptor, never by its name.

    Parameters
    ----------
    header
        Values that `read_run_file` gives back, as JSON has them.
    width
        Numbers in a row.

    Raises
    ------
    SimulationError
        Where the file cannot be made, where another run is writing it, or where the header is no
        JSON.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], width: int):
        self.path = path
        self.width = width
        try:
            line = dumps({"nhmech": "run", "version": 1, **header, "width": width}).encode()
            line += b" " * (-(len(line) + 1) % ALIGN) + b"\n"
            _keep_old(path)
            self._file = open(path, "x+b", buffering=0)     # noqa: SIM115 (`close` closes it)
            if not _lock(self._file.fileno()):
                logging.getLogger("nhmech").warning(UNLOCKED, path)
            self.begin = self.write(0, line)
        except OSError as error:
            raise SimulationError(f"{path} cannot be written: {error.strerror}") from error
        except ValueError as error:
            raise SimulationError(f"{path} cannot be written: {error}") from error

    def write(self, offset: int, data: bytes | np.ndarray) -> int:
        """Puts data at an offset [bytes], returns the offset after them; harmless if repeated.
        Raises `OSError`."""
        left = (memoryview(data) if isinstance(data, bytes) else data.data).cast("B")
        while left:
            done = os.pwrite(self._file.fileno(), left, offset)
            offset += done
            left = left[done:]
        return offset

    def row(self, *numbers: float) -> np.ndarray:
        """A row that begins with these numbers and is zero after them."""
        row = np.zeros(self.width)
        row[:len(numbers)] = numbers
        return row

    def rows(self, end: int) -> np.ndarray:
        """The rows up to an offset, mapped into memory; they outlive the file's name."""
        count = (end - self.begin) // (8 * self.width)
        return _map(self._file, self.begin, count, self.width)

    def close(self, remove: bool = False) -> None:
        """Ends the writing; harmless when called again."""
        if remove and not self._file.closed and self._has_its_name():
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _has_its_name(self) -> bool:
        """Whether the path still leads to this file, and not to another run's."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False


def _keep_old(path: Path) -> None:
    """Renames what a killed run left behind; what a running one writes is an error."""
    try:
        old = os.open(path, os.O_RDWR)       # locks of NFS ask for leave to write
    except FileNotFoundError:
        return
    except PermissionError:
        old = os.open(path, os.O_RDONLY)     # enough for locks elsewhere, and for renaming it
    try:
        _lock(old)
        os.replace(path, f"{path}~")
    except BlockingIOError as error:
        raise SimulationError(f"{path}: another run is being written to it") from error
    finally:
        os.close(old)


def _lock(file: int) -> bool:
    """Locks an open file for this process; False if its file system has no locks, `BlockingIOError`
    if it is held."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in NO_LOCKS:
            return False
        raise
    return True


def is_run_file(path: str | os.PathLike) -> bool:
    """Whether it begins as one."""
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_run_file(path: str | os.PathLike) -> tuple[dict[str, Any], np.ndarray,
                                                    list[tuple[float, str]]]:
    """(header, rows (N, width), events (time [s], name)) of the whole rows.

    Raises
    ------
    OSError, ValueError, KeyError
        Where it cannot be read.
    """
    with open(path, "rb") as file:
        line = file.readline()
    header = json.loads(line)
    width = header["width"]
    rows = _map(path, len(line), (os.path.getsize(path) - len(line)) // (8 * width), width)
    return header, *split_events(rows, header["events"])


def split_events(rows: np.ndarray,
                 names: Sequence[str]) -> tuple[np.ndarray, list[tuple[float, str]]]:
    """The rows that are states, and the events (time [s], name) that the others note."""
    notes = np.isnan(rows[:, 0])
    if not notes.any():
        return rows, []
    return rows[~notes], [(float(row[1]), names[int(row[2])]) for row in rows[notes]]


def _map(file: str | os.PathLike | IO[bytes], begin: int, count: int, width: int) -> np.ndarray:
    if count < 1:
        raise ValueError("no whole row")
    return np.asarray(np.memmap(file, dtype="<f8", mode="r", offset=begin, shape=(count, width)))
