"""Description + ground -> Vehicle: the one place where the pieces are put together."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.distribution import Row, assemble
from ..mechanics.system import ConstrainedSystem, LagrangianSystem
from .contact import Contact, Mount, contact
from .couplings import PLANAR, Axle, Steering, check_can_turn
from .description import Description
from .ground import Ground
from .model import full_model, reduced_model
from .mounts import body_names, mounts
from .parameters import Parameters
from .placement import Placer, Support
from .rows import FIXED_AXLE, FOLLOWER, ROLLING, contact_rows, function_row, gauge_row, mid_axle_rows, mimic_row
from .samples import sample_configurations
from .tree import Body, Inertia, algebroid_of, body_inertia, energies, gibbs_function, inertial_values, is_axisymmetric, kinematics
from .vehicle import Vehicle

GRAVITY = 9.81
OFFSET_TOLERANCE = 0.05      # of the smallest wheel radius: a contact this far out of the common plane is taken for rounding


def build(description: Description, ground: Ground, parameters: Parameters | None = None, *, near: np.ndarray | None = None,
          wrench_bodies: tuple[str, ...] = ()) -> Vehicle:
    """Builds the vehicle.

    near  choose rows, speeds and the coupling pair for this configuration alone

    Raises `ModelError` where the vehicle cannot stand, cannot turn, or is built inconsistently.
    """
    model = reduced_model(full_model(description), description)
    names = body_names(model)
    parameters = parameters or Parameters(_values(model, names, description))
    _write_inertias(model, names, parameters)
    algebroid = algebroid_of(model)
    nv, q = algebroid.nv, algebroid.q
    v, a, t = ca.SX.sym("v", nv), ca.SX.sym("a", nv), ca.SX.sym("t")

    normal = np.array(ground.normal)
    t1, t2 = ground.tangents
    world = {"n": normal, "g": np.array([0, 0, -parameters["gravity"]]) if not isinstance(parameters["gravity"], ca.SX) else
             ca.vertcat(0, 0, -parameters["gravity"]), "t1": t1, "t2": t2, "velocity": np.array(ground.velocity),
             "turning": np.array(ground.angular_velocity)}
    if wrench_bodies:
        world.update(x=np.eye(3)[0], y=np.eye(3)[1], z=np.eye(3)[2])
    origin = ca.SX(ca.DM(ground.point)) + ca.SX(ca.sparsify(ca.DM(ground.velocity))) * t
    rolling = {model.getJointId(name) for name in description.rolling}
    spinning = {joint for joint in rolling if is_axisymmetric(model, joint)}
    bodies = kinematics(model, algebroid, v, a, world, origin, spinning)
    inertias: list[Inertia | None] = [None] + [body_inertia(parameters, names[i]) if model.inertias[i].mass > 0 or _is_symbolic(parameters, names[i])
                                               else None for i in range(1, model.njoints)]
    contacts = tuple(_contact(mount, bodies, v, parameters, ground) for mount in mounts(model, description))

    placer = _placer(model, contacts, algebroid, t, v, parameters, normal)
    support = _support(placer, contacts, description, model)
    steering = _steering(contacts, algebroid, t, v, parameters, normal, model, description)
    gauge = _gauge(model, contacts, inertias)
    samples = sample_configurations(model, description, algebroid, placer, support, steering, gauge)
    if near is not None:
        samples = near[None, :]
    pair = steering.pair(_angles(steering, model, near)) if steering.coupled else None
    rows = _rows(description, contacts, steering, pair, support, gauge, bodies, algebroid, v, parameters)

    system = _system(description, model, names, algebroid, t, v, a, bodies, inertias, parameters, wrench_bodies)
    scales = _scales(model, contacts, algebroid, steering.length)
    constrained = ConstrainedSystem(system, assemble(rows, nv), parameters.numbers, samples, _preferred(description, steering, pair), scales, *_guards(contacts))
    return Vehicle(description, ground, model, parameters, constrained, contacts, steering, support, placer,
                   None if gauge is None else (gauge[0], gauge[1]), tuple(wrench_bodies))


def _values(model: pin.Model, names: list[str], description: Description) -> dict[str, float]:
    values = {"gravity": GRAVITY}
    for i in range(1, model.njoints):
        for key, value in inertial_values(model.inertias[i]).items():
            size = model.inertias[i].mass if key == "mass" else 1.0
            values[f"{names[i]}.{key}"] = 0.0 if abs(value) < 1e-16 * max(size, 1e-3) else value
    for joint in list(model.names)[2:]:
        values[f"{joint}.damping"] = description.damping.get(joint, 0.0)
        values[f"{joint}.rotor_inertia"] = 0.0
        values[f"{joint}.gear_ratio"] = 1.0
    for wheel in description.wheels:
        values[f"{wheel.name}.radius"] = wheel.radius
        values[f"{wheel.name}.crown"] = wheel.crown if wheel.kind == "torus" else 0.0
        if wheel.joint is not None:
            values[f"{wheel.name}.rolling_resistance"] = 0.0
    values.update({f"payload.{key}": 0.0 for key in ("mass", "x", "y", "z")})
    return values


def _is_symbolic(parameters: Parameters, body: str) -> bool:
    return any(name.startswith(f"{body}.") for name in parameters.symbolic)


def _write_inertias(model: pin.Model, names: list[str], parameters: Parameters) -> None:
    """Pinocchio's model gets the same numbers, so that its algorithms stay an independent check."""
    p = parameters.values
    for i in range(1, model.njoints):
        k = names[i]
        matrix = np.array([[p[f"{k}.Ixx"], p[f"{k}.Ixy"], p[f"{k}.Ixz"]], [p[f"{k}.Ixy"], p[f"{k}.Iyy"], p[f"{k}.Iyz"]],
                           [p[f"{k}.Ixz"], p[f"{k}.Iyz"], p[f"{k}.Izz"]]])
        model.inertias[i] = pin.Inertia(p[f"{k}.mass"], np.array([p[f"{k}.com_{c}"] for c in "xyz"]), matrix)
    if p["payload.mass"]:
        model.inertias[1] += pin.Inertia(p["payload.mass"], np.array([p[f"payload.{c}"] for c in "xyz"]), np.zeros((3, 3)))
    armature = np.zeros(model.nv)
    for joint in range(2, model.njoints):
        name = model.names[joint]
        armature[model.joints[joint].idx_v] = p[f"{name}.rotor_inertia"] * p[f"{name}.gear_ratio"] ** 2
    model.armature = armature
    model.gravity.linear = np.array([0, 0, -p["gravity"]])


def _contact(mount: Mount, bodies: list[Body], v: ca.SX, parameters: Parameters, ground: Ground) -> Contact:
    moving, turning = np.any(ground.velocity), np.any(ground.angular_velocity)

    def ground_velocity(body: Body, point: ca.SX) -> ca.SX:
        velocity = body.world["velocity"] if moving else ca.SX(3, 1)
        return velocity + ca.cross(body.world["turning"], point) if turning else velocity

    name = mount.wheel.name
    return contact(mount, bodies[mount.body], v, parameters[f"{name}.radius"], parameters[f"{name}.crown"], ground_velocity)


def _placer(model, contacts, algebroid: LieAlgebroid, t, v, parameters, normal) -> Placer:
    heights = ca.vertcat(ca.SX(0, 1), *[c.height for c in contacts])
    forms = ca.vertcat(ca.SX(0, algebroid.nv), *[ca.jacobian(c.speed("normal"), v) for c in contacts])
    function = ca.Function("heights", [t, algebroid.q, parameters.theta], [heights, forms])
    return Placer(model, function, normal, tuple(c.name for c in contacts), parameters.numbers)


def _support(placer: Placer, contacts, description: Description, model: pin.Model) -> Support:
    radii = [c.mount.wheel.radius for c in contacts if c.mount.wheel.radius > 0]
    bearing = np.array([c.mount.wheel.kind != "caster_ball" for c in contacts], dtype=bool)
    q = pin.neutral(model)
    return placer.support(q, OFFSET_TOLERANCE * min(radii, default=0.1), bearing)


def _steering(contacts, algebroid: LieAlgebroid, t, v, parameters, normal, model: pin.Model, description: Description) -> Steering:
    """Finds the lateral rows that see only the base's planar twist, at random joint angles, and what turns them."""
    centres = np.array([_planar_centre(model, c.mount) for c in contacts]) if contacts else np.zeros((1, 3))
    length = float(max(np.linalg.norm(centres - centres.mean(axis=0), axis=1).max(), max((c.mount.wheel.radius for c in contacts), default=0.1)))
    lateral = [c for c in contacts if "lateral" in c.held and c.mount.axle is not None and not _is_released(description, c)]
    if not lateral or (description.skid is not None and not isinstance(description.skid, (list, tuple))):
        return Steering((), (), length)
    upright = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal).coeffs()
    forms = ca.vertcat(*[ca.jacobian(c.speed("lateral"), v) for c in lateral])
    forms = ca.substitute(forms, algebroid.q[3:7], ca.DM(upright))
    evaluate = ca.Function("lateral", [t, algebroid.q, parameters.theta], [forms])
    rng = np.random.default_rng(1)

    def rows_at(angles: dict[str, float]) -> np.ndarray:
        q = pin.neutral(model)
        for name, value in angles.items():
            joint = model.joints[model.getJointId(name)]
            q[joint.idx_q:joint.idx_q + joint.nq] = (np.cos(value), np.sin(value)) if joint.nq == 2 else value
        return evaluate(0.0, q, parameters.numbers).full()

    random = {name: rng.uniform(-0.5, 0.5) for name in list(model.names)[2:]}
    at_random = rows_at(random)
    fixed, steered = [], {}
    for i, c in enumerate(lateral):
        if np.abs(at_random[i, 6:]).max(initial=0.0) > 1e-6 * max(length, 1e-3):
            continue                                                  # a swivel, a hitch, a bicycle's fork: turns by itself
        turns = _ancestors(model, c.mount.body)
        scale = np.array([1, 1, 1 / length])
        straight = rows_at({})[i, list(PLANAR)] * scale
        if not turns:
            fixed.append(Axle(c.name, None, ca.DM(straight), straight, np.zeros(3)))
        elif len(turns) == 1 and turns[0] not in steered:
            across = rows_at({turns[0]: np.pi / 2})[i, list(PLANAR)] * scale
            angle = _angle_symbols(algebroid, turns[0])
            steered[turns[0]] = Axle(c.name, turns[0], ca.DM(_clean(straight)) * angle[0] + ca.DM(_clean(across)) * angle[1], straight, across)
    result = Steering(tuple(fixed), tuple(steered[name] for name in _leaders_first(steered, description)), length)
    check_can_turn(result)
    return result


def _clean(vector: np.ndarray) -> np.ndarray:
    return np.where(np.abs(vector) < 1e-14, 0.0, vector)


def _is_released(description: Description, c: Contact) -> bool:
    return isinstance(description.skid, (list, tuple)) and c.name in description.skid


def _planar_centre(model: pin.Model, mount: Mount) -> np.ndarray:
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    return data.oMi[mount.body].act(mount.centre) * (1, 1, 0)


def _ancestors(model: pin.Model, joint: int) -> list[str]:
    names = []
    while joint > 1:
        names.append(model.names[joint])
        joint = model.parents[joint]
    return names


def _angle_symbols(algebroid: LieAlgebroid, joint: str) -> tuple[ca.SX, ca.SX]:
    """cos and sin of a joint's angle."""
    if joint in algebroid.q_names:
        angle = algebroid.q[algebroid.q_names.index(joint)]
        return ca.cos(angle), ca.sin(angle)
    i = algebroid.q_names.index(f"{joint}.cos")
    return algebroid.q[i], algebroid.q[i + 1]


def _leaders_first(steered: dict[str, Axle], description: Description) -> list[str]:
    """Named speeds lead, then driven joints, then the order of the wheels."""
    wanted = description.speeds or ()
    return sorted(steered, key=lambda name: (name not in wanted, name not in description.driven))


def _angles(steering: Steering, model: pin.Model, q: np.ndarray | None) -> dict[str, float]:
    angles = {}
    for axle in steering.steered if q is not None else ():
        joint = model.joints[model.getJointId(axle.steering)]
        angles[axle.steering] = float(np.arctan2(q[joint.idx_q + 1], q[joint.idx_q]) if joint.nq == 2 else q[joint.idx_q])
    return angles


def _gauge(model: pin.Model, contacts, inertias) -> tuple[str, np.ndarray, np.ndarray] | None:
    """A massless root whose one child is an axisymmetric wheel: (spin joint, axle, level axis), in the root's frame."""
    if inertias[1] is not None or len(contacts) != 1 or contacts[0].mount.spin is None or contacts[0].mount.body != 1 or model.njoints != 3:
        return None
    axle = contacts[0].mount.axle
    level = np.cross(axle, [0.0, 0.0, 1.0])
    if np.linalg.norm(level) < 0.5:
        raise ModelError(f"wheel {contacts[0].name!r}: in the zero pose its axle must be level, it is {axle}")
    return model.names[2], axle, level / np.linalg.norm(level)


def _rows(description, contacts, steering: Steering, pair, support: Support, gauge, bodies, algebroid, v, parameters) -> list[Row]:
    fixed = {axle.wheel for axle in steering.fixed}
    followers = {axle.wheel for axle in steering.steered if pair is not None and axle not in pair}
    rows: list[Row] = []
    mid_axle = description.skid is not None and not isinstance(description.skid, (list, tuple))
    skidding = [c for c in contacts if "lateral" in c.held and c.mount.spin is not None] if mid_axle else []
    for c, offset in zip(contacts, support.offsets):
        priority = FIXED_AXLE if c.name in fixed else FOLLOWER if c.name in followers else ROLLING
        made = contact_rows(c, v, float(offset), priority, _is_released(description, c))
        rows += made[:1] if c in skidding else made
    if skidding:
        factor = 1.0 if description.skid == "mid-axle" else float(description.skid)
        rows += mid_axle_rows(skidding, v, factor, bodies[1].world["n"])
    if pair is not None:
        rows += [function_row(f"{joint}/coupling", phi, algebroid) for joint, phi in steering.functions(pair).items()]
    rows += [mimic_row(mimic, algebroid, v) for mimic in description.mimic]
    if gauge is not None:
        rows.append(gauge_row(gauge[2], bodies[1].world["n"], algebroid, gauge[0]))
    return rows


def _system(description, model, names, algebroid, t, v, a, bodies, inertias, parameters: Parameters, wrench_bodies) -> LagrangianSystem:
    masses = list(inertias)
    gibbs = gibbs_function(bodies[1:], masses[1:])
    kinetic, potential = energies(bodies[1:], masses[1:])
    if isinstance(parameters["payload.mass"], ca.SX) or parameters["payload.mass"] != 0:
        payload = Inertia(parameters["payload.mass"], ca.vertcat(*[ca.SX(parameters[f"payload.{c}"]) for c in "xyz"]), ca.SX(3, 3))
        gibbs += gibbs_function([bodies[1]], [payload])
        more = energies([bodies[1]], [payload])
        kinetic, potential = kinetic + more[0], potential + more[1]
    u = ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in description.driven])
    u_names = list(description.driven)
    force = ca.SX(algebroid.nv, 1)
    for k, name in enumerate(description.driven):
        force[algebroid.v_names.index(name)] = u[k]
    for joint in list(model.names)[2:]:
        i = algebroid.v_names.index(joint)
        damping, resistance = parameters[f"{joint}.damping"], parameters[f"{joint}.rolling_resistance"] if f"{joint}.rolling_resistance" in parameters.values else 0.0
        if isinstance(damping, ca.SX) or damping:
            force[i] = force[i] - damping * v[i]
        if isinstance(resistance, ca.SX) or resistance:
            force[i] = force[i] - resistance * ca.tanh(v[i] / 0.05)
        rotor, gear = parameters[f"{joint}.rotor_inertia"], parameters[f"{joint}.gear_ratio"]
        if isinstance(rotor, ca.SX) or rotor:
            gibbs += rotor * gear ** 2 * a[i] ** 2 / 2
            kinetic += rotor * gear ** 2 * v[i] ** 2 / 2
    for body in wrench_bodies:
        wrench, power = _wrench(body, model, bodies)
        u = ca.vertcat(u, wrench)
        u_names += [f"{body}.{component}" for component in ("fx", "fy", "fz", "tx", "ty", "tz")]
        force = force + ca.gradient(power, v)
    return LagrangianSystem(algebroid, v, a, gibbs=gibbs, energy=kinetic + potential, force=force, t=t, u=u, theta=parameters.theta,
                            u_names=tuple(u_names), theta_names=parameters.symbolic)


def _wrench(name: str, model: pin.Model, bodies: list[Body]) -> tuple[ca.SX, ca.SX]:
    """Symbols of a wrench in W at a link's origin, and its power."""
    if not model.existFrame(name, pin.FrameType.BODY):
        raise ModelError(f"no link {name!r} for the external wrench")
    frame = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
    body = bodies[frame.parentJoint]
    wrench = ca.SX.sym(name, 6)
    axes = [body.world[c] for c in "xyz"]
    force = sum((axes[i] * wrench[i] for i in range(3)), ca.SX(3, 1))
    torque = sum((axes[i] * wrench[3 + i] for i in range(3)), ca.SX(3, 1))
    return wrench, ca.dot(force, body.velocity_of(ca.DM(frame.placement.translation))) + ca.dot(torque, body.omega)


def _guards(contacts) -> tuple[ca.SX, tuple[str, ...]]:
    """|axle x n| of each wheel: zero where the wheel lies flat and has no contact point."""
    guarded = [c for c in contacts if c.sine is not None]
    return (ca.vertcat(ca.SX(0, 1), *[c.sine for c in guarded]),
            tuple(f"the axle of {c.name!r} is parallel to the ground's normal: a wheel lying flat has no contact point" for c in guarded))


def _scales(model: pin.Model, contacts, algebroid: LieAlgebroid, length: float) -> np.ndarray:
    """Metres per unit of each fibre coordinate: 1 for speeds, the radius for a wheel, the vehicle's length for other turns."""
    scales = np.array([1.0 if unit == "m/s" else length for unit in algebroid.v_units])
    for c in contacts:
        if c.mount.spin is not None:
            scales[c.mount.spin] = c.mount.wheel.radius
    return scales


def _preferred(description: Description, steering: Steering, pair) -> tuple[tuple[str, ...], ...]:
    """Leaders and driven joints; then wheels; then turning of the base, heading first."""
    leading = [axle.steering for axle in pair or () if axle.steering]
    followers = {axle.steering for axle in steering.steered} - set(leading) if pair else set()
    driven = [name for name in description.driven if name not in followers]
    return tuple(dict.fromkeys(leading + driven)), tuple(description.rolling), ("yaw_rate",), ("roll_rate", "pitch_rate")


__all__ = ["build"]
