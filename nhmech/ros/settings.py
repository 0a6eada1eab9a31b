"""Parameters of the node, named and meant as in ros2_control's `diff_drive_controller` where it has
them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from inspect import getdoc
from typing import Any

from ..checks import as_numbers, read_word, show
from ..control.speed_limits import NO_LIMIT, SpeedLimits
from ..errors import InputError, listed
from ..vehicle.ground import Ground

MODES = ("twist", "joints")
PARTS = 6             # of a pose and of a twist: x, y, z, roll, pitch, yaw
NO_ERROR = (0.0,) * PARTS


@dataclass(frozen=True)
class Settings:
    """The parameters of the node; `read` takes the dotted names of a ROS parameter file.

    Attributes
    ----------
    mode
        "twist": driven by `cmd_vel`; "joints": by `joint_commands`, as from a controller manager.
    dt
        Step [s].
    publish_rate
        Messages per second [Hz] of the node's clock.
    speed_factor
        Simulated seconds per second.
    mu
        Friction coefficient of all wheels, for the verdict in /diagnostics; NaN takes those of the
        file.
    slope, slope_direction
        Angle [rad] by which the ground rises, and the direction in which it does, from the x axis
        of `map` [rad].
    cmd_vel_timeout
        [s] after which the last command ends and the vehicle brakes; 0 for never.
    enable_stamped_cmd_vel
        Whether `cmd_vel` and `cmd_vel_out` are of the type TwistStamped.
    odom_frame_id
        Frame in which odometry is published.
    base_frame_id
        Frame whose pose odometry gives: the root link if empty; "base_footprint" is its projection
        onto the ground.
    tf_frame_prefix
        Prefix of the names of all frames but `map`, followed by a slash; "~" in it is the namespace
        of the node.
    enable_odom_tf, publish_map_odom_tf
        Whether the transforms odom -> base and map -> odom are published.
    publish_contact_tf, publish_link_tf
        Whether the frames of the contacts, in which wheel forces are given, and of the links are
        published; a robot_state_publisher usually publishes the latter.
    publish_clock
        Whether the vehicle's time is published on /clock; stamps then follow it.
    publish_robot_description
        Whether the vehicle's XML is published.
    publish_limited_velocity
        Whether the twist after the limits is published on `cmd_vel_out`.
    ground_truth
        Whether the exact pose of the root link in the world is published as `ground_truth`.
    pose_covariance_diagonal, twist_covariance_diagonal
        (6,) of odometry [m^2, rad^2; m^2/s^2, rad^2/s^2].
    command_log
        File to which each change of the twist that is followed is written, as a line
        "t,forward,lateral,yaw_rate"; none where empty.
    linear_x, linear_y, angular_z
        Limits of the commanded twist, "linear.x.max_velocity" and so on.

    Raises
    ------
    InputError
        For values that make no sense.

    Examples
    --------
    >>> from nhmech.ros import Settings
    >>> Settings.read({"linear.x.max_velocity": 0.5}).linear_x.max_velocity
    0.5
    """

    mode: str = "twist"
    dt: float = 1e-3
    publish_rate: float = 100.0
    speed_factor: float = 1.0
    mu: float = math.nan
    slope: float = 0.0
    slope_direction: float = 0.0
    cmd_vel_timeout: float = 0.5
    enable_stamped_cmd_vel: bool = False
    odom_frame_id: str = "odom"
    base_frame_id: str = ""
    tf_frame_prefix: str = ""
    enable_odom_tf: bool = True
    publish_map_odom_tf: bool = False
    publish_contact_tf: bool = False
    publish_link_tf: bool = False
    publish_clock: bool = False
    publish_robot_description: bool = True
    publish_limited_velocity: bool = False
    ground_truth: bool = False
    pose_covariance_diagonal: tuple[float, ...] = NO_ERROR
    twist_covariance_diagonal: tuple[float, ...] = NO_ERROR
    command_log: str = ""
    linear_x: SpeedLimits = field(default_factory=SpeedLimits)
    linear_y: SpeedLimits = field(default_factory=SpeedLimits)
    angular_z: SpeedLimits = field(default_factory=SpeedLimits)

    def __post_init__(self) -> None:
        read_word("parameter mode", self.mode, MODES)
        for name in ("dt", "publish_rate", "speed_factor"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"parameter {name} = {getattr(self, name)} must be positive")
        if self.mu <= 0:
            raise InputError(f"parameter mu = {self.mu} must be positive, or NaN for the file's "
                             "value")
        _ = self.ground
        if not 0 <= self.cmd_vel_timeout < math.inf:
            raise InputError(f"parameter cmd_vel_timeout = {self.cmd_vel_timeout} must be 0 "
                             "(never) or a time in seconds")
        if not self.odom_frame_id or self.odom_frame_id.startswith("/"):
            raise InputError(f"parameter odom_frame_id = {self.odom_frame_id!r} must name a frame, "
                             "such as odom, without a slash before it")
        for name in ("pose_covariance_diagonal", "twist_covariance_diagonal"):
            values = getattr(self, name)
            if len(values) != PARTS or not all(0 <= value < math.inf for value in values):
                raise InputError(f"parameter {name} = {list(values)} must be {PARTS} finite "
                                 "numbers, none negative: x, y, z, roll, pitch, yaw")
        if self.command_log and self.mode != "twist":
            raise InputError(f"parameter command_log = {self.command_log!r} is of twists, but "
                             f"mode is {self.mode!r}; set mode to 'twist' or leave one out")

    @property
    def ground(self) -> Ground:
        """What the vehicle stands on."""
        return Ground.inclined(self.slope, self.slope_direction)

    def within(self, namespace: str) -> Settings:
        """With the namespace of the node in place of "~" in the prefix of frames."""
        return replace(self, tf_frame_prefix=self.tf_frame_prefix.replace("~", namespace))

    def frame(self, name: str) -> str:
        """A frame's name with the prefix."""
        prefix = self.tf_frame_prefix.strip("/")
        return f"{prefix}/{name}" if prefix else name

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Settings:
        """From the names and values of ROS parameters.

        Raises
        ------
        InputError
            For a name or a value that it cannot take.
        """
        known = parameters()
        values: dict[str, Any] = {}
        limits: dict[str, dict[str, float]] = {}        # "linear.x" -> word -> number
        for name, value in given.items():
            if name not in known:
                near = get_close_matches(name, known, 1)
                raise InputError(f"no parameter {name!r}; " + (
                    f"did you mean {near[0]}?" if near else f"there are {listed(known, 40)}"))
            value = _read_value(name, value, known[name])
            group, dot, leaf = name.rpartition(".")
            if dot:
                limits.setdefault(group, {})[leaf] = value
            else:
                values[name] = value
        for group, words in limits.items():
            try:
                values[group.replace(".", "_")] = SpeedLimits(**words)
            except InputError as error:
                raise InputError(f"parameter {group}.{error}") from None
        return cls(**values)


def parameters() -> dict[str, Any]:
    """ROS name of each parameter -> its default."""
    found: dict[str, Any] = {}
    defaults = Settings()
    for part in fields(Settings):
        value = getattr(defaults, part.name)
        if isinstance(value, SpeedLimits):
            dotted = part.name.replace("_", ".")
            found |= {f"{dotted}.{limit.name}": NO_LIMIT for limit in fields(SpeedLimits)}
        else:
            found[part.name] = value
    return found


def descriptions() -> dict[str, str]:
    """ROS name of each parameter -> what it means, for `ros2 param describe`."""
    of_settings, of_limits = _documented(Settings), _documented(SpeedLimits)
    return {name: of_settings.get(name, of_limits.get(name.rpartition(".")[2], ""))
            for name in parameters()}


def _documented(described: type) -> dict[str, str]:
    """Attribute -> its description in the docstring."""
    section = (getdoc(described) or "").partition("Attributes\n----------\n")[2]
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section.partition("\n\n")[0].splitlines():
        if not line.startswith(" "):
            names = line.split(", ")
        else:
            found |= {name: f"{found.get(name, '')} {line.strip()}".strip() for name in names}
    return found


def _read_value(name: str, value: Any, default: object) -> Any:
    """A value of the default's type."""
    if isinstance(default, (str, bool)):
        if type(value) is type(default):
            return value
    elif isinstance(default, tuple):
        numbers = as_numbers(value)
        if numbers is not None and numbers.ndim == 1:
            return tuple(numbers.tolist())
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise InputError(f"parameter {name} = {show(value)} is not of the type of its default, "
                     f"{default!r}")
