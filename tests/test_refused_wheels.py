"""Robots whose wheels are not found, or only with a word about it: what is said of them, just
within the bounds and just beyond, and numbers to type that are true."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pinocchio as pin
import pytest
from placed import SHIFT, laid, limits, mesh, place, shape
from robot_table import python_lines
from support import joint, link, robot
from test_refusals import pasted

import nhmech
from nhmech import ModelError, Wheel
from nhmech.urdf.describe import describe
from nhmech.urdf.description import Witness
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheels.inference import find_unlisted, infer_wheels

LYING = (pi / 2, 0.0, 0.0)
Y = np.array([0.0, 1.0, 0.0])


def tyre(radius: float = 0.1, xyz=(0, 0, 0), rpy=LYING, tag="collision", length=0.04) -> str:
    return shape("cylinder", xyz, rpy, tag, radius=radius, length=length)


def rolling(name: str, x=0.0, y=0.0, z=0.1, *, radius=0.1, body=None, parent="base", shift=SHIFT,
            **more) -> str:
    """A wheel on the joint `name`."""
    return link(f"on_{name}", body=tyre(radius) if body is None else body) + joint(
        name, parent, f"on_{name}", shift + np.array((x, y, z)), **more)


PAIR = rolling("l", y=0.2) + rolling("r", y=-0.2)


def found(*parts: str):
    """Names of the wheels, and notices."""
    contacts, notices = infer_wheels(laid(link("base"), *parts))
    return [c.wheel.joint for c in contacts], notices


def refusal(*parts: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        found(*parts)
    return caught.value


# --- axles that lean ------------------------------------------------------------------------------

def leaning(sine: float, **more) -> str:
    """A wheel 0.5 ahead, its axle leaning, its lowest point 0.3 up as that of the others."""
    more = {"body": tyre(rpy=(pi / 2 + np.arcsin(sine), 0, 0)), "z": 0.1 * np.sqrt(1 - sine ** 2),
            "axis": (0, np.sqrt(1 - sine ** 2), sine)} | more
    return rolling("lean", 0.5, **more)


@pytest.mark.parametrize("sine, is_said", [(0.0199, False), (0.0201, True), (0.5, True),
                                           (0.699, True), (0.701, False)])
def test_an_axle_that_leans_is_refused_and_can_be_listed(sine, is_said):
    """From what angles are rounded by to where a joint steers."""
    if not is_said:
        names, _ = found(PAIR, leaning(sine))
        assert ("lean" in names) == (sine < 0.1)
        return
    error = refusal(PAIR, leaning(sine))
    assert f"its axle leans {np.degrees(np.arcsin(sine)):.1f} degrees" in error.text
    assert '"lean"' in error.text
    [line] = pasted(error)
    assert [(w.joint, w.radius) for w in line["wheels"]] == [("l", 0.1), ("r", 0.1), ("lean", 0.1)]


ROLLER = link("roller", body=shape("sphere", radius=0.01))


@pytest.mark.parametrize("more, is_said", [
    ({}, True),
    # as far above the plane as half its radius
    ({"z": 0.1 * sin(pi / 3) + 0.0499}, True), ({"z": 0.1 * sin(pi / 3) + 0.0501}, False),
    # limits make it an arm's, unless it is called a wheel
    ({"kind": "revolute", "more": limits(-1, 1)}, False), ({"body": ""}, False),
    ({"kind": "prismatic", "more": limits(-1, 1)}, False)])
def test_what_leans_and_could_not_stand_is_no_wheel(more, is_said):
    parts = PAIR, leaning(0.5, **more)
    assert "leans 30.0 degrees" in refusal(*parts).text if is_said else found(*parts)[0] == [*"lr"]


def test_what_leans_by_other_marks():
    """By its name with limits; not with something that moves on it, nor as a roller on a wheel."""
    named = leaning(0.5, kind="revolute", more=limits(-1, 1)).replace("on_lean", "wheel_lean")
    assert "leans" in refusal(PAIR, named).text
    assert found(PAIR, leaning(0.5), ROLLER, joint("roll", "on_lean", "roller"))[0] == [*"lr"]
    # the centre of its rim counts, wherever the joint is
    for off, is_said in ((0.0, True), (0.1, False)):
        up = np.array((0.0, sin(pi / 3), 0.5))
        body = tyre(xyz=tuple(off * up / np.linalg.norm(up)), rpy=(pi / 2 + pi / 6, 0, 0))
        parts = PAIR, leaning(0.5, body=body, z=0.1 * sin(pi / 3) + 0.004)
        assert ("leans" in refusal(*parts).text) if is_said else found(*parts)[0] == [*"lr"]
    # alone it has no plane to be compared with
    assert "leans" in refusal(leaning(0.5, z=5.0)).text


def test_mirrored_axles_have_camber_and_are_told():
    sine = sin(np.radians(5))
    parts = [rolling(name, y=side * 0.2, z=0.1 * cos(np.radians(5)),
                     body=tyre(rpy=(pi / 2 + side * np.radians(5), 0, 0)),
                     axis=(0, 1, side * sine / cos(np.radians(5))))
             for name, side in (("l", 1), ("r", -1))]
    names, notices = found(*parts)
    assert names == ["l", "r"]
    [said] = [n.text for n in notices if n.kind is NoticeKind.CAMBER]
    assert said.startswith("l, r: taken as wheels with camber") and "lean by 5 degrees" in said


# --- joints in the air ----------------------------------------------------------------------------

@pytest.mark.parametrize("heights, said", [
    ((0.0,), None), ((0.06,), "a: no wheel, because its lowest point is 0.06 m above"),
    ((0.06, 0.08), "a, b: no wheel, because their lowest points are 0.06 to 0.08 m above"),
    ((0.08, 0.08), "a, b: no wheel, because their lowest points are 0.08 m above"),
    ((-0.07,), "a: no wheel, because its lowest point is 0.07 m below"), ((0.101,), None)])
def test_what_almost_stands_is_told_with_its_height(heights, said):
    """Up to its radius; a plane of two that are called wheels is that of the wheels."""
    wheels = PAIR.replace("on_", "wheel_") + rolling("c", 0.5, 0.2).replace("on_", "wheel_")
    names, notices = found(wheels, *(rolling(name, 0.3 * (k + 1), z=0.1 + h, radius=0.1)
                                     for k, (name, h) in enumerate(zip("ab", heights))))
    told = [n for n in notices if n.kind is NoticeKind.HANDLE]
    assert [n.text for n in told] == ([] if said is None else [f"{said} the plane of the wheels"])
    assert ("a" in names) == (heights == (0.0,))


def test_what_is_called_a_wheel_is_told_wherever_it_hangs():
    spare = rolling("spare", 0.3, z=1.0).replace("on_spare", "spare_wheel")
    _, notices = found(PAIR, spare)
    assert [n.text for n in notices] == ["spare: no wheel, because its lowest point is 0.9 m above "
                                         "the plane of the wheels"]


def test_a_brush_is_told_with_the_line_by_which_it_bears():
    wheels = PAIR.replace("on_", "wheel_")
    names, notices = found(wheels, rolling("brush", 0.2, body=tyre(length=0.4)))
    assert names == ["l", "r"]
    [said] = notices
    assert said.kind is NoticeKind.HANDLE and said.text.startswith("brush: no wheel, because it is")
    assert [(w.joint, w.radius) for w in pasted(said)[0]["wheels"]] == [
        ("l", 0.1), ("r", 0.1), ("brush", 0.1)]


def test_a_steering_wheel_by_hand_is_told():
    hand = link("hand_wheel") + joint("hand", "base", "hand_wheel", (0, 0, 1), kind="revolute",
                                      more=limits(-1, 1))
    wheels = PAIR.replace("</joint>", '<mimic joint="hand"/></joint>', 1)
    _, notices = found(wheels, hand)
    assert [n.text for n in notices] == ["hand: no wheel, because nothing on it can touch the "
                                         "ground; it only leads other joints by <mimic>"]
    assert not found(wheels, hand.replace("hand_wheel", "lever"))[1]


# --- one alone ------------------------------------------------------------------------------------

VELOCITY = ('<ros2_control><joint name="w"><command_interface name="velocity"/></joint>'
            "</ros2_control>")


def test_one_alone_may_be_a_wrist():
    """On level joints, or below others that share a plane; not on an upright one."""
    arm = link("arm") + joint("elbow", "base", "arm", kind="revolute", more=limits(-1, 1))
    error = refusal(arm, rolling("w", parent="arm"))
    assert "w" in error.text and "it hangs on elbow, as a wrist does" in error.text
    assert [w.joint for w in pasted(error)[0]["wheels"]] == ["w"]
    for axis, kind in (((0, 0, 1), "revolute"), ((0, 1, 0), "prismatic")):
        arm = link("arm") + joint("elbow", "base", "arm", axis=axis, kind=kind,
                                  more=limits(-1, 1))
        assert found(arm, rolling("w", parent="arm"))[0] == ["w"]
    error = refusal(rolling("w"), VELOCITY, rolling("a", 0.3, z=0.9), rolling("b", -0.3, z=0.9))
    assert "a, b share a plane above it" in error.text
    assert [[w.joint for w in line["wheels"]] for line in pasted(error)] == [["w"], ["a", "b"]]


# --- radii that nothing tells ---------------------------------------------------------------------

BOX = shape("box", size="0.1 0.1 0.1")


def test_a_radius_is_the_height_over_the_plane_of_the_others():
    wheels = PAIR.replace("on_", "wheel_"), rolling("f", 0.5, z=0.08, body=BOX).replace(
        "on_f", "wheel_f")
    layout = laid(link("base"), *wheels)
    contacts, notices = infer_wheels(layout)
    assert contacts[2].wheel.radius == pytest.approx(0.08, rel=1e-12)
    assert contacts[2].wheel.point == (0.0, 0.0, 0.0)
    assert [n.text for n in notices if n.kind is NoticeKind.OTHER_RADIUS] == [
        "f: radius 0.08 m is only the height of its axle over the plane of the other wheels: no "
        "collision or visual shape is round about the axle"]
    assert "is the height of its axle over the plane" in str(contacts[2].reason)


def test_a_cylinder_beside_its_axle_is_shown_with_both_ways_out():
    body = tyre(xyz=(0.03, 0, 0.04))
    error = refusal(*(rolling(name, y=y, body=body).replace("on_", "wheel_")
                      for name, y in (("l", 0.2), ("r", -0.2))))
    assert ('<joint name="l">' in error.text
            and "the radius of l, r is not in the file" in error.text
            and "the cylinder of l (radius 0.1 m) lies 0.05 m beside it" in error.text
            and "the cylinder of r (radius 0.1 m) lies 0.05 m beside it" in error.text)
    assert error.remedy.python.startswith("Correct the joints' origins, or, where only the shapes")
    assert [(w.joint, w.radius) for w in pasted(error)[0]["wheels"]] == [("l", 0.1), ("r", 0.1)]
    # one of them has a box: nothing tells its radius
    error = refusal(rolling("l", y=0.2, body=body).replace("on_", "wheel_"),
                    rolling("r", y=-0.2, body=BOX).replace("on_", "wheel_"))
    assert "the cylinder of l" in error.text and "the cylinder of r" not in error.text
    [line] = pasted(error, RADIUS=0.07)
    assert [(w.joint, w.radius) for w in line["wheels"]] == [("l", 0.1), ("r", 0.07)]


def test_the_middle_of_two_equal_rims_stands_for_both():
    body = tyre(xyz=(0, 0.05, 0)) + tyre(xyz=(0, -0.02, 0))
    contacts, _ = infer_wheels(laid(link("base"), rolling("a", body=body), rolling("b", 0.4)))
    assert contacts[0].wheel.point == pytest.approx((0, 0.015, 0), abs=1e-12)


def test_where_a_radius_is_from_is_said():
    """On the rotor or what is fixed to it; and each source once, with the radius that it has."""
    hub = rolling("a", body="") + link("tyre", body=tyre()) + joint(
        "glue", "on_a", "tyre", (0, 0.05, 0), kind="fixed")
    told = ('<gazebo><plugin filename="libgazebo_ros_diff_drive.so" name="d"><left_joint>a'
            "</left_joint><right_joint>b</right_joint><wheel_radius>0.104</wheel_radius></plugin>"
            "</gazebo>")
    contacts, _ = infer_wheels(laid(link("base"), hub, rolling("b", y=-0.2), told))
    one, other = (str(c.reason) for c in contacts)
    assert one.endswith("from the coaxial collision cylinder of 'tyre', fixed to the rotor")
    assert other.endswith("from the coaxial collision cylinder of 'on_b'")
    for contact in contacts:
        facts = contact.reason.facts
        assert len({fact.witness for fact in facts}) == len(facts)
        assert [f.radius for f in facts if f.witness is Witness.ELEMENT] == [0.104]


STANDING, ASIDE = (0, 0, 0), (0, pi / 2, 0)


@pytest.mark.parametrize("body, mark, is_refused", [
    (tyre(rpy=STANDING), None, True), (tyre(rpy=STANDING, tag="visual"), None, True),
    # only drawn while something else collides, it is none
    (tyre(rpy=STANDING, tag="visual") + BOX, 0.0, False),
    # a height that confirms the radius of one that stands does; of one that lies it says nothing
    (tyre(rpy=STANDING), 0.0, False), (tyre(rpy=STANDING), 0.0089, False),
    (tyre(rpy=STANDING), 0.0095, True), (tyre(rpy=ASIDE), 0.0, True),
    (tyre(rpy=(0.79, 0, pi / 2)), 0.0, False), (tyre(rpy=(0.8, 0, pi / 2)), 0.0, True),
    # what is drawn about the axle says less than what collides across it, a picture of it more
    (tyre(rpy=STANDING) + tyre(tag="visual"), 0.0, True),
    (tyre(rpy=STANDING, tag="visual") + tyre(tag="visual"), 0.0, False)])
def test_a_cylinder_across_an_axle_makes_it_doubtful(body, mark, is_refused):
    parts = [rolling(name, y=y, body=body) for name, y in (("wheel_l", 0.2), ("wheel_r", -0.2))]
    if mark is not None:
        parts += [link("base_footprint"), place("base_footprint", (0, 0, mark))]
    if not is_refused:
        assert found(*parts)[0] == ["wheel_l", "wheel_r"]
        return
    error = refusal(*parts)
    assert "lies along" in error.text or "stands along" in error.text
    for line in pasted(error) if error.remedy else []:
        assert [(w.joint, w.radius) for w in line["wheels"]] == [("wheel_l", 0.1), ("wheel_r", 0.1)]


def test_a_cap_without_a_shape_collides_with_nothing():
    """What collides on one link of a rotor counts."""
    body = tyre(rpy=STANDING) + tyre(tag="visual")
    parts = [rolling(name, y=y, body=body) + link(f"{name}_cap")
             + joint(f"{name}_glue", f"on_{name}", f"{name}_cap", kind="fixed")
             for name, y in (("wheel_l", 0.2), ("wheel_r", -0.2))]
    assert "stands along (0 0 1)" in refusal(*parts).text


# --- the two sides of a differential drive --------------------------------------------------------

DIFF = ('<gazebo><plugin filename="libgazebo_ros_diff_drive.so" name="d"><left_joint>l</left_joint>'
        "<right_joint>r</right_joint></plugin></gazebo>")
FRONT = rolling("f", 0.7)


def sides(a, b, yaws=(0.0, 0.0), plugin=DIFF, more=""):
    return found(*(rolling(name, *at, rpy=(0, 0, yaw))
                   for name, at, yaw in zip("lr", (a, b), yaws)),
                 plugin, more)


@pytest.mark.parametrize("a, b, yaws, plugin, more, is_said", [
    ((0.2, 0), (-0.2, 0), (0, 0), DIFF, "", True), ((0, 0.2), (0, -0.2), (0, 0), DIFF, "", False),
    # one behind the other up to a fiftieth, at one height, on parallel axles
    ((0.2, 0.0039), (-0.2, -0.0039), (0, 0), DIFF, "", True),
    ((0.2, 0.0041), (-0.2, -0.0041), (0, 0), DIFF, "", False),
    ((0.2, 0, 0.1039), (-0.2, 0, 0.0961), (0, 0), DIFF, "", True),
    ((0.2, 0, 0.1041), (-0.2, 0, 0.0959), (0, 0), DIFF, "", False),
    ((0.2, 0), (-0.2, 0), (0, 0.0199), DIFF, "", True),
    ((0.2, 0), (-0.2, 0), (0, 0.0202), DIFF, "", False),
    ((0.2, 0), (-0.2, 0), (0, pi), DIFF, "", True),
    # a bicycle's, and what the plugin does not drive
    ((0.2, 0), (-0.2, 0), (0, 0), DIFF.replace("diff", "tricycle"), "", False),
    ((0.2, 0), (-0.2, 0), (0, 0), DIFF.replace(">r<", ">f<"), "", False),
    ((0.2, 0), (-0.2, 0), (0, 0), DIFF, FRONT, True)])
def test_the_sides_of_a_differential_drive_are_beside_each_other(a, b, yaws, plugin, more, is_said):
    if not is_said:
        assert {"l", "r"} <= {*sides(a, b, yaws, plugin, more)[0]}
        return
    with pytest.raises(ModelError, match="drives l, r as the two sides of a differential drive, but"
                                         " their axles lie 0.4") as caught:
        sides(a, b, yaws, plugin, more)
    assert "each points along (0 1 0)" in caught.value.text


@pytest.mark.parametrize("rpy, axis", [((0, 0, 0), (1, 0, 0)), ((0, 0, 0), (-1, 0, 0)),
                                       ((pi / 2, 0, pi / 2), (0, 0, 1)), ((0.3, 0, 0), (1, 0, 0))])
def test_the_angles_that_are_offered_turn_both_axles_to_the_left(rpy, axis):
    """For joints on the base and on a bracket that is turned, wheels behind each other along y."""
    bracket = link("bracket") + joint("b", "base", "bracket", rpy=(0.2, 0.1, 2.0), kind="fixed")
    R = pin.rpy.rpyToMatrix(0.2, 0.1, 2.0)
    own = pin.rpy.matrixToRpy(R.T @ pin.rpy.rpyToMatrix(*rpy))
    body = shape("sphere", radius=0.1)
    error = refusal(bracket, DIFF, rolling("l", 0, 0.2, body=body, rpy=rpy, axis=axis),
                    rolling("r", parent="bracket", shift=R.T @ (SHIFT + (0, -0.2, 0.1)), z=0.0,
                            body=body, rpy=tuple(own), axis=axis))
    words = error.text.partition("<origin> of ")[2].split("; ")
    for word, name, base in zip(words, "lr", (np.eye(3), R)):
        assert word.startswith(f"{name}: rpy=")
        turned = pin.rpy.rpyToMatrix(*map(float, word.split('"')[1].split()))
        np.testing.assert_allclose(base @ turned @ axis, Y, atol=2e-4)


# --- no wheel at all ------------------------------------------------------------------------------

def fixed(name: str, body: str, xyz=(0, 0, 0), kind="fixed", **more) -> str:
    return link(name, body=body) + joint(f"to_{name}", "base", name, SHIFT + xyz, kind=kind, **more)


@pytest.mark.parametrize("bodies, is_said", [
    ((tyre(), tyre()), True), ((tyre(tag="visual"), tyre(tag="visual")), True),
    ((tyre(), ""), False), ((tyre(), BOX), False),
    # off the plane by a tenth of the radius, and leaning by what roundings do
    ((tyre(), tyre(xyz=(0, 0, 0.0099))), True), ((tyre(), tyre(xyz=(0, 0, 0.0101))), False),
    ((tyre(), tyre(0.05, (0, 0, -0.05))), True),
    ((tyre(), tyre(rpy=(pi / 2 + 0.0199, 0, 0))), True),
    ((tyre(), tyre(rpy=(pi / 2 + 0.0201, 0, 0))), False),
    ((tyre(), tyre(0.0)), False), ((tyre(length=0), tyre(length=0)), True),
    # what collides decides
    ((tyre(), BOX + tyre(tag="visual")), False)])
def test_lying_cylinders_on_one_plane_look_like_wheels(bodies, is_said):
    error = refusal(*(fixed(name, body, (0, y, 0))
                      for name, body, y in zip("ab", bodies, (0.2, -0.2))))
    assert ("2 cylinders of a, b that lie on one plane look like wheels" in error.text) == is_said
    assert ("make their joints continuous" in error.text) == is_said


@pytest.mark.parametrize("off, is_said", [(0.0, True), (0.0101, False)])
def test_their_plane_is_that_of_the_shapes(off, is_said):
    """Wherever the frames of their links are."""
    error = refusal(fixed("a", tyre(), (0, 0.2, 0)),
                    fixed("b", tyre(xyz=(0, 0, off - 1)), (0, -0.2, 1)))
    assert ("2 cylinders of a, b" in error.text) == is_said


def test_lying_cylinders_of_one_body_of_the_base():
    """Two at least; of links that slide, or of the base itself, each needs a link of its own."""
    slide = dict(kind="prismatic", more=limits(-1, 1))
    three = [fixed("a", tyre(), (0, 0.2, 0)), fixed("b", tyre(), (0, -0.2, 0)),
             fixed("c", tyre(), (0.5, 0, 0), **slide)]
    assert "3 cylinders of a, b, c" in refusal(*three).text
    assert "give each a link of its own" in refusal(*three).text
    assert "make their joints continuous" in refusal(*three[:2]).text
    assert "cylinders" not in refusal(*three[1:]).text


@pytest.mark.parametrize("body, is_offered", [
    ("", True), (shape("sphere", radius=0.1), True), (tyre(), True), (tyre(rpy=(0, 0, 0)), False),
    (BOX, False), (BOX + tyre(), True), (tyre(rpy=(pi / 2 - 0.0199, 0, 0)), True),
    (tyre(rpy=(pi / 2 - 0.0201, 0, 0)), False), (tyre(rpy=(0, 0, 0), tag="visual"), False)])
def test_what_can_only_steer_may_be_a_blade(body, is_offered):
    """Where a wheel may be drawn on it, or nothing is."""
    steer = dict(kind="revolute", axis=(0, 0, 1), more=limits(-1, 1))
    error = refusal(*(fixed(f"{name}_steer", body, (x, 0, 0.2), **steer)
                      for name, x in (("front", 0.4), ("rear", -0.4))))
    assert ("to_front_steer, to_rear_steer can only steer" in str(error)) == is_offered
    if is_offered:
        [line] = pasted(error, HEIGHT=-0.33)
        height = -0.1 if body else -0.33
        assert [(w.kind, w.link, w.point) for w in line["wheels"]] == [
            ("blade", f"{name}_steer", (0.0, 0.0, height)) for name in ("front", "rear")]
        asked = " with HEIGHT the contact's height in the link's frame"
        assert error.remedy.python.endswith(asked) == (not body)
        # of one, nothing tells
        error = refusal(fixed("front_steer", body, (0.4, 0, 0.2), **steer),
                        fixed("rear_steer", "", (-0.4, 0, 0.2), **steer))
        assert error.remedy.python.endswith(asked)
    # what carries a joint is a leg or an arm
    carried = link("more") + joint("m", "front_steer", "more", kind="prismatic",
                                   more=limits(-1, 1))
    error = refusal(fixed("front_steer", "", (0.4, 0, 0.2), **steer), carried)
    assert "can only steer" not in str(error)


@pytest.mark.parametrize("yaw", [0.0, 0.5])
@pytest.mark.parametrize("roll", [0.0, pi])
def test_the_blade_that_is_offered_holds_across_the_base(roll, yaw):
    """In the frame of its link; where the lowest of its shapes touches, or the footprint is."""
    steer = dict(kind="revolute", axis=(0, 0, 1), more=limits(-1, 1), rpy=(roll, 0, yaw))
    body = shape("sphere", (0.01, 0.02, 0.03), radius=0.05) + shape("sphere", (0, 0, 0),
                                                                  radius=0.06)
    error = refusal(fixed("a_steer", body, **steer), fixed("b_steer", "", (0, 0, 0.4), **steer),
                    link("base_footprint") + place("base_footprint", (0, 0, -0.2)))
    [line] = pasted(error)
    R = pin.rpy.rpyToMatrix(roll, 0.0, yaw)
    one, other = line["wheels"]
    for blade in (one, other):
        np.testing.assert_allclose(R @ blade.axis, Y, atol=1e-4)
    down = R.T @ (0, 0, -1.0)
    at = max((np.array((0.01, 0.02, 0.03)) + 0.05 * down, 0.06 * down), key=lambda p: p @ down)
    np.testing.assert_allclose(one.point, at, atol=1e-6)
    np.testing.assert_allclose(other.point, 0.6 * down, atol=1e-6)


@pytest.mark.parametrize("sine, height", [(0.0199, -0.2), (0.0201, -0.06)])
def test_a_cylinder_that_stands_does_not_touch_as_a_wheel(sine, height):
    body = shape("sphere", radius=0.06) + tyre(0.2, rpy=(pi / 2 - np.arcsin(sine), 0, 0))
    error = refusal(fixed("a_steer", body, kind="revolute", axis=(0, 0, 1), more=limits(-1, 1)))
    assert pasted(error)[0]["wheels"][0].point == pytest.approx((0, 0, height), abs=1e-9)


def test_upright_joints_that_are_called_wheels_are_named():
    """Without a shape that lies, or with one: then their axes are meant otherwise."""
    turn = dict(kind="continuous", axis=(0, 0, 1))
    error = refusal(fixed("a_wheel", "", (0, 0.2, 0), **turn),
                    fixed("b_wheel", "", (0, -0.2, 0), **turn))
    assert "(to_a_wheel, to_b_wheel: named wheel, but its axis is not horizontal)" in error.text
    error = refusal(fixed("a_wheel", tyre(), (0, 0.2, 0), **turn),
                    fixed("b_wheel", tyre(), (0, -0.2, 0), **turn))
    assert "If they steer a wheel drawn in one piece" in error.text


def test_free_level_joints_are_offered_with_the_radii_that_there_are():
    slip = ('<gazebo><plugin filename="x" name="y"><wheel link_name="on_a"><wheel_radius>0.25'
            "</wheel_radius></wheel></plugin></gazebo>")
    error = refusal(rolling("a", 0.3, body=BOX), rolling("b", body=BOX), slip)
    [line] = pasted(error, RADIUS=0.07)
    assert [(w.joint, w.radius) for w in line["wheels"]] == [("a", 0.25), ("b", 0.07)]
    assert error.remedy.python.endswith("with RADIUS the distance from the axle to the ground in "
                                        "metres")
    # of arms, which have limits, none
    arms = rolling("a", body=BOX, kind="revolute", more=limits(-1, 1))
    assert refusal(arms).remedy is None


def ring(tmp_path, name: str, off) -> str:
    """A mesh that is round about a line along y through `off`."""
    a = np.linspace(0, 2 * pi, 73)[:-1]
    points = np.concatenate([np.column_stack([0.1 * np.sin(a), np.full(72, y), 0.1 * np.cos(a)])
                             for y in (-0.02, 0.02)])
    return mesh(tmp_path / f"{name}.stl", points + off)


def test_a_mesh_beside_its_joint_says_where_the_joint_belongs(tmp_path):
    off = np.array((0.3, 0.05, -0.4))
    error = refusal(rolling("w", body=ring(tmp_path, "tyre", off), rpy=(0, 0, 0.3)))
    assert "its axis is 0.5 m beside its wheel: the mesh 'tyre.stl' is round" in error.text
    origin = np.array(error.text.partition('xyz="')[2].partition('"')[0].split(), float)
    np.testing.assert_allclose(origin, SHIFT + (0, 0, 0.1) + pin.rpy.rpyToMatrix(0, 0, 0.3) @ (
        off * (1, 0, 1)), atol=1e-4)
    assert "add (-0.3 0 0.4) to each" in error.text


def test_a_ball_that_joints_turn_every_way_is_offered():
    ball = shape("box", size="0.01 0.01 0.01") + shape("sphere", radius=0.12)
    error = refusal(link("x"), joint("roll", "base", "x", axis=(1, 0, 0)),
                    link("ball", body=ball), joint("pitch", "x", "ball"))
    assert "If it rolls on the ball 'ball'" in error.remedy.python
    assert "free=['roll', 'pitch']" in error.remedy.python and "0.12" in error.remedy.python


VELOCITY = ('<ros2_control name="c" type="system"><joint name="swing"><command_interface '
            'name="velocity"/></joint></ros2_control>')
BOB = shape("sphere", (0, 0, -0.1), radius=0.05)


@pytest.mark.parametrize("more", [
    (link("bob", com=(0, 0, -0.1)), joint("swing", "shell", "bob")),
    (link("bob", body=BOB), joint("swing", "shell", "bob", (0, 0, 0.05))),
    (link("bob", body=BOB), joint("swing", "shell", "bob", axis=(0, 0, 1))),
    (link("yoke"), joint("turn", "shell", "yoke", axis=(0, 0, 1)), link("bob", body=BOB),
     joint("swing", "yoke", "bob")),
    (link("bob"), joint("swing", "shell", "bob"), VELOCITY)])
def test_a_ball_with_a_pendulum_in_it_is_offered(more):
    """The line is tried: a ball has 3 speeds, and each joint 1."""
    text = robot(link("shell", body=shape("sphere", radius=0.2)), *more)
    with pytest.raises(ModelError, match="If it rolls on the ball 'shell'") as caught:
        describe(text)
    cure = next(python_lines(caught.value.remedy))
    assert cure["wheels"] == [Wheel(None, "sphere", 0.2, link="shell")]
    assert len(nhmech.load(text, **cure).speeds) == 3 + len(more) // 2


@pytest.mark.parametrize("name, at", [("left_wheel", (0, 0.1, 0)), ("part", (0, 0.3, 0))])
def test_what_hangs_on_a_ball_may_be_a_wheel(name, at):
    """Outside the ball, or called so."""
    text = robot(link("shell", body=shape("sphere", radius=0.2)), link(name),
                 joint("j", "shell", name, at))
    with pytest.raises(ModelError, match="wheels=.Wheel\\('j', 'disc', RADIUS") as caught:
        describe(text)
    assert "ball" not in str(caught.value)


# --- wheels that were left out --------------------------------------------------------------------

@pytest.mark.parametrize("locked, given, said", [
    ((), (), None), (("l",), ("l",), None), (("l",), (), "l"), (("l", "r", "arm"), (), "l, r"),
    (("l", "r"), ("r",), "l")])
def test_wheels_that_are_left_out_of_a_list_are_told(locked, given, said):
    layout = laid(link("base"), PAIR, rolling("f", 0.5))
    contacts, _ = infer_wheels(layout)
    for count, were in ((1, "f was"), (2, "r, f were")):
        wheels = [c.wheel for c in contacts][-count:]
        told = find_unlisted(layout, wheels, locked, given)
        assert [n.text for n in told] == ([] if said is None else [
            f"{said}: would be found as wheels, but only {were} listed; they are locked and touch "
            "nothing"])
