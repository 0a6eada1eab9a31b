"""Configurations that a long run may come to: joints anywhere, a lean that ends in a fall."""

from __future__ import annotations

from contextlib import suppress
from math import cos, pi, sin

import numpy as np

from ..errors import NhmechError
from ..vehicle.couplings import Steering
from ..vehicle.vehicle import Vehicle
from .bounds import followers
from .once import once

COUNT = 500      # less than one in a thousand lies where no chart serves that these ask for
NEAR = -3, 0    # powers of ten of the vehicle's length, from a wheel to where it turns about
LEAN = 1.3       # [rad] at which a wheel nearly lies down


@once
def far_configurations(vehicle: Vehicle, count: int = COUNT) -> list[np.ndarray]:
    """Up to so many configurations (nq,) all over the range of a vehicle: joints that do not roll
    anywhere between their limits, roll and pitch where they are free. The same ones each time.

    The samples at which the equations are chosen stay where vehicles mostly are; these do not.
    """
    rng, found = np.random.default_rng(0), []
    axles = vehicle.steering.steered if vehicle.steering.coupled else ()
    led = followers(vehicle).difference(axle.steering for axle in axles)
    rolling = vehicle.description.rolling
    joints = [name for name in vehicle.joint_names if name not in led and name not in rolling]
    limits = {name: vehicle.limits.get(name) for name in joints}
    spans = {name: (-pi, pi) if limit is None else (max(limit.lower, -pi), min(limit.upper, pi))
             for name, limit in limits.items()}
    lean = [LEAN if name in vehicle.speeds else 0.0 for name in ("roll_rate", "pitch_rate")]
    for k in range(count if joints or any(lean) else 0):
        roll, pitch = rng.uniform(-1, 1, 2) * lean
        positions = {name: rng.uniform(*span) for name, span in spans.items()}
        with suppress(NhmechError):       # angles that do not meet, or no way to stand
            if axles:
                positions |= _steer(vehicle.steering, positions, rng, bool(k % 2))
            found.append(vehicle.configuration((0.0, 0.0, 0.0, roll, pitch, 0.0), positions))
    return found


def _steer(steering: Steering, angles: dict[str, float], rng: np.random.Generator,
           turns: bool) -> dict[str, float]:
    """Angles of all steering joints: any two of them lead; or the vehicle turns about a place near
    one of its wheels, where that one turns quickly and the others hardly do."""
    first, *others = rng.permutation(np.array(steering.steered, dtype=object))
    if turns and not steering.binding:
        twist, angle = np.cross(first.straight, first.across), rng.uniform(-pi, pi)
        twist = twist / twist[2] + 10 ** rng.uniform(*NEAR) * np.array([cos(angle), sin(angle), 0])
        return {axle.steering: axle.angle_for(twist) for axle in steering.steered}
    leaders = [axle.steering for axle in (first, *others[:1])]
    return steering.followers({name: angles[name] for name in leaders},
                              steering.pair(leaders=leaders))
