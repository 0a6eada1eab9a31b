"""Limits of the twist for driving a vehicle by hand, and the motions that it cannot make."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..analysis.mobility import mobility
from ..errors import ModelError
from ..simulation.simulator import Simulator
from ..vehicle.friction import as_rolling
from ..vehicle.vehicle import Vehicle
from .demo import easy_speed
from .speed_limits import SpeedLimits
from .twist import TwistDrive
from .unicycle import goes_aslant, unicycle

SLOW = 1e-3                 # of an easy speed: at it no joint is at its limit
GROWTH, DECAY = 0.4, 0.2    # [s] from rest to the limit of an easy speed, and back, at least
# of gravity: how a bus speeds up, brakes and turns; one axle of two holds that on a dry road, with
# trailers behind, and when it brakes in a bend
GENTLE, FIRM, ACROSS = 0.15, 0.2, 0.3

Twist = tuple[float, float, float]


class TwistLimits(NamedTuple):
    """Limits of each component of a commanded twist."""

    forward: SpeedLimits = SpeedLimits()
    lateral: SpeedLimits = SpeedLimits()
    yaw: SpeedLimits = SpeedLimits()

    def clip(self, wanted: Twist, before: Twist, passed: float, earlier: Twist) -> Twist:
        """The twist that is commanded, `passed` [s] after `before` was, and `earlier` as long
        before that."""
        x, y, yaw = (limit.clip(to, at, passed, at - was)
                     for limit, to, at, was in zip(self, wanted, before, earlier))
        return x, y, yaw


NO_LIMITS = TwistLimits()


def easy_limits(vehicle: Vehicle, speed: float | None = None,
                yaw_rate: float | None = None) -> TwistLimits:
    """Limits of a twist for driving by hand [m/s], [rad/s].

    By default 1.5 lengths of the vehicle per second, and that speed over its length, both within
    the limits of its joints and so gentle that its wheels hold on a dry floor. It speeds up and
    brakes as gently, and turns no faster than its smallest radius allows at that speed.
    """
    length = vehicle.steering.length
    rates = {axis: _fastest(vehicle, axis) for axis in (0, 2)}
    speed = min(easy_speed(vehicle), rates[0]) if speed is None else speed
    weight = float(np.linalg.norm(vehicle.model.gravity.linear)) or math.inf
    if yaw_rate is None:
        yaw_rate = min(speed / length, rates[2], ACROSS * weight / speed if speed else math.inf)
    radius = turning_radius(vehicle)
    yaw_rate = min(yaw_rate, speed / radius) if 0 < radius < math.inf else yaw_rate
    growth, decay = (max(shortest, speed / (part * weight))
                     for shortest, part in ((GROWTH, GENTLE), (DECAY, FIRM)))
    ahead, turn = (SpeedLimits(most, max_acceleration=most / growth, max_deceleration=-most / decay,
                               max_deceleration_reverse=most / decay)
                   for most in (speed, yaw_rate))
    return TwistLimits(ahead, ahead, turn)


def coasts(vehicle: Vehicle) -> bool:
    """Whether no twist can drive the vehicle: it has no motor, or falls over sideways."""
    return not vehicle.driven or "roll_rate" in vehicle.speeds


def moves_sideways(vehicle: Vehicle) -> bool:
    """Whether the vehicle can follow a lateral speed."""
    rolling = as_rolling(vehicle)
    return mobility(rolling).manoeuvrability == 3 or goes_aslant(rolling)


def turning_radius(vehicle: Vehicle) -> float:
    """The smallest [m]; 0 for a vehicle that can turn on the spot, infinite for one that follows no
    path, since its wheels let it only go straight or only turn."""
    try:
        return unicycle(as_rolling(vehicle)).turning_radius
    except ModelError:
        return math.inf


def _fastest(vehicle: Vehicle, axis: int) -> float:
    """The size [m/s or rad/s] of the twist along one axis at which, with the wheels straight, the
    first driven joint comes to its velocity limit; infinite if there is none."""
    if coasts(vehicle) or vehicle.steering.length <= 0:
        return math.inf
    twist = np.zeros(3)
    twist[axis] = SLOW * easy_speed(vehicle)
    wheels = TwistDrive(vehicle, twist)(0.0, Simulator(vehicle).state)[1]
    use = max((abs(rate) / vehicle.limits[name].velocity for name, rate in wheels.values.items()),
              default=0.0)
    return twist[axis] / use if use > 0 else math.inf
