"""What all nodes begin with: their robot, the packages of ROS on this machine, and one line where
that fails."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import InputError, NhmechError
from ..private_folder import private_folder

if TYPE_CHECKING:
    from ..vehicle.vehicle import Vehicle
    from .settings import Settings

FAILED = 1                                     # the exit code of a node that does not start
DEBIAN = Path("/usr/lib/python3/dist-packages")     # where Debian's packages put ROS 1
ROBOT = "differential_drive"                   # where no parameter `robot` names another


def find_robot(robot: str) -> Path:
    """The file of a shipped robot by its name, or a path as it is."""
    from ..paths import urdf_names, urdf_path

    if Path(robot).is_file():
        return Path(robot)
    try:
        return urdf_path(robot)
    except InputError:
        raise InputError(f"robot {robot!r} is neither a file nor one of {', '.join(urdf_names())}"
                         ) from None


def load_from_parameters(given: Mapping[str, Any]) -> tuple[Vehicle, Settings]:
    """The vehicle of the parameter `robot`, and the settings of all others."""
    from .settings import Settings

    values = dict(given)
    robot = values.pop("robot", ROBOT)
    settings = Settings.read(values)
    if not isinstance(robot, str):
        raise InputError(f"parameter robot = {robot!r} must be a name or a path")

    from ..vehicle.load import load

    return load(find_robot(robot), ground=settings.ground), settings


def describe_robot(robot: str) -> str:
    """The URDF text of a robot, xacro expanded, for a robot_state_publisher. No vehicle is made of
    it: this is quick, and `ros2 launch`, which runs in Ubuntu's own Python whatever environment is
    active, need not have what vehicles are made with. Raises `NhmechError` for a robot that cannot
    be read.
    """
    from ..urdf.text.source import read_source

    return read_source(find_robot(robot)).text


def prefix_rviz(config: Path, prefix: str) -> Path:
    """A configuration of RViz whose robot has frames with a prefix, in the user's cache folder; the
    file itself if there is none. RViz reads that word nowhere else. Raises `InputError` for a
    configuration that has no place for it."""
    if not prefix:
        return config
    text, empty = config.read_text(encoding="utf-8"), 'TF Prefix: ""'
    if empty not in text:
        raise InputError(f"{config} has no line `{empty}`: RViz would show no robot with frames "
                         f"of the prefix {prefix!r}; give its RobotModel this line")
    copy = private_folder().path / f"{prefix.replace('/', '-')}-{config.name}"
    copy.write_text(text.replace(empty, f'TF Prefix: "{prefix}"'), encoding="utf-8")
    return copy


def import_ros(name: str, remedy: str) -> ModuleType:
    """A module of ROS; also where Debian has it, outside of a virtual environment. What the
    environment has itself goes first.
    """
    try:
        return import_module(name)
    except ImportError:
        if DEBIAN.is_dir() and str(DEBIAN) not in sys.path:
            sys.path.append(str(DEBIAN))
    try:
        return import_module(name)
    except ImportError as error:
        raise NhmechError(f"no module {name!r} here ({error}): {remedy}") from error


def find_type(name: str) -> Any:
    """Class of a type such as "nav_msgs/msg/Odometry", in the Python packages of ROS."""
    package, part, kind = name.split("/")
    return getattr(import_module(f"{package}.{part}"), kind)


def report(error: NhmechError | OSError) -> int:
    """Prints one line on standard error and returns the exit code."""
    text = error.command_line if isinstance(error, NhmechError) else str(error)
    print("error:", " ".join(text.split()), file=sys.stderr, flush=True)
    return FAILED
