"""Constraints that are not linear in the velocities, by Chetaev's rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from ..errors import MechanicsError
from ..symbolic.elimination import factorise, pivot_order
from .constraint_manifold import ConstraintManifold, Near
from .equations import Equations, equations_of, speed_symbols
from .frame import adapted_frame
from .gauss_principle import moving_by
from .regularity import regularity
from .system import ConstrainedSystem, HasConstrained, require_constrained
from .writing import Symbols, read_constraint, symbols


@check_arguments
@hear_ctrl_c()
def chetaev(constrained: HasConstrained,
            constraints: Mapping[str, ca.SX | Callable[[Symbols], ca.SX]], *,
            near: Near | None = None) -> Equations:
    """Equations of motion with nonlinear constraints C(t, q, v) = 0, by Chetaev's rule.

    M dv/dt + h = tau + R^T lambda with R = dC/dv, and dC/dt = 0 along the motion:

    dv/dt = F - Z (R Z)^-1 (R F + gamma), Z = M^-1 R^T, gamma = dC/dq rho v + dC/dt:
    the projector of paper 004, eq. (18), with the reactions S*((TM)^o) of remark II.1.
    Linear rows of `constrained` are among the constraints.

    The quasi-velocities are all fibre coordinates, xi = v: states must satisfy C = 0, which the
    motion then keeps as a first integral. `Simulator` takes the result: a run starts on C = 0, and
    is projected back to it after each step. The multipliers are those of the kept linear rows, in
    their order, and then of `constraints`. The energy is conserved where C is homogeneous in v and
    L, tau are conservative, and in general not otherwise.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    constraints
        Name -> C, an expression in the system's symbols or a function s -> expression.
    near
        As for `constraint_algorithm`.

    Raises
    ------
    MechanicsError
        Where L is singular, the constraints are dependent, or the compatibility condition fails
        (R M^-1 R^T singular on C = 0); the message has the rank. Then see `constraint_algorithm`.
    """
    constrained = require_constrained(constrained)
    constrained.require_ideal("chetaev")
    system, d = constrained.system, constrained.distribution
    named = symbols(system)
    given = [read_constraint(name, c(named) if callable(c) else c, system)
             for name, c in constraints.items()]
    for name, function in zip(constraints, given):
        if not ca.depends_on(function, system.v):
            raise MechanicsError(f"constraint {name!r} contains no velocity; pass it to constrain "
                                 "in holonomic=")
    extra = ca.vertcat(ca.SX(0, 1), *given)
    kept = list(adapted_frame(constrained).kept)
    every = ca.vertcat((d.A @ system.v + d.b)[kept], extra)
    rows, gamma = ca.jacobian(every, system.v), system.rate(every)
    manifold = _require_compatible(constrained, extra, len(kept) + extra.numel(),
                                   tuple(constraints), near)

    M, h = system.mass_and_bias()
    mass = _factors(manifold, M)
    free, Z = mass.solve(ca.densify(system.force - h)), mass.solve(rows.T)
    lam = -_factors(manifold, rows @ Z).solve(rows @ free + gamma)
    acceleration = free + Z @ lam
    frame = adapted_frame(moving_by(constrained, acceleration, manifold), system.algebroid.v_names)
    return equations_of("chetaev", frame, speed_symbols(frame), acceleration, lam)


def _factors(manifold: ConstraintManifold, matrix: ca.SX):
    return factorise(matrix, pivot_order(manifold.at_points(matrix),
                                         np.array(ca.DM(matrix.sparsity(), 1).full(), dtype=bool)))


def _require_compatible(constrained: ConstrainedSystem, extra: ca.SX, count: int,
                        names: Sequence[str], near: Near | None) -> ConstraintManifold:
    """Random points; raises `MechanicsError` unless the ranks there are right."""
    found = regularity(constrained, nonlinear=extra, near=near)
    if not found.regular:
        raise MechanicsError("chetaev needs a regular system: the Hessian of L has rank "
                             f"{found.hessian_rank} of {found.nv}; use "
                             "constraint_algorithm(nonlinear=...)")
    if found.row_rank < count:
        raise MechanicsError(f"the constraints {', '.join(names)} are dependent: dC/dv and the "
                             f"linear rows have rank {found.row_rank} of {count} on C = 0")
    if not found.compatible:
        raise MechanicsError(f"the compatibility condition fails for {', '.join(names)}: dC/dv "
                             f"M^-1 dC/dv^T has rank {found.compatibility_rank} of {count} on C = "
                             "0; use constraint_algorithm(nonlinear=...)")
    return found.manifold
