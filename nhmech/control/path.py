"""A path in the ground plane, by arc length."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from ..errors import ModelError

GRID = 1024        # points of the coarse search for the nearest one
ROUNDS = 30        # of Newton's method after it
CLOSE = 1e-12      # of the length: a step this small is the last
# least 1 - curvature x offset in a Newton step: past the centre of curvature nearest turns farthest
BENT = 0.2


class Path(ABC):
    """p(s) with |dp/ds| = 1 and dheading/ds = curvature.

    x and y are those of W, seen from above: a path is meant for level ground. s may be a number or
    an array.

    Attributes
    ----------
    length
        [m]; of a closed path one lap, after which it repeats.
    closed
        An open path goes on straight beyond both ends.
    """

    length: float
    closed: bool

    @abstractmethod
    def _inner(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """x [m], y [m], heading [rad], curvature [1/m]; s in [0, length] of an open path, any s of
        a closed one."""

    def at(self, s) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """x [m], y [m], heading [rad] (not wrapped) and curvature [1/m] (left positive) at arc
        length s [m]."""
        if self.closed:
            return self._inner(s)
        inside = (
            min(max(s, 0.0), self.length)
            if isinstance(s, float)
            else np.minimum(np.maximum(s, 0.0), self.length)
        )
        x, y, heading, curvature = self._inner(inside)
        beyond = s - inside
        if isinstance(beyond, float) and beyond == 0:
            return x, y, heading, curvature
        straight = np.where(beyond == 0, curvature, 0.0)
        return x + beyond * np.cos(heading), y + beyond * np.sin(heading), heading, straight

    def point(self, s) -> np.ndarray:
        """p(s), (..., 2) [m]."""
        x, y, _, _ = self.at(s)
        return np.stack([x, y], axis=-1)

    def heading(self, s) -> np.ndarray:
        """[rad], from the x axis to the tangent."""
        return self.at(s)[2]

    def curvature(self, s) -> np.ndarray:
        """[1/m], positive to the left."""
        return self.at(s)[3]

    def nearest(self, point, near=None):
        """s of the path's nearest point to `point` (..., 2) [m].

        Newton's method on (p(s) - point) . tangent(s) = 0.

        Parameters
        ----------
        near
            Look only around this s (...,): what a follower wants where a path crosses itself, and
            faster. s of a closed path then goes on counting over its laps; without `near` it lies
            in [0, length].

        Raises
        ------
        ModelError
            For a point that is not finite.
        """
        point = read_points(point)
        s = np.asarray(near, dtype=float) if near is not None else self._coarse(point)
        widest = self.length / 16 if near is not None else 2 * self.length / GRID
        refine = self._refine_one if s.ndim == 0 and point.ndim == 1 else self._refine
        s = refine(point[..., 0], point[..., 1], s, widest)
        return s % self.length if self.closed and near is None else s

    def entry(self, point, heading, unit: float):
        """s where a follower at `point` (..., 2) [m] that looks along `heading` (...) [rad] joins;
        `near` leads it on.

        The nearest point of the branch with the least `|p(s) - point|^2 + unit^2 |t(s) - t|^2`,
        where t are the tangents: where a path crosses itself, the nearest point alone may lie on the branch that
        runs across. Beside a crossing at right angles it does.

        Parameters
        ----------
        unit
            [m] that one radian counts as, e.g. the vehicle's length.

        Raises
        ------
        ModelError
            As `nearest` does, and for a heading that is not finite.
        """
        point, heading = read_points(point), np.asarray(heading, dtype=float)
        if not np.isfinite(heading).all():
            raise ModelError(f"heading = {heading} must be finite [rad]")
        return self.nearest(point, near=self._coarse(point, heading, unit))

    def _refine(self, x: np.ndarray, y: np.ndarray, s: np.ndarray, widest: float) -> np.ndarray:
        for _ in range(ROUNDS):
            px, py, heading, curvature = self.at(s)
            cos, sin = np.cos(heading), np.sin(heading)
            along = (x - px) * cos + (y - py) * sin
            left = (y - py) * cos - (x - px) * sin
            before, s = s, s + np.clip(along / np.maximum(1 - curvature * left, BENT), -widest,
                                       widest)
            if not self.closed:
                s = np.clip(s, 0.0, self.length)
            if np.max(np.abs(s - before), initial=0.0) <= CLOSE * self.length:
                break
        return s

    def _refine_one(self, x: np.ndarray, y: np.ndarray, s: np.ndarray, widest: float) -> float:
        """`_refine` of one point, several times as fast in plain numbers: followers ask at every
        turn."""
        x, y, s = float(x), float(y), float(s)
        for _ in range(ROUNDS):
            px, py, heading, curvature = map(float, self.at(s))
            cos, sin = math.cos(heading), math.sin(heading)
            along = (x - px) * cos + (y - py) * sin
            left = (y - py) * cos - (x - px) * sin
            before, s = s, s + min(max(along / max(1 - curvature * left, BENT), -widest), widest)
            if not self.closed:
                s = min(max(s, 0.0), self.length)
            if abs(s - before) <= CLOSE * self.length:
                break
        return s

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        s = np.linspace(0.0, self.length, GRID)
        x, y, heading, _ = self.at(s)
        return s, np.stack([x, y], axis=-1), np.broadcast_to(heading, s.shape)

    def _coarse(self, point: np.ndarray, heading: np.ndarray | None = None,
                unit: float = 0.0) -> np.ndarray:
        s, p, tangent = self._grid
        squares = (point[..., None, 0] - p[:, 0]) ** 2 + (point[..., None, 1] - p[:, 1]) ** 2
        if heading is not None:
            squares = squares + 2 * unit ** 2 * (1 - np.cos(tangent - heading[..., None]))
        return s[np.argmin(squares, axis=-1)]

    def place(self, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Path:
        """The same path in a frame that stands at (x, y) [m], turned by yaw [rad]."""
        if not all(map(math.isfinite, (x, y, yaw))):
            raise ModelError(f"a path cannot be placed at ({x}, {y}, {yaw}): give finite numbers")
        return MovedPath(self, float(x), float(y), float(yaw))

    def start(self) -> tuple[float, float, float]:
        """x [m], y [m] and heading [rad] of its beginning."""
        return tuple(float(value) for value in self.at(np.float64(0.0))[:3])

    def end(self) -> tuple[float, float, float]:
        """x [m], y [m] and heading [rad] of its end."""
        return tuple(float(value) for value in self.at(np.float64(self.length))[:3])


class MovedPath(Path):
    """Another path, moved and turned."""

    def __init__(self, path: Path, x: float, y: float, yaw: float):
        self.path, self.origin, self.yaw = path, (x, y), yaw
        self.length, self.closed = path.length, path.closed

    def _inner(self, s):
        x, y, heading, curvature = self.path._inner(s)
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return (
            self.origin[0] + cos * x - sin * y, self.origin[1] + sin * x + cos * y,
            heading + self.yaw, curvature,
        )


def read_points(point) -> np.ndarray:
    """(..., 2) as an array; raises `ModelError` where it is not that."""
    point = np.asarray(point, dtype=float)
    if point.shape[-1:] != (2,) or not np.isfinite(point).all():
        raise ModelError(f"point = {point} must be x and y, two finite numbers [m]")
    return point


def positive(what: str, value: float) -> float:
    """The value; raises `ModelError` where it is not a positive finite number."""
    if not (isinstance(value, (int, float, np.number)) and math.isfinite(value) and value > 0):
        raise ModelError(f"{what} = {value!r} must be a positive number")
    return float(value)
