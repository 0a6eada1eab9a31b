"""Torques of the wheel-speed servo, call by call: what it makes of one wheel's error, and of joints
that are as different as a robot's and its camera's."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support import shipped

from nhmech import JointPosition, JointVelocity, Simulator
from nhmech.control.wheel_servo import WheelServo

T, H = 0.05, 4e-3       # [s] its time, and the time between two calls


def measured(vehicle, rates, angles=None) -> SimpleNamespace:
    """What it reads of a state on level ground."""
    return SimpleNamespace(q=vehicle.configuration(), encoder=SimpleNamespace(
        rate=dict(zip(vehicle.driven, rates)),
        angle=dict.fromkeys(vehicle.driven, 0.0) | (angles or {})))


@pytest.mark.parametrize("wheel", range(4))
def test_a_wheel_that_slides_answers_on_its_own(wheel):
    """Where wheels scrub, each has a rate of its own, and nothing of its error is another's: J (e/T
    + i/4 T^2) + d (r + i/T), in the second call with i = e h."""
    free = shipped("skid_steer", skid="coulomb")
    vehicle = free.with_parameters({f"{name}.damping": 0.1 + 0.2 * k
                                    for k, name in enumerate(free.driven)})
    servo = WheelServo(vehicle, commands=lambda t, state: JointVelocity(
        dict.fromkeys(vehicle.driven, 0.0)))
    still, off = np.zeros(4), 0.3 * np.eye(4)[wheel]
    assert servo(0.0, measured(vehicle, still)).values == pytest.approx(
        dict.fromkeys(vehicle.driven, 0.0), abs=1e-12)
    integral, d = -off * H, 0.1 + 0.2 * np.arange(4)
    expected = (servo.inertia * (-off / T + integral / (4 * T ** 2)) + d * integral / T)
    found = servo(H, measured(vehicle, off)).values
    assert [found[name] for name in vehicle.driven] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_heavy_robot_with_a_light_joint_sets_out_with_both():
    """A car whose body weighs a thousand times as much: its steering sets out as it is told to, and
    so does the wheel that moves the car."""
    car = shipped("ackermann_car")
    vehicle = car.with_parameters({"base_link.mass": 1e3 * car.parameters.values["base_link.mass"]})
    steer, wheel = "front_left_steering_joint", "rear_left_wheel_joint"
    servo = WheelServo(vehicle, commands=lambda t, state: (JointPosition({steer: 0.01}),
                                                           JointVelocity({wheel: 1e-4})))
    state = Simulator(vehicle).reset(joints={steer: 0.004})
    efforts = servo(0.0, state).values
    limit = dict(zip(vehicle.driven, servo.effort))
    assert set(efforts) == {steer, wheel}
    assert all(abs(value) < limit[name] for name, value in efforts.items())
    u = [efforts.get(name, 0.0) for name in vehicle.driven]
    found = vehicle.equations.acceleration(0.0, state.q, np.zeros(len(vehicle.speeds)), u,
                                           vehicle.theta).full().ravel()
    names = vehicle.algebroid.v_names
    assert found[names.index(steer)] == pytest.approx(0.006 / (4 * T) / T, rel=1e-9)
    assert found[names.index(wheel)] == pytest.approx(1e-4 / T, rel=1e-9)


def test_the_reference_follows_the_command_between_calls():
    """r' = (w* - r)/T from one call to the next, however long that took; a wheel on its reference
    gets what makes it go on with it, and nothing else."""
    vehicle = shipped("carriage")
    servo = WheelServo(vehicle, commands=lambda t, state: JointVelocity(
        dict.fromkeys(vehicle.driven, 2.0)))
    reference, t, first = 0.5, 0.0, None
    for h in (0.0, 2e-3, 7e-3, 4e-3):
        t += h
        reference += h * (2.0 - reference) / T
        torque = servo(t, measured(vehicle, [reference] * 2)).values[vehicle.driven[0]]
        first = torque / (2.0 - reference) if first is None else first
        assert torque == pytest.approx(first * (2.0 - reference), rel=1e-9)
