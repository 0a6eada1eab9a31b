"""Pinocchio called from Python with quasi-velocities: v = E xi, (E'ME) xi' = E'(tau - M E' xi -
nle), RK4 with `integrate` left out.

What an expert writes who has `pin` and no nhmech: the frame E by hand for this one vehicle,
`crba` and `nle` from Pinocchio.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from common.motions import GRAVITY
from common.timing import Spent

import nhmech


def run(motion, dt: float, duration: float) -> tuple[np.ndarray, Spent]:
    rate, state, place = {"differential_drive": _drive, "disc": _disc}[motion.robot](motion)
    with Spent() as took:
        for _ in range(round(duration / dt)):
            k1 = rate(state)
            k2 = rate(state + dt / 2 * k1)
            k3 = rate(state + dt / 2 * k2)
            k4 = rate(state + dt * k3)
            state = state + dt / 6 * (k1 + 2 * (k2 + k3) + k4)
    return place(state), took


def _drive(motion):
    """state: x, y, yaw, V, W, wheel angles. Wheels turn about a principal axis and the plane is
    level: M and nle are asked at yaw = 0."""
    model = pin.buildModelFromUrdf(str(nhmech.urdf_path("differential_drive")),
                                   pin.JointModelFreeFlyer())
    data, b, R = model.createData(), motion.half_track, motion.radius
    E = np.zeros((8, 2))
    E[0, 0] = E[5, 1] = 1
    E[6], E[7] = (1 / R, -b / R), (1 / R, b / R)
    push = E.T @ np.array([0, 0, 0, 0, 0, 0, *motion.torques])
    q = pin.neutral(model)

    def rate(s):
        v = E @ s[3:5]
        M, nle = pin.crba(model, data, q), pin.nle(model, data, q, v)
        a, c = E.T @ M @ E, push - E.T @ nle
        det = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
        V = s[3]
        return np.array([V * np.cos(s[2]), V * np.sin(s[2]), s[4],
                         (c[0] * a[1, 1] - c[1] * a[0, 1]) / det,
                         (c[1] * a[0, 0] - c[0] * a[1, 0]) / det, v[6], v[7]])

    return rate, motion.start, motion.place


def _disc(motion):
    """state: centre, quaternion, angular velocity in the body. E = [skew(rho); 1] with rho from
    the centre to the contact, in the body."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(
        joint,
        pin.Inertia(motion.mass, np.zeros(3),
                    np.diag([motion.across, motion.along, motion.across])),
        pin.SE3.Identity(),
    )
    model.gravity.linear = np.array([0, 0, -GRAVITY])
    data, r = model.createData(), motion.radius
    E, q = np.zeros((6, 3)), pin.neutral(model)
    E[3:] = np.eye(3)

    def rate(s):
        q[:3], q[3:] = s[:3], s[3:7] / np.linalg.norm(s[3:7])
        w = s[7:]
        R = pin.Quaternion(q[3:]).toRotationMatrix()
        n = R[2]
        size = np.hypot(n[0], n[2])
        rho = np.array([-r * n[0] / size, 0, -r * n[2] / size])
        # of rho about the axle
        turn = (n[2] * (n[1] * w[2] - n[2] * w[1]) - n[0] * (n[0] * w[1] - n[1] * w[0])) / size ** 2
        rho_rate = np.array([turn * rho[2], 0, -turn * rho[0]])
        E[:3] = pin.skew(rho)
        v = E @ w
        drift = np.zeros(6)
        drift[:3] = pin.skew(rho_rate) @ w
        M, nle = pin.crba(model, data, q), pin.nle(model, data, q, v)
        w_rate = np.linalg.solve(E.T @ M @ E, -E.T @ (M @ drift + nle))
        x, y, z, c = q[3:]
        q_rate = 0.5 * np.array([c * w[0] + y * w[2] - z * w[1], c * w[1] + z * w[0] - x * w[2],
                                 c * w[2] + x * w[1] - y * w[0], -x * w[0] - y * w[1] - z * w[2]])
        return np.concatenate([R @ v[:3], q_rate, w_rate])

    start = np.concatenate([motion.place(motion.start), pin.Quaternion(motion.attitude).coeffs(),
                            motion.speeds])
    return rate, start, lambda s: s[:3]
