"""The simulator's step in short functions of scalar expressions, from which another language can
assemble it."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..mechanics.equations import Equations
from ..mechanics.system import HasConstrained
from ..simulation.atlas import Atlas
from ..simulation.bounds import Bounds
from ..simulation.integration.integrators import (
    acceptance_function,
    projection_function,
    rate_function,
)
from ..simulation.integration.schemes import RK4, SCHEMES, Tableau
from ..simulation.simulated import Simulated
from ..simulation.state_vector import StateVector

MOST_CHARTS = 6


@dataclass(frozen=True, eq=False)
class ChartParts:
    """The functions that depend on the choice of independent speeds."""

    equations: Equations  # the equations of motion in these speeds
    speeds: tuple[int, ...]  # indices of the independent speeds in v
    rate: ca.Function  # (t, x, u, theta) -> dx/dt
    project: ca.Function  # (t, x, theta) -> x on the constraints, q, v, health
    # (t, x, theta) -> margins of the bounds; None if there are none
    margins: ca.Function | None


@dataclass(frozen=True, eq=False)
class StepParts:
    """A step of the Runge-Kutta scheme, in all charts that a system needs.

    Each stage gives the point at which the next rate is evaluated; the last one gives the end of
    the step, which is projected, then accepted or refused.
    """

    simulated: Simulated  # the simulated system
    # (t, x, dt, rates so far) -> t, x at which the next rate is evaluated; after the last rate, the
    # end of the step
    stages: tuple[ca.Function, ...]
    accept: ca.Function  # (x, health, side, guard) -> `Status`
    charts: tuple[ChartParts, ...]  # the first one has the system's own independent speeds
    bounds: Bounds  # the bounds of the system

    @property
    def state_vector(self) -> StateVector:
        """Layout of x; its configuration part is the same in all charts."""
        return StateVector.of(self.charts[0].equations)


def step_parts(constrained: HasConstrained, most: int = MOST_CHARTS) -> StepParts:
    """The step of a vehicle or a `ConstrainedSystem`, as `Simulator` takes it with "rk4", in at
    most `most` charts. They are chosen so that each sample of a system, or each of the
    `far_configurations` of a vehicle, has a good one."""
    simulated = Simulated.of(constrained)
    bounds = Bounds.of(simulated)
    atlas = Atlas(simulated, SCHEMES["rk4"], False, bounds)
    atlas.cover_range(most)
    nx = atlas.primary.state_vector.nx
    charts = tuple(ChartParts(chart.equations, tuple(chart.speeds),
                              rate_function(chart.equations), projection_function(chart.equations),
                              bounds.along(chart.equations)) for chart in atlas.charts)
    return StepParts(simulated, stage_functions(RK4, nx), acceptance_function(nx), charts, bounds)


def stage_functions(tableau: Tableau, nx: int) -> tuple[ca.Function, ...]:
    """The stages of `StepParts`, from a tableau."""
    t, x, dt = ca.SX.sym("t"), ca.SX.sym("x", nx), ca.SX.sym("dt")
    rates: list[ca.SX] = []
    found: list[ca.Function] = []

    def ask(at: ca.SX, there: ca.SX) -> ca.SX:
        found.append(ca.Function("nhmech_stage", [t, x, dt, *rates], [at, there]))
        rates.append(ca.SX.sym("rate", nx))
        return rates[-1]

    ask(t + dt, tableau.advance(ask, t, x, dt))
    return tuple(found)
