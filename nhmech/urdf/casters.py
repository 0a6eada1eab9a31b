"""Supports that do not roll on an axle: fixed spheres, and fixed shapes named caster that reach the
ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import ModelError
from .inference import FoundWheel, wheel_line
from .layout import CollisionShape, Layout
from .rims import PARALLEL
from .stance import bottom_R, ground_height, on_one_axle, tolerance
from .wheel import Wheel

_BRACKET = 0.05  # m


def infer_casters(layout: Layout,
                  wheels: Sequence[FoundWheel]) -> tuple[list[FoundWheel], list[str]]:
    """Caster balls of a robot whose wheels are known, and notices.

    A collision sphere that reaches the plane of the wheels is a frictionless ball. So is, with a
    notice, a cylinder or box of a link named caster: a lying cylinder with its radius, anything
    else as a small ball below it that touches the ground, for such a stand-in has no true height of
    its own.

    Raises
    ------
    ModelError
        Where all wheels are on one axle and the only caster is not understood, because without it
        the robot would tip over.
    """
    ground = ground_height(layout, [c.wheel for c in wheels])
    slack = tolerance([c.wheel for c in wheels])
    found, missed, notices = [], [], []
    for link in _fixed_links(layout, wheels):
        named = is_caster(layout, link)
        shapes = [s for s in layout.shapes(link) if s.kind == "sphere" or named]
        balls = [b for b in (_ball(layout, s) for s in shapes) if b is not None]
        if not balls:
            if named and any(s.kind == "mesh" for s in shapes):
                missed.append((link, "its shape is a mesh"))
            continue
        ball = min(balls, key=lambda b: _bottom(layout, link, b))
        radius, centre, shape, is_ball = ball
        gap = _bottom(layout, link, ball) - ground
        if abs(gap) > slack:
            if named or abs(gap) < 3 * slack:
                missed.append((link, f"its bottom is {1e3 * abs(gap):.1f} mm "
                                     f"{'above' if gap > 0 else 'below'} that of the wheels"))
            continue
        moved = ""
        if not is_ball:
            centre = centre - gap * layout.X_RL[link][2, :3]
            if abs(gap) > 1e-4:
                moved = (
                    f", moved {1e3 * abs(gap):.1f} mm {'down' if gap > 0 else 'up'} to the ground"
                )
            gap = 0.0
        wheel = Wheel(None, "caster_ball", radius, link=link,
                      point=tuple(float(c) + 0.0 for c in np.round(centre, 12)))
        off = ""
        if abs(gap) > 1e-4:
            off = f", {1e3 * abs(gap):.1f} mm {'above' if gap > 0 else 'below'} the wheels' plane"
        found.append(FoundWheel(wheel,
                             f"the collision {shape.kind} of {link!r} is fixed and reaches the "
                             f"ground{off}; "
                                    f"a frictionless ball of {radius:.6g} m"))
        if shape.kind != "sphere":
            notices.append(f"{link}: its {shape.kind} is taken as a caster ball of {radius:.6g} "
                           f"m{moved}; it slides without friction")
    missed = [(link, why) for link,
              why in missed if not _is_bracket(layout, link, [*wheels, *found])]
    if missed and not found and on_one_axle(layout, [c.wheel for c in wheels]):
        raise ModelError(_tips_over(layout, wheels, missed, ground))
    notices += [f"{link}: no support, because {why}" for link, why in missed]
    return found, notices


def is_caster(layout: Layout, link: str) -> bool:
    """Whether a link, or the joint it hangs on, is named caster."""
    return "caster" in link.lower() or (link in layout.above
                                        and "caster" in layout.above[link].name.lower())


def _fixed_links(layout: Layout, wheels: Sequence[FoundWheel]) -> list[str]:
    """Links of the bodies that can hold a caster: the base, those that carry wheels, those named
    caster; no rotors."""
    rotors = {c.wheel.link for c in wheels}
    bodies = {layout.root}
    for contact in wheels:
        bodies |= {layout.body(joint.parent) for joint in layout.path(contact.wheel.link)}
    bodies |= {layout.body(link) for link in layout.links if is_caster(layout, link)}
    return [link for link in layout.links if layout.body(link) in bodies - rotors]


def _ball(layout: Layout,
          shape: CollisionShape) -> tuple[float, np.ndarray, CollisionShape, bool] | None:
    """Radius and centre (in the link's frame) of the ball that a shape stands for, the shape,
    whether it is one."""
    if shape.kind == "sphere":
        return (shape.size[0], shape.centre, shape, True) if shape.size[0] > 0 else None
    R = layout.X_RL[shape.link][:3, :3] @ shape.X_LS[:3, :3]
    if shape.kind == "cylinder":
        radius, length = shape.size
        if abs(R[2, 2]) < PARALLEL:
            return (radius, shape.centre, shape, True) if radius > 0 else None
        half, below = (
            min(radius, length / 2),
            length / 2 * abs(R[2, 2]) + radius * np.sqrt(max(0.0, 1 - R[2, 2] ** 2)),
        )
    elif shape.kind == "box":
        half, below = min(shape.size) / 2, float(np.abs(R[2]) @ np.array(shape.size)) / 2
    else:
        return None
    if half <= 0:
        return None
    down = layout.X_RL[shape.link][:3, :3].T @ np.array([0.0, 0.0, -1.0])
    return half, shape.centre + (below - half) * down, shape, False


def _bottom(layout: Layout, link: str, ball) -> float:
    return bottom_R(layout, Wheel(None, "caster_ball", ball[0], link=link, point=tuple(ball[1])))


def _is_bracket(layout: Layout, link: str, contacts: Sequence[FoundWheel]) -> bool:
    """Whether a link is only bracket or fork of a contact that was found: one hangs on it, or is
    within 5 cm."""
    for contact in contacts:
        other = contact.wheel.link
        if link in [j.child for j in layout.path(other)]:
            return True
        if (
            is_caster(layout, other)
            and np.hypot(*(layout.X_RL[link][:2, 3] - layout.X_RL[other][:2, 3])) < _BRACKET
        ):
            return True
    return False


def _tips_over(layout: Layout, wheels: Sequence[FoundWheel], missed, ground: float) -> str:
    lines = [wheel_line(c.wheel) for c in wheels]
    for link, _ in missed:
        X = layout.X_RL[link]
        foot = X[:3, :3].T @ (np.array([X[0, 3], X[1, 3], ground + 0.01]) - X[:3, 3])
        point = tuple(float(c) + 0.0 for c in np.round(foot, 6))
        lines.append(wheel_line(Wheel(None, "caster_ball", 0.01, link=link, point=point)))
    why = "; ".join(f"{link!r}: {reason}" for link, reason in missed)
    return (
        f"{layout.source.label}: all wheels are on one axle and no other support was understood, "
        f"so the robot would tip over ({why}). Say what supports it: wheels=[{', '.join(lines)}] "
        "(check where the caster touches), or leave the caster out to let it balance"
    )


def check_unrolled(layout: Layout, contacts: Sequence[FoundWheel]) -> None:
    """A link named wheel with a horizontal collision cylinder on the ground must roll, or it is
    missing from the model.

    Raises
    ------
    ModelError
        With the `wheels=` line in which each such wheel is a blade at its contact point: no lateral
        slip, free to go forward, which is what a wheel without rotational inertia does.
    """
    wheels = [c.wheel for c in contacts]
    ground, slack = ground_height(layout, wheels), tolerance(wheels)
    rotors = {link for w in wheels for link in layout.rigid(w.link)}
    stuck = []
    for link in layout.links:
        if link in rotors or is_caster(layout, link):
            continue
        if not any(
            "wheel" in name.lower()
            for name in (link, layout.above[link].name if link in layout.above else "")
        ):
            continue
        for shape in layout.shapes(link):
            R, p = layout.X_RL[link][:3, :3], layout.X_RL[link][:3, 3]
            axle = R @ shape.X_LS[:3, 2]
            centre = R @ shape.centre + p
            if (
                shape.kind != "cylinder"
                or abs(axle[2]) > PARALLEL
                or abs(centre[2] - shape.size[0] - ground) > slack
            ):
                continue
            # Another wheel rolls here already: this is its hub, fender or steering knuckle.
            if any(np.linalg.norm(layout.X_RL[w.link][:3,
                                                      3] - centre) < shape.size[0] for w in wheels):
                continue
            point = R.T @ (np.array([centre[0], centre[1], centre[2] - shape.size[0]]) - p)
            lateral = R.T @ axle
            lateral *= np.sign(axle[1]) or 1.0
            stuck.append(Wheel(None, "blade", link=link, axis=_round(lateral),
                               point=_round(point)))
            break
    if stuck:
        first = layout.above.get(stuck[0].link)
        where = layout.source.at(first.element) if first is not None else layout.source.label
        one = len(stuck) == 1
        look, them = ("looks like a wheel that stands",
                      "it") if one else ("look like wheels that stand", "them")
        names, lines = (
            ", ".join(w.link for w in stuck),
            ", ".join(wheel_line(w) for w in [*wheels, *stuck]),
        )
        raise ModelError(
            f"{where}: {names} {look} on the ground, but no joint lets {them} "
            f"roll{_why(first, layout)}. Let a continuous joint turn each about its axle (<axis "
            f"xyz=\"{_words(stuck[0].axis)}\"/>), or make each a contact without lateral slip that "
            f"needs none: wheels=[{lines}]"
        )


def _why(joint, layout: Layout) -> str:
    """What the wheel's own joint does instead."""
    if joint is None:
        return ""
    if not joint.turns:
        return f": its joint is {joint.type}"
    if joint.element.find("axis") is None:
        return ": its joint has no <axis>, which in URDF means x, across its axle"
    if abs(layout.axis_R(joint)[2]) > 0.7:
        return ": its joint only steers it"
    return f": its joint turns it about ({_words(joint.axis)}), across its axle"


def _words(vector) -> str:
    return " ".join(f"{c + 0.0:g}" for c in np.round(vector, 4))


def _round(array) -> tuple[float, float, float]:
    return tuple(float(c) + 0.0 for c in np.round(array, 6))
