"""Jacobians of one step: against finite differences, its own adjoint, a whole run,
and the linearisation at a steady motion."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from support import at_length, shipped

from nhmech import InputError, Simulator
from nhmech.analysis.derivatives import step_adjoint, step_jacobian
from nhmech.analysis.linearise import linearise
from nhmech.mechanics import constrain, euclidean, lagrangian_system

DT = 5e-3
MOTIONS = {
    "differential_drive": dict(xi={"left_wheel_joint": 5.0, "right_wheel_joint": 3.0}),
    "disc": dict(pose=(0, 0, 0, 0.35, 0, 0.2),
                 xi={"spin_joint": 8.0, "yaw_rate": 0.5, "roll_rate": 0.3}),
    "bicycle": dict(pose=(0, 0, 0, 0.1, 0, 0.3), joints={"steering_joint": 0.15},
                    xi={"rear_wheel_joint": 15.0, "roll_rate": 0.4}),
    "pendulum": dict(),
    "trailers": dict(joints={"front_left_steering_joint": 0.4, "hitch_1_joint": 0.5},
                     xi={"rear_left_wheel_joint": 6.0}),
}


@cache
def made(name: str):
    """Vehicle with two symbolic parameters, its Jacobian and adjoint, and a point (t, x, u,
    theta)."""
    vehicle = shipped(name)
    masses = [key for key in vehicle.parameters.values if key.endswith((".mass", ".com_x"))][:2]
    vehicle = vehicle.with_parameters(symbolic=masses)
    simulator = Simulator(vehicle, dt=DT)
    simulator.reset(**MOTIONS[name])
    u = np.random.default_rng(1).normal(size=simulator.moment.u.size)
    return (vehicle, step_jacobian(vehicle, DT), step_adjoint(vehicle, DT),
            (0.0, simulator.moment.x.copy(), u, vehicle.theta))


@cache
def chart(name: str):
    return Simulator(made(name)[0]).atlas.primary


def end(name: str, x, u, theta) -> np.ndarray:
    """The simulator's own step, in the virtual machine."""
    return chart(name).advance(0.0, x, u, theta, DT, np.nan, np.nan).x


def differences(function, at: np.ndarray) -> np.ndarray:
    """Central differences of sixth order, (n, len(at))."""
    columns = []
    for i in range(len(at)):
        h = 3e-4 * max(1.0, abs(at[i])) * np.eye(len(at))[i]
        d = [(function(at + k * h) - function(at - k * h)) / np.abs(h).max() for k in (1, 2, 3)]
        columns.append((45 * d[0] - 9 * d[1] + d[2]) / 60)
    return np.array(columns).T if columns else np.zeros((len(function(at)), 0))


# the largest takes as long as all others
VEHICLES = [*(name for name in MOTIONS if name != "trailers"), *at_length("trailers")]


@pytest.mark.parametrize("name", VEHICLES)
def test_jacobians_are_the_differences_of_the_step(name):
    _, jacobian, _, (t, x, u, theta) = made(name)
    after, A, B, C = jacobian.with_step(t, x, u, theta)
    np.testing.assert_allclose(after, end(name, x, u, theta), rtol=1e-12, atol=1e-13)
    assert (A.shape == (len(x), len(x)) and B.shape == (len(x), len(u))
            and C.shape == (len(x), len(theta)) and len(theta) == 2)
    for found, expected in ((A, differences(lambda y: end(name, y, u, theta), x)),
                            (B, differences(lambda y: end(name, x, y, theta), u)),
                            (C, differences(lambda y: end(name, x, u, y), theta))):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", VEHICLES)
def test_the_adjoint_is_the_transpose(name):
    _, jacobian, adjoint, point = made(name)
    rng = np.random.default_rng(2)
    for _ in range(3):
        w = rng.normal(size=len(point[1]))
        for found, J in zip(adjoint(*point, w), jacobian(*point)):
            np.testing.assert_allclose(found, w @ J, rtol=1e-9, atol=1e-11)


def test_products_along_a_run_are_the_derivative_of_its_end():
    """A gradient by one forward and one backward pass, against differences of whole runs."""
    name, steps = "disc", 40
    _, jacobian, adjoint, (t, x, u, theta) = made(name)
    w = np.random.default_rng(3).normal(size=len(x))

    def final(y):
        for _ in range(steps):
            y = end(name, y, u, theta)
        return np.array([w @ y])

    path = [x]
    for k in range(steps):
        path.append(jacobian.with_step(k * DT, path[-1], u, theta)[0])
    back = w
    for k in reversed(range(steps)):
        back = adjoint(k * DT, path[k], u, theta, back)[0]
    np.testing.assert_allclose(back, differences(final, x)[0], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("speed", [2.0, 5.0, 8.0])
def test_bicycle_riding_straight_has_the_eigenvalues_of_its_linearisation(speed):
    """exp(lambda dt) for every lambda, to Runge-Kutta's (lambda dt)^5 / 120."""
    vehicle, dt = shipped("bicycle"), 1e-3
    simulator = Simulator(vehicle, dt=dt)
    simulator.reset(xi={"rear_wheel_joint": speed / 0.3})
    xi = simulator.moment.x[simulator.atlas.primary.state_vector.nconf:]
    lam = linearise(vehicle, simulator.moment.q, xi).eigenvalues
    A = step_jacobian(vehicle, dt)(0.0, simulator.moment.x, simulator.moment.u, vehicle.theta)[0]
    found = np.linalg.eigvals(A)
    for value in np.exp(lam[np.abs(lam) > 1e-3] * dt):
        assert np.abs(found - value).min() < 1e-10


def test_a_step_of_what_moves_by_itself_is_differentiated_at_its_own_times():
    """A pendulum on a rod whose length changes, under a force that changes: the constraints at the
    step's end are those of its end."""
    system = lagrangian_system(
        euclidean("x", "y"), lambda s: s.p.m * ((s.v.x ** 2 + s.v.y ** 2) / 2 - 9.81 * s.q.y),
        parameters=("m", "k"), inputs=("push",),
        force=lambda s: {"x": s.u.push - s.p.k * s.q.x * ca.cos(2 * s.t), "y": -s.v.y})
    made = constrain(system, {"m": 1.3, "k": 2.0}, samples=[[0.6, -0.8]], holonomic={
        "rod": lambda s: s.q.x ** 2 + s.q.y ** 2 - (1 + 0.3 * ca.sin(5 * s.t)) ** 2})
    t, dt, own = 0.4, DT, Simulator(made).atlas.primary
    length = 1 + 0.3 * np.sin(5 * t)
    x, u, theta = np.array([0.6 * length, -0.8 * length, 0.7]), np.array([0.9]), made.parameters

    def end(x, u, theta):
        return own.advance(t, x, u, theta, dt, np.nan, np.nan).x

    after, *found = step_jacobian(made, dt).with_step(t, x, u, theta)
    np.testing.assert_allclose(after, end(x, u, theta), rtol=1e-13)
    assert np.linalg.norm(after[:2]) == pytest.approx(1 + 0.3 * np.sin(5 * (t + dt)), rel=1e-9)
    w = np.array([0.3, -1.1, 0.8])
    for A, product, expected in zip(found, step_adjoint(made, dt)(t, x, u, theta, w), (
            differences(lambda y: end(y, u, theta), x), differences(lambda y: end(x, y, theta), u),
            differences(lambda y: end(x, u, y), theta))):
        np.testing.assert_allclose(A, expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(product, w @ A, rtol=1e-12, atol=1e-14)


def test_wrong_arguments_are_named():
    vehicle, jacobian, adjoint, (t, x, u, theta) = made("disc")
    with pytest.raises(InputError, match="x .*expected"):
        jacobian(t, x[:-1], u, theta)
    with pytest.raises(InputError, match=r"theta \(.*expected \(2,\)"):
        adjoint(t, x, u, [1.0], x)
    with pytest.raises(InputError, match=r"w \(.*has shape"):
        adjoint(t, x, u, theta, x[1:])
    with pytest.raises(InputError, match="dt = -1"):
        step_jacobian(vehicle, -1)
