"""Divisions by one and the same number."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech.simulation.integration.integrators import rate_function
from nhmech.symbolic.reciprocals import SEVERAL, share_reciprocals


def divisions(function: ca.Function) -> int:
    return sum(function.instruction_id(k) == ca.OP_DIV for k in range(function.n_instructions()))


def quotients(count: int) -> ca.Function:
    a, d = ca.SX.sym("a", count), ca.SX.sym("d")
    return ca.Function("quotients", [a, d], [a / (d - 1), a / 3, 1 / d])


def test_a_divisor_of_several_quotients_divides_once():
    few, many = quotients(SEVERAL - 1), quotients(SEVERAL)
    assert share_reciprocals(few) is few
    shared = share_reciprocals(many)
    assert divisions(many) - divisions(shared) == SEVERAL - 1
    a = np.random.default_rng(0).normal(size=SEVERAL)
    for one, other in zip(many(a, 0.3), shared(a, 0.3)):
        np.testing.assert_allclose(one.full(), other.full(), rtol=4e-16, atol=0)
    assert shared.name() == "quotients" and shared.name_in() == many.name_in()


@pytest.mark.parametrize("a, d", [(np.nan, 2.0), (1.0, np.nan), (0.0, 1.0), (1.0, 1.0),
                                  (2.0, np.inf)])
def test_what_is_no_number_stays_so(a, d):
    """0 / 0, 1 / 0, 2 / inf too."""
    made = quotients(SEVERAL)
    for one, other in zip(made(a, d), share_reciprocals(made)(a, d)):
        np.testing.assert_array_equal(one.full(), other.full())


def test_the_equations_of_a_bicycle_divide_by_each_pivot_once():
    equations = shipped("bicycle").equations
    assert divisions(rate_function(equations)) <= 19 < 60 < divisions(equations.drift)
