"""A run as an MCAP file of ROS 2 messages, for Foxglove, PlotJuggler, RViz and `ros2 bag`; written
without ROS.

- `/robot_description`, std_msgs/String: latched for late subscribers.
- `/tf_static`, `/tf`, tf2_msgs/TFMessage: odom -> root link -> every link, and
  odom -> <contact>_contact.
- `/odom`, nav_msgs/Odometry: pose of the root link in odom, twist in the root link (REP-105,
  REP-103).
- `/joint_states`, sensor_msgs/JointState: unwrapped positions [rad, m], rates, and the efforts
  held from then on [N m, N].
- `/wheels/<contact>/wrench`, geometry_msgs/WrenchStamped: the ground's force on the wheel [N], in
  <contact>_contact.
- `/cmd_vel`, geometry_msgs/Twist of the root link, held from then on, if the controller commands
  twists.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from ..errors import NhmechError
from ..paths import replace_file
from ..simulation.trajectory import Trajectory
from ..vehicle.vehicle import Vehicle
from .frames import WORLD, Frames
from .table import has_forces, picked

TYPES = {"/robot_description": "std_msgs/msg/String", "/tf_static": "tf2_msgs/msg/TFMessage",
         "/tf": "tf2_msgs/msg/TFMessage", "/odom": "nav_msgs/msg/Odometry",
         "/joint_states": "sensor_msgs/msg/JointState", "/cmd_vel": "geometry_msgs/msg/Twist"}
WRENCH = "geometry_msgs/msg/WrenchStamped"
LATCHED = ("/robot_description", "/tf_static")
PACKAGES = ("std_msgs", "builtin_interfaces", "geometry_msgs", "nav_msgs", "sensor_msgs",
            "tf2_msgs")


def write_mcap(trajectory: Trajectory, path, *, vehicle: Vehicle | None = None, forces: bool = True,
               rate: float | None = None, twist: np.ndarray | None = None,
               progress: Callable[[float], None] | None = None) -> Path:
    """Writes the run of a vehicle; stamps and log times are the run's own, from t = 0.

    Parameters
    ----------
    vehicle
        Instead of the one that the trajectory was made with.
    forces
        Whether the wheels' wrenches are worked out; a kinematic run has none.
    rate
        States per second at most; all recorded ones where None.
    twist
        (N, 3) forward, lateral [m/s] and yaw rate [rad/s] at each recorded state, in place of the
        run's `commanded_twist`; states where it is NaN get no /cmd_vel.
    progress
        Called with the time [s] that has been reached.

    Raises
    ------
    NhmechError
        Where rosbags is missing, there is no vehicle, or `twist` does not fit.
    OSError
        Where the file cannot be written.
    """
    try:
        from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    except ImportError as error:
        raise NhmechError("MCAP needs rosbags: pip install rosbags") from error
    vehicle = vehicle or trajectory.simulated.vehicle
    if vehicle is None:
        raise NhmechError("only the run of a vehicle can be told in ROS messages; "
                          "write a textbook system as .csv or .parquet")
    if twist is not None and np.shape(twist) != (len(trajectory), 3):
        raise NhmechError(f"twist has shape {np.shape(twist)}, expected ({len(trajectory)}, 3): "
                          "forward, lateral, yaw rate at each state")
    twist = trajectory.commanded_twist if twist is None else np.asarray(twist, dtype=float)
    with (
        replace_file(path) as new,
        tempfile.TemporaryDirectory(prefix="nhmech-", dir=new.parent) as folder,
    ):
        writer = Writer(Path(folder) / "bag", version=9, storage_plugin=StoragePlugin.MCAP)
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        with writer:
            bag = _Bag(writer, vehicle, trajectory, forces and has_forces(trajectory), twist)
            bag.write(picked(trajectory.t, rate), progress)
        os.replace(Path(folder) / "bag" / "bag.mcap", new)
    return Path(path)


class _Bag:
    """Messages of a run into an open writer."""

    def __init__(self, writer, vehicle: Vehicle, run: Trajectory, forces: bool, twist):
        from rosbags.typesys import Stores, get_typestore

        self.store = get_typestore(Stores.ROS2_HUMBLE)
        self.message = SimpleNamespace(**{name.rpartition("/")[2]: kind for name,
                                          kind in self.store.types.items()
                                          if name.split("/")[0] in PACKAGES})
        self.writer, self.vehicle, self.run, self.twist = writer, vehicle, run, twist
        self.frames = Frames(vehicle)
        self.wheels = {name: re.sub(r"\W", "_",
                                    name) for name in vehicle.contact_names} if forces else {}
        told = twist is not None and np.isfinite(twist).any()
        types = {topic: kind for topic, kind in TYPES.items() if topic != "/cmd_vel" or told}
        self.topics = {topic: self._connection(topic, kind) for topic, kind in (types | {
            f"/wheels/{name}/wrench": WRENCH for name in self.wheels.values()}).items()}
        self.joints = vehicle.algebroid.v_names[6:]
        self.positions = [self._position(name) for name in self.joints]
        self.efforts = [run.names["u"].index(name) if name in run.names["u"] else None
                        for name in self.joints]
        self.unknown = np.zeros(36)

    def _connection(self, topic: str, kind: str):
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
        part = "angles" if joint in run.names["angles"] else "q"
        return getattr(run, part)[:, run.names[part].index(joint)]

    # -- writing -----------------------------------------------------------------------------------
    def write(self, rows: np.ndarray, progress) -> None:
        first = round(self.run.t[rows[0]] * 1e9)
        header = self.header(first, "")
        self.frames.place(self.run.q[rows[0]])
        self.send("/robot_description", first, self.message.String(self.vehicle.description.xml))
        fixed = [self.transform(header.stamp, link.parent, link.name, self.frames.link(link))
                 for link in self.frames.fixed]
        self.send("/tf_static", first, self.message.TFMessage(fixed))
        for k in rows:
            self.moment(int(k))
            if progress is not None:
                progress(self.run.t[k])

    def moment(self, k: int) -> None:
        """The messages of one recorded state."""
        run, message = self.run, self.message
        t, q, v = run.t[k], run.q[k], run.v[k]
        now = round(t * 1e9)
        stamp = self.header(now, "").stamp
        self.frames.place(q)
        contacts = self.frames.contacts(q, t)
        base = pin.XYZQUATToSE3(q[:7])
        moving = [(link.parent, link.name, self.frames.link(link)) for link in self.frames.moving]
        touching = [(WORLD, f"{name}_contact",
                     contacts[name]) for name in self.vehicle.contact_names]
        edges = [(WORLD, self.frames.root, base), *moving, *touching]
        self.send("/tf", now, message.TFMessage([self.transform(stamp, *edge) for edge in edges]))
        pose = message.PoseWithCovariance(
            message.Pose(message.Point(*q[:3]), self.quaternion(base)), self.unknown
        )
        rates = message.TwistWithCovariance(
            message.Twist(message.Vector3(*v[:3]), message.Vector3(*v[3:6])), self.unknown
        )
        self.send("/odom", now, message.Odometry(message.Header(stamp, WORLD), self.frames.root,
                                                 pose, rates))
        positions = np.array([position[k] for position in self.positions])
        known = () if run.kinematic else self.efforts
        efforts = np.array([0.0 if i is None else run.u[k, i] for i in known], dtype=float)
        self.send("/joint_states", now, message.JointState(
            message.Header(stamp, ""), list(self.joints), positions, np.array(v[6:]), efforts))
        if self.wheels:
            world = run.reactions[k].world
            for name, topic in self.wheels.items():
                force = message.Wrench(message.Vector3(*(contacts[name].rotation.T @ world[name])),
                                       message.Vector3(0.0, 0.0, 0.0))
                self.send(f"/wheels/{topic}/wrench", now,
                          message.WrenchStamped(message.Header(stamp, f"{name}_contact"), force))
        if self.twist is not None and np.isfinite(self.twist[k]).all():
            x, y, yaw = map(float, self.twist[k])
            self.send("/cmd_vel", now,
                      message.Twist(message.Vector3(x, y, 0.0), message.Vector3(0.0, 0.0, yaw)))

    def send(self, topic: str, now: int, message) -> None:
        connection = self.topics[topic]
        self.writer.write(connection, now, self.store.serialize_cdr(message, connection.msgtype))

    # -- parts of messages -------------------------------------------------------------------------
    def header(self, now: int, frame: str):
        return self.message.Header(self.message.Time(*divmod(now, 10**9)), frame)

    def transform(self, stamp, parent: str, child: str, X: pin.SE3):
        return self.message.TransformStamped(self.message.Header(stamp, parent), child,
                                             self.message.Transform(
            self.message.Vector3(*X.translation), self.quaternion(X)))

    def quaternion(self, X: pin.SE3):
        """Unit, with w >= 0."""
        x, y, z, w = pin.Quaternion(X.rotation).normalized().coeffs()
        return self.message.Quaternion(x, y, z,
                                       w) if w >= 0 else self.message.Quaternion(-x, -y, -z, -w)
