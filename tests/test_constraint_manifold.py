"""Manifolds that functions cut out of a space, by points on them: when a function vanishes, when a
manifold is empty, and ranks and kernels at its points."""

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import InputError, MechanicsError
from nhmech.mechanics import circle, constrain, euclidean, lagrangian_system, line, product
from nhmech.mechanics.constraint_manifold import (
    Ambient,
    ConstraintManifold,
    common_rank,
    make_manifold,
    null_space,
    product_size,
    write_out,
)

T, Z, U, THETA = (ca.SX.sym(name, n) for name, n in (("t", 1), ("z", 2), ("u", 1), ("theta", 1)))
X, Y = Z[0], Z[1]


def plane(start=lambda rng: (0.0, rng.normal(size=2)), count=6) -> ConstraintManifold:
    """All (x, y); theta = 3."""
    return ConstraintManifold(Ambient(T, Z, U, THETA, ca.SX(0, 1), np.array([3.0]), start), count)


def test_values_at_the_points_are_those_of_functions_without_inputs():
    manifold = plane(lambda rng: (0.5, rng.normal(size=2)))
    found = manifold.at_points(ca.horzcat(X * Y + U + T, THETA))
    assert found.shape == (6, 1, 2) and manifold.states.shape == (6, 2)
    np.testing.assert_allclose(found[:, 0, 0], manifold.states.prod(axis=1) + 0.5, rtol=1e-15)
    assert (found[:, 0, 1] == 3).all() and (manifold.times == 0.5).all()


@pytest.mark.parametrize("rest, scale, vanishes", [
    (0.5e-9, 0.0, True), (3e-9, 0.0, False), (1e-6, 0.0, False), (0.99e-7, 100.0, True),
    (1.01e-7, 100.0, False)])
def test_a_function_vanishes_relative_to_its_terms(rest, scale, vanishes):
    """cos x - cos y and a rest, at x = y; or relative to what it was derived from."""
    manifold = plane()
    manifold.impose(X - Y)
    for unit in (1e-9, 1.0, 1e9):
        chi = unit * ca.cos(X) - unit * ca.cos(Y) + unit * rest
        assert manifold.vanishes(chi, unit * scale) is vanishes


def test_signs_in_a_sum_are_no_matter():
    """-(x + 2) + (x - (y - y)) + 2 has terms of the size of two."""
    manifold = plane(lambda rng: (0.0, np.array([1.0, 1.0]) + 1e-12 * rng.normal(size=2)))
    assert manifold.vanishes(-(ca.exp(X) - ca.exp(Y)) + 1e-10)
    assert not manifold.vanishes(-(ca.exp(X) - ca.exp(Y)) + 1e-7)


@pytest.mark.parametrize("inside", [-1 - X ** 2, X])
def test_what_is_not_finite_is_named(inside):
    """At all points, or at some."""
    with pytest.raises(MechanicsError, match=r"constraint log\(.*\) is not finite on the manifold"):
        plane().vanishes(ca.log(inside))


def test_what_vanishes_at_one_point_is_not_zero():
    manifold = plane()
    assert not any(manifold.vanishes(X - x) for x in manifold.states[:, 0])


def solvable(*turns, count=6):
    """A plane whose n-th start is at the time 1 if n is one of `turns`, else at -1."""
    n = iter(range(1000))

    def start(rng):
        return (1.0 if next(n) in turns else -1.0), rng.uniform(0.5, 2, 2)

    return plane(start, count)


@pytest.mark.parametrize("turns, count, words", [
    ((0, 5, 29), 6, ""), ((0, 29), 6, "from 2 of 30 states"), ((30, 31, 32), 6, "from 0 of 30"),
    ((0, 1), 2, ""), ((3, 9), 2, ""), ((1, 10), 2, "from 1 of 10 states"), ((0, 3), 4, ""),
    ((0, 10, 20, 21), 8, ""), ((0, 10, 20), 8, "from 3 of 40")])
def test_half_of_the_points_have_to_be_found_again(turns, count, words):
    """And two at least, of themselves and of four times as many new starts: x^2 = t has a solution
    at t = 1 alone."""
    manifold = solvable(*turns, count=count)
    if words:
        with pytest.raises(MechanicsError, match=f"the manifold is empty, .*{words}"):
            manifold.impose(X ** 2 - T)
    else:
        assert len(manifold.impose(X ** 2 - T)) == 1
        assert len(manifold.states) == len(manifold.times) == len(turns)
        np.testing.assert_allclose(manifold.states[:, 0], 1, rtol=1e-12)
        assert (manifold.times == 1).all() and manifold.dimension == 1


def test_no_more_points_than_before():
    manifold = solvable(*range(1000))
    assert len(manifold.impose(X ** 2 - T)) == 1 and len(manifold.states) == 6


def test_constants_other_than_zero_have_no_solution():
    with pytest.raises(MechanicsError, match="they ask for .* = 0, whose value is 6$"):
        plane().impose(2 * THETA)
    assert plane().impose(ca.SX(0)) == []


def test_the_derivatives_replace_a_multiple_zero():
    """x^2 by 2 x; (x - y)^2 by one derivative, with which the other vanishes; (x - y)^3 by the
    derivative of the derivative."""
    for chi, count in ((X ** 2, 1), ((X - Y) ** 2, 1), ((X - Y) ** 3, 1), (X ** 2 + Y ** 2, 2)):
        manifold = plane()
        assert len(manifold.impose(chi)) == count == 2 - manifold.dimension
        assert np.abs(manifold.at_points(chi)).max() <= 1e-9
    with pytest.raises(MechanicsError, match="is not regular"):
        plane().impose(X * ca.fabs(X) * Y * ca.fabs(Y) + (X - Y) ** 4)


def test_a_zero_that_is_simple_at_some_points_alone_is_refused():
    """x y = 0 has a corner, and 0.75^4 is a maximum of (x (x - 1.5))^2 that is no zero."""
    n = iter(range(1000))
    corner = plane(lambda rng: (0.0, rng.normal(size=2) * (next(n) > 0)))
    with pytest.raises(MechanicsError, match="is not regular"):
        corner.impose(X * Y)
    hill = plane(lambda rng: (0.0, rng.uniform(0.74, 0.76, 2)))
    with pytest.raises(MechanicsError, match="is not regular"):
        hill.impose((X * (X - 1.5)) ** 2)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_small_slope_is_one(unit):
    """Of a circle of a ten-thousandth, whose unit is arbitrary."""
    manifold = plane(lambda rng: (0.0, 1e-4 * rng.normal(size=2)))
    assert len(manifold.impose(unit * (X ** 2 + Y ** 2 - 1e-8))) == 1
    np.testing.assert_allclose(np.hypot(*manifold.states.T), 1e-4, rtol=1e-9)


def test_points_are_the_nearest_ones():
    manifold = plane()
    manifold.impose(X + 2 * Y - 5)
    np.testing.assert_allclose(manifold.project(0.0, np.zeros(2)), [1, 2], rtol=1e-14)
    assert solvable(*range(99)).project(0.0, np.array([1.0, 2.0])) == pytest.approx([1, 2],
                                                                                    rel=1e-12)
    circle = plane()
    circle.impose(X ** 2 + Y ** 2 - 4 - T)
    assert circle.project(-5.0, np.ones(2)) is None


@pytest.mark.parametrize("nodes", [199, 200, 201])
def test_what_would_fill_a_page_is_written_by_its_length(nodes):
    chi = X
    while ca.n_nodes(chi) < nodes:
        chi = ca.sin(chi)
    assert ca.n_nodes(chi) == nodes
    assert (write_out(chi) == f"[an expression of {nodes} operations]") is (nodes > 200)
    assert nodes > 200 or write_out(chi).startswith("sin(sin(")


# -- ranks and kernels -----------------------------------------------------------------------------
@pytest.mark.parametrize("small, scale, rank", [
    (1.1e-9, None, 2), (0.9e-9, None, 2), (1.1e-9, 1.0, 2), (0.9e-9, 1.0, 1), (0.9e-9, 0.5, 2),
    (0.0, None, 1), (1e-16, None, 1)])
def test_ranks_are_those_of_rows_in_their_units_or_in_a_given_one(small, scale, rank):
    matrices = np.array([[[1.0, 0], [0, small]]] * 2)
    assert common_rank(matrices, "what", scale) == rank
    with pytest.raises(MechanicsError, match="what has ranks 1, 2 at different points"):
        common_rank(np.array([np.eye(2), np.ones((2, 2))]), "what", scale)


def test_the_rank_of_nothing_is_zero():
    assert common_rank(np.zeros((3, 0, 4)), "what") == common_rank(np.zeros((3, 2, 2)), "what") == 0
    assert common_rank(np.zeros((3, 2, 2)), "what", 0.0) == 0
    assert common_rank(np.array([np.eye(2)]), "what", 0.0) == 2


@pytest.mark.parametrize("small, scale, kernel", [
    (1.1e-9, None, 1), (0.9e-9, None, 2), (2.1e-9, 2.0, 1), (1.9e-9, 2.0, 2), (1e-6, 1e4, 2)])
def test_kernels_count_what_is_small(small, scale, kernel):
    matrix = np.array([[1.0, 0, 0], [0, small, 0]]) @ np.linalg.qr(np.arange(9).reshape(3, 3))[0]
    found = null_space(matrix, scale)
    assert found.shape == (3, kernel)
    np.testing.assert_allclose(found.T @ found, np.eye(kernel), atol=1e-14)
    assert np.abs(matrix @ found).max() <= small * 1.01 or kernel == 1
    assert np.abs(matrix @ found).max() <= 1.01e-9 * max(1.0, scale or 1.0)
    assert np.array_equal(null_space(np.zeros((0, 3))), np.eye(3))


def test_the_size_of_a_product_is_that_of_its_terms():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(5, 2, 3)), rng.normal(size=(5, 3, 4))
    expected = max(sum(abs(a[i, k] * b[k, j]) for k in range(3))
                   for a, b in zip(left, right) for i in range(2) for j in range(4))
    assert product_size(left, right) == pytest.approx(expected, rel=1e-13, abs=0)
    assert product_size(np.zeros((2, 0, 3)), np.zeros((2, 3, 4))) == 0


# -- in velocity phase space -----------------------------------------------------------------------
def test_states_near_a_given_one_and_at_random():
    particle = constrain(lagrangian_system(euclidean("x", "y"), lambda s: s.v.x ** 2 + s.v.y ** 2),
                         holonomic={"circle": lambda s: s.q.x ** 2 + s.q.y ** 2 - 25})
    s = particle.system
    place, speed = np.array([3.0, 4.0]), np.array([40.0, -30.0])
    near = make_manifold(particle, ca.SX(0, 1), (place, speed))
    assert near.dimension == 2
    assert np.abs(near.states - np.r_[place, speed]).max() <= 0.4
    assert np.ptp(near.states, axis=0).min() > 1e-3 and near.times.min() >= 0
    anywhere = make_manifold(particle, s.v[0] - 1)
    assert anywhere.dimension == 1 and np.ptp(anywhere.states[:, 0]) > 1
    for states in (near.states, anywhere.states):
        np.testing.assert_allclose(np.hypot(*states.T[:2]), 5, rtol=1e-12)
    with pytest.raises(InputError, match="near q"):
        make_manifold(particle, ca.SX(0, 1), ([1.0], speed))
    with pytest.raises(InputError, match="near v"):
        make_manifold(particle, ca.SX(0, 1), (place, [1.0]))
    with pytest.raises(InputError, match=r"nonlinear has shape \(1, 2\), but must be a column"):
        make_manifold(particle, s.v.T)
    with pytest.raises(InputError, match="nonlinear contains foreign, which are not symbols"):
        make_manifold(particle, s.v[0] - ca.SX.sym("foreign"))


def test_rows_and_angles_of_a_system_count():
    """An affine row holds at the points, and the pair (cos, sin) of an angle has one dimension."""
    space = product(circle("angle"), line("r"))
    belt = constrain(lagrangian_system(space, lambda s: s.v.angle ** 2 + s.v.r ** 2),
                     rows={"belt": lambda s: s.v.r - 2 * s.v.angle - 3.0})
    made = make_manifold(belt, ca.SX(0, 1))
    assert made.dimension == 3
    np.testing.assert_allclose(made.states[:, 4] - 2 * made.states[:, 3], 3, rtol=1e-12)
    np.testing.assert_allclose(np.hypot(*made.states.T[:2]), 1, rtol=1e-12)
