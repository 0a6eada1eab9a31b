"""Upright joints and balls, each with what is above it and who moves it: which of them only
follow."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest
from placed import laid, limits, shape
from support import joint, link

from nhmech import Wheel
from nhmech.urdf.wheels.swivels import (
    is_idle_caster,
    is_loose_ball,
    is_swivel,
    steering_joints,
    swings,
)

UP = (0, 0, 1)
MIMIC = '<mimic joint="other"/>'
FREE, HELD = dict(kind="continuous"), dict(kind="revolute", more=limits(-1, 1))


def commanded(name: str, what="velocity") -> str:
    return (f'<ros2_control><joint name="{name}"><command_interface name="{what}"/></joint>'
            "</ros2_control>")


def drive(*names: str, steering: str = "") -> str:
    words = "".join(f"<left_joint>{name}</left_joint>" for name in names)
    words += f"<steering_joint>{steering}</steering_joint>" * bool(steering)
    return f'<gazebo><plugin filename="diff_drive.so" name="d">{words}</plugin></gazebo>'


def wheel(name: str) -> Wheel:
    return Wheel(name, radius=0.1, axis=(0, 1, 0), point=(0, 0, 0))


@pytest.mark.parametrize("words, more, expected", [
    (FREE, "", True), (HELD, "", False), (FREE | {"more": MIMIC}, "", False),
    (FREE, commanded("fork_joint", "position"), False), (FREE, commanded("other"), True),
    (FREE, drive("other", steering="fork_joint"), False), (FREE, drive("fork_joint"), True),
    (FREE | {"axis": (sin(0.79), 0, cos(0.79))}, "", True),
    (FREE | {"axis": (sin(0.80), 0, cos(0.80))}, "", False),
    (dict(kind="fixed"), "", False)])
def test_what_nothing_limits_links_or_commands_swings(words, more, expected):
    """About an axis whose vertical part is more than 0.7."""
    layout = laid(link("base"), link("fork"), link("x"), joint("other", "base", "x"),
                  joint("fork_joint", "base", "fork", **{"axis": UP} | words), more)
    assert swings(layout, layout.joints["fork_joint"]) == expected


@pytest.mark.parametrize("name, more, words, expected", [
    ("fork", "", {}, False), ("caster", "", {}, True), ("caster", "", HELD, False),
    # the file tells that another wheel is driven, and this one is not
    ("fork", drive("j1"), {}, True), ("fork", commanded("j1"), {}, True),
    ("fork", drive("j1", "roll"), {}, False), ("steer", drive("j1"), {}, False),
    ("fork", drive("nobody"), {}, False), ("fork", drive("up"), {}, False),
    ("fork", drive("door"), {}, False), ("caster", drive("j1", "roll"), {}, True)])
def test_an_upright_joint_that_no_motor_turns_is_idle(name, more, words, expected):
    """A driven wheel is one on a level joint that turns round and round."""
    parts = [link("base"), link(name), link("w"), link("v"), link("u"), link("d"),
             joint(f"{name}_joint", "base", name, (1, 0, 0.3), axis=UP, **words),
             joint("roll", name, "w", (0, 0, -0.2)), joint("j1", "base", "v", (0, 1, 0.1)),
             joint("up", "base", "u", axis=UP), joint("door", "base", "d", **HELD)]
    layout = laid(*parts, more)
    one, wheels = layout.joints[f"{name}_joint"], [wheel("roll"), wheel("j1")]
    assert is_idle_caster(layout, one, wheels) == expected
    assert not is_idle_caster(layout, one, wheels[1:])            # it carries none
    # of two that it carries it turns one about the other; a ball is no wheel
    layout = laid(*parts, more, link("t"), joint("twin", name, "t", (0, 0.1, -0.2)))
    assert not is_idle_caster(layout, layout.joints[f"{name}_joint"], [*wheels, wheel("twin")])
    ball = Wheel(None, "caster_ball", 0.1, link="t", point=(0, 0, 0))
    assert is_idle_caster(layout, layout.joints[f"{name}_joint"], [*wheels, ball]) == expected


def ball_below(*above: tuple, more: str = "", name="ball", at=(0, 0, 0), axis=(0, 1, 0)):
    """A ball of 0.05 on its own joint, below others of (axis, words), beside two wheels."""
    parts, parent = [link("base")], "base"
    for k, (way, words) in enumerate(above):
        parts += [link(f"a{k}"), joint(f"above{k}", parent, f"a{k}", (1, 2, 0) if not k else
                                       (0, 0, 0), axis=way, **words)]
        parent = f"a{k}"
    parts += [link(name, body=shape("sphere", radius=0.05)),
              joint("j", parent, name, at, axis=axis)]
    for side in (1, -1):
        tyre = shape("cylinder", rpy=(pi / 2, 0, 0), radius=0.1, length=0.02)
        parts += [link(f"w{side}", body=tyre), joint(f"r{side}", "base", f"w{side}", (0, side, 0))]
    layout = laid(*parts, more)
    return is_loose_ball(layout, layout.joints["j"])


SLANTED = (sin(0.8), 0, cos(0.8))          # neither upright nor level


@pytest.mark.parametrize("above, at, expected", [
    ([], (1, 2, 0), True), ([((0, 1, 0), HELD)], (0.3, 0, 0), True),
    ([((0, 1, 0), FREE)], (0.3, 0, 0), False), ([(UP, FREE)], (0, 0, 0), True),
    ([(UP, FREE)], (0, 0, 0.7), True), ([(UP, FREE)], (0.00249, 0, 0), True),
    ([(UP, FREE)], (0.00251, 0, 0), False), ([(UP, HELD)], (0, 0, 0), False),
    ([(SLANTED, HELD)], (0.3, 0, 0), True), ([(SLANTED, FREE)], (0.3, 0, 0), True),
    ([(UP, dict(kind="fixed"))], (0.3, 0, 0), True),
    ([(UP, dict(kind="prismatic", more=limits(-1, 1)))], (0.3, 0, 0), True),
    ([(UP, FREE), ((0, 1, 0), HELD)], (0.00251, 0, 0), False)])
def test_a_ball_is_loose_where_nothing_above_steers_it_or_rolls_with_it(above, at, expected):
    """An upright joint that swings about its centre does neither, up to a twentieth of the
    radius."""
    assert ball_below(*above, at=at) == expected
    assert not ball_below(*above, at=at, more=drive("j")) and not ball_below(
        *above, at=at, more=commanded("j"))


@pytest.mark.parametrize("kind, others, expected", [
    ("cylinder", "", True), ("sphere", "", False), ("box", "", False),
    ("box", drive("r"), True), ("sphere", commanded("r"), True), ("sphere", drive("x"), False)])
def test_a_ball_is_loose_beside_wheels_that_have_rims_or_motors(kind, others, expected):
    body = {"cylinder": shape("cylinder", rpy=(pi / 2, 0, 0), radius=0.1, length=0.02),
            "sphere": shape("sphere", radius=0.1), "box": shape("box", size="1 1 1")}[kind]
    for axis, counts in (((0, 1, 0), True), (UP, bool(others))):        # no rim is upright
        layout = laid(link("base"), link("ball", body=shape("sphere", radius=0.05)),
                      link("w", body=body), joint("j", "base", "ball", (1, 0, 0)),
                      joint("r", "base", "w", (0, 0.2, 0), axis=axis), others)
        assert is_loose_ball(layout, layout.joints["j"]) == (expected and counts)


@pytest.mark.parametrize("shapes, expected", [
    (shape("sphere", radius=0.05), True), (shape("sphere", tag="visual", radius=0.05), True),
    (shape("sphere", radius=0.05) + shape("box", size="1 1 1", tag="visual"), True),
    (shape("sphere", radius=0.05) + shape("box", size="1 1 1"), False),
    (shape("sphere", (0, 1, 0), radius=0.05) * 2, True), (shape("sphere", radius=0), False),
    (shape("sphere", (0.00251, 0, 0), radius=0.05), False), ("", False)])
def test_all_that_a_loose_joint_turns_are_balls_on_its_axis(shapes, expected):
    layout = laid(link("base"), link("caster", body=shapes), joint("j", "base", "caster"))
    assert is_loose_ball(layout, layout.joints["j"]) == expected
    fixed = laid(link("base"), link("x"), link("caster", body=shapes), joint("j", "base", "x"),
                 joint("f", "x", "caster", (0, 0.3, 0), kind="fixed"))
    assert not is_loose_ball(fixed, fixed.joints["f"])


# -- what steers -----------------------------------------------------------------------------------
@pytest.mark.parametrize("drawn, slides, level, mass, count", [
    (False, True, True, 5.0, 0), (True, True, True, 5.0, 1), (False, True, False, 5.0, 1),
    (False, False, True, 5.0, 1), (True, True, True, 0.0, 0)])
def test_what_slides_along_the_ground_and_is_not_drawn_only_places_a_robot(drawn, slides, level,
                                                                           mass, count):
    """On what a turntable above all wheels stands."""
    body = shape("box", tag="visual", size="1 1 1") * drawn
    kind = dict(kind="prismatic", more=limits(-1, 1)) if slides else dict(kind="fixed")
    layout = laid('<link name="world"/>', link("rail", mass, body=body), link("body", 1.0),
                  '<link name="w"/>', joint("rail_joint", "world", "rail", axis=(1, 0, 0) if level
                                            else UP, **kind),
                  joint("turn", "rail", "body", axis=UP), joint("roll", "body", "w"))
    assert len(steering_joints(layout, [wheel("roll")])) == count


@pytest.mark.parametrize("trail", [0.3, -0.2])
@pytest.mark.parametrize("beside", [0.0, 0.7])
def test_a_trail_is_measured_across_the_axle_and_the_axis(trail, beside):
    """Not along either: a wheel may be beside its pivot, and far below it."""
    way, across = np.array([sin(0.4), cos(0.4), 0]), np.array([cos(0.4), -sin(0.4), 0])
    layout = laid(link("base"), link("fork"), link("w"), link("v"), joint("other", "base", "v"),
                  joint("turn", "base", "fork", (1, 0, 0.3), axis=UP, **HELD),
                  joint("roll", "fork", "w", tuple(trail * across + beside * way + (0, 0, -0.2)),
                        axis=tuple(way)))
    for radius, follows in ((abs(trail) - 1e-3, True), (abs(trail) + 1e-3, False)):
        one = Wheel("roll", radius=radius, axis=tuple(way), point=(0, 0, 0))
        assert is_swivel(layout, "turn", [one, wheel("other")]) == follows
