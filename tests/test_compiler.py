"""The compiler's process: its limits of time, its environment, and its end with those who wait for
it; and the cache beside others that write to its folder."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from shlex import quote
from types import SimpleNamespace

import pytest
from support import needs_compiler

from nhmech import CompileError
from nhmech.compile import background, cache as caches, compiler as compilers
from nhmech.compile.background import Build, begin_build
from nhmech.compile.cache import Cache, default_cache
from nhmech.compile.compiler import (
    SECONDS,
    Compiler,
    CompileTimeout,
    compile_seconds,
    end_compilers,
    find_compiler,
    processor_of,
    run_compiler,
)

WAIT = 60.0      # [s] for what takes a second
SLEEPS = "sh", "-c", "echo begun; exec sleep 600"


@pytest.fixture
def ending(monkeypatch):
    """What is set when the process ends is taken back."""
    monkeypatch.setattr(compilers._Ending, "has_begun", False)
    monkeypatch.setattr(background._Builds, "are_over", False)
    monkeypatch.setattr(background._Builds, "begun", {})


@contextmanager
def sleeping_compiler():
    """A thread that waits for a compiler, which sleeps; and the list that has how it ended."""
    ended: list[subprocess.CompletedProcess] = []
    thread = threading.Thread(target=lambda: ended.append(run_compiler(SLEEPS, 600.0)))
    thread.start()
    while not compilers._running:
        thread.join(0.001)
    try:
        yield thread, ended
    finally:
        for process in list(compilers._running):
            process.kill()
        thread.join(WAIT)


# -- time ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("given, seconds", [
    (None, SECONDS), ("", SECONDS), ("  ", SECONDS), (" 7.5 ", 7.5), ("0.001", 0.001),
    ("inf", float("inf"))])
def test_a_file_may_take_so_many_seconds(given, seconds, monkeypatch):
    monkeypatch.delenv("NHMECH_COMPILE_SECONDS", raising=False)
    if given is not None:
        monkeypatch.setenv("NHMECH_COMPILE_SECONDS", given)
    assert compile_seconds() == seconds


@pytest.mark.parametrize("given", ["0", "-1", "nan", "soon"])
def test_no_other_number_of_seconds(given, monkeypatch):
    monkeypatch.setenv("NHMECH_COMPILE_SECONDS", given)
    with pytest.raises(CompileError, match=f"NHMECH_COMPILE_SECONDS={given} is not a positive num"):
        compile_seconds()


def test_the_question_for_the_processor_has_the_shorter_limit(monkeypatch):
    asked = []

    def ask(command, seconds):
        asked.append(seconds)
        return subprocess.CompletedProcess(command, 0, "#define B\n#define A\n", "")

    monkeypatch.setattr(compilers, "run_compiler", ask)
    compiler = Compiler("cc", "1")
    for given in ("0.2", "1e9"):
        monkeypatch.setenv("NHMECH_COMPILE_SECONDS", given)
        processor_of.cache_clear()
        found = processor_of(compiler, ())
    assert asked == [0.2, compilers.ANSWER_SECONDS]
    # in whatever order it says what it knows
    monkeypatch.setattr(compilers, "run_compiler", lambda command, seconds: (
        subprocess.CompletedProcess(command, 0, "#define A\n#define B\n", "")))
    processor_of.cache_clear()
    assert processor_of(compiler, ()) == found
    processor_of.cache_clear()


# -- the process -----------------------------------------------------------------------------------
def test_what_it_writes_on_the_way_goes_to_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/elsewhere")
    command = "sh", "-c", 'echo "$TMPDIR"; echo trouble >&2; exit 3'
    inside, outside = run_compiler(command, WAIT, tmp_path), run_compiler(command, float("inf"))
    assert inside.stdout.strip() == str(tmp_path) and outside.stdout.strip() == "/elsewhere"
    assert (inside.stderr, inside.returncode) == ("trouble\n", 3)
    assert not compilers._running


@pytest.mark.parametrize("seconds, limit", [(0.5, 0.5), (9e4, 9e4), (1e9, 1e6)])
def test_a_limit_of_days_is_kept(seconds, limit, monkeypatch):
    """A longer one is cut to what the operating system takes: eleven days."""
    asked, wait = [], subprocess.Popen.communicate
    monkeypatch.setattr(subprocess.Popen, "communicate", lambda process, timeout: (
        asked.append(timeout), wait(process, timeout=WAIT))[1])
    run_compiler(("true",), seconds)
    assert asked == [limit]


def test_a_limit_that_is_over_is_an_error():
    with pytest.raises(subprocess.TimeoutExpired):
        run_compiler(SLEEPS, 0.05)
    assert not compilers._running


def test_compilers_end_with_the_process_that_waits_for_them(ending):
    with sleeping_compiler() as (thread, ended):
        end_compilers()
        thread.join(WAIT)
    assert [done.returncode for done in ended] == [-signal.SIGKILL]
    # and none begins after that
    assert run_compiler(SLEEPS, WAIT).returncode == -signal.SIGKILL


@pytest.mark.filterwarnings("ignore::DeprecationWarning")       # of forks beside threads
def test_a_fork_has_no_compilers_to_end():
    with sleeping_compiler():
        child = os.fork()
        if child == 0:
            os._exit(len(compilers._running))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(compilers._running) == 1


def test_the_first_line_is_the_version(tmp_path, monkeypatch):
    script = tmp_path / "cc"
    for says, version in (("echo cc 1.0; echo more", "cc 1.0"), (":", "")):
        script.write_text(f"#!/bin/sh\n{says}\n")
        script.chmod(0o700)
        monkeypatch.setenv("CC", str(script))
        find_compiler.cache_clear()
        assert find_compiler() == Compiler(str(script), version)
    find_compiler.cache_clear()


@pytest.mark.parametrize("words", [(), ("-pipe", "-g")])
def test_the_path_of_a_compiler_may_have_blanks(words, tmp_path, monkeypatch):
    """Alone it is one word, as in the environment of other programs; with words it is quoted."""
    script = tmp_path / "my tools" / "cc"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho cc 1.0\n")
    script.chmod(0o700)
    monkeypatch.setenv("CC", " ".join((quote(str(script)) if words else str(script), *words)))
    find_compiler.cache_clear()
    assert find_compiler() == Compiler(str(script), "cc 1.0", words)
    find_compiler.cache_clear()


# -- threads ---------------------------------------------------------------------------------------
class Slow(Compiler):
    """Waits for the test."""

    def build(self, source, library, instructions):
        run_compiler(SLEEPS, 600.0)
        time.sleep(0.05)      # to clean up
        raise CompileError("ended")

    def flags(self, instructions):
        return ()


def test_builds_end_with_the_process_without_a_word(private, ending, caplog):
    """Their folders go as well, and what waits for its turn is not begun."""
    builds = [begin_build(f"int answer{k};", Slow("slow", "1"), 1)
              for k in range(background.COMPILERS + 1)]
    while len(compilers._running) < background.COMPILERS:
        builds[0].wait(0.001)
    assert all(thread.daemon for thread in threading.enumerate()
               if thread.name == "nhmech compiler")
    assert not any(build.is_done for build in builds)
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        background._end_builds()
    assert all(build.is_done and build.library is None for build in builds)
    assert not caplog.records and not list(private.glob("build-*"))
    late = Build("int late;", Slow("slow", "1"), 1)
    late.begin()
    late.wait(WAIT)
    assert late.is_done and late.library is None and not caplog.records


def test_a_fork_begins_what_is_not_done(monkeypatch):
    """With locks of its own, which no thread of the parent's holds."""
    begun = []
    builds = {k: SimpleNamespace(is_done=k > 1, begin=lambda k=k: begun.append(k))
              for k in range(4)}
    held = background._Builds.lock, background._Builds.turn
    for name, value in zip(("begun", "lock", "turn"), (builds, *held)):
        monkeypatch.setattr(background._Builds, name, value)
    background._begin_again()
    assert begun == [0, 1]
    assert background._Builds.lock is not held[0] and background._Builds.turn is not held[1]


# -- the cache beside others -----------------------------------------------------------------------
class Copying(Compiler):
    """Makes a library of the C compiler's, by a function of the test's on the way."""

    def __init__(self, meanwhile=lambda library: None):
        super().__init__("copying", "1")
        object.__setattr__(self, "meanwhile", meanwhile)

    def flags(self, instructions):
        return ()

    def build(self, source, library, instructions):
        self.meanwhile(library)
        find_compiler().build(source, library, instructions)


@needs_compiler
def test_an_entry_that_another_process_removes_is_built_again(private, monkeypatch):
    load, cut = ctypes.CDLL, []

    def removed_meanwhile(path):
        if not cut:
            cut.append(path)
            os.unlink(path)
        return load(path)

    monkeypatch.setattr("nhmech.compile.cache.ctypes.CDLL", removed_meanwhile)
    library = default_cache().load("int answer(void) { return 42; }", Copying(), 1)
    assert library.function("answer")() == 42 and str(library.path) == cut[0]


def test_what_the_compiler_says_counts_although_its_folder_is_gone(private):
    def fail(library):
        library.parent.joinpath("code.c").unlink()
        library.parent.rmdir()
        raise CompileError("no such word")

    with pytest.raises(CompileError, match="^no such word$"):
        default_cache().library("int answer;", Copying(fail), 1)


def test_clear_leaves_what_is_none_of_its_folders(private):
    private.mkdir(mode=0o700)
    (private / "build-notes").write_text("of the user's")
    assert Cache(private, False).clear() == 0
    assert (private / "build-notes").read_text() == "of the user's"


class Endless:
    """A compiler that takes too long, however often it is asked."""

    version = "1"

    def __init__(self):
        self.asked = []

    def flags(self, instructions):
        return ()

    def build(self, source, library, instructions):
        self.asked.append(source.read_text())
        raise CompileTimeout("it did not finish")


def test_code_that_takes_too_long_is_not_tried_again(tmp_path, monkeypatch):
    """By the same compiler; the log says so once, and nothing is left behind."""
    said = []
    monkeypatch.setattr(caches, "_slow", set())
    monkeypatch.setattr(caches, "_say_slow", said.append)
    cache, one, other = Cache(tmp_path, False), Endless(), Endless()
    for compiler, code in ((one, "a"), (one, "a"), (one, "b"), (other, "a"), (one, "a")):
        assert cache.load(code, compiler, 1) is None
    assert one.asked == ["a", "b"] and other.asked == ["a"]
    assert said == ["it did not finish"] * 3 and not list(tmp_path.iterdir())
