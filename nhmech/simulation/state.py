"""The state that a controller sees, with its numbers by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..checks import check_arguments, show
from ..errors import REPR, InputError, SimulationError, listed, unknown_name
from .contact.phases import ContactMoment


class Named(Mapping[str, float]):
    """Numbers by name, read-only: `values[places[name]]`. Names in `extra` can be read, but are not
    listed."""

    __slots__ = ("_places", "_values", "_extra")

    def __init__(self, places: Mapping[str, int], values: np.ndarray,
                 extra: Mapping[str, int] = {}):
        self._places = places
        self._values = values
        self._extra = extra

    @classmethod
    def of(cls, names: tuple[str, ...], values: np.ndarray) -> Named:
        """Names of consecutive numbers."""
        return cls({name: i for i, name in enumerate(names)}, values)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._places)

    @property
    def values_array(self) -> np.ndarray:
        """A copy of the listed numbers, in their order."""
        return self._values[list(self._places.values())]

    def __getitem__(self, key: str | int) -> float:
        if isinstance(key, (int, np.integer)):
            return float(self.values_array[key])
        place = self._places.get(key)
        if place is None:
            place = self._extra.get(key)
        if place is None:
            raise unknown_name(key, [*self._places, *self._extra])
        return self._values.item(place)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __array__(self, dtype: npt.DTypeLike | None = None,
                  copy: bool | None = None) -> np.ndarray:
        return np.array(self.values_array, dtype=dtype)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name}: {value:.6g}" for name, value in self.items()) + "}"


class LinkSensors(Protocol):
    """Gyro and accelerometer of any link, and the contacts, at a state (`sensors.Sensors`)."""

    def gyro(self, state: State, link: str | None = None) -> np.ndarray: ...

    def accelerometer(self, state: State, link: str | None = None) -> np.ndarray: ...

    def contacts(self, state: State) -> ContactMoment | None: ...


class Encoders(NamedTuple):
    """Readings of the encoders of rolling and driven joints, by joint name: unwrapped `angle`
    [rad, m] and `rate` [rad/s, m/s]."""

    angle: Named
    rate: Named


@dataclass(frozen=True, eq=False)
class StateLayout:
    """Indices of the names of a state in its numbers (q, v, x, u); the same for all states of a
    run."""

    nq: int
    nv: int
    u: slice  # of the inputs
    xi: dict[str, int]  # name -> index, here and below
    v: dict[str, int]
    angles: dict[str, int]
    joint_position: dict[str, int]
    joint_velocity: dict[str, int]
    encoder_angle: dict[str, int]
    encoder_rate: dict[str, int]
    # for each coordinate: (index in x, index in q, whether an angle in x replaces a pair of cosine
    # and sine in q)
    slots: tuple[tuple[int, int, bool], ...]
    has_base: bool  # whether the system is a vehicle, which has a base
    has_pose: bool  # whether q begins with the pose of a body: position, then quaternion
    sensors: LinkSensors  # gyros, accelerometers and contacts

    def __repr__(self) -> str:
        return (f"<StateLayout: nq {self.nq}, nv {self.nv}, nx {self.nx}, "
                f"speeds {listed(self.xi, REPR)}>")

    @property
    def nx(self) -> int:
        """Length of x."""
        return self.u.start - self.nq - self.nv


class State:
    """The state at one moment of a run. It is immutable, so controllers may keep it.

    Attributes
    ----------
    t
        Time [s].
    pose
        x [m], y [m] and heading [rad] of the base, seen from above.
    T_WB
        Pose of the base in the world (4, 4), lengths in [m].
    q, v
        Configuration (nq,) [m, rad; a quaternion and pairs of cosine and sine have no unit] and all
        fibre coordinates (nv,) [m/s, rad/s].
    u
        Inputs held at this moment (nu,) [N m, N]: efforts, then external wrenches.
    xi
        Independent speeds by name [m/s, rad/s]; other fibre coordinates can be read by name too,
        as in `state.xi["yaw_rate"]`.
    angles
        Unwrapped angles of the continuous joints by name [rad].
    joint_position, joint_velocity
        Of the moving joints by name [rad, m; rad/s, m/s]; angles are unwrapped.
    encoder
        What a robot can measure: `encoder.angle` and `encoder.rate` of its rolling and driven
        joints by name [rad, m; rad/s, m/s].
    gyro(link), accelerometer(link)
        Readings of a gyroscope and an accelerometer, (3,) [rad/s] and (3,) [m/s^2], along the axes
        of the link; of the root link if none is named.
    contacts
        Phases of the wheels and forces on them in a run with Coulomb friction, e.g.
        `contacts.phases["left_wheel_joint"]`; None if they can only roll.
    values, layout
        All numbers of the state (k,), each in its unit above, and the indices of the names.

    Notes
    -----
    A state is made at every step and seldom read completely, so each attribute is computed when it
    is read. Arrays cannot be written to. `pose` and `T_WB` raise `SimulationError` for a system
    that has no base.

    Examples
    --------
    >>> state = Simulator(vehicle).step()
    >>> state.pose, state.xi["yaw_rate"], state.joint_velocity["left_wheel_joint"]
    ((0.0, 0.0, 0.0), 0.0, 0.0)
    """

    __slots__ = ("_t", "_numbers", "_layout")

    def __init__(self, t: float, values: np.ndarray | bytes, layout: StateLayout):
        self._t = t
        # bytes are immutable, and are copied in a quarter of the time of an array
        self._numbers = values if type(values) is bytes else np.asarray(values, float).tobytes()
        self._layout = layout

    # a plain attribute, because every step reads it twice
    t = property(attrgetter("_t"), doc="")

    @property
    def _values(self) -> np.ndarray:
        return np.frombuffer(self._numbers)

    @property
    def values(self) -> np.ndarray:
        """All numbers of the state, in the order of `layout`, (k,): a copy, which can be changed
        to make another state."""
        return self._values.copy()

    @property
    def layout(self) -> StateLayout:
        """Indices of the names in `values`."""
        return self._layout

    @property
    def q(self) -> np.ndarray:
        return np.frombuffer(self._numbers)[:self._layout.nq]

    @property
    def v(self) -> np.ndarray:
        layout = self._layout
        return np.frombuffer(self._numbers)[layout.nq:layout.nq + layout.nv]

    @property
    def u(self) -> np.ndarray:
        return np.frombuffer(self._numbers)[self._layout.u]

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
        """Angular velocity of a link (the root if None) along its own axes, (3,) [rad/s].

        Raises
        ------
        InputError
            For a link that does not exist.
        """
        return self._layout.sensors.gyro(self, link)

    def accelerometer(self, link: str | None = None) -> np.ndarray:
        """Specific force R_LW (a - g) at the origin of a link (the root if None) along its own
        axes, (3,) [m/s^2].

        a is the acceleration with the present inputs `u`, before a new command.

        Raises
        ------
        InputError
            For a link that does not exist.
        """
        return self._layout.sensors.accelerometer(self, link)

    @property
    def contacts(self) -> ContactMoment | None:
        return self._layout.sensors.contacts(self)

    @property
    def T_WB(self) -> np.ndarray:
        """Pose of the base in the world, (4, 4). Raises `SimulationError` for a system that has no
        base."""
        self._require_pose()
        return base_pose(self._values[:self._layout.nq])

    @property
    def pose(self) -> tuple[float, float, float]:
        """x [m], y [m] and heading [rad] of the base, seen from above."""
        self._require_pose()
        return planar_pose(self._values[:self._layout.nq])

    def _require_pose(self) -> None:
        if not self._layout.has_pose:
            raise SimulationError("only a vehicle, or a system whose coordinates begin with x, y, "
                                  "z and a quaternion, has a pose; other systems written by hand "
                                  "have their coordinates, state.q")

    def __repr__(self) -> str:
        q = np.array2string(self.q, precision=6, max_line_width=1000, threshold=12)
        return f"State(t={self.t:.6g}, q={q},\n      xi={self.xi!r})"


ATTRIBUTES = tuple(name for name in dir(State) if not name.startswith("_"))


@check_arguments
def planar_pose(q: np.ndarray) -> tuple[float, float, float]:
    """x [m], y [m] and heading [rad] of the base, seen from above.

    Parameters
    ----------
    q
        A configuration (nq,) of a vehicle.
    """
    if q.ndim != 1:
        raise InputError(f"q = {show(q)} must be one configuration of a vehicle, (nq,)")
    T = base_pose(q)
    return float(T[0, 3]), float(T[1, 3]), float(np.arctan2(T[1, 0], T[0, 0]))


def base_pose(q: np.ndarray) -> np.ndarray:
    """T_WB (4, 4) of a configuration (nq,) that begins with position and quaternion (x, y, z, w);
    (..., 4, 4) of configurations (..., nq)."""
    if q.shape[-1] < 7:
        raise SimulationError("only a vehicle has a pose; a system written by hand has its "
                              "coordinates, state.q")
    one = q.ndim == 1
    # plain numbers are faster, and controllers call this at each step
    px, py, pz, x, y, z, w = q[:7].tolist() if one else np.moveaxis(q[..., :7], -1, 0)
    zeros, ones = (0.0, 1.0) if one else (np.zeros(q.shape[:-1]), np.ones(q.shape[:-1]))
    T = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), px],
                  [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), py],
                  [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), pz],
                  [zeros, zeros, zeros, ones]])
    return T if one else np.moveaxis(T, (0, 1), (-2, -1))
