"""The Stanley controller."""

from __future__ import annotations

import math

from ..checks import check_arguments, read_positive
from ..vehicle.vehicle import Vehicle
from .path import Path, Pose
from .tracking import Drive, Tracker

GAIN = 1.0         # of speed / unit


@check_arguments
class Stanley(Tracker):
    """Stanley (Hoffmann et al. 2007): steers the front axle along the path and towards it.

    Parameters
    ----------
    vehicle, path, speed, drive
        As of `Tracker`.
    gain
        Pure number k unit / speed, of the rate k [1/s].

    Notes
    -----
    With e the front axle's distance to the left of the path and psi the path's heading less the
    vehicle's, the front wheels stand at::

        delta = psi - arctan(k e / v),   e' = -k e / sqrt(1 + (k e / v)^2)

    so that e falls from anywhere, and as exp(-k t) once it is small. v is the speed of the front
    axle; l ahead of P it makes the twist (v cos delta, v sin delta / l). l is the wheelbase; of
    vehicles that do not steer, one unit. delta is cut where P would go round tighter than the
    vehicle can.

    G. M. Hoffmann, C. J. Tomlin, M. Montemerlo, S. Thrun, Autonomous automobile trajectory tracking
    for off-road driving, American Control Conference 2007, its kinematic law. Rolling is ideal
    here, so that the paper's terms against sliding and lag are left out.
    """

    def __init__(self, vehicle: Vehicle, path: Path, *, speed: float = 0.5, gain: float = GAIN,
                 drive: Drive | None = None):
        super().__init__(vehicle, path, speed=speed, drive=drive)
        self.gain = read_positive("gain", gain)
        steers = any(axle.steering in vehicle.driven for axle in vehicle.steering.steered)
        self.ahead = self.unicycle.wheelbase if steers else self.unit
        # [rad] of delta
        self.most = math.atan2(self.ahead, self.unicycle.turning_radius)

    def law(self, t: float, pose: Pose, s: float) -> tuple[float, float]:
        lateral, heading = self.offset(pose, s)
        delta = min(max(steering(lateral, -heading, self.gain / self.unit), -self.most), self.most)
        v = self.pace(s)
        return v * math.cos(delta), v * math.sin(delta) / self.ahead


def steering(lateral: float, psi: float, rate: float) -> float:
    """delta [rad]; rate = k / v [1/m]."""
    return psi - math.atan(rate * lateral)
