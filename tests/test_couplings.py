"""Steered axles that must meet, rank and redundancy: what may move, and what the user is told where
nothing may."""

from __future__ import annotations

import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support import joint, kinematics, link, margin, robot, sampled, shipped

import nhmech
from nhmech import JointPosition, JointVelocity, Simulator, Wheel
from nhmech.analysis.mobility import mobility as robot_class
from nhmech.urdf import MidAxle
from nhmech.urdf.description import JointLimits, Mimic
from nhmech.urdf.notice import NoticeKind
from nhmech.vehicle.couplings import Axle, Steering, check_can_move, narrow_limits
from nhmech.vehicle.model import write_joint
from nhmech.vehicle.rows import mimic_row

DEG = np.pi / 180
SWERVE = ("front_left", "front_right", "rear_left", "rear_right")


def mobility(vehicle, q) -> int:
    """nv - rank A at q, all rows, by singular values in the common unit of metres;
    with the coupling written in a pair that serves there."""
    if vehicle.steering.coupled:
        vehicle = vehicle.rechoose(q)
    A = vehicle.functions.constraints(0.0, q,
                                        vehicle.theta)[0].full() / vehicle.constrained.scales
    values = np.linalg.svd(A / np.linalg.norm(A, axis=1, keepdims=True), compute_uv=False)
    assert not np.any((values > 1e-9) & (values < 1e-3)), "rank is not clear-cut"
    return A.shape[1] - int(np.sum(values > 1e-9))


def axle_lines(vehicle, q) -> np.ndarray:
    """Each wheel's axle as a line (a, b, c) of the base's plane, a x + b y + c = 0 with
    (a, b) unit and c in vehicle lengths.

    Built from Pinocchio's placements of the wheels alone: the axle is the wheel joint's axis, laid
    onto the ground.
    """
    data, base, lines = kinematics(vehicle, q), None, []
    base = data.oMi[1]
    for wheel in vehicle.description.wheels:
        if wheel.kind != "disc":
            continue
        j = vehicle.model.getJointId(wheel.joint)
        X = base.actInv(data.oMi[j])
        axle = X.rotation @ np.array(wheel.axis)
        centre = X.translation
        normal = np.array([axle[1], -axle[0]]) / np.hypot(*axle[:2])
        lines.append([*normal, -(normal @ centre[:2]) / vehicle.steering.length])
    return np.array(lines)


def meet(lines) -> float:
    """Third singular value over the first: zero where all lines pass through one point, at infinity
    perhaps."""
    values = np.linalg.svd(lines, compute_uv=False)
    return values[2] / values[0]


def spinning(vehicle, wheel: str, x: float = 0.0, y: float = 0.0) -> float:
    """The steering angle in (-90, 90] degrees at which a wheel's axle points at (x, y) of the
    base."""
    p = vehicle.model.jointPlacements[
        vehicle.model.getJointId(f"{wheel}_steering_joint")
    ].translation
    angle = np.arctan2(p[0] - x, -(p[1] - y))
    return (angle + np.pi / 2) % np.pi - np.pi / 2


def turning(name: str, leader: float) -> dict[str, float]:
    return {"front_left_steering_joint": leader * DEG}


CASES = [
    *[("ackermann_car", f"leader at {a}", turning("", a), 2)
      for a in (0, 20, -20, 60, -60, 85, -85)],
    *[("rover", f"leader at {a}", turning("", a), 2) for a in (0, 20, -20, 60, -60, 85, -85)],
    ("ackermann_car", "turning about the rear axle's middle", "spin", 2),
    ("rover", "spinning in place", "spin", 2),
    ("swerve", "straight", dict.fromkeys([f"{c}_steering_joint" for c in SWERVE], 0.0), 3),
    ("swerve", "sideways", dict.fromkeys([f"{c}_steering_joint" for c in SWERVE], np.pi / 2), 3),
    ("swerve", "aslant", dict.fromkeys([f"{c}_steering_joint" for c in SWERVE], 60 * DEG), 3),
    ("swerve", "leaders at +-60",
     {"front_left_steering_joint": 60 * DEG, "rear_left_steering_joint": -60 * DEG}, 3),
    ("swerve", "about its left side's middle", {f"{c}_steering_joint": (0.0, 0.27) for c in SWERVE},
     3),
    ("swerve", "spinning in place", "spin", 3),
]


@pytest.mark.parametrize("name, pose, joints, nxi", sampled(CASES, 11),
                         ids=[f"{c[0]}, {c[1]}" for c in CASES])
def test_mobility_and_rotation_centre(name, pose, joints, nxi):
    vehicle = shipped(name)
    if joints == "spin":
        steered = [axle.steering for axle in (vehicle.steering.steered[:1]
                                              if vehicle.steering.fixed
                                              else vehicle.steering.steered)]
        joints = {joint: spinning(vehicle,
                                  joint.removesuffix("_steering_joint")) for joint in steered}
    joints = {j: spinning(vehicle, j.removesuffix("_steering_joint"),
                          *a) if isinstance(a, tuple) else a
              for j, a in joints.items()}
    q = vehicle.configuration((0.3, -0.2, 0.7), joints)
    for joint_name, angle in joints.items():
        assert vehicle.joint_positions(q)[joint_name] == pytest.approx(angle, abs=1e-12)
    lines = axle_lines(vehicle, q)
    assert len(lines) >= 4
    assert meet(lines) <= 1e-12
    phi = vehicle.constraint_error(0.0, q, np.zeros(vehicle.model.nv))[1]
    assert np.abs(phi).max() <= 1e-12
    assert mobility(vehicle, q) == nxi
    here = vehicle.rechoose(q)
    assert here.frame.nxi == nxi == vehicle.frame.nxi
    assert margin(here, 0.0, q) > 0.2
    if name in ("rover", "ackermann_car") or pose in ("straight", "aslant"):
        assert margin(vehicle, 0.0, q) > 0.05, "the frame chosen for all poses must serve here too"


def test_the_coupling_is_what_keeps_the_vehicle_from_locking():
    """A follower turned off its angle by one degree: the axles no longer meet and the rows leave
    one motion fewer."""
    vehicle = shipped("ackermann_car")
    q = vehicle.configuration((0, 0, 0), turning("", 20))
    write_joint(vehicle.model, q, "front_right_steering_joint",
                vehicle.joint_positions(q)["front_right_steering_joint"] + DEG)
    assert meet(axle_lines(vehicle, q)) > 1e-3
    rows = [i for i,
            n in enumerate(vehicle.constrained.distribution.names) if not n.endswith("coupling")]
    A = vehicle.functions.constraints(0.0, q, vehicle.theta)[0].full()[rows]
    free = A.shape[1] - np.linalg.matrix_rank(A, tol=1e-6)
    assert free == 2                                    # steering on the spot, and no other motion
    kernel = np.linalg.svd(A)[2][-free:]
    base = list(range(6)) + [vehicle.algebroid.v_names.index(f"rear_{s}_wheel_joint")
                             for s in ("left", "right")]
    assert np.abs(kernel[:, base]).max() <= 1e-9


def test_contradicting_steering_angles_are_refused_with_the_angle_that_fits():
    vehicle = shipped("ackermann_car")
    fits = vehicle.joint_positions(vehicle.configuration(None, turning("", 20)))[
        "front_right_steering_joint"
    ]
    with pytest.raises(nhmech.errors.InputError,
                       match=rf"front_right_steering_joint.*must be {fits:.6f}"):
        vehicle.configuration(None, {**turning("", 20), "front_right_steering_joint": 0.3})


def test_any_steering_joint_may_be_the_named_leader():
    vehicle = shipped("swerve")
    for corner in SWERVE:
        q = vehicle.configuration(None, {f"{corner}_steering_joint": 0.3})
        assert vehicle.joint_positions(q)[f"{corner}_steering_joint"] == pytest.approx(
            0.3, abs=1e-12
        )
        assert meet(axle_lines(vehicle, q)) <= 1e-12
    car = shipped("ackermann_car")
    q = car.configuration(None, {"front_right_steering_joint": 0.3})
    assert (0.3 < car.joint_positions(q)["front_left_steering_joint"] < 0.4
            and meet(axle_lines(car, q)) <= 1e-12)


def swerve_run(targets, durations, dt=2.5e-3):
    """A swerve base steered through targets (4 angles, 4 wheel rates each); trajectory and number
    of charts."""
    vehicle = shipped("swerve")
    ends = np.cumsum(durations)

    def controller(t, state):
        angles, rates = targets[min(int(np.searchsorted(ends, t + 1e-9)), len(targets) - 1)]
        return [JointPosition({f"{c}_steering_joint": a for c, a in zip(SWERVE, angles)}),
                JointVelocity({f"{c}_wheel_joint": w for c, w in zip(SWERVE, rates)})]

    simulator = Simulator(vehicle, controller, dt=dt)
    simulator.reset((0.5, -0.3, 0.4))
    return vehicle, simulator, simulator.run(float(ends[-1]))


def test_swerve_changes_charts_without_a_jump():
    """Straight, sideways, straight, spin: two pairs of leaders degenerate on the way
    (the rotation centre lies between two wheels).

    The state may not jump: energy is bought with work, E(T) - E(0) = sum of u . (change of joint
    angle) with u constant over a step; all rows and heights hold, and the rates change by no more
    than the accelerations of the servos allow.
    """
    sideways, spin = np.full(4, np.pi / 2), np.array([135, 45, -135, -45]) * DEG
    roll, stop = np.full(4, 4.0), np.zeros(4)
    straight = np.zeros(4)
    targets = [(straight, roll), (sideways, roll), (sideways, stop), (straight, stop), (spin, stop),
               (spin, np.full(4, 3.0))]
    vehicle, simulator, run = swerve_run(targets, (0.6, 1.2, 0.6, 1.2, 2.0, 1.5))
    assert run.stop == "duration"
    assert len(simulator.atlas.charts) > 1, "no chart was changed: the test does not test"
    for t, q, v in zip(run.t[::10], run.q[::10], run.v[::10]):
        rows, phi = vehicle.constraint_error(t, q, v)
        assert np.abs(rows).max() <= 1e-12 * max(1.0, np.abs(v).max())
        assert np.abs(phi).max() <= 1e-12
        assert meet(axle_lines(vehicle, q)) <= 1e-10
    at = [run.column(f"{c}_steering_joint.velocity")[-1] for c in SWERVE]
    end = vehicle.joint_positions(run.q[-1])
    assert [end[f"{c}_steering_joint"] for c in SWERVE] == pytest.approx(spin, abs=1e-9)
    assert run.column("yaw_rate")[-1] == pytest.approx(3 * 0.06 / (0.27 * np.sqrt(2)), rel=1e-9)
    assert np.abs(run.v[-1, :2]).max() <= 1e-3 and np.abs(at).max() <= 1e-2
    joints = [vehicle.algebroid.v_names.index(name) for name in vehicle.driven]
    angle = np.array([[_angle(run, vehicle, name,
                              k) for name in vehicle.driven] for k in range(len(run))])
    work = np.concatenate([[0.0], np.cumsum(np.sum(run.u[:-1] * np.diff(angle, axis=0), axis=1))])
    assert len(joints) == 8
    assert np.abs(run.energy - run.energy[0] - work).max() <= 1e-6 * np.abs(work).max()
    jump = np.abs(np.diff(run.v, axis=0)).max(axis=0) / simulator.dt
    # the servo's own largest acceleration
    assert jump.max() <= 1.2 * (2 * 135 * DEG / (2 * 0.1 * 0.1))


def _angle(run, vehicle, name, k):
    if name in run.names["angles"]:
        return run.angles[k, run.names["angles"].index(name)]
    return run.q[k, run.names["q"].index(name)]


def module(name: str, x: float, y: float) -> list[str]:
    """A driven wheel under its own steering axis."""
    return [link(f"{name}_fork", 0.5, (1e-3, 1e-3, 1e-3)),
            joint(f"{name}_steering_joint", "base_link", f"{name}_fork", (x, y, 0), axis=(0, 0, 1)),
            link(f"{name}_wheel", 0.5, (1e-3, 2e-3, 1e-3)),
            joint(f"{name}_wheel_joint", f"{name}_fork", f"{name}_wheel")]


@pytest.fixture(scope="module")
def two_modules():
    """Two steered wheels one behind the other, and two balls beside: coaxial at 90 degrees,
    with nothing else to hold the yaw."""
    parts = [link("base_link", 10, (0.3, 0.4, 0.5)), *module("front", 0.2, 0),
             *module("rear", -0.2, 0)]
    wheels = [Wheel("front_wheel_joint", "disc", 0.1), Wheel("rear_wheel_joint", "disc", 0.1)]
    for side, y in (("left", 0.2), ("right", -0.2)):
        parts += [link(f"{side}_ball", 0.1, (1e-4,) * 3),
                  joint(f"{side}_ball_joint", "base_link", f"{side}_ball", (0, y, -0.07),
                        kind="fixed")]
        wheels.append(Wheel(None, "caster_ball", 0.03, link=f"{side}_ball"))
    return nhmech.load(robot(*parts), wheels=wheels)


def test_mobility_of_two_modules(two_modules):
    for angles, nxi in (((0.0, 0.0), 3), ((0.4, -0.3), 3), ((np.pi / 2, 0.2), 3),
                        ((np.pi / 2, np.pi / 2), 4), ((np.pi / 2, -np.pi / 2), 4)):
        q = two_modules.configuration(None,
                                      dict(zip(("front_steering_joint", "rear_steering_joint"),
                                               angles)))
        assert mobility(two_modules, q) == nxi
        if nxi == 3:
            assert two_modules.rechoose(q).frame.nxi == 3
        else:
            with pytest.raises(nhmech.ModelError,
                               match=r"lose rank.*front_steering_joint = \+1\.5708 rad.*"
                                     r"rear_steering_joint = [+-]1\.5708 rad"):
                two_modules.rechoose(q)


def test_coaxial_leaders_determine_no_motion(two_modules):
    """The twist that both axles allow is none where they are one line, rather than 0 / 0."""
    steering = two_modules.steering
    names = [axle.steering for axle in steering.steered]
    for angle in (np.pi / 2, np.pi / 2 + 1e-9):
        with pytest.raises(nhmech.ModelError, match="coincide at these steering angles"):
            steering.twist(dict(zip(names, (np.pi / 2, angle))), steering.steered)
    twist = steering.twist(dict(zip(names, (np.pi / 2, 0.2))), steering.steered)
    assert np.linalg.norm(twist) == pytest.approx(1.0, rel=1e-13, abs=0)


def test_the_class_of_two_modules_is_that_of_most_steering(two_modules):
    """Coaxial, as at some samples, they would be a vehicle of another class."""
    assert robot_class(two_modules).type == (1, 2)


@pytest.mark.parametrize("target", [np.pi / 2, 1.9], ids=["up to it", "across it"])
def test_rank_that_falls_in_a_run_stops_it_and_names_the_joints(two_modules, target):
    """Both wheels are turned until they are coaxial, where a second motion becomes free;
    also where a step would jump over that moment."""
    def controller(t, state):
        return [JointPosition({"front_steering_joint": target, "rear_steering_joint": target}),
                JointVelocity({"front_wheel_joint": 2.0})]

    simulator = Simulator(two_modules, controller, dt=2e-3)
    simulator.reset((0, 0, 0))
    with pytest.raises(nhmech.SimulationError,
                       match=r"lose rank.*front_steering_joint.*rear_steering_joint") as caught:
        simulator.run(3.0)
    assert "one line" in caught.value.text
    half = round(np.pi / 2, 6)
    assert f"'front_steering_joint': {half}" in caught.value.remedy.python
    run = caught.value.trajectory
    assert 0.1 < run.t[-1] < 3.0 and np.all(np.isfinite(run.q)) and np.all(np.isfinite(run.v))
    assert two_modules.joint_positions(run.q[-1])["front_steering_joint"] == pytest.approx(
        np.pi / 2, abs=0.06
    )


def test_skid_steer_without_saying_so_is_said_first():
    text = re.sub(r"<skid[^>]*/>", "", nhmech.urdf_path("skid_steer").read_text())
    assumed = nhmech.load(text)
    assert assumed.frame.nxi == 2 and assumed.description.skid == MidAxle()
    said = str(assumed.description.notices[0])
    for name in ("front_left_wheel_joint", "front_right_wheel_joint", "rear_left_wheel_joint",
                 "rear_right_wheel_joint", "only go straight", "'mecanum'", "skid="):
        assert name in said
    freed = nhmech.load(text, skid=["rear_left_wheel_joint", "rear_right_wheel_joint"])
    assert freed.frame.nxi == 2
    assert nhmech.load(text, skid=1.5).frame.nxi == 2


def test_skid_track_factor_widens_the_track():
    """Wheel rates +-w turn the mid-axle model at r w / (factor * half the track)."""
    text = re.sub(r"<skid[^>]*/>", "", nhmech.urdf_path("skid_steer").read_text())
    rates = []
    for skid in ("mid-axle", 1.0, 1.7):
        vehicle = nhmech.load(text, skid=skid,
                              speeds=("front_left_wheel_joint", "front_right_wheel_joint"))
        q = vehicle.configuration((0.2, 0.1, 0.5))
        v = vehicle.equations.velocity(0.0, q, [-2.0, 2.0], vehicle.theta).full().ravel()
        lines = kinematics(vehicle, q)
        left, right = (lines.oMi[vehicle.model.getJointId(f"front_{s}_wheel_joint")].translation
                       for s in ("left", "right"))
        half = np.linalg.norm(left - right) / 2
        rates.append(v[5])
        factor = 1.0 if skid == "mid-axle" else skid
        assert v[5] == pytest.approx(2.0 * 0.165 / (factor * half), rel=1e-12, abs=0)
        assert np.abs(v[:5]).max() <= 1e-12
    assert rates[0] == pytest.approx(rates[1], rel=1e-13, abs=0)


def raised(name: str, height: float) -> str:
    """The text of a robot with its steered wheels higher by `height` [m]."""
    def lift(match):
        x, y, z = match[2].split()
        return f'{match[1]}{x} {y} {float(z) + height}"'

    text = nhmech.urdf_path(name).read_text()
    text, n = re.subn(
        r'(<joint name="(?:front_(?:left|right)_)?steering_joint".*?<origin xyz=")([^"]*)"',
        lift,
        text,
        flags=re.S,
    )
    assert n in (1, 2)
    return text


@pytest.mark.parametrize("name", ["ackermann_car", "rover"])
def test_a_front_axle_that_is_too_high_by_rounding_is_placed_level(name):
    """Tilting the base onto four wheels 2 mm apart would lean the steering axes and lock the
    vehicle; it stays level instead."""
    vehicle = nhmech.load(raised(name, 0.002))
    offsets = dict(zip(vehicle.contact_names, vehicle.support.offsets))
    assert vehicle.support.level
    front = [offsets[f"front_{s}_wheel_joint"] for s in ("left", "right")]
    others = [value for wheel, value in offsets.items() if not wheel.startswith("front")]
    assert np.subtract.outer(front, others) == pytest.approx(0.002 * np.ones((2, len(others))),
                                                             abs=1e-12)
    assert np.mean(list(offsets.values())) == pytest.approx(0.0, abs=1e-12)
    q = vehicle.configuration((1.0, -2.0, 0.3), {"front_left_steering_joint": 0.5})
    R = kinematics(vehicle, q).oMi[1].rotation
    assert R[:, 2] == pytest.approx([0, 0, 1], abs=1e-12)
    assert np.abs(vehicle.constraint_error(0.0, q, np.zeros(vehicle.model.nv))[1]).max() <= 1e-12
    assert mobility(vehicle, q) == 2
    run = Simulator(vehicle, lambda t, s: JointVelocity({"front_left_steering_joint": 0.3}),
                    dt=5e-3)
    run.reset(None, {}, {vehicle.speeds[-1]: 3.0})
    end = run.run(0.5)
    assert np.abs(vehicle.constraint_error(end.t[-1], end.q[-1],
                                           end.v[-1])[0]).max() <= 1e-12 * np.abs(end.v[-1]).max()


@pytest.mark.parametrize("name, height", [("ackermann_car", 0.04), ("ackermann_car", -0.04),
                                          ("rover", 0.02), ("rover", -0.02)])
def test_a_front_axle_that_is_really_too_high_or_low_is_refused_with_numbers(name, height):
    """Half the difference on either side of the mean, against 5 % of the wheel's radius."""
    with pytest.raises(nhmech.ModelError) as caught:
        nhmech.load(raised(name, height))
    message = str(caught.value)
    shares = [float(mm) for mm in re.findall(r"(?:left|right)_wheel_joint: ([+-]\d+\.\d+) mm",
                                             message)]
    assert len(shares) == len(shipped(name).contacts)
    assert max(shares) - min(shares) == pytest.approx(1e3 * abs(height), abs=0.011)
    assert "do not lie in one plane" in message and "accepted as rounding" in message


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("share, fits", [(0.995, True), (1.005, False)])
def test_a_twentieth_of_the_radius_is_rounding(sign, share, fits):
    """Half of the front axle's height on either side of the mean."""
    radius = min(wheel.radius for wheel in shipped("ackermann_car").description.wheels)
    text = raised("ackermann_car", sign * share * 2 * 0.05 * radius)
    if fits:
        assert nhmech.load(text).support.level
    else:
        with pytest.raises(nhmech.ModelError, match="do not lie in one plane"):
            nhmech.load(text)


def leaning(angle):
    """The car with a front left steering axis that leans backwards [rad]."""
    return re.sub(r'(<joint name="front_left_steering_joint".*?<origin xyz="[^"]*")',
                  rf'\1 rpy="0 {angle} 0"', nhmech.urdf_path("ackermann_car").read_text(),
                  flags=re.S)


def test_a_steering_axis_that_leans_as_those_of_cars_do_is_upright_under_four_wheels():
    """The wheel would leave the ground as it steers, and a base on four wheels cannot follow."""
    description = nhmech.load(leaning(0.15)).description
    assert [n.text for n in description.notices if n.kind is NoticeKind.LEANING_STEERING] == [
        "front_left_steering_joint (8.6 deg): leaning steering axes are taken as vertical, "
        "because a rigid base cannot follow what they do to the heights of its contacts"]
    assert description.steering == shipped("ackermann_car").description.steering
    assert description.driven == shipped("ackermann_car").description.driven


def test_a_steering_axis_that_leans_further_is_refused_with_the_joint():
    with pytest.raises(nhmech.ModelError, match="front_left_steering_joint"):
        nhmech.load(leaning(0.4))


def on_two_balls(lift):
    """Two wheels of 35 mm and a ball of 17 mm at either end, the rear one so much higher [m]."""
    def part(name, x, y, z, shape, joint):
        return (f'<link name="{name}"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" '
                'izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin rpy="'
                f'{np.pi / 2} 0 0"/><geometry>{shape}</geometry></collision></link>'
                f'<joint name="{name}_joint" {joint}><parent link="base"/><child link="{name}"/>'
                f'<origin xyz="{x} {y} {z}"/>'
                '<axis xyz="0 1 0"/></joint>')
    wheel = '<cylinder radius="0.035" length="0.02"/>'
    return ('<robot name="round"><link name="base"><inertial><mass value="3"/><inertia ixx="0.01" '
            'iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            + part("left_wheel", 0, 0.12, 0.035, wheel, 'type="continuous"')
            + part("right_wheel", 0, -0.12, 0.035, wheel, 'type="continuous"')
            + part("front", 0.12, 0, 0.017, '<sphere radius="0.017"/>', 'type="fixed"')
            + part("rear", -0.13, 0, 0.017 + lift, '<sphere radius="0.017"/>', 'type="fixed"')
            + "</robot>")


@pytest.mark.parametrize("lift", [0.002, -0.002, 0.004])
def test_balls_out_of_the_plane_of_the_wheels_keep_their_distance(lift):
    """Makers seldom place both of two casters exactly."""
    vehicle = nhmech.load(on_two_balls(lift))
    names = vehicle.contact_names
    assert [w.kind for w in vehicle.description.wheels] == ["disc"] * 2 + ["caster_ball"] * 2
    assert dict(zip(names, vehicle.support.offsets))["rear"] == pytest.approx(lift, rel=1e-9)
    assert vehicle.support.level
    assert len(vehicle.speeds) == 2


@pytest.mark.parametrize("lift", [1e-7, 1e-5, 5e-4])
def test_a_third_wheel_that_rounding_lifts_does_not_tilt_the_axis_that_steers_it(lift):
    """Its trail would be its radius times the tilt, and the wheel a caster."""
    text = raised("tricycle", lift)
    tricycle = nhmech.load(text)
    assert tricycle.support.level and robot_class(tricycle).type == (1, 1)
    assert np.ptp(tricycle.support.offsets) == pytest.approx(lift, rel=1e-8)
    # a fork moves the base as it turns
    leaning = nhmech.load(text.replace('<axis xyz="0 0 1"/>', '<axis xyz="-0.5 0 1"/>'))
    assert not leaning.support.level


def test_balls_far_out_of_the_plane_are_refused_with_radii_that_reach_it():
    text = on_two_balls(0.007)
    wheels = [*(Wheel(f"{side}_wheel_joint", "disc", 0.035) for side in ("left", "right")),
              *(Wheel(None, "caster_ball", 0.017, link=link) for link in ("front", "rear"))]
    with pytest.raises(nhmech.ModelError, match=r"'rear' is \+7.00 mm off, more than") as e:
        nhmech.load(text, wheels=wheels)
    listed = re.search(r"wheels=(\[.*\]);", str(e.value)).group(1)
    vehicle = nhmech.load(text, wheels=eval(listed))                    # the remedy is Python
    assert np.abs(vehicle.support.offsets).max() <= 1e-12
    assert vehicle.description.wheels[-1].radius == pytest.approx(0.024, rel=1e-9)


MECANUM = ("front_left_wheel_joint", "front_right_wheel_joint", "rear_left_wheel_joint",
           "rear_right_wheel_joint")


@pytest.mark.parametrize("signs, rank",
                         [((-1, 1, 1, -1), 3), ((1, -1, -1, 1), 3), ((1, 1, 1, 1), 2)],
                         ids=["diamond", "X", "all the same"])
def test_mecanum_assembly_shows_in_the_rank_of_the_wheel_rates(signs, rank):
    """Eight spatial rows of rank 7 and nxi = 3 for every assembly; only a proper one is moved by
    its wheels alone.

    What a user sees of a wrong one: a speed of the base, which nothing drives, among the
    independent speeds.
    """
    angles = [sign * np.pi / 4 for sign in signs]
    vehicle = nhmech.load(nhmech.urdf_path("mecanum"),
                          wheels=[Wheel(n, "mecanum", 0.1, roller_angle=a)
                                  for n, a in zip(MECANUM, angles)])
    assert (vehicle.constrained.distribution.m == 8 and len(vehicle.frame.kept) == 7
            and vehicle.frame.nxi == 3)
    s = vehicle.constrained.system
    q = vehicle.configuration((0.2, 0.3, 0.4), {"front_left_wheel_joint": 0.3})
    E = ca.Function("E", [s.t, s.q, s.theta],
                    vehicle.frame.constrained.system.expand(vehicle.frame.E))(
        0.0, q, vehicle.theta).full()
    rates = E[[vehicle.algebroid.v_names.index(name) for name in MECANUM]]
    assert np.linalg.matrix_rank(rates / np.abs(rates).max(), tol=1e-9) == rank
    undriven = [name for name in vehicle.speeds if name not in vehicle.driven]
    assert len(undriven) == 3 - rank


def test_a_leader_turns_as_far_as_its_follower():
    """cot(outer) - cot(inner) = track of the steering axes / wheelbase (Ackermann)."""
    car = shipped("ackermann_car")
    left, right = (axle.steering for axle in car.steering.steered)
    # 2.6 m and 1.5 m between the wheels, 1.38 m between the axes about which they steer
    assert car.steering.length == pytest.approx(np.hypot(1.3, 0.75), rel=1e-12)
    ratio = 1.38 / 2.6
    limits = {left: JointLimits(-0.75, 0.75), right: JointLimits(-0.3, 0.3)}
    drawn = narrow_limits(limits, car.steering)
    assert drawn[right] == limits[right]
    assert 1 / np.tan(drawn[left].upper) == pytest.approx(1 / np.tan(0.3) - ratio, rel=1e-9)
    assert 1 / np.tan(-drawn[left].lower) == pytest.approx(1 / np.tan(0.3) + ratio, rel=1e-9)
    # and the follower as far as its leader
    wide = narrow_limits({left: JointLimits(-0.4, 0.3), right: JointLimits(-0.75, 0.75)},
                         car.steering)
    assert 1 / np.tan(wide[right].upper) == pytest.approx(1 / np.tan(0.3) + ratio, rel=1e-7)
    assert 1 / np.tan(-wide[right].lower) == pytest.approx(1 / np.tan(0.4) - ratio, rel=1e-7)
    # what stands beyond its limits when all are straight is no reason to draw any in
    beyond = {**limits, right: JointLimits(0.1, 0.3)}
    assert narrow_limits(beyond, car.steering) == beyond


def test_a_leader_turns_as_far_as_the_least_of_its_followers():
    """The rear left wheel of a rover turns against the front left one, by as much."""
    steering = shipped("rover").steering
    limits = {axle.steering: JointLimits(-1.0, 1.0) for axle in steering.steered}
    limits["rear_left_steering_joint"] = JointLimits(-0.1, 0.2)
    drawn = narrow_limits(limits, steering)["front_left_steering_joint"]
    assert (drawn.lower, drawn.upper) == pytest.approx((-0.2, 0.1), rel=1e-9)
    # one that has no limits draws nothing in
    without = {name: limit for name, limit in limits.items() if name != "rear_right_steering_joint"}
    assert narrow_limits(without, steering)["front_left_steering_joint"] == drawn


@pytest.mark.parametrize("third, moves", [((0.0, 1.0, -2.0), True), ((1.0, 0.0, 0.0), False),
                                          ((0.1, 1.0, 0.0), False), ((1e-8, 1.0, 0.0), True)])
def test_three_fixed_axles_meet_or_are_refused(third, moves):
    rows = [np.array(row) for row in ((0.0, 1.0, 0.0), (0.0, 1.0, 1.0), third)]
    axles = tuple(Axle(name, "", ca.SX(row), row, row) for name, row in zip("abc", rows))
    if moves:
        check_can_move(Steering(axles, (), 1.0))
    else:
        with pytest.raises(nhmech.ModelError, match="fixed axles of 'a', 'b', 'c' do not meet"):
            check_can_move(Steering(axles, (), 1.0))


def test_a_swerve_drive_starts_with_its_wheels_across():
    """Where the speeds that it was loaded with serve badly."""
    swerve = shipped("swerve")
    simulator = Simulator(swerve)
    simulator.reset(joints=dict.fromkeys(swerve.description.steering, np.pi / 2))
    first = simulator.propagator.atlas.charts[0]
    assert abs(margin(swerve, 0.0, simulator.state.q)) < 1e-3
    assert simulator.propagator.atlas.chart is not first
    assert simulator.run(0.01).stop == "duration"


def test_a_base_on_wheels_of_two_sizes_stays_at_its_pose():
    """It leans about its own origin; what the turn moves that by is of second order."""
    wheels = shipped("differential_drive").description.wheels
    sizes = (0.1, 0.102, 0.03)
    vehicle = nhmech.load(nhmech.urdf_path("differential_drive"),
                          wheels=[replace(w, radius=r) for w, r in zip(wheels, sizes)])
    q = vehicle.configuration((1.0, -2.0, 0.3))
    assert q[:2] == pytest.approx([1.0, -2.0], abs=1e-5)
    centres = [kinematics(vehicle, q).oMi[vehicle.model.getJointId(w.joint)].translation[2]
               for w in wheels[:2]]
    assert not vehicle.support.level and centres[1] > centres[0]


def test_mimic_has_a_function_of_q_where_neither_joint_turns_without_limit():
    trailers = shipped("trailers")
    algebroid, v = trailers.algebroid, trailers.constrained.system.v
    left, right = (f"front_{side}_steering_joint" for side in ("left", "right"))
    row = mimic_row(Mimic(right, left, 2.0, 0.1), algebroid, v)
    q = np.zeros(algebroid.q.numel())
    q[[algebroid.q_names.index(name) for name in (left, right)]] = 0.3, 1.0
    assert float(ca.Function("phi", [algebroid.q], [row.phi])(q)) == pytest.approx(0.3, rel=1e-13,
                                                                                   abs=0)
    for names in ((right, "hitch_1_joint"), ("hitch_1_joint", right)):
        row = mimic_row(Mimic(*names, 2.0, 0.1), algebroid, v)
        assert row.phi is None
        form = ca.DM(row.form).full().ravel()
        assert form[algebroid.v_names.index(names[0])] == 1
        assert form[algebroid.v_names.index(names[1])] == -2
