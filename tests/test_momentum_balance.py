"""The momentum equation along motions in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from nhmech import InputError
from nhmech.analysis.momentum_balance import momentum_balance
from nhmech.mechanics import constrain, euclidean, lagrangian_system, symmetry

T = np.array([0.3, 0.5, 0.55, 0.9, 1.4, 1.6, 2.2, 2.3])


def particle():
    """Of mass 2 in the plane, pushed along x, with what shifts it along x."""
    system = lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2,
                               inputs=("push",), force=lambda s: {"x": s.u.push})
    return symmetry(constrain(system), {"along": lambda s: {"x": 1}})


def motion(t):
    """x = t^4 - 2 t: q, v, and the push of 24 t^2."""
    still = np.zeros_like(t)
    return (np.array([t ** 4 - 2 * t, still + 0.7]).T, np.array([4 * t ** 3 - 2, still]).T,
            24 * t[:, None] ** 2)


def test_a_force_accounts_for_what_it_does():
    """At times that are any; the spline is exact for polynomials of degree 5."""
    q, v, u = motion(T)
    found = momentum_balance(particle(), T, q, v, u)
    np.testing.assert_allclose(found.momentum[:, 0], 8 * T ** 3 - 4, rtol=1e-14)
    np.testing.assert_allclose(found.defect, 0, rtol=0, atol=1e-12)
    # what nothing accounts for is counted from the first moment on
    pushed = momentum_balance(particle(), T, q, v)
    np.testing.assert_allclose(pushed.defect[:, 0], 8 * (T ** 3 - T[0] ** 3), rtol=1e-12)
    less = momentum_balance(particle(), T, q, v, 0.75 * u)
    np.testing.assert_allclose(less.defect[:, 0], 2 * (T ** 3 - T[0] ** 3), rtol=1e-9)
    assert repr(less) == "<MomentumBalance of along over 8 states: defect at most 24>"


@pytest.mark.parametrize("moment", [0.3, 0.2])
def test_times_grow(moment):
    t = T.copy()
    t[1] = moment
    q, v, u = motion(t)
    with pytest.raises(InputError, match="must be times .s., each after the last"):
        momentum_balance(particle(), t, q, v, u)


def test_six_states_are_enough_and_five_are_not():
    for count in (6, 5):
        t = T[:count]
        if count == 6:
            assert np.abs(momentum_balance(particle(), t, *motion(t)).defect).max() < 1e-12
        else:
            with pytest.raises(InputError, match="t .* 6 or more times"):
                momentum_balance(particle(), t, *motion(t))
