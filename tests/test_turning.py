"""Tyres or rollers, and what gives way where axles do not meet: source by source and axle by
axle."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from placed import SHIFT, found, laid, limits, stand
from robot_table import python_lines
from support import joint, link

from nhmech import InputError, ModelError, Wheel
from nhmech.urdf.description import MidAxle, Released, Scrubbing
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheels.kinds import (
    Tread,
    find_contradictions,
    fit_rollers,
    identify_wheel,
    say,
    usual_mecanum,
)
from nhmech.urdf.wheels.listed_wheels import Origin
from nhmech.urdf.wheels.skid import check_released, choose_turning, read_skid

TYRES, MECANUM, OMNI = Tread


def lines_of(remedy) -> list[dict]:
    """The keywords that a remedy offers, line by line."""
    return [*python_lines(remedy)]


CORNERS = ((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))
DRIVES = {"diff": "libgazebo_ros_diff_drive.so", "skid": "libgazebo_ros_skid_steer_drive.so",
          "mecanum": "gz-sim-mecanum-drive-system", "planar": "libgazebo_ros_planar_move.so",
          "omni": "omni_drive.so"}


def plugin(drive: str, *joints: str) -> str:
    inside = "".join(f"<j{k}_joint>{name}</j{k}_joint>" for k, name in enumerate(joints))
    return f'<gazebo><plugin filename="{DRIVES[drive]}" name="p">{inside}</plugin></gazebo>'


def rubbing(name: str, way: str, frame: str = "") -> str:
    said = f' gz:expressed_in="{frame}" xmlns:gz="x"' if frame else ""
    return (f'<gazebo reference="{name}"><mu1>1</mu1><mu2>0</mu2><fdir1{said}>{way}</fdir1>'
            "</gazebo>")


def ring(parent: str, degrees: float, count: int = 6) -> list[str]:
    """Rollers about a wheel with its axle along y, each turned from the axle to forward."""
    parts = []
    for k in range(count):
        turn = 2 * pi * k / count
        out = np.array([np.sin(turn), 0, -np.cos(turn)])
        forward = np.array([np.cos(turn), 0, np.sin(turn)])
        axis = np.cos(np.radians(degrees)) * np.array([0, 1.0, 0]) + np.sin(
            np.radians(degrees)) * forward
        parts += [link(f"{parent}_{k}", 0.01),
                  joint(f"{parent}_roll_{k}", parent, f"{parent}_{k}", 0.09 * out,
                        axis=tuple(axis))]
    return parts


def four(*links: str, axle=None, radius=0.1, more=()):
    """Wheels `w0` to `w3` on joints `j0` to `j3`: front left, front right, rear left, rear
    right."""
    return stand(*((*place, 0.1, radius, *([axle] if axle else [])) for place in CORNERS), *more,
                 links=links)


# --- what one wheel is ----------------------------------------------------------------------------

NAME = "the name 'gz-sim-mecanum-drive-system'"


@pytest.mark.parametrize("links, tread, sources, against, is_own", [
    ((), None, (), (), False),
    ((plugin("diff", "j0"),), TYRES, ("the plugin 'libgazebo_ros_diff_drive.so'",), (), False),
    # of a plugin that names joints, those; of one without, all
    ((plugin("diff", "j1"),), None, (), (), False),
    ((plugin("mecanum"),), MECANUM, ("the plugin 'gz-sim-mecanum-drive-system'",), (), False),
    ((plugin("planar"),), OMNI, ("the plugin 'libgazebo_ros_planar_move.so'",), (), False),
    # two opinions of one source decide nothing, and are against what decides
    ((plugin("diff", "j0"), plugin("mecanum"), rubbing("w0", "1 1 0")), MECANUM,
     ("the friction along <fdir1>",),
     ("the plugin 'libgazebo_ros_diff_drive.so'", "the plugin 'gz-sim-mecanum-drive-system'"),
     True),
    ((plugin("diff", "j0"), plugin("mecanum")), None, (),
     ("the plugin 'libgazebo_ros_diff_drive.so'", "the plugin 'gz-sim-mecanum-drive-system'"),
     False),
    # rollers of one kind support those of the other
    ((plugin("planar"), rubbing("w0", "1 1 0")), MECANUM,
     ("the friction along <fdir1>", "the plugin 'libgazebo_ros_planar_move.so'"), (), True),
    ((plugin("skid", "j0"), rubbing("w0", "1 1 0")), TYRES,
     ("the plugin 'libgazebo_ros_skid_steer_drive.so'",), ("the friction along <fdir1>",), False),
    ((rubbing("w0", "1 0 0"),), None, (), (), False),
    ((rubbing("w1", "1 1 0"),), None, (), (), False),
    (tuple(ring("w0", 90)), OMNI, ("6 joints with rollers on 'w0'",), (), True),
    ((*ring("w0", 45), plugin("skid", "j0")), MECANUM, ("6 joints with rollers on 'w0'",),
     ("the plugin 'libgazebo_ros_skid_steer_drive.so'",), True),
    (("<ros2_control><hardware><plugin>maker/OmniHardware</plugin></hardware></ros2_control>",),
     OMNI, ("the name 'OmniHardware'",), (), False),
    (("<ros2_control><hardware><plugin>a/DiffDrive</plugin></hardware></ros2_control>",), TYRES,
     ("the name 'DiffDrive'",), (), False),
    (("<ros2_control><hardware><plugin>a/Camera</plugin></hardware></ros2_control>",), None, (), (),
     False)])
def test_what_a_wheel_is_by_the_best_source_with_one_opinion(links, tread, sources, against,
                                                             is_own):
    layout, wheels = four(*links)
    verdict = identify_wheel(layout, wheels[0])
    assert (verdict.tread, verdict.sources, verdict.against, verdict.is_own) == (
        tread, sources, against, is_own)
    assert verdict.rolls_sideways == (tread in (MECANUM, OMNI))


@pytest.mark.parametrize("old, new, tread, said", [
    ('"w0"', '"Omni_w0"', OMNI, "Omni_w0"), ('"j0"', '"swedish"', MECANUM, "swedish"),
    ('"j0"', '"holonomic"', OMNI, "holonomic"), ('"j1"', '"mecanum"', None, "")])
def test_names_tell_rollers_of_their_own_wheel(old, new, tread, said):
    parts = [link("base"), link("w0"), joint("j0", "base", "w0"), link("w1"),
             joint("j1", "base", "w1")]
    name = new.strip('"') if old == '"j0"' else "j0"
    verdict = identify_wheel(laid(*(part.replace(old, new) for part in parts)),
                             Wheel(name, radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)))
    assert verdict.tread is tread and verdict.is_own == (tread is not None)
    assert verdict.sources == ((f"the name {said!r}",) if said else ())


def test_a_caster_that_is_fixed_above_a_motor_has_rollers():
    """Where the wheel rolls by a motor and the caster cannot turn."""
    motor = ('<ros2_control><joint name="j"><command_interface name="velocity"/></joint>'
             "</ros2_control>")

    def read(kind, name, more):
        layout = laid(link("base"), link(name), joint("above", "base", name, axis=(0, 0, 1),
                                                      kind=kind, more=limits(-1, 1)),
                      link("w"), joint("j", name, "w"), more)
        return identify_wheel(layout, Wheel("j", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)))
    assert read("fixed", "caster", motor).sources == ("fixed casters above wheels with motors",)
    assert read("fixed", "caster", motor).tread is OMNI
    for case in (("revolute", "caster", motor), ("fixed", "arm", motor), ("fixed", "caster", "")):
        assert read(*case).tread is None


@pytest.mark.parametrize("sources, said", [
    ("a", "a says"), ("ab", "a and b say"), ("abc", "a and b and c say"),
    ("abcd", "a and b and 2 more say")])
def test_sources_are_named_with_their_verb(sources, said):
    assert say([*sources], "says", "say") == said and say([*sources]) == said.rpartition(" ")[0]


# --- rollers that are fitted ----------------------------------------------------------------------

def kinds_of(contacts) -> str:
    return " ".join(c.wheel.kind for c in contacts)


def test_mecanum_wheels_make_a_diamond_from_any_side():
    """Seen from above, the rollers on the ground; for axles that point left or right."""
    for axle in ((0, 1, 0), (0, -1, 0)):
        layout, wheels = four(axle=axle)
        sign = axle[1]
        assert [w.roller_angle for w in usual_mecanum(layout, wheels)] == pytest.approx(
            [-pi / 4, pi / 4, pi / 4, -pi / 4]), sign
        assert {w.kind for w in usual_mecanum(layout, wheels)} == {"mecanum"}


@pytest.mark.parametrize("way, frame, expected", [
    ((1, 2, 0), "base", np.arctan(0.5)), ((1, -2, 0), "base", -np.arctan(0.5)),
    ((-1, -2, 0), "base", np.arctan(0.5)), ((2, 1, 0), "plate", np.arctan(2.0) - 0.3),
    ((1, 2, 0), "", None), ((1, 2, 0), "nothing", None), ((1, 2, 0), "w1", None)])
def test_an_angle_is_told_in_a_frame_of_the_base(way, frame, expected):
    """One that turns with a wheel, or that there is not, tells none."""
    plate = link("plate"), joint("p", "base", "plate", rpy=(0, 0, 0.3), kind="fixed")
    words = " ".join(map(str, way))
    layout, wheels = four(*plate, *(rubbing(f"w{k}", words, frame) for k in range(4)))
    contacts, (said,) = fit_rollers(layout, found(*wheels), ())
    angles = [c.wheel.roller_angle for c in contacts]
    if expected is None:
        assert angles == pytest.approx([-pi / 4, pi / 4, pi / 4, -pi / 4])
        assert said.text.endswith("degrees to the axles, the usual assembly")
    else:
        assert angles == pytest.approx([expected] * 4, rel=1e-12)
        assert said.text.endswith("degrees to the axles, by <fdir1>")
    degrees = ", ".join(f"{np.degrees(angle):+.3g}" for angle in angles)
    assert f"Their rollers are at {degrees} degrees" in said.text
    # those of all wheels or none
    layout, wheels = four(*plate, *(rubbing(f"w{k}", words, frame) for k in range(3)),
                          plugin("planar"))
    assert fit_rollers(layout, found(*wheels), ())[1][0].text.endswith("the usual assembly")
    # the lines to type: scrubbing tyres, and each roller the other way
    skid, other = lines_of(said.remedy)
    assert skid == {"skid": "mid-axle"}
    assert [w.roller_angle for w in other["wheels"]] == pytest.approx([-a for a in angles],
                                                                     abs=1e-5)


@pytest.mark.parametrize("links, expected, said", [
    ((), "disc disc disc disc", None),
    ((plugin("planar"),), "mecanum mecanum mecanum mecanum", "by the plugin"),
    # drawn rollers that lie across make omni wheels
    ((*ring("w0", 90), *ring("w1", 90), *ring("w2", 90), *ring("w3", 90)), "omni omni omni omni",
     "by 6 joints with rollers on 'w0' and 6 joints with rollers on 'w1' and 2 more"),
    ((*ring("w0", 90), plugin("planar")), "mecanum mecanum mecanum mecanum", "the usual assembly, "
     "since meshes are often mirrored"),
    ((*ring("w0", 45), *ring("w1", -45), *ring("w2", -45), *ring("w3", 45)),
     "mecanum mecanum mecanum mecanum", "at +45, -45, -45, +45 degrees to the axles, by the joints "
     "of the rollers"),
    # tyres behind them stay
    ((*ring("w0", 90), *ring("w1", 90)), "omni omni disc disc",
     "on 'w0' and 6 joints with rollers on 'w1'"),
    ((*ring("w0", 45), *ring("w1", -45)), "omni omni disc disc", "taken as omni wheels"),
    ((plugin("planar"), plugin("skid", "j3")), "disc disc disc disc", None),
    ((plugin("planar"), plugin("skid", "j0", "j1", "j2", "j3")), "disc disc disc disc", None)])
def test_four_parallel_wheels_get_the_rollers_that_the_file_has(links, expected, said):
    layout, wheels = four(*links)
    contacts, notices = fit_rollers(layout, found(*wheels), ())
    assert kinds_of(contacts) == expected
    assert [n.kind for n in notices] == [NoticeKind.ROLLERS] * bool(said)
    assert all(said in n.text for n in notices)
    if expected.startswith("omni"):
        [line] = lines_of(notices[0].remedy)
        assert {w.kind for w in line["wheels"]} == {"disc"}
    # they are a matter of what nothing steers
    assert fit_rollers(layout, found(*wheels), ("j0", "j1", "j2"))[1] == []


@pytest.mark.parametrize("radius, degrees, links, expected", [
    (0.049, 90, (), "omni"), (0.051, 90, (), "disc"), (0.049, 30.1, (), "omni"),
    (0.049, 29.9, (), "disc"), (0.049, 90, (plugin("diff", "j2"),), "disc"),
    (0.049, 90, (plugin("planar"),), "omni")])
def test_small_wheels_across_large_ones_measure(radius, degrees, links, expected):
    """Less than half as large as two on parallel axles, and at 30 degrees and more to these."""
    angle = np.radians(degrees)
    small = (-0.1, 0, radius, radius, (np.sin(angle), np.cos(angle), 0))
    layout, wheels = stand((0, 0.2, 0.1, 0.1), (0, -0.2, 0.1, 0.1), small, links=links)
    contacts, notices = fit_rollers(layout, found(*wheels), ())
    assert kinds_of(contacts) == f"disc disc {expected}"
    assert [n.text.startswith("j2: taken as omni wheels, because they are less than half as large "
                              "as the wheels whose axles they cross") for n in notices] == [
        True] * (expected == "omni")
    # beside one large wheel, or two that cross each other, they may be meant as they are
    assert kinds_of(fit_rollers(layout, found(*wheels[1:]), ())[0]) == "disc disc"
    layout, wheels = stand((0, 0.2, 0.1, 0.1), (0.5, -0.2, 0.1, 0.1, (0.6, 0.8, 0)), small,
                           links=links)
    assert kinds_of(fit_rollers(layout, found(*wheels[:2], wheels[2]), ())[0]).startswith("disc d")


@pytest.mark.parametrize("small, links, expected", [
    (0.049, (), "omni"), (0.051, (), "disc"), (0.049, (plugin("diff", "j4"),), "disc")])
def test_small_wheels_beside_rollers_measure_and_have_some(small, links, expected):
    """Less than half as large as the smallest of those, unless they are said to be tyres."""
    rings = [part for k in range(4) for part in ring(f"w{k}", (45, -45, -45, 45)[k])]
    layout, wheels = four(*rings, *links, more=((0, 0, small, small),))
    contacts, notices = fit_rollers(layout, found(*wheels), ())
    assert kinds_of(contacts) == f"mecanum mecanum mecanum mecanum {expected}"
    assert len(notices) == 1 + (expected == "omni")
    if expected == "omni":
        assert notices[1].text == ("j4: taken as omni wheels, because they are less than half as "
                                   "large as the wheels with rollers beside them, and measure")
        assert notices[1].remedy is None
    # by the smaller of two sizes
    wheels[0] = replace(wheels[0], radius=0.2)
    assert kinds_of(fit_rollers(layout, found(*wheels), ())[0]) == kinds_of(contacts)


def test_axles_that_meet_amid_the_wheels_are_those_of_omni_wheels():
    """Unless all are said to be tyres, and only if they surround the point."""
    def star(*more):
        ways = (0.3, 0.3 + 2 * pi / 3, 0.3 + 4 * pi / 3)
        return stand(*((np.cos(a), np.sin(a), 0.1, 0.1, (np.cos(a), np.sin(a), 0)) for a in ways),
                     links=more)
    layout, wheels = star()
    contacts, (said,) = fit_rollers(layout, found(*wheels), ())
    assert kinds_of(contacts) == "omni omni omni"
    assert said.text == ("j0, j1, j2: taken as omni wheels, because their axles meet amid them")
    layout, wheels = star(plugin("diff", "j0"))
    contacts, (said,) = fit_rollers(layout, found(*wheels), ())
    assert kinds_of(contacts) == "omni omni omni" and said.text.endswith(
        "although the plugin 'libgazebo_ros_diff_drive.so' speaks against it") is False
    layout, wheels = star(plugin("diff", "j0", "j1", "j2"))
    assert fit_rollers(layout, found(*wheels), ()) == (found(*wheels), [])
    layout, wheels = stand((1, 0, 0.1, 0.1, (1, 0, 0)), (0, 1, 0.1, 0.1), (0.7, 0.7, 0.1, 0.1,
                                                                          (0.5, 0.5, 0)))
    assert fit_rollers(layout, found(*wheels), ())[1] == []
    # two wheels, or three on one line, can turn
    layout, wheels = four(plugin("planar"))
    assert fit_rollers(layout, found(wheels[0], wheels[2]), ())[1] == []


def test_what_the_user_lists_and_the_file_contradicts_is_told():
    links = [plugin("mecanum", "j0", "j1", "j2", "j3")]
    layout, wheels = four(*links)
    [said] = find_contradictions(layout, found(*wheels), ())
    assert said.kind is NoticeKind.OTHER_KIND
    assert said.text == ("j0, j1, j2, j3: disc, although the plugin 'gz-sim-mecanum-drive-system' "
                         "says mecanum wheels")
    rollers = usual_mecanum(layout, wheels)
    assert find_contradictions(layout, found(*rollers), ()) == []
    [said] = find_contradictions(layout, found(wheels[0], *rollers[1:]), ())
    assert said.text.startswith("j0: disc, although")
    # balls hold nothing, what is steered is no matter of rollers, two wheels turn
    ball = Wheel(None, "caster_ball", 0.1, link="base", point=(0, 0, 0))
    assert len(find_contradictions(layout, found(*wheels, ball), ())) == 1
    assert find_contradictions(layout, found(*wheels), ("j0", "j1")) == []
    assert find_contradictions(layout, found(*wheels[:2]), ()) == []
    assert find_contradictions(layout, found(wheels[0], wheels[2]), ()) == []
    car, its = steered(-1, 1, more=(plugin("mecanum"),))
    assert len(find_contradictions(car, found(*its), ())) == 1
    assert find_contradictions(car, found(*its), ("king0", "king1")) == []
    line, its = stand(*((0, y, 0.1, 0.1) for y in (0.2, 0.0, -0.2)), links=(plugin("mecanum"),))
    assert find_contradictions(line, found(*its), ()) == []
    line, its = stand(*((0, y, 0.1, 0.1) for y in (0.2, 0.0, -0.2)),
                      links=tuple(rubbing(f"w{k}", "1 1 0") for k in range(3)))
    assert find_contradictions(line, found(*its), ()) == []
    # what is said of the robot says little of three, what is seen on them says it
    assert find_contradictions(layout, found(*wheels[:3]), ()) == []
    layout, wheels = four(*(rubbing(f"w{k}", "1 1 0") for k in range(4)))
    [said] = find_contradictions(layout, found(*wheels[:3]), ())
    assert said.text.startswith("j0, j1, j2: disc, although the friction along")
    layout, wheels = four(plugin("skid", "j0", "j1", "j2", "j3"))
    [said] = find_contradictions(layout, found(*usual_mecanum(layout, wheels)), ())
    assert said.text.endswith("says plain tyres") and "mecanum, although" in said.text


# --- what gives way -------------------------------------------------------------------------------

@pytest.mark.parametrize("value, expected", [
    ("mid-axle", MidAxle()), ("coulomb", Scrubbing()), ("left", Released(("left",))),
    (1.5, MidAxle(1.5)), (0.5, MidAxle(0.5)), (["a", "b"], Released(("a", "b"))),
    (("a",), Released(("a",)))])
def test_what_gives_way_as_it_is_written(value, expected):
    assert read_skid(value) == expected
    with pytest.raises(InputError, match="names of wheels"):
        read_skid(["a", 3])


def test_a_released_wheel_exists():
    _, wheels = four()
    for skid in (None, MidAxle(), Released(("j0", "j3"))):
        check_released(skid, wheels, Origin.SKID)
    with pytest.raises(InputError, match="'j4' is neither .*the wheels are j0, j1, j2, j3"):
        check_released(Released(("j0", "j4")), wheels, Origin.SKID)


def turning(layout, wheels, skid=None, steering=(), **words):
    words = {"inferred": True, "held": {}} | words
    return choose_turning(layout, found(*wheels), steering, skid, **words)


def test_four_parallel_wheels_skid_and_two_or_three_do_not():
    layout, wheels = four()
    for inferred in (True, False):
        found_ = turning(layout, wheels, inferred=inferred)
        assert found_.skid == MidAxle()
        [said] = found_.notices
        assert said.kind is NoticeKind.SKID and "nothing steers 4 wheels on 2 parallel" in said.text
        lines = lines_of(said.remedy)
        assert [line["skid"] for line in lines[:3]] == ["coulomb", 1.5, ("j2", "j3")]
        assert {w.kind for w in lines[3]["wheels"]} == {"mecanum"} and len(lines) == 4
    # three: one axle rolls and the other slips
    found_ = turning(layout, wheels[:3])
    assert found_.skid == Released(("j2",))
    assert found_.notices[0].text == ("nothing steers 3 wheels on 2 parallel axles, which without "
                                      "slip can only go straight; so j0, j1 roll and j2 slips "
                                      "sideways")
    # two: it is told, and nothing is assumed
    two = turning(layout, (wheels[0], wheels[3]))
    assert two.skid is None
    assert two.notices[0].text.endswith("which without slip can only go straight")
    assert [line["skid"] for line in lines_of(two.notices[0].remedy)] == [("j3",), ("j0",)]
    assert turning(layout, wheels[:2]).notices == []


def test_with_the_user_s_word_nothing_is_assumed():
    layout, wheels = four(plugin("planar"))
    for skid in (MidAxle(2.0), Scrubbing()):
        chosen = turning(layout, wheels, skid)
        assert chosen.skid == skid and kinds_of(chosen.contacts) == "disc disc disc disc"
        assert [n.kind for n in chosen.notices] == [NoticeKind.OTHER_KIND]
    assert kinds_of(turning(layout, wheels).contacts) == "mecanum mecanum mecanum mecanum"
    layout, wheels = four()
    chosen = turning(layout, wheels, Released(("j0", "j1")))
    assert chosen.skid == Released(("j0", "j1")) and chosen.notices == []
    # three that still hold go straight: it is told
    chosen = turning(layout, wheels, Released(("j0",)))
    assert chosen.skid == Released(("j0",))
    [said] = chosen.notices
    assert "nothing steers 3 wheels on 2 parallel axles" in said.text and "so " not in said.text
    assert [line["skid"] for line in lines_of(said.remedy)] == [("j0", "j1"),
                                                                    ("j0", "j2", "j3")]


def test_wheels_that_slide_by_friction_scrub():
    """All that are on the base, on parallel axles; one of them forbids nothing to turn."""
    layout, wheels = four()
    slide = [replace(w, law="coulomb", mu=1.0) for w in wheels]
    assert turning(layout, slide).skid == Scrubbing()
    assert turning(layout, slide, Released(("j0",))).skid == Released(("j0",))
    assert turning(layout, [*slide[:3], wheels[3]]).skid is None
    assert turning(layout, slide[:2]).skid is None               # on one line
    assert turning(layout, [*slide[:2], *wheels[2:]]).notices == []


def mixed(*axles, pulled=False, radii=None, driven="", steered=None):
    """Wheels on parallel axles at these x, on the base or behind a hitch; after them one that is
    steered."""
    motors = "".join(f'<joint name="{name}"><command_interface name="velocity"/></joint>'
                     for name in driven.split())
    parts, wheels = [link("base"), f"<ros2_control>{motors}</ros2_control>"], []
    body = "base"
    if pulled:
        body = "trailer"
        parts += [link("trailer"), joint("hitch", "base", "trailer", SHIFT + (1, 0, 0),
                                         axis=(0, 0, 1))]
    for k, (x, ys) in enumerate(axles):
        for i, y in enumerate(ys):
            name = f"{k}{'lrmn'[i]}"
            at = np.array((x, y, 0.1)) + (0 if pulled else SHIFT)
            parts += [link(f"w{name}"), joint(name, body, f"w{name}", at)]
            wheels.append(Wheel(name, axis=(0, 1, 0), point=(0, 0, 0),
                                radius=(radii or {}).get(name, (radii or {}).get(k, 0.1))))
    if steered is None:
        return laid(*parts), wheels
    parts += [link("fork"), link("wf"), joint("f", "fork", "wf"),
              joint("steer", "base", "fork", SHIFT + (steered, 0, 0.1), axis=(0, 0, 1))]
    return laid(*parts), wheels, Wheel("f", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0))


PAIR = (0.2, -0.2)


@pytest.mark.parametrize("axles, words, rolls", [
    # the middle one of three, driven ones before, none of small wheels, those with more wheels
    (((1, PAIR), (0, PAIR), (-1, PAIR)), {}, 1),
    (((1, PAIR), (0, PAIR), (-1, PAIR)), {"driven": "2l"}, 2),
    (((1, PAIR), (0, PAIR), (-1, PAIR)), {"driven": "0r 2l 2r", "radii": {2: 0.049}}, 0),
    (((1, PAIR), (0, PAIR), (-1, PAIR)), {"radii": {1: 0.049}}, 0),
    (((1, PAIR), (0, PAIR), (-1, PAIR)), {"radii": {1: 0.051}}, 1),
    (((0.5, (0.0,)), (0, PAIR)), {}, 1), (((1, (0.2, 0.1, -0.1)), (0, PAIR)), {}, 0),
    # by a millimetre nearer to the middle; else the farthest from what draws the body
    (((1, PAIR), (-1, PAIR)), {}, 0), (((-9, PAIR), (-3, PAIR)), {}, 0),
    (((-1, PAIR), (-3, PAIR)), {"pulled": True}, 1),
    (((-3, PAIR), (-1, PAIR)), {"pulled": True}, 0),
    # behind what is steered, in any frame
    (((-1, PAIR), (-3, PAIR)), {"steered": 2.0}, 1), (((9, PAIR), (7, PAIR)), {"steered": 12.0}, 1),
    (((9, PAIR), (7, PAIR)), {"steered": 4.0}, 0),
    # by a millimetre
    (((1, PAIR), (-1, PAIR)), {"steered": 4e-4}, 0),
    (((1, PAIR), (-1, PAIR)), {"steered": 2e-3}, 1),
    (((-1.5, PAIR), (-0.5, PAIR), (0.5, PAIR), (1.5008, PAIR)), {"steered": 9.0}, 1),
    (((-1.5, PAIR), (-0.5, PAIR), (0.5, PAIR), (1.504, PAIR)), {"steered": 9.0}, 2),
    # of an axle of which one wheel is small
    (((1, PAIR), (0, PAIR), (-1, PAIR)), {"radii": {"1l": 0.049}}, 1)])
def test_which_of_the_parallel_axles_rolls_on(axles, words, rolls):
    layout, wheels, *others = mixed(*axles, **words)
    steering = ("hitch",) if words.get("pulled") else ("steer",)
    chosen = turning(layout, [*wheels, *others], Released(()), steering)
    [said] = chosen.notices
    first, _ = lines_of(said.remedy)
    kept = {w.name for w in wheels} - {*first["skid"]}
    assert kept == {w.name for w in wheels if w.name[0] == str(rolls)}


def test_axles_of_two_bodies_give_way_each():
    """Of a trailer's tandem axles one rolls, and so does one of what draws it."""
    layout, wheels = mixed((-1, PAIR), (-2, PAIR), pulled=True)
    parts = [link(f"b{k}") + joint(f"b{k}_j", "base", f"b{k}", SHIFT + (x, y, 0.1))
             for k, (x, y) in enumerate(CORNERS)]
    text = layout.source.text.replace("</robot>", "".join(parts) + "</robot>")
    layout = laid(text.partition(">")[2].rpartition("</robot>")[0])
    base = [Wheel(f"b{k}_j", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)) for k in range(4)]
    chosen = turning(layout, [*base, *wheels], steering=("hitch",))
    assert chosen.skid == Released(("b2_j", "b3_j", "0l", "0r"))
    one, other = chosen.notices
    # what each of them offers keeps what slips of the other
    assert lines_of(one.remedy) == [{"skid": ("0l", "0r", "b0_j", "b1_j")}]
    assert lines_of(other.remedy) == [{"skid": ("b2_j", "b3_j", "1l", "1r")}]
    # a trailer with one axle leaves the middle of the base to hold
    assert turning(layout, [*base, *wheels[:2]], steering=("hitch",)).skid == MidAxle()


def steered(lower: float, upper: float, axis=(0, 0, 1), kind="revolute", more=(), **held: float):
    """Two wheels on kingpins, each with a spring that is held, before a fixed pair; and an upright
    joint that is held above all of it."""
    parts, wheels = [link("base"), link("body"), *more], []
    parts.append(joint("turn", "base", "body", axis=(0, 0, 1), kind="revolute", more=limits(0, 0)))
    for k, (x, y) in enumerate(CORNERS):
        above, at = "body", SHIFT + (x, y, 0.1)
        if x > 0:
            parts += [link(f"knuckle{k}"), link(f"spring{k}"),
                      joint(f"king{k}", above, f"knuckle{k}", at, axis=axis, kind=kind,
                            more=limits(lower, upper)),
                      joint(f"arm{k}", f"knuckle{k}", f"spring{k}", (-0.2, 0, 0),
                            kind="revolute", more=limits(0, 0))]
            above, at = f"spring{k}", (0.2, 0, 0)
        parts += [link(f"w{k}"), joint(f"j{k}", above, f"w{k}", at)]
        wheels.append(Wheel(f"j{k}", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)))
    return laid(*parts, **held), wheels


def test_steering_that_cannot_turn_is_refused():
    """Held by its limits, or about the wheel's own axle, up to a fiftieth and a twentieth of the
    radius; not what carries all wheels."""
    layout, wheels = steered(0.0, 0.0)
    with pytest.raises(ModelError, match="would steer a wheel, but its limits are both 0,") as no:
        turning(layout, wheels)
    assert lines_of(no.value.remedy) == [{"free": ["king0", "king1"]}]
    # a joint that turns is left to who holds it
    layout, wheels = steered(-1, 1)
    assert turning(layout, wheels).skid == MidAxle()
    for sine, is_said in ((0.0199, True), (0.0201, False)):
        layout, wheels = steered(-1, 1, axis=(0, np.sqrt(1 - sine ** 2), sine))
        if is_said:
            with pytest.raises(ModelError, match="king0.*turns about the axle of the wheel on"):
                turning(layout, wheels)
        else:
            assert turning(layout, wheels).skid == MidAxle()
    layout, wheels = steered(0.0, 0.0, kind="prismatic")
    assert turning(layout, wheels).skid == MidAxle()


@pytest.mark.parametrize("off, is_said", [(0.00499, True), (0.00501, False)])
def test_about_the_axle_is_within_a_twentieth_of_the_radius(off, is_said):
    """On joints that are turned about x, so that up is (0, sin, cos) in their frames."""
    parts, wheels, turn = [link("base")], [], 0.3
    for k, (x, y) in enumerate(CORNERS):
        parts += [link(f"arm{k}"), joint(f"hinge{k}", "base", f"arm{k}", SHIFT + (x, y, 0.1),
                                         (turn, 0, 0), (0, np.cos(turn), -np.sin(turn))),
                  link(f"w{k}"), joint(f"j{k}", f"arm{k}", f"w{k}", (off, 0, 0), (-turn, 0, 0))]
        wheels.append(Wheel(f"j{k}", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)))
    layout = laid(*parts)
    if not is_said:
        assert turning(layout, wheels).skid == MidAxle()
        return
    with pytest.raises(ModelError, match="hinge0") as caught:
        turning(layout, wheels)
    assert f'<axis xyz="0 {np.sin(turn):.4f} {np.cos(turn):.4f}"/>' in caught.value.text


def test_steering_that_is_held_goes_straight_or_round_on_purpose():
    layout, wheels = steered(-1, 1)
    assert turning(layout, wheels, held={"king0": 0.0, "king1": 0.0}).notices == []
    assert turning(layout, wheels, held={"king0": 0.0, "king1": 0.0}).skid is None
    # any other joint that is held says nothing of it
    for other in ("j0", "arm0", "turn"):
        assert turning(layout, wheels, held={other: 0.0}).skid == MidAxle()
    # at angles whose axles do not meet it could not move; the line that is offered holds one
    held = {"king0": 0.5, "king1": -0.5, "j2": 0.0}
    layout, wheels = steered(-1, 1, **held)
    with pytest.raises(ModelError, match="king0, king1: held as given, the axles of j0") as caught:
        turning(layout, wheels, held=held)
    assert lines_of(caught.value.remedy) == [{"locked": {"king0": 0.5, "j2": 0.0}}]
    layout, wheels = steered(-1, 1, king0=0.5)
    with pytest.raises(ModelError, match="king0: held as given, the axles of j0") as caught:
        turning(layout, wheels, held={"king0": 0.5})
    assert caught.value.remedy is None


def crossed(*angles):
    """Wheels on the base whose axles are turned."""
    return stand(*((x, y, 0.1, 0.1, (-np.sin(a), np.cos(a), 0))
                   for (x, y), a in zip(CORNERS, angles)))


def test_axles_that_meet_nowhere_cannot_move():
    layout, wheels = crossed(0.5, 0.0, 0.0, -0.3)
    with pytest.raises(ModelError, match="the axles of j0 and j3 are not parallel") as caught:
        turning(layout, wheels)
    [line] = lines_of(caught.value.remedy)
    assert [w.kind for w in line["wheels"]] == ["omni"] * 4
    assert turning(layout, wheels, inferred=False).notices == []
    # those of a circle about a point can only go round
    layout, wheels = crossed(0.5, 0.0, 0.0, 0.0)
    [said] = turning(layout, (wheels[0], wheels[2])).notices
    x, y = SHIFT[:2] + (-0.3, 0.2 + 0.6 / np.tan(0.5))
    assert said.kind is NoticeKind.SKID
    assert said.text == (f"j0, j2: nothing steers their axles, which meet at ({x:.4g}, {y:.5g}) m "
                         "of 'base': the robot can only roll in circles about this point")
    [line] = lines_of(said.remedy)
    assert [w.kind for w in line["wheels"]] == ["omni"] * 2
    # no coordinate is written as -0
    assert "which meet at (0, " in turning(*stand(
        (-0.70001, 0, 0.1, 0.1), (0, 1, 0.1, 0.1, (1, 1, 0)))).notices[0].text
    # below a joint that steers they have one centre after the other
    assert turning(layout, (wheels[0], wheels[2]), steering=("j0", "j2")).notices == []
