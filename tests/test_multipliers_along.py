"""Multipliers by the names of their rows, and attitudes, along runs of systems written by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support import shipped

from nhmech import InputError, SimulationError, Simulator, simulate_batch
from nhmech.mechanics import constrain, euclidean, lagrangian_system
from nhmech.systems import load_system


def run_of(name, duration=0.5, **options):
    example = load_system(name)
    simulator = Simulator(example, dt=1e-3, **options)
    names = example.equations().names
    simulator.reset(q=np.array(example.start["q"]), xi=dict(zip(names, example.start["xi"])))
    return example, simulator.run(duration)


def test_the_force_on_the_particle():
    """lambda = x' y' / (1 + y^2) (paper 002, example 7.1)."""
    _, run = run_of("nonholonomic_particle")
    x, y = run.v[:, 0], run.v[:, 1]
    np.testing.assert_allclose(run.multiplier("slope"), x * y / (1 + run.q[:, 1] ** 2), rtol=1e-12)


def test_where_the_chart_changes_too():
    """A knife edge that turns through 90 degrees, where x' determines nothing: the force across is
    -m (u w + g sin(tilt) sin(phi)) all along."""
    example, run = run_of("knife_edge_on_incline", 2.5)
    m, _, g, tilt = example.constrained.parameters
    phi = run.q[:, 2]
    u = np.cos(phi) * run.v[:, 0] + np.sin(phi) * run.v[:, 1]
    assert phi.max() > 3
    np.testing.assert_allclose(run.multiplier("edge"),
                               -m * (u * run.v[:, 2] + g * np.sin(tilt) * np.sin(phi)),
                               rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["falling_disc", "carriage", "bead_rod", "ball_on_turntable"])
def test_it_is_that_of_the_equations(name):
    """At each state by the former's own function; singular Lagrangians and moving rows too."""
    example, run = run_of(name, 0.05)
    equations, d = example.equations(), example.constrained.distribution
    for place, row in enumerate(equations.frame.kept):
        expected = [float(equations.multipliers(t, q, v[list(equations.frame.speeds)], u,
                                                example.constrained.parameters)[place])
                    for t, q, v, u in zip(run.t, run.q, run.v, run.u)]
        found = run.multiplier(d.names[row])
        assert np.abs(found - expected).max() <= 1e-10 * max(1, np.abs(expected).max())


def test_friction_counts():
    """It was left out: 0.2752 where the equations say 0.1835."""
    example = load_system("nonholonomic_particle")
    rough = replace(example.constrained, friction=0.5 * example.constrained.distribution.A.T)
    simulator = Simulator(rough, dt=1e-3)
    simulator.reset(q=[0.0, 0.3, 0.0], xi={"x'": 1.2, "y'": 0.8})
    run = simulator.run(0.1)
    x, y = run.v[:, 0], run.v[:, 1]
    np.testing.assert_allclose(run.multiplier("slope"), x * y / (1 + run.q[:, 1] ** 2) / 1.5,
                               rtol=1e-12)


def test_cases_side_by_side():
    example = load_system("nonholonomic_particle")
    speeds = Simulator(example).reset(q=[0, 0.3, 0], xi={"x'": 1.2, "y'": 0.8}).v[:2]
    x0 = np.array([[0, 0.3, 0, *speeds], [0, 0.7, 0, *speeds]])
    batch = simulate_batch(example, x0, np.zeros((2, 0)), dt=1e-2, duration=0.1)
    lam = batch.multiplier("slope")
    assert lam.shape == batch.q.shape[:-1]
    np.testing.assert_allclose(lam, batch.v[..., 0] * batch.v[..., 1]
                               / (1 + batch.q[..., 1] ** 2), rtol=1e-12)


def test_rows_that_have_none():
    _, run = run_of("nonholonomic_particle", 0.01)
    with pytest.raises(InputError, match="no row 'slop'; there are slope"):
        run.multiplier("slop")
    free = lagrangian_system(euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)
    twice = Simulator(constrain(free, rows={"one": lambda s: s.v.x, "two": lambda s: 2 * s.v.x}))
    twice.reset(q=[0.0, 0.0])
    found = twice.run(0.01)
    names = ["one", "two"]
    kept = twice.simulated.equations.frame.kept[0]
    assert np.abs(found.multiplier(names[kept])).max() == 0
    with pytest.raises(InputError, match="depends on others"):
        found.multiplier(names[1 - kept])
    vehicle = Simulator(shipped("differential_drive"))
    vehicle.reset()
    with pytest.raises(SimulationError, match="force"):
        vehicle.run(0.01).multiplier("left_wheel_joint/lateral")


def test_attitude_along_a_run():
    _, run = run_of("heavy_top", 0.2)
    np.testing.assert_allclose(run.attitude(), Rotation.from_quat(run.q).as_matrix(), rtol=1e-12,
                               atol=1e-15)
    with pytest.raises(SimulationError, match="its attitude is run.attitude"):
        _ = run.T_WB
    _, stone = run_of("rattleback", 0.02)
    np.testing.assert_allclose(stone.T_WB[:, :3, :3], stone.attitude(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(stone.T_WB[:, :3, 3], stone.q[:, :3], rtol=1e-12, atol=0)
    _, flat = run_of("sled", 0.02)
    with pytest.raises(InputError, match="no quaternion begins with 'qx'; there are none"):
        flat.attitude()


def test_seven_numbers_are_not_always_a_pose():
    """They were read as one in silence."""
    free = lagrangian_system(euclidean(*"abcdefg"), lambda s: sum(
        (getattr(s.v, name) ** 2 for name in "abcdefg"), 0 * s.v.a) / 2)
    simulator = Simulator(constrain(free))
    state = simulator.reset(q=np.arange(7.0))
    with pytest.raises(SimulationError, match="has a pose"):
        _ = state.T_WB
    with pytest.raises(SimulationError, match="has a pose; this one has the coordinates a, b"):
        _ = simulator.run(0.01).T_WB
