"""The laws of a tyre at one contact: speeds near rest, deflections, and coefficients over the load,
point by point."""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from nhmech.urdf import Grip, Tyre
from nhmech.urdf.tyre_loads import find_load_terms
from nhmech.vehicle.tyres import (
    deflections,
    relaxations,
    rolling_speed,
    slips,
    tyre_force,
    tyre_friction,
    tyre_function,
    tyre_grip,
)

DIRECTIONS = "longitudinal", "lateral"


def contact(tyre, advance=3.0, speeds=(0.2, -0.1), name="wheel"):
    """A wheel whose centre has the speed `advance`, and its contact these sliding speeds; numbers
    or symbols."""
    wheel = SimpleNamespace(name=name, tyre=tyre)
    return SimpleNamespace(name=name, mount=SimpleNamespace(wheel=wheel), advance=ca.SX(advance),
                           speed=dict(zip(DIRECTIONS, map(ca.SX, speeds))).__getitem__)


def context(*contacts, v=None):
    """What a vehicle with such wheels has: parameters, and the coordinates of its deflections."""
    names = deflections([c.mount.wheel for c in contacts])
    z = ca.SX.sym("z", len(names))
    numbers = {f"{c.name}.{name.replace('.', '_')}": number for c in contacts
               if isinstance(c.mount.wheel.tyre, Tyre)
               for name, number in c.mount.wheel.tyre.numbers().items()}
    nv = len(names) if v is None else v.numel()
    return SimpleNamespace(parameters=numbers, v=v, z=z, algebroid=SimpleNamespace(
        v_names=tuple(names), q_names=tuple(names), q=z, nv=nv))


def numbers(forces):
    return [float(forces[d]) for d in DIRECTIONS]


@pytest.mark.parametrize("low", [0.5, 2.0])
def test_the_speed_that_slip_refers_to_is_never_zero(low):
    """|V| from v_0 on, (V^2 + v_0^2) / (2 v_0) below, with one derivative."""
    V = ca.SX.sym("V")
    h = rolling_speed(contact(None, V), low)
    both = ca.Function("h", [V], [h, ca.jacobian(h, V)])
    for part in (-3.0, -1.001, -0.999, -0.3, 0.0, 0.3, 0.999, 1.001, 3.0):
        speed = part * low
        value, slope = map(float, both(speed))
        wanted, rate = ((abs(speed), np.sign(part)) if abs(part) > 1 else
                        ((speed ** 2 + low ** 2) / (2 * low), part))
        assert value == pytest.approx(wanted, rel=1e-12, abs=0)
        assert slope == pytest.approx(rate, abs=1e-12)


LINEAR = Tyre(Grip(9e4), Grip(6e4), low_speed=0.5)
RELAXED = Tyre(Grip(9e4, relaxation=0.4), Grip(6e4, relaxation=0.3), low_speed=0.5)


@pytest.mark.parametrize("advance", [3.0, -3.0, 0.2])
def test_a_linear_tyre_pulls_against_its_slip(advance):
    c = contact(LINEAR, advance)
    h = 3.0 if abs(advance) > 0.5 else (0.2 ** 2 + 0.5 ** 2) / (2 * 0.5)
    for load in (1.0, 5e3):
        found = tyre_force(context(c), c, LINEAR, ca.SX(load))
        assert numbers(found) == pytest.approx([-9e4 * 0.2 / h, 6e4 * 0.1 / h], rel=1e-12)


@pytest.mark.parametrize("advance, damped", [(3.0, 0.0), (0.5, 0.0), (-0.25, 0.25), (0.0, 1.0)])
def test_a_deflection_stands_for_the_slip_and_is_damped_at_rest(advance, damped):
    """s = -z / sigma; below v_0, more of the sliding speed by (1 - |V| / v_0)^2."""
    c = contact(RELAXED, advance)
    given = context(c)
    found = slips(given, c, {name.replace(".", "_"): number
                             for name, number in RELAXED.numbers().items()})
    read = ca.Function("slips", [given.z], [ca.vertcat(*(found[d] for d in DIRECTIONS))])
    still = read([0.0, 0.0]).full().ravel()
    moved = read([0.02, -0.05]).full().ravel()
    np.testing.assert_allclose(moved - still, [-0.02 / 0.4, 0.05 / 0.3], rtol=1e-12)
    # in proportion to what a standing tyre has: 0.005 s of its sliding speed
    np.testing.assert_allclose(still, damped * 5e-3 * np.array([0.2 / 0.4, -0.1 / 0.3]),
                               rtol=0, atol=1e-15)


def test_a_rolling_tyre_loses_its_deflection_by_its_way():
    """h(V) z / sigma, of the directions that have one; ideal wheels have none."""
    one = Tyre(Grip(9e4), Grip(6e4, relaxation=0.3), low_speed=0.5)
    c, ideal = contact(one, 3.0), contact(None, name="ideal")
    given = context(ideal, c)
    assert given.algebroid.v_names == ("wheel/lateral_deflection",)
    (direction, bent), = relaxations(given, c).items()
    assert direction == "lateral" and bent.follower == 0 and not relaxations(given, ideal)
    flow = ca.Function("flow", [given.z], [bent.flow])
    assert float(flow(0.02)) == pytest.approx(3.0 * 0.02 / 0.3, rel=1e-12, abs=0)


@pytest.mark.parametrize("load, at", [(-500.0, 0.0), (0.0, 0.0), (900.0, 900.0), (5e3, 5e3),
                                      (7999.0, 7999.0), (9e3, 8e3)])
def test_coefficients_are_those_of_the_load_within_the_set(load, at):
    """From none to twice the nominal load; a wheel that would be pulled down has those of none."""
    tyre = Tyre.read("passenger_car@3000 longitudinal.relaxation=0 lateral.relaxation=0")
    c, terms = contact(tyre), find_load_terms("passenger_car")
    found = numbers(tyre_grip(context(c), c, tyre, ca.SX(load)))
    here = terms.per_load(at)
    sigma = [here[f"{d}_stiffness"] * slip / here[f"{d}_friction"]
             for d, slip in zip(DIRECTIONS, (0.2 / 3, -0.1 / 3))]
    rho = np.hypot(*sigma)
    for d, value, part in zip(DIRECTIONS, found, sigma):
        C, E = getattr(tyre, d).shape, here[f"{d}_curvature"]
        x = rho / C
        wanted = -here[f"{d}_friction"] * np.sin(C * np.arctan(x - E * (x - np.arctan(x))))
        assert value == pytest.approx(wanted * part / rho, rel=1e-9)
    # the force is that by the load, also of one that is pulled
    force = numbers(tyre_force(context(c), c, tyre, ca.SX(load)))
    assert force == pytest.approx([load * value for value in found], rel=1e-12)


def test_forces_of_several_tyres_stand_at_their_rows():
    """Per newton of each normal row, by the derivative of their power; one whose stiffness does
    not depend on the load is no friction, and an ideal wheel has none."""
    v = ca.SX.sym("v", 3)
    loaded = Tyre(Grip(9e4), Grip(6e4), load=3000.0)
    wheels = [contact(loaded, 3.0, (2 * v[0], v[1]), "one"),
              contact(None, 3.0, (v[0], v[1]), "ideal"),
              contact(LINEAR, 3.0, (v[2], v[1]), "linear"),
              contact(loaded, 3.0, (v[2], v[0]), "two")]
    names = ["ideal/normal", "two/normal", "one/lateral", "one/normal", "linear/normal"]
    given = context(*wheels, v=v)
    friction = ca.Function("friction", [v], [ca.densify(tyre_friction(
        given, wheels, names, ca.SX.sym("loads", 5)))])
    at = np.array([0.3, -0.2, 0.1])
    found, (k, c) = friction(at).full(), (9e4 / 3000 / 3, 6e4 / 3000 / 3)
    wanted = np.zeros((3, 5))
    wanted[:, 3] = -4 * k * at[0], -c * at[1], 0
    wanted[:, 1] = -c * at[0], 0, -k * at[2]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    t, q, theta = (ca.SX.sym(name, n) for name, n in (("t", 1), ("q", 0), ("theta", 0)))
    system = SimpleNamespace(t=t, q=q, v=v, theta=theta)
    slip, force = tyre_function(given, system, wheels)(0, [], at, [], [2000.0, 1.0, 500.0])
    np.testing.assert_allclose(slip.full(), np.array([[0.6, 0.1, 0.1], [-0.2, -0.2, 0.3]]) / 3,
                               rtol=1e-12)
    np.testing.assert_allclose(force.full(), -np.array([
        [2000 * k * 0.6, 3e4 * 0.1, 500 * k * 0.1], [-2000 * c * 0.2, -2e4 * 0.2, 500 * c * 0.3]]),
        rtol=1e-12)


@pytest.mark.parametrize("load", [800.0, 2500.0, 4000.0, 8000.0])
def test_a_passenger_car_s_tyre_is_the_published_one(load):
    """205/60R15 91V: Pacejka, Tyre and Vehicle Dynamics, 2nd ed. 2006, table A3.1, in equations
    (4.E11) to (4.E30); C_x = 1.685, C_y = 1.193."""
    f, nominal = load / 4000 - 1, Tyre.read("passenger_car")
    found = find_load_terms("passenger_car").at(load)
    assert found == pytest.approx({
        "load": load, "longitudinal.stiffness": load * (21.51 - 0.163 * f) * np.exp(0.245 * f),
        "longitudinal.friction": 1.21 - 0.037 * f,
        "longitudinal.curvature": 0.344 + 0.095 * f - 0.02 * f ** 2,
        "lateral.stiffness": 14.95 * 4000 * np.sin(2 * np.arctan(load / (2.13 * 4000))),
        "lateral.friction": 0.99 - 0.145 * f, "lateral.curvature": -1.003 - 0.537 * f}, rel=1e-12,
        abs=0)
    assert (nominal.longitudinal.shape, nominal.lateral.shape) == (1.685, 1.193)
    if load == nominal.load:
        assert {name: number for name, number in nominal.numbers().items() if name in found} == (
            pytest.approx(found, rel=1e-4))
