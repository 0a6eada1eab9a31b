"""Equations split into base and group by the nonholonomic connection."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from symmetric_systems import SE2, X, Y, carriage, sleigh, vertical_disk

from nhmech import InputError, MechanicsError
from nhmech.mechanics import (
    chaplygin,
    find_symmetry,
    gibbs_appell,
    nonholonomic_connection,
    nonholonomic_momentum,
    symmetry,
)
from nhmech.systems import load_system, snakeboard

PLANE = {
    "x": lambda s: {"forward_speed": ca.cos(s.q.yaw), "lateral_speed": -ca.sin(s.q.yaw)},
    "y": lambda s: {"forward_speed": ca.sin(s.q.yaw), "lateral_speed": ca.cos(s.q.yaw)},
    "turn": lambda s: {
        "forward_speed": -s.q.y * ca.cos(s.q.yaw) + s.q.x * ca.sin(s.q.yaw),
        "lateral_speed": s.q.y * ca.sin(s.q.yaw) + s.q.x * ca.cos(s.q.yaw), "yaw_rate": 1}}
SPIN = {"spin": lambda s: {"theta2": 1}}


def rigid_section(s):
    """xi_Q of the paper: see `nhmech/systems/snakeboard.py`."""
    back, front, yaw, r = s.q.back, s.q.front, s.q.yaw, s.p.r
    c = ca.sin(back - front)
    a, b = (-r * (ca.cos(back) * f(yaw + front) + ca.cos(front) * f(yaw + back))
            for f in (ca.cos, ca.sin))
    return {"x": a + s.q.y * c, "y": b - s.q.x * c, "turn": c}


SYSTEMS = {
    "sleigh": lambda: (symmetry(sleigh(), SE2), None),
    "disk": lambda: (symmetry(vertical_disk(), {**X, **Y, **SPIN}), None),
    "snakeboard": lambda: (symmetry(snakeboard.example().constrained, PLANE), ("rotor", "back")),
    "falling disc": lambda: (find_symmetry(load_system("falling_disc")), None),
}


@pytest.mark.paper("004 split")
@pytest.mark.parametrize("name", SYSTEMS)
def test_they_are_the_equations_of_gibbs_and_appell(name):
    """dxi/dt from dv/dt, and dp/dt from the derivative of p = Y . dL/dv along the motion."""
    found, base = SYSTEMS[name]()
    made, momentum = nonholonomic_connection(found, base), nonholonomic_momentum(found)
    constrained = found.constrained
    system, whole = constrained.system, gibbs_appell(constrained)
    speeds = [system.algebroid.v_names.index(speed) for speed in made.names]
    own = [system.algebroid.v_names.index(speed) for speed in whole.names]
    acceleration = ca.SX.sym("acceleration", system.v.numel())
    J = momentum.momentum(0, system.q, system.v, system.theta)
    rate = ca.Function("rate", [system.q, system.v, acceleration, system.theta], [
        ca.jtimes(J, system.q, system.q_rate) + ca.jtimes(J, system.v, acceleration)])
    rng, theta = np.random.default_rng(1), constrained.parameters
    for q in constrained.configurations[:4]:
        xi, p = rng.normal(size=len(made.names)), rng.normal(size=len(made.momenta))
        u = rng.normal(size=system.u.numel())
        v = made.velocity(q, xi, p, theta).full().ravel()
        np.testing.assert_allclose(momentum.momentum(0, q, v, theta).full().ravel(), p, rtol=0,
                                   atol=1e-11)
        a = whole.acceleration(0, q, v[own], u, theta).full().ravel()
        q_rate, xi_rate, p_rate = (part.full().ravel() for part in made.drift(q, xi, p, u, theta))
        size = 1 + np.abs(a).max()
        np.testing.assert_allclose(xi_rate, a[speeds], rtol=0, atol=1e-10 * size)
        np.testing.assert_allclose(q_rate, whole.drift(0, q, v[own], u, theta)[0].full().ravel(),
                                   rtol=0, atol=1e-10 * size)
        expected = rate(q, v, a, theta).full().ravel()
        if not system.u.numel():
            np.testing.assert_allclose(expected, momentum.rate(0, q, v, u, theta).full().ravel(),
                                       rtol=0, atol=1e-10 * size)
        np.testing.assert_allclose(p_rate, expected, rtol=0, atol=1e-10 * size)


@pytest.mark.paper("004 split")
def test_the_snakeboard_as_published():
    """p' = 2 J0 cos^2(back) back' psi' - tan(back) back' p (Bloch et al. 1996, section 8.4), the
    metric of its base, and that S and H are orthogonal."""
    example = snakeboard.example()
    found = symmetry(example.constrained, PLANE)
    made = nonholonomic_connection(found, ("rotor", "back"), {"p": rigid_section})
    assert made.names == ("rotor", "back") and made.momenta == ("p",)
    system, theta = example.constrained.system, example.constrained.parameters
    numbers = dict(zip(system.theta_names, theta))
    mass = system.mass_and_bias()[0]
    parts = ca.Function("parts", [system.q, system.theta], [
        made.horizontal.T @ mass @ made.vertical, made.metric, made.inertia])
    m, J0, r, J1 = (numbers[name] for name in ("m", "J0", "r", "J1"))
    rng = np.random.default_rng(2)
    for back in (-0.8, 0.3, 1.1):
        q = np.r_[rng.normal(size=4), back, -back]
        (psi, turn), p = rng.normal(size=2), rng.normal()
        rate = float(made.drift(q, [psi, turn], [p], np.zeros(2), theta)[2])
        expected = 2 * J0 * np.cos(back) ** 2 * turn * psi - np.tan(back) * turn * p
        assert abs(rate - expected) < 1e-11
        across, metric, inertia = (part.full() for part in parts(q, theta))
        assert np.abs(across).max() < 1e-13
        assert abs(inertia[0, 0] - 4 * m * r ** 2 * np.cos(back) ** 2) < 1e-12
        shape = np.diag([J0 - J0 ** 2 * np.sin(back) ** 2 / (m * r ** 2), 2 * J1])
        np.testing.assert_allclose(metric, shape, rtol=0, atol=1e-12)


def test_what_has_no_such_connection():
    with pytest.raises(MechanicsError, match="no momentum equation"):
        nonholonomic_connection(symmetry(carriage(), SE2))
    assert chaplygin(symmetry(carriage(), SE2)).base.system.v.numel() == 2


def test_base_velocities_that_do_not_exist_are_named():
    example = load_system("snakeboard")
    with pytest.raises(InputError, match="speed 'rotors' does not exist; .* mean 'rotor'"):
        nonholonomic_connection(find_symmetry(example), speeds=("rotors", "back"))
