"""One rule says whether a step may end where it does, and all that makes steps reads its answer."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from support import needs_compiler, random_states, shipped

import nhmech
from nhmech.compile.lanes import LaneState, compile_lanes
from nhmech.compile.mapped_lanes import MappedLanes
from nhmech.compile.status import CODES, Status
from nhmech.simulation.batch_input import stepper
from nhmech.simulation.integration.integrators import (
    FLAT,
    LOOSE,
    POOR,
    acceptance_function,
    step_function,
)

VEHICLES = ("disc", "bicycle", "trailers")
DT = 1e-3


# -- the vocabulary --------------------------------------------------------------------------------
def test_every_status_has_a_code_and_a_sentence():
    assert [int(status) for status in Status] == list(range(len(Status))) and not Status.DONE
    assert len({status.sentence for status in Status}) == len(Status) == len(CODES)
    assert Status(4) is Status.NOT_FINITE and Status(np.int64(4)).sentence.startswith("a step gave")


# -- the rule --------------------------------------------------------------------------------------
NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("x, health, side, guard, status", [
    ([1, 2], [0, 1, 1], 1, 1, Status.DONE),
    # numbers
    ([NAN, 2], [0, 1, 1], 1, 1, Status.NOT_FINITE),
    ([1, INF], [0, 1, 1], 1, 1, Status.NOT_FINITE),
    ([INF, -INF], [0, 1, 1], 1, 1, Status.NOT_FINITE),
    ([1, 2], [NAN, 1, 1], 1, 1, Status.NOT_FINITE),
    ([1, 2], [INF, 1, 1], 1, 1, Status.NOT_FINITE),
    ([1, 2], [0, -INF, 1], 1, 1, Status.NOT_FINITE),
    ([1, 2], [0, 1, NAN], 1, 1, Status.NOT_FINITE),
    ([0.9e10, 2], [0, 1, 1], 1, 1, Status.DONE),
    ([1, -1.1e10], [0, 1, 1], 1, 1, Status.NOT_FINITE),
    # the constraints: a micrometre
    ([1, 2], [0.9e-6, 1, 1], 1, 1, Status.DONE),
    ([1, 2], [1.1e-6, 1, 1], 1, 1, Status.OFF),
    ([1, 2], [LOOSE, 1, 1], 1, 1, Status.DONE),
    ([1, 2], [1.01 * LOOSE, 1, 1], 1, 1, Status.OFF),
    # the frame's margin
    ([1, 2], [0, POOR, 1], 1, 1, Status.DONE),
    ([1, 2], [0, 0.99 * POOR, 1], 1, 1, Status.SINGULAR),
    ([1, 2], [0, -1, 1], 1, 1, Status.SINGULAR),
    ([1, 2], [0, -1, 1], -1, 1, Status.DONE),
    ([1, 2], [0, -1, 1], NAN, 1, Status.DONE),
    # a guard on its way through zero
    ([1, 2], [0, 1, 0.5], 1, 1, Status.DONE),
    ([1, 2], [0, 1, 0.99 * FLAT], 1, 1.2 * FLAT, Status.DONE),
    ([1, 2], [0, 1, 0.99 * FLAT], 1, 1.6 * FLAT, Status.FALLEN),
    ([1, 2], [0, 1, 1.6 * FLAT], 1, 0.99 * FLAT, Status.FALLEN),
    ([1, 2], [0, 1, 0.5 * FLAT], 1, 0.7 * FLAT, Status.DONE),
    ([1, 2], [0, 1, -0.01 * FLAT], 1, 0.5 * FLAT, Status.FALLEN),
    ([1, 2], [0, 1, 0.5 * FLAT], 1, NAN, Status.DONE),
    # a guard below zero, wherever it was before
    ([1, 2], [0, 1, -1], 1, -1, Status.FALLEN),
    ([1, 2], [0, 1, -0.2], 1, -0.19, Status.FALLEN),
    # of several the gravest
    ([1, 2], [1, -1, 0.01], 1, 1, Status.OFF),
    ([1, 2], [0, -1, 0.01], 1, 1, Status.FALLEN),
    ([NAN, 2], [1, -1, 0.01], 1, 1, Status.NOT_FINITE),
])
def test_the_rule(x, health, side, guard, status):
    assert float(acceptance_function(2)(x, health, side, guard)) == status


# -- everything that makes steps -------------------------------------------------------------------
@cache
def cases(name: str):
    """x, u, side and guard of steps that end in every way but for a step that is too small."""
    vehicle = shipped(name)
    step = stepper(vehicle).step
    nx, nu = step.size1_in(1), step.size1_in(2)
    rows = []

    def add(x, u, side, guard):
        rows.append((np.array(x), np.array(u), side, guard))

    # the small efforts keep the steps of the lightest ones on the constraints
    for chosen, q, xi, u in random_states(vehicle, 4, seed=11):
        if chosen is not vehicle:
            continue
        x = stepper(vehicle).state_vector.assemble(q, xi)
        x = step(0.0, x, 0 * u, vehicle.theta, 0.0, NAN, NAN)[0].full().ravel()
        _, health, _ = (out.full().ravel() for out in
                        step(0.0, x, 1e-3 * u, vehicle.theta, DT, NAN, NAN))
        side, guard = np.sign(health[1]), health[2]
        for s, g in [(side, guard), (-side, guard), (NAN, NAN), (side, 0.01 * guard),
                     (side, 3 * guard), (-side, 0.01 * guard)]:
            add(x, 1e-3 * u, s, g)
        for bad in (NAN, INF, -INF):
            for i in range(nx):
                add([bad if j == i else x[j] for j in range(nx)], 1e-3 * u, side, guard)
            for i in range(nu):
                add(x, [bad if j == i else 1e-3 * u[j] for j in range(nu)], side, guard)
        lifted = x.copy()
        lifted[2] += 0.3
        add(lifted, 1e-3 * u, side, guard)
    return tuple(np.array(column) for column in zip(*rows))


def expected(name: str) -> np.ndarray:
    """By NumPy, from what the step gives in the virtual machine."""
    x, u, side, guard = cases(name)
    step, theta = stepper(shipped(name)).step, shipped(name).theta
    statuses = []
    for row in zip(x, u, side, guard):
        end, (phi, margin, least), _ = (out.full().ravel() for out in
                                        step(0.0, *row[:2], theta, DT, *row[2:]))
        low, high = np.fmin(least, row[3]), np.fmax(least, row[3])
        statuses.append(
            Status.NOT_FINITE if not np.isfinite([*end, phi, margin, least]).all()
            else Status.OFF if phi > LOOSE
            else Status.FALLEN if low < FLAT and high > 1.5 * low
            else Status.SINGULAR if margin * row[2] < POOR else Status.DONE)
    return np.array(statuses)


def after_one_step(runner, name: str) -> LaneState:
    x, u, side, guard = cases(name)
    state = LaneState.of(x, runner.width)
    state.side[:len(x)], state.health[2, :len(x)] = side, guard
    theta = np.broadcast_to(shipped(name).theta, (len(x), len(shipped(name).theta)))
    runner.run(state, np.ascontiguousarray(u), theta, dt=DT, k0=0, steps=1)
    return state


@pytest.mark.parametrize("name", VEHICLES)
def test_the_virtual_machine_and_a_batch_without_a_compiler(name):
    wanted, step = expected(name), stepper(shipped(name)).step
    assert {Status.DONE, Status.SINGULAR, Status.OFF, Status.NOT_FINITE} <= set(wanted)
    assert (Status.FALLEN in wanted) == bool(shipped(name).constrained.guard_names)
    singly = [float(step(0.0, x, u, shipped(name).theta, DT, side, guard)[2])
              for x, u, side, guard in zip(*cases(name))]
    np.testing.assert_array_equal(singly, wanted)
    mapped = after_one_step(MappedLanes(step), name)
    np.testing.assert_array_equal(mapped.status, wanted)
    # what is refused is not taken
    x0 = cases(name)[0].T
    refused = wanted != Status.DONE
    np.testing.assert_array_equal(mapped.x[:, refused], x0[:, refused])
    assert (mapped.x[:, ~refused] != x0[:, ~refused]).any(axis=0).all()


@needs_compiler
@pytest.mark.parametrize("name", VEHICLES)
def test_lanes(name):
    count = len(cases(name)[0])
    state = after_one_step(compile_lanes(stepper(shipped(name)).step), name)
    np.testing.assert_array_equal(state.status[:count], expected(name))


@pytest.mark.parametrize("make", [MappedLanes, pytest.param(compile_lanes, marks=needs_compiler)])
def test_each_step_is_judged_against_the_guard_of_the_step_before(make):
    """Guards exp(-rate t): one that shrinks by a tenth a step passes FLAT and goes on, one that
    shrinks to 0.6 is on its way through zero at exp(-5 k / 10) < FLAT, k = 5. Refused steps leave
    x and guard of the last good one, beside lanes that go on."""
    t, dt, x, u = (ca.SX.sym(name) for name in ("t", "dt", "x", "u"))
    end = x * ca.exp(-u * dt)
    runner = make(step_function(ca.Function("decay", [t, x, u, ca.SX.sym("theta", 0), dt],
                                            [end, ca.vertcat(0, 1, end)])))
    rates = np.array([1.0, 5.0, 1.0, 5.0, 1.0, 5.0])
    state = LaneState.of(np.ones((6, 1)), runner.width)
    state.side[:], state.health[2] = 1.0, 1.0
    runner.run(state, rates[:, None], np.zeros((6, 0)), dt=0.1, k0=0, steps=40)
    falls = rates == 5
    np.testing.assert_array_equal(state.status[:6], np.where(falls, Status.FALLEN, Status.DONE))
    np.testing.assert_array_equal(state.done[:6][falls], 4)
    kept = np.where(falls, np.exp(-5 * 0.4), np.exp(-4.0))
    np.testing.assert_allclose(state.cases[:, 0], kept, rtol=1e-13)
    np.testing.assert_allclose(state.health[2, :6], kept, rtol=1e-13)


@pytest.mark.parametrize("make", [MappedLanes, pytest.param(compile_lanes, marks=needs_compiler)])
def test_each_step_begins_at_its_time(make):
    """x + t dt, from step 3 on: the sum of k dt^2."""
    t, dt, x, u = (ca.SX.sym(name) for name in ("t", "dt", "x", "u"))
    runner = make(step_function(ca.Function("clock", [t, x, u, ca.SX.sym("theta", 0), dt],
                                            [x + t * dt, ca.vertcat(0, 1, 1)])))
    state = LaneState.of(np.zeros((2, 1)), runner.width)
    state.side[:], state.health[2] = 1.0, 1.0
    runner.run(state, np.zeros((2, 1)), np.zeros((2, 0)), dt=0.1, k0=3, steps=5)
    np.testing.assert_allclose(state.cases[:, 0], 0.01 * (3 + 4 + 5 + 6 + 7), rtol=1e-13)


@needs_compiler
@pytest.mark.parametrize("name", VEHICLES)
def test_the_loop_in_c_and_the_step_in_python(name):
    """Both go on towards the constraints where a step was a coarse one, so that being off them is
    no reason to stop; of the others each status is that of the step alone."""
    simulator = nhmech.Simulator(shipped(name), dt=DT)
    simulator.reset()
    chart, moment, theta = simulator.atlas.primary, simulator.moment, shipped(name).theta
    compiled = simulator.propagator.prepare(chart.loop(build=True))
    wanted, met = expected(name), set()
    for x, u, side, guard, status in zip(*cases(name), wanted):
        moment.clear()
        moment.x[:], moment.u[:], moment.health[2] = x, u, guard
        compiled.setup.side = side
        by_python = chart.advance(0.0, x, u, theta, DT, side, guard).status
        by_c = compiled.run(1)
        assert by_c == by_python
        assert status in (by_c, Status.OFF)
        assert (moment.x == x).all() if by_c and np.isfinite(x).all() else True
        met.add(by_python)
    assert {Status.DONE, Status.SINGULAR, Status.NOT_FINITE} <= met


def test_a_function_that_has_simplified_something_away_cannot_hide_a_nan():
    """x - x is 0 to CasADi; the rule sums what it is given instead."""
    x, health = ca.SX.sym("x", 2), ca.DM([0, 1, 1])
    accept = acceptance_function(2)
    composed = ca.Function("composed", [x], [accept(ca.vertcat(x[0] - x[1], x[1]), health, 1, 1)])
    assert float(composed([NAN, 0.0])) == float(composed([0.0, INF])) == Status.NOT_FINITE
    assert float(composed([1.0, 2.0])) == Status.DONE
