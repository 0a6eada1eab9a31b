"""Requirements of methods: that nothing depends on time, that L = T - V, that M is regular."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from .samples import sample_points
from .selection import rank_in_any_units
from .system import ConstrainedSystem


def require_scleronomic(method: str, constrained: ConstrainedSystem) -> None:
    """Raises `MechanicsError` where rows are affine, or anything depends on time."""
    system, d = constrained.system, constrained.distribution
    lagrangian = system.require_lagrangian(method)
    everything = ca.densify(ca.vertcat(lagrangian, ca.vec(d.A), d.phi))
    if not d.b.is_zero() or ca.depends_on(everything, system.t):
        raise MechanicsError(f"{method} needs constraints that are linear in the velocities, and "
                             "do not depend on time")


def require_natural(method: str, constrained: ConstrainedSystem) -> ca.SX:
    """M (nv, nv) of a natural system, L = v^T M v / 2 - V."""
    mass, linear = require_quadratic(method, constrained)
    if not ca.simplify(linear).is_zero():
        raise MechanicsError(f"{method} needs L = T - V with T quadratic in the velocities")
    return mass


def require_quadratic(method: str, constrained: ConstrainedSystem) -> tuple[ca.SX, ca.SX]:
    """M (nv, nv) and a (nv,) of a system with L = v^T M v / 2 + a.v - V, such as that of a charge
    in a magnetic field."""
    require_scleronomic(method, constrained)
    system = constrained.system
    mass = ca.densify(ca.jacobian(system.momentum, system.v))
    if ca.depends_on(mass, system.v):
        raise MechanicsError(f"{method} needs L = T - V with T quadratic in the velocities")
    return mass, ca.substitute(system.momentum, system.v, ca.SX.zeros(system.v.shape))


def require_finite(method: str, constrained: ConstrainedSystem) -> None:
    """Raises `MechanicsError` if derivatives of L or forces are finite at no sample."""
    s, rng = constrained.system, np.random.default_rng(0)
    terms = ca.Function("terms", [s.t, s.q, s.v, s.u, s.theta], s.expand(
        ca.densify(ca.horzcat(*s.mass_and_bias(), s.force))))
    rest = rng.normal(size=s.algebroid.nv), np.zeros(s.u.numel()), constrained.parameters
    if not any(np.isfinite(terms(t, q, *rest).full()).all()
               for t, q in zip(*sample_points(constrained))):
        raise MechanicsError(f"{method}: derivatives of the Lagrangian, or a force, are not "
                             "finite at any sample configuration; give others as `samples`")


def require_regular(method: str, constrained: ConstrainedSystem) -> None:
    """Raises `MechanicsError` with the rank where M is singular at every sample."""
    require_finite(method, constrained)
    s, nv = constrained.system, constrained.system.algebroid.nv
    rng = np.random.default_rng(0)
    evaluate = ca.Function("M", [s.t, s.q, s.v, s.theta], [s.mass_and_bias()[0]])
    rank = max(rank_in_any_units(evaluate(t, q, rng.normal(size=nv),
                                          constrained.parameters).full())
               for t, q in zip(*sample_points(constrained)))
    if rank < nv:
        raise MechanicsError(f"{method} needs a regular system: the Hessian of L has rank {rank} "
                             f"of {nv}; use gibbs_appell or lagrange_multipliers, or "
                             "constraint_algorithm where they refuse it too")
