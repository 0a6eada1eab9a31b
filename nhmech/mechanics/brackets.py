"""Iterated Lie brackets of a distribution: growth vector and degree of nonholonomy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments, read_vector
from ..errors import MechanicsError
from ..symbolic.foreign import foreign_symbols
from .algebroid import LieAlgebroid, bracket
from .frame import adapted_frame
from .system import HasConstrained, require_constrained

RANK = 1e-8           # smaller singular values, relative to the largest, count as zero
DEPENDENT = 1e-8      # a section closer than this to constant combinations of others is one of them


@dataclass(frozen=True)
class Growth:
    """Ranks of D, D + [D, D], ... in the fibre, with the numbers that decided them.

    D_1 = D, D_2 = D + [D, D], D_3 = D_2 + [D, D_2], and so on.

    Attributes
    ----------
    ranks
        Until the last one was reached for the first time; (n,) means involutive, (2, 3) a contact
        distribution.
    kept
        For each rank the smallest singular value that counts, relative to the largest.
    dropped
        The largest that does not count (0 where none is left): a rank is as trustworthy as the gap
        between the two is wide.
    complete
        Whether the last rank is known to be final: it is the whole fibre, or all further brackets
        are constant combinations.
    """

    ranks: tuple[int, ...]
    kept: tuple[float, ...]
    dropped: tuple[float, ...]
    complete: bool

    @property
    def degree(self) -> int:
        """Degree of nonholonomy: the number of levels needed, 1 where D is involutive."""
        return len(self.ranks)


@check_arguments
def growth_vector(constrained: HasConstrained, q: ArrayLike | None = None, *,
                  t: float = 0.0, speeds: Sequence[str] | None = None, depth: int = 8) -> Growth:
    """The growth vector of the linear part A v = 0 of the constraints.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    q
        A configuration; if None the generic one, the largest ranks over the sample
        configurations.
    t
        Time [s], held.
    speeds
        Names of the independent speeds of the frame; chosen by conditioning (at q, where given) if
        None.
    depth
        Number of levels after which to stop.

    Raises
    ------
    MechanicsError
        Where rows do not define a frame.
    InputError
        For speeds that do not determine the motion.
    """
    constrained = require_constrained(constrained)
    constrained.require_distribution("growth_vector")
    constrained.require_linear("growth_vector")
    if q is not None:
        q = read_vector("q", q, constrained.system.algebroid.q_names)
        # a frame that is regular here
        constrained = replace(constrained, samples=q[None, :])
    system = constrained.system
    E = adapted_frame(constrained, speeds).E
    if constrained.parameters.size or ca.depends_on(E, system.t):
        E = ca.substitute(E, ca.vertcat(system.t, system.theta),
                          ca.vertcat(t, ca.DM(constrained.parameters)))
    return span_growth(system.algebroid, E, constrained.configurations, pointwise=q is not None,
                       depth=depth)


def span_growth(algebroid: LieAlgebroid, sections: ca.SX, points: np.ndarray, *,
                pointwise: bool = False, depth: int = 8, operations: float = inf) -> Growth:
    """The growth vector of the span of sections (nv, n) at points (k, nq): the largest rank over
    them.

    [X, Y]^g = rho(X) Y^g - rho(Y) X^g + c^g_ab X^a Y^b. Left-normed brackets [X_i, [X_j, ...]] of
    the given sections span each level; a bracket that is a combination of others with constant
    coefficients (Jacobi's identity and antisymmetry make many) is dropped. Ranks come from singular
    values, each bracket scaled by its usual size. The search ends after `depth` levels, where the
    brackets so far have more than `operations` instructions, or where the rank stalls; if
    `pointwise`, only at the final generic rank, because the rank at a point may stall and grow
    again.
    """
    return _grow(algebroid, sections, points, pointwise, depth, operations)[0]


def bracket_closure(algebroid: LieAlgebroid, sections: ca.SX, points: np.ndarray, *,
                    depth: int = 8) -> ca.SX:
    """The sections (nv, n) and iterated brackets (nv, k) that span, at points (m, nq), what all
    brackets of the sections span.

    Raises
    ------
    MechanicsError
        Where `depth` levels do not reach it.
    """
    growth, found = _grow(algebroid, sections, points, True, depth, inf)
    if not growth.complete:
        raise MechanicsError(f"brackets of {depth} levels span {growth.ranks[-1]} of "
                             f"{algebroid.nv} directions, and further ones may span more")
    return ca.horzcat(sections[:, :0], *found)


def _grow(algebroid: LieAlgebroid, sections: ca.SX, points: np.ndarray, pointwise: bool,
          depth: int, operations: float) -> tuple[Growth, list[ca.SX]]:
    """The growth vector, and the sections that span its levels."""
    if sections.shape[0] != algebroid.nv or sections.shape[1] == 0:
        raise MechanicsError(f"sections of this algebroid are ({algebroid.nv}, n) with n >= 1; "
                             f"given are {sections.shape}")
    foreign = [symbol.name() for symbol in foreign_symbols(sections, algebroid.q)]
    if foreign:
        raise MechanicsError(f"the sections depend on {', '.join(foreign)}; put numbers in for "
                             "what is not the configuration")
    first = [sections[:, i] for i in range(sections.shape[1])]
    sampled = _SectionSamples(algebroid, np.asarray(points, dtype=float), sections)
    levels: list[tuple[int, float, float]] = []
    generic: list[int] = []
    found: list[ca.SX] = []
    new, final = first, False
    while True:
        new = sampled.independent(new)
        if not new:
            break
        found += new
        levels.append(sampled.rank(sampled.wanted))
        generic.append(sampled.rank(len(sampled.points))[0])
        rank = levels[-1][0]
        final = rank == algebroid.nv or (generic[-2:-1] == generic[-1:]
                                         and (rank == generic[-1] or not pointwise))
        if final or len(levels) == depth or sampled.operations > operations:
            break
        new = [bracket(algebroid, X, Y) for X in first for Y in new]
    levels = levels or [(0, 0.0, 0.0)]       # the sections vanish
    reached = [rank for rank, _, _ in levels].index(levels[-1][0]) + 1
    ranks, kept, dropped = (tuple(column) for column in zip(*levels[:reached]))
    return Growth(ranks, kept, dropped, complete=final or not new), found


class _SectionSamples:
    """Values of the sections found so far, at the given points, and at random points that show
    which sections are new."""

    def __init__(self, algebroid: LieAlgebroid, points: np.ndarray, sections: ca.SX):
        rng, frame = (np.random.default_rng(0),
                      ca.Function("frame", [algebroid.q], [ca.densify(sections)]))
        near = [algebroid.normalise(points[k % len(points)] + 0.5 * rng.normal(size=algebroid.nq))
                for k in range(48)]
        size = [np.linalg.norm(frame(q).full()) for q in near]
        self.q, self.wanted = algebroid.q, len(points)
        self.operations = 0      # of all sections tried
        # not where the frame is nearly singular
        self.points = [*points, *(near[k] for k in np.argsort(size)[:24])]
        self.values = np.zeros((len(self.points), algebroid.nv, 0))
        self.basis = np.zeros((len(self.points) * algebroid.nv, 0))

    def independent(self, sections: Sequence[ca.SX]) -> list[ca.SX]:
        """The sections that are not constant combinations of earlier ones; stores them."""
        new = []
        for section in map(ca.cse, sections):
            function = ca.Function("section", [self.q], [ca.densify(section)])
            self.operations += function.n_instructions()
            value = np.array([function(q).full() for q in self.points])
            if not np.all(np.isfinite(value)):
                raise MechanicsError("a bracket is not finite near the given points; choose other "
                                     "speeds")
            size = np.median(np.linalg.norm(value, axis=(1, 2)))
            rest = value.ravel() / size if size > 0 else value.ravel()
            for _ in range(2):
                rest = rest - self.basis @ (self.basis.T @ rest)
            if size > 1e-12 and np.linalg.norm(rest) > DEPENDENT * np.linalg.norm(value / size):
                self.basis = np.column_stack([self.basis, rest / np.linalg.norm(rest)])
                self.values = np.concatenate([self.values, value / size], axis=2)
                new.append(section)
        return new

    def rank(self, count: int) -> tuple[int, float, float]:
        """Largest rank at the first `count` points, with the smallest singular value that counts
        and the largest that does not."""
        return max(_rank(value) for value in self.values[:count])


def _rank(matrix: np.ndarray) -> tuple[int, float, float]:
    sigma = np.append(np.linalg.svd(matrix, compute_uv=False), 0.0)
    relative = sigma / sigma[0] if sigma[0] > 0 else sigma
    rank = int(np.sum(relative > RANK))
    return rank, float(relative[rank - 1]) if rank else 0.0, float(relative[rank])
