"""The vehicle behind a ROS node, as plain data: commands in, readings out, by a clock that is
given."""

import math
import re

import casadi
import numpy as np
import pinocchio as pin
import pytest
from support import SHIPPED, at_length, shipped

import nhmech
from nhmech import Simulator
from nhmech.analysis import cone_programme
from nhmech.control import TwistDrive, WheelServo
from nhmech.control.speed_limits import NEEDED, NEGATIVE
from nhmech.control.twist_limits import TwistLimits
from nhmech.errors import InputError
from nhmech.logs.frames import WORLD
from nhmech.ros import Bridge, Settings
from nhmech.ros.settings import SpeedLimits, parameters
from nhmech.ros.start import load_from_parameters
from nhmech.simulation.atlas import FAIR
from nhmech.vehicle.joint_ranges import far_configurations

TICK = 0.01


@pytest.fixture
def said():
    return []


def bridge_of(name, said, **parameters):
    return Bridge(shipped(name), Settings.read(parameters), said.append)


def worst(bridge):
    """What /diagnostics tell of what is not well; "" where all is."""
    return "".join(one.message for one in bridge.diagnostics if one.level != "OK")


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
    assert not worst(bridge) and not said


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


@pytest.mark.parametrize("twist, age, words", [((math.nan, 0.0, 0.0), 0.0, "not finite"),
                                               ((0.3, 0.0, math.inf), 0.0, "not finite"),
                                               ((0.3, 0.0, 0.0), 0.7, "its stamp is 0.7 s old")])
def test_commands_that_are_not_followed(twist, age, words, said):
    bridge = bridge_of("differential_drive", said)
    assert not bridge.take_twist(*twist, age=age)
    assert np.abs(drive(bridge, 20).twist).max() < 1e-12 and words in said[0]


def test_a_lateral_speed_is_refused_where_there_is_none(said):
    cart, mecanum = bridge_of("differential_drive", said), bridge_of("mecanum", said)
    assert drive(cart, 60, (0.3, 0.2, 0.0)).twist[0] == pytest.approx(0.3, abs=0.01)
    assert "lateral speed 0.2 m/s is refused" in worst(cart)
    assert drive(mecanum, 60, (0.3, 0.2, 0.0)).twist[1] == pytest.approx(0.2, abs=0.01)
    assert not worst(mecanum)


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


@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car"])
def test_a_pose_on_a_slope_is_the_one_that_was_asked_for(name, said):
    """It was put down along the slope's normal, 9 cm beside it on 15 degrees."""
    slope = shipped(name, nhmech.Ground(normal=(-math.sin(0.26), 0.0, math.cos(0.26))))
    bridge = Bridge(slope, Settings(base_frame_id="base_footprint"), said.append)
    assert bridge.take_pose(1.0, 2.0, 0.5)
    base = bridge.odometry.base
    assert base.translation == pytest.approx((1.0, 2.0, 0.0), abs=2e-9)
    assert base.rotation[2:] == pytest.approx((math.sin(0.25), math.cos(0.25)), abs=2e-9)


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
    odometry = bridge.odometry
    name, position, rotation, twist = *odometry.base[1:], odometry.twist
    whole = pin.Quaternion(*reading.base.rotation[[3, 0, 1, 2]]).toRotationMatrix()
    flat = pin.Quaternion(*rotation[[3, 0, 1, 2]]).toRotationMatrix()
    assert name == "base_footprint" and position[2] == 0
    above = odometry.root
    assert flat @ above.translation + position == pytest.approx(reading.base.translation)
    assert flat @ pin.Quaternion(*above.rotation[[3, 0, 1, 2]]).toRotationMatrix() == (
        pytest.approx(whole))
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
    back = SpeedLimits(0.5, math.nan, 1.0, -0.5, -2.0, 4.0)
    assert back.clip(-9.0, 0.0, 0.1) == pytest.approx(-0.05)
    assert back.clip(9.0, -0.5, 0.1) == pytest.approx(-0.1)
    assert limits.clip(9.0, -0.5, 0.1) == pytest.approx(-0.4)     # as away from zero, forward
    speeds = [0.0]
    for _ in range(8):
        speeds.append(limits.clip(9.0, speeds[-1], 0.1))
    assert speeds[:6] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5]) and speeds[-1] == 0.5
    assert limits.clip(-9.0, 0.5, 0.1) == pytest.approx(0.3)
    assert limits.clip(-9.0, 0.0, 1.0) == pytest.approx(-0.5)
    assert SpeedLimits().clip(9.0, -3.0, 0.1) == 9.0
    assert limits.clip(-9.0, 0.05, 0.1) == pytest.approx(-0.15)   # through zero as it brakes
    assert SpeedLimits(max_velocity=1.0, min_velocity=-0.2).clip(-9.0, 0.0, 0.1) == -0.2


def limited_by_the_controller(limits, v, v0, v1, dt):
    """By the rules of control_toolbox::RateLimiter, written down from its documentation: jerk,
    then acceleration, then speed."""
    if not math.isnan(limits.max_jerk):
        least = -limits.max_jerk if math.isnan(limits.min_jerk) else limits.min_jerk
        dv, dv0 = v - v0, v0 - v1
        if (dv - dv0) * dv > 0:         # only where the change grows
            v = v0 + dv0 + np.clip(dv - dv0, least * dt ** 2, limits.max_jerk * dt ** 2)
    if not math.isnan(limits.max_acceleration):
        up, down = limits.max_acceleration, limits.max_acceleration_reverse
        down = -up if math.isnan(down) else down
        slow, back = limits.max_deceleration, limits.max_deceleration_reverse
        slow, back = down if math.isnan(slow) else slow, up if math.isnan(back) else back
        least, most = (slow, up) if v0 > 0 else (down, back) if v0 < 0 else (down, up)
        v = v0 + np.clip(v - v0, least * dt, most * dt)
    if not math.isnan(limits.max_velocity):
        least = -limits.max_velocity if math.isnan(limits.min_velocity) else limits.min_velocity
        v = np.clip(v, least, limits.max_velocity)
    return v


def test_limits_are_those_of_the_controller_at_random():
    rng = np.random.default_rng(0)
    signs = {name: -1 if name in NEGATIVE else 1 for name in vars(SpeedLimits())}
    for _ in range(400):
        given = dict(zip(signs, rng.uniform(0.1, 2.0, len(signs)) * [*signs.values()]))
        for name in rng.permutation(list(signs))[:rng.integers(0, 8)]:
            given.pop(name, None)
        given = {name: value for name, value in given.items() if NEEDED.get(name, name) in given}
        limits, (v, v0, v1), dt = SpeedLimits(**given), rng.normal(size=3), rng.uniform(0.01, 1.0)
        expected = limited_by_the_controller(limits, v, v0, v1, dt)
        assert limits.clip(v, v0, dt, v0 - v1) == pytest.approx(expected, abs=1e-14), given
        wanted, before, earlier = ((0.0, 0.0, speed) for speed in (v, v0, v1))
        assert TwistLimits(yaw=limits).clip(wanted, before, dt, earlier) == pytest.approx(
            (0, 0, expected), abs=1e-14)


def test_a_change_of_speed_that_grows_is_limited(said):
    """Jerk 2 m/s^3 from rest: 2 t^2 / 2 after 0.3 s, up to a period of the controller."""
    bridge = bridge_of("differential_drive", said, **{"linear.x.max_jerk": 2.0})
    drive(bridge, 31, (1.0, 0.0, 0.0))
    assert bridge.twist[0] == pytest.approx(0.5 * 2.0 * 0.3 * 0.31, abs=0.007)


@pytest.mark.parametrize("given, words", [
    ({"linear.x.min_velocity": 0.2, "linear.x.max_velocity": 1.0},
     "parameter linear.x.min_velocity = 0.2 must be negative, zero, or NaN for no limit"),
    ({"angular.z.max_deceleration": 2.0, "angular.z.max_acceleration": 2.0},
     "parameter angular.z.max_deceleration = 2 must be negative"),
    ({"linear.y.max_velocity": -1.0}, "parameter linear.y.max_velocity = -1 must be positive"),
    ({"linear.x.max_deceleration": -1.0},
     "linear.x.max_deceleration = -1 does nothing without max_acceleration; set that too"),
    ({"linear.x.min_jerk": -1.0}, "does nothing without max_jerk"),
])
def test_limits_that_make_no_sense_are_named(given, words):
    with pytest.raises(InputError, match=re.escape(words)):
        Settings.read(given)


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
    ({"publish_clock": 1}, "not of the type"),
    ({"mode": "wheels"}, "there are twist, joints"),
    ({"mu": 0.0}, "mu = 0.0 must be positive"),
    ({"pose_covariance_diagonal": [0.1] * 5}, "must be 6 finite numbers"),
    ({"twist_covariance_diagonal": [-0.1] * 6}, "none negative"),
    ({"odom_frame_id": ""}, "must name a frame"),
    ({"odom_frame_id": "/odom"}, "without a slash before it"),
    ({"mode": "joints", "command_log": "log.csv"}, "set mode to 'twist'"),
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


def test_a_node_stands_on_the_ground_of_its_parameters():
    vehicle, settings = load_from_parameters({"robot": "carriage", "slope": 0.1,
                                              "slope_direction": np.pi / 2})
    np.testing.assert_allclose(vehicle.placer.normal, [0, -np.sin(0.1), np.cos(0.1)], atol=1e-15)
    assert settings.slope == 0.1 and Settings().ground == nhmech.Ground()
    with pytest.raises(InputError, match="slope = 90.0 must be an angle"):
        Settings.read({"slope": 90.0})


def test_a_failure_stands_still_until_the_reset(said):
    """A vehicle that falls stops, is told to be unwell, and starts anew."""
    bridge = bridge_of("differential_drive", said)
    drive(bridge, 5)

    def fail():
        raise InputError("out of order")

    step, bridge.simulator.step = bridge.simulator.step, fail
    reading = drive(bridge, 5, start=5)
    assert drive(bridge, 5, start=10) is bridge.reading and reading.t <= 0.05
    assert worst(bridge) == "stands still: out of order" and len(said) == 1
    bridge.simulator.step = step
    bridge.reset()
    assert not worst(bridge) and drive(bridge, 10, start=20).t == pytest.approx(0.09)


def planar(bridge):
    base = bridge.odometry.base
    return (*base.translation[:2], 2 * math.atan2(base.rotation[2], base.rotation[3]))


def test_odometry_is_set_without_a_motion(said):
    """Odometry and its place in the map together say where the vehicle is."""
    bridge = bridge_of("differential_drive", said)
    world = drive(bridge, 80, (0.4, 0.0, 0.5)).base
    twist = bridge.odometry.twist
    bridge.set_odometry(2.0, -1.0, 3.0)
    assert planar(bridge) == pytest.approx((2.0, -1.0, 3.0))
    assert bridge.reading.base is world and bridge.odometry.twist is twist
    odom = pin.XYZQUATToSE3(np.concatenate(bridge.map_to_odom[2:]))
    base = pin.XYZQUATToSE3(np.concatenate(bridge.odometry.base[2:]))
    whole = pin.XYZQUATToSE3(np.concatenate(world[2:]))
    assert (odom * base).homogeneous == pytest.approx(whole.homogeneous, abs=1e-12)
    with pytest.raises(InputError, match="not finite"):
        bridge.set_odometry(math.nan, 0.0, 0.0)
    bridge.reset()
    assert planar(bridge) == pytest.approx((0, 0, 0), abs=1e-12)


def test_with_a_map_odometry_does_not_jump(said):
    """A new pose moves the map under odometry, as a localiser does (REP-105)."""
    bridge = bridge_of("differential_drive", said, publish_map_odom_tf=True)
    drive(bridge, 80, (0.4, 0.0, 0.5))
    before = planar(bridge)
    assert bridge.take_pose(3.0, -2.0, 1.0)
    assert planar(bridge) == pytest.approx(before)
    assert bridge.reading.base.translation[:2] == pytest.approx([3.0, -2.0])
    assert bridge.frames[0].parent == "map" and bridge.frames[1].parent == "odom"
    assert bridge.take_pose(*before, frame="odom")
    assert bridge.reading.base.translation[:2] == pytest.approx([3.0, -2.0])
    assert not bridge.take_pose(0.0, 0.0, 0.0, frame="odometry") and "not 'map' or" in said[-1]


def test_stamps_are_of_the_state(said):
    """The clock's time less what the vehicle is behind; of the vehicle's own clock where it tells
    that, which resets do not put back."""
    here = bridge_of("differential_drive", said)
    for now in (7.0, 7.0114, 7.0203):
        here.advance(now)
    assert here.stamp == pytest.approx(7.0 + here.simulator.t, abs=1e-12)
    own = bridge_of("differential_drive", said, publish_clock=True, speed_factor=2.0)
    drive(own, 11)
    own.reset()
    drive(own, 11, start=20)
    assert own.stamp == pytest.approx(0.4, abs=1e-12)


def test_commands_are_told_when_they_change():
    told = []
    bridge = Bridge(shipped("differential_drive"), Settings(), print,
                    lambda t, twist: told.append((round(t, 9), twist)))
    drive(bridge, 5)
    bridge.take_twist(0.2, 0.0, 0.1)
    drive(bridge, 20, start=5)
    assert told == [(0.0, (0.0, 0.0, 0.0)), (0.04, (0.2, 0.0, 0.1))]


STEERED = """<ros2_control name="base" type="system">{}</ros2_control>""".format("".join(
    f'<joint name="{name}"><command_interface name="{interface}"/></joint>'
    for name, interface in (("front_left_steering_joint", "position"),
                            ("rear_left_wheel_joint", "velocity"),
                            ("front_right_steering_joint", "position"),
                            ("rear_right_wheel_joint", "velocity"))))


@pytest.fixture(scope="module")
def steered():
    from nhmech import load, urdf_path
    text = urdf_path("ackermann_car").read_text()
    return load(text.replace("</robot>", f"{STEERED}</robot>"))


NAMES = ["front_left_steering_joint", "rear_left_wheel_joint", "front_right_steering_joint",
         "rear_right_wheel_joint"]


def test_a_controller_manager_drives_a_steered_vehicle(steered, said):
    """Arrays are shorter than `name`: they hold the joints that have the interface."""
    bridge = Bridge(steered, Settings(mode="joints"), said.append)
    assert bridge.take_joints(NAMES, position=[0.2, 0.2], velocity=[4.0, 4.0])
    before, reading = drive(bridge, 150), drive(bridge, 100, start=150)
    found = dict(zip(bridge.readings.joints, reading.velocity))
    # in a turn the inner wheel is slower, whatever is asked: the servos share the difference
    assert np.mean([found[name] for name in NAMES[1::2]]) == pytest.approx(4.0, rel=0.1)
    assert reading.base.translation[0] > before.base.translation[0] and not said
    angle = dict(zip(bridge.readings.joints, reading.position))["front_left_steering_joint"]
    assert 0.1 < angle < 0.25                # no time-out: the last command holds


@pytest.mark.parametrize("names, values, words", [
    (["wheel"], {"velocity": [1.0]}, "joint 'wheel' does not exist; driven are"),
    (NAMES, {"position": [0.1, 0.1, 0.1]}, "position has 3 numbers; name has 4 joints, 2 of them"),
    (NAMES, {"velocity": [1.0, math.inf]}, "is inf; it must be finite, or NaN for no command"),
])
def test_joint_commands_that_are_refused(steered, names, values, words, said):
    bridge = Bridge(steered, Settings(mode="joints"), said.append)
    assert not bridge.take_joints(names, **values)
    assert words in said[0] and words in worst(bridge)
    assert np.abs(drive(bridge, 30).twist).max() < 1e-9


def test_whole_arrays_of_joints_are_taken(said):
    """A JointState with a number for each name; NaN commands nothing."""
    bridge = bridge_of("differential_drive", said, mode="joints")
    assert bridge.take_joints(["right_wheel_joint", "left_wheel_joint"],
                              velocity=[3.0, math.nan], position=[math.nan, math.nan])
    reading = drive(bridge, 100)
    found = dict(zip(bridge.readings.joints, reading.velocity))
    assert found["right_wheel_joint"] == pytest.approx(3.0, abs=0.01)
    assert found["left_wheel_joint"] == pytest.approx(0.0, abs=0.01)


def test_a_wheel_that_needs_more_than_its_friction_is_named(said):
    bridge = bridge_of("differential_drive", said, mu=0.02,
                       **{"linear.x.max_acceleration": 0.5})
    drive(bridge, 60, (1.0, 0.0, 0.0))
    rolling = bridge.diagnostics[1]
    assert rolling.level == "WARN" and "wheel" in rolling.message and "> 0.02" in rolling.message
    assert float(rolling.values["since [s]"]) <= 0.11
    drive(bridge, 300, (1.0, 0.0, 0.0), start=60)
    assert bridge.diagnostics[1].level == "OK"


def test_a_turn_that_the_steering_does_not_allow_is_told(said):
    """Once in the log, and in /diagnostics until another command can be followed, but not while
    time is held."""
    bridge = bridge_of("ackermann_car", said)
    drive(bridge, 250, (0.3, 0.0, 0.2))
    assert re.search(r"cmd_vel \(0.3 .*0.2 rad/s\) is beyond .*0.0862 rad/s\) is driven",
                     worst(bridge))
    assert said == [worst(bridge)]
    bridge.pause(True)
    assert not worst(bridge)
    bridge.pause(False)
    drive(bridge, 30, (0.3, 0.0, 0.05), start=250)
    assert not worst(bridge)


def test_steering_is_held_where_the_twist_is_zero(said):
    """It was let go, and ran off beyond its limits while the car came to rest."""
    bridge = bridge_of("ackermann_car", said)
    drive(bridge, 100, (0.4, 0.0, 0.2))
    before = bridge.simulator.state.joint_position["front_left_steering_joint"]
    drive(bridge, 150, (0.0, 0.0, 0.0), start=100)
    after = bridge.simulator.state.joint_position["front_left_steering_joint"]
    assert after == pytest.approx(before, abs=0.02) and abs(before) > 0.2


def test_nothing_is_formed_while_the_clock_runs(said, monkeypatch):
    """Wheels that stand across and rotation centres at a wheel take equations in other speeds:
    these, their code and what follows commands in them are there at the start."""
    bridge = bridge_of("swerve", said, dt=5e-3, cmd_vel_timeout=0.0)
    atlas, formed, used = bridge.simulator.atlas, [], set()
    init = casadi.Function.__init__
    monkeypatch.setattr(casadi.Function, "__init__",
                        lambda *words, **named: formed.append(words) or init(*words, **named))
    monkeypatch.setattr("nhmech.compile.loop.library_of", lambda *words: formed.append(words))
    rng, length = np.random.default_rng(1), bridge.vehicle.steering.length
    for k in range(1800):
        if k % 60 == 0:
            x, y, yaw = rng.uniform(-1, 1, 3) * rng.choice([0, 1, 1], 3)
            bridge.take_twist(length * x, length * y, yaw)
        bridge.advance(0.01 * k)
        used.add(id(atlas.chart))
    assert len(used) > 2 and not formed and bridge.diagnostics[0].level == "OK"


@pytest.mark.parametrize("name", [*at_length("swerve"), "trailers", "tricycle"])
def test_equations_are_there_for_the_whole_range(name):
    """Of configurations that were not looked at, too: of the swerve's with its rotation centre
    around its wheels."""
    vehicle = shipped(name)
    simulator = nhmech.Simulator(vehicle)
    simulator.compile(wait=False)
    theta, charts = vehicle.theta, simulator.atlas.charts
    far = far_configurations(vehicle, 800)[500:]
    best = [max(abs(chart.margin(0.0, chart.at_rest(q), theta)) for chart in charts) for q in far]
    assert min(best) > FAIR and len(charts) <= 12


def test_ticks_find_a_split_of_the_load_before_they_judge_all(monkeypatch):
    """Judging all splits takes many steps for a train; one that holds is found in a few cones."""
    from nhmech.control import teleoperation

    bridge = Bridge(shipped("trailers"), Settings(cmd_vel_timeout=0.0))
    looked = []
    find = teleoperation.can_roll
    monkeypatch.setattr(teleoperation, "can_roll",
                        lambda *words, **named: looked.append(1) or find(*words, **named))
    monkeypatch.setattr(teleoperation, "why_not", lambda *_, **__: pytest.fail("all were judged"))
    for k in range(300):
        bridge.take_twist(1.0, 0.0, 0.5)
        bridge.advance(0.01 * k)
    assert looked and bridge.diagnostics[0].level == "OK"


@pytest.mark.parametrize("name, seconds",
                         [("trailers", 6), ("rover", 4), *at_length(*((n, 60) for n in SHIPPED))])
def test_a_tick_judges_in_few_steps(name, seconds, monkeypatch, said):
    """Commands that no wheel can follow, one after the other: in no tick does the judgement of the
    wheels take more steps of Newton's method than fit into a part of its time: about 0.08 ms
    each."""
    steps, worst = [], 0
    solve = cone_programme._solve
    monkeypatch.setattr(cone_programme, "_solve",
                        lambda *given: steps.append(1) or solve(*given))
    bridge = bridge_of(name, said, dt=TICK, cmd_vel_timeout=0.0)
    rng = np.random.default_rng(7)
    for k in range(round(seconds / TICK)):
        if k % 20 == 0:
            bridge.take_twist(*rng.uniform(-1, 1, 3) * (3.0, 1.0, 4.0))
        steps.clear()
        bridge.advance(TICK * k)
        worst = max(worst, len(steps))
    assert worst <= 250 and (worst or seconds == 60)
