"""Controllers that see what a robot would measure instead of the state itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import ModelError
from ..simulation.command import Command
from ..simulation.state import State, StateLayout
from .combinators import Combinator, Controller

Added = Callable[[str, str | None], np.ndarray]


class MeasuredState(State):
    """A `State` with other numbers in it, and something added to what the links' sensors read."""

    __slots__ = ("_true", "_added")

    def __init__(self, true: State, values: np.ndarray, added: Added | None = None):
        super().__init__(true.t, values, true.layout)
        self._true = true
        self._added = added

    def gyro(self, link: str | None = None) -> np.ndarray:
        return self._sum("gyro", link)

    def accelerometer(self, link: str | None = None) -> np.ndarray:
        return self._sum("accelerometer", link)

    def _sum(self, sensor: str, link: str | None) -> np.ndarray:
        reading = getattr(self._true, sensor)(link)
        return reading if self._added is None else reading + self._added(sensor, link)


class MeasurementNoise(Combinator):
    """Gaussian white noise on what a controller sees.

    It is drawn anew at each call, and is the same for the same seed. The parameters are standard
    deviations, zero where not given.

    The noise of one state does not change however often it is read.

    Parameters
    ----------
    controller
        The controller inside.
    position
        Of the base's x, y, z [m].
    heading
        Of the base about the vertical [rad].
    tilt
        Of the base about W's x and y [rad].
    velocity
        Of the base's velocity along each of its axes [m/s].
    angular_velocity
        Of the base about each of its axes [rad/s].
    joint_position
        Of every joint, encoders too [rad, m].
    joint_velocity
        Likewise [rad/s, m/s].
    gyro
        About each axis of a link [rad/s].
    accelerometer
        Along each axis of a link [m/s^2].
    seed
        Of the generator, which `reset` winds back.

    Raises
    ------
    ModelError
        For deviations that are negative, and at the first call for noise on the base of a system
        that has none.
    """

    def __init__(self, controller: Controller, *, position: float = 0.0, heading: float = 0.0,
                 tilt: float = 0.0,
                 velocity: float = 0.0, angular_velocity: float = 0.0, joint_position: float = 0.0,
                 joint_velocity: float = 0.0, gyro: float = 0.0, accelerometer: float = 0.0,
                 seed: int = 0):
        super().__init__(controller)
        self.sizes = dict(position=position, heading=heading, tilt=tilt, velocity=velocity,
                          angular_velocity=angular_velocity, joint_position=joint_position,
                          joint_velocity=joint_velocity, gyro=gyro, accelerometer=accelerometer)
        for name, size in self.sizes.items():
            if not (isinstance(size, (int, float, np.number)) and 0 <= size < math.inf):
                raise ModelError(f"{name} = {size!r} must be a standard deviation from zero on")
        self.seed = seed
        self._rewind()

    def _rewind(self) -> None:
        self._rng, self._sensor_rng = (
            np.random.default_rng([self.seed, 0]),
            np.random.default_rng([self.seed, 1]),
        )

    def reset(self) -> None:
        super().reset()
        self._rewind()

    def __call__(self, t: float, state: State) -> Command:
        return self.inside[0](t, self.measure(state))

    def measure(self, state: State) -> MeasuredState:
        """What is seen of a state; draws the next numbers."""
        sizes, layout, normal = self.sizes, state.layout, self._rng.standard_normal
        values = state.values
        x, v = values[layout.nq + layout.nv:], values[layout.nq:layout.nq + layout.nv]
        base, turn, rates = normal(3), normal(3), normal(6)
        if layout.has_base:
            x[:3] += sizes["position"] * base
            x[3:7] = _turn(x[3:7], turn * (sizes["tilt"], sizes["tilt"], sizes["heading"]))
            v[:3] += sizes["velocity"] * rates[:3]
            v[3:6] += sizes["angular_velocity"] * rates[3:]
        elif any(sizes[name] for name in ("position", "heading", "tilt", "velocity",
                                          "angular_velocity")):
            raise ModelError("noise on the base of a system that has none; "
                             "its coordinates take joint_position and joint_velocity")
        for size, where in ((sizes["joint_position"], layout.joint_position),
                            (sizes["joint_velocity"], layout.joint_velocity)):
            values[list(where.values())] += size * normal(len(where))
        _agree(values, layout)
        known: dict[tuple, np.ndarray] = {}

        def added(sensor: str, link: str | None) -> np.ndarray:
            if (sensor, link) not in known:
                known[sensor, link] = sizes[sensor] * self._sensor_rng.standard_normal(3)
            return known[sensor, link]

        return MeasuredState(state, values, added)


class Quantise(Combinator):
    """Encoders with a finite resolution.

    Angles are whole ticks that have passed, rates the ticks between two calls::

        angle = floor(a / d) d,   d = 2 pi / ticks [rad]
        rate = (angle_k - angle_(k-1)) / (t_k - t_(k-1))

    for the rolling and driven joints, wherever their positions and rates are read; the rate at the
    first call is zero.

    Parameters
    ----------
    controller
        The controller inside.
    ticks
        Ticks per revolution.
    """

    def __init__(self, controller: Controller, ticks: int):
        super().__init__(controller)
        if not (isinstance(ticks, (int, np.integer)) and ticks >= 1):
            raise ModelError(f"ticks = {ticks!r} must be a whole number of counts a turn")
        self.step, self._before = 2 * math.pi / ticks, None

    def reset(self) -> None:
        super().reset()
        self._before = None

    def __call__(self, t: float, state: State) -> Command:
        layout, values = state.layout, state.values
        angles, rates = list(layout.encoder_angle.values()), list(layout.encoder_rate.values())
        values[angles] = np.floor(values[angles] / self.step) * self.step
        if self._before is None:
            values[rates] = 0.0
        else:
            then, seen = self._before
            values[rates] = (values[angles] - seen) / (t - then) if t > then else 0.0
        self._before = t, values[angles].copy()
        _agree(values, layout)
        return self.inside[0](t, MeasuredState(state, values))


def _agree(values: np.ndarray, layout: StateLayout) -> None:
    """Writes q after the flat coordinates."""
    q, x = values[:layout.nq], values[layout.nq + layout.nv:]
    for ix, iq, angle in layout.slots:
        if angle:
            q[iq], q[iq + 1] = math.cos(x[ix]), math.sin(x[ix])
        else:
            q[iq] = x[ix]


def _turn(quaternion: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A unit quaternion (x, y, z, w) turned by a rotation vector given in W."""
    angle = float(np.linalg.norm(turn))
    a, w = turn * (np.sinc(angle / (2 * np.pi)) / 2), math.cos(angle / 2)
    b, c = quaternion[:3], quaternion[3]
    return np.array([*(w * b + c * a + np.cross(a, b)), w * c - a @ b])
