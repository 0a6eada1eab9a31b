"""Velocities of the base along the axes of the world, which do not turn within a step: w, whose
first six entries are those of v turned by the base's attitude."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...mechanics.algebroid import rotation
from ..state import base_pose


def to_world(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """w of v (nv,), or of each column: the base's velocities along the axes of W."""
    return _turned(base_pose(q)[:3, :3], v)


def to_body(q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """v of w (nv,), or of each column."""
    return _turned(base_pose(q)[:3, :3].T, w)


def _turned(R: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities whose first two vectors are turned by R (3, 3)."""
    found = v.copy()
    np.matmul(R, v[:3], out=found[:3])
    np.matmul(R, v[3:6], out=found[3:6])
    return found


def base_axes(q: ca.SX, nv: int) -> ca.SX:
    """T (nv, nv) with v = T w."""
    R = rotation(q[3:7])
    return ca.diagcat(R.T, R.T, ca.SX.eye(nv - 6))
