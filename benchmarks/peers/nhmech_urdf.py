"""nhmech from the vehicle's URDF: `Simulator.run`, all of it inside the clock but the start, or
calls of `Simulator.step`."""

from __future__ import annotations

from functools import cache

import numpy as np
from common.timing import Spent

import nhmech


@cache
def vehicle(name: str):
    return nhmech.load(nhmech.urdf_path(name))


def simulator(motion, dt: float, duration: float, control=None) -> nhmech.Simulator:
    """At the start of the motion, its loop compiled; asks a controller at each step, else once."""
    made = _simulator(motion, dt, duration, control)
    made.atlas.primary.loop(build=True)
    _start(made, motion)
    return made


@cache
def _simulator(motion, dt: float, duration: float, control) -> nhmech.Simulator:
    robot = vehicle(motion.robot)
    if control is not None:
        return nhmech.Simulator(robot, lambda t, state: control(t), dt=dt)
    torques = np.array(motion.torques) if robot.driven else None
    return nhmech.Simulator(robot, None if torques is None else (lambda t, state: torques), dt=dt,
                            control_period=round(duration / dt) * dt)


def _start(simulator: nhmech.Simulator, motion) -> None:
    if motion.robot == "differential_drive":
        simulator.reset()
        return
    lean, (u1, u2, u3) = motion.lean, motion.speeds
    sine, cosine = np.sin(lean), np.cos(lean)
    spin = {"roll_rate": u1, "spin_joint": u2 - u3 * sine / cosine, "yaw_rate": u3}
    simulator.reset((0.0, -motion.radius * sine, motion.radius, lean, 0.0, 0.0), xi=spin)


def run(motion, dt: float, duration: float, control=None) -> tuple[np.ndarray, Spent]:
    made = simulator(motion, dt, duration, control)
    steps = round(duration / dt)
    with Spent() as took:
        trajectory = made.run(duration, every=steps)
    return trajectory.q[-1, :3], took


def step(motion, dt: float, duration: float, control) -> tuple[np.ndarray, Spent]:
    """Likewise, by as many calls of `step`."""
    made = simulator(motion, dt, duration, control)
    steps = round(duration / dt)
    with Spent() as took:
        for _ in range(steps):
            state = made.step()
    return state.q[:3].copy(), took
