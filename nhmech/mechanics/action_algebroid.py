"""Action algebroids: a Lie algebra that moves the points of a space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ..checks import check_arguments, show
from ..errors import InputError
from .algebroid import LieAlgebroid
from .algebroid_makers import lie_algebra


@check_arguments
def action_algebroid(constants: str | np.ndarray, q_names: Sequence[str],
                     fields: ca.SX | Callable[[ca.SX], ca.SX], names: Sequence[str] | None = None,
                     units: Sequence[str] | None = None) -> LieAlgebroid:
    """The action algebroid of a Lie algebra on R^n: dq/dt = rho(q) v with constant c.

    Its fibre is the algebra, its anchor the infinitesimal action. For example, a rigid body with
    the vertical gamma in body axes, gamma' = gamma x omega, moves on the action algebroid of so(3)
    on R^3, over the spheres |gamma| = const. Source: Mackenzie, General Theory of Lie Groupoids and
    Lie Algebroids (2005), example 3.3.7; paper 002, section 3.

    Parameters
    ----------
    constants
        Structure constants of the algebra, as for `lie_algebra`.
    q_names
        Names of the coordinates q.
    fields
        rho (nq, k), or a function q -> rho: its columns are the fields by which the basis of the
        algebra moves q, and have its brackets.
    names, units
        Names and units of the fibre coordinates, as for `lie_algebra`.

    Raises
    ------
    MechanicsError
        If the fields do not have the brackets of the algebra, so that they are not an action.
    InputError
        For a wrong shape.

    Examples
    --------
    >>> import casadi as ca
    >>> from nhmech.mechanics import action_algebroid
    >>> action_algebroid("so(3)", ("g1", "g2", "g3"), ca.skew).v_names
    ('wx', 'wy', 'wz')
    """
    algebra = lie_algebra(constants, names, units)
    q = ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in q_names])
    given = fields(q) if callable(fields) else fields
    try:
        anchor = ca.SX(given)
    except (NotImplementedError, RuntimeError):      # CasADi's errors for a wrong type
        anchor = ca.SX(0, 0)
    if anchor.shape != (len(q_names), algebra.nv):
        raise InputError(f"fields = {show(given)} must be one matrix, with a row for each of "
                         f"{', '.join(q_names)} and a column for each of "
                         f"{', '.join(algebra.v_names)}")
    made = replace(algebra, q=q, q_names=tuple(q_names), anchor=anchor)
    made.check()
    return made
