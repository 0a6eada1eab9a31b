"""Friction coefficients that are given, the wheels' own, and variants of a vehicle for other
laws."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf, nan

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Ground, InputError, MechanicsError, ModelError, Wheel
from nhmech.urdf import MidAxle, Released
from nhmech.urdf.description import Description, Scrubbing
from nhmech.urdf.notice import NoticeKind
from nhmech.vehicle.build import build
from nhmech.vehicle.contact import mounts
from nhmech.vehicle.friction import (
    as_commanded,
    as_rolling,
    own_friction,
    read_friction,
    with_friction,
    with_scrubbing,
)
from nhmech.vehicle.model import full_model
from nhmech.vehicle.reactions import solve_saddle
from nhmech.vehicle.record import record, restore

CART = "differential_drive"


def test_a_coefficient_is_for_all_wheels_or_for_those_that_are_named():
    cart = shipped(CART)
    names = cart.contact_names
    assert read_friction(cart, None) == {} and read_friction(cart, {}) == {}
    assert read_friction(cart, 0.5) == dict.fromkeys(names, 0.5)
    assert read_friction(cart, 0.5, ("arm",)) == dict.fromkeys([*names, "arm"], 0.5)
    given = {names[1]: inf, "arm": 5e-324}
    found = read_friction(cart, given, ("arm",))
    assert found == given and found is not given
    with pytest.raises(InputError, match="mu: wheel"):
        read_friction(cart, given)


@pytest.mark.parametrize("mu", [0.0, -0.5, nan, -inf])
def test_what_is_no_coefficient_is_refused(mu):
    name = shipped(CART).contact_names[1]
    with pytest.raises(InputError, match=f"mu of '{name}' is {mu!r}; a friction coefficient is a "
                                         "positive number, or inf"):
        read_friction(shipped(CART), {name: mu})


def test_a_wheel_has_its_own_coefficient_or_that_of_the_file_or_none():
    cart = shipped(CART)
    left, right, ball = (replace(wheel, mu=None) for wheel in cart.description.wheels)
    changed = replace(cart, description=replace(
        cart.description, mu={left.name: 0.4, right.name: 0.3},
        wheels=(left, replace(right, mu=0.9), ball)))
    assert own_friction(changed) == {left.name: 0.4, right.name: 0.9, ball.name: None}


def test_given_coefficients_are_those_of_the_wheels_and_the_others_keep_their_own():
    cart = with_friction(shipped(CART), 0.7)
    assert with_friction(cart, None) is cart
    name = cart.contact_names[0]
    other = with_friction(cart.with_parameters({"gravity": 7.0}).with_wrench("base_link"),
                          {name: 0.2})
    assert [wheel.mu for wheel in other.description.wheels] == [0.2, 0.7, 0.7]
    assert other.parameters.values["gravity"] == 7.0 and other.wrench_bodies == ("base_link",)


def test_wheels_that_scrub_by_friction_are_commanded_by_the_mid_axle_model():
    skid = shipped("skid_steer").with_wrench("base_link").with_parameters({"gravity": 7.0})
    assert skid.description.track_factor is not None and as_commanded(skid) is skid
    scrubbing = with_scrubbing(skid)
    assert scrubbing.description.skid == Scrubbing()
    said = [notice.text for notice in scrubbing.notices if notice.kind is NoticeKind.SKID]
    assert said == ["skid steering by friction: without the mid-axle model, the wheels also hold "
                    "sideways until they slide"]
    kept = {notice.text for notice in skid.notices if notice.kind is not NoticeKind.SKID}
    assert kept <= {notice.text for notice in scrubbing.notices}
    assert with_scrubbing(scrubbing) is scrubbing
    commanded = as_commanded(scrubbing)
    assert commanded.description.skid == MidAxle() and as_commanded(scrubbing) is commanded
    for made in (scrubbing, commanded):
        assert made.wrench_bodies == ("base_link",) and made.parameters.values["gravity"] == 7.0
    cart = shipped(CART)
    assert as_commanded(cart) is cart is with_scrubbing(cart) is as_rolling(cart)
    assert as_rolling(scrubbing) is commanded


def test_a_vehicle_on_tyres_has_one_that_rolls():
    """Its own wheels, without their tyres; those that slide stay as they are."""
    drive = shipped("tricycle")
    left, *others = drive.description.wheels
    tyred = build(replace(drive.description, wheels=(
        replace(left, law="tyre", tyre="longitudinal.stiffness=1e4 lateral.stiffness=1e4"),
        replace(others[0], law="coulomb", mu=0.5), *others[1:])), drive.ground)
    rolling = as_rolling(tyred)
    assert [(wheel.law, wheel.tyre, wheel.mu) for wheel in rolling.description.wheels] == [
        ("rolling", None, left.mu), ("coulomb", None, 0.5), ("rolling", None, others[1].mu)]
    assert as_rolling(tyred) is rolling and rolling.ground == tyred.ground
    heavy = as_rolling(tyred.with_parameters({"payload.mass": 2.0}).with_wrench("base_link"))
    assert heavy.parameters.values["payload.mass"] == 2.0 and heavy.wrench_bodies == ("base_link",)


@pytest.mark.parametrize("skid", [None, MidAxle(), MidAxle(1.7), Scrubbing(),
                                  Released(("front_left_wheel_joint", "rear_left_wheel_joint"))])
def test_what_gives_way_is_recorded_with_a_vehicle(skid):
    """As JSON, with its ground and its numbers."""
    vehicle = shipped("skid_steer", Ground(normal=(0.0, 0.6, 0.8))).with_wrench("base_link")
    changed = replace(vehicle, description=replace(vehicle.description, skid=skid)) if skid else (
        shipped(CART))
    made = restore(json.loads(json.dumps(record(changed))))
    assert made.description.skid == skid and made.ground == changed.ground
    assert made.description.wheels == changed.description.wheels
    assert made.wrench_bodies == changed.wrench_bodies
    assert made.parameters.values == changed.parameters.values
    assert made.description == replace(changed.description, confined=True)


def test_slip_speeds_are_those_of_wheels_on_tyres_alone():
    """S v + s, longitudinal and lateral, of the contacts' velocities over the ground."""
    drive = shipped("tricycle")
    slipping = replace(drive.description.wheels[1], law="tyre",
                       tyre="longitudinal.stiffness=1e4 lateral.stiffness=1e4")
    tyred = build(replace(drive.description, wheels=(
        drive.description.wheels[0], slipping, drive.description.wheels[2])),
        Ground(velocity=(0.3, -0.2, 0.0)))
    q, v = tyred.configuration(), np.arange(1.0, tyred.algebroid.nv + 1)
    S, s = (part.full() for part in tyred.functions.slip(0.0, q, tyred.theta))
    contact, system = tyred.contacts[1], tyred.constrained.system
    speeds = ca.Function("speeds", [system.t, system.q, system.v], [ca.vertcat(
        contact.speed("longitudinal"), contact.speed("lateral"))])(0.0, q, v).full()
    np.testing.assert_allclose(S @ v[:, None] + s, speeds, rtol=0, atol=1e-12)
    assert drive.functions.slip(0.0, q, drive.theta)[0].shape == (0, tyred.algebroid.nv)


# -- what cannot be built or solved ----------------------------------------------------------------
def test_a_moving_part_without_mass_makes_the_saddle_system_singular():
    parts = [link("base", 3.0), '<link name="arm"/>', joint("swing", "base", "arm")]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(f"{side}_wheel", 0.4), joint(side, "base", f"{side}_wheel", (0, y, 0))]
    wheels = [Wheel("left", "disc", 0.1), Wheel("right", "disc", 0.1)]
    held = nhmech.load(robot(*parts), wheels=wheels)
    vehicle = build(replace(held.description, free=("swing",)), held.ground)
    rest = np.zeros(vehicle.algebroid.nv)
    with pytest.raises(MechanicsError, match="saddle system of 'rig' is singular at q = .*: a "
                                             "moving body has no mass"):
        solve_saddle(vehicle, 0.0, vehicle.configuration(), rest, np.zeros(2))


def test_what_pinocchio_cannot_read_is_said_with_the_name_of_the_robot():
    description = Description(xml="<robot/>", name="r", root="", wheels=(), rolling=())
    with pytest.raises(ModelError, match="^r: Pinocchio cannot read this URDF"):
        full_model(description)


def test_a_wheel_is_on_a_joint_that_carries_a_link():
    model = pin.Model()
    root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    bare = model.addJoint(root, pin.JointModelRY(), pin.SE3.Identity(), "spin")
    wheel = Wheel("spin", radius=0.1)
    model.addBodyFrame("other", root, pin.SE3.Identity(), 0)
    with pytest.raises(ModelError, match="wheel 'spin': joint 'spin' carries no link"):
        mounts(model, [wheel])
    model.addBodyFrame("rim", bare, pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), 0)
    mount, = mounts(model, [wheel])
    np.testing.assert_allclose(mount.centre, (0, 0.2, 0), rtol=1e-12, atol=1e-15)
