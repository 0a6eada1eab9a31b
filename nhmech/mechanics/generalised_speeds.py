"""Generalised speeds: fibre coordinates of one's own choice, for a whole system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import InputError, MechanicsError, listed
from ..symbolic.inverse import inverse
from .quasi_velocities import change_of_basis
from .samples import sample_points
from .system import ConstrainedSystem, HasConstrained, require_constrained
from .writing import Scalar, check_names, read_expression, symbols


@check_arguments
def generalised_speeds(constrained: HasConstrained,
                       speeds: Mapping[str, Scalar]) -> ConstrainedSystem:
    """The same system in speeds w = Phi(q) v, each given by an expression.

    The fibre gets the basis Phi^-1, with its Hamel symbols; Lagrangian, forces and constraints are
    written in it. Source: paper 002, sections 3 and 7.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    speeds
        Name -> s -> expression, linear in s.v. Where there are fewer of them than fibre
        coordinates, the first coordinates that are independent of them stay, under their names.

    Raises
    ------
    InputError
        For expressions that are not linear in the velocities, whose coefficients depend on time,
        that depend on each other, that are too many, and for names that are taken.
    MechanicsError
        For a system without a Lagrangian.

    Examples
    --------
    >>> import casadi as ca
    >>> from nhmech.mechanics import generalised_speeds
    >>> from nhmech.systems import load_system
    >>> sled = generalised_speeds(load_system("sled"), {
    ...     "along": lambda s: ca.cos(s.q.phi) * s.v.x + ca.sin(s.q.phi) * s.v.y})
    >>> sled.system.algebroid.v_names
    ('along', "x'", "phi'")
    """
    given = require_constrained(constrained)
    given.require_ideal("generalised_speeds")
    system, d = given.system, given.distribution
    lagrangian = system.require_lagrangian("generalised_speeds")
    space, v, s = system.algebroid, system.v, symbols(system)
    forms = [_form(name, read_expression(f"the speed {name!r}", speed(s), system), given)
             for name, speed in speeds.items()]
    kept = _completion(forms, given, tuple(speeds))
    names = (*speeds, *(space.v_names[i] for i in kept))
    check_names("speeds", names)
    phi = ca.sparsify(ca.vertcat(*forms, ca.SX.eye(space.nv)[kept, :]))
    basis = inverse(phi)
    units = (*("" for _ in speeds), *(space.v_units[i] for i in kept))
    fibre = change_of_basis(space, basis, names, units)
    w, rates = (ca.vertcat(*[ca.SX.sym(f"{name}{prime}") for name in names])
                for prime in ("", "'"))
    old = ca.densify(basis @ w)
    new = system.transfer(fibre, w, rates, ca.substitute(lagrangian, v, old),
                          ca.densify(basis.T @ ca.substitute(system.force, v, old)))
    preferred = tuple(group for group in given.preferred if set(group) <= set(names))
    return ConstrainedSystem(new, replace(d, A=d.A @ basis, spans=()), given.parameters,
                             given.samples, preferred, None, given.guards, given.guard_names,
                             given.moment)


def _form(name: str, speed: ca.SX, given: ConstrainedSystem) -> ca.SX:
    v = given.system.v
    form = ca.jacobian(speed, v)
    if ca.depends_on(ca.densify(form), v):
        raise InputError(f"the speed {name!r} is not linear in the velocities")
    if ca.depends_on(ca.densify(form), given.system.t):
        raise InputError(f"the speed {name!r} has coefficients that depend on time, and a basis of "
                         "the fibre does not; make what they depend on a coordinate, and give its "
                         "motion in holonomic=")
    rest = ca.simplify(ca.substitute(speed, v, ca.SX.zeros(v.shape)))
    if not rest.is_zero():
        raise InputError(f"the speed {name!r} contains {rest}, which has no velocity: a basis of "
                         "the fibre is linear; remove that term and add it to the results")
    return form


def _completion(forms: list[ca.SX], given: ConstrainedSystem, names: tuple[str, ...]) -> list[int]:
    """The fibre coordinates that make the forms a basis, the first that do."""
    system = given.system
    nv = system.algebroid.nv
    if not 0 < len(forms) <= nv:
        raise InputError(f"{len(forms)} speeds for a fibre of {nv} coordinates: give one to {nv}")
    evaluate = ca.Function("forms", [system.t, system.q, system.theta],
                           system.expand(ca.densify(ca.vertcat(*forms))))
    rows = [evaluate(t, q, given.parameters).full() for t, q in zip(*sample_points(given))]
    rows = [row for row in rows if np.isfinite(row).all()]
    rank = max((int(np.linalg.matrix_rank(row, tol=1e-9)) for row in rows), default=0)
    if rank < len(forms):
        raise InputError(f"the speeds {listed(names)} depend on each other: rank {rank} of "
                         f"{len(forms)}")
    kept: list[int] = []
    for i in range(nv):
        tried = [np.vstack([row, np.eye(nv)[[*kept, i]]]) for row in rows]
        if all(np.linalg.cond(row) < 1e9 for row in tried) and len(kept) + len(forms) < nv:
            kept.append(i)
    if len(kept) + len(forms) < nv:
        raise MechanicsError(f"the speeds {listed(names)} cannot be completed to a basis at all "
                             "sample configurations; give one for each fibre coordinate, or "
                             "samples away from their singularities")
    return kept
