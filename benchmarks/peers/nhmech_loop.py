"""nhmech's compiled loop from the vehicle's URDF, called and timed as the hand-written C is:
once for all steps, without a record."""

from __future__ import annotations

import numpy as np
from common.timing import Spent

from nhmech.compile.status import Status

from .hand_c import LONG
from .nhmech_urdf import simulator


def run(motion, dt: float, duration: float) -> tuple[np.ndarray, Spent]:
    steps = round(duration / dt)
    made, run = _ready(motion, dt, duration)
    _checked(run(steps))
    place = made.state.q[:3].copy()
    _, run = _ready(motion, duration / LONG, duration)
    with Spent(LONG / steps) as took:
        _checked(run(LONG))
    return place, took


def _ready(motion, dt: float, duration: float):
    """The simulator, and its loop with the efforts of the motion."""
    made = simulator(motion, dt, duration)
    made.inputs.update()
    return made, made.propagator.prepare(made.atlas.primary.loop(build=True)).run


def _checked(status: int) -> None:
    if status != Status.DONE:
        raise RuntimeError("a step was refused: too coarse, or a change of chart, which "
                           "Simulator.run takes care of")
