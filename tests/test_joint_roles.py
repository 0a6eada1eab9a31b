"""What each joint is for, decision by decision: a layout, the wheels on it, and what is asked."""

from __future__ import annotations

from math import inf

import pytest
from placed import laid, limits
from support import joint, link

from nhmech import InputError, ModelError, Wheel
from nhmech.urdf.description import Mimic
from nhmech.urdf.joint_properties import read_limits
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheels.roles import (
    Roles,
    assign_roles,
    choose_driven,
    couple,
    report_held,
    report_leaning,
)

RANGE = limits(-1, 1)
OTHERS = link("left"), link("right"), joint("l", "base", "left", (0, 0.2, 0)), joint(
    "r", "base", "right", (0, -0.2, 0))
ARM = link("arm") + joint("arm_joint", "base", "arm", (0, 0, 0.3), kind="revolute",
                          more=limits(0.2, 1))
SLIDE = link("slide") + joint("slide_joint", "base", "slide", axis=(0, 0, 1), kind="prismatic",
                              more=limits(-0.1, 0.1))
PLATE = link("plate") + joint("plate_joint", "base", "plate", kind="fixed")


def wheel(name: str, **more) -> Wheel:
    return Wheel(name, radius=0.1, axis=(0, 1, 0), point=(0, 0, 0), **more)


def below(name: str, x: float, y: float = 0.0, more: str = RANGE, axis=(0, 0, 1),
          kind="revolute", **wheel) -> str:
    """A wheel `name` below the joint `name`_steer."""
    return (link(f"{name}_fork") + joint(f"{name}_steer", "base", f"{name}_fork", (x, y, 0),
                                         axis=axis, kind=kind, more=more)
            + link(f"{name}_wheel") + joint(name, f"{name}_fork", f"{name}_wheel", **wheel))


def tricycle(*more: str, steering: str = RANGE):
    """Two wheels, `l` and `r`, before which `f` is steered."""
    return laid(link("base"), *OTHERS, below("f", 0.6, more=steering), *more), [
        wheel("l"), wheel("r"), wheel("f")]


# --- roles ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("steering, free, locked, expected, told", [
    (RANGE, (), {}, (("f_steer",), (), {"arm_joint": 0.2, "slide_joint": 0.0}), 0),
    (limits(0.1, 0.1), (), {}, ((), (), {"f_steer": 0.1, "arm_joint": 0.2, "slide_joint": 0.0}), 1),
    (limits(0.1, 0.1), ("f_steer",), {}, (("f_steer",), (), {"arm_joint": 0.2, "slide_joint": 0.0}),
     0),
    (RANGE, (), {"f_steer": 0.3, "arm_joint": 0.5},
     ((), (), {"f_steer": 0.3, "arm_joint": 0.5, "slide_joint": 0.0}), 0),
    (RANGE, ("slide_joint", "l", "f_steer", "slide_joint"), {},
     (("f_steer",), ("slide_joint",), {"arm_joint": 0.2}), 0)])
def test_every_moving_joint_has_one_role(steering, free, locked, expected, told):
    """Also if it is asked for twice, or is free by itself; what cannot move has none."""
    layout, wheels = tricycle(ARM, SLIDE, PLATE, steering=steering)
    ball = Wheel(None, "caster_ball", 0.05, link="plate", point=(0, 0, 0))
    roles, notices = assign_roles(layout, [*wheels, ball], free, locked)
    assert (roles.rolling, roles.steering, roles.free, roles.locked) == (("l", "r", "f"), *expected)
    assert [n.kind for n in notices] == [NoticeKind.LOCKED_STEERING] * told
    assert all("its limits are both 0.1; it is locked" in n.text for n in notices)
    assert roles.moving == (*roles.rolling, *roles.steering, *roles.free)


@pytest.mark.parametrize("free, locked, word", [
    (("nobody",), {}, "joint 'nobody' does not exist"), ((), {"nobody": 0.0}, "does not exist"),
    (("plate_joint",), {}, "is fixed and cannot move"),
    ((), {"plate_joint": 0.0}, "is fixed and cannot move"),
    ((), {"l": 0.0}, "'l' is the rolling joint of a wheel"),
    (("arm_joint",), {"arm_joint": 0.5}, "both free and locked"),
    ((), {"arm_joint": 0.19}, "position 0.19 of 'arm_joint' is outside its limits 0.2 .. 1"),
    ((), {"arm_joint": 1.01}, "position 1.01 of 'arm_joint' is outside its limits 0.2 .. 1")])
def test_what_cannot_be_free_or_locked_is_an_error_of_who_says_it(free, locked, word):
    layout, wheels = tricycle(ARM, PLATE)
    with pytest.raises(InputError, match=word):
        assign_roles(layout, wheels, free, locked)
    with pytest.raises(ModelError, match=word):
        assign_roles(layout, wheels, free, locked, {*free, *locked})
    for end in (0.2, 1.0):
        assert assign_roles(layout, wheels, (), {"arm_joint": end})[0].locked["arm_joint"] == end


@pytest.mark.parametrize("locked, given, said", [
    ({}, (), None), ({"a": 0.0}, {"a"}, None),
    ({"a": 0.0}, (), "1 joint that rolling does not need is held at zero: a"),
    ({"a": 0.0, "b": 0.0}, (), "2 joints that rolling does not need are held at zero: a, b"),
    ({"a": 0.0, "b": 1.0, "c": -2.0}, {"c"},
     "2 joints that rolling does not need are held at zero (1 at the limit nearest to it, or "
     "where <mimic> puts them): a, b")])
def test_what_is_held_without_a_word_of_the_user_is_told(locked, given, said):
    assert [n.text for n in report_held(Roles((), (), (), locked), given)] == [said] * bool(said)


@pytest.mark.parametrize("given, said", [
    ((), "front, rear: held"), (("front",), "rear: held"), (("front", "rear"), None)])
def test_trucks_that_lean_and_are_held_are_told(given, said):
    """Unless the user holds them, or all wheels are above."""
    parts, wheels = [link("base"), link("deck")], []
    parts.append(joint("tilt", "base", "deck", axis=(1, 0, 0), kind="revolute", more=RANGE))
    for name, x in (("front", 0.3), ("rear", -0.3)):
        parts += [link(f"{name}_truck"), link(f"{name}_wheel"),
                  joint(name, "deck", f"{name}_truck", (x, 0, 0), axis=(0.8, 0, 0.6),
                        kind="revolute", more=RANGE),
                  joint(f"{name}_roll", f"{name}_truck", f"{name}_wheel")]
        wheels.append(wheel(f"{name}_roll"))
    layout = laid(*parts)
    roles = Roles(("front_roll", "rear_roll"), (), (), {"front": 0.0, "rear": 0.0, "tilt": 0.0})
    notices = report_leaning(layout, wheels, roles, given)
    assert [n.kind for n in notices] == [NoticeKind.LEANING_STEERING] * (said is not None)
    assert all(n.text.startswith(said) for n in notices)
    # what is not held steers
    steering = Roles(roles.rolling, ("front", "rear"), (), {"tilt": 0.0})
    assert report_leaning(layout, wheels, steering, given) == []


# --- <mimic> --------------------------------------------------------------------------------------

def follower(name: str, leader: str, **numbers: float) -> str:
    """An arm that follows a joint."""
    words = " ".join(f'{key}="{value}"' for key, value in numbers.items())
    return link(name) + joint(f"{name}_joint", "base", name, kind="revolute",
                              more=f'{RANGE}<mimic joint="{leader}" {words}/>')


CHAIN = (ARM, follower("b", "arm_joint", multiplier=2, offset=0.1), follower("c", "b_joint"))


def coupled(*parts: str, free=(), locked=None):
    layout, wheels = tricycle(*parts)
    locked = locked or {}
    roles, _ = assign_roles(layout, wheels, free, locked)
    return couple(layout, roles, locked, wheels)


def test_followers_are_held_where_their_leaders_put_them():
    """Down a chain that the file has in the other order; but for what the user holds."""
    for chain in (CHAIN, CHAIN[::-1]):
        roles, rows, notices = coupled(*chain)
        assert roles.locked == pytest.approx({"arm_joint": 0.2, "b_joint": 0.5, "c_joint": 0.5})
        assert not rows and not notices
    roles, *_ = coupled(*CHAIN, locked={"b_joint": 0.3})
    assert roles.locked == pytest.approx({"arm_joint": 0.2, "b_joint": 0.3, "c_joint": 0.3})


def test_followers_of_what_is_free_are_freed_and_follow():
    for chain in (CHAIN, CHAIN[::-1]):
        roles, rows, notices = coupled(*chain, free=("arm_joint",))
        assert {*roles.free} == {"arm_joint", "b_joint", "c_joint"} and not roles.locked
        assert {*rows} == {Mimic("b_joint", "arm_joint", 2.0, 0.1),
                           Mimic("c_joint", "b_joint", 1.0, 0.0)}
        assert {n.text for n in notices} == {
            "b_joint: is free because it mimics arm_joint, which is free",
            "c_joint: is free because it mimics b_joint, which is free"}
        assert {n.kind for n in notices} == {NoticeKind.FREED_FOLLOWER}
    roles, rows, _ = coupled(*CHAIN, free=("arm_joint",), locked={"b_joint": 0.3})
    assert roles.free == ("arm_joint",) and roles.locked == {"b_joint": 0.3, "c_joint": 0.3}
    assert not rows


def test_a_follower_alone_is_free_of_a_leader_that_does_not_move():
    roles, rows, notices = coupled(ARM, follower("b", "arm_joint"), free=("b_joint",))
    assert roles.free == ("b_joint",) and not rows
    assert [(n.kind, n.text) for n in notices] == [
        (NoticeKind.DROPPED_MIMIC, "b_joint: its <mimic> of arm_joint is dropped, because "
                                   "arm_joint does not move")]
    # of a joint that steers it follows
    _, rows, notices = coupled(follower("b", "f_steer"), free=("b_joint",))
    assert rows == (Mimic("b_joint", "f_steer"),) and not notices


LINK = f'{RANGE}<mimic joint="f_steer" multiplier="{{}}" offset="{{}}"/>'
HELD = "dropped on rolling and steering joints; rolling itself couples them"
MEET, BESIDE = "axles of steered wheels have to meet in one point", "beside each other"
DIAGONAL, BEHIND = "at a diagonal", "one behind the other"


@pytest.mark.parametrize("x, y, multiplier, offset, more, reason", [
    (-0.4, 0.0, -1.0, 0.0, {}, None), (-0.4, 0.0, 1.0, 0.0, {}, None),
    # up to a thousandth of the distance to the side, and turned by as much
    (-1.4, 1.999e-3, 1.0, 0.0, {}, None), (-1.4, 2.001e-3, 1.0, 0.0, {}, DIAGONAL),
    (-0.4, 0.0, 1.0, 0.0, {"axis": (9.99e-4, 0, 1)}, None),
    (-0.4, 0.0, 1.0, 0.0, {"axis": (1.001e-3, 0, 1)}, BEHIND),
    (-0.4, 0.0, 1.01, 0.0, {}, BEHIND), (-0.4, 0.0, 1.0, 0.01, {}, BEHIND),
    (0.6 + 0.4e-3, -0.4, 1.0, 0.0, {}, BESIDE), (0.6 + 0.5e-3, -0.4, 1.0, 0.0, {}, DIAGONAL),
    # trailing its axis it swings, and asks for nothing
    (-0.4, 0.0, 1.0, 0.0, {"xyz": (-0.2, 0, 0), "kind": "continuous"}, BEHIND)])
def test_front_and_rear_are_linked_where_one_is_behind_the_other(x, y, multiplier, offset, more,
                                                                 reason):
    """At equal or opposite angles, and where all wheels are steered."""
    trails = {"xyz": more.pop("xyz")} if "xyz" in more else {}
    front, rear = below("f", 0.6), below("g", x, y, LINK.format(multiplier, offset), **more,
                                         **trails)
    layout, wheels = laid(link("base"), front, rear), [wheel("f"), wheel("g")]
    roles, _ = assign_roles(layout, wheels, (), {})
    _, rows, notices = couple(layout, roles, {}, wheels)
    if reason is None:
        assert [(m.joint, m.leader, m.multiplier) for m in rows] == [
            ("g_steer", "f_steer", multiplier)] and not notices
        # a wheel that nothing steers says where the robot turns
        layout, wheels = laid(link("base"), front, rear, *OTHERS), [*wheels, wheel("l")]
        roles, _ = assign_roles(layout, wheels, (), {})
        _, rows, notices = couple(layout, roles, {}, wheels)
        reason = BEHIND
    assert not rows
    (said,) = notices
    assert said.kind is NoticeKind.DROPPED_MIMIC and said.text.startswith("g_steer: <mimic> is")
    assert HELD in said.text and MEET in said.text and reason in said.text
    assert sum(one in said.text for one in (BESIDE, DIAGONAL, BEHIND)) == 1


def test_of_three_in_line_one_link_is_kept():
    """The others follow from it, or contradict it."""
    follow = LINK.format(1.0, 0.0)
    layout = laid(link("base"), below("f", 0.6), below("g", -0.4, more=follow),
                  below("h", -0.8, more=follow))
    wheels = [wheel(name) for name in "fgh"]
    roles, _ = assign_roles(layout, wheels, (), {})
    _, rows, (said,) = couple(layout, roles, {}, wheels)
    assert [m.joint for m in rows] == ["g_steer"] and said.text.startswith("h_steer: <mimic> is")


# --- who drives -----------------------------------------------------------------------------------

def told(*names: str, tag: str = "ros2_control") -> str:
    if tag == "gazebo":
        return "".join('<gazebo><plugin filename="gz-sim-joint-controller" name="p"><joint_name>'
                       f"{name}</joint_name></plugin></gazebo>" for name in names)
    command = '<command_interface name="velocity"/>' if tag == "ros2_control" else ""
    inside = "".join(f'<joint name="{name}">{command}</joint>' for name in names)
    return f"<{tag}>{inside}</{tag}>"


def plugin(name: str, **tags: str) -> str:
    inside = "".join(f"<{tag}>{joint}</{tag}>" for tag, joint in tags.items())
    return f'<gazebo><plugin filename="{name}" name="p">{inside}</plugin></gazebo>'


USUAL = ("convention, since the file does not say: the steering, and the wheels that nothing "
         "steers (all where all are steered), casters excepted")
DIFF, TRI, ACKERMANN = (f"libgazebo_ros_{name}_drive.so" for name in ("diff", "tricycle",
                                                                     "ackermann"))
HARDWARE = "and the steering, of which nothing is said there"


@pytest.mark.parametrize("more, driven, origin", [
    ("", "l r f_steer", USUAL),
    (told("f", "f_steer"), "f f_steer", "<ros2_control>"),
    (told("f", "f_steer", tag="transmission"), "f f_steer", "<transmission>"),
    # the first that names a wheel is believed of wheels, and all of what else has a motor
    (told("f") + told("l", "r", "f_steer", tag="transmission"), "f f_steer",
     "<ros2_control>, <transmission>"),
    (told("l", "r", tag="transmission") + told("f"), "f f_steer", f"<ros2_control>, {HARDWARE}"),
    (plugin(DIFF, left_joint="l", right_joint="r") + told("f", tag="gazebo"), "l r",
     f"the plugin {DIFF}"),
    (told("f", "f_steer", tag="gazebo"), "f f_steer", "<gazebo>"),
    (told("l", "r", tag="transmission"), "l r f_steer", f"<transmission>, {HARDWARE}"),
    (told("l", "r") + told("nobody", tag="gazebo"), "l r f_steer", f"<ros2_control>, {HARDWARE}"),
    # what is no hardware drives without the steering: by the speeds of its sides
    (plugin(DIFF, left_joint="l", right_joint="r"), "l r", f"the plugin {DIFF}"),
    (plugin(TRI, a_joint="f", encoder_a_joint="l", encoder_b_joint="r", steering_joint="f_steer"),
     "f f_steer", f"the plugin {TRI}"),
    (plugin(ACKERMANN, a_joint="f", b_joint="l", c_joint="r", steering_joint="f_steer"),
     "l r f_steer", f"the plugin {ACKERMANN}"),
    (plugin(ACKERMANN, a_joint="f", b_joint="nobody", steering_joint="f_steer"), "f f_steer",
     f"the plugin {ACKERMANN}"),
    # names of links, of what does not move but leads, and of steering alone
    (told("left", "right", tag="gazebo"), "l r", "<gazebo>"),
    (told("f_steer"), "l r f_steer",
     f"<ros2_control>, which names no wheel; by convention {USUAL.partition('and ')[2]}"),
    (told("f_steer", tag="gazebo") + told("f_steer", tag="transmission"), "l r f_steer",
     f"<transmission>, which names no wheel; by convention {USUAL.partition('and ')[2]}")])
def test_who_drives_is_what_the_file_says_in_its_order(more, driven, origin):
    layout, wheels = tricycle(more)
    roles, _ = assign_roles(layout, wheels, (), {})
    found, notices = choose_driven(layout, wheels, roles, None)
    assert found == tuple(name for name in roles.moving if name in driven.split())
    said = notices[-1]
    assert (said.kind, said.text) == (NoticeKind.DRIVEN_FROM, f"driven joints from {origin}")
    assert (said.remedy is not None) == ("convention" in origin)
    strangers = [n.text for n in notices if n.kind is NoticeKind.UNKNOWN_JOINT]
    assert strangers == [text for word, text in {
        "nobody": f"{'<gazebo>' if 'f_steer' not in more else 'the plugin ' + ACKERMANN} names "
                  "nobody, which the robot does not have",
        "left<": "<gazebo> names left, right as joints, but these are links; the joints that carry "
                 "them are taken"}.items() if word in more]
    # who says it himself
    mine, notices = choose_driven(layout, wheels, roles, ("r",))
    assert mine == ("r",)
    although = "" if "convention" in origin else f", although {origin} drives {', '.join(found)}"
    assert notices[-1].text == f"driven joints from <nhmech>{although}"
    assert notices[-1].remedy is None


@pytest.mark.parametrize("drive", ["nobody", "arm_joint"])
def test_what_does_not_move_is_not_driven(drive):
    layout, wheels = tricycle(ARM)
    roles, _ = assign_roles(layout, wheels, (), {})
    with pytest.raises(ModelError, match="<drive>.*(does not exist|'arm_joint' is locked)"):
        choose_driven(layout, wheels, roles, (drive,))


@pytest.mark.parametrize("more, given, driven, said", [
    ("", {"f": True}, "l r f f_steer", "the wheels given"),
    ("", {"l": False, "r": True}, "r f_steer", "the wheels given"),
    ("", {"l": True, "r": True, "f": False}, "l r f_steer", USUAL),
    (told("l", "r"), {"l": False}, "r f_steer",
     f"the wheels given, although <ros2_control>, {HARDWARE} drives l, r, f_steer"),
    (told("l", "f_steer"), {"l": True, "r": False}, "l f_steer", "<ros2_control>")])
def test_wheels_say_whether_they_are_driven(more, given, driven, said):
    layout, wheels = tricycle(more)
    wheels = [wheel(w.joint, driven=given.get(w.joint)) for w in wheels]
    ball = Wheel(None, "caster_ball", 0.05, link="base", point=(0, 0, 0))
    roles, _ = assign_roles(layout, wheels, (), {})
    found, notices = choose_driven(layout, [*wheels, ball], roles, None)
    assert found == tuple(name for name in roles.moving if name in driven.split())
    assert notices[-1].text == f"driven joints from {said}"
    assert (notices[-1].remedy is not None) == (said == USUAL)
    none = [wheel(w.joint, driven=False) for w in wheels]
    roles, _ = assign_roles(layout, none, (), {"f_steer": 0.0})
    found, notices = choose_driven(layout, none, roles, None)
    assert not found and notices[-1].kind is NoticeKind.NOT_DRIVEN


def test_of_what_does_not_move_its_followers_are_driven():
    mimic = '<mimic joint="arm_joint"/>'
    other = follower("b", "slide_joint")
    layout, wheels = tricycle(ARM, SLIDE, other, told("arm_joint"), steering=RANGE + mimic)
    roles, _ = assign_roles(layout, wheels, ("b_joint",), {})
    driven, notices = choose_driven(layout, wheels, roles, None)
    assert driven == ("l", "r", "f_steer")
    assert [n.text for n in notices if n.kind is NoticeKind.DRIVEN_FOLLOWER] == [
        "arm_joint: commanded in the file but does not move here; f_steer, which mimic it, are "
        "driven instead"]


def sized(**radii: float):
    """Wheels of a layout with these radii; `f` is steered."""
    layout, wheels = tricycle()
    return layout, [Wheel(w.joint, radius=radii.get(w.joint, 0.1), axis=w.axis, point=w.point)
                    for w in wheels]


@pytest.mark.parametrize("radii, driven", [
    ({}, "l r f_steer"), ({"l": 0.051}, "l r f_steer"), ({"l": 0.049}, "r f_steer"),
    ({"f": 0.03}, "l r f_steer"), ({"f": 0.199}, "l r f_steer"), ({"f": 0.201}, "f f_steer"),
    ({"f": 0.201, "l": 0.101}, "l r f_steer"), ({"f": 0.201, "l": 0.03}, "f f_steer")])
def test_small_wheels_do_not_drive_beside_large_ones(radii, driven):
    """Fixed ones less than half as large as the largest of them, all of them if the steered ones
    are more than twice as large."""
    layout, wheels = sized(**radii)
    roles, _ = assign_roles(layout, wheels, (), {})
    found, _ = choose_driven(layout, wheels, roles, None)
    assert found == tuple(name for name in roles.moving if name in driven.split())


def test_casters_and_what_hangs_on_a_swivel_do_not_drive():
    swivel = below("g", -0.6, kind="continuous", xyz=(-0.1, 0, 0))
    caster = link("caster") + joint("c", "base", "caster", (0.3, 0, 0))
    layout, wheels = tricycle(swivel, caster)
    wheels += [wheel("g"), wheel("c")]
    roles, _ = assign_roles(layout, wheels, (), {})
    assert roles.steering == ("f_steer", "g_steer")
    assert choose_driven(layout, wheels, roles, None)[0] == ("l", "r", "f_steer")
    # where nothing is fixed either
    layout, wheels = laid(link("base"), below("f", 0.6), swivel), [wheel("f"), wheel("g")]
    roles, _ = assign_roles(layout, wheels, (), {})
    assert choose_driven(layout, wheels, roles, None)[0] == ("f", "f_steer")


@pytest.mark.parametrize("radii, driven", [((0.201, 0.201), "f g"), ((0.201, 0.199), "l"),
                                           ((0.199, 0.201), "l")])
def test_fixed_wheels_are_rollers_beside_the_smallest_that_is_steered(radii, driven):
    layout = laid(link("base"), *OTHERS, below("f", 0.6), below("g", -0.6))
    wheels = [Wheel(name, radius=radius, axis=(0, 1, 0), point=(0, 0, 0))
              for name, radius in zip("lfg", (0.1, *radii))]
    roles, _ = assign_roles(layout, wheels, (), {})
    found, _ = choose_driven(layout, wheels, roles, None)
    assert {*found} == {"f_steer", "g_steer", *driven.split()}


@pytest.mark.parametrize("name, found", [
    ("motor", "motor f_steer"), ("driver", "l r driver f_steer"), ("DRIVE", "DRIVE f_steer")])
def test_names_tell_wheels_with_motors_from_others(name, found):
    extra = link(name) + joint(name, "base", name, (0.1, 0, 0))
    layout, wheels = tricycle(extra)
    wheels.append(wheel(name))
    roles, _ = assign_roles(layout, wheels, (), {})
    driven, notices = choose_driven(layout, wheels, roles, None)
    assert {*driven} == {*found.split()}
    assert ("have a word for a motor" in notices[-1].text) == (name != "driver")
    # all of them have the word: it tells none apart
    alone, _ = laid(link("base"), extra), None
    roles, _ = assign_roles(alone, wheels[-1:], (), {})
    driven, notices = choose_driven(alone, wheels[-1:], roles, None)
    assert driven == (name,) and "that nothing steers" in notices[-1].text


# --- limits ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind, end, steers, driven, is_round", [
    ("revolute", 3.14, True, False, True), ("revolute", 3.13, True, False, False),
    ("revolute", 3.14, True, True, False), ("revolute", 3.14, False, False, False),
    ("prismatic", 3.14, True, False, False)])
def test_what_swings_all_the_way_round_has_no_limits(kind, end, steers, driven, is_round):
    """What steers and has no motor; a motor keeps to its own."""
    layout = laid(link("base"), link("a"), joint("j", "base", "a", kind=kind,
                                                 more=limits(-end, end)))
    roles = Roles((), ("j",) * steers, ("j",) * (not steers), {})
    found, notices = read_limits(layout, roles, ("j",) * driven)
    end = inf if is_round else end
    assert (found["j"].lower, found["j"].upper, found["j"].velocity) == (-end, end, 1.0)
    assert [n.text for n in notices] == [
        "j: swings all the way round; limits on its angle are ignored"] * is_round
