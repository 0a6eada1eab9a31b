"""Poses in the ground plane."""

from __future__ import annotations

import math

Pose = tuple[float, float, float]           # x [m], y [m], heading [rad]


def wrap(angle: float) -> float:
    """The same angle in [-pi, pi) [rad]."""
    return (angle + math.pi) % (2 * math.pi) - math.pi


def relative_pose(pose: Pose, frame: Pose) -> Pose:
    """A pose as it is seen from another one; its heading in [-pi, pi)."""
    dx, dy = pose[0] - frame[0], pose[1] - frame[1]
    c, s = math.cos(frame[2]), math.sin(frame[2])
    return c * dx + s * dy, c * dy - s * dx, wrap(pose[2] - frame[2])
