"""Balls that only support, on whatever joint a file hangs them, and brushes that no wheel is."""

import re

import numpy as np
import pytest
from placed import mesh
from support import joint, link, robot

import nhmech
from nhmech import Simulator
from nhmech.analysis.mobility import mobility
from nhmech.control import TwistDrive
from nhmech.simulation.state import planar_pose
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind

DIFFERENTIAL = ('<gazebo><plugin filename="libgazebo_ros_diff_drive.so"><left_joint>left_joint'
                '</left_joint><right_joint>right_joint</right_joint></plugin></gazebo>')


def round_(r: float, width: float) -> str:
    return ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry>'
            f'<cylinder radius="{r}" length="{width}"/></geometry></collision>')


def sphere(r: float) -> str:
    return f'<collision><geometry><sphere radius="{r}"/></geometry></collision>'


def pair(r: float = 0.1, size: float = 1.0) -> list[str]:
    return [part for side, y in (("left", 0.2), ("right", -0.2)) for part in (
        link(f"{side}_wheel", 0.5, (1e-3,) * 3, body=round_(r * size, 0.04 * size)),
        joint(f"{side}_joint", "base", f"{side}_wheel", (0, y * size, r * size)))]


def cart(*others: str, drive: str = DIFFERENTIAL) -> str:
    return robot(link("base", 6, (0.1, 0.2, 0.2), (0.05, 0, 0.15)), *pair(), *others, drive)


def ball(name: str = "caster", axis=(0, 1, 0), at=(0.3, 0, 0.05), r: float = 0.05) -> str:
    return (link(name, 0.2, (2e-4,) * 3, body=sphere(r))
            + joint(f"{name}_joint", "base", name, at, axis=axis))


@pytest.mark.parametrize("drive", [DIFFERENTIAL, ""])
@pytest.mark.parametrize("axis", [(0, 1, 0), (1, 0, 0), (0, 0, 1), (1, 1, 1), (0.6, 0.8, 0)])
@pytest.mark.parametrize("name", ["caster", "front_ball"])
def test_a_ball_supports_whatever_axis_it_turns_about(name, axis, drive):
    """As on a fixed joint: 2 (m, b) of mobility, for a ball bars no way."""
    d = describe(cart(ball(name, axis), drive=drive))
    assert [(w.name, w.kind) for w in d.wheels[2:]] == [(name, "caster_ball")]
    assert set(d.driven) == {"left_joint", "right_joint"} and d.steering == ()
    fixed = describe(cart(ball(name, axis).replace("continuous", "fixed"), drive=drive))
    assert d.wheels == fixed.wheels


def test_a_ball_supports_a_cart_whose_wheels_are_meshes(tmp_path):
    """Nothing but the rim in its mesh says that a wheel without a motor is one."""
    ring = [(0.1 * np.sin(t), side * 0.02, 0.1 * np.cos(t)) for t in np.arange(48) * np.pi / 24
            for side in (-1, 1)]
    drawn = mesh(tmp_path / "tyre.stl", ring)
    cylinders = cart(ball("front_ball"), drive="")
    meshes = cylinders.replace(round_(0.1, 0.04), drawn)
    assert meshes.count("tyre.stl") == 2
    found, known = describe(meshes), describe(cylinders)
    assert [(w.name, w.kind) for w in found.wheels] == [(w.name, w.kind) for w in known.wheels]
    assert found.driven == known.driven and len(found.wheels) == 3


def test_a_plate_beside_a_small_ball_is_its_bracket():
    """A radius of the wheels away, however small the balls are."""
    plate = '<collision><geometry><box size="0.02 0.02 0.02"/></geometry></collision>'
    parts = [part for end, x in (("front", 0.3), ("rear", -0.3)) for part in (
        ball(f"{end}_caster_ball", at=(x, 0, 0.02), r=0.02).replace("continuous", "fixed"),
        link(f"{end}_caster_plate", 0.1, (1e-4,) * 3, body=plate),
        joint(f"{end}_plate_joint", "base", f"{end}_caster_plate", (x, 0.05, 0.013),
              kind="fixed"))]
    assert [w.name for w in describe(cart(*parts)).wheels[2:]] == ["front_caster_ball",
                                                                   "rear_caster_ball"]


def test_a_cart_on_a_ball_turns_on_the_spot():
    vehicle = nhmech.load(cart(ball()))
    assert mobility(vehicle).type == (2, 0)
    run = Simulator(vehicle, TwistDrive(vehicle, (0, 0, 0.5)), mode="kinematic").run(2.0)
    x, y, yaw = planar_pose(run.q[-1])
    assert np.allclose([x, y, yaw], [0, 0, 1.0], atol=1e-9)


def test_a_ball_below_an_upright_joint_without_a_trail_supports():
    swivel = link("fork", 0.1) + joint("swivel", "base", "fork", (0.3, 0, 0.05), axis=(0, 0, 1))
    on_fork = swivel + ball(at=(0, 0, 0)).replace('parent link="base"', 'parent link="fork"')
    d = describe(cart(on_fork))
    assert [w.kind for w in d.wheels] == ["disc", "disc", "caster_ball"] and d.steering == ()
    trailing = on_fork.replace('xyz="0 0 0"', 'xyz="-0.03 0 0"', 1)
    assert describe(cart(trailing)).steering == ("swivel",)


@pytest.mark.parametrize("text", [
    cart(ball("front_wheel"), drive=DIFFERENTIAL.replace(
        "</plugin>", "<left_joint>front_wheel_joint</left_joint></plugin>")),
    robot(link("base", 6, com=(0, 0, 0.1)), *(
        ball(f"{end}_{side}_wheel", at=(x, y, 0.1), r=0.1)
        for end, x in (("front", 0.2), ("rear", -0.2))
        for side, y in (("left", 0.2), ("right", -0.2)))),
])
def test_a_ball_with_a_motor_rolls_and_so_do_balls_alone(text):
    assert {w.kind for w in describe(text).wheels} == {"disc"}


def test_a_brush_is_no_wheel():
    """A roller three times as wide as high that touches the floor, driven by a motor of its own."""
    brush = (link("brush", 0.1, (1e-4,) * 3, body=round_(0.03, 0.18))
             + joint("brush_joint", "base", "brush", (0.1, 0, 0.03)))
    told = ('<ros2_control><joint name="brush_joint"><command_interface name="velocity"/></joint>'
            '</ros2_control>')
    d = describe(cart(ball(), brush, told))
    assert [w.name for w in d.wheels] == ["left_joint", "right_joint", "caster"]
    note = next(n for n in d.notices if n.kind is NoticeKind.HANDLE)
    assert "brush_joint: no wheel, because it is far wider than high" in str(note)
    assert "Wheel('brush_joint', 'disc', 0.03)" in note.remedy.python
    # three wheels of which nothing calls one a wheel stand without it
    three = robot(link("base", 6, com=(0.1, 0, 0.1)), *(
        link(f"{n}_part", 0.3, body=round_(0.1, 0.03)) + joint(f"{n}_joint", "base", f"{n}_part",
                                                               (x, y, 0.1))
        for n, x, y in (("left", 0, 0.2), ("right", 0, -0.2), ("front", 0.5, 0))),
        brush)
    assert set(describe(three).rolling) == {"left_joint", "right_joint", "front_joint"}
    # a road roller's drum is the wheel that there is
    drums = robot(link("frame", 900, (90,) * 3, (0, 0, 1)), *(
        link(f"{n}", 400, (30,) * 3, body=round_(0.4, 1.6))
        + joint(f"{n}_joint", "frame", n, (x, 0, 0.4)) for n, x in (("front", 1), ("rear", -1))))
    assert len(describe(drums).wheels) == 2


@pytest.mark.parametrize("size", [1e-2, 1.0, 1e2])
def test_a_support_is_found_at_any_size(size):
    """A foot below the base, off the wheels' plane by a hundredth of a radius."""
    foot = link("foot", 0.1, body=f'<collision><geometry><box size="{0.02 * size} {0.02 * size} '
                                  f'{0.04 * size}"/></geometry></collision>')
    text = robot(link("base", 6, com=(0.05 * size, 0, 0.15 * size)), *pair(size=size), foot,
                 joint("foot_joint", "base", "foot", (0.3 * size, 0, 0.021 * size), kind="fixed"))
    support = describe(text).wheels[2]
    assert support.kind == "caster_ball" and abs(support.radius / size - 0.01) < 1e-12


def test_the_base_of_a_caster_that_bears_is_none():
    """A plug above a ball, 4 mm off the ground, is no second contact."""
    plug = ('<collision><geometry><cylinder radius="0.02" length="0.02"/></geometry></collision>')
    text = cart(link("caster_base", 0.1, body=plug), link("caster", 0.1, body=sphere(0.02)),
                joint("plug_joint", "base", "caster_base", (0.3, 0, 0.014), kind="fixed"),
                joint("ball_joint", "caster_base", "caster", (0, 0, 0.006), kind="fixed"))
    assert [w.name for w in describe(text).wheels[2:]] == ["caster"]


def test_a_picture_without_collisions_leads_by_its_wheels():
    """A car that is only drawn: its first wheel leads the others and is one all the same."""
    lead = '<mimic joint="left_joint"/>'
    drawn = cart(ball().replace("continuous", "fixed"), drive="").replace("collision", "visual")
    led = drawn.replace('<child link="right_wheel"/>', f'<child link="right_wheel"/>{lead}')
    assert led != drawn
    assert [w.name for w in describe(led).wheels[:2]] == ["left_joint", "right_joint"]


def test_rollers_that_lean_are_no_leaning_wheels():
    """Fifteen rollers on a rim: of the lowest, two lean a little."""
    def wheel(name: str, x: float, y: float, sign: int) -> str:
        parts = [link(name, 1.0, (4e-3,) * 3), joint(f"{name}_joint", "base", name, (x, y, 0.102))]
        for i in range(15):
            c, s = np.cos(2 * np.pi * i / 15), np.sin(2 * np.pi * i / 15)
            along = np.array([s, sign, -c]) / np.sqrt(2)      # 45 degrees to the axle and the rim
            shape = '<collision><geometry><sphere radius="0.0125"/></geometry></collision>'
            parts += [link(f"{name}_r{i}", 0.03, (1e-5,) * 3, body=shape),
                      joint(f"{name}_r{i}_joint", name, f"{name}_r{i}",
                            (0.0895 * c, 0, 0.0895 * s), axis=tuple(along))]
        return "".join(parts)

    text = robot(link("base", 60, (3, 4, 6), (0, 0, 0.2)), *(
        wheel(f"{end}_{side}", x, y, 1 if x * y > 0 else -1)
        for end, x in (("front", 0.3), ("rear", -0.3))
        for side, y in (("left", 0.25), ("right", -0.25))))
    d = describe(text)
    assert [w.kind for w in d.wheels] == ["mecanum"] * 4
    assert np.allclose([w.radius for w in d.wheels], 0.102)


def test_sides_of_a_differential_drive_share_an_axle():
    """rpy 0 90 0 puts axles along x, one behind the other; the message's angles mend it."""
    wrong = re.sub(r'(name="(?:left|right)_joint".*?rpy=)"[^"]*"', r'\1"0 0 -1.5708"',
                   cart(ball()), flags=re.DOTALL)
    with pytest.raises(nhmech.ModelError, match="as the two sides of a differential drive") as told:
        describe(wrong)
    rpy = re.search(r'left_joint: rpy="([^"]*)"', str(told.value))[1]
    assert describe(wrong.replace('"0 0 -1.5708"', f'"{rpy}"')).skid is None


def test_minus_one_is_no_limit():
    """Of effort and velocity, as in SDF; any other negative number is refused."""
    text = cart(ball()).replace('<child link="left_wheel"/>',
                                '<child link="left_wheel"/><limit effort="-1" velocity="-1.0"/>')
    limit = describe(text).limits["left_joint"]
    assert limit.velocity == limit.effort == np.inf
    with pytest.raises(nhmech.ModelError, match="a limit is 0 or -1"):
        describe(text.replace("-1.0", "-2"))
