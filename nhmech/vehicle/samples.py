"""Configurations at which rank, pivots and symmetry are determined: special poses, then random
ones.

Random poses never include straight steering, where rows of steered wheels become dependent.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pinocchio as pin

from ..attitude import attitude
from ..errors import ModelError
from ..urdf.description import NO_LIMITS, Description
from .model import upright, write_joint
from .posing import Posing

RANDOM = 12                  # random poses
WIDEST = np.deg2rad(60)      # larger steering angles are only used if they are limits
LEAN = 0.3                   # [rad] largest lean of a bicycle or a disc


def sample_configurations(description: Description, posing: Posing) -> np.ndarray:
    """Configurations (k, nq): neutral, straight, at the steering limits, then random."""
    rng, steering, support = np.random.default_rng(0), posing.steering, posing.support
    straight = steering.followers({}, steering.pair()) if steering.coupled else {}
    poses = [_place(posing, straight, np.zeros(3), np.zeros(3))]
    for angles in _steering_angles(description, posing, rng):
        joints = {name: rng.uniform(-np.pi, np.pi) for name in description.rolling}
        joints |= {name: rng.uniform(*_range(description, name)) for name in description.free}
        lean = np.zeros(2) if len(support.offsets) > 2 else rng.uniform(-LEAN, LEAN, 2)
        yaw, position = rng.uniform(-np.pi, np.pi), rng.uniform(-1, 1, 3)
        try:
            poses.append(_place(posing, joints | angles, np.r_[yaw, lean], position))
        except ModelError as error:
            if support.level:
                raise ModelError("the contacts do not stay on the ground when joints move, and a "
                                 f"rigid base cannot follow all of them: {error}. Steering axes "
                                 "must be parallel to the ground's normal: check "
                                 f"{', '.join(description.steering) or 'the joints'}") from error
    return np.array(poses)


def _steering_angles(description: Description, posing: Posing,
                     rng: np.random.Generator) -> list[dict[str, float]]:
    """Positions of all steering joints: at their limits, in all combinations, then random."""
    steering, free = posing.steering, description.steering
    if not steering.coupled:
        return _corners(description, free[:2], free, rng)
    pair = steering.pair()
    leaders = [axle.steering for axle in pair if axle.steering]
    steered = {axle.steering for axle in steering.steered}
    others = [name for name in free if name not in steered]
    poses = []
    for angles in _corners(description, leaders, leaders, rng):
        try:
            angles = steering.followers(angles, pair)
        except ModelError:      # the leaders' axles coincide there
            continue
        poses.append(angles | {name: rng.uniform(*_range(description, name)) for name in others})
    return poses


def _corners(description: Description, at_limits, at_random,
             rng: np.random.Generator) -> list[dict[str, float]]:
    """Zero and both limits of some joints in all combinations, then random positions."""
    limits = [_range(description, name) for name in at_limits]
    corners = product(*[(0.0, low, high) for low, high in limits])
    return [dict(zip(at_limits, corner)) for corner in corners] + [
        {name: rng.uniform(*_range(description, name)) for name in at_random}
        for _ in range(RANDOM)]


def _range(description: Description, joint: str) -> tuple[float, float]:
    limit = description.limits.get(joint, NO_LIMITS)
    return max(limit.lower, -WIDEST), min(limit.upper, WIDEST)


def _place(posing: Posing, joints: dict[str, float], angles: np.ndarray,
           position: np.ndarray) -> np.ndarray:
    """q at a position, with yaw, roll and pitch relative to the upright base."""
    placer = posing.placer
    yaw, roll, pitch = angles
    R = upright(placer.normal) @ attitude(yaw, roll, 0.0 if posing.gauge is not None else pitch)
    q = pin.neutral(placer.model)
    q[:3], q[3:7] = position, pin.Quaternion(R).coeffs()
    for name, value in joints.items():
        write_joint(placer.model, q, name, value)
    return placer.place(q, posing.support)
