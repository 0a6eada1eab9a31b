"""Topics and services of a bridge, for any middleware: messages in, messages out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, OutputError
from ..logs.messages import (
    CLOCK,
    DIAGNOSTICS,
    JOINTS,
    ODOMETRY,
    POSE,
    STAMPED_TWIST,
    STRING,
    TRANSFORMS,
    TWIST,
    WRENCH,
    Messages,
)
from ..logs.readings import Transform
from ..vehicle.vehicle import Vehicle
from .bridge import MAP, Bridge
from .planar import yaw_of
from .settings import Settings

KEPT = 10          # messages that a publisher keeps for slow readers
DIAGNOSED = 1.0    # [s] between two messages on /diagnostics
ROUNDING = 1e-6    # [s] of sums of periods
DESCRIPTION = "robot_description"
NAME = "nhmech"    # of the node, where its skin knows none

Outgoing = list[tuple[str, Any]]        # topic, message


class Input(NamedTuple):
    """Type of a topic's messages, and what takes one: (message, time now [s])."""

    kind: str
    take: Callable[[Any, float], object]


class Service(NamedTuple):
    """Type of a service, and what fills the response: (request, response)."""

    kind: str
    answer: Callable[[Any, Any], None]


class Node:
    """What a node of ROS is, without its transport.

    A skin makes publishers for `outputs` (reliable, of the last `KEPT` messages; those of `latched`
    are kept for late readers, one each) and subscriptions for `inputs`; it calls `tick`
    `settings.publish_rate` times a second and sends what comes back. Names without a slash are the
    node's own, to be remapped. Threads may call all of it.

    Parameters
    ----------
    vehicle
        What moves.
    settings
        Parameters of the node.
    messages
        Of the middleware.
    read_time
        Stamp of a header -> time [s].
    say
        Takes one line for the log.
    name
        With namespaces, such as "/left/nhmech": statuses in /diagnostics begin with it, and "~" in
        `tf_frame_prefix` is its namespace.

    Attributes
    ----------
    outputs
        Topic -> type.
    latched
        The messages that are sent once.
    inputs, services
        Name -> what takes it.

    Raises
    ------
    OutputError
        For a `command_log` that cannot be written.
    """

    def __init__(self, vehicle: Vehicle, settings: Settings, messages: Messages,
                 read_time: Callable[[Any], float], say: Callable[[str], None] = print,
                 name: str = NAME):
        settings = settings.within(name.rpartition("/")[0])
        self.settings, self._messages, self._read_time = settings, messages, read_time
        self._name = name.strip("/")
        self._lock = Lock()
        self._log = Path(settings.command_log)
        if settings.command_log:
            _begin_log(self._log)
        self.bridge = Bridge(vehicle, settings, say,
                             self._log_twist if settings.command_log else None)
        self._wheels = {contact: f"wheels/{re.sub(chr(92) + 'W', '_', contact)}/wrench"
                        for contact in vehicle.contact_names}
        self._stamp, self._diagnosed = -1, float("-inf")
        self.outputs, self.inputs = self._find_outputs(), self._find_inputs()
        self.services = {"~/reset": Service("std_srvs/srv/Empty", self._reset),
                         "~/pause": Service("std_srvs/srv/SetBool", self._pause),
                         "~/set_odometry": Service("control_msgs/srv/SetOdometry",
                                                   self._set_odometry)}
        self.latched = {DESCRIPTION: messages.string(vehicle.description.xml)}
        if not settings.publish_robot_description:
            self.latched.clear()

    def __repr__(self) -> str:
        return f"<Node of {self.bridge!r}>"

    def greet(self, waits: bool) -> str:
        """What it does, in one line; `waits` for a clock that has not begun."""
        runs = "waits for the first message on /clock, then runs" if waits else "runs"
        return f"{self.bridge.vehicle.name} {runs}, {self.settings.publish_rate:g} times a second"

    def _find_outputs(self) -> dict[str, str]:
        settings = self.settings
        twist = STAMPED_TWIST if settings.enable_stamped_cmd_vel else TWIST
        asked = {"/tf": (TRANSFORMS, any((settings.enable_odom_tf, settings.publish_map_odom_tf,
                                          settings.publish_contact_tf, settings.publish_link_tf))),
                 "/clock": (CLOCK, settings.publish_clock),
                 "ground_truth": (ODOMETRY, settings.ground_truth),
                 "cmd_vel_out": (twist, settings.publish_limited_velocity),
                 DESCRIPTION: (STRING, settings.publish_robot_description)}
        found = {"odom": ODOMETRY, "joint_states": JOINTS, "/diagnostics": DIAGNOSTICS}
        found |= {name: kind for name, (kind, is_asked) in asked.items() if is_asked}
        return found | dict.fromkeys(self._wheels.values(), WRENCH)

    def _find_inputs(self) -> dict[str, Input]:
        pose = {"initialpose": Input(POSE, self._take_pose)}
        if self.settings.mode == "joints":
            return {"joint_commands": Input(JOINTS, self._take_joints)} | pose
        if self.settings.enable_stamped_cmd_vel:
            return {"cmd_vel": Input(STAMPED_TWIST, self._take_stamped_twist)} | pose
        return {"cmd_vel": Input(TWIST, self._take_twist)} | pose

    # -- in ----------------------------------------------------------------------------------------
    def _take_twist(self, message: Any, now: float, age: float = 0.0) -> None:
        with self._lock:
            self.bridge.take_twist(message.linear.x, message.linear.y, message.angular.z, age)

    def _take_stamped_twist(self, message: Any, now: float) -> None:
        """A stamp of zero means no stamp, as for `diff_drive_controller`."""
        stamp = self._read_time(message.header.stamp)
        self._take_twist(message.twist, now, self._here(now) - stamp if stamp else 0.0)

    def _here(self, now: float) -> float:
        """The time [s] used for stamps."""
        return self.bridge.stamp if self.settings.publish_clock else now

    def _take_joints(self, message: Any, now: float) -> None:
        with self._lock:
            self.bridge.take_joints(message.name, message.position, message.velocity,
                                    message.effort)

    def _take_pose(self, message: Any, now: float) -> None:
        place, turned = message.pose.pose.position, message.pose.pose.orientation
        rotation = np.array([turned.x, turned.y, turned.z, turned.w])
        yaw = yaw_of(rotation) if rotation.any() else float("nan")
        frame = message.header.frame_id.strip("/")
        with self._lock:
            self.bridge.take_pose(place.x, place.y, yaw, frame or MAP)

    def _reset(self, request: Any, response: Any) -> None:
        with self._lock:
            self.bridge.reset()

    def _pause(self, request: Any, response: Any) -> None:
        with self._lock:
            self.bridge.pause(bool(request.data))
        response.success = True
        response.message = "paused" if request.data else "runs"

    def _set_odometry(self, request: Any, response: Any) -> None:
        try:
            with self._lock:
                self.bridge.set_odometry(request.x, request.y, request.yaw)
            response.success = True
        except InputError as error:
            response.success, response.message = False, str(error)

    # -- out ---------------------------------------------------------------------------------------
    def tick(self, now: float) -> Outgoing:
        """Simulates up to a time [s] and returns the messages to send, those of missed ticks
        included. There are none about the vehicle while its time is paused."""
        with self._lock:
            return [message for moment in self.bridge.moments(now)
                    for message in self._advance(moment)]

    def _advance(self, now: float) -> Outgoing:
        """The messages of one moment."""
        reading, bridge = self.bridge.advance(now), self.bridge
        stamp = round(bridge.stamp * 1e9)
        time = self._messages.time(stamp)
        found: Outgoing = []
        if self.settings.publish_clock:
            found.append(("/clock", self._messages.clock(time)))
        if stamp != self._stamp:
            self._stamp = stamp
            found += self._tell(time, reading)
        if not 0 <= now - self._diagnosed < DIAGNOSED - ROUNDING:
            self._diagnosed = now
            found.append(("/diagnostics", self._messages.diagnostics(
                time, bridge.vehicle.name,
                [(f"{self._name}: {one.name}", one.level, one.message, one.values)
                 for one in bridge.diagnostics])))
        return found

    def _tell(self, time: Any, reading: Any) -> Outgoing:
        """The messages of a new state."""
        messages, settings, bridge = self._messages, self.settings, self.bridge
        odometry, held = bridge.odometry, bridge.held_joints
        still, effort = [0.0] * len(held), reading.effort.tolist()
        position = [*reading.position.tolist(), *held.values()]
        found: Outgoing = [
            ("odom", messages.odometry(time, self._prefix(odometry.base), odometry.twist,
                                       settings.pose_covariance_diagonal,
                                       settings.twist_covariance_diagonal)),
            ("joint_states", messages.joint_state(
                time, [*bridge.readings.joints, *held], position,
                [*reading.velocity.tolist(), *still], [*effort, *still] if effort else []))]
        if "/tf" in self.outputs:
            found.append(("/tf", messages.transforms(time, map(self._prefix, bridge.frames))))
        if settings.ground_truth:
            root = Transform(MAP, *reading.base[1:])
            found.append(("ground_truth", messages.odometry(time, self._prefix(root),
                                                            reading.twist)))
        if settings.publish_limited_velocity:
            x, y, yaw = bridge.twist
            twist = (x, y, 0.0, 0.0, 0.0, yaw)
            frame = settings.frame(odometry.base.child)
            found.append(("cmd_vel_out", messages.stamped_twist(time, frame, twist)
                          if settings.enable_stamped_cmd_vel else messages.twist(twist)))
        return found + [(topic, messages.wrench(time, settings.frame(f"{name}_contact"),
                                                reading.forces[name]))
                        for name, topic in self._wheels.items()]

    def _prefix(self, edge: Transform) -> Transform:
        """A frame with the prefix; the map has none."""
        frame = self.settings.frame
        parent = MAP if edge.parent == MAP else frame(edge.parent)
        return Transform(parent, frame(edge.child), edge.translation, edge.rotation)

    def _log_twist(self, t: float, twist: tuple[float, float, float]) -> None:
        with self._log.open("a", encoding="utf-8") as file:
            file.write(",".join(map(repr, (t, *twist))) + "\n")


def _begin_log(path: Path) -> None:
    try:
        path.write_text("t,forward,lateral,yaw_rate\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"parameter command_log: {path} cannot be written: "
                          f"{error.strerror}") from error
