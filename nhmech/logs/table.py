"""A run as one table: a column for every number, with a name and a unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from ..checks import check_arguments, read_number
from ..errors import InputError, NhmechError
from ..once import cached_property
from ..paths import require_file
from ..simulation.runs.history import Column
from ..simulation.runs.trajectory import Trajectory

BLOCK = 1024  # rows that are computed at once: enough for speed, and little memory


@contextmanager
def reading(path: str | PathLike[str],
            what: str = "a run that `nhmech export` wrote") -> Iterator[None]:
    """Turns every failure to read a file, or a folder, into an `InputError`."""
    try:
        if not Path(path).is_dir():
            require_file(path)
        yield
    except NhmechError:
        raise
    except Exception as error:            # each format's reader has classes of its own
        why = getattr(error, "strerror", None) or " ".join(f"{error}".split())
        why = why or type(error).__name__
        raise InputError(f"{path} is not {what}, or it is damaged ({why})") from error


def select_rows(t: np.ndarray, rate: float | None) -> np.ndarray:
    """Indices of the recorded states to export: all, or the first at or after every 1/rate [s], and
    the last one. Raises `InputError` for a rate that is not positive."""
    if rate is None:
        return np.arange(len(t))
    rate = read_number("rate", rate, "a positive number of states per second", above=0.0)
    # how many multiples of 1/rate have passed; no run is recorded a million million times a second
    passed = np.floor((t - t[0] + 1e-9) * min(rate, 1e12))
    return np.unique(np.append(np.flatnonzero(np.diff(passed, prepend=-1.0)), len(t) - 1))


@check_arguments
@dataclass(frozen=True)
class Table:
    """Columns t, q.*, v.*, angle.*, u.*, commanded_*, energy, yaw, force.*.* of a run.

    The heading `yaw` of the base is continuous; it and the forces are a vehicle's.

    Attributes
    ----------
    trajectory
        The run.
    forces
        Whether to include the ground's forces on the wheels, "force.<contact>.<direction>" [N], if
        the run has any.
    rate
        States per second at most; None takes all.
    progress
        Called now and then with the time [s] that has been reached.
    """

    trajectory: Trajectory
    forces: bool = True
    rate: float | None = None
    progress: Callable[[float], None] | None = None

    @cached_property
    def rows(self) -> np.ndarray:
        """Indices of the recorded states that are in it."""
        return select_rows(self.trajectory.t, self.rate)

    @cached_property
    def contacts(self) -> tuple[tuple[str, str], ...]:
        """(contact, direction) of the force columns."""
        if not (self.forces and can_compute_forces(self.trajectory)):
            return ()
        return tuple(self.trajectory.reactions.found.components)

    @cached_property
    def _numbers(self) -> dict[str, Column]:
        run, found = self.trajectory, self.trajectory.columns()
        if run.is_system_known and run.simulated.vehicle is not None:
            R = run.T_WB
            found |= {"yaw": Column(np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0])), "rad")}
        return found

    @property
    def columns(self) -> dict[str, str]:
        """Name -> unit."""
        forces = {f"force.{name}.{direction}": "N" for name, direction in self.contacts}
        return {name: column.unit or "" for name, column in self._numbers.items()} | forces

    def blocks(self) -> Iterator[np.ndarray]:
        """(n, columns) of consecutive states, until all have been returned."""
        run, columns = self.trajectory, self._numbers.values()
        forces = [run.reactions.component(*contact) for contact in self.contacts]
        for begin in range(0, len(self.rows), BLOCK):
            rows = self.rows[begin:begin + BLOCK]
            numbers = [column.values[rows] for column in columns]
            numbers += [force[rows] for force in forces]
            if self.progress is not None:
                self.progress(run.t[rows[-1]])
            yield np.stack(numbers, axis=1)


def can_compute_forces(run: Trajectory) -> bool:
    """Whether the ground's forces can be computed."""
    return run.is_system_known and not run.kinematic and run.simulated.vehicle is not None
