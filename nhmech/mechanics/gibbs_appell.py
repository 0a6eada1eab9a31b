"""The Gibbs-Appell equations."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from .equations import Equations, equations_of, solve_definite, speed_symbols
from .frame import AdaptedFrame, adapted_frame
from .kept_equations import keep_equations
from .system import HasConstrained


@check_arguments
@hear_ctrl_c()
def gibbs_appell(constrained: HasConstrained, speeds: Sequence[str] | None = None, *,
                 frame: AdaptedFrame | None = None) -> Equations:
    """Equations of motion by Gibbs and Appell: dS/d(dxi/dt) = E^T tau.

    Here v = E xi + e0, and dv/dt is solved from Phi dv/dt = [dxi/dt; -gamma]. The reduced mass
    matrix is the Hessian of S in dxi/dt, the bias its gradient at dxi/dt = 0. The multipliers are
    the components of dS/da - tau along the rows, A^T lambda = dS/da - tau. Source: paper 002, eq.
    (17); Gibbs 1879, Appell 1899.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    speeds
        Names of the independent speeds; chosen by conditioning if None.
    frame
        An adapted frame, instead of `speeds`.

    Raises
    ------
    MechanicsError
        Where rows do not define a frame.
    InputError
        For speeds that do not determine the motion.

    Examples
    --------
    >>> equations = gibbs_appell(vehicle)
    >>> equations.names, equations.units
    (('left_wheel_joint', 'right_wheel_joint'), ('rad/s', 'rad/s'))
    """
    frame = adapted_frame(constrained, speeds) if frame is None else frame
    xi_rate = ca.SX.sym("xi_rate", frame.nxi)
    rate = frame.acceleration(xi_rate)                                   # dv/dt(t, q, v, dxi/dt)
    return keep_equations(frame, rate, xi_rate, lambda: _form(frame, rate, xi_rate))


def _form(frame: AdaptedFrame, rate: ca.SX, xi_rate: ca.SX) -> Equations:
    system, xi = frame.constrained.system, speed_symbols(frame)
    mass, gradient = ca.hessian(ca.substitute(system.gibbs, system.a, rate), xi_rate)
    bias = ca.substitute(gradient, xi_rate, ca.SX.zeros(frame.nxi))
    right = ca.densify(frame.E.T @ system.force) - bias
    if frame.friction is not None:
        # dS/da - tau = residual @ dxi/dt + rest; the reactions are `loads` of that
        balance = ca.substitute(ca.gradient(system.gibbs, system.a), system.a, rate) - system.force
        rest = ca.substitute(balance, xi_rate, ca.SX.zeros(frame.nxi))
        drag = frame.E.T @ frame.friction.forms
        mass = mass - drag @ (frame.friction.loads @ ca.jacobian(balance, xi_rate))
        right = right + drag @ (frame.friction.loads @ rest)
    solved = solve_definite(mass, right)
    acceleration = ca.substitute(rate, xi_rate, solved)
    return equations_of("gibbs_appell", frame, xi, acceleration, frame.multipliers(acceleration),
                        simplified=True)
