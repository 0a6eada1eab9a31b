"""Which tests come to which blocks of the core, and the run of tests that finds it out.

Tests are collected once; then each file runs in a process of its own that is forked from there, so
that nothing is left of what other files made. What is made once for several tests of a file, by
`functools.cache` or by a fixture of the module or the session, counts for each that uses it. What
was found is kept for each file, until the file changes or a module that its tests come to.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib
import os
import pickle
import resource
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca
import pytest
from mutants_places import Finder, blocks_of, path_of, with_marks, without_text
from mutants_table import MODULES, PACKAGE

PROJECT = PACKAGE.parent
KEPT = PROJECT / ".pytest_cache" / "mutants"      # compiled code, and what was found of each file
REACH = KEPT.with_name("mutants-reach")
OPTIONS = ("-q", "--capture=sys", "-p", "no:randomly", "-p", "no:xdist", "-m",
           "not soak and not browser")


class Seen(NamedTuple):
    """What a test takes, on its own in a new process [s of processor], and the blocks it comes to:
    bits for each module."""

    seconds: float
    bits: dict[str, int]

    def comes_to(self, module: str, chosen: Iterable[int] | None) -> bool:
        """Whether to one of these blocks of a module; to any of them for None."""
        bits = self.bits.get(module, 0)
        return bool(bits) if chosen is None else any(bits >> k & 1 for k in chosen)


class Kept(NamedTuple):
    """What was found of a file: hashes of what it depends on, its tests, and the blocks to which it
    comes while it is collected."""

    depends: dict[str, str]
    tests: dict[str, Seen]
    collected: dict[str, int]


# -- processes -------------------------------------------------------------------------------------
class Pool:
    """Processes forked from this one, so many at a time."""

    def __init__(self, most: int) -> None:
        self.most, self.running = most, 0

    def start(self, work: Callable[[], int]) -> None:
        if self.running == self.most:
            self.wait()
        self.running += 1
        fork(work)

    def wait(self) -> None:
        os.wait()
        self.running -= 1

    def end(self) -> None:
        while self.running:
            self.wait()


def fork(work: Callable[[], int]) -> int:
    """The id of a process that ends with what `work()` gives."""
    if pid := os.fork():
        return pid
    try:
        code = work()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 70
    os._exit(int(code))


def spent() -> float:
    """[s] of processor of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def run_pytest(plugin: object, finder: Finder, words: list[str], log: Path) -> int:
    """Runs pytest in this process."""
    with open(log, "w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    sys.meta_path.insert(0, finder)
    if isinstance(plugin, Watch):
        plugin.recorder.install()
    form_equations_always()
    return pytest.main([*OPTIONS, *words], plugins=[plugin])


def form_equations_always() -> None:
    """Equations that are kept hide changes of what forms them."""
    kept = importlib.import_module("nhmech.mechanics.kept_equations")
    found = kept.private_folder
    kept.private_folder = lambda: (folder := found())._replace(
        temporary=folder.temporary or folder.path == KEPT)


class ByFile:
    """The part of pytest that runs each file in a process of its own."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder, self.pool = folder, Pool(jobs)
        self.test = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        self.files: dict[str, list] = defaultdict(list)
        for item in session.items:
            self.files[file_of(item.nodeid)].append(item)
        self.run_files()
        self.pool.end()
        return True

    def run_files(self) -> None:
        """All of them, each by `start`."""
        raise NotImplementedError

    def start(self, work: Callable[[], int]) -> None:
        """A process whose temporary files are its own."""
        def apart() -> int:
            name = self.folder / f"temporary-{os.getpid()}"
            name.mkdir()
            os.environ["PYTEST_DEBUG_TEMPROOT"] = str(name)
            return work()

        self.pool.start(apart)

    def run_item(self, item, following) -> None:
        self.test = item.nodeid
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        self.test = ""


def file_of(test: str) -> str:
    return test.partition("::")[0]


# -- what is seen ----------------------------------------------------------------------------------
class Recorder:
    """Which blocks have run, in total and within what is made once."""

    def __init__(self) -> None:
        self.first: dict[str, int] = {}
        count = 0
        for module in MODULES:
            self.first[module] = count
            count += len(blocks_of(module))
            hash_of(path_of(module))      # as it is now, whatever becomes of the file
        self.marks = builtins._mutants_seen = bytearray(count)   # type: ignore[attr-defined]
        self.known = 0.0                  # [s] that what was made before had taken
        self.made: dict[str, tuple[bytes, float]] = {}   # by fixtures
        self.added: set[int] = set()

    def forget(self) -> None:
        self.marks[:] = bytes(len(self.marks))
        self.known, self.added = 0.0, set()

    @contextmanager
    def apart(self, keep: Callable[[bytes, float], None]) -> Iterator[None]:
        """Hands what is seen within over to `keep` as well: marks and seconds."""
        before, began, known, added = bytes(self.marks), spent(), self.known, self.added
        self.forget()
        try:
            yield
        finally:
            seconds = spent() - began + self.known
            keep(bytes(self.marks), seconds)
            self.known, self.added = known, added
            self.mark(before)

    def add(self, marks: bytes, seconds: float) -> None:
        """Adds what something made has seen, once for each that is watched."""
        if id(marks) not in self.added:
            self.mark(marks)
            self.known += seconds
            self.added.add(id(marks))

    def mark(self, marks: bytes) -> None:
        both = int.from_bytes(self.marks, "little") | int.from_bytes(marks, "little")
        self.marks[:] = both.to_bytes(len(marks), "little")

    def bits(self) -> dict[str, int]:
        """Those of each module, as a whole number whose k-th binary digit is the k-th block's."""
        ends = [*self.first.values(), len(self.marks)][1:]
        parts = {module: self.marks[first:end][::-1].hex()[1::2]
                 for (module, first), end in zip(self.first.items(), ends)}
        return {module: int(part, 2) for module, part in parts.items() if "1" in part}

    def install(self) -> None:
        """Who finds something made has come to what made it: in place of what keeps things in
        `functools` and in the package."""
        recorder, plain = self, functools.cached_property
        functools.cache = self.cache                                  # type: ignore[assignment]
        functools.lru_cache = lambda maxsize=128, typed=False: (      # type: ignore[assignment]
            self.cache(maxsize) if callable(maxsize) else self.cache)
        class Property(plain):
            """It is asked for what is there already too, since it has `__set__`."""

            records: dict = {}

            def __get__(self, instance, owner=None):
                if instance is None:
                    return self
                key = id(instance), self.attrname
                if self.attrname not in vars(instance):
                    with recorder.apart(lambda *seen: self.records.update({key: seen})):
                        return super().__get__(instance, owner)
                if key in self.records:
                    recorder.add(*self.records[key])
                return vars(instance)[self.attrname]

            def __set__(self, instance, value):
                vars(instance)[self.attrname] = value

        functools.cached_property = Property                          # type: ignore[misc]
        # not before, since its `cached_property` is made from that of `functools`
        importlib.import_module("nhmech.once").once = (   # type: ignore[attr-defined]
            lambda make: self.keep(make, WeakKeyDictionary(), lambda args: args[:1]))

    def cache(self, function: Callable) -> Callable:
        """`functools.cache`."""
        return self.keep(function, {}, lambda args: ())

    def keep(self, make: Callable, kept: MutableMapping, owner: Callable) -> Callable:
        @functools.wraps(make)
        def found(*args, **kwargs):
            known, key = kept, (args, tuple(sorted(kwargs.items())))
            for one in owner(args):
                known, key = kept.setdefault(one, {}), (args[1:], key[1])
            if key not in known:
                record: list = []
                with self.apart(lambda *seen: record.extend(seen)):
                    value = make(*args, **kwargs)
                known[key] = value, record
            else:
                self.add(*known[key][1])
            return known[key][0]

        found.cache_clear = kept.clear   # type: ignore[attr-defined]
        return found

    def simplify(self, compute: Callable) -> Callable:
        """As `simplified_once` of tests/conftest.py, with what was seen."""
        folder = KEPT.with_name("mutants-simplified")
        folder.mkdir(exist_ok=True)
        rooms = (path_of(module) for module in MODULES if module.startswith("symbolic/"))
        code = "".join(file.read_text() for file in rooms) + ca.__version__

        def kept(function: ca.Function) -> ca.Function:
            file = folder / hashlib.sha256((code + function.serialize()).encode()).hexdigest()
            if file.is_file():
                made, record = pickle.loads(file.read_bytes())
                self.add(*record)
                return ca.Function.deserialize(made)
            record = []
            with self.apart(lambda *seen: record.extend(seen)):
                result = compute(function)
            part = file.with_name(f"{file.name}.{os.getpid()}")
            part.write_bytes(pickle.dumps((result.serialize(), record)))
            part.replace(file)
            return result

        return kept


class Watch(ByFile):
    """Runs files and keeps what their tests come to."""

    def __init__(self, folder: Path, jobs: int, recorder: Recorder) -> None:
        super().__init__(folder, jobs)
        self.recorder, self.collected = recorder, {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector):
        self.recorder.forget()
        yield
        if isinstance(collector, pytest.Module):
            self.collected[collector.nodeid] = self.recorder.bits()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        if fixturedef.scope == "function":
            yield
            return

        def keep(*seen) -> None:
            self.recorder.made[fixturedef.argname] = seen

        with self.recorder.apart(keep):
            yield
        if fixturedef.argname == "simplified_once":
            equations = importlib.import_module("nhmech.mechanics.equations")
            compute = importlib.import_module("nhmech.symbolic.simplify").simplify
            equations.simplify = self.recorder.simplify(compute)

    def run_files(self) -> None:
        for file, items in self.files.items():
            self.start(lambda file=file, items=items: self.watch(file, items))

    def watch(self, file: str, items: list) -> int:
        tests = {}
        for item, following in zip(items, [*items[1:], None]):
            recorder, self.failed = self.recorder, False
            recorder.forget()
            before, began = dict(recorder.made), spent()
            self.run_item(item, following)
            seconds = spent() - began + recorder.known
            for name in item.fixturenames:
                if name in before:
                    recorder.add(*before[name])
                    seconds += before[name][1]
            if not self.failed:
                tests[item.nodeid] = Seen(seconds, recorder.bits())
        collected = self.collected.get(file, {})
        modules = set().union(collected, *(seen.bits for seen in tests.values()))
        depends = {str(path.relative_to(PROJECT)): hash_of(path)
                   for path in (PROJECT / file, *map(path_of, modules))}
        part = kept_file(file).with_suffix(f".{os.getpid()}")
        part.write_bytes(pickle.dumps(Kept(depends, tests, collected)))
        part.replace(kept_file(file))
        return 0

    def pytest_runtest_logreport(self, report):
        self.failed |= report.failed or report.skipped


@functools.cache
def hash_of(path: Path) -> str:
    """Of what a file does: comments and docstrings may change."""
    done = without_text(path.read_text()) if path.is_file() else ""
    return hashlib.sha256(done.encode()).hexdigest()


def kept_file(file: str) -> Path:
    return REACH / f"{Path(file).stem}.pickle"


def read_kept(file: str) -> Kept | None:
    """What was found of a file, if that still holds."""
    with suppress(OSError, EOFError, pickle.UnpicklingError):
        kept = pickle.loads(kept_file(file).read_bytes())
        if all(hash_of(PROJECT / name) == said for name, said in kept.depends.items()):
            return kept
    return None


def find_reach(files: list[str], jobs: int, folder: Path) -> dict[str, Kept]:
    """What is known of files of tests; those that changed run first."""
    REACH.mkdir(parents=True, exist_ok=True)
    stale = [file for file in files if read_kept(file) is None]
    if stale:
        print(f"{len(stale)} of {len(files)} files of tests run once, to see what they come to",
              flush=True)

        def work() -> int:
            recorder = Recorder()
            finder = Finder({module: with_marks(module, first)
                             for module, first in recorder.first.items()})
            return run_pytest(Watch(folder, jobs, recorder), finder, stale, folder / "reach.log")

        os.waitpid(fork(work), 0)
    known = {file: kept for file in files if (kept := read_kept(file))}
    for file in files:
        if file not in known:
            print(f"what {file} comes to is not known: {folder / 'reach.log'}", file=sys.stderr)
    return known
