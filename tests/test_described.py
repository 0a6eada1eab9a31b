"""From a file to a description: whose word counts, in which order notices come, and what is said
where nothing stands."""

from __future__ import annotations

from fractions import Fraction
from math import inf, pi
from types import SimpleNamespace

import numpy as np
import own_robots
import pinocchio as pin
import pytest
from placed import limits, shape
from support import joint, link, robot

from nhmech import InputError, ModelError, Wheel
from nhmech.urdf.describe import describe
from nhmech.urdf.description import MidAxle, Released
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.upright import advise_upright

TYRE = shape("cylinder", rpy=(pi / 2, 0, 0), radius=0.1, length=0.02)
ARM = link("arm") + joint("a", "base", "arm", (0, 0, 0.3), kind="revolute", more=limits(-1, 1))


def cart(*more: str, wheels=(("l", 0.0, 0.2), ("r", 0.0, -0.2)), ball: bool = True) -> str:
    parts = [link("base", 5, com=(-0.1, 0, 0))]
    for name, x, y in wheels:
        parts += [link(f"{name}_wheel", body=TYRE), joint(name, "base", f"{name}_wheel", (x, y, 0))]
    if ball:
        parts += [link("foot", body=shape("sphere", radius=0.03)),
                  joint("f", "base", "foot", (-0.3, 0, -0.07), kind="fixed")]
    return robot(*parts, ARM, *more)


def tag(*lines: str) -> str:
    return f"<nhmech>{''.join(lines)}</nhmech>"


HELD = tag('<lock joint="a" position="0.5"/>')
FREED = tag('<free joint="a"/>')


@pytest.mark.parametrize("more, words, free, locked", [
    ("", {}, (), 0.0), (HELD, {}, (), 0.5), (FREED, {}, ("a",), None),
    (HELD, {"locked": {"a": 0.2}}, (), 0.2), (HELD, {"free": ["a"]}, ("a",), None),
    (FREED, {"locked": {"a": 0.2}}, (), 0.2), (FREED, {"free": "a"}, ("a",), None),
    ("", {"locked": {"a": Fraction(1, 4)}}, (), 0.25), ("", {"locked": None}, (), 0.0),
    ("", {"locked": {"a": np.float32(0.5)}}, (), 0.5)])
def test_arguments_go_before_what_the_file_says(more, words, free, locked):
    description = describe(cart(more), **words)
    assert description.free == free
    assert description.locked == ({} if locked is None else {"a": locked})
    held = [n for n in description.notices if n.kind is NoticeKind.HELD]
    assert len(held) == (not more and not words.get("locked"))


def test_angles_above_given_wheels_are_right_ones():
    """Also above a ball that no joint rolls, and not above what was left out."""
    rounded = [link(name, body=shape("sphere", radius=0.03)) + joint(
        f"{name}_joint", "base", name, (-0.3, y, -0.07), (1.57, 0, 0), kind="fixed")
        for name, y in (("near", 0.1), ("far", -0.1))]
    wheels = [Wheel("l", "disc", 0.1), Wheel("r", "disc", 0.1),
              Wheel(None, "caster_ball", 0.03, link="near")]
    description = describe(cart(*rounded, ball=False), wheels=wheels)
    (said,) = [n.text for n in description.notices if n.kind is NoticeKind.ROUNDED_ANGLES]
    assert said.startswith("near_joint: angles rounded")


@pytest.mark.parametrize("words, kind, match", [
    ({"repair": 1}, InputError, "repair = 1 must be True or False"),
    ({"locked": ["a"]}, InputError, "must map joint names to positions"),
    ({"locked": {"a": True}}, InputError, "position True of 'a' must be a finite number"),
    ({"locked": {"a": inf}}, InputError, "position inf of 'a'"),
    ({"locked": {"a": "0"}}, InputError, "position '0' of 'a'"),
    ({"speeds": [3]}, InputError, "speeds"), ({"free": [3]}, InputError, "free"),
    ({"locked": {"b": 0.0}}, InputError, "the joints to lock: joint 'b' does not exist"),
    ({"wheels": [Wheel("b", "disc", 0.1)]}, InputError, "the wheels given: joint 'b'"),
    ({"skid": "b"}, InputError, "skid: 'b' is neither"), ({"skid": -1}, InputError, "skid")])
def test_wrong_arguments_are_told_by_name(words, kind, match):
    with pytest.raises(kind, match=match):
        describe(cart(), **words)


@pytest.mark.parametrize("lines, match", [
    ('<lock joint="b"/>', "^<nhmech>: joint 'b' does not exist"),
    ('<wheel joint="b" radius="0.1"/>', "^<nhmech>: joint 'b' does not exist"),
    ('<free joint="b"/>', "^<nhmech>: joint 'b' does not exist"),
    ('<skid free="b"/>', "^<nhmech>: 'b' is neither")])
def test_what_the_file_says_wrongly_is_told_as_its_own(lines, match):
    with pytest.raises(ModelError, match=match):
        describe(cart(tag(lines)))


FOUR = (("a1", 0.3, 0.2), ("a2", 0.3, -0.2), ("a3", -0.3, 0.2), ("a4", -0.3, -0.2))


def test_skids_and_speeds_of_arguments_file_and_convention():
    said = tag('<skid track_factor="1.5"/>', "<speeds>x y</speeds>")
    assert describe(cart(wheels=FOUR, ball=False)).skid == MidAxle()
    found = describe(cart(said, wheels=FOUR, ball=False))
    assert found.skid == MidAxle(1.5) and found.speeds == ("x", "y")
    assert found.notices[0].kind is not NoticeKind.SKID
    mine = describe(cart(said, wheels=FOUR, ball=False), skid=["a1", "a2"], speeds=["z"])
    assert mine.skid == Released(("a1", "a2")) and mine.speeds == ("z",)
    # tyres slip by themselves
    tyred = describe(cart(said, wheels=FOUR, ball=False), tyres="robot_rubber")
    assert tyred.skid is None and {w.law for w in tyred.wheels} == {"tyre"}
    assert describe(cart(), speeds=None).speeds is None


def test_wheels_of_the_file_are_taken_and_others_told():
    listed = tag('<wheel joint="l" radius="0.1"/>')
    description = describe(cart(listed))
    assert [w.name for w in description.wheels] == ["l"] and description.locked["r"] == 0.0
    [said] = [n for n in description.notices if n.kind is NoticeKind.UNLISTED_WHEEL]
    assert said.text.startswith("r: would be found as wheels, but only l was listed")
    mine = describe(cart(listed), wheels=[Wheel("r", "disc", 0.1)], locked={"l": 0.0})
    assert [w.name for w in mine.wheels] == ["r"]
    assert not [n for n in mine.notices if n.kind is NoticeKind.UNLISTED_WHEEL]
    # heights of those that are given are told, of those that are found refused
    high = [Wheel("l", "disc", 0.1), Wheel("r", "disc", 0.08)]
    assert NoticeKind.OFF_PLANE in {n.kind for n in describe(cart(), wheels=high).notices}


def test_missing_meshes_are_told_once_and_links_have_their_file(tmp_path):
    seen = '<visual><geometry><mesh filename="package://lost/a.stl"/></geometry></visual>'
    file = tmp_path / "r.urdf"
    file.write_text(cart(link("top", body=seen), joint("t", "base", "top", kind="fixed")))
    description = describe(file)
    [said] = [n for n in description.notices if n.kind is NoticeKind.MISSING_MESH]
    assert said.text.startswith("1 of 1 mesh files") and description.path == file.resolve()
    assert (description.name, description.root) == ("rig", "base")
    assert set(description.reasons) == {w.name for w in description.wheels} == {"l", "r", "foot"}


@pytest.mark.parametrize("rpy, up", [((pi / 2, 0, 0), "-y"), ((-pi / 2, 0, 0), "y"),
                                     ((pi / 2, 0, pi / 2), "x"),
                                     ((pi / 2, 0, -pi / 2), "-x"), ((0, 0, 0.3), None)])
def test_a_root_that_lies_on_its_side_is_told_which_axis_is_up(rpy, up):
    """With the line that cures it; not to who has the file mended."""
    text = robot('<link name="map"/>', joint("up", "map", "base", rpy=rpy, kind="fixed"),
                 cart().partition(">")[2].removesuffix("</robot>"))
    if up is None:
        assert len(describe(text).wheels) == 3
        return
    with pytest.raises(ModelError, match=f"It stands if {up} of 'map' is up") as caught:
        describe(text)
    assert caught.value.remedy is None
    turned = caught.value.text.partition('rpy="')[2].partition('"')[0]
    cured = text.replace('<link name="map"/>', '<link name="own"/><link name="map"/>' + joint(
        "carry", "own", "map", rpy=tuple(map(float, turned.split())), kind="fixed"))
    assert len(describe(cured).wheels) == 3
    with pytest.raises(ModelError) as caught:
        describe(text, repair=True)
    assert "It stands if" not in caught.value.text


def test_only_wheels_that_were_found_may_change_their_kind():
    """Into those that friction in the file tells of."""
    robot_ = own_robots.text("mecanum")
    found = describe(robot_)
    assert {w.kind for w in found.wheels} == {"mecanum"}
    listed = [Wheel(w.joint, "disc", w.radius) for w in found.wheels]
    assert {w.kind for w in describe(robot_, wheels=listed).wheels} == {"disc"}


def test_only_joints_that_carry_wheels_have_their_angles_rounded():
    """Those that were given, on a joint or a link, or else those that could roll."""
    text = cart().replace('rpy="0 0 0"', 'rpy="0 0 3.14"')

    def rounded(**words) -> set[str]:
        found = [n.text for n in describe(text, **words).notices
                 if n.kind is NoticeKind.ROUNDED_ANGLES]
        return {name for said in found for name in said.partition(":")[0].split(", ")}
    ball = Wheel(None, "caster_ball", 0.03, link="foot")
    assert rounded() == {"l", "r"}
    assert rounded(wheels=[Wheel("l", "disc", 0.1), ball], locked={"r": 0.0}) == {"l", "f"}
    assert rounded(wheels=[Wheel("r", "disc", 0.1)], locked={"l": 0.0}) == {"r"}


@pytest.mark.parametrize("wheels, upright", [
    (("front", "l", "r"), True), (("front", "l"), False)])
def test_steering_that_leans_is_made_upright_from_three_contacts_on(wheels, upright):
    fork = (link("fork") + joint("steer", "base", "fork", (0.5, 0, 0.1), kind="revolute",
                                 axis=(-0.1, 0, 1), more=limits(-1, 1))
            + link("front_wheel", body=TYRE) + joint("front", "fork", "front_wheel", (0, 0, -0.1)))
    description = describe(cart(fork, ball=False), wheels=[Wheel(n, "disc", 0.1) for n in wheels],
                           locked={} if upright else {"r": 0.0})
    assert "steer" in description.steering
    assert (NoticeKind.LEANING_STEERING in {n.kind for n in description.notices}) == upright


def advise(*stands: str, notices=(), error=None) -> tuple[str, list[str]]:
    """The advice about a root that stands with these of its axes up, and all that was tried."""
    tried = []

    def attempt(rpy: str):
        R = pin.rpy.rpyToMatrix(*map(float, rpy.split()))
        up = np.round(R.T @ (0, 0, 1), 3)             # which of the root's axes
        k = int(np.argmax(np.abs(up)))
        tried.append("-" * bool(up[k] < 0) + "xyz"[k])
        np.testing.assert_allclose(np.abs(up), np.eye(3)[k], atol=1e-3)
        if tried[-1] not in stands:
            raise error or ModelError("odd")
        return SimpleNamespace(notices=[SimpleNamespace(kind=kind) for kind in notices])
    return advise_upright("r", attempt), tried


@pytest.mark.parametrize("up", ["x", "-x", "y", "-y", "-z"])
def test_the_axis_with_which_alone_a_root_stands_is_told_with_its_rpy(up):
    """Each other axis is tried, with either of the two positive ones across it ahead."""
    text, tried = advise(up)
    assert text.startswith(f". It stands if {up} of 'r' is up, and z of a root has to be: let a ")
    assert sorted(tried) == sorted(2 * ["x", "-x", "y", "-y", "-z"])
    R = pin.rpy.rpyToMatrix(*map(float, text.partition('rpy="')[2].partition('"')[0].split()))
    axis = np.eye(3)["xyz".index(up[-1])] * (-1 if "-" in up else 1)
    np.testing.assert_allclose(R @ axis, (0, 0, 1), atol=1e-3)
    assert advise(up, notices=[NoticeKind.SKID])[0] == text
    for doubt in (NoticeKind.FREE_PITCH, NoticeKind.ROLLS_SIDEWAYS, NoticeKind.NO_SUPPORT,
                  NoticeKind.NO_ROLLING, NoticeKind.HANDLE, NoticeKind.UPSIDE_DOWN):
        assert advise(up, notices=[NoticeKind.SKID, doubt])[0] == ""


def test_a_root_that_stands_with_several_axes_or_none_gets_no_advice():
    assert advise()[0] == advise("x", "-x")[0] == advise("z")[0] == ""
    with pytest.raises(KeyError):
        advise(error=KeyError("a mistake of ours"))
