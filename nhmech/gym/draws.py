"""Random numbers for many lanes at once: each lane has its own sequence, independent of the other
lanes."""

from __future__ import annotations

import numpy as np

_GOLDEN, _FIRST, _SECOND = (np.uint64(word) for word in (
    0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def _mix(z: np.ndarray) -> np.ndarray:
    """The output of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), for each state."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


def uniform(keys: np.ndarray, episodes: np.ndarray, count: int, stream: int = 0) -> np.ndarray:
    """Numbers in [0, 1), (count, N), determined by lane keys (N,), episodes (N,) and the stream."""
    with np.errstate(over="ignore"):
        at = _mix(keys.astype(np.uint64) + _GOLDEN * episodes.astype(np.uint64))
        steps = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(stream << 32)
        bits = _mix(at + _GOLDEN * steps[:, None])
    return (bits >> np.uint64(11)) * 2.0 ** -53


def normal(keys: np.ndarray, episodes: np.ndarray, count: int, stream: int) -> np.ndarray:
    """Standard normal numbers (count, N), determined in the same way, by Box and Muller."""
    u = uniform(keys, episodes, 2 * count, stream)
    return np.sqrt(-2.0 * np.log1p(-u[:count])) * np.cos(2 * np.pi * u[count:])
