"""Many steps of sliding wheels in one call of C, against the same steps taken one by one."""

import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech import Event, JointTorque, Simulator
from nhmech.simulation import propagator

STARTS = {"ackermann_car": {"forward_speed": 6.0, "yaw_rate": 4.0},
          "mecanum": {"forward_speed": 1.0, "lateral_speed": 2.0, "vertical_speed": 0.5},
          "swerve": {"lateral_speed": 3.0}, "ball": {"forward_speed": 3.0, "roll_rate": 20.0}}


def sliding(name, controller=None, **options):
    """A simulator, and a run of it from a start that slides."""
    simulator = Simulator(shipped(name), controller, dt=2e-3, contact="coulomb", mu=0.3,
                          on_fall="warn", **options)

    def run(**how):
        simulator.reset(v=STARTS[name])
        return simulator.run(0.2, **how)
    return simulator, run


def same(run, other, atol=1e-12):
    np.testing.assert_allclose(run.t, other.t, rtol=0, atol=1e-15)
    for part in ("q", "v", "xi", "contact", "angles"):
        np.testing.assert_allclose(getattr(run, part), getattr(other, part), rtol=1e-9, atol=atol)
    assert list(run.events) == [(pytest.approx(t, abs=1e-9), name) for t, name in other.events]
    assert [str(span) for span in run.phases] == [str(span) for span in other.phases]


@pytest.fixture
def in_python(monkeypatch):
    """Lets Python take the steps of a function, one by one."""
    def take(function, **how):
        with monkeypatch.context() as patch:
            patch.setattr(propagator, "loop_of_sliding", lambda *_: None)
            return function(**how)
    return take


@pytest.mark.parametrize("name", STARTS)
def test_it_goes_where_single_steps_go(name, in_python):
    """Sliding, rolling again, and wheels that land: moments, forces and phases. Impacts carry the
    rounding of iterations (1e-11) on."""
    _, run = sliding(name)
    _, again = sliding(name)
    same(run(), in_python(again), atol=1e-7 if name == "mecanum" else 1e-10)


@pytest.mark.parametrize("name", STARTS)
def test_steps_by_hand_are_those_of_a_run(name):
    simulator, run = sliding(name)
    recorded = run()
    simulator.reset(v=STARTS[name])
    for _ in range(100):
        state = simulator.step()
    # the moment at which rolling ends is located in a run alone
    assert np.array_equal(state.q, recorded.q[-1]) and np.array_equal(state.v, recorded.v[-1])


def test_records_and_controllers_keep_their_periods(in_python):
    """Each third step recorded, the controller asked each fifth or each."""
    for period in (1e-2, None):
        asked: list[float] = []

        def push(t, state):
            asked.append(t)
            return JointTorque({"rear_left_wheel_joint": np.sin(40 * t)})
        _, run = sliding("ackermann_car", push, control_period=period)
        _, again = sliding("ackermann_car", push, control_period=period)
        found = run(every=3)
        times = asked.copy()
        asked.clear()
        same(found, in_python(again, every=3), atol=1e-10)
        np.testing.assert_allclose(times, asked, rtol=0, atol=1e-15)
        assert len(times) == (100 if period is None else 20)


def test_an_event_is_located_among_them(in_python):
    """With a fast look and without; the run ends there."""
    def far(t, state):
        return state.pose[0] - 0.5
    for along in (None, lambda t, q, v, u: q[:, 0] - 0.5):
        events = [Event("half a metre", far, along=along)]
        _, run = sliding("ackermann_car", events=events)
        _, again = sliding("ackermann_car", events=events)
        found = run()
        same(found, in_python(again), atol=1e-10)
        assert found.stop == "event: half a metre"
        assert found.q[-1, 0] == pytest.approx(0.5, abs=1e-8)


def test_a_bound_ends_them(in_python):
    """A robot on two wheels that leans falls while they slide."""
    runs = []
    for take in (lambda run: run(), in_python):
        simulator = Simulator(shipped("pendulum"), dt=2e-3, contact="coulomb", mu=0.05)
        simulator.reset(pose=(0, 0, 0, 0, 0.3, 0))
        runs.append(take(lambda simulator=simulator: simulator.run(2.0)))
    same(*runs, atol=1e-9)
    assert runs[0].stop.startswith("event: fallen") and not runs[0].rolled[-1]


def test_a_ball_without_inputs_rolls_in_its_record():
    """What stands beside inputs that there are none of is recorded all the same."""
    simulator = Simulator(shipped("ball"), dt=0.01, contact="coulomb", mu=0.9)
    simulator.compile()
    simulator.reset(xi={"forward_speed": 1.0})
    run = simulator.run(0.2)
    assert run.rolled.all() and not run.slid["ball"].any()


def test_wheels_that_stand_under_brakes_are_left_to_it():
    """Brakes too stiff for the scheme of rolling: the run stays with sliding wheels, in C."""
    brakes = {f"{name}.damping": 1e10 for name in shipped("ackermann_car").contact_names}
    car = shipped("ackermann_car").with_parameters(brakes)
    simulator = Simulator(car, dt=5e-3, contact="coulomb", mu=0.5)
    simulator.reset(v={"forward_speed": 1.0})
    run = simulator.run(0.5)
    assert not run.rolled[-1] and np.abs(run.v[-1]).max() < 1e-6
    assert nhmech.simulation.contact.phases.Phase.ROLLING in run.phases[-1].wheels.values()
    before = simulator.t
    assert simulator.propagator.step_in_c() and simulator.t > before
