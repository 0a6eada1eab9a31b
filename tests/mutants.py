"""How many small wrong changes of the core the tests notice.

`python tests/mutants.py [-n COUNT] [--seed SEED] [ROOM | MODULE[:LINE] ...]` draws so many changes
by lot from all that can be made in the core (or in the rooms, modules and lines that are named),
each as likely as any other. Tests that come to the block of a change try it, cheap and particular
ones first, until one fails or those of all ROUNDS have: where the first of a file comes to the
place, the process forks, and its child goes on with the change through those of them in this file.
What runs when a module is imported, or while tests are collected, is judged by tests in a process
that has the change from the start. No file is changed. What takes much longer than unchanged counts
as noticed, for it hangs; what cannot be noticed is explained in `EQUIVALENT` and left out;
everything else that no test has noticed counts, reached or not.
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
from collections import defaultdict
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from mutants_places import Mutant, blocks_with, mutants, with_all_switches
from mutants_reach import (
    KEPT,
    PROJECT,
    ByFile,
    Kept,
    Pool,
    file_of,
    find_reach,
    fork,
    run_pytest,
)
from mutants_table import CORE, MODULES, TESTS
from scipy.stats import binomtest

ROUNDS = (1.5, 6.0, 16.0)    # [s] of processor that the tests of a round take unchanged
FRESH = (4.0, 15.0)          # of what has the change from the start
FEW = 0.03                   # [s] that any test takes at least
SLOWER, START = 4.0, 5.0     # who takes so much longer and [s] more hangs
IMPORT = 15.0                # [s] to start Python and to collect
MEMORY = 12 << 30            # [bytes] of addresses; unchanged the tests take 4 GiB
NOBODY = -1                  # the change that no place has
NOTICED, OVERSEEN = 1, 0     # codes with which a child ends
LIBRARIES = ("numpy", "scipy.linalg", "scipy.optimize", "scipy.integrate",
             "scipy.spatial.transform", "casadi", "sympy", "pinocchio", "lxml.etree",
             "click.testing", "rich.console", "rich.table", "rich.progress", "numpy.testing")


# -- which tests try a change ----------------------------------------------------------------------
class Choice:
    """Tests that come to a change, in the order in which they try it; whether they need it from the
    start; and how many of them have tried."""

    def __init__(self, mutant: Mutant, reach: dict[str, Kept]) -> None:
        seen = {test: one for kept in reach.values() for test, one in kept.tests.items()}
        self.at_start = mutant.at_import is not None
        if mutant.at_import is not None:
            users = {module: found for module in MODULES
                     if (found := blocks_with(module, mutant.at_import))}
            found = [test for test, one in seen.items()
                     if any(one.comes_to(module, of) for module, of in users.items())]
            if not found:      # what it defines is used at import alone
                found = [test for test, one in seen.items() if one.comes_to(mutant.module, None)]
        else:
            block = None if mutant.block is None else [mutant.block]
            found = [test for test, one in seen.items() if one.comes_to(mutant.module, block)]
            if not found:
                self.at_start = True
                found = [test for kept in reach.values() for test in kept.tests
                         if kept.collected.get(mutant.module, 0) >> (mutant.block or 0) & 1]
        self.cost = {test: seen[test].seconds + FEW for test in found}
        self.tests = in_turn(found, {
            test: self.cost[test] * sum(bits.bit_count() for bits in seen[test].bits.values())
            for test in found}, files_about(mutant.module, {file_of(test) for test in found}))
        self.tried = 0

    def next(self, budget: float) -> list[str]:
        """Those of the next round: at least one, if there is one left."""
        begin, used = self.tried, 0.0
        while self.tried < len(self.tests):
            used += self.cost[self.tests[self.tried]]
            if used > budget and self.tried > begin:
                break
            self.tried += 1
        return self.tests[begin:self.tried]

    def limit(self, tests: list[str]) -> float:
        """[s] of processor after which some of them hang."""
        return START + SLOWER * sum(self.cost[test] for test in tests)


def files_about(module: str, files: Iterable[str]) -> set[str]:
    """The files of tests that have the module's name, or import from it."""
    name = module.rpartition("/")[2]
    texts = {file: path.read_text(encoding="utf-8") for file in files
             if (path := PROJECT / file).is_file()}
    return {file for file, text in texts.items()
            if Path(file).stem == f"test_{name}" or f".{name} import " in text}


def in_turn(tests: list[str], price: dict[str, float], first: Collection[str] = ()) -> list[str]:
    """The best test of each file, then the second of each, and so on; those of files that come
    first before all others."""
    of: dict[str, int] = defaultdict(int)
    places = {}
    for test in sorted(tests, key=lambda test: (price[test], test)):
        places[test] = of[file_of(test)]
        of[file_of(test)] += 1
    return sorted(tests, key=lambda test: (file_of(test) not in first, places[test], price[test],
                                           test))


# -- changes that are tried in the process that has come to them -----------------------------------
class Trial(ByFile):
    """Runs chosen tests, with a child for each change that one comes to; writes lines of JSON."""

    def __init__(self, folder: Path, jobs: int, drawn: dict[int, Mutant],
                 choices: dict[int, Choice]) -> None:
        super().__init__(folder, jobs)
        self.drawn, self.choices, self.out = drawn, choices, folder / "tried"
        self.shown = os.fdopen(os.dup(2), "w")
        self.open: set[int] = set()
        self.forked = ""            # the test that has last been left to a child as well
        self.process, self.active = 0, None
        self.plan: dict[str, set[int]] = {}
        builtins._mutants_changed = self.changed   # type: ignore[attr-defined]

    def run_files(self) -> None:
        left = {k for k, choice in self.choices.items() if not choice.at_start}
        for budget in ROUNDS:
            plans: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
            for k in sorted(left):
                for test in self.choices[k].next(budget):
                    plans[file_of(test)][test].add(k)
            print(f"{len(left)} changes, tests of {len(plans)} files", file=self.shown, flush=True)
            for file, plan in plans.items():
                self.start(lambda file=file, plan=plan: self.try_file(file, plan))
            self.pool.end()
            said = read(self.out)
            again = dict.fromkeys(said.doubts, {NOBODY})
            for file in {file_of(test) for test in again}:
                self.start(lambda file=file, again=again: self.try_file(file, again))
            for file, k in said.astray & {(file, k) for file, plan in plans.items()
                                          for k in left.difference(said.noticed)
                                          if any(k in of for of in plan.values())}:
                self.start(lambda file=file, k=k: self.try_file(file, plans[file], k))
            self.pool.end()
            left.difference_update(read(self.out).noticed)

    def try_file(self, file: str, plan: dict[str, set[int]], active: int | None = None) -> int:
        """Runs the tests of a plan; with a change from the start if one is active."""
        self.process, self.plan, self.active = os.getpid(), plan, active
        self.open = set().union(*plan.values()).difference(read(self.out).noticed)
        if active is not None:
            self.begin(active)
        self.simplifies = "symbolic" in {self.drawn[k].room for k in self.open & {*self.drawn}}
        items = [item for item in self.files[file] if item.nodeid in plan]
        for item, following in zip(items, [*items[1:], None]):
            if (self.open if self.active is None else {self.active}) & plan[item.nodeid]:
                self.run_item(item, following)
        if self.active is None and self.open:
            self.say(astray=sorted(self.open), file=file)
        return OVERSEEN

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        yield
        if fixturedef.argname == "simplified_once" and self.simplifies:
            simplify_always()

    def changed(self, k: int) -> bool:
        if self.active is not None:
            return self.active == k
        if (k not in self.open or os.getpid() != self.process or not self.test
                or threading.current_thread() is not threading.main_thread()):
            return False
        self.open.discard(k)
        self.forked = self.test
        if not (pid := os.fork()):
            self.active = k
            self.begin(k)
            return True
        status = wait_for(pid)
        if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in (NOTICED, OVERSEEN):
            self.say(noticed=k, test=self.test)
        return False

    def begin(self, k: int) -> None:
        restrict(self.choices[k].limit([test for test, of in self.plan.items() if k in of]))
        keep_apart(self.drawn[k])

    def say(self, **what: object) -> None:
        with open(self.out, "a") as out:
            print(json.dumps(what), file=out)

    def pytest_runtest_logreport(self, report):
        if report.failed and self.active is None:
            self.say(**{"doubt" if self.test == self.forked else "fails": self.test})
        elif report.failed:
            self.say(noticed=self.active, test=self.test)
            print(f"noticed      {self.drawn[self.active]}\n             by {self.test}",
                  file=self.shown, flush=True)
            os._exit(NOTICED)


class Said:
    """What a trial has said so far."""

    def __init__(self) -> None:
        self.noticed: dict[int, str] = {}
        self.failing: set[str] = set()
        self.doubts: set[str] = set()                  # that failed beside a child of theirs
        self.astray: set[tuple[str, int]] = set()      # a file in which nothing was forked for it


def read(out: Path) -> Said:
    said = Said()
    for line in out.read_text().splitlines() if out.is_file() else ():
        one = json.loads(line)
        if "noticed" in one:
            said.noticed.setdefault(one["noticed"], one["test"])
        elif "fails" in one:
            said.failing.add(one["fails"])
        elif "doubt" in one:
            said.doubts.add(one["doubt"])
        else:
            said.astray.update((one["file"], k) for k in one["astray"])
    said.noticed = {k: test for k, test in said.noticed.items() if test not in said.failing}
    return said


def restrict(seconds: float) -> None:
    """Of this process, that ends together with all that it starts."""
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(20 * seconds))          # what waits uses no processor


def wait_for(pid: int) -> int:
    """The status with which a process has ended; what it left behind is ended as well."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def keep_apart(mutant: Mutant) -> None:
    """What changed code makes, nobody else may find."""
    if mutant.room == "symbolic":
        simplify_always()
    if mutant.room == "compile" and os.environ["NHMECH_CACHE"] == str(KEPT):
        folder = Path(tempfile.mkdtemp(prefix="mutant-",
                                       dir=os.environ["PYTEST_DEBUG_TEMPROOT"]))
        for file in KEPT.iterdir():
            (folder / file.name).symlink_to(file)
        os.environ["NHMECH_CACHE"] = str(folder)


def simplify_always() -> None:
    """What `simplified_once` of tests/conftest.py keeps hides changes of what simplifies."""
    equations = importlib.import_module("nhmech.mechanics.equations")
    equations.simplify = importlib.import_module("nhmech.symbolic.simplify").simplify


# -- changes that hold from the start --------------------------------------------------------------
class Chosen:
    """The part of pytest that runs chosen tests alone."""

    def __init__(self, tests: list[str]) -> None:
        self.tests = {*tests}

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid in self.tests]


def try_from_start(k: int, mutant: Mutant, choice: Choice, folder: Path) -> int:
    """Runs tests with a change in processes of their own, until one fails."""
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
    for number, budget in enumerate(FRESH):
        if not (tests := choice.next(budget)):
            break

        def work(number=number, tests=tests) -> int:
            restrict(IMPORT + choice.limit(tests))
            builtins._mutants_changed = lambda other: other == k   # type: ignore[attr-defined]
            if mutant.room == "compile":
                keep_apart(mutant)
            options = ["-p", "no:cacheprovider"] if mutant.room == "symbolic" else []
            return run_pytest(Chosen(tests), with_all_switches({k: mutant}),
                              ["-x", *options, *sorted({file_of(test) for test in tests})],
                              folder / f"start-{k}-{number}.log")

        if wait_for(fork(work)) not in (0, pytest.ExitCode.NO_TESTS_COLLECTED << 8):
            with open(folder / "tried", "a") as out:
                print(json.dumps({"noticed": k, "test": "a process that has it from the start"}),
                      file=out)
            break
    return 0


# -- what is drawn, and what becomes of it ---------------------------------------------------------
def draw(wanted: list[str], count: int, seed: int) -> tuple[list[Mutant], int]:
    """So many of all mutants of ROOM, MODULE or MODULE:LINE, and how many there are. Which are
    drawn depends on what each of them says: a line elsewhere in the code changes no lot."""
    lots: dict[str, Mutant] = {}
    for one in wanted:
        place, _, line = one.partition(":")
        for module in [name for name in MODULES if name.startswith(f"{place}/")] or [place]:
            for mutant in mutants(module):
                name = f"{module} {mutant.says} {mutant.change}"
                while name in lots:
                    name += " again"
                if not line or mutant.line == int(line):
                    lots[name] = mutant
    by_lot = sorted(lots, key=lambda name: random.Random(f"{seed} {name}").random())
    return [lots[name] for name in by_lot[:count]], len(lots)


def judge(drawn: dict[int, Mutant], names: list[str], jobs: int) -> tuple[Said, dict[int, Choice]]:
    """What has become of each change."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reach = find_reach([f"tests/test_{name}.py" for name in names], jobs, folder)
        choices = {k: Choice(mutant, reach) for k, mutant in drawn.items()}
        files = sorted({file_of(test) for choice in choices.values() for test in choice.tests
                        if not choice.at_start})
        if files:
            os.waitpid(fork(lambda: run_pytest(
                Trial(folder, jobs, drawn, choices), with_all_switches(drawn), files,
                folder / "trial.log")), 0)
        pool = Pool(jobs)
        for k, choice in choices.items():
            if choice.at_start:
                pool.start(lambda k=k, choice=choice: try_from_start(k, drawn[k], choice, folder))
        pool.end()
        return read(folder / "tried"), choices


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", "--count", type=int, default=100, help="how many changes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--tests", nargs="+", default=TESTS, metavar="TEST",
                        help="run tests/test_TEST.py alone")
    parser.add_argument("rooms", nargs="*", default=CORE,
                        metavar="ROOM or MODULE[:LINE]")
    given = parser.parse_args()
    os.chdir(PROJECT)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["PYTHONPATH"] = str(PROJECT)
    os.environ["NHMECH_CACHE"] = str(KEPT)
    sys.path.insert(0, str(PROJECT))
    KEPT.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in LIBRARIES:
        importlib.import_module(name)
    every, possible = draw(given.rooms, given.count, given.seed)
    drawn = dict(enumerate(mutant for mutant in every if not mutant.reason))
    said, choices = judge(drawn, given.tests, given.jobs)
    for test in sorted(said.failing):
        print(f"fails without any change: {test}", file=sys.stderr)
    for k, mutant in drawn.items():
        if k not in said.noticed:
            choice = choices[k]
            for budget in FRESH if choice.at_start else ROUNDS:     # as the other processes did
                choice.next(budget)
            print(f"not noticed  {mutant}\n             {mutant.says}\n             by "
                  f"{choice.tried} of {len(choice.tests)} tests that come to it")
    print(f"{date.today()}, seed {given.seed}: {len(every)} of {possible} changes by lot, of which "
          f"{len(every) - len(drawn)} have no effect")
    for room in CORE:
        show(room, [k in said.noticed for k, mutant in drawn.items() if mutant.room == room])
    show("all", [k in said.noticed for k in drawn])
    return 0


def show(room: str, seen: list[bool]) -> None:
    """How many were noticed, and between which shares of all that of all changes is, at 95 %."""
    if seen:
        found = binomtest(sum(seen), len(seen))
        low, high = 100 * np.array(found.proportion_ci())
        print(f"{room:12}{sum(seen):4} of {len(seen):4} noticed  {100 * found.statistic:5.1f} %  "
              f"({low:.1f} to {high:.1f} %)")


if __name__ == "__main__":
    sys.exit(main())
