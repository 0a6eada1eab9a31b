"""Configurations on the holonomic manifold at which rank, rows and pivots are decided."""

from __future__ import annotations

from itertools import product as cartesian

import numpy as np
import pinocchio as pin

from ..errors import ModelError
from .couplings import Steering
from .description import Description
from .model import write_joint
from .placement import Placer, Support

RANDOM = 12
WIDEST = np.deg2rad(60)      # steering angles beyond this are the limits' business


def sample_configurations(model: pin.Model, description: Description, placer: Placer, support: Support,
                          steering: Steering, gauged: bool, seed: int = 0) -> np.ndarray:
    """Neutral, straight and at the steering limits, then random poses; (k, nq).

    Raises `ModelError` where not even the neutral pose can be placed, or where a contact that was dropped leaves the
    ground when joints move (steering axes that are not parallel to the normal under a base that stands on more than
    three contacts).
    """
    rng = np.random.default_rng(seed)
    straight = steering.followers({}, steering.pair()) if steering.coupled else {}
    neutral = _configuration(model, placer, support, gauged, straight, np.zeros(2), rng=None)
    poses = [neutral]
    for angles in _steering_poses(model, description, steering, rng):
        joints = {name: rng.uniform(-np.pi, np.pi) for name in description.rolling}
        joints |= {name: rng.uniform(*_range(description, name)) for name in description.free}
        joints |= angles
        lean = np.zeros(2) if len(support.offsets) > 2 else rng.uniform(-0.3, 0.3, 2)
        try:
            poses.append(_configuration(model, placer, support, gauged, joints, lean, rng))
        except ModelError as error:
            if support.level:
                raise ModelError("the contacts do not stay on the ground when joints move, and a rigid base cannot "
                                 f"follow all of them: {error}. "
                                 "Steering axes must be parallel to the ground's normal: look at "
                                 f"{', '.join(description.steering) or 'the joints'}"
                                 ) from error
    return np.array(poses)


def _range(description: Description, joint: str) -> tuple[float, float]:
    limit = description.limits.get(joint)
    lower, upper = (limit.lower, limit.upper) if limit is not None else (-np.inf, np.inf)
    return max(lower, -WIDEST), min(upper, WIDEST)


def _steering_poses(model: pin.Model, description: Description, steering: Steering, rng) -> list[dict[str, float]]:
    free = [name for name in description.steering]
    if not steering.coupled:
        limits = [_range(description, name) for name in free[:2]]
        poses = [dict(zip(free, corner)) for corner in cartesian(*[(0.0, high, low) for low, high in limits])]
        return poses + [{name: rng.uniform(*_range(description, name)) for name in free} for _ in range(RANDOM)]
    steered = {axle.steering for axle in steering.steered}
    others = [name for name in free if name not in steered]
    pair = steering.pair()
    leaders = [axle for axle in pair if axle.steering]
    limits = [_range(description, axle.steering) for axle in leaders]
    choices = [dict(zip([axle.steering for axle in leaders], corner))
               for corner in cartesian(*[(0.0, low, high) for low, high in limits])]
    choices += [{axle.steering: rng.uniform(low, high) for axle, (low, high) in zip(leaders, limits)}
                for _ in range(RANDOM)]
    poses = []
    for angles in choices:
        try:
            closed = steering.followers(angles, pair)
        except ModelError:
            continue
        poses.append({**closed, **{name: rng.uniform(*_range(description, name)) for name in others}})
    return poses


def _configuration(model: pin.Model, placer: Placer, support: Support, gauged: bool, joints: dict[str, float],
                   lean: np.ndarray, rng) -> np.ndarray:
    q = pin.neutral(model)
    n = placer.normal
    upright = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), n).toRotationMatrix()
    yaw = 0.0 if rng is None else rng.uniform(-np.pi, np.pi)
    roll, pitch = (lean[0], 0.0) if gauged else lean
    R = upright @ pin.rpy.rpyToMatrix(0, 0, yaw) @ pin.rpy.rpyToMatrix(roll, 0, 0) @ pin.rpy.rpyToMatrix(0, pitch, 0)
    q[3:7] = pin.Quaternion(R).coeffs()
    if rng is not None:
        q[:3] = rng.uniform(-1, 1, 3)
    for name, value in joints.items():
        write_joint(model, q, name, value)
    return placer.place(q, support)
