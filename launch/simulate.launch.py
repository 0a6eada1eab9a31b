"""ROS 2: a vehicle that rolls, with its frames.

    ros2 launch nhmech simulate.launch.py robot:=ackermann_car rviz:=true
    ros2 launch nhmech simulate.launch.py robot:=/path/to/robot.urdf use_sim_time:=true
    ros2 launch nhmech simulate.launch.py mode:=joints      # for a controller_manager

Several at once, each with a topic tf of its own as Nav2 has it, or all in one tree of frames:

    ros2 launch nhmech simulate.launch.py namespace:=left
    ros2 launch nhmech simulate.launch.py namespace:=right tf_frame_prefix:=right
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

SHARE = Path(__file__).resolve().parents[1]
ARGUMENTS = {
    "robot": ("differential_drive", "name of a shipped robot, or path of a URDF or xacro file"),
    "params_file": (str(SHARE / "config" / "simulate.yaml"), "file of the node's parameters"),
    "mode": ("twist", "twist: cmd_vel drives; joints: robot_joint_commands do, of ros2_control"),
    "use_sim_time": ("false", "the node publishes /clock, and all nodes follow it"),
    "publish_clock": ("", "false where somebody else publishes /clock; use_sim_time where empty"),
    "speed_factor": ("1.0", "simulated seconds in a second"),
    "slope": ("", "how steep the ground is [rad], instead of the file's: it rises along x"),
    "slope_direction": ("", "angle from x of the way in which it rises [rad]"),
    "namespace": ("", "of all nodes"),
    "tf_frame_prefix": ("", "of all frames, on /tf; where empty, a namespace has a topic tf of its "
                        "own"),
    "rviz": ("false", "starts RViz"),
}
# where ros2_control has a topic for its hardware, and controllers of its own tell odometry
JOINTS = [("joint_commands", "robot_joint_commands"), ("joint_states", "robot_joint_states")]
OWN_FRAMES = [("/tf", "tf"), ("/tf_static", "tf_static")]      # as Nav2 has it in namespaces


def is_on(word):
    return word.lower() in ("true", "1", "yes", "on")


def start(context):
    from nhmech.ros.start import describe_robot, prefix_rviz

    value = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    simulated = is_on(value["use_sim_time"])
    joints = value["mode"] == "joints"
    prefix = value["tf_frame_prefix"].replace("~", value["namespace"]).strip("/")
    shared = {"namespace": value["namespace"] or None}
    frames = [] if prefix else OWN_FRAMES
    parameters = {
        "robot": ParameterValue(value["robot"], value_type=str),     # as it is: 3 is no number
        "mode": value["mode"],
        "speed_factor": float(value["speed_factor"]),
        "publish_clock": is_on(value["publish_clock"] or value["use_sim_time"]),
        "publish_robot_description": False,
        "use_sim_time": simulated,
    }
    parameters |= {name: float(value[name]) for name in ("slope", "slope_direction") if value[name]}
    if prefix:
        parameters["tf_frame_prefix"] = ParameterValue(prefix, value_type=str)
    if joints:
        parameters["enable_odom_tf"] = False
    description = {
        "robot_description": ParameterValue(describe_robot(value["robot"]), value_type=str),
        "frame_prefix": ParameterValue(f"{prefix}/" if prefix else "", value_type=str),
        "use_sim_time": simulated,
    }
    nodes = [
        Node(package="nhmech", executable="simulate", name="nhmech", output="screen",
             parameters=[value["params_file"], parameters],
             remappings=frames + (JOINTS if joints else []), **shared),
        Node(package="robot_state_publisher", executable="robot_state_publisher",
             parameters=[description], remappings=frames, **shared),
    ]
    if is_on(value["rviz"]):
        config = prefix_rviz(SHARE / "rviz" / "simulate.rviz", prefix)
        nodes.append(Node(package="rviz2", executable="rviz2", remappings=frames,
                          arguments=["-d", str(config), "-f",
                                     f"{prefix}/odom" if prefix else "odom"],
                          parameters=[{"use_sim_time": simulated}], **shared))
    return nodes


def generate_launch_description():
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
