"""Wheels that are known, and what is said of their inertias, heights, distances and casters: by
hand, just within each bound and just beyond it."""

from __future__ import annotations

from math import cos, inf, pi, sin
from types import SimpleNamespace

import numpy as np
import pytest
from placed import SHIFT, found, laid, mesh, place, shape, stand
from support import joint, link

from nhmech import ModelError, Wheel
from nhmech.errors import NhmechError
from nhmech.urdf.description import Fact, FoundWheel, Reason, Witness
from nhmech.urdf.joint_properties import (
    find_massless,
    read_damping,
    read_limits,
    read_mu,
    read_stiffness,
    report_light_base,
)
from nhmech.urdf.layout import Layout
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.repair import give_mass
from nhmech.urdf.validate_inertia import read_inertia
from nhmech.urdf.wheels.bearing import check_single, report_bearing
from nhmech.urdf.wheels.casters import find_casters, infer_casters
from nhmech.urdf.wheels.heights import check_distances, check_heights, report_heights
from nhmech.urdf.wheels.unrolled import infer_blades
from nhmech.urdf.wheels.wheel_inertia import check_wheel_inertia

ALONG = (pi / 2, 0, 0)


# -- inertias --------------------------------------------------------------------------------------
def rotor(inertial: str, length=0.1, axis="0 1 0", radius=0.5) -> tuple[Layout, FoundWheel]:
    wheel = f'<link name="w">{inertial}{shape("cylinder", rpy=ALONG, radius=radius, length=length)}'
    layout = laid(link("base"), f"{wheel}</link>", joint(
        "j", "base", "w", (1, 2, 3), (0.3, 0.2, 0.1), axis.split()))
    return layout, found(Wheel("j", radius=radius, axis=(0, 1, 0), point=(0, 0, 0)))[0]


def inertial(ixx, iyy, izz, mass=2.0, rpy="0 0 0") -> str:
    return (f'<inertial><origin rpy="{rpy}"/><mass value="{mass}"/><inertia ixx="{ixx}" '
            f'iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>')


@pytest.mark.parametrize("moments, length, why", [
    ((1, 3, 0.801), 0.1, None), ((1, 3, 0.799), 0.1, "the two across it differ"),
    ((0.799, 3, 1), 0.1, "the two across it differ"),
    ((1, 0.801, 1), 0.1, None), ((1, 0.799, 1), 0.1, "the one about it is the smallest"),
    ((1, 0.79, 0.9), 0.1, None), ((1, 0.71, 0.9), 0.1, "the one about it is the smallest"),
    # a roller, as long as sqrt(3) radii, has its smallest moment about its axle
    ((1, 0.1, 1), 0.867, None), ((1, 0.1, 1), 0.865, "the one about it is the smallest")])
def test_moments_that_no_wheel_has(moments, length, why):
    notices = check_wheel_inertia(*map_one(rotor(inertial(*moments), length)))
    assert [notice.kind for notice in notices] == [NoticeKind.WHEEL_INERTIA] * (why is not None)
    if why:
        disc, across = 2.0 * 0.5 ** 2 / 2, 2.0 * (3 * 0.5 ** 2 + length ** 2) / 12
        text = notices[0].text
        assert text.startswith("j: the inertia is not that of a wheel with the axle (0 1 0)")
        assert why in text and "ixx {:.4g}, iyy {:.4g}, izz {:.4g} kg m^2".format(*moments) in text
        assert (f"a solid cylinder of 2 kg, radius 0.5 m and length {length:.4g} m has {disc:.4g} "
                f"about the axle and {across:.4g} across it") in text


@pytest.mark.parametrize("size", [1e-5, 1e2])
def test_moments_of_any_size_are_compared(size):
    for spread, said in ((0.801, False), (0.799, True)):
        moments = np.array((1, 3, spread)) * size
        assert bool(check_wheel_inertia(*map_one(rotor(inertial(*moments))))) == said


def map_one(made: tuple[Layout, FoundWheel]) -> tuple[Layout, list[FoundWheel]]:
    return made[0], [made[1]]


@pytest.mark.parametrize("moments, rpy, is_turned", [
    ((0.5, 1, 1.21), "0 0 0", True), ((0.5, 1, 1.19), "0 0 0", False),
    # the z axis of its table is 0.19 or 0.21 off the wheel's plane, or along the axle
    ((0.5, 1, 3), f"{np.arcsin(0.19)} 0 0", True), ((0.5, 1, 3), f"{np.arcsin(0.21)} 0 0", False),
    ((3, 1, 0.5), "0 0 0", False)])
def test_a_table_along_z_is_recognised(moments, rpy, is_turned):
    (notice,) = check_wheel_inertia(*map_one(rotor(inertial(*moments, rpy=rpy))))
    assert ("the rpy of its collision cylinder" in notice.text) == is_turned
    assert notice.text.endswith("correct the numbers")


@pytest.mark.parametrize("body", [
    shape("sphere", radius=0.5), shape("cylinder", rpy=ALONG, tag="visual", radius=0.5, length=0.1),
    shape("cylinder", radius=0.5, length=0.1), ""])
def test_only_a_cylinder_that_collides_tells_how_a_wheel_is_turned(body):
    layout = laid(link("base"), f'<link name="w">{inertial(1, 3, 0.5)}{body}</link>',
                  joint("j", "base", "w"))
    wheel = Wheel("j", radius=0.5, axis=(0, 1, 0), point=(0, 0, 0))
    assert check_wheel_inertia(layout, found(wheel)) == []


@pytest.mark.parametrize("hub, tyre, said", [
    ((0, 0, 0), (1, 2, 1), False), ((1, 2, 1), (0, 0, 0), False), ((0, 0, 0), (0, 0, 0), True)])
def test_the_inertia_of_a_part_is_that_of_the_wheel(hub, tyre, said):
    layout = laid(link("base"), link("w", 2.0, hub), joint("j", "base", "w"), link("t", 1.0, tyre),
                  joint("f", "w", "t", kind="fixed"))
    wheel = Wheel("j", radius=0.5, axis=(0, 1, 0), point=(0, 0, 0))
    notices = check_wheel_inertia(layout, found(wheel))
    assert [n.text for n in notices] == [
        "j: the inertia is zero although the mass is 3 kg, so that spinning it up takes no effort; "
        "a solid disc of this mass and radius has 0.375 kg m^2 about its axle"] * said


def test_a_wheel_with_mass_and_without_inertia():
    for mass, is_said in ((2.0, True), (0.0, False)):
        notices = check_wheel_inertia(*map_one(rotor(inertial(0, 0, 0, mass))))
        assert bool(notices) == is_said
    (notice,) = check_wheel_inertia(*map_one(rotor(inertial(0, 0, 0))))
    assert "mass is 2 kg" in notice.text and "has 0.25 kg m^2 about its axle" in notice.text
    layout, one = rotor(inertial(0, 0, 0))
    ball = FoundWheel(Wheel(None, "caster_ball", 0.1, link="w"), Reason(""))
    (notice,) = check_wheel_inertia(layout, [one, ball, one])
    assert notice.text.startswith("j, j: the inertia is zero")
    (turned,) = check_wheel_inertia(*map_one(rotor(inertial(1, 3, 0.5), axis="0 -2 0")))
    assert "the axle (0 1 0)" in turned.text


# -- masses that are given -------------------------------------------------------------------------
@pytest.mark.parametrize("body, width, centre", [
    ("", 0.25, (0, 0, 0)), (shape("cylinder", (0, 0.3, 0), ALONG, radius=0.5, length=0.2), 0.2,
                            (0, 0.3, 0))])
def test_a_wheel_of_rubber(body, width, centre):
    """A solid cylinder of 920 kg/m^3, half as wide as its radius where no shape tells; what was
    there is gone."""
    wheel = f'<link name="w">{inertial(0, 0, 0, mass=0.0)}{body}</link>'
    layout = laid(link("base"), wheel, joint("j", "base", "w"))
    (notice,) = give_mass(layout, found(Wheel("j", radius=0.5), Wheel(None, "caster_ball", 0.1,
                                                                      link="base")))
    m = 920 * pi * 0.5 ** 2 * width
    (element,) = layout.links["w"].findall("inertial")
    mass, X, inertia = read_inertia(layout.source, element)
    across = m * (3 * 0.5 ** 2 + width ** 2) / 12
    assert mass == pytest.approx(m, rel=1e-12)
    assert X[:3, 3] == pytest.approx(centre)
    np.testing.assert_allclose(inertia, np.diag([across, m * 0.5 ** 2 / 2, across]), rtol=1e-12)
    assert f"j 0 -> {m:.3g} kg" in notice.text and "(920 kg/m^3)" in notice.text
    assert give_mass(layout, found(Wheel("j", radius=0.5))) == []


def test_a_base_of_water_has_the_boxes_about_its_shapes():
    """A box, a ball as wide as high, a cylinder along x; nothing flat."""
    a, b, c = 1000 * 6.0, 1000 * 0.8 ** 3, 1000 * 0.6 ** 2 * 2
    body = (shape("box", (1, 0, 0), size="1 2 3") + shape("sphere", (0, 2, 0), radius=0.4)
            + shape("box", size="1 0 3"))
    rod = shape("cylinder", (0, 0, 4), (0, pi / 2, 0), radius=0.3, length=2)
    layout = laid(f'<link name="base">{body}</link>',
                                      f'<link name="rod">{rod}</link>',
                                      joint("f", "base", "rod", (0, 0, 1), kind="fixed"))
    (notice,) = give_mass(layout, [])
    mass, X, inertia = read_inertia(layout.source, layout.links["base"].find("inertial"))
    places = np.array([(1, 0, 0), (0, 2, 0), (0, 0, 5)])
    centre = (np.array([a, b, c]) @ places) / (a + b + c)
    total = np.zeros((3, 3))
    for m, at, (x, y, z) in zip((a, b, c), places, ((1, 2, 3), (0.8, 0.8, 0.8), (2, 0.6, 0.6))):
        d = at - centre
        total += m * (d @ d * np.eye(3) - np.outer(d, d))
        total += m / 12 * np.diag([y ** 2 + z ** 2, x ** 2 + z ** 2, x ** 2 + y ** 2])
    assert mass == pytest.approx(a + b + c, rel=1e-12)
    np.testing.assert_allclose(X[:3, 3], centre, rtol=1e-12)
    np.testing.assert_allclose(inertia, total, rtol=1e-9, atol=1e-9)
    assert "1000 kg/m^3" in notice.text and f"0 -> {mass:.3g} kg" in notice.text
    assert give_mass(laid('<link name="base"/>'), []) == []


def test_a_base_of_water_has_the_box_about_a_mesh(tmp_path):
    points = [(1, 2, 3), (2, 4, 6), (1.5, 3, 3)]
    placed = mesh(tmp_path / "m.stl", points, xyz=(0, 0, 7), rpy=(0, 0, pi / 2))
    none = shape("mesh", filename=tmp_path / "gone.stl")
    layout = laid(f'<link name="base">{none}{placed}</link>')
    give_mass(layout, [])
    mass, X, inertia = read_inertia(layout.source, layout.links["base"].find("inertial"))
    assert mass == pytest.approx(6000, rel=1e-6)
    assert X[:3, 3] == pytest.approx((-3, 1.5, 11.5), rel=1e-6)
    np.testing.assert_allclose(inertia, mass / 12 * np.diag([1 + 9, 4 + 9, 1 + 4]), rtol=1e-6,
                               atol=1e-3)
    assert give_mass(laid(f'<link name="base">{none}</link>'), []) == []


@pytest.mark.parametrize("part, links, told", [
    (0.0, "v", "0.5"), (0.0, "c", "0.5"), (0.0, "", None), (0.1, "v", None), (0.11, "c", None),
    (-0.5, "c", None), (0.0, "cv", "0.5")])
def test_a_base_lighter_than_a_wheel_is_told_where_a_part_has_no_mass(part, links, told):
    """One that has a shape; the heaviest wheel counts, and a base without any mass is told
    elsewhere."""
    body = "".join(shape("sphere", tag={"c": "collision", "v": "visual"}[one], radius=1)
                   for one in links)
    parts = [link("base", max(0.5 + min(part, 0), 0) or 0.0), f'<link name="top">{body}</link>',
             joint("f", "base", "top", kind="fixed"), link("w", 0.6), joint("j", "base", "w"),
             link("v", 0.4), joint("k", "base", "v")]
    if part > 0:
        parts[1] = link("top", part, body=body)
    found = report_light_base(laid(*parts), ("j", "k"))
    assert [one.text for one in found] == [
        f"top: no mass in the file, so that the base weighs {told} kg, less than a wheel with its "
        "0.6 kg; give it an <inertial>"] * (told is not None)
    assert report_light_base(laid(*parts), ()) == report_light_base(laid(*parts), ("k",)) == []


def test_a_small_base_of_water_is_light():
    layout = laid(f'<link name="base">{shape("box", size="0.05 0.1 0.02")}</link>')
    (notice,) = give_mass(layout, [])
    assert "0 -> 0.1 kg" in notice.text


def test_masses_of_parts_of_a_wheel_count():
    for mass, count in ((0.5, 0), (0.0, 1)):
        layout = laid(link("base"), '<link name="w"/>', link("tyre", mass), joint("j", "base", "w"),
                      joint("f", "w", "tyre", kind="fixed"))
        assert len(give_mass(layout, found(Wheel("j", radius=0.5)))) == count


# -- heights and distances -------------------------------------------------------------------------
FOUR = ((0, 1, 0.1, 0.1), (0, -1, 0.1, 0.1), (1, 1, 0.1, 0.1))


@pytest.mark.parametrize("off, is_off", [(0.0099, False), (-0.0099, False), (0.0101, True),
                                         (-0.0101, True)])
def test_wheels_stand_in_one_plane_up_to_a_tenth_of_the_radius(off, is_off):
    layout, wheels = stand(*FOUR, (1, -1, 0.1 + off, 0.1))
    notices = report_heights(layout, wheels)
    assert [n.text for n in notices] == [
        f"contacts out of the plane of the others as given: j3 10.1 mm "
        f"{'above' if off > 0 else 'below'}"] * is_off
    if not is_off:
        return check_heights(layout, found(*wheels))
    with pytest.raises(ModelError, match="do not stand in one plane") as caught:
        check_heights(layout, found(*wheels))
    text = f"j3: axle at {0.4 + off:.4f}, radius 0.1, bottom at {0.3 + off:.4f}"
    assert text in str(caught.value)
    assert f"Wheel('j3', 'disc', {0.1 + off:.4g})" in caught.value.remedy.python


@pytest.mark.parametrize("heights, radii", [
    ((0.13, 0.1), (0.13,)), ((0.07, 0.1), (0.07,)), ((0.13, 0.12), (0.13, 0.12)),
    ((-0.05, 0.1), (0.1,)), ((0.0, 0.1), (0.1,)), ((0.123456, 0.1), (0.1235,))])
def test_wheels_off_the_plane_are_offered_the_radius_of_their_height_or_to_be_left_out(heights,
                                                                                       radii):
    """Unless they are below the ground: no radius would make them touch it."""
    layout, wheels = stand(*FOUR, *((x, -1, z, 0.1) for x, z in zip((1, 2), heights)))
    with pytest.raises(ModelError) as caught:
        check_heights(layout, found(*wheels))
    off = [f"j{k}" for k in (3, 4)][:len(radii)]
    every = [0.1] * 3 + list(radii) + [0.1] * (2 - len(radii))
    listing = ", ".join(f"Wheel('j{k}', 'disc', {radius:g})" for k, radius in enumerate(every))
    rest = ", ".join(f"Wheel('j{k}', 'disc', 0.1)" for k in range(5) if f"j{k}" not in off)
    assert caught.value.remedy.python == (
        f"If {', '.join(off)} should touch the ground: wheels=[{listing}]; if not: wheels=[{rest}]"
        "; or correct the collision shape or the joint's origin")
    lines = "".join(f", j{k}: axle at {0.3 + z:.4f}, radius 0.1, bottom at {0.2 + z:.4f}"
                    for k, z in zip((3, 4), heights))
    assert f"{lines})" in caught.value.text


@pytest.mark.parametrize("height, name", [(0.0, "j1 50.0 mm above"), (0.05, "j0 50.0 mm below")])
def test_of_two_planes_that_counts_which_a_caster_reaches(height, name):
    """Where as many wheels stand on each."""
    ball = shape("sphere", (0.5, 0, height + 0.03), radius=0.03)
    layout, wheels = stand((0, 1, 0.1, 0.1), (0, -1, 0.15, 0.1), links=(
        link("foot", body=ball), place("foot", (0, 0, 0))))
    assert name in report_heights(layout, wheels)[0].text


def test_of_wheels_in_one_plane_the_first_tells_its_height():
    """Whatever casters there are: they reach either."""
    ball = shape("sphere", (0.5, 0, 0.02 + 0.03), radius=0.03)
    layout, wheels = stand((0, 1, 0.1, 0.1), (0, -1, 0.109, 0.1), (1, 0, 0.2, 0.1), links=(
        link("foot", body=ball), place("foot", (0, 0, 0))))
    (said,) = report_heights(layout, wheels)
    assert said.text.endswith(": j2 100.0 mm above")
    # of four, each 8 mm above the one before, the second and the third have three about them
    ball = shape("sphere", (0.5, 0, 0.0235 + 0.03), radius=0.03)
    layout, wheels = stand(*((k, 1, 0.1 + 0.008 * k, 0.1) for k in range(4)), links=(
        link("foot", body=ball), place("foot", (0, 0, 0))))
    (said,) = report_heights(layout, wheels)
    assert said.text.endswith(": j3 16.0 mm above")


def test_of_two_planes_that_of_the_footprint_counts():
    mark = (link("base_footprint"), place("base_footprint", (0, 0, 0.05)))
    two = ((0, 1, 0.1, 0.1), (0, -1, 0.15, 0.1))
    for links, name in (((), "j1 50.0 mm above"), (mark, "j0 50.0 mm below")):
        layout, wheels = stand(*two, links=links)
        assert name in report_heights(layout, wheels)[0].text
    assert report_heights(layout, wheels[:1]) == []


@pytest.mark.parametrize("above, witnesses, refused", [
    (0.1502, (Witness.PRIMITIVE,), True), (0.1498, (Witness.PRIMITIVE,), False),
    (0.0498, (Witness.DRAWN,), True), (0.0502, (Witness.DRAWN,), False),
    (0.009, (Witness.DRAWN,), False), (0.0101, (Witness.COLLISION_MESH,), True),
    (0.2, (Witness.PRIMITIVE, Witness.DRAWN), False), (0.2, (Witness.NAME,), False)])
def test_a_footprint_contradicts_one_shape_alone(above, witnesses, refused):
    """Where the axle is less than half or more than one and a half radii above it, unless it is as
    high as the axle."""
    mark = (link("base_footprint"), place("base_footprint", (0, 0, 0.1 - above)))
    layout, wheels = stand(*FOUR[:2], links=mark)
    facts = tuple(Fact(witness, True) for witness in witnesses)
    contacts = [FoundWheel(wheel, Reason("", facts=facts)) for wheel in wheels]
    if not refused:
        return check_heights(layout, contacts)
    with pytest.raises(ModelError, match=f"axle {above:.4f} m above 'base_footprint'.*radius 0.1"):
        check_heights(layout, contacts)


def test_the_wheel_that_the_footprint_contradicts_is_named():
    """Of two, that of which one shape alone tells the radius."""
    mark = (link("base_footprint"), place("base_footprint", (0, 0, -0.1)))
    layout, wheels = stand(*FOUR[:2], links=mark)
    told = [(Witness.PRIMITIVE, Witness.DRAWN), (Witness.PRIMITIVE,)]
    contacts = [FoundWheel(wheel, Reason("", facts=tuple(Fact(w, True) for w in its)))
                for wheel, its in zip(wheels, told)]
    with pytest.raises(ModelError, match="of their axles: j1 has its axle 0.2000 m above") as no:
        check_heights(layout, contacts)
    assert "Wheel('j0', 'disc', 0.1), Wheel('j1', 'disc', 0.2)" in no.value.remedy.python


@pytest.mark.parametrize("radius, refused", [
    (0.9999e-3, False), (1.0001e-3, True), (0.9999, True), (1.0001, False)])
def test_radii_are_no_larger_than_a_hundred_distances(radius, refused):
    """Up to a thousand times that they are in millimetres; two at one place may have any."""
    layout, wheels = stand((0, 0, 0.1, radius / 2), (1e-5, 0, 0.1, radius))
    if not refused:
        return check_distances(layout, found(*wheels))
    with pytest.raises(ModelError, match="'j1' would have radius .* though all wheels are within"
                       ) as caught:
        check_distances(layout, found(*wheels))
    assert caught.value.remedy.python == (
        f"If radii are in millimetres: wheels=[Wheel('j0', 'disc', {radius / 2000:.6g}), "
        f"Wheel('j1', 'disc', {radius / 1000:.6g})]")


@pytest.mark.parametrize("x, is_far", [(49.9, False), (50.1, True)])
def test_wheels_are_no_farther_apart_than_500_radii(x, is_far):
    layout, wheels = stand((0, 0, 0.1, 0.05), (x, 0, 0.1, 0.1), (0, 1, 0.1, 0.1))
    if not is_far:
        return check_distances(layout, found(*wheels))
    with pytest.raises(NhmechError, match="'j1' would stand 50.1 m from all other.*radius is 0.1 "
                                          'm.*xyz="0.0508 0.0002 0.0004"'):
        check_distances(layout, found(*wheels))
    check_distances(layout, found(wheels[1]))


# -- what is said of a robot that may pitch, or rolls sideways -------------------------------------
@pytest.mark.parametrize("com, point", [((0.3, 0, 0), 0.6), ((-0.3, 0, 0), -0.6),
                                        ((0.05, 0, 0), 0.2), ((-0.05, 0, 0), -0.2)])
def test_a_missing_caster_is_offered_where_the_robot_would_tip(com, point):
    """Two radii before the axle, or twice as far as the centre of mass, on the ground."""
    layout, wheels = stand((0, 1, 0.3, 0.1), (0, -1, 0.3, 0.1), mass=1e6, com=tuple(SHIFT + com))
    (notice,) = report_bearing(layout, wheels, ())
    assert notice.kind is NoticeKind.FREE_PITCH
    ball = eval(notice.remedy.python.partition("wheels=")[2].partition(" (")[0],
                {"Wheel": Wheel})[-1]
    assert ball.point == pytest.approx(SHIFT + (point, 0, 0.22), abs=1e-6)
    assert ball.radius == pytest.approx(0.02) and ball.link == "base"


@pytest.mark.parametrize("angle, sideways", [(44.9, False), (45.1, True), (134.9, True)])
def test_wheels_roll_sideways_where_their_axles_are_nearer_to_x(angle, sideways):
    axle = (sin(np.radians(angle)), cos(np.radians(angle)), 0.0)
    layout, wheels = stand((0, 1, 0.1, 0.1, axle), (1, 1, 0.1, 0.1, axle), (2, 0, 0.1, 0.1, axle))
    notices = list(report_bearing(layout, wheels, ()))
    assert [n.kind for n in notices] == [NoticeKind.ROLLS_SIDEWAYS] * sideways
    assert list(report_bearing(layout, wheels, ("j0", "j1"))) == []


@pytest.mark.parametrize("kinds, steering, sideways", [
    (("disc", "disc", "omni"), (), True), (("disc", "disc", "mecanum"), (), True),
    (("disc", "omni", "omni"), (), False), (("disc", "caster_ball", "caster_ball"), (), False),
    (("disc", "sphere", "caster_ball"), (), True), (("disc", "disc", "disc"), (), False),
    (("disc", "disc", "disc"), ("j2",), True), (("disc", "disc", "omni"), ("j1",), False)])
def test_wheels_that_roll_one_way_tell_where_ahead_is(kinds, steering, sideways):
    """Two and more that nothing steers, without rollers; the third of these rolls along x."""
    X = (1.0, 0.0, 0.0)
    layout, wheels = stand((0, 1, 0.1, 0.1, X), (1, -1, 0.1, 0.1, X), (2, 0, 0.1, 0.1))
    made = [Wheel(w.joint, kind, 0.1, axis=w.axis, point=w.point, link=f"w{k}",
                  roller_angle=0.7 if kind == "mecanum" else None)
            for k, (w, kind) in enumerate(zip(wheels, kinds))]
    made.append(Wheel(None, "caster_ball", 0.1, link="base", point=(0, 0, 0)))
    said = [n.kind for n in report_bearing(layout, made, steering)]
    assert (NoticeKind.ROLLS_SIDEWAYS in said) == sideways


def test_robots_side_by_side_are_not_one():
    def world(name, second=True):
        parts = [f'<link name="{name}"/>', link("a"), joint("ja", name, "a", kind="fixed")]
        parts += [link("b"), joint("jb", name, "b", kind="fixed")] if second else []
        return laid(*parts, '<link name="c"/>', joint("jc", name, "c"))
    with pytest.raises(ModelError, match="line .*a, b stand side by side on 'World'"):
        check_single(world("World"))
    check_single(world("base"))
    check_single(world("world", second=False))


# -- what joints bring -----------------------------------------------------------------------------
BOTH = 'lower="-1" upper="2" effort="3" velocity="4"'


@pytest.mark.parametrize("kind, limit, rolls, expected, words", [
    ("continuous", "", False, (-inf, inf, inf, inf), ""),
    ("continuous", 'effort="2" velocity="3"', True, (-inf, inf, 3.0, 2.0), ""),
    ("continuous", 'effort="0" velocity="3"', True, (-inf, inf, 3.0, inf), "limit 0 or -1 is"),
    ("continuous", 'effort="2" velocity="0"', True, (-inf, inf, inf, 2.0), "limit 0 or -1 is"),
    ("revolute", BOTH, False, (-1.0, 2.0, 4.0, 3.0), ""),
    ("revolute", BOTH, True, (-inf, inf, 4.0, 3.0), "revolute, but rolls"),
    ("revolute", 'effort="3" velocity="4"', False, (-inf, inf, 4.0, 3.0), "neither lower nor"),
    ("revolute", 'lower="1" upper="1" effort="3" velocity="4"', False, (-inf, inf, 4.0, 3.0),
     "although its limits are equal"),
    ("prismatic", 'upper="1" effort="3" velocity="4"', False, (0.0, 1.0, 4.0, 3.0), "")])
def test_limits_of_what_moves(kind, limit, rolls, expected, words):
    layout = laid(link("a"), link("b"), joint("j", "a", "b", kind=kind,
                                              more=f"<limit {limit}/>" * bool(limit)))
    roles = SimpleNamespace(moving=("j",), rolling=("j",) * rolls)
    found, notices = read_limits(layout, roles, ("j",))
    one = found["j"]
    assert (one.lower, one.upper, one.velocity, one.effort) == expected
    assert len(notices) == bool(words) and all(words in notice.text for notice in notices)
    assert all(notice.text.startswith("j: ") for notice in notices)
    # who is not driven has no use for them
    quiet = read_limits(layout, roles, ())[1]
    assert len(quiet) == (bool(words) and "0 or -1" not in words)


ROUND, WIDE = 'lower="-3.2" upper="3.2"', 'lower="-90" upper="45"'
DEGREES = ('j: its limits are -90 and 45 rad, more than a turn; if degrees were meant: '
           'lower="-1.571" ')


@pytest.mark.parametrize("kind, limit, steers, driven, ends, words", [
    ("revolute", WIDE, True, True, (-90, 45), DEGREES + 'upper="0.7854"'),
    ("revolute", WIDE, False, True, (-90, 45), None),
    ("revolute", WIDE, True, False, (-inf, inf), "j: swings all the way round; limits on its angle "
                                                 "are ignored"),
    ("revolute", ROUND, True, False, (-inf, inf), "j: swings all the way round; limits on its angle"
                                                  " are ignored"),
    ("revolute", ROUND, True, True, (-3.2, 3.2), None),
    ("revolute", ROUND, False, False, (-3.2, 3.2), None),
    ("prismatic", ROUND, True, False, (-3.2, 3.2), None),
    ("revolute", 'lower="-3.1" upper="3.1"', True, False, (-3.1, 3.1), None)])
def test_limits_of_what_steers(kind, limit, steers, driven, ends, words):
    """A swivel without a motor that can turn round and round does; degrees are told where they
    matter."""
    more = f'<limit {limit} effort="1" velocity="1"/>'
    layout = laid(link("a"), link("b"), joint("j", "a", "b", kind=kind, more=more))
    roles = SimpleNamespace(moving=("j",), rolling=(), steering=("j",) * steers)
    limits_, notices = read_limits(layout, roles, ("j",) * driven)
    assert (limits_["j"].lower, limits_["j"].upper) == ends
    assert [n.text for n in notices] == [words] * (words is not None)


def test_of_several_links_the_nearest_tells_friction_and_stiffness():
    gazebo = "".join(f'<gazebo reference="{name}"><mu1>{mu}</mu1><kp>{kp}</kp></gazebo>'
                     for name, mu, kp in (("tyre", 0.9, 2e5), ("w", 0.5, 1e5)))
    layout = laid(link("a"), link("w"), link("tyre"), gazebo, joint("j", "a", "w"),
                  joint("f", "w", "tyre", kind="fixed"))
    wheel = Wheel("j", radius=1.0)
    assert read_mu(layout, [wheel]) == {"j": 0.5} and read_stiffness(layout, [wheel]) == {"j": 1e5}


def test_damping_friction_and_stiffness_of_what_moves():
    gazebo = ('<gazebo reference="w"><mu1>0.7</mu1><mu2>0.5</mu2><kp>1e5</kp></gazebo>')
    layout = laid(link("a"), link("w"), link("v"), link("x"), gazebo,
                  joint("j", "a", "w", more='<dynamics damping="0.3" friction="0.1"/>'),
                  joint("k", "a", "v", more='<dynamics damping="0" friction="0"/>'),
                  joint("l", "a", "x"))
    roles = SimpleNamespace(moving=("j", "k", "l"))
    damping, (notice,) = read_damping(layout, roles)
    assert damping == {"j": 0.3} and notice.text == "j: Coulomb friction ignored"
    assert read_damping(layout, SimpleNamespace(moving=("k", "l"))) == ({}, [])
    wheels = [Wheel("j", radius=1.0), Wheel("k", radius=1.0)]
    assert read_mu(layout, wheels) == {"j": 0.5} and read_stiffness(layout, wheels) == {"j": 1e5}
    ball = Wheel(None, "caster_ball", 1.0, link="w")
    assert read_mu(layout, [ball]) == {} and read_stiffness(layout, [ball]) == {ball.name: 1e5}
    planar = '<gazebo><plugin filename="libgazebo_ros_planar_move.so" name="p"/></gazebo>'
    moved = laid(link("a"), link("w"), gazebo, planar, joint("j", "a", "w"))
    assert read_mu(moved, wheels[:1]) == {}


def test_what_moves_without_mass_is_told():
    parts = [link("a", 1.0), '<link name="b"/>', '<link name="c"/>', link("d", 1.0),
             joint("j", "a", "b"), joint("f", "b", "d", kind="fixed"), joint("k", "a", "c")]
    assert find_massless(laid(*parts), ("j",)) == []
    (notice,) = find_massless(laid(*parts), ("j", "k"))
    assert notice.text.startswith("c: moves but has no mass")
    (notice,) = find_massless(laid('<link name="a"/>', *parts[1:]), ())
    assert notice.text.startswith("a: moves but")


# -- casters ---------------------------------------------------------------------------------------
TWO = ((0, 1, 0.1, 0.1), (0, -1, 0.1, 0.1))


def casters(body: str, name="part", at=(0.5, 0, 0), rpy=(0, 0, 0), wheels=TWO, kind="fixed"):
    """What slides of a robot on two wheels, with one more link."""
    layout, made = stand(*wheels, links=(link(name, body=body), place(name, at, rpy, (0, 0, 1),
                                                                      kind)))
    return find_casters(layout, found(*made))


@pytest.mark.parametrize("height, is_found, is_missed", [
    (0.0149, True, False), (-0.0149, True, False), (0.0151, False, True), (-0.0151, False, True),
    (0.0449, False, True), (0.0451, False, False)])
def test_a_sphere_that_reaches_the_ground_is_a_caster(height, is_found, is_missed):
    """Up to 0.15 radii off the plane of the wheels; up to three times as far it was meant to."""
    balls, missed, notices = casters(shape("sphere", (0, 0, 0.05 + height), radius=0.05))
    assert (len(balls), len(missed), notices) == (is_found, is_missed, [])
    if is_found:
        wheel = balls[0].wheel
        assert (wheel.kind, wheel.radius, wheel.link) == ("caster_ball", 0.05, "part")
        assert wheel.point == pytest.approx((0, 0, 0.05 + height))
        word = "above" if height > 0 else "below"
        assert f"14.9 mm {word} the wheels' plane" in str(balls[0].reason)
    elif is_missed:
        word = "above" if height > 0 else "below"
        assert missed["part"][0].endswith(f"{1e3 * abs(height):.1f} mm {word} that of the wheels")


@pytest.mark.parametrize("body, radius, below, is_exact", [
    (shape("sphere", radius=0.05), 0.05, 0.05, True),
    (shape("cylinder", rpy=ALONG, radius=0.05, length=0.3), 0.05, 0.05, True),
    (shape("cylinder", radius=0.05, length=0.3), 0.05, 0.15, False),
    (shape("cylinder", radius=0.2, length=0.3), 0.15, 0.15, False),
    (shape("cylinder", rpy=(0.5, 0, 0), radius=0.05, length=0.3), 0.05,
     0.15 * cos(0.5) + 0.05 * sin(0.5), False),
    (shape("box", rpy=(0, 0.5, 0), size="0.4 0.3 0.2"), 0.1, 0.1 * cos(0.5) + 0.2 * sin(0.5),
     False)])
@pytest.mark.parametrize("off", [0.0, 0.01, -0.01])
def test_what_is_named_caster_slides_on_a_ball(body, radius, below, is_exact, off):
    """One that the shape has, where it lies; or as wide as the shape, and moved to the ground."""
    balls, _, notices = casters(body, "caster", (0.5, 0.2, below + off), (0, 0, 0.7))
    wheel = balls[0].wheel
    assert wheel.radius == pytest.approx(radius, rel=1e-12)
    assert wheel.point == pytest.approx((0, 0, 0 if is_exact else radius - below - off), abs=1e-9)
    if "sphere" in body:
        assert notices == []
        return
    (notice,) = notices
    assert notice.kind is NoticeKind.CASTER_SHAPE and f"{radius:.6g} m" in notice.text
    moved = "moved 10.0 mm " + ("down" if off > 0 else "up") + " to the ground"
    assert (moved in notice.text) == ("moved" in notice.text) == (bool(off) and not is_exact)


def test_gaps_are_told_from_a_tenth_of_a_millimetre():
    for off, is_told in ((0.99e-4, False), (1.01e-4, True)):
        exact = casters(shape("sphere", (0, 0, 0.05 + off), radius=0.05))[0][0]
        assert ("above" in str(exact.reason)) == is_told
        (notice,) = casters(shape("box", (0, 0, 0.05 + off), size="0.1 0.1 0.1"), "caster")[2]
        assert ("moved" in notice.text) == is_told


def test_a_lying_cylinder_is_a_caster_where_no_wheel_is():
    for lean, count in ((0.0199, 1), (0.0201, 0)):
        body = shape("cylinder", (0, 0, 0.05), (pi / 2 + np.arcsin(lean), 0, 0), radius=0.05,
                     length=1e-3)
        # with a third wheel, no support is sought beside what stands like a wheel
        assert len(casters(body, wheels=(*TWO, (-1, 0, 0.1, 0.1)))[0]) == count
    for away, count in ((0.049, 0), (0.051, 1)):
        body = shape("cylinder", (0, 0, 0.05), ALONG, radius=0.05, length=0.01)
        layout, made = stand(*TWO, (0.5, away, 0.05, 0.05), links=(
            link("part", body=body), place("part", (0.5, 0, 0))))
        assert len(find_casters(layout, found(*made))[0]) == count


@pytest.mark.parametrize("size, x, count", [
    ("0.2 0.2 0.1", 0.5, 1), ("0.2 0.201 0.1", 0.5, 0), ("0.1 0.1 0.1", 0.00502, 1),
    ("0.1 0.1 0.1", 0.0049, 0), ("0.1 0.1 0.1", -0.00502, 1)])
def test_a_robot_on_one_axle_stands_on_any_small_shape_beside_it(size, x, count):
    """No larger than a wheel, and more than a twentieth of a radius before or behind the axle."""
    height = float(size.split()[2]) / 2
    balls, _, notices = casters(shape("box", size=size), at=(x, 0.3, height))
    assert len(balls) == len(notices) == count
    # but not where three wheels bear it
    more = (*TWO, (-1, 0, 0.1, 0.1))
    assert casters(shape("box", size=size), at=(x, 0.3, height), wheels=more)[0] == []


@pytest.mark.parametrize("body, count", [
    (shape("cylinder", radius=0.09999, length=0.1), 1),
    (shape("cylinder", radius=0.101, length=0.1), 0),
    (shape("cylinder", radius=0.01, length=0.1999), 1),
    (shape("cylinder", radius=0.01, length=0.2001), 0)])
def test_a_support_is_no_wider_or_longer_than_a_wheel(body, count):
    """Of two on an axle that is turned towards x."""
    axle = (0.6, 0.8, 0.0)
    two = ((0.6, 0.8, 0.1, 0.1, axle), (-0.6, -0.8, 0.1, 0.1, axle))
    length = 0.1 if 'length="0.1"' in body else 0.2
    balls, missed, _ = casters(body, at=(0.5, 0, length / 2), wheels=two)
    assert (len(balls), missed) == (count, {})
    gone = shape("mesh", filename="gone.stl")
    assert [*casters(gone, at=(0.5, 0, 0.1999), wheels=two)[1]] == ["part"]
    # below the axle it supports nothing
    assert casters(body, at=(0.3 * 0.6, 0.3 * 0.8, length / 2), wheels=two)[0] == []


def test_a_bracket_of_a_caster_that_was_found_is_none_itself():
    """In plan within one usual radius of it."""
    for away, count in ((0.0999, 1), (0.1001, 2)):
        layout, made = stand(*TWO, links=(
            link("caster", body=shape("sphere", radius=0.05)),
            place("caster", (0.5, 0, 0.05)),
            link("caster_fork", body=shape("box", size="0.02 0.02 0.1")),
            place("caster_fork", (0.5, away, 0.05))))
        balls, missed, _ = find_casters(layout, found(*made))
        assert len(balls) == count and not missed


def test_a_robot_that_would_tip_is_refused_with_a_caster_where_one_is_named():
    body = shape("sphere", (0, 0, 0.3), radius=0.05)
    layout, made = stand(*TWO, links=(link("caster", body=body),
                                      place("caster", (0.5, 0, 0.2), (0, 0, 0.4))))
    with pytest.raises(ModelError, match="one axle.*would tip over.*450.0 mm above") as caught:
        infer_casters(layout, found(*made))
    ball = eval(caught.value.remedy.python.partition("wheels=")[2].partition(" (")[0],
                {"Wheel": Wheel})[-1]
    assert ball.radius == pytest.approx(0.02)
    assert ball.point == pytest.approx((0, 0, 0.02 - 0.2), abs=1e-6)
    # with a third wheel it stands, and is told
    layout, made = stand(*TWO, (-1, 0, 0.1, 0.1), links=(link("caster", body=body),
                                                         place("caster", (0.5, 0, 0.2))))
    balls, (notice,) = infer_casters(layout, found(*made))
    assert balls == [] and notice.kind is NoticeKind.NO_SUPPORT
    assert notice.text == ("caster: no support, because its bottom is 450.0 mm above that of the "
                           "wheels")




@pytest.mark.parametrize("mesh_name, x, remedy", [
    ("package://lost/a.stl", 0.5, "Say where the meshes are: packages={'lost': 'FOLDER'}, FOLDER "
     "being the package's. Or: List what supports it: wheels=["),
    ("a.stl", 0.5, "List what supports it: wheels=["), ("a.stl", -0.00502, "List what supports"),
    ("a.stl", 0.00498, "List the wheels alone to let it balance: wheels=[")])
def test_what_would_tip_is_offered_what_supports_it_beside_its_axle(mesh_name, x, remedy):
    layout, made = stand(*TWO, links=(link("foot", body=shape("mesh", filename=mesh_name)),
                                      place("foot", (x, 0.3, 0.1))))
    with pytest.raises(ModelError, match="'foot', line 1: its shape is the mesh '.*a.stl', which"
                       ) as caught:
        infer_casters(layout, found(*made))
    assert caught.value.remedy.python.startswith(remedy)
    balls = caught.value.remedy.python.count("'caster_ball', 0.02, link='foot', point=(0, 0, -0.08")
    assert balls == ("supports" in remedy)
    assert caught.value.remedy.python.endswith("let it balance") == bool(balls)


@pytest.mark.parametrize("axis, kind, is_unread", [
    ((0, 0, 1), "revolute", True), ((0, 1, 0), "revolute", False), ((0, 0, 1), "prismatic", True),
    ((0, 1, 0), "prismatic", False), ((0, 0, 1), "fixed", True)])
def test_a_mesh_that_is_missing_may_be_a_support_where_it_cannot_roll_away(axis, kind, is_unread):
    """On the base, on what springs under it, and on what is turned about an upright axis."""
    layout, made = stand(*TWO, links=(
        link("part", body=shape("mesh", filename="gone.stl")),
        place("part", (0.5, 0, 0.1), axis=axis, kind=kind, more='<limit lower="-1" upper="1" '
              'effort="1" velocity="1"/>')))
    assert [*find_casters(layout, found(*made))[1]] == ["part"] * is_unread


@pytest.mark.parametrize("away, held, missed", [
    (0.3, True, False), (0.3, False, True), (0.0999, False, False), (0.1001, False, True)])
def test_a_fork_above_a_caster_that_was_found_is_not_missed(away, held, missed):
    """Which hangs on it, or is as near as a usual radius in plan."""
    layout, made = stand(*TWO, links=(
        link("caster_arm", body=shape("box", size="0.1 0.1 0.1")),
        place("caster_arm", (0.5, 0.2, 0.3)),
        link("caster", body=shape("sphere", radius=0.05)),
        joint("hold", "caster_arm", "caster", (0, away, -0.25), kind="fixed") if held else
        place("caster", (0.5, 0.2 + away, 0.05))))
    balls, lost, _ = find_casters(layout, found(*made))
    assert [ball.wheel.link for ball in balls] == ["caster"]
    assert [*lost] == ["caster_arm"] * missed


FEET = [(0.4, 0.3, 0.0), (0.4, -0.1, 0.0), (0.5, 0.1, 0.0019), (0.45, 0.2, 0.00201),
        (-0.3, 0.7, 0.0), (0.0049, -0.9, 0.0), (0.5, 0.5, 0.6)]


@pytest.mark.parametrize("com, points, off", [
    (0.1, FEET, 0.0), (0.1, FEET, 0.0149), (0.1, FEET, -0.0149),
    (-0.1, [(-x, y, z) for x, y, z in FEET], 0.0), (0.1, FEET, 0.0151)])
def test_a_mesh_stands_on_its_lowest_points_where_the_robot_would_tip(com, points, off, tmp_path):
    """Those within a fiftieth of the usual radius of the lowest, before the axle by more than a
    twentieth of the wheel's: a ball of a fifth amid them."""
    c, s = cos(0.6), sin(0.6)
    own = [(c * x + s * y, -s * x + c * y, z) for x, y, z in points]      # as a turned link has it
    body = mesh(tmp_path / "chassis.stl", own)
    layout, made = stand(*TWO, mass=1e6, com=tuple(SHIFT + (com, 0, 0)), links=(
        link("chassis", 1e-9, body=body), place("chassis", (0, 0, off), (0, 0, 0.6))))
    balls, missed, notices = find_casters(layout, found(*made))
    assert not missed and len(balls) == len(notices) == (abs(off) < 0.015)
    if balls:
        side = np.sign(com)
        R = layout.X_RL["chassis"][:3, :3]
        own = np.array([R.T @ point for point in points
                        if side * point[0] > 0.005 and point[2] < 0.002])
        expected = (own.min(axis=0) + own.max(axis=0)) / 2
        assert balls[0].wheel.radius == pytest.approx(0.02)
        assert balls[0].wheel.point == pytest.approx((*expected[:2], 0.02 - off), abs=1e-6)


@pytest.mark.parametrize("width, count", [(0.1999, 1), (0.2001, 0)])
def test_a_small_mesh_beside_the_axle_supports(width, count, tmp_path):
    """What touches the ground of it is no larger than a wheel, however large it is above."""
    points = [(0, 0, 0), (width, 0, 0.0019), (0.05, 0.05, 0.001), (-9, 9, 0.00201), (0, 0, 0.15)]
    balls, _, notices = casters(mesh(tmp_path / "foot.stl", points), at=(0.5, 0, 0))
    assert len(balls) == len(notices) == count
    if count:
        assert balls[0].wheel.point == pytest.approx((width / 2, 0.025, 0.02), abs=1e-6)
        assert balls[0].wheel.radius == pytest.approx(0.02)


def test_a_round_mesh_is_a_ball_of_its_own(tmp_path):
    """One about the axle of the wheels, as high as it is wide, within six hundredths of the usual
    radius of the ground."""
    angles = np.arange(24) * pi / 12
    drum = [(0.05 * sin(a), y, 0.05 * cos(a)) for a in angles for y in (-0.01, 0.01)]
    for off, is_exact in ((0.0, True), (0.0059, True), (0.00602, False)):
        ((ball,), _, _) = casters(mesh(tmp_path / f"{off}.stl", drum, xyz=(0.1, 0.2, 0.05 + off)),
                                  "caster")
        assert ball.wheel.radius == pytest.approx(0.05 if is_exact else 0.02, rel=1e-5)
        assert ball.wheel.point == pytest.approx(
            (0.1, 0.2, 0.05 + off if is_exact else 0.02), abs=1e-6)


def test_a_mesh_may_be_round_about_any_of_the_axles(tmp_path):
    """Here that of a third wheel, which is turned, whichever stands first in the list."""
    turned, angles = (-sin(0.6), cos(0.6), 0.0), np.arange(24) * pi / 12
    drum = [(0.05 * sin(a), y, 0.05 * cos(a)) for a in angles for y in (-0.01, 0.01)]
    body = mesh(tmp_path / "drum.stl", drum, xyz=(0, 0, 0.05), rpy=(0, 0, 0.6))
    ball = Wheel(None, "caster_ball", 0.1, link="w0", point=(0.0, 0.0, 0.0))
    layout, made = stand(*TWO, (-1, 0, 0.1, 0.1, turned), links=(
        link("caster", body=body), place("caster", (0.5, 0, 0), (0, 0, 0))))
    for wheels, radius in ((made, 0.05), (made[::-1], 0.05), ([ball, *made[1:]], 0.05),
                           (made[:2], 0.02)):
        ((found_ball,), _, _) = find_casters(layout, found(*wheels))
        assert found_ball.wheel.radius == pytest.approx(radius, rel=1e-5, abs=0)


def test_a_mesh_that_is_missing_may_be_the_support():
    """Of a link no higher than a wheel, of which nothing else is known; a named one is told so."""
    gone = shape("mesh", filename="gone.stl")
    for height, count in ((0.1999, 1), (0.2001, 0)):
        _, missed, _ = casters(gone, at=(0.5, 0, height))
        assert [*missed] == ["part"] * count
    assert not casters(gone + shape("box", (0, 0, 3), size="1 1 1"))[1]
    balls, missed, _ = casters(gone, "caster", wheels=(*TWO, (-1, 0, 0.1, 0.1)))
    assert missed["caster"][0] == "its shape is the mesh 'gone.stl', which cannot be read"
    assert missed["caster"][1].mesh == "gone.stl" and not balls
    # the lowest of several shapes counts
    both = shape("sphere", (0, 0, 0.06), radius=0.05) + shape("sphere", (1, 0, 0.05), radius=0.05)
    assert casters(both)[0][0].wheel.point[0] == 1


@pytest.mark.parametrize("axis, kind, name, is_held", [
    ((0, 0, 1), "continuous", "part", True), ((0, 0, 1), "continuous", "caster", True),
    ((1, 0, 0), "continuous", "part", False), ((1, 0, 0), "continuous", "caster", True),
    ((0, 0, 1), "prismatic", "part", True), ((1, 0, 0), "prismatic", "part", False),
    ((0.2, 0, 1), "prismatic", "part", True)])
def test_what_swings_springs_or_is_named_can_hold_a_caster(axis, kind, name, is_held):
    more = '<limit lower="-1" upper="1" effort="1" velocity="1"/>' * (kind == "prismatic")
    layout, made = stand(*TWO, links=(
        link(name, body=shape("sphere", (0, 0, 0.05), radius=0.05)),
        place(name, (0.5, 0, 0), axis=axis, kind=kind, more=more)))
    assert bool(find_casters(layout, found(*made))[0]) == is_held


def test_what_is_drawn_counts_where_wheels_are_only_drawn():
    ball = shape("sphere", (0, 0, 0.05), tag="visual", radius=0.05)
    assert casters(ball)[0]
    layout, made = stand(*TWO, (-1, 0, 0.1, 0.1), links=(link("part", body=ball),
                                                         place("part", (0.5, 0, 0))))
    assert find_casters(layout, found(*made))[0]
    solid = layout.links["w1"]
    solid.append(solid.makeelement("collision", {}))
    solid.find("collision").append(solid.makeelement("geometry", {}))
    solid.find("collision/geometry").append(solid.makeelement("sphere", {"radius": "0.1"}))
    again = type(layout)(layout.source)
    assert not find_casters(again, found(*made))[0]


# -- wheels that no joint lets roll ----------------------------------------------------------------
def fork(body: str, at=(1, 0, 0.1), rpy=(0, 0, 0), kind="revolute", axis=(0, 0, 1), name="fork",
         wheels=TWO, **limits_of) -> tuple[list[FoundWheel], list]:
    """What has to slide ahead, of a robot on two wheels with one more link."""
    low, high = limits_of.get("limits", (-1, 1))
    more = f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>' * (kind == "revolute")
    layout, made = stand(*wheels, links=(link(name, body=body),
                                         place(name, at, rpy, axis, kind, more)))
    return infer_blades(layout, found(*made))


def drum(xyz=(0, 0, 0), rpy=ALONG, radius=0.1, **words) -> str:
    return shape("cylinder", xyz, rpy, radius=radius, length=0.03, **words)


@pytest.mark.parametrize("turn", [0.0, 0.7, 3.0])
def test_a_steered_wheel_in_one_piece_is_a_blade_where_it_stands(turn):
    """It touches below its centre, and its lateral direction points to the left."""
    (one,), (notice,) = fork(drum((0, 0.02, 0)), rpy=(0, 0, turn))
    assert notice.kind is NoticeKind.NO_ROLLING and "steered, but no joint" in notice.text
    assert (one.wheel.kind, one.wheel.link) == ("blade", "fork")
    assert one.wheel.point == pytest.approx((0, 0.02, -0.1), abs=1e-6)
    # cylinders have no side: that of the axle whose y in the root's frame is positive
    left = 1 if cos(turn) > 0 else -1
    assert one.wheel.axis == pytest.approx((0, left, 0), abs=1e-6)
    assert [fact.agrees for fact in one.reason.facts] == [True, True, False]
    assert str(one.reason).endswith("'to_fork' steers it")


def test_a_blade_along_x_has_a_unit_axis():
    (one,), _ = fork(drum(rpy=(0, pi / 2, 0)))
    assert one.wheel.axis == pytest.approx((1, 0, 0), abs=1e-6)


@pytest.mark.parametrize("words, count", [
    (dict(body=drum()), 1), (dict(body=drum(), name="caster"), 0),
    # up to 0.15 radii off the ground, and as level as an axle
    (dict(body=drum((0, 0, 0.0149))), 1), (dict(body=drum((0, 0, 0.0151))), 0),
    (dict(body=drum((0, 0, -0.0151))), 0), (dict(body=drum(rpy=(pi / 2 + 0.0199, 0, 0))), 1),
    (dict(body=drum(rpy=(pi / 2 + 0.0201, 0, 0))), 0),
    # what swings behind its axis by a twentieth of the radius is a caster; with limits it is none
    (dict(body=drum((-0.00502, 0, 0)), kind="continuous"), 0),
    (dict(body=drum((-0.0049, 0, 0)), kind="continuous"), 1),
    (dict(body=drum((-0.5, 0, 0))), 1),
    # two radii above the ground nothing is looked at
    (dict(body=drum((0, 0, -0.15)), at=(1, 0, 0.25)), 0),
    (dict(body=shape("box", size="0.1 0.1 0.2")), 0)])
def test_what_is_a_blade(words, count):
    assert len(fork(**words)[0]) == count


def test_wheels_in_one_piece_are_looked_for_up_to_two_of_the_largest_radii():
    two = ((0, 1, 0.1, 0.1), (0, -1, 0.2, 0.2))
    for z, count in ((0.399, 1), (0.401, 0)):
        blades, _ = fork(drum((0, 0, 0.1 - z)), at=(1, 0, z), wheels=two)
        assert len(blades) == count


def test_what_is_held_fast_and_as_large_as_a_wheel_is_refused():
    """Up to a tenth of the radius; where another wheel rolls already it is its hub."""
    for radius, is_refused in ((0.1099, True), (0.11005, False), (0.0901, True), (0.08995, False)):
        body = drum(radius=radius)
        if is_refused:
            with pytest.raises(ModelError, match="fork looks like a wheel that stands on the groun"
                               ".*no joint lets it roll: its joint is fixed") as caught:
                fork(body, at=(1, 0, radius), kind="fixed")
            assert "'blade', link='fork', axis=(0, 1, 0)" in caught.value.remedy.python
        else:
            assert fork(body, at=(1, 0, radius), kind="fixed") == ([], [])
    for away, is_hub in ((0.099, True), (0.101, False)):
        at = (away, 1, 0.1)
        if is_hub:
            assert fork(drum(), at=at, kind="fixed") == ([], [])
        else:
            with pytest.raises(ModelError, match="looks like a wheel"):
                fork(drum(), at=at, kind="fixed")
    # a joint that turns it about its axle lets it roll, one across it does not
    assert fork(drum(), kind="continuous", axis=(0, 1, 0)) == ([], [])
    with pytest.raises(ModelError, match=r"its joint turns it about \(1 0 0\), across its axle"):
        fork(drum(), kind="continuous", axis=(1, 0, 0))


def test_a_round_mesh_on_a_fork_is_a_blade(tmp_path):
    angles = np.arange(24) * pi / 12
    tyre = [(0.1 * sin(a), y, 0.1 * cos(a)) for a in angles for y in (0.03, 0.05)]
    for off, count in ((0.0149, 1), (-0.0149, 1), (0.0151, 0)):
        placed = mesh(tmp_path / f"{off}.stl", tyre, xyz=(0.0, 0.1, off))
        blades, _ = fork(placed, rpy=(0, 0, 0.05))
        assert len(blades) == count
        if count:
            assert blades[0].wheel.point == pytest.approx((0, 0.14, off - 0.1), abs=1e-6)
            assert blades[0].wheel.axis == pytest.approx((0, 1, 0), abs=1e-6)
    # what nothing steers is not looked into
    assert fork(mesh(tmp_path / "fixed.stl", tyre), kind="fixed") == ([], [])


def test_a_blade_stands_below_the_tread_of_its_mesh(tmp_path):
    """Not below the middle of the mesh, which has a shaft on one side."""
    angles = np.arange(24) * pi / 12
    points = [(r * sin(a), y, r * cos(a)) for a in angles
              for r, y in ((0.1, 0.03), (0.1, 0.05), (0.02, 0.01), (0.02, 0.19))]
    (blade,), _ = fork(mesh(tmp_path / "tyre.stl", points, xyz=(0.0, 0.1, 0.0)))
    assert blade.wheel.point == pytest.approx((0, 0.14, -0.1), abs=1e-6)


@pytest.mark.parametrize("low, count", [(0.0148, 1), (0.0152, 0)])
def test_a_mesh_on_a_fork_stands_on_its_tread(low, count, tmp_path):
    """Up to 0.15 radii above the lowest of what is drawn beside it."""
    points = [(0.1 * sin(a), y, 0.1 * cos(a)) for a in np.arange(24) * pi / 12
              for y in (-0.01, 0.01)]
    points += [(0, 0, 0.1 + low), (0, 0, -0.1 - low)]
    blades, _ = fork(mesh(tmp_path / "tyre.stl", points), at=(1, 0, 0.1 + low))
    assert len(blades) == count


def test_a_mesh_on_a_fork_may_be_round_about_any_of_the_axles(tmp_path):
    """Here that of a third wheel, which is turned."""
    turned, angles = (-sin(0.6), cos(0.6), 0.0), np.arange(24) * pi / 12
    points = [(0.1 * sin(a), y, 0.1 * cos(a)) for a in angles for y in (-0.01, 0.01)]
    tyre = mesh(tmp_path / "tyre.stl", points, rpy=(0, 0, 0.6))
    assert fork(tyre) == ([], [])
    (blade,), _ = fork(tyre, wheels=(*TWO, (-1, 0, 0.1, 0.1, turned)))
    assert blade.wheel.axis == pytest.approx(turned, abs=1e-6)
