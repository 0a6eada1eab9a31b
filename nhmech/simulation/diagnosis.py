"""Why a run could not go on."""

from __future__ import annotations

from math import isfinite

import casadi as ca
import numpy as np

from ..compile.status import Status
from ..vehicle.stiffness import describe_massless, describe_stiffness
from .atlas import Atlas
from .integration.integrators import FAR, FLAT, Step
from .moment import Moment
from .simulated import Simulated
from .state import Named

SHOWN = 6      # a message shows at most so many speeds, the largest ones
# messages by the status of a step
ENDINGS = {
    Status.COARSE: "was so long that its result has no correct digit",
    Status.UNSOLVED: "was so long that the equations of the implicit method were not solved",
    Status.WORKED: "began where forces do work, and the integrator conserves energy",
}
REMEDIES = {Status.WORKED: "Take integrator='gauss' (--integrator gauss)"}


def explain_failure(simulated: Simulated, atlas: Atlas, moment: Moment, dt: float,
                    step: Step) -> str:
    """Why a step of `dt` [s] from this moment failed, and a remedy where one is known."""
    remedy = _remedy(simulated, atlas, moment, dt)
    # only an adaptive method gives up within a step
    if step.t != moment.t + dt:
        why = ("its step became too small" if step.status is Status.TOO_SMALL
               else "the rate is not finite there")
        stopped = f"{atlas.primary.scheme.name.upper()} stopped at t = {step.t:.6g} s: {why}"
        return stopped if remedy is None else f"{stopped}. {remedy}"
    guarded = moment.guard < FLAT and simulated.constrained.guard_names
    if step.status is Status.FALLEN or guarded:
        return explain_fall(simulated, moment)
    remedy = REMEDIES.get(step.status, remedy) or "Try a smaller dt, and check masses and efforts"
    what = ENDINGS.get(step.status,
                       f"gave numbers that are not finite, beyond {FAR:g} or off the constraints")
    return f"{_divergence(atlas, moment, f'the step of {dt} s {what}')}. {remedy}"


def explain_fall(simulated: Simulated, moment: Moment) -> str:
    """The message that a guard is about to vanish."""
    constrained = simulated.constrained
    system = constrained.system
    guards = ca.Function("guards", [system.t, system.q, system.theta], [constrained.guards])
    values = guards(moment.t, moment.q, simulated.theta).full().ravel()
    names = constrained.guard_names or tuple(f"guard {i} vanishes" for i in range(len(values)))
    return f"stopped at t = {moment.t:.6g} s: {names[int(np.argmin(values))]}"


def _divergence(atlas: Atlas, moment: Moment, what: str) -> str:
    primary = atlas.primary
    speeds = dict(zip(primary.equations.names, moment.v[primary.speeds].tolist()))
    largest = sorted(speeds, key=lambda name: -abs(speeds[name]))[:SHOWN]
    shown = Named.of(tuple(largest), np.array([speeds[name] for name in largest]))
    which = "the largest of the " if len(speeds) > SHOWN else ""
    return f"stopped at t = {moment.t:.6g} s: {what}; {which}speeds before it were {shown!r}"


def _remedy(simulated: Simulated, atlas: Atlas, moment: Moment, dt: float) -> str | None:
    """A remedy, if one is known. Only schemes with fixed steps limit their length; a joint that
    moves no mass is a difficulty for every integrator."""
    vehicle = simulated.vehicle
    # neither matters if speeds are commanded
    if vehicle is None or atlas.primary.kinematic:
        return None
    scheme = atlas.primary.scheme
    if isfinite(scheme.real_limit):
        return describe_stiffness(vehicle, dt, moment.q, scheme.name, scheme.real_limit)
    return describe_massless(vehicle, moment.q)
