"""Systems and equations as people read them: what is printed means the same as what is computed."""

import re
import shutil
import subprocess

import casadi as ca
import pytest
from support import sampled

from nhmech.mechanics import constrain, euclidean, gibbs_appell, herglotz, lagrangian_system
from nhmech.mechanics.algebroid import circle, product
from nhmech.mechanics.algebroid_makers import special_orthogonal
from nhmech.symbolic.document import to_latex
from nhmech.symbolic.rational import TooLongError
from nhmech.symbolic.written import Writer, latex_name
from nhmech.systems import load_system, system_names
from nhmech.systems.written import sections

x, y, z, a, b = (ca.SX.sym(name) for name in ("x", "y", "z", "a", "b"))


@pytest.mark.parametrize("expression, plain", [
    (a * x + b * x, "(a + b) x"),
    (ca.sin(y) ** 2 + ca.cos(y) ** 2, "1"),
    (ca.sin(y + z) * ca.cos(z) - ca.cos(y + z) * ca.sin(z) - ca.sin(y), "0"),
    ((1 - ca.cos(y) ** 2) / ca.sin(y), "sin(y)"),
    (a * ca.sin(y) / ca.cos(y), "a tan(y)"),
    (a * ca.cos(y) / ca.sin(y) ** 3, "a cos(y)/sin^3(y)"),
    (a * ca.sin(z) / ca.sin(y), "a sin(z)/sin(y)"),
    (ca.sqrt(a) ** 2, "a"),
    (a / ca.sqrt(a), "sqrt(a)"),
    (ca.SX(1) / 3 * a, "a/3"),
    (9.81 * a, "981 a/100"),
    (ca.pi / 2 * a, "a pi/2"),
    (ca.sqrt(2) * a, "a sqrt(2)"),
    (a * x ** 2 + a * b, "a x^2 + a b"),
    (ca.sin(a * b) * x, "sin(a b) x"),
    (ca.exp(-a) * x, "exp(-a) x"),
    (ca.exp(x / a), "exp(x/a)"),
    (a ** b * x, "a^b x"),
    (ca.SX(0), "0"),
    ((ca.cos(y) * ca.cos(z) + ca.sin(y) * ca.sin(z)) * x, "cos(y - z) x"),
    (ca.cos(y) * ca.cos(z) - ca.sin(y) * ca.sin(z), "cos(y + z)"),
    (a * ca.cos(y) * ca.sin(z) - a * ca.sin(y) * ca.cos(z), "-a sin(y - z)"),
    (b + a * ca.sin(y) * ca.cos(z) + a * ca.cos(y) * ca.sin(z), "a sin(y + z) + b"),
    (ca.sin(y - z) * ca.cos(y - a) * x, "cos(a - y) sin(y - z) x"),
    ((1 + ca.cos(y)) * (ca.cos(y) - 1) * ca.cos(y), "-cos(y) sin^2(y)"),
    # factors with fractions as coefficients are found, and powers that are numbers multiplied out
    ((3 * y + 2 * z) * a / (3 * y + 2 * z), "a"),
    (a * (3 * b + 2 * y), "a (3 b + 2 y)"),
    (2 * a * y + 2 * b * y, "2 y (a + b)"),
    ((a * b + a) / (3 * b + 3), "a/3"),
    (a ** -3 * b, "b/a^3"),
    (a ** 3 - a * a * a, "0"),
    ((a ** 1.5) ** 2 - a ** 3, "0"),
    (1 / (1 + ca.sin(y)) - (1 - ca.sin(y)) / ca.cos(y) ** 2, "0"),
    (1 / (a + b) + 1 / (a + b) ** 2, "(1 + a + b)/(a + b)^2"),
    (1 / (a * y) - 1 / (a * z), "-(y - z)/(a y z)"),
    (ca.sin(2 * y) / ca.sin(y), "2 cos(y)"),
    (ca.cos(3 * y) - 4 * ca.cos(y) ** 3, "-3 cos(y)"),
    (ca.tan(y) * ca.cos(y), "sin(y)"),
], ids=str)
def test_an_expression_is_written_in_its_simplest_form(expression, plain):
    assert Writer(speeds=["x"]).write(expression) == [plain]


@pytest.mark.parametrize("expression, plain", [
    (x + y, "x + y"), ((x + y) / a, "(x + y)/a"), (x - y, "x - y"), (a * x - a * y, "a (x - y)"),
    (-a * x - a * y - a, "-a (x + y + 1)"), (-x - 1, "-x - 1"),
    (2 * x * y + 2 * x ** 2, "2 (x^2 + x y)"),
    (a + b - x, "-x + a + b"), (-(a + b) + x, "x - (a + b)"), ((a + b) * x / 2, "(a + b) x/2"),
    (x / (a * b), "x/(a b)"), (y - a * x, "-a x + y")])
def test_terms_are_collected_by_speeds_that_share_a_coefficient(expression, plain):
    assert Writer(speeds=["x", "y"]).write(expression) == [plain]


@pytest.mark.parametrize("name, latex", [
    ("phi'", r"\dot{\phi}"), ("psi1''", r"\ddot{\psi}_{1}"), ("theta", r"\theta"),
    ("lean'", r"\dot{\mathrm{lean}}"), ("u1", "u_{1}"), ("wx", "w_{x}"), ("m0", "m_{0}"),
    ("yaw_rate", r"\mathrm{yaw\_rate}"), ("phi.cos", r"\cos \phi"),
    ("tau_phi'", r"\tau_{\dot{\phi}}"), ("I_xx", "I_{xx}")])
def test_names_in_latex(name, latex):
    assert latex_name(name) == latex


def test_the_equations_of_the_falling_disc_are_those_of_its_docstring():
    """Terms are collected: the moment of inertia about the contact stands as one."""
    text = str(load_system("falling_disc").equations())
    for line in ("(A + m r^2) u1' = (C + m r^2) u2 u3 - A tan(lean) u3^2 + g m r sin(lean)",
                 "(C + m r^2) u2' = -m r^2 u1 u3", "A u3' = -C u1 u2 + A tan(lean) u1 u3",
                 "yaw' = u3/cos(lean)"):
        assert line in text


def test_no_two_things_have_one_name():
    """The rates of the snakeboard's joints, the joints and the motors are all called alike."""
    text = str(load_system("snakeboard").equations())
    assert "2 J1 back'' = u_back" in text and "front' = -back'" in text


def test_velocities_are_written_once_each():
    """The rates of coordinates, and those fibre coordinates that are none, as long as they are not
    the speeds that were chosen."""
    text = str(load_system("snakeboard").equations()).partition("\n\n")[0]
    lefts = [line.partition(" = ")[0].strip() for line in text.splitlines() if " = " in line]
    assert lefts == ["x'", "y'", "yaw'", "front'", "lateral_speed", "yaw_rate"]


def test_a_system_prints_itself():
    sled = constrain(lagrangian_system(
        euclidean("x", "y", "phi"),
        lambda s: s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2 + s.p.J * s.v.phi ** 2 / 2,
        parameters=("m", "J")), {"m": 2.0, "J": 0.3},
        rows={"blade": lambda s: s.v.x * ca.sin(s.q.phi) - s.v.y * ca.cos(s.q.phi)})
    assert "L = m (x'^2 + y'^2)/2 + J phi'^2/2" in str(sled)
    assert "sin(phi) x' - cos(phi) y' = 0" in str(sled)
    assert r"\dot{\phi}" in sled.latex() and "$$" in sled._repr_latex_()
    assert r"J \ddot{\phi} &= 0" in gibbs_appell(sled, speeds=("x'", "phi'"))._repr_latex_()


@pytest.mark.parametrize("name", sampled(system_names(), 12))
def test_every_system_is_written_out(name):
    """In seconds, with balanced brackets, and without a number that was rounded on the way; what is
    too long says so."""
    made = sections(load_system(name), as_latex=True)
    document = to_latex(name, made)
    check_latex(document)
    formulas = " ".join(right for section in made if section.heading != "parameters"
                        for _, right in section.formulas)
    assert not re.search(r"\d\.\d", formulas), "a float in a formula"


def check_latex(document: str) -> None:
    """By a LaTeX engine where there is one, else by what can be counted."""
    engine = next(filter(None, map(shutil.which, ("tectonic", "pdflatex", "lualatex"))), None)
    if engine is not None and "tectonic" not in engine:
        ran = subprocess.run([engine, "-halt-on-error", "-interaction=nonstopmode", "-draftmode"],
                             input=document, text=True, capture_output=True, timeout=60)
        assert ran.returncode == 0, ran.stdout[-2000:]
    plain = re.sub(r"\\[_#$%&{}]", "", document)
    depth = 0
    for sign in plain:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert plain.count(r"\left") == plain.count(r"\right")
    begun, ended = (re.findall(rf"\\{word}{{(\S+?)}}", plain) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    known = {"left", "right", "frac", "dot", "ddot", "sin", "cos", "tan", "sqrt", "mathrm", "text",
             "quad", "wedge", "begin", "end", "section", "documentclass", "usepackage",
             "operatorname", "log", "tanh", "sinh", "cosh"}
    from nhmech.symbolic.written import GREEK
    assert set(re.findall(r"\\([A-Za-z]+)", plain)) <= known | {*GREEK, "omega", "alpha"}
    assert not re.search(r"(\\\\|begin\{align\*?\})\s*\[", plain), "read as an option of the row"


def test_what_takes_too_long_is_refused_and_said():
    with pytest.raises(TooLongError, match="argument"):
        Writer().write(ca.exp(sum(a ** k * ca.sin(b) for k in range(1, 60)) / x))
    big = sum((a * ca.sin(k * y) + b * ca.cos(z) / (k + x)) ** 3 for k in range(1, 12))
    with pytest.raises(TooLongError):
        Writer().write(big ** 3)
    text = str(load_system("rattleback").equations())
    assert re.search(r"= \(an expression of \d+ operations, too long to print\)", text)


def test_rows_are_printed_with_all_their_parts():
    """Affine ones, holonomic ones, and one with a nonlinear part; then the numbers."""
    def kinetic(s):
        return s.p.m * (s.v.x ** 2 + s.v.y ** 2) / 2

    tied = constrain(lagrangian_system(euclidean("x", "y"), kinetic, parameters=("m", "phi")),
                     {"m": 2.5, "phi": 1e-10},
                     rows={"belt": lambda s: s.v.x - 3, "other": lambda s: s.v.y - s.q.x * s.v.x},
                     holonomic={"wire": lambda s: s.q.x - s.q.y ** 2})
    assert str(tied).partition("constraints\n")[2].splitlines() == [
        "  x' - 3 = 0", "  -x x' + y' = 0", "", "holonomic constraints", "  x - y^2 = 0", "",
        "parameters", "  m = 2.5", "  phi = 1e-10"]
    damped = herglotz(lagrangian_system(euclidean("x", "z"), lambda s: (
        s.v.x ** 2 / 2 - 2 * s.q.z)), "z")
    assert str(damped).partition("forces\n")[2].splitlines() == [
        "  tau_x' = -2 x'", "", "constraints", "  -x'^2/2 + z' + 2 z = 0"]


def test_what_takes_too_long_stands_as_it_is_if_that_is_short():
    """In plain text; as LaTeX it is left out."""
    made = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 / 2 - sum(
        (s.v.x * ca.sin(k * s.q.x) + ca.cos(s.q.y) / (k + s.q.x)) ** 3 for k in range(1, 6)) ** 4))
    words = " ".join(str(made).split())
    assert words.startswith("Lagrangian L = x'^2 / 2 - (((x' sin(x) + cos(y) / (1 + x))")
    assert words.endswith("(x' sin(5 x) + cos(y) / (5 + x))^2)^2)^2")
    assert re.search(r"L &= \\text\{\(an expression of \d\d operations, too long to", made.latex())


def test_terms_count_over_and_under_the_line():
    """A long denominator is as hard to read as a long numerator."""
    long = sum(x ** k * y ** j for k in range(20) for j in range(10))
    assert Writer().write(long, 1 / (1 + long), x / (1 + y)) == ["", "", "x/(1 + y)"]


def test_four_squares_of_a_quaternion_add_up_to_one():
    """Whatever coordinate follows it; the cosine and sine of a turning joint likewise."""
    space = product(special_orthogonal(), euclidean("s"), circle("a"), euclidean("z"))
    made = constrain(lagrangian_system(space, lambda s: (
        (s.q.qx ** 2 + s.q.qy ** 2 + s.q.qz ** 2 + s.q.qw ** 2) * s.v.s ** 2 / 2 + s.v.wx ** 2
        + (space.q[5] ** 2 + space.q[6] ** 2) * s.v.a ** 2)))
    assert "L = wx^2 + a'^2 + s'^2/2\n" in str(made)


def test_brackets_that_are_not_zero_are_shown():
    """Of a body that turns, [e_a, e_b] = epsilon_abc e_c; of a plane there is none to show."""
    assert str(load_system("rigid_body").constrained).split("structure functions\n")[1] == (
        "  [e_wx, e_wy] = e_wz\n  [e_wx, e_wz] = -e_wy\n  [e_wy, e_wz] = e_wx")
    assert "structure functions" not in str(load_system("nonholonomic_particle").constrained)
