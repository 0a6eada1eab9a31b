"""The base space of a symmetry: coordinates that no generator changes, and functions of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np

from ..errors import MechanicsError
from ..symbolic.elimination import factorise, pivot_order
from .algebroid import LieAlgebroid, bracket
from .distribution import assemble
from .frame import at_samples
from .invariants import Invariants, express_in
from .samples import sample_points
from .symmetry import ZERO, Symmetry
from .system import ConstrainedSystem, LagrangianSystem


def base_coordinates(symmetry: Symmetry) -> tuple[int, ...]:
    """Indices of the entries of q that no generator changes."""
    anchor = symmetry.constrained.system.algebroid.anchor
    moved = _in_own_units(symmetry, anchor @ symmetry.generators)
    return tuple(i for i in range(moved.shape[1]) if moved[:, i].max(initial=0.0) <= ZERO)


def fixed_speeds(symmetry: Symmetry, count: int) -> tuple[str, ...] | None:
    """Names of the fibre coordinates that are not constant on D and along which no generator has a
    component; None unless there are `count` of them."""
    constrained = symmetry.constrained
    generators = _in_own_units(symmetry, symmetry.generators)
    forms = at_samples(constrained, constrained.distribution.A)
    names, found = constrained.system.algebroid.v_names, []
    for i, unit in enumerate(np.eye(len(names))):
        moves = any(np.linalg.matrix_rank(np.vstack([A, unit]),
                                          tol=ZERO) > np.linalg.matrix_rank(A, tol=ZERO)
                    for A in forms)
        if moves and generators[:, i].max() <= ZERO:
            found.append(names[i])
    return tuple(found) if len(found) == count else None


def _in_own_units(symmetry: Symmetry, columns: ca.SX) -> np.ndarray:
    """Sizes of entries of columns at the samples, relative to the largest of each column."""
    sizes = np.abs(at_samples(symmetry.constrained, ca.densify(columns)))
    largest = sizes.max(axis=(0, 1), initial=0.0)
    return sizes / np.where(largest > 0, largest, 1.0)


@dataclass(frozen=True)
class BaseSpace:
    """The algebroid over the base that is spanned by invariant sections B, one for each base
    velocity.

    [B_a, B_b] = C^g_ab B_g + part outside; C are the structure functions of `algebroid`.
    """

    symmetry: Symmetry
    algebroid: LieAlgebroid
    coordinates: tuple[int, ...]
    _outside: tuple[tuple[ca.SX, ...], ...]

    def outside(self, p: ca.SX) -> ca.SX:
        """<p, part of [B_a, B_b] outside span B>, (n, n)."""
        n = len(self._outside)
        made = ca.SX.zeros(n, n)
        for a, b in combinations(range(n), 2):
            made[a, b] = ca.dot(p, self._outside[a][b])
            made[b, a] = -made[a, b]
        return made

    def onto_base(self, quantities: Mapping[str, ca.SX], xi: ca.SX) -> list[ca.SX]:
        """Invariant functions of (t, q, xi, u, theta) as functions of the base.
        Raises a `MechanicsError` that names a function which is not invariant."""
        return onto_base(self.symmetry, self.coordinates, quantities, xi)

    def constrained(self, system: LagrangianSystem) -> ConstrainedSystem:
        """The system on the base, without constraints."""
        whole = self.symmetry.constrained
        return ConstrainedSystem(system, assemble([], self.algebroid.nv), whole.parameters,
                                 whole.configurations[:, list(self.coordinates)],
                                 moment=whole.moment)


def base_space(symmetry: Symmetry, B: ca.SX, rest: ca.SX, names: tuple[str, ...],
               units: tuple[str, ...]) -> BaseSpace:
    """The base with velocities along the columns of B (nv, n); `rest` completes B to a basis of the
    fibre.
    """
    constrained = symmetry.constrained
    space, n = constrained.system.algebroid, B.shape[1]
    coordinates = base_coordinates(symmetry)
    anchor = (space.anchor @ B)[list(coordinates), :] if coordinates else ca.SX(0, n)
    anchors = at_samples(constrained, ca.densify(anchor))
    rank = max((int(np.linalg.matrix_rank(value, tol=ZERO)) for value in anchors if value.size),
               default=0)
    if rank < n and space.nq:
        still = ", ".join(space.q_names[i] for i in coordinates) or "none"
        raise MechanicsError(f"the coordinates that no generator moves ({still}) show {rank} of "
                             f"{n} base velocities: write the system in coordinates of which {n} "
                             "are invariant (polar ones for a turn)")
    basis = ca.horzcat(B, rest)
    pattern = np.array(ca.DM(basis.sparsity(), 1).full(), dtype=bool)
    factors = factorise(basis, pivot_order(at_samples(constrained, ca.densify(basis)), pattern))
    structure = [ca.SX(n, n) for _ in range(n)]
    outside = [[ca.SX(space.nv, 1) for _ in range(n)] for _ in range(n)]
    for a, b in combinations(range(n), 2):
        whole = ca.densify(bracket(space, B[:, a], B[:, b]))
        inside = _clean(constrained, factors.solve(whole)[:n])
        outside[a][b] = whole - B @ inside
        for g in range(n):
            structure[g][a, b], structure[g][b, a] = inside[g], -inside[g]
    named = {"the anchor": anchor,
             **{f"the structure function of {name}": c for name, c in zip(names, structure)}}
    anchor, *structure = onto_base(symmetry, coordinates, named, ca.SX(0, 1))
    algebroid = restrict_algebroid(space, coordinates, anchor,
                                   tuple(ca.sparsify(c) for c in structure), names, units)
    return BaseSpace(symmetry, algebroid, coordinates, tuple(tuple(row) for row in outside))


def restrict_algebroid(space: LieAlgebroid, coordinates: tuple[int, ...], anchor: ca.SX,
                       structure: tuple[ca.SX, ...], names: tuple[str, ...],
                       units: tuple[str, ...],
                       invariants: Invariants | None = None) -> LieAlgebroid:
    """An algebroid over some coordinates of another, followed by invariants; angles and quaternions
    among the coordinates are kept."""
    place = {i: new for new, i in enumerate(coordinates)}
    circles = tuple((place[i], names.index(space.v_names[a]))
                    for i, a in space.circles if i in place and space.v_names[a] in names)
    q, q_names = space.q[list(coordinates)], tuple(space.q_names[i] for i in coordinates)
    if invariants is not None:
        q, q_names = ca.vertcat(q, invariants.symbols), (*q_names, *invariants.names)
    return LieAlgebroid(q, q_names, names, units, anchor, structure, circles,
                        tuple(place[i] for i in space.quaternions if i in place))


def onto_base(symmetry: Symmetry, coordinates: tuple[int, ...], quantities: Mapping[str, ca.SX],
              xi: ca.SX, invariants: Invariants | None = None) -> list[ca.SX]:
    """Functions of (t, q, xi, u, theta) with constants for the group's coordinates, or written in
    the invariants; a test at random states checks that they do not depend on them otherwise.
    """
    constrained = symmetry.constrained
    space = constrained.system.algebroid
    group = [i for i in range(space.nq) if i not in coordinates]
    found = []
    for name, value in quantities.items():
        value, worst = ca.densify(value), 0.0
        for candidate in _candidates(constrained, group, value, invariants):
            worst = _difference(constrained, value, candidate, xi, invariants)
            if worst <= ZERO:
                found.append(ca.densify(candidate))
                break
        else:
            raise MechanicsError(f"{name} still depends on "
                                 f"{', '.join(space.q_names[i] for i in group)} (by "
                                 f"{worst:.3g}): the speeds are no base velocities; name "
                                 "others, or change to an invariant basis of the fibre"
                                 + ("" if invariants is None else
                                    "; or it is no polynomial in the invariants "
                                    f"{', '.join(invariants.names) or '(none)'}"))
    return found


def _candidates(constrained: ConstrainedSystem, group: list[int], value: ca.SX,
                invariants: Invariants | None) -> Iterator[ca.SX]:
    """The function with constants for the group's coordinates, then as polynomials in the
    invariants."""
    q = ca.densify(constrained.system.q[group])
    yield ca.substitute(value, q, ca.DM(_reference(constrained)[group])) if group else value
    if invariants is not None and group:
        yield from express_in(constrained, invariants, group, value)


def _difference(constrained: ConstrainedSystem, value: ca.SX, candidate: ca.SX, xi: ca.SX,
                invariants: Invariants | None) -> float:
    """The largest difference of two expressions at random states, relative to values above one."""
    system = constrained.system
    if invariants is not None:
        candidate = ca.substitute(candidate, invariants.symbols, invariants.functions)
    compare = ca.Function("compare", [system.t, system.q, xi, system.u, system.theta],
                          [ca.densify(value - candidate), ca.fabs(value)])
    rng, worst = np.random.default_rng(2), 0.0
    for t, q in zip(*sample_points(constrained)):
        state = rng.normal(size=xi.numel()), rng.normal(size=system.u.numel())
        out = compare(t, q, *state, constrained.parameters)
        gap, size = (np.abs(part.full()).max(initial=0.0) for part in out)
        worst = max(worst, gap / (1 + size)) if np.isfinite(gap) else np.inf
    return float(worst)


def _reference(constrained: ConstrainedSystem) -> np.ndarray:
    """A configuration that gives constants for the group's coordinates: the origin if it is one,
    because expressions are short there."""
    space, system = constrained.system.algebroid, constrained.system
    q = np.zeros(space.nq)
    q[[i + 3 for i in space.quaternions] + [i for i, _ in space.circles]] = 1
    evaluate = ca.Function("phi", [system.t, system.q, system.theta],
                           [constrained.distribution.phi])
    phi = evaluate(constrained.moment, q, constrained.parameters).full()
    return q if np.abs(phi).max(initial=0.0) <= ZERO else constrained.configurations[0]


def _clean(constrained: ConstrainedSystem, expression: ca.SX) -> ca.SX:
    """The expression with 0 for entries that are rounding errors at every sample."""
    zero = np.abs(at_samples(constrained, ca.densify(expression))).max(axis=0) <= ZERO
    return ca.vertcat(*[ca.SX(0) if zero[i,
                                         0] else expression[i] for i in range(expression.numel())])
