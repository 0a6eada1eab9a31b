"""Slip, forces and dissipation of the tyres of a vehicle along a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...vehicle.vehicle import Vehicle
from ..contact.contact_forces import ContactForces


@dataclass(frozen=True, eq=False)
class TyresAlong:
    """Values at N states for k wheels, in the order of `wheels`; the last index is longitudinal,
    lateral."""

    wheels: tuple[str, ...]
    slip: np.ndarray  # (N, k, 2)
    force: np.ndarray  # (N, k, 2) [N], of the ground on the wheels
    load: np.ndarray  # (N, k) [N], distributed by least norm, as in the equations of motion
    power: np.ndarray  # (N, k) [W], dissipated by slip
    touching_power: np.ndarray  # (N, k) [W], the same if no wheel were in the air

    def __repr__(self) -> str:
        return f"<TyresAlong of {len(self.wheels)} wheels at {len(self.load)} moments>"

    @classmethod
    def of(cls, vehicle: Vehicle, t: np.ndarray, q: np.ndarray, v: np.ndarray,
           forces: ContactForces, flies: np.ndarray | None) -> TyresAlong:
        """The values at states t (N,), q (N, nq), v (N, nv) with these forces of the ground; it
        exerts none on wheels that are in the air, (N, contacts)."""
        wheels = wheels_with_tyres(vehicle)
        n, k = len(t), len(wheels)
        load = forces.shortest[:, [forces.components.index((name, "normal")) for name in wheels]]
        theta = np.tile(vehicle.theta[:, None], (1, n))
        slip, force = (part.full().T.reshape(n, k, 2) for part in vehicle.tyre_function.map(n)(
            t[None, :], q.T, v.T, theta, load.T))
        S, s = vehicle.functions.slip.map(n)(t[None, :], q.T, theta)
        S = S.full().reshape(2 * k, n, -1).swapaxes(0, 1)
        speed = (np.einsum("nij,nj->ni", S, v) + s.full().T).reshape(n, k, 2)
        power = touching = -np.einsum("nki,nki->nk", force, speed)
        if flies is not None:
            own = flies[:, [vehicle.contact_names.index(name) for name in wheels]]
            force, power = np.where(own[..., None], 0.0, force), np.where(own, 0.0, power)
        return cls(wheels, slip, force, load, power, touching)


def wheels_with_tyres(vehicle: Vehicle) -> tuple[str, ...]:
    """Names of the wheels with tyres."""
    return tuple(wheel.name for wheel in vehicle.description.wheels if wheel.law == "tyre")
