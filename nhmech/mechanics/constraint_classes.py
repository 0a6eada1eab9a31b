"""First and second class: the brackets of the constraints on the momentum side."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from .constraint_manifold import ConstraintManifold, common_rank, null_space
from .system import LagrangianSystem


def constraint_classes(system: LagrangianSystem, manifold: ConstraintManifold) -> tuple[int, int]:
    """Numbers of first class and of second class constraints that define M_f = Leg(manifold) in the
    dual bundle.

    Second class is the rank of the matrix of brackets of the constraints on M_f, first class the
    remainder of the codimension; primary constraints (those of the Legendre map) are among them.
    Brackets on the dual of an algebroid: {q^i, p_a} = rho^i_a, {p_a, p_b} = -c^g_ab p_g; on a
    tangent bundle the canonical ones.
    Source: paper 004, section II.A; Dirac 1964.

    Raises
    ------
    MechanicsError
        For a system without a Lagrangian, and where a rank is not constant.
    """
    space, v = system.algebroid, system.v
    momentum = ca.gradient(system.require_lagrangian("constraint_classes"), v)
    state = ca.vertcat(system.q, v)
    embedding = space.embedding(system.q)
    functions = ca.vertcat(manifold.constraints, embedding)
    rho = space.anchor
    turning = ca.SX.zeros(space.nv, space.nv)
    for g, c in enumerate(space.structure):
        turning -= c * momentum[g]
    poisson = ca.blockcat([[ca.SX(space.nq, space.nq), rho], [-rho.T, turning]])
    legendre = ca.jacobian(ca.vertcat(system.q, momentum), state)
    parts = [
        manifold.at_points(part) for part in (ca.jacobian(functions, state), legendre, poisson)
    ]
    normals = [
        null_space(image.T)
        for image in (leg @ null_space(slope) for slope, leg in zip(parts[0], parts[1]))
    ]
    codimension, *others = {normal.shape[1] for normal in normals}
    if others:
        raise MechanicsError(f"the Legendre image of the manifold has codimensions {codimension}, "
                             f"{', '.join(map(str, others))} at different points")
    brackets = np.array([normal.T @ bracket @ normal for normal, bracket in zip(normals, parts[2])])
    second = common_rank(brackets, "the matrix of brackets",
                         max(1.0, float(np.abs(parts[2]).max(initial=0.0))))
    return codimension - embedding.numel() - second, second
