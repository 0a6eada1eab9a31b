"""A vehicle's motion written as JavaScript: ten thousand steps of Node end where the simulator's
do."""

import json

import casadi as ca
import numpy as np
import pytest
from support import VARIED, run_in_node, sampled, shipped

import nhmech
from nhmech.control import Balance, TwistDrive
from nhmech.simulation.integration.integrators import rate_function
from nhmech.simulation.integration.schemes import RK4
from nhmech.simulation.least_squares import SINGULAR, LeastSquares
from nhmech.simulation.simulated import Simulated
from nhmech.simulation.state_vector import StateVector
from nhmech.systems import load_system, system_names
from nhmech.view.static import read_static
from nhmech.view.step_parts import stage_functions, step_parts
from nhmech.view.written_motion import write_motion

DT, STEPS = 1e-3, 10_000
WATCHED = dict(on_limit="ignore", on_fall="ignore", on_lift="ignore")
TWIST = (0.5, 0.0, 0.4)
# of what no twist drives: motions that go on for ten seconds
ROLLING = {"ball": {"roll_rate": 2.0, "pitch_rate": 3.0, "yaw_rate": 0.7},
           "bicycle": {"rear_wheel_joint": 16.0, "roll_rate": 0.2},
           "coin": {"spin_joint": 60.0, "roll_rate": 0.2},
           "disc": {"spin_joint": 20.0, "roll_rate": 0.1, "yaw_rate": 0.2},
           "sled": {"forward_speed": 1.0, "yaw_rate": 0.5}}


def start_of(constrained) -> tuple[nhmech.Simulator, np.ndarray]:
    simulator = nhmech.Simulator(constrained, **WATCHED)
    if isinstance(constrained, nhmech.Vehicle):
        state = simulator.reset(xi=ROLLING.get(constrained.name))
    else:
        begin = constrained.start
        names = constrained.speeds or simulator.simulated.equations.names
        state = simulator.reset(q=np.asarray(begin["q"], dtype=float),
                                xi=dict(zip(names, map(float, begin["xi"]))))
    equations = simulator.simulated.equations
    vector = StateVector.of(equations)
    return simulator, vector.assemble(state.q, state.v[list(equations.frame.speeds)])


def in_node(model: str, x: np.ndarray, steps: int, each: str = "") -> dict:
    """Where the motion ends, with `each` done before every step."""
    return run_in_node(f"""{read_static("motion.js")}
        const motion = openMotion({model}), x = {json.dumps(x.tolist())};
        motion.start(x);
        for (let k = 0; k < {steps}; ++k) {{ {each}; if (!motion.step()) break; }}
        const {{ q, v, state: {{ t, stop, chart }} }} = motion;
        console.log(JSON.stringify({{ q: Array.from(q), v: Array.from(v), t, stop, chart }}));""")


def assert_same(found: dict, state, tolerance: float = 1e-12) -> None:
    assert found["stop"] is None and found["t"] == pytest.approx(state.t, abs=1e-12)
    for name in ("q", "v"):
        expected = getattr(state, name)
        assert np.abs(np.array(found[name]) - expected).max() <= tolerance * (
            1 + np.abs(expected).max())


@pytest.mark.parametrize("steps", [3000, pytest.param(STEPS, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", VARIED)
def test_steps_end_where_those_of_the_simulator_do(name, steps):
    """Driven by a twist, through servo, limits and changes of chart; or rolling by itself."""
    vehicle = shipped(name)
    assert_steps_agree(vehicle, {"xi": ROLLING.get(name)}, steps)


def test_what_balances_on_wheels_that_are_not_quite_round():
    """Their angles are states of the linearisation then, and their rates are called with a
    prime."""
    wheels = {f"{side}_wheel.Ixx": 1.3e-5 for side in ("left", "right")}
    vehicle = shipped("pendulum").with_parameters(wheels)
    assert {name for name in Balance(vehicle).names if name.endswith("'")}
    assert_steps_agree(vehicle, {}, 3000)


def assert_steps_agree(vehicle: nhmech.Vehicle, begin: dict, steps: int) -> None:
    name = vehicle.name
    _, x = start_of(vehicle)
    controller, each = None, ""
    if name == "pendulum":
        controller = Balance(vehicle, TWIST)
        begin = controller.start
    elif name not in ROLLING:
        controller = TwistDrive(vehicle, TWIST)
    if controller is not None:
        each = f"motion.follow({list(TWIST)})"
    simulator = nhmech.Simulator(vehicle, controller, dt=DT, **WATCHED)
    simulator.reset(**begin)
    run = simulator.run(steps * DT)
    assert run.stop == "duration"
    found = in_node(write_motion(step_parts(vehicle), DT), x, steps, each)
    assert_same(found, simulator.state)


@pytest.mark.parametrize("name", sampled(system_names(), 8))
def test_textbook_systems(name):
    example = load_system(name)
    simulator, x = start_of(example)
    simulator.run(1.0)
    assert_same(in_node(write_motion(step_parts(example), DT), x, 1000), simulator.state, 1e-11)


def test_stages_are_the_scheme():
    """Put together they are `Tableau.advance`."""
    vehicle = shipped("ackermann_car")
    rate = rate_function(vehicle.equations)
    nx, rng = StateVector.of(vehicle.equations).nx, np.random.default_rng(0)
    t, x, u, dt = 0.3, rng.normal(size=nx), rng.normal(size=3), 0.01
    rates = []
    for stage in stage_functions(RK4, nx):
        at, point = stage(t, x, dt, *rates)
        rates.append(rate(at, point, u, []))
    expected = RK4.advance(lambda t, x: rate(t, x, u, []), t, ca.DM(x), dt)
    assert float(at) == t + dt
    assert np.abs((point - expected).full()).max() <= 1e-15 * np.abs(expected.full()).max()


def test_a_blow_and_a_way_back():
    """A push changes one independent speed alone; a saved moment is come back to bit by bit."""
    vehicle = shipped("disc")
    _, x = start_of(vehicle)
    names = vehicle.algebroid.v_names
    rates = [names.index(name) for name in vehicle.speeds]
    found = run_in_node(f"""{read_static("motion.js")}
        const motion = openMotion({write_motion(step_parts(vehicle), DT)}), out = [];
        motion.start({x.tolist()});
        for (let k = 0; k < 100; ++k) motion.step();
        const saved = motion.save(), before = Array.from(motion.v);
        const go = () => {{ for (let k = 0; k < 500; ++k) motion.step();
                            return [motion.state.t, ...motion.x]; }};
        const first = go();
        motion.restore(saved);
        const again = go();
        motion.restore(saved);
        motion.push(1, 0.25);
        console.log(JSON.stringify({{ first, again, before, after: Array.from(motion.v) }}));""")
    assert found["first"] == found["again"]
    change = np.array(found["after"]) - found["before"]
    assert change[rates] == pytest.approx([0.0, 0.25, 0.0], abs=1e-14)
    q = start_of(vehicle)[0].moment.q
    assert q.shape == (vehicle.model.nq,)


def test_a_fall_stops_it():
    vehicle = shipped("pendulum")
    _, x = start_of(vehicle)
    x[4] = 1e-3
    found = in_node(write_motion(step_parts(vehicle), DT), x, STEPS)
    simulator = nhmech.Simulator(vehicle)
    state = simulator.reset(pose=(0, 0, 0, 0, 2e-3, 0))
    run = simulator.run(10.0)
    assert run.stop == "event: fallen: base_link"
    assert found["stop"]["what"] == "fallen: base_link"
    assert found["t"] == pytest.approx(run.t[-1], abs=2 * DT) and state.t == 0


def test_a_wheel_that_lies_down_stops_it():
    vehicle = shipped("disc")
    _, x = start_of(vehicle)
    x[StateVector.of(vehicle.equations).nconf:] = [0.1, 0.0, 2.0]
    found = in_node(write_motion(step_parts(vehicle), DT), x, STEPS)
    assert found["t"] < 5.0 and "lies down" in found["stop"]["what"]


def test_another_radius_lifts_the_start_onto_the_ground():
    """theta may be changed before a start."""
    wheel = shipped("disc").contact_names[0]
    vehicle = shipped("disc").with_parameters(symbolic=[f"{wheel}.radius"])
    _, x = start_of(vehicle)
    model = write_motion(step_parts(vehicle), DT)
    radius = 1.4 * vehicle.theta[0]
    found = run_in_node(f"""{read_static("motion.js")}
        const motion = openMotion({model});
        motion.state.theta[0] = {radius};
        motion.start({x.tolist()});
        console.log(JSON.stringify({{ z: motion.q[2], stop: motion.state.stop }}));""")
    assert found["stop"] is None
    other = vehicle.with_parameters({f"{wheel}.radius": radius})
    assert found["z"] == pytest.approx(other.configuration()[2], abs=1e-12)


def test_a_parameter_that_cannot_be_is_taken_back():
    """Where no number comes out, the state before is there again, bit by bit."""
    wheel = shipped("disc").contact_names[0]
    vehicle = shipped("disc").with_parameters(symbolic=[f"{wheel}.radius"])
    _, x = start_of(vehicle)
    found = run_in_node(f"""{read_static("motion.js")}
        const motion = openMotion({write_motion(step_parts(vehicle), DT)});
        motion.start({x.tolist()});
        for (let k = 0; k < 100; ++k) motion.step();
        const before = Array.from(motion.x), done = [motion.change(0, NaN)];
        const after = Array.from(motion.x), theta = motion.state.theta[0];
        done.push(motion.change(0, 1.2 * theta));
        console.log(JSON.stringify({{ before, after, theta, done, z: motion.q[2] }}));""")
    assert found["done"] == [False, True] and found["theta"] == vehicle.theta[0]
    assert found["before"] == found["after"]
    assert np.isfinite(found["z"])


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_least_squares_are_those_of_lapack(rank):
    """Of least norm too, where the matrix has not full rank."""
    rng = np.random.default_rng(rank)
    for m, n in ((4, 4), (6, 4), (4, 6)):
        A, b = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n)), rng.normal(size=m)
        found = run_in_node(f"""{read_static("motion.js")}
            const F = a => Float64Array.from(a);
            console.log(JSON.stringify(Array.from(leastSquares(
              F({A.ravel(order="F").tolist()}), F({b.tolist()}), {SINGULAR}))));""")
        expected = LeastSquares(m, n)(A.copy(), b.copy())
        assert np.allclose(found, expected, rtol=0, atol=1e-11 * (1 + np.abs(expected).max()))


def test_a_chart_for_every_place_far_away():
    """Of a front wheel that turns right round."""
    parts = step_parts(shipped("tricycle"))
    assert len(parts.charts) > 1
    assert len(step_parts(shipped("tricycle"), most=1).charts) == 1
    assert Simulated.of(shipped("trailers")).nu == 3
