"""The rule from a body twist to joint references as one function, for Python and for pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..mechanics.algebroid import rotation
from ..once import once
from ..simulation.state import base_pose
from ..urdf.description import NO_LIMITS
from ..vehicle.contact import Contact
from ..vehicle.couplings import PLANAR, Axle, level_twists
from ..vehicle.rows import linear_row
from ..vehicle.vehicle import Vehicle

# [rad] on the sphere of twists, how far ahead of the present one coupled axles are sent
REACH = 0.4
PARALLEL = 1e-3   # of the largest row: axles that differ by less are one
STILL = 1e-6      # a twist smaller than this [m/s] holds the steering where it is
ROUNDING = 1e-9   # of a limit [rad], and of the speed [m/s] at which an axle is just at it


class RolledJoint(NamedTuple):
    """Driven joint whose rate a wheel's rolling determines: its index in v, and the speed
    (1, nv) v + () that is zero where the wheel rolls."""

    joint: str
    place: int
    form: ca.SX
    offset: ca.SX


def driven_wheels(vehicle: Vehicle) -> tuple[RolledJoint, ...]:
    """In the order of the contacts; each rolls along itself, or along its roller."""
    return tuple(RolledJoint(joint, spin, *_speed(vehicle, contact, "longitudinal", "roller"))
                 for contact in vehicle.contacts
                 if (joint := contact.mount.wheel.joint) in vehicle.driven and joint is not None
                 and (spin := contact.mount.spin) is not None)


def driven_casters(vehicle: Vehicle) -> tuple[RolledJoint, ...]:
    """Driven joints that turn a wheel which trails them, all the way round: powered casters,
    turntables. Their rates let the base move in any direction."""
    contacts = {contact.name: contact for contact in vehicle.contacts}
    return tuple(RolledJoint(axle.steering, vehicle.algebroid.v_names.index(axle.steering),
                             *_speed(vehicle, contacts[axle.wheel], "lateral"))
                 for axle in vehicle.steering.trailing
                 if axle.steering in vehicle.driven and _turns_round(vehicle, axle))


def rolled_joints(vehicle: Vehicle) -> tuple[RolledJoint, ...]:
    """The joints whose rates a twist determines, each after those on which its rate depends."""
    return driven_casters(vehicle) + driven_wheels(vehicle)


def guiding_axles(vehicle: Vehicle) -> tuple[Axle, ...]:
    """Steered axles that bar the base what their angles do not let pass: those without a trail, and
    those driven which cannot swing round as a caster does, and have to be held."""
    steering = vehicle.steering
    return steering.steered + tuple(
        axle for axle in steering.trailing
        if axle.steering in vehicle.driven and not _turns_round(vehicle, axle))


def driven_steering(vehicle: Vehicle) -> tuple[Axle, ...]:
    """Guiding axles whose joints are driven."""
    return tuple(axle for axle in guiding_axles(vehicle) if axle.steering in vehicle.driven)


def _turns_round(vehicle: Vehicle, axle: Axle) -> bool:
    limit = vehicle.limits.get(axle.steering, NO_LIMITS)
    return limit.upper - limit.lower >= 2 * np.pi


def _speed(vehicle: Vehicle, contact: Contact, *directions: str) -> tuple[ca.SX, ca.SX]:
    """Form (1, nv) and offset of a contact's speed along its row; a tyre is taken to roll without
    slip."""
    d = vehicle.constrained.distribution
    for held, row in vehicle.contact_rows.items():
        if held.contact == contact.name and held.direction in directions:
            return d.A[row, :], d.b[row]
    made = linear_row(contact.name, contact.speed(directions[0]), vehicle.constrained.system.v)
    return made.form, made.offset


@once
def twist_function(vehicle: Vehicle) -> ca.Function:
    """(t, q, v, theta, angles, twist, most) -> targets, rates, acceleration, moving, possible: the
    rule of `TwistDrive` for a vehicle with driven wheels.

    `angles` [rad] are those of the `guiding_axles`, `most` is the largest acceleration of the base
    [m/s^2], or infinite. `targets` [rad] are for `driven_steering`, `rates` [rad/s] for
    `rolled_joints`; `acceleration` [rad/s^2] is the largest of any of them, infinite without a
    limit; unless the vehicle is `moving`, the steering is to stand still; `possible` (3,) is the
    part of the twist that the limits of the joints allow.
    """
    system, steering = vehicle.constrained.system, vehicle.steering
    t, q, v, theta = system.t, system.q, system.v, system.theta
    guiding = guiding_axles(vehicle)
    angles = ca.SX.sym("angles", len(guiding))
    twist, most = ca.SX.sym("twist", 3), ca.SX.sym("most")
    unit = ca.DM([1, 1, steering.length])
    held = _axle_rows(vehicle, angles, v)
    start = ca.cross(*(row[:3] for row in held)) if steering.coupled else None
    possible, way = _within_limits(vehicle, twist * unit, angles, start)
    scaled = possible
    moving = ca.norm_2(scaled) > STILL
    turned = [_angle(vehicle, axle, scaled, angles[i]) for i, axle in enumerate(guiding)]
    if start is not None:
        met = _turn(vehicle, angles, start, _step(vehicle, angles, start, way))[0]
        turned[:met.numel()] = ca.vertsplit(met)
    driven = driven_steering(vehicle)
    targets = [angle for axle, angle in zip(guiding, turned) if axle in driven]
    for row in held:
        scaled = scaled - row[:3] * (ca.dot(row[:3], scaled) + row[3])
    if len(held) == 2:
        scaled = _no_faster(scaled, ca.cross(held[0][:3], held[1][:3]), possible)
    allowed = scaled / unit

    R, n, heading = _directions(vehicle, q)
    rolled = rolled_joints(vehicle)
    places = [joint.place for joint in rolled]

    def roll(twist: ca.SX | tuple) -> ca.SX:
        # steering that is turning counts, where it moves a wheel's centre
        moved = ca.vertcat(R.T @ (twist[0] * heading + twist[1] * ca.cross(n, heading)),
                           R.T @ n * twist[2], v[6:])
        moved[places] = 0
        for _, place, form, offset in rolled:
            moved[place] = -(form @ moved + offset) / form[place]
        return moved[places]

    share = _fit(vehicle, rolled, roll(allowed), roll((0, 0, 0)))
    allowed = share * allowed
    rates = roll(allowed)
    acceleration = _hold_back(ca.fabs(allowed[0] - heading.T @ R @ v[:3]),
                              ca.mmax(ca.vertcat(ca.SX(0), ca.fabs(rates - v[places]))), most)
    return ca.Function("nhmech_twist", [t, q, v, theta, angles, twist, most],
                       [ca.densify(part) for part in
                        (ca.vertcat(ca.SX(0, 1), *targets), rates, acceleration, moving,
                         share * possible / unit)],
                       {"cse": True})


def find_undriven(vehicle: Vehicle) -> np.ndarray:
    """Twists (k, 3) of the base, level and with steering straight, that are free while all driven
    joints stand still; none where a driven wheel has a tyre, which slips."""
    if any(contact.mount.wheel.law == "tyre" for contact in vehicle.contacts):
        return np.zeros((0, 3))
    q, scales = vehicle.configuration(), np.asarray(vehicle.constrained.scales)
    driven = [vehicle.algebroid.v_names.index(name) for name in vehicle.driven]
    # of twists along the ground and joint rates
    A, size = vehicle.constraint_matrix(q), np.r_[scales[[*PLANAR]], scales[6:]]
    level = level_twists(base_pose(q)[:3, :3].T @ vehicle.placer.normal)
    rows = np.vstack([np.hstack([A[:, :6] @ level, A[:, 6:]]) / size,
                      np.eye(len(size))[np.array(driven, dtype=int) - 3]])
    _, sizes, ways = np.linalg.svd(rows)
    free = ways[int(np.sum(sizes > PARALLEL * sizes[0])):] / size
    _, sizes, twists = np.linalg.svd(free[:, :3])
    return twists[:len(sizes)][sizes > PARALLEL]


@once
def planar_twist_function(vehicle: Vehicle) -> ca.Function:
    """(q, v) -> `planar_twist_of`."""
    system = vehicle.constrained.system
    return ca.Function("nhmech_planar_twist", [system.q, system.v],
                       [ca.densify(planar_twist_of(vehicle, system.q, system.v))])


def planar_twist_of(vehicle: Vehicle, q: ca.SX, v: ca.SX) -> ca.SX:
    """Forward [m/s], lateral [m/s] and yaw rate [rad/s] of the base in the ground plane, (3,)."""
    R, n, heading = _directions(vehicle, q)
    velocity = R @ v[:3]
    return ca.vertcat(ca.dot(heading, velocity), ca.dot(ca.cross(n, heading), velocity),
                      ca.dot(n, R @ v[3:6]))


def _directions(vehicle: Vehicle, q: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """R_WB, the ground's normal, and the unit vector of the base's heading in W."""
    R, n = rotation(q[3:7]), ca.SX(ca.DM(vehicle.placer.normal))
    heading = ca.cross(R[:, 1], n)
    return R, n, heading / ca.norm_2(heading)


def _fit(vehicle: Vehicle, rolled: Sequence[RolledJoint], rates: ca.SX, still: ca.SX) -> ca.SX:
    """The largest part of a twist, at most 1, with which no joint exceeds its velocity limit;
    without a twist they go at the rates `still` [rad/s]."""
    share = ca.SX(1)
    for i, joint in enumerate(rolled):
        limit = vehicle.limits.get(joint.joint, NO_LIMITS)
        if limit.velocity < np.inf:
            more = rates[i] - still[i]
            room = ca.fmax(limit.velocity - ca.sign(more) * still[i], 0)
            wanted = ca.fabs(more)
            share = ca.if_else(share * wanted > room, room / wanted, share)
    return share


def _hold_back(change: ca.SX, fastest: ca.SX, most: ca.SX) -> ca.SX:
    """The acceleration [rad/s^2] of the fastest joint that keeps the base within its own limit: all
    joints are slowed alike, so that ratios of changes are those of accelerations."""
    has_limit = ca.logic_and(ca.logic_and(change > STILL, fastest > 0), most < ca.inf)
    return ca.if_else(has_limit, most * fastest / change, ca.inf)


def following_part(vehicle: Vehicle) -> int | None:
    """The part of a twist that follows from the others by the fixed axle: 1, the lateral speed; 0,
    the forward speed, where the axle lies along x; 2, the yaw rate, which linked steering bars.
    None without a fixed axle."""
    for row in (axle.straight for axle in vehicle.steering.fixed[:1]):
        least = PARALLEL * np.linalg.norm(row)
        return next((part for part in (1, 0) if abs(row[part]) > least), 2)
    return None


def _pass_fixed(vehicle: Vehicle, scaled: ca.SX) -> ca.SX:
    """The twist with the part that follows from the fixed axle; of two that cross, what turns about
    the point where they meet."""
    part, axles = following_part(vehicle), vehicle.steering.binding
    if part is None:
        return scaled
    if len(axles) == 2:
        way = np.cross(axles[0].straight, axles[1].straight)
        way /= np.linalg.norm(way)
        return way * ca.dot(way, scaled)
    row = axles[0].straight
    others = sum(row[i] * scaled[i] for i in range(3) if i != part)
    passing = [scaled[i] for i in range(3)]
    passing[part] = 0 if part == 2 else -others / row[part]
    return ca.vertcat(*passing)


def _within_limits(vehicle: Vehicle, scaled: ca.SX, angles: ca.SX,
                   start: ca.SX | None) -> tuple[ca.SX, ca.SX]:
    """What steering joints can let pass within their limits, and the twist for which they are to
    turn: the whole twist, or forward with less turning, and less lateral speed where that is free,
    by the one factor at which the first joint comes to its limit. Where that is not possible
    either, nothing: no part becomes faster.

    Of a guiding axle the speed across its wheel, which is linear in the twist, has one sign at the
    one limit and the other at the other, just where an angle between them lets the twist pass; an
    axle with a range of more than half a turn is beyond its limits where both have the other sign.
    Axles that meet in one point, at `start` now, also have to get there.
    """
    wanted, steering = _pass_fixed(vehicle, scaled), vehicle.steering
    is_fixed = bool(steering.fixed)
    ahead = _pass_fixed(vehicle, ca.vertcat(scaled[0], scaled[1] if is_fixed else 0, 0))
    fits, starts, share = ca.SX(True), ca.SX(True), ca.SX(1)
    for axle in guiding_axles(vehicle):
        limit = vehicle.limits.get(axle.steering, NO_LIMITS)
        meets, span = steering.coupled and axle in steering.steered, limit.upper - limit.lower
        if span >= (np.inf if meets else np.pi):
            continue
        both = ca.fmin if span < np.pi else ca.fmax
        rows = ca.DM(np.array([axle.at(limit.lower), -axle.at(limit.upper)]))
        before, after = rows @ ahead, rows @ wanted
        side = _sign(ca.sum1(before))
        if not meets:
            fits = ca.logic_and(fits, ca.fmax(ca.mmin(after), -ca.mmax(after)) >= -ROUNDING)
        starts = ca.logic_and(starts, both(*ca.vertsplit(side * before)) >= -ROUNDING)
        parts = []
        for near, far in zip(ca.vertsplit(side * before), ca.vertsplit(side * after)):
            near = ca.fmax(near, 0)
            parts.append(ca.if_else(far < 0, near / (near - far), ca.inf))
        share = ca.fmin(share, both(*parts))
    less = ahead + share * (wanted - ahead)
    way = other = scaled
    if start is not None:
        way, is_open = _route(vehicle, angles, start, wanted)
        other, leads = _route(vehicle, angles, start, less)
        fits, starts = ca.logic_and(fits, is_open), ca.logic_and(starts, leads)
    return ca.if_else(fits, wanted, ca.if_else(starts, less, 0)), ca.if_else(fits, way, other)


def _route(vehicle: Vehicle, angles: ca.SX, start: ca.SX, goal: ca.SX) -> tuple[ca.SX, ca.SX]:
    """The twist, of unit size, to which axles that meet in one point are to go for a `goal`, and
    whether they get there within their limits.

    Such axles get to a far twist only through those between: straight ahead and turning on the spot
    are a quarter of a circle apart, and a wheel that went to its nearest angle on its own would
    block the others. Both ways round the circle lead there; the shorter one is taken unless it
    leads through a limit. Where no axle is fixed, neither may do until the wheels are straight.
    """
    def both(end: ca.SX) -> tuple[ca.SX, ca.SX]:
        shorter = ca.if_else(ca.dot(start, end) >= 0, end, -end)
        return -shorter, shorter

    goal = goal / ca.norm_2(goal)
    way, is_open = goal, ca.SX(False)
    for straight in () if vehicle.steering.binding else both(ca.SX(ca.DM([1, 0, 0]))):
        there, fits = _turn(vehicle, angles, start, straight)
        onward = (_turn(vehicle, there, straight, end)[1] for end in (goal, -goal))
        fits = ca.logic_and(fits, ca.logic_or(*onward))
        way, is_open = ca.if_else(fits, straight, way), ca.logic_or(is_open, fits)
    for end in both(goal):
        fits = _turn(vehicle, angles, start, end)[1]
        way, is_open = ca.if_else(fits, end, way), ca.logic_or(is_open, fits)
    return way, is_open


def _turn(vehicle: Vehicle, angles: ca.SX, start: ca.SX, end: ca.SX) -> tuple[ca.SX, ca.SX]:
    """The steering angles at the end of an arc of twists, and whether they are within their limits,
    and within half a turn of the middle, so that wheels are not wound up: axles meet in one point,
    at first at `angles`, and each wheel goes on rolling as it does."""
    turned, fits = [], ca.SX(True)
    for i, axle in enumerate(vehicle.steering.steered):
        way = _sign(_speeds(axle, angles[i], start)[0])
        along, aside = _speeds(axle, angles[i], end)
        turned.append(angles[i] + ca.atan2(-way * aside, way * along))
        limit = vehicle.limits.get(axle.steering, NO_LIMITS)
        if (span := limit.upper - limit.lower) < np.inf:
            off = ca.fabs(turned[-1] - (limit.lower + limit.upper) / 2)
            fits = ca.logic_and(fits, off <= min(span / 2, np.pi) + ROUNDING)
    return ca.vertcat(*turned), fits


def _step(vehicle: Vehicle, angles: ca.SX, start: ca.SX, end: ca.SX) -> ca.SX:
    """On an arc of twists, the one to which axles that meet in one point are sent: `REACH` away at
    most, and no wheel by more than an eighth of a turn. So one that is nearly in that point, which
    has to turn before the others do, keeps it on this arc."""
    near = ca.dot(start, end)
    across = end - near * start
    across /= ca.fmax(ca.norm_2(across), ROUNDING)     # none where it is there
    reach = ca.SX(REACH)
    for i, axle in enumerate(vehicle.steering.steered):
        rolling, _ = _speeds(axle, angles[i], start)
        along, aside = _speeds(axle, angles[i], across)
        reach = ca.fmin(reach, ca.atan2(ca.fabs(rolling),
                                        ca.fabs(aside) - _sign(rolling) * along))
    turned = start * ca.cos(reach) + across * ca.sin(reach)
    return ca.if_else(near >= ca.cos(reach), end, turned)


def _speeds(axle: Axle, angle: ca.SX, twist: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Of a wheel's steering axis, along the wheel and across it, at a steering angle."""
    straight, across = ca.dot(axle.straight, twist), ca.dot(axle.across, twist)
    return (across * ca.cos(angle) - straight * ca.sin(angle),
            straight * ca.cos(angle) + across * ca.sin(angle))


def _sign(speed: ca.SX) -> ca.SX:
    return ca.if_else(speed < 0, -1, 1)


def _no_faster(nearest: ca.SX, along: ca.SX, wanted: ca.SX) -> ca.SX:
    """Of the twists that two axles allow, `nearest` and others `along` a direction, the one that
    goes forward no faster than it is to: while steering turns, the nearest one may.

    Of a twist that mostly turns, as one on the spot, half its size is let go, which is what the
    nearest one of any twist that only turns has at most: such a vehicle would not set out before
    the steering is there.
    """
    most = ca.fmax(ca.fabs(wanted[0]), ca.norm_2(wanted) / 2)
    more = nearest[0] - ca.fmin(ca.fmax(nearest[0], -most), most)
    return nearest - ca.if_else(ca.fabs(along[0]) > PARALLEL, more / along[0], 0) * along


def _angle(vehicle: Vehicle, axle: Axle, twist: ca.SX, now: ca.SX) -> ca.SX:
    """The steering angle that lets the twist pass: the nearest, or, if a limit is in the way, the
    one half a turn away."""
    found, limit = axle.angle_for(twist, now), vehicle.limits.get(axle.steering)
    if limit is None:
        return found
    for near in (now + np.pi, now - np.pi, now):     # the last one that fits counts
        other = axle.angle_for(twist, near)
        fits = ca.logic_and(limit.lower - ROUNDING <= other, other <= limit.upper + ROUNDING)
        found = ca.if_else(fits, other, found)
    return found


def _axle_rows(vehicle: Vehicle, angles: ca.SX, v: ca.SX) -> list[ca.SX]:
    """Rows (4,), two at most, of what the base's axles ask of its twist at these angles, row[:3] .
    twist + row[3] = 0, where joints that a wheel trails turn; row[:3] orthonormal, zero where there
    are fewer."""
    steering, names = vehicle.steering, vehicle.algebroid.v_names
    axles = [ca.SX(ca.DM([*axle.straight, 0])) for axle in steering.binding]
    for i, axle in enumerate(guiding_axles(vehicle)):
        row = axle.straight * ca.cos(angles[i]) + axle.across * ca.sin(angles[i])
        row[2] += axle.trail
        turning = v[names.index(axle.steering)] if axle.trail else 0
        axles.append(ca.vertcat(row, axle.trail * steering.length * turning))
    held: list[ca.SX] = []
    least = ca.SX(0)
    for _ in range(min(len(axles), 2)):
        size, largest = ca.SX(-ca.inf), ca.SX.zeros(4)
        for row in axles:
            length = ca.norm_2(row[:3])
            is_larger = length > size
            largest = ca.if_else(is_larger, row, largest)
            size = ca.if_else(is_larger, length, size)
        held.append(ca.if_else(size > least, largest / size, 0))
        least = PARALLEL * size
        axles = [row - held[-1] * ca.dot(held[-1][:3], row[:3]) for row in axles]
    return held
