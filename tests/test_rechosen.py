"""Rows and speeds chosen at one configuration serve the whole neighbourhood: the equations are the
same everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from support import shipped


@pytest.mark.parametrize("name", ["ackermann_car", "bicycle", "coin", "differential_drive", "disc",
                                  "pendulum", "swerve"])
def test_equations_chosen_at_the_zero_pose_are_the_same_elsewhere(name):
    """A lean or pitch is stationary in the upright pose, and moves all the same."""
    vehicle = shipped(name)
    other, rng = vehicle.rechoose(vehicle.configuration()), np.random.default_rng(0)
    u = rng.normal(size=vehicle.constrained.system.u.numel())
    for q in vehicle.constrained.samples[-4:]:
        v = vehicle.equations.velocity(0.0, q, rng.normal(size=vehicle.frame.nxi),
                                         vehicle.theta).full().ravel()
        rates = [chosen.equations.drift(0.0, q, v[list(chosen.frame.speeds)], u, chosen.theta)
                 for chosen in (vehicle, other)]
        same = [i for i in vehicle.frame.speeds if i in other.frame.speeds]
        assert same
        ours, theirs = (np.array([chosen[1].full()[list(frame.speeds).index(i), 0] for i in same])
                        for chosen, frame in zip(rates, (vehicle.frame, other.frame)))
        np.testing.assert_allclose(theirs, ours, rtol=1e-8,
                                   atol=1e-8 * max(1.0, np.abs(ours).max()))
        np.testing.assert_allclose(rates[1][0].full(), rates[0][0].full(), rtol=1e-8, atol=1e-8)
