"""Pure pursuit."""

from __future__ import annotations

import math

from ..checks import check_arguments, read_positive
from ..vehicle.vehicle import Vehicle
from .path import Path, Pose
from .tracking import Drive, Tracker

LOOKAHEAD = 1.0    # of a unit


@check_arguments
class PurePursuit(Tracker):
    """Pure pursuit (Coulter 1992): drives on the arc to a point of the path ahead.

    Parameters
    ----------
    vehicle, path, speed, drive
        As of `Tracker`.
    lookahead
        [m]; if None, one unit.

    Notes
    -----
    The goal G is the point of the path ahead at the distance l = `lookahead`. With G at y_G to the
    left of P's heading, the circle through P and G that is tangent to the heading has::

        curvature = 2 y_G / l^2,   omega = v curvature

    On a path of constant curvature the error vanishes; elsewhere, from the linearised loop
    e'' + 2 e'/l + 2 e/l^2 = l/3 dcurvature/ds, corners are cut by about l^3/6 dcurvature/ds.
    Farther than l from the path, the goal is the nearest point.

    R. C. Coulter, Implementation of the pure pursuit path tracking algorithm, CMU-RI-TR-92-01
    (1992).

    Examples
    --------
    >>> from nhmech.control import PurePursuit, make_path
    >>> tracker = PurePursuit(vehicle, make_path("figure8", 2.0), speed=0.5)
    >>> simulator = Simulator(vehicle, tracker, control_period=0.01)
    >>> start = simulator.reset(**tracker.start)
    >>> simulator.run(0.1).stop
    'duration'
    """

    def __init__(self, vehicle: Vehicle, path: Path, *, speed: float = 0.5,
                 lookahead: float | None = None, drive: Drive | None = None):
        super().__init__(vehicle, path, speed=speed, drive=drive)
        self.lookahead = (LOOKAHEAD * self.unit if lookahead is None
                          else read_positive("lookahead", lookahead))

    def law(self, t: float, pose: Pose, s: float) -> tuple[float, float]:
        x, y, _, _ = self.path.station(goal(self.path, pose[:2], s, self.lookahead))
        v = self.pace(s)
        return v, v * arc((x - pose[0], y - pose[1]), pose[2])


def goal(path: Path, point: tuple[float, float], s: float, lookahead: float) -> float:
    """s [m] of the first point after s at the distance `lookahead` from `point`; s itself where the
    path is farther."""
    def distance(at: float) -> tuple[float, float]:
        x, y, heading, _ = path.station(at)
        dx, dy = x - point[0], y - point[1]
        far = math.hypot(dx, dy)
        slope = (dx * math.cos(heading) + dy * math.sin(heading)) / far if far else 1.0
        return far - lookahead, slope

    low, high = s, s + lookahead
    if distance(low)[0] >= 0:
        return s
    # the arc is longer than its chord
    while distance(high)[0] < 0:
        low, high = high, high + lookahead / 4
        if high > s + 4 * lookahead:
            return high      # the path stays this near: a circle smaller than the lookahead
    at = high
    # Newton, kept between low and high
    for _ in range(20):
        value, slope = distance(at)
        low, high = (at, high) if value < 0 else (low, at)
        following = at - value / slope if slope > 0 else low
        following = following if low <= following <= high else (low + high) / 2
        if abs(following - at) <= 1e-12 * lookahead:
            return following
        at = following
    return at


def arc(to: tuple[float, float], heading: float) -> float:
    """Curvature [1/m] of the arc along `heading` through a point `to` away: 2 y / l^2."""
    left = to[1] * math.cos(heading) - to[0] * math.sin(heading)
    square = to[0] ** 2 + to[1] ** 2
    return 2 * left / square if square else 0.0
