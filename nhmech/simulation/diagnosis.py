"""Why a run could not go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..vehicle.remarks import massless_in_words, stiffness_in_words
from .chart import FLAT
from .named import Named

if TYPE_CHECKING:
    from .simulator import Simulator

SHOWN = 6      # speeds that a message shows, the largest ones


def diverged(simulator: Simulator, dt: float) -> str:
    """Why a step of `dt` [s] from where the simulator is was not finite, or ended off the
    constraints."""
    s, simulated = simulator, simulator.simulated
    if s._guard < FLAT and simulated.constrained.guard_names:
        return fallen(s)
    speeds = dict(zip(s.primary.equations.names, s._v[s.primary.speeds].tolist()))
    largest = dict(sorted(speeds.items(), key=lambda item: -abs(item[1]))[:SHOWN])
    shown = Named.of(tuple(largest), np.array(list(largest.values())))
    return (f"stopped at t = {s.t:.6g} s: the step of {dt} s gave numbers that are not finite or "
            f"off the constraints; {'the largest of the ' if len(speeds) > SHOWN else ''}speeds "
            f"before it were {shown!r}. "
            f"{_remedy(s, dt) or 'Try a smaller dt, and look at masses and efforts'}")


def given_up(simulator: Simulator, dt: float, error: Exception) -> str:
    """What the integrator said when it gave up a step of `dt` [s], and what to do where that is
    known."""
    remedy = _remedy(simulator, dt)
    return f"{error}" if remedy is None else f"{error}. {remedy}"


def _remedy(simulator: Simulator, dt: float) -> str | None:
    """What to do about the vehicle; the limit of a step is rk4's, that a joint moves no mass is
    every integrator's."""
    vehicle, q = simulator.simulated.vehicle, simulator._q
    # where speeds are commanded, neither plays a part
    if vehicle is None or simulator.kinematic:
        return None
    if simulator.primary.integrator == "rk4":
        return stiffness_in_words(vehicle, dt, q)
    return massless_in_words(vehicle, q)


def fallen(simulator: Simulator) -> str:
    """Which guard is about to vanish."""
    constrained = simulator.simulated.constrained
    system = constrained.system
    guards = ca.Function("guards", [system.t, system.q, system.theta], [constrained.guards])
    values = guards(simulator.t, simulator._q, simulator.simulated.theta).full().ravel()
    names = constrained.guard_names or tuple(f"guard {i} vanishes" for i in range(len(values)))
    return f"stopped at t = {simulator.t:.6g} s: {names[int(np.argmin(values))]}"
