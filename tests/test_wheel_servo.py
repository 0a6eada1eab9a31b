"""The wheel-speed PI servo: what is claimed of it, on every vehicle with driven wheels, with one
set of gains."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from robot_table import real
from support import SHIPPED, at_length, sampled, serving, shipped

import nhmech
from nhmech import (
    Ground,
    InputError,
    JointPosition,
    JointTorque,
    JointVelocity,
    ModelError,
    SimulationError,
    Simulator,
)
from nhmech.control.measurement import Quantise
from nhmech.control.path_library import make_path
from nhmech.control.pure_pursuit import PurePursuit
from nhmech.control.twist import TwistDrive
from nhmech.control.wheel_servo import WheelServo
from nhmech.vehicle.friction import as_commanded

WHEELS = ("left_wheel_joint", "right_wheel_joint")
STEADY = 1e-3            # [rad/s], the error that may be left
# A vehicle on two wheels in line, or with a free pitch, does not go on at the wheel rates it is
# told:
# it falls. Its own regulator turns them.
FALL = ("pendulum", "bicycle")
FREE = ("ball", "coin", "disc", "sled")      # nothing drives a wheel of theirs
DRIVEN = [name for name in SHIPPED if name not in FALL + FREE]
OBLIQUE = Ground(normal=(-0.1, 0.06, 1))
# a force that holds a carriage back
BACK = {"base_link": lambda t, state: [-4.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
REAL = ("andino", "gz_ackermann_drive", "gz_tricycle_drive", "linorobot2_mecanum", "mir100")


def gentle(vehicle) -> np.ndarray:
    """A turn at half a metre a second, or two of its lengths, with a radius of three lengths."""
    length = vehicle.steering.length
    speed = min(0.5, 2 * length)
    return np.array([speed, 0.0, speed / (3 * length)])


def worst(vehicle, twist, duration: float = 6.0, **given) -> float:
    """Largest error of a wheel's rate over the last second [rad/s]."""
    simulator = Simulator(vehicle, WheelServo(vehicle, twist), dt=5e-3, **given)
    simulator.reset()
    simulator.run(duration - 1, every=10 ** 9)
    drive, errors = TwistDrive(vehicle, twist), []
    for _ in range(10):
        simulator.run(0.1, every=10 ** 9)
        state = simulator.state
        errors += [state.encoder.rate[joint] - rate
                   for joint, rate in drive(state.t, state)[1].values.items()]
    return float(np.abs(errors).max())


@pytest.mark.parametrize("name", DRIVEN)
def test_no_error_is_left_on_shipped_vehicles(name):
    vehicle = shipped(name)
    assert worst(vehicle, gentle(vehicle)) <= STEADY


@pytest.mark.parametrize("name", sampled(REAL, 2))
def test_no_error_is_left_on_real_robots(name):
    vehicle = real(name)
    assert worst(vehicle, gentle(vehicle)) <= STEADY


@pytest.mark.parametrize("name", ["ackermann_car", *at_length("differential_drive", "mecanum")])
def test_nor_against_a_wind(name):
    """A constant force against the way, which the model does not know: the integral carries it."""
    vehicle = shipped(name)
    weight = sum(inertia.mass for inertia in vehicle.model.inertias) * 9.81
    against = {vehicle.description.root: lambda t, state: [-0.1 * weight, 0, 0, 0, 0, 0]}
    assert worst(vehicle, (0.4, 0.0, 0.0), wrench=against) <= STEADY


@pytest.mark.parametrize("name", ["differential_drive", "mecanum", "ackermann_car", "rover",
                                  *at_length("tricycle", "swerve", "omni", "skid_steer")])
@pytest.mark.parametrize("yaw", [0.0, 2.4])
def test_on_a_slope_it_holds_from_the_first_instant(name, yaw):
    """Its torques on the wheels make the weight's part down the slope, along the wheels' way."""
    vehicle = shipped(name, OBLIQUE)
    simulator = Simulator(vehicle, WheelServo(vehicle, (0.0, 0.0, 0.0)), dt=5e-3)
    start = simulator.reset(pose=(0.0, 0.0, yaw))
    simulator.run(0.1)
    state = simulator.state
    np.testing.assert_allclose(state.T_WB, start.T_WB, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.v, 0.0, rtol=0, atol=1e-11)
    weight = 9.81 * sum(inertia.mass for inertia in vehicle.model.inertias)
    if name == "differential_drive":
        pull = sum(state.u) / vehicle.contacts[0].mount.wheel.radius
        assert pull == pytest.approx(weight * start.T_WB[2, 0], rel=1e-9)


@pytest.mark.parametrize("tyre", ["passenger_car", "longitudinal.stiffness=2e3 lateral.stiffness="
                                  "2e3 longitudinal.relaxation=0.1 lateral.relaxation=0.1"])
def test_on_a_slope_it_holds_wheels_with_tyres_as_those_that_roll(tyre):
    """By the same torques at first; wheels turn by millimetres while slip builds up, and the tyres
    creep."""
    name, hill = "differential_drive", nhmech.Ground.inclined(0.1)
    rolling = shipped(name, hill)
    tyred = shipped(name, hill, tyres=tyre)
    servos = [WheelServo(vehicle, (0.0, 0.0, 0.0)) for vehicle in (tyred, rolling)]
    first = [servo(0.0, Simulator(vehicle).reset()).values
             for servo, vehicle in zip(servos, (tyred, rolling))]
    assert first[0] == pytest.approx(first[1], rel=1e-9, abs=0)
    simulator = Simulator(tyred, servos[0], dt=1e-3, control_period=0.01)
    run = simulator.run(1.0, every=10)
    radius = tyred.contacts[0].mount.wheel.radius
    assert np.abs(run.angles * radius).max() < 3e-3
    assert np.abs(run.q[:, 0] - run.q[0, 0]).max() < 1e-2


def straight(vehicle, rate: float, duration: float, dt: float = 1e-3, start: float = 0.0,
             wrench=None):
    """Both wheels of a carriage told the same rate; the run, with the left wheel's rate."""
    servo = WheelServo(vehicle, commands=lambda t,
                       state: JointVelocity(dict.fromkeys(WHEELS, rate)))
    simulator = Simulator(vehicle, servo, dt=dt, on_lift="ignore", wrench=wrench)
    simulator.reset(xi=dict.fromkeys(WHEELS, start))
    run = simulator.run(duration)
    return servo, run.v[:, run.names["v"].index(WHEELS[0])]


def test_without_load_the_wheel_is_on_its_reference():
    """r' = (w* - r) / T with the control period h: r_k = w* (1 - (1 - h/T)^k),
    and the feed-forward alone keeps the wheel on it."""
    _, rates = straight(shipped("carriage"), 6.0, 0.4, start=1.0)
    assert rates == pytest.approx(6.0 - 5.0 * (1 - 1e-3 / 0.05) ** np.arange(401), rel=1e-9)


def test_it_keeps_to_an_acceleration():
    """The reference grows by no more, until what is left closes in the servo's time."""
    command = JointVelocity(dict.fromkeys(WHEELS, 6.0), acceleration=20.0)
    simulator = Simulator(shipped("carriage"), WheelServo(shipped("carriage"),
                                                          commands=lambda t, state: command))
    simulator.reset()
    run = simulator.run(0.4)
    wanted = [0.0]
    for _ in range(400):
        wanted.append(wanted[-1] + 1e-3 * min(20.0, (6.0 - wanted[-1]) / 0.05))
    assert run.column(f"{WHEELS[0]}.velocity") == pytest.approx(np.array(wanted), rel=1e-9)


def test_wheels_are_held_back_alike():
    """By the exact closing of rates too, where an error of 6 rad/s would take 120 rad/s^2; the same
    command does nothing to a kinematic run."""
    vehicle = shipped("carriage")
    command = JointVelocity(dict(zip(WHEELS, (6.0, 3.0))), acceleration=20.0)
    for controller, mode, first in (
            (lambda t, state: command, "dynamic", (0.02, 0.01)),
            (WheelServo(vehicle, commands=lambda t, state: command), "dynamic", (0.02, 0.01)),
            (lambda t, state: command, "kinematic", (6.0, 3.0))):
        simulator = Simulator(vehicle, controller, mode=mode)
        simulator.reset()
        rates = simulator.step().joint_velocity
        assert [rates[wheel] for wheel in WHEELS] == pytest.approx(first, rel=1e-5)
    with pytest.raises(InputError, match="acceleration = -1 must be a positive number"):
        JointVelocity({}, acceleration=-1)


@pytest.mark.parametrize("damping", [0.01, 0.3, 5.0])
def test_dampers_do_not_slow_it(damping):
    """The feed-forward overcomes a damper, however strong: the wheel stays on its reference, but
    for what the reference grows by between two calls, h/T = 0.02 of the whole way."""
    vehicle = shipped("carriage").with_parameters({f"{name}.damping": damping for name in WHEELS})
    _, rates = straight(vehicle, 0.6, 0.4, start=0.1)
    assert rates == pytest.approx(0.6 - 0.5 * (1 - 1e-3 / 0.05) ** np.arange(401), abs=0.02 * 0.5)


def test_a_load_on_a_strong_damper_is_answered_within_its_time():
    """Where damping prevails, d T/J = 25, the error that a step of load makes decays as exp(-t/T):
    the other root, 1/T + d/J, is over within a tenth of T."""
    vehicle, T = shipped("carriage"), 0.05
    J = WheelServo(vehicle, (0, 0, 0)).inertia[0]
    vehicle = vehicle.with_parameters({f"{name}.damping": 25 * J / T for name in WHEELS})
    _, rates = straight(vehicle, 0.0, 0.3, 1e-4, wrench=BACK)
    t = np.arange(len(rates)) * 1e-4
    early, late = np.searchsorted(t, [T, 3 * T])
    assert rates[late] / rates[early] == pytest.approx(np.exp(-2), rel=0.05)


def effect_of_efforts(chart, q, v=None) -> np.ndarray:
    """d(dw/dt)/du of the driven joints, from the accelerations by one effort at a time."""
    names = chart.algebroid.v_names
    places = [names.index(joint) for joint in chart.driven]
    v = np.zeros(len(names)) if v is None else v
    xi = v[[names.index(speed) for speed in chart.speeds]]

    def accelerations(effort):
        return chart.equations.acceleration(0.0, q, xi, effort, chart.theta).full()[places, 0]

    still = np.zeros(len(places))
    return np.array([accelerations(unit) - accelerations(still) for unit in np.eye(len(still))]).T


def test_a_load_is_answered_as_the_linear_equation_says():
    """Held against a force that accelerates the free wheel by a0 = dw/dt:
    e'' + lambda e'/T + lambda e/(4 T^2) = 0, e(0) = 0, e'(0) = -a0.

    lambda = J (B_11 + B_12) of two wheels that roll alike; the sampled loop differs by the order of
    h / T = 2e-3, and by none from the same equation in sums over periods.
    """
    vehicle, T, dt = shipped("carriage"), 0.05, 1e-4
    free = Simulator(vehicle, dt=dt, wrench=BACK)
    free.reset()
    free.run(dt)
    a0 = free.state.joint_velocity[WHEELS[0]] / dt
    servo, rates = straight(vehicle, 0.0, 0.5, dt, wrench=BACK)
    B = effect_of_efforts(vehicle, vehicle.configuration())
    load = servo.inertia[0] * (B[0, 0] + B[0, 1])
    roots = np.roots([1, load / T, load / (4 * T ** 2)])
    t = np.arange(len(rates)) * dt
    expected = np.real(-a0 * (np.exp(roots[0] * t) - np.exp(roots[1] * t)) / (roots[0] - roots[1]))
    assert np.abs(expected).max() > 0.01
    assert -rates == pytest.approx(expected, rel=0, abs=0.01 * np.abs(expected).max())
    sampled, rate, integral = [], 0.0, 0.0
    for k in range(len(rates)):
        sampled.append(rate)
        integral -= rate * dt if k else 0.0
        rate += dt * (a0 + load * (-rate / T + integral / (4 * T ** 2)))
    assert rates == pytest.approx(np.array(sampled), rel=0, abs=1e-7 * np.abs(expected).max())


def test_inertia_is_that_of_the_carriage():
    """Seen from both wheels together: m r^2 + 2 J_axial for the mass on them, whose sum of M over
    both wheels it is."""
    vehicle = shipped("carriage")
    radius = vehicle.contacts[0].mount.wheel.radius
    mass = sum(inertia.mass for inertia in vehicle.model.inertias)
    axial = sum(vehicle.model.inertias[vehicle.model.getJointId(name)].inertia[1, 1]
                for name in WHEELS)
    servo = WheelServo(vehicle, commands=lambda t, state: JointVelocity(dict.fromkeys(WHEELS, 2.0)))
    torques = servo(0.0, Simulator(vehicle).reset()).values
    assert sum(torques.values()) == pytest.approx((mass * radius ** 2 + axial) * 2.0 / servo.time,
                                                  rel=1e-9)


def measured(vehicle, rate: float) -> SimpleNamespace:
    """What is read of a state: where it is, and the encoders, here of wheels that turn alike."""
    return SimpleNamespace(q=vehicle.configuration(), encoder=SimpleNamespace(
        rate=dict.fromkeys(WHEELS, rate), angle=dict.fromkeys(WHEELS, 0.0)))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("ahead, kept", [(-1.0, False), (-1e-3, False), (3.0, True)],
                         ids=["behind", "just behind", "ahead"])
def test_the_integral_is_held_at_the_limit_on_the_error_s_side_alone(sign, ahead, kept):
    """A far command holds the torque at its limit. Then a wheel behind its reference adds nothing
    to the integral, one ahead of it takes off: seen in J i / (4 T^2), all that is left of the
    torque once the wheel is where it is wanted."""
    vehicle, h, T = limited(0.05), 1e-3, 0.05
    wanted: list[float] = []
    servo = WheelServo(vehicle, commands=lambda t, state: JointVelocity(
        dict.fromkeys(WHEELS, wanted[-1])))
    limit = vehicle.limits[WHEELS[0]].velocity
    wanted.append(sign * limit)
    assert servo(0.0, measured(vehicle, 0.0)).values[WHEELS[0]] == 0.05 * sign
    reference = limit * h / T
    rate = sign * (reference + ahead)
    assert servo(h, measured(vehicle, rate)).values[WHEELS[0]] == 0.05 * sign
    reference += (limit - reference) * h / T
    wanted.append(sign * reference)
    left = servo(2 * h, measured(vehicle, sign * reference)).values[WHEELS[0]]
    integral = -sign * ahead * h if kept else 0.0
    assert left == pytest.approx(servo.inertia[0] * integral / (4 * T ** 2), rel=1e-9, abs=1e-15)


def test_a_position_asks_for_the_rate_of_its_cascade():
    """(p* - p) / (4 T), cut at the limits of position and rate on either side."""
    vehicle, joint = shipped("ackermann_car"), "front_left_steering_joint"
    limit, state = vehicle.limits[joint], Simulator(vehicle).reset()

    def torques(command):
        return WheelServo(vehicle, commands=lambda t, s: command)(0.0, state).values[joint]

    for wanted, rate in ((0.1, 0.5), (-0.1, -0.5), (limit.upper, limit.velocity),
                         (limit.lower, -limit.velocity)):
        assert torques(JointPosition({joint: wanted})) == pytest.approx(
            torques(JointVelocity({joint: rate})), rel=1e-12)
    for beyond in (JointVelocity({joint: -50.0}), JointPosition({joint: -9.0})):
        assert torques(beyond) == torques(JointVelocity({joint: -limit.velocity})) < 0


def test_gains_scale_with_the_vehicle():
    """Ten times the mass and the inertia: the same motion, ten times the torque."""
    vehicle = shipped("carriage")
    scaled = ("mass", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "damping")
    heavy = vehicle.with_parameters({name: 10 * value
                                     for name, value in vehicle.parameters.values.items()
                                     if name.rpartition(".")[2] in scaled})
    (light_servo, light), (heavy_servo, rates) = (straight(vehicle, 0.5, 0.3),
                                                  straight(heavy, 0.5, 0.3))
    assert heavy_servo.inertia == pytest.approx(10 * light_servo.inertia, rel=1e-9)
    assert rates == pytest.approx(light, rel=1e-9, abs=1e-12)


def limited(effort: float):
    """The differential drive, its motors that weak."""
    file = Path(nhmech.urdf_path("differential_drive"))
    text = re.sub(r'effort="[\d.]+"', f'effort="{effort}"', file.read_text())
    assert f'effort="{effort}"' in text
    return nhmech.load(text)


def test_the_integral_does_not_wind_up():
    """Torque at its limit for a second: the wheel arrives without overshoot worth a name,
    and the integral was not filled on the way."""
    vehicle = limited(0.05)
    servo = WheelServo(vehicle, commands=lambda t, state: JointVelocity(dict.fromkeys(WHEELS, 5.0)))
    simulator = Simulator(vehicle, servo)
    simulator.reset()
    run = simulator.run(8.0)
    rates, efforts = run.v[:, run.names["v"].index(WHEELS[0])], run.u[:, 0]
    at_limit = np.sum(efforts > 0.05 - 1e-9) * 1e-3
    assert at_limit > 1.0 and np.abs(efforts).max() <= 0.05
    assert rates.max() < 1.02 * 5.0 and abs(rates[-1] - 5.0) <= STEADY


def test_a_steering_joint_goes_where_it_is_told():
    """Both loops critically damped at 2 T = 0.1 s: no overshoot, and after 2 s nothing left."""
    vehicle = shipped("ackermann_car")
    wanted = [JointPosition({"front_left_steering_joint": 0.4}),
              JointVelocity({"rear_left_wheel_joint": 2.0})]
    simulator = Simulator(vehicle, WheelServo(vehicle, commands=lambda t, state: wanted))
    simulator.reset()
    run = simulator.run(2.0)
    steer = np.array([vehicle.joint_positions(q)["front_left_steering_joint"] for q in run.q[::20]])
    assert steer.max() < 0.4 + 2e-3 and steer[-1] == pytest.approx(0.4, abs=1e-5)
    assert run.v[-1, run.names["v"].index("rear_left_wheel_joint")] == pytest.approx(
        2.0, abs=STEADY
    )
    far = JointPosition({"front_left_steering_joint": 9.0})
    beyond = Simulator(vehicle, WheelServo(vehicle, commands=lambda t, state: far))
    beyond.reset()
    beyond.run(3.0)
    assert beyond.state.joint_position["front_left_steering_joint"] == pytest.approx(
        vehicle.limits["front_left_steering_joint"].upper, abs=1e-3)


def test_it_works_from_coarse_encoders():
    """2000 ticks a turn at a period of 10 ms, a resolution of 0.3 rad/s:
    the wheel still turns at the rate, within that."""
    vehicle = shipped("differential_drive")
    simulator = Simulator(vehicle, Quantise(WheelServo(vehicle, (0.5, 0.0, 0.0)), 2000),
                          control_period=1e-2)
    simulator.reset()
    simulator.run(3.0)
    rates = [simulator.run(0.01) and simulator.state.encoder.rate[WHEELS[0]] for _ in range(100)]
    assert np.mean(rates) == pytest.approx(5.0, abs=0.05) and np.ptp(rates) < 0.4


@pytest.mark.parametrize("name, count", [("differential_drive", 1), ("differential_drive", 2),
                                         ("mecanum", 2), ("mecanum", 3), ("ackermann_car", 1)])
def test_what_is_commanded_sets_out_as_its_reference_does(name, count):
    """On a slope and at rest: as many joints as move independently get the accelerations w* / T,
    whatever the others do, which have no effort."""
    vehicle = shipped(name, OBLIQUE)
    chosen = [joint for joint in vehicle.driven if "wheel" in joint][-count:]
    wanted = dict(zip(chosen, (2.0, -1.0, 0.5)))
    servo = WheelServo(vehicle, commands=lambda t, state: JointVelocity(wanted), time=0.5)
    state = Simulator(vehicle).reset(pose=(0.2, 0.1, 1.1))
    efforts = servo(0.0, state).values
    assert set(efforts) == set(chosen)
    u = np.array([efforts.get(joint, 0.0) for joint in vehicle.driven])
    found = vehicle.equations.acceleration(0.0, state.q, np.zeros(len(vehicle.speeds)), u,
                                           vehicle.theta).full().ravel()
    names = vehicle.algebroid.v_names
    assert [found[names.index(joint)] for joint in chosen] == pytest.approx(
        [wanted[joint] / 0.5 for joint in chosen], rel=1e-9)


def test_efforts_pass_and_joints_without_a_command_are_left_alone():
    vehicle = shipped("differential_drive")
    servo = WheelServo(vehicle, commands=lambda t, state: [JointTorque({WHEELS[0]: 0.1}),
                                                           JointVelocity({WHEELS[1]: 1.0})])
    state = Simulator(vehicle).reset()
    assert servo(0.0, state).values[WHEELS[0]] == 0.1 and servo(0.0, state).values[WHEELS[1]] > 0
    assert set(WheelServo(vehicle, commands=lambda t,
                          state: JointVelocity({WHEELS[1]: 1.0}))(0.0, state).values) == {
        WHEELS[1]}
    assert WheelServo(vehicle, commands=lambda t, state: JointVelocity({}))(0.0, state).values == {}


@pytest.mark.parametrize("bad, message", [
    (JointVelocity({"lift": 1.0}), "controller WheelServo.* joint 'lift' is not driven"),
    (JointVelocity({WHEELS[0]: np.nan}), f"JointVelocity for '{WHEELS[0]}' is nan"),
    ([JointVelocity({WHEELS[0]: 1.0}), JointTorque({WHEELS[0]: 1.0})], "commanded twice"),
    (np.zeros(3), r"returned shape \(3,\)"),
])
def test_bad_commands_inside_are_named(bad, message):
    vehicle = shipped("differential_drive")
    with pytest.raises(SimulationError, match=message):
        Simulator(vehicle, WheelServo(vehicle, commands=lambda t, state: bad)).run(0.1)


def test_what_has_no_motor_is_refused():
    with pytest.raises(ModelError, match="no driven"):
        WheelServo(shipped("disc"), commands=lambda t, state: None)
    with pytest.raises(InputError, match="time = 0"):
        WheelServo(shipped("carriage"), (0.1, 0, 0), time=0)
    for nothing_or_both in ({}, {"twist": (0.1, 0, 0), "commands": lambda t, state: None}):
        with pytest.raises(InputError, match="give exactly one"):
            WheelServo(shipped("carriage"), **nothing_or_both)


@pytest.mark.parametrize("name", ["differential_drive", "mecanum"])
def test_a_tracker_on_servos_keeps_its_bound(name):
    """Pure pursuit of a figure-eight at 0.5 m/s through torques and encoders: within 2 cm RMS, as
    with exact servos."""
    vehicle = shipped(name)
    path = make_path("figure8", 6 * vehicle.steering.length)
    tracker = PurePursuit(vehicle, path, speed=0.5, drive=WheelServo)
    simulator = Simulator(vehicle, tracker, dt=5e-3)
    simulator.reset(**tracker.start)
    lateral = tracker.errors(simulator.run(path.length / 0.5, every=10))[:, 1]
    assert np.sqrt(np.mean(lateral ** 2)) <= 0.02


@pytest.mark.parametrize("name", ["rover", "ackermann_car", "skid_steer", "mecanum"])
def test_driven_wheels_do_not_brace_against_each_other(name):
    """In a turn begun from straight ahead, also where the wheels are asked for what they cannot all
    do: of the efforts that move the vehicle alike, found from the accelerations of the recorded
    state one effort at a time, those of the servo are the least."""
    vehicle = shipped(name)
    twist = TwistDrive(vehicle, lambda t, state: np.array([0.4, 0.0, 0.25]) * min(t, 1.0))
    run = Simulator(vehicle, WheelServo(vehicle, commands=twist), on_lift="ignore").run(1.0)
    q, v, u = run.q[-2], run.v[-2], run.u[-2]
    B = effect_of_efforts(serving(vehicle, q), q, v)
    assert np.abs(u).max() > 0.4
    np.testing.assert_allclose(np.linalg.lstsq(B, B @ u, rcond=1e-9)[0], u, rtol=0,
                               atol=1e-11 * np.abs(u).max())


def test_a_single_driven_joint_takes_named_commands():
    """The effect of one effort is a matrix of one column."""
    text = Path(nhmech.urdf_path("differential_drive")).read_text()
    vehicle = nhmech.load(text.replace('<drive joint="right_wheel_joint"/>', ""))
    (joint,) = vehicle.driven
    simulator = Simulator(vehicle, lambda t, state: JointVelocity({joint: 2.0}))
    assert simulator.run(1.0).v[-1][vehicle.algebroid.v_names.index(joint)] == pytest.approx(
        2.0, abs=1e-6)


def test_a_wheel_that_slides_is_not_taken_for_much_heavier():
    """Where wheels scrub, at most five times the inertia felt while they slide, 1 / (M^-1)_jj."""
    vehicle = shipped("skid_steer", skid="coulomb")
    servo, q = WheelServo(vehicle, (0.3, 0.0, 0.0)), vehicle.configuration()
    data = vehicle.model.createData()
    places = [vehicle.algebroid.v_names.index(joint) for joint in vehicle.driven]
    sliding = 1 / np.diag(np.linalg.inv(pin.crba(vehicle.model, data, q)))[places]
    rolling = 1 / np.diag(effect_of_efforts(as_commanded(vehicle), q))
    assert np.all(rolling > 5 * sliding)
    np.testing.assert_allclose(servo.inertia, 5 * sliding, rtol=1e-9)
    free = shipped("skid_steer")
    np.testing.assert_allclose(WheelServo(free, (0.3, 0.0, 0.0)).inertia,
                               1 / np.diag(effect_of_efforts(free, q)), rtol=1e-9)


@pytest.mark.parametrize("command", [
    None, np.zeros(2), "fast", [JointVelocity({WHEELS[0]: 1.0}), 3.0], JointTorque([0.1, 0.2]),
    JointVelocity({WHEELS[0]: math.inf}), JointVelocity({WHEELS[0]: "1"}),
    JointTorque({"lift": 1.0}), (JointTorque({WHEELS[0]: 1.0}), JointVelocity({WHEELS[0]: 1.0}))])
def test_what_is_no_command_is_handed_on(command):
    """The simulator says what is wrong with it."""
    servo = WheelServo(shipped("carriage"), commands=lambda t, state: command)
    assert servo(0.0, measured(shipped("carriage"), 0.0)) is command


@pytest.mark.parametrize("off, asked, rate", [
    (0.02, 9.0, 0.1), (0.0, 9.0, 0.0), (-0.1, 9.0, 0.0), (0.02, 0.05, 0.05), (0.02, -0.3, -0.3),
    (0.5, 0.7, 0.7), (0.9, 9.0, None), (-0.1, -0.2, -0.2)])
@pytest.mark.parametrize("side", [1, -1])
def test_a_rate_comes_to_rest_at_a_limit(side, off, asked, rate):
    """No faster than what is left of the way in 4 T = 0.2 s, and than the motor; away from it as
    it is told."""
    vehicle, joint = shipped("ackermann_car"), "front_left_steering_joint"
    servo, limit = WheelServo(vehicle, (0.0, 0.0, 0.0)), vehicle.limits[joint]
    end = limit.upper if side > 0 else limit.lower
    state = SimpleNamespace(encoder=SimpleNamespace(angle={joint: end - side * off}))
    found = servo._rate(JointVelocity({}), joint, side * asked, state)
    assert found == pytest.approx(side * (limit.velocity if rate is None else rate), abs=1e-12)


def test_a_joint_that_was_left_alone_is_taken_over_as_it_turns():
    """Its reference begins at its rate, and its integral at nothing; so does a reset."""
    vehicle, wanted = shipped("carriage"), [5.0]
    servo = WheelServo(vehicle, commands=lambda t, state: JointVelocity(
        dict.fromkeys(WHEELS, wanted[0]) if wanted[0] else {}))
    for k in range(4):
        servo(0.01 * k, measured(vehicle, 0.1 * k))
    wanted[0] = 0.0
    assert servo(0.04, measured(vehicle, 0.4)).values == {}
    wanted[0] = 5.0
    fresh = WheelServo(vehicle, commands=servo.inside[0])
    expected = fresh(0.05, measured(vehicle, 0.3)).values
    assert servo(0.05, measured(vehicle, 0.3)).values == pytest.approx(expected, rel=1e-12)
    servo(0.06, measured(vehicle, 0.9))
    servo.reset()
    assert servo(0.07, measured(vehicle, 0.3)).values == pytest.approx(expected, rel=1e-12)
