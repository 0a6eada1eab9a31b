"""The nonholonomic bracket of functions of configuration and constrained momentum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments
from ..errors import REPR, MechanicsError, listed
from .algebroid import bracket
from .equations import singular_error, solve_definite, speed_symbols
from .frame import adapted_frame, at_samples
from .natural import require_quadratic
from .reduction import Reduction
from .selection import rank_in_any_units
from .symmetry import ZERO
from .system import ConstrainedSystem, HasConstrained, require_constrained


@dataclass(frozen=True)
class NonholonomicBracket:
    """{f, g} = df^T Pi dg on D*, with coordinates z = (q, p), p_a = dL/dxi^a.

    Attributes
    ----------
    q_names
        Names of q.
    names
        Names of the independent speeds xi, in the order of p.
    parameters
        Parameters theta of the system.
    tensor
        (q, p, theta) -> Pi (n, n), n = nq + nxi, antisymmetric.
    hamiltonian
        (q, p, theta) -> H, the energy.
    momentum
        (q, xi, theta) -> p (nxi,).
    jacobi
        (q, p, theta) -> the Jacobiator (n, n^2), see `jacobiator`.
    """

    q_names: tuple[str, ...]
    names: tuple[str, ...]
    parameters: np.ndarray
    tensor: ca.Function
    hamiltonian: ca.Function
    momentum: ca.Function
    jacobi: ca.Function

    def __repr__(self) -> str:
        return f"<NonholonomicBracket with momenta of {listed(self.names, REPR)}>"

    def jacobiator(self, q: ArrayLike, p: ArrayLike) -> np.ndarray:
        """{z_i, {z_j, z_k}} and its cyclic sum, (n, n, n): zero everywhere where the constraints
        are holonomic, or where the bracket is nevertheless a Poisson bracket."""
        values = self.jacobi(q, p, self.parameters).full()
        n = len(values)
        return values.reshape(n, n, n, order="F")

    def rank(self, q: ArrayLike, p: ArrayLike) -> int:
        """The rank of Pi at (q, p)."""
        return rank_in_any_units(self.tensor(q, p, self.parameters).full())


@check_arguments
def nonholonomic_bracket(constrained: HasConstrained,
                         speeds: Sequence[str] | None = None) -> NonholonomicBracket:
    """The almost Poisson bracket whose Hamiltonian vector field is the constrained motion.

    In a basis E_a of the distribution::

        {q^i, p_a} = (rho E_a)^i,   {p_a, p_b} = -<dL/dv, [E_a, E_b]> at v = E xi,

    and z' = Pi dH without inputs. A gyroscopic term a(q).v of L is in dL/dv, and the gyroscopic
    tensor of a `Reduction`, G_ab, is subtracted from {p_a, p_b}. Source: van der Schaft and
    Maschke, Reports on Mathematical Physics 34 (1994) 225; Cantrijn, de Leon and Martin de Diego,
    Nonlinearity 12 (1999) 721.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    speeds
        Names of the independent speeds; chosen by conditioning if None.

    Raises
    ------
    MechanicsError
        For a Lagrangian that is not quadratic in the velocities, constraints that are not linear in
        them or depend on time, and forces: a bracket has no place for them.

    Examples
    --------
    >>> from nhmech.mechanics import nonholonomic_bracket
    >>> from nhmech.systems import load_system
    >>> made = nonholonomic_bracket(load_system("nonholonomic_particle"), ("x'", "y'"))
    >>> made.rank([0.1, 0.2, 0.3], [1.0, 0.5])
    4
    """
    given = require_constrained(constrained)
    system = given.system
    given.require_distribution("nonholonomic_bracket")
    given.require_ideal("nonholonomic_bracket")
    mass, linear = require_quadratic("nonholonomic_bracket", given)
    frame = adapted_frame(given, speeds)
    E, xi = frame.E, speed_symbols(frame)
    gyroscopic = constrained.gyroscopic if isinstance(constrained, Reduction) \
        else ca.SX(system.v.numel(), system.v.numel())
    _require_no_forces(given, E.T @ system.force, E.T @ gyroscopic @ system.v)
    p = ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(f"p_{name}") for name in frame.names])
    reduced = ca.densify(E.T @ mass @ E)
    if max(map(rank_in_any_units, at_samples(given, reduced))) < frame.nxi:
        raise singular_error("nonholonomic_bracket", given)
    v = ca.densify(E @ solve_definite(reduced, p - E.T @ linear))
    gyroscopic = ca.substitute(E.T @ gyroscopic @ E, system.v, v)
    full = ca.substitute(system.momentum, system.v, v)
    space, k = system.algebroid, frame.nxi
    twist = ca.SX.zeros(k, k)
    for a, b in combinations(range(k), 2):
        value = -ca.dot(full, bracket(space, E[:, a], E[:, b])) - gyroscopic[a, b]
        twist[a, b], twist[b, a] = value, -value
    across = space.anchor @ E
    tensor = ca.densify(ca.blockcat([[ca.SX(space.nq, space.nq), across], [-across.T, twist]]))
    z, n = ca.vertcat(system.q, p), space.nq + k
    along = (ca.jacobian(ca.vec(tensor), z) @ tensor.T).T       # [l, i + n j]: Pi^lm d_m Pi^ij
    cyclic = ca.SX.zeros(n, n * n)
    for i in range(n):
        for j in range(n):
            for m in range(n):
                cyclic[i, j + n * m] = (along[i, j + n * m] + along[j, m + n * i]
                                        + along[m, i + n * j])
    inputs = [system.q, p, system.theta]
    energy = ca.substitute(system.energy, system.v, v)
    return NonholonomicBracket(
        space.q_names, frame.names, np.asarray(given.parameters, dtype=float),
        ca.Function("Pi", inputs, [tensor], {"cse": True}),
        ca.Function("H", inputs, [energy], {"cse": True}),
        ca.Function("p", [system.q, xi, system.theta], [
            ca.densify(reduced @ xi + E.T @ linear)], {"cse": True}),
        ca.Function("jacobi", inputs, [cyclic], {"cse": True}))


def _require_no_forces(constrained: ConstrainedSystem, force: ca.SX, turning: ca.SX) -> None:
    """Raises `MechanicsError` where forces along D other than -`turning` act at u = 0, at random
    states."""
    u = constrained.system.u
    given = ca.substitute(force, u, ca.SX.zeros(u.shape))
    left, size = (np.abs(at_samples(constrained, ca.densify(part))).max(initial=0.0)
                  for part in (given + turning, given))
    if not left <= ZERO * size:
        raise MechanicsError("nonholonomic_bracket needs a system without forces: put a potential, "
                             "and a gyroscopic term a(q).v, into the Lagrangian; take the bracket "
                             "of a system that `chaplygin` reduced before its quotient")
