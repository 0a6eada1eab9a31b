"""Plugins and controllers that take left wheels for right ones, or tell another distance of them:
they turn a robot against the command, or by another angle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import listed
from ..elements import Sides
from ..layout import Layout
from ..notice import Notice, NoticeKind
from ..wheel import Wheel
from .stance import axle_R, centre_R, on_one_axle

_OTHER = 0.1      # of the distance of two sides: another value differs by more
_ASIDE = 0.5      # of the distance of two sides: what is less to the left is not beside


def report_sides(layout: Layout, wheels: Sequence[Wheel]) -> list[Notice]:
    """Notices about elements whose sides are not where the wheels are."""
    rolling = {wheel.name: wheel for wheel in wheels if wheel.joint is not None}
    return [notice for sides in layout.elements.sides
            for notice in _report(layout, sides, *([rolling[name] for name in side
                                                    if name in rolling]
                                                   for side in (sides.left, sides.right)))]


def _report(layout: Layout, sides: Sides, left: Sequence[Wheel],
            right: Sequence[Wheel]) -> list[Notice]:
    if not left or not right:
        return []
    apart = np.subtract(*(np.mean([centre_R(layout, w) for w in side], axis=0)
                          for side in (left, right)))
    size = float(np.linalg.norm(apart))
    notices = []
    ahead = {bool(axle_R(layout, wheel) @ apart > 0) for wheel in (*left, *right)}
    # axles that all point to the told left make a robot whose front is where its -x is
    if apart[1] < -_ASIDE * size and ahead != {True}:
        notices.append(Notice(
            NoticeKind.OTHER_SIDES,
            f"{layout.source.at(sides.element)}: takes {_places(layout, left)} for left and "
            f"{_places(layout, right)} for right, but y points to the left: a command to turn "
            "left turns the robot right; exchange them"))
    told = sides.separation
    # wheels one behind the other scrub, and their separation is tuned to that
    if (told is not None and sides.apart is not None and on_one_axle(layout, (*left, *right))
            and abs(told - size) > _OTHER * size):
        notices.append(Notice(
            NoticeKind.OTHER_SEPARATION,
            f"{layout.source.at(sides.apart)}: tells {told:g} m between left and right wheels, but "
            f"{listed(w.name for w in left)} and {listed(w.name for w in right)} are {size:.4g} m "
            f"apart: a command turns the robot by {told / size:.3g} times its angle"))
    return notices


def _places(layout: Layout, wheels: Sequence[Wheel]) -> str:
    return listed(f"{wheel.name} (y = {centre_R(layout, wheel)[1]:.4g} m)" for wheel in wheels)
