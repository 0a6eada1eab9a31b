"""Kanayama's tracking controller."""

from __future__ import annotations

import math

from ..checks import check_arguments, read_positive
from ..vehicle.vehicle import Vehicle
from .path import Path, Pose, relative_pose
from .tracking import Drive, Tracker

ALONG, ACROSS, HEADING = 1.0, 1.0, 2.0     # critically damped


@check_arguments
class Kanayama(Tracker):
    """Kanayama et al. 1990: tracks a pose that moves along the path by the clock.

    Parameters
    ----------
    vehicle, path, speed, drive
        As of `Tracker`.
    along, across, heading
        Pure numbers Kx unit / speed, Ky unit^2, Ktheta unit.

    Notes
    -----
    With the reference pose at (x, y, theta) as P sees it, and its speeds v_r, omega_r::

        v     = v_r cos theta + Kx x
        omega = omega_r + v_r (Ky y + Ktheta sin theta)

        V = (x^2 + y^2) / 2 + (1 - cos theta) / Ky
        dV/dt = -Kx x^2 - v_r Ktheta sin^2(theta) / Ky <= 0

    Y. Kanayama, Y. Kimura, F. Miyazaki, T. Noguchi, A stable tracking control method for an
    autonomous mobile robot, ICRA 1990, 384, Proposition 1. Critically damped where Ktheta^2 = 4 Ky.
    """

    def __init__(self, vehicle: Vehicle, path: Path, *, speed: float = 0.5, along: float = ALONG,
                 across: float = ACROSS, heading: float = HEADING, drive: Drive | None = None):
        super().__init__(vehicle, path, speed=speed, drive=drive)
        self.gains = (read_positive("along", along) * self.speed / self.unit,
                      read_positive("across", across) / self.unit ** 2,
                      read_positive("heading", heading) / self.unit)

    def law(self, t: float, pose: Pose, s: float) -> tuple[float, float]:
        at, v, _ = self.timetable(t)
        x, y, heading, curvature = self.path.station(at)
        return tracking_law(relative_pose((x, y, heading), pose), v, v * curvature, self.gains)

    def remaining(self, t: float, pose: Pose, s: float) -> float:
        return self.path.length - self.timetable(t)[0]


def tracking_law(error: tuple[float, float, float], v: float, omega: float,
                 gains: tuple[float, float, float]) -> tuple[float, float]:
    """Speed and turning rate, from the error and the reference pose's v and omega."""
    x, y, theta = error
    kx, ky, ktheta = gains
    return v * math.cos(theta) + kx * x, omega + v * (ky * y + ktheta * math.sin(theta))
