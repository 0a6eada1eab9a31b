"""The schemes as tables and formulas, without a run: order conditions, limits of stability, the
matrices of Newton's method, the rule by which iterations end, and what schemes ask of a motion."""

from __future__ import annotations

from dataclasses import replace
from math import factorial
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support import at_most, needs_compiler, shipped

from nhmech import Ground, InputError, SimulationError, Simulator, simulate_batch
from nhmech.compile.adaptive import compile_adaptive
from nhmech.compile.status import Status
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.simulation.integration.conservation import changes_of_energy, check_scheme
from nhmech.simulation.integration.flow import CORRECTIONS, INLINE, Flow, solve_by_iteration
from nhmech.simulation.integration.gauss import Gauss
from nhmech.simulation.integration.integrators import (
    advance_function,
    keeping_advance_function,
    lift_function,
    projection_function,
    python_step,
    rate_function,
)
from nhmech.simulation.integration.schemes import FIXED, RK4, SCHEMES
from nhmech.simulation.simulated import Simulated
from nhmech.simulation.state_vector import StateVector
from nhmech.systems import load_system


# -- Runge and Kutta -------------------------------------------------------------------------------
def test_a_step_of_runge_and_kutta_is_that_of_taylor():
    """exp(z) up to z^4 / 24 for linear equations; Simpson's rule for x' = f(t); and an error of the
    fifth order for x' = x^2 + t."""
    z, start = np.array([[0.3, -0.2], [0.5, 0.1]]), np.array([1.0, -2.0])
    taylor = sum(np.linalg.matrix_power(z, k) / factorial(k) for k in range(5))
    np.testing.assert_allclose(RK4.advance(lambda t, x: z @ x / 0.25, 7.0, start, 0.25),
                               taylor @ start, rtol=1e-14)
    for f in (np.exp, np.sin):
        found = RK4.advance(lambda t, x, f=f: f(t), 0.3, 2.0, 0.4)
        assert found == pytest.approx(2 + 0.4 / 6 * (f(0.3) + 4 * f(0.5) + f(0.7)), rel=1e-13,
                                      abs=0)

    def error(dt: float) -> float:
        def go(steps):
            x = 0.3
            for k in range(steps):
                x = RK4.advance(lambda t, x: x * x + t, k * dt / steps, x, dt / steps)
            return x
        return abs(go(1) - go(20))
    assert error(0.4) / error(0.2) == pytest.approx(32, rel=0.2)
    assert RK4.rates == 4


@pytest.mark.parametrize("axis, limit", [(-1, SCHEMES["rk4"].real_limit),
                                         (1j, SCHEMES["rk4"].imaginary_limit)])
def test_runge_and_kutta_are_stable_up_to_their_limits(axis, limit):
    def growth(size: float) -> float:
        return abs(RK4.advance(lambda t, x: axis * x, 0.0, 1.0 + 0j, size))
    assert growth(0.999 * limit) <= 1 < growth(1.001 * limit)


# -- Gauss -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_a_collocation_has_twice_its_stages_order(stages):
    """Butcher's simplifying assumptions B(2 s), C(s) and D(s), which give order 2 s; and the matrix
    from its blocks."""
    method = Gauss(stages)
    a, b, c = method.matrix, method.weights, method.nodes
    for k in range(1, 2 * stages + 1):
        assert b @ c ** (k - 1) == pytest.approx(1 / k, rel=1e-13, abs=0)
    for k in range(1, stages + 1):
        np.testing.assert_allclose(a @ c ** (k - 1), c ** k / k, rtol=1e-12)
        np.testing.assert_allclose((b * c ** (k - 1)) @ a, b * (1 - c ** k) / k, rtol=1e-12)
    T, blocks = method.blocks
    assert sum(len(block) for block in blocks) == stages
    whole, at = np.zeros((stages, stages)), 0
    for block in blocks:
        whole[at:at + len(block), at:at + len(block)] = block
        at += len(block)
    np.testing.assert_allclose(T @ whole @ np.linalg.inv(T), a, rtol=1e-11, atol=1e-14)


def test_a_scheme_of_collocation_claims_twice_its_stages_as_order():
    claimed = {name: (scheme.order, 2 * scheme.method.stages) for name, scheme in SCHEMES.items()
               if isinstance(scheme.method, Gauss)}
    assert claimed == {"gauss": (6, 6), "gauss4": (4, 4)}


def coupled() -> Flow:
    """Two masses with springs and dampers that couple them, none of which is symmetric."""
    springs, dampers = ca.DM([[-3.0, 1.0], [0.5, -2.0]]), ca.DM([[-0.4, 0.3], [-0.2, -0.1]])
    system = lagrangian_system(
        euclidean("x", "y"), lambda s: s.v.x ** 2 / 2 + s.v.y ** 2,
        force=lambda s: dict(zip("xy", ca.vertsplit(
            springs @ ca.vertcat(s.q.x, s.q.y) + dampers @ ca.vertcat(s.v.x, s.v.y)))))
    equations = Simulated.of(constrain(system, rows={})).equations
    return Flow(equations, rate_function(equations), rate_function(equations, True),
                projection_function(equations), lift_function(equations))


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_one_newton_step_solves_linear_equations(stages):
    """From any rates, so that all derivatives and inverses are the right ones; and the first rates
    are those of a parabola through Euler's midpoint."""
    flow, method, dt = coupled(), Gauss(stages), 0.7
    f = np.column_stack([flow.rate(0.0, e, [], []).full().ravel() for e in np.eye(4)])
    rng = np.random.default_rng(stages)
    x = rng.normal(size=4)
    begin, newton = method.start(flow)(0.0, x, [], [], dt)
    middle = f @ (x + dt / 2 * f @ x)
    first = [f @ x + 2 * c * (middle - f @ x) for c in method.nodes]
    np.testing.assert_allclose(begin.full().ravel(), np.concatenate(first), rtol=1e-12)

    def defect(k: np.ndarray) -> np.ndarray:
        return f @ (x[:, None] + dt * k @ method.matrix.T) - k
    k = rng.normal(size=(4, stages))
    symbols = ca.SX.sym("newton", newton.numel()), ca.SX.sym("defect", 4, stages)
    correct = ca.Function("correct", symbols, [method.correct(symbols[0], dt, symbols[1], 2)])
    np.testing.assert_allclose(defect(k + correct(newton, defect(k)).full()), 0, atol=1e-13)


# -- iterations ------------------------------------------------------------------------------------
@pytest.mark.parametrize("sizes, count, is_solved", [
    ([1.0, 1e-16], 2, True),                         # rounding
    ([1e-31, 1.0], 1, True),
    ([0.1, 0.99e-9, 1.0], 2, True),                  # the next would be, should it shrink so again
    ([0.1, 1.01e-9, 1e-17, 1.0], 3, True),
    ([1e6, 0.99e-6, 1.0], 2, True),                  # not foretold of large ones
    ([1e6, 1.01e-6, 1e-17, 1.0], 3, True),
    ([1e-13, 1e-13, 1.0], 2, True),                  # no smaller than the one before
    ([1e-13, 0.99e-13, 0.98e-13, 0.981e-13, 1.0], 4, True),
    ([1.01e-12] * 60, CORRECTIONS, False),           # and not small either
    ([0.99e-12 * 0.999 ** k for k in range(60)], CORRECTIONS, True),
    ([np.nan] * 60, CORRECTIONS, False)])
def test_iterations_end_where_corrections_are_rounding(sizes, count, is_solved):
    """Corrections of given sizes, each of which adds one."""
    z, step = ca.MX.sym("z"), ca.MX.sym("step")
    size = ca.MX(ca.DM(sizes))[ca.fmin(z / step, len(sizes) - 1)]
    correct = ca.Function("correct", [z, step], [z + step, size])
    iterate = ca.Function("iterate", [z, step], solve_by_iteration(correct, z, step))
    assert [float(one) for one in iterate(0.0, 2.0)] == [2.0 * count, is_solved]


@pytest.mark.parametrize("rates, work, end, kind", [
    (3, 900, INLINE - 2700, ca.SX), (3, 900, INLINE - 2699, ca.MX), (1, INLINE, 0, ca.SX)])
def test_a_short_step_is_one_expression(rates, work, end, kind):
    rate, last = (SimpleNamespace(n_instructions=lambda n=n: n) for n in (work, end))
    assert Flow(None, rate, None, last, None).symbol(rates) is kind


# -- discrete gradients ----------------------------------------------------------------------------
@pytest.mark.parametrize("dt", [1e-3, 0.1])
def test_a_discrete_gradient_is_the_difference_quotient_of_one_coordinate(dt):
    """(v' - v) / dt = -(V(q') - V(q)) / (q' - q), and (q' - q) / dt = (v + v') / 2."""
    x = ca.SX.sym("x")
    V = ca.Function("V", [x], [x ** 4 - ca.cos(3 * x)])
    system = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2 - V(s.q.x))
    step = advance_function(Simulated.of(constrain(system, rows={})).equations,
                            SCHEMES["discrete_gradient"].method)
    q, v = 0.4, 0.7
    (end, speed), *_, is_solved = (part.full().ravel() for part in step(0.0, [q, v], [], [], dt))
    assert is_solved == 1 and end - q == pytest.approx(dt * (v + speed) / 2, rel=1e-11, abs=0)
    assert (speed - v) / dt == pytest.approx(float(V(q) - V(end)) / (end - q),
                                               rel=2e-13 / dt)


@pytest.mark.parametrize("name", ["discrete_gradient", "gauss4", "gauss"])
def test_steps_of_springs_are_rational(name):
    """Pade's approximation of exp(z): of order 1, the midpoint rule, to which a discrete gradient
    comes down where the energy is quadratic, and of as many orders as there are stages."""
    stiffness = np.array([[3.0, -1.0], [-1.0, 2.0]])
    system = lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 - ca.bilin(ca.DM(stiffness), ca.vertcat(s.q.x, s.q.y))) / 2)
    step = advance_function(Simulated.of(constrain(system, rows={})).equations,
                            SCHEMES[name].method)
    z = 0.7 * np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, np.zeros((2, 2))]])
    terms = {"discrete_gradient": [1, 1 / 2], "gauss4": [1, 1 / 2, 1 / 12],
             "gauss": [1, 1 / 2, 1 / 10, 1 / 120]}[name]
    above, below = (sum(term * np.linalg.matrix_power(sign * z, k) for k, term in enumerate(terms))
                    for sign in (1, -1))
    x = np.random.default_rng(5).normal(size=4)
    np.testing.assert_allclose(step(0.0, x, [], [], 0.7)[0].full().ravel(),
                               np.linalg.solve(below, above @ x), rtol=1e-12)


def test_a_discrete_gradient_of_a_sleigh_is_the_midpoint_rule():
    """(xi' - xi) / dt = f((xi + xi') / 2) where the energy is a constant quadratic form of xi."""
    equations = Simulated.of(load_system("chaplygin_sleigh")).equations
    step = advance_function(equations, SCHEMES["discrete_gradient"].method)
    theta = equations.constrained.parameters
    x = np.r_[0.3, -0.2, 0.9, 1.2, -0.7]
    end = step(0.0, x, [], theta, 0.1)[0].full().ravel()
    middle = rate_function(equations)(0.0, (x + end) / 2, [], theta).full().ravel()
    assert np.abs(middle[3:]).min() > 0.1
    np.testing.assert_allclose((end - x)[3:] / 0.1, middle[3:], rtol=1e-12)


def test_a_discrete_gradient_keeps_the_energy_on_a_crooked_wire():
    """Steps leave the wire by so much that one step of Newton's method does not lead back to it."""
    system = lagrangian_system(euclidean("x", "y"), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2) / 2 - 3 * s.q.y)
    y = np.linspace(-0.45, 0.45, 8)
    equations = Simulated.of(constrain(
        system, holonomic={"wire": lambda s: s.q.y + s.q.y ** 3 - ca.sin(2 * s.q.x)},
        samples=np.column_stack([np.arcsin(y + y ** 3) / 2, y]))).equations
    step = advance_function(equations, SCHEMES["discrete_gradient"].method)
    assert equations.names == ("y'",)
    energies, end = [], np.r_[np.arcsin(0.35 + 0.35 ** 3) / 2, 0.35, 0.6]
    for _ in range(5):
        x, y, speed = end
        slope = (1 + 3 * y ** 2) / (2 * np.cos(2 * x))       # dx/dy
        energies.append((slope ** 2 + 2) * speed ** 2 / 2 + 3 * y)
        end, _, *answers = (part.full().ravel() for part in step(0.0, end, [], [], 0.1))
        assert all(answers)
    assert np.ptp(energies) < 1e-14 and end[1] > 0.45


def test_kahan_kicks_in_the_middle_of_a_drift():
    """Springs, whose force is that of the middle, dampers by the trapezium, and a force of time."""
    flow, dt = coupled(), 0.3
    f = np.column_stack([flow.rate(0.0, e, [], []).full().ravel() for e in np.eye(4)])[2:]
    step = SCHEMES["kahan"].method.step(flow)
    x = np.random.default_rng(6).normal(size=4)
    middle = x[:2] + dt / 2 * x[2:]
    D = dt / 2 * f[:, 2:]
    v = np.linalg.solve(np.eye(2) - D, (np.eye(2) + D) @ x[2:] + dt * f[:, :2] @ middle)
    np.testing.assert_allclose(step(0.0, x, [], [], dt)[0].full().ravel(),
                               np.r_[middle + dt / 2 * v, v], rtol=1e-12)


@pytest.mark.parametrize("name, power", [("rk4", 2), ("gauss4", 1), ("gauss", 2), ("kahan", 1)])
def test_forces_of_time_are_integrated(name, power):
    """x'' = t^n from t = 0.5 on, where all stages are exact; of a splitting the speed alone."""
    moved = mass(lambda s: s.t ** power)
    step = advance_function(moved.equations, SCHEMES[name].method)
    end = step(0.5, [1.0, 0.0, 2.0, 0.0], [], [], 0.4)[0].full().ravel()
    first, second = ((0.9 ** (power + k) - 0.5 ** (power + k)) for k in (1, 2))
    assert end[2] == pytest.approx(2 + first / (power + 1), rel=1e-13, abs=0)
    if name != "kahan":
        place = 1 + 0.8 + second / (power + 1) / (power + 2) - (
            0.5 ** (power + 1) * 0.4 / (power + 1))
        assert end[0] == pytest.approx(place, rel=1e-13, abs=0)


def test_an_implicit_step_takes_as_many_rates_for_each_stage():
    assert Gauss(3).rates == 3 * Gauss(1).rates > 3


# -- what schemes ask of a motion ------------------------------------------------------------------
def mass(force=lambda s: 0.0, potential=lambda s: 0.0, **options) -> Simulated:
    system = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2
                               - potential(s), force=lambda s: {"x": force(s)})
    return Simulated.of(constrain(system, **{"rows": {}} | options))


@pytest.mark.parametrize("made, driven, kinematic, reasons", [
    (lambda: mass(potential=lambda s: s.q.x ** 4), False, False, []),
    (lambda: mass(lambda s: -1e-7 * s.v.x), False, False, ["forces do work"]),
    (lambda: mass(lambda s: 1e-7 * s.v.x), False, False, ["forces do work"]),
    (lambda: mass(lambda s: -1e-11 * s.v.x), False, False, []),
    (lambda: mass(lambda s: -ca.fmax(s.v.x, 0)), False, False, ["forces do work"]),  # one way only
    (lambda: mass(lambda s: -1e-7 * s.v.x, lambda s: 1e4), False, False, []),   # of much energy
    (lambda: mass(potential=lambda s: s.t), False, False, ["the energy depends on time"]),
    (lambda: mass(lambda s: ca.sin(s.t)), False, False, ["forces depend on time"]),
    (lambda: mass(lambda s: ca.fmax(s.t - 1, 0)), False, False, ["forces depend on time"]),
    (lambda: mass(potential=lambda s: ca.sin(s.t) * s.q.y * s.v.x), False, False,
     ["the energy depends on time"]),
    (lambda: mass(rows={"drift": lambda s: s.v.y - 1}), False, False, ["constraints are affine"]),
    (lambda: mass(rows={"still": lambda s: s.v.y}), False, False, []),
    (lambda: mass(rows={"turns": lambda s: s.v.y - (1 + s.t) * s.v.x}), False, False, []),
    (lambda: mass(lambda s: -s.v.x, lambda s: s.t, rows={"drift": lambda s: s.v.y - 1}), True,
     False, ["inputs act", "constraints are affine", "the energy depends on time"]),
    (lambda: mass(lambda s: -s.v.x), True, True, ["speeds are commanded"]),
    (lambda: Simulated.of(shipped("differential_drive")), False, False, []),
    (lambda: Simulated.of(shipped("differential_drive").with_parameters(
        {"left_wheel_joint.rolling_resistance": 0.1, "right_wheel_joint.damping": 0.1})), False,
     False, ["dampers or rolling resistance of left_wheel_joint, right_wheel_joint"])])
def test_why_energy_changes(made, driven, kinematic, reasons):
    assert changes_of_energy(made(), driven=driven, kinematic=kinematic) == reasons


@pytest.mark.parametrize("size, share, is_quadratic", [
    (3.0, 0.0, True), (3.0, 1e-10, True), (3.0, 1e-6, False), (1e10, 0.0, True),
    (1e10, 1e3, False)])
def test_a_force_of_the_third_degree_in_the_speeds_is_not_quadratic(size, share, is_quadratic):
    """Beside one of the second degree, whose rounding is none."""
    moved = mass(lambda s: -size * s.v.y ** 2 + share * s.v.x ** 3)
    assert check_scheme(SCHEMES["kahan"], moved, driven=False, kinematic=True) is not None
    for name in ("rk4", "gauss"):
        check_scheme(SCHEMES[name], moved, driven=False, kinematic=False)
    if is_quadratic:
        check_scheme(SCHEMES["kahan"], moved, driven=False, kinematic=False)
    else:
        with pytest.raises(InputError, match="'kahan' needs accelerations that are quadratic"):
            check_scheme(SCHEMES["kahan"], moved, driven=False, kinematic=False)


# -- what moves with time --------------------------------------------------------------------------
def test_a_discrete_gradient_ends_where_forces_work_that_no_sample_met():
    """A mass at 10 m/s comes to a damper at 5 m; it went through it without a loss."""
    made = mass(lambda s: -ca.fmax(s.q.x - 5, 0) * s.v.x)
    assert changes_of_energy(made, driven=False, kinematic=False) == []
    simulator = Simulator(made.constrained, dt=0.01, integrator="discrete_gradient")
    simulator.reset(q=[0.0, 0.0], xi=[10.0, 1.0])
    with pytest.raises(SimulationError, match="forces do work.*Take integrator='gauss'") as error:
        simulator.run(1.0)
    run = error.value.trajectory
    assert 0.5 < run.t[-1] <= 0.5 + 2 * 0.01
    np.testing.assert_allclose(run.q[:-1, 0], 10 * run.t[:-1], rtol=1e-12)
    batch = simulate_batch(made.constrained, np.array([[0.0, 0, 10, 1], [0, 0, -10, 1]]), dt=0.01,
                           duration=1.0, integrator="discrete_gradient")
    assert list(batch.status) == [Status.WORKED, Status.DONE]


MOVING = [name for name in SCHEMES if not SCHEMES[name].is_conservative]


@pytest.mark.parametrize("name", SCHEMES)
def test_a_single_coordinate_may_be_led_along(name):
    """No speed is left: x = 0.2 + t^3 / 3 for x' = t^2, and rest where energy is to be kept."""
    system = lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2)
    moves = name in MOVING
    led = constrain(system, rows={"leads": (lambda s: s.v.x - s.t ** 2) if moves
                                  else (lambda s: s.v.x)})
    simulator = Simulator(led, dt=0.01, integrator=name)
    simulator.reset(q=[0.2])
    run = simulator.run(1.0)
    assert run.stop == "duration"
    np.testing.assert_allclose(run.q[:, 0], 0.2 + moves * run.t ** 3 / 3, rtol=0,
                               atol=2e-5 if name in ("gauss", "kahan") else 1e-12)
    np.testing.assert_allclose(run.v[:, 0], moves * run.t ** 2, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", MOVING)
def test_a_step_ends_where_and_as_fast_as_constraints_are_then(name):
    """y = t^3 / 3 and s' = t^2, of the end of a step from t = 0.5, in which x moves freely; of the
    schemes of fixed steps also where a step ends off the constraints."""
    system = lagrangian_system(euclidean("x", "y", "s"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.s ** 2) / 2)
    places = np.column_stack([np.linspace(-1, 1, 8), np.zeros(8), np.linspace(2, 3, 8)])
    equations = Simulated.of(constrain(system, rows={"turns": lambda s: s.v.s - s.t ** 2},
                                       holonomic={"lifts": lambda s: s.q.y - s.t ** 3 / 3},
                                       samples=places)).equations
    assert equations.names == ("x'",)
    t, dt = 0.5, 0.25
    start = np.array([1.0, t ** 3 / 3, 0.0, 2.0])
    step = python_step(equations, SCHEMES[name], False, None)
    found = step(t, start, np.zeros(0), np.zeros(0), dt, np.nan, np.nan)
    assert found.t == t + dt and found.status is Status.DONE
    places = [1.5, 0.75 ** 3 / 3, (0.75 ** 3 - 0.5 ** 3) / 3]
    np.testing.assert_allclose(found.q, places, rtol=0, atol=3e-3 if name == "kahan" else 1e-12)
    np.testing.assert_allclose(found.q[1], places[1], rtol=1e-14)
    np.testing.assert_allclose(found.v, [2.0, 0.75 ** 2, 0.75 ** 2], rtol=1e-13)
    if SCHEMES[name].method is not None:
        off = step(t, start + [0, 1e-7, 0, 0], np.zeros(0), np.zeros(0), dt, np.nan, np.nan)
        np.testing.assert_allclose(off.q[1], places[1], rtol=1e-14)


def test_a_lift_changes_one_function_and_nothing_else():
    """At unit rate; neither the other one, nor what the row between the velocities holds, nor the
    speeds. It tells the functions as they are then."""
    system = lagrangian_system(euclidean("x", "y", "z", "s"), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2 + 3 * s.v.z ** 2 + s.v.s ** 2 + s.v.x * s.v.y) / 2)
    places = np.linspace(-1, 1, 8)
    equations = Simulated.of(constrain(
        system, rows={"turns": lambda s: s.v.s - s.q.x * s.v.x + s.q.z * s.v.y},
        holonomic={"swings": lambda s: s.q.y - s.q.x ** 2 - ca.sin(s.t),
                   "twists": lambda s: 2 * s.q.z - s.q.x * s.q.y * ca.cos(s.t)},
        samples=np.column_stack([places, places ** 2, places ** 3 / 2, places]))).equations
    vector, lift = StateVector.of(equations), lift_function(equations)
    rng = np.random.default_rng(4)
    for _ in range(3):
        t, x = rng.normal(), rng.normal(size=vector.nx)
        directions, phi = (part.full() for part in lift(t, x, []))
        a, b, c = x[:3]
        np.testing.assert_allclose(phi.ravel(), [b - a ** 2 - np.sin(t),
                                                 2 * c - a * b * np.cos(t)], rtol=1e-12)
        slopes = np.array([[-2 * a, 1, 0, 0], [-b * np.cos(t), -a * np.cos(t), 2, 0],
                           [-a, c, 0, 1]])
        np.testing.assert_allclose(slopes @ directions[:4], np.eye(3, 2), rtol=0, atol=1e-12)
        assert directions.shape == (vector.nx, 2) and not directions[4:].any()
        speed = list(equations.frame.speeds)
        np.testing.assert_allclose(directions[speed], 0, atol=1e-12)


@pytest.mark.parametrize("dt", [0.1, -0.05])
@pytest.mark.parametrize("name", [name for name in MOVING if name in FIXED])
def test_a_step_back_in_time_leads_back_where_constraints_move(name, dt):
    """To rounding, by symmetric schemes and by no others: a bead on a wire that swings and grows,
    beside a turntable that speeds up."""
    system = lagrangian_system(euclidean("x", "y", "s"), lambda s: (
        s.v.x ** 2 + 2 * s.v.y ** 2 + 3 * s.v.s ** 2) / 2 - s.q.y * (1 + s.t ** 2))
    x = np.linspace(-1, 1, 8)
    equations = Simulated.of(constrain(
        system, rows={"turns": lambda s: s.v.s - s.q.x * s.v.x - s.t ** 2},
        holonomic={"wire": lambda s: s.q.y - (1 + s.t) * ca.sin(s.q.x + 3 * s.t)},
        samples=np.column_stack([x, np.sin(x), x]))).equations
    t, step = 0.4, advance_function(equations, SCHEMES[name].method)
    start = projection_function(equations)(t, [0.3, 1.4, 0.2, 0.9], [])[0].full().ravel()
    end, _, *is_solved = (part.full().ravel() for part in step(t, start, [], [], dt))
    back, _, *is_solved_too = (part.full().ravel() for part in step(t + dt, end, [], [], -dt))
    assert all(is_solved + is_solved_too)
    off = np.abs(back - start).max()
    assert off <= 2e-14 if SCHEMES[name].symmetric else off > 1e-5
    assert np.abs(end - start)[:2].min() > 0.02
    phi = projection_function(equations)(t + dt, end, [])[3][0]
    assert float(phi) < 1e-14


@pytest.mark.parametrize("name", ["disc", "bicycle", "trailers"])
def test_a_projection_leads_to_the_ground_at_once(name):
    """By Newton's method, whose error is quadratic, without a change of the speeds; what it tells
    is the error before."""
    vehicle = shipped(name, Ground(normal=(0.2, -0.1, 1.0)))
    equations = Simulated.of(vehicle).equations
    vector, project = StateVector.of(equations), projection_function(equations)
    rng = np.random.default_rng(7)
    for q in vehicle.constrained.configurations[:3]:
        x = vector.assemble(q, rng.normal(size=vector.nxi))
        x = project(0.0, x, vehicle.theta)[0].full().ravel()
        off = x + np.r_[1e-5 * rng.normal(size=vector.nconf), np.zeros(vector.nxi)]
        moved, q, v, health = (part.full().ravel() for part in project(0.0, off, vehicle.theta))
        before, after = (np.abs(vehicle.constraint_error(0.0, vector.configuration(
            one[:vector.nconf]), v)[1]).max() for one in (unit(off), moved))
        assert before == pytest.approx(health[0], rel=1e-9) and before > 1e-6
        assert after < before * 1e-3 and np.abs(moved - off).max() < 20 * before + 1e-4
        np.testing.assert_array_equal(moved[vector.nconf:], off[vector.nconf:])
        np.testing.assert_allclose(q, vector.configuration(moved[:vector.nconf]), rtol=1e-14)
        assert np.linalg.norm(q[3:7]) == pytest.approx(1.0, rel=1e-13, abs=0)
        rates, _ = vehicle.constraint_error(0.0, q, v)
        assert np.abs(rates).max() < 1e-12


def test_quaternions_are_made_unit_and_nothing_else_changes():
    vector = StateVector.of(Simulated.of(shipped("disc")).equations)
    x = np.random.default_rng(3).normal(size=vector.nconf)
    found = ca.evalf(vector.unit(ca.SX(ca.DM(x)))).full().ravel()
    np.testing.assert_allclose(found, unit(x), rtol=1e-14)
    assert len(x) > 7 and abs(np.linalg.norm(x[3:7]) - 1) > 0.1


def unit(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x[3:7] /= np.linalg.norm(x[3:7])
    return x


@pytest.mark.parametrize("slope, is_kept", [(0.0, True), (1e-6, False), (0.3, False)])
def test_only_on_level_ground_are_constraints_kept_without_a_projection(slope, is_kept):
    """A slope of a micrometre in a metre is none."""
    vehicle = shipped("differential_drive", Ground(normal=(slope, 0.0, 1.0)))
    assert (keeping_advance_function(vehicle.equations, RK4) is not None) is is_kept


@pytest.mark.parametrize("wave, tilt, is_kept", [
    (0.0, 0.0, True), (1e-5, 0.0, False), (0.0, 1e-10, False), (1e-5, 1e-10, False)])
def test_steps_without_a_projection_change_neither_constraints_nor_guards(wave, tilt, is_kept):
    """A track z = wave sin(x), which a step of 0.3 s leaves by picometres; a guard of a slope."""
    system = lagrangian_system(euclidean("x", "z"), lambda s: (s.v.x ** 2 + s.v.z ** 2) / 2)
    x = np.linspace(-1, 2, 8)
    made = constrain(system, holonomic={"track": lambda s: s.q.z - wave * ca.sin(s.q.x)},
                     samples=np.column_stack([x, wave * np.sin(x)]))
    made = replace(made, guards=1 + tilt * system.q[0], guard_names=("it is too steep",))
    equations = Simulated.of(made).equations
    assert (keeping_advance_function(equations, RK4) is not None) is is_kept


# -- where a step of any length cannot be taken ----------------------------------------------------
@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_compiler), False],
                         ids=["compiled", "SciPy's"])
@pytest.mark.parametrize("force, start, v, status, end", [
    (lambda s: s.v.x ** 2, 0.0, 1.0, Status.TOO_SMALL, 1.0),            # v = 1 / (1 - t)
    (lambda s: ca.sqrt(0.5 - s.t), 0.0, 1.0, Status.TOO_SMALL, 0.5),
    (lambda s: ca.sqrt(0.5 - s.t), 0.6, 1.0, Status.NOT_FINITE, 0.6),
    (lambda s: 1 / s.v.x, 0.3, 0.0, Status.NOT_FINITE, 0.3),
    (lambda s: ca.cos(s.t), 0.3, 1.0, Status.DONE, 2.3)])
def test_an_adaptive_method_ends_where_the_motion_does(force, start, v, status, end, compiled):
    """With the time that was reached, by either code; also where there is no rate to begin with."""
    equations = mass(force).equations
    step = python_step(equations, SCHEMES["dop853"], False, compile_adaptive(
        rate_function(equations)) if compiled else None)
    with at_most(20), np.errstate(all="ignore"):
        found = step(start, np.array([0.0, 0.0, v, 0.0]), np.zeros(0), np.zeros(0), 2.0, np.nan,
                     np.nan)
    assert found.status is status and found.t == pytest.approx(end, abs=1e-9)
    if status is Status.NOT_FINITE:
        assert found.x.tolist() == [0.0, 0.0, v, 0.0]
