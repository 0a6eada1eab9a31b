"""Regularity and compatibility: the ranks that determine existence and uniqueness of the motion."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from .constraint_manifold import ConstraintManifold, Near, common_rank, make_manifold, null_space
from .system import HasConstrained, require_constrained


@dataclass(frozen=True)
class Regularity:
    """Ranks of a constrained system on its constraint manifold.

    Attributes
    ----------
    nv
        Dimension of the fibre.
    hessian_rank
        Rank of M = d2L/dv2 (of the Hessian of S in a).
    row_rank
        Rank of the rows R: A, and dC/dv of nonlinear constraints.
    free_rank
        Rank of E^T M E, the columns of E a basis of the kernel of R.
    manifold
        The points at which the ranks were determined.
    """

    nv: int
    hessian_rank: int
    row_rank: int
    free_rank: int
    manifold: ConstraintManifold = field(repr=False)

    @property
    def regular(self) -> bool:
        """True where the Lagrangian is regular."""
        return self.hessian_rank == self.nv

    @property
    def compatible(self) -> bool:
        """True where E^T M E is regular: the motion is determined.

        For regular M this is T D and (D^v)-perp meeting in 0 only, paper 004, section II.B, and R
        M^-1 R^T of rank `compatibility_rank` = `row_rank`.
        """
        return self.free_rank == self.nv - self.row_rank

    @property
    def compatibility_rank(self) -> int:
        """Rank of R M^-1 R^T where M is regular."""
        return self.row_rank - (self.nv - self.row_rank - self.free_rank)

    def describe(self) -> str:
        """The ranks in words."""
        return (f"Hessian of rank {self.hessian_rank} of {self.nv}: "
                f"{'regular' if self.regular else 'singular'}; rows of rank {self.row_rank}; E^T M "
                f"E of rank {self.free_rank} of {self.nv - self.row_rank}: "
                f"{'compatible' if self.compatible else 'not compatible'}.")


@check_arguments
@hear_ctrl_c()
def regularity(constrained: HasConstrained, *, nonlinear: ca.SX | None = None,
               near: Near | None = None) -> Regularity:
    """The ranks of M, of the rows and of E^T M E at random points of the constraint manifold.

    Source: paper 004, section II.B, proposition III.1 and corollary III.2.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    nonlinear, near
        As for `constraint_algorithm`.

    Raises
    ------
    MechanicsError
        Where the manifold is empty or a rank jumps.
    """
    constrained = require_constrained(constrained)
    system = constrained.system
    extra = ca.SX(0, 1) if nonlinear is None else ca.SX(nonlinear)
    rows = ca.vertcat(constrained.distribution.A, ca.jacobian(extra, system.v))
    manifold = make_manifold(constrained, extra, near)
    M, R = manifold.at_points(system.mass_and_bias()[0]), manifold.at_points(rows)
    row_rank = common_rank(R, "the matrix of the constraints' rows")
    kernels = [null_space(row) for row in R]
    free = np.array([E.T @ mass @ E for mass, E in zip(M, kernels)])
    return Regularity(system.algebroid.nv, common_rank(M, "the Hessian of L"), row_rank,
                      common_rank(free, "E^T M E", float(np.abs(M).max(initial=0.0))), manifold)
