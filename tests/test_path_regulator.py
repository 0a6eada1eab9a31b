"""The regulator of a path: its model against the simulator, its weights and gains, where it
starts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.linalg import block_diag, expm
from support import joint, link, robot, shipped
from trains import train

import nhmech
from nhmech.control import path_reference, riccati
from nhmech.control.bicycle import BicycleBalance
from nhmech.control.path_library import circle, line
from nhmech.control.path_reference import TrackedAxle, path_error
from nhmech.control.path_regulator import MOST_PREVIEWED
from nhmech.control.trailer_backing import TrailerBacking

PLACE = (1.0, -2.0, 0.6)
HITCHES = ("hitch_1_joint", "hitch_2_joint")


@cache
def made(name: str, **words):
    make = BicycleBalance if name == "bicycle" else TrailerBacking
    return make(shipped(name), **words)


def test_a_riders_model_is_the_slope_of_the_simulator():
    """d/dt of the state's errors beside a line and beside a circle, from small errors of either
    sign: A z + B u - |v| curvature e_heading."""
    rider = made("bicycle", speed=4.0)
    vehicle, regulator, rng = rider.vehicle, rider.regulator, np.random.default_rng(3)
    assert regulator.names[:2] == ("lateral", "roll") and set(regulator.names) == {
        "lateral", "yaw", "roll", "steering_joint", "roll_rate", "steering_joint'"}
    for radius in (None, 500.0, -800.0):
        path = (line(50.0) if radius is None else circle(abs(radius), radius > 0)).place(*PLACE)
        curvature, start = 0.0 if radius is None else 1 / radius, regulator.start_pose(path)
        for _ in range(4):
            slopes, errors = [], []
            off = rng.uniform(-1e-4, 1e-4, 7)
            for sign in (1, -1):
                torque = sign * off[6] * 30
                simulator = nhmech.Simulator(
                    vehicle, lambda t, state: nhmech.JointTorque(
                        {rider.steer: torque}), dt=1e-4)
                xi = dict(rider.start["xi"])
                for name, change in zip(("roll_rate", "steering_joint"), sign * off[4:6]):
                    xi[name] = xi[name] + change * 10
                x, y, yaw = start
                at = sign * off[:2] @ [[-np.sin(yaw), np.cos(yaw)], [np.cos(yaw), np.sin(yaw)]]
                pose = (x + at[0], y + at[1], 0.0, sign * off[2], 0.0, yaw + sign * off[3])
                simulator.reset(pose, {rider.steer: sign * off[5] * 3}, xi)
                z = [regulator.error(0.0, simulator.state, path, None)[0]]
                for _ in range(4):
                    state = simulator.step()
                    z.append(regulator.error(state.t, state, path, 0.0)[0])
                # of fourth order, forwards from the start
                slopes.append(np.array([-25, 48, -36, 16, -3]) / 12 @ np.array(z) / 1e-4)
                errors.append(z[0])
            expected = [regulator.A @ z + regulator.B[:, 0] * s * off[6] * 30
                        + regulator.bend * curvature for z, s in zip(errors, (1, -1))]
            even, odd = np.sum(slopes, axis=0) / 2, np.subtract(*slopes)
            np.testing.assert_allclose(even, regulator.bend * curvature, rtol=0,
                                       atol=1e-3 * abs(curvature) + 1e-6)
            scale = np.abs(regulator.A) @ np.abs(errors[0]) + np.abs(regulator.B[:, 0] * torque)
            assert np.all(np.abs(odd - np.subtract(*expected)) <= 1e-4 * scale)


@pytest.mark.parametrize("name", ["bicycle", "trailers"])
def test_weights_are_over_the_scales_of_the_docstring(name):
    """Length, 0.3 rad, and for speeds both per sqrt(length / gravity); the effort over the least
    that changes some state by its scale in that time, or in the one of its own length."""
    given = {"yaw": 7.0, "steering_joint": 0.2} if name == "bicycle" else {HITCHES[0]: 5.0}
    controller = made_with(name)
    regulator, vehicle = controller.regulator, controller.vehicle
    length = vehicle.steering.length
    rate = np.sqrt(9.81 / length)
    scales = np.array([length if one == "lateral" else 0.3 * rate if one.endswith(("'", "_rate"))
                       else 0.3 for one in regulator.names])
    usual = {"lateral": 0.1 if name == "bicycle" else 3.0} | given
    weights = [usual.get(one, 1.0) for one in regulator.names]
    np.testing.assert_allclose(regulator.Q, np.diag(weights / scales ** 2), rtol=1e-9)
    time = 1 / rate if name == "bicycle" else length / 0.8
    effect = np.abs(regulator.B[:, 0] / scales).max() * time
    np.testing.assert_allclose(regulator.R, [[4.0 * effect ** 2]], rtol=1e-9)
    plain = made(name).regulator
    assert plain.R[0, 0] == pytest.approx(
        (np.abs(plain.B[:, 0] / scales).max() * (time if name == "bicycle" else length / 0.5)) ** 2,
        rel=1e-9)


@cache
def made_with(name: str):
    """With weights, an effort, a speed, a period and a preview of its own."""
    if name == "bicycle":
        return BicycleBalance(shipped(name), circle(9.0), weights={"yaw": 7.0,
                                                                   "steering_joint": 0.2},
                              effort=4.0, speed=3.5, period=0.02, preview=0.5)
    return TrailerBacking(shipped(name), circle(30.0), weights={HITCHES[0]: 5.0}, effort=4.0,
                          speed=0.8, period=0.02, preview=3.0)


@pytest.mark.parametrize("name", ["bicycle", "trailers"])
def test_what_is_known_ahead_is_counted_in_periods(name):
    """Seconds of a bicycle; lengths of a train, in the time that it takes for them."""
    length = shipped("trailers").steering.length
    for controller, speed, period, preview in (
            (made(name), 3.0, 1e-3, 2.5) if name == "bicycle" else
            (made(name), 0.5, 1e-2, 5 * length / 0.5),
            (made_with(name), 3.5, 0.02, 0.5) if name == "bicycle" else
            (made_with(name), 0.8, 0.02, 3 * length / 0.8)):
        regulator = controller.regulator
        assert abs(controller.speed) == speed and regulator.period == period
        assert regulator.speed == pytest.approx(speed, rel=1e-9)
        assert len(regulator.G) == round(preview / period)
        z, path = np.zeros(len(regulator.names)), circle(9.0)
        z[0] = 0.1
        np.testing.assert_allclose(regulator.input(z, 1.0, path),
                                   -regulator.K @ z - regulator.G.sum(axis=0) / 9, rtol=1e-9)
    ramp = type("Ramp", (), {"curvature": lambda self, s: s})()
    at = 2.0 + regulator.speed * regulator.period * np.arange(len(regulator.G))
    np.testing.assert_allclose(regulator.input(0 * z, 2.0, ramp), -at @ regulator.G, rtol=1e-12)
    with pytest.raises(nhmech.InputError, match="preview = -1.0 must be a"):
        type(controller)(controller.vehicle, preview=-1.0)


@pytest.mark.parametrize("name", ["trailers", "bicycle"])
def test_what_is_known_ahead_is_used_as_well_as_can_be(name):
    """Of the cost int (z - turn kappa)'Q(z - turn kappa) + (u - hold kappa)'R(u - hold kappa) dt of
    a way that bends for six periods and is straight from there on, all inputs at once."""
    regulator, count = made_with(name).regulator, 6
    n, nu, rng = len(regulator.names), regulator.B.shape[1], np.random.default_rng(9)
    flow = np.zeros((n + 1 + nu,) * 2)
    flow[:n] = np.column_stack([regulator.A, regulator.bend, regulator.B])
    miss = np.zeros((n + nu, n + 1 + nu))
    miss[:n, :n], miss[n:, n + 1:] = np.eye(n), np.eye(nu)
    miss[:, n] = -np.r_[regulator.turn, regulator.hold]
    cost, (nodes, weights) = 0.0, np.polynomial.legendre.leggauss(8)
    for node, weight in zip(nodes, weights):
        at = miss @ expm(flow * regulator.period * (1 + node) / 2)
        cost += regulator.period / 2 * weight * at.T @ block_diag(regulator.Q, regulator.R) @ at
    step = expm(flow * regulator.period)[:n]
    # z as a function of (z_0, kappa_0 ... , u_0 ...), and the whole cost
    z, whole = np.eye(n, n + count * (1 + nu)), 0.0
    for k in range(count):
        bend = np.eye(1, z.shape[1], n + k)
        u = np.eye(nu, z.shape[1], n + count + k * nu)
        whole += (every := np.vstack([z, bend, u])).T @ cost @ every
        z = step @ every
    whole += z.T @ regulator.P @ z
    z0, bends = 1e-2 * rng.normal(size=n), rng.normal(size=count)
    given = n + count
    best = -np.linalg.solve(whole[given:, given:], whole[given:, :given] @ np.r_[z0, bends])
    found = -regulator.K @ z0 - bends @ regulator.G[:count]
    np.testing.assert_allclose(found, best[:nu], rtol=1e-7)
    assert np.abs(bends @ regulator.G[:count]).max() > 0.01 * np.abs(found).max()


@pytest.mark.parametrize("preview, count", [(0.0, 1), (0.004, 1), (0.016, 2)])
def test_some_of_the_path_is_always_known(preview, count):
    assert len(BicycleBalance(shipped("bicycle"), period=0.01,
                              preview=preview).regulator.G) == count


def test_no_path_is_known_for_ever():
    with pytest.raises(nhmech.InputError, match=r"preview = 100001.0 s takes 1e\+05 periods of 1.0 "
                                                "s, of at most 100000"):
        BicycleBalance(shipped("bicycle"), period=1.0, preview=MOST_PREVIEWED + 1.0)


@pytest.mark.parametrize("name, speed", [("bicycle", 0.9), ("bicycle", -0.9), ("trailers", 0.9)])
def test_what_its_regulator_is_called_by(name, speed, monkeypatch):
    """In messages: its states and inputs, steering alone; and which way it goes."""
    given = {}

    def regulator(*matrices, **words):
        given.update(words)
        return riccati.regulator(*matrices, **words)

    monkeypatch.setattr("nhmech.control.path_regulator.regulator", regulator)
    made_now = (BicycleBalance if name == "bicycle" else TrailerBacking)(shipped(name), speed=speed)
    assert given == {"names": made_now.regulator.names, "inputs": (made_now.steer,),
                     "of": repr(name), "period": made_now.regulator.period}
    assert made_now.regulator.backwards == (speed < 0 or name == "trailers")


def test_steady_turns_are_those_of_the_model():
    """No lateral error, and nothing changes: A z + B u + bend = 0."""
    for name in ("bicycle", "trailers"):
        regulator = made(name).regulator
        assert regulator.turn[regulator.names.index("lateral")] == 0
        found = regulator.A @ regulator.turn + regulator.B @ regulator.hold + regulator.bend
        np.testing.assert_allclose(found, 0, atol=1e-9 * regulator.speed)
        assert np.abs(regulator.turn).max() > 0.1
        # on straight ahead, the path turns away
        turns = np.array([name == "yaw" for name in regulator.names])
        np.testing.assert_allclose(regulator.bend, -regulator.speed * turns, rtol=1e-15)


def test_errors_are_read_off_the_state():
    """Of a train beside its path, backwards: lateral to the left of the way it goes, the heading of
    the last axle, hitches and steering as they stand."""
    backing = made("trailers")
    vehicle, regulator, path = backing.vehicle, backing.regulator, line(9.0).place(1.0, 2.0, np.pi)
    joints = {HITCHES[0]: 0.2, HITCHES[1]: -0.3, backing.steer: 0.1}
    state = nhmech.Simulator(vehicle).reset(pose=(0.4, 2.3, 0.05), joints=joints)
    z, s = regulator.error(0.0, state, path, None)
    place, heading = regulator.tracked.pose(vehicle, vehicle.model.createData(), state.q)
    assert heading == pytest.approx(0.05 + 0.2 - 0.3, abs=1e-12)
    found = dict(zip(regulator.names, z))
    assert found.pop("lateral") == pytest.approx(place[1] - 2.0, abs=1e-12)
    assert found.pop("yaw") == pytest.approx(heading, abs=1e-12)
    assert found == pytest.approx({name: joints.get(name, state.joint_position[name])
                                   for name in found}, abs=1e-12)
    assert s == pytest.approx(1.0 - place[0], abs=1e-12)


@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_rows_of_an_axle_are_the_slope_of_its_pose(yaw):
    """Forwards, to the left, and its turn, for a displacement of the vehicle along the fibre."""
    vehicle = shipped("trailers")
    q = vehicle.configuration((0.3, -0.2, yaw), {HITCHES[0]: 0.3, HITCHES[1]: -0.4})
    model, data = vehicle.model, vehicle.model.createData()
    tracked = TrackedAxle.of(vehicle, q, model.getJointId(HITCHES[1]))
    rows, (_, heading) = tracked.rows(vehicle, q), tracked.pose(vehicle, data, q)
    c, s = np.cos(heading), np.sin(heading)
    import pinocchio as pin

    for k in (0, 1, 5, *(model.joints[model.getJointId(name)].idx_v for name in HITCHES)):
        step = np.zeros(model.nv)
        step[k] = 1e-6
        (ahead, after), (behind, before) = (
            tracked.pose(vehicle, data, pin.integrate(model, q, sign * step)) for sign in (1, -1))
        x, y = (ahead - behind) / 2e-6
        np.testing.assert_allclose(rows[:, k], [c * x + s * y, c * y - s * x,
                                                (after - before) / 2e-6], rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["bicycle", "trailers"])
def test_nothing_is_wrong_at_the_start(name):
    """Of a path that lies askew: the tracked axle at its beginning, along it or its tail ahead."""
    controller, path = made(name), circle(9.0).place(0.3, -0.2, 0.7)
    pose = controller.regulator.start_pose(path)
    state = nhmech.Simulator(controller.vehicle).reset(pose)
    place, heading = controller.regulator.tracked.pose(
        controller.vehicle, controller.vehicle.model.createData(), state.q)
    assert place == pytest.approx((0.3, -0.2), abs=1e-12)
    assert heading == pytest.approx(0.7 if name == "bicycle" else 0.7 - np.pi, abs=1e-12)
    z, s = controller.regulator.error(0.0, state, path, None)
    np.testing.assert_allclose(z[[0, controller.regulator.names.index("yaw")]], 0, atol=1e-12)
    assert min(s, path.length - s) < 1e-9


def test_speeds_are_those_beside_the_steady_motion():
    """A rider sits aside on a bicycle whose rear wheel rubs, so that its way depends on the speed
    too."""
    text = nhmech.urdf_path("bicycle").read_text()
    at = text.index("</joint>", text.index('<joint name="rear_wheel_joint"'))
    text = f'{text[:at]}<dynamics damping="5"/>{text[at:]}'
    rider = BicycleBalance(nhmech.load(text.replace('<origin xyz="0.3 0 0.6"/>',
                                                    '<origin xyz="0.3 0.02 0.6"/>', 1)), speed=4.0)
    vehicle, regulator, simulator = rider.vehicle, rider.regulator, nhmech.Simulator(rider.vehicle)
    for changes in ((0.0, 0.0, 0.0), (0.1, -0.3, 0.02)):
        xi = dict(zip(vehicle.speeds, rider.motion.xi + changes))
        z, _ = regulator.error(0.0, simulator.reset(regulator.start_pose(rider.path), xi=xi),
                               rider.path, None)
        found = dict(zip(regulator.names, z))
        for name, change in zip(("steering_joint'", "rear_wheel_joint'", "roll_rate"), changes):
            assert found[name] == pytest.approx(change, abs=1e-12)
    assert dict(zip(vehicle.speeds, rider.motion.xi))["rear_wheel_joint"] > 10


def test_a_body_without_wheels_has_no_axle():
    vehicle = shipped("trailers")
    joint = vehicle.model.getJointId("front_left_wheel_joint")
    with pytest.raises(nhmech.ModelError, match="no wheel is mounted directly on body "
                                                "'front_left_wheel_joint' of 'trailers'"):
        TrackedAxle.of(vehicle, vehicle.configuration(), joint)


@pytest.mark.parametrize("ways", [(1, 1), (-1, -1), (1, -1)])
def test_an_axle_is_to_the_left_however_its_wheels_are_mounted(ways):
    """About their own z axes, that way or the other; below the middle of both, which the pose at
    which it is found does not move."""
    parts = [link("base", 5.0), link("ball", 0.1), joint("foot", "base", "ball", (-0.3, 0.1, -0.05),
                                                         kind="fixed")]
    wheels = [nhmech.Wheel(None, "caster_ball", 0.05, link="ball")]
    for name, y, way in zip(("left", "right"), (0.3, -0.1), ways):
        parts += [link(name, 0.5), joint(f"{name}_joint", "base", name, (0.2, y, 0.0),
                                         (-np.pi / 2, 0, 0), (0, 0, way))]
        wheels.append(nhmech.Wheel(f"{name}_joint", "disc", 0.1))
    vehicle = nhmech.load(robot(*parts), wheels=wheels)
    for yaw in (0.0, 2.0):
        q = vehicle.configuration((1.0, -2.0, yaw), {"left_joint": 0.7, "right_joint": -3.0})
        tracked = TrackedAxle.of(vehicle, q, 1)
        np.testing.assert_allclose(tracked.axle, [0, 1, 0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(tracked.point, [0.2, 0.1, -0.1], rtol=0, atol=1e-12)
        c, s = np.cos(yaw), np.sin(yaw)
        place, heading = tracked.pose(vehicle, vehicle.model.createData(), q)
        assert place == pytest.approx((1.0 + 0.2 * c - 0.1 * s, -2.0 + 0.2 * s + 0.1 * c),
                                      abs=1e-12)
        assert heading == pytest.approx(yaw, abs=1e-12)


def test_the_distance_of_a_run_that_tells_no_path_is_that_of_its_base(monkeypatch):
    """Its origin, along its x axis, at every moment, or at some from the first to the last of a
    long run; without any path there is none."""
    vehicle = shipped("carriage")
    turns = dict(zip(vehicle.driven, (2.0, 3.0)))
    simulator = nhmech.Simulator(vehicle, lambda t, state: nhmech.JointVelocity(turns), dt=1e-2,
                                 mode="kinematic")
    simulator.reset(pose=(0.3, 0.2, 0.4))
    run = simulator.run(0.1)
    assert path_error(vehicle, run) is None
    found = path_error(vehicle, run, line(5.0).place(0.0, 0.1, 0.4))
    np.testing.assert_array_equal(found.t, run.t)
    np.testing.assert_allclose(found.point, run.q[:, :2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.lateral, (found.point - (0.0, 0.1)) @ (-np.sin(0.4),
                                                                            np.cos(0.4)), rtol=0,
                               atol=1e-12)
    yaw = 2 * np.arctan2(run.q[:, 5], run.q[:, 6])
    np.testing.assert_allclose(found.heading, yaw - 0.4, rtol=0, atol=1e-12)
    assert abs(yaw[-1] - yaw[0]) > 1e-3
    monkeypatch.setattr(path_reference, "MOMENTS", 6)
    some = path_error(vehicle, run, line(5.0).place(0.0, 0.1, 0.4))
    np.testing.assert_array_equal(some.t, run.t[::2])
    np.testing.assert_allclose(some.lateral, found.lateral[::2], rtol=0, atol=1e-12)


def test_a_train_starts_on_its_path_wherever_its_base_is():
    """The last axle at the path's beginning, its tail along it; and the car rolls from there, about
    the point that its steering says."""
    backing = TrailerBacking(train(2, ahead=0.3, aside=0.2), circle(9.0).place(0.3, -0.2, 0.7))
    vehicle, regulator = backing.vehicle, backing.regulator
    state = nhmech.Simulator(vehicle).reset(**backing.start, joints={backing.steer: 0.1})
    place, heading = regulator.tracked.pose(vehicle, vehicle.model.createData(), state.q)
    assert (*place, heading) == pytest.approx((0.3, -0.2, 0.7 - np.pi), abs=1e-12)
    command = backing(0.0, state).values
    forward, lateral, turn = backing.commanded_twist
    assert forward == pytest.approx(-0.5, rel=1e-12, abs=0)
    # of the middle of the rear axle; the left kingpin is 1.1 m before it and 0.42 m beside it
    ahead, left = forward + 0.2 * turn, lateral - 0.3 * turn
    assert left == pytest.approx(0.0, abs=1e-12)
    assert np.tan(0.1) == pytest.approx(1.1 * turn / (ahead - 0.42 * turn), rel=1e-9)
    assert command["rear_left_wheel_joint"] == pytest.approx((ahead - 0.46 * turn) / 0.2, rel=1e-9)


def test_a_train_backs_as_its_regulator_says():
    """The rate of its steering is cut where it is at a limit, and the wheels roll backwards at the
    speed of the car; a straight line along -x where there is no path."""
    backing = made("trailers")
    assert backing.path.length == 1.0 and backing.path.station(2.5)[:2] == pytest.approx((-2.5, 0),
                                                                                         rel=1e-12)
    state = nhmech.Simulator(backing.vehicle).reset(pose=(0.0, 0.02, 0.01))
    command = backing(0.0, state).values
    z, s = backing.regulator.error(0.0, state, backing.path, None)
    most = backing.limits.velocity
    assert abs(backing.regulator.input(z, s, backing.path)[0]) < most
    assert command[backing.steer] == pytest.approx(
        backing.regulator.input(z, s, backing.path)[0], rel=1e-12, abs=0)
    radius = backing.vehicle.description.wheels[-1].radius
    assert backing.commanded_twist[0] == pytest.approx(-0.5, rel=1e-12, abs=0) and radius > 0
    assert not backing.pulling
    other = TrailerBacking(backing.vehicle, speed=-0.5)
    assert other.speed == backing.speed == -0.5
    np.testing.assert_allclose(other.regulator.K, backing.regulator.K, rtol=1e-12)


def test_a_rider_holds_torque_and_wheels():
    """The steady torque and what the regulator adds; the driven wheel at the speed over its radius,
    none of them coasting."""
    rider, coasting = made("bicycle"), BicycleBalance(shipped("bicycle"), coast=True)
    vehicle = rider.vehicle
    assert rider.path.length == 1.0 and rider.speed == 3.0
    state = nhmech.Simulator(vehicle).reset(
        (0.0, 0.02, 0.0, 0.01, 0.0, 0.0), {rider.steer: 0.01}, rider.start["xi"])
    torque, rates = rider(0.0, state)
    z, s = rider.regulator.error(0.0, state, rider.path, None)
    expected = rider.regulator.input(z, s, rider.path)[0]
    assert torque.values[rider.steer] == pytest.approx(expected, rel=1e-9)
    assert coasting(0.0, state).values == torque.values
    radius = {wheel.joint: wheel.radius for wheel in vehicle.description.wheels}
    assert rates.values == pytest.approx({name: 3.0 / radius[name] for name in rates.values},
                                         rel=1e-9)
    assert set(rates.values) == {"rear_wheel_joint"}


def test_a_run_whose_path_another_body_followed_is_told():
    backing = made("trailers")
    simulator = nhmech.Simulator(backing.vehicle, backing, dt=1e-2, mode="kinematic")
    simulator.reset(**backing.start)
    run = simulator.run(0.02)
    assert np.abs(path_error(backing.vehicle, run).lateral).max() < 1e-9
    run.settings["path"]["body"] = "tail"
    with pytest.raises(nhmech.ModelError, match="followed by the body of 'tail', which 'trailers'"):
        path_error(backing.vehicle, run)
