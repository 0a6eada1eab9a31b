"""The load on the ground, and all distributions of it over the contacts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..mechanics.distribution import Component
from ..once import cached_property
from ..simulation.contact.force_reader import ContactForces, force_reader
from ..vehicle.least_norm import impose_signs
from ..vehicle.reactions import share_load
from ..vehicle.vehicle import Vehicle

NOTHING = 1e-9      # of the largest force: below this a force is rounding


@dataclass(frozen=True, eq=False)
class ContactLoad:
    """Contact forces f = split + kernel z, for any z; admissible are those whose normals are not
    negative.
    """

    names: tuple[Component, ...]  # the component of each entry of f
    # vehicle, t, q: whose forces, when [s] and where
    vehicle: Vehicle
    t: float
    q: np.ndarray
    # (n,) [N], the admissible split of least norm; where none is admissible, the least-norm split
    # of all
    split: np.ndarray
    kernel: np.ndarray  # (n, k), orthonormal: changes of f that no motion feels
    supported: bool  # whether an admissible split exists

    def __repr__(self) -> str:
        return (f"ContactLoad(t={self.t:.6g}, {len(self.names)} forces, {self.kernel.shape[1]} "
                f"undetermined, supported={self.supported})")

    @cached_property
    def axes(self) -> np.ndarray:
        """Unit vectors of the entries in W, (n, 3)."""
        directions = dict(zip(self.vehicle.contact_names,
                              self.vehicle.contact_directions(self.q, self.t)))
        return np.array([directions[wheel][direction]
                         for wheel, direction in self.names]).reshape(-1, 3)

    def __getstate__(self) -> dict:
        """State for another process: the axes in place of the vehicle."""
        return {**vars(self), "axes": self.axes, "vehicle": None}

    @cached_property
    def normal(self) -> np.ndarray:
        """Whether each entry is a normal, (n,)."""
        return np.array([direction == "normal" for _, direction in self.names])

    @cached_property
    def size(self) -> float:
        """The largest force of the least-norm split [N]."""
        return max(float(np.abs(self.split).max(initial=0.0)), 1e-300)

    @cached_property
    def _parts(self) -> tuple[np.ndarray, np.ndarray]:
        """The kernel, turned: columns that move normals, and those that only press wheels together
        along the ground."""
        _, s, vt = np.linalg.svd(self.kernel[self.normal])
        rank = int(np.sum(s > NOTHING))
        return self.kernel @ vt[:rank].T, self.kernel @ vt[rank:].T

    @property
    def lifting(self) -> np.ndarray:
        """Columns of the kernel, turned so that only these change normals, (n, r)."""
        return self._parts[0]

    @property
    def preload(self) -> np.ndarray:
        """The other columns, (n, k - r): forces along the ground that balance each other."""
        return self._parts[1]

    @cached_property
    def corners(self) -> np.ndarray:
        """Splits at the corners of the set of admissible normals, (p, n); none where nothing is
        admissible.

        The normals add up to a determined force: the set is bounded. At a corner as many vanish as
        are undetermined.
        """
        move, start = self.lifting[self.normal], self.split[self.normal]
        found = []
        for chosen in map(list, combinations(range(len(start)), move.shape[1])):
            if abs(np.linalg.det(move[chosen])) > NOTHING:
                z = np.linalg.solve(move[chosen], -start[chosen])
                if np.all(start + move @ z >= -NOTHING * self.size):
                    found.append(self.split + self.lifting @ z)
        if self.supported and not found:                                  # at the edge, to rounding
            found = [self.split]
        return np.array(found).reshape(-1, len(self.split))

    @cached_property
    def least_normal(self) -> float:
        """max over all splits of the smallest normal [N]: negative where none is admissible."""
        move, start = self.lifting[self.normal], self.split[self.normal]
        best, r = -np.inf, move.shape[1]
        if r == 0:
            return float(start.min())
        # at the optimum this many normals are equal and smallest
        for chosen in map(list, combinations(range(len(start)), r + 1)):
            matrix = np.column_stack([move[chosen], -np.ones(r + 1)])
            if abs(np.linalg.det(matrix)) > NOTHING:
                *z, least = np.linalg.solve(matrix, -start[chosen])
                if np.all(start + move @ z >= least - 1e-12 * self.size):
                    best = max(best, float(least))
        return best

    @cached_property
    def intervals(self) -> dict[Component, tuple[float, float]]:
        """Least and largest value [N] of each undetermined component in admissible splits.

        Empty where no split is admissible.
        """
        if not self.supported:
            return {}
        loose = np.flatnonzero(np.linalg.norm(self.kernel, axis=1) > NOTHING)
        endless = np.linalg.norm(self.preload, axis=1) > NOTHING
        low, high = self.corners.min(axis=0), self.corners.max(axis=0)
        return {self.names[i]: (-np.inf, np.inf) if endless[i] else (float(low[i]), float(high[i]))
                for i in loose}

    @cached_property
    def sums(self) -> tuple[tuple[str, float], ...]:
        """Determined sums of undetermined entries: ("a + b", [N]), of pairs and of all that share a
        direction.

        Entries with opposite directions enter with opposite signs.
        """
        loose = np.flatnonzero(np.linalg.norm(self.kernel, axis=1) > NOTHING)
        found, seen = [], set()
        for first in loose:
            alike = {i: float(np.sign(self.axes[i] @ self.axes[first])) for i in loose
                     if self.names[i][1] == self.names[first][1]
                     and abs(self.axes[i] @ self.axes[first]) > 1 - NOTHING}
            for group in [*[(first, i) for i in alike if i > first], tuple(alike)]:
                weights = np.zeros(len(self.split))
                weights[list(group)] = [alike[i] for i in group]
                if (len(group) > 1 and frozenset(group) not in seen
                    and np.abs(weights @ self.kernel).max() < NOTHING):
                    text = "".join(f" {'+' if alike[i] > 0 else '-'} {self.names[i]}"
                                   for i in group)
                    found.append((text.removeprefix(" + "), float(weights @ self.split)))
                    seen.add(frozenset(group))
        return tuple(found)


def contact_load(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray,
                 u: np.ndarray) -> ContactLoad:
    """The contact forces at a state, all of them that are consistent with its acceleration."""
    (load,) = contact_loads(vehicle, *(np.array([part], dtype=float) for part in (t, q, v, u)))
    return load


def contact_loads(vehicle: Vehicle, t: np.ndarray, q: np.ndarray, v: np.ndarray,
                  u: np.ndarray) -> list[ContactLoad]:
    """The same at the states t (N,), q (N, nq), v (N, nv), u (N, nu)."""
    found = force_reader(vehicle).read(t, q, v, u)
    return [load_from(found.only(k), vehicle, float(t[k]), q[k]) for k in range(len(t))]


def load_from(found: ContactForces, vehicle: Vehicle, t: float, q: np.ndarray) -> ContactLoad:
    """The load from forces at one state."""
    (split,), (supported,) = found.split
    return ContactLoad(found.components, vehicle, t, q, split, _columns(found.basis[0]),
                       bool(supported))


def load_of(vehicle: Vehicle, t: float, q: np.ndarray, A: np.ndarray,
            load: np.ndarray) -> ContactLoad:
    """All contact forces that exert a generalised force, as in `vehicle.reactions.share_load`."""
    shortest, kernel = share_load(vehicle, A, load)
    names = tuple(vehicle.contact_rows)
    normals = np.array([direction == "normal" for _, direction in names], dtype=bool)
    split, supported = impose_signs(shortest, kernel, normals)
    return ContactLoad(names, vehicle, t, np.array(q, dtype=float), split, kernel, bool(supported))


def _columns(basis: np.ndarray) -> np.ndarray:
    return basis[:, basis.any(axis=0)]
