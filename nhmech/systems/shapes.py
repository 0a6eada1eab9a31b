"""Simple shapes by which a textbook system can be seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ..attitude import attitude
from ..checks import check_arguments

Color = tuple[float, float, float, float]
BLUE, ORANGE = (0.16, 0.42, 0.66, 1.0), (0.90, 0.45, 0.13, 1.0)
GREY, DARK = (0.70, 0.73, 0.77, 1.0), (0.15, 0.16, 0.18, 1.0)


@check_arguments
@dataclass(frozen=True)
class Shape:
    """One body of the picture.

    Attributes
    ----------
    kind
        "box" (x, y, z lengths), "cylinder" (radius, length; along z) or "sphere" (radius,) [m].
    size
        Lengths by kind [m].
    pose
        q -> (4, 4) in W.
    color
        (r, g, b, a).
    trail
        Whether its lowest point leaves a trail on the plane z = 0.
    """

    kind: str
    size: tuple[float, ...]
    pose: Callable[[np.ndarray], np.ndarray]
    color: Color = BLUE
    trail: bool = False


def pose(position=(0.0, 0.0, 0.0), yaw: float = 0.0, roll: float = 0.0,
         pitch: float = 0.0) -> np.ndarray:
    """T (4, 4) with R = Rz(yaw) Rx(roll) Ry(pitch)."""
    T = np.eye(4)
    T[:3, :3] = attitude(yaw, roll, pitch)
    T[:3, 3] = position
    return T


def turned(q: np.ndarray) -> np.ndarray:
    """T (4, 4) at the origin, for q that is an attitude as a quaternion (x, y, z, w)."""
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(q).as_matrix()
    return T


# a cylinder along y, as a wheel's axle: Rx(90 degrees)
AXLE = pose(roll=np.pi / 2)
