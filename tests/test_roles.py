"""Who steers, who drives, and what is held: only what rolling needs is free."""

from __future__ import annotations

import numpy as np
import pytest
from test_kinds import RADIUS, SKID, four, joint, link, plugin, robot, wheel

import nhmech
from nhmech.analysis import mobility
from nhmech.errors import InputError
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheel import Wheel

LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
REAR = wheel("left", 0.0, 0.2) + wheel("right", 0.0, -0.2)


def steered(name: str, x: float, y: float, **more) -> str:
    """A wheel below an upright joint."""
    return (link(f"{name}_fork") + joint(f"{name}_steer", "base", f"{name}_fork", (x, y, 0.0),
                                         kind="revolute", axis="0 0 1", limit=LIMIT)
            + wheel(name, 0.0, 0.0, parent=f"{name}_fork", **more))


def of_kind(description, kind: NoticeKind) -> list[str]:
    return [notice.text for notice in description.notices if notice.kind is kind]


WORLD = "".join(
    link(f"world{k}", mass=0.0) + joint(f"world_joint{k}", f"world{k}", child, (0.0, 0.0, 0.0),
                                        kind=kind, axis=axis, limit=limit)
    for k, (child, kind, axis, limit) in enumerate([
        ("world1", "prismatic", "1 0 0", LIMIT), ("world2", "prismatic", "0 1 0", LIMIT),
        ("base", "continuous", "0 0 1", "")]))


def test_joints_of_the_world_keep_only_the_floating_base():
    """x, y and yaw above the whole robot: the base floats without them."""
    plain, placed = (describe(robot(REAR, steered("front", 0.6, 0.0), more))
                     for more in ("", WORLD))
    assert placed.root == "world0" and set(placed.locked) == {
        "world_joint0", "world_joint1", "world_joint2"}
    assert (placed.steering, placed.driven) == (plain.steering, plain.driven)
    (said,) = of_kind(placed, NoticeKind.HELD)
    assert "3 joints" in said and "world_joint2" in said


LEG = (("hip_yaw", "0 0 1", 0.0), ("hip", "0 1 0", 0.0), ("knee", "0 1 0", -0.2),
       ("ankle_yaw", "0 0 1", -0.2))


def leg(name: str, x: float, y: float, made=LEG) -> str:
    """Joints, their axes and how far each is below the one before; and a wheel."""
    parts, parent = [], "base"
    for at, (part, axis, z) in enumerate(made):
        child = f"{name}_{part}_link"
        parts.append(link(child) + joint(f"{name}_{part}", parent, child,
                                         (x, y, z) if at == 0 else (0.0, 0.0, z),
                                         kind="revolute", axis=axis, limit=LIMIT))
        parent = child
    return "".join(parts) + wheel(name, 0.0, 0.0, parent=parent)


def test_of_a_leg_the_ankle_steers_and_the_hip_does_not():
    legs = "".join(leg(f"{end}{side}", x, y) for end, x in (("f", 0.4), ("r", -0.4))
                   for side, y in (("l", 0.3), ("r", -0.3)))
    vehicle = nhmech.load(robot(legs))
    assert set(vehicle.description.steering) == {f"{n}_ankle_yaw" for n in ("fl", "fr", "rl", "rr")}
    assert (mobility(vehicle).degree, mobility(vehicle).steerability) == (1, 2)
    (said,) = of_kind(vehicle.description, NoticeKind.HELD)
    assert "12 joints" in said


def test_without_an_ankle_the_hip_of_a_leg_does_not_steer():
    legs = "".join(leg(f"f{side}", 0.0, y, LEG[:3]) for side, y in (("l", 0.3), ("r", -0.3)))
    description = describe(robot(legs))
    assert len(description.wheels) == 2 and set(description.driven) == set(description.rolling)
    assert description.steering == ()


def test_what_is_held_is_said_once_and_released_by_the_line():
    arm = "".join(link(f"arm{k}") + joint(f"arm_joint{k}", f"arm{k - 1}" if k else "base",
                                          f"arm{k}", (0.0, 0.0, 0.3), kind="revolute",
                                          limit='<limit lower="0.2" upper="1" effort="1" '
                                                'velocity="1"/>')
                  for k in range(8))
    description = describe(robot(REAR, arm))
    (said,) = [n for n in description.notices if n.kind is NoticeKind.HELD]
    assert "8 joints" in said.text and "(8 at the limit" in said.text
    assert set(description.locked.values()) == {0.2}
    assert said.remedy.python == "To release one: free=['arm_joint0']"
    named = describe(robot(REAR, arm), locked={f"arm_joint{k}": 0.5 for k in range(8)})
    assert not of_kind(named, NoticeKind.HELD)


@pytest.mark.parametrize("lean, is_told", [(0.0, False), (0.3, True), (0.75, True)])
def test_trucks_that_steer_as_their_deck_tilts_are_told(lean, is_told):
    """Their axes lie along the board, or lean by up to 45 degrees; the user may lock them."""
    def axle(name, x):
        truck = (link(f"{name}_truck")
                 + joint(f"{name}_joint", "base", f"{name}_truck", (x, 0.0, 0.0), kind="revolute",
                         axis=f"{np.cos(lean)} 0 {np.sin(lean)}", limit=LIMIT))
        return truck + "".join(wheel(f"{name}{side}", 0.0, y, parent=f"{name}_truck")
                               for side, y in (("l", 0.2), ("r", -0.2)))
    text = robot(axle("front", 0.3), axle("rear", -0.3))
    told = of_kind(describe(text), NoticeKind.LEANING_STEERING)
    assert len(told) == is_told
    assert all(line.startswith("front_joint, rear_joint: held") for line in told)
    one = of_kind(describe(text, locked={"front_joint": 0.0}), NoticeKind.LEANING_STEERING)
    assert [line.startswith("rear_joint: held") for line in one] == [True] * is_told


@pytest.mark.parametrize("old, new, why", [
    ('axis xyz="0 0 1"', 'axis xyz="1 0 0"', ": a_steer turns about (1 0 0), and not about the"),
    ('type="revolute"', 'type="fixed"', "is")])
def test_a_wheel_that_is_not_steered_beside_one_that_is_gets_a_notice(old, new, why):
    for text, is_told in ((robot(CAR), False), (robot(CAR).replace(old, new, 1), True)):
        told = of_kind(describe(text), NoticeKind.LOCKED_STEERING)
        assert len(told) == is_told
        assert all(line.startswith("a_joint: not steered, although b_joint on the same axle is")
                   and why in line for line in told)


def test_a_caster_beside_fixed_wheels_is_no_steering():
    swivel = (link("fork") + joint("fork_joint", "base", "fork", (0.0, 0.0, 0.0), axis="0 0 1")
              + wheel("caster", -0.1, 0.0, parent="fork"))
    text = robot(REAR, swivel.replace('xyz="0.0 0.0 0.0"', 'xyz="0.1 0.0 0.0"'))
    assert not of_kind(describe(text), NoticeKind.LOCKED_STEERING)


# --- who drives ----------------------------------------------------------------------------------

CAR = steered("a", 0.6, 0.2) + steered("b", 0.6, -0.2) + REAR
STEERING = {"a_steer", "b_steer"}
PLUGINS = {
    "nothing said": ("", {"left_joint", "right_joint"} | STEERING),
    "Ackermann": (plugin("libgazebo_ros_ackermann_drive.so",
                         "".join(f"<{n}_joint>{n}_joint</{n}_joint>"
                                 for n in ("a", "b", "left", "right"))
                         + "<a_steering_joint>a_steer</a_steering_joint>"
                           "<b_steering_joint>b_steer</b_steering_joint>"),
                  {"left_joint", "right_joint"} | STEERING),
    "of another robot": (SKID.replace("a_joint", "x_joint").replace("b_joint", "y_joint"),
                         {"left_joint", "right_joint"} | STEERING),
    "front wheels alone": (
        '<ros2_control name="x" type="system"><joint name="a_joint"><command_interface '
        'name="velocity"/></joint><joint name="a_steer"><command_interface name="position"/>'
        "</joint></ros2_control>", {"a_joint", "a_steer"}),
}


@pytest.mark.parametrize("case", PLUGINS)
def test_who_drives_a_car(case):
    more, driven = PLUGINS[case]
    assert set(describe(robot(CAR, more)).driven) == driven


def test_links_that_a_plugin_calls_joints_and_names_that_nothing_has_are_told():
    """Their simulator would turn none of these; who wrote them knows what drives."""
    more = plugin("libgazebo_ros_diff_drive.so", "<left_joint>left_wheel</left_joint>"
                                                 "<right_joint>right_joint</right_joint>")
    description = describe(robot(CAR, more))
    assert description.driven == ("left_joint", "right_joint")
    assert of_kind(description, NoticeKind.UNKNOWN_JOINT) == [
        "the plugin libgazebo_ros_diff_drive.so names left_wheel as joints, but these are "
        "links; the joints that carry them are taken"]
    description = describe(robot(CAR, more.replace("left_wheel", "linke")))
    assert description.driven == ("right_joint",)
    assert of_kind(description, NoticeKind.UNKNOWN_JOINT) == [
        "the plugin libgazebo_ros_diff_drive.so names linke, which the robot does not have"]
    (told,) = of_kind(describe(robot(CAR, more.replace("left_wheel", "left_jont"))),
                      NoticeKind.UNKNOWN_JOINT)
    assert told.endswith("does not have; did you mean 'left_joint'?")


def test_the_encoder_wheels_of_a_tricycle_are_not_driven():
    more = plugin("libgazebo_ros_tricycle_drive.so",
                  "<steeringJoint>front_steer</steeringJoint>"
                  "<actuatedWheelJoint>front_joint</actuatedWheelJoint>"
                  "<encoderWheelLeftJoint>left_joint</encoderWheelLeftJoint>"
                  "<encoderWheelRightJoint>right_joint</encoderWheelRightJoint>")
    description = describe(robot(REAR, steered("front", 0.6, 0.0), more))
    assert set(description.driven) == {"front_joint", "front_steer"}


COMMANDS = ('<ros2_control name="x" type="system">' + "".join(
    f'<joint name="{n}_joint"><command_interface name="velocity"/></joint>'
    for n in ("left", "right")) + "</ros2_control>")


@pytest.mark.parametrize("more, wheels, said", [
    ('<nhmech><drive joint="left_joint"/></nhmech>', None, "from <nhmech>, although"),
    ("", [Wheel("left_joint", "disc", 0.1), Wheel("right_joint", "disc", 0.1, driven=False)],
     "from the wheels given, although"),
])
def test_the_user_s_drive_wins_and_the_file_s_is_told(more, wheels, said):
    description = describe(robot(REAR, COMMANDS, more), wheels=wheels)
    assert description.driven == ("left_joint",)
    (told,) = of_kind(description, NoticeKind.DRIVEN_FROM)
    assert said in told and "<ros2_control> drives left_joint, right_joint" in told


@pytest.mark.parametrize("tag", ["ros2_control", "transmission"])
def test_hardware_of_wheels_alone_leaves_the_motors_of_the_steering_unsaid(tag):
    """Without them, wheels that do not trail would be turned by nothing."""
    more = COMMANDS if tag == "ros2_control" else "".join(
        f'<transmission><joint name="{n}_joint"/></transmission>' for n in ("left", "right"))
    description = describe(robot(CAR, more))
    assert set(description.driven) == {"left_joint", "right_joint"} | STEERING
    (told,) = of_kind(description, NoticeKind.DRIVEN_FROM)
    assert told == f"driven joints from <{tag}>, and the steering, of which nothing is said there"


def test_knuckles_that_a_rack_turns_are_driven():
    """Their joints are continuous and on their wheels, as those of casters that nothing turns."""
    rack = link("rack") + joint("rack_joint", "base", "rack", (0.6, 0.0, 0.1), kind="prismatic",
                                axis="0 1 0", limit=LIMIT)
    mimic = '<mimic joint="rack_joint" multiplier="12"/>'
    knuckles = "".join(
        steered(n, 0.6, y).replace(LIMIT, mimic).replace('"revolute"', '"continuous"')
        for n, y in (("a", 0.2), ("b", -0.2)))
    more = COMMANDS.replace("</ros2_control>", '<joint name="rack_joint"><command_interface '
                            'name="position"/></joint></ros2_control>')
    description = describe(robot(knuckles, REAR, rack, more))
    assert set(description.driven) == {"left_joint", "right_joint"} | STEERING
    assert {w.kind for w in description.wheels} == {"disc"}


@pytest.mark.parametrize("limit", ["3.14", "3.14159", "6.28"])
def test_a_swivel_with_limits_of_a_full_turn_is_one(limit):
    """It swings round in a bend, past its limits."""
    end = f'<limit lower="-{limit}" upper="{limit}" effort="0" velocity="0"/>'
    swivel = (link("fork") + joint("fork_joint", "base", "fork", (0.6, 0.0, 0.1), kind="revolute",
                                   axis="0 0 1", limit=end)
              + wheel("small", -0.1, 0.0, parent="fork").replace('-0.1 0.0 0.0', '-0.1 0.0 -0.1'))
    description = describe(robot(REAR, swivel))
    assert set(description.driven) == {"left_joint", "right_joint"}
    assert np.isinf([description.limits["fork_joint"].lower,
                     description.limits["fork_joint"].upper]).all()
    assert any("fork_joint: swings all the way round" in text
               for text in of_kind(description, NoticeKind.IGNORED_LIMITS))


@pytest.mark.parametrize("ends, meant", [((-30, 30), True), ((-35.5, 30), True), ((-6, 6), False),
                                         ((-7.3, 7.3), False)])
def test_limits_of_steering_that_look_like_degrees_are_told(ends, meant):
    """Whole or half numbers above a turn."""
    lower, upper = ends
    text = robot(REAR, steered("front", 0.6, 0.0)).replace(
        'lower="-1" upper="1"', f'lower="{lower}" upper="{upper}"')
    told = of_kind(describe(text), NoticeKind.DEGREES)
    assert len(told) == meant
    radians = [f'"{value:.4g}"' for value in np.radians(ends)]
    assert all("front_steer" in line and all(map(line.__contains__, radians)) for line in told)


def test_where_all_wheels_steer_all_drive():
    modules = "".join(steered(n, x, y) for n, x, y in (("a", 0.3, 0.2), ("b", 0.3, -0.2),
                                                       ("c", -0.3, 0.2), ("d", -0.3, -0.2)))
    description = describe(robot(modules))
    assert set(description.driven) == {*description.rolling, *description.steering}


def truck(*names: str) -> str:
    """A fork-lift: a steered wheel behind, and two rollers under its forks."""
    steers, *rollers = names
    shape = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry>'
             '<cylinder radius="0.03" length="0.06"/></geometry></collision>')
    return steered(steers, -0.6, 0.0) + "".join(
        link(f"{name}_wheel", shape)
        + joint(f"{name}_joint", "base", f"{name}_wheel", (0.8, y, 0.03 - RADIUS))
        for name, y in zip(rollers, (0.2, -0.2)))


@pytest.mark.parametrize("names, what", [
    (("a", "b", "c"), "the others are rollers beside them"),
    (("traction", "b", "c"), "have a word for a motor")])
def test_rollers_that_carry_the_load_do_not_drive(names, what):
    description = describe(robot(truck(*names)))
    assert set(description.driven) == {f"{names[0]}_steer", f"{names[0]}_joint"}
    (told,) = of_kind(description, NoticeKind.DRIVEN_FROM)
    assert what in told


def test_of_wheels_of_one_size_those_named_after_a_motor_drive():
    car = REAR + steered("traction", 0.6, 0.0)
    assert set(describe(robot(car)).driven) == {"traction_joint", "traction_steer"}
    assert set(describe(robot(car.replace("traction", "front"))).driven) == {
        "left_joint", "right_joint", "front_steer"}


# --- numbers of wheels ---------------------------------------------------------------------------

@pytest.mark.parametrize("kind, limit", [
    ("revolute", '<limit lower="0" upper="0" effort="0" velocity="0"/>'),
    ("revolute", '<limit effort="1" velocity="0"/>'),
    ("continuous", '<limit effort="0" velocity="0"/>'),
    ("continuous", '<limit lower="0" upper="0" effort="1" velocity="1"/>'),
    ("continuous", ""),
])
def test_limits_of_nothing_do_not_hold_a_wheel(kind, limit):
    text = robot(REAR.replace("</joint>", limit + "</joint>")
                 .replace('type="continuous"', f'type="{kind}"'))
    description = describe(text)
    limits = description.limits["left_joint"]
    assert limits.lower == -float("inf") and limits.velocity > 0 and limits.effort > 0


def test_friction_of_the_file_is_known_wheel_by_wheel():
    text = robot(REAR, '<gazebo reference="left_wheel"><mu1>0.8</mu1><mu2>10</mu2></gazebo>'
                       '<gazebo reference="base"><mu1>0.1</mu1></gazebo>')
    assert describe(text).mu == {"left_joint": 0.8}
    planar = robot(four(), plugin("libgazebo_ros_planar_move.so"), "".join(
        f'<gazebo reference="{n}_wheel"><mu1>0.01</mu1><mu2>0.01</mu2></gazebo>' for n in "abcd"))
    assert describe(planar).mu == {}


@pytest.mark.parametrize("driven", [True, False])
def test_a_contact_without_a_joint_cannot_be_driven(driven):
    with pytest.raises(InputError, match="driven=.* without a joint"):
        Wheel(None, "caster_ball", 0.03, link="caster", driven=driven)


def test_a_disc_does_not_become_a_torus_by_a_parameter():
    vehicle = nhmech.load(robot(REAR))
    with pytest.raises(InputError, match="unknown parameter 'left_joint.crown'"):
        vehicle.with_parameters({"left_joint.crown": 0.02})
    torus = nhmech.load(robot(REAR), wheels=[Wheel(f"{side}_joint", "torus", 0.1, crown=0.01)
                                             for side in ("left", "right")])
    assert torus.with_parameters({"left_joint.crown": 0.02}).parameters["left_joint.crown"] == 0.02
