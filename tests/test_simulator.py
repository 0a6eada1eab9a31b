"""The step loop: order, commands, events, failures, and what a run leaves behind."""

from __future__ import annotations

import inspect
import re
from contextlib import nullcontext
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from runs import MOTIONS
from support import joint, link, robot, shipped

import nhmech
from nhmech import (
    ConstrainedSystem,
    Event,
    InputError,
    JointPosition,
    JointTorque,
    JointVelocity,
    SimulationError,
    Simulator,
    Trajectory,
    Wheel,
)
from nhmech.analysis.summary import mechanics_summary
from nhmech.mechanics.algebroid import euclidean
from nhmech.mechanics.distribution import Row, assemble
from nhmech.mechanics.system import LagrangianSystem
from nhmech.simulation import pacing
from nhmech.simulation.integration.schemes import FIXED, SCHEMES, Scheme, Tableau
from nhmech.simulation.state import ATTRIBUTES, State
from nhmech.vehicle.record import restore

WHEELS = ("left_wheel_joint", "right_wheel_joint")
HUGE = 10 ** 400                                             # a whole number, and no float


def carriage(controller=None, xi=None, **arguments) -> Simulator:
    """The two-wheeled carriage, at the origin, with wheel rates xi."""
    simulator = Simulator(shipped("carriage"), controller, **arguments)
    simulator.reset((0, 0, 0), {}, dict(zip(WHEELS, xi)) if xi is not None else None)
    return simulator


# -- accuracy --------------------------------------------------------------------------------------
def end_of(name: str, dt: float, integrator: str = "rk4", duration: float = 0.8) -> np.ndarray:
    """q and v at the end of a run without controller, the quaternion's sign fixed."""
    simulator = Simulator(shipped(name), dt=dt, integrator=integrator)
    simulator.reset(**MOTIONS[name])
    run = simulator.run(duration, every=10 ** 9)
    q = run.q[-1].copy()
    q[3:7] *= np.sign(q[6])
    return np.r_[q, run.v[-1]]


@cache
def reference(name: str) -> np.ndarray:
    return end_of(name, 2e-2, "dop853")


@pytest.mark.parametrize("name, scheme", [
    pytest.param(name, SCHEMES[scheme], id=f"{name}-{scheme}",
                 marks=() if name == "disc" or scheme == "rk4" else pytest.mark.soak)
    for name in MOTIONS for scheme in FIXED])
def test_order_on_the_manifold(name, scheme):
    """Position, attitude, joints and rates together: error ~ dt^order, by least squares over two or
    three halvings. Of every scheme with steps of its user's."""
    assert order_of(name, scheme.name) == pytest.approx(scheme.order, abs=0.1)


def order_of(name: str, integrator: str) -> float:
    high = SCHEMES[integrator].order > 4
    steps = np.array([4e-2, 2e-2, 1e-2] if high else [2e-2, 1e-2, 5e-3, 2.5e-3])
    errors = [np.abs(end_of(name, dt, integrator) - reference(name)).max() for dt in steps]
    assert errors[-1] > 2e-13, "the finest step is at rounding: the order cannot be seen"
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


HEUN = Scheme("heun", 2, Tableau(((), (1,)), (Fraction(1, 2), Fraction(1, 2))), real_limit=2.0,
              imaginary_limit=0.0)


def test_a_new_scheme_is_one_entry(monkeypatch):
    monkeypatch.setitem(SCHEMES, "heun", HEUN)
    assert order_of("disc", "heun") == pytest.approx(2, abs=0.1)
    simulator = Simulator(shipped("disc"), integrator="heun")
    assert "heun" in repr(simulator)
    simulator.reset(**MOTIONS["disc"])
    run = simulator.run(0.05)
    assert run.settings["integrator"] == "heun"
    _, phi = shipped("disc").constraint_error(run.t[-1], run.q[-1], run.v[-1])
    assert np.abs(phi).max() <= 1e-12


@pytest.mark.parametrize("scheme", [*SCHEMES.values(), HEUN], ids=lambda scheme: scheme.name)
def test_stability_limits_are_those_of_the_tableau(scheme):
    """|R(z)| <= 1 up to the limit and not beyond, R(z) the step's factor on x' = z x."""
    if not isinstance(scheme.method, Tableau):
        assert scheme.real_limit == np.inf       # tests/test_integrators.py has the imaginary one
        return

    def growth(z: complex) -> float:
        return abs(scheme.method.advance(lambda t, x: z * x, 0.0, 1.0, 1.0))

    for limit, axis in ((scheme.real_limit, -1.0), (scheme.imaginary_limit, 1.0j)):
        assert limit == 0 or growth(0.999 * limit * axis) <= 1
        assert growth(1.001 * limit * axis + 0.01 * axis) > 1


@pytest.mark.parametrize("name", MOTIONS)
def test_dop853_agrees_with_small_steps_and_with_itself(name):
    assert end_of(name, 2e-4) == pytest.approx(reference(name), rel=0, abs=1e-9)
    assert end_of(name, 5e-3, "dop853") == pytest.approx(reference(name), rel=0, abs=1e-9)


@pytest.mark.parametrize("name", MOTIONS)
def test_constraints_along_runs(name):
    simulator = Simulator(shipped(name), dt=1e-3)
    simulator.reset(**MOTIONS[name])
    run = simulator.run(0.5, every=50)
    for t, q, v in zip(run.t, run.q, run.v):
        rows, phi = shipped(name).constraint_error(t, q, v)
        assert np.abs(rows).max() <= 1e-12 * np.abs(v).max()
        assert np.abs(phi).max() <= 1e-12
        assert abs(np.linalg.norm(q[3:7]) - 1) <= 1e-15 * 4


# -- what a controller sees and says ---------------------------------------------------------------
def test_the_system_of_a_run_is_simulated_as_its_vehicle():
    """With its limits, contacts and pose, and with wrenches on its links."""
    vehicle = shipped("differential_drive")
    simulated = Simulator(vehicle).run(0.01).simulated
    assert Simulator(simulated).simulated is simulated and simulated.vehicle is vehicle
    pushed = Simulator(simulated, wrench={"base_link": lambda t, state: np.zeros(6)})
    assert pushed.simulated.vehicle.wrench_bodies == ("base_link",)


def test_the_state_is_a_copy():
    seen = []
    simulator = carriage(lambda t, state: seen.append(state), (3.0, 4.0), dt=1e-2)
    simulator.run(0.1)
    assert [s.t for s in seen] == pytest.approx(np.arange(10) * 0.01, abs=1e-15)
    assert np.all(np.diff([s.joint_position["left_wheel_joint"] for s in seen]) > 0)
    before = simulator.state
    state = simulator.state
    for name in ("q", "v", "u"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(state, name)[0] = 99.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            getattr(state, name).setflags(write=True)
        with pytest.raises(AttributeError):
            setattr(state, name, np.zeros(3))
    with pytest.raises(TypeError):
        state.xi["yaw_rate"] = 9.0
    with pytest.raises(AttributeError):
        state.t = 3.0
    with pytest.raises(AttributeError):
        state.note = "mine"
    np.asarray(state.xi)[:] = 9.0
    state.values[:] = 9.0
    for again in (state, simulator.state):
        assert np.array_equal(again.q, before.q) and np.array_equal(again.v, before.v)
        assert dict(again.xi) == dict(before.xi)


def test_the_state_reads_by_name():
    simulator = carriage(None, (3.0, 5.0), dt=1e-2)
    state = simulator.run(0.37) and simulator.state
    v_names = shipped("carriage").algebroid.v_names
    assert state.xi["yaw_rate"] == state.v[v_names.index("yaw_rate")]
    assert state.joint_velocity["right_wheel_joint"] == state.v[v_names.index("right_wheel_joint")]
    x, y, heading = state.pose
    assert state.T_WB[:3, 3] == pytest.approx([x, y, state.q[2]], rel=1e-12, abs=0)
    assert heading == pytest.approx(np.arctan2(state.T_WB[1, 0], state.T_WB[0, 0]), rel=1e-12,
                                    abs=0)
    assert state.T_WB[:3, :3] == pytest.approx(pin.Quaternion(state.q[3:7]).toRotationMatrix(),
                                               abs=1e-15)
    with pytest.raises(InputError, match="'yaw'.*left_wheel_joint"):
        state.xi["yaw"]


def test_angles_are_unwrapped():
    run = carriage(None, (20.0, 20.0), dt=1e-2).run(2.0)
    turned = run.angles[-1, run.names["angles"].index("left_wheel_joint")]
    assert turned == pytest.approx(np.sum((run.xi[1:, 0] + run.xi[:-1, 0]) / 2 * np.diff(run.t)),
                                   rel=1e-12)
    assert turned > 4 * np.pi


def test_control_period_holds_the_command():
    asked = []

    def controller(t, state):
        asked.append(t)
        return np.array([0.1, -0.2]) * len(asked)

    run = carriage(controller, dt=1e-3, control_period=5e-3).run(0.05)
    assert asked == pytest.approx(np.arange(10) * 5e-3, abs=1e-15)
    assert run.u[:-1] == pytest.approx(
        np.repeat(np.outer(np.arange(1, 11), [0.1, -0.2]), 5, axis=0), abs=0
    )
    for period in (5e-3, np.nan, np.inf, 0.0):
        with pytest.raises(InputError, match="multiple of dt"):
            carriage(controller, dt=2e-3, control_period=period)


class Fails:
    """Well-behaved until t = 0.05 s."""

    def __init__(self, then):
        self.then = then

    def __call__(self, t, state):
        if t < 0.0499:
            return np.zeros(2)
        return self.then() if callable(self.then) else self.then


def divide():
    return 1 / 0


@pytest.mark.parametrize("then, message", [
    (np.zeros(3), r"shape \(3,\), expected \(2,\).*left_wheel_joint, right_wheel_joint"),
    (np.array([0.0, np.nan]), r"not finite.*left_wheel_joint"),
    (JointTorque({"left_wheel_joint": np.inf}),
     r"JointTorque for 'left_wheel_joint' is inf; expected a finite number"),
    (JointTorque({"left_wheel_joint": "0.1"}),
     r"JointTorque for 'left_wheel_joint' is '0\.1'; expected a finite num"),
    (JointVelocity({"lift": 1.0}),
     r"'lift' is not driven; driven joints are left_wheel_joint, right_wheel_joint"),
    ({"left_wheel_joint": 1.0},
     r"returned dict; return an array, JointTorque, JointVelocity or JointPosition"),
    (divide, r"controller Fails raised ZeroDivisionError at t = 0\.05 s: division by zero "
             r"\(test_simulator.py, line \d+\)"),
], ids=["size", "NaN", "infinite", "text", "unknown joint", "wrong type", "exception"])
def test_a_bad_command_stops_with_its_name_and_keeps_the_run(then, message):
    simulator = carriage(Fails(then), (2.0, 2.0), dt=1e-2)
    with pytest.raises(SimulationError, match=message) as caught:
        simulator.run(1.0)
    run = caught.value.trajectory
    assert "0.05" in str(caught.value)
    assert run.t == pytest.approx(np.arange(6) * 1e-2, abs=1e-15)
    assert run.stop == str(caught.value) and np.all(np.isfinite(run.v))


class ResetTakesOne:
    def __call__(self, t, state):
        return None

    def reset(self, seed):
        pass


def one_parameter(t):
    return None


def other_call(t, state):
    return one_parameter(t, state)


def no_such_attribute(t, state):
    return state.x


OF_THIS_FILE = r"\(test_simulator.py, line \d+\)"


@pytest.mark.parametrize("controller, message", [
    (one_parameter,
     r"controller one_parameter raised TypeError at t = 0 s: one_parameter\(\) takes 1 positional "
                    r"argument but 2 were given; it must take \(t, state\)$"),
    (ResetTakesOne(),
     r"reset of controller ResetTakesOne .* missing 1 .*'seed'; it must take nothing$"),
    (other_call, rf"takes 1 positional argument but 2 were given {OF_THIS_FILE}$"),
    (no_such_attribute,
     rf"raised AttributeError .*'x' {OF_THIS_FILE}; a state has .*\bpose, .*; x, y and heading are "
                        r"its `pose`$"),
], ids=["a call", "reset", "a call of its own", "attribute"])
def test_an_error_names_the_users_line_and_never_ours(controller, message):
    with pytest.raises(SimulationError, match=message):
        carriage(controller).run(0.01)


def test_a_wrench_is_called_as_a_controller():
    with pytest.raises(SimulationError,
                       match=r"wrench on 'base_link'.*; it must take \(t, state\)$"):
        carriage(wrench={"base_link": one_parameter}).run(0.01)


def test_the_docstring_of_a_state_names_all_that_it_has():
    assert {"pose", "T_WB", "t", "q", "accelerometer"} <= set(ATTRIBUTES)
    for name in ATTRIBUTES:
        assert re.search(rf"^(\w+, |[\w()]+, )*{name}\b(\(\w+\))?(, [\w()]+)*$",
                         inspect.getdoc(State), re.M), name


def test_speeds_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="'sideways'"):
        carriage().reset(xi={"sideways": 1.0})
    with pytest.raises(InputError, match="contradict the constraints"):
        carriage().reset(xi={"lateral_speed": 1.0})
    # by little, too
    for lateral in (1e-3, 1e-8):
        with pytest.raises(InputError, match=f"contradict the constraints by {lateral:.3g}"):
            carriage().reset(xi={"lateral_speed": lateral})
    with pytest.raises(InputError,
                       match="2 finite numbers: left_wheel_joint, right_wheel_joint"):
        carriage().reset(xi=[1.0, 2.0, 3.0])
    simulator = carriage()
    simulator.reset(xi={"forward_speed": 0.5, "yaw_rate": -0.4})
    assert simulator.state.xi["forward_speed"] == pytest.approx(0.5, abs=1e-14)
    assert simulator.state.xi["yaw_rate"] == pytest.approx(-0.4, abs=1e-14)


@pytest.mark.parametrize("name, wheels", [
    ("carriage", WHEELS),
    ("mecanum", ("front_left_wheel_joint", "front_right_wheel_joint", "rear_left_wheel_joint"))])
def test_joint_velocities_are_reached(name, wheels):
    """The servo closes an error with 50 ms: after 1.5 s nothing of it is left."""
    wanted = dict(zip(wheels, (2.0, -1.0, 3.0)))
    simulator = Simulator(shipped(name), lambda t, s: JointVelocity(wanted), dt=1e-3)
    simulator.reset()
    run = simulator.run(1.5, every=100)
    assert [run.v[-1, run.names["v"].index(w)] for w in wanted] == pytest.approx(
        list(wanted.values()), abs=1e-9
    )
    # at t = 0.1 s: 1 - exp(-2) of it, by steps of 1 ms
    early = [run.v[1, run.names["v"].index(w)] for w in wanted]
    assert early == pytest.approx([(1 - (1 - 1e-3 / 0.05) ** 100) * value
                                   for value in wanted.values()], rel=5e-3)


@pytest.mark.parametrize("wanted", [3.0, -3.0])
def test_the_answer_to_a_velocity_is_that_of_its_time_constant(wanted):
    """Straight on all is linear: an effort held over h = 1 ms takes off h / T of the error, on
    either side of zero."""
    simulator = carriage(lambda t, s: JointVelocity(dict.fromkeys(WHEELS, wanted)))
    run = simulator.run(0.3, every=10)
    np.testing.assert_allclose(run.column("left_wheel_joint.velocity"),
                               wanted * (1 - (1 - 1e-3 / 0.05) ** (1e3 * run.t)), rtol=1e-9)


def test_joint_positions_are_reached():
    car = shipped("ackermann_car")
    simulator = Simulator(car, lambda t, s: [JointPosition({"front_left_steering_joint": 0.4}),
                                             JointVelocity({"rear_left_wheel_joint": 3.0})],
                          dt=2e-3)
    simulator.reset()
    run = simulator.run(3.0)
    end = car.joint_positions(run.q[-1])
    assert end["front_left_steering_joint"] == pytest.approx(0.4, abs=1e-6)
    assert run.column("rear_left_wheel_joint.velocity").size and run.v[
        -1, run.names["v"].index("rear_left_wheel_joint")
    ] == pytest.approx(3.0, abs=1e-10)
    positions = np.array([car.joint_positions(q)["front_left_steering_joint"] for q in run.q])
    assert positions.max() <= 0.4 + 1e-3, "critically damped"
    beyond = Simulator(car, lambda t, s: JointPosition({"front_left_steering_joint": 3.0}), dt=2e-3)
    beyond.reset()
    last = car.joint_positions(beyond.run(4.0).q[-1])["front_left_steering_joint"]
    assert last == pytest.approx(car.description.limits["front_left_steering_joint"].upper,
                                 abs=1e-9)


def test_limits_of_effort_and_velocity_cut_the_command():
    car = shipped("ackermann_car")
    limits = car.description.limits
    simulator = Simulator(car, lambda t, s: np.array([1e5, -1e5, 0.0]), dt=1e-3)
    simulator.reset()
    efforts = [limits[name].effort for name in car.driven]
    assert simulator.run(0.01).u[0] == pytest.approx([efforts[0], -efforts[1], 0.0], abs=0)
    turning = Simulator(car, lambda t, s: JointVelocity({"front_left_steering_joint": 50.0}),
                        dt=1e-3)
    turning.reset()
    rate = turning.run(0.3).column("front_left_steering_joint.velocity")
    limit = limits["front_left_steering_joint"].velocity
    assert rate[-1] == pytest.approx(limit * (1 - (1 - 1e-3 / 0.05) ** 300), rel=1e-4)
    assert rate.max() == rate[-1]


@pytest.mark.parametrize("mode", ["dynamic", "kinematic"])
def test_limits_cut_backwards_as_forwards(mode):
    """Mirror images: a command beyond a limit, of rate or position, is that of the limit, on
    either side."""
    car, joint = shipped("ackermann_car"), "front_left_steering_joint"
    limit = car.limits[joint]

    def answers(*commands):
        for command in commands:
            simulator = Simulator(car, lambda t, s, command=command: command, dt=1e-3, mode=mode)
            simulator.reset(joints={joint: 0.0})
            simulator.step()
            yield simulator.state.joint_velocity[joint]

    for sign in (1, -1):
        far, edge = answers(JointVelocity({joint: 50.0 * sign}),
                            JointVelocity({joint: limit.velocity * sign}))
        assert far == edge != 0 and np.sign(edge) == sign
        end = limit.upper if sign > 0 else limit.lower
        simulator = Simulator(car, lambda t, s: JointPosition({joint: 2 * sign}), dt=1e-3,
                              mode=mode)
        simulator.reset(joints={joint: 0.999 * end})
        simulator.run(1.5, every=100)
        assert simulator.state.joint_position[joint] == pytest.approx(end, abs=1e-6)


def test_time_constants_of_exact_servos():
    """a = (rate* - rate) / 0.05 s and a = (p* - p) / (0.1 s)^2 - 2 rate / 0.1 s, seen in the first
    step; in kinematic mode a rate of (p* - p) / 0.1 s."""
    car, joint, h = shipped("ackermann_car"), "front_left_steering_joint", 1e-5

    def gained(command, rate: float, **options) -> float:
        simulator = Simulator(car, lambda t, s: command, dt=h, **options)
        simulator.reset(xi={joint: rate, "rear_left_wheel_joint": 0.0})
        simulator.step()
        return simulator.state.joint_velocity[joint]

    assert gained(JointVelocity({joint: 0.7}), 0.2) - 0.2 == pytest.approx(h * 0.5 / 0.05, rel=1e-4)
    assert gained(JointPosition({joint: 0.02}), 0.0) == pytest.approx(h * 0.02 / 0.1 ** 2, rel=1e-4)
    assert gained(JointPosition({joint: 0.0}), 0.2) - 0.2 == pytest.approx(-h * 2 * 0.2 / 0.1,
                                                                          rel=1e-4)
    assert gained(JointPosition({joint: 0.02}), 0.0,
                  mode="kinematic") == pytest.approx(0.02 / 0.1, rel=1e-12, abs=0)


def test_kinematic_mode_follows_the_speeds_exactly():
    """Constant wheel rates drive a circle: yaw w = r (right - left) / track, forward v = r (right +
    left) / 2."""
    vehicle = shipped("carriage")
    radius = vehicle.description.wheels[0].radius
    points = vehicle.contact_points(vehicle.configuration())
    track = np.linalg.norm(points[0] - points[1])
    middle = (points[0] + points[1])[:2] / 2
    for command in (np.array([2.0, 3.0]), JointVelocity(dict(zip(WHEELS, (2.0, 3.0))))):
        simulator = carriage(lambda t, s, command=command: command, dt=1e-2, mode="kinematic")
        run = simulator.run(2.0)
        forward, turn = radius * 2.5, radius / track
        assert run.xi == pytest.approx(np.tile([2.0, 3.0], (len(run), 1))[-len(run):], abs=1e-14)
        yaw = turn * run.t[-1]
        end = run.q[-1]
        R = pin.Quaternion(end[3:7]).toRotationMatrix()
        assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(yaw, abs=1e-11)
        axle = end[:2] + R[:2, :2] @ middle
        assert axle - middle == pytest.approx(
            forward / turn * np.array([np.sin(yaw), 1 - np.cos(yaw)]), abs=1e-9
        )
    with pytest.raises(SimulationError, match="unknown joint 'lift'; there are forward_speed"):
        carriage(lambda t, s: JointVelocity({"lift": 1.0}), mode="kinematic").run(0.1)
    with pytest.raises(SimulationError, match="efforts mean nothing in kinematic mode"):
        carriage(lambda t, s: JointTorque({"left_wheel_joint": 1.0}), mode="kinematic").run(0.1)


# -- forces from outside ---------------------------------------------------------------------------
def cart() -> nhmech.vehicle.vehicle.Vehicle:
    """Two axles of discs in line under a box, no motor, symmetric left and right."""
    parts, wheels = [link("base_link", 8.0, (0.3, 0.4, 0.5), (0.05, 0, 0.1))], []
    for side, y in (("left", 0.3), ("right", -0.3)):
        parts += [link(f"{side}_wheel", 1.2, (0.005, 0.009, 0.005)),
                  joint(f"{side}_joint", "base_link", f"{side}_wheel", (0, y, 0))]
        wheels.append(Wheel(f"{side}_joint", "disc", 0.15, driven=False))
    parts += [link("ball", 0.1, (1e-5,) * 3),
              joint("ball_joint", "base_link", "ball", (0.4, 0, -0.12), kind="fixed")]
    return nhmech.load(robot(*parts),
                       wheels=[*wheels, Wheel(None, "caster_ball", 0.03, link="ball")])


def test_a_pushed_cart_accelerates_with_its_effective_mass():
    """F along the heading: a = F / (sum of masses + sum of I / r^2), wherever the cart
    points and however high it is pushed."""
    vehicle, force = cart(), 7.0
    effective = 8.0 + 2 * 1.2 + 0.1 + 2 * 0.009 / 0.15 ** 2
    heading = np.array([np.cos(0.6), np.sin(0.6)])
    for wrench in ((*force * heading, 0, 0, 0, 0), (*force * heading, 5.0, 0, 0, 0),
                   lambda t, state: np.r_[force * heading, 0, 0, 0, 0]):
        simulator = Simulator(vehicle, wrench={"base_link": wrench}, dt=1e-2)
        simulator.reset((1.0, 2.0, 0.6))
        run = simulator.run(1.0)
        assert run.column("forward_speed") == pytest.approx(force / effective * run.t, rel=0,
                                                            abs=1e-12)
        assert run.q[-1, :2] - [1, 2] == pytest.approx(heading * force / effective / 2, abs=1e-11)
        work = force * ((run.q[:, :2] - [1, 2]) @ heading)
        assert run.energy - run.energy[0] == pytest.approx(work, abs=1e-10)


def test_a_wrench_that_nobody_gives_is_zero():
    vehicle = shipped("differential_drive")
    ends = [Simulator(each, dt=1e-2).run(0.1).q for each in
            (vehicle, vehicle.with_wrench("base_link"))]
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-15)


@pytest.mark.parametrize("links", [("base_link", "left_wheel"), ("left_wheel", "base_link")])
def test_two_wrenches_add_up(links):
    """Half of a push ahead at the base, half at the axle of a wheel, each at its own link, in
    either order; a pull at one takes off what the other pushes."""
    vehicle, heading = cart(), np.array([np.cos(0.6), np.sin(0.6), 0, 0, 0, 0])
    effective = 8.0 + 2 * 1.2 + 0.1 + 2 * 0.009 / 0.15 ** 2
    inertia = (0.5 + 8.0 * 0.05 ** 2 + 2 * (0.005 + 1.2 * 0.3 ** 2) + 2 * 0.009 * (0.3 / 0.15) ** 2
               + 1e-5 + 0.1 * 0.4 ** 2)
    forces = dict(zip(("base_link", "left_wheel"), (5.0, -2.0)))
    simulator = Simulator(vehicle, dt=1e-4,
                          wrench={name: forces[name] * heading for name in links})
    simulator.reset((1.0, 2.0, 0.6))
    simulator.step()
    assert simulator.state.xi["forward_speed"] == pytest.approx(3.0 / effective * 1e-4, rel=1e-6)
    assert simulator.state.xi["yaw_rate"] == pytest.approx(2.0 * 0.3 / inertia * 1e-4, rel=1e-6)


def test_a_moment_turns_the_cart():
    """Pure turning: moment / (moment of inertia about the middle of the axle, wheels rolling)."""
    vehicle, moment = cart(), 3.0
    inertia = (0.5 + 8.0 * 0.05 ** 2 + 2 * (0.005 + 1.2 * 0.3 ** 2) + 2 * 0.009 * (0.3 / 0.15) ** 2
               + 1e-5 + 0.1 * 0.4 ** 2)
    simulator = Simulator(vehicle, wrench={"base_link": (0, 0, 0, 0, 0, moment)}, dt=1e-3)
    simulator.reset()
    simulator.step()
    assert simulator.state.xi["yaw_rate"] == pytest.approx(moment / inertia * 1e-3, rel=1e-10,
                                                           abs=0)


@pytest.mark.parametrize("wrench, message",
                         [(np.zeros(3), "expected 6 finite numbers"), ([HUGE] * 6, "expected 6"),
                                             ((0, 0, np.nan, 0, 0, 0),
                                              "expected 6 finite numbers")])
def test_a_bad_wrench_is_refused(wrench, message):
    with pytest.raises(SimulationError, match=message):
        Simulator(cart(), wrench={"base_link": wrench}).run(0.1)


def test_a_wrench_on_an_unknown_link_is_refused():
    with pytest.raises(InputError, match="'roof' .* there are base_link"):
        Simulator(cart(), wrench={"roof": np.zeros(6)})


# -- events and ends -------------------------------------------------------------------------------
SPEED = 3.0          # [rad/s] of both wheels: the carriage goes straight on at a constant speed


def passing(x: float, **arguments) -> Event:
    return Event(f"x = {x}", lambda t, state: state.pose[0] - x, **arguments)


def test_events_are_located():
    """The base passes x at t = (x - x0) / v; to 1e-9 s although steps are 50 ms."""
    v = SPEED * shipped("carriage").description.wheels[0].radius
    seen = carriage(None, (SPEED, SPEED), dt=5e-2,
                    events=[passing(0.013, terminal=False), passing(0.1, terminal=False),
                                                           passing(0.2), passing(0.5)])
    run = seen.run(20.0)
    assert run.stop == "event: x = 0.2"
    assert [name for _, name in run.events] == ["x = 0.013", "x = 0.1", "x = 0.2"]
    assert [t for t, _ in run.events] == pytest.approx(np.array([0.013, 0.1, 0.2]) / v, rel=0,
                                                       abs=1e-9)
    assert run.t[-1] == pytest.approx(0.2 / v,
                                      abs=1e-9) and run.q[-1, 0] == pytest.approx(0.2, abs=1e-9)
    assert np.all(np.diff(run.t) > 0)


def test_direction_of_events():
    rising, falling, both = (
        Event(name, lambda t, s: np.sin(2 * np.pi * t), terminal=False, direction=d)
        for name, d in (("up", 1), ("down", -1), ("any", 0))
    )
    run = carriage(None, (1.0, 1.0), dt=1e-2, events=[rising, falling, both]).run(1.8)
    times = {name: [t for t, n in run.events if n == name] for name in ("up", "down", "any")}
    assert times["up"] == pytest.approx([1.0], abs=1e-9) and times["down"] == pytest.approx(
        [0.5, 1.5], abs=1e-9
    )
    assert times["any"] == pytest.approx([0.5, 1.0, 1.5], abs=1e-9)


def test_a_noted_event_changes_nothing():
    plain = carriage(None, (1.0, 4.0), dt=1e-2).run(1.0)
    noted = carriage(None, (1.0, 4.0), dt=1e-2, events=[passing(0.02, terminal=False)]).run(1.0)
    assert noted.events and not plain.events
    assert np.array_equal(plain.t, noted.t) and noted.q == pytest.approx(plain.q, rel=0, abs=1e-14)


@pytest.mark.parametrize("where", ["controller", "progress"])
def test_ctrl_c_returns_what_there_is(where):
    def interrupt(t, state):
        if t > 0.0301:
            raise KeyboardInterrupt

    simulator = carriage(interrupt if where == "controller" else None, (1.0, 1.0), dt=1e-4)
    run = simulator.run(10.0, progress=interrupt if where == "progress" else None)
    assert run.stop == "interrupted"
    assert 0.03 < run.t[-1] < 9.0 and np.all(np.isfinite(run.q))


@pytest.mark.parametrize("pause, raised", [(0.5, True), (3.0, False)])
def test_ctrl_c_twice_leaves_a_loop_of_runs(pause, raised, tmp_path, monkeypatch):
    """The second run is saved in any case."""
    def interrupt(t, state):
        if t > 0.0301:
            raise KeyboardInterrupt

    now = iter([10.0, 10.0 + pause])
    monkeypatch.setattr(pacing, "time", SimpleNamespace(monotonic=lambda: next(now)))
    assert carriage(interrupt, (1.0, 1.0), dt=1e-3).run(1.0).stop == "interrupted"
    with pytest.raises(KeyboardInterrupt) if raised else nullcontext():
        carriage(interrupt, (1.0, 1.0), dt=1e-3).run(1.0, save=tmp_path / "run.npz")
    again = nhmech.Trajectory.load(tmp_path / "run.npz")
    assert again.stop == "interrupted" and 0.03 <= again.t[-1] < 0.05


def test_a_controller_is_asked_before_each_step_and_no_more():
    """Turns of controller and step are taken many at once."""
    asked = []

    def rest(t, state):
        asked.append(t)
        return np.zeros(2)

    run = Simulator(shipped("differential_drive"), rest, dt=0.01).run(0.75)
    np.testing.assert_allclose(asked, run.t[:-1], rtol=0, atol=1e-12)
    assert len(asked) == 75 and run.t[-1] == pytest.approx(0.75, abs=1e-12)


def test_slow_steps_are_taken_one_at_a_time_and_quick_ones_many():
    """Between two looks at Ctrl-C."""
    pace = pacing.Pace()
    for _ in range(30):
        pace.learn(10 * pacing.LOOK)
    assert pace.steps == 1
    pace.learn(0.0)
    assert pace.steps == 2
    for _ in range(30):
        pace.learn(0.0)
    assert pace.steps == pacing.CHUNK


def test_duration_that_is_no_multiple_of_dt_ends_where_it_says():
    simulator = carriage(None, (1.0, 2.0), dt=3e-2)
    run = simulator.run(0.1)
    assert run.stop == "duration" and run.t[-1] == pytest.approx(0.1, abs=1e-15)
    assert run.t == pytest.approx([0, 0.03, 0.06, 0.09, 0.1], abs=1e-15)
    again = simulator.run(0.1)
    assert again.t[0] == pytest.approx(0.1,
                                       abs=1e-15) and again.t[-1] == pytest.approx(0.2, abs=1e-15)


@pytest.mark.parametrize("duration, rows", [
    (0.01, 11), (0.01 * (1 + 1e-12), 11), (0.01 * (1 - 1e-12), 11),
    (0.0100005, 12), (0.0109995, 12), (0.0004, 2), (0.0, 1)])
def test_a_duration_is_kept_to_a_part_of_a_step(duration, rows):
    """However little of the last step there is; what rounding leaves is no step."""
    run = carriage(None, (1.0, 2.0), dt=1e-3).run(duration)
    assert len(run) == rows and run.t[-1] == pytest.approx(duration, rel=1e-11, abs=1e-15)
    np.testing.assert_allclose(np.diff(run.t)[:10], min(1e-3, duration or 1), rtol=1e-9)


def test_recording_every_so_often_keeps_first_and_last():
    full, thin = (carriage(None, (1.0, 2.0), dt=1e-2).run(0.25, every=k) for k in (1, 10))
    assert thin.t == pytest.approx([0, 0.1, 0.2, 0.25], abs=1e-15)
    assert np.array_equal(thin.q, full.q[[0, 10, 20, 25]])


def test_reset_starts_anew():
    simulator = carriage(lambda t, s: np.array([0.3, 0.1]), dt=1e-2)
    first = simulator.run(0.5)
    simulator.reset((0, 0, 0))
    second = simulator.run(0.5)
    assert np.array_equal(first.q, second.q) and np.array_equal(first.u, second.u)


# -- failures --------------------------------------------------------------------------------------
@pytest.mark.parametrize("lean", [0.5, 1.2])
@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_a_disc_that_falls_flat_stops_and_says_so(lean, dt):
    """Without spin it falls like a board: the last moment before it lies is the last one recorded,
    with all its energy."""
    simulator = Simulator(shipped("disc"), dt=dt, on_lift="ignore")
    simulator.reset((0, 0, 0, lean, 0, 0))
    with pytest.raises(SimulationError, match=r"stopped at t = 0\.\d+ s: the axle of 'spin_joint' "
                                              r"is parallel to the ground's normal") as caught:
        simulator.run(3.0)
    run = caught.value.trajectory
    assert len(run) > 100 and np.all(np.isfinite(run.q)) and np.all(np.isfinite(run.v))
    assert np.abs(shipped("disc").constraint_error(0.0, run.q[-1], run.v[-1])[1]).max() <= 1e-12
    assert np.abs(run.energy / run.energy[0] - 1).max() <= 1e-6
    # sine between axle and normal
    flat = np.array(
        [np.hypot(*pin.Quaternion(q[3:7]).toRotationMatrix()[:2, 1]) for q in run.q[-2:]]
    )
    assert flat[0] < 1.5 * flat[1], "seen with the last step"
    assert flat[1] > 1.45 * (flat[1] - (flat[0] - flat[1])), "and not to be seen with one more"


def test_a_disc_that_whirls_faster_than_the_steps_stops():
    """Almost no spin: close to the ground it whips round, at 1 degree and 500 rad/s;
    steps of 1 ms jump over that moment and must not pretend."""
    simulator = Simulator(shipped("disc"), dt=1e-3)
    simulator.reset((0, 0, 0, 1.2, 0, 0), {}, {"spin_joint": 0.1, "yaw_rate": 0.05})
    with pytest.raises(SimulationError, match="the axle of 'spin_joint' is parallel") as caught:
        simulator.run(0.4)
    run = caught.value.trajectory
    assert np.abs(run.energy / run.energy[0] - 1).max() <= 1e-2 and np.all(np.isfinite(run.v))


def test_placing_a_disc_flat_is_refused():
    with pytest.raises(nhmech.ModelError, match="parallel to the ground's normal"):
        shipped("disc").configuration((0, 0, 0, np.pi / 2, 0, 0))


def test_what_cannot_be_simulated():
    with pytest.raises(InputError, match="str"):
        Simulator("disc.urdf")


@pytest.mark.parametrize("arguments, message", [
    ({"dt": 0.0}, "dt = 0.0 must be a positive time"), ({"dt": np.nan}, "dt = nan must"),
    ({"dt": "1e-3"}, "dt = '1e-3' must"),
    ({"dt": None}, "dt = None must"), ({"dt": [1e-3]}, "dt = .0.001. must"),
    ({"control_period": "1"}, "control_period = '1' s must"),
    ({"dt": 5e-324, "control_period": 1.0}, "control_period = 1.0 s must"),
    ({"control_period": -1e-3}, "control_period = -0.001 s must"),
    ({"integrator": "euler"}, "'euler' does not exist; there are rk4, dop853"),
    ({"integrator": ["rk4"]}, "integrator .* does not exist"),
    ({"mode": "static"}, "'static' does not exist; there are dynamic, kinematic"),
    ({"mode": np.zeros(2)}, "mode .* does not exist"),
    ({"controller": 3}, "controller = 3 must be a callable"),
    ({"events": 3}, r"events = 3 must be a list of Event\(name, function\)"),
    ({"events": [lambda t, state: t]}, "must be a list of Event"),
    ({"wrench": 3}, "wrench = 3 must be a mapping, link name"),
    ({"wrench": ["base_link"]}, "must be a mapping, link name"),
    ({"wrench": {3: np.zeros(6)}}, "must be a mapping, link name"),
])
def test_arguments_that_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        Simulator(shipped("carriage"), **arguments)


@pytest.mark.parametrize("arguments, message", [
    ({"duration": -1.0}, "duration = -1.0 must be a time"),
    ({"duration": "5"}, "duration = '5' must"),
    ({"duration": None}, "duration = None"),
    ({"every": 0}, "every = 0 must be a whole number"), ({"every": 2.0}, "every = 2.0 must"),
    ({"every": "2"}, "every = '2' must"), ({"every": True}, "every = True must"),
    ({"progress": 3}, r"progress = 3 must be a callable \(t, state\)"),
    ({"save": 3}, "save = 3 must be the path of a file"),
    ({"save": b"run.npz"}, "save = b'run.npz' must"), ({"save": ""}, "save = '' must"),
    ({"save": "."}, "save = '.' must be the path of a file, and is a folder"),
    ({"save": "/"}, "save = '/' must"),
])
def test_arguments_of_a_run_that_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        carriage().run(**{"duration": 1.0} | arguments)


@pytest.mark.parametrize("arguments, message", [
    ({"pose": "home"}, "pose 'home' must have finite numbers only"),
    ({"pose": (0, 0, None)}, "must have finite numbers only"),
    ({"pose": (0, 0, HUGE)}, "must have finite numbers only"),
    ({"joints": 3}, "joints = 3 must be a mapping"),
    ({"joints": {3: 1.0}}, "unknown joint 3; moving joints are left_wheel_joint"),
    ({"joints": {WHEELS[0]: HUGE}}, "joint 'left_wheel_joint' = 10+ ... must be a finite number"),
    ({"joints": {WHEELS[0]: "0"}}, "joint 'left_wheel_joint' = '0' must be a finite number"),
    ({"xi": "fast"}, "xi = 'fast' must be 2 finite"),
    ({"xi": {"yaw_rate": "1"}}, "speed 'yaw_rate' = '1': give finite numbers"),
    ({"xi": {"yaw_rate": HUGE}}, "speed 'yaw_rate' = 10+ ...: give finite numbers"),
    ({"xi": (HUGE, 0)}, "xi = .* must be 2 finite numbers"),
    ({"q": "home"}, "q = 'home' must be 11 finite numbers"),
    ({"q": [HUGE] * 11}, "q = .* must be 11 finite numbers"),
])
def test_starts_that_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        Simulator(shipped("carriage")).reset(**arguments)


def test_speeds_may_be_whole_numbers():
    """Of any size that a float has: beyond 64 bits NumPy makes objects of them."""
    found = Simulator(shipped("carriage")).reset(xi=dict.fromkeys(WHEELS, 10 ** 30)).xi
    assert dict(found) == pytest.approx(dict.fromkeys(WHEELS, 1e30), rel=1e-12)


@pytest.mark.parametrize("command, message", [
    ([HUGE, 0], "returned list"),
    (JointTorque({WHEELS[0]: HUGE}), "JointTorque for 'left_wheel_joint' is 10+"),
    (JointVelocity({WHEELS[0]: HUGE}), "JointVelocity for 'left_wheel_joint' is 10+")])
def test_a_command_beyond_all_floats_is_refused(command, message):
    with pytest.raises(SimulationError, match=f"controller .* at t = 0 s.* {message}"):
        carriage(lambda t, state: command).run(0.01)
    with pytest.raises(SimulationError,
                       match="event 'far' is 10+ at t = 0 s; expected a finite number"):
        carriage(events=[Event("far", lambda t, state: HUGE)]).run(0.01)


# -- the record ------------------------------------------------------------------------------------
def test_a_trajectory_cannot_be_changed():
    run = carriage(None, (1.0, 2.0), dt=1e-2).run(0.1)
    for name in ("t", "q", "v", "xi", "u", "angles"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(run, name)[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        run.stop = "never"


def test_save_load_and_show_again(tmp_path):
    simulator = carriage(lambda t, s: np.array([0.2, 0.1]), (1.0, 2.0), dt=1e-2,
                         events=[passing(0.01, terminal=False)])
    run = simulator.run(1.0)
    path = run.save(tmp_path / "run")
    assert path.name == "run.npz"
    with pytest.raises(InputError,
                       match="save = '.' must be the path of a file, and is a folder"):
        run.save(".")
    loaded = Trajectory.load(path)
    for name in ("t", "q", "v", "xi", "u", "angles"):
        assert np.array_equal(getattr(loaded, name), getattr(run, name))
    assert (loaded.stop, loaded.events, loaded.names) == (run.stop, run.events, run.names)
    with pytest.raises(ValueError, match="read-only"):
        loaded.q[0] = 0
    vehicle = restore(loaded.source)
    assert (vehicle.speeds == shipped("carriage").speeds
            and vehicle.contact_names == shipped("carriage").contact_names)
    assert vehicle.energy(0.0, loaded.q[-1],
                          loaded.v[-1]) == pytest.approx(run.energy[-1], rel=1e-13, abs=0)
    assert vehicle.constraint_error(0.0, loaded.q[-1], loaded.v[-1])[0] == pytest.approx(
        np.zeros(len(vehicle.constrained.distribution.names)), abs=1e-12)
    with pytest.raises(SimulationError, match="is not a run"):
        Trajectory.load(__file__)
    with pytest.raises(InputError, match="no column 'speed'; there are .*left_wheel_joint"):
        run.column("speed")


@pytest.mark.parametrize("name, ground", [("rover", nhmech.Ground(normal=(0.1, 0, 1))),
                                          ("mecanum", nhmech.Ground()),
                                          ("skid_steer", nhmech.Ground()),
                                          ("sled", nhmech.Ground())])
def test_every_sort_of_vehicle_comes_back(name, ground, tmp_path):
    simulator = Simulator(shipped(name, ground), dt=1e-2)
    simulator.reset()
    back = restore(Trajectory.load(simulator.run(0.05).save(tmp_path / "run.npz")).source)
    assert mechanics_summary(back) == mechanics_summary(shipped(name, ground))
    assert back.ground == ground


# -- a system written by hand ----------------------------------------------------------------------
def sled(slope: float = 0.0, m: float = 2.0, J: float = 0.3) -> ConstrainedSystem:
    """A knife edge on a plane that falls towards +x by `slope` [rad]; no sliding across the
    blade."""
    algebroid = euclidean("x", "y", "theta", units=("m/s", "m/s", "rad/s"))
    v, a = ca.SX.sym("v", 3), ca.SX.sym("a", 3)
    x, _, theta = ca.vertsplit(algebroid.q)
    lagrangian = m * (v[0] ** 2 + v[1] ** 2) / 2 + J * v[2] ** 2 / 2 + m * 9.81 * np.sin(slope) * x
    across = ca.horzcat(ca.sin(theta), -ca.cos(theta), ca.SX(0))
    return ConstrainedSystem(LagrangianSystem.from_lagrangian(algebroid, v, a, lagrangian),
                             assemble([Row("blade", across, ca.SX(1, 1))], 3))


def test_a_knife_edge_on_the_level_draws_a_circle():
    simulator = Simulator(sled(), dt=1e-3)
    simulator.reset(q=[0.0, 0.0, 0.3],
                    xi={"x'": 1.5 * np.cos(0.3), "y'": 1.5 * np.sin(0.3), "theta'": 0.7})
    run = simulator.run(10.0, every=100)
    theta = 0.3 + 0.7 * run.t
    assert run.q[:, 2] == pytest.approx(theta, rel=0, abs=1e-11)
    assert run.q[:, 0] == pytest.approx(1.5 / 0.7 * (np.sin(theta) - np.sin(0.3)), rel=0, abs=1e-10)
    assert run.q[:, 1] == pytest.approx(-1.5 / 0.7 * (np.cos(theta) - np.cos(0.3)), rel=0,
                                        abs=1e-10)
    assert len(simulator.atlas.charts) > 1, (
        "cos(theta) = 0 was passed, where one of the velocities determines nothing"
    )


def test_a_knife_edge_on_a_slope_draws_a_cycloid():
    """From rest with spin w: x = g sin(s) / (2 w^2) sin(w t)^2, y = g sin(s) / (2 w^2) (w t - sin(2
    w t) / 2): it does not go downhill."""
    w, slope = 1.3, 0.2
    simulator = Simulator(sled(slope), dt=1e-3)
    simulator.reset(q=[0.0, 0.0, 0.0], xi={"x'": 0.0, "y'": 0.0, "theta'": w})
    run = simulator.run(8.0, every=100)
    scale = 9.81 * np.sin(slope) / (2 * w ** 2)
    assert run.q[:, 0] == pytest.approx(scale * np.sin(w * run.t) ** 2, rel=0, abs=1e-9)
    assert run.q[:, 1] == pytest.approx(scale * (w * run.t - np.sin(2 * w * run.t) / 2), rel=0,
                                        abs=1e-9)
    exchanged = 2.0 * 9.81 * np.sin(slope) * run.q[:, 0].max()
    assert run.energy == pytest.approx(np.full(len(run), run.energy[0]), rel=0,
                                       abs=1e-10 * exchanged)


def test_a_system_by_hand_says_what_it_needs():
    simulator = Simulator(sled())
    with pytest.raises(InputError, match=r"reset\(q=...\)"):
        simulator.reset()
    with pytest.raises(InputError, match="must be 3 finite numbers"):
        simulator.reset(q=[0.0, 0.0])
    with pytest.raises(InputError, match="wrench"):
        Simulator(sled(), wrench={"sled": np.zeros(6)})
    simulator.reset(q=np.zeros(3))
    with pytest.raises(SimulationError, match="only a vehicle"):
        simulator.run(0.01).reactions


def test_a_saved_run_gives_energies_and_forces_again(tmp_path):
    vehicle = shipped("differential_drive")
    simulator = Simulator(vehicle)
    simulator.reset(xi={"forward_speed": 0.4, "yaw_rate": 1.0})
    run = simulator.run(0.05)
    path = run.save(tmp_path / "run.npz")
    for again in (nhmech.Trajectory.load(path), nhmech.Trajectory.load(path, vehicle)):
        np.testing.assert_allclose(again.energy, run.energy, rtol=1e-14)
        assert again.reactions[-1].components == run.reactions[len(run) - 1].components
    (tmp_path / "torn.npz").write_bytes(path.read_bytes()[:2000])
    with pytest.raises(SimulationError, match="damaged"):
        nhmech.Trajectory.load(tmp_path / "torn.npz")
    with pytest.raises(SimulationError, match="no such file"):
        nhmech.Trajectory.load(tmp_path / "missing.npz")


def test_a_kinematic_run_has_no_forces():
    simulator = Simulator(shipped("differential_drive"), lambda t,
                          state: np.array([1.0, 2.0]), mode="kinematic", dt=0.01)
    simulator.reset()
    with pytest.raises(SimulationError, match="kinematic"):
        simulator.run(0.05).reactions


def test_named_speeds_bind_only_where_a_run_begins():
    """forward_speed stops determining a tricycle whose front wheel stands across;
    other speeds take over and the run goes on."""
    vehicle = shipped("tricycle", speeds=("steering_joint", "forward_speed"))
    # without limits, at which the commanded joint would come to rest
    vehicle = replace(vehicle, description=replace(vehicle.description, limits={}))
    simulator = Simulator(vehicle, lambda t, state: nhmech.JointVelocity(
        {"steering_joint": 1.0, "front_wheel_joint": 1.0}), mode="kinematic", dt=0.01)
    simulator.reset()
    run = simulator.run(1.9)
    assert (run.stop == "duration"
            and run.column("steering_joint.velocity")[-1] == pytest.approx(1.0, rel=1e-12))


def test_names_can_be_asked_for():
    state = Simulator(shipped("differential_drive")).reset()
    assert ("nothing" not in state.xi and state.joint_position.get("nothing") is None
            and "left_wheel_joint" in state.joint_velocity)


def test_events_that_fail_are_named_and_later_ones_did_not_happen():
    vehicle = shipped("differential_drive")

    def started(*events):
        simulator = Simulator(vehicle, dt=0.01, events=events)
        simulator.reset(xi={"forward_speed": 1.0, "yaw_rate": 0.0})
        return simulator

    first = nhmech.Event("first", lambda t, state: state.pose[0] - 0.105)
    later = nhmech.Event("later", lambda t, state: state.pose[0] - 0.108, terminal=False)
    run = started(later, first).run(1.0)
    assert run.stop == "event: first" and [name for _, name in run.events] == ["first"]
    for broken, words in ((lambda t, state: 1 / 0, "ZeroDivisionError"),
                          (lambda t, state: float("nan"), "nan")):
        with pytest.raises(SimulationError, match=f"event 'broken'.*{words}") as caught:
            event = nhmech.Event("broken", lambda t, state,
                                 broken=broken: broken(t, state) if t > 0.05 else 1.0)
            started(event).run(1.0)
        assert len(caught.value.trajectory) > 3


def test_one_joint_takes_one_command():
    vehicle = shipped("differential_drive")
    simulator = Simulator(
        vehicle,
        lambda t, state: [nhmech.JointTorque({"left_wheel_joint": 0.1}),
                          nhmech.JointVelocity({"left_wheel_joint": 1.0})],
    )
    simulator.reset()
    with pytest.raises(SimulationError, match="commanded twice"):
        simulator.run(0.1)


def test_effort_on_one_wheel_and_a_rate_on_the_other():
    """The servo of the right wheel takes the effort on the left one into account:
    its acceleration is what was asked for, at once."""
    vehicle = shipped("differential_drive")
    simulator = Simulator(
        vehicle,
        lambda t, state: [nhmech.JointTorque({"left_wheel_joint": 0.3}),
                          nhmech.JointVelocity({"right_wheel_joint": 0.0})],
        dt=1e-3,
    )
    simulator.reset()
    run = simulator.run(0.5)
    assert (np.abs(run.column("right_wheel_joint.velocity")).max() < 1e-3
            and run.column("left_wheel_joint.velocity")[-1] > 0.5)


def test_one_thread_at_a_time_advances_a_simulator():
    """A controller stops the run while another thread, and then itself, try to go on with it."""
    import threading

    answers = []

    def try_to_advance():
        for call in (simulator.step, lambda: simulator.run(1.0), simulator.reset):
            with pytest.raises(SimulationError, match="use one Simulator per thread"):
                call()
            answers.append(True)

    def controller(t, state):
        if t == 0:
            other = threading.Thread(target=try_to_advance)
            other.start()
            other.join()
            try_to_advance()

    simulator = Simulator(shipped("differential_drive"), controller)
    run = simulator.run(0.01)
    assert len(answers) == 6 and run.stop == "duration" and np.all(np.diff(run.t) > 0)
    assert simulator.run(0.01).stop == "duration"


@pytest.mark.parametrize("dt, duration, message", [
    (1e-300, 1.0, r"takes 1e\+300 steps of 1e-300 s"),
    (1e-3, 1e18, r"takes 1e\+21 steps of 0.001 s"),
    (1e-6, 1e7, r"1e\+13 rows and takes .* GiB of memory, of which this machine has"),
])
def test_a_run_that_no_machine_can_hold_is_refused(dt, duration, message):
    with pytest.raises(InputError, match=message):
        Simulator(shipped("carriage"), dt=dt).run(duration)


def test_what_was_computed_is_kept_when_memory_ends(monkeypatch):
    from nhmech.simulation.runs.recorder import Recorder

    def room(self, rows):
        asked.append(rows)
        if len(asked) > 20:
            raise MemoryError
        return given(self, rows)

    asked, given = [], Recorder.room
    simulator = Simulator(shipped("carriage"), lambda t, state: None, control_period=2e-3)
    monkeypatch.setattr(Recorder, "room", room)
    with pytest.raises(SimulationError, match="out of memory at t = .*save=") as found:
        simulator.run(1.0)
    kept = found.value.trajectory
    assert len(kept.t) == 40 and np.all(np.diff(kept.t) > 0)
