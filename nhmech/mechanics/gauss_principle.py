"""A system for a motion with known acceleration, by Gauss's principle of least constraint."""

from __future__ import annotations

import casadi as ca
import numpy as np

from .constraint_manifold import ConstraintManifold
from .distribution import assemble
from .system import ConstrainedSystem, LagrangianSystem


def moving_by(constrained: ConstrainedSystem, acceleration: ca.SX,
              manifold: ConstraintManifold) -> ConstrainedSystem:
    """The system that moves by dv/dt = F(t, q, v, u, theta) on a manifold to which F (nv,), the
    `acceleration`, is tangent.

    Its Gibbs function S = |dv/dt - F|^2 / 2 is least where dv/dt = F, so that it can be used like
    any constrained system. It has no rows: the reactions are part of F, and the functions that
    vanish on the manifold are its `invariant`. Its energy is that of `constrained`. Source:
    Gauss 1829; Appell 1899.
    """
    system = constrained.system
    F, chi, energy = (ca.densify(part) for part in system.expand(
        acceleration, manifold.constraints, system.energy))
    moved = LagrangianSystem(system.algebroid, system.v, system.a,
                             gibbs=ca.sumsqr(system.a - F) / 2, energy=energy,
                             force=ca.SX(system.algebroid.nv, 1), t=system.t, u=system.u,
                             theta=system.theta, u_names=system.u_names,
                             theta_names=system.theta_names)
    places = np.array(manifold.states)[:, :system.algebroid.nq]
    return ConstrainedSystem(moved, assemble([], system.algebroid.nv), constrained.parameters,
                             places, moment=float(manifold.times[0]), invariant=chi)
