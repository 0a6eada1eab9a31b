"""A base frame that leans against the ground on which its robot stands: refused where axles are
steered, and no more than another frame where they are not."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest
from support import askew_text, at_length, joint, shipped, velocity
from test_twist import measure_twist

import nhmech
from nhmech.analysis import limits
from nhmech.control import LQR, TwistDrive
from nhmech.control.twist_rule import find_undriven, planar_twist_function
from nhmech.control.unicycle import unicycle
from nhmech.urdf.notice import NoticeKind

LEANS = [(0.0, 0.087, 0.0), (0.0, 0.35, 0.0), (0.1, -0.3, 0.5)]


def leaning(name: str, rpy, *, carried: str = "", drop: str = "") -> nhmech.Vehicle:
    """A shipped robot in a base frame of its own, which another root may carry."""
    text = askew_text(nhmech.urdf_path(name).read_text().replace(drop, "") if drop else
                      nhmech.urdf_path(name).read_text(), rpy)
    if carried:
        turn = joint("carried", "carrier", "askew", rpy=carried.split(), kind="fixed")
        text = text.replace("</robot>", f'<link name="carrier"/>{turn}</robot>')
    return nhmech.load(text)


@pytest.mark.parametrize("name", ["tricycle", "ackermann_car", "swerve"])
@pytest.mark.parametrize("rpy", LEANS)
def test_a_root_that_leans_below_a_steered_robot_is_refused_with_one_that_does_not(name, rpy):
    lean = np.degrees(np.arccos(pin.rpy.rpyToMatrix(*rpy)[2, 2]))
    with pytest.raises(nhmech.ModelError, match="root 'askew' leans by ([0-9.]+) degrees") as found:
        leaning(name, rpy)
    said = re.search(r"leans by ([0-9.]+) .* carry 'askew' by a fixed joint with rpy=\"([^\"]*)\"",
                     str(found.value))
    assert float(said[1]) == pytest.approx(lean, rel=1e-2, abs=0)
    vehicle = leaning(name, rpy, carried=said[2])
    assert vehicle.steering.length == pytest.approx(shipped(name).steering.length, rel=1e-8)
    assert unicycle(vehicle).wheelbase == pytest.approx(unicycle(shipped(name)).wheelbase, rel=1e-8)
    assert np.abs(vehicle.support.offsets).max(initial=0.0) < 1e-8
    assert not any("degrees" in n.text for n in vehicle.notices if n.kind is NoticeKind.TILTED)


@pytest.mark.parametrize("rpy", LEANS)
def test_a_base_frame_that_leans_is_another_frame(rpy):
    """Its twist is driven, and is the twist that is said to be possible; lengths, the point that
    goes ahead, and limits are those of the robot."""
    vehicle, own = leaning("differential_drive", rpy), shipped("differential_drive")
    assert vehicle.steering.length == pytest.approx(own.steering.length, rel=1e-9)
    drive, point = TwistDrive(vehicle, (0.5, 0.0, 0.2)), unicycle(vehicle)
    run = nhmech.Simulator(vehicle, drive, mode="kinematic", dt=0.01).run(0.5)
    driven = measure_twist(vehicle, run)[-1]
    np.testing.assert_allclose(driven, drive.possible_twist, rtol=1e-6)
    np.testing.assert_allclose(point.twist(point.ahead @ driven, driven[2]), driven, rtol=1e-6)
    assert driven[[0, 2]] == pytest.approx((0.5, 0.2), rel=1e-6)
    # base_link stands where it did, as far ahead of the ground point of the new origin
    ahead = pin.rpy.rpyToMatrix(*rpy).T @ [0.3, 0.07, 0.02]
    assert point.pose((0.0, 0.0, 0.0))[:2] == pytest.approx(
        ahead[0] * np.array([np.cos(point.yaw), np.sin(point.yaw)]), abs=1e-9)
    found, known = limits(vehicle, 0.6), limits(own, 0.6)
    share = np.cos(point.yaw)       # of a speed along the robot, that along the frame's x axis
    for one in ("acceleration", "deceleration"):
        assert getattr(found, one).value == pytest.approx(share * getattr(known, one).value,
                                                          rel=1e-6)
        assert getattr(found, one).names == getattr(known, one).names


@pytest.mark.parametrize("rpy", LEANS)
def test_a_base_that_leans_has_the_heading_of_its_pose(rpy):
    """That of its y axis, at right angles."""
    vehicle = leaning("differential_drive", rpy)
    q = vehicle.configuration((0.3, -0.2, 0.8))
    x, y, _ = pin.Quaternion(q[3:7]).toRotationMatrix()[:, 1]
    assert np.arctan2(-x, y) == pytest.approx(0.8, abs=1e-12)
    assert tuple(q[:2]) == pytest.approx((0.3, -0.2), abs=1e-12)


@pytest.mark.parametrize("name, rpy, within", [
    ("differential_drive", LEANS[1], 1e-7), ("bicycle", (0, 0, 0.3), 2e-3),
    *at_length(("differential_drive", LEANS[2], 1e-7))])
def test_a_steady_turn_is_found_from_any_base_frame(name, rpy, within):
    """Its lateral speed follows from the turn where the origin is off the axle; the efforts that
    hold it, and the rates at which it is left, are those of the robot. A bicycle leans in the
    turn, so that its origin moves a little otherwise."""
    vehicle, own = leaning(name, rpy), shipped(name)
    # the foot of the new origin on the axle is 4.0 m/s fast; so far is it to the left of the old
    aside = -(pin.rpy.rpyToMatrix(*rpy).T @ [0.3, 0.07, 0.02])[1]
    found = [LQR(one, unicycle(one).twist(speed, 0.3))
             for one, speed in ((vehicle, 4.0), (own, 4.0 + 0.3 * aside))]
    twist = planar_twist_function(vehicle)(found[0].motion.q, velocity(
        vehicle, 0.0, found[0].motion.q, found[0].motion.xi)).full().ravel()
    assert name == "bicycle" or twist == pytest.approx(unicycle(vehicle).twist(4.0, 0.3), rel=1e-7)
    assert found[0].motion.u == pytest.approx(found[1].motion.u, rel=within, abs=1e-9)
    grows = [np.sort_complex(np.linalg.eigvals(one.A)) for one in found]
    np.testing.assert_allclose(grows[0], grows[1], rtol=5 * within, atol=1e-6)


@pytest.mark.parametrize("rpy", LEANS)
def test_what_motors_leave_free_does_not_depend_on_the_frame(rpy):
    """One wheel driven: the robot is free to turn about the point below it."""
    [twist] = find_undriven(leaning("differential_drive", rpy,
                                    drop='<drive joint="right_wheel_joint"/>'))
    [own] = find_undriven(nhmech.load(nhmech.urdf_path("differential_drive").read_text().replace(
        '<drive joint="right_wheel_joint"/>', "")))
    vehicle = leaning("differential_drive", rpy)
    left = next(i for i, c in enumerate(vehicle.contacts) if c.name == "left_wheel_joint")
    x, y, _ = vehicle.contact_points(vehicle.configuration())[left]
    forward, lateral, yaw = twist / twist[2]
    assert (forward, lateral) == pytest.approx((y, -x), abs=1e-9) and own[2] != 0
