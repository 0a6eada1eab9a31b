"""A steady motion as a curve in configuration space, and the displacement of a state from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..attitude import wrap
from ..once import cached_property
from ..simulation.state import State, base_pose
from ..vehicle.vehicle import Vehicle


@dataclass(frozen=True, eq=False)
class SteadyReference:
    """A steady motion: T_WB(t) = T_WB(0) exp(t V) with constant v and joint rates."""

    vehicle: Vehicle
    # q, v: (nq,), (nv,) at t = 0
    q: np.ndarray
    v: np.ndarray
    # whether the reference keeps its own heading; else it is turned about the normal to that of the
    # state
    heading: bool = False
    place: bool = False  # likewise its own place on the ground

    @cached_property
    def _start(self) -> np.ndarray:
        return base_pose(self.q)

    @cached_property
    def _level(self) -> np.ndarray:
        """Two vectors of one length along the ground, at right angles, (2, 3)."""
        n = self.vehicle.placer.normal
        one = np.array([1.0, 0.0, 0.0]) - n * n[0]
        return np.array([one, np.cross(n, one)])

    @cached_property
    def _joints(self) -> list[tuple[str, float, float, bool]]:
        """Name, position, rate, and whether whole turns make no difference."""
        at, model = self.vehicle.joint_positions(self.q), self.vehicle.model
        rates = zip(self.vehicle.joint_names, self.v[6:])
        return [(name, at[name], float(rate), model.joints[model.getJointId(name)].nq == 2)
                for name, rate in rates]

    def _heading(self, T: np.ndarray) -> float:
        """Angle about n of R = Rz(yaw) Rx(roll) Ry(pitch), up to a constant: of the y axis, level
        in any pitch."""
        across, along = self._level @ T[:3, 1]
        return math.atan2(along, across)

    def pose(self, t: float) -> np.ndarray:
        """T_WB (4, 4)."""
        return self._start @ pin.exp6(pin.Motion(self.v[:6] * t)).homogeneous

    def displacement(self, t: float, state: State,
                     turns: Callable[[str], bool] = lambda name: False) -> np.ndarray:
        """eta (nv,) along the fibre, from the reference to the state, to first order in eta.
        `turns`: joints whose whole turns count; those of other continuous joints do not."""
        # its lean is that of the start
        T, found = self.pose(t) if self.heading or self.place else self._start, state.T_WB
        R, n = T[:3, :3], self.vehicle.placer.normal
        if not self.heading:
            R = pin.exp3(n * (self._heading(found) - self._heading(T))) @ R
        moved = found[:3, 3] - T[:3, 3]
        # a lean moves the base up and down
        moved = R.T @ (moved if self.place else n * (n @ moved))
        eta = [*moved, *pin.log3(R.T @ found[:3, :3])]
        for name, start, rate, circle in self._joints:
            error = state.joint_position[name] - (start + rate * t)
            eta.append(wrap(error) if circle and not turns(name) else error)
        return np.array(eta)
