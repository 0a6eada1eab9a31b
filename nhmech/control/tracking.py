"""The common part of all path trackers: the tracked point, its errors, the timetable, the start,
the drive underneath."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from ..checks import check_arguments, read_positive
from ..errors import ModelError, Remedy
from ..simulation.command import NOT_YET, Command, Controller
from ..simulation.inverse_dynamics import POSITION_TIME, VELOCITY_TIME
from ..simulation.runs.trajectory import Trajectory
from ..simulation.state import State, base_pose
from ..vehicle.vehicle import Vehicle
from .balance import Balance
from .path import Path, Pose, Poses, Scalar, cos_sin, relative_pose
from .path_reference import path_reference
from .twist import TwistDrive
from .unicycle import unicycle

STOPPED = 1e-3      # of a unit left to go: here it stands

# makes the controller that carries out the twists (t, state) -> (3,) of a tracker
Drive = Callable[[Vehicle, Callable[[float, State], np.ndarray]], Controller]


@check_arguments
class Tracker(ABC):
    """Drives a vehicle along a path: a controller (t, state) -> Command.

    The vehicle is seen as a unicycle (`unicycle.py`): x' = v cos theta, y' = v sin theta, theta' =
    omega. Gains are pure numbers; lengths are measured in `unit` = length + 2 speed x lag [m],
    `lag` [s] the time in which steering, or else wheels, follow a command.

    Parameters
    ----------
    vehicle
        Any vehicle that can follow a twist.
    path
        A `Path`; the tracker slows down before the end of an open path and stops there.
    speed
        [m/s] of the tracked point.
    drive
        (vehicle, twist) -> controller that carries out the body twist which `twist(t, state)` of
        this tracker returns. None takes `TwistDrive`, or `Balance` for a vehicle whose pitch is
        free.

    Attributes
    ----------
    start
        Arguments for `Simulator.reset` that place the vehicle at the beginning of the path, moving
        along it.

    Raises
    ------
    ModelError
        For a vehicle that cannot follow a twist, as one that falls over sideways.
    InputError
        For a speed that is not positive, and for anything that is no path or no drive.
    """

    def __init__(self, vehicle: Vehicle, path: Path, *, speed: float = 0.5,
                 drive: Drive | None = None):
        self.vehicle, self.path, self.speed = vehicle, path, read_positive("speed", speed)
        self.unicycle = unicycle(vehicle)
        self.drive: Controller = (drive or _usual_drive(vehicle))(vehicle, self._command_twist)
        steers = any(axle.steering in vehicle.driven for axle in vehicle.steering.steered)
        self.lag = 2 * POSITION_TIME if steers else VELOCITY_TIME
        self.unit = self.unicycle.length + 2 * self.speed * self.lag
        # [m] of the tracked point before P
        self.ahead = 0.0
        self.reset()

    def __repr__(self) -> str:
        return (f"{type(self).__name__}({self.vehicle.name!r}, {self.path!r}, "
                f"speed={self.speed:g})")

    # -- what a tracker adds -----------------------------------------------------------------------
    @abstractmethod
    def law(self, t: float, pose: Pose, s: float) -> tuple[float, float]:
        """Speed [m/s] and turning rate [rad/s] of P, at `pose` x, y, heading; s [m] is nearest to
        the tracked point."""

    # -- the controller ----------------------------------------------------------------------------
    def reset(self) -> None:
        """Forgets where on the path it is, and its timetable."""
        self._s: float | None = None
        # time and arc length of the first call
        self._begun: tuple[float, float] | None = None
        # what the drive was last asked for
        self.commanded_twist: np.ndarray | None = np.array(NOT_YET)

    def __call__(self, t: float, state: State) -> Command:
        return self.drive(t, state)

    def _command_twist(self, t: float, state: State) -> np.ndarray:
        twist = self.twist(t, state)
        self.commanded_twist = twist
        return twist

    def twist(self, t: float, state: State) -> np.ndarray:
        """(forward [m/s], lateral [m/s], yaw rate [rad/s]) of the base."""
        pose, s = self._locate(t, state)
        if not self.path.closed and self.remaining(t, pose, s) < STOPPED * self.unit:
            return np.zeros(3)
        return self.unicycle.twist(*self.law(t, pose, s))

    def _locate(self, t: float, state: State) -> tuple[Pose, float]:
        """Pose of P, and s next to it, from which the next call looks on."""
        pose = self.unicycle.pose(state.pose)
        s = self._s = self._nearest(pose, self._s)
        if self._begun is None:
            self._begun = t, s
        return pose, s

    def remaining(self, t: float, pose: Pose, s: float) -> float:
        """Remaining length of an open path [m]; the vehicle stops when nothing remains."""
        return self.path.length - s

    # -- what the laws are made of -----------------------------------------------------------------
    def pace(self, s: float) -> float:
        """Speed at s [m/s]: `speed`, falling to zero over the last `unit` of an open path."""
        if self.path.closed:
            return self.speed
        return self.speed * min(max((self.path.length - s) / self.unit, 0.0), 1.0)

    def timetable(self, t: float) -> tuple[float, float, float]:
        """s [m], ds/dt and d2s/dt2 of a point that keeps this pace, from where the run began."""
        begun, s0 = self._begun if self._begun is not None else (t, 0.0)
        s = s0 + self.speed * (t - begun)
        brake = self.path.length - self.unit
        if self.path.closed or s <= brake:
            return s, self.speed, 0.0
        # a path shorter than that is all braking
        unit = min(self.unit, self.path.length - s0)
        if not unit > 0:
            return self.path.length, 0.0, 0.0                          # begun at its end
        passed = (s - (self.path.length - unit)) / unit
        rest = unit / self.unit * math.exp(-passed * unit / self.unit)
        return (self.path.length - self.unit * rest, self.speed * rest,
                -self.speed ** 2 / self.unit * rest)

    def offset(self, pose: Pose, s: float) -> tuple[float, float]:
        """Offset of the tracked point from p(s): lateral, positive to the left [m], and heading in
        [-pi, pi) [rad]."""
        return self._seen(pose, self.path.station(s))

    def _seen(self, pose: Poses, place: tuple[Scalar, ...]) -> tuple[Scalar, Scalar]:
        """At one moment, or at many: `offset` from a station of the path."""
        x, y, heading, _ = place
        _, lateral, turn = relative_pose((*self._tracked_point(pose), pose[2]), (x, y, heading))
        return lateral, turn

    def _nearest(self, pose: Pose, near: float | None) -> float:
        return float(self.path.follow(self._tracked_point(pose), pose[2], self.unicycle.length,
                                      near))

    def _tracked_point(self, pose: Poses) -> tuple[Scalar, Scalar]:
        c, s = cos_sin(pose[2])
        return pose[0] + self.ahead * c, pose[1] + self.ahead * s

    @property
    def path_reference(self) -> dict:
        """The data of path and tracked point that run files keep."""
        x, y = self.unicycle.offset
        c, s = math.cos(self.unicycle.yaw), math.sin(self.unicycle.yaw)
        return path_reference(self.vehicle, self.path,
                              point=(x + self.ahead * c, y + self.ahead * s, 0.0),
                              axle=(-s, c, 0.0))

    # -- errors, for plots -------------------------------------------------------------------------
    def error(self, state: State) -> tuple[float, float, float]:
        """(along, lateral, heading): the tracked point ahead of the timetable [m], left of the path
        [m], turned [rad].

        The heading is from the path's tangent.
        """
        pose = self.unicycle.pose(state.pose)
        s = self._nearest(pose, self._s)
        return self._error(pose, s - self.timetable(state.t)[0], self.path.station(s))

    def errors(self, trajectory: Trajectory) -> np.ndarray:
        """`error` of every recorded moment of a run, (n, 3)."""
        T = base_pose(trajectory.q)
        pose = self.unicycle.pose((T[:, 0, 3], T[:, 1, 3], np.arctan2(T[:, 1, 0], T[:, 0, 0])))
        s = self.path.trace(np.column_stack(self._tracked_point(pose)), pose[2],
                            self.unicycle.length)
        due = np.array([self.timetable(t)[0] for t in trajectory.t])
        return np.column_stack(self._error(pose, s - due, self.path.at(s)))

    def _error(self, pose: Poses, along: Scalar, place: tuple[Scalar, ...]) -> Poses:
        """At one moment, or at many: as `error`, with the station nearest to the pose."""
        return along, *self._seen(pose, place)

    # -- the start ---------------------------------------------------------------------------------
    @property
    def start(self) -> dict:
        """pose, joints, xi for `Simulator.reset`: the tracked point where the path begins, steered,
        moving along it."""
        x, y, heading, curvature = self.path.station(0.0)
        x, y = x - self.ahead * math.cos(heading), y - self.ahead * math.sin(heading)
        speed = self.pace(0.0)
        twist = self.unicycle.twist(speed, 0.0 if self.ahead else speed * curvature)
        steering = self.vehicle.steering
        axles = steering.pair() if steering.coupled else steering.steered
        scaled = twist * (1, 1, steering.length)
        joints = {axle.steering: axle.angle_for(scaled) for axle in axles
                  if axle.steering in self.vehicle.driven}
        return {"pose": self.unicycle.base((x, y, heading)), "joints": joints,
                "xi": dict(zip(("forward_speed", "lateral_speed", "yaw_rate"), map(float, twist)))}


def _usual_drive(vehicle: Vehicle) -> Drive:
    if "pitch_rate" in vehicle.speeds:
        return Balance
    if "roll_rate" in vehicle.speeds:
        raise ModelError(f"{vehicle.name!r} falls over sideways, and no twist holds it upright",
                         Remedy("To follow the path on two wheels: BicycleBalance(vehicle, path)",
                                "To follow the path on two wheels: --controller bicycle"))
    return TwistDrive
