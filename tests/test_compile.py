"""Compiled code: the cache, the compiler, and the loop in C against the virtual machine."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from shlex import quote

import casadi as ca
import numpy as np
import pytest
from support import command_line, needs_compiler, sampled, shipped

from nhmech import CompileError, Ground, Simulator
from nhmech.compile import loop as loops
from nhmech.compile.cache import Cache, default_cache
from nhmech.compile.compiled_function import Source, compile_function, in_c, library_of
from nhmech.compile.compiler import (
    LARGE,
    Compiler,
    find_compiler,
    processor_of,
    say_no_compiler,
)
from nhmech.simulation import atlas
from nhmech.simulation.atlas import Chart
from nhmech.simulation.integration.integrators import (
    advance_function,
    keeping_advance_function,
    step_function,
)
from nhmech.simulation.integration.schemes import RK4

CODE = "int answer(void) { return 42; }\n"


@pytest.fixture
def compiler_of(monkeypatch):
    """Finds the compiler anew with another `CC`."""
    def find(value: str | None) -> Compiler | None:
        find_compiler.cache_clear()
        monkeypatch.delenv("CC", raising=False) if value is None else monkeypatch.setenv(
            "CC", value
        )
        return find_compiler()

    yield find
    monkeypatch.undo()
    find_compiler.cache_clear()


class Counting:
    """A compiler that counts what it is asked to build."""

    path, version = "counting", "1"

    def __init__(self):
        self.builds = 0

    def flags(self, instructions):
        return ()

    def build(self, source, library, instructions):
        self.builds += 1
        library.write_bytes(b"library of " + source.read_bytes())

    def __str__(self):
        return self.path


# -- cache -----------------------------------------------------------------------------------------
def test_what_is_there_is_not_built_again(private):
    compiler = Counting()
    first = default_cache().library(CODE, compiler, 1)
    assert default_cache().library(CODE, compiler, 1) == first and compiler.builds == 1
    assert default_cache().library(CODE + " ", compiler, 1) != first and compiler.builds == 2
    assert default_cache().library(CODE + "  ", compiler, 1,
                                   build=False) is None and compiler.builds == 2


def test_code_compiler_flags_and_versions_make_the_name(private, monkeypatch):
    compiler, names = Counting(), set()
    names.add(default_cache().library(CODE, compiler, 1))
    compiler.version = "2"
    names.add(default_cache().library(CODE, compiler, 1))
    compiler.flags = lambda instructions: ("-O3",)
    names.add(default_cache().library(CODE, compiler, 1))
    monkeypatch.setattr("nhmech.compile.cache.__version__", "other")
    names.add(default_cache().library(CODE, compiler, 1))
    monkeypatch.setattr(ca, "__version__", "other")
    names.add(default_cache().library(CODE, compiler, 1))
    assert len(names) == 5


@pytest.mark.parametrize("damage", [
    lambda path: path.write_bytes(path.read_bytes()[:-3]),
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(path.read_bytes().replace(b"library", b"lybrari")),
    lambda path: path.unlink(),
    lambda path: path.with_suffix(".sha256").unlink(),
    lambda path: path.with_suffix(".sha256").write_bytes(b"\xff\xfe"),
], ids=["truncated", "empty", "changed", "gone", "no checksum", "checksum is no text"])
def test_a_damaged_entry_is_built_anew(private, damage):
    compiler = Counting()
    path = default_cache().library(CODE, compiler, 1)
    whole = path.read_bytes()
    damage(path)
    assert default_cache().library(CODE, compiler, 1) == path
    assert path.read_bytes() == whole and compiler.builds == 2


@needs_compiler
def test_a_damaged_library_is_mended_before_a_run(private):
    assert Simulator(shipped("carriage")).atlas.primary.loop(build=True) is not None
    (path,) = private.glob("*.so")
    part = path.read_bytes()[:1000]
    # it is mapped here: cutting it in place would end this process
    path.unlink()
    path.write_bytes(part)
    again = Simulator(shipped("carriage"))
    again.reset(xi={"left_wheel_joint": 3.0})
    assert again.atlas.primary.loop(build=True) is not None
    assert again.run(0.1).stop == "duration"


def sealed(path: Path, content: bytes) -> None:
    """An entry that looks whole: the checksum is that of the content."""
    path.unlink()
    path.write_bytes(content)
    path.with_suffix(".sha256").write_text(hashlib.sha256(content).hexdigest())


@needs_compiler
def test_what_cannot_be_loaded_is_built_anew(private):
    """A library of another machine, say, in a home folder that machines share."""
    path = default_cache().library(CODE, find_compiler(), 1)
    sealed(path, b"a library of another machine")
    assert default_cache().load(CODE, find_compiler(), 1).code.answer() == 42


def test_what_can_never_be_loaded_is_an_error_that_says_what_to_do(private):
    compiler = Counting()
    why = r"(?s)[0-9a-f]{32}\.so cannot be loaded .*nhmech cache --clear.*NHMECH_CACHE.*CC=none"
    with pytest.raises(CompileError, match=why):
        default_cache().load(CODE, compiler, 1)
    assert compiler.builds == 2
    with pytest.raises(CompileError, match="cannot be loaded"):
        compiled_with(Counting())


def compiled_with(compiler) -> None:
    x = ca.SX.sym("x")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nhmech.compile.compiled_function.find_compiler", lambda: compiler)
        compile_function(ca.Function("twice", [x], [2 * x]))


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_may_write_to_is_not_used(private, mode):
    private.mkdir()
    private.chmod(mode)
    cache = default_cache()
    assert cache.folder != private and cache.temporary
    assert cache.folder.stat().st_mode & 0o077 == 0


def test_a_file_in_place_of_the_folder_is_no_failure(private):
    private.write_text("")
    assert default_cache().temporary


def test_folder_and_entries_are_private(private):
    previous = os.umask(0)
    try:
        path = default_cache().library(CODE, Counting(), 1)
    finally:
        os.umask(previous)
    assert private.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o077 == 0


def test_the_folder_is_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("NHMECH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache().folder == tmp_path / "nhmech"


@needs_compiler
def test_processes_share_a_folder(private):
    """Eight at once that all want the same three libraries, while entries are being damaged."""
    def use() -> None:
        for k in range(12):
            path = default_cache().library(f"int answer(void) {{ return {k % 3}; }}",
                                           find_compiler(), 1)
            assert ctypes.CDLL(str(path)).answer() == k % 3

    fork = multiprocessing.get_context("fork")       # which has imported what it needs
    running = [fork.Process(target=use) for _ in range(8)]
    for process in running:
        process.start()
    while any(process.is_alive() for process in running):
        for path in private.glob("*.sha256"):
            path.unlink(missing_ok=True)
        time.sleep(0.02)
    assert [process.exitcode for process in running] == [0] * 8
    assert len(list(private.glob("*.so"))) == 3 and not list(private.glob("build-*"))


def test_clear_leaves_nothing(private, monkeypatch):
    cache = default_cache()
    cache.library(CODE, Counting(), 1)
    (private / "build-killed").mkdir()
    (private / "0.equations").write_text("")
    assert len(cache.entries()) == len(cache.equations()) == 1
    assert cache.clear() == 2
    assert list(private.iterdir()) == []
    # another process clears it at the same time
    monkeypatch.setattr(Cache, "entries", lambda self: [private / "gone.so"])
    assert cache.clear() == 1


def test_command(private):
    default_cache().library(CODE, Counting(), 1)
    shown = command_line("cache")
    assert shown.exit_code == 0 and str(private) in shown.output
    assert "code      1," in shown.output and "equations 0," in shown.output
    compiler = find_compiler()
    assert (compiler.version if compiler else "none") in shown.output
    cleared = command_line("cache", "--clear")
    assert (cleared.exit_code == 0 and "removed   1 entries" in cleared.output
            and "code      0," in cleared.output)


# -- compiler --------------------------------------------------------------------------------------
def fake_compiler(folder: Path, script: str) -> Path:
    path = folder / "my-cc"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@needs_compiler
def test_cc_is_respected(private, compiler_of, tmp_path):
    real = find_compiler().path
    path = fake_compiler(tmp_path, '[ "$1" = --version ] && echo mine 1.0 && exit 0\n'
                                   f'echo "$@" >> {quote(str(tmp_path / "log"))}\n'
                                   f'exec {real} "$@"')
    compiler = compiler_of(str(path))
    assert (compiler.path, compiler.version, compiler.words) == (str(path), "mine 1.0", ())
    default_cache().library(CODE, compiler, 1)
    default_cache().library(CODE, compiler, LARGE + 1)
    asked, small, large = (tmp_path / "log").read_text().splitlines()
    assert small.startswith("-O2 ") and large.startswith("-Og ") and "-dM" in asked.split()
    assert "fast-math" not in small + large and "-ffp-contract=off" in small.split()


@needs_compiler
def test_code_is_for_one_processor(private, compiler_of, tmp_path):
    """Of which the name in the cache knows, by all that the compiler says of it; one that takes no
    such flags makes code for any."""
    real, found = find_compiler().path, {}
    for name, answer in (("this", f'exec {real} "$@"'), ("other", "echo '#define __OTHER__ 1'"),
                         ("plain", "exit 1")):
        path = fake_compiler(tmp_path, '[ "$1" = --version ] && echo mine 1.0 && exit 0\n'
                                       f'case "$*" in *-dM*) {answer} ;; *) exec {real} "$@" ;; '
                                       'esac')
        processor_of.cache_clear()
        compiler = compiler_of(str(path))
        found[name] = default_cache().library(CODE, compiler, 1), compiler.flags(1)
        assert default_cache().load(CODE, compiler, 1).code.answer() == 42
    assert len({path for path, _ in found.values()}) == 3
    assert {name for name, (_, flags) in found.items() if "-march=native" in flags} == {
        "this", "other"}
    processor_of.cache_clear()


@needs_compiler
def test_cc_may_have_words(compiler_of):
    real = find_compiler().path
    compiler = compiler_of(f"{real} -g0")
    assert (compiler.path, compiler.words, str(compiler)) == (real, ("-g0",), f"{real} -g0")


def test_no_compiler_anywhere(compiler_of, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compiler_of(None) is None


@pytest.mark.parametrize("value", ["no-such-compiler", "false"])
def test_a_wrong_cc_is_an_error(compiler_of, value):
    with pytest.raises(CompileError, match=f"CC={value} .*CC=none"):
        compiler_of(value)


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_a_wrong_cc_is_no_failure_of_the_run(compiler_of, monkeypatch, integrator):
    """A run asks for code where it begins; what is wrong there is not in the trajectory."""
    simulator = Simulator(shipped("differential_drive"), integrator=integrator)
    monkeypatch.setattr("nhmech.compile.compiled_function.find_compiler",
                        lambda: compiler_of("no-such-compiler"))
    with pytest.raises(CompileError, match="CC=no-such-compiler"):
        simulator.run(6.0)


def test_an_unbalanced_cc_is_an_error(compiler_of):
    with pytest.raises(CompileError, match="CC="):
        compiler_of('gcc "')


@needs_compiler
def test_what_the_compiler_says_is_in_the_error(private):
    with pytest.raises(CompileError, match=r"(?s)failed on generated code.*error"):
        default_cache().library("this is no C", find_compiler(), 1)
    assert list(private.iterdir()) == []


def test_a_compiler_that_hangs_is_left_behind_with_one_line(private, compiler_of, tmp_path, caplog,
                                                            monkeypatch):
    """Its children end with it: a wrapper's `sleep` would hold the pipes open."""
    monkeypatch.setenv("NHMECH_COMPILE_SECONDS", "0.2")
    path = fake_compiler(tmp_path, '[ "$1" = --version ] && echo slow 1.0 && exit 0\nsleep 600')
    compiler = compiler_of(str(path))
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        assert [default_cache().load(CODE, compiler, 1) for _ in range(2)] == [None, None]
        simulator = Simulator(shipped("carriage"))
        assert simulator.atlas.primary.loop(build=True) is None
        assert simulator.run(0.01).stop == "duration"
    (line,) = caplog.records
    assert "did not finish within 0.2 s" in line.message and "virtual machine" in line.message
    monkeypatch.setenv("NHMECH_COMPILE_SECONDS", "soon")
    with pytest.raises(CompileError, match="NHMECH_COMPILE_SECONDS=soon"):
        compiler.build(tmp_path / "code.c", tmp_path / "code.so", 1)


def test_a_compiler_that_makes_nothing_is_an_error(private, compiler_of, tmp_path):
    compiler = compiler_of(str(fake_compiler(tmp_path, "echo fine; exit 0")))
    with pytest.raises(CompileError, match="made no library.*CC=none"):
        default_cache().load(CODE, compiler, 1)
    assert list(private.iterdir()) == []


@needs_compiler
def test_a_library_without_the_function_is_an_error(private, monkeypatch):
    library = default_cache().load(CODE, find_compiler(), 1)
    assert library.function("answer")() == 42
    with pytest.raises(CompileError, match="without 'question'"):
        library.function("question")


@needs_compiler
def test_a_full_disk_keeps_the_code_until_the_process_ends(private, monkeypatch, caplog):
    def full(self, text):
        if self.is_relative_to(private):
            raise OSError(28, "No space left on device")
        return write(self, text)

    write = Path.write_text
    monkeypatch.setattr(Path, "write_text", full)
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        library = default_cache().load(CODE, find_compiler(), 1)
        assert library.function("answer")() == 42
    assert not library.path.is_relative_to(private)
    (line,) = caplog.records
    assert "No space left" in line.message and "NHMECH_CACHE" in line.message
    monkeypatch.setattr(Path, "write_text", lambda self, text: write(Path("/dev/full"), text))
    with pytest.raises(CompileError, match="No space left.*CC=none"):
        default_cache().load(CODE + " ", find_compiler(), 1)


@needs_compiler
def test_code_is_compiled_unless_it_is_only_sought(private):
    """What is only sought is there once it has been compiled."""
    x = ca.SX.sym("x")
    text, square = Source(CODE, 1), ca.Function("nhmech_square", [x], [x ** 2])
    assert library_of(text, False) is None and in_c(square, False) is None
    assert library_of(text).code.answer() == 42 and in_c(square)(3.0) == 9
    assert library_of(text, False).code.answer() == 42 and in_c(square, False)(3.0) == 9


def test_without_a_compiler_one_line_says_so(private, compiler_of, caplog):
    compiler_of("none")
    say_no_compiler.cache_clear()
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        for _ in range(2):
            simulator = Simulator(shipped("carriage"))
            simulator.reset(xi={"left_wheel_joint": 3.0})
            assert simulator.atlas.primary.loop(build=True) is None
            assert simulator.run(0.01).stop == "duration"
    (line,) = caplog.records
    assert ("no C compiler" in line.message and "virtual machine" in line.message
            and "slower" in line.message)
    say_no_compiler.cache_clear()


# -- loop ------------------------------------------------------------------------------------------
RUNS = {
    "differential_drive": dict(xi={"left_wheel_joint": 5.0, "right_wheel_joint": 3.0}),
    "ackermann_car": dict(joints={"front_left_steering_joint": 0.3}),
    "bicycle": dict(pose=(0, 0, 0, 0.1, 0, 0.3), joints={"steering_joint": 0.15},
                    xi={"rear_wheel_joint": 15.0, "roll_rate": 0.4}),
    "disc": dict(pose=(0, 0, 0, 0.35, 0, 0.2), xi={"spin_joint": 8.0, "yaw_rate": 0.5}),
    "trailers": dict(joints={"front_left_steering_joint": 0.4, "hitch_1_joint": 0.5},
                     xi={"rear_left_wheel_joint": 6.0}),
    "swerve": dict(),
    "mecanum": dict(),
}


def counted(monkeypatch, calls: list[int]) -> None:
    """Every C loop from now on is built, and notes how many steps it is asked for."""
    original = Chart.loop

    def loop(chart, build):
        inner = original(chart, True)
        return replace(inner, many=lambda *args: (calls.append(args[0]._obj.steps),
                                                  inner.many(*args))[1])

    monkeypatch.setattr(Chart, "loop", loop)


def driven_run(name: str, duration: float, every: int):
    """A run with a controller at a slower rate, where there is something to drive."""
    nu = len(shipped(name).driven)
    controller = (None if nu == 0 else lambda t,
                  state: 0.4 * np.cos(3 * t + np.arange(nu)) - 0.05 * state.v[:nu])
    simulator = Simulator(shipped(name), controller, dt=1e-3, control_period=4e-3)
    simulator.reset(**RUNS.get(name, {}))
    return simulator.run(duration, every=every)


@needs_compiler
@pytest.mark.parametrize("name, every", sampled(product(RUNS, [1, 7]), 7))
def test_the_loop_in_c_is_the_virtual_machine(name, every, monkeypatch):
    """With a controller at a slower rate, thinned records, and a last step of a part of dt.
    A change of chart asks for one step twice."""
    calls: list[int] = []
    with monkeypatch.context() as patch:
        counted(patch, calls)
        compiled = driven_run(name, 0.2503, every)
    monkeypatch.setattr(Chart, "loop", lambda chart, build: None)
    interpreted = driven_run(name, 0.2503, every)
    assert 250 <= sum(calls) <= 252 and max(calls) == (4 if shipped(name).driven else 200)
    assert compiled.t[-1] == pytest.approx(0.2503, rel=1e-14)
    np.testing.assert_array_equal(compiled.t, interpreted.t)
    for part in ("q", "v", "u", "angles"):
        np.testing.assert_allclose(getattr(compiled, part), getattr(interpreted, part), rtol=1e-13,
                                   atol=1e-13, err_msg=part)


KEPT = {"differential_drive": True, "carriage": True, "mecanum": True, "tricycle": True,
        "disc": False, "pendulum": False, "ackermann_car": False}


@needs_compiler
@pytest.mark.parametrize("name", KEPT)
def test_what_the_scheme_keeps_by_itself_is_projected_now_and_then(name, monkeypatch):
    """With the attitude frozen phi cannot change; with a projection at each step all the same, the
    run is the same."""
    chart = Simulator(shipped(name)).atlas.primary
    keeping = keeping_advance_function(chart.equations, RK4)
    assert (keeping is not None) == KEPT[name]
    if KEPT[name]:
        kept = driven_run(name, 0.5, 10)
        monkeypatch.setattr(atlas, "loop_step",
                            lambda *parts: (step_function(advance_function(*parts)), False))
        # made anew, not the shared one
        monkeypatch.setattr(atlas, "_loop_source", atlas._loop_source.__wrapped__)
        for part in ("q", "v"):
            np.testing.assert_allclose(getattr(kept, part),
                                       getattr(driven_run(name, 0.5, 10), part), rtol=0,
                                       atol=1e-13, err_msg=part)


@needs_compiler
@pytest.mark.parametrize("name", ["differential_drive", "mecanum"])
def test_a_kept_constraint_is_kept_for_ever(name):
    """An error that something else brought in goes with the next projection,
    and over a million steps rounding does not add up."""
    simulator = Simulator(shipped(name), dt=1e-2)
    simulator.reset((0, 0, 0.4), xi={"forward_speed": 0.5})
    simulator.atlas.primary.loop(build=True)

    def height():
        _, phi = shipped(name).constraint_error(simulator.t, simulator.moment.q, simulator.moment.v)
        return np.abs(phi).max()

    simulator.moment.x[2] += 1e-9
    simulator.moment.x[3:5] = 1e-10
    for _ in range(loops.MENDED - 1):
        simulator.step()
    assert height() > 9e-10
    simulator.step()
    assert height() <= 1e-15
    run = simulator.run(1e4, every=1007)
    for t, q, v in list(zip(run.t, run.q, run.v))[::20]:
        assert np.abs(shipped(name).constraint_error(t, q, v)[1]).max() <= 1e-12
        assert abs(np.linalg.norm(q[3:7]) - 1) <= 1e-15 * 4


@needs_compiler
def test_on_a_slope_each_step_is_projected():
    """There the scheme does not keep the height by itself, for its stages do not have unit
    quaternions."""
    chart = Simulator(shipped("differential_drive", Ground(normal=(0.3, -0.2, 1)))).atlas.primary
    assert keeping_advance_function(chart.equations, RK4) is None


# -- what it costs to call it from Python ----------------------------------------------------------
def python_calls(function) -> tuple[int, int]:
    """How many functions of Python and of C a call calls."""
    found = {"call": 0, "c_call": 0}

    def count(frame, event, argument):
        if event in found:
            found[event] += 1

    function()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    # without `function` itself and the end of the counting
    return found["call"] - 1, found["c_call"] - 1


@needs_compiler
@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_a_step_and_a_run_call_little(integrator):
    """A step costs microseconds as long as it is about ten calls;
    a run as long as what it does not depend on its steps."""
    effort = np.zeros(2)
    simulator = Simulator(shipped("differential_drive"), lambda t, state: effort,
                          integrator=integrator)
    simulator.atlas.primary.loop(build=True)
    simulator.reset()
    python, c = python_calls(simulator.step)
    assert python <= 10 and c <= 10
    free = Simulator(shipped("differential_drive"), integrator=integrator)
    free.atlas.primary.loop(build=True)
    free.reset(xi={"forward_speed": 0.1})
    python, c = python_calls(lambda: free.run(0.1, every=100))
    # 19 of them look at the loads of the wheels at the start
    assert python <= 65 and c <= 69


@needs_compiler
@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_a_run_is_few_calls_of_c(integrator, monkeypatch):
    calls: list[int] = []
    simulator = Simulator(shipped("disc"), integrator=integrator)
    simulator.reset(**RUNS["disc"])
    with monkeypatch.context() as patch:
        counted(patch, calls)
        run = simulator.run(2.0)
    assert sum(calls) == 2000 and len(calls) <= 5 and len(run) == 2001


@needs_compiler
def test_once_built_any_run_uses_it(private):
    simulator = Simulator(shipped("disc"))
    assert simulator.atlas.primary.loop(build=False) is None
    assert simulator.atlas.primary.loop(build=True) is not None
    assert Simulator(shipped("disc")).atlas.primary.loop(build=False) is not None


@needs_compiler
def test_ctrl_c_in_c_ends_the_run_cleanly():
    simulator = Simulator(shipped("disc"), dt=1e-3)
    simulator.reset(**RUNS["disc"])
    assert simulator.atlas.primary.loop(build=True) is not None
    timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    run = simulator.run(1e5, every=100)
    timer.join()
    assert run.stop == "interrupted" and 0 < run.t[-1] < 1e5
    assert np.all(np.diff(run.t) > 0) and np.isfinite(run.q).all()
    assert np.allclose(np.diff(run.t)[:-1], 0.1, rtol=1e-9)
    again = Simulator(shipped("disc"), dt=1e-3)
    again.reset(**RUNS["disc"])
    same = again.run(float(run.t[-1]), every=10 ** 9)
    np.testing.assert_allclose(run.q[-1], same.q[-1], rtol=1e-12, atol=1e-12)
    simulator.run(0.01)                                                   # and can go on
    assert simulator.t == pytest.approx(run.t[-1] + 0.01, rel=1e-12)


@needs_compiler
def test_simulators_run_in_threads():
    """The C loop lets go of Python's lock; each run has its own memory."""
    def one(rate: float) -> np.ndarray:
        simulator = Simulator(shipped("disc"))
        simulator.reset(pose=(0, 0, 0, 0.35, 0, 0.2), xi={"spin_joint": rate})
        return simulator.run(1.0, every=50).q

    rates = [4.0, 6.0, 8.0, 10.0]
    alone = [one(rate) for rate in rates]
    with ThreadPoolExecutor(4) as pool:
        for expected, found in zip(alone, pool.map(one, rates)):
            np.testing.assert_array_equal(found, expected)
