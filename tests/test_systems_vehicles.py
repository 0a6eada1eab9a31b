"""The wheeled and rolling systems of the literature against the reference cases and second
derivations."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from nhmech.errors import MechanicsError
from nhmech.mechanics.algebroid import rotation
from nhmech.systems import (
    car_with_trailers,
    differential_drive,
    rattleback,
    roller_racer,
    snakeboard,
    two_wheeled_pendulum,
)
from nhmech.systems.example import Example, solve


@pytest.mark.parametrize("module", [rattleback, snakeboard, roller_racer, two_wheeled_pendulum,
                                    differential_drive, car_with_trailers])
def test_an_unknown_parameter_is_refused_by_name(module):
    with pytest.raises(MechanicsError, match="wheelspin"):
        module.example(wheelspin=1.0)


def multipliers(example: Example, t: float, q, xi, u) -> dict[str, float]:
    equations = example.equations()
    lam = equations.multipliers(t, q, xi, u, example.constrained.parameters).full().ravel()
    return {example.constrained.distribution.names[i]: value
            for i, value in zip(equations.frame.kept, lam)}


def along(example: Example, expected: list[dict], start: dict, u=None):
    """(sample, t, q by name, v by name, q, xi) of a run at the times of the samples."""
    times = [sample["t"] for sample in expected]
    space, equations = example.constrained.system.algebroid, example.equations()
    for sample, q, xi in zip(expected, *solve(example, times, start=start, u=u, rtol=1e-13)):
        v = equations.velocity(sample["t"], q, xi, example.constrained.parameters).full().ravel()
        yield sample, dict(zip(space.q_names, q)), dict(zip(space.v_names, v)), q, xi


# -- roller racer ----------------------------------------------------------------------------------
def test_roller_racer_with_a_driven_joint(case):
    """The torque that drives the joint is the multiplier of the rheonomic constraint."""
    reference = case("roller_racer")
    example, tolerance = roller_racer.example(driven=True,
                                              **reference["parameters"]), reference["tolerance"]
    start = {"q": (0, 0, 0, 0.5), "xi": (0.0,)}
    for sample, q, v, state, xi in along(example, reference["expected"]["driven"], start):
        found = [q["x"], q["y"], q["yaw"], q["joint"], v["joint"], v["forward_speed"],
                 v["yaw_rate"]]
        wanted = [sample[name] for name in ("x", "y", "theta1", "joint", "joint_rate", "u",
                                            "theta1_rate")]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance["state"],
                                   err_msg=f"t = {sample['t']}")
        if "joint_torque" in sample:
            by = multipliers(example, sample["t"], state, xi, [0])
            wanted = [sample[name] for name in ("lateral_force_rear", "lateral_force_front",
                                                "joint_torque")]
            found = [by["rear"], by["front"], by["joint"]]
            np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance["force"],
                                       err_msg=f"t = {sample['t']}")


def test_roller_racer_with_a_free_joint(case):
    reference = case("roller_racer")
    example, begin = (roller_racer.example(**reference["parameters"]),
                      reference["initial_state"]["free"])
    start = {"q": (0, 0, 0, begin["joint"]), "xi": (begin["u"], begin["theta1_rate"])}
    for sample, q, v, _, _ in along(example, reference["expected"]["free"], start):
        found = [q["x"], q["y"], q["yaw"], q["joint"], v["yaw_rate"], v["joint"]]
        wanted = [sample[name] for name in ("x", "y", "theta1", "joint", "theta1_rate",
                                            "joint_rate")]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=reference["tolerance"]["state"],
                                   err_msg=f"t = {sample['t']}")


# -- differential drive ----------------------------------------------------------------------------
def test_differential_drive_of_the_reference_case(case):
    reference = case("diffdrive_coast")
    p, begin, tolerance = (reference["parameters"], reference["initial_state"],
                           reference["tolerance"])
    example = differential_drive.example(
        mass=p["chassis_mass"], ahead=p["com_x"], inertia=p["Izz"], radius=p["wheel_radius"],
        half_track=p["half_track"], wheel_mass=p["wheel_mass"],
        spin_inertia=p["wheel_spin_inertia"],
        wheel_inertia=p["wheel_diametral_inertia"])
    start = {"q": (0, 0, 0, 0, 0), "xi": (begin["v"], begin["yaw_rate"])}
    for sample, q, v, state, xi in along(example, reference["expected"]["samples"], start):
        theta = example.constrained.parameters
        rates = example.equations().acceleration(sample["t"], state, xi, [0, 0],
                                                 theta).full().ravel()
        found = [q["x"], q["y"], q["yaw"], v["forward_speed"], v["yaw_rate"], q["left"], q["right"],
                 rates[0], rates[2]]
        wanted = [sample[name] for name in ("x", "y", "yaw", "v", "yaw_rate", "wheel_left",
                                            "wheel_right", "v_dot", "yaw_acc")]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance["state"],
                                   err_msg=f"t = {sample['t']}")
        by = multipliers(example, sample["t"], state, xi, [0, 0])
        wanted = [sample[name] for name in ("longitudinal_left", "longitudinal_right",
                                            "lateral_total")]
        np.testing.assert_allclose([by["left"], by["right"], by["lateral"]], wanted, rtol=0,
                                   atol=tolerance["force"])


# -- two-wheeled pendulum --------------------------------------------------------------------------
def pendulum(p: dict, **changes: float) -> Example:
    numbers = dict(mass=p["M"], above=p["L"], roll_inertia=p["body_roll_inertia"],
                   pitch_inertia=p["Jpsi"],
                   yaw_inertia=p["Jphi"], radius=p["R"], half_track=p["W"] / 2, wheel_mass=p["m"],
                   spin_inertia=p["Jw"], wheel_inertia=p["wheel_diametral_inertia"], gravity=p["g"])
    return two_wheeled_pendulum.example(**numbers | changes)


def test_two_wheeled_pendulum_of_the_reference_case(case):
    reference = case("segway")
    begin, tolerance = reference["initial_state"]["nonlinear"], reference["tolerance"]
    example = pendulum(reference["parameters"])

    def u(t):
        return 0.01 * np.sin(4 * t), 0.012 * np.sin(4 * t) + 0.002

    start = {"q": (0, 0, begin["yaw"], begin["pitch"], 0, 0),
             "xi": (begin["v"], begin["yaw_rate"], begin["pitch_rate"])}
    for sample, q, v, state, xi in along(example, reference["expected"]["samples"], start, u):
        found = [q["x"], q["y"], q["yaw"], q["pitch"], q["left"], q["right"], v["forward_speed"],
                 v["yaw_rate"], v["pitch"]]
        wanted = [sample[name] for name in ("x", "y", "yaw", "pitch", "wheel_left_rel",
                                            "wheel_right_rel", "v", "yaw_rate", "pitch_rate")]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance["state"],
                                   err_msg=f"t = {sample['t']}")
        by = multipliers(example, sample["t"], state, xi, u(sample["t"]))
        wanted = [sample[name] for name in ("longitudinal_left", "longitudinal_right",
                                            "lateral_total")]
        np.testing.assert_allclose([by["left"], by["right"], by["lateral"]], wanted, rtol=0,
                                   atol=tolerance["force"])


def linear(example: Example, voltage: float = 0.0,
           back: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A, B of (mean wheel angle, pitch, yaw and their rates) about upright rest;
    torques are voltage * volts - back * wheel rate."""
    system, theta = example.constrained.system, example.constrained.parameters
    p = dict(zip(system.theta_names, theta))
    # theta, psi, yaw, theta', psi', yaw'
    x, volts = ca.SX.sym("x", 6), ca.SX.sym("volts", 2)
    apart = p["half_track"] / p["radius"] * ca.vertcat(-x[5], x[5])
    torque = voltage * volts - back * (x[3] - x[4] + apart)
    _, rates = example.equations().drift(0, ca.vertcat(0, 0, x[2], x[1], 0, 0),
                                         ca.vertcat(p["radius"] * x[3], x[5], x[4]), torque, theta)
    flow = ca.vertcat(x[3:], rates[0] / p["radius"], rates[2], rates[1])
    assert system.u_names == ("left", "right")
    A, B = ca.Function("linear", [x, volts],
                       [ca.jacobian(flow, x), ca.jacobian(flow, volts)])(np.zeros(6), np.zeros(2))
    return A.full(), B.full()


def test_linear_model_of_the_nxtway(case):
    """Motors: torque alpha volts - beta (wheel rate against the body), rotors with the inertia n^2
    Jm; its yaw model has thin wheels."""
    reference = case("segway")
    p, expected, tolerance = (reference["parameters"], reference["expected"],
                              reference["tolerance"]["matrices"])
    thin = pendulum(p, rotor_inertia=p["n"] ** 2 * p["Jm"], wheel_inertia=0.0)
    A, B = linear(thin, p["alpha"], p["beta"])
    balance, turn = [0, 1, 3, 4], [2, 5]
    for found, wanted in ((A[np.ix_(balance, balance)], expected["A1"]),
                          (B[balance], expected["B1"]),
                          (A[np.ix_(turn, turn)], expected["A2"]), (B[turn], expected["B2"])):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
    plain, mechanical = pendulum(p, wheel_inertia=0.0), expected["mechanical"]
    A, B = linear(plain, 1.0)
    np.testing.assert_allclose(A[[3, 4], 1], mechanical["dpsi"], rtol=tolerance)
    np.testing.assert_allclose(B[[3, 4]].sum(axis=1), mechanical["dtorque"], rtol=tolerance)
    assert B[5, 1] - B[5, 0] == pytest.approx(mechanical["dyaw"], rel=tolerance)


# -- rattleback ------------------------------------------------------------------------------------
def newton_euler(p: dict, R: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """omega' in the body from J omega' + omega x J omega = r x F, F = m (v' + omega x v + g n),
    v = -omega x r, n' = -omega x n."""
    n, squares = R[2], np.array([p["a"], p["b"], p["c"]]) ** 2
    J = np.array([[p["Ixx"], p["Ixy"], 0], [p["Ixy"], p["Iyy"], 0], [0, 0, p["Izz"]]])
    root, turning = np.sqrt(n @ (squares * n)), -np.cross(omega, n)
    r = np.array([0, 0, p["h"]]) - squares * n / root
    r_rate = -squares * turning / root + squares * n * (n @ (squares * turning)) / root ** 3
    v = -np.cross(omega, r)
    known = p["m"] * (-np.cross(omega, r_rate) + np.cross(omega, v) + p["gravity"] * n)
    across = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    return np.linalg.solve(J - p["m"] * across @ across,
                           np.cross(r, known) - np.cross(omega, J @ omega))


def test_rattleback_by_newton_and_euler():
    example, rng = rattleback.example(), np.random.default_rng(4)
    system, equations, theta = (example.constrained.system, example.equations(),
                                example.constrained.parameters)
    attitude = ca.Function("R", [system.q], [rotation(system.q[3:])])
    p = dict(zip(system.theta_names, theta))
    for q in example.constrained.configurations:
        omega = rng.normal(size=3) * 5
        wanted = newton_euler(p, attitude(q).full(), omega)
        found = equations.acceleration(0, q, omega, [], theta).full().ravel()[3:]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


def test_rattleback_without_skew_does_not_turn_round(monkeypatch):
    """So that it fails its own check, which asks for both: one spin that turns, one that lasts."""
    monkeypatch.setitem(rattleback.NUMBERS, "Ixy", 0.0)
    example = rattleback.example()
    _, xi = solve(example, np.linspace(0, 4, 41), rtol=1e-9)
    assert (xi[:, 2] < -3).all()
    check, = (check for check in example.checks if "reverses" in check.what)
    assert check.error() == 1.0


# -- snakeboard ------------------------------------------------------------------------------------
def test_snakeboard_gains_speed_from_its_rotor_and_trucks():
    """From rest: torques in step make p' = 2 J0 cos^2(back) back' rotor' - ... of one sign;
    without the rotor it stays where it is."""
    example = snakeboard.example()
    start = {"q": (0, 0, 0, 0, 0.05, -0.05), "xi": (0.0, 0.0, 0.0)}
    q, xi = solve(example, [0, 6], start=start,
                  u=lambda t: (0.4 * np.cos(3 * t), 0.06 * np.cos(3 * t)), rtol=1e-10)
    assert abs(xi[-1, 0]) > 0.5
    q, xi = solve(example, [0, 6], start=start, u=lambda t: (0.0, 0.06 * np.cos(3 * t)), rtol=1e-10)
    assert np.abs(q[-1, :3] - q[0, :3]).max() < 1e-12 and np.abs(xi[-1, 0]) < 1e-12


# -- car with trailers -----------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 4])
def test_trailers_on_a_steady_circle(n):
    """All axles run round one centre: radii R_i^2 = R_{i-1}^2 + behind^2 - drawbar^2; no angle and
    no speed changes."""
    example = car_with_trailers.example(n)
    p = dict(zip(example.constrained.system.theta_names, example.constrained.parameters))
    radius, angles = 6.0, []
    for i in range(1, n + 1):
        e, d = p[f"behind_{i}"], p[f"drawbar_{i}"]
        following = np.sqrt(radius ** 2 + e ** 2 - d ** 2)
        angles.append(-np.arctan2(e, radius) - np.arctan2(d, following))
        radius = following
    steer = np.arctan2(p["wheelbase"], 6.0)
    q_rate, xi_rate = example.equations().drift(0, (0, 0, 0.4, steer, *angles), (2.0, 0.0), (0, 0),
                                                example.constrained.parameters)
    assert np.abs(q_rate.full()[4:]).max() < 1e-13 and np.abs(xi_rate.full()).max() < 1e-12


def jourdain(p: dict, n: int, q: np.ndarray, xi: np.ndarray, u: np.ndarray) -> np.ndarray:
    """xi' from sum (m a . dv/dxi + I alpha domega/dxi) = u; velocities follow from positions and
    the closed-form rates of all angles."""
    Q, x, rate = ca.SX.sym("Q", len(q)), ca.SX.sym("x", 2), ca.SX.sym("rate", 2)
    W = x[0] * ca.tan(Q[3]) / p["wheelbase"]
    flow, spin = [x[0] * ca.cos(Q[2]), x[0] * ca.sin(Q[2]), W, x[1]], [W]
    heading, place = Q[2], Q[:2]
    com = place + p["ahead"] * ca.vertcat(ca.cos(heading), ca.sin(heading))
    # None: the steered wheel
    bodies = [(p["mass"], p["inertia"], com, 0), (0, p["steering_inertia"], place, None)]
    V = x[0]
    for i in range(1, n + 1):
        hitch, e, d = Q[3 + i], p[f"behind_{i}"], p[f"drawbar_{i}"]
        place = place - e * ca.vertcat(ca.cos(heading), ca.sin(heading))
        heading = heading + hitch
        place = place - d * ca.vertcat(ca.cos(heading), ca.sin(heading))
        V, W = (V * ca.cos(hitch) - e * W * ca.sin(hitch),
                -(V * ca.sin(hitch) + e * W * ca.cos(hitch)) / d)
        flow.append(W - spin[-1])
        spin.append(W)
        bodies.append((p[f"mass_{i}"], p[f"inertia_{i}"],
                       place + p[f"ahead_{i}"] * ca.vertcat(ca.cos(heading), ca.sin(heading)), i))
    flow, balance = ca.vertcat(*flow), -ca.SX(u)
    for m, inertia, centre, i in bodies:
        v = ca.vertcat(ca.jtimes(centre, Q, flow), spin[0] + x[1] if i is None else spin[i])
        a = ca.jtimes(v, Q, flow) + ca.jtimes(v, x, rate)
        balance += ca.jacobian(v, x).T @ (ca.vertcat(m, m, inertia) * a)
    M = ca.jacobian(balance, rate)
    return ca.Function("xi_rate", [Q, x],
                       [-ca.solve(M, ca.substitute(balance, rate, ca.SX.zeros(2)))])(
        q, xi).full().ravel()


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_cars_by_jourdain(n):
    example, rng = car_with_trailers.example(n), np.random.default_rng(n)
    p = dict(zip(example.constrained.system.theta_names, example.constrained.parameters))
    for q in example.constrained.configurations:
        xi, u = rng.normal(size=2), rng.normal(size=2) * 50
        found = example.equations().drift(0, q, xi, u,
                                          example.constrained.parameters)[1].full().ravel()
        wanted = jourdain(p, n, q, xi, u)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())


def test_a_car_has_no_half_trailer():
    for n in (-1, 1.5):
        with pytest.raises(MechanicsError, match=str(n)):
            car_with_trailers.example(n)


def test_a_snakeboard_has_two_kinds_of_trucks():
    with pytest.raises(MechanicsError, match="skates"):
        snakeboard.example("skates")


def test_on_independent_trucks_a_snakeboard_obeys_its_momentum_equation():
    """Its middle moves sideways then, which it does not on coupled ones."""
    for check in snakeboard.example("independent", J=0.11).checks:
        assert check.error() <= check.tolerance, check.what
