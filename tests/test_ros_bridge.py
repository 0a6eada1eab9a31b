"""The vehicle behind a ROS node, as plain data: commands in, readings out, by a clock that is
given."""

import math

import numpy as np
import pinocchio as pin
import pytest
from support import shipped

from nhmech import Simulator
from nhmech.control import TwistDrive, WheelServo
from nhmech.errors import InputError
from nhmech.logs.frames import WORLD
from nhmech.ros import Bridge, Settings
from nhmech.ros.settings import SpeedLimits, parameters

TICK = 0.01


@pytest.fixture
def said():
    return []


def bridge_of(name, said, **parameters):
    return Bridge(shipped(name), Settings.read(parameters), said.append)


def drive(bridge, ticks, twist=None, start=0, every=10):
    """Ticks of a clock, a command with each tenth; the last reading."""
    for k in range(start, start + ticks):
        if twist is not None and k % every == 0:
            bridge.take_twist(*twist)
        reading = bridge.advance(TICK * k)
    return reading


@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car", "mecanum", "pendulum"])
def test_a_command_is_followed(name, said):
    bridge = bridge_of(name, said)
    reading = drive(bridge, 201, (0.4, 0.0, 0.1))
    assert reading.t == pytest.approx(2.0, abs=1e-9)
    assert reading.twist[[0, 5]] == pytest.approx([0.4, 0.1], abs=0.02)
    assert bridge.health.is_well and not said


def test_odometry_is_that_of_a_run_with_the_same_commands(said):
    """The bridge adds nothing: the twists that it took, in one run of the simulator."""
    vehicle = shipped("differential_drive")
    bridge = bridge_of("differential_drive", said)
    commands = [(0.4, 0.0, 0.6 * math.sin(0.1 * k)) for k in range(12)]
    for k in range(121):
        if k % 10 == 0 and k < 120:
            bridge.take_twist(*commands[k // 10])
        reading = bridge.advance(TICK * k)

    def logged(t, state):
        # the command before tick k is there while the vehicle goes from tick k - 1 to k
        return commands[min((round(t / TICK) + 1) // 10, 11)]

    simulator = Simulator(vehicle, WheelServo(vehicle, commands=TwistDrive(vehicle, logged)),
                          control_period=TICK)
    simulator.reset()
    run = simulator.run(1.2)
    assert reading.base.translation == pytest.approx(run.q[-1, :3], abs=1e-9)
    assert np.abs(reading.base.rotation @ run.q[-1, 3:7]) == pytest.approx(1, abs=1e-12)
    assert reading.twist == pytest.approx(run.v[-1, :6], abs=1e-9)


def test_it_brakes_after_the_time_out_and_says_so_once(said):
    bridge = bridge_of("differential_drive", said, cmd_vel_timeout=0.3)
    bridge.take_twist(0.5, 0.0, 0.0)
    before = drive(bridge, 30)
    after = drive(bridge, 100, start=30)
    assert before.twist[0] > 0.45 and abs(after.twist[0]) < 0.01
    assert said == ["no cmd_vel for 0.3 s: the vehicle brakes"]


def test_no_time_out_where_it_is_zero(said):
    bridge = bridge_of("differential_drive", said, cmd_vel_timeout=0.0)
    bridge.take_twist(0.5, 0.0, 0.0)
    assert drive(bridge, 150).twist[0] == pytest.approx(0.5, abs=1e-3) and not said


@pytest.mark.parametrize("twist, age, words", [
    ((math.nan, 0.0, 0.0), 0.0, "not finite"),
    ((0.3, 0.0, math.inf), 0.0, "not finite"),
    ((0.3, 0.0, 0.0), 0.7, "its stamp is 0.7 s old"),
])
def test_commands_that_are_not_followed(twist, age, words, said):
    bridge = bridge_of("differential_drive", said)
    assert not bridge.take_twist(*twist, age=age)
    assert np.abs(drive(bridge, 20).twist).max() < 1e-12 and words in said[0]


def test_a_lateral_speed_is_refused_where_there_is_none(said):
    cart, mecanum = bridge_of("differential_drive", said), bridge_of("mecanum", said)
    assert drive(cart, 60, (0.3, 0.2, 0.0)).twist[0] == pytest.approx(0.3, abs=0.01)
    assert not cart.health.is_well and "lateral speed 0.2 m/s is refused" in cart.health.message
    assert drive(mecanum, 60, (0.3, 0.2, 0.0)).twist[1] == pytest.approx(0.2, abs=0.01)
    assert mecanum.health.is_well


def test_a_pose_is_taken_or_the_old_one_stays(said):
    bridge = bridge_of("differential_drive", said)
    drive(bridge, 50, (0.4, 0.0, 0.0))
    before = bridge.reading
    assert not bridge.take_pose(math.nan, 0.0, 0.0) and bridge.reading is before
    assert "initialpose (nan, 0, 0) is refused" in said[0]
    assert bridge.take_pose(3.0, -2.0, 0.5)
    assert bridge.reading.base.translation[:2] == pytest.approx([3.0, -2.0])
    assert np.abs(drive(bridge, 5, start=50).twist).max() < 1e-12
    bridge.reset()
    assert bridge.reading.base.translation[:2] == pytest.approx([0.0, 0.0])


def test_time_that_goes_back_resets_and_pauses_last(said):
    bridge = bridge_of("differential_drive", said)
    drive(bridge, 60, (0.4, 0.0, 0.0))
    bridge.pause(True)
    held = bridge.reading
    assert bridge.advance(0.8) is held
    bridge.pause(False)
    assert bridge.advance(0.1).base.translation[:2] == pytest.approx([0, 0], abs=1e-12)
    assert "time went back to 0.100 s" in said[-1]


def test_it_leaves_out_time_that_it_missed(said):
    bridge = bridge_of("differential_drive", said)
    bridge.advance(0.0)
    assert bridge.advance(5.0).t == pytest.approx(0.25) and "4.75 s" in said[0]


def test_ten_times_as_fast(said):
    bridge = bridge_of("differential_drive", said, speed_factor=10.0)
    assert drive(bridge, 11).t == pytest.approx(1.0, abs=1e-9)


def test_the_shadow_of_the_base_is_planar(said):
    """base_footprint: x, y and yaw of the base, its velocity seen from above."""
    bridge = bridge_of("pendulum", said, base_frame_id="base_footprint")
    reading = drive(bridge, 150, (0.3, 0.0, 0.5))
    name, position, rotation, twist = bridge.base
    whole = pin.Quaternion(*reading.base.rotation[[3, 0, 1, 2]]).toRotationMatrix()
    flat = pin.Quaternion(*rotation[[3, 0, 1, 2]]).toRotationMatrix()
    assert name == "base_footprint" and position[2] == 0
    assert position[:2] == pytest.approx(reading.base.translation[:2])
    assert flat[:2, 0] == pytest.approx(whole[:2, 0] / np.linalg.norm(whole[:2, 0]), rel=1e-9)
    assert flat @ twist[:3] == pytest.approx([*(whole @ reading.twist[:3])[:2], 0], abs=1e-12)
    assert twist[5] == pytest.approx((whole @ reading.twist[3:])[2]) and not twist[2:5].any()


def test_readings_hang_together(said):
    """Every link hangs on one parent, up to odom; forces are those of the reactions, and carry the
    weight."""
    bridge = bridge_of("ackermann_car", said)
    reading = drive(bridge, 100, (0.4, 0.0, 0.1))
    edges = {edge.child: edge.parent
             for edge in (reading.base, *reading.links, *bridge.readings.fixed())}
    for child in edges:
        while child in edges:
            child = edges[child]
        assert child == WORLD
    mass = sum(inertia.mass for inertia in bridge.vehicle.model.inertias)
    normals = sum(force[2] for force in reading.forces.values())
    assert normals == pytest.approx(mass * 9.81, rel=1e-3)


def test_speeds_are_limited_as_the_controller_of_ros_does():
    limits = SpeedLimits(max_velocity=0.5, max_acceleration=1.0, max_deceleration=-2.0)
    speeds = [0.0]
    for _ in range(8):
        speeds.append(limits.clip(9.0, speeds[-1], 0.1))
    assert speeds[:6] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5]) and speeds[-1] == 0.5
    assert limits.clip(-9.0, 0.5, 0.1) == pytest.approx(0.3)      # down to zero first
    assert limits.clip(-9.0, 0.0, 1.0) == pytest.approx(-0.5)
    assert SpeedLimits().clip(9.0, -3.0, 0.1) == 0.0              # and then there
    assert SpeedLimits().clip(9.0, 0.0, 0.1) == 9.0
    assert SpeedLimits(max_velocity=1.0, min_velocity=-0.2).clip(-9.0, 0.0, 0.1) == -0.2


def test_limits_hold_in_the_loop(said):
    bridge = bridge_of("differential_drive", said, **{"linear.x.max_acceleration": 0.5})
    drive(bridge, 51, (1.0, 0.0, 0.0))
    assert bridge.twist[0] == pytest.approx(0.25, abs=0.006)


@pytest.mark.parametrize("given, words", [
    ({"cmd_vel_timout": 1.0}, "did you mean cmd_vel_timeout"),
    ({"linear.x.max_speed": 1.0}, "did you mean linear.x.max"),
    ({"cmd_vel_timeout": -1.0}, "must be 0"),
    ({"speed_factor": 0.0}, "must be positive"),
    ({"dt": "small"}, "not of the type"),
    ({"dt": True}, "not of the type"),
    ({"base_frame_id": 3}, "not of the type"),
])
def test_wrong_parameters_are_named(given, words):
    with pytest.raises(InputError, match=words):
        Settings.read(given)


def test_a_base_that_odometry_is_not_of_is_refused(said):
    with pytest.raises(InputError, match="must be the root link, 'base_link'"):
        bridge_of("differential_drive", said, base_frame_id="left_wheel")


def test_all_parameters_are_read_back():
    assert Settings.read(parameters()).cmd_vel_timeout == 0.5
    assert Settings.read({"angular.z.max_velocity": 2}).angular_z.max_velocity == 2.0


def test_a_failure_stands_still_until_the_reset(said):
    """A vehicle that falls stops, is told to be unwell, and starts anew."""
    bridge = bridge_of("differential_drive", said)
    drive(bridge, 5)

    def fail():
        raise InputError("out of order")

    step, bridge.simulator.step = bridge.simulator.step, fail
    reading = drive(bridge, 5, start=5)
    assert drive(bridge, 5, start=10) is bridge.reading and reading.t <= 0.05
    assert bridge.health.message == "stands still: out of order" and len(said) == 1
    bridge.simulator.step = step
    bridge.reset()
    assert bridge.health.is_well and drive(bridge, 10, start=20).t == pytest.approx(0.09)
