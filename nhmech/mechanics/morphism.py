"""Morphisms of Lie algebroids, and systems that one carries into the other."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import MechanicsError, listed
from .algebroid import LieAlgebroid
from .exterior import exterior_derivative, one_form, two_form_matrix
from .frame import at_samples
from .system import ConstrainedSystem, HasConstrained, require_constrained

DEFECT = 1e-9        # relative to the terms


@dataclass(frozen=True)
class Morphism:
    """A map of one Lie algebroid into another, linear on the fibres: q -> q', v' = T(q) v.

    It is a morphism where the pull-back of forms commutes with d: rho' T = (dq'/dq) rho, and
    d(T* e'^g) = T*(d e'^g) for the dual basis e'^g. Source: paper 002, section 3.

    Attributes
    ----------
    source, target
        The algebroids.
    base
        q' (nq',), of the source's q.
    fibre
        T (nv', nv), of the source's q.
    """

    source: LieAlgebroid
    target: LieAlgebroid
    base: ca.SX
    fibre: ca.SX

    def __repr__(self) -> str:
        return f"<Morphism into {listed(self.target.v_names)}>"

    def pull_back(self, expression: ca.SX) -> ca.SX:
        """A function of the target's q as one of the source's."""
        return ca.substitute(expression, self.target.q, ca.densify(self.base))

    def check(self, constrained: HasConstrained) -> None:
        """Checks that it is a morphism, at the sample configurations of a system on the source.

        Raises
        ------
        MechanicsError
            If it is not; names the coordinate or the dual form.
        """
        given = require_constrained(constrained)
        anchor = self.pull_back(self.target.anchor) @ self.fibre
        found = ca.jacobian(self.base, self.source.q) @ self.source.anchor
        for name, left, right in zip(self.target.q_names, ca.vertsplit(anchor),
                                     ca.vertsplit(found)):
            _require_equal(given, left, right, f"not a morphism: the rate of {name!r}", found)
        unit = ca.SX.eye(self.target.nv)
        for g, name in enumerate(self.target.v_names):
            upstairs = two_form_matrix(self.source, exterior_derivative(
                self.source, one_form(ca.densify(self.fibre[g, :].T)), 1))
            downstairs = self.pull_back(two_form_matrix(self.target, exterior_derivative(
                self.target, one_form(unit[:, g]), 1)))
            _require_equal(given, upstairs, self.fibre.T @ downstairs @ self.fibre,
                           f"not a morphism: the pull-back of d e({name})", self.fibre)

    def check_reduction(self, upstairs: HasConstrained, downstairs: HasConstrained) -> None:
        """Checks that it maps motions of one system to motions of the other: L = L' o T, forces and
        constraints are pull-backs, and T is onto each fibre.

        Raises
        ------
        MechanicsError
            If it does not; names what the map does not preserve.
        """
        self.check(upstairs)
        one, other = require_constrained(upstairs), require_constrained(downstairs)
        s, r = one.system, other.system
        ranks = _ranks(at_samples(one, self.fibre))
        if (ranks < self.target.nv).any():
            raise MechanicsError(f"the map reaches {ranks.min()} of {self.target.nv} dimensions of "
                                 "the target fibre, so not every motion there is an image")
        rng = np.random.default_rng(0)
        velocity, u = (ca.SX(rng.normal(size=part.numel())) for part in (s.v, s.u))

        def carried(expression: ca.SX) -> ca.SX:
            return ca.substitute(ca.densify(expression), ca.vertcat(r.q, r.v, r.t, r.u, r.theta),
                                 ca.vertcat(self.base, ca.densify(self.fibre @ velocity), s.t, s.u,
                                            s.theta))

        def here(expression: ca.SX) -> ca.SX:
            return ca.substitute(ca.densify(expression), s.v, velocity)

        pairs = {"the Lagrangian": (s.require_lagrangian("check_reduction"),
                                    carried(r.require_lagrangian("check_reduction"))),
                 "the force": (s.force, self.fibre.T @ carried(r.force))}
        for what, (left, right) in pairs.items():
            _require_equal(one, ca.substitute(here(left), s.u, u), ca.substitute(right, s.u, u),
                           what)
        rows = ca.horzcat(one.distribution.A, one.distribution.b)
        image = ca.horzcat(carried(other.distribution.A) @ self.fibre,
                           carried(other.distribution.b))
        both = at_samples(one, ca.densify(ca.vertcat(rows, image)))
        sides = [_ranks(part) for part in (
            both, both[:, :rows.shape[0]], both[:, rows.shape[0]:])]
        if any((side != sides[0]).any() for side in sides):
            raise MechanicsError("the constraints of source and target do not correspond")


def _ranks(samples: np.ndarray) -> np.ndarray:
    """Ranks of matrices (k, rows, columns), whose rows may have different units."""
    largest = np.abs(samples).max(axis=(0, 2), initial=0.0)[:, None]
    return np.linalg.matrix_rank(samples / np.where(largest > 0, largest, 1.0), tol=DEFECT)


def _require_equal(constrained: ConstrainedSystem, left: ca.SX, right: ca.SX, what: str,
                   scale: ca.SX | None = None) -> None:
    """Raises `MechanicsError` unless two expressions are equal, relative to `scale`, or else to
    themselves."""
    gap, *sizes = (np.abs(at_samples(constrained, ca.densify(part))).max(initial=0.0) for part in (
        left - right, *((left, right) if scale is None else (scale,))))
    if not gap <= DEFECT * max(sizes):
        raise MechanicsError(f"{what} is not preserved by the map: it differs by {gap:.3g}")
