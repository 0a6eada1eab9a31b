"""Truncated Taylor series: coefficients of powers of a parameter, (m, ...) of numbers and (m, ...,
2) of plane vectors."""

from __future__ import annotations

import numpy as np


def derivative(a: np.ndarray) -> np.ndarray:
    """The derivative of a series, one term shorter."""
    return a[1:] * np.arange(1, len(a)).reshape(-1, *[1] * (a.ndim - 1))


def multiply_series(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of two series of numbers, as long as the shorter one."""
    return np.array([np.sum(a[:n + 1] * b[n::-1], axis=0) for n in range(min(len(a), len(b)))])


def power(a: np.ndarray, exponent: float) -> np.ndarray:
    """a^exponent of a series with a_0 > 0: r' a = exponent a' r, term by term."""
    r = np.empty(a.shape)
    r[0] = a[0] ** exponent
    for n in range(1, len(a)):
        k = np.arange(1, n + 1).reshape(-1, *[1] * (a.ndim - 1))
        r[n] = np.sum((exponent * k - (n - k)) * a[1:n + 1] * r[n - 1::-1], axis=0) / (n * a[0])
    return r


def unit_series(a: np.ndarray) -> np.ndarray:
    """a / |a| of a plane vector's series."""
    x, y = a[..., 0], a[..., 1]
    shrink = power(multiply_series(x, x) + multiply_series(y, y), -0.5)
    return np.stack([multiply_series(x, shrink), multiply_series(y, shrink)], axis=-1)
