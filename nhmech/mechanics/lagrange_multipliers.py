"""Lagrange multipliers: the saddle system."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from ..symbolic.elimination import factorise, pivot_order
from .equations import Equations, equations_of, singular_error, speed_symbols
from .frame import AdaptedFrame, adapted_frame, at_samples
from .selection import rank_in_any_units
from .system import HasConstrained


@check_arguments
@hear_ctrl_c()
def lagrange_multipliers(constrained: HasConstrained, speeds: Sequence[str] | None = None, *,
                         frame: AdaptedFrame | None = None) -> Equations:
    """Equations of motion with Lagrange multipliers, eliminated as one matrix.

    [M -A^T; A 0] [dv/dt; lambda] = [tau - h; -gamma].

    M and h are Hessian and remainder of dS/da. M alone may be singular; neither its inverse nor A
    M^-1 A^T is formed.
    Source: paper 002, eq. (16).

    Parameters
    ----------
    constrained, speeds, frame
        As in `gibbs_appell`.

    Raises
    ------
    MechanicsError
        Where the saddle matrix is singular at every sample.
    """
    frame = adapted_frame(constrained, speeds) if frame is None else frame
    constrained, system = frame.constrained, frame.constrained.system
    nv, r = system.algebroid.nv, len(frame.kept)
    matrix, right = saddle_point_system(frame)
    ideal = _ideal(frame)
    samples = at_samples(constrained, ideal)
    samples = samples[np.isfinite(samples).all(axis=(1, 2))]
    pattern = np.array(ca.DM(ideal.sparsity(), 1).full(), dtype=bool)
    mass = np.abs(samples[:, :nv, :nv]).max(initial=0.0)
    units = np.repeat([mass, 1 / mass] if mass > 0 else [1.0, 1.0], [nv, r]) ** 0.5   # M is then 1
    regular = samples[[rank_in_any_units(sample / np.outer(units, units)) == nv + r
                       for sample in samples]]
    if not len(regular):
        raise singular_error("lagrange_multipliers", constrained)
    solution = factorise(matrix, pivot_order(regular, pattern)).solve(right)
    return equations_of("lagrange_multipliers", frame, speed_symbols(frame), solution[:nv],
                        solution[nv:])


def saddle_point_system(frame: AdaptedFrame) -> tuple[ca.SX, ca.SX]:
    """Matrix (nv + r, nv + r) and right side (nv + r,) of the system for [dv/dt; lambda]: functions
    of (t, q, v, u, theta), with the friction of the rows and the flow of followers."""
    constrained, system = frame.constrained, frame.constrained.system
    nv, r = system.algebroid.nv, len(frame.kept)
    matrix = _ideal(frame)
    if frame.friction is not None:
        felt = frame.drag @ frame.spread()
        matrix = matrix - ca.blockcat([[ca.SX(nv, nv), felt], [ca.SX(r, nv), ca.SX(r, r)]])
    if constrained.distribution.flow is not None:
        slope = ca.jacobian(constrained.distribution.flow, system.v)[list(frame.kept), :]
        matrix = matrix + ca.blockcat([[ca.SX(nv, nv), ca.SX(nv, r)], [slope, ca.SX(r, r)]])
    return matrix, ca.vertcat(system.force - system.mass_and_bias()[1], -frame.gamma)


def _ideal(frame: AdaptedFrame) -> ca.SX:
    """[M -A^T; A 0]."""
    r = len(frame.kept)
    A = frame.constrained.distribution.A[list(frame.kept), :]
    return ca.blockcat([[frame.constrained.system.mass_and_bias()[0], -A.T], [A, ca.SX(r, r)]])
