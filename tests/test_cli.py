"""The command line: its words, its exit codes, and what it writes."""

import json
import os
import re
import subprocess
import sys
from math import pi
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from support import command_line

from nhmech import cli
from nhmech.cli.options import PairType, SkidType, WheelType, number
from nhmech.cli.summary import print_notices
from nhmech.errors import MechanicsError, ModelError, SimulationError
from nhmech.urdf.notice import Notice, NoticeKind
from nhmech.urdf.remedy import option as spell_option

BROKEN_CONTROLLERS = '''
import numpy as np

class Broken:
    """Fine for a while, then not a number."""
    def __init__(self, vehicle):
        self.nu = len(vehicle.driven)
    def __call__(self, t, state):
        return np.full(self.nu, 0.0 if t < 0.05 else np.nan)

def still(t, state):
    return {}

number = 3
'''


@pytest.fixture
def nhmech(tmp_path, monkeypatch):
    """Runs `nhmech ...` in an empty folder; no browser, whatever the machine has."""
    monkeypatch.chdir(tmp_path)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "controllers.py").write_text(BROKEN_CONTROLLERS)

    return command_line


# --- words become values

def test_numbers():
    assert number("0.25") == 0.25
    assert number("45deg") == pytest.approx(pi / 4, rel=1e-15)


def test_wheel():
    words = "joint=a, kind=mecanum, radius=0.1, roller_angle=-45deg, axis=0 1 0, driven=yes"
    wheel = WheelType().convert(words, None, None)
    assert (wheel.joint, wheel.kind, wheel.radius, wheel.axis,
            wheel.driven) == ("a", "mecanum", 0.1, (0, 1, 0), True)
    assert wheel.roller_angle == pytest.approx(-pi / 4, rel=1e-15)
    assert WheelType().convert("link=ball,kind=sphere,radius=0.2", None, None).name == "ball"


@pytest.mark.parametrize("text, complaint", [("radius", "joint, kind, radius"),
                                             ("size=3", "joint, kind, radius"),
                                             ("joint=a,radius=big", "big"),
                                             ("joint=a,radius=0.1,axis=0 1", "three numbers"),
                                             ("joint=a,radius=0.1,driven=perhaps", "true or false"),
                                             ("joint=a,radius=-1", "positive length"),
                                             ("joint=a,radius=0.1,kind=square", "caster_ball"),
                                             ("radius=0.1", "name of its joint")])
def test_wheel_that_is_none(text, complaint):
    with pytest.raises(click.BadParameter, match=complaint):
        WheelType().convert(text, None, None)


def test_pairs_and_skid():
    assert PairType("POSITION", number).convert("arm=90deg", None,
                                                None) == ("arm", pytest.approx(pi / 2, rel=1e-15))
    for text in ("arm", "=1", "arm=", "arm=up"):
        with pytest.raises(click.BadParameter):
            PairType("POSITION", number).convert(text, None, None)
    assert SkidType().convert("mid-axle", None, None) == "mid-axle"
    assert SkidType().convert("1.6", None, None) == 1.6
    assert SkidType().convert("rear_left, rear_right", None, None) == ("rear_left", "rear_right")


# --- help and exit codes

@pytest.mark.parametrize("name", cli.COMMANDS)
def test_help_is_worth_reading(nhmech, name):
    result = nhmech(name, "--help")
    assert result.exit_code == 0
    assert f"nhmech {name}" in result.output.partition("Options:")[0].partition("\n")[2], (
        "help shows no example"
    )
    command = cli.main.get_command(None, name)
    for option in command.params:
        assert isinstance(option, click.Argument) or option.help, f"{option.name} says nothing"
    assert name in nhmech("--help").output


def test_version(nhmech):
    from nhmech.version import __version__

    assert nhmech("--version").output.split()[-1] == __version__


@pytest.mark.parametrize("error, code",
                         [(ModelError("bad wheel"), 2), (MechanicsError("bad rank"), 2),
                                         (SimulationError("lifted"), 3)])
def test_our_errors_become_messages_and_exit_codes(nhmech, monkeypatch, error, code):
    @click.command()
    def fails():
        raise error

    monkeypatch.setattr(cli.Commands, "get_command", lambda *_: fails)
    result = nhmech("fails")
    assert result.exit_code == code
    assert result.stderr == f"error: {error}\n" and result.stdout == ""


@pytest.mark.parametrize("words", [
    ("nonsense",),
    ("run",),
    ("run", "differential_drive", "--duration", "0"),
    ("run", "differential_drive", "--duration", "nan"),
    ("run", "differential_drive", "--dt", "-1"),
    ("run", "differential_drive", "--wheel", "radius"),
    ("run", "differential_drive", "--html", "nowhere/run.html"),
    ("run", "differential_drive", "--save", "run.txt"),
    ("run", "differential_drive", "--controller", "controllers"),
    ("run", "differential_drive", "--controller", "no_such_module:f"),
    ("run", "differential_drive", "--controller", "controllers.py:number"),
    ("run", "differential_drive", "--controller", "nothing.py:f"),
    ("run", "no_such_robot"),
    ("inspect", "no_such_robot"),
    ("view", "no_such_run.npz"),
])
def test_bad_input_is_exit_code_2(nhmech, words):
    result = nhmech(*words)
    assert result.exit_code == 2
    assert re.search("error", result.stderr, re.I) and "Traceback" not in result.stderr


def test_message_for_an_unknown_robot_names_the_shipped_ones(nhmech):
    assert "carriage" in nhmech("run", "no_such_robot").stderr


@pytest.mark.parametrize("text", ["", "not xml", "<robot name='r'/>",
                                  "<robot name='r'><link name='a'/></robot>"])
def test_a_bad_file_is_exit_code_2(nhmech, tmp_path, text):
    (tmp_path / "bad.urdf").write_text(text)
    for command in ("run", "inspect"):
        result = nhmech(command, "bad.urdf")
        assert result.exit_code == 2 and "bad.urdf" in result.stderr


def test_view_refuses_what_is_no_run(nhmech, tmp_path):
    (tmp_path / "run.npz").write_bytes(b"nothing")
    (tmp_path / "run.csv").write_text("t,x\n0,1\n")
    for words in (("view", "run.npz"), ("view", "run.csv"), ("plot", "controllers.py"),
                  ("report", "run.csv")):
        result = nhmech(*words)
        assert (result.exit_code == 2
                and f"{words[1]} is not a run that `nhmech run --save`" in result.stderr)
        assert "pickle" not in result.stderr and "unsafe" not in result.stderr


# --- progress

# --- the real thing

@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A short run of the differential drive, saved and drawn."""
    folder = tmp_path_factory.mktemp("run")
    words = ["run", "differential_drive", "--duration", "0.2", "--save", str(folder / "run.npz"),
             "--html", str(folder / "run.html")]
    result = CliRunner().invoke(cli.main, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return folder, result


def is_playable(page):
    return (page.stat().st_size > 100_000
            and "<html" in page.read_text(errors="replace")[:2000].lower())


def test_run_sums_up_what_is_left_of_the_constraints(saved):
    _, result = saved
    slip, height = re.search(r"max\(1, \|v\|\) (\S+) +max \|phi\| (\S+) m", result.output).groups()
    assert float(slip) <= 1e-12 and float(height) <= 1e-12
    assert re.search(r"^time +0\.2 s simulated", result.output, re.M)
    assert re.search(r"^end +x \+0\.\d+ m", result.output, re.M), "the demonstration drives forward"


def test_run_saves_and_draws(saved):
    from nhmech.simulation.runs.trajectory import Trajectory

    folder, result = saved
    assert Trajectory.load(folder / "run.npz").t[-1] == pytest.approx(0.2, rel=1e-9)
    assert is_playable(folder / "run.html")
    assert str(folder / "run.html") in result.output


def test_view_draws_a_saved_run(saved, nhmech, tmp_path):
    folder, _ = saved
    result = nhmech("view", folder / "run.npz", "--html", "again.html")
    assert result.exit_code == 0
    assert is_playable(tmp_path / "again.html")


def test_view_without_a_browser_writes_the_page(nhmech, tmp_path, monkeypatch):
    monkeypatch.setattr("nhmech.cli.show.has_browser", lambda: False)
    result = nhmech("run", "differential_drive", "--duration", "0.05", "--view")
    assert result.exit_code == 0
    assert is_playable(tmp_path / "differential_drive.html")
    assert str(tmp_path / "differential_drive.html") in result.output


def test_a_failure_is_exit_code_3_and_keeps_the_run(nhmech, tmp_path):
    from nhmech.simulation.runs.trajectory import Trajectory

    result = nhmech("run", "differential_drive", "--duration", "1", "--controller",
                    "controllers.py:Broken", "--save", "kept.npz")
    assert result.exit_code == 3
    assert "error: " in result.stderr
    assert 0.04 <= Trajectory.load(tmp_path / "kept.npz").t[-1] <= 0.06


def test_a_failure_is_told_before_what_fails_after_it(nhmech, tmp_path, monkeypatch):
    """Neither a verdict nor a page that cannot be had hides why the run stopped, and the rest is
    still written."""
    def no_verdict(*_):
        raise MechanicsError("no verdict")

    monkeypatch.setattr("nhmech.cli.run.print_summary", no_verdict)
    monkeypatch.setattr("nhmech.cli.run.print_validity", no_verdict)
    for words, code in ((("--controller", "controllers.py:Broken"), 3), ((), 2)):
        (tmp_path / "run.html").unlink(missing_ok=True)
        result = nhmech("run", "differential_drive", "--duration", "0.2", *words, "--html",
                        "run.html")
        told = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
        assert result.exit_code == code and is_playable(tmp_path / "run.html")
        assert ("Broken" in told[0] if words
                else told[0] == "error: no verdict") and told[-1] == "error: no verdict"
        assert len(told) == 2 + bool(words)


def test_a_failure_is_told_before_ctrl_c_can_keep_it_back(nhmech, monkeypatch):
    """While a picture is drawn, say."""
    def ended(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("nhmech.cli.run.print_summary", ended)
    result = nhmech("run", "differential_drive", "--duration", "0.2", "--controller",
                    "controllers.py:Broken")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ") and "Broken" in result.stderr.splitlines()[0]


def test_a_failure_is_told_once(nhmech):
    result = nhmech("run", "differential_drive", "--duration", "0.2", "--controller",
                    "controllers.py:Broken")
    why = result.stderr.splitlines()[-1].removeprefix("error: ")
    assert result.exit_code == 3 and "Broken" in why
    assert re.search("^stopped +by a failure$", result.stdout,
                     re.M) and result.output.count(why) == 1


@pytest.mark.parametrize("option", ["--html x.html", "--save x.npz", "--gif x.gif", "--webp x.webp",
                                    "--mp4 x.mp4"])
@pytest.mark.parametrize("there", [True, False])
def test_where_nothing_can_be_written_nothing_runs(nhmech, tmp_path, monkeypatch, option, there):
    option, name = option.split()
    (tmp_path / "kept").mkdir()
    access = os.access
    monkeypatch.setattr("os.access", lambda path, mode: str(path) != "kept" and access(path, mode))
    monkeypatch.setattr("nhmech.cli.conditions.load_robot", lambda *_,
                        **__: pytest.fail("the robot was loaded"))
    folder = "kept" if there else "nowhere"
    result = nhmech("run", "differential_drive", option, f"{folder}/{name}")
    assert result.exit_code == 2 and f"the folder '{folder}'" in result.stderr


# --- friction and notices

@pytest.mark.parametrize("given, known", [
    (("--mu", "0.8"), {"left_wheel_joint": 0.8, "right_wheel_joint": 0.8, "caster_link": 0.8}),
    (("--mu", "left_wheel_joint=0.8"),
     {"left_wheel_joint": 0.8, "right_wheel_joint": None, "caster_link": None})])
def test_the_friction_of_a_run_is_kept_in_it(nhmech, tmp_path, given, known):
    from nhmech.simulation.runs.trajectory import Trajectory

    plain(tmp_path / "robot.urdf")
    assert nhmech("run", "robot.urdf", "--duration", "0.05", *given, "--save",
                  "run.npz").exit_code == 0
    vehicle = Trajectory.load("run.npz").simulated.vehicle
    assert {wheel.name: wheel.mu for wheel in vehicle.description.wheels} == known


def test_the_friction_of_a_run_is_drawn_and_reported(nhmech, tmp_path):
    plain(tmp_path / "robot.urdf")
    assert nhmech("run", "robot.urdf", "--duration", "0.05", "--mu", "0.8", "--save",
                  "run.npz").exit_code == 0
    for words, drawn, other in (((), "0.8 × normal", "0.3 × normal"),
                                (("--mu", "0.3"), "0.3 × normal", "0.8 × normal")):
        assert nhmech("plot", "run.npz", "--picture", "friction", "-o", "run.svg",
                      *words).exit_code == 0
        text = (tmp_path / "run.svg").read_text(encoding="utf-8")
        assert drawn in text and other not in text, "--mu of the command goes first"
    assert nhmech("report", "run.npz", "-o", "run.html").exit_code == 0
    assert "No friction coefficient is known" not in (tmp_path / "run.html").read_text(
        encoding="utf-8"
    )


def test_without_friction_a_run_says_so(nhmech, tmp_path):
    plain(tmp_path / "robot.urdf")
    assert nhmech("run", "robot.urdf", "--duration", "0.05", "--save", "run.npz").exit_code == 0
    assert nhmech("report", "run.npz", "-o", "run.html").exit_code == 0
    assert "No friction coefficient is known" in (tmp_path / "run.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("robot, advice", [("differential_drive", "--on-slip warn"),
                                           ("plain.urdf", "--mu 0.8 --on-slip warn")])
def test_what_did_not_hold_comes_with_advice_that_can_be_typed(nhmech, tmp_path, robot, advice):
    """A robot thrown forward lifts its caster; where no friction is known, `--on-slip warn` would
    be refused."""
    plain(tmp_path / "plain.urdf")
    (tmp_path / "throw.py").write_text("def throw(t, state):\n    return [20.0, 20.0]\n")
    words = "run", robot, "--duration", "0.05", "--controller", "throw.py:throw"
    words = *words, "--on-lift", "ignore"
    result = nhmech(*words)
    assert f"; run with {advice} for the exact moment" in result.stdout, result.output
    again = nhmech(*words, *advice.split())
    assert again.exit_code == 0 and "ideal rolling stopped being valid at t = " in again.stdout


def test_notices_are_told_before_a_run(nhmech, tmp_path):
    plain(tmp_path / "robot.urdf")
    told = nhmech("run", "robot.urdf", "--duration", "0.05", "--controller", "controllers.py:still",
                  "--wheel", "joint=left_wheel_joint,kind=disc,radius=0.13").stderr
    assert re.search("^notice +left_wheel_joint: radius 0.13 m as given, although", told, re.M)
    assert re.search("^notice +right_wheel_joint: would be found", told,
                     re.M) and "driven joints from" not in told
    assert nhmech("run", "differential_drive", "--duration", "0.05").stderr == ""


def test_many_notices_are_cut(capsys):
    odd = [Notice(NoticeKind.HANDLE, f"odd {i}", spell_option("skid", ("a", "b")))
           for i in range(7)]
    driven = Notice(NoticeKind.DRIVEN_FROM, "driven joints from <nhmech>")
    print_notices((driven, *odd))
    told = capsys.readouterr()
    assert told.out == "" and told.err.splitlines() == [
        *(f"notice   odd {i}. --skid a,b" for i in range(5)),
        "notice   and 2 more: nhmech inspect"]


def test_a_lone_wheel_is_said_to_be_the_cause(nhmech, tmp_path):
    """What cannot be driven because the other wheels were left out is not the robot's fault."""
    plain(tmp_path / "robot.urdf")
    result = nhmech("run", "robot.urdf", "--wheel", "joint=left_wheel_joint,kind=disc,radius=0.1")
    error = result.stderr.splitlines()[-1]
    assert (result.exit_code == 2 and "does not balance on one axle" in error
            and "load(" not in error)
    assert error.endswith("--wheel lists all wheels, so only left_wheel_joint touches the ground; "
                          "locked, without contact: right_wheel_joint")
    assert "--wheel lists" not in nhmech("run", "robot.urdf", "--controller", "pure_pursuit").stderr
    every = [word for joint in ("left_wheel_joint", "right_wheel_joint")
             for word in ("--wheel", f"joint={joint},kind=disc,radius=0.1")]
    assert "--wheel lists" not in nhmech("run", "robot.urdf", *every, "--controller",
                                         "pure_pursuit").stderr
    tagged = nhmech("run", "differential_drive", "--wheel",
                    "joint=left_wheel_joint,kind=disc,radius=0.1")
    assert "a wheel that is left out where wheels are listed is locked" in tagged.stderr


def plain(path):
    """A shipped robot whose file says nothing of wheels or friction."""
    from nhmech.paths import urdf_path

    path.write_text(re.sub("<nhmech>.*</nhmech>", "", urdf_path("differential_drive").read_text(),
                           flags=re.S))


def test_controller_from_a_module_of_the_current_folder(nhmech, tmp_path):
    (tmp_path / "mine_alone.py").write_text(
        "import nhmech\ndef circle(t, state):\n"
        "    return nhmech.JointVelocity({'left_wheel_joint': 4.0, 'right_wheel_joint': 6.0})\n"
    )
    result = nhmech("run", "differential_drive", "--duration", "0.1", "--controller",
                    "mine_alone:circle")
    assert result.exit_code == 0, result.output


def test_inspect_json(nhmech):
    result = nhmech("inspect", "differential_drive", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout,
                       parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    wheels = {wheel["name"]: wheel for wheel in found["wheels"]}
    assert (wheels["left_wheel_joint"]["kind"] == "disc"
            and wheels["left_wheel_joint"]["radius"] == 0.1)
    assert wheels["left_wheel_joint"]["driven"] and wheels["left_wheel_joint"]["reason"]
    assert sorted(found["joints"]["driven"]) == ["left_wheel_joint", "right_wheel_joint"]
    assert found["mechanics"]["nv"] == 8


def test_inspect_for_people(nhmech):
    result = nhmech("inspect", "differential_drive")
    assert result.exit_code == 0
    for word in ("left_wheel_joint", "disc", "caster_ball", "0.03", "driven", "mechanics"):
        assert word in result.output


def test_inspect_tag_can_be_pasted(nhmech):
    from lxml import etree

    result = nhmech("inspect", "differential_drive", "--tag")
    assert result.exit_code == 0
    tag = etree.fromstring(result.stdout)
    assert tag.tag == "nhmech" and {"left_wheel_joint", "right_wheel_joint"} <= {
        wheel.get("joint") for wheel in tag.iter("wheel")}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is of Linux")
@pytest.mark.parametrize("words", [["--help"], ["controllers"], ["inspect", "carriage"]])
def test_an_output_that_takes_no_more_ends_in_one_line(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "nhmech", *words], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 3
    assert done.stderr == "Error: standard output cannot be written: No space left on device\n"


def test_what_is_not_said_is_not_chosen():
    """click's own default of --on/--off would be off."""
    for words, follow in (((), None), (("--follow",), True), (("--no-follow",), False)):
        context = cli.main.get_command(None, "run").make_context("run", ["disc", *words])
        assert context.params["follow"] is follow


@pytest.mark.parametrize("name, is_pushed", [("ball", True), ("bicycle", True),
                                             ("differential_drive", False)])
def test_a_run_says_that_it_begins_with_a_push(nhmech, name, is_pushed):
    told = nhmech("run", name, "--duration", "0.001").stderr
    assert bool(re.search(r"pushed off at .*forward_speed \d", told)) is is_pushed
