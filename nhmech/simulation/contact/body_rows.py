"""Contact rows and heights of the points of bodies that can touch the ground."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...compile.compiled_function import compile_function
from ...mechanics.system import LagrangianSystem
from ...once import cached_property
from ...symbolic.buffered import Buffered
from ...vehicle.bodies import BodyContacts, touch_rate_function
from ...vehicle.vehicle import Vehicle
from ..state_vector import StateVector


@dataclass(frozen=True, eq=False)
class BodyRows:
    """Evaluates `BodyContacts` at all its points at once."""

    vehicle: Vehicle
    bodies: BodyContacts
    axes: ca.SX  # T (nv, nv) of q, with v = T w

    def __repr__(self) -> str:
        return f"<BodyRows of {self.bodies}>"

    @cached_property
    def points(self) -> np.ndarray:
        """Data of each point, (10, k)."""
        theta = self._system.theta
        found = ca.Function("points", [theta], [ca.densify(self.bodies.points)])
        return found(self.vehicle.theta).full()

    @cached_property
    def move_function(self) -> ca.Function:
        """x -> poses (12, n) of the bodies, and the transposed Jacobians of their twists by w,
        (nv, 6 n)."""
        vector = StateVector(self.vehicle.algebroid, 0)
        x = ca.SX.sym("x", vector.nconf)
        outputs = ca.substitute([self.bodies.poses, self.bodies.jacobian.T], [self._system.q],
                                [vector.configuration(x)])
        return ca.Function("move_bodies", [x], [ca.densify(part) for part in outputs],
                           {"cse": True})

    @property
    def functions(self) -> tuple[ca.Function, ...]:
        """The functions that steps in C call: `move_function`, `BodyContacts.touch`, and its height
        alone. Empty if there are no points."""
        touch = self.bodies.touch
        inputs = touch.sx_in()
        rise = ca.Function("rise", inputs, [touch(*inputs)[2]], {"cse": True})
        return (self.move_function, touch, rise) if self.bodies.links else ()

    def read(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A (3 k, nv), b (3 k,) and heights (k,): velocities over the ground are A w + b."""
        k, owners = len(self.bodies.links), self._owners
        poses, twists = self._move(x)
        slopes, drift, heights = self._touch(t, *map(np.squeeze, (poses[:, owners], self.points)))
        own = twists.T.reshape(-1, 6, self._nv)[owners]
        # CasADi puts the matrices of all points side by side
        each = slopes.T.reshape(k, 6, 3).transpose(0, 2, 1)
        return ((each @ own).reshape(3 * k, self._nv), drift.T.reshape(3 * k), heights.reshape(k))

    def gamma(self, t: float, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Time derivative of these velocities for constant w, (3 k,)."""
        owners = self._owners
        poses, _ = self._move(x)
        twists, rates = self._twists(x, w)
        each = poses[:, owners], twists[:, owners], rates[:, owners], self.points
        found, = self._touch_rate(t, *map(np.squeeze, each))
        return found.T.ravel()

    @cached_property
    def _owners(self) -> list[int]:
        return list(self.bodies.owners)

    @property
    def _nv(self) -> int:
        return self.vehicle.algebroid.nv

    @property
    def _system(self) -> LagrangianSystem:
        return self.vehicle.constrained.system

    @cached_property
    def _move(self) -> Buffered:
        return compile_function(self.move_function, [0])

    @cached_property
    def _touch(self) -> Buffered:
        return compile_function(self.bodies.touch.map(len(self._owners)))

    @cached_property
    def _touch_rate(self) -> Buffered:
        rate = touch_rate_function(self.vehicle.ground)
        return compile_function(rate.map(len(self._owners)))

    @cached_property
    def _twists(self) -> Buffered:
        """(x, w) -> twists (6, n) of the bodies, and their time derivatives for constant w."""
        s, vector = self._system, StateVector(self.vehicle.algebroid, 0)
        x, w = ca.SX.sym("x", vector.nconf), ca.SX.sym("w", self._nv)
        twists = self.bodies.jacobian @ w
        outputs = ca.substitute([twists, s.rate(twists)], [s.v], [self.axes @ w])
        outputs = ca.substitute(outputs, [s.q], [vector.configuration(x)])
        return compile_function(ca.Function("twist_bodies", [x, w], [
            ca.densify(ca.reshape(part, 6, -1)) for part in outputs], {"cse": True}), [0, 1])
