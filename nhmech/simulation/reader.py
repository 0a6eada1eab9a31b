"""Makes `State`s; what does not change during a run is worked out once."""

from __future__ import annotations

import numpy as np

from .flat import FlatState
from .named import Named
from .state import State
from .subject import Subject


class Reader:
    """Names and places of everything a `State` shows.

    primary  flat state and independent speeds of the run's first chart; later charts are read through the same names
    """

    def __init__(self, subject: Subject, flat: FlatState, xi_names: tuple[str, ...], speeds: list[int]):
        names = flat.algebroid.v_names
        positions = flat.names(())
        joints = subject.joint_names if subject.vehicle is not None else positions
        self.v_names, self.xi_names, self.speeds = names, xi_names, speeds
        self.angles = list(flat.angle_slots())
        self.angle_names = tuple(positions[i] for i in self.angles)
        self.joints, self.joint_slots = joints, [positions.index(name) for name in joints]
        self.rates, self.rate_slots = subject.joint_names, [names.index(name) for name in subject.joint_names]

    def state(self, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> State:
        """A copy of the present moment."""
        q, v = q.copy(), v.copy()
        return State(t, q, v, Named(self.xi_names, v[self.speeds], Named(self.v_names, v)), Named(self.angle_names, x[self.angles]),
                     Named(self.joints, x[self.joint_slots]), Named(self.rates, v[self.rate_slots]))
