"""The frames of a vehicle as ROS names them: odom -> root link -> links, and one at each
contact."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin
from lxml import etree

from ..symbolic.buffered import Buffered
from ..vehicle.vehicle import Vehicle

WORLD = "odom"               # REP-105: the frame that does not jump; here it is W


@dataclass(frozen=True)
class Attachment:
    """A link and the parent that it hangs on. Its placement in the parent is `above * X(q) *
    below`, where X is the motion of `joint`; without a joint, X is the identity."""

    name: str
    parent: str
    above: pin.SE3
    below: pin.SE3
    joint: int | None


class Frames:
    """Placements of a vehicle's links and contacts at a configuration: the `root` link has the
    base's pose and twist, `moving` links move in their parents, `fixed` ones do not."""

    def __init__(self, vehicle: Vehicle):
        self.vehicle, self.model, self.root = vehicle, vehicle.model, vehicle.description.root
        self._data = self.model.createData()
        frames = {frame.name: frame
                  for frame in self.model.frames if frame.type == pin.FrameType.BODY}
        links = []
        for element in etree.fromstring(vehicle.description.xml.encode()).iterfind("joint"):
            parent, child = (frames[element.xpath(f"string({tag}/@link)")]
                             for tag in ("parent", "child"))
            joint = child.parentJoint if child.parentJoint != parent.parentJoint else None
            links.append(Attachment(child.name, parent.name, parent.placement.inverse(),
                                    child.placement, joint))
        self.moving = [link for link in links if link.joint is not None]
        self.fixed = [link for link in links if link.joint is None]
        self._axes = Buffered(_contact_axes(vehicle), matrices=(0, 1))
        self._theta = vehicle.theta
        self._carriers = [(contact.name, contact.mount.body, slice(3 * i, 3 * i + 3))
                          for i, contact in enumerate(vehicle.contacts)]

    def place(self, q: np.ndarray) -> None:
        """Puts all joints where q (nq,) has them."""
        pin.forwardKinematics(self.model, self._data, np.asarray(q, dtype=float))

    def link(self, link: Attachment) -> pin.SE3:
        """Placement of a link in its parent."""
        motion = pin.SE3.Identity() if link.joint is None else self._data.liMi[link.joint]
        return link.above * motion * link.below

    def attitude(self, name: str) -> np.ndarray:
        """R_WL (3, 3) of a link, after `place(q)`."""
        frame = self.model.frames[self.model.getFrameId(name, pin.FrameType.BODY)]
        return self._data.oMi[frame.parentJoint].rotation @ frame.placement.rotation

    def contacts(self, q: np.ndarray, t: float) -> dict[str, pin.SE3]:
        """Contact -> its frame in W, after `place(q)`: origin K, x along the rolling, y sideways, z
        the normal."""
        points, axes = self._axes(t, q, self._theta)
        bodies = self._data.oMi
        return {name: bodies[body] * pin.SE3(axes[:, columns], points[:, i])
                for i, (name, body, columns) in enumerate(self._carriers)}


def _contact_axes(vehicle: Vehicle) -> ca.Function:
    """(t, q, theta) -> K and the three directions as columns, in the frame of the carrying body,
    contact by contact."""
    system = vehicle.constrained.system
    points = ca.horzcat(ca.SX(3, 0), *[c.point for c in vehicle.contacts])
    axes = ca.horzcat(ca.SX(3, 0),
                      *[c.directions[name] for c in vehicle.contacts
                        for name in ("longitudinal", "lateral", "normal")])
    return ca.Function("contact_axes", [system.t, system.q, system.theta],
                       [ca.densify(points), ca.densify(axes)])
