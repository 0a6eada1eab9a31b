"""Ignorable coordinates of a vehicle, and components of its attitude that the contacts hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pinocchio as pin

from ..vehicle.vehicle import Vehicle

Move = Callable[[np.ndarray], np.ndarray]      # q -> q moved

SAME = 1e-9       # relative: accelerations that agree so are the same
HELD = 1e-9       # what may be left of a form outside the span of the holonomic ones
SHIFT, TURN, SPIN = 0.7, 0.9, 0.8      # [m, rad, rad] far from any symmetry of a wheel


def ignorable(vehicle: Vehicle) -> list[str]:
    """Names among x, y, yaw and angles of continuous joints on which dxi/dt does not depend."""
    return [name for name, move in _moves(vehicle) if _is_ignorable(vehicle, move)]


def frozen_parts(vehicle: Vehicle) -> list[str]:
    """The ones of pitch, roll and height that the holonomic rows hold at every sample.

    Pitch is about the level axis across the base, roll about the level one along it.
    """
    return [name for name in ("pitch", "roll", "height")
            if all(_is_held(vehicle, name, q) for q in vehicle.constrained.configurations[:4])]


def describe_symmetry(vehicle: Vehicle) -> str:
    """Coordinates on which dxi/dt does not depend, found by moving them, and coordinates that the
    contacts hold.

    For example "x, y, yaw, left_wheel_joint and right_wheel_joint are ignorable; pitch, roll and
    height are frozen".
    """
    free, held = ignorable(vehicle), frozen_parts(vehicle)
    parts = [f"{_join(free)} ignorable" if free else "nothing is ignorable"]
    return "; ".join([*parts, f"{_join(held)} frozen"] if held else parts)


def _moves(vehicle: Vehicle) -> Iterator[tuple[str, Move]]:
    t1, t2 = vehicle.ground.tangents
    turn = pin.AngleAxis(TURN, vehicle.placer.normal).toRotationMatrix()

    def shift(direction: np.ndarray) -> Move:
        return lambda q: np.concatenate([q[:3] + SHIFT * direction, q[3:]])

    def turn_about_normal(q: np.ndarray) -> np.ndarray:
        attitude = (pin.Quaternion(turn) * pin.Quaternion(q[3:7])).coeffs()
        return np.concatenate([turn @ q[:3], attitude, q[7:]])

    def spin(a: int) -> Move:
        return lambda q: pin.integrate(vehicle.model, q, SPIN * np.eye(vehicle.model.nv)[a])

    yield from (("x", shift(t1)), ("y", shift(t2)), ("yaw", turn_about_normal))
    for _, a in vehicle.algebroid.circles:
        yield vehicle.algebroid.v_names[a], spin(a)


def _is_ignorable(vehicle: Vehicle, move: Move) -> bool:
    rng, drift = np.random.default_rng(0), vehicle.equations.drift
    for q in vehicle.constrained.configurations[1:4]:
        xi = rng.normal(size=len(vehicle.speeds))
        u = rng.normal(size=vehicle.constrained.system.u.numel())
        before, after = (drift(0.0, place, xi, u, vehicle.theta)[1].full()
                         for place in (q, move(q)))
        size = max(1.0, np.abs(before).max(initial=0.0))
        if np.abs(after - before).max(initial=0.0) > SAME * size:
            return False
    return True


def _is_held(vehicle: Vehicle, name: str, q: np.ndarray) -> bool:
    """Whether the twist of the base that changes pitch, roll or height is a combination of the
    holonomic rows."""
    A = vehicle.constraint_matrix(q)[list(vehicle.constrained.distribution.phi_rows)]
    n = pin.Quaternion(q[3:7]).toRotationMatrix().T @ vehicle.placer.normal
    lateral = np.array([0.0, n[2], -n[1]])      # level, across the base's x axis
    form = np.zeros(A.shape[1])
    part, direction = {"height": (0, n), "pitch": (3, lateral),
                       "roll": (3, np.cross(lateral, n))}[name]
    form[part:part + 3] = direction
    rest = form - A.T @ np.linalg.lstsq(A.T, form, rcond=1e-10)[0]
    return bool(np.linalg.norm(rest) < HELD)


def _join(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{', '.join(names[:-1])} and {names[-1]} are"
