"""A finished run: arrays that do not change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ..errors import SimulationError
from ..vehicle.multipliers import Reactions, reactions
from ..vehicle.record import restore
from .subject import Subject


class ReactionsAlong(Sequence):
    """`Reactions` of each state of a run, worked out one by one and kept."""

    def __init__(self, vehicle, trajectory: Trajectory):
        self._vehicle, self._trajectory, self._known = vehicle, trajectory, {}

    def __len__(self) -> int:
        return len(self._trajectory)

    def __getitem__(self, k):
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        k = range(len(self))[k]
        if k not in self._known:
            run = self._trajectory
            self._known[k] = reactions(self._vehicle, run.t[k], run.q[k], run.v[k], run.u[k])
        return self._known[k]


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Recorded states of one run.

    t       (N,) [s];  q (N, nq);  v (N, nv);  xi (N, nxi);  u (N, nu), held from each t on;  angles (N, na) unwrapped [rad]
    stop    why the run ended: "duration", "event: name", "interrupted", or the message of a failure
    events  (time [s], name) of the events that were crossed
    names   of the columns: "q", "v", "xi", "u", "angles"
    source  what the run was made of (JSON values), enough to make the vehicle again
    kinematic  whether speeds were commanded rather than efforts
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
    system: Subject | None = None
    kinematic: bool = False

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
        return self._subject.energies(self.t, self.q, self.v)

    @cached_property
    def reactions(self) -> Sequence[Reactions]:
        """Ground forces at each recorded moment, computed when they are asked for: `trajectory.reactions[k].components`.

        Raises `SimulationError` for a system without wheels, and for a kinematic run, which knows no forces.
        """
        subject = self._subject
        if subject.vehicle is None:
            raise SimulationError("only a vehicle has wheels and ground forces")
        if self.kinematic:
            raise SimulationError("a kinematic run has no forces: its speeds were commanded")
        return ReactionsAlong(subject.vehicle, self)

    @cached_property
    def _subject(self) -> Subject:
        """What was simulated; made again from `source` for a run that was read from a file."""
        if self.system is not None:
            return self.system
        if not self.source:
            raise SimulationError("this file does not say what was simulated; give Trajectory.load the system")
        return Subject.of(restore(self.source))

    def __repr__(self) -> str:
        return f"<Trajectory of {len(self)} states, {self.t[0]:.6g} to {self.t[-1]:.6g} s, stopped by {self.stop}>"

    def save(self, path) -> Path:
        """Writes one `.npz`; returns its path."""
        path = Path(path)
        path = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
        header = {"stop": self.stop, "names": self.names, "events": self.events, "source": self.source, "kinematic": self.kinematic}
        with open(path, "wb") as file:
            np.savez_compressed(file, header=np.array(json.dumps(header)), t=self.t, q=self.q, v=self.v, xi=self.xi, u=self.u, angles=self.angles)
        return path

    @classmethod
    def load(cls, path, system=None) -> Trajectory:
        """Reads what `save` wrote; `system` (a vehicle or a constrained system) replaces the one that the file describes.

        Raises `SimulationError` for a file that is not there, or is no run.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                arrays = {name: file[name] for name in ("t", "q", "v", "xi", "u", "angles")}
                names = {key: tuple(value) for key, value in header["names"].items()}
                events = tuple((t, name) for t, name in header["events"])
                stop, source, kinematic = header["stop"], header["source"], header.get("kinematic", False)
        except FileNotFoundError as error:
            raise SimulationError(f"{path}: there is no such file") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError, BadZipFile) as error:
            raise SimulationError(f"{path} is not a run: Trajectory.save did not write it, or it is damaged") from error
        return cls(**arrays, stop=stop, names=names, events=events, source=source, kinematic=kinematic,
                   system=None if system is None else Subject.of(system))
