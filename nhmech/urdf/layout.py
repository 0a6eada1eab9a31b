"""Where links, joints and collision shapes of a validated URDF stand in its start pose; plain
NumPy, no Pinocchio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, inf, sin

import numpy as np

from .source import Source, number, vector

TURNING_TYPES = ("revolute", "continuous")


@dataclass(frozen=True)
class Joint:
    """A joint of the file. X_PC (4, 4) places the child in the parent at zero; axis (3,) unit, in
    the child's frame."""

    name: str
    type: str
    parent: str
    child: str
    X_PC: np.ndarray
    axis: np.ndarray
    element: object
    lower: float
    upper: float

    @property
    def moves(self) -> bool:
        return self.type != "fixed"

    @property
    def turns(self) -> bool:
        return self.type in TURNING_TYPES

    @property
    def start(self) -> float:
        """Zero clipped into the limits [rad, m]."""
        return min(max(0.0, self.lower), self.upper)


@dataclass(frozen=True)
class CollisionShape:
    """A collision shape. X_LS (4, 4) in the frame of `link`, or another's where said; a cylinder's
    axis is its z."""

    link: str
    kind: str
    size: tuple[float, ...]
    X_LS: np.ndarray

    @property
    def centre(self) -> np.ndarray:
        return self.X_LS[:3, 3]


class Layout:
    """The tree in its start pose: every joint at zero clipped into its limits, or at the position
    given.

    Attributes
    ----------
    root
        Name of the root link.
    joints
        Name -> `Joint`, in the order of the file.
    above
        Link -> the `Joint` it hangs on; the root is not in it.
    X_RL
        Link -> (4, 4) placement in the root link's frame.
    """

    def __init__(self, source: Source, positions: Mapping[str, float] | None = None):
        self.source = source
        self.links = {e.get("name"): e for e in source.root.findall("link")}
        self.joints = {e.get("name"): _joint(source, e) for e in source.root.findall("joint")}
        self.above = {j.child: j for j in self.joints.values()}
        self._below: dict[str, list[Joint]] = {name: [] for name in self.links}
        for joint in self.joints.values():
            self._below[joint.parent].append(joint)
        self.root = next(name for name in self.links if name not in self.above)
        self.X_RL = {self.root: np.eye(4)}
        pending = [self.root]
        while pending:
            link = pending.pop()
            for joint in self._below[link]:
                q = (positions or {}).get(joint.name, joint.start)
                self.X_RL[joint.child] = self.X_RL[link] @ joint.X_PC @ motion(joint, q)
                pending.append(joint.child)

    def children(self, link: str) -> list[Joint]:
        """The joints below a link."""
        return self._below[link]

    def path(self, link: str) -> list[Joint]:
        """The joints from the root to a link."""
        joints = []
        while link in self.above:
            joints.append(self.above[link])
            link = joints[-1].parent
        return joints[::-1]

    def rigid(self, link: str) -> list[str]:
        """`link` and the links below it that are fixed to it, nearest first."""
        found = [link]
        for name in found:
            found += [j.child for j in self._below[name] if not j.moves]
        return found

    def body(self, link: str) -> str:
        """The uppermost link that `link` is fixed to: the child of a moving joint, or the root."""
        while link in self.above and not self.above[link].moves:
            link = self.above[link].parent
        return link

    def axis_R(self, joint: Joint) -> np.ndarray:
        """The joint's axis (3,) in the root's frame."""
        return self.X_RL[joint.child][:3, :3] @ joint.axis

    def X(self, frame: str, link: str) -> np.ndarray:
        """Placement (4, 4) of `link` in `frame`."""
        return np.linalg.inv(self.X_RL[frame]) @ self.X_RL[link]

    def shapes(self, link: str, frame: str | None = None) -> list[CollisionShape]:
        """Collision shapes of one link, in its own frame or in another link's."""
        found = []
        for element in self.links[link].findall("collision"):
            X = placement(self.source, element)
            if frame is not None and frame != link:
                X = self.X(frame, link) @ X
            geometry = element.find("geometry")
            shape = next((e for e in geometry if isinstance(e.tag, str)),
                         None) if geometry is not None else None
            if shape is None:
                continue
            size = ()
            if shape.tag == "cylinder":
                size = (number(self.source, shape, "radius"), number(self.source, shape, "length"))
            elif shape.tag == "sphere":
                size = (number(self.source, shape, "radius"),)
            elif shape.tag == "box":
                size = vector(self.source, shape, "size", 3)
            found.append(CollisionShape(link, shape.tag, size, X))
        return found


def placement(source: Source, element) -> np.ndarray:
    """The `<origin>` below an element as (4, 4); the identity where there is none."""
    X = np.eye(4)
    origin = element.find("origin")
    if origin is not None:
        X[:3, :3] = rotation_rpy(*vector(source, origin, "rpy", 3, (0.0, 0.0, 0.0)))
        X[:3, 3] = vector(source, origin, "xyz", 3, (0.0, 0.0, 0.0))
    return X


def rotation_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rotation (3, 3) of URDF's roll, pitch, yaw [rad] about fixed axes."""
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def motion(joint: Joint, q: float) -> np.ndarray:
    """The joint's own motion (4, 4) at position q [rad, m]."""
    X = np.eye(4)
    if joint.type == "prismatic":
        X[:3, 3] = joint.axis * q
    elif joint.turns and q != 0.0:
        x, y, z = joint.axis
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        X[:3, :3] = np.eye(3) + sin(q) * K + (1 - cos(q)) * (K @ K)
    return X


def _joint(source: Source, element) -> Joint:
    kind = element.get("type")
    given = element.find("axis")
    axis = np.array(vector(source, given, "xyz", 3, (1.0, 0.0, 0.0)) if given is not None
                    else (1.0, 0.0, 0.0))
    norm = np.linalg.norm(axis)
    lower, upper = -inf, inf
    limit = element.find("limit")
    if kind in ("revolute",
                "prismatic") and limit is not None and (limit.get("lower") or limit.get("upper")):
        lower, upper = number(source, limit, "lower", 0.0), number(source, limit, "upper", 0.0)
    return Joint(
        name=element.get("name"),
        type=kind,
        parent=element.find("parent").get("link"),
        child=element.find("child").get("link"),
        X_PC=placement(source, element),
        axis=axis / norm if norm > 0 else axis,
        element=element,
        lower=lower,
        upper=upper,
    )
