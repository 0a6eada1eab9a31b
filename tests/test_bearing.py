"""What is said of a robot that nothing supports, of one that rolls across its x axis; joints that
a twist leaves alone."""

from dataclasses import replace

import numpy as np
import pytest
from robot_table import python_lines
from support import joint, link, robot

import nhmech
from nhmech import Simulator
from nhmech.control import TwistDrive
from nhmech.control.twist_rule import planar_twist_function, twist_function
from nhmech.simulation import planar_pose
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind

WHEEL = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="0.1" '
         'length="0.04"/></geometry></collision>')
BALL = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'


def cart(*more: str, parent: str = "base", limit: str = "") -> str:
    sides = "".join(link(f"{side}_wheel", 0.5, (1e-3,) * 3, body=WHEEL)
                    + joint(f"{side}_joint", parent, f"{side}_wheel", (0, y, 0.1), more=limit)
                    for side, y in (("left", 0.2), ("right", -0.2)))
    return robot(link("base", 6, (0.1, 0.2, 0.2), (0.05, 0, 0.15)), sides, *more)


def caster(parent: str = "base") -> str:
    return link("caster", 0.1, body=BALL) + joint("caster_joint", parent, "caster", (0.3, 0, 0.05),
                                                  kind="fixed")


def below(*place: tuple[float, ...]) -> str:
    """The cart with its caster, fixed at a place, and turned, on another root."""
    return robot(link("chassis"), joint("turn", "chassis", "base", *place, kind="fixed"),
                 cart(caster()).removeprefix('<robot name="rig">').removesuffix("</robot>"))


def kinds(text: str) -> set[NoticeKind]:
    return {notice.kind for notice in describe(text).notices}


def test_the_caster_that_a_notice_offers_supports():
    note = next(n for n in describe(cart()).notices if n.kind is NoticeKind.FREE_PITCH)
    (line,) = python_lines(note.remedy)
    vehicle = nhmech.load(cart(), **line)
    assert NoticeKind.FREE_PITCH not in {n.kind for n in vehicle.notices}
    ball = vehicle.description.wheels[2]
    assert ball.point[0] > 0.05 and abs(ball.point[2] - ball.radius) < 1e-9


@pytest.mark.parametrize("centre", [0.05, 0.35, -0.35])
def test_it_stands_two_radii_from_the_axle_or_twice_as_far_as_the_centre_of_mass(centre):
    """The base has six of the seven kilograms, the wheels on the axle the other."""
    text = cart().replace('xyz="0.05 0 0.15"', f'xyz="{centre} 0 0.15"')
    note = next(n for n in describe(text).notices if n.kind is NoticeKind.FREE_PITCH)
    (line,) = python_lines(note.remedy)
    away = max(2 * 6 / 7 * abs(centre), 2 * 0.1)
    np.testing.assert_allclose(line["wheels"][2].point, (np.copysign(away, centre), 0.0, 0.02),
                               rtol=0, atol=1e-12)


def test_a_base_whose_x_axis_lies_along_the_axle_is_told_and_its_cure_works():
    turned = below((0, 0, 0), (0, 0, np.pi / 2))
    assert NoticeKind.ROLLS_SIDEWAYS in kinds(turned)
    text = next(n.text for n in describe(turned).notices if n.kind is NoticeKind.ROLLS_SIDEWAYS)
    assert "along y of 'chassis'" in text and 'rpy="0 0 -1.5707963"' in text
    mended = turned.replace('<robot name="rig">', '<robot name="rig">' + link("root") + joint(
        "up", "root", "chassis", rpy=(0, 0, -1.5707963), kind="fixed"))
    assert NoticeKind.ROLLS_SIDEWAYS not in kinds(mended) | kinds(cart(caster()))
    vehicle = nhmech.load(mended)
    run = Simulator(vehicle, TwistDrive(vehicle, (0.2, 0, 0)), mode="kinematic").run(1.0)
    assert planar_pose(run.q[-1])[0] == pytest.approx(0.2, abs=1e-11)


@pytest.mark.parametrize("asked, driven, words", [
    ((0.0, 0.2, 0.4), (None, 0.2, 0.4), ""),
    ((0.3, 0.2, 0.4), (None, 0.2, 0.4), "the forward speed follows from its fixed axle"),
    ((0.3, 0.0, 0.0), (0.0, 0.0, 0.0), "the forward speed follows from its fixed axle")])
def test_what_rolls_across_its_x_axis_is_driven_sideways_and_turns_as_asked(asked, driven, words):
    """The robot's own x axis points to the right, 0.1 m behind the axle: the speed across the
    axle is zero, so that of the root there is 0.1 m times the yaw rate."""
    vehicle = nhmech.load(below((0.0, 0.1, 0.0), (0, 0, np.pi / 2)))
    drive = TwistDrive(vehicle, asked)
    simulator = Simulator(vehicle, drive, mode="kinematic")
    simulator.run(0.5)
    twist = planar_twist_function(vehicle)(simulator.state.q, simulator.state.v).full().ravel()
    expected = [0.1 * driven[2], *driven[1:]]
    np.testing.assert_allclose(twist, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(drive.possible_twist, expected, rtol=0, atol=1e-12)
    assert words in drive.shortfall and bool(drive.shortfall) == bool(words)


def test_a_side_speed_that_the_axle_bars_is_told():
    """Not where none is asked for: a root off the axle moves sideways in every bend."""
    vehicle = nhmech.load(below((-0.3, 0.0, 0.0)))
    for twist, is_told in (((0.3, 0.2, 0.0), True), ((0.3, 0.0, 0.4), False)):
        drive = TwistDrive(vehicle, twist)
        drive(0.0, Simulator(vehicle).state)
        np.testing.assert_allclose(drive.possible_twist, (twist[0], 0.3 * twist[2], twist[2]),
                                   rtol=0, atol=1e-12)
        assert ("the lateral speed follows from its fixed axle" in drive.shortfall) == is_told
        assert bool(drive.shortfall) == is_told


def test_a_steered_axle_that_is_on_the_fixed_one_asks_nothing_more():
    """At its straight angle; it turns with the robot at any point of that line."""
    middle = (link("fork") + joint("steering", "base", "fork", (0, 0.05, 0.1), axis=(0, 0, 1))
              + link("third_wheel", 0.5, (1e-3,) * 3, body=WHEEL)
              + joint("third_joint", "fork", "third_wheel"))
    vehicle = nhmech.load(cart(caster(), middle))
    targets, rates, *_ = (found.full().ravel() for found in twist_function(vehicle)(
        0.0, vehicle.configuration(), np.zeros(vehicle.algebroid.nv), vehicle.theta, [0.0],
        (0.3, 0.0, 0.2), np.inf))
    np.testing.assert_allclose(targets, [0.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(rates, [2.6, 3.4], rtol=1e-12)


def test_of_axles_that_cross_only_the_turn_about_one_point_is_driven():
    """The pair's axle and one across it, 0.1 m to the left, meet at (0, 0.1): of a twist what is
    along (0.1, 0, 1) w, by least squares in metres per second."""
    third = (link("third_wheel", 0.5, (1e-3,) * 3, body=WHEEL)
             + joint("third_joint", "base", "third_wheel", (-0.3, 0.1, 0.1), (0, 0, np.pi / 2)))
    vehicle = nhmech.load(cart(caster(), third))
    drive = TwistDrive(vehicle, (0.3, 0.0, 0.2))
    simulator = Simulator(vehicle, drive, mode="kinematic")
    simulator.run(0.2)
    forward, lateral, yaw = planar_twist_function(vehicle)(
        simulator.state.q, simulator.state.v).full().ravel()
    assert (forward, lateral) == pytest.approx((0.1 * yaw, 0.0), abs=1e-12) and yaw > 0.1
    np.testing.assert_allclose(drive.possible_twist, (forward, lateral, yaw), rtol=0, atol=1e-12)
    assert "its fixed axles cross" in drive.shortfall
    # one before the other
    parallel = TwistDrive(nhmech.load(cart(caster()).replace('"0 -0.2 0.1"', '"0.3 -0.2 0.1"')),
                          (0.3, 0.0, 0.2))
    parallel(0.0, Simulator(parallel.vehicle).state)
    np.testing.assert_allclose(parallel.possible_twist, (0.3, 0.0, 0.0), rtol=0, atol=1e-12)
    assert "its fixed axles are parallel" in parallel.shortfall


@pytest.mark.parametrize("side, place", [("right", "(-0.3, -0.2)"), ("left", "(-0.3, 0.2)")])
@pytest.mark.parametrize("twist, is_told", [((0.3, 0.0, 0.2), True), ((0.0, 0.0, 0.0), False)])
def test_what_no_driven_wheel_determines_is_told(twist, is_told, side, place):
    """One wheel of two: how the robot turns about it is open."""
    text = below((-0.3, 0.0, 0.0))
    vehicle = nhmech.load(text, wheels=[
        *(replace(w, driven=w.name == f"{side}_joint" if w.joint else None)
          for w in nhmech.load(text).description.wheels)])
    drive = TwistDrive(vehicle, twist)
    drive(0.0, Simulator(vehicle).state)
    assert (f"leave the robot free to turn about {place} m" in drive.shortfall) == is_told
    assert bool(drive.shortfall) == is_told


@pytest.mark.parametrize("track, width, overlaps", [
    (0.0, 0.04, True), (0.0199, 0.04, True), (0.0201, 0.04, False), (0.4, 0.81, True)])
def test_wheels_of_an_axle_that_are_one_within_the_other_are_told(track, width, overlaps):
    """Both at one side, or cylinders as long as the vehicle is wide; twins may touch."""
    text = cart(caster()).replace('xyz="0 -0.2 0.1"', f'xyz="0 {0.2 - track} 0.1"').replace(
        'length="0.04"', f'length="{width}"')
    notes = [n.text for n in describe(text).notices if n.kind is NoticeKind.OVERLAP]
    assert len(notes) == overlaps
    assert all(f"{track:g} m apart and {width:g} m wide" in note for note in notes)


@pytest.mark.parametrize("twist", [(1.0, 0, 2.0), (-0.4, 0, 9.0), (0.1, 0, 0.2)])
def test_a_twist_that_is_too_fast_keeps_its_path(twist):
    """Wheels of 5 rad/s: the same ratio of speed and yaw rate, the faster wheel at its limit."""
    vehicle = nhmech.load(cart(caster(), limit='<limit effort="9" velocity="5"/>'))
    rates = TwistDrive(vehicle, twist)(0.0, Simulator(vehicle).state)[1].values
    forward, _, yaw = twist
    wanted = np.array([forward - 0.2 * yaw, forward + 0.2 * yaw]) / 0.1
    share = min(1.0, 5 / np.abs(wanted).max())
    assert [rates["left_joint"], rates["right_joint"]] == pytest.approx(share * wanted, rel=1e-12,
                                                                        abs=0)


def test_a_lift_that_is_freed_is_held_while_its_robot_drives():
    mast = (link("fork", 3.0, com=(0.05, 0, 0.2)) + joint(
        "lift", "base", "fork", (0, 0, 0.2), kind="prismatic", axis=(0, 0, 1),
        more='<limit lower="0" upper="1" effort="500" velocity="1"/>')
        + '<ros2_control><joint name="lift"><command_interface name="position"/></joint>'
        + "".join(f'<joint name="{side}_joint"><command_interface name="velocity"/></joint>'
                  for side in ("left", "right")) + "</ros2_control>")
    vehicle = nhmech.load(cart(caster(), mast), free=["lift"])
    assert vehicle.driven == ("left_joint", "right_joint", "lift")
    simulator = Simulator(vehicle, TwistDrive(vehicle, (0.2, 0, 0)))
    simulator.reset(joints={"lift": 0.5})
    run = simulator.run(1.0)
    assert run.stop == "duration"
    assert abs(run.column("lift.position")[-1] - 0.5) < 0.02


def test_blades_without_radius_get_a_caster_of_the_size_of_small_robots():
    """The caster's size is told in radii of wheels; blades have none."""
    blades = [nhmech.Wheel(None, "blade", link=f"{side}_wheel", axis=(0, 1, 0), point=(0, 0, -0.1))
              for side in ("left", "right")]
    upright = cart().replace('axis xyz="0 1 0"', 'axis xyz="0 0 1"')
    note = next(n for n in describe(upright, wheels=blades).notices
                if n.kind is NoticeKind.FREE_PITCH)
    (line,) = python_lines(note.remedy)
    assert line["wheels"][-1].radius == pytest.approx(0.01, rel=1e-12, abs=0)
