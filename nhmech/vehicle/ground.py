"""The ground: a plane, level or tilted, at rest, moving, or turning about its normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ModelError

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Ground:
    """The plane that a vehicle rolls on, in the world frame W.

    Its points satisfy n . (p - point) = 0.

    Attributes
    ----------
    normal
        n, away from the ground; normalised here.
    point
        A point of the plane at t = 0 [m].
    velocity
        Of the plane's material at `point` [m/s].
    angular_velocity
        Of the plane's material [rad/s]; along n, so that the plane stays where it is.

    Raises
    ------
    ModelError
        For a zero normal, numbers that are not finite, or a turning that is not about the normal.

    Examples
    --------
    >>> Ground(normal=(0.0, 0.1, 1.0)).normal[2] < 1.0        # tilted, and normalised
    True
    """

    normal: Vector = (0.0, 0.0, 1.0)
    point: Vector = (0.0, 0.0, 0.0)
    velocity: Vector = (0.0, 0.0, 0.0)
    angular_velocity: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self):
        for name in ("normal", "point", "velocity", "angular_velocity"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != (3,) or not np.all(np.isfinite(value)):
                raise ModelError(f"ground: {name}={getattr(self, name)!r} must be three finite "
                                 "numbers")
            object.__setattr__(self, name, tuple(float(c) for c in value))
        n = np.array(self.normal)
        if np.linalg.norm(n) < 1e-12:
            raise ModelError("ground: normal (0, 0, 0) points nowhere; use (0, 0, 1) for level "
                             "ground")
        n /= np.linalg.norm(n)
        object.__setattr__(self, "normal", tuple(float(c) for c in n))
        if np.linalg.norm(np.cross(n, self.angular_velocity)) > 1e-12:
            raise ModelError(f"ground: angular_velocity={self.angular_velocity} must be along the "
                             f"normal {self.normal}")

    @property
    def tangents(self) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors that make (t1, t2, n) a right-handed frame of W; t1 is the x axis of W laid
        onto the plane."""
        n = np.array(self.normal)
        seed = np.array([1.0, 0.0, 0.0]) if abs(n[0]) < 0.9 else np.array([0.0, -1.0, 0.0])
        t1 = seed - n * (n @ seed)
        t1 /= np.linalg.norm(t1)
        return t1, np.cross(n, t1)
