"""A finished run: arrays that do not change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import check_arguments
from ...errors import InputError, OutputError, Remedy, SimulationError, listed
from ...mechanics.system import HasConstrained
from ...once import cached_property
from ...urdf.notice import Notice
from ...vehicle.friction import wheels_with_tyres
from ...vehicle.vehicle import Vehicle
from ..contact.contact_columns import ContactColumns
from ..contact.force_reader import ContactForces, force_reader, world_points
from ..contact.lift_off import lift_notice
from ..contact.phases import ContactMoment, ContactSpan, Phase, contact_spans
from ..simulated import Simulated
from .archive import ARRAYS, BESIDE, blocks_of, npz_path, read_archive, write_archive
from .driven_twist import twist_notice
from .forces_along import ReactionsAlong, TyresAlong
from .history import Column, History, lock
from .limit_spans import LimitColumns, LimitSpan
from .run_info import NOTICES, RunInfo

LOOKED_AT = 50_000      # moments of a run, about, at which `notices` computes the forces
JUDGED = 200            # moments of a run, about, at which `validity` is evaluated


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(History):
    """Recorded states of one run.

    Attributes
    ----------
    t
        Time (N,) [s].
    q, v, xi
        Configuration (N, nq), fibre coordinates (N, nv), independent speeds (N, nxi).
    u
        Inputs (N, nu), held from each t on.
    angles
        Unwrapped angles of the continuous joints (N, na) [rad].
    stop
        Why the run ended: "duration", "event: name", "interrupted", the message of a failure, or
        "cut off" for the file of a run that was killed or is still running.
    names
        Of the columns: "q", "v", "xi", "u", "angles", and "commanded_twist" where there is one.
    events
        (time [s], name) of the events that occurred, and of the beginnings and ends of `limits`.
    source
        Description of the simulated system (JSON values), sufficient to rebuild the vehicle.
    system
        The simulated system if it is in memory; otherwise `simulated` rebuilds it from `source`.
    kinematic
        Whether speeds were commanded rather than efforts.
    settings
        Settings of the run (JSON values): dt, control_period, integrator, controller, versions, the
        path that the controller followed under "path" (as `control.path_reference` writes it), and
        the notices under "notices". Empty for files written before settings were kept.
    contact
        Raw contact data (N, n) of a run with `contact="coulomb"`, to be read through `phases`,
        `force`, `slid` and `friction_loss`; None if wheels could only roll.
    commanded_twist
        Forward, lateral speed [m/s] and yaw rate [rad/s] that the controller commanded, (N, 3),
        held from each t on (`simulation.commanded_twist`); NaN at moments when it commanded none;
        None if it never does.

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
    contact: np.ndarray | None = None

    def __post_init__(self) -> None:
        for array in (self.t, self.q, self.v, self.xi, self.u, self.angles, self.commanded_twist,
                      self.contact):
            if array is not None:
                array.setflags(write=False)

    @classmethod
    def of_rows(cls, rows: np.ndarray, info: RunInfo, stop: str,
                events: Sequence[tuple[float, str]], notices: Sequence[Notice]) -> Trajectory:
        """The trajectory of a run from its rows."""
        parts = info.layout.split(rows)
        about = info.about(stop, events, notices, [parts])
        return cls(**{**parts, **about})

    @classmethod
    def save_rows(cls, path: Path, rows: np.ndarray, blocks: Callable[[], Iterator[np.ndarray]],
                  info: RunInfo, stop: str, events: Sequence[tuple[float, str]],
                  notices: Sequence[Notice]) -> Trajectory:
        """The same, saved to a file; the rows are only read in `blocks`. Raises `OutputError`."""
        def parts() -> Iterator[dict[str, np.ndarray]]:
            return map(info.layout.split, blocks())

        about = info.about(stop, events, notices, parts())
        write_archive(path, about, len(rows), parts)
        return cls(**{**info.layout.split(rows), **about})

    def _arrays(self) -> dict[str, np.ndarray]:
        found = {name: getattr(self, name) for name in (*ARRAYS, *BESIDE)}
        return {name: array for name, array in found.items() if array is not None}

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return (f"<Trajectory of {len(self)} states, {self.t[0]:.6g} to {self.t[-1]:.6g} s, "
                f"stopped by {self.stop}>")

    # -- system and contacts -----------------------------------------------------------------------
    @cached_property
    def simulated(self) -> Simulated:
        """The simulated system, rebuilt from `source` for a run that was read from a file."""
        return Simulated.restore(self.source) if self.system is None else self.system

    @property
    def is_system_known(self) -> bool:
        """Whether `simulated` is available."""
        return self.system is not None or bool(self.source)

    def check_is_of(self, given: HasConstrained) -> None:
        """Raises `InputError` for a vehicle or system with other coordinates or speeds than those
        of this run, or with other contacts where the file or the run contains a vehicle."""
        system = Simulated.of(given)
        # a system of the user's own is not in the file of its run
        own = self.simulated if self.system or "description" in self.source else None
        if _has_names_of(self.names, system) and (
                own is None or _contacts(own) == _contacts(system)):
            return
        run, remedy = "the run's", None
        if own is not None:
            run = f"the run is of {own.name}, whose"
            remedy = Remedy(f"Give trajectory.simulated{'.vehicle' if own.vehicle else ''}",
                            "Leave --robot out")
        raise InputError(f"{run} coordinates, speeds or contacts are not those of {system.name}",
                         remedy)

    def _vehicle(self) -> Vehicle:
        if self.simulated.vehicle is None:
            raise SimulationError("only a vehicle has wheels and ground forces; multiplier(row) "
                                  "has those of the rows of any system")
        return self.simulated.vehicle

    @property
    def theta(self) -> np.ndarray:
        """Values of the symbolic parameters, (ntheta,)."""
        return self.simulated.theta

    @cached_property
    def reactions(self) -> ReactionsAlong:
        """Ground forces at each recorded moment, computed when they are read:
        `trajectory.reactions[k].components`.

        Raises
        ------
        SimulationError
            For a system without wheels, and for a kinematic run, which computes no forces.
        """
        vehicle = self._vehicle()
        if self.kinematic:
            raise SimulationError("a kinematic run has no forces: its speeds were commanded")
        return ReactionsAlong(vehicle, self.t, self.q, self.contact_forces)

    def contact_forces(self, states: slice | np.ndarray = slice(None)) -> ContactForces:
        """Ground forces at some of the recorded moments: those required by ideal rolling or, while
        wheels slid or were in the air, the friction and normal forces averaged over the step that
        ends there."""
        t, q, v, u = (part[states] for part in (self.t, self.q, self.v, self.u))
        reader = force_reader(self._vehicle())
        if self.contact is None:
            return reader.read(t, q, v, u)
        recorded = self._contact_parts[0][states][:, :len(self._vehicle().contact_rows)]
        known = ~self.rolled[states]
        # The equations of rolling have no forces for a state in which wheels slide: a neighbouring
        # state is used in its place, and overwritten below.
        ideal = np.flatnonzero(~known) if (~known).any() else np.zeros(1, dtype=int)
        place = ideal[np.searchsorted(ideal, np.arange(len(t))).clip(max=len(ideal) - 1)]
        if known.all():
            v = np.zeros_like(v)
        found = reader.read(t[place], q[place], v[place], u[place])
        return found.with_known(np.flatnonzero(known), recorded[known])

    def contact_points(self, states: slice | np.ndarray = slice(None)) -> np.ndarray:
        """p_WK of every contact at some of the recorded moments, (N, contacts, 3) [m]."""
        return world_points(self._vehicle(), self.t[states], self.q[states])

    @cached_property
    def _contact_parts(self) -> list[np.ndarray]:
        """Forces, phases, slid and lost of a run with Coulomb friction."""
        return self._contact_columns.split(np.asarray(self.contact))

    def contacts_at(self, t: float) -> ContactMoment | None:
        """The contacts at a time [s], in the recorded step that ends at or spans it; None for a run
        in which wheels could only roll."""
        if self.contact is None:
            return None
        k = min(int(np.searchsorted(self.t, t)), len(self) - 1)
        return self._contact_columns.moment(self.contact[k], self._vehicle(), self.t[k], self.q[k],
                                            self.settings.get("mu", {}))

    @property
    def _contact_columns(self) -> ContactColumns:
        if self.contact is None:
            raise SimulationError("in this run wheels could only roll: "
                                  "Simulator(..., contact=\"coulomb\", mu=0.6) lets them slide")
        return ContactColumns.read(self.names["contact"])

    def force(self, wheel: str, direction: str = "normal") -> np.ndarray:
        """As `History.force`. `wheel` may also be the link of a body that can touch the ground, for
        which "longitudinal" and "lateral" are the two tangents of the ground."""
        columns = () if self.contact is None else self._contact_columns.forces
        if wheel not in self._vehicle().contact_names and f"{wheel}/{direction}" in columns:
            forces = self._contact_parts[0][:, columns.index(f"{wheel}/{direction}")]
            return lock(np.where(self.rolled, 0.0, forces))
        return super().force(wheel, direction)

    @cached_property
    def rolled(self) -> np.ndarray:
        """Whether the equations of ideal rolling held at each recorded moment, (N,)."""
        if self.contact is None:
            return np.ones(len(self), dtype=bool)
        return np.isnan(self._contact_parts[0]).any(axis=1)

    @cached_property
    def phases(self) -> tuple[ContactSpan, ...]:
        """Which wheels rolled, slid or were in the air, interval by interval; in an ideal run all
        of them rolled throughout.

        Raises
        ------
        SimulationError
            For a system without wheels.

        Examples
        --------
        >>> [str(span) for span in Simulator(vehicle).run(0.1).phases]
        ['from t = 0 to 0.1 s all wheels roll']
        """
        wheels = self._vehicle().contact_names
        phases = (np.zeros((len(self), len(wheels))) if self.contact is None
                  else self._contact_parts[1])
        bodies = () if self.contact is None else self._contact_columns.names[len(wheels):]
        return contact_spans(self.t, phases, wheels, bodies)

    @property
    def slid(self) -> dict[str, np.ndarray]:
        """Wheel -> distance that its contact has slid along the ground since the start, (N,) [m].
        Raises `SimulationError` for a run in which wheels could only roll."""
        return dict(zip(self._contact_columns.names, self._contact_parts[2].T))

    @property
    def contact_loss(self) -> np.ndarray:
        """Energy dissipated at each contact since the start by friction and impacts, (N, k) [J],
        wheels first, then other bodies; without that of tyres. Raises as `slid` does."""
        return self._contact_parts[3]

    @cached_property
    def friction_loss(self) -> dict[str, np.ndarray]:
        """Wheel -> energy dissipated at its contact since the start by friction and impacts, (N,)
        [J]; that of slipping tyres is integrated over the recorded moments. Raises as `slid`
        does."""
        found = dict(zip(self._contact_columns.names, self.contact_loss.T))
        if wheels_with_tyres(self._vehicle()):
            power = (self.tyres.power[1:] + self.tyres.power[:-1]) / 2
            taken = np.cumsum(np.diff(self.t)[:, None] * power, axis=0)
            for name, one in zip(self.tyres.wheels, taken.T):
                found[name] = lock(found[name] + np.concatenate(([0.0], one)))
        return found

    @cached_property
    def tyres(self) -> TyresAlong:
        """Slip and forces of the tyres, for `analysis.tyre_slip`."""
        vehicle = self._vehicle()
        flies = (None if self.contact is None else
                 self._contact_parts[1][:, :len(vehicle.contact_names)] == Phase.AIRBORNE)
        return TyresAlong.of(vehicle, self.t, self.q, self.v, self.contact_forces(), flies)

    def columns(self) -> dict[str, Column]:
        """As `History.columns`; with Coulomb friction also "phase.*", "slid.*" and "lost.*" of each
        wheel."""
        found = super().columns()
        if self.contact is None:
            return found
        phases = dict(zip(self._contact_columns.names, self._contact_parts[1].T))
        kinds = {"phase": (phases, ""), "slid": (self.slid, "m"), "lost": (self.friction_loss, "J")}
        return found | {f"{kind}.{name}": Column(lock(values), unit)
                        for kind, (part, unit) in kinds.items() for name, values in part.items()}

    @cached_property
    def limits(self) -> tuple[LimitSpan, ...]:
        """Intervals in which a joint was at one of its limits, as far as the recorded moments show
        it."""
        parts = {"t": self.t, "q": self.q, "angles": self.angles, "v": self.v, "u": self.u}
        return LimitColumns.of(self.simulated, self.names).spans(blocks_of(parts))[0]

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """Notices about the run: a wheel that the ground would have had to pull, parts that were
        not watched, steps that were too long, and an actual twist that differs from the commanded
        one. Raises `SimulationError` if a file has something else there."""
        try:
            noted = tuple(Notice.of_dict(one) for one in self.settings.get(NOTICES, ()))
        except (KeyError, TypeError, ValueError) as error:
            raise SimulationError(f"settings[{NOTICES!r}] of this run are not notices: "
                                  f"{self.settings[NOTICES]!r:.80}") from error
        vehicle = self.simulated.vehicle
        if vehicle is None:
            return noted
        some = slice(None, None, 1 + len(self) // LOOKED_AT)
        only_rolls = not self.kinematic and self.contact is None
        lifted = None if not only_rolls else lift_notice(
            vehicle, self.t[some], self.q[some], self.contact_forces(some))
        found = lifted, *noted, twist_notice(vehicle, self, self.commanded_twist, self.limits)
        return tuple(notice for notice in found if notice is not None)

    @cached_property
    def validity(self) -> Any:
        """Whether ideal rolling was possible with the vehicle's friction coefficients:
        `analysis.run_validity` at about 200 of the recorded moments.

        Raises
        ------
        InputError
            For a run of something without wheels, and of a kinematic run.

        Examples
        --------
        >>> Simulator(vehicle).run(0.1).validity.until is None
        True
        """
        # by the lazy public name, because this package must not import `analysis`
        analysis = import_module("nhmech").analysis
        return analysis.run_validity(self, every=max(1, len(self) // JUDGED))

    # -- files -------------------------------------------------------------------------------------
    @check_arguments
    def save(self, path: str | os.PathLike) -> Path:
        """Writes one `.npz` file, completely or not at all, and returns its path. An existing file
        is replaced.

        Raises
        ------
        SimulationError
            If it cannot be written; the error carries the trajectory.
        """
        path = npz_path(path)
        try:
            write_archive(path, vars(self), len(self), partial(blocks_of, self._arrays()))
        except (OutputError, ValueError) as error:
            why = error if isinstance(error, OutputError) else f"{path} cannot be written: {error}"
            raise SimulationError(f"{why}; the trajectory is kept", self) from error
        return path

    @classmethod
    @check_arguments
    def load(cls, path: str | os.PathLike, system: HasConstrained | None = None) -> Trajectory:
        """Reads what `save` wrote, or the complete rows of the `.part` file of a run that was
        killed or is still running, with stop "cut off".

        Parameters
        ----------
        system
            A vehicle or a constrained system, instead of the one that the file describes.

        Raises
        ------
        SimulationError
            For a file that does not exist, or is no run.
        InputError
            For a system with other coordinates or speeds.
        """
        made = cls(**read_archive(path), system=None if system is None else Simulated.of(system))
        if made.system is not None and not _has_names_of(made.names, made.system):
            raise InputError(f"the coordinates or speeds of {made.system.name} are not those of "
                             f"this run: {listed(made.names['q'])} and {listed(made.names['v'])}")
        return made

    @check_arguments
    def save_html(self, path: str | os.PathLike, **options: Any) -> Path:
        """Writes the run as one self-contained page; returns its path.

        Parameters
        ----------
        options
            As of `nhmech.save_html`.

        Raises
        ------
        InputError
            For a system without shapes.
        """
        # by the lazy public name, because this package must not import `view`
        return import_module("nhmech").save_html(self.simulated, self, path, **options)


def _has_names_of(names: dict[str, tuple[str, ...]], system: Simulated) -> bool:
    space = system.constrained.system.algebroid
    return (names["q"], names["v"]) == (space.q_names, space.v_names)


def _contacts(simulated: Simulated) -> list[str] | None:
    return None if simulated.vehicle is None else simulated.vehicle.contact_names
