"""Symmetries of the equations of motion, as vector fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

import casadi as ca
import numpy as np

from ..mechanics.equations import Equations
from ..mechanics.first_integrals import usual_speeds
from ..mechanics.symmetry_search import candidates, echelon
from ..mechanics.system import ConstrainedSystem, LagrangianSystem
from ..symbolic.row_reduction import ZERO

STATES = 12        # at least, so that no symmetry of a few of them passes for one of all
AROUND = 0.1       # distance of further configurations from known ones, relative to the largest

State = tuple[float, np.ndarray, np.ndarray, np.ndarray]
# (t, q, xi, u) -> v (nv,), (transport, E; f_eta, f_xi), one-forms of phi (k, nv)
Variation = Callable[[float, np.ndarray, np.ndarray, np.ndarray],
                     tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class IgnorableFields:
    """A basis of the symmetries of the equations of motion: k fields on the states (q, xi)."""

    # (t, q, v, theta) -> Z (nv + nxi, k): sections X of the algebroid above what their complete
    # lifts make of the speeds
    values: ca.Function
    slopes: ca.Function  # (t, q, v, theta, c) -> d(Z c)/dq rho and d(Z c)/dv, (nv + nxi, nv) each


def ignorable_fields(constrained: ConstrainedSystem, equations: Equations,
                     variation: Variation) -> IgnorableFields:
    """The symmetries among the `candidates`.

    The flow of Z takes motions to motions: along each of them dZ/dt is what the variational
    equation makes of Z. It keeps the kinetic energy, as the scaling of a linear system does not,
    and X is tangent to the holonomic manifold. All is linear in X, so that the symmetries are a
    null space, found at random states. Potential energy is not asked: along a slope it changes, and
    the equations do not.
    """
    _, sections = candidates(constrained.system)
    system, speeds = constrained.system, list(equations.frame.speeds)
    q, v, inputs = system.q, system.v, [system.t, system.q, system.v]
    Z, lift = _lift_sections(system, speeds, sections)
    lifted = ca.Function("lifted", [*inputs, system.a, system.theta], [ca.densify(e) for e in (
        Z, _along(Z, ca.vertcat(q, v), ca.vertcat(system.q_rate, system.a)),
        _gain(system, sections, lift))])
    rows: list[np.ndarray] = []
    for t, place, xi, u in _states(equations, sections.shape[1]):
        velocity, whole, forms = variation(t, place, xi, u)
        # the speeds may determine nothing at a special configuration
        if not np.isfinite(whole).all():
            continue
        rate = equations.acceleration(t, place, xi, u, constrained.parameters)
        value, change, gain = (x.full() for x in lifted(t, place, velocity, rate,
                                                        constrained.parameters))
        left, terms = whole @ value - change, np.abs(whole) @ np.abs(value) + np.abs(change)
        for part in (slice(len(velocity)), slice(len(velocity), None)):    # of places, of speeds
            rows.append(_scale(left[part], terms[part]))
        rows += [_scale(forms @ value[:len(velocity)], forms), _scale(gain, gain)]
    _, s, vt = np.linalg.svd(np.concatenate(rows))
    basis = ca.DM(echelon(vt[int((s > ZERO).sum()):]).T)
    Z, _ = _lift_sections(system, speeds, sections @ basis)
    c = ca.SX.sym("c", basis.shape[1])
    return IgnorableFields(
        ca.Function("ignorable", [*inputs, system.theta], [ca.densify(Z)]),
        ca.Function("slopes", [*inputs, system.theta, c], [
            ca.jacobian(Z @ c, q) @ system.algebroid.anchor, ca.jacobian(Z @ c, v)]))


def _scale(rows: np.ndarray, terms: np.ndarray) -> np.ndarray:
    return rows / (np.abs(terms).max(initial=0.0) or 1.0)


def _along(e: ca.SX, variables: ca.SX, rates: ca.SX) -> ca.SX:
    return ca.reshape(ca.jtimes(ca.vec(ca.densify(e)), variables, rates), e.shape)


def _lift_sections(system: LagrangianSystem, speeds: list[int],
            sections: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Z (nv + nxi, n) of sections (nv, n), and the complete lifts' effect on v (nv, n)."""
    twist = ca.vertcat(ca.SX(0, sections.shape[1]),
                       *[system.v.T @ c @ sections for c in system.algebroid.structure])
    lift = _along(sections, system.q, system.q_rate) + twist
    return ca.vertcat(sections, lift[speeds, :]), lift


def _gain(system: LagrangianSystem, sections: ca.SX, lift: ca.SX) -> ca.SX:
    """Change of the kinetic energy along complete lifts, (1, n)."""
    kinetic = system.energy - ca.substitute(system.energy, system.v, ca.SX.zeros(system.v.shape))
    return (ca.gradient(kinetic, system.q).T @ system.algebroid.anchor @ sections
            + ca.gradient(kinetic, system.v).T @ lift)


def _states(equations: Equations, unknowns: int) -> Iterator[State]:
    """Random states, with twice as many conditions as unknowns, at the known configurations, then
    near them: fields differ where these do not lead. At t = 0 if phi moves, because configurations
    are given for t = 0. Inputs act at every second one: beside large ones, forces
    that depend on the place would be rounding."""
    rng, unit = np.random.default_rng(0), usual_speeds(equations)
    constrained, system = equations.constrained, equations.constrained.system
    moving = ca.depends_on(ca.densify(constrained.distribution.phi), system.t)
    count = max(STATES, ceil(2 * unknowns / (system.algebroid.nv + len(unit))))
    known = np.asarray(constrained.configurations)
    size = np.abs(known).max(axis=0)
    around = AROUND * np.where(size > 0, size, 1.0)
    for k in range(count):
        q = known[k % len(known)]
        if k >= len(known):
            near = constrained.nearest(system.algebroid.normalise(
                q + around * rng.normal(size=len(q))))
            q = q if near is None else near
        yield (0.0 if moving else rng.uniform(0, 1), q, unit * rng.normal(size=len(unit)),
               (k % 2) * rng.normal(size=system.u.numel()))
