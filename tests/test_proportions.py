"""Mass, size and static stability against statics by hand, and notices of numbers that no built
vehicle has."""

from __future__ import annotations

from math import atan, cos, sin, sqrt

import numpy as np
import pytest
from support import SHIPPED, joint, link, shipped

import nhmech
from nhmech import Wheel
from nhmech.urdf.notice import NoticeKind
from nhmech.vehicle.proportions import Proportions, Way, proportions
from nhmech.vehicle.reactions import reactions

R, AHEAD, HALF = 0.1, 0.5, 0.3      # [m] radius, axle to axle, half a track
SCALES = {NoticeKind.TILTED, NoticeKind.RADIUS_SCALE, NoticeKind.SHORT_WHEELBASE,
          NoticeKind.LOW_CENTRE, NoticeKind.UNSUPPORTED_CENTRE, NoticeKind.MASS_SCALE,
          NoticeKind.INERTIA_SCALE}
# held sideways at the wheels, and with nothing that swings across a slope
ACROSS = ("tricycle", "ackermann_car", "rover")


def cart(com=(0.2, 0.0, 0.3), mass=10.0, inertia=(0.4, 0.5, 0.6), raised=0.0, radius=R,
         ahead=AHEAD, wheels=None) -> nhmech.Vehicle:
    """Two wheels on an axle below the base's origin, which is at ground level, and a frictionless
    ball ahead of them."""
    rim = (1e-4, 1e-4, 1e-4)
    text = ('<robot name="cart">' + link("base", mass, inertia, com)
            + link("left", 1e-3, rim) + link("right", 1e-3, rim) + link("ball", 1e-3, rim)
            + joint("l", "base", "left", (0, HALF, R)) + joint("r", "base", "right", (0, -HALF, R))
            + joint("b", "base", "ball", (ahead, 0, R + raised), kind="fixed") + "</robot>")
    return nhmech.load(text, wheels=wheels or [
        Wheel("l", "disc", radius, driven=True), Wheel("r", "disc", radius, driven=True),
        Wheel(None, "caster_ball", radius, link="ball", point=(0, 0, 0))])


def kinds(vehicle) -> set[NoticeKind]:
    return {notice.kind for notice in vehicle.notices} & SCALES


def test_three_wheels_by_hand():
    """The polygon is a triangle with its base on the axle: sideways, the ray from below the centre
    of mass meets a leg."""
    found = proportions(cart())
    x, _, h = found.centre_of_mass
    assert found.mass == pytest.approx(10.003)
    assert (x, h) == pytest.approx((2.0005 / 10.003, 3.0003 / 10.003), rel=1e-12)
    assert found.track == pytest.approx(2 * HALF) and found.wheelbase is None
    assert found.area == pytest.approx(HALF * AHEAD)
    aside = HALF * (1 - x / AHEAD)
    for way, reach in zip(Way, (AHEAD - x, x, aside, aside), strict=True):
        assert found.tip_angle(way) == pytest.approx(atan(reach / h), rel=1e-12)


def test_four_wheels_by_hand():
    car = proportions(shipped("ackermann_car"))
    x, y, h = car.centre_of_mass
    rear, front = car.contacts[:, 0].min(), car.contacts[:, 0].max()
    assert car.wheelbase == pytest.approx(2.6) and car.track == pytest.approx(1.5)
    assert car.tip_angle(Way.FORWARD) == pytest.approx(atan((front - x) / h), rel=1e-12)
    assert car.tip_angle(Way.BACKWARD) == pytest.approx(atan((x - rear) / h), rel=1e-12)
    assert car.tip_angle(Way.LEFT) == pytest.approx(atan((0.75 - y) / h), rel=1e-12)
    assert car.area == pytest.approx(2.6 * 1.5)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_vehicle_tips_where_the_ground_has_to_pull(name):
    """Across a slope of up to the tip angle, the exact reactions have a split without pull; beyond
    it they have none."""
    vehicle = shipped(name)
    found = proportions(vehicle)
    if not len(found.edges):
        assert found.tip_angle(Way.LEFT) is None
        return
    assert found.area > 0 and len(found.polygon) <= len(found.contacts)
    if name not in ACROSS:
        return
    for way, side in ((Way.LEFT, -1), (Way.RIGHT, 1)):
        for part, stands in ((0.999, True), (1.001, False)):
            slope = side * part * found.tip_angle(way)
            sloped = shipped(name, nhmech.Ground((0.0, -sin(slope), cos(slope))))
            forces = reactions(sloped, 0.0, sloped.configuration(),
                               np.zeros(sloped.algebroid.nv),
                               np.zeros(sloped.constrained.system.u.numel()))
            assert forces.feasible == stands


def test_any_heading_and_place_gives_the_same():
    """Proportions are those of the vehicle, on whatever ground it stands."""
    level, sloped = shipped("tricycle"), shipped("tricycle", nhmech.Ground((0.3, -0.2, 1.0)))
    one, other = proportions(level), proportions(sloped)
    np.testing.assert_allclose(one.centre_of_mass, other.centre_of_mass, atol=1e-12)
    np.testing.assert_allclose(one.contacts, other.contacts, atol=1e-12)


def test_the_polygon_is_the_hull():
    """Points inside it and on its edges are no corners."""
    corners = np.array([(0, 0), (2, 0), (2, 1), (0, 1)], dtype=float)
    points = np.vstack([corners, [(1, 0), (1, 0.5), (0, 0), (2, 0.3)]])
    for order in np.random.default_rng(3).permuted(np.tile(np.arange(8), (20, 1)), axis=1):
        found = Proportions(1.0, np.array([0.5, 0.5, 1.0]), points[order], None, None, 0.1)
        assert found.area == pytest.approx(2.0) and len(found.polygon) == 4
        assert found.reach((1, 0)) == pytest.approx(1.5)
        assert found.reach((1 / sqrt(2), 1 / sqrt(2))) == pytest.approx(sqrt(0.5))
    line = Proportions(1.0, np.zeros(3), points[:2], None, None, 0.1)
    assert not len(line.polygon) and not len(line.edges) and line.area == 0
    assert line.tip_angle(Way.LEFT) is None


# -- what is hard to believe -----------------------------------------------------------------------
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_robots_are_believed(name):
    assert not kinds(shipped(name))


def test_a_raised_caster_is_said_and_cured():
    """Ten millimetres tilt the robot by asin(0.01 / 0.5); the line that the notice suggests makes
    it stand level."""
    tilted = cart(raised=0.01)
    (notice,) = [one for one in tilted.notices if one.kind is NoticeKind.TILTED]
    assert "'ball' is 10 mm above" in notice.text and "1.1 degrees" in notice.text
    assert "radius=0.11" in notice.remedy.command
    wheels = eval(notice.remedy.python.partition("wheels=")[2], {"Wheel": Wheel})
    assert not kinds(cart(raised=0.01, wheels=wheels))
    assert kinds(cart(raised=0.004)) == set()


def test_millimetres_for_metres_are_said_and_cured():
    wheels = [Wheel("l", "disc", 100.0, driven=True), Wheel("r", "disc", 100.0, driven=True)]
    huge = cart(wheels=wheels)
    (notice,) = [one for one in huge.notices if one.kind is NoticeKind.RADIUS_SCALE]
    assert "radius 100 m" in notice.text and "0.6 m" in notice.text
    wheels = eval(notice.remedy.python.partition("wheels=")[2], {"Wheel": Wheel})
    assert [wheel.radius for wheel in wheels] == [0.1, 0.1]
    assert NoticeKind.RADIUS_SCALE not in kinds(cart(wheels=wheels))
    # one wheel alone has nothing to be compared with but all wheels that were ever made
    assert kinds(shipped("disc").with_parameters({})) == set()


@pytest.mark.parametrize("changes, kind, numbers", [
    (dict(com=(0.2, 0, 0)), NoticeKind.LOW_CENTRE, "ground level"),
    (dict(com=(0.2, 0, -0.05)), NoticeKind.LOW_CENTRE, "0.0499"),
    (dict(com=(-0.1, 0, 0.3)), NoticeKind.UNSUPPORTED_CENTRE, "rear"),
    (dict(com=(0.2, 0.25, 0.3)), NoticeKind.UNSUPPORTED_CENTRE, "left"),
    # beyond a corner, whose distance counts and not that of an edge's line
    (dict(com=(AHEAD + 0.2, 0, 0.3)), NoticeKind.UNSUPPORTED_CENTRE,
     f"is {(2 - 0.002 * AHEAD) / 10.003:.4g} m outside the contacts on the front side"),
    (dict(mass=1e4), NoticeKind.MASS_SCALE, "1e+04 kg"),
    (dict(mass=0.004), NoticeKind.MASS_SCALE, "less than the air"),
    (dict(inertia=(4e5, 5e5, 6e5)), NoticeKind.INERTIA_SCALE, "'base'"),
])
def test_impossible_numbers_are_said(changes, kind, numbers):
    vehicle = cart(**changes)
    assert kind in kinds(vehicle)
    assert any(numbers in notice.text for notice in vehicle.notices if notice.kind is kind)


def test_wheels_that_overlap_are_said():
    wheels = [Wheel("l", "disc", R, driven=True), Wheel("r", "disc", R, driven=True),
              Wheel(None, "sphere", R, link="ball", point=(0, 0, 0))]
    assert NoticeKind.SHORT_WHEELBASE in kinds(cart(ahead=0.09, com=(0.04, 0, 0.3), wheels=wheels))
    assert kinds(cart()) == set()


def test_a_caster_below_the_axle_is_refused_in_words():
    """It touches in one pitch only, and bears nothing: as a constraint its rank is lost where the
    robot stands. Without it the robot loads, its pitch free."""
    wheels = [Wheel("l", "disc", R, driven=True), Wheel("r", "disc", R, driven=True)]
    ball = Wheel(None, "caster_ball", 0.03, link="ball", point=(0, 0, -0.07))
    with pytest.raises(nhmech.ModelError,
                       match="in one line: .* 'ball' would leave the ground") as caught:
        cart(ahead=0.0, wheels=[*wheels, ball])
    left = eval(caught.value.remedy.python.partition("wheels=")[2], {"Wheel": Wheel})
    balancer = cart(ahead=0.0, wheels=left)
    assert NoticeKind.FREE_PITCH in {notice.kind for notice in balancer.notices}
    # a ball about the axle stays on the ground at every pitch, and so do twin wheels
    twins = cart(ahead=0.0, wheels=[*wheels, Wheel(None, "caster_ball", R, link="ball",
                                                   point=(0, 0, 0))])
    assert "pitch_rate" in twins.speeds
