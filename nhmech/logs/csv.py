"""A run as comma-separated values."""

from __future__ import annotations

import csv
from pathlib import Path

from ..paths import replace_file
from .table import Table


def write_csv(table: Table, path) -> Path:
    """Writes a line of names, then one for every state; numbers with as many digits as bring them
    back bit by bit.

    Units are SI: those of `Table.columns`.

    Raises
    ------
    OSError
        Where the file cannot be written.
    """
    with replace_file(path) as new, open(new, "w", encoding="utf-8") as file:
        # quotes a name with a comma in it
        csv.writer(file, lineterminator="\n").writerow(table.columns)
        for block in table.blocks():
            file.writelines(",".join(map(repr, row)) + "\n" for row in block.tolist())
    return Path(path)
