"""All constraint rows of a vehicle: contacts, couplings, mimic joints, the gauge of a massless
root, mid-axle skid steering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ..errors import ModelError, listed
from ..mechanics.algebroid import LieAlgebroid
from ..mechanics.distribution import Component, Row, Span
from ..urdf.description import Description, Mimic
from .contact import Contact
from .context import BuildContext
from .couplings import Axle
from .formulation import Formulation
from .posing import Gauge, Posing
from .tyres import relaxations

# priorities: rows that are required, rows that define the motion best, rows that only repeat others
HOLONOMIC, COUPLED, FIXED_AXLE, ROLLING, FOLLOWER = range(5)
MIDDLE = Component("mid_axle", "lateral")     # of all wheels together, if they scrub


def linear_row(name: str, speed: ca.SX, v: ca.SX, phi: ca.SX | None = None,
               priority: int = ROLLING) -> Row:
    """The row of a speed that is affine in v."""
    form = ca.jacobian(speed, v)
    return Row(name, form, ca.substitute(speed, v, ca.SX.zeros(v.shape)), phi, priority)


def component_row(component: Component, speed: ca.SX, v: ca.SX, phi: ca.SX | None = None,
                  priority: int = ROLLING) -> Row:
    """The row of a contact's speed in one direction."""
    row = linear_row(str(component), speed, v, phi, priority)
    return replace(row, component=component)


def contact_rows(contact: Contact, v: ca.SX, phi: ca.SX, lateral_priority: int,
                 released: bool = False) -> list[Row]:
    """The normal row with its function, then the directions without slip; without the lateral one
    if `released`."""
    rows = [component_row(Component(contact.name, "normal"), contact.speed("normal"), v, phi,
                          HOLONOMIC)]
    for direction in contact.held[1:]:
        if released and direction == "lateral":
            continue
        priority = lateral_priority if direction == "lateral" else ROLLING
        rows.append(component_row(Component(contact.name, direction), contact.speed(direction), v,
                                  None, priority))
    return rows


def contact_span(contact: Contact, v: ca.SX) -> Span | None:
    """For a contact without any slip, the three components of its velocity in the frame of the body
    that carries the wheel, whose span is that of its rows; else None.

    In that frame the axle is constant, and the normal only enters through the contact point. A
    wheel that stays upright does not need this: its directions only rotate about the axle.
    """
    upright = contact.directions["lateral"].is_constant()
    if upright or set(contact.held) != {"normal", "longitudinal", "lateral"}:
        return None
    directions = [contact.directions[direction] for direction in contact.held]
    rotation = ca.sparsify(ca.horzcat(*directions).T)
    offsets = ca.substitute(contact.velocity, v, ca.SX.zeros(v.shape))
    return Span(tuple(str(Component(contact.name, direction)) for direction in contact.held),
                ca.jacobian(contact.velocity, v), offsets, rotation)


def function_row(name: str, phi: ca.SX, algebroid: LieAlgebroid) -> Row:
    """The row of a holonomic function of q."""
    form = ca.jacobian(phi, algebroid.q) @ algebroid.anchor
    return Row(name, form, ca.SX(1, 1), phi, COUPLED)


def mimic_row(mimic: Mimic, algebroid: LieAlgebroid, v: ca.SX) -> Row:
    """The row v_joint = multiplier v_leader, with its function of q unless one of the joints is
    continuous."""
    a, b = algebroid.v_names.index(mimic.joint), algebroid.v_names.index(mimic.leader)
    phi = None
    if mimic.joint in algebroid.q_names and mimic.leader in algebroid.q_names:
        q = algebroid.q
        joint, leader = (q[algebroid.q_names.index(name)] for name in (mimic.joint, mimic.leader))
        phi = joint - mimic.multiplier * leader - mimic.offset
    return linear_row(f"{mimic.joint}/mimic", v[a] - mimic.multiplier * v[b], v, phi, COUPLED)


def relaxation_rows(context: BuildContext, contact: Contact) -> list[Row]:
    """The rows of the deflections z of a tyre: dz/dt = -V_s - h(V) z / sigma."""
    rows = []
    for direction, relaxation in relaxations(context, contact).items():
        own = relaxation.follower
        row = linear_row(f"{contact.name}/{direction}_relaxation",
                         contact.speed(direction) + context.v[own], context.v)
        rows.append(replace(row, follower=own, flow=relaxation.flow))
    return rows


def gauge_row(gauge: Gauge, n: ca.SX, n_full: ca.SX, v: ca.SX) -> Row:
    """The row of a `Gauge`: the axis `level` of a massless root stays horizontal.

    phi = level . n, with the full normal `n_full`.
    """
    level = ca.DM(gauge.level)
    return linear_row(f"{gauge.joint}/gauge", ca.dot(level, ca.cross(n, v[3:6])), v,
                      ca.dot(level, n_full), HOLONOMIC)


def mid_axle_rows(contacts: Sequence[Contact], v: ca.SX, track_factor: float,
                  n: ca.SX) -> list[Row]:
    """The rows of the mid-axle model of skid steering: no lateral motion at the middle of the
    wheels, and a track that is wider by a factor.

    The wheels are on the root. A longitudinal row is v_K.e + (factor - 1) yaw_rate (n x p).e with p
    from the middle to the contact; the lateral row is the mean over the wheels; all relative to the
    ground. Source: Mandow et al., 'Experimental kinematics for wheeled skid-steer mobile robots',
    IROS 2007.
    """
    middle = np.mean([c.mount.centre for c in contacts], axis=0)
    yaw_rate = ca.dot(n, v[3:6])
    rows = []
    for c in contacts:
        arm = ca.cross(n, ca.DM(c.mount.centre - middle))
        widening = (track_factor - 1) * yaw_rate * ca.dot(arm, c.directions["longitudinal"])
        rows.append(component_row(Component(c.name, "longitudinal"),
                                  c.speed("longitudinal") + widening, v))
    axles = np.array([c.mount.axle for c in contacts])
    lateral = ca.SX(0)
    for way, c in zip(np.sign(axles @ axles[0]), contacts):
        lateral += way * c.speed("lateral")
    rows.append(component_row(MIDDLE, lateral / len(contacts), v, None, FIXED_AXLE))
    return rows


def constraint_rows(context: BuildContext, form: Formulation, full: Formulation, posing: Posing,
                    pair: tuple[Axle, Axle] | None) -> list[Row]:
    """All rows, including those that depend on others.

    `full` is the formulation without short symbols: holonomic functions depend on the whole
    attitude even if the rows use its frozen parts. Raises `ModelError` for the mid-axle model with
    fewer than two wheels fixed to the base.
    """
    v, description, steering = context.v, context.description, posing.steering
    fixed = {axle.wheel for axle in steering.fixed}
    followers = {axle.wheel for axle in steering.steered if pair is not None and axle not in pair}
    skidding = _find_skidding(description, form.contacts)
    rows: list[Row] = []
    for c, whole, offset in zip(form.contacts, full.contacts, posing.support.offsets):
        priority = FIXED_AXLE if c.name in fixed else FOLLOWER if c.name in followers else ROLLING
        height = whole.height - float(offset)
        made = contact_rows(c, v, height, priority, c.name in description.released)
        rows += made[:1] if c in skidding else made
    if description.track_factor is not None:
        rows += mid_axle_rows(skidding, v, description.track_factor, form.normal)
    if pair is not None:
        rows += [function_row(f"{joint}/coupling", phi, form.space)
                 for joint, phi in steering.functions(pair).items()]
    rows += [mimic_row(mimic, form.space, v) for mimic in description.mimic]
    rows += [row for c in form.contacts for row in relaxation_rows(context, c)]
    if posing.gauge is not None:
        rows.append(gauge_row(posing.gauge, form.normal, full.normal, v))
    return rows


def _find_skidding(description: Description, contacts: Sequence[Contact]) -> list[Contact]:
    """The wheels of the mid-axle model: on the base itself, and not steered."""
    if description.track_factor is None:
        return []
    found = [c for c in contacts
             if "lateral" in c.held and c.mount.spin is not None and c.mount.body == 1]
    if len(found) < 2:
        raise ModelError("the mid-axle model is for wheels that are fixed to the base and do not "
                         f"steer; there {'is one' if found else 'are none'} among "
                         f"{listed(c.name for c in contacts)}")
    return found
