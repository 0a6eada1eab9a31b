"""The benchmarks can be imported and give every program the same motion; what they measure is no
matter for a test."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import sampled

import nhmech
from nhmech.simulation.integration.schemes import FIXED

ROOT = Path(__file__).resolve().parent.parent / "benchmarks"
PEERS = sorted(path.stem for path in (ROOT / "peers").glob("*.py") if path.stem != "__init__")
pytestmark = pytest.mark.skipif(not ROOT.is_dir(),
                                reason="the benchmarks are in the repository only")


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    yield
    rooms = "common", "peers", "sliding"
    for name in [name for name in sys.modules if name.split(".")[0] in rooms]:
        del sys.modules[name]


@pytest.mark.parametrize("file", sorted(ROOT.rglob("*.py")),
                         ids=lambda file: str(file.relative_to(ROOT)))
def test_every_file_parses_and_says_what_it_is(file):
    assert ast.get_docstring(ast.parse(file.read_text()))


def test_every_program_is_in_the_table():
    assert set(importlib.import_module("work_precision").PROGRAMS.values()) == set(PEERS)


@pytest.mark.parametrize("motion", ["drive, gentle", "drive, lively", "disc"])
@pytest.mark.parametrize("peer", PEERS)
def test_programs_end_where_ideal_rolling_ends(peer, motion):
    """Exact ones to 1e-6 m, and simulators of contacts, which are coarse here, to half a metre,
    after one second of the same motion."""
    try:
        program = importlib.import_module(f"peers.{peer}")
    except ImportError as error:
        pytest.skip(f"{peer}: {error}")
    given = importlib.import_module("common.motions").MOTIONS[motion]
    place, took = program.run(given, 2e-3, 1.0)
    assert took.wall > 0
    contacts = peer.endswith(("contacts", "joints"))
    assert np.linalg.norm(place - given.end(1.0)) < (0.5 if contacts else 1e-6)


@pytest.mark.parametrize("series, n, nv, operations",
                         [("trailers", 2, 14, 600), ("wheels", 6, 12, 90),
                          ("dead_joints", 5, 8, 70)])
def test_generated_vehicles_load(series, n, nv, operations):
    """Locked joints leave the model, and wheels side by side nearly leave the equations."""
    text, options = getattr(importlib.import_module("common.generated"), series)(n)
    vehicle = nhmech.load(text, **options)
    assert vehicle.constrained.system.algebroid.nv == nv and len(vehicle.speeds) == 2
    assert importlib.import_module("scaling").operations(vehicle) <= operations


def test_a_goal_needs_two_steps():
    """One step that hits the end by chance is not taken for accuracy."""
    work = importlib.import_module("work_precision")
    rungs = [work.Rung(steps, error, 1.0, {})
             for steps, error in ((10, 0.5), (20, 0.001), (50, 0.3), (100, 0.009), (200, 0.004))]
    assert work.coarsest(rungs, 0.01) is rungs[3]
    assert work.coarsest(rungs[:2], 0.01) is None


class Program:
    """Ends at a distance of dt^2 times `factor`, after a tenth of a millisecond for each step,
    `dear` times."""

    TRIED = {"disc": [dict(factor=1.0, dear=10.0), dict(factor=4.0, dear=1.0),
                      dict(factor=1.0, dear=20.0), dict(factor=np.nan, dear=0.1)]}

    def run(self, motion, dt, duration, factor, dear):
        if dt > 0.4:
            raise ValueError("too coarse")
        took = importlib.import_module("common.timing").Spent()
        took.processor = took.wall = duration / dt * 1e-4 * dear
        return motion.end(duration) + [factor * dt ** 2, 0, 0], took


def test_the_settings_that_need_least_time_are_taken_with_the_largest_step_that_serves():
    """Twice the steps at a tenth of the price; a step between two rungs of the ladder;
    one that is not finite is no end."""
    work, disc = (importlib.import_module("work_precision"),
                  importlib.import_module("common.motions").MOTIONS["disc"])
    found = work.choose(Program(), disc)
    assert {rung.settings["factor"] for rung in found.values()} == {4.0} and set(found) == set(
        work.GOALS
    )
    for goal, limit in work.GOALS.items():
        rung, exact = found[goal], work.DURATION / (limit / 4) ** 0.5
        assert rung.error <= limit and exact <= rung.steps < 1.6 * exact
    assert work.climb(Program(), disc, 10, Program.TRIED["disc"][0]) is None


BENCHMARK = """
import sys
sys.path.insert(0, {root!r})
from common.report import aim, measured
print(measured(("", "cost [us]", "of"), [("a", 2.5, 3.0), ("b", 7.5, "-")], "one: two",
               aims={{"b": 5.0}}))
aim("rate [1/s]", 5.0, 4.0)
if {fails}:
    raise SystemExit(1)
"""


@pytest.mark.parametrize("fails", [False, True])
def test_all_benchmarks_make_one_table(fails, tmp_path):
    """Of tables and aims, with units; one that fails is named, and what it measured stays."""
    (tmp_path / "some.py").write_text(BENCHMARK.format(root=str(ROOT), fails=fails))
    done = subprocess.run([sys.executable, str(ROOT / "common" / "summary.py"), "--out",
                           str(tmp_path / "out"), str(tmp_path / "some.py")],
                          capture_output=True, text=True)
    rows = [re.split("  +", line) for line in done.stdout.splitlines() if "some: " in line]
    assert rows == [["some: one, a, cost", "2.5", "us"], ["some: one, a, of", "3"],
                    ["some: one, b, cost", "7.5", "us", "<= 5", "MISSED"],
                    ["some: rate", "5", "1/s", ">= 4", "met"]]
    assert "b" in (tmp_path / "out" / "some.txt").read_text()
    assert (done.returncode, "failed: " in done.stdout) == (int(fails), fails)


class Clocks:
    """Of a machine on which calls take time; that of the processor is read in jumps, as in a
    virtual machine whose host is busy."""

    def __init__(self, monkeypatch, jump: float):
        self.now, self._jump = 0.3 * jump, jump
        self.timing = importlib.import_module("common.timing")
        monkeypatch.setattr(self.timing, "perf_counter", lambda: self.now)
        monkeypatch.setattr(self.timing, "process_time", lambda: self.now // jump * jump)

    def work(self, seconds: float) -> None:
        self.now += seconds

    def measure(self, seconds: float):
        """Prepares for as long as it works, and does it three times."""
        self.work(3 * seconds)
        with self.timing.Spent(3) as took:
            self.work(3 * seconds)
        return took


@pytest.mark.parametrize("cost", [1e-6, 3e-4, 0.02, 0.7])
def test_a_clock_that_stands_still_and_jumps_is_no_matter(cost, monkeypatch):
    """Windows begin and end within a jump of 4 ms of what they should, and are 50 ms or longer."""
    clocks = Clocks(monkeypatch, jump=4e-3)
    for measured in (clocks.timing.seconds(lambda: clocks.work(cost)),
                     clocks.timing.median(
                         lambda: clocks.timing.seconds(lambda: clocks.work(cost)))):
        assert measured == pytest.approx(cost, rel=4e-3 / clocks.timing.ENOUGH)


def test_what_is_prepared_between_two_readings_does_not_count(monkeypatch):
    """With jumps that are shorter than what is measured, each reading is short of one at most."""
    clocks = Clocks(monkeypatch, jump=1e-6)
    found = clocks.timing.window(lambda: clocks.measure(1e-4))
    assert found == pytest.approx(1e-4, rel=1e-6 / 3e-4)


def test_a_clock_that_stands_still_for_good_is_an_error(monkeypatch):
    clocks = Clocks(monkeypatch, jump=1e9)
    with pytest.raises(RuntimeError, match="clock of the processor moved by 0 s"):
        clocks.timing.seconds(lambda: clocks.work(1e-3))


def test_benchmarks_read_no_clock_themselves():
    """All measure with the one stopwatch, those too whose code runs in another process."""
    clocks = re.compile(r"process_time|perf_counter|thread_time|timeit|RUSAGE_CHILDREN|os\.times")
    assert [str(file.relative_to(ROOT)) for file in ROOT.rglob("*.py")
            if clocks.search(file.read_text())] == ["common/timing.py"]


def test_medians_are_taken_in_turn_and_dear_functions_sit_out():
    calls = []
    values = iter([1.0, 9.0, 2.0])
    interleaved = importlib.import_module("common.timing").interleaved
    found = interleaved(
        {"dear": lambda: calls.append("dear") or next(values),
         "cheap": lambda: calls.append("cheap") or 3.0},
        rounds=3, enough=0.0)
    assert found == {"dear": 2.0, "cheap": 3.0} and calls == ["dear", "cheap"] * 3
    calls.clear()
    interleaved({"dear": lambda: calls.append("dear") or 1.0}, rounds=9, enough=0.0)
    assert len(calls) == 3


@pytest.mark.parametrize("name", sampled(FIXED, 2))
def test_orders_of_integrators(name):
    """On the sleigh, as the benchmark prints them for six systems."""
    made = importlib.import_module("integrators")
    assert made.order(made.CASES[0], name) == pytest.approx(made.SCHEMES[name].order, abs=0.1)


def test_the_order_of_their_peer():
    made = importlib.import_module("integrators")
    sleigh = made.CASES[0]
    errors = [made.peer_end(sleigh, dt) for dt in (0.04, 0.02)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("name, last", [("spinning car", 4e-6), ("turning skid steer", 1e-7)])
def test_wheels_that_slide_end_where_newtons_laws_say(name, last):
    """The slip turns as they slide; with half the step the error is a quarter."""
    motions = importlib.import_module("sliding_wheels").motions()
    motion, truth = next(pair for pair in motions if pair[0].name == name)
    run = importlib.import_module("sliding.in_nhmech").run
    error = importlib.import_module("sliding.motion").error
    errors = [error(run(motion, dt)[0], truth) for dt in (8e-3, 4e-3)]
    assert errors[1] < last
    assert errors[1] < 1e-8 or np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_solvers_of_the_contact_problem_are_given_the_same(monkeypatch):
    """Problems of sliding steps, which the step's own solver and, with enough iterations,
    Pinocchio's solve to 1e-9."""
    contact = importlib.import_module("contact_step")
    monkeypatch.setattr(contact, "STARTS", 1)
    given = contact.problems("ball")
    rows = {name: (worst, solved) for name, *_, worst, solved in contact.compare(given)}
    assert given and set(rows) == set(contact.SOLVERS)
    for name in ("ours (NumPy)", "PGS to 1e-12"):
        assert rows[name] == (pytest.approx(0, abs=1e-9), f"{len(given)}/{len(given)}")


def test_commands_that_are_measured_are_commands(tmp_path):
    """By their arguments; nothing runs."""
    from nhmech.cli import main
    (tmp_path / "run.npz").touch()
    for words in importlib.import_module("after_a_run").COMMANDS.values():
        name, *rest = words.format(folder=tmp_path).split()
        command = main.get_command(None, name)
        assert command.make_context(name, rest).params
