"""Contact Lagrangians: Herglotz's equations with constraints, and what becomes of the energy."""

import casadi as ca
import numpy as np
import pytest

import nhmech
from nhmech.errors import InputError
from nhmech.mechanics import (
    change_of_basis,
    constrain,
    euclidean,
    gibbs_appell,
    herglotz,
    lagrange_multipliers,
    lagrangian_system,
)

K, SLOPE, J = 0.3, 0.1, 0.4


def lagrangian(s):
    """dL/dz = -(K + SLOPE z)."""
    kinetic = (s.v.x ** 2 + s.v.y ** 2 + J * s.v.yaw ** 2) / 2
    return kinetic - s.q.x ** 2 / 2 - K * s.q.z - SLOPE * s.q.z ** 2 / 2


def knife_edge():
    body = lagrangian_system(euclidean("x", "y", "yaw", "z"), lagrangian)
    return herglotz(constrain(body, rows={
        "blade": lambda s: s.v.y * ca.cos(s.q.yaw) - s.v.x * ca.sin(s.q.yaw)}), "z")


@pytest.mark.parametrize("former", [gibbs_appell, lagrange_multipliers])
def test_a_knife_edge_is_damped_by_its_action(former):
    """Along the blade v' = -x cos + (dL/dz) v, J yaw'' = (dL/dz) J yaw', z' = L."""
    system = knife_edge()
    equations = former(system, ("x'", "yaw'"))
    rng = np.random.default_rng(0)
    energy = lagrangian_system(euclidean("x", "y", "yaw", "z"), lagrangian).energy_function
    for q, xi in zip(rng.uniform(-1, 1, (5, 4)), rng.normal(size=(5, 2))):
        v = equations.velocity(0, q, xi, []).full().ravel()
        a = equations.acceleration(0, q, xi, [], []).full().ravel()
        along, slope = np.array([np.cos(q[2]), np.sin(q[2])]), -(K + SLOPE * q[3])
        np.testing.assert_allclose(along @ a[:2], -q[0] * along[0] + slope * along @ v[:2],
                                   rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(a[2], slope * v[2], rtol=1e-12)
        kinetic = (v[0] ** 2 + v[1] ** 2 + J * v[2] ** 2) / 2
        rest = kinetic - float(energy(0, q, v, []))          # -V - k z - ...
        np.testing.assert_allclose(v[3], kinetic + rest, rtol=1e-12)


def test_the_energy_decays_at_the_slope_of_the_lagrangian():
    """dE/dt = (dL/dz) E, and where the slope is constant E = E(0) exp(-K t)."""
    spring = herglotz(lagrangian_system(euclidean("x", "z"), lambda s: (
        s.v.x ** 2 - s.q.x ** 2) / 2 - K * s.q.z), "z")
    simulator = nhmech.Simulator(spring, dt=1e-2, integrator="dop853")
    simulator.reset(q=[1.0, 0.2], xi=[0.5])
    run = simulator.run(3.0)
    np.testing.assert_allclose(run.energy, run.energy[0] * np.exp(-K * run.t), rtol=1e-9)


@pytest.mark.parametrize("energy, action, message", [
    (lambda s: s.v.x ** 2, "s", "action 's' does not exist; there are x, z"),
    (lambda s: s.v.x ** 2 + s.v.z ** 2, "z", "the rate of the action 'z' occurs")])
def test_what_is_no_action_is_refused(energy, action, message):
    with pytest.raises(InputError, match=message):
        herglotz(lagrangian_system(euclidean("x", "z"), energy), action)


def test_a_force_on_the_action_is_refused():
    """There is no equation in which it would stand."""
    pushed = lagrangian_system(euclidean("x", "z"), lambda s: s.v.x ** 2 / 2 - K * s.q.z,
                               force=lambda s: {"z": 1.0})
    with pytest.raises(InputError, match="a force acts on the action 'z'"):
        herglotz(pushed, "z")


def test_the_action_is_a_factor_of_its_own():
    """In the basis d/dx + d/dz, d/dz the second coordinate of the fibre is not z'."""
    sheared = change_of_basis(euclidean("x", "z"), ca.SX(ca.DM([[1, 0], [1, 1]])), ("x'", "z'"))
    with pytest.raises(InputError, match="z' is not the rate of the action 'z' alone"):
        herglotz(lagrangian_system(sheared, lambda s: s.v.x ** 2 / 2 - K * s.q.z), "z")


@pytest.mark.parametrize("basis", [
    lambda z: [[1, 1], [0, 1]], lambda z: [[1, 0], [0, 2]], lambda z: [[ca.exp(z), 0], [0, 1]]],
    ids=["it moves x", "it is not z'", "it has a bracket"])
def test_other_bases_in_which_the_action_is_no_factor(basis):
    plane = euclidean("x", "z")
    other = change_of_basis(plane, ca.blockcat(basis(plane.q[1])), ("x'", "z'"))
    with pytest.raises(InputError, match="is not the rate of the action 'z' alone"):
        herglotz(lagrangian_system(other, lambda s: s.v.x ** 2 / 2 - K * s.q.z), "z")


def test_a_row_that_holds_the_action_is_refused():
    tied = constrain(lagrangian_system(euclidean("x", "z"), lambda s: s.v.x ** 2 / 2 - K * s.q.z),
                     rows={"tie": lambda s: s.v.z - s.v.x})
    with pytest.raises(InputError, match="the rate of the action 'z' occurs in the Lagrangian or"):
        herglotz(tied, "z")


def test_multipliers_know_the_row_of_the_action():
    """z'' = dL/dt, by the saddle system too, with a row beside it."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2) / 2 + s.q.x * s.v.y - s.q.x ** 2 - K * s.q.z)
    damped = herglotz(constrain(free, rows={"tie": lambda s: s.v.y - s.q.x * s.v.x}), "z")
    one, other = (former(damped, ("x'",)) for former in (gibbs_appell, lagrange_multipliers))
    for q, xi in zip(np.random.default_rng(2).normal(size=(3, 3)), (0.7, -1.2, 2.0)):
        for part in ("acceleration", "multipliers"):
            values = [getattr(made, part)(0, q, [xi], [], []).full() for made in (one, other)]
            np.testing.assert_allclose(*values, rtol=1e-11, atol=1e-12)
        v = one.velocity(0, q, [xi], []).full().ravel()
        assert v[2] == pytest.approx((v[0] ** 2 + 2 * v[1] ** 2) / 2 + q[0] * v[1] - q[0] ** 2
                                     - K * q[2], rel=1e-12, abs=0)
