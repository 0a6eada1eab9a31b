"""Vakonomic motion: the constraints put into the principle of least action."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import InputError
from ..symbolic.elimination import entry_costs, factorise, pivot_order
from .algebroid import product, tangent_bundle
from .constraint_manifold import make_manifold
from .distribution import assemble
from .gauss_principle import moving_by
from .system import ConstrainedSystem, HasConstrained, require_constrained


@check_arguments
def vakonomic(constrained: HasConstrained) -> ConstrainedSystem:
    """The variational problem among curves that satisfy the constraints.

    Its Lagrangian is L + lambda . (A v + b), without rows. The lambda are fibre coordinates with
    their own rates; their initial values select one of the motions through a state. A motion is
    also one of Lagrange and d'Alembert if lambda . B(E_a, v) = 0 for all a, B the curvature of the
    constraints: always for holonomic ones, for one lambda if a rolling disk is upright, and for
    none if z' = y x'. With L = T they are geodesics of sub-Riemannian geometry. Sources: Kozlov,
    Moscow University Mechanics Bulletin 37 (1982) 27; Lewis and Murray, International Journal of
    Non-Linear Mechanics 30 (1995) 793; Cardin and Favretti, Journal of Geometry and Physics 18
    (1996) 295.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.

    Raises
    ------
    MechanicsError
        For a system without a Lagrangian, rows that are not linear in v, or that depend on each
        other.
    InputError
        For a system without rows.

    Examples
    --------
    >>> from nhmech.mechanics import vakonomic
    >>> from nhmech.systems import load_system
    >>> vakonomic(load_system("nonholonomic_particle")).system.algebroid.v_names
    ("x'", "y'", "z'", 'lambda.slope')
    """
    given = require_constrained(constrained)
    given.require_distribution("vakonomic")
    given.require_ideal("vakonomic")
    system, d, space = given.system, given.distribution, given.system.algebroid
    lagrangian = system.require_lagrangian("vakonomic")
    if not d.m:
        raise InputError("vakonomic needs a system with constraints; this one has none")
    names = tuple(f"lambda.{name}" for name in d.names)
    impulse, lam, rate = (ca.vertcat(*[ca.SX.sym(head + name) for name in names])
                          for head in ("integral of ", "", "rate of "))
    multipliers = replace(tangent_bundle(impulse, [f"integral of {name}" for name in names]),
                          v_names=names)
    whole, rows = product(space, multipliers), d.A @ system.v + d.b
    made = system.transfer(whole, ca.vertcat(system.v, lam), ca.vertcat(system.a, rate),
                           lagrangian + ca.dot(lam, rows),
                           ca.vertcat(system.force, ca.SX(d.m, 1)))
    places = np.asarray(given.configurations)
    free = ConstrainedSystem(made, assemble([], whole.nv), given.parameters,
                             np.column_stack([places, np.zeros((len(places), d.m))]),
                             moment=given.moment)
    manifold = make_manifold(free, ca.vertcat(d.phi, rows))
    matrix, bias = made.mass_and_bias()
    factors = factorise(matrix, pivot_order(manifold.at_points(matrix), entry_costs(matrix)))
    return moving_by(free, factors.solve(made.force - bias), manifold)
