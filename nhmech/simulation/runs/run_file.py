"""The file that a run appends to while it goes on: one line of JSON, then rows of float64.

The line has the header and the CRC-32 of its JSON. A row is (t, q, v, u, angles), with the
commanded twist before the angles where the controller commands one, and its checksum as 64 bits;
a row whose t is NaN is an event: its time and its index in the header's list. Bytes after the last
complete row are the beginning of one that a killed process was writing.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...errors import SimulationError
from ..settings import dumps

SUFFIX = ".part"
MAGIC = b'{"nhmech": "run"'
VERSION = 2                # of the format; 1 had no checksums
LONGEST = 1 << 26          # [bytes] of a header at most; the description of a robot takes about 1e5
BLOCK = 1 << 20            # [bytes] of rows that are read at once
# the header ends at a multiple of this, so that rows can be mapped into memory
ALIGN = 64
# errors of file systems without locks
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
UNLOCKED = ("%s is on a file system without locks: another run saved to it at the same time would "
            "not be noticed")


class RunFile:
    """A run file that is being written; `path` ends in `.part`. `read_run_file` returns the values
    of its `header`, as JSON.

    An existing file of this name is kept as `path~`. On file systems without locks, another run may
    rename this file while it is written; therefore it is read by its descriptor, not by its name.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], width: int):
        self.path = path
        self.width = width
        try:
            header = {**header, "width": width}
            line = dumps({"nhmech": "run", "version": VERSION, "crc32": _crc(header),
                          "header": header}).encode()
            line += b" " * (-(len(line) + 1) % ALIGN) + b"\n"
            _keep_old(path)
            self._file = open(path, "x+b")     # noqa: SIM115 (`close` closes it)
            if not _lock(self._file.fileno()):
                logging.getLogger("nhmech").warning(UNLOCKED, path)
            self.begin = self.write(0, line)
        except OSError as error:
            raise SimulationError(f"{path} cannot be written: {error.strerror}") from error
        except ValueError as error:
            raise SimulationError(f"{path} cannot be written: {error}") from error

    def write(self, offset: int, data: bytes | np.ndarray) -> int:
        """Writes bytes, or rows with their checksums, at an offset [bytes]; returns the offset
        after them. May be repeated. Raises `OSError`."""
        left = memoryview(data if isinstance(data, bytes) else _seal(data).tobytes())
        while left:
            done = os.pwrite(self._file.fileno(), left, offset)
            offset += done
            left = left[done:]
        return offset

    def row(self, *numbers: float) -> np.ndarray:
        """A row (1, width) of these numbers followed by zeros."""
        row = np.zeros((1, self.width))
        row[0, :len(numbers)] = numbers
        return row

    def rows(self, end: int) -> np.ndarray:
        """The rows up to an offset, mapped into memory; they remain after the file is removed."""
        count = (end - self.begin) // (8 * (self.width + 1))
        return _map(self._file, self.begin, count, self.width)[:, :-1]

    def blocks(self, end: int) -> Iterator[np.ndarray]:
        """The states among the rows up to an offset, in blocks; the next block overwrites the
        memory of the last one."""
        each = 8 * (self.width + 1)
        room = np.empty((max(1, BLOCK // each), self.width + 1))
        for offset in range(self.begin, end, room.nbytes):
            rows = room[:min(room.nbytes, end - offset) // each]
            if os.preadv(self._file.fileno(), [rows.data], offset) != rows.nbytes:
                raise OSError(errno.EIO, "it is shorter than what was written to it")
            yield rows[~np.isnan(rows[:, 0]), :-1] if np.isnan(rows[:, 0]).any() else rows[:, :-1]

    def close(self, remove: bool = False) -> None:
        """Closes the file; may be called again."""
        if remove and not self._file.closed and self._has_its_name():
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _has_its_name(self) -> bool:
        """Whether the path still names this file, and not that of another run."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False


def _keep_old(path: Path) -> None:
    """Renames the file that a killed run left behind; raises an error if a run is writing it."""
    try:
        old = os.open(path, os.O_RDWR)       # locks on NFS require write access
    except FileNotFoundError:
        return
    except PermissionError:
        old = os.open(path, os.O_RDONLY)     # suffices for other locks, and for renaming
    try:
        _lock(old)
        os.replace(path, f"{path}~")
    except BlockingIOError as error:
        raise SimulationError(f"{path}: another run is being written to it") from error
    finally:
        os.close(old)


def _lock(file: int) -> bool:
    """Locks an open file for this process; False if its file system has no locks. Raises
    `BlockingIOError` if another process has locked it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in NO_LOCKS:
            return False
        raise
    return True


def is_run_file(path: str | os.PathLike) -> bool:
    """Whether a file begins like a run file."""
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_run_file(path: str | os.PathLike) -> tuple[dict[str, Any], np.ndarray,
                                                    list[tuple[float, str]]]:
    """(header, rows (N, width), events (time [s], name)), from the complete rows before the first
    damaged one, which is logged.
    """
    with open(path, "rb") as file:
        line = file.readline(LONGEST)
    found = read_header(line)
    if found["version"] != VERSION:
        raise ValueError(f"its format has version {found['version']}, this program reads {VERSION}")
    header = found["header"]
    if found["crc32"] != _crc(header):
        raise ValueError("the checksum of its header is wrong")
    width = header["width"]
    count = (os.path.getsize(path) - len(line)) // (8 * (width + 1))
    sealed = _map(path, len(line), count, width)
    bad = np.flatnonzero(_checksums(sealed[:, :-1]) != sealed[:, -1].view("<u8"))
    if len(bad):
        if bad[0] == 0:
            raise ValueError("no whole row")
        logging.getLogger("nhmech").warning("%s: row %d of %d is damaged; the rows before it are "
                                            "read", path, bad[0], count)
    rows = sealed[:bad[0] if len(bad) else count, :-1]
    return header, *split_events(rows, header["events"])


def read_header(text: str | bytes) -> Any:
    """The values of a header. Limits may be infinite. Raises `ValueError` for NaN, and for anything
    but JSON."""
    def refuse(word: str) -> float:
        if word == "NaN":
            raise ValueError("its header has a NaN")
        return float(word)

    return json.loads(text, parse_constant=refuse)


# the words of a row have odd multipliers, so that a change of one word changes the sum
_FACTOR = 6364136223846793005      # of Knuth's generator MMIX
_START = 1442695040888963407       # its increment, so that the checksum of zeros is not zero


def _checksums(rows: np.ndarray) -> np.ndarray:
    """sum_j w_j F^(j+1) + S modulo 2^64 for the words w of each row (n, width), (n,)."""
    weights = np.array([pow(_FACTOR, j + 1, 1 << 64) for j in range(rows.shape[1])], dtype="<u8")
    words = np.ascontiguousarray(rows).view("<u8")
    return words @ weights + np.uint64(_START)


def _seal(rows: np.ndarray) -> np.ndarray:
    return np.column_stack([rows, _checksums(rows).view("<f8")])


def _crc(header: Mapping[str, Any]) -> int:
    """CRC-32 of the header's JSON, which is the same before writing and after reading."""
    return zlib.crc32(dumps(header).encode())


def split_events(rows: np.ndarray,
                 names: Sequence[str]) -> tuple[np.ndarray, list[tuple[float, str]]]:
    """The rows that are states, and the events (time [s], name) in the other rows."""
    notes = np.isnan(rows[:, 0])
    if not notes.any():
        return rows, []
    return rows[~notes], [(float(row[1]), names[int(row[2])]) for row in rows[notes]]


def _map(file: str | os.PathLike | IO[bytes], begin: int, count: int, width: int) -> np.ndarray:
    """Rows with their checksums, (count, width + 1)."""
    if count < 1:
        raise ValueError("no whole row")
    return np.asarray(np.memmap(file, dtype="<f8", mode="r", offset=begin,
                                shape=(count, width + 1)))
