"""The phases of a contact, and the state of a vehicle whose wheels may slide or fly."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from ...once import cached_property

STILL = 1e-7           # relative to the velocities of a step: a slower contact is at rest
TOUCHING = 1e-9        # relative to the vehicle's size: a lower contact is on the ground
SLOW = 1e-3            # of the vehicle's speed: tolerances of speeds are relative to at least this


class Phase(IntEnum):
    """The contact phase of a wheel, or of a body that can touch the ground.

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


# as plain integers, because NumPy takes microseconds to convert an enum
ROLLS, SLIDES, FLIES, LIES = map(int, Phase)


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
