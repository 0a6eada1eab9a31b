"""The dynamics as functions of one state vector: its names, what is read off it, a step of it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from support import shipped

import nhmech
from nhmech import InputError, SimulationError, Simulator
from nhmech.simulation import planar_pose
from nhmech.systems import ball_on_turntable, load_system


def anywhere(f, seed: int = 0) -> np.ndarray:
    """A state with a quaternion of length 1, where there is one."""
    xi = np.random.default_rng(seed).normal(size=f.state_vector.nxi)
    return f.state_vector.assemble(f.simulated.constrained.configurations[seed], xi)


def test_rates_are_those_of_the_equations_and_a_step_follows_them():
    """On a table that turns, with its own parameters or others."""
    made = ball_on_turntable.example(tilt=0.1)
    f, equations = nhmech.dynamics(made), made.equations()
    x, nconf = anywhere(f), f.state_vector.nconf
    for theta in (None, 1.1 * f.theta):
        numbers = f.theta if theta is None else theta
        q, xi = f.state_vector.configuration(x[:nconf]), x[nconf:]
        rate, speeds = f(0.3, x, [], theta).full().ravel(), dict(zip(f.names[nconf:], xi))
        wanted = equations.drift(0.3, q, [speeds[name] for name in equations.names], [], numbers)
        rates = dict(zip(equations.names, wanted[1].full().ravel()))
        np.testing.assert_allclose(rate[nconf:], [rates[name] for name in f.names[nconf:]],
                                   rtol=1e-12)
        # the second half of a step goes on from the first, to the fifth order
        errors = []
        for dt in (0.02, 0.01):
            middle = f.step(0.3, x, [], dt / 2, theta)
            errors.append(np.abs((f.step(0.3 + dt / 2, middle, [], dt / 2, theta)
                                  - f.step(0.3, x, [], dt, theta)).full()).max())
        assert errors[0] / errors[1] == pytest.approx(32, rel=0.2)
        close = (f.step(0.3, x, [], 1e-6, theta).full().ravel() - x) / 1e-6
        np.testing.assert_allclose(close, rate, rtol=1e-4, atol=1e-4)
    assert (f.nu, f.inputs, f.parameters) == (0, (), ("m", "r", "I", "Omega", "tilt", "g"))
    assert repr(f) == ("<Dynamics of 'ball_on_turntable', dx/dt = f(t, x, u, theta): "
                       f"nx {f.nx}, nu 0, ntheta 6>")


def test_a_name_that_occurs_twice_is_a_coordinate_or_a_speed():
    f = nhmech.dynamics(shipped("differential_drive"))
    joint = "left_wheel_joint"
    first, second = (i for i, name in enumerate(f.names) if name == joint)
    assert (f.coordinate(joint), f.speed(joint)) == (first, second)
    assert f.coordinate("y") == 1 and f.names[f.speed("right_wheel_joint")] == "right_wheel_joint"
    with pytest.raises(InputError, match="no coordinate 'yaw_rate'; there are x, y, z, "):
        f.coordinate("yaw_rate")
    with pytest.raises(InputError, match="no independent speed 'x'; there are left_wheel_joint, r"):
        f.speed("x")


def test_pose_and_velocities_are_those_of_a_state():
    """At any attitude; angles are counted, or are the nearest to those of another state."""
    vehicle = shipped("differential_drive")
    f, simulator = nhmech.dynamics(vehicle), Simulator(vehicle, dt=1e-2)
    simulator.reset((0.3, -0.2, 2.5), xi={"left_wheel_joint": 30.0, "right_wheel_joint": 20.0})
    simulator.run(0.5)
    state = simulator.state
    x = f.of(state)
    np.testing.assert_allclose(f.pose(x).full().ravel(), planar_pose(state.q), rtol=1e-12,
                               atol=1e-13)
    np.testing.assert_allclose(f.pose(x).full().ravel(), state.pose, rtol=1e-12, atol=1e-13)
    found = dict(zip(f.v_names, f.velocity(state.t, x, f.theta).full().ravel()))
    assert found["forward_speed"] == pytest.approx(state.xi["forward_speed"], rel=1e-12)
    assert x[f.coordinate("left_wheel_joint")] == state.angles["left_wheel_joint"] > 9
    near = x.copy()
    near[f.coordinate("left_wheel_joint")] += 4 * np.pi + 0.3
    again = f.of(state, near)
    assert again[f.coordinate("left_wheel_joint")] - x[f.coordinate("left_wheel_joint")] == (
        pytest.approx(4 * np.pi, abs=1e-11))
    with pytest.raises(SimulationError, match="has its coordinates, the first part of x"):
        nhmech.dynamics(load_system("vertical_disk")).pose


def test_vectors_of_another_length_are_refused_with_the_names_of_the_right_one():
    """One number serves for all, as in CasADi, and a matrix has a vector in each column."""
    f = nhmech.dynamics(shipped("differential_drive"))
    x, u = np.zeros((f.nx, 1)), np.zeros(f.nu)
    x[6] = 1.0
    for call in (lambda *given: f(0.0, *given), lambda *given: f.step(0.0, *given, 1e-3)):
        for given in ((np.zeros(f.nx - 1), u), ([0.0] * (f.nx + 1), u), (ca.SX.sym("x", 4), u)):
            with pytest.raises(InputError, match=r"x has shape \(.*\), expected \(11,\): x, y, z"):
                call(*given)
        with pytest.raises(InputError, match=r"u has shape \(3,\), expected \(2,\): left_wheel"):
            call(x, np.zeros(3))
        columns = call(np.hstack([x, x]), 0.0).full()
        np.testing.assert_array_equal(columns, np.hstack([call(x, u).full()] * 2))
