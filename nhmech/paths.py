"""Paths of the shipped robots, and safe writing of files."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError, OutputError, did_you_mean, listed

_PLACES = (Path("urdf"), Path("share", "nhmech", "urdf"))
_SUFFIXES = (".urdf.xacro", ".urdf")


def urdf_path(name: str) -> Path:
    """Path of a robot description of this package.

    From the package's own file, links resolved, every folder upwards is tried: first its `urdf/`,
    then its `share/nhmech/urdf/`; the nearest file wins. That one rule finds the file in a source
    tree, after `pip install` and `pip install -e`, and in an ament workspace with or without
    `--symlink-install`.

    Parameters
    ----------
    name
        "carriage", "carriage.urdf" or, for a xacro file, "carriage.urdf.xacro".

    Raises
    ------
    InputError
        If there is no such file, with the names that exist.

    Examples
    --------
    >>> urdf_path("carriage").name
    'carriage.urdf'
    """
    for file in _candidates(name):
        for folder in _folders():
            if os.path.isfile(folder / file):      # pathlib's raises for names that are too long
                return folder / file
    there = (listed(urdf_names()) if urdf_names()
             else "none: the folder urdf/ was not installed along with the package")
    raise InputError(f"no URDF of this package is called {name!r}; available: {there}"
                     f"{did_you_mean(name, urdf_names())}")


def urdf_names() -> tuple[str, ...]:
    """Names that `urdf_path` knows, without endings, in alphabetical order.

    Examples
    --------
    >>> urdf_names()[:3]
    ('ackermann_car', 'ball', 'bicycle')
    """
    files = (file.name for folder in _folders() for file in folder.iterdir())
    return tuple(sorted({_stem(file) for file in files if _stem(file) != file}))


def require_file(path: str | os.PathLike) -> None:
    """Raises `OSError` unless the path is a file: a device may never end, a pipe never begin."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError("it is no file, but a folder, a pipe or a device")


@contextmanager
def replace_file(path: str | os.PathLike) -> Iterator[Path]:
    """Write a file whole or not at all: yields a name to write to, in a new folder beside `path`.

    The new file has the ending of `path`. It takes the place of `path` when the block ends well and
    is removed when it does not, so a reader finds the old file or the whole new one, however many
    processes write it at a time. What is there and no file, such as a device, stays. An `OSError`
    on the way becomes an `OutputError`.
    """
    try:
        target = Path(os.path.realpath(path))
    except ValueError as error:       # of a NUL in it
        raise InputError(f"path = {path!r} cannot name a file: {error}") from error
    try:
        if target.exists():
            require_file(target)
        with tempfile.TemporaryDirectory(prefix=f"{target.name}.", suffix=".new",
                                         dir=target.parent) as folder:
            yield Path(folder) / target.name
            os.replace(Path(folder) / target.name, target)
    except OSError as error:
        # it names no file, or a temporary one that the user has never heard of
        failure = OutputError(f"{path} cannot be written: {error.strerror or error}")
        failure.filename = str(path)
        raise failure from error


def free_path(path: Path) -> Path:
    """`path`, or if that exists `path-2`, `path-3`, ...: for names that are not the user's."""
    count, free = 1, path
    while free.exists():
        count += 1
        free = path.with_name(f"{path.stem}-{count}{path.suffix}")
    return free


def _folders() -> list[Path]:
    """Existing folders that may contain the package's files, nearest first."""
    above = Path(__file__).resolve().parents
    return [parent / place for parent in above for place in _PLACES if (parent / place).is_dir()]


def _candidates(name: str) -> tuple[str, ...]:
    """File names meant by `name`; none where it is not a plain file name, so that no path leads out
    of our folders."""
    if not isinstance(name, str) or Path(name).name != name:
        return ()
    return (name,) if _stem(name) != name else (f"{name}.urdf", f"{name}.urdf.xacro")


def _stem(file: str) -> str:
    """File name without `.urdf` or `.urdf.xacro`."""
    return next((file.removesuffix(s) for s in _SUFFIXES if file.endswith(s)), file)
