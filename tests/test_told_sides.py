"""Plugins and controllers that name left and right wheels and their distance: compared with where
the wheels are."""

from __future__ import annotations

import numpy as np
import pytest
from placed import shape
from support import joint, link, robot

import nhmech
from nhmech import JointVelocity, Simulator
from nhmech.urdf.describe import describe
from nhmech.urdf.notice import NoticeKind

R, HALF = 0.1, 0.2
KINDS = {NoticeKind.OTHER_SIDES, NoticeKind.OTHER_SEPARATION, NoticeKind.OTHER_RADIUS}


def cart(*elements: str, y: float = HALF, axis=(0, 1, 0), turn: float = 0.0) -> str:
    """Wheels `a` at y and `b` at -y; `elements` on lines of their own, from the second on."""
    tyre = shape("cylinder", rpy=(np.pi / 2, 0, 0), radius=R, length=0.04)
    wheels = [part for name, at in (("a", y), ("b", -y)) for part in (
        link(f"{name}_link", body=tyre),
        joint(name, "base", f"{name}_link", (-at * np.sin(turn), at * np.cos(turn), 0),
              (0, 0, turn), axis))]
    ball = shape("sphere", (0.2, 0, -0.05), radius=0.05)
    return robot(link("base", 5.0, body=ball), *wheels, "\n", *elements)


def plugin(left: str, right: str, more: str = "") -> str:
    return ('<gazebo><plugin name="p" filename="libgazebo_ros_diff_drive.so">\n'
            f"<left_joint>{left}</left_joint><right_joint>{right}</right_joint>\n{more}"
            "</plugin></gazebo>")


def control(left: str, right: str, more: str = "") -> str:
    commands = "".join(f'<joint name="{name}"><command_interface name="velocity"/></joint>'
                       for name in "ab")
    return ('<ros2_control name="c" type="system"><hardware>\n'
            f'<param name="left_wheel_name">{left}</param>'
            f'<param name="right_wheel_name">{right}</param>\n{more}</hardware>{commands}'
            "</ros2_control>")


def transmissions(left: str, right: str) -> str:
    return "\n" + "".join(f'<transmission name="{side}_drive"><joint name="{name}"/></transmission>'
                          for side, name in (("left", left), ("right", right)))


def told(text: str) -> list[tuple[NoticeKind, str]]:
    return [(n.kind, n.text) for n in describe(text).notices if n.kind in KINDS]


@pytest.mark.parametrize("element, where", [
    (plugin, "<left_joint>"), (control, '<param name="left_wheel_name">'),
    (transmissions, '<transmission name="left_drive">')])
def test_sides_that_are_exchanged_are_told(element, where):
    assert told(cart(element("a", "b"))) == []
    (kind, text), = told(cart(element("b", "a")))
    assert kind is NoticeKind.OTHER_SIDES and text.startswith(f"<string>, line 3, {where}: takes ")
    assert f"b (y = {-HALF:g} m) for left and a (y = {HALF:g} m) for right" in text
    assert told(cart(element("b", "a"), y=-HALF)) == []


@pytest.mark.parametrize("left, right, axis, turn, count", [
    ("b", "a", (0, 1, 0), 0.0, 1), ("b", "a", (0, 1, 0), 0.5, 1), ("a", "b", (0, 1, 0), 0.5, 0),
    ("b", "a", (0, 1, 0), np.radians(59.8), 1), ("b", "a", (0, 1, 0), np.radians(60.2), 0),
    # its axles say that its front is where -x of the base is
    ("a", "b", (0, 1, 0), np.pi, 0), ("b", "a", (0, -1, 0), 0.0, 0),
    # y tells no side
    ("a", "b", (0, 1, 0), np.pi / 2, 0), ("b", "a", (0, 1, 0), np.pi / 2, 0)])
def test_a_front_that_is_not_x_is_no_exchange(left, right, axis, turn, count):
    found = told(cart(plugin(left, right), axis=axis, turn=turn))
    assert [kind for kind, _ in found] == [NoticeKind.OTHER_SIDES] * count


@pytest.mark.parametrize("element, tag", [
    (lambda told: plugin("a", "b", f"<wheel_separation>{told}</wheel_separation>"),
     "<wheel_separation>"),
    (lambda told: control("a", "b", f'<param name="wheel_separation">{told}</param>'),
     '<param name="wheel_separation">')])
@pytest.mark.parametrize("factor, count", [(1.0, 0), (1.099, 0), (1.1005, 1), (0.901, 0),
                                           (0.8995, 1), (2.0, 1), (0.5, 1)])
def test_another_separation_is_told_with_what_it_does(element, tag, factor, count):
    text = cart(element(2 * HALF * factor))
    found = told(text)
    assert [kind for kind, _ in found] == [NoticeKind.OTHER_SEPARATION] * count
    if count:
        words = found[0][1]
        assert words.startswith(f"<string>, line 4, {tag}: tells {2 * HALF * factor:g} m")
        assert f"{2 * HALF:g} m apart" in words and f"by {factor:.3g} times its angle" in words


def test_a_separation_turns_the_robot_by_its_ratio():
    """Wheel speeds as a controller gives them that takes the wheels to be 1.5 times as far
    apart."""
    rate = 0.4
    speed = 0.5 * rate * 1.5 * 2 * HALF / R
    command = JointVelocity({"a": -speed, "b": speed})
    simulator = Simulator(nhmech.load(cart(plugin("a", "b"))), lambda t, state: command,
                          mode="kinematic")
    simulator.run(1.0)
    assert simulator.state.pose[2] == pytest.approx(1.5 * rate, rel=1e-9)


@pytest.mark.parametrize("element", [plugin, control])
def test_another_radius_is_told_with_its_line(element):
    def say(r):
        return (f"<wheel_radius>{r}</wheel_radius>" if element is plugin else
                f'<param name="wheel_radius">{r}</param>')

    assert told(cart(element("a", "b", say(1.05 * R)))) == []
    (kind, text), = told(cart(element("a", "b", say(2 * R))))
    assert kind is NoticeKind.OTHER_RADIUS and "radius 0.1 m from the collision cylinder" in text
    assert f"(line {2 if element is plugin else 4}) is 0.2 m" in text


def test_radii_of_several_wheels_are_not_told_apart():
    both = "".join(f'<param name="{end}_wheel_radius">{r}</param>'
                   for end, r in (("front", 2 * R), ("rear", R)))
    assert told(cart(control("a", "b", both))) == []


def test_wheels_one_behind_the_other_are_not_measured():
    """They scrub, and their separation is tuned to that."""
    tyre = shape("cylinder", rpy=(np.pi / 2, 0, 0), radius=R, length=0.04)
    names = [f"{side}{end}" for side in "lr" for end in "fr"]
    wheels = [part for name in names for part in (
        link(f"{name}_link", body=tyre),
        joint(name, "base", f"{name}_link", (0.2 if name[1] == "f" else -0.2,
                                             HALF if name[0] == "l" else -HALF, 0)))]
    for left, right, count in (("lf lr", "rf rr", 0), ("rf rr", "lf lr", 1)):
        text = robot(link("base", 5.0), *wheels,
                     plugin(left, right, "<wheel_separation>4</wheel_separation>"))
        assert [kind for kind, _ in told(text)] == [NoticeKind.OTHER_SIDES] * count
