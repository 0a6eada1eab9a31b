"""From a pose and joint positions to a configuration in the air: what a pose may be, what moves
with it, and what is said of one that is no pose."""

from __future__ import annotations

import logging
from math import cos, sin

import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Ground, InputError, ModelError, Wheel
from nhmech.attitude import attitude
from nhmech.vehicle.model import read_joint

SLOPE = Ground(normal=(0.1, -0.2, 1.0), point=(0.3, 0.2, -0.4))
CAR = "ackermann_car"
LEFT, RIGHT = "front_left_steering_joint", "front_right_steering_joint"


def base(vehicle, pose, joints=None) -> pin.SE3:
    q = vehicle.posing.in_the_air(pose, joints)
    return pin.SE3(pin.Quaternion(q[3:7]).toRotationMatrix(), q[:3])


def standing() -> np.ndarray:
    """The smallest turn of the vertical to the normal."""
    n = np.array(SLOPE.normal)
    axis = np.cross((0, 0, 1), n)
    return pin.exp3(axis / np.linalg.norm(axis) * np.arccos(n[2]))


FULL = pin.SE3(attitude(0.9, 0.1, -0.2), np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("pose, place, R", [
    (None, SLOPE.point, lambda: standing()),
    ((1.0, 2.0, 0.7), (1.0, 2.0, -0.4), lambda: standing() @ attitude(0.7)),
    ((1.0, 2.0, 3.0, 0.1, -0.2, 0.9), (1.0, 2.0, 3.0), lambda: FULL.rotation),
    (FULL.homogeneous, (1.0, 2.0, 3.0), lambda: FULL.rotation),
    (FULL.homogeneous.tolist(), (1.0, 2.0, 3.0), lambda: FULL.rotation),
    (FULL, (1.0, 2.0, 3.0), lambda: FULL.rotation)])
def test_a_pose_is_a_place_with_a_heading_or_a_whole_one(pose, place, R):
    """Upright on the normal through the ground's point where it says no more. Nothing of it
    changes."""
    vehicle, before = shipped(CAR, SLOPE), pin.SE3(FULL)
    found = base(vehicle, pose)
    np.testing.assert_allclose(found.translation, place, atol=1e-15)
    np.testing.assert_allclose(found.rotation, R(), atol=1e-12)
    assert before == FULL and vehicle.posing.point.tolist() == [*SLOPE.point]


@pytest.mark.parametrize("pose, words", [
    ((1.0, 2.0), r"has shape \(2,\); give \(x, y, yaw\)"), (np.zeros((3, 3)), r"shape \(3, 3\)"),
    ((1.0, 2.0, np.nan), "finite numbers only"), ("here", "finite numbers only"),
    (np.full((4, 4), np.inf), "finite numbers only"),
    (np.diag([1.0, 1, -1, 1]), "no rotation in its upper left"),
    (np.diag([1 + 0.51e-6, 1, 1, 1]), "no rotation in its upper left")])
def test_what_is_no_pose_is_refused(pose, words):
    with pytest.raises(InputError, match=words):
        shipped(CAR).posing.in_the_air(pose, None)


def test_a_printed_rotation_is_one():
    """Entries of R^T R up to a millionth."""
    found = base(shipped(CAR), np.diag([1 + 0.49e-6, 1, 1, 1]))
    np.testing.assert_allclose(found.rotation, np.eye(3), atol=1e-6)


@pytest.mark.parametrize("pose, joints, told", [
    ((1, 2, 90.0), None, "1, 2, 1.5708"), ((90.0, 45.0, 1.0), None, None),
    ((1, 2, 90, 0, 0, 45.0), None, "1, 2, 90, 0, 0, 0.785398"),
    ((1, 2, 3, 30.0, 0, 0), None, "1, 2, 3, 0.523599, 0, 0"), ((90, 60, 45, 0, 0, 1), None, None),
    (None, {LEFT: 30.0}, f"{{'{LEFT}': 0.523599}}"), (None, {"rear_left_wheel_joint": 90.0}, None),
    (None, {LEFT: 0.3}, None)])
def test_angles_that_look_like_degrees_are_taken_and_told(pose, joints, told, caplog):
    """Of headings and steering; places, and the angles of wheels, may be as large."""
    with caplog.at_level(logging.WARNING, "nhmech"):
        q = shipped(CAR).posing.in_the_air(pose, joints)
    assert np.isfinite(q).all()
    assert [record.args[1] for record in caplog.records] == ([] if told is None else [told])
    what = f"pose {pose!r}" if joints is None else f"joint '{LEFT}' = 30"
    assert all(record.message.startswith(f"{what}: more than a full turn")
               for record in caplog.records)


def stacker(**options) -> nhmech.Vehicle:
    """Two wheels and a ball, a rail and a turret that nothing rolls on."""
    more = '<limit lower="-200" upper="200" effort="9" velocity="9"/>'
    parts = [link("base", 9.0), link("ball", 0.1), link("lift", 1.0), link("tower", 1.0),
             joint("to_ball", "base", "ball", (0.5, 0, -0.05), kind="fixed"),
             joint("rail", "base", "lift", axis=(0, 0, 1), kind="prismatic", more=more),
             joint("turret", "lift", "tower", axis=(0, 0, 1), kind="revolute", more=more)]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(f"{side}_wheel", 0.4), joint(side, "base", f"{side}_wheel", (0, y, 0))]
    wheels = [Wheel("left", "disc", 0.1), Wheel("right", "disc", 0.1),
              Wheel(None, "caster_ball", 0.05, link="ball")]
    return nhmech.load(robot(*parts), wheels=wheels, **options)


def test_positions_of_rails_are_metres(caplog):
    vehicle = stacker(free=("rail", "turret"))
    q = vehicle.posing.in_the_air(None, {"rail": 90.0, "left": 90.0})
    assert vehicle.joint_positions(q)["rail"] == 90.0 and not caplog.records
    vehicle.posing.in_the_air(None, {"rail": 90.0, "turret": 90.0})
    assert [record.args[0] for record in caplog.records] == ["joint 'turret' = 90"]


@pytest.mark.parametrize("kind, lower, upper, follows, start", [
    ("prismatic", 0.2, 1.0, False, 0.2), ("revolute", -1.0, -0.3, False, -0.3),
    ("revolute", -1.0, 0.3, False, 0.0), ("revolute", 0.0, 0.3, False, 0.0),
    # by a mimic: half of its leader's, less 0.1
    ("prismatic", -0.9, 0.9, True, 0.05)])
def test_a_free_joint_starts_where_its_limits_let_it(kind, lower, upper, follows, start):
    """At zero or the limit nearest to it, if nothing else is said, so that the run goes on."""
    def limit(low: float, high: float) -> str:
        return f'<limit lower="{low}" upper="{high}" effort="9" velocity="9"/>'

    mimic = '<mimic joint="lead" multiplier="0.5" offset="-0.1"/>' if follows else ""
    text = robot(
        link("base"), link("wheel"), joint("roll", "base", "wheel"), link("lever"), link("led"),
        joint("lead", "base", "lever", kind="prismatic", axis=(1, 0, 0), more=limit(0.3, 2.0)),
        joint("arm", "base", "led", kind=kind, axis=(1, 0, 0), more=limit(lower, upper) + mimic))
    vehicle = nhmech.load(text, wheels=[Wheel("roll", "disc", 0.1)], free=["lead", "arm"])
    run = nhmech.Simulator(vehicle, dt=1e-3).run(1e-3)
    assert run.stop == "duration"
    assert run.column("lead.position")[0] == pytest.approx(0.3, rel=1e-12)
    assert run.column("arm.position")[0] == pytest.approx(start, rel=1e-12)
    said = vehicle.configuration(joints={"lead": 1.5})
    assert read_joint(vehicle.model, said, "lead") == 1.5


@pytest.mark.parametrize("given, arm", [
    ({}, 0.0), ({"arm": 0.3}, 0.3), ({"fore": -0.5}, 0.3), ({"hand": -1.5}, 0.3),
    ({"arm": 0.3, "hand": -1.5}, 0.3)])
def test_joints_that_mimic_others_are_where_they_belong(given, arm):
    """fore = 0.1 - 2 arm, hand = 3 fore, whatever speeds are independent: a run starts where it
    was told to, and no joint that is named moves."""
    def turning(name: str, parent: str, child: str, mimic: str = "") -> str:
        return joint(name, parent, child, (0, 0, 0.2), axis=(0, 1, 0), kind="revolute", more=(
            f'<limit lower="-3" upper="3" effort="9" velocity="9"/>{mimic}'))

    text = robot(
        link("base"), link("wheel"), joint("roll", "base", "wheel"), link("a"), link("f"),
        link("h"), turning("arm", "base", "a"),
        turning("hand", "f", "h", '<mimic joint="fore" multiplier="3"/>'),
        turning("fore", "a", "f", '<mimic joint="arm" multiplier="-2" offset="0.1"/>'))
    expected = {"arm": arm, "fore": 0.1 - 2 * arm, "hand": 0.3 - 6 * arm}
    for speed in ("arm", "fore", "hand"):
        vehicle = nhmech.load(text, wheels=[Wheel("roll", "disc", 0.1)], free=["arm"], speeds=(
            "roll", speed, "yaw_rate", "roll_rate", "pitch_rate"))
        simulator = nhmech.Simulator(vehicle)
        for found in (vehicle.joint_positions(vehicle.configuration(joints=given)),
                      simulator.reset(joints=given).joint_position):
            assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    with pytest.raises(InputError, match="'fore' = 0.2 mimics 'arm' = 0.3, .* it must be -0.5; "
                                         "name fewer joints"):
        vehicle.configuration(joints={"arm": 0.3, "fore": 0.2})


def test_a_joint_that_is_held_is_none_of_the_model_and_keeps_its_position():
    vehicle = stacker(locked={"turret": 0.25}, free=("rail",))
    assert {*vehicle.joint_names} == {"rail", "left", "right"}
    model, q = vehicle.model, vehicle.configuration(None, {"rail": 0.3})
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    base, tower = (data.oMf[model.getFrameId(name, pin.FrameType.BODY)]
                   for name in ("base", "tower"))
    found = base.actInv(tower)
    np.testing.assert_allclose(found.translation, (0, 0, 0.3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.rotation, attitude(0.25), rtol=0, atol=1e-12)


def test_joints_that_are_held_or_unknown_are_named():
    vehicle = stacker(locked={"turret": 0.25}, free=("rail",))
    for name, words in (("turret", "joint 'turret' is held at 0.25"),
                        ("rial", r"unknown joint 'rial'; moving joints are \D*rail\D*'?rail'?")):
        with pytest.raises(InputError, match=words) as caught:
            vehicle.posing.in_the_air(None, {"rail": 0.1, name: 0.3})
        if name == "turret":
            assert caught.value.remedy.python == (
                "To hold it elsewhere: load(..., locked={'turret': 0.3}); to release it: load(..., "
                "free=['turret'])")
            assert caught.value.remedy.command == (
                "To hold it elsewhere: --lock turret=0.3; to release it: --free turret")
    with pytest.raises(InputError, match="joint 'rail' = nan must be a finite number"):
        vehicle.posing.in_the_air(None, {"rail": float("nan")})


@pytest.mark.parametrize("off, fits", [(0.9e-9, True), (1.1e-9, False)])
@pytest.mark.parametrize("side", [1, -1])
def test_steering_angles_meet_up_to_rounding(off, fits, side):
    car = shipped(CAR)
    led = car.posing.follow({LEFT: 0.3})
    assert led[LEFT] == 0.3 and 0.2 < led[RIGHT] < 0.3
    given = {LEFT: 0.3, RIGHT: led[RIGHT] + side * off, "rear_left_wheel_joint": 7.0}
    if fits:
        assert car.posing.follow(given) == led | {"rear_left_wheel_joint": 7.0}
        return
    with pytest.raises(InputError, match=f"'{RIGHT}' = .*, with the leader.* it must be "
                                         f"{led[RIGHT]:.6f}; name fewer joints"):
        car.posing.follow(given)


def test_a_leader_may_be_any_joint_that_is_named():
    car = shipped(CAR)
    led = car.posing.follow({RIGHT: 0.3})
    assert led[RIGHT] == 0.3
    assert car.posing.follow({LEFT: led[LEFT]})[RIGHT] == pytest.approx(0.3, abs=1e-12)
    # nothing follows where nothing is coupled
    assert shipped("tricycle").posing.follow({"steering_joint": 0.2}) == {"steering_joint": 0.2}


# -- a root without mass ---------------------------------------------------------------------------
def test_what_turns_a_massless_root_about_its_axle_turns_its_wheel():
    """The root's own axis stays level, and the wheel is where the pose has it."""
    disc = shipped("disc", SLOPE)
    gauge, n = disc.gauge, np.array(SLOPE.normal)
    for pose in ((1, 2, 3, 0.3, 0.5, 0.9), (1, 2, 3, -0.4, -2.0, -2.5), (1, 2, 3, 0.2, 3.0, 0.1)):
        q = disc.posing.in_the_air(pose, {gauge.joint: 0.7})
        R = pin.Quaternion(q[3:7]).toRotationMatrix()
        asked = attitude(pose[5], pose[3], pose[4])
        assert abs(n @ (R @ gauge.level)) <= 1e-12
        np.testing.assert_allclose(R @ gauge.axle, asked @ gauge.axle, atol=1e-12)
        turned = R @ pin.exp3(gauge.axle * disc.joint_positions(q)[gauge.joint])
        np.testing.assert_allclose(turned, asked @ pin.exp3(0.7 * gauge.axle), atol=1e-12)
        # the level axis points along, so that the root is not upside down
        assert (R @ np.cross(gauge.level, gauge.axle)) @ n > 0


@pytest.mark.parametrize("lean, lies", [(1.1e-9, False), (0.9e-9, True)])
def test_a_wheel_on_its_side_has_no_pose(lean, lies):
    disc = shipped("disc")
    T = np.eye(4)
    T[1:3, 1:3] = [[sin(lean), -cos(lean)], [cos(lean), sin(lean)]]
    if lies:
        with pytest.raises(ModelError, match="axle is parallel to the ground's normal"):
            disc.posing.in_the_air(T, None)
    else:
        assert np.isfinite(disc.posing.in_the_air(T, None)).all()
