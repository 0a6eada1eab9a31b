"""Where the camera stands, so that a stranger sees the vehicle and its way at the first glance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# tangents of half the angle that is used across and upward, by a lens of 38 degrees in a window of
# 3:2 above a bar
LENS = (0.46, 0.28)
AZIMUTH, ELEVATION = 0.95, 0.5  # [rad] from ahead of the vehicle to its right, and above the ground


@dataclass(frozen=True)
class View:
    """Where the camera stands, and how much ground is drawn. Lengths in [m], points (3,) in W.

    Attributes
    ----------
    size
        Of the vehicle.
    target
        What the camera looks at.
    eye
        Where it stands.
    follow
        Whether it goes along with the vehicle.
    focus
        The point of the vehicle for which `target` and `eye` hold.
    ground
        Middle of the drawn ground.
    reach
        Radius of the drawn ground.
    """

    size: float
    target: np.ndarray
    eye: np.ndarray
    follow: bool
    focus: np.ndarray
    ground: np.ndarray
    reach: float

    def camera(self) -> dict:
        """The camera as the page takes it."""
        distance = float(np.linalg.norm(self.eye - self.target))
        far = 4 * (distance + self.reach)
        points = {"target": self.target.tolist(), "eye": self.eye.tolist(),
                  "focus": self.focus.tolist()}
        return {**points, "follow": self.follow, "near": 0.02 * distance, "far": far}


def frame(size: float, path, normal, forward, follow: bool | None = None, also=()) -> View:
    """A view of a vehicle of `size` [m] that goes along `path` (n, 3) [m] on the plane with this
    normal.

    `forward` (3,) is its x axis at the start.

    The camera stands to the side of the path's longer extent and sees the vehicle's front, as near
    as its lens allows. It frames the whole path; or, where the path is long against the vehicle or
    `follow` says so, the start, and goes along. `also` (k, 3) [m] are further points to be seen.
    """
    path, normal = np.atleast_2d(path), np.asarray(normal, dtype=float)
    points = np.vstack([path, np.reshape(also, (-1, 3))])
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    extent = float(np.max(np.linalg.norm(points - middle, axis=1)))
    follow = extent > 3.5 * size if follow is None else follow
    along = np.asarray(forward, dtype=float)
    if np.max(np.ptp(path, axis=0)) > 0.5 * size:
        along = np.linalg.svd(path - path.mean(axis=0), full_matrices=False)[2][0]
        along = along if along @ (path[-1] - path[0]) >= 0 else -along
    along = along - normal * (normal @ along)
    if np.linalg.norm(along) < 1e-6:  # a vehicle that stands on its tail has no forward
        along = np.cross(normal, [0.0, 0.0, 1.0] if abs(normal[2]) < 0.9 else [0.0, 1.0, 0.0])
    along = along / np.linalg.norm(along)
    level = np.cos(AZIMUTH) * along + np.sin(AZIMUTH) * np.cross(along, normal)
    away = np.cos(ELEVATION) * level + np.sin(ELEVATION) * normal
    right = np.cross(normal, away) / np.linalg.norm(np.cross(normal, away))
    seen = points[np.linalg.norm(points - path[0], axis=1) < 2.0 * size] if follow else points
    target = (seen.min(axis=0) + seen.max(axis=0)) / 2 + 0.2 * size * normal
    depth = (seen - target) @ away
    across, upward = (
        np.abs((seen - target) @ right),
        np.abs((seen - target) @ np.cross(away, right)),
    )
    distance = float(np.max(depth + np.maximum((across + 0.5 * size) / LENS[0],
                                               (upward + 0.5 * size) / LENS[1])))
    return View(size, target, target + distance * away, follow, path[0], middle,
                1.2 * extent + 13 * size)
