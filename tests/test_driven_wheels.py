"""Rates that a twist gives to driven wheels: each rolls along itself, on ground that moves too."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support import askew, joint, link, robot, shipped

import nhmech
from nhmech.control.twist import TwistDrive
from nhmech.control.twist_rule import (
    driven_steering,
    driven_wheels,
    following_part,
    guiding_axles,
    twist_function,
)
from nhmech.urdf.description import JointLimits


@pytest.mark.parametrize("normal", [(0, 0, 1), (-0.1, 0.06, 1)])
@pytest.mark.parametrize("name", ["differential_drive", "mecanum", "omni"])
def test_wheels_roll_on_ground_that_moves(name, normal):
    """A v + b = 0 along each wheel, with v from the twist and the rates."""
    n = np.array(normal) / np.linalg.norm(normal)
    along = np.array([0.3, -0.2, 0.0]) - n * (n @ (0.3, -0.2, 0.0))
    vehicle = shipped(name, nhmech.Ground(normal=normal, velocity=tuple(along)))
    state = nhmech.Simulator(vehicle).reset(pose=(0.2, 0.1, 0.7))
    twist = np.array([0.2, 0.1 * (name != "differential_drive"), -0.3])
    drive = TwistDrive(vehicle, twist)
    rates = drive(0.0, state)[1].values
    assert drive.possible_twist == pytest.approx(twist, rel=1e-12)
    R = state.T_WB[:3, :3]
    ahead = np.cross(R[:, 1], n)
    ahead /= np.linalg.norm(ahead)
    v = np.zeros(vehicle.algebroid.nv)
    v[:3] = R.T @ (twist[0] * ahead + twist[1] * np.cross(n, ahead))
    v[3:6] = R.T @ n * twist[2]
    wheels = driven_wheels(vehicle)
    v[[wheel.place for wheel in wheels]] = [rates[wheel.joint] for wheel in wheels]
    A, b, _ = vehicle.functions.rows(0.0, state.q, vehicle.theta)
    slip = dict(zip([(row.contact, row.direction) for row in vehicle.contact_rows],
                    A @ v + np.ravel(b)))
    told = {contact.name for contact in vehicle.contacts if contact.mount.wheel.joint in rates}
    rolled = [speed for (contact, direction), speed in slip.items()
              if contact in told and direction in ("longitudinal", "roller")]
    assert len(rolled) == len(rates) and np.abs(b).max() > 0.01
    np.testing.assert_allclose(rolled, 0.0, rtol=0, atol=1e-12)
    for much in (100, -100):        # the first wheel to come to its limit goes at it
        fastest = drive.follow(0.0, state, much * twist)[1].values
        assert max(abs(rate) / vehicle.limits[wheel].velocity for wheel, rate in
                   fastest.items()) == pytest.approx(1, rel=1e-12)


def test_wheels_that_a_belt_turns_beyond_their_limit_go_no_faster():
    """A belt that runs back makes a robot that stands in the room drive: at more than its motors
    can, it goes nowhere ahead, and back as it is told."""
    own = shipped("differential_drive")
    radius = own.contacts[0].mount.wheel.radius
    limit = own.limits["left_wheel_joint"].velocity
    vehicle = shipped("differential_drive",
                      nhmech.Ground(velocity=(-radius * (limit + 2.0), 0.0, 0.0)))
    state = nhmech.Simulator(vehicle).reset()
    drive = TwistDrive(vehicle, (0.0, 0.0, 0.0))
    for forward, possible in ((0.5, 0.0), (-0.5, -0.5)):
        rates = drive.follow(0.0, state, (forward, 0.0, 0.0))[1].values
        assert drive.possible_twist == pytest.approx((possible, 0.0, 0.0), abs=1e-12)
        assert rates["left_wheel_joint"] == pytest.approx(limit + 2 + possible / radius, rel=1e-9)


def test_a_wheel_on_a_tyre_is_turned_as_if_it_rolled():
    """By what its hub goes ahead relative to the belt, over its radius."""
    text = nhmech.urdf_path("differential_drive").read_text()
    tyre = dict(law="tyre", tyre="longitudinal.stiffness=1e4 lateral.stiffness=1e4")
    own = shipped("differential_drive")
    vehicle = nhmech.load(text, ground=nhmech.Ground(velocity=(0.3, 0.0, 0.0)), wheels=[
        nhmech.Wheel(wheel.joint, "disc", wheel.radius, **tyre) if wheel.joint else wheel
        for wheel in own.description.wheels])
    state = nhmech.Simulator(vehicle).reset()
    rates = TwistDrive(vehicle, (0.5, 0.0, 0.4))(0.0, state)[1].values
    for contact in own.contacts:
        if (joint := contact.mount.wheel.joint) in rates:
            hub = 0.5 - 0.4 * contact.mount.centre[1]
            assert contact.mount.wheel.radius * rates[joint] == pytest.approx(hub - 0.3, rel=1e-9)


@pytest.mark.parametrize("size", [1.0, 7.0])
@pytest.mark.parametrize("row, part", [
    ((0, 1, 0.3), 1), ((1, 1.005e-3, 0), 1), ((1, -1.005e-3, 0), 1), ((1, 0.995e-3, 0), 0),
    ((1.005e-3, 0, 1), 0), ((-0.995e-3, 0, 1), 2), ((0, 0, 1), 2)])
def test_what_follows_is_the_first_speed_that_the_fixed_axle_sees(row, part, size):
    """From a thousandth of its row on."""
    axle = SimpleNamespace(straight=size * np.array(row, dtype=float))
    assert following_part(SimpleNamespace(steering=SimpleNamespace(fixed=(axle,)))) == part
    assert following_part(SimpleNamespace(steering=SimpleNamespace(fixed=()))) is None


def test_the_lateral_speed_is_what_the_axle_makes_of_the_rest():
    """A base whose axle is at (0.3, 0.07) in it, turned by 0.4: there nothing moves along it."""
    vehicle = askew("differential_drive")
    drive = TwistDrive(vehicle, (0.5, 0.2, 0.3))
    drive(0.0, nhmech.Simulator(vehicle).state)
    lateral = np.tan(0.4) * (0.5 - 0.07 * 0.3) - 0.3 * 0.3
    assert drive.possible_twist == pytest.approx((0.5, lateral, 0.3), rel=1e-9)


def test_who_guides_a_base():
    """What is steered without a trail; of what a wheel trails, driven joints that cannot go all the
    way round."""
    spans = {"steered": 1.0, "passive": 1.0, "led": 3.0, "short": 6.2, "full": 6.4, "wide": 9.0}
    axles = {name: SimpleNamespace(steering=name) for name in (*spans, "free")}
    vehicle = SimpleNamespace(
        driven=("led", "short", "full", "wide", "free"),
        limits={name: JointLimits(0.1 - span / 2, 0.1 + span / 2) for name, span in spans.items()},
        steering=SimpleNamespace(steered=(axles["steered"], axles["led"]), trailing=tuple(
            axles[name] for name in ("passive", "short", "full", "wide", "free"))))
    assert [axle.steering for axle in guiding_axles(vehicle)] == ["steered", "led", "short"]
    assert [axle.steering for axle in driven_steering(vehicle)] == ["led", "short"]


def modules(x: float, y: float) -> str:
    """Two driven wheels that steer, side by side, and two balls behind them."""
    wheel = ('<collision><origin rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="0.1" '
             'length="0.04"/></geometry></collision>')
    ball = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
    parts = [link("base", 20.0, (0.5, 0.5, 0.8), com=(x - 0.2, 0.0, 0.1))]
    for side, sign in (("left", 1), ("right", -1)):
        parts += [link(f"{side}_fork", 0.5), joint(f"{side}_steer", "base", f"{side}_fork",
                                                   (x, sign * y, 0.1), axis=(0, 0, 1)),
                  link(f"{side}_wheel", 0.5, body=wheel),
                  joint(f"{side}_spin", f"{side}_fork", f"{side}_wheel"),
                  link(f"{side}_ball", 0.1, body=ball),
                  joint(f"{side}_ball_joint", "base", f"{side}_ball", (x - 0.6, sign * y, 0.05),
                        kind="fixed")]
    drives = "".join(f'<drive joint="{side}_{what}"/>' for side in ("left", "right")
                     for what in ("steer", "spin"))
    return robot(*parts, f"<nhmech>{drives}</nhmech>")


@pytest.mark.parametrize("part, is_one", [(0.995, True), (1.005, False)])
def test_axles_that_differ_by_a_thousandth_are_one(part, is_one):
    """Of two axles side by side that turn by an angle to either side, 2 sin of it is what one has
    beside the other: beyond, they bar the base to go ahead."""
    vehicle = nhmech.load(modules(0.8, 0.25))
    steering, still = vehicle.steering, np.zeros(vehicle.algebroid.nv)
    assert [axle.steering for axle in steering.steered] == ["left_steer", "right_steer"]
    row = steering.steered[0].straight
    angle = np.arcsin(0.5e-3 * part * np.linalg.norm(row))
    rates = twist_function(vehicle)(0.0, vehicle.configuration(), still, vehicle.theta,
                                    [angle, -angle], (0.3, 0.0, 0.0), np.inf)[1].full().ravel()
    assert np.abs(rates).max() == pytest.approx(3.0 if is_one else 0.0, abs=0.01)
    assert np.linalg.norm(row) > 1.2
