"""The small laws that a vehicle is made of: bodies, boxes and directions, by hand."""

from __future__ import annotations

from math import cos, inf, pi, sin
from types import SimpleNamespace

import casadi as ca
import coal
import numpy as np
import pinocchio as pin
import pytest
from lxml import etree
from support import joint, link, robot

from nhmech import InputError, ModelError, Wheel
from nhmech.urdf.description import Description
from nhmech.vehicle.clearance import REACHES, directions, outermost
from nhmech.vehicle.contact import mounts
from nhmech.vehicle.geometry import inertia_box, load_geometry, reach
from nhmech.vehicle.inertia import Inertia
from nhmech.vehicle.least_norm import impose_signs, orthonormal, raise_least, solve_shortest
from nhmech.vehicle.model import (
    body_names,
    full_model,
    is_prismatic,
    joint_axis,
    read_joint,
    upright,
    write_joint,
)
from nhmech.vehicle.palette import ARMS, BODY, PART, STEERING, SUPPORT, WHEEL, link_colours
from nhmech.vehicle.parameters import (
    INERTIAL,
    Parameters,
    has_symbolic_inertia,
    is_present,
    read_parameters,
    write_parameters,
)
from nhmech.vehicle.stiffness import (
    MasslessMotion,
    check_massless,
    describe_massless,
    describe_stiffness,
    fastest_decay,
)
from nhmech.vehicle.tree import is_axisymmetric, rotation_about

RNG = np.random.default_rng


# -- bodies ----------------------------------------------------------------------------------------
def body(rng) -> tuple[Inertia, pin.Inertia]:
    a = rng.normal(size=(3, 3))
    mass, com, matrix = rng.uniform(1, 2), rng.normal(size=3), a @ a.T
    return (Inertia(mass, ca.SX(ca.DM(com)), ca.SX(ca.DM(matrix))), pin.Inertia(mass, com, matrix))


def test_bodies_are_moved_and_joined_as_pinocchio_does():
    rng = RNG(3)
    (one, same), (other, its) = body(rng), body(rng)
    place = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.4, 2.5), rng.normal(size=3))
    both = one.move(place.rotation, place.translation).combine(other)
    expected = place.act(same) + its
    assert both.mass == pytest.approx(expected.mass, rel=1e-12)
    np.testing.assert_allclose(ca.evalf(both.com).full().ravel(), expected.lever, rtol=1e-9)
    np.testing.assert_allclose(ca.evalf(both.matrix).full(), expected.inertia, rtol=1e-9,
                               atol=1e-11)
    assert one.combine(None) is one
    # without mass there is no centre of mass, and moments add up
    spins = [Inertia(0.0, ca.SX(3, 1), k * ca.SX.eye(3)) for k in (1, 2)]
    np.testing.assert_array_equal(ca.evalf(spins[0].combine(spins[1]).matrix).full(), 3 * np.eye(3))


def test_rounding_of_a_body_vanishes_and_small_numbers_stay():
    for small, entries in ((1.01e-15, 2), (0.99e-15, 1)):
        com = ca.SX(ca.DM([1.0, small, 0]))
        moved = Inertia(1.0, com, ca.SX.eye(3)).move(np.eye(3), np.zeros(3))
        assert moved.com.nnz() == entries


def test_parameters_become_numbers_of_a_model():
    """Mass, centre and moments; a payload; the inertia of a rotor times its gear ratio squared."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.addJoint(1, pin.JointModelRY(), pin.SE3.Identity(), "arm")
    numbers = dict(zip(INERTIAL, (2.0, 0.1, 0.2, 0.3, 3.0, 4.0, 5.0, 0.3, 0.2, 0.1)))
    values = {"gravity": 9.0, "slope": 0.3, "slope_direction": 0.7, "payload.mass": 1.5,
              "payload.x": 1.0, "payload.y": 2.0, "payload.z": 3.0, "arm.rotor_inertia": 0.01,
              "arm.gear_ratio": 20.0} | {f"b.{key}": value for key, value in numbers.items()}
    write_parameters(model, ["universe", "b", "c"], Parameters(values))
    own = pin.Inertia(2.0, np.array([0.1, 0.2, 0.3]),
                      np.array([[3.0, 0.3, 0.2], [0.3, 4.0, 0.1], [0.2, 0.1, 5.0]]))
    load = pin.Inertia(1.5, np.array([1.0, 2.0, 3.0]), np.zeros((3, 3)))
    np.testing.assert_allclose(model.inertias[1].matrix(), (own + load).matrix(), rtol=1e-12)
    np.testing.assert_allclose(model.inertias[2].matrix(), np.zeros((6, 6)))
    np.testing.assert_allclose(model.armature, [0] * 6 + [4.0], rtol=1e-12)
    # a moment that rounding makes negative is none; no entry on the diagonal is by rounding
    turn = pin.rpy.rpyToMatrix(0.3, 0.4, 0.5)
    for odd, R, is_refused in ((-0.99e-9, turn, False), (-1.01e-9, turn, True),
                               (-1e-15, np.eye(3), True)):
        m = R @ np.diag([odd, 1.0, 1.0]) @ R.T
        moments = (m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
        wrong = Parameters(values | {f"b.{key}": float(value)
                                     for key, value in zip(INERTIAL[4:], moments)})
        if is_refused:
            with pytest.raises(InputError, match="of 'b' is none that a body can have"):
                write_parameters(model, ["universe", "b", "c"], wrong)
        else:
            write_parameters(model, ["universe", "b", "c"], wrong)


def test_parameters_are_numbers_or_symbols():
    made = Parameters({"a.mass": 1.0, "w.damping": 2.0, "r": 3.0}, symbolic=["r", "a.mass"])
    assert made["w.damping"] == 2.0 and made.get("nobody") == 0.0
    assert isinstance(made["r"], ca.SX) and made.theta.shape == (2, 1)
    np.testing.assert_array_equal(made.numbers, [3.0, 1.0])
    assert is_present(made["r"]) and is_present(-1e-300) and not is_present(0.0)
    assert has_symbolic_inertia(made, "a") and not has_symbolic_inertia(made, "r")
    other = made.replace({"r": -4.0})
    assert other.values["r"] == -4.0 and made.values["r"] == 3.0 and other.symbolic == made.symbolic


@pytest.mark.parametrize("what", ["mass", "rotor_inertia", "damping", "rolling_resistance",
                                  "radius"])
def test_what_may_be_zero_and_not_negative(what):
    made = Parameters({f"a.{what}": 1.0})
    assert made.replace({f"a.{what}": 0.0}).values[f"a.{what}"] == 0.0
    with pytest.raises(InputError, match=f"'a.{what}' = -1e-300 must not be negative"):
        made.replace({f"a.{what}": -1e-300})


def test_a_slope_in_degrees_is_no_parameter():
    made = Parameters({"slope": 0.0})
    assert made.replace({"slope": -1.5}).values["slope"] == -1.5
    with pytest.raises(InputError, match=r"'slope' = 30.* meant: slope=radians\(30\)"):
        made.replace({"slope": 30})


# -- joints and wheels on them ---------------------------------------------------------------------
def tilted(inertia: str, more: str = "") -> tuple[pin.Model, int]:
    """A wheel about (0.6, 0, 0.8) of its frame, which is turned, on a rail on the base."""
    text = robot(link("base"), link("rail"),
                 f'<link name="w"><inertial>{inertia}</inertial></link>',
                 joint("slide", "base", "rail", (1, 2, 3), (0.3, 0.2, 0.1), (0, 0.6, 0.8),
                       "prismatic", '<limit lower="-1" upper="1" effort="1" velocity="1"/>'),
                 joint("spin", "rail", "w", (4, 5, 6), (-0.1, 0.2, 0.7), (0.6, 0, 0.8)), more)
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    return model, model.getJointId("spin")


AXLE = np.array([0.6, 0, 0.8])


def round_about(axial: float, across: float, spoil=0.0, off=0.0) -> str:
    """Of 2 kg, about `AXLE`, with a deviation of one moment and of the centre of mass."""
    side = np.array([0.8, 0, -0.6])
    m = (axial * np.outer(AXLE, AXLE) + across * (np.eye(3) - np.outer(AXLE, AXLE))
         + spoil * np.outer(side, side))
    x, y, z = (3 * AXLE + off * side).tolist()
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = m.tolist()
    return (f'<origin xyz="{x!r} {y!r} {z!r}"/><mass value="2"/><inertia ixx="{xx!r}" iyy="{yy!r}" '
            f'izz="{zz!r}" ixy="{xy!r}" ixz="{xz!r}" iyz="{yz!r}"/>')


@pytest.mark.parametrize("spoil, off, is_round", [
    (0.0, 0.0, True), (1e-9, 0.0, True), (1e-8, 0.0, False), (0.0, 0.9e-12, True),
    (0.0, 1.1e-12, False)])
def test_a_wheel_is_round_up_to_rounding(spoil, off, is_round):
    """Its moments across the axle to a billionth of the largest, its centre to one of a
    millimetre."""
    model, spin = tilted(round_about(3.0, 2.0, spoil, off))
    assert is_axisymmetric(model, spin) == is_round
    assert not is_axisymmetric(model, model.getJointId("slide"))


def test_joints_by_name():
    model, spin = tilted(round_about(3.0, 2.0))
    slide = model.getJointId("slide")
    assert is_prismatic(model, slide) and not is_prismatic(model, spin)
    np.testing.assert_allclose(joint_axis(model, spin), AXLE, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(joint_axis(model, slide), (0, 0.6, 0.8), rtol=1e-12, atol=1e-15)
    q = pin.neutral(model)
    write_joint(model, q, "spin", 2.5)
    write_joint(model, q, "slide", -0.4)
    assert [read_joint(model, q, name) for name in ("spin", "slide")] == pytest.approx(
            [2.5, -0.4], rel=1e-12, abs=0)
    assert q[8:] == pytest.approx([cos(2.5), sin(2.5)], rel=1e-12, abs=0) and q[7] == -0.4
    assert body_names(model) == ("universe", "base", "rail", "w")
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    c, s_ = ca.SX(cos(2.5)), ca.SX(sin(2.5))
    turn = model.jointPlacements[spin].rotation @ ca.evalf(rotation_about(AXLE, c, s_)).full()
    np.testing.assert_allclose(data.liMi[spin].rotation, turn, rtol=0, atol=1e-12)
    for normal in (np.array([0.0, 0.6, 0.8]), np.array([0.0, 0.0, 1.0])):
        R = upright(normal)
        np.testing.assert_allclose(R[:, 2], normal, rtol=0, atol=1e-12)
        assert np.linalg.norm(pin.log3(R)) == pytest.approx(np.arccos(normal[2]), abs=1e-12)


@pytest.mark.parametrize("rolls", [True, False])
@pytest.mark.parametrize("yaw, off", [(0.0, 0.9e-9), (0.0, 1.2e-9), (0.7, 0.9e-9), (0.7, 1.2e-9)])
def test_axes_that_were_meant_are_exact(yaw, off, rolls):
    """Of wheels, along a coordinate axis or level, up to a billionth; in frames that are turned."""
    text = robot(link("base", 1.0), link("arm", 1.0), link("w", 1.0),
                 joint("fork", "base", "arm", (1, 0, 0), (0, 0, yaw), (0, 0, 1)),
                 joint("spin", "arm", "w", (0, 1, 0), (pi / 2 + off, 0, 0), (0, 0, 1)))
    model = full_model(Description(xml=text, name="r", root="base", wheels=(), path=None,
                                   rolling=("spin",) * rolls))
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    axis = data.oMi[model.getJointId("spin")].rotation[:, 2]
    snapped = rolls and off < 1e-9
    assert (abs(axis[2]) < 1e-15) == snapped
    expected = np.array([sin(yaw), -cos(yaw), 0.0])
    np.testing.assert_allclose(axis, expected, atol=1e-15 if snapped else 2e-9)
    if snapped and not yaw:
        assert axis.tolist() == [0.0, -1.0, 0.0]
    R = data.oMi[model.getJointId("spin")].rotation
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)


@pytest.mark.parametrize("yaw, off", [(5e-10, 0.0), (-5e-10, 4e-10)])
def test_an_axis_nearly_along_a_coordinate_axis_is_along_it(yaw, off):
    """In whichever direction it is off, also where it is level."""
    text = robot(link("base", 1.0), link("w", 1.0),
                 joint("spin", "base", "w", (0, 1, 0), (pi / 2 + off, 0, yaw), (0, 0, 1)))
    model = full_model(Description(xml=text, name="r", root="base", wheels=(), path=None,
                                   rolling=("spin",)))
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    assert data.oMi[model.getJointId("spin")].rotation[:, 2].tolist() == [0.0, -1.0, 0.0]


def test_the_axis_of_a_joint_has_no_rounding_errors():
    """In any length; and a turn about it that rounds to none in its cosine is a rotation still."""
    for axis, exact in (((1.8, 0, 2.4), [0.6, 0.0, 0.8]), ((0, 0.3, -0.4), [0.0, 0.6, -0.8]),
                        ((0.7, -2.4, 0), [0.28, -0.96, 0.0]), ((0, 1e-3, 0), [0.0, 1.0, 0.0])):
        text = robot(link("base"), link("w"), joint("spin", "base", "w", axis=axis))
        model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
        assert joint_axis(model, 2).tolist() == exact
    text = robot(link("base"), link("w"), joint("turn", "base", "w", (0, 0, 0), (0, 0, 1e-7),
                                                (0, 0, 1)))
    model = full_model(Description(xml=text, name="r", root="base", wheels=(), rolling=(),
                                   steering=("turn",)))
    R = model.jointPlacements[2].rotation
    np.testing.assert_allclose(R @ R.T, np.eye(3), rtol=0, atol=2e-15)
    assert R[1, 0] == pytest.approx(1e-7, rel=1e-9)


@pytest.mark.parametrize("number, kept", [(1.01e-16, True), (0.99e-16, False), (-1.01e-16, True)])
def test_inertial_numbers_that_round_to_nothing_are_nothing(number, kept):
    model = pin.buildModelFromXML(robot(link("base")), pin.JointModelFreeFlyer())
    matrix = np.eye(3)
    matrix[0, 1] = matrix[1, 0] = number
    model.inertias[1] = pin.Inertia(1e-3, np.array([number, 0, 0]), matrix)
    made = read_parameters(model, body_names(model), Description(
        xml="", name="r", root="base", wheels=(), rolling=()))
    assert [made.values[f"base.{key}"] for key in ("mass", "com_x", "Ixy")] == [
        1e-3, number * kept, number * kept]


def test_where_wheels_are_mounted():
    """At the point of the axle that is nearest to theirs, on the body that carries the joint."""
    model, spin = tilted(round_about(3.0, 2.0), link("hub") + joint(
        "fix", "w", "hub", (0.1, 0.2, 0.3), (0.5, 0, 0), kind="fixed"))
    place, hub = model.jointPlacements[spin], pin.SE3(pin.rpy.rpyToMatrix(0.5, 0, 0),
                                                      np.array([0.1, 0.2, 0.3]))
    point = np.array([0.4, -0.3, 0.2])
    (one,) = mounts(model, [Wheel("spin", radius=1.0, link="hub", point=tuple(point))])
    on_axle = AXLE * (AXLE @ hub.act(point))
    np.testing.assert_allclose(one.centre, place.act(on_axle), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.axle, place.rotation @ AXLE, rtol=0, atol=1e-12)
    assert (one.body, one.spin) == (model.getJointId("slide"), model.joints[spin].idx_v)
    (plain,) = mounts(model, [Wheel("spin", radius=1.0)])
    np.testing.assert_allclose(plain.centre, place.translation, rtol=1e-12, atol=1e-12)
    blade = Wheel(None, "blade", link="hub", axis=(0, 3, 4), point=tuple(point))
    ball = Wheel(None, "caster_ball", 1.0, link="hub", point=tuple(point))
    skate, caster = mounts(model, [blade, ball])
    np.testing.assert_allclose(skate.axle, hub.rotation @ (0, 0.6, 0.8), rtol=0, atol=1e-12)
    np.testing.assert_allclose(skate.centre, hub.act(point), rtol=0, atol=1e-12)
    assert (skate.body, skate.spin, caster.axle) == (spin, None, None)
    for odd, words in ((Wheel("spin", radius=1.0, link="rail"), "'rail' does not turn with joint"),
                       (Wheel("spin", radius=1.0, link="x"), "no link 'x'; links are base, rail")):
        with pytest.raises(ModelError, match=words):
            mounts(model, [odd])


# -- how far down a shape reaches ------------------------------------------------------------------
def test_a_shape_reaches_as_far_down_as_its_lowest_point():
    rng = RNG(5)
    for n in (one / np.linalg.norm(one) for one in rng.normal(size=(20, 3))):
        n_SX, aside = ca.SX(ca.DM(n)), np.hypot(n[0], n[1])
        for shape, depth in (
                (coal.Box(0.2, 0.4, 0.6), np.abs(n) @ (0.1, 0.2, 0.3)), (coal.Sphere(0.3), 0.3),
                (coal.Cylinder(0.3, 0.8), 0.3 * aside + 0.4 * abs(n[2])),
                (coal.Capsule(0.3, 0.8), 0.3 + 0.4 * abs(n[2]))):
            assert float(REACHES[type(shape)](shape)(n_SX)) == pytest.approx(depth, rel=1e-12,
                                                                             abs=0)


def test_directions_are_spread_over_a_sphere():
    """Their mean is nothing, their second moments are alike, and no hole is larger than a circle of
    twice the share of one."""
    ways = directions(64)
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), 1, rtol=1e-12)
    assert np.abs(ways.mean(axis=0)).max() < 0.02
    np.testing.assert_allclose(ways.T @ ways / 64, np.eye(3) / 3, atol=0.02)
    asked = RNG(1).normal(size=(500, 3))
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    assert (asked @ ways.T).max(axis=1).min() > 1 - 4 / 64
    # neighbours along the spiral turn by the golden angle
    turn = np.angle((ways[2, 0] + 1j * ways[2, 1]) / (ways[1, 0] + 1j * ways[1, 1]))
    assert turn == pytest.approx(pi * (3 - np.sqrt(5)), rel=1e-12)


def test_outermost_points():
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, -3), (0.5, 0.5, 0)])
    kept = outermost(points, np.array([(1, 0, 0), (0, 1, 0), (0, 0, -1), (1, 0, 0)]))
    np.testing.assert_array_equal(kept, points[1:4])


# -- boxes and stand-ins ---------------------------------------------------------------------------
def box(mass: float, sides, product: float = 0.0) -> pin.Inertia:
    a, b, c = sides
    moments = np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) * mass / 12
    moments[0, 1] = moments[1, 0] = product * np.trace(moments)
    return pin.Inertia(mass, np.zeros(3), moments)


@pytest.mark.parametrize("product, is_turned", [(0.0299, False), (0.0301, True)])
def test_a_box_is_turned_by_products_above_three_hundredths_of_the_trace(product, is_turned):
    sides, axes = inertia_box(box(300.0, (1, 0.8, 0.6), product), inf)
    assert (np.abs(axes - np.eye(3)).max() > 0.05) == is_turned
    assert np.linalg.det(axes) == pytest.approx(1.0, rel=1e-12)
    assert is_turned or sides == pytest.approx((1, 0.8, 0.6), rel=1e-9)


@pytest.mark.parametrize("mass, reached, shrunk", [
    (48.1, inf, 1.0), (48.0 * 0.9 ** 3, inf, 0.9), (480.0, 0.5, 0.5), (480.0, 1.1, 1.0)])
def test_a_box_is_no_lighter_than_hollow_machines_and_no_larger_than_its_robot(mass, reached,
                                                                               shrunk):
    """100 kg/m^3 of 1 m x 0.8 m x 0.6 m are 48 kg."""
    sides, _ = inertia_box(box(mass, (1, 0.8, 0.6)), reached)
    assert sides == pytest.approx(np.multiply(shrunk, (1, 0.8, 0.6)), rel=1e-9)


def test_a_plate_is_thick_enough_to_be_seen_and_a_point_has_no_box():
    sides, _ = inertia_box(box(500.0, (1, 0.8, 0.0)), inf)
    assert sides == pytest.approx((1, 0.8, 0.02), rel=1e-9)
    assert inertia_box(pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3))), inf) is None
    assert inertia_box(pin.Inertia(0.0, np.zeros(3), np.eye(3)), inf) is None


INERTIAL_XML = ('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
                'iyz="0"/></inertial>')


def drawn(base: str, wheel: str, wheels=(), base_inertia=INERTIAL_XML, joint="continuous"):
    """Link -> (shape, its placement in the link's frame), as drawn."""
    xml = (f'<robot name="r"><link name="base">{base_inertia}{base}</link><link name="wheel">'
           f'{INERTIAL_XML}{wheel}</link><joint name="spin" type="{joint}"><parent link="base"/>'
           '<child link="wheel"/><origin xyz="0.5 0.2 0"/><axis xyz="0 1 0"/></joint></robot>')
    model = pin.buildModelFromXML(xml, pin.JointModelFreeFlyer())
    found = load_geometry(Description(xml=xml, name="r", root="base", wheels=wheels, rolling=()),
                          model)
    by_link: dict[str, list] = {}
    for one in found.visual.geometryObjects:
        frame = model.frames[one.parentFrame]
        by_link.setdefault(frame.name, []).append(
            (one.geometry, frame.placement.actInv(one.placement)))
    return by_link, model


GONE = '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>'
DRUM = ('<collision name="c"><material name="m"/><geometry><cylinder radius="0.3" length="0.2"/>'
        '</geometry></collision>')


def test_a_wheel_without_a_shape_is_a_cylinder_about_its_axle():
    wheel = Wheel("spin", radius=0.15, axis=(0.0, 0.6, 0.8), link="wheel", point=(0.1, 0.2, 0.3))
    ((shape, place),), _ = drawn("", GONE, (wheel,))[0]["wheel"], None
    assert (shape.radius, 2 * shape.halfLength) == pytest.approx((0.15, 0.4 * 0.15), rel=1e-12,
                                                                 abs=0)
    np.testing.assert_allclose(place.translation, (0.1, 0.2, 0.3), atol=1e-12)
    np.testing.assert_allclose(place.rotation[:, 2], (0, 0.6, 0.8), rtol=0, atol=1e-12)
    ball = Wheel(None, "caster_ball", 0.1, link="wheel", point=(0.1, 0.2, 0.3))
    (shape, place), = drawn("", GONE, (ball,))[0]["wheel"]
    assert isinstance(shape, coal.Sphere) and shape.radius == pytest.approx(0.1, rel=1e-12, abs=0)
    np.testing.assert_allclose(place.translation, (0.1, 0.2, 0.3), atol=1e-12)


def test_what_turns_on_has_a_bar_that_shows_it():
    (drum, _), (bar, _) = drawn("", DRUM)[0]["wheel"]
    assert isinstance(drum, coal.Cylinder)
    assert 2 * bar.halfSide == pytest.approx((1.4 * 0.3, 0.16 * 0.3, 1.02 * 0.2 + 0.002), rel=1e-12,
                                             abs=0)
    assert len(drawn("", DRUM, joint="fixed")[0]["wheel"]) == 1
    assert len(drawn(DRUM, "")[0]["base"]) == 1


def test_a_link_without_mass_is_a_box_out_to_its_joints():
    """Four fifths of the way, a tenth of that thick, 30 mm at least."""
    (shape, place), = drawn(GONE, "", base_inertia="")[0]["base"]
    assert 2 * shape.halfSide == pytest.approx((0.4, 0.16, 0.05), rel=1e-12, abs=0)
    np.testing.assert_allclose(place.translation, (0.25, 0.1, 0), rtol=0, atol=1e-12)
    (shape, place), = drawn("", GONE.replace("gone", "b"), base_inertia="")[0]["wheel"]
    assert isinstance(shape, coal.Box)
    model = drawn("", "")[1]
    assert reach(model) == pytest.approx(np.hypot(0.5, 0.2), rel=1e-12, abs=0)
    assert reach(drawn("", "", joint="fixed")[1]) == inf


def test_colours_are_by_function():
    """Of the root, what is fixed to it, what rolls, steers, supports; then of each arm in turn."""
    joints = {"plate": ("base", "fixed"), "bolt": ("plate", "fixed"), "fork": ("base", "revolute"),
              "tyre": ("fork", "continuous"), "ball": ("plate", "fixed"),
              "upper": ("base", "revolute"), "lower": ("upper", "revolute"),
              "hand": ("lower", "fixed"), "finger": ("hand", "prismatic")}
    root = etree.fromstring('<robot><link name="base"/>' + "".join(
        f'<link name="{name}"/><joint name="{name}_joint" type="{kind}"><parent link="{above}"/>'
        f'<child link="{name}"/></joint>' for name, (above, kind) in joints.items())
        + '<joint name="odd"/><joint name="half"><parent link="base"/></joint></robot>')
    wheels = (Wheel("tyre_joint", radius=1.0), Wheel(None, "caster_ball", 1.0, link="ball"))
    found = link_colours(root, Description(xml="", name="r", root="base", wheels=wheels,
                                           rolling=("tyre_joint",), steering=("fork_joint",)))
    assert found == {"base": BODY, "plate": PART, "bolt": PART, "fork": STEERING, "tyre": WHEEL,
                     "ball": SUPPORT, "upper": ARMS[1], "lower": ARMS[0], "hand": ARMS[0],
                     "finger": ARMS[1]}


# -- least norm ------------------------------------------------------------------------------------
@pytest.mark.parametrize("small, rank", [(1.01e-10, 2), (0.99e-10, 1)])
def test_a_rank_is_told_from_rounding(small, rank):
    x, kernel = solve_shortest(np.diag([1.0, small]), np.array([1.0, 0.0]))
    assert kernel.shape == (2, 2 - rank) and x == pytest.approx([1, 0], rel=1e-12)


@pytest.mark.parametrize("off, columns", [(1e-8, 2), (1e-10, 1)])
def test_columns_beyond_the_rank_are_zero(off, columns):
    kernel = np.array([[1.0, 1.0], [0.0, off], [0.0, 0.0]])
    found = orthonormal(kernel)
    assert np.count_nonzero(np.linalg.norm(found, axis=0) > 0.5) == columns
    assert (np.abs(found @ found.T @ kernel - kernel) < 1e-9).all()
    np.testing.assert_array_equal(orthonormal(np.zeros((2, 3, 1))), np.zeros((2, 3, 1)))


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_negative_entry_above_rounding_is_raised(size):
    """By a move that is perpendicular to the solution, which another entry follows exactly."""
    for small, is_raised in ((1e-7, True), (1.01e-9, True), (0.99e-9, False)):
        x0, move = np.array([-small, 1.0, 0.0]), np.array([1.0, small, 1.0])
        N = (move / np.linalg.norm(move))[:, None]
        x, feasible = impose_signs(size * x0, N, np.array([True, True, False]))
        assert feasible
        expected = np.array([0.0, 1.0, small]) if is_raised else x0
        np.testing.assert_allclose(x / size, expected, rtol=1e-9, atol=1e-15)


def test_an_entry_that_hardly_moves_can_still_be_raised():
    for way, moves in ((1.01e-9, True), (0.99e-9, False)):
        N = np.array([[way], [1.0]])
        assert impose_signs(np.array([-1.0, 0.0]), N, np.array([True, False]))[1] == (
            moves and way * 1e5 > 1) or not moves
    # z would be 1e5 times the plain solution
    for way, found in ((1.2e-5, True), (0.8e-5, False)):
        N = np.array([[way], [np.sqrt(1 - way ** 2)]])
        assert impose_signs(np.array([-1.0, 0.0]), N, np.array([True, False]))[1] == found


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_the_least_entry_is_raised_in_any_unit(size):
    """-1 + z and 3 - 2 z are equal at 4/3."""
    z = raise_least(size * np.array([-1.0, 3.0]), np.array([[1.0], [-2.0]]))
    assert z / size == pytest.approx([4 / 3], rel=1e-12)
    assert raise_least(np.zeros(2), np.ones((2, 0))).shape == (0,)


# -- motions that die out --------------------------------------------------------------------------
def sliders(masses, damping, *ties) -> SimpleNamespace:
    """Masses on rails on a base that is held, each with its damper; `ties`: rows of their rates."""
    count = len(masses)
    model = pin.Model()
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    own = pin.Inertia(1.0, np.zeros(3), np.eye(3))
    model.appendBodyToJoint(root, own, pin.SE3.Identity())
    for k, mass in enumerate(masses):
        joint_id = model.addJoint(root, pin.JointModelPZ(), pin.SE3.Identity(), f"s{k}")
        model.appendBodyToJoint(joint_id, pin.Inertia(mass, np.zeros(3), np.zeros((3, 3))),
                                pin.SE3.Identity())
    rows = np.vstack([np.eye(6, 6 + count), *(np.r_[np.zeros(6), tie][None] for tie in ties)])
    names = tuple(f"s{k}" for k in range(count))
    values = {f"{name}.damping": d for name, d in zip(names, damping)}
    return SimpleNamespace(
        model=model, data=model.createData(), configuration=lambda: pin.neutral(model), name="rig",
        constraint_matrix=lambda q: rows, parameters=SimpleNamespace(values=values),
        algebroid=SimpleNamespace(v_names=(*"abcdef", *names)))


def test_the_fastest_decay_is_that_of_damper_over_mass():
    rig = sliders([2.0, 0.5, 1.0], [3.0, 4.0, 5.0])
    rate, joints = fastest_decay(rig)
    assert rate == pytest.approx(8.0, rel=1e-9) and joints == ("s1",)
    assert fastest_decay(sliders([1.0], [0.0])) == (0.0, ())
    # two that are tied move as one, with what both have
    rate, joints = fastest_decay(sliders([2.0, 0.5, 1.0], [3.0, 4.0, 0.0], (1.0, -0.5, 0.0)))
    assert rate == pytest.approx((3 * 0.25 + 4) / (2 * 0.25 + 0.5), rel=1e-9)
    assert joints == ("s1", "s0")


@pytest.mark.parametrize("part, count", [(0.301, 2), (0.299, 1)])
def test_joints_that_move_by_three_tenths_of_the_fastest_are_named(part, count):
    assert len(fastest_decay(sliders([1.0, 1.0], [1.0, 1.0], (part, -1.0)))[1]) == count
    same = sliders([1.0] * 6, [1.0] * 6, *(np.eye(6)[k] - np.eye(6)[k + 1] for k in range(5)))
    assert len(fastest_decay(same)[1]) == 4


def test_a_step_is_told_where_it_is_nearly_too_long():
    """At nine tenths of the scheme's limit."""
    rig = sliders([0.5], [4.0])                    # 8 1/s
    for limit, words in ((2.785, {}), (2.0, {"scheme": "rk2", "limit": 2.0})):
        dt = 0.9 * limit / 8
        assert describe_stiffness(rig, dt * 0.999, **words) is None
        text = describe_stiffness(rig, dt * 1.001, **words)
        assert text.startswith("damping makes motion of s0 die out at 8 1/s, for which "
                               f"{words.get('scheme', 'rk4')} needs dt below {limit / 8:.2g} s")


@pytest.mark.parametrize("light, is_massless", [(1.1e-14, False), (0.9e-14, True), (0.0, True)])
def test_a_joint_that_moves_no_mass_is_told(light, is_massless):
    rig = sliders([1.0, light], [1.0, 1.0])
    text = describe_massless(rig)
    assert (text is not None) == is_massless
    if is_massless:
        assert text.startswith("s1 can move without moving any mass")
        assert describe_stiffness(rig, 1e-9) == text
        with pytest.raises(MasslessMotion) as caught:
            check_massless(rig)
        assert caught.value.joints == ("s1",)
    else:
        check_massless(rig)
    empty = sliders([0.0], [0.0])
    empty.model.inertias[1] = pin.Inertia.Zero()
    with pytest.raises(MasslessMotion, match="rig: no link has a mass"):
        check_massless(empty)
