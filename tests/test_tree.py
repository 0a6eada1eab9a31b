"""Motion of every body of a joint tree, at any state, against Pinocchio's forward kinematics."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support import joint, link, robot

from nhmech.vehicle.tree import algebroid_of, joint_cos_sin, kinematics, see_from_root

LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
MODEL = pin.buildModelFromXML(robot(
    *(link(name) for name in ("base", "slider", "arm", "wheel", "hand")),
    joint("rail", "base", "slider", (0.1, 0.2, 0.3), (0.2, 0.3, 0.4), (0.6, 0, 0.8), "prismatic",
          LIMIT),
    joint("swing", "slider", "arm", (0.3, 0.1, 0.2), (0.1, -0.2, 0.3), (0, 0.8, 0.6), "revolute",
          LIMIT),
    joint("spin", "arm", "wheel", (0.2, 0.1, -0.3), (0.4, 0.1, 0), (0.6, 0.8, 0)),
    joint("push", "arm", "hand", (0.2, -0.1, 0.3), (0, 0.5, 0.1), (0, 0.6, 0.8), "prismatic",
          LIMIT)), pin.JointModelFreeFlyer())
G, ORIGIN = np.array([0.3, -0.2, -9.0]), np.array([0.5, 0.6, 0.7])


@pytest.mark.parametrize("spinning", [(), ("spin",)])
def test_bodies_move_as_pinocchio_has_them(spinning):
    """In the frame of the body, or in the one that does not spin with it; accelerations are proper
    ones of the origin."""
    space = algebroid_of(MODEL)
    v, a = ca.SX.sym("v", MODEL.nv), ca.SX.sym("a", MODEL.nv)
    view = see_from_root(space, {"g": ca.SX(ca.DM(G))}, ca.SX(ca.DM(ORIGIN)))
    held = [MODEL.getJointId(name) for name in spinning]
    point = np.array([0.4, -0.5, 0.6])
    bodies = kinematics(MODEL, space, v, a, view, held)
    found = ca.Function("motions", [space.q, v, a], [ca.horzcat(
        body.omega, body.v, body.alpha, body.a, body.position, body.world["g"],
        body.velocity_of(ca.SX(ca.DM(point)))) for body in bodies])
    rng, data = np.random.default_rng(0), MODEL.createData()
    for _ in range(3):
        q = pin.integrate(MODEL, pin.neutral(MODEL), rng.normal(size=MODEL.nv))
        rates, accelerations = rng.normal(size=(2, MODEL.nv))
        pin.forwardKinematics(MODEL, data, q, rates, accelerations)
        for i, value in enumerate(found(q, rates, accelerations), start=1):
            R, own = data.oMi[i].rotation, data.v[i]
            turn = np.eye(3)
            if i in held:      # turned as the joint's frame is when it is at zero
                turn = pin.exp3(np.array([0.6, 0.8, 0]) * np.arctan2(
                    *q[MODEL.joints[i].idx_q:][:2][::-1]))
            omega, speed, alpha, rate, place, g, of_point = value.full().T
            up = R.T @ G
            expected = (own.angular, own.linear, data.a[i].angular,
                        data.a[i].linear + np.cross(own.angular, own.linear) - up,
                        R.T @ (data.oMi[i].translation - ORIGIN), up)
            for mine, its in zip((omega, speed, alpha, rate, place, g), expected):
                np.testing.assert_allclose(mine, turn @ its, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(of_point, speed + np.cross(omega, point), rtol=1e-12,
                                       atol=1e-12)


def test_names_and_units_are_those_of_the_joints():
    space = algebroid_of(MODEL)
    assert space.v_names[6:] == ("rail", "swing", "push", "spin")
    assert space.v_units[6:] == ("m/s", "rad/s", "m/s", "rad/s")
    assert space.q.numel() == MODEL.nq
    q = pin.neutral(MODEL)
    q[7:] = 0.1, 0.2, 0.4, np.cos(0.3), np.sin(0.3)
    for name, angle in (("swing", 0.2), ("spin", 0.3)):
        both = ca.Function("both", [space.q], [ca.vertcat(*joint_cos_sin(
            MODEL, MODEL.getJointId(name), space.q))])
        np.testing.assert_allclose(both(q).full().ravel(), (np.cos(angle), np.sin(angle)),
                                   rtol=1e-12, atol=1e-15)
    # without an origin, places are those of the world
    plain = see_from_root(space, {})
    np.testing.assert_allclose(ca.Function("p", [space.q], [plain.position])(
        np.r_[ORIGIN, q[3:]]).full().ravel(), ORIGIN, rtol=1e-12, atol=1e-15)
