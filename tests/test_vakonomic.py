"""Vakonomic motions beside those of Lagrange and d'Alembert."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from symmetric_systems import vertical_disk

from nhmech import InputError, Simulator
from nhmech.mechanics import (
    constrain,
    euclidean,
    gibbs_appell,
    lagrangian_system,
    vakonomic,
)
from nhmech.systems import load_system


def accelerations(constrained, q, xi, lam):
    """d'Alembert's dv/dt, and the vakonomic one for the given multipliers."""
    equations = gibbs_appell(constrained)
    theta = constrained.constrained.parameters
    v = equations.velocity(0, q, xi, theta).full().ravel()
    expected = equations.acceleration(0, q, xi, [], theta).full().ravel()
    made = gibbs_appell(vakonomic(constrained))
    found = made.acceleration(0, np.r_[q, 0 * lam], np.r_[v, lam], [], theta).full().ravel()
    return v, expected, found


@pytest.mark.paper("beyond vakonomic")
def test_geodesics_of_the_nonholonomic_particle():
    """z' = y x' and L = T: sub-Riemannian geodesics, by Hamilton's equations of
    H = ((p_x + y p_z)^2 / (1 + y^2) + p_y^2) / 2 with p_z constant."""
    def rate(t, s):
        x, y, z, px, py, pz = s
        speed = (px + y * pz) / (1 + y * y)
        return [speed, py, y * speed, 0, speed * (y * speed - pz), 0]

    start = np.array([0.2, -0.4, 0.1, 0.7, 0.5, 0.9])
    expected = solve_ivp(rate, (0, 3), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:3, -1]
    v = np.array(rate(0, start)[:3])
    # p_z = z' + lambda, for the row is z' - y x'
    simulator = Simulator(vakonomic(load_system("nonholonomic_particle")), dt=0.01,
                          integrator="gauss")
    simulator.reset(q=np.r_[start[:3], 0], xi=np.r_[v, start[5] - v[2]])
    run = simulator.run(3.0)
    np.testing.assert_allclose(run.q[-1, :3], expected, rtol=0, atol=1e-10)


@pytest.mark.paper("beyond vakonomic")
def test_the_particle_never_agrees_with_dalembert():
    """lambda must vanish for both to accelerate alike, and its rate, the reaction, does not."""
    particle = load_system("nonholonomic_particle")
    q, xi = np.array([0.3, -0.4, 0.2]), np.array([1.1, 0.6])
    for lam, alike in ((0.0, True), (0.5, False), (-0.3, False)):
        _, expected, found = accelerations(particle, q, xi, np.array([lam]))
        assert (np.abs(expected - found[:3]).max() < 1e-12) == alike
        assert abs(found[3]) > 0.1


@pytest.mark.paper("beyond vakonomic")
def test_the_upright_disk_agrees_for_one_lambda():
    """lambda = -m (x', y') along the path: what the reaction's impulse is (Cardin and Favretti)."""
    m, R = 1.3, 0.4
    disk = vertical_disk(m=m, R=R)
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, xi = rng.normal(size=4), rng.normal(size=2)
        v, *_ = accelerations(disk, q, xi, np.zeros(2))
        _, expected, found = accelerations(disk, q, xi, -m * v[:2])
        np.testing.assert_allclose(found[:len(v)], expected, rtol=0, atol=1e-11)
        _, expected, found = accelerations(disk, q, xi, -m * v[:2] + np.array([0.3, -0.2]))
        assert np.abs(found[:4] - expected).max() > 1e-3


@pytest.mark.paper("beyond vakonomic")
def test_holonomic_constraints_agree_for_every_lambda():
    """x x' + y y' = 0 has no curvature on its leaves."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 - s.q.x + ca.sin(s.q.y))
    rod = constrain(free, rows={"rod": lambda s: s.q.x * s.v.x + s.q.y * s.v.y})
    for lam in (-1.0, 0.0, 2.0):
        v, expected, found = accelerations(rod, np.array([0.6, 0.8]), np.array([0.7]),
                                           np.array([lam]))
        np.testing.assert_allclose(found[:len(v)], expected, rtol=0, atol=1e-12)


def test_an_affine_row_in_closed_form():
    """y' = x + 0.3 with the potential x y: x'' = -y - lambda and lambda' = -x - 2 y''."""
    belt = vakonomic(constrain(lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2) / 2 - s.q.x * s.q.y),
        rows={"belt": lambda s: s.v.y - s.q.x - 0.3}))
    x, y, speed, lam = 0.7, -0.2, 1.1, 0.4
    found = gibbs_appell(belt).acceleration(0, [x, y, 0], [speed, x + 0.3, lam], [], []).full()
    np.testing.assert_allclose(found.ravel(), [-y - lam, speed, -x - 2 * speed], rtol=1e-13)
    on, off = (belt.invariant_function(0, [x, y, 0], [speed, rate, lam], [])[0].full()
               for rate in (x + 0.3, x - 0.3))
    assert np.abs(on).max() < 1e-15 and np.abs(off).max() == pytest.approx(0.6, rel=1e-13, abs=0)


def test_without_constraints_there_is_nothing_to_do():
    with pytest.raises(InputError, match="this one has none"):
        vakonomic(load_system("heavy_top"))
