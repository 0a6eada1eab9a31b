"""The rule that says which axles are wheels, the sources of a radius, and circles among vertices,
each just within its bounds and just beyond."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pinocchio as pin
import pytest
from placed import SHIFT, laid, limits, place, shape, stand
from support import joint, link

from nhmech.urdf.description import Reason, Witness
from nhmech.urdf.layout import Layout
from nhmech.urdf.mesh_files import Mesh
from nhmech.urdf.wheels.evidence import (
    Candidate,
    JointVerdict,
    find_rivals,
    has_word,
    is_almost_standing,
    is_ball_joint,
    is_handle,
    judge_joint,
    read_facts,
    weigh,
)
from nhmech.urdf.wheels.radii import (
    Radius,
    choose_radius,
    find_wheel_rim,
    read_radii,
    weigh_radii,
)
from nhmech.urdf.wheels.revolution import find_solid
from nhmech.urdf.wheels.rims import Rim, RimSource
from nhmech.urdf.wheels.rollers import find_rollers, roller_joints

WHEEL, NO_RADIUS, AIR, DRUM, NONE = JointVerdict
RIM = Rim(0.1, (0, 0, 0), 0.03, "w0", RimSource.COLLISION_PRIMITIVE, "cylinder")
FLOOR = 0.3


@pytest.fixture(scope="module")
def layout() -> Layout:
    """Three joints: two on one axle, a third 1 ahead; and an upright one that carries a fourth."""
    made, _ = stand((0, 1, 0.1, 0.1), (0, -1, 0.1, 0.1), (1, 0, 0.1, 0.1), links=(
        link("fork"), place("fork", (2, 0, 0.3), axis=(0, 0, 1), kind="continuous"),
        link("w9"), joint("j9", "fork", "w9")))
    return made


def axle(layout, name="j0", **words) -> Candidate:
    given = dict(rim=RIM, is_free=True, is_named=False, is_listed=False, is_commanded=False,
                 rollers=False, carries=False, misplaced=None, height=0.4, usual=0.1)
    return Candidate(layout.joints[name], **given | words)


@pytest.mark.parametrize("words, verdict", [
    (dict(), WHEEL), (dict(is_free=False), NONE), (dict(is_free=False, is_named=True), WHEEL),
    (dict(is_free=False, is_listed=True), WHEEL), (dict(is_free=False, is_commanded=True), WHEEL),
    # off the floor by a tenth of the radius and more; clearly in the air from half of it on
    (dict(height=0.4499), WHEEL), (dict(height=0.4501), AIR), (dict(height=0.3499), AIR),
    (dict(height=0.3501), WHEEL), (dict(height=0.5, is_listed=True), WHEEL),
    # what carries others is one only if it stands alone
    (dict(carries=True, height=0.4099), WHEEL), (dict(carries=True, height=0.4101), NONE),
    (dict(carries=True, is_free=False, is_named=True), NONE),
    # without a shape: a name, or a cylinder that is turned wrongly and would stand
    (dict(rim=None), NONE), (dict(rim=None, is_named=True), NO_RADIUS),
    (dict(rim=None, is_named=True, carries=True), NONE),
    (dict(rim=None, is_named=True, height=0.3), NONE),
    (dict(rim=None, is_named=True, height=0.3001), NO_RADIUS),
    (dict(rim=None, misplaced=0.1), NO_RADIUS),
    (dict(rim=None, misplaced=0.1, is_free=False), NONE),
    (dict(rim=None, misplaced=0.1, height=0.4099), NO_RADIUS),
    (dict(rim=None, misplaced=0.1, height=0.4101), NONE),
    (dict(rim=None, misplaced=0.1, height=0.3901), NO_RADIUS),
    (dict(rim=None, misplaced=0.1, height=0.3899), NONE),
    # higher than one and a half of the largest that stand
    (dict(rim=None, is_named=True, height=0.4499), NO_RADIUS),
    (dict(rim=None, is_named=True, height=0.4501), AIR),
    (dict(rim=None, is_listed=True, height=0.4501), NO_RADIUS)])
def test_the_rule(layout, words, verdict):
    one, other = axle(layout, **words), axle(layout, "j2")
    assert judge_joint(one, FLOOR, [one, other], layout) is verdict


def test_a_wheel_that_is_not_free_has_a_partner_of_its_size_on_its_line(layout):
    one = axle(layout, is_free=False)
    for radius, name, verdict in ((0.1049, "j1", WHEEL), (0.10502, "j1", NONE),
                                  (0.0951, "j1", WHEEL), (0.1, "j2", NONE)):
        other = axle(layout, name, rim=replace(RIM, radius=radius))
        assert judge_joint(one, FLOOR, [one, other], layout) is verdict
    assert judge_joint(one, FLOOR, [one, replace(axle(layout, "j1"), rim=None)], layout) is NONE


@pytest.mark.parametrize("width, named, other_named, name, verdict", [
    (0.2999, False, True, "j2", WHEEL), (0.3001, False, True, "j2", DRUM),
    (0.3001, True, True, "j2", WHEEL), (0.3001, False, False, "j2", WHEEL),
    (0.3001, False, True, "j9", WHEEL)])
def test_a_drum_is_wider_than_one_and_a_half_diameters_beside_wheels_by_name(
        layout, width, named, other_named, name, verdict):
    """On the same body: an upright joint between them is another one."""
    one = axle(layout, rim=replace(RIM, width=width), is_named=named)
    other = axle(layout, name, is_named=other_named)
    assert judge_joint(one, FLOOR, [one, other], layout) is verdict
    wide = replace(other, rim=replace(RIM, width=width))
    assert judge_joint(one, FLOOR, [one, wide], layout) is (
        DRUM if verdict is DRUM and width <= 0.3 else WHEEL)


@pytest.mark.parametrize("others, verdict", [
    ((("j1", 0.4), ("j2", 0.4)), DRUM), ((("j2", 0.4), ("j1", 0.4)), DRUM),
    ((("j1", 0.4), ("j3", 0.4)), WHEEL), ((("j1", 0.4),), WHEEL), ((), WHEEL),
    ((("j1", 0.4), ("j2", 0.4099)), DRUM), ((("j1", 0.4), ("j2", 0.4101)), WHEEL),
    ((("j1", 0.4101), ("j2", 0.4)), WHEEL)])
def test_a_drum_is_left_out_where_wheels_of_several_axles_stand_without_it(others, verdict):
    """Up to a tenth of their radius in one plane with it."""
    layout, _ = stand((0, 1, 0.1, 0.1), (0, -1, 0.1, 0.1), (1, 0, 0.1, 0.1), (0, 0.5, 0.1, 0.1))
    one = axle(layout, rim=replace(RIM, width=0.3001))
    beside = [axle(layout, name, height=height) for name, height in others]
    assert judge_joint(one, FLOOR, [one, *beside], layout) is verdict
    # who carries something, has no shape or is a drum as well bears nothing
    for words in (dict(carries=True), dict(rim=None), dict(rim=one.rim)):
        changed = [replace(a, **words) for a in beside]
        assert judge_joint(one, FLOOR, [one, *changed], layout) is WHEEL


@pytest.mark.parametrize("axis, kind, verdict", [
    ((0, 1, 0), "revolute", DRUM), ((0, 0, 1), "fixed", DRUM), ((0, 0, 1), "revolute", WHEEL),
    ((0, 0, 1), "prismatic", DRUM)])
def test_a_drum_on_an_arm_is_of_the_body_that_carries_it(axis, kind, verdict):
    """What steers it makes another body."""
    layout, _ = stand((0, 1, 0.1, 0.1), links=(
        link("arm"), place("arm", (0.5, 0, 0.1), axis=axis, kind=kind, more=limits(-1, 1)),
        link("brush"), joint("spin", "arm", "brush")))
    one = axle(layout, "spin", rim=replace(RIM, width=0.3001))
    assert judge_joint(one, FLOOR, [one, axle(layout, is_named=True)], layout) is verdict


@pytest.mark.parametrize("height, verdict", [(0.5999, NO_RADIUS), (0.6001, AIR)])
def test_a_named_wheel_without_a_shape_hangs_from_one_and_a_half_of_the_largest_radius(
        layout, height, verdict):
    one = axle(layout, rim=None, is_named=True, height=height)
    others = [axle(layout, "j1"), axle(layout, "j2", rim=replace(RIM, radius=0.2), height=0.5)]
    assert judge_joint(one, FLOOR, [one, *others], layout) is verdict
    assert judge_joint(one, FLOOR, [one, *others[::-1]], layout) is verdict


def test_a_gear_beside_something_larger_is_no_wheel(layout):
    """Whose rim is so near that it can never reach the ground: it hangs by more than its slack."""
    gear = axle(layout, height=0.42)
    for radius, verdict in ((0.3, WHEEL), (2.01, AIR)):           # its partner is 2 away
        other = axle(layout, "j1", rim=replace(RIM, radius=radius), height=0.3 + radius)
        assert judge_joint(gear, FLOOR, [gear, other], layout) is verdict
    assert is_almost_standing(layout, axle(layout, height=0.4999), weighed(layout, gear))
    assert not is_almost_standing(layout, axle(layout, height=0.5001), weighed(layout, gear))
    assert not is_almost_standing(layout, axle(layout, is_free=False), weighed(layout, gear))
    assert not is_almost_standing(layout, axle(layout, carries=True), weighed(layout, gear))
    assert not is_almost_standing(layout, axle(layout, rim=None), weighed(layout, gear))


@pytest.mark.parametrize("radius, verdict", [(3.0, WHEEL), (3.2999, WHEEL), (3.3001, AIR)])
def test_a_gear_is_smaller_than_what_is_beside_it_by_more_than_its_slack(layout, radius, verdict):
    """A tenth of its radius: of equals that nearly reach the ground both may be wheels."""
    one = axle(layout, rim=replace(RIM, radius=3.0), height=3.7)       # 0.4 above the ground
    other = axle(layout, "j1", rim=replace(RIM, radius=radius), height=0.3 + radius)
    assert judge_joint(one, FLOOR, [one, other], layout) is verdict


def weighed(layout, *axles, floor=FLOOR):
    from nhmech.urdf.wheels.evidence import Findings
    return Findings(tuple(axles), floor, {one.joint.name: judge_joint(one, floor, axles, layout)
                                          for one in axles})


def test_free_axles_in_the_air_that_share_a_plane(layout):
    low, *above = (axle(layout, name, height=height)
                   for name, height in (("j0", 0.4), ("j1", 0.9), ("j2", 0.9099)))
    assert find_rivals(weighed(layout, low, *above)) == above
    assert find_rivals(weighed(layout, low, above[0], replace(above[1], height=0.9101))) == []
    assert find_rivals(weighed(layout, low, replace(above[0], is_free=False), above[1])) == []
    assert find_rivals(weighed(layout, low, above[0])) == []


def test_what_speaks_for_a_wheel(layout):
    one, other = axle(layout, is_named=True, is_commanded=True), axle(layout, "j1")
    found = {fact.witness: (fact.agrees, fact.radius)
             for fact in read_facts(layout, one, weighed(layout, one, other))}
    yes = (True, None)
    assert found == {Witness.AXLE: yes, Witness.JOINT: yes, Witness.LEAF: yes, Witness.PLANE: yes,
                     Witness.PARTNER: yes, Witness.ELEMENT: yes, Witness.NAME: yes}
    high = axle(layout, height=0.4101, rollers=True, is_free=False, is_listed=True)
    far = axle(layout, "j2")
    found = {fact.witness: (fact.agrees, fact.radius)
             for fact in read_facts(layout, high, weighed(layout, high, far))}
    assert found == {Witness.AXLE: yes, Witness.JOINT: (False, None), Witness.ROLLERS: yes,
                     Witness.PLANE: (False, pytest.approx(0.1101)), Witness.ELEMENT: yes}
    alone = [fact.witness for fact in read_facts(layout, one, weighed(layout, one))]
    assert Witness.PLANE not in alone and Witness.PARTNER not in alone


def test_candidates_of_a_robot():
    """Level axes that turn; the floor is the lowest plane that several reach, or one that a name
    or the footprint speaks for."""
    drum = shape("cylinder", (0.02, 0, 0), (pi / 2, 0, 0), radius=0.1, length=0.03)

    def robot(*axles, more=()):
        parts = [link("base"), *more]
        for name, z in axles:
            body = shape("cylinder", rpy=(pi / 2, 0, 0), radius=0.1, length=0.03)
            parts += [link(name, body=body), joint(f"{name}_j", "base", name, (z, 0, z))]
        return weigh(laid(*parts))
    low, twice = robot(("a", 0.1), ("b", 0.4), ("c", 0.4)), robot(("a", 0.1), ("b", 0.1))
    assert low.floor == pytest.approx(0.0) and twice.floor == pytest.approx(0.0)
    assert robot(("a", 0.1), ("left_wheel", 0.4)).floor == pytest.approx(0.3)
    assert robot(("a", 0.1), ("b", 0.1), ("left_wheel", 0.4)).floor == pytest.approx(0.0)
    assert robot(("a_wheel", 0.1), ("left_wheel", 0.4)).floor == pytest.approx(0.0)
    # a motor is a word too, where no name is one
    motor = ('<ros2_control><joint name="c_j"><command_interface name="velocity"/></joint>'
             "</ros2_control>",)
    two = ("a", 0.1), ("b", 0.4), ("c", 0.4)
    assert robot(*two, more=motor).floor == pytest.approx(0.3, rel=1e-12, abs=0)
    assert robot(*two, ("left_wheel", 0.8), ("d", 0.8), more=motor).floor == pytest.approx(
        0.7, rel=1e-12, abs=0)
    mark = (link("base_footprint"), joint("f", "base", "base_footprint", (0, 0, 0.3), kind="fixed"))
    assert robot(("a", 0.1), ("b", 0.4), more=mark).floor == pytest.approx(0.3)
    assert robot(more=mark).floor == pytest.approx(0.3) and robot().floor is None
    (one,) = robot(("a", 0.1)).axles
    assert (one.height, one.bottom, one.usual, one.slack) == pytest.approx((0.1, 0, 0.1, 0.01))
    assert one.is_free and not one.carries and not one.is_called and one.misplaced is None
    # a height is that of the rim, and of a cylinder beside the axle that of the origin
    turned = weigh(laid(link("base"), link("w", body=drum), joint("j", "base", "w", SHIFT,
                                                                  (0, 0.7, 0)))).axles[0]
    assert turned.misplaced == 0.1 and turned.height == pytest.approx(0.3) == turned.bottom + 0.1
    above = weigh(laid(link("base"), link("w", body=shape("sphere", (0, 0.2, 0), radius=0.1)),
                       joint("j", "base", "w", (0, 0, 1), (0.01, 0, 0)))).axles[0]
    assert above.height == pytest.approx(1 + 0.2 * np.sin(0.01))


def test_who_calls_a_joint_a_wheel():
    """A plugin by the joint's name, or a controller that commands its velocity and nothing else."""
    def told(more):
        return weigh(laid(link("base"), link("w", body=shape("sphere", radius=0.1)), link("v"),
                          joint("j", "base", "w"), joint("k", "base", "v"), more)).axles[0]

    def commanded(name, *interfaces):
        return told(f'<ros2_control><joint name="{name}">' + "".join(
            f'<command_interface name="{one}"/>' for one in interfaces) + "</joint></ros2_control>")
    plugin = ('<gazebo><plugin filename="libgazebo_ros_diff_drive.so" name="d"><left_joint>{}'
              "</left_joint></plugin></gazebo>")
    assert told(plugin.format("j")).is_listed and not told(plugin.format("k")).is_listed
    assert commanded("j", "velocity").is_commanded
    assert not commanded("k", "velocity").is_commanded
    assert not commanded("j", "position").is_commanded
    assert not commanded("j", "velocity", "effort").is_commanded


def test_what_cannot_roll_is_no_candidate():
    """Upright or sliding joints, and leaders by mimic that touch nothing."""
    ball = shape("sphere", radius=0.1)
    parts = [link("base"), link("up", body=ball), link("rail", body=ball), link("w", body=ball),
             link("lead"), joint("u", "base", "up", axis=(0, 0, 1)),
             joint("p", "base", "rail", kind="prismatic", more='<limit effort="1" velocity="1"/>'),
             joint("j", "base", "w", more='<mimic joint="l"/>'), joint("l", "base", "lead")]
    assert [one.joint.name for one in weigh(laid(*parts)).axles] == ["j"]
    # how large a robot is, is the median of what is round
    large = shape("sphere", radius=0.3)
    two = weigh(laid(link("base"), link("a", body=ball), link("b", body=large),
                     joint("i", "base", "a", (0, 0, 0.1)), joint("j", "base", "b", (1, 0, 0.3))))
    assert {one.usual for one in two.axles} == {0.2} and two.floor == pytest.approx(0.0)
    assert {*two.verdicts.values()} == {WHEEL} and [*two.verdicts] == ["i", "j"]


def test_words_balls_and_handles():
    ball = shape("sphere", radius=0.1)
    parts = [link("base"), link("x"), link("ball", body=ball), link("Rueda"),
             joint("roll", "base", "x", (1, 2, 3), axis=(1, 0, 0)),
             joint("f", "x", "Rueda", kind="fixed")]
    for off, is_ball in ((0.0099, True), (0.01005, False)):
        layout = laid(*parts, joint("pitch", "x", "ball", (0, 0, off)))
        assert is_ball_joint(layout, "ball") == is_ball
        assert has_word(layout, "x") and not has_word(layout, "base")
    for angle, is_ball in ((0.143, True), (0.139, False)):       # nearly the same axis
        axis = (np.cos(angle), np.sin(angle), 0)
        layout = laid(*parts, joint("pitch", "x", "ball", axis=axis))
        assert is_ball_joint(layout, "ball") == is_ball
    assert not is_ball_joint(laid(*parts, joint("yaw", "x", "ball", axis=(0, 0, 1))), "ball")
    lead = '<mimic joint="lead" multiplier="1"/>'
    layout = laid(link("base"), link("a"), link("b", body=ball), link("c", body=ball),
                  joint("lead", "base", "a"), joint("follow", "base", "b", more=lead),
                  joint("other", "base", "c"))
    assert [is_handle(layout, one) for one in layout.joints.values()] == [True, False, False]
    # a shape on a part that is fixed to either counts
    for on, handle in (("b", True), ("a", False)):
        layout = laid(link("base"), link("a"), link("b", body=ball * (on == "a")),
                      joint("lead", "base", "a"), joint("follow", "base", "b", more=lead),
                      link("part", body=ball), joint("f", on, "part", kind="fixed"))
        assert is_handle(layout, layout.joints["lead"]) == handle


# -- radii -----------------------------------------------------------------------------------------
def source(value, below=0.01, above=0.02, rim=None, witness=Witness.DRAWN) -> Radius:
    return Radius(witness, value, Reason(f"source of {value} {{}}", ("x",)), rim, below, above)


def test_a_radius_agrees_within_what_files_differ_by():
    one = source(0.1)
    assert [one.agrees(r) for r in (0.0899, 0.0901, 0.1199, 0.1201)] == [False, True, True, False]
    plane = Radius.of_plane(0.2)
    assert (plane.value, plane.below, plane.above) == pytest.approx((0.2, 0.02, 0.02))


def test_two_that_agree_overrule_the_rim():
    rim, other = RIM, replace(RIM, radius=0.2)
    first, second, third = source(0.1, rim=rim), source(0.2, rim=other), source(0.205)
    assert choose_radius([first, second, third], rim) is second
    for two in ([first, second], [first, third]):
        assert choose_radius(two, rim) is first
    assert choose_radius([first, second, source(0.25)], rim) is first
    assert choose_radius([first, source(0.2), third], rim) is first          # no shape
    assert choose_radius([second, third], rim) is None
    assert choose_radius([third, first], None) is third and choose_radius([], None) is None


def test_what_contradicts_a_radius_is_said():
    chosen, other = source(0.1, rim=RIM), source(0.2)
    facts, why = weigh_radii([chosen, other, source(0.101)], 0.1, chosen)
    assert [(fact.agrees, fact.radius) for fact in facts] == [(True, 0.1), (False, 0.2),
                                                             (True, 0.101)]
    assert str(why) == ("radius 0.1 m from the source of 0.1 'x', although the source of 0.2 'x' "
                        "is 0.2 m")
    _, why = weigh_radii([chosen], 0.3, None)
    assert str(why) == "radius 0.3 m as given, although the source of 0.1 'x' has 0.1 m"
    assert weigh_radii([chosen], 0.1, chosen)[1] is None


def test_sources_of_a_radius():
    """A cylinder within a tenth, as far out as a lug beside it reaches; a height over the
    footprint."""
    lug = shape("box", (0.2, 0, 0), size="0.1 0.02 0.0")
    layout = laid(link("base"), link("w", body=shape("sphere", radius=0.1) + lug),
                  joint("j", "base", "w", SHIFT), link("base_footprint"),
                  joint("f", "base", "base_footprint", (0, 0, 0.1), kind="fixed"))
    rim, mark = read_radii(layout, layout.joints["j"], 0.3)
    assert (rim.value, rim.below, rim.above) == pytest.approx((0.1, 0.01, 0.25 * 1.1 - 0.1))
    assert (mark.value, mark.below, mark.above) == pytest.approx((0.2, 0.02, 0.02))
    assert mark.witness is Witness.FOOTPRINT and rim.witness is Witness.PRIMITIVE
    assert len(read_radii(layout, layout.joints["j"], 0.1)) == 1
    assert len(read_radii(layout, layout.joints["j"])) == 1


# -- circles among vertices ------------------------------------------------------------------------
Y = np.array([0.0, 1.0, 0.0])


def ring(count=72, radius=1.0, y=(-0.1, 0.1), start=0.0, part=1.0) -> np.ndarray:
    a = start + 2 * pi * part * np.arange(count) / count
    return np.concatenate([np.column_stack([radius * np.sin(a), np.full(count, at),
                                            radius * np.cos(a)]) for at in y])


def test_a_ring_has_its_radius_width_and_middle():
    solid = find_solid(ring(radius=2.0, y=(0.3, 0.7)), Y)
    assert (solid.radius, solid.along, solid.width) == pytest.approx((2.0, 0.5, 0.4), rel=1e-12)
    assert find_solid(np.zeros((0, 3)), Y) is None and find_solid(np.zeros((9, 3)), Y) is None
    assert find_solid(np.append(ring(), [[np.nan, 0, 0]], axis=0), Y) is None


@pytest.mark.parametrize("size", [0.03, 40.0])
def test_a_wheel_in_another_unit_is_the_same_wheel(size):
    """Also one with lugs, or beside its axle, or with a hub."""
    rng = np.random.default_rng(3)
    beside = ring(360, y=(-0.2, 0.3)) + (0.02, 0, 0.01)
    rough = np.concatenate([ring(90, 1 - 0.004 * k, start=k) for k in range(3)])
    for cloud in (ring(y=(0.1, 0.4)), beside, rough, np.concatenate([beside, ring(40, 0.3)]),
                  np.concatenate([ring(), np.tile([(1.4, 0, 0)], (20, 1))]),
                  beside + rng.normal(scale=1e-3, size=beside.shape)):
        one, other = find_solid(cloud, Y), find_solid(size * cloud, Y)
        assert (other.radius, other.along, other.width) == pytest.approx(
            (size * one.radius, size * one.along, size * one.width), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("count, is_round", [(8, True), (7, False), (4, False)])
def test_an_octagon_is_round_and_a_square_is_not(count, is_round):
    for y in ((-0.1, 0.1), (0.0,)):
        assert (find_solid(ring(count, y=y), Y) is not None) == is_round


def test_a_gap_of_fifty_degrees_ends_a_circle():
    for degrees, is_round in ((49.9, True), (50.1, False)):
        part = 1 - np.radians(degrees) / 2 / pi
        points = np.concatenate([ring(720, part=part * 720 / 719), ring(72, radius=0.4)])
        solid = find_solid(points, Y)
        assert (solid is not None and solid.radius == pytest.approx(1, abs=1e-3)) == is_round


def test_vertices_of_one_circle_differ_by_a_hundredth():
    """Every second one is a little nearer; alone, neither half is a circle."""
    for less, is_one in ((0.00995, True), (0.01005, False)):
        points = np.concatenate([ring(5), ring(5, radius=1 - less, start=pi / 5)])
        assert (find_solid(points, Y) is not None) == is_one


@pytest.mark.parametrize("off, is_found", [(0.026, True), (0.028, False)])
def test_a_circle_beside_the_axle_reaches_farther(off, is_found):
    """As far as a ring of a twentieth covers it but for a gap; it is the largest distance from the
    axle."""
    solid = find_solid(ring(360) + (off, 0, 0), Y)
    assert (solid is not None) == is_found
    assert not is_found or solid.radius == pytest.approx(1 + off, rel=2e-3)


@pytest.mark.parametrize("count, radius, strays", [
    (9, 0.93, (0.3, 0.9)), (9, 0.925, (2.2,)), (8, 0.94, (0.3, 0.8, 1.4)), (8, 0.93, (0.3, 0.9))])
@pytest.mark.parametrize("hub", [0.3, 0.88])
def test_neither_a_hub_nor_stray_vertices_move_the_centre_of_a_circle(count, radius, strays, hub):
    """Of a tyre with few corners, beside its axle."""
    off = np.array([0.02, 0.0, 0.01])
    parts = [ring(count) + off, ring(40, hub), *(ring(1, radius, start=a) for a in strays)]
    solid = find_solid(np.concatenate(parts), Y)
    assert solid.radius == pytest.approx(1 + np.linalg.norm(off), rel=1e-12)


@pytest.mark.parametrize("count, is_found", [(45, True), (51, False)])
def test_a_quarter_of_the_surface_may_stick_out(count, is_found):
    """By number where no areas are given: of 144 on the ring, so many stand 1.5 out."""
    lugs = np.tile([(1.5, 0, 0)], (count, 1))
    points = np.concatenate([ring(), lugs])
    assert (find_solid(points, Y) is not None) == is_found
    light = np.where(np.arange(len(points)) < 144, 1.0, 1e-3)
    assert find_solid(points, Y, lambda: light).radius == pytest.approx(1.0)
    asked = []
    find_solid(ring(), Y, lambda: asked.append(1))
    assert not asked


def test_the_tread_is_the_outermost_twentieth():
    for radius, width in ((0.951, 0.8), (0.949, 0.2)):
        points = np.concatenate([ring(), ring(radius=radius, y=(-0.4, 0.4))])
        assert find_solid(points, Y).width == pytest.approx(width)


@pytest.mark.parametrize("sectors, share", [(2, 0.0), (3, 0.7), (12, 1.0)])
def test_a_stray_part_moves_neither_width_nor_radius(sectors, share):
    """In a tenth of 24 sectors or less; of three it counts by seven tenths, as the ninth decile is
    between the 21st and the 22nd of 24."""
    for y, radius in ((0.4, 1.0), (0.1, 1.009)):
        stray = ring(24 * 3, radius, y=(y,), start=0.01)[:3 * sectors]
        solid = find_solid(np.concatenate([ring(start=0.01), stray]), Y)
        assert solid.width == pytest.approx(0.2 + share * (y - 0.1), rel=1e-12, abs=0)
        assert solid.radius == pytest.approx(1 + share * (radius - 1), rel=1e-12, abs=0)


def test_surfaces_and_parts_of_a_mesh():
    """Two triangles that share an edge, and one beside them whose corner is nearer to theirs than a
    thousandth of the whole, or not."""
    for gap, count in ((0.9e-3, 1), (3e-3, 2)):
        vertices = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (1 + gap, 1, 0), (2, 1, 0),
                             (2, 2, 0)], dtype=float)
        mesh = Mesh(vertices, np.array([(0, 1, 2), (1, 3, 2), (4, 5, 6)]))
        assert len(mesh.parts) == count and sorted(np.concatenate(mesh.parts)) == [*range(7)]
        np.testing.assert_allclose(mesh.areas()[:4] * 6, [1, 2, 2, 1], rtol=1e-12)
        assert mesh.areas().sum() == pytest.approx(1 + (1 - gap) / 2)


# -- rollers on a wheel ----------------------------------------------------------------------------
def with_rollers(count=8, angle=0.7, more=(), far=0.0, out=0.0, radius=0.02):
    """The layout of a wheel about y, 0.3 up, with rollers 0.08 from its axle, each turned by an
    angle from the axle to forward at the bottom; the first is so much farther, and points
    outward."""
    parts = [link("base"), link("w"), joint("j", "base", "w", (0, 0, 0.3), (0, 0, 0.4)), *more]
    for k in range(count):
        a = 2 * pi * k / count + 0.1
        outward = np.array([np.sin(a), 0, np.cos(a)])
        forward = np.cross(Y, -outward)
        axis = np.cos(angle) * Y + np.sin(angle) * forward
        if k == 0:
            axis = axis * np.sqrt(1 - out ** 2) + out * outward
        at = (0.08 + far * (k == 0)) * outward + 0.01 * Y
        turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0, 1]), axis).toRotationMatrix()
        body = shape("cylinder", rpy=tuple(pin.rpy.matrixToRpy(turn)), radius=radius, length=0.03)
        parts += [link(f"r{k}", body=body), joint(f"roll{k}", "w", f"r{k}", tuple(at),
                                                  axis=tuple(axis))]
    layout = laid(*parts)
    return layout, layout.joints["j"]


@pytest.mark.parametrize("angle, is_oblique", [
    (0.7, True), (-0.7, True), (pi / 2, False), (np.radians(24.9), False), (np.radians(25.1), True),
    (np.radians(64.9), True), (np.radians(65.1), False), (pi - 0.7, True)])
def test_rollers_on_joints_have_the_angle_at_the_ground(angle, is_oblique):
    layout, wheel = with_rollers(angle=angle)
    found = find_rollers(layout, wheel)
    assert abs(np.sin(found.angle - angle)) < 1e-9 and -pi / 2 < found.angle <= pi / 2 + 1e-12
    assert (found.is_oblique, found.turn) == (is_oblique, True)
    assert found.source == "8 joints with rollers on 'w'"
    # their rim is as far out as they reach, about the axle
    rim = find_wheel_rim(layout, wheel)
    assert rim.radius == pytest.approx(0.1) and rim.centre == pytest.approx((0, 0.01, 0), abs=1e-6)


@pytest.mark.parametrize("far, reach", [(0.004, 0.104), (-0.004, 0.1)])
def test_rollers_reach_as_far_as_the_outermost(far, reach):
    layout, wheel = with_rollers(far=far)
    rim = find_wheel_rim(layout, wheel)
    assert rim.radius == pytest.approx(reach, rel=1e-12, abs=0)
    assert rim.centre == pytest.approx((0, 0.01, 0), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("words, count", [
    (dict(count=5), 5), (dict(count=4), 0), (dict(far=0.0079), 8), (dict(far=0.00804), 7),
    (dict(far=-0.00804), 7), (dict(out=0.199), 8), (dict(out=0.201), 7)])
def test_rollers_are_many_that_lie_alike(words, count):
    """Within a tenth of their distance, and across the way to the axle up to a fifth."""
    layout, wheel = with_rollers(**words)
    assert len(roller_joints(layout, wheel)) == count
    assert (find_rollers(layout, wheel) is not None) == (count > 0)


def test_what_carries_something_or_is_on_another_body_is_no_roller():
    more = (link("x"), joint("moves", "r0", "x"), link("y"),
            joint("beside", "base", "y", (0, 0, 1)))
    layout, wheel = with_rollers(more=more)
    assert [one.name for one in roller_joints(layout, wheel)] == [f"roll{k}" for k in range(1, 8)]
    assert roller_joints(layout, layout.joints["beside"]) == []
