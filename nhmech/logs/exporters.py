"""The formats of exported runs. A new one is a file with `write_...` and `read_...`, and an entry
here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..checks import check_arguments, read_word

if TYPE_CHECKING:
    from ..simulation.runs.history import Column
    from ..simulation.runs.trajectory import Trajectory


@dataclass(frozen=True)
class Exporter:
    """One format."""

    # of the module in this folder, with the functions `write_<name>(trajectory, path, *, forces,
    # rate, progress)` and `read_<name>(path)`. The columns that are read have the names of
    # `Table.columns`; a format may keep fewer of them.
    name: str
    needs_vehicle: bool = False  # whether the vehicle of the run has to be rebuilt, forces or not
    keeps_units: bool = True  # whether the columns that are read have units

    @property
    def write(self) -> Callable[..., Path]:
        """Writes a run."""
        return getattr(import_module(f".{self.name}", __package__), f"write_{self.name}")

    @property
    def read(self) -> Callable[[str | PathLike[str]], dict[str, Column]]:
        """Reads the columns of an exported run."""
        return getattr(import_module(f".{self.name}", __package__), f"read_{self.name}")


# ending of the file -> format
EXPORTERS = {
    ".csv": Exporter("csv"),
    ".parquet": Exporter("parquet"),
    ".mcap": Exporter("mcap", needs_vehicle=True, keeps_units=False),
}


@check_arguments
def export_run(trajectory: Trajectory, path: str | PathLike[str], *, forces: bool = True,
               rate: float | None = None,
               progress: Callable[[float], None] | None = None) -> Path:
    """Write a run for other programs, in the format of the name's ending.

    Parameters
    ----------
    trajectory
        The run.
    path
        Of the file, which is replaced: .csv, .parquet or .mcap.
    forces
        Whether to compute the ground's forces on the wheels, if the run has any.
    rate
        States per second at most; None exports all that were recorded.
    progress
        Called now and then with the time [s] that has been reached.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        For other endings, and rates that are not positive.
    NhmechError
        If the package that writes the format is missing.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> run = Simulator(vehicle).run(0.1)
    >>> nhmech.logs.export_run(run, tmp_path / "run.csv", rate=50).name
    'run.csv'
    """
    exporter = EXPORTERS[read_word("format", Path(path).suffix, EXPORTERS)]
    return exporter.write(trajectory, path, forces=forces, rate=rate, progress=progress)
