"""nhmech: wheels that slide by set-valued Coulomb friction."""

from __future__ import annotations

from functools import cache

import numpy as np
from common.timing import Spent

import nhmech

from .motion import Sliding


@cache
def _vehicle(robot: str, locked: bool) -> nhmech.Vehicle:
    vehicle = nhmech.load(nhmech.urdf_path(robot))
    if not locked:
        return vehicle
    # brakes that hold, and a steering that is held: as good as none turning
    return vehicle.with_parameters({f"{joint}.damping": 1e10 for joint in vehicle.joint_names})


def run(motion: Sliding, dt: float) -> tuple[np.ndarray, Spent]:
    """x, y, yaw at the end, and what the motion took."""
    vehicle = _vehicle(motion.robot, motion.locked)
    given = dict(zip(motion.wheels, motion.torques))
    torques = np.array([given.get(name, 0.0) for name in vehicle.driven])
    simulator = nhmech.Simulator(vehicle, lambda t, state: torques, dt=dt,
                                 control_period=motion.duration, contact="coulomb", mu=motion.mu)
    vx, vy, yaw = motion.twist
    v = {"forward_speed": vx, "lateral_speed": vy, "yaw_rate": yaw}
    if not motion.locked:
        v |= dict(zip(motion.wheels, motion.rates))
    start = {"v": v} if any(v.values()) else {}
    simulator.reset(**start)
    simulator.run(2 * dt)                      # what is compiled at first
    simulator.reset(**start)
    with Spent() as took:
        run = simulator.run(motion.duration)
    x, y, _, _, _, qz, qw = run.q[-1, :7]
    return np.array([x, y, 2 * np.arctan2(qz, qw)]), took
