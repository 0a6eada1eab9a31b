"""Expressions as a person writes them, and names in LaTeX: what is read back means the same."""

import re

import casadi as ca
import numpy as np
import pytest
import sympy

from nhmech.symbolic.document import Section, to_latex, to_notebook, to_text
from nhmech.symbolic.plain_text import text
from nhmech.symbolic.written import GREEK, Writer, latex_name

x, y, z, w, a, b, c = (ca.SX.sym(name) for name in "xyzwabc")
phi, psi, mass, lean, m1 = (ca.SX.sym(name) for name in ("phi", "psi", "mass", "lean", "m_1"))
SYMBOLS = [x, y, z, w, a, b, c, phi, psi, mass, lean, m1]
sin, cos, tan, sqrt = ca.sin, ca.cos, ca.tan, ca.sqrt


def read_back(words: str, at) -> float:
    """The value of what is written, by SymPy."""
    words = re.sub(r"\b(sin|cos|tan)\^(\d+)(\((?:[^()]|\([^()]*\))*\))", r"\1\3^\2", words)
    words = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", words).replace("^", "**")
    names = {symbol.name(): value for symbol, value in zip(SYMBOLS, at)}
    return float(sympy.sympify(words, locals={name: sympy.Symbol(name) for name in names}).evalf(
        20, subs=names))


@pytest.mark.parametrize("expression, plain, latex", [
    # sums and their signs
    (2 * (a + b), "2 (a + b)", r"2 \left(a + b\right)"),
    ((a + b) ** 2, "(a + b)^2", r"\left(a + b\right)^{2}"),
    (-(a + b) ** 2, "-(a + b)^2", r"-\left(a + b\right)^{2}"),
    ((a + b) / c, "(a + b)/c", r"\frac{a + b}{c}"),
    (-(a + b) / c, "-(a + b)/c", r"-\frac{a + b}{c}"),
    ((a + b) * c, "c (a + b)", r"c \left(a + b\right)"),
    (-(a + b), "-(a + b)", "-(a + b)"), (a + b, "a + b", "a + b"), (-a - b + x, "x - (a + b)",
                                                                    "x - (a + b)"),
    ((a + b) * x, "(a + b) x", r"\left(a + b\right) x"),
    ((a + b) / (1 + a), "(a + b)/(1 + a)", r"\frac{a + b}{1 + a}"),
    ((a + b) ** 2 / (a - b) ** 3 * x, "(a + b)^2 x/(a - b)^3",
     r"\frac{\left(a + b\right)^{2}}{\left(a - b\right)^{3}} x"),
    (1 / ((a + b) * c), "1/(c (a + b))", r"\frac{1}{c \left(a + b\right)}"),
    # terms with one coefficient
    (x / a + y / a, "(x + y)/a", r"\frac{1}{a} \left(x + y\right)"),
    (2 * x + 2 * y, "2 (x + y)", r"2 \left(x + y\right)"), (-x - y, "-x - y", "-x - y"),
    (x / 2 - y / 2, "(x - y)/2", r"\frac{1}{2} \left(x - y\right)"),
    (-x / 3 - 1 / ca.SX(3), "-(x + 1)/3", r"-\frac{1}{3} \left(x + 1\right)"),
    (a * x ** 2 * y - a * x, "a (x^2 y - x)", r"a \left(x^{2} y - x\right)"),
    (a * x - a * y - a, "a (x - y - 1)", r"a \left(x - y - 1\right)"),
    (a * x ** 2 + b * x * y + c * y ** 2, "a x^2 + b x y + c y^2", "a x^{2} + b x y + c y^{2}"),
    (x ** 3 + x * y ** 2 + x + y ** 2 + 1, "x^3 + x y^2 + x + y^2 + 1",
     "x^{3} + x y^{2} + x + y^{2} + 1"),
    # most terms of a factor are positive, or its first one
    ((c - a - b) * x, "-(a + b - c) x", r"-\left(a + b - c\right) x"),
    (1 / (c - a - b), "-1/(a + b - c)", r"-\frac{1}{a + b - c}"),
    (a * c + x * (b - a), "-(a - b) x + a c", r"-\left(a - b\right) x + a c"),
    # numbers and fractions
    (a / 2 * x ** 2, "a x^2/2", r"\frac{a}{2} x^{2}"), (3 * a / (4 * b), "3 a/(4 b)",
                                                        r"\frac{3 a}{4 b}"),
    (1 / phi, "1/phi", r"\frac{1}{\phi}"), (ca.SX(7) / 3, "7/3", r"\frac{7}{3}"), (ca.SX(-1), "-1",
                                                                               "-1"),
    (x / 3, "x/3", r"\frac{1}{3} x"), ((a / 2 + b / 3) * x, "(3 a + 2 b) x/6",
                                       r"\frac{3 a + 2 b}{6} x"),
    (1 / (a / 2 + b / 3), "6/(3 a + 2 b)", r"\frac{6}{3 a + 2 b}"),
    ((-a / 2 - b / 2) ** 3, "-(a + b)^3/8", r"-\frac{\left(a + b\right)^{3}}{8}"),
    ((b - a) * (a - c) ** 2, "(a - c)^2 (b - a)",
     r"\left(a - c\right)^{2} \left(b - a\right)"),
    (1e7 * a / 3, "3.33333e+06 a", "3.33333e+06 a"),
    # roots
    (sqrt(a) / a, "1/sqrt(a)", r"\frac{1}{\sqrt{a}}"),
    (sqrt(a) / a ** 2, "1/(a sqrt(a))", r"\frac{1}{\sqrt{a} a}"),
    (a ** 2 / sqrt(a), "a sqrt(a)", r"\sqrt{a} a"),
    (sqrt(a + b) / (a + b) ** 2, "1/(sqrt(a + b) (a + b))",
     r"\frac{1}{\sqrt{a + b} \left(a + b\right)}"),
    (sqrt(a) / sqrt(b), "sqrt(a)/sqrt(b)", r"\frac{\sqrt{a}}{\sqrt{b}}"),
    # sines and cosines of one angle
    ((1 + cos(z)) * (cos(z) - 1), "-sin^2(z)", r"-\sin^{2} z"),
    ((1 + cos(z)) ** 2 * (cos(z) - 1), "-sin^2(z) (1 + cos(z))",
     r"-\sin^{2} z \, \left(1 + \cos z\right)"),
    ((1 + cos(z)) ** 2 * (cos(z) - 1) ** 3, "sin^4(z) (cos(z) - 1)",
     r"\sin^{4} z \, \left(\cos z - 1\right)"),
    (1 / ((1 + cos(z)) * (1 - cos(z))), "1/sin^2(z)", r"\frac{1}{\sin^{2} z}"),
    ((1 + cos(z)) / (1 - cos(z)), "-(1 + cos(z))/(cos(z) - 1)",
     r"-\frac{1 + \cos z}{\cos z - 1}"),
    (a / (cos(z) ** 2 - 1) ** 2, "a/sin^4(z)", r"\frac{a}{\sin^{4} z}"),
    (sin(z) ** 2, "sin^2(z)", r"\sin^{2} z"), (1 - sin(z) ** 2, "cos^2(z)", r"\cos^{2} z"),
    (a * sin(z) ** 2 + b * cos(z) ** 2, "a sin^2(z) + b cos^2(z)",
     r"a \sin^{2} z + b \cos^{2} z"),
    (a - a * sin(z) ** 2 * cos(w) ** 2, "a (cos^2(w) cos^2(z) + sin^2(w))",
     r"a \left(\cos^{2} w \, \cos^{2} z + \sin^{2} w\right)"),
    (sin(z) ** 4, "sin^4(z)", r"\sin^{4} z"), (2 - sin(z) ** 2, "1 + cos^2(z)",
                                               r"1 + \cos^{2} z"),
    (1 / (a + sin(z)), "1/(a + sin(z))", r"\frac{1}{\sin z + a}"),
    (b / (a - 2 * sin(z)) ** 2, "b/(a - 2 sin(z))^2",
     r"\frac{b}{\left(a - 2 \sin z\right)^{2}}"),
    ((sin(w) - 2) / (a + sin(z)), "(sin(w) - 2)/(a + sin(z))",
     r"\frac{\sin w - 2}{\sin z + a}"),
    # tangents
    (sin(z) ** 3 / cos(z) ** 2, "sin(z) tan^2(z)", r"\sin z \, \tan^{2} z"),
    (sin(z) / cos(z) ** 2, "tan(z)/cos(z)", r"\frac{\tan z}{\cos z}"),
    (tan(phi) * psi * mass, "mass psi tan(phi)", r"\mathrm{mass} \psi \tan \phi"),
    (tan(z) * tan(w), "tan(w) tan(z)", r"\tan w \, \tan z"),
    (tan(z - w) * x, "-tan(w - z) x", r"-\tan\left(w - z\right) x"),
    (1 + tan(z) ** 2, "1/cos^2(z)", r"\frac{1}{\cos^{2} z}"),
    # sums and differences of angles
    (cos(z) * cos(w) - sin(z) * sin(w), "cos(w + z)", r"\cos\left(w + z\right)"),
    (cos(z) * cos(w) + sin(z) * sin(w), "cos(w - z)", r"\cos\left(w - z\right)"),
    (sin(z) * cos(w) + cos(z) * sin(w), "sin(w + z)", r"\sin\left(w + z\right)"),
    (sin(z) * cos(w) - cos(z) * sin(w), "-sin(w - z)", r"-\sin\left(w - z\right)"),
    (cos(z) * sin(w) - sin(z) * cos(w), "sin(w - z)", r"\sin\left(w - z\right)"),
    (a * cos(z) * cos(w) - b * sin(z) * sin(w), "a cos(w) cos(z) - b sin(w) sin(z)",
     r"a \cos w \, \cos z - b \sin w \, \sin z"),
    (cos(phi) * cos(psi) * cos(z) - sin(phi) * sin(psi) * cos(z), "cos(phi + psi) cos(z)",
     r"\cos z \, \cos\left(\phi + \psi\right)"),
    (a * b * cos(z) * cos(w) + a * b * sin(z) * sin(w) + cos(z), "a b cos(w - z) + cos(z)",
     r"\cos z + a b \cos\left(w - z\right)"),
    (cos(z) * cos(w) ** 2 + sin(z) * sin(w) * cos(w), "cos(w - z) cos(w)",
     r"\cos w \, \cos\left(w - z\right)"),
    (1 / (sin(z) * cos(w) - cos(z) * sin(w)), "sin(w + z)/((cos(w) + cos(z)) (cos(w) - cos(z)))",
     r"\frac{\sin\left(w + z\right)}{\left(\cos w + \cos z\right) "
     r"\left(\cos w - \cos z\right)}"),
    (sin(2 * z) * a, "a sin(2 z)", r"a \sin\left(2 z\right)"),
    # names and functions
    (mass * lean * x, "lean mass x", r"\mathrm{lean} \, \mathrm{mass} x"),
    (mass * sin(lean) * x, "mass sin(lean) x", r"\mathrm{mass} \sin\left(\mathrm{lean}\right) x"),
    (m1 * sin(phi) * mass, "m_1 mass sin(phi)", r"\mathrm{mass} m_{1} \sin \phi"),
    (ca.exp(phi * mass), "exp(mass phi)", r"e^{\mathrm{mass} \phi}"),
    (ca.atan2(a, b + 1) * x, "atan2(a, b + 1) x",
     r"\operatorname{atan}_{2}{\left(a,b + 1 \right)} x"),
    (ca.tanh(a) ** 2, "tanh(a)^2", r"\tanh{\left(a \right)}^{2}"),
    (cos(phi) ** 2 * x, "cos^2(phi) x", r"\cos^{2} \phi \, x"),
    (x / cos(z), "x/cos(z)", r"\frac{1}{\cos z} x"),
    (a ** b, "a^b", "a^{b}"), (x * 0, "0", "0"), (a * a * phi ** 3, "a^2 phi^3", r"\phi^{3} a^{2}"),
], ids=str)
def test_an_expression_in_words_and_in_latex(expression, plain, latex):
    assert Writer(False, ["x", "y"]).write(expression) == [plain]
    assert Writer(True, ["x", "y"]).write(expression) == [latex]
    at = np.random.default_rng(0).uniform(0.3, 1.2, len(SYMBOLS))
    value = float(ca.Function("f", SYMBOLS, [expression])(*at))
    assert abs(read_back(plain, at) - value) <= 2e-6 * abs(value) * ("e+" in plain) + 1e-14 * (
        1 + abs(value))


def test_random_expressions_keep_their_value():
    rng = np.random.default_rng(3)
    for speeds in ([], ["x"], ["y", "x"]):
        for _ in range(8):
            pool = [x, y, z, a, b, sin(y), cos(y), sin(y - z), tan(z / 2), sqrt(2 + a * a),
                    ca.SX(0.3), ca.SX(float(rng.integers(1, 9)) / 7)]
            for _ in range(9):
                i, j = rng.integers(len(pool), size=2)
                pool.append([pool[i] + pool[j], pool[i] - pool[j], pool[i] * pool[j],
                             pool[i] / (3 + sin(y) ** 2), pool[i] / (2 + cos(z))][rng.integers(5)])
            written, = Writer(speeds=speeds).write(pool[-1])
            at = rng.uniform(0.3, 1.2, len(SYMBOLS))
            expected = float(ca.Function("f", SYMBOLS, [pool[-1]])(*at))
            assert read_back(written, at) == pytest.approx(expected, rel=1e-10, abs=1e-11), written


@pytest.mark.parametrize("speeds, plain", [
    ((), "a x + b y + x y"), (("x", "y"), "x y + a x + b y"), (("y", "x"), "x y + b y + a x"),
    (("y", "missing", "y"), "(b + x) y + a x")])
def test_terms_begin_with_the_first_speeds(speeds, plain):
    assert Writer(speeds=speeds).write(a * x + b * y + x * y)[0].replace("y x", "x y") == plain


def test_squares_of_known_sum_are_used():
    assert Writer(unit=[("a", "b")]).write(a * a * c + b * b * c) == ["c"]
    assert Writer().write() == []


def test_long_quotients_keep_their_cosines():
    """(k0 + ...)/(a + sin) is (k0 + ...)(a - sin)/(a^2 - 1 + cos^2) at first: twice as many terms
    over three. Up to forty in all the first form is found again."""
    names = ca.vertcat(*[ca.SX.sym(f"k{i}") for i in range(19)])
    short, long = Writer().write(*(ca.sum1(names[:k]) / (a + sin(z)) for k in (18, 19)))
    assert short.endswith("/(a + sin(z))") and "/(a + sin(z))" not in long


@pytest.mark.parametrize("name, latex", [
    ("x'''", r"\dddot{x}"), ("x_1''", r"\ddot{x}_{1}"), ("omega_xyz", r"\omega_{xyz}"),
    ("e_phi'", r"e_{\dot{\phi}}"), ("E_phi1", r"E_{\phi_{1}}"), ("e_x1", "e_{x_{1}}"),
    ("u_back", r"u_{\mathrm{back}}"), ("u_b", "u_{b}"), ("tau_x", r"\tau_{x}"), ("e_x", "e_{x}"),
    ("psi_1.sin", r"\sin \psi_{1}"), ("phi.cos'", r"\dot{\mathrm{phi.cos}}"),
    ("lean1", r"\mathrm{lean1}"), ("a_b", r"\mathrm{a\_b}"), ("m&m", r"\mathrm{m\&m}"),
    ("x y", r"\mathrm{x\ y}"), ("q12", "q_{12}"), ("wxyz", "w_{xyz}"), ("wxyzw",
                                                                       r"\mathrm{wxyzw}"),
    ("Omegax", r"\Omega_{x}"), ("xi", r"\xi"), ("Psi2'", r"\dot{\Psi}_{2}"), ("u_", r"u"),
    *((name, f"\\{name}") for name in GREEK)])
def test_names_in_latex(name, latex):
    assert latex_name(name) == latex


# -- plain text, as it stands ----------------------------------------------------------------------
def test_plain_text_means_what_is_computed():
    """Precedence and brackets, of random trees."""
    rng = np.random.default_rng(4)
    symbols = [a, b, c]
    names = {"abs": abs, "min": min, "max": max, "sign": np.sign} | {
        name: getattr(np, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh",
                                             "sinh", "cosh")} | {
        "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2}
    made = [ca.asin(a / 3), ca.acos(a / 3), ca.atan(a), ca.exp(b), ca.log(c), ca.sinh(a),
            ca.cosh(b), tan(a / 3), ca.sign(-a)]
    for _ in range(70):
        pool = [a, b, c, ca.SX(float(rng.integers(-3, 4))), ca.SX(-0.5), ca.SX(1.25)]
        for _ in range(7):
            one, two = (pool[i] for i in rng.integers(len(pool), size=2))
            pool.append([one + two, one - two, one * two, one / (two * two + 1), -one, 2 * one,
                         one ** 2, 1 / (one * one + 2), (one * one + 1) ** two, ca.fabs(one) ** 1.5,
                         sin(one), ca.fmin(one, two), ca.fmax(one, two), sqrt(one * one + 1),
                         ca.atan2(one, two * two + 1), ca.tanh(one), one - (-two), one / 2,
                         (-one) * two, two ** 2 * one][rng.integers(20)])
        made.append(pool[-1])
    at = {"a": 0.7, "b": -1.1, "c": 1.3}
    for expression in made:
        words = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", text(expression)).replace("^", "**")
        value = float(ca.Function("f", symbols, [expression])(*at.values()))
        if abs(value) < 1e6:
            assert eval(words, {**names, **at}) == pytest.approx(value, rel=1e-10, abs=1e-10), words


@pytest.mark.parametrize("expression, plain", [
    (a + b + c, "a + b + c"), (a - b - c, "a - b - c"), (a - (b + c), "a - (b + c)"),
    (a * b * c, "a b c"), (a / b / c, "a / b / c"), (a / (b / c), "a / (b / c)"),
    (a * (b + c), "a (b + c)"), ((a + b) / c, "(a + b) / c"), (-(a + b), "-(a + b)"),
    (-(a * b), "-a b"), (-a * b, "-a b"), (-a + b, "b - a"), (a + b * c, "a + b c"),
    (2 * a, "2 a"), (2 * (a * b), "2 (a b)"), (1 / (a * b), "1 / (a b)"), (1 / a, "1 / a"),
    (1 / sin(a) ** 2, "1 / sin(a)^2"), ((a * b) ** 2, "(a b)^2"), (a ** b, "a^b"),
    ((a * b) ** (b + 1), "(a b)^(b + 1)"), ((-a) ** b, "(-a)^b"), (a ** -0.5, "a^(-0.5)"),
    (ca.SX(-3), "-3"), (ca.SX(0.1), "0.1"), (ca.SX(1 / 3), "0.333333333333"),
    (ca.SX(-2.5e20), "-2.5e+20"), (a * ca.SX(-3), "(-3) a"), (a - 3, "a - 3"),
    (ca.atan2(a, b), "atan2(a, b)"), (ca.fabs(a), "abs(a)"), (ca.floor(a), f"op{ca.OP_FLOOR}(a)")],
    ids=str)
def test_plain_text(expression, plain):
    assert text(expression) == plain


def test_long_chains_are_written():
    """Of thousands of terms, deeper than Python's recursion goes; a shared part is written once, so
    that text whose length doubles with each level ends at the length that is allowed."""
    names = [ca.SX.sym(f"k{i}") for i in range(1500)]
    assert text(sum(names, ca.SX(0))) == " + ".join(name.name() for name in names)
    deep = a
    for _ in range(2000):
        deep = sin(deep) * deep
    with pytest.raises(OverflowError):
        text(deep, most=1000)


# -- documents -------------------------------------------------------------------------------------
MOTION = Section("motion of a 50% sled", (("m a", "F_x + 1"), ("where it holds_well", "")))
WORDS = Section("notes & more", (("no formula", ""), ("none {here}", "")))


def test_a_document_compiles_by_itself():
    assert to_latex("sled_1", [MOTION, WORDS]) == "\n".join([
        r"\documentclass{article}", r"\usepackage{amsmath}", r"\usepackage[margin=2cm]{geometry}",
        r"\begin{document}", r"\section*{sled\_1}", r"\section*{motion of a 50\% sled}",
        r"\begin{align*}", r"m a &= F_x + 1 \\", r"&\text{where it holds\_well}", r"\end{align*}",
        r"\section*{notes \& more}", "no formula", "", r"none \{here\}", r"\end{document}", ""])
    assert to_notebook([MOTION, WORDS]) == "\n".join([
        "$$", r"\begin{aligned}", r"m a &= F_x + 1 \\", r"&\text{where it holds\_well}",
        r"\end{aligned}", "$$"])


def test_headings_and_formulas_as_text():
    assert to_text([MOTION, WORDS]) == "\n".join([
        "motion of a 50% sled", "  m a = F_x + 1", "  where it holds_well", "", "notes & more",
        "  no formula", "  none {here}"])
    assert to_text([]) == ""
