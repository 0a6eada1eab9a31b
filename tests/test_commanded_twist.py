"""The body twist that a controller commands: kept with the run, through combinators, on disk, and
for other programs as /cmd_vel."""

from __future__ import annotations

import csv
import json
import zipfile

import numpy as np
import pytest
from runs import killed
from support import command_line, mcap_messages, shipped

import nhmech
from nhmech import Event, InputError, JointVelocity, SimulationError, Simulator, Trajectory
from nhmech.control.balance import Balance
from nhmech.control.combinators import Delay, Hold, Saturation, Sum, Switch
from nhmech.control.demo import DemoDrive
from nhmech.control.lqr import LQR
from nhmech.control.measurement import MeasurementNoise, Quantise
from nhmech.control.mpc import MPC
from nhmech.control.path_library import make_path
from nhmech.control.pure_pursuit import PurePursuit
from nhmech.control.trailer_backing import TrailerBacking
from nhmech.control.twist import TwistDrive
from nhmech.control.wheel_servo import WheelServo
from nhmech.simulation.command import NOT_YET, TWIST_NAMES
from nhmech.simulation.runs import recorder as recording
from nhmech.simulation.runs.driven_twist import measure_twist
from nhmech.urdf.notice import NoticeKind

DT = 1e-3
NONE = [np.nan] * 3
# with an event there are no chunks in C
NEVER = Event("never", lambda t, state: 1.0)


def wanted(t):
    """A twist for a moment: never the same twice, and no product of time and a constant."""
    return np.array([0.3 + 0.1 * np.sin(9 * t), 0.02 * np.cos(7 * t), 0.8 * np.sin(5 * t + 1)])


class Told:
    """What a controller was told, at its times."""

    def __init__(self, twist=lambda t: wanted(t)):
        self.of, self.at = twist, []

    def __call__(self, t, state):
        self.at.append(t)
        return self.of(t)

    def along(self, times):
        """The last one at each time, (n, 3), by walking through them."""
        rows, k = [], -1
        for moment in times:
            while k + 1 < len(self.at) and self.at[k + 1] <= moment + 1e-12:
                k += 1
            rows.append(self.of(self.at[k]))
        return np.array(rows)


def drive(twist=wanted, name="differential_drive"):
    return TwistDrive(shipped(name), lambda t, state: twist(t))


def run(controller, steps=60, name="differential_drive", every=1, save=None, **arguments):
    simulator = Simulator(shipped(name), controller, dt=DT, on_lift="ignore", **arguments)
    simulator.reset(**getattr(controller, "start", {}))
    return simulator.run(steps * DT, every=every, save=save)


# -- a column of the run ---------------------------------------------------------------------------
@pytest.mark.parametrize("loop", ["C", "python"])
@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
@pytest.mark.parametrize("mode", ["dynamic", "kinematic"])
@pytest.mark.parametrize("period, every", [(1, 1), (5, 1), (5, 3), (7, 2)])
def test_the_run_has_what_the_drive_was_told(loop, integrator, mode, period, every):
    """At each recorded moment the last twist that was asked for; the last row belongs to the period
    before, as its u does."""
    vehicle, told = shipped("differential_drive"), Told()
    simulator = Simulator(vehicle, TwistDrive(vehicle, told), dt=DT, control_period=period * DT,
                          integrator=integrator,
                          mode=mode, events=[NEVER] if loop == "python" else ())
    simulator.reset()
    # for so short a run it is not built by itself
    if loop == "C" and simulator.atlas.chart.loop(build=True) is None:
        pytest.skip("no C compiler here (or CC=none)")
    found = simulator.run(61 * DT, every=every)
    assert len(told.at) == -(-61 // period)
    assert np.array_equal(found.commanded_twist, told.along(np.minimum(found.t, 60 * DT)))
    assert np.array_equal(found.column("commanded_yaw_rate"), found.commanded_twist[:, 2])
    assert found.names["commanded_twist"] == TWIST_NAMES and found.angles.shape[1] == len(
        found.names["angles"]
    )
    with pytest.raises(ValueError, match="read-only"):
        found.commanded_twist[0] = 0.0


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_the_other_columns_are_as_without_it(integrator):
    """The same commands from a function, which tells nothing of twists."""
    telling, silent = drive(), drive()
    with_it, without = (run(controller, 200, integrator=integrator,
                            control_period=5 * DT) for controller in
                        (telling, lambda t, state: silent(t, state)))
    assert with_it.commanded_twist is not None
    assert without.commanded_twist is None and "commanded_twist" not in without.names
    for part in ("t", "q", "v", "xi", "u", "angles"):
        assert np.array_equal(getattr(with_it, part), getattr(without, part)), part


def test_a_kinematic_run_drives_what_was_commanded():
    """A differential drive follows forward speed and yaw rate exactly, from the step after the
    command on."""
    found = run(drive(lambda t: wanted(t) * (1, 0, 1)), 100, mode="kinematic")
    for k, name in ((0, "forward_speed"), (2, "yaw_rate")):
        assert found.column(name)[1:] == pytest.approx(found.commanded_twist[1:, k], rel=1e-9,
                                                       abs=1e-12)


@pytest.mark.parametrize("name", ["mecanum", "pendulum"])
def test_the_driven_twist_is_how_the_base_moves(name):
    """Against central differences of place and heading; the pendulum pitches, and its heading does
    not."""
    vehicle, h = shipped(name), 5e-4
    controller = Balance(vehicle, (0.3, 0.0, 1.0)) if name == "pendulum" else drive(name=name)
    simulator = Simulator(vehicle, controller, dt=h)
    simulator.reset(**getattr(controller, "start", {}))
    found = simulator.run(0.5)
    x, y, (a, b, c, d) = *found.q.T[:2], found.q.T[3:7]
    yaw = np.unwrap(np.arctan2(2 * (a * b + c * d), 1 - 2 * (b * b + c * c)))
    dx, dy, turn = ((part[2:] - part[:-2]) / (2 * h) for part in (x, y, yaw))
    cos, sin = np.cos(yaw[1:-1]), np.sin(yaw[1:-1])
    expected = np.column_stack([cos * dx + sin * dy, cos * dy - sin * dx, turn])
    assert np.abs(expected[:, 0]).max() > 0.1
    assert measure_twist(vehicle, found)[1:-1] == pytest.approx(expected, rel=0, abs=300 * h * h)


def test_runs_that_go_on_and_begin_anew():
    """A run may begin within a control period, whose twist it then has; before the first one there
    is none."""
    vehicle, told = shipped("differential_drive"), Told()
    simulator = Simulator(vehicle, TwistDrive(vehicle, told), dt=DT, control_period=10 * DT)
    simulator.reset()
    assert np.array_equal(simulator.run(0.0).commanded_twist, [NONE], equal_nan=True)
    for _ in range(4):
        simulator.step()
    first = simulator.run(13 * DT)
    assert len(told.at) == 2 and np.array_equal(first.commanded_twist, told.along(first.t))
    simulator.reset()
    assert np.array_equal(simulator.run(0.0).commanded_twist, [NONE], equal_nan=True)


def test_an_event_ends_it_with_the_twist_of_its_period():
    vehicle, told = shipped("differential_drive"), Told()
    found = run(TwistDrive(vehicle, told), control_period=4 * DT,
                events=[Event("there", lambda t, state: t - 0.0213)])
    assert found.stop == "event: there" and found.t[-1] == pytest.approx(0.0213, rel=0, abs=1e-9)
    assert np.array_equal(found.commanded_twist, told.along(found.t))


# -- who commands one ------------------------------------------------------------------------------
def silent(t, state):
    return JointVelocity({"left_wheel_joint": 1.0, "right_wheel_joint": 1.0})


def steps(*rows, before=0):
    """Expected rows: `before` of none, then the given ones."""
    return [NONE] * before + [list(row) for row in rows]


GRID = np.arange(40) * DT
THROUGH = {
    "Hold": (lambda: Hold(drive(), 8 * DT), [wanted(DT * (k - k % 8)) for k in range(40)]),
    "Delay": (lambda: Delay(drive(), 6 * DT), steps(*map(wanted, GRID[:34]), before=6)),
    "Saturation": (lambda: Saturation(drive(), velocity=0.5), [wanted(t) for t in GRID]),
    "MeasurementNoise": (lambda: MeasurementNoise(drive(), heading=0.1), [wanted(t) for t in GRID]),
    "Quantise": (lambda: Quantise(drive(), 512), [wanted(t) for t in GRID]),
    "WheelServo": (lambda: WheelServo(shipped("differential_drive"), lambda t, state: wanted(t)),
                   [wanted(t) for t in GRID]),
    "on": (lambda: Switch(silent, drive(), 20 * DT), steps(*map(wanted, GRID[20:]), before=20)),
    "off": (lambda: Switch(drive(), silent, 20 * DT), steps(*map(wanted, GRID[:20])) + [NONE] * 20),
    "from one to another": (lambda: Switch(drive(), drive(lambda t: -wanted(t)), 20 * DT),
                            [wanted(t) * (1 if k < 20 else -1) for k, t in enumerate(GRID)]),
    "two": (lambda: Sum(drive(), Delay(drive(lambda t: 0.5 * wanted(t)), 10 * DT)),
            [wanted(t) + (0.5 * wanted(GRID[k - 10]) if k >= 10 else 0)
             for k, t in enumerate(GRID)]),
    "one of two": (lambda: Sum(silent, drive()), [wanted(t) for t in GRID]),
    "all": (lambda: Delay(Saturation(Hold(Quantise(drive(), 512), 8 * DT), velocity=3.0), 4 * DT),
            steps(*(wanted(DT * (k - k % 8)) for k in range(36)), before=4)),
}


@pytest.mark.parametrize("name", THROUGH)
def test_combinators_pass_it_on(name):
    """As the command goes out: held, late, switched, added; none while there is none. Twice, for
    `reset` forgets."""
    make, expected = THROUGH[name]
    controller = make()
    for _ in range(2):
        assert np.array_equal(run(controller, 40).commanded_twist[:-1], expected, equal_nan=True)


@pytest.mark.parametrize("make", [lambda c: Hold(c, 0.01), lambda c: Delay(c, 0.01),
                                  lambda c: Saturation(c), lambda c: Sum(c, c),
                                  lambda c: Switch(c, c, 1.0), lambda c: MeasurementNoise(c)])
def test_combinators_of_controllers_that_command_none_have_none(make):
    assert run(make(silent), 3).commanded_twist is None


def test_trackers_tell_what_their_drive_is_told():
    """To a drive that tells nothing itself, too."""
    vehicle, seen = shipped("differential_drive"), []

    def deaf(vehicle, twist):
        inner = TwistDrive(vehicle, lambda t, state: seen[-1])
        return lambda t, state: (seen.append(np.array(twist(t, state))), inner(t, state))[1]

    for how in (deaf, None, WheelServo):
        tracker = PurePursuit(vehicle, make_path("figure8", 2.0), speed=0.4, drive=how)
        found = run(tracker, 100, control_period=5 * DT)
        assert np.isfinite(found.commanded_twist).all() and np.ptp(found.commanded_twist[:, 2]) > 0
        assert found.commanded_twist[:, 0] == pytest.approx(0.4, rel=1e-12)
        if how is deaf:
            assert np.array_equal(found.commanded_twist[:-1], np.repeat(seen, 5, axis=0))


def test_which_controllers_of_the_package_command_one():
    """The others command efforts or joint rates that stand for no twist."""
    pendulum, car, trailers = shipped("pendulum"), shipped("ackermann_car"), shipped("trailers")
    figure = make_path("figure8", 3.0)
    assert np.array_equal(run(Balance(pendulum, (0.1, 0.0, 0.2)), 5, "pendulum").commanded_twist,
                          [(0.1, 0.0, 0.2)] * 6)
    assert np.array_equal(run(LQR(shipped("bicycle"), (5.0, 0.0, 0.0)), 5,
                              "bicycle").commanded_twist,
                          [(5.0, 0.0, 0.0)] * 6)
    assert LQR(pendulum, drop="left_wheel_joint, right_wheel_joint").commanded_twist is None
    demo = run(DemoDrive(car), 100, "ackermann_car").commanded_twist
    assert np.array_equal(demo[0], np.zeros(3)) and demo[-1, 0] > 0
    assert run(DemoDrive(shipped("disc")), 3, "disc").commanded_twist is None
    assert MPC(car, figure, stages=3).commanded_twist is None
    backing = run(TrailerBacking(trailers), 5, "trailers").commanded_twist
    assert backing[:, 0] == pytest.approx(-0.5, rel=1e-12)


def test_a_controller_of_one_s_own():
    class Mine:
        commanded_twist = NOT_YET

        def __call__(self, t, state):
            self.commanded_twist = None if 0.0095 < t < 0.0195 else (t, 0, -t)
            return silent(t, state)

    found = run(Mine(), 30).commanded_twist
    assert np.array_equal(found[:-1],
                          [NONE if 10 <= k < 20 else [k * DT, 0, -k * DT] for k in range(30)],
                          equal_nan=True)


@pytest.mark.parametrize("value, words",
                         [((1, 2), r"commanded_twist is \(1, 2\); expected forward"),
                          ("fast", "'fast'; expected forward"),
                          ((0.1, np.nan, 0.0), "finite, or all NaN"),
                          ((0.1, 0.0, 10 ** 400), "10+\\); expected forward"),
                          ((np.inf, 0, 0), "finite, or all NaN")])
def test_what_is_no_twist_is_refused(value, words):
    """At once where it is there at once, and in the run where it comes later, with what was
    computed so far."""
    class Bad:
        commanded_twist = NOT_YET

        def __call__(self, t, state):
            self.commanded_twist = value if t > 0.0045 else (0.1, 0.0, 0.0)
            return silent(t, state)

    with pytest.raises(SimulationError, match=f"controller .*Bad: .*{words}") as caught:
        run(Bad(), 10)
    left = caught.value.trajectory
    assert len(left) == 6 and np.array_equal(left.commanded_twist[0], (0.1, 0.0, 0.0))
    Bad.commanded_twist = value
    with pytest.raises(SimulationError, match=words):
        Simulator(shipped("differential_drive"), Bad())


def test_one_that_fails_is_named_with_its_line():
    class Failing:
        @property
        def commanded_twist(self):
            raise ValueError("no idea")

        def __call__(self, t, state):
            return silent(t, state)

    why = r"Failing: commanded_twist raised ValueError: no idea \(test_commanded_twist.py, line"
    with pytest.raises(SimulationError, match=why):
        Simulator(shipped("differential_drive"), Failing())
    with pytest.raises(SimulationError, match=r"the twist is .*\[0.1, 0.2\].*; expected forward"):
        run(TwistDrive(shipped("differential_drive"), (0.1, 0.2)), 3)


def test_what_a_property_lacks_is_not_taken_for_having_none(caplog):
    """An AttributeError inside a property is an error of the property: told, of a combinator's
    inside too."""
    class Mistaken:
        @property
        def commanded_twist(self):
            return self.misspelt

        def __call__(self, t, state):
            return silent(t, state)

    why = (r"Mistaken.*: commanded_twist raised AttributeError: .* no attribute 'misspelt' "
           r"\(test_commanded_twist.py, ")
    for controller in (Mistaken(), Hold(Mistaken(), 0.01)):
        with pytest.raises(SimulationError, match=why):
            Simulator(shipped("differential_drive"), controller)
    Mistaken.commanded_twist, Mistaken.path_reference = None, Mistaken.commanded_twist
    for controller in (Mistaken(), Hold(Mistaken(), 0.01)):
        caplog.clear()
        assert "path" not in run(controller, 3).settings
        (line,) = caplog.records
        assert "path_reference of" in line.message and "no attribute 'misspelt'" in line.message


def test_one_that_answers_for_another_may_have_none():
    """A proxy, whose attributes are nowhere to be found but by asking."""
    class Proxy:
        def __init__(self, inside):
            self.inside = inside

        def __getattr__(self, name):
            return getattr(self.__dict__["inside"], name)

        def __call__(self, t, state):
            return self.inside(t, state)

    assert run(Proxy(silent), 3).commanded_twist is None
    assert np.array_equal(run(Proxy(drive()), 3).commanded_twist, run(drive(), 3).commanded_twist)


@pytest.mark.parametrize("events", [(), (NEVER,)], ids=["C", "python"])
def test_it_costs_nothing_where_nobody_asks(events):
    """Looked for once when a simulator is made; then never by `step`, and by `run` once a control
    period, of those that have it."""
    class Counting:
        def __init__(self):
            self.looks = 0

        def __getattribute__(self, name):
            if name == "commanded_twist":
                self.looks += 1
            return super().__getattribute__(name)

        def __call__(self, t, state):
            return silent(t, state)

    class Telling(Counting):
        commanded_twist = (0.1, 0.0, 0.0)

    for controller, during in ((Counting(), 0), (Telling(), 10)):
        simulator = Simulator(shipped("differential_drive"), controller, dt=DT,
                              control_period=5 * DT, events=events)
        assert controller.looks == 1
        for _ in range(20):
            simulator.step()
        assert controller.looks == 1
        simulator.run(50 * DT)
        assert controller.looks == 1 + during
        assert len(simulator.moment.twist) == (3 if during else 0)


# -- on disk ---------------------------------------------------------------------------------------
def test_files_without_it_are_as_they_were(tmp_path):
    """Whoever commands no twist writes the same file as ever, so what was written before is read as
    ever."""
    copies, part = [], tmp_path / "run.npz.part"
    simulator = Simulator(shipped("differential_drive"), silent, dt=DT)
    found = simulator.run(0.3, save=tmp_path / "run.npz", progress=lambda t,
                          state: copies.append(part.read_bytes()))
    known = {f"{name}.npy" for name in ("header", "t", "q", "v", "xi", "u", "angles")}
    assert set(zipfile.ZipFile(tmp_path / "run.npz").namelist()) == known
    header = json.loads(copies[0].partition(b"\n")[0])["header"]
    assert len(header["widths"]) == 5 and set(header["names"]) == {"q", "v", "xi", "u", "angles"}
    again = Trajectory.load(tmp_path / "run.npz")
    assert again.commanded_twist is None and np.array_equal(again.q, found.q)
    with pytest.raises(InputError, match="no column 'commanded_yaw_rate'"):
        again.column("commanded_yaw_rate")


def test_it_is_saved_and_loaded(tmp_path, monkeypatch):
    """What is streamed, what is in the end, and what is saved afterwards."""
    monkeypatch.setattr(recording, "FLUSH", 0.0)
    left, part = [], tmp_path / "run.npz.part"
    found = run(Delay(drive(), 0.02), 300)
    streamed = Simulator(shipped("differential_drive"), Delay(drive(), 0.02), dt=DT,
                         on_lift="ignore")
    streamed.reset()
    streamed = streamed.run(0.3, save=tmp_path / "run", progress=lambda t,
                            state: left.append(part.read_bytes()))
    (tmp_path / "left.part").write_bytes(left[0][:-11])
    cut = Trajectory.load(tmp_path / "left.part")
    assert cut.stop == "cut off" and 50 < len(cut) < 300 and cut.names == found.names
    later = found.save(tmp_path / "again.npz")
    for other in (streamed, Trajectory.load(tmp_path / "run.npz"), Trajectory.load(later), cut):
        for name in ("commanded_twist", "angles", "u"):
            assert np.array_equal(getattr(other, name), getattr(found, name)[:len(other)],
                                  equal_nan=True), name
    assert (np.isnan(found.commanded_twist[:20]).all()
            and np.isfinite(found.commanded_twist[20:]).all())


def test_a_killed_run_keeps_what_was_complete(tmp_path, monkeypatch):
    """SIGKILL at five random moments: whole rows, each with the twist of its own time."""
    monkeypatch.setattr(recording, "FLUSH", 0.001)
    # also compiles what the children need
    run(drive(), 100)
    rng, path = np.random.default_rng(5), tmp_path / "run.npz"
    for _ in range(5):
        for old in tmp_path.iterdir():
            old.unlink()
        killed(lambda: run(drive(), 10 ** 7, control_period=5 * DT, save=path),
               1 + rng.integers(0, 20), rng.uniform(0.0, 0.004))
        left = Trajectory.load(f"{path}.part")
        told = [wanted((k - k % 5) * DT) for k in range(len(left))]
        assert len(left) > 1 and left.commanded_twist == pytest.approx(np.array(told), rel=1e-12)
        assert left.t == pytest.approx(DT * np.arange(len(left)), rel=0, abs=1e-12)


# -- for other programs ----------------------------------------------------------------------------
def cmd_vel(path):
    """(log time [ns], linear x, y, angular z) of /cmd_vel, by a reader that is not ours; None where
    there is no such topic."""
    messages, channels = mcap_messages(path)
    if "/cmd_vel" not in channels:
        return None
    rows = messages["/cmd_vel"]
    for _, m in rows:
        assert type(m).__name__ == "Twist" and m.linear.z == m.angular.x == m.angular.y == 0.0
    return [(at, m.linear.x, m.linear.y, m.angular.z) for at, m in rows]


@pytest.mark.parametrize("mode", ["dynamic", "kinematic"])
def test_cmd_vel_is_what_was_commanded(tmp_path, mode):
    pytest.importorskip("rosbags")
    told = Told()
    found = run(TwistDrive(shipped("mecanum"), told), 60, "mecanum", control_period=4 * DT,
                mode=mode, save=tmp_path / "run.npz")
    assert command_line("export", tmp_path / "run.npz", "-o", tmp_path / "run.mcap",
                        "--no-forces").exit_code == 0
    expected = told.along(np.minimum(found.t, 59 * DT))
    assert cmd_vel(tmp_path / "run.mcap") == [(round(t * 1e9), *twist)
                                              for t, twist in zip(found.t, expected.tolist())]


def test_cmd_vel_from_the_command_line(tmp_path):
    """A tracker by name; its forward speed is the one that was asked for. A run without commands
    has no such topic."""
    pytest.importorskip("rosbags")
    saved = tmp_path / "run.npz"
    words = ("--path", "circle:1", "--speed", "0.4", "--duration", "0.5", "--save", saved)
    assert command_line("run", "differential_drive", "--controller", "pure_pursuit",
                        *words).exit_code == 0
    assert command_line("export", saved, "-o", tmp_path / "run.mcap", "--rate", "50",
                        "--no-forces").exit_code == 0
    rows, found = cmd_vel(tmp_path / "run.mcap"), Trajectory.load(saved)
    assert len(rows) == 26 and [row[1] for row in rows] == pytest.approx([0.4] * 26, rel=1e-12)
    at = [int(np.argmin(np.abs(found.t - row[0] * 1e-9))) for row in rows]
    assert np.array_equal([row[1:] for row in rows], found.commanded_twist[at])
    run(silent, 5, save=tmp_path / "silent.npz")
    assert command_line("export", tmp_path / "silent.npz",
                        "-o", tmp_path / "silent.mcap").exit_code == 0
    assert cmd_vel(tmp_path / "silent.mcap") is None


def test_there_is_no_cmd_vel_while_none_is_commanded(tmp_path):
    pytest.importorskip("rosbags")
    run(Switch(silent, drive(), 20 * DT), 40, save=tmp_path / "run.npz")
    assert command_line("export", tmp_path / "run.npz", "-o", tmp_path / "run.mcap",
                        "--no-forces").exit_code == 0
    assert [row[0] for row in cmd_vel(tmp_path / "run.mcap")] == [k * 10**6 for k in range(20, 41)]


def test_tables_have_it_too(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    found = run(drive(), 30, save=tmp_path / "run.npz")
    for out in ("run.csv", "run.parquet"):
        assert command_line("export", tmp_path / "run.npz", "-o", tmp_path / out).exit_code == 0
    with open(tmp_path / "run.csv", newline="") as file:
        titles, *lines = csv.reader(file)
        names = [title.partition(" [")[0] for title in titles]
        assert "commanded_yaw_rate [rad/s]" in titles
    table = parquet.read_table(tmp_path / "run.parquet")
    for k, name in enumerate(TWIST_NAMES):
        assert np.array_equal(np.array(lines, dtype=float)[:, names.index(name)],
                              found.commanded_twist[:, k])
        assert np.array_equal(table[name].to_numpy(), found.commanded_twist[:, k])
    units = {field.name: field.metadata[b"unit"].decode() for field in table.schema
             if field.name in TWIST_NAMES}
    assert units == dict(zip(TWIST_NAMES,
                             ("m/s", "m/s",
                              "rad/s"))) and "energy" in names and names[-1].startswith("force.")


def driven(vehicle, twist, **options) -> Trajectory:
    return Simulator(vehicle, TwistDrive(vehicle, twist), control_period=0.01,
                            **options).run(3.0)


def residuals(run):
    """The notices about the twist; a cart that starts hard may also lift its caster."""
    return [notice for notice in run.notices if notice.kind is NoticeKind.TWIST_RESIDUAL]


def test_a_twist_that_is_not_driven_is_a_notice():
    """A cart cannot go sideways; a car turns on no small circle, nor are a cart's wheels as fast as
    one likes: the limit is said."""
    car, cart = shipped("ackermann_car"), shipped("differential_drive")
    notice, = residuals(driven(cart, (0.4, 0.3, 0.0)))
    assert "by up to 0.6 of it" in notice.text
    notice, = residuals(driven(car, (0.5, 0.0, 0.2)))
    assert "front_left_steering_joint at its upper position limit" in notice.text
    fast = 2 * cart.limits["left_wheel_joint"].velocity * cart.description.wheels[0].radius
    notice, = residuals(driven(cart, (fast, 0.0, 0.0), mode="kinematic"))
    assert "by up to 0.5 of it" in notice.text
    assert "left_wheel_joint at its velocity limit" in notice.text


@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car", "mecanum", "tricycle"])
def test_a_twist_that_is_driven_is_none(name):
    """Though it takes a while to be."""
    assert not residuals(driven(shipped(name), (0.5, 0.0, 0.1)))
    changing = lambda t, state: (0.5, 0.0, 0.1 * np.sin(t))     # noqa: E731
    assert not residuals(driven(shipped(name), changing))
    assert not residuals(driven(shipped(name), (0.0, 0.0, 0.0)))


def test_a_part_that_is_commanded_all_along_and_never_driven_is_told():
    """Wheels on two axles that only roll let no base turn, however the command changes."""
    def swaying(t, state):
        return 0.4, 0.0, 0.3 * np.sin(4 * t)

    for skid, told in (("coulomb", 1), ("mid-axle", 0)):
        vehicle = nhmech.load(nhmech.urdf_path("skid_steer"), skid=skid)
        run = Simulator(vehicle, TwistDrive(vehicle, swaying), contact="ideal").run(3.0, every=10)
        found = [str(n) for n in run.notices if n.kind is NoticeKind.TWIST_RESIDUAL]
        assert len(found) == told
        assert all("yaw (up to 0.3 rad/s) was never driven" in n for n in found)
