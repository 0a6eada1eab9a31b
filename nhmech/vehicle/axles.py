"""Which axles bind the base in the plane, and which joint turns each of them."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
import pinocchio as pin

from ..mechanics.algebroid import LieAlgebroid
from ..urdf.description import Description
from .contact import Contact, Mount
from .couplings import PLANAR, Axle, SteeredAxle, Steering, check_can_turn
from .model import write_joint
from .parameters import Parameters


def find_axles(contacts: Sequence[Contact], algebroid: LieAlgebroid, t: ca.SX, v: ca.SX,
               parameters: Parameters,
               normal: np.ndarray, model: pin.Model, description: Description) -> Steering:
    """Finds the lateral rows that see only the base's planar twist, at random joint angles, and
    what turns them.

    Raises
    ------
    ModelError
        Where fixed axles leave no way to turn.
    """
    centres = (
        np.array([_planar_centre(model, c.mount) for c in contacts])
        if contacts
        else np.zeros((1, 3))
    )
    spread = np.linalg.norm(centres - centres.mean(axis=0), axis=1).max()
    # a single blade has no size
    length = float(max([spread, *(c.mount.wheel.radius for c in contacts)])) or 0.1
    lateral = [c for c in contacts if "lateral" in c.held and c.mount.axle is not None
               and c.name not in description.released]
    if not lateral or description.track_factor is not None:
        return Steering((), (), length)
    upright = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal).coeffs()
    forms = ca.vertcat(*[ca.jacobian(c.speed("lateral"), v) for c in lateral])
    forms = ca.substitute(forms, algebroid.q[3:7], ca.DM(upright))
    evaluate = ca.Function("lateral", [t, algebroid.q, parameters.theta], [forms])
    rng = np.random.default_rng(1)

    def rows_at(angles: dict[str, float]) -> np.ndarray:
        q = pin.neutral(model)
        for name, value in angles.items():
            write_joint(model, q, name, value)
        return evaluate(0.0, q, parameters.numbers).full()

    random = {name: rng.uniform(-0.5, 0.5) for name in list(model.names)[2:]}
    at_random = rows_at(random)
    fixed, steered = [], {}
    for i, c in enumerate(lateral):
        if np.abs(at_random[i, 6:]).max(initial=0.0) > 1e-6 * max(length, 1e-3):
            continue      # a swivel, a hitch, a bicycle's fork: turns by itself
        turns = _ancestors(model, c.mount.body)
        scale = np.array([1, 1, 1 / length])
        straight = rows_at({})[i, list(PLANAR)] * scale
        if not turns:
            fixed.append(Axle(c.name, None, ca.DM(straight), straight, np.zeros(3)))
        elif len(turns) == 1 and turns[0] not in steered:
            across = rows_at({turns[0]: np.pi / 2})[i, list(PLANAR)] * scale
            angle = _angle_symbols(algebroid, turns[0])
            row = ca.DM(_clean(straight)) * angle[0] + ca.DM(_clean(across)) * angle[1]
            steered[turns[0]] = SteeredAxle(c.name, turns[0], row, straight, across)
    result = Steering(tuple(fixed),
                      tuple(steered[name] for name in _leaders_first(steered, description)), length)
    check_can_turn(result)
    return result


def _clean(vector: np.ndarray) -> np.ndarray:
    return np.where(np.abs(vector) < 1e-14, 0.0, vector)


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


def steering_angles(steering: Steering, model: pin.Model, q: np.ndarray | None) -> dict[str, float]:
    angles = {}
    for axle in steering.steered if q is not None else ():
        joint = model.joints[model.getJointId(axle.steering)]
        i = joint.idx_q
        angles[axle.steering] = float(np.arctan2(q[i + 1], q[i]) if joint.nq == 2 else q[i])
    return angles
