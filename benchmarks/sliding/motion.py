"""Motions in which all four wheels slide, and where they end: Newton's and Euler's laws of a body
on the plane, with none of the simulators in it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

import nhmech

GRAVITY = 9.81


class Sliding:
    """A vehicle that slides on four wheels and does not pitch or roll.

    Loads are a plane over the contact points, N_i = a + b x_i + c y_i, as on equal springs that are
    stiff; a, b, c balance weight, friction at the height of the ground, and the gyroscopic moments
    of the wheels.

    Parameters
    ----------
    locked
        Whether the wheels are held by brakes; else they turn under `torques` [N m].
    twist
        Forward and lateral speed of the base's origin [m/s] and yaw rate [rad/s] at the start.
    rates
        Of the wheels [rad/s].
    """

    def __init__(self, name: str, robot: str, mu: float, duration: float, *,
                 twist: tuple[float, float, float] = (0.0, 0.0, 0.0),
                 torques: tuple[float, ...] = (0.0,) * 4, rates: tuple[float, ...] = (0.0,) * 4,
                 locked: bool = False):
        self.name, self.robot, self.mu, self.duration = name, robot, mu, duration
        self.twist, self.torques, self.rates, self.locked = twist, torques, rates, locked
        vehicle = nhmech.load(nhmech.urdf_path(robot))
        model, data, q = vehicle.model, vehicle.model.createData(), vehicle.configuration()
        pin.ccrba(model, data, q, np.zeros(model.nv))
        self.mass, self.inertia = data.Ig.mass, data.Ig.inertia
        self.com, self.height = data.com[0] - q[:3], float(q[2])
        self.wheels = vehicle.contact_names
        self.feet = np.array(vehicle.contact_points(q)) - q[:3]
        self.radius = vehicle.description.wheels[0].radius
        self.spin = model.inertias[model.getJointId(self.wheels[0])].inertia[1, 1]
        # what a simulator is given: joint, place in the base and inertia of each body
        self.bodies = [(model.names[i], data.oMi[i].translation - q[:3], model.inertias[i])
                       for i in range(1, model.njoints)]

    def rate(self, t: float, s: np.ndarray) -> np.ndarray:
        """Of x, y of the centre of mass, yaw, its velocity in W, yaw rate, wheel rates."""
        yaw, r, wheels = s[2], s[5], s[6:]
        R = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        arms, inertia, mass = self.feet - self.com, self.inertia, self.mass
        slip = R.T @ s[3:5] + r * np.column_stack([-arms[:, 1], arms[:, 0]])
        slip[:, 0] -= self.radius * wheels
        way = -slip / np.linalg.norm(slip, axis=1)[:, None]

        shape = np.column_stack([np.ones(4), self.feet[:, :2]])
        forces = [np.column_stack([self.mu * part[:, None] * way, part]) for part in shape.T]
        moments = np.array([np.cross(arms, force).sum(axis=0) for force in forces]).T
        along = np.array([force[:, 0].sum() for force in forces])
        L = inertia[:, 2] * r + [0, 0 if self.locked else self.spin * wheels.sum(), 0]
        # what the wheels gain of angular momentum is their torques less the friction's
        gain = (0.0, np.zeros(3)) if self.locked else (sum(self.torques), self.radius * along)
        matrix = np.array([[force[:, 2].sum() for force in forces],
                           moments[0] - inertia[0, 2] / inertia[2, 2] * moments[2],
                           moments[1] - inertia[1, 2] / inertia[2, 2] * moments[2] + gain[1]])
        share = np.linalg.solve(matrix, [mass * GRAVITY, -r * L[1], r * L[0] + gain[0]])
        force = sum(part * k for part, k in zip(forces, share))
        spins = (np.zeros(4) if self.locked else
                 (np.array(self.torques) - self.radius * force[:, 0]) / self.spin)
        return np.concatenate([s[3:5], [r], R @ force[:, :2].sum(axis=0) / mass,
                               [moments[2] @ share / inertia[2, 2]], spins])

    def end(self) -> np.ndarray:
        """x, y of the base's origin and yaw, by DOP853 at 1e-12."""
        vx, vy, r = self.twist
        cx, cy = self.com[:2]
        start = np.array([cx, cy, 0.0, vx - r * cy, vy + r * cx, r, *self.rates])
        found = solve_ivp(self.rate, (0, self.duration), start, "DOP853", rtol=1e-12,
                          atol=1e-13).y[:, -1]
        yaw = found[2]
        turned = [cx * np.cos(yaw) - cy * np.sin(yaw), cx * np.sin(yaw) + cy * np.cos(yaw)]
        return np.array([found[0] - turned[0], found[1] - turned[1], yaw])


def error(found: np.ndarray, truth: np.ndarray) -> float:
    """The larger of the distance [m] and the difference of yaw [rad]."""
    turn = (found[2] - truth[2] + np.pi) % (2 * np.pi) - np.pi
    return max(float(np.hypot(*(found - truth)[:2])), abs(float(turn)))
