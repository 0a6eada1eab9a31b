"""Newton's method with shortest steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

_ITERATIONS = 100      # it needs about six near a manifold


def nearest_zero(evaluate: Callable[[np.ndarray], Sequence[ca.DM]],
                 z: np.ndarray) -> np.ndarray | None:
    """The zero that Newton's method with shortest steps reaches from z; None if it does not
    converge. `evaluate`: z -> functions (k,) and their derivatives (k, len(z))."""
    z = np.array(z, dtype=float)
    for _ in range(_ITERATIONS):
        value, slope = (part.full() for part in evaluate(z))
        if not value.size:
            return z
        if not (np.isfinite(value).all() and np.isfinite(slope).all()):
            return None
        step = np.linalg.lstsq(slope, value.ravel(), rcond=1e-12)[0]
        z = z - step
        if np.linalg.norm(step) <= 1e-14 * (1 + np.linalg.norm(z)):
            break
    value = evaluate(z)[0].full()
    return z if np.abs(value).max() <= 1e-12 * (1 + np.abs(z).max()) else None
