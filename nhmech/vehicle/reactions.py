"""A second, numerical method for a single state: Lagrange multipliers with Pinocchio's `crba` and
`nle`, and the contact forces, without a choice of independent speeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..checks import check_arguments, read_vector
from ..errors import REPR, ByName, MechanicsError, listed
from .least_norm import LOOSE, impose_signs, orthonormal, solve_shortest
from .vehicle import Vehicle

# iterations between loads and the friction that they cause, each of which leaves about a tenth of
# the error, and the relative change of the loads at which they end
_ROUNDS, _SETTLED = 60, 1e-14


@dataclass(frozen=True)
class Saddle:
    """dv/dt (nv,) and lambda (r,) of the kept rows."""

    acceleration: np.ndarray
    lam: np.ndarray


def balance(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray,
            u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (m, nv) of all rows, gamma (m,) and tau (nv,)."""
    A, gamma, tau = vehicle.functions.balance(t, q, v, u, vehicle.theta)
    return A, gamma, tau


def solve_saddle(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Saddle:
    """Solves [M -A^T; A 0] [dv/dt; lambda] = [tau - h; -gamma] with the kept rows of A; forces that
    are proportional to reactions are added to A^T.

    M is from `pin.crba`, h from `pin.nonLinearEffects`. M is not inverted, because it may be
    singular by itself. Raises `MechanicsError` if the whole matrix is singular.
    """
    return _solve_balance(vehicle, t, q, v, u)[1]


def _solve_balance(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray,
              u: np.ndarray) -> tuple[np.ndarray, Saddle]:
    """A (m, nv) and the solution; friction that depends on the loads is iterated to rounding."""
    A, gamma, tau = balance(vehicle, t, q, v, u)
    kept, f = A[list(vehicle.frame.kept)].T, np.zeros(len(A))
    if not vehicle.constrained.rubbing:
        return A, _solve(vehicle, q, v, A, gamma, tau, kept)
    shares = _shares(vehicle, A, kept)
    for _ in range(_ROUNDS):
        friction = vehicle.functions.friction(t, q, v, u, vehicle.theta, f).full()
        found = _solve(vehicle, q, v, A, gamma, tau, kept + friction @ shares)
        before, f = f, shares @ found.lam
        if np.abs(f - before).max() <= _SETTLED * np.abs(f).max():
            break
    return A, found


def _shares(vehicle: Vehicle, A: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Forces of all rows (m, r) for unit multipliers of the kept rows, with least norm."""
    shares = np.zeros((len(A), kept.shape[1]))
    contact = list(vehicle.contact_rows.values())
    for share, load in zip(shares.T, kept.T):
        lam, free = solve_shortest(A.T, load)
        share[:] = lam - free @ np.linalg.lstsq(free[contact], lam[contact], rcond=None)[0]
    return shares


def _solve(vehicle: Vehicle, q: np.ndarray, v: np.ndarray, A: np.ndarray, gamma: np.ndarray,
            tau: np.ndarray, felt: np.ndarray) -> Saddle:
    q, v, nv = np.asarray(q, dtype=float), np.asarray(v, dtype=float), len(v)
    kept, data = list(vehicle.frame.kept), vehicle.data
    matrix = np.zeros((nv + len(kept), nv + len(kept)))
    # Python's `crba` fills both triangles
    matrix[:nv, :nv] = pin.crba(vehicle.model, data, q)
    matrix[nv:, :nv] = A[kept]
    matrix[:nv, nv:] = -felt
    h = pin.nonLinearEffects(vehicle.model, data, q, v)
    try:
        solution = np.linalg.solve(matrix, np.concatenate([tau - h, -gamma[kept]]))
    except np.linalg.LinAlgError as error:
        raise MechanicsError(f"the saddle system of {vehicle.name!r} is singular at q = {q}: a "
                             "moving body has no mass") from error
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
        Whether some distribution of the load has all normal forces >= 0; if not, the forces are
        those of least norm without that condition.
    undetermined
        Names of components that differ between distributions.
    """

    components: ByName[ByName[float]]
    world: ByName[np.ndarray]
    feasible: bool
    undetermined: tuple[str, ...]

    def __repr__(self) -> str:
        return ("<Reactions: normal forces "
                + listed((f"{name} {held['normal']:.4g} N" for name, held in self.components.items()
                          if "normal" in held), REPR) + ">")


def ground_load(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray,
                u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A (m, nv) of all rows, and the generalised force A^T lambda (nv,) that they exert."""
    A, found = _solve_balance(vehicle, t, q, v, u)
    return A, A[list(vehicle.frame.kept)].T @ found.lam


def share_load(vehicle: Vehicle, A: np.ndarray, load: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The contact forces of least norm (n,) that exert the generalised force `load` (nv,) with all
    rows of A, and an orthonormal basis (n, d) of the changes that do not affect the motion.

    The norm does not include multipliers of couplings, mimic joints and gauges.
    """
    index = list(vehicle.contact_rows.values())
    lam, free = solve_shortest(A.T, load)
    basis = orthonormal(free[index])
    basis = basis[:, basis.any(axis=0)]
    return lam[index] - basis @ (basis.T @ lam[index]), basis


@check_arguments
def reactions(vehicle: Vehicle, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Reactions:
    """Forces of the ground on the wheels of a vehicle, at one state.

    The multipliers are distributed over all contacts (dropped rows included) with least norm and
    normal forces >= 0. They are computed from Pinocchio's matrices by Lagrange multipliers,
    independently of the equations of motion.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.
    t
        Time [s].
    q, v, u
        (nq,), (nv,), (nu,): configuration, fibre coordinates (`State.v`, `Equilibrium.v`), inputs.

    Raises
    ------
    InputError
        For vectors of another length, and numbers that are not finite.
    MechanicsError
        If a moving part has no mass.
    """
    system = vehicle.constrained.system
    q, v, u = (read_vector(what, value, names) for what, value, names in (
        ("q", q, system.algebroid.q_names), ("v", v, system.algebroid.v_names),
        ("u", u, system.u_names)))
    shortest, basis = share_load(vehicle, *ground_load(vehicle, t, q, v, u))
    normals = np.array([c.is_normal for c in vehicle.contact_rows], dtype=bool)
    forces, feasible = impose_signs(shortest, basis, normals)
    return name_forces(vehicle, t, q, forces, bool(feasible), basis)


def name_forces(vehicle: Vehicle, t: float, q: np.ndarray, forces: np.ndarray, feasible: bool,
                basis: np.ndarray) -> Reactions:
    """`Reactions` of forces (n,) with the orthonormal basis (n, d) of their changes."""
    directions = dict(zip(vehicle.contact_names, vehicle.contact_directions(q, t)))
    components = ByName({c.name: ByName[float]() for c in vehicle.contacts})
    world = ByName({c.name: np.zeros(3) for c in vehicle.contacts})
    for (wheel, direction), force in zip(vehicle.contact_rows, forces):
        components[wheel][direction] = float(force)
        world[wheel] += force * directions[wheel][direction]
    loose = np.linalg.norm(basis, axis=1) > LOOSE
    undetermined = tuple(str(name) for name, free in zip(vehicle.contact_rows, loose) if free)
    return Reactions(components, world, feasible, undetermined)
