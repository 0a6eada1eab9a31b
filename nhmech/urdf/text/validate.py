"""Faults that Pinocchio would accept silently or reject without a reason: refused here with file,
line, element and remedy."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import FEW, did_you_mean, listed
from ..notice import Notice
from ..validate_inertia import check_inertial
from .capsules import split_capsules
from .fault import Element, ElementError, Fault, Mend, collect_errors, faulty_file, mend
from .macros import uncalled_error
from .source import Source, link_at
from .validate_joint import Elements, check_joint
from .validate_looks import check_materials, check_shape, find_oddities
from .xacro_file import has_expression, is_xacro

_ROUNDS = 4       # of mending: what is mended may show what it hid


def validate(source: Source) -> tuple[tuple[Fault, ...], list[Notice]]:
    """Checks a whole description and mends what can be mended. Returns these faults, slips of the
    text among them (`nhmech.urdf.describe`, which knows the moving joints, decides which may pass),
    and notices about what is odd but usable."""
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
    found = find_oddities(source)
    split_capsules(source)
    return tuple(mended), found


def _find_errors(source: Source) -> Iterator[ElementError]:
    root = source.root
    for element in root.iter("*"):
        yield from collect_errors(_check_expanded, source, element)
    if not root.get("name"):
        yield source.error(root, 'a robot needs a name: <robot name="my_robot">',
                           mend=Mend("a robot without a name", lambda: root.set("name", "robot")))
    elif not root.get("name", "").isprintable():
        yield _unshowable_name(source, root)
    links, joints = (NamedElements(source, tag) for tag in ("link", "joint"))
    yield from (*links.errors, *joints.errors)
    if not links.elements:
        yield source.error(root, "there is no <link> in it; a robot has at least one")
        return
    # joints whose ends are known make a tree
    connected: dict[str, Element] = {}
    for name, joint in joints.elements.items():
        yield from check_joint(source, joint, joints.elements)
        loose = list(collect_errors(_check_ends, source, joint, links.elements))
        yield from loose
        if not loose:
            connected[name] = joint
    if len(connected) == len(root.findall("joint")) and not links.errors:
        yield from collect_errors(_check_tree, source, links.elements, connected)
    for link in links.elements.values():
        for element in (*link.findall("visual"), *link.findall("collision")):
            yield from collect_errors(check_shape, source, element)
        inertials = link.findall("inertial")
        for second in inertials[1:]:
            yield source.error(second, "a link has one <inertial>; merge the two")
        for inertial in inertials:
            yield from check_inertial(source, inertial)
    yield from check_materials(source)


def _check_expanded(source: Source, element: Element) -> None:
    if is_xacro(element):
        raise source.error(element, "is not expanded; xacro leaves its elements alone where the "
                                    "file declares another namespace for them")
    if has_expression(element):
        raise source.error(element, "holds ${...} or $(...) that xacro did not expand; write its "
                                    "value")


class NamedElements:
    """The links or joints by name, and errors about names that are missing or taken."""

    def __init__(self, source: Source, tag: str) -> None:
        self.elements: dict[str, Element] = {}
        self.errors: list[ElementError] = []
        for element in source.root.findall(tag):
            name = element.get("name")
            if not name or not name.strip():
                self.errors.append(source.error(element,
                                                f'a {tag} needs a name: <{tag} name="...">'))
            elif not name.isprintable():
                self.errors.append(_unshowable_name(source, element))
            elif name in self.elements:
                self.errors.append(source.error(
                    element, f"the name {name!r} is taken by the {tag} on line "
                             f"{self.elements[name].sourceline}; names must differ"))
            else:
                self.elements[name] = element


def _unshowable_name(source: Source, element: Element) -> ElementError:
    """Reports such a name, which breaks the lines of terminals, tables and plots, and which no run
    file accepts."""
    name = element.get("name", "")
    shown = "".join(c for c in name if c.isprintable()) or element.tag
    return source.error(element, f"the name {name!a} has characters that cannot be shown: name it "
                                 f"{shown!r}, wherever it is used")


def _check_ends(source: Source, joint: Element, links: Elements) -> None:
    for end in ("parent", "child"):
        element = joint.find(end)
        if element is None:
            raise source.error(joint, f'<{end} link="..."/> is missing; add it')
        link = element.get("link")
        if link not in links:
            raise source.error(element,
                               f"link {link!r} does not exist; the links are {listed(links)}"
                               + did_you_mean(link, links))


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
                                            f"{listed(map(repr, roots), FEW)}; a robot has "
                                            "one root, so connect the others with joints")
    reached = list(roots)
    for link in reached:
        reached += children.get(link, [])
    if len(reached) < len(links):
        known = set(reached)
        lost = next(name for name in links if name not in known)
        yield source.error(above[lost], f"link {lost!r} is part of a loop that does not reach the "
                                        f"root {roots[0]!r}; cut one joint of it")
