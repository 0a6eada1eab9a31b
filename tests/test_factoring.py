"""Linear forms of products, and what is taken out of them: every rewriting keeps all values, and
what looks the same is one atom."""

import math
from collections import Counter

import casadi as ca
import numpy as np
import pytest
from test_simplify import function, operations, random_function, w, x, y, z

from nhmech.symbolic import simplify as simplification
from nhmech.symbolic.factoring import Scales, rewrite, share_factors, share_terms
from nhmech.symbolic.linear_forms import (
    LONGEST,
    ONE,
    Graph,
    GraphNode,
    Value,
    add_term,
    read,
    round_off,
    round_unit,
)
from nhmech.symbolic.simplify import REWRITES, simplify

POINT = (0.7, -1.3, 2.1, 0.4)


def worths(graph: Graph, point) -> list[float]:
    """What each atom is worth at x, y, z, w, by its definition."""
    made: list[float] = []
    for kind, parts, operation, place in graph.nodes:
        if kind == "one":
            made.append(1.0)
        elif kind == "input":
            made.append(point[place[0]])
        elif kind == "sum":
            made.append(sum(c * made[a] for a, c in parts))
        elif kind == "product":
            made.append(math.prod(made[a] ** power for a, power in parts))
        else:
            given = [value.number * made[value.atom] for value in parts]
            make = ca.SX.unary if len(given) == 1 else ca.SX.binary
            made.append(float(make(operation, *map(ca.SX, given))))
    return made


def values_of(graph: Graph, outputs, point) -> np.ndarray:
    found = worths(graph, point)
    return np.array([value.number * found[value.atom] for part in outputs for value in part])


def check_normal(graph: Graph) -> None:
    """Each atom is there once, in the form that its kind promises."""
    assert len({*graph.nodes}) == len(graph.nodes)
    for kind, parts, _, _ in graph.nodes:
        if kind == "sum":
            assert len(parts) > 1 and [a for a, _ in parts] == sorted({a for a, _ in parts})
            first = next(c for a, c in parts if a != ONE)
            assert first > 0 and all(c for _, c in parts)
            if len({round_off(abs(c)) for a, c in parts if a != ONE}) == 1:
                assert first == 1
        if kind == "product":
            assert all(power and a != ONE for a, power in parts)
            assert parts == tuple(sorted(parts)) and parts != ((parts[0][0], 1),)
            if any(graph.nodes[a].kind == "product" for a, _ in parts):
                assert sum(abs(p * q) for a, p in parts for _, q in graph.factors(a)) > LONGEST


@pytest.mark.parametrize("seed", range(12))
def test_reading_and_rewriting_keep_the_values(seed):
    f = random_function(seed)
    graph, outputs = read(f)
    for _ in range(1 + REWRITES):
        check_normal(graph)
        for point in np.random.default_rng(seed).uniform(0.3, 1.5, (2, 4)):
            expected = f(*point).full().ravel()
            if np.abs(expected).max() < 1e6:
                np.testing.assert_allclose(values_of(graph, outputs, point), expected, rtol=1e-11,
                                           atol=1e-11 * max(1.0, np.abs(expected).max()))
        graph, outputs = rewrite(graph, outputs)


@pytest.mark.parametrize("one, other, ratio", [
    (x + y, y + x, 1), (2 * x + 2 * y, x * 3 + y * 3, 1.5), (x - y, y - x, -1),
    (x + 2 * y, 3 * x + 6 * y, 3), (2 * x + 3 * y, 0.2 * x + 0.3 * y, 0.1), (x + 1, -3 - 3 * x, -3),
    (x * y * z, z * (y * x), 1), (x / y * z, z / y * x, 1), (x * x, x ** 2, 1), (1 / x, 2 / x, 2),
    (y / x, 1 / (x / y), 1), ((2 * x) ** 2, x * x, 0.25), (1 / (2 * x), 1 / x, 2),
    (x * y / y, x, 1), (x * y / x / y, ca.SX(3), 3), (x + y - x, y, 1),
    (ca.sin(x + y), ca.sin(y + x), 1),
    (-(x + y), 2 * (y + x), -2), (ca.atan2(x, 2 * y), ca.atan2(x, y + y), 1),
    ((x + y) * (2 * x + 2 * y), (x + y) ** 2, 0.5), ((x + y) / (y + x), ca.SX(2), 2)], ids=str)
def test_what_is_the_same_but_for_a_number_is_one_atom(one, other, ratio):
    graph, (values,) = read(ca.Function("f", [x, y, z, w], [ca.vertcat(one, other)]))
    assert values[0].atom == values[1].atom
    assert values[1].number == pytest.approx(ratio * values[0].number, rel=1e-15)
    check_normal(graph)


@pytest.mark.parametrize("one, other", [
    (x + y, x - y), (x / y, y / x), (x + 1, x + 2), (ca.sin(x), ca.sin(-x)),
    (ca.sin(x), ca.cos(x)), (ca.atan2(x, y), ca.atan2(y, x)), (x, y), (2 * x + y, x + 2 * y)],
    ids=str)
def test_what_is_not_the_same_is_not_one_atom(one, other):
    _, (values,) = read(ca.Function("f", [x, y, z, w], [ca.vertcat(one, other)]))
    assert values[0].atom != values[1].atom


@pytest.mark.parametrize("expression", [x - x * ca.SX(1), (x + y) - y - x, x * y - y * x,
                                        (x - y) + (y - x), 0 * x, ca.sin(x) - ca.sin(x),
                                        (x - y) * ca.SX(0), ((x - y) + (y - x)) * ca.sin(x)],
                         ids=str)
def test_zero_is_no_atom(expression):
    _, (values,) = read(ca.Function("f", [x, y], [ca.densify(expression)]))
    assert values == [Value(0.0, ONE)]


def test_products_of_up_to_eight_factors_are_sorted():
    """Divisors count; longer ones stay as they were written."""
    for names, is_one in (([x, y, z, w] * 2, True), ([x, y, z, w, x, y, z, 1 / w], True),
                          ([x, y, z, w] * 2 + [x], False)):
        one, other = ca.SX(1), ca.SX(1)
        for k in range(0, len(names), 3):
            one = one * (names[k] * ca.SX(1) if k + 1 == len(names) else
                         names[k] * names[k + 1] * (names[k + 2] if k + 2 < len(names) else 1))
        for name in names[::-1]:
            other = other * name
        f = ca.Function("f", [x, y, z, w], [ca.vertcat(one, other)])
        graph, outputs = read(f)
        assert (outputs[0][0].atom == outputs[0][1].atom) == is_one
        check_normal(graph)
        np.testing.assert_allclose(values_of(graph, outputs, POINT), f(*POINT).full().ravel(),
                                   rtol=1e-14)


def test_uses_and_an_order_from_below():
    for seed in range(6):
        graph, outputs = read(random_function(seed))
        values = [value for part in outputs for value in part]
        order, uses = graph.count_uses(values)
        needs = {a: [part.atom if graph.nodes[a].kind == "function" else part[0]
                     for part in graph.nodes[a].parts] for a in order}
        assert len({*order}) == len(order) and {value.atom for value in values} <= {*order}
        for k, a in enumerate(order):
            assert {*needs[a]} <= {*order[:k]}
        expected = Counter(value.atom for value in values)
        for below in needs.values():
            expected.update(below)
        assert {a: uses[a] for a in order} == expected


@pytest.mark.parametrize("number, unit", [(1 + 2 ** -52, 1.0), (-1 - 2 ** -51, -1.0), (1.1, 1.1),
                                          (1 + 2 ** -40, 1 + 2 ** -40), (2.0, 2.0), (0.0, 0.0)])
def test_one_has_no_rounding(number, unit):
    assert round_unit(number) == unit


def test_terms_that_cancel_but_for_rounding_are_zero():
    terms = {3: 1.0, 4: -2.0}
    add_term(terms, 3, -1 - 4e-16)
    add_term(terms, 4, 2 - 1e-13)
    add_term(terms, 5, 1e-30)
    assert terms == {3: 0.0, 4: pytest.approx(-1e-13, rel=1e-2), 5: 1e-30}


# -- shared terms and factors ----------------------------------------------------------------------
def names_from(first: int):
    names = iter(range(first, first + 1000))
    return lambda: next(names)


def expanded(sums, given: int, s: int) -> dict[int, float]:
    """A sum in the atoms below `given`, which have not been made."""
    total: dict[int, float] = {}
    for a, c in sums[s].items():
        for b, d in ({a: 1.0} if a < given else expanded(sums, given, a)).items():
            total[b] = total.get(b, 0.0) + c * d
    return total


@pytest.mark.parametrize("seed", range(8))
def test_shared_terms_keep_the_sums_and_leave_no_pair_in_two(seed):
    rng = np.random.default_rng(seed)
    before = {s: {int(a): float(rng.choice([1, -1, 2, -0.5, 3]))
                  for a in rng.choice(8, rng.integers(2, 6), replace=False)}
              for s in range(20, 26)}
    made = {s: dict(terms) for s, terms in before.items()}
    share_terms(made, names_from(100))
    for s, terms in before.items():
        assert expanded(made, 20, s) == pytest.approx(terms, rel=1e-14)
    pairs = Counter((a, b, round_off(terms[b] / terms[a])) for terms in made.values()
                    for a in terms for b in terms if a < b)
    assert max(pairs.values()) == 1
    assert sum(len(terms) - 1 for terms in made.values()) <= sum(
        len(terms) - 1 for terms in before.values())


def test_the_pair_that_saves_most_is_shared_first():
    """One with a ratio other than 1 saves a product besides the sum; a pair of three sums saves
    twice."""
    sums = {20: {1: 1.0, 2: 2.0, 3: 1.0}, 21: {1: 1.0, 2: 2.0}, 22: {1: 1.0, 3: 1.0}}
    share_terms(sums, names_from(100))
    assert sums[100] == {1: 1.0, 2: 2.0} and sums[22] == {1: 1.0, 3: 1.0}
    sums = {20: {1: 1.0, 2: 1.0, 3: 1.0}, 21: {1: 3.0, 2: 3.0}, 22: {2: 1.0, 3: 1.0},
            23: {2: -2.0, 3: -2.0}}
    share_terms(sums, names_from(100))
    assert sums[100] == {2: 1.0, 3: 1.0} and sums[23] == {100: -2.0}
    assert sums[21] == {1: 3.0, 2: 3.0}
    # twice one sum, and once a sum with a product: the first of both
    sums = {20: {1: 1.0, 2: 1.0, 3: 2.0}, 21: {1: 1.0, 2: 1.0}, 22: {1: -1.0, 2: -1.0},
            23: {2: 1.0, 3: 2.0}}
    share_terms(sums, names_from(100))
    assert sums[100] == {1: 1.0, 2: 1.0}
    sums = {20: {1: 1.0, 2: 1.0, 3: 2.0}, 21: {1: 1.0, 2: 1.0}, 22: {2: 1.0, 3: 2.0}}
    share_terms(sums, names_from(100))
    assert sums[100] == {2: 1.0, 3: 2.0}


def factors_of(products, given: int, p: int) -> Counter:
    total: Counter = Counter()
    for a, power in products[p]:
        if a < given:
            total[a, power] += 1
        else:
            assert power == 1
            total.update(factors_of(products, given, a))
    return total


@pytest.mark.parametrize("seed", range(8))
def test_shared_factors_keep_the_products_and_leave_no_pair_in_two(seed):
    """A pair of divisors is none: they divide one after the other."""
    rng = np.random.default_rng(seed)
    before = {p: sorted((int(a), int(rng.choice([1, 1, -1]))) for a in rng.integers(
        0, 6, rng.integers(2, 6))) for p in range(20, 27)}
    made = {p: list(factors) for p, factors in before.items()}
    share_factors(made, names_from(100))
    pairs: Counter = Counter()
    for p in before:
        assert factors_of(made, 20, p) == Counter(before[p])
    for factors in made.values():
        pairs.update({(a, b) for k, a in enumerate(sorted(factors))
                      for b in sorted(factors)[k + 1:] if a[1] > 0 or b[1] > 0})
    assert max(pairs.values()) == 1
    for p in set(made) - set(before):
        assert max(power for _, power in made[p]) == 1


def test_divisors_alone_are_not_shared_and_the_most_frequent_pair_is():
    products = {20: [(1, -1), (2, -1), (3, 1)], 21: [(1, -1), (2, -1), (4, 1)]}
    share_factors(products, names_from(100))
    assert set(products) == {20, 21}
    products = {20: [(1, 1), (2, 1), (3, 1)], 21: [(1, 1), (2, 1)], 22: [(2, 1), (3, 1)],
                23: [(2, 1), (3, 1), (4, -1)]}
    share_factors(products, names_from(100))
    assert products[100] == [(2, 1), (3, 1)] and products[23] == [(4, -1), (100, 1)]
    assert products[21] == [(1, 1), (2, 1)] and products[20] == [(1, 1), (100, 1)]


# -- scales ----------------------------------------------------------------------------------------
def scaled(sums, loose, products=()):
    """The sums and values as they are written with scaled sums."""
    products = dict(products)
    scales = Scales(sums, loose, lambda a: products.get(a, ((a, 1),)))
    return scales, {s: {a: scales.apply(Value(c, a), s).number for a, c in terms.items()}
                    for s, terms in sums.items()}, [scales.apply(value) for value in loose]


def constants(sums, loose) -> int:
    """How many different products with a constant are written."""
    return len({(round_off(abs(c)), a) for terms in sums.values() for a, c in terms.items()
                if a != ONE and abs(c) != 1}
               | {(round_off(abs(v.number)), v.atom) for v in loose if v.atom != ONE
                  and abs(v.number) != 1})


@pytest.mark.parametrize("sums, loose, products, left", [
    ({10: {1: 2.0, 2: 2.0}}, [Value(1.0, 10)], {}, 1),
    ({10: {1: 2.0, 2: 2.0}}, [Value(0.5, 10)], {}, 0),
    ({10: {1: 2.0, 2: 4.0}, 11: {1: 1.0, 2: 2.0, 3: 1.0}}, [Value(1.0, 10), Value(1.0, 11)], {}, 2),
    ({10: {1: 2.0, 2: 4.0}, 11: {1: 1.0, 2: 2.0, 10: 0.5}}, [Value(1.0, 11)], {}, 1),
    ({10: {1: 3.0, 2: 3.0}, 11: {1: 1.0, 20: 1 / 3}}, [Value(1.0, 11)], {20: ((3, 1), (10, 1))}, 0),
    ({10: {1: 3.0, 2: 3.0}, 11: {1: 1.0, 20: 3.0}}, [Value(1.0, 11)], {20: ((3, 1), (10, -1))}, 0),
    ({10: {1: 3.0, 2: 3.0}}, [Value(9.0, 20)], {20: ((10, -2),)}, 0),
    ({10: {1: 2.0, 2: -2.0, ONE: 5.0}}, [Value(-0.5, 10)], {}, 0),
    ({10: {1: 3.0, 2: -3.0}}, [Value(5.0, 3)], {}, 1),
    ({10: {1: 6.0, 2: 6.0, 3: 1.0}, 11: {2: 4.0, 10: 3.0}}, [Value(0.5, 11)], {}, 3)], ids=str)
def test_scales_of_sums_leave_few_products_with_a_constant(sums, loose, products, left):
    scales, made, values = scaled(sums, loose, products)
    assert constants(made, values) == left


@pytest.mark.parametrize("seed", range(10))
def test_scaled_sums_have_the_same_values(seed):
    """A sum times its scale stands for it; none writes more products with a constant."""
    rng = np.random.default_rng(seed)
    products = {20 + k: ((int(rng.integers(1, 6)), 1), (10 + k, int(rng.choice([1, -1, 2]))))
                for k in range(2)}
    sums = {s: {int(a): float(rng.choice([1, 2, -2, 3, 0.5, -6]))
                for a in rng.choice([ONE, 1, 2, 3, 4, 5], 3, replace=False)} for s in (10, 11)}
    sums |= {s: {**{int(a): float(rng.choice([1, 2, -3])) for a in rng.choice([1, 2, 3], 2, False)},
                 10: 2.0, 20: 0.5, 21: 3.0} for s in (12, 13)}
    loose = [Value(float(rng.choice([1, 2, -0.5])), s) for s in (10, 11, 12, 13, 20)]
    scales, made, values = scaled(sums, loose, products)
    assert constants(made, values) <= constants(sums, loose)

    def worth(sums, values):
        known = {ONE: 1.0, 1: 0.3, 2: -1.1, 3: 0.7, 4: 2.3, 5: -0.4}
        for s in (10, 11, None, 12, 13):
            if s is None:
                for p, factors in products.items():
                    known[p] = math.prod(known[a] ** power for a, power in factors)
            else:
                known[s] = sum(c * known[a] for a, c in sums[s].items())
        return known, [value.number * known[value.atom] for value in values]

    (one, before), (other, after) = worth(sums, loose), worth(made, values)
    np.testing.assert_allclose(after, before, rtol=1e-13)
    for s in sums:
        assert other[s] == pytest.approx(scales.of[s] * one[s], rel=1e-13)


# -- fewer operations ------------------------------------------------------------------------------
@pytest.mark.parametrize("outputs, least", [
    ([(x + y) + (x + z)], 3),
    ([(x + y) * z, (x + y) + w], 3),
    ([x + y + z, (x + y + z) - z + w], 3), ([x + y + z, (x + y + z) - z - y + w], 3),
    ([x * (y + z) - x * y], 1),
    # terms of sums that are used once meet where a factor is taken out of both
    ([x * (y + z) + x * (w - y)], 2), ([x * (y + z) - x * (w + y) * 2 + x * w], 3),
    ([x * (y + z) + x * w, z + w], 3), ([(y + z) / x + w / x, z + w], 3),
    ([(y + z) / x + (w - y) / x], 2), ([x * (y + z) + x * w, (y + z) * w], 4),
    ([x * y + x * z + w * z], 4),
    ([x / (y * z) + w / (y * z)], 3),
    ([x / y / z + w / y], 3),
    ([x ** 2 * y + x ** 2 * z], 3),
    ([x ** 3 + x ** 2 * y], 3),
    ([x * x, x * x * y], 2),
    ([ca.sin(x) * y + ca.sin(x) * z], 3),
    ([-x - y], 2), ([x + y, -x - y], 2), ([-(x * y)], 2), ([x - 2 * y - 2 * z], 3), ([-x + y], 1),
    ([1 / x / y], 2),
    # y z w is shared by two factors of a product that is too long to be sorted
    ([(x * y * z * w * x) * (y * z * w * z * w)], 6),
    ([-ca.sin(x) - ca.sin(y) + ca.SX(3)], 4),
    ([3 * x * y, 3 * y * z, 3 * y], 3),
    ([2 * (x + y), x + y], 2),
    ([ca.fmax(x, -y) + ca.fmax(-y, x) * 0], 2),
    ([5 + ca.SX(0) * x, 5 * x, 5 * y], 2)], ids=str)
def test_as_few_operations_as_by_hand(outputs, least):
    made = simplify(function(*outputs))
    assert operations(made) == least
    np.testing.assert_allclose(made(*POINT).full(), function(*outputs)(*POINT).full(), rtol=1e-14,
                               atol=1e-15)


def test_large_functions_are_rewritten_once(monkeypatch):
    """And others as often as that makes them shorter: here each rewriting takes out a factor."""
    counted = []
    monkeypatch.setattr(simplification, "rewrite",
                        lambda *given: counted.append(1) or rewrite(*given))
    f = function(x * y * z + x * y * w + x * z * w + x + y * z)
    monkeypatch.setattr(simplification, "LARGE", operations(f))
    simplify(f)
    assert len(counted) > 2 and len(counted) % REWRITES == 0
    counted.clear()
    monkeypatch.setattr(simplification, "LARGE", operations(f) - 1)
    short = simplify(f)
    assert len(counted) == 1 and operations(short) < operations(f)


def test_calls_and_what_is_not_finite_stay():
    inner = ca.Function("inner", [x], [ca.sin(x) * x], {"never_inline": True})
    f = ca.Function("f", [x], [inner(x) + x * 2 + x * 3])
    assert simplify(f) is f
    g = ca.Function("g", [x], [x * ca.inf + x * 2 + x * 3])
    assert simplify(g) is g
    graph = Graph()
    assert graph.atom(GraphNode("one")) == ONE
