"""The assumptions that integrators make about a motion: that it conserves energy, or that its
equations are quadratic in the speeds."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...errors import InputError, Remedy, listed
from ...mechanics.equations import Equations
from ...mechanics.samples import sample_points
from ...urdf.notice import Notice, NoticeKind
from ..simulated import Simulated
from ..state_vector import StateVector, state_symbols
from .discrete_gradient import KEPT
from .integrators import rate_function
from .schemes import Scheme

SPEED = 3.0         # of the random states at which they are checked
CUBIC = 1e-8        # third difference of accelerations, relative to them, that is rounding
INSTEAD = Remedy("Take integrator='gauss'", "Take --integrator gauss")


def check_scheme(scheme: Scheme, simulated: Simulated, *, driven: bool,
                 kinematic: bool) -> Notice | None:
    """A notice if the scheme is meant to conserve energy and the motion does not; else None.
    `driven`: whether inputs act on the motion. Raises `InputError` if the scheme does not support
    the motion."""
    if not scheme.symmetric:
        return None
    if scheme.is_quadratic and not kinematic:
        _check_quadratic(scheme, simulated)
    reasons = changes_of_energy(simulated, driven=driven, kinematic=kinematic)
    if not reasons:
        return None
    if scheme.is_conservative:
        raise InputError(f"the integrator {scheme.name!r} needs a motion that conserves energy; "
                         f"this one does not: {listed(reasons)}", remedy=INSTEAD)
    text = (f"the integrator {scheme.name!r} is meant for motions that conserve energy; this one "
            f"does not: {listed(reasons)}")
    return Notice(NoticeKind.CONSERVATION, text, Remedy(
        "The run is still correct; integrator='dop853' is as accurate at less cost",
        "The run is still correct; --integrator dop853 is as accurate at less cost"))


def _check_quadratic(scheme: Scheme, simulated: Simulated) -> None:
    """Raises `InputError` unless dxi/dt is quadratic in xi, that is, its third difference
    vanishes."""
    equations, constrained = simulated.equations, simulated.constrained
    random, u = np.random.default_rng(0), np.zeros(constrained.system.u.numel())
    for t, q in zip(*sample_points(constrained)):
        xi, step = random.normal(size=(2, len(equations.names)))
        values = [equations.drift(t, q, xi + k * step, u, simulated.theta)[1].full()
                  for k in range(4)]
        third = values[3] - 3 * values[2] + 3 * values[1] - values[0]
        if np.abs(third).max(initial=0.0) > CUBIC * (1 + np.abs(values).max(initial=0.0)):
            raise InputError(f"the integrator {scheme.name!r} needs accelerations that are "
                             f"quadratic in the speeds; those of {simulated.name} are not",
                             remedy=INSTEAD)


def changes_of_energy(simulated: Simulated, *, driven: bool, kinematic: bool) -> list[str]:
    """The reasons why the energy of a motion changes; empty if it does not."""
    if kinematic:
        return ["speeds are commanded"]
    constrained = simulated.constrained
    reasons = ["inputs act"] if driven else []
    if ca.sparsify(constrained.distribution.b).nnz():
        reasons.append("constraints are affine")
    if ca.depends_on(constrained.system.energy, constrained.system.t):
        reasons.append("the energy depends on time")
    if ca.depends_on(constrained.system.force, constrained.system.t):
        reasons.append("forces depend on time")
    if not reasons and _largest_power(simulated.equations, simulated.theta) > KEPT:
        joints = _damped_joints(simulated)
        reasons.append(f"dampers or rolling resistance of {listed(joints)}" if joints
                       else "forces do work")
    return reasons


def _damped_joints(simulated: Simulated) -> list[str]:
    if simulated.vehicle is None:
        return []
    values = simulated.vehicle.parameters.values
    return [name for name in simulated.joint_names
            if values.get(f"{name}.damping") or values.get(f"{name}.rolling_resistance")]


def _largest_power(equations: Equations, theta: np.ndarray) -> float:
    """The largest |dE/dt| / (1 + |E|) without inputs at random states."""
    vector, constrained = StateVector.of(equations), equations.constrained
    system, rate = constrained.system, rate_function(equations)
    x, q, v = state_symbols(equations)
    energy = ca.substitute(system.expand(system.energy), [system.q, system.v],
                           [q, ca.densify(v)])[0]
    moves = rate(system.t, x, ca.SX.zeros(rate.size1_in(2)), system.theta)
    power = ca.Function("power", [system.t, x, system.theta], [
        (ca.jtimes(energy, x, moves) + ca.jtimes(energy, system.t, ca.SX(1)))
        / (1 + ca.fabs(energy))])
    random = np.random.default_rng(0)
    states = ((t, vector.assemble(q, SPEED * random.normal(size=vector.nxi)))
              for t, q in zip(*sample_points(constrained)))
    found = [abs(float(power(t, state, theta))) for t, state in states]
    return max((value for value in found if np.isfinite(value)), default=0.0)
