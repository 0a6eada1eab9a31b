"""Growth rates and their zeros, of functions and eigenvalues that are given."""

from __future__ import annotations

import numpy as np
import pytest

from nhmech import MechanicsError
from nhmech.analysis.stability import branches, critical_value, growth_rate


@pytest.mark.parametrize("scale", [1e-9, 1.0, -1e9])
def test_a_zero_is_found_to_rounding(scale):
    assert critical_value(lambda v: scale * (v ** 3 - 2), 0.0, 2.0) == pytest.approx(
        2 ** (1 / 3), rel=1e-14, abs=0)


@pytest.mark.parametrize("scale", [1e-9, 0.5, -1e9])
def test_a_growth_of_one_sign_has_no_zero(scale):
    with pytest.raises(MechanicsError, match="the growth rate has the same sign at 0.0 and 1.0"):
        critical_value(lambda v: scale * (1 + v), 0.0, 1.0)
    with pytest.raises(MechanicsError, match="same sign"):
        critical_value(lambda v: np.nan, 0.0, 1.0)


def test_nothing_is_neutral_unless_it_is_said():
    values = np.array([1e-9, -0.3 + 2j, -0.3 - 2j])
    assert growth_rate(values) == 1e-9 and growth_rate(values, 1) == -0.3


def test_branches_go_on_as_they_went():
    """Lines that cross, in any order."""
    t = np.linspace(-1.05, 0.95, 21)
    lines = np.array([2 * t, -t, 0.3 + 0.5j * t]).T
    found = branches([row[order] for row, order in zip(
        lines, np.random.default_rng(0).permuted(np.tile(np.arange(3), (21, 1)), axis=1))])
    np.testing.assert_allclose(np.diff(found, 2, axis=0), 0, atol=1e-12)
