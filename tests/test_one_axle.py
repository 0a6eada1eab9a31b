"""Wheels that were meant to be on one axle are on one: those of exporters and of real robots are
a little beside it."""

import random

import pytest
from metamorphic import crooked, robot_names, robots
from support import joint, link, robot, sampled

import nhmech
from nhmech.analysis.mobility import mobility
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind

WHEEL = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry>'
         '<cylinder radius="0.1" length="0.04"/></geometry></collision>')
BALL = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'


def cart(x: float = 0.0, yaw: float = 0.0, y: float = -0.2) -> str:
    """Two driven wheels 0.4 m apart and a ball; the right wheel stands at x and is turned by
    yaw."""
    return robot(
        link("base", 10, com=(-0.1, 0, 0)), link("left", body=WHEEL), link("right", body=WHEEL),
        link("ball", 0.1, (1e-4, 1e-4, 1e-4), body=BALL),
        joint("left_joint", "base", "left", (0, 0.2, 0)),
        joint("right_joint", "base", "right", (x, y, 0), (0, 0, yaw)),
        joint("ball_joint", "base", "ball", (-0.3, 0, -0.05), kind="fixed"))


# what exporters leave of the digits, and what is measured on a real robot
@pytest.mark.parametrize(("x", "yaw"), [(1e-6, 0), (1e-5, 0), (1e-4, 0), (1e-3, 0), (4e-3, 0),
                                        (0, 1e-6), (0, 1e-4), (0, 0.01), (2e-4, -3e-3)])
def test_two_wheels_that_are_not_quite_on_one_line_turn_as_two_that_are(x, yaw):
    vehicle = nhmech.load(cart(x, yaw))
    assert vehicle.speeds == ("left_joint", "right_joint")
    assert mobility(vehicle).type == (2, 0)
    simulator = nhmech.Simulator(vehicle)
    simulator.reset(xi={"left_joint": -2.0, "right_joint": 2.0})
    # two wheels of 0.1 m, 0.4 m apart, that turn against each other
    assert simulator.state.v[5] == pytest.approx(2 * 0.1 * 2.0 / 0.4, rel=1e-4)


@pytest.mark.parametrize(("x", "yaw", "says"), [
    (4e-4, 0, "by up to 0.2 mm"), (0, 2e-3, "by up to 0.2 mm and 0.057 degrees"),
    (1e-4, 1e-4, None)])
def test_the_notice_says_by_how_much_the_wheels_are_moved_to_the_middle(x, yaw, says):
    texts = [n.text for n in describe(cart(x, yaw)).notices if n.kind is NoticeKind.ONE_AXLE]
    assert texts == ([] if says is None else [
        "moved to where wheels of one axle, or below one pivot, are: left_joint, right_joint "
        f"({says})"])


def test_wheels_that_are_on_one_line_stay_as_the_file_has_them():
    assert 'xyz="0.0 -0.2 0"' in describe(cart()).xml


def test_listed_wheels_are_put_on_one_line_too():
    wheels = [nhmech.Wheel("left_joint", "disc", 0.1), nhmech.Wheel("right_joint", "disc", 0.1),
              nhmech.Wheel(None, "caster_ball", 0.05, link="ball")]
    assert mobility(nhmech.load(cart(1e-4), wheels=wheels)).type == (2, 0)


def loader(yaw: float) -> str:
    """A vehicle that bends in its middle; the rear wheels are drawn into the rear body, which
    stands at an angle to the front one."""
    return robot(
        link("front", 10, com=(0.1, 0, 0)), link("left", body=WHEEL), link("right", body=WHEEL),
        joint("left_joint", "front", "left", (0, 0.2, 0)),
        joint("right_joint", "front", "right", (0, -0.2, 0)),
        link("rear", 10, com=(-0.4, 0, 0)), link("rear_left", body=WHEEL),
        link("rear_right", body=WHEEL),
        joint("bend", "front", "rear", (-0.5, 0, 0.1), (0, 0, yaw), (0, 0, 1), "revolute",
              '<limit lower="-0.7" upper="0.7" effort="9" velocity="9"/>'),
        joint("rear_left_joint", "rear", "rear_left", (-0.5, 0.2, -0.1), kind="fixed"),
        joint("rear_right_joint", "rear", "rear_right", (-0.5, -0.2, -0.1), kind="fixed"))


@pytest.mark.parametrize("yaw", [0.0, 1e-5, 0.0145, 0.05])
def test_blades_of_a_body_that_stands_at_an_angle_share_its_axle(yaw):
    vehicle = nhmech.load(loader(yaw))
    assert [w.kind for w in vehicle.description.wheels] == ["disc", "disc", "blade", "blade"]
    assert vehicle.description.steering == ("bend",)
    assert len(vehicle.speeds) == 2


@pytest.mark.parametrize("name", sampled(robot_names(), 8))
def test_a_crooked_robot_has_the_freedoms_of_the_straight_one(name):
    straight = robots()[name]
    bent = crooked(straight, random.Random(name), None)
    before = nhmech.load(straight.text, packages=straight.packages)
    after = nhmech.load(bent.text, packages=bent.packages)
    assert len(after.speeds) == len(before.speeds)
    assert mobility(after).type == mobility(before).type


def steered(trail: float) -> str:
    """A car whose front wheels stand so far behind their pivots [m], 0.1 m in size."""
    parts = [link("base", 20, (1, 1, 1), (0.3, 0, 0.1))]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(f"{side}_knuckle"), link(f"{side}_front", body=WHEEL),
                  link(f"{side}_rear", body=WHEEL),
                  joint(f"{side}_steer", "base", f"{side}_knuckle", (0.6, y, 0), axis=(0, 0, 1),
                        kind="revolute", more='<limit lower="-.6" upper=".6" effort="9" '
                        'velocity="9"/>'),
                  joint(f"{side}_roll", f"{side}_knuckle", f"{side}_front", (-trail, 0, 0)),
                  joint(f"{side}_drive", "base", f"{side}_rear", (0, y, 0))]
    return robot(*parts)


@pytest.mark.parametrize("trail", [1e-6, 1e-4, 2e-3, 4.9e-3])
def test_a_wheel_a_little_behind_its_pivot_is_steered_and_does_not_swing(trail):
    vehicle = nhmech.load(steered(trail))
    assert mobility(vehicle).type == (1, 1)
    assert set(vehicle.description.steering) <= set(vehicle.description.driven)


def test_a_pivot_with_limits_beside_the_wheel_is_driven():
    assert "left_steer" in describe(steered(0.03)).driven


def test_wheels_of_one_axle_that_nearly_have_one_radius_have_one():
    text = cart().replace('radius="0.1"', 'radius="0.10003"', 1)
    assert [w.radius for w in describe(text).wheels[:2]] == pytest.approx([0.100015] * 2, abs=1e-12)
    text = cart().replace('radius="0.1"', 'radius="0.103"', 1)
    assert {w.radius for w in describe(text).wheels[:2]} == {0.1, 0.103}


@pytest.mark.parametrize("size", [0.05, 1.0, 20.0])
def test_what_swings_in_does_not_depend_on_the_size(size):
    """A free fork ahead of two driven wheels: its wheel trails, or stands below its pivot."""
    names = ("one", "two", "fork", "roll")
    wheels = [nhmech.Wheel("left", "disc", 0.1 * size), nhmech.Wheel("right", "disc", 0.1 * size),
              nhmech.Wheel("turn", "disc", 0.05 * size)]
    for trail, driven in ((0.03, ()), (0.015, ()), (0.002, ("pivot",)), (0.0, ("pivot",))):
        text = robot(link("base", 10), *(link(name, 0.1) for name in names),
                     joint("left", "base", "one", (0, 0.2 * size, 0.1 * size)),
                     joint("right", "base", "two", (0, -0.2 * size, 0.1 * size)),
                     joint("pivot", "base", "fork", (0.4 * size, 0, 0.1 * size), axis="0 0 1"),
                     joint("turn", "fork", "roll", (-trail * size, 0, -0.05 * size)))
        assert describe(text, wheels=wheels).driven == ("left", "right", *driven)
