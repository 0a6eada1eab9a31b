"""`nhmech run` under conditions: each option is the argument that Python has, and says so when it
cannot be."""

import json
import re
from math import cos, pi, radians, sin

import numpy as np
import pytest
from support import command_line

import nhmech
from nhmech.analysis import limits, run_summary
from nhmech.control import Delay, DemoDrive, MeasurementNoise

ROBOT = "differential_drive"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """`nhmech run ROBOT --duration 0.2 ...` in an empty folder: the run that it saves."""
    monkeypatch.chdir(tmp_path)

    def saved(*words, robot=ROBOT):
        result = command_line("run", robot, "--duration", "0.2", "--save", "run.npz", *words)
        assert result.exit_code == 0, result.output
        return nhmech.Trajectory.load("run.npz")

    return saved


def in_python(vehicle, *, controller=None, reset=None, **settings):
    """The same run by hand."""
    simulator = nhmech.Simulator(vehicle, controller or DemoDrive(vehicle),
                                 **{"control_period": 0.01, **settings})
    simulator.reset(**(reset or {}))
    return simulator.run(0.2)


def load(**arguments):
    return nhmech.load(nhmech.urdf_path(ROBOT), **arguments)


CASES = {
    "start": (("--start", "1,-2,45deg"), {}, {"reset": {"pose": (1.0, -2.0, pi / 4)}}),
    "xi": (("--xi", "forward_speed=0.3", "--xi", "yaw_rate=20deg"), {},
           {"reset": {"xi": {"forward_speed": 0.3, "yaw_rate": radians(20)}}}),
    "joint": (("--joint", "left_wheel_joint=90deg"), {},
              {"reset": {"joints": {"left_wheel_joint": pi / 2}}}),
    "slope": (("--slope", "5deg"), {"normal": (-sin(radians(5)), 0.0, cos(radians(5)))}, {}),
    "slope across": (("--slope", "5deg,90deg"),
                     {"normal": (0.0, -sin(radians(5)), cos(radians(5)))}, {}),
    "kinematic": (("--mode", "kinematic"), {}, {"mode": "kinematic"}),
    # 10 ms between two calls of the controller, whatever the step
    "short steps": (("--dt", "2.5e-4"), {}, {"dt": 2.5e-4}),
    "long steps": (("--dt", "0.04"), {}, {"dt": 0.04, "control_period": 0.04}),
}


@pytest.mark.parametrize("words, ground, how", CASES.values(), ids=CASES)
def test_an_option_is_an_argument_of_python(run, words, ground, how):
    ours, theirs = run(*words), in_python(load(ground=nhmech.Ground(**ground)), **how)
    np.testing.assert_allclose(ours.q, theirs.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.v, theirs.v, rtol=0, atol=1e-12)


def test_payload_and_parameters_are_those_of_the_vehicle(run):
    trajectory = run("--payload", "5@0.1,0,0.3", "--param", "base_link.mass=4", "--param",
                     "right_wheel_joint.damping=0.02")
    changes = {"payload.mass": 5.0, "payload.x": 0.1, "payload.z": 0.3, "base_link.mass": 4.0,
               "right_wheel_joint.damping": 0.02}
    theirs = in_python(load().with_parameters(changes))
    np.testing.assert_allclose(trajectory.q, theirs.q, rtol=0, atol=1e-12)
    values = trajectory.simulated.vehicle.parameters.values
    assert {name: values[name] for name in changes} == changes, "the file of the run knows them"


def test_noise_and_delay_are_those_of_the_controllers(run):
    vehicle = load()
    noisy = MeasurementNoise(DemoDrive(vehicle), joint_velocity=0.1, heading=radians(1), seed=3)
    theirs = in_python(vehicle, controller=Delay(noisy, 0.05))
    ours = run("--noise", "joint_velocity=0.1", "--noise", "heading=1deg", "--noise", "seed=3",
               "--delay", "0.05")
    np.testing.assert_allclose(ours.q, theirs.q, rtol=0, atol=1e-12)
    assert ours.settings["controller"] == "Delay(MeasurementNoise(DemoDrive))"
    assert np.abs(ours.q - in_python(vehicle).q).max() > 1e-4


def test_what_a_path_says_of_the_start_is_kept_where_no_option_says_otherwise(run):
    path = "--controller", "pure_pursuit", "--path", "circle:2"
    assert run(*path, "--start", "0.1,0.2,0").q[0, :2] == pytest.approx([0.1, 0.2], abs=1e-12)
    there = run(*path)
    turned = run(*path, "--joint", "left_wheel_joint=1")
    np.testing.assert_allclose(turned.q[0, :7], there.q[0, :7], atol=1e-12)


def test_hitches_and_leans_are_starts_too(run):
    trailer = run("--joint", "hitch_1_joint=20deg", "--xi", "forward_speed=0.5", robot="trailers")
    vehicle = trailer.simulated.vehicle
    assert vehicle.joint_positions(trailer.q[0])["hitch_1_joint"] == pytest.approx(pi / 9)
    assert trailer.column("forward_speed")[0] == pytest.approx(0.5, rel=1e-12)
    disc = run("--start", "0,0,0,10deg,0,0", robot="disc")
    R = disc.T_WB[0, :3, :3]
    assert np.degrees(np.arcsin(R[2, 1])) == pytest.approx(10.0, rel=1e-9)


@pytest.mark.parametrize("words, parts", [
    (("--start", "1,2"), ("--start", "'1,2'", "1,0,45deg")),
    (("--start", "1,2,nan"), ("--start", "'1,2,nan'", "1,0,45deg")),
    (("--start", "1,2,90"), ("more than a full turn", "If degrees were meant: 1,2,90deg")),
    (("--start", "0,0,0.1,0,0,180"), ("If degrees were meant: 0,0,0.1,0deg,0deg,180deg",)),
    (("--joint", "hitch=1"), ("--joint hitch=1", "left_wheel_joint")),
    (("--joint", "left_whel_joint=1"), ("--joint", "did you mean 'left_wheel_joint'?")),
    (("--joint", "left_wheel_joint=up"), ("--joint", "'left_wheel_joint=up'")),
    (("--xi", "foward_speed=1"), ("--xi foward_speed=1", "did you mean 'forward_speed'?")),
    (("--xi", "lateral_speed=1"), ("--xi lateral_speed=1", "contradict", "independent here are")),
    (("--slope", "95deg"), ("--slope 95deg", "pi/2: steeper ground cannot be rolled on\n")),
    (("--slope", "5"), ("--slope 5", "pi/2", "If degrees were meant: 5deg")),
    (("--slope", "up"), ("--slope", "'up'", "10deg")),
    (("--payload", "5"), ("--payload", "'5'", "5@0.1,0,0.3")),
    (("--payload", "5@0,0"), ("--payload", "'5@0,0'", "5@0.1,0,0.3")),
    (("--payload", "-5@0,0,0"), ("--payload -5@0,0,0: ", "must not be negative")),
    (("--param", "base_link.mas=3"), ("--param base_link.mas=3", "base_link.mass")),
    (("--noise", "positio=1"), ("--noise positio=1", "did you mean 'position'?")),
    (("--noise", "position=-1"), ("--noise position=-1", "zero or more")),
    (("--delay", "-1"), ("--delay", "positive")),
    (("--mode", "static"), ("--mode", "kinematic")),
    (("--mode", "kinematic", "--mu", "0.6", "--on-slip", "go-on"), ("Leave --mode kinematic out",)),
    (("--controller", "pure_pursit"), ("did you mean 'pure_pursuit'?",)),
    (("--controller", "pure_pursuit", "--path", "figur8"), ("did you mean 'figure8'?",)),
])
def test_what_cannot_be_is_told_with_its_option(words, parts):
    result = command_line("run", ROBOT, "--duration", "0.1", *words)
    assert result.exit_code == 2
    for part in parts:
        assert part in result.stderr


def test_a_start_in_degrees_that_is_proposed_is_taken(run):
    """And so are angles in radians that are no round numbers, or within a turn."""
    for typed, heading in (("90deg", pi / 2), ("6", 6.0), ("7.3", 7.3)):
        R = run("--start", f"90,90,{typed}").T_WB[0, :3, :3]
        np.testing.assert_allclose(R[:2, 0], (cos(heading), sin(heading)), atol=1e-12)


def test_a_joint_that_is_held_is_told_with_what_moves_it(run, tmp_path):
    arm = """
      <link name="arm"><inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01"
        iyz="0" izz="0.01"/></inertial></link>
      <joint name="lift" type="prismatic"><parent link="base_link"/><child link="arm"/>
        <axis xyz="0 0 1"/><limit lower="0" upper="1" effort="10" velocity="1"/></joint>
    </robot>"""
    text = nhmech.urdf_path(ROBOT).read_text().replace("</robot>", arm)
    (tmp_path / "lifts.urdf").write_text(text)
    said = command_line("run", "lifts.urdf", "--joint", "lift=0.3").stderr
    assert "joint 'lift' is held at 0" in said
    assert "--lock lift=0.3" in said and "--free lift" in said
    run("--lock", "lift=0.3", robot="lifts.urdf")
    run("--free", "lift", "--joint", "lift=0.3", robot="lifts.urdf")


def test_limits_are_those_with_the_load():
    found = command_line("limits", ROBOT, "--mu", "0.6", "--json", "--payload", "9@0.02,0,0.3",
                         "--param", "base_link.mass=4")
    numbers = {"payload.mass": 9.0, "payload.x": 0.02, "payload.z": 0.3, "base_link.mass": 4.0}
    expected, empty = limits(load().with_parameters(numbers), 0.6), limits(load(), 0.6)
    slope = json.loads(found.stdout)["up"]["value"]
    assert slope == pytest.approx(expected.up.value, rel=1e-12)
    assert abs(slope - empty.up.value) > 0.01


@pytest.mark.parametrize("command", ["page", "drive", "limits"])
def test_a_fall_is_of_runs_alone(command):
    """Pages and drives roll: what they cannot have is no option of theirs."""
    assert "No such option '--drop'" in command_line(command, ROBOT, "--drop", "0.1").stderr


def test_a_fall_on_a_path_begins_at_rest(run):
    fallen = run("--controller", "pure_pursuit", "--path", "circle:2", "--drop", "0.05", "--mu",
                 "0.6", "--on-slip", "go-on")
    assert np.abs(fallen.v[0]).max() == 0.0 and not fallen.rolled[0]
    pushed = command_line("run", ROBOT, "--drop", "0.05", "--mu", "0.6", "--on-slip", "go-on",
                          "--xi", "forward_speed=1", "--duration", "0.01")
    assert pushed.exit_code == 2 and "xi= or drop=" in pushed.stderr


def test_a_page_of_wheels_that_scrub_knows_their_friction(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = nhmech.urdf_path("skid_steer").read_text()
    (tmp_path / "bare.urdf").write_text(re.sub(r' mu="[^"]*"', "", text))
    words = "page", "bare.urdf", "--skid", "coulomb", "-o", "bare.html"
    assert "Give --mu 0.6" in command_line(*words).stderr
    found = command_line(*words, "--mu", "0.6")
    assert found.exit_code == 0, found.output


def test_a_pose_that_cannot_be_is_told_with_its_option():
    result = command_line("run", "disc", "--start", "0,0,0,90deg,0,0")
    assert result.exit_code == 2 and "--start 0,0,0,90deg,0,0: " in result.stderr


@pytest.mark.parametrize("words, completed", [
    ("nhmech run carr", "plain,carriage"), ("nhmech inspect ./rob", "file,./rob"),
    ("nhmech run x --controller pure", "plain,pure_pursuit"),
    ("nhmech run x --path fig", "plain,figure8"), ("nhmech controllers sta", "plain,stanley"),
    ("nhmech run x --slo", "plain,--slope"), ("nhmech insp", "plain,inspect")])
def test_a_shell_completes_names(words, completed):
    """What bash is told (`eval "$(_NHMECH_COMPLETE=bash_source nhmech)"`)."""
    from click.testing import CliRunner

    from nhmech import cli

    environment = {"_NHMECH_COMPLETE": "bash_complete", "COMP_WORDS": words,
                   "COMP_CWORD": str(len(words.split()) - 1)}
    result = CliRunner().invoke(cli.main, [], env=environment, prog_name="nhmech")
    assert result.output.strip() == completed


def test_did_you_mean():
    assert "did you mean 'carriage'?" in command_line("run", "cariage").stderr
    assert "did you mean 'inspect'?" in command_line("inspekt", "carriage").stderr
    assert "did you mean 'stanley'?" in command_line("controllers", "stanly").stderr
    assert "did you mean" not in command_line("run", "qqqqqqqq").stderr


def test_json_is_the_summary_that_python_has(run, tmp_path):
    result = command_line("run", ROBOT, "--duration", "0.2", "--save", "run.npz", "--json",
                          "--controller", "stanley", "--path", "line")
    found = json.loads(result.stdout)
    expected = json.loads(json.dumps(run_summary(nhmech.Trajectory.load("run.npz"))))
    assert {name: found[name] for name in expected} == expected
    assert found["lateral_error"]["most"] < 1e-6 and found["rolling"]["until"] is None
    assert found["stop"] == "duration" and found["end"]["t"] == pytest.approx(0.2, rel=1e-12)
    assert "saved    run.npz" in result.stderr, "what is for people is beside it"


def test_json_of_a_failure_is_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text("def bad(t, state):\n    return [1.0 / (t < 0.05), 0.0]\n")
    result = command_line("run", ROBOT, "--duration", "1", "--controller", "bad.py:bad", "--json")
    assert result.exit_code == 3 and "ZeroDivisionError" in result.stderr
    found = json.loads(result.stdout)
    assert found["end"]["t"] == pytest.approx(0.05, abs=2e-3) and "bad" in found["stop"]


def test_phases_of_a_run_with_friction_are_in_its_summary():
    vehicle = load()
    simulator = nhmech.Simulator(vehicle, lambda t, state: np.array([5.0, 5.0]), contact="coulomb",
                                 mu=0.05)
    run = simulator.run(0.2)
    found = run_summary(run)
    json.dumps(found)
    for name in ("slid", "friction_loss"):
        assert found[name] == {wheel: way[-1] for wheel, way in getattr(run, name).items()}
    assert any("sliding" in span["wheels"].values() for span in found["phases"])
    assert found["slid"]["left_wheel_joint"] > 0 and found["friction_loss"]["left_wheel_joint"] > 0


@pytest.mark.parametrize("words", [("--help",), ("controllers",), ("run", ROBOT, "--help"),
                                   ("run", ROBOT, "--duration", "0.1"), ("systems", "list")])
def test_a_reader_that_stops_early_is_no_error(words):
    """`nhmech ... | head -1`."""
    import subprocess
    import sys

    command = subprocess.Popen([sys.executable, "-m", "nhmech", *words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    command.stdout.close()
    assert command.stderr.read() == b""
    command.stderr.close()
    assert command.wait() == 0


@pytest.mark.parametrize("command", ["odometry", "import"])
def test_a_required_option_of_a_group_is_asked_for(command, tmp_path):
    bag = tmp_path / "drive.csv"
    bag.write_text("t\n0\n")
    result = command_line(command, str(bag))
    assert result.exit_code == 2 and "Missing option '--vehicle'" in result.output
