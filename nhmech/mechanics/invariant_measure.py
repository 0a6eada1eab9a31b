"""Measures that a motion keeps: a density of the configuration over the phase space of D."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

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
ROUNDING = 1e-13    # changes of a density below this part of all other changes count as none


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
        q -> fields X of D and of its iterated brackets, in `units` of the coordinates, above
        X(ln N), (nq + 1, k).
    units
        (nq,) how far each coordinate goes while directions turn and densities change.
    """

    constrained: ConstrainedSystem
    trace: ca.Function
    closed: float
    fields: ca.Function
    units: np.ndarray

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
        way = (end - begin) / self.units
        length = float(np.linalg.norm(way)) or 1.0

        def rate(_: float, y: np.ndarray) -> np.ndarray:
            """Of the way so far, with ends 1 apart, and of ln N."""
            fields = self.fields(begin + length * self.units * y[:-1]).full()
            size = np.linalg.norm(fields[:-1], axis=0)
            fields = fields[:, size > 0] / size[size > 0]
            fields[-1] *= length
            return fields @ np.linalg.lstsq(fields[:-1], way / length - y[:-1], rcond=ZERO)[0]

        path = solve_ivp(rate, (0.0, LENGTH), np.zeros(len(way) + 1), method="DOP853", rtol=1e-13,
                         atol=1e-14).y[:, -1]
        if not np.linalg.norm(way / length - path[:-1]) <= ARRIVED:
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
    return find_density(constrained, _divergence(gibbs_appell(constrained, speeds)))


class Divergence(NamedTuple):
    """The motion and its divergence, a function of q and of scaled speeds eta (nxi,), xi = unit
    eta.

    Attributes
    ----------
    eta, unit
        The speeds, and units (nxi,) of xi in which each has the same kinetic energy.
    columns
        dq/dt, and minus the divergence, (nq + 1,).
    terms
        Size of what cancels in it.
    brackets
        Size of the brackets of constant sections, (k,).
    """

    eta: ca.SX
    unit: ca.DM
    columns: ca.SX
    terms: ca.SX
    brackets: ca.SX


def find_density(constrained: ConstrainedSystem, found: Divergence) -> InvariantMeasure:
    """Whether there is a density N(q) with d ln N / dt = -divergence, and which."""
    q, points, eta = constrained.system.q, constrained.configurations, found.eta
    still, speed = np.zeros(eta.numel()), np.random.default_rng(0).normal(size=eta.numel())
    drift, moving = (ca.substitute(part, eta, still)
                     for part in (found.columns, ca.jacobian(found.columns, eta)))
    spread = np.std(points, axis=0)[:, None]
    spread[spread == 0] = 1.0
    sizes = ca.Function("sizes", [q, eta], [
        found.columns[-1] - drift[-1] - moving[-1, :] @ eta, found.terms,
        ca.vertcat(found.brackets, found.columns[:-1, :] / spread)], {"cse": True})
    # what is still has its own rate
    (_, *drifting), (off, *moved) = (
        [float(np.abs(part.full()).max(initial=0.0))
         for part in sizes.map(len(points))(points.T, at)] for at in (still, speed))
    slow, fast = (rate if rate > ROUNDING * change else change or 1.0
                  for rate, change in (drifting, moved))
    fields = ca.horzcat(drift / slow, moving / fast)
    fields = fields[:, [i for i in range(fields.shape[1]) if not fields[:, i].is_zero()]]
    units = np.median(np.linalg.norm(at_samples(
        constrained, ca.densify(fields[:-1, :])), axis=2), axis=0)
    units[units == 0] = 1.0
    closure = ca.Function("fields", [q], [ca.densify(bracket_closure(
        _lifted_space(constrained.system.algebroid, units), fields / np.r_[units, 1.0],
        np.column_stack([points, np.zeros(len(points))])) if fields.shape[1] else fields)],
        {"cse": True})
    return InvariantMeasure(
        constrained, ca.Function("Theta", [q], [ca.densify(ca.vertcat(
            drift[-1], moving[-1, :].T / found.unit))]),
        max(off / fast, _defect(np.array([closure(point).full() for point in points]))),
        closure, units)


def _divergence(equations: Equations) -> Divergence:
    """Of the motion with respect to dq dp, at u = 0 and with numbers for parameters."""
    constrained, frame = equations.constrained, equations.frame
    system, theta = constrained.system, constrained.parameters
    E, mass = ca.substitute(system.expand(frame.E, system.mass_and_bias()[0]), [system.theta],
                            [ca.DM(theta)])
    if ca.depends_on(ca.densify(mass), system.v):
        raise MechanicsError("invariant_measure needs a kinetic energy that is quadratic in the "
                             "velocities")
    metric, eta = ca.densify(E.T @ mass @ E), ca.SX.sym("eta", frame.nxi)
    unit = equal_units(constrained, metric)
    metric, E = (unit @ unit.T) * metric, E @ ca.diag(unit)
    q_rate, xi_rate = equations.drift(system.t, system.q, unit * eta,
                                      np.zeros(system.u.numel()), theta)
    turning = ca.reshape(ca.jtimes(ca.vec(metric), system.q, q_rate), metric.shape)
    parts = [ca.jacobian(q_rate, system.q), ca.jacobian(xi_rate / unit, eta),
             solve_definite(metric, turning)]
    if ca.depends_on(ca.vertcat(q_rate, *map(ca.vec, parts)), system.t):
        raise MechanicsError("invariant_measure needs a system that does not depend on time")
    terms = sum((ca.sum1(ca.fabs(ca.vec(part))) for part in (ca.diag(parts[0]), *parts[1:])),
                ca.SX(0))
    brackets = ca.vertcat(*[(E @ eta).T @ c @ E for c in system.algebroid.structure])
    return Divergence(eta, unit, ca.vertcat(q_rate, -sum(map(ca.trace, parts), ca.SX(0))), terms,
                      ca.sqrt(ca.fabs(ca.trace(brackets.T @ mass @ brackets))))


def equal_units(constrained: ConstrainedSystem, metric: ca.SX) -> ca.DM:
    """Units (n,) of speeds in which each has the same kinetic energy, at a usual configuration."""
    return ca.DM(np.median(at_samples(constrained, ca.densify(ca.diag(metric))), axis=0) ** -0.5)


def _lifted_space(space: LieAlgebroid, units: np.ndarray) -> LieAlgebroid:
    """The tangent bundle of the configurations with one more coordinate, ln N; its frame is the
    unit of each coordinate."""
    names = (*space.q_names, "ln N")
    lifted = tangent_bundle(ca.vertcat(space.q, ca.SX.sym("lnN")), names)
    return replace(lifted, anchor=ca.SX(ca.diag(ca.DM(np.r_[units, 1.0]))), circles=space.circles,
                   quaternions=space.quaternions)


def _defect(values: np.ndarray) -> float:
    """Residual at m points of X_k(ln N) = Theta_k, for columns (X_k, Theta_k) of (m, nq + 1, n),
    relative to each column."""
    if not values.size:
        return 0.0
    size = np.median(np.linalg.norm(values, axis=1), axis=0)
    values = np.divide(values, size, out=np.zeros_like(values), where=size > 0)
    return max(float(np.abs(point[:-1].T @ np.linalg.lstsq(point[:-1].T, point[-1], rcond=ZERO)[0]
                            - point[-1]).max()) for point in values)
