"""The shortest solution of linear equations, with entries that may not be negative."""

from __future__ import annotations

import numpy as np

RANK = 1e-10       # relative: singular values below it are rounding
LOOSE = 1e-9       # length of a row of the kernel from which an entry counts as undetermined
NEGATIVE = 1e-9    # of the largest entry: a sign below it is rounding
# residual 1 / sqrt(1 + |z|^2) below which there is no z: it would be 1e5 times the plain solution
IMPOSSIBLE = 1e-5


def least_norm(matrix: np.ndarray, right: np.ndarray, non_negative: np.ndarray,
               rtol: float = RANK) -> tuple[np.ndarray, bool, np.ndarray]:
    """min |x|^2 with matrix x = right and x_i >= 0 where `non_negative`.

    Returns x, whether the sign condition could be met (if not, x is the plain least-norm solution),
    and which entries another solution could change.
    """
    x0, N = solve_shortest(matrix, right, rtol)
    return *impose_signs(x0, N, non_negative), np.linalg.norm(N, axis=1) > LOOSE


def solve_shortest(matrix: np.ndarray, right: np.ndarray,
             rtol: float = RANK) -> tuple[np.ndarray, np.ndarray]:
    """The least-norm solution (n,) of matrix x = right, and an orthonormal basis (n, k) of the
    kernel."""
    u, s, vt = np.linalg.svd(matrix)
    rank = int(np.sum(s > rtol * max(s.max(initial=0.0), 1e-300)))
    return vt[:rank].T @ ((u[:, :rank].T @ right) / s[:rank]), vt[rank:].T


def impose_signs(x0: np.ndarray, N: np.ndarray,
                 non_negative: np.ndarray) -> tuple[np.ndarray, bool]:
    """The shortest of all x0 + N z with x_i >= 0 where `non_negative`, and whether there is one;
    else x0.

    This is least-distance programming, solved by non-negative least squares (Lawson and Hanson,
    Solving Least Squares Problems, 1974, chapter 23).
    """
    size = np.abs(x0).max(initial=0.0)
    if not np.any(x0[non_negative] < -NEGATIVE * size):
        return x0, True
    if np.any(x0[non_negative & ~(np.linalg.norm(N, axis=1) > LOOSE)] < -NEGATIVE * size):
        return x0, False
    from scipy.optimize import nnls  # imported here: 0.8 s

    G, h = N[non_negative], -x0[non_negative] / size
    dual, residual = nnls(np.vstack([G.T, h]), np.r_[np.zeros(G.shape[1]), 1.0])
    # = 1 / sqrt(1 + |z|^2) where a z exists, which is of the size of x0 or some times it
    if residual < IMPOSSIBLE:
        return x0, False
    gap = np.vstack([G.T, h]) @ dual - np.r_[np.zeros(G.shape[1]), 1.0]
    x = x0 + N @ (-gap[:-1] / gap[-1]) * size
    x[non_negative] = np.maximum(x[non_negative], 0.0)
    return x, True
