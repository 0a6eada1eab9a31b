"""Sliding motions against derivations of their own: Newton and Euler in the plane, by hand."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from support import shipped

from nhmech import Ground, Simulator
from nhmech.simulation.contact.motion import to_world
from nhmech.simulation.contact.phases import Phase

G = 9.81
LOCKED = 1e10       # [N m s] of a damper that lets no wheel turn


def planar(vehicle, q):
    """Mass, centre of mass over the base's origin, moment of inertia about the vertical through it,
    and its products sum m x z, sum m y z."""
    data = vehicle.model.createData()
    pin.ccrba(vehicle.model, data, q, np.zeros(vehicle.model.nv))
    return (data.Ig.mass, data.com[0] - [q[0], q[1], 0], data.Ig.inertia[2, 2],
            -data.Ig.inertia[0, 2], -data.Ig.inertia[1, 2])


def integrate(rate, start, duration, **options):
    return solve_ivp(rate, (0.0, duration), start, method="DOP853", rtol=1e-12, atol=1e-13,
                     **options)


def base_yaw(q):
    return 2 * np.arctan2(q[5], q[6])


def test_a_ball_thrown_up_a_slope_slides_rolls_and_comes_back():
    """dv/dt = g_t - mu g_n s/|s| with slip s = v + omega x (-r n), until it rolls with 5/7 g_t;
    the slip turns, for it is thrown across the slope and spins."""
    n = np.array([0.2, -0.1, 1.0]) / np.sqrt(1.05)
    mu, r = 0.12, 0.06
    vehicle = shipped("ball", Ground(normal=tuple(n)))
    down = G * (n[2] * n - [0, 0, 1])

    def slip(y):
        return y[:3] + np.cross(y[3:], -r * n)

    def rate(t, y):
        friction = -mu * G * n[2] * slip(y) / np.linalg.norm(slip(y))
        return np.r_[down + friction, np.cross(-r * n, friction) / (2 / 5 * r ** 2)]

    def stuck(t, y):
        return np.linalg.norm(slip(y)) - 1e-7

    stuck.terminal = True
    v = np.cross(n, [0.3, 1.0, 0.0])
    omega = np.array([16.0, -40.0, 4.0])
    slid = integrate(rate, np.r_[v, omega], 2.0, events=stuck)
    sticks, end = slid.t[-1], 1.5
    assert 0.2 < sticks < 1.0
    expected = slid.y[:3, -1] + 5 / 7 * down * (end - sticks)
    simulator = Simulator(vehicle, dt=1e-3, contact="coulomb", mu=mu)
    start = vehicle.configuration()
    R = pin.XYZQUATToSE3(start[:7]).rotation
    simulator.reset(v=dict(zip(vehicle.algebroid.v_names, np.r_[R.T @ v, R.T @ omega])))
    run = simulator.run(end)
    assert abs(run.phases[0].end - sticks) <= 1e-3 and run.phases[-1].names(Phase.ROLLING)
    assert np.abs(to_world(run.q[-1], run.v[-1])[:3] - expected).max() < 3e-6


def test_a_tricycle_that_brakes_its_front_wheel_in_a_curve():
    """The locked, steered front wheel slides and the rear wheels roll. With the speed v of the rear
    axle's middle, yaw rate r, the front wheel's load N and friction (X, Y), J and R of a rear wheel
    and half their track b::

        (m + 2 J/R^2) dv/dt = m a r^2 + X
        (I + m a^2 + 2 b^2 J/R^2) dr/dt = L Y - m a v r
        L N = m g a - (m h + 2 J/R) dv/dt + (S_xz + m h a) r^2

    where braking and centrifugal forces shift the load.
    """
    steer, mu, v0, end = 0.3, 0.25, 1.2, 0.25
    vehicle = shipped("tricycle").with_parameters(
        dict.fromkeys(("front_wheel_joint.damping", "steering_joint.damping"), LOCKED))
    q = vehicle.configuration(joints={"steering_joint": steer})
    m, com, I, S, _ = planar(vehicle, q)
    points = dict(zip(vehicle.contact_names, vehicle.contact_points(q)))
    L, b = points["front_wheel_joint"][0], points["rear_left_wheel_joint"][1]
    a, h, R = com[0], com[2], 0.12
    J = vehicle.model.inertias[vehicle.model.getJointId("rear_left_wheel_joint")].inertia[1, 1]

    def rate(t, y):
        v, r, yaw = y[:3]
        way = -mu * np.array([v, L * r]) / np.hypot(v, L * r)
        matrix = [[m + 2 * J / R ** 2, 0, -way[0]],
                  [0, I + m * a * a + 2 * b * b * J / R ** 2, -L * way[1]],
                  [m * h + 2 * J / R, 0, L]]
        right = [m * a * r * r, -m * a * v * r, m * G * a + (S + m * h * a) * r * r]
        dv, dr, _ = np.linalg.solve(matrix, right)
        return [dv, dr, r, v * np.cos(yaw), v * np.sin(yaw)]

    r0 = v0 * np.tan(steer) / L
    expected = integrate(rate, [v0, r0, 0, 0, 0], end).y[:, -1]
    assert 0.1 < expected[0] < 0.8 * v0
    friction = {"front_wheel_joint": mu, "rear_left_wheel_joint": 2.0,
                "rear_right_wheel_joint": 2.0}
    errors = []
    for dt in (2e-3, 1e-3):
        simulator = Simulator(vehicle, dt=dt, contact="coulomb", mu=friction)
        simulator.reset(q=q, v={"forward_speed": v0, "yaw_rate": r0,
                                "rear_left_wheel_joint": (v0 - b * r0) / R,
                                "rear_right_wheel_joint": (v0 + b * r0) / R})
        run = simulator.run(end)
        assert all(span.names(Phase.SLIDING) == ("front_wheel_joint",) for span in run.phases)
        found = [run.column("forward_speed")[-1], run.column("yaw_rate")[-1],
                 base_yaw(run.q[-1]), *(run.q[-1, :2] - run.q[0, :2])]
        errors.append(np.abs(found - expected).max())
    assert errors[1] < 1e-6 and errors[0] / errors[1] == pytest.approx(4, abs=0.3)


def test_a_drive_whose_locked_wheels_slide_on_ice_and_asphalt():
    """Different friction on both sides turns it. Loads N of wheels and ball follow from the moments
    about both horizontal axes, of which turning takes some::

        sum y N + h Y = S_yz r^2 - S_xz dr/dt,   -sum x N - h X = -S_yz dr/dt - S_xz r^2
    """
    v0, end = 1.0, 0.15
    friction = {"left_wheel_joint": 0.1, "right_wheel_joint": 0.4}
    vehicle = shipped("differential_drive").with_parameters(
        dict.fromkeys(("left_wheel_joint.damping", "right_wheel_joint.damping"), LOCKED))
    q = vehicle.configuration()
    m, com, I, S_xz, S_yz = planar(vehicle, q)
    h = com[2]
    places = [point[:2] - com[:2] for point in vehicle.contact_points(q)]
    grips = [friction.get(name, 0.0) for name in vehicle.contact_names]

    def rate(t, y):
        v, r, yaw = y[:2], y[2], y[3]             # of the centre of mass, in the body's axes
        ways = []
        for (px, py), mu in zip(places, grips):
            s = v + r * np.array([-py, px])
            ways.append(-mu * s / np.linalg.norm(s))
        turn = [px * way[1] - py * way[0] for (px, py), way in zip(places, ways)]
        rows = [[1.0] * 3,
                [p[1] + h * way[1] + S_xz / I * one for p, way, one in zip(places, ways, turn)],
                [-p[0] - h * way[0] + S_yz / I * one for p, way, one in zip(places, ways, turn)]]
        loads = np.linalg.solve(rows, [m * G, S_yz * r * r, -S_xz * r * r])
        assert loads.min() > 0
        force = sum(load * way for load, way in zip(loads, ways))
        c, s = np.cos(yaw), np.sin(yaw)
        return [*(force / m + r * np.array([v[1], -v[0]])), loads @ turn / I, r,
                c * v[0] - s * v[1], s * v[0] + c * v[1]]

    x, y, yaw = integrate(rate, [v0, 0, 0, 0, 0, 0], end).y[[4, 5, 3], -1]
    turned = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    expected = [*(np.array([x, y]) - turned @ com[:2] + com[:2]), yaw]
    assert abs(yaw) > 0.02
    errors = []
    for dt in (2e-3, 1e-3):
        simulator = Simulator(vehicle, dt=dt, contact="coulomb", mu=friction)
        simulator.reset(v={"forward_speed": v0})
        run = simulator.run(end)
        assert {"left_wheel_joint", "right_wheel_joint"} <= set(run.phases[0].names(Phase.SLIDING))
        errors.append(np.abs(np.r_[run.q[-1, :2] - run.q[0, :2], base_yaw(run.q[-1])]
                             - expected).max())
    assert errors[1] < 1e-6 and errors[0] / errors[1] == pytest.approx(4, abs=0.3)
