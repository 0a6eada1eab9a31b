"""The second method: Lagrange multipliers on Pinocchio's `crba` and `nle`, numerically, and the
contact forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..errors import MechanicsError
from .vehicle import Vehicle

Terms = Callable[..., Sequence[np.ndarray]]      # (t, q, v, u, theta) -> A, gamma, tau


@dataclass(frozen=True)
class Saddle:
    """dv/dt (nv,) and lambda (r,) of the kept rows."""

    acceleration: np.ndarray
    lam: np.ndarray


def balance(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray,
            u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (m, nv) of all rows, gamma (m,) and tau (nv,)."""
    A, gamma, tau = vehicle.functions.balance(t, q, v, u, vehicle.theta)
    return A.full(), gamma.full().ravel(), tau.full().ravel()


def saddle(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Saddle:
    """Solves [M -A^T; A 0] [dv/dt; lambda] = [tau - h; -gamma] with the kept rows of A.

    M from `pin.crba`, h from `pin.nonLinearEffects`; never through the inverse of M, which may be
    singular alone.

    Raises
    ------
    MechanicsError
        Where the whole matrix is singular.
    """
    return _solved(vehicle, q, v, *balance(vehicle, t, q, v, u))


def _solved(vehicle: Vehicle, q: np.ndarray, v: np.ndarray, A: np.ndarray, gamma: np.ndarray,
            tau: np.ndarray) -> Saddle:
    q, v, kept, nv = (
        np.asarray(q, dtype=float),
        np.asarray(v, dtype=float),
        list(vehicle.frame.kept),
        len(v),
    )
    matrix, data = np.zeros((nv + len(kept), nv + len(kept))), vehicle.data
    matrix[:nv, :nv] = pin.crba(vehicle.model, data, q)                  # both triangles, in Python
    matrix[nv:, :nv] = A[kept]
    matrix[:nv, nv:] = -A[kept].T
    h = pin.nonLinearEffects(vehicle.model, data, q, v)
    try:
        solution = np.linalg.solve(matrix, np.concatenate([tau - h, -gamma[kept]]))
    except np.linalg.LinAlgError as error:
        raise MechanicsError(f"the saddle system of {vehicle.name!r} is singular at q = {q}: "
                             "a moving part has no mass") from error
    return Saddle(solution[:nv], solution[nv:])


@dataclass(frozen=True)
class Reactions:
    """Ground forces on the wheels [N].

    Attributes
    ----------
    components
        Contact name -> {direction: force on the wheel}.
    world
        Contact name -> (3,) force in W.
    feasible
        Whether normals >= 0 could be met; if not, the least-norm split without that condition is
        given.
    undetermined
        Names of components that another split could change.
    """

    components: dict[str, dict[str, float]]
    world: dict[str, np.ndarray]
    feasible: bool
    undetermined: tuple[str, ...]


def ground_load(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray,
                terms: Terms | None = None) -> tuple[list[tuple[str, str]], np.ndarray, np.ndarray]:
    """(wheel, direction) of each contact force, and (nv, n) and (nv,): whatever the forces f are,
    matrix f = right.

    Multipliers of couplings, mimic joints and gauges are determined and stay out of it.

    Parameters
    ----------
    terms
        A quicker way to evaluate `vehicle.functions.balance`.
    """
    A, gamma, tau = balance(vehicle, t, q, v,
                            u) if terms is None else terms(t, q, v, u, vehicle.theta)
    lam, kept = _solved(vehicle, q, v, A, gamma, tau).lam, vehicle.frame.kept
    carried = np.zeros(len(A))
    carried[list(kept)] = lam
    index = list(vehicle.contact_rows.values())
    matrix = A[index].T
    return list(vehicle.contact_rows), matrix, matrix @ carried[index]


def reactions(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Reactions:
    """Contact forces: the multipliers, spread over all contacts (dropped rows too) with least norm
    and normals >= 0."""
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
    undetermined = tuple(f"{wheel}/{direction}" for (wheel, direction),
                         loose in zip(names, free) if loose)
    return Reactions(components, world, feasible, undetermined)


LOOSE = 1e-9      # length of a row of the kernel from which an entry counts as undetermined


def least_norm(matrix: np.ndarray, right: np.ndarray, non_negative: np.ndarray,
               rtol: float = 1e-10) -> tuple[np.ndarray, bool, np.ndarray]:
    """min |x|^2 with matrix x = right and x_i >= 0 where `non_negative`.

    Returns x, whether the sign condition could be met (if not, x is the plain least-norm solution),
    and which entries another solution could change.
    """
    x0, N = shortest(matrix, right, rtol)
    return *with_signs(x0, N, non_negative), np.linalg.norm(N, axis=1) > LOOSE


def shortest(matrix: np.ndarray, right: np.ndarray,
             rtol: float = 1e-10) -> tuple[np.ndarray, np.ndarray]:
    """The least-norm solution (n,) of matrix x = right, and an orthonormal basis (n, k) of the
    kernel."""
    u, s, vt = np.linalg.svd(matrix)
    rank = int(np.sum(s > rtol * max(s.max(initial=0.0), 1e-300)))
    return vt[:rank].T @ ((u[:, :rank].T @ right) / s[:rank]), vt[rank:].T


def with_signs(x0: np.ndarray, N: np.ndarray, non_negative: np.ndarray) -> tuple[np.ndarray, bool]:
    """The shortest of all x0 + N z with x_i >= 0 where `non_negative`, and whether there is one;
    else x0.

    This is least-distance programming, solved by non-negative least squares (Lawson and Hanson,
    Solving Least Squares Problems, 1974, chapter 23).
    """
    size = np.abs(x0).max(initial=0.0)
    if not np.any(x0[non_negative] < -1e-9 * size):
        return x0, True
    if np.any(x0[non_negative & ~(np.linalg.norm(N, axis=1) > LOOSE)] < -1e-9 * size):
        return x0, False
    from scipy.optimize import nnls  # imported here: 0.8 s

    G, h = N[non_negative], -x0[non_negative] / size
    dual, residual = nnls(np.vstack([G.T, h]), np.r_[np.zeros(G.shape[1]), 1.0])
    # = 1 / sqrt(1 + |z|^2) where a z exists, which is of the size of x0 or some times it
    if residual < 1e-5:
        return x0, False
    gap = np.vstack([G.T, h]) @ dual - np.r_[np.zeros(G.shape[1]), 1.0]
    x = x0 + N @ (-gap[:-1] / gap[-1]) * size
    x[non_negative] = np.maximum(x[non_negative], 0.0)
    return x, True
