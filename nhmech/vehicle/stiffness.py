"""Motions that decay too fast for a step of dt, and motions without inertia."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from .least_norm import solve_shortest

if TYPE_CHECKING:
    from .vehicle import Vehicle

RK4_LIMIT = 2.785     # Runge-Kutta 4 is stable for smaller |rate| dt on the negative real axis
MARGIN = 0.9          # of that limit, because inertias change with the pose
MASSLESS = 1e-14      # relative to the largest reduced inertia: smaller ones are zero
# joints in messages: those with at least this part of the fastest rate, four at most
SHARE, MOST = 0.3, 4


class MasslessMotion(ModelError):
    """A motion, in which these `joints` move most, has no inertia."""

    def __init__(self, text: str = "", joints: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.joints = joints


def fastest_decay(vehicle: Vehicle, q: np.ndarray | None = None) -> tuple[float, tuple[str, ...]]:
    """Largest rate [1/s] of d/dt xi = -(E^T M E)^-1 E^T D E xi, D the joints' damping, at q or the
    zero pose, and the joints that move most. Raises `ModelError` if E^T M E is singular, that is,
    some motion has no inertia."""
    E, mass = _reduce(vehicle, q)
    names = vehicle.algebroid.v_names
    damping = np.array([vehicle.parameters.values.get(f"{name}.damping", 0.0) for name in names])
    if not damping.any():
        return 0.0, ()
    rates, motions = np.linalg.eig(np.linalg.solve(mass, E.T @ (damping[:, None] * E)))
    fastest = int(np.argmax(rates.real))
    return float(rates[fastest].real), _movers(names, E @ motions[:, fastest].real)


def describe_stiffness(vehicle: Vehicle, dt: float, q: np.ndarray | None = None,
                       scheme: str = "rk4", limit: float = RK4_LIMIT) -> str | None:
    """A message with a remedy if steps of dt [s] are too long for the damping of the joints, or if
    any step is; else None. `limit`: the scheme is stable for smaller |rate| dt on the negative
    axis.
    """
    try:
        rate, joints = fastest_decay(vehicle, q)
    except MasslessMotion as error:
        return str(error)
    if rate * dt < MARGIN * limit:
        return None
    return (f"damping makes motion of {', '.join(joints)} die out at {rate:.4g} 1/s, for which "
            f"{scheme} needs dt below {limit / rate:.2g} s: take a smaller dt, lock these joints, "
            "or lower their damping with with_parameters")


def check_massless(vehicle: Vehicle) -> None:
    """Raises `MasslessMotion` if a motion from the zero pose has no inertia."""
    if not pin.computeTotalMass(vehicle.model) > 0:
        raise MasslessMotion(f"{vehicle.name}: no link has a mass, so that no force has a finite "
                             "acceleration: give the links <inertial>, the base above all")
    _reduce(vehicle, None)


def describe_massless(vehicle: Vehicle, q: np.ndarray | None = None) -> str | None:
    """A message with the joints that move no mass at q (the zero pose if None), and a remedy; None
    if there are none."""
    try:
        _reduce(vehicle, q)
    except MasslessMotion as error:
        return str(error)
    return None


def _reduce(vehicle: Vehicle, q: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """An orthonormal basis E (nv, nxi) of the velocities that the constraints allow, and E^T M E.
    Raises `MasslessMotion` if that is singular."""
    q = vehicle.configuration() if q is None else np.asarray(q, dtype=float)
    A = vehicle.constraint_matrix(q)
    _, E = solve_shortest(A, np.zeros(len(A)))
    mass = E.T @ pin.crba(vehicle.model, vehicle.data, q) @ E
    inertias, motions = np.linalg.eigh(mass)
    if len(mass) and not inertias[0] > MASSLESS * inertias[-1]:
        joints = _movers(vehicle.algebroid.v_names, E @ motions[:, 0])
        raise MasslessMotion(f"{', '.join(joints) or vehicle.name} can move without moving any "
                             "mass, so that no force has a finite acceleration: give the links "
                             "<inertial>, or lock the joints", joints)
    return E, mass


def _movers(names: tuple[str, ...], v: np.ndarray) -> tuple[str, ...]:
    motion = np.abs(v) * (np.arange(len(names)) >= 6)
    order = np.argsort(-motion)[:MOST]
    return tuple(names[i] for i in order if motion[i] > SHARE * motion.max())
