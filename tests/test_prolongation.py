"""Prolongations, exterior derivatives, morphisms, and the Jacobi endomorphism."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import casadi as ca
import numpy as np
import pytest
from symmetric_systems import carriage_in_body_speeds, rigid_body

from nhmech import MechanicsError
from nhmech.mechanics import (
    Morphism,
    constrain,
    euclidean,
    find_symmetry,
    lagrangian_system,
    prolongation,
    quotient,
    special_euclidean,
    special_orthogonal,
    symmetry,
)
from nhmech.mechanics.exterior import exterior_derivative
from nhmech.mechanics.quasi_velocities import change_of_basis
from nhmech.systems import heavy_top, load_system

RNG = np.random.default_rng(4)


def at(system, *expressions):
    """Values at one random state."""
    rng = np.random.default_rng(1)
    inputs = [system.q, system.v, system.u, system.theta, system.t]
    values = [rng.uniform(0.4, 1.2, symbol.numel()) for symbol in inputs]
    values[0] = system.algebroid.normalise(values[0])
    return [part.full() for part in ca.Function("at", inputs, [
        ca.densify(e) for e in expressions])(*values)]


def random_form(algebroid, degree):
    """Coefficients with products and a sine of the configuration."""
    q = algebroid.q if algebroid.nq else ca.SX(1, 1)
    def coefficient():
        w = RNG.normal(size=(3, q.numel()))
        return ca.dot(w[0], q) * ca.sin(ca.dot(w[1], q)) + ca.dot(w[2], q)
    return {basis: coefficient() for basis in combinations(range(algebroid.nv), degree)}


def spaces():
    charge = load_system("charged_particle").constrained.system.algebroid
    return {"se(3)": special_euclidean(), "R^3": euclidean("x", "y", "z"), "gauge": charge}


@pytest.mark.parametrize("name", spaces())
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_d_squared_is_zero(name, degree):
    space = spaces()[name]
    once = exterior_derivative(space, random_form(space, degree), degree)
    twice = exterior_derivative(space, once, degree + 1)
    q = space.normalise(np.random.default_rng(2).normal(size=space.nq))
    free = [symbol for symbol in ca.symvar(ca.vertcat(ca.SX(0, 1), *once.values()))
            if not ca.depends_on(space.q, symbol)]
    evaluate = ca.Function("d", [space.q, ca.vertcat(*free)], [
        ca.vertcat(ca.SX(1, 1), *twice.values()), ca.vertcat(*once.values())])
    zero, size = (part.full() for part in evaluate(q, np.full(len(free), 0.7)))
    assert np.abs(size).max() > 0.1 and np.abs(zero).max() < 1e-13 * np.abs(size).max() * 10


def test_d_squared_tells_what_is_no_algebroid():
    space = special_orthogonal()
    broken = replace(space, structure=tuple(2 * c for c in space.structure))
    twice = exterior_derivative(broken, exterior_derivative(broken, {(): broken.q[0]}, 0), 1)
    value = ca.Function("d", [broken.q], [ca.vertcat(*twice.values())])([0.1, 0.5, 0.5, 0.7])
    assert np.abs(value.full()).max() > 0.01


@pytest.mark.paper("002 prolongation")
@pytest.mark.parametrize("name", ["rigid_body", "heavy_top", "areal_velocity", "carriage",
                                  "wong_particle"])
def test_free_motion_by_the_cartan_form(name):
    """i_Gamma omega_L = dE and S Gamma = Delta on T^E E, whose structure equations hold."""
    system = load_system(name).constrained.system
    system = replace(system, force=ca.SX(system.v.numel(), 1))
    made = prolongation(constrain(system, dict.fromkeys(system.theta_names, 0.8)))
    assert system.theta.numel() or made.algebroid.check() is None
    _, omega = made.cartan
    left, right, semispray, liouville, nilpotent = at(
        system, omega.T @ made.sode, made.differential(system.energy),
        made.vertical_endomorphism @ made.sode, made.liouville,
        made.vertical_endomorphism @ made.vertical_endomorphism)
    assert np.abs(left - right).max() < 1e-10 * np.abs(right).max()
    assert np.array_equal(semispray, liouville) and not nilpotent.any()


@pytest.mark.paper("003 jacobi")
def test_jacobi_endomorphism_is_the_hessian_of_the_potential_in_any_basis():
    """In Cartesian coordinates Phi = Hess V; it and the covariant derivative are tensors, so that
    the turning frame e_r, e_s of areal velocity has the same in its own components."""
    def potential(x, y):
        return x ** 3 * y + ca.cos(y)

    plane = euclidean("x", "y")
    flat = lagrangian_system(plane, lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 - potential(s.q.x, s.q.y))
    x, y = plane.q[0], plane.q[1]
    basis = ca.blockcat([[x, -y], [y + 0.3, x]])
    turning = change_of_basis(plane, basis, ("dilation", "turn"))

    def lagrangian(s):
        v = basis @ ca.vertcat(s.v.dilation, s.v.turn)
        return ca.sumsqr(v) / 2 - potential(s.q.x, s.q.y)

    other = lagrangian_system(turning, lagrangian)
    phi, hessian = at(flat, prolongation(constrain(flat)).jacobi_endomorphism,
                      ca.hessian(potential(x, y), plane.q)[0])
    assert np.abs(phi - hessian).max() < 1e-12
    X, phi_other = at(other, basis, prolongation(constrain(other)).jacobi_endomorphism)
    assert np.abs(X @ phi_other - phi @ X).max() < 1e-10


@pytest.mark.paper("003 jacobi")
def test_jacobi_endomorphism_is_curvature_along_geodesics():
    """Phi X = R(X, v) v: of the unit sphere |v|^2 X - <X, v> v; of SO(3) with equal moments a
    quarter of that in the body's components."""
    sphere = lagrangian_system(euclidean("a", "b"), lambda s: (
        s.v.a ** 2 + (ca.sin(s.q.a) * s.v.b) ** 2) / 2)
    ball = lagrangian_system(special_orthogonal(), lambda s: (
        s.v.wx ** 2 + s.v.wy ** 2 + s.v.wz ** 2) / 2)
    for system, curvature in ((sphere, 1.0), (ball, 0.25)):
        phi, g, v = at(system, prolongation(constrain(system)).jacobi_endomorphism,
                       system.mass_and_bias()[0], system.v)
        expected = curvature * ((v.T @ g @ v) * np.eye(len(v)) - v @ v.T @ g)
        assert np.abs(phi - expected).max() < 1e-12


@pytest.mark.paper("003 jacobi")
def test_the_covariant_derivative_keeps_the_metric():
    """d/dt g(X, Y) = g(nabla X, Y) + g(X, nabla Y) along geodesics."""
    system = lagrangian_system(euclidean("x", "y"), lambda s: (
        (2 + ca.sin(s.q.y)) * s.v.x ** 2 + s.q.x * s.v.x * s.v.y + 3 * s.v.y ** 2) / 2)
    g = system.mass_and_bias()[0]
    nabla = prolongation(constrain(system)).covariant_derivative
    left, right = at(system, ca.reshape(ca.jtimes(ca.vec(g), system.q, system.q_rate), 2, 2),
                     nabla.T @ g + g @ nabla)
    assert np.abs(left - right).max() < 1e-12 and np.abs(left).max() > 0.1


@pytest.mark.paper("002 morphism")
def test_quotients_are_reductions_by_a_morphism():
    top = heavy_top.example(I2=1.1).constrained
    for constrained in (top, rigid_body(), carriage_in_body_speeds()):
        made = quotient(find_symmetry(constrained))
        made.projection.check_reduction(constrained, made.base)


@pytest.mark.paper("002 morphism")
def test_what_is_no_morphism_is_named():
    body = rigid_body()
    made = quotient(find_symmetry(body))
    projection = made.projection
    with pytest.raises(MechanicsError, match="pull-back of d e"):
        replace(projection, fibre=2 * projection.fibre).check(body)
    plane, line = (lagrangian_system(euclidean(*names), lambda s: s.v.x ** 2 / 2)
                   for names in (("x", "y"), ("x", "y")))
    thin = Morphism(plane.algebroid, line.algebroid, ca.vertcat(plane.q[0], 0),
                    ca.diag(ca.SX([1, 0])))
    with pytest.raises(MechanicsError, match="reaches 1 of 2"):
        thin.check_reduction(constrain(plane), constrain(line))
    heavier = replace(made.base, system=replace(made.base.system,
                                                lagrangian=1.1 * made.base.system.lagrangian))
    with pytest.raises(MechanicsError, match="the Lagrangian is not preserved"):
        projection.check_reduction(body, heavier)


def pushed_plane(row=None, push=lambda u: ca.SX(2, 1)):
    """A particle in the plane with two inputs."""
    plane = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)
    u = ca.SX.sym("u", 2)
    plane = replace(plane, u=u, u_names=("one", "two"), force=push(u))
    return constrain(plane, rows={"row": row} if row else {})


@pytest.mark.parametrize("upstairs, downstairs, what", [
    # a force that is zero where both inputs are equal, rows whose unit is small
    (pushed_plane(push=lambda u: ca.vertcat(u[0] - u[1], 0)), pushed_plane(), "the force"),
    (pushed_plane(lambda s: 1e-12 * s.v.x), pushed_plane(lambda s: 1e-12 * s.v.y),
     "the constraints of source")])
def test_what_a_reduction_does_not_carry(upstairs, downstairs, what):
    same = Morphism(upstairs.system.algebroid, downstairs.system.algebroid, upstairs.system.q,
                    ca.SX.eye(2))
    with pytest.raises(MechanicsError, match=what):
        same.check_reduction(upstairs, downstairs)


def test_a_homomorphism_of_groups():
    """SE(3) -> SO(3), which forgets the place, and not the map that forgets the attitude."""
    space, turn = special_euclidean(), special_orthogonal()
    system = constrain(lagrangian_system(space, lambda s: s.v.roll_rate ** 2))
    Morphism(space, turn, space.q[3:], ca.SX.eye(6)[3:, :]).check(system)
    with pytest.raises(MechanicsError, match="rate of 'qx'"):
        Morphism(space, turn, space.q[3:], ca.SX.eye(6)[:3, :]).check(system)


def test_a_symmetry_that_is_divided_out_in_part():
    carriage = carriage_in_body_speeds()
    turn = find_symmetry(carriage)
    part = symmetry(carriage, {name: turn.generators[:, i] for i, name in enumerate(turn.names)
                               if "psi" not in name})
    quotient(part).projection.check_reduction(carriage, quotient(part).base)


@pytest.mark.parametrize("off, holds", [(0.9e-9, True), (1.1e-9, False), (1e-5, False)])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_morphism_holds_to_a_billionth_of_its_terms(off, holds, size):
    """x -> size x with the rate size (1 + off) x', and a Lagrangian that is off by as much."""
    line, scaled = (lagrangian_system(
        euclidean("x"), lambda s, unit=unit: s.v.x ** 2 / 2 / unit ** 2) for unit in (1.0, size))
    given, other = constrain(line), constrain(scaled)
    made = Morphism(line.algebroid, scaled.algebroid, size * line.q, ca.SX(size * (1 + off)))
    exact = replace(made, fibre=ca.SX(size))
    heavier = replace(other, system=replace(scaled, lagrangian=(1 + off) * scaled.lagrangian))
    if holds:
        made.check(given)
        exact.check_reduction(given, heavier)
    else:
        with pytest.raises(MechanicsError, match="not a morphism: the rate of 'x' is not pre"):
            made.check(given)
        with pytest.raises(MechanicsError, match="the Lagrangian is not preserved .* differs by"):
            exact.check_reduction(given, heavier)
    exact.check_reduction(given, other)
