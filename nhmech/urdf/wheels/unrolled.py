"""Wheels that no joint lets roll: drawn in one piece with their steering, or held fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import ModelError
from ..description import Fact, FoundWheel, Reason, Witness
from ..layout import Joint, Layout, LinkShape, to_triple, to_words
from ..notice import Notice, NoticeKind
from ..remedy import suggest
from ..wheel import Wheel
from .axis_hints import is_upright
from .casters import list_wheels, touching_shapes
from .revolution import find_solid
from .rims import PARALLEL, read_vertices
from .stance import ahead_of, axle_directions, centre_R, ground_height, tolerance
from .swivels import is_caster, swings

_ALIKE = 0.1     # of the radius, rad: what differs less from a wheel is one too
# of the radius, behind a free upright axis: what stands there swings in like a caster
_TRAIL = 0.05


@dataclass(frozen=True)
class _Standing:
    """Something round about a level axle that stands on the ground; in the root's frame."""

    link: str  # its link
    centre: np.ndarray  # (3,) [m]
    axle: np.ndarray  # (3,) unit
    radius: float  # [m]


def infer_blades(layout: Layout,
                 contacts: Sequence[FoundWheel]) -> tuple[list[FoundWheel], list[Notice]]:
    """Wheels that are steered and cannot roll, each as a contact without lateral slip, and a
    notice about them.

    Such a blade goes forward freely, as a wheel without rotational inertia does.
    """
    wheels = [c.wheel for c in contacts]
    radii = [w.radius for w in wheels if w.radius]
    steered: list[FoundWheel] = []
    stuck: dict[str, FoundWheel] = {}
    for standing in _find_standing(layout, wheels):
        joint = _upright_above(layout, standing.link)
        alike = any(abs(standing.radius - r) < _ALIKE * r for r in radii)
        if (is_caster(layout, standing.link) or (joint and _trails(layout, joint, standing))
                or _rolls(layout, standing)):
            continue
        if joint is not None:
            steered.append(_blade(layout, standing, joint))
        elif alike:
            stuck[standing.link] = _blade(layout, standing, None)
    if stuck:
        raise _rolling_error(layout, contacts, [*steered, *stuck.values()], stuck)
    if not steered:
        return [], []
    names = ", ".join(c.wheel.name for c in steered)
    return steered, [Notice(NoticeKind.NO_ROLLING,
                            f"{names}: steered, but no joint lets it roll; taken as a blade, that "
                            "is, a contact without lateral slip and without rotational inertia")]


def _find_standing(layout: Layout, wheels: Sequence[Wheel]) -> Iterator[_Standing]:
    """One for each link that is no rotor."""
    ground, slack = ground_height(layout, wheels), tolerance(wheels)
    rotors = {link for w in wheels for link in layout.rigid(layout.carrier(w))}
    axles, largest = axle_directions(layout, wheels), max((w.radius for w in wheels), default=0.0)
    for link in layout.links:
        # looked at first, because the mesh of an arm is large and tells nothing
        if link in rotors or layout.X_RL[link][2, 3] - ground > 2 * largest:
            continue
        steered = _upright_above(layout, link) is not None
        shapes = [s for s in touching_shapes(layout, link, wheels)
                  if s.kind != "mesh" or steered]
        for standing in (_stand(layout, shape, axles, ground, slack) for shape in shapes):
            # another wheel rolls here already: this is its hub, fender or steering knuckle
            if (standing is not None
                    and not any(np.linalg.norm(centre_R(layout, w) - standing.centre)
                                < standing.radius for w in wheels)):
                yield standing
                break


def _stand(layout: Layout, shape: LinkShape, axles: Sequence[np.ndarray], ground: float,
           slack: float) -> _Standing | None:
    """A lying cylinder on the ground, or a mesh that is round about the axle of some wheel; None
    for any other shape."""
    R, p = layout.X_RL[shape.link][:3, :3], layout.X_RL[shape.link][:3, 3]
    if shape.kind == "cylinder":
        axle, centre, radius = R @ shape.axis, R @ shape.centre + p, shape.size[0]
        lies = abs(axle[2]) < PARALLEL and abs(centre[2] - radius - ground) <= slack
        return _Standing(shape.link, centre, axle, radius) if lies else None
    vertices = read_vertices(layout, shape) if shape.kind == "mesh" else None
    if vertices is None:
        return None
    points = vertices @ R.T + p
    low, high = points.min(axis=0), points.max(axis=0)
    if abs(low[2] - ground) > slack:
        return None
    middle = (low + high) / 2
    # a body that hangs on a joint may stand at a small angle to the others, its wheels with it
    own = [a for a in R.T if any(np.linalg.norm(np.cross(a, other)) < _ALIKE for other in axles)]
    for axle in (*own, *axles):
        solid = find_solid(points - middle, axle)
        if solid is not None and abs(middle[2] - solid.radius - low[2]) < slack:
            return _Standing(shape.link, middle + solid.along * axle, axle, solid.radius)
    return None


def _rolls(layout: Layout, standing: _Standing) -> bool:
    """Whether a joint turns it about its axle all the same, as that of a drum does."""
    joint = layout.above.get(layout.body(standing.link))
    return (joint is not None and joint.turns and joint.is_free
            and float(np.linalg.norm(np.cross(layout.axis_R(joint), standing.axle))) < PARALLEL)


def _upright_above(layout: Layout, link: str) -> Joint | None:
    """The nearest joint above a link that moves, if it steers."""
    body = layout.body(link)
    joint = layout.above.get(body)
    return joint if joint is not None and joint.turns and is_upright(layout, joint) else None


def _trails(layout: Layout, joint: Joint, standing: _Standing) -> bool:
    """Whether something stands behind or before a joint that swings, as a caster does."""
    trail = abs(ahead_of(standing.axle) @ (standing.centre - layout.X_RL[joint.child][:3, 3]))
    return bool(trail > _TRAIL * standing.radius and swings(layout, joint))


def _blade(layout: Layout, standing: _Standing, joint: Joint | None) -> FoundWheel:
    X = layout.X_RL[standing.link]
    point = X[:3, :3].T @ (standing.centre - [0.0, 0.0, standing.radius] - X[:3, 3])
    lateral = X[:3, :3].T @ standing.axle * (np.sign(standing.axle[1]) or 1.0)
    wheel = Wheel(None, "blade", link=standing.link, axis=to_triple(lateral, 6),
                  point=to_triple(point, 6))
    facts = (Fact(Witness.AXLE, True), Fact(Witness.PLANE, True), Fact(Witness.JOINT, False))
    held = "stands on the ground and has no joint to roll on"
    if joint is None:
        return FoundWheel(wheel, Reason(f"{{}} {held}", (standing.link,), facts))
    return FoundWheel(wheel, Reason(f"{{}} {held}; {{}} steers it", (standing.link, joint.name),
                                    facts))


def _rolling_error(layout: Layout, contacts: Sequence[FoundWheel], blades: Sequence[FoundWheel],
                   stuck: dict[str, FoundWheel]) -> ModelError:
    first = next(iter(stuck))
    joint = layout.above.get(first)
    where = layout.source.label if joint is None else layout.source.at(joint.element)
    look, them = (("looks like a wheel that stands", "it") if len(stuck) == 1
                  else ("look like wheels that stand", "them"))
    axis = stuck[first].wheel.axis
    assert axis is not None, "blades have one"
    found = [*contacts, *blades]
    return ModelError(
        f"{where}: {', '.join(stuck)} {look} on the ground, but no joint lets {them} "
        f"roll{_why(joint, layout)}",
        suggest("Let a continuous joint turn each about its axle "
                f'(<axis xyz="{to_words(np.array(axis))}"/>), or make '
                "each a contact without lateral slip that needs none: ",
                list_wheels(layout, found)))


def _why(joint: Joint | None, layout: Layout) -> str:
    """What the wheel's own joint does instead."""
    if joint is None:
        return ""
    if not joint.turns:
        return f": its joint is {joint.type}"
    if joint.element.find("axis") is None:
        return ": its joint has no <axis>, which in URDF means x, across its axle"
    return f": its joint turns it about ({to_words(joint.axis)}), across its axle"
