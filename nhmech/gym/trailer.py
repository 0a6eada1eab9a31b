"""Backing up trailers along a path."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

from ..control.path_reference import TrackedAxle
from ..control.trailer_chain import backing_way, trailer_joints
from ..vehicle.model import joint_axis
from .path_following import PathTask
from .task import Seen, base_rotation

FOLDED = np.deg2rad(60)      # hitch angle at which an episode ends


class TrailerTask(PathTask):
    """Backing the last trailer along a path: `PathTask` for the ground point below the middle of
    its axle, with the heading of its rear. An episode also ends when a hitch folds by 60 degrees.

    Parameters
    ----------
    path, **task
        As in `PathTask`.

    Raises
    ------
    ModelError
        For a vehicle without a trailer, and as `PathTask` does.
    """

    def prepare(self) -> None:
        self.hitches = trailer_joints(self.vehicle)
        model, x = self.vehicle.model, self.at_rest
        self._chain = [model.getJointId(name) for name in self.hitches]
        q = self.configuration(x)
        self.axle = TrackedAxle.of(self.vehicle, q, self._chain[-1])
        data = model.createData()
        point, heading = self.axle.pose(self.vehicle, data, q)
        # ahead on the tracked axle, or the other way
        self._way = backing_way(self.vehicle, self.hitches)
        # of the base at the origin
        self._back = (float(point[0] - x[0]), float(point[1] - x[1]),
                      heading if self._way > 0 else heading + np.pi)
        super().prepare()

    def _cruise(self) -> dict[str, float]:
        return self.twist(self._way * self.speed)

    def base(self, pose: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[Any, Any, Any]:
        ahead, left, heading = self._back
        yaw = pose[2] - heading
        c, s = np.cos(yaw), np.sin(yaw)
        return pose[0] - c * ahead + s * left, pose[1] - s * ahead - c * left, yaw

    def tracked(self, x: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        model, R, p = self.vehicle.model, base_rotation(x), x[:3]
        for joint in self._chain:
            placement = model.jointPlacements[joint]
            angle = x[self.dynamics.coordinate(model.names[joint])]
            k = pin.skew(joint_axis(model, joint))
            p = p + R @ placement.translation
            R = R @ placement.rotation @ (np.eye(3) + ca.sin(angle) * ca.SX(k)
                                          + (1 - ca.cos(angle)) * ca.SX(k @ k))
        left = R @ self.axle.axle
        back = self._way * ca.vertcat(left[1], -left[0])     # of left x n
        back = back / ca.norm_2(back)
        return (p + R @ self.axle.point)[:2], back[0], back[1]

    def lost(self, seen: Seen, lateral: ca.SX) -> ca.SX:
        ended = super().lost(seen, lateral)
        for name in self.hitches:
            angle = seen.x[self.dynamics.coordinate(name)]
            ended = ca.logic_or(ended, ca.cos(angle) < np.cos(FOLDED))
        return ended
