"""The steps of a run in compiled code: how many at a time, where their rows go, and what becomes of
a moment that is gone back to."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support import needs_compiler, shipped

from nhmech import JointVelocity, Simulator
from nhmech.compile.status import Status
from nhmech.errors import MechanicsError, NhmechError, SimulationError
from nhmech.simulation import propagator as propagators
from nhmech.simulation.inputs import Inputs
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
    assert simulator.propagator._compiled is not None
    return simulator


def rows_of(simulator: Simulator, every: int) -> Rows:
    moment = simulator.moment
    return Rows(1 + sum(part.size for part in (moment.q, moment.v, moment.u))
                + len(moment.layout.angles), every)


CALLS = [(1, 0, 1), (7, 0, 1), (7, 0, 3), (7, 3, 3), (7, 4, 3), (7, 5, 3), (2, 5, 9), (9, 9, 9),
         (10, 9, 9), (1, 8, 9), (2, 8, 9)]


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
    assert propagator._compiled is code is propagator.prepare(propagator.loop())
    assert propagator.step_in_c() and propagator.step_in_c()
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


# -- steps that are judged -------------------------------------------------------------------------
@pytest.mark.parametrize("dt, integrator, asked", [
    (1e-3, "rk4", 1), (4e-4, "rk4", 0), (1e-3, "dop853", 0)])
def test_whole_steps_of_fixed_length_are_judged(dt, integrator, asked):
    """And one without any correct digit is refused with its speeds."""
    simulator, judged = Simulator(shipped("carriage"), integrator=integrator), []
    simulator.reset(xi={"left_wheel_joint": 3.0})
    propagator = simulator.propagator
    propagator.gauge.judge = lambda moment, x, nconf, retake: judged.append(nconf)
    if asked:
        with pytest.raises(SimulationError, match="so long that its result has no correct digit; "
                                                  "speeds before it were {left_wheel_joint: 3, "):
            propagator.advance(dt)
        assert propagator.moment.k == 0 and judged == [simulator.moment.x.size - 2]
        propagator.gauge.judge = lambda *words: judged.append(words) or True
    propagator.advance(dt)
    assert propagator.moment.k == 1 and len(judged) == 2 * asked


def test_a_spare_scheme_takes_the_step_that_the_first_cannot():
    simulator = Simulator(shipped("carriage"), integrator="auto")
    simulator.reset(xi={"left_wheel_joint": 3.0})
    propagator = simulator.propagator
    propagator.gauge.judge = lambda *words: False
    propagator.gauge.values[:3] = 1e-4, 1e-5, -2
    propagator.advance(1e-3)
    assert simulator.atlas.primary.scheme.name == "dop853" and simulator.moment.k == 1
    assert propagator.gauge.values[:2].tolist() == [pytest.approx(1.2e-4, rel=1e-12, abs=0), 0.0]
    simulator.reset()
    assert simulator.atlas.primary.scheme.name == "rk4"


def suspicious(monkeypatch, left: float, integrator: str = "auto"):
    """A propagator after step 64, whose latest error was 1e-5 and the worst 2e-5, of which `left`
    persists; and how often that is asked."""
    asked = []
    monkeypatch.setattr(propagators, "Trial", lambda *of: SimpleNamespace(
        persistence=lambda dt: (asked.append(dt), left)[1]))
    simulator = Simulator(shipped("carriage"), integrator=integrator)
    simulator.reset(xi={"left_wheel_joint": 3.0})
    simulator.propagator.gauge.values[:5] = 0.5, 1e-5, 64, 1.0, 2e-5
    return simulator.propagator, asked


@pytest.mark.parametrize("steps, left, asks, changes", [
    (99, 1.0, 0, False), (101, 1.0, 1, True), (101, 0.98, 1, False), (200, 0.49, 1, False),
    (200, 0.51, 1, True), (200, np.nan, 1, True), (2000, 0.049, 1, False), (2000, 0.051, 1, True)])
def test_a_scheme_is_changed_where_errors_that_persist_would_add_up(steps, left, asks, changes,
                                                                    monkeypatch):
    """To more than a thousandth in the steps that are left, each of which has the latest error."""
    propagator, asked = suspicious(monkeypatch, left)
    propagator.choose_scheme(steps)
    assert asked == [1e-3] * asks
    assert propagator.atlas.primary.scheme.name == ("dop853" if changes else "rk4")
    if changes:      # for good
        propagator.gauge.values[1:5] = 1e-5, 64, 1.0, 2e-5
        propagator.choose_scheme(steps)
        assert len(asked) == asks


def test_what_persists_is_asked_again_where_errors_have_grown(monkeypatch):
    """And not where wheels slide, whose steps are others, nor without a scheme to change to."""
    propagator, asked = suspicious(monkeypatch, 1e-3)
    for worst, count in ((2e-5, 1), (2e-5, 1), (1.9e-5, 1), (2.1e-5, 2), (2.1e-5, 2)):
        propagator.gauge.values[4] = worst
        propagator.choose_scheme(1000)
        assert len(asked) == count
    propagator.slides, propagator.gauge.values[4] = True, 1.0
    propagator.choose_scheme(1000)
    assert len(asked) == 2
    propagator, asked = suspicious(monkeypatch, 1.0, "rk4")
    propagator.choose_scheme(1000)
    assert not asked and propagator.atlas.primary.scheme.name == "rk4"


@pytest.mark.parametrize("judged, changes", [(0, True), (1, False)])
def test_before_the_first_step_its_error_is_found(judged, changes):
    """By a step that is gone back on; after it, the latest error is known, here that there is
    none."""
    simulator = Simulator(shipped("differential_drive"), dt=0.02, integrator="auto",
                          on_lift="ignore")
    simulator.reset(xi={"forward_speed": 1.0, "yaw_rate": 100.0})
    propagator, before = simulator.propagator, simulator.moment.block.copy()
    propagator.gauge.values[2] = judged
    propagator.choose_scheme(100)
    np.testing.assert_array_equal(simulator.moment.block, before)
    assert propagator.atlas.primary.scheme.name == ("dop853" if changes else "rk4")


@pytest.mark.parametrize("guard, message", [(0.09, "^stopped at t = 0 s: the axle of"),
                                            (0.11, "^no chart$")])
def test_where_no_chart_is_found_a_wheel_may_lie_down(guard, message, monkeypatch):
    simulator = Simulator(shipped("disc"))
    simulator.reset()
    propagator = simulator.propagator

    def fail(moment, end):
        raise MechanicsError("no chart")
    monkeypatch.setattr(propagator.atlas, "change", fail)
    monkeypatch.setattr(propagator, "_try", lambda dt: SimpleNamespace(
        status=Status.SINGULAR, t=1e-3, q=simulator.moment.q))
    simulator.moment.health[2] = guard
    with pytest.raises(NhmechError, match=message):
        propagator.advance(1e-3)


# -- wheels that slide -----------------------------------------------------------------------------
def sliding(**options) -> Simulator:
    simulator = Simulator(shipped("differential_drive"), contact="coulomb", mu=0.5, **options)
    simulator.reset(v={"forward_speed": 1.0})
    return simulator


@pytest.mark.parametrize("slides, count, asked", [
    (False, 1, False), (False, 2, False), (False, 3, True), (True, 0, True), (True, 2, True)])
def test_sliding_wheels_find_their_own_efforts(slides, count, asked, monkeypatch):
    """And so do more commands than there are speeds, which no rolling wheels could follow. The
    inputs of the moment stay."""
    simulator = sliding()
    propagator, said = simulator.propagator, []
    propagator.slides = slides
    simulator.moment.u[:] = [7.0, 8.0]
    monkeypatch.setattr(propagator.coulomb, "efforts", lambda moment, inputs, *words: (
        said.append((inputs.tolist(), *words)), np.array([3.0]))[1])
    found = propagator.efforts([0.1, 0.2], range(count), range(count), [1.0] * count)
    assert (found is not None) is asked
    assert said == [([0.1, 0.2], range(count), range(count), [1.0] * count, 1e-3)] * asked
    assert simulator.moment.u.tolist() == [7.0, 8.0]
    rolling = Simulator(shipped("differential_drive")).propagator
    assert rolling.efforts([0.1, 0.2], range(3), range(3), [1.0] * 3) is None


def test_rolling_begins_again_where_friction_says_so(monkeypatch):
    simulator = sliding()
    propagator, moment = simulator.propagator, simulator.moment
    for _ in range(5):
        simulator.step()
    compiled = propagator.prepare(propagator.loop())
    propagator.gauge.values[:3] = 1e-4, 1e-5, 2
    assert propagator.slides and propagator._compiled is compiled
    for answers in (dict(may_roll=False), dict(stiff=True)):
        with monkeypatch.context() as patch:
            patch.setattr(propagator.coulomb, "may_roll", lambda moment, answers=answers: (
                answers.get("may_roll", True)))
            propagator.__dict__["_is_too_stiff"] = answers.get("stiff", False)
            assert not propagator.roll() and propagator.slides
    propagator.__dict__["_is_too_stiff"] = False
    monkeypatch.setattr(propagator.coulomb, "may_roll", lambda moment: True)
    moment.q[2] += 1e-8
    side, propagator.atlas.side = propagator.atlas.side, 0.0
    assert propagator.roll() and propagator.atlas.side == side
    propagator.slides = True
    assert propagator.roll() and not propagator.slides and propagator._compiled is None
    assert propagator.gauge.values[:2].tolist() == [pytest.approx(1e-4 + 3e-5, rel=1e-12, abs=0),
                                                    0.0]
    # the moment is one of rolling wheels on the ground
    rows, phi = shipped("differential_drive").constraint_error(moment.t, moment.q, moment.v)
    assert np.abs(rows).max() < 1e-12 and np.abs(phi).max() < 1e-13
    assert not propagator.roll()
    assert not Simulator(shipped("differential_drive")).propagator.roll()


def test_wheels_that_slip_have_their_speeds_in_x():
    """No error of steps before is carried on; and back where they rolled they roll."""
    simulator = Simulator(shipped("differential_drive"), contact="coulomb", mu=0.5)
    simulator.reset(xi={"forward_speed": 0.3, "yaw_rate": 0.1})
    propagator, moment = simulator.propagator, simulator.moment
    chart, before = propagator.atlas.chart, propagator.bookmark()
    propagator.gauge.values[:3] = 1e-4, 1e-5, -2
    moment.v[chart.speeds] += 1.0
    propagator.slip()
    assert propagator.slides and np.isfinite(moment.contact).all()
    np.testing.assert_array_equal(moment.x[chart.state_vector.nconf:], moment.v[chart.speeds])
    assert propagator.gauge.values[:2].tolist() == [pytest.approx(1.2e-4, rel=1e-12, abs=0), 0.0]
    propagator.restore(before)
    assert not propagator.slides

    def fail(moment):
        moment.contact[:] = 1.0
        raise KeyboardInterrupt
    propagator.coulomb.begin = fail
    with pytest.raises(KeyboardInterrupt):
        propagator.slip()
    assert propagator.slides      # as the moment says


@pytest.mark.parametrize("damping, is_too_stiff", [(0.0, False), (1e9, True)])
@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_brakes_that_are_too_stiff_for_a_scheme_keep_wheels_sliding(damping, is_too_stiff,
                                                                    integrator):
    """For one whose steps have a limit."""
    robot = shipped("differential_drive").with_parameters({"left_wheel_joint.damping": damping})
    made = Simulator(robot, contact="coulomb", mu=0.5, integrator=integrator)
    assert made.propagator._is_too_stiff is (is_too_stiff and integrator == "rk4")


def test_a_new_start_forgets_what_slid():
    simulator = sliding()
    simulator.step()
    simulator.propagator.gauge.values[:] = 1.0
    simulator.reset((1.0, 2.0, 0.5))
    moment = simulator.moment
    assert not simulator.propagator.slides and not simulator.propagator.gauge.values.any()
    assert (moment.t, moment.k, moment.t0) == (0.0, 0, 0.0) and not moment.v.any()
    assert moment.q[:2].tolist() == [1.0, 2.0]


def test_the_side_of_a_start_reaches_the_code_that_is_there(monkeypatch):
    """The frame's margin may have another sign at another start."""
    simulator = rolling()
    propagator = simulator.propagator
    code = propagator.prepare(propagator.loop())
    assert code.setup.side == propagator.atlas.side != 0
    begin = propagator.atlas.start

    def turned(moment):
        begin(moment)
        propagator.atlas.side = -7.0
    monkeypatch.setattr(propagator.atlas, "start", turned)
    simulator.reset()
    assert propagator._compiled is code and code.setup.side == -7.0


def test_commands_reach_sliding_wheels_by_their_own_equations(monkeypatch):
    """Those of joints, where wheels may slide; and nobody is asked where they cannot."""
    command = JointVelocity({"left_wheel_joint": 2.0})
    asked = []
    for options, count in (({"contact": "coulomb", "mu": 0.5}, 3), ({}, 0)):
        simulator = Simulator(shipped("differential_drive"), lambda t, state: command, **options)
        assert isinstance(simulator.inputs, Inputs)
        simulator.reset(**({"v": {"forward_speed": 1.0}} if options else {}))
        propagator = simulator.propagator
        inner = propagator.efforts if not options else propagator.coulomb.efforts
        monkeypatch.setattr(propagator if not options else propagator.coulomb, "efforts",
                            lambda *words, inner=inner: asked.append(words) or inner(*words))
        asked.clear()
        for _ in range(3):
            simulator.step()
        assert len(asked) == count
