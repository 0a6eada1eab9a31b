"""Small second-order cone programmes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GROWTH = 50.0      # of the weight of the objective from one centre to the next
ROUGHLY, EXACTLY = 0.1, 1e-6      # Newton decrements at which a centre counts as found, on the way and at the end
STEPS = 60         # of Newton at one weight, far more than it takes


@dataclass(frozen=True)
class Cones:
    """|P_i y + p_i| <= r_i . y + s_i:  P (n, 2, m), p (n, 2), r (n, m), s (n,)."""

    P: np.ndarray
    p: np.ndarray
    r: np.ndarray
    s: np.ndarray

    def parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Left sides before the norm is taken (n, 2), and right sides (n,)."""
        return self.P @ y + self.p, self.r @ y + self.s

    def product(self, y: np.ndarray) -> np.ndarray:
        """right^2 - |left|^2 where y is inside, not positive elsewhere, (n,)."""
        left, right = self.parts(y)
        size = np.hypot(left[:, 0], left[:, 1])
        return (right - size) * np.maximum(right + size, 0.0)


def minimise(c: np.ndarray, cones: Cones, y: np.ndarray, gap: float = 1e-11) -> np.ndarray:
    """The y with the least c . y, short of the optimum by at most `gap`.

    y  strictly inside all cones; the numbers of the programme are to be of order one

    By Newton's method on c . y - sum log(right^2 - |left|^2) / weight, whose distance from the optimum is 2 n / weight (Boyd and
    Vandenberghe, Convex Optimization, 2004, sections 11.3 and 11.6).
    """
    weight, y = 1.0, np.array(y, dtype=float)
    while 2 * len(cones.s) / weight > gap:
        y = _centred(c * weight, cones, y, ROUGHLY)
        weight *= GROWTH
    return _centred(c * weight, cones, y, EXACTLY)


def _centred(c: np.ndarray, cones: Cones, y: np.ndarray, near: float) -> np.ndarray:
    """The least of the objective with barriers, up to a Newton decrement of `near`."""
    value = _value(c, cones, y)
    for _ in range(STEPS):
        left, right = cones.parts(y)
        f = cones.product(y)[:, None]
        slope = 2 * (right[:, None] * cones.r - (left[:, None, :] @ cones.P)[:, 0]) / f
        around = (cones.P / f[:, :, None]).reshape(-1, len(y)).T @ cones.P.reshape(-1, len(y))
        gradient, hessian = c - slope.sum(axis=0), slope.T @ slope + 2 * (around - (cones.r / f).T @ cones.r)
        scale = 1 / np.sqrt(np.diag(hessian))                             # tight cones next to slack ones: 1e20 and more apart
        step = -scale * _solved(scale[:, None] * hessian * scale, scale * gradient)
        decrement, part = -gradient @ step, 1.0
        if not decrement > near:
            return y
        while not (new := _value(c, cones, y + part * step)) < value - 0.1 * part * decrement:
            part /= 2
            if part < 1e-9:                                               # rounding: no descent is left
                return y
        y, value = y + part * step, new
    return y


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The shortest solution where, near an optimum with fewer tight cones than unknowns, the matrix is singular to rounding."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, right, rcond=None)[0]


def _value(c: np.ndarray, cones: Cones, y: np.ndarray) -> float:
    f = cones.product(y)
    return float(c @ y - np.log(f).sum()) if np.all(f > 0) else np.inf
