"""Following a path with preview: linear-quadratic in the distance from the path, the heading, and
the states that these depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..analysis.equilibria import Equilibrium
from ..analysis.variations import Point, Variations
from ..checks import read_number, read_positive
from ..errors import InputError
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .lqr import depends_on, input_scales, state_scales
from .path import Path, Pose, relative_pose
from .path_reference import TrackedAxle, path_reference
from .riccati import discretise, read_weights, regulator
from .steady_reference import SteadyReference

MOST_PREVIEWED = 100_000      # periods; one that drives looks some thousand ahead
FORWARD, LATERAL, YAW = "forward", "lateral", "yaw"


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
    joint
        Index of the body whose axle follows the path.
    inputs
        Driven joints whose efforts are u; or `rates`, independent speeds which are u themselves
        (then only the kinematics matter).
    weights
        Weights by name of a state, and `effort` that of the inputs, over scales as in `LQR`; for
        `rates` in the time in which the vehicle runs its length.
    period
        T [s].
    preview
        N T [s].
    """

    def __init__(self, vehicle: Vehicle, variations: Variations, motion: Equilibrium, joint: int, *,
                 inputs: tuple[str, ...] = (), rates: tuple[str, ...] = (),
                 weights: Mapping[str, float], effort: float = 1.0, period: float, preview: float):
        self.vehicle, self.period = vehicle, read_positive("period", period)
        point = variations.at(motion.q, motion.xi, motion.u, ignorable=True)
        self.v = point.v
        self.tracked = TrackedAxle.of(vehicle, motion.q, joint)
        names, A, B, rows = _path_model(vehicle, variations, point, motion.q, self.tracked, inputs,
                                        rates)
        along = float(rows[0] @ point.v)
        self.speed, self.backwards = abs(along), along < 0
        states = depends_on(A, [names.index(LATERAL)])
        self.names = tuple(names[i] for i in states)
        self.A, self.B = A[np.ix_(states, states)], B[states]
        units = [variations.space.v_units[i].removesuffix("/s") for i in point.names]
        units += variations.equations.units
        scales = state_scales(vehicle, self.names, [units[i] for i in states])
        weights = read_weights(weights, self.names)
        self.Q = np.diag(np.array([weights.get(name, 1.0) for name in self.names]) / scales ** 2)
        # without forces only distances count
        time = None if inputs else vehicle.steering.length / self.speed
        self.R = np.diag(read_positive("effort", effort)
                         / input_scales(vehicle, self.B, scales, time) ** 2)
        self.K, self.P = regulator(self.A, self.B, self.Q, self.R, names=self.names,
                                   inputs=inputs or rates, of=repr(vehicle.name), period=period)
        # dz/dt per curvature
        self.bend = np.zeros(len(states))
        self.bend[self.names.index(YAW)] = -self.speed
        self.turn, self.hold = self._steady_turn()
        steps = read_number("preview", preview, "a time [s], 0 or more", least=0.0) / period
        if steps > MOST_PREVIEWED:
            raise InputError(f"preview = {preview!r} s takes {steps:.3g} periods of {period} s, of "
                             f"at most {MOST_PREVIEWED}")
        self.G = self._preview(max(1, round(steps)))
        count = len(point.names)
        self._eta = [(k, point.names[i]) for k, i in enumerate(states)
                     if i < count and names[i] not in (LATERAL, YAW)]
        self._xi = [(k, vehicle.speeds[i - count], float(motion.xi[i - count]))
                    for k, i in enumerate(states) if i >= count]
        self._reference = SteadyReference(vehicle, motion.q, point.v)
        self._data = vehicle.model.createData()
        self._ahead = self.speed * period * np.arange(len(self.G))

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
        inputs = np.vstack([self.B, np.zeros(self.B.shape[1])])
        A, B, Q, N, R = discretise(both, inputs, cost, self.R, self.period)
        A, e, B, m, l = A[:n, :n], A[:n, n], B[:n], Q[:n, n], N[n]
        S, closed = np.linalg.inv(R + B.T @ self.P @ B), A - B @ self.K
        f = m - self.K.T @ l + closed.T @ self.P @ e
        gains = [S @ (B.T @ self.P @ e + l) - self.hold]
        for _ in range(count - 1):
            gains.append(S @ B.T @ f)
            f = closed.T @ f
        return np.array(gains)

    def reference(self, path: Path) -> dict:
        """The data of the path that run files keep."""
        tracked = self.tracked
        return path_reference(self.vehicle, path, joint=tracked.joint, point=tracked.point,
                              axle=tracked.axle, backwards=self.backwards)

    def start_pose(self, path: Path) -> Pose:
        """x, y [m] and heading [rad] of the base: straight, the tracked point at the path's
        beginning and along it."""
        x, y, heading = path.start()
        place, ahead = self.tracked.pose(self.vehicle, self._data, self.vehicle.configuration())
        yaw = heading + self._half_turn - ahead
        c, s = np.cos(yaw), np.sin(yaw)
        return (float(x - c * place[0] + s * place[1]), float(y - s * place[0] - c * place[1]), yaw)

    @property
    def _half_turn(self) -> float:
        """From the path's heading to that of the vehicle [rad]."""
        return np.pi if self.backwards else 0.0

    def error(self, t: float, state: State, path: Path,
              near: float | None) -> tuple[np.ndarray, float]:
        """z (n,), and the arc length s of the path's nearest point."""
        (px, py), heading = self.tracked.pose(self.vehicle, self._data, state.q)
        s = float(path.follow((px, py), heading - self._half_turn, self.vehicle.steering.length,
                              near))
        x, y, tangent, _ = path.station(s)
        _, lateral, turn = relative_pose((px, py, heading), (x, y, tangent + self._half_turn))
        z = np.zeros(len(self.names))
        z[self.names.index(LATERAL)], z[self.names.index(YAW)] = lateral, turn
        eta = self._reference.displacement(t, state)
        for k, i in self._eta:
            z[k] = eta[i]
        for k, name, value in self._xi:
            z[k] = state.xi[name] - value
        return z, s

    def input(self, z: np.ndarray, s: float, path: Path) -> np.ndarray:
        """u (nu,)."""
        return -self.K @ z - np.asarray(path.curvature(s + self._ahead)) @ self.G


class _PathModel(NamedTuple):
    names: list[str]        # of the states, n
    A: np.ndarray           # (n, n)
    B: np.ndarray           # (n, nu)
    rows: np.ndarray        # (3, nv), of the tracked axle


def _path_model(vehicle: Vehicle, variations: Variations, point: Point, q: np.ndarray,
                tracked: TrackedAxle, inputs: tuple[str, ...],
                rates: tuple[str, ...]) -> _PathModel:
    """The linearisation, place and heading of the base replaced by those of the tracked axle."""
    rows = tracked.rows(vehicle, q)
    place = [variations.space.v_names[i].removesuffix("_rate").removesuffix("_speed")
             for i in point.names]
    if inputs:
        names = place + [name if name not in place else f"{name}'" for name in vehicle.speeds]
        A, B = point.A, point.B[:, [vehicle.driven.index(name) for name in inputs]]
    else:
        names, A = place, point.project @ point.transport @ point.basis
        B = point.project @ point.E[:, [vehicle.speeds.index(name) for name in rates]]
    change = np.eye(len(names))
    for name, row in zip((FORWARD, LATERAL, YAW), rows):
        change[names.index(name)] = 0.0
        change[names.index(name), :len(place)] = row @ point.basis
    return _PathModel(names, change @ A @ np.linalg.inv(change), change @ B, rows)
