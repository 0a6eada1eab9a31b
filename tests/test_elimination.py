"""Symbolic elimination in a fixed pivot order against NumPy."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech import MechanicsError
from nhmech.symbolic.elimination import entry_costs, factorise, pivot_order


def sparse_family(n: int, density: float, rng, count: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Regular matrices of one sparsity (a random permutation keeps the diagonal from being a good
    order)."""
    while True:
        pattern = rng.uniform(size=(n, n)) < density
        pattern[np.arange(n), rng.permutation(n)] = True
        samples = rng.normal(size=(count, n, n)) * pattern
        if all(np.linalg.cond(sample) < 1e4 for sample in samples):
            return samples, pattern


def symbolic(pattern: np.ndarray) -> ca.SX:
    return ca.SX.sym("m", ca.sparsify(ca.DM(pattern.astype(float))).sparsity())


@pytest.mark.parametrize("n, density", [(1, 1.0), (3, 0.6), (6, 0.4), (9, 0.3), (12, 0.25)])
def test_solve_and_pivots(n, density):
    rng = np.random.default_rng(n)
    for _ in range(4):
        samples, pattern = sparse_family(n, density, rng)
        order = pivot_order(samples, pattern)
        assert sorted(r for r, _ in order) == sorted(c for _, c in order) == list(range(n))
        matrix, right = symbolic(pattern), ca.SX.sym("b", n, 2)
        factors = factorise(matrix, order)
        evaluate = ca.Function("solve", [matrix, right], [factors.solve(right), factors.pivots])
        for sample in samples:
            b = rng.normal(size=(n, 2))
            x, pivots = (value.full() for value in evaluate(ca.DM(sample), b))
            assert sample @ x == pytest.approx(b, rel=0, abs=1e-11 * np.linalg.cond(sample))
            assert abs(np.prod(pivots)) == pytest.approx(abs(np.linalg.det(sample)), rel=1e-10)


def test_nothing_is_divided_by_numbers():
    """A quotient takes several times as long as a product."""
    entries, right = ca.SX.sym("m", 4, 4), ca.SX.sym("b", 4, 3)
    matrix = ca.sparsify(ca.triu(entries, False) - 0.3 * ca.DM.eye(4))
    solution = factorise(matrix, [(i, i) for i in range(4)]).solve(right)
    solve = ca.Function("solve", [entries, right], [solution])
    assert ca.OP_DIV not in [solve.instruction_id(k) for k in range(solve.n_instructions())]


def test_pivots_avoid_entries_that_vanish_at_one_sample():
    """The order is chosen for all samples: entry (0, 0) is large at one and zero at the other."""
    samples = np.array([[[9.0, 1], [1, 0]], [[0.0, 1], [1, 9]]])
    order = pivot_order(samples, np.ones((2, 2), dtype=bool))
    assert set(order) == {(0, 1), (1, 0)}


def test_the_order_does_not_depend_on_the_units_of_rows():
    rng = np.random.default_rng(7)
    for _ in range(5):
        samples, pattern = sparse_family(6, 0.5, rng)
        units = 10.0 ** rng.uniform(-8, 8, 6)[:, None]
        assert pivot_order(units * samples, pattern) == pivot_order(samples, pattern)


@pytest.mark.parametrize("size, is_good", [(1.0, True), (0.5, True), (-0.5, True), (0.05, False)])
def test_a_pivot_of_half_its_row_is_good_where_it_saves_an_elimination(size, is_good):
    """One of a twentieth is not: column 0 has no other entry."""
    samples = np.tile([[size, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, -0.9, 1.0]], (2, 1, 1))
    assert (pivot_order(samples, samples[0] != 0)[0] == (0, 0)) == is_good


def test_a_number_is_a_cheaper_pivot_than_an_expression():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    costs = entry_costs(ca.blockcat([[x, 2.0], [ca.SX(1, 1), y]]))
    assert 0 == costs[1, 0] < costs[0, 1] < costs[0, 0] == costs[1, 1]
    dear = entry_costs(ca.blockcat([[x, 2.0], [x, y]]))
    assert pivot_order(np.array([[[1.0, 1], [-1, 1]]]), dear)[0] == (0, 1)


def test_singular_samples_are_refused():
    with pytest.raises(MechanicsError, match="singular at a sample"):
        pivot_order(np.array([[[1.0, 2], [2, 4]]]), np.ones((2, 2), dtype=bool))
    regular_and_singular = np.array([np.eye(2), np.ones((2, 2))])
    with pytest.raises(MechanicsError, match="singular at a sample"):
        pivot_order(regular_and_singular, np.ones((2, 2), dtype=bool))


def test_structural_zeros_stay_out_of_the_expressions():
    """A permuted triangular matrix fills in nowhere: its solution needs no more than its own
    entries."""
    rng = np.random.default_rng(5)
    n = 8
    pattern = np.tril(np.ones((n, n), dtype=bool))[rng.permutation(n)][:, rng.permutation(n)]
    samples = rng.normal(size=(4, n, n)) * pattern + 3 * pattern
    factors = factorise(symbolic(pattern), pivot_order(samples, pattern))
    entries = sum(len(rest) for rest in factors.upper) + sum(len(below) for below in factors.lower)
    assert entries <= pattern.sum() - n


@pytest.mark.parametrize("name", ["carriage", "ackermann_car", "rover"])
def test_smaller_than_the_general_solver(name):
    """The reason why it exists: fewer operations for v(xi) than CasADi's own `solve` on the same
    matrix."""
    frame = shipped(name).frame
    s, d = frame.constrained.system, frame.constrained.distribution
    xi = ca.SX.sym("xi", frame.nxi)
    top = ca.SX(frame.nxi, s.algebroid.nv)
    for i, k in enumerate(frame.speeds):
        top[i, k] = 1
    general = ca.solve(ca.vertcat(top, d.A[list(frame.kept), :]),
                       ca.vertcat(xi, -d.b[list(frame.kept)]))
    ours, theirs = (ca.Function("v", [s.t, s.q, xi, s.theta], [v], {"cse": True})
                    for v in (frame.velocity(xi), general))
    q = frame.constrained.samples[-1]
    values = [f(0.0, q, np.ones(frame.nxi), []).full().ravel() for f in (ours, theirs)]
    assert values[0] == pytest.approx(values[1], rel=1e-9, abs=1e-12)
    assert ours.n_instructions() < 0.5 * theirs.n_instructions()


@pytest.mark.parametrize("size, first", [(0.201, (0, 0)), (0.199, (0, 1)), (-0.201, (0, 0))])
def test_from_a_fifth_of_its_row_on_a_pivot_is_good(size, first):
    """Then the one that fills in least is taken: column 0 has no other entry."""
    samples = np.tile([[size, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, -0.9, 1.0]], (2, 1, 1))
    order = pivot_order(samples, samples[0] != 0)
    assert (order[0] == (0, 0)) == (first == (0, 0))


@pytest.mark.parametrize("small, first", [(2e-9, (0, 0)), (0.5e-9, (0, 1))])
def test_an_entry_of_one_sign_goes_before_larger_ones_that_change_it(small, first):
    """Unless it is rounding beside its row."""
    samples = np.array([[[small, 1.0], [1.0, small / 9]], [[small, -1.0], [-1.0, small / 9]]])
    assert pivot_order(samples, np.ones((2, 2)))[0][1] == first[1]


@pytest.mark.parametrize("small, is_regular", [(1.1e-9, True), (0.9e-9, False)])
def test_a_pivot_must_not_be_rounding_at_any_sample(small, is_regular):
    """Of two entries in each row, either is small beside the other at one sample, with any sign."""
    samples = np.array([[[1, small], [small, 1]], [[-small, 1], [1, -small]],
                        [[small, 1], [1, small]], [[1, -small], [-small, 1]]])
    if is_regular:
        assert len(pivot_order(samples, np.ones((2, 2)))) == 2
    else:
        with pytest.raises(MechanicsError, match=r"no pivot left in rows \[0, 1\], columns "
                                                 r"\[0, 1\]"):
            pivot_order(samples, np.ones((2, 2)))


@pytest.mark.parametrize("pattern, first", [
    # a row of one entry, a column of one entry, an arrow whose head comes last
    ([[1, 1, 1], [0, 1, 0], [1, 1, 1]], (1, 1)), ([[1, 0, 1], [1, 0, 1], [1, 1, 1]], (2, 1)),
    ([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], None)])
def test_what_fills_in_nowhere_goes_first(pattern, first):
    pattern = np.array(pattern)
    rng = np.random.default_rng(3)
    samples = pattern * rng.uniform(0.8, 1.2, (3, *pattern.shape)) * np.where(
        rng.uniform(size=pattern.shape) < 0.5, 1, -1)
    order = pivot_order(samples, pattern)
    assert first in (None, order[0])
    factors = factorise(symbolic(pattern != 0), order)
    made = sum(map(len, factors.upper)) + sum(map(len, factors.lower)) + len(pattern)
    assert made == pattern.sum()


def test_of_equal_costs_the_larger_pivot_is_taken():
    samples = np.array([[[0.9, 1.0], [1.0, 0.5]]])
    assert pivot_order(samples, np.ones((2, 2)))[0] == (0, 1)
    assert pivot_order(samples[:, ::-1], np.ones((2, 2)))[0] == (0, 0)


def test_zero_pivots_and_numbers():
    """A number of zero is no product; entries that the order needs and the matrix lacks are 0."""
    x = ca.SX.sym("x")
    factors = factorise(ca.blockcat([[x, 1], [0, ca.SX(1, 1)]]), [(0, 0), (1, 1)])
    assert float(factors.pivots[1]) == 0 and factors.pivots.shape == (2, 1)
    right = ca.Function("f", [x], [factors.solve(ca.SX([1, 2]))])(2.0).full()
    assert np.isinf(right[1, 0])
