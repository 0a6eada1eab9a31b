"""Symmetries: given and found generators, their algebra, the three classes, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import null_space
from support import shipped
from symmetric_systems import (
    POLAR_TORUS,
    SE2,
    TORUS,
    TURN,
    X,
    Y,
    capri_kobayashi,
    carriage,
    carriage_in_body_speeds,
    particle,
    rigid_body,
    sleigh,
    vertical_disk,
)

from nhmech import MechanicsError
from nhmech.mechanics.algebroid import euclidean, product
from nhmech.mechanics.algebroid_makers import lie_algebra
from nhmech.mechanics.frame import adapted_frame
from nhmech.mechanics.gibbs_appell import gibbs_appell
from nhmech.mechanics.invariance import complete_lift
from nhmech.mechanics.quasi_velocities import change_of_basis
from nhmech.mechanics.symmetry import symmetry
from nhmech.mechanics.symmetry_search import (
    echelon,
    find_symmetry,
    finite_points,
    name_combination,
    null_combinations,
    row_units,
)
from nhmech.mechanics.writing import constrain, lagrangian_system

XZ = {"x": lambda s: {"x": 1}, "z": lambda s: {"z": 1}}

# system, generators, class, (dim V, dim of V meet D, dim D, dim T)
CLASSES = {
    "carriage, SE(2)": (carriage, SE2, "purely kinematic", (3, 0, 2, 5)),
    "vertical disk, R^2": (vertical_disk, {**X, **Y}, "purely kinematic", (2, 0, 2, 4)),
    "particle, z": (particle, {"z": XZ["z"]}, "purely kinematic", (1, 0, 2, 3)),
    "vertical disk, steering": (
        vertical_disk,
        {"turn": lambda s: {"theta1": 1, "x": -s.q.y, "y": s.q.x}, **X, **Y},
        "general",
        (3, 1, 2, 4),
    ),
    "particle, x and z": (particle, XZ, "general", (2, 1, 2, 3)),
    "sleigh, SE(2)": (sleigh, SE2, "general", (3, 2, 2, 3)),
    "sleigh, R^2": (sleigh, {**X, **Y}, "general", (2, 1, 2, 3)),
    "unicycle, SE(2)": (lambda: sleigh(a=0.0), SE2, "general", (3, 2, 2, 3)),
    "carriage, too small a group": (carriage, {**X, **Y}, "transverse", (2, 0, 2, 5)),
    "vertical disk, d/dx": (vertical_disk, X, "transverse", (1, 0, 2, 4)),
    "Capri-Kobayashi, torus": (lambda: capri_kobayashi(False), TORUS, "horizontal", (2, 2, 4, 4)),
    "Capri-Kobayashi, polar": (lambda: capri_kobayashi(True), POLAR_TORUS, "horizontal",
                               (2, 2, 4, 4)),
}


@pytest.mark.paper("004 VI", "004 VI.F")
@pytest.mark.parametrize("name", CLASSES)
def test_class(name):
    system, generators, kind, dims = CLASSES[name]
    made = symmetry(system(), generators)
    assert made.names == tuple(generators)
    assert (made.dim_vertical, made.dim_horizontal, made.dim_motion, made.dim_tangent) == dims
    assert made.kind == kind


def test_structure_constants_of_se2():
    """[d/dx, turn] = d/dy, [d/dy, turn] = -d/dx as vector fields."""
    made = symmetry(carriage(), SE2)
    expected = np.zeros((3, 3, 3))
    expected[1, 0, 2], expected[1, 2, 0], expected[0, 1, 2], expected[0, 2, 1] = 1, -1, -1, 1
    assert made.constants == pytest.approx(expected, abs=1e-13)
    assert not np.signbit(made.constants[made.constants == 0]).any()      # they print as 0, not -0
    assert not made.abelian and symmetry(carriage(), {**X, **Y}).abelian


@pytest.mark.parametrize("sizes", [(1.0, 1.0, 1.0), (1e9, 1e-9, 3.0), (1e-6, 1e6, -0.5)])
def test_structure_constants_of_generators_in_any_unit(sizes):
    """[a d/dx, c turn] = (a c / b) b d/dy, and the others."""
    a, b, c = sizes
    made = symmetry(carriage(), {
        "x": lambda s: {"x'": a}, "y": lambda s: {"y": b},
        "turn": lambda s: {"x": -c * s.q.y, "y": c * s.q.x, "phi": c}})
    expected = np.zeros((3, 3, 3))
    expected[1, 0, 2], expected[0, 1, 2] = a * c / b, -b * c / a
    np.testing.assert_allclose(made.constants, expected - expected.swapaxes(1, 2), rtol=1e-9,
                               atol=0)
    assert (made.dim_vertical, made.dim_horizontal, made.dim_motion, made.dim_tangent) == (
        3, 0, 2, 5)


@pytest.mark.parametrize("order", ["XY", "YX"])
@pytest.mark.parametrize("share, closes", [(0.0, True), (0.99, True), (1.01, False)])
@pytest.mark.parametrize("rate", [1.0, 3.0])
def test_brackets_close_to_a_billionth_of_their_terms(order, share, closes, rate):
    """X = d/dx + a e1 and Y = cos(b x) e2 - sin(b x) e3 beside so(3) have [X, Y] = 0 for a = b: at
    x = 0 the terms -b e3 and a e3 cancel."""
    space = product(lie_algebra("so(3)"), euclidean("x"))
    alone = constrain(lagrangian_system(space, lambda s: s.v.x ** 2 / 2),
                      samples=np.array([[0.0], [np.pi / 2 / rate]]))
    b = rate + share * 1e-9 * 2 * rate
    fields = {"X": lambda s: {"x": 1, "wx": rate},
              "Y": lambda s: {"wy": ca.cos(b * s.q.x), "wz": -ca.sin(b * s.q.x)}}
    if closes:
        assert symmetry(alone, {name: fields[name] for name in order}).abelian
    else:
        with pytest.raises(MechanicsError, match="is not a combination of .* with constant"):
            symmetry(alone, {name: fields[name] for name in order})


FOUND = {
    "carriage": (carriage, 5, ("d/dx", "d/dy", "d/dphi - y d/dx + x d/dy", "d/dpsi1", "d/dpsi2")),
    "vertical disk": (vertical_disk, 4,
                      ("d/dx", "d/dy", "d/dtheta1 - y d/dx + x d/dy", "d/dtheta2")),
    "sleigh": (sleigh, 3, ("d/dx", "d/dy", "d/dphi - y d/dx + x d/dy")),
    "carriage in body speeds": (carriage_in_body_speeds, 5, None),
    "Capri-Kobayashi": (lambda: capri_kobayashi(True), 2, ("d/dw2", "d/dw3")),
    "rigid body": (rigid_body, 3,
                   ("turn of qx.. about x", "turn of qx.. about y", "turn of qx.. about z")),
}


@pytest.mark.parametrize("name", FOUND)
def test_found_without_being_told(name):
    system, count, names = FOUND[name]
    made = find_symmetry(system())
    assert len(made.names) == count
    if names is not None:
        assert made.names == names


def test_a_symmetric_top_has_one_more():
    """Equal moments of inertia about x and y add the turn about the body's own z axis."""
    body = rigid_body()
    free, v = body.system, body.system.v
    kinetic = (2 * (v[0] ** 2 + v[1] ** 2) + 3.5 * v[2] ** 2) / 2
    top = free.transfer(free.algebroid, v, free.a, kinetic, free.force)
    assert set(find_symmetry(replace(body, system=top)).names) - set(find_symmetry(body).names) == {
        "d/dwz"
    }


def test_a_vehicle_from_its_urdf_has_se2_and_its_wheels():
    """A Gibbs function and an energy instead of a Lagrangian; SE(2) of the level ground and S^1 of
    each wheel are among what is found."""
    made = find_symmetry(shipped("carriage").constrained)
    space, span = made.constrained.system.algebroid, made.generators
    evaluate = ca.Function("span", [space.q], [span, space.anchor])
    for q in made.constrained.configurations[:3]:
        S, rho = (value.full() for value in evaluate(q))
        turn = np.zeros(space.nq)
        turn[:2] = -q[1], q[0]
        turn[3:7] = np.array([-q[4], q[3], q[6], -q[5]]) / 2
        for field in (np.eye(space.nq)[0], np.eye(space.nq)[1], turn,
                      *(rho[:, i] for _, i in space.circles)):
            assert (
                np.linalg.norm(rho @ S @ np.linalg.lstsq(rho @ S, field, rcond=None)[0] - field)
                <= 1e-9
            )


def test_the_flow_of_a_generator_maps_motions_to_motions():
    """Finite turn and shift of the carriage by closed form:
    accelerations of the speeds (invariant ones) are the same."""
    equations = gibbs_appell(carriage(), ("psi1'", "psi2'"))
    rng, theta = np.random.default_rng(2), carriage().parameters
    for _ in range(5):
        q, xi, (dx, dy, angle) = rng.normal(size=5), rng.normal(size=2) * 5, rng.normal(size=3)
        c, s = np.cos(angle), np.sin(angle)
        there = np.r_[dx + c * q[0] - s * q[1], dy + s * q[0] + c * q[1], q[2] + angle, q[3:]]
        here = equations.drift(0, q, xi, [], theta)[1].full()
        assert equations.drift(0, there, xi, [],
                               theta)[1].full() == pytest.approx(here, rel=1e-12, abs=1e-12)


def test_complete_lift_on_a_tangent_bundle_is_the_prolongation():
    """Turn of the plane: (-y, x) on q and (-y', x') on v; and in body speeds, whose lifts
    vanish."""
    system = sleigh().system
    q_rate, v_rate = complete_lift(system, ca.vertcat(-system.q[1], system.q[0], 1))
    values = ca.Function("lift", [system.q, system.v],
                         [q_rate, v_rate])([0.3, -0.7, 0.2], [1.1, 0.4, -0.6])
    assert values[0].full().ravel() == pytest.approx([0.7, 0.3, 1], abs=1e-15)
    assert values[1].full().ravel() == pytest.approx([-0.4, 1.1, 0], abs=1e-15)
    body = find_symmetry(carriage_in_body_speeds())
    system = body.constrained.system
    rng = np.random.default_rng(3)
    for i in range(len(body.names)):
        lifted = ca.Function("lift", [system.q, system.v],
                             [complete_lift(system, body.generators[:, i])[1]])
        q = system.algebroid.normalise(rng.normal(size=system.algebroid.nq))
        assert np.abs(lifted(q, rng.normal(size=5)).full()).max() <= 1e-14


WRONG = {
    "Lagrangian": (carriage, {"yaw alone": lambda s: {"phi": 1}},
                   "'yaw alone' is no symmetry: the Lagrangian changes"),
    "distribution": (particle, {"y": lambda s: {"y": 1}},
                     "'y' is no symmetry: the distribution 'slope' changes"),
    "force": (lambda: carriage(force=lambda s: {"psi1": -s.q.x}), SE2,
              "'x' is no symmetry: the force \"psi1'\" changes"),
    "force as a one-form": (lambda: carriage(force=lambda s: {"x": 1.0}), SE2,
                            "'turn' is no symmetry: the force \"y'\" changes"),
    "not closed": (carriage, {**X, **TURN}, "bracket of the generators 'x' and 'turn'"),
    "dependent": (carriage, {**X, "again": lambda s: {"x": 2}},
                  "depend on each other: rank 1 of 2"),
    "unknown coordinate": (carriage, {"z": lambda s: {"z": 1}},
                           "'z' has a component along 'z'; there are x', y'"),
    "wrong shape": (carriage, {"x": ca.SX([1, 0])}, r"'x' has shape \(2, 1\)"),
    "depends on v": (carriage, {"x": lambda s: {"x": s.v.x}}, "may depend only on q"),
    "none": (carriage, {}, "at least one generator"),
    "no mapping": (carriage, {"x": lambda s: [1, 0]}, r"'x' returned \[1, 0\]; return a mapping"),
    "depends on t": (carriage, {"x": lambda s: {"x": s.t}}, "parameters, and contains t$"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_symmetry_is_refused_by_name(name):
    system, generators, message = WRONG[name]
    with pytest.raises(MechanicsError, match=message):
        symmetry(system(), generators)


def test_a_holonomic_constraint_must_be_invariant():
    """A bead on the line y = 1: the shift along it is a symmetry, the one across is not."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)
    bead = constrain(free, holonomic={"wire": lambda s: s.q.y - 1},
                     samples=np.array([[0.3, 1.0], [-2.0, 1.0]]))
    assert symmetry(bead, X).kind == "horizontal"
    with pytest.raises(MechanicsError, match="'y' is no symmetry: the holonomic constraint 'wire'"):
        symmetry(bead, Y)


def test_friction_that_turns_with_the_body_is_invariant():
    """A force law need not vanish to be symmetric: wheel friction, and a drag of the chassis
    against its velocity."""
    dragged = carriage(force=lambda s: {"psi1": -s.v.psi1, "psi2": -s.v.psi2 ** 3 + s.u.f,
                                        "x": -2 * s.v.x, "y": -2 * s.v.y}, inputs=("f",))
    assert symmetry(dragged, SE2).kind == "purely kinematic"
    with pytest.raises(MechanicsError, match="'turn' is no symmetry: the force"):
        symmetry(carriage(force=lambda s: {"x": -s.v.x}), SE2)


def test_a_class_that_changes_is_refused():
    """x' cos z + y' sin z = 0 has d/dx in it where cos z = 0 only."""
    free = lagrangian_system(euclidean("x", "y", "z"),
                             lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    samples = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, np.pi / 2]])
    skate = constrain(free, rows={"skate": lambda s: s.v.x * ca.cos(s.q.z) + s.v.y * ca.sin(s.q.z)},
                      samples=samples)
    with pytest.raises(MechanicsError, match="class of the symmetry changes"):
        symmetry(skate, X)
    assert adapted_frame(skate).nxi == 2


@pytest.mark.parametrize("count", [1, 3, 30])
def test_samples_that_are_all_special_fool_nobody(count):
    """A compass is at rest at one heading: there its potential, and the slope of it, do not
    change."""
    free = lagrangian_system(euclidean("x", "y", "phi"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.phi ** 2) / 2 + 3 * ca.cos(s.q.phi))
    samples = np.random.default_rng(0).normal(size=(count, 3)) * [1, 1, 0]
    compass = constrain(free, samples=samples)
    assert find_symmetry(compass).names == ("d/dx", "d/dy", "y d/dx - x d/dy")
    with pytest.raises(MechanicsError, match="'yaw' is no symmetry: the Lagrangian changes"):
        symmetry(compass, {"yaw": lambda s: {"phi": 1}})


def test_no_symmetry_is_an_error():
    lonely = constrain(lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2 - ca.cosh(s.q.x)))
    with pytest.raises(MechanicsError, match="none of the candidates is a symmetry: d/dx, x d/dx"):
        find_symmetry(lonely)


UNITS = {"SI": (1.0, 1.0, 1.0), "mm, tonnes, ms": (1e3, 1e-3, 1e3), "nm, ng, us": (1e9, 1e12, 1e6),
         "light years, suns, years": (1e-16, 5e-31, 3e-8)}


def tilted_skate(length, mass, time):
    """A skate on an incline with a spring to the line x = 0, written in other units: numbers of
    lengths, masses and times are multiplied by these."""
    m, inertia, g, k = 0.7 * mass, 0.2 * mass * length ** 2, 9.81 * length / time ** 2, \
        3.0 * mass / time ** 2

    def lagrangian(s):
        return (m * (s.v.x ** 2 + s.v.y ** 2) / 2 + inertia * s.v.phi ** 2 / 2
                - m * g * s.q.y / 2 - k * s.q.x ** 2 / 2)

    free = lagrangian_system(euclidean("x", "y", "phi"), lagrangian)
    samples = np.random.default_rng(0).normal(size=(8, 3)) * [length, length, 1]
    return constrain(free, rows={"skate": lambda s: (
        s.v.y * ca.cos(s.q.phi) - s.v.x * ca.sin(s.q.phi))}, samples=samples)


@pytest.mark.parametrize("unit", UNITS)
def test_units_decide_nothing(unit):
    """Neither what is no symmetry, for its force of gravity or its spring, nor what is one."""
    skate = tilted_skate(*UNITS[unit])
    for generators in (X, Y, {"turn": lambda s: {"phi": 1}}):
        with pytest.raises(MechanicsError, match="is no symmetry"):
            symmetry(skate, generators)
    free = replace(skate, system=skate.system.transfer(
        skate.system.algebroid, skate.system.v, skate.system.a,
        skate.system.lagrangian + skate.system.energy, ca.SX(3, 1)))
    assert symmetry(free, SE2).kind == "general"
    assert sorted(find_symmetry(free).names) == sorted(find_symmetry(replace(
        free, samples=None)).names)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_symmetries_are_found_in_any_unit_of_the_speeds(unit):
    """Of a free particle: candidates that are the same section are taken once."""
    space = change_of_basis(euclidean("x", "y"), unit * ca.SX.eye(2), ("a", "b"))
    free = constrain(lagrangian_system(space, lambda s: (s.v.a ** 2 + s.v.b ** 2) / 2))
    assert find_symmetry(free).names == ("d/da", "d/db", "y d/dx - x d/dy")


def test_candidates_that_are_combinations_of_earlier_ones_are_left_out():
    """Beside d/da = (1 + x / 10) d/dx and d/dx there is no need of x d/dx."""
    plane = euclidean("x", "y")
    space = change_of_basis(plane, ca.diagcat(1 + plane.q[0] / 10, 1), ("a", "b"))
    idle = constrain(lagrangian_system(space, lambda s: s.v.b ** 2 / 2))
    assert find_symmetry(idle).names == ("d/da", "d/db", "d/dx", "y d/dx")


# -- null spaces of any units ----------------------------------------------------------------------
ROWS = np.array([[1.0, 0, 2, 0, -0.25], [0, 1, -3, 0, 0.3], [0, 0, 0, 1, 7]])


@pytest.mark.parametrize("scale", [np.ones(5), np.array([0.1, 1.0, 30.0, 3.0, 0.2])])
def test_echelon_form_is_that_of_the_space(scale):
    """Of any basis of it, to the last digit of whole numbers, in any units of the columns; rounding
    errors are none."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        mixed = rng.normal(size=(3, 3)) @ (ROWS * scale)
        mixed += 1e-14 * np.abs(mixed).max(axis=1, keepdims=True) * rng.normal(size=mixed.shape)
        found = echelon(mixed, scale)
        np.testing.assert_allclose(found, ROWS, rtol=1e-9, atol=1e-10)
        assert scale[0] != 1 or np.array_equal(found[:, :4], ROWS[:, :4])
    assert echelon(np.zeros((0, 4))).shape == (0, 4)


@pytest.mark.parametrize("units", [np.ones(5), np.array([1e-5, 1.0, 1e5, 3.0, 0.02])])
def test_combinations_that_vanish_are_found_in_any_units(units):
    """Rates R with R ROWS^T = 0 and the size of their terms; a candidate whose every term is zero
    is a combination by itself."""
    rng = np.random.default_rng(1)
    rates = rng.normal(size=(8, 2)) @ null_space(ROWS).T * units
    found = null_combinations(rates, np.abs(rates))
    np.testing.assert_allclose(found * units / units[[0, 1, 3], None], ROWS, rtol=0, atol=1e-11)
    alone = null_combinations(np.column_stack([rates, np.zeros(8)]),
                              np.column_stack([np.abs(rates), np.zeros(8)]))
    np.testing.assert_allclose(alone[-1], [0, 0, 0, 0, 0, 1], rtol=0, atol=1e-12)
    near = rates.copy()
    near[:, 0] *= 1 + 1e-6
    assert len(null_combinations(near, np.abs(near))) == 3 and len(null_combinations(
        near + 1e-6 * np.abs(rates) * rng.normal(size=rates.shape), np.abs(rates))) == 0


def test_units_of_rows_are_found_from_sizes():
    rng = np.random.default_rng(2)
    u, w = 10 ** rng.uniform(-6, 6, 7), 10 ** rng.uniform(-6, 6, 4)
    sizes = np.outer(u, w) * (rng.random((7, 4)) < 0.7)
    sizes[:, 0] = u * w[0]
    np.testing.assert_allclose(row_units(sizes) / row_units(sizes)[0], u / u[0], rtol=1e-9)


def test_combinations_have_names():
    assert name_combination(np.array([1.0, 0.0, -2.5]), ["a ", "b", "c"]) == "a - 2.5 c"
    assert name_combination(np.array([-1.0, 1.0, 1 / 3]), ["a", "b", "c"]) == "- a + b + 0.333333 c"


def test_points_that_are_finite_are_counted():
    points = [[np.array([1.0]), np.array([k / 2 if k % 2 else np.inf, 3.0])] for k in range(9)]
    found = finite_points(iter(points), 4, "cure")
    assert [float(point[1][0]) for point in found] == [0.5, 1.5, 2.5, 3.5]
    with pytest.raises(MechanicsError, match="finite at only 4 of 5 random states.*cure"):
        finite_points(iter(points), 5, "cure")
