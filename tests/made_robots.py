"""Random wheeled robots whose truth is known because they were made: they stand for those that
nobody here has seen.

`python tests/made_robots.py [COUNT | SEED-SEED]` prints what came of them.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from metamorphic import (
    _words,
    box_triangles,
    cylinder_triangles,
    sphere_triangles,
    write_stl,
)
from robot_table import Contact, Truth, Verdict, judge

from nhmech.urdf.describe import describe

Y, Z = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])


class Maker:
    """A robot in the making: everything stands in one frame, x forward and z up, with the ground at
    zero; the words, frames, shapes and elements that describe it are drawn by lot."""

    def __init__(self, seed: int, folder: Path):
        self.rng = random.Random(seed)
        self.seed, self.folder = seed, folder
        self.radius = 10 ** self.rng.uniform(-1.5, -0.4)      # of a large wheel [m]
        self.half_track = self.radius * self.rng.uniform(1.2, 3.5)
        self.half_base = self.radius * self.rng.uniform(1.3, 4.0)
        self.words = self.rng.choice(_VOCABULARIES)
        self.before = self.rng.choice(("", "", "", "bot_", "r1/"))
        self.style = self.rng.choice(_STYLES)                 # of the wheels' shapes
        self.local = self.rng.choice(_AXES)                   # their axle in their own frame
        self.is_mirrored = self.rng.random() < 0.3            # left and right turn oppositely
        self.rolls_as = self.rng.choice(("continuous", "continuous", "continuous", "revolute"))
        self.body = ""
        self.parts: list[str] = []
        self.names: set[str] = set()
        self.contacts: list[Contact] = []
        self.at: dict[str, np.ndarray] = {}                   # link -> placement (4, 4)
        self.fixed_to: dict[str, str] = {}

    # --- words

    def name(self, *words: str) -> str:
        """A name of these words, in the robot's language; words of no meaning get none."""
        if self.words is None:
            syllables = ("zu", "ka", "vo", "mip", "pel", "dra", "ny", "gox")
            name = self.before + "".join(self.rng.choice(syllables) for _ in range(5))
            while name in self.names:         # two links of one name are no robot
                name += self.rng.choice(syllables)
            self.names.add(name)
            return name
        return self.before + "_".join(self.words.get(word, word) for word in words if word)

    # --- elements

    def link(self, words: tuple[str, ...], X: np.ndarray, mass: float, shapes: str = "") -> str:
        """A link at X, with an inertia that may be true."""
        name = self.name(*words, "link")
        inertia = ""
        if mass:
            i = 0.3 * mass * self.radius ** 2
            inertia = (f'<inertial><mass value="{mass}"/><inertia ixx="{i}" iyy="{i}" izz="{i}" '
                       'ixy="0" ixz="0" iyz="0"/></inertial>')
        self.parts.append(f'<link name="{name}">{inertia}{shapes}</link>')
        self.at[name] = X
        return name

    def joint(self, words: tuple[str, ...], parent: str, child: str, kind: str = "fixed",
              axis: np.ndarray = Z, limits: tuple[float, float] | None = None) -> str:
        """A joint between two links where they stand; axis (3,) in the child's frame."""
        name = self.name(*words, "joint")
        X = np.linalg.inv(self.at[parent]) @ self.at[child]
        rpy = pin.rpy.matrixToRpy(X[:3, :3])
        if self.rng.random() < 0.1:                            # as makers round it
            rpy = np.round(rpy, 4)
        limit = ""
        if kind in ("revolute", "prismatic"):
            low, high = limits or (-1.0, 1.0)
            limit = f'<limit lower="{low}" upper="{high}" effort="50" velocity="20"/>'
        self.parts.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{_words(X[:3, 3])}" rpy="{_words(rpy)}"/><axis xyz="{_words(axis)}"/>'
            f'{limit}</joint>')
        return name

    def shape(self, tag: str, geometry: str, X: np.ndarray | None = None) -> str:
        X = np.eye(4) if X is None else X
        return (f'<{tag}><origin xyz="{_words(X[:3, 3])}" '
                f'rpy="{_words(pin.rpy.matrixToRpy(X[:3, :3]))}"/><geometry>{geometry}</geometry>'
                f'</{tag}>')

    def mesh(self, what: str, triangles: np.ndarray) -> str:
        """A mesh of these triangles, in metres or millimetres."""
        unit = self.rng.choice((1.0, 1e-3))
        name = f"{self.seed}_{what}_{len(list(self.folder.iterdir()))}.stl"
        write_stl(self.folder / name, triangles / unit)
        scale = "" if unit == 1.0 else f' scale="{_words([unit] * 3)}"'
        return f'<mesh filename="package://made/{name}"{scale}/>'

    # --- parts

    def base(self) -> str:
        """The body, its frame where makers put it."""
        height = self.rng.choice((0.0, self.radius, 2 * self.radius))
        size = (2 * self.half_base, 1.2 * self.half_track, 0.6 * self.radius)
        body = self.shape("collision", f'<box size="{_words(size)}"/>',
                          _pose((0, 0, 2 * self.radius - height)))
        style = self.rng.choice(("plain", "footprint", "wrapped"))
        if style == "footprint":
            root = self.before + "base_footprint"
            self.parts.append(f'<link name="{root}"/>')
            # on the ground, or in the base by mistake
            self.at[root] = _pose((0, 0, self.rng.choice((0.0, 0.0, height))))
        elif style == "wrapped":
            root = self.link(("world",), _pose((0.1, 0, 0.5)), 0.0)
        link = self.link(("base",), _pose((0, 0, height)), 10.0, body)
        if style != "plain":
            self.joint(("base", "fix"), root, link)
        self.body = link
        return link

    def wheel(self, words: tuple[str, ...], parent: str, xy: tuple[float, float], *,
              radius: float | None = None, heading: float = 0.0, kind: str = "disc",
              driven: bool = True, steered_by: str | None = None, swivel: bool = False,
              roller_deg: float | None = None, mesh_word: str = "tyre") -> str:
        """A wheel on a joint; its axle points to the left of the heading. Returns the joint."""
        r = self.radius if radius is None else radius
        left = 1.0 if xy[1] >= 0 else -1.0
        axle = pin.exp3(heading * Z) @ Y
        a = self.local * (left if self.is_mirrored else 1.0)
        X = np.eye(4)
        X[:3, :3] = pin.exp3(self.rng.choice((0.0, 0.0, 1.0, -2.2)) * axle) @ _rotation(a, axle)
        X[:3, 3] = (*xy, r)
        along = _pose((0, 0, 0), _rotation(Z, a))              # a cylinder on the axle
        shapes, radii = self._wheel_shapes(r, along, mesh_word)
        link = self.link((*words, "wheel"), X, 1.0, shapes)
        limits = (-1e16, 1e16) if self.rolls_as == "revolute" else None
        joint = self.joint((*words, "wheel"), parent, link, self.rolls_as, a, limits)
        angles = () if roller_deg is None else (roller_deg,)
        self.contacts.append(Contact(joint, link, kind, radii, driven, steered_by, swivel, angles))
        return joint

    def _wheel_shapes(self, r: float, along: np.ndarray,
                      mesh_word: str) -> tuple[str, tuple[float, ...]]:
        width = self.rng.uniform(0.2, 0.6) * r

        def primitive(radius):
            return f'<cylinder radius="{radius:.6g}" length="{width:.6g}"/>'

        def tyre():
            hub = cylinder_triangles(0.3 * r, 1.3 * width, 24)
            return self.mesh(mesh_word, np.concatenate([cylinder_triangles(r, width), hub]))

        if self.style == "collision":
            return self.shape("collision", primitive(r), along), (r,)
        if self.style == "both":
            return (self.shape("visual", tyre(), along)
                    + self.shape("collision", primitive(r), along)), (r,)
        if self.style == "effective":
            return (self.shape("visual", tyre(), along)
                    + self.shape("collision", primitive(0.96 * r), along)), (r, 0.96 * r)
        if self.style == "drawn":
            return self.shape("visual", primitive(r), along), (r,)
        if self.style == "mesh":
            return self.shape("visual", tyre(), along), (r,)
        if self.style == "twice":
            shown = tyre()
            return (self.shape("visual", shown, along)
                    + self.shape("collision", shown, along)), (r,)
        return self.shape("collision", f'<sphere radius="{r:.6g}"/>', along), (r,)

    def caster(self, parent: str, x: float, y: float = 0.0, number: str = "") -> None:
        """Something that supports and does not drive."""
        design = self.rng.choice(("ball", "ball in the base", "swivel", "fast", "box", "mesh"))
        r = self.rng.uniform(0.15, 0.45) * self.radius
        if design == "swivel":
            self._swivel(parent, x, y, r, number)
            return
        height = r
        if design == "fast":                                   # a wheel that the file holds
            geometry = f'<cylinder radius="{r:.6g}" length="{0.6 * r:.6g}"/>'
            X = _pose((0, 0, 0), _rotation(Z, Y))
        elif design == "box":
            geometry, X = f'<box size="{_words((2 * r, r, 2 * r))}"/>', np.eye(4)
            height = r + 2e-4
        elif design == "mesh":
            fork = box_triangles(r, r, r) + [0, 0, r]
            geometry = self.mesh("support", np.concatenate([sphere_triangles(r), fork]))
            X = np.eye(4)
        else:
            geometry, X = f'<sphere radius="{r:.6g}"/>', np.eye(4)
        if design == "ball in the base":
            at = np.linalg.inv(self.at[parent]) @ _pose((x, y, height))
            shape = self.shape("collision", geometry, at)
            self.parts = [p.replace("</link>", shape + "</link>")
                          if p.startswith(f'<link name="{parent}"') else p for p in self.parts]
            self.contacts.append(Contact(None, parent, "caster_ball", (r,), False))
            return
        link = self.link(("caster", number), _pose((x, y, height)), 0.2,
                         self.shape("collision", geometry, X))
        self.joint(("caster", number), parent, link)
        self.contacts.append(Contact(None, link, "caster_ball", (r,), False))

    def _swivel(self, parent: str, x: float, y: float, r: float, number: str) -> None:
        trail = self.rng.choice((-1, 1)) * self.rng.uniform(0.4, 0.9) * r
        fork = self.link(("caster", "fork", number), _pose((x, y, 2.5 * r)), 0.2)
        swivel = self.joint(("caster", "swivel", number), parent, fork, "continuous")
        self.wheel(("caster", number), fork, (x + trail, y), radius=r, driven=False,
                   steered_by=swivel, swivel=True)

    def arm(self, parent: str) -> None:
        """An arm with round parts, well above the wheels."""
        z = self.rng.uniform(4, 8) * self.radius
        for i, axis in enumerate((Z, Y, Y, Y)[:self.rng.randint(2, 4)]):
            r = self.rng.uniform(0.3, 1.0) * self.radius
            shape = self.shape("collision", f'<cylinder radius="{r:.6g}" length="{r:.6g}"/>',
                               _pose((0, 0, 0), _rotation(Z, axis)))
            link = self.link(("arm", str(i)), _pose((0, 0, z)), 0.5, shape)
            self.joint(("arm", str(i)), parent, link,
                       self.rng.choice(("revolute", "continuous")), axis)
            parent, z = link, z + 2 * self.radius

    def lidar(self, parent: str) -> None:
        """A cylinder that turns on an upright joint."""
        r = 0.3 * self.radius
        link = self.link(("laser", "rotor"), _pose((self.half_base, 0, 3 * self.radius)), 0.1,
                         self.shape("visual", f'<cylinder radius="{r:.6g}" length="{r:.6g}"/>'))
        self.joint(("laser", "rotor"), parent, link, "continuous")

    def spare(self, parent: str) -> None:
        """A spare wheel on the back, fixed."""
        link = self.link(("spare", "wheel"), _pose((-1.3 * self.half_base, 0, 3 * self.radius)),
                         0.5, self.shape("visual", f'<cylinder radius="{self.radius:.6g}" '
                                         'length="0.02"/>', _pose((0, 0, 0), _rotation(Z, Y))))
        self.joint(("spare", "wheel"), parent, link)

    def steering_wheel(self, parent: str) -> None:
        """For the driver's hands."""
        r = 0.5 * self.radius
        tilt = pin.exp3(-0.6 * Y)
        link = self.link(("steering", "wheel"), _pose((0, 0, 4 * self.radius), tilt), 0.2,
                         self.shape("visual", f'<cylinder radius="{r:.6g}" length="0.01"/>'))
        self.joint(("steering", "wheel"), parent, link, "revolute")

    def suspension(self, parent: str, words: tuple[str, ...],
                   xy: tuple[float, float]) -> str:
        """A slider between body and wheel."""
        link = self.link((*words, "suspension"), _pose((*xy, 1.2 * self.radius)), 0.2)
        self.joint((*words, "suspension"), parent, link, "prismatic", Z, (-0.02, 0.02))
        return link

    # --- what simulators and controllers are told

    def elements(self, plugin: str | None = None) -> bool:
        """Who is driven, told in one of the usual ways; False where nothing was written."""
        driven = [c for c in self.contacts if c.joint is not None and c.driven]
        steering = {c.steered_by: None for c in self.contacts
                    if c.steered_by is not None and not c.swivel}
        way = self.rng.choice(("control", "transmission", "plugin", "none"))
        if way == "control":
            joints = [(c.joint, "velocity") for c in driven] + [(s, "position") for s in steering]
            text = "".join(f'<joint name="{n}"><command_interface name="{i}"/></joint>'
                           for n, i in joints)
            self.parts.append(f'<ros2_control name="hw" type="system">{text}</ros2_control>')
        elif way == "transmission":
            for i, name in enumerate([*(c.joint for c in driven), *steering]):
                self.parts.append(
                    f'<transmission name="t{i}"><type>transmission_interface/SimpleTransmission'
                    f'</type><joint name="{name}"/><actuator name="m{i}"/></transmission>')
        elif way == "plugin" and plugin is not None:
            left = "".join(f"<left_joint>{c.joint}</left_joint>" for c in driven
                           if self.at[c.link][1, 3] > 0)
            right = "".join(f"<right_joint>{c.joint}</right_joint>" for c in driven
                            if self.at[c.link][1, 3] < 0)
            radius = driven[0].radii[-1]
            self.parts.append(
                f'<gazebo><plugin name="drive" filename="{plugin}">{left}{right}'
                f"<wheel_diameter>{2 * radius}</wheel_diameter><wheel_separation>"
                f"{2 * self.half_track}</wheel_separation></plugin></gazebo>")
        else:
            return False
        return True

    def finish(self, drive: str, mobility: tuple[int, int] | None, told: bool,
               kind_is_told: bool = True) -> tuple[str, Truth]:
        """The text and the truth."""
        for part in (self.arm, self.lidar, self.spare):
            if self.rng.random() < 0.25:
                part(self.body)
        if self.rng.random() < 0.5:
            self.rng.shuffle(self.parts)
        text = f'<robot name="made_{self.seed}">{"".join(self.parts)}</robot>'
        return text, Truth(drive, tuple(self.contacts), mobility, either_driven=not told,
                           either_kind=not kind_is_told)


_ENGLISH: dict[str, str] = {}
_VOCABULARIES: tuple[dict[str, str] | None, ...] = (
    _ENGLISH, _ENGLISH, _ENGLISH,
    {"wheel": "rim", "caster": "support"},
    {"wheel": "tire", "caster": "skid", "link": "body", "joint": "axle"},
    {"wheel": "foot", "caster": "glider"},
    {"wheel": "roue", "caster": "folle", "left": "gauche", "right": "droite", "front": "avant",
     "rear": "arriere", "base": "chassis"},
    {"wheel": "rad", "caster": "rolle", "left": "li", "right": "re", "front": "vo", "rear": "hi"},
    {"wheel": "motor", "left": "l", "right": "r", "front": "f", "rear": "b", "joint": ""},
    None,
)
_STYLES = ("collision", "collision", "both", "both", "effective", "drawn", "mesh", "mesh", "twice",
           "sphere")
_AXES = (Y, Y, Z, Z, -Z, np.array([1.0, 0.0, 0.0]))


def _pose(p, R: np.ndarray | None = None) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = p
    if R is not None:
        X[:3, :3] = R
    return X


def _rotation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A rotation that takes the unit vector a to b."""
    axis, c = np.cross(a, b), float(a @ b)
    s = float(np.linalg.norm(axis))
    if s < 1e-12:
        if c > 0:
            return np.eye(3)
        across = np.cross(a, [1.0, 0, 0] if abs(a[0]) < 0.9 else [0, 1.0, 0])
        return pin.exp3(np.pi * across / np.linalg.norm(across))
    return pin.exp3(np.arctan2(s, c) * axis / s)


# --- designs --------------------------------------------------------------------------------

Made = tuple[str, Truth]
_SIDES = (("left", 1.0), ("right", -1.0))
_CORNERS = tuple((end, side, x, y) for end, x in (("front", 1.0), ("rear", -1.0))
                 for side, y in _SIDES)


def differential(m: Maker) -> Made:
    """Two wheels and one to four casters."""
    base = m.base()
    sprung = m.rng.random() < 0.15
    for side, y in _SIDES:
        xy = (0.0, y * m.half_track)
        m.wheel((side,), m.suspension(base, (side,), xy) if sprung else base, xy)
    x = m.half_base
    places = m.rng.choice((((x, 0),), ((-x, 0),), ((x, 0), (-x, 0)),
                           ((-x, 0.7 * m.half_track), (-x, -0.7 * m.half_track)),
                           tuple((i * x, j * 0.6 * m.half_track) for i in (-1, 1)
                                 for j in (-1, 1))))
    state = m.rng.getstate()
    for number, (cx, cy) in enumerate(places):
        if m.words is not None:
            m.rng.setstate(state)                             # all of one design
        m.caster(base, cx, cy, str(number) if len(places) > 1 else "")
    return m.finish("differential", (2, 0), m.elements("libgazebo_ros_diff_drive.so"))


def footed(m: Maker) -> Made:
    """Two wheels, and a body whose mesh has the casters in it."""
    base = m.base()
    for side, y in _SIDES:
        m.wheel((side,), base, (0.0, y * m.half_track))
    r, x = m.radius, 0.8 * m.half_base
    parts = [box_triangles(2 * m.half_base, m.half_track, r) + [0, 0, 2 * r]]
    parts += [box_triangles(0.2 * r, 0.2 * r, 1.6 * r) + [i * x, j * 0.4 * m.half_track, 0.8 * r]
              for i in (-1, 1) for j in (-1, 1)]
    shape = m.shape("collision", m.mesh("chassis", np.concatenate(parts)),
                    np.linalg.inv(m.at[base]))
    m.parts = [p.replace("</link>", shape + "</link>") if p.startswith(f'<link name="{base}"')
               else p for p in m.parts]
    m.contacts.append(Contact(None, base, "caster_ball", (0.01,), False))
    return m.finish("differential", (2, 0), m.elements("libgazebo_ros_diff_drive.so"))


def balancing(m: Maker) -> Made:
    """Two wheels and nothing else."""
    base = m.base()
    for side, y in _SIDES:
        m.wheel((side,), base, (0.0, y * m.half_track))
    return m.finish("balancing", (2, 0), m.elements("libgazebo_ros_diff_drive.so"))


def ackermann(m: Maker) -> Made:
    """Two fixed wheels, two steered ones."""
    base = m.base()
    _car(m, base)
    if m.rng.random() < 0.3:
        m.steering_wheel(base)
    return m.finish("ackermann", (1, 1), m.elements())


def _car(m: Maker, base: str) -> None:
    for side, y in _SIDES:
        m.wheel(("rear", side), base, (-m.half_base, y * m.half_track))
    for side, y in _SIDES:
        xy = (m.half_base, y * m.half_track)
        knuckle = m.link(("front", side, "steer"), _pose((*xy, m.radius)), 0.3)
        steer = m.joint(("front", side, "steer"), base, knuckle, "revolute", Z, (-0.6, 0.6))
        m.wheel(("front", side), knuckle, xy, driven=False, steered_by=steer)


def tricycle(m: Maker) -> Made:
    """Two fixed wheels, and one that steers and drives, before or behind them."""
    base = m.base()
    for side, y in _SIDES:
        m.wheel((side,), base, (0.0, y * m.half_track), driven=False)
    x = m.rng.choice((1, -1)) * 1.5 * m.half_base
    fork = m.link(("steer",), _pose((x, 0, 2 * m.radius)), 0.3)
    steer = m.joint(("steer",), base, fork, m.rng.choice(("revolute", "continuous")), Z,
                    (-1.4, 1.4))
    m.wheel(("drive",), fork, (x, 0.0), steered_by=steer)
    return m.finish("tricycle", (1, 1), m.elements())


def skid_steer(m: Maker) -> Made:
    """Four or six fixed wheels."""
    base = m.base()
    ends = m.rng.choice(((("front", 1), ("rear", -1)),
                         (("front", 1), ("middle", 0), ("rear", -1))))
    for end, x in ends:
        for side, y in _SIDES:
            m.wheel((end, side), base, (x * max(m.half_base, 2.2 * m.radius), y * m.half_track))
    return m.finish("skid-steer", None, m.elements("libgazebo_ros_skid_steer_drive.so"))


def mecanum(m: Maker) -> Made:
    """Four mecanum wheels, with a word of it somewhere or nowhere."""
    base = m.base()
    told = m.rng.choice(("mesh", "plugin", "friction", "nothing"))
    for end, side, x, y in _CORNERS:
        m.wheel((end, side), base, (x * m.half_base, y * m.half_track), kind="mecanum",
                roller_deg=-45.0 if x * y > 0 else 45.0,
                mesh_word="mecanum_wheel" if told == "mesh" else "tyre")
    driven = m.elements("libgazebo_ros_planar_move.so")
    if told == "plugin":
        m.parts.append('<gazebo><plugin name="m" filename="mecanum_drive_controller.so"/></gazebo>')
    if told == "friction":
        for c in m.contacts:
            sign = -1 if m.at[c.link][0, 3] * m.at[c.link][1, 3] > 0 else 1
            m.parts.append(f'<gazebo reference="{c.link}"><mu1>1.0</mu1><mu2>0.0</mu2><fdir1 '
                           f'expressed_in="{base}">1 {sign} 0</fdir1></gazebo>')
    has_mesh = told == "mesh" and m.style in ("both", "effective", "mesh", "twice")
    return m.finish("mecanum", (3, 0), driven, has_mesh or told == "plugin")


def omni(m: Maker) -> Made:
    """Three or four omni wheels round a circle."""
    base = m.base()
    count = m.rng.choice((3, 3, 4))
    first = m.rng.choice((0.0, np.pi / count))
    for i in range(count):
        angle = first + 2 * np.pi * i / count
        xy = (m.half_base * np.cos(angle), m.half_base * np.sin(angle))
        m.wheel((str(i),), base, xy, heading=angle - np.pi / 2, kind="omni")
    return m.finish("omni", (3, 0), m.elements())


def swerve(m: Maker) -> Made:
    """Three or four modules that steer and drive."""
    base = m.base()
    places = [(f"{e}_{s}", x, y) for e, s, x, y in _CORNERS]
    if m.rng.random() < 0.3:
        places = [("front", 1.0, 0.0), *places[2:]]
    for word, x, y in places:
        xy = (x * m.half_base, y * m.half_track)
        fork = m.link((word, "steer"), _pose((*xy, 2 * m.radius)), 0.3)
        steer = m.joint((word, "steer"), base, fork, "continuous")
        m.wheel((word,), fork, xy, steered_by=steer)
    return m.finish("swerve", (1, 2), m.elements())


def trailer(m: Maker) -> Made:
    """A car with a trailer of one axle."""
    base = m.base()
    _car(m, base)
    x = -1.4 * m.half_base
    box = m.link(("trailer",), _pose((x, 0, m.radius)), 5.0)
    hitch = m.joint(("hitch",), base, box, m.rng.choice(("continuous", "revolute")), Z)
    for side, y in _SIDES:
        m.wheel(("trailer", side), box, (x - 1.5 * m.half_base, y * m.half_track), driven=False,
                steered_by=hitch, swivel=True)
    return m.finish("ackermann", None, m.elements())


DESIGNS: tuple[Callable[[Maker], Made], ...] = (
    differential, differential, differential, differential, footed, balancing, ackermann, ackermann,
    tricycle, skid_steer, skid_steer, mecanum, omni, swerve, trailer)


def make(seed: int, folder: Path) -> Made:
    """The robot of this number; its meshes are written into the folder, package `made`."""
    maker = Maker(seed, folder)
    text, truth = DESIGNS[seed % len(DESIGNS)](maker)
    if truth.drive == "balancing" and truth.either_driven:
        truth = replace(truth, either_driven=False)           # nothing else can be driven
    return text, truth


def verdicts(seeds, folder: Path, **arguments: Any) -> Iterator[tuple[int, Truth, Any]]:
    """(seed, truth, what came of it)"""
    for seed in seeds:
        text, truth = make(seed, folder)
        yield seed, truth, judge(truth, text, {"made": folder}, **arguments)


def main(words: list[str]) -> None:
    """Prints what is not right, and the counts."""
    first, _, last = (words[0] if words else "280").partition("-")
    seeds = range(int(first), int(last) + 1) if last else range(int(first))
    counts: Counter[tuple[str, Verdict]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed, _, found in verdicts(seeds, Path(folder), load=describe):
            design = DESIGNS[seed % len(DESIGNS)].__name__
            counts[design, found.verdict] += 1
            if found.verdict not in (Verdict.RIGHT, Verdict.NOTICED):
                print(f"{seed} {design}: {found.verdict.value}: {found.why}", flush=True)
    for design in sorted({d for d, _ in counts}):
        print(f"{design:13s}", ", ".join(f"{n} {v.value}" for (d, v), n in counts.items()
                                         if d == design))


if __name__ == "__main__":
    main(sys.argv[1:])
