"""The state of a vehicle whose wheels may slide or fly, in full velocities w.

w is v with the base's linear and angular velocity along the axes of W, which, unlike body axes, do
not turn within a step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ...mechanics.algebroid import rotation
from ...once import cached_property
from ..state import base_pose
from .phases import FLIES

STILL = 1e-7           # relative to the velocities of a step: a slower contact is at rest
TOUCHING = 1e-9        # relative to the vehicle's size: a lower contact is on the ground
SLOW = 1e-3            # of the vehicle's speed: tolerances of speeds are relative to at least this


@dataclass(frozen=True, eq=False)
class Motion:
    """The state of a vehicle in full velocities, and the record of its contacts."""

    t: float  # [s]
    x: np.ndarray  # position, quaternion and joint positions (angles unwrapped)
    w: np.ndarray  # velocities (nv,), those of the base along the axes of W
    phases: np.ndarray  # `Phase` of each contact, (n,)
    impulses: np.ndarray  # of the ground since the step began, by rows, (m,) [N s]
    slid: np.ndarray  # distance that each contact has slid since the start, (n,) [m]
    lost: np.ndarray  # energy that each contact has dissipated since the start, (n,) [J]
    # heights of all contacts above the ground, (n,) [m]; empty if no step ends here
    heights: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def closed(self) -> np.ndarray:
        """Which contacts are on the ground, (n,)."""
        return self.phases != FLIES

    def begin(self) -> Motion:
        """The same state at the beginning of a step: no impulses yet."""
        return Motion(self.t, self.x, self.w, self.phases, np.zeros_like(self.impulses), self.slid,
                      self.lost)


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
