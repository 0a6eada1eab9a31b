"""What a controller sees."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass

import numpy as np

from ..errors import SimulationError
from .named import Named


@dataclass(frozen=True, eq=False)
class Places:
    """Where a state's names stand in its numbers (q, v, x, u); the same for all states of a run."""

    nq: int
    nv: int
    u: slice
    xi: dict[str, int]
    v: dict[str, int]
    angles: dict[str, int]
    joint_position: dict[str, int]
    joint_velocity: dict[str, int]


class State:
    """One moment of a run; a copy that controllers may keep.

    t       time [s]
    q, v    configuration (nq,) and all fibre coordinates (nv,)
    u       inputs that are held now (nu,), external wrenches after the efforts
    xi      independent speeds by name; other fibre coordinates can be asked for by name too, e.g. `state.xi["yaw_rate"]`
    angles  unwrapped angles of the continuous joints [rad]
    joint_position, joint_velocity   of the moving joints by name [rad, m, rad/s, m/s]; angles unwrapped

    Made at every step and read in part: what is not asked for is not worked out.
    """

    __slots__ = ("t", "_values", "_places")

    def __init__(self, t: float, values: np.ndarray, places: Places):
        _set_t(self, t)
        _set_values(self, values)
        _set_places(self, places)

    def __setattr__(self, name: str, value) -> None:
        raise FrozenInstanceError(f"cannot assign to {name!r} of a State")

    @property
    def q(self) -> np.ndarray:
        return self._values[:self._places.nq]

    @property
    def v(self) -> np.ndarray:
        places = self._places
        return self._values[places.nq:places.nq + places.nv]

    @property
    def u(self) -> np.ndarray:
        return self._values[self._places.u]

    @property
    def xi(self) -> Named:
        return Named(self._places.xi, self._values, self._places.v)

    @property
    def angles(self) -> Named:
        return Named(self._places.angles, self._values)

    @property
    def joint_position(self) -> Named:
        return Named(self._places.joint_position, self._values)

    @property
    def joint_velocity(self) -> Named:
        return Named(self._places.joint_velocity, self._values)

    @property
    def T_WB(self) -> np.ndarray:
        """Pose of the base in the world, (4, 4). Raises `SimulationError` for a system that has no base."""
        return base_pose(self.q)

    @property
    def pose(self) -> tuple[float, float, float]:
        """x [m], y [m] and heading [rad] of the base, seen from above."""
        T = self.T_WB
        return float(T[0, 3]), float(T[1, 3]), float(np.arctan2(T[1, 0], T[0, 0]))

    def __repr__(self) -> str:
        return f"State(t={self.t:.6g}, q={self.q}, xi={self.xi!r})"


_set_t, _set_values, _set_places = State.t.__set__, State._values.__set__, State._places.__set__      # the way past __setattr__


def base_pose(q: np.ndarray) -> np.ndarray:
    """T_WB (4, 4) of a configuration that begins with position and quaternion (x, y, z, w)."""
    if len(q) < 7:
        raise SimulationError("only a vehicle has a pose; a system written by hand has its coordinates, state.q")
    T = np.eye(4)
    x, y, z, w = q[3:7]
    T[:3, :3] = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                 [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                 [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    T[:3, 3] = q[:3]
    return T
