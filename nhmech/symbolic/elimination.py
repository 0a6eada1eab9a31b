"""Gaussian elimination of symbolic matrices in a pivot order that is fixed beforehand.

The order is chosen once, from numeric samples: pivots that are large at every sample, and among
them the one that fills in least (Markowitz). CasADi's general `solve` on SX knows neither and makes
far larger expressions.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import MechanicsError

CONSTANT = 0.05
# a pivot this large relative to its remaining row is never improved upon at the cost of fill-in
_GOOD = 0.2


def pivot_order(samples: np.ndarray, pattern: np.ndarray) -> list[tuple[int, int]]:
    """Pivots (row, column) for matrices that look like `samples` (k, n, n). `pattern`: structural
    nonzeros (n, n), or what each entry costs, see `entry_costs`."""
    work, weight = samples.astype(float).copy(), pattern.astype(float)
    n = len(pattern)
    rows, cols, order = list(range(n)), list(range(n)), []
    for _ in range(n):
        block = work[np.ix_(range(len(work)), rows, cols)]
        share = block / np.maximum(np.abs(block).max(axis=2, keepdims=True), 1e-300)
        # of one sign: it does not pass through zero between samples
        relative = np.maximum(share.min(axis=0), (-share).min(axis=0))
        if not relative.max() > 1e-9:
            relative = np.abs(share).min(axis=0)
        sub = weight[np.ix_(rows, cols)]
        cost = (sub.sum(axis=1)[:, None] - sub) * (sub.sum(axis=0)[None, :] - sub) + np.where(
            sub > CONSTANT, 1.0, 0.0
        )
        best = relative.max()
        if not best > 1e-9:
            raise MechanicsError(f"matrix is singular at a sample: no pivot left in rows {rows}, "
                                 f"columns {cols}")
        allowed = relative >= min(_GOOD, best)
        choice = np.where(allowed & (sub > 0), cost - 1e-3 * relative, np.inf)
        i, j = np.unravel_index(np.argmin(choice), choice.shape)
        r, c = rows[i], cols[j]
        order.append((r, c))
        rows.remove(r)
        cols.remove(c)
        for k in rows:
            if weight[k, c]:
                work[:, k, :] -= (work[:, k, c] / work[:, r, c])[:, None] * work[:, r, :]
                made = np.where(weight[r, cols] > 0, np.maximum(weight[k, c], weight[r, cols]), 0.0)
                weight[k, cols] = np.maximum(weight[k, cols], made)
    return order


def entry_costs(matrix: ca.SX) -> np.ndarray:
    """What each entry of a symbolic matrix costs: nothing, little for a constant,
    which folds, or 1 for an expression."""
    weight = np.zeros(matrix.shape)
    for i, j in zip(*matrix.sparsity().get_triplet()):
        weight[i, j] = CONSTANT if matrix[i, j].is_constant() else 1.0
    return weight


@dataclass(frozen=True)
class Factors:
    """L and U of a symbolic matrix; `pivots` (n,) are what must stay away from zero."""

    order: list[tuple[int, int]]
    lower: list[list[tuple[int, ca.SX]]]
    upper: list[list[tuple[int, ca.SX]]]
    pivots: ca.SX

    def solve(self, right: ca.SX) -> ca.SX:
        """X with Phi X = right, (n, k)."""
        b = [right[i, :] for i in range(right.shape[0])]
        for (r, _), below in zip(self.order, self.lower):
            for k, factor in below:
                b[k] = b[k] - factor * b[r]
        x: dict[int, ca.SX] = {}
        for step in reversed(range(len(self.order))):
            r, c = self.order[step]
            total = b[r]
            for j, value in self.upper[step]:
                total = total - value * x[j]
            x[c] = _quotient(total, self.pivots[step])
        return ca.vertcat(*[x[c] for c in range(len(x))])


def _quotient(value: ca.SX, pivot: ca.SX) -> ca.SX:
    """The quotient; by a number it is a product, which takes less time."""
    is_number = pivot.is_constant() and not pivot.is_zero()
    return value * (1 / pivot) if is_number else value / pivot


def factorise(matrix: ca.SX, order: list[tuple[int, int]]) -> Factors:
    """Factors of a symbolic (n, n) matrix along the given pivots."""
    n = matrix.shape[0]
    entry: list[dict[int, ca.SX]] = [{} for _ in range(n)]
    for i, j, value in zip(*matrix.sparsity().get_triplet(), matrix.nonzeros()):
        entry[i][j] = value
    done: set[int] = set()
    lower, upper, pivots = [], [], []
    for r, c in order:
        done.add(r)
        pivot = entry[r].get(c, ca.SX(0))
        pivots.append(pivot)
        rest = [(j, value) for j, value in entry[r].items() if j != c]
        below = []
        for k in range(n):
            if k in done or c not in entry[k]:
                continue
            factor = _quotient(entry[k].pop(c), pivot)
            below.append((k, factor))
            for j, value in rest:
                entry[k][j] = entry[k][j] - factor * value if j in entry[k] else -factor * value
        lower.append(below)
        upper.append(rest)
    return Factors(order, lower, upper, ca.vertcat(ca.SX(0, 1), *pivots))
