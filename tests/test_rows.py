"""Constraint rows of a vehicle: what each says of a motion, which of them are kept first, and the
functions whose rates they are."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Ground, ModelError, Wheel
from nhmech.vehicle.rows import (
    COUPLED,
    FIXED_AXLE,
    FOLLOWER,
    HOLONOMIC,
    ROLLING,
    contact_rows,
    contact_span,
    linear_row,
)

MOVING = Ground((0.1, -0.2, 1.0), velocity=(0.5, -0.3, 0.2), angular_velocity=(0.03, -0.06, 0.3))


def values(vehicle, *outputs):
    s = vehicle.constrained.system
    function = ca.Function("values", [s.t, s.q, s.v], [ca.densify(one) for one in outputs])
    return lambda q, v, t=0.3: [one.full() for one in function.call([t, q, v])]


def any_state(vehicle, seed=0):
    rng = np.random.default_rng(seed)
    q = pin.integrate(vehicle.model, pin.neutral(vehicle.model),
                      rng.normal(size=vehicle.model.nv))
    return q, rng.normal(size=vehicle.model.nv)


def test_a_row_of_a_speed_is_its_form_and_what_is_left_at_rest():
    v = ca.SX.sym("v", 3)
    row = linear_row("one", 2 * v[0] - 3 * v[2] + 0.5, v)
    assert (row.name, row.phi, row.priority, row.component) == ("one", None, ROLLING, None)
    np.testing.assert_array_equal(ca.evalf(row.form).full(), [[2, 0, -3]])
    assert float(row.offset) == 0.5


# contacts, couplings and mimic joints by the order in which they are kept
ORDERS = {
    "ackermann_car": {"/normal": HOLONOMIC, "coupling": COUPLED, "rear_left_wheel_joint/lateral":
                      FIXED_AXLE, "front_left_wheel_joint/lateral": ROLLING,
                      "front_right_wheel_joint/lateral": FOLLOWER, "/longitudinal": ROLLING},
    "swerve": {"/normal": HOLONOMIC, "coupling": COUPLED, "/longitudinal": ROLLING,
               "front_left_wheel_joint/lateral": ROLLING,
               "rear_right_wheel_joint/lateral": FOLLOWER},
    "disc": {"/normal": HOLONOMIC, "gauge": HOLONOMIC, "/longitudinal": ROLLING,
             "/lateral": FIXED_AXLE},
    "mecanum": {"/normal": HOLONOMIC, "/roller": ROLLING},
    "skid_steer": {"/normal": HOLONOMIC, "/longitudinal": ROLLING, "mid_axle/lateral": FIXED_AXLE},
}


@pytest.mark.parametrize("name", ORDERS)
def test_rows_are_kept_in_order(name):
    """What must hold, what couples, fixed axles, what rolls, and followers, which only repeat."""
    assert HOLONOMIC < COUPLED < FIXED_AXLE < ROLLING < FOLLOWER
    d = shipped(name).constrained.distribution
    for end, priority in ORDERS[name].items():
        found = {d.priority[i] for i, row in enumerate(d.names) if row.endswith(end)}
        assert found == {priority}, end


@pytest.mark.parametrize("name", ["ackermann_car", "trailers", "disc", "bicycle", "swerve"])
def test_rows_with_a_function_are_its_rate(name):
    """At any state, on the constraints or not, where the ground moves."""
    vehicle = shipped(name, MOVING)
    s, d = vehicle.constrained.system, vehicle.constrained.distribution
    rate = ca.jtimes(d.phi, s.q, s.algebroid.anchor @ s.v) + ca.jacobian(d.phi, s.t)
    row = (d.A @ s.v + d.b)[list(d.phi_rows)]
    names = [d.names[i] for i in d.phi_rows]
    assert {name.rpartition("/")[2] for name in names} >= {
        "ackermann_car": {"normal", "coupling"}, "trailers": {"normal", "coupling"},
        "disc": {"normal", "gauge"}}.get(name, {"normal"})
    for seed in range(3):
        found, said = values(vehicle, rate, row)(*any_state(vehicle, seed))
        np.testing.assert_allclose(np.abs(found), np.abs(said), rtol=1e-9, atol=1e-11)


def test_contacts_give_the_normal_row_first_and_leave_out_what_is_released():
    vehicle = shipped("tricycle")
    contact, v = vehicle.contacts[0], vehicle.constrained.system.v
    height = ca.SX.sym("height")
    rows = contact_rows(contact, v, height, FOLLOWER)
    assert [(row.component.direction, row.priority) for row in rows] == [
        ("normal", HOLONOMIC), ("longitudinal", ROLLING), ("lateral", FOLLOWER)]
    assert rows[0].phi is height and not any(row.phi is not None for row in rows[1:])
    assert [row.name for row in rows] == [f"{contact.name}/{row.component.direction}"
                                          for row in rows]
    released = contact_rows(contact, v, height, FOLLOWER, True)
    assert [row.name for row in released] == [row.name for row in rows[:2]]


def leaning(kind: str) -> nhmech.Vehicle:
    """One wheel on a base that leans with it."""
    parts = [link("base", 3.0, (0.1, 0.2, 0.3)), link("w", 0.5), joint("spin", "base", "w")]
    return nhmech.load(robot(*parts), wheels=[Wheel("spin", kind, 0.2)], ground=MOVING)


def test_a_wheel_that_does_not_slip_has_a_sparser_basis_of_its_rows():
    """A = R B and b = R c with R orthogonal, where it leans; rollers and balls have none."""
    vehicle = leaning("disc")
    contact, d = vehicle.contacts[0], vehicle.constrained.distribution
    span = contact_span(contact, vehicle.constrained.system.v)
    assert span.rows == ("spin/normal", "spin/longitudinal", "spin/lateral") == d.names
    q, v = any_state(vehicle)
    A, b, forms, offsets, R = values(vehicle, d.A, d.b, span.forms, span.offsets,
                                     span.rotation)(q, v)
    np.testing.assert_allclose(R @ forms, A, rtol=0, atol=1e-12)
    np.testing.assert_allclose(R @ offsets, b, rtol=0, atol=1e-12)
    np.testing.assert_allclose(R @ R.T, np.eye(3), rtol=0, atol=1e-12)
    assert len(vehicle.reduced.distribution.spans) == 1
    slipping = leaning("omni")
    assert contact_span(slipping.contacts[0], slipping.constrained.system.v) is None
    # nor has a wheel that stays upright, whose directions only turn about its axle
    assert not shipped("tricycle").reduced.distribution.spans


# -- skid steering by the middle of the wheels -----------------------------------------------------
def carrier(places, steered=(), axes=None, skid=1.7, ground=MOVING):
    """Wheels of radius 0.1 at (x, y) of a base, some of them below a steering joint; a ball."""
    parts = [link("base", 9.0, (0.3, 0.4, 0.5)), link("ball", 0.1),
             joint("to_ball", "base", "ball", (1.5, 0, -0.05), kind="fixed")]
    wheels = [Wheel(None, "caster_ball", 0.05, link="ball")]
    for i, (x, y) in enumerate(places):
        above = "base"
        if i in steered:
            parts += [link(f"fork{i}", 0.3), joint(f"steer{i}", "base", f"fork{i}", (x, y, 0),
                                                   axis=(0, 0, 1))]
            above, x, y = f"fork{i}", 0, 0
        parts += [link(f"w{i}", 0.4), joint(f"j{i}", above, f"w{i}", (x, y, 0),
                                            axis=(0, (axes or {}).get(i, 1), 0))]
        wheels.append(Wheel(f"j{i}", "disc", 0.1))
    return nhmech.load(robot(*parts), wheels=wheels, skid=skid, ground=ground)


def test_the_middle_of_skidding_wheels_has_no_lateral_speed_over_the_ground():
    """Rows by hand: the mean of lateral speeds, and along each wheel the yaw rate on a track that
    is wider by a factor, on either side of the middle."""
    places = [(0.5, 0.3), (0.1, -0.4), (-0.3, 0.35)]
    vehicle = carrier(places, axes={1: -1})
    d, n = vehicle.constrained.distribution, np.array(MOVING.normal)
    q, v = any_state(vehicle)
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.2, -0.3, 0.8)).coeffs()
    found, = values(vehicle, d.A @ vehicle.constrained.system.v + d.b)(q, v)
    found = dict(zip(d.names, found.ravel()))
    assert [*found] == [*(f"{name}/normal" for name in ("ball", "j0", "j1", "j2")),
                        *(f"j{i}/longitudinal" for i in range(3)), "mid_axle/lateral"]
    R = pin.Quaternion(q[3:7]).toRotationMatrix()
    omega, middle = R @ v[3:6], np.mean(places, axis=0)
    rates = dict(zip(vehicle.algebroid.v_names, v))
    aside = []
    for i, (x, y) in enumerate(places):
        axle = R @ (0, -1 if i == 1 else 1, 0)
        along = np.cross(axle, n) / np.linalg.norm(np.cross(axle, n))
        left = np.cross(n, along)
        centre = R @ (x, y, 0)
        arm = -0.1 * np.cross(along, axle)
        ground = MOVING.velocity + np.cross(MOVING.angular_velocity, q[:3] + centre + arm
                                            - 0.3 * np.array(MOVING.velocity))
        speed = (R @ v[:3] + np.cross(omega, centre)
                 + np.cross(omega + rates[f"j{i}"] * axle, arm) - ground)
        wider = 0.7 * (omega @ n) * np.cross(n, R @ (x - middle[0], y - middle[1], 0))
        assert found[f"j{i}/longitudinal"] == pytest.approx((speed + wider) @ along, rel=1e-9)
        aside.append(speed @ left * (-1 if i == 1 else 1))
    assert found["mid_axle/lateral"] == pytest.approx(np.mean(aside), rel=1e-9)


def test_skid_steering_is_for_wheels_on_the_base_itself():
    """Two at least; a steered one keeps its own rows, and so does a ball."""
    made = carrier([(0, 0.3), (0, -0.3), (-0.9, 0)], steered=(2,))
    assert {"j2/lateral", "mid_axle/lateral"} <= {*made.constrained.distribution.names}
    assert "j0/lateral" not in made.constrained.distribution.names
    for steered, words in (((1,), "there is one among ball, j0, j1"),
                           ((0, 1), "there are none among ball, j0, j1")):
        with pytest.raises(ModelError, match=f"fixed to the base and do not steer; {words}"):
            carrier([(0, 0.3), (0, -0.3)], steered=steered)
