"""Start a simulation from ROS 2: it runs `nhmech run` as a process, so it needs no rclpy.

    ros2 launch nhmech simulate.launch.py robot:=carriage duration:=20 html:=/tmp/run.html
    ros2 launch nhmech simulate.launch.py robot:=/path/to/robot.urdf view:=true

Arguments: robot (name of a shipped robot, or path of a URDF or xacro file), duration [s], dt [s],
controller (module:function, empty for the demonstration), html and save (files to write, empty for
none), view.
"""

import sys

from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription

ARGUMENTS = {
    "robot": ("differential_drive", "name of a shipped robot, or path of a URDF or xacro file"),
    "duration": ("10.0", "simulated time [s]"),
    "dt": ("0.001", "time step [s]"),
    "controller": ("", "module:function, called as function(t, state); empty: a gentle S-curve"),
    "html": ("", "write the run as one HTML file that plays by itself"),
    "save": ("", "write the run as an .npz file"),
    "view": ("false", "play the run in the browser"),
}


def command(value):
    """The command line for `value`, a dict of the launch arguments' strings; empty ones are left
    out."""
    words = [sys.executable, "-m", "nhmech", "run", value["robot"]]
    for name in ("duration", "dt", "controller", "html", "save"):
        if value[name]:
            words += [f"--{name}", value[name]]
    if value["view"].lower() in ("true", "1", "yes"):
        words.append("--view")
    return words


def start(context):
    value = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    return [ExecuteProcess(cmd=command(value), name="nhmech", output="screen")]


def generate_launch_description():
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
