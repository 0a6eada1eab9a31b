"""What a batch takes, how it is cut into calls, and which steps are kept for the next one."""

from __future__ import annotations

import gc
import logging
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech.compile.mapped_lanes import MappedLanes
from nhmech.compile.status import Status
from nhmech.control import Feedback
from nhmech.errors import CompileError, InputError, SimulationError
from nhmech.simulation import batch, batch_input
from nhmech.simulation.batch import simulate_batch
from nhmech.simulation.batch_input import read_steps, start_cases, stepper
from nhmech.simulation.integration.integrators import advance_function
from nhmech.simulation.integration.schemes import SCHEMES
from nhmech.systems import load_system
from nhmech.urdf.description import NO_LIMITS, JointLimits

DT = 1e-3


def cases(name: str, count: int, **start) -> np.ndarray:
    return nhmech.start_states(shipped(name), [(0.1 * i, 0.0, 0.2 * i) for i in range(count)],
                               **start)


def with_limits(robot: nhmech.Vehicle, limits: dict[str, JointLimits]) -> nhmech.Vehicle:
    return replace(robot, description=replace(robot.description, limits=limits))


# -- arrays ----------------------------------------------------------------------------------------
def test_nothing_may_be_given_where_nothing_is_taken():
    """A disc has no inputs, and no parameters that are symbols."""
    x0 = cases("disc", 2, xi={"spin_joint": 2.0})
    given = simulate_batch(shipped("disc"), x0, [], dt=DT, duration=0.003, theta=[])
    assert given.u.shape == (2, 4, 0)
    np.testing.assert_array_equal(
        given.x, simulate_batch(shipped("disc"), x0, dt=DT, duration=0.003).x)


def beside_others(numbers: np.ndarray, kind: str) -> np.ndarray:
    """The same numbers (N, k) as columns of a table, at distances in memory that are no whole
    numbers of floats: between rows alone, or between columns too."""
    if kind == "rows":
        table = np.zeros(len(numbers), [("beside", "i4"), ("given", "f8", numbers.shape[1:])])
    else:
        table = np.zeros(numbers.shape, [("given", "f8"), ("beside", "i1")])
    table["given"] = numbers
    assert any(stride % 8 for stride in table["given"].strides)
    return table["given"]


@pytest.mark.parametrize("kind", ["rows", "rows and columns"])
@pytest.mark.parametrize("is_policy", [False, True])
def test_inputs_and_parameters_may_be_columns_of_a_table(kind, is_policy):
    """Of a robot without effort limits, so that nothing else makes a copy of the inputs; what a
    table holds beside them is not read."""
    robot = with_limits(shipped("differential_drive").with_parameters(symbolic=["payload.mass"]),
                        {})
    u = np.linspace(-0.2, 0.3, 6).reshape(3, 2)
    theta = np.tile(robot.theta, (3, 1)) + np.array([[0.0], [1.0], [2.0]])
    runs = []
    for make in (np.array, lambda numbers: beside_others(numbers, kind)):
        given = make(u)
        runs.append(simulate_batch(robot, cases("differential_drive", 3),
                                   (lambda t, x, given=given: given) if is_policy else given,
                                   dt=DT, duration=0.01, theta=make(theta)))
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    np.testing.assert_array_equal(runs[1].u, np.broadcast_to(u[:, None], runs[1].u.shape))
    assert runs[0].ok.all() and not np.array_equal(*runs[0].x[:2, -1])


@pytest.mark.parametrize("duration, steps", [
    (DT, 1), (20 * DT, 20), (20 * DT * (1 + 5e-10), 20), (20 * DT * (1 - 5e-10), 20),
    (20 * DT * (1 + 2e-9), None), (20 * DT * (1 - 2e-9), None), (0.4 * DT, None), (1.5 * DT, None),
    (2e5 * DT * (1 + 2e-9), None)])
def test_a_duration_is_a_number_of_steps_to_nine_digits(duration, steps):
    if steps is None:
        with pytest.raises(InputError, match="must be a multiple of dt = 0.001 s"):
            read_steps(duration, DT)
    else:
        assert read_steps(duration, DT) == steps


@pytest.mark.parametrize("words, message", [
    (dict(on_limit="warn"), "on_limit"), (dict(on_fall="warn"), "on_fall"),
    (dict(on_fall="go-on"), "on_fall"), (dict(integrator="dop853"), "integrator"),
    (dict(integrator="auto"), "integrator")])
def test_words_of_a_simulator_alone_are_refused(words, message):
    with pytest.raises(InputError, match=message):
        simulate_batch(shipped("differential_drive"), cases("differential_drive", 1), dt=DT,
                              duration=DT, **words)


def test_one_joint_with_a_limit_is_enough_to_be_cut():
    """Beside joints that have none."""
    robot = shipped("differential_drive")
    most = robot.limits["left_wheel_joint"].effort
    robot = with_limits(robot, {**robot.limits, "right_wheel_joint": NO_LIMITS})
    found = simulate_batch(robot, cases("differential_drive", 2), [50.0, -40.0], dt=DT,
                                  duration=2 * DT)
    np.testing.assert_array_equal(found.u, np.broadcast_to((most, -40.0), found.u.shape))


# -- starts ----------------------------------------------------------------------------------------
def judged(margins, statuses, u=None):
    """Five cases of two numbers in packs of four, after a step of no length that says so of them,
    and of what fills the last pack; and what that step was given."""
    given = []

    def run(state, *words, **named):
        given.append((words, named))
        state.health[:] = np.array([[1, 2, 3, 4, 5, 6, 7, 8], margins, np.ones(8)]) * [[1e-3], [1],
                                                                                      [1]]
        state.status[:] = statuses

    made = SimpleNamespace(runner=SimpleNamespace(width=4, run=run),
                           step=SimpleNamespace(size1_in=lambda i: {2: 3}[i]))
    return start_cases(made, np.arange(10.0).reshape(5, 2), "theta", u), given


def test_a_start_is_judged_by_a_step_of_no_length():
    """Where the independent speeds determine too little, a case has stopped, unless it is at a
    bound; what fills the last pack is no case."""
    margins = [0.5, -0.5, 0.101, -0.099, 0.05, 0.05, -0.3, 0.01]
    state, given = judged(margins, [0, 0, 0, 0, Status.LIMIT, Status.OFF, Status.GROUNDED,
                                    Status.NOT_FINITE])
    assert state.side.tolist() == [1, -1, 1, -1, 1, 1, -1, 1] and state.count == 5
    assert state.status[:5].tolist() == [0, 0, 0, Status.SINGULAR, Status.LIMIT]
    ((u, theta), named), = given
    assert u.shape == (5, 3) and not u.any() and theta == "theta"
    assert named == dict(dt=0.0, k0=0, steps=1, mended=1)
    ((u, _), _), = judged(margins, [0] * 8, "inputs")[1]
    assert u == "inputs"
    grounded, _ = judged([0.05] * 8, [Status.GROUNDED] * 8)
    assert (grounded.status == Status.GROUNDED).all()


@pytest.mark.parametrize("statuses, message", [
    ((0, 0, Status.OFF, 0, Status.NOT_FINITE, 0, 0, Status.OFF),
     r"case 2 \(one of 2\) violates the constraints: \|phi\| = 0.003 m. start_states"),
    ((Status.LIMIT, Status.NOT_FINITE, Status.OFF, 0, Status.OFF, 0, 0, 0),
     r"case 1 \(one of 3\) violates the constraints: numbers that are not finite")])
def test_the_first_case_off_its_constraints_is_named(statuses, message):
    with pytest.raises(InputError, match=message):
        judged([1.0] * 8, statuses)


# -- calls -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("share, most", [(0, 1), (4, 5), (19, 20), (10 ** 6, 20)])
def test_a_run_is_cut_into_calls_that_let_ctrl_c_through(share, most, monkeypatch):
    """Each takes no more instructions than `SLICE` before its last step. A case that fails on the
    way stops alone."""
    robot, count, steps = shipped("differential_drive"), 3, []
    made = stepper(robot)
    run = type(made.runner).run
    x0, u = cases("differential_drive", count), np.zeros((count, 20, 2))
    u[1, 7] = 1e300
    robot = with_limits(robot, {})
    whole = simulate_batch(robot, x0, u, dt=DT, duration=0.02, every=3)
    monkeypatch.setattr(batch, "SLICE", share * made.cost * count)
    monkeypatch.setattr(type(made.runner), "run", lambda runner, *words, **named: (
        steps.append(named["steps"]), run(runner, *words, **named))[1])
    cut = simulate_batch(robot, x0, u, dt=DT, duration=0.02, every=3)
    assert sum(steps[1:]) == 20 and max(steps[1:]) == most      # the first call only projects
    for part in ("x", "u", "status", "stopped_at"):
        np.testing.assert_array_equal(getattr(cut, part), getattr(whole, part))
    assert cut.status.tolist() == [0, Status.NOT_FINITE, 0] and cut.stopped_at[1] == 7 * DT


def test_the_memory_of_a_record_is_known_before_it_is_made(monkeypatch):
    asked = []
    monkeypatch.setattr(batch, "check_size", lambda rows, each: asked.append(rows * each))
    found = simulate_batch(shipped("differential_drive"), cases("differential_drive", 3),
                                  dt=DT, duration=0.02, every=6)
    assert asked == [found.x.nbytes]


@pytest.mark.parametrize("name", ["differential_drive", "bicycle"])
def test_the_cost_of_a_step_is_about_that_of_one_expression(name):
    """Of which a large step has none: it is counted by its parts."""
    made = stepper(shipped(name))
    whole = advance_function(made.equations, SCHEMES["rk4"].method).expand().n_instructions()
    assert 0.5 < made.cost / whole < 2


# -- policies and laws -----------------------------------------------------------------------------
@pytest.mark.parametrize("bad", [(np.nan, 0.1), (0.1, np.inf), (np.nan, np.nan)])
def test_one_number_that_is_none_stops_its_case(bad):
    """The others go on, with the inputs that the policy has for them."""
    x0 = cases("differential_drive", 3)
    found = simulate_batch(shipped("differential_drive"), x0, lambda t, x: np.where(
        (t > 0.0015) & (np.arange(3) == 1)[:, None], bad, 0.1), dt=DT, duration=0.004)
    assert found.status.tolist() == [0, Status.UNCOMMANDED, 0]
    assert found.stopped_at.tolist() == [0.004, 0.002, 0.004]
    np.testing.assert_array_equal(found.u[[0, 2]], np.full((2, 5, 2), 0.1))


@pytest.mark.parametrize("policy, message", [
    (lambda t, x: "fast", r"policy <lambda> at t = 0 s returned str, no array of numbers"),
    (lambda t, x: 1 / 0, r"policy <lambda> raised ZeroDivisionError at t = 0 s: division by zero"),
    (lambda t, x: np.zeros((3, 1)), r"gave shape \(3, 1\) at t = 0 s, expected \(3, 2\) or \(2,\)"),
    (lambda t, x: read_steps(-1.0, DT), r"policy <lambda> at t = 0 s: duration = -1.0")])
def test_a_policy_that_fails(policy, message):
    with pytest.raises(SimulationError, match=message) as error:
        simulate_batch(shipped("differential_drive"), cases("differential_drive", 3), policy,
                       dt=DT, duration=0.004)
    assert error.value.trajectory.t.tolist() == [0.0] and not error.value.trajectory.u.any()


def test_a_law_is_evaluated_at_each_step(caplog):
    """With its own references or others, those of each case; no other period, and no references
    without one."""
    robot, x0 = shipped("differential_drive"), cases("differential_drive", 2, xi={
        "left_wheel_joint": 1.0})
    law = Feedback(robot, lambda t, state, references: [
        references["pull"] * (1 + t), -0.1 * state.joint_velocity["left_wheel_joint"]],
        {"pull": 0.1})
    options = dict(dt=DT, duration=0.004)
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        own = simulate_batch(robot, x0, law, **options)
        given = simulate_batch(robot, x0, law, references=[[0.1], [0.2]], **options)
    assert not caplog.records and own.ok.all()
    np.testing.assert_allclose(own.u[..., 0], np.tile(0.1 * (1 + own.t), (2, 1)), rtol=1e-14)
    left = own.xi[..., list(own.names["xi"]).index("left_wheel_joint")]
    np.testing.assert_allclose(own.u[..., 1], -0.1 * left, rtol=1e-14)
    np.testing.assert_array_equal(given.x[0], own.x[0])
    np.testing.assert_allclose(given.u[1, :, 0], 0.2 * (1 + own.t), rtol=1e-14)
    for words, message in ((dict(control_period=2 * DT), "remove control_period"),
                           (dict(references=[1.0, 2.0]), "u has shape")):
        with pytest.raises(InputError, match=message):
            simulate_batch(robot, x0, law, **options, **words)
    with pytest.raises(InputError, match="references= belong to a Feedback"):
        simulate_batch(robot, x0, dt=DT, duration=0.004, references=[1.0])
    other = Feedback(robot.with_parameters({"payload.mass": 3.0}), lambda t, state, references: [
        0.1, 0.1])
    simulate_batch(robot, x0, other, **options)
    assert not caplog.records


# -- steps that are kept ---------------------------------------------------------------------------
class Wrapper:
    """Something with `.constrained` that nothing else holds."""

    def __init__(self):
        self.constrained = load_system("sled").constrained


def test_steps_go_with_their_system(monkeypatch):
    """Once for all of its steps; another one's stay."""
    monkeypatch.setattr(batch_input, "_kept", {})
    monkeypatch.setattr(batch_input, "_watched", set())
    monkeypatch.setattr(batch_input, "_runner", lambda *steps: MappedLanes(steps[0]))
    one, other = Wrapper(), Wrapper()
    made = [stepper(system, on_limit=word) for system in (one, other)
            for word in ("stop", "ignore")]
    assert stepper(one) is made[0] and len(batch_input._kept) == 4
    assert batch_input._watched == {id(one), id(other)}
    gone = id(one)
    del one
    gc.collect()
    assert batch_input._watched == {id(other)} and gone not in {key[0] for key in batch_input._kept}
    assert stepper(other) is made[2] and len(batch_input._kept) == 2


def test_what_a_compiler_says_is_shown_up_to_300_characters(monkeypatch, caplog):
    def fail(step, swift=None):
        raise CompileError("x" * 1000)

    step = stepper(shipped("differential_drive")).step
    monkeypatch.setattr(batch_input, "compile_lanes", fail)
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        found = batch_input._runner(step)
    assert isinstance(found, MappedLanes)
    (line,) = caplog.messages
    assert line.startswith("no C++ on vectors: batches run in CasADi's virtual machine")
    assert line.count("x" * 300) == 1 and "x" * 301 not in line
