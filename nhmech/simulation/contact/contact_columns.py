"""The contact part of a recorded row: forces, phases, distances slid and energies dissipated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...once import cached_property
from ...vehicle.reactions import name_forces
from ...vehicle.vehicle import Vehicle
from .motion import SLOW, STILL, Motion, to_world
from .nonsmooth_terms import NonsmoothTerms
from .phases import FLIES, LIES, ROLLS, SLIDES, ContactMoment, Phase

DIRECTIONS = "normal", "longitudinal", "lateral"      # of the force on a body, along ground axes


@dataclass(frozen=True)
class ContactColumns:
    """Names of the numbers (forces, phases, slid, lost) in a row."""

    # "wheel/direction" of each component, then those of bodies along the normal and the tangents of
    # the ground. The forces are NaN while all wheels roll.
    forces: tuple[str, ...]
    names: tuple[str, ...]  # of the wheels, then of the bodies that can touch the ground

    @classmethod
    def of(cls, vehicle: Vehicle, bodies: Sequence[str] = ()) -> ContactColumns:
        """The columns of a vehicle and of its `bodies` that can touch the ground."""
        of_bodies = (f"{body}/{direction}" for body in bodies for direction in DIRECTIONS)
        return cls((*map(str, vehicle.contact_rows), *of_bodies),
                   (*vehicle.contact_names, *bodies))

    @classmethod
    def read(cls, columns: Sequence[str]) -> ContactColumns:
        """The columns of a row from their names."""
        parts = [name.partition(".") for name in columns]
        return cls(*(tuple(name for kind, _, name in parts if kind == wanted)
                     for wanted in ("force", "phase")))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all numbers."""
        return (*(f"force.{name}" for name in self.forces),
                *(f"{what}.{name}" for what in ("phase", "slid", "lost") for name in self.names))

    def __len__(self) -> int:
        return len(self.forces) + 3 * len(self.names)

    def split(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Forces (..., n), phases, slid and lost (..., k): views of the numbers (..., n + 3 k)."""
        n, k = len(self.forces), len(self.names)
        ends = 0, n, n + k, n + 2 * k, n + 3 * k
        return [numbers[..., begin:end] for begin, end in zip(ends, ends[1:])]

    def moment(self, numbers: np.ndarray, vehicle: Vehicle, t: float, q: np.ndarray,
               mu: Mapping[str, float]) -> ContactMoment:
        """The contacts at time t [s] and configuration q (nq,) from the numbers of one row, with
        these friction coefficients."""
        forces, phases, _, _ = self.split(numbers)
        known, rows = not np.isnan(forces).any(), len(vehicle.contact_rows)
        return ContactMoment(
            dict(zip(self.names, (Phase(int(one)) for one in phases))),
            name_forces(vehicle, t, q, forces[:rows], True, np.zeros((rows, 0))) if known
            else None, mu)


@dataclass(frozen=True, eq=False)
class ContactRecord:
    """Writes a motion into the numbers of a row, and reads it from them. All points of a body share
    one set of numbers."""

    terms: NonsmoothTerms

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that can touch the ground."""
        return tuple(dict.fromkeys(self.terms.bodies.links))

    @cached_property
    def columns(self) -> ContactColumns:
        return ContactColumns.of(self.terms.vehicle, self.bodies)

    @cached_property
    def resting(self) -> np.ndarray:
        """The phases if all wheels roll and no body touches the ground."""
        wheels = len(self.columns.names) - len(self.bodies)
        return np.repeat([ROLLS, FLIES], [wheels, len(self.bodies)])

    @cached_property
    def _owner(self) -> np.ndarray:
        """Index of each contact among the names."""
        names = list(self.columns.names)
        return np.array([names.index(c.name) for c in self.terms.contacts], dtype=int)

    @cached_property
    def _bearer(self) -> np.ndarray:
        """Index of the contact of each row, (m,); the number of contacts for other rows."""
        found = np.full(self.terms.m, len(self.terms.contacts))
        for i, c in enumerate(self.terms.contacts):
            found[list(c.rows)] = i
        return found

    @cached_property
    def _sums(self) -> np.ndarray:
        """Matrix (forces, m) that sums the rows of each force."""
        wheels = list(self.terms.vehicle.contact_rows.values())
        found = np.zeros((len(self.columns.forces), self.terms.m))
        found[range(len(wheels)), wheels] = 1.0
        for c, owner in zip(self.terms.contacts, self._owner):
            if c.name in self.bodies:
                first = len(wheels) + 3 * (owner - len(self.columns.names) + len(self.bodies))
                found[range(first, first + 3), list(c.rows)] = 1.0
        return found

    def sum_forces(self, rows: np.ndarray) -> np.ndarray:
        """The recorded forces from those of all rows (m,)."""
        return self._sums @ rows

    def write(self, motion: Motion, forces: np.ndarray) -> np.ndarray:
        """The numbers of a motion with the forces (m,) [N] of all rows."""
        owner, many = self._owner, len(self.columns.names)
        phases, slid, lost = motion.phases, motion.slid, motion.lost
        if self.bodies:
            slides, flies = (np.bincount(owner, phases == one, many) for one in (SLIDES, FLIES))
            whole = np.where(slides, SLIDES, np.where(flies == self._count, FLIES, LIES))
            whole[self._is_wheel] = phases[:np.count_nonzero(self._is_wheel)]
            phases, lost, slid = whole, np.bincount(owner, lost, many), np.zeros(many)
            np.maximum.at(slid, owner, motion.slid)
        return np.concatenate((self.sum_forces(forces), phases, slid, lost))

    @cached_property
    def _count(self) -> np.ndarray:
        """Number of contacts of each name."""
        return np.bincount(self._owner, minlength=len(self.columns.names))

    @cached_property
    def _is_wheel(self) -> np.ndarray:
        return self.resting == ROLLS

    def read(self, numbers: np.ndarray, t: float, x: np.ndarray, q: np.ndarray, v: np.ndarray,
             dt: float) -> Motion:
        """The motion at time t [s] after a step of dt [s]. Points of a body at height zero are
        taken to be on the ground, with equal shares of its load."""
        forces, phases, slid, lost = self.columns.split(numbers)
        w, found, impulses = to_world(q, v), phases.astype(int), dt * forces @ self._sums
        if not self.bodies:
            flies = found == FLIES
            if flies.any():
                impulses[np.append(flies, False)[self._bearer]] = 0.0
            return Motion(t, x, w, found, impulses, slid.copy(), lost.copy())
        # a contact that still approaches the ground has not landed
        terms, owner = self.terms, self._owner
        rows = terms.read_rows(t, x, w, found[owner] != FLIES)
        speeds = rows[0] @ w + rows[1]
        falls = speeds[terms.normals] < -STILL * max(SLOW * terms.speed, np.abs(speeds).max())
        touching = np.where(falls, FLIES, terms.find_phases(rows, w))
        found = np.where(self._is_wheel[owner], found[owner], touching)
        down = found != FLIES
        share = down / np.bincount(owner, down, len(self.columns.names)).clip(1)[owner]
        impulses *= np.append(share, 1.0)[self._bearer]
        return Motion(t, x, w, found, impulses, slid[owner], (lost / self._count)[owner])
