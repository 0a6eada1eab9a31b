"""Selection of the rows to keep and of the independent speeds, from numerical values at many
configurations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..checks import read_names, read_word
from ..errors import InputError, MechanicsError

DEPENDENT = 1e-9    # a smaller remainder, relative to the row, is rounding
NEARLY = 1e-3       # a remainder between the two means a badly conditioned model
SAME = 1e-12        # parts of a row may differ by so much from sample to sample, of its size
COMFORT = 0.05      # a candidate is good enough if its worst case is above this


def _remove(vectors: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """`vectors` (k, m, n) without their components along the unit vectors `direction` (k, n)."""
    return vectors - np.einsum("kmn,kn->km", vectors, direction)[..., None] * direction[:, None, :]


def _unit(vectors: np.ndarray) -> np.ndarray:
    norm = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, norm, out=np.zeros_like(vectors), where=norm > 0)


def independent_rows(A: np.ndarray, scales: np.ndarray, priority: Sequence[int],
                     names: Sequence[str]) -> tuple[int, ...]:
    """Indices of rows of A (k, m, nv) that span all of them at every sample, those of low priority
    number first.

    Rows are compared in the common unit of `scales` (nv,). The set is built greedily: the row whose
    remainder against the rows kept so far is largest in its worst sample. Rows that are the same at
    every sample come before others of their priority: what they span they span everywhere.
    """
    rest = A / scales
    size = np.linalg.norm(rest, axis=2)
    for i, name in enumerate(names):
        if not size[:, i].max() > 0:
            raise MechanicsError(f"constraint {name!r} is zero at every sample: it constrains "
                                 "nothing")
    rest = rest / size.max(axis=0)[None, :, None]
    changes = (np.abs(rest - rest[:1]) > SAME).any(axis=(0, 2))
    level = 2 * np.asarray(priority) + changes
    rank = max(int(np.linalg.matrix_rank(sample, tol=1e-6)) for sample in rest)
    kept: list[int] = []
    while len(kept) < rank:
        remainder = np.linalg.norm(rest, axis=2)
        remainder[:, kept] = -1
        worst = remainder.min(axis=0)
        comfortable = worst >= COMFORT
        if comfortable.any():
            tier = comfortable & (level == level[comfortable].min())
            choice = int(np.argmax(np.where(tier, worst, -1)))
        elif worst.max() > 1e-6:
            choice = int(np.argmax(worst))
        else:
            # no row is good at every sample: take the best one at the first that has any
            first = int(np.argmax(remainder.max(axis=1) >= NEARLY))
            choice = int(np.argmax(remainder[first]))
        # the remaining rank depends on this small value
        if remainder[:, choice].max() < NEARLY:
            raise _nearly(names[choice], remainder[:, choice].max())
        kept.append(choice)
        direction = _unit(rest[:, choice, :])
        rest = _remove(_remove(rest, direction), direction)
    remainder = np.linalg.norm(rest, axis=2)
    nearly = (remainder.max(axis=0) > DEPENDENT) & (remainder.max(axis=0) < NEARLY)
    if nearly.any():
        i = int(np.argmax(nearly))
        raise _nearly(names[i], remainder[:, i].max())
    return tuple(kept)


def _nearly(name: str, remainder: float) -> MechanicsError:
    return MechanicsError(f"nearly dependent rows: {name!r} differs from the others by only "
                          f"{remainder:.2g}; check for axles or steering axes that should be "
                          "parallel but are not")


def kernels(A: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Orthonormal bases, in the common unit, of the kernels of A (k, r, nv) with full rank r; (k,
    nv, nv - r)."""
    r = A.shape[1]
    if r == 0:
        return np.broadcast_to(np.eye(A.shape[2]), (len(A), A.shape[2], A.shape[2]))
    _, _, vt = np.linalg.svd(_unit(A / scales))
    return np.swapaxes(vt[:, r:, :], 1, 2)


def independent_speeds(A: np.ndarray, scales: np.ndarray, names: Sequence[str],
                       preferred: Sequence[Sequence[str]],
                       wanted: Sequence[str] | None = None) -> tuple[int, ...]:
    """Indices of fibre coordinates that determine v on the kernel of A (k, r, nv), of full rank,
    and are well conditioned at every sample.

    `wanted` fixes the choice; otherwise the groups of `preferred` come first, in their order.
    """
    kernel = np.array(kernels(A, scales))
    nxi = kernel.shape[2]
    if wanted is not None:
        wanted = [read_word("speed", name, names) for name in read_names("speeds", wanted)]
        if len(wanted) != nxi:
            raise InputError(f"{len(wanted)} independent speeds were named "
                             f"({', '.join(wanted)}), the motion has {nxi}")
    chosen: list[int] = []
    groups = [[names.index(name) for name in group]
              for group in preferred] + [list(range(len(names)))]
    while len(chosen) < nxi:
        # (k, nv): how much of each coordinate is still free
        left = np.linalg.norm(kernel, axis=2)
        worst = left.min(axis=0)
        worst[chosen] = -1
        if wanted is not None:
            choice = names.index(wanted[len(chosen)])
            if worst[choice] < 1e-6:
                raise InputError(f"the speeds {', '.join(wanted)} do not determine the motion: "
                                 f"{names[choice]!r} follows from the others")
        else:
            pool = next((good for group in groups
                         if (good := [i for i in group if worst[i] >= COMFORT])), None)
            if pool:
                best = max(worst[i] for i in pool)
                choice = next(i for i in pool if worst[i] >= 0.7 * best)
            else:
                choice = int(np.argmax(np.where(worst >= 0, left[0], -1)))
        chosen.append(choice)
        # the motion in the kernel that moves this coordinate most
        direction = _unit(kernel[:, choice, :])
        kernel = kernel - np.einsum("kna,ka->kn", kernel,
                                    direction)[..., None] * direction[:, None, :]
    return tuple(chosen)


def rank_in_any_units(matrix: np.ndarray) -> int:
    """The rank of a square matrix (n, n) with |m_ij| = |m_ji|, rows and columns scaled until the
    largest entry of each is one: D. Ruiz, RAL-TR-2001-034. Rows of rounding errors, relative to the
    largest entry of all, count as zero."""
    size = np.abs(matrix).max(axis=1, initial=0.0)
    held = size > 1e-15 * size.max(initial=0.0)
    matrix = matrix[np.ix_(held, held)]
    # each takes the square root of the remaining ratio; 1e-12 becomes 0.65
    for _ in range(6):
        size = np.sqrt(np.abs(matrix).max(axis=1, initial=0.0))
        matrix = matrix / np.outer(size, size)
    return int(np.linalg.matrix_rank(matrix, tol=1e-10))
