"""Size of the generated equations: arithmetic instructions of one evaluation (q, xi, u, theta) ->
(dq, dxi).

Constants, inputs and outputs do not count. The baseline may only shrink: a count above it is a
regression, one well below it means that the baseline should follow.
"""

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech.mechanics.gibbs_appell import gibbs_appell

BASELINE = json.loads((Path(__file__).parent / "operation_counts.json").read_text())
LIMITS = {"differential_drive": 60, "carriage": 60, "disc": 180, "mecanum": 220, "pendulum": 250,
          "ackermann_car": 400, "trailers": 700, "bicycle": 2000}
FREE = (ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT)


def operations(function: ca.Function) -> int:
    return sum(function.instruction_id(i) not in FREE for i in range(function.n_instructions()))


def test_every_shipped_robot_has_a_baseline():
    assert set(BASELINE) == set(nhmech.urdf_names())


def test_baselines_are_below_the_limits():
    """However the baseline moves, these are the sizes that the package promises."""
    assert {name: BASELINE[name] for name, limit in LIMITS.items() if BASELINE[name] > limit} == {}


@pytest.mark.parametrize("name", sorted(BASELINE))
def test_count(name):
    vehicle = shipped(name)
    count = operations(vehicle.equations.drift)
    assert 0.9 * BASELINE[name] <= count <= BASELINE[name]


@pytest.mark.parametrize("name", sorted(BASELINE))
def test_reduced_equations_are_the_full_ones_on_the_manifold(name):
    """The graph with frozen attitude and shorthand against the one without, relative 1e-12."""
    vehicle = shipped(name)
    full, reduced = gibbs_appell(vehicle.constrained, vehicle.speeds), vehicle.equations
    rng = np.random.default_rng(5)
    for q in vehicle.constrained.samples[:6]:
        xi, u = rng.normal(size=len(vehicle.speeds)), rng.normal(size=len(vehicle.driven))
        for a, b in zip(full.drift(0.0, q, xi, u, vehicle.theta),
                        reduced.drift(0.0, q, xi, u, vehicle.theta)):
            a, b = a.full(), b.full()
            np.testing.assert_allclose(b, a, rtol=0,
                                       atol=1e-12 * max(1.0, np.abs(a).max(initial=0.0)))
