"""A vehicle that is driven and read through plain data, by the clock of another: what the nodes
for ROS 1 and ROS 2 convert and transport."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..control.teleoperation import LATE, Teleoperation
from ..control.twist_limits import Twist, TwistLimits
from ..control.wheel_servo import WheelServo
from ..errors import InputError, NhmechError
from ..logs.readings import Reading, Readings, Transform
from ..simulation.simulator import Simulator
from ..vehicle.vehicle import Vehicle
from .joint_commands import JointCommands
from .planar import PlanarPose, rotate, yaw_of
from .settings import Settings

AGAIN = 1.0                # [s] before the same thing is said again
EARLY = 0.25               # periods by which a message may be early
TWICE = 2.0                # periods of a slow rate that are no lateness
PLANAR = "base_footprint"  # REP-120: the shadow of the base on the ground
MAP = "map"                # REP-105: the frame that does not drift; here it is W


@dataclass(frozen=True)
class Diagnostic:
    """One status of /diagnostics: its level is "OK", "WARN" or "ERROR"."""

    name: str
    message: str
    level: str = "OK"
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Odometry:
    """Where the base is in the frame of odometry.

    Attributes
    ----------
    base
        Placement of the base frame, without prefixes.
    twist
        (6,) linear [m/s] and angular [rad/s] velocity along the base frame's own axes.
    root
        Placement of the root link in the base frame; None if that is the root link itself.
    """

    base: Transform
    twist: np.ndarray
    root: Transform | None = None


class Bridge:
    """Simulates a vehicle in step with an external clock.

    `Teleoperation` drives it, within the limits of the settings. Nothing that comes in stops it:
    what cannot be taken is refused with one line.

    Parameters
    ----------
    vehicle
        What moves.
    settings
        Parameters of the node.
    say
        Takes one line for the log.
    on_twist
        Told (vehicle's time [s], twist) when the twist that is followed changes.

    Attributes
    ----------
    twist
        The twist that is commanded now, after the limits.
    stamp
        [s] of the present reading: of the caller's clock, or where `publish_clock` is set, of the
        vehicle's own, which no reset puts back.

    Raises
    ------
    ModelError
        For a vehicle without driven joints in the mode "joints", and one that cannot balance.
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
                 say: Callable[[str], None] = print,
                 on_twist: Callable[[float, Twist], None] | None = None):
        self.vehicle, self.settings = vehicle, settings or Settings()
        self.readings = Readings(vehicle)
        self._fixed = self.readings.fixed()
        base, root = self.settings.base_frame_id, self.readings.root
        if base not in ("", root, PLANAR):
            raise InputError(f"parameter base_frame_id = {base!r} must be the root link, {root!r}"
                             + ("" if root == PLANAR else f", or {PLANAR!r}")
                             + ": the frames of other links are robot_state_publisher's")
        self._say_line = say
        self._now: float | None = None
        self._due = 0.0                         # the next message
        self._said: dict[str, float] = {}       # what was said -> when
        self._joints = JointCommands(vehicle)
        follows_joints = self.settings.mode == "joints"
        self._drive = Teleoperation(
            vehicle, WheelServo(vehicle, commands=self._joints) if follows_joints else None,
            dt=self.settings.dt, speed_factor=self.settings.speed_factor,
            limits=TwistLimits(self.settings.linear_x, self.settings.linear_y,
                               self.settings.angular_z),
            timeout=self.settings.cmd_vel_timeout,
            mu=None if math.isnan(self.settings.mu) else self.settings.mu,
            late=max(LATE, TWICE / self.settings.publish_rate),
            called="cmd_vel", say=self.tell, on_twist=on_twist)
        self._odom = PlanarPose()
        self._forget()

    def __repr__(self) -> str:
        return f"<Bridge of {self.vehicle.name!r} at t = {self.simulator.t:.6g} s>"

    @property
    def simulator(self) -> Simulator:
        """What simulates the vehicle."""
        return self._drive.simulator

    @property
    def twist(self) -> Twist:
        return self._drive.twist

    @property
    def is_paused(self) -> bool:
        """Whether simulated time is paused."""
        return self._drive.is_paused

    # -- in ----------------------------------------------------------------------------------------
    def take_twist(self, forward: float, lateral: float, yaw_rate: float, age: float = 0.0) -> bool:
        """A command [m/s, m/s, rad/s]. Returns whether it is followed.

        Parameters
        ----------
        age
            [s] between its stamp and now; older than the time-out it is dropped, and the time-out
            counts from the stamp.
        """
        timeout = self.settings.cmd_vel_timeout
        if timeout and age > timeout:
            self.tell("stamp", f"a cmd_vel is dropped: its stamp is {age:.3g} s old, "
                               f"cmd_vel_timeout is {timeout:g} s")
            return False
        return self._drive.take(forward, lateral, yaw_rate, max(age, 0.0))

    def take_joints(self, names: Sequence[str], position: Sequence[float] = (),
                    velocity: Sequence[float] = (), effort: Sequence[float] = ()) -> bool:
        """Commands of joints [rad, m; rad/s, m/s; N m, N], as `JointCommands` reads them. Returns
        whether they are followed; the last ones hold until others come."""
        try:
            self._joints.take(names, position, velocity, effort)
        except InputError as error:
            self._refused = f"joint_commands are refused: {error}"
            self.tell("joints", self._refused)
            return False
        self._refused = ""
        return True

    def take_pose(self, x: float, y: float, yaw: float, frame: str = MAP) -> bool:
        """Puts the base there at rest; where that cannot be, the old pose stays.

        Parameters
        ----------
        frame
            The frame of the pose: the map, or the odometry frame with its prefix. Where
            `publish_map_odom_tf` is set, odometry is unchanged and the map frame moves; otherwise
            odometry has the new pose.
        """
        settings, given = self.settings, PlanarPose(x, y, yaw)
        odom = settings.frame(settings.odom_frame_id)
        try:
            if not all(map(math.isfinite, given)):
                raise InputError("it is not finite")
            if frame not in (MAP, odom):
                raise InputError(f"its frame is {frame!r}, not {MAP!r} or {odom!r}")
            pose = self._odom @ given if frame == odom else given
            before = self._planar(self._odom.inverse)
            self._restart(pose)
        except NhmechError as error:
            self.tell("pose", f"initialpose ({x:g}, {y:g}, {yaw:g}) is refused: {error}")
            return False
        if settings.publish_map_odom_tf:
            self._odom = pose @ before.inverse
        return True

    def set_odometry(self, x: float, y: float, yaw: float) -> None:
        """Sets the odometry from now on; the vehicle does not move.

        Raises
        ------
        InputError
            For numbers that are not finite.
        """
        if not all(map(math.isfinite, (x, y, yaw))):
            raise InputError(f"odometry ({x:g}, {y:g}, {yaw:g}) is not finite")
        self._odom = self._planar(PlanarPose()) @ PlanarPose(x, y, yaw).inverse

    def reset(self) -> None:
        """Back to the origin, at rest; odometry begins anew."""
        self._restart(None)
        self._odom = PlanarPose()

    def pause(self, on: bool) -> None:
        """Stops the vehicle's time, or lets it go on."""
        self._drive.is_paused = on

    def _restart(self, pose: PlanarPose | None) -> None:
        self._drive.restart(pose)
        self._forget()

    def _forget(self) -> None:
        """Starts anew from the present state."""
        self._now = None
        self._joints.clear()
        self._refused = ""
        self._said.clear()
        self.reading = self.readings.read_state(self.simulator.state)

    # -- time --------------------------------------------------------------------------------------
    def advance(self, now: float) -> Reading:
        """Simulates up to `now` [s] of the caller's clock; returns what there is to tell.

        The first call starts the clock. A clock that goes back resets the vehicle.
        """
        if self._now is not None and now < self._now:
            self.reset()
            self.tell("clock", f"time went back to {now:.3f} s: the vehicle is reset")
        passed = 0.0 if self._now is None else now - self._now
        self._now = now
        if self.is_paused or self._drive.failure:
            return self.reading
        self.reading = self.readings.read_state(self._drive.advance(passed))
        return self.reading

    def moments(self, now: float) -> list[float]:
        """Times [s] for `advance`, up to `now`, at which messages are due. They are one period
        apart however late the caller is, so that a busy computer leaves no gaps in recordings."""
        period = 1 / self.settings.publish_rate
        if self._now is None or now < self._now or self.is_paused or self._drive.failure:
            self._due = now + period
            return [now]
        passed = self._drive.leave_out(now - self._now)
        self._now = now - passed
        if self._due <= self._now:              # of time that is left out
            self._due = self._now + period
        found = []
        while self._due <= now + EARLY * period:
            found.append(min(self._due, now))
            self._due += period
        return found

    @property
    def stamp(self) -> float:
        drive = self._drive
        if self.settings.publish_clock:
            return drive.steps * self.settings.dt
        now = self._now or 0.0
        held = drive.is_paused or drive.failure
        return now if held else now - drive.behind / self.settings.speed_factor

    # -- out ---------------------------------------------------------------------------------------
    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """For /diagnostics: the simulation, whether the wheels can roll, and the commands."""
        simulation = Diagnostic("simulation", "runs",
                                values={"time [s]": f"{self.simulator.t:.3f}",
                                        "joints": ", ".join(self.vehicle.driven)})
        if self._drive.failure:
            simulation = replace(simulation, level="ERROR",
                                 message=f"stands still: {self._drive.failure}")
        elif self.is_paused:
            simulation = replace(simulation, message="paused")
        rolling = Diagnostic("rolling", "all wheels roll")
        if self._drive.slips is not None:
            since, why = self._drive.slips
            rolling = Diagnostic(
                rolling.name, f"ideal rolling does not hold since t = {since:.3f} s: {why}",
                "WARN", {"since [s]": f"{since:.3f}"})
        refused = self._refused or self._drive.refused
        commands = Diagnostic("commands", refused or "followed", "WARN" if refused else "OK")
        return simulation, rolling, commands

    @property
    def map_to_odom(self) -> Transform:
        """The frame of odometry in the world."""
        x, y, _ = self._odom
        return Transform(MAP, self.settings.odom_frame_id, np.array([x, y, 0.0]),
                         self._odom.rotation)

    @property
    def odometry(self) -> Odometry:
        """Odometry of the frame that `base_frame_id` names; the shadow of the root link has z =
        0."""
        reading, odom = self.reading, self.settings.odom_frame_id
        base = self.settings.base_frame_id or self.readings.root
        inverse = self._odom.inverse
        placed = inverse.place(reading.base.translation, reading.base.rotation)
        if base != PLANAR:
            return Odometry(Transform(odom, base, *placed), reading.twist)
        here = self._planar(inverse)
        rotation = reading.base.rotation
        seen, twist = self._planar(PlanarPose()), np.zeros(6)
        linear, angular = rotate(rotation, reading.twist[:3]), rotate(rotation, reading.twist[3:])
        c, s = math.cos(seen.yaw), math.sin(seen.yaw)
        twist[:2] = c * linear[0] + s * linear[1], c * linear[1] - s * linear[0]
        twist[5] = angular[2]
        flat = Transform(odom, base, np.array([here.x, here.y, 0.0]), here.rotation)
        if self.readings.root == PLANAR:
            return Odometry(flat, twist)
        above = seen.inverse.place(reading.base.translation, rotation)
        return Odometry(flat, twist, Transform(base, self.readings.root, *above))

    @property
    def frames(self) -> tuple[Transform, ...]:
        """The frames that the settings select, without prefixes."""
        settings, odometry = self.settings, self.odometry
        found = [self.map_to_odom] if settings.publish_map_odom_tf else []
        if settings.enable_odom_tf:
            found += [odometry.base] + ([odometry.root] if odometry.root is not None else [])
        if settings.publish_link_tf:
            found += [*self.reading.links, *self._fixed]
        if settings.publish_contact_tf:
            inverse = self._odom.inverse
            found += [Transform(settings.odom_frame_id, edge.child,
                                *inverse.place(edge.translation, edge.rotation))
                      for edge in self.reading.contacts]
        return tuple(found)

    @property
    def held_joints(self) -> Mapping[str, float]:
        """Joints of the file that do not move here -> where they are held [rad, m]."""
        return {name: position for name, position in self.vehicle.description.locked.items()
                if name not in self.readings.joints}

    def _planar(self, frame: PlanarPose) -> PlanarPose:
        """The root link seen from above, in the frame whose inverse is given."""
        base = self.reading.base
        return frame @ PlanarPose(base.translation[0], base.translation[1], yaw_of(base.rotation))

    def tell(self, what: str, line: str) -> None:
        """One line of the log about a thing, once in a while of the caller's clock."""
        now = self._now or 0.0
        if now - self._said.get(what, -math.inf) >= AGAIN:
            self._said[what] = now
            self._say_line(line)
