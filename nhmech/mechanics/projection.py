"""Projection of the unconstrained dynamics onto the distribution."""

from __future__ import annotations

from collections.abc import Sequence

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from .equations import Equations, equations_of, solve_definite, speed_symbols
from .frame import AdaptedFrame, adapted_frame
from .natural import require_regular
from .system import HasConstrained


@check_arguments
@hear_ctrl_c()
def projection(constrained: HasConstrained, speeds: Sequence[str] | None = None, *,
               frame: AdaptedFrame | None = None) -> Equations:
    """Equations of motion by projection of the unconstrained ones.

    dv/dt = F - Z C^-1 (A F + gamma), with F the unconstrained SODE, Z = M^-1 A^T and C = A Z.

    That is P(Gamma) for the projector P = Id - C^-1 Z (x) dphi along the orthogonal complement of
    the constraints; the multipliers are lambda = -C^-1 (A F + gamma). Source: paper 004, eq. (18).

    Parameters
    ----------
    constrained, speeds, frame
        As in `gibbs_appell`.

    Raises
    ------
    MechanicsError
        Where M is singular: there is no unconstrained SODE to project.
    """
    frame = adapted_frame(constrained, speeds) if frame is None else frame
    frame.constrained.require_ideal("projection")
    constrained, system = frame.constrained, frame.constrained.system
    require_regular("projection", constrained)
    M, h = system.mass_and_bias()
    A = constrained.distribution.A[list(frame.kept), :]
    free = solve_definite(M, system.force - h)
    Z = solve_definite(M, A.T)
    lam = -solve_definite(A @ Z, A @ free + frame.gamma)
    return equations_of("projection", frame, speed_symbols(frame), free + Z @ lam, lam)
