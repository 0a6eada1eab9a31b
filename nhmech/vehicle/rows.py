"""All rows of a vehicle: contacts, couplings, mimic joints, the gauge of a massless root, mid-axle
skidding."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.distribution import Row, Span
from ..urdf.description import Mimic
from .contact import Contact

# priorities: what must be there, then what defines the motion best, then what only repeats it
HOLONOMIC, COUPLED, FIXED_AXLE, ROLLING, FOLLOWER = range(5)


def linear_row(name: str, speed: ca.SX, v: ca.SX, phi: ca.SX | None = None,
               priority: int = ROLLING) -> Row:
    """The row of a speed that is affine in v."""
    form = ca.jacobian(speed, v)
    return Row(name, form, ca.substitute(speed, v, ca.SX.zeros(v.shape)), phi, priority)


def contact_rows(contact: Contact, v: ca.SX, phi: ca.SX, lateral_priority: int,
                 released: bool = False) -> list[Row]:
    """Normal row with its holonomic function, then the held directions; `released` frees the
    lateral one."""
    rows = [linear_row(f"{contact.name}/normal", contact.speed("normal"), v, phi, HOLONOMIC)]
    for direction in contact.held[1:]:
        if released and direction == "lateral":
            continue
        priority = lateral_priority if direction == "lateral" else ROLLING
        rows.append(linear_row(f"{contact.name}/{direction}", contact.speed(direction), v, None,
                               priority))
    return rows


def contact_span(contact: Contact, v: ca.SX) -> Span | None:
    """Of a contact without any slip the three components of its velocity, in the frame of the body
    carrying the wheel.

    There the axle is a constant, and the ground's normal enters through the contact point only. A
    wheel that stays upright needs none of it: its directions only turn about the axle.
    """
    upright = contact.directions["lateral"].is_constant()
    if upright or set(contact.held) != {"normal", "longitudinal", "lateral"}:
        return None
    rotation = ca.sparsify(ca.horzcat(*[contact.directions[direction] for direction in contact.held]).T)
    offsets = ca.substitute(contact.velocity, v, ca.SX.zeros(v.shape))
    return Span(tuple(f"{contact.name}/{direction}" for direction in contact.held),
                ca.jacobian(contact.velocity, v), offsets, rotation)


def function_row(name: str, phi: ca.SX, algebroid: LieAlgebroid, priority: int = COUPLED) -> Row:
    """The row of a holonomic function of q."""
    form = ca.jacobian(phi, algebroid.q) @ algebroid.anchor
    return Row(name, form, ca.SX(1, 1), phi, priority)


def mimic_row(mimic: Mimic, algebroid: LieAlgebroid, v: ca.SX) -> Row:
    """v_joint = multiplier v_leader; with its function of q where neither joint turns without
    limit."""
    a, b = algebroid.v_names.index(mimic.joint), algebroid.v_names.index(mimic.leader)
    phi = None
    if mimic.joint in algebroid.q_names and mimic.leader in algebroid.q_names:
        q = algebroid.q
        joint, leader = (q[algebroid.q_names.index(name)] for name in (mimic.joint, mimic.leader))
        phi = joint - mimic.multiplier * leader - mimic.offset
    return linear_row(f"{mimic.joint}/mimic", v[a] - mimic.multiplier * v[b], v, phi, COUPLED)


def gauge_row(level: np.ndarray, n_B: ca.SX, phi: ca.SX, v: ca.SX, wheel: str) -> Row:
    """A massless root could turn with the wheel at will: its axis `level`, across the axle, stays
    level.

    phi = level . n
    """
    return linear_row(f"{wheel}/gauge", ca.dot(ca.DM(level), ca.cross(n_B, v[3:6])), v, phi,
                      HOLONOMIC)


def mid_axle_rows(contacts: Sequence[Contact], v: ca.SX, track_factor: float,
                  n: ca.SX) -> list[Row]:
    """Skid steering by its mid-axle model: no lateral motion of the wheels' middle, and a track
    widened by a factor.

    The wheels are on the root. Longitudinal rows read v_K.e + (factor - 1) yaw_rate (n x p).e with
    p from the middle to the contact, the lateral row is the mean of theirs, all relative to the
    ground; source: Mandow et al., 'Experimental kinematics for wheeled skid-steer mobile robots',
    IROS 2007.
    """
    middle = np.mean([c.mount.centre for c in contacts], axis=0)
    yaw_rate = ca.dot(n, v[3:6])
    rows = []
    for c in contacts:
        arm = ca.cross(n, ca.DM(c.mount.centre - middle))
        widened = c.speed("longitudinal") + (track_factor - 1) * yaw_rate * ca.dot(
            arm, c.directions["longitudinal"]
        )
        rows.append(linear_row(f"{c.name}/longitudinal", widened, v))
    same_way = [np.sign(c.mount.axle @ contacts[0].mount.axle) for c in contacts]
    mean = sum((way * c.speed("lateral") for way, c in zip(same_way, contacts)),
               ca.SX(0)) / len(contacts)
    rows.append(linear_row("mid_axle/lateral", mean, v, None, FIXED_AXLE))
    return rows
