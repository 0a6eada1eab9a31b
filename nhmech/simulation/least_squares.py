"""Small least-squares problems, solved at each step of a run."""

from __future__ import annotations

import casadi as ca
import numpy as np

SINGULAR = 1e-9      # singular values below this fraction of the largest count as zero
# if the least pivot of a factorisation without pivoting is at least this fraction of the largest,
# at most two of sixteen digits are lost
WELL = 1e-2


class LeastSquares:
    """The x of least norm that minimises |A x - b|, for matrices A of one shape (m, n).

    The result is that of `numpy.linalg.lstsq`, which takes 8 us for 2 x 2, four times as long as
    LAPACK.
    """

    def __init__(self, m: int, n: int):
        from scipy.linalg.lapack import dgelss

        self.shape, self._solve = (m, n), dgelss

    def __repr__(self) -> str:
        return f"<LeastSquares of A {self.shape}>"

    def __call__(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        """x (n,) for A (m, n) and b (m,)."""
        m, n = self.shape
        if not (m and n):
            return np.zeros(n)
        if m < n:
            b = np.concatenate((b, np.zeros(n - m)))
        return self._solve(A, b.reshape(-1, 1), SINGULAR)[1][:n, 0]


def closed_form(A: ca.SX, b: ca.SX) -> list[ca.SX]:
    """x (n,) that minimises |A x - b|, by A = Q R, or by A' = Q R if A is wide; and the ratio of
    the least pivot to the largest. Below `WELL`, singular values must be used instead."""
    m, n = A.shape
    if not m or not n:
        return [ca.SX.zeros(n, 1), ca.SX(1)]
    Q, R = ca.qr(A if m >= n else A.T)
    x = _substitute_back(R, Q.T @ b) if m >= n else Q @ _substitute_forward(R.T, b)
    pivots = ca.fabs(ca.diag(R))
    least, largest = ca.mmin(pivots), ca.mmax(pivots)
    # of one pivot CasADi takes the ratio for 1, also where it is zero
    return [ca.densify(x), ca.densify(ca.if_else(largest > 0, least / largest, 0))]


def _substitute_forward(L: ca.SX, b: ca.SX) -> ca.SX:
    """Solves L y = b for lower triangular L."""
    y: list[ca.SX] = []
    for i in range(L.size1()):
        y.append((b[i] - sum((L[i, j] * y[j] for j in range(i)), ca.SX(0))) / L[i, i])
    return ca.vertcat(*y)


def _substitute_back(R: ca.SX, b: ca.SX) -> ca.SX:
    """Solves R x = b for upper triangular R."""
    n = R.size1()
    order = list(reversed(range(n)))
    return _substitute_forward(R[order, order], b[order])[order]
