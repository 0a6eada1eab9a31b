"""Batches: the steps of `Simulator`, for many cases side by side."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support import VARIED, needs_compiler, random_states, shipped

import nhmech
from nhmech.compile.compiler import find_compiler
from nhmech.compile.lanes import LaneState, compile_lanes
from nhmech.compile.loop import MENDED
from nhmech.compile.mapped_lanes import MappedLanes
from nhmech.compile.status import Status
from nhmech.simulation import batch_input
from nhmech.simulation.batch_input import start_cases, stepper
from nhmech.simulation.integration.integrators import INLINE, python_step
from nhmech.simulation.integration.schemes import SCHEMES
from nhmech.systems import load_system
from nhmech.vehicle.reactions import reactions

DRIVING = {"left_wheel_joint": 4.0, "right_wheel_joint": 2.5}


@pytest.fixture(scope="module")
def drive():
    return shipped("differential_drive")


@pytest.fixture(scope="module")
def start(drive):
    """Seven cases: not a whole number of vectors of any width."""
    rng = np.random.default_rng(3)
    return nhmech.start_states(drive, [(*rng.normal(size=2), rng.uniform(-3, 3)) for _ in range(7)],
                               xi=DRIVING)


@pytest.fixture(scope="module")
def efforts():
    return np.random.default_rng(4).normal(size=(7, 2)) * 0.05


def scalar_run(vehicle, x0, controller, duration, *, every=1, control_period=None, dt=1e-3):
    """The same case by `Simulator`."""
    simulator = nhmech.Simulator(vehicle, controller, dt=dt, control_period=control_period)
    vector = simulator.atlas.primary.state_vector
    simulator.reset(q=vector.configuration(x0[:vector.nconf]), xi=x0[vector.nconf:])
    return simulator.run(duration, every=every)


# -- the same steps --------------------------------------------------------------------------------
@pytest.mark.parametrize("name", VARIED)
def test_one_step_agrees_with_the_scalar_step(name):
    vehicle = shipped(name)
    made = stepper(vehicle)
    equations, vector = made.equations, made.state_vector
    states = [(q, xi, u)
              for chosen, q, xi, u in random_states(vehicle, 5, seed=7) if chosen is vehicle]
    x0 = np.array([vector.assemble(q, xi) for q, xi, _ in states])
    most = np.array([vehicle.limits[name].effort for name in vehicle.driven])
    u = np.clip([u for *_, u in states], -most, most)
    batch = nhmech.simulate_batch(vehicle, x0, u, dt=1e-3, duration=0.001)
    step = python_step(equations, SCHEMES["rk4"], False, None)
    for i in range(len(states)):
        # put onto the constraints, as a batch does first
        start = step(0.0, x0[i], u[i], vehicle.theta, 0.0, np.nan, np.nan).x
        side = np.sign(step(0.0, start, u[i], vehicle.theta, 0.0, np.nan, np.nan).health[1])
        expected, q, v, health, status, _ = step(0.0, start, u[i], vehicle.theta, 1e-3, side,
                                                 np.nan)
        if batch.ok[i]:
            np.testing.assert_allclose(batch.x[i, -1], expected, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(batch.q[i, -1], q, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(batch.v[i, -1], v, rtol=1e-12, atol=1e-11)
        # a sample at which other speeds serve
        else:
            assert batch.status[i] == status == Status.SINGULAR and abs(health[1]) < 0.1
    assert batch.ok.any()


@pytest.mark.parametrize("name, xi", [("differential_drive", DRIVING),
                                      ("bicycle", {"rear_wheel_joint": 15.0, "roll_rate": 0.2}),
                                      ("mecanum", {}), ("disc", None)])
def test_runs_agree_with_the_simulator_and_stay_on_the_constraints(name, xi):
    vehicle = shipped(name)
    x0 = nhmech.start_states(vehicle, [(0.3 * i, -0.2 * i, 0.5 * i) for i in range(3)], xi=xi)
    u = np.random.default_rng(1).normal(size=(3, vehicle.constrained.system.u.numel())) * 0.02
    batch = nhmech.simulate_batch(vehicle, x0, u, dt=1e-3, duration=0.4, every=150)
    assert batch.ok.all() and batch.t == pytest.approx([0.0, 0.15, 0.3, 0.4], abs=1e-15)
    for i in range(3):
        run = scalar_run(vehicle, x0[i], lambda t, state: u[i], 0.4, every=150)
        np.testing.assert_allclose(batch.xi[i], run.xi, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(batch.q[i, -1], run.q[-1], rtol=1e-10, atol=1e-10)
        rates, phi = vehicle.constraint_error(0.4, batch.q[i, -1], batch.v[i, -1])
        assert (np.abs(phi).max() <= 1e-12 * max(1.0, np.linalg.norm(batch.q[i, -1, :3]))
                and np.abs(rates).max() < 1e-10)
    assert np.abs(np.linalg.norm(batch.x[:, :, 3:7], axis=2) - 1).max() < 1e-15 * 4


def test_efforts_are_cut_at_the_limits_of_their_joints(drive, start):
    """As by the simulator, however they are given."""
    most, asked = drive.limits["left_wheel_joint"].effort, np.array([50.0, 0.5])
    for u in (asked, np.tile(asked, (len(start), 20, 1)), lambda t, x: np.tile(asked, (len(x), 1))):
        batch = nhmech.simulate_batch(drive, start, u, dt=1e-3, duration=0.02)
        np.testing.assert_array_equal(batch.u, np.broadcast_to((most, 0.5), batch.u.shape))
    simulator = nhmech.Simulator(drive, lambda t, state: asked, on_lift="ignore")
    simulator.reset(xi=DRIVING)
    np.testing.assert_allclose(batch.xi[0], simulator.run(0.02).xi, rtol=1e-10, atol=1e-10)


def test_both_ways_of_writing_the_step_are_tried():
    """One expression for small systems, calls for large ones: the test above means little if all
    were of one kind."""
    costs = [stepper(shipped(name)).cost for name in ("differential_drive", "bicycle")]
    assert costs[0] < INLINE < costs[1]


def test_a_system_without_wheels():
    sled = load_system("sled")
    starts = [(0.1 * i, 0.2, -0.5 + 0.2 * i) for i in range(5)]
    x0 = nhmech.start_states(sled.constrained, starts, xi={"x'": 1.2, "phi'": 0.4})
    batch = nhmech.simulate_batch(sled.constrained, x0, dt=1e-2, duration=1.0, every=100)
    heading = batch.column("phi")
    np.testing.assert_allclose(heading[:, -1], heading[:, 0] + 0.4, rtol=1e-12, atol=1e-12)
    speed = np.hypot(*batch.v[:, -1].T[:2])
    # a circle at constant speed
    np.testing.assert_allclose(speed, np.hypot(*batch.v[:, 0].T[:2]), rtol=1e-9)
    assert batch.multipliers.shape == (5, 2, 1)
    with pytest.raises(nhmech.SimulationError, match="only a vehicle has wheels"):
        _ = batch.reactions


# -- inputs ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [1, 3, 4, 5])
def test_any_number_of_cases_gives_the_same_numbers(drive, start, efforts, count):
    whole = nhmech.simulate_batch(drive, start, efforts, dt=1e-3, duration=0.05, every=10)
    part = nhmech.simulate_batch(drive, start[-count:], efforts[-count:], dt=1e-3, duration=0.05,
                                 every=10)
    assert part.x.shape == (count, 6, start.shape[1]) and len(part) == count
    np.testing.assert_array_equal(part.x, whole.x[-count:])


def test_threads_change_nothing(drive, start, efforts):
    x0, u = np.tile(start, (9, 1)), np.tile(efforts, (9, 1))
    runs = [nhmech.simulate_batch(drive, x0, u, dt=1e-3, duration=0.06, every=7,
                                  threads=n) for n in (1, 2, 3, 100)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.x, runs[0].x)


def test_a_policy_is_asked_once_per_control_period(drive, start):
    moments = []

    def policy(t, x):
        moments.append(t)
        assert x.shape == start.shape and not x.flags.writeable
        return 0.1 * (np.array([3.0, 2.0]) - x[:, -2:])

    batch = nhmech.simulate_batch(drive, start, policy, dt=1e-3, duration=0.095,
                                  control_period=0.01, every=5)
    assert moments == pytest.approx([i * 1e-2 for i in range(10)], abs=1e-15)

    def controller(t, state):
        return 0.1 * (
            np.array([3.0, 2.0])
            - np.array([state.xi["left_wheel_joint"], state.xi["right_wheel_joint"]])
        )

    run = scalar_run(drive, start[2], controller, 0.095, every=5, control_period=1e-2)
    np.testing.assert_allclose(batch.xi[2], run.xi, rtol=1e-11)
    np.testing.assert_allclose(batch.u[2, :-1], run.u[:-1], rtol=1e-11)


def test_inputs_given_for_each_period_equal_a_policy_that_reads_them_out(drive, start):
    table = np.random.default_rng(5).normal(size=(7, 13, 2)) * 0.05
    batch = nhmech.simulate_batch(drive, start, table, dt=1e-3, duration=0.05,
                                  control_period=0.004, every=3)
    periods = iter(table.swapaxes(0, 1))
    same = nhmech.simulate_batch(drive, start, lambda t, x: next(periods), dt=1e-3, duration=0.05,
                                 control_period=0.004, every=3)
    np.testing.assert_array_equal(batch.x, same.x)
    np.testing.assert_array_equal(batch.u, same.u)
    # the same numbers behind other strides
    turned = np.asfortranarray(table[::-1])[::-1]
    strided = nhmech.simulate_batch(drive, np.asfortranarray(start), turned, dt=1e-3, duration=0.05,
                                    control_period=0.004, every=3)
    np.testing.assert_array_equal(strided.x, batch.x)


def test_no_input_one_input_and_the_arrays_of_the_caller(drive, start, efforts):
    before = start.copy()
    none = nhmech.simulate_batch(drive, start, dt=1e-3, duration=0.02)
    np.testing.assert_array_equal(
        none.x, nhmech.simulate_batch(drive, start, np.zeros((7, 2)), dt=1e-3, duration=0.02).x
    )
    one = nhmech.simulate_batch(drive, start, efforts[0], dt=1e-3, duration=0.02)
    seven = nhmech.simulate_batch(drive, start, np.tile(efforts[0], (7, 1)), dt=1e-3, duration=0.02)
    np.testing.assert_array_equal(one.x, seven.x)
    again = nhmech.simulate_batch(drive, start, efforts, dt=1e-3, duration=0.02)
    np.testing.assert_array_equal(start, before)
    assert (efforts.flags.writeable and start.flags.writeable and not again.x.flags.writeable
            and not again.u.flags.writeable)
    assert again.x[:, 0, 0].strides == (8,)                                # columns are contiguous


def test_parameters_of_each_case(drive):
    names = ("base_link.mass", "base_link.com_x", "payload.mass")
    symbolic = drive.with_parameters(symbolic=names)
    rng = np.random.default_rng(6)
    theta = symbolic.theta * rng.uniform(0.7, 1.4, size=(6, 3)) + [0, 0, 1]
    x0 = nhmech.start_states(symbolic, [(0.0, 0.0, 0.1 * i) for i in range(6)], xi=DRIVING)
    u = np.array([0.3, -0.1])
    batch = nhmech.simulate_batch(symbolic, x0, u, dt=1e-3, duration=0.2, every=200, theta=theta)
    assert batch.names["theta"] == names
    for i in (0, 5):
        own = drive.with_parameters(dict(zip(names, theta[i])))
        run = scalar_run(own, x0[i], lambda t, state: u, 0.2)
        np.testing.assert_allclose(batch.xi[i, -1], run.xi[-1], rtol=1e-11)
        expected = reactions(own, 0.2, batch.q[i, -1], batch.v[i, -1], u)
        found = batch.at(-1).reactions
        for (contact, direction), force in zip(found.components, found.forces[i, 0]):
            assert force == pytest.approx(expected.components[contact][direction], rel=1e-9,
                                          abs=1e-9)
    assert np.ptp(batch.xi[:, -1], axis=0).min() > 1e-3
    same = nhmech.simulate_batch(symbolic, x0, u, dt=1e-3, duration=0.02)
    given = nhmech.simulate_batch(symbolic, x0, u, dt=1e-3, duration=0.02, theta=symbolic.theta)
    np.testing.assert_array_equal(same.x, given.x)


# -- reactions -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name",
                         ["differential_drive", "ackermann_car", "bicycle", "mecanum", "trailers"])
def test_reactions_and_friction_of_each_case(name):
    """Against the second method, Pinocchio's matrices, case by case."""
    vehicle = shipped(name)
    states = [(q, xi, u)
              for chosen, q, xi, u in random_states(vehicle, 5, seed=8) if chosen is vehicle]
    vector = stepper(vehicle).state_vector
    batch = nhmech.simulate_batch(vehicle, [vector.assemble(q, xi) for q, xi, _ in states],
                                  [u for *_, u in states], dt=1e-4, duration=0.0001)
    q, v, found = batch.q[:, 0], batch.v[:, 0], batch.at(0).reactions
    for i in range(len(batch)):
        expected = reactions(vehicle, 0.0, q[i], v[i], batch.u[i, 0])
        assert expected.feasible == found.feasible[i, 0]
        size = np.abs(found.forces[i, 0]).max()
        for column, contact in enumerate(found.contacts):
            parts = expected.components[contact]
            for direction, force in parts.items():
                assert found.forces[
                    i, 0, found.components.index((contact, direction))] == pytest.approx(
                    force, rel=1e-7, abs=1e-9 * size)
            if parts["normal"] > 1e-3 * size:
                slip = np.sqrt(sum(force ** 2
                                   for direction, force in parts.items() if direction != "normal"))
                assert found.friction[i, 0, column] == pytest.approx(
                    slip / parts["normal"], rel=1e-6, abs=1e-9
                )
                assert found.normal[i, 0, column] == pytest.approx(parts["normal"], rel=1e-10)


# -- stopping --------------------------------------------------------------------------------------
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_case_that_fails_stops_and_the_others_go_on(drive, start, efforts, bad):
    def policy(t, x):
        u = efforts.copy()
        u[4] = bad if t > 0.0095 else u[4]
        return u

    whole = nhmech.simulate_batch(drive, start, efforts, dt=1e-3, duration=0.04, every=4)
    batch = nhmech.simulate_batch(drive, start, policy, dt=1e-3, duration=0.04, every=4)
    others = [i for i in range(7) if i != 4]
    np.testing.assert_array_equal(batch.x[others], whole.x[others])
    assert batch.status.tolist() == [0, 0, 0, 0, Status.UNCOMMANDED, 0, 0] and batch.ok.sum() == 6
    assert batch.stopped_at == pytest.approx([0.04] * 4 + [0.01] + [0.04] * 2, abs=1e-15)
    np.testing.assert_array_equal(batch.x[4, :3], whole.x[4, :3])
    last = nhmech.simulate_batch(drive, start, efforts, dt=1e-3, duration=0.01).x[4, -1]
    # its last good state, to the end of the record
    np.testing.assert_array_equal(batch.x[4, 3:], np.tile(last, (8, 1)))
    assert "policy returned inputs that are not finite" in batch.stop[4] and "end" in batch.stop[0]


def test_when_all_have_failed_the_policy_is_asked_no_more(drive, start):
    calls = []
    batch = nhmech.simulate_batch(
        drive, start, lambda t, x: calls.append(t) or np.full((7, 2), np.nan), dt=1e-3,
        duration=0.1)
    assert (len(calls) == 1
            and not batch.ok.any() and np.all(batch.stopped_at == 0) and np.isfinite(batch.x).all()
            and len(batch.t) == 101)


def test_a_disc_that_lies_down_stops_where_the_simulator_stops():
    vehicle = shipped("disc")
    poses = [(0, 0, 0.3, roll, 0, 0) for roll in (0.6, 0.9, 1e-9)]
    x0 = nhmech.start_states(vehicle, poses)
    batch = nhmech.simulate_batch(vehicle, x0, dt=1e-3, duration=0.6)
    assert batch.status[2] == 0 and set(batch.status[:2]) <= {Status.FALLEN, Status.SINGULAR}
    for i in range(2):
        simulator = nhmech.Simulator(vehicle, dt=1e-3)
        simulator.reset(poses[i])
        with pytest.raises(nhmech.SimulationError) as error:
            simulator.run(0.6)
        assert 0 < batch.stopped_at[i] <= error.value.trajectory.t[-1] + 1e-12
        k = int(round(batch.stopped_at[i] / 1e-3))
        np.testing.assert_allclose(batch.xi[i, k], error.value.trajectory.xi[k], rtol=1e-9,
                                   atol=1e-11)


def test_independent_speeds_that_go_bad_and_steps_that_are_too_long():
    """Steered far beyond its limit, a car turns about one of its wheels, whose rate is then no
    speed to go by."""
    car = shipped("ackermann_car")
    x0 = np.concatenate(
        [
            nhmech.start_states(
                car,
                [(0, 0, 0)],
                xi={"front_left_steering_joint": rate, "rear_left_wheel_joint": 2.0},
            )
            for rate in (5.0, 0.5)
        ]
    )
    batch = nhmech.simulate_batch(car, x0, dt=1e-3, duration=0.4, every=100)
    assert batch.status.tolist() == [Status.SINGULAR, 0] and 0.1 < batch.stopped_at[0] < 0.4
    assert "independent speeds" in batch.stop[0]
    long = nhmech.simulate_batch(car, x0[1:], dt=1.0, duration=5.0)
    assert (long.status.tolist() == [Status.OFF] and long.stopped_at.tolist() == [0.0]
            and "smaller dt" in long.stop[0])


# -- what is refused -------------------------------------------------------------------------------
@pytest.mark.parametrize("changes, message", [
    ({"x0": np.zeros((3, 4))},
     r"x0 has shape \(3, 4\), expected \(N, 11\) with columns x, y, z, qx"),
    ({"x0": np.zeros((0, 11))}, "x0 has shape"),
    ({"x0": "fast"}, "x0 is not an array of numbers"),
    ({"x0": np.full((7, 11), np.nan)}, r"x0\[0, 0\] \(x\) = nan must be finite"),
    ({"x0": np.zeros((7, 11))}, "case 0 .* violates the constraints: numbers that are not finite"),
    ({"u": np.zeros((6, 2))}, r"u has shape \(6, 2\), expected \(7, 20, 2\) or \(7, 2\) or \(2,\) "
                              r"with columns left_wheel_joint"),
    ({"u": np.zeros((7, 19, 2))}, r"u has shape \(7, 19, 2\)"),
    ({"u": np.array([0.0, np.inf])}, r"u\[1\] \(right_wheel_joint\) = inf"),
    ({"theta": [1.0]}, r"theta has shape \(1,\), expected \(7, 0\) or \(0,\) with columns none"),
    ({"dt": 0.0}, "dt = 0.0 must be a positive time"),
    ({"duration": 0.0}, "duration = 0.0 must be a positive time"),
    ({"duration": 0.0025}, r"duration = 0.0025 s must be a multiple of dt = 0.001 s"),
    ({"every": -1}, "every = -1"),
    ({"control_period": 0.0}, "control_period = 0.0 s must be a multiple of dt"),
    ({"threads": 0}, "threads = 0"),
])
def test_bad_input_is_refused_with_names(drive, start, changes, message):
    given = {"x0": start, "u": None, "dt": 1e-3, "duration": 0.02, **changes}
    with pytest.raises(nhmech.InputError, match=message):
        nhmech.simulate_batch(drive, given.pop("x0"), given.pop("u"), **given)


@pytest.mark.parametrize("policy, message", [
    (lambda t, x: np.zeros(3),
     r"policy <lambda> gave shape \(3,\) at t = 0 s, expected \(7, 2\)"),
    (lambda t, x: x["yaw"], "policy <lambda> raised IndexError at t = 0 s"),
    (lambda x: 0 * x, r"policy <lambda> raised TypeError .* were given; it must take \(t, x\)$"),
])
def test_a_policy_that_fails_is_named(drive, start, policy, message):
    with pytest.raises(nhmech.SimulationError, match=message) as caught:
        nhmech.simulate_batch(drive, start, policy, dt=1e-3, duration=0.02)
    np.testing.assert_array_equal(caught.value.trajectory.x[:, 0], start)


def test_a_start_above_the_ground_is_refused_with_its_height(drive, start):
    lifted = start.copy()
    lifted[3, 2] += 0.02
    with pytest.raises(nhmech.InputError, match=r"case 3 \(one of 1\).*\|phi\| = 0.02 m"):
        nhmech.simulate_batch(drive, lifted, dt=1e-3, duration=0.001)
    # a residue is taken away
    lifted[3, 2] -= 0.02 - 1e-8
    batch = nhmech.simulate_batch(drive, lifted, dt=1e-3, duration=0.001)
    assert np.abs(drive.constraint_error(0.0, batch.q[3, 0], batch.v[3, 0])[1]).max() < 1e-12


def test_columns_by_name(drive, start, efforts):
    batch = nhmech.simulate_batch(drive, start, efforts, dt=1e-3, duration=0.004)
    # a speed before an angle
    np.testing.assert_array_equal(batch.column("left_wheel_joint.velocity"), batch.xi[:, :, 0])
    np.testing.assert_array_equal(batch.column("qw"), batch.x[:, :, 6])
    np.testing.assert_array_equal(batch.column("forward_speed"), batch.v[:, :, 0])
    with pytest.raises(nhmech.InputError,
                       match="no column 'speed'; there are .*right_wheel_joint"):
        batch.column("speed")


# -- the arithmetic of lanes -----------------------------------------------------------------------
@needs_compiler
def test_every_operation_on_lanes_agrees_with_the_virtual_machine():
    """All that CasADi writes for SX, at ordinary numbers, zeros of both signs, multiples of pi/2,
    large ones, inf and NaN (12345 here)."""
    a, b, c = (ca.SX.sym(name) for name in "abc")
    values = [ca.sin(a), ca.cos(a), ca.tan(a), ca.sqrt(a), ca.exp(a), ca.log(a), ca.asin(a),
              ca.acos(a), ca.atan(a), ca.sinh(a), ca.cosh(a), ca.tanh(a), ca.asinh(a), ca.acosh(a),
              ca.atanh(a), ca.erf(a), ca.log1p(a), ca.expm1(a), ca.floor(a), ca.ceil(a), ca.fabs(a),
              ca.sign(a), -a, 1 / a, a / 0.44, a**2, a**3, a**b, ca.fmin(a, b), ca.fmax(a, b),
              ca.atan2(a, b), ca.fmod(a, b), ca.remainder(a, b), ca.copysign(a, b), ca.hypot(a, b),
              a < b, a <= b, ca.eq(a, b), ca.ne(a, b), ca.logic_and(a, b), ca.logic_or(a, b),
              ca.logic_not(a), ca.if_else(a < b, b, c), a - b, a * b]
    n = len(values)
    x, t, dt, u = ca.SX.sym("x", n), ca.SX.sym("t"), ca.SX.sym("dt"), ca.SX.sym("u", 3)
    tame = [
        ca.if_else(ca.logic_or(value < 0, value >= 0), ca.fmin(ca.fmax(value, -1e300), 1e300),
                   12345)
        for value in values
    ]
    after = ca.substitute(ca.vertcat(*tame), ca.vertcat(a, b, c), u)
    unused = [ca.SX.sym("side"), ca.SX.sym("guard")]
    step = ca.Function("step", [t, x, u, ca.SX.sym("theta", 0), dt, *unused],
                       [after, ca.DM([0, 1, 1]), ca.DM(0)])
    rng = np.random.default_rng(2)
    special = [0.0, -0.0, 1.0, -1.0, 2.0, np.nan, np.inf, -np.inf, 1e7, -3e15]
    u = np.concatenate([rng.normal(size=(400, 3)), rng.normal(size=(200, 3)) * 1e4,
                        rng.choice(special, size=(400, 3)),
                        np.pi / 2 * rng.integers(-600_000, 600_000, size=(200, 3))])
    none = np.zeros((len(u), 0))
    expected = step.map(len(u))(0, np.zeros((n, len(u))), u.T, none.T, 0, 0, 0)[0].full()
    # libc has a function of that name too, and must not be called
    lanes = compile_lanes(step)
    state = LaneState.of(np.zeros((len(u), n)), lanes.width)
    lanes.run(state, u, none, dt=0.0, k0=0, steps=1)
    assert not state.status.any() and (expected == 12345).sum() > 100
    for value, found, wanted in zip(values, state.x[:, :len(u)], expected):
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-300, err_msg=str(value))


@needs_compiler
@pytest.mark.parametrize("name", ["differential_drive", "mecanum"])
def test_most_steps_of_what_keeps_its_constraints_are_swift(name):
    """They lead where thorough ones lead, and an error that something else brought in goes with the
    next thorough one."""
    vehicle = shipped(name)
    made, x0 = stepper(vehicle), nhmech.start_states(
        vehicle, [(0.1 * i, 0.0, 0.3 * i) for i in range(3)], xi={"forward_speed": 0.5})
    u = np.random.default_rng(4).normal(size=(3, len(made.names["u"]))) * 1e-2
    theta = np.broadcast_to(vehicle.theta, (3, len(vehicle.theta)))
    ends = {}
    for mended in (1, MENDED):
        state = start_cases(made, x0, theta)
        made.runner.run(state, u, theta, dt=1e-2, k0=0, steps=200, mended=mended)
        assert not state.status.any()
        ends[mended] = state.cases.copy()
    np.testing.assert_allclose(ends[MENDED], ends[1], rtol=0, atol=1e-13)
    state = start_cases(made, x0, theta)
    height = state.x[2].copy()
    state.x[2] += 1e-9
    made.runner.run(state, u, theta, dt=1e-2, k0=0, steps=MENDED - 1)
    np.testing.assert_allclose(state.x[2] - height, 1e-9, rtol=1e-6)
    made.runner.run(state, u, theta, dt=1e-2, k0=MENDED - 1, steps=1)
    np.testing.assert_allclose(state.x[2], height, rtol=0, atol=1e-15)


@needs_compiler
def test_the_library_is_bound_to_the_processor():
    from nhmech.compile.lanes import find_vector_compiler

    plain, vector = find_compiler(), find_vector_compiler()
    assert vector.path == plain.path and vector.version == plain.version
    assert any(flag.startswith("-DPROCESSOR=") for flag in vector.flags(100))
    assert "-march=native" in vector.flags(100) and not any("fast-math" in flag
                                                            for flag in vector.flags(100))


@needs_compiler
def test_the_virtual_machine_gives_the_same(drive, start, efforts, monkeypatch):
    # nothing cuts its efforts
    drive = replace(drive, description=replace(drive.description, limits={}))
    made = stepper(drive)
    mapped = MappedLanes(made.step)
    table = np.random.default_rng(9).normal(size=(7, 5, 2)) * 0.05
    # one case goes astray, in both
    table[6, 2] = 1e300
    compiled = nhmech.simulate_batch(drive, start, table, dt=1e-3, duration=0.009,
                                     control_period=0.002, every=2)
    monkeypatch.setattr("nhmech.simulation.batch.stepper",
                        lambda *choice: type(made)(**{**vars(made), "runner": mapped}))
    for threads in (1, 2):
        virtual = nhmech.simulate_batch(drive, start, table, dt=1e-3, duration=0.009,
                                        control_period=0.002, every=2, threads=threads)
        np.testing.assert_allclose(virtual.x, compiled.x, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(virtual.status, compiled.status)
        np.testing.assert_array_equal(virtual.stopped_at, compiled.stopped_at)
    assert compiled.status[6] != 0 and compiled.ok[:6].all()


def test_without_a_compiler_one_line_says_so(tmp_path):
    code = ("import logging, nhmech; logging.basicConfig(); v = "
            "nhmech.load(nhmech.urdf_path('differential_drive'));x0 = nhmech.start_states(v, [(0, "
            f"0, 0.1 * i) for i in range(3)], xi={DRIVING});[nhmech.simulate_batch(v, x0, [0.1, "
            "0.2], dt=1e-3, duration=0.02) for _ in range(2)];"
            "print(repr(nhmech.simulate_batch(v, x0, "
            "[0.1, 0.2], dt=1e-3, duration=0.02).x[:, -1].tolist()))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "CC": "none"}, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if "virtual machine" in line] == [
        "WARNING:nhmech:no C compiler found: steps run in CasADi's virtual machine, thirty times "
        "slower or more, those of batches a hundred times"]
    vehicle = shipped("differential_drive")
    x0 = nhmech.start_states(vehicle, [(0, 0, 0.1 * i) for i in range(3)], xi=DRIVING)
    expected = nhmech.simulate_batch(vehicle, x0, [0.1, 0.2], dt=1e-3, duration=0.02).x[:, -1]
    np.testing.assert_allclose(eval(done.stdout), expected, rtol=1e-12, atol=1e-13)


@needs_compiler
def test_a_compiler_that_takes_too_long_is_not_called_missing(drive, monkeypatch, caplog,
                                                              tmp_path):
    """The batch runs all the same, and the log has the one reason."""
    made = stepper(drive)
    monkeypatch.setenv("NHMECH_CACHE", str(tmp_path))
    monkeypatch.setenv("NHMECH_COMPILE_SECONDS", "0.001")
    assert isinstance(batch_input._runner(made.step), MappedLanes)
    (line,) = caplog.messages
    assert "did not finish within 0.001 s" in line and "virtual machine" in line


def test_steps_of_many_systems_do_not_pile_up(monkeypatch):
    """Each holds its system, so that the oldest have to go; one that is used again is made
    again."""
    monkeypatch.setattr(batch_input, "KEPT", 2)
    monkeypatch.setattr(batch_input, "_kept", {})
    monkeypatch.setattr(batch_input, "_runner", MappedLanes)
    systems = [load_system("sled").constrained for _ in range(4)]
    made = [stepper(one) for one in systems]
    assert len(batch_input._kept) == 2
    assert stepper(systems[3]) is made[3] and stepper(systems[0]) is not made[0]
    assert len(batch_input._kept) == 2


# -- as a trajectory -------------------------------------------------------------------------------
def test_a_batch_answers_as_a_trajectory_does():
    """The same questions by the same names, with the case first."""
    vehicle = shipped("differential_drive", nhmech.Ground(normal=(0.1, 0.05, 1)))
    x0 = nhmech.start_states(vehicle, [(0, 0, 0.4 * i) for i in range(3)], xi=DRIVING)
    u = np.array([[0.1, 0.2], [0.0, -0.1], [0.05, 0.0]])
    batch = nhmech.simulate_batch(vehicle, x0, u, dt=1e-3, duration=0.02, every=5)
    for i in range(3):
        run = scalar_run(vehicle, x0[i], lambda t, state, u=u[i]: u, 0.02, every=5)
        for part in ("t", "q", "v", "xi", "u", "angles", "energy"):
            one = getattr(batch, part) if part == "t" else getattr(batch, part)[i]
            np.testing.assert_allclose(one, getattr(run, part), rtol=1e-9, atol=1e-11, err_msg=part)
        for wheel, direction in (("left_wheel_joint", "normal"), ("right_wheel_joint", "lateral")):
            np.testing.assert_allclose(batch.force(wheel, direction)[i],
                                       run.force(wheel, direction), rtol=0, atol=1e-11)
        assert {name: batch.names[name] for name in run.names} == run.names
    assert repr(batch) == ("<Batch of 3 cases of 'differential_drive': 5 states each, 0 to 0.02 s, "
                           "3 ran to the end>")
    assert batch.at(-1).x.shape == (3, 1, 11) and batch.at(2).t == pytest.approx([0.01], rel=1e-12,
                                                                                 abs=0)
    with pytest.raises(nhmech.InputError, match="wheel 'nose' does not exist; there are"):
        batch.force("nose")
