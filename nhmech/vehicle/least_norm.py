"""The solution of least norm of linear equations, with some entries required to be non-negative."""

from __future__ import annotations

import numpy as np

RANK = 1e-10       # relative: singular values below it are rounding
LOOSE = 1e-9       # an entry is undetermined if its row of the kernel is longer
NEGATIVE = 1e-9    # relative to the largest entry: a smaller negative entry is rounding
# there is no z if the residual 1 / sqrt(1 + |z|^2) is smaller: z would be 1e5 times the plain
# solution
IMPOSSIBLE = 1e-5
OPTIMAL = 1e-12    # smaller slopes cannot reduce the residual, which is of order one


def solve_shortest(matrix: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least-norm solution (n,) of matrix x = right, and a basis (n, k) of the kernel."""
    u, s, vt = np.linalg.svd(matrix)
    rank = int(np.sum(s > RANK * s.max(initial=0.0)))
    return vt[:rank].T @ ((u[:, :rank].T @ right) / s[:rank]), vt[rank:].T


def orthonormal(kernel: np.ndarray) -> np.ndarray:
    """Orthonormal columns with the same span as those of each matrix (..., n, k); columns beyond
    the rank are zero."""
    u, s, _ = np.linalg.svd(kernel, full_matrices=False)
    return u * (s > LOOSE * s.max(axis=-1, keepdims=True, initial=0.0))[..., None, :]


def raise_least(start: np.ndarray, move: np.ndarray) -> np.ndarray:
    """z (k,) that maximises the least entry of start + move z, by linear programming. `start`,
    `move`: (m,) and (m, k)."""
    from scipy.optimize import linprog  # takes 0.25 s to import, and is seldom needed

    size, (m, k) = np.abs(start).max(initial=1e-300), move.shape
    # largest s with s <= start + move z; s is bounded by the whole load
    found = linprog(np.append(np.zeros(k), -1.0), np.column_stack([-move, np.ones(m)]),
                    start / size, bounds=[(None, None)] * k + [(None, float(m))], method="highs")
    return np.zeros(k) if found.x is None else size * found.x[:k]


def impose_signs(x0: np.ndarray, N: np.ndarray,
                 non_negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vector of least norm among x0 + N z, (..., n), with x_i >= 0 where `non_negative` (n,),
    or x0 if there is none; and whether there is one. The columns of N (..., n, k) are zero or
    orthonormal, and perpendicular to x0.

    This is least-distance programming, solved by non-negative least squares (Lawson and Hanson,
    Solving Least Squares Problems, 1974, chapter 23), for any number of problems at once.
    """
    shape, n = np.shape(x0), len(non_negative)
    x = np.array(x0).reshape(-1, n)
    N = np.reshape(N, (len(x), n, np.shape(N)[-1]))
    size = np.abs(x).max(axis=1, initial=0.0)
    wrong = (x < -NEGATIVE * size[:, None]) & non_negative
    feasible = ~wrong.any(axis=1)
    chosen = np.flatnonzero(~feasible)
    if len(chosen):
        G, h = N[chosen][:, non_negative], -x[chosen][:, non_negative] / size[chosen, None]
        B = np.concatenate([G, h[:, :, None]], axis=2).swapaxes(1, 2)
        target = np.eye(B.shape[1])[-1]
        dual = _solve_non_negative(B, target)[:, :, None]
        # the residual is 1 / sqrt(1 + |z|^2) if a z exists, which is of the order of x0
        found = np.linalg.norm((B @ dual)[:, :, 0] - target, axis=1) >= IMPOSSIBLE
        chosen, tight = chosen[found], dual[found] > 0
        # z from the active conditions, which is more accurate than from the residual
        z = np.linalg.pinv(G[found] * tight, rcond=RANK) @ (h[found, :, None] * tight)
        z *= size[chosen, None, None]
        there = x[chosen] + (N[chosen] @ z)[:, :, 0]
        x[chosen] = np.where(non_negative, np.maximum(there, 0.0), there)
        feasible[chosen] = True
    return x.reshape(shape), feasible.reshape(shape[:-1])


def _solve_non_negative(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """y >= 0 (L, k) that minimises |B y - right| for each B (L, m, k), by the active-set method of
    Lawson and Hanson (chapter 23, NNLS)."""
    count, _, k = matrices.shape
    y, free = np.zeros((count, k)), np.zeros((count, k), dtype=bool)
    todo = np.arange(count)
    for _ in range(3 * k):                      # the bound of Lawson and Hanson
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
    """Sets y, in place, to the least-squares solution over the free unknowns; unknowns that would
    become negative are fixed at zero."""
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
