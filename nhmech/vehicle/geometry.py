"""What a vehicle looks like: the URDF's visual and collision shapes, with stand-ins where a mesh
cannot be had.

Pinocchio refuses the whole geometry model when one mesh is missing, and drops all shapes of a link
when one of them cannot be parsed. So the XML is mended first: mesh files are looked up here (no ROS
needed) and tried; each one that fails is replaced, and a notice says so.
"""

from __future__ import annotations

import copy
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
from lxml import etree

from ..errors import ModelError, listed
from ..urdf.description import Description
from ..urdf.packages import find_file
from .model import full_model, locked_joints

PRIMITIVES = {"box": "size", "cylinder": "radius", "sphere": "radius"}      # what each must have
GREY, DARK, LIGHT = "0.62 0.67 0.73 1", "0.20 0.21 0.23 1", "0.93 0.93 0.90 1"


def load_geometry(description: Description,
                  model: pin.Model) -> tuple[pin.GeometryModel, pin.GeometryModel, list[str]]:
    """Visual and collision shapes of a robot, and what had to be replaced.

    `model` is the `pin.Model` built from `description.xml`, no joint reduced. Returns
    (visual_model, collision_model, notices): two `pin.GeometryModel` that refer to the joints and
    frames of `model`, and one short sentence for each kind of replacement.

    A visual whose mesh is missing or unreadable is replaced by the primitive collision shapes of
    its link; else, on a wheel's link, by a cylinder of the wheel's radius; else by a small box. A
    link without visuals shows its collision shapes. Collision meshes that fail are left out.

    Raises
    ------
    ModelError
        If Pinocchio cannot make a geometry model of the mended file.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    root = etree.fromstring(description.xml.encode(), parser)
    loader = coal.CachedMeshLoader()
    notices = _mend(root, description, loader)
    xml = etree.tostring(root, encoding="unicode")
    try:
        visual, collision = (
            pin.buildGeomFromUrdfString(model, xml, kind, mesh_loader=loader)
            for kind in (pin.GeometryType.VISUAL, pin.GeometryType.COLLISION))
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{description.path or description.name}: shapes cannot be read: "
                         f"{str(error).strip().splitlines()[-1]}") from error
    return visual, collision, notices


def moving_geometry(description: Description) -> tuple[pin.GeometryModel, pin.GeometryModel]:
    """Visual and collision shapes on the model of the moving joints."""
    full = full_model(description)
    visual, collision, _ = load_geometry(description, full)
    held, q = locked_joints(full, description)
    if held:
        _, (visual, collision) = pin.buildReducedModel(full, [visual, collision], held, q)
    return visual, collision


def _mend(root, description: Description, loader: coal.CachedMeshLoader) -> list[str]:
    """Replaces what Pinocchio would refuse, in place; one sentence for each sort of replacement."""
    bad = {mesh.get("filename", "") for mesh in root.iter("mesh")
           if not _use_mesh(mesh, description, loader)}
    by_collision, by_standin, dropped = [], [], 0
    for link in root.iterfind("link"):
        name, shapes = link.get("name"), [*link.iterfind("visual"), *link.iterfind("collision")]
        unusable = [shape for shape in shapes if not _is_usable(shape, bad)]
        for shape in unusable:
            link.remove(shape)
        missing = [shape for shape in unusable if shape.tag == "visual"]
        dropped += len(unusable) - len(missing)
        collisions = link.findall("collision")
        primitives = [c for c in collisions if c.find("geometry/mesh") is None]
        if missing and primitives:
            by_collision.append(name)
            _show(root, link, primitives)
        elif missing and link.find("visual") is None:
            by_standin.append(name)
            link.append(_standin(root, link, description))
        elif link.find("visual") is None and collisions:
            _show(root, link, collisions)
    notices = []
    if bad and (by_collision or by_standin or dropped):
        notices.append(f"{len(bad)} mesh files missing or unreadable, for example {min(bad)}")
    if by_collision:
        notices.append(f"drawn by their collision shapes: {listed(by_collision, 4)}")
    if by_standin:
        notices.append(f"drawn by stand-ins: {listed(by_standin, 4)}")
    return notices


def find_mesh(filename: str, description: Description) -> Path | None:
    """The file that a mesh name of this robot means, or None."""
    return find_file(filename, description.packages, description.path)


def _use_mesh(mesh, description: Description, loader) -> bool:
    """Point a <mesh> at its file and load it; False where that fails."""
    path = find_mesh(mesh.get("filename", ""), description)
    try:
        scale = np.array([float(s) for s in mesh.get("scale", "1 1 1").split()]) * np.ones(3)
        if path is None or loader.load(str(path), scale).num_tris == 0:
            return False
    except (ValueError, RuntimeError):
        return False
    mesh.set("filename", str(path))
    return True


def _is_usable(element, bad: set[str]) -> bool:
    """Whether urdfdom will accept this <visual> or <collision>."""
    shape = element.find("geometry/*")
    if shape is None:
        return False
    if shape.tag == "mesh":
        return shape.get("filename", "") not in bad
    return shape.tag in PRIMITIVES and shape.get(PRIMITIVES[shape.tag]) is not None


def _show(root, link, collisions) -> None:
    """Add visuals of the same shape as these collision elements."""
    spins = _is_spinning(root, link)
    for collision in collisions:
        visual = copy.deepcopy(collision)
        visual.tag = "visual"
        visual.attrib.pop("name", None)
        link.append(_paint(visual, DARK if spins else GREY))
        cylinder = visual.find("geometry/cylinder")
        if spins and cylinder is not None:
            link.append(_stripe(visual, float(cylinder.get("radius")),
                                float(cylinder.get("length"))))


def _standin(root, link, description: Description):
    """A <visual> for a link of which nothing is known but its wheel or its joints."""
    wheel = next((w for w in description.wheels if w.link == link.get("name") and w.radius > 0),
                 None)
    if wheel is not None:
        if wheel.axis is None:
            return _visual(f'<sphere radius="{wheel.radius}"/>', wheel.point or (0, 0, 0),
                           (0, 0, 0), DARK)
        x, y, z = wheel.axis
        axle = (0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x))
        cylinder = f'<cylinder radius="{wheel.radius}" length="{0.4 * wheel.radius}"/>'
        return _visual(cylinder, wheel.point or (0, 0, 0), axle, DARK)
    origins = [
        j.find("origin")
        for j in root.iterfind("joint")
        if j.find("parent").get("link") == link.get("name")
    ]
    places = [[float(c) for c in o.get("xyz", "0 0 0").split()] for o in origins if o is not None]
    points = np.array([[0.0] * 3] + places)
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.maximum(0.8 * (high - low), max(0.03, 0.1 * np.max(high - low)))
    return _visual(f'<box size="{size[0]} {size[1]} {size[2]}"/>', (low + high) / 2, (0, 0, 0),
                   GREY)


def _stripe(visual, radius: float, length: float):
    """A light bar across both faces of a cylinder, so that its rolling shows."""
    stripe = copy.deepcopy(visual)
    geometry = stripe.find("geometry")
    geometry.clear()
    etree.SubElement(geometry, "box",
                     size=f"{1.4 * radius} {0.16 * radius} {1.02 * length + 0.002}")
    return _paint(stripe, LIGHT)


def _visual(shape: str, xyz, rpy, colour: str):
    origin = f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>'
    return _paint(etree.fromstring(f"<visual>{origin}<geometry>{shape}</geometry></visual>"),
                     colour)


def _paint(visual, colour: str):
    for old in visual.findall("material"):
        visual.remove(old)
    material = etree.SubElement(visual, "material", name=f"nhmech {colour}")
    etree.SubElement(material, "color", rgba=colour)
    return visual


def _is_spinning(root, link) -> bool:
    return any(j.get("type") == "continuous" and j.find("child").get("link") == link.get("name")
               for j in root.iterfind("joint"))
