"""The efforts that follow a body twist, as one function of the state: `TwistDrive` and the
simulator's servo combined."""

from __future__ import annotations

import casadi as ca

from ..errors import ModelError
from ..mechanics.algebroid import rotation
from ..mechanics.equations import Equations
from ..simulation.inverse_dynamics import InverseDynamics, clip
from ..simulation.least_squares import closed_form
from ..simulation.state_vector import StateVector, state_symbols
from ..vehicle.vehicle import Vehicle
from .balance import LEAN, Balance
from .twist_rule import driven_steering, driven_wheels, guiding_axles, rolled_joints, twist_function


def follows_twists(vehicle: Vehicle) -> bool:
    """Whether the vehicle can follow twists: it has driven wheels, and does not fall over
    sideways."""
    return bool(driven_wheels(vehicle)) and "roll_rate" not in vehicle.speeds


def effort_function(vehicle: Vehicle, equations: Equations) -> ca.Function:
    """The function that a vehicle needs: `drive_function` or `balance_function`."""
    make = balance_function if "pitch_rate" in vehicle.speeds else drive_function
    return make(vehicle, equations)


def drive_function(vehicle: Vehicle, equations: Equations) -> ca.Function:
    """(t, x, theta, twist, most) -> u, quality, A, b of a vehicle, with x in the speeds of
    `equations`.

    `u` (nu,), before efforts are cut at the limits of the joints, holds where `quality` is above
    `simulation.least_squares.WELL`. Elsewhere the efforts of `commanded_joints` are those of least
    norm with the least |A effort - b|.
    """
    if not driven_wheels(vehicle):
        raise ModelError(f"{vehicle.name!r} has no driven wheel: it cannot follow a twist")
    system, vector = vehicle.constrained.system, StateVector.of(equations)
    t, theta, (x, q, v) = system.t, system.theta, state_symbols(equations)
    twist, most = ca.SX.sym("twist", 3), ca.SX.sym("most")
    places = vector.names(())
    steered = [places.index(axle.steering) for axle in guiding_axles(vehicle)]
    targets, rates, limit, moving, _ = twist_function(vehicle)(t, q, v, theta, x[steered], twist,
                                                               most)

    servo = InverseDynamics(equations, vehicle.limits, len(vehicle.driven))
    steering = [axle.steering for axle in driven_steering(vehicle)]

    def close(name: str, wanted: ca.SX, is_position: bool) -> ca.SX:
        return servo.target(name, is_position).acceleration(wanted, v, x)

    spun = [close(joint.joint, rates[i], False) for i, joint in enumerate(rolled_joints(vehicle))]
    stopped = [close(name, ca.SX(0), False) for name in steering]
    turned = [close(name, targets[i], True) for i, name in enumerate(steering)]
    # the steering is held back with the wheels where it is to stand still
    fastest = ca.mmax(ca.fabs(ca.vertcat(*spun, *((1 - moving) * a for a in stopped))))
    share = ca.if_else(fastest <= limit, 1, limit / fastest)
    wanted = ca.vertcat(*(ca.if_else(moving, a, share * b) for a, b in zip(turned, stopped)),
                        *(share * a for a in spun))

    joints = commanded_joints(vehicle)
    rows = [system.algebroid.v_names.index(name) for name in joints]
    columns = [vehicle.driven.index(name) for name in joints]
    free, effect = servo.accelerations(t, q, x[vector.nconf:], theta)
    A, b = effect[rows, columns], wanted - free[rows]
    efforts, quality = closed_form(A, b)
    u = ca.SX.zeros(len(vehicle.driven))
    u[columns] = efforts
    return ca.Function("nhmech_drive", [t, x, theta, twist, most],
                       [u, quality, ca.densify(A), ca.densify(b)],
                       {"cse": True})


def balance_function(vehicle: Vehicle, equations: Equations) -> ca.Function:
    """The same of a vehicle on two wheels that `Balance` keeps upright; A and b are empty."""
    balance = Balance(vehicle)
    system = vehicle.constrained.system
    names, regulator = system.algebroid.v_names, balance.lqr
    # a joint that does not turn for ever has a position, and a rate with a prime
    states = [name.removesuffix("'") for name in balance.names]
    others = {name for name in balance.names if name + "'" in balance.names} | (
        set(states) - {"pitch", *vehicle.speeds})
    if others:
        raise ModelError(f"{vehicle.name!r} is balanced by more than pitch and speeds: "
                         f"{', '.join(sorted(others))}; only `Balance` in Python does that")
    t, theta, (x, q, v) = system.t, system.theta, state_symbols(equations)
    twist, most = ca.SX.sym("twist", 3), ca.SX.sym("most")
    _, rates, _, _, _ = twist_function(vehicle)(t, q, v, theta, ca.SX(0, 1), twist, most)
    wanted = {rolled.joint: rates[i] for i, rolled in enumerate(rolled_joints(vehicle))}
    lean = _pitch(vehicle, q) - _pitch(vehicle, ca.SX(ca.DM(regulator.motion.q)))
    rest = ca.vertcat(*(0 if name == "pitch" else v[names.index(name)] - wanted.get(name, 0)
                        for name in states))
    u, toward = -ca.DM(balance.K) @ rest, ca.DM(balance.K[:, balance.names.index("pitch")])
    # the lean that would take the same effort
    called_for = -ca.dot(toward, u) / ca.dot(toward, toward)
    u += toward * (called_for - clip(called_for, -LEAN, LEAN) - lean)
    return ca.Function("nhmech_drive", [t, x, theta, twist, most],
                       [ca.densify(ca.DM(regulator.reference_input) + u), ca.SX(1), ca.SX(0, 0),
                        ca.SX(0, 1)], {"cse": True})


def _pitch(vehicle: Vehicle, q: ca.SX) -> ca.SX:
    """Angle [rad] about the base's lateral axis, from upright."""
    n = rotation(q[3:7]).T @ ca.SX(ca.DM(vehicle.placer.normal))
    return ca.atan2(-n[0], n[2])


def commanded_joints(vehicle: Vehicle) -> tuple[str, ...]:
    """The joints that a twist commands: steering first, then wheels; none of `Balance`."""
    if "pitch_rate" in vehicle.speeds:
        return ()
    return (*(axle.steering for axle in driven_steering(vehicle)),
            *(rolled.joint for rolled in rolled_joints(vehicle)))
