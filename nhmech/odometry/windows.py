"""Residuals of logged motion in windows of time, and windows in which they exceed noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from .planar import relative, rotate

FALSE = 0.01       # chance that a log without slip shows some
LEAST = 6.0        # standard deviations that are slip at least
RELATIVE = 2e-3    # of the way and the turn: less is no slip, whatever the noise is
ROUNDING = 1e-6    # [m], [rad]: likewise
FEWEST = 4         # poses in a window


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows of a log, half overlapping.

    Attributes
    ----------
    start, end
        (W,) [s].
    left
        By how much the robot went further than its wheels rolled, forward, left [m] and turning
        [rad], (W, 3).
    usual
        Median of `left` (3,): what the whole log shares.
    noise
        Robust standard deviations of `left` (3,).
    threshold
        Of each window (W, 3).
    way, turned
        Driven and turned by the wheels in each (W,) [m], [rad].
    is_judged
        Where joints are known throughout (W,).
    """

    start: np.ndarray
    end: np.ndarray
    left: np.ndarray
    usual: np.ndarray
    noise: np.ndarray
    threshold: np.ndarray
    way: np.ndarray
    turned: np.ndarray
    is_judged: np.ndarray

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        return f"<Windows: {len(self)}, {int(self.exceeds.sum())} above their thresholds>"

    @property
    def exceeds(self) -> np.ndarray:
        """Windows in which ideal rolling does not hold, (W,)."""
        far = np.abs(self.left - self.usual) > self.threshold
        return np.asarray(far.any(1) & self.is_judged)

    def spans(self) -> list[tuple[int, int]]:
        """(first, last) window of each run of windows that exceed."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], self.exceeds.astype(int), [0]])))
        return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2])]


def cut(t: np.ndarray, rolled: np.ndarray, poses: np.ndarray, duration: float, length: float,
        blind: np.ndarray) -> Windows:
    """Compares a replayed track (K, 3) with logged poses (K, 3) in windows of `duration` [s].

    In each window the difference, both seen from its first pose, grows with time; its least-squares
    slope times the duration is the window's result. `length` of the vehicle [m] converts angles to
    distances; joints are unknown during `blind` (n, 2).
    """
    step = float(np.median(np.diff(t)))
    n = min(max(round(duration / step) + 1, FEWEST), len(t))
    first = np.arange(0, len(t) - n + 1, max(n // 2, 1))
    rows = first[:, None] + np.arange(n)
    at, made, seen = t[rows], rolled[rows], poses[rows]
    driven = relative(np.repeat(made[:, :1], n, 1), made)
    off = relative(np.repeat(seen[:, :1], n, 1), seen) - driven
    off[..., 2] = np.unwrap(off[..., 2], axis=1)
    since = at - at.mean(1, keepdims=True)
    slope = np.einsum("wn,wni->wi", since, off) / (since ** 2).sum(1)[:, None]
    left = slope * (at[:, -1] - at[:, 0])[:, None]
    left[:, :2] = rotate(-driven[:, n // 2, 2], left[:, :2])
    way = np.linalg.norm(np.diff(made[..., :2], axis=1), axis=2).sum(1)
    judged = ~np.any((at[:, :1] < blind[:, 1]) & (at[:, -1:] > blind[:, 0]), axis=1)
    kept = left[judged] if judged.any() else left
    usual = np.median(kept, 0)
    noise = 1.4826 * np.median(np.abs(kept - usual), 0)
    W = len(kept)
    z = max(LEAST, float(-ndtri(FALSE / (6 * W)))) * (1 + 3 / np.sqrt(W))
    turned = np.abs(np.diff(made[..., 2], axis=1)).sum(1)
    least = RELATIVE * (way + length * turned) + ROUNDING
    return Windows(at[:, 0], at[:, -1], left, usual, noise,
                   np.maximum(z * noise, least[:, None] / np.array([1.0, 1.0, length])), way,
                   turned, judged)
