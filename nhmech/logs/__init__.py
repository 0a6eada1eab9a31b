"""Runs for other programs: CSV, Parquet, and MCAP with ROS 2 messages."""

from typing import TYPE_CHECKING

from .. import lazy

if TYPE_CHECKING:
    from .csv import write_csv as write_csv
    from .mcap import write_mcap as write_mcap
    from .parquet import write_parquet as write_parquet
    from .table import Table as Table

lazy.attach(__name__, {
    "csv": "write_csv",
    "mcap": "write_mcap",
    "parquet": "write_parquet",
    "table": "Table",
})
