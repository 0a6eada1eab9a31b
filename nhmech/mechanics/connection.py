"""The Ehresmann connection of a distribution for a split of the velocities into those of a base and
those of a fibre."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import casadi as ca

from ..checks import check_arguments
from ..errors import MechanicsError, listed
from .algebroid import LieAlgebroid, bracket
from .frame import AdaptedFrame, adapted_frame
from .system import HasConstrained
from .writing import fibre_index


@dataclass(frozen=True)
class EhresmannConnection:
    """A connection: the constraints solved for the fibre velocities.

    omega^a = e^a + A^a_alpha e^alpha + A^a_0 dt, that is v^a = -A^a_alpha v^alpha - A^a_0.

    Source: paper 000, the forms before (3.1); paper 003, section 2, where B^a_alpha = -A^a_alpha
    and B^a = -A^a_0. Everything is symbolic in (t, q, theta) of the system.

    Attributes
    ----------
    frame
        The frame it comes from.
    base, fibre
        Indices of the fibre coordinates v^alpha (n of them) and v^a (m of them).
    """

    frame: AdaptedFrame
    base: tuple[int, ...]
    fibre: tuple[int, ...]

    @property
    def coefficients(self) -> ca.SX:
        """A^a_alpha, (m, n)."""
        return -ca.densify(self.frame.E)[list(self.fibre), :]

    @property
    def affine(self) -> ca.SX:
        """A^a_0, (m,): the affine or rheonomic part."""
        return -self.drift[list(self.fibre)]

    @property
    def forms(self) -> tuple[ca.SX, ca.SX]:
        """The connection one-forms: (m, nv) on the fibre of the algebroid, and (m,) on dt."""
        rows = ca.SX(len(self.fibre), self.lift.shape[0])
        rows[:, list(self.base)] = self.coefficients
        rows[:, list(self.fibre)] = ca.SX.eye(len(self.fibre))
        return rows, self.affine

    @property
    def lift(self) -> ca.SX:
        """Horizontal lift X_alpha = e_alpha - A^a_alpha e_a in columns, (nv, n)."""
        return self.frame.E

    @property
    def drift(self) -> ca.SX:
        """The part -A^a_0 e_a of X_0 = d/dt - A^a_0 e_a, (nv,): the velocity if the base is at
        rest."""
        return ca.densify(self.frame.velocity(ca.SX.zeros(self.frame.nxi)))

    def curvature(self) -> tuple[ca.SX, ...]:
        """B^b_alpha,beta = omega^b([X_alpha, X_beta]) = -d omega^b(X_alpha, X_beta),
        one antisymmetric (n, n) matrix for each b.

        On a tangent bundle B^b_ij = dA_i/dr_j - dA_j/dr_i + A^a_i dA_j/ds^a - A^a_j dA_i/ds^a,
        which makes eq. (3.4) of paper 000 true; the line d omega^b(q', .) = B^b r' dr printed below
        it lacks the minus sign.
        """
        return curvature(self.frame.constrained.system.algebroid, self.lift, self.base, self.fibre)

    def drift_curvature(self) -> ca.SX:
        """B^b_0,alpha = omega^b([X_0, X_alpha]), (m, n): the contribution of the affine part and of
        time."""
        system, X = self.frame.constrained.system, self.lift
        columns = [bracket(system.algebroid, self.drift,
                           X[:, i]) + ca.jtimes(X[:, i], system.t, ca.SX(1))
                   for i in range(X.shape[1])]
        return self.forms[0] @ ca.horzcat(ca.SX(X.shape[0], 0), *columns)

    def along_motion(self, xi: ca.SX) -> ca.SX:
        """C^b_alpha = B^b_beta,alpha xi^beta + B^b_0,alpha, (m, n).

        In paper 003, section 2, that is dB^b_alpha/dt - X_alpha(B^b_beta q'^beta + B^b) with its
        B^b_alpha = -A^b_alpha.
        """
        B = self.curvature()
        return self.drift_curvature() + ca.vertcat(ca.SX(0, xi.numel()),
                                                   *[xi.T @ matrix for matrix in B])


def curvature(algebroid: LieAlgebroid, X: ca.SX, base: Sequence[int],
              fibre: Sequence[int]) -> tuple[ca.SX, ...]:
    """omega^b([X_alpha, X_beta]) for each b of the fibre, X (nv, n) the horizontal lifts:
    X^alpha_beta is the unit matrix on the base."""
    n, fibre = X.shape[1], list(fibre)
    B = [ca.SX(n, n) for _ in fibre]
    for i, j in combinations(range(n), 2):
        Z = bracket(algebroid, X[:, i], X[:, j])
        value = Z[fibre] - X[fibre, :] @ Z[list(base)]
        for b, matrix in enumerate(B):
            matrix[i, j], matrix[j, i] = value[b], -value[b]
    return tuple(B)


@check_arguments
def ehresmann_connection(constrained: HasConstrained, *, base: Sequence[str] | None = None,
                         fibre: Sequence[str] | None = None) -> EhresmannConnection:
    """The connection of a distribution for a chosen fibration.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    base, fibre
        Names of the velocities on the base or on the fibre ("x" stands for x'); one of the two, the
        rest is the other. Rows that depend on others are left out, as in `adapted_frame`.

    Raises
    ------
    MechanicsError
        For unknown names, and for both or none of base and fibre.
    InputError
        Where the distribution is not horizontal: its rank differs from the number of base
        velocities, or these do not determine the motion.
    """
    algebroid = constrained.constrained.system.algebroid
    if (base is None) == (fibre is None):
        raise MechanicsError("give either base= or fibre=, and not both: names of "
                             f"{listed(algebroid.v_names)}")
    named = [fibre_index(algebroid, name) for name in (base or fibre or ())]
    rest = [i for i in range(algebroid.nv) if i not in named]
    below, above = (rest, named) if base is None else (named, rest)
    frame = adapted_frame(constrained, [algebroid.v_names[i] for i in below])
    return EhresmannConnection(frame, tuple(below), tuple(above))
