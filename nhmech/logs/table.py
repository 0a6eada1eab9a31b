"""A run as one table: a column for every number, with a name and a unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..checks import read_number
from ..simulation.command import NAMES, UNITS
from ..simulation.trajectory import Trajectory

BLOCK = 1024  # rows that are computed at once: enough for speed, and little memory


class Column(NamedTuple):
    """One column of an exported run; the unit is None where the format keeps none."""

    values: np.ndarray
    unit: str | None


def select_rows(t: np.ndarray, rate: float | None) -> np.ndarray:
    """Indices of the recorded states to export: all, or the first at or after every 1/rate [s], and
    the last one.

    Raises
    ------
    InputError
        For a rate that is not positive.
    """
    if rate is None:
        return np.arange(len(t))
    rate = read_number("rate", rate, "a positive number of states per second", above=0.0)
    wanted = t[0] + np.arange(int((t[-1] - t[0]) * rate * (1 + 1e-12)) + 1) / rate
    return np.unique(np.append(np.searchsorted(t, wanted - 1e-9), len(t) - 1))


@dataclass(frozen=True)
class Table:
    """Columns t, q.*, v.*, angle.*, u.*, commanded_*, energy, force.*.* of a run.

    Attributes
    ----------
    trajectory
        The run.
    forces
        Whether the ground's forces on the wheels are among them, "force.<contact>.<direction>"
        [N]; where the run has none they are left out.
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
        if not (self.forces and has_forces(self.trajectory)):
            return ()
        components = self.trajectory.reactions[0].components
        return tuple((name, direction) for name, held in components.items() for direction in held)

    @cached_property
    def columns(self) -> dict[str, str]:
        """Name -> unit."""
        run = self.trajectory
        columns = {"t": "s"}
        columns |= {f"q.{name}": unit for name, unit in zip(run.names["q"], self._units("q"))}
        columns |= {f"v.{name}": unit for name, unit in zip(run.names["v"], self._units("v"))}
        columns |= {f"angle.{name}": "rad" for name in run.names["angles"]}
        columns |= {f"u.{name}": self._effort_unit(name) for name in run.names["u"]}
        if run.commanded_twist is not None:
            columns |= dict(zip(NAMES, UNITS))
        if has_system(run):
            columns["energy"] = "J"
        return columns | {f"force.{name}.{direction}": "N" for name, direction in self.contacts}

    def blocks(self) -> Iterator[np.ndarray]:
        """(n, columns) of consecutive states, until all have been returned."""
        run = self.trajectory
        energy = run.energy if has_system(run) else None
        for begin in range(0, len(self.rows), BLOCK):
            rows = self.rows[begin:begin + BLOCK]
            parts = [run.t[rows, None], run.q[rows], run.v[rows], run.angles[rows], run.u[rows]]
            if run.commanded_twist is not None:
                parts.append(run.commanded_twist[rows])
            if energy is not None:
                parts.append(energy[rows, None])
            if self.contacts:
                found = [run.reactions[k].components for k in rows]
                parts.append(np.array([[forces[name][direction]
                                        for name, direction in self.contacts]
                                       for forces in found]))
            if self.progress is not None:
                self.progress(run.t[rows[-1]])
            yield np.hstack(parts)

    def _units(self, part: str) -> Sequence[str]:
        run = self.trajectory
        if not has_system(run):
            return [""] * len(run.names[part])
        algebroid = run.simulated.constrained.system.algebroid
        if part == "v":
            return algebroid.v_units
        lengths = dict.fromkeys("xyz", "m") if run.simulated.vehicle is not None else {}
        rates = {name.removesuffix("'"): unit.removesuffix("/s")
                 for name, unit in zip(algebroid.v_names, algebroid.v_units)}
        return [(lengths | rates).get(name, "") for name in run.names["q"]]

    def _effort_unit(self, name: str) -> str:
        run = self.trajectory
        if not has_system(run) or run.simulated.vehicle is None:
            return ""
        # of an external wrench, "<link>.fx" ... "<link>.tz"
        if name not in run.names["v"]:
            return "N" if name[-2] == "f" else "N m"
        return "N" if self._units("v")[run.names["v"].index(name)] == "m/s" else "N m"


def has_system(run: Trajectory) -> bool:
    """Whether it is known what moved."""
    return run.system is not None or bool(run.source)


def has_forces(run: Trajectory) -> bool:
    """Whether the ground's forces can be computed."""
    return has_system(run) and not run.kinematic and run.simulated.vehicle is not None
