"""The unicycle of a vehicle: if ideal rolling prevents sideways motion, some point of the base only
moves along a heading fixed to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..errors import ModelError
from ..simulation.state import base_pose
from ..urdf.description import NO_LIMITS
from ..vehicle.couplings import Axle, level_twists
from ..vehicle.friction import as_commanded
from ..vehicle.vehicle import Vehicle
from .path import Pose, Poses

SAME = 1e-9        # attitudes nearer than this are the same
KEPT = 1e-6        # singular values below this, of the largest, are zero


@dataclass(frozen=True)
class Unicycle:
    """The point P of the base that only moves along a heading fixed to it."""

    # p_BP in the ground plane, from the base's origin along its heading and to the left (2,) [m]
    offset: tuple[float, float]
    yaw: float  # heading of P's motion from that of the base [rad]
    free: bool  # the base moves in every direction, and P is its origin
    # [m] from P to the steered axle farthest ahead; the vehicle's length where none is
    wheelbase: float
    # [m] that the vehicle is measured by: that of its wheels about their middle, or the distance
    # from P to a steered axle, ahead or behind, where that is less, so that trailers do not count
    length: float
    # [m] smallest radius of P's path at the steering's limits; 0 where it can turn on the spot
    turning_radius: float

    def pose(self, base: Poses) -> Poses:
        """x, y and heading of P from those of the base; numbers, or arrays of them."""
        x, y, yaw = base
        c, s = np.cos(yaw), np.sin(yaw)
        return (x + c * self.offset[0] - s * self.offset[1],
                y + s * self.offset[0] + c * self.offset[1], yaw + self.yaw)

    def base(self, pose: Pose) -> Pose:
        """x, y and yaw of the base from those of P."""
        yaw = pose[2] - self.yaw
        c, s = np.cos(yaw), np.sin(yaw)
        return (pose[0] - c * self.offset[0] + s * self.offset[1],
                pose[1] - s * self.offset[0] - c * self.offset[1], yaw)

    def twist(self, speed: float, turn: float) -> np.ndarray:
        """(forward, lateral, yaw rate) of the base when P moves with `speed` [m/s] ahead and `turn`
        [rad/s]."""
        return np.array([speed * np.cos(self.yaw) + turn * self.offset[1],
                         speed * np.sin(self.yaw) - turn * self.offset[0], turn])

    @property
    def ahead(self) -> np.ndarray:
        """Row (3,) by which the twist of the base gives the speed of P ahead [m/s]."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        return np.array([c, s, s * self.offset[0] - c * self.offset[1]])


@lru_cache(maxsize=64)
def unicycle(vehicle: Vehicle) -> Unicycle:
    """Reads P off the distribution.

    The vehicle is a unicycle where `barred_twists` has one row w: w . twist = 0 says that P does
    not move sideways. Without one the base is free.
    """
    vehicle = as_commanded(vehicle)
    length = vehicle.steering.length
    barred = barred_twists(vehicle)
    if len(barred) > 1 or not all(np.linalg.norm(row[:2]) > KEPT for row in barred):
        raise ModelError(f"the base of {vehicle.name!r} cannot both drive forward and turn, so it "
                         "cannot follow a path")
    if not len(barred):
        return Unicycle((0.0, 0.0), 0.0, True, length, length, 0.0)
    across = barred[0] / np.linalg.norm(barred[0, :2])
    if across[1] < -1e-9 or (abs(across[1]) <= 1e-9 and across[0] > 0):
        across = -across
    # forward where that is defined, else to the left
    along = np.array([across[1], -across[0]])
    ahead_of, left_of = _clean(along * across[2] * length, length)
    yaw = float(np.arctan2(*_clean(along[::-1], 1.0)))
    ahead = [(along @ _pivot(axle) - across[2]) * length for axle in vehicle.steering.steered]
    wheelbase, reach = (size if size >= KEPT * length else length for size in (
        float(max(ahead, default=0.0)), float(max(map(abs, ahead), default=0.0))))
    point = Unicycle((float(ahead_of), float(left_of)), yaw, False, wheelbase, min(reach, length),
                     0.0)
    return replace(point, turning_radius=_turning_radius(vehicle, point))


def _pivot(axle: Axle) -> np.ndarray:
    """The point (2,) about which a joint steers an axle, in units of the rows' length: what turns
    about it alone is barred at no angle."""
    forward, lateral, yaw = np.cross(axle.straight, axle.across)
    return np.array([-lateral, forward]) / yaw


@lru_cache(maxsize=64)
def barred_twists(vehicle: Vehicle) -> np.ndarray:
    """The common annihilators of the base's planar motions, orthonormal rows (k, 3).

    w . (forward, lateral, yaw rate * `steering.length`) = 0 for every w and all twists that the
    kernel of A holds, over all poses at which the vehicle chose its rows.
    """
    samples, length = vehicle.constrained.configurations, vehicle.steering.length
    upright = _normal(vehicle, vehicle.configuration())
    gram = np.zeros((3, 3))
    for q in samples:
        if np.abs(_normal(vehicle, q) - upright).max() > SAME:
            continue                                            # a pose that leans differently
        planar, tilting = np.zeros((3, vehicle.algebroid.nv)), np.zeros((2, vehicle.algebroid.nv))
        planar[:, :6] = level_twists(_normal(vehicle, q)).T
        tilting[:, 3:6] = planar[:2, :3]
        A = vehicle.functions.rows(0.0, q, vehicle.theta)[0]
        allowed = planar @ _kernel(np.vstack([A, tilting * length])) * [[1], [1], [length]]
        gram += allowed @ allowed.T
    values, vectors = np.linalg.eigh(gram)
    return vectors.T[values <= KEPT * values[-1]]


def goes_aslant(vehicle: Vehicle) -> bool:
    """Whether the base moves in every direction and never turns, as linked steering may have it."""
    barred = barred_twists(vehicle)
    return len(barred) == 1 and float(np.linalg.norm(barred[0, :2])) < KEPT


def _turning_radius(vehicle: Vehicle, point: Unicycle) -> float:
    """The larger of the turning radii to the left and to the right."""
    steering = vehicle.steering
    if len(steering.binding) != 1 or not steering.steered:
        return 0.0
    pair = steering.pair()
    leader = pair[1].steering
    limit = vehicle.limits.get(leader, NO_LIMITS)
    radii = [0.0]
    for angle in (limit.lower, limit.upper):
        if abs(angle) < np.pi / 2:
            twist = steering.twist({leader: angle}, pair) / (1, 1, steering.length)
            radii.append(abs(point.ahead @ twist / twist[2]) if twist[2] else np.inf)
    return float(max(radii))


def _normal(vehicle: Vehicle, q: np.ndarray) -> np.ndarray:
    """n in the base's frame."""
    return base_pose(q)[:3, :3].T @ vehicle.placer.normal


def _clean(vector: np.ndarray, scale: float) -> np.ndarray:
    """The numbers, with rounding errors of zeros removed."""
    return np.where(np.abs(vector) < 1e-12 * scale, 0.0, vector)


def _kernel(A: np.ndarray) -> np.ndarray:
    _, s, vt = np.linalg.svd(A)
    return vt[int(np.sum(s > KEPT * s.max())):].T
