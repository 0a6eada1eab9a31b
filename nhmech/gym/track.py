"""A path as rows of numbers, one for each cell, in which the path is a clothoid; each lane uses the
row of its cell."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..control.path import Path

CELLS = 4096       # of a path; between their ends the curvature is linear
# of Newton's method: from the last look to the cell of the nearest point, which must not be missed
# by more than the next one, and within that cell
NEAR, WITHIN = 1, 2
# least 1 - curvature x offset in a step: past the centre of curvature nearest turns farthest
BENT = 0.2
NODES, WEIGHTS = (0.5 * (1 + np.polynomial.legendre.leggauss(3)[0]),
                  0.5 * np.polynomial.legendre.leggauss(3)[1])      # of Gauss's quadrature


class PathCells:
    """A path in cells, with its curvature at some lengths `ahead` [m]."""

    def __init__(self, path: Path, ahead: Sequence[float]):
        self.path, self.cell = path, path.length / CELLS
        # an open path goes on straight: one cell before its beginning, and one after its end
        first, last = (0, CELLS) if path.closed else (-1, CELLS + 1)
        self.first, self.count = first, last - first
        at = self.cell * np.arange(first, last + 1)
        x, y, heading, _ = path.at(at[:-1])
        begin, rise = self._curvature(at[:-1], 0.0)
        bends = [row for distance in ahead for row in self._curvature(at[:-1], distance)]
        self.rows = np.vstack([at[:-1], x, y, heading, begin, rise, *bends])

    def __repr__(self) -> str:
        return f"<PathCells of {self.path!r}>"

    def _curvature(self, s: np.ndarray, ahead: float) -> tuple[np.ndarray, np.ndarray]:
        """At the beginning of the cells that begin at s, and its rise by arc length; from inside
        the cell, for it may jump at an end."""
        inner = 1e-6 * self.cell
        begin, end = (self.path.curvature(s + ahead + d) for d in (inner, self.cell - inner))
        return begin, (end - begin) / self.cell

    def look(self, s: np.ndarray, patch: np.ndarray) -> None:
        """Fills `patch` (rows, N) with the cells at s (N,); their s is counted over the laps."""
        cell = np.floor(s / self.cell).astype(np.int64)
        if self.path.closed:
            lap, cell = np.divmod(cell, self.count)
            np.take(self.rows, cell, axis=1, out=patch, mode="clip")
            patch[0] += lap * self.path.length
        else:
            np.take(self.rows, cell - self.first, axis=1, out=patch, mode="clip")

    def nearest(self, patch: ca.SX, s: ca.SX, point: ca.SX, rounds: int) -> ca.SX:
        """s of the nearest point of a cell's clothoid, by Newton's method from s."""
        for _ in range(rounds):
            place, heading, curvature = clothoid(patch, s)
            cos, sin = ca.cos(heading), ca.sin(heading)
            dx, dy = point[0] - place[0], point[1] - place[1]
            along, left = dx * cos + dy * sin, dy * cos - dx * sin
            step = along / ca.fmax(1 - curvature * left, BENT)
            widest = self.path.length / 16
            s = s + ca.fmin(ca.fmax(step, -widest), widest)
            if not self.path.closed:
                s = ca.fmin(ca.fmax(s, 0.0), self.path.length)
        return s


def clothoid(patch: ca.SX, s: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Point (2,), heading and curvature at s of the cell in a patch."""
    begin, x, y, heading, curvature, rise = ca.vertsplit(patch[:6])
    d = s - begin

    def turned(share: float) -> ca.SX:
        return heading + share * d * (curvature + rise * share * d / 2)

    point = ca.vertcat(x, y)
    for node, weight in zip(NODES, WEIGHTS):
        point += weight * d * ca.vertcat(ca.cos(turned(node)), ca.sin(turned(node)))
    return point, turned(1.0), curvature + rise * d
