"""Dynamic feedback linearisation of the unicycle."""

from __future__ import annotations

import math

import numpy as np

from ..checks import check_arguments, read_positive
from ..vehicle.vehicle import Vehicle
from .path import Path, Pose
from .tracking import Drive, Tracker

STIFFNESS, DAMPING = 1.0, 2.0      # critically damped
# of the speed: the compensator's state stays above it, and the vehicle stops at twice as much
LEAST = 0.02


@check_arguments
class FeedbackLinearisation(Tracker):
    """Dynamic feedback linearisation of the unicycle (Oriolo et al. 2002): linear errors.

    Parameters
    ----------
    vehicle, path, speed, drive
        As of `Tracker`.
    stiffness, damping
        Pure numbers kp (unit / speed)^2, kd unit / speed.

    Notes
    -----
    With one integrator before the speed, (x, y) is a flat output of relative degree two::

        v = zeta,   dzeta/dt = u1 cos theta + u2 sin theta
        omega = (u2 cos theta - u1 sin theta) / zeta
        u = p_r'' + kd (p_r' - p') + kp (p_r - p)   =>   e'' + kd e' + kp e = 0

    in both coordinates of W. The law is singular at rest: zeta is kept above `LEAST` of the speed,
    and the vehicle stops a little before an open path ends.

    G. Oriolo, A. De Luca, M. Vendittelli, WMR control via dynamic feedback linearization: design,
    implementation, and experimental validation, IEEE Trans. Control Systems Technology 10 (2002)
    835.
    """

    def __init__(self, vehicle: Vehicle, path: Path, *, speed: float = 0.5,
                 stiffness: float = STIFFNESS,
                 damping: float = DAMPING, drive: Drive | None = None):
        super().__init__(vehicle, path, speed=speed, drive=drive)
        rate = self.speed / self.unit
        self.gains = (read_positive("stiffness", stiffness) * rate ** 2,
                      read_positive("damping", damping) * rate)

    def reset(self) -> None:
        super().reset()
        # the compensator's state, its time, its rate
        self._zeta: float | None = None
        self._t = self._rate = 0.0

    def law(self, t: float, pose: Pose, s: float) -> tuple[float, float]:
        reference = self.reference(t)
        least = LEAST * self.speed
        if self._zeta is None:
            zeta = float(np.hypot(*reference[1]))
        else:
            zeta = self._zeta + (t - self._t) * self._rate
        self._zeta, self._t = max(zeta, least), t
        self._rate, omega = compensator(pose, self._zeta, reference, self.gains)
        return self._zeta, omega

    def remaining(self, t: float, pose: Pose, s: float) -> float:
        s, v, _ = self.timetable(t)
        return self.path.length - s if v > 2 * LEAST * self.speed else 0.0

    def reference(self, t: float) -> np.ndarray:
        """p_r, p_r' and p_r'' as rows (3, 2)."""
        at, v, rate = self.timetable(t)
        x, y, heading, curvature = self.path.station(at)
        c, s = math.cos(heading), math.sin(heading)
        return np.array([(x, y), (v * c, v * s),
                         (rate * c - v * v * curvature * s, rate * s + v * v * curvature * c)])


def compensator(pose: Pose, zeta: float, reference: np.ndarray,
                gains: tuple[float, float]) -> tuple[float, float]:
    """dzeta/dt [m/s^2] and omega [rad/s]."""
    stiffness, damping = gains
    c, s = math.cos(pose[2]), math.sin(pose[2])
    (x, y), (vx, vy), (ax, ay) = reference.tolist()
    u1 = ax + damping * (vx - zeta * c) + stiffness * (x - pose[0])
    u2 = ay + damping * (vy - zeta * s) + stiffness * (y - pose[1])
    return u1 * c + u2 * s, (u2 * c - u1 * s) / zeta
