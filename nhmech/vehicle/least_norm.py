"""The shortest solution of linear equations, with entries that may not be negative."""

from __future__ import annotations

import numpy as np

RANK = 1e-10       # relative: singular values below it are rounding
LOOSE = 1e-9       # length of a row of the kernel from which an entry counts as undetermined
NEGATIVE = 1e-9    # of the largest entry: a sign below it is rounding
# residual 1 / sqrt(1 + |z|^2) below which there is no z: it would be 1e5 times the plain solution
IMPOSSIBLE = 1e-5
OPTIMAL = 1e-12    # slope below which no further unknown makes the residual, of order one, smaller


def solve_shortest(matrix: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least-norm solution (n,) of matrix x = right, and a basis (n, k) of the kernel."""
    u, s, vt = np.linalg.svd(matrix)
    rank = int(np.sum(s > RANK * max(s.max(initial=0.0), 1e-300)))
    return vt[:rank].T @ ((u[:, :rank].T @ right) / s[:rank]), vt[rank:].T


def orthonormal(kernel: np.ndarray) -> np.ndarray:
    """Columns that span the same as those of each (..., n, k), orthonormal, or zero where there are
    fewer."""
    u, s, _ = np.linalg.svd(kernel, full_matrices=False)
    return u * (s > LOOSE * s.max(axis=-1, keepdims=True, initial=1e-300))[..., None, :]


def raise_least(start: np.ndarray, move: np.ndarray) -> np.ndarray:
    """z (k,) for which the least entry of start + move z is as large as it can be, by a linear
    programme. `start`, `move`: (m,) and (m, k)."""
    from scipy.optimize import linprog  # a quarter of a second to import, and seldom needed

    size, (m, k) = np.abs(start).max(initial=1e-300), move.shape
    # largest s with s <= start + move z; nothing is larger than all of the load
    found = linprog(np.append(np.zeros(k), -1.0), np.column_stack([-move, np.ones(m)]),
                    start / size, bounds=[(None, None)] * k + [(None, float(m))], method="highs")
    return np.zeros(k) if found.x is None else size * found.x[:k]


def impose_signs(x0: np.ndarray, N: np.ndarray,
                 non_negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shortest of all x0 + N z, (..., n), with x_i >= 0 where `non_negative` (n,), and whether
    there is one; else x0. The columns of N (..., n, k) are zero or orthonormal, and perpendicular
    to x0.

    This is least-distance programming, solved by non-negative least squares (Lawson and Hanson,
    Solving Least Squares Problems, 1974, chapter 23), for any number of problems at once.
    """
    shape, n = np.shape(x0), len(non_negative)
    x = np.array(x0).reshape(-1, n)
    N = np.reshape(N, (len(x), n, np.shape(N)[-1]))
    size = np.abs(x).max(axis=1, initial=0.0)
    wrong = (x < -NEGATIVE * size[:, None]) & non_negative
    feasible = ~wrong.any(axis=1)
    fixed = np.linalg.norm(N, axis=2) <= LOOSE
    chosen = np.flatnonzero(~feasible & ~(wrong & fixed).any(axis=1))
    if len(chosen):
        G, h = N[chosen][:, non_negative], -x[chosen][:, non_negative] / size[chosen, None]
        B = np.concatenate([G, h[:, :, None]], axis=2).swapaxes(1, 2)
        target = np.eye(B.shape[1])[-1]
        dual = _solve_non_negative(B, target)[:, :, None]
        # = 1 / sqrt(1 + |z|^2) where a z exists, which is of the size of x0 or some times it
        found = np.linalg.norm((B @ dual)[:, :, 0] - target, axis=1) >= IMPOSSIBLE
        chosen, tight = chosen[found], dual[found] > 0
        # from the conditions that are tight, which keeps the digits that the residual has lost
        z = np.linalg.pinv(G[found] * tight, rcond=RANK) @ (h[found, :, None] * tight)
        z *= size[chosen, None, None]
        there = x[chosen] + (N[chosen] @ z)[:, :, 0]
        x[chosen] = np.where(non_negative, np.maximum(there, 0.0), there)
        feasible[chosen] = True
    return x.reshape(shape), feasible.reshape(shape[:-1])


def _solve_non_negative(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """y >= 0 (L, k) with the least |B y - right| for each B (L, m, k), by the active-set method of
    Lawson and Hanson (chapter 23, NNLS)."""
    count, _, k = matrices.shape
    y, free = np.zeros((count, k)), np.zeros((count, k), dtype=bool)
    todo = np.arange(count)
    for _ in range(3 * k):                      # their bound
        B = matrices[todo]
        gap = right - (B @ y[todo][:, :, None])[:, :, 0]
        slope = np.where(free[todo], -np.inf, (gap[:, None, :] @ B)[:, 0])
        best = slope.argmax(axis=1)
        going = slope[np.arange(len(todo)), best] > OPTIMAL
        todo = todo[going]
        if not len(todo):
            break
        free[todo, best[going]] = True
        _descend(matrices, right, y, free, todo)
    return y


def _descend(matrices: np.ndarray, right: np.ndarray, y: np.ndarray, free: np.ndarray,
             lanes: np.ndarray) -> None:
    """Puts the least squares over the free unknowns into y (in place); those that would turn
    negative on the way are free no longer."""
    while len(lanes):
        solution = np.linalg.pinv(matrices[lanes] * free[lanes][:, None, :], rcond=RANK) @ right
        bad = free[lanes] & (solution <= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(bad, y[lanes] / (y[lanes] - solution), 1.0)
        part = np.nan_to_num(part, nan=0.0)
        least = part.min(axis=1, keepdims=True)
        y[lanes] = np.where(free[lanes], y[lanes] + least * (solution - y[lanes]), 0.0)
        free[lanes] &= ~(bad & (part <= least))
        y[lanes] = np.where(free[lanes], y[lanes], 0.0)
        lanes = lanes[bad.any(axis=1)]
