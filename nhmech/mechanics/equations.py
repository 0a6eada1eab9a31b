"""`Equations`, the result of every equation former, and functions that build it."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import REPR, MechanicsError, listed
from ..symbolic.document import Section, to_latex, to_notebook, to_text
from ..symbolic.elimination import factorise
from ..symbolic.simplify import simplify
from .frame import AdaptedFrame
from .motion_printing import motion_sections
from .natural import require_finite
from .printing import Display, constraint_sections
from .samples import sample_points
from .system import ConstrainedSystem

AGREEMENT = 1e-12       # relative tolerance of simplified equations against the original ones


@dataclass(frozen=True, eq=False)
class Equations:
    """Equations of motion in quasi-velocities.

    All are of type `casadi.Function`, with (t, q, xi, u, theta) unless said otherwise.

    Attributes
    ----------
    frame
        The adapted frame they are written in.
    drift
        -> dq/dt (nq,), dxi/dt (nxi,).
    multipliers
        -> lambda (len(frame.kept),) of the kept rows: A^T lambda is the generalised reaction.
    velocity
        (t, q, xi, theta) -> v (nv,).
    acceleration
        -> dv/dt (nv,).
    names, units
        Names and units of xi.
    method
        Name of the equation former.
    """

    frame: AdaptedFrame
    drift: ca.Function
    multipliers: ca.Function
    velocity: ca.Function
    acceleration: ca.Function
    names: tuple[str, ...]
    units: tuple[str, ...]
    method: str

    def __repr__(self) -> str:
        return f"<Equations by {self.method} in the speeds {listed(self.names, REPR)}>"

    @property
    def constrained(self) -> ConstrainedSystem:
        """The system whose equations they are."""
        return self.frame.constrained

    def __str__(self) -> str:
        return to_text(self._sections(False))

    def _repr_latex_(self) -> str:
        return to_notebook(self._sections(True))

    def latex(self) -> str:
        """The equations as a complete LaTeX document."""
        return to_latex("Equations of motion", self._sections(True))

    def _sections(self, as_latex: bool) -> list[Section]:
        constrained = self.constrained
        display = Display(constrained.system, as_latex)
        return [*motion_sections(self.frame, display),
                *constraint_sections(constrained.distribution, constrained.parameters, display,
                                     constrained.invariant)]


def equations_of(method: str, frame: AdaptedFrame, xi: ca.SX, acceleration: ca.SX, lam: ca.SX, *,
                 simplified: bool = False) -> Equations:
    """Equations from dv/dt (nv,) and lambda, given as functions of (t, q, v, u, theta); here v = E
    xi + e0 is substituted. `simplified`: whether to spend time to reduce the operations of the
    drift."""
    system = frame.constrained.system
    v = frame.velocity(xi)
    rate = acceleration[list(frame.speeds), :]     # a column without speeds, too
    written = ca.substitute([system.q_rate, rate, lam, acceleration], [system.v], [ca.densify(v)])
    q_rate, xi_rate, lam, acceleration, v = (ca.densify(e) for e in system.expand(*written, v))
    inputs, names = [system.t, system.q, xi, system.u, system.theta], ["t", "q", "xi", "u", "theta"]
    options = {"cse": True}
    form = ca.Function("acceleration", inputs, [acceleration], names, ["a"], options)
    _check_determined(method, form, frame)
    drift = ca.Function("drift", inputs, [q_rate, xi_rate], names, ["q_rate", "xi_rate"], options)
    return Equations(
        frame,
        _choose_form(simplify(drift), drift, frame) if simplified else drift,
        ca.Function("multipliers", inputs, [lam], names, ["lam"], options),
        ca.Function("velocity", [system.t, system.q, xi, system.theta], [v],
                    ["t", "q", "xi", "theta"], ["v"], options),
        form, frame.names, frame.units, method)


def _check_determined(method: str, acceleration: ca.Function, frame: AdaptedFrame) -> None:
    """Raises `MechanicsError` unless the accelerations are finite at a sample configuration."""
    constrained = frame.constrained
    state = np.ones(frame.nxi), np.zeros(constrained.system.u.numel()), constrained.parameters
    if any(np.isfinite(acceleration(t, q, *state).full()).all()
           for t, q in zip(*sample_points(constrained))):
        return
    raise singular_error(method, constrained)


def singular_error(method: str, constrained: ConstrainedSystem) -> MechanicsError:
    """The error that the Hessian of L, reduced to the constraints, is singular. Raises
    `MechanicsError` where it is not finite."""
    require_finite(method, constrained)
    return MechanicsError(f"{method}: the accelerations are not determined, because the Hessian of "
                          "L is singular along the motions that the constraints allow; "
                          "constraint_algorithm(system) finds the further constraints and the "
                          "equations of such a system")


def _choose_form(short: ca.Function, long: ca.Function, frame: AdaptedFrame) -> ca.Function:
    """The short form, or the long one if they differ by more than `AGREEMENT` at a sample."""
    rng, constrained = np.random.default_rng(0), frame.constrained
    for t, q in zip(*sample_points(constrained)):
        xi, u = rng.normal(size=frame.nxi), rng.normal(size=constrained.system.u.numel())
        inputs = (t, q, xi, u, constrained.parameters)
        for a, b in zip(long.call(inputs), short.call(inputs)):
            a, b = a.full(), b.full()
            allowed = AGREEMENT * max(1.0, np.abs(a).max(initial=0.0))
            if np.all(np.isfinite(a)) and not np.abs(b - a).max(initial=0.0) <= allowed:
                return long
    return short


def speed_symbols(frame: AdaptedFrame) -> ca.SX:
    """Symbols for xi, (nxi,)."""
    return ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in frame.names])


def solve_definite(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """Solves matrix x = right for a symmetric positive definite matrix, with its diagonal entries
    as pivots."""
    n = matrix.shape[0]
    return factorise(matrix,
                     [(i, i) for i in range(n)]).solve(right) if n else ca.SX(0, right.shape[1])
