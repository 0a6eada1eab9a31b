"""Loads and their splits, made by hand or at random: what units, bases and the order of wheels must
not change, and where thresholds are."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from test_validity import random_load

from nhmech.analysis import cone_programme, friction
from nhmech.analysis.cone_programme import Cones, minimise
from nhmech.analysis.contact_load import NOTHING, ContactLoad
from nhmech.analysis.friction import (
    least_use,
    most_use,
    rough_use,
    shares,
    slack,
    widest_split,
)
from nhmech.mechanics.distribution import Component

LOADS = [(0, 2, 1), (1, 3, 2), (2, 4, 3), (5, 3, 4)]


def friction_of(load) -> dict[str, float]:
    return {wheel: 0.4 + 0.1 * i for i, (wheel, _) in enumerate(load.names[::3])}


def in_unit(load: ContactLoad, unit: float) -> ContactLoad:
    return replace(load, split=load.split * unit)


@pytest.mark.parametrize("unit", [1e6, 1e-6])
@pytest.mark.parametrize("case", LOADS)
def test_the_unit_of_force_does_not_matter(case, unit):
    load = random_load(*case)
    mu, scaled = friction_of(load), in_unit(load, unit)
    for find in (lambda one: slack(one, mu), lambda one: widest_split(one, mu)[1],
                 lambda one: one.corners, lambda one: one.least_normal, lambda one: one.size,
                 lambda one: [*one.intervals.values()]):
        np.testing.assert_allclose(find(scaled), np.multiply(unit, find(load)), rtol=1e-7,
                                   atol=1e-9 * scaled.size)
    for find in (lambda one: least_use(one, mu)[0], lambda one: least_use(one, mu, one.split)[0],
                 lambda one: most_use(one, mu), lambda one: rough_use(one, mu),
                 lambda one: [*shares(one, one.split).values()]):
        np.testing.assert_allclose(find(scaled), find(load), rtol=1e-9)


@pytest.mark.parametrize("case", LOADS)
def test_neither_the_basis_nor_the_order_of_wheels_matters(case):
    load = random_load(*case)
    mu, count = friction_of(load), load.kernel.shape[1]
    turned = replace(load, kernel=load.kernel @ np.linalg.qr(
        np.random.default_rng(0).normal(size=(count, count)))[0])
    order = np.arange(len(load.names)).reshape(-1, 3)[::-1].ravel()
    back = replace(load, names=tuple(load.names[i] for i in order), split=load.split[order],
                   kernel=load.kernel[order])
    for other in (turned, back):
        assert slack(other, mu) == pytest.approx(slack(load, mu), rel=1e-8)
        assert least_use(other, mu)[0] == pytest.approx(least_use(load, mu)[0], rel=1e-9)
        assert most_use(other, mu) == pytest.approx(most_use(load, mu), rel=1e-9)
        assert other.least_normal == pytest.approx(load.least_normal, rel=1e-9)
        assert other.intervals.keys() == load.intervals.keys()
        for name, bounds in load.intervals.items():
            assert other.intervals[name] == pytest.approx(bounds, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("case", LOADS)
def test_the_use_of_friction_is_between_its_least_and_most(case):
    """Of random normals among the admissible ones; and the rough numbers are not below."""
    load = random_load(*case)
    mu, rng = friction_of(load), np.random.default_rng(1)
    least, most = least_use(load, mu)[0], most_use(load, mu)
    for _ in range(5):
        weights = rng.dirichlet(np.ones(len(load.corners)))
        assert least * (1 - 1e-9) <= least_use(load, mu, weights @ load.corners)[0] <= most * (
            1 + 1e-9)
    one, other = rough_use(load, mu)
    assert least <= one * (1 + 1e-9) and most <= other * (1 + 1e-9) and one <= other


def load_of(names, split, kernel, supported=True, axes=None):
    """Of wheels that all have the same axes."""
    axes = axes or dict(zip(("normal", "longitudinal", "lateral"), np.eye(3)))
    wheels = list(dict.fromkeys(wheel for wheel, _ in names))
    vehicle = SimpleNamespace(contact_names=wheels,
                              contact_directions=lambda q, t: [axes] * len(wheels))
    kernel = np.array(kernel, dtype=float).reshape(-1, len(split)).T
    return ContactLoad(tuple(Component(*name) for name in names), vehicle, 0.0, np.zeros(0),
                       np.array(split, dtype=float),
                       kernel / np.linalg.norm(kernel, axis=0), supported)


THREE = [("a", "normal"), ("a", "longitudinal"), ("a", "lateral"), ("b", "normal"),
         ("b", "lateral"), ("ball", "normal")]


@pytest.mark.parametrize("split, needed", [
    ([10, 3, 4, 8, -2, 5], {"a": 0.5, "b": 0.25}), ([0, 3, 4, 8, 0, 0], {"a": np.inf, "b": 0.0}),
    ([-1, 0, 0, 8, 1, 5], {"a": 0.0, "b": 0.125}),
    ([10, 1.1e-8, 0, 8, 0.9e-8, 5], {"a": 1.1e-9, "b": 0.0})])
def test_the_friction_that_wheels_need(split, needed):
    """|tangential| / normal; a force below 1e-9 of the largest is rounding, at whatever load."""
    assert shares(load_of(THREE, split, []), np.array(split)) == pytest.approx(needed, rel=1e-14)


def test_a_determined_load():
    load = load_of(THREE, [10, 3, 4, 8, -2, 5], [])
    mu = {"a": 0.4, "b": 0.5, "ball": np.inf}
    assert load.least_normal == 5 and load.size == 10 and load.intervals == {} and load.sums == ()
    np.testing.assert_array_equal(load.corners, [load.split])
    assert slack(load, mu) == pytest.approx(-1, rel=1e-13, abs=0)          # 0.4 * 10 - 5
    assert slack(load, {**mu, "a": 0.9}) == pytest.approx(2, rel=1e-13, abs=0)
    assert slack(load, dict.fromkeys(mu, np.inf)) == pytest.approx(5, rel=1e-13, abs=0)
    assert least_use(load, mu)[0] == pytest.approx(1.25, rel=1e-13, abs=0) == most_use(load, mu)
    assert rough_use(load, mu) == pytest.approx((1.25, 1.25), rel=1e-13, abs=0)
    away = replace(load, supported=False)
    assert least_use(away, mu)[0] == most_use(away, mu) == np.inf and away.intervals == {}
    assert rough_use(away, mu) == (np.inf, np.inf)


@pytest.mark.parametrize("seed", range(6))
def test_what_wheels_press_along_the_ground_by_one_number(seed):
    """The least of the largest of some square roots of parabolas, against a search."""
    rng = np.random.default_rng(seed)
    names = [(wheel, way) for wheel in "abc" for way in ("normal", "longitudinal", "lateral")]
    split, kernel = rng.normal(size=9), rng.normal(size=9)
    split[::3], kernel[::3] = rng.uniform(2, 9, 3), 0
    split[1:3] *= seed > 0         # of a wheel that nothing pushes at first
    load, mu = load_of(names, split, [kernel]), dict(zip("abc", (0.3, 0.5, 0.8)))

    def use(z):
        f = split + z * kernel
        return max(np.hypot(f[3 * k + 1], f[3 * k + 2]) / (mu[wheel] * f[3 * k])
                   for k, wheel in enumerate("abc"))

    wanted = minimize_scalar(use, bracket=(-1, 1), tol=1e-14).fun
    found, best = least_use(load, mu)
    assert found == pytest.approx(wanted, rel=1e-9) == most_use(load, mu)
    z = kernel @ (best - split) / (kernel @ kernel)
    np.testing.assert_allclose(best, split + z * kernel, rtol=1e-9, atol=1e-12)
    assert use(z) == pytest.approx(found, rel=1e-12, abs=0)
    left, widest = widest_split(load, mu)
    assert left == pytest.approx(min(mu[wheel] * widest[3 * k] - np.hypot(
        widest[3 * k + 1], widest[3 * k + 2]) for k, wheel in enumerate("abc")), rel=1e-9)
    z = kernel @ (widest - split) / (kernel @ kernel)
    np.testing.assert_allclose(widest, split + z * kernel, rtol=0, atol=1e-9)
    assert rough_use(load, mu)[0] == pytest.approx(use(0), rel=1e-12, abs=0)


def test_wheels_of_different_friction_and_wheels_that_only_carry():
    names = [("a", "normal"), ("a", "lateral"), ("b", "normal"), ("b", "lateral")]
    load = load_of(names, [4, 1, 6, -3], [[1, 0, -1, 0], [0, 1, 0, -1]])
    mu = {"a": 0.5, "b": 0.25}
    assert least_use(load, mu)[0] == pytest.approx(2 / (0.5 * 10), rel=1e-9)      # all on a
    assert most_use(load, mu) == pytest.approx(2 / (0.25 * 10), rel=1e-9)         # all on b
    assert least_use(load_of(names, [0, 1, 10, -3], [[1, 0, -1, 0]]), dict(a=0.5, b=0.5))[
        0] == pytest.approx(4 / (0.5 * 10), rel=1e-9)
    assert least_use(load_of(names, [4, 1, 6, 0], []), mu)[0] == pytest.approx(0.5, rel=1e-13,
                                                                               abs=0)
    assert least_use(load_of(names, [4, 0, 6, 0], [[1, 0, -1, 0]]), mu)[0] == 0.0
    assert most_use(load_of(names, [4, 0, 6, -3], [[1, 0, -1, 0]]), mu) == np.inf
    ball = load_of(THREE, [10, 3, 4, 8, -2, 5], [])
    assert slack(ball, {"a": np.inf, "b": np.inf, "ball": 0.5}) == pytest.approx(5, rel=1e-13,
                                                                                 abs=0)


def test_a_load_on_two_wheels_and_what_they_press():
    """Normals 4 + z and 6 - z, laterals 1 + y and -3 - y... by hand: the least use is that of
    sharing -2 in the ratio of the loads."""
    names = [("a", "normal"), ("a", "lateral"), ("b", "normal"), ("b", "lateral")]
    load = load_of(names, [4, 1, 6, -3], [[1, 0, -1, 0], [0, 1, 0, -1]])
    mu = {"a": 0.5, "b": 0.5}
    assert load.least_normal == pytest.approx(5, rel=1e-13, abs=0)
    assert {tuple(np.round(corner[[0, 2]], 9)) for corner in load.corners} == {(0, 10), (10, 0)}
    assert load.intervals == {("a", "normal"): pytest.approx((0, 10), abs=1e-9),
                              ("a", "lateral"): (-np.inf, np.inf),
                              ("b", "normal"): pytest.approx((0, 10), abs=1e-9),
                              ("b", "lateral"): (-np.inf, np.inf)}
    assert load.sums == (("a/normal + b/normal", pytest.approx(10, rel=1e-14)),
                         ("a/lateral + b/lateral", pytest.approx(-2, rel=1e-13, abs=0)))
    assert least_use(load, mu)[0] == pytest.approx(2 / (0.5 * 10), rel=1e-9)
    assert most_use(load, mu) == pytest.approx(2 / (0.5 * 10), rel=1e-9)
    assert slack(load, mu) == pytest.approx((0.5 * 10 - 2) / 2, rel=1e-9)
    one_sided = least_use(load, mu, np.array([10.0, 0, 0, -2]))
    assert one_sided[0] == pytest.approx(2 / (0.5 * 10), rel=1e-9)
    np.testing.assert_allclose(one_sided[1], [10, -2, 0, 0], rtol=0, atol=1e-8)


def test_a_wheel_without_load_that_must_hold_makes_every_use_infinite():
    names = [("a", "normal"), ("a", "lateral"), ("b", "normal"), ("b", "lateral")]
    held = load_of(names, [4, 1, 6, -3], [[1, 0, -1, 0]])
    mu = {"a": 0.5, "b": 0.5}
    assert most_use(held, mu) == np.inf and least_use(held, mu, np.array([0, 1, 10, -3.0]))[
        0] == np.inf
    assert least_use(held, mu)[0] == pytest.approx(4 / (0.5 * 10), rel=1e-9)     # 1 : 3
    # 1e-6 of the largest force is rounding where a wheel bears nothing
    for force, use in ((5.98e-6, 0.0), (6.02e-6, np.inf)):
        faint = load_of(names, [0, force, 6, 0], [])
        assert least_use(faint, mu)[0] == use
    both = [("a", "normal"), ("a", "longitudinal"), ("a", "lateral"), ("b", "normal")]
    for split in ([0, 2, 0, 6], [0, 0, 2, 6]):
        assert least_use(load_of(both, split, []), mu)[0] == np.inf


def test_sums_of_pairs_and_of_all_of_one_direction():
    lateral = [(wheel, "lateral") for wheel in "abcd"]
    pairs = load_of(lateral, [1, 2, 3, 5], [[1, -1, 0, 0], [0, 0, 1, -1]])
    assert pairs.sums == (("a/lateral + b/lateral", 3.0),
                          ("a/lateral + b/lateral + c/lateral + d/lateral", 11.0),
                          ("c/lateral + d/lateral", 8.0))
    all_of_them = load_of(lateral, [1, 2, 3, 5], [[1, -1, 0, 0], [1, 1, -2, 0], [1, 1, 1, -3]])
    assert [text for text, _ in all_of_them.sums] == [pairs.sums[1][0]]
    assert load_of(lateral, [1, 2, 3, 5], [[1, 1, 0, 0]]).sums == ()
    # the direction of one is 0.0002 rad off the other
    names = [("a", "lateral"), ("b", "lateral")]
    for angle, count in ((2e-4, 0), (1e-5, 1)):
        near = load_of(names, [1, 2], [[1, -1]])
        near.__dict__["axes"] = np.array([[1, 0, 0], [np.cos(angle), np.sin(angle), 0]])
        assert len(near.sums) == count


@pytest.mark.parametrize("normal, count", [(-0.5 * NOTHING, 2), (-2 * NOTHING, 1)])
def test_a_normal_below_zero_by_rounding_is_admissible(normal, count):
    """Three normals, of which the first does not change."""
    load = load_of([(wheel, "normal") for wheel in "abc"], [normal * 5, 5, 5], [[0, 1, -1]])
    assert len(load.corners) == count and load.supported


def test_the_least_normal_is_not_that_of_a_wheel_which_bears_a_little_more():
    """Two normals that balance each other, and a third one that is smaller by 2e-8 of them."""
    load = load_of([(wheel, "normal") for wheel in "abc"], [7, 3, 5 - 1e-7], [[1, -1, 0]])
    assert load.least_normal == pytest.approx(5 - 1e-7, rel=1e-12)


def test_normals_that_cannot_all_be_positive_have_no_corners():
    load = load_of([(wheel, "normal") for wheel in "ab"], [-6, 2], [[1, -1]], supported=False)
    assert load.corners.shape == (0, 2) and load.least_normal == pytest.approx(-2, rel=1e-14, abs=0)
    assert load.intervals == {} and load.sums == (("a/normal + b/normal", -4.0),)


def test_determined_normals_take_one_programme(monkeypatch):
    """None where forces along the ground are determined too, or have one freedom."""
    names = [(wheel, way) for wheel in "abc" for way in ("normal", "longitudinal", "lateral")]
    rng, solved, programme = np.random.default_rng(2), [], friction.minimise
    monkeypatch.setattr(friction, "minimise",
                        lambda *given, **more: solved.append(1) or programme(*given, **more))
    split = rng.uniform(1, 2, 9)
    for free, count in ((0, 0), (1, 0), (2, 1), (4, 1)):
        kernel = rng.normal(size=(free, 9))
        kernel[:, ::3] = 0
        load = replace(load_of(names, split, []), kernel=np.linalg.qr(kernel.T)[0])
        solved.clear()
        least_use(load, dict.fromkeys("abc", 0.5))
        assert len(solved) == count


# -- cone programmes -------------------------------------------------------------------------------
def discs(count: int, size: int, seed: int) -> tuple[np.ndarray, Cones]:
    """|P_i y + p_i| <= 2 + r_i y: bounded, with 0 inside."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=size), Cones(rng.normal(size=(count, 2, size)),
                                        0.3 * rng.normal(size=(count, 2)),
                                        0.2 * rng.normal(size=(count, size)), np.full(count, 2.0))


@pytest.mark.parametrize("count, size, seed, most", [(4, 2, 0, 42), (6, 3, 1, 43), (9, 4, 2, 53)])
def test_an_optimum_is_stationary_and_found_in_few_steps(count, size, seed, most, monkeypatch):
    """c = sum of multipliers times the slopes of the cones that are met, all of one sign; Newton's
    method takes a few steps for each of the weights."""
    c, cones = discs(count, size, seed)
    steps, solve = [], cone_programme._solve
    monkeypatch.setattr(cone_programme, "_solve", lambda *given: steps.append(1) or solve(*given))
    with np.errstate(all="raise"):         # outside of a cone no logarithm is taken
        y = minimise(c, cones, np.zeros(size))
    left, right = cones.parts(y)
    room = right - np.hypot(*left.T)
    assert room.min() > 0
    met = room < 1e-6
    slopes = (np.einsum("ni,nij->nj", left, cones.P) / right[:, None] - cones.r)[met]
    multipliers = np.linalg.lstsq(slopes.T, -c, rcond=None)[0]
    assert np.abs(slopes.T @ multipliers + c).max() < 1e-4 and multipliers.min() > 0
    assert len(steps) <= most
    # from beside the edge of a cone
    edge = brentq(lambda k: min(r - np.hypot(*part) for part, r in zip(*cones.parts(-k * c))), 0, 9)
    assert c @ minimise(c, cones, 0.9999 * edge * -c) == pytest.approx(c @ y, abs=1e-9)
    assert c @ minimise(c, cones, 0.99 * edge * -c) == pytest.approx(c @ y, abs=1e-9)
    # an end within a gap, and one that knows the sign alone
    rough = c @ minimise(c, cones, np.zeros(size), 0.1)
    assert 0 < rough - c @ y <= 0.1
    steps.clear()
    sign = c @ minimise(c, cones, np.zeros(size), part=np.inf)
    assert sign < 0 and len(steps) <= 2
    for unit in (1.0, 0.03, 30.0):
        part = c @ minimise(c * unit, cones, np.zeros(size), part=0.05)
        assert 0 <= part - c @ y <= 0.05 * abs(part)


def test_a_singular_matrix_has_its_shortest_solution():
    found = cone_programme._solve(np.diag([2.0, 0.0, 4.0]), np.array([6.0, 0.0, 2.0]))
    np.testing.assert_allclose(found, [3.0, 0.0, 0.5], rtol=1e-14)


@pytest.mark.parametrize("P, p, z", [
    ((1, 1 + 1e-12), (0, -3), 3 / (2 + 1e-12)), ((1, -1 - 1e-12), (0, 3), 3 / (2 + 1e-12)),
    ((1, 1 + 1e-9), (-0.7, 1.9), -1.2 / (2 + 1e-9)), ((1, 2), (-4, -2), 2.0),
    ((1, 2), (4, 2), -2.0), ((1, 2), (0, -3), 1.0), ((1, 0), (2, 3), -2.0),
    ((2, 0), (3, 7), -1.5)])
def test_two_points_on_a_line_are_farthest_alike_or_one_is_nearest(P, p, z):
    """|P z + p| by hand, without cancellation where they move almost alike."""
    P, p = (np.column_stack([part, [0.0, 0.0]]) for part in (P, p))
    found, = friction._least_on_a_line(P, p)
    assert found == pytest.approx(z, rel=1e-14, abs=0)


def test_products_and_sides_of_cones():
    cones = Cones(np.array([[[1.0, 0], [0, 1]]] * 2), np.array([[1.0, 2], [0, 0]]),
                  np.array([[1.0, 1], [0, 0]]), np.array([3.0, 1]))
    left, right = cones.parts(np.array([2.0, 2]))
    assert left.tolist() == [[3, 4], [2, 2]] and right.tolist() == [7, 1]
    inside, outside = cone_programme._product(left, right)
    assert inside == pytest.approx(7 ** 2 - 5 ** 2, rel=1e-14) and outside <= 0
