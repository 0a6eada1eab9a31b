"""The normal form of expressions: angles by as few as do, polynomials over products of polynomials,
and the expression that they stand for. No value changes, and what is zero has the numerator 0."""

from fractions import Fraction
from itertools import product

import casadi as ca
import numpy as np
import pytest
import sympy

from nhmech.errors import MechanicsError
from nhmech.symbolic import rational
from nhmech.symbolic.angles import Angles
from nhmech.symbolic.evaluation import INSIDE, Evaluation
from nhmech.symbolic.rational import (
    PRIME,
    Field,
    Generator,
    Ratio,
    TooLongError,
    may_divide,
)
from nhmech.symbolic.written import Writer

x, y, z, a, b = (ca.SX.sym(name) for name in ("x", "y", "z", "a", "b"))
SYMBOLS = [x, y, z, a, b]
zero = (y + 2 * z) - (z + y + z)        # CasADi does not see it


# -- angles ----------------------------------------------------------------------------------------
def angle(**shares) -> dict[str, Fraction]:
    """`c` is the constant."""
    return {"" if name == "c" else name: Fraction(share) for name, share in shares.items()}


def total(angles: Angles, form) -> dict[str, Fraction]:
    """What the components of an angle stand for."""
    sign, components = angles.combination(form)
    made: dict[str, Fraction] = {}
    for i, times in components.items():
        assert type(times) is int and times
        for name, share in angles.basis[i].items():
            made[name] = made.get(name, Fraction(0)) + sign * times * share
    return {name: share for name, share in made.items() if share}


@pytest.mark.parametrize("given, basis", [
    ([angle(y=2), angle(y=1)], [angle(y=1)]),
    ([angle(y=-3)], [angle(y=3)]),
    ([angle(y=1, z=1), angle(z=1), angle(y=1)], [angle(y=1), angle(z=1)]),
    ([angle(y=1, z=-1), angle(y=1, z=1), angle(y=1)], [angle(y=1), angle(y=1, z=-1)]),
    ([angle(y="1/2"), angle(y="1/3")], [angle(y="1/6")]),
    ([angle(y=1), angle(z=1), angle(y="1/2", z="3/5")], [angle(y="1/2"), angle(z="1/5")]),
    ([angle(y=3, c=1), angle(y=1), angle(c="1/4")], [angle(c="1/4"), angle(y=1)]),
    ([angle(c=1, y=-1), angle(c=-1, y=1)], [angle(c=-1, y=1)]),
    ([None, {}, angle(z=1)], [angle(z=1)])], ids=str)
def test_angles_have_a_basis_of_simple_ones(given, basis):
    """Few names before many, then small numbers; as long as all are whole multiples."""
    assert Angles(given).basis == basis


def test_angles_are_whole_combinations_of_independent_ones():
    rng = np.random.default_rng(0)
    names = ("", "p", "q", "r")
    for _ in range(30):
        table = [[Fraction(int(n), int(d)) for n, d in zip(rng.integers(-3, 4, 4),
                                                          rng.integers(1, 5, 4))]
                 for _ in range(5)]
        forms = [{name: share for name, share in zip(names, row) if share} for row in table]
        angles = Angles(forms)
        assert [total(angles, form) for form in forms] == forms
        wanted = sympy.Matrix(table).rank()
        assert len(angles.basis) == wanted == sympy.Matrix(
            [[one.get(name, 0) for name in names] for one in angles.basis]).rank()
        # and of no smaller ones than that: the components in each have no common divisor
        for i in range(wanted):
            assert np.gcd.reduce([angles.combination(form)[1].get(i, 0) for form in forms]) == 1


@pytest.mark.parametrize("argument, plain", [
    (2 * y, "sin(2 y)"), (y * 3, "sin(3 y)"), (y / 4, "sin(y/4)"), (-y, "-sin(y)"),
    (2 * y - z, "sin(2 y - z)"), (2 * (y + 1), "sin(2 y + 2)"), (1 - y, "-sin(y - 1)"),
    (y + ca.pi / 2, "sin(pi/2 + y)"), (ca.pi * y, "sin(pi y)"), (ca.sqrt(2) * y, "sin(sqrt(2) y)"),
    (y * z, "sin(y z)"), (2 / y, "sin(2/y)"), (y / z + 1, "sin((y + z)/z)"),
    (zero, "0"), (zero * a, "0"), (a * zero, "0"), (a - zero, "sin(a)"),
    (y / (zero + 2), "sin(y/2)"), ((zero + 2) * (y + a), "sin(2 a + 2 y)"),
    ((y + a) * (zero + 2), "sin(2 a + 2 y)"), ((zero + 2) / (zero + 3), "sin(2/3)"),
    (ca.exp(y), "sin(exp(y))"), (y ** (1 / 3), "sin(y^(1/3))")], ids=str)
def test_the_argument_of_a_sine_is_written_as_one_angle(argument, plain):
    assert Writer().write(ca.sin(argument)) == [plain]


# -- expressions -----------------------------------------------------------------------------------
def of_value(evaluation: Evaluation, k: int, at) -> float:
    """A value at numbers of x, y, z, a, b."""
    found = evaluation.field.plain(evaluation.values[k])
    return float(sympy.sympify(found).subs({**dict(zip("xyzab", at)), "pi": sympy.pi}).evalf(17))


@pytest.mark.parametrize("expression", [
    x + y, x - y, x * y, x / y, -x, 2 * x, x ** 2, 1 / x, ca.SX(0.3) - x, x / x + x,
    ca.sin(y), ca.cos(y), ca.tan(y), ca.tan(-y), ca.cos(-2 * y), ca.sin(-2 * y), ca.sin(z - 2 * y),
    ca.tan(3 * y - z) * x, ca.sin(y / 2) * ca.cos(y / 3), ca.cos(2 * y - 3 * z) / ca.sin(z),
    ca.asin(x / 2), ca.acos(x / 2), ca.atan(x), ca.atan2(x, y), ca.atan2(y, x), ca.exp(x),
    ca.log(x), ca.tanh(x), ca.sinh(x), ca.cosh(x), ca.fabs(-x), ca.sign(-x), ca.sqrt(x),
    ca.sqrt(x + y) ** 3, 1 / (1 + ca.sqrt(x)), 1 / (ca.sqrt(x) + ca.sqrt(y)), ca.sqrt(x / y),
    x ** 3, x ** -3, x ** 12, x ** 13, x ** -12, x ** 0.5, x ** 1.5, x ** -0.5, x ** -2.5,
    x ** (1 / 3), x ** y, ca.SX(2) ** x, x ** (y / z), (x + y) ** ca.SX(0), ca.sin(y) ** -2,
    ca.pi * x, ca.sqrt(2) * x, -ca.sqrt(3) / 2 * x, ca.sin(ca.sqrt(2) * y + 1) * ca.cos(1),
    ca.sin(y * z) * ca.cos(y * z) * ca.sin(z), ca.tan(x * y), ca.sin(ca.sin(x * y)),
    (1 + ca.cos(y)) / (1 - ca.cos(y)), 1 / (ca.sin(y) + ca.cos(z)), (x + y) / (x - y / 3) ** 2,
    1 / (1 / x + 1 / y), ca.exp(x) * ca.exp(y), ca.exp(x / 2) ** 2], ids=str)
def test_a_value_stays(expression):
    evaluation = Evaluation([expression])
    f = ca.Function("f", SYMBOLS, [expression])
    for at in np.random.default_rng(1).uniform(0.3, 1.3, (3, 5)):
        assert of_value(evaluation, 0, at) == pytest.approx(float(f(*at)), rel=1e-13)


def test_whatever_is_zero_has_the_numerator_zero():
    """Rings, fields, angles and roots: of random expressions."""
    rng = np.random.default_rng(2)
    pool = [x, ca.sin(y), ca.cos(y), ca.sin(y - 2 * z), ca.tan(z / 2), ca.sqrt(2 + a), ca.exp(b),
            ca.sqrt(3) + x, 0.4 * b, 1 / (2 + ca.cos(z)), x / (1 + ca.sin(y)), a - b]
    for _ in range(12):
        f, g, h = (pool[i] for i in rng.choice(len(pool), 3, replace=False))
        found = Evaluation([(f + g) * h - f * h - h * g, (f + g) ** 2 - f ** 2 - 2 * f * g - g ** 2,
                            f / g * g - f, f / g - h / g - (f - h) / g, (f - g) * (f + g) * h
                            + h * (g * g - f * f), 1 / f + 1 / g - (f + g) / (f * g),
                            f / (g * h) ** 2 - (f / h / h) / g ** 2, f - g + (g - f)])
        assert [value.numerator for value in found.values] == [0] * 8
        assert all(value == Ratio(found.field.ring.zero) for value in found.values)


@pytest.mark.parametrize("expression", [
    ca.sin(y + z) - ca.sin(y) * ca.cos(z) - ca.cos(y) * ca.sin(z),
    ca.cos(y - z) - ca.cos(y) * ca.cos(z) - ca.sin(y) * ca.sin(z),
    ca.tan(2 * y) - 2 * ca.tan(y) / (1 - ca.tan(y) ** 2), ca.sin(y) ** 2 + ca.cos(y) ** 2 - 1,
    ca.cos(2 * y) - 1 + 2 * ca.sin(y) ** 2, ca.sin(-y) + ca.sin(y), ca.cos(-y) - ca.cos(y),
    ca.sqrt(x) ** 4 - x ** 2, ca.sqrt(x) * ca.sqrt(x) - x, x ** 1.5 - x * ca.sqrt(x),
    ca.sqrt(2) * x * (ca.sqrt(2) * y) - 2 * x * y, ca.exp(x + y) - ca.exp(y + x),
    ca.exp(x / y) - ca.exp(x * x / (y * x)), ca.sqrt(x / y) - ca.sqrt(x * x / (y * x)),
    (x ** 2 - y ** 2) / (x - y) - x - y, ca.atan2(2 * x, y) - ca.atan2(x + x, y),
    x ** y * z - z * x ** y, (x + y) ** 0 - 1, ca.tan(y) - ca.sin(2 * y) / (1 + ca.cos(2 * y)),
    1 / (1 + ca.sqrt(x)) - (1 - ca.sqrt(x)) / (1 - x), ca.sin(y / 2)
    - 2 * ca.sin(y / 4) * ca.cos(y / 4), ca.pi * x - x * ca.pi], ids=str)
def test_an_identity_is_seen(expression):
    assert Evaluation([expression]).values == [Ratio(Evaluation([x]).field.ring.zero)]


@pytest.mark.parametrize("expression", [
    1 / (1 + ca.sqrt(x)), 1 / (ca.sqrt(x) + ca.sin(y)), x / (ca.sqrt(2) + ca.cos(y)),
    1 / (1 + ca.sin(y) + ca.sin(z)), 1 / (ca.sqrt(x) * ca.sqrt(y) + 1)], ids=str)
def test_no_denominator_has_a_generator_whose_square_is_known(expression):
    found = Evaluation([expression])
    for factor in found.values[0].denominator:
        assert not any(power and generator.square is not None for monomial in factor
                       for power, generator in zip(monomial, found.field.generators))


def test_equal_arguments_make_one_function_and_others_another():
    found = Evaluation([ca.exp(x / y), ca.exp((x * x) / (y * x)), ca.exp(y / x), ca.log(x / y),
                        ca.atan2(x, y), ca.atan2(y, x)]).values
    assert found[0] == found[1]
    assert len({value.numerator for value in found}) == 5


@pytest.mark.parametrize("power, numerator, divides", [
    (12, "x0**12", False), (-12, "1", True), (13, "f0", False), (-13, "f0", False),
    (6.5, "f1", False), (-5.5, "f0", True), (5.5, "x0**5*f0", False), (1 / 3, "f0", False)])
def test_powers_up_to_twelve_are_multiplied_out(power, numerator, divides):
    """Of the base, or of its root. CasADi does not see that the exponent is a number."""
    value, = Evaluation([x ** (zero + power)]).values
    assert str(value.numerator) == numerator and bool(value.denominator) == divides


def test_entries_are_in_column_order_and_zeros_are_there():
    sparse = ca.SX(2, 2)
    sparse[1, 0], sparse[0, 1] = x, y
    found = Evaluation([sparse, ca.SX(0, 1), 3 * z, ca.SX(1, 2)])
    assert [str(value.numerator) for value in found.values] == [
        "0", "x0", "x1", "0", "3*x2", "0", "0"]
    assert Evaluation([]).values == [] and Evaluation([ca.SX(2, 1)]).values == [
        Ratio(0), Ratio(0)]


def test_squares_that_add_up_to_one_are_known():
    """Of pairs and longer tuples, where all of their names are there."""
    four = x ** 2 + y ** 2 + z ** 2 + a ** 2
    found = Evaluation([four - 1, 1 / a ** 2 - 1 / (1 - x * x - y * y - z * z), b ** 2],
                       [("x", "y", "z", "a"), ("x", "missing")])
    assert [str(value.numerator) for value in found.values] == ["0", "0", "x4**2"]
    pair, other = Evaluation([x ** 2 + y ** 2, y ** 3], [("x", "y")]).values
    assert str(pair.numerator) == "1" and str(other.numerator) == "-x0**2*x1 + x1"


def test_what_has_no_formula_is_refused():
    with pytest.raises(TooLongError, match=r"CasADi's operation \d+ has no formula here"):
        Evaluation([ca.fmin(x, y)])
    with pytest.raises(MechanicsError, match="an expression divides by zero"):
        Evaluation([x / zero])
    many = ca.sum1(ca.vertcat(*[ca.SX.sym(f"k{i}") for i in range(INSIDE)]))
    one, = Evaluation([ca.exp(many)]).values
    assert len(one.numerator) == 1
    with pytest.raises(TooLongError, match="a function's argument is too long to print"):
        Evaluation([ca.exp(many / x)])


# -- polynomials over products of polynomials ------------------------------------------------------
def a_field() -> Field:
    """Of p, the cosine c and sine s of an angle, r with r^2 = 1 + p, and t, of which nothing is
    known."""
    ring = sympy.polys.rings.PolyRing(["p", "c", "s", "r", "t"], sympy.QQ,
                                      sympy.polys.orderings.lex)
    p, c, _, _, _ = ring.gens
    symbols = sympy.symbols("p c s r t")
    return Field(ring, [Generator(symbols[0]), Generator(symbols[1]),
                        Generator(symbols[2], 1 - c ** 2), Generator(symbols[3], 1 + p),
                        Generator(symbols[4])], {"p": 0, "t": 4}, [2])


def points(count: int = 3):
    """Rational points at which squares are what is known of them."""
    for k in range(1, count + 1):
        m, n = Fraction(k, 3), Fraction(k + 1, 5)
        yield (n ** 2 - 1, (1 - m ** 2) / (1 + m ** 2), 2 * m / (1 + m ** 2), n, Fraction(k, 7) - 2)


def polynomial(field: Field, rng, terms: int = 3, highest: int = 2):
    made = field.ring.zero
    while not made or made.is_ground:
        made = sum((field.ring({tuple(map(int, rng.integers(0, highest + 1, 5))):
                                sympy.QQ(int(rng.integers(-4, 5)), int(rng.integers(1, 4)))})
                    for _ in range(terms)), field.ring.zero)
    return made


def at(p, point) -> Fraction:
    return sum((Fraction(int(c.numerator), int(c.denominator)) * np.prod(
        [one ** power for one, power in zip(point, monomial)]) for monomial, c in p.terms()),
        Fraction(0))


def at_ratio(a: Ratio, point) -> Fraction:
    below = Fraction(1)
    for factor, power in a.denominator.items():
        below *= at(factor, point) ** power
    return at(a.numerator, point) / below


def free(field: Field, p) -> bool:
    """Whether no square is left that is known."""
    return all(m[i] <= 1 for m in p for i, g in enumerate(field.generators) if g.square is not None)


def ratios(field: Field, rng) -> tuple[Ratio, Ratio]:
    """Two that have a factor below in common."""
    shared, one, two = ((field.ring.gens[0] + k) for k in (2, 3, 5))
    return (field.ratio(polynomial(field, rng), {shared: 2, one: 1}),
            field.ratio(polynomial(field, rng), {shared: 1, two: 3}))


def test_arithmetic_of_ratios():
    """Sums, differences, products and inverses, as Python's fractions have them."""
    field, rng = a_field(), np.random.default_rng(3)
    for _ in range(5):
        one, two = ratios(field, rng)
        made = {"+": field.add(one, two), "-": field.add(one, two, -1),
                "*": field.multiply(one, two), "/": field.multiply(one, field.invert(two))}
        for point in points():
            first, second = at_ratio(one, point), at_ratio(two, point)
            assert at_ratio(made["+"], point) == first + second
            assert at_ratio(made["-"], point) == first - second
            assert at_ratio(made["*"], point) == first * second
            assert not second or at_ratio(made["/"], point) == first / second
        for value in made.values():
            assert free(field, value.numerator)
            for factor in value.denominator:
                assert factor.LC == 1 and not any(m[2] or m[3] for m in factor)
                assert value.numerator.div(factor)[1]
        assert field.multiply(two, field.invert(two)) == Ratio(field.ring.one)
    with pytest.raises(MechanicsError, match="divides by zero"):
        field.invert(Ratio(field.ring.zero, {field.ring.gens[0]: 1}))


def test_squares_that_are_known_are_put_in():
    field, rng = a_field(), np.random.default_rng(4)
    for _ in range(12):
        p = polynomial(field, rng, 5, 5)
        reduced = field.reduce(p)
        assert free(field, reduced) and all(at(p, point) == at(reduced, point)
                                            for point in points())
    p, c, s, r, t = field.ring.gens
    assert field.reduce(s ** 3 * r ** 4 * t ** 2) == s * (1 - c ** 2) * (1 + p) ** 2 * t ** 2


def test_lowest_terms():
    """A factor goes as often as it divides; nothing stands under zero."""
    field = a_field()
    p, c, s, _, t = field.ring.gens
    f, g = p + c + 1, t ** 2 + p
    assert field.cancel(f ** 2 * g * s, {f: 3, g: 1}) == Ratio(s, {f: 1})
    assert field.cancel(f ** 2 * g * s, {f: 1}) == Ratio(f * g * s, {})
    assert field.cancel(f * s + 1, {f: 2, g: 1}) == Ratio(f * s + 1, {f: 2, g: 1})
    assert field.cancel(field.ring.zero, {f: 2}) == Ratio(field.ring.zero, {})
    assert field.ratio(s ** 2 * t, {1 - c: 1, g: 1}) == Ratio((1 + c) * t, {g: 1})


def test_a_factor_is_tried_where_it_may_divide():
    """Always where it does, and at a random point modulo a prime nowhere else."""
    field, rng = a_field(), np.random.default_rng(5)
    point = rng.integers(PRIME, size=5).tolist()
    for _ in range(20):
        factor, other = (polynomial(field, rng, 4, 2) for _ in range(2))
        assert may_divide(factor, factor * other, point)
        assert may_divide(factor, factor, point)
        assert not may_divide(factor, factor * other + 1, point)
        assert not may_divide(factor * other, factor, point)
    assert sympy.isprime(PRIME) and PRIME > 10 ** 18


@pytest.mark.parametrize("terms, is_searched", [(16, True), (17, False)])
def test_long_polynomials_are_searched_for_variables_alone(terms, is_searched):
    field = a_field()
    p, c, _, _, t = field.ring.gens
    long = sum((p ** k for k in range(terms // 2)), field.ring.zero) * (3 * c + 2) + (
        t if terms % 2 else 0)
    assert len(long) == terms
    given = 5 * p ** 2 * t * long
    number, factors = field.factor(given)
    made = field.ring.ground_new(number)
    for factor, power in factors:
        assert factor.LC == 1
        made *= factor ** power
    assert made == given and {p: 2, t: 1}.items() <= dict(factors).items()
    assert len(factors) == 2 + (len(long.factor_list()[1]) if is_searched else 1)


def test_cosines_or_sines():
    """The same ratio with 1 - sin^2 for cos^2, and the polynomial that is shorter of the two, group
    by group."""
    field, rng = a_field(), np.random.default_rng(6)
    p, c, s, r, t = field.ring.gens
    for _ in range(8):
        denominator = {c ** 2 + 3 * c + p: 2, c + 2: 1, t + 3: 1}
        one = Ratio(field.reduce(polynomial(field, rng, 4, 3)), denominator)
        swapped, fewer = field.with_sines(one, 2), field.with_fewer_terms(one.numerator)
        assert all(m[1] < 2 for f in (swapped.numerator, *swapped.denominator) for m in f)
        assert all(factor.LC == 1 for factor in swapped.denominator)
        assert len(fewer) <= len(one.numerator)
        for point in points():
            assert at_ratio(swapped, point) == at_ratio(one, point)
            assert at(fewer, point) == at(one.numerator, point)
    assert field.with_sines(Ratio(s, {c ** 2 - 1: 2}), 2) == Ratio(field.ring.one, {s: 3})
    assert field.with_fewer_terms(p * (1 - c ** 2) + t * (1 - s ** 2) + r * c ** 2 + c ** 3) == (
        p * s ** 2 + t * c ** 2 + r * c ** 2 + c ** 3)


def test_a_ratio_in_sympy():
    field = a_field()
    p, c, s, _, t = field.ring.gens
    P, C, S, _, T = sympy.symbols("p c s r t")
    assert field.plain(Ratio(p * s + 2, {c + 1: 2, t: 1})) - (P * S + 2) / (C + 1) ** 2 / T == 0
    assert len(field.meanings()) == 5
    wide = Field(field.ring, field.generators[:2], {}, [])
    assert wide.meanings() == [P, C, 0, 0, 0]


def test_work_is_counted_and_has_an_end(monkeypatch):
    """Of products exactly; what divides, factors or widens counts too."""
    monkeypatch.setattr(rational, "LIMIT", 12)
    field = a_field()
    p, c, s, r, t = field.ring.gens
    assert field.times(p + c + s, p + r) == (p + c + s) * (p + r)
    field.times(p + c + s, p + t)
    with pytest.raises(TooLongError, match="the expression takes too long to be simplified"):
        field.times(p, c)
    monkeypatch.setattr(rational, "LIMIT", 400)
    for work in (lambda f: f.cancel((p + c) * t, {p + c: 1}), lambda f: f.factor(p + c),
                 lambda f: f.add(Ratio(p), Ratio(c, {t: 2})), lambda f: f.reduce(s ** 2 * p),
                 lambda f: f.invert(Ratio(s))):
        field = a_field()
        with pytest.raises(TooLongError):
            for _ in range(400):
                work(field)
                field.times(p, p - p)
                field.times(p - p, p)
            field.times(p, c)


def test_products_of_both_signs_are_even():
    """sin(-k y) = -sin(k y) and cos(-k y) = cos(k y) whatever is between."""
    for k, n in product((-3, -1, 2), (-2, 1)):
        found = Evaluation([ca.sin(k * y + n * z) + ca.sin(-k * y - n * z),
                            ca.cos(k * y + n * z) - ca.cos(-k * y - n * z)])
        assert [value.numerator for value in found.values] == [0, 0]
