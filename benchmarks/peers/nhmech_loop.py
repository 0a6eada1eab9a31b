"""nhmech's compiled loop from the vehicle's URDF, called and timed as the hand-written C is: once for all steps, without a record."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from nhmech.compile.loop import DONE

from .hand_c import LONG
from .nhmech_urdf import simulator

CHOSEN = {"differential_drive": "the loop that Simulator.run calls", "disc": "the loop that Simulator.run calls"}


def run(motion, dt: float, duration: float) -> tuple[np.ndarray, float]:
    made = simulator(motion, dt, duration)
    made._control()
    turns = made._ready(made.primary.loop(build=True))
    steps = round(duration / dt)
    place = _advanced(turns, made._u, steps)
    fine = simulator(motion, duration / LONG, duration)
    fine._control()
    turns = fine._ready(fine.primary.loop(build=True))
    begin = perf_counter()
    _advanced(turns, fine._u, LONG)
    return place, (perf_counter() - begin) * steps / LONG


def _advanced(turns, u: np.ndarray, steps: int) -> np.ndarray:
    if turns.advance(0.0, 0, u, steps)[0] != DONE:
        raise RuntimeError("a step was refused: too coarse, or a change of chart, which Simulator.run takes care of")
    return turns.now.q[:3].copy()
