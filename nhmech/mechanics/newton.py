"""Newton's method with shortest steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

_ITERATIONS = 100      # it needs about six near a manifold


def nearest_zero(evaluate: Callable[[np.ndarray], Sequence[ca.DM]],
                 z: np.ndarray) -> np.ndarray | None:
    """The zero that Newton's method with shortest steps reaches from z; None if it does not
    converge. `evaluate`: z -> functions (k,) and their derivatives (k, len(z)); each function is
    divided by its largest slope on the way, so that its unit may be any."""
    z, slopes = np.array(z, dtype=float), np.zeros(1)
    for _ in range(_ITERATIONS):
        value, slope = (part.full() for part in evaluate(z))
        if not value.size:
            return z
        if not (np.isfinite(value).all() and np.isfinite(slope).all()):
            return None
        slopes = np.maximum(slopes, np.linalg.norm(slope, axis=1))
        unit = np.where(slopes > 0, slopes, 1.0)
        step = np.linalg.lstsq(slope / unit[:, None], value.ravel() / unit, rcond=1e-12)[0]
        z = z - step
        if np.linalg.norm(step) <= 1e-14 * (1 + np.linalg.norm(z)):
            break
    value = evaluate(z)[0].full().ravel()
    return z if np.abs(value / unit).max() <= 1e-12 * (1 + np.abs(z).max()) else None


def distances(value: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """How far the zeros of functions are along the coordinate that moves each most, (k,), by their
    values (k,) and slopes (k, n): another unit of a function changes nothing."""
    value, slopes = np.abs(value).ravel(), np.abs(slope).max(axis=1, initial=0.0)
    return np.divide(value, slopes, out=np.where(value > 0, np.inf, 0.0), where=slopes > 0)
