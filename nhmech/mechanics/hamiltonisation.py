"""Invariant measure and Chaplygin's multiplier of a reduced Chaplygin system."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments
from ..errors import MechanicsError
from .equations import solve_definite
from .frame import at_samples
from .invariant_measure import Divergence, InvariantMeasure, equal_units, find_density
from .natural import require_natural
from .reduction import Reduction
from .symmetry import ZERO
from .system import ConstrainedSystem


@dataclass(frozen=True)
class Hamiltonisation:
    """Invariant measure and Hamiltonian structure of a Chaplygin system.

    Attributes
    ----------
    reduction
        From `chaplygin`.
    measure
        The density N(r), with dr dp of the coordinates' own momenta, Liouville's measure of the
        cotangent bundle.
    simple
        The largest of |G_ab^c - (delta_a^c Theta_b - delta_b^c Theta_a) / (n - 1)| at the samples,
        Theta_b = G_ab^a, relative to |G| for the gyroscopic tensor G_ab = G_ab^c p_c: where it is 0
        and there is a measure, the motion is Hamiltonian in another time.
    """

    reduction: Reduction
    measure: InvariantMeasure
    simple: float

    def __repr__(self) -> str:
        words = ("an invariant measure" if self.has_measure else "no invariant measure of r alone",
                 "Hamiltonian in another time" if self.is_hamiltonian else "not phi-simple")
        return f"<Hamiltonisation: {words[0]}, {words[1]}>"

    @property
    def has_measure(self) -> bool:
        """Whether N(r) dr dp is invariant for a density N, locally."""
        return self.measure.has_measure

    @property
    def is_hamiltonian(self) -> bool:
        """Whether the motion is Hamilton's in a time with the rate f = N^(1 / (n - 1)),
        Chaplygin's multiplier."""
        return self.has_measure and self.simple <= ZERO

    def density(self, r: ArrayLike, origin: ArrayLike) -> float:
        """N(r) / N(origin).

        Raises
        ------
        MechanicsError
            Where there is no such density.
        """
        return self.measure.density(r, origin)

    def multiplier(self, r: ArrayLike, origin: ArrayLike) -> float:
        """f(r) / f(origin) with which dr/dt' = dH/dP, dP/dt' = -dH/dr for dt' = f dt, P = f p.

        Raises
        ------
        MechanicsError
            Where there is none.
        """
        if not self.is_hamiltonian:
            raise MechanicsError("Chaplygin's multiplier does not exist: the gyroscopic tensor is "
                                 f"off the phi-simple form by {self.simple:.3g}, the conditions "
                                 f"on a density fail by {self.measure.closed:.3g}")
        return self.density(r, origin) ** (1 / (self.reduction.alpha.numel() - 1))


@check_arguments
def hamiltonise(reduction: Reduction) -> Hamiltonisation:
    """Whether a reduced Chaplygin system keeps a measure, and is Hamiltonian in another time.

    dp_a/dt = -dH/dr^a - G_ab dr^b/dt with G_ab = G_ab^c(r) p_c has the divergence -Theta(dr/dt):
    N(r) dr dp is kept where d ln N = Theta, which needs d Theta = 0. It is Hamiltonian in a time
    with the rate f, where G_ab^c = delta_a^c d_b ln f - delta_b^c d_a ln f: the system is
    phi-simple, phi = ln f, and N = f^(n-1). With n = 2 every measure is of that kind: Chaplygin's
    theorem. The density of `invariant_measure` is N / det(rho), because it refers to the momenta
    dL/dxi = rho^T p.

    Sources: Chaplygin 1911; Cantrijn, Cortes, de Leon and Martin de Diego, Math. Proc. Cambridge
    Phil. Soc. 132 (2002) 323; Garcia-Naranjo and Marrero, Nonlinearity 33 (2020) 1.

    Parameters
    ----------
    reduction
        From `chaplygin`, its base of two dimensions or more; inputs count as zero.

    Raises
    ------
    MechanicsError
        For a base of one dimension or one that is no tangent bundle, and for forces beyond the
        gyroscopic ones, those of affine or moving rows included.
    """
    base, alpha = reduction.base, reduction.alpha
    system, n = base.system, alpha.numel()
    space, xi = system.algebroid, system.v
    if n < 2:
        raise MechanicsError("a Chaplygin system of one dimension has no gyroscopic force: every "
                             "such system is Hamiltonian")
    anchors = at_samples(base, ca.densify(space.anchor))
    if not space.nq or min(np.linalg.matrix_rank(rho) for rho in anchors) < n:
        raise MechanicsError(f"hamiltonise needs a base on which {', '.join(space.v_names)} are "
                             f"the velocities of {', '.join(space.q_names) or 'no coordinates'}")
    mass = require_natural("hamiltonise", base)
    _require_gyroscopic(base, reduction.gyroscopic)
    inverse = solve_definite(mass, ca.SX.eye(n))
    tensor = [[ca.jacobian(reduction.gyroscopic[a, b], xi) @ inverse for b in range(n)]
              for a in range(n)]                             # G_ab^c (1, n)
    trace = ca.vertcat(*[sum((tensor[a][b][a] for a in range(n)), ca.SX(0)) for b in range(n)])
    off = [tensor[a][b][c] - ((a == c) * trace[b] - (b == c) * trace[a]) / (n - 1)
           for a in range(n) for b in range(n) for c in range(n)]
    every = ca.vertcat(*[tensor[a][b].T for a in range(n) for b in range(n)])
    simple, size = (float(np.abs(at_samples(base, ca.densify(part))).max(initial=0.0))
                    for part in (ca.vertcat(*off), every))
    unit = equal_units(base, mass)
    speed = unit * xi
    terms = ca.vertcat(*[unit[a] * sum((tensor[a][b] * speed[b] for b in range(n)), ca.SX(0)).T
                         / unit for a in range(n)])
    columns, terms = ca.substitute([
        ca.vertcat(space.anchor @ speed, ca.dot(trace, speed)), ca.sum1(ca.fabs(terms))],
        [system.theta], [ca.DM(base.parameters)])
    return Hamiltonisation(reduction, find_density(
        base, Divergence(xi, unit, columns, terms, ca.SX(0, 1))), simple / (size or 1.0))


def _require_gyroscopic(base: ConstrainedSystem, G: ca.SX) -> None:
    """Raises `MechanicsError` if there are forces other than -G xi, with G linear in xi, at random
    speeds."""
    system = base.system
    turning, still = G @ system.v, ca.substitute(G, system.v, ca.SX.zeros(system.v.shape))
    force = ca.substitute(system.force, system.u, ca.SX.zeros(system.u.shape))
    rest, size = (np.abs(at_samples(base, ca.densify(part))).max(initial=0.0) for part in (
        ca.vertcat(force + turning, still @ system.v), ca.vertcat(force, turning)))
    if not rest <= ZERO * size:
        raise MechanicsError("hamiltonise needs a system without forces")
