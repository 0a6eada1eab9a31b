"""A steady motion as a curve in configuration space, and how far a state is from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..simulation.state import State, base_pose
from ..vehicle.vehicle import Vehicle


@dataclass(frozen=True, eq=False)
class SteadyReference:
    """Everything the dynamics sees stands still, so v is constant: T_WB(t) = T_WB(0) exp(t V),
    constant joint rates.

    Attributes
    ----------
    q, v
        (nq,), (nv,) at t = 0.
    heading
        Whether the reference keeps its own heading; else it is turned about the normal to that of
        the state.
    place
        Likewise its own place on the ground.
    """

    vehicle: Vehicle
    q: np.ndarray
    v: np.ndarray
    heading: bool = False
    place: bool = False
    _start: np.ndarray = field(init=False)
    _joints: list[tuple[str, float, float, bool]] = field(init=False)
    _level: np.ndarray = field(init=False)

    def __post_init__(self):
        at, model = self.vehicle.joint_positions(self.q), self.vehicle.model
        names = self.vehicle.algebroid.v_names
        object.__setattr__(self, "_start", base_pose(self.q))
        object.__setattr__(self, "_level", _level(self.vehicle.placer.normal))
        object.__setattr__(self, "_joints",
                           [(name, at[name], float(rate),
                             model.joints[model.getJointId(name)].nq == 2)
                                             for name, rate in zip(names[6:], self.v[6:])])

    def _heading(self, T: np.ndarray) -> float:
        """Angle about n of R = Rz(yaw) Rx(roll) Ry(pitch), up to a constant: of the y axis, level
        in any pitch."""
        across, along = self._level @ T[:3, 1]
        return math.atan2(along, across)

    def pose(self, t: float) -> np.ndarray:
        """T_WB (4, 4)."""
        from pinocchio import Motion, exp6

        return self._start @ exp6(Motion(self.v[:6] * t)).homogeneous

    def displacement(self, t: float, state: State,
                     turns: Callable[[str], bool] = lambda name: False) -> np.ndarray:
        """eta (nv,) along the fibre, from the reference to the state, to first order in eta.

        Parameters
        ----------
        turns
            Joints whose whole turns count; those of other continuous joints do not.
        """
        # its lean is that of the start
        T, found = self.pose(t) if self.heading or self.place else self._start, state.T_WB
        R, n = T[:3, :3], self.vehicle.placer.normal
        if not self.heading:
            R = _about(n, self._heading(found) - self._heading(T)) @ R
        moved = found[:3, 3] - T[:3, 3]
        # a lean moves the base up and down
        moved = R.T @ (moved if self.place else n * (n @ moved))
        eta = [*moved, *_log(R.T @ found[:3, :3])]
        for name, start, rate, circle in self._joints:
            error = state.joint_position[name] - (start + rate * t)
            eta.append(np.remainder(error + np.pi, 2 * np.pi) - np.pi if circle
                       and not turns(name) else error)
        return np.array(eta)


def _hat(w: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _level(n: np.ndarray) -> np.ndarray:
    """Two unit vectors along the ground, the first nearest to the x axis, (2, 3)."""
    one = np.array([1.0, 0.0, 0.0]) - n * n[0]
    one /= np.linalg.norm(one)
    return np.array([one, np.cross(n, one)])


def _about(n: np.ndarray, angle: float) -> np.ndarray:
    """Rotation by an angle about a unit vector."""
    N = _hat(n)
    return np.eye(3) + np.sin(angle) * N + (1 - np.cos(angle)) * N @ N


def _log(R: np.ndarray) -> np.ndarray:
    """Rotation vector (3,) of R."""
    from pinocchio import log3

    return log3(R)
