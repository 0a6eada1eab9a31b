"""What Pinocchio would swallow in silence, or reject without saying why: refused here with file,
line, element and remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ..errors import listed
from .fault import Element, ElementError, Fault, Mend, element_name, faulty_file, gather, mend
from .macros import uncalled_error
from .notice import Notice, NoticeKind
from .source import Source, link_at
from .validate_inertia import check_inertial
from .xacro_file import has_expression

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
_REQUIRED = ("effort", "velocity")    # of a limit; parsers want them, 0 is none
_ROUNDS = 4       # of mending: what is mended may show what it hid

Elements = Mapping[str, Element]


def validate(source: Source) -> tuple[tuple[Fault, ...], list[Notice]]:
    """Check a whole description, and mend in it what can be mended.

    Returns
    -------
    faults
        What was mended, slips of the text among it: `nhmech.urdf.describe` decides what of it may
        pass when it knows which joints move.
    notices
        About what is odd but usable.

    Raises
    ------
    ModelError
        With all that is wrong, where something cannot be mended: xacro left unexpanded; missing,
        empty or repeated names; joint types that do not exist or are not supported; parents and
        children that are missing or unknown; loops, and anything but one root; numbers that are
        missing, malformed, NaN or infinite; axes of zero length; masses that are negative.
    """
    if source.macros and source.root.find("link") is None:
        raise uncalled_error(source, lambda robot: not any(_find_errors(robot)))
    mended: list[Fault] = list(source.faults)
    for _ in range(_ROUNDS):
        errors = list(_find_errors(source))
        for error in errors:
            if error.mend is not None:
                mended.append(mend(error))
        if not any(error.mend for error in errors):
            break
    if errors:
        raise faulty_file(source.label, [*mended, *(error.fault for error in errors)])
    return tuple(mended), _find_oddities(source)


def _find_errors(source: Source) -> Iterator[ElementError]:
    root = source.root
    for element in root.iter("*"):
        yield from gather(_check_expanded, source, element)
    if not root.get("name"):
        yield source.error(root, 'a robot needs a name: <robot name="my_robot">',
                           mend=Mend("a robot without a name", lambda: root.set("name", "robot")))
    links, joints = (Names(source, tag) for tag in ("link", "joint"))
    yield from (*links.errors, *joints.errors)
    if not links.elements:
        yield source.error(root, "there is no <link> in it; a robot has at least one")
        return
    # joints whose ends are known make a tree
    connected: dict[str, Element] = {}
    for name, joint in joints.elements.items():
        for check in (_check_name, _check_type, _check_axis, _check_numbers, _check_limit):
            yield from gather(check, source, joint)
        yield from gather(_check_mimic, source, joint, joints.elements)
        loose = list(gather(_check_ends, source, joint, links.elements))
        yield from loose
        if not loose:
            connected[name] = joint
    if len(connected) == len(root.findall("joint")) and not links.errors:
        yield from gather(_check_tree, source, links.elements, connected)
    for link in links.elements.values():
        for element in (*link.findall("visual"), *link.findall("collision")):
            yield from gather(_check_shape, source, element)
        inertials = link.findall("inertial")
        for second in inertials[1:]:
            yield source.error(second, "a link has one <inertial>; merge the two")
        for inertial in inertials:
            yield from check_inertial(source, inertial)
    yield from _check_materials(source)


def _check_expanded(source: Source, element: Element) -> None:
    """Nothing of xacro is left."""
    tag = element.tag
    if "xacro" in tag.rsplit("}", 1)[0] and "}" in tag:
        raise source.error(element, "is not expanded; xacro leaves its elements alone where the "
                                    "file declares another namespace for them")
    if has_expression(element):
        raise source.error(element, "holds ${...} or $(...) that xacro did not expand; write its "
                                    "value")


class Names:
    """The links or joints by name, and errors about names that are missing or taken."""

    def __init__(self, source: Source, tag: str) -> None:
        self.elements: dict[str, Element] = {}
        self.errors: list[ElementError] = []
        for element in source.root.findall(tag):
            name = element.get("name")
            if not name or not name.strip():
                self.errors.append(source.error(element,
                                                f'a {tag} needs a name: <{tag} name="...">'))
            elif name in self.elements:
                self.errors.append(source.error(
                    element, f"the name {name!r} is taken by the {tag} on line "
                             f"{self.elements[name].sourceline}; names must differ"))
            else:
                self.elements[name] = element


def _delete(element: Element) -> Callable[[], None]:
    def delete() -> None:
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)
    return delete


def _setting(element: Element, attribute: str, value: str) -> Callable[[], None]:
    return lambda: element.set(attribute, value)


def _check_name(source: Source, joint: Element) -> None:
    name = joint.get("name", "")
    if name not in _OWN_NAMES:
        return

    def rename() -> None:
        joint.set("name", f"{name}_of_file")
        for mimic in source.root.iterfind("joint/mimic"):
            if mimic.get("joint") == name:
                mimic.set("joint", f"{name}_of_file")

    raise source.error(joint, f"the name {name!r} collides with one of Pinocchio's own; rename "
                              "the joint", mend=Mend("a name that Pinocchio has taken", rename))


def _check_type(source: Source, joint: Element) -> None:
    kind = joint.get("type")
    if kind is None:
        raise source.error(joint, f"attribute type= is missing; it is one of {listed(_TYPES)}")
    if kind in _UNSUPPORTED:
        raise source.error(joint, f"{kind} joints are not supported; the base floats by itself, "
                                  "so make this one fixed or delete it",
                           mend=Mend("a joint that lets the base float is fixed",
                                     lambda: joint.set("type", "fixed"))
                           if _is_world(source, link_at(joint, "parent")) else None)
    if kind not in _TYPES:
        meant = kind.strip().lower()
        raise source.error(
            joint, f"joint type {kind!r} does not exist; it is one of {listed(_TYPES)}",
            mend=Mend("a joint type in capitals or with spaces",
                      lambda: joint.set("type", meant)) if meant in _TYPES else None)


def _is_world(source: Source, link: str) -> bool:
    """Whether a link stands for the world: it hangs on nothing and has no mass."""
    return (not any(link_at(joint, "child") == link for joint in source.root.findall("joint"))
            and not any(element.get("name") == link and element.find("inertial") is not None
                        for element in source.root.findall("link")))


def _check_ends(source: Source, joint: Element, links: Elements) -> None:
    for end in ("parent", "child"):
        element = joint.find(end)
        if element is None:
            raise source.error(joint, f'<{end} link="..."/> is missing; add it')
        link = element.get("link")
        if link not in links:
            raise source.error(element,
                               f"link {link!r} does not exist; the links are {listed(links, 20)}")


def _check_axis(source: Source, joint: Element) -> Iterator[ElementError]:
    for origin in joint.findall("origin"):
        yield from _check_origin(source, origin)
    for axis in joint.findall("axis") if joint.get("type") != "fixed" else ():
        for error in gather(_check_direction, source, axis):
            yield source.error(axis, error.fault.text, mend=error.mend or Mend(
                "an axis without direction", _delete(axis), certain=False))


def _check_direction(source: Source, axis: Element) -> None:
    if np.linalg.norm(source.triple(axis, "xyz")) < 1e-9:
        raise source.error(axis, f"xyz={axis.get('xyz')!r} has no direction; give the joint's "
                                 "axis, such as 0 1 0")


def _check_origin(source: Source, origin: Element) -> Iterator[ElementError]:
    for attribute in ("xyz", "rpy"):
        yield from gather(_read_triple, source, origin, attribute)


def _read_triple(source: Source, element: Element, attribute: str) -> None:
    source.triple(element, attribute, None)


def _check_numbers(source: Source, joint: Element) -> Iterator[ElementError]:
    for tag, attributes in _NUMBERS.items():
        for element in joint.findall(tag):
            for name, default in attributes.items():
                yield from gather(_check_number, source, element, name, default)
            if tag == "dynamics" and not {"damping", "friction"} & set(element.keys()):
                yield source.error(element, "has neither damping= nor friction=; give one or "
                                            "delete <dynamics>",
                                   mend=Mend("<dynamics> without numbers", _delete(element)))


def _check_number(source: Source, element: Element, name: str, default: float | None) -> None:
    """A number that is one, and not negative where it may not be; without it there is none."""
    def drop() -> None:
        if name in _REQUIRED and element.tag == "limit":
            element.set(name, "0")
        else:
            element.attrib.pop(name, None)

    negative, rest = _NOT_NEGATIVE.get(element.tag, ((), ""))
    unusable = Mend(f"{name}= that is no number to be used", drop,
                    certain=element.tag in _NOT_NEGATIVE)
    try:
        value = source.number(element, name, default)
    except ElementError as error:
        if error.mend is None:
            raise source.error(element, error.fault.text, mend=unusable) from None
        raise
    if name in negative and value < 0:
        raise source.error(element, f"{name}={element.get(name)} is negative{rest}", mend=unusable)


def _check_limit(source: Source, joint: Element) -> Iterator[ElementError]:
    kind, limit = joint.get("type", ""), joint.find("limit")
    if limit is None:
        if kind in _BOUNDED:
            yield source.error(
                joint, f"a {kind} joint needs <limit lower= upper= effort= velocity=/>; "
                       f"{_BOUNDED[kind]}",
                mend=Mend(f"a {kind} joint without <limit> is unlimited", lambda: joint.append(
                    joint.makeelement("limit", {"effort": "0", "velocity": "0"}))))
        return
    for attribute in _REQUIRED if kind != "fixed" else ():
        if limit.get(attribute) is None:
            yield source.error(limit, f"attribute {attribute}= is missing; give it a number, or 0 "
                                      "for no limit",
                               mend=Mend(f"a limit without {attribute}=",
                                         _setting(limit, attribute, "0")))

    def drop() -> None:
        for attribute in ("lower", "upper"):
            limit.attrib.pop(attribute, None)

    if kind in _BOUNDED and (source.number(limit, "lower", 0.0)
                             > source.number(limit, "upper", 0.0)):
        yield source.error(limit, f"lower={limit.get('lower', 0)} is greater than "
                                  f"upper={limit.get('upper', 0)}; exchange them",
                           mend=Mend("limits of which the lower is greater are dropped", drop))


def _check_mimic(source: Source, joint: Element, joints: Elements) -> Iterator[ElementError]:
    for mimic in joint.findall("mimic"):
        leader = mimic.get("joint")
        lost = Mend("<mimic> of a joint that does not exist", _delete(mimic), certain=False)
        if leader not in joints:
            yield source.error(mimic, f"mimics joint {leader!r}, which does not exist; the joints "
                                      f"are {listed(joints, 20)}", mend=lost)
        elif leader == joint.get("name"):
            yield source.error(mimic, "a joint cannot mimic itself; name another joint or delete "
                                      "<mimic>", mend=Mend("a joint that mimics itself",
                                                           _delete(mimic)))


def _check_tree(source: Source, links: Elements, joints: Elements) -> Iterator[ElementError]:
    above: dict[str, Element] = {}
    children: dict[str, list[str]] = {}
    for joint in joints.values():
        child, parent = link_at(joint, "child"), link_at(joint, "parent")
        if child in above:
            yield source.error(joint, f"link {child!r} already hangs on joint "
                                      f"{above[child].get('name')!r} (line "
                                      f"{above[child].sourceline}); a link has one parent, so cut "
                                      "the loop here")
            return
        if child == parent:
            yield source.error(joint, f"link {child!r} is its own parent; name another parent")
            return
        above[child] = joint
        children.setdefault(parent, []).append(child)
    roots = [name for name in links if name not in above]
    if not roots:
        yield source.error(source.root, "every link hangs on another, so the joints form a loop "
                                        "and there is no root; cut one joint")
        return
    if len(roots) > 1:
        yield source.error(links[roots[1]], f"there are {len(roots)} links without a parent: "
                                            f"{listed(map(repr, roots), 6)}; a robot has one root, "
                                            "so connect the others with joints")
    reached = list(roots)
    for link in reached:
        reached += children.get(link, [])
    if len(reached) < len(links):
        known = set(reached)
        lost = next(name for name in links if name not in known)
        yield source.error(above[lost], f"link {lost!r} is part of a loop that does not reach the "
                                        f"root {roots[0]!r}; cut one joint of it")


def _check_shape(source: Source, element: Element) -> Iterator[ElementError]:
    """A shape that can be drawn; others are left out, as no motion depends on them."""
    out = Mend("shapes that cannot be drawn are left out", _delete(element))
    for origin in element.findall("origin"):
        for error in gather(_check_origin, source, origin):
            yield source.error(origin, error.fault.text, mend=error.mend or out)
    geometry = element.find("geometry")
    shapes = [] if geometry is None else geometry.findall("*")
    if not shapes or shapes[0].tag not in _SHAPES:
        found = element_name(shapes[0]) if shapes else "nothing"
        yield source.error(element, f"<geometry> holds {found}; it needs one of {listed(_SHAPES)}",
                           mend=out)
        return
    shape = shapes[0]
    try:
        _check_size(source, shape)
    except ElementError as error:
        yield source.error(shape, error.fault.text, mend=error.mend or out)


def _check_size(source: Source, shape: Element) -> None:
    if shape.tag == "mesh":
        if not shape.get("filename"):
            raise source.error(shape, "filename= is missing; name the mesh")
        scale = shape.get("scale", "1 1 1")
        if len(words := scale.split()) == 4:
            # the parser would drop the whole link
            raise source.error(shape, f"scale={scale!r} has four numbers", mend=Mend(
                "a scale of four numbers: the first three are used",
                lambda: shape.set("scale", " ".join(words[:3]))))
        source.triple(shape, "scale", None)
    elif min(_sizes(source, shape)) < 0:
        raise source.error(shape, f"{min(_sizes(source, shape))} is a negative size; use a "
                                  "positive length in metres")


def _sizes(source: Source, shape: Element) -> tuple[float, ...]:
    """Lengths [m] of a box, sphere, cylinder or capsule."""
    if shape.tag == "box":
        return source.triple(shape, "size")
    return tuple(source.number(shape, attribute) for attribute in _SHAPES[shape.tag])


def _check_materials(source: Source) -> Iterator[ElementError]:
    seen: dict[str, Element] = {}
    for material in source.root.findall("material"):
        out = Mend("materials that cannot be used are left out", _delete(material))
        name = material.get("name")
        if not name:
            yield source.error(material, 'a material needs a name: <material name="...">', mend=out)
        elif name in seen:
            yield source.error(material, f"the material {name!r} is defined on line "
                                         f"{seen[name].sourceline} already; delete one", mend=out)
        elif material.find("color") is None and material.find("texture") is None:
            yield source.error(material, 'has neither <color rgba="..."/> nor <texture>; give it '
                                         "one or delete it", mend=out)
        else:
            seen[name] = material
    for material in source.root.iterfind("link/visual/material"):
        if material.get("name") is None:
            yield source.error(material, "a material needs a name, or the whole link is dropped: "
                                         '<material name="...">',
                               mend=Mend("materials that cannot be used are left out",
                                         _delete(material)))
    for color in (*source.root.iterfind("material/color"),
                  *source.root.iterfind("link/visual/material/color")):
        for error in gather(_check_color, source, color):
            yield source.error(color, error.fault.text, mend=error.mend or Mend(
                "a colour that is none is grey", _setting(color, "rgba", "0.5 0.5 0.5 1")))


def _check_color(source: Source, color: Element) -> None:
    source.numbers(color, "rgba", 4)


def _find_oddities(source: Source) -> list[Notice]:
    """Shapes that are ignored or have no size; one notice for each kind."""
    second, empty = [], []
    for element in (*source.root.iterfind("link/visual"), *source.root.iterfind("link/collision")):
        first, *more = element.findall("geometry/*")
        second += [source.at(other) for other in more[:1]]
        if first.tag != "mesh" and element.tag == "collision" and min(_sizes(source, first)) == 0:
            empty.append(source.at(first))
    kinds = ((NoticeKind.SECOND_SHAPE, second, "a second shape in one <geometry> is ignored"),
             (NoticeKind.EMPTY_SHAPE, empty, "a collision shape has size 0"))
    return [Notice(kind, f"{listed(places, 5)}: {text}") for kind, places, text in kinds if places]
