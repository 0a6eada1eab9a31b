"""Standing a vehicle on the ground."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product as cartesian

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import ModelError
from ..urdf.description import Description
from .couplings import Steering
from .model import write_joint

CLOSED = 1e-13       # [m] a height this small is on the ground
ITERATIONS = 25


@dataclass(frozen=True)
class Support:
    """How the contacts carry the vehicle.

    Attributes
    ----------
    level
        More contacts than a rigid body needs: the base is upright on the normal, each contact keeps
        its offset.
    offsets
        delta_i [m], so that height_i - delta_i = 0.
    """

    level: bool
    offsets: np.ndarray


@dataclass(frozen=True)
class Placer:
    """Moves the base until all contacts touch.

    Attributes
    ----------
    model
        Pinocchio's, for `integrate`.
    heights
        (t, q, theta) -> heights (k,), and their forms in v (k, nv).
    """

    model: pin.Model
    heights: ca.Function
    normal: np.ndarray
    names: tuple[str, ...]
    theta: np.ndarray

    def evaluate(self, q: np.ndarray, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        height, forms = self.heights(t, q, self.theta)
        return height.full().ravel(), forms.full()

    def upright(self, q: np.ndarray) -> np.ndarray:
        """q with the base's z axis along the ground's normal, by the smallest rotation."""
        q = q.copy()
        R = pin.Quaternion(q[3:7]).toRotationMatrix()
        turn = pin.Quaternion.FromTwoVectors(R[:, 2], self.normal)
        q[3:7] = (turn * pin.Quaternion(q[3:7])).normalized().coeffs()
        return q

    def support(self, q: np.ndarray, tolerance: float, bearing: np.ndarray) -> Support:
        """Whether the contacts over-determine the attitude, and the offsets that they then keep.

        Parameters
        ----------
        bearing
            Marks the contacts that set the height (wheels rather than casters), (k,).
        tolerance
            Largest offset allowed [m].

        Raises
        ------
        ModelError
            With the numbers where an offset is larger.
        """
        q = self.upright(q)
        height, forms = self.evaluate(q)
        k = len(height)
        if k <= 1 or np.linalg.matrix_rank(forms[:, [2, 3, 4]], tol=1e-9) == k:
            return Support(False, np.zeros(k))
        offsets = height - height[bearing if bearing.any() else slice(None)].mean()
        offsets[np.abs(offsets) < CLOSED] = 0.0
        worst = int(np.argmax(np.abs(offsets)))
        if abs(offsets[worst]) > tolerance:
            listed = ", ".join(f"{name}: {1e3 * d:+.2f} mm" for name, d in zip(self.names, offsets))
            raise ModelError(f"{k} contacts do not lie in one plane: {self.names[worst]!r} is "
                             f"{1e3 * offsets[worst]:+.2f} mm off, more than the "
                             f"{1e3 * tolerance:.2f} mm that are accepted as rounding ({listed}). "
                             "Correct radii or heights, or leave out a wheel")
        return Support(True, offsets)

    def place(self, q: np.ndarray, support: Support, t: float = 0.0) -> np.ndarray:
        """q moved along the normal; pitched or rolled only where that alone cannot make all
        contacts touch.

        Raises
        ------
        ModelError
            With the remaining heights where no placement is found.
        """
        q = self.upright(q) if support.level else q.copy()
        if not len(support.offsets):
            return q
        height, _ = self.evaluate(q, t)
        q[:3] -= self.normal * (height - support.offsets).mean()
        height, forms = self.evaluate(q, t)
        for turns in ((), (4,), (3,), (3, 4)):
            placed = self._newton(q, support.offsets, turns, t)
            if placed is not None:
                return placed
        listed = ", ".join(f"{name} {1e3 * h:+.3f} mm" for name,
                           h in zip(self.names, height - support.offsets))
        raise ModelError("the vehicle cannot be stood on the ground by moving it up, pitching and "
                         f"rolling: {listed}")

    def _newton(self, q: np.ndarray, offsets: np.ndarray, turns: tuple[int, ...],
                t: float) -> np.ndarray | None:
        """Newton in the height above ground and the given rotations of the base (3 roll about the
        heading, 4 pitch)."""
        q = q.copy()
        for _ in range(ITERATIONS):
            height, forms = self.evaluate(q, t)
            defect = height - offsets
            scale = max(1.0, float(np.abs(q[:3]).max()))
            if np.abs(defect).max() <= CLOSED * scale:
                return q
            # (6, 1 + len(turns)) twists of the base
            moves = self._moves(q, turns)
            slopes = forms[:, :6] @ moves
            if np.linalg.matrix_rank(slopes, tol=1e-6) < slopes.shape[1]:
                return None
            step, *_ = np.linalg.lstsq(slopes, -defect, rcond=None)
            if np.abs(step[1:]).max(initial=0.0) > 0.5:
                step *= 0.5 / np.abs(step[1:]).max()
            change = np.zeros(self.model.nv)
            change[:6] = moves @ step
            before = np.abs(defect).max()
            q = pin.integrate(self.model, q, change)
            after = np.abs(self.evaluate(q, t)[0] - offsets).max()
            if not np.isfinite(after) or after >= before:
                return q if after <= 10 * CLOSED * scale else None
        return None

    def _moves(self, q: np.ndarray, turns: tuple[int, ...]) -> np.ndarray:
        R = pin.Quaternion(q[3:7]).toRotationMatrix()
        columns = [np.r_[R.T @ self.normal, 0, 0, 0]]
        if 4 in turns:
            # pitch about the base's own y axis keeps heading and lean
            columns.append(np.r_[0, 0, 0, 0, 1, 0])
        if 3 in turns:
            heading = np.cross(R[:, 1], self.normal)
            columns.append(np.r_[0, 0, 0, R.T @ (heading / np.linalg.norm(heading))])
        return np.array(columns).T


RANDOM = 12
WIDEST = np.deg2rad(60)      # steering angles beyond this are the limits' business


def sample_configurations(model: pin.Model, description: Description, placer: Placer,
                          support: Support,
                          steering: Steering, gauged: bool, seed: int = 0) -> np.ndarray:
    """Neutral, straight and at the steering limits, then random poses; (k, nq).

    Raises
    ------
    ModelError
        Where not even the neutral pose can be placed, or where a contact that was dropped leaves
        the ground when joints move (steering axes that are not parallel to the normal under a base
        that stands on more than three contacts).
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
                raise ModelError("the contacts do not stay on the ground when joints move, and a "
                                 f"rigid base cannot follow all of them: {error}. Steering axes "
                                 "must be parallel to the ground's normal: look at "
                                 f"{', '.join(description.steering) or 'the joints'}"
                                 ) from error
    return np.array(poses)


def _range(description: Description, joint: str) -> tuple[float, float]:
    limit = description.limits.get(joint)
    lower, upper = (limit.lower, limit.upper) if limit is not None else (-np.inf, np.inf)
    return max(lower, -WIDEST), min(upper, WIDEST)


def _steering_poses(model: pin.Model, description: Description, steering: Steering,
                    rng) -> list[dict[str, float]]:
    free = [name for name in description.steering]
    if not steering.coupled:
        limits = [_range(description, name) for name in free[:2]]
        poses = [
            dict(zip(free, corner))
            for corner in cartesian(*[(0.0, high, low) for low, high in limits])
        ]
        return poses + [{name: rng.uniform(*_range(description,
                                                   name)) for name in free} for _ in range(RANDOM)]
    steered = {axle.steering for axle in steering.steered}
    others = [name for name in free if name not in steered]
    pair = steering.pair()
    leaders = [axle for axle in pair if axle.steering]
    limits = [_range(description, axle.steering) for axle in leaders]
    choices = [dict(zip([axle.steering for axle in leaders], corner))
               for corner in cartesian(*[(0.0, low, high) for low, high in limits])]
    choices += [{axle.steering: rng.uniform(low, high) for axle,
                 (low, high) in zip(leaders, limits)}
                for _ in range(RANDOM)]
    poses = []
    for angles in choices:
        try:
            closed = steering.followers(angles, pair)
        except ModelError:
            continue
        poses.append({**closed,
                      **{name: rng.uniform(*_range(description, name)) for name in others}})
    return poses


def _configuration(model: pin.Model, placer: Placer, support: Support, gauged: bool,
                   joints: dict[str, float], lean: np.ndarray, rng) -> np.ndarray:
    q = pin.neutral(model)
    n = placer.normal
    upright = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), n).toRotationMatrix()
    yaw = 0.0 if rng is None else rng.uniform(-np.pi, np.pi)
    roll, pitch = (lean[0], 0.0) if gauged else lean
    R = (
        upright
        @ pin.rpy.rpyToMatrix(0, 0, yaw)
        @ pin.rpy.rpyToMatrix(roll, 0, 0)
        @ pin.rpy.rpyToMatrix(0, pitch, 0)
    )
    q[3:7] = pin.Quaternion(R).coeffs()
    if rng is not None:
        q[:3] = rng.uniform(-1, 1, 3)
    for name, value in joints.items():
        write_joint(model, q, name, value)
    return placer.place(q, support)
