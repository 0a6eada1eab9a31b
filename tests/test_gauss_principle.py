"""Nonlinear constraints and singular systems run on their final manifold, as any other system."""

import casadi as ca
import numpy as np
import pytest

from nhmech import InputError, MechanicsError, Simulator, Trajectory, simulate_batch
from nhmech.mechanics import (
    chetaev,
    constrain,
    constraint_algorithm,
    euclidean,
    find_symmetry,
    gibbs_appell,
    growth_vector,
    lagrangian_system,
    momentum_map,
    symmetry,
)
from nhmech.systems import load_system
from nhmech.systems.capri_kobayashi import singular_system

G, K, DOWN = 9.81, 1.6, -9.81 / (1 + 1.6 ** 2)
START = {"q": [0.2, 0.1, 3.0], "xi": [0.48, 0.64, -0.5]}


@pytest.fixture(scope="module")
def machine():
    return load_system("appell_hamel")


@pytest.mark.paper("004 run")
@pytest.mark.parametrize("integrator", ["rk4", "dop853", "gauss", "auto"])
def test_a_run_stays_on_the_manifold(machine, integrator):
    """Appell and Hamel's machine: z'' = -g / (1 + k^2), the direction stays."""
    simulator = Simulator(machine, dt=1e-2, integrator=integrator)
    simulator.reset(**START)
    run = simulator.run(2.0)
    z = 3.0 - 0.5 * run.t + DOWN * run.t ** 2 / 2
    np.testing.assert_allclose(run.q[:, 2], z, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.q[:, 1] - 0.1, 0.8 / 0.6 * (run.q[:, 0] - 0.2), rtol=0,
                               atol=1e-11)
    off = run.v[:, 0] ** 2 + run.v[:, 1] ** 2 - (K * run.v[:, 2]) ** 2
    assert np.abs(off).max() <= 1e-12 * (run.v ** 2).sum(1).max()
    assert np.ptp(run.energy) <= 1e-11 * run.energy[0]


def test_a_coarse_run_stays_there_too():
    """Steps so long that Runge and Kutta leave the manifold by far more than rounding, in
    Benenti's system, whose acceleration keeps |v1 x v2| as an integral that is not quadratic."""
    made = load_system("benenti")
    simulator = Simulator(made, dt=0.1)
    simulator.reset(**made.start)
    run = simulator.run(0.6)
    x1, y1, x2, y2 = run.v.T
    assert np.abs(x1 * y2 - x2 * y1).max() <= 1e-9
    free = made.equations()
    state = np.concatenate([made.start["q"], made.start["xi"]])
    for _ in range(6):                        # the same steps without the way back
        stages = []
        for node in (0, 0.05, 0.05, 0.1):
            at = state + node * stages[-1] if stages else state
            stages.append(np.concatenate([part.full().ravel() for part in free.drift(
                0, at[:4], at[4:], [], made.constrained.parameters)]))
        state = state + 0.1 * (stages[0] + 2 * stages[1] + 2 * stages[2] + stages[3]) / 6
    assert abs(state[4] * state[7] - state[6] * state[5]) > 1e-7


def test_the_run_is_saved_read_and_batched(machine, tmp_path):
    simulator = Simulator(machine, dt=1e-2)
    simulator.reset(**START)
    run = simulator.run(0.5)
    again = Trajectory.load(run.save(tmp_path / "a.npz"))
    assert np.array_equal(again.q, run.q) and np.array_equal(again.energy, run.energy)
    x0 = np.concatenate([START["q"], START["xi"]])
    batch = simulate_batch(machine.constrained, np.stack([x0, x0]), np.zeros((2, 0)), dt=1e-2,
                           duration=0.5)
    np.testing.assert_allclose(batch.x[1, -1, :3], run.q[-1], rtol=0, atol=1e-13)


@pytest.mark.paper("004 run")
def test_a_singular_lagrangian_runs_on_its_final_manifold():
    """As the system does in which x1 = y1 = 0 are typed by hand."""
    numbers = {"m2": 0.7, "m3": 1.6}
    found = constraint_algorithm(constrain(singular_system(), numbers))
    q, speeds = [0, 0, 0.5, 0.1, -0.2, 0.3], [0, 0, 0.3, 0.1, 0.2, -0.4]
    simulator = Simulator(found, dt=5e-3)
    simulator.reset(q=q, xi=speeds)
    run = simulator.run(1.0)
    by_hand = constrain(singular_system(), numbers, holonomic={"x1": lambda s: s.q.x1,
                                                               "y1": lambda s: s.q.y1})
    other = Simulator(by_hand, dt=5e-3)
    names = by_hand.system.algebroid.v_names
    other.reset(q=q, xi=dict(list(zip(names, speeds))[2:]))
    np.testing.assert_allclose(run.q, other.run(1.0).q, rtol=0, atol=1e-13)
    assert np.abs(run.q[:, :2]).max() == 0
    assert set(find_symmetry(found).names) == {"y2 d/dx2 - x2 d/dy2", "y3 d/dx3 - x3 d/dy3"}


def test_constraints_on_places_and_speeds_are_kept_together():
    """L = (x' - y)^2 / 2 with the gauge y'' = cos t: x' = y is kept."""
    free = constrain(lagrangian_system(euclidean("x", "y"),
                                       lambda s: (s.v.x - s.q.y) ** 2 / 2))
    found = constraint_algorithm(free, gauge={"y": ca.cos(free.system.t)})
    simulator = Simulator(found, dt=1e-2)
    simulator.reset(q=[0.1, 0.3], xi=[0.3, -0.2])
    run = simulator.run(3.0)
    np.testing.assert_allclose(run.q[:, 1], 0.3 - 0.2 * run.t + 1 - np.cos(run.t), atol=1e-9)
    assert np.abs(run.v[:, 0] - run.q[:, 1]).max() <= 1e-13


@pytest.mark.parametrize("speeds, message", [
    (None, "rank 0 of 1"), ([1.0, 0.0, 0.0], r"x'\^2 \+ y'\^2 - \(k z'\)\^2 is 1 there"),
    ([0.5, 0.6, -0.5], r"is -0.03 there; the nearest that does is q = .*, v = ")])
def test_a_start_off_the_manifold_is_refused(machine, speeds, message):
    simulator = Simulator(machine)
    with pytest.raises(InputError, match=message) as refused:
        simulator.reset(q=START["q"], xi=speeds)
    if "nearest" in message:          # what it recommends is taken
        nearest = eval(str(refused.value).split("v = ")[-1])
        simulator.reset(q=START["q"], xi=nearest)


def test_the_nearest_state_is_normal_to_the_manifold(machine):
    constrained = machine.constrained
    q, v = constrained.nearest_state(np.array(START["q"]), np.array([0.5, 0.6, -0.5]))
    normal = np.array([v[0], v[1], -K ** 2 * v[2]])
    step = np.array([0.5, 0.6, -0.5]) - v
    assert np.array_equal(q, START["q"])
    assert np.linalg.norm(np.cross(step, normal)) <= 0.02 * np.linalg.norm(step)


def test_equations_of_any_former_are_simulated_as_their_system():
    example = load_system("nonholonomic_particle")
    runs = []
    for given in (example, gibbs_appell(example)):
        simulator = Simulator(given, dt=1e-2)
        simulator.reset(q=[0.0, 0.3, 0.0], xi={"x'": 1.2, "y'": 0.8})
        runs.append(simulator.run(0.2).q)
    assert np.array_equal(*runs)


def test_what_a_symmetry_must_leave_alone(machine):
    """The acceleration and the manifold too: the energy alone has more symmetries."""
    assert "d/dx" in find_symmetry(machine).names
    bent = chetaev(constrain(lagrangian_system(
        euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2)),
        {"bent": lambda s: s.v.x ** 2 - s.q.y ** 2 * s.v.y ** 2 - 1})
    with pytest.raises(MechanicsError, match="the acceleration .* changes along it"):
        symmetry(bent, {"y": lambda s: {"y": 1}})
    assert symmetry(bent, {"x": lambda s: {"x": 1}}).names == ("x",)


def test_what_needs_a_distribution_says_so(machine):
    with pytest.raises(MechanicsError, match="growth_vector needs constraints that are linear"):
        growth_vector(machine)
    with pytest.raises(MechanicsError, match="momentum_map needs constraints that are linear"):
        momentum_map(find_symmetry(machine))


def test_the_manifold_is_printed(machine):
    assert "on the manifold\n  x'^2 + y'^2 - k^2 z'^2 = 0" in str(machine.constrained)
    assert "z'' = " in str(machine.equations())
