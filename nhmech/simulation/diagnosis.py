"""Why a run could not go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..compile.status import Status
from ..vehicle.remarks import massless_in_words, stiffness_in_words
from .integrators import FLAT, Step
from .named import Named

if TYPE_CHECKING:
    from .simulator import Simulator

SHOWN = 6      # speeds that a message shows, the largest ones


def failed(simulator: Simulator, dt: float, step: Step) -> str:
    """Why a step of `dt` [s] from where the simulator is came to nothing, and what to do where
    that is known."""
    remedy = _remedy(simulator, dt)
    # only an adaptive method gives up within a step
    if step.t != simulator.t + dt:
        why = ("its step became too small" if step.status is Status.TOO_SMALL
               else "the rate is not finite there")
        stopped = f"{simulator.primary.scheme.name.upper()} stopped at t = {step.t:.6g} s: {why}"
        return stopped if remedy is None else f"{stopped}. {remedy}"
    guarded = simulator._guard < FLAT and simulator.simulated.constrained.guard_names
    if step.status is Status.FALLEN or guarded:
        return fallen(simulator)
    return f"{_diverged(simulator, dt)}. {remedy or 'Try a smaller dt, and look at masses and efforts'}"


def _diverged(s: Simulator, dt: float) -> str:
    speeds = dict(zip(s.primary.equations.names, s._v[s.primary.speeds].tolist()))
    largest = dict(sorted(speeds.items(), key=lambda item: -abs(item[1]))[:SHOWN])
    shown = Named.of(tuple(largest), np.array(list(largest.values())))
    return (f"stopped at t = {s.t:.6g} s: the step of {dt} s gave numbers that are not finite or "
            f"off the constraints; {'the largest of the ' if len(speeds) > SHOWN else ''}speeds "
            f"before it were {shown!r}")


def _remedy(simulator: Simulator, dt: float) -> str | None:
    """What to do about the vehicle: the limit of a step is that of a scheme with fixed ones, that a
    joint moves no mass is every integrator's."""
    vehicle, q = simulator.simulated.vehicle, simulator._q
    # where speeds are commanded, neither plays a part
    if vehicle is None or simulator.kinematic:
        return None
    if simulator.primary.scheme.tableau is not None:
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
