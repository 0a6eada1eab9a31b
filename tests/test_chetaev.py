"""Nonlinear constraints by Chetaev's rule: closed forms, the power of the reaction, and the
compatibility condition."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from runs import by_scipy

from nhmech.errors import MechanicsError
from nhmech.mechanics.algebroid import circle, euclidean, line, product
from nhmech.mechanics.chetaev import chetaev
from nhmech.mechanics.constraint_algorithm import constraint_algorithm
from nhmech.mechanics.lagrange_multipliers import lagrange_multipliers
from nhmech.mechanics.regularity import regularity
from nhmech.mechanics.writing import constrain, lagrangian_system, symbols

G = 9.81


def planar(gravity=0.0, field=0.0, mass=1.3):
    """A particle in the (x, y) plane, gravity along -y, and a force `field` (y', -x') as of a
    magnetic field."""
    made = lagrangian_system(euclidean("x", "y"), lambda s: s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2
                             - s.p.m * s.p.g * s.q.y, parameters=("m", "g", "B"),
                             force=lambda s: {"x": s.p.B * s.v.y, "y": -s.p.B * s.v.x})
    return constrain(made, {"m": mass, "g": gravity, "B": field})


def run(equations, q, v, times):
    """q (N, nq), v (N, nv), lambda (N, m)."""
    theta = equations.constrained.parameters
    q, v = by_scipy(equations, theta, q, v, times)
    lam = [equations.multipliers(t, at, speeds, [], theta).full().ravel()
           for t, at, speeds in zip(times, q, v)]
    return q, v, np.array(lam)


SPEED = {"speed": lambda s: s.v.x ** 2 + s.v.y ** 2 - 4.0}


def test_constant_speed_without_force_is_a_straight_line():
    equations = chetaev(planar(), SPEED)
    assert equations.names == ("x'", "y'") and equations.method == "chetaev"
    times = np.linspace(0, 5, 6)
    q, _, lam = run(equations, [0.1, -0.2], [1.2, 1.6], times)
    np.testing.assert_allclose(q, [0.1, -0.2] + np.outer(times, [1.2, 1.6]), rtol=0, atol=1e-13)
    assert np.abs(lam).max() == 0


def test_constant_speed_in_a_magnetic_field_is_a_circle():
    """v turns at -B/m whether constrained or not: the constraint has nothing to do."""
    m, B = 1.3, 0.9
    times = np.linspace(0, 2 * np.pi * m / B, 9)
    q, v, lam = run(chetaev(planar(field=B, mass=m), SPEED), [0.0, 0.0], [2.0, 0.0], times)
    angle = -B / m * times
    np.testing.assert_allclose(v, 2 * np.column_stack([np.cos(angle), np.sin(angle)]), rtol=0,
                               atol=1e-12)
    np.testing.assert_allclose(q[-1], 0, atol=1e-11)
    assert np.abs(lam).max() <= 1e-14


def test_constant_speed_under_gravity():
    """v = c (sech s, tanh s), s = s0 - g t / c: gravity turns the velocity until it points down.
    lambda = m g y' / (2 c^2)."""
    m, c, s0 = 1.3, 2.0, 0.7
    times = np.linspace(0, 1.5, 7)
    q, v, lam = run(chetaev(planar(gravity=G, mass=m), SPEED), [0.0, 0.0],
                    [c / np.cosh(s0), c * np.tanh(s0)], times)
    s = s0 - G * times / c
    np.testing.assert_allclose(v, c * np.column_stack([1 / np.cosh(s), np.tanh(s)]), rtol=0,
                               atol=1e-12)
    fall = c ** 2 / G * np.log(np.cosh(s) / np.cosh(s0))
    across = c ** 2 / G * (np.arctan(np.sinh(s0)) - np.arctan(np.sinh(s)))
    np.testing.assert_allclose(q, np.column_stack([across, -fall]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(lam[:, 0], m * G * v[:, 1] / (2 * c ** 2), rtol=0, atol=1e-12)


def test_a_speed_that_is_a_function_of_time():
    """|v| = 1 + t/2 on a straight line; the affine part dC/dt is what drives it: lambda = m a / (2
    |v|)."""
    times = np.linspace(0, 4, 5)
    equations = chetaev(planar(), {"speed": lambda s: s.v.x ** 2 + s.v.y ** 2 - (1 + s.t / 2) ** 2})
    q, _, lam = run(equations, [0.0, 0.0], [0.6, 0.8], times)
    np.testing.assert_allclose(q, np.outer(times + times ** 2 / 4, [0.6, 0.8]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(lam[:, 0], 1.3 * 0.5 / (2 * (1 + times / 2)), rtol=1e-12)


def appell_hamel(mass, k):
    """x'^2 + y'^2 = k^2 z'^2: the machine of Appell (1911) and Hamel (1938) in the limit of no
    offset, k the ratio of wheel to drum."""
    made = lagrangian_system(euclidean("x", "y", "z"),
                             lambda s: s.p.m * ((s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2
                                                - s.p.g * s.q.z),
                             parameters=("m", "g", "k"))
    return constrain(made, {"m": mass, "g": G, "k": k}), {
        "machine": lambda s: s.v.x**2 + s.v.y**2 - (s.p.k * s.v.z) ** 2
    }


@pytest.mark.paper("004 II.1")
def test_appell_hamel_machine():
    """The direction of (x', y') stays and z'' = -g / (1 + k^2); lambda = m z'' / (2 z').
    Neimark and Fufaev 1972, chapter IV."""
    m, k = 0.7, 1.6
    constrained, machine = appell_hamel(m, k)
    equations = chetaev(constrained, machine)
    direction, fall, times = np.array([0.6, 0.8]), -0.5, np.linspace(0, 2, 9)
    q, v, lam = run(equations, [0.2, 0.1, 3.0], [*(-k * fall * direction), fall], times)
    a = -G / (1 + k ** 2)
    z = fall * times + a * times ** 2 / 2
    np.testing.assert_allclose(q, np.column_stack([0.2 - 0.6 * k * z, 0.1 - 0.8 * k * z, 3.0 + z]),
                               rtol=0, atol=1e-11)
    np.testing.assert_allclose(lam[:, 0], m * a / (2 * (fall + a * times)), rtol=1e-11)
    # C is homogeneous in v: the reaction does no work
    energy = m * ((v ** 2).sum(axis=1) / 2 + G * q[:, 2])
    np.testing.assert_allclose(energy, energy[0], rtol=1e-12)
    np.testing.assert_allclose(v[:, 0] ** 2 + v[:, 1] ** 2, (k * v[:, 2]) ** 2, rtol=1e-12)


@pytest.mark.paper("004 II.1")
@pytest.mark.parametrize("name", ["machine", "speed"])
def test_power_of_the_reaction(name):
    """dE/dt = lambda dC/dv . v at random states, on and off C = 0:
    twice lambda C for the machine, not zero for the given speed."""
    if name == "machine":
        constrained, constraints = appell_hamel(0.7, 1.6)
    else:
        constrained, constraints = planar(gravity=G), SPEED
    equations, s = chetaev(constrained, constraints), constrained.system
    C = constraints[name](symbols(s))
    power = ca.Function("power", [s.t, s.q, s.v, s.theta], [ca.jtimes(C, s.v, s.v), C])
    energy = ca.Function("dE", [s.t, s.q, s.v, s.theta],
                         [ca.gradient(s.energy, s.q), ca.gradient(s.energy, s.v)])
    rng, theta = np.random.default_rng(3), constrained.parameters
    for _ in range(10):
        q, v = rng.normal(size=(2, s.algebroid.nv))
        rates = [part.full().ravel() for part in equations.drift(0.0, q, v, [], theta)]
        rate = sum(float(g.full().ravel() @ r) for g, r in zip(energy(0.0, q, v, theta), rates))
        lam = float(equations.multipliers(0.0, q, v, [], theta))
        work, value = (float(part) for part in power(0.0, q, v, theta))
        assert rate == pytest.approx(lam * work, rel=1e-10, abs=1e-10)
        assert name == "speed" or work == pytest.approx(2 * value, rel=1e-12, abs=0)
        assert abs(work) > 1e-3


def test_a_linear_constraint_is_dalemberts():
    """z' = y x' given as a nonlinear constraint, and as a row beside a nonlinear one of its own."""
    particle = lagrangian_system(euclidean("x", "y", "z"),
                                 lambda s: (s.v.x ** 2 + s.v.y ** 2 + 3 * s.v.z ** 2) / 2
                                 - s.q.x * s.q.z)
    slope = {"slope": lambda s: s.v.z - s.q.y * s.v.x}
    level = {"level": lambda s: s.v.x ** 2 + s.v.y ** 2 - 1}
    as_row, plain = constrain(particle, rows=slope), constrain(particle)
    reference, mine = lagrange_multipliers(as_row), chetaev(plain, slope)
    both, row_and_level = chetaev(plain, {**slope, **level}), chetaev(as_row, level)
    rng = np.random.default_rng(4)
    for _ in range(5):
        q, v = rng.normal(size=3), rng.normal(size=3)
        v[2] = q[1] * v[0]
        xi = v[list(reference.frame.speeds)]
        for part in ("acceleration", "multipliers"):
            expected = getattr(reference, part)(0.0, q, xi, [], []).full()
            np.testing.assert_allclose(getattr(mine, part)(0.0, q, v, [], []).full(), expected,
                                       rtol=1e-11, atol=1e-12)
            values = [getattr(e, part)(0.0, q, v, [], []).full() for e in (row_and_level, both)]
            np.testing.assert_allclose(*values, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("which", ["machine", "speed", "circle"])
def test_the_constraint_algorithm_agrees(which):
    """The saddle system of the algorithm, which ends at once, gives the same accelerations and
    multipliers."""
    if which == "machine":
        constrained, constraints = appell_hamel(0.7, 1.6)
    elif which == "speed":
        constrained, constraints = planar(gravity=G, field=0.4), SPEED
    else:
        space = product(circle("angle"), line("r"))
        constrained = constrain(
            lagrangian_system(space,
                              lambda s: (s.v.angle**2 * (1 + s.q.r**2) + s.v.r**2) / 2 - space.q[0])
        )
        constraints = {"rates": lambda s: s.v.angle ** 2 + space.q[1] * s.v.r ** 2 - 3}
    equations = chetaev(constrained, constraints)
    nonlinear = ca.vertcat(*[c(symbols(constrained.system)) for c in constraints.values()])
    found = constraint_algorithm(constrained, nonlinear=nonlinear)
    assert len(found.steps) == 1 and found.gauge == 0
    theta, nq = constrained.parameters, constrained.system.algebroid.nq
    for t, z in zip(found.manifold.times, found.manifold.states):
        q, v = z[:nq], z[nq:]
        a = equations.acceleration(t, q, v, [], theta).full()
        np.testing.assert_allclose(found.drift(t, q, v, [], theta)[1].full(), a, rtol=1e-10,
                                   atol=1e-10 * np.abs(a).max())
        lam = equations.multipliers(t, q, v, [], theta).full()
        np.testing.assert_allclose(found.multipliers(t, q, v, [], theta).full(), lam, rtol=1e-10,
                                   atol=1e-10)


@pytest.mark.paper("004 III.1")
def test_compatibility_fails():
    """On the light cone of an indefinite metric R M^-1 R^T = 4 (x'^2 - y'^2) = 0; off the cone it
    is not."""
    made = constrain(lagrangian_system(euclidean("x", "y"),
                                       lambda s: (s.v.x ** 2 - s.v.y ** 2) / 2))
    v = made.system.v
    with pytest.raises(MechanicsError,
                       match=r"compatibility condition fails for cone: .* has rank 0 of 1"):
        chetaev(made, {"cone": v[0] ** 2 - v[1] ** 2})
    ranks = regularity(made, nonlinear=v[0] ** 2 - v[1] ** 2 - 1)
    assert ranks.regular and ranks.compatible and ranks.compatibility_rank == 1
    assert chetaev(made, {"hyperbola": v[0] ** 2 - v[1] ** 2 - 1}).names == ("x'", "y'")


def test_dependent_constraints_are_refused():
    with pytest.raises(MechanicsError, match="rank 1 of 2"):
        chetaev(planar(), {**SPEED, "again": lambda s: 2 * s.v.x ** 2 + 2 * s.v.y ** 2 - 8})


def test_a_constraint_is_a_scalar():
    with pytest.raises(MechanicsError, match="'fixed' must be a CasADi expression or a number"):
        chetaev(planar(), {"fixed": lambda s: ca.vertcat(s.v.x, s.v.y)})


@pytest.mark.parametrize("constraint, message", [
    (lambda s: s.v.x ** 2 == 4, "truth value; write left - right"),
    (lambda s: s.q.x - 1, "contains no velocity; pass it to constrain in holonomic="),
    (lambda s: s.v.x ** 2 - ca.SX.sym("k"), "contains 'k', which is none of its symbols")])
def test_what_is_no_constraint_on_velocities_is_named(constraint, message):
    with pytest.raises(MechanicsError, match=message):
        chetaev(planar(), {"fixed": constraint})


def test_a_singular_lagrangian_is_refused():
    made = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 / 2))
    with pytest.raises(MechanicsError, match="rank 1 of 2"):
        chetaev(made, SPEED)


def test_an_impossible_constraint_is_refused():
    with pytest.raises(MechanicsError, match="manifold is empty"):
        chetaev(planar(), {"none": lambda s: s.v.x ** 2 + s.v.y ** 2 + 1})


def test_an_affine_row_that_moves_is_a_constraint_like_any_other():
    """Written among the rows or among the nonlinear ones: the same accelerations and reactions."""
    belt = {"belt": lambda s: s.v.z - s.q.y * s.v.x - s.q.x * ca.sin(s.t)}
    speed = {"speed": lambda s: s.v.x ** 2 + 2 * s.v.y ** 2 - 4.0}
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2 + 3 * s.v.z ** 2) / 2 - G * s.q.z)
    made = [chetaev(constrain(free, rows=belt), speed), chetaev(constrain(free), belt | speed)]
    rng = np.random.default_rng(6)
    for t, (q, v) in zip(rng.uniform(0, 3, 5), rng.normal(size=(5, 2, 3))):
        a, b = (np.concatenate([equations.acceleration(t, q, v, [], []).full().ravel(),
                                equations.multipliers(t, q, v, [], []).full().ravel()])
                for equations in made)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)
    with pytest.raises(MechanicsError, match="'pair' must be a CasADi expression or a number"):
        chetaev(constrain(free), {"pair": lambda s: ca.vertcat(s.v.x, s.v.y)})
