"""The node for ROS 1, for real: roscore, roslaunch, a user that drives, on the loopback."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support import shipped

from nhmech import Simulator
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


def end(process):
    process.send_signal(signal.SIGINT)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()


@pytest.fixture(scope="module")
def drive(environment, tmp_path_factory):
    """What the driver saw, and the node's log of commands."""
    folder = tmp_path_factory.mktemp("drive")
    debian = "/usr/bin/python3"
    port = environment["ROS_MASTER_URI"].rpartition(":")[2]
    with (folder / "log").open("w") as log:
        core = start([debian, shutil.which("roscore"), "-p", port], environment, log)
        node = start([debian, shutil.which("roslaunch"), "--wait", "nhmech", "simulate.launch",
                      "use_sim_time:=true", f"command_log:={folder / 'commands.csv'}"],
                     environment, log)
        try:
            driver = start([sys.executable, str(ROOT / "tests" / "ros1_driver.py"),
                            str(folder / "seen.npz")], environment, log)
            wait_for_master(int(port))
            bad = [run_node(environment, "__name:=first", "_cmd_vel_timout:=1.0"),
                   run_node(environment, "__name:=second", "_robot:=hovercraft")]
            code = driver.wait(WAIT)
        finally:
            end(node)
            end(core)
    assert code == 0, (folder / "log").read_text()[-3000:]
    commands = np.loadtxt(folder / "commands.csv", delimiter=",", skiprows=1)
    again = np.flatnonzero(np.diff(commands[:, 0]) < 0)      # the reset at the end
    return np.load(folder / "seen.npz"), commands[:again[0] + 1 if len(again) else None], bad


def wait_for_master(port):
    """A node that does not find one ends before it looks at its parameters."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
            return
        time.sleep(0.1)
    raise AssertionError(f"no master at {port}")


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
    seen, commands, _ = drive
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
    seen, commands, _ = drive
    last, rows = float(seen["last"]), seen["rows"]
    braked = commands[np.flatnonzero(commands[:, 0] > last + 0.1)[0], 0]
    assert last + 0.4 <= braked <= last + 0.6 and not commands[-1, 1:].any()
    assert abs(rows[-1, 8:]).max() < 0.01


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


@pytest.mark.parametrize("which, words", [
    (0, "error: no parameter 'cmd_vel_timout'; did you mean cmd_vel_timeout?"),
    (1, "error: robot 'hovercraft' is neither a file nor one of"),
])
def test_bad_parameters_end_it_in_one_line(drive, which, words):
    code, text = drive[2][which]
    assert code == 1 and text.startswith(words) and text.count("\n") == 1


def test_without_a_master_it_says_so(environment):
    code, text = run_node(environment | {"ROS_MASTER_URI": "http://127.0.0.1:9"})
    assert code == 1 and text.startswith("error: no ROS master answers at http://127.0.0.1:9")
    assert text.count("\n") == 1
