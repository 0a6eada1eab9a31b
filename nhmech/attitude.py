"""Angles: attitudes by yaw, roll and pitch, and angles without whole turns."""

from __future__ import annotations

import math
from numbers import Real
from typing import TypeVar

import numpy as np

Scalar = TypeVar("Scalar", float, np.ndarray)


def wrap(angle: Scalar) -> Scalar:
    """The same angle in [-pi, pi) [rad]."""
    return (angle + math.pi) % (2 * math.pi) - math.pi


def attitude(yaw: float, roll: float = 0.0, pitch: float = 0.0) -> np.ndarray:
    """R = Rz(yaw) Rx(roll) Ry(pitch), (3, 3), angles in rad.

    Pitch comes last, so that it turns about the base's own lateral axis, as a wheel's axle does.
    Of symbols it is an array of objects.
    """
    angles = yaw, roll, pitch
    kind = float if all(isinstance(angle, Real) for angle in angles) else object
    (cy, sy), (cr, sr), (cp, sp) = ((np.cos(angle), np.sin(angle)) for angle in angles)
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]], dtype=kind)
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]], dtype=kind)
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]], dtype=kind)
    return Rz @ Rx @ Ry
