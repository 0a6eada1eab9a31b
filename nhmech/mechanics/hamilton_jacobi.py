"""Hamilton and Jacobi's equation with nonholonomic constraints: a checker for given solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import MechanicsError
from .algebroid import bracket
from .frame import adapted_frame
from .gibbs_appell import gibbs_appell
from .natural import require_scleronomic
from .symmetry import ZERO
from .system import HasConstrained, require_constrained
from .writing import Symbols, read_expression, symbols


@dataclass(frozen=True)
class HamiltonJacobi:
    """How far a field of velocities X(q) on D, with gamma = dL/dv at X, is from a solution.

    Attributes
    ----------
    closed
        The largest |d gamma(E_a, E_b)| on D.
    energy
        The largest |E_a(H(gamma))| on D.
    motion
        The largest difference of the motion's acceleration at X(q) from that of X's integral curve.
    """

    closed: float
    energy: float
    motion: float

    def __repr__(self) -> str:
        word = "a solution" if self.is_solution else "no solution"
        return (f"<HamiltonJacobi: {word}; closed {self.closed:.1g}, energy {self.energy:.1g}, "
                f"motion {self.motion:.1g}>")

    @property
    def is_solution(self) -> bool:
        """Whether it solves the Hamilton-Jacobi equation, so that its integral curves are
        motions."""
        return self.closed <= ZERO and self.energy <= ZERO


@check_arguments
def hamilton_jacobi(constrained: HasConstrained,
                    field: Mapping[str, float | Callable[[Symbols], ca.SX]]) -> HamiltonJacobi:
    """Checks a solution of the nonholonomic Hamilton-Jacobi equation.

    A field X of velocities on D, gamma = dL/dv(X), with d gamma(Y, Z) = 0 for all Y, Z in D solves
    it where d(H(gamma))(Y) = 0 for all Y in D: then each curve q' = rho X(q) is a motion. `motion`
    says that too, without the theorem. Sources: Iglesias-Ponte, de Leon and Martin de Diego, J.
    Phys. A 41 (2008) 015205, theorem 4.3; Ohsawa and Bloch, J. Geometric Mechanics 1 (2009) 461,
    theorem 3.1.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`, without forces, its rows
        linear.
    field
        Independent speed -> s -> function of q, or a number: X in these speeds.

    Raises
    ------
    MechanicsError
        For rows that are affine or depend on time, for forces, those of reactions included, and for
        a field that is not finite at a sample.
    InputError
        For speeds that do not determine the motion.

    Examples
    --------
    >>> from nhmech.mechanics import hamilton_jacobi
    >>> from nhmech.systems import load_system
    >>> hamilton_jacobi(load_system("vertical_disk"), {"theta1'": 0.7, "theta2'": 2.0}).is_solution
    True
    """
    constrained = require_constrained(constrained)
    constrained.require_distribution("hamilton_jacobi")
    constrained.require_ideal("hamilton_jacobi")
    require_scleronomic("hamilton_jacobi", constrained)
    system = constrained.system
    if not system.force.is_zero():
        raise MechanicsError("hamilton_jacobi needs a system without forces: put a potential into "
                             "the Lagrangian")
    frame = adapted_frame(constrained, tuple(field))
    named, space, E = symbols(system), system.algebroid, frame.E
    xi = ca.vertcat(ca.SX(0, 1), *[
        read_expression(f"the field along {name!r}", value(named) if callable(value) else value,
                        system) for name, value in ((name, field[name]) for name in frame.names)])
    if ca.depends_on(ca.densify(xi), ca.vertcat(system.v, system.t)):
        raise MechanicsError("the field may depend only on q and parameters")
    X = ca.densify(E @ xi)
    gamma, energy = (ca.densify(ca.substitute(part, system.v, X))
                     for part in (system.momentum, system.energy))

    def along(f: ca.SX, a: int) -> ca.SX:
        return ca.jtimes(f, system.q, ca.densify(space.anchor @ E[:, a]))

    n = frame.nxi
    closed = [along(ca.dot(gamma, E[:, b]), a) - along(ca.dot(gamma, E[:, a]), b)
              - ca.dot(gamma, bracket(space, E[:, a], E[:, b]))
              for a, b in combinations(range(n), 2)]
    level = [along(energy, a) for a in range(n)]
    rate = gibbs_appell(constrained, frame=frame).drift(system.t, system.q, xi, system.u,
                                                        system.theta)[1]
    moved = ca.jtimes(xi, system.q, ca.densify(space.anchor @ X))
    evaluate = ca.Function("defects", [system.t, system.q, system.u, system.theta], [
        ca.densify(ca.vertcat(ca.SX(0, 1), *part)) for part in (closed, level, [rate - moved])])
    worst: np.ndarray = np.zeros(3)
    none = np.zeros(system.u.numel())
    for q in constrained.configurations:
        out = evaluate(constrained.moment, q, none, constrained.parameters)
        worst = np.maximum(worst, [np.abs(part.full()).max(initial=0.0) for part in out])
    if not np.isfinite(worst).all():
        raise MechanicsError("the field is not finite at every sample configuration: give "
                             "configurations at which it is as `samples`")
    return HamiltonJacobi(*map(float, worst))
