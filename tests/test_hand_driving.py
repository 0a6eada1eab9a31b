"""What stands between a hand and a vehicle: limits of speeds and of their change, and a push."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Simulator
from nhmech.control.demo import DemoDrive, easy_speed
from nhmech.control.push import Push
from nhmech.control.speed_limits import SpeedLimits
from nhmech.control.twist_limits import (
    TwistLimits,
    coasts,
    easy_limits,
    moves_sideways,
    turning_radius,
)

DRIVE = "differential_drive"


def test_limits_are_the_same_for_both_directions():
    """Those that are not given for backwards are those of forwards, mirrored."""
    rng = np.random.default_rng(0)
    limits = SpeedLimits(1.0, max_acceleration=2.0, max_deceleration=-5.0,
                         max_deceleration_reverse=5.0)
    for wanted, before in rng.uniform(-2, 2, size=(200, 2)):
        assert limits.clip(-wanted, -before, 0.1) == -limits.clip(wanted, before, 0.1)


def test_each_part_of_a_twist_goes_on_as_it_changed():
    """Where no change may grow, in as much time by as much as before."""
    steady = TwistLimits(*(SpeedLimits(max_jerk=0.0) for _ in range(3)))
    assert steady.clip((9.0, -9.0, 9.0), (0.3, -0.2, 0.5), 0.1, (0.1, -0.1, 0.6)) == pytest.approx(
        (0.5, -0.3, 0.4), rel=1e-14, abs=0)


@pytest.mark.parametrize("wanted, before, expected", [
    (1.0, 0.5, 0.7), (1.0, -0.5, 0.3), (0.0, 0.9, 0.4), (0.0, -0.9, -0.1), (-1.0, -0.5, -0.8),
    (-1.0, 0.0, -0.3), (9.0, 3.9, 4.0), (-9.0, -2.9, -3.0), (1.0, -0.9, -0.1)])
def test_each_limit_acts_where_it_is_meant(wanted, before, expected):
    """Away from zero and towards it, forward and backward, in 0.1 s."""
    limits = SpeedLimits(4.0, -3.0, max_acceleration=2.0, max_acceleration_reverse=-3.0,
                         max_deceleration=-5.0, max_deceleration_reverse=8.0)
    assert limits.clip(wanted, before, 0.1) == pytest.approx(expected, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("wanted, before, change, expected", [
    (1.0, 0.0, 0.0, 0.1), (-1.0, 0.0, 0.0, -0.05), (1.0, 0.5, 0.2, 0.8), (-1.0, -0.5, -0.2, -0.75),
    (0.75, 0.5, 0.2, 0.75), (0.55, 0.5, 0.2, 0.55), (0.5, 0.5, 0.2, 0.5), (0.5, 0.5, 0.0, 0.5)])
def test_a_change_grows_by_no_more_than_the_jerk_and_ends_at_once(
        wanted, before, change, expected):
    """In 0.1 s: by 0.1 m/s upwards, by 0.05 m/s downwards; by as much if no other is given."""
    limits = SpeedLimits(max_jerk=10.0, min_jerk=-5.0)
    assert limits.clip(wanted, before, 0.1, change) == pytest.approx(expected, rel=1e-14)
    alike, mirrored = SpeedLimits(max_jerk=10.0), (-wanted, -before, 0.1, -change)
    assert alike.clip(*mirrored) == -alike.clip(wanted, before, 0.1, change)


@pytest.mark.parametrize("name, sign", [
    ("max_velocity", 1), ("min_velocity", -1), ("max_acceleration", 1),
    ("max_acceleration_reverse", -1), ("max_deceleration", -1), ("max_deceleration_reverse", 1),
    ("max_jerk", 1), ("min_jerk", -1)])
def test_limits_have_the_signs_of_what_they_limit(name, sign):
    """Zero is a limit too; one of the other sign is refused."""
    others = {"max_velocity": 1.0, "max_acceleration": 1.0, "max_jerk": 1.0}
    for size in (0.0, 2.0):
        assert getattr(SpeedLimits(**others | {name: sign * size}), name) == sign * size
    with pytest.raises(nhmech.InputError,
                       match=f"{name} = .* must be {'positive' if sign > 0 else 'negative'}"):
        SpeedLimits(**others | {name: -sign * 1e-9})


@pytest.mark.parametrize("name", [DRIVE, "ackermann_car", "swerve"])
def test_easy_limits(name):
    """From rest to the limit in 0.4 s and back in 0.2 s, or with 0.15 and 0.2 of the weight where
    that takes longer. It turns no faster than it can at its speed, nor with over 0.3 of the weight.
    """
    vehicle = shipped(name)
    limits, length = easy_limits(vehicle), vehicle.steering.length
    speed = limits.forward.max_velocity
    assert limits.lateral == limits.forward and 0 < speed <= easy_speed(vehicle)
    radius = turning_radius(vehicle)
    tight = speed / radius if 0 < radius < np.inf else np.inf
    assert limits.yaw.max_velocity <= min(speed / length, tight) * (1 + 1e-12)
    assert limits.yaw.max_velocity * speed <= 0.3 * 9.81 * (1 + 1e-12)
    for ahead, one in ((speed, limits.forward), (speed, limits.yaw),
                       (0.3, easy_limits(vehicle, 0.3, 0.2).forward)):
        most, up, down = one.max_velocity, max(0.4, ahead / 1.4715), max(0.2, ahead / 1.962)
        assert (one.max_acceleration, one.max_deceleration, one.max_deceleration_reverse) == (
            pytest.approx((most / up, -most / down, most / down), rel=1e-12))
    for speed in (0.03, 3.0):       # what is asked for is not cut but where the wheels cannot
        asked = easy_limits(vehicle, speed, 10.0)
        assert asked.forward.max_velocity == speed
        assert asked.yaw.max_velocity == min(speed / radius if 0 < radius < np.inf else 10.0, 10.0)


@pytest.mark.parametrize("name", ["ball", "bicycle", "coin"])
def test_what_coasts_has_the_limits_of_its_size(name):
    vehicle = shipped(name)
    found = easy_limits(vehicle)
    assert found.forward.max_velocity == easy_speed(vehicle)
    assert found.yaw.max_velocity == pytest.approx(1.5, rel=1e-12)     # that speed over its length


@pytest.mark.parametrize("name, is_pushed, sideways", [
    ("sled", True, False), ("bicycle", True, False), ("ball", True, True),
    ("carriage", False, False), ("pendulum", False, False), ("mecanum", False, True)])
def test_what_falls_over_or_has_no_motor_coasts(name, is_pushed, sideways):
    assert coasts(shipped(name)) == is_pushed and moves_sideways(shipped(name)) == sideways


def test_nobody_is_thrown_over_in_a_turn():
    """Three tenths of the weight, where neither length nor motors bar more."""
    assert easy_limits(shipped(DRIVE), 3.0).yaw.max_velocity == pytest.approx(0.3 * 9.81 / 3,
                                                                              rel=1e-12)


@pytest.mark.parametrize("slow", [1, 2])
def test_easy_limits_keep_those_of_the_joints(slow):
    """Wheels of radius r of which one or both turn no faster than W: W r ahead, 2 W r / track on
    the spot."""
    text = nhmech.urdf_path(DRIVE).read_text()
    vehicle = nhmech.load(text.replace('velocity="', 'velocity="0.0', slow))
    rates, radius = [vehicle.limits[j].velocity for j in vehicle.driven], 0.1
    rate = min(rates)
    assert rates.count(rate) == slow and vehicle.description.wheels[0].radius == radius
    left, right = (np.array(vehicle.contact_points(vehicle.configuration()))[i, 1] for i in (0, 1))
    found = easy_limits(vehicle)
    assert found.forward.max_velocity == pytest.approx(rate * radius, rel=1e-9)
    assert found.yaw.max_velocity == pytest.approx(
        min(2 * rate * radius / abs(left - right), rate * radius / vehicle.steering.length),
        rel=1e-9)


@pytest.mark.parametrize("twist, moving, share", [
    ((0.2, 0.0, 0.0), 0.0, 0.2), ((-0.2, 0.0, 0.0), 0.0, -0.2), ((0.5, 0.0, 0.0), 0.2, 0.3),
    ((0.2, 0.0, 0.0), 0.5, 0.0), ((0.0, 0.0, 0.0), -0.5, 0.0), ((-0.3, 0.0, 0.0), 0.1, -0.4)])
def test_a_push_closes_what_is_missing(twist, moving, share):
    """m dv / 0.3 s along the heading, no more than 0.3 of the weight, and never backwards."""
    vehicle = shipped("carriage")
    simulator = Simulator(vehicle)
    state = simulator.reset(pose=(1.0, 2.0, 0.7), xi={"forward_speed": moving})
    push, mass = Push(vehicle, lambda t, state: twist), pin.computeTotalMass(vehicle.model)
    wrench = push(0.0, state)
    heading = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    np.testing.assert_allclose(wrench, [*(mass * share / 0.3 * heading), 0, 0, 0], rtol=1e-9,
                               atol=1e-9)
    hard = Push(vehicle, lambda t, state: (50.0, 0.0, 0.0))(0.0, state)
    np.testing.assert_allclose(hard[:3], 0.3 * mass * 9.81 * heading, rtol=1e-9, atol=1e-9)


def test_a_push_turns_and_a_ball_has_a_heading_of_the_hand():
    vehicle = shipped("carriage")
    state = Simulator(vehicle).reset(pose=(0.0, 0.0, 0.7))
    data = vehicle.model.createData()
    pin.ccrba(vehicle.model, data, vehicle.configuration(), np.zeros(vehicle.model.nv))
    wrench = Push(vehicle, lambda t, state: (0.0, 0.0, 0.4))(0.0, state)
    np.testing.assert_allclose(wrench, [0, 0, 0, 0, 0, data.Ig.inertia[2, 2] * 0.4 / 0.3],
                               rtol=1e-9, atol=1e-12)
    ball = shipped("ball")
    state = Simulator(ball).reset()
    push, mass = Push(ball, lambda t, state: (0.05, 0.02, 0.3)), pin.computeTotalMass(ball.model)
    for t, heading in ((0.0, 0.0), (2.0, 0.6), (1.0, 0.6)):      # its clock does not go back
        ahead = np.array([np.cos(heading), np.sin(heading), 0.0])
        left = np.array([-np.sin(heading), np.cos(heading), 0.0])
        np.testing.assert_allclose(push(t, state), [
            *(mass / 0.3 * (0.05 * ahead + 0.02 * left)), 0, 0, 0], rtol=1e-9, atol=1e-12)
    push.reset()
    np.testing.assert_allclose(push(0.0, state)[:3], mass / 0.3 * np.array([0.05, 0.02, 0.0]),
                               rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name, aside", [(DRIVE, 0.0), ("mecanum", 0.4), ("pendulum", 0.0)])
def test_the_demo_is_a_gentle_curve(name, aside):
    """1.5 lengths a second after 1.5 s, turning left and right once in 6 s, at radii of three
    lengths or more; what moves sideways sways once in 12 s."""
    vehicle = shipped(name)
    demo, state = DemoDrive(vehicle), Simulator(vehicle).state
    speed = 1.5 * vehicle.steering.length
    for t, share in ((0.0, 0.0), (0.75, 0.5), (1.5, 1.0), (3.0, 1.0), (4.5, 1.0), (7.0, 1.0)):
        demo(t, state)
        np.testing.assert_allclose(demo.commanded_twist, share * speed * np.array(
            [1.0, aside * np.sin(np.pi * t / 6), np.sin(np.pi * t / 3) / vehicle.steering.length
             / 3]), rtol=1e-12, atol=1e-15)
    assert (demo.start == {}) == (name != "pendulum")          # which has to be upright


def test_an_easy_speed_is_neither_creeping_nor_reckless():
    """1.5 lengths a second, of 0.05 to 3 m/s."""
    for length, speed in ((1e-3, 0.05), (0.4, 0.6), (1.9, 2.85), (2.1, 3.0)):
        vehicle = SimpleNamespace(steering=SimpleNamespace(length=length))
        assert easy_speed(vehicle) == pytest.approx(speed, rel=1e-15)


@pytest.mark.parametrize("name, wanted", [
    ("coin", lambda r, length: {"roll_rate": 0.0}),
    ("bicycle", lambda r, length: {"forward_speed": np.sqrt(5 * 9.81 * length), "roll_rate": 0.4}),
    ("ball", lambda r, length: {"forward_speed": 3 * np.sqrt(9.81 * r), "yaw_rate": 1.0})])
def test_what_has_no_motor_is_pushed_off(name, wanted):
    """A bicycle fast, with a little roll; a ball in a turn; a coin leans by 12 degrees and spins
    faster than an upright one that just keeps so, with 7.5 times the square, g / (3 r)."""
    vehicle = shipped(name)
    demo = DemoDrive(vehicle)
    state = Simulator(vehicle, demo).reset(**demo.start)
    assert demo(0.0, state) is None and demo.commanded_twist is None
    radius = max(contact.mount.wheel.radius for contact in vehicle.contacts)
    expected = wanted(radius, vehicle.steering.length)
    if name == "coin":
        expected[vehicle.gauge.joint] = np.sqrt(7.5 * 9.81 / (3 * radius))
        assert abs(state.T_WB[2, 2]) == pytest.approx(np.cos(np.deg2rad(12)), rel=1e-9)
    assert state.pose == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    assert {key: state.xi[key] for key in expected} == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["carriage", "runners"])
def test_what_goes_straight_is_pushed_off_straight(name):
    """Wheels by their radius, as a ball; runners, which have none, at 1 m/s. No yaw rate is given
    where it is no independent speed."""
    if name == "carriage":
        vehicle = nhmech.load(
            re.sub("<drive [^>]*>", "", nhmech.urdf_path(name).read_text()), wheels=[
                replace(wheel, driven=False) if wheel.joint else wheel
                for wheel in shipped(name).description.wheels])
        speed = 3 * np.sqrt(9.81 * max(wheel.radius for wheel in vehicle.description.wheels))
    else:
        places = {"left": (0.3, 0.1, 0), "right": (0.3, -0.1, 0), "rear": (-0.3, 0, 0)}
        vehicle, speed = nhmech.load(
            robot(link("base"), *(link(name) + joint(f"{name}_joint", "base", name, place,
                                                     kind="fixed")
                                  for name, place in places.items())),
            wheels=[nhmech.Wheel(None, "blade", link=name, axis=(0, 1, 0), point=(0, 0, 0))
                    for name in places]), 1.0
    assert not vehicle.driven and "yaw_rate" not in vehicle.speeds
    assert DemoDrive(vehicle).start == {"xi": {
        "forward_speed": pytest.approx(speed, rel=1e-12), "yaw_rate": 0.0}}


@pytest.mark.parametrize("name", ["carriage", "ball"])
def test_a_push_is_along_the_ground(name):
    """On a slope too: a vehicle's heading and a hand's are as seen along the ground, and a turn is
    about the normal."""
    ground = nhmech.Ground(normal=(-0.3, 0.2, 1.0))
    vehicle, n = shipped(name, ground), np.array(ground.normal)
    state = Simulator(vehicle).reset(pose=(0.0, 0.0, 0.7))
    push = Push(vehicle, lambda t, state: (0.02, 0.01, 0.1))
    push._heading = 0.4
    wrench, mass = push(0.0, state), pin.computeTotalMass(vehicle.model)
    x = state.T_WB[:3, 0] if name == "carriage" else np.array([np.cos(0.4), np.sin(0.4), 0.0])
    ahead = x - n * (n @ x)
    ahead /= np.linalg.norm(ahead)
    np.testing.assert_allclose(wrench[:3], mass / 0.3 * (0.02 * ahead + 0.01 * np.cross(n, ahead)),
                               rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.cross(wrench[3:], n), 0, atol=1e-12)
    assert (wrench[3:] @ n > 0) == (name == "carriage")
