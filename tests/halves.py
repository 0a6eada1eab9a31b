"""The two halves of the package against each other: a robot's description, and a Lagrangian
written by hand, of the same system.

Only the map of configurations is given by hand. Its derivatives along the vehicle's motion give the
velocities and accelerations that the Lagrangian's equations must have as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

import casadi as ca
import numpy as np
from support import random_states

from nhmech.mechanics.algebroid import euclidean, rotation
from nhmech.mechanics.gibbs_appell import gibbs_appell
from nhmech.mechanics.system import ConstrainedSystem, LagrangianSystem
from nhmech.mechanics.writing import lagrangian_system
from nhmech.vehicle.vehicle import Vehicle

N = np.array([0.0, 0.0, 1.0])


class Placed:
    """Symbolic readings of a vehicle's configuration q."""

    def __init__(self, vehicle: Vehicle, q: ca.SX):
        self._names, self._q = vehicle.algebroid.q_names, q
        self.x, self.y, self.z = (q[i] for i in range(3))
        self.quaternion, self.R = q[3:7], rotation(q[3:7])

    @property
    def yaw(self) -> ca.SX:
        """Of R = Rz(yaw) Rx(roll) Ry(pitch)."""
        return ca.atan2(-self.R[0, 1], self.R[1, 1])

    @property
    def roll(self) -> ca.SX:
        return ca.asin(self.R[2, 1])

    @property
    def pitch(self) -> ca.SX:
        return ca.atan2(-self.R[2, 0], self.R[2, 2])

    def angle(self, joint: str) -> ca.SX:
        if joint in self._names:
            return self._q[self._names.index(joint)]
        i = self._names.index(f"{joint}.cos")
        return ca.atan2(self._q[i + 1], self._q[i])


def mapped(vehicle: Vehicle, place: Callable[[Placed], Sequence]) -> tuple[ca.SX, ca.Function]:
    """The Lagrangian's configuration as an expression in the vehicle's, and as a function."""
    q = vehicle.algebroid.q
    Q = ca.vertcat(*place(Placed(vehicle, q)))
    return Q, ca.Function("place", [q], [Q])


def samples_of(vehicle: Vehicle, place: Callable[[Placed], Sequence]) -> np.ndarray:
    """The Lagrangian's configurations at the vehicle's samples."""
    _, at = mapped(vehicle, place)
    return np.array([at(q).full().ravel() for q in vehicle.constrained.samples])


def difference(vehicle: Vehicle, constrained: ConstrainedSystem, speeds: Sequence[str],
               place: Callable[[Placed], Sequence], *,
               torques: Sequence[str | Mapping[str, float]] = (),
               efforts: Mapping[str, float] | None = None, states: int = 8, seed: int = 0) -> float:
    """Largest relative difference of velocities and of accelerations, both as the Lagrangian counts
    them, at random states.

    torques  for each of the Lagrangian's inputs, at random values, the vehicle's:
             one of the same value, or several with their factors
    efforts  values of inputs of the vehicle that the Lagrangian has among its parameters; all other
             inputs are zero
    """
    system, space = vehicle.constrained.system, constrained.system.algebroid
    Q, _ = mapped(vehicle, place)
    along = system.q_rate
    rho = ca.substitute(space.anchor, space.q, Q)
    v = ca.solve(rho.T @ rho, rho.T @ ca.jtimes(Q, system.q, along))
    dv = ca.jtimes(v, system.q, along) + ca.jtimes(v, system.v, system.a)
    carried = ca.Function("carried", [system.q, system.v, system.a], [Q, v, dv])
    equations, theta = gibbs_appell(constrained, speeds), constrained.parameters
    chosen_speeds, worst = list(equations.frame.speeds), 0.0
    rng = np.random.default_rng(seed)
    for here, q, xi, _ in random_states(vehicle, states, seed):
        inputs, given = rng.normal(size=len(torques)), dict(efforts or {})
        for value, torque in zip(inputs, torques):
            factors = {torque: 1.0} if isinstance(torque, str) else torque
            given |= {name: factor * value for name, factor in factors.items()}
        u = np.array([given.get(name, 0.0) for name in system.u_names])
        own = here.equations
        motion = own.velocity(0, q, xi, here.theta), own.acceleration(0, q, xi, u, here.theta)
        Q_, v_, dv_ = (part.full().ravel() for part in carried(q, *motion))
        slow = equations.velocity(0, Q_, v_[chosen_speeds], theta).full().ravel()
        rate = equations.acceleration(0, Q_, v_[chosen_speeds], inputs, theta).full().ravel()
        assert np.abs(dv_).max() > 1e-3, "a state at rest proves nothing"
        worst = max(worst, np.abs(slow - v_).max() / np.abs(v_).max(),
                    np.abs(rate - dv_).max() / np.abs(dv_).max())
    return float(worst)


def numbers(vehicle: Vehicle, body: str) -> SimpleNamespace:
    """Mass, centre of mass (3,) and inertia about it (3, 3) of a body, in its frame."""
    p = {key: vehicle.parameters[f"{body}.{key}"]
         for key in ("mass", "com_x", "com_y", "com_z", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")}
    J = np.array([[p["Ixx"], p["Ixy"], p["Ixz"]], [p["Ixy"], p["Iyy"], p["Iyz"]],
                  [p["Ixz"], p["Iyz"], p["Izz"]]])
    return SimpleNamespace(mass=p["mass"], com=np.array([p["com_x"], p["com_y"], p["com_z"]]), J=J)


def origin(vehicle: Vehicle, joint: str) -> np.ndarray:
    """Where a joint sits on its parent (3,) [m]."""
    return vehicle.model.jointPlacements[vehicle.model.getJointId(joint)].translation


def Rx(a) -> ca.SX:
    return ca.blockcat([[1, 0, 0], [0, ca.cos(a), -ca.sin(a)], [0, ca.sin(a), ca.cos(a)]])


def Ry(a) -> ca.SX:
    return ca.blockcat([[ca.cos(a), 0, ca.sin(a)], [0, 1, 0], [-ca.sin(a), 0, ca.cos(a)]])


def Rz(a) -> ca.SX:
    return ca.blockcat([[ca.cos(a), -ca.sin(a), 0], [ca.sin(a), ca.cos(a), 0], [0, 0, 1]])


def velocity_of(p: ca.SX, R: ca.SX, q: ca.SX, rate: ca.SX) -> tuple[ca.SX, ca.SX]:
    """dp/dt, and omega in the world from dR/dt R^T, for p(q) and R(q) along dq/dt = rate."""
    W = ca.reshape(ca.jtimes(ca.reshape(R, 9, 1), q, rate), 3, 3) @ R.T
    return ca.jtimes(p, q, rate), ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0],
                                             W[1, 0] - W[0, 1]) / 2


Frames = dict[str, tuple[ca.SX, ca.SX]]


def rigid_bodies(vehicle: Vehicle, names: Sequence[str],
                 frames: Callable[[SimpleNamespace], Frames],
                 torques: Mapping[str, str]) -> LagrangianSystem:
    """L = T - V in plain coordinates; frames: q -> {link: (origin, rotation) in W}; torques:
    input -> coordinate on which it acts."""
    def lagrangian(s):
        q, rate = (ca.vertcat(*vars(part).values()) for part in (s.q, s.v))
        total = ca.SX(0)
        for link, (p, R) in frames(s.q).items():
            body = numbers(vehicle, link)
            v, omega = velocity_of(p + R @ body.com, R, q, rate)
            own = R.T @ omega
            total += body.mass * (ca.sumsqr(v) / 2
                                  - 9.81 * (p + R @ body.com)[2]) + ca.dot(own, body.J @ own) / 2
        return total

    return lagrangian_system(euclidean(*names), lagrangian, inputs=tuple(torques),
                             force=lambda s: {coordinate: vars(s.u)[name]
                                              for name, coordinate in torques.items()})


def slip(frames: Callable[[SimpleNamespace], Frames], wheel: str, carrier: str, radius: float,
         direction: Callable[[ca.SX], ca.SX]):
    """s -> velocity of the wheel's material at its lowest point, along direction(R of the
    carrier)."""
    def row(s):
        q, rate = (ca.vertcat(*vars(part).values()) for part in (s.q, s.v))
        C, R = frames(s.q)[wheel]
        v, omega = velocity_of(C, R, q, rate)
        axle = R[:, 1]
        down = -(N - axle * axle[2]) / ca.sqrt(1 - axle[2] ** 2)
        return ca.dot(v + ca.cross(omega, radius * down), direction(frames(s.q)[carrier][1]))

    return row
