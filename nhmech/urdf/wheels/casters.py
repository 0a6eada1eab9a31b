"""Contacts that slide: balls, and whatever stands for the wheel of a caster."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import ModelError, Remedy
from ..description import FoundWheel, Reason
from ..layout import Layout, LinkShape, to_triple
from ..notice import Notice, NoticeKind
from ..packages import package_of
from ..remedy import ask_for_packages, option, suggest
from ..upright import NothingStands
from ..wheel import Wheel
from .axis_hints import is_upright
from .evidence import is_ball_joint
from .revolution import find_solid
from .rims import PARALLEL, read_vertices
from .stance import (
    ahead_of,
    axle_directions,
    axle_R,
    bottom_R,
    centre_of_mass,
    centre_R,
    ground_height,
    on_one_axle,
    tolerance,
    usual_radius,
)
from .swivels import is_caster, is_loose_ball, swings

# of the usual radius, from a caster: a link as near as this is its bracket or fork
_BRACKET = 1.0
_VISIBLE = 1e-4    # [m] gaps that are worth telling
# of the usual radius; stands for a mesh that slides: only where it touches is known of it
_SMALL_BALL = 0.2
_NEAR = 3.0        # of the tolerance: a ball that misses the ground by less was meant to reach it
_BESIDE = 0.05     # of the radius: what is so near to the vertical plane of an axle is below it
# of the usual radius: vertices by so much above the lowest ones touch the ground with them
_FOOT = 0.02


@dataclass(frozen=True)
class _Ball:
    """The ball that a fixed collision shape stands for."""

    shape: LinkShape  # the collision shape
    radius: float  # [m]
    centre: np.ndarray  # (3,) in the link's frame [m]
    height: float  # of its lowest point above the ground [m]
    is_exact: bool  # whether the shape tells the height, as a sphere and a lying cylinder do


def infer_casters(layout: Layout,
                  wheels: Sequence[FoundWheel]) -> tuple[list[FoundWheel], list[Notice]]:
    """Caster balls of a robot whose wheels are known, and notices."""
    found, missed, notices = find_casters(layout, wheels)
    if missed and not found and on_one_axle(layout, [c.wheel for c in wheels]):
        raise _tipping_error(layout, wheels, missed)
    notices += [Notice(NoticeKind.NO_SUPPORT, f"{link}: no support, because {why}")
                for link, (why, _) in missed.items()]
    return found, notices


def find_casters(layout: Layout, wheels: Sequence[FoundWheel]) -> tuple[
        list[FoundWheel], dict[str, tuple[str, LinkShape | None]], list[Notice]]:
    """What slides: contacts, links that should but are not understood (why, and the shape that is
    not), and notices.

    A fixed collision sphere that reaches the plane of the wheels is a frictionless ball. So is,
    with a notice, what stands there like a wheel, and any shape of a link named caster. Where all
    wheels are on one axle and nothing supports the robot, any small shape that reaches the ground
    does, or else the mesh of a body that comes down to it. A lying cylinder has its radius;
    anything else is a small ball below it that touches the ground, for such a stand-in has no true
    height of its own.
    """
    reached: list[_Ball] = []
    missed: dict[str, tuple[str, LinkShape | None]] = {}
    rolling = [c.wheel for c in wheels]
    for link in _fixed_links(layout, wheels):
        named = is_caster(layout, link)
        shapes = [s for s in touching_shapes(layout, link, rolling)
                  if named or s.kind == "sphere" or _is_lying(layout, s, wheels)]
        ball = _lowest_ball(layout, shapes, wheels)
        if ball is None:
            unread = [s for s in shapes if s.kind == "mesh"]
            if named and unread:
                missed[link] = (f"its shape is the mesh {unread[0].mesh!r}, which cannot be read",
                                unread[0])
        elif _reaches(ball, wheels):
            reached.append(ball)
        elif named or abs(ball.height) < _NEAR * tolerance(rolling):
            missed[link] = f"its bottom is {_gap(ball, 'above', 'below')} that of the wheels", None
    if not reached and on_one_axle(layout, rolling):
        reached = _find_supports(layout, wheels) or _find_feet(layout, wheels)
        if not reached:
            missed |= _find_unread(layout, wheels)
    near = _BRACKET * usual_radius(rolling)
    exact = [_slide(layout, ball) for ball in reached if ball.is_exact]
    reached = [b for b in reached if b.is_exact or not (
        is_caster(layout, b.shape.link) and _is_bracket(layout, b.shape.link, exact, near))]
    found = [_slide(layout, ball) for ball in reached]
    notices = [notice for ball in reached for notice in _report_stand_in(ball)]
    missed = {link: why for link, why in missed.items()
              if not _is_bracket(layout, link, [*wheels, *found], near)}
    return found, missed, notices


def _find_unread(layout: Layout, wheels: Sequence[FoundWheel]) -> dict[
        str, tuple[str, LinkShape | None]]:
    """Links near the ground of which nothing is known, for their meshes are missing: one of them
    may be the support."""
    ground = ground_height(layout, [c.wheel for c in wheels])
    largest = 2 * max((c.wheel.radius for c in wheels), default=0.0)
    unread: dict[str, tuple[str, LinkShape | None]] = {}
    above = ((link, layout.above.get(layout.body(link))) for link in layout.links)
    steered = [link for link, joint in above if joint and joint.turns and is_upright(layout, joint)]
    for link in dict.fromkeys([*_fixed_links(layout, wheels), *steered]):
        shapes = touching_shapes(layout, link, [c.wheel for c in wheels])
        if (shapes and layout.X_RL[link][2, 3] - ground <= largest
                and all(s.kind == "mesh" and read_vertices(layout, s) is None for s in shapes)):
            unread[link] = (f"its shape is the mesh {shapes[0].mesh!r}, which cannot be read",
                            shapes[0])
    return unread


def list_wheels(layout: Layout, wheels: Sequence[FoundWheel]) -> Remedy:
    """Wheels to paste, with the casters that reach their ground."""
    casters, _, _ = find_casters(layout, wheels)
    return option("wheels", [c.wheel for c in (*wheels, *casters)])


def _find_supports(layout: Layout, wheels: Sequence[FoundWheel]) -> list[_Ball]:
    """Shapes off the axle that reach the ground and are no larger than a wheel, one a link."""
    largest = 2 * max((c.wheel.radius for c in wheels), default=0.0)
    ground = ground_height(layout, [c.wheel for c in wheels])
    balls = []
    for link in _fixed_links(layout, wheels):
        # looked at first, because the mesh of a chassis is large
        if layout.X_RL[link][2, 3] - ground > largest:
            continue
        shapes = [s for s in layout.shapes(link) or layout.shapes(link, tag="visual")
                  if 0 < _extent(layout, s, usual_radius([c.wheel for c in wheels])) <= largest]
        ball = _lowest_ball(layout, shapes, wheels)
        if (ball is not None and _reaches(ball, wheels)
                and _holds(layout, wheels, layout.X_RL[link] @ [*ball.centre, 1.0])):
            balls.append(ball)
    return balls


def _find_feet(layout: Layout, wheels: Sequence[FoundWheel]) -> list[_Ball]:
    """Where the mesh of a whole body, such as a chassis with its casters in it, comes down to the
    ground on that side of the axle to which the robot would tip: a small ball in the middle of
    its lowest vertices there."""
    ground = ground_height(layout, [c.wheel for c in wheels])
    slack = tolerance([c.wheel for c in wheels])
    size = usual_radius([c.wheel for c in wheels])
    wheel = wheels[0].wheel
    ahead = ahead_of(axle_R(layout, wheel))
    if ahead @ (centre_of_mass(layout) - centre_R(layout, wheel)) < 0:
        ahead = -ahead
    for link in _fixed_links(layout, wheels):
        X = layout.X_RL[link]
        for shape in layout.shapes(link):
            vertices = read_vertices(layout, shape) if shape.kind == "mesh" else None
            if vertices is None:
                continue
            p_R = vertices @ X[:3, :3].T + X[:3, 3]
            height = float(p_R[:, 2].min()) - ground
            across = (p_R - centre_R(layout, wheel)) @ ahead
            feet = vertices[(p_R[:, 2] < ground + height + _FOOT * size)
                            & (across > _BESIDE * wheel.radius)]
            if abs(height) <= slack and len(feet):
                centre = (feet.min(axis=0) + feet.max(axis=0)) / 2
                ball = _SMALL_BALL * size
                above = ground + height + ball - (X[2, :3] @ centre + X[2, 3])
                return [_Ball(shape, ball, centre + above * X[2, :3], height,
                              is_exact=False)]
    return []


def _holds(layout: Layout, wheels: Sequence[FoundWheel], point: np.ndarray) -> bool:
    """Whether a point in the root's frame is before or behind the wheels' axle, not below it."""
    wheel = wheels[0].wheel
    along = axle_R(layout, wheel)
    across = np.array([-along[1], along[0]]) @ (point[:2] - centre_R(layout, wheel)[:2])
    return bool(abs(across) > _BESIDE * wheel.radius)


def _extent(layout: Layout, shape: LinkShape, size: float) -> float:
    """The longest side of a shape [m], of a mesh that of what touches the ground, by the usual
    radius of wheels; 0 of one that cannot be read."""
    if shape.kind != "mesh":
        return max(2 * shape.size[0] if shape.kind != "box" else 0.0, *shape.size)
    vertices = read_vertices(layout, shape)
    if vertices is None:
        return 0.0
    heights = vertices @ layout.X_RL[shape.link][2, :3]
    foot = _FOOT * size
    return max(foot, float(np.ptp(vertices[heights < heights.min() + foot], axis=0).max()))


def _lowest_ball(layout: Layout, shapes: Sequence[LinkShape],
                 wheels: Sequence[FoundWheel]) -> _Ball | None:
    rolling = [c.wheel for c in wheels]
    ground, size = ground_height(layout, rolling), usual_radius(rolling)
    axles = axle_directions(layout, rolling)
    balls = (_find_ball(layout, s, ground, axles, size) for s in shapes)
    return min(filter(None, balls), key=lambda b: b.height, default=None)


def _reaches(ball: _Ball, wheels: Sequence[FoundWheel]) -> bool:
    return abs(ball.height) <= tolerance([c.wheel for c in wheels])


def _is_lying(layout: Layout, shape: LinkShape, wheels: Sequence[FoundWheel]) -> bool:
    """Whether a shape stands like a wheel: a lying cylinder where no wheel is."""
    if shape.kind != "cylinder":
        return False
    X = layout.X_RL[shape.link]
    centre = X[:3, :3] @ shape.centre + X[:3, 3]
    return abs(X[2, :3] @ shape.axis) < PARALLEL and not any(
        np.linalg.norm(centre_R(layout, c.wheel) - centre) < shape.size[0] for c in wheels)


def touching_shapes(layout: Layout, link: str, wheels: Sequence[Wheel]) -> Sequence[LinkShape]:
    """The shapes of a link that can touch the ground: what collides, or else what is drawn if that
    is so with the wheels; what is only drawn may be a dummy where they collide."""
    shapes = layout.shapes(link)
    if shapes or any(layout.shapes(part) for wheel in wheels
                     for part in layout.rigid(layout.carrier(wheel))):
        return shapes
    return layout.shapes(link, tag="visual")


def _fixed_links(layout: Layout, wheels: Sequence[FoundWheel]) -> list[str]:
    """Links of the bodies that can hold a caster: the base, those that carry wheels, those that
    swing about an upright axis or are named caster, and what springs under them; no rotors."""
    rotors = {layout.carrier(c.wheel) for c in wheels}
    bodies = {layout.root}
    for rotor in rotors:
        bodies |= {layout.body(joint.parent) for joint in layout.path(rotor)}
    bodies |= {layout.body(link) for link in layout.links
               if is_caster(layout, link) or is_ball_joint(layout, link)}
    bodies |= {joint.child for joint in layout.joints.values()
               if swings(layout, joint) or is_loose_ball(layout, joint)}
    bodies |= {body for body in map(layout.body, layout.links)
               if _springs_under(layout, body, frozenset(bodies))}
    return [link for link in layout.links
            if layout.body(link) in bodies - rotors and link not in rotors]


def _springs_under(layout: Layout, body: str, bodies: Collection[str]) -> bool:
    """Whether a body slides up and down under one of others, as a caster on a spring does."""
    joint = layout.above.get(body)
    return body in bodies or (
        joint is not None and joint.type == "prismatic" and is_upright(layout, joint)
        and _springs_under(layout, layout.body(joint.parent), bodies))


def _find_ball(layout: Layout, shape: LinkShape, ground: float, axles: Sequence[np.ndarray],
               size: float) -> _Ball | None:
    """The ball that a shape stands for; None for a shape without size, or a mesh without file."""
    R = layout.X_RL[shape.link][:3, :3] @ shape.X_LS[:3, :3]
    below = 0.0                        # from the shape's centre to its lowest point
    exact = False
    if shape.kind == "sphere":
        radius, exact = shape.size[0], True
    elif shape.kind == "cylinder":
        radius, length = shape.size
        exact = abs(R[2, 2]) < PARALLEL
        if not exact:
            below = length / 2 * abs(R[2, 2]) + radius * np.sqrt(max(0.0, 1 - R[2, 2] ** 2))
            radius = min(radius, length / 2)
    elif shape.kind == "mesh":
        return _find_mesh_ball(layout, shape, ground, axles, size)
    elif shape.kind == "box":
        radius, below = min(shape.size) / 2, float(np.abs(R[2]) @ np.array(shape.size)) / 2
    else:
        return None
    if radius <= 0:
        return None
    X = layout.X_RL[shape.link]
    centre = shape.centre
    if not exact:
        centre = centre + (radius - below) * X[2, :3]
    wheel = Wheel(None, "caster_ball", radius, link=shape.link, point=to_triple(centre, 15))
    return _Ball(shape, radius, centre, bottom_R(layout, wheel) - ground, exact)


def _find_mesh_ball(layout: Layout, shape: LinkShape, ground: float, axles: Sequence[np.ndarray],
                    size: float) -> _Ball | None:
    """What is round about the axle of some wheel, or else a small ball at the lowest vertices."""
    vertices = read_vertices(layout, shape)
    if vertices is None:
        return None
    X = layout.X_RL[shape.link]
    heights = vertices @ X[2, :3] + X[2, 3]
    height = float(heights.min()) - ground
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    foot, ball = _FOOT * size, _SMALL_BALL * size
    for axle in axles if abs(height) < _NEAR * foot else ():
        solid = find_solid(vertices - middle, X[:3, :3].T @ axle)
        if solid is not None and abs(solid.radius - np.ptp(heights) / 2) < foot:
            return _Ball(shape, solid.radius, middle, height, is_exact=True)
    lowest = vertices[heights < heights.min() + foot]
    centre = (lowest.min(axis=0) + lowest.max(axis=0)) / 2
    above = heights.min() + ball - (X[2, :3] @ centre + X[2, 3])
    return _Ball(shape, ball, centre + above * X[2, :3], height, is_exact=False)


def _slide(layout: Layout, ball: _Ball) -> FoundWheel:
    """The frictionless ball; one without a height of its own is moved to the ground."""
    link, centre, off = ball.shape.link, ball.centre, ""
    if not ball.is_exact:
        centre = centre - ball.height * layout.X_RL[link][2, :3]
    elif abs(ball.height) > _VISIBLE:
        off = f", {_gap(ball, 'above', 'below')} the wheels' plane"
    wheel = Wheel(None, "caster_ball", ball.radius, link=link, point=to_triple(centre, 12))
    return FoundWheel(wheel, Reason(f"the collision {ball.shape.kind} of {{}} is fixed and reaches "
                                    f"the ground{off}; a frictionless ball of {ball.radius:.6g} m",
                                    (link,)))


def _report_stand_in(ball: _Ball) -> list[Notice]:
    if ball.shape.kind == "sphere":
        return []
    moved = ""
    if not ball.is_exact and abs(ball.height) > _VISIBLE:
        moved = f", moved {_gap(ball, 'down', 'up')} to the ground"
    return [Notice(NoticeKind.CASTER_SHAPE,
                   f"{ball.shape.link}: its {ball.shape.kind} is taken as a caster ball of "
                   f"{ball.radius:.6g} m{moved}; it slides without friction")]


def _gap(ball: _Ball, high: str, low: str) -> str:
    """'1.0 mm above', in these words for a ball that is too high and one too low."""
    return f"{1e3 * abs(ball.height):.1f} mm {high if ball.height > 0 else low}"


def _is_bracket(layout: Layout, link: str, contacts: Sequence[FoundWheel], near: float) -> bool:
    """Whether a link is only bracket or fork of a contact that was found: the contact hangs on it,
    or is as near as that [m] in plan."""
    for contact in contacts:
        other = layout.carrier(contact.wheel)
        if link in [j.child for j in layout.path(other)]:
            return True
        apart = layout.X_RL[link][:2, 3] - layout.X_RL[other][:2, 3]
        if is_caster(layout, other) and np.hypot(*apart) < near:
            return True
    return False


def _tipping_error(layout: Layout, wheels: Sequence[FoundWheel],
                   missed: dict[str, tuple[str, LinkShape | None]]) -> ModelError:
    ground = ground_height(layout, [c.wheel for c in wheels])
    radius = _SMALL_BALL * usual_radius([c.wheel for c in wheels])
    balls = []
    for link in missed:
        X = layout.X_RL[link]
        foot = X[:3, :3].T @ (np.array([X[0, 3], X[1, 3], ground + radius]) - X[:3, 3])
        ball = Wheel(None, "caster_ball", radius, link=link, point=to_triple(foot, 6))
        if _holds(layout, wheels, X[:, 3]):
            balls.append(ball)
    why = "; ".join(f"{link!r}, line {layout.links[link].sourceline}: {reason}"
                    for link, (reason, _) in missed.items())
    packages = [package_of(s.mesh) for _, s in missed.values() if s is not None]
    rolling = [c.wheel for c in wheels]
    cure: list[str | Remedy] = ["List the wheels alone to let it balance: ",
                                option("wheels", rolling)]
    if balls:
        cure = ["List what supports it: ", option("wheels", [*rolling, *balls]),
                " (check where the caster touches), or leave the caster out to let it balance"]
    return NothingStands(
        f"{layout.source.label}: all wheels are on one axle and no other support was understood, "
        f"so the robot would tip over ({why})", suggest(*ask_for_packages(packages), *cure))
