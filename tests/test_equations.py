"""Equations of motion as a result: which form is kept, in what units, and at what times."""

import importlib

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    change_of_basis,
    closed_form_multipliers,
    constrain,
    euclidean,
    gibbs_appell,
    hamel,
    lagrange_dalembert,
    lagrange_multipliers,
    lagrangian_system,
    nonholonomic_bracket,
    projection,
    prolongation,
)
from nhmech.mechanics.distribution import Row, assemble
from nhmech.mechanics.forms import reaction_fields
from nhmech.mechanics.system import ConstrainedSystem, LagrangianSystem

FORMERS = (gibbs_appell, hamel, lagrange_dalembert, lagrange_multipliers, projection)
module = importlib.import_module("nhmech.mechanics.equations")


def kinetic(s):
    return sum(v ** 2 for v in vars(s.v).values()) / 2


# -- all formers, by one system of equations at a point --------------------------------------------
RNG = np.random.default_rng(0)
COEFFICIENTS = RNG.normal(size=(12, 3, 3))


def words(q, t):
    return ca.vertcat(1, ca.sin(q[0] + 2 * t), q[1] * q[2])


def mixed(k, q, t):
    """The k-th of some matrices (3, 3) that depend on place and time."""
    return sum((word * ca.DM(C) for word, C in zip(ca.vertsplit(words(q, t)),
                                                   COEFFICIENTS[k:k + 3])), ca.SX(3, 3))


def lagrangian(q, v, t, theta):
    half = mixed(0, q, t) / 5
    mass = ca.SX.eye(3) * theta + half @ half.T
    return (ca.dot(v, mass @ v) / 2 + ca.dot(mixed(3, q, t)[:, 0], v)
            - ca.sin(q[0] * q[1]) * ca.cos(t) - q[2] ** 3)


def force(q, v, t, u):
    return mixed(5, q, t)[:, 1] * u[0] - 0.3 * v * ca.fabs(v[1]) + ca.vertcat(0, u[1], t)


def forms(q, t):
    return mixed(7, q, t)[:1, :], mixed(8, q, t)[2:, 2]


def random_system(basis):
    """L = v M v / 2 + a . v - V with an affine row, everything of place and time, on R^3 in a
    basis v = X w; and v', lambda by linear algebra."""
    plane = euclidean("a", "b", "c")
    q, names = plane.q, ("wa", "wb", "wc")
    X = ca.SX(basis(q))
    space = change_of_basis(plane, X, names)
    t, theta, u, w, w_rate = (ca.SX.sym(name, n) for name, n in (
        ("t", 1), ("theta", 1), ("u", 2), ("w", 3), ("w_rate", 3)))
    v, old = ca.SX.sym("v", 3), X @ w
    A, b = forms(q, t)
    system = LagrangianSystem.from_lagrangian(
        space, w, w_rate, lagrangian(q, old, t, theta), force=X.T @ force(q, old, t, u), t=t, u=u,
        theta=theta, u_names=("one", "two"), theta_names=("m",))
    made = ConstrainedSystem(system, assemble([Row("row", A @ X, b)], 3), np.array([2.5]))
    L = lagrangian(q, v, t, theta)
    p = ca.gradient(L, v)
    rest = (force(q, v, t, u) + ca.gradient(L, q) - ca.jtimes(p, q, v)
            - ca.jtimes(p, t, ca.SX(1)))
    speeds = A @ v + b
    gamma = ca.jtimes(speeds, q, v) + ca.jtimes(speeds, t, ca.SX(1))
    parts = ca.Function("parts", [t, q, v, u, theta], [
        ca.jacobian(p, v), rest, A, b, gamma, X,
        ca.reshape(ca.jtimes(ca.vec(X), q, v), 3, 3)])
    return made, parts


@pytest.mark.parametrize("name, basis", [
    ("coordinates", lambda q: ca.SX.eye(3)),
    ("quasi-velocities", lambda q: ca.blockcat([
        [1, 0, q[1]], [ca.sin(q[2]), 1, 0], [0, 0, 2 + q[0] ** 2]]))])
def test_all_formers_are_one_system_of_equations(name, basis):
    """M v' = tau + dL/dq - (dp/dt at constant v) + A^T lambda, A v' = -gamma."""
    made, parts = random_system(basis)
    speeds, rng = ("wb", "wc"), np.random.default_rng(1)
    results = [former(made, speeds) for former in FORMERS]
    for _ in range(2):
        t, q, xi, u = 0.7, rng.normal(size=3), rng.normal(size=2), rng.normal(size=2)
        w = results[0].velocity(t, q, xi, [2.5]).full().ravel()
        _, _, A, b, _, X, _ = (part.full() for part in parts(t, q, np.zeros(3), u, 2.5))
        assert np.abs(A @ X @ w + b.ravel()).max() <= 1e-11 and w[[1, 2]] == pytest.approx(
                xi, rel=1e-12, abs=0)
        M, rest, A, _, gamma, X, X_rate = (part.full() for part in parts(t, q, X @ w, u, 2.5))
        K = np.block([[M, -A.T], [A, np.zeros((1, 1))]])
        found = np.linalg.solve(K, np.concatenate([rest, -gamma]).ravel())
        rate = np.linalg.solve(X, found[:3] - X_rate @ w)
        for former, made_by in zip(FORMERS, results):
            for part, expected in (("acceleration", rate), ("multipliers", found[3:])):
                value = getattr(made_by, part)(t, q, xi, u, [2.5]).full().ravel()
                np.testing.assert_allclose(value, expected, rtol=1e-8, atol=1e-8 * np.abs(
                    found).max(), err_msg=f"{former.__name__}, {part}, {name}")
            q_rate, xi_rate = (part.full().ravel()
                               for part in made_by.drift(t, q, xi, u, [2.5]))
            np.testing.assert_allclose(q_rate, X @ w, rtol=1e-11, atol=1e-12)
            np.testing.assert_allclose(xi_rate, rate[[1, 2]], rtol=1e-8, atol=1e-8 * np.abs(
                found).max())
            np.testing.assert_allclose(made_by.velocity(t, q, xi, [2.5]).full().ravel(), w,
                                       rtol=1e-11, atol=1e-12)


# -- simplified forms ------------------------------------------------------------------------------
@pytest.mark.parametrize("size, error, kept", [
    (1.0, 0.995e-12, True), (1.0, 1.005e-12, False), (1e-3, 0.9e-9, True), (1e-3, 1.2e-9, False),
    (1e3, 0.9e-12, True), (1e3, 1.2e-12, False), (1.0, np.nan, False)])
@pytest.mark.parametrize("place", [0, 1])
def test_a_simplified_form_agrees_to_twelve_digits(size, error, kept, place, monkeypatch):
    """At all samples where the equations are finite, of what is one or more: x'' is as large as
    `size`, and the form wrong at one place alone."""
    def off(function):
        inputs = function.sx_in()
        rate, accelerations = function(*inputs)
        wrong = ca.if_else(inputs[1][0] == place, 1 + error, 1)
        return ca.Function("short", inputs, [rate, accelerations * wrong],
                           function.name_in(), function.name_out())

    monkeypatch.setattr(module, "simplify", off)
    free = lagrangian_system(euclidean("x", "y"), lambda s: (
        kinetic(s) + size * s.q.x + 1e-17 * size * ca.log((s.q.x - 2) ** 2)))
    made = ConstrainedSystem(free, constrain(free).distribution,
                             samples=np.array([[2.0, 0], [0, 0], [1, 0]]))
    drift = gibbs_appell(made).drift
    assert (drift.name() == "short") is kept


@pytest.mark.parametrize("former", FORMERS)
def test_one_former_alone_spends_time_on_a_short_form(former, monkeypatch):
    monkeypatch.setattr(module, "simplify", lambda function: ca.Function(
        "short", function.sx_in(), function(*function.sx_in())))
    made = former(constrain(lagrangian_system(euclidean("x", "y"), kinetic)))
    assert made.drift.name() == ("short" if former is gibbs_appell else "drift")


def test_the_equations_of_a_document():
    made = gibbs_appell(constrain(lagrangian_system(euclidean("x"), kinetic)))
    document = made.latex()
    assert document.startswith("\\documentclass") and "Equations of motion" in document
    assert "\\ddot{x}" in document and "\\ddot" not in str(made)
    for one in (made, made.constrained):
        assert "dot{x}" in one._repr_latex_() and "dot{x}" in one.latex()
        assert "dot" not in str(one)


# -- what is regular -------------------------------------------------------------------------------
@pytest.mark.parametrize("former", FORMERS)
@pytest.mark.parametrize("mass", [1e-20, 1.0, 1e20])
def test_the_unit_of_mass_decides_nothing(former, mass):
    """x'' = y'' on x' = y' under a force of one unit along x."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: mass * kinetic(s),
                             force=lambda s: {"x": mass})
    tied = constrain(free, rows={"tie": lambda s: s.v.x - s.v.y})
    made = former(tied, ("x'", "z'"))
    found = made.acceleration(0, np.zeros(3), [0.3, 0.1], [], []).full().ravel()
    np.testing.assert_allclose(found, [0.5, 0.5, 0], rtol=1e-14)
    assert float(made.multipliers(0, np.zeros(3), [0.3, 0.1], [],
                                  [])) == pytest.approx(-mass / 2, rel=1e-12, abs=0)


@pytest.mark.parametrize("rate", [0.02, 0.3, 3.0, 50.0, 1e3])
def test_a_row_that_turns_is_eliminated_at_any_time(rate):
    """cos(w t) x' + y' / 10 = 0, at the moment when the cosine is zero."""
    free = lagrangian_system(euclidean("x", "y"), kinetic, force=lambda s: {"x": 2.0})
    turning = constrain(free, rows={"turn": lambda s: ca.cos(rate * s.t) * s.v.x + s.v.y / 10})
    made = lagrange_multipliers(turning, ("x'",))
    for t in (0.0, np.pi / 2 / rate, 0.3 / rate):
        c, xi, w = np.cos(rate * t), 0.7, rate * np.sin(rate * t)
        A, gamma = np.array([c, 0.1]), -w * xi
        K = np.block([[np.eye(2), -A[:, None]], [A[None], np.zeros((1, 1))]])
        expected = np.linalg.solve(K, [2, 0, -gamma])
        found = [getattr(made, part)(t, [0, 0], [xi], [], []).full().ravel()
                 for part in ("acceleration", "multipliers")]
        np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("former", [*FORMERS, lambda c: closed_form_multipliers(c, {}),
                                    nonholonomic_bracket])
def test_accelerations_are_determined_at_one_sample_at_least(former):
    """x y'^2: not at x = 0."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.q.x * s.v.y ** 2) / 2)
    given = constrain(free)
    at = [ConstrainedSystem(free, given.distribution, samples=np.array(places, dtype=float))
          for places in ([[0, 1], [1, 1]], [[0, 1]])]
    assert len(former(at[0]).names) == 2
    with pytest.raises(MechanicsError, match="Hessian of L|regular system"):
        former(at[1])


def test_a_row_that_ends_is_eliminated_while_it_lasts():
    """sqrt(1 - t) x' + y' = 0 is not finite later."""
    free = lagrangian_system(euclidean("x", "y"), kinetic, force=lambda s: {"x": 2.0})
    made = lagrange_multipliers(constrain(free, rows={
        "end": lambda s: ca.sqrt(1 - s.t) * s.v.x + s.v.y}), ("x'",))
    assert made.acceleration(0, [0, 0], [0], [], []).full().ravel() == pytest.approx([1, -1],
                                                                                     rel=1e-12)


@pytest.mark.parametrize("former", [*FORMERS, prolongation, reaction_fields])
def test_a_lagrangian_is_finite_at_one_sample_at_least(former):
    """log x is not, at x = 0."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: kinetic(s) * (2 + ca.log(s.q.x)))
    given = constrain(free).distribution
    for places, finite in (([[0.0, 1], [1, 1]], True), ([[0.0, 1]], False)):
        made = ConstrainedSystem(free, given, samples=np.array(places))
        if finite:
            former(made)
        else:
            with pytest.raises(MechanicsError, match="not finite at any sample"):
                former(made)
