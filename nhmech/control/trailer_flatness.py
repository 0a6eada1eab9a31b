"""Driving the last trailer exactly along a path, by the flatness of a car with trailers."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin

from ..checks import read_number, read_positive
from ..compile.buffered import Buffered
from ..errors import ModelError
from ..simulation.command import Command, JointVelocity
from ..simulation.state import State
from ..vehicle.model import write_joint
from ..vehicle.vehicle import Vehicle
from .path import Path
from .taylor import derivative, unit
from .trailer_chain import trailer_joints, trailer_links

# of the spline that is followed, and points of the path it goes through
DEGREE, POINTS = 9, 1200
ON_AXLE = 1e-6                  # [m]
GAUSS = np.polynomial.legendre.leggauss(4)


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
                                 "only with every hitch over an axle. TrailerBacking and "
                                 "TrackingLQR take them anywhere")
        s = np.linspace(0.0, path.length, POINTS + 1)
        points = path.point(s)
        if path.closed:
            points[-1] = points[0]
        self.curve = make_interp_spline(s, points, k=DEGREE,
                                        bc_type="periodic" if path.closed else None)
        self._derivatives = [self.curve.derivative(k) if k else self.curve
                             for k in range(len(self.links) + 3)]
        self._factorials = 1 / np.cumprod([1.0, *range(1, len(self._derivatives))])
        self._steered = [axle.steering for axle in vehicle.steering.steered]
        leaders = [name for name in self._steered if name in vehicle.speeds]
        self._frame = Buffered(_frame(vehicle), matrices=[0])
        self._rows = [vehicle.algebroid.v_names.index(name)
                      for name in ("forward_speed", *(leaders or ["yaw_rate"]))]
        self._leaders = [self._steered.index(name) for name in leaders]
        self._q, data = vehicle.configuration(), vehicle.model.createData()
        pin.forwardKinematics(vehicle.model, data, self._q)
        hitch = vehicle.model.getJointId(self.links[0].joint)
        before = data.oMi[hitch].translation - data.oMi[1].translation
        # of the first hitch before the base's origin
        self._hitch = float(before @ data.oMi[1].rotation[:, 0])
        self._check()

    def __repr__(self) -> str:
        return f"TrailerFlatness({self.vehicle.name!r}, {self.path!r}, speed={self.speed:g})"

    def _check(self) -> None:
        """Raises `ModelError` where steering does not reach, or does not turn fast enough."""
        places = np.linspace(0.0, self.path.length, POINTS + 1)
        angles = np.array([self.steering(s)[0] for s in places]).reshape(len(places), -1)
        for name, angle in zip(self._steered, angles.T):
            limit = self.vehicle.limits.get(name)
            if limit is None:
                continue
            beyond = np.flatnonzero((angle < limit.lower) | (angle > limit.upper))
            if len(beyond):
                raise ModelError(f"the path asks {name!r} of {self.vehicle.name!r} for "
                                 f"{angle[beyond[0]]:.3f} rad at s = {places[beyond[0]]:.3g} m, "
                                 f"its limits are {limit.lower:.3f} and {limit.upper:.3f}: take a "
                                 "wider path, or one whose curvature changes more smoothly")
            rate = np.abs(np.diff(angle)) / places[1] * abs(self.speed)
            if rate.max() > limit.velocity:
                raise ModelError(f"the path asks {name!r} of {self.vehicle.name!r} for "
                                 f"{rate.max():.3g} rad/s at s = {places[rate.argmax()]:.3g} m, "
                                 f"more than {limit.velocity:.3g}: drive more slowly, or take a "
                                 f"path whose curvature changes smoothly ({len(self.links)} "
                                 "derivatives of it are used)")

    def chain(self, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Series of p_0 (m, 2), and headings of car and trailers (n + 1,)."""
        s = s % self.path.length if self.path.closed else min(max(s, 0.0), self.path.length)
        p = np.array([function(s) for function in self._derivatives]) * self._factorials[:, None]
        headings = []
        for link in reversed(self.links):
            tau = unit(derivative(p))
            headings.append(np.arctan2(tau[0, 1], tau[0, 0]))
            p = p[:len(tau)] + link.drawbar * tau
        headings.append(np.arctan2(p[1, 1], p[1, 0]))
        return p, np.array(headings[::-1])

    def steering(self, s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steering angles [rad] as in `vehicle.steering.steered`, (|dp_0/ds|, d theta_0/ds), and
        headings (n + 1,)."""
        p, headings = self.chain(s)
        first, second = p[1], 2 * p[2]
        along = float(np.hypot(*first))
        turning = float(first[0] * second[1] - first[1] * second[0]) / along ** 2
        # the base's origin moves sideways as it turns, where it is not on the axle
        twist = np.array([along, -turning * self._hitch, turning * self.vehicle.steering.length])
        angles = np.array([axle.angle_for(twist) for axle in self.vehicle.steering.steered])
        return angles, np.array([along, turning]), headings

    @property
    def start(self) -> dict:
        """Arguments for `Simulator.reset`: the train on the path, its speeds those of the
        beginning."""
        p, headings = self.chain(0.0)
        forward = np.array([np.cos(headings[0]), np.sin(headings[0])])
        pose = (*(p[0] - self._hitch * forward), float(headings[0]))
        joints = {link.joint: float(angle) for link, angle in zip(self.links, np.diff(headings))}
        joints |= {self._steered[i]: float(self._steering_targets(0.0)[i]) for i in self._leaders}
        return {"pose": pose, "joints": joints,
                "xi": dict(zip(self.vehicle.speeds, map(float, self._mean_speeds(0.0))))}

    def _steering_targets(self, t: float) -> np.ndarray:
        """Steering angles at time t, between which steering runs straight."""
        before, now, after = (self.steering(self.speed * (t + k * self.period))[0]
                              for k in (-1, 0, 1))
        return now - (after - 2 * now + before) / 12

    def _mean_speeds(self, t: float) -> np.ndarray:
        """xi (nxi,), constant over the control period from t on, that goes as far as the path
        asks."""
        h, begin = self.period, self._steering_targets(t)
        end = self._steering_targets(t + h)
        wanted = np.zeros(len(self._rows))
        rows = np.zeros((len(self._rows), len(self.vehicle.speeds)))
        for node, weight in zip(*GAUSS):
            part = (1 + node) / 2
            _, (along, turning), _ = self.steering(self.speed * (t + h * part))
            for name, angle in zip(self._steered, begin + part * (end - begin)):
                write_joint(self.vehicle.model, self._q, name, float(angle))
            E, e0 = self._frame(t, self._q, self.vehicle.theta)
            rates = (end - begin)[self._leaders] / h
            rows += weight / 2 * E[self._rows]
            steered = rates if self._leaders else [self.speed * turning]
            wanted += weight / 2 * (np.array([self.speed * along, *steered]) - e0[self._rows])
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
