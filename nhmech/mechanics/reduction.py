"""Reduction by a symmetry: Chaplygin's of purely kinematic ones, and Routh's at a momentum value of
horizontal ones.

One convention for signs throughout. omega_L = -d theta_L = dq ^ dp, and the reduced equations are::

    i_X omega* = dE* - alpha,   equivalently   i_X omega = dE*,
    omega = omega* + 1/2 G_ab e^a ^ e^b,

with alpha_a = -G_ab xi^b the gyroscopic force as it stands on the right of Lagrange's equations:
alpha(X) = 0. This is paper 004, eqs. (21), (22). The alpha printed for its example VII.2 has the
other sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments, read_word
from ..errors import REPR, MechanicsError, listed
from .algebroid import bracket
from .base_space import BaseSpace, base_space, fixed_speeds
from .equations import Equations, solve_definite, speed_symbols
from .frame import AdaptedFrame, adapted_frame, at_samples
from .gibbs_appell import gibbs_appell
from .symmetry import HORIZONTAL, PURELY_KINEMATIC, ZERO, Symmetry
from .system import ConstrainedSystem


@dataclass(frozen=True)
class Reduction:
    """A system on the base Q/G, and the way back to Q.

    Attributes
    ----------
    symmetry
        The symmetry group G.
    base
        The reduced system, without constraints: lagrangian L* (or the Routhian), force alpha and
        what is left of tau.
    gyroscopic
        G (n, n), antisymmetric, in (t, base.q, base.v, theta): omega - omega*.
    alpha
        (n,) = -G xi, and of affine or moving rows their part of it, which does work.
    lift
        (t, q, xi, theta) -> dq/dt (nq,), v (nv,) on Q, from q and the reduced velocity xi = base.v.
    coordinates
        Indices of base.q in q.
    mu
        Momentum value (k,), zero for Chaplygin's reduction.
    """

    symmetry: Symmetry
    base: ConstrainedSystem
    gyroscopic: ca.SX
    alpha: ca.SX
    lift: ca.Function
    coordinates: tuple[int, ...]
    mu: np.ndarray

    def __repr__(self) -> str:
        return f"<Reduction by {listed(self.symmetry.names, REPR)}: {self.base!r}>"

    @property
    def constrained(self) -> ConstrainedSystem:
        """`base`, so that functions accept it where they accept a system."""
        return self.base

    def place(self, q: np.ndarray) -> np.ndarray:
        """base.q (base.nq,) of q."""
        return np.asarray(q)[list(self.coordinates)]

    def equations(self) -> Equations:
        """Equations of motion of the base, with xi in the order of `base.system.v`."""
        return gibbs_appell(self.base, self.base.system.algebroid.v_names)

    @property
    def omega_star(self) -> ca.SX:
        """omega* = -d theta*, theta* = dL*/dxi^a e^a, (2n, 2n) in the basis (e^1 .. e^n, dxi^1 ..
        dxi^n); closed."""
        system = self.base.system
        space, n, p = system.algebroid, system.v.numel(), system.momentum
        along = ca.jacobian(p, space.q) @ space.anchor                       # [b, a] = X_a(p_b)
        twist = sum((p[g] * c for g, c in enumerate(space.structure)), ca.SX(n, n))
        mass = ca.jacobian(p, system.v)
        return ca.densify(ca.blockcat([[along - along.T + twist, mass], [-mass.T, ca.SX(n, n)]]))

    @property
    def omega(self) -> ca.SX:
        """The reduced 2-form, (2n, 2n) in the same basis: not degenerate, and closed only where G
        is."""
        n = self.alpha.numel()
        return self.omega_star + ca.diagcat(self.gyroscopic, ca.SX(n, n))

    @property
    def energy_form(self) -> ca.SX:
        """dE* (2n,) in the same basis."""
        system = self.base.system
        return ca.vertcat(system.algebroid.anchor.T @ ca.gradient(system.energy, system.q),
                          ca.gradient(system.energy, system.v))


@check_arguments
def chaplygin(symmetry: Symmetry, speeds: Sequence[str] | None = None) -> Reduction:
    """Chaplygin's reduction by a purely kinematic symmetry.

    L*(t, r, xi) = L on horizontal velocities V = E xi + e0, with alpha_a = -<dL/dv, vertical part
    of [E_a, E_b]> xi^b - <dL/dv, [E_a, e0] - dE_a/dt>. The last term is that of affine and of
    moving rows; it does work.

    Source: paper 004, eqs. (20)-(22) and section VII.B; Koiller 1992. With affine rows, paper 000,
    eq. (3.4), and the connection of paper 003, section 2.

    Parameters
    ----------
    symmetry
        From `symmetry` or `find_symmetry`.
    speeds
        Fibre coordinates that are base velocities; those that no generator has a component along
        if None.

    Raises
    ------
    MechanicsError
        For a symmetry that is not purely kinematic, rows whose affine part moves the base, and
        speeds that are no base velocities: what then still depends on the group is named.
    """
    symmetry.require("Chaplygin reduction", PURELY_KINEMATIC)
    constrained = symmetry.constrained
    constrained.require_ideal("Chaplygin reduction")
    frame = adapted_frame(constrained, speeds or fixed_speeds(symmetry, symmetry.dim_motion))
    xi = speed_symbols(frame)
    velocity = ca.densify(frame.velocity(xi))
    lagrangian = ca.substitute(constrained.system.require_lagrangian("Chaplygin reduction"),
                               constrained.system.v, velocity)
    holonomic = [frame.nxi + i
                 for i, row in enumerate(frame.kept) if row in constrained.distribution.phi_rows]
    rest = ca.horzcat(symmetry.generators, frame.inverse[:, holonomic])
    return _reduce(symmetry, frame, rest, xi, velocity, lagrangian)


@check_arguments
def at_momentum(symmetry: Symmetry, mu: ArrayLike,
                speeds: Sequence[str] | None = None) -> Reduction:
    """Routh's reduction at the momentum value J = mu.

    R(r, xi) = L - mu . eta at v = B xi + S eta, with eta(r, xi) from <dL/dv, s_i> = mu_i.

    alpha_b = -<dL/dv, part of [B_b, B_c] along S and off D> xi^c carries the curvature of v -> xi:
    magnetic and nonholonomic terms. The energy of R is H_mu. Source: paper 004, eq. (23) and
    section VII.A, for abelian groups (G_mu = G).

    Parameters
    ----------
    symmetry
        From `symmetry` or `find_symmetry`.
    mu
        Momentum of each generator, (k,).
    speeds
        As for `chaplygin`.

    Raises
    ------
    MechanicsError
        For a symmetry that is not horizontal, whose group is not abelian (use `quotient`), forces
        along the group, a Lagrangian that is not quadratic along it, and speeds that are no base
        velocities.
    """
    symmetry.require("reduction at a momentum value", HORIZONTAL)
    constrained, S = symmetry.constrained, symmetry.generators
    system = constrained.system
    lagrangian = system.require_lagrangian("reduction at a momentum value")
    _require_linear("reduction at a momentum value", constrained)
    mu = np.asarray(mu, dtype=float)
    if mu.shape != (len(symmetry.names),):
        raise MechanicsError(f"the momentum value has shape {mu.shape}, the generators are "
                             f"{', '.join(symmetry.names)}")
    if not symmetry.abelian:
        raise MechanicsError(f"{', '.join(symmetry.names)} do not commute: reduce by `quotient`, "
                             "where the level J = mu is a symplectic leaf")
    if not (S.T @ system.force).is_zero():
        raise MechanicsError("a force acts along the group: its momentum is not conserved")
    n = symmetry.dim_motion - symmetry.dim_vertical
    frame = base_frame(symmetry, speeds, n, symmetry.dim_vertical)
    B, xi = frame.E[:, :n], speed_symbols(frame)[:n]
    p = system.momentum
    locked = S.T @ ca.jacobian(p, system.v) @ S
    if ca.depends_on(ca.densify(locked), system.v):
        raise MechanicsError("the Lagrangian is not quadratic along the group: J = mu has no "
                             "closed solution")
    eta = solve_definite(locked, ca.DM(mu) - S.T @ ca.substitute(p, system.v, ca.densify(B @ xi)))
    velocity = ca.densify(B @ xi + S @ eta)
    routhian = ca.substitute(lagrangian, system.v, velocity) - ca.dot(ca.DM(mu), eta)
    rest = ca.horzcat(S, frame.inverse[:, frame.nxi:])
    return replace(_reduce(symmetry, frame, rest, xi, velocity, routhian), mu=mu)


def base_frame(symmetry: Symmetry, speeds: Sequence[str] | None, base: int,
               group: int) -> AdaptedFrame:
    """A frame whose first speeds are `base` base velocities, and the others `group` more."""
    constrained, names = symmetry.constrained, symmetry.constrained.system.algebroid.v_names
    named = tuple(read_word("speed", name, names)
                  for name in speeds or fixed_speeds(symmetry, base) or ())
    if len(named) != base:
        raise MechanicsError(f"name the {base} fibre coordinates that are base velocities; there "
                             f"are {', '.join(names)}")
    chosen = adapted_frame(replace(constrained, preferred=(named,))).names
    others = tuple(name for name in chosen if name not in named)
    return adapted_frame(constrained, named + others[:group])


def _reduce(symmetry: Symmetry, frame: AdaptedFrame, rest: ca.SX, xi: ca.SX, velocity: ca.SX,
            lagrangian: ca.SX) -> Reduction:
    """In base coordinates, with B the first columns of E::

        d/dt(dl/dxi^b) = X_b(l) - C^g_bc xi^c dl/dxi^g - <p, part of [B_b, B_c] along `rest`> xi^c +
        tau . B_b - <p, [B_b, e0] - dB_b/dt>

    with the velocity B xi + e0, or at a momentum value B xi + S eta.
    """
    system, n = symmetry.constrained.system, xi.numel()
    v, B = system.v, frame.E[:, :n]
    space: BaseSpace = base_space(symmetry, B, rest, frame.names[:n], frame.units[:n])
    p = ca.substitute(system.momentum, v, velocity)
    G = ca.densify(space.outside(p))
    tau = ca.densify(B.T @ ca.substitute(system.force, v, velocity))
    drift = _moving_force(frame, B, p, space)
    reduced, G, tau, moving = space.onto_base({
        "the Lagrangian": lagrangian, "the gyroscopic 2-form": G, "the force": tau,
        "the force of the affine part": drift}, xi)
    alpha = moving - G @ xi
    base = system.transfer(space.algebroid, xi, ca.SX.sym("a", xi.numel()), reduced, alpha + tau)
    lift = ca.Function("lift", [system.t, system.q, xi, system.theta],
                       [ca.densify(system.algebroid.anchor @ velocity), velocity],
                       ["t", "q", "xi", "theta"], ["q_rate", "v"], {"cse": True})
    return Reduction(symmetry, space.constrained(base), G, alpha, lift, space.coordinates,
                     np.zeros(len(symmetry.names)))


def _moving_force(frame: AdaptedFrame, B: ca.SX, p: ca.SX, space: BaseSpace) -> ca.SX:
    """-<p, [B_b, e0] - dB_b/dt> (n,), of rows that are affine or move."""
    system = frame.constrained.system
    e0 = ca.densify(frame.velocity(ca.SX.zeros(frame.nxi)))
    shown = at_samples(frame.constrained, ca.densify(system.algebroid.anchor @ e0))
    moved = np.abs(shown[:, list(space.coordinates)]).max(initial=0.0)
    if moved > ZERO * np.abs(shown).max(initial=0.0):
        raise MechanicsError("the affine part of the constraints moves the base by itself, at "
                             f"{moved:.3g}: no velocity of the base is then zero; take base "
                             "velocities relative to it, or use `quotient`")
    return -ca.vertcat(ca.SX(0, 1), *[ca.dot(p, bracket(system.algebroid, column, e0)
                                             - ca.jtimes(column, system.t, ca.SX(1)))
                                      for column in map(ca.densify, ca.horzsplit(B))])


def _require_linear(method: str, constrained: ConstrainedSystem) -> None:
    constrained.require_ideal(method)
    d, t = constrained.distribution, constrained.system.t
    if not d.b.is_zero() or ca.depends_on(ca.densify(d.A), t):
        raise MechanicsError(f"{method} needs constraints that are linear in the velocities and do "
                             "not depend on time")
