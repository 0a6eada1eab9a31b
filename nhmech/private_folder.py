"""The folder of the user in which files are kept between runs."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

EQUATIONS = ".equations"     # suffix of equations of motion; compiled code is `.so`


class PrivateFolder(NamedTuple):
    """A folder, and whether it is removed when the process ends."""

    path: Path
    temporary: bool = False


def private_folder() -> PrivateFolder:
    """`$NHMECH_CACHE`, or nhmech below the user's cache folder.

    A folder that another user owns or may write to is not used, because its files are executed: a
    temporary folder of this process replaces it. """
    named = os.environ.get("NHMECH_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home()
                / ("Library/Caches" if sys.platform == "darwin" else ".cache"))
    folder = Path(named) if named else base / "nhmech"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        mine = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if mine and os.access(folder, os.W_OK):
            return PrivateFolder(folder)
    except OSError:
        pass
    return temporary_folder()


_made: list[tempfile.TemporaryDirectory] = []      # removed when the process ends


def temporary_folder() -> PrivateFolder:
    if not _made:
        _made.append(tempfile.TemporaryDirectory(prefix="nhmech-"))
    return PrivateFolder(Path(_made[0].name), temporary=True)
