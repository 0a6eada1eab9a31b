"""A run as a Parquet file."""

from __future__ import annotations

from pathlib import Path

from ..errors import NhmechError
from ..paths import replace_file
from .table import Table


def write_parquet(table: Table, path) -> Path:
    """Writes float64 columns, each with its unit in the field's metadata, block by block; not what
    the run was made of.

    Raises
    ------
    NhmechError
        Where pyarrow is missing.
    OSError
        Where the file cannot be written.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise NhmechError("Parquet needs pyarrow: pip install pyarrow") from error
    schema = pyarrow.schema([pyarrow.field(name, pyarrow.float64(), metadata={"unit": unit})
                             for name, unit in table.columns.items()])
    with replace_file(path) as new, pyarrow.parquet.ParquetWriter(new, schema) as file:
        for block in table.blocks():
            file.write_table(pyarrow.table(list(block.T), schema=schema))
    return Path(path)
