"""Where the robots that come with this package lie, and how files are written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import ModelError

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
    ModelError
        With the names that exist where there is no such file.
    """
    for file in _candidates(name):
        for folder in _folders():
            if (folder / file).is_file():
                return folder / file
    names = urdf_names()
    there = (
        ", ".join(names)
        if names
        else "none: the folder urdf/ was not installed along with the package"
    )
    raise ModelError(f"no URDF of this package is called {name!r}; available: {there}")


def urdf_names() -> tuple[str, ...]:
    """Names that `urdf_path` knows, without endings, in alphabetical order."""
    return tuple(
        sorted(
            {
                _stem(f.name)
                for folder in _folders()
                for f in folder.iterdir()
                if _stem(f.name) != f.name
            }
        )
    )


@contextmanager
def replaced(path: str | os.PathLike) -> Iterator[Path]:
    """A name of `path`'s own ending to write to, in a new folder beside it. It takes `path`'s place
    when the block ends well, and is removed when it does not: what is found under `path` is the old
    file or the whole new one, however many write it at a time. An `OSError` on the way names
    `path`."""
    target = Path(os.path.realpath(path))
    try:
        with tempfile.TemporaryDirectory(prefix=f"{target.name}.", suffix=".new",
                                         dir=target.parent) as folder:
            yield Path(folder) / target.name
            os.replace(Path(folder) / target.name, target)
    except OSError as error:
        # failures of writing do not name it, and nobody knows the other name
        error.filename = str(path)
        raise


def _folders() -> list[Path]:
    """Existing folders that may hold our files, nearest first."""
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
