"""Numbers of a vehicle that are hard to believe: what is said of each, and which lines cure it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from lxml import etree
from support import shipped

from nhmech import Wheel, load, urdf_path
from nhmech.urdf.notice import Notice, NoticeKind
from nhmech.vehicle import plausibility
from nhmech.vehicle.plausibility import implausible
from nhmech.vehicle.proportions import Proportions

SQUARE = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)], dtype=float)
SANE = Proportions(50.0, np.array([0.0, 0.0, 0.5]), SQUARE, 2.0, 2.0, 0.2)
DISC = Wheel("a", radius=0.2)
DISCS = tuple(replace(DISC, joint=name) for name in "abcd")
BALL = Wheel(None, "caster_ball", 0.1, link="ball")
INERTIAS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
BLADE = Wheel(None, "blade", link="skate", axis=(0, 1, 0), point=(0, 0, 0))


def told(found=SANE, wheels=DISCS, tilt=0.0, heights=(), bodies=()) -> dict[NoticeKind, Notice]:
    """Notices about a vehicle with these proportions, whose wheels are at these heights when it is
    upright, and that stands tilted."""
    model = pin.Model()
    for k, body in enumerate(bodies):
        model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"j{k}")
        model.addBodyFrame(f"body {k}", k + 1, pin.SE3.Identity(), 0)
        model.appendBodyToJoint(k + 1, body, pin.SE3.Identity())
    q = np.r_[np.zeros(3), np.sin(tilt / 2), 0, 0, np.cos(tilt / 2)]
    placer = SimpleNamespace(normal=np.array([0.0, 0, 1]), upright=lambda q: q,
                             evaluate=lambda q: (np.array(heights), None))
    vehicle = SimpleNamespace(description=SimpleNamespace(wheels=tuple(wheels)), model=model,
                              placer=placer, configuration=lambda: q)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plausibility, "proportions", lambda _: found)
        return {notice.kind: notice for notice in implausible(vehicle)}


def radii(notice: Notice) -> list[float] | None:
    """Those of the wheels that the notice proposes."""
    if notice.remedy is None:
        return None
    listed = notice.remedy.python.partition("wheels=")[2]
    return [wheel.radius for wheel in eval(listed, {"Wheel": Wheel})]


# -- tilt ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("wheels, heights, words, cured", [
    # of wheels and balls the wheels make the plane
    ((*DISCS[:2], BALL), (0.3, 0.3, 0.33), "'ball' is 30 mm above", [0.2, 0.2, 0.13]),
    ((*DISCS[:2], BALL), (0.3, 0.3, 0.27), "'ball' is 30 mm below", [0.2, 0.2, 0.07]),
    ((DISC, *[replace(BALL, link=name) for name in "xyz"]), (0.3, 0.31, 0.31, 0.31),
     "'x' is 10 mm above", [0.2, 0.11, 0.1, 0.1]),
    # of wheels alone the median is the plane
    (DISCS[:3], (0.3, 0.3, 0.27), "'c' is 30 mm below", [0.2, 0.2, 0.17]),
    ((BALL, replace(BALL, link="x"), replace(BALL, link="y")), (0.3, 0.33, 0.3),
     "'x' is 30 mm above", [0.1, 0.13, 0.1]),
    # whose radius would have to be negative, or that has none
    ((*DISCS[:2], BALL), (0.3, 0.3, 0.19), "'ball' is 110 mm below", None),
    ((*DISCS[:2], replace(BALL, radius=0.125)), (0.25, 0.25, 0.125), "'ball' is 125 mm below",
     None),
    ((*DISCS[:2], BLADE), (0.3, 0.3, 0.33), "'skate' is 30 mm above", None)])
def test_a_base_that_stands_tilted_names_the_contact_that_is_off(wheels, heights, words, cured):
    notice = told(wheels=wheels, tilt=0.1, heights=heights)[NoticeKind.TILTED]
    assert f"tilted by 5.7 degrees: in the zero pose of the file, {words} the plane" in notice.text
    assert radii(notice) == (None if cured is None else pytest.approx(cured, rel=1e-12, abs=0))
    assert not told(wheels=wheels, tilt=0.0, heights=heights)


# -- radii -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("given, spread, cured", [
    ((100.0, 100.0), 2.8, [0.1, 0.1]), ((100.0, 0.1), 2.8, [0.1, 0.1]),
    # still larger than all the vehicle, if they were millimetres
    ((100.0, 3000.0), 2.8, None), ((100.0, 2500.0), 2.5, [0.1, 2.5])])
def test_radii_beside_the_distances_of_contacts_may_be_millimetres(given, spread, cured):
    found = replace(SANE, contacts=np.array([(0, 0), (spread, 0.0)]), radius=max(given))
    wheels = [replace(wheel, radius=radius) for wheel, radius in zip(DISCS, given)]
    notice = told(found, wheels)[NoticeKind.RADIUS_SCALE]
    name = "ab"[given.index(max(given))]
    assert notice.text.startswith(f"{name!r} has radius {max(given):.4g} m, though all contacts "
                                  f"are within {spread:g} m")
    assert radii(notice) == (None if cured is None else pytest.approx(cured, rel=1e-12, abs=0))
    # contacts without a radius keep none
    notice = told(found, [*wheels, BLADE])[NoticeKind.RADIUS_SCALE]
    assert radii(notice) == (None if cured is None else pytest.approx([*cured, 0.0], rel=1e-12))


@pytest.mark.parametrize("given, words", [
    ((5.1, 5.1), "'a' has radius 5.1 m; the largest tyres made have 2.1 m: lengths are in metres. "
                 "If all of the file are in millimetres, "),
    ((0.2, 5.1), "'b' has radius 5.1 m; the largest"),
    ((0.2, 4e-4), "'b' has radius 0.0004 m, less than 0.5 mm: lengths are in metres")])
def test_a_radius_that_no_wheel_has_is_said(given, words):
    found = replace(SANE, contacts=1e4 * SQUARE, mass=1e9, wheelbase=1e4)
    wheels = [replace(wheel, radius=radius) for wheel, radius in zip(DISCS, given)]
    notice = told(found, wheels)[NoticeKind.RADIUS_SCALE]
    assert words in notice.text and notice.remedy is None


@pytest.mark.parametrize("given, cured", [(5.1, [0.0051]), (6000.0, None)])
def test_a_wheel_alone_may_be_in_millimetres(given, cured):
    found = replace(SANE, contacts=SQUARE[:1], wheelbase=None, mass=1e9)
    notice = told(found, [replace(DISC, radius=given)])[NoticeKind.RADIUS_SCALE]
    assert notice.text.endswith("lengths are in metres")
    assert radii(notice) == (None if cured is None else pytest.approx(cured, rel=1e-12, abs=0))


def test_a_file_in_millimetres_is_cured_by_what_is_said_of_it():
    """The robot in metres is got back."""
    metres = etree.parse(urdf_path("differential_drive"))

    def scaled(tree, length: float) -> str:
        root = deepcopy(tree.getroot())
        powers = dict.fromkeys(("xyz", "size", "radius", "length"), 1) | dict.fromkeys(INERTIAS, 2)
        for element in root.iterfind(".//*"):
            for name in powers.keys() & element.attrib if element.tag != "axis" else ():
                element.set(name, " ".join(repr(length ** powers[name] * float(number))
                                           for number in element.get(name).split()))
        return etree.tostring(root, encoding="unicode")

    text = scaled(metres, 1e3)
    (said,) = [one for one in load(text).notices if one.kind is NoticeKind.RADIUS_SCALE]
    assert "by 0.001, and each inertia by 1e-6" in said.text and said.remedy is None
    cured, meant = load(scaled(etree.ElementTree(etree.fromstring(text)), 1e-3)), load(
        urdf_path("differential_drive"))
    np.testing.assert_allclose([i.toDynamicParameters() for i in cured.model.inertias],
                               [i.toDynamicParameters() for i in meant.model.inertias],
                               rtol=1e-13, atol=1e-18)
    assert not [one for one in cured.notices if one.kind is NoticeKind.RADIUS_SCALE]


def test_one_contact_is_compared_with_nothing_but_real_wheels():
    found = replace(SANE, contacts=SQUARE[:1], wheelbase=None, mass=5.0)
    assert NoticeKind.RADIUS_SCALE not in told(found, DISCS[:1])
    assert not {NoticeKind.RADIUS_SCALE, NoticeKind.SHORT_WHEELBASE} & {*told(SANE, [BLADE])}


@pytest.mark.parametrize("wheelbase, is_short", [(0.1999, True), (0.2, False), (None, False)])
def test_a_wheelbase_shorter_than_a_radius_is_said(wheelbase, is_short):
    odd = told(replace(SANE, wheelbase=wheelbase), [replace(DISC, radius=0.1), *DISCS[1:]])
    assert (NoticeKind.SHORT_WHEELBASE in odd) == is_short
    if is_short:
        assert odd[NoticeKind.SHORT_WHEELBASE].text.startswith(
            "the wheelbase, 0.1999 m, is shorter than the radius of 'b', 0.2 m")


# -- mass ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("centre, side, distance", [
    ((1.3, 0.2), "front", 0.3), ((-1.25, 0.9), "rear", 0.25), ((0.3, 1.07), "left", 0.07),
    ((-0.4, -1.5), "right", 0.5), ((1.4, 1.3), "front", 0.5), ((1.3, 1.4), "left", 0.5),
    ((-1.4, -1.3), "rear", 0.5), ((1.3, -1.4), "right", 0.5)])
def test_how_far_the_centre_of_mass_is_outside_and_on_which_side(centre, side, distance):
    """From the nearest point of an edge, or from a corner; the side is the one that is farther."""
    found = replace(SANE, centre_of_mass=np.array([*centre, 0.5]))
    text = told(found)[NoticeKind.UNSUPPORTED_CENTRE].text
    assert f"is {distance:.4g} m outside the contacts on the {side} side" in text
    inside = replace(found, centre_of_mass=np.array([*(0.7 * np.array(centre)), 0.5]) * (
        np.abs(0.7 * np.array([*centre, 0])) < 1))
    assert NoticeKind.UNSUPPORTED_CENTRE not in told(inside)


def test_what_has_no_mass_no_polygon_or_no_size_says_nothing_of_it():
    line = replace(SANE, contacts=SQUARE[:2], centre_of_mass=np.array([5.0, 5.0, 0.5]))
    assert NoticeKind.UNSUPPORTED_CENTRE not in told(line)
    assert not told(replace(SANE, centre_of_mass=None, mass=0.0))
    point = replace(SANE, contacts=SQUARE[:1], radius=0.0, wheelbase=None)
    heavy = pin.Inertia(1.0, np.zeros(3), 1e9 * np.eye(3))
    assert NoticeKind.MASS_SCALE not in told(point, [BLADE])
    assert NoticeKind.INERTIA_SCALE not in told(point, [BLADE], bodies=[heavy])
    assert NoticeKind.MASS_SCALE not in told(replace(SANE, mass=0.0))


def test_each_body_with_its_mass_far_from_its_centre_is_said():
    """sqrt(tr I / 2 m) beside ten times the size, sqrt(8) m; a body without mass is none."""
    sane, odd = (pin.Inertia(2.0, np.ones(3), size * np.diag([1.0, 2.0, 3.0]))
                 for size in (1.0, 1200.0))
    massless = pin.Inertia(0.0, np.zeros(3), 1e9 * np.eye(3))
    notice = told(bodies=[sane, massless, odd])[NoticeKind.INERTIA_SCALE]
    assert notice.text.startswith("'body 2': with its mass of 2 kg, its inertia means that the "
                                  f"mass is {np.sqrt(1200 * 6 / 4):.3g} m from its centre")
    assert "within 2.83 m" in notice.text
    assert not told(bodies=[sane, massless])


def test_numbers_of_a_robot_that_is_real_are_believed():
    assert not [*implausible(shipped("tricycle"))]
