"""Velocities of the base along the axes of the world, which do not turn within a step: w, whose
first six entries are those of v turned by the base's attitude."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...mechanics.algebroid import rotation
from ..state import base_pose


def to_world(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """w of v (nv,), or of each column: the base's velocities along the axes of W."""
    R, w = base_pose(q)[:3, :3], v.copy()
    w[:3], w[3:6] = R @ v[:3], R @ v[3:6]
    return w


def to_body(q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """v of w (nv,), or of each column."""
    R, v = base_pose(q)[:3, :3].T, w.copy()
    v[:3], v[3:6] = R @ w[:3], R @ w[3:6]
    return v


def base_axes(q: ca.SX, nv: int) -> ca.SX:
    """T (nv, nv) with v = T w."""
    R = rotation(q[3:7])
    return ca.diagcat(R.T, R.T, ca.SX.eye(nv - 6))
