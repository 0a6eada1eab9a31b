"""Readings of a vehicle as ROS messages, of the classes of any library that has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .readings import Transform

TIME = "builtin_interfaces/msg/Time"
CLOCK = "rosgraph_msgs/msg/Clock"
DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
IMU = "sensor_msgs/msg/Imu"
JOINTS = "sensor_msgs/msg/JointState"
ODOMETRY = "nav_msgs/msg/Odometry"
POSE = "geometry_msgs/msg/PoseWithCovarianceStamped"
STRING = "std_msgs/msg/String"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
TWIST = "geometry_msgs/msg/Twist"
STAMPED_TWIST = "geometry_msgs/msg/TwistStamped"
WRENCH = "geometry_msgs/msg/WrenchStamped"

Numbers = Sequence[float] | np.ndarray

_AXES = "xyz"
_UNKNOWN = (0.0,) * 6


class Messages:
    """Builds messages. rosbags, rclpy, rospy and cyclonedds differ only in where their classes are,
    and in what they take for an array.

    `find` maps the name of a type, such as "nav_msgs/msg/Odometry", to a class or function of
    keywords (`sec` and `nanosec` for `TIME`); `array` maps a sequence of floats to an array field.
    """

    def __init__(self, find: Callable[[str], Callable[..., Any]],
                 array: Callable[[Iterable[float]], Any] = list):
        self.find, self._array = lru_cache(None)(find), array

    def time(self, now: int) -> Any:
        """A stamp from a time [ns]."""
        seconds, rest = divmod(now, 10 ** 9)
        return self.find(TIME)(sec=seconds, nanosec=rest)

    def header(self, stamp: Any, frame: str = "") -> Any:
        return self.find("std_msgs/msg/Header")(stamp=stamp, frame_id=frame)

    def vector(self, values: Iterable[float], kind: str = "Vector3", axes: str = _AXES) -> Any:
        return self.find(f"geometry_msgs/msg/{kind}")(**dict(zip(axes, map(float, values))))

    def string(self, text: str) -> Any:
        return self.find(STRING)(data=text)

    def clock(self, stamp: Any) -> Any:
        return self.find(CLOCK)(clock=stamp)

    def twist(self, values: Numbers) -> Any:
        """A twist from linear and angular velocity (6,)."""
        return self.find(TWIST)(linear=self.vector(values[:3]), angular=self.vector(values[3:]))

    def stamped_twist(self, stamp: Any, frame: str, values: Numbers) -> Any:
        return self.find(STAMPED_TWIST)(header=self.header(stamp, frame), twist=self.twist(values))

    def transform(self, stamp: Any, edge: Transform) -> Any:
        transform = self.find("geometry_msgs/msg/Transform")(
            translation=self.vector(edge.translation),
            rotation=self.vector(edge.rotation, "Quaternion", "xyzw"))
        return self.find("geometry_msgs/msg/TransformStamped")(
            header=self.header(stamp, edge.parent), child_frame_id=edge.child, transform=transform)

    def transforms(self, stamp: Any, edges: Iterable[Transform]) -> Any:
        return self.find(TRANSFORMS)(transforms=[self.transform(stamp, edge) for edge in edges])

    def odometry(self, stamp: Any, base: Transform, twist: Numbers,
                 pose_variance: Sequence[float] = _UNKNOWN,
                 twist_variance: Sequence[float] = _UNKNOWN) -> Any:
        """Pose of a frame in its parent, its twist (6,) along its own axes, and the diagonals (6,)
        of their covariances."""
        pose = self.find("geometry_msgs/msg/Pose")(
            position=self.vector(base.translation, "Point"),
            orientation=self.vector(base.rotation, "Quaternion", "xyzw"))
        return self.find(ODOMETRY)(
            header=self.header(stamp, base.parent), child_frame_id=base.child,
            pose=self.find("geometry_msgs/msg/PoseWithCovariance")(
                pose=pose, covariance=self._diagonal(pose_variance)),
            twist=self.find("geometry_msgs/msg/TwistWithCovariance")(
                twist=self.twist(twist), covariance=self._diagonal(twist_variance)))

    def joint_state(self, stamp: Any, names: Sequence[str], position: Iterable[float],
                    velocity: Iterable[float], effort: Iterable[float]) -> Any:
        return self.find(JOINTS)(
            header=self.header(stamp), name=list(names), position=self._array(position),
            velocity=self._array(velocity), effort=self._array(effort))

    def wrench(self, stamp: Any, frame: str, force: Iterable[float]) -> Any:
        """A force without torque."""
        wrench = self.find("geometry_msgs/msg/Wrench")(force=self.vector(force),
                                                       torque=self.vector((0.0, 0.0, 0.0)))
        return self.find(WRENCH)(header=self.header(stamp, frame), wrench=wrench)

    def imu(self, stamp: Any, frame: str, rotation: Numbers, gyro: Numbers, accelerometer: Numbers,
            variances: Sequence[Sequence[float]] = (_UNKNOWN[:3],) * 3) -> Any:
        """Attitude of a link in odom, a quaternion (4,), its angular velocity and specific force
        (3,) along its axes, and the diagonals (3,) of the three covariances."""
        attitude, turning, force = map(self._diagonal, variances)
        return self.find(IMU)(
            header=self.header(stamp, frame),
            orientation=self.vector(rotation, "Quaternion", "xyzw"),
            orientation_covariance=attitude, angular_velocity=self.vector(gyro),
            angular_velocity_covariance=turning,
            linear_acceleration=self.vector(accelerometer), linear_acceleration_covariance=force)

    def diagnostics(self, stamp: Any, hardware: str,
                    found: Iterable[tuple[str, str, str, Mapping[str, str]]]) -> Any:
        """A status from (name, level, message, values)."""
        status = self.find("diagnostic_msgs/msg/DiagnosticStatus")
        pair = self.find("diagnostic_msgs/msg/KeyValue")
        return self.find(DIAGNOSTICS)(header=self.header(stamp), status=[
            status(level=getattr(status, level), name=name, message=message, hardware_id=hardware,
                   values=[pair(key=key, value=value) for key, value in values.items()])
            for name, level, message, values in found])

    def _diagonal(self, values: Numbers) -> Any:
        return self._array(np.diag(values).ravel().tolist())
