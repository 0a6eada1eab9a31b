"""First and second class: the brackets of the constraints on the momentum side."""

from __future__ import annotations

import casadi as ca
import numpy as np

from .constraint_manifold import ConstraintManifold, common_rank
from .system import LagrangianSystem


def constraint_classes(system: LagrangianSystem, manifold: ConstraintManifold) -> tuple[int, int]:
    """Numbers of first class and of second class constraints that define M_f = Leg(manifold) in the dual bundle.

    Second class is the rank of the matrix of brackets of the constraints on M_f, first class the remainder of the codimension;
    primary constraints (those of the Legendre map) are among them. Brackets on the dual of an algebroid:
    {q^i, p_a} = rho^i_a, {p_a, p_b} = -c^g_ab p_g; on a tangent bundle the canonical ones. Source: paper 004, section II.A; Dirac 1964.

    Raises `MechanicsError` for a system without a Lagrangian, and where the rank of the brackets is not constant.
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
    parts = [manifold.at_points(part) for part in (ca.jacobian(functions, state), legendre, poisson)]
    normals = [_null(image.T) for image in (leg @ _null(slope) for slope, leg in zip(parts[0], parts[1]))]
    codimension = common_rank(np.array([np.eye(normal.shape[1]) for normal in normals]), "the Legendre map") if normals else 0
    brackets = np.array([normal.T @ bracket @ normal for normal, bracket in zip(normals, parts[2])])
    second = common_rank(brackets, "the matrix of brackets")
    return codimension - embedding.numel() - second, second


def _null(matrix: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the kernel of (m, n), (n, n - rank)."""
    if not matrix.size:
        return np.eye(matrix.shape[1])
    _, values, vt = np.linalg.svd(matrix)
    return vt[int((values > 1e-9 * max(values.max(), 1e-300)).sum()):].T
