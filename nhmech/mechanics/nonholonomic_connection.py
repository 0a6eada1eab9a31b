"""The nonholonomic connection: velocities split into those of the base and along the group, and the
equations of motion with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from ..checks import check_arguments
from ..errors import REPR, listed
from .algebroid import bracket
from .equations import solve_definite
from .momentum import Coefficients, nonholonomic_momentum
from .natural import require_natural
from .reduction import base_frame
from .symmetry import Symmetry


@dataclass(frozen=True, eq=False)
class NonholonomicConnection:
    """D split into the group's sections in it and their complement, orthogonal by kinetic energy.

    v = E_hor xi + E_ver I_lock^-1 p, with E_hor = E_xi - E_ver A_nhc, E_xi the columns of an
    adapted frame for xi: A_nhc are the coefficients of the connection, I_lock the locked inertia,
    p = E_ver^T dL/dv the momenta. Everything is symbolic in (q, theta), but `drift`.

    Attributes
    ----------
    names, momenta
        Of xi, of p.
    coefficients
        A_nhc (s, n).
    horizontal, vertical
        E_hor (nv, n), E_ver (nv, s).
    inertia, metric
        I_lock = E_ver^T M E_ver (s, s), and E_hor^T M E_hor (n, n), positive definite.
    velocity
        (q, xi, p, theta) -> v.
    drift
        (q, xi, p, u, theta) -> dq/dt, dxi/dt, dp/dt.
    """

    names: tuple[str, ...]
    momenta: tuple[str, ...]
    coefficients: ca.SX
    horizontal: ca.SX
    vertical: ca.SX
    inertia: ca.SX
    metric: ca.SX
    velocity: ca.Function
    drift: ca.Function

    def __repr__(self) -> str:
        return (f"<NonholonomicConnection over {listed(self.names, REPR)}, momenta of "
                f"{listed(self.momenta, REPR)}>")


@check_arguments
def nonholonomic_connection(symmetry: Symmetry, speeds: Sequence[str] | None = None,
                            sections: Mapping[str, Coefficients] | None = None,
                            ) -> NonholonomicConnection:
    """The reduced equations of Lagrange and d'Alembert, split into those of base and group.

    With L_c(q, xi, p) = L on D::

        d/dt (E_hor^T M E_hor xi)_a = X_a(L_c) - <dL/dv, [X_a, v]> + tau . X_a
        dp_b/dt                     = Y_b(L_c) - <dL/dv, [Y_b, v]> + tau . Y_b

    X_a, Y_b the columns of E_hor, E_ver and v = E_hor xi + E_ver I_lock^-1 p: the second is the
    momentum equation, and no rate of one enters the other. Source: Bloch, Krishnaprasad, Marsden
    and Murray, Arch. Rational Mech. Anal. 136 (1996) 21, theorem 5.1 and section 5.3; for
    v = E_hor xi paper 004, eq. (22), for p alone eq. (24).

    Parameters
    ----------
    symmetry
        From `symmetry` or `find_symmetry`.
    speeds
        Fibre coordinates that are base velocities, as for `chaplygin`.
    sections
        Of g^D, as for `nonholonomic_momentum`.

    Raises
    ------
    MechanicsError
        Where no section lies in D, for constraints that are affine or move, and for a Lagrangian
        that is no T - V.
    """
    constrained, system = symmetry.constrained, symmetry.constrained.system
    constrained.require_ideal("nonholonomic_connection")
    mass, space = require_natural("nonholonomic_connection", constrained), system.algebroid
    lagrangian = system.lagrangian
    found = nonholonomic_momentum(symmetry, sections)
    Y = ca.densify(symmetry.generators @ found.coefficients)
    n = symmetry.dim_motion - Y.shape[1]
    frame = base_frame(symmetry, speeds, n, Y.shape[1])
    B = frame.E[:, :n]
    inertia = ca.densify(Y.T @ mass @ Y)
    A = solve_definite(inertia, ca.densify(Y.T @ mass @ B))
    X = ca.densify(B - Y @ A)
    metric = ca.densify(X.T @ mass @ X)
    xi = ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in frame.names[:n]])
    p = ca.vertcat(*[ca.SX.sym(f"p_{name}") for name in found.names])
    omega = solve_definite(inertia, p)
    V = ca.densify(X @ xi + Y @ omega)
    q_rate = space.anchor @ V
    full = ca.substitute(system.momentum, system.v, V)
    tau = ca.substitute(system.force, system.v, V)

    def force(column: ca.SX) -> ca.SX:
        """X(L_c) at constant components of V in (X, Y), less the bracket."""
        one = ca.SX.sym("one", xi.numel()), ca.SX.sym("two", omega.numel())
        l = ca.substitute(lagrangian, system.v, ca.densify(X @ one[0] + Y @ one[1]))
        along = ca.jtimes(l, system.q, space.anchor @ column)
        along = ca.substitute(along, ca.vertcat(*one), ca.densify(ca.vertcat(xi, omega)))
        held = sum((bracket(space, column, side[:, i]) * speed[i]
                    for side, speed in ((X, xi), (Y, omega)) for i in range(side.shape[1])),
                   ca.SX(space.nv, 1))
        return along - ca.dot(full, held) + ca.dot(tau, column)

    shape, group = (ca.vertcat(ca.SX(0, 1), *map(force, ca.horzsplit(side))) for side in (X, Y))
    turning = ca.jtimes(metric @ xi, system.q, q_rate)
    inputs = [system.q, xi, p, system.u, system.theta]
    return NonholonomicConnection(
        tuple(frame.names[:n]), found.names, A, X, Y, inertia, metric,
        ca.Function("velocity", [system.q, xi, p, system.theta], [V], {"cse": True}),
        ca.Function("drift", inputs, [ca.densify(q_rate),
                                      ca.densify(solve_definite(metric, shape - turning)),
                                      ca.densify(group)], {"cse": True}))
