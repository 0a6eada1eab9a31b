"""What the contacts of a vehicle do, and a moment in which they may slide or fly."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np

STILL = 1e-7           # of the velocities of a step: below this a contact does not move
TOUCHING = 1e-9        # of the vehicle's size: height below which a contact is on the ground
SLOW = 1e-3            # of the vehicle's speed: with slower ones, speeds are compared with this


class Phase(IntEnum):
    """What a wheel does, or a body that can meet the ground.

    Members
    -------
    ROLLING
        It rolls (or stands) without slip.
    SLIDING
        It slides along the ground.
    AIRBORNE
        It does not touch the ground.
    LYING
        Of a body: it is on the ground, and does not slide.
    """

    ROLLING = 0
    SLIDING = 1
    AIRBORNE = 2
    LYING = 3


# NumPy takes microseconds over an enum's member
ROLLS, SLIDES, FLIES, LIES = map(int, Phase)


@dataclass(frozen=True, eq=False)
class Motion:
    """A moment in full velocities."""

    t: float  # [s]
    x: np.ndarray  # position, quaternion and joint positions (angles unwrapped)
    w: np.ndarray  # velocities (nv,), those of the base along the axes of W
    phases: np.ndarray  # of each contact, (n,)
    # of the ground on the contacts since the step began, row by row, (m,) [N s]
    impulses: np.ndarray
    # slid, lost: way that each contact has slid [m] and energy that it has lost [J] since the
    # start, (n,)
    slid: np.ndarray
    lost: np.ndarray
    # of all contacts above the ground, (n,) [m]; empty where no step ends
    heights: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def closed(self) -> np.ndarray:
        """Which contacts are on the ground, (n,)."""
        return self.phases != FLIES

    def begin(self) -> Motion:
        """The same moment as the begin of a step."""
        return Motion(self.t, self.x, self.w, self.phases, np.zeros_like(self.impulses), self.slid,
                      self.lost)
