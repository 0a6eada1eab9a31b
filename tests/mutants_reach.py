"""Which tests run which blocks of the core, measured once for each file of tests and kept beside
pytest's own cache until that file changes. A block is the body of a function or of a branch in it.
What a cache or a fixture hands on counts as run again: a test that is first to load a robot is not
the only one that looks at it.
"""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log2
from pathlib import Path
from types import CodeType

import pytest

PROJECT = Path(__file__).resolve().parents[1]
KEPT = PROJECT / ".pytest_cache" / "reach"
INSTANCES = 2      # of one test with several arguments; the quickest stand for all that run a block
ENOUGH = 3.0       # [s] of processor of one test, after which no more of its arguments are tried
MARKS = "not soak and not browser"


class Loader(importlib.machinery.SourceFileLoader):
    """Runs other code in place of a module's own."""

    def __init__(self, name: str, path: str, make: Callable[[], CodeType]):
        super().__init__(name, path)
        self.make = make

    def get_code(self, name):
        return self.make()


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules of the core, and loads what is made in their place."""

    def __init__(self, made: dict[str, Callable[[], CodeType]]):
        self.made = {f"nhmech.{module}".replace("/", "."): (module, make)
                     for module, make in made.items()}

    def find_spec(self, name, path=None, target=None):
        if name not in self.made:
            return None
        module, make = self.made[name]
        file = str(path_of(module))
        return importlib.util.spec_from_file_location(name, file, loader=Loader(name, file, make))


def path_of(module: str) -> Path:
    """The file of a module."""
    return PROJECT / "nhmech" / f"{module}.py"


# -- blocks ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Block:
    """The body of a function, or of a branch in it."""

    name: str                    # function+line, the line counted from its `def`
    start: tuple[int, int]       # line and column; of a function's body that of its `def`
    statements: list[ast.stmt]

    def has(self, line: int, column: int) -> bool:
        last = self.statements[-1]
        return self.start <= (line, column) < (last.end_lineno or 0, last.end_col_offset or 0)


def blocks(tree: ast.AST) -> list[Block]:
    """All blocks of a module, the outer before the inner ones."""
    found, pending = [], [(tree, "", 0, False)]
    while pending:
        node, name, line, inside = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            name, line = f"{name}.{node.name}".lstrip("."), node.lineno
            inside = isinstance(node, ast.FunctionDef)
        for _, value in ast.iter_fields(node):
            if inside and isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                first = node if isinstance(node, ast.FunctionDef) else value[0]
                found.append(Block(f"{name}+{value[0].lineno - line}",
                                   (first.lineno, first.col_offset), value))
        pending += [(child, name, line, inside) for child in ast.iter_child_nodes(node)]
    return found


def _marked(module: str) -> CodeType:
    """A module that tells which of its blocks run."""
    file = path_of(module)
    tree = ast.parse(file.read_text())
    for block in blocks(tree):
        mark = ast.parse(f"_reached.add({f'{module}:{block.name}'!r})").body[0]
        first = block.statements[0]
        docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        for node in ast.walk(mark):
            ast.copy_location(node, first)
        block.statements.insert(int(docstring), mark)
    return compile(tree, str(file), "exec")


# -- what is kept and handed on ------------------------------------------------------------------
class Part:
    """What was reached while something was made that is used again."""

    def __init__(self) -> None:
        self.inside: set[str | Part] = set()


REACHED: set[str | Part] = set()


def _apart(make: Callable, part: Part):
    """What `make()` returns; all that it reaches is in `part`."""
    before = REACHED.copy()
    REACHED.clear()
    try:
        return make()
    finally:
        part.inside |= REACHED
        REACHED.clear()
        REACHED.update(before)
        REACHED.add(part)


def _flat(reached: Iterable[str | Part]) -> set[str]:
    found, pending, seen = set(), list(reached), set()
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            found.add(one)
        elif one not in seen:
            seen.add(one)
            pending += one.inside
    return found


def _is_ours(function: Callable) -> bool:
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    return file.startswith((str(PROJECT / "nhmech"), str(PROJECT / "tests")))


def _remembering(decorate: Callable) -> Callable:
    """A decorator whose function counts as run again where its result is used again."""
    def remembered(function: Callable) -> Callable:
        if not _is_ours(function):
            return decorate(function)
        parts: dict[object, Part] = defaultdict(Part)

        def make(*args, **kwargs):
            part = parts[functools._make_key(args, kwargs, False)]
            return _apart(lambda: function(*args, **kwargs), part)

        cached = decorate(functools.wraps(function)(make))

        @functools.wraps(function)
        def again(*args, **kwargs):
            result = cached(*args, **kwargs)
            REACHED.add(parts[functools._make_key(args, kwargs, False)])
            return result

        for name in ("cache_clear", "cache_info"):
            setattr(again, name, getattr(cached, name, None))
        return again
    return remembered


class _Property(functools.cached_property):
    """A cached property that counts as made again where it is read again."""

    def __init__(self, func):
        super().__init__(func)
        self.parts: dict[int, Part] = {}

    def __get__(self, instance, owner=None):
        if instance is None or not _is_ours(self.func):
            return super().__get__(instance, owner)
        if self.attrname in instance.__dict__:
            if id(instance) in self.parts:
                REACHED.add(self.parts[id(instance)])
            return instance.__dict__[self.attrname]
        part = self.parts[id(instance)] = Part()
        return _apart(lambda: super(_Property, self).__get__(instance, owner), part)

    def __set__(self, instance, value):
        instance.__dict__[self.attrname] = value

    def __delete__(self, instance):
        instance.__dict__.pop(self.attrname, None)


def _follow_caches() -> None:
    simple, cache = functools.lru_cache, functools.cache

    def lru_cache(maxsize=128, typed=False):
        if callable(maxsize):
            return _remembering(simple)(maxsize)
        return _remembering(simple(maxsize, typed))

    functools.lru_cache = lru_cache            # type: ignore[assignment]
    functools.cache = _remembering(cache)      # type: ignore[assignment]
    functools.cached_property = _Property      # type: ignore[assignment,misc]
    once = importlib.import_module("nhmech.simulation.once")
    once.once = _remembering(once.once)


# -- measuring -------------------------------------------------------------------------------------
class Watch:
    """The part of pytest that writes down what each test that passes reaches, and its seconds of
    processor."""

    def __init__(self) -> None:
        self.fixtures: dict[object, Part] = {}
        self.seconds: dict[str, float] = {}
        self.spent: dict[str, float] = defaultdict(float)
        self.reached: dict[str, set[str]] = {}
        self.passed: set[str] = set()
        self.at_import: set[str | Part] = set()

    def pytest_collection_finish(self, session):
        self.at_import = REACHED.copy()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        part = self.fixtures[fixturedef] = Part()
        before = REACHED.copy()
        REACHED.clear()
        yield
        part.inside |= REACHED
        REACHED.update(before)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        if self.spent[item.nodeid.partition("[")[0]] > ENOUGH:
            pytest.skip("others of its arguments have run")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        REACHED.clear()
        began = sum(os.times()[:4])
        yield
        self.seconds[item.nodeid] = round(sum(os.times()[:4]) - began, 3)
        self.spent[item.nodeid.partition("[")[0]] += self.seconds[item.nodeid]
        known = item._fixtureinfo.name2fixturedefs
        parts = [self.fixtures[one] for name in item.fixturenames for one in known.get(name, ())
                 if one in self.fixtures]
        self.reached[item.nodeid] = _flat([*REACHED, *parts, *self.at_import])

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def write(self, file: Path, fingerprint: str) -> None:
        tests = sorted(self.passed & self.reached.keys(), key=lambda test: self.seconds[test])
        found: dict[str, list[int]] = defaultdict(list)
        count: dict[tuple[str, str], int] = defaultdict(int)
        for number, test in enumerate(tests):
            for block in self.reached[test]:
                count[block, test.partition("[")[0]] += 1
                if count[block, test.partition("[")[0]] <= INSTANCES:
                    found[block].append(number)
        file.write_text(json.dumps({
            "of": fingerprint, "tests": tests, "seconds": [self.seconds[t] for t in tests],
            "breadth": [len(self.reached[t]) for t in tests], "reach": found}))


def _fingerprint(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def measure(file: Path, modules: Iterable[str]) -> int:
    """The number of a process that runs a file of tests, and writes what each reaches."""
    if pid := os.fork():
        return pid
    code, kept = 70, KEPT / f"{file.stem}.json"
    try:
        with open(kept.with_suffix(".log"), "w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        builtins._reached = REACHED          # type: ignore[attr-defined]
        sys.meta_path.insert(0, Finder({m: functools.partial(_marked, m) for m in modules}))
        _follow_caches()
        watch = Watch()
        code = pytest.main(["-q", "-p", "no:randomly", "-m", MARKS, str(file)], plugins=[watch])
        watch.write(kept, _fingerprint(file))
    except BaseException:
        traceback.print_exc()
    os._exit(int(code))


def measure_all(names: Iterable[str], modules: Iterable[str], jobs: int) -> None:
    """What the tests of files reach, of those that changed since this was last measured."""
    KEPT.mkdir(parents=True, exist_ok=True)
    running = 0
    for name in names:
        file = PROJECT / "tests" / f"test_{name}.py"
        if Reach.is_known(file):
            continue
        if running == jobs:
            os.wait()
            running -= 1
        print(file.name, flush=True)
        measure(file, modules)
        running += 1
    for _ in range(running):
        os.wait()


# -- reading ---------------------------------------------------------------------------------------
class Reach:
    """Which tests run a block, and what each takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.breadth: dict[str, int] = {}
        self.tests: dict[str, list[str]] = defaultdict(list)
        self.of_module: dict[str, set[str]] = defaultdict(set)
        for file in sorted(KEPT.glob("*.json")):
            kept = json.loads(file.read_text())
            tests = kept["tests"]
            self.seconds.update(zip(tests, kept["seconds"]))
            self.breadth.update(zip(tests, kept["breadth"]))
            for block, numbers in kept["reach"].items():
                found = [tests[number] for number in numbers]
                self.tests[block] += found
                self.of_module[block.partition(":")[0]].update(found)

    @staticmethod
    def is_known(file: Path) -> bool:
        kept = KEPT / f"{file.stem}.json"
        return kept.is_file() and json.loads(kept.read_text())["of"] == _fingerprint(file)

    def covering(self, module: str, block: str) -> list[str]:
        """The tests that run a block of a module, quick and narrow ones first. Those that run
        something of the module stand for what runs when it is imported."""
        found = self.tests.get(f"{module}:{block}", []) if block else self.of_module[module]
        return sorted(found, key=lambda test: (
            round(2 * max(self.seconds[test], 0.05) ** 0.5 + log2(self.breadth[test])), test))
