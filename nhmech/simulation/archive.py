"""The file of a run: an `.npz` of its arrays, with a header in JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, is_zipfile

import numpy as np

from ..errors import InputError, SimulationError
from ..paths import replace_file
from .run_file import SUFFIX, is_run_file, read_run_file

ARRAYS = ("t", "q", "v", "xi", "u", "angles")
TWIST = "commanded_twist"      # an array that a run may have beside them


def npz_path(path: str | os.PathLike) -> Path:
    """The path with `.npz` at its end. Raises `InputError` for one without a name."""
    path = Path(path)
    if not path.name:
        raise InputError(f"save = {str(path)!r} must be the path of a file, and is a folder")
    return path if path.suffix == ".npz" else path.with_name(path.name + ".npz")


def write_archive(path: Path, header: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes the file, whole or not at all. Raises `OSError`, and `ValueError` for what is no array
    of numbers."""
    with replace_file(path) as new, open(new, "wb") as file:
        _write_npz(file, {"header": np.array(header), **arrays})
        os.fsync(file.fileno())


def read_archive(path: str | os.PathLike) -> dict[str, Any]:
    """What a `Trajectory` is made of, out of an archive, or out of the whole rows of the `.part` of
    a run that was cut off or still goes on.

    Raises
    ------
    SimulationError
        For a file that does not exist, or is no run.
    """
    try:
        return _from_run_file(path) if is_run_file(path) else _from_npz(path)
    except FileNotFoundError as error:
        part = f"{path}{SUFFIX}"
        hint = ""
        if os.path.exists(part):
            hint = f"; {part} is there, a run that was cut off or still goes on"
        raise SimulationError(f"{path}: there is no such file{hint}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError,
            BadZipFile) as error:
        raise SimulationError(f"{path} is not a run that `nhmech run --save` or Trajectory.save "
                              f"wrote, or it is damaged ({error})") from error


def _write_npz(file: IO[bytes], arrays: Mapping[str, np.ndarray]) -> None:
    """As `np.savez_compressed`, at half its time: zlib's higher levels find nothing more in these
    numbers."""
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                try:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
                except ValueError as error:
                    raise ValueError(f"{name!r} is no array of numbers ({error})") from error


def _from_npz(path: str | os.PathLike) -> dict[str, Any]:
    # NumPy would take it for a pickle, and advise to load it
    if os.path.isfile(path) and not is_zipfile(path):
        raise ValueError("it is no whole .npz archive")
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(str(file["header"]))
        arrays = {name: file[name] for name in ARRAYS}
        if TWIST in file.files:
            arrays[TWIST] = file[TWIST]
    return {
        **arrays,
        **_common(header),
        "events": tuple((t, name) for t, name in header["events"]),
        "stop": header["stop"],
    }


def _from_run_file(path: str | os.PathLike) -> dict[str, Any]:
    header, rows, events = read_run_file(path)
    t, q, v, u, *twist, angles = np.split(rows, np.cumsum(header["widths"])[:-1], axis=1)
    return {
        "t": t[:, 0].copy(),
        "q": q,
        "v": v,
        "xi": v[:, header["speeds"]],
        "u": u,
        "angles": angles,
        **dict(zip((TWIST,), twist)),
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
