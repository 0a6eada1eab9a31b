"""Mechanics, mobility and geometry of a vehicle in plain values and short sentences."""

from __future__ import annotations

from collections import Counter
from math import degrees

import numpy as np

from ..errors import MechanicsError
from ..vehicle.proportions import Way, proportions
from ..vehicle.vehicle import Vehicle
from .axles import axles
from .curvature import describe_curvature
from .ignorable import describe_symmetry
from .mobility import mobility
from .structure import MANY, Structure, structure
from .validity import validity

ROUNDING = 1e-6      # [m] distances below it are not worth a word


def mechanics_summary(vehicle: Vehicle) -> dict:
    """Sizes, kept and dropped rows, couplings, speeds, support, symmetry."""
    names, steering = vehicle.constrained.distribution.names, vehicle.steering
    kept = [names[i] for i in vehicle.frame.kept]
    leaders = steering.pair() if steering.coupled else ()
    followers = [axle for axle in steering.steered if leaders and axle not in leaders]
    offsets = vehicle.support.offsets
    return {
        "name": vehicle.name,
        "nq": vehicle.algebroid.nq,
        "nv": vehicle.algebroid.nv,
        "nxi": vehicle.frame.nxi,
        "speeds": dict(zip(vehicle.frame.names, vehicle.frame.units)),
        "inputs": list(vehicle.constrained.system.u_names),
        "rows": list(names),
        "kept_rows": kept,
        "dropped_rows": [name for name in names if name not in kept],
        "followers": [axle.steering for axle in followers],
        "leaders": [axle.steering or axle.wheel for axle in leaders],
        "support_offsets": dict(zip(vehicle.contact_names, map(float, offsets))),
        "level_base": vehicle.support.level,
        "symmetry": describe_symmetry(vehicle),
    }


def size_summary(vehicle: Vehicle) -> dict:
    """Mass, centre of mass, wheelbase, track, and the slopes [rad] at which it tips over."""
    found = proportions(vehicle)
    return {
        "mass": found.mass,
        "centre_of_mass": found.centre_of_mass,
        "wheelbase": found.wheelbase,
        "track": found.track,
        "tip_angles": {way.name.lower(): found.tip_angle(way) for way in Way},
    }


def mobility_summary(vehicle: Vehicle) -> dict:
    """Class, rotation centre in the zero pose, dependent rows, undetermined reactions, and what to
    free."""
    found, here = mobility(vehicle), axles(vehicle)
    skidding = vehicle.description.track_factor is not None or vehicle.description.released
    gripping = axles(vehicle, gripping=True) if skidding else here
    return {
        "class": None if found.type is None else list(found.type),
        "class_in_words": found.type_in_words,
        "manoeuvrability": found.manoeuvrability,
        "rank": found.rank,
        "rows": found.rows,
        "rotation_centre": (here.describe() if vehicle.description.track_factor is None else
                            "of the mid-axle model, anywhere on the axle through the middle"),
        "dependent_rows": [str(dependence) for dependence in found.dependent],
        "undetermined": [{"contact": contact, "direction": direction}
                         for contact, direction in found.undetermined],
        "undetermined_dimension": found.splits,
        "normals_at_rest": _at_rest(vehicle),
        "to_free": [list(names) for names in gripping.to_free()] if skidding else [],
        "why_locked": gripping.place() if skidding else None,
    }


def _at_rest(vehicle: Vehicle) -> dict[str, float] | None:
    """Normal force of each wheel [N] at rest in the zero pose without effort; None if not to be
    found or one lifts."""
    zero = np.zeros(vehicle.algebroid.nv)
    try:
        found = validity(vehicle, 0.0, vehicle.configuration(), zero,
                         np.zeros(vehicle.constrained.system.u.numel()))
    except MechanicsError:
        return None
    return None if found.lifted else {one.wheel: one.normal for one in found.wheels}


def geometry_summary(vehicle: Vehicle, operations: float = MANY) -> dict:
    """Growth vector with its variables, controllability, integrable combinations, symmetry; no
    further level of brackets is begun where they have more than this many instructions."""
    found = structure(vehicle, vehicle.constrained.configurations[0], operations=operations)
    return {
        "variables": list(found.variables),
        "left_out": list(found.left_out),
        "frozen": list(found.frozen),
        "growth": list(found.growth.ranks),
        "growth_here": list((found.here or found.growth).ranks),
        "degree_of_nonholonomy": found.growth.degree,
        "gap": [min(found.growth.kept), max(found.growth.dropped)],
        "controllable": found.controllable,
        "controllable_in_words": controllability(found),
        "integrable": [str(combination) for combination in found.combinations],
        "curvature": [] if found.curvature is None else [
            {"of": of, "loop": [a, b], "value": value} for (of, a, b),
            value in found.curvature.components.items()],
        "curvature_in_words": describe_curvature(found.curvature),
        "symmetry": {c.group: c.kind for c in found.symmetries},
    }


def controllability(found: Structure) -> str:
    """Chow's theorem in one sentence."""
    reached, dimension = (found.here or found.growth).ranks[-1], found.dimension
    names = ", ".join(found.variables)
    if reached > dimension:
        return (f"undecided: the zero pose is singular: the contacts leave {reached} directions "
                f"free there, {dimension} elsewhere: {names}")
    if found.controllable is None:
        return (f"undecided: the brackets that were tried span {reached} of {dimension}")
    if found.controllable:
        return f"yes: the brackets span all {dimension} of {names}"
    text = f"no: the brackets span {reached} of {dimension} of {names}"
    if found.further:
        text += (f"; {found.further} conserved functions of them are not linear in joint angles "
                 "and yaw")
    return text


def size_lines(found: dict) -> dict[str, str]:
    """`size_summary` as lines of text."""
    centre, lengths = found["centre_of_mass"], []
    mass = f"{found['mass']:.4g} kg"
    if centre is not None:
        sides = [_side(centre[0], "ahead of", "behind")]
        if abs(centre[1]) > ROUNDING:
            sides.append(_side(centre[1], "left of", "right of"))
        mass += (f", its centre {' and '.join(sides)} the base's origin, "
                 f"{centre[2]:.4g} m above the ground")
    for name in ("wheelbase", "track"):
        lengths.append(f"{name} {found[name]:.4g} m" if found[name] else f"no {name}")
    angles = [f"{way} {degrees(angle):.3g}" for way, angle in found["tip_angles"].items()
              if angle is not None]
    return {"mass": mass, "wheels": ", ".join(lengths),
            "tips at": f"{', '.join(angles)} degrees of slope, at rest and without slip" if angles
                       else "no angle: the contacts are in one line, which supports no lean"}


def _side(distance: float, more: str, less: str) -> str:
    """The distance in words, such as "0.12 m ahead of"; rounding noise is ignored."""
    return (f"{abs(distance):.4g} m {more if distance > 0 else less}"
            if abs(distance) > ROUNDING else f"0 m {more}")


def mobility_lines(found: dict) -> dict[str, str]:
    """`mobility_summary` as lines of text."""
    lines = {
        "class": f"({found['class'][0]}, {found['class'][1]}), manoeuvrability "
                 f"{found['manoeuvrability']}: {found['class_in_words']}",
        "rotation centre": found["rotation_centre"],
        "dependent rows": _some(found["dependent_rows"], 2, "; "),
        "undetermined": _undetermined_line(found),
    }
    if found["normals_at_rest"]:
        lines["load at rest"] = ", ".join(f"{wheel} {force:.4g} N"
                                          for wheel, force in found["normals_at_rest"].items())
    if found["why_locked"]:
        free = " or ".join(" and ".join(names) for names in found["to_free"])
        lines |= {"all gripping": found["why_locked"],
                  "what to free": f"the lateral rows of {free}" if free else "nothing"}
    return lines


def geometry_lines(found: dict) -> dict[str, str]:
    """`geometry_summary` as lines of text."""
    frozen, angles = ", ".join(found["frozen"]), len(found["left_out"])
    left = filter(None, [f"{frozen} (frozen)" if frozen else "",
                         f"{angles} joint angles" if angles else ""])
    names = ", ".join(found["variables"])
    here = ("" if found["growth_here"] == found["growth"]
            else f", in the zero pose {_vector(found['growth_here'])}")
    return {
        "growth vector": f"{_vector(found['growth'])} of {len(found['variables'])}{here}: {names}; "
                         f"singular values >= {found['gap'][0]:.2g} or <= {found['gap'][1]:.1g}",
        "modulo": " and ".join(left) or "nothing",
        "controllable": found["controllable_in_words"],
        "integrable": _some(found["integrable"], 3, "; "),
        "curvature": found["curvature_in_words"],
        "symmetry": "; ".join(f"{group}: {kind}"
                              for group, kind in found["symmetry"].items()) or "none found",
    }


def _vector(ranks: list[int]) -> str:
    return f"({', '.join(map(str, ranks))})"


def _undetermined_line(found: dict) -> str:
    """The line, such as "2 ways to split lateral forces (4 wheels), normal forces (4 wheels)"."""
    wheels = Counter(component["direction"] for component in found["undetermined"])
    count = found["undetermined_dimension"]
    if not count:
        return "nothing: every contact force follows from the motion"
    parts = " and ".join(f"the {direction} forces of {number} wheels"
                         for direction, number in wheels.items())
    return (f"{parts}: {count} dimension{'s' if count > 1 else ''} of their split; what they add "
            "up to is determined")


def _some(items: list[str], count: int, separator: str) -> str:
    more = len(items) - count
    return (separator.join(items[:count]) + (f"{separator}{more} more (--json)" if more > 0
                                             else "")) or "none"
