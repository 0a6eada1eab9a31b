"""Finds the axles that constrain the planar motion of the base, and the joint that steers each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np
import pinocchio as pin

from ..urdf.description import Description, Scrubbing
from .contact import Contact, without_rounding
from .context import BuildContext
from .couplings import TURNLESS, Axle, Steering, check_can_move, level_twists
from .model import write_joint
from .tree import joint_cos_sin

SIZE = 0.1         # [m] of a vehicle without extent: a single blade
TURNING = 1e-6     # of the length: a joint whose rate has a larger coefficient in a row steers it


def find_axles(context: BuildContext, contacts: Sequence[Contact],
               standing: np.ndarray) -> Steering:
    """Finds the lateral rows that depend only on the planar twist of the base (at random joint
    angles) as it stands in a configuration, and the joints that steer them. Raises `ModelError` if
    the fixed axles do not allow any motion."""
    description, model = context.description, context.model
    level = level_twists(_rotation(standing).T @ context.normal)
    length = _length(context, contacts, standing)
    # a linkage makes axles meet, whether or not the tyres on them slip
    lateral = [c for c in contacts if "lateral" in c.mount.wheel.traits.held
               and c.mount.axle is not None and c.name not in description.released]
    scrubs = description.track_factor is not None or isinstance(description.skid, Scrubbing)
    if not lateral or scrubs:
        return Steering((), (), length)
    rows_at = _lateral_rows(context, lateral, standing)
    rng = np.random.default_rng(1)
    at_zero = rows_at({})
    at_random = rows_at({name: rng.uniform(-0.5, 0.5) for name in context.joint_names})
    names, least = context.algebroid.v_names, TURNING * length
    scale = np.array([1, 1, 1 / length])
    fixed: list[Axle] = []
    steered: dict[str, Axle] = {}
    trailing: dict[str, Axle] = {}
    for i, c in enumerate(lateral):
        turns = _ancestors(model, c.mount.body)
        rates = at_random[i, [names.index(name) for name in turns]]
        trails = np.abs(at_random[i, 6:]).max(initial=0.0) > least
        # A swivel, a hitch or the fork of a bicycle turns by itself. The trail of an upright one is
        # the same at all angles.
        if trails and not (len(turns) == 1 and abs(rates[0]) > least
                           and abs(rates[0] - at_zero[i, names.index(turns[0])]) <= least):
            continue
        trail = rates[0] / length if trails else 0.0
        straight = at_zero[i, :6] @ level * scale - (0, 0, trail)
        if not turns:
            fixed.append(Axle(c.name, "", ca.SX(ca.DM(straight)), straight, np.zeros(3)))
        elif len(turns) == 1 and turns[0] not in (found := trailing if trails else steered):
            across = rows_at({turns[0]: np.pi / 2})[i, :6] @ level * scale - (0, 0, trail)
            cos, sin = joint_cos_sin(model, model.getJointId(turns[0]), context.algebroid.q)
            row = (ca.DM(without_rounding(straight)) * cos
                   + ca.DM(without_rounding(across)) * sin)
            row[2] += trail
            found[turns[0]] = Axle(c.name, turns[0], row, straight, across, trail)
    fixed += _join_linked(description, steered)
    leaders_first = [steered[name] for name in _order(steered, description)]
    steering = Steering(_select_binding(fixed, contacts), tuple(leaders_first), length,
                        tuple(trailing.values()))
    check_can_move(steering)
    return steering


def _join_linked(description: Description, steered: dict[str, Axle]) -> list[Axle]:
    """The combined row of two steered axles that a mimic joint turns oppositely or alike:
    oppositely it is that of a fixed axle half way between them, alike it forbids yaw.

    straight_a cos g + across sin g and straight_b cos g +- across sin g both vanish only if
    straight_b -+ straight_a does.
    """
    found = []
    for mimic in description.mimic:
        if mimic.joint in steered and mimic.leader in steered:
            one, other = steered[mimic.leader], steered[mimic.joint]
            row = (other.straight - mimic.multiplier * one.straight) / 2
            found.append(Axle(f"{mimic.joint} with {mimic.leader}", "", ca.SX(ca.DM(row)), row,
                              np.zeros(3)))
    return found


def _select_binding(fixed: Sequence[Axle], contacts: Sequence[Contact]) -> tuple[Axle, ...]:
    """The fixed axles that determine where the steered ones meet: those that cannot slip; if all
    can, the first one and those on its line."""
    held = {c.name for c in contacts
            if "lateral" in c.held and c.mount.wheel.law == "rolling"}
    rolling = tuple(axle for axle in fixed if axle.wheel in held)
    return rolling or tuple(
        axle for axle in fixed
        if np.linalg.norm(np.cross(axle.straight, fixed[0].straight)) <= TURNLESS)


def _length(context: BuildContext, contacts: Sequence[Contact], standing: np.ndarray) -> float:
    """The size of the vehicle in the plane [m]: the largest distance of a wheel from the middle, or
    the largest radius."""
    data = context.model.createData()
    pin.forwardKinematics(context.model, data, standing)
    centres = np.array([data.oMi[c.mount.body].act(c.mount.centre) for c in contacts])
    centres -= np.outer(centres @ context.normal, context.normal)
    spread = np.linalg.norm(centres - centres.mean(axis=0), axis=1).max()
    return float(max([spread, *(c.mount.wheel.radius for c in contacts)])) or SIZE


def _lateral_rows(context: BuildContext, lateral: Sequence[Contact],
                  standing: np.ndarray) -> Callable[[dict[str, float]], np.ndarray]:
    """A function: joint angles [rad] -> lateral rows (k, nv), with the base as it stands."""
    forms = ca.vertcat(*[ca.jacobian(c.speed("lateral"), context.v) for c in lateral])
    forms = ca.substitute(forms, context.algebroid.q[3:7], ca.DM(standing[3:7]))
    evaluate = context.function("lateral", forms)

    def rows_at(angles: dict[str, float]) -> np.ndarray:
        q = pin.neutral(context.model)
        for name, value in angles.items():
            write_joint(context.model, q, name, value)
        return evaluate(0.0, q, context.parameters.numbers).full()

    return rows_at


def _rotation(q: np.ndarray) -> np.ndarray:
    """R_WB (3, 3)."""
    return pin.Quaternion(q[3:7]).toRotationMatrix()


def _ancestors(model: pin.Model, joint: int) -> list[str]:
    names = []
    while joint > 1:
        names.append(model.names[joint])
        joint = model.parents[joint]
    return names


def _order(steered: dict[str, Axle], description: Description) -> list[str]:
    """The steering joints in order: named speeds first, then driven joints, then by wheels."""
    wanted = description.speeds or ()
    return sorted(steered, key=lambda name: (name not in wanted, name not in description.driven))
