"""Masses and inertias: of each link, and of each rigid body that fixed links form together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .layout import Layout, placement
from .notice import Notice, NoticeKind
from .source import Element, Source, element_name

_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_SIGN = 1e-6  # of the largest principal moment: below it a negative one is rounding
_TRIANGLE = 0.9  # a true body has I1 + I2 >= I3; ten per cent are rounding and measurement


def check_inertial(source: Source, inertial: Element) -> None:
    """Mass and inertia are there, finite, and no mass is negative. Raises `ModelError`."""
    delete = "add it, or delete <inertial> to make the link massless"
    mass, inertia = (source.child(inertial, tag, delete) for tag in ("mass", "inertia"))
    if source.number(mass, "value") < 0:
        raise source.error(mass, f"mass {mass.get('value')} kg is negative; "
                                 "give the true mass, or 0 for a massless link")
    for entry in _ENTRIES:
        source.number(inertia, entry)
    placement(source, inertial)


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


def find_fault(inertia: np.ndarray) -> str | None:
    """Why no body can have this inertia (3, 3), or None. Zero is a point mass, which is allowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.all(np.isfinite(inertia)):
            return "its numbers are too large to be added"
        moments = np.linalg.eigvalsh(inertia)
    shown = ", ".join(f"{m:.4g}" for m in moments)
    found = f"its principal moments are {shown} kg m^2"
    if moments[0] < -_SIGN * max(abs(moments[2]), abs(moments[0])):
        return f"{found}; none may be negative"
    if moments[0] + moments[1] < _TRIANGLE * moments[2] - 1e-15:
        return f"{found}; the largest may not exceed the sum of the others"
    return None


def check_bodies(source: Source) -> list[Notice]:
    """Every rigid body, its fixed links included, has an inertia that a body can have.

    A link that moves or carries the robot must be right by itself; a fixed one whose own numbers
    are impossible is only reported, in a notice, while the body it belongs to stays possible.

    Raises
    ------
    ModelError
        Where a body cannot have its inertia.
    """
    layout = Layout(source)
    notices = []
    for head in layout.links:
        if layout.body(head) != head:
            continue
        parts = []
        for name in layout.rigid(head):
            inertial = layout.links[name].find("inertial")
            if inertial is None:
                continue
            mass, X, inertia = read_inertia(source, inertial)
            if why := find_fault(inertia):
                element = source.child(inertial, "inertia")
                if name == head:
                    raise source.error(element, f"{why}; take the inertia from CAD, or from a box "
                                                "or cylinder of this mass")
                notices.append(Notice(
                    NoticeKind.IMPOSSIBLE_INERTIA,
                    f"{source.at(element)}: {why}; used as it is, because the body it is fixed to "
                    "stays possible"))
            X = layout.X(head, name) @ X
            parts.append((mass, X[:3, 3], X[:3, :3] @ inertia @ X[:3, :3].T))
        if why := find_fault(_lump(parts)):
            link = layout.links[head]
            raise source.error(link, f"{element_name(link)} with all links fixed to it: {why}; "
                                     "correct the inertias of those links")
    return notices


def _lump(parts: Sequence[tuple[float, np.ndarray, np.ndarray]]) -> np.ndarray:
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
