"""Keeping a two-wheeled inverted pendulum upright while it drives."""

from __future__ import annotations

import numpy as np

from ..analysis.linearise import linearise
from ..errors import ModelError
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .twist import Twist, TwistDrive


PITCH, SPEED, EFFORT = 0.3, 0.3, 0.05      # [rad], [m/s], of weight x radius


class Balance:
    """Linear-quadratic regulator about the upright pose, with wheel rates that follow a twist.

    u = -K (pitch, xi - xi*), K from the exact linearisation and SciPy's algebraic Riccati equation. One unit of cost: 0.3 rad of pitch,
    `SPEED` of a wheel, `EFFORT` of the torque that would lift the whole weight over a wheel's radius.

    Raises `ModelError` where the vehicle's pitch is not free, or upright is no equilibrium.
    """

    def __init__(self, vehicle: Vehicle, twist: Twist):
        from scipy.linalg import solve_continuous_are

        self.vehicle, self.drive = vehicle, TwistDrive(vehicle, twist)
        names = vehicle.speeds
        if "pitch_rate" not in names:
            raise ModelError(f"{vehicle.name!r} does not balance: its independent speeds are {', '.join(names)}")
        q = vehicle.configuration()
        point = linearise(vehicle, q, np.zeros(len(names)))
        if np.abs(point.drift).max() > 1e-6:
            raise ModelError(f"upright is no equilibrium of {vehicle.name!r}: it accelerates by {point.drift}")
        self.names = point.names
        radius = self.drive.wheels[0].wheel.radius
        weight = sum(inertia.mass for inertia in vehicle.model.inertias) * vehicle.parameters.values["gravity"]
        cost = np.diag([PITCH ** -2 if name == "pitch" else 0.0 if name == "pitch_rate" else (radius / SPEED) ** 2 for name in point.names])
        effort = np.eye(point.B.shape[1]) / (EFFORT * weight * radius) ** 2
        P = solve_continuous_are(point.A, point.B, cost, effort)
        self.K = np.linalg.solve(effort, point.B.T @ P)

    def __call__(self, t: float, state: State) -> np.ndarray:
        wanted = self.drive(t, state)[1].values
        R = state.T_WB[:3, :3]
        pitch = float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])))
        error = [pitch] + [state.xi[name] - wanted.get(name, 0.0) for name in self.vehicle.speeds]
        return -self.K @ np.array(error)
