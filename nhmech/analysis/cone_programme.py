"""Small second-order cone programmes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GROWTH = 50.0      # of the weight of the objective from one centre to the next
ROUGHLY = 0.1      # Newton decrement at which a centre counts as found
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


def minimise(c: np.ndarray, cones: Cones, y: np.ndarray, gap: float = 1e-11, *,
             part: float = 0.0, weight: float = 1.0) -> np.ndarray:
    """The y that minimises c . y to within `gap`, from a y strictly inside all cones.

    Newton's method on c . y - sum log(right^2 - |left|^2) / weight, whose minimum is 2 n / weight
    from the optimum (Boyd and Vandenberghe, Convex Optimization, 2004, sections 11.3 and 11.6). The
    programme should be scaled to order one; a larger first `weight` needs a y nearer to the
    optimum. With `part` > 0 the search ends as soon as the optimum is known to be positive, or c .
    y is negative and within this part of it; if infinite, only the sign matters.
    """
    y = np.array(y, dtype=float)
    while True:
        y = _centre(c * weight, cones, y)
        short, value = 4 * len(cones.s) / weight, float(c @ y)
        if short <= gap or (part and (value > short or short <= -part * value)):
            return y
        weight *= GROWTH


def _centre(c: np.ndarray, cones: Cones, y: np.ndarray) -> np.ndarray:
    """The least of the objective with barriers, roughly."""
    left, right = cones.parts(y)
    f = _product(left, right)
    value = _value(c, y, f)
    for _ in range(STEPS):
        slope = 2 * (right[:, None] * cones.r - (left[:, None, :] @ cones.P)[:, 0]) / f[:, None]
        around = (cones.P / f[:, None, None]).reshape(-1, len(y)).T @ cones.P.reshape(-1, len(y))
        gradient, hessian = (c - slope.sum(axis=0),
                             slope.T @ slope + 2 * (around - (cones.r / f[:, None]).T @ cones.r))
        # tight cones next to slack ones: 1e20 and more apart
        scale = 1 / np.sqrt(hessian.diagonal())
        step = -scale * _solve(scale[:, None] * hessian * scale, scale * gradient)
        decrement, part = -gradient @ step, 1.0
        if not decrement > ROUGHLY:
            return y
        while True:
            new = y + part * step
            left, right = cones.parts(new)
            f = _product(left, right)
            lower = _value(c, new, f)
            if lower < value - 0.1 * part * decrement:
                break
            part /= 2
            # rounding: no descent is left
            if part < 1e-9:
                return y
        y, value = new, lower
    return y


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution; the shortest where few tight cones near an optimum leave the matrix singular to
    rounding."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, right, rcond=None)[0]


def _product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """right^2 - |left|^2 inside the cones, not positive elsewhere, (n,)."""
    size = np.hypot(left[:, 0], left[:, 1])
    return (right - size) * np.maximum(right + size, 0.0)


def _value(c: np.ndarray, y: np.ndarray, product: np.ndarray) -> float:
    return float(c @ y - np.log(product).sum()) if product.min() > 0 else np.inf
