"""How axles lie, which upright joints steer, swing or only follow, and how wheels are put on one
line: in the plane, by hand."""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, radians, sin

import numpy as np
import pinocchio as pin
import pytest
from placed import SHIFT, found, laid, limits, shape, stand
from scipy.optimize import brentq
from support import joint, link

from nhmech import Wheel
from nhmech.urdf.layout import Layout
from nhmech.urdf.straighten import snap_joints, straighten_axles, straighten_steering
from nhmech.urdf.wheels.axle_lines import (
    Meeting,
    angle_between,
    group_by_axle,
    group_by_body,
    is_rectangle,
    meet,
    surround,
)
from nhmech.urdf.wheels.swivels import (
    is_caster,
    is_idle_caster,
    is_loose_ball,
    is_swivel,
    steering_joints,
    swings,
)

UP = (0, 0, 1)


# -- axles in the plane ----------------------------------------------------------------------------
def around(centre, places) -> tuple[Layout, list[Wheel]]:
    """Wheels whose axles point at a centre, with a camber of 0.2."""
    axles = []
    for place in places:
        way = np.subtract(centre, place) / np.linalg.norm(np.subtract(centre, place))
        axles.append((cos(0.2) * way[0], cos(0.2) * way[1], sin(0.2)))
    return stand(*((*place, 0.1, 0.1, axle) for place, axle in zip(places, axles)))


def test_axles_that_meet_in_a_point():
    places = [(1, 0), (0.2, 3), (-2, 0.5), (0.1, -1.5)]
    layout, wheels = around((0.3, 0.4), places)
    meeting, centre = meet(layout, wheels)
    assert meeting is Meeting.POINT and centre == pytest.approx(SHIFT[:2] + (0.3, 0.4), rel=1e-9)
    assert meet(layout, wheels[:2])[1] == pytest.approx(
        SHIFT[:2] + (0.3, 0.4), rel=1e-9)
    a, b = np.subtract((0.3, 0.4), places[0]), np.subtract((0.3, 0.4), places[1])
    sine = abs(a[0] * b[1] - a[1] * b[0]) / np.linalg.norm(a) / np.linalg.norm(b)
    assert angle_between(layout, wheels[0], wheels[1]) == pytest.approx(sine, rel=1e-9)


@pytest.mark.parametrize("turned, expected", [
    (0.0398, Meeting.PARALLEL), (0.0402, Meeting.POINT)])
def test_two_axles_meet_far_away_or_nowhere(turned, expected):
    """At 1 / tan from wheels that are 1 apart, which is no point beyond fifty times 1/2."""
    axle = (sin(turned), cos(turned), 0.0)
    layout, wheels = stand((0, 0, 0.1, 0.1), (1, 0, 0.1, 0.1, axle))
    meeting, centre = meet(layout, wheels)
    assert meeting is expected
    if centre is not None:
        assert centre - SHIFT[:2] == pytest.approx((0, -cos(turned) / sin(turned)), rel=1e-9,
                                                   abs=1e-9)
    # axles that cross at less than a fiftieth lie on no two lines
    for less, lines in ((0.0199, 1), (0.0201, 2)):
        layout, wheels = stand((0, 0, 0.1, 0.1), (0, 1, 0.1, 0.1, (less, 1, 0)))
        assert (meet(layout, wheels)[0] is Meeting.LINE) == (lines == 1)


def test_three_axles_meet_up_to_a_fiftieth():
    """Two along y and x meet at the origin; the third misses it. Up to that, the smallest singular
    value of the axles and their moments, in units of the largest distance from the middle, is a
    fiftieth of the largest."""
    def ratio(off: float) -> float:
        centres = np.array([(0, 1), (1, 0), (off, -1)])
        arms = centres - centres.mean(axis=0)
        axles = np.array([(0.0, 1.0), (1.0, 0.0), (0.0, 1.0)])
        moments = arms[:, 0] * axles[:, 1] - arms[:, 1] * axles[:, 0]
        size = np.linalg.norm(arms, axis=1).max()
        values = np.linalg.svd(np.column_stack([axles, moments / size]))[1]
        return values[2] / values[0]
    off = brentq(lambda x: ratio(x) - 0.02, 1e-4, 1.0)
    for part, expected in ((0.999, Meeting.POINT), (1.001, Meeting.NOWHERE)):
        layout, wheels = stand((0, 1, 0.1, 0.1), (1, 0, 0.1, 0.1, (1, 0, 0)),
                               (part * off, -1, 0.1, 0.1))
        assert meet(layout, wheels)[0] is expected


@pytest.mark.parametrize("x, expected", [(0.0049, Meeting.LINE), (0.00502, Meeting.PARALLEL)])
def test_one_line_is_as_wide_as_a_twentieth_of_a_radius(x, expected):
    layout, wheels = stand((0, 1, 0.1, 0.1), (x, -1, 0.1, 0.1, (0, -1, 0)))
    assert meet(layout, wheels) == (expected, None)
    assert len(group_by_axle(layout, wheels)) == (1 if expected is Meeting.LINE else 2)
    # along any axle, and heights do not matter
    c, s = cos(0.7), sin(0.7)
    layout, wheels = stand((0, 0, 0.1, 0.1, (-s, c, 0)), (c * x - s, s * x + c, 3, 0.1, (-s, c, 0)))
    assert meet(layout, wheels) == (expected, None)


@pytest.mark.parametrize("x, count", [(0.00499, 1), (0.00501, 2)])
def test_one_line_is_as_wide_where_wheels_have_camber(x, count):
    axle = (0, cos(0.2), sin(0.2))
    layout, wheels = stand((0, 1, 0.1, 0.1, axle), (x, -1, 0.1, 0.1, axle))
    assert len(group_by_axle(layout, wheels)) == count


def test_rectangles_are_two_wheels_on_each_of_two_axles():
    layout, wheels = stand(*((x, y, 0.1, 0.1) for x in (0, 1) for y in (-1, 1)), (2, 0, 0.1, 0.1),
                           (0, 0, 0.1, 0.1, (1, 0, 0)))
    assert is_rectangle(layout, wheels[:4]) and not is_rectangle(layout, wheels[:3])
    assert not is_rectangle(layout, wheels[:5]) and not is_rectangle(layout, [])
    assert is_rectangle(layout, [*wheels[:4], wheels[5]])       # one across is on no such axle
    assert group_by_axle(layout, []) == []


def test_wheels_surround_a_point_that_leaves_no_half_turn_empty():
    for gap, expected in ((pi - 0.101, True), (pi - 0.099, False)):
        ways = (0.3, 0.3 + gap, 0.3 + gap + (2 * pi - gap) / 2)
        layout, wheels = stand(*((2 + cos(a), 3 + sin(a), 0.1, 0.1) for a in ways))
        assert surround(layout, wheels, SHIFT[:2] + (2, 3)) == expected


def test_wheels_of_each_body_that_grip():
    layout, wheels = stand((0, 0, 0.1, 0.1), (1, 0, 0.1, 0.1), (2, 0, 0.1, 0.1))
    blade = Wheel(None, "blade", link="w2", axis=(0, 1, 0), point=(0, 0, 0))
    ball = Wheel(None, "caster_ball", 0.1, link="base")
    omni = replace(wheels[1], kind="omni")
    every = [wheels[0], omni, blade, ball]
    assert group_by_body(layout, every, ()) == {(): [wheels[0]]}
    assert group_by_body(layout, every, ("j2",), blades=True) == {(): [wheels[0]], ("j2",): [blade]}


# -- upright joints --------------------------------------------------------------------------------
LIMITED = limits(-1, 1)


def swivel(lean=0.0, trail=0.0, more=LIMITED, name="fork", radius=0.1, beside=0.0,
           second=True, kind="revolute") -> tuple[Layout, list[Wheel]]:
    """A wheel of 0.1 m that an upright axis turns, off it by so much, and two others."""
    parts = [link("base"), link(name), link("w"), joint(
        f"{name}_joint", "base", name, SHIFT + (1, 0, 0.3), axis=(sin(lean), 0, cos(lean)),
        kind=kind, more=more), joint("roll", name, "w", (-trail, beside, -0.2))]
    wheels = [Wheel("roll", radius=radius, axis=(0, 1, 0), point=(0, 0, 0))]
    if second:
        for side in (1, -1):
            parts += [link(f"r{side}"), joint(
                f"j{side}", "base", f"r{side}", SHIFT + (0, side, 0.1))]
            wheels.append(Wheel(f"j{side}", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)))
    return laid(*parts), wheels


def test_an_axis_steers_up_to_45_degrees_off_the_vertical():
    for lean, count in ((44.9, 1), (45.1, 0)):
        layout, wheels = swivel(radians(lean))
        assert [j.name for j in steering_joints(layout, wheels)] == ["fork_joint"] * count
    layout, wheels = swivel()
    assert steering_joints(layout, [replace(wheels[0], kind="caster_ball", axis=None)]) == []


@pytest.mark.parametrize("level, count", [(0, 1), (1, 1), (2, 0)])
def test_a_leg_has_more_level_joints_below_its_hip_than_a_suspension(level, count):
    parts, above = [link("base"), link("hip"), joint("h", "base", "hip", axis=UP)], "hip"
    for k in range(level):
        parts += [link(f"arm{k}"), joint(f"a{k}", above, f"arm{k}")]
        above = f"arm{k}"
    parts += [link("w"), joint("roll", above, "w"), link("v"), joint("other", "base", "v")]
    wheels = [Wheel(name, radius=0.1, axis=(0, 1, 0), point=(0, 0, 0))
              for name in ("roll", "other")]
    assert [j.name for j in steering_joints(laid(*parts), wheels)] == ["h"] * count
    # two wheels on one body are a trailer's, however it is coupled
    parts += [link("u"), joint("twin", above, "u")]
    wheels.append(Wheel("twin", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)))
    assert [j.name for j in steering_joints(laid(*parts), wheels)] == ["h"]


@pytest.mark.parametrize("mass, carried, slides, count", [
    (0.0101, 1.0, False, 1), (0.0099, 1.0, False, 0), (0.0303, 3.0, False, 1),
    (0.0297, 3.0, False, 0), (5.0, 1.0, True, 0)])
def test_a_turntable_below_all_wheels_carries_a_body_or_places_one(mass, carried, slides, count):
    """By a hundredth of the mass; what slides along the ground only places it."""
    kind, axis = ("prismatic", (1, 0, 0)) if slides else ("fixed", UP)
    layout = laid(link("world", mass), '<link name="rail"/>', link("body", carried),
                  '<link name="w"/>',
                  joint("rail", "world", "rail", axis=axis, kind=kind, more=limits(-1, 1)),
                  joint("turn", "rail", "body", axis=UP), joint("roll", "body", "w"))
    wheel = Wheel("roll", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0))
    assert len(steering_joints(layout, [wheel])) == count


@pytest.mark.parametrize("words, follows", [
    (dict(trail=0.00502, kind="continuous", more=""), True),
    (dict(trail=0.0049, kind="continuous", more=""), False),
    (dict(trail=-0.00502, kind="continuous", more=""), True),
    (dict(trail=0.101), True), (dict(trail=-0.101), True), (dict(trail=0.099), False),
    (dict(trail=0.0, beside=0.3), False),              # along its axle: a kingpin
    (dict(trail=0.2, lean=radians(4.9)), True), (dict(trail=0.2, lean=radians(5.1)), False),
    (dict(trail=0.2, name="steering"), False), (dict(trail=0.2, name="articulated"), False),
    (dict(trail=0.2, name="steering", kind="continuous", more=""), True),
    (dict(name="caster"), True), (dict(trail=0.2, second=False), False)])
def test_what_swings_in_behind_its_axis_follows(words, follows):
    """A wheel of 0.1 m follows behind a free axis from a twentieth of its radius on, behind one
    with limits from a radius on, unless its name says that it steers."""
    layout, wheels = swivel(**words)
    assert is_swivel(layout, f"{words.get('name', 'fork')}_joint", wheels) == follows


def test_of_all_that_trail_single_wheels_follow_a_turntable():
    parts, wheels = [link("base")], []
    for k, (x, count) in enumerate(((1.0, 2), (-1.0, 1), (-2.0, 1))):
        parts += [link(f"t{k}"), joint(f"turn{k}", "base", f"t{k}", (x, 0, 0.3), axis=UP)]
        for i in range(count):
            parts += [link(f"w{k}{i}"), joint(f"r{k}{i}", f"t{k}", f"w{k}{i}", (-0.2, i, -0.2))]
            wheels.append(Wheel(f"r{k}{i}", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)))
    layout = laid(*parts)
    assert [is_swivel(layout, f"turn{k}", wheels) for k in range(3)] == [False, True, True]
    assert not is_swivel(layout, "turn1", wheels[2:])          # none turns several


def test_what_carries_a_wheel_on_its_axis_does_not_follow():
    """Whatever trails beside it."""
    for trail, follows in ((0.3, True), (0.0, False)):
        layout, wheels = swivel(trail=0.3, kind="continuous", more="")
        text = layout.source.text.partition(">")[2].removesuffix("</robot>")
        layout = laid(text, link("v"), joint("twin", "fork", "v", (-trail, 0.1, -0.2)))
        wheels.append(Wheel("twin", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)))
        assert is_swivel(layout, "fork_joint", wheels) == follows


def test_what_swings_is_free_upright_and_unmoved():
    for words, expected in ((dict(kind="continuous", more=""), True), (dict(), False),
                            (dict(kind="continuous", more="", lean=1.0), False)):
        layout, _ = swivel(**words)
        assert swings(layout, layout.joints["fork_joint"]) == expected
    layout, _ = swivel()
    assert not swings(layout, layout.joints["roll"])


@pytest.mark.parametrize("trail, name, expected", [
    (0.0049, "caster", True), (0.00502, "caster", False), (0.0, "fork", False)])
def test_an_idle_caster_stands_just_below_its_axis(trail, name, expected):
    layout, wheels = swivel(trail=trail, name=name, kind="continuous", more="")
    assert is_idle_caster(layout, layout.joints[f"{name}_joint"], wheels) == expected
    assert is_caster(layout, name) == (name == "caster") and not is_caster(layout, "base")
    limited, wheels = swivel(trail=trail, name=name)
    assert not is_idle_caster(limited, limited.joints[f"{name}_joint"], wheels)


@pytest.mark.parametrize("off, twin, name, expected", [
    (0.0024, None, "ball", True), (0.00251, None, "ball", False), (0.0, 0.00251, "ball", True),
    (0.0, 0.0024, "ball", False), (0.0, 0.0, "caster", True)])
def test_a_ball_that_only_supports_is_loose(off, twin, name, expected):
    """On its axis up to a twentieth of its radius, without a twin there, beside wheels with
    rims."""
    ball = shape("sphere", (off, 0, 0), radius=0.05)
    parts = [link("base"), link(name, body=ball), joint("j", "base", name, (1, 0, 0))]
    for side in (1, -1):
        parts += [link(f"w{side}", body=shape("cylinder", rpy=(pi / 2, 0, 0), radius=0.1,
                                              length=0.02)),
                  joint(f"r{side}", "base", f"w{side}", (0, side, 0))]
    if twin is not None:
        parts += [link("other", body=shape("sphere", radius=0.05)),
                  joint("t", "base", "other", (1 + twin, 3, 0))]
    layout = laid(*parts)
    assert is_loose_ball(layout, layout.joints["j"]) == expected
    assert not is_loose_ball(layout, layout.joints["r1"])
    # alone, nothing says that others are the wheels
    alone = laid(*parts[:3])
    assert is_loose_ball(alone, alone.joints["j"]) == (name == "caster")


# -- wheels that are nearly on one line ------------------------------------------------------------
def pose(layout: Layout, wheel: Wheel) -> tuple[np.ndarray, np.ndarray]:
    """Centre, without the shift, and axle in the root's frame, read again from the file."""
    again = Layout(layout.source)
    X = again.X_RL[again.carrier(wheel)]
    return X[:3, :3] @ np.array(wheel.point) + X[:3, 3] - SHIFT, X[:3, :3] @ np.array(wheel.axis)


@pytest.mark.parametrize("inferred", [True, False])
def test_wheels_of_one_axle_are_put_on_their_middle_line(inferred):
    """Axles turn to their mean, centres move across it to the middle, radii to theirs."""
    a, r = 0.01, (0.1, 0.1005)
    layout, wheels = stand((0.004, 1, 0.1, r[0], (0, 1, 0)),
                           (0, -1, 0.102, r[1], (sin(a), -cos(a), 0)))
    contacts, (notice,) = straighten_axles(layout, found(*wheels), (), inferred=inferred)
    along = np.array([-sin(a / 2), cos(a / 2), 0])
    across = np.array([-along[1], along[0], 0])
    before = [np.array([0.004, 1, 0.1]), np.array([0, -1, 0.102])]
    middle = sum(before) / 2
    largest = 0.0
    for contact, was, side in zip(contacts, before, (1, -1)):
        centre, axle = pose(layout, contact.wheel)
        assert axle == pytest.approx(side * along, abs=1e-12)
        assert across @ (centre - middle) == pytest.approx(0, abs=1e-12)
        assert along @ (centre - was) == pytest.approx(0, abs=1e-12)
        assert centre[2] == pytest.approx(0.101, abs=1e-12)
        largest = max(largest, np.linalg.norm(centre - was))
    mean = [sum(r) / 2] * 2 if inferred else r
    assert [one.wheel.radius for one in contacts] == pytest.approx(mean, rel=1e-12, abs=0)
    assert f"j0, j1 (by up to {1e3 * largest:.2g} mm and {np.degrees(a / 2):.2g} degrees)" in (
        notice.text)


@pytest.mark.parametrize("radius, height, levels, same", [
    (0.1010049, 0.1, True, True), (0.1010052, 0.1, False, False), (0.1, 0.10499, True, True),
    (0.1, 0.105005, False, True)])
def test_what_differs_by_more_stays_at_its_height(radius, height, levels, same):
    """A hundredth of the radius, and a twentieth of it in height."""
    layout, wheels = stand((0.001, 1, 0.1, 0.1), (0, -1, height, radius))
    contacts, _ = straighten_axles(layout, found(*wheels), (), inferred=True)
    assert [pose(layout, one.wheel)[0][2] for one in contacts] == pytest.approx(
        [(0.1 + height) / 2] * 2 if levels else [0.1, height], abs=1e-12)
    assert [one.wheel.radius for one in contacts] == pytest.approx(
        [(0.1 + radius) / 2] * 2 if same else [0.1, radius], abs=1e-12)


@pytest.mark.parametrize("shift, said", [(3.98e-4, False), (4.02e-4, True)])
def test_a_shift_is_told_in_parts_of_the_larger_radius(shift, said):
    """Half of it, to the middle, of a radius of 0.2 m."""
    layout, wheels = stand((0, 1, 0.1, 0.1), (shift, -1, 0.2, 0.2))
    contacts, notices = straighten_axles(layout, found(*wheels), (), inferred=True)
    assert bool(notices) == said
    assert [pose(layout, one.wheel)[0][0] for one in contacts] == pytest.approx([shift / 2] * 2,
                                                                                rel=1e-9, abs=0)


@pytest.mark.parametrize("shift, angle, words", [
    (1e-8, 0.0, ""), (0.0, 1e-8, ""), (1.99e-4, 0.0, ""), (2.01e-4, 0.0, "0.1 mm)"),
    (0.0, 1.99e-4, ""),
    (0.0, 2.01e-4, "0.0058 degrees)")])
def test_changes_are_told_from_a_thousandth_of_the_radius_and_a_ten_thousandth_of_a_turn(
        shift, angle, words):
    layout, wheels = stand((0, 1, 0.1, 0.1), (shift, -1, 0.1, 0.1, (sin(angle), cos(angle), 0)))
    contacts, notices = straighten_axles(layout, found(*wheels), (), inferred=True)
    assert bool(notices) == bool(words) and all(words in one.text for one in notices)
    centres = [pose(layout, one.wheel) for one in contacts]
    np.testing.assert_allclose(centres[0][1], centres[1][1], rtol=0, atol=1e-12)
    if shift:
        assert [centre[0] for centre, _ in centres] == pytest.approx([shift / 2] * 2, abs=1e-12)


def test_camber_stays_and_a_blade_moves_itself():
    for lean, kept in ((0.021, True), (0.019, False)):
        axle = (0, np.sqrt(1 - lean ** 2), lean)
        layout, wheels = stand((0.001, 1, 0.1, 0.1, axle), (0, -1, 0.1, 0.1))
        contacts, _ = straighten_axles(layout, found(*wheels), (), inferred=True)
        assert pose(layout, contacts[0].wheel)[1] == pytest.approx(
            axle if kept else (0, 1, 0), abs=1e-12)
    layout = laid(link("base"), link("a"), link("b"),
                  joint("x", "base", "a", (0.002, 1, 0.3), (0.3, 0.2, 0.1), kind="fixed"),
                  joint("y", "base", "b", (0, -1, 0.3), kind="fixed"))
    R = layout.X_RL["a"][:3, :3]
    blades = [Wheel(None, "blade", link="a", axis=tuple(R.T @ (0, 1, 0)),
                    point=tuple(R.T @ (0, 0, -0.3))),
              Wheel(None, "blade", link="b", axis=(0, 1, 0), point=(0, 0, -0.3))]
    # a blade has no radius, so that none is near another; the one that a joint steers is
    contacts, _ = straighten_axles(layout, found(*blades), (), inferred=True)
    assert [one.wheel for one in contacts] == blades
    layout, (roller, _) = stand((0, 1, 0.3, 0.1), (9, 9, 0.3, 0.1), links=(
        link("a"), joint("x", "base", "a", SHIFT + (0.001, -1, 0.3), (0.3, 0.2, 0.1),
                         kind="fixed")))
    R = layout.X_RL["a"][:3, :3]
    blade = Wheel(None, "blade", link="a", axis=tuple(R.T @ (sin(0.001), cos(0.001), 0)),
                  point=tuple(R.T @ (0, 0, -0.1)))
    contacts, _ = straighten_axles(layout, found(blade, roller), (), inferred=True)
    (q, b), (p, a) = (pose(layout, one.wheel) for one in contacts)
    assert a == pytest.approx((sin(5e-4), cos(5e-4), 0), abs=1e-12)
    assert b == pytest.approx(a, abs=1e-12) and q[2] == pytest.approx(0.2, abs=1e-12)
    assert np.cross(a, (q - p) * (1, 1, 0)) == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.parametrize("trail, moved", [(0.0049, True), (-0.0049, True), (0.00502, False)])
def test_a_steered_wheel_is_put_beside_its_pivot(trail, moved):
    layout, wheels = swivel(trail=trail, beside=0.05)
    contacts, _ = straighten_axles(layout, found(*wheels), ("fork_joint",), inferred=True)
    centre, _ = pose(layout, contacts[0].wheel)
    assert centre == pytest.approx((1 - trail * (not moved), 0.05, 0.1), abs=1e-12)
    # a fork that leans by more than five degrees has a trail on purpose
    layout, wheels = swivel(trail=trail, lean=radians(5.1))
    contacts, _ = straighten_axles(layout, found(*wheels), ("fork_joint",), inferred=True)
    assert pose(layout, contacts[0].wheel)[0][0] == pytest.approx(1 - trail, abs=1e-12)


def test_leaning_steering_is_made_upright_up_to_twenty_degrees():
    for lean, upright in ((19.9, True), (20.1, False), (0.0, False), (1e-5, True)):
        layout, wheels = swivel(lean=radians(lean))
        notices = straighten_steering(layout, wheels, ["fork_joint"])
        axis = Layout(layout.source).joints["fork_joint"].axis
        assert axis[2] == pytest.approx(1 if upright else cos(radians(lean)), abs=1e-12)
        assert bool(notices) == upright
        assert not upright or f"fork_joint ({lean:.2g} deg)" in notices[0].text


@pytest.mark.parametrize("rpy, up, twins", [
    ((0, 0, 0), 1, False), ((0.2, 0.1, 0.7), 1, False), ((0.2, 0.1, 0.7), -1, True)])
@pytest.mark.parametrize("lean", [0.2, -0.2])
@pytest.mark.parametrize("leads", [-0.3, 0.0, 0.4, 1.0, 1.7])
def test_a_leaning_axis_becomes_the_vertical_that_trails_its_wheel_least(lean, leads, rpy, up,
                                                                         twins):
    """Of those through a point of it beside the lower half of the wheel: `leads` is how far it is
    before the centre at the height of the axle, in units of what it gains from there to the ground.
    The wheel stays where it is. Of two it is their middle, and the larger one's radius."""
    radius, R = 0.3, pin.rpy.rpyToMatrix(*rpy)
    axis, gains = np.array((sin(lean), 0, cos(lean))), 0.3 * np.tan(lean)
    centre = SHIFT + (1, 0.1, 0.3)
    at = centre + (leads * gains + 0.2 * np.tan(lean), -0.05, 0.2)         # 0.2 above the axle
    parts = [link("base"), link("fork"), link("far"), joint("other", "base", "far"),
             joint("steer", "base", "fork", at, rpy, up * R.T @ axis, "revolute", LIMITED)]
    wheels = [Wheel("other", radius=9.0, axis=(0, 1, 0), point=(0, 0, 0)),
              Wheel(None, "caster_ball", 9.0, link="fork", point=(9, 9, 9))]
    for name, off in (("w", 0.02), ("v", -0.02)) if twins else (("w", 0.0),):
        place = R.T @ (centre + (off, off, 0) - at)
        parts += [link(name), joint(f"roll_{name}", "fork", name, place,
                                    pin.rpy.matrixToRpy(R.T))]
        wheels.append(Wheel(f"roll_{name}", radius=radius - (off < 0) * 0.1, axis=(0, 1, 0),
                            point=(0, 0, 0)))
    layout = laid(*parts)
    notices = straighten_steering(layout, wheels, ["steer"])
    assert len(notices) == 1 and f"steer ({np.degrees(abs(lean)):.2g} deg)" in notices[0].text
    again = Layout(layout.source)
    for name in ("w", "v") if twins else ("w",):
        np.testing.assert_allclose(again.X_RL[name], layout.X_RL[name], rtol=0, atol=1e-12)
    steer = again.joints["steer"]
    np.testing.assert_allclose(again.axis_R(steer), (0, 0, up), rtol=0, atol=1e-12)
    share = np.clip(leads, 0.0, 1.0)
    np.testing.assert_allclose(again.X_RL[steer.child][:2, 3] - centre[:2],
                               ((leads - share) * gains, -0.05), rtol=0, atol=1e-12)
    # once it is upright, nothing is left to do
    assert straighten_steering(again, wheels, ["steer"]) == []
    assert Layout(layout.source).joints.keys() == again.joints.keys()


@pytest.mark.parametrize("given, expected", [
    (1.57, pi / 2), (-1.57, -pi / 2), (3.14, pi), (4.71, 3 * pi / 2), (0.004, 0.004),
    (1.57582, None), (1.5757, pi / 2), (1.5659, pi / 2), (1.56577, None), (6.28, 2 * pi)])
def test_angles_near_right_ones_are_those(given, expected):
    layout = laid(link("a"), link("b"), joint("j", "a", "b", rpy=(given, 0, 0)))
    notices = snap_joints(layout.source, ["j"])
    rpy = layout.source.triple(layout.joints["j"].element.find("origin"), "rpy")
    assert rpy == ((given if expected is None else expected), 0.0, 0.0)
    changed = expected not in (None, given)
    assert bool(notices) == changed
    assert not changed or f"up to {abs(expected - given):.1e} rad away" in notices[0].text
    assert snap_joints(layout.source, []) == []


def test_axes_near_those_of_coordinates_are_those():
    for tilt, expected in ((0.0049, (0, -1, 0)), (0.00502, (-0.01506, -3, 0))):
        layout = laid(link("a"), link("b"), joint("j", "a", "b", axis=(-3 * tilt, -3, 0)))
        notices = snap_joints(layout.source, ["j"])
        axis = layout.source.triple(layout.joints["j"].element.find("axis"), "xyz")
        assert axis == pytest.approx(expected, abs=1e-12)
        assert bool(notices) == (tilt < 0.005)
    # what is nearer than anybody sees is not said
    for off, is_said in ((0.99e-5, False), (1.01e-5, True)):
        layout = laid(link("a"), link("b"), joint("j", "a", "b", rpy=(pi / 2 + off, 0, 0)))
        assert bool(snap_joints(layout.source, ["j"])) == is_said


