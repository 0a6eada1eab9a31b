"""From what a user says of a pose to a configuration on the manifold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from .model import write_joint

if TYPE_CHECKING:
    from .vehicle import Vehicle


def posed(vehicle: Vehicle, pose, joints: dict[str, float], t: float) -> np.ndarray:
    """q of `Vehicle.configuration`."""
    model = vehicle.model
    unknown = [name for name in joints
               if not (isinstance(name,
                                  str) and model.existJointName(name)) or name == model.names[1]]
    if unknown:
        raise ModelError(f"unknown joint {unknown[0]!r}; moving joints are "
                         f"{', '.join(list(model.names)[2:])}")
    joints = {name: _finite(name, value) for name, value in joints.items()}
    q = pin.neutral(model)
    base = _as_se3(pose, vehicle.placer.normal, np.array(vehicle.ground.point))
    for name, value in _closed(vehicle, joints).items():
        write_joint(model, q, name, _finite(name, value))
    if vehicle.gauge is not None:
        base = _regauged(vehicle, q, base)
    q[:3], q[3:7] = base.translation, pin.Quaternion(base.rotation).coeffs()
    return vehicle.placer.place(q, vehicle.support, t)


def _finite(joint: str, position) -> float:
    try:
        if math.isfinite(position):
            return float(position)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ModelError(f"joint {joint!r} = {position!r} must be a finite number")


def _closed(vehicle: Vehicle, joints: dict[str, float]) -> dict[str, float]:
    """Joint positions with the followers of the steering coupling filled in."""
    steering = vehicle.steering
    if not steering.coupled:
        return joints
    steered = [axle.steering for axle in steering.steered]
    named = [name for name in steered if name in joints]
    angles = {name: joints.get(name, 0.0) for name in steered}
    closed = steering.followers(angles, steering.pair(angles, named))
    for name in named:
        if abs(closed[name] - joints[name]) > 1e-9:
            raise ModelError(f"steering angles do not meet in one rotation centre: {name!r} = "
                             f"{joints[name]:.6f} rad, with the leader(s) it must be "
                             f"{closed[name]:.6f}; name fewer joints")
    return {**joints, **closed}


def _regauged(vehicle: Vehicle, q: np.ndarray, base: pin.SE3) -> pin.SE3:
    """Moves the root's turn about the axle into the spin joint, so that the root's level axis is
    level."""
    joint, axle, level = vehicle.gauge.joint, vehicle.gauge.axle, vehicle.gauge.level
    across = base.rotation @ axle
    forward = np.cross(across, vehicle.placer.normal)
    if np.linalg.norm(forward) < 1e-9:
        raise ModelError(f"{joint!r}: the axle is parallel to the ground's normal, "
                         "a wheel lying flat has no contact point")
    forward /= np.linalg.norm(forward)
    to = np.column_stack([forward, across, np.cross(forward, across)])
    R = to @ np.column_stack([level, axle, np.cross(level, axle)]).T
    angle = pin.log3(R.T @ base.rotation) @ axle
    write_joint(vehicle.model, q, joint, vehicle.joint_positions(q)[joint] + angle)
    return pin.SE3(R, base.translation)


def _as_se3(pose, normal: np.ndarray, point: np.ndarray) -> pin.SE3:
    if isinstance(pose, pin.SE3):
        return pin.SE3(pose)
    upright = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal).toRotationMatrix()
    if pose is None:
        return pin.SE3(upright, point.copy())
    try:
        value = np.asarray(pose, dtype=float)
    except (TypeError, ValueError, OverflowError):
        value = np.full(1, np.nan)
    if not np.all(np.isfinite(value)):
        raise ModelError(
            f"pose {pose!r} contains a number that is not finite, or what is no number"
        )
    if value.shape == (3,):
        return pin.SE3(upright @ pin.rpy.rpyToMatrix(0, 0, value[2]), np.r_[value[:2], point[2]])
    if value.shape == (6,):
        roll, pitch, yaw = value[3:]
        R = (
            pin.rpy.rpyToMatrix(0, 0, yaw)
            @ pin.rpy.rpyToMatrix(roll, 0, 0)
            @ pin.rpy.rpyToMatrix(0, pitch, 0)
        )
        return pin.SE3(R, value[:3])
    if value.shape == (4, 4):
        return pin.SE3(value)
    raise ModelError(f"pose has shape {value.shape}; give (x, y, yaw), (x, y, z, roll, pitch, yaw) "
                     "or a 4x4 matrix")
