"""The contract of all schemes with steps of their user's: backwards as forwards, integrals, one
step in every kind of code, and what is said where a step cannot be solved."""

from __future__ import annotations

import re
from functools import cache
from itertools import cycle

import casadi as ca
import numpy as np
import pytest
from click.testing import CliRunner
from runs import MOTIONS
from support import at_length, shipped

import nhmech
from nhmech import InputError, SimulationError, Simulator
from nhmech.cli.systems import systems
from nhmech.compile.loop import MENDED
from nhmech.compile.status import Status
from nhmech.mechanics.algebroid import euclidean
from nhmech.mechanics.writing import constrain, lagrangian_system
from nhmech.simulation.integration.integrators import advance_function, python_step
from nhmech.simulation.integration.schemes import FIXED, SCHEMES
from nhmech.simulation.simulated import Simulated
from nhmech.systems import load_system

IMPLICIT = [name for name in FIXED if SCHEMES[name].symmetric]
SYSTEMS = ("falling_disc", "rattleback")


def started(name: str, dt: float, integrator: str, **options) -> Simulator:
    """A textbook system in its own start."""
    example = load_system(name)
    simulator = Simulator(example, dt=dt, integrator=integrator, **options)
    q, xi = (np.asarray(example.start[part], dtype=float) for part in ("q", "xi"))
    simulator.reset(q=q, xi=dict(zip(example.speeds or simulator.atlas.primary.equations.names,
                                     xi)))
    return simulator


def test_the_commands_know_all_of_them():
    told = CliRunner().invoke(systems, ["run", "--help"]).output
    assert f"[{'|'.join(SCHEMES)}|auto]" in "".join(told.split())
    done = CliRunner().invoke(systems, ["run", "falling_disc", "--duration", "2", "--dt", "0.02",
                                        "--integrator", "discrete_gradient"])
    start, end = re.findall(r"energy (\S+) at the start, (\S+) at", done.output)[0]
    assert done.exit_code == 0 and start == end


@cache
def advance_of(name: str, integrator: str) -> tuple[Simulated, ca.Function]:
    simulated = Simulated.of(load_system(name))
    return simulated, advance_function(simulated.equations, SCHEMES[integrator].method)


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("name", ["rattleback", *at_length("falling_disc")])
def test_a_step_of_minus_dt_leads_back(name, integrator):
    """Symmetry, on the constraints and with them: to rounding for the symmetric schemes, and far
    from it for Runge and Kutta's, else the test could not fail."""
    def returns(integrator: str) -> float:
        simulated, advance = advance_of(name, integrator)
        simulator = started(name, 1e-3, "rk4")
        worst, random = 0.0, np.random.default_rng(3)
        for q in simulated.constrained.configurations[:4]:
            simulator.reset(q=q, xi=(3 * random.normal(size=len(simulator.state.xi))).tolist())
            x = simulator.moment.x.copy()
            there, _, *solved = advance(0.0, x, [], simulated.theta, 0.02)
            assert all(float(answer) == 1 for answer in solved)
            back = advance(0.02, there, [], simulated.theta, -0.02)[0]
            worst = max(worst, float(np.abs(back.full().ravel() - x).max()))
        return worst

    assert returns(integrator) <= 1e-12 < 1e-9 < returns("rk4")


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_energy_does_not_drift(integrator):
    """The largest error of the second half of a run is that of the first, or rounding; Runge and
    Kutta's grows with time."""
    def growth(integrator: str) -> float:
        run = started("falling_disc", 0.02, integrator).run(400.0, every=4)
        error = np.maximum(np.abs(run.energy - run.energy[0]), 1e-11)
        half = len(error) // 2
        return error[half:].max() / error[:half].max()

    assert growth(integrator) < 1.1 < 1.5 < growth("rk4")


@pytest.mark.parametrize("name, dt", [("falling_disc", 0.02), ("rattleback", 4e-3)])
def test_a_discrete_gradient_keeps_the_energy(name, dt):
    """Of a system on a curved body, too, whose height is pulled back after each step."""
    run = started(name, dt, "discrete_gradient").run(2.0)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-13 * (1 + abs(run.energy[0]))


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_oscillations_do_not_grow_up_to_the_limit(integrator):
    """x'' = -x, in steps of z: the larger eigenvalue of a step's matrix."""
    spring = lagrangian_system(euclidean("x"), lambda s: (s.v.x ** 2 - s.q.x ** 2) / 2)
    step = advance_function(Simulated.of(constrain(spring, {}, rows={})).equations,
                            SCHEMES[integrator].method)

    def growth(z: float) -> float:
        columns = [step(0.0, x, [], [], z)[0].full().ravel() for x in np.eye(2)]
        return np.abs(np.linalg.eigvals(np.array(columns))).max()

    limit = SCHEMES[integrator].imaginary_limit
    assert growth(min(0.99 * limit, 30.0)) <= 1 + 1e-12
    assert limit == np.inf or growth(1.01 * limit) > 1.01


@pytest.mark.parametrize("stages, numerator", [(2, [1 / 12, 1 / 2, 1]),
                                               (3, [1 / 120, 1 / 10, 1 / 2, 1])])
@pytest.mark.parametrize("rate", [0.1, 3.0, 1e3, 1e6])
def test_stiff_dampers_are_stable_and_solved(stages, numerator, rate):
    """v' = -rate v: a step of 1 s multiplies v by Pade's approximation of exp(-rate), whose
    numerator this is and whose denominator is the same of -z (Hairer and Wanner II, section
    IV.3)."""
    slider = lagrangian_system(
        euclidean("x"), lambda s: s.v.x ** 2 / 2, parameters=("rate",),
        force=lambda s: {"x": -s.p.rate * s.v.x})
    sled = constrain(slider, {"rate": rate}, rows={})
    name = {2: "gauss4", 3: "gauss"}[stages]
    step = python_step(Simulated.of(sled).equations, SCHEMES[name], False, None)
    found = step(0.0, np.array([0.0, 1.0]), np.zeros(0), np.array([rate]), 1.0, np.nan, np.nan)
    expected = np.polyval(numerator, -rate) / np.polyval(numerator, rate)
    assert found.status is Status.DONE
    assert found.x[1] == pytest.approx(expected, rel=1e-12 * max(1, rate))


@pytest.mark.parametrize("name, integrator", [
    *zip(cycle(["differential_drive", "disc"]), IMPLICIT),
    *at_length(*zip(cycle(["disc", "differential_drive"]), IMPLICIT))])
def test_one_step_in_all_kinds_of_code(name, integrator):
    """The virtual machine, the loop in C and the lanes of a batch."""
    vehicle = shipped(name)
    motion = MOTIONS.get(name, dict(xi={"left_wheel_joint": 3.0, "right_wheel_joint": 5.0}))
    runs = []
    for compiled in (False, True):
        simulator = Simulator(vehicle, dt=5e-3, integrator=integrator, on_fall="ignore",
                              on_limit="ignore")
        simulator.reset(**motion)
        start = simulator.moment.x.copy()
        if compiled:
            simulator.compile()
            assert simulator.propagator._compiled is not None
        for _ in range(20):
            if compiled:
                simulator.propagator.step_in_c()
            else:
                simulator.propagator.advance(5e-3)
        runs.append(simulator.moment.x.copy())
    batch = nhmech.simulate_batch(vehicle, np.array([start] * 3), dt=5e-3, duration=0.1,
                                  integrator=integrator, on_fall="ignore", on_limit="ignore")
    assert batch.ok.all()
    assert runs[1] == pytest.approx(runs[0], rel=1e-12, abs=1e-12)
    assert batch.x[1, -1] == pytest.approx(runs[0], rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_a_case_is_what_it_is_alone(integrator):
    """However many corrections the cases beside it need."""
    vehicle = shipped("disc")
    x0 = np.concatenate([nhmech.start_states(vehicle, [(0, 0, 0, lean, 0, 0)],
                                             xi={"spin_joint": spin, "yaw_rate": spin / 9})
                         for lean, spin in ((0.05, 0.1), (0.5, 30.0), (0.2, 3.0))])
    options = dict(dt=1e-2, duration=0.2, integrator=integrator)
    together = nhmech.simulate_batch(vehicle, x0, **options)
    for i in range(3):
        alone = nhmech.simulate_batch(vehicle, x0[i:i + 1], **options)
        assert np.array_equal(alone.x[0], together.x[i])


@pytest.mark.parametrize("integrator",
                         [name for name in IMPLICIT if not SCHEMES[name].is_quadratic])
def test_an_equation_that_is_not_solved_is_said(integrator):
    simulator = started("falling_disc", 2.0, integrator)
    x0 = np.tile(simulator.moment.x, (2, 1))
    with pytest.raises(SimulationError, match="2.0 s was so long that the equations of the implicit"
                                              " method were not solved.*Try a smaller dt"):
        simulator.run(50.0)
    batch = nhmech.simulate_batch(load_system("falling_disc"), x0, dt=2.0, duration=50.0,
                                  integrator=integrator)
    assert set(batch.status) <= {Status.UNSOLVED} and "implicit step" in batch.stop[0]


@pytest.mark.parametrize("integrator",
                         [name for name in IMPLICIT if not SCHEMES[name].is_quadratic])
def test_a_projection_does_not_hide_an_unsolved_equation(integrator):
    """At the 64th step, which the loop in C projects."""
    simulator = started("falling_disc", 2.0, integrator)
    simulator.compile()
    simulator.moment.clock[1] = MENDED - 1
    loop = simulator.propagator.loop()
    if loop is None:
        pytest.skip("no C compiler here")
    compiled = simulator.propagator.prepare(loop)
    assert compiled.run(1, 10 ** 9, 1, None) == Status.UNSOLVED and compiled.setup.done == 0


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_events_are_located(integrator):
    """Where the sleigh has turned by 1 rad, at the moment that small steps of Dormand and Prince's
    method find."""
    def found(integrator: str, dt: float) -> float:
        event = nhmech.Event("turned", lambda t, state: abs(state.xi["yaw_rate"]) - 0.5)
        run = started("chaplygin_sleigh", dt, integrator, events=[event]).run(8.0)
        return run.events[0][0]

    assert found(integrator, 1e-2) == pytest.approx(found("dop853", 1e-2), abs=2e-5)


# -- where energy is not kept ----------------------------------------------------------------------
def notices(run) -> list[str]:
    return [notice.text for notice in run.notices if notice.kind == "conservation"]


@pytest.mark.parametrize("integrator", FIXED)
def test_what_keeps_no_energy_is_said(integrator):
    scheme = SCHEMES[integrator]
    said = scheme.symmetric
    vehicle = shipped("differential_drive")

    def run(robot=vehicle, controller=None, mode="dynamic") -> list[str]:
        return notices(Simulator(robot, controller, integrator=integrator, mode=mode).run(2e-3))

    assert run() == []
    for work, reason in (
            (lambda: run(controller=lambda t, state: np.zeros(2)), "inputs act"),
            (lambda: run(vehicle.with_parameters({"left_wheel_joint.damping": 0.1})),
             "dampers or rolling resistance of left_wheel_joint"),
            (lambda: run(mode="kinematic"), "speeds are commanded"),
            (lambda: notices(started("ball_on_turntable", 1e-3, integrator).run(2e-3)),
             "constraints are affine")):
        if scheme.is_conservative:
            with pytest.raises(InputError, match=f"{reason}. Take integrator='gauss'"):
                work()
        else:
            assert [text.endswith(reason) for text in work()] == [True] * said


def test_a_batch_refuses_what_a_simulator_refuses():
    vehicle = shipped("differential_drive")
    x0 = nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)])
    with pytest.raises(InputError, match="inputs act"):
        nhmech.simulate_batch(vehicle, x0, [0.1, 0.1], dt=0.01, duration=0.1,
                              integrator="discrete_gradient")


def test_a_batch_says_what_keeps_no_energy(caplog):
    """As a simulator does."""
    vehicle = shipped("differential_drive")
    simulator = Simulator(vehicle, lambda t, state: [0.1, 0.1], integrator="gauss")
    with caplog.at_level("INFO", "nhmech"):
        nhmech.simulate_batch(vehicle, nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)]), [0.1, 0.1],
                              dt=0.01, duration=0.01, integrator="gauss")
    notice, = notices(simulator.run(1e-3))
    assert notice in caplog.text


def test_kahan_takes_quadratic_equations_alone():
    robot = shipped("differential_drive").with_parameters({
        "left_wheel_joint.rolling_resistance": 0.1})
    with pytest.raises(InputError, match="quadratic in the speeds; those of 'differential_drive' "
                                         "are not. Take integrator='gauss'"):
        Simulator(robot, integrator="kahan")


def test_kahans_drift_is_the_midpoint_rule():
    """A disk that turns and rolls at constant rates has headings h + w dt/4 and h + 3 w dt/4 in the
    middle of the two halves of a step."""
    dt = 0.2
    simulator = started("vertical_disk", dt, "kahan")
    (x, y, heading, spin), (turn, rate) = simulator.state.q, simulator.state.xi.values()
    middle = heading + turn * dt * np.array([1 / 4, 3 / 4])
    ahead = 0.4 * rate * dt * np.array([np.cos(middle).mean(), np.sin(middle).mean()])
    np.testing.assert_allclose(simulator.step().q, [x + ahead[0], y + ahead[1], heading + turn * dt,
                                                    spin + rate * dt], rtol=0, atol=1e-13)


def test_a_batch_takes_steps_of_its_user_alone():
    x0 = nhmech.start_states(shipped("disc"), [(0.0, 0.0, 0.0)])
    with pytest.raises(InputError, match="'dop853' does not exist; there are rk4, gauss"):
        nhmech.simulate_batch(shipped("disc"), x0, dt=0.01, duration=0.1, integrator="dop853")
