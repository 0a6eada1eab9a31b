"""The points of bodies that can touch the ground, one by one: where they are, how they move, and
which are left out."""

from __future__ import annotations

from collections import Counter
from functools import cache

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Ground, Wheel
from nhmech.simulation.contact.motion import to_body
from nhmech.urdf.notice import NoticeKind
from nhmech.urdf.wheel import BOTH, KINDS, WheelKind
from nhmech.vehicle.bodies import CORNERS, BodyContacts, touch_function
from nhmech.vehicle.clearance import clearance
from nhmech.vehicle.placement import OFFSET_TOLERANCE

RADIUS, SMALL = 0.1, 0.05            # [m] of the wheels of a cart, and of its ball
MOVING = Ground(normal=(0.1, 0.2, 1), point=(0.3, -0.2, 0.1), velocity=(0.1, 0.2, 0.3),
                angular_velocity=(0.03, 0.06, 0.3))


def shape(text, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    at, turned = (" ".join(map(str, values)) for values in (xyz, rpy))
    return (f'<collision><origin xyz="{at}" rpy="{turned}"/><geometry>{text}</geometry>'
            '</collision>')


def cart(base, *parts, kind="disc", crown=0.0, **options):
    """Two wheels and a ball under a base, with further parts."""
    parts = [base, *parts, link("ball", 0.1),
             joint("to_ball", "base", "ball", (-0.3, 0, -0.05), kind="fixed")]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(side, 0.2, (1e-3, 2e-3, 1e-3), body=shape('<box size="1 1 1"/>')),
                  joint(f"{side}_wheel", "base", side, (0, y, 0))]
    wheels = [*(Wheel(f"{side}_wheel", kind, RADIUS, crown=crown) for side in ("left", "right")),
              Wheel(None, "caster_ball", SMALL, link="ball")]
    return nhmech.load(robot(*parts), wheels=wheels, **options)


def heights_of(vehicle):
    """(t, q) -> links and heights of all points."""
    bodies, s = BodyContacts.of(vehicle), vehicle.constrained.system
    function = ca.Function("heights", [s.t, s.q, s.theta], [bodies.heights])
    return lambda t, q: (np.array(bodies.links), function(t, q, vehicle.theta).full().ravel())


# -- how they move ---------------------------------------------------------------------------------
SIDES = {"mast": (0.2, 0.4, 0.3), "arm": (0.2, 0.3, 0.5)}      # of boxes
PLACES = {"mast": pin.SE3(np.eye(3), np.array([0, 0, 0.2])),
          "arm": pin.SE3(pin.rpy.rpyToMatrix(0.4, 0.7, 0.2), np.array([0.1, 0, 0.2]))}
HINGES = {"mast": "slide", "arm": "shoulder", "hook": "wrist", "left": "left_wheel"}


@cache
def crane():
    """A ball on a hook on an arm that turn, on a mast that slides askew, on a cart on moving
    ground. The mast has no shape, but the inertia of a box of 20 kg."""
    a, b, c = np.square(SIDES["mast"])
    return cart(link("base", 4.0, (0.05, 0.05, 0.05)),
                link("mast", 20.0, (20 / 12 * (b + c), 20 / 12 * (c + a), 20 / 12 * (a + b)),
                     (0, 0, 0.2)),
                joint("slide", "base", "mast", (0.1, 0.2, 0.6), (0.3, -0.2, 0.5), (0.6, 0, 0.8),
                      "prismatic", '<limit lower="-1" upper="1" effort="1" velocity="1"/>'),
                link("arm", 0.5, body=shape('<box size="0.2 0.3 0.5"/>', (0.1, 0, 0.2),
                                            (0.4, 0.7, 0.2))),
                joint("shoulder", "mast", "arm", (0.2, 0, 0.3), (0.1, 0.4, 0)),
                link("hook", 0.1, body=shape('<sphere radius="0.07"/>', (0.1, 0.2, 0.4))),
                joint("wrist", "arm", "hook", (0, 0.1, 0.4), (0.2, 0, 0), (1, 0, 0)),
                free=("slide", "shoulder", "wrist"), ground=MOVING)


@pytest.mark.parametrize("name", HINGES)
def test_points_have_pinocchios_places_and_velocities_over_the_ground(name):
    """Height n.(p - o) and velocity v - v_o - omega x (p - o) along normal and tangents, of a
    ground whose material has the velocity v_o at o."""
    vehicle, rng = crane(), np.random.default_rng(0)
    bodies, s, model = BodyContacts.of(vehicle), vehicle.constrained.system, vehicle.model
    mine = [i for i, link in enumerate(bodies.links) if link == name]
    own, w = bodies.owners[mine[0]], ca.SX.sym("w", model.nv)
    touched = [bodies.touch(s.t, bodies.poses[:, own], bodies.points[:, i]) for i in mine]
    twist = bodies.jacobian[6 * own:6 * own + 6, :] @ w
    found = ca.Function("found", [s.t, s.q, w, s.theta], [
        ca.horzcat(*(J @ twist + b for J, b, _ in touched)),
        ca.horzcat(*(height for *_, height in touched))])
    points = ca.evalf(bodies.points[:, mine]).full().T
    centres, balls = points[:, :3], points[:, 7]
    if name in SIDES:
        inside = np.array([PLACES[name].actInv(centre) for centre in centres])
        assert len(np.unique(np.sign(inside), axis=0)) == len(mine) == 8
        np.testing.assert_allclose(np.abs(inside), np.tile(SIDES[name], (8, 1)) / 2, rtol=1e-9)
    else:
        assert len(mine) == {"hook": 1, "left": 4}[name]
        assert balls == pytest.approx({"hook": 0.07, "left": 0.0}[name], rel=1e-12)
    data, hinge = model.createData(), model.getJointId(HINGES[name])
    axes = np.array([MOVING.normal, *MOVING.tangents])
    falls = clearance(vehicle)
    assert falls.links == ("mast", "arm", "hook")
    for _ in range(4):
        t, rates = rng.uniform(0, 2), rng.normal(size=model.nv)
        q = pin.integrate(model, vehicle.configuration(), rng.normal(size=model.nv))
        if name == "left":                 # on its side
            q[3:7] = pin.Quaternion(pin.exp3(np.array([1.55, 0, 0]))).coeffs()
        pin.forwardKinematics(model, data, q, to_body(q, rates))
        moved, at = pin.getVelocity(model, data, hinge, pin.LOCAL_WORLD_ALIGNED), data.oMi[hinge]
        velocities, heights = (part.full() for part in found(t, q, rates, vehicle.theta))
        origin = np.array(MOVING.point) + t * np.array(MOVING.velocity)
        for i, (centre, ball) in enumerate(zip(centres, balls)):
            p = at.act(centre) - ball * axes[0]
            ground = MOVING.velocity + np.cross(MOVING.angular_velocity, p - origin)
            v = moved.linear + np.cross(moved.angular, p - at.translation)
            if np.isfinite(heights[0, i]):      # a wheel's rim has none of these where it stands
                np.testing.assert_allclose(velocities[:, i], axes @ (v - ground), rtol=0,
                                           atol=1e-12)
                assert heights[0, i] == pytest.approx(axes[0] @ (p - origin), abs=1e-12)
        if name in falls.links:            # so is the height by which a fall is seen
            assert falls.heights(t, q)[falls.links.index(name)] == pytest.approx(heights.min(),
                                                                                 abs=1e-12)


def test_what_rides_on_the_ground_has_no_velocity_over_it():
    """A body that moves and turns as ground that moves and turns does, far from the origin."""
    touch, rng = touch_function(MOVING), np.random.default_rng(4)
    turning = np.array(MOVING.angular_velocity)
    for t in rng.uniform(0, 2, 5):
        R, p, centre = pin.exp3(rng.normal(size=3)), 10 * rng.normal(size=3), rng.normal(size=3)
        arm = p - MOVING.point - t * np.array(MOVING.velocity)
        twist = np.r_[MOVING.velocity + np.cross(turning, arm), turning]
        point = np.r_[centre, 0, 0, 0, 0, 0.07, 0, np.inf]      # the lowest of a ball
        J, drift, height = (part.full() for part in touch(t, np.r_[R.T.ravel(), p], point))
        np.testing.assert_allclose(J @ twist + drift.ravel(), 0, atol=1e-12)
        assert height == pytest.approx(MOVING.normal @ (arm + R @ centre) - 0.07, rel=1e-12, abs=0)


# -- rims ------------------------------------------------------------------------------------------
@cache
def drum():
    """A cylinder of radius 0.12 and length 0.4 about the base's z axis, 0.5 m above the axle."""
    return cart(link("base", 4.0, (0.05, 0.05, 0.05), (0, 0, 0.3),
                     shape('<cylinder radius="0.12" length="0.4"/>', (0, 0, 0.5))))


@pytest.mark.parametrize("lean, touching", [
    (0.0, 4), (1e-9, 4), (1e-7, 5), (1e-4, 5), (0.09, 5), (0.11, 1), (1.0, 1), (np.pi / 2, 1)])
@pytest.mark.parametrize("over", [0.0, np.pi])
def test_a_rim_touches_at_its_lowest_point_and_lies_on_four(lean, touching, over):
    """p.n - h cos - r sin; one that lies flat has no lowest point, one that is steep no others. The
    four are a square on it."""
    vehicle = drum()
    q = vehicle.configuration()
    q[:3], q[3:7] = (0.2, 0.3, 2.0), pin.Quaternion(pin.exp3(
        np.array([0.6, 0.8, 0]) * (over + lean)) @ pin.exp3(np.array([0, 0, 0.3]))).coeffs()
    names, heights = heights_of(vehicle)(0.0, q)
    heights = heights[(names == "base") & np.isfinite(heights)]
    assert len(heights) == 2 * touching
    centre = 2.0 + 0.5 * np.cos(over + lean)
    lowest = centre - 0.2 * np.cos(lean) - 0.12 * np.sin(lean)
    # what is nearly level has a direction of its lowest point to so many digits
    assert heights.min() == pytest.approx(lowest, abs=1e-13 + 1e-16 / max(lean, 1e-7))
    if touching > 1:
        rim = np.sort(heights)[:touching] - (centre - 0.2 * np.cos(lean))
        spokes = rim[touching - 4:] if lean else rim
        # of a square on a circle: r sin(lean) cos(a + k pi/2)
        assert (spokes ** 2).sum() == pytest.approx(2 * (0.12 * np.sin(lean)) ** 2, rel=1e-5,
                                                    abs=1e-30)
        assert abs(spokes.sum()) <= 1e-13


@pytest.mark.parametrize("kind, crown", [("disc", 0.0), ("torus", 0.03)])
def test_a_wheel_lies_on_the_sides_of_its_tyre(kind, crown):
    """Flat on its side, its centre is a crown above the ground; the rim within has r less the
    crown."""
    vehicle = cart(link("base", 4.0), kind=kind, crown=crown)
    q, lean = vehicle.configuration(), 1e-3
    q[:3], q[3:7] = (0, 0, 1.0), pin.Quaternion(pin.exp3(
        np.array([np.pi / 2 - lean, 0, 0]))).coeffs()
    names, heights = heights_of(vehicle)(0.0, q)
    for side, y in (("left", 0.3), ("right", -0.3)):
        rim = heights[names == side] - (1.0 + y * np.cos(lean) - crown)
        assert (rim ** 2).sum() == pytest.approx(2 * ((RADIUS - crown) * np.sin(lean)) ** 2,
                                                 rel=1e-9)


# -- which they are --------------------------------------------------------------------------------
# points by link: four on each rim, eight corners of a box, five on each rim of a cylinder; none of
# the collision shapes of wheels
POINTS = {
    "disc": {"disc": 4},
    "ball": {},
    "sled": {"sled body": 8},
    "omni": {"base_link": 10, "front_left_wheel": 4, "front_right_wheel": 4, "rear_wheel": 4},
    "tricycle": {"base_link": 8, "fork": 8, "front_wheel": 4, "rear_left_wheel": 4,
                 "rear_right_wheel": 4},
    "bicycle": {"rear_frame": 8, "front_frame": 8, "rear_wheel": 4, "front_wheel": 4},
}


@pytest.mark.parametrize("name", POINTS)
def test_what_touches_beside_the_wheels(name):
    assert Counter(BodyContacts.of(shipped(name)).links) == POINTS[name]


@pytest.mark.parametrize("count", [6, CORNERS, 200])
def test_a_mesh_has_so_many_points_at_most(count, tmp_path):
    """Of many vertices, those that are outermost; of few, all, those within too."""
    ways = np.random.default_rng(0).normal(size=(count, 3))
    ways /= 10 * np.linalg.norm(ways, axis=1, keepdims=True)
    ways[0] = 0
    (tmp_path / "a.obj").write_text(
        "".join("v {} {} {}\n".format(*way) for way in ways)
        + "".join(f"f {i} {i + 1} {i + 2}\n" for i in range(1, count - 1)))
    vehicle = cart(link("base", 4.0, body=shape(
        f'<mesh filename="{tmp_path / "a.obj"}"/>', (0, 0, 0.5))))
    bodies = BodyContacts.of(vehicle)
    mine = [i for i, name in enumerate(bodies.links) if name == "base"]
    points = ca.evalf(bodies.points[:3, mine]).full().T - (0, 0, 0.5)
    inner = (np.linalg.norm(points, axis=1) < 0.05).sum()
    assert (len(points), inner) == (count, 1) if count <= CORNERS else (
        len(points) <= CORNERS and inner == 0)
    assert np.abs(points[:, None] - ways[None]).max(axis=2).min(axis=1).max() < 1e-6


@pytest.mark.parametrize("part, touches, told", [
    (-1.1, False, True), (-0.9, False, False), (0.9, False, False), (1.1, True, False)])
def test_what_stands_on_the_ground_or_in_it_makes_no_contact(part, touches, told):
    """A ball on an arm, whose lowest point is so many tolerances above the ground at the start: a
    twentieth of the smallest wheel's radius."""
    height = part * OFFSET_TOLERANCE * SMALL
    vehicle = cart(link("base", 4.0), link("arm", 0.5, body=shape(
        '<sphere radius="0.02"/>', (0, 0, 0.02 + height - 0.5))),
        joint("shoulder", "base", "arm", (0.3, 0, 0.5 - RADIUS)), free=("shoulder",))
    for found in (BodyContacts.of(vehicle), clearance(vehicle)):
        assert ("arm" in found.links) == touches
        assert [one.kind for one in found.notices] == [NoticeKind.BELOW_GROUND] * told
        assert not told or f"arm: a collision shape reaches {-1e3 * height:.3g} mm below" in \
            found.notices[0].text


def test_the_deepest_of_a_links_shapes_is_told():
    """Of two in the ground and one above it, which is a contact."""
    shapes = "".join(shape('<sphere radius="0.02"/>', (x, 0, 0.02 + z - 0.5))
                     for x, z in ((0.0, -0.01), (0.1, -0.03), (0.2, 0.2)))
    vehicle = cart(link("base", 4.0), link("arm", 0.5, body=shapes),
                   joint("shoulder", "base", "arm", (0.3, 0, 0.5 - RADIUS)), free=("shoulder",))
    for found in (BodyContacts.of(vehicle), clearance(vehicle)):
        assert found.links.count("arm") == 1
        assert "arm: a collision shape reaches 30 mm below" in found.notices[0].text


def test_wheels_with_tyres_touch_with_their_circles_too():
    """Not with their collision shapes, which in this cart are boxes."""
    plain, tyred = (BodyContacts.of(cart(link("base", 4.0), **how))
                    for how in ({}, {"tyres": "robot_rubber"}))
    assert Counter(plain.links) == Counter(tyred.links) == {"left": 4, "right": 4}


def test_a_wheel_of_any_profile_lies_on_its_flank(monkeypatch):
    """An ellipsoid of semi-axes a and, along its axle, c: at height c on the point of its axle."""
    def profile(sine, along, a, _):
        c = 0.3 * a
        size = (a ** 2 * sine ** 2 + c ** 2 * along ** 2) ** 0.5
        return (a ** 2 - c ** 2) * sine / size, c ** 2 / size

    monkeypatch.setitem(KINDS, "egg", WheelKind(BOTH, profile))
    vehicle = cart(link("base", 4.0), kind="egg")
    q = vehicle.configuration()
    q[:3], q[3:7] = (0, 0, 1.0), (np.sqrt(0.5), 0, 0, np.sqrt(0.5))
    names, heights = heights_of(vehicle)(0.0, q)
    assert heights[names == "left"] == pytest.approx([1.3 - 0.03] * 4, rel=1e-12)
