"""Robots that stand on their heads, and tyres on both ends of a shaft."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest
from placed import SHIFT, laid, mesh, place, shape, stand
from robot_table import python_lines
from support import joint, link

from nhmech import Wheel
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheels.bearing import report_bearing
from nhmech.urdf.wheels.evidence import turn_about_root

# axles 0.1 up, radius 0.1: the ground is at 0, and from 0.2 on a body is higher than the wheels
THREE = (1, 0.3, 0.1, 0.1), (1, -0.3, 0.1, 0.1), (-1, 0, 0.1, 0.1)


def depth(body: str, rpy=(0, 0, 0), wheels=THREE):
    """How deep in the ground a robot is said to be with this body on a link that is turned."""
    layout, made = stand(*wheels, links=(link("body", body=body), place("body", (0, 0, 0), rpy)))
    found = [n for n in report_bearing(layout, made, ()) if n.kind is NoticeKind.UPSIDE_DOWN]
    if not found:
        return None
    assert 'rpy="3.1415927 0 0"' in found[0].text and "z of 'base' points down" in found[0].text
    return float(found[0].text.partition("reach ")[2].partition(" m")[0])


@pytest.mark.parametrize("body, rpy, low", [
    # a box turned about x by 30 degrees: half of (sin 0.4 + cos 0.2)
    (shape("box", (0, 0, -0.1), size="0.5 0.4 0.2"), (pi / 6, 0, 0), -0.0866 - 0.1866),
    # a cylinder whose axis leans by 0.6: r sin + l/2 cos of the angle to the vertical
    (shape("cylinder", (0, 0, -0.2), (0.6, 0, 0), radius=0.1, length=0.3), (0, 0, 0),
     -0.2 - 0.1 * sin(0.6) - 0.15 * cos(0.6)),
    (shape("cylinder", (0, 0, -0.2), (0, pi / 2, 0), radius=0.1, length=0.3), (0, 0, 0), -0.3),
    (shape("sphere", (0.3, 0, 0), radius=0.15), (0, pi / 6, 0), -0.3),
    (shape("sphere", (0, 0, 0), radius=0.15, tag="visual"), (0, 0, 0), -0.15)])
def test_how_deep_a_body_is_in_the_ground(body, rpy, low):
    assert depth(body, rpy) == pytest.approx(-low, abs=1e-4)


@pytest.mark.parametrize("z, said", [(-0.0101, True), (-0.0099, False)])
def test_a_tenth_of_a_radius_in_the_ground_is_rounding(z, said):
    assert (depth(shape("sphere", (0, 0, z + 0.05), radius=0.05)) is not None) == said


@pytest.mark.parametrize("more, said", [
    ("", True), (shape("sphere", (0, 0, 0.1499), radius=0.05), True),
    (shape("sphere", (0, 0, 0.1501), radius=0.05), False),
    # of what cannot be read nothing is known
    (shape("mesh", filename="nowhere.stl"), False), (shape("cone", radius=1), False)])
def test_a_body_higher_than_the_wheels_is_on_its_feet(more, said):
    deep = shape("box", (0, 0, -0.2), size="0.1 0.1 0.1")
    assert (depth(deep + more) is not None) == said
    assert depth(deep, wheels=()) is None


def test_balls_are_no_measure_of_what_is_on_its_feet():
    """A body that is higher than the wheels, although not than a ball beside them."""
    body = shape("box", (0, 0, -0.2), size="0.1 0.1 0.1") + shape("sphere", (0, 0, 0.3), radius=0.1)
    layout, made = stand(*THREE, links=(link("body", body=body), place("body", (0, 0, 0))))
    ball = Wheel(None, "caster_ball", 0.3, link="base", point=tuple(SHIFT + (0, 0, 0.3)))
    for wheels in (made, [*made, ball]):
        assert not [n for n in report_bearing(layout, wheels, ())
                    if n.kind is NoticeKind.UPSIDE_DOWN]


def test_meshes_count_with_their_lowest_and_highest_vertices(tmp_path):
    points = [(0, 0, -0.3), (0, 0.1, 0.1), (0.2, 0, 0)]
    body = mesh(tmp_path / "a.stl", points)
    assert depth(body, (0, 0.3, 0)) == pytest.approx(0.3 * cos(0.3), abs=1e-4)
    assert depth(mesh(tmp_path / "b.stl", [*points, (0, 0, 0.21)])) is None
    assert depth(mesh(tmp_path / "c.stl", [])) is None
    # what rolls is no body
    layout, made = stand(*THREE)
    assert not [n for n in report_bearing(layout, made, ()) if n.kind is NoticeKind.UPSIDE_DOWN]


# --- shafts ---------------------------------------------------------------------------------------

def shaft(*tyres: tuple, links: tuple = (), ball=None, radius: float = 0.1):
    """A rotor with tyres at (along its axle, on a link of its own), and notices about shafts."""
    own = "".join(shape("cylinder", (0, y, 0), (pi / 2, 0, 0), radius=0.1, length=0.02)
                  for y, hub in tyres if not hub)
    parts = [link("base"), link("rotor", body=own),
             joint("j", "base", "rotor", SHIFT + (0, 0, 0.1), (0, 0, 0.3))]
    for k, (y, hub) in enumerate(tyres):
        if hub:
            body = shape("cylinder", rpy=(pi / 2, 0, 0), radius=0.1, length=0.02)
            parts += [link(f"hub{k}", body=body),
                      joint(f"glue{k}", "rotor", f"hub{k}", (0, y, 0), kind="fixed")]
    wheels = [Wheel("j", radius=radius, axis=(0, 1, 0), point=(0, 0, 0), link="rotor")]
    if ball is not None:
        wheels.append(Wheel(None, "caster_ball", 0.1, link="base", point=tuple(ball)))
    layout = laid(*parts, *links)
    return layout, [n for n in report_bearing(layout, wheels, ())
                    if n.kind is NoticeKind.SHARED_SHAFT]


@pytest.mark.parametrize("tyres, said", [
    (((0.3, False),), False), (((0.3, False), (-0.3, False)), True),
    (((0.3, True), (-0.2, True)), True), (((0.051, False), (-0.05, False)), True),
    (((0.0499, False), (-0.05, False)), False),
    (((0.3, False), (0.0, False), (-0.3, False)), True)])
def test_tyres_on_both_ends_of_a_shaft_are_told_with_balls_that_bear(tyres, said):
    """From a radius between them on; nearer ones are twins."""
    layout, notices = shaft(*tyres)
    assert [n.kind for n in notices] == [NoticeKind.SHARED_SHAFT] * said
    if not said:
        return
    [line] = python_lines(notices[0].remedy)
    rotor, *balls = line["wheels"]
    assert (rotor.joint, rotor.radius) == ("j", 0.1) and len(balls) == 2
    ends = sorted(tyres)[0][0], sorted(tyres)[-1][0]
    found = [(layout.X("rotor", ball.link) @ [*ball.point, 1.0])[:3] for ball in balls]
    np.testing.assert_allclose(sorted(found, key=lambda p: p[1]), [(0, y, 0) for y in ends],
                               atol=1e-6)
    assert {ball.link for ball in balls} == (
        {"hub0", "hub1"} if tyres[0][1] else {"rotor", "base"})
    assert {(ball.kind, ball.radius) for ball in balls} == {("caster_ball", 0.1)}


@pytest.mark.parametrize("off, bears", [(0.099, True), (0.101, False)])
def test_a_ball_at_an_end_of_a_shaft_bears(off, bears):
    """Nearer to it than its own radius."""
    end = SHIFT + (0, 0, 0.1) + 0.3 * np.array([-sin(0.3), cos(0.3), 0])
    _, notices = shaft((0.3, False), (-0.3, False), ball=end + (0, 0, off))
    assert bool(notices) != bears


# --- wheels within each other ---------------------------------------------------------------------

@pytest.mark.parametrize("apart, body, said", [
    (0.0249, "cylinder", True), (0.0251, "cylinder", False), (0.0249, "sphere", False)])
def test_wheels_of_an_axle_nearer_than_half_the_narrower_width_are_told(apart, body, said):
    parts, wheels = [link("base")], []
    for k, (y, width) in enumerate(((1.0, 0.07), (1.0 + apart, 0.05))):
        words = {"cylinder": dict(rpy=(pi / 2, 0, 0), radius=0.1, length=width),
                 "sphere": dict(radius=0.1)}[body]
        parts += [link(f"w{k}", body=shape(body, **words)),
                  joint(f"j{k}", "base", f"w{k}", SHIFT + (0, y, 0.1))]
        wheels.append(Wheel(f"j{k}", radius=0.1, axis=(0, 1, 0), point=(0, 0, 0)))
    found = [n.text for n in report_bearing(laid(*parts), wheels, ())
             if n.kind is NoticeKind.OVERLAP]
    assert len(found) == said
    assert all(f"j0 and j1 are one within the other: on one axle, {apart:g} m apart and 0.05 m wide"
               in text for text in found)


# --- a ball that is the root ----------------------------------------------------------------------

@pytest.mark.parametrize("off, angle, count", [(0.0, 1.0, 2), (0.0299, 1.0, 2), (0.0301, 1.0, 0),
                                               (0.0, 0.21, 2), (0.0, 0.13, 0)])
def test_joints_on_two_axes_through_the_centre_of_the_root_turn_it_every_way(off, angle, count):
    """Up to a tenth of its radius beside it; nearly the same axis does not."""
    at = np.array((0.1, 0.2, 0.3))
    layout = laid(link("base", body=shape("sphere", at, radius=0.3)), link("a"), link("b"),
                  joint("i", "base", "a", at), joint("j", "a", "b", (0, 0, off),
                                                     axis=(sin(angle), cos(angle), 0)),
                  link("c"), joint("k", "base", "c", (0.5, 0.5, 0.5), axis=(1, 0, 0)))
    assert [one.name for one in turn_about_root(layout)] == ["i", "j"][:count]
    two = shape("sphere", at, radius=0.3) + shape("box", size="1 1 1")
    assert turn_about_root(laid(link("base", body=two))) == []
    assert turn_about_root(laid(link("base", body=shape("sphere", at, radius=0.3)))) == []
