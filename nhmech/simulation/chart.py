"""One choice of rows and speeds, ready to step; a run changes charts where a choice goes bad."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..compile.adaptive import Adaptive, compiled_adaptive
from ..compile.buffered import Buffered
from ..compile.loop import Loop, compiled_loop
from ..mechanics.equations import Equations
from .integrators import (
    Step,
    dop853,
    free_rk4_function,
    projection_function,
    rate_function,
    reading_function,
    rk4,
    rk4_function,
)
from .inverse_dynamics import InverseDynamics
from .state_vector import StateVector

GOOD = 0.2       # a chart whose least pivot margin is above this needs no better one
# a step that would end below this, or on the other side of a singularity, is taken in another chart
POOR = 0.1
LOOSE = 1e-6     # [m] what one Newton step takes off phi and leaves less than 1e-12 of
# below this a guard that changes by half in one step is on its way through zero, or past it
FLAT = 0.1


@dataclass(frozen=True, eq=False)
class Chart:
    """Equations in one frame, with the integrator's step, the projection and the servo made from
    them."""

    equations: Equations
    limits: dict
    integrator: str
    kinematic: bool

    @cached_property
    def state_vector(self) -> StateVector:
        return StateVector(self.equations.frame.constrained.system.algebroid,
                         self.equations.frame.nxi)

    @cached_property
    def step(self) -> Step:
        if self.integrator == "dop853":
            return dop853(self.adaptive, *self._functions[:2])
        return rk4(self.equations, self.state_vector, self.kinematic)

    @cached_property
    def adaptive(self) -> Adaptive | None:
        return compiled_adaptive(*self._functions, len(self.state_vector.angle_slots()))

    @cached_property
    def _functions(self) -> tuple[ca.Function, ca.Function, ca.Function]:
        parts = self.equations, self.state_vector
        return rate_function(*parts,
                             self.kinematic), projection_function(*parts), reading_function(*parts)

    def loop(self, build: bool) -> Loop | None:
        """The step loop in C; None without a compiler, or where it must not be built (that of
        DOP853 always may)."""
        if self.integrator == "dop853":
            return None if self.adaptive is None else self.adaptive.loop
        if self._loops.get(True) is not None:
            return self._loops[True]
        if build not in self._loops:
            angles, kept = len(self.state_vector.angle_slots()), self._parts[0].size1_out(1) == 1
            self._loops[build] = compiled_loop(*self._parts, angles, build, kept=kept)
        return self._loops[build]

    @cached_property
    def _parts(self) -> tuple[ca.Function, ca.Function, ca.Function]:
        parts = self.equations, self.state_vector, self.kinematic
        return free_rk4_function(*parts) or rk4_function(*parts), *self._functions[1:]

    @cached_property
    def _loops(self) -> dict[bool, Loop | None]:
        return {}

    @cached_property
    def project(self) -> Buffered:
        return Buffered(self._functions[1])

    @cached_property
    def inverse_dynamics(self) -> InverseDynamics:
        return InverseDynamics(self.equations, self.limits, self.kinematic)

    @property
    def speeds(self) -> list[int]:
        return list(self.equations.frame.speeds)

    def at_rest(self, q: np.ndarray) -> np.ndarray:
        """x at q with all speeds zero."""
        return self.state_vector.assemble(q, np.zeros(self.state_vector.nxi))

    def margin(self, t: float, x: np.ndarray, theta: np.ndarray) -> float:
        """The frame's margin at x, of another sign on the other side of a singularity; NaN counts
        as none."""
        value = float(self.project(t, x, theta)[3][1])
        return value if np.isfinite(value) else 0.0
