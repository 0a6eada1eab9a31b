"""What a controller sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .named import Named


@dataclass(frozen=True)
class State:
    """One moment of a run; a copy that controllers may keep.

    t       time [s]
    q, v    configuration (nq,) and all fibre coordinates (nv,)
    xi      independent speeds by name; other fibre coordinates can be asked for by name too, e.g. `state.xi["yaw_rate"]`
    angles  unwrapped angles of the continuous joints [rad]
    joint_position, joint_velocity   of the moving joints by name [rad, m, rad/s, m/s]; angles unwrapped
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    xi: Named
    angles: Named
    joint_position: Named
    joint_velocity: Named

    @property
    def T_WB(self) -> np.ndarray:
        """Pose of the base in the world, (4, 4)."""
        T = np.eye(4)
        x, y, z, w = self.q[3:7]
        T[:3, :3] = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
        T[:3, 3] = self.q[:3]
        return T

    @property
    def pose(self) -> tuple[float, float, float]:
        """x [m], y [m] and heading [rad] of the base, seen from above."""
        T = self.T_WB
        return float(T[0, 3]), float(T[1, 3]), float(np.arctan2(T[1, 0], T[0, 0]))
