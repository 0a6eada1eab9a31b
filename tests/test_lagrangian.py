"""The Gibbs function, energies and forces of a vehicle, at any state, against Pinocchio and by
hand."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot

import nhmech
from nhmech import Ground, InputError, Wheel

MOVING = Ground((0.1, -0.2, 1.0), point=(0.3, 0.2, -0.4), velocity=(0.5, -0.3, 0.2))
NUMBERS = {"gravity": 7.0, "slope": 0.2, "slope_direction": 0.7, "payload.mass": 1.3,
           "payload.x": 0.2, "payload.y": -0.1, "payload.z": 0.4, "left.rotor_inertia": 0.02,
           "left.gear_ratio": 3.0, "arm.rotor_inertia": 0.01, "arm.gear_ratio": 5.0,
           "rail.damping": 0.7, "arm.damping": 0.3, "left.rolling_resistance": 0.4,
           "odd.rolling_resistance": 0.2}


@cache
def rig(ground: Ground = MOVING, **changes: float) -> nhmech.Vehicle:
    """A base with a rail, on it an arm about a skew axis; one wheel is round and one is not."""
    lean = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'
    parts = [link("base", 5.0, (0.3, 0.4, 0.5), (0.02, 0.03, 0.1)), link("slider", 0.7),
             link("hand", 0.9, (0.02, 0.03, 0.04), (0.2, 0.1, 0.3)), link("l", 0.5),
             link("r", 0.6, (0.02, 0.03, 0.04), (0.02, 0.01, 0.03)), link("ball", 0.1),
             joint("rail", "base", "slider", (0.1, 0.2, 0.3), (0.2, 0.3, 0.4), (0.6, 0, 0.8),
                   "prismatic", lean),
             joint("arm", "slider", "hand", (0.3, 0.1, 0.2), (0.1, -0.2, 0.3), (0, 0.8, 0.6),
                   "revolute", lean),
             joint("left", "base", "l", (0, 0.3, 0)), joint("odd", "base", "r", (0, -0.3, 0)),
             joint("to_ball", "base", "ball", (-0.3, 0, -0.05), kind="fixed")]
    wheels = [Wheel("left", "disc", 0.1, driven=True), Wheel("odd", "disc", 0.1, driven=False),
              Wheel(None, "caster_ball", 0.05, link="ball")]
    made = nhmech.load(robot(*parts), wheels=wheels, free=("rail", "arm"), ground=ground)
    return made.with_parameters(NUMBERS | changes)


def states(vehicle, count=3, seed=0):
    """Any q, v and a, on the constraints or not."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = pin.integrate(vehicle.model, pin.neutral(vehicle.model), rng.normal(
            size=vehicle.model.nv))
        yield q, rng.normal(size=vehicle.model.nv), rng.normal(size=vehicle.model.nv)


def test_the_gradient_of_the_gibbs_function_is_the_force_that_pinocchio_needs():
    """In full, and in short symbols that stand for the vectors of the world."""
    vehicle = rig()
    for constrained in (vehicle.constrained, vehicle.reduced):
        s = constrained.system
        gradient = ca.gradient(s.gibbs, s.a)
        if s.auxiliaries is not None:
            gradient = ca.substitute(gradient, s.auxiliaries.symbols, s.auxiliaries.meanings)
        needed = ca.Function("needed", [s.t, s.q, s.v, s.a], [gradient])
        for q, v, a in states(vehicle):
            if s.auxiliaries is not None:      # which hold where the base stands as it does
                q = vehicle.configuration((0.1, 0.2, 0.3), {"rail": 0.3, "arm": q[-1]})
            expected = pin.rnea(vehicle.model, vehicle.data, q, v, a)
            np.testing.assert_allclose(needed(0.3, q, v, a).full().ravel(), expected,
                                       rtol=1e-10, atol=1e-10)


def test_energies_are_those_of_pinocchio_on_moving_ground():
    """Potential energy is zero at the origin of the world, wherever the ground has moved."""
    vehicle = rig()
    s = vehicle.constrained.system
    lagrangian = ca.Function("L", [s.t, s.q, s.v], [s.lagrangian])
    for q, v, _ in states(vehicle):
        for t in (0.0, 0.7):
            M = pin.crba(vehicle.model, vehicle.data, q)
            potential = pin.computePotentialEnergy(vehicle.model, vehicle.data, q)
            kinetic = v @ M @ v / 2
            assert vehicle.energy(t, q, v) == pytest.approx(kinetic + potential, rel=1e-10)
            assert float(lagrangian(t, q, v)) == pytest.approx(kinetic - potential, rel=1e-10)
    assert vehicle.reduced.system.lagrangian is None


def test_forces_are_damping_resistance_and_efforts():
    """-d w, and -r tanh(w / 0.05 rad/s)."""
    vehicle = rig()
    names = vehicle.algebroid.v_names
    assert vehicle.constrained.system.u_names == ("left",)
    for q, v, _ in states(vehicle):
        v = v * 0.1
        rates = dict(zip(names, v))
        expected = {"rail": -0.7 * rates["rail"], "arm": -0.3 * rates["arm"],
                    "left": 1.7 - 0.4 * np.tanh(rates["left"] / 0.05),
                    "odd": -0.2 * np.tanh(rates["odd"] / 0.05)}
        found = vehicle.functions.force(0.3, q, v, 1.7, []).full().ravel()
        np.testing.assert_allclose(found, [expected.get(name, 0.0) for name in names], rtol=1e-12,
                                   atol=1e-15)


def test_a_wrench_has_the_power_of_force_and_torque_at_the_links_origin():
    vehicle = rig().with_wrench("ball", "hand")
    assert vehicle.constrained.system.u_names == ("left", *(
        f"{name}.{part}" for name in ("ball", "hand")
        for part in ("fx", "fy", "fz", "tx", "ty", "tz")))
    plain, u = rig(), np.random.default_rng(1).normal(size=13)
    for q, v, _ in states(vehicle):
        added = (vehicle.functions.force(0.3, q, v, u, [])
                 - plain.functions.force(0.3, q, v, u[0], [])).full().ravel()
        expected = sum(pin.computeFrameJacobian(
            vehicle.model, vehicle.data, q, vehicle.model.getFrameId(name, pin.FrameType.BODY),
            pin.LOCAL_WORLD_ALIGNED).T @ part for name, part in (("ball", u[1:7]),
                                                                 ("hand", u[7:])))
        np.testing.assert_allclose(added, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name, words", [
    ("hnd", r"no link 'hnd' for the external wrench; there are .*'?hand'?.*mean.*hand"),
    ("rail", r"no link 'rail' for the external wrench; there are base,"),
    ("universe", "no link 'universe'")])
def test_a_wrench_is_on_a_link(name, words):
    with pytest.raises(InputError, match=words) as caught:
        rig().with_wrench(name)
    assert "arm" not in str(caught.value)      # joints and fixed joints are no links
