"""Two-wheeled pendulums: standing, driving, stopping, turning on the spot; the shipped one and a
leaning robot."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from robot_table import real
from runs import attitude, rate
from support import joint, link, robot as write_robot, sampled, shipped

import nhmech
from nhmech.control.balance import Balance

STEP, PERIOD = 1e-3, 5e-3
# [s] when it drives off, stops, begins to turn, stops again
DRIVE, STOP, TURN, END = 1.0, 4.0, 7.0, 11.0


def robot(name: str):
    return shipped(name) if name == "pendulum" else real(name)


def pitches(run) -> np.ndarray:
    return np.array([attitude(q)[2] for q in run.q])


@pytest.mark.parametrize("name", ["pendulum", "upkie"])
def test_drives_stops_and_turns_on_the_spot_upright(name):
    """Bounds fixed beforehand: 12 degrees of pitch about standing, 1 cm/s after the stop,
    2 % of speed and turn, 2 cm off the spot."""
    vehicle, speed, turn = robot(name), 0.4, 1.5

    def course(t, state):
        return speed if DRIVE < t < STOP else 0.0, 0.0, turn if TURN < t < END else 0.0

    controller = Balance(vehicle, course, period=PERIOD)
    simulator = nhmech.Simulator(vehicle, controller, dt=STEP, control_period=PERIOD)
    simulator.reset(**controller.start)
    run = simulator.run(END + 2.5, every=50)
    standing = attitude(controller.start["q"])[2]
    assert np.abs(pitches(run) - standing).max() < np.deg2rad(12)
    forward, yaw_rate = rate(run, "forward_speed"), rate(run, "yaw_rate")

    def during(low: float, high: float) -> np.ndarray:
        return (run.t > low) & (run.t < high)

    assert np.abs(forward[during(STOP - 0.3, STOP)] / speed - 1).max() < 0.02
    assert np.abs(forward[during(TURN - 0.5, TURN)]).max() < 0.01
    assert np.abs(yaw_rate[during(END - 0.5, END)] / turn - 1).max() < 0.02
    spot = np.array(
        [vehicle.contact_points(q).mean(axis=0)[:2] for q in run.q[during(TURN, END + 2.5)]]
    )
    assert np.linalg.norm(spot - spot[0], axis=1).max() < 0.02
    assert (np.abs(forward[-1]) < 0.01 and np.abs(yaw_rate[-1]) < 0.01
            and abs(pitches(run)[-1] - standing) < np.deg2rad(0.5))


@pytest.mark.parametrize("name, lean",
                         sampled([("pendulum", 15), ("pendulum", -15), ("upkie", 15),
                                  ("upkie", -15)], 2))
def test_recovers_from_fifteen_degrees(name, lean):
    vehicle = robot(name)
    controller = Balance(vehicle, period=PERIOD)
    simulator = nhmech.Simulator(vehicle, controller, dt=STEP, control_period=PERIOD)
    simulator.reset((0, 0, 0.1, 0.0, np.deg2rad(lean), 0.0))
    run = simulator.run(6.0, every=50)
    standing = attitude(controller.start["q"])[2]
    assert np.abs(pitches(run)).max() < np.deg2rad(20)
    assert abs(pitches(run)[-1] - standing) < 1e-3 and abs(rate(run, "forward_speed")[-1]) < 5e-3


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("lean", [0.02, 0.149, 0.151, 4.0])
def test_an_error_of_speed_calls_for_a_lean_of_no_more_than_it_may_have(way, lean):
    """0.15 rad: up to there the regulator is linear, and from there on the speed does not matter;
    what it makes of the pitch itself is never cut."""
    vehicle = robot("pendulum")
    controller = Balance(vehicle)
    state = nhmech.Simulator(vehicle).reset((0, 0, 0.1, 0.0, 0.3, 0.0))
    toward = controller.K[:, controller.names.index("pitch")]
    base = controller(0.0, state)
    controller.drive.twist = (0.01, 0.0, 0.0)             # calls for little
    called = -(toward @ (controller(0.0, state) - base)) / (toward @ toward) / 0.01
    controller.drive.twist = (way * lean / called, 0.0, 0.0)
    np.testing.assert_allclose(controller(0.0, state) - base,
                               -toward * way * min(lean, 0.15), rtol=1e-9)


def test_without_control_it_falls():
    simulator = nhmech.Simulator(shipped("pendulum"), dt=STEP)
    simulator.reset((0, 0, 0.1, 0.0, np.deg2rad(1), 0.0))
    run = simulator.run(0.5, every=50)
    assert abs(pitches(run)[-1]) > np.deg2rad(60)


@pytest.mark.parametrize("shift", [0.0, 0.01, -0.02])
def test_stands_with_its_centre_of_mass_above_the_axle(shift):
    """A load before the axle: it leans back until the whole centre of mass is above the line of
    contact."""
    vehicle = shipped("pendulum").with_parameters(
        {"payload.mass": 0.2, "payload.x": shift, "payload.z": 0.05}
    )
    controller = Balance(vehicle)
    q = controller.start["q"]
    over = vehicle.contact_points(q).mean(axis=0)
    centre = pin.centerOfMass(vehicle.model, vehicle.model.createData(), q)
    np.testing.assert_allclose(centre[:2], over[:2], rtol=0, atol=1e-12)
    assert np.sign(attitude(q)[2]) == -np.sign(shift)


def test_balance_says_what_to_do():
    for name, message in (("ackermann_car", "does not balance on one axle: .* TwistDrive"),
                          ("bicycle", "BicycleBalance those that lean")):
        with pytest.raises(nhmech.errors.ModelError, match=message):
            Balance(shipped(name))
    steep = nhmech.Ground(normal=(-np.sin(1.2), 0, np.cos(1.2)))
    low = nhmech.load(nhmech.urdf_path("pendulum"), ground=steep).with_parameters(
        {"payload.mass": 0.6, "payload.z": -0.06})
    with pytest.raises(nhmech.errors.ModelError,
                       match="'pendulum' has no standing equilibrium near upright: "
                                                       ".* Is its centre of mass"):
        Balance(low)


def test_what_cannot_balance_is_given_a_caster():
    """Where the centre of mass is on the axle no torque turns the body back; the line that is
    advised makes a vehicle of it."""
    text = write_robot(link("base", 3.0, com=(0.03, 0.01, 0.02)), *(
        link(side, 0.3) + joint(f"{side}_joint", "base", side, xyz=(0.03, y, 0.02))
        for side, y in (("left", 0.12), ("right", -0.08))))
    wheels = [nhmech.Wheel(f"{side}_joint", "disc", 0.05) for side in ("left", "right")]
    with pytest.raises(nhmech.errors.ModelError, match="they do not affect its pitch") as caught:
        Balance(nhmech.load(text, wheels=wheels))
    advised = caught.value.remedy.python.partition("wheels=")[2]
    stands = nhmech.load(text, wheels=eval(advised, {"Wheel": nhmech.Wheel}))
    assert "pitch_rate" not in stands.speeds and len(stands.contacts) == 3
    # half a track ahead of the middle of the axle, on the ground
    ball = stands.description.wheels[-1]
    np.testing.assert_allclose(np.array(ball.point) - (0, 0, ball.radius), (0.13, 0.02, -0.03),
                               rtol=0, atol=1e-12)


@pytest.mark.parametrize("round_", [True, False])
def test_weights_are_those_of_pitch_and_wheels(round_):
    """Over the scales of `LQR`: 1 of the pitch, 4 of the speeds of wheels, none of the pitch's own;
    2 of the torques. The angles of wheels that are not quite round are no states."""
    vehicle = shipped("pendulum") if round_ else shipped("pendulum").with_parameters(
        {f"{side}_wheel.Ixx": 1.3e-5 for side in ("left", "right")})
    prime = "" if round_ else "'"
    for options, speed, effort in (({}, 4.0, 2.0), (dict(speed_weight=7.0, effort=3.0), 7.0, 3.0)):
        lqr = Balance(vehicle, **options).lqr
        assert lqr.names == ("pitch", f"left_wheel_joint{prime}", f"right_wheel_joint{prime}",
                             "pitch_rate")
        np.testing.assert_allclose(np.diag(lqr.Q) * lqr.scales ** 2, [1, speed, speed, 0],
                                   rtol=1e-12)
        np.testing.assert_allclose(np.diag(lqr.R) * lqr.input_scales ** 2, [effort] * 2,
                                   rtol=1e-12)
    held = Balance(vehicle, period=0.02)
    assert not np.allclose(held.K, Balance(vehicle).K, rtol=1e-3)
    assert Balance(vehicle).drive.twist == (0.0, 0.0, 0.0)
    state = nhmech.Simulator(vehicle).reset(**held.start)
    np.testing.assert_allclose(held(0.0, state), held.lqr.reference_input, rtol=0, atol=1e-12)
    assert held.commanded_twist.tolist() == [0, 0, 0]


def test_angles_of_wheels_are_no_states():
    """Also of one that is not quite round, which then has some."""
    vehicle = shipped("pendulum").with_parameters({"left_wheel.Ixx": 1.3e-5})
    assert [name.removesuffix("'") for name in Balance(vehicle).names] == [
        "pitch", "left_wheel_joint", "right_wheel_joint", "pitch_rate"]


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan])
def test_speeds_have_a_weight(weight):
    with pytest.raises(nhmech.InputError, match="speed_weight = .* must be a"):
        Balance(shipped("pendulum"), speed_weight=weight)


@pytest.mark.parametrize("twist", [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)])
def test_on_a_belt_it_drives_as_seen_from_beside_it(twist):
    """Wheels turn by what the robot is faster than the ground."""
    vehicle = shipped("pendulum", nhmech.Ground(velocity=(0.2, 0.0, 0.0)))
    controller = Balance(vehicle, twist, period=PERIOD)
    simulator = nhmech.Simulator(vehicle, controller, dt=STEP, control_period=PERIOD)
    state = simulator.reset(**controller.start)
    assert state.xi["left_wheel_joint"] == pytest.approx(-0.2 / 0.04, rel=1e-9)
    if not any(twist):
        np.testing.assert_allclose(controller(0.0, state), controller.lqr.reference_input, rtol=0,
                                   atol=1e-12)
    run = simulator.run(4.0, every=50)
    assert rate(run, "forward_speed")[-1] == pytest.approx(twist[0], abs=1e-3)
