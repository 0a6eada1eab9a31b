"""Derivatives of eigenvalues by parameters, against closed forms."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import shipped

from nhmech import MechanicsError
from nhmech.analysis import SteadyMotions, eigenvalue_sensitivities
from nhmech.mechanics import (
    constrain,
    euclidean,
    lagrangian_system,
    rotation,
    special_orthogonal,
)


def oscillators(force, names: str, **numbers):
    """Particles of unit mass: s -> {coordinate: force}, with parameters."""
    system = lagrangian_system(euclidean(*names), lambda s: sum(
        getattr(s.v, name) ** 2 for name in names) / 2, parameters=tuple(numbers), force=force)
    return SteadyMotions(constrain(system, numbers))


def match(found, expected):
    """Eigenvalues by falling real part, and rows of derivatives; in the order of their imaginary
    parts, where real parts are equal."""
    values, slopes = found
    order = np.lexsort((values.imag, -values.real.round(9)))
    assert np.all(np.diff(values.real) <= 1e-12)
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
    """Nearer than 1e-5 of the largest, or of 1 / s: particles with friction, one of which stands
    apart."""
    for apart in (0.0, 0.99 * 1e-5 * max(1.0, rate), 1.005 * 1e-5 * max(1.0, rate)):
        motions = oscillators(lambda s: {"x": -s.p.rate * s.v.x, "y": -s.p.other * s.v.y,
                                         "z": -s.p.third * s.v.z}, "xyz", rate=rate,
                              other=rate + apart, third=rate / 2)
        values, slopes = eigenvalue_sensitivities(motions, motions.find([0.0] * 3, [0.0] * 3))
        np.testing.assert_allclose(values, [-rate / 2, -rate, -rate - apart], rtol=1e-12)
        np.testing.assert_allclose(slopes[0], [0, 0, -1], rtol=1e-9, atol=1e-12)
        if apart < 1e-5 * max(1.0, rate):
            assert np.isnan(slopes[1:]).all()
        else:
            np.testing.assert_allclose(slopes[1:], [[-1, 0, 0], [0, -1, 0]], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("speed", [0.8, 3.0])
def test_a_disc_that_rolls_upright(speed):
    """With the lean phi and its moments A and C about a diameter and its axle,
    (A + m r^2) phi'' = (m g r - C (C + m r^2) (v / r)^2 / A) phi; it falls at the lower speed."""
    disc = shipped("disc")
    body = next(name.removesuffix(".mass") for name, value in disc.parameters.values.items()
                if name.endswith(".mass") and value > 1)
    names = ("gravity", "spin_joint.radius", f"{body}.mass", f"{body}.Iyy")
    p = ca.SX.sym("p", len(names))
    g, r, m, C = ca.vertsplit(p)
    numbers = [disc.parameters.values[name] for name in names]
    A = disc.parameters.values[f"{body}.Ixx"]
    square = (m * g * r - C * (C + m * r ** 2) * (speed / r) ** 2 / A) / (A + m * r ** 2)
    value, slope = (part.full().ravel() for part in ca.Function("square", [p], [
        square, ca.gradient(square, p)])(numbers))
    motions = SteadyMotions(disc.with_parameters(symbolic=names))
    kept = {"forward_speed": speed, "lateral_speed": 0.0, "yaw_rate": 0.0}
    values, slopes = eigenvalue_sensitivities(motions, motions.straight(speed), kept)
    leaning = np.abs(values) > 1e-6
    assert leaning.sum() == 2 and np.isnan(slopes[~leaning]).all()
    np.testing.assert_allclose(values[leaning] ** 2, value.repeat(2), rtol=1e-9)
    np.testing.assert_allclose(2 * values[leaning, None] * slopes[leaning], [slope] * 2, rtol=1e-9)


def test_axes_that_turn_against_the_motion_are_refused():
    """A sleeping top, whose turn about its axis moves the axes in which its speeds are told."""
    space = special_orthogonal()
    names = [name.removesuffix("'") for name in space.v_names]
    system = lagrangian_system(space, lambda s: sum(
        one * getattr(s.v, name) ** 2 for one, name in zip((0.7, 0.7, 0.4), names)) / 2
        - s.p.weight * rotation(space.q)[2, 2], parameters=("weight",))
    motions = SteadyMotions(constrain(system, {"weight": 2.0}))
    member = motions.find([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 3.0])
    with pytest.raises(MechanicsError, match="axes that its symmetry carries along"):
        eigenvalue_sensitivities(motions, member)
