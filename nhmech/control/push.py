"""A hand that pushes vehicles without motors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from ..simulation.state import State
from ..vehicle.vehicle import Vehicle

TIME = 0.3      # [s] in which an error of the speed is closed
MOST = 0.3      # of the weight, with which it pushes at the most


class Push:
    """A wrench on the root `link` towards a twist, (t, state) -> forward [m/s], lateral [m/s], yaw
    rate [rad/s], of at most 0.3 of the vehicle's weight.

    A vehicle is pushed along its heading and turned about the ground's normal. A ball, which has no
    heading, is pushed towards a heading that yaw rates turn. The push never brakes: where the twist
    is zero, or less than the vehicle's, it coasts.
    """

    def __init__(self, vehicle: Vehicle, twist: Callable[[float, State], tuple[float, ...]]):
        self.vehicle, self.twist = vehicle, twist
        self.link = vehicle.description.root
        self._rolls = {"roll_rate", "pitch_rate"} <= set(vehicle.speeds)
        self._normal = np.array(vehicle.ground.normal)
        data = vehicle.model.createData()
        pin.ccrba(vehicle.model, data, vehicle.configuration(), np.zeros(vehicle.model.nv))
        self._mass, self._inertia = data.Ig.mass, float(data.Ig.inertia[2, 2])
        self._most = MOST * self._mass * float(np.linalg.norm(vehicle.model.gravity.linear))
        self.reset()

    def __repr__(self) -> str:
        return f"<Push of {self.vehicle.name!r} at {self.link!r}>"

    def reset(self) -> None:
        """Resets the heading of the hand to the x axis."""
        self._heading, self._t = 0.0, 0.0

    def __call__(self, t: float, state: State) -> np.ndarray:
        """Force [N] and torque [N m] in W (6,) at the link's origin."""
        forward, lateral, yaw = self.twist(t, state)
        n, R = self._normal, state.T_WB[:3, :3]
        if self._rolls:
            self._heading += yaw * max(t - self._t, 0.0)
            ahead = np.array([math.cos(self._heading), math.sin(self._heading), 0.0])
            ahead -= n * (n @ ahead)
        else:
            ahead = np.cross(R[:, 1], n)
        self._t = t
        ahead /= np.linalg.norm(ahead)
        speed, wrench = R @ state.v[:3], np.zeros(6)
        for wanted, axis in ((forward, ahead), (lateral, np.cross(n, ahead))):
            toward = math.copysign(1.0, wanted) * axis
            missing = abs(wanted) - toward @ speed
            if wanted and missing > 0:
                wrench[:3] += min(self._mass * missing / TIME, self._most) * toward
        if yaw and not self._rolls:
            wrench[3:] = n * self._inertia * (yaw - n @ R @ state.v[3:6]) / TIME
        return wrench
