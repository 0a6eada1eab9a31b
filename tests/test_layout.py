"""Where links, wheels and shapes are, against Pinocchio and by hand, in frames that are turned at
random."""

from __future__ import annotations

from math import cos, inf, pi, sin, sqrt

import numpy as np
import pinocchio as pin
import pytest
from placed import laid, limits, shape
from support import joint, link, robot

from nhmech import Wheel
from nhmech.urdf.layout import Layout, displacement, matches_name, placement, to_triple, to_words
from nhmech.urdf.wheels.rims import (
    RimSource,
    beside_cylinder,
    crossed_cylinder,
    equal_rims,
    find_reach,
    find_rim,
    has_camber,
    is_horizontal,
    largest_rims,
)
from nhmech.urdf.wheels.stance import (
    allowance,
    axle_R,
    bottom_R,
    centre_of_mass,
    centre_R,
    footprint,
    ground_height,
    on_one_axle,
    tolerance,
    usual_radius,
)

# -- the tree --------------------------------------------------------------------------------------
TREE = (link("base"), link("arm", 2.0, com=(0.1, 0.2, 0.3)), link("hand"), link("rail"),
        link("tip"),
        joint("turn", "base", "arm", (1, 2, 3), (0.3, -0.4, 0.5), (1, 2, 2), "revolute",
              limits(0.2, 1.0)),
        joint("weld", "arm", "hand", (0.1, -0.2, 0.3), (0.7, 0.1, -0.2), kind="fixed"),
        joint("slide", "hand", "rail", (0, 0, 1), (0.1, 0.2, 0.3), (0, 3, 4), "prismatic",
              limits(-2.0, -0.5)),
        joint("spin", "rail", "tip", (0.5, 0, 0), (0, 0.3, 0), (0, 1, 0)))


@pytest.mark.parametrize("positions", [{}, {"turn": -0.7, "slide": 0.4, "spin": 2.0}])
def test_links_are_where_pinocchio_has_them(positions):
    """At zero clipped into the limits, or where they are held."""
    layout = laid(*TREE, **positions)
    model = pin.buildModelFromXML(robot(*TREE))
    start = {"turn": 0.2, "slide": -0.5, "spin": 0.0} | positions
    q = pin.neutral(model)
    for name, value in start.items():
        at = model.joints[model.getJointId(name)]
        q[at.idx_q:at.idx_q + at.nq] = value if at.nq == 1 else (np.cos(value), np.sin(value))
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    for name in layout.links:
        pose = data.oMf[model.getFrameId(name, pin.BODY)].homogeneous
        np.testing.assert_allclose(layout.X_RL[name], pose, rtol=0, atol=1e-12)
        np.testing.assert_allclose(layout.X("hand", name),
                                   np.linalg.solve(layout.X_RL["hand"], pose), rtol=0, atol=1e-12)
    turn = layout.joints["turn"]
    np.testing.assert_allclose(layout.axis_R(turn),
                               layout.X_RL["arm"][:3, :3] @ np.array([1, 2, 2]) / 3, rtol=0,
                               atol=1e-12)
    assert (turn.parent, turn.child, turn.lower, turn.upper) == ("base", "arm", 0.2, 1.0)
    assert np.linalg.norm(layout.joints["slide"].axis) == pytest.approx(1, rel=1e-12)


def test_who_hangs_on_whom():
    layout = laid(*TREE)
    assert layout.root == "base" and "base" not in layout.above
    assert [one.name for one in layout.path("tip")] == ["turn", "weld", "slide", "spin"]
    assert layout.rigid("arm") == ["arm", "hand"] and layout.rigid("base") == ["base"]
    assert [one.name for one in layout.carried_joints("arm")] == ["slide"]
    assert [layout.body(name) for name in layout.links] == ["base", "arm", "arm", "rail", "tip"]
    assert layout.mass("arm") == 2.0
    assert layout.carrier(Wheel("spin", radius=1.0)) == "tip"
    assert layout.carrier(Wheel(None, "caster_ball", 1.0, link="hand")) == "hand"
    assert [one.moves for one in layout.joints.values()] == [True, False, True, True]
    assert [one.turns for one in layout.joints.values()] == [True, False, False, True]


@pytest.mark.parametrize("kind, more, lower, upper, start, is_free", [
    ("continuous", "", -inf, inf, 0.0, True), ("revolute", "", -inf, inf, 0.0, True),
    ("revolute", limits(0.0, 0.0), 0.0, 0.0, 0.0, True),
    ("revolute", limits(-3.0, 3.2731), -3.0, 3.2731, 0.0, False),
    ("revolute", limits(-3.0, 3.2732), -3.0, 3.2732, 0.0, True),
    ("revolute", limits(0.5, 1.0), 0.5, 1.0, 0.5, False),
    ("revolute", '<limit upper="-1" effort="1" velocity="1"/>', 0.0, -1.0, -1.0, False),
    ("revolute", '<limit effort="1" velocity="1"/>', -inf, inf, 0.0, True),
    ("revolute", '<limit lower="-1" effort="1" velocity="1"/>', -1.0, 0.0, 0.0, False),
    ("fixed", limits(0.5, 1.0), -inf, inf, 0.0, True)])
def test_limits_and_what_is_free_of_them(kind, more, lower, upper, start, is_free):
    """Free are a full turn less 0.01 or more, none, and the 0 and 0 that exporters write for
    none."""
    one = laid(link("a"), link("b"), joint("j", "a", "b", kind=kind, more=more)).joints["j"]
    assert (one.lower, one.upper, one.start, one.is_free) == (lower, upper, start, is_free)


def test_axes_are_along_x_where_the_file_says_nothing():
    plain = joint("j", "a", "b").replace('<axis xyz="0 1 0"/>', "")
    one = laid(link("a"), link("b"), plain).joints["j"]
    np.testing.assert_array_equal(one.axis, [1, 0, 0])
    for length in (0.3, 2.0):
        long = laid(link("a"), link("b"), joint("j", "a", "b", axis=(0, 0, -length))).joints["j"]
        np.testing.assert_array_equal(long.axis, [0, 0, -1])
    none = laid(link("a"), link("b"), joint("j", "a", "b", axis=(0, 0, 0))).joints["j"]
    np.testing.assert_array_equal(none.axis, [0, 0, 0])
    np.testing.assert_array_equal(displacement(one, 0.0), np.eye(4))


def test_numbers_as_they_are_written():
    assert repr(to_triple(np.array([-0.0, 0.12345, 2.0]), 3)) == "(0.0, 0.123, 2.0)"
    assert to_triple(np.array([1 / 3, 0, 0]))[0] == 0.333333333333333
    assert to_words(np.array([-1e-9, 0.33333, 1.0])) == "0 0.3333 1"
    assert matches_name("WHEEL", "base", "left_wheel") and not matches_name("wheel", "base")


def test_shapes_in_any_frame():
    rng = np.random.default_rng(1)
    at, turn = rng.normal(size=3), rng.normal(size=3)
    body = (shape("box", at, turn, size="1 2 3") + shape("cylinder", radius=4, length=5)
            + shape("sphere", radius=6) + shape("mesh", filename="a.stl", scale="1 2 3")
            + shape("sphere", tag="visual", radius=7) + "<collision><geometry/></collision>")
    layout = laid(link("a"), link("b", body=body), joint("j", "a", "b", (1, 2, 3), (0.1, 0.2, 0.3)))
    box, cylinder, sphere, mesh = layout.shapes("b")
    assert [one.size for one in (box, cylinder, sphere, mesh)] == [(1, 2, 3), (4, 5), (6,), ()]
    assert (mesh.mesh, mesh.scale, sphere.mesh, sphere.scale) == ("a.stl", (1, 2, 3), "", (1, 1, 1))
    np.testing.assert_allclose(box.centre, at, rtol=1e-12)
    np.testing.assert_allclose(box.X_LS[:3, :3], pin.rpy.rpyToMatrix(*turn), rtol=0, atol=1e-12)
    np.testing.assert_allclose(box.axis, box.X_LS[:3, 2], rtol=1e-12)
    there = layout.shapes("b", "a")[0]
    np.testing.assert_allclose(there.X_LS, layout.X_RL["b"] @ box.X_LS, rtol=0, atol=1e-12)
    assert [one.size for one in layout.shapes("b", tag="visual")] == [(7,)]
    np.testing.assert_array_equal(placement(layout.source, layout.links["a"]), np.eye(4))


# -- wheels in the start pose ----------------------------------------------------------------------
TURNED = (0.4, -0.3, 0.9)          # rpy of a wheel's frame in the base's
R = pin.rpy.rpyToMatrix(*TURNED)


def turned(vector) -> tuple[float, float, float]:
    """A vector of the base's frame in that of a wheel's link."""
    return tuple(R.T @ np.asarray(vector, dtype=float))


def stand(*wheels: tuple, more: str = "") -> tuple[Layout, list[Wheel]]:
    """Wheels (place, axle, radius, crown) of the base's frame, in frames that are turned, each 0.1
    before the origin of its link."""
    parts, found = [link("base"), more], []
    for k, (place, axle, radius, *crown) in enumerate(wheels):
        place = np.asarray(place, dtype=float)
        parts += [link(f"w{k}"), joint(f"j{k}", "base", f"w{k}", tuple(place - (0.1, 0, 0)), TURNED,
                                       turned(axle))]
        found.append(Wheel(f"j{k}", "torus" if crown else "disc", radius,
                           crown=crown[0] if crown else 0.0, axis=turned(axle),
                           point=turned((0.1, 0, 0))))
    return laid(*parts), found


def test_centre_axle_and_bottom_of_a_wheel():
    """A thin disc that leans by a reaches r cos a down, a crown its own radius besides."""
    a = 0.3
    layout, (lean, thick) = stand(((1, 2, 3), (0, np.cos(a), np.sin(a)), 0.5),
                                  ((1, -2, 3), (0, np.cos(a), np.sin(a)), 0.5, 0.1))
    np.testing.assert_allclose(centre_R(layout, lean), [1, 2, 3], rtol=0, atol=1e-12)
    np.testing.assert_allclose(axle_R(layout, lean), [0, np.cos(a), np.sin(a)], rtol=0, atol=1e-12)
    assert bottom_R(layout, lean) == pytest.approx(3 - 0.5 * np.cos(a), rel=1e-12)
    assert bottom_R(layout, thick) == pytest.approx(3 - 0.4 * np.cos(a) - 0.1, rel=1e-12)
    ball = Wheel(None, "caster_ball", 0.2, link="base", point=(0, 0, 1))
    assert bottom_R(layout, ball) == pytest.approx(0.8, rel=1e-12, abs=0)
    assert ground_height(layout, [lean, thick, ball]) == bottom_R(layout, thick)


def test_sizes_of_a_robot():
    wheels = [Wheel("j", radius=radius) for radius in (0.1, 0.3, 0.7)]
    assert usual_radius(wheels) == 0.3 and tolerance(wheels) == pytest.approx(0.045, rel=1e-12,
                                                                              abs=0)
    assert usual_radius([]) == 0.05
    assert [allowance(r, 0.4) for r in (0.1, 0.2, 0.5)] == pytest.approx([0.02, 0.02, 0.05],
                                                                         rel=1e-12, abs=0)


@pytest.mark.parametrize("place, axle, expected", [
    ((0, 3, 0.5), (0, 1, 0), True), ((0, 3, 0.5), (0, -1, 0), True),
    ((0.0249, 3, 0.5), (0, 1, 0), True), ((0.0251, 3, 0.5), (0, 1, 0), False),
    ((0, 3, 0.5251), (0, 1, 0), False), ((0, 3, 0.5249), (0, 1, 0), True),
    ((0, 3, 0.5), (0.0199, 1, 0), True), ((0, 3, 0.5), (0.0201, 1, 0), False)])
def test_one_axle_up_to_a_twentieth_of_the_radius_and_a_fiftieth_of_a_turn(place, axle, expected):
    axle = np.array(axle) / np.linalg.norm(axle) if axle[0] == 0 else (
        axle[0], sqrt(1 - axle[0] ** 2), 0)
    layout, wheels = stand(((0, -1, 0.5), (0, 1, 0), 0.5), (place, axle, 0.5))
    assert on_one_axle(layout, wheels) == expected
    assert on_one_axle(layout, wheels[:1]) and not on_one_axle(layout, [])
    ball = Wheel(None, "caster_ball", 0.5, link="base")
    assert not on_one_axle(layout, [ball]) and not on_one_axle(layout, [*wheels, ball])


def test_the_centre_of_mass_is_that_of_all_links():
    layout = laid(link("a", 0.2, com=(0, 0, 1)), link("b", 0.6, com=(1, 0, 0)), '<link name="c"/>',
                  joint("j", "a", "b", (0, 0, 4), (0, 0, pi / 2)), joint("k", "b", "c"))
    np.testing.assert_allclose(centre_of_mass(layout), [0, 0.75, 3.25], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(centre_of_mass(laid('<link name="a"/>')), np.zeros(3))
    assert footprint(layout) is None
    marked = laid(link("a"), link("b"), link("Base_Footprint"), link("swinging_footprint"),
                  joint("s", "a", "swinging_footprint", (0, 0, 5)),
                  joint("f", "a", "b", (0, 0, -1), kind="fixed"),
                  joint("g", "b", "Base_Footprint", (0, 0, -2), kind="fixed"))
    assert footprint(marked) == ("Base_Footprint", pytest.approx(-3.0, rel=1e-12))


# -- rims of cylinders and spheres -----------------------------------------------------------------
def rotor(*shapes: str, child: str = "") -> tuple[Layout, object]:
    """A wheel about the y axis of its link, and a link that is fixed to it, 0.2 along the axle."""
    layout = laid(link("base"), link("w", body="".join(shapes)), link("c", body=child),
                  joint("j", "base", "w", (1, 2, 3), (0.3, 0.2, 0.1)),
                  joint("f", "w", "c", (0, 0.2, 0), kind="fixed"))
    return layout, layout.joints["j"]


ALONG, SLIGHTLY, MORE = (pi / 2, 0, 0), (pi / 2 + 0.0199, 0, 0), (pi / 2 + 0.0201, 0, 0)


@pytest.mark.parametrize("body, radius, along, width", [
    (shape("cylinder", (0, 0.3, 0), ALONG, radius=0.5, length=0.2), 0.5, 0.3, 0.2),
    (shape("sphere", (0, -0.3, 0), radius=0.5), 0.5, -0.3, 1.0),
    (shape("cylinder", (0, 0, 0), SLIGHTLY, radius=0.5, length=0.2), 0.5, 0.0, 0.2),
    (shape("cylinder", (0, 0, 0), MORE, radius=0.5, length=0.2), None, 0, 0),
    (shape("cylinder", (0.0149, 0, 0), ALONG, radius=0.5, length=0.2), 0.5, 0.0, 0.2),
    (shape("cylinder", (0, 0, 0.0151), ALONG, radius=0.5, length=0.2), None, 0, 0),
    (shape("box", size="1 1 1"), None, 0, 0),
    (shape("cylinder", (0, 0, 0), ALONG, radius=0, length=0.2), None, 0, 0)])
def test_what_is_round_about_an_axle(body, radius, along, width):
    """A cylinder along it, up to a fiftieth, or a sphere, up to 3 % of the radius beside it."""
    layout, axle = rotor(body)
    rim = find_rim(layout, axle)
    if radius is None:
        assert rim is None
        return
    assert (rim.radius, rim.width, rim.link) == (radius, width, "w")
    assert rim.centre == pytest.approx((0, along, 0), abs=1e-12)
    assert rim.source is RimSource.COLLISION_PRIMITIVE
    # of what is fixed to it, in the frame of the joint's link
    layout, axle = rotor(child=body)
    assert find_rim(layout, axle).centre == pytest.approx((0, along + 0.2, 0), abs=1e-12)


def test_the_largest_rim_and_all_of_its_size():
    layout, axle = rotor(shape("sphere", radius=0.4), shape("sphere", (0, 0.1, 0), radius=0.5),
                         shape("sphere", (0, 0.2, 0), radius=0.5), shape("sphere", radius=0.45),
                         shape("sphere", tag="visual", radius=0.9))
    rim = find_rim(layout, axle, meshes=False)
    assert (rim.radius, rim.centre) == (0.5, (0.0, 0.1, 0.0))
    assert [one.centre[1] for one in equal_rims(layout, axle, rim)] == [0.1, 0.2]
    collision, meshes, drawn = largest_rims(layout, axle)
    assert (collision, meshes, drawn.radius) == (rim, None, 0.9)
    # what is larger by rounding alone is not larger
    for more, along in ((1e-10, 0.0), (1e-8, 0.1)):
        layout, axle = rotor(shape("sphere", radius=0.5),
                             shape("sphere", (0, 0.1, 0), radius=0.5 * (1 + more)))
        assert find_rim(layout, axle).centre == (0.0, along, 0.0)


@pytest.mark.parametrize("body, reach", [
    (shape("cylinder", (-0.5, 0, 0), radius=0.2, length=0.6), sqrt(0.7 ** 2 + 0.3 ** 2)),
    (shape("box", (0, 0.7, 0), (0, 0.3, 0), size="0.6 9 0.8"), 0.5),
    (shape("box", (3, 0.7, 4), size="0.0 9 0.0"), 5.0),
    (shape("box", (-0.3, 0, -0.4), size="0.2 1 0.4"), np.hypot(0.4, 0.6)),
    (shape("box", (0.3, 0, 0.4), size="0.2 1 0.4"), np.hypot(0.4, 0.6)),
    (shape("sphere", (0.3, 7, 0.4), radius=0.25), 0.75),
    (shape("cylinder", (0, 7, 0), ALONG, radius=0.3, length=2), 0.3),
    (shape("cylinder", (0, 7, 0), (0, 0, 0), radius=0.3, length=0.8), 0.5),
    (shape("cylinder", (0, 7, 0.1), (0, 0, 0), radius=0.3, length=0.8), sqrt(0.34))])
def test_how_far_out_a_shape_reaches(body, reach):
    layout, axle = rotor(shape("sphere", radius=0.1), body)
    assert find_reach(layout, axle, find_rim(layout, axle)) == pytest.approx(max(reach, 0.1),
                                                                             rel=1e-12, abs=0)


@pytest.mark.parametrize("tag", ["collision", "visual"])
def test_cylinders_that_are_turned_or_placed_wrongly(tag):
    """Across the axle and about its middle, or along it and beside it by less than its radius."""
    across = shape("cylinder", (0.1, 0, 0.2), tag=tag, radius=0.3, length=0.1)
    layout, axle = rotor(across)
    radius, direction = crossed_cylinder(layout, axle)
    assert radius == 0.3 and direction == pytest.approx([0, 0, 1], rel=1e-12)
    assert beside_cylinder(layout, axle) is None
    for off, is_on in ((0.3089, True), (0.3091, False)):
        layout, axle = rotor(shape("cylinder", (off, 0, 0), tag=tag, radius=0.3, length=0.1))
        assert (crossed_cylinder(layout, axle) is not None) == is_on
    small = shape("cylinder", (0.05, 3, 0), ALONG, tag=tag, radius=0.1, length=0.1)
    large = shape("cylinder", (0.12, 3, 0.16), ALONG, tag=tag, radius=0.3, length=0.1)
    far = shape("cylinder", (0.3, 3, 0.4), ALONG, tag=tag, radius=0.4, length=0.1)
    layout, axle = rotor(small, large, far)
    assert beside_cylinder(layout, axle) == (0.3, pytest.approx(0.2, rel=1e-12, abs=0))
    assert crossed_cylinder(layout, axle) is None


@pytest.mark.parametrize("lean, level, camber", [
    (0.0199, True, False), (0.0201, False, True), (0.2099, False, True), (0.2101, False, False)])
def test_an_axis_that_leans_has_camber_where_another_mirrors_it(lean, level, camber):
    """From a fiftieth up to 0.21, on the other side of the middle, at any height and heading."""
    c, s, flat = cos(0.7), sin(0.7), sqrt(1 - lean ** 2)

    def pair(place=(-2 * s, 2 * c, 0.3), other=lean, turn=0.0, kind="continuous"):
        way = np.array([-sin(0.7 + turn), cos(0.7 + turn)]) * flat
        layout = laid(link("base"), link("l"), link("r"), link("s"),
                      joint("one", "base", "l", (0, 0, 0), axis=(-s * flat, c * flat, lean)),
                      joint("two", "base", "r", place, (0, 0, 0), (*way, -other), kind,
                            limits(-1.0, 1.0)),
                      joint("three", "base", "s", (0, 0, 5), axis=(0, 0, 1)))
        one = layout.joints["one"]
        assert is_horizontal(layout, one) == level
        return has_camber(layout, one)
    assert pair() == camber
    assert not pair(other=-lean) or not camber                      # leans to the same side
    assert not pair((0, 0, 1))                                      # above it
    # what does not turn is no partner
    for kind, turns in (("revolute", True), ("prismatic", False), ("fixed", False)):
        assert pair(kind=kind) == (camber and turns)
    for turn, is_near in ((0.0198, True), (0.0206, False)):
        assert pair(turn=turn) == (camber and is_near)
    # ahead of it by more than a fifth of the way, it is no partner
    for angle in (0.05, 0.2, 0.2085, 0.2115, 0.25):
        place = (-2 * sin(0.7 + angle), 2 * cos(0.7 + angle), 0.0)
        mirrored = np.array([-s * flat, c * flat, lean])
        u = np.array([-sin(0.7 + angle), cos(0.7 + angle), 0])
        mirrored -= 2 * u * (u @ mirrored)
        layout = laid(link("base"), link("l"), link("r"),
                      joint("one", "base", "l", axis=(-s * flat, c * flat, lean)),
                      joint("two", "base", "r", place, axis=mirrored))
        off = np.linalg.norm(np.cross(u, (-s * flat, c * flat, lean)))
        assert has_camber(layout, layout.joints["one"]) == (camber and off < 0.21)


def test_what_a_rim_says_of_itself():
    layout, axle = rotor(shape("sphere", radius=0.4))
    ball = find_rim(layout, axle)
    layout, axle = rotor(shape("cylinder", rpy=ALONG, radius=0.4, length=0.1))
    drum = find_rim(layout, axle)
    assert (ball.is_ball, drum.is_ball, ball.is_mesh) == (True, False, False)
    assert str(drum.reason) == "collision cylinder of 'w'"
