"""Symplectic reduction of constrained Hamiltonian systems, for any class of symmetry and any
group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments
from ..errors import MechanicsError
from .constrained_hamiltonian import ConstrainedHamiltonian, PhaseSpaceMotion
from .constraint_manifold import null_space, product_size


@dataclass(frozen=True)
class ReducedForm:
    """omega_U and dH on U = F meet TM meet (V meet F)^perp at one point, modulo V.

    The motion obeys i_X omega_U = d_U H on U / (V meet U). Source: paper 004, eq. (19) and
    proposition V.2, after Bates and Sniatycki 1993.

    Attributes
    ----------
    point
        z (n,), on M_f.
    basis
        (N, k) vectors of U that are a basis of U / (V meet U), orthonormal.
    vertical
        (N, j) basis of V meet U, orthonormal.
    omega
        (k, k) in the basis: may be degenerate where F^perp meets TM.
    slope
        (k,) dH on it.
    velocity
        (k,) of the motion X, modulo V.
    """

    point: np.ndarray
    basis: np.ndarray
    vertical: np.ndarray
    omega: np.ndarray
    slope: np.ndarray
    velocity: np.ndarray

    @property
    def is_symplectic(self) -> bool:
        """Whether omega_U determines the reduced motion."""
        return null_space(self.omega).shape[1] == 0


@check_arguments
def bates_sniatycki(motion: PhaseSpaceMotion, momenta: ca.SX, z: ArrayLike) -> ReducedForm:
    """The reduced 2-form at a point, for any symplectic group action and any class of symmetry.

    Parameters
    ----------
    motion
        Of a `ConstrainedHamiltonian`.
    momenta
        J (k,), functions of z that generate the action: p . s_i of generators s_i.
    z
        (n,), a point; the nearest one of M_f is taken.

    Raises
    ------
    MechanicsError
        Where the point is not near M_f, the motion does not lie in F, or M or H is not invariant
        under the action: the proposition then does not hold.
    """
    model = motion.model
    place = motion.manifold.project(0.0, np.asarray(z, dtype=float))
    if place is None:
        raise MechanicsError("the point is not near the final manifold")
    slope = model.differential(motion.manifold.constraints)
    forms = slope if model.forms is None else model.forms
    parts = [ca.densify(part) for part in (
        slope, forms, model.raise_index(model.differential(momenta)), model.omega,
        model.differential(model.hamiltonian).T, motion.section)]
    evaluate = ca.Function("parts", [model.space.q, model.theta], parts)
    phi, mu, V, omega, dH, X = (part.full() for part in evaluate(place, model.parameters))
    V = V / np.where(V.any(axis=0), np.abs(V).max(axis=0), 1.0)     # each generator in its own unit
    for what, covectors in (("M", phi), ("H", dH.T)):
        value = np.abs(covectors @ V)
        if (value > 1e-9 * np.abs(covectors).max(axis=1, keepdims=True)).any():
            raise MechanicsError(f"{what} is not invariant under the action there: it changes by "
                                 f"{value.max():.3g}")
    if np.abs(mu @ X).max(initial=0.0) > 1e-9 * np.abs(mu).max(initial=0.0) * np.abs(X).max():
        raise MechanicsError("the motion is not in F: its constraints are not homogeneous, so "
                             "energy is not conserved")
    inside = V @ null_space(mu @ V, product_size(mu, V))          # V meet F
    U = null_space(np.vstack([phi, mu, inside.T @ omega.T]))
    vertical = _common(U, V)
    basis = U @ null_space(vertical.T @ U, 1.0)                  # both orthonormal
    return ReducedForm(place, basis, vertical, basis.T @ omega @ basis, (basis.T @ dH).ravel(),
                       (basis.T @ X).ravel())


@check_arguments
def on_level(model: ConstrainedHamiltonian, momenta: ca.SX,
             value: ArrayLike) -> ConstrainedHamiltonian:
    """The system on J = mu, for horizontal symmetries of any group, abelian or not.

    M' = M meet J^-1(mu) and F' = F meet T J^-1(mu); with `bates_sniatycki` and the momenta of the
    isotropy group G_mu it is the reduced system (i_X omega_mu - dH_mu) in F_mu^o, X in T M_mu.
    Source: paper 004, theorem VI.3, eq. (23).

    Parameters
    ----------
    model
        Whose F contains the generators, so that J is constant.
    momenta
        J (k,), as for `bates_sniatycki`.
    value
        mu (k,).

    Raises
    ------
    MechanicsError
        For a model with F = TM of whatever manifold: take its final one.
    """
    if model.forms is None:
        raise MechanicsError("on_level needs the forms of F, and F = TM has none")
    level = ca.densify(momenta - ca.DM(np.asarray(value, dtype=float)))
    return replace(model, constraints=ca.vertcat(model.constraints, level),
                   forms=ca.vertcat(model.forms, model.differential(momenta)))


def _common(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the intersection of the spans of columns, those of `one` orthonormal."""
    null = null_space(np.hstack([one, other]))
    found = one @ null[:one.shape[1]]
    left, values, _ = np.linalg.svd(found, full_matrices=False)
    return left[:, values > 1e-9]
