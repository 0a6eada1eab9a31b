"""Wheels of one axle whose axes point opposite ways, so that equal speeds turn them against each
other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ...errors import listed
from ..layout import Layout, to_words
from ..notice import Notice, NoticeKind
from ..wheel import Wheel
from .axle_lines import angle_between, group_by_axle
from .stance import centre_R

_CROSSED = 0.1       # sine of the angle between axles that are on different lines
_LATERAL = 1e-6      # of a unit axle: a smaller part along y is rounding, and its x counts


def report_opposed(layout: Layout, wheels: Sequence[Wheel],
                   steering: Collection[str]) -> list[Notice]:
    """A notice about wheels of one body and one axle that a positive speed rolls backwards, where
    others on it roll forwards: meant where motors are mirrored, and a slip in many a file."""
    bodies: dict[tuple[str, ...], list[Wheel]] = {}
    for wheel in wheels:
        if wheel.joint is not None:
            above = tuple(j.name for j in layout.path(layout.carrier(wheel)) if j.name in steering)
            bodies.setdefault(above, []).append(wheel)
    back: list[str] = []
    ahead: list[str] = []
    groups = [group for group in bodies.values() if not _is_star(layout, group)]
    for line in (line for group in groups for line in group_by_axle(layout, group)):
        ways = {wheel.name: _rolls_ahead(layout, wheel) for wheel in line}
        if len(set(ways.values())) > 1:
            back += [name for name, way in ways.items() if not way]
            ahead += [name for name, way in ways.items() if way]
    if not back:
        return []
    rolls = "rolls" if len(back) == 1 else "roll"
    axis = to_words(-layout.joints[back[0]].axis)
    return [Notice(NoticeKind.OPPOSED_AXES,
                   f"{listed(back)}: {rolls} backwards at a positive speed, {listed(ahead)} on the "
                   "same axle forwards, for their axes point opposite ways. If all should roll the "
                   f'same way: <axis xyz="{axis}"/> in {back[0]}')]


def _is_star(layout: Layout, group: Sequence[Wheel]) -> bool:
    """Whether axles on different lines all point out of their middle, or all into it."""
    middle = np.mean([centre_R(layout, w) for w in group], axis=0)
    out = {bool(layout.axis_R(layout.joints[w.name]) @ (centre_R(layout, w) - middle) > 0)
           for w in group}
    return len(out) == 1 and any(angle_between(layout, w, group[0]) > _CROSSED for w in group)


def _rolls_ahead(layout: Layout, wheel: Wheel) -> bool:
    """Whether a positive speed rolls it forward, or to the left where its axle lies along x."""
    x, y, _ = layout.axis_R(layout.joints[wheel.name])
    return bool(y > 0 if abs(y) > _LATERAL else x < 0)
