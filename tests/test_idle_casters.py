"""Upright joints above a wheel that nothing can turn: neither a trail nor a motor does."""

import numpy as np
import pytest
from support import joint, link, robot

import nhmech
from nhmech.analysis.mobility import mobility
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind

WHEEL = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry>'
         '<cylinder radius="{r}" length="0.03"/></geometry></collision>')
DIFFERENTIAL = ('<gazebo><plugin filename="libgazebo_ros_diff_drive.so"><left_joint>left_joint'
                '</left_joint><right_joint>right_joint</right_joint></plugin></gazebo>')


def below(base: str, name: str, x: float, y: float, trail: float = 0.0, more: str = "",
          kind: str = "continuous", r: float = 0.05, across: float = 0.0) -> str:
    """A wheel below an upright joint."""
    return (link(f"{name}_fork", 0.1) + link(f"{name}_wheel", 0.4, body=WHEEL.format(r=r))
            + joint(f"{name}_swivel", base, f"{name}_fork", (x, y, r), axis=(0, 0, 1), kind=kind,
                    more=more)
            + joint(f"{name}_joint", f"{name}_fork", f"{name}_wheel", (-trail, across, 0)))


def four(word: str, *elements: str, **arguments) -> str:
    return robot(link("base", 20, (1, 1, 1), (0, 0, 0.1)), *(
        below("base", f"{word}_{i}", x, y, **arguments)
        for i, (x, y) in enumerate([(0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15)])),
        *elements)


def moved(*names: str) -> str:
    """Motors."""
    return "".join(f'<transmission><joint name="{n}"><hardwareInterface>VelocityJointInterface'
                   '</hardwareInterface></joint></transmission>' for n in names)


def test_wheels_below_casters_that_nothing_could_turn_have_rollers():
    """The base of a machine with rollers, drawn with casters for its simulator."""
    d = describe(four("caster"))
    assert [w.kind for w in d.wheels] == ["mecanum"] * 4
    assert d.steering == () and set(d.locked) == {f"caster_{i}_swivel" for i in range(4)}
    text = next(n.text for n in d.notices if n.kind is NoticeKind.ROLLERS)
    assert "by upright joints above them that have neither trail nor motor" in text
    assert mobility(nhmech.load(four("caster"))).type == (3, 0)


def test_fixed_casters_above_wheels_with_motors_are_none():
    wheels = [f"caster_{i}_joint" for i in range(4)]
    assert [w.kind for w in describe(four("caster", moved(*wheels), kind="fixed")).wheels] == [
        "mecanum"] * 4
    without = describe(four("caster", kind="fixed"))       # those of a cart that goes straight
    assert {w.kind for w in without.wheels} == {"disc"} and without.skid is not None


def test_the_wheel_may_be_named_caster_and_not_its_fork():
    text = four("unit").replace("_wheel", "_caster")
    assert [w.kind for w in describe(text).wheels] == ["mecanum"] * 4


SWIVELS = [f"caster_{i}_swivel" for i in range(4)]


@pytest.mark.parametrize("text", [
    four("unit"),                                    # nothing says who drives: a swerve
    four("caster", moved(*SWIVELS)),                 # the casters have motors
    four("caster", trail=0.03),                      # they swing
    four("caster", kind="revolute", more='<limit lower="-1" upper="1" effort="1" velocity="1"/>'),
    four("caster", across=0.02),                     # the wheel turns its joint when it rolls
    four("unit", moved(*(f"unit_{i}_joint" for i in range(4)))),     # who drives them steers them
    four("steer", moved("steer_0_joint", "steer_1_joint")),
])
def test_wheels_that_something_turns_are_steered(text):
    d = describe(text)
    assert len(d.steering) == 4 and {w.kind for w in d.wheels} == {"disc"}


def test_a_caster_that_is_freed_is_steered():
    d = describe(four("caster"), free=SWIVELS)
    assert set(d.steering) == set(SWIVELS) and {w.kind for w in d.wheels} == {"disc"}


@pytest.mark.parametrize(("word", "elements"), [("caster", ()), ("support", (DIFFERENTIAL,))])
@pytest.mark.parametrize("count", [1, 2])
def test_a_differential_drive_turns_whatever_its_caster_does(word, elements, count):
    driven = "".join(link(side, body=WHEEL.format(r=0.05))
                     + joint(f"{side}_joint", "base", side, (0, y, 0.05))
                     for side, y in (("left", 0.15), ("right", -0.15)))
    casters = (below("base", f"{word}_{i}", (-0.12, 0.12)[i], 0, r=0.02) for i in range(count))
    vehicle = nhmech.load(robot(link("base", 5, com=(-0.02, 0, 0)), driven, *casters, *elements))
    kinds = [w.kind for w in vehicle.description.wheels]
    assert kinds == ["disc", "disc"] + ["omni"] * count
    assert mobility(vehicle).type == (2, 0)
    assert vehicle.speeds == vehicle.description.driven == ("left_joint", "right_joint")


def test_wheels_about_a_middle_are_not_offered_as_tyres_that_could_not_roll_on():
    """A line to paste has to load."""
    parts = []
    for i, angle in enumerate((60, 180, 300)):
        x, y = 0.15 * np.cos(np.radians(angle)), 0.15 * np.sin(np.radians(angle))
        parts += [link(f"wheel_{i}", 0.2, body=WHEEL.format(r=0.05)),
                  joint(f"wheel_{i}_joint", "base", f"wheel_{i}", (round(x, 4), round(y, 4), 0.05),
                        (0, 0, round(np.radians(angle) + np.pi / 2, 4)))]
    text = robot(link("base", 3), *parts)
    [notice] = [n for n in nhmech.load(text).notices if n.kind is NoticeKind.ROLLERS]
    assert "their axles meet amid them" in notice.text and notice.remedy is None


def turntable(casters: str) -> str:
    """A body that turns upon two wheels whose axle is behind the upright joint."""
    wheel = WHEEL.format(r=0.04)
    ball = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
    end = '<limit lower="-9.4" upper="9.4" effort="10" velocity="2"/>'
    height = 0.04 if casters == "base" else 0.0
    return robot(
        link("base", 20, (1, 1, 1), (0, 0, 0.3)), link("roll", 5, (0.1,) * 3),
        joint("base_roll", "base", "roll", (0, 0, 0.04), axis=(0, 0, 1), kind="revolute", more=end),
        *(link(f"{side}_wheel", 0.5, body=wheel)
          + joint(f"{side}_joint", "roll", f"{side}_wheel", (-0.11, y, 0))
          + link(f"{side}_ball", 0.1, body=ball)
          + joint(f"{side}_ball_joint", casters, f"{side}_ball", (0.11, y, height - 0.02),
                  kind="fixed")
          for side, y in (("left", 0.13), ("right", -0.13))))


@pytest.mark.parametrize("casters", ["roll", "base"])
def test_a_turntable_is_turned(casters):
    """All wheels are below it, and a body stands on it: it follows none, and is no joint of the
    world. With the axle off it the body goes any way."""
    vehicle = nhmech.load(turntable(casters))
    d = vehicle.description
    assert d.steering == ("base_roll",) and d.locked == {}
    assert set(d.driven) == {"base_roll", "left_joint", "right_joint"}
    assert mobility(vehicle).type == (3, 0)


def test_joints_of_a_world_take_no_turntable():
    """Links that place a robot have any mass and are not drawn; the body on the turntable is."""
    text = turntable("roll").replace('<link name="base">', '<link name="base"><visual><geometry>'
                                     '<box size="0.5 0.3 0.2"/></geometry></visual>')
    chain = [link(name, 1.0) for name in ("world", "x", "y")]
    for parent, child, kind, axis in (("world", "x", "prismatic", (1, 0, 0)),
                                      ("x", "y", "prismatic", (0, 1, 0)),
                                      ("y", "base", "continuous", (0, 0, 1))):
        more = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
        chain.append(joint(f"to_{child}", parent, child, kind=kind, axis=axis, more=more))
    alone, placed = (describe(text.replace("</robot>", "".join(more) + "</robot>"))
                     for more in ([], chain))
    assert placed.root == "world" and alone.root == "base"
    assert (placed.steering, placed.driven) == (alone.steering, alone.driven)


def test_where_all_wheels_trail_none_follows():
    """Modules with an offset; told apart from casters by what they are called."""
    d = describe(four("module", trail=0.01))
    assert set(d.driven) == {*d.steering, *d.rolling} and len(d.steering) == 4
    for name in ("caster", "Castor"):
        assert describe(four(name, trail=0.01)).driven == ()
    turned = '<link name="map"/>' + joint("yaw", "map", "base", (0.3, 0, 0), axis=(0, 0, 1))
    placed = describe(four("module", trail=0.01).replace("</robot>", turned + "</robot>"))
    assert placed.root == "map" and (placed.steering, placed.driven) == (d.steering, d.driven)
