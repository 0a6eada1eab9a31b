"""Constrained Hamiltonian systems: one model for singular Lagrangians and for nonholonomic
constraints."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..ctrl_c import hear_ctrl_c
from ..errors import MechanicsError
from ..once import cached_property
from ..symbolic.elimination import factorise, pivot_order
from ..symbolic.row_reduction import row_reduce
from .algebroid import LieAlgebroid
from .constraint_manifold import Ambient, ConstraintManifold, common_rank, product_size

LARGEST = 20_000     # operations of a constraint at most; those of published systems have hundreds


@dataclass(frozen=True, eq=False)
class ConstrainedHamiltonian:
    """A symplectic space with a Hamiltonian, a submanifold M and a distribution F along it.

    The motion is a section X with::

        i_X omega - dH in F^o,   X in TM

    Source: paper 004, eq. (15). Nonholonomic systems have the reactions as F^o, singular
    Lagrangians the annihilator of TM_1, M_1 the primary constraints (eq. (7), the algorithm of
    Gotay and Nester), or that of TM itself (eq. (8), the algorithm of Hinds).

    Attributes
    ----------
    space
        P with its tangent bundle, or the prolongation of an algebroid over its dual: points z (n,)
        and a basis of N sections.
    omega
        (N, N) in that basis, a function of z: antisymmetric and regular.
    hamiltonian
        H(z).
    constraints
        (s,) functions of z that vanish on M.
    forms
        (m, N) a basis of F^o, or more; if None F is TM, also where M becomes smaller.
    samples
        (k, n) points near which points of M are sought.
    theta, parameters
        Symbols and their numbers.
    """

    space: LieAlgebroid
    omega: ca.SX
    hamiltonian: ca.SX
    constraints: ca.SX
    forms: ca.SX | None
    samples: np.ndarray
    theta: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    parameters: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __repr__(self) -> str:
        return (f"<ConstrainedHamiltonian in {self.space.nv} dimensions, "
                f"{self.constraints.numel()} constraints>")

    def differential(self, functions: ca.SX) -> ca.SX:
        """df of functions (k,), (k, N)."""
        return ca.jacobian(ca.densify(functions), self.space.q) @ self.space.anchor

    def raise_index(self, forms: ca.SX) -> ca.SX:
        """Z with i_Z omega = eps, of forms eps in rows (k, N): symplectic gradients (N, k)."""
        return self._factors.solve(ca.densify(forms.T))

    @cached_property
    def free(self) -> ca.SX:
        """X_H (N,), the motion without constraints."""
        return self.raise_index(self.differential(self.hamiltonian))

    @cached_property
    def _factors(self):
        evaluate = ca.Function("omega", [self.space.q, self.theta], [ca.densify(self.omega.T)])
        found = np.array([evaluate(z, self.parameters).full() for z in self.samples])
        pattern = np.array(ca.DM(self.omega.T.sparsity(), 1).full(), dtype=bool)
        return factorise(self.omega.T, pivot_order(found, pattern))

    @hear_ctrl_c()
    def solve(self) -> PhaseSpaceMotion:
        """The motion, on the final manifold if it does not exist on all of M.

        X = X_H + lambda^i Z_i with 0 = X(chi_a), eq. (16); conditions on z alone that follow are
        further constraints, remark III.3 and eq. (17), until there are none.

        Raises
        ------
        MechanicsError
            If no point is left, a rank jumps, or constraints become too large.
        """
        manifold = ConstraintManifold(self._ambient())
        for chi in ca.vertsplit(self.constraints):
            manifold.impose(chi)
        steps: list[ca.SX] = []
        while True:
            slope = self.differential(manifold.constraints)
            forms = slope if self.forms is None else self.forms
            Z = self.raise_index(forms)
            matrix, right = ca.densify(slope @ Z), ca.densify(-slope @ self.free)
            samples = manifold.at_points(matrix)
            rank = common_rank(samples, "the matrix Z(chi)",
                               product_size(manifold.at_points(slope), manifold.at_points(Z)))
            reduced = row_reduce(matrix, right, samples, rank)
            scale = float(np.abs(manifold.at_points(right)).max(initial=0.0))
            new = [added for condition in map(_write_short, reduced.conditions)
                   for added in manifold.impose(condition, scale)]
            if not new:
                break
            steps.append(ca.vertcat(*new))
        rows, columns = ([pivot[i] for pivot in reduced.pivots] for i in (0, 1))
        return PhaseSpaceMotion(
            self, manifold, tuple(steps), Z[:, columns], slope[rows, :],
            ca.densify(self.free + Z @ reduced.solve({})),
            common_rank(manifold.at_points(forms), "F^o") - rank)

    def _ambient(self) -> Ambient:
        space, samples = self.space, np.asarray(self.samples, dtype=float)

        def start(rng: np.random.Generator) -> tuple[float, np.ndarray]:
            z = samples[rng.integers(len(samples))]
            return 0.0, space.normalise(z + 0.05 * rng.normal(size=z.size))

        return Ambient(ca.SX.sym("t"), space.q, ca.SX(0, 1), self.theta, space.embedding(space.q),
                       self.parameters, start)


def _write_short(condition: ca.SX) -> ca.SX:
    condition = ca.simplify(ca.densify(condition))
    if ca.n_nodes(condition) > LARGEST:
        raise MechanicsError(f"a further constraint has {ca.n_nodes(condition)} operations: the "
                             "algorithm keeps finding new constraints; check the constraints and "
                             "the forms")
    return condition


@dataclass(frozen=True, eq=False)
class PhaseSpaceMotion:
    """The motion of a `ConstrainedHamiltonian` on its final manifold M_f.

    Attributes
    ----------
    model
        The system whose motion it is.
    manifold
        M_f, with points on it.
    steps
        Constraints that each iteration of the algorithm added; none if (15) has a solution on M.
    fields
        (N, r), those of the Z_i that determine the motion.
    slopes
        (r, N), as many of the dchi_a.
    section
        X (N,), without components along undetermined directions.
    gauge
        dim of F^perp meet TM_f; zero if the motion is unique.
    """

    model: ConstrainedHamiltonian
    manifold: ConstraintManifold
    steps: tuple[ca.SX, ...]
    fields: ca.SX
    slopes: ca.SX
    section: ca.SX
    gauge: int

    def __repr__(self) -> str:
        return (f"<PhaseSpaceMotion on {self.manifold.dimension} dimensions, "
                f"{self.gauge} undetermined>")

    @property
    def rate(self) -> ca.SX:
        """dz/dt (n,)."""
        return self.model.space.anchor @ self.section

    @cached_property
    def projector(self) -> ca.SX:
        """P (N, N) = 1 - Z Lambda^-1 dchi onto TM_f along the Z_i: X = P X_H, with Lambda = dchi Z,
        the C of eq. (18); also where F^o has fewer dimensions than M has constraints."""
        solved = self._solve(self.slopes @ self.fields, self.slopes)
        return ca.SX.eye(self.model.space.nv) - self.fields @ solved

    @cached_property
    def classes(self) -> tuple[int, int]:
        """Numbers of first-class and of second-class constraints of M_f; the latter is the rank of
        the matrix of their Poisson brackets."""
        slope = self.model.differential(self.manifold.constraints)
        return slope.shape[0] - (second := self._second_class(slope)), second

    @cached_property
    def bracket(self) -> ca.SX:
        """Pi_D (N, N), {f, g} = df Pi_D dg::

            Pi_D = Pi_0 - Pi_0 A^T (A Pi_0 A^T)^-1 A Pi_0

        with all dchi_a and F^o as rows of A. It is Dirac's bracket where F = TM, and of a
        nonholonomic system the nonholonomic bracket: one formula, X = Pi_D dH where X lies in F.
        Source: paper 004, remark IV.1; Ibort, de Leon, Marrero and Martin de Diego, Fortschritte
        der Physik 47 (1999) 459; Cantrijn, de Leon and Martin de Diego, Nonlinearity 12 (1999) 721.

        Raises
        ------
        MechanicsError
            Where F meet TM_f is not symplectic: first class constraints have no Dirac bracket until
            their gauge is fixed by as many further ones.
        """
        model = self.model
        slope = model.differential(self.manifold.constraints)
        chi = slope if model.forms is None else ca.vertcat(slope, model.forms)
        samples = self.manifold.at_points(chi)
        rank = common_rank(samples, "constraints and reactions")
        reduced = row_reduce(chi, ca.SX(chi.shape[0], 1), samples, rank)
        chi = chi[sorted(row for row, _ in reduced.pivots), :]
        raised = model.raise_index(chi)
        second = self._second_class(chi)
        if second < rank:
            raise MechanicsError(f"there is no Dirac bracket: of {rank} constraints and reactions "
                                 f"{rank - second} are of first class; fix their gauge by as many "
                                 "further constraints")
        whole = model.raise_index(ca.SX.eye(model.space.nv))
        return ca.densify(whole + raised @ self._solve(chi @ raised, raised.T))

    def _second_class(self, forms: ca.SX) -> int:
        """Rank of the matrix of brackets of forms in rows (k, N)."""
        raised = self.model.raise_index(forms)
        left, right, brackets = map(self.manifold.at_points, (forms, raised, forms @ raised))
        return common_rank(brackets, "the matrix of brackets", product_size(left, right))

    def _solve(self, matrix: ca.SX, right: ca.SX) -> ca.SX:
        matrix = ca.densify(matrix)
        samples = self.manifold.at_points(matrix)
        pivots = pivot_order(samples, (samples != 0).max(axis=0))
        return factorise(matrix, pivots).solve(ca.densify(right))
