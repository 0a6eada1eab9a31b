"""The step of a batch, and who runs it."""

from __future__ import annotations

import logging
import weakref
from dataclasses import dataclass

import casadi as ca

from ..compile.lanes import Lanes, compiled_lanes
from ..compile.mapped import Mapped
from ..errors import CompileError
from ..mechanics.equations import Equations
from .flat import FlatState
from .integrators import projection_function, rate_function
from .subject import Subject

INLINE = 3000      # operations up to which the whole step is written as one expression, which is faster than calls and slower to compile


@dataclass(frozen=True)
class Stepper:
    """A system with its step ready to run on many cases; `cost` in instructions of one step."""

    subject: Subject
    equations: Equations
    flat: FlatState
    step: ca.Function
    cost: int
    runner: Lanes | Mapped

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Of the columns of x ("q", then "xi"), of u and of theta."""
        system = self.subject.constrained.system
        return {"q": self.flat.names(()), "xi": self.equations.names, "u": system.u_names, "theta": system.theta_names}


def lane_step(equations: Equations, flat: FlatState) -> tuple[ca.Function, int]:
    """(t, x, u, theta, dt) -> x, health, and its cost: the step `integrators.rk4`, without the q and v that a run records."""
    rate, project = rate_function(equations, flat), projection_function(equations, flat)
    cost = 4 * rate.n_instructions() + project.n_instructions()
    inline = cost <= INLINE
    symbol = ca.SX if inline else ca.MX
    t, dt, x = symbol.sym("t"), symbol.sym("dt"), symbol.sym("x", flat.nx)
    u, theta = symbol.sym("u", rate.size1_in(2)), symbol.sym("theta", rate.size1_in(3))
    k1 = rate(t, x, u, theta)
    k2 = rate(t + dt / 2, x + dt / 2 * k1, u, theta)
    k3 = rate(t + dt / 2, x + dt / 2 * k2, u, theta)
    k4 = rate(t + dt, x + dt * k3, u, theta)
    x_next, _, _, health = project(t + dt, x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), theta)
    return ca.Function("lane_step", [t, x, u, theta, dt], [x_next, health], {"cse": True} if inline else {}), cost


def stepper(constrained) -> Stepper:
    """Made once for each system, and kept while the system lives."""
    key = id(constrained)
    if key not in _kept:
        subject = Subject.of(constrained)
        flat = FlatState(subject.constrained.system.algebroid, subject.equations.frame.nxi)
        step, cost = lane_step(subject.equations, flat)
        _kept[key] = Stepper(subject, subject.equations, flat, step, cost, _runner(step))
        weakref.finalize(constrained, _kept.pop, key, None)
    return _kept[key]


_kept: dict[int, Stepper] = {}


def _runner(step: ca.Function) -> Lanes | Mapped:
    log = logging.getLogger("nhmech")
    try:
        lanes = compiled_lanes(step)
        if lanes is not None:
            return lanes
        log.warning("no C compiler found: batches run in CasADi's virtual machine, about a hundred times slower")
    except CompileError as error:
        log.warning("no C++ on vectors: batches run in CasADi's virtual machine, about a hundred times slower. %s", str(error)[:300])
    return Mapped(step)
