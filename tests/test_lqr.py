"""Linear-quadratic regulators: closed forms, optimality, and runs of the vehicles themselves."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import at_length, shipped

import nhmech
from nhmech.control.lqr import LQR, depends_on, input_scales, steady_motion
from nhmech.control.riccati import discretise, read_weights, regulator
from nhmech.control.steady_reference import SteadyReference
from nhmech.control.tracking_lqr import TrackingLQR, riccati_backwards
from nhmech.mechanics.algebroid import euclidean
from nhmech.mechanics.writing import constrain, lagrangian_system
from nhmech.simulation.state import base_pose

DOUBLE = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])      # x'' = u


def solve(A, B, Q, R, **more):
    return regulator(A, B, Q, R, names=[f"x{i}" for i in range(len(A))],
                     inputs=[f"u{i}" for i in range(B.shape[1])], **more)


@pytest.mark.parametrize("q, r", [(1.0, 1.0), (4.0, 0.25), (1e-3, 50.0)])
def test_double_integrator_in_closed_form(q, r):
    """int q x^2 + r u^2: K = (w^2, sqrt(2) w) with w^4 = q / r, a Butterworth pair; x seen
    alone."""
    K, P = solve(*DOUBLE, np.diag([q, 0.0]), np.diag([r]))
    w = (q / r) ** 0.25
    np.testing.assert_allclose(K, [[w ** 2, np.sqrt(2) * w]], rtol=1e-10)
    np.testing.assert_allclose(P,
                               r * np.array([[np.sqrt(2) * w ** 3, w ** 2],
                                             [w ** 2, np.sqrt(2) * w]]), rtol=1e-10)


def held_inputs():
    rng, h = np.random.default_rng(0), 0.2
    system = (rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), np.diag([1.0, 2.0, 0.5]),
              np.diag([0.3, 1.0]))
    return rng, h, system, discretise(*system, h)


def test_the_sampled_cost_is_the_integral():
    rng, h, (A, B, Q, R), (_, _, Qd, Nd, Rd) = held_inputs()
    x, u = rng.normal(size=3), rng.normal(size=2)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    total = 0.0
    for node, weight in zip(nodes, weights):
        Ai, Bi, *_ = discretise(A, B, Q, R, h * (1 + node) / 2)
        y = Ai @ x + Bi @ u
        total += weight * h / 2 * (y @ Q @ y + u @ R @ u)
    assert x @ Qd @ x + 2 * x @ Nd @ u + u @ Rd @ u == pytest.approx(total, rel=1e-12, abs=0)


def test_held_inputs():
    """K with a period beats every other gain that is held as long."""
    rng, h, (A, B, Q, R), (Ad, Bd, Qd, Nd, Rd) = held_inputs()
    x = rng.normal(size=3)
    K, P = solve(A, B, Q, R, period=h)

    def cost(gain):
        closed, value, factor = Ad - Bd @ gain, 0.0, x
        for _ in range(4000):
            v = -gain @ factor
            value += factor @ Qd @ factor + 2 * factor @ Nd @ v + v @ Rd @ v
            factor = closed @ factor
        return value

    assert cost(K) == pytest.approx(x @ P @ x, rel=1e-9)
    for _ in range(5):
        assert cost(K + 1e-2 * rng.normal(size=K.shape)) > x @ P @ x
    continuous = solve(A, B, Q, R)[0]
    errors = [np.abs(solve(A, B, Q, R, period=period)[0] - continuous).max()
              for period in (2e-3, 1e-3)]
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.1) and errors[1] < 0.05


def test_what_cannot_be_stabilised_is_named():
    A, B = np.diag([0.5, -1.0, 0.0]), np.array([[1.0], [1.0], [0.0]])
    with pytest.raises(nhmech.errors.ModelError, match=r"no input \(thrust\) reaches drift, "
                                                       r"a mode with eigenvalue 0 1/s"):
        regulator(A, B, np.eye(3), np.eye(1), names=["tilt", "calm", "drift"], inputs=["thrust"])
    with pytest.raises(nhmech.errors.ModelError, match="cost does not see drift"):
        regulator(A, np.eye(3), np.diag([1.0, 1.0, 0.0]), np.eye(3),
                  names=["tilt", "calm", "drift"], inputs=["a", "b", "c"])
    with pytest.raises(nhmech.errors.ModelError,
                       match=r"reaches wave\w+, wave\w+, a mode with eigenvalue 0.1 .2i"):
        regulator(np.array([[0.1, 2.0], [-2.0, 0.1]]), np.zeros((2, 1)), np.eye(2), np.eye(1),
                  names=["wave_a", "wave_b"], inputs=["u"])


def test_weights_and_periods_are_judged():
    assert read_weights(None, ["roll"]) == {}
    assert read_weights({"roll": 0.0}, ["roll"]) == {"roll": 0.0}
    for weights, said in (({"lean": 1.0}, "weights: state 'lean' does not exist"),
                          ({"roll": -1.0}, "weights: roll = -1.0 must be a weight, zero or more")):
        with pytest.raises(nhmech.InputError, match=said):
            read_weights(weights, ["roll", "yaw"])
    for period in (0.0, -0.1):
        with pytest.raises(nhmech.InputError, match=f"period = {period} must be a positive time"):
            solve(*DOUBLE, np.eye(2), np.eye(1), period=period)


def test_what_decays_by_itself_needs_neither_input_nor_weight():
    """Beside x' = a x + u, whose gain is a + sqrt(a^2 + q/r)."""
    K, _ = solve(np.diag([0.5, -1.0]), np.array([[1.0], [0.0]]), np.diag([3.0, 0.0]), np.eye(1))
    np.testing.assert_allclose(K, [[0.5 + np.sqrt(0.25 + 3.0), 0.0]], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("share, is_lost", [(0.9, True), (1.1, False)])
def test_a_mode_is_lost_below_a_millionth_of_the_system(share, is_lost):
    """What hardly decays, and what an input hardly moves."""
    def outcome(A, B):
        try:
            solve(np.array(A), np.array(B), np.eye(2), np.eye(1))
        except nhmech.ModelError as error:
            return str(error)
        return ""

    small = share * 1e-6
    # |A, B| is 1: an eigenvalue of -small
    assert ("reaches x0, a mode with eigenvalue -9e-07 1/s" in outcome(
        [[-small, 0.0], [0.0, -0.6]], [[0.0], [0.8]])) == is_lost
    # the least singular value of [A - 0.6 I, B] is small
    push = np.sqrt(0.28)
    assert ("reaches x0, a mode with eigenvalue 0.6 1/s" in outcome(
        [[0.6, 0.0], [0.0, -0.6]], [[small * np.hypot(1.2, push) / 1.2], [push]])) == is_lost


@pytest.mark.parametrize("share, parts", [(0.299, "x0"), (0.302, "x0, x1"), (3.31, "x1, x0"),
                                          (3.35, "x1")])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_mode_is_told_by_what_has_most_of_it(share, parts, sign):
    """States with three tenths of the largest part, the largest first."""
    mode = np.array([1.0, sign * share])
    across = np.array([-sign * share, 1.0])
    A = (0.5 * np.outer(mode, mode) - 2.0 * np.outer(across, across)) / (1 + share ** 2)
    with pytest.raises(nhmech.ModelError, match=f"reaches {parts}, a mode with eigenvalue 0.5 1/s"):
        solve(A, np.zeros((2, 1)), np.eye(2), np.eye(1))
    still = np.array([[0.0, 0.7], [-0.7, 0.0]])
    with pytest.raises(nhmech.ModelError, match=r"see x., x. of the system, a mode with eigenvalue "
                                                r"0 [+-]0.7i 1/s that does not"):
        solve(still, np.eye(2), np.zeros((2, 2)), np.eye(2))


@pytest.mark.parametrize("growth", [0.0, 0.3])
def test_an_oscillation_that_a_control_period_hides_is_told(growth):
    """What is held for the period of an oscillation, or twice as long, moves it out and back."""
    A, B = np.array([[growth, 3.0], [-3.0, growth]]), np.array([[0.0], [1.0]])
    for turns in (1, 2):
        with pytest.raises(nhmech.ModelError, match="no regulator was found for the swing: the "
                                                    "Riccati equation of x0, x1 .* the period"):
            solve(A, B, np.eye(2), np.eye(1), period=turns * 2 * np.pi / 3, of="the swing")
        h = 0.99 * turns * 2 * np.pi / 3
        K, _ = solve(A, B, np.eye(2), np.eye(1), period=h)
        Ad, Bd, *_ = discretise(A, B, np.eye(2), np.eye(1), h)
        assert np.abs(np.linalg.eigvals(Ad - Bd @ K)).max() < 1


@pytest.mark.parametrize("second", [1.0, 1e-4, 1e4])
@pytest.mark.parametrize("period", [1e-6, 1e-3, 1.0])
def test_what_is_slow_to_control_is_held_at_any_period(period, second):
    """x' = b u beside a state that is moved fast: what has decayed after a period is little, not
    nothing."""
    b = 2e-5
    A, B = second * np.diag([0.0, -1.0]), second * np.array([[b], [1.0]])
    K, _ = solve(A, B, second * np.eye(2), second * np.eye(1), period=period / second)
    Ad, Bd, *_ = discretise(A, B, np.eye(2), np.eye(1), period / second)
    slowest = 1 - np.abs(np.linalg.eigvals(Ad - Bd @ K)).max()
    assert 0.5 * b < slowest / period < b


@pytest.mark.parametrize("second", [1e-9, 1e9])
def test_another_unit_of_time_changes_no_gain(second):
    """A, B, Q and R are all per second; nor is a mode lost that nothing reaches."""
    rng = np.random.default_rng(5)
    A, B, Q, R = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), np.eye(4), np.eye(2)
    np.testing.assert_allclose(solve(A * second, B * second, Q * second, R * second)[0],
                               solve(A, B, Q, R)[0], rtol=1e-10)
    A, B = np.diag([0.5, 0.2]), np.array([[1.0], [0.0]])
    with pytest.raises(nhmech.errors.ModelError, match=r"reaches x1, .* 2e(.08|-10) 1/s"):
        solve(A * second, B * second, np.eye(2) * second, np.eye(1) * second)
    assert depends_on(rng.normal(size=(3, 3)) * second, [0]) == [0, 1, 2]


def test_a_vehicle_that_is_pushed_straight_has_the_gains_of_a_cart():
    """x'' = b (u1 + u2) of two motors that share the effort: in their sum, half the weight."""
    vehicle = shipped("carriage", speeds=("forward_speed", "yaw_rate"))
    made = LQR(vehicle, keep="forward", weights={"forward": 3.0}, effort=0.7)
    place, speed = (made.names.index(name) for name in ("forward", "forward_speed"))
    b = made.B[speed]
    np.testing.assert_allclose(b, b[0], rtol=1e-9)
    q, p, r = made.Q[place, place], made.Q[speed, speed], made.R[0, 0] / 2
    gains = np.sqrt(q / r), np.sqrt(p / r + 2 * np.sqrt(q / r) / b[0])
    np.testing.assert_allclose(made.K[:, [place, speed]], np.full((2, 2), gains) / 2, rtol=1e-9)
    assert made.commanded_twist is None and made.reference_input.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name, twist", [("ackermann_car", (2.0, 0.0, 0.3)),
                                         ("pendulum", (0.3, 0.0, 0.5))])
def test_along_a_steady_motion_nothing_is_displaced(name, twist):
    """Wherever it has got to, turned by then and rolled; beside it, by what it is beside it."""
    vehicle = shipped(name)
    motion = steady_motion(vehicle, twist)
    v = vehicle.equations.velocity(0.0, motion.q, motion.xi, vehicle.theta).full().ravel()
    reference = SteadyReference(vehicle, motion.q, v, heading=True, place=True)
    simulator = nhmech.Simulator(vehicle, lambda t, state: motion.xi, mode="kinematic", dt=2e-3)
    simulator.reset(q=motion.q)
    for _ in range(3):
        simulator.run(0.5)
        t, state = simulator.t, simulator.state
        np.testing.assert_allclose(reference.displacement(t, state, lambda name: True), 0.0,
                                   atol=1e-9)
        for heading, place in ((True, False), (False, True), (False, False)):
            other = SteadyReference(vehicle, motion.q, v, heading=heading, place=place)
            np.testing.assert_allclose(other.displacement(t, state, lambda name: True), 0.0,
                                       atol=1e-9)
        later = reference.displacement(t + 0.01, state, lambda name: True)
        np.testing.assert_allclose(later, -0.01 * v, rtol=0.02, atol=1e-4)


@pytest.mark.parametrize("ground", [nhmech.Ground(), nhmech.Ground(normal=(-0.3, 0.2, 1.0))])
def test_a_reference_without_a_place_turns_and_moves_with_the_vehicle(ground):
    """Along the ground and about its normal; with a heading it does not turn."""
    vehicle = shipped("carriage", ground)
    simulator = nhmech.Simulator(vehicle)
    q, still = simulator.reset().q, np.zeros(vehicle.algebroid.nv)
    for yaw in (0.4, -2.0, 3.0):
        state = simulator.reset(pose=(0.7, -0.4, yaw))
        free = SteadyReference(vehicle, q, still).displacement(0.0, state)
        np.testing.assert_allclose(free, 0.0, atol=1e-12)
        held = SteadyReference(vehicle, q, still, heading=True).displacement(0.0, state)
        turned = base_pose(q)[:3, :3].T @ state.T_WB[:3, :3]
        np.testing.assert_allclose(held[:3], 0.0, atol=1e-12)
        np.testing.assert_allclose(pin.exp3(held[3:6]), turned, atol=1e-12)
        place = SteadyReference(vehicle, q, still, place=True).displacement(0.0, state)
        np.testing.assert_allclose(place[:3], state.T_WB[:3, :3].T @ (
            state.T_WB[:3, 3] - base_pose(q)[:3, 3]), rtol=0, atol=1e-12)


def test_whole_turns_count_where_they_are_asked_for():
    """Of a wheel that turns right round; those of a steering joint always do."""
    vehicle, angle = shipped("ackermann_car"), 7.0
    q = vehicle.configuration()
    reference = SteadyReference(vehicle, q, np.zeros(vehicle.algebroid.nv))
    state = SimpleNamespace(T_WB=base_pose(q), joint_position=dict.fromkeys(vehicle.joint_names,
                                                                            angle))
    for counts in (True, False):
        found = reference.displacement(0.0, state, lambda name, counts=counts: counts)
        for name, value in zip(vehicle.joint_names, found[6:]):
            once = counts or "steering" in name
            assert value == pytest.approx(angle if once else angle - 2 * np.pi, abs=1e-12)
    assert reference.displacement(0.0, state)[-1] == pytest.approx(angle - 2 * np.pi, abs=1e-12)


def test_a_lean_is_kept_while_a_reference_turns():
    """Of a disc on a slope, about the normal, whose axle is not level there."""
    vehicle = shipped("disc", nhmech.Ground(normal=(-0.3, 0.2, 1.0)))
    simulator, n = nhmech.Simulator(vehicle), vehicle.placer.normal
    q = simulator.reset((0.0, 0.0, 0.0, 0.4, 0.0, 0.7)).q
    reference = SteadyReference(vehicle, q, np.zeros(vehicle.algebroid.nv))
    for angle in (0.5, -2.0, 3.0):
        turned = q.copy()
        turned[3:7] = (pin.Quaternion(pin.exp3(angle * n)) * pin.Quaternion(q[3:7])).coeffs()
        np.testing.assert_allclose(reference.displacement(0.0, simulator.reset(q=turned)), 0.0,
                                   atol=1e-12)


@pytest.mark.parametrize("turn", [3.0, *at_length(-3.0)])
def test_a_steep_turn_is_found_by_degrees(turn):
    """A bicycle at 6 m/s leans by more than 55 degrees, to the inside; nothing changes there."""
    vehicle = shipped("bicycle")
    motion = steady_motion(vehicle, (6.0, 0.0, turn))
    v = vehicle.equations.velocity(0.0, motion.q, motion.xi, vehicle.theta).full().ravel()
    rates = vehicle.equations.drift(0.0, motion.q, motion.xi, motion.u, vehicle.theta)[1]
    assert np.abs(rates.full()).max() < 1e-6
    R = base_pose(motion.q)[:3, :3]
    named = dict(zip(vehicle.algebroid.v_names, v))
    assert named["forward_speed"] == pytest.approx(6.0, rel=1e-9)
    assert named["yaw_rate"] == pytest.approx(turn, rel=1e-9)
    assert np.arcsin(R[2, 1]) * np.sign(turn) < -np.deg2rad(55)


def test_states_that_others_depend_on():
    A = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]], dtype=float)
    assert (depends_on(A, [0]) == [0, 1, 2] and depends_on(A, [3]) == [0, 1, 2, 3]
            and depends_on(A, [0], without=[2]) == [0, 1])
    for small, found in ((0.9e-9, [0]), (1.1e-9, [0, 1])):       # of the largest
        assert depends_on(np.array([[0, small], [0, 1]]) * 50, [0]) == found
    assert depends_on(np.zeros((2, 2)), [1]) == [1]


@pytest.mark.parametrize("name, twist, keep", [
    ("pendulum", None, ""), ("pendulum", None, "forward yaw"),
    ("differential_drive", (0.5, 0, 0.5), "lateral"),
    ("bicycle", (3, 0, 0), "lateral"), ("bicycle", (6, 0, 0.3), ""),
    ("ackermann_car", (2, 0, 0.2), "lateral"),
    ("mecanum", (0.2, 0.1, 0.0), "forward lateral")])
def test_cost_of_a_run_is_the_cost_to_go(name, twist, keep):
    """The nonlinear run from z0 and that from -z0 cost 2 z0'P z0 but for fourth order:
    linearisation, reading, gain and command agree."""
    vehicle, dt = shipped(name), 5e-3
    regulator_ = LQR(vehicle, twist, keep=keep, period=dt)
    assert np.linalg.eigvals(regulator_.closed_loop).real.max() < -1e-3
    speeds = dict(zip(vehicle.speeds, regulator_.motion.xi))
    rng = np.random.default_rng(1)
    _, _, Q, N, R = discretise(regulator_.A, regulator_.B, regulator_.Q, regulator_.R, dt)
    push = 1e-3 * rng.choice([-1, 1], len(speeds))

    def cost_of(sign: float) -> tuple[float, float]:
        simulator = nhmech.Simulator(vehicle, regulator_, dt=dt)
        start = simulator.reset(q=regulator_.motion.q,
                                xi={key: float(value + sign * p) for (key, value),
                                    p in zip(speeds.items(), push)})
        z0 = regulator_.error(0.0, start)
        steps = int(min(12 / -np.linalg.eigvals(regulator_.closed_loop).real.max(), 16.0) / dt)
        cost = 0.0
        for _ in range(steps):
            z = regulator_.error(simulator.t, simulator.state)
            u = -regulator_.K @ z
            cost += z @ Q @ z + 2 * z @ N @ u + u @ R @ u
            simulator.step()
        z = regulator_.error(simulator.t, simulator.state)
        assert np.linalg.norm(z / regulator_.scales) < 1e-3 * np.linalg.norm(z0 / regulator_.scales)
        return cost + z @ regulator_.P @ z, z0 @ regulator_.P @ z0

    (plus, wanted), (minus, other) = cost_of(1.0), cost_of(-1.0)
    assert (plus + minus) / (wanted + other) == pytest.approx(1, abs=1e-4)


def test_lqr_says_what_to_do():
    pendulum, bicycle = shipped("pendulum"), shipped("bicycle")
    with pytest.raises(nhmech.errors.ModelError, match=r"'pendulum' cannot be stabilised: "
                                                       r".* reaches lateral, .* drop="):
        LQR(pendulum, keep="lateral")
    with pytest.raises(nhmech.errors.ModelError,
                       match="reaches rear_wheel_joint, a mode with eigenvalue 0"):
        LQR(bicycle, (3, 0, 0), inputs="steering_joint")
    coasting = LQR(bicycle, (3, 0, 0), inputs="steering_joint", drop="rear_wheel_joint")
    assert coasting.names == ("roll", "steering_joint", "steering_joint'", "roll_rate")
    for wrong, message in ((dict(keep="sideways"), "keep: displacement 'sideways' does not exist"),
                           (dict(weights={"lean": 1}), "weights: state 'lean' does not exist"),
                           (dict(inputs="engine"), "inputs: joint 'engine' does not exist"),
                           (dict(effort={"x": 1}), "effort: joint 'x' does not exist"),
                           (dict(weights={"pitch": -1}), "weights: pitch = -1.0 must be a weight"),
                           (dict(effort={"left_wheel_joint": 0}), "effort = 0.0 must be a pos"),
                           (dict(period=-0.01), "period = -0.01 must be a positive time")):
        with pytest.raises(nhmech.errors.InputError, match=message):
            LQR(pendulum, **wrong)
    with pytest.raises(nhmech.errors.ModelError, match="has no steady motion with forward_speed "
                                                       "0, lateral_speed 0, yaw_rate 1"):
        LQR(shipped("ackermann_car"), (0, 0, 1))


# -- along a run -----------------------------------------------------------------------------------
def test_backward_riccati_is_the_least_squares_optimum():
    """The whole control sequence at once: minimise a quadratic form of the stacked inputs."""
    rng = np.random.default_rng(2)
    n, nu, N = 3, 2, 12
    A, B = rng.normal(size=(N, n, n)) * 0.6, rng.normal(size=(N, n, nu))
    Q, R, final, x0 = (np.diag([1.0, 0.5, 2.0]), np.diag([0.2, 1.0]), np.diag([3.0, 1.0, 0.0]),
                       rng.normal(size=n))
    K, P = riccati_backwards(A, B, Q, R, final)
    free, forced = [np.eye(n)], [np.zeros((n, N * nu))]
    for k in range(N):
        step = A[k] @ forced[-1]
        step[:, k * nu:(k + 1) * nu] += B[k]
        free.append(A[k] @ free[-1])
        forced.append(step)
    W = [Q] * N + [final]
    H = sum(F.T @ w @ F for F, w in zip(forced, W)) + np.kron(np.eye(N), R)
    g = sum(F.T @ w @ G @ x0 for F, w, G in zip(forced, W, free))
    best = -np.linalg.solve(H, g)
    least = sum(x0 @ G.T @ w @ G @ x0 for G, w in zip(free, W)) + g @ best
    assert x0 @ P[0] @ x0 == pytest.approx(least, rel=1e-10)
    x = x0
    for k in range(N):
        u = -K[k] @ x
        np.testing.assert_allclose(u, best[k * nu:(k + 1) * nu], rtol=0,
                                   atol=1e-10 * np.abs(best).max())
        x = A[k] @ x + B[k] @ u


def test_a_cart_has_the_jacobians_of_the_double_integrator():
    """x'' = u / m, which Runge-Kutta's step gets exactly right."""
    line = euclidean("x")
    body = lagrangian_system(line, lambda s: s.p.mass * s.v.x ** 2 / 2, parameters=("mass",),
                             inputs=("thrust",), force=lambda s: {"x": s.u.thrust})
    cart = SimpleNamespace(
        constrained=constrain(body, {"mass": 2.0}, samples=np.array([[0.0], [1.0]]))
    )
    simulator = nhmech.Simulator(cart, lambda t, state: np.array([np.cos(t)]), dt=0.1)
    simulator.reset(q=np.zeros(1))
    run = simulator.run(2.0)
    tracker = TrackingLQR(cart, run, effort=0.3)
    for A, B in zip(tracker.A, tracker.B):
        np.testing.assert_allclose(A, [[1, 0.1], [0, 1]], rtol=0, atol=1e-14)
        np.testing.assert_allclose(B, [[0.1 ** 2 / 4], [0.1 / 2]], rtol=0, atol=1e-14)
    np.testing.assert_allclose(tracker.P, tracker.P.transpose(0, 2, 1), rtol=0, atol=1e-12)
    assert np.linalg.eigvalsh(tracker.P).min() > 0
    # without lengths of a vehicle all scales are one; thrust of 1 N makes 0.5 m/s in 1 s
    np.testing.assert_allclose(tracker.Q, 0.1 * np.eye(2), rtol=1e-14)
    np.testing.assert_allclose(tracker.R, [[0.1 * 0.3 * 0.5 ** 2]], rtol=1e-12)
    np.testing.assert_allclose(tracker.final, 10 * np.eye(2), rtol=1e-14)
    np.testing.assert_array_equal(tracker.P[-1], tracker.final)
    for t, k in ((0.0, 0), (0.049, 0), (0.051, 1), (1.96, 20), (7.0, 20)):
        found, error = tracker.error(t, simulator.state)
        assert found == k
        np.testing.assert_allclose(error, np.array([run.q[-1, 0], run.xi[-1, 0]]) - tracker.x[k],
                                   rtol=0, atol=1e-15)


def cart_run(start: float = 0.0, size: float = 1.0, **words):
    """x'' = size cos(pi t) + thrust over ten steps of 0.1 s, and the cart of 1 kg."""
    body = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2, inputs=("thrust", "idle"),
                             force=lambda s: {"x": s.u.thrust + size * ca.cos(np.pi * s.t)})
    cart = SimpleNamespace(constrained=constrain(body, {}, samples=np.array([[0.0], [1.0]])))
    simulator = nhmech.Simulator(cart, lambda t, state: np.array([0.3, 0.0]), dt=0.1)
    simulator.reset(q=np.array([start]))
    return cart, simulator.run(1.0, **words)


@pytest.mark.parametrize("start, most", [(0.0, 1e-6), (100.0, 1e-4)])
@pytest.mark.parametrize("share, follows", [(0.995, True), (1.008, False)])
def test_a_record_may_be_missed_by_a_millionth(start, most, share, follows):
    """Of the state, or of one where that is less."""
    cart, run = cart_run(start)
    q = run.q.copy()
    q[-1] += share * most
    off = replace(run, q=q)
    if follows:
        assert TrackingLQR(cart, off).x[-1, 0] == q[-1, 0]
        return
    with pytest.raises(nhmech.InputError, match=r"from the record at t = 0.9 s miss the next one "
                                                r"by (1.01e-06|0.000101). Record"):
        TrackingLQR(cart, off)


def test_a_record_of_several_steps_has_their_jacobians():
    """A step after the other, each at its own time: of x'' = u two have [[1, 2 h], [0, 1]]."""
    cart, run = cart_run(every=2)
    tracker, h = TrackingLQR(cart, run, dt=0.1), 0.1
    assert len(tracker.K) == 5 and len(tracker.x) == 6
    for A, B in zip(tracker.A, tracker.B):
        np.testing.assert_allclose(A, [[1, 2 * h], [0, 1]], rtol=0, atol=1e-14)
        np.testing.assert_allclose(B, [[2 * h * h, 0], [2 * h, 0]], rtol=0, atol=1e-14)
    np.testing.assert_allclose(tracker.Q, 2 * h * np.eye(2), rtol=1e-12)
    np.testing.assert_allclose(tracker.final, 10 * np.eye(2), rtol=1e-12)
    # also of an input that moves nothing
    np.testing.assert_allclose(tracker.R, 2 * h * 0.1 * np.eye(2), rtol=1e-12)
    for t, k in ((-1.0, 0), (0.0, 0), (0.149, 0), (0.151, 1), (0.349, 1), (0.351, 2)):
        assert tracker.error(t, SimpleNamespace(q=run.q[0], xi={"x'": 0.0}))[0] == k


def test_what_comes_after_an_interval_that_is_no_step_is_left_out():
    """Records at 0, 0.3, 0.6, 0.9 s, and the run's end at 1.0 s."""
    cart, run = cart_run(size=0.0, every=3)
    assert run.t[-1] == pytest.approx(1.0, rel=1e-12)
    tracker = TrackingLQR(cart, run)
    assert (len(tracker.K), len(tracker.x), tracker.dt) == (3, 4,
                                                            pytest.approx(0.3, rel=1e-12, abs=0))
    assert tracker.error(9.0, SimpleNamespace(q=run.q[0], xi={"x'": 0.0}))[0] == 3
    assert len(TrackingLQR(cart, run, dt=0.1).K) == 4
    with pytest.raises(nhmech.InputError, match="lie 0.3 s apart, no multiple of dt = 0.2999 s"):
        TrackingLQR(cart, run, dt=0.2999)
    with pytest.raises(nhmech.InputError, match="miss the next one"):
        TrackingLQR(*cart_run(every=3))          # as steps of 0.3 s


def test_scales_are_those_of_the_docstring():
    """Length, 0.3 rad and the way that a wheel rolls, for speeds per sqrt(length / gravity)."""
    bicycle, given = shipped("bicycle"), {"roll": 3.0, "steering_joint'": 5.0}
    regulator_ = LQR(bicycle, (3, 0, 0), keep="lateral", weights=given,
                     effort={"steering_joint": 7})
    length = bicycle.steering.length
    rate, radius = np.sqrt(9.81 / length), bicycle.description.wheels[0].radius
    known = {"forward": length, "lateral": length, "yaw": 0.3, "roll": 0.3, "roll_rate": 0.3 * rate,
             "steering_joint": 0.3, "steering_joint'": 0.3 * rate, "yaw_rate": 0.3 * rate,
             "forward_speed": length * rate, "rear_wheel_joint": length / radius,
             "rear_wheel_joint'": length / radius * rate}
    scales = np.array([known[name] for name in regulator_.names])
    np.testing.assert_allclose(regulator_.scales, scales, rtol=1e-12)
    weights = [given.get(name, 1.0) for name in regulator_.names]
    np.testing.assert_allclose(regulator_.Q, np.diag(weights / scales ** 2), rtol=1e-12)
    efforts = [7.0 if name == "steering_joint" else 1.0 for name in regulator_.inputs]
    np.testing.assert_allclose(regulator_.R, np.diag(efforts / regulator_.input_scales ** 2),
                               rtol=1e-12)


@pytest.fixture(scope="module")
def drive():
    """A car on a wavy course, driven by torques: the reference, and the way it was commanded."""
    car = shipped("ackermann_car")
    steering = [name for name in car.driven if name in car.description.steering]
    wheels = [name for name in car.driven if name not in steering]

    def course(t, state):
        swing = dict.fromkeys(steering, 0.25 * np.cos(1.2 * t))
        return [nhmech.JointTorque(dict.fromkeys(wheels, 20 * np.cos(t))),
                nhmech.JointVelocity(swing)]

    simulator = nhmech.Simulator(car, course, dt=1e-2)
    simulator.reset((0, 0, 0), xi={"forward_speed": 2.0})
    return car, simulator.run(6.0)


def astray(car, controller):
    simulator = nhmech.Simulator(car, controller, dt=1e-2)
    simulator.reset((-0.1, 0.4, 0.15), xi={"forward_speed": 1.8})
    return simulator.run(6.0)


def test_tracking_contracts_where_the_open_loop_does_not(drive):
    car, reference = drive
    tracker = TrackingLQR(car, reference)
    closed = astray(car, tracker)
    open_ = astray(car, lambda t, state: tracker.u[min(round(t / 1e-2), len(tracker.u) - 1)])
    away = [np.linalg.norm(run.q[:, :2] - reference.q[:, :2], axis=1) for run in (closed, open_)]
    assert away[0][0] == away[1][0] == pytest.approx(np.hypot(0.1, 0.4), rel=1e-13, abs=0)
    assert away[0][-1] < 0.05 * away[0][0], "0.41 m at the start"
    assert away[1][-1] > away[1][0]
    steps = np.array([away[0][k] for k in range(100, 601, 100)])
    assert np.all(np.diff(steps) < 0)


def test_tracking_costs_what_the_riccati_equation_says(drive):
    """From a small error; the nonlinear run against x0'P_0 x0, on both sides, so that odd orders
    cancel."""
    car, reference = drive
    tracker = TrackingLQR(car, reference)
    costs, wanted = [], []
    for sign in (1, -1):
        simulator = nhmech.Simulator(car, tracker, dt=1e-2)
        simulator.reset((0, sign * 1e-3, sign * 1e-3), xi={"forward_speed": 2.0})
        cost = 0.0
        for k in range(len(tracker.K)):
            _, z = tracker.error(simulator.t, simulator.state)
            if k == 0:
                wanted.append(z @ tracker.P[0] @ z)
            u = tracker.K[k] @ z
            cost += z @ tracker.Q @ z + u @ tracker.R @ u
            simulator.step()
        z = tracker.error(simulator.t, simulator.state)[1]
        costs.append(cost + z @ tracker.final @ z)
    assert sum(costs) / sum(wanted) == pytest.approx(1, abs=1e-3)


def test_tracking_has_the_weights_of_the_docstring(drive):
    car, reference = drive
    tracker = TrackingLQR(car, reference, weights={"y": 20.0}, effort=0.4, final=3.0)
    length, radius = car.steering.length, car.description.wheels[0].radius
    time = np.sqrt(length / 9.81)
    scales = dict(x=length / np.sqrt(10), y=length / np.sqrt(20), z=length)
    scales |= dict.fromkeys(("qx", "qy", "qz", "qw"), 0.15)      # half the angle
    nconf = tracker.state_vector.nconf
    wheels = {contact.mount.wheel.joint for contact in car.contacts}
    found, speeds = [], {name: length / radius if name in wheels else 0.3 for name in car.driven}
    speeds |= {"forward_speed": length, "lateral_speed": length, "yaw_rate": 0.3}
    for i, name in enumerate(tracker.names):
        found.append(speeds[name] / time if i >= nconf else np.inf if name in wheels
                     else scales.get(name, 0.3))
    np.testing.assert_allclose(tracker.Q, 1e-2 * np.diag(1 / np.square(found)), rtol=1e-9)
    np.testing.assert_allclose(tracker.final, 3 * time * np.diag(1 / np.square(found)), rtol=1e-9)
    effect = np.abs(tracker.B[:, nconf:] / np.array(found[nconf:])[:, None]).max(axis=(0, 1))
    np.testing.assert_allclose(tracker.R, 1e-2 * 0.4 * np.diag((effect * time / 1e-2) ** 2),
                               rtol=1e-9)


def test_tracking_starts_on_the_run_and_stays_there(drive):
    car, reference = drive
    tracker = TrackingLQR(car, reference)
    simulator = nhmech.Simulator(car, tracker, dt=1e-2)
    simulator.reset(**tracker.start)
    np.testing.assert_allclose(simulator.run(6.0).q, reference.q, rtol=0, atol=1e-10)


def test_what_cannot_be_tracked_is_said(drive):
    car, reference = drive
    steering = next(name for name in car.driven if name in car.description.steering)
    simulator = nhmech.Simulator(car, lambda t,
                                 state: nhmech.JointTorque({steering: 5 * np.cos(20 * t)}), dt=1e-2)
    simulator.reset(xi={"forward_speed": 1.0})
    with pytest.raises(nhmech.errors.InputError,
                       match="miss the next one by .* Record each control period"):
        TrackingLQR(car, simulator.run(1.0, every=10), dt=1e-2)
    kinematic = nhmech.Simulator(car, lambda t, state: None, mode="kinematic")
    with pytest.raises(nhmech.errors.InputError, match="no forces to regulate"):
        TrackingLQR(car, kinematic.run(0.01))
    with pytest.raises(nhmech.errors.InputError, match="weights: state 'speed' does not exist"):
        TrackingLQR(car, reference, weights={"speed": 1.0})
    with pytest.raises(nhmech.errors.InputError, match="x = -1.0 must be a weight"):
        TrackingLQR(car, reference, weights={"x": -1.0})
    for dt in (0.03, 0.007):
        with pytest.raises(nhmech.errors.InputError, match="0.01 s apart, no multiple of dt"):
            TrackingLQR(car, reference, dt=dt)


def test_two_steps_can_be_tracked_and_one_cannot(drive):
    car, _ = drive
    simulator = nhmech.Simulator(car, lambda t, state: nhmech.JointTorque({car.driven[0]: 1.0}),
                                 dt=1e-2)
    simulator.reset(xi={"forward_speed": 1.0})
    with pytest.raises(nhmech.errors.InputError, match="run of 2 records is too short"):
        TrackingLQR(car, simulator.run(0.01))
    assert len(TrackingLQR(car, simulator.run(0.02)).K) == 2
    longer = TrackingLQR(car, simulator.run(0.06, every=2), dt=1e-2)      # two steps a record
    assert len(longer.K) == 3 and longer.dt == 1e-2


def test_tracking_reads_an_attitude_and_goes_on_after_the_end(drive):
    """A quaternion and its negative are one attitude; the last gain and reference are kept."""
    car, reference = drive
    tracker = TrackingLQR(car, reference)
    joints = {"front_left_steering_joint": 0.2, "rear_left_wheel_joint": 0.7}
    state = nhmech.Simulator(car).reset((0.3, 0.1, 0.2), joints=joints)
    other = SimpleNamespace(q=np.r_[state.q[:3], -state.q[3:7], state.q[7:]], xi=state.xi)
    for t, k in ((0.0, 0), (2.0, 200), (99.0, 600)):
        found, error = tracker.error(t, state)
        assert found == k and np.abs(error[3:7]).max() < 0.6
        np.testing.assert_allclose(tracker.error(t, other)[1], error, rtol=0, atol=1e-14)
        np.testing.assert_allclose(tracker(t, state),
                                   tracker.u[k] - tracker.K[min(k, 599)] @ error, rtol=1e-13)


def test_names_of_states_are_a_list_or_words():
    bicycle = shipped("bicycle")
    made = [LQR(bicycle, (3, 0, 0), inputs="steering_joint", drop=drop) for drop in (
        "rear_wheel_joint, roll", "rear_wheel_joint roll", ["roll", "rear_wheel_joint"])]
    assert all(one.names == ("steering_joint", "steering_joint'", "roll_rate") for one in made)
    again = LQR(bicycle, made[0].motion, inputs=made[0].inputs, drop=("rear_wheel_joint", "roll"))
    np.testing.assert_allclose(again.K, made[0].K, rtol=1e-9)
    assert made[0].commanded_twist.tolist() == [3, 0, 0] and again.commanded_twist is None
    with pytest.raises(nhmech.errors.InputError, match="drop: state 'lean' does not exist"):
        LQR(bicycle, (3, 0, 0), drop="lean")


@pytest.mark.parametrize("time", [None, 0.02, 3.0])
def test_an_input_of_its_scale_changes_one_state_by_its_scale(time):
    """The state that it changes most, within the time; where it changes none the scale is one."""
    vehicle = shipped("ackermann_car")
    rng = np.random.default_rng(4)
    B, scales = rng.normal(size=(5, 3)) * [1.0, 1e-3, 0.0], rng.uniform(0.1, 10, 5)
    found = input_scales(vehicle, B, scales, time)
    within = np.sqrt(vehicle.steering.length / 9.81) if time is None else time
    changed = np.abs(B) * found * within / scales[:, None]
    np.testing.assert_allclose(changed.max(axis=0), [1, 1, 0], rtol=1e-12)
    assert found[2] == 1
