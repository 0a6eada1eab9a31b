"""One choice of rows and speeds, ready to step; a run changes charts where a choice goes bad."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..compile.buffered import Buffered
from ..compile.loop import Loop, compiled_loop
from ..mechanics.equations import Equations
from .flat import FlatState
from .integrators import INTEGRATORS, Step, projection_function, reading_function, rk4_function
from .servo import Servo

GOOD = 0.2       # a chart whose least pivot margin is above this needs no better one
POOR = 0.1       # a step that would end below this, or on the other side of a singularity, is taken in another chart
LOOSE = 1e-6     # [m] what one Newton step takes off phi and leaves less than 1e-12 of
FLAT = 0.1       # below this a guard that changes by half in one step is on its way through zero, or past it


@dataclass(frozen=True, eq=False)
class Chart:
    """Equations in one frame, with the integrator's step, the projection and the servo made from them."""

    equations: Equations
    limits: dict
    integrator: str
    kinematic: bool

    @cached_property
    def flat(self) -> FlatState:
        return FlatState(self.equations.frame.constrained.system.algebroid, self.equations.frame.nxi)

    @cached_property
    def step(self) -> Step:
        return INTEGRATORS[self.integrator](self.equations, self.flat, self.kinematic)

    def loop(self, build: bool) -> Loop | None:
        """The step loop in C; None for integrators without one, without a compiler, or where it would have to be built and must not."""
        if self.integrator != "rk4":
            return None
        if self._loops.get(True) is not None:
            return self._loops[True]
        if build not in self._loops:
            self._loops[build] = compiled_loop(*self._parts, len(self.flat.angle_slots()), build)
        return self._loops[build]

    @cached_property
    def _parts(self) -> tuple[ca.Function, ca.Function, ca.Function]:
        parts = self.equations, self.flat
        return rk4_function(*parts, self.kinematic), projection_function(*parts), reading_function(*parts)

    @cached_property
    def _loops(self) -> dict[bool, Loop | None]:
        return {}

    @cached_property
    def project(self) -> Buffered:
        return Buffered(projection_function(self.equations, self.flat))

    @cached_property
    def servo(self) -> Servo:
        return Servo(self.equations, self.limits, self.kinematic)

    @property
    def speeds(self) -> list[int]:
        return list(self.equations.frame.speeds)

    @cached_property
    def _frame(self) -> ca.Function:
        frame = self.equations.frame
        system = frame.constrained.system
        xi = ca.SX.sym("xi", frame.nxi)
        base = ca.substitute(frame.velocity(xi), xi, ca.SX.zeros(frame.nxi, 1))
        return ca.Function("frame", [system.t, system.q, system.theta], system.expand(frame.E, base))

    def frame_at(self, t: float, q: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """E (nv, nxi) and e0 (nv,)."""
        E, e0 = self._frame(t, q, theta)
        return E.full(), e0.full().ravel()

    def margin(self, t: float, x: np.ndarray, theta: np.ndarray) -> float:
        """The frame's margin at x, of another sign on the other side of a singularity; NaN counts as none."""
        value = float(self.project(t, x, theta)[3][1])
        return value if np.isfinite(value) else 0.0
