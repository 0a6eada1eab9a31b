"""Explicit dynamics, direct collocation, model predictive control, identification."""

import sys
from dataclasses import replace
from math import factorial
from pathlib import Path
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support import askew, shipped

import nhmech
from nhmech import InputError, ModelError, SimulationError
from nhmech.control.collocation import Collocation, Plan
from nhmech.control.mpc import MPC
from nhmech.control.path import relative_pose
from nhmech.control.path_library import circle, make_path
from nhmech.control.twist_rule import planar_twist_function
from nhmech.mechanics.algebroid import euclidean
from nhmech.mechanics.writing import constrain, lagrangian_system
from nhmech.vehicle.build import build

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


# -- dynamics --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name",
                         ["differential_drive", "ackermann_car", "pendulum", "bicycle", "omni"])
def test_the_rate_is_that_of_drift_and_the_step_that_of_the_simulator(name):
    vehicle, rng = shipped(name), np.random.default_rng(0)
    f = nhmech.dynamics(vehicle)
    assert f.nx == len(f.names) and f.nu == len(vehicle.driven)
    efforts = rng.normal(size=f.nu)
    simulator = nhmech.Simulator(vehicle, lambda t, state: efforts, dt=1e-3, on_lift="ignore")
    state = simulator.reset(pose=(1.0, -2.0, 0.7),
                            xi={"forward_speed": 0.4 if name != "bicycle" else 4.0})
    x = f.of(state)
    assert f.pose(x).full().ravel() == pytest.approx(state.pose, abs=1e-12)
    assert np.abs(f.velocity(0.0, x, []).full().ravel() - state.v).max() <= 1e-12
    q_rate, xi_rate = vehicle.equations.drift(0.0, state.q, state.v[list(vehicle.frame.speeds)],
                                                efforts, [])
    rate = f(0.0, x, efforts).full().ravel()
    assert (np.abs(rate[:7] - q_rate.full().ravel()[:7]).max() <= 1e-12
            and np.abs(rate[f.state_vector.nconf:] - xi_rate.full().ravel()).max() <= 1e-10)
    for joint in vehicle.driven:
        assert rate[f.coordinate(joint)] == pytest.approx(state.joint_velocity[joint], abs=1e-12)
    for _ in range(50):
        x, state = f.step(state.t, x, efforts, 1e-3).full().ravel(), simulator.step()
    assert np.abs(x - f.of(state)).max() <= 1e-12


def test_symbols_go_through_and_parameters_are_open():
    """MX and SX; the derivative by a radius against a central difference of other vehicles."""
    name, vehicle = "left_wheel_joint.radius", shipped("differential_drive")
    f = nhmech.dynamics(vehicle.with_parameters(symbolic=[name]))
    x0 = nhmech.start_states(vehicle, [(0, 0, 0)], xi={"forward_speed": 0.5, "yaw_rate": 0.3})[0]
    for symbol in (ca.MX, ca.SX):
        x, u, theta = symbol.sym("x", f.nx), symbol.sym("u", f.nu), symbol.sym("theta", 1)
        derivative = ca.Function("slope", [x, u, theta], [ca.jacobian(f(0.0, x, u, theta), theta)])
        slope = derivative(x0, [0.1, 0.2], f.theta).full().ravel()
        rates = [f(0.0, x0, [0.1, 0.2], f.theta + h).full().ravel() for h in (1e-5, -1e-5)]
        assert slope == pytest.approx((rates[0] - rates[1]) / 2e-5, rel=1e-7, abs=1e-7)
    assert f.parameters == (name,) and f.theta == pytest.approx([0.1], rel=1e-13, abs=0)


def test_unknown_names_are_told():
    f = nhmech.dynamics(shipped("differential_drive"))
    with pytest.raises(InputError, match="no coordinate 'leg'; there are x, y"):
        f.coordinate("leg")
    with pytest.raises(InputError, match="no independent speed 'x'"):
        f.speed("x")


# -- collocation -----------------------------------------------------------------------------------
def test_least_effort_from_rest_to_rest_is_the_cubic():
    """Straight ahead by d in T at least int u^2: u = 6 m d (1 - 2 t / T) / T^2, and int u^2 = 12 (m
    d)^2 / T^3, in the limit of many intervals.

    With u held over each of N intervals the same holds with 12 / (1 - 1 / N^2):
    the least sum of squares with two linear conditions.
    """
    vehicle, d, T, n = shipped("differential_drive"), 1.0, 2.0, 20
    problem = Collocation(vehicle, n, T)
    f = problem.dynamics
    start = nhmech.start_states(vehicle, [(0, 0, 0)])[0]
    problem.opti.subject_to(problem.x[:, 0] == start)
    problem.opti.subject_to(f.pose(problem.x[:, -1]) == [d, 0, 0])
    problem.opti.subject_to(problem.x[f.state_vector.nconf:, -1] == 0)
    problem.opti.minimize(ca.sumsqr(problem.u) * T / n)
    guess = np.tile(start, (n + 1, 1))
    guess[:, 0] = np.linspace(0, d, n + 1)
    problem.guess(guess)
    plan = problem.solve(tolerance=1e-11)
    # [m/s^2] for 1 N m on both wheels
    acceleration = f(0.0, start, [1.0, 1.0]).full().ravel()[f.speed("left_wheel_joint")] * 0.1
    k = np.arange(n)
    expected = 6 * d / T ** 2 * (1 - (2 * k + 1) / n) / (1 - 1 / n ** 2) / acceleration
    assert np.abs(plan.u - expected[:, None]).max() <= 1e-7 * expected[0]


def test_least_time_is_full_effort_one_way_then_the_other():
    """T = 2 sqrt(d / a): exact where the switch is between two intervals."""
    vehicle, d, most, n = shipped("differential_drive"), 0.8, 0.5, 10
    problem = Collocation(vehicle, n)
    f, start = problem.dynamics, nhmech.start_states(vehicle, [(0, 0, 0)])[0]
    problem.opti.subject_to(problem.x[:, 0] == start)
    problem.opti.subject_to(f.pose(problem.x[:, -1]) == [d, 0, 0])
    problem.opti.subject_to(problem.x[f.state_vector.nconf:, -1] == 0)
    problem.bound(problem.u, -most, most)
    problem.opti.minimize(problem.duration)
    problem.guess(np.tile(start, (n + 1, 1)), np.full((n, 2), 0.1), duration=3.0)
    plan = problem.solve()
    acceleration = f(0.0, start, [most, most]).full().ravel()[f.speed("left_wheel_joint")] * 0.1
    assert plan.t[-1] == pytest.approx(2 * np.sqrt(d / acceleration), rel=1e-6)
    assert np.abs(plan.u - np.repeat([most, -most], n // 2)[:, None]).max() <= 1e-4


@pytest.mark.parametrize("t, u", [
    (0.0, 1), (0.0999, 1), (0.1 - 1e-12, 2), (0.1, 2), (0.19, 2), (0.2, 3), (0.2999, 3), (0.3, 0),
    (7.0, 0)])
def test_a_plan_is_played_interval_by_interval_and_ends_in_nothing(t, u):
    """Rounding of the time does not delay an interval, be it of a moment or of days."""
    for unit in (1.0, 1e-6, 1e6):
        plan = Plan(unit * np.linspace(0.0, 0.3, 4), np.zeros((4, 2)),
                    np.array([[1.0, -1], [2, -2], [3, -3]]))
        np.testing.assert_array_equal(plan(unit * t, None), [u, -u])


def test_a_turning_plan_is_what_the_simulator_does():
    """The method's order is 2 d: a coarse plan of a car-like turn replays to 1e-7 m; quaternions
    stay unit."""
    vehicle = shipped("tricycle")
    problem = Collocation(vehicle, 12, 3.0)
    f, start = (problem.dynamics,
                nhmech.start_states(vehicle, [(0, 0, 0)], xi={"forward_speed": 0.5})[0])
    problem.opti.subject_to(problem.x[:, 0] == start)
    problem.opti.subject_to(f.pose(problem.x[:, -1])[:2] == [1.5, 0.3])
    problem.opti.minimize(ca.sumsqr(problem.u))
    guess = np.tile(start, (13, 1))
    guess[:, 0] = np.linspace(0, 1.5, 13)
    problem.guess(guess)
    plan = problem.solve()
    assert problem.degree == 3 and problem.inner.shape == (f.nx, 3 * 12)
    assert np.abs(np.linalg.norm(plan.x[:, 3:7], axis=1) - 1).max() <= 1e-9
    simulator = nhmech.Simulator(vehicle, plan, dt=plan.t[1] / 50, control_period=plan.t[1])
    simulator.reset(pose=(0, 0, 0), xi={"forward_speed": 0.5})
    simulator.run(3.0)
    assert simulator.state.pose[:2] == pytest.approx((1.5, 0.3), abs=1e-6)
    assert (plan(3.1, None) == 0).all()


def test_a_guess_is_where_the_search_begins():
    """States, those between them by interpolation, inputs in their units, and the duration."""
    problem = Collocation(shipped("differential_drive"), 3, unit=[2.0, 5.0], degree=2)
    start, nx = problem.opti.initial, problem.dynamics.nx
    x, u = np.arange(4.0 * nx).reshape(4, nx), np.array([[2.0, -5], [1, 4], [0, 3]])
    problem.guess(x, u, duration=6.0)
    np.testing.assert_allclose(problem.opti.value(problem.x, start()), x.T, rtol=1e-15)
    np.testing.assert_allclose(problem.opti.value(problem.u, start()), u.T, rtol=1e-15)
    assert problem.opti.value(problem.duration, start()) == 6.0
    # Gauss's points of two, (1 -+ 1/sqrt(3)) / 2 of each interval
    parts = (np.arange(3)[:, None] + (1 + np.array([-1, 1]) / np.sqrt(3)) / 2).ravel()
    np.testing.assert_allclose(problem.opti.value(problem.inner, start()).T,
                               x[0] + parts[:, None] * nx, rtol=1e-12)
    problem.guess(x)
    assert np.all(problem.opti.value(problem.u, start()) == 0)
    assert problem.opti.value(problem.duration, start()) == 6.0


def test_bounds_are_entry_by_entry_at_every_moment():
    problem = Collocation(shipped("differential_drive"), 2, 1.0)
    before = problem.opti.ng
    problem.bound(problem.u, [-1.0, -2.0], 3.0)
    low, high = (problem.opti.value(side)[before:] for side in (problem.opti.lbg,
                                                                problem.opti.ubg))
    assert low.tolist() == [-1, -2, -1, -2] and high.tolist() == [3, 3, 3, 3]
    u = np.array([[0.1, 0.2], [0.3, 0.4]])
    problem.guess(np.zeros((3, problem.dynamics.nx)), u)
    assert problem.opti.value(problem.opti.g[before:], problem.opti.initial()).tolist() == (
        u.ravel().tolist())


def mass_on_a_line(force):
    """Of 1 kg, with a force [N] of time beside its thrust."""
    body = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2, inputs=("thrust",),
                             force=lambda s: {"x": s.u.thrust + force(s)})
    return SimpleNamespace(constrained=constrain(body, {}, samples=np.array([[0.0], [1.0]])))


@pytest.mark.parametrize("degree", [2, 3])
def test_intervals_run_at_their_own_time(degree):
    """A force 6 t moves a mass from rest by t^3: exactly, by polynomials of the method's order."""
    problem = Collocation(mass_on_a_line(lambda s: 6 * s.t), 3, 2.0, degree=degree)
    problem.opti.subject_to(problem.x[:, 0] == 0)
    problem.opti.subject_to(problem.u == 0)
    plan = problem.solve()
    np.testing.assert_allclose(plan.t, np.arange(4) * 2 / 3, rtol=1e-15)
    np.testing.assert_allclose(plan.x, np.stack([plan.t ** 3, 3 * plan.t ** 2], axis=-1), rtol=0,
                               atol=1e-11)
    assert plan.u.shape == (3, 1)


@pytest.mark.parametrize("words, d", [({}, 3), (dict(degree=2), 2), (dict(degree=1), 1)])
def test_each_interval_is_gauss_s_quadrature(words, d):
    """Of three points where nothing is said: of t^(2 d) over [0, 1] it misses
    (d!)^4 / ((2 d + 1) (2 d)!^2), and over h so many times h^(2 d + 1)."""
    force, h = 2 * d, 0.5
    problem = Collocation(mass_on_a_line(lambda s: s.t ** force), 1, h, **words)
    problem.opti.subject_to(problem.x[:, 0] == 0)
    problem.opti.subject_to(problem.u == 0)
    missed = factorial(d) ** 4 / ((2 * d + 1) * factorial(2 * d) ** 2)
    assert problem.solve(tolerance=1e-12).x[1, 1] == pytest.approx(
        h ** (2 * d + 1) * (1 / (2 * d + 1) - missed), rel=1e-9)


def test_a_duration_that_is_open_stays_positive(capfd):
    """Nothing is printed but where it is asked for."""
    def least(low: float):
        problem = Collocation(mass_on_a_line(lambda s: 0), 1, degree=1)
        problem.opti.subject_to(problem.x[:, 0] == 0)
        problem.opti.subject_to(problem.duration >= low)
        problem.opti.minimize(problem.duration)
        return problem

    assert least(-1.0).solve().t[-1] == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(SimulationError, match="IPOPT says Maximum_Iterations_Exceeded after 2 it"):
        problem = least(1.0)
        problem.opti.minimize((problem.duration - 3) ** 4)
        problem.solve(iterations=2)
    assert capfd.readouterr() == ("", "")
    least(1.0).solve(quiet=False)
    assert "This is Ipopt" in (said := capfd.readouterr().out) and "nlp_f" in said


def test_what_cannot_be_planned_is_said():
    problem = Collocation(shipped("differential_drive"), 4, 0.1)
    problem.opti.subject_to(problem.x[0, 0] == 0)
    problem.opti.subject_to(problem.x[0, -1] == 100)
    problem.bound(problem.x[-2:, :], -1, 1)
    with pytest.raises(SimulationError, match="no plan found: IPOPT says"):
        problem.solve(50)
    for words in (dict(intervals=0), dict(intervals=2, duration=-1.0),
                  dict(intervals=2, unit=[1.0])):
        with pytest.raises(InputError):
            Collocation(shipped("differential_drive"), **words)
    with pytest.raises(InputError, match=r"numbers of shape \(5, 11\)"):
        problem.guess(np.zeros((4, 11)))


# -- model predictive control ----------------------------------------------------------------------
@pytest.mark.parametrize("name, size",
                         [("differential_drive", 1.0), ("mecanum", 1.0), ("tricycle", 2.0)])
def test_mpc_follows_a_figure_eight(name, size):
    """One set of weights; 2 cm lateral RMS is asked of trackers, a millimetre is
    what efforts two lengths ahead give."""
    controller = MPC(shipped(name), make_path("figure8", size), speed=0.5)
    simulator = nhmech.Simulator(shipped(name), controller, dt=5e-3, control_period=0.02)
    simulator.reset(**controller.start)
    run = simulator.run(4.0)
    errors = controller.errors(run)
    assert np.sqrt(np.mean(errors[:, 1] ** 2)) <= 1e-3
    assert abs(errors[-1, 0]) <= 0.02 * size


def mpc_cost(controller, x, held, u) -> float:
    """What the docstring says is least, in NumPy: errors of P across, along, in heading, speed and
    turning rate, joints beyond their limits, efforts and their changes."""
    f, unit, speed, path = (controller.dynamics, controller.unit, controller.speed,
                            controller.path)
    point, limits, total = controller.unicycle, controller.vehicle.limits, 0.0
    s = float(path.nearest(point.pose(f.pose(x).full().ravel())[:2]))
    for effort in u:
        x = f.step(0.0, x, effort, controller.period).full().ravel()
        s += controller.pace(s) * controller.period
        px, py, heading, curvature = path.station(s)
        pose = f.pose(x).full().ravel()
        forward, lateral, turn = planar_twist_function(controller.vehicle)(
            f.state_vector.configuration(x[:f.state_vector.nconf]),
            f.velocity(0.0, x, [])).full().ravel()
        along, across, off = relative_pose(point.pose(pose), (px, py, heading))
        v = np.array([[np.cos(pose[2]), -np.sin(pose[2])], [np.sin(pose[2]), np.cos(pose[2])]]) @ [
            forward - turn * point.offset[1], lateral + turn * point.offset[0]]
        pace = controller.pace(s)
        errors = [20 * across / unit, 4 * along / unit, 5 * 2 * np.sin(off / 2),
                  2 * (v @ [np.cos(heading), np.sin(heading)] - pace) / speed,
                  0.5 * (turn - pace * curvature) * unit / speed]
        for name in f.inputs:
            if name in limits and np.isfinite(limits[name].upper):
                angle = x[f.coordinate(name)]
                errors.append(100 * (angle - np.clip(angle, limits[name].lower,
                                                     limits[name].upper)))
        total += np.sum(np.square(errors))
        total += np.sum((0.02 * effort / controller.unit_effort) ** 2)
        total += np.sum((0.05 * (effort - held) / controller.unit_effort) ** 2)
        held = effort
    return total


@pytest.mark.parametrize("radius", [1.5, 0.1])
def test_mpc_finds_the_least_of_what_it_says(radius):
    """The slope of the cost vanishes at what repeated calls lead to, but where an effort is at its
    limit; also on a circle too tight for the steering, which comes to its own."""
    vehicle = askew("tricycle")
    controller = MPC(vehicle, circle(radius), speed=0.4, stages=3, horizon=0.6)
    assert controller.period == pytest.approx(0.2, rel=1e-13, abs=0)
    first = np.array([0.3, -0.2])
    simulator = nhmech.Simulator(vehicle, lambda t, state: first, dt=1e-3)
    angle, speed = (0.0, 0.3) if radius > 1 else (1.2, 0.1)
    simulator.reset(pose=controller.unicycle.base((0.02, -0.03, 0.1)),
                    joints={"steering_joint": angle}, xi={"forward_speed": speed})
    state = simulator.step()
    for _ in range(40):
        controller.efforts(0.0, state)
    x, best = controller.dynamics.of(state), controller._plan[1]

    def slope(u):
        steps = 1e-4 * np.tile(controller.unit_effort, 3)
        return np.array([(mpc_cost(controller, x, first, u + d.reshape(u.shape))
                          - mpc_cost(controller, x, first, u - d.reshape(u.shape))) / 2e-4
                         for d in np.diag(steps)])

    most = np.array([vehicle.limits[name].effort for name in controller.dynamics.inputs])
    found, apart = slope(best), np.abs(slope(best + 0.01 * controller.unit_effort)).max()
    free = (np.abs(best) < most).ravel()
    assert np.abs(found[free]).max() <= 1e-5 * apart and free.sum() >= 5
    assert np.all(found[~free] * best.ravel()[~free] < 0) and np.all(np.abs(best) <= most)


def test_mpc_drives_a_robot_with_one_motor():
    """On ahead, at first; the other wheel is idle."""
    plain = shipped("differential_drive").description
    vehicle = build(replace(plain, driven=plain.driven[:1]), nhmech.Ground())
    controller = MPC(vehicle, make_path("line", 9.0), speed=0.4, stages=3, horizon=0.3)
    run = nhmech.Simulator(vehicle, controller, dt=1e-2).run(0.05)
    assert run.u.shape[1] == 1 and run.u[0, 0] > 0
    assert np.all(np.diff(run.v[:, 0]) > 0) and 0 < run.v[-1, 0] < 0.4


def test_mpc_of_one_stage_is_linear_least_squares_near_its_way():
    """What is left to correct beside a line, in heading, turning rate, along and in speed, is moved
    by one step of the Runge-Kutta method of a linear system; the efforts and their change count
    too."""
    vehicle = shipped("differential_drive", speeds=("forward_speed", "yaw_rate"))
    v, h, small = 0.4, 0.3, 1e-7
    controller = MPC(vehicle, make_path("line", 9.0), speed=v, stages=1, horizon=h)
    f, unit, effort = controller.dynamics, controller.unit, controller.unit_effort
    held = 2 * small * effort * (3.0, -1.0)
    simulator = nhmech.Simulator(vehicle, lambda t, state: held, dt=1e-3)
    simulator.reset(pose=(2.0, 2 * small, -3 * small), xi={"forward_speed": v - 5 * small,
                                                           "yaw_rate": 4 * small})
    state = simulator.step()
    turn, slow = state.xi["yaw_rate"], state.xi["forward_speed"] - v
    coasting, *pushed = (f(0.0, f.of(state), u).full()[-2:, 0]
                         for u in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)))
    A = np.zeros((7, 7))
    A[0, 1], A[1, 2], A[2, 2], A[3, 4] = v, 1.0, coasting[1] / turn, 1.0
    A[[4, 2], 5:] = np.transpose(pushed - coasting)
    moved = np.eye(7) + sum(np.linalg.matrix_power(h * A, k) / factorial(k) for k in (1, 2, 3, 4))
    weights = np.array([20 / unit, 5.0, 0.5 * unit / v, 4 / unit, 2 / v])
    J = np.vstack([(weights[:, None] * moved[:5])[:, 5:], np.diag(0.02 / effort),
                   np.diag(0.05 / effort)])
    begin = [state.pose[1], state.pose[2], turn, 0.0, slow, 0.0, 0.0]
    r = np.concatenate([weights * (moved @ begin)[:5], [0.0, 0.0], -0.05 * held / effort])
    np.testing.assert_allclose(controller.efforts(0.0, state),
                               -np.linalg.lstsq(J, r, rcond=None)[0], rtol=1e-5)


def test_mpc_follows_at_half_a_metre_per_second_unless_told():
    controller = MPC(shipped("differential_drive"), make_path("line", 9.0), stages=1, horizon=0.1)
    assert controller.speed == 0.5
    # two metres on, past where it sets off
    assert controller.law(0.0, (2.0, 0.0, 0.0), 2.0) == pytest.approx((0.5, 0.0), rel=1e-12)


def test_mpc_goes_on_from_its_last_plan():
    """At the stages that are left; the last one is kept."""
    controller = MPC(shipped("differential_drive"), make_path("line", 9.0), stages=4, horizon=2.0)
    assert np.array_equal(controller._shift(1.0), np.zeros((4, 2)))
    plan = np.arange(8.0).reshape(4, 2)
    controller._plan = 1.0, plan
    for passed, rows in ((0.0, (0, 1, 2, 3)), (0.4999, (0, 1, 2, 3)), (0.5 - 1e-12, (1, 2, 3, 3)),
                         (1.2, (2, 3, 3, 3)), (9.0, (3, 3, 3, 3))):
        assert np.array_equal(controller._shift(1.0 + passed), plan[list(rows)])
    controller.reset()
    assert controller._plan is None
    # two units ahead; wheels of 0.1 m gain the speed in the time of one
    plain = MPC(shipped("differential_drive"), make_path("line", 9.0), speed=0.4)
    assert plain.period * plain.stages == pytest.approx(2 * plain.unit / 0.4, rel=1e-13, abs=0)
    f = plain.dynamics
    still = nhmech.start_states(plain.vehicle, [(0, 0, 0)])[0]
    for effort in np.diag(plain.unit_effort):
        gained = (f(0.0, still, effort) - f(0.0, still, [0, 0])).full()[f.state_vector.nconf:]
        assert np.abs(0.1 * gained).max() * plain.unit / 0.4 == pytest.approx(0.4, rel=1e-9)


def test_mpc_looks_at_each_stage_at_its_own_time(monkeypatch):
    """For ground that moves; several times at the first call, once at each other."""
    controller = MPC(shipped("differential_drive"), make_path("line", 9.0), stages=3, horizon=0.6)
    state, times = nhmech.Simulator(controller.vehicle).reset(), []
    step = controller._step
    monkeypatch.setattr(controller, "_step", SimpleNamespace(
        with_step=lambda t, *rest: times.append(t) or step.with_step(t, *rest)))
    for t, least, most in ((1.0, 2, 99), (1.02, 1, 1)):
        times.clear()
        controller.efforts(t, state)
        count = len(times) // 3
        assert times == pytest.approx([t, t + 0.2, t + 0.4] * count, rel=1e-13, abs=0)
        assert least <= count <= most


def test_mpc_keeps_to_the_limits_and_recovers():
    """Put down far beside the path: efforts are cut at the limit in the optimisation itself, and it
    gets back."""
    vehicle = shipped("differential_drive")
    controller = MPC(vehicle, make_path("line", 20.0), speed=0.5)
    controller._most = np.full(2, 0.3)
    simulator = nhmech.Simulator(vehicle, controller, dt=5e-3, control_period=0.02)
    simulator.reset(pose=(0.0, 0.4, 1.0))
    run = simulator.run(5.0)
    assert np.abs(run.u).max() == pytest.approx(0.3, abs=1e-12)
    assert abs(run.q[-1, 1]) <= 2e-3 and run.column("yaw_rate")[-1] == pytest.approx(0.0, abs=0.02)


def test_mpc_takes_no_step_that_makes_things_worse():
    """A rover put down beside its path: a whole step turns its wheels, which are light, so far that
    the prediction ends where its speeds do not determine the motion."""
    vehicle = shipped("rover")
    controller = MPC(vehicle, make_path("figure8", 10.0), speed=0.5)
    f = controller.dynamics
    simulator = nhmech.Simulator(vehicle, controller, dt=1e-2, control_period=0.02)
    x, y, yaw = controller.start["pose"]
    state = simulator.reset(**controller.start | {"pose": (x, y + 0.1, yaw)})
    first = controller.efforts(0.0, state)
    plan, costs = controller._plan[1], []
    for u in (np.zeros_like(plan), plan):
        costs.append(mpc_cost(controller, f.of(state), np.zeros(f.nu), u))
    assert costs[1] < costs[0]
    # a plan that leads nowhere from here is dropped
    controller._plan = 0.0, np.full_like(plan, 1e9)
    np.testing.assert_allclose(controller.efforts(0.0, state), first, rtol=1e-9)
    controller.reset()
    run = simulator.run(4.0)
    assert run.stop == "duration" and abs(controller.errors(run)[-1, 1]) <= 0.01


def test_mpc_leaves_alone_what_may_take_no_effort():
    """A tricycle whose front wheel must not be driven while its steering may, put down beside its
    path at speed."""
    wheel, steering = "front_wheel_joint", "steering_joint"

    def with_efforts(**efforts: float):
        free = shipped("tricycle").description
        limits = {name: replace(free.limits[name], effort=effort)
                  for name, effort in efforts.items()}
        return replace(shipped("tricycle"), description=replace(free, limits=free.limits | limits))

    vehicle = with_efforts(front_wheel_joint=0.0, steering_joint=5.0)
    controller = MPC(vehicle, make_path("line", 20.0), speed=0.5, stages=np.int64(10))
    simulator = nhmech.Simulator(vehicle, controller, dt=5e-3, control_period=0.02)
    simulator.reset(pose=(0.0, 0.05, 0.0), xi={"forward_speed": 0.5})
    run = simulator.run(1.0)
    assert (np.all(run.u[:, run.names["u"].index(wheel)] == 0)
            and np.abs(run.u[:, run.names["u"].index(steering)]).max() > 1e-3)
    assert np.abs(run.q[-1, 1]) < 0.05
    with pytest.raises(ModelError, match="effort limits of .* are all 0"):
        MPC(with_efforts(front_wheel_joint=0.0, steering_joint=0.0), make_path("line", 20.0))


def test_mpc_stops_at_the_end():
    vehicle = shipped("differential_drive")
    controller = MPC(vehicle, make_path("line", 1.0), speed=0.5)
    simulator = nhmech.Simulator(vehicle, controller, dt=5e-3, control_period=0.02)
    simulator.reset(**controller.start)
    run = simulator.run(8.0)
    assert run.q[-1, 0] == pytest.approx(1.0,
                                         abs=0.02) and abs(run.column("forward_speed")[-1]) <= 0.01


def test_mpc_refuses():
    path = make_path("line", 1.0)
    for words in (dict(stages=0), dict(horizon=-1.0), dict(effort=0.0), dict(speed=0.0)):
        with pytest.raises(InputError):
            MPC(shipped("differential_drive"), path, **words)
    with pytest.raises(ModelError, match="no driven joint"):
        MPC(shipped("sled"), path)


# -- identification --------------------------------------------------------------------------------
@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are in the repository only")
def test_estimates_scatter_as_their_sigma_says(monkeypatch):
    """Three runs: within 3.5 sigma of the truth each, and not all far nearer than sigma; residuals
    are the noise."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import identify

    vehicle = shipped("differential_drive").with_parameters(
        dict(zip(identify.UNKNOWN, identify.GUESS)), symbolic=identify.UNKNOWN
    )
    off = []
    for seed in range(3):
        f, u, seen = identify.dynamics_and_run(vehicle, 2.0, seed)
        estimate, sigma, _, residual = identify.identify(f, u, seen)
        assert 0.8 <= np.sqrt(np.mean(residual ** 2)) <= 1.2
        off.append((estimate - identify.TRUTH) / sigma)
    assert 0.3 <= np.sqrt(np.mean(np.square(off))) <= 1.8 and np.abs(off).max() <= 3.5
    sys.modules.pop("identify")
