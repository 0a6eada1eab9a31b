"""The file of a run: an `.npz` of its arrays, with a header in JSON.

The arrays are not compressed: that would take several times as long as the run, and save 40 %.
Files with compressed arrays can be read too.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from math import isfinite, prod
from pathlib import Path
from typing import Any
from unicodedata import category
from zipfile import BadZipFile, ZipFile, is_zipfile

import numpy as np

from ...errors import InputError, SimulationError, listed
from ...paths import replace_file, require_file
from ..settings import dumps, saveable
from .run_file import SUFFIX, is_run_file, read_header, read_run_file

ARRAYS = ("t", "q", "v", "xi", "u", "angles")
# errors that readers of ZIP, NumPy and JSON, and our own, raise for damaged bytes
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, OverflowError,
          MemoryError, RecursionError, NotImplementedError, RuntimeError, SyntaxError, BadZipFile,
          zlib.error, struct.error)
HIDDEN = ("Cc", "Cf")          # Unicode categories of control characters, also of direction
HEADER = "stop", "names", "events", "source", "kinematic", "settings"
ROWS = 1 << 14                 # rows that are written at once
HEAD = 1 << 17                 # [bytes] of an array's header, twice the largest
TWIST, CONTACT = BESIDE = "commanded_twist", "contact"      # optional arrays of a run


def describe_damage(error: Exception) -> str:
    """The message of an error about a file; a `KeyError` contains only the name."""
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}"
    return f"{error}" or type(error).__name__


def npz_path(path: str | os.PathLike) -> Path:
    """The path with the ending `.npz`. Raises `InputError` for a path without a file name."""
    path = Path(path)
    if not path.name:
        raise InputError(f"save = {str(path)!r} must be the path of a file, and is a folder")
    return path if path.suffix == ".npz" else path.with_name(path.name + ".npz")


def blocks_of(arrays: Mapping[str, np.ndarray]) -> Iterator[dict[str, np.ndarray]]:
    """The arrays in blocks of rows."""
    for begin in range(0, len(arrays["t"]), ROWS):
        yield {name: array[begin:begin + ROWS] for name, array in arrays.items()}


def write_archive(path: Path, about: Mapping[str, Any], count: int,
                  blocks: Callable[[], Iterator[dict[str, np.ndarray]]]) -> None:
    """Writes the file, completely or not at all. Raises `OSError`, and `ValueError` for anything
    but arrays of numbers. `about`: the fields of a `Trajectory` other than its arrays. `blocks`:
    yields blocks of rows of the arrays; called once for each array, so that memory holds one block
    at a time.
    """
    header = {name: about[name] for name in HEADER} | {"settings": saveable(about["settings"])}
    with replace_file(path) as new, open(new, "wb") as file:
        with ZipFile(file, "w") as archive:
            _write_array(archive, "header", (), iter([np.array(dumps(header))]))
            for name, first in next(blocks()).items():
                _write_array(archive, name, (count, *first.shape[1:]),
                             (block[name] for block in blocks()))
        os.fsync(file.fileno())


def read_archive(path: str | os.PathLike) -> dict[str, Any]:
    """The fields of a `Trajectory`, from an archive, or from the complete rows of the `.part` file
    of a run that was cut off or is still running.
    """
    try:
        require_file(path)
        found = _from_run_file(path) if is_run_file(path) else _from_npz(path)
        _check(found)
        return found
    except FileNotFoundError as error:
        part = f"{path}{SUFFIX}"
        hint = ""
        if os.path.exists(part):
            hint = f"; {part} is there, a run that was cut off or still goes on"
        raise SimulationError(f"{path}: there is no such file{hint}") from error
    except (*DAMAGE, OSError) as error:
        raise SimulationError(f"{path} is not a run that `nhmech run --save` or Trajectory.save "
                              f"wrote, or it is damaged ({describe_damage(error)})") from error


def _write_array(archive: ZipFile, name: str, shape: tuple[int, ...],
                 parts: Iterator[np.ndarray]) -> None:
    """Writes one array from its consecutive parts."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
        for i, part in enumerate(parts):
            if part.dtype.hasobject:
                raise ValueError(f"{name!r} is not an array of numbers")
            if i == 0:
                np.lib.format.write_array_header_1_0(stream, {
                    "descr": np.lib.format.dtype_to_descr(part.dtype), "fortran_order": False,
                    "shape": shape})
            stream.write(part.tobytes())


def _from_npz(path: str | os.PathLike) -> dict[str, Any]:
    # otherwise NumPy takes it for a pickle, and suggests loading it
    if os.path.isfile(path) and not is_zipfile(path):
        raise ValueError("it is not a complete .npz archive")
    with ZipFile(path) as archive:
        header = read_header(str(_read_array(archive, "header")))
        beside = [name for name in BESIDE if f"{name}.npy" in archive.namelist()]
        arrays = {name: _read_array(archive, name) for name in (*ARRAYS, *beside)}
    return {
        **arrays,
        **_common(header),
        "events": tuple((t, name) for t, name in header["events"]),
        "stop": header["stop"],
    }


def _read_array(archive: ZipFile, name: str) -> np.ndarray:
    """An array of the archive. All its bytes are read, so that the checksum is verified."""
    if f"{name}.npy" not in archive.namelist():
        raise KeyError(name)
    data = archive.read(f"{name}.npy")
    head = BytesIO(data[:HEAD])
    if np.lib.format.read_magic(head) != (1, 0):
        raise ValueError(f"{name!r} is no array of NumPy's format 1.0")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(head)
    if dtype.hasobject or prod(shape) * dtype.itemsize != len(data) - head.tell():
        raise ValueError(f"{name!r} does not have its {prod(shape)} numbers")
    return np.ndarray(shape, dtype, data, head.tell(), order="F" if is_fortran else "C")


def _check(found: Mapping[str, Any]) -> None:
    """Raises `ValueError` or `TypeError` that names a field which no trajectory can have."""
    names, t = found["names"], found["t"]
    parts = [part for part in (*ARRAYS, *BESIDE) if part in found and part != "t"]
    if set(names) != set(parts):
        raise ValueError(f"names of {listed(sorted(map(str, names)))}, expected {listed(parts)}")
    if t.dtype != float or t.ndim != 1 or not len(t) or not np.all(np.diff(t) >= 0):
        raise ValueError("'t' is not a sequence of times, each at or after the one before")
    for part in parts:
        array, shape = found[part], (len(t), len(names[part]))
        if array.dtype != float or array.shape != shape:
            raise ValueError(f"{part!r} has shape {array.shape} of {array.dtype}, expected {shape} "
                             "of float64")
        # NaN: the controller may command no twist at times, and forces of rolling are not recorded
        if part not in BESIDE and not all(np.isfinite(array[begin:begin + ROWS]).all()
                                          for begin in range(0, len(array), ROWS)):
            raise ValueError(f"{part!r} has numbers that are not finite")
    for time, _ in found["events"]:
        if not isfinite(time):
            raise ValueError(f"'events' has the time {time}")
    for part, kind in (("kinematic", bool), ("source", dict), ("settings", dict), ("stop", str)):
        if not isinstance(found[part], kind):
            raise TypeError(f"{part!r} is {found[part]!r:.40}")
    for word in (found["stop"], *(event for _, event in found["events"]),
                 *(name for part in parts for name in names[part])):
        if not isinstance(word, str) or any(category(c) in HIDDEN and c != "\n" for c in word):
            raise ValueError(f"{word!a:.60} is not a printable name")


def _from_run_file(path: str | os.PathLike) -> dict[str, Any]:
    header, rows, events = read_run_file(path)
    t, q, v, u, *others, angles = np.split(rows, np.cumsum(header["widths"])[:-1], axis=1)
    beside = [name for name in BESIDE if name in header["names"]]
    return {
        "t": t[:, 0].copy(),
        "q": q,
        "v": v,
        "xi": v[:, header["speeds"]],
        "u": u,
        "angles": angles,
        **dict(zip(beside, others, strict=True)),
        **_common(header),
        "events": tuple(sorted(events)),
        "stop": "cut off",
    }


def _common(header: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "names": {part: tuple(names) for part, names in header["names"].items()},
        "source": header["source"],
        "kinematic": header.get("kinematic", False),
        "settings": header.get("settings", {}),
    }
