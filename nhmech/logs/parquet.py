"""A run as a Parquet file."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from types import ModuleType

from ..checks import check_arguments
from ..errors import NhmechError
from ..paths import replace_file
from ..simulation.runs.history import Column
from ..simulation.runs.trajectory import Trajectory
from .table import Table, reading


@check_arguments
def write_parquet(trajectory: Trajectory, path: str | PathLike[str], *, forces: bool = True,
                  rate: float | None = None,
                  progress: Callable[[float], None] | None = None) -> Path:
    """Writes a run as Parquet: float64 columns, each with its unit in the field's metadata.

    The columns are those of `Table.columns`; the robot itself is not kept. Errors are
    those of `export_run`.

    Parameters
    ----------
    trajectory
        The run.
    path
        The file.
    forces, rate, progress
        As in `export_run`.
    """
    pyarrow = _import_pyarrow()
    table = Table(trajectory, forces, rate, progress)
    schema = pyarrow.schema([pyarrow.field(name, pyarrow.float64(), metadata={"unit": unit})
                             for name, unit in table.columns.items()])
    with replace_file(path) as new, pyarrow.parquet.ParquetWriter(new, schema) as file:
        for block in table.blocks():
            file.write_table(pyarrow.table(list(block.T), schema=schema))
    return Path(path)


@check_arguments
def read_parquet(path: str | PathLike[str]) -> dict[str, Column]:
    """Reads the columns of a Parquet file by name, with their units.

    Parameters
    ----------
    path
        The file.
    """
    pyarrow = _import_pyarrow()
    with reading(path), open(path, "rb") as file:
        table = pyarrow.parquet.read_table(file)
        return {field.name: Column(table[field.name].to_numpy(), field.metadata[b"unit"].decode())
                for field in table.schema}


def _import_pyarrow() -> ModuleType:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise NhmechError("Parquet needs pyarrow: pip install pyarrow") from error
    return pyarrow
