"""Stabilisation of a pose in polar coordinates."""

from __future__ import annotations

import math

from ..attitude import Scalar, wrap
from ..checks import check_arguments, read_positive
from ..errors import InputError
from ..vehicle.vehicle import Vehicle
from .path import Path, Pose, Poses, relative_pose
from .tracking import Drive, Tracker

APPROACH, ALIGN, WEIGHT = 1.0, 2.5, 2.0


@check_arguments
class Polar(Tracker):
    """Point stabilisation (Aicardi et al. 1995): drives to the pose at the path's end.

    Parameters
    ----------
    vehicle, path, speed, drive
        As of `Tracker`.
    approach, align, weight
        Pure numbers gamma unit / speed, k / gamma, and h.

    Raises
    ------
    InputError
        For a closed path, which has no end.

    Notes
    -----
    With e the distance to the goal, theta the direction in which the goal lies, from the goal's own
    heading, and alpha that direction from the vehicle's heading::

        e' = -u cos alpha,   alpha' = -omega + u sin(alpha) / e,   theta' = u sin(alpha) / e
        u = gamma e cos alpha
        omega = k alpha + gamma cos(alpha) sin(alpha) / alpha (alpha + h theta)

        V = (e^2 + alpha^2 + h theta^2) / 2,   dV/dt = -gamma e^2 cos^2(alpha) - k alpha^2 <= 0

    Near the goal e falls as exp(-gamma t), alpha and theta with the roots of x^2 + k x + gamma^2 h;
    for h > 1 and 2 gamma < k < gamma (h + 1) they fall faster, and the vehicle arrives on a
    straight line. It goes backwards where the goal is behind it, |alpha| > pi/2. u and omega are
    scaled down together where |u| is above `speed`, which leaves the path as it is.

    M. Aicardi, G. Casalino, A. Bicchi, A. Balestrino, Closed loop steering of unicycle-like
    vehicles via Lyapunov techniques, IEEE Robotics & Automation Magazine 2 (1995) 27.
    """

    def __init__(self, vehicle: Vehicle, path: Path, *, speed: float = 0.5,
                 approach: float = APPROACH,
                 align: float = ALIGN, weight: float = WEIGHT, drive: Drive | None = None):
        super().__init__(vehicle, path, speed=speed, drive=drive)
        if path.closed:
            raise InputError("Polar drives to the end of a path, but a closed path has no end: "
                             "choose an open one, such as line or lane_change")
        gamma = read_positive("approach", approach) * self.speed / self.unit
        self.gains = (gamma, read_positive("align", align) * gamma, read_positive("weight", weight))
        self.goal = path.end()

    def law(self, t: float, pose: Pose, s: float) -> tuple[float, float]:
        u, omega = approach_law(polar(pose, self.goal), self.gains)
        scale = min(1.0, self.speed / abs(u)) if u else 1.0
        return scale * u, scale * omega

    def remaining(self, t: float, pose: Pose, s: float) -> float:
        return polar(pose, self.goal)[0]

    def _error(self, pose: Poses, along: Scalar, place: tuple[Scalar, ...]) -> Poses:
        return relative_pose(pose, self.goal)


def polar(pose: Pose,
          goal: Pose) -> tuple[float, float, float]:
    """(e [m], alpha [rad], theta [rad]) of a pose."""
    dx, dy = goal[0] - pose[0], goal[1] - pose[1]
    direction = math.atan2(dy, dx)
    return math.hypot(dx, dy), wrap(direction - pose[2]), wrap(direction - goal[2])


def approach_law(coordinates: tuple[float, float, float],
                gains: tuple[float, float, float]) -> tuple[float, float]:
    """u [m/s] and omega [rad/s]."""
    e, alpha, theta = coordinates
    gamma, k, h = gains
    sinc = math.sin(alpha) / alpha if alpha else 1.0
    turn = k * alpha + gamma * math.cos(alpha) * sinc * (alpha + h * theta)
    return gamma * e * math.cos(alpha), turn
