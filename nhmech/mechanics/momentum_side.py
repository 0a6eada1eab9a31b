"""The Legendre transformation: a constrained Lagrangian system, singular ones too, in momenta."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import MechanicsError, listed
from ..symbolic.row_reduction import ZERO, row_reduce
from .constrained_hamiltonian import ConstrainedHamiltonian
from .constraint_manifold import common_rank
from .exterior import exterior_derivative, one_form, two_form_matrix
from .frame import at_samples
from .natural import require_scleronomic
from .prolongation import prolong
from .system import ConstrainedSystem, HasConstrained, require_constrained


@check_arguments
def momentum_side(constrained: HasConstrained, *, hinds: bool = False) -> ConstrainedHamiltonian:
    """The constrained Hamiltonian system that a Lagrangian system is in momenta p = dL/dv.

    Leg(q, v) = (q, dL/dv) has the image M_1, given by primary constraints where the Hessian of L
    is singular; there the energy is h_1(q, p), h_1 o Leg = v dL/dv - L. The model has P = T^E E*
    with omega = -d(p_a e^a), any extension of h_1 as H, M = Leg(D), and (D^v meet TM_1)^o as F^o.
    Source: paper 004, eqs. (4), (5), (7), (12) to (14).

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    hinds
        F = TM of the manifold reached so far, eqs. (6) and (8): all constraints of first class then
        generate gauge transformations, primary or not.

    Raises
    ------
    MechanicsError
        For a Lagrangian that is not quadratic in v, for forces, constraints that are affine or move
        with time, `hinds` with rows, and rows that speeds without momentum enter: the system is
        not almost regular, and Leg(D) is no part of M_1 of the right dimension.

    Examples
    --------
    >>> from nhmech.mechanics import momentum_side
    >>> from nhmech.systems.capri_kobayashi import singular_system
    >>> from nhmech.mechanics import constrain
    >>> motion = momentum_side(constrain(singular_system(), {"m2": 0.7, "m3": 1.6})).solve()
    >>> motion.manifold.dimension, motion.classes
    (8, (0, 4))
    """
    given = require_constrained(constrained)
    system, d, space = given.system, given.distribution, given.system.algebroid
    given.require_ideal("momentum_side")
    given.require_distribution("momentum_side")
    require_scleronomic("momentum_side", given)
    if not system.force.is_zero():
        raise MechanicsError("momentum_side needs a system without forces, because forces have no "
                             "Hamiltonian")
    if hinds and d.m:
        raise MechanicsError("the algorithm of Hinds needs a Lagrangian without constraint rows")
    hessian = ca.densify(ca.jacobian(system.momentum, system.v))
    if ca.depends_on(hessian, system.v):
        raise MechanicsError("momentum_side needs a Lagrangian that is quadratic in v: other "
                             "Legendre maps have no inverse in closed form")
    rest = ca.substitute(system.momentum, system.v, ca.SX.zeros(system.v.shape))
    names = tuple(f"p_{name.rstrip(chr(39))}" for name in space.v_names)
    p = ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in names])
    found = at_samples(given, hessian)
    rank = common_rank(found, "the Hessian of L")
    reduced = row_reduce(hessian, ca.densify(p - rest), found, rank)
    _require_almost_regular(given, reduced.kernel(reduced.free))
    v = ca.densify(reduced.solve({}))
    primary = ca.vertcat(ca.SX(0, 1), *map(ca.simplify, reduced.conditions))
    energy = ca.simplify(ca.substitute(system.energy, system.v, v))
    whole = prolong(space, p, names)
    omega = -two_form_matrix(whole, exterior_derivative(
        whole, one_form(ca.vertcat(p, ca.SX(space.nv, 1))), 1))
    along = ca.jacobian(primary, whole.q) @ whole.anchor
    forms = ca.vertcat(ca.horzcat(d.A, ca.SX(d.m, space.nv)), along)
    return ConstrainedHamiltonian(
        whole, omega, energy, ca.vertcat(d.phi, primary, d.A @ v), None if hinds else forms,
        _samples(given, hessian, rest), system.theta, np.asarray(given.parameters, dtype=float))


def _require_almost_regular(given: ConstrainedSystem, kernel: ca.SX) -> None:
    """Raises `MechanicsError` unless ker Leg_* lies in D^c: no row may contain a speed without
    momentum."""
    d = given.distribution
    seen = np.abs(at_samples(given, ca.densify(d.A @ kernel))).max(axis=(0, 2), initial=0.0)
    size = np.abs(at_samples(given, d.A)).max(axis=(0, 2), initial=0.0)
    wrong = [name for name, part, whole in zip(d.names, seen, size) if not part <= ZERO * whole]
    if wrong:
        raise MechanicsError("the system is not almost regular: speeds without momentum enter "
                             f"{listed(wrong)}; use constraint_algorithm, on the side of "
                             "velocities")


def _samples(given: ConstrainedSystem, hessian: ca.SX, rest: ca.SX) -> np.ndarray:
    """(q, p) for random velocities."""
    rng, nv = np.random.default_rng(0), given.system.algebroid.nv
    momenta = at_samples(given, ca.densify(hessian @ rng.normal(size=nv) + rest))
    return np.column_stack([given.configurations, momenta[:, :, 0]])
