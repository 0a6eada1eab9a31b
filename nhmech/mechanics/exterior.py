"""Differential forms on the evolution space of a Lie algebroid, as coefficients in one basis and
symbolic in CasADi.

The basis one-forms are dt, e^1 ... e^nv, dw_1 ... dw_k, with w the fibre coordinates in use: v, or
xi on a constraint manifold. On a tangent bundle e^a = dq^a. One-forms are columns (N,), two-forms
antisymmetric matrices (N, N) with entries Omega(i, j), N = 1 + nv + k.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from .algebroid import LieAlgebroid


@dataclass(frozen=True)
class EvolutionSpace:
    """Coordinates t (), q (nq,), w (k,), the algebroid that moves q, and names of the basis
    one-forms."""

    algebroid: LieAlgebroid
    t: ca.SX
    w: ca.SX
    w_names: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the basis: dt, then dx for a velocity called x' and e(name) for any other, then
        d(name)."""
        base = [f"d{name[:-1]}" if name.endswith("'") else f"e({name})"
                for name in self.algebroid.v_names]
        return ("dt", *base, *(f"d{name}" for name in self.w_names))

    @property
    def size(self) -> int:
        return 1 + self.algebroid.nv + self.w.numel()

    def differential(self, f: ca.SX) -> ca.SX:
        """df of functions f (r,), one per row, (r, N): (df/dt, rho(e_a) f, df/dw)."""
        f = ca.densify(f)
        return ca.horzcat(ca.jacobian(f, self.t),
                          ca.jacobian(f, self.algebroid.q) @ self.algebroid.anchor,
                          ca.jacobian(f, self.w))

    def exterior_derivative(self, form: ca.SX) -> ca.SX:
        """d alpha (N, N): (d alpha)(i, j) = D_i alpha_j - D_j alpha_i - alpha([i, j]);
        of the brackets only [e_a, e_b] = c^g_ab e_g does not vanish.
        """
        nv = self.algebroid.nv
        D = self.differential(form)
        result = D.T - D
        for g, c in enumerate(self.algebroid.structure):
            result[1:1 + nv, 1:1 + nv] -= form[1 + g] * c
        return result

    def one_form(self, dt: ca.SX | float = 0, e: ca.SX | None = None) -> ca.SX:
        """The semibasic form dt-part and e-part (nv,), (N,)."""
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
