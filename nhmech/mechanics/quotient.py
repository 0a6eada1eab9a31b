"""The quotient by a group: the same mechanics on the algebroid E/G, its Poisson structure and its
symplectic leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..errors import MechanicsError
from .algebroid import LieAlgebroid, bracket
from .base_space import base_coordinates, onto_base, restrict_algebroid
from .equations import Equations
from .frame import at_samples
from .gibbs_appell import gibbs_appell
from .symmetry import ZERO, Symmetry
from .system import ConstrainedSystem


@dataclass(frozen=True)
class Quotient:
    """A system on E/G: q without the group's coordinates, the fibre as it was.

    Attributes
    ----------
    symmetry
        That was divided out.
    base
        The system on the quotient, constraints included.
    lift
        (t, q, v, theta) -> dq/dt (nq,), v (nv,).
    coordinates
        Indices of base.q in q.
    """

    symmetry: Symmetry
    base: ConstrainedSystem
    lift: ca.Function
    coordinates: tuple[int, ...]

    def equations(self, speeds: Sequence[str] | None = None) -> Equations:
        """Equations of motion of the quotient."""
        return gibbs_appell(self.base, speeds)


def quotient(symmetry: Symmetry) -> Quotient:
    """Poisson reduction by any class of symmetry.

    It gives the equations of Lagrange and Poincare on TQ/G, and those of Euler and Poincare where
    the group is all of Q.

    Needs a fibre basis that the group leaves alone, [s_i, e_a] = 0: body-fixed speeds of a moving
    body, say, or `change_of_basis`. Source: paper 004, section V(i); paper 002, eqs. (9), (13).

    Parameters
    ----------
    symmetry
        From `symmetry` or `find_symmetry`.

    Raises
    ------
    MechanicsError
        Where a generator changes a fibre coordinate; the message names both, and what is left that
        depends on the group.
    """
    constrained = symmetry.constrained
    system, d, space = constrained.system, constrained.distribution, constrained.system.algebroid
    one = ca.SX.eye(space.nv)
    for i, name in enumerate(symmetry.names):
        for a in range(space.nv):
            along = bracket(space, symmetry.generators[:, i], ca.densify(one[:, a]))
            change = at_samples(constrained, ca.densify(along))
            if not np.abs(change).max() <= ZERO:
                raise MechanicsError("the quotient needs an invariant basis of the fibre: "
                                     f"generator {name!r} changes {space.v_names[a]!r}; use "
                                     "body-fixed speeds (change_of_basis)")
    coordinates = base_coordinates(symmetry)
    named = {"the anchor": space.anchor[list(coordinates), :] if coordinates
             else ca.SX(0, space.nv),
             "the Lagrangian": system.require_lagrangian("the quotient"), "the force": system.force,
             "the distribution": d.A, "its affine part": d.b, "the holonomic constraint": d.phi,
             **{f"the structure function of {name}": c
                for name, c in zip(space.v_names, space.structure)}}
    anchor, lagrangian, force, A, b, phi, *structure = onto_base(
        symmetry, coordinates, named, system.v
    )
    algebroid = restrict_algebroid(space, coordinates, anchor,
                                   tuple(ca.sparsify(c) for c in structure),
                                   space.v_names, space.v_units)
    reduced = system.transfer(algebroid, system.v, system.a, lagrangian, force)
    distribution = replace(d, A=ca.sparsify(A), b=ca.sparsify(b), phi=phi)
    configurations = constrained.configurations[:, list(coordinates)]
    base = ConstrainedSystem(reduced, distribution, constrained.parameters, configurations,
                             constrained.preferred, constrained.scales)
    lift = ca.Function("lift", [system.t, system.q, system.v, system.theta],
                       [ca.densify(system.q_rate), system.v],
                       ["t", "q", "v", "theta"], ["q_rate", "v_lifted"])
    return Quotient(symmetry, base, lift, coordinates)


def poisson_tensor(algebroid: LieAlgebroid, p: ca.SX) -> ca.SX:
    """(nq + nv, nq + nv) on the dual with coordinates (q, p): {q^i, p_a} = rho^i_a, {p_a, p_b} =
    -c^g_ab p_g; (q, p)' = Lambda dH.

    Its rank at a point is the dimension of the symplectic leaf through it: of P_mu = J^-1(mu)/G_mu,
    on a quotient TQ/G.
    """
    twist = sum((p[g] * c for g, c in enumerate(algebroid.structure)),
                ca.SX(algebroid.nv, algebroid.nv))
    return ca.densify(ca.blockcat([[ca.SX(algebroid.nq, algebroid.nq), algebroid.anchor],
                                   [-algebroid.anchor.T, -twist]]))


def isotropy(symmetry: Symmetry, mu: ArrayLike) -> np.ndarray:
    """(k, d) basis of g_mu, the combinations of generators that leave the momentum value mu alone:
    mu_l C^l_ij xi^i = 0."""
    mu = np.asarray(mu, dtype=float)
    if mu.shape != (len(symmetry.names),):
        raise MechanicsError(f"the momentum value has shape {mu.shape}, the generators are "
                             f"{', '.join(symmetry.names)}")
    _, size, vt = np.linalg.svd(np.einsum("l,lij->ji", mu, symmetry.constants))
    return vt[int((size > ZERO * max(1.0, size.max(initial=0.0))).sum()):].T


def level_dimension(symmetry: Symmetry, mu: ArrayLike) -> int:
    """dim (M meet J^-1(mu))/G_mu of a horizontal symmetry at a regular value,
    M the constraint manifold in velocity phase space.

    Raises
    ------
    MechanicsError
        For another class.
    """
    symmetry.require("a level of the momentum map", "horizontal")
    return (
        symmetry.dim_tangent
        + symmetry.dim_motion
        - len(symmetry.names)
        - isotropy(symmetry, mu).shape[1]
    )
