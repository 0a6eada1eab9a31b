"""What a robot's own sensors read: encoders, gyros, accelerometers."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import runs
from support import VARIED, at_length, kinematics, shipped

import nhmech
from nhmech import Ground, InputError, SimulationError, Simulator
from nhmech.simulation import imu_along

G = 9.81
# [s] of the runs; recorded moments between two points of a stencil
STEP, STRIDE = 2.5e-4, 8
# Central differences of order 8, Fornberg 1988, table 1
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])


def placement(vehicle, q: np.ndarray, link: str) -> pin.SE3:
    """T_WL by Pinocchio."""
    data = kinematics(vehicle, q)
    frame = vehicle.model.frames[vehicle.model.getFrameId(link, pin.FrameType.BODY)]
    return data.oMi[frame.parentJoint] * frame.placement


def differentiated(vehicle, q: np.ndarray, link: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Gyro and accelerometer at recorded moment k, from placements before and after it."""
    h = STRIDE * STEP
    around = [placement(vehicle, q[k + i * STRIDE], link) for i in range(-4, 5)]
    R = around[4].rotation
    turning = R.T @ np.tensordot(FIRST / h, [T.rotation for T in around], 1)
    acceleration = np.tensordot(SECOND / h ** 2, [T.translation for T in around], 1)
    return pin.unSkew((turning - turning.T) / 2), R.T @ (acceleration + (0, 0, G))


def links(vehicle) -> list[str]:
    return [frame.name for frame in vehicle.model.frames if frame.type == pin.FrameType.BODY
            and frame.parentJoint > 0]


def passing(simulator, lead: float = 0.05) -> tuple[nhmech.State, np.ndarray, int]:
    """The state `lead` [s] from here, q (n, nq) before and after it, and where in them it is."""
    first = simulator.run(lead)
    state = simulator.state
    return state, np.vstack([first.q, simulator.run(0.05).q[1:]]), len(first) - 1


UPHILL = Ground(normal=(np.sin(0.2), 0.1, np.cos(0.2)))
MOTIONS = {**runs.MOTIONS, "differential_drive": dict(xi={"forward_speed": 0.6, "yaw_rate": -1.2}),
           "mecanum": dict(xi={"forward_speed": 0.5, "lateral_speed": -0.3, "yaw_rate": 0.7}),
           "pendulum": dict(xi={"forward_speed": 0.4, "yaw_rate": 0.5, "pitch_rate": 1.0})}


@pytest.mark.parametrize("ground", [UPHILL, *at_length(Ground())])
@pytest.mark.parametrize("name", MOTIONS)
def test_inertial_sensors_against_placements(name, ground):
    """Every link of a vehicle on its way under constant efforts:
    R^T (d2p/dt2 - g) and R^T dR/dt by differences of order 8."""
    vehicle = shipped(name, ground)
    efforts = 0.05 * np.cos(np.arange(len(vehicle.driven)))
    simulator = Simulator(vehicle, lambda t, state: efforts, dt=STEP)
    simulator.reset(**MOTIONS[name])
    state, q, k = passing(simulator)
    for link in links(vehicle):
        gyro, force = differentiated(vehicle, q, link, k)
        assert state.gyro(link) == pytest.approx(gyro, rel=1e-8, abs=1e-8)
        assert state.accelerometer(link) == pytest.approx(force, rel=1e-8, abs=1e-7)


@pytest.mark.parametrize("name", VARIED)
def test_at_rest_the_accelerometer_reads_minus_g(name):
    """A vehicle that stands, whatever the attitude of its links; one that has to fall from rest is
    not among them."""
    vehicle = shipped(name)
    state = Simulator(vehicle).reset()
    for link in links(vehicle):
        R = placement(vehicle, state.q, link).rotation
        assert state.gyro(link) == pytest.approx(np.zeros(3), abs=1e-14)
        # upright pendulums and bicycles stand to rounding
        assert state.accelerometer(link) == pytest.approx(R.T @ (0, 0, G), abs=1e-6)


def test_a_disc_rolls_down_a_slope():
    """Straight down: a = g sin(slope) / (1 + J / (m r^2)), and along the ground's
    normal the sensor feels g cos(slope)."""
    slope = 0.3
    vehicle = shipped("disc", Ground(normal=(np.sin(slope), 0, np.cos(slope))))
    simulator = Simulator(vehicle, dt=STEP)
    simulator.reset(xi={"spin_joint": 5.0, "yaw_rate": 0.0, "roll_rate": 0.0})
    simulator.run(0.2)
    state, values = simulator.state, vehicle.parameters.values
    (wheel,) = vehicle.description.wheels
    mass = sum(inertia.mass for inertia in vehicle.model.inertias)
    axial = (
        wheel.axis
        @ vehicle.model.inertias[vehicle.model.getJointId(wheel.joint)].inertia
        @ np.array(wheel.axis)
    )
    acceleration = G * np.sin(slope) / (1 + axial / (mass * wheel.radius ** 2))
    assert values["gravity"] == G
    R = placement(vehicle, state.q, vehicle.description.root).rotation
    downhill, normal = np.array([np.cos(slope),
                                 0, -np.sin(slope)]), np.array([np.sin(slope), 0, np.cos(slope)])
    force = R @ state.accelerometer()
    assert force @ downhill == pytest.approx(acceleration - G * np.sin(slope), rel=1e-9)
    assert force @ normal == pytest.approx(G * np.cos(slope), rel=1e-9)
    assert R @ state.gyro(vehicle.model.frames[-1].name) == pytest.approx(
        (0, state.joint_velocity["spin_joint"], 0), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("mode", ["dynamic", "kinematic"])
def test_circling_costs_v_squared_over_r(mode):
    """Between the wheels of a carriage with its mass there: v^2 / R = v yaw_rate to the left;
    and at a distance d ahead -yaw_rate^2 d more."""
    vehicle = shipped("carriage")
    speed, turn = 0.8, 2.0
    simulator = Simulator(vehicle, mode=mode, dt=STEP)
    simulator.reset(xi={"forward_speed": speed, "yaw_rate": turn})
    simulator.run(0.3)
    state = simulator.state
    if mode == "dynamic":
        speed, turn = state.xi["forward_speed"], state.xi["yaw_rate"]
    left = state.accelerometer()[1]
    assert left == pytest.approx(speed * turn, rel=1e-9)
    assert state.gyro() == pytest.approx((0, 0, turn), rel=1e-9, abs=1e-12)
    if mode == "kinematic":
        assert state.accelerometer() == pytest.approx((0, speed * turn, G), rel=1e-9, abs=1e-9)


def test_kinematic_runs_too():
    """Constant speeds commanded on a car: the steering turns, and every link is accelerated by
    it."""
    vehicle = shipped("ackermann_car")
    wanted = nhmech.JointVelocity({"front_left_steering_joint": -0.5, "rear_left_wheel_joint": 6.0})
    simulator = Simulator(vehicle, lambda t, state: wanted, mode="kinematic", dt=STEP)
    simulator.reset(joints={"front_left_steering_joint": 0.3})
    state, q, k = passing(simulator)
    for link in links(vehicle):
        gyro, force = differentiated(vehicle, q, link, k)
        assert state.gyro(link) == pytest.approx(gyro, rel=1e-7, abs=1e-7)
        assert state.accelerometer(link) == pytest.approx(force, rel=1e-6, abs=1e-6)


def test_sensors_go_on_where_the_equations_change():
    """A tricycle described by its forward speed, which says nothing at 90 degrees of steer:
    other equations take over, the sensors with them."""
    vehicle = shipped("tricycle", speeds=("steering_joint", "forward_speed"))
    simulator = Simulator(vehicle, lambda t, state: np.zeros(len(vehicle.driven)), dt=STEP)
    simulator.reset(joints={"steering_joint": 1.25},
                    xi={"front_wheel_joint": 2.0, "steering_joint": 3.0})
    simulator.run(0.09)
    assert len(simulator.atlas.charts) > 1, "the run was to change its equations"
    state, q, k = passing(simulator, 0.01)
    gyro, force = differentiated(vehicle, q, "base_link", k)
    assert state.gyro("base_link") == pytest.approx(gyro, rel=1e-8, abs=1e-8)
    assert state.accelerometer("base_link") == pytest.approx(force, rel=1e-7, abs=1e-7)
    # at a record the equations are chosen anew
    simulator.reset(joints={"steering_joint": 1.25},
                    xi={"front_wheel_joint": 2.0, "steering_joint": 3.0})
    run = simulator.run(0.2)
    hardest = int(np.abs(run.q[:, run.names["q"].index("steering_joint")] - np.pi / 2).argmin())
    around = run.q[hardest - 4 * STRIDE:hardest + 4 * STRIDE + 1]
    gyro, force = differentiated(vehicle, around, "base_link", 4 * STRIDE)
    found = imu_along(run, "base_link", [hardest])
    assert found.gyro[0] == pytest.approx(gyro, rel=1e-8, abs=1e-8)
    assert found.accelerometer[0] == pytest.approx(force, rel=1e-7, abs=1e-7)


def test_encoders():
    """Rolling and driven joints, by name; angles go on counting: the integral of the rate, that of
    a car that nothing slows down."""
    simulator = Simulator(shipped("ackermann_car").with_parameters(
        {f"{name}.damping": 0.0 for name in shipped("ackermann_car").description.rolling}), dt=1e-2)
    simulator.reset(xi={"rear_left_wheel_joint": 20.0, "front_left_steering_joint": 0.0})
    simulator.run(2.0)
    state = simulator.state
    encoder = state.encoder
    assert set(encoder.angle) == {*shipped("ackermann_car").description.rolling,
                                  *shipped("ackermann_car").driven}
    assert (
        encoder.angle["rear_left_wheel_joint"]
        == state.angles["rear_left_wheel_joint"]
        == pytest.approx(40.0, rel=1e-12)
    )
    assert encoder.rate["rear_left_wheel_joint"] == pytest.approx(20.0, rel=1e-12)
    assert (
        encoder.angle["front_left_steering_joint"]
        == state.joint_position["front_left_steering_joint"]
    )
    caster = Simulator(shipped("trailers")).reset()
    assert "hitch_1_joint" in caster.joint_position
    assert "hitch_1_joint" not in caster.encoder.angle, "a hitch has no encoder"


@pytest.mark.parametrize("states", [None, [0, 3, -1]])
def test_wheels_that_slide_brake_as_their_speeds_say(states):
    """Straight ahead with wheels that do not turn yet: the specific force is the slope of the
    speed, from one side at the first record and the last."""
    simulator = Simulator(shipped("differential_drive"), contact="coulomb", mu=0.5, dt=STEP)
    simulator.reset(v={"forward_speed": 1.0})
    run = simulator.run(0.01)
    found = imu_along(run, "base_link", None if states is None else [
        k % len(run) for k in states]).accelerometer
    braking = (run.v[-1, 0] - run.v[0, 0]) / run.t[-1]
    assert not run.rolled.any() and braking < -0.5
    np.testing.assert_allclose(found, [[braking, 0, G]] * len(found), rtol=0, atol=1e-6)
    assert len(found) == (len(run) if states is None else 3)
    # in the loop the slope is that of the forces there
    np.testing.assert_allclose(simulator.state.accelerometer(), [braking, 0, G], rtol=0, atol=1e-6)
    assert simulator.state.contacts is not None
    assert Simulator(shipped("differential_drive")).state.contacts is None
    alone = imu_along(simulator.run(0.0))
    np.testing.assert_allclose(alone.accelerometer, [[0, 0, G]], rtol=0, atol=1e-6)


def test_a_link_that_is_not_there_is_named_with_those_that_are():
    state = Simulator(shipped("differential_drive")).reset()
    for sensor in (state.gyro, state.accelerometer):
        for name in ("imu_link", "left_wheel_joint", "universe", 3):
            with pytest.raises(InputError,
                               match=f"^no link {name!r} for a sensor; there are base_link, "
                                     "caster_link, left_wheel, right_wheel$"):
                sensor(name)


def test_a_system_without_links_says_so():
    from nhmech.systems import load_system

    example = load_system("vertical_disk")
    simulator = Simulator(example.constrained)
    state = simulator.reset(q=np.asarray(example.start["q"], dtype=float))
    with pytest.raises(SimulationError, match="only a vehicle has links"):
        state.gyro()
    assert len(state.encoder.angle) == 0


def test_what_is_not_asked_costs_nothing():
    """No sensor is worked out in a run that asks for none; one that asks works each out once."""
    simulator = Simulator(shipped("differential_drive"), lambda t, state: None, dt=1e-2)
    simulator.reset()
    simulator.run(0.1)
    sensors = simulator.state.layout.sensors
    assert not sensors._gyros and not sensors._accelerometers
    simulator.state.gyro()
    made = sensors._gyros["base_link"]
    simulator.run(0.1)
    simulator.state.gyro("base_link")
    assert sensors._gyros == {"base_link": made}


def test_nothing_is_felt_in_a_fall():
    """At its first and last record too, whose rates are those from one side."""
    simulator = Simulator(shipped("differential_drive"), contact="coulomb", mu=0.6, dt=STEP)
    simulator.reset(drop=0.05)
    found = imu_along(simulator.run(0.05))
    assert len(found.accelerometer) > 20
    np.testing.assert_allclose(found.accelerometer, 0.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.gyro, 0.0, rtol=0, atol=1e-9)
