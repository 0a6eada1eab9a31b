"""The two-forms of nonholonomic mechanics, whose kernel is the motion.

Source: paper 003 (Saunders, Sarlet, Cantrijn), sections 2 and 3, on a Lie algebroid instead of TQ,
with applied forces tau added. The correction found there to the printed multiplier formula is
lambda_a = Gamma(i* dL/dq'^a) - i* dL/dq^a.

Forms are coefficients, symbolic in CasADi, in the basis dt, e^1 ... e^nv, dw_1 ... dw_k, with w the
fibre coordinates in use: v, or xi on a constraint manifold. On a tangent bundle e^a = dq^a.
One-forms are columns (N,), two-forms antisymmetric matrices (N, N) with entries Omega(i, j), N = 1
+ nv + k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from ..checks import check_arguments
from ..errors import REPR, listed
from .algebroid import LieAlgebroid, product, tangent_bundle
from .connection import EhresmannConnection, ehresmann_connection
from .equations import Equations, solve_definite, speed_symbols
from .exterior import exterior_derivative, one_form, two_form_matrix
from .gibbs_appell import gibbs_appell
from .natural import require_regular
from .system import ConstrainedSystem, HasConstrained, LagrangianSystem, require_constrained


@dataclass(frozen=True)
class EvolutionSpace:
    """Coordinates t (), q (nq,), w (k,), the algebroid of q, and names of the basis one-forms."""

    algebroid: LieAlgebroid
    t: ca.SX
    w: ca.SX
    w_names: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the basis: dt, then dx for a velocity x' and e(name) for any other, then
        d(name)."""
        base = [f"d{name[:-1]}" if name.endswith("'") else f"e({name})"
                for name in self.algebroid.v_names]
        return ("dt", *base, *(f"d{name}" for name in self.w_names))

    @property
    def size(self) -> int:
        return 1 + self.algebroid.nv + self.w.numel()

    @property
    def whole(self) -> LieAlgebroid:
        """The algebroid over (t, q, w): only the brackets [e_a, e_b] = c^g_ab e_g are not zero."""
        return product(tangent_bundle(self.t, ["t"]), self.algebroid,
                       tangent_bundle(self.w, [f"({name})" for name in self.w_names]))

    def differential(self, f: ca.SX) -> ca.SX:
        """df of functions f (r,), one per row, (r, N): (df/dt, rho(e_a) f, df/dw)."""
        return ca.jacobian(ca.densify(f), self.whole.q) @ self.whole.anchor

    def exterior_derivative(self, form: ca.SX) -> ca.SX:
        """d alpha of a one-form, (N, N)."""
        whole = self.whole
        return two_form_matrix(whole, exterior_derivative(whole, one_form(form), 1))

    def one_form(self, dt: ca.SX | float = 0, e: ca.SX | None = None) -> ca.SX:
        """The semibasic one-form with these components of dt and of e^a (nv,), (N,)."""
        e = ca.SX.zeros(self.algebroid.nv) if e is None else e
        return ca.densify(ca.vertcat(ca.SX(dt), e, ca.SX.zeros(self.w.numel())))


def wedge(one: ca.SX, other: ca.SX) -> ca.SX:
    """alpha ^ beta of two one-forms (N,), with (alpha ^ beta)(X, Y) = alpha(X) beta(Y) - alpha(Y)
    beta(X)."""
    product = one @ other.T
    return product - product.T


def contract(field: ca.SX, form: ca.SX) -> ca.SX:
    """X _| Omega, the one-form Omega(X, .), (N,)."""
    return (field.T @ form).T


@dataclass(frozen=True)
class ConstraintForms:
    """Differential forms on the constraint manifold (t, q, xi) of one fibration.

    All are functions of (t, q, xi, u, theta).

    Attributes
    ----------
    names
        Basis one-forms, (N,), N = 1 + nv + nxi: dt, e^a (dq^a on a tangent bundle), dxi.
    connection
        The connection whose base velocities are xi.
    cartan
        i* d theta_L, (N, N).
    omega_bar
        i* d theta_L - dt ^ (tau + lambda_a eta^a), (N, N); does not depend on the fibration.
    omega_M
        d theta_Lbar - dt ^ (i* Psi(dL) - N(dLbar) + tau), (N, N); depends on it.
    sode
        The constrained motion Gamma = d/dt + v^a e_a + F d/dxi, (N,), which is in the kernel of
        both.
    reaction
        lambda_a eta^a, (N,), with eta^a = A^a_b e^b + b^a dt the rows of the distribution that are
        kept.
    """

    names: tuple[str, ...]
    connection: EhresmannConnection
    cartan: ca.Function
    omega_bar: ca.Function
    omega_M: ca.Function
    sode: ca.Function
    reaction: ca.Function

    def __repr__(self) -> str:
        return f"<ConstraintForms in {listed(self.names, REPR)}>"


def poincare_cartan(system: LagrangianSystem) -> tuple[EvolutionSpace, ca.SX]:
    """The evolution space (t, q, v) and theta_L = L dt + dL/dv^a (e^a - v^a dt), (1 + 2 nv,)."""
    lagrangian = system.require_lagrangian("the Cartan form")
    space = EvolutionSpace(system.algebroid, system.t, system.v, system.algebroid.v_names)
    momentum = ca.gradient(lagrangian, system.v)
    return space, space.one_form(lagrangian - ca.dot(momentum, system.v), momentum)


def cartan_form(system: LagrangianSystem) -> ca.Function:
    """d theta_L, (t, q, v, theta) -> (1 + 2 nv, 1 + 2 nv); the free motion without forces spans its
    kernel among the SODEs. Raises `MechanicsError` for a system without a Lagrangian."""
    space, theta = poincare_cartan(system)
    return ca.Function("cartan_form", [system.t, system.q, system.v, system.theta],
                       [space.exterior_derivative(theta)], {"cse": True})


@check_arguments
def constraint_forms(constrained: HasConstrained, *, base: Sequence[str] | None = None,
                     fibre: Sequence[str] | None = None,
                     former: Callable[..., Equations] = gibbs_appell) -> ConstraintForms:
    """The differential forms of a constrained system, for a chosen fibration.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    base, fibre
        As in `ehresmann_connection`.
    former
        The equation former that supplies Gamma and lambda.

    Raises
    ------
    MechanicsError
        For a system without a Lagrangian and for a fibration that the distribution is not
        horizontal to.
    """
    connection = ehresmann_connection(constrained, base=base, fibre=fibre)
    frame = connection.frame
    system, d = frame.constrained.system, frame.constrained.distribution
    xi, inputs = speed_symbols(frame), [system.t, system.q, system.u, system.theta]
    V = ca.densify(frame.velocity(xi))
    space = EvolutionSpace(system.algebroid, system.t, xi, frame.names)
    _, theta = poincare_cartan(system)
    # i* theta_L has no part in dxi
    pulled = ca.substitute(theta[:1 + V.numel()], system.v, V)
    cartan = space.exterior_derivative(space.one_form(pulled[0], pulled[1:]))

    equations = former(frame.constrained, frame=frame)
    at = (inputs[0], inputs[1], xi, inputs[2], inputs[3])
    lam, xi_rate, tau = (equations.multipliers(*at), equations.drift(*at)[1],
                         ca.substitute(system.force, system.v, V))
    dt, kept = space.one_form(1), list(frame.kept)
    reaction = space.one_form(ca.dot(lam, d.b[kept]), d.A[kept, :].T @ lam)
    omega_bar = cartan - wedge(dt, reaction + space.one_form(e=tau))
    omega_M = _fibred_form(connection, space, xi, V, tau)
    sode = ca.vertcat(1, V, xi_rate)

    def function(name: str, value: ca.SX) -> ca.Function:
        return ca.Function(name, list(at), [ca.densify(value)], ["t", "q", "xi", "u", "theta"],
                           [name], {"cse": True})

    return ConstraintForms(space.names, connection, function("cartan", cartan),
                           function("omega_bar", omega_bar),
                           function("omega_M", omega_M), function("sode", sode),
                           function("reaction", reaction))


def _fibred_form(connection: EhresmannConnection, space: EvolutionSpace, xi: ca.SX, V: ca.SX,
                 tau: ca.SX) -> ca.SX:
    """Omega_M = d theta_Lbar - dt ^ (p_a C^a_alpha theta^alpha - N(dLbar) + tau_alpha theta^alpha).

    theta^alpha = e^alpha - xi^alpha dt, p_a = i* dL/dv^a, C as in
    `EhresmannConnection.along_motion`, and N(dLbar) = (e_a(Lbar) + P_g c^g_ba v^b) eta^a with P =
    dLbar/dxi; the term in c vanishes on a tangent bundle.
    """
    system, fibre = connection.frame.constrained.system, list(connection.fibre)
    L = ca.substitute(system.require_lagrangian("the Legendre map"), system.v, V)
    P, p = ca.gradient(L, xi), ca.substitute(system.momentum, system.v, V)
    unit = ca.SX.eye(V.numel())
    # theta^alpha
    contact = [space.one_form(-xi[i], unit[:, a]) for i, a in enumerate(connection.base)]
    rows, affine = connection.forms
    eta = [space.one_form(affine[a], rows[a, :].T) for a in range(len(fibre))]
    theta = space.one_form(L) + sum((P[i] * form for i, form in enumerate(contact)),
                                    space.one_form())
    C, lifted = connection.along_motion(xi), connection.lift.T @ tau
    vertical = space.differential(L)[1:1 + V.numel()].T
    for i, g in enumerate(connection.base):
        # P_g c^g_ba v^b
        vertical += P[i] * (space.algebroid.structure[g].T @ V)
    semibasic = sum(((ca.dot(p[fibre], C[:, i]) + lifted[i]) * form
                     for i, form in enumerate(contact)),
                    space.one_form())
    semibasic -= sum((vertical[fibre[a]] * form for a, form in enumerate(eta)), space.one_form())
    return space.exterior_derivative(theta) - wedge(space.one_form(1), semibasic)


def transition(one: ConstraintForms, other: ConstraintForms) -> ca.Function:
    """T (N, N) of the change of coordinates xi -> xi' from one fibration to another of the same
    system, in (t, q, xi, theta).

    Columns are basis vectors of `one` in those of `other`: a form of `other` is T^T Omega T in the
    coordinates of `one`, Gamma' = T Gamma. Also returns xi'.
    """
    frame = one.connection.frame
    system, xi = frame.constrained.system, speed_symbols(frame)
    space = EvolutionSpace(system.algebroid, system.t, xi, frame.names)
    speeds = ca.densify(frame.velocity(xi))[list(other.connection.base)]
    same = space.size - xi.numel()              # dt and e^a are those of the other fibration
    T = ca.vertcat(ca.horzcat(ca.SX.eye(same), ca.SX.zeros(same, xi.numel())),
                   space.differential(speeds))
    return ca.Function("transition", [system.t, system.q, xi, system.theta], [T, speeds],
                       ["t", "q", "xi", "theta"], ["T", "xi_other"], {"cse": True})


def reaction_fields(constrained: ConstrainedSystem) -> ca.Function:
    """V^a = M^-1 A^T, (t, q, v, theta) -> (nv, m): Gamma_constrained = Gamma_free + lambda_a V^a
    (paper 003, theorem 3), all rows. Raises `MechanicsError` where M is singular at every sample.
    """
    constrained = require_constrained(constrained)
    system = constrained.system
    require_regular("the reaction field", constrained)
    constrained.require_ideal("the reaction field")
    field = solve_definite(system.mass_and_bias()[0], constrained.distribution.A.T)
    return ca.Function("reaction_fields", [system.t, system.q, system.v, system.theta],
                       [ca.densify(field)], {"cse": True})
