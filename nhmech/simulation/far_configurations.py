"""Configurations that a long run may come to: joints anywhere, a lean that ends in a fall."""

from __future__ import annotations

from contextlib import suppress
from math import pi

import numpy as np

from ..errors import NhmechError
from ..vehicle.vehicle import Vehicle
from .bounds import followers

COUNT = 60
LEAN = 1.3       # [rad] at which a wheel nearly lies down


def far_configurations(vehicle: Vehicle, count: int = COUNT) -> list[np.ndarray]:
    """Up to so many configurations (nq,) all over the range of a vehicle: joints that do not roll
    anywhere between their limits, roll and pitch where they are free. The same ones each time.

    The samples at which the equations are chosen stay where vehicles mostly are; these do not.
    """
    rng, found = np.random.default_rng(0), []
    led, rolling = followers(vehicle), vehicle.description.rolling
    joints = [name for name in vehicle.joint_names if name not in led and name not in rolling]
    limits = {name: vehicle.limits.get(name) for name in joints}
    spans = {name: (-pi, pi) if limit is None else (max(limit.lower, -pi), min(limit.upper, pi))
             for name, limit in limits.items()}
    lean = [LEAN if name in vehicle.speeds else 0.0 for name in ("roll_rate", "pitch_rate")]
    for _ in range(count if joints or any(lean) else 0):
        roll, pitch = rng.uniform(-1, 1, 2) * lean
        positions = {name: rng.uniform(*span) for name, span in spans.items()}
        with suppress(NhmechError):       # angles that do not meet, or no way to stand
            found.append(vehicle.configuration((0.0, 0.0, 0.0, roll, pitch, 0.0), positions))
    return found
