"""Logs of robots, for the commands that read one."""

from __future__ import annotations

from dataclasses import dataclass

from .options import PairType, option, option_group


@dataclass(frozen=True)
class LogOptions:
    """The robot of a log, and the topics that are read."""

    vehicle: str = option(
        "--vehicle", required=True, metavar="ROBOT",
        help="The robot: a URDF or xacro file, or the name of a shipped robot.")
    joints: str | None = option(
        "--joints", metavar="TOPIC,...",
        help="Topic of joint states, or several topics with different joints. Default: "
             "/joint_states, or the only such topic.")
    pose: str | None = option(
        "--pose", metavar="TOPIC",
        help="Poses: odometry, PoseStamped, PoseWithCovarianceStamped, TransformStamped or tf, of "
             "which TOPIC:PARENT:CHILD chooses a transform. Default: /odom, or the only topic.")
    rename: tuple[tuple[str, str], ...] = option(
        "--rename", type=PairType("JOINT", str), multiple=True,
        help="A joint that has another name in the log, e.g. wheel_l=left_wheel; repeat.")


log_options = option_group("log", LogOptions)
