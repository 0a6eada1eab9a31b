"""Which rows are kept and which speeds are independent."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import joint, link, robot, shipped

import nhmech
from nhmech import InputError, MechanicsError, NhmechError, Simulator
from nhmech.mechanics.distribution import Span
from nhmech.mechanics.selection import (
    independent_rows,
    independent_speeds,
    kernels,
    rank_in_any_units,
)

SEED = 7


def family(k: int, rank: int, m: int, n: int, rng) -> np.ndarray:
    """k matrices (m, n) of one rank whose dependencies change from sample to sample."""
    return rng.normal(size=(k, m, rank)) @ rng.normal(size=(k, rank, n))


def names(m: int) -> list[str]:
    return [f"row {i}" for i in range(m)]


@pytest.mark.parametrize("rank, m, n", [(1, 1, 3), (3, 5, 6), (4, 4, 9), (5, 9, 8)])
def test_kept_rows_span_all_rows(rank, m, n):
    rng = np.random.default_rng(SEED)
    for _ in range(5):
        A = family(6, rank, m, n, rng)
        kept = list(independent_rows(A, np.ones(n), [0] * m, names(m)))
        assert len(kept) == rank
        for sample in A:
            assert (
                np.linalg.matrix_rank(sample[kept], tol=1e-9)
                == rank
                == np.linalg.matrix_rank(sample, tol=1e-9)
            )


def test_priority_decides_between_rows_that_serve_alike():
    A = np.tile(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0], [1, -1, 0]]), (3, 1, 1))
    assert set(independent_rows(A, np.ones(3), [1, 1, 0, 0], names(4))) == {2, 3}
    assert set(independent_rows(A, np.ones(3), [0, 0, 1, 1], names(4))) == {0, 1}


def test_a_row_that_vanishes_somewhere_is_not_kept():
    """The worst sample decides: row 0 is the larger one at two samples and zero at the third."""
    A = np.array([[[s, 0.0], [0.5, 0.0]] for s in (2.0, 2.0, 0.0)])
    assert independent_rows(A, np.ones(2), [0, 0], names(2)) == (1,)


def test_rows_that_never_change_come_first():
    """Rows 0 and 1 span row 2 at all samples, and where it is in between them as well."""
    A = np.array([[[1.0, 0], [1, 0.5], [0, size]] for size in (1.0, 0.9, 0.95)])
    assert set(independent_rows(A, np.ones(2), [0, 0, 0], names(3))) == {0, 1}
    assert 2 in independent_rows(A, np.ones(2), [0, 1, 0], names(3))        # priority decides first


def test_one_chart_serves_a_train_at_all_angles_of_its_hitches():
    """The tractor's wheels hold it to the ground, and no trailer's, which at some angle do not."""
    atlas = Simulator(shipped("trailers")).atlas
    atlas.cover_range()
    assert len(atlas.charts) == 1


def test_rank_comes_from_the_best_sample():
    """Two rows that coincide at one sample are two rows all the same."""
    A = np.array([[[1.0, 0], [1, 0]], [[1.0, 0], [0, 1]]])
    assert set(independent_rows(A, np.ones(2), [0, 0], names(2))) == {0, 1}


def test_rows_that_coincide_at_first_are_chosen_where_they_do_not():
    """At the first sample nothing is left but rounding, of a row that others always span."""
    turned = [(1.0, 0.0), (0.8, 0.6), (0.6, 0.8)]
    A = np.array([[[1.0, 0, 0.3], [*at, 0.3], [0, 0, 1], [0.7, 0, 0.1]] for at in turned])
    kept = independent_rows(A, np.ones(3), [0] * 4, names(4))
    assert [np.linalg.matrix_rank(sample[list(kept)]) for sample in A] == [2, 3, 3]


def test_two_steered_wheels_side_by_side_bear_a_base_with_two_balls():
    """Of four normals one follows from the others; straight ahead the axles are one line."""
    parts = [link("base", 20, (0.5, 0.5, 0.8))]
    for side, y in (("left", 0.2), ("right", -0.2)):
        parts += [link(f"{side}_fork"), link(f"{side}_wheel"),
                  joint(f"{side}_steering", "base", f"{side}_fork", (0, y, 0.1), axis=(0, 0, 1)),
                  joint(f"{side}_wheel_joint", f"{side}_fork", f"{side}_wheel")]
    for end, x in (("front", 0.25), ("rear", -0.25)):
        parts += [link(end, 0.2), joint(f"{end}_joint", "base", end, (x, 0, 0.05), kind="fixed")]
    wheels = [nhmech.Wheel(f"{side}_wheel_joint", "disc", 0.1) for side in ("left", "right")]
    balls = [nhmech.Wheel(None, "caster_ball", 0.05, link=end) for end in ("front", "rear")]
    vehicle = nhmech.load(robot(*parts), wheels=[*wheels, *balls])
    for mode in ("kinematic", "dynamic"):
        simulator = Simulator(vehicle, mode=mode)
        with pytest.raises(NhmechError, match="axles of left_wheel_joint, right_wheel_joint are "):
            simulator.reset()
        simulator.reset(joints={"left_steering": 0.3, "right_steering": 0.2})
        assert simulator.run(0.1).stop == "duration"


@pytest.mark.parametrize("least, first", [(0.0502, 0), (0.0498, 1)])
def test_priority_counts_above_a_twentieth(least, first):
    """Of the row's own largest size, in its worst sample; below, the largest row is taken."""
    A = np.array([[[1.0, 0], [1, 0]], [[least, 0], [1, 0]]])
    assert independent_rows(A, np.ones(2), [0, 1], names(2)) == (first,)
    slope = np.tile([[[1.0, -least / np.sqrt(1 - least ** 2)]]], (2, 1, 1))
    assert independent_speeds(slope, np.ones(2), ["e0", "e1"], [["e0"]]) == (first,)


@pytest.mark.parametrize("share, first", [(0.703, 0), (0.697, 1)])
def test_of_speeds_that_serve_nearly_alike_the_first_is_chosen(share, first):
    """Seven tenths of the best will do."""
    A = np.tile([[[1.0, -share]]], (2, 1, 1))
    assert independent_speeds(A, np.ones(2), ["e0", "e1"], []) == (first,)


@pytest.mark.parametrize("size", [9.95e-4, 1e-4, 1e-5, 1e-7, 1.1e-9])
@pytest.mark.parametrize("samples", [1, 4])
def test_nearly_dependent_rows_are_an_error(size, samples):
    """Between 1e-9 and 1e-3, at one sample or at all of them: neither the same axle nor two axles,
    but a model with a typing error."""
    A = np.tile(np.array([[0.0, 0, 1], [1, 0, 0], [1, 0, 0]]), (4, 1, 1))
    A[:samples, 2, 1] = size
    with pytest.raises(MechanicsError,
                       match=r"nearly dependent rows: 'row [12]'.*should be parallel"):
        independent_rows(A, np.ones(3), [0, 0, 0], names(3))


@pytest.mark.parametrize("radius, kept", [(0.01, 2), (1.0, None)])
def test_rows_are_compared_in_the_common_unit(radius, kept):
    """Rows that differ by 0.01 (m/s)/(rad/s) of a small wheel's rate are two, and nearly one where
    1 rad/s would count 100 m/s."""
    A = np.tile(np.array([[1.0, 0.0], [1.0, 0.01 * radius]]), (2, 1, 1))
    scales = np.array([1.0, 0.01 * radius if kept else 100.0])
    if kept:
        assert len(independent_rows(A, scales, [0, 0], names(2))) == kept
    else:
        with pytest.raises(MechanicsError, match="nearly dependent"):
            independent_rows(A, scales, [0, 0], names(2))


@pytest.mark.parametrize("size, rank", [(0.9e-9, 1), (0.0, 1), (1.005e-3, 2), (0.1, 2)])
def test_clear_cases_are_not(size, rank):
    A = np.tile(np.array([[1.0, 0, 0], [1, size, 0]]), (4, 1, 1))
    assert len(independent_rows(A, np.ones(3), [0, 0], names(2))) == rank


def test_a_zero_row_binds_nothing():
    with pytest.raises(MechanicsError, match="'row 1' is zero"):
        independent_rows(np.array([[[1.0, 0], [0, 0]]]), np.ones(2), [0, 0], names(2))


def test_scales_compare_metres_with_radians():
    """In metres a small wheel's rate counts its radius: a row of 0.01 (m/s)/(rad/s)
    is as large as one of 1 (m/s)/(m/s)."""
    A = np.tile(np.array([[1.0, -0.01]]), (2, 1, 1))
    kernel = kernels(A, np.array([1.0, 0.01]))
    assert np.abs(kernel[0].ravel()) == pytest.approx(np.full(2, np.sqrt(0.5)), abs=1e-15)


@pytest.mark.parametrize("m, n", [(0, 3), (2, 5), (5, 8)])
def test_kernel(m, n):
    rng = np.random.default_rng(SEED)
    A, scales = rng.normal(size=(4, m, n)), rng.uniform(0.1, 3, n)
    kernel = kernels(A, scales)
    assert kernel.shape == (4, n, n - m)
    for sample, basis in zip(A, kernel):
        assert np.abs(sample / scales @ basis).max(initial=0.0) <= 1e-12
        assert basis.T @ basis == pytest.approx(np.eye(n - m), abs=1e-13)


@pytest.mark.parametrize("m, n", [(0, 2), (3, 6), (6, 9)])
def test_speeds_determine_the_motion(m, n):
    rng = np.random.default_rng(SEED)
    for _ in range(5):
        A = rng.normal(size=(5, m, n))
        speeds = list(independent_speeds(A, np.ones(n), [f"v{i}" for i in range(n)],
                                         [["v1", "v0"]]))
        assert len(speeds) == len(set(speeds)) == n - m
        for sample in A:
            assert np.linalg.cond(np.vstack([np.eye(n)[speeds], sample])) < 1e4


# forward = mean of two wheels, yaw their difference
FORWARD = np.tile(np.array([[1.0, -0.5, -0.5, 0], [0, 1.0, -1.0, -2.0]]), (3, 1, 1))
V = ("forward", "left", "right", "yaw")


def test_where_no_speed_serves_every_sample_each_is_chosen_once():
    """e2 is free at both samples, e0 at the first alone and e1 at the second."""
    A = np.array([[[0.0, 1, 0]], [[1.0, 0, 0]]])
    assert independent_speeds(A, np.ones(3), ["e0", "e1", "e2"], []) == (2, 0)
    first = [[[0.8, -0.6, 0]]]      # e1 is the freer one at the first sample
    assert independent_speeds(np.concatenate([first, A]), np.ones(3), ["e0", "e1", "e2"],
                              []) == (2, 1)


def test_preferred_groups_come_first():
    assert independent_speeds(FORWARD, np.ones(4), V, [["left", "right"]]) == (1, 2)
    assert independent_speeds(FORWARD, np.ones(4), V, [["yaw"], ["right"]]) == (3, 2)


def test_wanted_speeds():
    assert independent_speeds(FORWARD, np.ones(4), V, [], ["yaw", "forward"]) == (3, 0)
    with pytest.raises(InputError, match="'sideways' does not exist; .*forward, left, right, yaw"):
        independent_speeds(FORWARD, np.ones(4), V, [], ["forward", "sideways"])
    with pytest.raises(InputError, match="1 independent speeds were named.*the motion has 2"):
        independent_speeds(FORWARD, np.ones(4), V, [], ["forward"])
    locked = np.concatenate([FORWARD, np.tile([[[0, 1.0, -1.0, 0]]], (3, 1, 1))], axis=1)
    with pytest.raises(InputError, match="do not determine the motion: 'yaw'"):
        independent_speeds(locked, np.ones(4), V, [], ["yaw"])
    with pytest.raises(InputError, match="do not determine the motion: 'forward'"):
        independent_speeds(FORWARD[:, :1], np.ones(4), V, [], ["left", "right", "forward"])


def test_a_span_consists_of_its_smallest_blocks():
    """Rows 3 and 5 turn into each other, and so do 4, 7 and 8; 6 stands alone and is none."""
    rotation = ca.SX(6, 6)
    blocks = ((0, 2), (1, 4, 5))
    for block in blocks:
        for i in block:
            for j in block:
                rotation[i, j] = ca.SX.sym(f"r{i}{j}")
    rotation[3, 3] = 1
    forms, offsets = ca.SX.sym("w", 6, 7), ca.SX.sym("b", 6)
    parts = Span((3, 4, 5, 6, 7, 8), forms, offsets, rotation).parts()
    assert [part.rows for part in parts] == [(3, 5), (4, 7, 8)]
    for part, block in zip(parts, map(list, blocks)):
        for found, expected in ((part.forms, forms[block, :]), (part.offsets, offsets[block]),
                                (part.rotation, rotation[block, block])):
            assert ca.is_equal(ca.densify(found), ca.densify(expected), 2)


@pytest.mark.parametrize("rank", [0, 1, 3, 5])
def test_rank_does_not_depend_on_units(rank):
    """Of D M D with D from 1e-3 to 1e3, kilometres beside millimetres."""
    rng = np.random.default_rng(SEED)
    half = rng.normal(size=(5, rank))
    units = np.diag(10.0 ** np.linspace(-3, 3, 5))
    matrix = half @ np.diag([1, -1, 1, 1, -1][:rank]) @ half.T
    for one in (matrix, units @ matrix @ units, 1e9 * matrix):
        assert rank_in_any_units(one) == rank


@pytest.mark.parametrize("matrix, rank", [
    (np.diag([1.0, 1e-12]), 2),                     # a moment of inertia in kg m^2 beside kg mm^2
    (np.diag([1.0, np.finfo(float).eps]), 1),       # what cancels leaves rounding errors
    ([[1.0, 1.0], [1.0, 1.0 + 1e-7]], 2),           # a pendulum of a ten-millionth of the cart
    ([[1.0, 1.0], [1.0, 1.0 + 1e-14]], 1)])
def test_a_small_inertia_is_one_and_a_rounding_error_is_none(matrix, rank):
    assert rank_in_any_units(np.array(matrix)) == rank


@pytest.mark.parametrize("change, first", [(0.0, 0), (0.9e-12, 0), (1.1e-12, 1)])
def test_a_row_changes_above_rounding(change, first):
    """Of two rows that serve alike, the first, unless it alone changes from sample to sample: by a
    millionth of a millionth of its size."""
    for size in (1e-6, 1.0, 1e6):
        A = np.array([[[size, 0.0], [1.0, 0.0]], [[size, size * change], [1.0, 0.0]]])
        assert independent_rows(A, np.ones(2), [0, 0], names(2)) == (first,)


def test_where_no_row_serves_every_sample_the_first_sample_decides():
    """Each vanishes at one of three; the first sample's largest comes first, then what is left."""
    A = np.array([[[0.0, 0, 0], [0, 0.5, 0], [0, 0, 1]], [[1.0, 0, 0], [0, 0, 0], [0, 0, 1]],
                  [[1.0, 0, 0], [0, 1, 0], [0, 0, 0]], np.eye(3)])
    assert independent_rows(A, np.ones(3), [0, 0, 0], names(3)) == (2, 1, 0)


@pytest.mark.parametrize("least, first", [(1.1e-6, 0), (0.9e-6, 1)])
def test_a_row_serves_a_sample_above_a_millionth(least, first):
    """Of rows of which none is good at all samples, the one that is best at its worst, as long as
    that is no rounding; else the one that is best at the first sample."""
    A = np.array([[[0.3, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]], [[least, 0.0], [1.0, 0.0]]])
    assert independent_rows(A, np.ones(2), [0, 0], names(2)) == (first,)


def test_a_row_that_is_zero_but_for_one_sample_is_one():
    A = np.array([[[1.0, 0], [0, 0]], [[1.0, 0], [0, 1e-9]]])
    assert set(independent_rows(A, np.ones(2), [0, 0], names(2))) == {0, 1}


@pytest.mark.parametrize("share", [1.02e-6, 0.98e-6])
def test_wanted_speeds_are_free_above_a_millionth(share):
    A = np.tile([[[np.sqrt(1 - share ** 2), -share]]], (2, 1, 1))
    if share > 1e-6:
        assert independent_speeds(A, np.ones(2), ["e0", "e1"], [], ["e0"]) == (0,)
    else:
        with pytest.raises(InputError, match="'e0' follows from the others"):
            independent_speeds(A, np.ones(2), ["e0", "e1"], [], ["e0"])


@pytest.mark.parametrize("gap, rank", [(3e-10, 2), (1e-11, 1)])
def test_dependent_rows_of_an_inertia(gap, rank):
    assert rank_in_any_units(np.array([[1.0, 1.0], [1.0, 1.0 + gap]])) == rank
    for scale in (1e-9, 1.0, 1e9):
        assert rank_in_any_units(scale * np.diag([1.0, 2e-15])) == 2
        assert rank_in_any_units(scale * np.diag([1.0, 0.9e-15])) == 1
    assert rank_in_any_units(np.zeros((2, 2))) == rank_in_any_units(np.zeros((0, 0))) == 0
