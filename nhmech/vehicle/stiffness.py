"""How fast the joints' damping makes motion die out, and what that asks of a time step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

if TYPE_CHECKING:
    from .vehicle import Vehicle

RK4 = 2.785      # |rate| dt below which the classical Runge-Kutta method is stable on the negative real axis


def fastest_decay(vehicle: Vehicle, q: np.ndarray | None = None) -> tuple[float, tuple[str, ...]]:
    """Largest rate [1/s] of d/dt xi = -(E^T M E)^-1 E^T D E xi, D the joints' damping, and the joints that move most in that motion.

    q  the zero pose where None
    """
    names = vehicle.algebroid.v_names
    damping = np.array([vehicle.parameters.values.get(f"{name}.damping", 0.0) for name in names])
    if not damping.any():
        return 0.0, ()
    q = vehicle.configuration() if q is None else np.asarray(q, dtype=float)
    A = vehicle.function("constraints")(0.0, q, vehicle.theta)[0].full()
    _, s, vt = np.linalg.svd(A)
    E = vt[int(np.sum(s > 1e-9 * s.max(initial=1e-300))):].T
    M = pin.crba(vehicle.model, vehicle.model.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    rates, motions = np.linalg.eig(np.linalg.solve(E.T @ M @ E, E.T @ (damping[:, None] * E)))
    fastest = int(np.argmax(rates.real))
    motion = np.abs((E @ motions[:, fastest].real)) * (np.arange(len(names)) >= 6)
    return float(rates[fastest].real), tuple(names[i] for i in np.argsort(-motion)[:4] if motion[i] > 0.3 * motion.max())


def stiffness_in_words(vehicle: Vehicle, dt: float, q: np.ndarray | None = None) -> str | None:
    """What to do where steps of dt [s] are too long for the joints' damping; None where they are not."""
    rate, joints = fastest_decay(vehicle, q)
    if rate * dt < 0.9 * RK4:                        # inertias change with the pose
        return None
    return (f"damping makes motion of {', '.join(joints)} die out at {rate:.4g} 1/s, for which rk4 needs dt below {RK4 / rate:.2g} s: "
            "take a smaller dt, lock these joints, or lower their damping with with_parameters")
