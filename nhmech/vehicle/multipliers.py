"""The second method: Lagrange multipliers on Pinocchio's `crba` and `nle`, numerically, and the contact forces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..errors import MechanicsError
from .least_distance import least_norm
from .vehicle import Vehicle


@dataclass(frozen=True)
class Saddle:
    """dv/dt (nv,) and lambda (r,) of the kept rows."""

    acceleration: np.ndarray
    lam: np.ndarray


def saddle(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Saddle:
    """Solves [M -A^T; A 0] [dv/dt; lambda] = [tau - h; -gamma] with the kept rows of A.

    M from `pin.crba`, h from `pin.nonLinearEffects`; never through the inverse of M, which may be singular alone.
    Raises `MechanicsError` where the whole matrix is singular.
    """
    model, data = vehicle.model, vehicle.model.createData()
    kept = list(vehicle.frame.kept)
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    h = pin.nonLinearEffects(model, data, q, v)
    A = vehicle.function("constraints")(t, q, vehicle.theta)[0].full()[kept]
    gamma = vehicle.function("gamma")(t, q, v, vehicle.theta).full().ravel()[kept]
    tau = vehicle.function("force")(t, q, v, u, vehicle.theta).full().ravel()
    nv, r = len(v), len(kept)
    matrix = np.block([[M, -A.T], [A, np.zeros((r, r))]])
    try:
        solution = np.linalg.solve(matrix, np.concatenate([tau - h, -gamma]))
    except np.linalg.LinAlgError as error:
        raise MechanicsError(f"the saddle system of {vehicle.name!r} is singular at q = {q}: a moving part has no mass") from error
    return Saddle(solution[:nv], solution[nv:])


@dataclass(frozen=True)
class Reactions:
    """Ground forces on the wheels [N].

    components  contact name -> {direction: force on the wheel}
    world       contact name -> (3,) force in W
    feasible    whether normals >= 0 could be met; if not, the least-norm split without that condition is given
    undetermined  names of components that another split could change
    """

    components: dict[str, dict[str, float]]
    world: dict[str, np.ndarray]
    feasible: bool
    undetermined: tuple[str, ...]


def ground_load(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[list[tuple[str, str]], np.ndarray, np.ndarray]:
    """(wheel, direction) of each contact force, and (nv, n) and (nv,): whatever the forces f are, matrix f = right.

    Multipliers of couplings, mimic joints and gauges are determined and stay out of it.
    """
    distribution = vehicle.constrained.distribution
    solution = saddle(vehicle, t, q, v, u)
    A = vehicle.function("constraints")(t, q, vehicle.theta)[0].full()
    names = [(c.name, direction) for c in vehicle.contacts for direction in c.held if f"{c.name}/{direction}" in distribution.names]
    index = [distribution.names.index(f"{wheel}/{direction}") for wheel, direction in names]
    kept = list(vehicle.frame.kept)
    load = sum((solution.lam[kept.index(i)] * A[i] for i in index if i in kept), np.zeros(A.shape[1]))
    return names, A[index].T, load


def reactions(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Reactions:
    """Contact forces: the multipliers, spread over all contacts (dropped rows too) with least norm and normals >= 0."""
    names, matrix, load = ground_load(vehicle, t, q, v, u)
    normals = np.array([direction == "normal" for _, direction in names])
    forces, feasible, free = least_norm(matrix, load, normals)
    directions = vehicle.contact_directions(q, t)
    components = {c.name: {} for c in vehicle.contacts}
    world = {c.name: np.zeros(3) for c in vehicle.contacts}
    place = {c.name: i for i, c in enumerate(vehicle.contacts)}
    for (wheel, direction), force in zip(names, forces):
        components[wheel][direction] = float(force)
        world[wheel] += force * directions[place[wheel]][direction]
    undetermined = tuple(f"{wheel}/{direction}" for (wheel, direction), loose in zip(names, free) if loose)
    return Reactions(components, world, feasible, undetermined)
