"""The bicycle steered by a rider of equations: balance at 3 m/s, a lane change, what is known of
the path ahead."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from runs import attitude, rate, rotation
from support import shipped

import nhmech
from nhmech.control.bicycle import BicycleBalance
from nhmech.control.path_library import circle, lane_change, line
from nhmech.control.riccati import discretise

SPEED, STEP, PERIOD = 3.0, 2e-3, 1e-2           # unstable by itself below 4.29 m/s
STEER, REAR = "steering_joint", "rear_wheel_joint"
# [m] a lane change of 2 m within 15 m, and how far from it the rear contact may be
LANE, BOUND = 2.0, 0.15
PUSHED = {"roll_rate": 0.3}


def ridden(path=None, seconds: float = 10.0, push=None, vehicle=None, **options):
    vehicle = shipped("bicycle") if vehicle is None else vehicle
    controller = BicycleBalance(vehicle, path, speed=SPEED, period=PERIOD, **options)
    simulator = nhmech.Simulator(vehicle, controller, dt=STEP, control_period=PERIOD)
    start = controller.start
    simulator.reset(start["pose"], xi=start["xi"] | (push or {}))
    return controller, simulator.run(seconds, every=10)


def off_path(controller, run) -> np.ndarray:
    """Distance of the rear contact point from the path at each record [m]."""
    vehicle = controller.vehicle
    points = np.array(
        [vehicle.contact_points(q)[vehicle.contact_names.index(REAR)][:2] for q in run.q]
    )
    return np.linalg.norm(points - controller.path.point(controller.path.nearest(points)), axis=1)


def rolls(run) -> np.ndarray:
    return np.array([attitude(q)[1] for q in run.q])


def test_balances_from_a_push_and_falls_without():
    """A push of 0.3 rad/s: 4 degrees of lean at most, upright and back on its line after ten
    seconds; free, it lies down."""
    controller, run = ridden(push=PUSHED)
    assert np.deg2rad(2) < np.abs(rolls(run)).max() < np.deg2rad(4)
    assert abs(rolls(run)[-1]) < np.deg2rad(0.02) and abs(run.q[-1, 1]) < 0.01
    assert np.abs(rate(run, "forward_speed") - SPEED).max() < 0.01
    free = nhmech.Simulator(shipped("bicycle"), dt=STEP, on_lift="ignore")
    free.reset(controller.start["pose"], xi=controller.start["xi"] | PUSHED)
    try:
        fallen = free.run(10.0, every=10)
    except nhmech.errors.SimulationError as error:
        fallen = error.trajectory
    assert np.abs(rolls(fallen)).max() > np.deg2rad(45)


def test_follows_a_lane_change():
    path = lane_change(15.0, LANE, before=6.0, after=9.0)
    controller, run = ridden(path, 10.0)
    assert off_path(controller, run).max() < BOUND
    assert run.q[-1, 1] == pytest.approx(LANE, abs=0.05) and abs(rolls(run)[-1]) < np.deg2rad(1)
    steer = run.q[:, run.names["q"].index(STEER)]
    before = run.q[:, 0] < 5.0
    assert steer[before].min() < -np.deg2rad(0.1), (
        "to go left it first steers to the right, and before the bend begins"
    )
    assert rolls(run)[run.q[:, 0] < 6.0].min() < -np.deg2rad(0.5) and steer.max() > np.deg2rad(2)


def test_holds_a_circle():
    """Steady: round beside the path at the speed over the radius there, and leaning into the bend
    so that gravity and inertia have no moment about the line through the contacts: d/dt of both
    momenta in a turn is turn x momentum."""
    radius = 9.0
    controller, run = ridden(circle(radius), 14.0)
    vehicle, q, v = controller.vehicle, run.q[-1], run.v[-1]
    off = off_path(controller, run)[-100:]
    assert off.max() < 0.08 and np.ptp(off) < 1e-3 and np.ptp(rolls(run)[-100:]) < 1e-4
    turn = (rotation(q) @ v[3:6])[2]
    assert min(abs(turn - SPEED / (radius + side * off[-1])) for side in (1, -1)) < 1e-4 * turn
    data = vehicle.model.createData()
    momentum = pin.computeCentroidalMomentum(vehicle.model, data, q, v)
    rear, front = (vehicle.contact_points(q)[vehicle.contact_names.index(name)]
                   for name in (REAR, "front_wheel_joint"))
    mass, up = pin.computeTotalMass(vehicle.model), np.array([0.0, 0.0, turn])
    force = mass * np.array([0, 0, -9.81]) - np.cross(up, momentum.linear)
    moment = np.cross(data.com[0] - rear, force) - np.cross(up, momentum.angular)
    weight = mass * 9.81 * data.com[0][2]
    assert moment @ (front - rear) / np.linalg.norm(front - rear) == pytest.approx(
        0.0, abs=1e-4 * weight)
    assert rolls(run)[-1] < -0.09


@pytest.mark.parametrize("speed", [SPEED, -SPEED, 0.9])
def test_it_starts_on_its_path_in_either_direction(speed):
    """Nothing is wrong at the start: the rear contact on the path, its axle across it, the steady
    speeds."""
    vehicle, path = shipped("bicycle"), circle(9.0).place(0.3, -0.2, 0.7)
    controller = BicycleBalance(vehicle, path, speed=speed, period=PERIOD)
    simulator = nhmech.Simulator(vehicle, controller, dt=STEP, control_period=PERIOD)
    z, s = controller.regulator.error(0.0, simulator.reset(**controller.start), path, None)
    assert np.abs(z).max() <= 1e-12 and min(s, path.length - s) <= 1e-9
    rear = vehicle.contact_points(simulator.state.q)[vehicle.contact_names.index(REAR)]
    np.testing.assert_allclose(rear[:2], (0.3, -0.2), rtol=0, atol=1e-12)
    assert simulator.state.xi["forward_speed"] == pytest.approx(speed, rel=1e-9)


def test_as_it_is_made_it_rides_along_the_x_axis():
    """At 3 m/s, with a unit weight of the effort, a period of 1 ms and 2.5 s of the path ahead; the
    rear wheel is told to roll at that speed, and nothing to be reset before."""
    vehicle = shipped("bicycle")
    made, given = BicycleBalance(vehicle), BicycleBalance(
        vehicle, line(7.0), speed=3.0, coast=False, effort=1.0, period=1e-3, preview=2.5)
    np.testing.assert_allclose(made.regulator.K, given.regulator.K, rtol=1e-12)
    np.testing.assert_allclose(made.regulator.G, given.regulator.G, rtol=1e-12)
    assert made.path.station(0.4)[:3] == pytest.approx((0.4, 0.0, 0.0), abs=1e-12)
    state = nhmech.Simulator(vehicle).reset(**made.start)
    torque, rates = made(0.0, state)
    assert torque.values == pytest.approx({STEER: 0.0}, abs=1e-12)
    radius = next(c.mount.wheel.radius for c in vehicle.contacts if c.name == REAR)
    assert rates.values == pytest.approx({REAR: 3.0 / radius}, rel=1e-9)


def test_a_load_on_one_side_is_steered_against():
    """In the steady motion, which leans, by the torque that holds it: no acceleration."""
    vehicle = shipped("bicycle").with_parameters(
        {"payload.mass": 12.0, "payload.x": 0.2, "payload.y": 0.06, "payload.z": 0.4})
    controller = BicycleBalance(vehicle, speed=SPEED, period=PERIOD)
    steady = controller.motion
    state = nhmech.Simulator(vehicle).reset(q=steady.q, xi=dict(zip(vehicle.speeds, steady.xi)))
    x, y, _ = vehicle.contact_points(state.q)[vehicle.contact_names.index(REAR)]
    controller.path = line(1.0).place(x, y, attitude(state.q)[0])
    torque, _ = controller(0.0, state)
    assert abs(torque.values[STEER]) > 0.02 and abs(attitude(state.q)[1]) > 0.005
    u = np.array(controller.motion.u)
    u[vehicle.driven.index(STEER)] = torque.values[STEER]
    xi = [state.xi[name] for name in vehicle.speeds]
    found = vehicle.equations.acceleration(0.0, state.q, xi, u, vehicle.theta).full()
    np.testing.assert_allclose(found, 0.0, rtol=0, atol=1e-11)


@pytest.mark.parametrize("changes", [{"payload.mass": 15.0, "payload.x": 0.1, "payload.z": 0.6},
                                     {"payload.mass": 8.0, "payload.x": -0.2, "payload.z": 0.1}])
def test_another_bicycle_takes_the_same_call(changes):
    vehicle = shipped("bicycle").with_parameters(changes)
    controller, run = ridden(lane_change(15.0, LANE, before=6.0, after=9.0), 10.0, vehicle=vehicle)
    assert off_path(controller, run).max() < BOUND and abs(rolls(run)[-1]) < np.deg2rad(1)


def test_coasting_loses_balance_only_with_speed():
    _, run = ridden(coast=True, seconds=6.0, push=PUSHED)
    assert np.all(run.u[:,
                        run.names["u"].index(REAR)] == 0) and abs(rolls(run)[-1]) < np.deg2rad(0.5)


def test_preview_is_the_optimum_over_the_whole_line_of_curvatures():
    """The N curvatures ahead as a shift register beside z: its algebraic Riccati equation gives K
    and all G at once."""
    from scipy.linalg import solve_discrete_are

    controller = BicycleBalance(shipped("bicycle"), speed=SPEED, period=0.05, preview=1.0)
    r, N = controller.regulator, 20
    n = len(r.A)
    both, away = np.zeros((n + 1, n + 1)), np.hstack([np.eye(n), -r.turn[:, None]])
    both[:n, :n], both[:n, n], cost = r.A, r.bend + r.B @ r.hold, away.T @ r.Q @ away
    A, B, Q, cross, R = discretise(both, np.vstack([r.B, [[0.0]]]), cost, r.R, 0.05)
    size = n + N
    whole, inputs, costs, crosses = (np.zeros((size, size)), np.zeros((size, 1)),
                                     np.zeros((size, size)), np.zeros((size, 1)))
    whole[:n, :n + 1], whole[n:-1, n + 1:] = A[:n], np.eye(N - 1)
    inputs[:n], costs[:n + 1, :n + 1], crosses[:n + 1] = B[:n], Q, cross
    # a constant, which keeps the cost positive definite in rounding
    costs[n, n] += 1.0
    P = solve_discrete_are(whole, inputs, costs, R, s=crosses)
    gain = np.linalg.solve(R + inputs.T @ P @ inputs, inputs.T @ P @ whole + crosses.T)
    np.testing.assert_allclose(gain[0, :n], r.K[0], rtol=0, atol=1e-8 * np.abs(r.K).max())
    gain[0, n] -= r.hold[0]
    np.testing.assert_allclose(r.A @ r.turn + r.B @ r.hold + r.bend, 0, atol=1e-10)
    np.testing.assert_allclose(gain[0, n:], r.G[:, 0], rtol=0, atol=1e-8 * np.abs(r.G).max())


def test_what_is_no_bicycle_is_said():
    for name, message in (("ackermann_car", "not a bicycle with handlebars: its independent"),
                          ("disc", "driven steering joints none")):
        with pytest.raises(nhmech.errors.ModelError, match=message):
            BicycleBalance(shipped(name))
    with pytest.raises(nhmech.errors.InputError, match="at rest cannot be balanced"):
        BicycleBalance(shipped("bicycle"), speed=0.0)
    with pytest.raises(nhmech.errors.InputError,
                       match="weights: state 'lean' does not exist; there are lateral, roll"):
        BicycleBalance(shipped("bicycle"), weights={"lean": 1.0})
