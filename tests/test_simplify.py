"""Simplified functions are the same functions in fewer operations; rows in another basis span the
same."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import nhmech
from nhmech.mechanics.frame import adapted_frame
from nhmech.mechanics.gibbs_appell import gibbs_appell
from nhmech.symbolic.linear_forms import DIGITS, round_off
from nhmech.symbolic.simplify import operations, simplify

x, y, z, w = (ca.SX.sym(name) for name in "xyzw")


def function(*outputs) -> ca.Function:
    return ca.Function("f", [x, y, z, w], [ca.vertcat(*outputs)], ["x", "y", "z", "w"], ["out"],
                       {"cse": True})


@pytest.mark.parametrize("outputs, least", [
    ([0.3 * x + 0.3 * y], 2),
    ([w * x + w * y + w * z], 3),
    ([x * y + z - y * x], 0),
    ([0.5 * (2 * x)], 0),
    ([x - (-y)], 1),
    # x + 2 y (2), times z, times w, times 3
    ([(x + 2 * y) * z, (3 * x + 6 * y) * w], 5),
    ([x / y + z / y], 2),
    ([x * y * z, x * y * w, y * x + 1], 4),
    ([x + y + z, x + y + w], 3),
    ([(x / y) * y], 0),
    ([ca.sin(x - y) + ca.sin(x - y * ca.SX(1))], 3),
    ([y - x, x - y], 2),
    ([2.5 * x + y, x + 0.4 * y], 3),
    ([x / y * z, z / y * w], 3),
    ([x / y + z / y, (x + z) * w], 3),
    ([3 * x + 3 * y + 3 * z + 3], 4),
    # (x + w) (y + z)
    ([x * y + x * z + w * y + w * z], 3),
    ([0.2 * x + 0.6 * y, 0.5 * x + 1.5 * y, x + 3 * y], 4),
    ([x + y + z + w, x + y - z - w], 4),
    ([x - y + z, y - x + w], 3),
    ([0.5 * x * y, 0.5 * y * z], 3),
    ([(x + y) * z + (x + y) * w, (x + y) ** 2], 4),
    ([2 * x - 3 * y, 4 * x - 6 * y], 4),
    ([ca.sin(2 * x + 2 * y), ca.sin(3 * x + 3 * y)], 5),
    ([x * y * z + x * y * w + x * y], 4),
    ([(x + y) + (x - y)], 1),
    ([x * y / z - x * w / z], 3),
    # constants are one that agree to 46 binary digits
    ([0.1 * x + 0.1 * y * (1 + 2 ** -51)], 2),
    ([0.1 * x + 0.1 * y * (1 + 2 ** -44)], 3),
], ids=str)
def test_least_number_of_operations(outputs, least):
    made = simplify(function(*outputs))
    assert operations(made) == least
    point = (0.7, -1.3, 2.1, 0.4)
    np.testing.assert_allclose(made(*point).full(), function(*outputs)(*point).full(), rtol=1e-15,
                               atol=1e-15)


def test_what_differs_by_rounding_cancels():
    """Below 4e-15 of the larger term."""
    for difference, least in ((3e-15, 0), (6e-15, 3)):
        for size in (1e-20, 1.0, 1e20):
            made = simplify(function(size * x * y - size * (1 + difference) * (y * x)))
            assert operations(made) == least


def test_constants_keep_46_binary_digits():
    """The nearest of them, up to where the splitting would overflow."""
    rng = np.random.default_rng(0)
    for number in [*rng.normal(size=50) * 10.0 ** rng.uniform(-30, 30, 50), 9e299, -3e-290]:
        found = round_off(number)
        share, power = np.frexp(found)
        assert share * 2 ** DIGITS == round(share * 2 ** DIGITS)
        assert abs(found - number) <= 2.0 ** (power - DIGITS - 1)
        assert round_off(found) == found and round_off(-number) == -found
    assert round_off(1.3e300) == 1.3e300


def random_function(seed: int) -> ca.Function:
    rng = np.random.default_rng(seed)
    pool = [x, y, z, w, ca.SX(0.3), ca.SX(-2)]
    for _ in range(60):
        a, b = (pool[i] for i in rng.integers(max(0, len(pool) - 12), len(pool), 2))
        pool.append([a + b, a - b, a * b, 0.7 * a - 1.9 * b, -a, 2 * a, a / (2 + b * b), ca.sin(a),
                     ca.sqrt(1 + a * a), ca.tanh(a), ca.if_else(a > b, a, b), ca.fabs(b),
                     ca.atan2(a, 1 + b * b)][rng.integers(13)])
    return function(*pool[-6:])


@pytest.mark.parametrize("seed", range(30))
def test_the_same_function(seed):
    before, rng = random_function(seed), np.random.default_rng(seed)
    after = simplify(before)
    assert operations(after) <= operations(before)
    for _ in range(5):
        point = rng.normal(size=4)
        a, b = before(*point).full(), after(*point).full()
        if np.abs(a).max() < 1e6:
            np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-11 * max(1.0, np.abs(a).max()))


def test_names_and_sparsity_stay():
    out = ca.SX(2, 3)
    out[1, 2], out[0, 1] = x * y + x * z, 3
    before = ca.Function("g", [x, ca.vertcat(y, z)], [out, ca.SX(0, 1)], ["p", "r"],
                         ["matrix", "nothing"])
    after = simplify(before)
    assert operations(after) == 2 < operations(before)
    assert (after.name(), after.name_in(),
            after.name_out()) == ("g", ["p", "r"], ["matrix", "nothing"])
    assert after.sparsity_out(0) == before.sparsity_out(0) and after.size_out(1) == (0, 1)
    np.testing.assert_array_equal(after(2, [3, 4])[0].full(), [[0, 3, 0], [0, 0, 14]])


def test_deeper_than_the_recursion_limit():
    value = x
    for _ in range(3000):
        value = ca.sin(value) * y + x * y
    made = simplify(function(value))
    assert operations(made) == 3 * 3000 + 1
    assert float(made(0.3, 0.5, 0, 0)) == pytest.approx(float(function(value)(0.3, 0.5, 0, 0)),
                                                        rel=1e-12)


@pytest.mark.parametrize("output", [x / ca.SX(0.0) + y, x + ca.SX(np.inf), x * ca.SX(np.nan) + y],
                         ids=str)
def test_constants_that_are_not_finite_are_left_alone(output):
    before = function(output)
    a, b = (f(1, 2, 3, 4).full() for f in (before, simplify(before)))
    np.testing.assert_array_equal(a, b)


GROUNDS = {"at rest": nhmech.Ground(), "tilted, moving and turning": nhmech.Ground(
    (0.2, -0.1, 1.0), (0.0, 0.1, 0.3), (0.3, 0.5, 0.4),
    tuple(1.1 * np.array((0.2, -0.1, 1.0)) / np.linalg.norm((0.2, -0.1, 1.0))))}


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", ["ball", "bicycle", "coin", "disc"])
def test_rows_in_the_frame_of_the_carrying_body(name, ground):
    """Velocity, acceleration, multipliers, E and the step onto the manifold do not depend on
    the basis the rows are written in."""
    vehicle = nhmech.load(nhmech.urdf_path(name), ground=GROUNDS[ground])
    d = vehicle.reduced.distribution
    assert d.spans and not vehicle.constrained.distribution.spans
    plain = replace(vehicle.reduced, distribution=replace(d, spans=()))
    other = adapted_frame(plain, vehicle.speeds)
    assert other.kept == vehicle.frame.kept
    system, rng = vehicle.reduced.system, np.random.default_rng(3)
    made = []
    for frame, equations in ((vehicle.frame, vehicle.equations),
                             (other, gibbs_appell(plain, frame=other))):
        matrices = ca.Function("m", [system.t, system.q, system.theta],
                               [*map(ca.densify, system.expand(frame.inverse, frame.E)),
                                frame.correction()])
        made.append((matrices, equations))
    for q in vehicle.constrained.samples[:5]:
        # off the manifold, so that there is something to correct
        q = q + 1e-3 * rng.normal(size=len(q)) * (np.arange(len(q)) == 2)
        xi, u = rng.normal(size=len(vehicle.speeds)), rng.normal(size=len(vehicle.driven))
        first, second = ([*matrices.call((0.4, q, vehicle.theta)),
                          e.velocity(0.4, q, xi, vehicle.theta),
                          e.acceleration(0.4, q, xi, u, vehicle.theta),
                          e.multipliers(0.4, q, xi, u, vehicle.theta)]
                         for matrices, e in made)
        for a, b in zip(first, second):
            np.testing.assert_allclose(a.full(), b.full(), rtol=0,
                                       atol=1e-11 * max(1.0, np.abs(b.full()).max()))
