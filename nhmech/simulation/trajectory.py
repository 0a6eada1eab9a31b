"""A finished run: arrays that do not change."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ..errors import SimulationError


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Recorded states of one run.

    t       (N,) [s];  q (N, nq);  v (N, nv);  xi (N, nxi);  u (N, nu), held from each t on;  angles (N, na) unwrapped [rad]
    stop    why the run ended: "duration", "event: name", "interrupted", or the message of a failure
    events  (time [s], name) of the events that were crossed
    names   of the columns: "q", "v", "xi", "u", "angles"
    source  what the run was made of (JSON values), enough to make the vehicle again
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    xi: np.ndarray
    u: np.ndarray
    angles: np.ndarray
    stop: str
    names: dict[str, tuple[str, ...]]
    events: tuple[tuple[float, str], ...] = ()
    source: dict = field(default_factory=dict)
    system: object = field(default=None, repr=False)

    def __post_init__(self):
        for name in ("t", "q", "v", "xi", "u", "angles"):
            getattr(self, name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.t)

    def column(self, name: str) -> np.ndarray:
        """One named column of q, v, xi, u or angles, (N,). A joint's rate stands in v, its unwrapped angle in angles.

        Raises `SimulationError` with the names there are."""
        for part in ("xi", "v", "q", "angles", "u"):
            if name in self.names[part]:
                return getattr(self, part)[:, self.names[part].index(name)]
        raise SimulationError(f"no column {name!r}; there are {', '.join(sorted(set(sum(self.names.values(), ()))))}")

    @cached_property
    def energy(self) -> np.ndarray:
        """Kinetic plus potential energy [J], (N,)."""
        return self._system().energies(self.t, self.q, self.v)

    @cached_property
    def reactions(self) -> list:
        """Ground forces at each recorded moment: `nhmech.vehicle.multipliers.Reactions`."""
        from ..vehicle.multipliers import reactions

        vehicle = self._system().vehicle
        if vehicle is None:
            raise SimulationError("only a vehicle has wheels and ground forces")
        return [reactions(vehicle, *row) for row in zip(self.t, self.q, self.v, self.u)]

    def _system(self):
        if self.system is None:
            raise SimulationError("this run was read from a file; give Trajectory.load the vehicle to compute energies and forces")
        return self.system

    def save(self, path) -> Path:
        """Writes one `.npz`; returns its path."""
        path = Path(path)
        path = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
        header = {"stop": self.stop, "names": self.names, "events": self.events, "source": self.source}
        with open(path, "wb") as file:
            np.savez_compressed(file, header=np.array(json.dumps(header)), t=self.t, q=self.q, v=self.v, xi=self.xi, u=self.u, angles=self.angles)
        return path

    @classmethod
    def load(cls, path, system=None) -> Trajectory:
        """Reads what `save` wrote. Raises `SimulationError` for a file that is no run."""
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                arrays = {name: file[name] for name in ("t", "q", "v", "xi", "u", "angles")}
        except (OSError, ValueError, KeyError) as error:
            raise SimulationError(f"{path} is not a run of nhmech: {error}") from error
        names = {key: tuple(value) for key, value in header["names"].items()}
        return cls(**arrays, stop=header["stop"], names=names, events=tuple((t, name) for t, name in header["events"]), source=header["source"],
                   system=system)

    def with_stop(self, stop: str) -> Trajectory:
        return replace(self, stop=stop)
