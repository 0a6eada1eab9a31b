"""How fast the joints' damping makes motion die out, and what that asks of a time step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from ..errors import ModelError

if TYPE_CHECKING:
    from .vehicle import Vehicle

RK4 = 2.785           # |rate| dt below which the classical Runge-Kutta method is stable on the negative real axis
MASSLESS = 1e-14      # of the largest reduced inertia: below this there is none


class _Massless(ModelError):
    """Some motion meets no inertia."""


def fastest_decay(vehicle: Vehicle, q: np.ndarray | None = None) -> tuple[float, tuple[str, ...]]:
    """Largest rate [1/s] of d/dt xi = -(E^T M E)^-1 E^T D E xi, D the joints' damping, and the joints that move most.

    q  the zero pose where None

    Raises `ModelError` where E^T M E is singular: some motion meets no inertia.
    """
    E, mass = _reduced(vehicle, q)
    names = vehicle.algebroid.v_names
    damping = np.array([vehicle.parameters.values.get(f"{name}.damping", 0.0) for name in names])
    if not damping.any():
        return 0.0, ()
    rates, motions = np.linalg.eig(np.linalg.solve(mass, E.T @ (damping[:, None] * E)))
    fastest = int(np.argmax(rates.real))
    return float(rates[fastest].real), _movers(names, E @ motions[:, fastest].real)


def massless_in_words(vehicle: Vehicle, q: np.ndarray | None = None) -> str | None:
    """Which joints can move no mass at q (the zero pose where None), and what to do about it; else None."""
    try:
        _reduced(vehicle, q)
    except _Massless as error:
        return str(error)
    return None


def _reduced(vehicle: Vehicle, q: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """E (nv, nxi), orthonormal, what the constraints allow, and E^T M E; `_Massless` where that is singular."""
    q = vehicle.configuration() if q is None else np.asarray(q, dtype=float)
    A = vehicle.function("constraints")(0.0, q, vehicle.theta)[0].full()
    _, s, vt = np.linalg.svd(A)
    E = vt[int(np.sum(s > 1e-9 * s.max(initial=1e-300))):].T
    mass = E.T @ pin.crba(vehicle.model, vehicle.data, q) @ E
    inertias, motions = np.linalg.eigh(mass)
    if len(mass) and not inertias[0] > MASSLESS * inertias[-1]:
        massless = ", ".join(_movers(vehicle.algebroid.v_names, E @ motions[:, 0])) or vehicle.name
        raise _Massless(f"{massless} can move without moving any mass, so that no force has a finite acceleration: "
                        "give the links <inertial>, or lock the joints")
    return E, mass


def _movers(names: tuple[str, ...], v: np.ndarray) -> tuple[str, ...]:
    """The joints that move most, four at most."""
    motion = np.abs(v) * (np.arange(len(names)) >= 6)
    return tuple(names[i] for i in np.argsort(-motion)[:4] if motion[i] > 0.3 * motion.max())


def stiffness_in_words(vehicle: Vehicle, dt: float, q: np.ndarray | None = None) -> str | None:
    """What to do where steps of dt [s] are too long for the joints' damping, or where no step will do; else None."""
    try:
        rate, joints = fastest_decay(vehicle, q)
    except _Massless as error:
        return str(error)
    if rate * dt < 0.9 * RK4:                        # inertias change with the pose
        return None
    return (f"damping makes motion of {', '.join(joints)} die out at {rate:.4g} 1/s, for which rk4 needs dt below "
            f"{RK4 / rate:.2g} s: take a smaller dt, lock these joints, or lower their damping with with_parameters")
