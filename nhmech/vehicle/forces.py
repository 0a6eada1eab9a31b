"""The Lagrangian system of a vehicle: Gibbs function, energy, and what acts on the joints and links."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import pinocchio as pin

from ..errors import ModelError
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.system import LagrangianSystem, Shorthand
from .description import Description
from .gibbs import energies, gibbs_function
from .inertia import Inertia, Spin
from .parameters import Parameters, present
from .tree import Body

RESISTANCE_RATE = 0.05      # [rad/s] below which rolling resistance fades, so that a wheel can stand still


def lagrangian_system(description: Description, model: pin.Model, algebroid: LieAlgebroid, t: ca.SX, v: ca.SX, a: ca.SX,
                      bodies: Sequence[Body], inertias: Sequence[Inertia | None], spins: Sequence[Spin],
                      parameters: Parameters, wrench_bodies: Sequence[str], origin: ca.SX,
                      shorthand: Shorthand | None) -> LagrangianSystem:
    """S and E of bodies, payload and rotors; damping and rolling resistance; efforts and wrenches as inputs u.

    `origin` is the ground's reference point in W, (3,). The potential energy is zero at the height of W's own origin.
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
    lagrangian = kinetic - potential if shorthand is None else None
    return LagrangianSystem(algebroid, v, a, lagrangian=lagrangian, gibbs=gibbs, energy=kinetic + potential,
                            force=force, t=t, u=u, theta=parameters.theta, u_names=tuple(u_names),
                            theta_names=parameters.symbolic, shorthand=shorthand)


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
    return wrench, ca.dot(force, body.velocity_of(ca.DM(frame.placement.translation))) + ca.dot(torque, body.omega)
