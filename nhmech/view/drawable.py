"""The data of a picture: something to draw, its motion, and one moment of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pinocchio as pin

from ..simulation.contact.phases import ContactMoment
from ..simulation.runs.trajectory import Trajectory
from ..simulation.simulated import Simulated
from ..systems.example import Example
from ..vehicle.ground import Ground
from ..vehicle.vehicle import Vehicle

Colour = tuple[float, float, float]  # red, green, blue in [0, 1]


class Drawable(Protocol):
    """The interface that the viewer needs of a vehicle."""

    @property
    def name(self) -> str:
        """Title of the page."""

    @property
    def model(self) -> pin.Model:
        """Moves the bodies."""

    @property
    def visual_model(self) -> pin.GeometryModel:
        """Shapes of the bodies."""

    @property
    def ground(self) -> Ground:
        """The plane below."""

    @property
    def contact_names(self) -> Sequence[str]:
        """Names of the trails."""

    def contact_points(self, q: np.ndarray) -> np.ndarray:
        """Points (n, 3) [m] in W that leave the trails."""


class Playable(Protocol):
    """A motion that can be played, such as a `Trajectory`; some overlays read its `v` and `u`."""

    @property
    def t(self) -> np.ndarray:
        """Times (N,) [s]."""

    @property
    def q(self) -> np.ndarray:
        """Configurations (N, nq)."""


def check_run(drawn: Drawable | Example | Simulated, motion: Playable) -> None:
    """Raises `InputError` if the motion is the run of another vehicle or system."""
    if isinstance(motion, Trajectory) and isinstance(drawn, Vehicle | Example | Simulated):
        motion.check_is_of(drawn)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One moment of a motion: configuration q (nq,) and time t [s]; velocities v (nv,) and inputs
    u (nu,) where they are known; what the contacts do where they need not roll."""

    q: np.ndarray
    t: float = 0.0
    v: np.ndarray | None = None
    u: np.ndarray | None = None
    contacts: ContactMoment | None = None

    @classmethod
    def of(cls, state: Any) -> Snapshot:
        """A copy of a configuration (nq,), or of an object with q and perhaps t, v, u, contacts."""
        v, u = (None if value is None else np.array(value, dtype=float)
                for value in (getattr(state, "v", None), getattr(state, "u", None)))
        return cls(np.array(getattr(state, "q", state), dtype=float),
                   float(getattr(state, "t", 0.0)), v, u, getattr(state, "contacts", None))
