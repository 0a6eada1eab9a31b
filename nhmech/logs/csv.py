"""A run as comma-separated values."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path

import numpy as np

from ..checks import check_arguments
from ..paths import replace_file
from ..simulation.runs.history import Column
from ..simulation.runs.trajectory import Trajectory
from .table import Table, reading


@check_arguments
def write_csv(trajectory: Trajectory, path: str | PathLike[str], *, forces: bool = True,
              rate: float | None = None,
              progress: Callable[[float], None] | None = None) -> Path:
    """Writes a run as CSV: a line of names, then one line for every state.

    Units follow the names in brackets, as in "q.x [m]".

    Numbers have as many digits as restore them bit by bit.

    The columns are those of `Table.columns`, in SI units.

    Parameters
    ----------
    trajectory
        The run.
    path
        The file.
    forces, rate, progress
        As in `export_run`.
    """
    table = Table(trajectory, forces, rate, progress)
    with replace_file(path) as new, open(new, "w", encoding="utf-8") as file:
        titles = [f"{name} [{unit}]" if unit else name for name, unit in table.columns.items()]
        csv.writer(file, lineterminator="\n").writerow(titles)        # quotes names with commas
        for block in table.blocks():
            file.writelines(",".join(map(repr, row)) + "\n" for row in block.tolist())
    return Path(path)


@check_arguments
def read_csv(path: str | PathLike[str]) -> dict[str, Column]:
    """Reads the columns of a CSV file by name, with the units that its first line has.

    Parameters
    ----------
    path
        The file.
    """
    with reading(path), open(path, newline="", encoding="utf-8") as file:
        names, *lines = csv.reader(file)
        values = np.array(lines, dtype=float).reshape(len(lines), len(names))
    titles = [re.fullmatch(r"(.*?)(?: \[([^\]]*)\])?", name) for name in names]
    has_units = any(title and title[2] for title in titles)
    return {title[1]: Column(column, (title[2] or "") if has_units else None)
            for title, column in zip(titles, values.T) if title}
