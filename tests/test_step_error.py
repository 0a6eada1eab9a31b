"""Steps that are too long for a motion are noticed, and what is no motion at all is not gone on
with."""

from __future__ import annotations

import re
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from support import needs_compiler, shipped

import nhmech
from nhmech import SimulationError, Simulator, Trajectory
from nhmech.compile.loop_error import steps_to_estimate
from nhmech.control.demo import DemoDrive
from nhmech.mechanics import (
    constrain,
    euclidean,
    lagrangian_system,
    product,
    rotation,
    special_orthogonal,
)
from nhmech.simulation.step_error import TOLERANCE, StepGauge, Trial, step_notice
from nhmech.systems import load_system
from nhmech.urdf.notice import NoticeKind


def test_a_loop_ends_after_the_step_that_is_estimated():
    """Steps 0, 1, 2, 4, 8, ..., 256 and each further 256th are, whatever the speeds do."""
    due = [k for k in range(3000) if k % 256 == 0 or (k < 256 and k.bit_count() == 1)]
    for k in range(2500):
        assert k + steps_to_estimate(k) - 1 == next(at for at in due if at >= k)


def spinning(dt: float, integrator: str = "rk4", **options) -> Simulator:
    """A differential drive that turns at 100 rad/s."""
    simulator = Simulator(shipped("differential_drive"), dt=dt, integrator=integrator,
                          on_lift="ignore", **options)
    simulator.reset(xi={"forward_speed": 1.0, "yaw_rate": 100.0})
    return simulator


def rocking(dt: float, integrator: str = "rk4") -> Simulator:
    example = load_system("rattleback")
    simulator = Simulator(example, dt=dt, integrator=integrator)
    simulator.reset(q=np.array(example.start["q"]), xi=list(example.start["xi"]))
    return simulator


def coarse(run: Trajectory) -> list:
    return [notice for notice in run.notices if notice.kind is NoticeKind.COARSE_STEPS]


def named_step(notice) -> float:
    return float(re.search(r"--dt (\S+),", notice.remedy.command).group(1))


@pytest.mark.parametrize("made, dt, duration", [(spinning, 0.02, 2.0), (rocking, 5e-3, 5.0)])
def test_steps_that_are_too_long_are_noticed_and_a_step_that_does_is_named(made, dt, duration,
                                                                          caplog, tmp_path):
    run = made(dt).run(duration, save=tmp_path / "run.npz")
    notice, = coarse(run)
    assert str(notice) in caplog.text
    exact, scale = made(dt, "dop853").run(duration), 1 + np.abs(run.q[-1])
    assert (np.abs(run.q[-1] - exact.q[-1]) / scale).max() > TOLERANCE / 10
    shorter = named_step(notice)
    assert shorter < dt and (dt / shorter) == pytest.approx(round(dt / shorter), rel=1e-12)
    better = made(shorter).run(duration)
    assert not coarse(better) and not coarse(exact)
    assert (np.abs(better.q[-1] - exact.q[-1]) / scale).max() < TOLERANCE
    assert coarse(Trajectory.load(tmp_path / "run.npz")) == [notice]


@pytest.mark.parametrize("name", [
    name if name in ("bicycle", "coin", "pendulum", "trailers") else
    pytest.param(name, marks=pytest.mark.soak) for name in nhmech.urdf_names()])
def test_a_healthy_run_has_no_notice(name):
    """All shipped vehicles as they are driven by default; the margin is a hundredfold."""
    vehicle = shipped(name)
    drive = DemoDrive(vehicle)
    simulator = Simulator(vehicle, drive, control_period=0.01)
    simulator.reset(**drive.start)
    run = simulator.run(6.0, every=100)
    assert not coarse(run)
    assert simulator.propagator.gauge.total(simulator.moment.k) < TOLERANCE / 100


def test_errors_that_stiff_dampers_take_away_are_no_reason_for_a_notice():
    """Efforts that change every 10 ms, against dampers that die out at 2000 1/s: the speeds just
    after a change are inexact, and nothing else."""
    vehicle = shipped("differential_drive")
    stiff = vehicle.with_parameters({f"{joint}.damping": 69.0 for joint in vehicle.driven})

    def push(t, state):
        return nhmech.JointTorque(dict.fromkeys(vehicle.driven, 5 * np.sign(np.sin(60 * t))))

    runs = []
    for integrator in ("rk4", "dop853"):
        simulator = Simulator(stiff, push, dt=1e-3, control_period=0.01, integrator=integrator)
        runs.append(simulator.run(4.0))
        if integrator == "rk4":
            assert simulator.propagator.gauge.is_coarse(simulator.moment)
    assert not coarse(runs[0])
    assert np.abs(runs[0].q - runs[1].q).max() < TOLERANCE / 10


@pytest.mark.parametrize("made, dt, duration", [(spinning, 0.02, 1.0), (rocking, 5e-3, 4.0)])
def test_the_integrator_is_chosen_where_that_pays(made, dt, duration):
    run, adaptive = (made(dt, name).run(duration) for name in ("auto", "dop853"))
    np.testing.assert_allclose(run.q[-1], adaptive.q[-1], rtol=0, atol=1e-7)
    assert run.settings["integrator"] == "auto" and not coarse(run)


def test_the_first_integrator_stays_where_it_does_and_comes_back_with_a_reset():
    simulator = spinning(0.02, "auto")
    simulator.run(0.1)
    assert simulator.atlas.primary.scheme.name == "dop853"
    simulator.reset(xi={"forward_speed": 0.1})
    run = simulator.run(1.0)
    plain = Simulator(shipped("differential_drive"), dt=0.02)
    plain.reset(xi={"forward_speed": 0.1})
    assert simulator.atlas.primary.scheme.name == "rk4"
    np.testing.assert_array_equal(run.q, plain.run(1.0).q)


def test_a_motion_that_becomes_fast_changes_the_integrator_on_its_way():
    """An oscillator that gets stiffer with time, x'' = -(20 t)^2 x."""
    spring = constrain(lagrangian_system(
        euclidean("x"), lambda s: s.v.x ** 2 / 2 - (20 * s.t * s.q.x) ** 2 / 2))
    runs = []
    for integrator in ("rk4", "auto", "dop853"):
        simulator = Simulator(spring, dt=0.01, integrator=integrator)
        simulator.reset(q=[0.3], xi=[0.0])
        runs.append(simulator.run(4.0))
        assert (simulator.atlas.primary.scheme.name == "rk4") == (integrator == "rk4")
    first, chosen, exact = (run.q[:, 0] for run in runs)
    assert coarse(runs[0]) and not coarse(runs[1])
    np.testing.assert_allclose(chosen, exact, rtol=0, atol=TOLERANCE)
    assert np.abs(first - exact).max() > 10 * TOLERANCE


@needs_compiler
def test_compiled_code_judges_as_python_does():
    compiled, plain = spinning(0.005), spinning(0.005)
    compiled.run(3.0)
    for _ in range(600):
        plain.propagator.advance(0.005)
    a, b = (simulator.propagator.gauge.values for simulator in (compiled, plain))
    np.testing.assert_allclose(a[:5], b[:5], rtol=1e-5)
    assert a[2] == 512 and a[4] > 0
    # the worst state, a row without what is unwrapped
    n = 1 + len(plain.moment.q) + len(plain.moment.v) + len(plain.moment.u)
    np.testing.assert_allclose(a[5:5 + n], b[5:5 + n], rtol=1e-9, atol=1e-12)


@needs_compiler
@pytest.mark.parametrize("made, dt", [(spinning, 0.02), (rocking, 5e-3)])
def test_compiled_code_tries_other_steps_as_python_does(made, dt, monkeypatch):
    """Some hundreds of them, none of which Python takes where there is code for it."""
    simulator = made(dt)
    simulator.atlas.primary.loop(build=True)
    simulator.run(1.0)
    words = (simulator.propagator.gauge, simulator.atlas, simulator.moment,
             simulator.simulated.theta)
    compiled, plain = Trial(*words), Trial(*words)
    plain._loop = None
    for length in (dt, dt / 4, dt / 100):
        assert compiled.error(length) == pytest.approx(plain.error(length), rel=1e-6, abs=1e-15)
    assert compiled.persistence(dt) == pytest.approx(plain.persistence(dt), rel=1e-9)
    assert compiled.better_step(dt, 0.1) == plain.better_step(dt, 0.1)
    monkeypatch.setitem(vars(compiled.chart), "advance", None)     # an error, if it were asked
    assert str(step_notice(*words, dt))


def test_the_error_up_to_a_step_grows_with_the_latest_one():
    """total + latest (k - count) from the step that was judged on; another scheme adds nothing."""
    simulator = spinning(0.02)
    gauge = simulator.propagator.gauge
    gauge.values[:3] = 3e-4, 2e-6, 100
    assert [gauge.total(k) for k in (90, 100, 110)] == pytest.approx([3e-4, 3e-4, 3.2e-4],
                                                                     rel=1e-12, abs=0)
    assert [gauge.is_suspect(steps) for steps in (499, 501)] == [False, True]
    for k, late in ((449, False), (451, True)):
        simulator.moment.clock[1] = k
        assert gauge.is_coarse(simulator.moment) == late
    gauge.rest(200)
    assert [gauge.total(k) for k in (200, 300)] == pytest.approx([5e-4, 5e-4], rel=1e-12, abs=0)


def made_moment(k: int, x=(0.0, 1.0)) -> SimpleNamespace:
    """Of a system with one coordinate and one speed, t = k / 100."""
    return SimpleNamespace(k=k, t=k / 100, x=np.array(x), q=np.array([3.0]), v=np.array([4.0]),
                           u=np.array([5.0]), block=np.zeros(7))


def test_the_errors_between_two_estimates_are_those_of_a_trapezium():
    """A step of order two has 4/3 of what its halves differ by; (e1 + e2)/2 for each step from one
    estimate to the next, and the state of the worst."""
    gauge, errors, total = StepGauge(made_moment(0), order=2), {256: 1.5e-3, 512: 0.9e-3, 513: 0}, 0
    x, before, at = np.array([0.0, 1.0]), 0.0, 0
    assert len(gauge.values) == 5 + 7 + 2
    for k, error in errors.items():
        # the first coordinate is 0, so that its error is relative to 1; the other's to 1 + 1
        halves = x + [error * 0.75, 0.4 * error]
        assert gauge.judge(made_moment(k), x, 1, lambda halves=halves: halves)
        if k == 513:        # no estimate is due
            break
        total += (before + error) / 2 * (k - at)
        before, at = error, k
        assert gauge.values[:5] == pytest.approx([total, error, k, 1.0, 1.5e-3], rel=1e-12, abs=0)
    assert gauge.values[1:4] == pytest.approx([0.9e-3, 512, 1.0], rel=1e-12, abs=0)
    np.testing.assert_array_equal(gauge.values[5:9], [2.56, 3.0, 4.0, 5.0])
    assert gauge.total(600) == pytest.approx(total + 0.9e-3 * (600 - 512), rel=1e-12, abs=0)


@pytest.mark.parametrize("k, speed, is_due", [
    (0, 0.0, True), (1, 0.0, True), (2, 0.0, True), (3, 0.0, False), (64, 0.0, True),
    (255, 0.0, False), (257, 0.0, False), (768, 0.0, True), (300, 4.999, False),
    (300, 5.001, True), (300, -5.001, True)])
def test_an_estimate_is_due_at_some_steps_and_where_speeds_have_doubled(k, speed, is_due):
    """From 2: to more than twice 2 and 1."""
    gauge, asked = StepGauge(made_moment(0), order=4), []
    gauge.values[3] = 2.0
    x = np.array([100.0, speed])
    assert gauge.judge(made_moment(k), x, 1, lambda: asked.append(k) or x)
    assert bool(asked) == is_due


@pytest.mark.parametrize("error, slower, is_step", [
    (0.499, False, True), (0.501, False, False), (0.501, True, True), (np.nan, False, False)])
def test_a_step_without_a_correct_digit_is_none_unless_it_slows_down(error, slower, is_step):
    gauge, x = StepGauge(made_moment(0), order=4), np.array([0.0, 2.0])
    before = made_moment(256, x=(50.0, 2.001 if slower else 1.999))
    found = gauge.judge(before, x, 1, lambda: x + [error * 15 / 16, 0.0])
    assert found == is_step and (gauge.values[1] > 0) == is_step


# -- numbers that no motion has --------------------------------------------------------------------
def test_an_unstable_step_is_not_gone_on_with():
    """Dampers that die out at 5789 1/s, in steps of 1 ms."""
    vehicle = shipped("differential_drive")
    stiff = vehicle.with_parameters({f"{joint}.damping": 200.0 for joint in vehicle.driven})
    simulator = Simulator(stiff, dt=1e-3, on_lift="ignore")
    simulator.reset(xi={"forward_speed": 1.0})
    with pytest.raises(SimulationError, match="its result has no correct digit.*rk4 needs dt "
                                              "below") as caught:
        simulator.run(10.0)
    assert np.abs(caught.value.trajectory.v).max() < 100


def test_a_loop_that_diverges_ends_where_no_motion_is():
    """x'' = push, and push = -3 x' / dt, held: x' doubles with each step, exactly; until 1e147 it
    used to."""
    cart = constrain(lagrangian_system(euclidean("x"), lambda s: s.v.x ** 2 / 2, inputs=("push",),
                                       force=lambda s: {"x": s.u.push}))
    simulator = Simulator(cart, lambda t, state: [-3.0 * state.v[0] / 1e-3], dt=1e-3)
    simulator.reset(q=[0.0], xi=[1.0])
    with pytest.raises(SimulationError, match="beyond 1e[+]10") as caught:
        simulator.run(10.0)
    run = caught.value.trajectory
    assert np.abs(run.v).max() <= 1e10 and np.abs(run.q).max() <= 1e10
    np.testing.assert_allclose(np.abs(run.v[1:, 0] / run.v[:-1, 0]), 2.0, rtol=1e-12)


def test_a_run_in_one_piece_asks_again_for_its_integrator():
    """A ball in an upright cylinder, no controller. Its height swings at sqrt(2/7) of the rate at
    which it goes round (Neimark and Fufaev 1972, chapter III), and it spins faster and faster."""
    m, r, R, g, turning, spin, climb = 0.3, 0.05, 0.4, 9.81, 2.0, 3.0, 0.1
    J = 0.4 * m * r ** 2

    def slip(s):
        omega = rotation(ca.vertcat(s.q.qx, s.q.qy, s.q.qz, s.q.qw)) @ ca.vertcat(
            s.v.wx, s.v.wy, s.v.wz)
        c, d = ca.cos(s.q.phi), ca.sin(s.q.phi)
        v = ca.vertcat(-R * s.v.phi * d, R * s.v.phi * c, s.v.z)
        v += r * ca.cross(omega, ca.vertcat(c, d, 0))
        return c * v[1] - d * v[0], v[2]

    ball = constrain(lagrangian_system(
        product(euclidean("phi", "z"), special_orthogonal()),
        lambda s: m * ((R * s.v.phi) ** 2 + s.v.z ** 2) / 2 - m * g * s.q.z
        + J * (s.v.wx ** 2 + s.v.wy ** 2 + s.v.wz ** 2) / 2),
        rows={"around": lambda s: slip(s)[0], "up": lambda s: slip(s)[1]})
    runs = []
    for integrator in ("rk4", "auto", "dop853"):
        simulator = Simulator(ball, dt=1e-3, integrator=integrator)
        simulator.reset(q=[0, 0, 0, 0, 0, 1], xi={"phi'": turning, "z'": climb, "wx": spin})
        runs.append(simulator.run(3.5))
    exact = runs[-1]
    rate = np.sqrt(2 / 7) * turning
    middle = -r * spin / turning - 5 * g / (2 * turning ** 2)
    np.testing.assert_allclose(
        exact.q[:, 1], middle * (1 - np.cos(rate * exact.t)) + climb / rate * np.sin(
            rate * exact.t), rtol=0, atol=1e-9)
    errors = [np.abs(run.q[:, 1] - exact.q[:, 1]).max() for run in runs]
    assert coarse(runs[0]) and not coarse(runs[1])
    assert errors[1] < errors[0] / 5
