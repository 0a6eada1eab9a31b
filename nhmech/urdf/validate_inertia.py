"""Masses and inertias: of each link, and of each rigid body that fixed links form together."""

from __future__ import annotations

import numpy as np

from .layout import Layout, placement
from .source import Source, element_name, number

_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_SIGN = 1e-6  # of the largest principal moment: below it a negative one is rounding
_TRIANGLE = 0.9  # a true body has I1 + I2 >= I3; ten per cent are rounding and measurement


def check_inertial(source: Source, inertial) -> None:
    """Mass and inertia are there, finite, and no mass is negative. Raises `ModelError`."""
    for tag in ("mass", "inertia"):
        if inertial.find(tag) is None:
            raise source.error(inertial,
                               f"<{tag}> is missing; add it, or delete <inertial> to make the link "
                               "massless")
    mass = inertial.find("mass")
    if number(source, mass, "value") < 0:
        raise source.error(mass, f"mass {mass.get('value')} kg is negative; "
                                 "give the true mass, or 0 for a massless link")
    for entry in _ENTRIES:
        number(source, inertial.find("inertia"), entry)
    placement(source, inertial)


def read_inertia(source: Source, inertial) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass [kg], placement X_LM (4, 4) of the inertial frame, inertia (3, 3) about the centre of
    mass [kg m^2]."""
    entries = {e: number(source, inertial.find("inertia"), e) for e in _ENTRIES}
    rows = [["ixx", "ixy", "ixz"], ["ixy", "iyy", "iyz"], ["ixz", "iyz", "izz"]]
    inertia = np.array([[entries[e] for e in row] for row in rows])
    return number(source, inertial.find("mass"), "value"), placement(source, inertial), inertia


def fault(inertia: np.ndarray) -> str | None:
    """Why no body can have this inertia (3, 3), or None. Zero is a point mass, which is allowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.all(np.isfinite(inertia)):
            return "its numbers are too large to be added"
        moments = np.linalg.eigvalsh(inertia)
    shown = ", ".join(f"{m:.4g}" for m in moments)
    if moments[0] < -_SIGN * max(abs(moments[2]), abs(moments[0])):
        return f"its principal moments are {shown} kg m^2; none may be negative"
    if moments[0] + moments[1] < _TRIANGLE * moments[2] - 1e-15:
        return f"its principal moments are {shown} kg m^2; the largest may not exceed the sum of the others"
    return None


def check_bodies(source: Source) -> list[str]:
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
            why = fault(inertia)
            if why and name == head:
                raise source.error(inertial.find("inertia"),
                                   f"{why}; take the inertia from CAD, or from a box or "
                                                             "cylinder of this mass")
            if why:
                notices.append(f"{source.at(inertial.find('inertia'))}: {why}; used as it is, "
                               "because the body it is fixed to stays possible")
            X = layout.X(head, name) @ X
            parts.append((mass, X[:3, 3], X[:3, :3] @ inertia @ X[:3, :3].T))
        why = fault(_lump(parts))
        if why:
            joined = element_name(layout.links[head])
            raise source.error(layout.links[head], f"{joined} with all links fixed to it: {why}; "
                                                   "correct the inertias of those links")
    return notices


def _lump(parts) -> np.ndarray:
    """Inertia (3, 3) of several bodies about their common centre of mass."""
    total = sum(mass for mass, _, _ in parts)
    if not parts or total <= 0:
        return sum((inertia for _, _, inertia in parts), np.zeros((3, 3)))
    centre = sum(mass * p for mass, p, _ in parts) / total
    lump = np.zeros((3, 3))
    for mass, p, inertia in parts:
        d = p - centre
        lump += inertia + mass * (d @ d * np.eye(3) - np.outer(d, d))
    return lump
