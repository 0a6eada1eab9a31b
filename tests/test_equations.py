"""Equations of motion as a result: which form is kept, in what units, and at what times."""

import importlib

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import MechanicsError
from nhmech.mechanics import (
    closed_form_multipliers,
    constrain,
    euclidean,
    gibbs_appell,
    hamel,
    lagrange_dalembert,
    lagrange_multipliers,
    lagrangian_system,
    projection,
)

FORMERS = (gibbs_appell, hamel, lagrange_dalembert, lagrange_multipliers, projection)
module = importlib.import_module("nhmech.mechanics.equations")


def kinetic(s):
    return sum(v ** 2 for v in vars(s.v).values()) / 2


# -- simplified forms ------------------------------------------------------------------------------
@pytest.mark.parametrize("size, error, kept", [
    (1.0, 0.9e-12, True), (1.0, 1.2e-12, False), (1e-3, 0.9e-9, True), (1e-3, 1.2e-9, False),
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
    free = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2 + size * s.q.x + 0 * (
        1 / (s.q.x - 2)))
    made = type(constrain(free))(free, constrain(free).distribution,
                                 samples=np.array([[0.0], [1.0], [2.0]]))
    drift = gibbs_appell(made).drift
    assert (drift.name() == "short") is kept


def test_the_equations_of_a_document():
    made = gibbs_appell(constrain(lagrangian_system(euclidean("x"), kinetic)))
    document = made.latex()
    assert document.startswith("\\documentclass") and "Equations of motion" in document
    assert "\\ddot{x}" in document and "\\ddot" not in str(made)


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
    assert float(made.multipliers(0, np.zeros(3), [0.3, 0.1], [], [])) == pytest.approx(-mass / 2)


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


@pytest.mark.parametrize("former", [*FORMERS, lambda c: closed_form_multipliers(c, {})])
def test_accelerations_are_determined_at_one_sample_at_least(former):
    """x y'^2: not at x = 0."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.q.x * s.v.y ** 2) / 2)
    given = constrain(free)
    at = [type(given)(free, given.distribution, samples=np.array(places, dtype=float))
          for places in ([[0, 1], [1, 1]], [[0, 1]])]
    assert len(former(at[0]).names) == 2
    with pytest.raises(MechanicsError, match="Hessian of L|regular system"):
        former(at[1])
