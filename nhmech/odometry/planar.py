"""Motions of the plane: tracks (x, y, yaw) made of small displacements, with derivatives.

A displacement P = (dx, dy, dyaw) is an element of se(2); its track moves by exp(P), in the frame
that turns along.
"""

from __future__ import annotations

import numpy as np

from ..attitude import wrap

SMALL = 1e-4      # [rad] of turning, below which series stand for quotients


def rotate(yaw: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 2) turned by angles (...)."""
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack([c * x - s * y, s * x + c * y], -1)


def across(vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 2) turned by a right angle."""
    return np.stack([-vectors[..., 1], vectors[..., 0]], -1)


def relative(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The pose (..., 3) `second` as `first` sees it."""
    return np.concatenate([rotate(-first[..., 2], second[..., :2] - first[..., :2]),
                           wrap(second[..., 2:] - first[..., 2:])], -1)


def _bracket(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[first, second] in se(2), (..., 3); it does not turn."""
    move = first[..., 2:] * across(second[..., :2]) - second[..., 2:] * across(first[..., :2])
    return np.concatenate([move, np.zeros_like(move[..., :1])], -1)


def join_halves(halves: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Displacements (K, 3) over whole steps out of those over their halves (2 K, 3), to the fourth
    order of the step: P1 + P2 + 2/3 [P1, P2], as inertial navigation corrects for coning. `rates`:
    derivatives of `halves`, (p, 2 K, 3); those of the result come second."""
    one, two, d_one, d_two = halves[::2], halves[1::2], rates[:, ::2], rates[:, 1::2]
    whole = one + two + 2 / 3 * _bracket(one, two)
    return whole, d_one + d_two + 2 / 3 * (_bracket(d_one, two) + _bracket(one, d_two))


def integrate(steps: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The track (K + 1, 3) from (0, 0, 0) of displacements (K, 3), and its derivatives (p, K + 1,
    3) out of theirs (p, K, 3)."""
    angle = steps[:, 2]
    yaw = np.concatenate([[0.0], np.cumsum(angle)])
    d_yaw = np.concatenate([np.zeros((len(rates), 1)), np.cumsum(rates[:, :, 2], 1)], 1)
    small = np.abs(angle) < SMALL
    w = np.where(small, 1.0, angle)
    a = np.where(small, 1 - angle ** 2 / 6, np.sin(w) / w)
    b = np.where(small, angle / 2 - angle ** 3 / 24, (1 - np.cos(w)) / w)
    d_a = np.where(small, -angle / 3, (np.cos(w) - a) / w)
    d_b = np.where(small, 0.5 - angle ** 2 / 8, (np.sin(w) - b) / w)

    def spread(u: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return p[:, None] * u + q[:, None] * across(u)

    move = rotate(yaw[:-1], spread(steps[:, :2], a, b))
    d_move = (rotate(yaw[:-1], spread(rates[..., :2].reshape(-1, 2), np.tile(a, len(rates)),
                                      np.tile(b, len(rates))).reshape(*rates.shape[:2], 2))
              + rotate(yaw[:-1], spread(steps[:, :2], d_a, d_b)) * rates[:, :, 2:]
              + across(move) * d_yaw[:, :-1, None])
    place = np.concatenate([np.zeros((1, 2)), np.cumsum(move, 0)])
    d_place = np.concatenate([np.zeros((len(rates), 1, 2)), np.cumsum(d_move, 1)], 1)
    return np.column_stack([place, yaw]), np.concatenate([d_place, d_yaw[..., None]], 2)
