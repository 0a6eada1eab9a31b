"""What a user should know of the way that wheels were found to bear and roll a robot."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

import numpy as np

from ...errors import listed
from ..layout import Layout, LinkShape, matches_name, to_triple
from ..notice import Notice, NoticeKind
from ..remedy import option, suggest
from ..upright import carry
from ..wheel import Wheel
from .radii import find_wheel_rim
from .rims import equal_rims, read_vertices
from .stance import (
    ahead_of,
    allowance,
    axle_R,
    centre_of_mass,
    centre_R,
    ground_height,
    on_one_axle,
    usual_radius,
)

_BALL = 0.2        # of the usual radius: a caster that the file does not have
_AHEAD = 2.0       # usual radii before the axle: where one is, if not twice as far as the centre
_WORLD = "^(world|map|odom|earth|ground)$"
_ACROSS = 0.5 ** 0.5   # of a unit axle: its part along x from which wheels roll across x


def check_single(layout: Layout) -> None:
    """Raises `ModelError` where bodies stand side by side on a link that is called world: several
    robots, or a robot and a table, would roll as one."""
    if not matches_name(_WORLD, layout.root):
        return
    bodies = list(dict.fromkeys(
        layout.path(link)[0].child for link in layout.links
        if link != layout.root and layout.mass(link) > 0))
    if len(bodies) > 1:
        raise layout.source.error(
            layout.above[bodies[1]].element,
            f"{listed(bodies)} stand side by side on {layout.root!r}, so they would roll as one "
            "body: keep one robot in the file, without what stands beside it, or, where they are "
            "one body, give the link that carries them another name")


def report_bearing(layout: Layout, wheels: Sequence[Wheel],
                   steering: Collection[str]) -> Iterator[Notice]:
    """Notices about a robot whose pitch is free, one that is upside down, wheels that overlap, and
    one that rolls across its own x axis."""
    yield from _report_upside_down(layout, wheels)
    if len(wheels) > 1 and on_one_axle(layout, wheels):
        ball = _missing_caster(layout, wheels)
        yield Notice(
            NoticeKind.FREE_PITCH,
            "all contacts are under one axle: nothing supports the vehicle before or behind it, "
            "its pitch is free", suggest(
                "If it has a caster that the file does not show: ",
                option("wheels", [*wheels, ball]), " (check where it touches)"))
    yield from _report_shafts(layout, wheels)
    yield from _report_overlap(layout, wheels)
    rolling = [w for w in wheels if w.joint is not None and w.axis is not None
               and w.traits.held and not w.traits.has_rollers
               and not any(j.name in steering for j in layout.path(layout.carrier(w)))]
    if len(rolling) > 1 and all(abs(axle_R(layout, w)[0]) > _ACROSS for w in rolling):
        yield Notice(
            NoticeKind.ROLLS_SIDEWAYS,
            f"the wheels roll along y of {layout.root!r}, across its x axis, which forward means: "
            "the forward speed of a twist is not driven, its lateral speed is. For x ahead, "
            f"{carry(layout.root, '0 0 -1.5707963')}")


def _report_upside_down(layout: Layout, wheels: Sequence[Wheel]) -> Iterator[Notice]:
    """A notice about a robot whose bodies reach below the ground, and none of which is higher than
    its wheels: with z down, all of them would be above the ground."""
    rolling = [w for w in wheels if w.joint is not None and w.radius > 0]
    if not rolling:
        return
    top = max(centre_R(layout, w)[2] + w.radius for w in rolling)
    rotors = {link for w in rolling for link in layout.rigid(layout.carrier(w))}
    shapes = [shape for link in layout.links if link not in rotors
              for tag in ("collision", "visual") for shape in layout.shapes(link, tag=tag)]
    lowest = np.inf
    for shape in sorted(shapes, key=lambda s: s.kind == "mesh"):      # files are read last
        low, high = _height_range(layout, shape)
        if not high <= top:
            return
        lowest = min(lowest, low)
    depth = ground_height(layout, rolling) - lowest
    usual = usual_radius(rolling)
    if depth > allowance(usual, usual):
        yield Notice(
            NoticeKind.UPSIDE_DOWN,
            f"the bodies reach {depth:.4g} m below the ground, and none is higher than the wheels: "
            f"if z of {layout.root!r} points down, {carry(layout.root, '3.1415927 0 0')}; if not, "
            "correct the heights of the wheels")


def _height_range(layout: Layout, shape: LinkShape) -> tuple[float, float]:
    """Heights of the lowest and the highest point of a shape in the root's frame [m]; NaN if it
    cannot be read."""
    up = (layout.X_RL[shape.link] @ shape.X_LS)[2]
    if shape.kind == "mesh":
        vertices = read_vertices(layout, shape)
        if vertices is None:
            return np.nan, np.nan
        heights = vertices @ layout.X_RL[shape.link][2, :3] + layout.X_RL[shape.link][2, 3]
        return float(heights.min()), float(heights.max())
    half = np.nan
    if shape.kind == "box":
        half = float(np.abs(up[:3]) @ shape.size) / 2
    elif shape.kind == "cylinder":
        half = shape.size[0] * np.hypot(up[0], up[1]) + shape.size[1] * abs(up[2]) / 2
    elif shape.kind == "sphere":
        half = shape.size[0]
    return float(up[3] - half), float(up[3] + half)


def _report_shafts(layout: Layout, wheels: Sequence[Wheel]) -> Iterator[Notice]:
    """A notice about tyres on both ends of a shaft: one wheel in the middle rolls for both, and
    does not hold upright as they do, unless balls do so at the ends of one."""
    shafts = {wheel.name: ends for wheel in wheels if (ends := _shaft_ends(layout, wheel))}
    listing = list(wheels)
    for ends in shafts.values():
        if not {end.link for end in ends} & {w.link for w in listing if w.joint is None}:
            listing += ends
    at_ends = [centre_R(layout, end) for ends in shafts.values() for end in ends]
    bears = any(w.joint is None and np.linalg.norm(centre_R(layout, w) - at) < w.radius
                for w in wheels for at in at_ends)
    if shafts and not bears:
        yield Notice(
            NoticeKind.SHARED_SHAFT,
            f"{listed(shafts)}: turns tyres on both sides, which could only roll straight; one "
            "wheel in the middle stands for them, and holds nothing upright",
            suggest("To have the tyres bear: ", option("wheels", listing)))


def _report_overlap(layout: Layout, wheels: Sequence[Wheel]) -> Iterator[Notice]:
    """Notices about two wheels of one axle, nearer to each other than half the narrower width."""
    rims = [(wheel, rim) for wheel in wheels if wheel.joint is not None
            and (rim := find_wheel_rim(layout, layout.joints[wheel.joint])) is not None]
    for (one, first), (other, second) in combinations(rims, 2):
        width = min(0.0 if rim.is_ball else rim.width for rim in (first, second))
        apart = float(np.linalg.norm(centre_R(layout, one) - centre_R(layout, other)))
        if apart < width / 2 and on_one_axle(layout, [one, other]):
            yield Notice(NoticeKind.OVERLAP,
                         f"{one.name} and {other.name} are one within the other: on one axle, "
                         f"{apart:.4g} m apart and {width:.4g} m wide; check the <origin> of the "
                         "joints and the length of the cylinders")


def _shaft_ends(layout: Layout, wheel: Wheel) -> list[Wheel]:
    """Balls for the outermost tyres of a wheel's shaft; none where it has one tyre, or twins."""
    joint = layout.joints[wheel.name] if wheel.joint is not None else None
    rim = find_wheel_rim(layout, joint) if joint is not None else None
    if joint is None or rim is None:
        return []
    rims = sorted(equal_rims(layout, joint, rim), key=lambda r: np.dot(r.centre, joint.axis))
    ends = [(r.link, np.array([*r.centre, 1.0])) for r in (*rims[:1], *rims[-1:])]
    if not ends or np.linalg.norm(ends[1][1] - ends[0][1]) <= wheel.radius:
        return []
    links = [link for link, _ in ends]
    if links[0] == links[1]:           # a contact is called after its link
        links = [joint.child, joint.parent]
    return [Wheel(None, "caster_ball", wheel.radius, link=link,
                  point=to_triple((layout.X(link, joint.child) @ end)[:3], 6))
            for link, (_, end) in zip(links, ends)]


def _missing_caster(layout: Layout, wheels: Sequence[Wheel]) -> Wheel:
    """A ball on that side of the axle to which the robot would tip."""
    ahead = ahead_of(axle_R(layout, wheels[0]))
    axle, radius = centre_R(layout, wheels[0]), usual_radius(wheels)
    offset = float(ahead @ (centre_of_mass(layout) - axle))
    reach = np.copysign(max(2 * abs(offset), _AHEAD * radius), offset)
    middle = np.mean([centre_R(layout, w) for w in wheels], axis=0) + reach * ahead
    middle[2] = ground_height(layout, wheels) + _BALL * radius
    return Wheel(None, "caster_ball", _BALL * radius, link=layout.root,
                 point=to_triple(middle, 6))
