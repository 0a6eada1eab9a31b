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
    circle,
    euclidean,
    line,
    product,
    special_euclidean,
)
from nhmech.mechanics.distribution import assemble
from nhmech.mechanics.system import LagrangianSystem

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
        assert float(energy(q, v)) == pytest.approx(both, rel=1e-13)


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
