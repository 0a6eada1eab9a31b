"""The Lagrangian system of a vehicle: Gibbs function, energy, and forces on joints and links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca
import pinocchio as pin

from ..errors import InputError, did_you_mean, listed
from ..mechanics.system import LagrangianSystem
from .context import BuildContext
from .formulation import Formulation
from .inertia import Inertia, Spin
from .parameters import gravity_vector, is_present
from .tree import Body
from .tyres import tyre_forces

# [rad/s] below this rate rolling resistance fades, so that a wheel can stand still
RESISTANCE_RATE = 0.05
WRENCH = ("fx", "fy", "fz", "tx", "ty", "tz")


def vehicle_lagrangian(context: BuildContext, form: Formulation) -> LagrangianSystem:
    """The Gibbs function S and energy E of bodies, payload and rotors; forces of damping and
    rolling resistance; efforts and wrenches as inputs u.

    The potential energy is zero at the height of W's own origin.
    """
    inertias, spins = context.inertias
    v, a, parameters = context.v, context.a, context.parameters
    gibbs = gibbs_function(form.bodies, inertias, spins, v, a)
    kinetic, potential = energies(form.bodies, inertias, spins, v,
                                  -ca.dot(gravity_vector(parameters), context.origin))
    for joint, i in _joint_rates(context):
        if is_present(rotor := parameters.get(f"{joint}.rotor_inertia")):
            reflected = rotor * parameters[f"{joint}.gear_ratio"] ** 2
            gibbs += reflected * a[i] ** 2 / 2
            kinetic += reflected * v[i] ** 2 / 2
    force, u, u_names = generalised_forces(context, form)
    lagrangian = kinetic - potential if form.auxiliaries is None else None
    return LagrangianSystem(form.space, v, a, lagrangian=lagrangian, gibbs=gibbs,
                            energy=kinetic + potential, force=force, t=context.t, u=u,
                            theta=parameters.theta, u_names=u_names,
                            theta_names=parameters.symbolic, auxiliaries=form.auxiliaries)


def generalised_forces(context: BuildContext,
                       form: Formulation) -> tuple[ca.SX, ca.SX, tuple[str, ...]]:
    """tau (nv,) from damping, rolling resistance, tyres and inputs; u (nu,), efforts of the driven
    joints, then wrenches; and the names of u. Raises `InputError` for a wrench on an unknown
    link."""
    v, parameters, driven = context.v, context.parameters, context.description.driven
    force = ca.SX(form.space.nv, 1)
    for joint, i in _joint_rates(context):
        if is_present(damping := parameters.get(f"{joint}.damping")):
            force[i] = force[i] - damping * v[i]
        if is_present(resistance := parameters.get(f"{joint}.rolling_resistance")):
            force[i] = force[i] - resistance * ca.tanh(v[i] / RESISTANCE_RATE)
    force += tyre_forces(context, form.contacts)
    rates, inputs, names = dict(_joint_rates(context)), [ca.SX(0, 1)], [*driven]
    for joint in driven:
        effort = ca.SX.sym(joint)
        force[rates[joint]] = force[rates[joint]] + effort
        inputs.append(effort)
    for link in context.wrench_bodies:
        wrench, power = _wrench(link, context.model, form.bodies)
        force = force + ca.gradient(power, v)
        inputs.append(wrench)
        names += [f"{link}.{component}" for component in WRENCH]
    return force, ca.vertcat(*inputs), tuple(names)


def _joint_rates(context: BuildContext) -> list[tuple[str, int]]:
    """(joint, index of its rate in v)."""
    return [(name, context.algebroid.v_names.index(name)) for name in context.joint_names]


def _wrench(link: str, model: pin.Model, bodies: Sequence[Body]) -> tuple[ca.SX, ca.SX]:
    """Symbols of a wrench in W at a link's origin, and its power."""
    if not (isinstance(link, str) and model.existFrame(link, pin.FrameType.BODY)):
        links = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
        raise InputError(f"no link {link!r} for the external wrench; there are {listed(links)}"
                         f"{did_you_mean(str(link), links)}")
    frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
    body, wrench = bodies[frame.parentJoint - 1], ca.SX.sym(link, 6)
    force, torque = ca.SX(3, 1), ca.SX(3, 1)
    for i, axis in enumerate("xyz"):
        force += body.world[axis] * wrench[i]
        torque += body.world[axis] * wrench[3 + i]
    velocity = body.velocity_of(ca.SX(ca.DM(frame.placement.translation)))
    return wrench, ca.dot(force, velocity) + ca.dot(torque, body.omega)


def gibbs_function(bodies: Sequence[Body], inertias: Sequence[Inertia | None],
                   spins: Sequence[Spin], v: ca.SX, a: ca.SX) -> ca.SX:
    """S = sum 1/2 m |a_c|^2 + 1/2 alpha.I alpha + alpha.(omega x I omega).

    a_c is the proper acceleration of the centre of mass. A lumped wheel with rate phi' about its
    axle e adds J (1/2 phi''^2 + phi'' e.alpha + phi' alpha.(omega x e)). S differs from the sum
    over the bodies of 1/2 (A - A_g)^T I (A - A_g) + (A - A_g)^T (V x* I V) by a function of (q, v)
    only.
    """
    total = ca.SX(0)
    for body, inertia in _massive(bodies, inertias):
        a_com = (body.a + ca.cross(body.alpha, inertia.com)
                 + ca.cross(body.omega, ca.cross(body.omega, inertia.com)))
        momentum = inertia.matrix @ body.omega
        moment = inertia.matrix @ body.alpha / 2 + ca.cross(body.omega, momentum)
        total += inertia.mass * ca.sumsqr(a_com) / 2 + ca.dot(body.alpha, moment)
    for spin in spins:
        body, rate, acceleration = bodies[spin.carrier], v[spin.rate], a[spin.rate]
        turning = acceleration * spin.axle + rate * ca.cross(body.omega, spin.axle)
        total += spin.axial * (acceleration ** 2 / 2 + ca.dot(body.alpha, turning))
    return total


def energies(bodies: Sequence[Body], inertias: Sequence[Inertia | None], spins: Sequence[Spin],
             v: ca.SX, origin: ca.SX | float = 0) -> tuple[ca.SX, ca.SX]:
    """Kinetic and potential energy [J]. `origin`: potential [J/kg] of the ground's reference point,
    which moves with the ground."""
    kinetic, potential = ca.SX(0), ca.SX(0)
    for body, inertia in _massive(bodies, inertias):
        moving = inertia.mass * ca.sumsqr(body.velocity_of(inertia.com))
        kinetic += (moving + ca.dot(body.omega, inertia.matrix @ body.omega)) / 2
        potential += inertia.mass * (origin - ca.dot(body.world["g"], body.position + inertia.com))
    for spin in spins:
        kinetic += spin.axial * v[spin.rate] * (v[spin.rate] / 2
                                                + ca.dot(spin.axle, bodies[spin.carrier].omega))
    return kinetic, potential


def _massive(bodies: Sequence[Body],
             inertias: Sequence[Inertia | None]) -> Iterator[tuple[Body, Inertia]]:
    return ((body, inertia) for body, inertia in zip(bodies, inertias) if inertia is not None)
