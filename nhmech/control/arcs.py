"""Paths of straight lines and arcs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..checks import read_array
from ..errors import InputError
from .path import Curve, Path


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
        x, y, heading = self._poses[i].T
        return *_arc(x, y, heading + lap * self._turned, self._k[i], s - self._s[i]), self._k[i]


def _arc(x: np.ndarray, y: np.ndarray, heading: np.ndarray, k: float | np.ndarray,
         s: float | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pose after an arc; the chord is s sinc(k s / 2) along the mean heading, which holds for a
    straight line too."""
    half = k * s / 2
    chord = s * np.sinc(half / np.pi)
    mean = heading + half
    return x + chord * np.cos(mean), y + chord * np.sin(mean), heading + 2 * half
