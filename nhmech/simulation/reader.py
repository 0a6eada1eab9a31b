"""Makes `State`s; what does not change during a run is worked out once."""

from __future__ import annotations

import numpy as np

from .flat import FlatState
from .state import Places, State
from .subject import Subject


class Reader:
    """Names and places of everything a `State` shows.

    primary  flat state and independent speeds of the run's first chart; later charts are read through the same names
    """

    def __init__(self, subject: Subject, flat: FlatState, xi_names: tuple[str, ...], speeds: list[int]):
        algebroid = flat.algebroid
        nq, nv, positions = algebroid.nq, algebroid.nv, flat.names(())
        v = {name: nq + i for i, name in enumerate(algebroid.v_names)}
        x = {name: nq + nv + i for i, name in enumerate(positions)}
        joints = subject.joint_names if subject.vehicle is not None else positions
        inputs = slice(nq + nv + flat.nx, nq + nv + flat.nx + subject.constrained.system.u.numel())
        self.places = Places(nq, nv, inputs, {name: nq + i for name, i in zip(xi_names, speeds)}, v,
                             {positions[i]: nq + nv + i for i in flat.angle_slots()},
                             {name: x[name] for name in joints}, {name: v[name] for name in subject.joint_names})

    def state(self, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, u: np.ndarray) -> State:
        """A copy of the present moment."""
        return State(t, np.concatenate((q, v, x, u)), self.places)

    def copied(self, t: float, block: np.ndarray) -> State:
        """Likewise, from memory that begins with (q, v, x, u)."""
        return State(t, block.copy(), self.places)
