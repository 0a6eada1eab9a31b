"""Contact Lagrangians: the action itself is a coordinate, and its slope damps or drives."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..checks import check_arguments, read_word
from ..errors import InputError
from .algebroid import LieAlgebroid
from .system import ConstrainedSystem, HasConstrained, require_constrained
from .writing import fibre_index


@check_arguments
def herglotz(constrained: HasConstrained, action: str) -> ConstrainedSystem:
    """The motion by Herglotz's principle, with the action z as a coordinate, dz/dt = L(t, q, v, z).

    ::

        d/dt(dL/dv^a) = rho^i_a dL/dq^i - c^g_ab v^b dL/dv^g + (dL/dz) dL/dv^a
                        + tau_a + (A^T lambda)_a

    L = T - V - k z is damped by k times the momentum. The energy has the rate dE/dt = (dL/dz) E
    where neither forces nor affine or moving rows act. Sources: Herglotz 1930; de Leon, Jimenez and
    Lainz, J. Geometric Mechanics 13 (2021) 25, for nonholonomic constraints.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`, whose Lagrangian contains z
        and not its rate.
    action
        Name of z.

    Raises
    ------
    InputError
        For an unknown name, and where L or a row contains the rate of z, a force acts on z, or the
        fibre coordinate of its name is not its rate.
    MechanicsError
        For a system without a Lagrangian, and for constraints that are not ideal and linear.

    Examples
    --------
    >>> from nhmech.mechanics import euclidean, gibbs_appell, herglotz, lagrangian_system
    >>> spring = lagrangian_system(euclidean("x", "z"),
    ...                            lambda s: s.v.x ** 2 / 2 - s.q.x ** 2 / 2 - 0.3 * s.q.z)
    >>> damped = gibbs_appell(herglotz(spring, "z"))
    >>> float(damped.acceleration(0.0, [1.0, 0.0], [2.0], [], [])[0])
    -1.6
    """
    given = require_constrained(constrained)
    given.require_distribution("herglotz")
    given.require_ideal("herglotz")
    system, d, space = given.system, given.distribution, given.system.algebroid
    lagrangian = system.require_lagrangian("herglotz")
    k = space.q_names.index(read_word("action", action, space.q_names))
    z, i = space.q[k], fibre_index(space, action)
    _require_factor(space, k, i)
    if ca.depends_on(lagrangian, system.v[i]) or not d.A[:, i].is_zero():
        raise InputError(f"the rate of the action {action!r} occurs in the Lagrangian or in a row; "
                         "it is the Lagrangian itself")
    if not system.force[i].is_zero():
        raise InputError(f"a force acts on the action {action!r}, which has no equation of motion; "
                         "put the term into the Lagrangian")
    damping = ca.gradient(lagrangian, z) * ca.gradient(lagrangian, system.v)
    moved = system.transfer(space, system.v, system.a, lagrangian, system.force + damping)
    # z has no equation beside its row, which exerts no force
    moved = replace(moved, gibbs=ca.substitute(moved.gibbs, system.a[i], 0))
    unit = ca.SX(1, space.nv)
    unit[i] = 1
    rows = replace(d, A=ca.vertcat(d.A, unit), b=ca.vertcat(d.b, ca.SX(1, 1)),
                   names=(*d.names, action), priority=(*d.priority, 0),
                   components=(*d.components, None),
                   flow=ca.vertcat(ca.SX(d.m, 1), -lagrangian), followers={d.m: i})
    return replace(given, system=moved, distribution=rows)


def _require_factor(space: LieAlgebroid, k: int, i: int) -> None:
    """Raises `InputError` unless the algebroid is a product with R, of coordinate k and its rate
    i."""
    own = ca.SX(space.nq, space.nv)
    own[k, i] = 1
    mixed = ca.sparsify(space.anchor - own)
    if mixed[k, :].nnz() or mixed[:, i].nnz() or any(ca.sparsify(c)[:, i].nnz()
                                                     for c in space.structure):
        raise InputError(f"{space.v_names[i]} is not the rate of the action {space.q_names[k]!r} "
                         f"alone; use product(..., euclidean({space.q_names[k]!r}))")
