"""How many small wrong changes of the core the tests notice.

`python tests/mutants.py [-n COUNT] [-j JOBS] [--seed SEED] [MODULE[:LINE] ...]` changes each module
of the core (or those that are named, or one of their lines) in so many places drawn by lot, one
after the other; runs the tests that reach the place, those first that noticed something before,
then the quick ones; and prints each change that was not noticed, and the score of each room. Which
tests reach which place is measured before (`--measure [TEST ...]`, some ten minutes the first time
and seconds later). No file is changed: a process in which only libraries are loaded forks, and the
child imports the changed module. What takes much longer than unchanged counts as noticed, for it
hangs. What cannot be noticed is explained in `EQUIVALENT` and left out.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

import pytest
from mutants_reach import MARKS, PROJECT, Finder, Reach, blocks, measure_all, path_of
from mutants_table import EQUIVALENT, MODULES, TESTS

BUDGET = 30.0      # [s] of processor of the tests of one change, as they take without it
SOON, FILES = 4.0, 4      # [s] of processor of those that go first, and files they are in
START, SLOWER = 20.0, 4.0     # [s] to import and to load robots; how much slower is no endless loop
LIMIT = START + SLOWER * BUDGET
MEMORY = 12 << 30  # [bytes] of addresses; unchanged they take 4 GiB
KEPT = PROJECT / ".pytest_cache" / "mutants.json"      # what earlier runs learned of the tests
LIBRARIES = ("numpy", "scipy.linalg", "scipy.optimize", "scipy.integrate",
             "scipy.spatial.transform", "casadi", "sympy", "pinocchio", "lxml.etree",
             "click.testing", "rich.console", "rich.table", "rich.progress", "numpy.testing")

COMPARISONS = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
               ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
               ast.In: ast.NotIn, ast.NotIn: ast.In}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "argmax": "argmin",
         "argmin": "argmax", "sin": "cos", "cos": "sin"}
# functions on which no result depends: what they say is for people
UNTOUCHED = ("__repr__", "__str__")
# keywords and options on which only words and times depend
OPTIONS = ("repr", "simplified", "cse", "strict", "hermitian")


# -- changes: node -> the nodes that may stand in its place ----------------------------------------
def _compare(node: ast.Compare) -> Iterator[ast.AST]:
    for i, operator in enumerate(node.ops):
        new = copy.deepcopy(node)
        new.ops[i] = COMPARISONS[type(operator)]()
        yield new


def _operate(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in OPERATORS:
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)


def _augment(node: ast.AugAssign) -> Iterator[ast.AST]:
    if type(node.op) in OPERATORS:
        yield ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)


def _drop_sign(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, (ast.USub, ast.Not)):
        yield node.operand


def _combine(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def _number(node: ast.Constant) -> Iterator[ast.AST]:
    """A hundredth more, of a tolerance a million times as much or as little; of a whole number one
    more."""
    if type(node.value) is float and node.value:
        size = abs(node.value)
        yield ast.Constant(node.value * (1e6 if size <= 1e-4 else 1e-6 if size >= 1e4 else 1.01))
    elif type(node.value) is int:
        yield ast.Constant(node.value + 1)
    elif type(node.value) is bool:
        yield ast.Constant(not node.value)


def _call(node: ast.Call) -> Iterator[ast.AST]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in CALLS:
        new = copy.deepcopy(node)
        setattr(new.func, "attr" if isinstance(new.func, ast.Attribute) else "id", CALLS[name])
        yield new


def _drop(node: ast.stmt) -> Iterator[ast.AST]:
    yield ast.Pass()


CHANGES: dict[type, Callable[..., Iterator[ast.AST]]] = {
    ast.Compare: _compare, ast.BinOp: _operate, ast.AugAssign: _augment, ast.UnaryOp: _drop_sign,
    ast.BoolOp: _combine, ast.Constant: _number, ast.Call: _call, ast.Raise: _drop, ast.Expr: _drop}


@dataclass(frozen=True)
class Mutant:
    """A module with one change: the `place`-th of all."""

    module: str
    place: int
    line: int
    says: str          # the line of the source
    change: str
    block: str         # the innermost one around it; none for what runs at import

    def __str__(self) -> str:
        return f"nhmech/{self.module}.py:{self.line}: {self.change}"

    @property
    def reason(self) -> str:
        """Why nothing can notice it, if that is known."""
        return EQUIVALENT.get((self.module, self.says, self.change), "")

    def compile(self) -> CodeType:
        """The changed module."""
        file = path_of(self.module)
        tree = ast.parse(file.read_text())
        for place, (node, new, put) in enumerate(_changes(tree)):
            if place == self.place:
                put(ast.copy_location(new, node))
                return compile(ast.fix_missing_locations(tree), str(file), "exec")
        raise IndexError(self.place)


def mutants(module: str) -> list[Mutant]:
    """All of a module."""
    text = path_of(module).read_text()
    lines, tree = text.splitlines(), ast.parse(text)
    around = blocks(tree)
    return [Mutant(module, place, node.lineno, lines[node.lineno - 1].strip(),
                   f"{_short(node)} -> {_short(new)}",
                   next((block.name for block in reversed(around)
                         if block.has(node.lineno, node.col_offset)), ""))
            for place, (node, new, _) in enumerate(_changes(tree))]


def _changes(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, Callable[[ast.AST], None]]]:
    """A node, what may stand in its place, and what puts it there."""
    for node, parent, name, index in _places(tree):
        def put(new: ast.AST, parent=parent, name=name, index=index) -> None:
            if index is None:
                setattr(parent, name, new)
            else:
                getattr(parent, name)[index] = new

        for new in CHANGES[type(node)](node):
            yield node, new, put


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, str, int | None]]:
    """Nodes that may be changed, with parent, field and place in it; no annotation, docstring or
    text of a message is among them."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr):
                continue
            if isinstance(node, ast.FunctionDef) and node.name in UNTOUCHED:
                continue
            if isinstance(node, ast.keyword) and node.arg in OPTIONS:
                continue
            if isinstance(tree, ast.Call) and name == "args" and _is_any(tree, index):
                continue
            if isinstance(node, ast.Dict) and any(
                    isinstance(key, ast.Constant) and key.value in OPTIONS for key in node.keys):
                continue
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if type(node) in CHANGES and not is_text:
                yield node, tree, name, index
            if not isinstance(node, ast.Raise):
                yield from _places(node)


def _is_any(call: ast.Call, index: int | None) -> bool:
    """Whether another argument would do as well: the seed of a sample, whose points are any, and
    the width of a matrix without rows, `SX(0, 1)`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name == "default_rng" or (
        name == "SX" and index == 1 and ast.unparse(call.args[0]) == "0")


def _short(node: ast.AST) -> str:
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= 60 else f"{line[:57]}..."


# -- runs ------------------------------------------------------------------------------------------
class Noticed(dict[str, list[str]]):
    """Module -> the tests that noticed a change of it, in this run or an earlier one."""

    @classmethod
    def read(cls) -> Noticed:
        return cls(json.loads(KEPT.read_text()) if KEPT.is_file() else {})

    def write(self) -> None:
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(self))

    def add(self, module: str, test: str) -> None:
        if test not in self.setdefault(module, []):
            self[module].append(test)


class Watch:
    """The part of pytest that runs tests in the order of a list, and writes down which fails."""

    def __init__(self, tests: list[str], file: Path):
        self.order, self.file = {test: number for number, test in enumerate(tests)}, file

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted((item for item in items if item.nodeid in self.order),
                          key=lambda item: self.order[item.nodeid])

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.file.is_file():
            self.file.write_text(report.nodeid)


def start(tests: list[str], mutant: Mutant | None, file: Path, limit: float) -> int:
    """The number of a process that runs tests up to the first that fails, with the change."""
    if pid := os.fork():
        return pid
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(int(10 * limit))          # what waits uses no processor
        with open(file.with_suffix(".log"), "w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        if mutant is not None:
            sys.meta_path.insert(0, Finder({mutant.module: mutant.compile}))
        code = pytest.main(["-x", "-q", "-p", "no:randomly", "-m", MARKS,
                            *dict.fromkeys(test.partition("::")[0] for test in tests)],
                           plugins=[Watch(tests, file)])
    except BaseException:
        code = 70
    os._exit(int(code))


def kill(pid: int) -> None:
    """Ends a process, and what it left behind."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


@dataclass
class Trial:
    """A mutant, and the tests that have not run with it yet."""

    mutant: Mutant
    tests: list[str]
    first: bool = True

    def take(self, seconds: dict[str, float], unsound: set[str]) -> list[str]:
        """The next tests: few, quick ones of few files before all others."""
        chosen: list[str] = []
        files: set[str] = set()
        total = 0.0
        for test in self.tests:
            file, total = test.partition("::")[0], total + seconds[test]
            if total > BUDGET and chosen:
                break
            fits = total <= SOON and len(files | {file}) <= FILES
            if test not in unsound and (not self.first or fits or not chosen):
                chosen.append(test)
                files.add(file)
        taken = {*chosen, *unsound}
        self.tests = [test for test in self.tests if test not in taken] if self.first else []
        self.first = False
        return chosen


def judge(drawn: list[Mutant], jobs: int, reach: Reach, noticed: Noticed,
          ) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant as it is done, and whether it was noticed. A test that does not hold without a
    change notices nothing: it is left out, and the mutant judged again."""
    sound: dict[str, bool] = {}

    def begin(mutant: Mutant) -> Trial:
        quick = reach.covering(mutant.module, mutant.block)
        return Trial(mutant, sorted(quick, key=lambda t: t not in noticed.get(mutant.module, ())))

    pending, running = [*map(begin, drawn[::-1])], {}
    with tempfile.TemporaryDirectory() as base, ExitStack() as stack:
        stack.callback(lambda: [kill(pid) for pid in running])
        while pending or running:
            while pending and len(running) < jobs:
                trial = pending.pop()
                tests = trial.take(reach.seconds, {t for t, holds in sound.items() if not holds})
                if not tests:
                    yield trial.mutant, False
                    continue
                file = Path(tempfile.mkdtemp(dir=base), "failed")
                limit = START + SLOWER * sum(reach.seconds[test] for test in tests)
                running[start(tests, trial.mutant, file, limit)] = trial, file
            if not running:
                continue
            pid = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
            kill(pid)
            _, status = os.waitpid(pid, 0)
            trial, file = running.pop(pid)
            failed = file.read_text() if file.is_file() else ""
            if status and failed in reach.seconds and failed not in sound:
                clean = start([failed], None, file.with_name("clean"), 3 * LIMIT)
                sound[failed] = not os.waitpid(clean, 0)[1]
            if not status:
                pending.append(trial)               # with the tests that are left
            elif sound.get(failed, True):
                noticed.add(trial.mutant.module, failed)
                yield trial.mutant, True
            else:
                print(f"fails without any change: {failed}", file=sys.stderr)
                pending.append(begin(trial.mutant))


def draw(wanted: str, count: int, seed: int) -> list[Mutant]:
    """Mutants of MODULE or MODULE:LINE."""
    module, _, line = wanted.partition(":")
    every = [mutant for mutant in mutants(module) if not line or mutant.line == int(line)]
    return random.Random(f"{seed} {module}").sample(every, min(count, len(every)))


def show_unreached(modules: list[str]) -> None:
    """Lines of changes that no test runs, and how many there are; it runs no test."""
    reach, every, count = Reach(), 0, 0
    for module in modules:
        found = [mutant for mutant in mutants(module) if not mutant.reason]
        alone = [mutant for mutant in found if not reach.covering(module, mutant.block)]
        every, count = every + len(found), count + len(alone)
        for line, says in dict.fromkeys((mutant.line, mutant.says) for mutant in alone):
            print(f"nhmech/{module}.py:{line}: {says}")
    print(f"{count} of {every} changes of {len(modules)} modules are where no test comes "
          f"({100 * count / max(every, 1):.1f} %)")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", "--count", type=int, default=4, help="changes of each module")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--measure", nargs="*", metavar="TEST",
                        help="find out what tests reach (all of them, or tests/test_TEST.py)")
    parser.add_argument("--unreached", action="store_true",
                        help="only list the places to which no test comes, of all changes")
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="MODULE[:LINE]")
    given = parser.parse_args()
    os.chdir(PROJECT)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["PYTHONPATH"] = str(PROJECT)
    sys.path.insert(0, str(PROJECT))
    for name in LIBRARIES:
        importlib.import_module(name)
    if given.measure is not None:
        measure_all(given.measure or TESTS, MODULES, given.jobs)
        return 0
    if given.unreached:
        show_unreached(given.modules)
        return 0
    drawn = [mutant for module in given.modules
             for mutant in draw(module, given.count, given.seed)]
    judged = [mutant for mutant in drawn if not mutant.reason]
    noticed, reach, score = Noticed.read(), Reach(), {}
    try:
        for done, (mutant, seen) in enumerate(judge(judged, given.jobs, reach, noticed), 1):
            score.setdefault(mutant.module.rpartition("/")[0], []).append(seen)
            if not seen:
                alone = "" if reach.covering(mutant.module, mutant.block) else " (reached by none)"
                print(f"not noticed  {mutant}{alone}\n             {mutant.says}", flush=True)
            print(f"{done} of {len(judged)}", end="\r", file=sys.stderr, flush=True)
    finally:
        noticed.write()
        for room, seen in {**score, "all": sum(score.values(), [])}.items():
            print(f"{room:24}{sum(seen):4} of {len(seen):4} changes were noticed "
                  f"({100 * sum(seen) / max(len(seen), 1):.1f} %)")
        print(f"{len(drawn) - len(judged)} more have no effect")
    return 0


if __name__ == "__main__":
    sys.exit(main())
