"""The two-wheeled inverted pendulum with the numbers of the NXTway-GS."""

from __future__ import annotations

import numpy as np
import pytest
from runs import attitude, residuals
from scipy.integrate import solve_ivp

import nhmech
from nhmech.analysis.linearise import linearise
from nhmech.simulation.integration.integrators import projection_function, rate_function
from nhmech.simulation.state_vector import StateVector
from nhmech.vehicle.reactions import reactions

LEFT, RIGHT = "left_wheel_joint", "right_wheel_joint"
G, M, R, BODY, W, L, J_W, J_PSI, J_PHI = (9.81, 0.03, 0.04, 0.6, 0.14, 0.072, 2.4e-5, 0.0010368,
                                          0.00106)
J_DIAMETRAL = 1.2e-5


def mechanical(diametral: float) -> tuple[np.ndarray, np.ndarray, float]:
    """(theta'', psi'') per psi, and per unit torque on each wheel, and yaw'' per unit of
    half the difference of the torques.

    theta is the mean absolute angle of the wheels, psi the pitch of the body: E (theta'', psi'') =
    (2 tau, M g L psi - 2 tau). Y. Yamamoto, NXTway-GS, with the motors left out, which has no
    `diametral` moment of inertia of the wheels [kg m^2].
    """
    coupling = BODY * L * R
    E = np.array([[(2 * M + BODY) * R ** 2 + 2 * J_W, coupling], [coupling, BODY * L ** 2 + J_PSI]])
    about_vertical = M * W ** 2 / 2 + J_PHI + W ** 2 / (2 * R ** 2) * J_W + 2 * diametral
    return np.linalg.solve(E,
                           [0, BODY * G * L]), np.linalg.solve(E, [2, -2]), W / R / about_vertical


@pytest.mark.parametrize("diametral", [J_DIAMETRAL, 0.0])
def test_linear_model_about_upright(vehicle, diametral):
    """Rates of the wheels are relative to the body: theta' = wheel' + psi'."""
    pendulum = vehicle("pendulum")
    pendulum = pendulum.with_parameters({f"{side}_wheel.{entry}": diametral
                                         for side in ("left", "right")
                                         for entry in ("Ixx", "Izz")})
    linear = linearise(pendulum, pendulum.configuration(), np.zeros(3))
    assert np.abs(linear.drift).max() < 1e-12
    assert linear.inputs == (LEFT,
                             RIGHT) and set(linear.names) == {"pitch", LEFT, RIGHT, "pitch_rate"}
    by = {name: i for i, name in enumerate(linear.names)}
    dpsi, dtorque, dyaw = mechanical(diametral)
    for found, wanted in ((linear.A[:, by["pitch"]], dpsi), (linear.B @ [1, 1], dtorque)):
        for wheel in (LEFT, RIGHT):
            assert found[by[wheel]] + found[by["pitch_rate"]] == pytest.approx(wanted[0], rel=1e-10)
        assert found[by["pitch_rate"]] == pytest.approx(wanted[1], rel=1e-10)
    apart = linear.B @ [-1, 1]
    assert R / W * (apart[by[RIGHT]] - apart[by[LEFT]]) == pytest.approx(dyaw, rel=1e-10)
    assert apart[by["pitch_rate"]] == pytest.approx(0, abs=1e-10 * dyaw)
    unstable = np.sqrt(dpsi[1])
    np.testing.assert_allclose(np.sort(linear.eigenvalues.real), [-unstable, 0, 0, unstable],
                               rtol=1e-10, atol=1e-10)


def test_linear_model_of_the_reference_case(case):
    expected = case("segway")["expected"]["mechanical"]
    dpsi, dtorque, dyaw = mechanical(0.0)
    np.testing.assert_allclose(dpsi, expected["dpsi"], rtol=1e-12)
    np.testing.assert_allclose(dtorque, expected["dtorque"], rtol=1e-12)
    assert dyaw == pytest.approx(expected["dyaw"], rel=1e-12)


def torques(t: float) -> np.ndarray:
    """Of the reference case: left 0.01 sin 4t, right 0.012 sin 4t + 0.002 [N m]."""
    return np.array([0.01 * np.sin(4 * t), 0.012 * np.sin(4 * t) + 0.002])


def started(simulator, start) -> None:
    """Forward speed v and yaw rate are about the vertical; wheel rates are relative to the body."""
    v, turn, pitch_rate = start["v"], start["yaw_rate"], start["pitch_rate"]
    simulator.reset((start["x"], start["y"], R, 0.0, start["pitch"], start["yaw"]), xi={
        "pitch_rate": pitch_rate, LEFT: (v - turn * W / 2) / R - pitch_rate,
        RIGHT: (v + turn * W / 2) / R - pitch_rate})


def readings(x: np.ndarray, q: np.ndarray, v: np.ndarray) -> list[float]:
    heading, roll, pitch = attitude(q)
    assert abs(roll) < 1e-12
    forward = v[0] * np.cos(pitch) + v[2] * np.sin(pitch)
    turn = v[5] * np.cos(pitch) - v[3] * np.sin(pitch)
    return [q[0], q[1], heading, pitch, forward, turn, v[4], *x[7:9]]


STATE = ("x", "y", "yaw", "pitch", "v", "yaw_rate", "pitch_rate", "wheel_left_rel",
         "wheel_right_rel")


def test_equations_of_motion_along_the_reference_case(vehicle, case):
    """Torques that vary continuously: the compiled right-hand side is integrated by SciPy alone."""
    reference, pendulum = case("segway"), vehicle("pendulum")
    tolerance, samples = reference["tolerance"], reference["expected"]["samples"]
    simulator = nhmech.Simulator(pendulum)
    started(simulator, reference["initial_state"]["nonlinear"])
    vector = StateVector(pendulum.algebroid, 3)
    rhs, project = rate_function(pendulum.equations), projection_function(pendulum.equations)
    start = vector.assemble(simulator.state.q, np.array(simulator.state.xi))
    solution = solve_ivp(lambda t, x: rhs(t, x, torques(t), []).full().ravel(),
                         (0, samples[-1]["t"]), start,
                         method="DOP853", t_eval=[s["t"] for s in samples], rtol=1e-12, atol=1e-13)
    assert solution.success
    for sample, x in zip(samples, solution.y.T):
        x, q, v, _ = (part.full().ravel() for part in project(sample["t"], x, []))
        np.testing.assert_allclose(readings(x, q, v), [sample[name] for name in STATE], rtol=0,
                                   atol=tolerance["state"], err_msg=f"t = {sample['t']}")
        ground = reactions(pendulum, sample["t"], q, v, torques(sample["t"]))
        by = ground.components
        found = [by[LEFT]["normal"], by[RIGHT]["normal"], by[LEFT]["longitudinal"],
                 by[RIGHT]["longitudinal"], by[LEFT]["lateral"] + by[RIGHT]["lateral"]]
        wanted = [sample[f"{name}"] for name in ("normal_left", "normal_right", "longitudinal_left",
                                                 "longitudinal_right", "lateral_total")]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance["force"],
                                   err_msg=f"forces at t = {sample['t']}")


def test_step_loop_converges_to_the_reference_case(vehicle, case):
    """Torques held from step to step, taken at the middle of each:
    an error in dt^2 alone, which extrapolation takes out."""
    reference, pendulum = case("segway"), vehicle("pendulum")
    last = reference["expected"]["samples"][-1]
    found = []
    for dt in (2.5e-4, 1.25e-4):
        simulator = nhmech.Simulator(pendulum, lambda t, state: torques(t + dt / 2), dt=dt)
        started(simulator, reference["initial_state"]["nonlinear"])
        run = simulator.run(last["t"])
        slip, height = residuals(pendulum, run)
        assert slip.max() <= 1e-12 and height.max() <= 1e-12
        x = np.r_[np.zeros(7), run.angles[-1]]
        found.append(np.array(readings(x, run.q[-1], run.v[-1])))
    wanted = np.array([last[name] for name in STATE])
    errors = np.abs(found - wanted).max(axis=1)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.01)
    np.testing.assert_allclose((4 * found[1] - found[0]) / 3, wanted, rtol=0, atol=5e-9)


def test_energy_of_a_falling_pendulum_is_constant(vehicle):
    pendulum = vehicle("pendulum")
    simulator = nhmech.Simulator(pendulum, dt=1e-4)
    simulator.reset((0, 0, R, 0.0, 0.1, 0.3), xi={"pitch_rate": 0.2, LEFT: 3.0, RIGHT: 5.0})
    run = simulator.run(0.5, every=50)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-10 * np.abs(run.energy).max()
