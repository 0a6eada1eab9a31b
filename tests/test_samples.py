"""Configurations at which ranks are determined, and those over the whole range of a vehicle: which
angles they have, and where they stand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import ModelError, Wheel
from nhmech.urdf.description import JointLimits
from nhmech.vehicle.build import build
from nhmech.vehicle.joint_ranges import far_configurations, followers, passive_joints
from nhmech.vehicle.samples import sample_configurations

WIDEST = np.pi / 3
LEFT, RIGHT = "front_left_steering_joint", "front_right_steering_joint"


def sampled(vehicle, limits=None, **changes):
    description = vehicle.description
    description = replace(description, limits=description.limits | (limits or {}), **changes)
    return sample_configurations(description, vehicle.posing)


def angles(vehicle, samples, name) -> np.ndarray:
    return np.array([vehicle.joint_positions(q)[name] for q in samples])


@pytest.mark.parametrize("limit, ends", [
    (JointLimits(-0.4, 0.7), (-0.4, 0.7)), (JointLimits(-3.0, 0.7), (-WIDEST, 0.7)),
    (JointLimits(-0.4, 3.0), (-0.4, WIDEST)), (JointLimits(), (-WIDEST, WIDEST))])
def test_a_steering_joint_is_sampled_straight_at_both_ends_and_between(limit, ends):
    """Up to 60 degrees: the neutral pose, then 0 and both ends, then a dozen."""
    tricycle = shipped("tricycle")
    (name,) = tricycle.description.steering
    samples = sampled(tricycle, {name: limit})
    found = angles(tricycle, samples, name)
    np.testing.assert_allclose(found[:4], (0, 0, *ends), atol=1e-12)
    rest = found[4:]
    assert len(rest) == 12 and len({*rest.round(6)}) == 12
    assert ends[0] <= rest.min() < ends[0] + 0.35 * (ends[1] - ends[0])
    assert ends[1] >= rest.max() > ends[1] - 0.35 * (ends[1] - ends[0])


def test_samples_stand_anywhere_on_the_ground_and_wheels_at_any_angle():
    for name in ("tricycle", "bicycle", "differential_drive"):
        vehicle = shipped(name)
        samples = sampled(vehicle)
        rest = np.zeros(vehicle.algebroid.nv)
        assert max(np.abs(vehicle.constraint_error(0.0, q, rest)[1]).max() for q in samples) < 1e-12
        np.testing.assert_allclose(samples[0, :2], 0, atol=1e-12)
        assert np.ptp(samples[1:, :2], axis=0).min() > 0.8 and np.abs(samples[:, :2]).max() <= 1
        yaws = [pin.rpy.matrixToRpy(pin.Quaternion(q[3:7]).toRotationMatrix())[2] for q in samples]
        assert np.ptp(yaws) > 3 and yaws[0] == pytest.approx(0, abs=1e-12)
        assert min(yaws) < -0.5 and max(yaws) > 0.5 and np.ptp(np.abs(yaws[1:])) > 1
        for wheel in vehicle.description.rolling:
            assert np.ptp(angles(vehicle, samples[1:], wheel)) > 3


def test_what_may_lean_is_sampled_leaning_and_what_stands_on_three_is_not():
    """Roll and pitch up to 0.3 rad."""
    disc = shipped("disc")
    leans = [np.arcsin(pin.Quaternion(q[3:7]).toRotationMatrix()[2, 1]) for q in sampled(disc)]
    assert 0.2 < np.abs(leans).max() <= 0.3 and leans[0] == pytest.approx(0, abs=1e-12)
    for q in sampled(shipped("tricycle")):
        np.testing.assert_allclose(pin.Quaternion(q[3:7]).toRotationMatrix()[:, 2], (0, 0, 1),
                                   atol=1e-12)


def test_leaders_are_sampled_at_all_combinations_of_their_ends():
    """And their followers where all axles meet."""
    car = shipped("ackermann_car")
    limits = {name: JointLimits(-0.5, 0.4) for name in (LEFT, RIGHT)}
    found = angles(car, sampled(car, limits), LEFT)
    np.testing.assert_allclose(found[:4], (0, 0, -0.5, 0.4), atol=1e-12)
    assert len(found) == 16
    swerve = shipped("swerve")
    pair = [axle.steering for axle in swerve.steering.pair()]
    ends = {name: JointLimits(-0.5, 0.4) for name in swerve.description.steering}
    samples = sampled(swerve, ends)
    both = np.column_stack([angles(swerve, samples, name) for name in pair])
    expected = [*product((0, -0.5, 0.4), repeat=2)]
    np.testing.assert_allclose(both[1:10], expected, atol=1e-12)
    assert len(samples) == 22
    for q in samples:
        made = swerve.posing.follow({name: swerve.joint_positions(q)[name] for name in pair})
        assert made == pytest.approx({name: swerve.joint_positions(q)[name] for name in made},
                                     abs=1e-9)


def test_of_swivels_the_ends_of_two_are_combined():
    """All of them are at random angles after that."""
    parts, wheels = [link("base", 9.0)], []
    for i, (x, y) in enumerate([(0, 0.3), (0, -0.3), (0.5, 0.2), (0.5, -0.2), (-0.5, 0.0)]):
        above, at = "base", (x, y, 0)
        if i > 1:
            parts += [link(f"fork{i}", 0.1), joint(f"turn{i}", "base", f"fork{i}", at,
                                                   axis=(0, 0, 1))]
            above, at = f"fork{i}", (-0.05, 0, 0)
        parts += [link(f"w{i}", 0.1), joint(f"j{i}", above, f"w{i}", at)]
        wheels.append(Wheel(f"j{i}", "disc", 0.1))
    trolley = nhmech.load(robot(*parts), wheels=wheels)
    samples = sampled(trolley)
    found = np.column_stack([angles(trolley, samples, f"turn{i}") for i in (2, 3, 4)])
    np.testing.assert_allclose(found[1:10, :2], [*product((0, -WIDEST, WIDEST), repeat=2)],
                               atol=1e-12)
    assert len(samples) == 22 and not found[:10, 2].any() and found[10:, 2].all()


def test_joints_that_were_released_are_sampled_within_their_limits():
    arm = [link("arm", 0.5), joint("swing", "base", "arm", (0, 0, 0.3), kind="revolute", more=
                                   '<limit lower="-0.2" upper="0.3" effort="1" velocity="1"/>')]
    parts = [link("base", 3.0), *arm]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(f"{side}_wheel", 0.4), joint(side, "base", f"{side}_wheel", (0, y, 0))]
    vehicle = nhmech.load(robot(*parts), free=("swing",), wheels=[
        Wheel("left", "disc", 0.1), Wheel("right", "disc", 0.1)])
    found = angles(vehicle, sampled(vehicle)[1:], "swing")
    assert -0.2 <= found.min() < -0.1 and 0.2 < found.max() <= 0.3


def test_contacts_that_leave_the_ground_as_joints_move_are_refused():
    """With the joint, where the base is held level by four contacts."""
    car = shipped("ackermann_car")
    text = car.description.xml
    start = text.index(f'<joint name="{LEFT}"')
    at = text.index("<origin", start)
    leaning = text[:at] + text[at:].replace("<origin", '<origin rpy="0 0.15 0"', 1)
    with pytest.raises(ModelError, match="do not stay on the ground when joints move.*Steering "
                                         "axes must be parallel to the ground's normal: check "
                                         f"{LEFT}, {RIGHT}"):
        build(replace(car.description, xml=leaning), car.ground)


# -- the whole range -------------------------------------------------------------------------------
def test_followers_are_those_of_a_coupling_or_a_mimic_joint():
    assert followers(shipped("ackermann_car")) == {RIGHT}
    assert followers(shipped("tricycle")) == set()
    assert len(followers(shipped("swerve"))) == 2
    trailers = shipped("trailers")
    assert passive_joints(trailers) == [name for name in trailers.joint_names
                                        if name not in trailers.driven
                                        and name not in followers(trailers)]
    assert {"hitch_1_joint", "hitch_2_joint"} <= {*passive_joints(trailers)}


def test_joints_that_do_not_roll_are_anywhere_within_their_limits():
    """A whole turn at most; what rolls stays where it is."""
    trailers = shipped("trailers")
    found = far_configurations(trailers, 60)
    assert 50 < len(found) <= 60
    rolling = trailers.description.rolling
    for name in trailers.joint_names:
        values = angles(trailers, found, name)
        if name in rolling:
            assert not values.any()
        elif name.startswith("hitch"):
            limit = trailers.limits.get(name, JointLimits())
            low, high = max(limit.lower, -np.pi), min(limit.upper, np.pi)
            assert low <= values.min() < low + 0.2 * (high - low)
            assert high >= values.max() > high - 0.2 * (high - low)


def pivots(vehicle, q) -> tuple[np.ndarray, float]:
    """The centre of rotation (2,) and how well all axles meet there, in lengths of the vehicle."""
    at = vehicle.joint_positions(q)
    rows = np.array([axle.at(at.get(axle.steering, 0.0))
                     for axle in (*vehicle.steering.fixed, *vehicle.steering.steered)])
    _, s, vt = np.linalg.svd(rows)
    x, y, turn = vt[2]
    with np.errstate(divide="ignore"):
        return np.array([-y, x]) / turn, s[2] / s[0]


@pytest.mark.parametrize("name", ["ackermann_car", "rover", "swerve"])
def test_steered_axles_meet_at_any_of_their_angles(name):
    vehicle = shipped(name)
    found = far_configurations(vehicle, 60)
    assert len(found) >= 50 and max(pivots(vehicle, q)[1] for q in found) < 1e-9
    for axle in vehicle.steering.steered:
        assert np.ptp(angles(vehicle, found, axle.steering)) > 1.0


def test_every_other_one_turns_about_a_point_near_a_wheel_where_two_angles_are_free():
    """From a thousandth of the length to all of it, on any side."""
    swerve = shipped("swerve")
    found = far_configurations(swerve, 100)
    assert len(found) == 100
    hubs = np.array([(axle.straight[2], axle.across[2]) for axle in swerve.steering.steered])
    away = np.array([pivots(swerve, q)[0] - hubs for q in found[1::2]])
    nearest = np.array([one[np.linalg.norm(one, axis=1).argmin()] for one in away])
    digits = np.log10(np.linalg.norm(nearest, axis=1))
    assert -3 <= digits.min() < -2.5 and -0.5 < digits.max() <= 1e-9
    assert {*map(tuple, np.sign(nearest))} == {*product((1.0, -1.0), repeat=2)}
    # any wheel may be the one
    assert len({int(np.linalg.norm(one, axis=1).argmin()) for one in away}) == 4


def test_what_may_lean_leans_until_a_wheel_nearly_lies():
    """Roll up to 1.3 rad where it is free; nothing where all is held."""
    disc = shipped("disc")
    rolls = [np.arcsin(pin.Quaternion(q[3:7]).toRotationMatrix()[2, 1])
             for q in far_configurations(disc, 80)]
    assert -1.3 <= min(rolls) < -1.1 and 1.1 < max(rolls) <= 1.3
    assert far_configurations(shipped("differential_drive"), 20) == []
    assert len(far_configurations(disc)) == 500
