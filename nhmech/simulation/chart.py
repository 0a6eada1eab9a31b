"""One choice of rows and speeds, ready to step; a run changes charts where a choice goes bad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..compile.adaptive import Adaptive, compile_adaptive
from ..compile.buffered import Buffered
from ..compile.loop import Loop, compile_loop
from ..errors import REPR, listed
from ..mechanics.equations import Equations
from ..urdf.description import JointLimits
from .integrators import (
    Advance,
    advance_function,
    keeping_advance_function,
    projection_function,
    python_step,
    rate_function,
    reading_function,
    settling_function,
    step_function,
)
from .inverse_dynamics import InverseDynamics
from .schemes import Scheme
from .state_vector import StateVector

GOOD = 0.2       # a chart whose least pivot margin is above this needs no better one


@dataclass(frozen=True, eq=False)
class Chart:
    """Equations in one frame, with the integrator's step, the projection and the inverse dynamics
    made from them."""

    equations: Equations
    limits: Mapping[str, JointLimits]
    scheme: Scheme
    kinematic: bool

    def __repr__(self) -> str:
        return f"<Chart in the speeds {listed(self.equations.names, REPR)}, {self.scheme.name}>"

    @cached_property
    def state_vector(self) -> StateVector:
        return StateVector.of(self.equations)

    @cached_property
    def advance(self) -> Advance:
        """One step, called from Python."""
        return python_step(self.equations, self.scheme, self.kinematic,
                           None if self.scheme.tableau else self._adaptive)

    @cached_property
    def _adaptive(self) -> Adaptive | None:
        rate = rate_function(self.equations, self.kinematic)
        return compile_adaptive(rate, *self._ends, self._angles)

    def loop(self, build: bool) -> Loop | None:
        """The step loop in C; None without a compiler, or where it must not be built (that of
        DOP853 always may)."""
        if self._step is None:
            return None if self._adaptive is None else self._adaptive.loop
        if self._loops.get(True) is not None:
            return self._loops[True]
        if build not in self._loops:
            step, kept = self._step
            self._loops[build] = compile_loop(step, *self._ends, self._angles, build, kept)
        return self._loops[build]

    @cached_property
    def _loops(self) -> dict[bool, Loop | None]:
        return {}

    @cached_property
    def _step(self) -> tuple[ca.Function, bool] | None:
        """The step that C takes, and whether its scheme keeps the constraints by itself; None of an
        adaptive one."""
        if self.scheme.tableau is None:
            return None
        parts = self.equations, self.scheme.tableau, self.kinematic
        keeping = keeping_advance_function(*parts)
        kept = keeping is not None
        return step_function(keeping if kept else advance_function(*parts)), kept

    @cached_property
    def _ends(self) -> tuple[ca.Function, ca.Function]:
        """What follows a step in C: `settle` and `read` of `compile_loop`."""
        return (settling_function(projection_function(self.equations)),
                reading_function(self.equations))

    @property
    def _angles(self) -> int:
        return len(self.state_vector.angle_slots())

    @cached_property
    def project(self) -> Buffered:
        """(t, x, theta) -> x on the constraints, q, v, health."""
        return Buffered(projection_function(self.equations))

    @cached_property
    def inverse_dynamics(self) -> InverseDynamics:
        return InverseDynamics(self.equations, self.limits)

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
