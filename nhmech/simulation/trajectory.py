"""A finished run: arrays that do not change."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, is_zipfile

import numpy as np

from ..errors import SimulationError
from ..paths import replace_file
from ..vehicle.reactions import Reactions, reactions
from .moment import RowLayout
from .run_file import SUFFIX, is_run_file, read_run_file
from .settings import dumps, saveable
from .simulated import Simulated

_ARRAYS, _TWIST = ("t", "q", "v", "xi", "u", "angles"), "commanded_twist"


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

    Attributes
    ----------
    t
        (N,) [s].
    q, v, xi
        (N, nq), (N, nv), (N, nxi).
    u
        (N, nu), held from each t on.
    angles
        (N, na), unwrapped [rad].
    stop
        Why the run ended: "duration", "event: name", "interrupted", the message of a failure; or
        "cut off" for a file whose run was killed, or still goes on.
    names
        Of the columns: "q", "v", "xi", "u", "angles", and "commanded_twist" where there is one.
    events
        (time [s], name) of the events that were crossed.
    source
        What the run was made of (JSON values), enough to make the vehicle again.
    system
        What moved, `Simulated`; None where the file does not say.
    kinematic
        Whether speeds were commanded rather than efforts.
    settings
        How it was run (JSON values): dt, control_period, integrator, controller, versions, and
        under "path" what the controller followed, as `control.path_reference` writes it; empty for
        files that are older than this.
    commanded_twist
        (N, 3) forward, lateral [m/s] and yaw rate [rad/s] that the controller commanded, held from
        each t on (`simulation.commanded_twist`); NaN at moments when it commanded none; None where
        it never does.

    Examples
    --------
    >>> run = Simulator(vehicle).run(0.1)
    >>> run.column("forward_speed").shape == run.t.shape
    True
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
    system: Simulated | None = None
    kinematic: bool = False
    settings: dict = field(default_factory=dict)
    commanded_twist: np.ndarray | None = None

    def __post_init__(self):
        for name in self._arrays():
            getattr(self, name).setflags(write=False)

    def _arrays(self) -> tuple[str, ...]:
        """Names of the arrays that there are."""
        return _ARRAYS if self.commanded_twist is None else (*_ARRAYS, _TWIST)

    @classmethod
    def recorded(cls, rows: np.ndarray, columns: RowLayout, stop: str, events: tuple,
                 simulated: Simulated, kinematic: bool, settings: dict) -> Trajectory:
        """Of rows with such columns, taken apart when asked for: many runs are short, and only
        their end is read."""
        self = cls.__new__(cls)
        vars(self).update(_rows=rows, _columns=columns, stop=stop, names=dict(columns.names),
                          events=events, source=simulated.source, system=simulated, kinematic=kinematic,
                          settings=settings)
        if _TWIST in columns.parts:
            vars(self)[_TWIST] = columns.part(rows, _TWIST)
            self.commanded_twist.setflags(write=False)
        return self

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in _ARRAYS or "_rows" not in vars(self):
            raise AttributeError(f"a Trajectory has no {name!r}")
        array = self._columns.part(self._rows, name)
        array.setflags(write=False)
        return vars(self).setdefault(name, array)

    def __len__(self) -> int:
        return len(self.t)

    def column(self, name: str) -> np.ndarray:
        """One named column of q, v, xi, u, angles or commanded_twist, (N,).

        A joint's rate stands in v, its unwrapped angle in angles.

        Raises
        ------
        SimulationError
            With the names there are.
        """
        for part in ("xi", "v", "q", "angles", "u", _TWIST):
            if name in self.names.get(part, ()):
                return getattr(self, part)[:, self.names[part].index(name)]
        raise SimulationError(f"no column {name!r}; there are "
                              f"{', '.join(sorted(set(sum(self.names.values(), ()))))}")

    @cached_property
    def energy(self) -> np.ndarray:
        """Kinetic plus potential energy [J], (N,)."""
        return self.simulated.energies(self.t, self.q, self.v)

    @cached_property
    def reactions(self) -> Sequence[Reactions]:
        """Ground forces at each recorded moment, computed when they are asked for:
        `trajectory.reactions[k].components`.

        Raises
        ------
        SimulationError
            For a system without wheels, and for a kinematic run, which knows no forces.
        """
        simulated = self.simulated
        if simulated.vehicle is None:
            raise SimulationError("only a vehicle has wheels and ground forces")
        if self.kinematic:
            raise SimulationError("a kinematic run has no forces: its speeds were commanded")
        return ReactionsAlong(simulated.vehicle, self)

    @cached_property
    def simulated(self) -> Simulated:
        """What was simulated; made again from `source` for a run that was read from a file."""
        if self.system is not None:
            return self.system
        return Simulated.restored(self.source)

    def __repr__(self) -> str:
        return f"<Trajectory of {len(self)} states, {self.t[0]:.6g} to {self.t[-1]:.6g} s, stopped by {self.stop}>"

    def save(self, path) -> Path:
        """Writes one `.npz`, whole or not at all; returns its path. What stands there is replaced.

        Raises
        ------
        SimulationError
            Where it cannot be written; it carries the trajectory.
        """
        path = npz_path(path)
        header = {"stop": self.stop, "names": self.names, "events": self.events,
                  "source": self.source,
                  "kinematic": self.kinematic, "settings": saveable(self.settings)}
        try:
            arrays = {"header": np.array(dumps(header)),
                      **{name: getattr(self, name) for name in self._arrays()}}
            with replace_file(path) as new, open(new, "wb") as file:
                _write_npz(file, arrays)
                os.fsync(file.fileno())
        except (OSError, ValueError) as error:
            why = f"{path} cannot be written: {getattr(error, 'strerror', None) or error}; the trajectory is kept"
            raise SimulationError(why, self) from error
        return path

    @classmethod
    def load(cls, path, system=None) -> Trajectory:
        """Reads what `save` wrote, or the whole rows of the `.part` of a run cut off or going on,
        with stop "cut off".

        Parameters
        ----------
        system
            (a vehicle or a constrained system) replaces the one that the file describes.

        Raises
        ------
        SimulationError
            For a file that is not there, or is no run.
        """
        try:
            parts = _from_run_file(path) if is_run_file(path) else _from_npz(path)
        except FileNotFoundError as error:
            part = f"{path}{SUFFIX}"
            hint = (
                f"; {part} is there, a run that was cut off or still goes on"
                if os.path.exists(part)
                else ""
            )
            raise SimulationError(f"{path}: there is no such file{hint}") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError,
                BadZipFile) as error:
            why = f"{path} is not a run that `nhmech run --save` or Trajectory.save wrote, or it is damaged ({error})"
            raise SimulationError(why) from error
        return cls(**parts, system=None if system is None else Simulated.of(system))


def npz_path(path) -> Path:
    """With `.npz` at its end. Raises `SimulationError` for a path without a name."""
    path = Path(path)
    if not path.name:
        raise SimulationError(f"save = {str(path)!r} must be the path of a file, and is a folder")
    return path if path.suffix == ".npz" else path.with_name(path.name + ".npz")


def _write_npz(file, arrays: dict[str, np.ndarray]) -> None:
    """As `np.savez_compressed`, at half its time: zlib's higher levels find nothing more in these
    numbers."""
    with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                try:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
                except ValueError as error:
                    raise ValueError(f"{name!r} is no array of numbers ({error})") from error


def _from_npz(path) -> dict:
    # NumPy would take it for a pickle, and advise to load it
    if os.path.isfile(path) and not is_zipfile(path):
        raise ValueError("it is no whole .npz archive")
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(str(file["header"]))
        parts = {name: file[name] for name in (*_ARRAYS, _TWIST) if name != _TWIST
                 or _TWIST in file.files}
    names = {key: tuple(value) for key, value in header["names"].items()}
    events = tuple((t, name) for t, name in header["events"])
    return {**parts, "names": names, "events": events, "stop": header["stop"],
            "source": header["source"],
            "kinematic": header.get("kinematic", False), "settings": header.get("settings", {})}


def _from_run_file(path) -> dict:
    header, rows, events = read_run_file(path)
    t, q, v, u, *twist, angles = np.split(rows, np.cumsum(header["widths"])[:-1], axis=1)
    names = {key: tuple(value) for key, value in header["names"].items()}
    return {"t": t[:, 0].copy(), "q": q, "v": v, "xi": v[:, header["speeds"]], "u": u,
            "angles": angles, "names": names,
            "events": tuple(sorted(events)), "stop": "cut off", "source": header["source"],
            "kinematic": header["kinematic"], "settings": header.get("settings", {}),
            **dict(zip((_TWIST,), twist))}
