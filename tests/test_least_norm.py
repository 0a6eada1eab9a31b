"""Least norm with some unknowns non-negative, against every active set tried in turn; and how loads
share four legs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import linprog
from support import shipped

from nhmech.vehicle.least_norm import impose_signs, raise_least, solve_shortest
from nhmech.vehicle.reactions import reactions


def brute_force(matrix, right, signed) -> np.ndarray | None:
    """The shortest among the least-norm solutions of all subproblems in which some signed unknowns
    are zero and the rest come out >= 0."""
    n, best = matrix.shape[1], None
    for count in range(len(signed) + 1):
        for zero in combinations(signed, count):
            kept = [i for i in range(n) if i not in zero]
            x = np.zeros(n)
            x[kept] = np.linalg.pinv(matrix[:, kept], rcond=1e-11) @ right
            size = np.abs(x).max(initial=0.0)
            fits = np.abs(matrix @ x - right).max() <= 1e-9 * max(1.0, size) and np.all(
                x[signed] >= -1e-10 * size
            )
            if fits and (best is None or np.linalg.norm(x) < np.linalg.norm(best)):
                best = x
    return best


@pytest.mark.parametrize("rows, unknowns, rank, signed",
                         [(3, 6, 3, 4), (4, 7, 3, 5), (5, 5, 3, 3), (6, 8, 4, 8), (2, 3, 2, 2)])
def test_against_every_active_set(rows, unknowns, rank, signed):
    """Feasible and infeasible problems at random, consistent by construction, of full rank and
    not."""
    rng = np.random.default_rng(rows)
    seen = set()
    for case in range(60):
        matrix = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, unknowns))
        start = rng.normal(size=unknowns)
        if case % 2:
            start[:signed] = np.abs(start[:signed])
        right = matrix @ start
        non_negative = np.arange(unknowns) < signed
        x, feasible = impose_signs(*solve_shortest(matrix, right), non_negative)
        reference = brute_force(matrix, right, list(range(signed)))
        seen.add((bool(feasible), bool(np.any(np.linalg.pinv(matrix) @ right < 0))))
        assert np.abs(matrix @ x - right).max() <= 1e-9 * np.abs(right).max()
        assert feasible == (reference is not None)
        if feasible:
            assert np.all(
                x[:signed] >= 0
                if np.any(np.linalg.pinv(matrix) @ right < -1e-9)
                else x[:signed] >= -1e-9
            )
            assert x == pytest.approx(reference, rel=0, abs=1e-8 * np.abs(reference).max())
        else:
            bounds = [(0, None) if sign else (None, None) for sign in non_negative]
            assert linprog(np.zeros(unknowns), A_eq=matrix, b_eq=right, bounds=bounds).status == 2
            assert x == pytest.approx(np.linalg.pinv(matrix) @ right, rel=0,
                                      abs=1e-9 * np.abs(x).max())
    assert len(seen) >= 2, "the cases are all alike"


def test_undetermined_entries():
    """x0 is fixed by its own equation, and its row of the kernel is zero; x1 + x2 = 4 leaves the
    other two open."""
    matrix = np.array([[1.0, 0, 0], [0, 1, 1]])
    x0, kernel = solve_shortest(matrix, np.array([3.0, 4.0]))
    x, feasible = impose_signs(x0, kernel, np.ones(3, dtype=bool))
    assert feasible and x == pytest.approx([3, 2, 2], abs=1e-14)
    np.testing.assert_allclose(np.abs(kernel), [[0.0], [0.5 ** 0.5], [0.5 ** 0.5]], rtol=0,
                               atol=1e-14)


LEGS = np.array([[0.6, 0.4], [0.6, -0.4], [-0.6, 0.4], [-0.6, -0.4]])


def table(x: float, y: float, weight: float = 100.0):
    """Force and moments of four legs under a weight at (x, y)."""
    balance = solve_shortest(np.vstack([np.ones(4), LEGS.T]), weight * np.array([1.0, x, y]))
    return impose_signs(*balance, np.ones(4, dtype=bool))


def test_table_under_a_central_load():
    for x, y in ((0, 0), (0.2, -0.1), (-0.3, 0.15)):
        loads, feasible = table(x, y)
        assert feasible
        assert loads == pytest.approx(25 * (1 + x * LEGS[:, 0] / 0.36 + y * LEGS[:, 1] / 0.16),
                                      rel=1e-12)


def test_table_under_a_load_near_a_corner_keeps_all_legs_down():
    """The plain least norm lets the far leg pull (false lift-off); three legs carry the load
    instead."""
    x, y = 0.45, 0.3
    assert 25 * (1 - x / 0.6 - y / 0.4) < 0
    loads, feasible = table(x, y)
    expected = np.zeros(4)
    expected[:3] = np.linalg.solve(np.vstack([np.ones(3), LEGS[:3].T]), 100 * np.array([1, x, y]))
    assert feasible and np.all(expected >= 0)
    assert loads == pytest.approx(expected, rel=0, abs=1e-10)
    on_leg, feasible = table(0.6, 0.4)
    assert feasible and on_leg == pytest.approx([100, 0, 0, 0], abs=1e-9)


def test_table_that_tips_over_lifts_a_leg():
    """A load beside the table: no split without pulling exists, and it is said."""
    loads, feasible = table(0.7, 0.0)
    assert not feasible and loads.min() < 0
    assert loads @ np.c_[np.ones(4), LEGS] == pytest.approx([100, 70, 0], abs=1e-10)


@pytest.mark.parametrize("name", ["ackermann_car", "mecanum", "rover", "swerve", "trailers",
                                  "differential_drive", "tricycle"])
def test_wheels_carry_the_weight(name):
    """At rest: forces add up to the weight, their moments to its moment about the centre of mass,
    and nobody pulls."""
    vehicle = shipped(name)
    q = vehicle.configuration((0.7, -0.2, 0.9))
    v = np.zeros(vehicle.model.nv)
    result = reactions(vehicle, 0.0, q, v, np.zeros(vehicle.constrained.system.u.numel()))
    forces, points = np.array(list(result.world.values())), vehicle.contact_points(q)
    com = pin.centerOfMass(vehicle.model, vehicle.model.createData(), q)
    weight = pin.computeTotalMass(vehicle.model) * 9.81
    assert result.feasible
    assert forces.sum(axis=0) == pytest.approx([0, 0, weight], rel=1e-9, abs=1e-9 * weight)
    assert np.cross(points - com,
                    forces).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9 * weight)
    assert min(c["normal"] for c in result.components.values()) >= 0


def test_the_least_entry_is_raised_as_far_as_it_goes():
    """A lever: what one end gains the other loses, until they are equal; and three legs of a table,
    of which two share what the third has too much."""
    assert raise_least(np.array([-1.0, 3.0]), np.array([[1.0], [-1.0]])) == pytest.approx([2.0],
                                                                                          rel=1e-12)
    start, move = np.array([6.0, 0.0, 0.0]), np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(start + move @ raise_least(start, move), 2.0, rtol=0, atol=1e-12)
