"""Quasi-velocities: another basis of the fibre, with its anchor and its Hamel symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import MechanicsError, listed
from ..symbolic.foreign import foreign_symbols
from ..symbolic.inverse import inverse
from .algebroid import LieAlgebroid, bracket

POINTS = 3      # at which the rank of a basis is looked at


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
        (nv, nv), functions of q; t and parameters in it are held, as in all brackets.
    names, units
        Names and units of w.

    Raises
    ------
    MechanicsError
        For a basis or names of the wrong size, and for columns that depend on each other.
    """
    nv, basis = algebroid.nv, ca.SX(basis)
    if basis.shape != (nv, nv) or len(names) != nv:
        raise MechanicsError(f"a basis of this fibre is ({nv}, {nv}) with {nv} names; given are "
                             f"{basis.shape} and {len(names)}")
    _require_basis(algebroid, basis, names)
    dual = inverse(basis)
    structure = [ca.SX.zeros(nv, nv) for _ in range(nv)]
    for a, b in combinations(range(nv), 2):
        components = dual @ bracket(algebroid, basis[:, a], basis[:, b])
        for g in range(nv):
            structure[g][a, b], structure[g][b, a] = components[g], -components[g]
    circles = ()          # the rate of an angle is no longer one of the fibre coordinates
    return replace(algebroid, v_names=tuple(names), v_units=tuple(units or ("",) * nv),
                   anchor=algebroid.anchor @ basis,
                   structure=tuple(ca.sparsify(c) for c in structure), circles=circles)


def _require_basis(algebroid: LieAlgebroid, basis: ca.SX, names: Sequence[str]) -> None:
    """Raises `MechanicsError` if the columns depend on each other at all of some random points."""
    held = ca.vertcat(ca.SX(0, 1), *foreign_symbols(basis, algebroid.q))
    evaluate = ca.Function("basis", [algebroid.q, held], [ca.densify(basis)])
    rng = np.random.default_rng(0)
    values = [evaluate(rng.uniform(0.5, 1.5, algebroid.nq),
                       rng.uniform(0.5, 1.5, held.numel())).full() for _ in range(POINTS)]
    ranks = [int(np.linalg.matrix_rank(value)) for value in values if np.isfinite(value).all()]
    if ranks and max(ranks) < algebroid.nv:
        raise MechanicsError(f"the columns of the basis ({listed(names)}) depend on each other: "
                             f"rank {max(ranks)} of {algebroid.nv}")
