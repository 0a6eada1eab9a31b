"""Numbers as they were meant, where formulas end, lines of a page, CasADi's buffers, and
elimination in systems of less than full rank."""

import re
from fractions import Fraction
from math import inf, isnan, nan, pi, sqrt

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import MechanicsError
from nhmech.symbolic.buffered import Buffered, ThreadBuffered
from nhmech.symbolic.document import Section, to_latex, to_text
from nhmech.symbolic.foreign import wrong_numbers
from nhmech.symbolic.inverse import inverse
from nhmech.symbolic.numerals import exact, irrational
from nhmech.symbolic.plain_text import text
from nhmech.symbolic.rational import TooLongError
from nhmech.symbolic.row_reduction import row_reduce, row_reduce_avoiding, unit_rows
from nhmech.symbolic.simplify import operations
from nhmech.symbolic.written import Writer

a, b = ca.SX.sym("a"), ca.SX.sym("b")


@pytest.mark.parametrize("number, meant", [
    (1 / 3, "1/3"), (-2.5, "-5/2"), (9.81, "981/100"), (0.12345678, "6172839/50000000"),
    (5039 / 5040, "5039/5040"), (1e-8, "1/100000000"), (1e20, str(10 ** 20))])
def test_a_number_is_the_one_that_was_typed(number, meant):
    assert exact(number) == Fraction(meant)


@pytest.mark.parametrize("number", [1 / 5041, 0.123456789, sqrt(2)])
def test_a_number_that_is_none_of_the_short_ones_is_the_binary_one(number):
    """Denominators up to 5040 of a quotient, below 1e9 of what was typed."""
    assert exact(number) == Fraction(number)


@pytest.mark.parametrize("number, share, what, radicand", [
    (pi, 1, "pi", 1), (-pi / 2, "-1/2", "pi", 1), (7 * pi / 360, "7/360", "pi", 1),
    (sqrt(2), 1, "sqrt", 2), (-sqrt(2) / 3, "-1/9", "sqrt", 18),
    (sqrt(7 / 360), "1/360", "sqrt", 2520)])
def test_multiples_of_pi_and_roots_are_seen(number, share, what, radicand):
    assert irrational(number) == (Fraction(share), what, Fraction(radicand))


@pytest.mark.parametrize("number", [0.5, 1 / 5040, pi / 361, sqrt(7 / 361), pi * (1 + 1e-15),
                                    sqrt(2) * (1 + 1e-15), pi / 360 * (1 + 1e-15),
                                    sqrt(1 / 300) * (1 + 1e-15), 3.2e-9, 1.2345678901234])
def test_what_is_neither_is_left_alone(number):
    """Denominators up to 360, and no rounding but the last digit's."""
    assert irrational(number) is None


@pytest.mark.parametrize("expression, plain", [
    (1_000_000 * a, "1000000 a"), (1_000_001 * a, "1e+06 a"), (a / 1_000_000, "a/1000000"),
    (a / 1_000_001, "9.99999e-07 a"), (-1_234_567.5 * a, "-1.23457e+06 a")])
def test_numbers_of_more_than_seven_digits_are_rounded(expression, plain):
    assert Writer().write(expression) == [plain]


def test_what_nobody_reads_is_not_written():
    """Sums of more than 150 terms, functions of more than 40, and plain text beyond a length."""
    names = ca.vertcat(*[ca.SX.sym(f"k{i}") for i in range(151)])
    assert Writer().write(ca.sum1(names[:150]), ca.sum1(names))[1] == ""
    assert len(Writer().write(ca.sum1(names[:150]))[0].split(" + ")) == 150
    assert Writer().write(ca.exp(ca.sum1(names[:40])))[0].count("k") == 40
    with pytest.raises(TooLongError, match="argument is too long"):
        Writer().write(ca.exp(ca.sum1(names[:41])))
    assert text(a + b, most=5) == "a + b"
    with pytest.raises(OverflowError):
        text(a + b, most=4)


@pytest.mark.parametrize("expression, plain", [
    (ca.SX(1e15 - 1), "999999999999999"), (ca.SX(1e15), "1e+15"), (-2.5 * a, "(-2.5) a"),
    (a - (b - 1), "a - (b - 1)"), (a / (a * b), "a / (a b)"), (a * (-b), "-a b"),
    ((-a) ** 2.5, "(-a)^2.5"), (ca.fmin(a, b + 1), "min(a, b + 1)"), (a + (-b), "a - b"),
    (a - (-2) * b, "a - (-2) b"), (2 * (a + b), "2 (a + b)"), (1 / (a + b), "1 / (a + b)"),
    ((a + b) ** 2, "(a + b)^2"), (0 ** a, "0^a"), (0.5 ** a, "0.5^a"), ((-2) ** a, "(-2)^a"),
    ((-0.5) ** a, "(-0.5)^a")], ids=str)
def test_plain_text_has_the_brackets_it_needs(expression, plain):
    assert text(expression) == plain


def test_text_is_wrapped_at_a_hundred_columns():
    exactly = "+ ".join(["xxxx "] * 14)[:94]
    lines = to_text([Section("long", ((f"L{exactly}", "q1 q2"), ("none", ""))),
                     Section("short", (("F", "m a"),))]).split("\n")
    assert lines[0] == "long" and lines[-3:] == ["", "short", "  F = m a"]
    assert lines[1] == f"  L{exactly} =" and len(lines[1]) == 99 and lines[2] == "      q1 q2"
    assert lines[3] == "  none"
    fits = to_text([Section("", (("y", "z" * 94),))]).split("\n")
    assert len(fits) == 2 and len(fits[1]) == 100
    assert len(to_text([Section("", (("y", "z" * 95),))]).split("\n")) == 3


def test_a_formula_is_broken_where_it_is_seen_to_be_long():
    """Before a sign outside all brackets, at 75 signs; of a fraction its wider line is seen."""
    def rows(formula):
        found = re.search(r"\\begin\{align\*\}\n(.*?)\n\\end", to_latex("t", [
            Section("s", (("[y", formula),))]), re.DOTALL)
        return found[1].split(" \\\\\n")

    term = "x" * 37
    assert rows(f"{term} + {term}") == [f"{{}}[y &= {term} + {term}"]
    assert rows(f"{term}x + {term}") == [f"{{}}[y &= {term}x", f"&\\quad + {term}"]
    fraction = rf"\frac{{{'x' * 37}}}{{{'z' * 30}}}"
    assert len(rows(f"{fraction} - {term}")) == 1
    assert len(rows(rf"\left({term}x + {term}\right)")) == 1
    assert rows(f"{term}x - {term} + w")[1] == f"&\\quad - {term} + w"


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_an_inverse_takes_the_shorter_way_block_by_block(n):
    """That of minors or that of CasADi's solver."""
    symbols = ca.SX.sym("m", n, n)
    whole = ca.diagcat(symbols, a, b)[[0, n, *range(1, n), n + 1], :]
    made = ca.Function("inverse", [symbols, a, b], [inverse(whole), whole])
    found, given = (part.full() for part in made(
        np.random.default_rng(0).normal(size=(n, n)), 0.7, -1.3))
    np.testing.assert_allclose(found @ given, np.eye(n + 2), rtol=0, atol=1e-12)
    ways = (ca.Function("way", [symbols], [found], {"cse": True}) for found in (
        inverse(symbols), ca.inv_minor(symbols), ca.solve(symbols, ca.SX.eye(n))))
    ours, *others = map(operations, ways)
    assert ours == min(others)


def test_a_function_on_fixed_memory():
    """Numbers, vectors and matrices go in and out; a column is a vector unless it is to be none;
    memory of somebody else is taken over."""
    x, M = ca.SX.sym("x", 2), ca.SX.sym("M", 2, 2)
    function = ca.Function("f", [a, x, M, ca.SX.sym("none", 0)], [a * M @ x, a * x, M, ca.SX(1)])
    evaluate = Buffered(function, matrices=(1,))
    rng = np.random.default_rng(1)
    for number in (0.3, 2, np.float64(0.7), np.array([0.1])):
        vector, matrix = rng.normal(size=2), rng.normal(size=(2, 2))
        one, two, three, four = evaluate(number, vector, matrix, [])
        size = float(np.squeeze(number))
        np.testing.assert_allclose(one, size * matrix @ vector, rtol=1e-14)
        np.testing.assert_allclose(two, size * vector[:, None], rtol=1e-14)
        np.testing.assert_array_equal(three, matrix)
        assert four.tolist() == [1.0] and evaluate(number, vector, matrix, [])[0] is one
    own, out = np.array([3.0]), np.zeros(2)
    evaluate(1.0, [1.0, 0.0], np.eye(2), [])
    evaluate.bind([own], [out])
    evaluate.trigger()
    assert out.tolist() == [3.0, 0.0]
    copies = ThreadBuffered(function, matrices=(1,))
    first = copies(1.0, [1.0, 2.0], np.eye(2), [])
    copies(2.0, [1.0, 2.0], np.eye(2), [])
    assert first[0].tolist() == [1.0, 2.0] and first[1].shape == (2, 1)


@pytest.mark.parametrize("given, made", [
    (ca.SX.eye(2), lambda m: ca.sum1(ca.sum2(m))), (ca.SX(2, 2), lambda m: ca.SX.eye(2)),
    (ca.SX(2, 2), lambda m: ca.SX(2, 2))])
def test_sparse_memory_is_refused(given, made):
    matrix = ca.SX.sym("m", given.sparsity())
    with pytest.raises(ValueError, match="must be dense"):
        Buffered(ca.Function("f", [matrix], [made(matrix)]))


# -- elimination in a system of less than full rank ------------------------------------------------
q = ca.SX.sym("q", 3)
# rank 2 where q_2 = 1: row 3 is the sum of those before, row 4 is 2 q_0 times row 2
K = ca.vertcat(ca.horzcat(q[0], 1, q[2] - 1, q[1]), ca.horzcat(2, q[1], 1 + q[0], 0),
               ca.horzcat(2 + q[0], 1 + q[1], q[0] + q[2], q[1]),
               2 * q[0] * ca.horzcat(2, q[1], 1 + q[0], 0))
POINTS = np.column_stack([np.random.default_rng(2).uniform(0.5, 2, (6, 2)), np.ones(6)])


def at_points(expression) -> np.ndarray:
    return np.array([ca.Function("at", [q], [ca.densify(expression)])(point).full()
                     for point in POINTS])


@pytest.mark.parametrize("units", [[1, 1, 1, 1], [1e-8, 1e5, 1, 1e3]])
@pytest.mark.parametrize("avoid", [(), (1,), (0, 3)])
def test_row_reduction(units, avoid):
    """On the manifold: K times a solution is the right side, K times the kernel vanishes, what must
    vanish does so for a right side in the image alone; whatever the units of the rows."""
    scaled = ca.diag(ca.DM(units)) @ K
    image, other = scaled @ ca.vertcat(q[0], -1, 3, q[1]), ca.SX(ca.DM(units)) * ca.vertcat(
        1, 2, 5, 3)
    for right, solvable in ((image, True), (other, False)):
        reduced = row_reduce_avoiding(scaled, right, at_points(scaled), 2, avoid)
        assert len(reduced.pivots) == 2 == len(reduced.free) and set(avoid) <= {*reduced.free}
        conditions = at_points(ca.vertcat(*reduced.conditions))
        assert conditions.shape[1] == 2
        assert (np.abs(conditions / np.max(units)).max() < 1e-12) == solvable
        values = {reduced.free[0]: ca.SX(0.3), reduced.free[1]: q[0]}
        for given in (values, {}):
            w = at_points(reduced.solve(given))
            for column, value in given.items():
                np.testing.assert_allclose(w[:, column], at_points(value)[:, 0], rtol=1e-14)
            missed = (at_points(scaled) @ w - at_points(right))[..., 0] / units
            rows = [r for r, _ in reduced.pivots]
            assert np.abs(missed[:, rows]).max() < 1e-12
            assert (np.abs(missed).max() < 1e-12) == solvable
        kernel = at_points(reduced.kernel(reduced.free))
        assert np.abs((at_points(scaled) @ kernel) / np.array(units)[:, None]).max() < 1e-12
        assert np.abs(kernel[:, reduced.free, :] - np.eye(2)).max() < 1e-15


def test_pivots_are_constant_where_they_can_be_and_never_small():
    """Of variables the one with least fill-in; a coefficient that is small at one point is none."""
    def pivots(*rows):
        matrix = ca.vertcat(*[ca.horzcat(*row) for row in rows])
        return row_reduce(matrix, ca.SX(len(rows), 1), at_points(matrix), len(rows)).pivots

    assert pivots((q[0], q[1], 1 + q[0]), (1, 2 * q[1], q[0] * q[1]))[0] == (1, 0)
    even = 1 + 0.01 * q[0]
    assert pivots((even, q[1], even), (q[1], even, q[0]), (q[0], 0, 0))[0] == (2, 0)
    assert pivots((q[0], 3 + q[1], 0), (q[0] * q[1], 0, 1e-9 * q[0]))[0][1] != 2
    point = float(POINTS[3, 0])
    assert pivots((10 * (q[0] - point), 0.5 + 0.01 * q[1])) == [(0, 1)]
    flat = pivots((q[0] - point, 1 + q[1], 0), (q[0], 0, 1 + q[0]))
    assert {*flat} == {(0, 1), (1, 2)}


def test_a_column_of_its_own_goes_before_a_short_row():
    """(2, 0) others in row and column of the first pivot, (1, 1) of the other: nothing fills in."""
    matrix = ca.blockcat([[q[0], q[1], q[0] * q[1]], [0, q[1], q[0]]])
    matrix[1, 0] = ca.SX(1, 1)
    matrix = ca.sparsify(matrix)
    assert row_reduce(matrix, ca.SX(2, 1), at_points(matrix), 2).pivots[0] == (0, 0)


@pytest.mark.parametrize("number, column", [(0.1005, 1), (-0.1005, 1), (0.0995, 0)])
def test_a_constant_pivot_is_at_least_a_tenth_of_the_largest(number, column):
    matrix = ca.horzcat(1 + 1e-6 * q[0], number)
    reduced = row_reduce(matrix, ca.SX(1, 1), at_points(matrix), 1)
    assert reduced.pivots == [(0, column)] and reduced.free == (1 - column,)


@pytest.mark.parametrize("entry, rank", [(1.1e-9, 2), (0.9e-9, 1)])
def test_an_entry_below_a_billionth_of_its_row_is_rounding(entry, rank):
    """Also one that is left by the elimination; what remains of its row is a condition."""
    given = ca.blockcat([[1, 1], [1, 1 + entry]]), ca.vertcat(q[0], q[1])
    reduced = row_reduce_avoiding(*given, at_points(given[0]), 2, ())
    assert (reduced is not None) == (rank == 2)
    single = row_reduce(*given, at_points(given[0]), 1)
    conditions = at_points(ca.vertcat(*single.conditions))[:, 0, 0]
    np.testing.assert_allclose(conditions, POINTS[:, 1] - POINTS[:, 0], rtol=1e-12)
    diagonal = ca.diag(ca.vertcat(1, entry)) + ca.DM([[0, 0], [1, 0]])
    found = row_reduce_avoiding(diagonal, ca.SX(2, 1), at_points(diagonal), 2, ())
    assert (found is not None) == (rank == 2)


def test_rank_that_rounding_hides_is_said():
    with pytest.raises(MechanicsError, match="not all of 3 equations .* from rounding: their "
                                             r"coefficients are 0\.\d+ to \d\.\d+ in size"):
        row_reduce(K, ca.SX(4, 1), at_points(K), 3)
    assert row_reduce_avoiding(K, ca.SX(4, 1), at_points(K), 2, (0, 1, 2)) is None


def test_a_row_in_another_unit_is_one_and_a_row_of_rounding_errors_is_none():
    one = unit_rows(at_points(K[:2, :]))
    for size, left in ((np.finfo(float).eps, 0.0), (1e-12, 1.0)):
        sizes = np.abs(unit_rows(one * np.array([[1e9], [1e9 * size]]))).max(axis=(0, 2))
        assert sizes == pytest.approx((1.0, left), rel=1e-15)


@pytest.mark.parametrize("number, told", [(inf, [inf]), (-inf, [-inf]), (1e308, []), (0.0, [])])
def test_numbers_that_are_none_are_found_among_those_of_an_expression(number, told):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    assert wrong_numbers(3 * ca.sin(x * y) + ca.if_else(y > 2, number, x / 7)) == told
    assert wrong_numbers(ca.SX(number)) == told


def test_what_is_no_number_is_found_once():
    (found,) = wrong_numbers(ca.SX.sym("x") - ca.SX(nan) * 2)
    assert isnan(found)
