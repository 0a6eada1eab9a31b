"""What a controller sees."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import SimulationError
from .named import Named

if TYPE_CHECKING:
    from .sensors import Sensors


class Encoders(NamedTuple):
    """What the encoders of rolling and driven joints read: unwrapped `angle` and `rate`, by joint
    name [rad, rad/s; m, m/s]."""

    angle: Named
    rate: Named


@dataclass(frozen=True, eq=False)
class StateLayout:
    """Where a state's names stand in its numbers (q, v, x, u); the same for all states of a run."""

    nq: int
    nv: int
    u: slice
    xi: dict[str, int]
    v: dict[str, int]
    angles: dict[str, int]
    joint_position: dict[str, int]
    joint_velocity: dict[str, int]
    encoder_angle: dict[str, int]
    encoder_rate: dict[str, int]
    # (index in x, index in q, whether an angle stands for a pair)
    slots: tuple[tuple[int, int, bool], ...]
    sensors: Sensors


class State:
    """One moment of a run; a copy that controllers may keep.

    `pose` and `T_WB` raise `SimulationError` for a system that has no base.

    Made at every step and read in part: what is not asked for is not worked out.

    Parameters
    ----------
    t
        Time [s].
    values, layout
        All of its numbers (k,), each in its unit above, and where the names stand in them.

    Attributes
    ----------
    pose
        x [m], y [m] and heading [rad] of the base, seen from above.
    T_WB
        Pose of the base in the world (4, 4), lengths in [m].
    q, v
        Configuration (nq,) [m, rad; a quaternion and pairs of cosine and sine have no unit] and all
        fibre coordinates (nv,) [m/s, rad/s].
    u
        Inputs that are held now (nu,) [N m, N], external wrenches after the efforts.
    xi
        Independent speeds by name [m/s, rad/s]; other fibre coordinates can be asked for by name
        too, e.g. `state.xi["yaw_rate"]`.
    angles
        Unwrapped angles of the continuous joints by name [rad].
    joint_position, joint_velocity
        Of the moving joints by name [rad, m; rad/s, m/s]; angles unwrapped.
    encoder
        What a robot can measure: `encoder.angle` and `encoder.rate` of its rolling and driven
        joints by name [rad, m; rad/s, m/s].
    gyro(link), accelerometer(link)
        Likewise (3,) [rad/s] and (3,) [m/s^2], along the link's axes; the root's where none is
        named.

    Examples
    --------
    >>> state = Simulator(vehicle).step()
    >>> state.pose, state.xi["yaw_rate"], state.joint_velocity["left_wheel_joint"]
    ((0.0, 0.0, 0.0), 0.0, 0.0)
    """

    __slots__ = ("t", "_values", "_layout")

    def __init__(self, t: float, values: np.ndarray, layout: StateLayout):
        _set_t(self, t)
        _set_values(self, values)
        _set_layout(self, layout)

    def __setattr__(self, name: str, value) -> None:
        raise FrozenInstanceError(f"cannot assign to {name!r} of a State")

    @property
    def values(self) -> np.ndarray:
        """(k,) all numbers of the moment, in the order of `layout`; a copy, for another state to be
        made from."""
        return self._values.copy()

    @property
    def layout(self) -> StateLayout:
        """Where the names stand in `values`."""
        return self._layout

    @property
    def q(self) -> np.ndarray:
        return self._values[:self._layout.nq]

    @property
    def v(self) -> np.ndarray:
        layout = self._layout
        return self._values[layout.nq:layout.nq + layout.nv]

    @property
    def u(self) -> np.ndarray:
        return self._values[self._layout.u]

    @property
    def xi(self) -> Named:
        return Named(self._layout.xi, self._values, self._layout.v)

    @property
    def angles(self) -> Named:
        return Named(self._layout.angles, self._values)

    @property
    def joint_position(self) -> Named:
        return Named(self._layout.joint_position, self._values)

    @property
    def joint_velocity(self) -> Named:
        return Named(self._layout.joint_velocity, self._values)

    @property
    def encoder(self) -> Encoders:
        layout = self._layout
        return Encoders(Named(layout.encoder_angle, self._values),
                        Named(layout.encoder_rate, self._values))

    def gyro(self, link: str | None = None) -> np.ndarray:
        """Angular velocity of a link (the root where None) along its own axes, (3,) [rad/s].

        Raises
        ------
        SimulationError
            For a link that is not there.
        """
        return self._layout.sensors.gyro(self, link)

    def accelerometer(self, link: str | None = None) -> np.ndarray:
        """Specific force R_LW (a - g) at a link's origin (the root's where None) along its own
        axes, (3,) [m/s^2].

        a is the acceleration with the inputs `u` that are held, before a new command. Raises as
        `gyro` does."""
        return self._layout.sensors.accelerometer(self, link)

    @property
    def T_WB(self) -> np.ndarray:
        """Pose of the base in the world, (4, 4). Raises `SimulationError` for a system that has no
        base."""
        return base_pose(self.q)

    @property
    def pose(self) -> tuple[float, float, float]:
        """x [m], y [m] and heading [rad] of the base, seen from above."""
        return planar_pose(self.q)

    def __repr__(self) -> str:
        return f"State(t={self.t:.6g}, q={self.q}, xi={self.xi!r})"


# the way past __setattr__
_set_t, _set_values, _set_layout = State.t.__set__, State._values.__set__, State._layout.__set__


ATTRIBUTES = tuple(name for name in dir(State) if not name.startswith("_"))


def planar_pose(q: np.ndarray) -> tuple[float, float, float]:
    """x [m], y [m] and heading [rad] of the base, seen from above.

    Parameters
    ----------
    q
        A configuration (nq,) of a vehicle.
    """
    T = base_pose(q)
    return float(T[0, 3]), float(T[1, 3]), float(np.arctan2(T[1, 0], T[0, 0]))


def base_pose(q: np.ndarray) -> np.ndarray:
    """T_WB (4, 4) of a configuration that begins with position and quaternion (x, y, z, w)."""
    if len(q) < 7:
        raise SimulationError("only a vehicle has a pose; a system written by hand has its "
                              "coordinates, state.q")
    # plain numbers: a controller asks at every turn
    px, py, pz, x, y, z, w = q[:7].tolist()
    T = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), px],
                  [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), py],
                  [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), pz],
                  [0.0, 0.0, 0.0, 1.0]])
    return T
