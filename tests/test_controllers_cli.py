"""Controllers by name: the registry, `nhmech controllers`, and who drives `nhmech run`."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path as File

import numpy as np
import pytest
from support import command_line, shipped
from trains import train

import nhmech as package
from nhmech import InputError, ModelError, Simulator, Trajectory
from nhmech.analysis import lift_acceleration
from nhmech.control import PurePursuit, path_error
from nhmech.control.path import Path
from nhmech.control.path_choice import SIZES, read_path, scale
from nhmech.control.path_library import PATHS
from nhmech.control.registry import (
    CONTROLLERS,
    Parameter,
    controller_class,
    controller_names,
    controller_parameters,
    make_controller,
    one_line,
    settable_parameters,
)
from nhmech.control.unicycle import unicycle

MINE = '''
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
import json

@dataclass
class Keeps:
    """Has a list of its own that is called like what trackers have."""
    vehicle: object
    path: object
    gain: float = 1.0
    def __post_init__(self):
        self.errors = []
    def __call__(self, t, state):
        self.errors.append(state.pose)

class Follow:
    """Stands still, and writes down what it was given."""
    def __init__(self, vehicle, path, *, speed=0.3, gain=2.0, sides=(1.0, 2.0), loud=False, laps=3,
                 mode="a", law=None):
        given = dict(length=path.length, speed=speed, gain=gain, sides=sides, loud=loud, laps=laps,
                     mode=mode)
        open("given.json", "w").write(json.dumps(given))
    def __call__(self, t, state):
        return None

class Breaks:
    """Fine for a while."""
    def __init__(self, vehicle):
        pass
    def __call__(self, t, state):
        return np.zeros(2) if t < 0.0499 else 1 / 0

class Lost(Breaks):
    start = {"place": (0, 0, 0)}

class Unmade:
    def __init__(self, vehicle):
        raise TypeError("of no use")

def still(t, state):
    return None

def lifts(t, state):
    return {"lift": 1.0}
'''


@pytest.fixture
def nhmech(tmp_path, monkeypatch):
    """Runs `nhmech ...` in a folder with mine.py and some waypoints."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "broken.py").write_text("def still(t, state:\n")
    (tmp_path / "way.csv").write_text("x [m], y [m]\n# by hand\n0, 0\n1, 0\n\n2, 0.5\n3, 0.2\n")
    (tmp_path / "high.csv").write_text("x,y,z\n0,0,5\n1,0,6\n2,0.5,7\n3,0.2,8\n")
    (tmp_path / "lap.csv").write_text("0,0\n2,0\n2,2\n0,2\n0,0\n")
    (tmp_path / "bad.csv").write_text("x,y\n0,0\none,2\n")
    (tmp_path / "short.csv").write_text("0,0\n")

    return command_line


# -- the registry ----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CONTROLLERS)
def test_every_registered_controller_keeps_the_convention(name):
    """Made with the vehicle first, one line that says what it is, units in the docstring,
    every parameter filled by a run or set by a word."""
    controller = controller_class(name)
    assert inspect.isclass(controller) and callable(controller)
    line = one_line(controller)
    assert line.endswith(".") and 20 < len(line) <= 120, (
        "the first line of the docstring stands in a list"
    )
    known = controller_parameters(controller)
    assert next(iter(known)) == "vehicle"
    for key in settable_parameters(controller):
        assert not known[key].required, f"{key} needs a default"
        described = " ".join(filter(None,
                                    (inspect.getdoc(each) for each in controller.__mro__[:-1])))
        assert re.search(rf"\b{key}\b", described), f"the docstring says nothing about {key}"


# one of these suits each controller
VEHICLES = (lambda: shipped("differential_drive"), lambda: shipped("pendulum"),
            lambda: shipped("bicycle"), lambda: shipped("trailers"), lambda: train(1))


@pytest.mark.parametrize("name", CONTROLLERS)
def test_every_registered_controller_runs_and_forgets(name):
    """On the first vehicle that suits it: one line for a repr, its commands are carried out, and a
    second run from the same start is the first one again."""
    known = controller_parameters(controller_class(name))
    about = {"path": read_path("line:20", 1.0)} if "path" in known else {}
    about |= {"speed": 1.0} if {"speed", "twist"} & set(known) else {}
    for vehicle in VEHICLES:
        try:
            controller = make_controller(controller_class(name), vehicle(), **about)
            break
        except ModelError:
            continue
    assert len(repr(controller).splitlines()) <= 3 and len(repr(controller)) < 400
    simulator = Simulator(vehicle(), controller, dt=2e-3, control_period=1e-2)
    runs = []
    for _ in range(2):
        simulator.reset(**getattr(controller, "start", {}))
        runs.append(simulator.run(0.05))
    assert runs[0].stop == runs[1].stop == "duration"
    assert np.isfinite(runs[0].q).all() and np.array_equal(runs[0].q, runs[1].q)
    assert np.array_equal(runs[0].u, runs[1].u)


def test_an_unknown_name_is_told_the_known_ones():
    with pytest.raises(InputError,
                       match="controller 'stanly' does not exist; there are demo, twist"):
        controller_class("stanly")


@pytest.mark.parametrize("default, annotation, text, value", [
    (2.0, "", "0.6", 0.6), (2, "", "3", 3), (True, "", "off", False), (False, "", "Yes", True),
    ("a", "", "1", "1"),
    ((1.0, 2.0), "", "3,4,5", (3.0, 4.0, 5.0)), (np.zeros(2), "", "3 4", (3.0, 4.0)),
    (None, "float | None", "1e-3", 1e-3), (None, "Sequence[float] | None", "1", (1.0,)),
    (None, "", "1,2", (1.0, 2.0)), (None, "", "2.5", 2.5),
    (None, "", "fast", "fast"),
])
def test_words_become_values_of_the_right_type(default, annotation, text, value):
    read = Parameter("p", default, annotation).read(text)
    assert read == value and type(read) is type(value)


@pytest.mark.parametrize("default, text, wanted", [
    (2.0, "far", "a number"), (2.0, "nan", "a number"), (2, "1.5", "a whole number"),
    (True, "perhaps", "true or false"), ((1.0,), "1,b", "by commas"),
])
def test_words_that_are_no_values_are_refused(default, text, wanted):
    with pytest.raises(InputError, match=f"gain={text}.*{wanted}"):
        Parameter("gain", default).read(text)


def test_only_what_a_word_can_be_is_offered():
    class Some:
        def __init__(self, vehicle, path, *, speed: float = 1.0, drive: Callable | None = None,
                     gain: float | None = None):
            pass

    assert list(settable_parameters(Some)) == ["gain"]
    with pytest.raises(InputError, match="Some has no parameter 'drive' to set; there are gain"):
        make_controller(Some, None, path=1, settings={"drive": "x"})
    with pytest.raises(InputError, match="drive cannot be set on the command line; set it in Pyth"):
        controller_parameters(Some)["drive"].read("x")


def test_a_controller_is_made_from_what_a_run_is_about():
    class Takes:
        def __init__(self, vehicle, twist, *, gain=1.0):
            self.given = vehicle, tuple(twist), gain

    assert make_controller(Takes, "robot", speed=0.5,
                           settings={"gain": "2"}).given == ("robot", (0.5, 0.0, 0.0), 2.0)
    assert make_controller(Takes, "robot",
                           settings={"twist": "0.1,0,-1"}).given == ("robot", (0.1, 0.0, -1.0), 1.0)
    class Bare:
        def __init__(self, vehicle):
            pass

    with pytest.raises(InputError, match="Bare takes no speed. It takes nothing but the vehicle"):
        make_controller(Bare, "robot", speed=1.0)
    with pytest.raises(InputError, match="Takes takes no speed. It takes twist, gain"):
        make_controller(Takes, "robot", speed=1.0, settings={"twist": "1,0,0"})
    for arguments, message in ((dict(), "Takes needs a speed"),
                               (dict(speed=1.0, path=1), "Takes follows no path"),
                               (dict(settings={"twist": "1,2"}), "twist=1,2: write three numbers")):
        with pytest.raises(InputError, match=message):
            make_controller(Takes, "robot", **arguments)


# -- paths -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PATHS)
def test_every_path_has_a_size_that_suits_the_vehicle(name):
    """The tightest turn at the size that nobody gave has two vehicle lengths of radius, give or
    take a few per cent."""
    assert name in SIZES
    for length in (0.1, 2.0):
        path = read_path(name, length)
        assert isinstance(path, Path)
        curvature = np.abs([path.curvature(s) for s in np.linspace(0, path.length, 2001)]).max()
        assert curvature * length <= 0.55


def test_fast_vehicles_have_wide_paths():
    """From where speed^2 over the length is 1 m/s^2 on."""
    vehicle = shipped("carriage")
    length = vehicle.steering.length
    for speed in (None, 0.0, 0.99 * length ** 0.5):
        assert scale(vehicle, speed) == length
    for speed in (1.01 * length ** 0.5, 9.0):
        assert scale(vehicle, speed) == pytest.approx(speed ** 2, rel=1e-14, abs=0)


@pytest.mark.parametrize("most", [0.75, 0.2])
def test_the_tightest_turn_leaves_half_the_turning_radius(most):
    text = File(package.urdf_path("ackermann_car")).read_text()
    car = package.load(text.replace('"-0.75" upper="0.75"', f'"-{most}" upper="{most}"'))
    path = read_path("figure8", scale(car, 0.5))
    tightest = 1 / np.abs(path.curvature(np.linspace(0, path.length, 4001))).max()
    assert tightest == pytest.approx(1.5 * unicycle(car).turning_radius, rel=1e-3)


def test_a_car_follows_a_path_of_which_nobody_gave_the_size():
    """Beyond the tightest turn, without coming to a limit of its steering."""
    car = shipped("ackermann_car")
    path = read_path("figure8", scale(car))
    tracker = PurePursuit(car, path, speed=1.0)
    simulator = Simulator(car, tracker, dt=5e-3, control_period=2e-2, mode="kinematic")
    simulator.reset(**tracker.start)
    run = simulator.run(path.length / 3, every=50)
    assert run.stop == "duration" and not run.limits
    assert np.abs(path_error(car, run, path).lateral).max() < 0.05


def test_sizes_and_files(nhmech):
    assert read_path("circle:3", 1.0).length == pytest.approx(6 * np.pi, rel=1e-12)
    way = read_path("way.csv", 1.0)
    assert (not way.closed and way.point(0.0) == pytest.approx((0, 0), abs=1e-12)
            and way.point(way.length) == pytest.approx((3, 0.2), rel=1e-9))
    s = way.nearest((2, 0.5))
    assert s > 2 and np.linalg.norm(way.point(s) - (2, 0.5)) < 1e-9, "through every waypoint"
    assert read_path("lap.csv", 1.0).closed
    File("triangle.csv").write_text("0,0\n2,0\n2,2\n0,0\n")
    File("there_and_back.csv").write_text("0,0\n2,0\n0,0\n")
    assert read_path("triangle.csv", 1.0).closed
    with pytest.raises(InputError, match="there_and_back.csv: the curve stands still"):
        read_path("there_and_back.csv", 1.0)
    assert read_path("high.csv", 1.0).length == way.length, "columns beyond x and y are left out"
    File("image.csv").write_bytes(b"\xff\xfe\x00")
    File("folder.csv").mkdir()
    for text, message in (("bad.csv", "bad.csv, line 3: 'one,2'"),
                          ("image.csv", "image.csv is not a text file; write one waypoint"),
                          ("folder.csv", "folder.csv: it is no file, but a folder"),
                          ("short.csv", "short.csv: waypoints must be 2 or more"),
                          ("none.csv", "none.csv: No such file"),
                          ("spiral", "no path 'spiral'; there are line, circle"),
                          ("circle:wide",
                           r"'wide' is no number; the size of circle \[m\] is its radius"),
                          ("circle:-1", "positive")):
        with pytest.raises(InputError, match=message):
            read_path(text, 1.0)


# -- the commands ----------------------------------------------------------------------------------
def test_controllers_lists_all_with_a_line_each(nhmech):
    lines = nhmech("controllers").output.splitlines()
    assert [line.split()[0] for line in lines] == list(controller_names())
    for line in lines:
        name, text = line.split(maxsplit=1)
        assert text == one_line(controller_class(name))


@pytest.mark.parametrize("name", CONTROLLERS)
def test_controllers_shows_one(nhmech, name):
    output = nhmech("controllers", name).output
    assert inspect.getdoc(controller_class(name)) in output
    for key, parameter in settable_parameters(controller_class(name)).items():
        assert f"--set {key}=... (default: {parameter.default})" in output
    assert nhmech("controllers", "nobody").exit_code == 2


def lateral(output: str) -> tuple[float, float]:
    """RMS and maximum [mm]."""
    return tuple(map(float, re.search(r"^path +lateral error (\S+) mm RMS, (\S+) mm at most",
                                      output, re.M).groups()))


def test_run_along_a_path(nhmech):
    result = nhmech("run", "differential_drive", "--controller", "pure_pursuit", "--path",
                    "figure8", "--speed", "0.5",
                    "--set", "lookahead=0.3", "--save", "run.npz", "--duration", "4")
    assert result.exit_code == 0, result.output
    rms, most = lateral(result.output)
    assert 0 < rms <= most < 20
    run = Trajectory.load("run.npz")
    path = read_path("figure8", scale(shipped("differential_drive"), 0.5))
    apart = [np.linalg.norm(q[:2] - path.point(path.nearest(q[:2]))) for q in run.q[::20]]
    assert 1e3 * np.max(apart) == pytest.approx(most, abs=0.1)
    gone = np.linalg.norm(np.diff(run.q[:, :2], axis=0), axis=1).sum()
    assert gone == pytest.approx(2.0, rel=0.02), "0.5 m/s for 4 s"


def test_run_starts_where_a_waypoint_file_does(nhmech, tmp_path):
    (tmp_path / "far.csv").write_text("3,4\n3,6\n3,9\n")
    for controller in ("stanley", "mine.py:Follow"):
        done = nhmech("run", "carriage", "--controller", controller, "--path", "far.csv",
                      "--duration", "0.02", "--save", "run.npz")
        assert done.exit_code == 0
        q = Trajectory.load("run.npz").q[0]
        assert 2 * np.arctan2(q[5], q[6]) == pytest.approx(np.pi / 2, abs=1e-9)
        assert q[0] == pytest.approx(3, abs=1e-9) and abs(q[1] - 4) < 0.5


def test_settings_reach_a_class_of_the_user(nhmech, tmp_path):
    words = ["gain=3", "sides=1,2,3", "loud=yes", "laps=4", "mode=b"]
    result = nhmech("run", "carriage", "--controller", "mine.py:Follow", "--path", "line:7",
                    "--speed", "0.2", "--duration", "0.01", *[word for setting in words
                                            for word in ("--set", setting)])
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "given.json").read_text()) == dict(
        length=7.0, speed=0.2, gain=3.0, sides=[1.0, 2.0, 3.0], loud=True, laps=4, mode="b"
    )
    assert lateral(result.output) == (0.0, 0.0)


def test_a_dataclass_of_the_user_with_names_of_its_own(nhmech):
    result = nhmech("run", "carriage", "--controller", "mine.py:Keeps", "--path", "line:7", "--set",
                    "gain=3", "--duration", "0.01")
    assert result.exit_code == 0, result.output
    assert lateral(result.output) == (0.0, 0.0)


@pytest.mark.parametrize("words, complaint", [
    (("--controller", "builtins:int", "--path", "line"), "int has no signature"),
    (("--controller", "stanly"), "write one of demo, twist.*or file.py:function"),
    (("--controller", "broken.py:still"), "SyntaxError"),
    (("--controller", "mine.py:moves"),
     "no function 'moves' in mine.py; there are .*Follow, Breaks"),
    (("--controller", "mine.py:Unmade"), "Unmade could not be made: TypeError: of no use"),
    (("--controller", "mine.py:Lost"), "the attribute start of Lost.*pose, joints, xi or q"),
    (("--controller", "mine.py:still", "--speed", "1"), "still is a function.*takes no speed"),
    (("--controller", "mine.py:still", "--set", "gain=1"), "takes no settings"),
    (("--controller", "pure_pursuit"), "PurePursuit needs a path"),
    (("--controller", "twist"), "TwistDrive needs a speed"),
    (("--controller", "twist", "--set", "twst=1,0,0"),
     "there are acceleration, twist; did you mean 'twist'?"),
    (("--controller", "wheel_servo"), "WheelServo needs a speed"),
    (("--controller", "twist", "--speed", "1", "--path", "line"), "TwistDrive follows no path"),
    (("--controller", "pure_pursuit", "--path", "line", "--set", "lookahed=1"),
     "no parameter 'lookahed' to set; there are lookahead"),
    (("--controller", "pure_pursuit", "--path", "line", "--set", "lookahead=far"),
     "lookahead=far: lookahead is a number"),
    (("--controller", "pure_pursuit", "--path", "line", "--set", "lookahead"), "write NAME=VALUE"),
    (("--controller", "pure_pursuit", "--path", "spiral"), "no path 'spiral'; there are line"),
    (("--controller", "pure_pursuit", "--path", "bad.csv"), "bad.csv, line 3"),
    (("--path", "line"), "no controller follows it"),
    (("--speed", "0"), "positive"),
    (("--dt", "0.002", "--control-period", "0.003"), "must be a multiple of dt"),
])
def test_what_does_not_fit_is_bad_input(nhmech, words, complaint):
    result = nhmech("run", "differential_drive", *words)
    assert result.exit_code == 2 and "Traceback" not in result.stderr
    assert re.search(complaint, result.stderr.replace("\n", " ")), result.stderr


@pytest.mark.parametrize("name, message, seconds", [
    ("Breaks",
     r"controller Breaks raised ZeroDivisionError at t = 0\.05 s: division by zero "
     r"\(mine.py, line \d+\)",
     0.05),
    ("lifts", r"controller lifts at t = 0 s returned dict; "
              r"return an array, JointTorque, JointVelocity or JointPosition", 0.0),
])
def test_a_controller_that_fails_is_exit_code_3_and_the_run_is_there(
    nhmech, name, message, seconds
):
    result = nhmech("run", "differential_drive", "--controller", f"mine.py:{name}", "--save",
                    "run.npz")
    assert result.exit_code == 3 and re.search(f"^error: {message}", result.stderr), result.stderr
    assert "Traceback" not in result.stderr
    run = Trajectory.load("run.npz")
    assert run.t[-1] == pytest.approx(seconds, abs=1e-12) and re.search(message, run.stop)
    assert re.search("^stopped +by a failure$", result.output, re.M)


def test_the_wheel_servo_drives_from_the_command_line(nhmech):
    result = nhmech("run", "differential_drive", "--controller", "wheel_servo", "--speed", "0.4",
                    "--set", "time=0.03", "--duration", "1")
    assert result.exit_code == 0
    speed, way, most = 0.0, 0.0, lift_acceleration(shipped("differential_drive")) / 2
    for _ in range(100):      # commands held 10 ms
        growth = min((0.4 - speed) / 0.03, most)
        way += 0.01 * speed + 0.01 ** 2 / 2 * growth
        speed += 0.01 * growth
    end = re.search(r"^end +x \+(0\.\d+) m", result.output, re.M)
    assert end is not None and float(end.group(1)) == pytest.approx(way, abs=1e-4)


@pytest.mark.parametrize("name", ["twist", "wheel_servo"])
def test_start_is_optional(name):
    vehicle = shipped("carriage")
    controller = make_controller(controller_class(name), vehicle, speed=0.3)
    simulator = Simulator(vehicle, controller)
    simulator.reset(**getattr(controller, "start", {}))
    assert simulator.run(0.01).stop == "duration"
