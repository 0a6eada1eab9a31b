"""A vehicle that is driven and read through plain data, by the clock of another: what the nodes
for ROS 1 and ROS 2 convert and transport."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..analysis.mobility import mobility
from ..analysis.validity import Verdict, validity
from ..control.balance import Balance
from ..control.twist import TwistDrive
from ..control.wheel_servo import WheelServo
from ..errors import InputError, NhmechError
from ..logs.readings import Reading, Readings
from ..simulation.contact_forces import force_reader
from ..simulation.simulator import Simulator
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .settings import Settings

CONTROL_PERIOD = 0.01      # [s], a fifth of the time constant of `WheelServo`
JUDGED = 0.1               # [s] between two looks at whether the wheels still roll
AGAIN = 1.0                # [s] before the same thing is said again
LATE = 0.25                # [s]: further behind, the node gives up catching up
PLANAR = "base_footprint"  # REP-120: the shadow of the base on the ground
STILL = 1e-9               # [m/s] of lateral speed that counts as none

Twist = tuple[float, float, float]


@dataclass(frozen=True)
class Health:
    """What /diagnostics tells: whether all is well, in words, and since when [s] if not."""

    is_well: bool
    message: str
    since: float | None = None


class Bridge:
    """Simulates a vehicle in step with a clock that it is told.

    Twists go through the limits of the settings to `WheelServo`, or to `Balance` where the
    vehicle's pitch is free. Nothing that comes in stops it: what cannot be taken is refused with
    one line.

    Parameters
    ----------
    vehicle
        With driven joints.
    settings
        Parameters of the node.
    say
        Takes one line for the log.

    Attributes
    ----------
    twist
        The twist that is commanded now, after the limits.

    Raises
    ------
    ModelError
        For a vehicle that cannot follow a twist.
    InputError
        For a base_frame_id that is another link.

    Examples
    --------
    >>> from nhmech.ros import Bridge
    >>> bridge = Bridge(vehicle)
    >>> bridge.take_twist(0.5, 0.0, 0.0)
    True
    >>> for k in range(21):
    ...     reading = bridge.advance(0.01 * k)
    >>> bool(reading.twist[0] > 0.4)
    True
    """

    def __init__(self, vehicle: Vehicle, settings: Settings | None = None,
                 say: Callable[[str], None] = print):
        self.vehicle, self.settings = vehicle, settings or Settings()
        self.readings = Readings(vehicle)
        base = self.settings.base_frame_id
        if base not in ("", self.readings.root, PLANAR):
            raise InputError(f"parameter base_frame_id = {base!r} must be the root link, "
                             f"{self.readings.root!r}, or {PLANAR!r}")
        self.has_lateral = mobility(vehicle).manoeuvrability == 3
        self._say_line = say
        controller = (Balance(vehicle, self._follow) if "pitch_rate" in vehicle.speeds
                      else WheelServo(vehicle, commands=TwistDrive(vehicle, self._follow)))
        every = max(1, round(CONTROL_PERIOD / self.settings.dt))
        self.simulator = Simulator(vehicle, controller, dt=self.settings.dt,
                                   control_period=every * self.settings.dt)
        self.is_paused = False
        # code is compiled and tables are made before the clock starts
        self._start(None)
        self.simulator.compile()
        force_reader(vehicle).function.compile()
        self._judge(self.simulator.step())
        self._start(None)

    def __repr__(self) -> str:
        return f"<Bridge of {self.vehicle.name!r} at t = {self.simulator.t:.6g} s>"

    # -- in ----------------------------------------------------------------------------------------
    def take_twist(self, forward: float, lateral: float, yaw_rate: float, age: float = 0.0) -> bool:
        """A command [m/s, m/s, rad/s]. Returns whether it is followed.

        Parameters
        ----------
        age
            [s] between its stamp and now; older than the time-out it is dropped.
        """
        command = float(forward), float(lateral), float(yaw_rate)
        if not all(map(math.isfinite, command)):
            self._say("cmd_vel", f"cmd_vel {command} is ignored: it is not finite")
            return False
        timeout = self.settings.cmd_vel_timeout
        if timeout and age > timeout:
            self._say("stamp", f"a cmd_vel is dropped: its stamp is {age:.3g} s old, "
                               f"cmd_vel_timeout is {timeout:g} s")
            return False
        if abs(lateral) > STILL and not self.has_lateral:
            self._refused = (f"lateral speed {lateral:g} m/s is refused: {self.vehicle.name} "
                             "cannot move sideways")
            self._say("lateral", self._refused)
            command = command[0], 0.0, command[2]
        else:
            self._refused = ""
        self._wanted, self._heard = command, self.simulator.t
        return True

    def take_pose(self, x: float, y: float, yaw: float) -> bool:
        """Puts the vehicle there at rest; where that cannot be, the old pose stays."""
        try:
            self._start((x, y, yaw))
        except NhmechError as error:
            self._say("pose", f"initialpose ({x:g}, {y:g}, {yaw:g}) is refused: {error}")
            return False
        return True

    def reset(self) -> None:
        """Back to the origin, at rest."""
        self._start(None)

    def pause(self, on: bool) -> None:
        """Stops the vehicle's time, or lets it go on."""
        self.is_paused = on

    def _start(self, pose: Twist | None) -> None:
        if pose is not None and not all(map(math.isfinite, pose)):
            raise InputError("it is not finite")
        self.simulator.reset(pose)
        self._now: float | None = None
        self._due = 0.0             # [s] that the vehicle is behind
        self._wanted, self._heard = (0.0, 0.0, 0.0), -math.inf
        self.twist: Twist = (0.0, 0.0, 0.0)
        self._followed: float | None = None
        self._refused, self._failure = "", ""
        self._judged = -math.inf
        self._slips: tuple[float, str] | None = None
        self._said: dict[str, float] = {}       # what was said -> when
        self.reading = self.readings.read_state(self.simulator.state)

    # -- time --------------------------------------------------------------------------------------
    def advance(self, now: float) -> Reading:
        """Simulates up to `now` [s] of the caller's clock; returns what there is to tell.

        The first call starts the clock. A clock that goes back resets the vehicle.
        """
        if self._now is not None and now < self._now:
            self._start(None)
            self._say("clock", f"time went back to {now:.3f} s: the vehicle is reset")
        passed = 0.0 if self._now is None else now - self._now
        self._now = now
        if self.is_paused or self._failure:
            return self.reading
        if passed > LATE:
            self._say("late", f"{passed:.3g} s passed without a tick: the vehicle's time leaves "
                              f"out {passed - LATE:.3g} s of them")
            passed = LATE
        self._due += passed * self.settings.speed_factor
        try:
            while self._due > 0.5 * self.settings.dt:
                self.simulator.step()
                self._due -= self.settings.dt
        except NhmechError as error:
            self._failure = str(error)
            self._due = 0.0
            self._say("failure", f"the simulation stands still until it is reset: {error}")
        state = self.simulator.state
        self._judge(state)
        self.reading = self.readings.read_state(state)
        return self.reading

    def _follow(self, t: float, state: State) -> Twist:
        """The twist at a moment of the vehicle's time: limits, and the end of an old command."""
        timeout, wanted = self.settings.cmd_vel_timeout, self._wanted
        if timeout and t - self._heard > timeout + 0.5 * self.settings.dt:
            if any(self.twist):
                self._say("timeout", f"no cmd_vel for {timeout:g} s: the vehicle brakes")
            wanted = (0.0, 0.0, 0.0)
        passed = CONTROL_PERIOD if self._followed is None else t - self._followed
        self._followed = t
        limits = (self.settings.linear_x, self.settings.linear_y, self.settings.angular_z)
        x, y, yaw = (limit.clip(value, before, passed)
                     for limit, value, before in zip(limits, wanted, self.twist))
        self.twist = (x, y, yaw)
        return self.twist

    def _judge(self, state: State) -> None:
        """Looks now and then at whether the wheels can roll as they do."""
        if state.t - self._judged < JUDGED:
            return
        self._judged = state.t
        found = validity(self.vehicle, state.t, state.q, state.v, state.u)
        if found.verdict is not Verdict.FAILS:
            self._slips = None
        elif self._slips is None:
            self._slips = state.t, found.reason()

    # -- out ---------------------------------------------------------------------------------------
    @property
    def health(self) -> Health:
        """For /diagnostics."""
        if self._failure:
            return Health(False, f"stands still: {self._failure}", self.simulator.t)
        if self._slips is not None:
            since, why = self._slips
            return Health(False, f"ideal rolling does not hold since t = {since:.3f} s: {why}",
                          since)
        if self._refused:
            return Health(False, self._refused, self._heard)
        return Health(True, "all wheels roll")

    @property
    def base(self) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
        """Name, position (3,), quaternion (4,) and twist (6,) of the frame that odometry is of."""
        reading, name = self.reading, self.settings.base_frame_id or self.readings.root
        position, rotation = reading.base.translation, reading.base.rotation
        if name != PLANAR or self.readings.root == PLANAR:
            return name, position, rotation, reading.twist
        x, y, z, w = rotation
        yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        twist = np.zeros(6)
        linear, angular = _turn(rotation, reading.twist[:3]), _turn(rotation, reading.twist[3:])
        c, s = math.cos(yaw), math.sin(yaw)
        twist[:2] = c * linear[0] + s * linear[1], c * linear[1] - s * linear[0]
        twist[5] = angular[2]
        return (name, np.array([position[0], position[1], 0.0]),
                np.array([0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)]), twist)

    def _say(self, what: str, line: str) -> None:
        """One line about a thing, once in a while."""
        t = self.simulator.t
        if t - self._said.get(what, -math.inf) >= AGAIN:
            self._said[what] = t
            self._say_line(line)


def _turn(rotation: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """A vector (3,) turned by a unit quaternion x, y, z, w."""
    axis, w = rotation[:3], rotation[3]
    across = 2 * np.cross(axis, vector)
    return vector + w * across + np.cross(axis, across)
