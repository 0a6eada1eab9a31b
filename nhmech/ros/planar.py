"""Poses in the plane (x, y, yaw), and what is seen from above of poses in space."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class PlanarPose(NamedTuple):
    """x [m], y [m] and yaw [rad]; `a @ b` is b, given in a, in the frame of a."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def __matmul__(self, other: PlanarPose) -> PlanarPose:
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return PlanarPose(self.x + c * other.x - s * other.y, self.y + s * other.x + c * other.y,
                          self.yaw + other.yaw)

    @property
    def inverse(self) -> PlanarPose:
        """The pose whose product with this one is (0, 0, 0)."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return PlanarPose(-c * self.x - s * self.y, s * self.x - c * self.y, -self.yaw)

    @property
    def rotation(self) -> np.ndarray:
        """Quaternion (4,) x, y, z, w, with w >= 0."""
        half = math.remainder(self.yaw, 2 * math.pi) / 2
        return np.array([0.0, 0.0, math.sin(half), math.cos(half)])

    def place(self, translation: np.ndarray, rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A placement in space, given in this pose, in the frame of this pose."""
        if self == PlanarPose():
            return translation, rotation
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        x, y, z = translation
        _, _, k, r = self.rotation
        i, j, l, w = rotation
        turned = np.array([r * i - k * j, r * j + k * i, r * l + k * w, r * w - k * l])
        return (np.array([self.x + c * x - s * y, self.y + s * x + c * y, z]),
                turned if turned[3] >= 0 else -turned)


def yaw_of(rotation: np.ndarray) -> float:
    """Heading [rad] of a quaternion x, y, z, w, of any length but zero."""
    x, y, z, w = rotation
    return math.atan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z)


def rotate(rotation: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """A vector (3,) turned by a unit quaternion x, y, z, w."""
    axis, w = rotation[:3], rotation[3]
    across = 2 * np.cross(axis, vector)
    return vector + w * across + np.cross(axis, across)
