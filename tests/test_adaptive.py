"""DOP853 in C: against SciPy's, its tolerance, and how it ends where it cannot go on."""

from __future__ import annotations

import os
import signal
import threading

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import needs_compiler, shipped

import nhmech
from nhmech import SimulationError, Simulator
from nhmech.compile.adaptive import compile_adaptive
from nhmech.compile.status import Status
from nhmech.paths import urdf_path
from nhmech.simulation import atlas, pacing

NOTHING = np.zeros(1)


def system(name: str, rate) -> ca.Function:
    """(t, x, u, theta) -> dx/dt for x of two numbers."""
    t, x, u, theta = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("u", 1), ca.SX.sym("theta", 1)
    return ca.Function(name, [t, x, u, theta], [ca.densify(ca.vertcat(*rate(t, x, u, theta)))])


@needs_compiler
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("span", [0.01, 3.0, 50.0, -3.0])
def test_a_driven_oscillator_within_its_tolerance(span, tolerance):
    """x'' = -theta^2 x + u t from rest at 1 has x = cos(theta t) + u (t / theta^2 - sin(theta t) /
    theta^3)."""
    adaptive = compile_adaptive(system("driven", lambda t, x, u,
                                        theta: (x[1], -theta ** 2 * x[0] + u * t)))
    u, w = 0.3, 2.0
    x, status, reached = adaptive.run(0.0, np.array([1.0, 0.0]), np.array([u]), np.array([w]), span,
                                      tolerance, tolerance)
    assert status is Status.DONE and reached == span
    exact = np.cos(w * span) + u * (span / w ** 2 - np.sin(w * span) / w ** 3)
    assert x[0] == pytest.approx(exact, abs=100 * tolerance * max(1.0, abs(span)))


@needs_compiler
def test_steps_are_those_of_scipy():
    """The same method with the same control: errors of the same size at each tolerance on a
    stiffening oscillator."""
    rate = system("van_der_pol", lambda t, x, u, theta: (x[1], 3 * (1 - x[0] ** 2) * x[1] - x[0]))
    adaptive = compile_adaptive(rate)

    def scipy(tolerance):
        solution = solve_ivp(lambda t, y: rate(t, y, 0, 0).full().ravel(), (0, 10), [2.0, 0.0],
                             method="DOP853", rtol=tolerance, atol=tolerance)
        return solution.y[:, -1]

    reference = scipy(1e-13)
    for tolerance in (1e-5, 1e-7, 1e-9):
        x, *ending = adaptive.run(0.0, np.array([2.0, 0.0]), NOTHING, NOTHING, 10.0, tolerance,
                                  tolerance)
        assert ending == [Status.DONE, 10.0]
        error, theirs = np.abs(x - reference).max(), np.abs(scipy(tolerance) - reference).max()
        assert error < 20 * max(theirs, tolerance)


@needs_compiler
def test_a_span_may_be_cut_anywhere():
    rate = system("pendulum", lambda t, x, u, theta: (x[1], -9.81 * ca.sin(x[0])))
    adaptive, parts = compile_adaptive(rate), np.array([3.0, 0.0])
    whole, *_ = adaptive.run(0.0, parts, NOTHING, NOTHING, 4.0, 1e-12, 1e-12)
    for a, b in zip([0, 0.1, 1.7, 1.7001], [0.1, 1.7, 1.7001, 4.0]):
        parts, status, _ = adaptive.run(a, parts, NOTHING, NOTHING, b - a, 1e-12, 1e-12)
        assert status is Status.DONE
    np.testing.assert_allclose(parts, whole, rtol=1e-9)
    np.testing.assert_allclose(whole[1] ** 2 / 2 - 9.81 * np.cos(whole[0]), -9.81 * np.cos(3.0),
                               rtol=1e-10)


@needs_compiler
def test_where_it_cannot_go_on_it_says_so():
    # x = 1 / (1 - t)
    blows_up = compile_adaptive(system("blows_up", lambda t, x, u, theta: (x[0] ** 2, 0)))
    _, status, reached = blows_up.run(0.0, np.array([1.0, 0.0]), NOTHING, NOTHING, 2.0, 1e-9, 1e-9)
    assert status is Status.TOO_SMALL and reached == pytest.approx(1.0, abs=1e-6)
    root = compile_adaptive(system("root", lambda t, x, u, theta: (ca.sqrt(x[0]), 0)))
    for x in (-1.0, np.nan):
        _, status, _ = root.run(0.0, np.array([x, 0.0]), NOTHING, NOTHING, 1.0, 1e-9, 1e-9)
        assert status is Status.NOT_FINITE


DISC = dict(pose=(0, 0, 0, 0.35, 0, 0.2), xi={"spin_joint": 8.0, "yaw_rate": 0.5, "roll_rate": 0.3})
RUNS = {
    "disc": DISC,
    "bicycle": dict(pose=(0, 0, 0, 0.1, 0, 0.3), xi={"rear_wheel_joint": 17.0, "roll_rate": 0.2}),
    "trailers": dict(joints={"front_left_steering_joint": 0.4, "hitch_1_joint": 0.5},
                     xi={"rear_left_wheel_joint": 6.0}),
}


def whole(name: str, controller=None, **options):
    """A run of 2 s, of which each 10 ms is shown."""
    made = Simulator(shipped(name), controller, dt=1e-2, integrator="dop853", **options)
    made.reset(**RUNS[name])
    return made.run(2.0)


@needs_compiler
@pytest.mark.parametrize("name", RUNS)
def test_what_is_shown_between_steps_is_as_good_as_steps_that_end_there(name, monkeypatch):
    """The loop goes by steps of its own and interpolates; without it each 10 ms is integrated for
    itself. Constraints hold either way."""
    run = whole(name)
    for t, q, v in list(zip(run.t, run.q, run.v))[::20]:
        rows, phi = shipped(name).constraint_error(t, q, v)
        assert np.abs(rows).max() <= 1e-12 * np.abs(v).max() and np.abs(phi).max() <= 1e-12
    monkeypatch.setattr(atlas.Chart, "loop", lambda self, build: None)
    apart = whole(name)
    np.testing.assert_array_equal(run.t, apart.t)
    np.testing.assert_allclose(run.q, apart.q, rtol=0, atol=2e-9)
    np.testing.assert_allclose(run.v, apart.v, rtol=0, atol=2e-9 * np.abs(apart.v).max())


@needs_compiler
def test_where_calls_end_does_not_matter(monkeypatch):
    """The method is ahead of what is shown and goes on where it was:
    the same numbers from calls of any length, also of none."""
    expected = whole("disc")
    for chunk, attempts in ((300, 2000), (10 ** 5, 2000), (10 ** 5, 3)):
        with monkeypatch.context() as patch:
            patch.setattr(pacing, "CHUNK", chunk)
            patch.setattr("nhmech.compile.adaptive.ATTEMPTS", attempts)
            found = whole("disc")
        np.testing.assert_array_equal(found.t, expected.t)
        np.testing.assert_array_equal(found.q, expected.q)


@needs_compiler
def test_a_controller_is_asked_once_however_often_c_comes_back(monkeypatch):
    monkeypatch.setattr("nhmech.compile.adaptive.ATTEMPTS", 1)
    asked = []
    made = Simulator(shipped("disc"), lambda t, state: asked.append(t), dt=0.2, integrator="dop853")
    made.reset(**DISC)
    run = made.run(2.0)
    assert asked == pytest.approx(np.arange(10) * 0.2, abs=1e-15)
    assert run.t == pytest.approx(np.arange(11) * 0.2, abs=1e-15)


@needs_compiler
def test_inputs_are_held_over_their_period_and_no_longer():
    """Torques that change each 50 ms: no step may reach beyond.
    The energy gained between any two moments is the work done."""
    def torques(t, state):
        return np.array([0.1, 0.2]) * (1 if round(t / 0.05) % 2 else -0.5)

    made = Simulator(shipped("differential_drive"), torques, dt=1e-2, control_period=5e-2,
                     integrator="dop853")
    made.reset(xi={"forward_speed": 0.3})
    run = made.run(1.0)
    turned = run.angles[
        :, [run.names["angles"].index(name) for name in ("left_wheel_joint", "right_wheel_joint")]
    ]
    work = np.sum(run.u[:-1] * np.diff(turned, axis=0), axis=1)
    assert len(np.unique(run.u[:, 0])) == 2
    np.testing.assert_allclose(np.diff(run.energy), work, rtol=0, atol=1e-12 * run.energy.max())


@needs_compiler
def test_ctrl_c_ends_an_adaptive_run_cleanly():
    made = Simulator(shipped("disc"), dt=1e-2, integrator="dop853")
    made.reset(**DISC)
    timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    made.run(0.01)
    timer.start()
    run = made.run(1e6, every=100)
    timer.join()
    assert run.stop == "interrupted" and np.isfinite(run.q).all()
    assert np.allclose(np.diff(run.t)[:-1], 1.0, rtol=1e-9) and 0 < np.diff(run.t)[-1] <= 1 + 1e-9


@needs_compiler
def test_a_disc_that_falls_flat_stops_an_adaptive_run_too():
    made = Simulator(shipped("disc"), dt=1e-3, integrator="dop853", on_lift="ignore")
    made.reset((0, 0, 0, 0.5, 0, 0))
    with pytest.raises(
        SimulationError, match="the axle of 'spin_joint' is parallel to the ground's normal"
    ) as caught:
        made.run(3.0)
    run = caught.value.trajectory
    assert len(run) > 100 and np.all(np.diff(run.t) > 0)
    np.testing.assert_allclose(np.diff(run.t)[:-1], 1e-3, rtol=1e-9)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-12)


def end(name: str, **start) -> np.ndarray:
    """Of a vehicle of its own: others of the same name share what was compiled."""
    simulator = Simulator(nhmech.load(urdf_path(name)), dt=0.25, integrator="dop853")
    simulator.reset(**start)
    run = simulator.run(1.0, every=10 ** 9)
    return np.r_[run.q[-1], run.v[-1]]


@needs_compiler
@pytest.mark.parametrize(("name", "start"), RUNS.items())
def test_vehicles_move_the_same_with_and_without_a_compiler(name, start, monkeypatch):
    compiled = end(name, **start)
    used = []
    monkeypatch.setattr(atlas, "compile_adaptive", lambda *parts: used.append(parts))
    np.testing.assert_allclose(compiled, end(name, **start), rtol=1e-8, atol=1e-9)
    assert used


@needs_compiler
def test_a_failure_carries_the_run_so_far(monkeypatch):
    simulator = Simulator(shipped("disc"), lambda t, state: np.zeros(0), dt=1e-2,
                          integrator="dop853")
    simulator.reset(pose=(0, 0, 0, 0.35, 0, 0.2), xi={"spin_joint": 8.0})
    simulator.moment.x[-1] = np.nan
    with pytest.raises(SimulationError,
                       match="DOP853 stopped at t = 0 s: the rate is not finite") as caught:
        simulator.run(0.1)
    assert len(caught.value.trajectory) >= 1
