"""The Lagrangian system of a vehicle: Gibbs function, energy, and what acts on the joints and
links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca
import pinocchio as pin

from ..errors import ModelError
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.system import AuxiliaryVariables, LagrangianSystem
from ..urdf.description import Description
from .inertia import Inertia, Spin
from .parameters import Parameters, present
from .tree import Body

# [rad/s] below which rolling resistance fades, so that a wheel can stand still
RESISTANCE_RATE = 0.05


def lagrangian_system(description: Description, model: pin.Model, algebroid: LieAlgebroid, t: ca.SX,
                      v: ca.SX, a: ca.SX,
                      bodies: Sequence[Body], inertias: Sequence[Inertia | None],
                      spins: Sequence[Spin],
                      parameters: Parameters, wrench_bodies: Sequence[str], origin: ca.SX,
                      auxiliaries: AuxiliaryVariables | None) -> LagrangianSystem:
    """S and E of bodies, payload and rotors; damping and rolling resistance; efforts and wrenches
    as inputs u.

    `origin` is the ground's reference point in W, (3,). The potential energy is zero at the height
    of W's own origin.
    """
    gibbs = gibbs_function(bodies, inertias, spins, v, a)
    kinetic, potential = energies(bodies, inertias, spins, v, parameters["gravity"] * origin[2])
    force = ca.SX(algebroid.nv, 1)
    for joint in list(model.names)[2:]:
        i = algebroid.v_names.index(joint)
        if present(damping := parameters[f"{joint}.damping"]):
            force[i] = force[i] - damping * v[i]
        if present(resistance := parameters.get(f"{joint}.rolling_resistance")):
            force[i] = force[i] - resistance * ca.tanh(v[i] / RESISTANCE_RATE)
        if present(rotor := parameters[f"{joint}.rotor_inertia"]):
            reflected = rotor * parameters[f"{joint}.gear_ratio"] ** 2
            gibbs += reflected * a[i] ** 2 / 2
            kinetic += reflected * v[i] ** 2 / 2
    u = ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in description.driven])
    u_names = list(description.driven)
    for k, name in enumerate(description.driven):
        i = algebroid.v_names.index(name)
        force[i] = force[i] + u[k]
    for body in wrench_bodies:
        wrench, power = _wrench(body, model, bodies)
        u = ca.vertcat(u, wrench)
        u_names += [f"{body}.{component}" for component in ("fx", "fy", "fz", "tx", "ty", "tz")]
        force = force + ca.gradient(power, v)
    lagrangian = kinetic - potential if auxiliaries is None else None
    return LagrangianSystem(algebroid, v, a, lagrangian=lagrangian, gibbs=gibbs,
                            energy=kinetic + potential,
                            force=force, t=t, u=u, theta=parameters.theta, u_names=tuple(u_names),
                            theta_names=parameters.symbolic, auxiliaries=auxiliaries)


def _wrench(name: str, model: pin.Model, bodies: Sequence[Body]) -> tuple[ca.SX, ca.SX]:
    """Symbols of a wrench in W at a link's origin, and its power."""
    if not model.existFrame(name, pin.FrameType.BODY):
        raise ModelError(f"no link {name!r} for the external wrench")
    frame = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
    body = bodies[frame.parentJoint - 1]
    wrench = ca.SX.sym(name, 6)
    axes = [body.world[c] for c in "xyz"]
    force = sum((axes[i] * wrench[i] for i in range(3)), ca.SX(3, 1))
    torque = sum((axes[i] * wrench[3 + i] for i in range(3)), ca.SX(3, 1))
    return wrench, ca.dot(force, body.velocity_of(ca.DM(frame.placement.translation))) + ca.dot(
        torque, body.omega
    )


def gibbs_function(bodies: Sequence[Body], inertias: Sequence[Inertia | None],
                   spins: Sequence[Spin], v: ca.SX, a: ca.SX) -> ca.SX:
    """S = sum 1/2 m |a_c|^2 + 1/2 alpha.I alpha + alpha.(omega x I omega).

    a_c is the proper acceleration of the centre of mass. A lumped wheel that turns by phi' about
    its axle e adds J (1/2 phi''^2 + phi'' e.alpha + phi' alpha.(omega x e)).
    From the sum over the bodies of 1/2 (A - A_g)^T I (A - A_g) + (A - A_g)^T (V x* I V) it differs
    by a function of (q, v) only.
    """
    total = ca.SX(0)
    for body, inertia in _massive(bodies, inertias):
        a_com = (
            body.a
            + ca.cross(body.alpha, inertia.com)
            + ca.cross(body.omega, ca.cross(body.omega, inertia.com))
        )
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
    """Kinetic and potential energy [J].

    Parameters
    ----------
    origin
        Potential [J/kg] of the ground's reference point, which moves with the ground.
    """
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
