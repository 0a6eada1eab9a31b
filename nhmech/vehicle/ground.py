"""The ground: a plane, level or tilted, at rest, moving, or turning about its normal."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from ..checks import read_array, read_number
from ..errors import InputError, Remedy

Vector = tuple[float, float, float]

SHORTEST = 1e-12      # a shorter normal has no direction
ALONG = 1e-12         # [rad/s] a larger angular velocity across the normal would tilt the plane
SLANTED = 0.9         # above this n.x, the x axis of W is too near to the normal to define t1


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
        Velocity of the plane's material at `point` [m/s].
    angular_velocity
        Angular velocity of the plane's material [rad/s], along n, so that the plane itself does not
        move.

    Raises
    ------
    InputError
        For a zero normal, numbers that are not finite, or a rotation that is not about the normal.

    Examples
    --------
    >>> Ground(normal=(0.0, 0.1, 1.0)).normal[2] < 1.0        # tilted, and normalised
    True
    """

    normal: Vector = (0.0, 0.0, 1.0)
    point: Vector = (0.0, 0.0, 0.0)
    velocity: Vector = (0.0, 0.0, 0.0)
    angular_velocity: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        vectors = {name: read_array(f"ground: {name}", getattr(self, name), (3,),
                                    "three finite numbers")
                   for name in ("normal", "point", "velocity", "angular_velocity")}
        length = np.linalg.norm(vectors["normal"])
        if length < SHORTEST:
            raise InputError(f"ground: normal {self.normal} has no direction; use (0, 0, 1) for "
                             "level ground")
        n = vectors["normal"] = vectors["normal"] / length
        if np.linalg.norm(np.cross(n, vectors["angular_velocity"])) > ALONG:
            raise InputError(f"ground: angular_velocity={self.angular_velocity} must be along the "
                             f"normal {tuple(n.tolist())}")
        for name, vector in vectors.items():
            object.__setattr__(self, name, tuple(vector.tolist()))

    @classmethod
    def inclined(cls, slope: float, direction: float = 0.0) -> Ground:
        """A plane at rest through the origin of W that rises by the angle `slope` [rad] along the
        horizontal direction at the angle `direction` from the x axis [rad].

        Raises
        ------
        InputError
            For a slope of 90 degrees or more.

        Examples
        --------
        >>> Ground.inclined(0.1).normal[0] < 0.0        # uphill is along x
        True
        """
        slope = read_slope("ground: slope", slope, "Ground.inclined(radians({}))")
        direction = read_number("ground: direction", direction, "an angle [rad]")
        return cls((-sin(slope) * cos(direction), -sin(slope) * sin(direction), cos(slope)))

    @property
    def tangents(self) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors in W such that (t1, t2, n) is a right-handed frame; t1 is the x axis of W
        projected onto the plane."""
        n = np.array(self.normal)
        seed = np.array([1.0, 0.0, 0.0]) if abs(n[0]) < SLANTED else np.array([0.0, -1.0, 0.0])
        t1 = seed - n * (n @ seed)
        t1 /= np.linalg.norm(t1)
        return t1, np.cross(n, t1)


def read_slope(what: str, value: object, python: str) -> float:
    """A slope [rad]; `python` is the call with degrees in the place of {}. Raises `InputError`
    for one of 90 degrees or more."""
    slope = read_number(what, value, "an angle [rad] between -pi/2 and pi/2")
    if abs(slope) < pi / 2:
        return slope
    degrees, meant = f"{slope:.6g}", "If degrees were meant: "
    raise InputError(f"{what} = {slope} must be an angle [rad] between -pi/2 and pi/2: steeper "
                     "ground cannot be rolled on",
                     Remedy(meant + python.format(degrees), f"{meant}{degrees}deg")
                     if abs(slope) < 90 and (2 * slope).is_integer() else None)
