"""Robots written another way: what is found in them must not depend on words, frames, signs, the
order of elements, or on who drew the wheels how.

A transformation takes a `Robot` and gives another one, with its truth. `python tests/metamorphic.py
[NAME ...]` prints the table transformations x robots.
"""

from __future__ import annotations

import random
import re
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
from lxml import etree
from robot_table import (
    FOLDER,
    PACKAGES,
    Contact,
    Truth,
    Verdict,
    judge,
    published,
)

import nhmech
from nhmech.urdf.describe import describe
from nhmech.urdf.description import Description

MIRROR = np.diag([1.0, -1.0, 1.0])
SHIPPED = ("ackermann_car", "bicycle", "carriage", "differential_drive", "mecanum", "omni", "rover",
           "skid_steer", "swerve", "trailers", "tricycle")


@dataclass(frozen=True)
class Robot:
    """A robot's elements, what it is, and where its meshes lie; `root` is changed by nobody."""

    root: etree._Element
    truth: Truth
    packages: Mapping[str, Path]

    @property
    def text(self) -> str:
        return etree.tostring(self.root, encoding="unicode")

    def copy(self) -> Robot:
        return replace(self, root=deepcopy(self.root))


Transformation = Callable[[Robot, random.Random, Path], Robot]


# --- robots ---------------------------------------------------------------------------------


@cache
def robots() -> dict[str, Robot]:
    """All published robots that hold enough for a model, and the shipped ones by their own
    `<nhmech>`."""
    found = {Path(file).stem: Robot(_parse(FOLDER / file), truth, PACKAGES)
             for file, truth in published().items() if truth.loads}
    for name in SHIPPED:
        path = nhmech.urdf_path(name)
        found[f"{name} (ours)"] = Robot(_parse(path), own_truth(describe(path)), {})
    return found


def robot_names() -> list[str]:
    """Of `robots`, which takes a second to read them."""
    return sorted([*(Path(file).stem for file, truth in published().items() if truth.loads),
                   *(f"{name} (ours)" for name in SHIPPED)])


def _parse(path: Path) -> etree._Element:
    """Meshes that are named relative to the file get their whole paths."""
    root = etree.parse(str(path), etree.XMLParser(remove_comments=True)).getroot()
    for mesh in root.iter("mesh"):
        name = mesh.get("filename")
        if "://" not in name and not name.startswith("/"):
            mesh.set("filename", str(path.parent / name))
    return root


def own_truth(d: Description) -> Truth:
    """What a robot was found to be, as the truth for another form of it."""
    steering: dict[str, str] = {}
    for wheel in d.wheels:
        if (name := steered_by(d, wheel)) is not None:
            steering[wheel.name] = name
    contacts = tuple(
        Contact(w.joint, w.link, w.kind, (w.radius,) if w.radius else (), w.joint in d.driven,
                steering.get(w.name), steering.get(w.name) not in d.driven,
                () if w.roller_angle is None else (float(np.degrees(w.roller_angle)),))
        for w in d.wheels)
    return Truth("skid-steer" if d.skid else "any", contacts)


def steered_by(d: Description, wheel) -> str | None:
    """The steering joint nearest above a wheel."""
    above = {e.find("child").get("link"): e for e in etree.fromstring(d.xml.encode()).iter("joint")
             if e.find("child") is not None}
    link = wheel.link
    while link in above:
        if above[link].get("name") in d.steering:
            return above[link].get("name")
        link = above[link].find("parent").get("link")
    return None


# --- numbers in elements --------------------------------------------------------------------


def _numbers(element: etree._Element | None, name: str, default: str) -> np.ndarray:
    text = default if element is None else element.get(name, default)
    return np.array([float(word) for word in text.split()])


def _words(values) -> str:
    return " ".join(repr(float(v)) for v in values)


def placement(element: etree._Element) -> np.ndarray:
    """The `<origin>` of an element (4, 4)."""
    origin, X = element.find("origin"), np.eye(4)
    X[:3, :3] = pin.rpy.rpyToMatrix(*_numbers(origin, "rpy", "0 0 0"))
    X[:3, 3] = _numbers(origin, "xyz", "0 0 0")
    return X


def place(element: etree._Element, X: np.ndarray) -> None:
    """Give an element this `<origin>`."""
    origin = element.find("origin")
    if origin is None:
        origin = etree.SubElement(element, "origin")
    origin.set("xyz", _words(X[:3, 3]))
    origin.set("rpy", _words(pin.rpy.matrixToRpy(X[:3, :3])))


def axis_of(joint: etree._Element) -> np.ndarray:
    return _numbers(joint.find("axis"), "xyz", "1 0 0")


def set_axis(joint: etree._Element, axis: np.ndarray) -> None:
    element = joint.find("axis")
    if element is None:
        element = etree.SubElement(joint, "axis")
    element.set("xyz", _words(axis + 0.0))


def _in_link(root: etree._Element, name: str) -> Iterator[etree._Element]:
    """Everything with an `<origin>` in a link's frame: its parts, and the joints below it."""
    link = next(e for e in root.findall("link") if e.get("name") == name)
    yield from (e for e in link if e.tag in ("inertial", "visual", "collision"))
    yield from (e for e in root.findall("joint") if e.find("parent").get("link") == name)


def _turn(angle: float, axis=(0.0, 0.0, 1.0), shift=(0.0, 0.0, 0.0)) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = pin.exp3(angle * np.asarray(axis, dtype=float)), shift
    return X


def reframe(root: etree._Element, link: str, T: np.ndarray) -> None:
    """Express a link in another frame, placed by T (4, 4) in the old one; of a turning joint's
    child, T must leave the axis where it is."""
    back = np.linalg.inv(T)
    for element in _in_link(root, link):
        place(element, back @ placement(element))
    for joint in root.findall("joint"):
        if joint.find("child").get("link") == link:
            place(joint, placement(joint) @ T)
            set_axis(joint, T[:3, :3].T @ axis_of(joint))
    for wheel in root.iterfind("nhmech/wheel"):
        joint = next((j for j in root.findall("joint") if j.get("name") == wheel.get("joint")),
                     None)
        if link in (wheel.get("link"), None if joint is None else joint.find("child").get("link")):
            for name, h in (("point", 1.0), ("axis", 0.0)):
                if wheel.get(name):
                    wheel.set(name, _words((back @ [*_numbers(wheel, name, ""), h])[:3]))
    for element, frame in _directions(root):
        if frame == link:
            element.text = _words(T[:3, :3].T @ [float(w) for w in element.text.split()])


def _directions(root: etree._Element) -> Iterator[tuple[etree._Element, str]]:
    """`<fdir1>` and the link in whose frame it is."""
    for gazebo in root.findall("gazebo"):
        for element in gazebo.iter("fdir1"):
            element.text = element.attrib.pop("value", element.text)
            frame = next((v for k, v in element.attrib.items() if k.endswith("expressed_in")),
                         gazebo.get("reference"))
            yield element, frame


def _root_link(root: etree._Element) -> str:
    children = {j.find("child").get("link") for j in root.findall("joint")}
    return next(e.get("name") for e in root.findall("link") if e.get("name") not in children)


def _rotors(robot: Robot) -> list[str]:
    """The links of the rolling joints, and those fixed to them."""
    root = robot.root
    found = [j.find("child").get("link") for j in root.findall("joint")
             if j.get("name") in robot.truth.rolling]
    for link in found:
        found += [j.find("child").get("link") for j in root.findall("joint")
                  if j.get("type") == "fixed" and j.find("parent").get("link") == link]
    return found


# --- words ----------------------------------------------------------------------------------


def rename(robot: Robot, names: Mapping[str, str]) -> Robot:
    """Other names for links and joints, wherever the file has them."""
    new = robot.copy()
    for element in new.root.iter():
        if not isinstance(element.tag, str):
            continue
        for key, value in element.attrib.items():
            if element.tag not in ("mesh", "robot", "material", "plugin") or key == "reference":
                element.set(key, " ".join(names.get(word, word) for word in value.split(" ")))
        if element.text and element.text.strip() and element.tag != "fdir1":
            element.text = re.sub(r"[\w/]+", lambda m: names.get(m[0], m[0]), element.text)

    def named(name):
        return None if name is None else names.get(name, name)

    contacts = tuple(replace(c, joint=named(c.joint), link=named(c.link),
                             steered_by=named(c.steered_by)) for c in robot.truth.contacts)
    return replace(new, truth=replace(robot.truth, contacts=contacts))


def _names(robot: Robot) -> list[str]:
    return sorted({e.get("name") for tag in ("link", "joint") for e in robot.root.findall(tag)})


def random_words(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Joints and links are called by words that mean nothing."""
    words: dict[str, str] = {}
    while len(words) < len(_names(robot)):
        word = "".join(rng.choice(("zu", "ka", "vo", "mip", "pel", "dra", "ny", "gox")) for _ in
                       range(4))
        words[word] = word
    return rename(robot, dict(zip(_names(robot), words, strict=True)))


# what wheels and casters are called elsewhere
_ABROAD = {
    "German": {"wheel": "rad", "caster": "lenkrolle", "left": "links", "right": "rechts",
               "front": "vorn", "rear": "hinten", "back": "hinten", "joint": "gelenk",
               "link": "koerper", "steer": "lenkung", "base": "wagen"},
    "Spanish": {"wheel": "rueda", "caster": "loca", "left": "izq", "right": "der",
                "front": "delantera", "rear": "trasera", "back": "trasera", "joint": "junta",
                "link": "eslabon", "steer": "direccion", "base": "chasis"},
    "Japanese": {"wheel": "sharin", "caster": "kyasuta", "left": "hidari", "right": "migi",
                 "front": "mae", "rear": "ushiro", "back": "ushiro", "joint": "kansetsu",
                 "link": "rinku", "steer": "soda", "base": "daisha"},
}


def abroad(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """The words of another language."""
    words = _ABROAD[rng.choice(sorted(_ABROAD))]
    names, used = {}, set()
    for name in _names(robot):
        other = name.lower()
        for word, translated in words.items():
            other = other.replace(word, translated)
        while other in used:
            other += "_2"
        names[name] = other
        used.add(other)
    return rename(robot, names)


def prefix(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """One of several robots in one world."""
    before = rng.choice(("robot1_", "r2/", "Fleet7_"))
    return rename(robot, {name: before + name for name in _names(robot)})


# --- shapes ---------------------------------------------------------------------------------


def cylinder_triangles(radius: float, length: float, sides: int = 64) -> np.ndarray:
    """(n, 3, 3), about z."""
    angle = 2 * np.pi * np.arange(sides + 1) / sides
    low, high = (np.column_stack([radius * np.cos(angle), radius * np.sin(angle),
                                  np.full(sides + 1, z)]) for z in (-length / 2, length / 2))
    triangles = []
    for i in range(sides):
        triangles += [(low[i], low[i + 1], high[i + 1]), (low[i], high[i + 1], high[i]),
                      (low[i + 1], low[i], (0, 0, -length / 2)),
                      (high[i], high[i + 1], (0, 0, length / 2))]
    return np.array(triangles)


def sphere_triangles(radius: float, sides: int = 48) -> np.ndarray:
    """(n, 3, 3), with its poles on z."""
    around = 2 * np.pi * np.arange(sides + 1) / sides
    down = np.pi * np.arange(sides // 2 + 1) / (sides // 2)
    ring = radius * np.array([[(np.sin(b) * np.cos(a), np.sin(b) * np.sin(a), np.cos(b))
                               for a in around] for b in down])
    quads = [(ring[j, i], ring[j + 1, i], ring[j + 1, i + 1], ring[j, i + 1])
             for i in range(sides) for j in range(sides // 2)]
    return np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def box_triangles(x: float, y: float, z: float) -> np.ndarray:
    """(12, 3, 3), about the middle."""
    corners = np.array([[x * i, y * j, z * k] for i in (-.5, .5) for j in (-.5, .5)
                        for k in (-.5, .5)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return np.array([corners[[a, b, c]] for f in faces
                     for a, b, c in (f[:3], (f[0], f[2], f[3]))])


def write_stl(path: Path, triangles: np.ndarray) -> None:
    rows = [struct.pack("<12fH", 0, 0, 0, *t.ravel(), 0) for t in triangles.astype("<f4")]
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(triangles)) + b"".join(rows))


def _as_meshes(robot: Robot, folder: Path, unit: float) -> Robot:
    new = robot.copy()
    for shape in [e for tag in ("cylinder", "sphere", "box")
                  for e in new.root.iterfind(f"link/*/geometry/{tag}")]:
        if shape.tag == "cylinder":
            size = (float(shape.get("radius")), float(shape.get("length")))
        else:
            size = tuple(_numbers(shape, "radius" if shape.tag == "sphere" else "size", ""))
        if not all(size):
            continue
        name = f"{shape.tag[0]}{abs(hash((shape.tag, size, unit))) % 10 ** 12}.stl"
        if not (folder / name).exists():
            make = {"cylinder": cylinder_triangles, "sphere": sphere_triangles,
                    "box": box_triangles}[shape.tag]
            write_stl(folder / name, make(*size) / unit)
        shape.tag = "mesh"
        shape.attrib.clear()
        shape.set("filename", f"package://made/{name}")
        if unit != 1.0:
            shape.set("scale", _words([unit] * 3))
    return replace(new, packages={**robot.packages, "made": folder})


def meshes(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """All primitives are meshes of the same shape, in metres."""
    return _as_meshes(robot, folder, 1.0)


def millimetres(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """The same in millimetres, with a scale."""
    return _as_meshes(robot, folder, 1e-3)


def no_primitives(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Where a rotor has meshes and all of them are there, nothing else tells its radius."""
    new = robot.copy()
    rotors = set(_rotors(robot))
    for link in new.root.findall("link"):
        files = [_file(m.get("filename"), robot.packages) for m in link.iter("mesh")]
        if link.get("name") in rotors and files and all(f is not None for f in files):
            for tag in ("visual", "collision"):
                for element in link.findall(tag):
                    if element.find("geometry/mesh") is None:
                        link.remove(element)
    return new


def _file(name: str, packages: Mapping[str, Path]) -> Path | None:
    package, _, rest = name.removeprefix("package://").partition("/")
    path = packages.get(package, Path("/nowhere")) / rest if "://" in name else Path(name)
    return path if path.is_file() else None


def nested(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """The shapes of a rotor hang on a link that is fixed to it."""
    new = robot.copy()
    for name in _rotors(robot):
        link = next(e for e in new.root.findall("link") if e.get("name") == name)
        X = _turn(0.3, (0.6, 0.0, 0.8), (0.02, -0.01, 0.03))
        child = etree.SubElement(new.root, "link", name=f"{name}_part")
        for element in [e for e in link if e.tag in ("visual", "collision")]:
            place(element, np.linalg.inv(X) @ placement(element))
            child.append(element)
        joint = etree.SubElement(new.root, "joint", name=f"{name}_part_joint", type="fixed")
        etree.SubElement(joint, "parent", link=name)
        etree.SubElement(joint, "child", link=f"{name}_part")
        place(joint, X)
    return new


# --- masses, elements, order ----------------------------------------------------------------


def no_wheel_inertia(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Rotors without `<inertial>`."""
    new = robot.copy()
    for link in new.root.findall("link"):
        if link.get("name") in _rotors(robot):
            for element in link.findall("inertial"):
                link.remove(element)
    return new


def other_wheel_inertia(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Rotors 1 mm off the axle and twice as heavy."""
    new = robot.copy()
    for link in new.root.findall("link"):
        for element in link.findall("inertial") if link.get("name") in _rotors(robot) else ():
            X = placement(element)
            place(element, _turn(0.0, shift=(1e-3, 0, 0)) @ X)
            for part in element:
                for key in ("value", "ixx", "iyy", "izz", "ixy", "ixz", "iyz"):
                    if part.get(key) is not None:
                        part.set(key, repr(2 * float(part.get(key))))
    return new


def no_elements(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Neither simulator nor controller has left a word."""
    new = robot.copy()
    for tag in ("gazebo", "ros2_control", "transmission"):
        for element in new.root.findall(tag):
            new.root.remove(element)
    return replace(new, truth=replace(robot.truth, either_driven=True))


def shuffled(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Elements in another order."""
    new = robot.copy()
    for element in (new.root, *new.root.findall("link"), *new.root.findall("joint")):
        children = list(element)
        rng.shuffle(children)
        element[:] = children
    return new


# --- frames and signs -----------------------------------------------------------------------


def mirrored(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Left is right."""
    new = robot.copy()
    parts = [e for tag in ("inertial", "visual", "collision")
             for e in new.root.iterfind(f"link/{tag}")]
    for element in (*parts, *new.root.findall("joint")):
        X = placement(element)
        X[:3, :3] = MIRROR @ X[:3, :3] @ MIRROR
        X[:3, 3] = MIRROR @ X[:3, 3]
        place(element, X)
    for joint in new.root.findall("joint"):
        slides = joint.get("type") == "prismatic"
        set_axis(joint, (1 if slides else -1) * MIRROR @ axis_of(joint))
    for mesh in new.root.iter("mesh"):
        # a published file has a fourth number, which every reader passes over
        mesh.set("scale", _words(MIRROR @ _numbers(mesh, "scale", "1 1 1")[:3]))
    for element, _ in _directions(new.root):
        element.text = _words(MIRROR @ [float(w) for w in element.text.split()])
    for wheel in new.root.iterfind("nhmech/wheel"):
        for key in [key for key in ("point", "axis") if wheel.get(key)]:
            wheel.set(key, _words(MIRROR @ _numbers(wheel, key, "")))
    _negate(new.root.iterfind("nhmech/wheel"), "roller_angle")
    _negate(new.root.iterfind("link/inertial/inertia"), "ixy", "iyz")
    contacts = tuple(replace(c, roller_deg=tuple(-a for a in c.roller_deg))
                     for c in robot.truth.contacts)
    return replace(new, truth=replace(robot.truth, contacts=contacts))


def _negate(elements: Iterable[etree._Element], *keys: str) -> None:
    for element in elements:
        for key in [key for key in keys if element.get(key) is not None]:
            element.set(key, repr(-float(element.get(key))))


def flipped(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Some wheels turn about the opposite axis."""
    new = robot.copy()
    for joint in new.root.findall("joint"):
        if (joint.get("name") in robot.truth.rolling and joint.get("type") == "continuous"
                and rng.random() < 0.7):
            set_axis(joint, -axis_of(joint))
    return new


def turned_frames(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Wheels have frames of their own, turned in any way."""
    new = robot.copy()
    for joint in new.root.findall("joint"):
        if joint.get("name") in robot.truth.rolling:
            T = _turn(rng.uniform(0.5, 3.0), _unit(rng))
            reframe(new.root, joint.find("child").get("link"), T)
    return new


def shifted_frames(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """The origins of wheels lie elsewhere on their axles, and turned about these."""
    new = robot.copy()
    for joint in new.root.findall("joint"):
        if joint.get("name") in robot.truth.rolling:
            axis = axis_of(joint) / np.linalg.norm(axis_of(joint))
            T = _turn(rng.uniform(-3, 3), axis, rng.uniform(-0.03, 0.03) * axis)
            reframe(new.root, joint.find("child").get("link"), T)
    return new


def moved_root(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """The root's frame stands elsewhere on the floor, and looks elsewhere."""
    new = robot.copy()
    shift = (rng.uniform(-1, 1), rng.uniform(-1, 1), 0.0)
    reframe(new.root, _root_link(new.root), _turn(rng.uniform(-np.pi, np.pi), shift=shift))
    return new


def raised_root(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """The root's frame has another height; nothing marks the floor."""
    new = robot.copy()
    root = _root_link(new.root)
    reframe(new.root, root, _turn(0.0, shift=(0, 0, rng.uniform(-0.5, 0.5))))
    return rename(new, {root: "vehicle_root"})


def _unit(rng: random.Random) -> np.ndarray:
    v = np.array([rng.gauss(0, 1) for _ in range(3)])
    return v / np.linalg.norm(v)


# --- other parts ----------------------------------------------------------------------------

_MASS = ('<inertial><mass value="0.5"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" '
         'ixz="0" iyz="0"/></inertial>')


def _add(root: etree._Element, text: str) -> None:
    root.extend(etree.fromstring(f"<r>{text}</r>"))


def with_arm(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """An arm with round joints stands on the base, and a lidar turns on it."""
    new = robot.copy()
    base, parts, at = _root_link(new.root), [], rng.uniform(0.8, 1.2)
    parent, names = base, ("pan", "shoulder", "elbow", "wrist")
    for name, axis, kind in zip(names, ("0 0 1", "0 1 0", "0 1 0", "0 1 0"),
                                ("continuous", "revolute", "continuous", "continuous"),
                                strict=True):
        xyz = f"0 0 {at if parent == base else 0.2}"
        rpy = "0 0 0" if axis == "0 0 1" else "1.5707963267948966 0 0"
        parts.append(
            f'<link name="x_{name}">{_MASS}<collision><origin xyz="0 0 0" rpy="{rpy}"/><geometry>'
            f'<cylinder radius="0.05" length="0.06"/></geometry></collision></link>'
            f'<joint name="x_{name}_joint" type="{kind}"><parent link="{parent}"/><child '
            f'link="x_{name}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>'
            '<limit lower="-2" upper="2" effort="10" velocity="2"/></joint>')
        parent = f"x_{name}"
    parts.append(
        f'<link name="x_lidar">{_MASS}<visual><geometry><cylinder radius="0.04" length="0.05"/>'
        f'</geometry></visual></link><joint name="x_lidar_joint" type="continuous"><parent '
        f'link="{base}"/><child link="x_lidar"/><origin xyz="0.1 0 {at + 0.1}"/>'
        '<axis xyz="0 0 1"/></joint>')
    _add(new.root, "".join(parts))
    return new


def in_the_world(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Two slides and a turn between a world and the base, as planners have it."""
    new = robot.copy()
    base, parts, parent = _root_link(new.root), [], "x_world"
    for name, axis, kind in (("x", "1 0 0", "prismatic"), ("y", "0 1 0", "prismatic"),
                             ("yaw", "0 0 1", "continuous")):
        child = base if name == "yaw" else f"x_{name}"
        link = "" if name == "yaw" else f'<link name="{child}"/>'
        parts.append(
            f'{link}<joint name="x_world_{name}" type="{kind}"><parent link="{parent}"/><child '
            f'link="{child}"/><axis xyz="{axis}"/><limit lower="-100" upper="100" effort="0" '
            'velocity="1"/></joint>')
        parent = child
    _add(new.root, '<link name="x_world"/>' + "".join(parts))
    return new


def revolute(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Rolling joints are revolute, with limits of many turns or none."""
    new = robot.copy()
    for joint in new.root.findall("joint"):
        if joint.get("name") in robot.truth.rolling and joint.get("type") == "continuous":
            joint.set("type", "revolute")
            for limit in joint.findall("limit"):
                joint.remove(limit)
            limit = etree.SubElement(joint, "limit", effort="50", velocity="50")
            if rng.random() < 0.5:
                limit.set("lower", "-1e9")
                limit.set("upper", "1e9")
    return new


def crooked(robot: Robot, rng: random.Random, folder: Path) -> Robot:
    """Wheels up to 0.2 mm and 0.1 degrees away from where they were meant to be, as exporters and
    rulers leave them."""
    new = robot.copy()
    for joint in new.root.findall("joint"):
        if joint.get("name") in robot.truth.rolling:
            axis = placement(joint)[:3, :3] @ axis_of(joint)
            upright = np.cross(axis, np.cross((0.0, 0.0, 1.0), axis))
            turn = _turn(rng.uniform(-1, 1) * np.radians(0.1), upright)
            X = turn @ placement(joint)
            X[:3, 3] = placement(joint)[:3, 3] + [rng.uniform(-2e-4, 2e-4) for _ in "xyz"]
            place(joint, X)
    return new


TRANSFORMATIONS: dict[str, Transformation] = {"as it is": lambda robot, rng, folder: robot,
                                              "random words": random_words, "abroad": abroad,
                                              "prefix": prefix, "meshes": meshes,
                                              "millimetres": millimetres,
                                              "no primitives": no_primitives, "nested": nested,
                                              "no wheel inertia": no_wheel_inertia,
                                              "other inertia": other_wheel_inertia,
                                              "no elements": no_elements, "shuffled": shuffled,
                                              "mirrored": mirrored, "flipped": flipped,
                                              "turned frames": turned_frames,
                                              "shifted frames": shifted_frames,
                                              "moved root": moved_root, "raised root": raised_root,
                                              "arm": with_arm, "in the world": in_the_world,
                                              "revolute": revolute, "crooked": crooked}


# --- verdicts -------------------------------------------------------------------------------

_HIDES_KIND = ("random words", "abroad", "meshes", "millimetres", "no elements")
_SYMBOLS = {Verdict.RIGHT: ".", Verdict.NOTICED: ".", Verdict.CURED: "c", Verdict.TRUE: "t",
            Verdict.STUCK: "S", Verdict.MISLED: "M", Verdict.WRONG: "W"}


def transform(name: str, how: str, folder: Path) -> Robot:
    """A robot, written another way."""
    rng = random.Random(f"{name} {how}")
    robot = TRANSFORMATIONS[how](robots()[name], rng, folder)
    if how in _HIDES_KIND:
        robot = replace(robot, truth=replace(
            robot.truth, either_kind=robot.truth.drive == "mecanum"))
    return robot


def verdict(name: str, how: str, folder: Path) -> tuple[Verdict, str]:
    """What comes of describing it."""
    robot = transform(name, how, folder)
    found = judge(robot.truth, robot.text, robot.packages, load=describe)
    return found.verdict, found.why


def main(names: list[str]) -> None:
    """Prints the table, and all that is not right."""
    chosen = [n for n in robots() if not names or n in names]
    rows, counts = [], Counter()
    width = max(map(len, chosen))
    for i, how in enumerate(TRANSFORMATIONS):
        print(f"{'':{width}s} {'| ' * i}{how}")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            marks = []
            for how in TRANSFORMATIONS:
                try:
                    found, why = verdict(name, how, Path(folder))
                except Exception as error:
                    found, why = None, f"{type(error).__name__}: {error}"
                counts[found] += 1
                marks.append(_SYMBOLS.get(found, "X"))
                if found not in (Verdict.RIGHT, Verdict.NOTICED):
                    rows.append(f"{name}, {how}: {found.value if found else 'X'}: {why}")
            print(f"{name:{width}s} {' '.join(marks)}", flush=True)
    print("\n".join(rows))
    print(", ".join(f"{n} {v.value if v else 'failed'} ({_SYMBOLS.get(v, 'X')})"
                    for v, n in counts.items()), f"of {len(chosen) * len(TRANSFORMATIONS)}")


if __name__ == "__main__":
    main(sys.argv[1:])
