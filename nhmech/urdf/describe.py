"""From a file to a `Description`: read, validate, find the wheels, give every joint its role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from numbers import Real
from os import PathLike
from pathlib import Path

from ..checks import read_names
from ..errors import InputError, ModelError
from .description import Description, FoundWheel, Skid
from .joint_properties import (
    find_massless,
    read_damping,
    read_limits,
    read_mu,
    read_stiffness,
    report_light_base,
)
from .layout import Layout
from .notice import Notice
from .packages import missing_meshes
from .remedy import option, suggest
from .repair import give_mass
from .straighten import snap_joints, straighten_axles, straighten_steering
from .tag import parse_tag
from .text.fault import Fault, FaultyFile, faulty_file, pass_faults
from .text.source import Source, read_source
from .text.validate import validate
from .upright import NothingStands, advise_upright
from .validate_inertia import check_bodies, repair_inertias
from .wheel import Wheel
from .wheels.bearing import check_single, report_bearing
from .wheels.casters import infer_casters
from .wheels.heights import check_distances, check_heights, check_root, report_heights
from .wheels.inference import find_unlisted, infer_wheels, rolling_candidates
from .wheels.listed_wheels import Origin, complete_wheels, find_joint, read_wheels
from .wheels.opposed import report_opposed
from .wheels.roles import assign_roles, choose_driven, couple, report_held, report_leaning
from .wheels.skid import SkidArgument, check_released, choose_turning, read_skid
from .wheels.told_sides import report_sides
from .wheels.tyres import TyresArgument, put_tyres
from .wheels.unrolled import infer_blades
from .wheels.wheel_inertia import check_wheel_inertia


def describe(source: str | bytes | PathLike, *, wheels: Sequence[Wheel] | None = None,
             free: Sequence[str] = (), locked: Mapping[str, float] | None = None,
             skid: SkidArgument = None, speeds: Sequence[str] | None = None,
             packages: Mapping[str, str | Path] | None = None,
             arguments: Mapping[str, str] | None = None, repair: bool = False,
             tyres: TyresArgument = None) -> Description:
    """Decides everything but mechanics about a robot; arguments and errors as of `load`."""
    if not isinstance(repair, bool):
        raise InputError(f"repair = {repair!r} must be True or False")
    said = Choices(wheels, read_names("free", free), _read_positions(locked), read_skid(skid),
                   read_names("speeds", () if speeds is None else speeds), repair, tyres)
    document = read_source(source, packages, arguments)
    faults, notices = validate(document)
    if repair:
        notices += repair_inertias(document)
    try:
        return _decide(document, faults, notices, said)
    except FaultyFile:
        raise
    except ModelError as error:
        # what follows from a guess may contradict what the file says
        if guessed := [fault for fault in faults if not fault.certain]:
            raise faulty_file(document.label, guessed if repair else faults) from error
        further = error
        if isinstance(error, NothingStands):
            advice = "" if repair else advise_upright(
                Layout(document).root, partial(_read_carried, document, said))
            further = ModelError(error.text + advice, None if advice else error.remedy)
        if repair or not faults:
            raise further from None
        raise faulty_file(document.label, faults, further) from error


@dataclass(frozen=True)
class Choices:
    """What the user says about a robot beside its file: arguments of `load`."""

    wheels: Sequence[Wheel] | None
    free: tuple[str, ...]
    locked: dict[str, float]
    skid: Skid | None
    speeds: tuple[str, ...]
    repair: bool
    tyres: TyresArgument


def _read_carried(document: Source, said: Choices, rpy: str) -> Description:
    """`describe` of the robot on a root of its own, which carries it with this rpy."""
    root = Layout(document).root
    carrier = (f'<link name="{root}-"/><joint name="{root}-" type="fixed"><origin rpy="{rpy}"/>'
               f'<parent link="{root}-"/><child link="{root}"/></joint></robot>')
    turned = read_source(document.text.rpartition("</robot>")[0] + carrier, document.packages,
                         path=document.path)
    return _decide(turned, *validate(turned), said)


def _decide(document: Source, faults: tuple[Fault, ...], notices: list[Notice],
            said: Choices) -> Description:
    """`describe` of a file whose faults are repaired for now."""
    tag = parse_tag(document)

    # arguments go before what the file says
    to_free = (*said.free, *(name for name in tag.free if name not in said.locked))
    to_lock = {name: q for name, q in tag.lock.items() if name not in said.free} | said.locked
    in_file = {*tag.free, *tag.lock} - {*said.free, *said.locked}
    for name in to_lock:
        find_joint(Layout(document), name, Origin.TAG if name in in_file else Origin.LOCKED)
    origin = Origin.TAG if said.wheels is None else Origin.WHEELS
    listed = tag.wheels if said.wheels is None else said.wheels
    given = None if listed is None else read_wheels(listed, origin)

    notices += snap_joints(document, _carriers(Layout(document, to_lock), given))
    layout = Layout(document, to_lock)
    check_single(layout)
    if given is None:
        contacts, more = _infer(layout)
    else:
        contacts, more = complete_wheels(layout, given, origin)
        check_root(layout, [c.wheel for c in contacts])
    contacts = put_tyres(contacts, said.tyres)
    if said.repair:
        more = [*more, *give_mass(layout, contacts)]
    notices = more + notices + check_wheel_inertia(layout, contacts)
    chosen = [c.wheel for c in contacts]

    # tyres slip by themselves
    scrubs = any("lateral" in wheel.held for wheel in chosen)
    gives_way = said.skid or (tag.skid if scrubs else None)
    check_released(gives_way, chosen, Origin.TAG if said.skid is None else Origin.SKID)
    roles, more = assign_roles(layout, chosen, to_free, to_lock, in_file)
    notices += more
    if given is not None:
        notices += [*report_heights(layout, chosen),
                    *find_unlisted(layout, chosen, roles.locked, to_lock)]
    if len(chosen) > 2 and (more := straighten_steering(layout, chosen, roles.steering)):
        notices += more
        layout = Layout(document, to_lock)
    contacts, more = straighten_axles(layout, contacts, roles.steering, inferred=given is None)
    notices += more
    turning = choose_turning(layout, contacts, roles.steering, gives_way, held=to_lock,
                             inferred=given is None)
    contacts, chosen = turning.contacts, [c.wheel for c in turning.contacts]

    roles, mimic, more = couple(layout, roles, to_lock, chosen)
    notices += more + report_leaning(layout, chosen, roles, to_lock) + report_held(roles, to_lock)
    driven, more = choose_driven(layout, chosen, roles, tag.drive)
    notices += more
    limits, more = read_limits(layout, roles, driven)
    notices += more
    damping, more = read_damping(layout, roles)
    notices += more + find_massless(layout, roles.moving)
    notices += report_light_base(layout, roles.rolling)
    impossible, more = check_bodies(layout, roles.moving, chosen)
    faults = (*faults, *impossible)
    notices += more + pass_faults(document.label, faults, roles.moving, said.repair)
    notices += missing_meshes((mesh.get("filename", "") for mesh in
                               document.root.iterfind("link/visual/geometry/mesh")),
                              document.packages, document.path)
    notices += report_bearing(layout, chosen, roles.steering)
    notices += report_opposed(layout, chosen, roles.steering) + report_sides(layout, chosen)
    return Description(
        xml=document.text,
        name=document.root.get("name", ""),
        root=layout.root,
        wheels=tuple(chosen),
        rolling=roles.rolling,
        path=document.path,
        steering=roles.steering,
        driven=driven,
        free=roles.free,
        locked=roles.locked,
        mimic=mimic,
        damping=damping,
        limits=limits,
        speeds=said.speeds or tag.speeds,
        skid=turning.skid,
        reasons={c.wheel.name: c.reason for c in contacts},
        notices=(*turning.notices, *notices),
        packages=document.packages,
        mu=read_mu(layout, chosen),
        stiffness=read_stiffness(layout, chosen),
    )


def _infer(layout: Layout) -> tuple[list[FoundWheel], list[Notice]]:
    contacts, notices = infer_wheels(layout)
    check_distances(layout, contacts)
    check_root(layout, [c.wheel for c in contacts])
    check_heights(layout, contacts)
    blades, more = infer_blades(layout, contacts)
    contacts += blades
    casters, on_casters = infer_casters(layout, contacts)
    return contacts + casters, more + notices + on_casters


def _carriers(layout: Layout, wheels: Sequence[Wheel] | None) -> set[str]:
    """Joints between the root and any wheel, given or to be inferred."""
    if wheels is None:
        links = [j.child for j in rolling_candidates(layout)]
    else:      # names that do not exist get their errors when the wheels are completed
        links = [layout.joints[w.joint].child for w in wheels if w.joint in layout.joints]
        links += [w.link for w in wheels if w.joint is None and w.link in layout.links]
    return {joint.name for link in links for joint in layout.path(link)}


def _read_positions(locked: object) -> dict[str, float]:
    if locked is None:
        return {}
    if not isinstance(locked, Mapping):
        raise InputError(f"locked {locked!r} must map joint names to positions",
                         suggest("For example ", option("locked", {"arm_joint": 0.3})))
    for name, position in locked.items():
        if isinstance(position, bool) or not isinstance(position, Real) or not isfinite(position):
            raise InputError(f"locked: position {position!r} of {name!r} must be a finite number "
                             "[rad, m]")
    return {str(name): float(position) for name, position in locked.items()}
