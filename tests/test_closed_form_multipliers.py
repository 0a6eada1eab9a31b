"""Multipliers through inverse functions (paper 001) against the cases, the printed formulas and the
saddle system."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import MechanicsError
from nhmech.mechanics.algebroid import circle, euclidean
from nhmech.mechanics.algebroid_makers import lie_algebra
from nhmech.mechanics.closed_form_multipliers import closed_form_multipliers
from nhmech.mechanics.lagrange_multipliers import lagrange_multipliers
from nhmech.mechanics.quasi_velocities import change_of_basis
from nhmech.mechanics.writing import constrain, lagrangian_system


def parabola(m=0.8, g=9.81, samples=None):
    """Paper 001, section 10."""
    made = lagrangian_system(euclidean("x1", "x2"),
                             lambda s: s.p.m * (s.v.x1 ** 2 + s.v.x2 ** 2) / 2
                             - s.p.m * s.p.g * s.q.x2, parameters=("m", "g"))
    return constrain(made, {"m": m, "g": g}, holonomic={"wire": lambda s: s.q.x2 - s.q.x1 ** 2},
                     samples=samples)


def rod(m=0.8, omega=1.5):
    """Paper 001, section 11; no kinetic energy in x3."""
    made = lagrangian_system(euclidean("x1", "x2", "x3"),
                             lambda s: s.p.m * (s.v.x1 ** 2 + s.v.x2 ** 2) / 2,
                             parameters=("m", "w"))
    return constrain(
        made,
        {"m": m, "w": omega},
        holonomic={"f1": lambda s: s.q.x1 - s.q.x3 * ca.cos(s.p.w * s.t),
                   "f2": lambda s: s.q.x2 - s.q.x3 * ca.sin(s.p.w * s.t)},
    )


def two_constraints(samples):
    """Paper 001, section 12, with the constants in the functions: y = f - c."""
    def lagrangian(s):
        return (s.p.m * (s.v.x1 ** 2 + s.v.x2 ** 2 + s.v.x3 ** 2)
                - s.p.k * (s.q.x1 ** 2 + s.q.x2 ** 2 + s.q.x3 ** 2)) / 2

    functions = {"product": lambda s: s.q.x1 * s.q.x2 * s.q.x3 - s.p.c1,
                 "sum": lambda s: s.q.x1 + s.q.x2 - s.p.c2}
    made = lagrangian_system(euclidean("x1", "x2", "x3"), lagrangian,
                             parameters=("m", "k", "c1", "c2"))
    return constrain(made, {"m": 0.9, "k": 2.0, "c1": 0.4, "c2": 2.5}, holonomic=functions,
                     samples=samples)


ROD = {"x1": lambda y, s: y[0] + s.q.x3 * ca.cos(s.p.w * s.t), "x2": lambda y,
       s: y[1] + s.q.x3 * ca.sin(s.p.w * s.t)}
BRANCH = {sign: {"x1": lambda y, s,
                 sign=sign: sign * ca.sign(s.q.x2 - y[0]) * ca.sqrt(ca.fabs(s.q.x2 - y[0]))}
          for sign in (1, -1)}
LIFT = {"x2": lambda y, s: y[0] + s.q.x1 ** 2}


def discriminant(y, s):
    return ca.sqrt((y[1] + s.p.c2) ** 2 - 4 * (y[0] + s.p.c1) / s.q.x3)


TWO = {"x1": lambda y, s: (y[1] + s.p.c2 + discriminant(y, s)) / 2,
       "x2": lambda y, s: (y[1] + s.p.c2 - discriminant(y, s)) / 2}


def on_two(x3):
    """A point on the manifold with x1 > x2."""
    root = np.sqrt(2.5 ** 2 - 4 * 0.4 / x3)
    return np.array([(2.5 + root) / 2, (2.5 - root) / 2, x3])


@pytest.mark.paper("001 10")
def test_bead_on_a_parabola(case):
    """x2 as dependent coordinate serves everywhere, x1 on its branch; at x1 = 0 its formula is 0/0,
    and only there."""
    data = case("bead_parabola")
    theta = [data["parameters"]["m"], data["parameters"]["g"]]
    everywhere = closed_form_multipliers(parabola(*theta), LIFT)
    places = {sign: np.array([[sign * 0.5, 0.25], [sign * 1.2, 1.44]]) for sign in (1, -1)}
    branches = {sign: closed_form_multipliers(parabola(*theta, samples=places[sign]),
                                              BRANCH[sign]) for sign in (1, -1)}
    tolerance = data["tolerance"]["multiplier"]
    for sample in data["expected"]["samples"]:
        x1, rate = sample["x1"], sample["x1_rate"]
        q = [x1, x1 ** 2]
        assert float(everywhere.multipliers(0.0, q, [rate], [], theta)) == pytest.approx(
            sample["lambda"], abs=tolerance)
        x1_second = float(everywhere.drift(0.0, q, [rate], [], theta)[1])
        assert (1 + 4 * x1**2) * x1_second + 4 * x1 * rate**2 + 2 * theta[1] * x1 == pytest.approx(
            0, abs=1e-12
        )
        if abs(x1) < 1e-6:
            continue
        equations = branches[int(np.sign(x1))]
        assert equations.names == ("x2'",)
        assert float(equations.multipliers(0.0, q, [2 * x1 * rate], [], theta)) == pytest.approx(
            sample["lambda"], abs=tolerance)
        assert equations.acceleration(0.0, q, [2 * x1 * rate], [],
                                      theta).full()[0, 0] == pytest.approx(
            x1_second, rel=1e-11)


@pytest.mark.paper("001 4")
def test_multipliers_need_no_dependent_coordinate():
    """The dependent coordinate is replaced by its inverse function: a wrong value of it changes
    nothing."""
    theta, equations = [0.8, 9.81], closed_form_multipliers(parabola(), LIFT)
    for part in ("multipliers", "acceleration"):
        right, wrong = (getattr(equations, part)(0.0, [0.5, x2], [0.3], [],
                                                 theta).full() for x2 in (0.25, 7.0))
        np.testing.assert_array_equal(right, wrong)


@pytest.mark.paper("001 11")
def test_bead_on_a_turning_rod(case):
    """Rheonomic constraints, a massless coordinate, and x3'' = w^2 x3."""
    data = case("bead_rod")
    theta = [data["parameters"]["m"], data["parameters"]["omega"]]
    equations = closed_form_multipliers(rod(*theta), ROD)
    for sample in data["expected"]["samples"]:
        q, xi = [sample["x"], sample["y"], sample["r"]], [sample["r_rate"]]
        lam = dict(zip(equations.frame.kept,
                       equations.multipliers(sample["t"], q, xi, [], theta).full().ravel()))
        assert [lam[0], lam[1]] == pytest.approx([sample["lambda1"], sample["lambda2"]],
                                                 abs=data["tolerance"]["multiplier"])
        q_rate, xi_rate = equations.drift(sample["t"], q, xi, [], theta)
        assert float(xi_rate) == pytest.approx(theta[1] ** 2 * sample["r"], rel=1e-12, abs=0)
        wt = theta[1] * sample["t"]
        expected = [xi[0] * np.cos(wt) - theta[1] * sample["y"],
                    xi[0] * np.sin(wt) + theta[1] * sample["x"], xi[0]]
        np.testing.assert_allclose(q_rate.full().ravel(), expected, rtol=0, atol=1e-12)


@pytest.mark.paper("001 12")
def test_printed_formulas_of_section_12():
    """lambda_1, lambda_2 as printed, with x1'', x2'' from the saddle system."""
    m, k, c1, c2 = theta = [0.9, 2.0, 0.4, 2.5]
    constrained = two_constraints(np.array([on_two(1.0), on_two(2.0)]))
    equations, saddle = closed_form_multipliers(constrained,
                                                TWO), lagrange_multipliers(constrained, ["x3'"])
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, xi = on_two(rng.uniform(0.5, 3)), rng.normal(size=1)
        a = saddle.acceleration(0.0, q, xi, [], theta).full().ravel()
        root = np.sqrt(c2 ** 2 - 4 * c1 / q[2])
        first, second, third = m * a + k * q
        expected = [(second - first) / (root * q[2]),
                    (first * (1 + c2 / root) + second * (1 - c2 / root)) / 2]
        lam = dict(zip(equations.frame.kept,
                       equations.multipliers(0.0, q, xi, [], theta).full().ravel()))
        assert [lam[0], lam[1]] == pytest.approx(expected, rel=1e-10)
        assert first * c1 / root / q[2] ** 2 - second * c1 / root / q[
            2
        ] ** 2 + third == pytest.approx(0, abs=1e-10)


SYSTEMS = {
    "lift": (parabola(), LIFT, lambda t, r: np.array([r, r ** 2])),
    "branch": (parabola(samples=np.array([[0.5, 0.25], [1.0, 1.0]])), BRANCH[1],
               lambda t, r: np.array([abs(r) + 0.1, (abs(r) + 0.1) ** 2])),
    "rod": (rod(), ROD, lambda t, r: np.array([r * np.cos(1.5 * t), r * np.sin(1.5 * t), r])),
    "two": (two_constraints(np.array([on_two(1.0), on_two(2.0)])), TWO, lambda t,
            r: on_two(0.4 + abs(r))),
}


@pytest.mark.paper("001 (4)")
@pytest.mark.parametrize("name", SYSTEMS)
def test_agrees_with_the_saddle_system(name):
    """Accelerations and multipliers at random states on the manifold, eq. (4) against paper 002,
    eq. (16)."""
    constrained, inverse, place = SYSTEMS[name]
    equations = closed_form_multipliers(constrained, inverse)
    saddle = lagrange_multipliers(constrained, frame=equations.frame)
    theta, rng = constrained.parameters, np.random.default_rng(7)
    assert equations.method == "closed_form_multipliers" and equations.names == saddle.names
    for _ in range(8):
        t = rng.uniform(0, 2)
        q, xi = place(t, rng.normal()), rng.normal(size=len(equations.names))
        for part in ("acceleration", "multipliers"):
            expected = getattr(saddle, part)(t, q, xi, [], theta).full()
            value = getattr(equations, part)(t, q, xi, [], theta).full()
            np.testing.assert_allclose(value, expected, rtol=1e-10,
                                       atol=1e-10 * max(1.0, np.abs(expected).max()))


def test_forces_enter():
    """An input that pulls at the dependent coordinate shows in both lambda and the motion."""
    made = lagrangian_system(euclidean("x1", "x2"), lambda s: (s.v.x1 ** 2 + s.v.x2 ** 2) / 2,
                             inputs=("f",), force=lambda s: {"x2": s.u.f - 0.3 * s.v.x2})
    constrained = constrain(made, holonomic={"wire": lambda s: s.q.x2 - s.q.x1 ** 2})
    equations = closed_form_multipliers(constrained, LIFT)
    saddle = lagrange_multipliers(constrained, frame=equations.frame)
    for part in ("acceleration", "multipliers"):
        values = [getattr(e, part)(0.0, [0.7, 0.49], [1.1], [2.0],
                                   []).full() for e in (equations, saddle)]
        np.testing.assert_allclose(values[0], values[1], rtol=1e-12)
    with_and_without = [float(equations.multipliers(0.0, [0.7, 0.49], [1.1], [f], []))
                        for f in (2.0, 0.0)]
    assert abs(with_and_without[0] - with_and_without[1]) > 0.1


@pytest.mark.parametrize("inverse, message", [
    ({"x1": lambda y, s: ca.SX(3)},
     "inverse function of 'x1' does not return the coordinate at any sample"),
    ({"x2": lambda y, s: y[0] + s.q.x1 ** 2 + s.q.x2},
     "of 'x2' contains the dependent coordinate 'x2'"),
    ({"x3": lambda y, s: y[0]}, "1 dependent coordinates are wanted, of x1, x2; given are x3"),
    ({}, "given are none"),
])
def test_wrong_inverse_functions_are_refused(inverse, message):
    with pytest.raises(MechanicsError, match=message):
        closed_form_multipliers(parabola(), inverse)


def test_the_other_branch_is_refused():
    told = r"\(error (0\.99|1)\d* or more\); it may be another branch"
    with pytest.raises(MechanicsError, match=told):
        places = np.linspace(0.5, 1.2, 8)
        closed_form_multipliers(parabola(samples=np.c_[places, places ** 2]), BRANCH[-1])


def test_other_constraints_and_bundles_are_refused():
    free = lagrangian_system(euclidean("x", "y", "z"),
                             lambda s: s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2)
    with pytest.raises(MechanicsError, match="slope has no function of position"):
        closed_form_multipliers(constrain(free, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x}),
                                {"z": lambda y, s: y[0]})
    plane = euclidean("x", "y")
    for space in (circle("angle"), lie_algebra("u(1)"), *(
            change_of_basis(plane, ca.blockcat([[one, 0], [0, 1]]), ("u", "w"))
            for one in (2, 2 + plane.q[1]))):
        other = constrain(lagrangian_system(space, lambda s: sum(
            v ** 2 for v in vars(s.v).values())))
        with pytest.raises(MechanicsError, match="anchor must be the unit matrix"):
            closed_form_multipliers(other, {})
    wire = parabola()
    doubled = replace(wire.distribution, A=2 * wire.distribution.A)
    with pytest.raises(MechanicsError, match="row 'wire' is not the differential of its function"):
        closed_form_multipliers(replace(wire, distribution=doubled), LIFT)
    plane = {"one": lambda s: s.q.x - s.q.y, "other": lambda s: 2 * s.q.x - 2 * s.q.y}
    with pytest.raises(MechanicsError, match="rank 1 of 2: remove other$"):
        closed_form_multipliers(constrain(free, holonomic=plane),
                                {"x": lambda y, s: s.q.z + y[0], "y": lambda y, s: s.q.z + y[1]})


def test_the_function_that_is_wrong_is_named():
    """The second of two, the first of them at two samples of three."""
    free = lagrangian_system(euclidean("x", "a", "b"), lambda s: (
        s.v.x ** 2 + s.v.a ** 2 + s.v.b ** 2) / 2)
    rods = constrain(free, holonomic={"one": lambda s: s.q.a ** 2 - 1,
                                      "two": lambda s: s.q.b - s.q.x})
    rods = replace(rods, samples=np.array([[0.3, 1, 0.3], [0.1, 1, 0.1], [0.2, -1, 0.2]]))
    inverse = {"a": lambda y, s: ca.sqrt(1 + y[0]), "b": lambda y, s: y[1] + s.q.x}
    closed_form_multipliers(rods, inverse)
    with pytest.raises(MechanicsError, match=r"of 'b' does not return .* \(error 0.1 or more\)"):
        closed_form_multipliers(rods, inverse | {"b": lambda y, s: y[1] + 2 * s.q.x})
    d = rods.distribution
    with pytest.raises(MechanicsError, match="row 'two' is not the differential"):
        closed_form_multipliers(replace(rods, distribution=replace(
            d, A=ca.diag(ca.vertcat(1, 2)) @ d.A)), inverse)


@pytest.mark.parametrize("off", [5e-10, 2e-9, 1e-5])
def test_rows_and_inverse_functions_hold_to_a_billionth(off):
    """Of one; of the inverse function relative to the configurations, if these are larger."""
    wire, told = parabola(), pytest.raises(MechanicsError, match="'wire' is not the differential")
    d = wire.distribution
    tilted = replace(wire, distribution=replace(d, A=d.A + ca.DM([[0, off]])))
    with told if off > 1e-9 else nullcontext():
        closed_form_multipliers(tilted, LIFT)
    for place in (0.0, 30.0):
        near = parabola(samples=np.array([[place, place ** 2]] * 8))
        near = replace(near, samples=near.samples[:1])
        size = 1 + place ** 2
        shifted = {"x2": lambda y, s: y[0] + s.q.x1 ** 2 + off * size}
        with pytest.raises(MechanicsError, match="does not return the coordinate at any sample") \
                if off > 1e-9 else nullcontext():
            closed_form_multipliers(near, shifted)


def test_one_sample_at_which_all_coordinates_return_is_enough():
    """Each of two inverse functions is on its own branch, and both are at one sample alone."""
    free = lagrangian_system(euclidean("x", "a", "b"), lambda s: (
        s.v.x ** 2 + s.v.a ** 2 + s.v.b ** 2) / 2)
    wires = {"one": lambda s: s.q.a ** 2 - 1 - s.q.x ** 2, "two": lambda s: s.q.b ** 2 - 1}
    inverse = {"a": lambda y, s: ca.sqrt(1 + s.q.x ** 2 + y[0]),
               "b": lambda y, s: ca.sqrt(1 + y[1])}
    places = np.array([[0.0, 1, -1], [0, -1, 1], [0, 1, 1]])
    bead = constrain(free, holonomic=wires, samples=np.tile(places, (3, 1)))
    bead = replace(bead, samples=places)
    made = closed_form_multipliers(bead, inverse)
    assert float(made.acceleration(0, [0.3, 1, 1], [2.0], [], [])[2]) == 0
    with pytest.raises(MechanicsError, match="inverse function of '[ab]' does not return"):
        closed_form_multipliers(replace(bead, samples=places[:2]), inverse)
    with pytest.raises(MechanicsError, match="2 dependent coordinates are wanted, .* are a$"):
        closed_form_multipliers(bead, {"a": inverse["a"]})
