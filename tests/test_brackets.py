"""Growth vectors against known answers: unicycle, disk, ball, cars with trailers and their
singular configurations, Lie algebras."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import at_length

from nhmech import MechanicsError
from nhmech.mechanics.algebroid import LieAlgebroid, bracket, euclidean, product, rotation
from nhmech.mechanics.algebroid_makers import lie_algebra, special_euclidean_2, special_orthogonal
from nhmech.mechanics.brackets import bracket_closure, growth_vector, span_growth
from nhmech.mechanics.frame import adapted_frame
from nhmech.mechanics.system import ConstrainedSystem
from nhmech.mechanics.writing import constrain, lagrangian_system

RIGHT = np.pi / 2


def kinematic(space: LieAlgebroid, rows, parameters=None, **options) -> ConstrainedSystem:
    """Constraints on a space; the Lagrangian does not matter here."""
    system = lagrangian_system(space, lambda s: sum(x ** 2 for x in vars(s.v).values()) / 2,
                               parameters=tuple(parameters or {}))
    return constrain(system, parameters, rows=rows, **options)


def lateral(s, heading, place=()):
    """Lateral speed of an axle at heading `heading`, reached from (x, y) over unit hitches at the
    headings `place`."""
    vx, vy = s.v.x, s.v.y
    for name in place:
        angle, rate = getattr(s.q, name), getattr(s.v, name)
        vx, vy = vx + ca.sin(angle) * rate, vy - ca.cos(angle) * rate
    return vx * ca.sin(heading) - vy * ca.cos(heading)


def trailers(n: int) -> ConstrainedSystem:
    """A unicycle towing n trailers hitched on the axle of the one before; (x, y) its own axle."""
    names = tuple(f"t{i}" for i in range(n + 1))
    return kinematic(euclidean("x", "y", *names), {
        f"axle {i}": lambda s, i=i: lateral(s, getattr(s.q, f"t{i}"),
                                            names[1:i + 1]) for i in range(n + 1)})


def car(n: int = 0) -> ConstrainedSystem:
    """A car with steering angle phi and wheelbase l, towing n trailers hitched on the axle before;
    (x, y) its rear axle."""
    names = tuple(f"t{i}" for i in range(1, n + 1))
    rows = {f"trailer {i}": lambda s,
            i=i: lateral(s, getattr(s.q, f"t{i}"), names[:i]) for i in range(1, n + 1)}
    return kinematic(euclidean("x", "y", "yaw", "phi", *names), {
        "rear": lambda s: lateral(s, s.q.yaw),
        "front": lambda s: lateral(s, s.q.yaw + s.q.phi) - s.p.l * s.v.yaw * ca.cos(s.q.phi),
        **rows}, {"l": 0.7})


def disk() -> ConstrainedSystem:
    return kinematic(euclidean("x", "y", "yaw", "roll"), {
        "x": lambda s: s.v.x - s.v.roll * ca.cos(s.q.yaw),
        "y": lambda s: s.v.y - s.v.roll * ca.sin(s.q.yaw)})


def ball(pivoting: bool = True) -> ConstrainedSystem:
    """On R^2 x SO(3), body angular velocity."""
    def spin(s):
        return rotation(ca.vertcat(s.q.qx, s.q.qy, s.q.qz, s.q.qw)) @ ca.vertcat(
            s.v.wx, s.v.wy, s.v.wz
        )

    rows = {"x": lambda s: s.v.x - spin(s)[1], "y": lambda s: s.v.y + spin(s)[0],
            "pivot": lambda s: spin(s)[2]}
    return kinematic(product(euclidean("x", "y"), special_orthogonal()),
                     rows if not pivoting else {"x": rows["x"], "y": rows["y"]})


KNOWN = {
    "unicycle": (trailers(0), (2, 3)),
    "vertical rolling disk": (disk(), (2, 3, 4)),
    "Heisenberg": (kinematic(euclidean("x", "y", "z"), {"slope": lambda s: s.v.z - s.q.y * s.v.x}),
                   (2, 3)),
    "blade on SE(2)": (
        kinematic(special_euclidean_2(embedded=True), {"blade": lambda s: s.v.lateral_speed}),
        (2, 3),
    ),
    "ball": (ball(), (3, 5)),
    "ball without pivoting": (ball(pivoting=False), (2, 3, 5)),
    **{f"car with {n} trailers": (car(n), tuple(range(2, n + 5))) for n in range(3)},
    **{f"unicycle with {n} trailers": (trailers(n), tuple(range(2, n + 4))) for n in (1, 2)},
    "sphere": (
        kinematic(euclidean("x", "y", "z"), {},
                  holonomic={"sphere": lambda s: s.q.x**2 + s.q.y**2 + s.q.z**2 - 1}),
        (2,),
    ),
    "leaves of dimension 3": (
        kinematic(euclidean("x", "y", "z", "w"),
                  {"slope": lambda s: s.v.z - s.q.y * s.v.x, "held": lambda s: s.v.w}),
        (2, 3),
    ),
    "one direction": (kinematic(euclidean("x", "y"), {"line": lambda s: s.v.x - s.q.y * s.v.y}),
                      (1,)),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_growth_vectors(name):
    """Generic growth; every rank is decided by a gap of more than nine decades."""
    constrained, expected = KNOWN[name]
    found = growth_vector(constrained)
    assert found.ranks == expected and found.complete and found.degree == len(expected)
    assert min(found.kept) >= 1e-4 and max(found.dropped) <= 1e-13
    at_sample = growth_vector(constrained, constrained.configurations[1])
    assert at_sample.ranks == expected and at_sample.complete


@pytest.mark.parametrize("angles, expected", [
    ((RIGHT,), (2, 3, 4)), ((RIGHT, 0.3), (2, 3, 4, 4, 5)), ((0.3, RIGHT), (2, 3, 4, 5)),
    ((0.2, RIGHT, 0.1), (2, 3, 4, 5, 5, 6)),
    *at_length(((RIGHT, RIGHT, 0.1), (2, 3, 4, 4, 5, 5, 5, 6)))])
def test_singular_configurations_of_trailers(angles, expected):
    """A right angle at any hitch but the last is singular, and the degree is at most
    the Fibonacci number F(n + 3) (Jean 1996)."""
    n = len(angles)
    found = growth_vector(trailers(n), np.r_[0.1, 0.2, 0.3, 0.3 + np.cumsum(angles)], depth=9)
    assert found.ranks == expected and found.complete
    assert found.degree <= (2, 3, 5, 8)[n]
    assert min(found.kept) >= 1e-4 and max(found.dropped) <= 1e-13


def test_martinet_surface():
    """z' = y^2 x': (2, 3) off the plane y = 0 and (2, 2, 3) on it."""
    martinet = kinematic(euclidean("x", "y", "z"),
                         {"martinet": lambda s: s.v.z - s.q.y ** 2 * s.v.x})
    assert growth_vector(martinet).ranks == growth_vector(martinet, [0.3, 0.2, 0.1]).ranks == (2, 3)
    assert growth_vector(martinet, [0.3, 0.0, 0.1]).ranks == (2, 2, 3)


@pytest.mark.parametrize("name, columns, expected", [
    ("se(2)", (0, 2), (2, 3)), ("se(2)", (0, 1), (2,)), ("so(3)", (0, 1), (2, 3)),
    ("heisenberg", (0, 1), (2, 3)),
    ("heisenberg", (0, 2), (2,)),
    ("se(3)", (0, 3), (2,)), ("se(3)", (0, 4, 5), (3, 6)), ("se(3)", (3, 4), (2, 3))])
def test_structure_functions_alone(name, columns, expected):
    """nq = 0 and constant sections: all brackets come from c, and the whole algebra or a subalgebra
    is reached."""
    space = lie_algebra(name)
    found = span_growth(space, ca.SX.eye(space.nv)[:, list(columns)], np.zeros((1, 0)))
    assert found.ranks == expected and found.complete


def test_blade_on_the_algebra_is_the_unicycle():
    assert growth_vector(kinematic(lie_algebra("se(2)"),
                                   {"blade": lambda s: s.v.lateral_speed})).ranks == (2, 3)


def test_growth_does_not_depend_on_the_frame():
    """Other independent speeds, and sections multiplied by an invertible matrix of functions."""
    constrained = disk()
    for speeds in (("x'", "yaw'"), ("yaw'", "roll'")):
        assert growth_vector(constrained, speeds=speeds).ranks == (2, 3, 4)
    space, E = constrained.system.algebroid, adapted_frame(constrained).E
    mixed = E @ ca.blockcat([[2 + ca.sin(space.q[0]), space.q[2]], [0, ca.exp(space.q[3])]])
    assert span_growth(space, mixed, constrained.configurations).ranks == (2, 3, 4)
    # involutive, with brackets that do not vanish
    plane = euclidean("x", "y", "z")
    x, y, _ = ca.vertsplit(plane.q)
    found = span_growth(plane, ca.blockcat([[1, x * y], [0, 1 + y ** 2], [0, 0]]),
                        np.random.default_rng(0).normal(size=(4, 3)))
    assert found.ranks == (2,) and found.degree == 1 and found.complete


def test_nearly_dependent_sections_count_down_to_rounding():
    """Sections of any size; singular values above 1e-8 of the largest."""
    plane = euclidean("x", "y")
    points = np.random.default_rng(0).normal(size=(3, 2))
    for gap, ranks, least in ((1e-5, (2,), 1e-5 / 4), (1e-9, (1,), 1.0)):
        for size in (1e-9, 1.0, 1e9):
            found = span_growth(plane, size * ca.SX(ca.DM([[1, 1], [1, 1 + gap]])), points)
            assert found.ranks == ranks and found.complete
            assert found.kept == pytest.approx((least,), rel=1e-3) and found.dropped == (0.0,)


def test_each_section_has_its_own_unit():
    space = euclidean("x", "y")
    found = span_growth(space, ca.diag(ca.vertcat(1e-6, 1e3 * (1 + space.q[0] ** 2))),
                        np.zeros((1, 2)))
    assert found.ranks == (2,) and found.kept[0] > 0.1


def test_time_is_held():
    """z' = t y x' is integrable at t = 0 and not later."""
    slope = kinematic(euclidean("x", "y", "z"), {"slope": lambda s: s.v.z - s.t * s.q.y * s.v.x})
    assert growth_vector(slope).ranks == (2,) and growth_vector(slope, t=0.5).ranks == (2, 3)


def test_depth_that_does_not_suffice_is_reported():
    found = growth_vector(car(2), depth=3)
    assert found.ranks == (2, 3, 4) and not found.complete


def test_wrong_sections_are_named():
    with pytest.raises(MechanicsError, match=r"\(3, n\).*given are \(2, 1\)"):
        span_growth(lie_algebra("so(3)"), ca.SX(2, 1), np.zeros((1, 0)))
    space = euclidean("x", "y")
    with pytest.raises(MechanicsError, match="not finite"):
        span_growth(space, ca.vertcat(ca.log(space.q[0]), 1), np.zeros((1, 2)))
    with pytest.raises(MechanicsError, match="depend on mass"):
        span_growth(space, ca.vertcat(ca.SX.sym("mass"), 1), np.zeros((1, 2)))


def test_a_search_without_operations_ends_after_the_first_level():
    space = lie_algebra("so(3)")
    found = span_growth(space, ca.SX.eye(3)[:, :2], np.zeros((1, 0)), operations=0)
    assert found.ranks == (2,) and not found.complete


def test_the_closure_spans_what_brackets_reach():
    space = lie_algebra("so(3)")
    closure = ca.evalf(bracket_closure(space, ca.SX.eye(3)[:, :2], np.zeros((1, 0)))).full()
    assert closure.shape == (3, 3) and abs(np.linalg.det(closure)) == pytest.approx(1, rel=1e-13,
                                                                                    abs=0)
    with pytest.raises(MechanicsError, match="brackets of 1 levels span 2 of 3 directions"):
        bracket_closure(space, ca.SX.eye(3)[:, :2], np.zeros((1, 0)), depth=1)
    none = bracket_closure(euclidean("x", "y"), ca.SX(2, 1), np.zeros((1, 2)))
    assert none.shape == (2, 0)


@pytest.mark.parametrize("points", [1, 3])
def test_sections_that_vanish_span_nothing(points):
    found = span_growth(euclidean("x", "y"), ca.SX(2, 2), np.zeros((points, 2)))
    assert found == type(found)((0,), (0.0,), (0.0,), True) and found.degree == 1


def test_the_largest_rank_over_the_points_counts():
    """x d/dx and d/dy, at x = 0 and elsewhere; at x = 0 alone the rank is one for good."""
    space = euclidean("x", "y")
    sections = ca.diagcat(space.q[0], 1)
    for points, ranks in (([[0.0, 1.0], [2.0, 0.0]], (2,)), ([[0.0, 1.0]], (1,))):
        assert span_growth(space, sections, np.array(points), pointwise=True).ranks == ranks


def test_depth_counts_levels():
    found = growth_vector(car(2), depth=5)
    assert found.ranks == (2, 3, 4, 5, 6) and found.complete
    found = growth_vector(car(2), depth=4)
    assert found.ranks == (2, 3, 4, 5) and not found.complete
    with pytest.raises(MechanicsError, match=r"\(3, n\) with n >= 1; given are \(3, 0\)"):
        span_growth(lie_algebra("so(3)"), ca.SX(3, 0), np.zeros((1, 0)))


def test_a_growth_that_stalls_ends_with_the_generic_one_unless_a_point_is_asked_for():
    """z' = y^3 x' beside a w that nothing moves: (2, 3) and no more off y = 0, and (2, 2, 2, 3)
    on it."""
    space = euclidean("x", "y", "z", "w")
    slope = ca.blockcat([[1, 0], [0, 1], [space.q[1] ** 3, 0], [0, 0]])
    flat = np.array([[0.3, 0.0, 0.1, 0.2], [0.1, 0.0, 0.4, -0.5]])
    found = span_growth(space, slope, flat)
    assert found.ranks == (2,) and found.complete
    assert span_growth(space, slope, flat, pointwise=True).ranks == (2, 2, 2, 3)
    closure = ca.Function("closure", [space.q], [bracket_closure(space, slope, flat)])
    assert [np.linalg.matrix_rank(closure(q).full()) for q in flat] == [3, 3]


def test_what_counts_is_relative_to_the_largest_value_at_a_point():
    """Of a field that is small there and has its usual size elsewhere."""
    space = euclidean("x", "y")
    for x in (1e-3, 1.0, 1e3):
        found = span_growth(space, ca.vertcat(space.q[0], 0), np.array([[x, 0.0]]))
        assert (found.ranks, found.kept, found.dropped) == ((1,), (1.0,), (0.0,))


def test_a_search_goes_on_as_long_as_its_brackets_have_no_more_operations_than_given():
    """Those of all levels so far count, and no clock does: Engel's distribution, (2, 3, 4)."""
    q = (space := euclidean("x", "y", "z", "w")).q
    X, Y = ca.vertcat(1, 0, q[1], q[2]), ca.SX([0, 1, 0, 0])

    def operations(sections):
        return sum(ca.Function("section", [q], [ca.densify(ca.cse(one))]).n_instructions()
                   for one in sections)

    first = operations([X, Y])
    second = first + operations(bracket(space, one, two) for one in (X, Y) for two in (X, Y))
    for most, ranks in ((first - 1, (2,)), (first, (2, 3)), (second - 1, (2, 3)),
                        (second, (2, 3, 4))):
        found = span_growth(space, ca.horzcat(X, Y), np.zeros((1, 4)), operations=most)
        assert found.ranks == ranks and found.complete == (ranks == (2, 3, 4))


def test_a_point_has_its_generic_growth_where_leaves_are_smaller_than_the_space():
    """A rolling disk beside a w that is held: (2, 3, 4) of five dimensions."""
    leaves = kinematic(euclidean("x", "y", "yaw", "roll", "w"), {
        "x": lambda s: s.v.x - s.v.roll * ca.cos(s.q.yaw),
        "y": lambda s: s.v.y - s.v.roll * ca.sin(s.q.yaw), "held": lambda s: s.v.w})
    found = growth_vector(leaves, [0.3, -0.2, 0.7, 0.1, 0.5])
    assert found.ranks == (2, 3, 4) and found.complete
