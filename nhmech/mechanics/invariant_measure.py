"""Measures that a motion keeps: a density of the configuration over the phase space of D."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments, read_vector
from ..ctrl_c import hear_ctrl_c
from ..errors import MechanicsError
from .algebroid import LieAlgebroid, tangent_bundle
from .brackets import bracket_closure
from .equations import Equations, solve_definite
from .gibbs_appell import gibbs_appell
from .symmetry import ZERO
from .system import ConstrainedSystem, HasConstrained, require_constrained

WAY = 36.0          # exp(-WAY) is rounding: what is left of a way that shrinks by itself
ARRIVED = 1e-9      # distance from the end of a way, relative to its length


@dataclass(frozen=True)
class InvariantMeasure:
    """Whether N(q) dq dp is kept, p = dL/dxi, and the density N.

    Attributes
    ----------
    constrained
        The system.
    trace
        q -> Theta (1 + nxi,): minus the divergence of the motion with respect to dq dp is Theta_0 +
        Theta_a xi^a.
    closed
        How far the conditions on ln N are from being integrable, relative to the terms of Theta.
    fields
        q -> the fields X of D and of its iterated brackets, in coordinates, and below them the
        values of X(ln N), (nq + 1, k).
    """

    constrained: ConstrainedSystem
    trace: ca.Function
    closed: float
    fields: ca.Function

    def __repr__(self) -> str:
        kept = "N(q) dq dp is kept" if self.has_measure else "no measure N(q) dq dp is kept"
        return f"<InvariantMeasure: {kept}>"

    @property
    def has_measure(self) -> bool:
        """Whether there is a density N(q), locally."""
        return self.closed <= ZERO

    def density(self, q: ArrayLike, origin: ArrayLike) -> float:
        """N(q) / N(origin), along a way between them that iterated brackets of D allow.

        Raises
        ------
        MechanicsError
            Where there is no such density, or no such way.
        """
        from scipy.integrate import solve_ivp

        if not self.has_measure:
            raise MechanicsError("no density of q alone is invariant: the conditions on it fail "
                                 f"by {self.closed:.3g}")
        names = self.constrained.system.algebroid.q_names
        end, begin = read_vector("q", q, names), read_vector("origin", origin, names)

        def rate(_: float, y: np.ndarray) -> np.ndarray:
            fields = self.fields(y[:-1]).full()
            return fields @ np.linalg.lstsq(fields[:-1], end - y[:-1], rcond=ZERO)[0]

        way = solve_ivp(rate, (0.0, WAY), np.r_[begin, 0.0], method="DOP853", rtol=1e-13,
                        atol=1e-14).y[:, -1]
        if not np.linalg.norm(end - way[:-1]) <= ARRIVED * np.linalg.norm(end - begin):
            raise MechanicsError("no way was found between the two configurations along which the "
                                 "motion decides the density; choose others")
        return float(np.exp(way[-1]))


@check_arguments
@hear_ctrl_c()
def invariant_measure(constrained: HasConstrained,
                      speeds: Sequence[str] | None = None) -> InvariantMeasure:
    """Whether a motion keeps a measure with a density of the configuration, without its inputs.

    With respect to dq dp, p_a = dL/dxi^a, the motion has the divergence -(Theta_0 + Theta_a xi^a)::

        X_a(ln N) = Theta_a,   X_0(ln N) = Theta_0,   X_a = rho E_a, X_0 = rho e0

    for N(q) dq dp to be kept, on D and on all that brackets of the X reach: [X_a, X_b](ln N) =
    X_a(Theta_b) - X_b(Theta_a), and so on. Where there is none, a kinetic Lagrangian with linear
    constraints keeps no other smooth measure either. A system may keep one that its quotient by a
    symmetry does not: the density of a sleigh with an odometer grows with the way. Sources:
    Kozlov, Regular and Chaotic Dynamics 3 (1988) 23; Zenkov and Bloch, Nonlinearity 16 (2003) 1793;
    Fedorov, Garcia-Naranjo and Marrero, J. Nonlinear Science 25 (2015) 203.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    speeds
        Names of xi; chosen by conditioning if None.

    Raises
    ------
    MechanicsError
        For holonomic and nonlinear constraints, what depends on time, and a kinetic energy that is
        not quadratic in the velocities.

    Examples
    --------
    >>> from nhmech.mechanics import invariant_measure
    >>> from nhmech.systems import load_system
    >>> invariant_measure(load_system("chaplygin_sleigh"))
    <InvariantMeasure: no measure N(q) dq dp is kept>
    """
    constrained = require_constrained(constrained)
    constrained.require_distribution("invariant_measure")
    constrained.require_linear("invariant_measure")
    if constrained.distribution.phi.numel():
        raise MechanicsError("invariant_measure needs a system without holonomic constraints: "
                             "write it in coordinates of its manifold")
    equations = gibbs_appell(constrained, speeds)
    system, xi = constrained.system, ca.SX.sym("xi", equations.frame.nxi)
    q, still = system.q, ca.SX.zeros(xi.shape)
    fields, minus, terms = _divergence(equations, xi)
    fields = ca.horzcat(ca.substitute(fields, xi, still), ca.jacobian(fields, xi))
    trace = ca.horzcat(ca.substitute(minus, xi, still), ca.jacobian(minus, xi))
    linear = ca.substitute(trace, xi, still)
    rest = minus - linear @ ca.vertcat(1, xi)
    columns = [i for i in range(trace.numel()) if not (fields[:, i].is_zero()
                                                       and linear[i].is_zero())]
    above = ca.densify(ca.vertcat(fields, linear)[:, columns])
    points = constrained.configurations
    found = bracket_closure(_lifted_space(system.algebroid), above, np.column_stack(
        [points, np.zeros(len(points))])) if columns else ca.SX(q.numel() + 1, 0)
    evaluate = ca.Function("fields", [q], [ca.densify(found)], {"cse": True})
    sizes = ca.Function("sizes", [q, xi], [rest, terms], {"cse": True})
    speed = np.random.default_rng(0).normal(size=xi.numel())
    off, scale = (max(float(np.abs(part.full()).max(initial=0.0)) for part in parts)
                  for parts in zip(*(sizes(point, speed) for point in points)))
    defect = max(off, _defect(np.array([evaluate(point).full() for point in points])))
    return InvariantMeasure(constrained, ca.Function("Theta", [q], [ca.densify(linear.T)]),
                            defect / (scale or 1.0), evaluate)


def _divergence(equations: Equations, xi: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """dq/dt (nq,), minus the divergence of the motion with respect to dq dp, and the size of what
    it is made from, at u = 0 and with numbers for parameters."""
    constrained, frame = equations.constrained, equations.frame
    system, theta = constrained.system, constrained.parameters
    q_rate, xi_rate = equations.drift(system.t, system.q, xi, np.zeros(system.u.numel()), theta)
    mass, E = ca.substitute(system.expand(system.mass_and_bias()[0], frame.E), [system.theta],
                            [ca.DM(theta)])
    if ca.depends_on(ca.densify(mass), system.v):
        raise MechanicsError("invariant_measure needs a kinetic energy that is quadratic in the "
                             "velocities")
    metric = ca.densify(E.T @ mass @ E)
    turning = ca.reshape(ca.jtimes(ca.vec(metric), system.q, q_rate), metric.shape)
    parts = [ca.jacobian(q_rate, system.q), ca.jacobian(xi_rate, xi),
             solve_definite(metric, turning)]
    if ca.depends_on(ca.vertcat(q_rate, *map(ca.vec, parts)), system.t):
        raise MechanicsError("invariant_measure needs a system that does not depend on time")
    return (q_rate, -sum(map(ca.trace, parts), ca.SX(0)),
            sum((ca.sum1(ca.fabs(ca.vec(part))) for part in (*parts, *system.algebroid.structure)),
                ca.SX(0)))


def _lifted_space(space: LieAlgebroid) -> LieAlgebroid:
    """The tangent bundle of the configurations with one more coordinate, ln N."""
    names = (*space.q_names, "ln N")
    lifted = tangent_bundle(ca.vertcat(space.q, ca.SX.sym("lnN")), names)
    return replace(lifted, circles=space.circles, quaternions=space.quaternions)


def _defect(values: np.ndarray) -> float:
    """How far fields (m, nq + 1, k) at m points are from X_k(ln N) = their last row."""
    if not values.size:
        return 0.0
    values = values / np.median(np.linalg.norm(values, axis=1), axis=0)
    return max(float(np.abs(point[:-1].T @ np.linalg.lstsq(point[:-1].T, point[-1], rcond=ZERO)[0]
                            - point[-1]).max()) for point in values)
