"""A body twist on every class of mobility: the base moves as it is told, whatever it rolls on."""

import logging
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from robot_table import real
from support import joint, link, robot, shipped

import nhmech
from nhmech.control.twist import TwistDrive
from nhmech.control.twist_rule import (
    driven_steering,
    find_undriven,
    guiding_axles,
    planar_twist_function,
    twist_function,
)
from nhmech.control.unicycle import unicycle
from nhmech.simulation.runs.driven_twist import measure_twist
from nhmech.simulation.state import base_pose

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "robots"
CLASSES = ("differential_drive", "carriage", "ackermann_car", "trailers", "tricycle", "mecanum",
           "omni", "swerve", "rover", "skid_steer")
FREE = ("mecanum", "omni", "swerve")
SPOT = ("differential_drive", "carriage", "skid_steer", *FREE)


def moved_by(vehicle, twist, duration=4.0):
    """The planar twist of the base after `duration`, in its heading's frame."""
    simulator = nhmech.Simulator(vehicle, TwistDrive(vehicle, twist), dt=5e-3, control_period=0.02)
    simulator.reset()
    simulator.run(duration)
    state = simulator.state
    return np.array([state.xi["forward_speed"], state.xi["lateral_speed"], state.xi["yaw_rate"]])


@pytest.mark.parametrize("name", CLASSES)
def test_forward_and_turning(name):
    """v and omega about the vehicle's own turning point, left, right and backwards."""
    vehicle = shipped(name)
    point = unicycle(vehicle)
    radius = max(2 * vehicle.steering.length, 1.5 * point.turning_radius)
    for speed, turn in ((0.4, 0.4 / radius), (0.4, -0.4 / radius), (-0.3, 0.3 / radius)):
        wanted = point.twist(speed, turn)
        assert moved_by(vehicle, wanted) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("name", FREE)
def test_every_direction(name):
    for wanted in ((0.0, 0.3, 0.0), (0.2, -0.2, 0.3), (-0.1, 0.2, -0.4)):
        assert moved_by(shipped(name), wanted) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("name", SPOT)
def test_on_the_spot(name):
    """Also with four steered wheels, whose axles can get there only through the rotation centres
    between."""
    for turn in (0.5, -0.5):
        assert moved_by(shipped(name), (0.0, 0.0, turn)) == pytest.approx((0, 0, turn), abs=1e-5)


def test_a_real_swerve_drive_with_twin_wheels():
    """Turning about its steering axis rolls the twin wheels against each other; their rates have to
    say so."""
    vehicle = real("pr2")
    wanted = (0.0, 0.0, 0.2)
    # its joints' friction is beyond a proportional servo
    assert moved_by(vehicle, wanted) == pytest.approx(wanted, abs=2e-3)


@pytest.mark.parametrize("name", ("ackermann_car", "swerve", "rover", "tricycle"))
def test_rates_are_those_of_the_distribution(name):
    """With the steering where the twist wants it and at rest, commanded rates are v = E xi of the
    joints."""
    vehicle = shipped(name)
    point = unicycle(vehicle)
    radius = max(2 * vehicle.steering.length, 1.5 * point.turning_radius)
    twist = point.twist(0.5, 0.5 / radius)
    axles = vehicle.steering.pair() if vehicle.steering.coupled else vehicle.steering.steered
    scaled = twist * (1, 1, vehicle.steering.length)
    simulator = nhmech.Simulator(vehicle)
    state = simulator.reset(joints={axle.steering: axle.angle_for(scaled) for axle in axles
                                    if axle.steering},
                            xi=dict(zip(("forward_speed", "lateral_speed", "yaw_rate"), twist)))
    angles, rates = TwistDrive(vehicle, twist)(0.0, state)
    assert rates.values == pytest.approx(
        {joint: state.joint_velocity[joint] for joint in rates.values}, rel=1e-9
    )
    assert angles.values == pytest.approx(
        {joint: state.joint_position[joint] for joint in angles.values}, abs=1e-12
    )


def test_wheels_go_where_the_steering_stands_not_where_it_will():
    """A car that stands straight and is to turn: both rear wheels turn alike until the front ones
    are round."""
    vehicle = shipped("ackermann_car")
    state = nhmech.Simulator(vehicle).reset()
    angles, rates = TwistDrive(vehicle, (0.5, 0.0, 0.1))(0.0, state)
    assert angles.values["front_left_steering_joint"] > 0.2
    assert rates.values["rear_left_wheel_joint"] == pytest.approx(
        rates.values["rear_right_wheel_joint"], rel=1e-12
    )


def test_on_ground_that_moves():
    """Rates are relative to the ground: A v + b = 0."""
    vehicle = shipped("differential_drive", nhmech.Ground(velocity=(0.3, 0.0, 0.0)))
    # as fast as the ground: its wheels stand
    assert moved_by(vehicle, (0.3, 0.0, 0.0))[0] == pytest.approx(0.3, abs=1e-5)
    simulator = nhmech.Simulator(vehicle)
    state = simulator.reset(xi={"forward_speed": 0.3, "yaw_rate": 0.0})
    assert np.abs(list(TwistDrive(vehicle,
                                  (0.3, 0.0, 0.0))(0.0, state)[1].values.values())).max() <= 1e-12


@pytest.mark.parametrize("speed", [3.0, -3.0])
def test_on_ground_that_moves_wheels_go_up_to_their_limit(speed):
    """Where the ground drives them one way, there is more room the other way."""
    vehicle = shipped("differential_drive", nhmech.Ground(velocity=(0.3, 0.0, 0.0)))
    limit = vehicle.limits["left_wheel_joint"].velocity
    state = nhmech.Simulator(vehicle).reset()
    rates = TwistDrive(vehicle, (speed, 0.0, 0.0))(0.0, state)[1].values
    assert list(rates.values()) == pytest.approx([np.copysign(limit, speed)] * 2, rel=1e-12)


def test_sideways_wheels_go_up_to_their_limit():
    """All of a mecanum base alike; what is possible of the twist is the same part of it."""
    vehicle = shipped("mecanum")
    limit = min(vehicle.limits[name].velocity for name in vehicle.driven)
    drive, state = TwistDrive(vehicle, (0.0, 50.0, 0.0)), nhmech.Simulator(vehicle).reset()
    fastest = np.abs(list(drive(0.0, state)[1].values.values()))
    assert fastest == pytest.approx([limit] * 4, rel=1e-12)
    slower = TwistDrive(vehicle, drive.possible_twist)
    assert np.abs(list(slower(0.0, state)[1].values.values())) == pytest.approx(fastest, rel=1e-9)


def test_a_steering_angle_beyond_its_limit_is_taken_half_a_turn_round():
    """A tricycle that stands at +1.2 rad and is to go where 1.9 rad leads, beyond its limit of 1.3,
    or 1.9 - pi."""
    vehicle = shipped("tricycle")
    drive = TwistDrive(vehicle, (0.0, 0.0, 0.0))
    axle = vehicle.steering.steered[0]
    limit = vehicle.limits[axle.steering]
    # the wheel stands 1.5 lengths ahead
    twist = np.array([np.cos(1.9), 0.0, np.sin(1.9) / 1.5])
    near = axle.angle_for(twist, 1.2)
    assert near == pytest.approx(1.9, abs=1e-12) and near > limit.upper
    state = nhmech.Simulator(vehicle).reset(joints={axle.steering: 1.2})
    positions, _ = drive.follow(0.0, state, twist / (1, 1, vehicle.steering.length))
    taken = positions.values[axle.steering]
    assert limit.lower <= taken <= limit.upper and taken == pytest.approx(near - np.pi, abs=1e-12)


@pytest.mark.parametrize("name", ["ackermann_car", "trailers", "tricycle"])
def test_a_turn_tighter_than_the_steering_allows(name):
    """Forward as commanded, turning no more than the smallest circle has it, which `unicycle`
    works out from the axles; on the spot nothing. What is possible is met to the digit."""
    vehicle = shipped(name)
    radius, drive = unicycle(vehicle).turning_radius, TwistDrive(vehicle, (0.0, 0.0, 0.0))
    state = nhmech.Simulator(vehicle).reset()
    rng = np.random.default_rng(5)
    for forward, yaw in (*rng.uniform(-1, 1, (200, 2)) * (1.0, 2.0 / radius), (0.0, 0.3)):
        drive.follow(0.0, state, (forward, 0.0, yaw))
        most = abs(forward) / radius
        assert drive.possible_twist[0] == pytest.approx(forward, abs=1e-15)
        assert drive.possible_twist[2] == pytest.approx(np.clip(yaw, -most, most), rel=1e-9,
                                                        abs=1e-12)
        assert bool(drive.shortfall) == (abs(yaw) > most)


@pytest.mark.parametrize("name, twist", [("ackermann_car", (0.3, 0.0, 0.2)),
                                         ("ackermann_car", (0.0, 0.0, 0.2)),
                                         ("rover", (0.1, 0.0, 1.0))])
def test_what_is_driven_of_an_impossible_twist(name, twist):
    """0.3 m/s and 0.2 rad/s were driven as 0.362 and 0.104, and nothing said so; a rover went
    0.39 m/s for 0.1, on the way to a rotation centre that is beyond the limits."""
    vehicle = shipped(name)
    drive = TwistDrive(vehicle, twist)
    simulator = nhmech.Simulator(vehicle, drive, dt=5e-3, control_period=0.02)
    found = measure_twist(vehicle, simulator.run(4.0))[-1]
    assert found == pytest.approx(drive.possible_twist, abs=1e-5)
    assert found[0] == pytest.approx(twist[0], abs=1e-5) and abs(found[2]) < abs(twist[2])
    assert f"{twist[2]:g} rad/s) is beyond the limits" in drive.shortfall


@pytest.mark.parametrize("name, twist", [("trailers", (0.3, 0.0, 0.5)),
                                         ("tricycle", (0.3, 0.0, 1.0)), ("rover", (0.3, 0.0, 0.4))])
def test_nothing_is_faster_than_commanded_while_the_steering_turns(name, twist):
    """A train drove 0.41 m/s for 0.3 on its way to full lock."""
    vehicle = shipped(name)
    run = nhmech.Simulator(vehicle, TwistDrive(vehicle, twist), dt=5e-3, control_period=0.01,
                           mode="kinematic").run(2.0)
    found = measure_twist(vehicle, run)
    assert found[:, 0].max() <= 0.3 * 1.01 and found[:, 2].max() <= twist[2] * 1.01
    assert found[-1, 0] == pytest.approx(0.3, rel=1e-5)


def test_an_articulated_loader_turns_as_its_hinge_lets_it():
    """tan(angle / 2) of two halves of one length is the curvature times that length, at any
    point on the axle; the base frame is on the front one."""
    def body(name):
        return (f'<link name="{name}"><inertial><origin xyz="0 0 0.4"/><mass value="200"/>'
                '<inertia ixx="20" iyy="20" izz="20" ixy="0" ixz="0" iyz="0"/></inertial></link>')

    def wheel(name, parent, x, y):
        return (f'<link name="{name}"><inertial><mass value="5"/><inertia ixx="0.1" iyy="0.2" '
                'izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin '
                'rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="0.3" length="0.1"/>'
                f'</geometry></collision></link><joint name="{name}_joint" type="continuous">'
                f'<parent link="{parent}"/><child link="{name}"/><origin xyz="{x} {y} 0.3"/>'
                '<axis xyz="0 1 0"/></joint>')

    vehicle = nhmech.load(
        '<robot name="loader">' + body("front") + body("rear")
        + '<joint name="hinge" type="revolute"><parent link="front"/><child link="rear"/><origin '
        'xyz="-0.6 0 0"/><axis xyz="0 0 1"/><limit lower="-0.7" upper="0.7" effort="5000" '
        'velocity="1"/></joint>'
        + "".join(wheel(f"{half[0]}{side}", half, x, y) for half, x in (("front", 0), ("rear", -.6))
                  for side, y in (("l", 0.5), ("r", -0.5)))
        + '<nhmech><drive joint="hinge"/><drive joint="fl_joint"/><drive joint="fr_joint"/>'
        "</nhmech></robot>")
    drive, most = TwistDrive(vehicle, (0.0, 0.0, 0.0)), np.tan(0.35) / 0.6
    state = nhmech.Simulator(vehicle).reset()
    for forward, yaw in ((0.5, 0.2), (0.5, 2.0), (-0.5, 2.0), (0.0, 0.5)):
        drive.follow(0.0, state, (forward, 0.0, yaw))
        turn = np.sign(yaw) * min(abs(yaw), most * abs(forward))
        assert drive.possible_twist == pytest.approx((forward, 0.0, turn), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["swerve", "rover", "ackermann_car"])
def test_coupled_steering_goes_to_far_twists_by_those_between(name):
    """Straight wheels, and a twist at an angle from straight ahead on the sphere of (forward,
    lateral, yaw length): they are sent there, or 0.4 rad on the way. Meanwhile the wheels roll at
    what of the speed is straight ahead, and gain it with the base's acceleration."""
    vehicle = shipped(name)
    state, length = nhmech.Simulator(vehicle).state, vehicle.steering.length
    rule, guiding = twist_function(vehicle), guiding_axles(vehicle)
    radius = vehicle.description.wheels[0].radius
    for way in (1.0, -1.0):
        for angle in (0.3, -0.3, 0.5, -1.2, 0.5 * np.pi):
            twist = way * np.array([np.cos(angle), 0.0, np.sin(angle) / length])
            targets, rates, acceleration, moving, possible = (part.full().ravel() for part in rule(
                0.0, state.q, state.v, vehicle.theta, np.zeros(len(guiding)), twist, 2.0))
            between = np.clip(angle, -0.4, 0.4)
            there = np.array([np.cos(between), 0.0, np.sin(between)])
            assert targets == pytest.approx(
                [axle.angle_for(there) for axle in driven_steering(vehicle)], abs=1e-12)
            if name == "swerve":        # whose limits bar nothing
                assert rates == pytest.approx([way * np.cos(angle) / radius] * 4, abs=1e-11)
                assert moving == 1 and possible == pytest.approx(twist, abs=1e-12)
                assert angle > 1.5 or acceleration == pytest.approx(2.0 / radius, rel=1e-12)


OBLIQUE = nhmech.Ground(normal=(-0.1, 0.06, 1))


@pytest.mark.parametrize("name, ground", [
    *((name, nhmech.Ground()) for name in ("ackermann_car", "trailers", "tricycle", "rover",
                                           "swerve", "differential_drive", "mecanum")),
    ("tricycle", OBLIQUE), ("mecanum", OBLIQUE)])
def test_wheels_roll_at_the_nearest_twist_that_the_axles_allow(name, ground):
    """At any steering angles and rates: of the twists of all motions that the constraints hold, the
    nearest one in m/s, but forward no faster than asked for, or than half the twist's size; and in
    the motion that has it, with the steering turning as it does, the rates of the wheels."""
    vehicle, rng = shipped(name, ground), np.random.default_rng(11)
    steering, names = vehicle.steering, vehicle.algebroid.v_names
    unit = np.array([1.0, 1.0, steering.length])
    axles = steering.pair() if steering.coupled else steering.steered
    turned = [axle.steering for axle in axles if axle.steering in vehicle.driven]
    drive, simulator = TwistDrive(vehicle, (0, 0, 0), acceleration=0.7), nhmech.Simulator(vehicle)
    planar = planar_twist_function(vehicle)
    for _ in range(6):
        state = simulator.reset(
            pose=(0.2, -0.1, 0.7), joints={joint: rng.uniform(-0.3, 0.3) for joint in turned},
            xi={speed: rng.uniform(-0.3, 0.3) for speed in vehicle.speeds})
        A = vehicle.functions.rows(0.0, state.q, vehicle.theta)[0]
        _, sizes, ways = np.linalg.svd(A)
        motions = ways[int(np.sum(sizes > 1e-9 * sizes[0])):].T
        twists = np.array([planar(state.q, way).full().ravel() for way in motions.T]).T
        basis, sizes, _ = np.linalg.svd(twists * unit[:, None])
        basis = basis[:, :int(np.sum(sizes > 1e-9))]
        for asked in (rng.uniform(-0.1, 0.1, 3) * (10, 1, 0.2), (0.01, 0.0, 0.0)):
            command = drive.follow(0.0, state, asked)[1]
            rates = command.values
            wanted = drive.possible_twist * unit
            assert wanted[0] == pytest.approx(asked[0], abs=1e-12)
            near = basis @ basis.T @ wanted
            if basis.shape[1] == 1 and abs(near[0]) > (
                    most := max(abs(wanted[0]), np.linalg.norm(wanted) / 2)):
                near *= most / abs(near[0])
            held = [names.index(joint) for joint in turned]
            found = motions @ np.linalg.lstsq(
                np.vstack([twists * unit[:, None], motions[held]]),
                np.r_[near, state.v[held]], rcond=1e-9)[0]
            np.testing.assert_allclose(planar(state.q, found).full().ravel() * unit, near, rtol=0,
                                       atol=1e-11)
            expected = {joint: found[names.index(joint)] for joint in rates if joint not in turned}
            assert {joint: rates[joint] for joint in expected} == pytest.approx(expected, abs=1e-9)
            # all are held back alike, so that the base speeds up by no more than it may
            change = {joint: rates[joint] - state.v[names.index(joint)] for joint in expected}
            assert command.acceleration == pytest.approx(
                0.7 * max(map(abs, change.values()))
                / abs(near[0] - planar(state.q, state.v).full()[0, 0]), rel=1e-9)


@pytest.mark.parametrize("short", [0.2, 0.0, -0.1])
def test_a_leader_near_its_limit_does_not_go_on_through_it(short):
    """At the other end of its way it lets the twist pass, and the nearest such angle is beyond the
    limit: a rover turns it back, by way of straight ahead."""
    rover = shipped("rover")
    leader = next(axle for axle in rover.steering.pair() if axle.steering in rover.driven)
    limits = {name: limit for name, limit in rover.description.limits.items()
              if name not in {axle.steering for axle in rover.steering.steered}}
    limits[leader.steering] = replace(rover.limits[leader.steering], lower=-1.4, upper=1.4)
    vehicle = replace(rover, description=replace(rover.description, limits=limits))
    state, length = nhmech.Simulator(rover).state, rover.steering.length
    # about a point of the fixed axle beside the leader: its angle is -1.3 rad, or pi more
    ways = [np.array([np.cos(way), 0.0, np.sin(way)]) for way in np.linspace(-1.5, 1.5, 3001)]
    way = min(ways, key=lambda way: abs(leader.angle_for(way, -1.3) + 1.3))
    assert leader.angle_for(way, -1.3) == pytest.approx(-1.3, abs=2e-2)
    twist, now = 0.01 * way / (1, 1, length), {leader.steering: 1.4 - short}
    now = vehicle.steering.followers(now, vehicle.steering.pair())
    angles = [now[axle.steering] for axle in guiding_axles(vehicle)]
    found = twist_function(vehicle)(0.0, state.q, state.v, rover.theta, angles, twist, np.inf)
    assert found[4].full().ravel() == pytest.approx(twist, abs=1e-12)
    assert 0 < float(found[0]) < 1.3 - short


@pytest.mark.parametrize("speed, moves", [(1.01e-6, 1.0), (0.99e-6, 0.0), (0.0, 0.0)])
def test_a_twist_is_one_from_a_micrometre_a_second(speed, moves):
    vehicle = shipped("tricycle")
    state = nhmech.Simulator(vehicle).state
    found = twist_function(vehicle)(0.0, state.q, state.v, vehicle.theta, [0.1], [speed, 0, 0],
                                    np.inf)
    assert found[2] == np.inf and float(found[3]) == moves


@pytest.mark.parametrize("name", ["tricycle", "swerve", "rover"])
def test_angles_for_twists_are_the_same_for_symbols_as_for_numbers(name):
    """`Axle.angle_for`, also where the two nearest angles are a quarter turn away."""
    twist, near = ca.SX.sym("twist", 3), ca.SX.sym("near")
    rng = np.random.default_rng(3)
    for axle in shipped(name).steering.steered:
        angle = ca.Function("angle", [twist, near], [axle.angle_for(twist, near)])
        for way in ((0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), *rng.normal(size=(20, 3))):
            now = rng.choice([0.0, rng.uniform(-4, 4)])
            assert float(angle(way, now)) == pytest.approx(axle.angle_for(np.array(way), now),
                                                           abs=1e-12)


def test_the_pose_of_a_state_is_that_of_its_quaternion():
    """T_WB against Pinocchio's own rotation."""
    import pinocchio as pin

    rng = np.random.default_rng(4)
    for _ in range(20):
        quaternion = rng.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        q = np.concatenate([rng.normal(size=3), quaternion])
        assert np.allclose(base_pose(q), pin.XYZQUATToSE3(q).homogeneous, rtol=0, atol=1e-14)

@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car", "skid_steer",
                                  "tricycle"])
def test_forward_and_yaw_are_met_from_any_base_frame(name):
    """The base frame may stand anywhere on the body: forward speed and yaw rate are those of the
    command all the same, and the lateral speed is what the axle makes of them."""
    text = nhmech.urdf_path(name).read_text()
    root = ET.fromstring(text)
    children = {e.find("child").get("link") for e in root.iter("joint")}
    first = next(e.get("name") for e in root.iter("link") if e.get("name") not in children)
    root.append(ET.fromstring('<link name="elsewhere"/>'))
    root.append(ET.fromstring('<joint name="shift" type="fixed"><parent link="elsewhere"/>'
                              f'<child link="{first}"/><origin xyz="0.1 0.07 0.02"/></joint>'))
    moved = nhmech.load(ET.tostring(root, encoding="unicode"))
    own = shipped(name)
    turn = 0.5 / (1 + 1.5 * unicycle(own).turning_radius)

    def drive(vehicle, forward):
        controller = TwistDrive(vehicle, (forward, 0.0, turn))
        run = nhmech.Simulator(vehicle, controller, mode="kinematic", dt=0.01).run(4.0)
        return measure_twist(vehicle, run)[-1]

    forward, lateral, yaw = drive(moved, 0.5)
    assert (forward, yaw) == pytest.approx((0.5, turn), rel=1e-12, abs=0)
    # the velocity of the new origin is v - w x r, for r from the new origin to the old one
    assert lateral == pytest.approx(drive(own, 0.5 + 0.07 * turn)[1] - 0.1 * turn, rel=1e-11, abs=0)


def test_twists_that_motors_leave_free():
    """None of what all wheels drive; of a sled to go ahead and to turn, about its runner; nothing
    is known of wheels with tyres, which slip."""
    for name in ("differential_drive", "ackermann_car", "mecanum", "swerve", "tricycle"):
        assert find_undriven(shipped(name)).shape == (0, 3)
    sled = find_undriven(shipped("sled"))
    np.testing.assert_allclose(sled @ sled.T, np.eye(2), rtol=0, atol=1e-12)
    np.testing.assert_allclose(sled[:, 1], 0, atol=1e-12)
    wheels = shipped("differential_drive").description.wheels
    tyre = dict(law="tyre", tyre="longitudinal.stiffness=1e4 lateral.stiffness=1e4")
    one = [nhmech.Wheel(wheel.joint, "disc", wheel.radius, driven=wheel is wheels[0], **tyre)
           if wheel.joint else wheel for wheel in wheels]
    slips = nhmech.load(nhmech.urdf_path("differential_drive").read_text().replace(
        '<drive joint="right_wheel_joint"/>', ""), wheels=one)
    assert slips.driven == ("left_wheel_joint",) and find_undriven(slips).shape == (0, 3)


def test_a_fork_that_no_twist_steers_is_told():
    drive = TwistDrive(shipped("bicycle"), (3.0, 0.0, 0.3))
    run = nhmech.Simulator(drive.vehicle, drive, mode="kinematic").run(0.1)
    assert abs(run.column("yaw_rate")[-1]) < 1e-12
    assert "the axis of steering_joint leans" in drive.shortfall
    drive.follow(0.0, nhmech.Simulator(drive.vehicle).state, (3.0, 0.0, 0.0))
    assert not drive.shortfall


@pytest.mark.parametrize("behind", [1e-4, 0.2])
def test_a_robot_that_hardly_dares_to_brake_says_so(behind, caplog):
    """Half of g behind / height, at which the ball behind lifts off; see `heavy`."""
    height = 0.5
    vehicle = nhmech.load(heavy(behind, height))
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        drive = TwistDrive(vehicle, (0.3, 0.0, 0.0))
        TwistDrive(vehicle, (0.3, 0.0, 0.0), acceleration=0.5)
    told = [record.getMessage() for record in caplog.records]
    assert drive.acceleration == pytest.approx(9.81 * behind / height / 2, rel=1e-2)
    assert [f"{drive.acceleration:.2g} m/s^2 at most" in line for line in told] == (
        [True] if behind < 1e-3 else [])


@pytest.mark.parametrize("most, tells", [(0.0199, True), (0.02, False), (0.0201, False)])
def test_who_needs_a_hundred_seconds_for_a_metre_a_second_is_told(most, tells, monkeypatch, caplog):
    """Half of what makes a wheel lift off."""
    monkeypatch.setattr("nhmech.control.twist.lift_acceleration", lambda vehicle: most)
    with caplog.at_level(logging.WARNING, logger="nhmech"):
        drive = TwistDrive(shipped("carriage"), (0.3, 0.0, 0.0))
    assert drive.acceleration == most / 2 and bool(caplog.records) == tells


@pytest.mark.parametrize("twist", [(0.3, 0.1), 0.3, [[0.3, 0.0, 0.1]], (1.0, 2.0, 3.0, 4.0)])
def test_a_twist_has_three_numbers(twist):
    drive, state = TwistDrive(shipped("carriage"), (0.0, 0.0, 0.0)), None
    assert np.isnan(drive.commanded_twist).all() and drive.commanded_twist.shape == (3,)
    with pytest.raises(nhmech.InputError, match="the twist is .*; expected forward .m/s., lateral"):
        drive.follow(0.0, state, twist)
    for acceleration in (0.0, -1.0, np.nan):
        with pytest.raises(nhmech.InputError, match="acceleration = .* must be"):
            TwistDrive(shipped("carriage"), (0.3, 0.0, 0.0), acceleration=acceleration)


@pytest.mark.parametrize("share, told", [(0.995, False), (1.005, True)])
def test_a_shortfall_is_a_thousandth_of_the_twist(share, told):
    """In m/s: a turn that is a little too tight for a car, its yaw rate times its length against
    the whole."""
    vehicle = shipped("ackermann_car")
    drive, state = TwistDrive(vehicle, (0.0, 0.0, 0.0)), nhmech.Simulator(vehicle).state
    length, most = vehicle.steering.length, 0.5 / unicycle(vehicle).turning_radius
    more = 1e-3 * share * np.hypot(0.5, most * length) / length
    drive.follow(0.0, state, (0.5, 0.0, most + more))
    assert bool(drive.shortfall) == told
    assert not told or drive.shortfall == (
        f"(0.5 m/s, 0 m/s, {most + more:.3g} rad/s) is beyond the limits of the joints of "
        f"ackermann_car: (0.5 m/s, 0 m/s, {most:.3g} rad/s) is driven")
    drive.follow(0.0, state, (0.5, 0.1, 0.1))
    assert drive.shortfall == (
        "(0.5 m/s, 0.1 m/s, 0.1 rad/s) is not driven by ackermann_car: the lateral speed follows "
        "from its fixed axle; (0.5 m/s, 0 m/s, 0.1 rad/s) is driven")


def heavy(behind: float, height: float) -> str:
    """Ten tonnes over two wheels of next to no mass, and a ball one metre behind them."""
    def wheel(side: str, y: float) -> str:
        shape = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder '
                 'radius="0.3" length="0.1"/></geometry></collision>')
        return (link(f"{side}_wheel", 1.0, (1e-3, 1e-3, 1e-3), body=shape)
                + joint(f"{side}_joint", "base", f"{side}_wheel", (0.0, y, 0.3)))

    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    return robot(link("base", 1e4, (2e3, 2e3, 2e3), com=(-behind, 0.0, height)),
                 wheel("left", 0.5), wheel("right", -0.5), link("caster", 1e-3, (1e-6,) * 3,
                                                                body=ball),
                 joint("caster_joint", "base", "caster", (-1.0, 0.0, 0.1), kind="fixed"))
