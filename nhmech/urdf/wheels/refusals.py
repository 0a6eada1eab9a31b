"""Refusals of a robot whose wheels are not found, each with the line that cures it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np
import pinocchio as pin

from ...errors import FEW, ModelError, Remedy, listed
from ..description import FoundWheel, Reason
from ..elements import DriveType
from ..layout import Joint, Layout, LinkShape, to_triple, to_words
from ..remedy import Blank, WheelFields, ask_for_packages, option, suggest, wheel_fields
from ..upright import NothingStands
from ..wheel import Wheel
from .axis_hints import axis_error, axle_error, axle_words, is_upright, upright_axes
from .casters import list_wheels
from .evidence import Candidate, Findings, has_word, is_ball_joint, turn_about_root
from .kinds import fit_rollers
from .radii import choose_radius, read_radii
from .rims import (
    PARALLEL,
    Rim,
    RimSource,
    UnusedMesh,
    beside_cylinder,
    beside_mesh,
    crossed_cylinder,
    find_rim,
    unused_meshes,
)
from .stance import allowance, axle_R, centre_R, footprint

_MEASURE = ", with RADIUS the distance from the axle to the ground in metres"


def leaning_error(layout: Layout, axles: Sequence[Candidate],
                  leaning: Sequence[Joint]) -> ModelError:
    """The error about joints that would be wheels if their axles were level."""
    rims = [(a.joint, a.rim) for a in axles] + [(j, find_rim(layout, j)) for j in leaning]
    first = leaning[0]
    angle = np.degrees(np.arcsin(abs(layout.axis_R(first)[2])))
    return layout.source.error(
        first.element,
        f"looks like a wheel, but its axle leans {angle:.1f} degrees in the start pose, so it may "
        "be a wheel with camber or no wheel at all",
        suggest("List what touches the ground: ",
                list_wheels(layout, [_contact_of(j, rim) for j, rim in rims if rim is not None])))


def radius_error(layout: Layout, contacts: Sequence[FoundWheel],
                 unknown: Sequence[Candidate]) -> ModelError:
    """The error about wheels of which no source tells the radius."""
    first = unknown[0].joint
    if not contacts and _hang_within(layout, unknown):
        return layout.source.error(
            first.element, "what it turns hangs inside the ball that is the root, so it is no "
            "wheel", _roll_ball(layout, layout.root, [*layout.joints.values()]))
    if crossed := crossed_cylinder(layout, first):
        turned = [_contact_of(axle.joint, axle.rim or _turned_rim(axle)) for axle in unknown
                  if axle.rim or axle.misplaced]
        return axle_error(layout, first, *crossed, suggest(
            "Or, where only the shapes are turned wrongly: ",
            list_wheels(layout, [*contacts, *turned])))
    joints = [axle.joint for axle in unknown]
    meshes = _list_unused(layout, joints)
    shown = [str(mesh) for mesh in meshes[:FEW]]
    beside = {axle.joint.name: beside_cylinder(layout, axle.joint) for axle in unknown}
    shown += [f"the cylinder of {name} (radius {found[0]:.4g} m) lies {found[1]:.4g} m beside it"
              for name, found in beside.items() if found is not None]
    text = (f"the radius of {_names(joints)} is not in the file: no collision or visual shape is "
            f"round about the axle{': ' if shown else ''}{'; '.join(shown)}")
    if all(axle.misplaced for axle in unknown):
        found = [_contact_of(a.joint, _turned_rim(a)) for a in unknown]
        return layout.source.error(first.element, text, suggest(
            "Correct the joints' origins, or, where only the shapes are misplaced: ",
            list_wheels(layout, [*contacts, *found])))
    wheels = _type_all(layout, contacts, unknown)
    return layout.source.error(
        first.element, text,
        suggest(*ask_for_packages(m.package for m in meshes), "Give it: ", option("wheels", wheels),
                f" (and the casters, if there are any){_MEASURE}"))


def check_sides(layout: Layout, contacts: Sequence[FoundWheel]) -> None:
    """Two wheels that a plugin drives as the sides of a differential drive do not stand one behind
    the other, as a bicycle's do.
    """
    for plugin in layout.elements.drives:
        pair = [c.wheel for c in contacts if c.wheel.joint in plugin.wheels]
        if plugin.drive is not DriveType.DIFFERENTIAL or len(pair) != 2:
            continue
        along, apart = axle_R(layout, pair[0]), np.subtract(*(centre_R(layout, w) for w in pair))
        size, slack = float(np.linalg.norm(apart)), PARALLEL * float(np.linalg.norm(apart))
        parallel = np.linalg.norm(np.cross(along, axle_R(layout, pair[1]))) < PARALLEL
        if not parallel or abs(apart[2]) > slack or not abs(along @ apart) < slack < size:
            continue
        joints = [layout.joints[w.name] for w in pair]
        turned = "; ".join(f'{j.name}: rpy="{_turn_left(layout, j)}"' for j in joints)
        raise layout.source.error(
            joints[0].element,
            f"the plugin {plugin.name!r} drives {_names(joints)} as the two sides of a "
            f"differential drive, but their axles lie {size:.4g} m apart, one behind the other: "
            f"each points along ({to_words(along)}) of the base. For one common axle, "
            f"<origin> of {turned}")


def _turn_left(layout: Layout, joint: Joint) -> str:
    """The rpy of a joint turned by a quarter about the vertical, its axle then to the left."""
    R_RP = layout.X_RL[joint.parent][:3, :3]
    quarters = [R_RP.T @ pin.rpy.rpyToMatrix(0.0, 0.0, yaw) @ R_RP @ joint.X_PC[:3, :3]
                for yaw in (np.pi / 2, -np.pi / 2)]
    return to_words(pin.rpy.matrixToRpy(max(quarters, key=lambda R: (R_RP @ R @ joint.axis)[1])))


def lone_error(layout: Layout, lowest: Candidate, pair: Sequence[Candidate],
               above: Sequence[Joint]) -> ModelError:
    """The error about one joint on the ground that may be a wrist: for a `pair` in one plane over
    it that also looks like wheels, or for the joints `above` it that turn about level axes."""
    text = (f"{layout.source.at(lowest.joint.element)}: alone reaches the lowest plane, and no "
            "name or plugin calls it a wheel; ")
    if pair:
        text += f"{_names([a.joint for a in pair])} share a plane above it"
        return ModelError(text, suggest("If it rolls: ", _list(layout, [lowest]),
                                        "; if they do: ", _list(layout, pair)))
    return ModelError(f"{text}it hangs on {_names(above)}, as a wrist does",
                      suggest("If it rolls: ", _list(layout, [lowest])))


def no_wheel_error(layout: Layout, findings: Findings) -> ModelError:
    """The error about a robot in which nothing rolls."""
    turning = [j for j in layout.joints.values() if j.turns]
    label = layout.source.label
    if mistaken := upright_axes(layout):
        return axis_error(layout, mistaken, steer=True)
    if drawn := _find_drawn(layout):
        return _drawn_error(layout, drawn)
    if not turning:
        return NothingStands(f"{label}: no joint turns, so nothing can roll; "
                          "a wheel hangs on a continuous joint with a horizontal axle")
    text = (f"{label}: no rolling joint was found: nothing that turns about a horizontal axle is "
            "round and stands on the ground")
    upright = [j for j in turning if is_upright(layout, j)]
    dummies = [j for j in upright if has_word(layout, j.child)]
    if dummies:
        text += f" ({_names(dummies)}: named wheel, but its axis is not horizontal)"
    free = [a for a in findings.axles if a.is_called or (a.is_free and not a.carries)]
    displaced = ((a.joint, beside_mesh(layout, a.joint)) for a in free)
    if found := next(((joint, mesh) for joint, mesh in displaced if mesh), None):
        return _displaced_error(layout, *found)
    if _hang_within(layout, free):
        return ModelError(text, _roll_ball(layout, layout.root, turning))
    if free:
        wheels = _type_all(layout, [], free)
        blank = any(w["radius"] is Blank.RADIUS for w in wheels)
        return NothingStands(text, suggest(
            *ask_for_packages(m.package for m in _list_unused(layout, [a.joint for a in free])),
            "Name the wheels: ",
            option("wheels", wheels), "; these turn about horizontal axles",
            _MEASURE if blank else ""))
    if ball := next((link for link in layout.links if is_ball_joint(layout, link)), None):
        return NothingStands(text, _roll_ball(layout, ball, layout.path(ball)))
    if below := turn_about_root(layout):
        return ModelError(text, _roll_ball(layout, layout.root, below))
    upright = [j for j in upright if not layout.carried_joints(j.child) and _may_stand(layout, j)]
    if not upright:
        return NothingStands(f"{text}; the joints that turn about one have limits or carry others, "
                             "as those of legs and arms do" if findings.axles else text)
    blades = [_blade(layout, j) for j in upright]
    blank = any(_lowest(layout, j) is None for j in upright)
    return NothingStands(text, suggest(
        *ask_for_packages(m.package for m in _list_unused(layout, upright if blank else [])),
        f"{_names(upright)} can only steer: a wheel drawn in one piece with its steering is a "
        "contact without lateral slip that needs no rolling joint: ", option("wheels", blades),
        " with HEIGHT the contact's height in the link's frame" if blank else ""))


def _hang_within(layout: Layout, axles: Sequence[Candidate]) -> bool:
    """Whether the root is a ball in which all other links and shapes have their origins, and
    neither a name nor a plugin calls one of the axles a wheel."""
    balls = layout.shapes(layout.root)
    if [s.kind for s in balls] != ["sphere"] or any(a.is_named or a.is_listed for a in axles):
        return False
    links = [link for link in layout.links if link != layout.root]
    points = [layout.X_RL[link][:3, 3] for link in links] + [
        shape.centre for link in links for shape in layout.shapes(link, layout.root)]
    return all(np.linalg.norm(p - balls[0].centre) < balls[0].size[0] for p in points)


def _roll_ball(layout: Layout, link: str, joints: Sequence[Joint]) -> Remedy:
    """How to have a robot stand on a ball that joints turn, or inside which they do."""
    radius = next(s.size[0] for s in layout.shapes(link) if s.kind == "sphere")
    turning = [joint.name for joint in joints if joint.turns]
    return suggest(f"If it rolls on the ball {link!r}: ",
                   option("wheels", [Wheel(None, "sphere", radius, link=link)]), ", ",
                   option("free", turning))


def _displaced_error(layout: Layout, joint: Joint,
                     mesh: tuple[str, float, np.ndarray]) -> ModelError:
    """The error about a wheel whose joint is not where its mesh turns."""
    name, radius, middle = mesh
    middle = middle - joint.axis * (joint.axis @ middle)
    origin = to_words(joint.X_PC[:3, 3] + joint.X_PC[:3, :3] @ middle)
    return layout.source.error(
        joint.element, f"its axis is {np.linalg.norm(middle):.4g} m beside its wheel: the mesh "
        f"{name!r} is round, with a radius of {radius:.4g} m, about a line through "
        f"({to_words(middle)}) of {joint.child!r}. Put the joint there, <origin "
        f'xyz="{origin}" ...>, and add ({to_words(-middle)}) to each <origin xyz> in this link')


def _find_drawn(layout: Layout) -> list[LinkShape]:
    """Cylinders that lie on one plane below all others; none unless two are of the base."""
    lying = [(float(layout.X_RL[link][2] @ [*s.centre, 1.0]) - s.size[0], s)
             for link in layout.links
             for s in layout.shapes(link) or layout.shapes(link, tag="visual")
             if s.kind == "cylinder" and s.size[0] > 0
             and abs(layout.X_RL[link][2, :3] @ s.axis) < PARALLEL]
    if not lying:
        return []
    floor, usual = min(bottom for bottom, _ in lying), median(s.size[0] for _, s in lying)
    low = [s for bottom, s in lying if bottom - floor < allowance(s.size[0], usual)]
    return low if sum(layout.body(s.link) == layout.root for s in low) > 1 else []


def _drawn_error(layout: Layout, drawn: Sequence[LinkShape]) -> ModelError:
    """The error about wheels that no joint lets roll."""
    links = list(dict.fromkeys(shape.link for shape in drawn))
    fixed = all(link in layout.above and not layout.above[link].moves for link in links)
    axles: dict[str, list[str]] = {}
    for shape in drawn:
        axles.setdefault(axle_words(layout, shape.link, shape.axis), []).append(shape.link)
    axes = ", and ".join(f'<axis xyz="{axis}"/> for {listed(dict.fromkeys(named), FEW)}'
                         for axis, named in axles.items())
    each = (f"make their joints continuous, with {axes}" if fixed
            else "give each a link of its own, on a continuous joint that turns it about its axle")
    return ModelError(f"{layout.source.label}: no rolling joint was found: {len(drawn)} cylinders "
                      f"of {listed(links, FEW)} that lie on one plane look like wheels, but no "
                      f"joint lets them roll about their axles; {each}")


def _may_stand(layout: Layout, joint: Joint) -> bool:
    """Whether a wheel may be drawn on an upright joint: what lies, what is a mesh, or nothing."""
    shapes = [s for tag in ("collision", "visual") for link in layout.rigid(joint.child)
              for s in layout.shapes(link, joint.child, tag)]
    return not shapes or any(
        s.kind in ("sphere", "mesh")
        or (s.kind == "cylinder" and abs(s.axis @ joint.axis) < PARALLEL) for s in shapes)


def _list(layout: Layout, axles: Sequence[Candidate]) -> Remedy:
    return list_wheels(layout, [_contact_of(a.joint, a.rim) for a in axles if a.rim is not None])


def _contact_of(joint: Joint, rim: Rim) -> FoundWheel:
    return FoundWheel(Wheel(joint.name, "disc", rim.radius, axis=to_triple(joint.axis),
                            link=joint.child, point=rim.centre), Reason(""))


def _turned_rim(axle: Candidate) -> Rim:
    """A rim of the size of the cylinder that lies across an axle or beside it."""
    return Rim(axle.misplaced or 0.0, (0.0, 0.0, 0.0), 0.0, axle.joint.child,
               RimSource.COLLISION_PRIMITIVE, "cylinder")


def _type_all(layout: Layout, contacts: Sequence[FoundWheel],
              unknown: Sequence[Candidate]) -> list[WheelFields]:
    """The wheels to type, with rollers where the file has some; a radius is blank where no source
    gives it."""
    radii: dict[str, float | Blank] = {}
    found = list(contacts)
    for axle in unknown:
        chosen = choose_radius(read_radii(layout, axle.joint, axle.height), axle.rim)
        radius = axle.misplaced if chosen is None else float(f"{chosen.value:.4g}")
        radii[axle.joint.name] = Blank.RADIUS if radius is None else radius
        wheel = Wheel(axle.joint.name, "disc", radius or 1.0, axis=to_triple(axle.joint.axis),
                      link=axle.joint.child, point=(0.0, 0.0, 0.0))
        found.append(FoundWheel(wheel, Reason("")))
    steering = [joint.name for joint in layout.joints.values() if is_upright(layout, joint)]
    wheels = [contact.wheel for contact in fit_rollers(layout, found, steering)[0]]
    return [wheel_fields(w, radius=radii.get(w.name, w.radius)) for w in wheels]


def _blade(layout: Layout, joint: Joint) -> WheelFields:
    """The blade to type for a wheel that is drawn in one piece with its steering."""
    lateral = layout.X_RL[joint.child][1, :3]
    touching = _lowest(layout, joint)
    point = (0.0, 0.0, Blank.HEIGHT) if touching is None else to_triple(touching)
    return {"joint": None, "kind": "blade", "link": joint.child, "axis": to_triple(lateral),
            "point": point}


def _lowest(layout: Layout, joint: Joint) -> np.ndarray | None:
    """Where the wheel drawn on a joint touches the ground, (3,) in the child's frame; None where no
    shape tells."""
    down = -layout.X_RL[joint.child][2, :3]
    points = []
    for shape in (s for link in layout.rigid(joint.child)
                  for s in layout.shapes(link, joint.child)):
        if shape.kind == "sphere" or (shape.kind == "cylinder"
                                      and abs(shape.axis @ down) < PARALLEL):
            points.append(shape.centre + shape.size[0] * down)
    if not points and (mark := footprint(layout)) is not None:
        points = [(layout.X_RL[joint.child][2, 3] - mark[1]) * down]
    return max(points, key=lambda p: p @ down, default=None)


def _list_unused(layout: Layout, joints: Sequence[Joint]) -> list[UnusedMesh]:
    """Meshes of these rotors that give no radius, each file once."""
    found: dict[str, UnusedMesh] = {}
    for mesh in (m for joint in joints for m in unused_meshes(layout, joint)):
        found.setdefault(mesh.filename, mesh)
    return list(found.values())


def _names(joints: Sequence[Joint]) -> str:
    return listed((j.name for j in joints), FEW)
