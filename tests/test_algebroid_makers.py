"""Lie algebras, rotation groups and TP/G: structure equations, corrupted ones,
and mechanics on them against closed forms."""

from __future__ import annotations

import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from nhmech import InputError, MechanicsError
from nhmech.mechanics.algebroid import (
    bracket,
    circle,
    euclidean,
    line,
    product,
    rotation,
    special_euclidean,
)
from nhmech.mechanics.algebroid_makers import (
    atiyah,
    curvature,
    lie_algebra,
    special_euclidean_2,
    special_orthogonal,
    structure_constants,
)
from nhmech.mechanics.quasi_velocities import change_of_basis
from nhmech.mechanics.writing import constrain, lagrangian_system
from nhmech.systems.example import METHODS

ALGEBRAS = ("so(3)", "se(2)", "se(3)", "heisenberg", "u(1)")


def over_space(q):
    """A connection of SO(3) over R^3 without any symmetry."""
    x, y, z = q[0], q[1], q[2]
    return ca.blockcat([[y * z, ca.sin(x), x], [x ** 2, y * z, ca.cos(y)],
                        [z, x * y, ca.sin(x * z)]])


def over_group(q):
    """A connection of SE(2) over SE(2)."""
    x, y, c, s = q[0], q[1], q[2], q[3]
    return ca.blockcat([[x * y, c, s ** 2], [y, x * s, x], [c * s, y ** 2, 1]])


# name -> base, group, connection; the second base has structure functions of its own, which enter
# the curvature
BUNDLES = {"SO(3) over R^3": (euclidean("x", "y", "z"), "so(3)", over_space),
           "SE(2) over SE(2)": (special_euclidean_2(embedded=True), "se(2)", over_group)}


def gauge():
    return atiyah(*BUNDLES["SO(3) over R^3"])


MADE = {
    **{name: lambda name=name: lie_algebra(name) for name in ALGEBRAS},
    "so(3) world": lambda: lie_algebra(-structure_constants("so(3)"), ("wx", "wy", "wz"),
                                       ("rad/s",) * 3),
    "SE(3)": special_euclidean,
    "SE(3) x S1 x R": lambda: product(special_euclidean(), circle("wheel"), line("slider")),
    "R2": lambda: euclidean("x", "y"), "SO(3)": special_orthogonal, "SE(2)": special_euclidean_2,
    "SE(2) embedded": lambda: special_euclidean_2(embedded=True),
    "ball on a plane": lambda: product(euclidean("x", "y"), special_orthogonal("ball_")),
    **{name: lambda bundle=bundle: atiyah(*bundle) for name, bundle in BUNDLES.items()},
}


@pytest.mark.paper("002 4")
@pytest.mark.parametrize("name", MADE)
def test_structure_equations_hold(name):
    MADE[name]().check(points=5)


def corrupted(algebroid, g, a, b, by=0.5, antisymmetric=True):
    structure = [ca.SX(ca.densify(c)) for c in algebroid.structure]
    structure[g][a, b] += by
    if antisymmetric:
        structure[g][b, a] -= by
    return replace(algebroid, structure=tuple(structure))


SE3 = special_euclidean()


@pytest.mark.parametrize("algebroid, message", [
    (corrupted(SE3, 5, 3, 4), r"roll_rate, pitch_rate"),
    (corrupted(product(SE3, circle("wheel")), 6, 0, 6), r"forward_speed, wheel"),
    (corrupted(SE3, 2, 0, 1, antisymmetric=False), r"antisymmetry c\[:, 0, 1\]"),
    (corrupted(lie_algebra("so(3)"), 0, 0, 1), r"Jacobi \(wx, wy, wz\)"),
    (replace(SE3, anchor=SE3.anchor * 2), r"anchor morphism \[forward_speed, pitch_rate\]"),
    (corrupted(special_orthogonal(), 2, 0, 1), r"anchor morphism \[wx, wy\]"),
    (corrupted(special_euclidean_2(embedded=True), 1, 0, 2, -2.0),
     r"anchor morphism \[forward_speed, yaw_rate\]"),
    (corrupted(gauge(), 3, 0, 1, 0.01), r"Jacobi \(x', y', z'\)"),
    (corrupted(gauge(), 4, 1, 3, 0.01), r"Jacobi \(x', y', z'\)"),
    (corrupted(gauge(), 0, 0, 1), r"anchor morphism \[x', y'\]"),
], ids=["rotation", "coupling of factors", "antisymmetry", "Jacobi", "anchor", "SO(3)", "SE(2)",
        "curvature", "mixed bracket", "base"])
def test_corrupted_structure_is_named(algebroid, message):
    with pytest.raises(MechanicsError, match=message):
        algebroid.check()


@pytest.mark.parametrize("make, message", [
    (lambda: lie_algebra("so(4)"), r"no Lie algebra 'so\(4\)'; there are so\(3\), se\(2\)"),
    (lambda: lie_algebra(np.zeros((3, 3, 2))), r"\(3, 3, 3\).*given are \(3, 3, 2\)"),
    (lambda: lie_algebra(np.abs(structure_constants("so(3)"))),
     r"antisymmetry \(v2, v3\) fails in component v1 by 2"),
    (lambda: lie_algebra(structure_constants("so(3)")
                         + np.einsum("g,ab->gab", [1, 0, 0], [[0, 1, 0], [-1, 0, 0], [0, 0, 0]])),
     r"Jacobi \(v\d, v\d, v\d\) fails in component v2"),
    (lambda: lie_algebra("so(3)", ("p", "q")), r"2 names \(p, q\)"),
    (lambda: lie_algebra("u(1)", ("a",), ("m", "s")), r"1 names \(a\) .* and 1 units; .* and 2"),
    (lambda: atiyah(("x",), "u(1)", lambda q: "flat"), "connection is 'flat', not a CasADi"),
    (lambda: atiyah(("x", "y"), "so(3)", ca.SX(2, 3)), r"shape \(2, 3\).*needs \(3, 2\)"),
], ids=["unknown", "shape", "antisymmetry", "Jacobi", "names", "units", "text",
        "connection"])
def test_wrong_input_is_named(make, message):
    with pytest.raises(MechanicsError, match=message):
        make()


@pytest.mark.parametrize("embedded", [False, True])
def test_se2_is_pinocchios_planar_joint(embedded):
    """dq/dt = rho v held for one second ends where `pinocchio.integrate` does;
    the structure is the bracket of planar twists in SE(3)."""
    from scipy.integrate import solve_ivp

    model = pin.Model()
    model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "root")
    space, rng, planar = special_euclidean_2(embedded=embedded), np.random.default_rng(0), [0, 1, 5]
    rho = ca.Function("rho", [space.q], [space.anchor])
    for v in rng.normal(size=(5, 3)):
        begin = pin.integrate(model, pin.neutral(model), rng.normal(size=3))
        end = pin.integrate(model, begin, v)
        q0 = begin if embedded else np.r_[begin[:2], np.arctan2(begin[3], begin[2])]
        q = solve_ivp(lambda t, q: rho(q).full() @ v, (0, 1), q0, method="DOP853", rtol=1e-13,
                      atol=1e-14).y[:, -1]
        found = q if embedded else np.r_[q[:2], np.cos(q[2]), np.sin(q[2])]
        assert found == pytest.approx(end, rel=0, abs=1e-12)
    whole = np.array([ca.DM(c).full() for c in special_euclidean().structure])
    cross = whole[np.ix_(planar, planar, planar)]
    assert np.array_equal(np.array([ca.DM(c).full() for c in space.structure]), cross)


@pytest.mark.parametrize("name, units", [
    ("SO(3)", ["rad/s"] * 3), ("SE(2)", ["m/s", "m/s", "rad/s"]),
    ("SE(2) embedded", ["m/s", "m/s", "rad/s"]), ("so(3) world", ["rad/s"] * 3),
    ("ball on a plane", [""] * 2 + ["rad/s"] * 3)])
def test_each_velocity_has_its_unit(name, units):
    assert list(MADE[name]().v_units) == units


def test_attitude_follows_the_body_angular_velocity():
    """dR/dt = R hat(v) along dq/dt = rho v."""
    space = special_orthogonal("ball_")
    assert space.q_names == ("ball_qx", "ball_qy", "ball_qz", "ball_qw")
    assert space.v_names == ("ball_wx", "ball_wy", "ball_wz")
    v = ca.SX.sym("v", 3)
    R = rotation(space.q)
    rate = ca.Function("rate", [space.q, v],
                       [ca.jtimes(R, space.q, space.anchor @ v), R @ ca.skew(v)])
    rng = np.random.default_rng(1)
    for _ in range(5):
        one, other = rate(space.normalise(rng.normal(size=4)), rng.normal(size=3))
        assert np.abs(one.full() - other.full()).max() <= 1e-14


@pytest.mark.parametrize("name", BUNDLES)
def test_gauge_algebroid_is_the_product_in_the_adapted_basis(name):
    """e_i = f_i - A^K_i e_K in base x g gives the same anchor and brackets, by the general change
    of basis."""
    base, group, connection = BUNDLES[name]
    made, A = atiyah(base, group, connection), ca.SX(connection(base.q))
    eye = ca.SX.eye(3)
    other = change_of_basis(product(base, lie_algebra(group)),
                            ca.blockcat([[eye, ca.SX(3, 3)], [-A, eye]]), made.v_names)
    values = ca.Function("both", [base.q],
                         [ca.veccat(space.anchor, *space.structure) for space in (made, other)])
    rng = np.random.default_rng(2)
    for _ in range(5):
        one, two = (value.full() for value in values(base.normalise(rng.normal(size=base.nq))))
        assert np.abs(one - two).max() <= 1e-13 and np.abs(one).max() > 0.1


def test_flat_connection_has_no_curvature():
    """B vanishes for A = -g^-1 dg with g = Rx(x) Rz(y), in body components, and not for the
    opposite sign."""
    base = euclidean("x", "y")
    y = base.q[1]
    # body angular velocity of R = Rx(x) Rz(y)
    angular = ca.blockcat([[ca.cos(y), 0], [-ca.sin(y), 0], [0, 1]])
    c = structure_constants("so(3)")
    flat, bent = (ca.Function("B", [base.q],
                              list(curvature(base, c, sign * angular))) for sign in (-1, 1))
    for q in np.random.default_rng(3).normal(size=(5, 2)):
        assert max(np.abs(B.full()).max() for B in flat.call([q])) <= 1e-15
        assert max(np.abs(B.full()).max() for B in bent.call([q])) > 0.1


def acceleration(system, method, q, xi, speeds=None, **options):
    """dv/dt of a system without parameters and inputs."""
    return METHODS[method](constrain(system, **options),
                           speeds).acceleration(0.0, q, xi, [], []).full().ravel()


@pytest.mark.paper("002 (9)")
@pytest.mark.parametrize("method", METHODS)
def test_euler_poincare_without_configuration(method):
    """nq = 0: J dw/dt = J w x w (paper 002, eq. (9)) by every former; the multiplier of a Suslov
    constraint too."""
    J = np.array([[1.0, 0.1, 0.2], [0.1, 2.0, -0.3], [0.2, -0.3, 3.5]])
    body = lagrangian_system(lie_algebra("so(3)"),
                             lambda s: ca.bilin(ca.DM(J), ca.vertcat(s.v.wx, s.v.wy, s.v.wz)) / 2)
    names = ("wx", "wy", "wz")
    for w in np.random.default_rng(5).normal(size=(5, 3)):
        euler = np.linalg.solve(J, np.cross(J @ w, w))
        assert acceleration(body, method, [], w,
                            names) == pytest.approx(euler, rel=1e-12, abs=1e-13)
        suslov = METHODS[method](constrain(body, rows={"no pivoting": lambda s: s.v.wz}), names[:2])
        w[2] = 0
        torque = np.cross(J @ w, w)
        free = np.linalg.solve(J[:2, :2], torque[:2])
        assert suslov.acceleration(0.0, [], w[:2], [], []).full().ravel() == pytest.approx(
            np.r_[free, 0], rel=1e-12, abs=1e-13)
        assert float(suslov.multipliers(0.0, [], w[:2], [], [])) == pytest.approx(
            J[2, :2] @ free - torque[2], rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_sleigh_on_the_algebra_alone(method):
    """Chaplygin's sleigh on se(2), nq = 0: u' = a w^2, (J + m a^2) w' = -m a u w, lambda = m (u w +
    a w')."""
    m, J, a = 1.3, 0.4, 0.25
    plate = lagrangian_system(lie_algebra("se(2)"), lambda s: (
        m * (s.v.forward_speed ** 2
             + (s.v.lateral_speed + a * s.v.yaw_rate) ** 2) + J * s.v.yaw_rate ** 2) / 2)
    sleigh = METHODS[method](constrain(plate, rows={"blade": lambda s: s.v.lateral_speed}),
                             ("forward_speed", "yaw_rate"))
    for u, w in np.random.default_rng(6).normal(size=(5, 2)):
        rate = -m * a * u * w / (J + m * a ** 2)
        assert sleigh.acceleration(0.0, [], [u, w], [], []).full().ravel() == pytest.approx(
            [a * w ** 2, 0, rate], rel=1e-12, abs=1e-13)
        assert float(sleigh.multipliers(0.0, [], [u, w], [],
                                        [])) == pytest.approx(m * (u * w + a * rate), rel=1e-12,
                                                              abs=0)


@pytest.mark.paper("002 (14)", "002 6.1")
def test_wong_equations():
    """l = |q'|^2/2 + |zeta|^2/2: q_i'' = B^K_ij q'^j zeta_K and zeta' = (A q') x zeta (paper 002,
    eq. (14))."""
    space = gauge()
    system = lagrangian_system(space, lambda s: ca.sumsqr(ca.vertcat(*vars(s.v).values())) / 2)
    base, form = replace(euclidean("x", "y", "z"), q=space.q), ca.SX(over_space(space.q))
    A = ca.Function("A", [space.q], [form, *curvature(base, structure_constants("so(3)"), form)])
    for q, w, zeta in np.random.default_rng(7).normal(size=(5, 3, 3)):
        form, *B = (value.full() for value in A(q))
        force = np.einsum("kij,j,k->i", B, w, zeta)
        expected = np.r_[force, np.cross(form @ w, zeta)]
        for method in METHODS:
            assert acceleration(system, method, q, np.r_[w, zeta], space.v_names) == pytest.approx(
                expected, rel=1e-11, abs=1e-12)


@pytest.mark.paper("002 (14)")
def test_gauge_dynamics_is_the_dynamics_upstairs():
    """L invariant on T(R^3 x SO(3)), with the attitude as a quaternion, gives the same q'' and
    zeta' as l on TP/G."""
    J = np.diag([1.0, 2.0, 3.5])
    below = lagrangian_system(gauge(), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2 + s.v.z ** 2
        + ca.bilin(ca.DM(J), ca.vertcat(s.v.wx, s.v.wy, s.v.wz))) / 2)
    upstairs = product(euclidean("x", "y", "z"), special_orthogonal())
    A = ca.SX(over_space(upstairs.q[:3]))

    def lagrangian(s):
        rates = ca.vertcat(s.v.x, s.v.y, s.v.z)
        return (s.v.x ** 2 + 2 * s.v.y ** 2 + s.v.z ** 2
                + ca.bilin(ca.DM(J), ca.vertcat(s.v.wx, s.v.wy, s.v.wz) + A @ rates)) / 2

    above = lagrangian_system(upstairs, lagrangian)
    rates, a = ca.SX.sym("rates", 3), ca.SX.sym("a", 3)
    shift_rate = ca.jtimes(A @ rates, upstairs.q, ca.vertcat(rates, ca.SX.zeros(4))) + A @ a
    form = ca.Function("form", [upstairs.q, rates, a], [A @ rates, shift_rate])
    rng = np.random.default_rng(8)
    for _ in range(3):
        q = upstairs.normalise(rng.normal(size=7))
        w, omega = rng.normal(size=(2, 3))
        one = acceleration(above, "gibbs_appell", q, np.r_[w, omega], upstairs.v_names)
        shift, shift_rate = (value.full().ravel() for value in form(q, w, one[:3]))
        two = acceleration(below, "gibbs_appell", q[:3], np.r_[w, omega + shift],
                           below.algebroid.v_names)
        assert two == pytest.approx(np.r_[one[:3], one[3:] + shift_rate], rel=1e-10, abs=1e-11)


def test_charged_particle(case):
    """U(1) over R^3 with A = (B/2)(-y, x, 0): motion and fibre velocity of the reference case,
    l = m|q'|^2/2 + zeta^2/2."""
    from scipy.integrate import solve_ivp

    reference = case("charged_particle")
    m, B = (reference["parameters"][name] for name in "mB")
    space = atiyah(("x", "y", "z"), "u(1)", lambda q: B / 2 * ca.horzcat(-q[1], q[0], 0))
    system = lagrangian_system(space,
                               lambda s: (m * (s.v.x ** 2 + s.v.y ** 2
                                               + s.v.z ** 2) + s.v.charge ** 2) / 2)
    drift = METHODS["gibbs_appell"](constrain(system), space.v_names).drift
    start = reference["initial_state"]
    y0 = np.r_[start["q"], start["v"], start["fibre_momentum"]]
    samples = reference["expected"]["samples"]

    def rate(t, y):
        return np.concatenate([part.full().ravel() for part in drift(t, y[:3], y[3:], [], [])])

    times = [sample["t"] for sample in samples]
    run = solve_ivp(rate, (0, 3), y0, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-14).y.T
    for y, sample in zip(run, samples):
        xi = y[6] - B / 2 * (-y[1] * y[3] + y[0] * y[4])
        assert np.r_[y[:6], xi] == pytest.approx(np.r_[sample["q"], sample["v"], sample["xi"]],
                                                 rel=0, abs=1e-12)


def test_structure_with_a_parameter_is_checked():
    """A symbol in the connection that is no configuration is held at a random value."""
    charge = ca.SX.sym("charge")
    space = atiyah(("x", "y"), "so(3)",
                   lambda q: charge * ca.blockcat([[q[1], 0], [0, q[0]], [q[0], q[1]]]))
    space.check()
    with pytest.raises(MechanicsError, match="Jacobi"):
        corrupted(space, 2, 0, 1, charge).check()


def test_bracket_of_constant_sections_is_the_structure():
    space = lie_algebra("se(3)")
    c = structure_constants("se(3)")
    for X, Y in np.random.default_rng(9).normal(size=(3, 2, 6)):
        made = ca.evalf(bracket(space, ca.SX(ca.DM(X)), ca.SX(ca.DM(Y)))).full().ravel()
        assert made == pytest.approx(np.einsum("gab,a,b->g", c, X, Y), rel=0, abs=1e-14)


@pytest.mark.parametrize("name, cure", [("x y", "euclidean('x', 'y')"), ("", "euclidean('x')")])
def test_a_name_with_blanks_is_no_coordinate(name, cure):
    with pytest.raises(InputError, match=re.escape(cure)):
        euclidean("z", name)


def bent(size: float, by: float) -> np.ndarray:
    """[e1, e2] = size e3, of which [e2, e1] differs by a little; every nested bracket is zero."""
    c = np.zeros((3, 3, 3))
    c[2, 0, 1], c[2, 1, 0] = size, by - size
    return c


def twisted(size: float, by: float) -> np.ndarray:
    """[e1, e2] = size e3, [e3, e1] = by e1: of Jacobi's terms [e2, [e3, e1]] alone is not zero."""
    c = np.zeros((3, 3, 3))
    c[2, 0, 1], c[2, 1, 0], c[0, 2, 0], c[0, 0, 2] = size, -size, by, -by
    return c


@pytest.mark.parametrize("make, message", [
    (bent, r"antisymmetry \(v\d, v\d\) fails in component v3"),
    (twisted, r"Jacobi \(v\d, v\d, v\d\) fails in component v3")])
@pytest.mark.parametrize("size", [1e-6, 0.1, 1.0, 1e4])
def test_constants_hold_to_the_twelfth_digit_of_the_largest(make, message, size):
    """Of its square, where two are multiplied: the unit of time decides nothing."""
    assert lie_algebra(make(size, 0.995e-12 * size)).nv == 3
    with pytest.raises(MechanicsError, match=message) as told:
        lie_algebra(make(size, 1.005e-12 * size))
    by = float(str(told.value).split(" by ")[1])
    assert abs(by) == pytest.approx(1e-12 * size ** (2 if make is twisted else 1), rel=0.02, abs=0)


def test_names_and_units_of_ones_own():
    made = lie_algebra("so(3)", ("p", "q", "r"), ("a", "b", "c"))
    assert made.v_names == ("p", "q", "r") and made.v_units == ("a", "b", "c")
    assert lie_algebra("se(3)").v_units == ("m/s",) * 3 + ("rad/s",) * 3
    plain = lie_algebra(structure_constants("heisenberg"))
    assert plain.v_names == ("v1", "v2", "v3") and plain.v_units == ("",) * 3
    bundle = atiyah(circle("a"), "u(1)", lambda q: q[0], ("charge",), ("C",))
    assert bundle.v_names == ("a", "charge") and bundle.v_units == ("rad/s", "C")
    assert bundle.circles == ((0, 0),) and bundle.q_names == ("a.cos", "a.sin")


@pytest.mark.parametrize("name", ["", "body_"])
def test_a_prefix_is_for_all_names(name):
    space = special_euclidean_2(name, embedded=True)
    assert space.q_names == tuple(name + part for part in ("x", "y", "yaw.cos", "yaw.sin"))
    assert space.v_names == tuple(
        name + part for part in ("forward_speed", "lateral_speed", "yaw_rate"))
    assert [str(x) for x in ca.vertsplit(space.q)] == list(space.q_names)
    assert [str(x) for x in ca.vertsplit(special_euclidean_2(name).q)] == [
        name + part for part in ("x", "y", "yaw")]
    assert space.circles == ((2, 2),) and special_orthogonal(name).quaternions == (0,)
