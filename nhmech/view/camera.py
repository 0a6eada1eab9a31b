"""The place of the camera, from which vehicle and path are visible at a glance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

# tangents of the half angles that the picture fills across and upward: a lens of 38 degrees, in a
# window of 3:2 with the bar below
LENS = (0.46, 0.28)
# [rad] from ahead of the vehicle to its right, and above the ground: front, side and top all show
AZIMUTH, ELEVATION = 0.95, 0.5


# how many times farther away than for the vehicle alone: to see a whole path at the most, and to go
# along with the vehicle, which then fills a third of the picture or more
FARTHEST, ALONG = 2.4, 2.0
UNSEEN = 1e-6  # of the vehicle's size: what moves by less is not drawn again
RIM = np.array([[np.cos(a), np.sin(a)] for a in np.arange(12) * np.pi / 6])


@dataclass(frozen=True)
class Extent:
    """The size of a vehicle."""

    size: float  # diameter of the ball about its focus that holds it [m]
    # radius, height: of the upright cylinder on the ground about its focus that holds it [m]: the
    # same from everywhere
    radius: float
    height: float


@dataclass(frozen=True)
class View:
    """The place of the camera, and the radius of the ground that is drawn. Lengths in [m], points
    (3,) in W."""

    size: float  # diameter of the vehicle
    target: np.ndarray  # what the camera looks at
    eye: np.ndarray  # where it stands
    follow: bool  # whether it moves along with the vehicle
    focus: np.ndarray  # the point of the ground below the vehicle for which `target` and `eye` hold
    lift: np.ndarray  # from there to the middle of the vehicle
    ground: np.ndarray  # middle of the drawn ground
    reach: float  # radius of the drawn ground

    @property
    def unseen(self) -> float:
        """Displacements below this are not drawn [m]."""
        return UNSEEN * self.size

    def camera(self) -> dict:
        """The camera, for the page."""
        distance = float(np.linalg.norm(self.eye - self.target))
        far = 4 * (distance + self.reach)
        points = {"target": self.target.tolist(), "eye": self.eye.tolist(),
                  "focus": self.focus.tolist(), "lift": self.lift.tolist()}
        return {**points, "follow": self.follow, "near": 0.02 * distance, "far": far}


def frame(extent: Extent, path: ArrayLike, normal: ArrayLike, forward: ArrayLike,
          follow: bool | None = None, also: ArrayLike = ()) -> View:
    """A view of a vehicle of some `extent` that moves along a `path` (n, 3) [m] on the ground.

    The camera stands to the side of the path's longer extent and sees the vehicle's front, as near
    as its lens allows. It frames the whole path and the points `also` (k, 3); or if the vehicle
    would be small, or `follow` says so, it frames the start and follows the vehicle. `normal` (3,)
    is the ground's, `forward` (3,) the vehicle's x axis at the start.
    """
    track, n = np.atleast_2d(np.asarray(path, dtype=float)), np.asarray(normal, dtype=float)
    points = np.vstack([track, np.reshape(also, (-1, 3))])
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    reach = float(np.max(np.linalg.norm(points - middle, axis=1)))
    along = _main_direction(track, n, np.asarray(forward, dtype=float), extent.size)
    level = np.cos(AZIMUTH) * along + np.sin(AZIMUTH) * np.cross(along, n)
    away = np.cos(ELEVATION) * level + np.sin(ELEVATION) * n
    right = np.cross(n, away) / np.linalg.norm(np.cross(n, away))
    axes = np.array([right, np.cross(away, right), away])
    circle = extent.radius * RIM @ np.array([right, np.cross(n, right)])
    body = np.vstack([circle, circle + extent.height * n])

    target, distance = _fit(track[0] + body, axes)
    whole, farther = _fit(np.vstack([points[:, None] + body]).reshape(-1, 3), axes)
    if follow is None:
        follow = farther > FARTHEST * distance
    target, distance = (target, ALONG * distance) if follow else (whole, farther)
    return View(extent.size, target, target + distance * away, follow, track[0],
                0.5 * extent.height * n, middle, 1.2 * reach + 13 * extent.size)


def _fit(points: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, float]:
    """The target (3,) and the distance of the camera, so that all points (n, 3) are in the picture;
    axes (3, 3): to its right, upward in it, and out of it."""
    seen = points @ axes.T
    middle = (seen.min(axis=0) + seen.max(axis=0)) / 2
    across, upward, out = np.abs(seen[:, 0] - middle[0]), np.abs(seen[:, 1] - middle[1]), seen[:, 2]
    distance = np.max(out - middle[2] + np.maximum(across / LENS[0], upward / LENS[1]))
    return middle @ axes, float(distance)


def _main_direction(path: np.ndarray, normal: np.ndarray, forward: np.ndarray,
                    size: float) -> np.ndarray:
    """Unit vector (3,) along the ground: the longest extent of a path, or the vehicle's forward
    direction where the path is short."""
    along = forward
    if np.max(np.ptp(path, axis=0)) > 0.5 * size:
        along = np.linalg.svd(path - path.mean(axis=0), full_matrices=False)[2][0]
        along = along if along @ (path[-1] - path[0]) >= 0 else -along
    along = along - normal * (normal @ along)
    if np.linalg.norm(along) < 1e-6:  # a vehicle that stands on its tail has no forward
        along = np.cross(normal, [0.0, 0.0, 1.0] if abs(normal[2]) < 0.9 else [0.0, 1.0, 0.0])
    return along / np.linalg.norm(along)
