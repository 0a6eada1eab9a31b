"""Invariants of a symmetry that are not entries of q, and functions of q in terms of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from .algebroid import LieAlgebroid, rotation
from .symmetry import ZERO, Symmetry
from .symmetry_search import NOTHING, echelon, name_combination
from .system import ConstrainedSystem
from .writing import Symbols, read_expression, symbols

DEGREE = 4            # of the polynomials, at most
EXACT = 1e-13         # tolerance of a weight against a simple fraction
LARGEST = 10 ** 4     # denominator of such a fraction
PLACES = 120          # configurations from which those of the interpolation are chosen


@dataclass(frozen=True)
class Invariants:
    """Functions of q that no generator changes."""

    names: tuple[str, ...]
    functions: ca.SX  # (k,) of q and parameters
    symbols: ca.SX  # (k,) their symbols on the quotient

    @classmethod
    def of(cls, names: tuple[str, ...], functions: ca.SX) -> Invariants:
        return cls(names, functions, ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(n) for n in names]))


def given_invariants(symmetry: Symmetry,
                     functions: Mapping[str, Callable[[Symbols], ca.SX]]) -> Invariants:
    """Invariants given by name. Raises `MechanicsError` for one that a generator changes."""
    system = symmetry.constrained.system
    named = symbols(system)
    found = ca.vertcat(ca.SX(0, 1), *[read_expression(f"the invariant {name!r}", function(named),
                                                      system)
                                      for name, function in functions.items()])
    for name, rates, terms in zip(functions, *_changes(symmetry, found)):
        sizes = terms.max(axis=0)       # of each generator
        wrong = np.abs(rates).max(axis=0) > ZERO * sizes + NOTHING * sizes.max()
        if wrong.any():
            raise MechanicsError(f"{name!r} is no invariant: the generator "
                                 f"{symmetry.names[int(wrong.argmax())]!r} changes it")
    return Invariants.of(tuple(functions), found)


def find_invariants(symmetry: Symmetry, moved: list[int]) -> Invariants:
    """The combinations of the entries of rotation matrices that no generator changes, of the
    quaternions among the entries `moved` of q.

    They are named by an axis of space and one of the body: "z_x" is the component of the vertical
    along the body's x axis.
    """
    space = symmetry.constrained.system.algebroid
    names: list[str] = []
    entries: list[ca.SX] = []
    for i in space.quaternions:
        if i in moved:
            R, prefix = rotation(space.q[i:i + 4]), space.q_names[i].removesuffix("qx")
            names += [f"{prefix}{a}_{b}" for a, b in product("xyz", "xyz")]
            entries += [R[a, b] for a, b in product(range(3), range(3))]
    if not entries:
        return Invariants.of((), ca.SX(0, 1))
    candidates = ca.vertcat(*entries)
    _, sizes, vt = np.linalg.svd(_changes(symmetry, candidates)[0].reshape(len(entries), -1).T)
    rank = int((sizes > ZERO * sizes.max()).sum())
    if rank == len(entries):
        return Invariants.of((), ca.SX(0, 1))
    rows = echelon(vt[rank:])
    return Invariants.of(tuple(name_combination(row, names) for row in rows),
                         ca.SX(ca.sparsify(ca.DM(rows))) @ candidates)


def _changes(symmetry: Symmetry, functions: ca.SX) -> tuple[np.ndarray, np.ndarray]:
    """Rates (k, points, generators) of functions along the generators, each in its own unit, at
    random configurations of the whole space, and the sizes of the terms that cancel in them."""
    system = symmetry.constrained.system
    space, rng = system.algebroid, np.random.default_rng(3)
    fields, slopes = space.anchor @ symmetry.generators, ca.jacobian(functions, system.q)
    evaluate = ca.Function("rate", [system.q, system.theta], [
        ca.densify(part) for part in (slopes @ fields, ca.fabs(slopes) @ ca.fabs(fields), fields)])
    rates, terms, moved = (np.array(part) for part in zip(*(
        [part.full() for part in evaluate(space.normalise(rng.normal(size=space.nq)),
                                          symmetry.constrained.parameters)] for _ in range(12))))
    units = np.abs(moved).max(axis=(0, 1))
    units[units == 0] = 1.0
    return (rates / units).swapaxes(0, 1), (terms / units).swapaxes(0, 1)


def express_in(constrained: ConstrainedSystem, invariants: Invariants, moved: list[int],
               expression: ca.SX) -> Iterator[ca.SX]:
    """Candidates for an invariant expression as a function of the invariants, with their symbols:
    polynomials in them of growing degree, by interpolation between configurations of the group.

    For degree d it is F = sum of m(I) W_mk f(q_k) over the monomials m up to d, W the inverse of
    m(I(q_k)): exact if f is such a polynomial. Other symbols in f are kept.
    """
    space, q = constrained.system.algebroid, constrained.system.q
    group, expression = ca.densify(q[moved]), ca.densify(expression)
    points = _places(space, moved)
    values = ca.Function("invariants", [q, constrained.system.theta], [invariants.functions])
    at = np.array([values(point, constrained.parameters).full().ravel() for point in points])
    for degree in range((DEGREE if invariants.names else 0) + 1):
        exponents = [terms for d in range(degree + 1)
                     for terms in combinations_with_replacement(range(at.shape[1]), d)]
        V = np.array([[np.prod(row[list(terms)]) for terms in exponents] for row in at])
        chosen = _independent(V)
        rows = _independent(V[:, chosen].T)
        weights = _snap(np.linalg.inv(V[np.ix_(rows, chosen)]))
        parts = [ca.substitute(expression, group, ca.DM(points[k][moved])) for k in rows]
        found = ca.SX.zeros(expression.shape)
        for m, row in zip(chosen, weights):
            factor = ca.SX(1)
            for i in exponents[m]:
                factor = factor * invariants.symbols[i]
            found += factor * _combine(row, parts)
        yield found


def _combine(weights: np.ndarray, parts: list[ca.SX]) -> ca.SX:
    """The sum of weight times part, with 0 for entries that are rounding errors."""
    terms = [w * part for w, part in zip(weights, parts) if w]
    total = sum(terms, ca.SX.zeros(parts[0].shape))
    held = ca.vertcat(ca.SX(0, 1), *ca.symvar(ca.veccat(*terms)))      # some cancel in the sum
    sizes = ca.Function("sizes", [held], [ca.fabs(total), sum(map(ca.fabs, terms), ca.SX(0))])
    rng = np.random.default_rng(5)
    value, size = (np.max([np.array(out[i]) for out in (
        sizes(rng.uniform(0.5, 1.5, held.numel())) for _ in range(3))], axis=0) for i in range(2))
    return ca.SX(ca.DM((value > EXACT * size).astype(float))) * total


def _places(space: LieAlgebroid, moved: list[int]) -> list[np.ndarray]:
    """Configurations (nq,) whose entries `moved` are simple fractions, the simplest first; the
    others are zero."""
    rng, found = np.random.default_rng(4), []
    units = [np.array(u) / n for n in (1, 2, 3) for u in product(range(-n, n + 1), repeat=4)
             if sum(x * x for x in u) == n * n]
    circles = [np.array([1 - m * m, 2 * m]) / (1 + m * m) for m in range(-3, 4)]
    for k in range(max(len(units), PLACES)):
        q = np.zeros(space.nq)
        q[moved] = rng.integers(-2, 3, len(moved)) / 2
        for n, i in enumerate(space.quaternions):
            q[i:i + 4] = units[(k + n * int(rng.integers(len(units)))) % len(units)]
        for i, _ in space.circles:
            q[i:i + 2] = circles[rng.integers(len(circles))]
        found.append(q)
    return found


def _independent(V: np.ndarray) -> list[int]:
    """Indices of columns that do not depend on earlier ones."""
    kept: list[int] = []
    basis = np.zeros((V.shape[0], 0))
    for j in range(V.shape[1]):
        rest = V[:, j]
        for _ in range(2):
            rest = rest - basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size > 1e-6 * np.linalg.norm(V[:, j]):
            kept.append(j)
            basis = np.column_stack([basis, rest / size])
        if len(kept) == V.shape[0]:
            break
    return kept


def _snap(weights: np.ndarray) -> np.ndarray:
    """The simple fractions that the weights are close to."""
    near = np.array([[float(Fraction(w).limit_denominator(LARGEST)) for w in row]
                     for row in weights])
    return np.where(np.abs(near - weights) <= EXACT * (1 + np.abs(weights)), near, weights)
