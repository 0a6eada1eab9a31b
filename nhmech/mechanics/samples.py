"""Configurations at which ranks are decided and symmetries are tried."""

from __future__ import annotations

import numpy as np

from ..errors import MechanicsError, listed
from .system import RANDOM, ConstrainedSystem

_NEAR = 0.1      # how far from given configurations further ones are, relative to the largest
_OFF = 1e-6      # of a sample from the holonomic manifold, relative; more is no rounding


def samples_beside(constrained: ConstrainedSystem, samples: np.ndarray) -> np.ndarray:
    """The samples (k, nq), then random configurations near them: what holds at special ones
    alone, such as a symmetry of the forces at one heading, does not hold for the system. Raises
    `MechanicsError` for a sample that is not on the holonomic manifold, and for a holonomic
    function without simple zeros."""
    system, distribution = constrained.system, constrained.distribution
    algebroid, rng = system.algebroid, np.random.default_rng(0)
    rows, speeds = constrained.constraint_function(), np.zeros(algebroid.nv)
    for q in samples:
        phi = np.abs(rows(constrained.moment, q, constrained.parameters)[2].full().ravel())
        if phi.max(initial=0.0) > _OFF * np.abs(q).max(initial=1.0):
            name = distribution.names[distribution.phi_rows[int(phi.argmax())]]
            place = listed(f"{x:.4g}" for x in q)
            raise MechanicsError(f"the sample q = {place} is not on the manifold of {name!r}, "
                                 f"which is {phi.max():.3g} there")
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
