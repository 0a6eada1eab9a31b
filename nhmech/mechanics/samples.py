"""Configurations at which ranks are decided and symmetries are tried."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..errors import MechanicsError, listed
from .system import RANDOM, ConstrainedSystem

_NEAR = 0.1      # how far from given configurations further ones are, relative to the largest
_OFF = 1e-6      # of a sample from the holonomic manifold, relative; more is no rounding
# [s] further times at which a system is tried, whatever the rate at which it changes
_LATER = tuple(1.37 * 10.0 ** k for k in range(-3, 3))


def sample_points(constrained: ConstrainedSystem) -> tuple[np.ndarray, np.ndarray]:
    """Times (k,) [s] and configurations (k, nq) at which properties of a system are tried: its
    configurations, and of a system that depends on time also those nearest to them later, where
    its rows, forces and inertias are finite. What holds at one moment alone, such as sin(t) = 0,
    does not hold for the system. A single configuration stands for itself, at its moment."""
    system, d = constrained.system, constrained.distribution
    known = np.asarray(constrained.configurations)
    points = [(constrained.moment, q) for q in known]
    (terms,) = system.expand(ca.densify(ca.vertcat(
        ca.vec(d.A), d.b, d.phi, system.gibbs, system.energy, system.force)))
    if len(known) > 1 and ca.depends_on(terms, system.t):
        held = ca.vertcat(system.u, system.v, system.a)
        rest = np.ones(held.numel())
        evaluate = ca.Function("terms", [system.t, system.q, held, system.theta], [terms])
        for t in (constrained.moment + later for later in _LATER):
            near = [constrained.nearest(q, t) for q in known]
            points += [(t, q) for q in near if q is not None and np.isfinite(
                evaluate(t, q, rest, constrained.parameters).full()).all()]
    return np.array([t for t, _ in points]), np.array([q for _, q in points])


def samples_beside(constrained: ConstrainedSystem, samples: np.ndarray) -> np.ndarray:
    """The samples (k, nq), then random configurations near them: what holds at special ones
    alone, such as a symmetry of the forces at one heading, does not hold for the system. Raises
    `MechanicsError` for a sample that is not on the holonomic manifold, and for a holonomic
    function without simple zeros."""
    system, distribution = constrained.system, constrained.distribution
    algebroid, rng = system.algebroid, np.random.default_rng(0)
    rows, speeds = constrained.constraint_function(), np.zeros(algebroid.nv)
    for q in samples:
        away = constrained.holonomic_distances(q, constrained.moment)
        if not away.max(initial=0.0) <= _OFF * np.abs(q).max(initial=1.0):
            worst = int(away.argmax())
            phi = rows(constrained.moment, q, constrained.parameters)[2].full().ravel()[worst]
            place = listed(f"{x:.4g}" for x in q)
            raise MechanicsError(f"the sample q = {place} is not on the manifold of "
                                 f"{distribution.names[distribution.phi_rows[worst]]!r}, which is "
                                 f"{abs(phi):.3g} there")
    sizes = np.abs(samples).max(axis=0)
    found: list[np.ndarray] = []
    starts: list[np.ndarray] = []
    while len(found) < RANDOM and len(starts) < 2 * RANDOM:
        starts.append(algebroid.normalise(
            samples[len(starts) % len(samples)] + _NEAR * np.where(sizes > 0, sizes, 1.0)
            * rng.normal(size=algebroid.nq)))
        near = constrained.nearest(starts[-1])
        if near is not None and all(np.isfinite(value.full()).all() for value in (
                *rows(constrained.moment, near, constrained.parameters),
                system.energy_function(constrained.moment, near, speeds, constrained.parameters))):
            found.append(near)
    if found:
        constrained.require_simple_zeros(found, starts)
    return np.array([*samples, *found])
