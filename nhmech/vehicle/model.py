"""Builds Pinocchio's model from a description: free-flyer root, locked joints removed, rounding
errors of axes corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..urdf.description import Description

# [rad] rounding errors in the rotations of a chain of joints; angles that people rounded are
# repaired in the text (`nhmech.urdf.repair`)
NEAR = 1e-9
ROUNDING = 1e-14      # entries of a rotation that are nearer to 0 or 1 are rounding errors of these
_OF_JOINT = "\x01"     # ends the names of joints while some are locked; in XML no name has it


def full_model(description: Description) -> pin.Model:
    """All joints of the file on a free-flyer root, with corrected rolling and steering axes."""
    try:
        model = pin.buildModelFromXML(description.xml, pin.JointModelFreeFlyer())
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{description.path or description.name}: Pinocchio cannot read this "
                         f"URDF: {error}") from error
    _snap_axes(model, set(description.rolling) | set(description.steering))
    return model


def lock_joints(model: pin.Model, description: Description,
                geometries: Iterable[pin.GeometryModel] = ()
                ) -> tuple[pin.Model, list[pin.GeometryModel]]:
    """The model with all joints locked except rolling, steering and released ones, and its
    shapes."""
    held, q = _locked_joints(model, description)
    if not held:
        return model, list(geometries)
    # Pinocchio looks for frames by their names alone: those of joints must be no link's
    _rename_joints(model, lambda name: name + _OF_JOINT)
    reduced, kept = pin.buildReducedModel(model, list(geometries), held, q)
    for each in (model, reduced):
        _rename_joints(each, lambda name: name.removesuffix(_OF_JOINT))
    return reduced, list(kept)


def _rename_joints(model: pin.Model, rename: Callable[[str], str]) -> None:
    """Renames all joints and their frames, in place."""
    for k, name in enumerate(model.names):
        model.names[k] = rename(name)
    for frame in model.frames:
        if frame.type != pin.FrameType.BODY:
            frame.name = rename(frame.name)


def _locked_joints(model: pin.Model, description: Description) -> tuple[list[int], np.ndarray]:
    """Ids of the locked joints, and the configuration at which they are locked."""
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


def add_deflections(model: pin.Model, names: Iterable[str]) -> None:
    """Joints without mass whose positions are the deflections of tyres [m].

    They are attached to the root, wherever the wheels are, because Pinocchio's `crba` assumes that
    the velocities of a joint's subtree are contiguous.
    """
    for name in names:
        joint = model.addJoint(1, pin.JointModelPX(), pin.SE3.Identity(), name)
        model.addBodyFrame(name, joint, pin.SE3.Identity(), 0)


def body_names(model: pin.Model) -> tuple[str, ...]:
    """The link that names each joint's body, index 0 for the universe."""
    names = ["universe"] + [""] * (model.njoints - 1)
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and not names[frame.parentJoint]:
            names[frame.parentJoint] = frame.name
    return tuple(names)


def write_joint(model: pin.Model, q: np.ndarray, name: str, position: float) -> None:
    """Sets the position [rad, m] of one joint in q, in place."""
    joint = model.joints[model.getJointId(name)]
    value = (np.cos(position), np.sin(position)) if joint.nq == 2 else position
    q[joint.idx_q:joint.idx_q + joint.nq] = value


def read_joint(model: pin.Model, q: np.ndarray, name: str) -> float:
    """The position [rad, m] of one joint in q; of a continuous joint its angle in (-pi, pi]."""
    joint = model.joints[model.getJointId(name)]
    i = joint.idx_q
    return float(np.arctan2(q[i + 1], q[i]) if joint.nq == 2 else q[i])


def upright(normal: np.ndarray) -> np.ndarray:
    """The smallest rotation (3, 3) that takes the z axis to a unit vector."""
    return pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal).toRotationMatrix()


def joint_axis(model: pin.Model, joint: int) -> np.ndarray:
    """Unit axis of a revolute, continuous or prismatic joint in its own frame, (3,)."""
    data = model.joints[joint].createData()
    model.joints[joint].calc(data, pin.neutral(model))
    S = np.asarray(data.S).reshape(6)
    axis = S[:3] if is_prismatic(model, joint) else S[3:]
    return np.round(axis, 15)


def is_prismatic(model: pin.Model, joint: int) -> bool:
    kind = model.joints[joint].shortname()
    return "JointModelP" in kind and "Planar" not in kind


def _snap_axes(model: pin.Model, names: set[str]) -> None:
    """Rotates joint placements so that axes that are meant to be horizontal, vertical or along a
    coordinate axis are exactly so."""
    # rotation of each joint frame relative to the root, in the zero pose
    rotation = [np.eye(3)] * model.njoints
    for joint in range(2, model.njoints):
        parent = rotation[model.parents[joint]]
        placement = model.jointPlacements[joint]
        if model.names[joint] in names:
            axis = parent @ placement.rotation @ joint_axis(model, joint)
            meant = _find_meant(axis)
            if meant is not None:
                turn = pin.Quaternion.FromTwoVectors(axis, meant).toRotationMatrix()
                placement.rotation = _clean(parent.T @ turn @ parent @ placement.rotation)
                model.jointPlacements[joint] = placement
        rotation[joint] = parent @ placement.rotation


def _find_meant(axis: np.ndarray) -> np.ndarray | None:
    """The coordinate axis or horizontal axis that a unit vector approximates; None if none."""
    k = int(np.argmax(np.abs(axis)))
    nearest = np.zeros(3)
    nearest[k] = np.sign(axis[k])
    if np.linalg.norm(axis - nearest) < NEAR:
        return nearest
    if abs(axis[2]) < NEAR:
        flat = axis * (1, 1, 0)
        return flat / np.linalg.norm(flat)
    return None


def _clean(rotation: np.ndarray) -> np.ndarray:
    """The nearest rotation whose entries near 0 and 1 are exactly that."""
    clean = np.where(np.abs(rotation) < ROUNDING, 0.0, rotation)
    clean = np.where(np.abs(np.abs(clean) - 1) < ROUNDING, np.sign(clean), clean)
    u, _, vt = np.linalg.svd(clean)
    nearest = u @ vt
    return clean if np.abs(nearest - clean).max() < 1e-15 else nearest
