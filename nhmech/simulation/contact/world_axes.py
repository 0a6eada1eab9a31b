"""Velocities w: v with the base's linear and angular velocity along the axes of W, which, unlike
body axes, do not turn within a step."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...mechanics.algebroid import rotation
from ..state import base_pose


def to_world(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """w from v (nv,), or from each column."""
    return _turn(base_pose(q)[:3, :3], v)


def to_body(q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """v from w (nv,), or from each column."""
    return _turn(base_pose(q)[:3, :3].T, w)


def _turn(R: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities with the first two vectors multiplied by R (3, 3)."""
    found = v.copy()
    np.matmul(R, v[:3], out=found[:3])
    np.matmul(R, v[3:6], out=found[3:6])
    return found


def base_axes(q: ca.SX, nv: int) -> ca.SX:
    """T (nv, nv) with v = T w."""
    R = rotation(q[3:7])
    return ca.diagcat(R.T, R.T, ca.SX.eye(nv - 6))
