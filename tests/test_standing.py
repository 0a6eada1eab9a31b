"""How a vehicle stands on its contacts, and where its axles are, against plane geometry; both sides
of what counts as rounding."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot

import nhmech
from nhmech import Ground, ModelError, Wheel
from nhmech.attitude import attitude

R = 0.1
SLOPE = Ground(normal=(0.1, -0.2, 1.0), point=(0.3, 0.2, -0.4))


def stand(*places, ball=None, ground=Ground(), kind="disc"):
    """Wheels of radius R about y at places in the base, and a ball of radius 0.05."""
    parts, wheels = [link("base", 5.0, com=(0, 0, 0.1))], []
    for i, (x, y, z) in enumerate(places):
        parts += [link(f"w{i}", 0.2), joint(f"j{i}", "base", f"w{i}", (x, y, z))]
        wheels.append(Wheel(f"j{i}", kind, R))
    if ball is not None:
        parts += [link("ball", 0.1), joint("to_ball", "base", "ball", ball, kind="fixed")]
        wheels.append(Wheel(None, "caster_ball", 0.05, link="ball"))
    return nhmech.load(robot(*parts), wheels=wheels, ground=ground)


def attitude_of(q):
    return pin.Quaternion(q[3:7]).toRotationMatrix()


# -- placement -------------------------------------------------------------------------------------
PAIR = (0, 0.3, 0), (0, -0.3, 0)
POSE = (0.4, -0.3, 7.0, 0.25, 0.35, 0.9)       # roll, pitch and yaw as well


@cache
def standing(count, ground):
    return {1: lambda: stand((0, 0, 0), ground=ground), 2: lambda: stand(*PAIR, ground=ground),
            3: lambda: stand(*PAIR, ball=(-0.3, 0, -0.05), ground=ground),
            4: lambda: stand(*PAIR, (0.5, 0.3, 0), (0.5, -0.3, 0), ground=ground)}[count]()


@pytest.mark.parametrize("ground", [Ground(), SLOPE], ids=["level", "slope"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_pose_gives_up_what_the_contacts_ask_for_and_no_more(count, ground):
    """One wheel keeps its whole attitude, two their pitch and heading, three and four the heading;
    the base moves along the normal only."""
    vehicle, n = standing(count, ground), np.array(ground.normal)
    q = vehicle.configuration(POSE)
    asked, given = attitude(POSE[5], POSE[3], POSE[4]), attitude_of(q)
    _, heights = vehicle.constraint_error(0.0, q, np.zeros(vehicle.algebroid.nv))
    assert np.abs(heights).max() <= 1e-12
    if count == 1:
        np.testing.assert_allclose(given, asked, rtol=1e-12, atol=1e-15)
    assert np.linalg.norm(np.cross(q[:3] - POSE[:3], n)) <= 1e-12
    if count == 2:        # rolled about its heading alone: the level axle stays above it
        assert abs(given[:, 1] @ n) <= 1e-13
        heading = np.cross(asked[:, 1], n)
        assert abs(given[:, 1] @ heading) <= 1e-12 * np.linalg.norm(heading)
    if count > 2:
        np.testing.assert_allclose(given[:, 2], n, rtol=0, atol=1e-12)
    if count == 1:        # r |axle x n| above the ground
        sine = np.linalg.norm(np.cross(given[:, 1], n))
        assert n @ (q[:3] - ground.point) == pytest.approx(R * sine, rel=1e-11, abs=0)


@pytest.mark.parametrize("part, is_fine", [(0.049, True), (0.051, False)])
@pytest.mark.parametrize("side", [1, -1])
def test_four_wheels_are_in_a_plane_up_to_a_twentieth_of_their_radius(part, is_fine, side):
    """The distance of the odd one from their mean: three quarters of what it is off the others."""
    places = [*PAIR, (0.5, 0.3, 0), (0.5, -0.3, side * part * R * 4 / 3)]
    if is_fine:
        vehicle = stand(*places)
        assert vehicle.support.level
        offsets = side * part * R * np.array([-1, -1, -1, 3]) / 3
        np.testing.assert_allclose(vehicle.support.offsets, offsets, rtol=0, atol=1e-12)
        np.testing.assert_allclose(attitude_of(vehicle.configuration(POSE))[:, 2], (0, 0, 1),
                                   atol=1e-15)
        return
    words = f"'j3' is {side * 5.1:+.2f} mm off, more than the 5.00 mm accepted"
    with pytest.raises(ModelError, match=re.escape(words)) as caught:
        stand(*places)
    assert f"Wheel('j3', 'disc', {0.1 + side * 0.0051:.4g})" in str(caught.value)


@pytest.mark.parametrize("part, tilts", [(0.0, False), (0.009, False), (0.011, True)])
@pytest.mark.parametrize("side", [1, -1])
def test_a_ball_off_by_rounding_tilts_no_base(part, tilts, side):
    """A hundredth of the radius of the wheels, as files are rounded; more of it does, by the slope
    of the line that both touch."""
    off = side * part * R
    vehicle = stand(*PAIR, ball=(-0.3, 0, off - 0.05))
    assert vehicle.support.level == (not tilts and part > 0)
    tilt = attitude_of(vehicle.configuration())[:, 2]
    if tilts:         # 0.3 sin + (0.05 - off) cos = 0.1 - 0.05
        assert tilt[1] == pytest.approx(0, abs=1e-13)
        assert -0.3 * tilt[0] + (off - 0.05) * tilt[2] == pytest.approx(-0.05, abs=1e-12) or (
            0.3 * tilt[0] + (off - 0.05) * tilt[2] == pytest.approx(-0.05, abs=1e-12))
    else:
        np.testing.assert_allclose(tilt, (0, 0, 1), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(vehicle.support.offsets, [0, 0, off], rtol=0, atol=1e-12)


@pytest.mark.parametrize("below, words", [(0.0, None), (0.02, "would leave the ground")])
def test_a_ball_in_line_with_the_wheels_carries_nothing_unless_it_rolls_like_them(below, words):
    """Between two wheels it touches at every pitch if its bottom is on their axis' circle; a ball
    below the axle leaves the ground as soon as they turn about it."""
    if words is None:
        assert stand(*PAIR).support.offsets.tolist() == [0, 0]
        return
    with pytest.raises(ModelError, match=words) as caught:
        stand(*PAIR, ball=(0, 0, -0.05 - below + 0.02))
    assert "'ball'" in str(caught.value)


# -- axles -----------------------------------------------------------------------------------------
def tricycle(trail, free=(), second=False):
    """Two fixed wheels on the base's y axis, a fork at x = 0.8 whose wheel is `trail` behind the
    steering axis."""
    parts = [link("base", 5.0, com=(0.2, 0, 0.1)), link("fork", 0.5),
             joint("steer", "base", "fork", (0.8, 0, 0), axis=(0, 0, 1), kind="revolute", more=
                   '<limit lower="-1.5" upper="1.5" effort="9" velocity="9"/>')]
    wheels = []
    for name, parent, place in (("left", "base", (0, 0.3, 0)), ("right", "base", (0, -0.3, 0)),
                                ("front", "fork", (-trail, 0, 0)),
                                *([("beside", "fork", (-trail, 0.1, 0))] if second else ())):
        parts += [link(name, 0.2), joint(f"{name}_joint", parent, name, place)]
        wheels.append(Wheel(f"{name}_joint", "disc", R))
    return nhmech.load(robot(*parts), wheels=wheels, free=free)


def test_the_rows_of_axles_are_those_of_plane_geometry():
    """(0, 1, 0) of the fixed ones; -sin vx + cos vy + (x cos - trail) w of a steered one, in units
    of the largest distance from the middle of all contacts."""
    for trail in (0.0, 0.05):
        steering = tricycle(trail, free=("steer",) if trail else ()).steering
        xs, ys = np.array([0, 0, 0.8 - trail]), np.array([0.3, -0.3, 0])
        length = np.hypot(xs - xs.mean(), ys).max()
        assert steering.length == pytest.approx(length, rel=1e-12, abs=0)
        for axle in steering.fixed:
            np.testing.assert_allclose(axle.straight, (0, 1, 0), rtol=1e-12, atol=1e-15)
            assert axle.steering == "" and not axle.across.any()
        (axle,), others = ((steering.trailing, steering.steered) if trail else
                           (steering.steered, steering.trailing))
        assert not others and axle.steering == "steer" and axle.wheel == "front_joint"
        np.testing.assert_allclose(axle.straight, (0, 1, 0.8 / length), rtol=0, atol=1e-12)
        np.testing.assert_allclose(axle.across, (-1, 0, 0), rtol=0, atol=1e-12)
        assert axle.trail == pytest.approx(-trail / length, abs=1e-12)
        for angle in (-0.4, 0.0, 1.1):
            s, c = np.sin(angle), np.cos(angle)
            np.testing.assert_allclose(axle.at(angle), (-s, c, (0.8 * c - trail) / length),
                                       rtol=0, atol=1e-12)


def test_two_wheels_of_one_fork_are_one_axle():
    assert [axle.wheel for axle in tricycle(0.0, second=True).steering.steered] == ["front_joint"]
