"""Kinematics of the joint tree in CasADi, from the constants of a `pin.Model`.

All vectors are in the frames of the bodies, so that the attitude only enters through fixed vectors
of W in the frame of the root. A wheel whose inertia is symmetric about its axle is described in a
frame that does not spin with it, so that its angle does not occur.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from ..mechanics.algebroid import LieAlgebroid, circle, line, product, rotation, special_euclidean
from .model import is_prismatic, joint_axis

ROUND = 1e-9     # relative deviation of a wheel's inertia from that of a body of revolution


@dataclass(frozen=True, eq=False)
class RootView:
    """Vectors of W, and the position of the root, in the frame of the root."""

    # fixed in W, by name: "n" the ground's normal, "g" gravity, "t1", "t2" the tangents, "x", "y",
    # "z" the axes of W, "velocity" and "turning" of the ground
    vectors: dict[str, ca.SX]
    position: ca.SX  # of the root from the ground's reference point [m]


@dataclass(frozen=True, eq=False)
class Body:
    """A body's motion in its own frame (for an axisymmetric wheel: in the frame that does not
    spin).
    """

    world: dict[str, ca.SX]  # vectors fixed in W, by name, in this frame: "n", "g", "t1", "t2"
    position: ca.SX  # from the ground's reference point to the body's origin
    # omega, v: angular velocity [rad/s] and velocity of the origin [m/s]
    omega: ca.SX
    v: ca.SX
    # alpha, a: angular acceleration and proper acceleration of the origin (acceleration minus
    # gravity)
    alpha: ca.SX
    a: ca.SX

    def velocity_of(self, point: ca.SX) -> ca.SX:
        """Velocity of the material point at `point`, in the body's frame [m/s]."""
        return self.v + ca.cross(self.omega, point)


def algebroid_of(model: pin.Model) -> LieAlgebroid:
    """SE(3) x the joints' groups, in Pinocchio's order and representation."""
    factors = [special_euclidean()]
    for joint in range(2, model.njoints):
        name = model.names[joint]
        if model.joints[joint].nq == 2:
            factors.append(circle(name))
        else:
            factors.append(line(name, "m/s" if is_prismatic(model, joint) else "rad/s"))
    return product(*factors)


def is_axisymmetric(model: pin.Model, joint: int) -> bool:
    """Whether the body of a joint without children is axisymmetric: its centre of mass is on the
    axle, and its diametral moments of inertia are equal.
    """
    if is_prismatic(model, joint) or any(model.parents[k] == joint for k in range(model.njoints)):
        return False
    inertia, axis = model.inertias[joint], joint_axis(model, joint)
    off_axle = inertia.lever - axis * (axis @ inertia.lever)
    across = inertia.inertia - axis @ inertia.inertia @ axis * np.outer(axis, axis)
    side = np.eye(3) - np.outer(axis, axis)
    deviation = across - np.trace(across) / 2 * side
    return bool(inertia.mass * np.linalg.norm(off_axle) <= inertia.mass * ROUND * 1e-3
                and np.abs(deviation).max() <= ROUND * np.abs(inertia.inertia).max())


def rotation_about(axis: np.ndarray, c: ca.SX, s: ca.SX) -> ca.SX:
    """Rotation about a constant unit axis (Rodrigues), from cos and sin of the angle."""
    a = ca.DM(axis)
    return ca.sparsify(ca.DM(a @ a.T)) * (1 - c) + ca.SX.eye(3) * c + ca.sparsify(ca.skew(a)) * s


def see_from_root(algebroid: LieAlgebroid, vectors: Mapping[str, ca.SX],
                  origin: ca.SX | None = None) -> RootView:
    """The full `RootView`: vectors fixed in W multiplied by R_WB^T, and R_WB^T (p_WB - origin).

    `origin`: the ground's reference point in W; zero if None.
    """
    R_WB = rotation(algebroid.q[3:7])
    p_WB = algebroid.q[:3] if origin is None else algebroid.q[:3] - origin
    return RootView({name: R_WB.T @ vector for name, vector in vectors.items()}, R_WB.T @ p_WB)


def kinematics(model: pin.Model, algebroid: LieAlgebroid, v: ca.SX, a: ca.SX, view: RootView,
               spinning: Collection[int] = ()) -> list[Body]:
    """Motion of every joint's body; that of Pinocchio's joint i has the index i - 1.

    The vectors of the view include gravity "g" [m/s^2]. `spinning`: the joints whose bodies are
    described in the frame that does not spin.
    """
    q, omega, none = algebroid.q, v[3:6], ca.SX(3, 1)
    proper = a[:3] + ca.cross(omega, v[:3]) - view.vectors["g"]
    bodies = [Body(view.vectors, view.position, omega, v[:3], a[3:6], proper)]
    for joint in range(2, model.njoints):
        parent, own = bodies[model.parents[joint] - 1], model.joints[joint]
        placement, axis = model.jointPlacements[joint], joint_axis(model, joint)
        R = ca.SX(ca.sparsify(ca.DM(placement.rotation)))
        r = ca.SX(ca.DM(placement.translation))
        s = ca.SX(ca.sparsify(ca.DM(axis)))
        rate, acceleration = s * v[own.idx_v], s * a[own.idx_v]
        if is_prismatic(model, joint):
            r = r + R @ s * q[own.idx_q]
            slide, slide_rate, spin, spin_rate = rate, acceleration, none, none
        else:
            slide, slide_rate, spin, spin_rate = none, none, rate, acceleration
            if joint not in spinning:
                R = R @ rotation_about(axis, *joint_cos_sin(model, joint, q))
        carried = R.T @ parent.omega
        centripetal = ca.cross(parent.omega, ca.cross(parent.omega, r))
        bodies.append(Body(
            world={name: R.T @ vector for name, vector in parent.world.items()},
            position=R.T @ (parent.position + r),
            omega=carried + spin,
            v=R.T @ parent.velocity_of(r) + slide,
            alpha=R.T @ parent.alpha + spin_rate + ca.cross(carried, spin),
            a=R.T @ (parent.a + ca.cross(parent.alpha, r) + centripetal)
            + slide_rate + 2 * ca.cross(carried, slide)))
    return bodies


def joint_cos_sin(model: pin.Model, joint: int, q: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Cosine and sine of a joint's angle."""
    i = model.joints[joint].idx_q
    if model.joints[joint].nq == 2:
        return q[i], q[i + 1]
    return ca.cos(q[i]), ca.sin(q[i])
