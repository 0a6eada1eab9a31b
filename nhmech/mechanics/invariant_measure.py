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
from .frame import at_samples
from .gibbs_appell import gibbs_appell
from .symmetry import ZERO
from .system import ConstrainedSystem, HasConstrained, require_constrained

LENGTH = 36.0       # of the parameter of a path whose distance to its end decays as exp(-s)
ARRIVED = 1e-9      # distance of a path's last point from its end, relative to that of its ends


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
        Residual of the conditions on ln N, relative to the terms of Theta; 0 if they are
        integrable.
    fields
        q -> fields X of D and of its iterated brackets, in coordinates, above X(ln N), (nq + 1, k).
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
        """N(q) / N(origin), along a path that is tangent to D and its iterated brackets.

        Raises
        ------
        MechanicsError
            Where there is no such density, or no such path is found.
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

        path = solve_ivp(rate, (0.0, LENGTH), np.r_[begin, 0.0], method="DOP853", rtol=1e-13,
                         atol=1e-14).y[:, -1]
        if not np.linalg.norm(end - path[:-1]) <= ARRIVED * np.linalg.norm(end - begin):
            raise MechanicsError("no path was found between the two configurations along which the "
                                 "constraints allow motion; choose others, or nearer ones")
        return float(np.exp(path[-1]))


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
    symmetry does not: the density of a sleigh with an odometer is exponential in its reading.
    Sources: Kozlov, Regular and Chaotic Dynamics 3 (1988) 23; Zenkov and Bloch, Nonlinearity 16
    (2003) 1793; Fedorov, Garcia-Naranjo and Marrero, J. Nonlinear Science 25 (2015) 203.

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
    q, points = constrained.system.q, constrained.configurations
    eta = ca.SX.sym("eta", equations.frame.nxi)
    unit, columns, terms = _divergence(equations, eta)
    still = ca.SX.zeros(eta.shape)
    above = ca.densify(ca.horzcat(ca.substitute(columns, eta, still),
                                  ca.substitute(ca.jacobian(columns, eta), eta, still)))
    rest = columns[-1] - above[-1, :] @ ca.vertcat(1, eta)
    sizes = ca.Function("sizes", [q, eta], [rest, terms], {"cse": True})
    speed = np.random.default_rng(0).normal(size=eta.numel())
    off, scale = (max(float(np.abs(part.full()).max(initial=0.0)) for part in parts)
                  for parts in zip(*(sizes(point, speed) for point in points)))
    scale = scale or 1.0
    measured = ca.vertcat(above[:-1, :], above[-1, :] / scale)
    measured = measured[:, [i for i in range(above.shape[1]) if not above[:, i].is_zero()]]
    found = ca.densify(bracket_closure(
        _lifted_space(constrained.system.algebroid), measured,
        np.column_stack([points, np.zeros(len(points))])) if measured.shape[1] else measured)
    evaluate = ca.Function("fields", [q], [found], {"cse": True})
    defect = _defect(np.array([evaluate(point).full() for point in points]))
    return InvariantMeasure(
        constrained, ca.Function("Theta", [q], [ca.densify((above[-1, :] / unit).T)]),
        max(off / scale, defect),
        ca.Function("fields", [q], [ca.vertcat(found[:-1, :], scale * found[-1, :])],
                    {"cse": True}))


def _divergence(equations: Equations, eta: ca.SX) -> tuple[ca.DM, ca.SX, ca.SX]:
    """Units (1, 1 + nxi) of time and of xi, and in these, at u = 0 and with numbers for parameters:
    dq/dt and minus the divergence of the motion with respect to dq dp, (nq + 1,), and the size of
    the terms that cancel in it. A unit of each xi has the same kinetic energy."""
    constrained, frame = equations.constrained, equations.frame
    system, theta = constrained.system, constrained.parameters
    E, mass = ca.substitute(system.expand(frame.E, system.mass_and_bias()[0]), [system.theta],
                            [ca.DM(theta)])
    if ca.depends_on(ca.densify(mass), system.v):
        raise MechanicsError("invariant_measure needs a kinetic energy that is quadratic in the "
                             "velocities")
    metric = ca.densify(E.T @ mass @ E)
    fibre, own = (np.sqrt(np.median(at_samples(constrained, ca.densify(ca.diag(part))), axis=0))
                  for part in (mass, metric))
    reach = np.abs(at_samples(constrained, ca.densify(system.algebroid.anchor @ E))
                   / own.T).max(initial=0.0) or 1.0
    fibre, unit = reach * fibre, 1 / (reach * own)
    q_rate, xi_rate = equations.drift(system.t, system.q, unit * eta,
                                      np.zeros(system.u.numel()), theta)
    metric = (unit @ unit.T) * metric
    turning = ca.reshape(ca.jtimes(ca.vec(metric), system.q, q_rate), metric.shape)
    parts = [ca.jacobian(q_rate, system.q), ca.jacobian(xi_rate / unit, eta),
             solve_definite(metric, turning)]
    if ca.depends_on(ca.vertcat(q_rate, *map(ca.vec, parts)), system.t):
        raise MechanicsError("invariant_measure needs a system that does not depend on time")
    massive = np.divide(1.0, fibre, out=np.zeros_like(fibre), where=fibre > 0)
    brackets = [size[0] * (massive @ massive.T) * c
                for size, c in zip(fibre, system.algebroid.structure)]
    # rates of coordinates and brackets count where all other terms are rounding errors
    terms = sum((ca.sum1(ca.fabs(ca.vec(part))) for part in (
        ca.diag(parts[0]), *parts[1:], q_rate, *brackets)), ca.SX(0))
    return (ca.DM(np.r_[1.0, unit.ravel()]).T,
            ca.vertcat(q_rate, -sum(map(ca.trace, parts), ca.SX(0))), terms)


def _lifted_space(space: LieAlgebroid) -> LieAlgebroid:
    """The tangent bundle of the configurations with one more coordinate, ln N."""
    names = (*space.q_names, "ln N")
    lifted = tangent_bundle(ca.vertcat(space.q, ca.SX.sym("lnN")), names)
    return replace(lifted, circles=space.circles, quaternions=space.quaternions)


def _defect(values: np.ndarray) -> float:
    """Residual at m points of X_k(ln N) = Theta_k, for columns (X_k, Theta_k) of (m, nq + 1, n),
    relative to each column."""
    if not values.size:
        return 0.0
    size = np.median(np.linalg.norm(values, axis=1), axis=0)
    values = np.divide(values, size, out=np.zeros_like(values), where=size > 0)
    return max(float(np.abs(point[:-1].T @ np.linalg.lstsq(point[:-1].T, point[-1], rcond=ZERO)[0]
                            - point[-1]).max()) for point in values)
