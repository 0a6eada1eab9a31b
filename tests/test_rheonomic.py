"""Constraints that depend on time: a bead on a rod that is turned at a constant rate has a closed
form, against which every way of stepping is held."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from support import needs_compiler

import nhmech
from nhmech import MechanicsError, Simulator
from nhmech.mechanics import (
    constrain,
    euclidean,
    gibbs_appell,
    lagrange_multipliers,
    lagrangian_system,
)
from nhmech.simulation import atlas
from nhmech.systems import load_system

TURN = 1.5                     # [rad/s] of the rod of `bead_rod`
R, R_RATE = 0.5, -0.2          # of the bead on it at t = 0 [m], [m/s]


def exact(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q (n, 3) and v (n, 3): r'' = w^2 r."""
    r = R * np.cosh(TURN * t) + R_RATE / TURN * np.sinh(TURN * t)
    rate = R * TURN * np.sinh(TURN * t) + R_RATE * np.cosh(TURN * t)
    c, s = np.cos(TURN * t), np.sin(TURN * t)
    q = np.array([r * c, r * s, r]).T
    return q, np.array([rate * c - r * TURN * s, rate * s + r * TURN * c, rate]).T


def ran(dt: float, seconds: float = 1.2, **options):
    simulator = Simulator(load_system("bead_rod"), dt=dt, **options)
    simulator.reset(q=np.array([R, 0.0, R]), xi={"r'": R_RATE})
    return simulator.run(seconds)


def error(run) -> float:
    q, v = exact(run.t)
    return max(np.abs(run.q - q).max(), np.abs(run.v - v).max())


@pytest.fixture(params=["python", pytest.param("c", marks=needs_compiler)])
def way(request, monkeypatch) -> str:
    """Steps in Python, steps in the loop in C."""
    loop = atlas.Chart.loop
    monkeypatch.setattr(atlas.Chart, "loop",
                        lambda chart, build: loop(chart, True) if request.param == "c" else None)
    if request.param == "python":
        monkeypatch.setattr(atlas, "compile_adaptive", lambda *parts: None)
    return request.param


def test_order_of_four_where_the_constraints_move(way):
    """Before x' stops telling the motion, at t = 1 s, and errors grow with its last steps."""
    steps = np.array([0.1, 0.05, 0.025, 0.0125])
    errors = [error(ran(dt, 0.6)) for dt in steps]
    assert errors[-1] > 1e-11, "the finest step is at rounding: the order cannot be seen"
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize("dt", [0.3, 0.01])
def test_steps_end_on_the_constraints_of_their_own_time(way, dt):
    """Long steps, of which one projection is not enough, too."""
    run = ran(dt)
    c, s = np.cos(TURN * run.t), np.sin(TURN * run.t)
    x, y, r = run.q.T
    np.testing.assert_allclose([x, y], [r * c, r * s], rtol=0, atol=1e-12)
    np.testing.assert_allclose([run.v[:, 0], run.v[:, 1]],
                               [run.v[:, 2] * c - r * TURN * s, run.v[:, 2] * s + r * TURN * c],
                               rtol=0, atol=1e-11)


def test_dop853_keeps_its_tolerance_where_the_constraints_move(way):
    """Beyond t = 1 s other independent speeds take over, and must be chosen for that time."""
    assert error(ran(0.1, integrator="dop853")) < 1e-11


@needs_compiler
def test_cases_side_by_side_step_through_time_too():
    """Lanes, against the single run, over several control periods."""
    system = replace(load_system("bead_rod").constrained, preferred=(("r'",),))
    start = np.array([[R, 0.0, R, R_RATE]] * 3) * np.array([[1.0], [2.0], [0.5]])
    batch = nhmech.simulate_batch(system, start, dt=0.0125, duration=1.2, every=8)
    q, _ = exact(batch.t)
    for k, factor in enumerate((1.0, 2.0, 0.5)):
        np.testing.assert_allclose(batch.x[k, :, :3], factor * q, rtol=0, atol=1e-8)


@pytest.mark.parametrize("rate", [3.0, 0.01])
def test_rows_that_coincide_at_first_are_both_kept(rate):
    """x' = 0 and x' + sin(rate t) y' = 0: y' = 0 from then on, where a row was dropped that ran
    free."""
    free = lagrangian_system(euclidean("x", "y", "z"), lambda s: (
        s.v.x ** 2 + s.v.y ** 2 + s.v.z ** 2) / 2)
    made = constrain(free, rows={"still": lambda s: s.v.x,
                                 "later": lambda s: s.v.x + ca.sin(rate * s.t) * s.v.y})
    for former in (gibbs_appell, lagrange_multipliers):
        equations = former(made)
        assert equations.names == ("z'",)
        np.testing.assert_allclose(equations.velocity(0.3, [0, 0, 0], [2.0], []).full().ravel(),
                                   [0, 0, 2], rtol=0, atol=1e-12)
    simulator = Simulator(made, dt=0.01)
    with pytest.raises((MechanicsError, nhmech.SimulationError), match="rank"):
        simulator.reset(q=[0.0, 0.0, 0.0], xi={"y'": 1.0, "z'": 1.0})
        simulator.run(1.0)


def test_rows_are_held_against_each_other_where_the_manifold_is_by_then():
    """Two rows ask the same on the moving rail, and different things beside it."""
    free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)

    def on_a_rail(speed):
        return constrain(free, rows={"belt": lambda s: s.v.x - speed - (s.q.x - s.t)},
                         holonomic={"rail": lambda s: s.q.x - s.t})

    assert gibbs_appell(on_a_rail(1.0)).names == ("y'",)
    with pytest.raises(MechanicsError, match="belt"):
        gibbs_appell(on_a_rail(1.1))
