"""Kinematics of the joint tree in CasADi, from the constants of a `pin.Model`.

Everything is written in the frames of the bodies, the root's included: of the attitude only the
world's fixed vectors seen from the root remain. A wheel whose inertia is symmetric about its axle
is seen from a frame that does not spin with it, so that its angle appears nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from ..mechanics.algebroid import LieAlgebroid, circle, line, product, rotation, special_euclidean
from .model import is_prismatic, joint_axis


@dataclass(frozen=True)
class Body:
    """A body's motion in its own frame (for an axisymmetric wheel: in the frame that does not
    spin).

    Attributes
    ----------
    world
        Vectors fixed in W, by name, seen from here: "n", "g", "t1", "t2".
    position
        From the ground's reference point to the body's origin.
    omega, v
        Angular velocity [rad/s] and velocity of the origin [m/s].
    alpha, a
        Angular acceleration and proper acceleration of the origin (acceleration minus gravity).
    """

    world: dict[str, ca.SX]
    position: ca.SX
    omega: ca.SX
    v: ca.SX
    alpha: ca.SX
    a: ca.SX

    def velocity_of(self, point) -> ca.SX:
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


def is_axisymmetric(model: pin.Model, joint: int, rtol: float = 1e-9) -> bool:
    """Whether a childless joint's body looks the same at every angle.

    Its centre of mass is on the axle then, and its diametral inertias are equal.
    """
    if is_prismatic(model, joint) or any(model.parents[k] == joint for k in range(model.njoints)):
        return False
    inertia, axis = model.inertias[joint], joint_axis(model, joint)
    off_axle = inertia.lever - axis * (axis @ inertia.lever)
    across = inertia.inertia - axis @ inertia.inertia @ axis * np.outer(axis, axis)
    side = np.eye(3) - np.outer(axis, axis)
    deviation = across - np.trace(across) / 2 * side
    size = max(np.abs(inertia.inertia).max(), 1e-300)
    return bool(inertia.mass * np.linalg.norm(off_axle) <= rtol * max(inertia.mass * 1e-3, 1e-12)
                and np.abs(deviation).max() <= rtol * size)


def turn(axis: np.ndarray, c: ca.SX, s: ca.SX) -> ca.SX:
    """Rotation about a constant unit axis (Rodrigues), from cos and sin of the angle."""
    a = ca.DM(axis)
    return ca.sparsify(ca.DM(a @ a.T)) * (1 - c) + ca.SX.eye(3) * c + ca.sparsify(ca.skew(a)) * s


def seen_from_root(algebroid: LieAlgebroid, world: dict[str, ca.SX]) -> dict[str, ca.SX]:
    """Vectors fixed in W as the root sees them, R_WB^T w."""
    R_WB = rotation(algebroid.q[3:7])
    return {name: R_WB.T @ vector for name, vector in world.items()}


def kinematics(model: pin.Model, algebroid: LieAlgebroid, v: ca.SX, a: ca.SX,
               seen: dict[str, ca.SX], position: ca.SX, spinning: set[int]) -> list[Body]:
    """Motion of every joint's body; that of Pinocchio's joint i stands at i - 1.

    Parameters
    ----------
    seen
        Vectors fixed in W, by name, as the root sees them; "g" is gravity [m/s^2].
    position
        Of the root from the ground's reference point, as the root sees it [m].
    spinning
        Joints whose body is seen from the frame that does not spin.
    """
    q, omega = algebroid.q, v[3:6]
    bodies = [Body(seen, position, omega, v[:3], a[3:6],
                   a[:3] + ca.cross(omega, v[:3]) - seen["g"])]
    for joint in range(2, model.njoints):
        parent = bodies[model.parents[joint] - 1]
        placement, axis = model.jointPlacements[joint], joint_axis(model, joint)
        iq, iv = model.joints[joint].idx_q, model.joints[joint].idx_v
        R = ca.SX(ca.sparsify(ca.DM(placement.rotation)))
        r = ca.DM(placement.translation)
        s = ca.SX(ca.sparsify(ca.DM(axis)))
        if is_prismatic(model, joint):
            r = r + R @ s * q[iq]
            slide, slide_rate, spin, spin_rate = s * v[iv], s * a[iv], ca.SX(3, 1), ca.SX(3, 1)
        else:
            slide, slide_rate, spin, spin_rate = ca.SX(3, 1), ca.SX(3, 1), s * v[iv], s * a[iv]
            if joint not in spinning:
                c, sn = (
                    (q[iq], q[iq + 1])
                    if model.joints[joint].nq == 2
                    else (ca.cos(q[iq]), ca.sin(q[iq]))
                )
                R = R @ turn(axis, c, sn)
        carried = R.T @ parent.omega
        bodies.append(Body(
            {name: R.T @ vector for name, vector in parent.world.items()},
            R.T @ (parent.position + r),
            carried + spin,
            R.T @ parent.velocity_of(r) + slide,
            R.T @ parent.alpha + spin_rate + ca.cross(carried, spin),
            R.T @ (parent.a + ca.cross(parent.alpha,
                                       r) + ca.cross(parent.omega, ca.cross(parent.omega, r)))
            + slide_rate + 2 * ca.cross(carried, slide)))
    return bodies
