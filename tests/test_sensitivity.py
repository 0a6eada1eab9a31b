"""Derivatives of eigenvalues by parameters, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from nhmech.analysis import SteadyMotions, eigenvalue_sensitivities
from nhmech.mechanics import constrain, euclidean, lagrangian_system


def oscillators(force, names: str, **numbers):
    """Particles of unit mass: s -> {coordinate: force}, with parameters."""
    system = lagrangian_system(euclidean(*names), lambda s: sum(
        getattr(s.v, name) ** 2 for name in names) / 2, parameters=tuple(numbers), force=force)
    return SteadyMotions(constrain(system, numbers))


def match(found, expected):
    """Eigenvalues by falling real part, and rows of derivatives, in the order of their imaginary
    parts where real parts are equal."""
    values, slopes = found
    order = np.lexsort((values.imag, -values.real.round(9)))
    np.testing.assert_array_equal(order // 2, np.arange(len(values)) // 2)
    np.testing.assert_allclose(values[order], expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(slopes[order], expected[:, 1:], rtol=1e-10)


@pytest.mark.parametrize("k, c", [(2.0, 0.6), (0.3, 1.7), (5.0, -0.4)])
def test_a_damped_oscillator(k, c):
    """lambda^2 + c lambda + k = 0: d lambda = -(lambda dc + dk) / (2 lambda + c), of pairs that
    turn, of real ones, and of one that grows."""
    motions = oscillators(lambda s: {"x": -s.p.k * (s.q.x - 1) - s.p.c * s.v.x}, "x", k=k, c=c)
    found = eigenvalue_sensitivities(motions, motions.find([0.8], [0.1]))
    root = np.sqrt(complex(c ** 2 - 4 * k))
    values = np.array([(-c - root) / 2, (-c + root) / 2])
    values = values[np.lexsort((values.imag, -values.real))]
    slopes = -np.array([np.ones(2), values]) / (2 * values + c)
    match(found, np.vstack([values, slopes]).T)


@pytest.mark.parametrize("push, c", [(0.7, 0.2), (3.0, 9.0)])
def test_the_change_of_the_steady_motion_counts(push, c):
    """x'' = p - x^3 - c x' rests at p^(1/3), where the stiffness is 3 p^(2/3)."""
    motions = oscillators(lambda s: {"x": s.p.push - s.q.x ** 3 - s.p.c * s.v.x}, "x", push=push,
                          c=c)
    found = eigenvalue_sensitivities(motions, motions.find([1.0], [0.0]))
    root = np.sqrt(complex(c ** 2 - 12 * push ** (2 / 3)))
    values = np.array([(-c - root) / 2, (-c + root) / 2])
    values = values[np.lexsort((values.imag, -values.real))]
    slopes = -np.array([2 * push ** (-1 / 3) * np.ones(2), values]) / (2 * values + c)
    match(found, np.vstack([values, slopes]).T)


def test_what_is_kept_is_kept():
    """x'' = -(k + a y') x, while y'' = 0 leaves y' to a condition; y is the rate of nothing."""
    k, a, speed = 1.3, 0.7, 2.0
    motions = oscillators(lambda s: {"x": -(s.p.k + s.p.a * s.v.y) * s.q.x}, "xy", k=k, a=a)
    member = motions.find([0.0, 0.0], [0.0, 1.9], conditions={"y'": speed})
    values, slopes = eigenvalue_sensitivities(motions, member, {"y'": speed})
    assert len(values) == 3 and np.isnan(slopes[np.abs(values) < 1e-9]).all()
    turning = np.abs(values) > 1e-9
    np.testing.assert_allclose(values[turning] ** 2, -(k + a * speed), rtol=1e-12)
    np.testing.assert_allclose(2 * values[turning, None] * slopes[turning], [[-1, -speed]] * 2,
                               rtol=1e-10)


@pytest.mark.parametrize("rate", [0.1, 30.0, 1e3])
def test_eigenvalues_that_are_nearly_one_have_no_derivative(rate):
    """Nearer than 1e-5 of the largest, or of 1 / s: beside one that stands apart."""
    for apart in (0.0, 0.99 * 1e-5 * max(1.0, rate), 1.005 * 1e-5 * max(1.0, rate)):
        motions = oscillators(lambda s: {"x": -s.p.rate ** 2 * s.q.x, "y": -s.p.other ** 2 * s.q.y,
                                         "z": -s.p.third ** 2 * s.q.z}, "xyz", rate=rate,
                              other=rate + apart, third=rate / 2)
        values, slopes = eigenvalue_sensitivities(motions, motions.find([0.0] * 3, [0.0] * 3))
        alone = np.abs(np.abs(values) - rate / 2) < 1e-3 * rate
        assert alone.sum() == 2 and np.isfinite(slopes[alone]).all()
        assert np.isnan(slopes[~alone]).all() == (apart < 1e-5 * max(1.0, rate))
