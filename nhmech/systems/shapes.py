"""Simple shapes by which a textbook system can be seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real

import casadi as ca
import numpy as np

from ..attitude import attitude
from ..checks import check_arguments
from ..mechanics.algebroid import rotation

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
        q -> (4, 4) in W; for the pages in which a system runs by itself, of symbols too, which come
        as an array of objects (`pose`, `turned`, `placed` take them).
    color
        (r, g, b, a).
    trail
        Whether its lowest point leaves a trail on the plane z = 0.
    """

    kind: str
    size: tuple[float, ...]
    pose: Callable[[np.ndarray], np.ndarray] = field(repr=False)
    color: Color = BLUE
    trail: bool = False


def pose(position=(0.0, 0.0, 0.0), yaw: float = 0.0, roll: float = 0.0,
         pitch: float = 0.0) -> np.ndarray:
    """T (4, 4) with R = Rz(yaw) Rx(roll) Ry(pitch)."""
    return placed(attitude(yaw, roll, pitch), position)


def attitude_pose(q: np.ndarray) -> np.ndarray:
    """T (4, 4) at the origin, for q that is an attitude as a quaternion (x, y, z, w)."""
    return placed(matrix_of(q))


def matrix_of(quaternion: np.ndarray) -> np.ndarray:
    """R (3, 3) of a quaternion (x, y, z, w): numbers, or an array of symbols of unit length."""
    if quaternion.dtype == object:
        R = rotation(ca.vertcat(*quaternion))
        return np.array([[R[i, j] for j in range(3)] for i in range(3)], dtype=object)
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quaternion).as_matrix()


def placed(R: np.ndarray, position=(0.0, 0.0, 0.0)) -> np.ndarray:
    """T (4, 4) of attitude and position, numbers or symbols."""
    is_number = R.dtype == float and all(isinstance(x, Real) for x in position)
    T = np.eye(4, dtype=float if is_number else object)
    T[:3, :3], T[:3, 3] = R, position
    return T


def disc_shapes(radius: float, thickness: float,
                pose: Callable[[np.ndarray], np.ndarray]) -> tuple[Shape, Shape]:
    """A disc about the z axis of its pose, and a bar across it that shows how it spins."""
    bar = (1.8 * radius, 0.2 * radius, 1.2 * thickness)
    return Shape("cylinder", (radius, thickness), pose, trail=True), Shape("box", bar, pose, ORANGE)


# a cylinder along y, as a wheel's axle: Rx(90 degrees)
AXLE = pose(roll=np.pi / 2)
