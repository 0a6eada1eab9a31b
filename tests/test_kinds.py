"""Tyres or rollers, skid steer, trailers with tandem axles: what wheels that nothing steers are."""

from __future__ import annotations

import ast
import re
from math import cos, pi, radians, sin

import numpy as np
import pytest

import nhmech
from nhmech.analysis import mobility
from nhmech.errors import ModelError
from nhmech.urdf import MidAxle, Released
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheel import Wheel

INERTIA = ('<inertial><mass value="{}"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" '
           'iyz="0"/></inertial>')
RADIUS = 0.1
CORNERS = ("a", "b", "c", "d")       # front left, front right, rear left, rear right


def link(name: str, inside: str = "", mass: float = 1.0) -> str:
    return f'<link name="{name}">{INERTIA.format(mass)}{inside}</link>'


def joint(name: str, parent: str, child: str, xyz, *, kind="continuous", yaw=0.0, axis="0 1 0",
          limit="") -> str:
    x, y, z = xyz
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{x!r} {y!r} {z!r}" rpy="0 0 {yaw!r}"/><axis xyz="{axis}"/>{limit}'
            "</joint>")


def wheel(name: str, x: float, y: float, *, parent="base", yaw=0.0, inside="") -> str:
    shape = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry>'
             f'<cylinder radius="{RADIUS}" length="0.04"/></geometry></collision>')
    return (link(f"{name}_wheel", shape + inside)
            + joint(f"{name}_joint", parent, f"{name}_wheel", (x, y, 0.0), yaw=yaw))


def robot(*parts: str) -> str:
    return f'<robot name="rover">{link("base", mass=10)}{"".join(parts)}</robot>'


def four(**more) -> str:
    return "".join(wheel(name, x, y, **more) for name, (x, y) in zip(
        CORNERS, ((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))))


def plugin(filename: str, inside: str = "") -> str:
    return f'<gazebo><plugin name="x" filename="{filename}">{inside}</plugin></gazebo>'


def turned_by(names, degrees) -> dict[str, float]:
    return {f"{name}_joint": radians(angle) for name, angle in zip(names, degrees)}


USUAL = turned_by(CORNERS, (-45, 45, 45, -45))
OBLIQUE = "".join(
    f'<gazebo reference="{name}_wheel"><mu1>1</mu1><mu2>0</mu2><fdir1>1 {side} 0</fdir1></gazebo>'
    for name, side in zip(CORNERS, (-1, 1, 1, -1)))
PLANAR = plugin("libgazebo_ros_planar_move.so")
SKID = plugin("libgazebo_ros_skid_steer_drive.so",
              "".join(f"<j{n}Joint>{n}_joint</j{n}Joint>" for n in CORNERS))
MECANUM = plugin("gz-sim-mecanum-drive-system",
                 "".join(f"<j{n}_joint>{n}_joint</j{n}_joint>" for n in CORNERS))


@pytest.mark.parametrize("radius, is_omni", [(0.0499, True), (0.0501, False)])
def test_a_small_wheel_across_two_that_drive_measures(radius, is_omni):
    """A tyre there would leave the robot turning on the spot alone; a large one may be meant."""
    pair, caster = (wheel("l", 0.0, 0.2) + wheel("r", 0.0, -0.2),
                    link("ball", '<collision><geometry><sphere radius="0.1"/></geometry>'
                         "</collision>") + joint("b", "base", "ball", (-0.3, 0.0, 0.0),
                                                 kind="fixed"))
    pod = wheel("pod", -0.1, 0.0, yaw=pi / 2).replace(
        f'radius="{RADIUS}"', f'radius="{radius}"').replace(
        "-0.1 0.0 0.0", f"-0.1 0.0 {radius - RADIUS}")
    vehicle = nhmech.load(robot(pair, caster, pod))
    wheels = {w.name: w.kind for w in vehicle.description.wheels}
    assert wheels["pod_joint"] == ("omni" if is_omni else "disc") and wheels["l_joint"] == "disc"
    assert (mobility(vehicle).type == (2, 0)) == is_omni
    told = [n.text for n in vehicle.notices if n.kind is NoticeKind.ROLLERS]
    assert len(told) == is_omni and all("whose axles they cross" in line for line in told)


def test_idle_omni_wheels_beside_tyres_do_not_ask_for_other_roller_angles():
    """Two tyres leave two motions of the base, and three omni wheels tell both."""
    text = robot(wheel("l", 0.0, 0.2), wheel("r", 0.0, -0.2),
                 *(wheel(f"omni{k}", x, y) for k, (x, y) in enumerate(
                     ((0.3, 0.2), (0.3, -0.2), (-0.3, 0.0)))))
    vehicle = nhmech.load(text)
    assert sum(w.kind == "omni" for w in vehicle.description.wheels) == 3
    assert NoticeKind.ROLLER_RANK not in {n.kind for n in vehicle.notices}


@pytest.mark.parametrize("name, is_told", [
    ("left_track", True), ("crawler_r", True), ("tracking_camera", False), ("tracker", False)])
def test_a_tracked_vehicle_is_told_that_its_wheels_bear(name, is_told):
    belt = link(name) + joint("belt_joint", "base", name, (0.0, 0.2, 0.0), kind="fixed")
    (said,) = [n.text for n in describe(robot(four(), belt)).notices if n.kind is NoticeKind.SKID]
    assert (f"{name}: by the name a track" in said) == is_told


def kinds(description) -> set[str]:
    return {w.kind for w in description.wheels}


def angles(description) -> dict[str, float | None]:
    return {w.name: w.roller_angle for w in description.wheels}


# what else is in the file with four parallel wheels -> whether they have rollers, what is said
FOUR = {
    "nothing": ("", False, "taken as skid steer"),
    "planar move alone": (PLANAR, True, "libgazebo_ros_planar_move.so"),
    "planar move left over": (PLANAR + SKID, False, "'libgazebo_ros_planar_move.so' says otherw"),
    "friction along a diagonal": (OBLIQUE, True, "friction along <fdir1>"),
    "friction left over": (OBLIQUE + SKID, False, "the friction along <fdir1> says otherwise"),
    "a drive for mecanum wheels": (MECANUM, True, "gz-sim-mecanum-drive-system"),
    "a drive, and another": (MECANUM + SKID, False, "'gz-sim-mecanum-drive-system' "),
    "hardware": ('<ros2_control name="h" type="system"><hardware><plugin>maker/MecanumHardware'
                 "</plugin></hardware></ros2_control>", True, "the name 'MecanumHardware'"),
}


@pytest.mark.parametrize("case", FOUR)
def test_four_parallel_wheels_are_what_the_best_source_says(case):
    more, rollers, said = FOUR[case]
    description = describe(robot(four(), more))
    first = description.notices[0]
    assert said in first.text
    assert kinds(description) == {"mecanum" if rollers else "disc"}
    assert description.skid == (None if rollers else MidAxle())
    if rollers:
        assert first.kind is NoticeKind.ROLLERS
        assert angles(description) == pytest.approx(USUAL, rel=1e-12, abs=0)
    else:
        assert first.kind is NoticeKind.SKID


@pytest.mark.parametrize("side", [-1, 1])
def test_the_friction_s_direction_is_that_of_the_rollers(side):
    """<fdir1> lies along the roller; in a frame of the base it tells the angle."""
    frame = 'xmlns:gz="urn:gz" gz:expressed_in="base"'
    turned = "".join(
        f'<gazebo reference="{name}_wheel"><mu1>1</mu1><mu2>0</mu2><fdir1 {frame}>'
        f"1 {side * way * 2} 0</fdir1></gazebo>" for name, way in zip(CORNERS, (-1, 1, 1, -1)))
    description = describe(robot(four(), turned))
    angle = np.degrees(np.arctan2(1, 2))          # from the axle, of (1 forward, 2 to the left)
    assert angles(description) == pytest.approx(
        turned_by(CORNERS, [side * way * angle for way in (-1, 1, 1, -1)]), rel=1e-12, abs=0)
    assert "by <fdir1>" in description.notices[0].text


def test_a_word_on_the_wheels_makes_them_mecanum():
    text = robot(four()).replace("_wheel", "_mecanum_wheel")
    assert kinds(describe(text)) == {"mecanum"}


@pytest.mark.parametrize("turn", [0.0, pi / 2, pi, 0.7])
def test_the_diagonals_do_not_depend_on_where_the_base_points(turn):
    corners = np.array([(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)])
    corners = corners @ np.array([[cos(turn), sin(turn)], [-sin(turn), cos(turn)]])
    wheels = "".join(wheel(n, float(x), float(y), yaw=turn)
                     for n, (x, y) in zip(CORNERS, corners))
    assert angles(describe(robot(wheels, PLANAR))) == pytest.approx(USUAL, rel=1e-12, abs=0)


def rolling_ring(name: str, degrees: float, count: int = 8) -> str:
    """Rollers on a wheel about the y axis, each with a joint of its own."""
    made = []
    for k in range(count):
        turn = 2 * pi * k / count
        x, z = 0.09 * sin(turn), -0.09 * cos(turn)
        forward = np.array([cos(turn), 0.0, sin(turn)])
        axis = sin(radians(degrees)) * forward + cos(radians(degrees)) * np.array([0.0, 1.0, 0.0])
        words = " ".join(repr(float(c)) for c in axis)
        made.append(link(f"{name}_{k}", mass=0.01) + joint(
            f"{name}_{k}_joint", f"{name}_wheel", f"{name}_{k}", (x, 0.0, z), axis=words))
    return "".join(made)


@pytest.mark.parametrize("outside_in", [False, True])
def test_rollers_with_joints_say_their_angle(outside_in):
    sign = -1 if outside_in else 1
    given = [sign * angle for angle in (-45, 45, 45, -45)]
    rings = "".join(rolling_ring(n, a) for n, a in zip(CORNERS, given))
    description = describe(robot(four(), rings, SKID))
    assert angles(description) == pytest.approx(turned_by(CORNERS, given), rel=1e-12, abs=0)
    said = description.notices[0].text
    for part in ("8 joints with rollers", "skid_steer", "by the joints of the rollers"):
        assert part in said


def test_two_omni_wheels_before_two_tyres():
    rings = "".join(rolling_ring(name, 90) for name in "ab")
    description = describe(robot(four(), rings))
    assert [w.kind for w in description.wheels] == ["omni", "omni", "disc", "disc"]
    assert description.skid is None and mobility(nhmech.load(robot(four(), rings))).degree == 2


def around(count: int, start: float = 0.0) -> str:
    return "".join(wheel(f"w{k}", 0.3 * cos(a), 0.3 * sin(a), yaw=a - pi / 2)
                   for k in range(count) for a in [start + 2 * pi * k / count])


@pytest.mark.parametrize("count, start", [(3, 0.0), (4, pi / 4), (5, 0.3)])
def test_wheels_around_a_point_are_omni(count, start):
    """Whoever lists them as tyres gets them, and is told what they then can do."""
    text = robot(around(count, start))
    vehicle = nhmech.load(text)
    assert kinds(vehicle.description) == {"omni"} and mobility(vehicle).degree == 3
    assert vehicle.description.notices[0].kind is NoticeKind.ROLLERS
    discs = [Wheel(f"w{k}_joint", "disc", RADIUS) for k in range(count)]
    turning = nhmech.load(text, wheels=discs)
    assert (mobility(turning).degree, mobility(turning).steerability) == (1, 0)
    said = turning.description.notices[0]
    assert "circles about this point" in said.text and "'omni'" in said.remedy.python


def test_axles_that_meet_nowhere_are_refused():
    crossed = robot(wheel("a", 0.3, 0.0, yaw=0.5), wheel("b", -0.3, 0.2), wheel("c", 0.0, 0.0),
                    wheel("d", 0.2, -0.2, yaw=-0.6))
    with pytest.raises(ModelError, match="do not meet in one point") as caught:
        describe(crossed)
    assert "'omni'" in caught.value.remedy.python


@pytest.mark.parametrize("more, count", [("", 4), (PLANAR, 2)])
def test_lines_of_the_notices_load(more, count):
    """With a caster, which each line keeps."""
    ball = link("ball", '<collision><geometry><sphere radius="0.02"/></geometry></collision>')
    text = robot(four(), more, ball, joint("ball_joint", "base", "ball", (0.0, 0.0, -0.08),
                                           kind="fixed"))
    said = describe(text).notices[0].remedy.python
    lines = re.findall(r"(wheels|skid)=(\[.*?\](?=\.|$)|\(.*?\)|'.*?'|[0-9.]+)", said)
    assert len(lines) == count
    for name, value in lines:
        chosen = {name: ast.literal_eval(value) if name == "skid" else eval(value)}
        description = describe(text, **chosen)
        assert "ball" in {w.link for w in description.wheels}
        if name == "wheels":
            assert kinds(description) == {"mecanum", "caster_ball"} and description.skid is None
        else:
            assert kinds(description) == {"disc", "caster_ball"}


# --- steering that there is, and is not ----------------------------------------------------------

def tricycle(yaw: float = 0.0, steered: bool = True) -> str:
    rear = wheel("left", 0.0, 0.2) + wheel("right", 0.0, -0.2)
    if not steered:
        return robot(rear, wheel("front", 0.6, 0.0, yaw=yaw))
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    return robot(rear, link("fork"), joint("steer", "base", "fork", (0.6, 0.0, 0.0),
                                           kind="revolute", axis="0 0 1", limit=limit),
                 wheel("front", 0.0, 0.0, parent="fork"))


@pytest.mark.parametrize("text, locked", [(tricycle(0.3, steered=False), {}),
                                          (tricycle(), {"steer": 0.3})])
def test_a_front_wheel_at_an_angle_rolls_on_a_circle(text, locked):
    """The centre is on the rear axle, wheelbase / tan(angle) to the left."""
    vehicle = nhmech.load(text, locked=locked)
    assert (mobility(vehicle).degree, vehicle.frame.nxi) == (1, 1)
    q = vehicle.configuration()
    v = vehicle.equations.velocity(0.0, q, [1.0], vehicle.theta).full().ravel()
    assert v[0] / v[5] == pytest.approx(0.6 / np.tan(0.3), rel=1e-9)
    if not locked:
        assert "(0, 1.9396) m" in vehicle.description.notices[0].text


def test_held_straight_it_rolls_straight():
    vehicle = nhmech.load(tricycle(), locked={"steer": 0.0})
    assert (mobility(vehicle).degree, vehicle.description.skid) == (1, None)


def test_a_third_wheel_that_nothing_steers_slips_sideways():
    vehicle = nhmech.load(tricycle(0.0, steered=False))
    assert vehicle.description.skid == Released(("front_joint",))
    assert vehicle.description.notices[0].kind is NoticeKind.SKID
    assert mobility(vehicle).degree == 2


def trailer(*axles: float) -> str:
    """A tricycle and a trailer behind it, with wheels so far [m] behind the hitch."""
    hitch = joint("hitch", "base", "trailer", (-0.3, 0.0, 0.0), axis="0 0 1")
    return tricycle().replace("</robot>", link("trailer", mass=5) + hitch + "".join(
        wheel(f"t{k}{side}", -x, y, parent="trailer") for k, x in enumerate(axles)
        for side, y in (("l", 0.2), ("r", -0.2))) + "</robot>")


@pytest.mark.parametrize("axles, rolling", [((0.8, 1.1), 1)])
def test_of_tandem_axles_behind_a_hitch_one_rolls(axles, rolling):
    vehicle = nhmech.load(trailer(*axles))
    alone = nhmech.load(trailer(axles[rolling]))
    released = tuple(f"t{k}{side}_joint" for k in range(len(axles)) if k != rolling
                     for side in "lr")
    assert vehicle.description.skid == Released(released)
    assert vehicle.description.notices[0].kind is NoticeKind.SKID
    assert (mobility(vehicle).degree, mobility(vehicle).steerability) == (
        mobility(alone).degree, mobility(alone).steerability)
    assert vehicle.frame.nxi == alone.frame.nxi


@pytest.mark.parametrize("axles", [(0.8,), (0.8, 1.1)])
def test_a_skid_steer_may_draw_a_trailer(axles):
    """With one axle behind it, it skids about its middle; with two, one axle of each rolls."""
    text = trailer(*axles).replace("steer", "unused")
    text = robot(four(), text[text.index('<link name="trailer"'):].removesuffix("</robot>"))
    vehicle = nhmech.load(text)
    assert mobility(vehicle).degree == 2
    if len(axles) == 1:
        assert vehicle.description.skid == MidAxle()
    else:
        assert vehicle.description.skid == Released(("c_joint", "d_joint", "t0l_joint",
                                                     "t0r_joint"))


def test_behind_a_steered_axle_one_of_two_axles_rolls():
    text = car("0 0 1", '<limit lower="-1" upper="1" effort="1" velocity="1"/>').replace(
        "</robot>", wheel("e", -0.6, 0.2) + wheel("f", -0.6, -0.2) + "</robot>")
    vehicle = nhmech.load(text)
    assert vehicle.description.skid == Released(("c_joint", "d_joint"))
    assert (mobility(vehicle).degree, mobility(vehicle).steerability) == (1, 1)


def test_of_six_wheels_the_middle_ones_may_hold():
    text = robot("".join(wheel(f"{side}{k}", x, y) for k, x in enumerate((0.4, 0.0, -0.4))
                         for side, y in (("l", 0.2), ("r", -0.2))), PLANAR)
    description = describe(text)
    assert description.skid == MidAxle() and kinds(description) == {"disc"}
    assert "skid=('l0_joint', 'r0_joint', 'l2_joint', 'r2_joint')" in (
        description.notices[0].remedy.python)
    some = describe(text, skid=["l0_joint", "r0_joint"])
    assert some.skid == Released(("l0_joint", "r0_joint"))
    assert "only go straight" in some.notices[0].text


def car(axis: str, limit: str) -> str:
    fronts = "".join(
        link(f"knuckle_{n}") + joint(f"kingpin_{n}", "base", f"knuckle_{n}", (0.3, y, 0.0),
                                     kind="revolute", axis=axis, limit=limit)
        + wheel(n, 0.0, 0.0, parent=f"knuckle_{n}") for n, y in (("a", 0.2), ("b", -0.2)))
    return robot(fronts, wheel("c", -0.3, 0.2), wheel("d", -0.3, -0.2))


NO_RANGE = '<limit lower="0" upper="0" effort="0" velocity="0"/>'


def test_steering_held_so_that_the_axles_do_not_meet():
    """One joint held is enough: the line that is offered loads, and the other one follows."""
    text = car("0 0 1", '<limit lower="-1" upper="1" effort="1" velocity="1"/>')
    with pytest.raises(ModelError, match="do not meet in one point") as caught:
        describe(text, locked={"kingpin_a": 0.3, "kingpin_b": 0.2})
    assert "locked={'kingpin_a': 0.3}" in caught.value.remedy.python
    vehicle = nhmech.load(text, locked={"kingpin_a": 0.3})
    angle = vehicle.joint_positions(vehicle.configuration())["kingpin_b"]
    assert 1 / np.tan(angle) - 1 / np.tan(0.3) == pytest.approx(0.4 / 0.6, rel=1e-9)


def test_steering_about_the_axle_is_refused_for_what_it_is():
    with pytest.raises(ModelError, match="turns about the axle of the wheel") as caught:
        describe(car("0 1 0", NO_RANGE))
    assert "kingpin_a" in str(caught.value) and '<axis xyz="0 0 1"/>' in str(caught.value)


def test_steering_without_range_is_freed_by_the_line_that_is_offered():
    with pytest.raises(ModelError, match="its limits are both 0") as caught:
        describe(car("0 0 1", NO_RANGE))
    assert "free=['kingpin_a', 'kingpin_b']" in caught.value.remedy.python
    vehicle = nhmech.load(car("0 0 1", NO_RANGE), free=["kingpin_a", "kingpin_b"])
    found = mobility(vehicle)
    assert (found.degree, found.steerability) == (1, 1)
    assert vehicle.limits["kingpin_a"].upper > 0


# --- what is given wins ---------------------------------------------------------------------------

def test_what_is_given_wins_and_the_file_s_word_is_told():
    text = robot(four(), MECANUM)
    skidding = describe(text, skid="mid-axle")
    assert kinds(skidding) == {"disc"} and skidding.skid == MidAxle()
    assert skidding.notices[0].kind is NoticeKind.OTHER_KIND
    discs = [Wheel(f"{n}_joint", "disc", RADIUS) for n in CORNERS]
    listed = describe(text, wheels=discs)
    assert kinds(listed) == {"disc"} and listed.skid == MidAxle()
    assert [n.kind for n in listed.notices[:2]] == [NoticeKind.OTHER_KIND, NoticeKind.SKID]
    rollers = [Wheel(f"{n}_joint", "mecanum", RADIUS, roller_angle=a)
               for n, a in zip(CORNERS, USUAL.values())]
    assert not [n for n in describe(text, wheels=rollers).notices
                if n.kind in (NoticeKind.OTHER_KIND, NoticeKind.SKID)]
    assert describe(robot(four(), SKID), wheels=rollers).notices[0].kind is NoticeKind.OTHER_KIND
