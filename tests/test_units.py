"""Motions do not depend on the units that somebody writes them in."""

from __future__ import annotations

import numpy as np
import pytest

from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.systems.example import METHODS

METRES = (1.0, 1.0, 1.0)


def accelerate(method, row=1.0, mass=1.0, metres=METRES):
    """Of a particle on z' = y x' in a potential, with its row, masses and lengths in other units;
    back in metres."""
    a, b, c = metres

    def lagrangian(s):
        x, y, vx, vy, vz = a * s.q.x, b * s.q.y, a * s.v.x, b * s.v.y, c * s.v.z
        return mass * ((vx ** 2 + 2 * vy ** 2 + 3 * vz ** 2) / 2 + vx * vy / 5 - x ** 2 * y)

    made = constrain(lagrangian_system(euclidean("x", "y", "z"), lagrangian), rows={
        "slope": lambda s: row * (c * s.v.z - b * s.q.y * a * s.v.x)})
    equations = METHODS[method](made, ("x'", "y'"))
    q, xi = np.array([0.3, -0.2, 0.7]) / metres, np.array([1.3, 0.4]) / metres[:2]
    return equations.acceleration(0, q, xi, [], []).full().ravel() * metres


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("units", [
    {"row": 1e-12}, {"row": 1e-8}, {"row": 1e9}, {"mass": 1e-12}, {"mass": 1e9},
    {"metres": (1e-6, 1.0, 1.0)}, {"metres": (1.0, 10.0, 0.1)}], ids=str)
def test_units_do_not_matter(method, units):
    np.testing.assert_allclose(accelerate(method, **units), accelerate(method), rtol=1e-9)
