"""Compilation in the background: a loop never waits for it, and nothing of it is left behind."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
import time
from shlex import quote

import casadi as ca
import numpy as np
import pytest
from support import needs_compiler, shipped

from nhmech import Simulator
from nhmech.compile import (
    background,
    compiled_function,
    compiler as compilers,
    loop as loops,
    pointwise,
)
from nhmech.compile.background import begin_build
from nhmech.compile.compiler import find_compiler

CODE = "int answer(void) { return 42; }"
WAIT = 60.0      # [s] for what takes a second


@pytest.fixture
def in_the_background(monkeypatch, tmp_path):
    """As it is for users (`conftest.no_compiler_in_the_background`), with an empty cache."""
    monkeypatch.setenv("NHMECH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loops, "begin_library", compiled_function.begin_library)
    monkeypatch.setattr(compiled_function, "begin_build", begin_build)
    monkeypatch.setattr(Simulator, "run", Simulator.run.__wrapped__)
    monkeypatch.setattr(background._Builds, "begun", {})
    return tmp_path / "cache"


@pytest.fixture
def compiler_of(monkeypatch, tmp_path):
    """Text of a script -> CC is that script, which says its version and what it knows of the
    processor."""
    def use(text: str) -> None:
        script = tmp_path / "cc"
        script.write_text('#!/bin/sh\n[ "$1" = --version ] && echo cc 1.0 && exit 0\n'
                          f'case "$*" in *" -E "*) exec cc "$@";; esac\n{text}\n')
        script.chmod(0o700)
        monkeypatch.setenv("CC", str(script))
        find_compiler.cache_clear()

    yield use
    monkeypatch.undo()
    find_compiler.cache_clear()


@needs_compiler
def test_the_virtual_machine_serves_until_the_code_is_there(in_the_background, compiler_of,
                                                            tmp_path):
    """The motion is the same to rounding, whoever took which step."""
    compiler_of(f'while [ ! -e {quote(str(tmp_path / "go"))} ]; do sleep 0.01; done\nexec cc "$@"')
    simulator = Simulator(shipped("ackermann_car"))
    start = dict(joints={"front_left_steering_joint": 0.3}, xi={"rear_left_wheel_joint": 2.0})
    simulator.reset(**start)
    for _ in range(3):
        assert not simulator.propagator.step_in_c()
        simulator.step()
    (tmp_path / "go").touch()
    begun = time.monotonic()
    while not simulator.propagator.step_in_c():
        simulator.step()
        assert time.monotonic() < begun + WAIT
    switched = simulator.run(0.05)
    whole = Simulator(shipped("ackermann_car"))
    whole.reset(**start)
    whole.compile()
    np.testing.assert_allclose(whole.run(switched.t[-1]).q[-1], switched.q[-1], rtol=0, atol=1e-10)


@needs_compiler
def test_a_run_goes_on_in_c_as_soon_as_it_can(in_the_background, compiler_of):
    """Not at its end: the compiler waits until the run is under way."""
    go = in_the_background.parent / "go"
    compiler_of(f'while [ ! -e {go} ]; do sleep 0.01; done\nexec cc "$@"')
    simulator = Simulator(shipped("carriage"))
    simulator.reset(xi={"left_wheel_joint": 3.0})
    seen: list[bool] = []

    def progress(t, state):
        seen.append(simulator.propagator.loop() is not None)
        go.touch()
        for build in background._Builds.begun.values():
            build.wait(WAIT)

    run = simulator.run(5.0, every=1000, progress=progress)
    assert run.stop == "duration" and not seen[0] and all(seen[1:]) and len(seen) > 2


@needs_compiler
def test_a_loop_does_not_wait_for_what_it_watches_either(in_the_background, compiler_of, tmp_path,
                                                         monkeypatch):
    """A function that is asked at one point each step, such as the forces on wheels."""
    monkeypatch.setattr(pointwise, "LOOK", 1)
    monkeypatch.setattr(pointwise, "BUILD", 2)
    compiler_of(f'while [ ! -e {quote(str(tmp_path / "go"))} ]; do sleep 0.02; done; exec cc "$@"')
    x = ca.SX.sym("x")
    square = pointwise.Pointwise(ca.Function("square", [x], [x ** 2]))
    for value in range(5):
        assert square.one(np.array([float(value)]))[0] == value ** 2
    [build] = background._Builds.begun.values()
    assert not build.is_done
    (tmp_path / "go").touch()
    build.wait(WAIT)
    assert build.library is not None and square.one(np.array([7.0]))[0] == 49


@needs_compiler
def test_those_who_must_not_wait_later_wait_now(in_the_background, monkeypatch):
    built: list[str] = []
    original = compilers.Compiler.build
    monkeypatch.setattr(compilers.Compiler, "build",
                        lambda self, *words: (built.append(words), original(self, *words))[1])
    simulator = Simulator(shipped("carriage"))
    simulator.compile(wait=False)
    simulator.compile()
    assert simulator.propagator.step_in_c() and len(built) == 1
    assert Simulator(shipped("carriage")).atlas.primary.loop(build=False) is not None


@needs_compiler
def test_all_who_want_the_same_code_wait_for_one_compiler(in_the_background):
    builds = {begin_build(CODE, find_compiler(), 1) for _ in range(5)}
    (build,) = builds
    background.wait_for_build(CODE, find_compiler())
    assert build.is_done and build.library.function("answer")() == 42
    background.wait_for_build(CODE + " ", find_compiler())       # that nobody began


@needs_compiler
def test_code_that_is_compiled_is_let_go(in_the_background):
    """Its text may be megabytes, and a process may compile thousands."""
    code = CODE + " " * len(CODE)
    held = sys.getrefcount(code)
    build = begin_build(code, find_compiler(), 1)
    build.wait(WAIT)
    assert build.is_done and "done" in repr(build) and sys.getrefcount(code) == held
    assert begin_build(code, find_compiler(), 1) is build


def test_a_compiler_that_refuses_does_not_end_a_run(in_the_background, compiler_of, caplog):
    compiler_of("echo too hot >&2; exit 1")
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        simulator = Simulator(shipped("carriage"))
        assert simulator.run(0.1).stop == "duration"
        (build,) = background._Builds.begun.values()
        build.wait()
        assert simulator.run(0.1).stop == "duration" and simulator.atlas.chart.loop(False) is None
    (line,) = caplog.records
    assert "too hot" in line.message and "virtual machine" in line.message


def test_a_compiler_that_hangs_does_not_either(in_the_background, compiler_of, caplog, monkeypatch):
    monkeypatch.setenv("NHMECH_COMPILE_SECONDS", "0.2")
    compiler_of("sleep 600")
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        simulator = Simulator(shipped("carriage"))
        assert simulator.run(0.1).stop == "duration"
        (build,) = background._Builds.begun.values()
        build.wait(WAIT)
    assert build.is_done and build.library is None
    (line,) = caplog.records
    assert "did not finish within 0.2 s" in line.message


ENDS = {
    "the end of the file": "",
    "an error": "raise SystemExit(3)",
    "a fork": """
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        # the child's end leaves the folder of this process alone
        (work,) = [name for name in os.listdir(sys.argv[2]) if name.startswith("build-")]
        """,
}


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are looked for in /proc")
@pytest.mark.parametrize("end", ENDS)
def test_no_compiler_outlives_the_process(end, in_the_background, compiler_of, tmp_path):
    """A program that ends while code is compiled ends at once, and leaves no folder behind."""
    compiler_of(f'echo $$ >> {quote(str(tmp_path / "pids"))}\nsleep 600')
    code = textwrap.dedent("""
        import os, sys, time
        from nhmech.compile.background import begin_build
        from nhmech.compile.compiler import find_compiler
        begin_build("int answer;", find_compiler(), 1)
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.01)
        """) + textwrap.dedent(ENDS[end])
    begun = time.monotonic()
    # Python 3.12 and later warn of any fork beside threads, which is what is tried here
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code,
                           str(tmp_path / "pids"), str(in_the_background)], text=True,
                          capture_output=True, timeout=WAIT)
    assert time.monotonic() < begun + WAIT and done.stderr == ""
    for pid in (tmp_path / "pids").read_text().split():
        assert not os.path.exists(f"/proc/{pid}")
    assert list(in_the_background.iterdir()) == []


@needs_compiler
def test_a_fork_has_its_code_too(in_the_background):
    """None of the parent's threads live in it."""
    begin_build(CODE, find_compiler(), 1)
    child = os.fork()
    if child == 0:
        background.wait_for_build(CODE, find_compiler())
        (build,) = background._Builds.begun.values()
        os._exit(0 if build.is_done and build.library.function("answer")() == 42 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
