"""From a body twist to joint commands, for every mobility class by the same rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..compile.buffered import Buffered
from ..errors import ModelError
from ..simulation.command import JointPosition, JointVelocity
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle

Twist = Sequence[float] | Callable[[float, State], Sequence[float]]
STILL = 1e-6      # a twist smaller than this [m/s] leaves the steering where it is


class TwistDrive:
    """Steering first, wheels after it.

    Each driven steering joint goes to the angle at which its wheel's lateral row lets the wanted twist pass. The twist that the axles
    allow at their present angles (least squares onto the kernel of the lateral rows) then gives each driven wheel the rate that solves
    its own rolling row A v = 0.

    vehicle  with driven wheels
    twist    (forward [m/s], lateral [m/s], yaw rate [rad/s]) of the base in the ground plane, or a callable (t, state) -> twist

    Raises `ModelError` for a vehicle without driven wheels.
    """

    def __init__(self, vehicle: Vehicle, twist: Twist):
        self.vehicle, self.twist = vehicle, twist
        self.wheels = [c.mount for c in vehicle.contacts if c.mount.wheel.joint in vehicle.driven]
        if not self.wheels:
            raise ModelError(f"{vehicle.name!r} has no driven wheel: it cannot follow a twist")
        names = vehicle.constrained.distribution.names
        self.rows = [next(i for i, name in enumerate(names) if name in (f"{m.wheel.name}/longitudinal", f"{m.wheel.name}/roller")) for m in self.wheels]
        self._forms = Buffered(_densified(vehicle))

    def __call__(self, t: float, state: State) -> tuple[JointPosition, JointVelocity]:
        wanted = np.asarray(self.twist(t, state) if callable(self.twist) else self.twist, dtype=float)
        return self.follow(t, state, wanted)

    def follow(self, t: float, state: State, wanted: np.ndarray) -> tuple[JointPosition, JointVelocity]:
        """Commands for one twist (3,)."""
        steering = self.vehicle.steering
        scaled = wanted * (1, 1, steering.length)
        angles = {axle.steering: state.joint_position[axle.steering] for axle in steering.steered}
        targets = {}
        if np.linalg.norm(scaled) > STILL:
            for axle in steering.steered:
                if axle.steering in self.vehicle.driven:
                    targets[axle.steering] = axle.angle_for(scaled, angles[axle.steering])
        allowed = self._allowed(scaled, angles) / (1, 1, steering.length)
        A = self._forms(t, state.q, self.vehicle.theta)[0]
        base = self._base_twist(state, allowed)
        rates = {m.wheel.joint: -float(A[row, :6] @ base) / float(A[row, m.spin]) for m, row in zip(self.wheels, self.rows)}
        return JointPosition(targets), JointVelocity(rates)

    def _allowed(self, twist: np.ndarray, angles: dict[str, float]) -> np.ndarray:
        """The nearest twist that all axles of the base let pass at these angles."""
        steering = self.vehicle.steering
        rows = [axle.straight for axle in steering.fixed] + [axle.at(angles[axle.steering]) for axle in steering.steered]
        if not rows:
            return twist
        _, s, vt = np.linalg.svd(np.array(rows))
        rank = int(np.sum(s > 1e-3 * s[0]))
        kernel = vt[rank:]
        return kernel.T @ (kernel @ twist)

    def _base_twist(self, state: State, planar: np.ndarray) -> np.ndarray:
        """(6,) in the base's frame of a planar twist along the heading."""
        R, n = state.T_WB[:3, :3], self.vehicle.placer.normal
        heading = _cross(R[:, 1], n)
        heading /= np.linalg.norm(heading)
        forward, lateral, turn = planar
        return np.concatenate([R.T @ (forward * heading + lateral * _cross(n, heading)), R.T @ n * turn])


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b of two vectors; NumPy's takes ten times as long for one pair."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _densified(vehicle: Vehicle):
    import casadi as ca

    s = vehicle.constrained.system
    return ca.Function("forms", [s.t, s.q, s.theta], [ca.densify(vehicle.constrained.distribution.A)])
