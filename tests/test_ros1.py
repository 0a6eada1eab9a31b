"""The node for ROS 1, for real: roscore, roslaunch, a user that drives, on the loopback."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import xmlrpc.client
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support import command_line, shipped

from nhmech import Simulator, urdf_path
from nhmech.control import WheelServo
from nhmech.errors import NhmechError
from nhmech.ros.start import import_ros

ROOT = Path(__file__).parents[1]
STATE_PUBLISHER = Path("/usr/lib/robot_state_publisher/robot_state_publisher")


def find_missing():
    """What of ROS 1 is not here; None where all is."""
    try:
        for module in ("rospy", "tf2_ros", "roslaunch", "std_srvs", "diagnostic_msgs"):
            import_ros(module, "see .ci/run")
    except NhmechError as error:
        return str(error)
    programs = [name for name in ("roscore", "roslaunch") if shutil.which(name) is None]
    programs += [] if STATE_PUBLISHER.exists() else ["robot_state_publisher"]
    return f"no {', '.join(programs)} here: see .ci/run" if programs else None


WAIT = 120         # [s], many times what it takes
DEBIAN = "/usr/bin/python3"


@pytest.fixture(scope="module", autouse=True)
def ros_is_here():
    if (missing := find_missing()) is not None:
        pytest.skip(missing)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = {"ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_IP": "127.0.0.1",
             "ROS_PACKAGE_PATH": f"{ROOT}:/usr/share",
             "ROS_HOME": str(tmp_path_factory.mktemp("ros")), "PYTHONPATH": str(ROOT),
             "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return os.environ | words


def start(words, environment, log):
    """A process; ROS's own programs are Debian's, with Debian's Python."""
    environment = environment | {"PYTHONPATH": ""} if words[0] != sys.executable else environment
    return subprocess.Popen(words, env=environment, stdout=log, stderr=subprocess.STDOUT,
                            stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def running(environment):
    """A roscore, whose nodes follow /clock, and: (folder) -> (words) -> a process beside it. Those
    of a folder end together, before the roscore does."""
    @contextlib.contextmanager
    def running(folder):
        processes = []
        with (folder / "said").open("w") as log:
            def begin(*words):
                processes.append(start(words, environment, log))
                return processes[-1]

            try:
                yield begin
            finally:
                for process in processes:
                    process.send_signal(signal.SIGINT)
                for process in processes:
                    end(process)

    master = environment["ROS_MASTER_URI"]
    with running(Path(environment["ROS_HOME"])) as begin:
        begin(DEBIAN, shutil.which("roscore"), "-p", master.rpartition(":")[2])
        wait_for_master(master)
        yield running


def end(process):
    process.send_signal(signal.SIGINT)
    try:
        process.wait(120)
    except subprocess.TimeoutExpired:
        process.kill()


def run_driver(begin, folder, *words):
    """Runs a user of the nodes to its end."""
    driver = begin(sys.executable, *map(str, words))
    assert driver.wait(WAIT) == 0, (folder / "said").read_text()[-3000:]


@pytest.fixture(scope="module")
def drive(running, tmp_path_factory):
    """What the driver saw, and the node's log of commands."""
    folder = tmp_path_factory.mktemp("drive")
    with running(folder) as begin:
        begin(DEBIAN, shutil.which("roslaunch"), "nhmech", "simulate.launch", "use_sim_time:=true",
              f"command_log:={folder / 'commands.csv'}")
        run_driver(begin, folder, ROOT / "tests" / "ros1_driver.py", folder / "seen.npz")
    commands = np.loadtxt(folder / "commands.csv", delimiter=",", skiprows=1)
    again = np.flatnonzero(np.diff(commands[:, 0]) < 0)      # the reset at the end
    return np.load(folder / "seen.npz"), commands[:again[0] + 1 if len(again) else None]


def wait_for_master(uri):
    """A node that does not find one ends before it looks at its parameters."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        with contextlib.suppress(OSError), xmlrpc.client.ServerProxy(uri) as master:
            master.setParam("/tests", "/use_sim_time", True)
            return
        time.sleep(0.1)
    raise AssertionError(f"no master at {uri}")


def run_node(environment, *words):
    """(exit code, output) of a node that does not start."""
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "simulate_ros1"),
                           *words], env=environment, capture_output=True,
                          text=True, timeout=WAIT)
    return done.returncode, done.stderr


def test_odometry_comes_a_hundred_times_a_second(drive):
    stamps = drive[0]["rows"][:, 0]
    assert len(stamps) > 300 and np.median(np.diff(stamps)) == pytest.approx(0.01, abs=1.01e-3)


def test_odometry_is_that_of_a_run_of_the_logged_commands(drive):
    seen, commands = drive
    vehicle = shipped("differential_drive")

    def logged(t, state):
        return commands[max(np.searchsorted(commands[:, 0], t + 1e-6) - 1, 0), 1:]

    simulator = Simulator(vehicle, WheelServo(vehicle, logged), control_period=0.01)
    simulator.reset()
    rows = seen["rows"]
    run = simulator.run(float(rows[-1, 0]))
    at = np.rint(rows[:, 0] * 1e3).astype(int)
    assert rows[:, 1:4] == pytest.approx(run.q[at, :3], abs=1e-9)
    same = np.abs((rows[:, 4:8] * run.q[at, 3:7]).sum(axis=1))
    assert same == pytest.approx(1.0, abs=1e-12)
    assert rows[:, 8:] == pytest.approx(run.v[at][:, [0, 5]], abs=1e-9)
    assert rows[:, 1].max() > 0.5


def test_it_stops_after_the_time_out(drive):
    """It is as fast as it was told until then, and slows down to rest."""
    seen, commands = drive
    followed = np.flatnonzero(commands[:, 1] == 0.4)[-1]
    assert commands[followed + 1, 0] - commands[followed, 0] == pytest.approx(0.5, abs=0.1)
    assert not commands[-1, 1:].any()
    assert abs(seen["rows"][-1, 8:]).max() < 0.01


def test_a_listener_finds_the_wheel(drive):
    """odom -> base from the node, base -> wheel from robot_state_publisher."""
    wheel = drive[0]["wheel"]
    vehicle, rows = shipped("differential_drive"), drive[0]["rows"]
    row = rows[np.abs(rows[:, 0] - wheel[0]).argmin()]
    frame = vehicle.model.frames[vehicle.model.getFrameId("left_wheel")]
    joint = vehicle.model.jointPlacements[frame.parentJoint].translation
    base = pin.XYZQUATToSE3(row[1:8])
    assert wheel[1:4] == pytest.approx(base.act(joint), abs=2e-4)


def test_the_service_resets(drive):
    assert drive[0]["after"][1:3] == pytest.approx([0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("name, word, words", [
    ("first", "_cmd_vel_timout:=1.0",
     "error: no parameter 'cmd_vel_timout'; did you mean cmd_vel_timeout?"),
    ("second", "_robot:=hovercraft", "error: robot 'hovercraft' is neither a file nor one of"),
])
def test_bad_parameters_end_it_in_one_line(running, environment, name, word, words):
    code, text = run_node(environment, f"__name:={name}", word)
    assert code == 1 and text.startswith(words) and text.count("\n") == 1


def test_without_a_master_it_says_so(environment):
    code, text = run_node(environment | {"ROS_MASTER_URI": "http://127.0.0.1:9"})
    assert code == 1 and text.startswith("error: no ROS master answers at http://127.0.0.1:9")
    assert text.count("\n") == 1
    code, text = run_node(environment | {"ROS_MASTER_URI": "nonsense"})
    assert code == 1 and text == "error: ROS_MASTER_URI is invalid: invalid master URI: nonsense\n"


XACRO = """<robot name="van" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="left" value="rear_left_wheel_joint"/>{}</robot>"""


@pytest.fixture(scope="module")
def pair(running, tmp_path_factory):
    """What a user of two vehicles saw, a rosbag of one of them, and what a user of joints saw."""
    folder = tmp_path_factory.mktemp("pair")
    text = urdf_path("ackermann_car").read_text()
    inside = text[text.index(">", text.index("<robot")) + 1:text.index("</robot>")]
    (folder / "my van.xacro").write_text(XACRO.format(
        inside.replace('"rear_left_wheel_joint"', '"${left}"')))
    (folder / "stamped.yaml").write_text("enable_stamped_cmd_vel: true\n"
                                         "publish_robot_description: false\n")
    driver = ROOT / "tests" / "ros1_pair.py"
    with running(folder) as begin:
        launch = DEBIAN, shutil.which("roslaunch"), "nhmech", "simulate.launch"
        # by the clock of one of them: of the wall's, a busy computer would leave some out
        begin(*launch, "namespace:=left", "robot:=mecanum", "publish_clock:=true")
        begin(*launch, "namespace:=right", "tf_frame_prefix:=~", f"robot:={folder}/my van.xacro",
              f"params:={folder}/stamped.yaml")
        bag = begin(DEBIAN, shutil.which("rosbag"), "record", "-O", str(folder / "left.bag"),
                    "/left/odom", "/left/joint_states", "__name:=recorder")
        run_driver(begin, folder, driver, "twists", folder / "twists.json")
        end(bag)
    with running(folder) as begin:
        begin(sys.executable, str(ROOT / "scripts" / "simulate_ros1"), "__ns:=third",
              "_mode:=joints")
        run_driver(begin, folder, driver, "joints", folder / "joints.json")
    seen = [json.loads((folder / f"{name}.json").read_text()) for name in ("twists", "joints")]
    return *seen, folder / "left.bag"


def test_two_vehicles_in_namespaces_have_frames_of_their_own(pair):
    """With a prefix frames are on /tf; without, a namespace has a topic tf of its own."""
    seen, _, _ = pair
    assert seen["driven"]["left"][:2] == ["odom", "base_link"]
    assert seen["driven"]["right"][:2] == ["right/odom", "right/base_link"]
    assert seen["frames"]["/left/tf"].items() >= {
        "base_link": "odom", "front_left_wheel": "base_link"}.items()
    shared = seen["frames"]["/tf"]
    assert shared["right/base_link"] == "right/odom"
    assert shared["right/front_left_wheel"] == "right/front_left_knuckle"
    assert all(name.startswith("right/") for name in shared)
    assert seen["driven"]["left"][4:] == pytest.approx([0.2, 0.1 * np.sin(2.0), 0.3], abs=0.01)
    assert seen["driven"]["right"][4:] == pytest.approx([0.3, 0.0, 0.06], abs=0.01)


def test_a_rosbag_of_it_passes_the_referee(pair):
    result = command_line("odometry", pair[2], "--vehicle", "mecanum", "--joints",
                          "/left/joint_states", "--pose", "/left/odom", "--check")
    assert result.exit_code == 0 and "found    nothing" in result.output, result.output


@pytest.mark.parametrize("which, words", [
    (0, "is ignored because it is not finite"),
    (0, "a cmd_vel is dropped: its stamp is 2"),
    (0, "lateral speed 0.2 m/s is refused: van cannot move sideways"),
    (0, "initialpose (0, 0, nan) is refused: it is not finite"),
    (0, "no cmd_vel for 0.5 s: the vehicle brakes"),
    (1, "joint_commands are refused: joint 'wheel' does not exist"),
    (1, "joint_commands are refused: velocity has 3 numbers; name has 2 joints"),
    (1, "time went back to 5.0"),
])
def test_what_cannot_be_followed_is_told(pair, which, words):
    assert sum(words in line for line in pair[which]["said"]) >= 1


def test_diagnostics_say_whose_they_are(pair):
    troubles, last = pair[0]["diagnosed"], pair[1]
    assert troubles["left/nhmech: commands"] == ["mecanum", 0, "followed"]
    hardware, level, message = troubles["right/nhmech: commands"]
    assert (hardware, level) == ("van", 1) and message.startswith("lateral speed 0.2 m/s")
    assert last["driven"]["third"][4] > 0.1 and abs(last["odom"]["third"][2]) < 1e-6
