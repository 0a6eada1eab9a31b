"""What Pinocchio would swallow in silence, or reject without a cause, said with file, element, line
and remedy."""

from __future__ import annotations

import re

import numpy as np

from .source import Source, element_name, number, vector
from .validate_inertia import check_bodies, check_inertial

_TYPES = ("revolute", "continuous", "prismatic", "fixed")
_SHAPES = {"box": "size", "sphere": "radius", "cylinder": "radius", "capsule": "radius",
           "mesh": "filename"}
_XACRO = re.compile(r"\$\{|\$\((find|arg|eval|env|optenv|dirname|cwd)\b")


def validate(source: Source) -> list[str]:
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
    links, joints = _named(source, "link"), _named(source, "joint")
    if not links:
        raise source.error(source.root, "there is no <link> in it; a robot has at least one")
    for joint in joints.values():
        _check_joint(source, joint, links, joints)
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
            raise source.error(element,
                               f"xacro:{name} is not expanded; load the .xacro file itself, or "
                               "run: xacro "
                                        "FILE > robot.urdf")
        if _outside(element):
            continue
        for attribute, value in element.attrib.items():
            if _XACRO.search(value):
                raise source.error(element,
                                   f"{attribute}={value!r} is unexpanded xacro; load the .xacro "
                                   "file itself, "
                                            "or run: xacro FILE > robot.urdf")


def _outside(element) -> bool:
    """Whether an element is inside <gazebo> and the like, which nhmech does not read."""
    while element.getparent() is not None and element.getparent().tag != "robot":
        element = element.getparent()
    return element.tag in ("gazebo", "transmission", "plugin", "sensor")


def _named(source: Source, tag: str) -> dict:
    found: dict = {}
    for element in source.root.findall(tag):
        name = element.get("name")
        if not name or not name.strip():
            raise source.error(element, f'a {tag} needs a name: <{tag} name="...">')
        if name in found:
            raise source.error(element,
                               f"the name {name!r} is taken by the {tag} on line "
                               f"{found[name].sourceline}; "
                                        "names must differ")
        found[name] = element
    return found


def _check_joint(source: Source, joint, links, joints) -> None:
    name, kind = joint.get("name"), joint.get("type")
    if name in ("root_joint", "universe"):
        raise source.error(joint,
                           f"the name {name!r} collides silently with Pinocchio's own; rename the "
                           "joint")
    if kind is None:
        raise source.error(joint, f"attribute type= is missing; it is one of {', '.join(_TYPES)}")
    if kind in ("floating", "planar"):
        raise source.error(joint, f"{kind} joints are not supported; the base floats by itself, "
                                  "so make this one fixed or delete it")
    if kind not in _TYPES:
        raise source.error(joint,
                           f"joint type {kind!r} does not exist; it is one of {', '.join(_TYPES)}")
    for end in ("parent", "child"):
        element = joint.find(end)
        if element is None:
            raise source.error(joint, f'<{end} link="..."/> is missing; add it')
        link = element.get("link")
        if link not in links:
            raise source.error(element,
                               f"link {link!r} does not exist; the links are {_listed(links)}")
    for origin in joint.findall("origin"):
        _check_origin(source, origin)
    for axis in joint.findall("axis"):
        if kind != "fixed" and np.linalg.norm(vector(source, axis, "xyz", 3)) < 1e-9:
            raise source.error(axis,
                               f"xyz={axis.get('xyz')!r} has no direction; give the joint's axis, "
                               "such as 0 1 0")
    _check_limit(source, joint, kind)
    for mimic in joint.findall("mimic"):
        leader = mimic.get("joint")
        if leader not in joints:
            raise source.error(mimic,
                               f"mimics joint {leader!r}, which does not exist; the joints are "
                                      f"{_listed(joints)}")
        if leader == name:
            raise source.error(mimic,
                               "a joint cannot mimic itself; name another joint or delete <mimic>")
        number(source, mimic, "multiplier", 1.0)
        number(source, mimic, "offset", 0.0)
    for safety in joint.findall("safety_controller"):
        number(source, safety, "k_velocity")
        for attribute in ("k_position", "soft_lower_limit", "soft_upper_limit"):
            number(source, safety, attribute, 0.0)
    for dynamics in joint.findall("dynamics"):
        if dynamics.get("damping") is None and dynamics.get("friction") is None:
            raise source.error(dynamics,
                               "has neither damping= nor friction=; give one or delete <dynamics>")
        for attribute in ("damping", "friction"):
            if number(source, dynamics, attribute, 0.0) < 0:
                raise source.error(dynamics,
                                   f"{attribute}={dynamics.get(attribute)} is negative and would "
                                   "create "
                                             "energy; use 0 or more")


def _check_limit(source: Source, joint, kind: str) -> None:
    limit = joint.find("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            remedy = ' or make it type="continuous"' if kind == "revolute" else ""
            raise source.error(joint,
                               f'a {kind} joint needs <limit lower= upper= effort= velocity=/>; '
                               f'add it{remedy}')
        return
    values = {a: number(source, limit, a, 0.0) for a in ("lower", "upper", "effort", "velocity")}
    if kind != "fixed":
        for attribute in ("effort", "velocity"):
            number(source, limit, attribute)
    if kind in ("revolute", "prismatic"):
        if values["lower"] > values["upper"]:
            raise source.error(limit, f"lower={limit.get('lower', 0)} is greater than "
                                      f"upper={limit.get('upper', 0)}; exchange them")
    for attribute in ("effort", "velocity"):
        if values[attribute] < 0:
            raise source.error(limit,
                               f"{attribute}={limit.get(attribute)} is negative; a limit is 0 "
                               "(none) or more")


def _check_tree(source: Source, links, joints) -> None:
    above: dict = {}
    for joint in joints.values():
        child, parent = joint.find("child").get("link"), joint.find("parent").get("link")
        if child in above:
            raise source.error(joint,
                               f"link {child!r} already hangs on joint "
                               f"{above[child].get('name')!r} "
                                      f"(line {above[child].sourceline}); "
                               "a link has one parent, so cut the loop here")
        if child == parent:
            raise source.error(joint, f"link {child!r} is its own parent; name another parent")
        above[child] = joint
    roots = [name for name in links if name not in above]
    if not roots:
        raise source.error(source.root, "every link hangs on another, so the joints form a loop "
                                        "and there is no root; cut one joint")
    if len(roots) > 1:
        raise source.error(links[roots[1]], f"there are {len(roots)} links without a parent: "
                                            f"{', '.join(map(repr, roots[:6]))}; "
                           "a robot has one root, so connect the others with joints")
    reached = [roots[0]]
    children: dict = {}
    for child, joint in above.items():
        children.setdefault(joint.find("parent").get("link"), []).append(child)
    for link in reached:
        reached += children.get(link, [])
    if len(reached) < len(links):
        lost = next(name for name in links if name not in set(reached))
        raise source.error(above[lost],
                           f"link {lost!r} is part of a loop that does not reach the root "
                           f"{roots[0]!r}; "
                                        "cut one joint of it")


def _check_origin(source: Source, origin) -> None:
    vector(source, origin, "xyz", 3, None)
    vector(source, origin, "rpy", 3, None)


def _check_shape(source: Source, element) -> list[str]:
    for origin in element.findall("origin"):
        _check_origin(source, origin)
    geometry = element.find("geometry")
    shapes = [e for e in geometry if isinstance(e.tag, str)] if geometry is not None else []
    if not shapes or shapes[0].tag not in _SHAPES:
        found = element_name(shapes[0]) if shapes else "nothing"
        raise source.error(element,
                           f"<geometry> holds {found}; it needs one of {', '.join(_SHAPES)}")
    notices = (
        [f"{source.at(shapes[1])}: a second shape in one <geometry> is ignored"]
        if len(shapes) > 1
        else []
    )
    shape = shapes[0]
    if shape.tag == "mesh":
        if not shape.get("filename"):
            raise source.error(shape, "filename= is missing; name the mesh")
        return notices
    sizes = vector(source, shape, "size",
                   3) if shape.tag == "box" else (number(source, shape, "radius"),)
    if shape.tag in ("cylinder", "capsule"):
        sizes += (number(source, shape, "length"),)
    if min(sizes) < 0:
        raise source.error(shape,
                           f"{min(sizes)} is a negative size; use a positive length in metres")
    if min(sizes) == 0 and element.tag == "collision":
        notices.append(f"{source.at(shape)}: has size 0")
    return notices


def _check_materials(source: Source) -> None:
    seen: dict = {}
    for material in source.root.findall("material"):
        name = material.get("name")
        if not name:
            raise source.error(material, 'a material needs a name: <material name="...">')
        if name in seen:
            raise source.error(material, f"the material {name!r} is defined on line "
                                         f"{seen[name].sourceline} already; delete one")
        if material.find("color") is None and material.find("texture") is None:
            raise source.error(material,
                               'has neither <color rgba="..."/> nor <texture>; give it one or '
                               'delete it')
        seen[name] = material
    for material in source.root.iterfind("link/visual/material"):
        if material.get("name") is None:
            raise source.error(material,
                               'a material needs a name, or the whole link is dropped: <material '
                               'name="...">')
    for color in (*source.root.iterfind("material/color"),
                  *source.root.iterfind("link/visual/material/color")):
        vector(source, color, "rgba", 4)


def _listed(names) -> str:
    names = list(names)
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
