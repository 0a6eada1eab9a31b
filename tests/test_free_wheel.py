"""A wheel that rolls freely pushes nothing: the contact point migrates along the rim and leaves the
hub alone.

A model that pins the material point which touches now would give the hub of a wheel that spins
at omega an acceleration -r omega^2.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support import VARIED, joint, link, random_states, robot, shipped, velocity

import nhmech

RADIUS, OMEGA = 0.25, 10.0
CASTERS = [nhmech.Wheel(None, "caster_ball", 0.05, link=name,
                        point=(0, 0, 0)) for name in ("left_ball", "right_ball")]
BASE = [link("base", 7.0, (0.3, 0.4, 0.5), com=(0.12, 0.0, 0.1)), '<link name="left_ball"/>',
        '<link name="right_ball"/>',
        joint("left_ball_mount", "base", "left_ball", xyz=(0.4, 0.3, -0.2), kind="fixed"),
        joint("right_ball_mount", "base", "right_ball", xyz=(0.4, -0.3, -0.2), kind="fixed")]
BARROW = robot(*BASE, link("wheel", 1.5, (0.02, 0.04, 0.02)), joint("wheel_joint", "base", "wheel"))


def barrow(ground: nhmech.Ground = nhmech.Ground(), kind: str = "disc", **more):
    """One wheel below the base's origin and two balls in front; nothing drives it."""
    return nhmech.load(
        BARROW,
        wheels=[nhmech.Wheel("wheel_joint", kind, RADIUS, driven=False, **more), *CASTERS],
        ground=ground,
    )


def accelerations(vehicle, q, v, xi) -> tuple[np.ndarray, np.ndarray]:
    """dv/dt (nv,), and the accelerations of all wheel centres in W from Pinocchio, (k, 3)
    [m/s^2]."""
    u = np.zeros(vehicle.constrained.system.u.numel())
    dv = vehicle.equations.acceleration(0, q, xi, u, vehicle.theta).full().ravel()
    data = vehicle.model.createData()
    pin.forwardKinematics(vehicle.model, data, q, v, dv)
    hubs = []
    for contact in vehicle.contacts:
        body = contact.mount.body
        R, omega, alpha = data.oMi[body].rotation, data.v[body].angular, data.a[body].angular
        origin = data.a[body].linear + np.cross(omega, data.v[body].linear)
        arm = contact.mount.centre
        hubs.append(R @ (origin + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))))
    return dv, np.array(hubs)


def released(vehicle, xi, pose=(0.3, -0.2, 0.6)):
    """State at the given speeds."""
    return nhmech.Simulator(vehicle).reset(pose, xi=xi)


@pytest.mark.parametrize("kind, more",
                         [("disc", {}), ("torus", {"crown": 0.04}), ("omni", {}), ("sphere", {})])
def test_the_hub_of_a_wheel_that_rolls_straight_has_no_acceleration(kind, more):
    vehicle = barrow(kind=kind, **more)
    state = released(vehicle, {"wheel_joint": OMEGA, "yaw_rate": 0.0,
                               **({"lateral_speed": 0.0} if kind == "omni" else {})})
    assert state.xi["forward_speed"] == pytest.approx(RADIUS * OMEGA, rel=1e-14)
    dv, hubs = accelerations(vehicle, state.q, state.v, np.array(state.xi))
    assert np.abs(hubs).max() <= 1e-12 and np.abs(dv).max() <= 1e-12


@pytest.mark.parametrize("kind", ["disc", "omni", "sphere"])
def test_a_wheel_that_spins_on_a_moving_belt_leaves_its_hub_at_rest(kind):
    """The belt runs backwards under a vehicle that stands still: the wheel spins above its
    contact."""
    yaw = 0.6
    belt = -RADIUS * OMEGA * np.array([np.cos(yaw), np.sin(yaw), 0.0])
    vehicle = barrow(nhmech.Ground(velocity=belt), kind)
    state = released(vehicle, {"wheel_joint": OMEGA, "yaw_rate": 0.0, "forward_speed": 0.0,
                               "lateral_speed": 0.0},
                     (0.3, -0.2, yaw))
    assert np.abs(np.delete(state.v, 6)).max() <= 1e-14 and state.v[6] == pytest.approx(
        OMEGA, rel=1e-14
    )
    dv, hubs = accelerations(vehicle, state.q, state.v, np.array(state.xi))
    assert np.abs(hubs).max() <= 1e-12 and np.abs(dv).max() <= 1e-12
    simulator = nhmech.Simulator(vehicle, dt=1e-2)
    simulator.reset((0.3, -0.2, yaw), xi=dict(zip(vehicle.algebroid.v_names, state.v)))
    run = simulator.run(5.0)
    np.testing.assert_allclose(run.q[:, :7], np.broadcast_to(run.q[0, :7], (len(run.t), 7)), rtol=0,
                               atol=1e-12)
    np.testing.assert_allclose(run.angles[:, 0], OMEGA * run.t, rtol=0, atol=1e-12 * 50)


def test_a_frictionless_ball_spins_on_its_axle_without_moving_the_vehicle():
    text = robot(*BASE, link("ball", 1.5, (0.03, 0.03, 0.03)),
                 joint("ball_joint", "base", "ball", axis=(0.3, 1, 0)))
    vehicle = nhmech.load(text,
                          wheels=[nhmech.Wheel("ball_joint", "caster_ball", RADIUS), *CASTERS])
    slow, fast = ({"ball_joint": rate, "forward_speed": 0.0, "lateral_speed": 0.0, "yaw_rate": 0.0}
                  for rate in (0.0, 40.0))
    for xi in (slow, fast):
        state = released(vehicle, xi)
        dv, hubs = accelerations(vehicle, state.q, state.v, np.array(state.xi))
        assert np.abs(hubs).max() <= 1e-12 and np.abs(dv).max() <= 1e-12
        assert state.v[6] == xi["ball_joint"]


@pytest.mark.parametrize("name", VARIED)
def test_every_shipped_robot_coasts_straight_at_constant_speed(name):
    vehicle = shipped(name)
    straight = {"forward_speed": 1.0, "lateral_speed": 0.0, "roll_rate": 0.0, "pitch_rate": 0.0,
                "yaw_rate": 0.0}
    if name == "ball":
        straight |= {"pitch_rate": 1.0 / vehicle.parameters["ball.radius"]}
    straight |= {joint: 0.0 for joint in vehicle.description.steering}
    state = nhmech.Simulator(vehicle).reset((0.3, -0.2, 0.0 if name == "ball" else 0.6),
                                            xi=straight)
    spins = [abs(state.v[c.mount.spin]) for c in vehicle.contacts if c.mount.spin is not None]
    assert not spins or max(spins) > 1
    dv, hubs = accelerations(vehicle, state.q, state.v, state.v[list(vehicle.frame.speeds)])
    assert np.abs(hubs).max() <= 1e-12


@pytest.mark.parametrize("rate", [4.0, -11.0])
def test_wheels_of_a_platform_that_turns_on_the_spot_have_centripetal_acceleration_only(
    vehicle, rate
):
    omni = vehicle("omni")
    state = nhmech.Simulator(omni).reset(xi={name: rate for name in omni.description.rolling})
    turn = state.xi["yaw_rate"]
    assert abs(turn) == pytest.approx(0.06 * abs(rate) / 0.17, rel=1e-12)
    _, hubs = accelerations(omni, state.q, state.v, np.array(state.xi))
    p_WC = omni.contact_points(state.q) + (0, 0, 0.06)
    np.testing.assert_allclose(hubs, -turn ** 2 * p_WC * (1, 1, 0), rtol=0, atol=1e-12 * turn ** 2)


@pytest.mark.parametrize("name", VARIED)
def test_gamma_is_the_rate_of_all_rows_along_the_motion(name):
    """gamma = (dA/dt) v + db/dt by central differences of A(q(t)) v with v held,
    the migration of the contacts included."""
    h = 1e-5
    for vehicle, q, xi, _ in random_states(shipped(name), 4, seed=11):
        v = velocity(vehicle, 0.0, q, xi)
        rows = [vehicle.constraint_error(0.0, pin.integrate(vehicle.model, q, s * h * v),
                                         v)[0] for s in (1, -1)]
        gamma = vehicle.functions.gamma(0, q, v, vehicle.theta).full().ravel()
        scale = max(1.0, float(np.abs(gamma).max()))
        np.testing.assert_allclose(gamma, (rows[0] - rows[1]) / (2 * h), rtol=0, atol=1e-7 * scale)


def test_a_spinning_wheel_has_no_gamma_where_a_pinned_point_would_have_r_omega_squared():
    vehicle = barrow()
    state = released(vehicle, {"wheel_joint": OMEGA, "yaw_rate": 0.0})
    gamma = dict(zip(vehicle.constrained.distribution.names,
                     vehicle.functions.gamma(0, state.q, state.v, vehicle.theta).full().ravel()))
    assert abs(gamma["wheel_joint/normal"]) <= 1e-12
    data = vehicle.model.createData()
    pin.forwardKinematics(vehicle.model, data, state.q, state.v, np.zeros(vehicle.model.nv))
    wheel = vehicle.model.getJointId("wheel_joint")
    down = data.oMi[wheel].rotation.T @ [0, 0, -RADIUS]
    omega = data.v[wheel].angular
    # of the point that touches now
    pinned = data.a[wheel].linear + np.cross(omega, data.v[wheel].linear + np.cross(omega, down))
    assert (data.oMi[wheel].rotation @ pinned)[2] == pytest.approx(RADIUS * OMEGA ** 2, rel=1e-12)
