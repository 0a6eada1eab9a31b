"""nhmech's compiled loop from the vehicle's URDF, called and timed as the hand-written C is:
once for all steps, without a record."""

from __future__ import annotations

from time import process_time

import numpy as np

from nhmech.compile.status import Status

from .hand_c import LONG
from .nhmech_urdf import simulator


def run(motion, dt: float, duration: float) -> tuple[np.ndarray, float]:
    steps = round(duration / dt)
    made, run = _ready(motion, dt, duration)
    _checked(run(steps))
    place = made.state.q[:3].copy()
    _, run = _ready(motion, duration / LONG, duration)
    begin = process_time()
    _checked(run(LONG))
    return place, (process_time() - begin) * steps / LONG


def _ready(motion, dt: float, duration: float):
    """The simulator, and its loop with the efforts of the motion."""
    made = simulator(motion, dt, duration)
    made.inputs.ask()
    return made, made.propagator.prepare(made.atlas.primary.loop(build=True)).run


def _checked(status: int) -> None:
    if status != Status.DONE:
        raise RuntimeError("a step was refused: too coarse, or a change of chart, which "
                           "Simulator.run takes care of")
