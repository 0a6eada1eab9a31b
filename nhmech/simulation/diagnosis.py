"""Why a run could not go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..vehicle.stiffness import stiffness_in_words
from .chart import FLAT
from .named import Named

if TYPE_CHECKING:
    from .simulator import Simulator

SHOWN = 6      # speeds that a message shows, the largest ones


def diverged(simulator: Simulator, dt: float) -> str:
    """Why a step of `dt` [s] from where the simulator is gave numbers that are not finite, or that are off the
    constraints."""
    s, subject = simulator, simulator.subject
    if s._guard < FLAT and subject.constrained.guard_names:
        return fallen(s)
    speeds = dict(zip(s.primary.equations.names, s._v[s.primary.speeds].tolist()))
    largest = dict(sorted(speeds.items(), key=lambda item: -abs(item[1]))[:SHOWN])
    shown = Named.of(tuple(largest), np.array(list(largest.values())))
    known = subject.vehicle is not None and s.primary.integrator == "rk4"
    remedy = stiffness_in_words(subject.vehicle, dt) if known else None
    return (f"stopped at t = {s.t:.6g} s: the step of {dt} s gave numbers that are not finite or off the constraints; "
            f"{'the largest of the ' if len(speeds) > SHOWN else ''}speeds before it were {shown!r}. "
            f"{remedy or 'Try a smaller dt, and look at masses and efforts'}")


def fallen(simulator: Simulator) -> str:
    """Which guard is about to vanish."""
    constrained = simulator.subject.constrained
    system = constrained.system
    guards = ca.Function("guards", [system.t, system.q, system.theta], [constrained.guards])
    values = guards(simulator.t, simulator._q, simulator.subject.theta).full().ravel()
    names = constrained.guard_names or tuple(f"guard {i} vanishes" for i in range(len(values)))
    return f"stopped at t = {simulator.t:.6g} s: {names[int(np.argmin(values))]}"
