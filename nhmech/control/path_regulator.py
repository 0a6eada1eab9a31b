"""Following a path with preview: linear-quadratic in distance from the path, heading, and all they
depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..analysis.equilibria import Equilibrium
from ..analysis.variations import Variations
from ..errors import ModelError
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .lqr import depends_on, input_scales, state_scales
from .path_reference import path_reference
from .riccati import discretise, regulator
from .steady_reference import SteadyReference

LATERAL, YAW = "lateral", "yaw"


@dataclass(frozen=True)
class TrackedAxle:
    """What is to stay on the path: the ground point below the middle of one body's axle.

    Attributes
    ----------
    joint
        Index of the body's joint in Pinocchio's model.
    point
        (3,) in the body's frame [m].
    axle
        (3,) unit, to the left.
    """

    joint: int
    point: np.ndarray
    axle: np.ndarray

    @classmethod
    def of(cls, vehicle: Vehicle, q: np.ndarray, joint: int) -> TrackedAxle:
        """The middle of the contact points, at q, of the wheels whose axle is fixed to a body.

        Raises
        ------
        ModelError
            Where it has none.
        """
        on = [i for i, c in enumerate(vehicle.contacts) if c.mount.body == joint
              and c.mount.axle is not None]
        if not on:
            raise ModelError(f"no wheel's axle is fixed to body {vehicle.model.names[joint]!r} of "
                             f"{vehicle.name!r}: name another one")
        data = vehicle.model.createData()
        pin.forwardKinematics(vehicle.model, data, q)
        axle = vehicle.contacts[on[0]].mount.axle
        left = data.oMi[1].rotation[:, 1] @ data.oMi[joint].rotation @ axle
        return cls(joint, data.oMi[joint].actInv(vehicle.contact_points(q)[on].mean(axis=0)),
                   axle if left > 0 else -axle)

    def pose(self, vehicle: Vehicle, data: pin.Data, q: np.ndarray) -> tuple[np.ndarray, float]:
        """x, y (2,) [m] of the point and the heading of the axle [rad]."""
        pin.forwardKinematics(vehicle.model, data, q)
        forward = np.cross(data.oMi[self.joint].rotation @ self.axle, vehicle.placer.normal)
        return data.oMi[self.joint].act(self.point)[:2], float(np.arctan2(forward[1], forward[0]))

    def rows(self, vehicle: Vehicle, q: np.ndarray) -> np.ndarray:
        """Displacement (3, nv) of the point forwards and to the left, and turn of the axle, per eta
        of the fibre."""
        data = vehicle.model.createData()
        pin.computeJointJacobians(vehicle.model, data, q)
        J = pin.getJointJacobian(vehicle.model, data, self.joint, pin.LOCAL)
        left, up = self.axle, data.oMi[self.joint].rotation.T @ vehicle.placer.normal
        ahead = np.cross(left, up)
        return np.array([*(d @ J[:3] + np.cross(self.point, d) @ J[3:] for d in (ahead, left)),
                         up @ J[3:]])


class PathRegulator:
    """u_k = -K z_k - sum_i G_i kappa(s_k + |v| i T), i = 0 ... N - 1, z the errors of a path and
    what they depend on.

    z begins with lateral error and heading error. About straight running at speed v,
    dz/dt = A z + B u - |v| kappa e_heading: A and B are the exact linearisation, its base's place
    and heading replaced by those of the tracked axle; the states are the least set that the lateral
    error depends on. The input and the curvature are held over the period T. The cost int y'Qy +
    w'Rw dt, where z and u differ by y and w from the steady turn of that curvature, gives K and P
    by the Riccati equation. What is known of the curvature ahead enters as (Tomizuka and Whitney,
    ASME J. Dyn. Syst. Meas. Control 97 (1975) 319; Sharp and Valtetsidis, Vehicle System Dynamics
    35 supplement (2001) 101)::

        G_0 = S (B'P e + l'),   G_i = S B'(A_c')^(i-1) f
        S = (R + B'P B)^-1,   f = m - K'l' + A_c'P e,   A_c = A - B K

    all of the sampled system, l and m the sampled cost's products of the curvature with w and z;
    G_0 less the steady turn's u.

    Parameters
    ----------
    vehicle
        A vehicle.
    motion
        Its straight running.
    joint
        Index of the body whose axle follows the path.
    inputs
        Driven joints whose efforts are u; or `rates`, independent speeds which are u themselves
        (then only kinematics play a part).
    gains
        Weights by name of a state, and `effort` that of the inputs, over scales as in `LQR`; for
        `rates` in the time in which the vehicle runs its length.
    period
        T [s].
    preview
        N T [s].

    Raises
    ------
    ModelError
        Where the path cannot be followed so, naming the mode.
    """

    def __init__(self, vehicle: Vehicle, variations: Variations, motion: Equilibrium, joint: int, *,
                 inputs: tuple[str, ...] = (), rates: tuple[str, ...] = (),
                 gains: Mapping[str, float], effort: float = 1.0, period: float, preview: float):
        self.vehicle, self.period = vehicle, period
        point = variations.at(motion.q, motion.xi, motion.u, ignorable=True)
        v = point.v
        self.tracked = TrackedAxle.of(vehicle, motion.q, joint)
        ahead, *rows = self.tracked.rows(vehicle, motion.q)
        place = [
            variations.space.v_names[i].removesuffix("_rate").removesuffix("_speed")
            for i in point.names
        ]
        if not {LATERAL, YAW} <= set(place):
            raise ModelError(f"the linearisation of {vehicle.name!r} has no {LATERAL} and {YAW} "
                             f"among {', '.join(place)}: it follows no path so")
        if inputs:
            names = place + [name if name not in place else f"{name}'" for name in vehicle.speeds]
            A, B = point.A, point.B[:, [vehicle.driven.index(name) for name in inputs]]
        else:
            names, A = place, point.project @ point.transport @ point.basis
            B = point.project @ point.E[:, [vehicle.speeds.index(name) for name in rates]]
        change = np.eye(len(names))
        for name, row in zip((LATERAL, YAW), rows):
            change[names.index(name)] = 0.0
            change[names.index(name), :len(place)] = row @ point.basis
        A, B = change @ A @ np.linalg.inv(change), change @ B
        states = depends_on(A, [names.index(LATERAL)])
        self.names = tuple(names[i] for i in states)
        self.speed, self.backwards = abs(float(ahead @ v)), bool(ahead @ v < 0)
        self.A, self.B = A[np.ix_(states, states)], B[states]
        units = [variations.space.v_units[i].removesuffix("/s") for i in point.names] + list(
            variations.equations.units
        )
        scales = state_scales(vehicle, self.names, [units[i] for i in states])
        weights = np.array([gains.get(name, 1.0) for name in self.names]) / scales ** 2
        # without forces only distances count
        time = None if inputs else vehicle.steering.length / self.speed
        unknown = [name for name in gains if name not in self.names]
        if unknown:
            raise ModelError(
                f"gains: there is no {unknown[0]!r}; there are {', '.join(self.names)}"
            )
        self.Q, self.R = (
            np.diag(weights),
            np.diag(effort / input_scales(vehicle, self.B, scales, time) ** 2),
        )
        self.K, self.P = regulator(self.A, self.B, self.Q, self.R, names=self.names,
                                   inputs=inputs or rates, of=repr(vehicle.name), period=period)
        # dz/dt per curvature
        self.bend = np.zeros(len(states))
        self.bend[self.names.index(YAW)] = -self.speed
        self.turn, self.hold = self._steady_turn()
        self.G = self._preview(max(1, round(preview / period)))
        count = len(place)
        self._eta = [(k, point.names[i]) for k,
                     i in enumerate(states) if i < count and names[i] not in (LATERAL, YAW)]
        self._xi = [(k, vehicle.speeds[i - count], float(motion.xi[i - count])) for k,
                    i in enumerate(states)
                    if i >= count]
        self._reference = SteadyReference(vehicle, motion.q, v)
        self._data, self._ahead = (
            vehicle.model.createData(), self.speed * period * np.arange(len(self.G)),
        )

    def _steady_turn(self) -> tuple[np.ndarray, np.ndarray]:
        """z and u per curvature that stay on a circle, (n,), (nu,): A z + B u + bend = 0 with no
        lateral error."""
        free = [i for i, name in enumerate(self.names) if name != LATERAL]
        found = np.linalg.lstsq(np.hstack([self.A[:, free], self.B]), -self.bend, rcond=1e-12)[0]
        z = np.zeros(len(self.names))
        z[free] = found[:len(free)]
        return z, found[len(free):]

    def _preview(self, count: int) -> np.ndarray:
        """G (count, nu)."""
        n = len(self.A)
        both = np.zeros((n + 1, n + 1))
        both[:n, :n], both[:n, n] = self.A, self.bend + self.B @ self.hold
        away = np.hstack([np.eye(n), -self.turn[:, None]])
        cost = away.T @ self.Q @ away
        A, B, Q, N, R = discretise(both, np.vstack([self.B, np.zeros(self.B.shape[1])]), cost, self.R,
                                self.period)
        A, e, B, m, l = A[:n, :n], A[:n, n], B[:n], Q[:n, n], N[n]
        S, closed = np.linalg.inv(R + B.T @ self.P @ B), A - B @ self.K
        f = m - self.K.T @ l + closed.T @ self.P @ e
        gains = [S @ (B.T @ self.P @ e + l) - self.hold]
        for _ in range(count - 1):
            gains.append(S @ B.T @ f)
            f = closed.T @ f
        return np.array(gains)

    def reference(self, path) -> dict:
        """What run files keep of a path that is followed so."""
        tracked = self.tracked
        return path_reference(self.vehicle, path, joint=tracked.joint, point=tracked.point,
                              axle=tracked.axle, backwards=self.backwards)

    def start_pose(self, path) -> tuple[float, float, float]:
        """x, y [m] and heading [rad] of the base: straight, the tracked point at the path's
        beginning and along it."""
        x, y, heading, _ = (float(value) for value in path.at(0.0))
        yaw = heading + (np.pi if self.backwards else 0.0)
        place = self.tracked.pose(self.vehicle, self._data, self.vehicle.configuration())[0]
        turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        return (*((x, y) - turn @ place), yaw)

    def error(self, t: float, state: State, path, near: float | None) -> tuple[np.ndarray, float]:
        """z (n,), and the arc length s of the path's nearest point."""
        place, heading = self.tracked.pose(self.vehicle, self._data, state.q)
        turned = np.pi if self.backwards else 0.0
        entry = near is None
        s = path.entry(place, heading - turned,
                       self.vehicle.steering.length) if entry else path.nearest(place, near)
        s = float(s)
        x, y, tangent, _ = (float(value) for value in path.at(s))
        wanted = tangent + turned
        z = np.zeros(len(self.names))
        z[self.names.index(LATERAL)] = np.cos(wanted) * (place[1] - y) - np.sin(wanted) * (
            place[0] - x
        )
        z[self.names.index(YAW)] = np.remainder(heading - wanted + np.pi, 2 * np.pi) - np.pi
        eta = self._reference.displacement(t, state)
        for k, i in self._eta:
            z[k] = eta[i]
        for k, name, value in self._xi:
            z[k] = state.xi[name] - value
        return z, s

    def input(self, z: np.ndarray, s: float, path) -> np.ndarray:
        """u (nu,)."""
        return -self.K @ z - np.asarray(path.curvature(s + self._ahead)) @ self.G
