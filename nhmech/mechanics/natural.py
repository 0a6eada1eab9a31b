"""Requirements of methods: that nothing depends on time, and that L = T - V."""

from __future__ import annotations

import casadi as ca

from ..errors import MechanicsError
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
