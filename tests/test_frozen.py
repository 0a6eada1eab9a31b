"""Components of the attitude that the contacts keep constant, and the short symbols of the dynamics
that are written without them."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import Ground, ModelError, Wheel
from nhmech.mechanics.algebroid import rotation
from nhmech.vehicle.symmetry import check_reduction, find_frozen

NAN = np.nan
MOVING = Ground(normal=(0.1, 0.2, 1), velocity=(0.1, 0.2, 0.3), angular_velocity=(0.03, 0.06, 0.3))
SLOPE = Ground.inclined(0.2, 0.3)


def pitched_cart():
    """Two wheels of radius 0.1, and a ball of radius 0.06 that is 0.3 m behind their axle and 0.05
    m below it."""
    parts = [link("base", 4.0), link("ball", 0.1),
             joint("to_ball", "base", "ball", (-0.3, 0, -0.05), kind="fixed")]
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(side, 0.2), joint(f"{side}_wheel", "base", side, (0, y, 0))]
    wheels = [Wheel("left_wheel", "disc", 0.1), Wheel("right_wheel", "disc", 0.1),
              Wheel(None, "caster_ball", 0.06, link="ball")]
    return nhmech.load(robot(*parts), wheels=wheels)


def frozen(vehicle):
    n = rotation(vehicle.algebroid.q[3:7]).T @ ca.SX(ca.DM(np.array(vehicle.ground.normal)))
    return find_frozen(vehicle.constrained, n, vehicle.parameters)


# components of the ground's normal in the base's frame; NaN for those that change
FROZEN = {"tricycle": (0, 0, 1), "trailers": (0, 0, 1), "pendulum": (NAN, 0, NAN),
          "disc": (0, NAN, NAN), "bicycle": (NAN, NAN, NAN), "ball": (NAN, NAN, NAN),
          "sled": (0, 0, 1)}


@pytest.mark.parametrize("ground", [Ground(), SLOPE, MOVING], ids=["level", "slope", "moving"])
@pytest.mark.parametrize("name", ["tricycle", "pendulum", "disc", "bicycle"])
def test_what_wheels_hold_of_the_normal_is_constant(name, ground):
    """Pitch and roll of what stands on three, the level axle of two, the gauge of a disc."""
    found = frozen(shipped(name, ground))
    np.testing.assert_array_equal(found, FROZEN[name])
    assert not np.signbit(found[found == 0]).any()


@pytest.mark.parametrize("name", FROZEN)
def test_zeros_and_ones_are_exact(name):
    np.testing.assert_array_equal(frozen(shipped(name)), FROZEN[name])


def test_what_is_constant_at_some_poses_alone_is_not_frozen():
    """A bicycle whose samples are all upright could lean all the same. Rounding is taken off."""
    vehicle = shipped("bicycle")
    upright = replace(vehicle.constrained, samples=np.array([
        vehicle.configuration((x, 0.3, 0.5)) for x in (0.1, 0.2, 0.7)]))
    n = rotation(vehicle.algebroid.q[3:7]).T @ ca.SX([0, 0, 1])
    assert np.isnan(find_frozen(upright, n, vehicle.parameters)[1])
    car = shipped("tricycle")
    n = (1 - 3e-14) * (rotation(car.algebroid.q[3:7]).T @ ca.SX([0, 0, 1]))
    assert find_frozen(car.constrained, n, car.parameters)[2] == 1


def held_by(*forms):
    """What is constant where these forms (nv,) in v are all that is held of an upright base."""
    vehicle = shipped("tricycle")
    d, n = vehicle.constrained.distribution, rotation(vehicle.algebroid.q[3:7]).T @ ca.SX([0, 0, 1])
    A = ca.SX(d.A)
    A[list(d.phi_rows), :] = ca.DM(np.array(forms))
    return find_frozen(replace(vehicle.constrained, distribution=replace(d, A=A)), n,
                       vehicle.parameters)


HEAVE, ROLL, PITCH, ALONG = np.eye(shipped("tricycle").algebroid.nv)[[2, 3, 4, 0]]


@pytest.mark.parametrize("off, is_held", [(0.9e-9, True), (1.1e-9, False), (1e-5, False)])
def test_a_component_is_held_where_the_forms_span_its_rate_up_to_rounding(off, is_held):
    """Roll with a little of the forward speed leaves so much of roll; roll turns n_y, pitch n_x."""
    np.testing.assert_array_equal(held_by(HEAVE, ROLL + off * ALONG, PITCH),
                                  [0, 0 if is_held else NAN, 1])
    np.testing.assert_array_equal(held_by(HEAVE, ROLL, PITCH + off * ALONG),
                                  [0 if is_held else NAN, 0, 1])


@pytest.mark.parametrize("apart, is_held", [(1e-6, True), (1e-11, False)])
def test_forms_that_are_apart_by_more_than_rounding_span_a_plane(apart, is_held):
    """Roll, and roll with a little pitch: powers of two, so that nothing is lost."""
    apart = 2.0 ** np.round(np.log2(apart))
    np.testing.assert_array_equal(held_by(HEAVE, ROLL, ROLL + apart * PITCH),
                                  [0 if is_held else NAN, 0, 1])


@pytest.mark.parametrize("name", ["tricycle", "pendulum", "bicycle"])
def test_the_short_rows_are_the_whole_ones_on_moving_ground(name):
    """Their affine parts and heights as well."""
    vehicle = shipped(name, MOVING)
    both = [one.constraint_function() for one in (vehicle.constrained, vehicle.reduced)]
    for q in vehicle.constrained.configurations[:3]:
        for whole, short in zip(*(function(0.3, q, vehicle.theta) for function in both)):
            np.testing.assert_allclose(short.full(), whole.full(), rtol=0, atol=1e-12)


def test_a_base_that_stands_askew_keeps_its_pitch():
    """n = (sin, 0, cos) with 0.3 sin + 0.05 cos = 0.1 - 0.06."""
    found = frozen(pitched_cart())
    assert found[1] == 0 and np.hypot(found[0], found[2]) == pytest.approx(1, rel=1e-12)
    assert 0.3 * found[0] + 0.05 * found[2] == pytest.approx(0.04, rel=1e-12, abs=0)


@pytest.mark.parametrize("name, held", [
    ("rear_left_wheel_joint.radius", False), ("base_link.mass", True), ("gravity", True)])
def test_nothing_is_constant_where_a_radius_may_change(name, held):
    """A mass does not turn the base; two symbols of which one is a radius do."""
    vehicle = shipped("tricycle")
    for symbolic in ((name,), (name, "front_wheel.mass")):
        changed = vehicle.with_parameters(symbolic=symbolic)
        assert np.isfinite(frozen(changed)).all() == held


@pytest.mark.parametrize("ground", [Ground(), SLOPE, MOVING], ids=["level", "slope", "moving"])
@pytest.mark.parametrize("name", ["tricycle", "pendulum", "disc", "bicycle"])
def test_short_symbols_have_the_rates_of_what_they_mean(name, ground):
    """Along any motion of the root: axes fixed in W turn against it, and the position over the
    ground is seen from it. What stands for the normal, the vertical and the axes is R^T of them."""
    vehicle = shipped(name, ground)
    s, space = vehicle.reduced.system, vehicle.reduced.system.algebroid
    short, rng = s.auxiliaries, np.random.default_rng(0)
    anchor = vehicle.constrained.system.algebroid.anchor
    moved = ca.jtimes(short.meanings, s.q, anchor @ s.v) + ca.jacobian(short.meanings, s.t)
    rates = ca.substitute(short.rates, short.symbols, short.meanings)
    both = ca.Function("both", [s.t, s.q, s.v], [moved, rates, *ca.substitute(
        [ca.densify(space.anchor)], [short.symbols], [short.meanings]), ca.densify(anchor),
        short.meanings])
    names = [str(symbol) for symbol in ca.vertsplit(short.symbols)]
    assert [k for k in "xyz" if f"n_{k}" in names] == [
        k for k, value in zip("xyz", FROZEN[name]) if np.isnan(value)]
    # on level ground the vertical is the normal
    assert ("z_x" in names) == (ground.normal != (0, 0, 1))
    vectors = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "n": ground.normal,
               "t1": ground.tangents[0], "t2": ground.tangents[1], "velocity": ground.velocity}
    for q in vehicle.constrained.configurations[:3]:
        t, v = rng.uniform(0, 2), rng.normal(size=vehicle.algebroid.nv)
        real, said, rows, meant, values = (part.full() for part in both(t, q, v))
        np.testing.assert_allclose(said, real, rtol=0, atol=1e-12)
        np.testing.assert_allclose(rows, meant, rtol=0, atol=1e-12)
        R = np.array(ca.evalf(rotation(ca.SX(ca.DM(q[3:7])))))
        for symbol, value in zip(names, values.ravel()):
            vector, k = symbol.rsplit("_", 1)
            seen = R.T @ (q[:3] - ground.point - t * np.array(ground.velocity)
                          if vector == "r" else vectors[vector])
            assert value == pytest.approx(seen["xyz".find(k) if k in "xyz" else int(k)], abs=1e-12)


@pytest.mark.parametrize("off, is_told", [(1e-14, False), (1e-10, True)])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_rows_that_freezing_would_change_are_named(off, is_told, size):
    """By more than rounding, relative to the row's size there, at one configuration alone."""
    vehicle = shipped("tricycle")
    full, reduced = (replace(one, distribution=replace(
        one.distribution, A=size * one.distribution.A)) for one in (vehicle.constrained,
                                                                   vehicle.reduced))
    check_reduction(full, reduced)
    d, k = reduced.distribution, 5
    at = reduced.configurations[3]
    near = ca.if_else(ca.sumsqr(reduced.system.q - ca.DM(at)) < 1e-6, 1.0, 0.0)
    A = ca.SX(d.A)
    j = int(np.argmax(np.abs(vehicle.constraint_matrix(at)[k])))
    A[k, j] += size * off * near
    changed = replace(reduced, distribution=replace(d, A=A))
    if not is_told:
        check_reduction(full, changed)
        return
    with pytest.raises(ModelError, match=f"changes the row {d.names[k]!r} by 1e-10"):
        check_reduction(full, changed)
