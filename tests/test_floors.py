"""The plane that wheels stand on, and which axles are looked at for it: by hand, case by case."""

from __future__ import annotations

from math import cos, inf, pi, sin
from pathlib import Path

import numpy as np
import pytest
from placed import laid, limits, mesh, shape
from support import joint, link

from nhmech.urdf.wheels.evidence import (
    Findings,
    JointVerdict,
    is_ball_joint,
    turn_about_root,
    weigh,
)

R = 0.1


def axle(name: str, z: float, radius: float | None = R, x: float = 0.0, free=True, parent="base",
         turned=False) -> tuple[str, str]:
    """A rotor about y at a height [m], with a cylinder along y, or across it if it is turned."""
    rpy = (0, 0, 0) if turned else (pi / 2, 0, 0)
    body = "" if radius is None else shape("cylinder", rpy=rpy, radius=radius, length=0.02)
    return (link(name, body=body), joint(f"{name}_j", parent, name, (x, 0, z), more="" if free else
                                         limits(-1, 1), kind="continuous" if free else "revolute"))


def motor(name: str) -> str:
    return (f'<ros2_control><joint name="{name}_j"><command_interface name="velocity"/></joint>'
            "</ros2_control>")


def plugin(name: str) -> str:
    return (f'<gazebo><plugin filename="diff_drive.so" name="d"><left_joint>{name}_j</left_joint>'
            "</plugin></gazebo>")


def mark(z: float) -> tuple[str, str]:
    return link("base_footprint"), joint("f", "base", "base_footprint", (0, 0, z), kind="fixed")


def found(*parts) -> Findings:
    return weigh(laid(link("base"), *(one for part in parts
                                      for one in ([part] if isinstance(part, str) else part))))


# heights of axles of 0.1 m -> the floor, at 0 where one at 0.1 stands on it
@pytest.mark.parametrize("parts, floor", [
    # the lowest plane that two reach, up to a tenth of the usual radius
    ((axle("a", 0.1), axle("b", 0.1099), axle("c", 0.5)), 0.0),
    ((axle("a", 0.1), axle("b", 0.1101), axle("c_wheel", 0.5)), 0.4),
    ((axle("a", 0.1), axle("b", 0.12), axle("c", 0.12)), 0.0),
    # one alone gives way to what a name or a plugin calls a wheel, else to what a motor does
    ((axle("a", 0.1), axle("wheel", 0.5)), 0.4), ((axle("a", 0.1), axle("b", 0.5), plugin("b")),
                                                  0.4),
    ((axle("a", 0.1), axle("b", 0.5), motor("b")), 0.4),
    ((axle("a", 0.1), axle("b", 0.5), motor("b"), axle("wheel", 0.8)), 0.7),
    ((axle("a", 0.1), motor("a"), axle("b", 0.5), motor("b")), 0.0),
    ((axle("a", 0.1), motor("a"), axle("wheel", 0.5)), 0.4),
    ((axle("a_wheel", 0.1), axle("wheel", 0.5)), 0.0),
    # two together do not, but for the footprint
    ((axle("a", 0.1), axle("b", 0.1), axle("wheel", 0.5)), 0.0),
    ((axle("a", 0.1), axle("b", 0.1), axle("c", 0.5), mark(0.4099)), 0.4),
    ((axle("a", 0.1), axle("b", 0.1), axle("c", 0.5), mark(0.4101)), 0.0),
    ((axle("a", 0.1), axle("b", 0.1), axle("c", 0.5), mark(0.3901)), 0.4),
    ((axle("a", 0.1), axle("b", 0.1), axle("c", 0.5), mark(0.3899)), 0.0),
    ((axle("wheel", 0.1), axle("c", 0.5), mark(0.4)), 0.4),
    # what is free, or called a wheel, goes before what is limited
    ((axle("a", 0.1, free=False), axle("b", 0.5)), 0.4),
    ((axle("a_wheel", 0.1, free=False), axle("b", 0.5)), 0.0),
    ((axle("a", 0.1, free=False), axle("b", 0.5, free=False)), 0.0),
    # what carries others counts where nothing else does
    ((axle("a", 0.1), axle("b", 0.4, parent="a")), 0.4),
    ((axle("a", 0.1), axle("b", 0.4, None, parent="a")), 0.0),
    # without any rim, cylinders that are turned wrongly, if they turn freely
    ((axle("a", 0.1, turned=True), axle("b", 0.5, None)), 0.0),
    ((axle("a", 0.1, turned=True, free=False), axle("b", 0.5, None)), None),
    ((axle("a", 0.1, turned=True, free=False), mark(-0.7)), -0.7),
    ((axle("a", 0.1, turned=True), axle("b", 0.5)), 0.4),
    # where named wheels without a shape are lower than all of it, only the footprint tells
    ((axle("a", 0.5), axle("wheel", 0.3999, None)), None),
    ((axle("a", 0.5), axle("wheel", 0.4001, None)), 0.4),
    ((axle("a", 0.5), axle("wheel", 0.3, None), mark(0.1)), 0.1),
    ((axle("a", 0.5), axle("wheel", 0.3, None, free=False)), 0.4),
    ((axle("a", 0.5), axle("b", 0.3, None)), 0.4),
    ((axle("a_wheel", 0.5), axle("wheel", 0.3, None)), 0.4),
    ((axle("a", 0.5), axle("wheel", 0.3, None), mark(0.4)), 0.4),
    ((axle("a", 0.5), axle("wheel", 0.3, None), axle("b", 0.1, None, parent="wheel")), 0.4),
    ((mark(0.3),), 0.3), ((), None)])
def test_the_plane_that_wheels_stand_on(parts, floor):
    given = found(*parts).floor
    assert given is None if floor is None else given == pytest.approx(floor, abs=1e-12)


@pytest.mark.parametrize("radii, usual", [
    ((0.1, 0.2, 0.6), 0.2), ((0.1, 0.2), 0.15), ((), 0.0)])
def test_how_large_a_robot_is_is_told_by_what_may_be_wheels(radii, usual):
    """Their median; of what is limited or carries something only where nothing else is round, and
    of cylinders that are turned wrongly where nothing is."""
    wheels = [axle(f"w{k}", r, r, x=9.0 * k) for k, r in enumerate(radii)]
    odd = [axle("door", 5.0, 0.9, free=False), axle("arm", 6.0, 0.9),
           axle("hand", 7.0, None, parent="arm"), axle("t", 0.4, 0.4, turned=True)]
    for one in found(*wheels, *odd).axles:
        assert one.usual == pytest.approx(usual or 0.9, rel=1e-12)
    for one in found(axle("t", 0.4, 0.4, turned=True), axle("u", 0.4, None)).axles:
        assert one.usual == 0.4
    assert [one.usual for one in found(axle("u", 0.4, None)).axles] == [0.0]


@pytest.mark.parametrize("height, free, is_read", [
    (0.1999, False, True), (0.2001, False, False), (0.2001, True, True)])
def test_the_meshes_of_a_wrist_far_above_the_wheels_are_not_read(height, free, is_read,
                                                                 tmp_path: Path):
    """By more than two of the largest radii above the ground, where nothing makes it plausible as
    a wheel."""
    a = np.arange(24) * pi / 12
    ring = [(0.05 * sin(t), y, 0.05 * cos(t)) for t in a for y in (-0.01, 0.01)]
    kind = dict(kind="continuous") if free else dict(kind="revolute", more=limits(-1, 1))
    findings = found(axle("a", 0.1), axle("b", 0.05, 0.05),
                     link("wrist", body=mesh(tmp_path / "w.stl", ring)),
                     joint("w", "base", "wrist", (0, 0, height), **kind))
    assert findings.floor == pytest.approx(0.0)
    one = findings.axles[-1]
    assert (one.rim is not None) == is_read and one.joint.name == "w"


@pytest.mark.parametrize("turn, off, is_partner", [
    (0.0999, 0.0, True), (0.1003, 0.0, False), (0.0, 0.0099, True), (0.0, 0.0101, False)])
def test_a_partner_is_on_the_same_line(turn, off, is_partner):
    """Up to a tenth of a turn to its axle, and a tenth of the usual radius: then a joint that is
    limited rolls."""
    tyre = shape("cylinder", rpy=(pi / 2, 0, 0), radius=R, length=0.02)
    other = link("b", body=tyre), joint("b_j", "base", "b", (off, 1, R), (0, 0, -turn))
    verdict = found(axle("a", R, free=False), other, axle("c", R, x=3.0)).verdicts["a_j"]
    assert (verdict is JointVerdict.WHEEL) == is_partner


@pytest.mark.parametrize("turn, count", [(0.1421, 2), (0.1403, 0)])
def test_axes_through_a_ball_are_two_from_a_tenth_on(turn, count):
    """The smaller singular value of both is sqrt(1 - cos) of the angle between them."""
    assert (np.sqrt(1 - cos(turn)) > 0.1) == (count == 2)
    ball = shape("sphere", radius=0.3)
    layout = laid(link("base", body=ball), link("a"), link("b"), joint("i", "base", "a"),
                  joint("j", "a", "b", axis=(sin(turn), cos(turn), 0)))
    assert len(turn_about_root(layout)) == count
    layout = laid(link("base"), link("a"), link("b", body=ball), joint("i", "base", "a"),
                  joint("j", "a", "b", axis=(sin(turn), cos(turn), 0)))
    assert is_ball_joint(layout, "b") == (count == 2) and not is_ball_joint(layout, "base")


def test_a_joint_without_limits_is_free_and_one_that_slides_is_no_axle():
    free = (link("a", body=shape("sphere", radius=R)),
            joint("a_j", "base", "a", kind="revolute", more='<limit effort="1" velocity="1"/>'))
    slides = (link("b", body=shape("sphere", radius=R)),
              joint("b_j", "base", "b", kind="prismatic", more=limits(-1, 1)))
    (one,) = found(free, slides).axles
    assert one.is_free and one.joint.upper == inf
