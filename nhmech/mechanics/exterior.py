"""Exterior calculus on a Lie algebroid: forms of any degree, and their exterior derivative.

A form of degree k is {(a_1, ..., a_k): alpha(e_a1, ..., e_ak)} with a_1 < ... < a_k; a function is
{(): f}. Missing components are zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TypeAlias

import casadi as ca

from .algebroid import LieAlgebroid

Form: TypeAlias = Mapping[tuple[int, ...], ca.SX]


def one_form(components: ca.SX) -> Form:
    """The form with the given components (nv,)."""
    return {(a,): components[a] for a in range(components.numel())}


def two_form_matrix(algebroid: LieAlgebroid, form: Form) -> ca.SX:
    """Omega (nv, nv), antisymmetric, of a form of degree 2."""
    matrix = ca.SX.zeros(algebroid.nv, algebroid.nv)
    for (a, b), value in form.items():
        matrix[a, b], matrix[b, a] = value, -value
    return matrix


def exterior_derivative(algebroid: LieAlgebroid, form: Form, degree: int) -> Form:
    """d of a form of the given degree::

        d alpha(e_0, ..., e_k) = sum_i (-1)^i rho(e_i) alpha(..., e_i left out, ...)
                               + sum_i<j (-1)^(i+j) alpha([e_i, e_j], ..., both left out, ...)

    d d = 0 holds because the anchor is a morphism and Jacobi's identity holds.
    """
    found = {}
    for basis in combinations(range(algebroid.nv), degree + 1):
        total = ca.SX(0)
        for i, a in enumerate(basis):
            rest = basis[:i] + basis[i + 1:]
            if rest in form:
                along = ca.jtimes(form[rest], algebroid.q, algebroid.anchor[:, a])
                total += (-1) ** i * along
            for j in range(i + 1, len(basis)):
                both = rest[:j - 1] + rest[j:]
                for g, c in enumerate(algebroid.structure):
                    if not c[a, basis[j]].is_zero():
                        total += (-1) ** (i + j) * c[a, basis[j]] * component(form, (g, *both))
        if not total.is_zero():
            found[basis] = total
    return found


def component(form: Form, basis: tuple[int, ...]) -> ca.SX:
    """alpha(e_a1, ..., e_ak) for indices in any order."""
    order = sorted(basis)
    sign = (-1) ** sum(basis[i] > basis[j] for i, j in combinations(range(len(basis)), 2))
    return ca.SX(0) if len(set(basis)) < len(basis) else sign * form.get(tuple(order), ca.SX(0))
