"""What a built vehicle has to say about itself."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..urdf.notice import Notice, NoticeKind
from .vehicle import Vehicle

USUAL_STEP = 1e-3   # [s] the simulator's
PERFECT = 1e-9      # [m] offsets below this are rounding of the computer, not of the file


def remarks(vehicle: Vehicle) -> tuple[Notice, ...]:
    """Offsets that were accepted, and wheels that do not do what they are there for."""
    found = []
    offsets = [(name, 1e3 * d) for name,
               d in zip(vehicle.contact_names, vehicle.support.offsets) if abs(d) > PERFECT]
    if offsets:
        found.append(Notice(NoticeKind.SUPPORT_OFFSETS,
                            "contacts out of the common plane, taken as rounding: "
                            + ", ".join(f"{name} {d:+.2f} mm" for name, d in offsets)))
    rollers = [c for c in vehicle.contacts
               if c.mount.wheel.traits.has_rollers and c.mount.spin is not None]
    if len(rollers) >= 3:
        rank = _rank_of_rates(vehicle, [c.mount.spin for c in rollers])
        if rank < 3:
            found.append(Notice(NoticeKind.ROLLER_RANK,
                                f"the rates of the {len(rollers)} roller wheels determine {rank} "
                                "of the base's 3 motions only: look at the roller angles; opposite "
                                "corners should have the same, neighbours opposite ones"))
    if stiff := stiffness_in_words(vehicle, USUAL_STEP):
        found.append(Notice(NoticeKind.STIFFNESS, stiff))
    if unguarded := _unguarded(vehicle):
        leaders = " and ".join(axle.steering for axle in vehicle.steering.pair())
        found.append(Notice(
            NoticeKind.UNENFORCED_LIMITS,
            f"the limits of {', '.join(unguarded)} are not enforced: with two leaders ({leaders}) "
            "and no fixed axle, angles that keep all wheels within their limits are no intervals; "
            "watch joint_position, or lock steering joints"))
    return tuple(found)


def _unguarded(vehicle: Vehicle) -> list[str]:
    """Followers of two leaders whose own limits draw in nobody's (`narrow_limits`)."""
    if not vehicle.steering.coupled or vehicle.steering.fixed:
        return []
    limits, pair = vehicle.description.limits, vehicle.steering.pair()
    followers = [axle.steering for axle in vehicle.steering.steered if axle not in pair]
    return [name for name in followers
            if name in limits and np.isfinite([limits[name].lower, limits[name].upper]).any()]


def _rank_of_rates(vehicle: Vehicle, rates: list[int]) -> int:
    """Of the wheel rates on the distribution, at the neutral pose."""
    A = vehicle.constraint_matrix(vehicle.constrained.configurations[0])
    _, s, vt = np.linalg.svd(A / vehicle.constrained.scales)
    kernel = vt[int(np.sum(s > 1e-9 * s[0])):]
    return int(np.linalg.matrix_rank(kernel[:, rates], tol=1e-9))


# |rate| dt below which the classical Runge-Kutta method is stable on the negative real axis
RK4 = 2.785
MASSLESS = 1e-14      # of the largest reduced inertia: below this there is none


class _Massless(ModelError):
    """Some motion meets no inertia."""


def fastest_decay(vehicle: Vehicle, q: np.ndarray | None = None) -> tuple[float, tuple[str, ...]]:
    """Largest rate [1/s] of d/dt xi = -(E^T M E)^-1 E^T D E xi, D the joints' damping, and the
    joints that move most.

    Parameters
    ----------
    q
        The zero pose where None.

    Raises
    ------
    ModelError
        Where E^T M E is singular: some motion meets no inertia.
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
    """Which joints can move no mass at q (the zero pose where None), and what to do about it; else
    None."""
    try:
        _reduced(vehicle, q)
    except _Massless as error:
        return str(error)
    return None


def _reduced(vehicle: Vehicle, q: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """E (nv, nxi), orthonormal, what the constraints allow, and E^T M E; `_Massless` where that is
    singular."""
    q = vehicle.configuration() if q is None else np.asarray(q, dtype=float)
    A = vehicle.constraint_matrix(q)
    _, s, vt = np.linalg.svd(A)
    E = vt[int(np.sum(s > 1e-9 * s.max(initial=1e-300))):].T
    mass = E.T @ pin.crba(vehicle.model, vehicle.data, q) @ E
    inertias, motions = np.linalg.eigh(mass)
    if len(mass) and not inertias[0] > MASSLESS * inertias[-1]:
        massless = ", ".join(_movers(vehicle.algebroid.v_names, E @ motions[:, 0])) or vehicle.name
        raise _Massless(f"{massless} can move without moving any mass, so that no force has a "
                        "finite acceleration: give the links <inertial>, or lock the joints")
    return E, mass


def _movers(names: tuple[str, ...], v: np.ndarray) -> tuple[str, ...]:
    """The joints that move most, four at most."""
    motion = np.abs(v) * (np.arange(len(names)) >= 6)
    return tuple(names[i] for i in np.argsort(-motion)[:4] if motion[i] > 0.3 * motion.max())


def stiffness_in_words(vehicle: Vehicle, dt: float, q: np.ndarray | None = None) -> str | None:
    """What to do where steps of dt [s] are too long for the joints' damping, or where no step will
    do; else None."""
    try:
        rate, joints = fastest_decay(vehicle, q)
    except _Massless as error:
        return str(error)
    if rate * dt < 0.9 * RK4:                        # inertias change with the pose
        return None
    return (f"damping makes motion of {', '.join(joints)} die out at {rate:.4g} 1/s, for which rk4 "
            f"needs dt below {RK4 / rate:.2g} s: take a smaller dt, lock these joints, or lower "
            "their damping with with_parameters")
