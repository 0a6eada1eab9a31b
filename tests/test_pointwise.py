"""One function at many points: its values, and when compiled code takes its place."""

import casadi as ca
import numpy as np
import pytest

from nhmech.compile import pointwise
from nhmech.compile.pointwise import WIDTHS, Pointwise


@pytest.mark.parametrize("count", [1, 2, *(width + k for width in (*WIDTHS, 2 * WIDTHS[1])
                                           for k in (-1, 0, 1))])
def test_each_point_has_its_own_values(count):
    """A matrix and a number, of a vector that varies and one that does not; again with others."""
    x, p = ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    made = Pointwise(ca.Function("outer", [x, p], [p @ x.T, ca.dot(x, x)]))
    for seed in range(2):
        rng = np.random.default_rng(seed)
        points, constant = rng.normal(size=(count, 3)), rng.normal(size=2)
        outer, square = made(points, constant)
        np.testing.assert_allclose(outer, constant[:, None] * points[:, None, :], rtol=1e-14)
        np.testing.assert_allclose(square, (points ** 2).sum(axis=1)[:, None], rtol=1e-14)
        one = made.one(points[0], constant)
        np.testing.assert_array_equal(one[0], outer[0])
        assert one[1].item() == square[0, 0]


class Builds:
    """Stands in for the compiler, whose code gives the cube in place of the square."""

    def __init__(self, monkeypatch, cached: bool = False):
        x = ca.SX.sym("x")
        self.square = ca.Function("power", [x], [x ** 2])
        self.cube = ca.Function("power", [x], [x ** 3])
        self.cached, self.asked, self.waited, self.is_done = cached, [], 0, False
        for name, multiple in (("LOOK", 5), ("BUILD", 20)):
            monkeypatch.setattr(pointwise, name, multiple * self.square.n_instructions())
        monkeypatch.setattr(pointwise, "in_c", self.in_c)
        monkeypatch.setattr(pointwise, "begin_function", self.begin)

    def in_c(self, function, build):
        self.asked.append("build" if build else "look")
        return self.cube if build or self.cached else None

    def begin(self, function):
        self.asked.append("begin")
        return self

    def wait(self):
        self.waited += 1
        self.cached = self.is_done = True


def powers(made: Pointwise, count: int) -> set[float]:
    """Of so many numbers 2."""
    return {*made(np.full((count, 1), 2.0))[0].ravel().tolist()}


def test_code_is_looked_for_after_some_work_and_made_after_more(monkeypatch):
    builds = Builds(monkeypatch)
    made = Pointwise(builds.square)
    for points, asked, value in ((4, [], 4.0), (1, ["look"], 4.0), (14, ["look"], 4.0),
                                 (1, ["look", "build"], 8.0), (99, ["look", "build"], 8.0)):
        assert powers(made, points) == {value} and builds.asked == asked
    assert made.one(2.0)[0].item() == 8.0 and builds.waited == 0
    at_once = Pointwise(builds.square)
    assert powers(at_once, 1) == {4.0}      # its memory for so many points is replaced as well
    at_once.compile()
    assert powers(at_once, 1) == {8.0} and builds.asked[2:] == ["look", "build"]
    new = Pointwise(builds.square)
    new.compile()
    assert new.one(2.0)[0].item() == 8.0


def test_code_that_is_in_the_cache_is_taken_when_it_is_looked_for(monkeypatch):
    builds = Builds(monkeypatch, cached=True)
    made = Pointwise(builds.square)
    found = [made.one(2.0)[0].item() for _ in range(30)]
    assert found == [4.0] * 4 + [8.0] * 26 and builds.asked == ["look"]


def test_single_points_do_not_wait_and_many_do(monkeypatch):
    builds = Builds(monkeypatch)
    made = Pointwise(builds.square)
    assert [made.one(2.0)[0].item() for _ in range(25)] == [4.0] * 25
    assert builds.asked == ["look", "begin"] and builds.waited == 0
    assert powers(made, 1) == {8.0} and builds.waited == 1
    assert builds.asked == ["look", "begin", "build"] and made.one(2.0)[0].item() == 8.0
    # or until it is done
    later = Builds(monkeypatch)
    made = Pointwise(later.square)
    for _ in range(20):
        made.one(2.0)
    later.wait()
    assert made.one(2.0)[0].item() == 8.0 and later.waited == 1


def test_without_a_compiler_nothing_is_asked_again(monkeypatch):
    builds = Builds(monkeypatch)
    monkeypatch.setattr(pointwise, "begin_function", lambda function: None)
    made = Pointwise(builds.square)
    assert [made.one(2.0)[0].item() for _ in range(30)] == [4.0] * 30
    assert builds.asked == ["look", "look"] and powers(made, 3) == {4.0}
