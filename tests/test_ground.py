"""Grounds that tilt, move and turn."""

from __future__ import annotations

from itertools import product
from math import cos, pi, sin

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from runs import angle, moment, rate, residuals, rotation, yaw
from support import VARIED, random_states, sampled, shipped, velocity

import nhmech
from nhmech.vehicle.model import body_names
from nhmech.vehicle.parameters import gravity_vector
from nhmech.vehicle.reactions import reactions, solve_saddle

GRAVITY = 9.81
SLOPE = nhmech.Ground(normal=(0.2, -0.15, 1.0), point=(0.4, -0.3, 0.25))
LEFT, RIGHT = "left_wheel_joint", "right_wheel_joint"


def axes(ground: nhmech.Ground) -> np.ndarray:
    """R from the frame (t1, t2, n) of the plane to W."""
    return np.column_stack([*ground.tangents, ground.normal])


# -- the plane -------------------------------------------------------------------------------------
@pytest.mark.parametrize("x, seed", [(0.0, (1, 0, 0)), (0.899, (1, 0, 0)), (0.901, (0, -1, 0)),
                                     (-0.901, (0, -1, 0)), (1.0, (0, -1, 0))])
def test_tangents_are_a_right_handed_frame_with_the_normal(x, seed):
    """The first is the x axis laid on the plane, or where that is nearly upright, -y."""
    n = np.array([x, 0.3 * np.sqrt(1 - x * x), np.sqrt(0.91 * (1 - x * x))])
    ground = nhmech.Ground(normal=tuple(3.7 * n))
    np.testing.assert_allclose(ground.normal, n, rtol=1e-12)
    t1, t2 = ground.tangents
    np.testing.assert_allclose(np.linalg.det([t1, t2, n]), 1.0, rtol=1e-12)
    laid = np.array(seed) - n * (n @ seed)
    np.testing.assert_allclose(t1, laid / np.linalg.norm(laid), rtol=0, atol=1e-12)


@pytest.mark.parametrize("fields, is_ground", [
    ({"normal": (0, 0, 1.01e-12)}, True), ({"normal": (0, 0, 0.99e-12)}, False),
    ({"angular_velocity": (0, 0.99e-12, 1)}, True),
    ({"angular_velocity": (1.01e-12, 0, 1)}, False)])
def test_planes_up_to_rounding(fields, is_ground):
    if is_ground:
        nhmech.Ground(**fields)
        return
    with pytest.raises(nhmech.InputError, match="ground: "):
        nhmech.Ground(**fields)


@pytest.mark.parametrize("slope, is_degrees", [
    (pi / 2, False), (-pi / 2, False), (2.0, True), (-5.0, True), (3.5, True), (3.25, False),
    (89.5, True), (90.0, False), (-90.0, False)])
def test_slopes_steeper_than_a_wall_may_have_been_degrees(slope, is_degrees):
    with pytest.raises(nhmech.InputError, match=r"between -pi/2 and pi/2: steeper") as caught:
        nhmech.Ground.inclined(slope)
    assert (caught.value.remedy is not None) == is_degrees
    assert not is_degrees or f"radians({slope:.6g})" in caught.value.remedy.python


def test_a_slope_rises_in_its_direction():
    ground = nhmech.Ground.inclined(0.3, 0.7)
    uphill = np.array([cos(0.7), sin(0.7), np.tan(0.3)])
    assert np.dot(ground.normal, uphill) == pytest.approx(0, abs=1e-15)
    assert np.linalg.norm(ground.normal) == pytest.approx(1, rel=1e-13, abs=0)
    # gravity that leans is that of the slope, in its frame
    g = np.array(ca.evalf(gravity_vector({"slope": 0.3, "slope_direction": 0.7, "gravity": 9.0})))
    np.testing.assert_allclose(g.ravel(), -9 * np.array([sin(0.3) * cos(0.7), sin(0.3) * sin(0.7),
                                                         cos(0.3)]), rtol=1e-12)


# -- turntables ------------------------------------------------------------------------------------
# moment of inertia [kg m^2]: solid, thin shell
BALLS = {"ball_turntable": 0.00072, "ball_turntable_shell": 0.0012}
MASS, RADIUS, TURNING = 0.5, 0.06, 3.0


def ball_on(ground: nhmech.Ground, inertia: float):
    return shipped("ball", ground).with_parameters(
        {f"ball.{entry}": inertia for entry in ("Ixx", "Iyy", "Izz")}
    )


def rolled(vehicle, position, speed, spin: float, duration: float, dt: float = 0.005):
    """Run of a ball from a position and velocity in the plane [m, m/s] and a spin about the normal
    [rad/s]."""
    ground, R = vehicle.ground, axes(vehicle.ground)
    turning = np.array(ground.angular_velocity) @ ground.normal
    surface = turning * np.array([-position[1], position[0]])
    # v + omega x (-r n) is the ground's velocity
    rolling = [(speed[1] - surface[1]) / -RADIUS, (speed[0] - surface[0]) / RADIUS]
    T_WB = pin.SE3(R, np.array(ground.point) + R @ [*position, RADIUS])
    simulator = nhmech.Simulator(vehicle, dt=dt, integrator="dop853")
    simulator.reset(T_WB, xi=dict(zip(("roll_rate", "pitch_rate", "yaw_rate"), (*rolling, spin))))
    np.testing.assert_allclose(rotation(simulator.state.q) @ simulator.state.v[:3], R @ [*speed, 0],
                               rtol=0, atol=1e-12)
    return simulator.run(duration)


@pytest.mark.parametrize("name", BALLS)
@pytest.mark.parametrize("normal", [(0, 0, 1), (0.04, -0.03, 1.0)])
def test_a_ball_on_a_turntable_runs_the_closed_form(name, normal):
    """v' = alpha Omega n x v + (1 - alpha) g_tangential with alpha = I / (I + m r^2): a circle at
    2/7 (2/5) of the table's rate, that drifts along the contour lines of a tilted table. Neimark
    and Fufaev 1972; Weltner, Am. J. Phys. 47 (1979) 984."""
    inertia = BALLS[name]
    normal = np.array(normal) / np.linalg.norm(normal)
    ground = nhmech.Ground(normal, point=(0.2, -0.1, 0.3), angular_velocity=TURNING * normal)
    vehicle, R = ball_on(ground, inertia), axes(ground)
    start, speed = (0.4, -0.1), (0.3, 0.2)
    run = rolled(vehicle, start, speed, 1.1, 3.0)
    alpha = inertia / (inertia + MASS * RADIUS ** 2)
    turn = alpha * TURNING
    slope = -GRAVITY * (1 - alpha) * complex(*R[2, :2])
    drift = 1j * slope / turn
    free = complex(*speed) - drift
    where = complex(*start) + drift * run.t + free * (np.exp(1j * turn * run.t) - 1) / (1j * turn)
    in_plane = (run.q[:, :3] - ground.point) @ R
    np.testing.assert_allclose(in_plane,
                               np.column_stack([where.real, where.imag,
                                                np.full(len(run.t), RADIUS)]),
                               rtol=0, atol=1e-10)
    spin = [rotation(q) @ v[3:6] @ normal for q, v in zip(run.q, run.v)]
    np.testing.assert_allclose(spin, 1.1, rtol=0,
                               atol=1e-11 * np.linalg.norm(run.v[:, 3:6], axis=1).max())
    slip, height = residuals(vehicle, run)
    assert slip.max() <= 1e-12 and height.max() <= 1e-12


@pytest.mark.parametrize("name", BALLS)
def test_turntables_of_the_reference_cases(case, name):
    reference = case(name)
    p, start, tolerance = (reference["parameters"], reference["initial_state"],
                           reference["tolerance"])
    assert (p["m"], p["r"], p["Omega"], p["I"]) == (MASS, RADIUS, TURNING, BALLS[name])
    vehicle = ball_on(nhmech.Ground(angular_velocity=(0, 0, TURNING)), p["I"])
    run = rolled(vehicle, (start["x"], start["y"]), (start["vx"], start["vy"]), start["omega"][2],
                 5.0)
    for sample in reference["expected"]["samples"]:
        i = moment(run, sample["t"])
        q, v, R = run.q[i], run.v[i], rotation(run.q[i])
        linear, omega = R @ v[:3], R @ v[3:6]
        found = [*q[:2], *linear[:2], *omega, *R.ravel()]
        wanted = [sample["x"], sample["y"], sample["vx"], sample["vy"], *sample["omega"],
                  *np.ravel(sample["rotation"])]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance["state"],
                                   err_msg=f"t = {sample['t']}")
        force = reactions(vehicle, run.t[i], q, v, run.u[i]).world["ball"]
        np.testing.assert_allclose(force, sample["contact_force"], rtol=0, atol=tolerance["force"])
        kinetic = run.energy[i] - MASS * GRAVITY * RADIUS
        momentum = MASS * (q[0] * linear[1] - q[1] * linear[0]) + p["I"] * omega[2]
        assert kinetic == pytest.approx(sample["kinetic_energy"], abs=tolerance["state"])
        assert kinetic - TURNING * momentum == pytest.approx(sample["moving_energy"],
                                                             abs=tolerance["state"])


# -- power -----------------------------------------------------------------------------------------
GROUNDS = {
    "belt": nhmech.Ground(velocity=(0.7, -0.4, 0.0)),
    "lift": nhmech.Ground(velocity=(0.0, 0.0, 0.6)),
    "turntable": nhmech.Ground(point=(0.2, 0.1, 0.0), angular_velocity=(0, 0, 1.3)),
    "tilted, moving and turning": nhmech.Ground(SLOPE.normal, SLOPE.point, (0.3, 0.5, 0.4),
                                                tuple(1.1 * np.array(SLOPE.normal))),
}


@pytest.mark.parametrize("name, ground", sampled(product(
    ["ackermann_car", "ball", "bicycle", "differential_drive", "disc", "mecanum", "pendulum",
     "sled", "tricycle"], GROUNDS), 12))
def test_power_is_that_of_the_efforts_less_that_of_the_moving_ground(name, ground):
    """dE/dt = tau . v - lambda . b, at random states."""
    for vehicle, q, xi, u in random_states(shipped(name, GROUNDS[ground]), 3, seed=21):
        s = vehicle.constrained.system
        q_rate, _ = vehicle.equations.drift(0, q, xi, u, [])
        v = velocity(vehicle, 0.0, q, xi)
        dv = vehicle.equations.acceleration(0, q, xi, u, [])
        change = ca.Function(
            "change",
            [s.t, s.q, s.v, s.a],
            [
                ca.jtimes(s.energy, s.t, 1)
                + ca.jtimes(s.energy, s.q, s.q_rate)
                + ca.dot(ca.gradient(s.energy, s.v), s.a)
            ],
        )
        tau = vehicle.functions.force(0, q, v, u, []).full().ravel()
        b = vehicle.functions.constraints(0, q, [])[1].full().ravel()[list(vehicle.frame.kept)]
        lam = vehicle.equations.multipliers(0, q, xi, u, []).full().ravel()
        np.testing.assert_allclose(lam, solve_saddle(vehicle, 0.0, q, v, u).lam, rtol=0,
                                   atol=1e-10 * np.abs(lam).max())
        scale = (
            np.abs(tau) @ np.abs(v) + np.abs(lam) @ np.abs(b) + GRAVITY * np.abs(dv.full()).max()
        )
        assert np.abs(b).max() > 0.1
        assert float(change(0, q, v, dv)) == pytest.approx(tau @ v - lam @ b,
                                                           abs=1e-10 * max(1.0, scale))


# -- a moving ground is a moving observer ----------------------------------------------------------
@pytest.mark.parametrize("belt", [(0.7, -0.4, 0.0), (0.3, 0.2, -0.5)])
def test_a_drive_on_a_belt_is_the_drive_on_the_floor_seen_by_somebody_who_moves(vehicle, belt):
    runs = []
    for ground in (nhmech.Ground(), nhmech.Ground(velocity=belt)):
        simulator = nhmech.Simulator(
            vehicle("differential_drive", ground),
            lambda t, state: nhmech.JointTorque({LEFT: 0.05, RIGHT: 0.08 * np.cos(t)}),
            dt=2e-3,
        )
        simulator.reset((0.1, 0.2, 0.3), xi={LEFT: 2.0, RIGHT: 5.0})
        runs.append(simulator.run(5.0, every=10))
    floor, moved = runs
    np.testing.assert_allclose(moved.q[:, :3], floor.q[:, :3] + np.outer(floor.t, belt), rtol=0,
                               atol=1e-11)
    np.testing.assert_allclose(yaw(moved), yaw(floor), rtol=0, atol=1e-11)
    np.testing.assert_allclose(moved.angles, floor.angles, rtol=0, atol=1e-10)
    slip, height = residuals(vehicle("differential_drive", nhmech.Ground(velocity=belt)), moved)
    assert slip.max() <= 1e-12 and height.max() <= 1e-12


# -- tilted grounds --------------------------------------------------------------------------------
def gravity_as_wrenches(vehicle, q: np.ndarray, g_W: np.ndarray) -> np.ndarray:
    """Inputs of `vehicle.with_wrench(all links)` that pull each body with m g_W at its centre of
    mass."""
    data = vehicle.model.createData()
    pin.forwardKinematics(vehicle.model, data, q)
    parts = []
    for i in range(1, vehicle.model.njoints):
        inertia = vehicle.model.inertias[i]
        force = inertia.mass * g_W
        parts += [force, np.cross(data.oMi[i].rotation @ inertia.lever, force)]
    return np.concatenate(parts)


@pytest.mark.parametrize("name", VARIED)
def test_a_tilted_ground_is_a_level_ground_with_gravity_turned(name):
    """The whole scene is turned: the vehicle on the level ground feels the normal part of gravity
    as its own and the rest as forces."""
    tilted = shipped(name, SLOPE)
    n = np.array(SLOPE.normal)
    R = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), n).toRotationMatrix()
    down = R.T @ [0, 0, -GRAVITY]
    level = shipped(name).with_parameters(gravity=-down[2])
    bodies = body_names(level.model)[1:]
    level = level.with_wrench(*bodies)
    for serving, q, xi, u in random_states(level, 3, seed=8):
        u = np.r_[u[:len(level.driven)], gravity_as_wrenches(serving, q, down * (1, 1, 0))]
        turned = q.copy()
        turned[:3] = SLOPE.point + R @ q[:3]
        turned[3:7] = (pin.Quaternion(R) * pin.Quaternion(q[3:7])).normalized().coeffs()
        other = tilted if tilted.frame.speeds == serving.frame.speeds else tilted.rechoose(turned)
        v = velocity(serving, 0.0, q, xi)
        assert (np.abs(other.constraint_error(0.0, turned, v)[0]).max() < 1e-11
                and np.abs(other.constraint_error(0.0, turned, v)[1]).max() < 1e-12)
        np.testing.assert_allclose(velocity(other, 0.0, turned, v[list(other.frame.speeds)]), v,
                                   rtol=0, atol=1e-11 * max(1, np.abs(v).max()))
        xi, effort = v[list(other.frame.speeds)], u[:len(level.driven)]
        found = other.equations.acceleration(0, turned, xi, effort, []).full().ravel()
        wanted = serving.equations.acceleration(0, q, xi, u, []).full().ravel()
        np.testing.assert_allclose(found, wanted, rtol=0,
                                   atol=1e-10 * max(GRAVITY, np.abs(wanted).max()))
        on_slope, on_floor = reactions(other, 0.0, turned, v,
                                       u[:len(level.driven)]), reactions(serving, 0.0, q, v, u)
        size = max(np.abs(force).max() for force in on_floor.world.values())
        for contact, force in on_floor.world.items():
            np.testing.assert_allclose(on_slope.world[contact], R @ force, rtol=0, atol=1e-8 * size,
                                       err_msg=contact)


@pytest.mark.parametrize("name", VARIED)
def test_a_gravity_that_leans_is_a_slope(name):
    """As numbers and as symbols, against the unconstrained algorithms of Pinocchio: its gravity is
    turned too, and the power of gravity is that of m g at the centre of mass."""
    numbers = {"gravity": 9.1, "slope": 0.2, "slope_direction": 2.5}
    plain = shipped(name).with_parameters(numbers)
    g = -9.1 * np.array(nhmech.Ground.inclined(0.2, 2.5).normal) * (-1, -1, 1)
    np.testing.assert_allclose(plain.model.gravity.linear, g, rtol=1e-14)
    symbols = shipped(name).with_parameters(symbolic=tuple(numbers))
    data = plain.model.createData()
    for serving, q, xi, u in random_states(plain, 3, seed=8):
        v = velocity(serving, 0.0, q, xi)
        M = pin.crba(plain.model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        nle = pin.nonLinearEffects(plain.model, data, q, v)
        dv = serving.equations.acceleration(0, q, xi, u, []).full().ravel()
        tau = serving.functions.force(0.0, q, v, u, serving.theta).full().ravel()
        other = symbols if symbols.frame.speeds == serving.frame.speeds else symbols.rechoose(q)
        again = other.equations.acceleration(0, q, v[list(other.frame.speeds)], u,
                                             list(numbers.values())).full().ravel()
        np.testing.assert_allclose(again, dv, rtol=0, atol=1e-10 * max(9.81, np.abs(dv).max()))
        # what is left of the equations does no work in a motion that rolling allows
        rest = M @ dv + nle - tau
        assert abs(rest @ v) < 1e-9 * (np.abs(nle) @ np.abs(v) + 1)


@pytest.mark.parametrize("name", VARIED)
def test_vertical_projection_of_the_contacts(name):
    """Every contact lies on the plane: below (or above) its own x and y at the height that the
    plane has there."""
    vehicle, rng = shipped(name, SLOPE), np.random.default_rng(2)
    n = np.array(SLOPE.normal)
    for _ in range(3):
        x, y, heading = *rng.uniform(-3, 3, 2), rng.uniform(-3, 3)
        q = vehicle.configuration((x, y, heading))
        points = vehicle.contact_points(q)
        above = SLOPE.point[2] - ((points[:, :2] - SLOPE.point[:2]) @ n[:2]) / n[2]
        offsets = vehicle.support.offsets / n[2]
        np.testing.assert_allclose(points[:, 2], above + offsets, rtol=0, atol=1e-12)
        upright = rotation(q)[:, 2]
        np.testing.assert_allclose(upright, n, rtol=0, atol=1e-12)


def test_rolling_straight_down_a_slope(vehicle):
    """The drive falls at g sin(a) m / (m + 2 I / R^2); seen from above its speed is shorter by
    cos(a), and the wheels carry m g cos(a)."""
    tilt = 0.25
    ground = nhmech.Ground(normal=(np.sin(tilt), 0, np.cos(tilt)), point=(0, 0, 1.0))
    robot = vehicle("differential_drive", ground)
    mass, inertia, radius, v0 = 8.0 + 2 * 0.7, 0.0035, 0.1, 0.4
    along = GRAVITY * np.sin(tilt) * mass / (mass + 2 * inertia / radius ** 2)
    simulator = nhmech.Simulator(robot, dt=1e-2)
    simulator.reset((0.0, 0.3, 0.0), xi={LEFT: v0 / radius, RIGHT: v0 / radius})
    run = simulator.run(3.0)
    travelled = v0 * run.t + along * run.t ** 2 / 2
    np.testing.assert_allclose(run.q[:, :3] - run.q[0, :3],
                               np.outer(travelled, [np.cos(tilt), 0, -np.sin(tilt)]),
                               rtol=0, atol=1e-10)
    np.testing.assert_allclose(angle(run, LEFT), travelled / radius, rtol=0, atol=1e-9)
    assert np.abs(rate(run, "yaw_rate")).max() < 1e-10
    assert np.abs(run.energy - run.energy[0]).max() < 1e-10 * np.abs(run.energy).max()
    for i in (0, 150, 300):
        forces = reactions(robot, run.t[i], run.q[i], run.v[i], run.u[i])
        assert sum(by["normal"] for by in forces.components.values()) == pytest.approx(
            mass * GRAVITY * np.cos(tilt), rel=1e-10)
        total = sum(forces.world.values())
        np.testing.assert_allclose(total, mass * along * np.array([np.cos(tilt), 0, -np.sin(tilt)])
                                   + [0, 0, mass * GRAVITY], rtol=0, atol=1e-9)


@pytest.mark.parametrize("heading", [0.0, 0.8, np.pi / 2, 3.0])
def test_a_vehicle_held_on_a_slope_carries_its_weight_vertically(vehicle, heading):
    """At rest, whatever the heading: all contact forces add up to the weight, straight up."""
    robot = vehicle("differential_drive", SLOPE)
    q = robot.configuration((0.5, 0.1, heading))
    effect = np.column_stack([robot.equations.drift(0, q, [0, 0], u, [])[1].full().ravel()
                              for u in ([0, 0], [1, 0], [0, 1])])
    u = np.linalg.solve(effect[:, 1:] - effect[:, :1], -effect[:, 0])
    assert np.abs(robot.equations.acceleration(0, q, [0, 0], u, []).full()).max() < 1e-11
    forces = reactions(robot, 0.0, q, np.zeros(8), u)
    assert forces.feasible
    np.testing.assert_allclose(sum(forces.world.values()), [0, 0, 9.4 * GRAVITY], rtol=0,
                               atol=1e-10 * 9.4 * GRAVITY)


@pytest.mark.parametrize("fields, words", [
    ({"normal": (0, 0, 0)}, "has no direction"),
    ({"normal": "up"}, "ground: normal = 'up' must be three finite numbers"),
    ({"point": (0, 0)}, "ground: point"),
    ({"velocity": (0, np.nan, 0)}, "ground: velocity"),
    ({"angular_velocity": (0, 1, 0)}, "must be along the normal"),
])
def test_grounds_that_cannot_be(fields, words):
    with pytest.raises(nhmech.errors.InputError, match=words):
        nhmech.Ground(**fields)


@pytest.mark.parametrize("pose, joints, words", [
    ((0, 0, np.nan), {}, "must have finite numbers only"),
    ("here", {}, "must have finite numbers only"),
    ((0, 0), {}, r"shape \(2,\)"),
    (2 * np.eye(4), {}, "no rotation"),
    (None, {"arm": 0.1}, "unknown joint 'arm'; moving joints are left_wheel_joint"),
    (None, {LEFT: "far"}, "joint 'left_wheel_joint' = 'far' must be a finite number"),
])
def test_poses_that_cannot_be(pose, joints, words):
    with pytest.raises(nhmech.errors.InputError, match=words):
        shipped("differential_drive").configuration(pose, joints)


@pytest.mark.parametrize("name, pose, joints, meant", [
    ("differential_drive", (1, 2, 90), {}, "1, 2, 1.5708"),
    ("differential_drive", (0, 0, 0.1, 0, 0, 180), {}, "0, 0, 0.1, 0, 0, 3.14159"),
    ("trailers", None, {"hitch_1_joint": 30}, "{'hitch_1_joint': 0.523599}"),
    ("differential_drive", (0, 0, 7.25), {LEFT: 30.0}, None)])
def test_angles_that_look_like_degrees_are_told_and_taken_as_radians(name, pose, joints, meant,
                                                                     caplog):
    """Wheels may have turned as far, and headings that were counted up may be as large."""
    vehicle = shipped(name)
    q = vehicle.configuration(pose, joints)
    assert [record.message.partition("degrees were meant: ")[2]
            for record in caplog.records] == ([] if meant is None else [meant])
    for joint, position in joints.items():
        assert np.exp(1j * vehicle.joint_positions(q)[joint]) == pytest.approx(
            np.exp(1j * position), abs=1e-12)
    if pose is not None:
        R = pin.Quaternion(q[3:7]).matrix()
        assert R[:2, 0] == pytest.approx([np.cos(pose[-1]), np.sin(pose[-1])], abs=1e-12)
