"""The shapes of a vehicle: visual and collision shapes of the URDF, colours for links without any,
and replacements for meshes that cannot be loaded.

Pinocchio refuses the whole geometry model if one mesh is missing, and drops all shapes of a link if
one of them cannot be parsed. Therefore the XML is repaired first: mesh files are searched here
(without ROS) and loaded, and each one that fails is replaced.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
from lxml import etree

from ..errors import ModelError
from ..urdf.description import Description
from ..urdf.mesh_files import length_unit
from ..urdf.packages import find_file, is_within
from ..urdf.text.source import Element
from .model import full_model, lock_joints
from .palette import STRIPE, link_colours

# attributes that each must have, with how many numbers
PRIMITIVES = {"box": {"size": 3}, "cylinder": {"radius": 1, "length": 1}, "sphere": {"radius": 1}}
WIDTH = 0.4          # of a wheel whose width is unknown, relative to its radius
THINNEST = 0.02      # of a box's longest side, so that a flat inertia is visible
SMALLEST = 0.03      # [m] side of the box for a link about which nothing is known
TURNED = 0.03        # of the trace of an inertia: smaller products do not turn the box
LIGHTEST = 100.0     # [kg/m^3] least density of a box; even hollow machines are denser


@dataclass(frozen=True)
class Geometry:
    """The shapes of a robot."""

    # visual, collision: they refer to the joints and frames of the model they were made for
    visual: pin.GeometryModel
    collision: pin.GeometryModel
    # names of the visual shapes that replace missing ones
    stand_ins: frozenset[str] = frozenset()


def load_geometry(description: Description, model: pin.Model) -> Geometry:
    """Visual and collision shapes of a robot on its full `model`, with all joints.

    A visual whose mesh is missing or unreadable is replaced by the collision shapes of its link;
    else, on a wheel's link, by a cylinder of the wheel's radius; else by the box that has the mass
    and inertia of the link. A link without visuals shows its collision shapes. Collision meshes
    that fail are skipped.
    """
    root = etree.fromstring(description.xml.encode(), etree.XMLParser(resolve_entities=False))
    loader = coal.CachedMeshLoader()
    stand_ins = _mend(root, description, loader, reach(model))
    _colour_links(root, description)
    xml = etree.tostring(root, encoding="unicode")
    try:
        visual, collision = (
            pin.buildGeomFromUrdfString(model, xml, kind, mesh_loader=loader)
            for kind in (pin.GeometryType.VISUAL, pin.GeometryType.COLLISION))
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{description.path or description.name}: shapes cannot be read: "
                         f"{str(error).strip().splitlines()[-1]}") from error
    return Geometry(visual, collision, stand_ins)


def moving_geometry(description: Description) -> Geometry:
    """The shapes on the model of the moving joints."""
    full = full_model(description)
    found = load_geometry(description, full)
    _, (visual, collision) = lock_joints(full, description, (found.visual, found.collision))
    return Geometry(visual, collision, found.stand_ins)


def find_mesh_file(filename: str, description: Description) -> Path | None:
    """The file of a mesh name in this robot's description, or None."""
    found = find_file(filename, description.packages, description.path)
    if found is None or not description.confined:
        return found
    return found if is_within(found, description.packages, description.path) else None


def _mend(root: Element, description: Description, loader: coal.CachedMeshLoader,
          reach: float) -> frozenset[str]:
    """Replaces, in place, the shapes that Pinocchio would refuse; returns the names of the
    replacements."""
    bad = {mesh.get("filename", "") for mesh in root.iter("mesh")
           if not _use_mesh(mesh, description, loader)}
    stand_ins: list[str] = []
    for link in root.iterfind("link"):
        shapes = [*link.iterfind("visual"), *link.iterfind("collision")]
        unusable = [shape for shape in shapes if not _is_usable(shape, bad)]
        for shape in unusable:
            link.remove(shape)
        visuals, collisions = link.findall("visual"), link.findall("collision")
        primitives = [c for c in collisions if c.find("geometry/mesh") is None]
        is_missing = any(shape.tag == "visual" for shape in unusable)
        if is_missing and (primitives or not visuals):
            added = (_make_visuals(root, link, primitives or collisions)
                     or [_stand_in(root, link, description, reach)])
            link.extend(added)
            name, first = link.get("name"), len(visuals)
            stand_ins += [f"{name}_{first + k}" for k in range(len(added))]
        elif not visuals:
            link.extend(_make_visuals(root, link, collisions))
    return frozenset(stand_ins)


def _use_mesh(mesh: Element, description: Description, loader: coal.CachedMeshLoader) -> bool:
    """Sets the path of a <mesh>, scaled to metres, and loads it; returns False if that fails."""
    path = find_mesh_file(mesh.get("filename", ""), description)
    try:
        if path is None:
            return False
        scale = np.array([float(s) for s in mesh.get("scale", "1 1 1").split()]) * np.ones(3)
        scale *= length_unit(path)
        if loader.load(str(path), scale).num_tris == 0:
            return False
    except (OSError, ValueError, RuntimeError):
        return False
    mesh.set("filename", str(path))
    mesh.set("scale", _words(scale))
    return True


def _is_usable(element: Element, bad: set[str]) -> bool:
    """Whether urdfdom will accept this <visual> or <collision>."""
    shape, origin = element.find("geometry/*"), element.find("origin")
    if shape is None or origin is not None and not _has_numbers(origin, {
            name: 3 for name in ("xyz", "rpy") if name in origin.attrib}):
        return False
    if shape.tag == "mesh":
        return shape.get("filename", "") not in bad
    return shape.tag in PRIMITIVES and _has_numbers(shape, PRIMITIVES[shape.tag])


def _has_numbers(element: Element, counts: Mapping[str, int]) -> bool:
    """Whether each of some attributes is so many numbers."""
    try:
        return all(len([float(word) for word in element.get(name, "").split()]) == count
                   for name, count in counts.items())
    except ValueError:
        return False


def _make_visuals(root: Element, link: Element, collisions: Iterable[Element]) -> list[Element]:
    """Visuals with the shapes of these collision elements; cylinders that spin get a stripe."""
    spins = any(j.get("type") == "continuous" and j.find("child").get("link") == link.get("name")
                for j in root.iterfind("joint"))
    found = []
    for collision in collisions:
        visual = copy.deepcopy(collision)
        visual.tag = "visual"
        found.append(visual)
        cylinder = visual.find("geometry/cylinder")
        if spins and cylinder is not None:
            found.append(_stripe(visual, *(float(cylinder.attrib[name])
                                           for name in ("radius", "length"))))
    return found


def _stand_in(root: Element, link: Element, description: Description, reach: float) -> Element:
    """A <visual> for a link that has no shape."""
    wheel = next((w for w in description.wheels if w.link == link.get("name") and w.radius > 0),
                 None)
    if wheel is None:
        box = _stand_in_box(link, reach)
        return _joint_box(root, link) if box is None else box
    at = wheel.point or (0.0, 0.0, 0.0)
    if wheel.axis is None:
        return _visual(f'<sphere radius="{wheel.radius}"/>', at)
    axle = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), np.array(wheel.axis))
    return _visual(f'<cylinder radius="{wheel.radius}" length="{WIDTH * wheel.radius}"/>', at,
                   axle.toRotationMatrix())


def _stand_in_box(link: Element, reach: float) -> Element | None:
    """The box of a link's mass and inertia; None without these."""
    body = pin.buildModelFromXML(
        f'<robot name="one">{etree.tostring(_bare(link), encoding="unicode")}</robot>',
        pin.JointModelFreeFlyer()).inertias[1]
    box = inertia_box(body, reach)
    if box is None:
        return None
    sides, axes = box
    return _visual(f'<box size="{_words(sides)}"/>', body.lever, axes)


def inertia_box(body: pin.Inertia, reach: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Sides (3,) [m] and axes (3, 3) of the solid box with the mass and inertia of a body, about
    its centre of mass; None without these. For sides a, b, c: I_a = m (b^2 + c^2) / 12. The box is
    made smaller if the inertia is too large for the mass, or for a robot of this `reach` [m]."""
    if not body.mass > 0:
        return None
    moments, axes = np.diag(body.inertia), np.eye(3)
    if np.abs(body.inertia - np.diag(moments)).max() > TURNED * moments.sum():
        moments, axes = np.linalg.eigh(body.inertia)
    sides = np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / body.mass, 0.0))
    if not sides.max() > 0:
        return None
    sides = np.maximum(sides, THINNEST * sides.max())
    sides *= min(1.0, reach / sides.max(), np.cbrt(body.mass / LIGHTEST / np.prod(sides)))
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    return sides, axes


def _bare(link: Element) -> Element:
    """The link with only its inertia."""
    bare = etree.Element("link", name="one")
    bare.extend(copy.deepcopy(link.findall("inertial")))
    return bare


def _joint_box(root: Element, link: Element) -> Element:
    """For a link without mass, a box that extends to its joints."""
    origins = [joint.find("origin") for joint in root.iterfind("joint")
               if joint.find("parent").get("link") == link.get("name")]
    places = [[float(c) for c in o.get("xyz", "0 0 0").split()] for o in origins if o is not None]
    points = np.array([[0.0] * 3] + places)
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.maximum(0.8 * (high - low), max(SMALLEST, 0.1 * np.max(high - low)))
    return _visual(f'<box size="{_words(size)}"/>', (low + high) / 2)


def reach(model: pin.Model) -> float:
    """Largest distance [m] between joints of the robot in the zero pose; infinite for one joint."""
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    points = np.array([data.oMi[j].translation for j in range(1, model.njoints)])
    return float(np.linalg.norm(np.ptp(points, axis=0))) or np.inf


def _stripe(visual: Element, radius: float, length: float) -> Element:
    """A light bar across both faces of a cylinder, which makes its rolling visible."""
    stripe = copy.deepcopy(visual)
    geometry = stripe.find("geometry")
    assert geometry is not None     # it holds the cylinder
    geometry.clear()
    etree.SubElement(geometry, "box",
                     size=_words((1.4 * radius, 0.16 * radius, 1.02 * length + 0.002)))
    return _paint(stripe, STRIPE)


def _visual(shape: str, xyz: Sequence[float] | np.ndarray, R: np.ndarray | None = None) -> Element:
    rpy = np.zeros(3) if R is None else pin.rpy.matrixToRpy(R)
    return etree.fromstring(f'<visual><origin xyz="{_words(xyz)}" rpy="{_words(rpy)}"/>'
                            f"<geometry>{shape}</geometry></visual>")


def _words(numbers: Iterable[float]) -> str:
    return " ".join(f"{float(number):.15g}" for number in numbers)


def _colour_links(root: Element, description: Description) -> None:
    """Gives every visual its own colour: that of its material, wherever the file defines it, else
    the mean of its texture, else one of the palette."""
    defined: dict[str, str] = {}
    for material in root.iter("material"):
        if colour := _own_colour(material, description):
            defined.setdefault(material.get("name", ""), colour)
    for material in root.findall("material"):
        root.remove(material)
    palette = link_colours(root, description)
    for link in root.iterfind("link"):
        for visual in link.iterfind("visual"):
            found = None
            for material in visual.findall("material"):
                found = (_own_colour(material, description)
                         or defined.get(material.get("name", ""), found))
                visual.remove(material)
            _paint(visual, found or palette[link.get("name", "")])


def _own_colour(material: Element, description: Description) -> str | None:
    """The colour of a material itself, as a URDF writes colours."""
    color, texture = material.find("color"), material.find("texture")
    if color is not None:
        return color.get("rgba")
    if texture is None:
        return None
    path = find_mesh_file(texture.get("filename", ""), description)
    return None if path is None else _mean_colour(path)


def _paint(visual: Element, colour: str) -> Element:
    material = etree.SubElement(visual, "material", name=f"nhmech {colour}")
    etree.SubElement(material, "color", rgba=colour)
    return visual


def _mean_colour(path: Path) -> str | None:
    """The mean colour of a picture, as a URDF writes colours; None if it cannot be read."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return _words([*np.asarray(image.convert("RGB"), dtype=float).mean((0, 1)) / 255, 1.0])
    except (OSError, ValueError):
        return None
