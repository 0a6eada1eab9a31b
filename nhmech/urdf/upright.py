"""Roots whose z axis does not point up, as optical frames and those of many CAD programs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pinocchio as pin

from ..errors import ModelError, NhmechError
from .description import Description
from .layout import to_words
from .notice import NoticeKind

# a robot of which a notice says one of these does not stand as it was meant to
_DOUBTS = {NoticeKind.FREE_PITCH, NoticeKind.ROLLS_SIDEWAYS, NoticeKind.NO_SUPPORT,
           NoticeKind.NO_ROLLING, NoticeKind.HANDLE, NoticeKind.UPSIDE_DOWN}
_AXES = {f"{sign}{name}": -axis if sign else axis
         for name, axis in zip("xyz", np.eye(3), strict=True) for sign in ("", "-")}


class NothingStands(ModelError):
    """No wheel is found, or nothing supports those that are: perhaps something else is up."""


def advise_upright(root: str, attempt: Callable[[str], Description]) -> str:
    """The advice for a robot that stands only with another axis of its root up; empty if it stands
    with none, or with several. `attempt` reads it on a root that carries it with an rpy."""
    found: dict[str, str] = {}
    for (up, z), (_, x) in product(_AXES.items(), list(_AXES.items())[::2]):
        if z[2] == 1.0 or z @ x != 0.0:
            continue
        rpy = to_words(pin.rpy.matrixToRpy(np.array([x, np.cross(z, x), z])))
        try:
            description = attempt(rpy)
        except NhmechError:
            continue
        if not _DOUBTS & {notice.kind for notice in description.notices}:
            found.setdefault(up, rpy)
    if len(found) != 1:
        return ""
    [(up, rpy)] = found.items()
    return f". It stands if {up} of {root!r} is up, and z of a root has to be: {carry(root, rpy)}"


def carry(root: str, rpy: str) -> str:
    """The advice to turn a root."""
    return f'let a root of your own carry {root!r} by a fixed joint with rpy="{rpy}"'
