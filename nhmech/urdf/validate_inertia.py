"""Masses and inertias: of each link, and of each rigid body that fixed links form together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from lxml import etree

from ..errors import listed
from .layout import Joint, Layout, placement
from .notice import Notice, NoticeKind
from .remedy import option, suggest
from .text.fault import Element, ElementError, Fault, Mend, collect_errors
from .text.source import Source, name_of
from .wheel import Wheel

_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_PRODUCTS = ("ixy", "ixz", "iyz")
_EVEN = 1e-3   # of the largest entry: an inertia so near to one of revolution is one
_HARM = 0.05   # of a body's inertia: masses in robot descriptions are hardly nearer to the truth
_NAMED = 8     # links that a notice names
_SIGN = 1e-6  # of the largest principal moment: below it a negative one is rounding
_TRIANGLE = 0.9  # a true body has I1 + I2 >= I3; ten per cent are rounding and measurement


class Part(NamedTuple):
    """A link's share in a body, in the root's frame: its inertia (3, 3) about its centre of mass as
    given, and the nearest possible one."""

    mass: float
    centre: np.ndarray
    inertia: np.ndarray
    possible: np.ndarray


def check_inertial(source: Source, inertial: Element) -> Iterator[ElementError]:
    """Mass and inertia are there, finite, and no mass is negative."""
    advice = "is missing; add it, or delete <inertial> to make the link massless"
    if inertial.find("mass") is None:
        yield source.error(inertial, f"<mass> {advice}", mend=Mend(
            "an <inertial> without <mass> is ignored",
            lambda: inertial.getparent().remove(inertial)))
    elif inertial.find("inertia") is None:
        yield source.error(inertial, f"<inertia> {advice}", mend=Mend(
            "a mass without <inertia> is a point mass",
            lambda: write_inertia(inertial, np.zeros((3, 3)))))
    yield from collect_errors(_check_placement, source, inertial)
    for mass in inertial.findall("mass")[:1]:
        yield from collect_errors(_check_mass, source, mass)
    for inertia in inertial.findall("inertia")[:1]:
        for entry in _ENTRIES:
            yield from collect_errors(_check_entry, source, inertia, entry)


def _check_placement(source: Source, inertial: Element) -> None:
    placement(source, inertial)


def _check_mass(source: Source, mass: Element) -> None:
    if source.number(mass, "value") < 0:
        raise source.error(mass, f"mass {mass.get('value')} kg is negative; "
                                 "give the true mass, or 0 for a massless link")


def _check_entry(source: Source, inertia: Element, entry: str) -> None:
    if inertia.get(entry) is None and entry in _PRODUCTS:
        raise source.error(inertia, f"{entry}= is missing; a product of inertia is mostly 0",
                           mend=Mend("missing products of inertia are 0",
                                     lambda: inertia.set(entry, "0")))
    source.number(inertia, entry)


def read_inertia(source: Source, inertial: Element) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass [kg], placement X_LM (4, 4) of the inertial frame, and inertia (3, 3) about the centre
    of mass in it [kg m^2] of an `<inertial>`."""
    element = source.child(inertial, "inertia")
    xx, xy, xz, yy, yz, zz = (source.number(element, entry) for entry in _ENTRIES)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    mass = source.number(source.child(inertial, "mass"), "value")
    return mass, placement(source, inertial), inertia


def write_inertia(inertial: Element, inertia: np.ndarray) -> None:
    """Put an inertia (3, 3) about the centre of mass [kg m^2] into an `<inertial>`."""
    element = inertial.find("inertia")
    if element is None:
        element = etree.SubElement(inertial, "inertia")
    for entry, (i, j) in zip(_ENTRIES, ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        element.set(entry, repr(float(inertia[i, j])))


def find_fault(inertia: np.ndarray) -> str | None:
    """The reason why no body can have this inertia (3, 3), or None. Zero is a point mass, which is
    allowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.all(np.isfinite(inertia)):
            return "its numbers are too large"
        moments = np.linalg.eigvalsh(inertia)
    found = f"its principal moments are {_show(moments)} kg m^2"
    if moments[0] < -_SIGN * np.abs(moments).max():
        return f"{found}; none may be negative"
    if moments[0] + moments[1] < _TRIANGLE * moments[2] - 1e-15:
        return f"{found}; the largest may not exceed the sum of the others"
    return None


def nearest_possible(inertia: np.ndarray) -> tuple[np.ndarray, float]:
    """The possible inertia (3, 3) nearest to an impossible one, and their distance relative to its
    size.

    An inertia is possible if the second moments of mass about the centre of mass, the integral of p
    p^T dm = tr(I)/2 - I, are positive semi-definite: the matrix that, with mass and first moments,
    makes up the pseudo-inertia (Wensing, Kim, Slotine, IEEE Robotics and Automation Letters 3
    (2018), eq. (14)). The nearest in the Frobenius norm, at the same mass and centre of mass, has
    its negative eigenvalues replaced by zero.
    """
    second = np.trace(inertia) / 2 * np.eye(3) - inertia
    values, axes = np.linalg.eigh(second)
    nearest = axes @ np.diag(np.maximum(values, 0.0)) @ axes.T
    moved = float(np.linalg.norm(nearest - second) / max(float(np.linalg.norm(second)), 1e-300))
    return np.trace(nearest) * np.eye(3) - nearest, moved


def repair_inertias(source: Source) -> list[Notice]:
    """Move every link's inertia that no body can have to the nearest possible one."""
    moved = []
    for name, inertial in _inertials(source):
        _, _, inertia = read_inertia(source, inertial)
        if find_fault(inertia) is None:
            continue
        nearest, distance = nearest_possible(inertia)
        write_inertia(inertial, nearest)
        before, after = (np.linalg.eigvalsh(each) for each in (inertia, nearest))
        moved.append(f"{name} ({_show(before)} -> {_show(after)} kg m^2, "
                     f"moved by {100 * distance:.2g} %)")
    if not moved:
        return []
    return [Notice(NoticeKind.REPAIR, "inertias that no body can have; repaired: their principal "
                                      "moments are moved to the nearest possible ones: "
                                      f"{listed(moved, _NAMED)}")]


def check_bodies(layout: Layout, moving: Sequence[str], wheels: Sequence[Wheel]
                 ) -> tuple[list[Fault], list[Notice]]:
    """Faults of links whose impossible inertias affect the rigid bodies that move, and notices
    about the others; joints that do not move are where they are held.

    The equations of motion depend only on the sum over the links of a body, and not on how the part
    of a wheel of revolution about its axle is shared with its carrier. A link with impossible
    numbers is used as it is, and reported, if that sum is possible and hardly changes when the
    link's inertia is moved to the nearest possible one.
    """
    heads = {layout.joints[name].child for name in moving} | {layout.root}
    bodies: dict[str, list[Part]] = {head: [] for head in heads}
    odd: dict[str, tuple[str, str]] = {}
    for name, inertial in _inertials(layout.source):
        head = _head(layout, name, heads)
        mass, X, inertia = read_inertia(layout.source, inertial)
        possible = inertia
        if why := find_fault(inertia):
            odd[name] = head, why
            possible = nearest_possible(inertia)[0]
        X = layout.X_RL[name] @ X
        R = X[:3, :3]
        bodies[head].append(Part(mass, X[:3, 3], R @ inertia @ R.T, R @ possible @ R.T))
    for wheel in wheels:
        if wheel.joint in layout.joints:
            joint = layout.joints[wheel.joint]
            carrier = _share(layout, joint, bodies)
            odd = {name: (carrier if head == joint.child else head, why)
                   for name, (head, why) in odd.items()}
    changes, wrong = {}, {}
    for head, parts in bodies.items():
        given, nearest = _lump(parts), _lump(parts, possible=True)
        size = float(np.linalg.norm(nearest))
        changes[head] = float(np.linalg.norm(nearest - given)) / size if size > 0 else 0.0
        if (why := find_fault(given)) or changes[head] > _HARM:
            wrong[head] = why, find_fault(nearest) is None
    faults = []
    for head, (why, is_cured) in wrong.items():
        links = {name: own for name, (body, own) in odd.items() if body == head}
        if not links:
            is_cured, links = False, {head: f"{why}; it is the sum of the links that move as one"}
        faults += [_describe_inertia(layout, name, own, changes[head], is_cured)
                   for name, own in links.items()]
    harmless = {name: (head, own) for name, (head, own) in odd.items() if head not in wrong}
    if not harmless:
        return faults, []
    first = next(iter(harmless))
    most = max(changes[head] for head, _ in harmless.values())
    return faults, [Notice(
        NoticeKind.IMPOSSIBLE_INERTIA,
        f"{listed(harmless, _NAMED)}: no body can have this inertia (of {first}, "
        f"{harmless[first][1]}); used as it is, because the nearest possible one would change that "
        f"of what moves as one with it by {100 * most:.1g} % only",
        suggest("Have it replaced by ", option("repair", True)))]


def _describe_inertia(layout: Layout, link: str, why: str, change: float, is_cured: bool) -> Fault:
    """The fault of a link whose inertia matters."""
    source, inertia = layout.source, layout.links[link].find("inertial/inertia")
    matters = (f"; the nearest possible one changes that of what moves as one with it by "
               f"{100 * change:.2g} %" if change > _HARM else "")
    error = source.error(layout.links[link] if inertia is None else inertia,
                         f"{why}{matters}; take the inertia from CAD, or from a box or cylinder "
                         "of this mass")
    return replace(error.fault, what="an inertia that no body can have" if is_cured else "")


def _share(layout: Layout, joint: Joint, bodies: dict[str, list[Part]]) -> str:
    """Assigns the inertia of a wheel of revolution to its carrier, except that of a thin disc about
    the axle, which the nearest possible inertia leaves as it is. Returns the link of the body that
    has it then."""
    wheel = bodies[joint.child]
    mass, centre = _centre(wheel)
    if not mass > 0:
        return joint.child
    axis = layout.axis_R(joint)
    arm = np.cross(axis, centre - layout.X_RL[joint.child][:3, 3])
    rests = []
    for inertia in (_lump(wheel), _lump(wheel, possible=True)):
        axial = float(axis @ inertia @ axis)
        across = float(np.trace(inertia) - axial) / 2
        even = across * np.eye(3) + (axial - across) * np.outer(axis, axis)
        size = _EVEN * np.abs(inertia).max()
        if axial < 0 or np.abs(inertia - even).max() > size or mass * (arm @ arm) > size:
            return joint.child
        rests.append((across - axial / 2) * (np.eye(3) - np.outer(axis, axis)))
    carrier = _head(layout, joint.parent, bodies)
    bodies[carrier].append(Part(mass, centre, *rests))
    bodies[joint.child] = []
    return carrier


def _head(layout: Layout, link: str, heads: Collection[str]) -> str:
    """The link of the body that another is part of."""
    while link not in heads:
        link = layout.above[link].parent
    return link


def _inertials(source: Source) -> list[tuple[str, Element]]:
    """Links with an `<inertial>`, by name."""
    return [(name_of(link), inertial) for link in source.root.findall("link")
            for inertial in link.iterfind("inertial")]


def _show(moments: np.ndarray) -> str:
    return ", ".join(f"{moment:.4g}" for moment in moments)


def _centre(parts: Sequence[Part]) -> tuple[float, np.ndarray]:
    """Mass and centre of mass (3,)."""
    total = sum(part.mass for part in parts)
    if not total > 0:
        return 0.0, np.zeros(3)
    return total, sum((part.mass * part.centre for part in parts), np.zeros(3)) / total


def _lump(parts: Sequence[Part], possible: bool = False) -> np.ndarray:
    """Inertia (3, 3) of several parts about their common centre of mass, given or possible."""
    _, centre = _centre(parts)
    lump = np.zeros((3, 3))
    for part in parts:
        d = part.centre - centre
        lump += part.possible if possible else part.inertia
        lump += part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return lump
