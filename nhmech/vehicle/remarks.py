"""What a built vehicle has to say about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..urdf.notice import Notice, NoticeKind
from .symmetry import SAME

if TYPE_CHECKING:
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
    """Followers of two leaders whose own limits draw in nobody's (`limits_with_followers`)."""
    if not vehicle.steering.coupled or vehicle.steering.fixed:
        return []
    limits, pair = vehicle.description.limits, vehicle.steering.pair()
    followers = [axle.steering for axle in vehicle.steering.steered if axle not in pair]
    return [name for name in followers
            if name in limits and np.isfinite([limits[name].lower, limits[name].upper]).any()]


def _rank_of_rates(vehicle: Vehicle, rates: list[int]) -> int:
    """Of the wheel rates on the distribution, at the neutral pose."""
    A = vehicle.functions.constraints(0.0, vehicle.constrained.samples[0],
                                        vehicle.theta)[0].full()
    _, s, vt = np.linalg.svd(A / vehicle.constrained.scales)
    kernel = vt[int(np.sum(s > 1e-9 * s[0])):]
    return int(np.linalg.matrix_rank(kernel[:, rates], tol=1e-9))


def symmetry_in_words(vehicle: Vehicle) -> str:
    """What dxi/dt does not depend on, found by moving it, and what the contacts hold.

    E.g. "x, y, yaw, left_wheel_joint and right_wheel_joint are ignorable; pitch, roll and height
    are frozen".
    """
    free, held = ignorable(vehicle), frozen_parts(vehicle)
    parts = [f"{_listed(free)} {'is' if len(free) == 1 else 'are'} ignorable" if free
             else "nothing is ignorable"]
    return "; ".join(parts
                     + ([f"{_listed(held)} {'is' if len(held) == 1 else 'are'} frozen"] if held
                        else []))


def ignorable(vehicle: Vehicle) -> list[str]:
    """Names among x, y, yaw and angles of continuous joints on which dxi/dt does not depend."""
    return [name for name, move in _moves(vehicle) if _ignorable(vehicle, move)]


def _moves(vehicle: Vehicle):
    """(name, q -> q moved) of the candidates."""
    t1, t2 = vehicle.ground.tangents
    n = vehicle.placer.normal

    def shifted(direction):
        return lambda q: np.concatenate([q[:3] + 0.7 * direction, q[3:]])

    def turned(q):
        turn = pin.AngleAxis(0.9, n)
        moved = q.copy()
        moved[:3] = turn.toRotationMatrix() @ q[:3]
        moved[3:7] = (pin.Quaternion(turn.toRotationMatrix()) * pin.Quaternion(q[3:7])).coeffs()
        return moved

    def spun(i):
        def move(q):
            moved, c, s = q.copy(), np.cos(0.8), np.sin(0.8)
            moved[i:i + 2] = c * q[i] - s * q[i + 1], s * q[i] + c * q[i + 1]
            return moved
        return move

    yield from (("x", shifted(t1)), ("y", shifted(t2)), ("yaw", turned))
    for i, a in vehicle.algebroid.circles:
        yield vehicle.algebroid.v_names[a], spun(i)


def _ignorable(vehicle: Vehicle, move) -> bool:
    rng, drift = np.random.default_rng(0), vehicle.equations.drift
    for q in vehicle.constrained.samples[1:4]:
        xi, u = (
            rng.normal(size=len(vehicle.speeds)),
            rng.normal(size=vehicle.constrained.system.u.numel()),
        )
        before, after = (drift(0.0, place, xi, u,
                               vehicle.theta)[1].full() for place in (q, move(q)))
        if np.abs(after - before).max(initial=0.0) > 1e3 * SAME * max(
            1.0, np.abs(before).max(initial=0.0)
        ):
            return False
    return True


def frozen_parts(vehicle: Vehicle) -> list[str]:
    """Those of pitch, roll and height that the holonomic rows hold at every sample.

    Pitch is about the level axis across the base, roll about the level one along it."""
    d = vehicle.constrained.distribution
    held = []
    for name in ("pitch", "roll", "height"):
        kept = True
        for q in vehicle.constrained.samples[:4]:
            A = vehicle.functions.constraints(0.0, q, vehicle.theta)[0].full()[list(d.phi_rows)]
            n = pin.Quaternion(q[3:7]).toRotationMatrix().T @ vehicle.placer.normal
            # level, across the base's x axis
            lateral = np.cross(n, [1.0, 0.0, 0.0]) / max(np.hypot(n[1], n[2]), 1e-9)
            form = np.zeros(A.shape[1])
            part, direction = {"height": (0, n), "pitch": (3, lateral),
                               "roll": (3, np.cross(lateral, n))}[name]
            form[part:part + 3] = direction
            rest = form - A.T @ np.linalg.lstsq(A.T, form, rcond=1e-10)[0] if len(A) else form
            kept = kept and bool(np.linalg.norm(rest) < 1e-9)
        if kept:
            held.append(name)
    return held


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


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
    A = vehicle.functions.constraints(0.0, q, vehicle.theta)[0].full()
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
