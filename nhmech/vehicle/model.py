"""From a description to Pinocchio's model: free-flyer root, held joints locked, rounded axes
snapped."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..urdf.description import Description

# [rad] an axis this near to a coordinate axis, or the horizontal, was meant to be there (rpy="1.57
# 0 0")
SNAP = 5e-3


def full_model(description: Description) -> pin.Model:
    """Every joint of the file on a free-flyer root, rolling and steering axes snapped.

    Raises
    ------
    ModelError
        Where Pinocchio cannot read the text (validation should have caught it).
    """
    try:
        model = pin.buildModelFromXML(description.xml, pin.JointModelFreeFlyer())
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{description.path or description.name}: Pinocchio cannot read this "
                         f"URDF: {error}") from error
    _snap_axes(model, set(description.rolling) | set(description.steering))
    return model


def locked_joints(model: pin.Model, description: Description) -> tuple[list[int], np.ndarray]:
    """Ids of the joints to hold and the configuration at which they are held."""
    moving = set(description.rolling) | set(description.steering) | set(description.free)
    q = pin.neutral(model)
    held = []
    for joint in range(2, model.njoints):
        name = model.names[joint]
        if name in moving:
            continue
        held.append(joint)
        position = description.locked.get(name, 0.0)
        write_joint(model, q, name, position)
    return held, q


def reduced_model(model: pin.Model, description: Description) -> pin.Model:
    """The model with all but rolling, steering and released joints held."""
    held, q = locked_joints(model, description)
    return pin.buildReducedModel(model, held, q) if held else model


def write_joint(model: pin.Model, q: np.ndarray, name: str, position: float) -> None:
    """Puts the position [rad, m] of one joint into q, in place."""
    joint = model.joints[model.getJointId(name)]
    q[joint.idx_q:joint.idx_q + joint.nq] = (np.cos(position),
                                             np.sin(position)) if joint.nq == 2 else position


def joint_axis(model: pin.Model, joint: int) -> np.ndarray:
    """Unit axis of a revolute, continuous or prismatic joint in its own frame, (3,)."""
    data = model.joints[joint].createData()
    model.joints[joint].calc(data, pin.neutral(model))
    S = np.asarray(data.S).reshape(6)
    axis = S[:3] if is_prismatic(model, joint) else S[3:]
    return np.round(axis / np.linalg.norm(axis), 15)


def is_prismatic(model: pin.Model, joint: int) -> bool:
    return (
        "JointModelP" in model.joints[joint].shortname()
        and "Planar" not in model.joints[joint].shortname()
    )


def _snap_axes(model: pin.Model, names: set[str]) -> None:
    """Turns joint placements so that axes meant to be horizontal, vertical or along a coordinate
    axis exactly are."""
    # of each joint frame against the root, zero pose
    rotation = [np.eye(3)] * model.njoints
    for joint in range(2, model.njoints):
        parent = rotation[model.parents[joint]]
        placement = model.jointPlacements[joint]
        if model.names[joint] in names:
            axis = parent @ placement.rotation @ joint_axis(model, joint)
            target = _snapped(axis)
            if target is not None:
                turn = _turn(axis, target)
                placement.rotation = _orthonormal(parent.T @ turn @ parent @ placement.rotation)
                model.jointPlacements[joint] = placement
        rotation[joint] = parent @ placement.rotation


def _snapped(axis: np.ndarray) -> np.ndarray | None:
    k = int(np.argmax(np.abs(axis)))
    nearest = np.zeros(3)
    nearest[k] = np.sign(axis[k])
    if np.linalg.norm(axis - nearest) < SNAP:
        return nearest
    if abs(axis[2]) < SNAP:
        flat = axis * (1, 1, 0)
        return flat / np.linalg.norm(flat)
    return None


def _turn(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The smallest rotation that takes one unit vector to another near it."""
    return pin.Quaternion.FromTwoVectors(start, end).toRotationMatrix()


def _orthonormal(rotation: np.ndarray) -> np.ndarray:
    """The nearest rotation, with entries that are rounding noise set to what they stand for."""
    clean = np.where(np.abs(rotation) < 1e-14, 0.0, rotation)
    clean = np.where(np.abs(np.abs(clean) - 1) < 1e-14, np.sign(clean), clean)
    u, _, vt = np.linalg.svd(clean)
    nearest = u @ vt
    return clean if np.abs(nearest - clean).max() < 1e-15 else nearest
