"""A tractor with two trailers against the kinematics of hitches.

Speed u of the middle of an axle along its heading, turning rate w of its body.
The next body is hitched h behind that axle, at an angle beta (its heading less that of the body in
front), its own axle l behind the hitch:

    u' = u cos(beta) - h w sin(beta),    w' = -(u sin(beta) + h w cos(beta)) / l,    d(beta)/dt = w'
                                         - w
"""

from __future__ import annotations

import numpy as np
import pytest
from runs import angle, attitude, rate, residuals, rotation, yaw
from scipy.integrate import solve_ivp
from support import random_states, shipped, velocity

import nhmech

RADIUS, HALF_TRACK, WHEELBASE, KINGPIN, HALF_FRONT = 0.2, 0.46, 1.1, 0.42, 0.46
# joint, body, h, l [m]
CHAIN = [("hitch_1_joint", "trailer_1", 0.0, 1.4), ("hitch_2_joint", "trailer_2", 0.35, 1.2)]
STEER, DRIVEN = "front_left_steering_joint", "rear_left_wheel_joint"


def towed(u: float, w: float, beta: float, h: float, l: float) -> tuple[float, float]:
    return u * np.cos(beta) - h * w * np.sin(beta), -(u * np.sin(beta) + h * w * np.cos(beta)) / l


def curvature(steer: float) -> float:
    """Of the path of the rear axle's middle, from the angle of the left wheel [1/m]."""
    return np.tan(steer) / (WHEELBASE + KINGPIN * np.tan(steer))


def check(vehicle, q: np.ndarray, v: np.ndarray, tolerance: float) -> None:
    by, at = dict(zip(vehicle.algebroid.v_names, v)), vehicle.joint_positions(q)

    def wheels(prefix: str, u: float, w: float) -> None:
        for side, sign in (("left", 1), ("right", -1)):
            rate = (u - sign * HALF_TRACK * w) / RADIUS
            assert by[f"{prefix}_{side}_wheel_joint"] == pytest.approx(rate, abs=tolerance / RADIUS)

    u, w = by["forward_speed"], by["yaw_rate"]
    assert max(abs(by[name]) for name in ("lateral_speed", "vertical_speed", "roll_rate",
                                          "pitch_rate")) < tolerance
    wheels("rear", u, w)
    assert w == pytest.approx(u * curvature(at[STEER]), abs=tolerance)
    for side, sign in (("left", 1), ("right", -1)):
        steer = at[f"front_{side}_steering_joint"]
        across = KINGPIN * sign
        # the wheel's centre is HALF_FRONT - KINGPIN outside its kingpin, along the axle that turns
        # with the steering
        along = u * np.cos(steer) - w * (across * np.cos(steer) - WHEELBASE * np.sin(steer)
                                         + sign * (HALF_FRONT - KINGPIN))
        along -= sign * (HALF_FRONT - KINGPIN) * by[f"front_{side}_steering_joint"]
        assert by[f"front_{side}_wheel_joint"] == pytest.approx(along / RADIUS,
                                                                abs=tolerance / RADIUS)
        assert (u - w * across) * np.sin(steer) - w * WHEELBASE * np.cos(steer) == pytest.approx(
            0, abs=tolerance
        )
    for joint, body, h, l in CHAIN:
        beta = at[joint]
        u, w, before = *towed(u, w, beta, h, l), w
        assert by[joint] == pytest.approx(w - before, abs=tolerance)
        wheels(body, u, w)


def test_velocities_at_random_states():
    for vehicle, q, xi, _ in random_states(shipped("trailers"), 12, seed=31):
        v = velocity(vehicle, 0.0, q, xi)
        check(vehicle, q, v, 1e-12 * max(1.0, np.abs(v).max() * RADIUS))
        slip, height = vehicle.constraint_error(0.0, q, v)
        assert np.abs(slip).max() <= 1e-12 * np.linalg.norm(v) and np.abs(height).max() <= 1e-12


def reference(start, steering, rear: float, times: np.ndarray) -> np.ndarray:
    """x, y, heading and both hitch angles, (5, N); `rear` is the rate of the left rear wheel."""
    def slope(t, s):
        bend = curvature(steering(t))
        u = rear * RADIUS / (1 - HALF_TRACK * bend)
        w = u * bend
        rates = [u * np.cos(s[2]), u * np.sin(s[2]), w]
        for beta, (_, _, h, l) in zip(s[3:], CHAIN):
            u, w, before = *towed(u, w, beta, h, l), w
            rates.append(w - before)
        return rates

    return solve_ivp(slope, (0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-12,
                     atol=1e-13).y


@pytest.mark.parametrize("rear, hitches", [(6.0, (0.3, -0.2)), (-2.5, (0.02, -0.01))])
def test_kinematic_run_forwards_and_in_reverse(vehicle, rear, hitches):
    """In reverse the chain jackknifes: the run follows the same equations there."""
    tractor = vehicle("trailers")
    swing = 0.12
    simulator = nhmech.Simulator(tractor, lambda t,
                                 state: nhmech.JointVelocity({DRIVEN: rear, STEER: swing}),
                                 dt=5e-3, mode="kinematic")
    simulator.reset((0.5, -0.2, 0.4),
                    {STEER: -0.25, **dict(zip(("hitch_1_joint", "hitch_2_joint"), hitches))},
                    {DRIVEN: rear, STEER: swing})
    run = simulator.run(4.0, every=10)
    wanted = reference([0.5, -0.2, 0.4, *hitches], lambda t: -0.25 + swing * t, rear, run.t)
    steer = run.q[:, tractor.algebroid.q_names.index(STEER)]
    np.testing.assert_allclose(steer, -0.25 + swing * run.t, rtol=0, atol=1e-11)
    found = np.array([run.q[:, 0], run.q[:, 1], yaw(run), angle(run, "hitch_1_joint"),
                      angle(run, "hitch_2_joint")])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)
    slip, height = residuals(tractor, run)
    assert slip.max() <= 1e-12 and height.max() <= 1e-12


def test_dynamic_run_keeps_to_the_kinematics(vehicle):
    """Driven by torques: the velocities of every moment obey the hitches, and headings are those of
    the bodies."""
    tractor = vehicle("trailers")

    def controller(t, state):
        return [nhmech.JointTorque({DRIVEN: 60.0, "rear_right_wheel_joint": 40.0}),
                nhmech.JointVelocity({STEER: 0.5 * np.cos(1.5 * t)})]

    simulator = nhmech.Simulator(tractor, controller, dt=5e-3)
    simulator.reset((0, 0, 0.2), {"hitch_1_joint": 0.2, "hitch_2_joint": -0.4},
                    {DRIVEN: 4.0, STEER: 0.0})
    run = simulator.run(5.0, every=20)
    for q, v in zip(run.q, run.v):
        check(tractor, q, v, 1e-11)
        assert attitude(q)[1:] == pytest.approx((0, 0), abs=1e-12) and q[2] == pytest.approx(
            RADIUS, abs=1e-12
        )
    slip, height = residuals(tractor, run)
    assert slip[1:].max() <= 1e-12 and height.max() <= 1e-12
    assert np.ptp(angle(run, "hitch_2_joint")) > 0.2 and rate(run, "forward_speed").min() > 0.5
    points = tractor.contact_points(run.q[-1])
    names = tractor.contact_names
    heading = yaw(run)[-1]
    for joint, body, _, _ in CHAIN:
        heading += angle(run, joint)[-1]
        across = (
            points[names.index(f"{body}_left_wheel_joint")]
            - points[names.index(f"{body}_right_wheel_joint")]
        )
        np.testing.assert_allclose(
            across,
            2 * HALF_TRACK * np.array([-np.sin(heading), np.cos(heading), 0]),
            rtol=0,
            atol=1e-11,
        )
    assert rotation(run.q[-1])[2, 2] == pytest.approx(1, abs=1e-14)
