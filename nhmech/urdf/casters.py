"""Contacts that do not roll on a joint: balls and shapes that slide under casters, and wheels that
the file holds fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ModelError
from .axis_hints import is_upright
from .description import Reason
from .inference import FoundWheel
from .layout import Joint, Layout, LinkShape, is_named, to_triple, to_words
from .notice import Notice, NoticeKind
from .remedy import option, suggest
from .rims import PARALLEL, read_vertices
from .stance import bottom_R, ground_height, on_one_axle, tolerance
from .wheel import Wheel

_BRACKET = 0.05    # [m] from a caster: a link as near as this is its bracket or fork
_VISIBLE = 1e-4    # [m] gaps that are worth telling
_SMALL_BALL = 0.01  # [m] stands for a mesh that slides: only where it touches is known of it
_FOOT = 1e-3       # [m] vertices by so much above the lowest ones touch the ground with them


@dataclass(frozen=True)
class _Ball:
    """The ball that a fixed collision shape stands for.

    Attributes
    ----------
    shape
        The collision shape.
    radius
        [m]
    centre
        (3,) in the link's frame [m].
    height
        Of its lowest point above the ground [m].
    is_exact
        Whether the shape tells the height, as a sphere and a lying cylinder do.
    """

    shape: LinkShape
    radius: float
    centre: np.ndarray
    height: float
    is_exact: bool


def infer_casters(layout: Layout,
                  wheels: Sequence[FoundWheel]) -> tuple[list[FoundWheel], list[Notice]]:
    """Caster balls of a robot whose wheels are known, and notices.

    A collision sphere that reaches the plane of the wheels is a frictionless ball. So is, with a
    notice, a cylinder or box of a link named caster: a lying cylinder with its radius, anything
    else as a small ball below it that touches the ground, for such a stand-in has no true height of
    its own. A mesh gives its lowest point.

    Raises
    ------
    ModelError
        Where all wheels are on one axle and the only caster is not understood, because without it
        the robot would tip over.
    """
    ground = ground_height(layout, [c.wheel for c in wheels])
    slack = tolerance([c.wheel for c in wheels])
    found, missed, notices = [], {}, []
    for link in _fixed_links(layout, wheels):
        named = is_caster(layout, link)
        shapes = [s for s in layout.shapes(link) if s.kind == "sphere" or named]
        balls = [b for b in (_find_ball(layout, s, ground) for s in shapes) if b is not None]
        if not balls:
            unread = [s.mesh for s in shapes if s.kind == "mesh"]
            if named and unread:
                missed[link] = f"its shape is the mesh {unread[0]!r}, which cannot be read"
            continue
        ball = min(balls, key=lambda b: b.height)
        if abs(ball.height) <= slack:
            found.append(_slide(layout, ball))
            notices += _report_stand_in(ball)
        elif named or abs(ball.height) < 3 * slack:
            missed[link] = f"its bottom is {_gap(ball, 'above', 'below')} that of the wheels"
    missed = {link: why for link, why in missed.items()
              if not _is_bracket(layout, link, [*wheels, *found])}
    if missed and not found and on_one_axle(layout, [c.wheel for c in wheels]):
        raise _tipping_error(layout, wheels, missed, ground)
    notices += [Notice(NoticeKind.NO_SUPPORT, f"{link}: no support, because {why}")
                for link, why in missed.items()]
    return found, notices


def is_caster(layout: Layout, link: str) -> bool:
    """Whether a link, or the joint it hangs on, is named caster."""
    return is_named("caster", *_names_of(layout, link))


def _names_of(layout: Layout, link: str) -> tuple[str, ...]:
    """Of a link, and of the joint it hangs on."""
    return (link, layout.above[link].name) if link in layout.above else (link,)


def _fixed_links(layout: Layout, wheels: Sequence[FoundWheel]) -> list[str]:
    """Links of the bodies that can hold a caster: the base, those that carry wheels, those named
    caster; no rotors."""
    rotors = {layout.carrier(c.wheel) for c in wheels}
    bodies = {layout.root}
    for rotor in rotors:
        bodies |= {layout.body(joint.parent) for joint in layout.path(rotor)}
    bodies |= {layout.body(link) for link in layout.links if is_caster(layout, link)}
    return [link for link in layout.links if layout.body(link) in bodies - rotors]


def _find_ball(layout: Layout, shape: LinkShape, ground: float) -> _Ball | None:
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
        return _find_mesh_ball(layout, shape, ground)
    elif shape.kind == "box":
        radius, below = min(shape.size) / 2, float(np.abs(R[2]) @ np.array(shape.size)) / 2
    else:
        return None
    if radius <= 0:
        return None
    X = layout.X_RL[shape.link]
    centre = shape.centre
    if not exact:
        centre = centre + (below - radius) * (X[:3, :3].T @ np.array([0.0, 0.0, -1.0]))
    wheel = Wheel(None, "caster_ball", radius, link=shape.link, point=to_triple(centre, 15))
    return _Ball(shape, radius, centre, bottom_R(layout, wheel) - ground, exact)


def _find_mesh_ball(layout: Layout, shape: LinkShape, ground: float) -> _Ball | None:
    """A small ball at the lowest vertices of a mesh."""
    vertices = read_vertices(layout, shape)
    if vertices is None or len(vertices) == 0 or not np.all(np.isfinite(vertices)):
        return None
    X = layout.X_RL[shape.link]
    heights = vertices @ X[2, :3] + X[2, 3]
    lowest = vertices[heights < heights.min() + _FOOT]
    centre = (lowest.min(axis=0) + lowest.max(axis=0)) / 2
    above = heights.min() + _SMALL_BALL - (X[2, :3] @ centre + X[2, 3])
    return _Ball(shape, _SMALL_BALL, centre + above * X[2, :3], float(heights.min()) - ground,
                 is_exact=False)


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


def _is_bracket(layout: Layout, link: str, contacts: Sequence[FoundWheel]) -> bool:
    """Whether a link is only bracket or fork of a contact that was found: the contact hangs on it,
    or is within 5 cm."""
    for contact in contacts:
        other = layout.carrier(contact.wheel)
        if link in [j.child for j in layout.path(other)]:
            return True
        apart = layout.X_RL[link][:2, 3] - layout.X_RL[other][:2, 3]
        if is_caster(layout, other) and np.hypot(*apart) < _BRACKET:
            return True
    return False


def _tipping_error(layout: Layout, wheels: Sequence[FoundWheel], missed: dict[str, str],
               ground: float) -> ModelError:
    balls = []
    for link in missed:
        X = layout.X_RL[link]
        foot = X[:3, :3].T @ (np.array([X[0, 3], X[1, 3], ground + 0.01]) - X[:3, 3])
        balls.append(Wheel(None, "caster_ball", 0.01, link=link, point=to_triple(foot, 6)))
    why = "; ".join(f"{link!r}: {reason}" for link, reason in missed.items())
    return ModelError(
        f"{layout.source.label}: all wheels are on one axle and no other support was understood, "
        f"so the robot would tip over ({why})",
        suggest("List what supports it: ", option("wheels", [*(c.wheel for c in wheels), *balls]),
                " (check where the caster touches), or leave the caster out to let it balance"))


def check_unrolled(layout: Layout, contacts: Sequence[FoundWheel]) -> None:
    """A link named wheel with a horizontal collision cylinder on the ground must roll, or it is
    missing from the model.

    Raises
    ------
    ModelError
        With the wheels to list, in which each such wheel is a blade at its contact point: no
        lateral slip, free to go forward, which is what a wheel without rotational inertia does.
    """
    wheels = [c.wheel for c in contacts]
    ground, slack = ground_height(layout, wheels), tolerance(wheels)
    rotors = {link for w in wheels for link in layout.rigid(layout.carrier(w))}
    stuck: dict[str, Wheel] = {}
    for link in layout.links:
        if (link in rotors or is_caster(layout, link)
                or not is_named("wheel", *_names_of(layout, link))):
            continue
        blades = [b for b in (_blade_of(layout, s, wheels, ground, slack)
                              for s in layout.shapes(link)) if b is not None]
        if blades:
            stuck[link] = blades[0]
    if stuck:
        raise _rolling_error(layout, wheels, stuck)


def _blade_of(layout: Layout, shape: LinkShape, wheels: Sequence[Wheel], ground: float,
              slack: float) -> Wheel | None:
    """A lying cylinder on the ground as a blade; None for any other shape."""
    R, p = layout.X_RL[shape.link][:3, :3], layout.X_RL[shape.link][:3, 3]
    axle, centre = R @ shape.axis, R @ shape.centre + p
    if (shape.kind != "cylinder" or abs(axle[2]) > PARALLEL
            or abs(centre[2] - shape.size[0] - ground) > slack):
        return None
    # another wheel rolls here already: this is its hub, fender or steering knuckle
    if any(np.linalg.norm(layout.X_RL[layout.carrier(w)][:3, 3] - centre) < shape.size[0]
           for w in wheels):
        return None
    point = R.T @ (centre - [0.0, 0.0, shape.size[0]] - p)
    lateral = R.T @ axle * (np.sign(axle[1]) or 1.0)
    return Wheel(None, "blade", link=shape.link, axis=to_triple(lateral, 6),
                 point=to_triple(point, 6))


def _rolling_error(layout: Layout, wheels: Sequence[Wheel], stuck: dict[str, Wheel]) -> ModelError:
    first = next(iter(stuck))
    joint = layout.above.get(first)
    where = layout.source.label if joint is None else layout.source.at(joint.element)
    look, them = (("looks like a wheel that stands", "it") if len(stuck) == 1
                  else ("look like wheels that stand", "them"))
    axle = to_words(np.array(stuck[first].axis))
    return ModelError(
        f"{where}: {', '.join(stuck)} {look} on the ground, but no joint lets {them} "
        f"roll{_why(joint, layout)}",
        suggest(f'Let a continuous joint turn each about its axle (<axis xyz="{axle}"/>), or make '
                "each a contact without lateral slip that needs none: ",
                option("wheels", [*wheels, *stuck.values()])))


def _why(joint: Joint | None, layout: Layout) -> str:
    """What the wheel's own joint does instead."""
    if joint is None:
        return ""
    if not joint.turns:
        return f": its joint is {joint.type}"
    if joint.element.find("axis") is None:
        return ": its joint has no <axis>, which in URDF means x, across its axle"
    if is_upright(layout, joint):
        return ": its joint only steers it"
    return f": its joint turns it about ({to_words(joint.axis)}), across its axle"
