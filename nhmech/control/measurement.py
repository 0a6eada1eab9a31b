"""Controllers that see measurements in place of the state itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from ..checks import check_arguments, read_count, read_number
from ..errors import ModelError
from ..simulation.command import Command, Controller
from ..simulation.contact.phases import ContactMoment
from ..simulation.state import State, StateLayout
from .combinators import Combinator


@dataclass(frozen=True)
class SensorsAt:
    """Sensors of the links at one state, whatever else a controller sees."""

    state: State  # where they read
    # (sensor, link) -> what is added (3,) to the "gyro" [rad/s] or the "accelerometer" [m/s^2]
    noise: Callable[[str, str | None], np.ndarray] | None = None

    def gyro(self, state: State, link: str | None = None) -> np.ndarray:
        return self._add_noise("gyro", link, self.state.gyro(link))

    def accelerometer(self, state: State, link: str | None = None) -> np.ndarray:
        return self._add_noise("accelerometer", link, self.state.accelerometer(link))

    def contacts(self, state: State) -> ContactMoment | None:
        return self.state.contacts

    def _add_noise(self, sensor: str, link: str | None, reading: np.ndarray) -> np.ndarray:
        return reading if self.noise is None else reading + self.noise(sensor, link)


def _see(state: State, values: np.ndarray, sensors: SensorsAt) -> State:
    """The same moment with other numbers."""
    return State(state.t, values, replace(state.layout, sensors=sensors))


@check_arguments
class MeasurementNoise(Combinator):
    """Gaussian white noise on the state that a controller sees.

    New random numbers are drawn at each call; the same seed gives the same noise. The parameters
    are standard deviations, zero by default.

    Reading a state several times gives the same noise.

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
        Seed of the generator, which `reset` restarts.

    Raises
    ------
    InputError
        For deviations that are negative.
    ModelError
        At the first call, for noise on the base of a system without a base.
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
            read_number(name, size, "a standard deviation, zero or more", least=0.0)
        read_number("seed", seed, "a whole number, 0 or more", least=0)
        self.seed = seed
        self._forget()

    @property
    def measurement_noise(self) -> dict[str, float]:
        """Standard deviations by name, as this controller takes them."""
        return dict(self.sizes)

    def _forget(self) -> None:
        self._rng = np.random.default_rng([self.seed, 0])
        self._sensor_rng = np.random.default_rng([self.seed, 1])

    def __call__(self, t: float, state: State) -> Command:
        return self.inside[0](t, self.measure(state))

    def measure(self, state: State) -> State:
        """The measured state; draws the next random numbers."""
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
            raise ModelError("this system has no base to add noise to; use joint_position and "
                             "joint_velocity for its coordinates")
        for size, where in ((sizes["joint_position"], layout.joint_position),
                            (sizes["joint_velocity"], layout.joint_velocity)):
            values[list(where.values())] += size * normal(len(where))
        _agree(values, layout)
        known: dict[tuple[str, str | None], np.ndarray] = {}

        def noise(sensor: str, link: str | None) -> np.ndarray:
            if (sensor, link) not in known:
                known[sensor, link] = sizes[sensor] * self._sensor_rng.standard_normal(3)
            return known[sensor, link]

        return _see(state, values, SensorsAt(state, noise))


@check_arguments
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
        self.step = 2 * math.pi / read_count("ticks", ticks)
        self._forget()

    def _forget(self) -> None:
        # time and angles of the last call
        self._before: tuple[float, np.ndarray] | None = None

    def __call__(self, t: float, state: State) -> Command:
        layout, values = state.layout, state.values
        angles, rates = list(layout.encoder_angle.values()), list(layout.encoder_rate.values())
        values[angles] = np.floor(values[angles] / self.step) * self.step
        if self._before is None:
            values[rates] = 0.0
        else:
            then, angles_then = self._before
            values[rates] = (values[angles] - angles_then) / (t - then) if t > then else 0.0
        self._before = t, values[angles].copy()
        _agree(values, layout)
        return self.inside[0](t, _see(state, values, SensorsAt(state)))


def _agree(values: np.ndarray, layout: StateLayout) -> None:
    """Writes the unwrapped coordinates x into q."""
    q, x = values[:layout.nq], values[layout.nq + layout.nv:]
    for ix, iq, angle in layout.slots:
        if angle:
            q[iq], q[iq + 1] = math.cos(x[ix]), math.sin(x[ix])
        else:
            q[iq] = x[ix]


def _turn(quaternion: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A unit quaternion (x, y, z, w) turned by a rotation vector given in W."""
    return (pin.Quaternion(pin.exp3(turn)) * pin.Quaternion(quaternion)).coeffs()
