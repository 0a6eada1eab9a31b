"""Builds a `Vehicle` from a description and a ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..mechanics.distribution import assemble
from ..mechanics.system import ConstrainedSystem
from ..urdf.description import NO_LIMITS, Description
from .axles import find_axles
from .contact import Contact, mounts
from .context import BuildContext
from .couplings import Axle, Steering
from .formulation import Formulation, formulate
from .ground import Ground
from .lagrangian import vehicle_lagrangian
from .model import (
    add_deflections,
    body_names,
    full_model,
    is_prismatic,
    lock_joints,
    read_joint,
)
from .parameters import (
    Parameters,
    gravity_vector,
    has_symbolic_inertia,
    read_parameters,
    write_parameters,
)
from .placement import find_support, make_placer
from .posing import Gauge, Posing
from .remarks import remarks
from .rows import constraint_rows, contact_span
from .samples import sample_configurations
from .symmetry import add_vertical, check_reduction, find_frozen, shorten
from .tree import algebroid_of, is_axisymmetric, see_from_root
from .tyres import check_tyres, deflections, tyre_friction
from .vehicle import Vehicle

LEVEL = 0.5      # least |axle x vertical| of a gauged wheel in the zero pose; 1 is meant


def build(description: Description, ground: Ground, parameters: Parameters | None = None,
          near: np.ndarray | None = None, wrench_bodies: Sequence[str] = ()) -> Vehicle:
    """Builds the vehicle.

    `parameters` replace those of the description. With `near`, rows, speeds and coupling pair are
    chosen for that configuration alone. External wrenches on `wrench_bodies` become inputs.

    Raises `ModelError` if the vehicle cannot stand, cannot turn, or is built inconsistently;
    `InputError` for impossible parameters and unknown links.
    """
    if near is not None:
        # named speeds hold at the start of a run; elsewhere others may be needed
        description = replace(description, speeds=None)
    context = _make_context(description, ground, parameters, wrench_bodies)
    sites = mounts(context.model, description.wheels)

    view = see_from_root(context.algebroid, _world(context), context.origin)
    full = formulate(context, sites, view, context.algebroid)
    posing = _find_posing(context, full.contacts)
    pair = _choose_pair(context.model, posing.steering, near)
    everywhere = sample_configurations(description, posing)
    samples = everywhere if near is None else near[None, :]
    constrained = _constrain(context, full, full, posing, pair, samples)

    # an upright pose would make a lean seem constant, because n_z is stationary there
    anywhere = replace(constrained, samples=np.vstack([samples, everywhere]))
    frozen = find_frozen(anywhere, full.normal, context.parameters)
    short, auxiliaries = shorten(context, view, frozen)
    space = add_vertical(context.algebroid, short.vectors["z"])
    brief = formulate(context, sites, short, space, auxiliaries)
    reduced = _constrain(context, brief, full, posing, pair, samples)
    check_reduction(constrained, reduced)

    vehicle = Vehicle(description, ground, context.model, context.parameters, constrained, reduced,
                      full.contacts, posing, context.wrench_bodies,
                      partial(build, description, ground))
    return replace(vehicle, notices=(*description.notices, *remarks(vehicle)))


def parameters_of(description: Description) -> Parameters:
    """All parameters of the vehicle with the values of its description."""
    return _read_model(description)[2]


def _read_model(description: Description) -> tuple[pin.Model, tuple[str, ...], Parameters]:
    """The model, the names of its bodies, and `parameters_of`."""
    model, _ = lock_joints(full_model(description), description)
    add_deflections(model, massless := deflections(description.wheels))
    names = body_names(model)
    return model, names, read_parameters(model, names, description, massless)


def _make_context(description: Description, ground: Ground, parameters: Parameters | None,
                  wrench_bodies: Sequence[str]) -> BuildContext:
    model, names, own = _read_model(description)
    parameters = parameters or own
    write_parameters(model, names, parameters)
    check_tyres(description.wheels, parameters)
    # a point with a wrench may turn with the wheel
    pushed = {frame.parentJoint for frame in model.frames if frame.name in wrench_bodies}
    spinning = {joint for name in description.rolling
                if is_axisymmetric(model, joint := model.getJointId(name))
                and joint not in pushed and not has_symbolic_inertia(parameters, names[joint])}
    algebroid = algebroid_of(model)
    v, a, t = ca.SX.sym("v", algebroid.nv), ca.SX.sym("a", algebroid.nv), ca.SX.sym("t")
    return BuildContext(description, ground, parameters, model, names, algebroid, v, a, t,
                        frozenset(spinning), tuple(wrench_bodies))


def _world(context: BuildContext) -> dict[str, ca.SX]:
    """Vectors in W that the bodies see: the axes, gravity, and vectors of the ground."""
    ground, (t1, t2) = context.ground, context.ground.tangents
    vectors = {"n": ground.normal, "t1": t1, "t2": t2, "velocity": ground.velocity,
               "turning": ground.angular_velocity, "x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    world = {name: ca.SX(ca.sparsify(ca.DM(np.array(vector, dtype=float))))
             for name, vector in vectors.items()}
    return world | {"g": gravity_vector(context.parameters)}


def _find_posing(context: BuildContext, contacts: Sequence[Contact]) -> Posing:
    placer, model, description = make_placer(context, contacts), context.model, context.description
    turned = frozenset(name for name in context.joint_names if name not in description.rolling
                       and not is_prismatic(model, model.getJointId(name)))
    support = find_support(placer, contacts)
    standing = placer.place(placer.upright(pin.neutral(model)), support)
    return Posing(placer, support, find_axles(context, contacts, standing),
                  _find_gauge(context, contacts), np.array(context.ground.point),
                  description.locked, turned, _find_starts(description), description.mimic)


def _find_starts(description: Description) -> dict[str, float]:
    """Free joints whose limits exclude zero, without those that follow others, and the limit
    nearest to it [rad, m]."""
    led = {mimic.joint for mimic in description.mimic}
    limits = {name: description.limits.get(name, NO_LIMITS) for name in description.free}
    return {name: max(limit.lower, min(limit.upper, 0.0)) for name, limit in limits.items()
            if name not in led and not limit.lower <= 0.0 <= limit.upper}


def _find_gauge(context: BuildContext, contacts: Sequence[Contact]) -> Gauge | None:
    """The gauge of a massless root whose only child is a wheel: nothing else determines how the
    root turns about the axle."""
    model, description = context.model, context.description
    if model.inertias[1].mass > 0 or model.njoints != 3 or len(contacts) != 1:
        return None
    mount = contacts[0].mount
    if mount.spin is None or mount.axle is None:
        return None
    joint = model.names[2]
    if joint in description.driven or description.damping.get(joint, 0.0):
        raise ModelError(f"{joint!r} is driven or damped against a root without mass, which cannot "
                         "bear the reaction: remove the effort or damping, or give the root link "
                         "an inertia")
    level = np.cross(mount.axle, [0.0, 0.0, 1.0])
    if np.linalg.norm(level) < LEVEL:
        raise ModelError(f"wheel {contacts[0].name!r}: in the zero pose its axle must be level, it "
                         f"is {mount.axle}")
    return Gauge(joint, mount.axle, level / np.linalg.norm(level))


def _choose_pair(model: pin.Model, steering: Steering,
                 near: np.ndarray | None) -> tuple[Axle, Axle] | None:
    """The two axles in the coupling functions; None without a coupling."""
    if not steering.coupled:
        return None
    if near is None:
        return steering.pair()
    return steering.pair({axle.steering: read_joint(model, near, axle.steering)
                          for axle in steering.steered})


def _constrain(context: BuildContext, form: Formulation, full: Formulation, posing: Posing,
               pair: tuple[Axle, Axle] | None, samples: np.ndarray) -> ConstrainedSystem:
    """The constrained system in one formulation; `full` is the one without short symbols."""
    rows = constraint_rows(context, form, full, posing, pair)
    spans = []
    if form.auxiliaries is not None and context.description.track_factor is None:
        spans = [span for c in form.contacts if (span := contact_span(c, context.v)) is not None]
    guards, guard_names = _guards(full.contacts)
    distribution = assemble(rows, form.space.nv, spans)
    loads = ca.SX.sym("loads", distribution.m)
    return ConstrainedSystem(
        vehicle_lagrangian(context, form), distribution, loads=loads,
        friction=tyre_friction(context, form.contacts, distribution.names, loads),
        parameters=context.parameters.numbers, samples=samples,
        preferred=_prefer(context.description, posing.steering, pair),
        scales=_scales(context, full.contacts, posing.steering.length),
        guards=guards, guard_names=guard_names)


def _guards(contacts: Sequence[Contact]) -> tuple[ca.SX, tuple[str, ...]]:
    """|axle x n| of each wheel, which is zero if the wheel lies on its side; and names."""
    sines, texts = [], []
    for c in contacts:
        if c.sine is None:
            continue
        lost = ("its directions of rolling are lost" if c.mount.wheel.traits.is_ball
                else "a wheel lying flat has no contact point")
        sines.append(c.sine)
        texts.append(f"the axle of {c.name!r} is parallel to the ground's normal: {lost}")
    return ca.vertcat(ca.SX(0, 1), *sines), tuple(texts)


def _scales(context: BuildContext, contacts: Sequence[Contact], length: float) -> np.ndarray:
    """Metres per unit of each fibre coordinate: 1 for speeds, the wheel's radius, or the vehicle's
    length for turns."""
    scales = np.array([1.0 if unit == "m/s" else length for unit in context.algebroid.v_units])
    for c in contacts:
        if c.mount.spin is not None:
            scales[c.mount.spin] = c.mount.wheel.radius
    return scales


def _prefer(description: Description, steering: Steering,
               pair: tuple[Axle, Axle] | None) -> tuple[tuple[str, ...], ...]:
    """Preferred independent speeds: leaders and driven joints, then wheels, then the rotation of
    the base, yaw first."""
    leading = [axle.steering for axle in pair or () if axle.steering]
    followers = {axle.steering for axle in steering.steered} - set(leading) if pair else set()
    driven = [name for name in description.driven if name not in followers]
    first = tuple(dict.fromkeys(leading + driven))
    return first, tuple(description.rolling), ("yaw_rate",), ("roll_rate", "pitch_rate")
