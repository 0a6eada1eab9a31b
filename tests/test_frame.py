"""The adapted frame of random constraints, against linear algebra at a point."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import fsolve

from nhmech.errors import InputError, MechanicsError
from nhmech.mechanics import (
    constrain,
    euclidean,
    gibbs_appell,
    lagrange_multipliers,
    lagrangian_system,
)
from nhmech.mechanics.distribution import Component
from nhmech.mechanics.frame import adapted_frame, at_samples

RNG = np.random.default_rng(0)
C = RNG.normal(size=(3, 5, 4))
NAMES = ("a", "b", "c", "d")


def rows(count=2):
    """Affine, moving, with coefficients that are functions of all coordinates."""
    def row(i, s):
        q = ca.vertcat(*vars(s.q).values())
        v = ca.vertcat(*vars(s.v).values())
        words = ca.vertcat(1, ca.sin(q[0] + s.t), q[1] * q[2], ca.cos(q[3]), s.t)
        return words.T @ ca.DM(C[i]) @ v + ca.sin(q[i]) * s.t + 0.3

    return {f"row {i}": lambda s, i=i: row(i, s) for i in range(count)}


def system(**words):
    free = lagrangian_system(euclidean(*NAMES), lambda s: (
        s.v.a ** 2 + 2 * s.v.b ** 2 * (2 + ca.sin(s.q.a)) + 3 * s.v.c ** 2 + s.v.d ** 2
        + s.v.a * s.v.c) / 2 - s.q.d ** 2, force=lambda s: {"c": -s.v.a * s.q.b})
    return constrain(free, **words)


def values(frame, *expressions, q, v=(0, 0, 0, 0), t=0.4):
    s = frame.constrained.system
    made = ca.Function("values", [s.t, s.q, s.v], [ca.densify(part) for part in expressions])
    return [part.full() for part in made.call([t, q, list(v)])]


@pytest.mark.parametrize("speeds", [None, ("a'", "c'"), ("d'", "b'")])
def test_the_frame_solves_random_rows(speeds):
    """A E = 0, A e0 = -b, W v = xi, and A v' = -gamma by differences along the motion."""
    given = system(rows=rows())
    frame, xi = adapted_frame(given, speeds), np.array([0.7, -1.1])
    assert speeds is None or frame.names == speeds
    d, s = given.distribution, given.system
    index = list(frame.speeds)
    for q in np.random.default_rng(1).normal(size=(3, 4)):
        A, b, E, v, inverse = values(frame, d.A, d.b, frame.E, frame.velocity(ca.DM(xi)),
                                     frame.inverse, q=q)
        np.testing.assert_allclose(A @ E, 0, atol=1e-12)
        np.testing.assert_allclose(A @ v + b, 0, atol=1e-12)
        np.testing.assert_allclose(v[index, 0], xi, rtol=1e-13)
        np.testing.assert_allclose(np.vstack([np.eye(4)[index], A]) @ inverse, np.eye(4),
                                   rtol=0, atol=1e-12)
        v = v.ravel()
        rate, gamma = values(frame, frame.acceleration(ca.DM([0.2, 0.9])), frame.gamma, q=q, v=v)
        np.testing.assert_allclose(A @ rate + gamma, 0, atol=1e-12)
        np.testing.assert_allclose(rate[index, 0], [0.2, 0.9], rtol=1e-13)
        h = 1e-5
        ends = [values(frame, d.A, d.b, q=q + sign * h * v, t=0.4 + sign * h) for sign in (1, -1)]
        slope = ((ends[0][0] - ends[1][0]) @ v + (ends[0][1] - ends[1][1]).ravel()) / (2 * h)
        np.testing.assert_allclose(gamma.ravel(), slope, rtol=1e-8, atol=1e-8)
        M, force = values(frame, s.mass_and_bias()[0], s.mass_and_bias()[1] - s.force, q=q, v=v)
        lam, = values(frame, frame.multipliers(ca.DM(rate)), q=q, v=v)
        balance = M @ rate + force - A.T @ lam      # acts on the speeds alone
        np.testing.assert_allclose(E.T @ (A.T @ lam), 0, atol=1e-11)
        np.testing.assert_allclose(inverse[:, 2:].T @ balance, 0, atol=1e-11)


def dependent(weights, components=None):
    """Two rows, and a third and a fourth that are sums of them."""
    given = rows()

    def both(s, i):
        return sum(w * row(s) for w, row in zip(weights[i], given.values()))

    made = system(rows={**given, "third": lambda s: both(s, 0), "fourth": lambda s: both(s, 1)})
    if components is None:
        return made
    d = replace(made.distribution, components=components, priority=(0, 0, 1, 1))
    return replace(made, distribution=d)


@pytest.mark.parametrize("held", [None, (0, 2, 3), (1, 2)])
def test_forces_of_dependent_rows_have_least_norm(held):
    """Among all forces f of the rows with A^T f as the kept ones exert; over the contacts alone,
    where there are any."""
    weights = np.array([[0.5, -0.2], [1.0, 0.7]])
    components = None if held is None else tuple(
        Component("wheel", f"{i}") if i in held else None for i in range(4))
    given = dependent(weights, components)
    frame = adapted_frame(given)
    kept, q = list(frame.kept), np.array([0.3, -0.4, 0.8, 0.1])
    A, spread, shares = values(frame, given.distribution.A, frame.spread(),
                               frame.shares([0, 1, 2, 3]), q=q)
    np.testing.assert_allclose(shares @ A[kept], A, rtol=0, atol=1e-12)
    np.testing.assert_allclose(A.T @ spread, A[kept].T, rtol=0, atol=1e-12)
    free = null_space(A.T)                 # what changes no force on the system
    counted = list(range(4)) if held is None else list(held)
    np.testing.assert_allclose(free[counted].T @ spread[counted], 0, atol=1e-12)
    alone = adapted_frame(system(rows=rows()))
    np.testing.assert_allclose(values(alone, alone.spread(), q=q)[0], np.eye(2), rtol=1e-12, atol=0)


@pytest.mark.parametrize("off, agree", [(0.9e-9, True), (1.1e-9, False)])
@pytest.mark.parametrize("speed", [0.2, -5.0])
def test_dependent_rows_agree_to_a_billionth(off, agree, speed):
    """Of the speeds that they ask for, or of one; the rows are named that a row contradicts."""
    size = max(1.0, abs(speed))
    made = system(rows={"one": lambda s: s.v.a - speed, "other": lambda s: s.v.b,
                        "again": lambda s: s.v.a - speed - off * size})
    if agree:
        assert adapted_frame(made).nxi == 2
    else:
        with pytest.raises(MechanicsError, match=r"'(one|again)' contradicts (one|again): .* "
                                                 r"differ by (1.1|5.5)e-09 at t = 0 s"):
            adapted_frame(made)


def test_the_row_that_is_farthest_off_is_named():
    """Beside one that agrees, and one that is off by less."""
    speeds = {"a": (1.0, 1.0), "b": (2.0, 3.0), "c": (-1.0, -0.5)}
    made = system(rows={f"{name}{k}": lambda s, name=name, value=value: getattr(s.v, name) - value
                        for name, both in speeds.items() for k, value in enumerate(both)})
    with pytest.raises(MechanicsError, match=r"'(b0' contradicts b1|b1' contradicts b0): .* "
                                             r"differ by 1 at t = 0 s"):
        adapted_frame(made)


def test_a_contradiction_at_one_sample_is_one():
    places = np.array([[0.0, 0, 0, 0], [1.0, 2, 3, 4]])
    made = system(rows={"one": lambda s: s.v.a, "again": lambda s: s.v.a - s.q.a ** 2})
    adapted_frame(replace(made, samples=places[:1]))
    with pytest.raises(MechanicsError, match=r"differ by 1 at t = 0 s, q = 1, 2, 3, 4"):
        adapted_frame(replace(made, samples=places))


def test_a_frame_warns_where_its_speeds_stop_to_serve():
    """b' cos a = c' sin a: b' tells c' but where sin a = 0, on both sides of which the margin has
    different signs."""
    made = system(rows={"blade": lambda s: s.v.b * ca.cos(s.q.a) - s.v.c * ca.sin(s.q.a),
                        "still": lambda s: s.v.d})
    frame = adapted_frame(made, ("a'", "b'"))
    margins = [values(frame, frame.margin, q=[angle, 0, 0, 0])[0].item()
               for angle in (0.1, 0.2, 0.0, -0.1, -0.2)]
    assert margins[2] == 0 and margins[0] * margins[3] < 0
    np.testing.assert_allclose(np.divide(margins[1], margins[0]), np.sin(0.2) / np.sin(0.1),
                               rtol=1e-12)
    sizes = np.abs(at_samples(made, frame.factors.pivots)[:, :, 0])
    np.testing.assert_allclose(frame.pivot_scale, np.median(sizes, axis=0), rtol=1e-12)


def test_a_pivot_that_most_samples_lack_is_measured_in_its_own_unit():
    """On the circle a a' + b b' = 0, b' serves at the first sample and not at the others."""
    made = replace(system(rows={"circle": lambda s: s.q.a * s.v.a + s.q.b * s.v.b,
                                "c": lambda s: s.v.c, "d": lambda s: s.v.d}),
                   samples=np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0]]))
    frame = adapted_frame(made)
    assert frame.names == ("b'",)
    assert abs(values(frame, frame.margin, q=[0.5, 0.3, 0, 0])[0].item()) == 0.5


def test_a_correction_makes_functions_of_place_vanish_and_nothing_else():
    made = system(rows={"row": rows()["row 0"]},
                  holonomic={"rod": lambda s: s.q.a ** 2 + s.q.c ** 2 - 1},
                  samples=np.array([[0.6, 0.1, 0.8, 0.3], [0.8, -0.3, 0.6, 0.2]]))
    frame, q = adapted_frame(made), np.array([0.61, 0.1, 0.8, 0.3])
    step, A = values(frame, frame.correction(), made.distribution.A, q=q)
    np.testing.assert_allclose(step[list(frame.speeds)], 0, atol=1e-15)
    np.testing.assert_allclose((A @ step).ravel(), [0, 1 - 0.61 ** 2 - 0.8 ** 2], rtol=1e-11,
                               atol=1e-15)


@pytest.mark.parametrize("far, regular", [(3e7, True), (3e9, False)])
def test_speeds_serve_while_rows_and_speeds_are_apart(far, regular):
    """a' = b' / far holds a' and b' apart, as long as far is below 1e8."""
    tied = system(rows={"tie": lambda s: far * s.v.a - s.v.b, "still": lambda s: s.v.c})
    if regular:
        with pytest.raises(InputError, match="follows from the others"):
            adapted_frame(tied, ("a'", "d'"))
    assert adapted_frame(tied).names == ("b'", "d'")


def test_values_at_samples_are_in_the_order_of_the_samples():
    made = system(samples=np.array([[1.0, 2, 3, 4], [5.0, 6, 7, 8]]))
    s = made.system
    found = at_samples(made, ca.blockcat([[s.q[0], s.q[1], s.t], [s.q[2], s.q[3], 1]]))
    assert found.shape == (10, 2, 3)
    assert found[:2].tolist() == [[[1, 2, 0], [3, 4, 1]], [[5, 6, 0], [7, 8, 1]]]
    later = replace(made, moment=0.5)
    assert at_samples(later, s.t)[0] == 0.5
    speeds = at_samples(made, s.v)
    assert speeds.shape == (10, 4, 1) and len({tuple(v.ravel()) for v in speeds}) == 10


def test_a_row_that_is_not_finite_is_named():
    made = system(rows={"good": lambda s: s.v.b, "bad": lambda s: s.v.a * ca.log(s.q.a)})
    with pytest.raises(MechanicsError, match="constraint 'bad' is not finite at a sample"):
        adapted_frame(replace(made, samples=np.array([[1.0, 0, 0, 0], [0.0, 0, 0, 0]])))
    assert gibbs_appell(replace(made, samples=np.full((1, 4), 2.0))).names == ("c'", "d'")


# -- forces that reactions make --------------------------------------------------------------------
FRICTION = 0.2 * np.random.default_rng(5).normal(size=(4, 2))


@pytest.mark.parametrize("former", [gibbs_appell, lagrange_multipliers])
@pytest.mark.parametrize("rubbing", [(0, 1), (1,)])
@pytest.mark.parametrize("loaded", [False, True])
def test_friction_in_proportion_to_reactions(former, rubbing, loaded):
    """M v' + h = tau + (A^T + F(f)) f and A v' = -gamma, as one system of equations; where F is a
    function of the loads f it is solved by another program."""
    given, f = system(rows=rows()), ca.SX.sym("f", 2)
    F = ca.SX(4, 2)
    for row in rubbing:
        F[:, row] = FRICTION[:, row] * (1 + (0.3 * ca.tanh(f[row]) if loaded else 0))
    made = replace(given, friction=F, loads=f if loaded else None)
    assert made.rubbing == rubbing
    speeds = ("b'", "d'")
    frame, equations = adapted_frame(given, speeds), former(made, speeds)
    s, at = given.system, ca.Function("F", [f], [F])
    for q, xi in zip(*(np.random.default_rng(6).normal(size=(3, n)) for n in (4, 2))):
        v = values(frame, frame.velocity(ca.DM(xi)), q=q)[0].ravel()
        M, rest, A, gamma = values(frame, s.mass_and_bias()[0], s.force - s.mass_and_bias()[1],
                                   given.distribution.A, frame.gamma, q=q, v=v)

        def balance(x):
            forces = (A.T + at(x[4:]).full()) @ x[4:]
            return np.r_[M @ x[:4] - rest.ravel() - forces, A @ x[:4] + gamma.ravel()]

        found = fsolve(balance, np.zeros(6), xtol=1e-13, full_output=True)[0]
        assert np.abs(balance(found)).max() <= 1e-11
        for part, expected in (("acceleration", found[:4]), ("multipliers", found[4:])):
            value = getattr(equations, part)(0.4, q, xi, [], []).full().ravel()
            np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e7])
def test_the_units_of_speeds_decide_nothing(unit):
    """Of rows in speeds of which each second one is counted in another unit."""
    units = np.array([1.0, unit, 1.0, unit])
    A = np.random.default_rng(4).normal(size=(2, 4))
    made = replace(constrain(lagrangian_system(euclidean(*NAMES), lambda s: sum(
        (v * size) ** 2 for v, size in zip(vars(s.v).values(), units)) / 2), rows={
            f"row {i}": lambda s, row=row: ca.dot(ca.DM(row * units), ca.vertcat(
                *vars(s.v).values())) for i, row in enumerate(A)}), scales=units)
    frame = adapted_frame(made, ("a'", "b'"))
    E, = values(frame, frame.E, q=np.zeros(4))
    expected = np.vstack([np.eye(2), -np.linalg.solve(A[:, 2:], A[:, :2])])
    np.testing.assert_allclose(E * units[:, None] / units[:2], expected, rtol=1e-12)


@pytest.mark.parametrize("slope", [1e3, 1e5])
def test_speeds_of_very_different_size_still_determine_each_other(slope):
    """a' = b' / slope."""
    made = constrain(lagrangian_system(euclidean("a", "b"), lambda s: s.v.a ** 2 + s.v.b ** 2),
                     rows={"row": lambda s: s.v.a - s.v.b / slope})
    frame = adapted_frame(made, ("a'",))
    E, = values(frame, frame.E, q=np.zeros(2), v=np.zeros(2))
    np.testing.assert_allclose(E, [[1], [slope]], rtol=1e-12)


def test_rows_may_all_but_vanish_each_at_another_sample():
    """a (c' - 2 a') = 0 and b (d' - 3 b') = 0: at the third sample both determine the motion."""
    made = replace(constrain(lagrangian_system(euclidean(*NAMES), lambda s: sum(
        v ** 2 for v in vars(s.v).values())), rows={
            "first": lambda s: s.q.a * (s.v.c - 2 * s.v.a),
            "second": lambda s: s.q.b * (s.v.d - 3 * s.v.b)}),
        samples=np.array([[1e-10, 1, 0, 0], [1, 1e-10, 0, 0], [1, 1, 0, 0]]))
    frame = adapted_frame(made, ("a'", "b'"))
    E, = values(frame, frame.E, q=[0.7, 0.4, 0, 0])
    np.testing.assert_allclose(E, [[1, 0], [0, 1], [2, 0], [0, 3]], rtol=1e-12)
