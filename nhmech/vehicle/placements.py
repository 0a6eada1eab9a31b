"""Poses of the bodies and contacts of a vehicle, as one function."""

from __future__ import annotations

import casadi as ca
import pinocchio as pin

from ..mechanics.algebroid import LieAlgebroid, rotation
from ..mechanics.distribution import Component
from .model import is_prismatic, joint_axis
from .tree import joint_cos_sin, rotation_about
from .vehicle import Vehicle


def placement_function(vehicle: Vehicle) -> ca.Function:
    """(t, q, theta) -> poses (16, njoints - 1), points (3, k), directions (3, n).

    Column i of `poses` is T_WJ (4, 4) of Pinocchio's joint i + 1, column by column; the columns of
    `points` are the contact points [m] in W, those of `directions` the unit vectors in W of the
    components of the contact forces, in the order of `Vehicle.contact_rows`.
    """
    system = vehicle.constrained.system
    poses = _placements(vehicle.model, system.algebroid)
    local, directions, _ = vehicle.functions.contacts(system.t, system.q, system.theta)
    points = [(poses[contact.mount.body - 1] @ ca.vertcat(local[:, i], 1))[:3]
              for i, contact in enumerate(vehicle.contacts)]
    held = [(contact, direction) for contact in vehicle.contacts for direction in contact.held]
    turned = {Component(contact.name, direction):
              poses[contact.mount.body - 1][:3, :3] @ directions[:, column]
              for column, (contact, direction) in enumerate(held)}
    columns = [ca.densify(ca.vec(pose)) for pose in poses]
    return ca.Function("nhmech_placements", [system.t, system.q, system.theta],
                       [ca.horzcat(*columns), _columns(points),
                        _columns([turned[component] for component in vehicle.contact_rows])],
                       {"cse": True})


def _columns(vectors: list[ca.SX]) -> ca.SX:
    return ca.densify(ca.horzcat(ca.SX(3, 0), *vectors))


def _placements(model: pin.Model, algebroid: LieAlgebroid) -> list[ca.SX]:
    """T_WJ of each joint except the universe."""
    q, last = algebroid.q, ca.DM([[0, 0, 0, 1]])
    poses = [ca.vertcat(ca.horzcat(rotation(q[3:7]), q[:3]), last)]
    for joint in range(2, model.njoints):
        own, axis = model.joints[joint], joint_axis(model, joint)
        if is_prismatic(model, joint):
            R, p = ca.SX.eye(3), ca.SX(ca.DM(axis)) * q[own.idx_q]
        else:
            R, p = rotation_about(axis, *joint_cos_sin(model, joint, q)), ca.SX.zeros(3)
        moved = ca.vertcat(ca.horzcat(R, p), last)
        fixed = ca.SX(ca.sparsify(ca.DM(model.jointPlacements[joint].homogeneous)))
        poses.append(poses[model.parents[joint] - 1] @ fixed @ moved)
    return poses
