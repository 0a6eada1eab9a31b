"""The numbers of a replay that fit logged poses best, with standard errors.

The log is cut into segments. In each the track may start anywhere, so that what is lost by slip in
one segment does not reach the next; the start is eliminated from the least-squares problem
(variable projection), and Gauss-Newton steps solve for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..attitude import wrap
from .planar import across, rotate
from .replay import Track

ITERATIONS = 15
SOFT = 4               # iterations in which far segments count less, before they are left out
CONVERGED = 1e-3       # of a standard error
WEIGHED, OUTLIER = 2.0, 4.0     # times the median error of the segments: counts less, is left out
FLOOR = 1e-7           # [m], [rad] of noise at least: rounding, and curves between samples

Model = Callable[[np.ndarray], Track]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Numbers with their standard errors.

    Attributes
    ----------
    names
        Of the unknowns.
    values, errors
        (p,); a standard error is the larger of two: of independent errors of the samples, and of
        independent segments (White's sandwich), where drift does not make it too small.
    noise
        Standard deviations about the fit: of position [m], of heading [rad], and of sliding of the
        wheels against each other in a segment [m].
    used
        Whether each segment took part, (S,).
    """

    names: tuple[str, ...]
    values: np.ndarray
    errors: np.ndarray
    noise: np.ndarray
    used: np.ndarray

    def __repr__(self) -> str:
        return f"<Estimate of {len(self.names)} numbers>"

    def __getitem__(self, name: str) -> tuple[float, float]:
        i = self.names.index(name)
        return float(self.values[i]), float(self.errors[i])


@dataclass(frozen=True, eq=False)
class _Segment:
    """What is left of the poses of a segment, then of how far its wheels slid against each other
    (3 n + m,), and derivatives of the replay (3 n + m, p), both in units of the noise and without
    what another start could explain."""

    left: np.ndarray
    slopes: np.ndarray
    n: int

    @property
    def error(self) -> float:
        """Root mean square."""
        return float(np.sqrt(np.mean(self.left ** 2)))

    def squares(self) -> np.ndarray:
        """Sums over positions, headings and sliding, (3,), and how many numbers are free in
        each."""
        poses, slid = self.left[:3 * self.n].reshape(-1, 3) ** 2, self.left[3 * self.n:] ** 2
        return np.array([[poses[:, :2].sum(), poses[:, 2].sum(), slid.sum()],
                         [2 * self.n - 2, self.n - 1, max(len(slid) - 3, 0)]])


def fit(model: Model, start: np.ndarray, names: Sequence[str], spread: np.ndarray,
        poses: np.ndarray, segments: Sequence[np.ndarray]) -> Estimate:
    """The unknowns (p,) for which a replay (`model`) comes closest to the logged poses (K, 3),
    segment by segment of pose indices.

    `spread` is the standard deviation of a prior about `start`, so wide that it decides only what
    the log does not determine; 0 fixes an unknown.
    """
    value, free, noise = start.copy(), spread > 0, np.ones(3)
    prior = np.diag(spread[free] ** -2.0)
    for turn_ in range(ITERATIONS):
        track = model(value)
        parts = [_reduce(track, rows, free, poses[rows], noise) for rows in segments]
        weights = _weights(parts, is_hard=turn_ >= SOFT)
        before, noise = noise, _noise(parts, weights, noise)
        parts = [_scale_segment(part, noise / before) for part in parts]
        H = sum(w * part.slopes.T @ part.slopes for w, part in zip(weights, parts))
        g = sum(w * part.slopes.T @ part.left for w, part in zip(weights, parts))
        cover = np.linalg.inv(H + prior)
        errors = _errors(cover, parts, weights)
        step = cover @ (g + prior @ (start - value)[free])
        if turn_ > SOFT and (np.abs(step) < CONVERGED * errors).all():
            break
        value[free] += step
    all_errors = np.full(len(value), np.nan)
    all_errors[free] = errors
    return Estimate(tuple(names), value, all_errors, noise, weights > 0)


def _reduce(track: Track, rows: np.ndarray, free: np.ndarray, poses: np.ndarray,
            noise: np.ndarray) -> _Segment:
    """A segment, reduced by its best start."""
    made, size = track.poses[rows], np.array([noise[0], noise[0], noise[1]])
    yaw = float(np.mean(np.unwrap(wrap(poses[:, 2] - made[:, 2]))))
    for _ in range(2):
        seen = rotate(np.full(len(poses), -yaw), poses[:, :2])
        seen = seen - seen.mean(0)
        left = np.column_stack([seen - (made[:, :2] - made[:, :2].mean(0)),
                                wrap(poses[:, 2] - made[:, 2] - yaw)]) / size
        start = np.zeros((len(poses), 3, 3))
        start[:, 0, 0] = start[:, 1, 1] = 1 / noise[0]
        start[:, :2, 2], start[:, 2, 2] = across(seen) / noise[0], 1 / noise[1]
        basis, upper = np.linalg.qr(start.reshape(-1, 3))
        yaw += float(np.linalg.solve(upper, basis.T @ left.ravel())[2])
    d = np.moveaxis(track.slopes[:, rows][free], 0, 2) / size[:, None]
    flat, wide = left.ravel(), d.reshape(3 * len(rows), -1)
    first, last = rows[0], rows[-1]
    slid = (track.slid[last] - track.slid[first]) / noise[2]
    d_slid = (track.d_slid[:, last] - track.d_slid[:, first])[free].T / noise[2]
    return _Segment(np.concatenate([flat - basis @ (basis.T @ flat), -slid]),
                    np.concatenate([wide - basis @ (basis.T @ wide), d_slid]), len(rows))


def _scale_segment(part: _Segment, by: np.ndarray) -> _Segment:
    size = np.concatenate([np.tile(by[[0, 0, 1]], part.n),
                           np.full(len(part.left) - 3 * part.n, by[2])])
    return _Segment(part.left / size, part.slopes / size[:, None], part.n)


def _weights(parts: Sequence[_Segment], is_hard: bool) -> np.ndarray:
    """Weights of segments: those far from the others, where wheels may slip, count less or not at
    all."""
    errors = np.array([part.error for part in parts])
    usual = np.median(errors)
    if is_hard:
        return np.where(errors <= OUTLIER * usual, 1.0, 0.0)
    return np.minimum(1.0, WEIGHED * usual / np.maximum(errors, 1e-300)) ** 2


def _noise(parts: Sequence[_Segment], weights: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Standard deviations of the remaining positions, headings and sliding, over `before`."""
    total, count = sum(weight * part.squares() for weight, part in zip(weights, parts))
    return np.maximum(before * np.sqrt(total / np.maximum(count, 1.0)), FLOOR)


def _errors(cover: np.ndarray, parts: Sequence[_Segment], weights: np.ndarray) -> np.ndarray:
    """Standard errors, the larger of both kinds."""
    variance, S = np.diag(cover), int((weights > 0).sum())
    if len(variance) + 1 < S:
        scores = np.array([w * part.slopes.T @ part.left for w, part in zip(weights, parts)])
        sandwich = cover @ scores.T @ scores @ cover * S / (S - len(variance))
        variance = np.maximum(variance, np.diag(sandwich))
    return np.sqrt(variance)
