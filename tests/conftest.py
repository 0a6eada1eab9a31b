"""Fixtures of all tests: the reference cases, and the shipped robots."""

from __future__ import annotations

import os

# Before NumPy is imported, here and in child processes: all cores are taken by tests, and threads
# that wait for each other on them cost far more than small matrices and networks do.
for library in ("OPENBLAS", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import fcntl
import gc
import hashlib
import math
import pickle
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from random import Random

import casadi as ca
import pytest
from support import reference_case, shipped

from nhmech.cli import Commands
from nhmech.compile import compiled_function, loop as loops
from nhmech.compile.background import Build, begin_build
from nhmech.compile.compiler import find_compiler
from nhmech.mechanics import equations
from nhmech.simulation import pacing
from nhmech.simulation.simulator import Simulator
from nhmech.symbolic import simplify
from nhmech.vehicle.build import build

# So a shell starts what it puts in the background; some tests send Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Bytecode is kept, whatever the shell says: that of the tests, into which pytest has written its
# assertions, takes each process six seconds to make, and that of the package each child one.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, metavar="SEED",
                     help="run the files, and the tests of each, in an order of this seed's")


def pytest_collection_modifyitems(config, items):
    """No test needs another one. What the tests of a file share is made once all the same."""
    seed = config.getoption("--shuffle")
    if seed is None:
        return
    random = Random(seed)
    files: dict[Path, list] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    items[:] = [item for path in random.sample(list(files), len(files))
                for item in random.sample(files[path], len(files[path]))]


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """What collecting makes lives to the end: to look for garbage in it takes a third of the time
    of making it."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000)      # the tests make more garbage than most programs


def base_of_run(request, tmp_path_factory) -> Path:
    """A folder that all processes of this test run have."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(request.config, "workerinput") else base


@pytest.fixture(scope="session")
def kept_between_runs(request, tmp_path_factory):
    """Name -> a folder that is kept from run to run beside pytest's own cache; where there is none,
    or nobody may write to it, a folder that all processes of this run have."""
    def folder(name: str) -> Path:
        with suppress(OSError):
            if hasattr(request.config, "cache") and os.access(
                    found := request.config.cache.mkdir(name), os.W_OK):
                return found
        made = base_of_run(request, tmp_path_factory) / "kept" / name
        made.mkdir(parents=True, exist_ok=True)
        return made

    return folder


@pytest.fixture(scope="session", autouse=True)
def simplified_once(kept_between_runs):
    """Half of the time of all tests would go into simplifying the equations of the same robots over
    and over. `simplify` is a function of its graph alone, so what it made of one is kept, under the
    hash of the graph and of all code that had a part in it."""
    folder = kept_between_runs("simplified")
    rooms = Path(simplify.__file__).parent.glob("*.py")
    code = "".join(file.read_text() for file in sorted(rooms)) + ca.__version__
    compute = equations.simplify

    def simplified(function: ca.Function) -> ca.Function:
        graph = function.serialize()
        file = folder / hashlib.sha256((code + graph).encode()).hexdigest()
        if not file.is_file():
            part = file.with_name(f"{file.name}.{os.getpid()}")
            part.write_text(compute(function).serialize())
            part.replace(file)           # whole or not at all: other processes read it
        # the first time too: what was read back is written in other words than what was made
        return ca.Function.deserialize(file.read_text())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equations, "simplify", simplified)
        yield


VEHICLES = 24    # that are kept for other commands: some MB each


@pytest.fixture(scope="session", autouse=True)
def built_once():
    """Commands that are run in this process share their vehicles, as tests share those of
    `shipped`: a vehicle does not change, and is a function of its description, its ground and its
    numbers alone. Files are read and options are judged by each command anew. What runs within
    this fixture's context shares them too: pages of the documentation, examples."""
    kept, running, main = OrderedDict(), [], Commands.main

    def shared(description, ground, parameters=None, near=None, wrench_bodies=()):
        if not running or near is not None:
            return build(description, ground, parameters, near, wrench_bodies)
        numbers = parameters and (parameters.values, parameters.symbolic)
        key = pickle.dumps((description, ground, numbers, wrench_bodies))
        if key not in kept:
            kept[key] = build(description, ground, parameters, near, wrench_bodies)
        kept.move_to_end(key)
        while len(kept) > VEHICLES:
            kept.popitem(last=False)
        return kept[key]

    @contextmanager
    def sharing():
        running.append(True)
        try:
            yield
        finally:
            running.pop()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Commands, "main", sharing()(main))
        for module in ("load", "record", "friction"):
            patch.setattr(f"nhmech.vehicle.{module}.build", shared)
        yield sharing


@pytest.fixture(scope="session", autouse=True)
def few_moments(request):
    """A run of a test is judged and drawn at fewer moments than that of a user: each costs some 20
    ms. `make soak` has all of them."""
    if request.config.getoption("markexpr") == "soak":
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nhmech.cli.rolling.STATES", 20)
        patch.setattr("nhmech.view.judgement.STATES", 20)
        patch.setattr("nhmech.view.force_plots.STATES", 60)
        patch.setattr("nhmech.view.animation.MOST", 60)
        yield


LONG = 1000      # steps of a run from which a test waits for its code


@pytest.fixture(scope="session", autouse=True)
def no_compiler_in_the_background():
    """What a run gives, to rounding, must not depend on when a compiler was done: tests use what is
    in the cache, and wait for the code of long runs. `tests/test_background.py` undoes this."""
    run = Simulator.run

    @wraps(run)
    def waiting(self, duration, **options):
        is_long = isinstance(duration, (int, float)) and duration >= LONG * self.dt
        if is_long and not self._turn.locked() and not self.propagator.slides:
            self.atlas.chart.loop(build=True)
        return run(self, duration, **options)

    def built_at_once(*order):
        build = begin_build(*order)
        build.wait()
        return build

    def never_begun(source):
        return Build(source.code, find_compiler(), source.instructions)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "begin_library", never_begun)
        patch.setattr(compiled_function, "begin_build", built_at_once)
        patch.setattr(Simulator, "run", waiting)
        yield


@pytest.fixture(scope="session")
def make_once(request, tmp_path_factory):
    """(name, make) -> a folder that make(folder) filled, in whichever process of this test run came
    first; the others wait for it."""
    base = base_of_run(request, tmp_path_factory)

    def made(name: str, make: Callable[[Path], None]) -> Path:
        folder, done = base / name, base / f"{name}.done"
        with open(base / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                make(folder)
                done.touch()
        return folder

    return made


@pytest.fixture(autouse=True)
def nobody_pressed_ctrl_c(monkeypatch):
    """A test that sends Ctrl-C soon after another is not a second press."""
    monkeypatch.setattr(pacing, "_last_press", -math.inf)


@pytest.fixture(scope="session")
def case():
    """Name -> contents of a reference case."""
    return reference_case


@pytest.fixture(scope="session")
def vehicle():
    """(name, ground, speeds) -> a shipped robot, loaded once."""
    return shipped


@pytest.fixture
def private(tmp_path, monkeypatch):
    """A cache folder of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("NHMECH_CACHE", str(folder))
    return folder
