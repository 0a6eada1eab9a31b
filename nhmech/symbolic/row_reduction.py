"""Elimination in a linear system of less than full rank: consistency conditions, a solution, and
the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import MechanicsError

ZERO = 1e-9          # relative to its terms, a number below this is rounding
FAINT = 1e-15        # relative to all others, a row below this is rounding, in whatever units


@dataclass(frozen=True)
class RowReduction:
    """Row echelon form of K w = r, K (N, n), on a manifold."""

    # what must vanish for the system to have a solution: left null vectors of K times r
    conditions: list[ca.SX]
    pivots: list[tuple[int, int]]  # (row, column), in the order of elimination
    free: tuple[int, ...]  # columns without pivot
    rows: list[dict[int, ca.SX]]
    right: list[ca.SX]

    def solve(self, values: Mapping[int, ca.SX]) -> ca.SX:
        """w (n,) with the free columns put to `values`, zero where none is given."""
        return self._back(values, self.right)

    def kernel(self, columns: Sequence[int]) -> ca.SX:
        """Solutions of K w = 0, one for each of the given free columns, (n, len(columns))."""
        n = len(self.pivots) + len(self.free)
        zero = [ca.SX(0)] * len(self.rows)
        return ca.horzcat(ca.SX(n, 0),
                          *[self._back({column: ca.SX(1)}, zero) for column in columns])

    def _back(self, values: Mapping[int, ca.SX], right: Sequence[ca.SX]) -> ca.SX:
        w = {column: ca.SX(values.get(column, 0)) for column in self.free}
        for r, c in reversed(self.pivots):
            total = right[r]
            for j, entry in self.rows[r].items():
                if j != c:
                    total = total - entry * w[j]
            w[c] = total / self.rows[r][c]
        return ca.vertcat(ca.SX(0, 1), *[w[c] for c in range(len(w))])


def row_reduce(matrix: ca.SX, right: ca.SX, samples: np.ndarray, rank: int) -> RowReduction:
    """Eliminates `rank` pivots, as `row_reduce_avoiding` does."""
    reduced = row_reduce_avoiding(matrix, right, samples, rank, ())
    if reduced is None:
        sizes = np.abs(samples[samples != 0])
        raise MechanicsError(f"not all of {rank} equations can be distinguished from rounding: "
                             f"their coefficients are {sizes.min():.3g} to {sizes.max():.3g} in "
                             "size; choose units of length, mass and time in which they are near 1")
    return reduced


def row_reduce_avoiding(matrix: ca.SX, right: ca.SX, samples: np.ndarray, rank: int,
                        avoid: Sequence[int]) -> RowReduction | None:
    """Eliminates `rank` pivots, none of them in the columns `avoid`; None if those columns are
    needed.

    `samples` (k, N, n) are values of the matrix at points of a manifold, on which the result holds:
    an entry that is zero at all of them is dropped. Pivots are constants where possible, and large
    at every point.
    """
    work = unit_rows(samples)
    size, width = work.shape[1:]
    alive = np.abs(work).max(axis=0) > ZERO
    rows = [{j: matrix[i, j] for j in range(width) if alive[i, j]} for i in range(size)]
    rights, pivots, left = [right[i] for i in range(size)], [], list(range(size))
    columns = [j for j in range(width) if j not in avoid]
    for _ in range(rank):
        choice = _pivot(work, rows, left, columns)
        if choice is None:
            return None
        r, c = choice
        pivots.append((r, c))
        left.remove(r)
        for k in left:
            if c not in rows[k]:
                continue
            factor = rows[k].pop(c) / rows[r][c]
            work[:, k, :] -= (work[:, k, c] / work[:, r, c])[:, None] * work[:, r, :]
            rights[k] = rights[k] - factor * rights[r]
            for j, entry in rows[r].items():
                if j != c:
                    rows[k][j] = rows[k].get(j, ca.SX(0)) - factor * entry
            rows[k] = {j: entry
                       for j, entry in rows[k].items() if np.abs(work[:, k, j]).max() > ZERO}
    used = {c for _, c in pivots}
    return RowReduction([rights[k] for k in left], pivots,
                        tuple(j for j in range(width) if j not in used), rows, rights)


def unit_rows(samples: np.ndarray) -> np.ndarray:
    """Matrices (k, N, n) with the largest entry of each row, at any point, made 1: an equation may
    be written in any unit. Rows that are rounding beside the others are zero."""
    size = np.abs(samples).max(axis=(0, 2), initial=0.0)
    distinct = size > FAINT * size.max(initial=0.0)
    return np.divide(1.0, size, out=np.zeros_like(size), where=distinct)[:, None] * samples


def _pivot(work: np.ndarray, rows: Sequence[Mapping[int, ca.SX]], left: Sequence[int],
           columns: Sequence[int]) -> tuple[int, int] | None:
    """Constant before variable, little fill-in before much, among entries that are not small at any
    point."""
    size = {(i, j): np.abs(work[:, i, j]).min() for i in left for j in columns if j in rows[i]}
    best = max(size.values(), default=0.0)
    if not best > ZERO:
        return None

    def cost(entry: tuple[int, int]) -> tuple[bool, int, float]:
        i, j = entry
        return (not rows[i][j].is_constant(),
                (len(rows[i]) - 1) * (sum(j in rows[k] for k in left) - 1), -size[entry])

    return min((entry for entry, value in size.items() if value >= 0.1 * best), key=cost)
