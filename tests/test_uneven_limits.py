"""Demands and limits of what is not alike on both sides, and of what is seen from another base."""

from __future__ import annotations

from math import cos, inf, sin

import numpy as np
import pinocchio as pin
import pytest
from support import askew, joint, link, robot, shipped
from test_limits import MU, WITHIN, B, G, H, L, M, R, X, wheeled

import nhmech
from nhmech import Wheel
from nhmech.analysis import Cause, lift_acceleration, limits
from nhmech.analysis.contact_load import contact_load
from nhmech.analysis.demand import steady_turn
from nhmech.analysis.friction import known_coefficients
from nhmech.analysis.limits import _Judge
from nhmech.vehicle.reactions import balance

OFFSET, YAW = (0.3, 0.07), 0.4         # of a robot's own base in its askew one


# -- seen from another base ------------------------------------------------------------------------
@pytest.mark.parametrize("curvature", [0.0, 0.15, -0.12])
@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car", "skid_steer", "trailers"])
def test_the_base_that_speeds_are_of_changes_no_force(name, curvature):
    """A point beside the base's own moves forwards at V cos(yaw) + y w along a turned axis."""
    factor = cos(YAW) + OFFSET[1] * curvature
    own, seen = steady_turn(shipped(name), curvature), steady_turn(askew(name), curvature / factor)
    uphill = np.array([0.12, -0.07])
    turned = np.array([[cos(YAW), sin(YAW)], [-sin(YAW), cos(YAW)]]) @ uphill
    load, efforts = own.load(1.3, 0.4, tuple(turned))
    other, others = seen.load(1.3 * factor, 0.4 * factor, tuple(uphill))
    assert load.names == other.names
    np.testing.assert_allclose(other.split, load.split, rtol=0, atol=1e-9 * load.size)
    np.testing.assert_allclose(others, efforts, rtol=0, atol=1e-9 * np.abs(efforts).max())


@pytest.mark.parametrize("rpy", [(0.3, 0.0, 0.0), (0.0, -0.2, 0.0), (0.2, -0.1, -1.2)])
def test_a_base_frame_that_leans_looks_ahead_along_the_ground(rpy):
    """At right angles to its y axis; speeds and slopes are along that way."""
    own = shipped("differential_drive")
    text = nhmech.urdf_path("differential_drive").read_text().replace("</robot>", (
        '<link name="root"/>' + joint("turn", "root", "base_link", (0.3, 0.07, 0.02), rpy,
                                      kind="fixed") + "</robot>"))
    seen = nhmech.load(text)
    R = pin.rpy.rpyToMatrix(*rpy).T                  # of the root in the robot's own frame
    ahead = np.cross(R[:, 1], [0, 0, 1]) / np.linalg.norm(R[:2, 1])
    curvature, uphill = 0.3, np.array([0.12, -0.07])
    factor = ahead @ ([1, 0, 0] + curvature * np.cross([0, 0, 1], R @ (-0.3, -0.07, -0.02)))
    turned = np.column_stack([ahead, np.cross([0, 0, 1], ahead)]) @ uphill
    load, efforts = steady_turn(own, curvature).load(1.3, 0.4, tuple(turned[:2]))
    other, others = steady_turn(seen, curvature / factor).load(1.3 * factor, 0.4 * factor,
                                                               tuple(uphill))
    np.testing.assert_allclose(other.split, load.split, rtol=0, atol=1e-9 * load.size)
    np.testing.assert_allclose(others, efforts, rtol=0, atol=1e-9 * np.abs(efforts).max())


@pytest.mark.parametrize("uphill", [(0.0, 0.0), (0.3, -0.4), (-1.2, 0.5)])
def test_at_rest_on_a_slope_the_ground_carries_the_weight(uphill):
    """Straight up against gravity, which is along -(n + a forward + b left)."""
    vehicle = shipped("differential_drive")
    load, _ = steady_turn(vehicle, 0.0).load(uphill=uphill)
    weight = G * sum(inertia.mass for inertia in vehicle.model.inertias)
    up = np.array([*uphill, 1.0]) / np.linalg.norm([*uphill, 1.0])
    np.testing.assert_allclose(load.axes.T @ load.split, weight * up, rtol=0, atol=1e-9 * weight)


def test_what_stands_in_a_corner_presses_on_all_wheels():
    """A plane through its loads would have the far wheel pull; at rest it is what a state asks for.
    """
    parts, wheels = [link("base", 6.0, com=(0.7, 0.6, 0.1))], []
    for i, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        parts += [link(f"wheel{i}", 0.1), joint(f"j{i}", "base", f"wheel{i}", (x, y, 0.1))]
        wheels.append(Wheel(f"j{i}", "disc", 0.1, driven=True))
    vehicle = nhmech.load(robot(*parts), wheels=wheels, skid=1.5)
    demand = steady_turn(vehicle, 0.0)
    load, _ = demand.load()
    normals = [force for (_, way), force in zip(load.names, load.split) if way == "normal"]
    assert load.supported and min(normals) >= 0 and sum(normals) == pytest.approx(
        6.4 * G, rel=1e-12)
    shortest = load.split - load.kernel @ (load.kernel.T @ load.split)
    assert shortest.min() < -0.1
    there = contact_load(vehicle, 0.0, demand.q, np.zeros(vehicle.algebroid.nv), np.zeros(4))
    np.testing.assert_allclose(load.split, there.split, rtol=1e-9, atol=1e-9)


def test_the_standard_circle_is_of_one_metre_at_one_metre_per_second():
    found = limits(shipped("differential_drive"), MU)
    assert found == limits(shipped("differential_drive"), MU, radius=1.0, speed=1.0)


# -- one side only ---------------------------------------------------------------------------------
@pytest.mark.parametrize("y", [0.08, -0.08])
def test_a_load_to_one_side_gives_way_in_the_turn_that_lifts_the_other(y):
    """The limit is that of the worse side, and says which; mirrored loads have the same."""
    found, mirrored = (limits(wheeled(com=(X, side * y, H)), MU, radius=1.5) for side in (1, -1))
    side, other = ("left", "right") if y < 0 else ("right", "left")
    for what in ("slip", "lift_off"):
        assert getattr(found, what).when == f"turning {side}"
        assert getattr(mirrored, what).when == f"turning {other}"
        assert getattr(found, what).value == pytest.approx(getattr(mirrored, what).value, rel=1e-7)
    assert found.lift_off.names == (side[0],) and found.across.when == f"its {side} side uphill"
    assert found.across.value == pytest.approx(mirrored.across.value, rel=1e-7)
    # statics about the axle's middle: a = w^2 (-X, R -+ y) of the centre of mass
    squared = G * (1 - X / L - abs(y) / B) / (X * H / L + (1.5 + abs(y)) * H / B)
    assert found.lift_off.value == pytest.approx(1.5 * squared ** 0.5, rel=WITHIN)


@pytest.mark.parametrize("efforts, name", [((0.5, 2.5), "l"), ((2.5, 0.5), "r")])
def test_the_weaker_drive_sets_the_limit(efforts, name):
    """Both push alike on a straight line: m a = 2 tau / r with the smaller tau."""
    found = limits(wheeled(efforts=efforts), MU)
    for limit in (found.acceleration, found.deceleration):
        assert limit.value == pytest.approx(2 * 0.5 / R / M, rel=WITHIN)
        assert limit.cause is Cause.EFFORT and limit.names == (name,)
    assert sin(found.up.value) == pytest.approx(2 * 0.5 / R / M / G, rel=WITHIN)


@pytest.mark.parametrize("mu, name", [({"l": 0.3, "r": 0.6}, "l"), ({"l": 0.6, "r": 0.3}, "r")])
def test_the_wheel_of_less_friction_slips_first(mu, name):
    found = limits(wheeled(), mu)
    assert found.acceleration.value == pytest.approx(G * 0.3 * (L - X) / (L - 0.3 * H), rel=WITHIN)
    assert found.acceleration.names == found.deceleration.names == (name,)


def test_who_slips_is_read_where_nobody_lifts_yet():
    """The front would lift at an acceleration 1.2 times as large."""
    height = 0.3
    cart = wheeled(com=(X, 0.0, height))
    found = _Judge(cart, known_coefficients(cart, MU)).acceleration(1.0)
    assert found.value == pytest.approx(G * MU * (L - X) / (L - MU * height), rel=WITHIN)
    assert found.cause is Cause.SLIP and found.names == ("l", "r")
    assert found.value < G * X / height < 1.5 * found.value


def test_what_tips_over_at_rest_has_no_room():
    found = limits(wheeled(com=(-0.1, 0.0, H)), MU)
    for limit in (found.slip, found.lift_off, found.acceleration, found.up, found.across):
        assert limit.value in (0.0, None)
    assert found.lift_off.value == 0.0 and found.lift_off.names == ("ball",)
    assert found.lift_off.cause is Cause.LIFT_OFF
    assert lift_acceleration(wheeled(com=(-0.1, 0.0, H))) == inf


@pytest.mark.parametrize("mass, part, stands", [(M, 0.9, True), (3e5, 0.9, True),
                                                (3e5, 1.1, False)])
def test_a_pull_below_a_billionth_of_the_largest_force_is_rounding(mass, part, stands):
    """Of the ball in front, at rest, with a load that is centred above the axle but for that: the
    wheels bear half of the weight each. Braking presses the ball down."""
    behind = part * 1e-9 * L / 2
    cart = wheeled(com=(-1e-4 * L / mass - behind, 0.0, H), mass=mass)
    found = limits(cart, MU).deceleration
    if stands:
        assert found.value == pytest.approx(G * MU * L / (L + MU * H), rel=WITHIN)
        assert found.cause is Cause.SLIP
    else:
        assert (found.value, found.cause, found.names) == (0.0, Cause.LIFT_OFF, ("ball",))


@pytest.mark.parametrize("x, ahead", [(0.2, True), (0.3, False)])
def test_a_wheel_lifts_ahead_or_back_whichever_comes_first(x, ahead):
    """The front ball at a = g x / h ahead, the rear axle at g (L - x) / h back; unless the drives
    are too weak for that."""
    height = 0.6
    least = G * min(x, L - x) / height
    for share, seen in ((inf, True), (1.1, True), (0.9, False)):
        effort = share * least * M * R / 2
        cart = wheeled(com=(x, 0.0, height), efforts=(effort, effort))
        found = lift_acceleration(cart)
        assert found == (pytest.approx(least, rel=WITHIN) if seen else inf)
        assert lift_acceleration(cart) == found


@pytest.mark.parametrize("radius", [0.1, 2.5])
def test_the_top_speed_of_wheels_of_any_size(radius):
    """Of the outer wheel, (1 + B / R) V / r, for wheels that turn less than once a metre too."""
    more = '<limit effort="1e9" velocity="3.0"/>'
    parts = [link("base", 9.0, com=(0.5, 0, 0)), link("ball", 0.1)]
    for side, y in (("left", 1.2), ("right", -1.2)):
        parts += [link(side), joint(side, "base", side, (0, y, 0), more=more)]
    parts.append(joint("b", "base", "ball", (1.5, 0, 0.1 - radius), kind="fixed"))
    vehicle = nhmech.load(robot(*parts), wheels=[
        Wheel("left", "disc", radius), Wheel("right", "disc", radius),
        Wheel(None, "caster_ball", 0.1, link="ball", point=(0, 0, 0))])
    found = limits(vehicle, MU, radius=10.0).top_speed
    assert found.value == pytest.approx(3.0 * radius / (1 + 1.2 / 10.0), rel=1e-9)
    assert found.names == ("right",) and found.when == "turning left"


@pytest.mark.parametrize("motion", [dict(velocity=(0.3, 0, 0)), dict(velocity=(0, -0.1, 0)),
                                    dict(angular_velocity=(0, 0, 0.2))])
def test_ground_that_moves_in_any_way_is_refused(motion):
    with pytest.raises(nhmech.InputError, match="the ground moves; limits need ground at rest"):
        limits(shipped("differential_drive", nhmech.Ground(**motion)), MU)


@pytest.mark.parametrize("name", ["differential_drive", "ackermann_car", "mecanum", "omni", "rover",
                                  "skid_steer", "swerve", "trailers"])
def test_on_a_circle_no_row_asks_for_an_acceleration(name):
    """A dv/dt = 0 with dv/dt = 0: the base's twist is constant, and wheels alone turn."""
    demand = steady_turn(shipped(name), 0.1)
    A, gamma, _ = balance(demand.vehicle, 0.0, demand.q, 3 * demand.velocity,
                          np.zeros(demand.vehicle.constrained.system.u.numel()))
    np.testing.assert_allclose(A @ demand.velocity, 0.0, atol=1e-9)
    np.testing.assert_allclose(gamma, 0.0, atol=1e-9)


@pytest.mark.parametrize("speed", [2.0, -0.5])
def test_drives_hold_a_speed_against_their_damping(speed):
    """d V / r each, and nothing is left for the ground."""
    cart = shipped("differential_drive").with_parameters({
        "left_wheel_joint.damping": 0.02, "right_wheel_joint.damping": 0.03})
    load, efforts = steady_turn(cart, 0.0).load(speed)
    radius = cart.description.wheels[0].radius
    np.testing.assert_allclose(efforts, [0.02 * speed / radius, 0.03 * speed / radius], rtol=1e-9)
    along = [name.direction == "longitudinal" for name in load.names]
    np.testing.assert_allclose(load.split[along], 0.0, atol=1e-9 * load.size)
