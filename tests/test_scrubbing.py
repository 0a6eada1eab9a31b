"""Skid steering by friction: all wheels hold sideways until they slide."""

import re
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import root
from support import command_line, sampled, shipped

import nhmech
from nhmech import JointTorque, JointVelocity, Simulator
from nhmech.control import TwistDrive, WheelServo
from nhmech.ros import Bridge
from nhmech.simulation import Phase
from nhmech.urdf import Scrubbing

G = 9.81


@pytest.fixture(scope="module")
def robot():
    return shipped("skid_steer")


def rates(vehicle, left, right):
    """Of the wheels of both sides [rad/s]."""
    return {wheel: left if "left" in wheel else right for wheel in vehicle.driven}


class SteadyTurn:
    """Four wheels at given rates that slide in a circle: forces in the plane, loads by statics of a
    plate on equal springs, gyroscopic moments by Pinocchio's momentum. Nothing of the simulator is
    in it."""

    def __init__(self, vehicle, mu, spin):
        model, data = vehicle.model, vehicle.model.createData()
        q = vehicle.configuration()
        self.model, self.data, self.q, self.mu, self.spin = model, data, q, mu, spin
        self.com = pin.centerOfMass(model, data, q) - q[:3]
        self.mass = pin.computeTotalMass(model)
        self.feet = np.array(vehicle.contact_points(q)) - q[:3]
        self.radius = {wheel.joint: wheel.radius for wheel in vehicle.description.wheels}
        self.names = list(vehicle.algebroid.v_names)
        self.wheels = list(vehicle.contact_names)

    def forces(self, twist):
        """Of the ground (4, 3) at vx, vy and yaw rate of the base's origin, and what is missing in
        x, y and about z."""
        vx, vy, yaw = twist
        v = np.zeros(len(self.names))
        v[[0, 1, 5]] = twist
        for wheel, rate in self.spin.items():
            v[self.names.index(wheel)] = rate
        L = pin.computeCentroidalMomentum(self.model, self.data, self.q, v).angular
        dL = np.cross([0, 0, yaw], L)
        velocity = np.array([vx, vy, 0]) + np.cross([0, 0, yaw], self.com)
        force = self.mass * (np.cross([0, 0, yaw], velocity) + [0, 0, G])

        slip = np.array([vx, vy, 0]) + np.cross([0, 0, yaw], self.feet)
        slip[:, 0] -= [self.spin[w] * self.radius[w] for w in self.wheels]
        way = -slip[:, :2] / np.linalg.norm(slip[:, :2], axis=1)[:, None]
        arms = self.feet - self.com
        # loads a + b x + c y that balance force and moments; friction acts at the height of feet
        shape = np.column_stack([np.ones(4), self.feet[:, :2]])
        balance = np.zeros((3, 3))
        for k in range(3):
            one = np.column_stack([self.mu * shape[:, k, None] * way, shape[:, k]])
            moment = np.cross(arms, one).sum(axis=0)
            balance[:, k] = one[:, 2].sum(), moment[0], moment[1]
        load = shape @ np.linalg.solve(balance, [force[2], dL[0], dL[1]])
        ground = np.column_stack([self.mu * load[:, None] * way, load])
        about = np.cross(arms, ground).sum(axis=0)[2] - dL[2]
        return ground, [*(ground.sum(axis=0) - force)[:2], about]

    def solve(self, guess):
        found = root(lambda twist: self.forces(twist)[1], guess, tol=1e-13)
        assert np.abs(found.fun).max() < 1e-9, found.message
        return found.x


@pytest.mark.parametrize("mu, left, right", sampled(
    [(mu, *rates) for mu in (0.3, 0.8) for rates in ((2.0, 6.0), (-3.0, 4.0), (5.0, 8.0))], 2))
def test_steady_turns_balance_the_forces(robot, mu, left, right):
    """Yaw rate, centre of rotation and torques."""
    spin = rates(robot, left, right)
    run = Simulator(robot, lambda t, state: JointVelocity(spin), dt=1e-3, control_period=0.01,
                    contact="coulomb", mu=mu).run(8.0)
    v, names = run.v[-1], robot.algebroid.v_names
    assert np.allclose(run.T_WB[-1][:3, 2], [0, 0, 1], atol=1e-12)
    assert set(run.phases[-1].wheels.values()) == {Phase.SLIDING}
    turn = SteadyTurn(robot, mu, {wheel: v[names.index(wheel)] for wheel in spin})
    vx, vy, yaw = turn.solve(v[[0, 1, 5]])
    assert yaw == pytest.approx(v[5], rel=1e-6)
    assert np.allclose([-vy / yaw, vx / yaw], [-v[1] / v[5], v[0] / v[5]], rtol=1e-6, atol=1e-6)
    ground, _ = turn.forces([vx, vy, yaw])
    for wheel, force in zip(turn.wheels, ground):
        assert run.force(wheel)[-1] == pytest.approx(force[2], rel=1e-6)
        torque = force[0] * turn.radius[wheel] + robot.parameters[f"{wheel}.damping"] * spin[wheel]
        assert run.u[-1, names.index(wheel) - 6] == pytest.approx(torque, rel=1e-6, abs=1e-6)


def test_straight_driving_rolls_exactly(robot):
    """Bit for bit the ideal run of the same vehicle, whatever turns it would otherwise make."""
    even = JointVelocity(rates(robot, 5.0, 5.0), acceleration=5.0)
    straight = shipped("skid_steer", skid="coulomb")
    ideal = Simulator(straight, lambda t, state: even, control_period=0.01,
                      contact="ideal").run(1.0)
    run = Simulator(robot, lambda t, state: even, control_period=0.01, contact="coulomb",
                    mu=0.6).run(1.0)
    assert np.array_equal(run.q, ideal.q) and np.array_equal(run.v, ideal.v)
    assert run.rolled.all() and run.q[-1, 0] > 0.4 and np.abs(run.v[:, [1, 5]]).max() < 1e-12


def test_wheels_brace_against_a_small_torque(robot):
    """The robot turns only when the difference of the torques beats the friction of all wheels
    about their middle."""
    for part, turns in ((0.97, False), (1.03, True)):
        feet = np.array(robot.contact_points(robot.configuration()))
        x, y = np.abs(feet[0, :2])
        load = pin.computeTotalMass(robot.model) * G / 4
        # no net moment: each wheel pulls along and across in the ratio x : y
        torque = part * 0.6 * load * x / np.hypot(x, y) * 0.165
        run = Simulator(robot, lambda t, state: JointTorque(rates(robot, -torque, torque)),
                        dt=2e-3, contact="coulomb", mu=0.6).run(0.1)
        assert run.rolled[-1] != turns and (abs(run.v[-1, 5]) > 1e-3) == turns


def test_a_commanded_turn_falls_short_by_the_track_factor(robot):
    command = JointVelocity(rates(robot, 2.0, 4.0))
    options = {"dt": 2e-3, "control_period": 0.01}
    run = Simulator(robot, lambda t, state: command, contact="coulomb", mu=0.6, **options).run(2.0)
    ideal = Simulator(robot, lambda t, state: command, **options).run(2.0)
    assert 1.3 < ideal.v[-1, 5] / run.v[-1, 5] < 3.0


def test_a_twist_is_that_of_the_middle_of_the_wheels():
    """Wheels get v -+ w b/2 over their radius, as with the mid-axle model; the robot turns less."""
    robot = shipped("skid_steer", skid="coulomb")
    b = np.ptp(np.array(robot.contact_points(robot.configuration()))[:, 1])
    drive = TwistDrive(robot, (0.4, 0.0, 0.5))
    _, found = drive(0.0, Simulator(robot).state)
    for wheel, rate in found.values.items():
        way = -1 if "left" in wheel else 1
        assert rate == pytest.approx((0.4 + way * 0.5 * b / 2) / 0.165, rel=1e-12)
    run = Simulator(robot, drive, dt=2e-3, control_period=0.01).run(2.0)
    assert run.v[-1, 0] == pytest.approx(0.4, abs=0.01) and 0.15 < run.v[-1, 5] < 0.45


def test_motor_drivers_turn_wheels_that_scrub():
    """Each wheel gets its rate, whatever friction says; so the node of ROS turns the robot too."""
    robot = shipped("skid_steer", skid="coulomb")
    servo, names = WheelServo(robot, (0.3, 0.0, 0.5)), robot.algebroid.v_names
    simulator = Simulator(robot, servo, dt=2e-3, control_period=0.01)
    run = simulator.run(2.0, every=50)
    _, wanted = TwistDrive(robot, (0.3, 0.0, 0.5))(2.0, simulator.state)
    for wheel, rate in wanted.values.items():
        assert run.v[-1, names.index(wheel)] == pytest.approx(rate, rel=0.02)
    bridge = Bridge(robot)
    for k in range(101):
        bridge.take_twist(0.3, 0.0, 0.5)
        reading = bridge.advance(0.01 * k)
    assert reading.twist[0] == pytest.approx(0.3, abs=0.02) and reading.twist[5] > 0.2


def test_wheels_that_all_slide_by_friction_are_skid_steered_by_it(robot):
    wheels = [replace(wheel, law="coulomb") for wheel in robot.description.wheels]
    text = re.sub(r"<nhmech>.*</nhmech>", "", robot.description.xml, flags=re.S)
    one = nhmech.load(text, wheels=wheels)
    assert one.description.skid == Scrubbing()
    other = shipped("skid_steer", skid="coulomb")
    runs = [Simulator(vehicle, TwistDrive(vehicle, (0.3, 0.0, 0.4)), dt=2e-3).run(0.2)
            for vehicle in (one, other)]
    assert np.array_equal(runs[0].q, runs[1].q) and not runs[0].rolled[-1]


def test_paths_are_followed_by_wheels_that_scrub():
    result = command_line("run", "skid_steer", "--skid", "coulomb", "--controller", "stanley",
                          "--path", "circle:2", "--duration", "1.0", "--dt", "0.005")
    assert result.exit_code == 0 and "lateral error" in result.output
    assert "slid 0." in result.output


@pytest.mark.parametrize("v, w", [(0.4, 0.5), (-0.3, 0.2), (0.0, 1.0), (0.4, 0.0)])
def test_a_start_may_turn_as_wheels_that_scrub_are_commanded(v, w):
    """The tracker's start on a bend is such a one: v -+ w b/2 over the radius of each wheel."""
    robot = shipped("skid_steer", skid="coulomb")
    b = np.ptp(np.array(robot.contact_points(robot.configuration()))[:, 1])
    simulator = Simulator(robot)
    state = simulator.reset(xi={"forward_speed": v, "yaw_rate": w})
    assert state.xi["forward_speed"] == pytest.approx(v, abs=1e-12)
    assert state.xi["yaw_rate"] == pytest.approx(w, abs=1e-12)
    for wheel in robot.driven:
        way = -1 if "left" in wheel else 1
        assert state.joint_velocity[wheel] == pytest.approx((v + way * w * b / 2) / 0.165,
                                                            abs=1e-9)
    run = simulator.run(0.005)
    assert run.rolled[0] == (w == 0)
    with pytest.raises(nhmech.InputError, match="contradict"):
        simulator.reset(xi={"vertical_speed": 1.0})


def test_a_path_may_begin_with_a_bend():
    result = command_line("run", "skid_steer", "--skid", "coulomb", "--controller", "pure_pursuit",
                          "--path", "circle:2", "--duration", "0.3", "--dt", "0.005")
    assert result.exit_code == 0 and "lateral error" in result.output, result.output


def test_its_runs_know_what_moved(robot, tmp_path):
    run = Simulator(robot, contact="coulomb", mu=0.6).run(0.01, save=tmp_path / "run.npz")
    again = nhmech.Trajectory.load(tmp_path / "run.npz")
    for one in (run, again):
        vehicle = one.simulated.vehicle
        assert vehicle.description.skid == Scrubbing() and len(vehicle.speeds) == 1
    assert any("friction" in str(notice) for notice in vehicle.notices)
    assert robot.description.track_factor == 1.0            # as it was


def test_the_command_line_scrubs():
    result = command_line("run", "skid_steer", "--skid", "coulomb", "--duration", "0.1")
    assert result.exit_code == 0, result.output
    result = command_line("run", "skid_steer", "--mu", "0.5", "--on-slip", "go-on", "--duration",
                          "0.2", "--controller", "stanley", "--path", "circle:2")
    assert result.exit_code == 0 and "skid steering by friction" in result.output
    assert "share the load: shared as by springs of equal stiffness" in result.output


# -- how four wheels share the load ----------------------------------------------------------------
def loads(vehicle, stiffness=None):
    """Of a vehicle that slides straight on with locked wheels, (4,) [N]."""
    simulator = Simulator(vehicle, dt=1e-3, contact="coulomb", mu=1e-9, stiffness=stiffness)
    simulator.reset(v={"forward_speed": 1.0})
    run = simulator.run(0.005)
    return np.array([run.force(wheel)[-1] for wheel in vehicle.contact_names])


def springs(vehicle, k):
    """Loads of wheels on springs (4,), in the limit of stiff ones: a plane of deflections."""
    q = vehicle.configuration()
    model, data = vehicle.model, vehicle.model.createData()
    com, mass = pin.centerOfMass(model, data, q), pin.computeTotalMass(model)
    shape = np.column_stack([np.ones(4), np.array(vehicle.contact_points(q))[:, :2]])
    plane = np.linalg.solve(shape.T @ (k[:, None] * shape), mass * G * np.array([1, *com[:2]]))
    return k * (shape @ plane)


def test_the_load_is_shared_by_stiffness(robot):
    vehicle = robot.with_parameters({"payload.mass": 8.0, "payload.x": 0.1, "payload.y": 0.05,
                                     "payload.z": 0.2})
    k = np.array([1e4, 2e4, 4e4, 3e4])
    assert np.allclose(loads(vehicle), springs(vehicle, np.ones(4)), rtol=1e-6)
    found = loads(vehicle, dict(zip(vehicle.contact_names, k)))
    assert np.allclose(found, springs(vehicle, k), rtol=1e-6)
    # only ratios count; who is not named is as stiff as the mean
    assert np.allclose(loads(vehicle, dict(zip(vehicle.contact_names, 1e3 * k))), found, rtol=1e-9)
    assert np.allclose(loads(vehicle, {vehicle.contact_names[0]: 7.0}), loads(vehicle), rtol=1e-9)


def test_the_file_says_how_stiff_wheels_are(robot, tmp_path):
    """`<wheel stiffness>` goes before `<kp>` of Gazebo, and what is asked for before both."""
    k = dict(zip(robot.contact_names, (1e4, 2e4, 4e4, 3e4)))
    load = {"payload.mass": 8.0, "payload.x": 0.1, "payload.z": 0.2}
    wanted = springs(robot.with_parameters(load), np.array([*k.values()]))
    links = {wheel.name: wheel.link for wheel in robot.description.wheels}
    kp = "".join(f'<gazebo reference="{links[wheel]}"><kp>{one}</kp></gazebo>'
                 for wheel, one in k.items())
    text = robot.description.xml
    tagged = text
    for wheel, one in k.items():
        tagged = tagged.replace(f'joint="{wheel}" kind', f'joint="{wheel}" stiffness="{one}" kind')
    files = {"kp": text.replace("</robot>", kp + "</robot>"), "tag": tagged,
             "both": tagged.replace("</robot>", kp.replace("10000.0", "7") + "</robot>")}
    for name, file in files.items():
        vehicle = nhmech.load(file).with_parameters(load)
        assert np.allclose(loads(vehicle), wanted, rtol=1e-6), name
    assert np.allclose(loads(vehicle, dict.fromkeys(k, 1.0)),
                       springs(vehicle, np.ones(4)), rtol=1e-6)
    run = Simulator(vehicle, contact="coulomb", mu=0.6).run(0.01, save=tmp_path / "run.npz")
    assert run.settings["stiffness"] == k
    again = nhmech.Trajectory.load(tmp_path / "run.npz").simulated.vehicle
    assert [w.stiffness for w in again.description.wheels] == [*k.values()]
    with pytest.raises(nhmech.ModelError, match="stiffness = 0"):
        nhmech.load(tagged.replace('stiffness="10000.0"', 'stiffness="0"'))


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), "hard"])
def test_a_stiffness_is_positive(robot, value):
    with pytest.raises(nhmech.InputError, match="stiffness"):
        Simulator(robot, contact="coulomb", mu=0.5, stiffness={robot.contact_names[0]: value})


def test_stiffness_is_of_wheels_that_are_there(robot):
    with pytest.raises(nhmech.InputError, match="wheel"):
        Simulator(robot, contact="coulomb", mu=0.5, stiffness={"fifth": 1e4})
    with pytest.raises(nhmech.InputError, match="ideal rolling"):
        Simulator(robot, stiffness={robot.contact_names[0]: 1e4})
    with pytest.raises(nhmech.InputError, match="stiffness = 0 must be a mapping"):
        Simulator(robot, contact="coulomb", mu=0.5, stiffness=0)


def test_bodies_that_meet_the_ground_beside_wheels_of_a_stiffness(robot):
    run = Simulator(robot, contact="coulomb", mu=0.5, on_fall="go-on",
                    stiffness={robot.contact_names[0]: 1e4}).run(0.01)
    assert run.stop == "duration" and set(run.settings["stiffness"].values()) == {1e4}
