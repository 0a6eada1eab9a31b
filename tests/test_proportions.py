"""Mass, size and static stability against statics by hand, and notices of numbers that no built
vehicle has."""

from __future__ import annotations

from dataclasses import replace
from math import atan, cos, pi, sin, sqrt
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from support import SHIPPED, joint, link, robot, shipped

import nhmech
from nhmech import Wheel
from nhmech.urdf.notice import NoticeKind
from nhmech.vehicle import plausibility
from nhmech.vehicle.plausibility import implausible
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
    assert found.mass == pytest.approx(10.003, rel=1e-12)
    assert (x, h) == pytest.approx((2.0005 / 10.003, 3.0003 / 10.003), rel=1e-12, abs=0)
    assert found.track == pytest.approx(2 * HALF, rel=1e-12, abs=0) and found.wheelbase is None
    assert found.area == pytest.approx(HALF * AHEAD, rel=1e-12, abs=0)
    aside = HALF * (1 - x / AHEAD)
    for way, reach in zip(Way, (AHEAD - x, x, aside, aside), strict=True):
        assert found.tip_angle(way) == pytest.approx(atan(reach / h), rel=1e-12, abs=0)


def test_four_wheels_by_hand():
    car = proportions(shipped("ackermann_car"))
    x, y, h = car.centre_of_mass
    rear, front = car.contacts[:, 0].min(), car.contacts[:, 0].max()
    assert car.wheelbase == pytest.approx(2.6, rel=1e-12) and car.track == pytest.approx(1.5,
                                                                                         rel=1e-12)
    assert car.tip_angle(Way.FORWARD) == pytest.approx(atan((front - x) / h), rel=1e-12)
    assert car.tip_angle(Way.BACKWARD) == pytest.approx(atan((x - rear) / h), rel=1e-12)
    assert car.tip_angle(Way.LEFT) == pytest.approx(atan((0.75 - y) / h), rel=1e-12, abs=0)
    assert car.area == pytest.approx(2.6 * 1.5, rel=1e-12)


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
    level, sloped = shipped("tricycle"), shipped("tricycle", nhmech.Ground(
        (0.3, -0.2, 1.0), (0.3, 0.2, -0.4)))
    one, other = proportions(level), proportions(sloped)
    np.testing.assert_allclose(one.centre_of_mass, other.centre_of_mass, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.contacts, other.contacts, rtol=0, atol=1e-12)


def test_the_polygon_is_the_hull():
    """Points inside it and on its edges are no corners."""
    corners = np.array([(0, 0), (2, 0), (2, 1), (0, 1)], dtype=float)
    points = np.vstack([corners, [(1, 0), (1, 0.5), (0, 0), (2, 0.3)]])
    for order in np.random.default_rng(3).permuted(np.tile(np.arange(8), (20, 1)), axis=1):
        found = Proportions(1.0, np.array([0.5, 0.5, 1.0]), points[order], None, None, 0.1)
        assert found.area == pytest.approx(2.0, rel=1e-12) and len(found.polygon) == 4
        assert found.reach((1, 0)) == pytest.approx(1.5, rel=1e-12)
        assert found.reach((1 / sqrt(2), 1 / sqrt(2))) == pytest.approx(sqrt(0.5), rel=1e-12, abs=0)
    line = Proportions(1.0, np.zeros(3), points[:2], None, None, 0.1)
    assert not len(line.polygon) and not len(line.edges) and line.area == 0
    assert line.tip_angle(Way.LEFT) is None


def test_a_sliver_is_a_polygon_and_rounding_is_none():
    """A billionth of the size squared is the area below which contacts lie on one line."""
    def sliver(height):
        points = np.array([(0, 0), (2, 0), (1, height)], dtype=float)
        return Proportions(1.0, np.array([1.0, height / 3, 1.0]), points, None, None, 0.1)
    for side in (1, -1):
        assert len(sliver(side * 3e-9).polygon) == 3 and not len(sliver(side * 1e-9).polygon)
        np.testing.assert_allclose(np.linalg.norm(sliver(side).edges[:, :2], axis=1), 1.0,
                                   rtol=1e-12)
    # towards the left, and nearly along a leg: 2/3 of the height, and the leg that is met at last
    thin = sliver(4e-4)
    assert thin.reach((0, 1)) == pytest.approx(2 / 3 * 4e-4, rel=1e-12, abs=0)
    assert thin.reach((1, 0)) == pytest.approx(2 / 3, rel=1e-12, abs=0)
    assert thin.reach((-1, 2e-4)) == pytest.approx(4 / 9, rel=1e-9)


def test_a_centre_of_mass_below_the_ground_tips_over_a_wall_only():
    square = np.array([(0, 0), (2, 0), (2, 2), (0, 2)], dtype=float)
    sunk = Proportions(1.0, np.array([1.5, 1.0, -0.4]), square, None, None, 0.1)
    assert [sunk.tip_angle(way) for way in Way] == pytest.approx([pi / 2] * 4, rel=1e-12)
    assert replace(sunk, centre_of_mass=np.array([3.0, 1.0, 0.0])).tip_angle(
        Way.FORWARD) == pytest.approx(-pi / 2, rel=1e-12)
    assert [way.side for way in Way] == ["front", "rear", "left", "right"]


@pytest.mark.parametrize("contacts, radius, spread, size", [
    ([(0, 0), (3, 4)], 0.1, 5.0, 5.0), ([(0, 0), (3, 4)], 2.6, 5.0, 5.2),
    ([(1, 1)], 0.3, 0.0, 0.6)])
def test_the_size_is_that_of_contacts_or_of_a_wheel(contacts, radius, spread, size):
    found = Proportions(1.0, None, np.array(contacts, dtype=float), None, None, radius)
    assert (found.spread, found.size) == pytest.approx((spread, size), rel=1e-12)


def on_wheels(*places):
    """Proportions of a vehicle whose wheels touch the ground in these places."""
    drive = shipped("differential_drive")
    return proportions(SimpleNamespace(
        configuration=drive.configuration, placer=drive.placer, model=drive.model, data=drive.data,
        contacts=[drive.contacts[0]] * len(places), driven=drive.driven,
        description=drive.description,
        contact_points=lambda q: np.array([(*place, 0.0) for place in places])))


def test_wheels_beside_each_other_are_an_axle_up_to_a_tenth_of_the_radius():
    """Two wheels on the ground, one 0.6 m to the left and a bit ahead of the other."""
    radius = shipped("differential_drive").contacts[0].mount.wheel.radius
    for ahead, expected in ((0.0999, (None, 0.6)), (0.1001, (0.1001 * radius, None))):
        found = on_wheels((0, 0), (ahead * radius, 0.6))
        assert (found.wheelbase, found.track) == pytest.approx(expected)


def test_a_wheelbase_is_from_the_first_axle_to_the_last_and_a_track_that_of_the_widest():
    found = on_wheels((1.3, 0.2), (0.5, -0.35), (0, 0.3), (0.5, 0.35), (0, -0.3), (1.3, -0.2))
    assert (found.wheelbase, found.track) == pytest.approx((1.3, 0.7), rel=1e-12, abs=0)


def trolley(swivels=(), steered=(), fixed=((0.0, 0.3), (0.0, -0.3)), driven=()):
    """Wheels at places of a base: fixed, below swivels that trail, and below joints that steer."""
    parts, wheels = [link("base", 10.0, com=(-0.1, 0, 0.3))], []
    for kind, places in (("fixed", fixed), ("swivel", swivels), ("steered", steered)):
        for i, (x, y) in enumerate(places):
            name, above, at = f"{kind}{i}", "base", (x, y, 0)
            if kind != "fixed":
                parts += [link(f"{name}_fork", 0.1), joint(f"{name}_turn", "base", f"{name}_fork",
                                                           at, axis=(0, 0, 1))]
                above, at = f"{name}_fork", (-0.05 * (kind == "swivel"), 0, 0)
            parts += [link(f"{name}_wheel", 0.1), joint(name, above, f"{name}_wheel", at)]
            wheels.append(Wheel(name, "disc", R))
    made = nhmech.load(robot(*parts), wheels=wheels)
    return replace(made, description=replace(made.description, driven=(
        *made.description.driven, *driven)))


@pytest.mark.parametrize("places, wheelbase, track", [
    (dict(swivels=[(0.7, 0.2), (0.7, -0.2)]), None, 0.6),
    (dict(steered=[(0.7, 0.2), (0.7, -0.2)]), 0.7, 0.6),
    (dict(swivels=[(0.7, 0.2)], fixed=[(0.0, 0.3), (-0.4, 0.3)]), 0.4, None),
    # where one wheel alone would be left, all count
    (dict(swivels=[(0.7, 0.2), (0.7, -0.2)], fixed=[(0.0, 0.0)]), 0.65, 0.4),
    (dict(swivels=[(0.7, 0.2), (0.7, -0.2)], driven=("swivel0_turn", "swivel1_turn")), 0.65, 0.6)])
def test_wheels_that_trail_bear_no_wheelbase_where_two_others_do(places, wheelbase, track):
    """Unless something drives their swivels."""
    found = proportions(trolley(**places))
    assert (found.wheelbase, found.track) == pytest.approx((wheelbase, track))
    assert len(found.contacts) == sum(map(len, (places.get(kind, ()) for kind in (
        "swivels", "steered")))) + len(places.get("fixed", (0, 0)))


def test_what_has_no_mass_has_no_centre():
    vehicle = shipped("differential_drive")
    empty = vehicle.with_parameters({name: 0.0 for name in vehicle.parameters.values
                                     if name.endswith("mass")})
    found = proportions(empty)
    assert found.mass == 0 and found.centre_of_mass is None
    assert found.reach((1, 0)) is None and found.tip_angle(Way.LEFT) is None


def test_lengths_are_along_the_heading_on_the_ground_below_the_base():
    """Of a base that is pitched, as its wheels have it: forward is level, and up the normal."""
    pitched = cart(raised=0.05)
    q, found = pitched.configuration(), proportions(pitched)
    R = pin.Quaternion(q[3:7]).toRotationMatrix()
    assert abs(R[2, 0]) > 0.05
    forward = np.array([R[0, 0], R[1, 0], 0]) / np.hypot(R[0, 0], R[1, 0])
    axes = np.array([forward, np.cross((0, 0, 1), forward), (0, 0, 1)])
    origin = q[:3] * (1, 1, 0)
    np.testing.assert_allclose(found.contacts, ((pitched.contact_points(q) - origin)
                                                @ axes[:2].T), rtol=0, atol=1e-12)
    centre = pin.centerOfMass(pitched.model, pitched.model.createData(), q)
    np.testing.assert_allclose(found.centre_of_mass, axes @ (centre - origin), rtol=0, atol=1e-12)


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


R2 = 0.2      # [m] radius of the wheels of the table below
SANE = Proportions(50.0, np.array([0.0, 0.0, 0.5]), np.array(
    [(1, 1), (-1, 1), (-1, -1), (1, -1)], dtype=float), 2.0, 2.0, R2)
# what is believed just so, and what is not: a change of the proportions or of the radii by x, the
# kind, and the x at which it begins; + where larger ones are hard to believe
EDGES = [
    ("mass", lambda x: replace(SANE, mass=x), NoticeKind.MASS_SCALE, 2e4 * 8 ** 1.5, +1),
    ("air", lambda x: replace(SANE, mass=x), NoticeKind.MASS_SCALE, 1.2 * 2 * 0.5 * 4.0, -1),
    ("wheelbase", lambda x: replace(SANE, wheelbase=x), NoticeKind.SHORT_WHEELBASE, R2, -1),
    ("low", lambda x: replace(SANE, centre_of_mass=np.array([0, 0, x])), NoticeKind.LOW_CENTRE,
     0.01 * R2, -1),
    ("ahead", lambda x: replace(SANE, centre_of_mass=np.array([x, 0, 0.5])),
     NoticeKind.UNSUPPORTED_CENTRE, 1.0, +1),
    ("spread", lambda x: replace(SANE, contacts=np.array([(0, 0), (0, x)])),
     NoticeKind.RADIUS_SCALE, R2 / 10, -1),
]


def believed(found, radii=(R2, R2), q=None) -> dict[NoticeKind, str]:
    """Kind -> text of each notice about a vehicle with these proportions and radii, its bodies
    those of the differential drive."""
    drive = shipped("differential_drive")
    wheels = tuple(replace(wheel, radius=radius)
                   for wheel, radius in zip(drive.description.wheels, radii))
    vehicle = SimpleNamespace(
        description=replace(drive.description, wheels=wheels), model=drive.model,
        placer=drive.placer, configuration=lambda: drive.configuration() if q is None else q)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plausibility, "proportions", lambda _: found)
        return {notice.kind: notice.text for notice in implausible(vehicle)}


@pytest.mark.parametrize("change, kind, edge, sign", [edge[1:] for edge in EDGES],
                         ids=[edge[0] for edge in EDGES])
def test_numbers_are_believed_up_to_an_edge(change, kind, edge, sign):
    assert not believed(SANE)
    inside, outside = (believed(change(edge * (1 + sign * x))) for x in (-1e-6, 1e-6))
    assert kind not in inside and kind in outside


@pytest.mark.parametrize("radii, edge, sign", [((R2, 5.0), 5.0, +1), ((R2, 5e-4), 5e-4, -1)])
def test_radii_are_believed_between_toys_and_the_largest_tyres(radii, edge, sign):
    found = replace(SANE, contacts=SANE.contacts * 10)
    for x, is_odd in ((-1e-6, False), (1e-6, True)):
        odd = believed(found, (radii[0], edge * (1 + sign * x)))
        assert (NoticeKind.RADIUS_SCALE in odd) == is_odd
    # nothing to compare
    assert not believed(SANE, ())


def test_bodies_are_believed_up_to_ten_times_the_size_of_their_vehicle():
    """sqrt(tr I / 2 m) is the distance of the mass from its centre."""
    bodies = list(shipped("differential_drive").model.inertias)[1:]
    largest = max(sqrt(np.trace(body.inertia) / 2 / body.mass) for body in bodies)
    for share, is_odd in ((1 + 1e-6, False), (1 - 1e-6, True)):
        small = replace(SANE, contacts=np.zeros((1, 2)), mass=0.0, radius=largest / 20 * share)
        odd = believed(small, ())
        assert (NoticeKind.INERTIA_SCALE in odd) == is_odd


def test_a_base_may_stand_tilted_by_a_hundredth():
    """Then gravity pulls along the ground with 1 % of its size."""
    for angle, is_odd in ((0.00999, False), (0.01001, True)):
        q = shipped("differential_drive").configuration().copy()
        q[3:7] = sin(angle / 2), 0.0, 0.0, cos(angle / 2)
        assert (NoticeKind.TILTED in believed(SANE, q=q)) == is_odd


@pytest.mark.parametrize("height, words", [
    (0.0019, "at ground level, height 0.0019 m"), (-0.0019, "at ground level"),
    (-0.0021, "0.0021 m below the ground, height -0.0021 m")])
def test_how_low_the_centre_of_mass_is(height, words):
    found = replace(SANE, centre_of_mass=np.array([0.0, 0.0, height]))
    assert words in believed(found)[NoticeKind.LOW_CENTRE]


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
