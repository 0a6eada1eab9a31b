"""Joints that follow others, joints that move freely, and configurations over the whole range of a
vehicle: joints at any angle, the base at any lean."""

from __future__ import annotations

from contextlib import suppress
from math import cos, pi, sin

import numpy as np

from ..errors import NhmechError
from ..once import once
from ..urdf.description import NO_LIMITS
from .couplings import Steering
from .vehicle import Vehicle

COUNT = 500      # charts made for so many serve all but one in a thousand configurations
NEAR = -3, 0    # range of log10 of (distance from a wheel to the centre of rotation) / length
LEAN = 1.3       # [rad] at which a wheel nearly lies down


def followers(vehicle: Vehicle) -> set[str]:
    """Joints that follow others by mimic. (The leader stops where the first of its followers
    would.)"""
    found = {mimic.joint for mimic in vehicle.description.mimic}
    if vehicle.steering.coupled:
        pair = vehicle.steering.pair()
        found |= {axle.steering for axle in vehicle.steering.steered if axle not in pair}
    return found


def passive_joints(vehicle: Vehicle) -> list[str]:
    """Moving joints that are neither driven nor followers."""
    led = followers(vehicle)
    return [name for name in vehicle.joint_names if name not in vehicle.driven and name not in led]


@once
def far_configurations(vehicle: Vehicle, count: int = COUNT) -> list[np.ndarray]:
    """Up to `count` configurations (nq,) over the whole range of a vehicle: joints that do not roll
    between their limits, and roll and pitch if they are free. Deterministic.

    The samples at which the equations are chosen are nearer to usual configurations.
    """
    rng, found = np.random.default_rng(0), []
    axles = vehicle.steering.steered if vehicle.steering.coupled else ()
    led = followers(vehicle).difference(axle.steering for axle in axles)
    rolling = vehicle.description.rolling
    joints = [name for name in vehicle.joint_names if name not in led and name not in rolling]
    limits = {name: vehicle.limits.get(name, NO_LIMITS) for name in joints}
    spans = {name: (max(limit.lower, -pi), min(limit.upper, pi)) for name, limit in limits.items()}
    lean = [LEAN if name in vehicle.speeds else 0.0 for name in ("roll_rate", "pitch_rate")]
    for k in range(count if joints or any(lean) else 0):
        roll, pitch = rng.uniform(-1, 1, 2) * lean
        positions = {name: rng.uniform(*span) for name, span in spans.items()}
        with suppress(NhmechError):       # axles that do not meet, or no way to stand
            if axles:
                positions |= _steer(vehicle.steering, positions, rng, bool(k % 2))
            found.append(vehicle.configuration((0.0, 0.0, 0.0, roll, pitch, 0.0), positions))
    return found


def _steer(steering: Steering, angles: dict[str, float], rng: np.random.Generator,
           turns: bool) -> dict[str, float]:
    """Angles of all steering joints: two random ones determine the others; or the vehicle turns
    about a point near one of its wheels, whose steering angle then changes quickly."""
    first, *others = rng.permutation(np.array(steering.steered, dtype=object))
    if turns and not steering.binding:
        # its yaw is 1 or -1, for `straight` and `across` are unit and a quarter turn apart
        about_wheel, angle = np.cross(first.straight, first.across), rng.uniform(-pi, pi)
        twist = about_wheel + 10 ** rng.uniform(*NEAR) * np.array([cos(angle), sin(angle), 0])
        return {axle.steering: axle.angle_for(twist) for axle in steering.steered}
    leaders = [axle.steering for axle in (first, *others[:1])]
    return steering.followers({name: angles[name] for name in leaders},
                              steering.pair(leaders=leaders))
