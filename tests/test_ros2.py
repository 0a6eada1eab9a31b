"""The node for ROS 2 against a stand-in for rclpy that refuses what rclpy has not, and the launch
file; `tests/test_ros2_real.py` runs on the real one where there is one."""

import math
import os
import runpy
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rosbags.typesys")
import rclpy_stub as stub

from nhmech import urdf_path
from nhmech.errors import InputError
from nhmech.ros import ros2
from nhmech.ros.settings import Settings, parameters
from nhmech.ros.start import prefix_rviz

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "config" / "simulate.yaml").read_text())["/**"]["ros__parameters"]


def twist(x, yaw=0.0):
    vector = stub.find("geometry_msgs/msg/Vector3")
    return stub.find("geometry_msgs/msg/Twist")(linear=vector(x=x), angular=vector(z=yaw))


@pytest.fixture
def run(monkeypatch):
    """Runs `main` with parameters; while it spins, `user(node, tick)` drives."""
    def run(user=lambda node, tick: tick(1), **given):
        seen = {}

        def spin(node):
            ((period, callback, clock),) = node.timers
            seen["node"], seen["period"], seen["clock"] = node, period, clock

            def tick(times):
                for _ in range(times):
                    stub.Clock.now_ns += round(period * 1e9)
                    callback()

            user(node, tick)
            raise KeyboardInterrupt

        stub.install(monkeypatch, spin)
        monkeypatch.setattr(stub.Clock, "now_ns", 1_700_000_000 * 10 ** 9)
        monkeypatch.setattr(stub.Node, "overrides", given)
        seen["code"] = ros2.main()
        return types.SimpleNamespace(**seen)
    return run


def drive(node, tick):
    for _ in range(10):
        node.made["subscription"]["cmd_vel"][1](twist(0.4, 0.1))
        tick(10)


@pytest.mark.parametrize("robot", ["differential_drive", "ackermann_car", "mecanum"])
def test_it_is_driven_and_read(robot, run):
    ran = run(drive, robot=robot)
    assert ran.code == 0 and ran.period == 0.01 and not ran.node.logger.said
    assert ran.clock.clock_type is stub.ClockType.STEADY_TIME
    sent = {topic: made.sent for topic, made in ran.node.made["publisher"].items()}
    assert len(sent["odom"]) == len(sent["joint_states"]) == len(sent["/tf"]) == 100
    last = sent["odom"][-1]
    assert last.twist.twist.linear.x == pytest.approx(0.4, abs=0.06)
    assert last.header.stamp.sec - 1_700_000_000 in (0, 1) and last.child_frame_id == "base_link"
    assert len(sent["robot_description"]) == 1 and len(sent["/diagnostics"]) == 1
    assert {s.level for s in sent["/diagnostics"][0].status} == {b"\0"}


def test_qualities_are_those_that_are_promised(run):
    node = run().node
    for (what, name), quality in node.qualities.items():
        if what != "service":
            kept = name == "robot_description"
            assert quality.reliability is stub.ReliabilityPolicy.RELIABLE
            assert quality.depth == (1 if kept else 10)
            assert (quality.durability is stub.DurabilityPolicy.TRANSIENT_LOCAL) == kept


def test_services_answer(run):
    """Those whose package is not there are left out."""
    def user(node, tick):
        drive(node, tick)
        assert node.made["service"].keys() == {"~/reset", "~/pause"}
        request, answer = types.SimpleNamespace(), types.SimpleNamespace()
        assert node.made["service"]["~/reset"][1](request, answer) is answer
        tick(1)
        place = node.made["publisher"]["odom"].sent[-1].pose.pose.position
        assert abs(place.x) < 1e-9
        answer = types.SimpleNamespace(success=False, message="")
        node.made["service"]["~/pause"][1](types.SimpleNamespace(data=True), answer)
        assert answer.success

    assert run(user).code == 0


def test_every_parameter_is_declared_and_kept(run):
    """`ros2 param list` shows all; a change while it runs is refused by name."""
    node = run(**{"linear.x.max_velocity": 1, "use_sim_time": True,
                  "qos_overrides./tf.publisher.depth": 5}).node
    assert parameters().keys() <= node.parameters.keys()
    (check,) = node.checks
    assert "brakes" in node.descriptors["cmd_vel_timeout"].description
    assert all(node.descriptors[name].description for name in parameters())
    answer = check([stub.Parameter("dt", 0.01)])
    assert not answer.successful and "dt" in answer.reason
    assert check([stub.Parameter("use_sim_time", True)]).successful


@pytest.mark.parametrize("given, words", [
    ({"cmd_vel_timout": 1.0}, "no parameter 'cmd_vel_timout'; did you mean cmd_vel_timeout?"),
    ({"dt": "fast"}, "parameter dt = 'fast' is not of the type"),
    ({"robot": "hovercraft"}, "robot 'hovercraft' is neither a file nor one of"),
    ({"robot": 3}, "parameter robot = 3 must be a name or a path"),
    ({"robot": str(ROOT / "setup.py")}, "setup.py"),
    ({"robot": "/nowhere/robot.urdf"}, "robot '/nowhere/robot.urdf' is neither a file nor one of"),
    ({"base_frame_id": "left_wheel"}, "must be the root link, 'base_link', or 'base_footprint'"),
    ({"command_log": "/nowhere/log.csv"}, "command_log: /nowhere/log.csv cannot be written"),
])
def test_bad_parameters_end_it_in_one_line(given, words, run, monkeypatch, capsys):
    def spin(node):
        raise AssertionError("it must not spin")

    stub.install(monkeypatch, spin)
    monkeypatch.setattr(stub.Node, "overrides", given)
    assert ros2.main() == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ") and words in said and said.count("\n") == 1


def test_without_rclpy_it_says_so(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rclpy", None)
    assert ros2.main() == 1 and "setup.bash" in capsys.readouterr().err


def test_the_shipped_parameters_are_taken():
    settings = Settings.read(CONFIG)
    assert settings.cmd_vel_timeout == 0.5 and math.isnan(settings.mu)
    yaml1 = yaml.safe_load((ROOT / "config" / "simulate_ros1.yaml").read_text())
    from nhmech.ros.ros1 import flatten
    assert Settings.read(flatten(yaml1)).linear_x == settings.linear_x


@pytest.fixture
def launched(monkeypatch):
    """What the launch file starts, with stand-ins for ROS 2's `launch` and `launch_ros`, which
    only a ROS installation has."""
    class Action:
        def __init__(self, kind, words):
            self.kind, self.words = kind, words

    def declare(name, *, default_value=None, description=None, choices=None):
        return Action("argument", {"name": name, "default": default_value})

    def defer(*, function, args=None, kwargs=None):
        return Action("function", {"function": function})

    def node(*, executable, package=None, name=None, namespace=None, exec_name=None,
             parameters=None, remappings=None, ros_arguments=None, arguments=None, output="log",
             condition=None, respawn=False):
        return Action(executable, {"parameters": parameters, "remappings": remappings,
                                   "arguments": arguments, "namespace": namespace})

    class LaunchConfiguration:
        def __init__(self, variable_name):
            self.name = variable_name

        def perform(self, context):
            return context[self.name]

    class ParameterValue:
        def __init__(self, value, *, value_type=None):
            assert isinstance(value, str) and value_type is str
            self.value = value

    for name, content in {
            "launch": {"LaunchDescription": list},
            "launch.actions": {"DeclareLaunchArgument": declare, "OpaqueFunction": defer},
            "launch.substitutions": {"LaunchConfiguration": LaunchConfiguration},
            "launch_ros": {}, "launch_ros.actions": {"Node": node},
            "launch_ros.parameter_descriptions": {"ParameterValue": ParameterValue}}.items():
        monkeypatch.setitem(sys.modules, name, stub.module(name, **content))

    def launched(**given):
        described = runpy.run_path(str(ROOT / "launch" / "simulate.launch.py"))
        *arguments, deferred = described["generate_launch_description"]()
        context = {one.words["name"]: one.words["default"] for one in arguments}
        assert given.keys() <= context.keys()
        return {one.kind: one.words for one in deferred.words["function"](context | given)}
    return launched


def test_the_launch_file_starts_the_node_and_its_frames(launched):
    started = launched(robot="tricycle")
    assert started.keys() == {"simulate", "robot_state_publisher"}
    file, given = started["simulate"]["parameters"]
    assert Path(file).is_file() and given["robot"].value == "tricycle"
    del given["use_sim_time"], given["robot"]
    assert not Settings.read(given).publish_clock
    (publisher,) = started["robot_state_publisher"]["parameters"]
    assert publisher["robot_description"].value.startswith("<robot")


def test_the_launch_file_tilts_the_ground(launched):
    """Only where it is asked to: the file of parameters may."""
    plain, tilted = (launched(**words)["simulate"]["parameters"][1]
                     for words in ({}, {"slope": "0.1", "slope_direction": "-1.5"}))
    assert not {"slope", "slope_direction"} & plain.keys()
    assert (tilted["slope"], tilted["slope_direction"]) == (0.1, -1.5)


def test_the_launch_file_tells_the_clock_and_shows(launched):
    started = launched(use_sim_time="true", rviz="true", namespace="one")
    assert started["simulate"]["parameters"][1]["publish_clock"] is True
    assert Path(started["rviz2"]["arguments"][1]).is_file()
    for words in started.values():
        assert words["parameters"][-1]["use_sim_time"] is True and words["namespace"] == "one"


def test_the_launch_file_puts_vehicles_into_namespaces(launched, tmp_path):
    """In a tree of frames of their own, as Nav2 has them, or with a prefix in that of all; the file
    may be a xacro."""
    file = tmp_path / "cart.urdf.xacro"
    file.write_text(urdf_path("differential_drive").read_text())
    alone = launched(namespace="left", robot=str(file), rviz="true")
    for words in alone.values():
        assert words["namespace"] == "left"
        assert words["remappings"] == [("/tf", "tf"), ("/tf_static", "tf_static")]
    assert "tf_frame_prefix" not in alone["simulate"]["parameters"][1]
    for prefix in ("~", "left", "/left/"):
        shared = launched(namespace="left", tf_frame_prefix=prefix, rviz="true", mode="joints")
        assert shared["simulate"]["parameters"][1]["tf_frame_prefix"].value == "left"
        assert shared["robot_state_publisher"]["parameters"][0]["frame_prefix"].value == "left/"
        assert shared["rviz2"]["arguments"][2:] == ["-f", "left/odom"]
        assert read_prefix(shared["rviz2"]["arguments"][1]) == "left"
        assert not shared["robot_state_publisher"]["remappings"]
        assert {name for name, _ in shared["simulate"]["remappings"]} == {"joint_commands",
                                                                         "joint_states"}
    assert read_prefix(alone["rviz2"]["arguments"][1]) == ""


def read_prefix(config):
    """Of the frames of the robot that RViz shows."""
    displays = yaml.safe_load(Path(config).read_text())["Visualization Manager"]["Displays"]
    return next(one["TF Prefix"] for one in displays if one["Name"] == "Robot")


def test_rviz_of_ros_1_has_the_prefix_of_the_frames(tmp_path):
    """`rosrun` is a stand-in that prints what it was given."""
    program = tmp_path / "rosrun"
    program.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    program.chmod(0o755)
    for prefix, frame in (("left", "left/odom"), ("", "odom")):
        done = subprocess.run([sys.executable, ROOT / "scripts" / "show_in_rviz", prefix,
                               "__name:=rviz"],
                              env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
                              capture_output=True, text=True)
        words = done.stdout.split("\n")
        assert words[:3] == ["rviz", "rviz", "-d"] and words[4:7] == ["-f", frame, "__name:=rviz"]
        assert read_prefix(words[3]) == prefix


def test_rviz_leaves_nothing_behind_and_says_what_it_cannot_show(tmp_path, monkeypatch):
    """The same file again for the same prefix; a configuration without the line is refused."""
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("NHMECH_CACHE", str(tmp_path / "cache"))
    config = ROOT / "rviz" / "simulate.rviz"
    found = {prefix_rviz(config, "a/left") for _ in range(2)}
    assert found == {tmp_path / "cache" / "a-left-simulate.rviz"}
    assert read_prefix(found.pop()) == "a/left"
    assert not list(temporary.iterdir())
    bare = tmp_path / "bare.rviz"
    bare.write_text("Displays: []")
    with pytest.raises(InputError, match='bare.rviz has no line `TF Prefix: ""`'):
        prefix_rviz(bare, "left")


def test_a_node_in_a_namespace_has_its_prefix(run, monkeypatch):
    monkeypatch.setattr(stub.Node, "namespace", "/left")
    sent = run(lambda node, tick: tick(1), tf_frame_prefix="~").node.made["publisher"]
    assert sent["odom"].sent[0].header.frame_id == "left/odom"
    assert sent["/diagnostics"].sent[0].status[0].name == "left/nhmech: simulation"


def test_arguments_that_ros_refuses_end_it_in_one_line(monkeypatch, capsys):
    def refuse():
        raise RuntimeError("Failed to parse global arguments:\n  'cmd_vel_timeout' has no value")

    stub.install(monkeypatch, print)
    monkeypatch.setattr(sys.modules["rclpy"], "init", refuse)
    assert ros2.main() == 1
    said = capsys.readouterr().err
    assert said.startswith("error: Failed to parse global") and said.count("\n") == 1


def test_the_launch_file_serves_a_controller_manager(launched):
    words = launched(mode="joints")["simulate"]
    assert dict(words["remappings"])["joint_states"] == "robot_joint_states"
    assert words["parameters"][1]["mode"] == "joints"
    assert words["parameters"][1]["enable_odom_tf"] is False


def test_the_launch_file_needs_nothing_that_only_an_environment_has():
    """`ros2 launch` runs in Ubuntu's own Python, which has no CasADi, whatever is active."""
    words = ("import sys\nfor name in ('casadi', 'pinocchio', 'coal', 'meshcat', 'umsgpack'):\n"
             "    sys.modules[name] = None\n"
             "from nhmech.ros.start import describe_robot\nprint(describe_robot('tricycle'))")
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and "<robot" in done.stdout, done.stderr


@pytest.mark.parametrize("file", sorted((ROOT / "rviz").glob("*.rviz")))
def test_rviz_shows_topics_of_the_node(file):
    text = file.read_text()
    assert yaml.safe_load(text)["Visualization Manager"]["Global Options"]["Fixed Frame"] == "odom"
    assert "initialpose" in text and "odom" in text
