"""How many small wrong changes of the core the tests notice.

`python tests/mutants.py [-n COUNT] [-j JOBS] [--seed SEED] [MODULE[:LINE] ...]` changes each module
of `COVERED` (all of the core, or those that are named, or one of their lines) in so many places
drawn by lot, one after the other; runs the tests that cover it, those first that noticed something
before, then the quick ones; and prints each change that was not noticed, and a table. No file is
changed: a process in which only libraries are loaded forks, and the child imports the changed
module. What takes longer than `LIMIT` counts as noticed, for it hangs. What cannot be noticed is
explained in `EQUIVALENT` and left out.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType

import pytest
from mutants_table import COVERED, EQUIVALENT

PROJECT = Path(__file__).resolve().parents[1]
LIMIT = 150        # [s] of processor for the tests of one module; unchanged most take 2 to 40
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

    def __str__(self) -> str:
        return f"nhmech/{self.module}.py:{self.line}: {self.change}"

    @property
    def reason(self) -> str:
        """Why nothing can notice it, if that is known."""
        return EQUIVALENT.get((self.module, self.says, self.change), "")

    def compile(self) -> CodeType:
        """The changed module."""
        file = _file(self.module)
        tree = ast.parse(file.read_text())
        for place, (node, new, put) in enumerate(_changes(tree)):
            if place == self.place:
                put(ast.copy_location(new, node))
                return compile(ast.fix_missing_locations(tree), str(file), "exec")
        raise IndexError(self.place)


def mutants(module: str) -> list[Mutant]:
    """All of a module."""
    text = _file(module).read_text()
    lines = text.splitlines()
    return [Mutant(module, place, node.lineno, lines[node.lineno - 1].strip(),
                   f"{_short(node)} -> {_short(new)}")
            for place, (node, new, _) in enumerate(_changes(ast.parse(text)))]


def _file(module: str) -> Path:
    return PROJECT / "nhmech" / f"{module}.py"


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
            if isinstance(node, ast.Dict) and any(
                    isinstance(key, ast.Constant) and key.value in OPTIONS for key in node.keys):
                continue
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if type(node) in CHANGES and not is_text:
                yield node, tree, name, index
            if not isinstance(node, ast.Raise):
                yield from _places(node)


def _short(node: ast.AST) -> str:
    line = " ".join(ast.unparse(node).split())
    return line if len(line) <= 60 else f"{line[:57]}..."


# -- runs ------------------------------------------------------------------------------------------
@dataclass
class Learned:
    """What is known of the tests: how long each takes, and which noticed a change of a module."""

    seconds: dict[str, float] = field(default_factory=dict)
    noticed: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls) -> Learned:
        return cls(**json.loads(KEPT.read_text())) if KEPT.is_file() else cls()

    def write(self) -> None:
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(self.__dict__))

    def add(self, module: str, file: Path) -> str:
        """Read what `Watch` wrote; returns the test that failed."""
        failed, seconds = json.loads(file.read_text()) if file.is_file() else ("", {})
        self.seconds.update(seconds)
        noticed = self.noticed.setdefault(module, [])
        if failed and failed not in noticed:
            noticed.append(failed)
        return failed

    def rank(self, module: str, test: str) -> tuple[bool, float]:
        """Smallest first: who noticed something before, then seconds, to a power of three."""
        seconds = self.seconds.get(test, 0.5)
        return test not in self.noticed.get(module, ()), round(2 * max(seconds, 0.05) ** 0.5)


class Changed(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Finds one module, changed."""

    def __init__(self, mutant: Mutant):
        self.mutant = mutant
        super().__init__("nhmech." + mutant.module.replace("/", "."), str(_file(mutant.module)))

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def get_code(self, name):
        return self.mutant.compile()


class Watch:
    """The part of pytest that runs likely and quick tests first, and writes down what it sees."""

    def __init__(self, rank: Callable[[str], object], file: Path):
        self.rank, self.file = rank, file
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed = ""

    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: self.rank(item.nodeid))

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_sessionfinish(self):
        self.file.write_text(json.dumps([self.failed, self.seconds]))


def start(tests: list[str], mutant: Mutant | None, rank: Callable[[str], object],
          file: Path) -> int:
    """The number of a process that runs tests up to the first that fails, with the change."""
    if pid := os.fork():
        return pid
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(10 * LIMIT)          # what waits uses no processor
        with open(file.with_suffix(".log"), "w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        if mutant is not None:
            sys.meta_path.insert(0, Changed(mutant))
        code = pytest.main(["-x", "-q", "-p", "no:randomly", "-m", "not soak and not browser",
                            *tests], plugins=[Watch(rank, file)])
    except BaseException:
        code = 70
    os._exit(int(code))


def is_sound(tests: list[str], folder: Path) -> bool:
    """Whether tests hold without any change."""
    file = folder / "unchanged"
    _, status = os.waitpid(start(tests, None, str, file), 0)
    if status:
        print(f"fails without any change: {' '.join(tests)}", flush=True)
        print(file.with_suffix(".log").read_text()[-2000:], file=sys.stderr)
    return not status


def judge(drawn: list[Mutant], jobs: int, learned: Learned) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant as it is done, and whether it was noticed. A test that does not hold without a
    change notices nothing: it is left out, and the mutant judged again."""
    sound: dict[tuple[str, ...], bool] = {}
    pending, running = drawn[::-1], {}
    with tempfile.TemporaryDirectory() as base:
        while pending or running:
            while pending and len(running) < jobs:
                mutant = pending.pop()
                file = Path(base, f"{mutant.module.replace('/', '.')}.{mutant.place}")
                rank = partial(learned.rank, mutant.module)
                left_out = [f"--deselect={tests[0]}" for tests, holds in sound.items() if not holds]
                pid = start([*files(mutant.module), *left_out], mutant, rank, file)
                running[pid] = mutant, file
            pid = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)      # what it left behind
            _, status = os.waitpid(pid, 0)
            mutant, file = running.pop(pid)
            failed = learned.add(mutant.module, file)
            tests = tuple([failed] if failed else files(mutant.module))
            if status and tests not in sound:
                sound[tests] = is_sound([*tests], Path(base))
                if not sound[tests] and not failed:
                    sys.exit(f"{mutant}: its tests end without a failure")
            if status and not sound[tests]:
                pending.append(mutant)
            else:
                yield mutant, bool(status)


def files(module: str) -> list[str]:
    """The tests that cover a module."""
    return [f"tests/test_{name}.py" for name in COVERED[module].split()]


def draw(wanted: str, count: int, seed: int) -> tuple[list[Mutant], list[Mutant]]:
    """Mutants of MODULE or MODULE:LINE, and those among them that nothing can notice."""
    module, _, line = wanted.partition(":")
    every = [mutant for mutant in mutants(module) if not line or mutant.line == int(line)]
    drawn = random.Random(f"{seed} {module}").sample(every, min(count, len(every)))
    return [m for m in drawn if not m.reason], [m for m in drawn if m.reason]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", "--count", type=int, default=4, help="changes of each module")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("modules", nargs="*", default=list(COVERED), metavar="MODULE[:LINE]")
    given = parser.parse_args()
    os.chdir(PROJECT)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["PYTHONPATH"] = str(PROJECT)
    sys.path.insert(0, str(PROJECT))
    for name in LIBRARIES:
        importlib.import_module(name)
    drawn, explained = [], []
    for module in given.modules:
        judged, known = draw(module, given.count, given.seed)
        drawn += judged
        explained += known
    learned, caught = Learned.read(), 0
    try:
        for done, (mutant, noticed) in enumerate(judge(drawn, given.jobs, learned), 1):
            caught += noticed
            if not noticed:
                print(f"not noticed  {mutant}\n             {mutant.says}", flush=True)
            print(f"{done} of {len(drawn)}", end="\r", file=sys.stderr, flush=True)
    finally:
        learned.write()
    print(f"{caught} of {len(drawn)} changes of {len(given.modules)} modules were noticed "
          f"({100 * caught / max(len(drawn), 1):.1f} %); {len(explained)} more have no effect")
    return 0


if __name__ == "__main__":
    sys.exit(main())
