"""Quasi-velocities: another basis of the fibre, with its anchor and its Hamel symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from ..checks import check_arguments
from ..errors import MechanicsError
from ..symbolic.inverse import inverse
from .algebroid import LieAlgebroid, bracket


@check_arguments
def change_of_basis(algebroid: LieAlgebroid, basis: ca.SX, names: Sequence[str],
                    units: Sequence[str] | None = None) -> LieAlgebroid:
    """The same algebroid in the basis X_a = basis[:, a], v = X w.

    Anchor rho X; structure functions C from [X_a, X_b] = C^g_ab X_g, which are Hamel's symbols
    where the old ones vanish. Source: paper 002, section 3.

    Parameters
    ----------
    algebroid
        The original algebroid.
    basis
        (nv, nv), functions of q (and of t and parameters, which are constant here).
    names, units
        Names and units of w.

    Raises
    ------
    MechanicsError
        For a basis or names of the wrong size.
    """
    nv = algebroid.nv
    if basis.shape != (nv, nv) or len(names) != nv:
        raise MechanicsError(f"a basis of this fibre is ({nv}, {nv}) with {nv} names; given are "
                             f"{basis.shape} and {len(names)}")
    dual = inverse(basis)
    structure = [ca.SX.zeros(nv, nv) for _ in range(nv)]
    for a in range(nv):
        for b in range(a + 1, nv):
            components = dual @ bracket(algebroid, basis[:, a], basis[:, b])
            for g in range(nv):
                structure[g][a, b], structure[g][b, a] = components[g], -components[g]
    circles = ()          # the rate of an angle is no longer one of the fibre coordinates
    return replace(algebroid, v_names=tuple(names), v_units=tuple(units or ("",) * nv),
                   anchor=algebroid.anchor @ basis,
                   structure=tuple(ca.sparsify(c) for c in structure), circles=circles)
