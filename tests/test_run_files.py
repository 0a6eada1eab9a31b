"""Runs on disk: whole or not at all at the end, and readable at any moment before it."""

import errno
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from runs import killed
from support import command_line, shipped

import nhmech
from nhmech import Event, SimulationError, Simulator, Trajectory, Wheel
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.paths import replace_file
from nhmech.simulation.runs import recorder as recording
from nhmech.simulation.runs.run_file import RunFile, read_run_file
from nhmech.systems import load_system

PARTS = ("t", "q", "v", "xi", "u", "angles")


def drive(t, state):
    """Never the same twice."""
    return np.array([0.1 * np.sin(3 * t), 0.1 * np.cos(2 * t)])


def carriage(controller=drive, dt=1e-4, **more):
    simulator = Simulator(shipped("carriage"), controller, dt=dt, **more)
    simulator.reset(xi={"left_wheel_joint": 1.0, "right_wheel_joint": 2.0})
    return simulator


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in PARTS)


@pytest.fixture
def often(monkeypatch):
    """The file is written at every chance."""
    monkeypatch.setattr(recording, "FLUSH", 0.0)


# -- while it runs ---------------------------------------------------------------------------------
def test_memory_holds_no_more_of_a_longer_run_that_is_saved(tmp_path):
    """Rows of 77 MB, of which some are in memory at a time; what is mapped is none."""
    def peak(duration):
        simulator = carriage(None, dt=1e-5)
        simulator.run(1e-3)
        tracemalloc.start()
        run = simulator.run(duration, save=tmp_path / "run.npz")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(run) == round(duration * 1e5) + 1
        return most

    assert peak(4.0) < 1.1 * peak(1.0) < 16e6


@pytest.mark.parametrize("controller", [drive, None], ids=["controller", "loop in C"])
@pytest.mark.parametrize("every", [1, 7])
def test_a_streamed_run_is_the_same_run(controller, every, tmp_path, often):
    plain = carriage(controller).run(0.2, every=every)
    run = carriage(controller).run(0.2, every=every, save=tmp_path / "run")
    assert os.listdir(tmp_path) == ["run.npz"], "no .part is left behind"
    assert same(run, plain) and same(Trajectory.load(tmp_path / "run.npz"), plain)
    assert run.stop == "duration" and run.names == plain.names
    with pytest.raises(ValueError, match="read-only"):
        run.q[0] = 0.0


def test_memory_holds_a_window_of_a_streamed_run(tmp_path, monkeypatch):
    """64 kB for a run of 1.3 MB; the columns of what comes back are in the file's pages, not in
    memory of their own."""
    monkeypatch.setattr(recording, "WINDOW", 1 << 16)
    held, made = [], recording.Recorder.room

    def room(self, rows):
        held.append(self.rows.nbytes)
        return made(self, rows)

    monkeypatch.setattr(recording.Recorder, "room", room)
    run = carriage().run(0.5, save=tmp_path / "run.npz")
    assert len(run) == 5001 and max(held) <= 1 << 16
    assert not run.q.flags.owndata and run.q.base is not None


def test_what_a_running_one_has_written_can_be_read(tmp_path, often):
    """The controller reads the file that its own run is being written to."""
    seen = []

    def watching(t, state):
        if t >= 0.0299 and not seen:
            seen.append(Trajectory.load(tmp_path / "run.npz.part"))
        return drive(t, state)

    run = carriage(watching).run(0.05, save=tmp_path / "run.npz")
    assert seen[0].stop == "cut off" and 200 < len(seen[0]) <= 300
    for name in PARTS:
        assert np.array_equal(getattr(seen[0], name), getattr(run, name)[:len(seen[0])])


@pytest.mark.parametrize("count", [10, pytest.param(50, marks=pytest.mark.soak)])
def test_kills(tmp_path, monkeypatch, count):
    """SIGKILL at random moments: the file opens, holds every row whose writing had
    ended, and nothing that was not so."""
    monkeypatch.setattr(recording, "FLUSH", 0.001)
    # also compiles and imports what the children need
    reference = carriage().run(0.3)
    rng, lengths, path = np.random.default_rng(7), [], tmp_path / "run.npz"
    for _ in range(count):
        for old in tmp_path.iterdir():
            old.unlink()
        begin, *ends = killed(lambda: carriage().run(1000.0, save=path), rng.integers(0, 40),
                              rng.uniform(0.0, 0.004))
        flushed = ends[-1] if ends else begin
        assert (os.listdir(tmp_path) == ["run.npz.part"]
                and os.path.getsize(tmp_path / "run.npz.part") >= flushed)
        if os.path.getsize(tmp_path / "run.npz.part") == begin:
            with pytest.raises(SimulationError, match="no whole row"):
                Trajectory.load(f"{path}.part")
            continue
        run = Trajectory.load(f"{path}.part")
        lengths.append(len(run))
        with open(f"{path}.part", "rb") as part:
            row = 8 * (sum(json.loads(part.readline())["header"]["widths"]) + 1)
        assert len(run) >= (flushed - begin) // row
        # the last row of a run has no input of its own yet
        shared = min(len(run), len(reference) - 1)
        for name in PARTS:
            assert np.array_equal(getattr(run, name)[:shared], getattr(reference, name)[:shared])
        assert run.t == pytest.approx(1e-4 * np.arange(len(run)), rel=0,
                                      abs=1e-12) and np.isfinite(run.q).all()
    assert len(set(lengths)) > count / 2, "the moments are not random"


def test_a_file_cut_anywhere_opens(tmp_path, often):
    """Whole rows are read, torn ones are not; in the header there is nothing to read."""
    simulator = carriage()
    copies = []

    def keep(t, state):
        copies[:] = [(tmp_path / "run.npz.part").read_bytes()]

    run = simulator.run(0.05, save=tmp_path / "run.npz", progress=keep)
    header, _, rows = copies[0].partition(b"\n")
    row = 8 * (sum(json.loads(header)["header"]["widths"]) + 1)
    torn = tmp_path / "torn.npz.part"
    for cut in range(len(rows) - 2 * row, len(rows) + 1, 3):
        torn.write_bytes(header + b"\n" + rows[:cut])
        again = Trajectory.load(torn)
        assert len(again) == cut // row and np.array_equal(again.q, run.q[:cut // row])
    for cut in (0, 10, len(header) // 2, len(header), len(header) + row):
        torn.write_bytes((header + b"\n" + rows)[:cut])
        with pytest.raises(SimulationError, match="is not a run"):
            Trajectory.load(torn)


def test_events_are_kept_in_the_file_too(tmp_path, often):
    """What a killed run leaves holds the events that were passed, a run that ends has them in
    order."""
    events = [Event(f"at {moment}", lambda t, s, m=moment: t - m, terminal=moment == 0.04)
              for moment in (0.0102, 0.0051, 0.04)]
    left = []

    def keep(t, state):
        left.append((tmp_path / "run.npz.part").read_bytes())

    run = carriage(events=events).run(1.0, save=tmp_path / "run.npz", progress=keep)
    plain = carriage(events=events).run(1.0)
    assert run.stop == "event: at 0.04" and run.events == plain.events and len(run.events) == 3
    assert same(run, plain) and Trajectory.load(tmp_path / "run.npz").events == run.events
    (tmp_path / "left.part").write_bytes(left[0])
    cut = Trajectory.load(tmp_path / "left.part")
    assert cut.events == run.events[:2] and np.array_equal(cut.t, run.t[:len(cut)])


def test_a_file_that_is_being_written_is_refused_and_one_left_over_is_kept(tmp_path):
    def again(t, state):
        with pytest.raises(SimulationError, match="another run is being written"):
            carriage().run(0.01, save=tmp_path / "run.npz")

    carriage().run(0.03, save=tmp_path / "run.npz", progress=again)
    (tmp_path / "run.npz.part").write_bytes(b"of a killed run")
    carriage().run(0.01, save=tmp_path / "run.npz")
    assert (sorted(os.listdir(tmp_path)) == ["run.npz", "run.npz.part~"]
            and (tmp_path / "run.npz.part~").read_bytes() == b"of a killed run")


def test_a_missing_run_is_looked_for_beside(tmp_path):
    (tmp_path / "run.npz.part").write_bytes(b"")
    with pytest.raises(SimulationError, match=r"run\.npz\.part is there, a run that was cut off"):
        Trajectory.load(tmp_path / "run.npz")
    with pytest.raises(SimulationError,
                       match="nowhere/run.npz.part cannot be written: No such file or directory"):
        carriage().run(0.01, save=tmp_path / "nowhere" / "run.npz")


@pytest.mark.parametrize("name", ["interrupt", "failure"])
def test_a_run_that_stops_early_is_saved(name, tmp_path):
    def stops(t, state):
        if t > 0.02:
            raise KeyboardInterrupt if name == "interrupt" else ValueError("no more")
        return drive(t, state)

    simulator = carriage(stops)
    if name == "interrupt":
        run = simulator.run(1.0, save=tmp_path / "run.npz")
    else:
        with pytest.raises(SimulationError, match="no more") as caught:
            simulator.run(1.0, save=tmp_path / "run.npz")
        run = caught.value.trajectory
    again = Trajectory.load(tmp_path / "run.npz")
    assert same(again, run) and again.stop == run.stop and 0.02 <= again.t[-1] < 0.021
    assert os.listdir(tmp_path) == ["run.npz"]


# -- a disk that is full ---------------------------------------------------------------------------
@contextmanager
def largest_file(size):
    """Files may not grow beyond `size` bytes: writing fails as it does on a full disk. No modules
    are compiled meanwhile, which would be kept, cut off."""
    limits, writes = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        sys.dont_write_bytecode = writes


def test_a_full_disk_keeps_the_trajectory(tmp_path, often):
    plain = carriage().run(0.5)
    with (
        largest_file(100_000),
        pytest.raises(SimulationError,
                      match=r"run\.npz\.part cannot be written: File too large") as caught,
    ):
        carriage().run(0.5, save=tmp_path / "run.npz")
    run = caught.value.trajectory
    assert 100 < len(run) < len(plain) and all(
        np.array_equal(getattr(run, name), getattr(plain, name)[: len(run)]) for name in PARTS
    )
    left = Trajectory.load(tmp_path / "run.npz.part")
    assert 100 < len(left) <= len(run) and np.array_equal(left.q, run.q[:len(left)])


@pytest.mark.parametrize("written", range(1, 5))
def test_wherever_the_disk_is_full_the_trajectory_is_there(tmp_path, often, monkeypatch, written):
    """At the header there is none yet; then while it runs, at the last state, and after it."""
    write, count = RunFile.write, []

    def full(file, *words):
        count.append(file)
        if len(count) >= written:
            raise OSError(28, "No space left on device")
        return write(file, *words)

    monkeypatch.setattr(RunFile, "write", full)
    plain = carriage().run(1e-2)
    with pytest.raises(SimulationError, match="No space left on device") as caught:
        carriage().run(1e-2, save=tmp_path / "run.npz")
    run = caught.value.trajectory
    if written == 1:
        assert run is None
    else:
        assert len(run) >= 2 and all(np.array_equal(getattr(run, name),
                                                    getattr(plain, name)[:len(run)])
                                     for name in PARTS)


def test_saving_to_a_full_disk_leaves_the_old_file(tmp_path):
    run, old = carriage().run(0.05), carriage().run(0.01)
    path = old.save(tmp_path / "run.npz")
    why = r"run\.npz cannot be written: File too large; the trajectory is kept"
    with largest_file(10_000), pytest.raises(SimulationError, match=why) as caught:
        run.save(path)
    assert caught.value.trajectory is run
    assert os.listdir(tmp_path) == ["run.npz"] and same(Trajectory.load(path), old)


# -- other file systems, other writers -------------------------------------------------------------
def locks_fail(monkeypatch, code):
    def refuses(file, operation):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuses)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_is_written_to_with_a_warning(
    code, tmp_path, monkeypatch, caplog
):
    locks_fail(monkeypatch, code)
    (tmp_path / "run.npz.part").write_bytes(b"of a killed run")
    run = carriage().run(0.01, save=tmp_path / "run.npz")
    assert same(Trajectory.load(tmp_path / "run.npz"), run)
    assert (tmp_path / "run.npz.part~").read_bytes() == b"of a killed run"
    (line,) = caplog.records
    assert (line.name == "nhmech"
            and "run.npz.part is on a file system without locks" in line.message)


def test_other_failures_of_locks_are_errors(tmp_path, monkeypatch):
    locks_fail(monkeypatch, errno.EIO)
    with pytest.raises(SimulationError, match="run.npz.part cannot be written: Input/output error"):
        carriage().run(0.01, save=tmp_path / "run.npz")


@pytest.mark.parametrize("rows", [3, 3000], ids=["fewer rows", "more rows"])
def test_without_locks_two_runs_of_one_name_stay_apart(rows, tmp_path, monkeypatch, often):
    """The second takes the first one's name while that goes on; each gives its own rows, and keeps
    off the other's file."""
    locks_fail(monkeypatch, errno.ENOLCK)
    path, part = tmp_path / "run.npz", tmp_path / "run.npz.part"
    second = []

    def interrupted(t, state):
        if t > 0.02 and not second:
            other = carriage(None, dt=1e-3)
            second.append(recording.Recorder(other.moment, other.info, rows, 1, save=path))
            second[0].add()
            for _ in range(rows - 1):
                other.step()
                second[0].add()
            second[0].flush()
        return drive(t, state)

    run, plain = carriage(interrupted).run(0.05, save=path), carriage().run(0.05)
    assert same(run, plain) and same(Trajectory.load(path), plain)
    assert len(Trajectory.load(part)) == rows - 1, "the last row is not yet written"
    other = second[0].trajectory("duration")
    assert np.allclose(other.t, 1e-3 * np.arange(rows), rtol=0,
                       atol=1e-12) and same(Trajectory.load(path), other)
    assert not part.exists() and same(run, plain)


def test_a_left_over_file_that_may_not_be_written_is_kept_too(tmp_path, monkeypatch):
    part, opened = tmp_path / "run.npz.part", os.open
    part.write_bytes(b"of a killed run")
    part.chmod(0o444)

    def for_anybody(path, flags, *mode, **words):                       # root is refused nothing
        if path == part and flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, flags, *mode, **words)

    monkeypatch.setattr(os, "open", for_anybody)
    carriage().run(0.01, save=tmp_path / "run.npz")
    assert sorted(os.listdir(tmp_path)) == ["run.npz", "run.npz.part~"]
    assert (tmp_path / "run.npz.part~").read_bytes() == b"of a killed run"


def test_two_threads_write_one_file(tmp_path):
    """Both inside at the same time: each finds its own file there, and the last one to end
    stays."""
    inside, out = threading.Barrier(2, timeout=60), tmp_path / "out.txt"

    def write(text):
        with replace_file(out) as new:
            new.write_text(text)
            inside.wait()
            assert new.read_text() == text
            inside.wait()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, ("one", "two")))
    assert out.read_text() in ("one", "two") and os.listdir(tmp_path) == ["out.txt"]


def test_what_fails_while_it_is_written_leaves_the_old_file(tmp_path):
    out = tmp_path / "out.txt"
    out.write_text("old")
    with pytest.raises(KeyError), replace_file(out) as new:
        new.write_text("half")
        raise KeyError
    with pytest.raises(OSError) as caught, replace_file(tmp_path / "nowhere" / "out.txt"):
        pass
    assert caught.value.filename == str(tmp_path / "nowhere" / "out.txt")
    assert os.listdir(tmp_path) == ["out.txt"] and out.read_text() == "old"


# -- what a controller says of itself --------------------------------------------------------------
class Following:
    """Drives, and follows some path."""

    def __init__(self, reference):
        self.reference = reference

    @property
    def path_reference(self):
        return self.reference() if callable(self.reference) else self.reference

    def __call__(self, t, state):
        return drive(t, state)


def test_a_path_reference_of_numpy_s_numbers_is_saved_as_plain_ones(tmp_path):
    given = {"x": np.arange(3), "speed": np.float32(0.5), "laps": np.int64(2)}
    plain = {"x": [0, 1, 2], "speed": 0.5, "laps": 2}
    run = carriage(Following(given)).run(0.01, save=tmp_path / "run.npz")
    assert (run.settings["path"] == plain
            and Trajectory.load(tmp_path / "run.npz").settings["path"] == plain)


def _no():
    raise ValueError("not now")


LOOP = {}
LOOP["itself"] = LOOP


@pytest.mark.parametrize("reference, words",
                         [({"path": object()}, "is no JSON"), ({(1, 2): 3}, "is no JSON"),
                                              (LOOP, "is no JSON"),
                                              (_no, "raised ValueError: not now")],
                         ids=["object", "key", "loop", "raises"])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_path_reference_that_cannot_be_saved_costs_no_run(
    reference, words, streamed, tmp_path, caplog
):
    """Saved while it runs or afterwards: all but that is in the file, and one line says what is
    not."""
    run = carriage(Following(reference)).run(0.01, save=tmp_path / "run.npz" if streamed else None)
    run.save(tmp_path / "run.npz")
    again = Trajectory.load(tmp_path / "run.npz")
    assert same(again, run) and again.settings == run.settings
    assert "path" not in again.settings and again.settings["dt"] == 1e-4
    (line,) = caplog.records
    assert ("path_reference of Following" in line.message and words in line.message
            and "goes without it" in line.message)


def test_settings_of_one_s_own_are_saved_as_far_as_they_can_be(tmp_path, caplog):
    run = carriage().run(0.01)
    mine = replace(run, settings=run.settings | {"operator": "me", "robot": object()})
    assert Trajectory.load(mine.save(tmp_path / "run.npz")).settings == run.settings | {
        "operator": "me"
    }
    assert "'robot' is no JSON" in caplog.text
    with pytest.raises(SimulationError,
                       match=r"'source' is no JSON \(object .*; the trajectory is kept") as caught:
        replace(run, source={"robot": object()}).save(tmp_path / "run.npz")
    assert len(caught.value.trajectory) == len(run)


def test_an_array_that_cannot_be_saved_is_named(tmp_path):
    run = carriage().run(0.01)
    with pytest.raises(SimulationError,
                       match=r"run\.npz cannot be written: 'u' is not an array") as caught:
        replace(run, u=run.u.astype(object)).save(tmp_path / "run.npz")
    assert "JSON" not in str(caught.value) and len(caught.value.trajectory) == len(run)
    assert not os.listdir(tmp_path)


# -- what was simulated ----------------------------------------------------------------------------
def test_parameters_and_wrenches_come_back(tmp_path):
    """Energies and ground forces depend on both."""
    vehicle = shipped("differential_drive").with_parameters({"payload.mass": 3.0, "payload.x": 0.1},
                                                            symbolic=["payload.mass"])
    simulator = Simulator(vehicle, wrench={"base_link": np.array([1.0, 0.0, -5.0, 0.0, 0.2, 0.0])})
    simulator.reset(xi={"forward_speed": 0.4, "yaw_rate": 1.0})
    run = simulator.run(0.05, save=tmp_path / "run.npz")
    again = Trajectory.load(tmp_path / "run.npz")
    np.testing.assert_allclose(again.energy, run.energy, rtol=1e-14)
    assert again.reactions[-1].components == run.reactions[-1].components
    weight = sum(forces["normal"] for forces in again.reactions[0].components.values())
    mass = sum(inertia.mass for inertia in vehicle.model.inertias)      # the payload's too
    empty = sum(inertia.mass for inertia in shipped("differential_drive").model.inertias)
    assert mass - empty == pytest.approx(3.0, rel=1e-12, abs=0)
    assert weight == pytest.approx(mass * 9.81 + 5.0, rel=1e-9)


def wheeled(radius, mu):
    return nhmech.load(nhmech.urdf_path("differential_drive"), wheels=[
        Wheel("left_wheel_joint", "disc", radius, mu=mu), Wheel("right_wheel_joint", "disc", 0.1)])


def test_wheels_given_in_numpy_s_numbers_come_back(tmp_path):
    """Streamed, and saved afterwards."""
    given = np.float32(0.1), np.float32(0.3)
    run = Simulator(wheeled(*given)).run(0.01, save=tmp_path / "streamed.npz")
    for path in (tmp_path / "streamed.npz", run.save(tmp_path / "later.npz")):
        wheel = Trajectory.load(path).simulated.vehicle.description.wheels[0]
        assert (wheel.radius, wheel.mu) == tuple(map(float, given))


def test_a_vehicle_that_cannot_be_saved_is_refused_before_the_run(tmp_path):
    """What is there of an earlier run is left alone."""
    (tmp_path / "run.npz.part").write_bytes(b"of a killed run")
    why = r"run\.npz\.part cannot be written: 'source' is no JSON .*Fraction\(1, 2"
    with pytest.raises(SimulationError, match=why):
        Simulator(wheeled(0.1, Fraction(1, 2))).run(0.01, save=tmp_path / "run.npz")
    assert os.listdir(tmp_path) == ["run.npz.part"]


def test_a_textbook_system_comes_back(tmp_path):
    example = load_system("falling_disc")
    simulator = Simulator(example)
    simulator.reset(q=np.asarray(example.start["q"], dtype=float),
                    xi=dict(zip(example.speeds, example.start["xi"])))
    run = simulator.run(0.1, save=tmp_path / "disc.npz")
    again = Trajectory.load(tmp_path / "disc.npz")
    np.testing.assert_allclose(again.energy, run.energy, rtol=1e-14)
    hand = Simulator(example.constrained)
    hand.reset(q=np.asarray(example.start["q"], dtype=float))
    with pytest.raises(SimulationError, match="does not contain the simulated system"):
        _ = Trajectory.load(hand.run(0.01).save(tmp_path / "hand.npz")).energy


# -- the command line ------------------------------------------------------------------------------
@pytest.fixture
def nhmech_(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: command_line(*words)


def test_a_run_of_a_textbook_system_can_be_viewed(nhmech_, tmp_path):
    assert nhmech_("systems", "run", "falling_disc", "--duration", 0.1, "--save",
                   "disc.npz").exit_code == 0
    for name in ("disc.html", "disc-2.html"):
        result = nhmech_("view", "disc.npz")
        assert result.exit_code == 0 and str(tmp_path / name) in result.output
        assert (tmp_path / name).stat().st_size > 100_000
    result = nhmech_("view", "disc.npz", "--robot", "carriage")
    assert result.exit_code == 2 and ("the run's coordinates, speeds or contacts are "
                                      "not those of 'carriage'" in result.stderr)


def test_what_a_killed_run_left_can_be_viewed_and_exported(nhmech_, tmp_path, often):
    copies = []
    carriage().run(0.05, save=tmp_path / "run.npz",
                   progress=lambda t,
                   state: copies.append((tmp_path / "run.npz.part").read_bytes()))
    (tmp_path / "run.npz").unlink()
    (tmp_path / "run.npz.part").write_bytes(copies[0][:-5])
    result = nhmech_("view", "run.npz")
    assert result.exit_code == 2 and "run.npz.part is there" in result.stderr
    assert nhmech_("view", "run.npz.part", "--html", "run.html").exit_code == 0
    assert (tmp_path / "run.html").stat().st_size > 100_000
    assert nhmech_("export", "run.npz.part", "-o", "run.csv", "--no-forces").exit_code == 0
    assert len((tmp_path / "run.csv").read_text().splitlines()) == 1 + len(
        Trajectory.load("run.npz.part")
    )


def test_names_nobody_gave_are_numbered(nhmech_, tmp_path, monkeypatch):
    """Outputs that are named are replaced; those that are not never are."""
    monkeypatch.setattr("nhmech.cli.show.has_browser", lambda: False)
    carriage().run(0.01).save(tmp_path / "run.npz")
    (tmp_path / "run.html").write_text("mine")
    result = nhmech_("view", "run.npz")
    assert (result.exit_code == 0 and "run-2.html" in result.output
            and (tmp_path / "run.html").read_text() == "mine")
    assert nhmech_("view", "run.npz", "--html", "run.html").exit_code == 0
    assert (tmp_path / "run.html").stat().st_size > 100_000


@pytest.mark.parametrize("words, name",
                         [(("--save", "long.npz"), "long.npz"), ((), "carriage.npz")])
def test_ctrl_c_saves_and_says_where(words, name, tmp_path):
    """SIGINT to a real process: exit code 0, the file opens, the message names it."""
    command = [sys.executable, "-u", "-m", "nhmech", "run", "carriage", "--duration", "100000",
               "--controller", "slow.py:hold", *words]
    (tmp_path / "slow.py").write_text("import pathlib\nimport numpy\ndef hold(t, state):\n    if t "
                                      "> 0.5: pathlib.Path('begun').touch()\n    return "
                                      "numpy.zeros(2)\n")
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(nhmech.__file__))}
    child = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    end = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and child.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert "stopped  interrupted" in out and f"saved    {name}" in out
    run = Trajectory.load(tmp_path / name)
    assert run.stop == "interrupted" and run.t[-1] > 0.5
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".npz", ".part")) == [
        name
    ]


def test_the_format_is_what_its_module_says(tmp_path, often):
    """Read without our reader: a line of JSON, a multiple of 64 bytes, then little-endian
    float64."""
    copies = []
    run = carriage().run(0.05, save=tmp_path / "run.npz",
                         progress=lambda t,
                         state: copies.append((tmp_path / "run.npz.part").read_bytes()))
    line, _, rows = copies[0].partition(b"\n")
    found = json.loads(line)
    assert (len(line) + 1) % 64 == 0 and found["nhmech"] == "run" and found["version"] == 2
    header = found["header"]
    assert found["crc32"] == zlib.crc32(json.dumps(header).encode())
    sealed = np.frombuffer(rows, dtype="<f8").reshape(-1, sum(header["widths"]) + 1)
    table = sealed[:, :-1]
    words = [int(word) for word in sealed[3].view("<u8")]
    assert words[-1] == (sum(word * 6364136223846793005 ** (j + 1)
                             for j, word in enumerate(words[:-1]))
                         + 1442695040888963407) % 2 ** 64
    assert np.array_equal(table[:, 0], run.t[:len(table)]) and np.array_equal(
        table[:, 1:1 + header["widths"][1]], run.q[:len(table)])
    (tmp_path / "copy").write_bytes(copies[0])
    assert np.array_equal(read_run_file(tmp_path / "copy")[1], table)


@pytest.mark.parametrize("words", [("view", "run.npz", "--html", "out.html"),
                                   ("systems", "run", "sled", "--duration", 0.01, "--html",
                                    "out.html")])
def test_a_full_disk_is_no_traceback(words, nhmech_, tmp_path):
    carriage().run(0.01).save(tmp_path / "run.npz")
    (tmp_path / "out.html").write_text("old")
    # what is cached on disk meanwhile is not the matter here
    nhmech_(*words[:-1], "warm.html")
    with largest_file(100_000):
        result = nhmech_(*words)
    assert (result.exit_code == 3 and "File too large" in result.stderr
            and isinstance(result.exception, SystemExit))
    assert (tmp_path / "out.html").read_text() == "old"


# -- damaged files ---------------------------------------------------------------------------------
def damage(data: bytes, rng: np.random.Generator) -> bytes:
    """Bits flipped, a piece cut out, doubled, zeroed or made random, or the end cut off."""
    data, at = bytearray(data), int(rng.integers(len(data)))
    piece = slice(at, at + int(rng.integers(1, 200)))
    match rng.integers(6):
        case 0:
            for place in rng.integers(len(data), size=rng.integers(1, 4)):
                data[place] ^= 1 << int(rng.integers(8))
        case 1:
            del data[piece]
        case 2:
            data[at:at] = data[piece]
        case 3:
            data[piece] = bytes(len(data[piece]))
        case 4:
            data[piece] = rng.bytes(len(data[piece]))
        case _:
            del data[at:]
    return bytes(data)


def damage_header(header: dict, rng: np.random.Generator) -> dict:
    """One value somewhere in it is another one, is gone, or is doubled."""
    places = []

    def visit(value, path):
        for key in value if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], (dict, list)):
                visit(value[key], (*path, key))

    visit(header, ())
    holder, key = places[rng.integers(len(places))]
    others = [None, -1, 0, 10 ** 400, float("nan"), float("inf"), "", "\u202e\x1b[2J", [], {}, True,
              [[[]]], "name", [1, 2], {"a": 1}]
    choice = int(rng.integers(len(others) + 1))
    if choice == len(others):
        del holder[key]
    else:
        holder[key] = others[choice]
    return header


def judge(path, run) -> str:
    """Loads a damaged file: "refused", or what was read, which is a beginning of the run."""
    try:
        found = Trajectory.load(path)
    except SimulationError as error:
        assert str(error).isprintable()
        return "refused"
    for name in PARTS:
        assert np.array_equal(getattr(found, name), getattr(run, name)[:len(found)])
    assert found.names == run.names
    return "read"


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_damaged_files_are_refused_or_read_up_to_the_damage(seed, tmp_path, often, caplog):
    copies = []
    run = carriage().run(0.02, save=tmp_path / "run.npz", every=2,
                         progress=lambda t, state: copies.append(
                             (tmp_path / "run.npz.part").read_bytes()))
    rng, count, verdicts = np.random.default_rng(seed), 300 if seed == 0 else 20_000, []
    for name, data in (("run.npz", (tmp_path / "run.npz").read_bytes()),
                       ("cut.npz.part", copies[-1])):
        for _ in range(count):
            (tmp_path / name).write_bytes(damage(data, rng))
            verdicts.append(judge(tmp_path / name, run))
    assert verdicts.count("refused") > count / 2 and verdicts.count("read") > count / 4


@pytest.mark.parametrize("part", ["q", "v", "xi", "u", "angles"])
def test_numbers_of_a_whole_file_are_looked_at(part, tmp_path):
    """In its last row as in its first, of as many rows as are read at once and more."""
    with np.load(carriage().run(0.01, every=10).save(tmp_path / "good.npz")) as file:
        header, good = file["header"], {
            name: np.repeat(file[name], 10_000, axis=0) for name in file.files if name != "header"}
    for row, value in ((0, np.nan), (len(good["t"]) // 2, -np.inf), (-1, np.inf)):
        bad = good[part].copy()
        bad[row, -1] = value
        np.savez(tmp_path / "bad.npz", **good | {part: bad}, header=header)
        with pytest.raises(nhmech.NhmechError, match=f"'{part}' has numbers that are not finite"):
            Trajectory.load(tmp_path / "bad.npz")
    np.savez(tmp_path / "bad.npz", **good, header=header)
    assert len(Trajectory.load(tmp_path / "bad.npz").t) == len(good["t"])


@pytest.mark.parametrize("change, message", [
    (lambda file: {"t": file["t"][::-1]}, "'t' is not a sequence of times"),
    (lambda file: {"q": file["q"][:, 1:]}, r"'q' has shape \(11, 10\) of float64, expected"),
    (lambda file: {"xi": file["xi"][1:]}, r"'xi' has shape \(10, 2\) of float64, expected"),
    (lambda file: {"v": file["v"].astype(np.float32)}, "'v' has shape .* of float32, expected"),
])
def test_arrays_that_are_no_trajectory_are_refused_by_name(change, message, tmp_path):
    with np.load(carriage().run(0.01, every=10).save(tmp_path / "good.npz")) as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(tmp_path / "bad.npz", **arrays | change(arrays))
    with pytest.raises(nhmech.NhmechError, match=message):
        Trajectory.load(tmp_path / "bad.npz")


@pytest.mark.parametrize("change, message", [
    ({"kinematic": 3}, "'kinematic' is 3"), ({"source": "car"}, "'source' is 'car'"),
    ({"stop": 4.5}, "'stop' is 4.5"), ({"events": [[float("inf"), "hit"]]},
                                        "'events' has the time inf"),
    ({"events": [[0.1, "a\u202eb"]]}, r"'a\\u202eb' is not a printable name"),
    ({"settings": {"dt": float("nan")}}, "its header has a NaN"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_header_is_refused_by_its_field(change, message, tmp_path):
    with np.load(carriage().run(0.01, every=10).save(tmp_path / "good.npz")) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.dumps(json.loads(str(arrays["header"])) | change)
    np.savez(tmp_path / "bad.npz", **{**arrays, "header": np.array(header)})
    with pytest.raises(nhmech.NhmechError, match=rf"damaged \({message}\)$"):
        Trajectory.load(tmp_path / "bad.npz")


def test_what_is_no_archive_is_refused(tmp_path):
    whole = carriage().run(0.01, every=10).save(tmp_path / "good.npz").read_bytes()
    (tmp_path / "bad.npz").write_bytes(whole[:len(whole) // 2])
    with pytest.raises(nhmech.NhmechError, match="it is not a complete .npz archive"):
        Trajectory.load(tmp_path / "bad.npz")


@pytest.mark.parametrize("old, new, message", [
    (b'"version": 2', b'"version": 3', "its format has version 3, this program reads 2"),
    (b'"width": ', b'"width":  ', None),
    (b'"python": ', b'"pithon": ', "the checksum of its header is wrong")])
def test_the_head_of_a_streamed_run_is_held_to_its_checksum(old, new, message, tmp_path, often):
    """Which is that of its values, not of its spaces."""
    copies, file = [], tmp_path / "copy"
    carriage().run(0.05, save=tmp_path / "run.npz", progress=lambda t, state: copies.append(
        (tmp_path / "run.npz.part").read_bytes()))
    line, rows = copies[-1].split(b"\n", 1)
    assert line.count(old) == 1
    file.write_bytes(line.replace(old, new).rstrip().ljust(len(line)) + b"\n" + rows)
    if message is None:
        assert len(read_run_file(file)[1])
        return
    with pytest.raises(ValueError, match=message):
        read_run_file(file)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_headers_that_say_something_else_are_refused_by_field(seed, tmp_path):
    """The checksum is right, the values are not: what loads shows nothing that is not finite, and
    what it was made of comes back or is refused by name."""
    run = carriage().run(0.01, every=10)
    good, rng = run.save(tmp_path / "good.npz"), np.random.default_rng(seed)
    with np.load(good) as file:
        arrays = {name: file[name] for name in file.files}
    refused = 0
    for _ in range(100 if seed == 0 else 10_000):
        header = damage_header(json.loads(str(arrays["header"])), rng)
        np.savez(tmp_path / "bad.npz", **{**arrays, "header": np.array(json.dumps(header))})
        try:
            found = Trajectory.load(tmp_path / "bad.npz")
            assert np.isfinite(found.q).all() and found.stop.isprintable()
            if found.is_system_known:
                assert found.simulated.constrained is not None
        except nhmech.NhmechError as error:
            assert error.text
            refused += 1
    assert refused > 10


def test_a_run_is_not_read_as_that_of_another_system(tmp_path):
    """Of as many coordinates, by other names: it had the other's energy, without a word."""
    def falling(*names: str):
        return constrain(lagrangian_system(euclidean(*names), lambda s: sum(
            v ** 2 for v in vars(s.v).values()) / 2))

    simulator = Simulator(falling("x", "y"), dt=0.01)
    simulator.reset(q=[0.0, 0.0], xi=[1.0, 2.0])
    path = simulator.run(0.1).save(tmp_path / "run.npz")
    again = Trajectory.load(path, falling("x", "y"))
    np.testing.assert_allclose(again.energy, 2.5, rtol=1e-12)
    for other in (falling("y", "x"), shipped("carriage")):
        with pytest.raises(nhmech.InputError, match="coordinates or speeds of .* are not those of "
                                                    "this run: x, y and x', y'"):
            Trajectory.load(path, other)
