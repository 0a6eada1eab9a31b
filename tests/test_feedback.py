"""Controllers within the compiled loop: the runs of those that Python asks."""

from __future__ import annotations

import functools
import gc
import weakref

import casadi as ca
import numpy as np
import pytest
from support import at_length, shipped
from test_compile import counted, needs_compiler

import nhmech
from nhmech import (
    InputError,
    JointVelocity,
    SimulationError,
    Simulator,
    simulate_batch,
    start_states,
)
from nhmech.control import Feedback
from nhmech.simulation import batch_input
from nhmech.simulation.simulated import Simulated
from nhmech.urdf.notice import NoticeKind


def wave(vehicle):
    """Something that drives all joints, by time, place, speeds and a reference."""
    def law(t, state, references):
        slow = 1 / (1 + state.pose[0] ** 2 + state.joint_position[vehicle.driven[0]] ** 2)
        return [references["size"] * slow * ca.cos(3 * t + i) - 0.05 * state.joint_velocity[name]
                for i, name in enumerate(vehicle.driven)]

    return Feedback(vehicle, law, {"size": 0.4})


@needs_compiler
@pytest.mark.parametrize("name, words", [
    ("differential_drive", {}), ("ackermann_car", dict(control_period=4e-3)),
    ("pendulum", dict(on_fall="warn")), *at_length(("trailers", dict(control_period=4e-3))),
    ("mecanum", dict(integrator="gauss4")), ("differential_drive", dict(integrator="dop853")),
    ("differential_drive", dict(contact="coulomb", mu=0.8)),
])
def test_a_run_is_that_of_a_controller_in_python(name, words):
    """Record, inputs and last part of a step included."""
    vehicle, runs = shipped(name), []
    law = wave(vehicle)
    for controller in (law, lambda t, state: law(t, state)):
        simulator = Simulator(vehicle, controller, **words)
        simulator.reset()
        simulator.compile()
        runs.append(simulator.run(0.2505, every=3))
    inside, outside = runs
    assert inside.stop == outside.stop and np.array_equal(inside.t, outside.t)
    for part in ("q", "v", "u", "angles"):
        np.testing.assert_allclose(getattr(inside, part), getattr(outside, part), rtol=0,
                                   atol=1e-12, err_msg=part)


@needs_compiler
def test_a_run_is_few_calls_of_c(monkeypatch):
    calls: list[int] = []
    simulator = Simulator(shipped("differential_drive"), wave(shipped("differential_drive")),
                          control_period=2e-3)
    simulator.reset()
    with monkeypatch.context() as patch:
        counted(patch, calls)
        simulator.run(2.0)
    assert sum(calls) == 2000 and len(calls) <= 5


@needs_compiler
def test_a_change_of_chart_changes_nothing():
    """Across the wheels' standing across, where the independent speeds are others."""
    vehicle = shipped("swerve")
    steer = [name for name in vehicle.driven if name in vehicle.description.steering]

    def law(t, state, references):
        accelerations = {name: 40 * (2 * t - state.joint_position[name])
                         - 10 * state.joint_velocity[name] for name in steer}
        return [0.2 * accelerations.get(name, 0.05) for name in vehicle.driven]

    feedback, runs = Feedback(vehicle, law), []
    for controller in (feedback, lambda t, state: feedback(t, state)):
        simulator = Simulator(vehicle, controller, on_lift="ignore")
        simulator.reset()
        simulator.compile()
        runs.append((simulator.run(1.2), len(simulator.atlas.charts)))
    (inside, charts), (outside, others) = runs
    assert charts == others > 1
    np.testing.assert_allclose(inside.q, outside.q, rtol=0, atol=1e-12)


@needs_compiler
def test_steps_that_are_taken_back_have_their_inputs_back():
    """A wheel lifts off within the stride in which C looks at forces; the end, its time and the
    inputs there are those of Python."""
    vehicle, ends = shipped("differential_drive"), []
    law = Feedback(vehicle, lambda t, state, references: [6 * t * t, 6 * t * t])
    for controller in (law, lambda t, state: law(t, state)):
        simulator = Simulator(vehicle, controller, on_fall="ignore")
        simulator.reset()
        simulator.compile()
        ends.append(simulator.run(20.0))
    inside, outside = ends
    assert "lift-off" in inside.stop and inside.stop == outside.stop
    assert inside.t[-1] == pytest.approx(outside.t[-1], abs=1e-12)
    np.testing.assert_allclose(inside.u[-3:], outside.u[-3:], rtol=0, atol=1e-12)


@needs_compiler
def test_events_are_seen_on_the_way():
    vehicle, ends = shipped("differential_drive"), []
    law = wave(vehicle)
    for controller in (law, lambda t, state: law(t, state)):
        event = nhmech.Event("fast", lambda t, state: state.xi["forward_speed"] - 0.02)
        simulator = Simulator(vehicle, controller, events=[event], on_lift="ignore")
        simulator.reset()
        simulator.compile()
        ends.append(simulator.run(1.0))
    assert ends[0].events and ends[0].stop == ends[1].stop
    for one, other in zip(ends[0].events, ends[1].events):
        assert one[1] == other[1] and one[0] == pytest.approx(other[0], abs=1e-12)


def test_a_servo_is_exact():
    """Against the inverse dynamics of `JointVelocity`, which is numeric and has its own least
    squares."""
    vehicle = shipped("ackermann_car")
    wanted = {"rear_left_wheel_joint": 3.0, "front_left_steering_joint": 0.4}
    wanted = {name: rate for name, rate in wanted.items() if name in vehicle.driven}

    def law(t, state, references):
        return state.servo({name: (rate - state.joint_velocity[name]) / 0.05
                            for name, rate in wanted.items()})

    runs = []
    for controller in (Feedback(vehicle, law), lambda t, state: JointVelocity(wanted)):
        simulator = Simulator(vehicle, controller, on_lift="ignore")
        simulator.reset()
        runs.append(simulator.run(0.3, every=10))
    assert len(wanted) >= 1
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(runs[0].u, runs[1].u, rtol=1e-11, atol=1e-8)


@pytest.mark.parametrize("links", [(), ("base_link",)], ids=["plain", "with a wrench beside"])
def test_a_servo_gives_as_many_joints_their_accelerations_as_there_are_speeds(links):
    """In whatever order, beside joints that get no effort; by the equations of motion."""
    vehicle = shipped("mecanum").with_wrench(*links)
    made = Simulated.of(vehicle)
    equations, v_names = made.equations, made.constrained.system.algebroid.v_names
    order = [vehicle.driven[i] for i in (2, 0, 3)]
    wanted = dict(zip(order, (3.0, -2.0, 1.0)))
    law = Feedback(vehicle, lambda t, state, references: [
        1e-2 * one for one in ca.vertsplit(state.servo(wanted))])
    simulator = Simulator(vehicle)
    state = simulator.reset((0.3, -0.2, 0.7), xi={"forward_speed": 0.4, "yaw_rate": -0.5})
    u = 1e2 * law(0.0, state)
    found = equations.acceleration(0.0, state.q, state.v[list(equations.frame.speeds)],
                                   np.r_[u, np.zeros(6 * len(links))],
                                   made.theta).full().ravel()
    np.testing.assert_allclose([found[v_names.index(name)] for name in order], [3.0, -2.0, 1.0],
                               rtol=1e-9)
    assert u.shape == (4,) and u[1] == 0.0 and np.abs(u[[0, 2, 3]]).min() > 1e-6
    for joints, message in ((vehicle.driven, "of up to 3 of the driven joints"),
                            (["yaw_rate"], r"servo\(yaw_rate\)"), (["nose"], r"servo\(nose\)")):
        with pytest.raises(InputError, match=message):
            Feedback(vehicle, lambda t, state, references: state.servo(dict.fromkeys(joints, 1.0)))


def test_a_law_sees_the_pose_of_a_state():
    """At any attitude."""
    vehicle, pose = shipped("mecanum"), []
    law = Feedback(vehicle, lambda t, state, references: [1e-3 * one for one in (*state.pose, 0)])
    for k in range(3):
        simulator = Simulator(shipped("mecanum", nhmech.Ground(normal=(0.3, -0.2 * k, 1))))
        state = simulator.reset((1.0 + k, -2.0, 2.5 - k))
        pose.append(state.pose)
        np.testing.assert_allclose(law(0.0, state)[:3], np.multiply(1e-3, pose[-1]), rtol=1e-12)
    assert np.ptp(pose, axis=0)[2] > 1


@pytest.mark.parametrize("law, name, called", [
    (lambda t, state, references: [0, 0], "", "<lambda>"),
    (lambda t, state, references: [0, 0], "mine", "mine"),
    (functools.partial(lambda n, t, state, references: n * [0], 2), "", "feedback")])
def test_a_law_is_called_by_a_name(law, name, called):
    made = Feedback(shipped("differential_drive"), law, name=name)
    assert made.name == called and repr(made) == f"<Feedback {called}: references none>"


@needs_compiler
def test_references_change_without_compiling():
    vehicle = shipped("differential_drive")
    law = wave(vehicle)
    simulator = Simulator(vehicle, law)
    simulator.reset()
    simulator.compile()
    code = simulator.propagator.loop()
    first = simulator.run(0.5)
    law.set(size=-0.4)
    simulator.reset()
    second = simulator.run(0.5)
    assert simulator.propagator.loop() is code
    assert first.q[-1, 0] * second.q[-1, 0] < 0 and law.names == ("size",)


def test_limits_of_joints_are_kept():
    vehicle = shipped("differential_drive")
    most = vehicle.limits[vehicle.driven[0]].effort
    law = Feedback(vehicle, lambda t, state, references: [1e6, -1e6])
    run = Simulator(vehicle, law, on_lift="ignore").run(0.01)
    assert np.isfinite(most) and np.array_equal(run.u[-1], [most, -most])


def root(t, state, references):
    """No number from 4 ms on."""
    return [ca.sqrt(0.0035 - t), 0.0]


@needs_compiler
@pytest.mark.parametrize("is_built", [False, True])
def test_efforts_that_are_no_numbers_end_a_run(is_built):
    """They are not cut to a limit, in C and in Python."""
    vehicle = shipped("differential_drive")
    simulator = Simulator(vehicle, Feedback(vehicle, root))
    simulator.reset()
    if is_built:
        simulator.compile()
    with pytest.raises(SimulationError, match="finite") as found:
        simulator.run(0.1)
    assert found.value.trajectory.t[-1] == pytest.approx(4e-3, abs=1e-12)


def test_efforts_that_are_no_numbers_end_a_case():
    vehicle = shipped("differential_drive")
    batch = simulate_batch(vehicle, start_states(vehicle, [(0, 0, 0)]), Feedback(vehicle, root),
                           dt=1e-3, duration=0.1)
    assert not batch.ok.any() and batch.stopped_at == pytest.approx([4e-3], abs=1e-12)


def test_a_servo_on_joints_that_move_each_other_ends_a_run():
    """Rear wheels of a car, whose speeds are in the ratio that the steering says."""
    vehicle = shipped("ackermann_car")
    pair = ("rear_left_wheel_joint", "rear_right_wheel_joint")
    law = Feedback(vehicle, lambda t, state, references: state.servo(dict.fromkeys(pair, 1.0)))
    with pytest.raises(SimulationError, match="finite"):
        Simulator(vehicle, law).run(0.1)


def test_a_law_of_another_vehicle_is_refused():
    """By the names of what it reads and drives; other numbers are no other vehicle."""
    vehicle, other = shipped("differential_drive"), shipped("ackermann_car")
    law = wave(other)
    for run in (lambda: Simulator(vehicle, law),
                lambda: simulate_batch(vehicle, start_states(vehicle, [(0, 0, 0)]), law, dt=1e-3,
                                       duration=0.1)):
        with pytest.raises(InputError, match=f"{other.name}.*{vehicle.name}"):
            run()
    heavier = vehicle.with_parameters({"payload.mass": 30.0})
    run = Simulator(heavier, wave(vehicle)).run(0.01)
    assert run.stop == "duration"
    assert NoticeKind.OTHER_ROBOT not in {notice.kind for notice in run.notices}


def test_a_law_of_another_robot_with_equal_names_is_told(caplog):
    """It knows the limits, and a servo the masses, of the other one."""
    vehicle = shipped("differential_drive")
    other = nhmech.load(vehicle.description.xml.replace('effort="', 'effort="1', 1))
    run = Simulator(vehicle, wave(other)).run(0.01)
    assert NoticeKind.OTHER_ROBOT in {notice.kind for notice in run.notices}
    simulate_batch(vehicle, start_states(vehicle, [(0, 0, 0)]), wave(other), dt=1e-3, duration=0.01)
    assert "another robot" in caplog.text


def test_references_are_changed_by_set_alone():
    law = wave(shipped("differential_drive"))
    with pytest.raises(AttributeError):
        law.references = np.array([0.0])
    with pytest.raises(ValueError, match="read-only"):
        law.references[0] = 0.0
    law.set(size=0.25)
    assert law.references.tolist() == [0.25]


@pytest.mark.parametrize("law, references, message", [
    (lambda t, state, references: [1.0], None, r"shape \(1, 1\), expected \(2,\)"),
    (lambda t, state, references: "fast", None, "returned str"),
    (lambda t, state, references: [0, 0], {"a": "b"}, "references"),
    (lambda t, state, references: state.servo({"caster": 1.0}), None, "caster"),
])
def test_what_is_no_law_is_refused(law, references, message):
    with pytest.raises(InputError, match=message):
        Feedback(shipped("differential_drive"), law, references)


def test_unknown_references_are_refused():
    law = wave(shipped("differential_drive"))
    with pytest.raises(InputError, match="sise.*size"):
        law.set(sise=1.0)


# -- batches ---------------------------------------------------------------------------------------
def test_a_batch_is_controlled_lane_by_lane():
    """Each with references of its own, as single runs are."""
    vehicle = shipped("differential_drive")
    law, sizes = wave(vehicle), np.array([[0.1], [0.4], [-0.3]])
    x0 = start_states(vehicle, [(0.1 * i, 0, 0.2) for i in range(3)])
    batch = simulate_batch(vehicle, x0, law, dt=2e-3, duration=0.5, every=10, references=sizes)
    assert batch.ok.all() and batch.u.shape == (3, 26, 2)
    for i, size in enumerate(sizes[:, 0]):
        law.set(size=size)
        simulator = Simulator(vehicle, law, dt=2e-3, on_lift="ignore")
        simulator.reset((0.1 * i, 0, 0.2))
        run = simulator.run(0.5, every=10)
        np.testing.assert_allclose(batch.q[i], run.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(batch.u[i, :-1], run.u[:-1], rtol=0, atol=1e-12)
    same = simulate_batch(vehicle, x0, law, dt=2e-3, duration=0.1)
    given = simulate_batch(vehicle, x0, law, dt=2e-3, duration=0.1, references=[-0.3])
    assert np.array_equal(same.x, given.x)


@needs_compiler
def test_a_law_that_is_let_go_is_not_kept_by_its_vehicle(monkeypatch):
    """A sweep over laws fills no memory."""
    vehicle = shipped("differential_drive")

    def use():
        law = wave(vehicle)
        simulator = Simulator(vehicle, law)
        simulator.compile()
        simulator.run(0.01)
        simulate_batch(vehicle, start_states(vehicle, [(0, 0, 0)]), law, dt=2e-3, duration=0.1)
        return weakref.ref(law.function)

    monkeypatch.setattr(batch_input, "_kept", {})
    monkeypatch.setattr(batch_input, "KEPT", 0)
    found = use()
    gc.collect()
    assert found() is None


@pytest.mark.parametrize("words, message", [(dict(control_period=0.01), "at each step"),
                                            (dict(references=[1.0, 2.0]), "references|u has")])
def test_what_a_controlled_batch_cannot_take(words, message):
    vehicle = shipped("differential_drive")
    x0 = start_states(vehicle, [(0, 0, 0)])
    with pytest.raises(InputError, match=message):
        simulate_batch(vehicle, x0, wave(vehicle), dt=2e-3, duration=0.1, **words)
    with pytest.raises(InputError, match="to a Feedback"):
        simulate_batch(vehicle, x0, dt=2e-3, duration=0.1, references=[1.0])
