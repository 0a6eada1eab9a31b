"""Where links, joints and collision shapes of a validated URDF stand in its start pose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, pi

import numpy as np
import pinocchio as pin

from ..once import cached_property
from .elements import Elements, read_elements
from .text.source import Element, Source, Triple, link_at, name_of
from .wheel import Wheel

TURNING_TYPES = ("revolute", "continuous")
# rad, a third of a degree: an angle this near to a right angle was meant to be one. 4.71 is 2.4e-3
# away from 3 pi / 2, 3.14 is 1.6e-3 away from pi
SNAP = 5e-3
_FULL_TURN = 2 * pi - 0.01     # [rad]


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
    element: Element
    lower: float
    upper: float

    @property
    def moves(self) -> bool:
        return self.type != "fixed"

    @property
    def turns(self) -> bool:
        return self.type in TURNING_TYPES

    @property
    def is_free(self) -> bool:
        """Whether one that turns can do so round and round: it is continuous, or its limits are
        missing, equal (exporters write 0 and 0 for none) or a full turn apart, 3.14 being pi."""
        span = self.upper - self.lower
        return self.type == "continuous" or span == 0 or span >= _FULL_TURN

    @property
    def start(self) -> float:
        """Zero clipped into the limits [rad, m]."""
        return min(max(0.0, self.lower), self.upper)


@dataclass(frozen=True)
class LinkShape:
    """A collision or visual shape. X_LS (4, 4) in the frame of `link`, or of another where one was
    asked; mesh: the name of its file, of which `scale` is part.
    """

    link: str
    kind: str
    size: tuple[float, ...]
    X_LS: np.ndarray
    mesh: str
    scale: Triple

    @property
    def centre(self) -> np.ndarray:
        """(3,) [m]"""
        return self.X_LS[:3, 3]

    @property
    def axis(self) -> np.ndarray:
        """The z axis (3,), along which a cylinder lies."""
        return self.X_LS[:3, 2]


class Layout:
    """The tree in its start pose: every joint at zero clipped into its limits, or at the position
    given.

    `joints` maps names to joints in the order of the file, `above` a link to the joint that it
    hangs on (except the `root`), and `X_RL` a link to its placement (4, 4) in the root link's
    frame.
    """

    def __init__(self, source: Source, positions: Mapping[str, float] | None = None):
        self.source = source
        self._shapes: dict[tuple[str, str, str], tuple[LinkShape, ...]] = {}
        self.links = {name_of(e): e for e in source.root.findall("link")}
        self.joints = {name_of(e): _read_joint(source, e) for e in source.root.findall("joint")}
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
                self.X_RL[joint.child] = self.X_RL[link] @ joint.X_PC @ displacement(joint, q)
                pending.append(joint.child)

    @cached_property
    def elements(self) -> Elements:
        """The elements for simulators and controllers; evidence, never an error."""
        return read_elements(self.source.root)

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

    def carried_joints(self, link: str) -> list[Joint]:
        """Joints that move and hang on `link` or on what is fixed to it."""
        return [j for name in self.rigid(link) for j in self._below[name] if j.moves]

    def carrier(self, wheel: Wheel) -> str:
        """The link that carries a wheel: the one it names, else the child of its joint."""
        return wheel.link or self.joints[wheel.name].child

    def body(self, link: str) -> str:
        """The uppermost link that `link` is fixed to: the child of a moving joint, or the root."""
        while link in self.above and not self.above[link].moves:
            link = self.above[link].parent
        return link

    def mass(self, link: str) -> float:
        """Mass that the file gives a link [kg]."""
        return sum(self.source.number(mass, "value")
                   for mass in self.links[link].iterfind("inertial/mass"))

    def axis_R(self, joint: Joint) -> np.ndarray:
        """The joint's axis (3,) in the root's frame."""
        return self.X_RL[joint.child][:3, :3] @ joint.axis

    def X(self, frame: str, link: str) -> np.ndarray:
        """Placement (4, 4) of `link` in `frame`."""
        return np.linalg.inv(self.X_RL[frame]) @ self.X_RL[link]

    def shapes(self, link: str, frame: str | None = None,
               tag: str = "collision") -> tuple[LinkShape, ...]:
        """Collision (or "visual") shapes of one link, in its own frame or in another link's."""
        key = link, frame or link, tag
        if key not in self._shapes:
            self._shapes[key] = tuple(self._read_shapes(*key))
        return self._shapes[key]

    def _read_shapes(self, link: str, frame: str, tag: str) -> Iterator[LinkShape]:
        for element in self.links[link].findall(tag):
            X = placement(self.source, element)
            if frame != link:
                X = self.X(frame, link) @ X
            shape = next(element.iterfind("geometry/*"), None)
            if shape is not None:
                scale = self.source.triple(shape, "scale", (1.0, 1.0, 1.0))
                yield LinkShape(link, shape.tag, _size(self.source, shape), X,
                                shape.get("filename", ""), scale)


def _size(source: Source, shape: Element) -> tuple[float, ...]:
    """The sizes [m] of a box, cylinder or sphere; none of a mesh."""
    if shape.tag == "cylinder":
        return source.number(shape, "radius"), source.number(shape, "length")
    if shape.tag == "sphere":
        return (source.number(shape, "radius"),)
    return source.triple(shape, "size") if shape.tag == "box" else ()


def placement(source: Source, element: Element) -> np.ndarray:
    """The `<origin>` below an element as (4, 4); the identity where there is none."""
    X = np.eye(4)
    origin = element.find("origin")
    if origin is not None:
        X[:3, :3] = pin.rpy.rpyToMatrix(*source.triple(origin, "rpy", (0.0, 0.0, 0.0)))
        X[:3, 3] = source.triple(origin, "xyz", (0.0, 0.0, 0.0))
    return X


def displacement(joint: Joint, q: float) -> np.ndarray:
    """The joint's own motion (4, 4) at position q [rad, m]."""
    X = np.eye(4)
    if joint.type == "prismatic":
        X[:3, 3] = joint.axis * q
    elif joint.turns:
        X[:3, :3] = pin.exp3(joint.axis * q)
    return X


def _read_joint(source: Source, element: Element) -> Joint:
    kind, limit, given = element.get("type", ""), element.find("limit"), element.find("axis")
    x_axis = (1.0, 0.0, 0.0)           # what URDF means by no <axis>
    axis = np.array(x_axis if given is None else source.triple(given, "xyz", x_axis))
    norm = np.linalg.norm(axis)
    lower, upper = -inf, inf
    if (kind in ("revolute", "prismatic") and limit is not None
            and (limit.get("lower") or limit.get("upper"))):
        lower, upper = source.number(limit, "lower", 0.0), source.number(limit, "upper", 0.0)
    return Joint(name_of(element), kind, link_at(element, "parent"),
                 link_at(element, "child"), placement(source, element),
                 axis / norm if norm > 0 else axis, element, lower, upper)


def matches_name(pattern: str, *names: str) -> bool:
    """Whether a word is part of one of the names, in capitals or not."""
    return any(re.search(pattern, name, re.IGNORECASE) for name in names)


def positive(axis: np.ndarray) -> np.ndarray:
    """The axis (3,) or its opposite, the one whose largest part is positive."""
    return max(axis, -axis, key=lambda way: way[np.argmax(np.abs(way))])


def snap_axis(axis: np.ndarray) -> np.ndarray:
    """The coordinate axis, or its opposite, that a unit vector (3,) was meant to be; itself, if it
    is within `SNAP` of none."""
    straight = np.where(np.abs(axis) > 0.5, np.sign(axis), 0.0)
    return straight if np.linalg.norm(axis - straight) < SNAP else axis


def to_triple(vector: np.ndarray, digits: int = 15) -> Triple:
    """Three rounded numbers, none of them -0."""
    x, y, z = (float(c) + 0.0 for c in np.round(vector, digits))
    return x, y, z


def to_words(vector: np.ndarray, digits: int = 4) -> str:
    """Three numbers as a URDF has them: "0 1 0"."""
    return " ".join(f"{c:.{max(digits, 6)}g}" for c in to_triple(vector, digits))
