"""The loop over many cases, in each of its forms, against the same steps written out in NumPy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from cuda_stand_in import Driver, Nvrtc
from support import needs_compiler

from nhmech.compile import gpu, lane_function, lanes as lane_code, loop as loops, nvrtc
from nhmech.compile.compiler import LARGE, Compiler
from nhmech.compile.gpu import compile_kernel
from nhmech.compile.lane_function import compile_lane_function
from nhmech.compile.lanes import LaneState, compile_lanes, find_vector_compiler
from nhmech.compile.mapped_lanes import MappedLanes
from nhmech.errors import CompileError

REFUSED, BOUND = 7, 1.5
DT = 0.125      # and all numbers below are exact in binary


def step(name: str, swift: float) -> ca.Function:
    """x0 and x1 follow time, inputs and parameters, x2 counts swift steps, x3 the guards and sides;
    a step beyond `BOUND` is refused."""
    t, dt, side, guard = (ca.SX.sym(symbol) for symbol in ("t", "dt", "side", "guard"))
    x, u, theta = ca.SX.sym("x", 4), ca.SX.sym("u", 2), ca.SX.sym("theta", 3)
    rate = ca.vertcat(u[0] + t, theta[2] * u[1] + theta[0], 0, guard + side)
    after = x + dt * rate + ca.vertcat(0, 0, swift, 0)
    health = ca.vertcat(after[2], after[1], guard + 0.5)
    return ca.Function(name, [t, x, u, theta, dt, side, guard],
                       [after, health, REFUSED * (after[0] > BOUND)])


THOROUGH, SWIFT = step("nhmech_step", 0.0), step("nhmech_swift", 1.0)


def written_out(x, side, u, theta, *, k0, steps, hold, mended):
    """States before each step, and the last one; health; number of the refused step or -1; of one
    case with inputs u of each period."""
    x, guard, health, seen = x.copy(), 1.0, np.zeros(2), []
    for k in range(k0, k0 + steps):
        seen.append(x)
        held = u[k // hold]
        after = x + DT * np.array([held[0] + k * DT, theta[2] * held[1] + theta[0], 0.0,
                                   guard + side])
        after[2] += (k + 1) % mended != 0
        health = after[[2, 1]]
        if after[0] > BOUND:
            return [*seen, *[x] * (k0 + steps - k)], health, guard, k
        x, guard = after, guard + 0.5
    return [*seen, x], health, guard, -1


def lanes(monkeypatch, folder):
    return compile_lanes(THOROUGH, SWIFT)


def kernel(monkeypatch, folder):
    driver, compiler = Driver(folder), Nvrtc(folder)
    for module in (gpu, nvrtc):
        monkeypatch.setattr(module, "bindings", lambda: type("cuda", (), {
            "driver": driver, "nvrtc": compiler}))
    gpu.first_gpu.cache_clear()
    return compile_kernel(THOROUGH.n_instructions(), THOROUGH, SWIFT)


def mapped(monkeypatch, folder):
    return MappedLanes(THOROUGH)


@pytest.fixture(params=[lanes, kernel, mapped])
def runner(request, monkeypatch, tmp_path):
    yield request.param(monkeypatch, tmp_path)
    gpu.first_gpu.cache_clear()


def start(runner, count: int, seed: int) -> LaneState:
    random = np.random.default_rng(seed)
    state = LaneState.of(random.integers(-8, 8, size=(count, 4)) / 8, runner.width)
    state.side[:] = np.where(random.random(state.room) < 0.5, 1.0, -1.0)
    state.health[2] = 1.0
    return state


@needs_compiler
@pytest.mark.parametrize("count, k0, steps, hold, every, periods", [
    (1, 0, 1, 1, 1, None), (5, 0, 12, 1, 1, None), (3, 4, 9, 2, 3, True), (8, 3, 7, 4, 2, True),
    (11, 5, 20, 3, 5, True), (2, 64, 70, 7, 9, None)])
def test_each_case_takes_its_own_steps(runner, count, k0, steps, hold, every, periods):
    """Whatever the number of cases, of steps before, and of those between two inputs, two rows and
    two thorough steps; arrays may lie in memory in any order."""
    mended, random = 1 if isinstance(runner, MappedLanes) else 4, np.random.default_rng(count)
    state, turns = start(runner, count, k0), -(-(k0 + steps) // hold)
    x, side = state.x.T.copy(), state.side.copy()
    theta = np.asfortranarray(random.integers(-4, 4, size=(count, 3)) / 8)
    table = random.integers(-4, 5, size=(count, turns, 2)) / 4
    u = table.swapaxes(0, 1) if periods else np.asfortranarray(table[:, 0])
    record = np.full((-(-(k0 + steps) // every), 4, state.room), np.nan)
    with ThreadPoolExecutor(2) as pool:
        runner.run(state, u, theta, dt=DT, k0=k0, steps=steps, hold=hold, every=every,
                   record=record, spread=pool.map, parts=2, mended=mended)
    rows = range(-(-k0 // every), len(record))
    assert np.isnan(record[:rows[0]]).all()
    stopped = 0
    for i in range(count):
        seen, health, guard, refused = written_out(
            x[i], side[i], table[i] if periods else np.tile(table[i, 0], (turns, 1)), theta[i],
            k0=k0, steps=steps, hold=hold, mended=mended)
        np.testing.assert_array_equal(state.x[:, i], seen[-1])
        np.testing.assert_array_equal(record[rows, :, i], [seen[r * every - k0] for r in rows])
        assert state.status[i] == (REFUSED if refused >= 0 else 0)
        assert state.done[i] == max(refused, 0) and state.health[2, i] == guard
        if refused < 0:
            np.testing.assert_array_equal(state.health[:2, i], health)
        stopped += refused >= 0
    assert stopped or count in (1, 8)


@needs_compiler
@pytest.mark.parametrize("steps", [1, 10, loops.MENDED + 3])
@pytest.mark.parametrize("make", [lanes, mapped])
def test_steps_on_fixed_memory_are_those_of_a_run(make, steps, monkeypatch, tmp_path):
    """From time zero at each call, the last of few thorough; what has been refused stays."""
    runner = make(monkeypatch, tmp_path)
    random, found = np.random.default_rng(steps), []
    theta = np.asfortranarray(random.integers(-4, 4, size=(5, 3)) / 8)
    u = np.asfortranarray(random.integers(-4, 5, size=(5, 2)) / 4)
    for bound in (True, False):
        state = start(runner, 5, 1)
        call = runner.bind(state, u, theta, dt=DT, steps=steps)
        for _ in range(2):
            if bound:
                call()
            else:
                runner.run(state, u, theta, dt=DT, k0=0, steps=steps,
                           mended=min(steps, loops.MENDED))
        found.append(state)
        assert u.flags.writeable
    for part in ("x", "health", "status", "done"):
        np.testing.assert_array_equal(getattr(found[0], part), getattr(found[1], part))
    assert np.isfinite(found[0].x).all()


@pytest.mark.parametrize("count, width, room", [(1, 1, 1), (1, 4, 4), (4, 4, 4), (5, 4, 8)])
def test_packs_are_filled_with_the_last_case(count, width, room):
    x0 = np.random.default_rng(0).normal(size=(count, 3))
    state = LaneState.of(x0, width)
    assert (state.count, state.room) == (count, room) and state.x.flags.c_contiguous
    np.testing.assert_array_equal(state.x.T, [*x0, *[x0[-1]] * (room - count)])
    np.testing.assert_array_equal(state.cases, x0)
    assert not state.cases.flags.writeable and state.x.flags.writeable
    assert state.health.shape == (3, room) and state.side.shape == (room,)
    assert np.isnan(state.health).all() and np.isnan(state.side).all()
    assert not state.status.any() and not state.done.any()
    assert state.status.dtype == state.done.dtype == np.int64


@pytest.fixture
def no_compiler_yet():
    find_vector_compiler.cache_clear()
    yield
    find_vector_compiler.cache_clear()


def test_lanes_are_for_a_processor_that_is_known(monkeypatch, no_compiler_yet):
    """No cache may give them to another one; without a compiler there are none."""
    monkeypatch.setattr(lane_code, "find_compiler", lambda: None)
    assert find_vector_compiler() is None
    find_vector_compiler.cache_clear()
    given = Compiler("/bin/cc", "cc 1.0", ("-pipe",))
    monkeypatch.setattr(lane_code, "find_compiler", lambda: given)
    monkeypatch.setattr(lane_code, "processor_of", lambda compiler, flags: None)
    with pytest.raises(CompileError, match="^/bin/cc -pipe -march=native does not say for which"):
        find_vector_compiler()
    monkeypatch.setattr(lane_code, "processor_of", lambda compiler, flags: "p".join(flags) + "1")
    found = find_vector_compiler()
    assert (found.path, found.version, found.words) == (given.path, given.version, given.words)
    for instructions, level in ((LARGE, "-O2"), (LARGE + 1, "-Og")):
        flags = found.flags(instructions)
        assert flags[:3] == ("-x", "c++", level) and "-DPROCESSOR=-march=native1" in flags


# -- one function ----------------------------------------------------------------------------------
def function_of_three() -> ca.Function:
    a, b, c = ca.SX.sym("a", 2), ca.SX.sym("b", 0), ca.SX.sym("c")
    return ca.Function("nhmech_three", [a, b, c], [ca.vertcat(a[1] - c, a[0] * c, c / 3), a[0]])


def no_library(functions, text):
    return None


def no_code(functions, text):
    raise CompileError("none here")


@pytest.mark.parametrize("library, room", [(None, 16), (None, 3), (no_library, 16), (no_code, 16)],
                         ids=["lanes", "no whole number of packs", "no compiler", "a failing one"])
def test_a_function_of_columns(library, room, monkeypatch):
    """On its memory, however often that changes."""
    if library is not None:
        monkeypatch.setattr(lane_function, "library_in_lanes", library)
    random, inputs = np.random.default_rng(room), [np.empty((n, room)) for n in (2, 0, 1)]
    made = compile_lane_function(function_of_three(), inputs)
    assert [output.shape for output in made.outputs] == [(3, room), (1, room)]
    for _ in range(2):
        for values in inputs:
            values[...] = random.normal(size=values.shape)
        a, _, c = inputs
        made.run()
        np.testing.assert_allclose(made.outputs[0], [a[1] - c[0], a[0] * c[0], c[0] / 3],
                                   rtol=1e-15)
        np.testing.assert_array_equal(made.outputs[1], a[:1])


@pytest.mark.parametrize("room, is_called", [(12, True), (4, True), (10, False), (3, False)])
def test_a_compiled_function_is_called_for_whole_packs(room, is_called, monkeypatch):
    """With the number of columns and the addresses of its memory."""
    calls = []

    def called(room, inputs, outputs):
        calls.append((room.value, *(address for one in (inputs, outputs)
                                    for address in one._obj)))

    made_of = {"nhmech_lane_count": lambda: 4, "nhmech_lane_function": called}
    monkeypatch.setattr(lane_function, "library_in_lanes",
                        lambda functions, text: SimpleNamespace(function=made_of.__getitem__))
    inputs = [np.ones((n, room)) for n in (2, 0, 1)]
    made = compile_lane_function(function_of_three(), inputs)
    made.run()
    assert calls == [(room, *(one.ctypes.data for one in (*inputs, *made.outputs)))] * is_called
    assert bool(made.outputs[1].all()) is not is_called
