"""Driving the last trailer exactly along a path, by the flatness of a car with trailers."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin

from ..checks import check_arguments, read_number, read_positive
from ..errors import ModelError
from ..simulation.command import Command, JointVelocity
from ..simulation.state import State
from ..symbolic.buffered import Buffered
from ..urdf.description import NO_LIMITS
from ..vehicle.model import write_joint
from ..vehicle.vehicle import Vehicle
from .path import Path
from .taylor import derivative, unit_series
from .trailer_chain import trailer_joints, trailer_links
from .unicycle import unicycle

# of the spline that is followed, and points of the path it goes through
DEGREE, POINTS = 9, 1200
ON_AXLE = 1e-6                  # [m]
GAUSS = np.polynomial.legendre.leggauss(4)


@check_arguments
class TrailerFlatness:
    """Feed-forward that drives the last trailer's axle along a path: no feedback, no integration.

    With every trailer hitched over the middle of the axle in front, that of the last axle is a flat
    output (Rouchon, Fliess, Levine, Martin, *Flatness and motion planning: the car with n
    trailers*, Proc. ECC 1993, 1518). From its curve p_n(s)::

        tau_i = p_i' / |p_i'|,    p_(i-1) = p_i + l_i tau_i,    i = n ... 1,

    l_i the drawbars: headings, hitch angles, and from tau_0' the curvature of the car's own path
    and its steering follow from n + 2 derivatives of the curve, found by truncated Taylor series.
    Speeds are means over the control period T, by Gauss's quadrature; steering, which runs straight
    from one moment to the next, is set phi - (phi(t + T) - 2 phi(t) + phi(t - T)) / 12, so that it
    has the right mean in between.

    The curve is a spline of degree 9 through 1200 points of the path. In dynamic mode the servos'
    lag, and in reverse every error, adds up: this is the feed-forward of a path that `TrackingLQR`
    or `TrailerBacking` then hold.

    `start` stands the train on the path.

    Parameters
    ----------
    vehicle
        A car (or two driven wheels) with trailers, all hitches on the axle.
    path
        Of the middle of the last axle; its curvature must be smooth: n derivatives of it are used.
    speed
        d s / d t [m/s]; negative runs from the path's beginning backwards.
    trailer
        Last hitch joint, where there are several.
    period
        Control period of the run [s].

    Raises
    ------
    ModelError
        For a hitch off the axle, and where the path needs more steering than the joint allows.
    """

    def __init__(self, vehicle: Vehicle, path: Path, *, speed: float = 0.5, trailer: str = "",
                 period: float = 1e-3):
        from scipy.interpolate import make_interp_spline

        self.vehicle, self.path = vehicle, path
        self.speed = read_number("speed", speed, "a finite number [m/s]")
        self.period = read_positive("period", period)
        self.links = trailer_links(vehicle, trailer_joints(vehicle, trailer))
        for link in self.links:
            if abs(link.hitch) > ON_AXLE:
                raise ModelError(f"{link.joint!r} of {vehicle.name!r} sits {link.hitch:.4g} m "
                                 "behind the axle in front of it: the last axle is a flat output "
                                 "only if every hitch is directly above an axle. TrailerBacking "
                                 "and TrackingLQR allow hitches anywhere")
        s = np.linspace(0.0, path.length, POINTS + 1)
        points = path.point(s)
        if path.closed:
            points[-1] = points[0]
        self.curve = make_interp_spline(s, points, k=DEGREE,
                                        bc_type="periodic" if path.closed else None)
        self._derivatives = [self.curve.derivative(k) if k else self.curve
                             for k in range(len(self.links) + 3)]
        self._factorials = np.cumprod([1.0, *range(1, len(self._derivatives))])
        self._steered = [axle.steering for axle in vehicle.steering.steered]
        leaders = [name for name in self._steered if name in vehicle.speeds]
        self._frame = Buffered(_frame(vehicle), matrices=[0])
        self._leaders = [self._steered.index(name) for name in leaders]
        self._q, data = vehicle.configuration(), vehicle.model.createData()
        pin.forwardKinematics(vehicle.model, data, self._q)
        hitch = vehicle.model.getJointId(self.links[0].joint)
        x, y, _ = data.oMi[1].actInv(data.oMi[hitch].translation)
        # of the car: the first hitch
        self._point = replace(unicycle(vehicle), offset=(float(x), float(y)))
        # v -> its speed ahead, and the rates of the leaders or of the base
        names = vehicle.algebroid.v_names
        self._speeds = np.eye(len(names))[[names.index(name) for name in (
            "forward_speed", *(leaders or ["yaw_rate"]))]]
        self._speeds[0, [names.index(name) for name in (
            "forward_speed", "lateral_speed", "yaw_rate")]] = self._point.ahead
        self._check()

    def __repr__(self) -> str:
        return f"TrailerFlatness({self.vehicle.name!r}, {self.path!r}, speed={self.speed:g})"

    def _check(self) -> None:
        """Raises `ModelError` if steering does not reach, or does not turn fast enough."""
        places = np.linspace(0.0, self.path.length, POINTS + 1)
        for name, angle in zip(self._steered, self.steering(places)[0]):
            limit = self.vehicle.limits.get(name, NO_LIMITS)
            beyond = np.flatnonzero((angle < limit.lower) | (angle > limit.upper))
            if len(beyond):
                raise ModelError(f"the path asks {name!r} of {self.vehicle.name!r} for "
                                 f"{angle[beyond[0]]:.3f} rad at s = {places[beyond[0]]:.3g} m, "
                                 f"its limits are {limit.lower:.3f} and {limit.upper:.3f}: choose "
                                 "a wider path, or one whose curvature changes more smoothly")
            rate = np.abs(np.diff(angle)) / places[1] * abs(self.speed)
            if rate.max() > limit.velocity:
                raise ModelError(f"the path asks {name!r} of {self.vehicle.name!r} for "
                                 f"{rate.max():.3g} rad/s at s = {places[rate.argmax()]:.3g} m, "
                                 f"more than {limit.velocity:.3g}: drive more slowly, or choose a "
                                 f"path with a smoother curvature ({len(self.links)} derivatives "
                                 "of it are used)")

    def chain(self, s: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Series of p_0 (m, ..., 2), and headings of car and trailers (n + 1, ...), at s (...)."""
        s = s % self.path.length if self.path.closed else np.clip(s, 0.0, self.path.length)
        p = np.array([function(s) / divisor
                      for function, divisor in zip(self._derivatives, self._factorials)])
        headings = []
        for link in reversed(self.links):
            tau = unit_series(derivative(p))
            headings.append(np.arctan2(tau[0, ..., 1], tau[0, ..., 0]))
            p = p[:len(tau)] + link.drawbar * tau
        headings.append(np.arctan2(p[1, ..., 1], p[1, ..., 0]))
        return p, np.array(headings[::-1])

    def steering(self, s: float | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steering angles [rad] as in `vehicle.steering.steered` (k, ...), (|dp_0/ds|, d
        theta_0/ds) (2, ...), and headings (n + 1, ...), at s (...)."""
        p, headings = self.chain(s)
        (x, y), (bend_x, bend_y) = np.moveaxis(p[1], -1, 0), np.moveaxis(2 * p[2], -1, 0)
        along = np.hypot(x, y)
        turning = (x * bend_y - y * bend_x) / along ** 2
        forward, lateral, yaw = self._point.twist(along, turning)
        twist = np.array([forward, lateral, yaw * self.vehicle.steering.length])
        angles = np.array([axle.angle_for(twist) for axle in self.vehicle.steering.steered])
        return angles.reshape(-1, *along.shape), np.array([along, turning]), headings

    @property
    def start(self) -> dict:
        """Arguments for `Simulator.reset`: the train on the path, its speeds those of the
        beginning."""
        p, headings = self.chain(0.0)
        pose = tuple(map(float, self._point.base((*p[0], headings[0]))))
        joints = {link.joint: float(angle) for link, angle in zip(self.links, np.diff(headings))}
        angles, _ = self._targets(np.array([0.0]))
        joints |= {self._steered[i]: float(angles[i, 0]) for i in self._leaders}
        return {"pose": pose, "joints": joints,
                "xi": dict(zip(self.vehicle.speeds, map(float, self._mean_speeds(0.0))))}

    def _targets(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Steering angles at times t (...), between which steering runs straight (k, ...); and the
        speeds of the base there (2, ...)."""
        times = t + self.period * np.array([-1.0, 0.0, 1.0]).reshape(3, *[1] * t.ndim)
        angles, speeds, _ = self.steering(self.speed * times)
        before, now, after = np.moveaxis(angles, 1, 0)
        return now - (after - 2 * now + before) / 12, self.speed * speeds[:, 1]

    def _mean_speeds(self, t: float) -> np.ndarray:
        """xi (nxi,), constant over the control period from t on, that goes as far as the path."""
        h, (nodes, weights) = self.period, GAUSS
        parts = (1 + nodes) / 2
        angles, speeds = self._targets(t + h * np.r_[0.0, 1.0, parts])
        begin, end = angles[:, 0], angles[:, 1]
        wanted = np.zeros(len(self._speeds))
        rows = np.zeros((len(self._speeds), len(self.vehicle.speeds)))
        for part, weight, (along, turning) in zip(parts, weights, speeds[:, 2:].T):
            for name, angle in zip(self._steered, begin + part * (end - begin)):
                write_joint(self.vehicle.model, self._q, name, float(angle))
            E, e0 = self._frame(t, self._q, self.vehicle.theta)
            steered = (end - begin)[self._leaders] / h if self._leaders else [turning]
            rows += weight / 2 * self._speeds @ E
            wanted += weight / 2 * (np.array([along, *steered]) - self._speeds @ e0)
        return np.linalg.lstsq(rows, wanted, rcond=1e-9)[0]

    def __call__(self, t: float, state: State) -> Command:
        if not self.path.closed and not 0 <= self.speed * t <= self.path.length:
            return JointVelocity(dict.fromkeys(self.vehicle.driven, 0.0))
        xi = self._mean_speeds(t)
        if set(self.vehicle.speeds) <= set(self.vehicle.driven):
            return JointVelocity(dict(zip(self.vehicle.speeds, map(float, xi))))
        return xi


def _frame(vehicle: Vehicle) -> ca.Function:
    """(t, q, theta) -> E, e0 of the vehicle's own speeds."""
    frame, s = vehicle.frame, vehicle.reduced.system
    xi = ca.SX.sym("xi", frame.nxi)
    rest = ca.substitute(frame.velocity(xi), xi, ca.SX.zeros(frame.nxi, 1))
    return ca.Function("frame", [s.t, s.q, s.theta],
                       [ca.densify(part) for part in s.expand(frame.E, rest)])
