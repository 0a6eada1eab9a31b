"""The quotient by a group: the same mechanics on the algebroid E/G."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import REPR, MechanicsError, listed
from .algebroid import bracket
from .base_space import base_coordinates, onto_base, restrict_algebroid
from .equations import Equations
from .frame import at_samples
from .gibbs_appell import gibbs_appell
from .invariants import Invariants, find_invariants, given_invariants
from .morphism import Morphism
from .symmetry import ZERO, Symmetry
from .system import ConstrainedSystem
from .writing import Scalar


@dataclass(frozen=True)
class Quotient:
    """A system on E/G, with invariants of q in place of q and the same fibre.

    Attributes
    ----------
    symmetry
        The symmetry group G.
    base
        The system on the quotient, constraints included.
    lift
        (t, q, v, theta) -> dq/dt (nq,), v (nv,).
    coordinates
        Indices of the entries of q that no generator changes; these come first in base.q.
    invariants
        The functions of q that are the other entries of base.q.
    """

    symmetry: Symmetry
    base: ConstrainedSystem
    lift: ca.Function
    coordinates: tuple[int, ...]
    invariants: Invariants

    @property
    def constrained(self) -> ConstrainedSystem:
        """`base`, so that functions accept it where they accept a system."""
        return self.base

    def place(self, q: np.ndarray) -> np.ndarray:
        """base.q (base.nq,) of q."""
        return _place(self.symmetry.constrained, self.coordinates, self.invariants)(q)

    @property
    def projection(self) -> Morphism:
        """E -> E/G, which carries the system into `base`."""
        space = self.symmetry.constrained.system.algebroid
        return Morphism(space, self.base.system.algebroid,
                        ca.vertcat(ca.SX(0, 1), space.q[list(self.coordinates)],
                                   self.invariants.functions), ca.SX.eye(space.nv))

    def __repr__(self) -> str:
        return f"<Quotient by {listed(self.symmetry.names, REPR)}: {self.base!r}>"

    def equations(self, speeds: Sequence[str] | None = None) -> Equations:
        """Equations of motion of the quotient."""
        return gibbs_appell(self.base, speeds)


@check_arguments
def quotient(symmetry: Symmetry,
             invariants: Mapping[str, Scalar] | None = None) -> Quotient:
    """Poisson reduction by any class of symmetry.

    It gives the equations of Lagrange and Poincare on TQ/G, and those of Euler and Poincare where
    the group is all of Q. Coordinates of Q/G are the entries of q that no generator moves, and
    functions of the others that none changes: a heavy top ends on the action algebroid of so(3) on
    the vertical that it sees, gamma' = gamma x omega.

    Needs a fibre basis that the group leaves alone, [s_i, e_a] = 0: body-fixed speeds of a moving
    body, say, by `generalised_speeds`. Source: paper 004, section V(i); paper 002, eqs. (9), (13).

    Parameters
    ----------
    symmetry
        From `symmetry` or `find_symmetry`.
    invariants
        Name -> s -> function of q that no generator changes, of which what is left is a polynomial
        up to degree 4. If None, the entries of rotation matrices that are invariant are found:
        "z_x" is the component of the vertical along the body's x axis.

    Raises
    ------
    MechanicsError
        Where a generator changes a fibre coordinate or a given invariant; the message names both,
        and what is left that depends on the group.
    """
    constrained = symmetry.constrained
    system, d, space = constrained.system, constrained.distribution, constrained.system.algebroid
    one = ca.SX.eye(space.nv)
    for i, name in enumerate(symmetry.names):
        section = symmetry.generators[:, i]
        size = np.abs(at_samples(constrained, section)).max()
        for a in range(space.nv):
            along = bracket(space, section, ca.densify(one[:, a]))
            change = at_samples(constrained, ca.densify(along))
            if not np.abs(change).max() <= ZERO * size:
                raise MechanicsError("the quotient needs an invariant basis of the fibre: "
                                     f"generator {name!r} changes {space.v_names[a]!r}; use "
                                     "body-fixed speeds (generalised_speeds)")
    constrained.require_ideal("the quotient")
    coordinates = base_coordinates(symmetry)
    moved = [i for i in range(space.nq) if i not in coordinates]
    known = find_invariants(symmetry, moved) if invariants is None \
        else given_invariants(symmetry, invariants)
    named = {"the anchor": ca.vertcat(
                 space.anchor[list(coordinates), :] if coordinates else ca.SX(0, space.nv),
                 ca.jacobian(known.functions, space.q) @ space.anchor),
             "the Lagrangian": system.require_lagrangian("the quotient"), "the force": system.force,
             "the distribution": d.A, "its affine part": d.b, "the holonomic constraint": d.phi,
             **{f"the structure function of {name}": c
                for name, c in zip(space.v_names, space.structure)}}
    anchor, lagrangian, force, A, b, phi, *structure = onto_base(symmetry, coordinates, named,
                                                                 system.v, known)
    algebroid = restrict_algebroid(space, coordinates, anchor,
                                   tuple(ca.sparsify(c) for c in structure),
                                   space.v_names, space.v_units, known)
    reduced = system.transfer(algebroid, system.v, system.a, lagrangian, force)
    distribution = replace(d, A=ca.sparsify(A), b=ca.sparsify(b), phi=phi)
    place = _place(constrained, coordinates, known)
    configurations = np.array([place(q) for q in constrained.configurations])
    base = ConstrainedSystem(reduced, distribution, constrained.parameters, configurations,
                             constrained.preferred, constrained.scales,
                             moment=constrained.moment)
    lift = ca.Function("lift", [system.t, system.q, system.v, system.theta],
                       [ca.densify(system.q_rate), system.v],
                       ["t", "q", "v", "theta"], ["q_rate", "v_lifted"])
    return Quotient(symmetry, base, lift, coordinates, known)


def _place(constrained: ConstrainedSystem, coordinates: tuple[int, ...],
           invariants: Invariants) -> Callable[[np.ndarray], np.ndarray]:
    """q -> its coordinates on the quotient."""
    system = constrained.system
    evaluate = ca.Function("place", [system.q, system.theta], [ca.densify(ca.vertcat(
        ca.SX(0, 1), system.q[list(coordinates)], invariants.functions))])
    return lambda q: evaluate(q, constrained.parameters).full().ravel()
