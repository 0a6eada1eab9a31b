"""The inverse of a small matrix without square roots and without a choice of pivots."""

from __future__ import annotations

import casadi as ca
import numpy as np

LARGEST = 4             # side of a block whose minors are still written out


def inverse(matrix: ca.SX) -> ca.SX:
    """The inverse by minors, block by block of coupled rows and columns, so that only the
    determinants of the blocks must not vanish; by CasADi's QR if a block is large."""
    n = matrix.shape[0]
    result, left = ca.SX(n, n), set(range(n))
    pattern = np.array(ca.DM(matrix.sparsity(), 1).full(), dtype=bool)
    while left:
        rows, columns = {min(left)}, set[int]()
        while True:
            wider = {int(j) for i in rows for j in np.flatnonzero(pattern[i])}
            taller = rows | {int(i) for j in wider for i in np.flatnonzero(pattern[:, j])}
            if (taller, wider) == (rows, columns):
                break
            rows, columns = taller, wider
        if len(rows) != len(columns) or len(rows) > LARGEST:
            return ca.solve(matrix, ca.SX.eye(n))
        i, j = sorted(rows), sorted(columns)
        result[j, i] = ca.inv_minor(ca.densify(matrix[i, j]))
        left -= rows
    return result
