"""How many small wrong changes of the core the tests notice.

`python tests/mutants.py [-n COUNT] [--seed SEED] [ROOM | MODULE[:LINE] ...]` draws so many changes
of each room of the core by lot (or of those that are named, of modules or of one line), and runs
the tests once. Where a test comes to the place of a change, the process forks: its child goes on
with the change to the end of the test, and for a while to the tests after it in the same file;
what fails there has noticed it. So nothing is made anew that was there before a change has its
place. What runs when a module is imported is judged by quick tests that run what it defines, in a
process that has the change from the start. No file is changed. What takes much longer than
unchanged counts as noticed, for it hangs; what cannot be noticed is explained in `EQUIVALENT` and
left out.
"""

from __future__ import annotations

import argparse
import builtins
import importlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from mutants_places import Finder, Mutant, mutants, with_all_switches
from mutants_table import CORE, MODULES, PACKAGE, TESTS

ENOUGH = 2.0       # [s] of processor of all children of a change, after which it is left over
LIMIT = 8.0        # [s] of processor of one test with a change
SLOWER = 4.0       # how much slower than unchanged is no endless loop
START = 10.0       # [s] to import and to load robots
BUDGET = 4.0       # [s] of processor of the tests of what runs at import, as they take without it
FILES = 4          # they are in
MEMORY = 12 << 30  # [bytes] of addresses; unchanged the tests take 4 GiB
PROJECT = PACKAGE.parent
KEPT = PROJECT / ".pytest_cache" / "mutants"      # compiled code, kept from run to run
NOTICED, OVERSEEN = 1, 0                          # codes with which a child ends
LIBRARIES = ("numpy", "scipy.linalg", "scipy.optimize", "scipy.integrate",
             "scipy.spatial.transform", "casadi", "sympy", "pinocchio", "lxml.etree",
             "click.testing", "rich.console", "rich.table", "rich.progress", "numpy.testing")


class Pace(NamedTuple):
    """How much of the tests is run: cases of a test with arguments; and [s] of processor for which
    a child goes on to the tests after the one that came to the change."""

    instances: int = 2
    after: float = 0.5


# -- one run of the tests, with a child for each change that a test comes to -----------------------
class Run:
    """The part of pytest that forks where a test comes to a change; writes lines of JSON."""

    def __init__(self, drawn: dict[int, Mutant], out: Path, pace: Pace, active: int | None):
        self.drawn, self.pace, self.active = drawn, pace, active
        self.out, self.shown = out, os.fdopen(os.dup(2), "w")
        self.open = {k for k, mutant in drawn.items() if mutant.at_import is None}
        self.process, self.is_child = os.getpid(), False
        self.test, self.file = "", ""
        self.tried: set[int] = set()
        self.spent: dict[int, float] = defaultdict(float)
        self.by_now: dict[int, float | None] = {}     # noticed, or too slow since this moment
        self.reached: set[str] = set()
        self.failed = False

    def changed(self, k: int) -> bool:
        if self.active is not None:
            return self.active == k
        if k not in self.open or k in self.tried or not self.test:
            return False
        if os.getpid() != self.process or threading.current_thread() is not threading.main_thread():
            return False
        self.tried.add(k)
        before, spent = time.process_time(), spent_by_children()
        if not (pid := os.fork()):
            self.active, self.is_child = k, True
            restrict(LIMIT)
            keep_apart(self.drawn[k])
            return True
        status = wait_for(pid)
        self.spent[k] += spent_by_children() - spent
        if self.spent[k] > ENOUGH:
            self.open.discard(k)
        if status:
            ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            slow = ended in (signal.SIGXCPU, signal.SIGALRM)
            self.by_now[k] = before if slow else None
        return False

    def entered(self, label: str) -> None:
        self.reached.add(label)

    def say(self, **what: object) -> None:
        with open(self.out, "a") as out:
            print(json.dumps(what), file=out)

    def pytest_sessionstart(self, session):
        self.session = session

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        """Of a test with many arguments a few, spread over them."""
        cases = defaultdict(list)
        for item in items:
            cases[item.nodeid.partition("[")[0]].append(item)
        most = self.pace.instances
        kept = {some[i * len(some) // most] if len(some) > most else some[i]
                for some in cases.values() for i in range(min(most, len(some)))}
        items[:] = [item for item in items if item in kept]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        file = item.nodeid.partition("::")[0]
        if self.is_child and (file != self.file or time.process_time() > self.pace.after):
            os._exit(OVERSEEN)
        self.test, self.file = item.nodeid, file
        self.tried, self.by_now, self.reached, self.failed = set(), {}, set(), False
        began = time.process_time()
        yield
        if self.active is None:
            self.judge(time.process_time() - began)
        self.test = ""

    def judge(self, seconds: float) -> None:
        """What has failed with a change has noticed it, if it holds without."""
        if self.failed:
            self.say(fails=self.test)
            return
        self.say(test=self.test, seconds=seconds, reached=sorted(self.reached),
                 tried=sorted(self.tried))
        for k, since in self.by_now.items():
            if since is None or SLOWER * (time.process_time() - since) < LIMIT:
                self.open.discard(k)
                self.say(noticed=k, test=self.test)
                print(f"noticed      {self.drawn[k]}\n             by {self.test}",
                      file=self.shown, flush=True)
        if not self.open and all(mutant.at_import is None for mutant in self.drawn.values()):
            self.session.shouldstop = "all were noticed"

    def pytest_runtest_logreport(self, report):
        self.failed |= report.failed
        if self.is_child and report.failed:
            os._exit(NOTICED)


def restrict(seconds: float) -> None:
    """Of this process, that ends together with all that it starts."""
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(30 * seconds))          # what waits uses no processor


def spent_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wait_for(pid: int) -> int:
    """The status with which a process has ended; what it left behind is ended as well."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def keep_apart(mutant: Mutant) -> None:
    """What changed code makes, nobody else may find."""
    if mutant.room == "symbolic":            # not from `simplified_once` of tests/conftest.py
        equations = importlib.import_module("nhmech.mechanics.equations")
        equations.simplify = importlib.import_module("nhmech.symbolic.simplify").simplify
    if mutant.room == "compile" and os.environ["NHMECH_CACHE"] == str(KEPT):
        folder = Path(tempfile.mkdtemp(prefix="mutant-", dir=KEPT.parent))
        for file in KEPT.iterdir():
            (folder / file.name).symlink_to(file)
        os.environ["NHMECH_CACHE"] = str(folder)


def form_equations_always() -> None:
    """Equations that are kept hide changes of what forms them."""
    kept = importlib.import_module("nhmech.mechanics.kept_equations")
    found = kept.private_folder
    kept.private_folder = lambda: (folder := found())._replace(
        temporary=folder.temporary or folder.path == KEPT)


def start(drawn: dict[int, Mutant], finder: Finder, tests: list[str], out: Path, pace: Pace,
          active: int | None = None, seconds: float = 0.0) -> int:
    """The status of a process that runs tests: all of them, or with one change up to the first that
    fails."""
    if pid := os.fork():
        try:
            return wait_for(pid)
        except KeyboardInterrupt:
            os.kill(pid, signal.SIGKILL)
            raise
    try:
        if active is None:
            os.setpgid(0, 0)
        else:
            restrict(seconds)
            if drawn[active].room == "compile":
                keep_apart(drawn[active])
        run = Run(drawn, out, pace, active)
        with open(out.with_suffix(".log"), "w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        builtins._changed, builtins._entered = run.changed, run.entered   # type: ignore
        sys.meta_path.insert(0, finder)
        form_equations_always()
        fresh = any(mutant.room == "symbolic" for mutant in drawn.values())
        code = pytest.main(["-q", "--capture=sys", "-p", "no:randomly", "-p", "no:xdist", "-m",
                            "not soak and not browser", *(["-x"] if active is not None else []),
                            *(["-p", "no:cacheprovider"] if fresh else []), *tests], plugins=[run])
    except BaseException:
        code = 70
    os._exit(int(code))


# -- what is drawn, and what becomes of it ---------------------------------------------------------
def draw(wanted: str, count: int, seed: int) -> list[Mutant]:
    """Mutants of ROOM, MODULE or MODULE:LINE, in the order of their places."""
    module, _, line = wanted.partition(":")
    every = [mutant for name in ([one for one in MODULES if one.startswith(f"{module}/")]
                                 if module in CORE else [module])
             for mutant in mutants(name) if not line or mutant.line == int(line)]
    chosen = random.Random(f"{seed} {wanted}").sample(range(len(every)), min(count, len(every)))
    return [every[i] for i in sorted(chosen)]


class Shown:
    """What a run of the tests has shown."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.breadth: dict[str, int] = {}
        self.of: dict[str, list[str]] = defaultdict(list)       # label -> tests
        self.tried: dict[int, list[str]] = defaultdict(list)
        self.noticed: dict[int, str] = {}

    def read(self, out: Path) -> None:
        for line in out.read_text().splitlines():
            said = json.loads(line)
            if "noticed" in said:
                self.noticed[said["noticed"]] = said["test"]
            elif "test" in said:
                self.seconds[said["test"]] = said["seconds"]
                self.breadth[said["test"]] = len(said["reached"])
                for label in said["reached"]:
                    self.of[label].append(said["test"])
                for k in said["tried"]:
                    self.tried[k].append(said["test"])
            else:
                print(f"fails without any change: {said['fails']}", file=sys.stderr)

    def fitting(self, mutant: Mutant) -> list[str]:
        """Quick tests of few files, that run what a change defines or at least its module."""
        chosen: list[str] = []
        for test in sorted(self.of[str(mutant)] or self.of[mutant.module], key=lambda test: (
                self.seconds[test] + 0.05 * self.breadth[test], test)):
            files = {one.partition("::")[0] for one in [*chosen, test]}
            if len(files) <= FILES and sum(
                    self.seconds[one] for one in [*chosen, test]) <= BUDGET:
                chosen.append(test)
        return chosen


def judge(drawn: dict[int, Mutant], names: list[str], pace: Pace) -> Iterator[tuple[int, str]]:
    """Each change as it is done, and the test that has noticed it."""
    finder, shown = with_all_switches(drawn), Shown()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "run")
        start(drawn, finder, [f"tests/test_{name}.py" for name in names], out, pace)
        shown.read(out)
        yield from shown.noticed.items()
        for k, mutant in drawn.items():
            fitting = shown.fitting(mutant) if mutant.at_import is not None else []
            seconds = START + SLOWER * sum(shown.seconds[test] for test in fitting)
            if fitting and start(drawn, finder, fitting, out, Pace(10**6), k, seconds):
                yield k, "with the change from the start"
            elif k not in shown.noticed:
                yield k, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", "--count", type=int, default=40, help="changes of each room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--instances", type=int, default=2, help="cases of one test that are run")
    parser.add_argument("--after", type=float, default=0.5,
                        help="seconds for which a change is followed from test to test")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="TEST",
                        help="run tests/test_TEST.py alone")
    parser.add_argument("rooms", nargs="*", default=CORE, metavar="ROOM or MODULE[:LINE]")
    given = parser.parse_args()
    os.chdir(PROJECT)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["PYTHONPATH"] = str(PROJECT)
    os.environ["NHMECH_CACHE"] = str(KEPT)
    sys.path.insert(0, str(PROJECT))
    KEPT.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in LIBRARIES:
        importlib.import_module(name)
    every = [mutant for room in given.rooms for mutant in draw(room, given.count, given.seed)]
    drawn = dict(enumerate(mutant for mutant in every if not mutant.reason))
    score: dict[str, dict[int, bool]] = defaultdict(dict)
    try:
        for k, by in judge(drawn, given.tests, Pace(given.instances, given.after)):
            score[drawn[k].room][k] = bool(by)
            if not by:
                print(f"not noticed  {drawn[k]}\n             {drawn[k].says}", flush=True)
    finally:
        for room in dict.fromkeys(mutant.room for mutant in drawn.values()):
            show(room, [*score[room].values()])
        show("all", [seen for room in score.values() for seen in room.values()])
        print(f"{len(every) - len(drawn)} more have no effect")
    return 0


def show(room: str, seen: list[bool]) -> None:
    print(f"{room:24}{sum(seen):4} of {len(seen):4} changes were noticed "
          f"({100 * sum(seen) / max(len(seen), 1):.1f} %)")


if __name__ == "__main__":
    sys.exit(main())
