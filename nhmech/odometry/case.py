"""One stream of poses and the joints: the data of a comparison, and its unknown numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..once import cached_property
from .estimate import Estimate
from .planar import across, rotate
from .replay import Replay, Track, Wiring
from .samples import PoseSamples
from .stamps import gaps, interval
from .windows import Windows, cut

# standard deviations of a prior that decides only what the log leaves open: multipliers,
# [m], [m], [rad], [m/s], [s]; 0 for what is not asked for at first
SPREAD = {"radius": 1.0, "track": 1.0, "wheelbase": 1.0, "sensor_x": 1.0, "sensor_y": 1.0,
          "sensor_yaw": 1.0, "slide": 0.0, "clock": 0.5}
TINY = 1e-9            # [m], [rad]
CLOSE = 0.02           # intervals of the joints: rows are made anew for clocks further apart


@dataclass(frozen=True, eq=False)
class Case:
    """One stream of poses and the joints, ready to be compared."""

    replay: Replay  # of the joints at the moments of the poses
    pose: PoseSamples  # those poses
    length: float  # of the vehicle [m]
    duration: float

    @property
    def names(self) -> tuple[str, ...]:
        groups = tuple(f"radius:{group.name}" for group in self.replay.rolling.groups)
        return (*groups, *list(SPREAD)[1:])

    @property
    def nominal(self) -> np.ndarray:
        """The numbers of the vehicle as it is."""
        return np.array([1.0] * (len(self.names) - 5) + [0.0] * 5)

    @cached_property
    def poses(self) -> np.ndarray:
        return self.pose.planar

    def model(self, value: np.ndarray, wiring: Wiring) -> Track:
        """The track of the sensor, with derivatives by all numbers."""
        *radius, track, wheelbase, x, y, yaw, slide, late = value
        ticks = CLOSE * interval(self.replay.joints.t)
        read = round(late / ticks) * ticks          # the rest is small enough to be linear
        found = self.replay.track(np.array(radius), track, wheelbase, read, wiring)
        base, slopes = found.poses, found.slopes
        arm = rotate(base[:, 2], np.broadcast_to([x, y], (len(base), 2)))
        poses = np.column_stack([base[:, :2] + arm, base[:, 2] + yaw])
        by_geometry = slopes.copy()
        by_geometry[..., :2] += across(arm) * slopes[..., 2:]
        by_place = np.zeros((3, *base.shape))
        by_place[0, :, :2] = rotate(base[:, 2], np.broadcast_to([1.0, 0.0], (len(base), 2)))
        by_place[1, :, :2] = across(by_place[0, :, :2])
        by_place[2, :, 2] = 1.0
        by_slide = np.zeros((1, *base.shape))
        aside = by_place[1, :, :2]
        by_slide[0, 1:, :2] = np.cumsum((aside[1:] + aside[:-1]) / 2
                                        * np.diff(self.replay.t)[:, None], axis=0)
        poses += slide * by_slide[0]
        by_clock = -np.gradient(poses, self.replay.t, axis=0)
        poses += (late - read) * by_clock
        slopes = np.concatenate([by_geometry, by_place, by_slide, by_clock[None]])
        d_slid = np.zeros((len(value), *found.slid.shape))
        d_slid[:len(found.d_slid)] = found.d_slid
        return Track(poses, slopes, found.slid, d_slid)

    def windows(self, track: np.ndarray) -> Windows:
        return cut(self.replay.t, track, self.poses, self.duration, self.length,
                   gaps(self.replay.joints.t))

    def error(self, wiring: Wiring) -> float:
        """How far the vehicle as it is goes astray, and its wheels from each other, as a part of
        its way and of its turning."""
        track = self.model(self.nominal, wiring)
        found = self.windows(track.poses)
        slid = np.abs(np.diff(track.slid, axis=0)).mean(1).sum()
        way, turned = found.way.sum(), found.turned.sum()
        return float(np.linalg.norm(found.left[:, :2], axis=1).sum() / max(way, TINY)
                     + np.abs(found.left[:, 2]).sum() / max(turned, TINY)
                     + slid / max(way, TINY))


@dataclass(frozen=True, eq=False)
class Comparison:
    """A case with its results: the wiring of the joints, the numbers that fit best, and the
    residuals by windows."""

    case: Case
    wiring: Wiring
    estimate: Estimate
    windows: Windows
