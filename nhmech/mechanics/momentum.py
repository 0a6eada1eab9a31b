"""Momentum maps, and the momentum equation of a nonholonomic system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..errors import REPR, InputError, MechanicsError, listed
from ..symbolic.elimination import factorise, pivot_order
from .frame import at_samples
from .selection import independent_rows, independent_speeds
from .symmetry import ZERO, Symmetry
from .writing import Symbols, read_expression, symbols

# s -> {name of a generator: coefficient}
Coefficients = Callable[[Symbols], Mapping[str, ca.SX]]


@dataclass(frozen=True)
class MomentumMap:
    """J_i = <dL/dv, s_i> of each generator, in the generators' order.

    Attributes
    ----------
    names
        Names of the generators.
    momentum
        (t, q, v, theta) -> J (k,).
    rate
        (t, q, v, u, reaction, theta) -> dJ/dt (k,) = s_i . (tau + reaction), with reaction = A^T
        lambda (nv,).
    """

    names: tuple[str, ...]
    momentum: ca.Function
    rate: ca.Function


@check_arguments
def momentum_map(symmetry: Symmetry) -> MomentumMap:
    """The momentum map of a Lagrangian symmetry; Noether's theorem is its `rate`.

    J is -<theta, xi_P> of paper 004, section VI.C, whose theta (omega = d theta) is minus the
    Cartan form S*(dL).

    Parameters
    ----------
    symmetry
        From `symmetry` or `find_symmetry`.
    """
    symmetry.constrained.require_distribution("momentum_map")
    s, S = symmetry.constrained.system, symmetry.generators
    reaction = ca.SX.sym("reaction", s.v.numel())
    return MomentumMap(
        symmetry.names,
        ca.Function("momentum", [s.t, s.q, s.v, s.theta],
                    [ca.densify(S.T @ s.momentum)], ["t", "q", "v", "theta"], ["J"]),
        ca.Function("momentum_rate", [s.t, s.q, s.v, s.u, reaction, s.theta],
                    [ca.densify(S.T @ (s.force + reaction))],
                    ["t", "q", "v", "u", "reaction", "theta"], ["J_rate"]))


@dataclass(frozen=True)
class NonholonomicMomentum:
    """The momenta J_f = <dL/dv, S f> of sections f of the bundle g^D.

    g^D = {xi : xi_Q in D}; there is one section for each column of f.

    Attributes
    ----------
    names
        Names of the sections.
    coefficients
        (k, n) f(t, q, theta): S f lies in D.
    momentum
        (t, q, v, theta) -> J_f (n,).
    rate
        (t, q, v, u, theta) -> dJ_f/dt (n,) on A v + b = 0.
    """

    names: tuple[str, ...]
    coefficients: ca.SX
    momentum: ca.Function
    rate: ca.Function

    def __repr__(self) -> str:
        return f"<NonholonomicMomentum of {listed(self.names, REPR)}>"


@check_arguments
def nonholonomic_momentum(symmetry: Symmetry,
                          sections: Mapping[str,
                                            Coefficients] | None = None) -> NonholonomicMomentum:
    """The nonholonomic momentum map and its momentum equation.

    d/dt J_f = <dL/dv, S df/dt> + tau . S f.

    No multiplier appears in it. Source: paper 004, eq. (24), X(J_f) = -(L_Xi theta)(X) with Xi = S
    f; forces added.

    Parameters
    ----------
    symmetry
        From `symmetry` or `find_symmetry`.
    sections
        Name -> s -> {name of a generator: coefficient}, a section of g^D each; if None, a basis
        of g^D whose sections have coefficient 1 on one generator each and 0 on the other generators
        that are free.

    Raises
    ------
    MechanicsError
        Where g^D is zero, for forces that reactions make, for an unknown generator, and for a
        section that leaves D, with the row it violates.
    """
    constrained, S = symmetry.constrained, symmetry.generators
    constrained.require_distribution("nonholonomic_momentum")
    constrained.require_ideal("nonholonomic_momentum")
    s, d = constrained.system, constrained.distribution
    if symmetry.dim_horizontal == 0:
        raise MechanicsError(f"no momentum equation: no combination of {', '.join(symmetry.names)} "
                             f"lies in the distribution ({symmetry.kind} symmetry)")
    names, f = _basis(symmetry) if sections is None else _write_coefficients(symmetry, sections)
    leaving = at_samples(constrained, ca.densify(d.A @ S @ f))
    size = np.abs(at_samples(constrained, d.A)).max(axis=(0, 2), initial=0.0)[:, None]
    terms = at_samples(constrained, ca.densify(ca.fabs(d.A) @ ca.fabs(S) @ ca.fabs(f)))
    wrong = np.argwhere(~(np.abs(leaving) <= ZERO * (size + terms)))
    if len(wrong):
        k, row, column = (int(n) for n in wrong[0])
        raise MechanicsError(f"section {names[column]!r} is not in the distribution: "
                             f"row {d.names[row]!r} is {leaving[k, row, column]:.3g} on it")
    p = s.momentum
    drift = ca.horzcat(*[s.rate(f[:, i]) for i in range(len(names))])
    return NonholonomicMomentum(
        names, f,
        ca.Function("momentum", [s.t, s.q, s.v, s.theta], [ca.densify((S @ f).T @ p)],
                    ["t", "q", "v", "theta"], ["J"]),
        ca.Function("momentum_rate", [s.t, s.q, s.v, s.u, s.theta],
                    [ca.densify((S @ drift).T @ p + (S @ f).T @ s.force)],
                    ["t", "q", "v", "u", "theta"], ["J_rate"]))


def _write_coefficients(symmetry: Symmetry,
                        sections: Mapping[str, Coefficients]) -> tuple[tuple[str, ...], ca.SX]:
    named = symbols(symmetry.constrained.system)
    if not sections:
        raise InputError("sections = {} must have one section or more; None takes a basis of g^D")
    f = ca.SX.zeros(len(symmetry.names), len(sections))
    for column, value in enumerate(sections.values()):
        for generator, coefficient in value(named).items():
            if generator not in symmetry.names:
                raise MechanicsError(f"no generator {generator!r}; there are "
                                     f"{', '.join(symmetry.names)}")
            f[symmetry.names.index(generator), column] = read_expression(
                f"the coefficient of {generator!r}", coefficient, symmetry.constrained.system)
    return tuple(sections), f


def _basis(symmetry: Symmetry) -> tuple[tuple[str, ...], ca.SX]:
    """Solutions of (A S) f = 0, for the generators that are well determined at every sample."""
    constrained, S, k = symmetry.constrained, symmetry.generators, len(symmetry.names)
    d, ones = constrained.distribution, np.ones(k)
    forms, terms = (at_samples(constrained, ca.densify(part))
                    for part in (d.A @ S, ca.fabs(d.A) @ ca.fabs(S)))
    binding = [i for i in range(d.m) if (np.abs(forms[:, i]) > ZERO * terms[:, i]).any()]
    named = [d.names[i] for i in binding]
    rows = ([binding[i] for i in independent_rows(forms[:, binding], ones, [0] * len(binding),
                                                  named)] if binding else [])
    free = independent_speeds(forms[:, rows], ones, symmetry.names, ())
    top = np.zeros((len(free), k))
    top[range(len(free)), free] = 1
    matrix = ca.vertcat(ca.SX(ca.sparsify(ca.DM(top))), (d.A @ S)[rows, :])
    samples = at_samples(constrained, ca.densify(matrix))
    pattern = np.array(ca.DM(matrix.sparsity(), 1).full(), dtype=bool)
    right = ca.vertcat(ca.SX.eye(len(free)), ca.SX(len(rows), len(free)))
    f = factorise(matrix, pivot_order(samples, pattern)).solve(right)
    return tuple(symmetry.names[i] for i in free), f
