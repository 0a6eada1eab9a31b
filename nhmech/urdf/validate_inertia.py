"""Masses and inertias: of each link, and of each rigid body that fixed links form together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from lxml import etree

from ..errors import listed
from .fault import Element, ElementError, Fault, Mend, element_name, gather
from .layout import Layout, placement
from .notice import Notice, NoticeKind
from .remedy import option, suggest
from .source import Source, name_of

Part = tuple[float, np.ndarray, np.ndarray]     # mass, centre of mass (3,), inertia about it (3, 3)

_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_PRODUCTS = ("ixy", "ixz", "iyz")
_EVEN = 1e-3   # of the largest entry: an inertia so near to one of revolution is one
_NAMED = 8     # links that a notice names
_SIGN = 1e-6  # of the largest principal moment: below it a negative one is rounding
_TRIANGLE = 0.9  # a true body has I1 + I2 >= I3; ten per cent are rounding and measurement


def check_inertial(source: Source, inertial: Element) -> Iterator[ElementError]:
    """Mass and inertia are there, finite, and no mass is negative."""
    missing = [tag for tag in ("mass", "inertia") if inertial.find(tag) is None]
    for tag in missing:
        yield source.error(inertial, f"<{tag}> is missing; add it, or delete <inertial> to make "
                                     "the link massless")
    yield from gather(_check_placement, source, inertial)
    for mass in inertial.findall("mass")[:1]:
        yield from gather(_check_mass, source, mass)
    for inertia in inertial.findall("inertia")[:1]:
        for entry in _ENTRIES:
            yield from gather(_check_entry, source, inertia, entry)


def _check_placement(source: Source, inertial: Element) -> None:
    placement(source, inertial)


def _check_mass(source: Source, mass: Element) -> None:
    if source.number(mass, "value") < 0:
        raise source.error(mass, f"mass {mass.get('value')} kg is negative; "
                                 "give the true mass, or 0 for a massless link")


def _check_entry(source: Source, inertia: Element, entry: str) -> None:
    if inertia.get(entry) is None and entry in _PRODUCTS:
        raise source.error(inertia, f"{entry}= is missing; a product of inertia is mostly 0",
                           mend=Mend("products of inertia that are missing are 0",
                                     lambda: inertia.set(entry, "0")))
    source.number(inertia, entry)


def read_inertia(source: Source, inertial: Element) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass and inertia of an `<inertial>`.

    Returns
    -------
    mass
        [kg]
    X_LM
        Placement (4, 4) of the inertial frame.
    inertia
        (3, 3) about the centre of mass, in the inertial frame [kg m^2].
    """
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
    """Why no body can have this inertia (3, 3), or None. Zero is a point mass, which is allowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.all(np.isfinite(inertia)):
            return "its numbers are too large to be added"
        moments = np.linalg.eigvalsh(inertia)
    found = f"its principal moments are {_show(moments)} kg m^2"
    if moments[0] < -_SIGN * max(abs(moments[2]), abs(moments[0])):
        return f"{found}; none may be negative"
    if moments[0] + moments[1] < _TRIANGLE * moments[2] - 1e-15:
        return f"{found}; the largest may not exceed the sum of the others"
    return None


def nearest_possible(inertia: np.ndarray) -> tuple[np.ndarray, float]:
    """The inertia (3, 3) of a body that is nearest to one that none can have, and how far it is.

    A body is possible where its second moments of mass about the centre of mass, the integral of
    p p^T dm = tr(I)/2 - I, are positive semi-definite: the matrix that, with mass and first
    moments, makes up the pseudo-inertia [1]_. The nearest of those in the Frobenius norm, mass and
    centre of mass being kept, has its negative eigenvalues replaced by zero.

    Returns
    -------
    inertia
        (3, 3) [kg m^2], in the same frame.
    distance
        Between the second moments, over the size of the given ones.

    References
    ----------
    .. [1] Wensing, Kim, Slotine: Linear matrix inequalities for physically consistent inertial
       parameter identification, IEEE Robotics and Automation Letters 3 (2018), eq. (14).
    """
    second = np.trace(inertia) / 2 * np.eye(3) - inertia
    values, axes = np.linalg.eigh(second)
    nearest = axes @ np.diag(np.maximum(values, 0.0)) @ axes.T
    moved = float(np.linalg.norm(nearest - second) / max(np.linalg.norm(second), 1e-300))
    return np.trace(nearest) * np.eye(3) - nearest, moved


def repair_inertias(source: Source) -> list[Notice]:
    """Move every link's inertia that no body can have to the nearest possible one."""
    moved = []
    for name, inertial in _inertials(source):
        _, _, inertia = read_inertia(source, inertial)
        if find_fault(inertia) is None or not np.all(np.isfinite(inertia)):
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


def check_bodies(layout: Layout, moving: Sequence[str], rolling: Sequence[str]
                 ) -> tuple[list[Fault], list[Notice]]:
    """Every rigid body has an inertia that a body can have, locked and fixed links included.

    The equations of motion depend on the sum over the links of a body alone, and not on how what
    is about the axle of a wheel of revolution is shared out between it and its carrier: a link
    whose own numbers are impossible is used as it is where that sum is possible, and reported.

    Parameters
    ----------
    layout
        The robot; joints that do not move stand where they are held.
    moving
        Joints that move.
    rolling
        Those of them that are wheels'.

    Returns
    -------
    faults
        Bodies whose equations are those of no possible robot.
    notices
        About links whose numbers are impossible by themselves.
    """
    heads = {layout.joints[name].child: name for name in moving} | {layout.root: ""}
    parts: dict[str, list[Part]] = {head: [] for head in heads}
    odd: dict[str, tuple[str, str]] = {}
    for name, inertial in _inertials(layout.source):
        head = name
        while head not in heads:
            head = layout.above[head].parent
        mass, X, inertia = read_inertia(layout.source, inertial)
        if why := find_fault(inertia):
            odd[name] = head, why
        X = layout.X_RL[name] @ X
        parts[head].append((mass, X[:3, 3], X[:3, :3] @ inertia @ X[:3, :3].T))
    for name in rolling:
        _share(layout, name, heads, parts)
    bad = {head: why for head, those in parts.items() if (why := find_fault(_lump(those)))}
    faults = [_describe_body(layout, head, why, [n for n, (body, _) in odd.items() if body == head])
              for head, why in bad.items()]
    harmless = {name: why for name, (head, why) in odd.items() if head not in bad}
    if not harmless:
        return faults, []
    first = next(iter(harmless))
    return faults, [Notice(
        NoticeKind.IMPOSSIBLE_INERTIA,
        f"{listed(harmless, _NAMED)}: no body can have this inertia"
        f"{f' (of {first}, {harmless[first]})' if len(harmless) > 1 else f': {harmless[first]}'}; "
        "used as it is, because what moves as one with it has a possible one",
        suggest("Have it moved to the nearest possible one by ", option("repair", True)))]


def _describe_body(layout: Layout, head: str, why: str, odd: Sequence[str]) -> Fault:
    source = layout.source
    named = next(iter(odd), head)
    inertia = layout.links[named].find("inertial/inertia")
    element = layout.links[head] if inertia is None else inertia
    whole = "" if [head] == list(odd) and len(layout.rigid(head)) == 1 else (
        f"{element_name(layout.links[head])} with all links that move as one with it: ")
    advice = ("take the inertia from CAD, or from a box or cylinder of this mass"
              if len(odd) < 2 else f"correct the inertias of {listed(odd, _NAMED)}")
    error = source.error(element, f"{whole}{why}; {advice}")
    return replace(error.fault, what="an inertia that no body can have")


def _share(layout: Layout, name: str, heads: Mapping[str, str],
           parts: dict[str, list[Part]]) -> None:
    """Count a wheel that is one of revolution to its carrier, but for the moment about its axle."""
    joint = layout.joints[name]
    wheel = parts[joint.child]
    mass = sum(m for m, _, _ in wheel)
    if not mass > 0:
        return
    inertia, axis = _lump(wheel), layout.axis_R(joint)
    centre = sum((m * p for m, p, _ in wheel), np.zeros(3)) / mass
    off = np.cross(axis, centre - layout.X_RL[joint.child][:3, 3])
    axial = float(axis @ inertia @ axis)
    across = float(np.trace(inertia) - axial) / 2
    even = across * np.eye(3) + (axial - across) * np.outer(axis, axis)
    size = np.abs(inertia).max()
    if axial < 0 or np.abs(inertia - even).max() > _EVEN * size or mass * (off @ off) > _EVEN * size:
        return
    head = joint.parent
    while head not in heads:
        head = layout.above[head].parent
    parts[head].append((mass, centre, even))
    # by itself it is then a thin rim, which is possible
    parts[joint.child] = [(mass, centre, axial * (np.eye(3) + np.outer(axis, axis)) / 2)]


def _inertials(source: Source) -> list[tuple[str, Element]]:
    """Links with an `<inertial>`, by name."""
    return [(name_of(link), inertial) for link in source.root.findall("link")
            for inertial in link.findall("inertial")[:1]]


def _show(moments: np.ndarray) -> str:
    return ", ".join(f"{moment:.4g}" for moment in moments)


def _lump(parts: Sequence[Part]) -> np.ndarray:
    """Inertia (3, 3) of several bodies about their common centre of mass."""
    total = sum(mass for mass, _, _ in parts)
    if total <= 0:
        return sum((inertia for _, _, inertia in parts), np.zeros((3, 3)))
    centre = sum((mass * p for mass, p, _ in parts), np.zeros(3)) / total
    lump = np.zeros((3, 3))
    for mass, p, inertia in parts:
        d = p - centre
        lump += inertia + mass * (d @ d * np.eye(3) - np.outer(d, d))
    return lump
