"""Lie algebroids: the structure equations, their checks, and mechanics on them against Euler and
Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from nhmech import ConstrainedSystem, InputError, MechanicsError, gibbs_appell
from nhmech.mechanics.algebroid import (
    TWIST,
    LieAlgebroid,
    bracket,
    circle,
    euclidean,
    line,
    product,
    rotation,
    special_euclidean,
)
from nhmech.mechanics.algebroid_makers import special_euclidean_2
from nhmech.mechanics.distribution import assemble
from nhmech.mechanics.system import LagrangianSystem
from nhmech.mechanics.writing import constrain, lagrangian_system

INERTIA = pin.Inertia(1.7, np.array([0.1, -0.2, 0.05]), np.diag([0.2, 0.3, 0.4]) + 0.02)


def whole() -> LieAlgebroid:
    return product(special_euclidean(), circle("wheel"), line("slider"))


def rotation_algebra() -> LieAlgebroid:
    """so(3) alone: no configuration, [e_a, e_b] = epsilon_abg e_g."""
    c = [np.zeros((3, 3)) for _ in range(3)]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        c[k][i, j], c[k][j, i] = 1, -1
    return LieAlgebroid(ca.SX(0, 1), (), ("p", "q", "r"), ("rad/s",) * 3, ca.SX(0, 3),
                        tuple(ca.SX(ca.DM(m)) for m in c))


def test_bracket_is_pinocchios_cross():
    c, rng = special_euclidean().structure, np.random.default_rng(0)
    tensor = np.array([ca.DM(m).full() for m in c])
    for _ in range(10):
        V, W = rng.normal(size=(2, 6))
        cross = pin.Motion(V).cross(pin.Motion(W)).vector
        assert np.einsum("gab,a,b->g", tensor, V, W) == pytest.approx(cross, rel=0, abs=1e-14)


def test_anchor_is_pinocchios_integrate():
    """dq/dt = rho(q) v against central differences of `pinocchio.integrate`, and tangent to the
    embedded manifold."""
    model = pin.Model()
    free = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    wheel = model.addJoint(free, pin.JointModelRUBY(), pin.SE3.Identity(), "wheel")
    model.addJoint(wheel, pin.JointModelPX(), pin.SE3.Identity(), "slider")
    algebroid, rng = whole(), np.random.default_rng(1)
    rho = ca.Function(
        "rho",
        [algebroid.q],
        [algebroid.anchor, ca.jacobian(algebroid.embedding(algebroid.q), algebroid.q)],
    )
    assert (algebroid.nq, algebroid.nv) == (model.nq, model.nv) == (10, 8)
    assert algebroid.circles == ((7, 6),) and algebroid.quaternions == (3,)
    for _ in range(5):
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        v, h = rng.normal(size=model.nv), 1e-6
        anchor, normal = (value.full() for value in rho(q))
        rate = (pin.integrate(model, q, h * v) - pin.integrate(model, q, -h * v)) / (2 * h)
        assert anchor @ v == pytest.approx(rate, rel=0, abs=1e-9)
        assert np.abs(normal @ anchor).max() <= 1e-15
        assert algebroid.normalise(q * 1.3)[3:9] == pytest.approx(q[3:9], abs=1e-15)


@pytest.mark.paper("002 (9)")
def test_euler_equations():
    """L = 1/2 w.J w on so(3): the generalised Euler-Lagrange equations are J dw/dt = J w x w +
    moment."""
    J = INERTIA.inertia
    v, a, u = ca.SX.sym("v", 3), ca.SX.sym("a", 3), ca.SX.sym("u", 3)
    system = LagrangianSystem.from_lagrangian(
        rotation_algebra(), v, a, ca.dot(v, ca.DM(J) @ v) / 2, force=u, u=u)
    equations = gibbs_appell(ConstrainedSystem(system, assemble([], 3)))
    assert equations.names == ("p", "q", "r")
    for w, moment in np.random.default_rng(2).normal(size=(5, 2, 3)):
        rate = equations.drift(0.0, [], w, moment, [])[1].full().ravel()
        assert rate == pytest.approx(np.linalg.solve(J, np.cross(J @ w, w) + moment), rel=1e-12,
                                     abs=1e-13)


def free_body() -> LagrangianSystem:
    """A rigid body on SE(3) under gravity, written as a Lagrangian in body coordinates."""
    algebroid = special_euclidean()
    v, a, tau = ca.SX.sym("v", 6), ca.SX.sym("a", 6), ca.SX.sym("tau", 6)
    from nhmech.mechanics.algebroid import rotation

    com = algebroid.q[:3] + rotation(algebroid.q[3:]) @ ca.DM(INERTIA.lever)
    kinetic = ca.dot(v, ca.DM(INERTIA.matrix()) @ v) / 2
    return LagrangianSystem.from_lagrangian(
        algebroid, v, a, kinetic - INERTIA.mass * 9.81 * com[2], force=tau, u=tau)


@pytest.mark.paper("002 (3)")
def test_generalised_euler_lagrange_on_se3_is_pinocchios_dynamics():
    """The signs of the structure functions: gradient of S against `rnea`, accelerations against
    `aba`, energy against both energies."""
    model = pin.Model()
    free = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.appendBodyToJoint(free, INERTIA, pin.SE3.Identity())
    data, system = model.createData(), free_body()
    gradient = ca.Function("gradient", [system.q, system.v, system.a],
                           [ca.gradient(system.gibbs, system.a)])
    energy = ca.Function("energy", [system.q, system.v], [system.energy])
    equations = gibbs_appell(ConstrainedSystem(system, assemble([], 6)))
    assert sorted(equations.names) == sorted(TWIST)
    order = [TWIST.index(name) for name in equations.names]
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=6))
        v, a, tau = rng.normal(size=(3, 6))
        assert gradient(q, v, a).full().ravel() == pytest.approx(
            pin.rnea(model, data, q, v, a), rel=1e-12, abs=1e-12
        )
        rate = equations.drift(0.0, q, v[order], tau, [])[1].full().ravel()
        assert rate == pytest.approx(pin.aba(model, data, q, v, tau)[order], rel=1e-11, abs=1e-11)
        both = pin.computeKineticEnergy(model, data, q,
                                        v) + pin.computePotentialEnergy(model, data, q)
        assert float(energy(q, v)) == pytest.approx(both, rel=1e-13, abs=0)


def test_shapes_are_checked():
    with pytest.raises(MechanicsError, match="dimension 6"):
        LagrangianSystem(special_euclidean(), ca.SX.sym("v", 5), ca.SX.sym("a", 6),
                         gibbs=ca.SX(0), energy=ca.SX(0), force=ca.SX(6, 1))


@pytest.mark.parametrize("part, value, message", [
    ("q", ca.SX.sym("q", 3), r"q has shape \(3, 1\); 2 coordinates and 2 .* need \(2, 1\)"),
    ("anchor", ca.SX.eye(3), r"anchor has shape \(3, 3\); 2 .* need \(2, 2\)"),
    ("structure", (ca.SX(2, 2), ca.SX(2, 3)), r"a matrix of structure has shape \(2, 3\); 2 coo"),
    ("structure", (ca.SX(2, 2),), "structure has 1 entries; 2 fibre coordinates need one each"),
    ("v_units", ("m/s",), "v_units has 1 entries; 2 fibre")])
def test_parts_of_another_size_are_refused(part, value, message):
    with pytest.raises(InputError, match=message):
        replace(euclidean("x", "y"), **{part: value})


# -- how well the structure equations have to hold -------------------------------------------------
def off_by(defect) -> LieAlgebroid:
    """The plane with [x', y'] = defect(q) x', which is zero there."""
    plane = euclidean("x", "y")
    form = ca.vertcat(ca.horzcat(0, 1), ca.horzcat(-1, 0)) * defect(plane.q)
    return replace(plane, structure=(form, ca.SX(2, 2)))


@pytest.mark.parametrize("defect, place, words, holds", [
    (0.995e-9, [0.0, 0.0], {}, True), (1.005e-9, [0.0, 0.0], {}, False),
    (0.995e-9, [0.1, 0.0], {}, True), (1.005e-9, [0.1, 0.0], {}, False),
    (0.995e-12, [0.2, -1000.0], {}, True), (1.005e-12, [0.2, -1000.0], {}, False),
    (0.9e-3, [0.0, 0.0], {"rtol": 1e-3}, True)])
def test_structure_equations_hold_to_a_billionth_of_a_change_within_the_configuration(
        defect, place, words, holds):
    """[x', y'] = x' / y is such a change, where y is not 0; within 1, where it is."""
    space = off_by(lambda q: defect)
    if holds:
        return space.check([place], **words)
    with pytest.raises(MechanicsError, match=r"morphism \[x', y'\] is 1(.01)?e-(09|12) at q = "):
        space.check([place])
    # whose further samples are a little farther away
    system = lagrangian_system(off_by(lambda q: 1.5 * defect), lambda s: s.v.x ** 2 + s.v.y ** 2)
    with pytest.raises(MechanicsError, match=r"morphism \[x', y'\] is 1.51e-(09|12) at q = "):
        constrain(system, samples=[place])


def holds(off: float, d: np.ndarray, e: np.ndarray) -> bool:
    """Whether SE(2) with a bracket that is so far off is an algebroid, one of each coordinate
    being d of a new unit, and one of each speed e."""
    space, q = special_euclidean_2(), ca.SX.sym("q", 3)
    anchor = ca.substitute(ca.densify(space.anchor), space.q, q / ca.DM(d))
    wrong = [ca.DM(c).full() for c in space.structure]
    wrong[1][0, 2] *= 1 + off
    wrong[1][2, 0] *= 1 + off
    try:
        replace(space, q=q, anchor=ca.diag(ca.SX(ca.DM(d))) @ anchor @ ca.diag(ca.SX(ca.DM(1 / e))),
                structure=tuple(ca.SX(ca.sparsify(ca.DM(c * e[g] / np.outer(e, e))))
                                for g, c in enumerate(wrong))).check(d * [[0.7, -2.0, 1.0]])
    except MechanicsError:
        return False
    return True


@pytest.mark.parametrize("seed", range(3))
def test_the_units_of_configuration_and_fibre_decide_nothing(seed):
    one = np.ones(3)
    d, e = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, (2, 3))
    found = [holds(off, one, one) for off in 10.0 ** np.linspace(-9.5, -8, 7)]
    assert found[0] and not found[-1]
    assert [holds(off, d, e) for off in 10.0 ** np.linspace(-9.5, -8, 7)] == found


@pytest.mark.parametrize("points", [[[0.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [0.0, 1.0]]])
def test_structure_equations_are_checked_at_all_points(points):
    space = off_by(lambda q: q[0])
    with pytest.raises(MechanicsError, match=r"is 1 at q = \[1\. 2\.\]"):
        space.check(points)
    space.check(points=0)
    with pytest.raises(MechanicsError, match="anchor morphism"):
        space.check(points=1)


def test_points_are_moved_onto_the_manifold_and_stay_what_they_were():
    """A circle's anchor is tangent where cos^2 + sin^2 = 1 alone; so it is checked there."""
    space = circle("a")
    x = space.q[0] ** 2 + space.q[1] ** 2 - 1
    turned = product(space, euclidean("x", "y"))
    form = ca.SX(3, 3)
    form[1, 2], form[2, 1] = x, -x
    made = replace(turned, structure=(turned.structure[0], form, turned.structure[2]))
    points = np.array([[3.0, 4.0, 0.0, 0.0]])
    made.check(points)
    assert points.tolist() == [[3.0, 4.0, 0.0, 0.0]]
    with pytest.raises(InputError, match=r"points = .* rows of 4 finite numbers: a.cos, a.sin, x"):
        made.check([[1.0, 0.0, 0.0]])


@pytest.mark.parametrize("seed", range(8))
def test_any_wrong_component_of_the_structure_is_noticed(seed):
    """One of 512, antisymmetric or not."""
    space, rng = whole(), np.random.default_rng(seed)
    g, (a, b) = rng.integers(8), sorted(rng.choice(8, 2, replace=False))
    for back in (1.0, 0.0):
        wrong = [ca.SX(ca.densify(c)) for c in space.structure]
        wrong[g][a, b] += 0.1
        wrong[g][b, a] -= 0.1 * back
        with pytest.raises(MechanicsError, match="the structure equations do not hold: ") as told:
            replace(space, structure=tuple(wrong)).check(1)
        assert back or f"antisymmetry c[:, {a}, {b}] is 0.1 " in str(told.value)


# -- brackets of sections --------------------------------------------------------------------------
def test_brackets_of_sections():
    """[X, f Y] = f [X, Y] + (rho X f) Y, antisymmetry, Jacobi, and [rho X, rho Y] = rho [X, Y], on
    SE(2) x SE(3) x S^1."""
    space = product(line("a"), special_euclidean_2(embedded=True), special_euclidean(), circle("w"))
    rng, q = np.random.default_rng(4), space.q
    words = ca.vertcat(1, q[0], q[4], ca.sin(q[1]), q[2] * q[5], q[7] ** 2)
    X, Y, Z = (ca.SX(ca.DM(rng.normal(size=(space.nv, 6)))) @ words for _ in range(3))
    f = q[0] * q[2] + ca.cos(q[6])

    def along(section, g):
        return ca.jtimes(g, q, space.anchor @ section)

    def nested(A, B, C):
        return bracket(space, A, bracket(space, B, C))

    fields = [space.anchor @ part for part in (X, Y, bracket(space, X, Y))]
    zero = ca.Function("zero", [q], [
        bracket(space, X, f * Y) - f * bracket(space, X, Y) - along(X, f) * Y,
        bracket(space, X, Y) + bracket(space, Y, X),
        nested(X, Y, Z) + nested(Y, Z, X) + nested(Z, X, Y),
        ca.jtimes(fields[1], q, fields[0]) - ca.jtimes(fields[0], q, fields[1]) - fields[2]])
    size = ca.Function("size", [q], [bracket(space, X, Y)])
    for point in rng.normal(size=(3, space.nq)):
        point = space.normalise(point)
        assert np.abs(size(point).full()).max() > 0.1
        for part in zero(point):
            assert np.abs(part.full()).max() <= 1e-11


def test_a_product_keeps_angles_and_attitudes_in_their_places():
    space = product(line("a"), special_euclidean_2(embedded=True), special_euclidean(), circle("w"))
    assert space.circles == ((3, 3), (12, 10)) and space.quaternions == (8,)
    assert space.nq == 14 and space.nv == 11
    assert space.v_units == ("m/s", "m/s", "m/s", "rad/s", *("m/s",) * 3, *("rad/s",) * 4)
    slope = ca.Function("slope", [space.q], [
        space.embedding(space.q),
        ca.jacobian(space.embedding(space.q), space.q) @ space.anchor])
    for q in np.random.default_rng(5).normal(size=(3, 14)):
        value, rate = (part.full() for part in slope(space.normalise(q)))
        assert value.shape == (3, 1) and np.abs(value).max() <= 1e-15
        assert np.abs(rate).max() <= 1e-15
        symbolic = ca.evalf(space.normalise(ca.SX(ca.DM(q)))).full().ravel()
        assert symbolic == pytest.approx(space.normalise(q), rel=1e-13, abs=0)


def test_rates_of_coordinates_have_the_units_that_are_given():
    assert euclidean("x", "a", units=("m/s", "rad/s")).v_units == ("m/s", "rad/s")
    assert euclidean("x", "a").v_units == ("", "") and euclidean("x").v_names == ("x'",)
    assert line("s").v_units == ("m/s",) and line("s", "rad/s").v_units == ("rad/s",)


@pytest.mark.parametrize("entries", [3, 5])
def test_a_quaternion_has_four_entries(entries):
    with pytest.raises(InputError, match=r"must be \(x, y, z, w\)"):
        rotation(ca.SX.sym("q", entries))
