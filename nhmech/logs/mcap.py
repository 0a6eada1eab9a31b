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
- `/imu`, sensor_msgs/Imu of the link that carries one, or `/imu/<link>` of several.
- `/markers/path`, visualization_msgs/MarkerArray: the path that was followed, latched.
- `/markers/friction`: at each contact a bar as high as the friction that the wheel uses, red where
  that is all of it; of wheels whose friction is known.
- `/cmd_vel`, geometry_msgs/Twist of the root link, held from then on, if the controller commands
  twists.

Covariances are those of the noise with which the controller saw (`MeasurementNoise`), zero where
there was none; the numbers themselves are without noise.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from ..checks import check_arguments, read_names, read_word
from ..errors import InputError, NhmechError
from ..mechanics.algebroid import TWIST
from ..paths import replace_file
from ..simulation.command import TWIST_NAMES
from ..simulation.runs.history import Column
from ..simulation.runs.trajectory import Trajectory
from ..urdf.imus import find_imus
from ..vehicle.vehicle import Vehicle
from .bag import Bag
from .table import can_compute_forces, reading, select_rows


@check_arguments
def write_mcap(trajectory: Trajectory, path: str | PathLike[str], *, forces: bool = True,
               rate: float | None = None, progress: Callable[[float], None] | None = None,
               vehicle: Vehicle | None = None, twist: np.ndarray | None = None,
               imus: Sequence[str] | None = None) -> Path:
    """Writes the run of a vehicle as ROS 2 messages in an MCAP file.

    Stamps and log times are the run's own, from t = 0.

    Other errors are those of `export_run`.

    Parameters
    ----------
    trajectory
        The run.
    path
        The file.
    forces, rate, progress
        As in `export_run`.
    vehicle
        Instead of the one that the trajectory was made with.
    twist
        (N, 3) forward, lateral [m/s] and yaw rate [rad/s] at each recorded state, in place of the
        run's `commanded_twist`; states where it is NaN get no /cmd_vel.
    imus
        Links that carry an inertial measurement unit. By default those with such a sensor in the
        file's `<gazebo>`, else those named so.

    Raises
    ------
    InputError
        If there is no vehicle, `twist` does not fit, or a link does not exist.
    """
    _require_rosbags()
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

    vehicle = vehicle or trajectory.simulated.vehicle
    if vehicle is None:
        raise InputError("only the run of a vehicle can be exported to ROS messages; export a "
                         "textbook system as .csv or .parquet")
    if twist is not None and np.shape(twist) != (len(trajectory), 3):
        raise InputError(f"twist has shape {np.shape(twist)}, expected ({len(trajectory)}, 3): "
                         "forward, lateral, yaw rate at each state")
    twist = trajectory.commanded_twist if twist is None else np.asarray(twist, dtype=float)
    links = find_imus(vehicle.description.xml) if imus is None else read_names("imus", imus)
    for link in links:
        read_word("imus: link", link, [frame.name for frame in vehicle.model.frames
                                       if frame.type == pin.FrameType.BODY])
    rows = select_rows(trajectory.t, rate)
    with (replace_file(path) as new,
          tempfile.TemporaryDirectory(prefix="nhmech-", dir=new.parent) as folder):
        writer = Writer(Path(folder) / "bag", version=9, storage_plugin=StoragePlugin.MCAP)
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        with writer:
            bag = Bag(writer, vehicle, trajectory, forces and can_compute_forces(trajectory), twist,
                      links)
            bag.write(rows, progress)
        os.replace(Path(folder) / "bag" / "bag.mcap", new)
    return Path(path)


@check_arguments
def read_mcap(path: str | PathLike[str]) -> dict[str, Column]:
    """Reads the columns of /odom, /joint_states, /cmd_vel and the wrenches by name, in SI units.

    There are efforts of all joints; positions of joints are called "position.<joint>".
    Orientations have qw >= 0; times are rounded to nanoseconds.

    Parameters
    ----------
    path
        The file.
    """
    values: dict[str, list[float]] = defaultdict(list)
    with reading(path):
        for topic, now, message in _read_messages(Path(path)):
            for name, value in _columns(topic, now, message):
                values[name].append(value)
    return {name: Column(np.array(column), None) for name, column in values.items()}


def _read_messages(path: Path) -> Iterator[tuple[str, int, Any]]:
    """(topic, log time [ns], message) in the order of the file."""
    _require_rosbags()
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    with AnyReader([path], default_typestore=store) as reader:
        for connection, now, data in reader.messages():
            yield connection.topic, now, reader.deserialize(data, connection.msgtype)


def _columns(topic: str, now: int, message: Any) -> Iterator[tuple[str, float]]:
    """(column, number) of one message."""
    if topic == "/odom":
        yield "t", now * 1e-9
        pose, twist = message.pose.pose, message.twist.twist
        for axis in "xyz":
            yield f"q.{axis}", getattr(pose.position, axis)
        for axis in "xyzw":
            yield f"q.q{axis}", getattr(pose.orientation, axis)
        numbers = (getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz")
        yield from zip((f"v.{name}" for name in TWIST), numbers)
    elif topic == "/joint_states":
        for prefix, numbers in (("position", message.position), ("v", message.velocity),
                                ("u", message.effort)):
            yield from zip((f"{prefix}.{name}" for name in message.name), map(float, numbers))
    elif topic == "/cmd_vel":
        yield from zip(TWIST_NAMES, (message.linear.x, message.linear.y, message.angular.z))
    elif topic.startswith("/wheels/"):
        contact, force = message.header.frame_id.removesuffix("_contact"), message.wrench.force
        for direction, axis in (("longitudinal", "x"), ("lateral", "y"), ("normal", "z")):
            yield f"force.{contact}.{direction}", getattr(force, axis)


def _require_rosbags() -> None:
    try:
        import rosbags.rosbag2  # noqa: F401
    except ImportError as error:
        raise NhmechError("MCAP needs rosbags: pip install rosbags") from error
