"""A run as ROS 2 messages in an open bag; see `mcap` for the topics."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..simulation.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from .readings import Reading, Readings, Transform

TYPES = {"/robot_description": "std_msgs/msg/String", "/tf_static": "tf2_msgs/msg/TFMessage",
         "/tf": "tf2_msgs/msg/TFMessage", "/odom": "nav_msgs/msg/Odometry",
         "/joint_states": "sensor_msgs/msg/JointState", "/cmd_vel": "geometry_msgs/msg/Twist"}
WRENCH = "geometry_msgs/msg/WrenchStamped"
LATCHED = ("/robot_description", "/tf_static")
PACKAGES = ("std_msgs", "builtin_interfaces", "geometry_msgs", "nav_msgs", "sensor_msgs",
            "tf2_msgs")


class Bag:
    """Writes the messages of a run with an open writer of rosbags.

    Parameters
    ----------
    forces
        Whether the wheels' wrenches are among them.
    twist
        (N, 3) commanded at each recorded state, or None.
    """

    def __init__(self, writer: Any, vehicle: Vehicle, run: Trajectory, forces: bool,
                 twist: np.ndarray | None):
        from rosbags.typesys import Stores, get_typestore

        self.store = get_typestore(Stores.ROS2_HUMBLE)
        self.message = SimpleNamespace(**{name.rpartition("/")[2]: kind
                                          for name, kind in self.store.types.items()
                                          if name.split("/")[0] in PACKAGES})
        self.writer, self.vehicle, self.run, self.twist = writer, vehicle, run, twist
        self.readings = Readings(vehicle)
        self.wheels = {name: re.sub(r"\W", "_", name)
                       for name in (vehicle.contact_names if forces else ())}
        types = TYPES | {f"/wheels/{name}/wrench": WRENCH for name in self.wheels.values()}
        if twist is None or not np.isfinite(twist).any():
            del types["/cmd_vel"]
        self.topics = {topic: self._connect(topic, kind) for topic, kind in types.items()}
        self.positions = np.reshape([self._position(name) for name in self.readings.joints],
                                    (-1, len(run))).T
        self.unknown = np.zeros(36)

    def _connect(self, topic: str, kind: str) -> Any:
        from rosbags.interfaces import (
            Qos,
            QosDurability,
            QosHistory,
            QosLiveliness,
            QosReliability,
            QosTime,
        )

        forever = QosTime(2147483647, 4294967295)
        kept = QosDurability.TRANSIENT_LOCAL if topic in LATCHED else QosDurability.VOLATILE
        qos = Qos(QosHistory.KEEP_LAST, 1 if topic in LATCHED else 10, QosReliability.RELIABLE,
                  kept, forever, forever, QosLiveliness.AUTOMATIC, forever, False)
        return self.writer.add_connection(topic, kind, typestore=self.store,
                                          offered_qos_profiles=[qos])

    def _position(self, joint: str) -> np.ndarray:
        """Unwrapped position of a joint along the run."""
        run = self.run
        if joint in run.names["angles"]:
            return run.angles[:, run.names["angles"].index(joint)]
        return run.q[:, run.names["q"].index(joint)]

    def write(self, rows: np.ndarray, progress: Callable[[float], None] | None) -> None:
        """Writes the recorded states `rows`; stamps count from t = 0."""
        first = round(self.run.t[rows[0]] * 1e9)
        stamp = self._header(first, "").stamp
        fixed = [self._transform(stamp, link) for link in self.readings.fixed()]
        self._send("/robot_description", first, self.message.String(self.vehicle.description.xml))
        self._send("/tf_static", first, self.message.TFMessage(fixed))
        for k in rows:
            self._write_state(int(k))
            if progress is not None:
                progress(self.run.t[k])

    def _write_state(self, k: int) -> None:
        """The messages of one recorded state."""
        run = self.run
        forces = dict(zip(self.wheels, run.reactions.world[k])) if self.wheels else None
        reading = self.readings.read(run.t[k], run.q[k], run.v[k], self.positions[k],
                                     None if run.kinematic else run.u[k], forces)
        now = round(run.t[k] * 1e9)
        stamp = self._header(now, "").stamp
        edges = (reading.base, *reading.links, *reading.contacts)
        transforms = [self._transform(stamp, edge) for edge in edges]
        self._send("/tf", now, self.message.TFMessage(transforms))
        self._send("/odom", now, self._odometry(stamp, reading))
        self._send("/joint_states", now, self.message.JointState(
            self.message.Header(stamp, ""), list(self.readings.joints), reading.position,
            reading.velocity, reading.effort))
        for name, force in reading.forces.items():
            wrench = self.message.Wrench(self.message.Vector3(*force), self._vector(0.0))
            header = self.message.Header(stamp, f"{name}_contact")
            self._send(f"/wheels/{self.wheels[name]}/wrench", now,
                       self.message.WrenchStamped(header, wrench))
        if self.twist is not None and np.isfinite(self.twist[k]).all():
            x, y, yaw = map(float, self.twist[k])
            self._send("/cmd_vel", now,
                       self.message.Twist(self._vector(x, y), self._vector(0.0, 0.0, yaw)))

    def _send(self, topic: str, now: int, message: Any) -> None:
        connection = self.topics[topic]
        self.writer.write(connection, now, self.store.serialize_cdr(message, connection.msgtype))

    # -- parts of messages -------------------------------------------------------------------------
    def _odometry(self, stamp: Any, reading: Reading) -> Any:
        message, base = self.message, reading.base
        pose = message.Pose(message.Point(*base.translation), message.Quaternion(*base.rotation))
        twist = message.Twist(message.Vector3(*reading.twist[:3]),
                              message.Vector3(*reading.twist[3:]))
        return message.Odometry(message.Header(stamp, base.parent), base.child,
                                message.PoseWithCovariance(pose, self.unknown),
                                message.TwistWithCovariance(twist, self.unknown))

    def _header(self, now: int, frame: str) -> Any:
        return self.message.Header(self.message.Time(*divmod(now, 10**9)), frame)

    def _vector(self, x: float, y: float = 0.0, z: float = 0.0) -> Any:
        return self.message.Vector3(x, y, z)

    def _transform(self, stamp: Any, edge: Transform) -> Any:
        message = self.message
        transform = message.Transform(message.Vector3(*edge.translation),
                                      message.Quaternion(*edge.rotation))
        return message.TransformStamped(message.Header(stamp, edge.parent), edge.child, transform)
