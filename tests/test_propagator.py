"""The steps of a run in compiled code: how many at a time, where their rows go, and what becomes of
a moment that is gone back to."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support import needs_compiler, shipped

from nhmech import Simulator
from nhmech.simulation import propagator as propagators
from nhmech.simulation.pacing import CHUNK


class Rows:
    """Memory for rows, which counts those that are asked for and those that are written."""

    def __init__(self, width: int, every: int):
        self.every, self.memory = every, np.full((300, width), np.nan)
        self.asked = self.written = 0

    def room(self, rows: int) -> int:
        self.asked = rows
        return self.memory.ctypes.data

    def extend(self, rows: int) -> None:
        self.written += rows


def rolling(**options) -> Simulator:
    simulator = Simulator(shipped("carriage"), **options)
    simulator.reset(xi={"left_wheel_joint": 3.0, "right_wheel_joint": 2.0})
    simulator.compile()
    return simulator


def rows_of(simulator: Simulator, every: int) -> Rows:
    moment = simulator.moment
    return Rows(1 + sum(part.size for part in (moment.q, moment.v, moment.u))
                + len(moment.layout.angles), every)


CALLS = [(1, 0, 1), (7, 0, 1), (7, 0, 3), (7, 3, 3), (7, 4, 3), (7, 5, 3), (2, 5, 9), (9, 9, 9),
         (10, 9, 9), (1, 8, 9)]


@needs_compiler
@pytest.mark.parametrize("steps, k, every", CALLS)
@pytest.mark.parametrize("in_turns", [False, True])
def test_rows_have_room_and_are_those_of_every_so_manieth_step(in_turns, steps, k, every):
    """Counted from the start of the run; in one call of C, or with a function between any two
    steps."""
    simulator = rolling()
    propagator, moment, rows, asked = simulator.propagator, simulator.moment, rows_of(
        simulator, every), []
    loop = propagator.loop()
    if in_turns:
        found = propagator.take_turns(loop, steps, lambda: asked.append(moment.k), rows, k)
        assert asked == [*range(1, steps)]
    else:
        found = propagator.advance_many(loop, steps, rows, k)
    assert found == (steps, False) and moment.k == steps
    recorded = [i for i in range(steps) if (k + i) % every == 0]
    assert rows.written == len(recorded) <= rows.asked <= len(recorded) + (k % every > 0)
    np.testing.assert_allclose(rows.memory[:rows.written, 0], np.array(recorded) * 1e-3,
                               rtol=1e-14)
    assert np.isfinite(rows.memory[:rows.written]).all()
    assert np.isnan(rows.memory[rows.written:]).all()


@needs_compiler
def test_a_step_that_c_refuses_is_left_to_python():
    """The steps before it count; its inputs are no numbers."""
    simulator = rolling()
    propagator, moment, rows = simulator.propagator, simulator.moment, rows_of(simulator, 1)

    def spoil():
        if moment.k == 4:
            moment.u[:] = np.nan
    assert propagator.take_turns(propagator.loop(), 9, spoil, rows, 0) == (4, True)
    assert moment.k == 4 and rows.written == 5      # the row of the refused step is there
    assert propagator.advance_many(propagator.loop(), 9, rows, 4) == (0, True)
    assert propagator.take_turns(propagator.loop(), 9, spoil, rows, 4) == (0, True)
    assert not propagator.step_in_c() and moment.k == 4


@needs_compiler
def test_ctrl_c_waits_neither_for_slow_functions_nor_for_many_steps(monkeypatch):
    """A call with turns ends when its time is over; one without learns how many steps that is."""
    simulator, now = rolling(), [0.0]
    propagator, rows = simulator.propagator, rows_of(simulator, 10 ** 6)
    loop = propagator.loop()
    monkeypatch.setattr(propagators, "perf_counter", lambda: now[0])

    def slow():
        now[0] += 0.4 * propagators.LOOK
    assert propagator.take_turns(loop, 50, slow, rows, 0) == (4, False)
    # begin and end of each call
    times = iter([0.0, 0.0, 5.0, 5.0, 7.0, 8.0, 9.0, 9.0])
    monkeypatch.setattr(propagators, "perf_counter", lambda: next(times))
    first = CHUNK // 100
    for steps in (first, 2 * first, 4 * first, 2 * first):
        assert propagator.advance_many(loop, 10 ** 6, rows, 1) == (steps, False)


# -- back to a moment ------------------------------------------------------------------------------
@needs_compiler
def test_a_bookmark_brings_all_of_a_moment_back():
    """And the same code goes on from there."""
    simulator = rolling()
    propagator, moment = simulator.propagator, simulator.moment
    assert propagator.step_in_c()
    before, code = propagator.bookmark(), propagator._compiled
    kept = moment.block.copy()
    assert propagator.step_in_c() and propagator.step_in_c()
    after = moment.block.copy()
    propagator.restore(before)
    np.testing.assert_array_equal(moment.block, kept)
    assert propagator._compiled is code and propagator.step_in_c() and propagator.step_in_c()
    np.testing.assert_array_equal(moment.block, after)
    # in another chart its own code
    other = SimpleNamespace(kinematic=False)
    propagator.atlas.charts.append(other)
    propagator.atlas.chart = other
    propagator.restore(before)
    assert propagator.atlas.chart is propagator.atlas.primary and propagator._compiled is None
    propagator.atlas.charts.pop()


@pytest.mark.parametrize("dt, clock", [(1e-3, (0.012, 12, 0.0)), (4e-4, (0.0114, 12, -0.0006))])
def test_the_clock_after_a_step_of_any_length(dt, clock):
    """Whole steps count from where they began, so that no rounding adds up; after a part of one
    they count from elsewhere."""
    simulator = Simulator(shipped("carriage"))
    simulator.reset(xi={"left_wheel_joint": 3.0})
    for _ in range(11):
        simulator.step()
    simulator.propagator.advance(dt)
    assert simulator.moment.clock == pytest.approx(clock, rel=1e-12, abs=1e-16)
    simulator.propagator.advance(1e-3)
    assert simulator.moment.clock == pytest.approx((clock[0] + 1e-3, 13, clock[2]), rel=1e-12,
                                                   abs=1e-16)
