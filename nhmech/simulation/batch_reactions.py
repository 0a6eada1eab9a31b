"""Ground forces of every case of a batch at one moment, and how near each contact is to slipping or lifting off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SimulationError
from ..vehicle.least_distance import least_norm


@dataclass(frozen=True)
class BatchReactions:
    """N cases, m force components, c contacts.

    names     of the components, "contact/direction"
    forces    (N, m) on the wheels [N]
    contacts  names
    feasible  (N,) whether normals >= 0 could be met; where not, a wheel lifts off and the least-norm split without that
              condition is given
    """

    names: tuple[str, ...]
    forces: np.ndarray
    contacts: tuple[str, ...]
    feasible: np.ndarray

    @property
    def normal(self) -> np.ndarray:
        """Normal forces, (N, c) [N]; NaN where a contact has no normal row."""
        columns = {name: self.forces[:, i] for i, name in enumerate(self.names)}
        return np.stack([columns.get(f"{contact}/normal", np.full(len(self.forces), np.nan))
                         for contact in self.contacts], axis=1)

    @property
    def friction(self) -> np.ndarray:
        """Friction coefficient each contact needs, |tangential| / normal, (N, c); infinite if nothing presses it."""
        squares = np.zeros((len(self.forces), len(self.contacts)))
        for i, name in enumerate(self.names):
            contact, direction = name.rsplit("/", 1)
            if direction != "normal":
                squares[:, self.contacts.index(contact)] += self.forces[:, i] ** 2
        tangential, normal = np.sqrt(squares), self.normal
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(normal > 0, tangential / normal, np.where(tangential > 0, np.inf, 0.0))


def batch_reactions(batch, k: int) -> BatchReactions:
    """As `vehicle.multipliers.reactions`, case by case: multipliers of kept rows, spread over contacts with least norm.

    The norm is one step of linear algebra for all cases; those that it would pull at the ground are done again with
    normals >= 0.
    """
    vehicle = batch.stepper.subject.vehicle
    if vehicle is None:
        raise SimulationError("only a vehicle has wheels and ground forces; "
                              "Batch.multipliers has the multipliers of any system")
    rows, count = vehicle.constrained.distribution.names, len(batch)
    names = tuple(f"{c.name}/{direction}" for c in vehicle.contacts for direction in c.held
                  if f"{c.name}/{direction}" in rows)
    index, kept = [rows.index(name) for name in names], list(batch.stepper.equations.frame.kept)
    A = vehicle.function("constraints").map(count)(batch.t[k], batch.q(k).T, batch.theta.T)[0].full()
    A = A.reshape(len(rows), count, -1).transpose(1, 0, 2)                      # (N, m, nv)
    carried = [i for i in index if i in kept]
    lam = batch.multipliers(k)[:, [kept.index(i) for i in carried]]
    load = np.einsum("ni,nij->nj", lam, A[:, carried])
    matrices = A[:, index].transpose(0, 2, 1)
    forces = np.einsum("nij,nj->ni", np.linalg.pinv(matrices, rcond=1e-10), load)
    normals = np.array([name.endswith("/normal") for name in names])
    feasible = np.ones(count, dtype=bool)
    least = -1e-9 * np.abs(forces).max(axis=1, keepdims=True, initial=0.0)
    for i in np.flatnonzero((forces[:, normals] < least).any(axis=1)):
        forces[i], feasible[i], _ = least_norm(matrices[i], load[i], normals)
    return BatchReactions(names, forces, tuple(vehicle.contact_names), feasible)
