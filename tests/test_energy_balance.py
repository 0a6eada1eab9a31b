"""Energy of a run equals what forces did: held against closed forms, and against the step's own
order."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import cumulative_simpson
from support import shipped

import nhmech
from nhmech.analysis.energy_balance import energy_balance
from nhmech.mechanics import chetaev, constrain, euclidean, lagrangian_system
from nhmech.simulation.simulated import Simulated
from nhmech.systems import load_system
from nhmech.urdf import Grip, Tyre, Wheel


def robot():
    vehicle = shipped("differential_drive")
    return vehicle.with_parameters({"left_wheel_joint.damping": 0.03,
                                    "right_wheel_joint.damping": 0.05})


def test_efforts_and_damping_account_for_the_energy():
    """The rest is the trapezoidal rule's: a quarter at half the step."""
    rest = []
    for dt in (4e-3, 2e-3):
        simulator = nhmech.Simulator(robot(), lambda t,
                                     state: np.array([0.2 + 0.1 * np.sin(3 * t), 0.25]),
                                     dt=dt, control_period=8e-3)
        balance = energy_balance(simulator.run(2.0))
        rest.append(np.abs(balance.rest).max())
    assert (balance.inputs[-1] > 0.1 > 0 > balance.passive[-1] and balance.known
            and not balance.ground)
    assert rest[1] < 1e-5 * balance.inputs[-1] and rest[0] / rest[1] == pytest.approx(4, abs=0.2)


def test_inputs_that_change_between_recorded_states():
    """Held over 2 ms and recorded each 10 ms or 20 ms: of second order still."""
    simulator = nhmech.Simulator(robot(), lambda t,
                                 state: np.array([0.2 + 0.1 * np.sin(3 * t), 0.25]), dt=1e-3,
                                 control_period=2e-3)
    rest = []
    for every in (20, 10):
        simulator.reset()
        rest.append(np.abs(energy_balance(simulator.run(2.0, every=every)).rest).max())
    assert rest[1] < 1e-4 and rest[0] / rest[1] == pytest.approx(4, abs=0.4)


def test_work_of_a_constant_torque_is_torque_times_angle():
    """u phi exactly where the wheel's rate is linear in time: straight ahead, without damping."""
    vehicle = shipped("differential_drive")
    run = nhmech.Simulator(vehicle, lambda t, state: np.array([0.2, 0.2]),
                           dt=1e-3).run(1.0, every=50)
    balance = energy_balance(run)
    turned = run.angles[
        :, [run.names["angles"].index(name) for name in ("left_wheel_joint", "right_wheel_joint")]
    ]
    np.testing.assert_allclose(balance.inputs, 0.2 * turned.sum(axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(balance.kinetic - balance.kinetic[0], balance.inputs, rtol=0,
                               atol=1e-12)
    assert np.ptp(balance.potential) < 1e-9 and not balance.passive.any()


def particle(force, **constraints):
    """Of unit mass in the plane, pushed along x."""
    return constrain(lagrangian_system(
        euclidean("x", "y"), lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2, inputs=("push",),
        force=lambda s: {"x": s.u.push + force(s)}), **constraints)


@pytest.mark.parametrize("moments", [2, 3])
def test_what_is_pushed_against_friction_at_its_final_speed(moments):
    """u v t by the push, and as much taken by the friction c v with v = u / c."""
    simulator = nhmech.Simulator(particle(lambda s: -0.7 * s.v.x),
                                 lambda t, state: np.array([1.4]), dt=0.01)
    simulator.reset(q=[0.0, 0.0], xi=[2.0, 0.0])
    run = simulator.run(0.1, every=10 // (moments - 1))
    balance = energy_balance(run)
    assert len(balance.t) == moments and balance.known and not balance.ground
    np.testing.assert_allclose(balance.inputs, 2.8 * run.t, rtol=1e-12)
    np.testing.assert_allclose(balance.passive, -2.8 * run.t, rtol=1e-12)
    np.testing.assert_allclose(balance.kinetic, 2.0, rtol=1e-12)
    for part in (balance.potential, balance.contacts, balance.work, balance.rest):
        np.testing.assert_allclose(part, 0, atol=1e-13)
    assert repr(balance).startswith(f"EnergyBalance({moments} moments, 2 to 2 J, work ")


@pytest.mark.parametrize("periods", [1, 2, 5])
def test_a_command_that_is_held_works_as_long_as_it_is_held(periods):
    """On what a constraint moves at 1.5 m/s, a push that grows linearly: 1.5 T times the sum of
    what was commanded in each period T; recorded each `periods` of them."""
    belt = particle(lambda s: 0, rows={"belt": lambda s: s.v.x - 1.5})
    period, count = 0.02, 10
    simulator = nhmech.Simulator(belt, lambda t, state: np.array([0.3 + 2.0 * t]), dt=0.01,
                                 control_period=period)
    simulator.reset(q=[0.0, 0.0])
    run = simulator.run(count * period, every=2 * periods)
    balance = energy_balance(run)
    pushed = 0.3 + 2.0 * period * np.arange(count)
    expected = np.r_[0, 1.5 * period * np.cumsum(pushed)[periods - 1::periods]]
    # the last record has what was commanded before it
    np.testing.assert_allclose(balance.inputs[:-1], expected[:-1], rtol=1e-9)
    np.testing.assert_allclose(balance.rest, -balance.inputs, rtol=1e-9, atol=1e-12)
    assert balance.ground and np.ptp(balance.total) < 1e-12
    # of a run that does not say how long they were held, from one record to the next
    unknown = energy_balance(replace(run, settings={}))
    np.testing.assert_allclose(unknown.inputs[1:], 1.5 * np.cumsum(
        run.u[:-1, 0]) * periods * period, rtol=1e-9)


def test_the_balance_is_that_of_what_moved():
    """That of the run unless it is given: here of twice the mass."""
    free = lagrangian_system(euclidean("x"), lambda s: s.p.m * s.v.x ** 2 / 2, parameters=("m",))
    light, heavy = (constrain(free, {"m": m}) for m in (1.0, 2.0))
    simulator = nhmech.Simulator(light, dt=0.01)
    simulator.reset(q=[0.0], xi=[3.0])
    run = simulator.run(0.02)
    np.testing.assert_allclose(energy_balance(run).kinetic, 4.5, rtol=1e-12)
    np.testing.assert_allclose(energy_balance(run, Simulated.of(heavy)).kinetic, 9.0, rtol=1e-12)


def test_downhill_potential_becomes_kinetic():
    vehicle = nhmech.load(nhmech.urdf_path("carriage"),
                          ground=nhmech.Ground(normal=(0.1, 0.0, 1.0)))
    balance = energy_balance(nhmech.Simulator(vehicle, dt=1e-3).run(0.5, every=10))
    drop = balance.potential[0] - balance.potential[-1]
    assert drop > 0.1 and balance.kinetic[-1] == pytest.approx(drop, rel=1e-11)


PLANE = euclidean("x", "y")
STILL = constrain(lagrangian_system(PLANE, lambda s: (s.v.x ** 2 + s.v.y ** 2) / 2 - s.q.y))
MOVED = {
    # dE/dt = -dL/dt: of a cart on a train, of a field that grows
    "a train": (constrain(lagrangian_system(PLANE, lambda s: (
        (s.v.x + ca.cos(2 * s.t)) ** 2 + s.v.y ** 2) / 2 - s.q.y)), [0.3, -0.2],
        lambda t, q, v: 2 * np.sin(2 * t) * (v[0] + np.cos(2 * t))),
    "a field": (constrain(lagrangian_system(PLANE, lambda s: (
        s.v.x ** 2 + s.v.y ** 2) / 2 - s.q.y + ca.sin(s.t) * s.q.y * s.v.x)), [0.3, -0.2],
        lambda t, q, v: -np.cos(t) * q[1] * v[0]),
    # C = |v|^2 - 4 is not homogeneous: all that gravity takes is given back
    "a constant speed": (chetaev(STILL, {"speed": lambda s: s.v.x ** 2 + s.v.y ** 2 - 4}),
                         [1.2, 1.6], lambda t, q, v: v[1]),
    "nothing": (STILL, [0.3, -0.2], lambda t, q, v: 0.0),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_moves_by_itself_does_what_is_left(name):
    """Its work by Simpson's rule; the balance says that there is some."""
    made, xi, power = MOVED[name]
    simulator = nhmech.Simulator(made, dt=2e-3)
    simulator.reset(q=[0.1, 0.4], xi=xi)
    run = simulator.run(1.0)
    balance = energy_balance(run)
    work = np.concatenate([[0.0], cumulative_simpson(
        [power(t, q, v) for t, q, v in zip(run.t, run.q, run.v)], x=run.t)])
    np.testing.assert_allclose(balance.rest, work, rtol=0, atol=1e-9)
    assert balance.ground == (name != "nothing") == (np.abs(work).max() > 1e-2)


@pytest.mark.parametrize("name", ["falling_disc", "ball_on_turntable"])
def test_what_is_left_is_the_work_of_a_ground_that_moves(name):
    """Of a textbook system: -lambda . b over time, by Simpson's rule; none where all stands."""
    example = load_system(name)
    simulator = nhmech.Simulator(example)
    simulator.reset(q=np.asarray(example.start["q"], dtype=float), xi=example.start["xi"])
    run = simulator.run(0.5)
    balance, equations = energy_balance(run), simulator.simulated.equations
    np.testing.assert_allclose(balance.total, run.energy, rtol=1e-14)
    rows, theta = example.constrained.constraint_function(), example.constrained.parameters
    kept = list(equations.frame.kept)
    power = [-float(equations.multipliers(t, q, xi, [], theta).full().ravel()
                    @ rows(t, q, theta)[1].full().ravel()[kept])
             for t, q, xi in zip(run.t, run.q, run.xi)]
    work = np.concatenate([[0.0], cumulative_simpson(power, x=run.t)])
    np.testing.assert_allclose(balance.rest, work, rtol=0, atol=1e-9 * run.energy[0])
    assert balance.ground == (np.abs(work).max() > 1e-3 * run.energy[0])


def test_what_sliding_takes_is_accounted_for():
    """A robot brakes one wheel until it slides: E + work of the brake + friction is constant."""
    vehicle, rest = shipped("differential_drive"), []
    for dt in (1e-3, 5e-4):
        simulator = nhmech.Simulator(
            vehicle, lambda t, state: nhmech.JointTorque({"left_wheel_joint": -2.0}), dt=dt,
            contact="coulomb", mu=0.15)
        simulator.reset(xi={"forward_speed": 1.0})
        run = simulator.run(0.05)
        balance = energy_balance(run)
        assert not run.rolled[-1] and balance.contacts[-1] < -0.01
        rest.append(abs(balance.rest).max() / np.ptp(balance.total))
    assert max(rest) < 3e-10


def test_points_that_jump_are_accounted_for():
    """A mecanum base rocks over two rims, the lowest points of which jump: in that step impulses
    act at its end."""
    vehicle = shipped("mecanum")
    simulator = nhmech.Simulator(vehicle, contact="coulomb", mu=0.06443411317057333, dt=1e-3,
                                 on_fall="go-on")
    speeds = (1.0801634125378852, -0.2887665059953775, 0.08347535610700986, -0.8496059556101431,
              -0.5106224678981267, -0.011533061686586776)
    simulator.reset(pose=(0, 0, 0, 1.9362376810890112, -0.2538478878863262, 1.9788239116686164),
                    drop=0.05, v=dict(zip(vehicle.algebroid.v_names, speeds)))
    balance = energy_balance(simulator.run(0.3))
    assert balance.contacts[-1] < -0.1 * balance.total[0]
    assert np.abs(balance.rest).max() < 1e-10 * balance.total[0]


def test_a_ground_that_moves_under_sliding_wheels_does_its_work():
    """The rest is -P b of all rows, the mean of b over each step, to rounding."""
    vehicle = nhmech.load(nhmech.urdf_path("ackermann_car"), ground=nhmech.Ground(
        velocity=(0.5, 0.3, 0.0), angular_velocity=(0.0, 0.0, 0.1)))
    simulator = nhmech.Simulator(vehicle, contact="coulomb", mu=0.3, dt=2e-3, on_fall="ignore")
    simulator.reset(v={"forward_speed": 3.0, "yaw_rate": 2.0})
    run = simulator.run(0.3)
    balance, rows = energy_balance(run), list(vehicle.contact_rows.values())
    b = np.array([vehicle.functions.constraints(t, q, vehicle.theta)[1].full().ravel()[rows]
                  for t, q in zip(run.t, run.q)])
    forces = run.contact[1:, :len(rows)]
    work = -np.cumsum(np.diff(run.t) * (forces * (b[1:] + b[:-1]) / 2).sum(axis=1))
    assert not run.rolled.any() and balance.ground and np.abs(work).max() > 50.0
    np.testing.assert_allclose(balance.rest[1:], work, rtol=0, atol=1e-11 * balance.total[0])


def test_tyres_in_the_air_take_nothing():
    """Spinning wheels with linear tyres, and with tyres that follow their loads."""
    car = shipped("ackermann_car").description.wheels
    for tyre in (Tyre(Grip(6e4), Grip(5e4)), "passenger_car"):
        wheels = [Wheel(one.joint, "disc", one.radius, law="tyre", tyre=tyre, driven=one.driven)
                  for one in car]
        vehicle = nhmech.load(nhmech.urdf_path("ackermann_car"), wheels=wheels)
        simulator = nhmech.Simulator(vehicle, contact="coulomb", dt=2e-3, on_fall="go-on")
        simulator.reset(drop=0.2, v={"forward_speed": 8.0, "yaw_rate": 1.0, car[0].joint: 40.0})
        balance = energy_balance(simulator.run(0.19))
        assert np.abs(balance.passive).max() < 1e-12 * balance.total[0]
        assert np.abs(balance.rest).max() < 1e-11 * balance.total[0]


def test_what_tyres_that_follow_their_loads_take_is_accounted_for():
    """In a turn, by the trapezoidal rule over records: a quarter is left at half their distance."""
    car = shipped("ackermann_car").description.wheels
    wheels = [Wheel(one.joint, "disc", one.radius, law="tyre", tyre="passenger_car",
                    driven=one.driven) for one in car]
    vehicle = nhmech.load(nhmech.urdf_path("ackermann_car"), wheels=wheels)
    simulator, rest = nhmech.Simulator(vehicle, dt=1e-3, on_fall="ignore"), []
    for every in (20, 10):
        simulator.reset(xi={"forward_speed": 6.0, "lateral_speed": 1.0, "yaw_rate": 1.0})
        balance = energy_balance(simulator.run(0.2, every=every))
        rest.append(np.abs(balance.rest).max() / -balance.passive[-1])
    assert balance.passive[-1] < -0.02 * balance.total[0] and not balance.contacts.any()
    assert rest[1] < 0.01 and rest[0] / rest[1] == pytest.approx(4, abs=1.0)


def test_impacts_are_accounted_for():
    """Of wheels that land with a bounce, one may do work that another takes: the account of all of
    them closes to rounding."""
    vehicle, rng = shipped("differential_drive"), np.random.default_rng(0)
    names = vehicle.constrained.system.algebroid.v_names[:6]
    simulator = nhmech.Simulator(vehicle, contact="coulomb", mu=rng.uniform(0.2, 1.0), dt=1e-3,
                                 restitution=rng.uniform(0.0, 0.9), on_fall="ignore")
    speeds = rng.normal(size=6) * (1.0, 1.0, 0.3, 0.5, 0.5, 3.0)
    simulator.reset(drop=0.02, v=dict(zip(names, speeds)))
    balance = energy_balance(simulator.run(0.15))
    assert balance.contacts[-1] < -0.1 * balance.total[0]
    assert np.abs(balance.rest).max() < 1e-11 * balance.total[0]


@pytest.mark.parametrize("name", ["tricycle", "pendulum"])
def test_the_energy_of_a_vehicle_is_that_of_its_lagrangian(name):
    """E = v . dL/dv - L."""
    vehicle = shipped(name)
    s = vehicle.constrained.system
    lagrangian = s.require_lagrangian("this test")
    legendre = ca.dot(s.v, ca.gradient(lagrangian, s.v)) - lagrangian
    both = ca.Function("both", [s.t, s.q, s.v, s.theta], [legendre, s.energy])
    rng = np.random.default_rng(0)
    for q in vehicle.constrained.configurations[:3]:
        found, energy = map(float, both(0.0, q, rng.normal(size=s.v.numel()), vehicle.theta))
        assert found == pytest.approx(energy, rel=1e-11)
