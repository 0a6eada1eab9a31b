"""Paths in the ground plane, by arc length; those of straight lines and arcs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..attitude import Scalar, wrap
from ..checks import as_numbers, read_array, read_number, show
from ..errors import InputError
from ..once import cached_property

GRID = 1024        # points of the coarse search for the nearest one, and more in tight bends
FINE = 0.05        # [rad] turn from one to the next of them, at most, after so many halvings
HALVINGS = 20
ROUNDS = 100       # after it, at most; where the path stays nearly as far away they are many
CLOSE = 1e-12      # of the length: a step this small is the last
SAME = 1e-10       # of the length: two that are no further apart are the same point
WIDEST = 16        # part of the length that one round may lead along, around a known place

STRIDE = 16        # of a series of points, every such one is followed by itself
SWEEPS = 4         # over the whole series, before each of them is

Pose = tuple[float, float, float]           # x [m], y [m], heading [rad]
Poses = tuple[Scalar, Scalar, Scalar]
Curve = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def cos_sin(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Cosine and sine; plain numbers for a number, which is several times as fast."""
    if isinstance(angle, float):
        return math.cos(angle), math.sin(angle)
    return np.cos(angle), np.sin(angle)


def relative_pose(pose: Poses, frame: Poses) -> Poses:
    """A pose relative to another one, with its heading in [-pi, pi); or many poses."""
    dx, dy = pose[0] - frame[0], pose[1] - frame[1]
    c, s = cos_sin(frame[2])
    return c * dx + s * dy, c * dy - s * dx, wrap(pose[2] - frame[2])


class Path(ABC):
    """p(s) with |dp/ds| = 1 and dheading/ds = curvature.

    x and y are those of W, seen from above, for level ground. s may be a number or an array.

    Attributes
    ----------
    length
        [m]; for a closed path one lap, after which it repeats.
    closed
        Whether the end meets the beginning; an open path continues straight beyond both ends.
    """

    length: float
    closed: bool

    @abstractmethod
    def _inner(self, s: float | np.ndarray) -> Curve:
        """x [m], y [m], heading [rad], curvature [1/m]; s in [0, length] of an open path, any s of
        a closed one."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(length={self.length:.6g}, closed={self.closed})"

    def at(self, s: float | np.ndarray) -> Curve:
        """x [m], y [m], heading [rad] (not wrapped) and curvature [1/m] (left positive) at arc
        length s [m].

        Raises
        ------
        InputError
            If s is not a finite number or an array of finite numbers.
        """
        s = _read_arc_length(s)
        if self.closed:
            return self._inner(s)
        inside: float | np.ndarray
        if isinstance(s, float):
            inside = min(max(s, 0.0), self.length)
        else:
            inside = np.minimum(np.maximum(s, 0.0), self.length)
        x, y, heading, curvature = self._inner(inside)
        beyond = s - inside
        if isinstance(beyond, float) and beyond == 0:
            return x, y, heading, curvature
        straight = np.where(beyond == 0, curvature, 0.0)
        return x + beyond * np.cos(heading), y + beyond * np.sin(heading), heading, straight

    def station(self, s: float) -> tuple[float, float, float, float]:
        """`at` one arc length, in plain numbers."""
        x, y, heading, curvature = self.at(read_number("s", s, "an arc length [m]"))
        return float(x), float(y), float(heading), float(curvature)

    def point(self, s: float | np.ndarray) -> np.ndarray:
        """p(s), (..., 2) [m]."""
        x, y, _, _ = self.at(s)
        return np.stack([x, y], axis=-1)

    def heading(self, s: float | np.ndarray) -> np.ndarray:
        """Angle from the x axis to the tangent [rad]."""
        return self.at(s)[2]

    def curvature(self, s: float | np.ndarray) -> np.ndarray:
        """Positive to the left [1/m]."""
        return self.at(s)[3]

    def nearest(self, point: ArrayLike, near: ArrayLike | None = None) -> float | np.ndarray:
        """s of the path's nearest point to `point` (..., 2) [m].

        Solves (p(s) - point) . tangent(s) = 0: each step leads to the nearest point of the circle
        of curvature, so that a line or an arc takes one. At the centre of an arc, every place on
        it is one.

        Parameters
        ----------
        point
            x and y (..., 2) [m].
        near
            Search only around this s (...,), which is faster and is what a follower needs where a
            path crosses itself. On a closed path s then keeps counting over the laps; without
            `near` it lies in [0, length].

        Raises
        ------
        InputError
            For a point that is not finite, and a `near` of another shape.
        """
        points = read_points(point)
        if near is None:
            return self._nearest_of_all(points.reshape(-1, 2)).reshape(points.shape[:-1])[()]
        begin = as_numbers(near)
        if begin is None or begin.shape != points.shape[:-1] or not np.isfinite(begin).all():
            raise InputError(f"near = {show(near)} must be an arc length [m] for each point")
        if points.ndim == 1:
            return self._refine_one(float(points[0]), float(points[1]), float(begin))
        return self._refine(points[..., 0], points[..., 1], begin)

    def _nearest_of_all(self, points: np.ndarray) -> np.ndarray:
        """`nearest` of points (n, 2) among all branches that may come nearest between two points of
        the grid."""
        s, p, _ = self._grid
        away = np.hypot(points[:, :1] - p[:, 0], points[:, 1:] - p[:, 1])
        beyond = (away[:, -2:-1], away[:, 1:2]) if self.closed else np.full((2, len(away), 1),
                                                                             np.inf)
        around = np.hstack([beyond[0], away, beyond[1]])
        which, some = np.nonzero((away <= around[:, :-2]) & (away <= around[:, 2:])
                                 & (away <= away.min(axis=1, keepdims=True)
                                    + self.length / GRID))
        found = self._refine(points[which, 0], points[which, 1], s[some])
        order = np.lexsort([np.hypot(*(self.point(found) - points[which]).T), which])
        best = found[order[np.searchsorted(which, np.arange(len(points)))]]
        return best % self.length if self.closed else best

    def entry(self, point: ArrayLike, heading: ArrayLike, unit: float) -> float | np.ndarray:
        """s at which a follower at `point` (..., 2) [m] with `heading` (...) [rad] should join the
        path; afterwards `nearest` with `near` is used.

        The nearest point of the branch with the least `|p(s) - point|^2 + unit^2 |t(s) - t|^2`,
        where t are the tangents: where a path crosses itself, the nearest point alone may lie on
        the branch that runs across. Beside a crossing at right angles it does.

        Parameters
        ----------
        point
            x and y (..., 2) [m].
        heading
            (...) [rad].
        unit
            [m] that one radian counts as, e.g. the vehicle's length.

        Raises
        ------
        InputError
            As `nearest` does, and for a heading that is not finite.
        """
        points, looks = read_points(point), np.asarray(heading, dtype=float)
        if not np.isfinite(looks).all():
            raise InputError(f"heading = {heading!r} must be finite [rad]")
        return self.nearest(points, near=self._coarse(points, looks, unit))

    def follow(self, point: ArrayLike, heading: ArrayLike, unit: float,
               near: ArrayLike | None) -> float | np.ndarray:
        """s of a follower: `nearest` around where it was last, `entry` where that is None."""
        return self.entry(point, heading, unit) if near is None else self.nearest(point, near)

    def trace(self, points: ArrayLike, headings: ArrayLike, unit: float) -> np.ndarray:
        """s (n,) of a follower at a series of places: `follow`, from each to the next.

        All at once: what is interpolated between some of them is right where Newton's method leads
        from each s to the next one.

        Parameters
        ----------
        points, headings
            (n, 2) [m] and (n,) [rad].
        unit
            As of `entry`.

        Raises
        ------
        InputError
            As `entry` does.
        """
        points, looks = read_points(points), np.asarray(headings, dtype=float)
        some = np.unique(np.r_[0:len(points):STRIDE, len(points) - 1])
        s = np.interp(np.arange(len(points)), some,
                      self._follow_each(points[some], looks[some], unit))
        for _ in range(SWEEPS):
            before, s = s, s.copy()
            s[1:] = self._refine(points[1:, 0], points[1:, 1], before[:-1])
            if np.max(np.abs(s - before)) <= SAME * self.length:
                return s
        return self._follow_each(points, looks, unit)

    def _follow_each(self, points: np.ndarray, looks: np.ndarray, unit: float) -> np.ndarray:
        found: list[float] = []
        for point, look in zip(points, looks):
            found.append(float(self.follow(point, look, unit, found[-1] if found else None)))
        return np.array(found)

    def _refine(self, x: np.ndarray, y: np.ndarray, s: np.ndarray) -> np.ndarray:
        widest = self.length / WIDEST
        low, high = np.full(s.shape, -np.inf), np.full(s.shape, np.inf)
        for _ in range(ROUNDS):
            px, py, heading, curvature = self.at(s)
            cos, sin = np.cos(heading), np.sin(heading)
            along = (x - px) * cos + (y - py) * sin
            left = (y - py) * cos - (x - px) * sin
            turn = np.arctan2(curvature * along, 1 - curvature * left)
            step = np.divide(turn, curvature, out=along.copy(), where=curvature != 0)
            low, high = np.where(step > 0, s, low), np.where(step < 0, s, high)
            before, s = s, s + np.clip(step, -widest, widest)
            # onto an end of the bracket a step would lead back and forth
            out = ((s <= low) | (s >= high)) & (s != before)
            s = np.add(low, high, out=2 * s, where=out) / 2
            if not self.closed:
                s = np.clip(s, 0.0, self.length)
            if np.max(np.abs(s - before), initial=0.0) <= CLOSE * self.length:
                break
        return s

    def _refine_one(self, x: float, y: float, s: float) -> float:
        """`_refine` of one point in plain numbers, several times as fast: followers need it."""
        widest, low, high = self.length / WIDEST, -math.inf, math.inf
        for _ in range(ROUNDS):
            px, py, heading, curvature = map(float, self.at(s))
            cos, sin = math.cos(heading), math.sin(heading)
            along = (x - px) * cos + (y - py) * sin
            left = (y - py) * cos - (x - px) * sin
            turn = math.atan2(curvature * along, 1 - curvature * left)
            step = turn / curvature if curvature else along
            low, high = (s if step > 0 else low), (s if step < 0 else high)
            before, s = s, s + min(max(step, -widest), widest)
            s = s if low < s < high or s == before else (low + high) / 2
            if not self.closed:
                s = min(max(s, 0.0), self.length)
            if abs(s - before) <= CLOSE * self.length:
                break
        return s

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        s = np.linspace(0.0, self.length, GRID)
        for _ in range(HALVINGS):
            wide = np.abs(np.diff(np.broadcast_to(self.at(s)[2], s.shape))) > FINE
            if not wide.any():
                break
            s = np.sort(np.concatenate([s, (s[:-1] + s[1:])[wide] / 2]))
        x, y, heading, _ = self.at(s)
        return s, np.stack([x, y], axis=-1), np.broadcast_to(heading, s.shape)

    def _coarse(self, point: np.ndarray, heading: np.ndarray, unit: float) -> np.ndarray:
        s, p, tangent = self._grid
        squares = (point[..., None, 0] - p[:, 0]) ** 2 + (point[..., None, 1] - p[:, 1]) ** 2
        return s[np.argmin(squares + 2 * unit ** 2 * (1 - np.cos(tangent - heading[..., None])),
                           axis=-1)]

    def place(self, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Path:
        """The same path moved to (x, y) [m] and turned by yaw [rad].

        Raises
        ------
        InputError
            For numbers that are not finite.
        """
        pose = read_array("the place of a path", (x, y, yaw), (3,),
                          "x [m], y [m] and yaw [rad], finite numbers")
        return MovedPath(self, *map(float, pose))

    def start(self) -> Pose:
        """x [m], y [m] and heading [rad] of its beginning."""
        return self.station(0.0)[:3]

    def end(self) -> Pose:
        """x [m], y [m] and heading [rad] of its end."""
        return self.station(self.length)[:3]


class MovedPath(Path):
    """Another path, moved and turned."""

    def __init__(self, path: Path, x: float, y: float, yaw: float):
        self.path, self.origin, self.yaw = path, (x, y), yaw
        self.length, self.closed = path.length, path.closed

    def _inner(self, s: float | np.ndarray) -> Curve:
        x, y, heading, curvature = self.path.at(s)
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return (self.origin[0] + cos * x - sin * y, self.origin[1] + sin * x + cos * y,
                heading + self.yaw, curvature)


def _read_arc_length(s: float | np.ndarray) -> float | np.ndarray:
    if isinstance(s, float) and math.isfinite(s):
        return s
    found = as_numbers(s)
    if found is None or not np.isfinite(found).all():
        raise InputError(f"s = {show(s)} must be an arc length [m], or an array of them")
    return found


def read_points(point: ArrayLike) -> np.ndarray:
    """x and y as an array (..., 2). Raises `InputError` for anything else."""
    found = as_numbers(point)
    if found is None or found.shape[-1:] != (2,) or not np.isfinite(found).all():
        raise InputError(f"point = {point!r} must be x and y, two finite numbers [m]")
    return found


class Arcs(Path):
    """Straight lines and arcs one after the other, each (curvature [1/m], length [m]).

    Its heading is continuous; its curvature jumps.
    """

    def __init__(self, arcs: Sequence[tuple[float, float]],
                 pose: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0), closed: bool = False):
        self.arcs = tuple((float(k), float(d)) for k, d in arcs if d > 0)
        if not self.arcs:
            raise InputError(f"a path of arcs {list(arcs)} has no length")
        begins = [read_array("pose", pose, (3,), "x [m], y [m] and heading [rad], finite numbers")]
        for k, d in self.arcs:
            x, y, heading = begins[-1]
            begins.append(np.array(_arc(x, y, heading, k, d)))
        self._poses, self._k = np.array(begins[:-1]), np.array([k for k, _ in self.arcs])
        self._s = np.concatenate([[0.0], np.cumsum([d for _, d in self.arcs])])
        self._turned = begins[-1][2] - begins[0][2]
        self.length, self.closed = float(self._s[-1]), closed

    def _inner(self, s: float | np.ndarray) -> Curve:
        lap = np.floor(s / self.length) if self.closed else 0.0
        s = s - lap * self.length
        i = np.minimum(np.searchsorted(self._s, s, side="right") - 1, len(self._k) - 1)
        x, y, heading = np.moveaxis(self._poses[i], -1, 0)
        return *_arc(x, y, heading + lap * self._turned, self._k[i], s - self._s[i]), self._k[i]


def _arc(x: np.ndarray, y: np.ndarray, heading: np.ndarray, k: float | np.ndarray,
         s: float | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pose after an arc; the chord is s sinc(k s / 2) along the mean heading, which holds for a
    straight line too."""
    half = k * s / 2
    chord = s * np.sinc(half / np.pi)
    mean = heading + half
    return x + chord * np.cos(mean), y + chord * np.sin(mean), heading + 2 * half
