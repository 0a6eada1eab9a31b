"""A vehicle that is driven and read through plain data, by the clock of another: what the nodes
for ROS 1 and ROS 2 convert and transport."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from ..analysis.friction import coefficients
from ..analysis.mobility import mobility
from ..analysis.validity import Verdict, validity
from ..control.balance import Balance
from ..control.demo import DemoDrive
from ..control.twist import TwistDrive
from ..control.wheel_servo import WheelServo
from ..errors import InputError, NhmechError
from ..logs.readings import Reading, Readings, Transform
from ..simulation.contact_forces import force_reader
from ..simulation.simulator import Simulator
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .joint_commands import JointCommands
from .planar import PlanarPose, turn, yaw_of
from .settings import Settings

CONTROL_PERIOD = 0.01      # [s], a fifth of the time constant of `WheelServo`
JUDGED = 0.1               # [s] between two looks at whether the wheels still roll
AGAIN = 1.0                # [s] before the same thing is said again
LATE = 0.25                # [s]: further behind, the node gives up catching up
PLANAR = "base_footprint"  # REP-120: the shadow of the base on the ground
MAP = "map"                # REP-105: the frame that does not drift; here it is W
WAYS = 33                  # twists around a circle, nearer than `TwistDrive` reaches at a time
STILL = 1e-9               # [m/s] of lateral speed that counts as none

Twist = tuple[float, float, float]


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
        Placement of the root link in the base frame; None where that is the root link itself.
    """

    base: Transform
    twist: np.ndarray
    root: Transform | None = None


class Bridge:
    """Simulates a vehicle in step with a clock that it is told.

    Twists go through the limits of the settings to `WheelServo`, or to `Balance` where the
    vehicle's pitch is free; what no twist can drive is pushed off and coasts. Nothing that comes in
    stops it: what cannot be taken is refused with one line.

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
        base = self.settings.base_frame_id
        if base not in ("", self.readings.root, PLANAR):
            raise InputError(f"parameter base_frame_id = {base!r} must be the root link, "
                             f"{self.readings.root!r}, or {PLANAR!r}")
        self.has_lateral = mobility(vehicle).manoeuvrability == 3
        self._say_line = say
        self._on_twist: Callable[[float, Twist], None] | None = None
        self._joints = JointCommands(vehicle)
        self._mu = None if math.isnan(self.settings.mu) else self.settings.mu
        mu = coefficients(vehicle, self._mu)
        self._grip = 1 / np.array([mu[row.contact] for row in vehicle.contact_rows
                                   if row.direction == "normal"])
        every = max(1, round(CONTROL_PERIOD / self.settings.dt))
        controller = self._controller()
        # of what balances or is pushed off
        self._begin = (DemoDrive(vehicle).start if controller is None
                       else getattr(controller, "start", {}))
        # commands jump, and what lifts off is said by `_judge`: a node does not end there
        self.simulator = Simulator(vehicle, controller, dt=self.settings.dt,
                                   control_period=every * self.settings.dt, on_lift="ignore")
        self.is_paused = False
        self._start(None)
        self._warm_up()
        self._start(None)
        self._odom, self._steps, self._on_twist = PlanarPose(), 0, on_twist

    def __repr__(self) -> str:
        return f"<Bridge of {self.vehicle.name!r} at t = {self.simulator.t:.6g} s>"

    def _controller(self) -> Balance | WheelServo | None:
        if self.settings.mode == "joints":
            return WheelServo(self.vehicle, commands=self._joints)
        if self._coasts:
            return None
        if "pitch_rate" in self.vehicle.speeds:
            return Balance(self.vehicle, self._follow)
        return WheelServo(self.vehicle, commands=TwistDrive(self.vehicle, self._follow))

    def _warm_up(self) -> None:
        """Builds code and tables before the clock starts, which would wait for them."""
        force_reader(self.vehicle).function.compile()
        steers = self.vehicle.steering.steered and not self._coasts
        self.simulator.compile(self._steer_every_way() if steers else ())
        state = self.simulator.step()
        validity(self.vehicle, state.t, state.q, state.v, state.u, mu=self._mu)

    def _steer_every_way(self) -> list[np.ndarray]:
        """Configurations with the wheels as they are for twists all around."""
        drive, length = TwistDrive(self.vehicle, (0.0, 0.0, 0.0)), self.vehicle.steering.length
        planes = ((0, 2), (0, 1), (1, 2)) if self.has_lateral else ((0, 2),)
        limits, found = self.vehicle.limits, []
        for first, second in planes:
            for angle in np.linspace(0.0, 2 * math.pi, WAYS):
                twist = np.zeros(3)
                twist[first], twist[second] = math.cos(angle), math.sin(angle)
                joints, _ = drive.follow(0.0, self.simulator.state, twist * (length, length, 1.0))
                within = {name: min(max(value, limits[name].lower), limits[name].upper)
                          for name, value in joints.values.items()}
                with suppress(NhmechError):     # wheels that limits keep from meeting in a point
                    found.append(self.simulator.reset(joints=within).q)
        return found

    @property
    def _coasts(self) -> bool:
        """Whether no twist can drive it: it has no motor, or falls over to a side."""
        return not self.vehicle.driven or "roll_rate" in self.vehicle.speeds

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
        if self._coasts:
            self._refused = (f"cmd_vel is refused: {self.vehicle.name} coasts; it has no driven "
                             "wheel, or would fall over")
            self._say("coasts", self._refused)
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

    def take_joints(self, names: Sequence[str], position: Sequence[float] = (),
                    velocity: Sequence[float] = (), effort: Sequence[float] = ()) -> bool:
        """Commands of joints [rad, m; rad/s, m/s; N m, N], as `JointCommands` reads them. Returns
        whether they are followed; the last ones hold until others come."""
        try:
            self._joints.take(names, position, velocity, effort)
        except InputError as error:
            self._refused = f"joint_commands are refused: {error}"
            self._say("joints", self._refused)
            return False
        self._refused = ""
        return True

    def take_pose(self, x: float, y: float, yaw: float, frame: str = MAP) -> bool:
        """Puts the base there at rest; where that cannot be, the old pose stays.

        Parameters
        ----------
        frame
            The frame that the pose is told in, without prefixes: of the map, or of odometry.
            Where `publish_map_odom_tf` is set, odometry goes on as if nothing had happened, and
            the map moves under it; else odometry tells the new pose.
        """
        settings, told = self.settings, PlanarPose(x, y, yaw)
        try:
            if not all(map(math.isfinite, told)):
                raise InputError("it is not finite")
            if frame not in (MAP, settings.odom_frame_id):
                raise InputError(f"its frame is {frame!r}, not {MAP!r} or "
                                 f"{settings.odom_frame_id!r}")
            pose = self._odom @ told if frame == settings.odom_frame_id else told
            before = self._planar(self._odom.inverse)
            self._start(pose)
        except NhmechError as error:
            self._say("pose", f"initialpose ({x:g}, {y:g}, {yaw:g}) is refused: {error}")
            return False
        if settings.publish_map_odom_tf:
            self._odom = pose @ before.inverse
        return True

    def set_odometry(self, x: float, y: float, yaw: float) -> None:
        """Has odometry say so from now on; the vehicle does not move.

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
        self._start(None)
        self._odom = PlanarPose()

    def pause(self, on: bool) -> None:
        """Stops the vehicle's time, or lets it go on."""
        self.is_paused = on

    def _start(self, pose: PlanarPose | None) -> None:
        place = [0.0] * 6
        begin = tuple(self._begin.get("pose", ()))
        place[:len(begin)] = begin
        x, y, yaw = pose or (place[0], place[1], place[5])
        self.simulator.reset(**self._begin | {"pose": (x, y, *place[2:5], yaw)})
        self._now: float | None = None
        self._due = 0.0             # [s] that the vehicle is behind
        self._wanted, self._heard = (0.0, 0.0, 0.0), -math.inf
        self.twist: Twist = (0.0, 0.0, 0.0)
        self._followed: float | None = None
        self._told: Twist | None = None
        self._joints.clear()
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
            self.reset()
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
                self._steps += 1
                self._due -= self.settings.dt
        except NhmechError as error:
            self._failure = str(error)
            self._due = 0.0
            self._say("failure", f"the simulation stands still until it is reset: {error}")
        state = self.simulator.state
        self._judge(state)
        self.reading = self.readings.read_state(state)
        return self.reading

    @property
    def stamp(self) -> float:
        if self.settings.publish_clock:
            return self._steps * self.settings.dt
        now = self._now or 0.0
        held = self.is_paused or self._failure
        return now if held else now - self._due / self.settings.speed_factor

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
        if self._on_twist is not None and self.twist != self._told:
            self._told = self.twist
            self._on_twist(t, self.twist)
        return self.twist

    def _judge(self, state: State) -> None:
        """Looks now and then at whether the wheels can roll as they do. The forces' shortest split
        mostly shows that they can, in no time; all splits are looked for where it does not, and
        that now and then is rarer once they cannot."""
        if state.t - self._judged < (JUDGED if self._slips is None else AGAIN):
            return
        self._judged = state.t
        moment = state.t, state.q, state.v, state.u
        if min(force_reader(self.vehicle).room(*moment, self._grip)) >= 0:
            self._slips = None
            return
        found = validity(self.vehicle, *moment, mu=self._mu)
        if found.verdict is not Verdict.FAILS:
            self._slips = None
        elif self._slips is None:
            self._slips = state.t, found.reason()

    # -- out ---------------------------------------------------------------------------------------
    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """For /diagnostics: the simulation, whether the wheels can roll, and the commands."""
        name = self.vehicle.name
        simulation = Diagnostic(f"{name}: simulation", "runs",
                                values={"time [s]": f"{self.simulator.t:.3f}",
                                        "joints": ", ".join(self.vehicle.driven)})
        if self._failure:
            simulation = replace(simulation, level="ERROR",
                                 message=f"stands still: {self._failure}")
        elif self.is_paused:
            simulation = replace(simulation, message="paused")
        rolling = Diagnostic(f"{name}: rolling", "all wheels roll")
        if self._slips is not None:
            since, why = self._slips
            rolling = Diagnostic(
                rolling.name, f"ideal rolling does not hold since t = {since:.3f} s: {why}",
                "WARN", {"since [s]": f"{since:.3f}"})
        commands = Diagnostic(f"{name}: commands", self._refused or "followed",
                              "WARN" if self._refused else "OK")
        return simulation, rolling, commands

    @property
    def map_to_odom(self) -> Transform:
        """The frame of odometry in the world."""
        x, y, _ = self._odom
        return Transform(MAP, self.settings.odom_frame_id, np.array([x, y, 0.0]),
                         self._odom.rotation)

    @property
    def odometry(self) -> Odometry:
        """Of the frame that `base_frame_id` names; the shadow of the root link has z = 0."""
        reading, odom = self.reading, self.settings.odom_frame_id
        base = self.settings.base_frame_id or self.readings.root
        inverse = self._odom.inverse
        placed = inverse.place(reading.base.translation, reading.base.rotation)
        if base != PLANAR:
            return Odometry(Transform(odom, base, *placed), reading.twist)
        here = self._planar(inverse)
        rotation = reading.base.rotation
        seen, twist = self._planar(PlanarPose()), np.zeros(6)
        linear, angular = turn(rotation, reading.twist[:3]), turn(rotation, reading.twist[3:])
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
        """The frames that the settings ask for, without prefixes."""
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

    def _say(self, what: str, line: str) -> None:
        """One line about a thing, once in a while of the caller's clock."""
        now = self._now or 0.0
        if now - self._said.get(what, -math.inf) >= AGAIN:
            self._said[what] = now
            self._say_line(line)
