"""What a controller may answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class JointTorque:
    """Efforts by joint name [N m, N]; driven joints that are not named get none."""

    values: Mapping[str, float]


@dataclass(frozen=True)
class JointVelocity:
    """Wanted rates by joint name [rad/s, m/s]."""

    values: Mapping[str, float]


@dataclass(frozen=True)
class JointPosition:
    """Wanted positions by joint name [rad, m]."""

    values: Mapping[str, float]


# Efforts of the driven joints in their order (in kinematic mode: xi), one command, several, or None for nothing
Command = np.ndarray | JointTorque | JointVelocity | JointPosition | Sequence[JointTorque | JointVelocity | JointPosition] | None
