"""What Pinocchio would swallow in silence, or reject without saying why: refused here with file,
line, element and remedy."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from ..errors import listed
from .notice import Notice, NoticeKind
from .source import Element, Source, element_name, link_at
from .validate_inertia import check_bodies, check_inertial

_XACRO = re.compile(r"\$\{|\$\((find|arg|eval|env|optenv|dirname|cwd)\b")
_EXPAND = "load the .xacro file itself, or run: xacro FILE > robot.urdf"
_UNREAD = ("gazebo", "transmission", "plugin", "sensor")      # elements that nhmech does not read
_OWN_NAMES = ("root_joint", "universe")                       # Pinocchio's
_TYPES = ("revolute", "continuous", "prismatic", "fixed")
_UNSUPPORTED = ("floating", "planar")
_BOUNDED = {"revolute": 'add it or make it type="continuous"', "prismatic": "add it"}
# shape -> its attributes that are one length [m]
_SHAPES = {"box": (), "sphere": ("radius",), "cylinder": ("radius", "length"),
           "capsule": ("radius", "length"), "mesh": ()}
# element of a joint -> its attributes, each with the value it takes where it is missing
_NUMBERS: dict[str, dict[str, float | None]] = {
    "limit": {"lower": 0.0, "upper": 0.0, "effort": 0.0, "velocity": 0.0},
    "mimic": {"multiplier": 1.0, "offset": 0.0},
    "safety_controller": {"k_velocity": None, "k_position": 0.0, "soft_lower_limit": 0.0,
                          "soft_upper_limit": 0.0},
    "dynamics": {"damping": 0.0, "friction": 0.0},
}
# element of a joint -> its attributes that may not be negative, and how the complaint goes on
_NOT_NEGATIVE = {
    "dynamics": (("damping", "friction"), " and would create energy; use 0 or more"),
    "limit": (("effort", "velocity"), "; a limit is 0 (none) or more"),
}

Elements = Mapping[str, Element]


def validate(source: Source) -> list[Notice]:
    """Check a whole description; returns notices about what is odd but usable.

    Raises
    ------
    ModelError
        For: xacro left unexpanded; missing, empty or repeated names; a joint called `root_joint`;
        joint types that do not exist or are not supported; parents and children that are missing or
        unknown; loops, and anything but one root; numbers that are missing, malformed, NaN or
        infinite; axes of zero length; limits that are missing or reversed; mimics of joints that do
        not exist; shapes without a size; masses that are negative; inertias that no body can have.
    """
    _check_xacro(source)
    if not source.root.get("name"):
        raise source.error(source.root, 'a robot needs a name: <robot name="my_robot">')
    links, joints = _collect(source, "link"), _collect(source, "joint")
    if not links:
        raise source.error(source.root, "there is no <link> in it; a robot has at least one")
    for joint in joints.values():
        _check_type(source, joint)
        _check_ends(source, joint, links)
        _check_axis(source, joint)
        _check_numbers(source, joint)
        _check_limit(source, joint)
        _check_mimic(source, joint, joints)
    _check_tree(source, links, joints)
    notices = []
    for link in links.values():
        for element in (*link.findall("visual"), *link.findall("collision")):
            notices += _check_shape(source, element)
        inertials = link.findall("inertial")
        if len(inertials) > 1:
            raise source.error(inertials[1], "a link has one <inertial>; merge the two")
        for inertial in inertials:
            check_inertial(source, inertial)
    _check_materials(source)
    return notices + check_bodies(source)


def _check_xacro(source: Source) -> None:
    for element in source.root.iter("*"):
        tag = element.tag
        if "xacro" in tag.rsplit("}", 1)[0] and "}" in tag or tag.startswith("xacro:"):
            name = tag.rsplit("}", 1)[-1].removeprefix("xacro:")
            raise source.error(element, f"xacro:{name} is not expanded; {_EXPAND}")
        if _is_unread(element):
            continue
        for attribute in map(str, element.keys()):
            if _XACRO.search(value := element.get(attribute, "")):
                raise source.error(element,
                                   f"{attribute}={value!r} is unexpanded xacro; {_EXPAND}")


def _is_unread(element: Element) -> bool:
    """Whether an element is inside one of those that nhmech does not read."""
    while (parent := element.getparent()) is not None and parent.tag != "robot":
        element = parent
    return element.tag in _UNREAD


def _collect(source: Source, tag: str) -> dict[str, Element]:
    """The links or joints by name."""
    found: dict[str, Element] = {}
    for element in source.root.findall(tag):
        name = element.get("name")
        if not name or not name.strip():
            raise source.error(element, f'a {tag} needs a name: <{tag} name="...">')
        if name in found:
            raise source.error(element, f"the name {name!r} is taken by the {tag} on line "
                                        f"{found[name].sourceline}; names must differ")
        found[name] = element
    return found


def _check_type(source: Source, joint: Element) -> None:
    name, kind = joint.get("name"), joint.get("type")
    if name in _OWN_NAMES:
        raise source.error(joint, f"the name {name!r} collides with one of Pinocchio's own; rename "
                                  "the joint")
    if kind is None:
        raise source.error(joint, f"attribute type= is missing; it is one of {listed(_TYPES)}")
    if kind in _UNSUPPORTED:
        raise source.error(joint, f"{kind} joints are not supported; the base floats by itself, "
                                  "so make this one fixed or delete it")
    if kind not in _TYPES:
        raise source.error(joint,
                           f"joint type {kind!r} does not exist; it is one of {listed(_TYPES)}")


def _check_ends(source: Source, joint: Element, links: Elements) -> None:
    for end in ("parent", "child"):
        element = joint.find(end)
        if element is None:
            raise source.error(joint, f'<{end} link="..."/> is missing; add it')
        link = element.get("link")
        if link not in links:
            raise source.error(element,
                               f"link {link!r} does not exist; the links are {listed(links, 20)}")


def _check_axis(source: Source, joint: Element) -> None:
    for origin in joint.findall("origin"):
        _check_origin(source, origin)
    for axis in joint.findall("axis") if joint.get("type") != "fixed" else ():
        if np.linalg.norm(source.triple(axis, "xyz")) < 1e-9:
            raise source.error(axis, f"xyz={axis.get('xyz')!r} has no direction; give the joint's "
                                     "axis, such as 0 1 0")


def _check_origin(source: Source, origin: Element) -> None:
    for attribute in ("xyz", "rpy"):
        source.triple(origin, attribute, None)


def _check_numbers(source: Source, joint: Element) -> None:
    for tag, attributes in _NUMBERS.items():
        for element in joint.findall(tag):
            values = {name: source.number(element, name, default)
                      for name, default in attributes.items()}
            names, rest = _NOT_NEGATIVE.get(tag, ((), ""))
            for name in names:
                if values[name] < 0:
                    raise source.error(element, f"{name}={element.get(name)} is negative{rest}")
            if tag == "dynamics" and not {"damping", "friction"} & set(element.keys()):
                raise source.error(element, "has neither damping= nor friction=; give one or "
                                            "delete <dynamics>")


def _check_limit(source: Source, joint: Element) -> None:
    kind, limit = joint.get("type", ""), joint.find("limit")
    if limit is None:
        if kind in _BOUNDED:
            raise source.error(joint, f"a {kind} joint needs <limit lower= upper= effort= "
                                      f"velocity=/>; {_BOUNDED[kind]}")
        return
    if kind != "fixed":
        for attribute in ("effort", "velocity"):
            source.number(limit, attribute)
    if kind in _BOUNDED and (source.number(limit, "lower", 0.0)
                             > source.number(limit, "upper", 0.0)):
        raise source.error(limit, f"lower={limit.get('lower', 0)} is greater than "
                                  f"upper={limit.get('upper', 0)}; exchange them")


def _check_mimic(source: Source, joint: Element, joints: Elements) -> None:
    for mimic in joint.findall("mimic"):
        leader = mimic.get("joint")
        if leader not in joints:
            raise source.error(mimic, f"mimics joint {leader!r}, which does not exist; the joints "
                                      f"are {listed(joints, 20)}")
        if leader == joint.get("name"):
            raise source.error(mimic, "a joint cannot mimic itself; name another joint or delete "
                                      "<mimic>")


def _check_tree(source: Source, links: Elements, joints: Elements) -> None:
    above: dict[str, Element] = {}
    children: dict[str, list[str]] = {}
    for joint in joints.values():
        child, parent = link_at(joint, "child"), link_at(joint, "parent")
        if child in above:
            raise source.error(joint, f"link {child!r} already hangs on joint "
                                      f"{above[child].get('name')!r} (line "
                                      f"{above[child].sourceline}); a link has one parent, so cut "
                                      "the loop here")
        if child == parent:
            raise source.error(joint, f"link {child!r} is its own parent; name another parent")
        above[child] = joint
        children.setdefault(parent, []).append(child)
    roots = [name for name in links if name not in above]
    if not roots:
        raise source.error(source.root, "every link hangs on another, so the joints form a loop "
                                        "and there is no root; cut one joint")
    if len(roots) > 1:
        raise source.error(links[roots[1]], f"there are {len(roots)} links without a parent: "
                                            f"{listed(map(repr, roots), 6)}; a robot has one root, "
                                            "so connect the others with joints")
    reached = [roots[0]]
    for link in reached:
        reached += children.get(link, [])
    if len(reached) < len(links):
        lost = next(name for name in links if name not in set(reached))
        raise source.error(above[lost], f"link {lost!r} is part of a loop that does not reach the "
                                        f"root {roots[0]!r}; cut one joint of it")


def _check_shape(source: Source, element: Element) -> list[Notice]:
    for origin in element.findall("origin"):
        _check_origin(source, origin)
    geometry = element.find("geometry")
    shapes = [] if geometry is None else geometry.findall("*")
    if not shapes or shapes[0].tag not in _SHAPES:
        found = element_name(shapes[0]) if shapes else "nothing"
        raise source.error(element, f"<geometry> holds {found}; it needs one of {listed(_SHAPES)}")
    notices = [Notice(NoticeKind.SECOND_SHAPE, f"{source.at(second)}: a second shape in one "
                                               "<geometry> is ignored") for second in shapes[1:2]]
    shape = shapes[0]
    if shape.tag == "mesh":
        if not shape.get("filename"):
            raise source.error(shape, "filename= is missing; name the mesh")
        return notices
    sizes = (source.triple(shape, "size") if shape.tag == "box" else
             tuple(source.number(shape, attribute) for attribute in _SHAPES[shape.tag]))
    if min(sizes) < 0:
        raise source.error(shape,
                           f"{min(sizes)} is a negative size; use a positive length in metres")
    if min(sizes) == 0 and element.tag == "collision":
        notices.append(Notice(NoticeKind.EMPTY_SHAPE, f"{source.at(shape)}: has size 0"))
    return notices


def _check_materials(source: Source) -> None:
    seen: dict[str, Element] = {}
    for material in source.root.findall("material"):
        name = material.get("name")
        if not name:
            raise source.error(material, 'a material needs a name: <material name="...">')
        if name in seen:
            raise source.error(material, f"the material {name!r} is defined on line "
                                         f"{seen[name].sourceline} already; delete one")
        if material.find("color") is None and material.find("texture") is None:
            raise source.error(material, 'has neither <color rgba="..."/> nor <texture>; give it '
                                         "one or delete it")
        seen[name] = material
    for material in source.root.iterfind("link/visual/material"):
        if material.get("name") is None:
            raise source.error(material, "a material needs a name, or the whole link is dropped: "
                                         '<material name="...">')
    for color in (*source.root.iterfind("material/color"),
                  *source.root.iterfind("link/visual/material/color")):
        source.numbers(color, "rgba", 4)
