"""What a method takes for granted of a system is asked for: motions on manifolds in the velocities,
and forces that are proportional to reactions, are refused by each that cannot take them."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

from nhmech.analysis import connection_curvature, linearise
from nhmech.analysis.motions import motions
from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    chaplygin,
    chetaev,
    closed_form_multipliers,
    constrain,
    constraint_algorithm,
    euclidean,
    find_symmetry,
    first_integrals,
    generalised_speeds,
    gibbs_appell,
    growth_vector,
    hamel,
    hamilton_jacobi,
    herglotz,
    invariant_measure,
    lagrange_dalembert,
    lagrange_multipliers,
    lagrangian_system,
    momentum_map,
    momentum_side,
    nonholonomic_bracket,
    nonholonomic_connection,
    nonholonomic_momentum,
    projection,
    prolongation,
    quotient,
    symmetry,
    vakonomic,
)
from nhmech.mechanics.forms import reaction_fields
from nhmech.systems import load_system


@cache
def disk():
    return load_system("vertical_disk").constrained


@cache
def symmetry_of_the_disk():
    return find_symmetry(disk())


def on_a_manifold():
    """Its speeds keep to a quadric."""
    return replace(disk(), invariant=disk().system.v[0] ** 2 - 1)


def rubbing():
    """Each reaction rubs on the last speed."""
    d = disk().distribution
    friction = ca.SX(d.A.shape[1], d.A.shape[0])
    friction[-1, :] = 0.1
    return replace(disk(), friction=friction)


def with_symmetry(function, constrained):
    return function(replace(symmetry_of_the_disk(), constrained=constrained))


def with_translations(function, constrained):
    """What is no symmetry is not asked for here."""
    across = {"x": lambda s: {"x": 1}, "y": lambda s: {"y": 1}}
    return function(replace(symmetry(disk(), across), constrained=constrained))


LINEAR = {"momentum_map": lambda c: with_symmetry(momentum_map, c),
          "nonholonomic_momentum": lambda c: with_symmetry(nonholonomic_momentum, c),
          "first_integrals": first_integrals, "growth_vector": growth_vector,
          "hamilton_jacobi": lambda c: hamilton_jacobi(c, {}),
          "linearisation": lambda c: linearise(c, np.zeros(4), np.zeros(2)),
          "momentum_side": momentum_side, "invariant_measure": invariant_measure,
          "nonholonomic_bracket": nonholonomic_bracket, "vakonomic": vakonomic,
          "herglotz": lambda c: herglotz(c, "x")}
IDEAL = {"projection": projection, "lagrange_dalembert": lagrange_dalembert, "hamel": hamel,
         "constraint_algorithm": constraint_algorithm,
         "generalised_speeds": lambda c: generalised_speeds(c, {}),
         "reaction field": reaction_fields, "momentum_side": momentum_side,
         "herglotz": lambda c: herglotz(c, "x"), "vakonomic": vakonomic,
         "chetaev": lambda c: chetaev(c, {"speed": lambda s: s.v.x ** 2 - 1}),
         "hamilton_jacobi": lambda c: hamilton_jacobi(c, {}),
         "nonholonomic_bracket": nonholonomic_bracket,
         "nonholonomic_momentum": lambda c: with_symmetry(nonholonomic_momentum, c),
         "nonholonomic_connection": lambda c: with_symmetry(nonholonomic_connection, c),
         "the quotient": lambda c: with_translations(quotient, c),
         "Chaplygin reduction": lambda c: with_translations(chaplygin, c)}
# a row that is no sum of the velocities and is solved for one of them
CURVED = {"growth_vector": growth_vector, "invariant_measure": invariant_measure,
          "hamel": hamel, "nonholonomic_bracket": nonholonomic_bracket, "projection": projection,
          "motions": motions, "connection_curvature": connection_curvature}


def with_action():
    return herglotz(lagrangian_system(euclidean("x", "z"), lambda s: (
        s.v.x ** 2 / 2 - 0.3 * s.q.z)), "z")


@pytest.mark.parametrize("name", CURVED)
def test_rows_that_are_not_linear_are_named(name):
    with pytest.raises(MechanicsError, match=f"{name} needs constraints that are lin.*unlike z"):
        CURVED[name](with_action())


@pytest.mark.parametrize("name, method", [
    ("closed_form_multipliers", lambda c: closed_form_multipliers(c, {"y": lambda y, s: y[0]})),
    ("chetaev", lambda c: chetaev(c, {"speed": lambda s: s.v.x - 1}))])
def test_friction_on_a_wire_is_refused(name, method):
    wire = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2),
                     holonomic={"wire": lambda s: s.q.y})
    with pytest.raises(MechanicsError, match=f"{name} needs ideal constraints"):
        method(replace(wire, friction=ca.SX(ca.DM([0.1, 0.0]))))


@pytest.mark.parametrize("name", LINEAR)
def test_motions_on_manifolds_are_refused(name):
    with pytest.raises(MechanicsError, match=f"{name} needs constraints that are linear"):
        LINEAR[name](on_a_manifold())


@pytest.mark.parametrize("name", IDEAL)
def test_forces_that_reactions_make_are_refused(name):
    with pytest.raises(MechanicsError, match=f"{name} needs ideal constraints"):
        IDEAL[name](rubbing())


RHEONOMIC = {
    "affine row": {"rows": {"row": lambda s: s.v.z - s.q.y * s.v.x - 0.3}},
    "moving row": {"rows": {"row": lambda s: s.v.z - ca.sin(s.t) * s.v.x}},
    "moving wire": {"holonomic": {"wire": lambda s: s.q.z - ca.sin(s.t)}},
    "moving potential": {}}


@pytest.mark.parametrize("name", RHEONOMIC)
@pytest.mark.parametrize("method", (nonholonomic_bracket, momentum_side))
def test_what_depends_on_time_or_is_affine_is_refused(name, method):
    """One of both is enough."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2 - (s.q.y * s.t if "potential" in name else 0))
    with pytest.raises(MechanicsError, match=f"{method.__name__} needs constraints that are linear "
                                             "in the velocities, and do not depend on time"):
        method(constrain(free, **RHEONOMIC[name]))


@pytest.mark.parametrize("further, natural, quadratic", [
    (lambda s: 0, True, True), (lambda s: s.q.y ** 2 * s.v.x, False, True),
    (lambda s: s.v.y ** 4 / 9, False, False)])
def test_terms_that_are_linear_in_the_velocities_or_of_the_fourth_degree(further, natural,
                                                                         quadratic):
    """A bracket takes a magnetic field, a connection does not."""
    plane = constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2) / 2 + further(s) - s.q.y))
    for method, given, takes in (
            (nonholonomic_bracket, plane, quadratic),
            (nonholonomic_connection, symmetry(plane, {"x": lambda s: {"x": 1}}), natural)):
        if takes:
            method(given)
        else:
            with pytest.raises(MechanicsError, match=f"{method.__name__} needs L = T - V"):
                method(given)


def test_a_lagrangian_that_is_not_quadratic():
    """L = |v|^2 / 2 + |v|^4 / 4 - V: the Hessian (1 + v^2) 1 + 2 v v^T depends on v."""
    def square(s):
        return s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2

    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        square(s) / 2 + square(s) ** 2 / 4 - 0.3 * s.q.y * s.q.x))
    particle = constrain(free, rows={"row": lambda s: s.v.z - s.q.y * s.v.x})
    q, v = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.7, 0.1])
    M = (1 + v @ v) * np.eye(3) + 2 * np.outer(v, v)
    A = np.array([[-q[1], 0, 1]])
    K = np.block([[M, -A.T], [A, np.zeros((1, 1))]])
    wanted = np.linalg.solve(K, [-0.3 * q[1], -0.3 * q[0], 0, v[1] * v[0]])[:2]
    for former in (gibbs_appell, lagrange_multipliers, hamel, lagrange_dalembert, projection):
        rate = former(particle, ("x'", "y'")).drift(0, q, v[:2], [], [])[1]
        assert np.abs(rate.full().ravel() - wanted).max() < 1e-12
    alone = ca.Function("alone", [free.q, free.v], [prolongation(particle).sode[3:]])
    assert np.abs(M @ alone(q, v).full().ravel() + 0.3 * q[[1, 0, 2]] * [1, 1, 0]).max() < 1e-12
