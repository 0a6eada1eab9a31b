"""Small problems of least squares, solved at each step of a run."""

from __future__ import annotations

import casadi as ca
import numpy as np

SINGULAR = 1e-9      # singular values below this share of the largest count as zero
# pivots of a factorisation without exchanges, of which the least is at least this share of the
# largest, cost two of sixteen digits
WELL = 1e-2


class LeastSquares:
    """x with the least |A x - b|, and the least |x| of those; for matrices A of one shape (m, n).

    It is what `numpy.linalg.lstsq` finds, by singular values too; that takes 8 us over 2 x 2, four
    times what LAPACK takes.
    """

    def __init__(self, m: int, n: int):
        from scipy.linalg.lapack import dgelss, dgelss_lwork

        self.shape, self._solve = (m, n), dgelss
        self._work = int(dgelss_lwork(m, n, 1)[0]) if m and n else 0

    def __repr__(self) -> str:
        return f"<LeastSquares of A {self.shape}>"

    def __call__(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        """x (n,) of A (m, n) and b (m,)."""
        m, n = self.shape
        if not self._work:
            return np.zeros(n)
        if m < n:
            b = np.concatenate((b, np.zeros(n - m)))
        return self._solve(A, b.reshape(-1, 1), SINGULAR, self._work)[1][:n, 0]


def closed_form(A: ca.SX, b: ca.SX) -> list[ca.SX]:
    """x (n,) with the least |A x - b|, by A = Q R, or by A' = Q R where A is wide; and how
    much smaller the least pivot is than the largest: good down to `WELL`, by singular values where
    it is less."""
    m, n = A.shape
    if not m or not n:
        return [ca.SX.zeros(n, 1), ca.SX(1)]
    Q, R = ca.qr(A if m >= n else A.T)
    x = _substitute_back(R, Q.T @ b) if m >= n else Q @ _substitute_forward(R.T, b)
    pivots = ca.fabs(ca.diag(R))
    return [ca.densify(x), ca.densify(ca.mmin(pivots) / ca.mmax(pivots))]


def _substitute_forward(L: ca.SX, b: ca.SX) -> ca.SX:
    """y of L y = b, L lower triangular."""
    y: list[ca.SX] = []
    for i in range(L.size1()):
        y.append((b[i] - sum((L[i, j] * y[j] for j in range(i)), ca.SX(0))) / L[i, i])
    return ca.vertcat(*y)


def _substitute_back(R: ca.SX, b: ca.SX) -> ca.SX:
    """x of R x = b, R upper triangular."""
    n = R.size1()
    order = list(reversed(range(n)))
    return _substitute_forward(R[order, order], b[order])[order]
