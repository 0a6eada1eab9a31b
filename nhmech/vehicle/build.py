"""Description + ground -> Vehicle: the one place where the pieces are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..mechanics.algebroid import LieAlgebroid, rotation
from ..mechanics.distribution import Row, assemble
from ..mechanics.system import AuxiliaryVariables, ConstrainedSystem
from ..urdf.description import Description
from .axles import find_axles, steering_angles
from .contact import Contact, Mount, body_names, contact, mounts
from .couplings import Axle, Steering
from .ground import Ground
from .inertia import has_symbolic_inertia, lumped_inertias, parameter_values, write_inertias
from .lagrangian import lagrangian_system
from .model import full_model, reduced_model
from .parameters import Parameters
from .placement import Placer, Support, sample_configurations
from .rows import (
    FIXED_AXLE,
    FOLLOWER,
    ROLLING,
    contact_rows,
    contact_span,
    function_row,
    gauge_row,
    mid_axle_rows,
    mimic_row,
)
from .symmetry import (
    Frozen,
    changes_attitude,
    check_reduction,
    frozen_normal,
    root_auxiliaries,
    with_vertical,
)
from .tree import Body, algebroid_of, is_axisymmetric, kinematics, seen_from_root
from .vehicle import Gauge, Vehicle

# of the smallest radius: a contact this far out of the common plane is taken for rounding
OFFSET_TOLERANCE = 0.05


def build(description: Description, ground: Ground, parameters: Parameters | None = None,
          near: np.ndarray | None = None, wrench_bodies: Sequence[str] = ()) -> Vehicle:
    """Builds the vehicle.

    Parameters
    ----------
    parameters
        Other numbers than the description's.
    near
        Choose rows, speeds and the coupling pair for this configuration alone.
    wrench_bodies
        Links on which an external wrench is an input.

    Raises
    ------
    ModelError
        Where the vehicle cannot stand, cannot turn, or is built inconsistently.
    """
    if near is not None:
        # named speeds are where a run begins; elsewhere others may have to serve
        description = replace(description, speeds=None)
    model = reduced_model(full_model(description), description)
    names = body_names(model)
    parameters = parameters or Parameters(parameter_values(model, names, description))
    write_inertias(model, names, parameters)
    algebroid = algebroid_of(model)
    v, a, t = ca.SX.sym("v", algebroid.nv), ca.SX.sym("a", algebroid.nv), ca.SX.sym("t")
    normal = np.array(ground.normal)

    world = seen_from_root(algebroid, _world(ground, parameters))
    origin = ca.SX(ca.DM(ground.point)) + ca.SX(ca.sparsify(ca.DM(ground.velocity))) * t
    position = rotation(algebroid.q[3:7]).T @ (algebroid.q[:3] - origin)
    # a point of it may go round with the wheel
    pushed = {frame.parentJoint for frame in model.frames if frame.name in wrench_bodies}
    spinning = {joint for name in description.rolling
                if is_axisymmetric(model, joint := model.getJointId(name))
                and joint not in pushed and not has_symbolic_inertia(parameters, names[joint])}
    sites = mounts(model, description)

    def moving(seen: dict[str, ca.SX], position: ca.SX) -> tuple[list[Body], tuple[Contact, ...]]:
        bodies = kinematics(model, algebroid, v, a, seen, position, spinning)
        return bodies, tuple(_contact(site, bodies[site.body - 1], v, parameters,
                                      ground) for site in sites)

    bodies, contacts = moving(world, position)

    placer = _placer(model, contacts, algebroid, t, v, parameters, normal)
    support = _support(placer, contacts, model)
    steering = find_axles(contacts, algebroid, t, v, parameters, normal, model, description)
    gauge = _gauge(model, description, contacts)
    pair = steering.pair(steering_angles(steering, model, near)) if steering.coupled else None
    everywhere = sample_configurations(model, description, placer, support, steering,
                                       gauge is not None)
    samples = everywhere if near is None else near[None, :]
    inertias, spins = lumped_inertias(model, names, parameters, spinning)
    preferred, guards = _preferred(description, steering, pair), _guards(contacts)
    scales = _scales(contacts, algebroid, steering.length)

    def constrained_system(space: LieAlgebroid, bodies: list[Body], rolling: Sequence[Contact],
                           auxiliaries: AuxiliaryVariables | None) -> ConstrainedSystem:
        heights, normals = [c.height for c in contacts], (bodies[0].world["n"], world["n"])
        rows = _rows(description, rolling, heights, steering, pair, support, gauge, normals, space,
                     v)
        system = lagrangian_system(description, model, space, t, v, a, bodies, inertias, spins,
                                   parameters, wrench_bodies, origin, auxiliaries)
        spans = []
        if auxiliaries is not None and description.track_factor is None:
            spans = [span for c in rolling if (span := contact_span(c, v)) is not None]
        return ConstrainedSystem(system, assemble(rows, space.nv, spans), parameters.numbers,
                                 samples, preferred, scales, *guards)

    constrained = constrained_system(algebroid, bodies, contacts, None)
    # upright, a lean looks frozen: its n_z is stationary there
    anywhere = replace(constrained, samples=np.vstack([samples, everywhere]))
    frozen = (
        frozen_normal(anywhere, world["n"])
        if not changes_attitude(parameters)
        else Frozen(np.full(3, np.nan))
    )
    short, at, auxiliaries = root_auxiliaries(world, position, frozen, ground, parameters["gravity"], v)
    reduced = constrained_system(with_vertical(algebroid, short["z"]), *moving(short, at),
                                 auxiliaries)
    check_reduction(constrained, reduced)
    return Vehicle(description, ground, model, parameters, constrained, reduced, contacts, steering,
                   support, placer,
                   gauge, tuple(wrench_bodies), partial(build, description, ground))


def _world(ground: Ground, parameters: Parameters) -> dict[str, ca.SX]:
    """Vectors fixed in W that the bodies see: the axes, gravity, and the ground's."""
    t1, t2 = ground.tangents
    vectors = {"n": ground.normal, "t1": t1, "t2": t2, "velocity": ground.velocity,
               "turning": ground.angular_velocity, "x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    seen = {name: ca.SX(ca.sparsify(ca.DM(vector))) for name, vector in vectors.items()}
    return {**seen, "g": -parameters["gravity"] * seen["z"]}


def _contact(mount: Mount, carrier: Body, v: ca.SX, parameters: Parameters,
             ground: Ground) -> Contact:
    moving, turning = np.any(ground.velocity), np.any(ground.angular_velocity)

    def ground_velocity(body: Body, point: ca.SX) -> ca.SX:
        velocity = body.world["velocity"] if moving else ca.SX(3, 1)
        return velocity + ca.cross(body.world["turning"], point) if turning else velocity

    name = mount.wheel.name
    return contact(mount, carrier, v, parameters[f"{name}.radius"], parameters[f"{name}.crown"],
                   ground_velocity)


def _placer(model: pin.Model, contacts: Sequence[Contact], algebroid: LieAlgebroid, t: ca.SX,
            v: ca.SX, parameters: Parameters, normal: np.ndarray) -> Placer:
    heights = ca.vertcat(ca.SX(0, 1), *[c.height for c in contacts])
    forms = ca.vertcat(ca.SX(0, algebroid.nv),
                       *[ca.jacobian(c.speed("normal"), v) for c in contacts])
    function = ca.Function("heights", [t, algebroid.q, parameters.theta], [heights, forms])
    return Placer(model, function, normal, tuple(c.name for c in contacts), parameters.numbers)


def _support(placer: Placer, contacts: Sequence[Contact], model: pin.Model) -> Support:
    radii = [c.mount.wheel.radius for c in contacts if c.mount.wheel.radius > 0]
    bearing = np.array([bool(c.mount.wheel.traits.held) for c in contacts], dtype=bool)
    return placer.support(pin.neutral(model), OFFSET_TOLERANCE * min(radii, default=0.1), bearing)


def _gauge(model: pin.Model, description: Description, contacts: Sequence[Contact]) -> Gauge | None:
    """Of a massless root whose one child is a wheel: nothing but this would say how the root turns
    about the axle."""
    if (
        model.inertias[1].mass > 0
        or model.njoints != 3
        or len(contacts) != 1
        or contacts[0].mount.spin is None
    ):
        return None
    joint = model.names[2]
    if joint in description.driven or description.damping.get(joint, 0.0):
        raise ModelError(f"{joint!r} is driven or damped against a root without mass, which cannot "
                         "take the reaction: take the effort or damping away, or give the root "
                         "link an inertia")
    axle = contacts[0].mount.axle
    level = np.cross(axle, [0.0, 0.0, 1.0])
    if np.linalg.norm(level) < 0.5:
        raise ModelError(f"wheel {contacts[0].name!r}: in the zero pose its axle must be level, it "
                         f"is {axle}")
    return Gauge(joint, axle, level / np.linalg.norm(level))


def _rows(description: Description, contacts: Sequence[Contact], heights: Sequence[ca.SX],
          steering: Steering, pair: tuple[Axle, Axle] | None, support: Support, gauge: Gauge | None,
          normals: tuple[ca.SX, ca.SX], algebroid: LieAlgebroid, v: ca.SX) -> list[Row]:
    """Every row, those that only repeat others included.

    Parameters
    ----------
    heights
        Functions of the whole attitude, also where the rows are written with frozen parts of it.
    normals
        n in the root's frame, as the rows are to see it and in full.
    """
    n_B, n_full = normals
    fixed = {axle.wheel for axle in steering.fixed}
    followers = {axle.wheel for axle in steering.steered if pair is not None and axle not in pair}
    factor = description.track_factor
    skidding = []
    if factor is not None:
        skidding = [c for c in contacts if "lateral" in c.held and c.mount.spin is not None
                    and c.mount.body == 1]
    if factor is not None and len(skidding) < 2:
        raise ModelError("the mid-axle model is for wheels that are fixed to the base and do not "
                         f"steer; there {'is one' if skidding else 'are none'} among "
                         f"{', '.join(c.name for c in contacts)}")
    rows: list[Row] = []
    for c, height, offset in zip(contacts, heights, support.offsets):
        priority = FIXED_AXLE if c.name in fixed else FOLLOWER if c.name in followers else ROLLING
        made = contact_rows(c, v, height - float(offset), priority, c.name in description.released)
        rows += made[:1] if c in skidding else made
    if skidding:
        rows += mid_axle_rows(skidding, v, factor, n_B)
    if pair is not None:
        rows += [function_row(f"{joint}/coupling", phi, algebroid) for joint,
                 phi in steering.functions(pair).items()]
    rows += [mimic_row(mimic, algebroid, v) for mimic in description.mimic]
    if gauge is not None:
        rows.append(gauge_row(gauge.level, n_B, ca.dot(ca.DM(gauge.level), n_full), v, gauge.joint))
    return rows


def _guards(contacts: Sequence[Contact]) -> tuple[ca.SX, tuple[str, ...]]:
    """|axle x n| of each wheel: zero where the axle stands upright."""
    guarded = [c for c in contacts if c.sine is not None]
    texts = [f"the axle of {c.name!r} is parallel to the ground's normal: "
             + ("its directions of rolling are lost" if c.mount.wheel.traits.is_ball
                else "a wheel lying flat has no contact point") for c in guarded]
    return ca.vertcat(ca.SX(0, 1), *[c.sine for c in guarded]), tuple(texts)


def _scales(contacts: Sequence[Contact], algebroid: LieAlgebroid, length: float) -> np.ndarray:
    """Metres per unit of each fibre coordinate: 1 for speeds, the wheel's radius, or the vehicle's
    length for turns."""
    scales = np.array([1.0 if unit == "m/s" else length for unit in algebroid.v_units])
    for c in contacts:
        if c.mount.spin is not None:
            scales[c.mount.spin] = c.mount.wheel.radius
    return scales


def _preferred(description: Description, steering: Steering,
               pair: tuple[Axle, Axle] | None) -> tuple[tuple[str, ...], ...]:
    """Leaders and driven joints; then wheels; then turning of the base, heading first."""
    leading = [axle.steering for axle in pair or () if axle.steering]
    followers = {axle.steering for axle in steering.steered} - set(leading) if pair else set()
    driven = [name for name in description.driven if name not in followers]
    first = tuple(dict.fromkeys(leading + driven))
    return first, tuple(description.rolling), ("yaw_rate",), ("roll_rate", "pitch_rate")

