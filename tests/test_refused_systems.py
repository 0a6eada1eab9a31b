"""Systems without a motion, or with more than one, are refused by name; a start lies on the
manifold of the constraints."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import nhmech
from nhmech.analysis import linearise
from nhmech.errors import InputError, MechanicsError, SimulationError
from nhmech.mechanics import (
    change_of_basis,
    constrain,
    euclidean,
    generalised_speeds,
    gibbs_appell,
    hamel,
    hamilton_jacobi,
    lagrange_dalembert,
    lagrange_multipliers,
    lagrangian_system,
    nonholonomic_bracket,
    nonholonomic_momentum,
    projection,
    quotient,
    special_euclidean,
    symmetry,
)
from nhmech.mechanics.newton import nearest_zero

FORMERS = (gibbs_appell, hamel, lagrange_dalembert, lagrange_multipliers, projection)


@pytest.fixture(scope="module")
def particle():
    return lagrangian_system(euclidean("x", "y", "z"),
                             lambda s: (s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)


def test_affine_rows_that_contradict_each_other_are_named(particle):
    rows = {"one": lambda s: s.v.x - 1, "two": lambda s: 2 * s.v.x - 3}
    with pytest.raises(MechanicsError, match="'one' contradicts two|'two' contradicts one"):
        gibbs_appell(constrain(particle, rows=rows))


def test_rounding_of_large_speeds_is_no_contradiction(particle):
    """Against their own size: 1e-13 of 3e8 is 3e-5."""
    speed = 1e9 / 3
    agree, contradict = (constrain(particle, rows={
        "one": lambda s: s.v.x - speed,
        "two": lambda s, off=off: 0.7 * s.v.x - 0.7 * speed * (1 + off)}) for off in (1e-13, 1e-6))
    assert len(gibbs_appell(agree).names) == 2
    with pytest.raises(MechanicsError, match="contradicts"):
        gibbs_appell(contradict)


def test_two_rows_of_one_name_are_refused(particle):
    with pytest.raises(MechanicsError, match="two constraints are called 'level'"):
        constrain(particle, rows={"level": lambda s: s.v.z}, holonomic={"level": lambda s: s.q.y})


@pytest.mark.parametrize("power", (2, 3, 4))
@pytest.mark.parametrize("samples", (None, np.array([[0.6, 0.8, 0.0], [0.0, -0.6, 0.8]])))
def test_a_holonomic_function_with_a_multiple_zero_is_refused(particle, power, samples):
    """Its row is zero wherever it holds; that of the function itself is not."""
    def sphere(s, power=1):
        return (s.q.x ** 2 + s.q.y ** 2 + s.q.z ** 2 - 1) ** power

    assert len(gibbs_appell(constrain(particle, holonomic={"sphere": sphere},
                                      samples=samples)).names) == 2
    with pytest.raises(MechanicsError, match="derivatives of 'sphere' vanish .* simple zeros"):
        gibbs_appell(constrain(particle, samples=samples,
                               holonomic={"sphere": lambda s: sphere(s, power)}))


@pytest.mark.parametrize("away", (1.0, 100.0))
@pytest.mark.parametrize("share, simple", ((0.99, False), (1.01, True)))
def test_a_zero_is_simple_above_a_millionth_of_the_slope_elsewhere(particle, away, share, simple):
    """x^2 / 2 + c x has the slope c where it vanishes, and x + c at x."""
    c = 1e-6 * share * away
    bent = constrain(particle, holonomic={"bent": lambda s: s.q.x ** 2 / 2 + c * s.q.x})
    on, off = np.zeros((1, 3)), np.array([[away, 0.0, 0.0], [3 * away, 1.0, 2.0]])
    if simple:
        bent.require_simple_zeros(on, off)
    else:
        with pytest.raises(MechanicsError, match="'bent' vanish wherever it does"):
            bent.require_simple_zeros(on, off)


def test_a_slope_that_vanishes_at_one_place_of_many_is_none_everywhere(particle):
    """x y has no slope where both its zeros meet."""
    cross = constrain(particle, holonomic={"cross": lambda s: s.q.x * s.q.y})
    cross.require_simple_zeros([np.zeros(3), np.array([0.0, 2.0, 1.0])], [np.ones(3)])


@pytest.mark.parametrize("scale", (1e-9, 1e9))
def test_the_unit_of_a_holonomic_function_is_any(particle, scale):
    """It vanishes to rounding of its own unit."""
    flat = constrain(particle, holonomic={"flat": lambda s: scale * (s.q.z - s.q.x ** 2)})
    assert len(gibbs_appell(flat).names) == 2


@pytest.mark.parametrize("lagrangian", [
    lambda s: s.v.x ** 2 / 2 + s.u.push * s.v.x, lambda s: s.v.x ** 2 / 2 + s.u.push * s.q.x,
    lambda s: (1 + s.u.push) * s.v.x ** 2])
def test_a_lagrangian_with_an_input_is_refused(lagrangian):
    """x'' + d(push)/dt = 0 is the motion of the first, whose rate of the input nobody knows."""
    with pytest.raises(MechanicsError, match=r"the Lagrangian contains the input 'push', .* acts "
                                             r"by force=lambda s: \{coordinate: s.u.push\}"):
        lagrangian_system(euclidean("x"), lagrangian, inputs=("push",))


FOREIGN = ca.SX.sym("mass")
REFUSED_ROWS = {
    "a symbol of one's own": ({"rows": {"r": lambda s: FOREIGN * s.v.x}},
                              r"'r' contains 'mass', .* parameters=\('mass',\) .* s.p.mass"),
    "an input": ({"rows": {"r": lambda s: s.v.x - s.u.push}}, "'r' contains the input 'push'"),
    "an input in phi": ({"holonomic": {"r": lambda s: s.q.x - s.u.push}}, "the input 'push'"),
    **{f"a {kind}": ({"rows": {"r": lambda s, of=of: of(s.v.x, s.v.y)}},
                     "'r' is the condition .* truth value; write left - right")
       for kind, of in {
           "difference": lambda a, b: a != b, "order": lambda a, b: a < b,
           "bound": lambda a, b: a >= b, "equation": lambda a, b: a == b,
           "conjunction": lambda a, b: ca.logic_and(a, b),
           "choice": lambda a, b: ca.logic_or(a > 0, b), "negation": lambda a, b: ca.logic_not(a),
       }.items()},
    "no velocity": ({"rows": {"r": lambda s: s.q.x}}, "contains no velocity; .* holonomic="),
    "a velocity in phi": ({"holonomic": {"r": lambda s: s.q.x + s.v.x}},
                          "'r' of holonomic contains a velocity; pass it in rows="),
}


@pytest.mark.parametrize("case", REFUSED_ROWS)
def test_constraints_that_are_none_are_named(case):
    words, message = REFUSED_ROWS[case]
    pushed = lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2,
                               inputs=("push",), force=lambda s: {"x": s.u.push})
    with pytest.raises(MechanicsError, match=message):
        constrain(pushed, **words)


@pytest.mark.parametrize("energy, words, message", [
    (lambda s: FOREIGN * s.v.x ** 2, {}, "the Lagrangian contains 'mass'"),
    (lambda s: s.v.x ** 2, {"force": lambda s: {"x": FOREIGN}}, "the force on 'x' contains 'mass'"),
    (lambda s: s.p.mass * s.v.x ** 2, {}, r"no 'mass' here. There are none; add it by param"),
    (lambda s: s.u.push * s.q.x, {}, r"no 'push' here. There are none; add it by inputs="),
    (lambda s: s.v.z ** 2, {}, "no 'z' here. There are x$"),
    (lambda s: s.x ** 2, {}, r"no s.x; a coordinate is s.q.x, its velocity s.v.x, ")])
def test_symbols_that_were_not_declared_are_named(energy, words, message):
    with pytest.raises(MechanicsError, match=message):
        lagrangian_system(euclidean("x"), energy, **words)


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_numbers_that_are_none_are_named(particle, number):
    """A division by zero is no singular Lagrangian."""
    plane = euclidean("x", "y")
    for call, what in (
            (lambda: lagrangian_system(plane, lambda s: s.v.x / (s.q.x - s.q.x)), "the Lagrangian"),
            (lambda: lagrangian_system(plane, lambda s: number * s.v.x ** 2), "the Lagrangian"),
            (lambda: lagrangian_system(plane, lambda s: s.v.x ** 2,
                                       force=lambda s: {"y": s.q.x + number}), "the force on 'y'"),
            (lambda: constrain(particle, rows={"r": lambda s: s.v.x - number}), "constraint 'r'")):
        with pytest.raises(MechanicsError, match=f"{what} contains (inf|nan): a constant is a fin"):
            call()


def test_an_algebroid_with_symbols_that_nobody_declared_is_refused():
    line = replace(euclidean("x"), anchor=FOREIGN)
    with pytest.raises(MechanicsError, match="the algebroid contains mass; .* functions of x here"):
        lagrangian_system(line, lambda s: s.v.x ** 2)


def test_a_basis_whose_columns_depend_on_each_other_is_refused():
    plane = euclidean("x", "y")
    x, y = ca.vertsplit(plane.q)
    basis = ca.blockcat([[x, y * x], [1, y]])
    with pytest.raises(MechanicsError, match=r"\(a, b\) depend on each other: rank 1 of 2"):
        change_of_basis(plane, basis, ("a", "b"))
    for given, names in ((ca.SX.eye(2), ("a",)), (ca.SX.eye(2)[:, :1], ("a", "b"))):
        with pytest.raises(MechanicsError, match=r"a basis of this fibre is \(2, 2\) with 2 names"):
            change_of_basis(plane, given, names)


@pytest.mark.parametrize("where", (
    lambda x: ca.sqrt(1 - x), lambda x: ca.sqrt(x - 2), lambda x: ca.fmax(x - 1, 0)))
def test_a_basis_is_judged_where_it_is_finite_and_by_its_best_place(where):
    """It is near one: finite or regular on one side, or finite on neither."""
    plane = euclidean("x", "y")
    basis = ca.diagcat(where(plane.q[0]), 2)
    made = change_of_basis(plane, basis, ("a", "b"))
    np.testing.assert_allclose(ca.Function("rho", [plane.q], [made.anchor])([0.5, 0.1]),
                               ca.Function("X", [plane.q], [basis])([0.5, 0.1]),
                               rtol=1e-12, atol=0)


WRITTEN = {
    "a generator": lambda c: symmetry(c, {"z": lambda s: {"z": FOREIGN}}),
    "a section": lambda c: nonholonomic_momentum(symmetry(c, {
        "x": lambda s: {"x": 1}, "z": lambda s: {"z": 1}}), {
            "along": lambda s: {"x": FOREIGN, "z": FOREIGN * s.q.y}}),
    "a speed": lambda c: generalised_speeds(c, {"w": lambda s: FOREIGN * s.v.x}),
    "a field": lambda c: hamilton_jacobi(c, {"x'": lambda s: FOREIGN, "y'": 1.0}),
    "an invariant": lambda c: quotient(symmetry(c, {"z": lambda s: {"z": 1}}),
                                       {"r": lambda s: FOREIGN * s.q.x}),
}


@pytest.mark.parametrize("what", WRITTEN)
def test_whatever_is_written_by_hand_knows_the_symbols_of_its_system(particle, what):
    sloping = constrain(particle, rows={"slope": lambda s: s.v.z - s.q.y * s.v.x})
    with pytest.raises(MechanicsError, match="contains '?mass"):
        WRITTEN[what](sloping)


@pytest.mark.parametrize("value", ["x", ca.vertcat(FOREIGN, 1)])
def test_an_expression_is_one_expression(particle, value):
    free = constrain(particle)
    for call in (lambda: generalised_speeds(free, {"w": lambda s: value}),
                 lambda: hamilton_jacobi(free, {"x'": lambda s: value, "y'": 1.0, "z'": 0.0}),
                 lambda: quotient(symmetry(free, {"z": lambda s: {"z": 1}}),
                                  {"r": lambda s: value})):
        with pytest.raises(MechanicsError, match="must be a CasADi expression or a number"):
            call()


def test_states_of_a_linearisation_are_finite(particle):
    with pytest.raises(InputError, match=r"q = \[ 0. *0. nan\] must be finite"):
        linearise(constrain(particle), [0.0, 0.0, np.nan], [1.0, 0.0, 0.0])


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_samples_off_the_manifold_are_named(particle, unit):
    """By more than a millionth, in any unit of the function."""
    wall = {"wall": lambda s: unit * (s.q.x - 1)}
    assert constrain(particle, holonomic=wall, samples=[[1 + 0.9e-6, 0, 0]]).samples is not None
    for x in (0.5, 1 + 1.1e-6):
        message = f"q = {x:.4g}, 0, 0 is not on .* 'wall', which is {abs(x - 1) * unit:.3g} there"
        with pytest.raises(MechanicsError, match=message.replace("+", ".")):
            constrain(particle, holonomic=wall, samples=[[1, 0, 0], [x, 0, 0]])


@pytest.mark.parametrize("former", FORMERS)
def test_what_is_not_finite_is_not_called_singular(former):
    with pytest.raises(MechanicsError, match="not finite at any sample configuration"):
        former(lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 * ca.sqrt(-1 - s.q.x ** 2)))


def test_a_system_without_constraints_has_equations():
    falling = lagrangian_system(euclidean("z"), lambda s: s.v.z ** 2 / 2 - 9.81 * s.q.z)
    assert float(gibbs_appell(falling).acceleration(0, [0.0], [1.0], [], [])) == -9.81
    heavy = lagrangian_system(euclidean("z"), lambda s: s.p.m * s.v.z ** 2, parameters=("m",))
    with pytest.raises(MechanicsError, match=r"parameters m have no numbers: .*\{'m': 1.0"):
        gibbs_appell(heavy)


def test_a_contradiction_that_begins_later_is_found(particle):
    rows = {"one": lambda s: s.v.x, "two": lambda s: s.v.x + ca.sin(s.t)}
    with pytest.raises(MechanicsError, match="contradicts"):
        gibbs_appell(constrain(particle, rows=rows))


def test_rows_that_say_the_same_twice_agree(particle):
    rows = {"one": lambda s: s.v.x + s.q.y * s.v.z - ca.cos(s.t),
            "two": lambda s: 2 * ca.cos(s.t) - 2 * s.v.x - 2 * s.q.y * s.v.z}
    v = gibbs_appell(constrain(particle, rows=rows)).velocity(0.3, [0, 2.0, 0], [1.0, 1.0], [])
    assert v[0] + 2 * v[2] == pytest.approx(np.cos(0.3), rel=1e-14)


@pytest.mark.parametrize("rows, message", [
    ({"a": lambda s: s.v.y, "b": lambda s: s.v.y + s.q.x * s.v.x},
     "rows a, b have rank 1 at x = 0, y = 0, z = 0, elsewhere 2"),
    ({"a": lambda s: s.q.x * s.v.x + s.q.y * s.v.y},
     "rows a have rank 0 at x = 0, y = 0, z = 0, elsewhere 1"),
])
def test_a_start_where_rank_is_lost_names_rows_place_and_rank(particle, rows, message):
    with pytest.raises(SimulationError, match=message):
        nhmech.Simulator(constrain(particle, rows=rows)).reset(q=[0.0, 0.0, 0.0])


def test_an_algebroid_that_is_none_is_refused():
    good = special_euclidean()
    # [w, w] has the sign of the left trivialisation, this anchor that of the right one
    bad = replace(good, anchor=ca.diagcat(good.anchor[:3, :3], -good.anchor[3:, 3:]))
    system = lagrangian_system(bad, lambda s: s.v.forward_speed ** 2 / 2)
    for call in (constrain, gibbs_appell):
        with pytest.raises(MechanicsError, match="anchor morphism"):
            call(system)


@pytest.mark.parametrize("former", FORMERS)
def test_singular_lagrangians_point_to_the_constraint_algorithm(former):
    system = lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 / 2 + s.q.y * s.v.x)
    with pytest.raises(MechanicsError, match="constraint_algorithm"):
        former(constrain(system))


@pytest.mark.parametrize("energy, rate", (
    (lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2 + 1 / s.q.x, -0.25),
    (lambda s: (s.q.x ** 2 * s.v.x ** 2 + s.v.y ** 2) / 2 - s.q.x, -0.295)))
def test_one_sample_at_which_all_is_regular_is_enough(energy, rate):
    """At x = 0 a force is infinite, or a mass is none: x'' = -1 / x^2, x^2 x'' = -x x'^2 - 1."""
    made = constrain(lagrangian_system(euclidean("x", "y"), energy),
                     samples=np.array([[0.0, 0.0], [2.0, 1.0]]))
    found = projection(made, ("x'", "y'")).drift(0, [2.0, 1.0], [0.3, 0.4], [], [])[1].full()
    np.testing.assert_allclose(found.ravel(), [rate, 0], rtol=1e-12)
    assert nonholonomic_bracket(made).rank([2.0, 1.0], [0.3, 0.4]) == 4


@pytest.mark.parametrize("former", FORMERS)
def test_a_constraint_may_make_a_singular_lagrangian_regular(former):
    """L does not see y', but y' = 2 x' ties it: x'' + 2 y'' ... leaves x'' = -x."""
    system = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 - s.q.x ** 2) / 2)
    tied = constrain(system, rows={"tie": lambda s: s.v.y - 2 * s.v.x})
    if former is projection:
        with pytest.raises(MechanicsError, match="rank 1 of 2"):
            former(tied)
    else:
        found = former(tied, speeds=("x'",)).acceleration(0, [0.7, 0.0], [0.2], [], []).full()
        assert np.allclose(found, [[-0.7], [-1.4]], rtol=0, atol=1e-14)


def test_default_samples_lie_on_the_holonomic_manifold(particle):
    ring = constrain(particle, holonomic={"ring": lambda s: s.q.x ** 2 + s.q.y ** 2 - 4})
    assert len(ring.configurations) == 8
    assert np.allclose(np.hypot(*ring.configurations.T[:2]), 2, rtol=0, atol=1e-13)
    empty = constrain(particle, holonomic={"ring": lambda s: s.q.x ** 2 + s.q.y ** 2 + 4})
    with pytest.raises(MechanicsError, match="satisfies ring"):
        gibbs_appell(empty)


def test_a_start_off_the_manifold_is_refused_with_the_nearest_on_it(particle):
    ring = constrain(particle, holonomic={"ring": lambda s: s.q.x ** 2 + s.q.y ** 2 - 1})
    simulator = nhmech.Simulator(ring)
    with pytest.raises(InputError, match=r"'ring', which is 0.21 .*q = \[1.0, 0.0, 0.0\]"):
        simulator.reset(q=[1.1, 0.0, 0.0])
    assert simulator.reset(q=[1.0 + 1e-8, 0.0, 0.0]).q[0] == pytest.approx(1, abs=1e-14)
    vehicle = nhmech.load(nhmech.urdf_path("differential_drive"))
    q = vehicle.configuration()
    q[2] += 0.01
    with pytest.raises(InputError, match="left_wheel_joint' is 0.01 m above"):
        nhmech.Simulator(vehicle).reset(q=q)


def test_a_speed_that_hardly_tells_the_motion_still_tells_it():
    """x' = slope y', down to a slope of 1e-6; a row may be written in any unit."""
    plane = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)
    for slope, unit in ((1e-5, 1.0), (1.01e-6, 1e6)):
        tied = constrain(plane, rows={"tie": lambda s: unit * (s.v.x - slope * s.v.y)})
        v = gibbs_appell(tied, speeds=("x'",)).velocity(0, [0, 0], [slope], []).full()
        np.testing.assert_allclose(v.ravel(), [slope, 1.0], rtol=1e-12)
    with pytest.raises(InputError, match="\"x'\" follows from the others"):
        gibbs_appell(constrain(plane, rows={"tie": lambda s: s.v.x - 0.99e-6 * s.v.y}), ("x'",))


def test_the_nearest_zero_is_that_of_shortest_steps():
    """A line is met at the foot of the perpendicular, a circle within rounding; where there is no
    zero, or none is finite, there is none."""
    def zero(value, slope, z):
        return nearest_zero(lambda z: (ca.DM(value(z)), ca.DM(slope(z))), np.array(z))

    foot = zero(lambda z: [z[0] + 2 * z[1] - 5], lambda z: np.array([[1.0, 2.0]]), [0.0, 0.0])
    np.testing.assert_allclose(foot, [1, 2], rtol=1e-14)
    for size in (1e-6, 1.0, 1e5):
        found = zero(lambda z: [z @ z - size ** 2], lambda z: 2 * z[None], [0.9 * size, 0.8 * size])
        assert np.hypot(*found) == pytest.approx(size, rel=1e-13)
        assert found[0] / found[1] == pytest.approx(9 / 8, rel=1e-12)
    assert zero(lambda z: [z @ z + 1e-11], lambda z: 2 * z[None], [0.9, 0.8]) is None
    for value in ([np.nan, 0.0], [0.0, np.inf], [0.0, 1e-3]):      # of several, none counts alone
        assert zero(lambda z: value, lambda z: np.zeros((2, 2)), [0.9, 0.8]) is None
    assert zero(lambda z: [z[0]], lambda z: np.array([[1.0, np.inf]]), [0.9, 0.8]) is None
    assert zero(lambda z: np.zeros((0, 1)), lambda z: np.zeros((0, 2)), [0.9, 0.8]).tolist() == [
        0.9, 0.8]


@pytest.mark.parametrize("place", (0.0, -3.0, 1e4))
@pytest.mark.parametrize("share, found", ((0.99, True), (1.01, False)))
def test_a_zero_is_one_to_a_millionth_of_a_millionth(place, share, found):
    """Of the place, and of one."""
    value = share * 1e-12 * (1 + abs(place))
    at = nearest_zero(lambda z: (ca.DM([value]), ca.DM(1, 2)), np.array([place, 0.0]))
    assert (at is not None) is found


@pytest.mark.parametrize("unit", (1e-14, 1e-9, 1.0, 1e9))
def test_the_units_of_functions_decide_no_zero(unit):
    """Beside another one, of a circle that is met and of one that is not."""
    def rows(z, radius):
        return (ca.DM([unit * (z[0] ** 2 + z[1] ** 2 - radius), z[2] - 0.3 * z[0]]),
                ca.DM([[2 * unit * z[0], 2 * unit * z[1], 0], [-0.3, 0, 1]]))

    at = nearest_zero(lambda z: rows(z, 1.0), np.array([0.9, 0.2, 0.3]))
    same = nearest_zero(lambda z: rows(z, -1e-6), np.array([0.9, 0.2, 0.3]))
    assert at[0] ** 2 + at[1] ** 2 == pytest.approx(1, rel=1e-14, abs=0) and same is None
    assert at[2] == pytest.approx(0.3 * at[0], rel=1e-14, abs=0)


@pytest.mark.parametrize("slope, moves", ((1e-8, True), (1e-14, False)))
def test_a_slope_within_rounding_of_another_is_none(slope, moves):
    """A zero far away along it is not looked for: x = 1 and x + slope (y - 5) = 1."""
    def rows(z):
        return ca.DM([z[0] - 1, z[0] + slope * (z[1] - 5) - 1]), ca.DM([[1, 0], [1, slope]])

    at = nearest_zero(rows, np.array([0.3, 4.9]))
    np.testing.assert_allclose(at, [1, 5 if moves else 4.9], rtol=1e-6)
