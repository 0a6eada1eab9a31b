"""The manifold on which functions of (t, q, v) vanish, represented by random points on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..checks import read_vector
from ..errors import InputError, MechanicsError, listed
from ..symbolic.foreign import foreign_symbols
from ..symbolic.plain_text import text
from ..symbolic.row_reduction import ZERO, unit_rows
from .newton import nearest_zero
from .system import ConstrainedSystem

Near = tuple[ArrayLike, ArrayLike]     # (q, v)

_IRREGULAR = 1e-6    # Newton's method finds a multiple root to about this


@dataclass(frozen=True)
class Ambient:
    """The space that contains a manifold."""

    # t, state, u, theta: symbols: of time, of a point (N,), of inputs and parameters
    t: ca.SX
    state: ca.SX
    u: ca.SX
    theta: ca.SX
    embedding: ca.SX  # (k,) functions of the state that vanish on the space itself inside R^N
    parameters: np.ndarray  # numbers for theta
    # random generator -> t, state at which a search for a point begins
    start: Callable[[np.random.Generator], tuple[float, np.ndarray]]


class ConstraintManifold:
    """chi(t, state) = 0 in a space such as velocity phase space, with points on it, `states` (n, N)
    at `times` (n,) [s], found by Newton's method (least change of the state).

    A property that holds at all points is assumed to hold on the manifold, or on its component with
    the points. `constraints` (k,) are independent functions, in the order in which they were
    imposed.
    """

    def __init__(self, ambient: Ambient, count: int = 6):
        self._ambient, self._count = ambient, count
        self._rng = np.random.default_rng(0)
        self.constraints = ca.SX(0, 1)
        self._starts = [ambient.start(self._rng) for _ in range(count)]
        self._form()
        self.times = np.array([t for t, _ in self._starts])
        self.states = np.array([self.project(t, z) for t, z in self._starts])

    @property
    def dimension(self) -> int:
        """dim of the manifold at fixed time."""
        space = self._ambient
        return space.state.numel() - space.embedding.numel() - self.constraints.numel()

    def at_points(self, expression: ca.SX) -> np.ndarray:
        """Values of an expression in (t, state, u, theta), (n, rows, columns), with u = 0."""
        return self._evaluate(expression, zip(self.times, self.states))

    def _evaluate(self, expression: ca.SX, points: Iterable[tuple[float, np.ndarray]]
                  ) -> np.ndarray:
        s = self._ambient
        evaluate = ca.Function("at_points", [s.t, s.state, s.u, s.theta], [expression])
        u = np.zeros(s.u.numel())
        return np.array([evaluate(t, z, u, s.parameters).full() for t, z in points])

    def vanishes(self, chi: ca.SX, scale: float = 0.0) -> bool:
        """Whether chi is zero at all points, relative to the sizes of its terms there and off the
        manifold, and to `scale`, the size of the quantities it was derived from. Raises
        `MechanicsError` if it is not finite."""
        values, size = self.at_points(chi), _term_size(chi)
        if not np.all(np.isfinite(values)):
            raise MechanicsError(f"constraint {write_out(chi)} is not finite on the manifold; give "
                                 "a state of the wanted motion as `near`")
        sizes = *self.at_points(size).flat, *self._evaluate(size, self._starts).flat
        return bool(np.abs(values).max() <= ZERO * max(*filter(np.isfinite, sizes), scale))

    def impose(self, chi: ca.SX, scale: float = 0.0) -> list[ca.SX]:
        """Restricts the manifold to chi = 0 and returns the functions that were added; none if chi
        already vanishes.

        Where chi has a multiple zero (z^2 in Cawley's Lagrangian), its partial derivatives that
        vanish there replace it. Raises `MechanicsError` if no point is left, or if they do not
        resolve the multiple zero.
        """
        if self.vanishes(chi, scale):
            return []
        if not ca.depends_on(chi, ca.vertcat(self._ambient.state, self._ambient.t)):
            value = self.at_points(chi).flat[0]
            raise MechanicsError(f"the equations have no solution: they ask for {write_out(chi)} = "
                                 f"0, whose value is {value:.6g}")
        before = self.constraints, self.times, self.states
        self.constraints = ca.vertcat(self.constraints, chi)
        self._find(chi)
        if self._regular():
            return [chi]
        partial = ca.gradient(chi, self._ambient.state)
        size = np.abs(self.at_points(partial)).max(axis=(0, 2))
        # back to points where the partial derivatives are not zero yet
        self.constraints, self.times, self.states = before
        added: list[ca.SX] = []
        # the largest one has the simplest zero; the others may vanish with it
        for j in np.argsort(-size):
            if size[j] <= _IRREGULAR:
                added += self.impose(partial[int(j)], scale)
        if not added or not self.vanishes(chi, scale):
            raise MechanicsError(f"constraint {write_out(chi)} is not regular: the constraints' "
                                 "differentials are dependent where it vanishes; if the manifold "
                                 "has several components, give a state on one of them as `near`")
        return added

    def project(self, t: float, z: np.ndarray) -> np.ndarray | None:
        """The state (N,) on the manifold that Newton's method reaches from z; None if it does not
        converge."""
        return nearest_zero(lambda z: self._newton(t, z, self._ambient.parameters), z)

    def _form(self) -> None:
        """Builds the function for Newton's method: each constraint divided by its slope off the
        manifold, because its unit is arbitrary."""
        s = self._ambient
        slopes = self._evaluate(ca.jacobian(self.constraints, s.state), self._starts)
        size = np.median(np.linalg.norm(slopes, axis=2), axis=0)
        size = np.where(np.isfinite(size) & (size > 0), size, 1.0)
        functions = ca.vertcat(self.constraints / size, s.embedding)
        self._newton = ca.Function("newton", [s.t, s.state, s.theta],
                                   [functions, ca.jacobian(functions, s.state)])

    def _find(self, chi: ca.SX) -> None:
        """Moves the points onto the constraints, and replaces those that do not converge."""
        self._form()
        starts = [*zip(self.times, self.states),
                  *(self._ambient.start(self._rng) for _ in range(4 * self._count))]
        found = []
        for t, z in starts:
            arrived = self.project(t, z)
            if arrived is not None:
                found.append((t, arrived))
            if len(found) == self._count:
                break
        if len(found) < max(2, self._count // 2):
            raise MechanicsError("the manifold is empty, or Newton's method did not find it: "
                                 f"{write_out(chi)} = 0 was reached from {len(found)} of "
                                 f"{len(starts)} states; if solutions exist, give one as `near`")
        self.times, self.states = np.array([t for t, _ in found]), np.array([z for _, z in found])

    def _regular(self) -> bool:
        slopes = [self._newton(t, z, self._ambient.parameters)[1].full()
                  for t, z in zip(self.times, self.states)]
        return all(np.linalg.matrix_rank(slope, tol=_IRREGULAR) == len(slope) for slope in slopes)


def make_manifold(constrained: ConstrainedSystem, nonlinear: ca.SX,
                  near: Near | None = None) -> ConstraintManifold:
    """The manifold phi = 0, A v + b = 0, C(t, q, v) = `nonlinear` = 0, without dependent functions.
    """
    s, d = constrained.system, constrained.distribution
    if nonlinear.shape[1] != 1:
        raise InputError(f"nonlinear has shape {nonlinear.shape}, but must be a column vector")
    known = ca.vertcat(s.t, s.q, s.v, s.u, s.theta)
    foreign = [symbol.name() for symbol in foreign_symbols(nonlinear, known)]
    if foreign:
        raise InputError(f"nonlinear contains {listed(foreign)}, which are not symbols of this "
                         "system; use t, q, v, theta of `constrained.system`")
    manifold = ConstraintManifold(_velocity_phase_space(constrained, near))
    for chi in ca.vertsplit(ca.vertcat(d.phi, d.A @ s.v + d.b, nonlinear)):
        manifold.impose(chi)
    return manifold


def _velocity_phase_space(constrained: ConstrainedSystem, near: Near | None) -> Ambient:
    s = constrained.system
    algebroid = s.algebroid

    def start(rng: np.random.Generator) -> tuple[float, np.ndarray]:
        if near is not None:
            q = read_vector("near q", near[0], algebroid.q_names)
            v = read_vector("near v", near[1], algebroid.v_names)
            v = v + 0.05 * rng.normal(size=algebroid.nv)
        else:
            known = constrained.configurations
            q, v = known[rng.integers(len(known))], rng.normal(size=algebroid.nv)
        # samples lie on phi = 0, a start must not
        q = algebroid.normalise(q + 0.05 * rng.normal(size=algebroid.nq))
        return float(rng.uniform(0, 1)), np.concatenate([q, v])

    return Ambient(s.t, ca.vertcat(s.q, s.v), s.u, s.theta, algebroid.embedding(s.q),
                   constrained.parameters, start)


def write_out(chi: ca.SX) -> str:
    """A function as text, or its length if it would fill a page."""
    size = ca.n_nodes(chi)
    return text(chi) if size <= 200 else f"[an expression of {size} operations]"


def common_rank(matrices: np.ndarray, what: str, scale: float | None = None) -> int:
    """The common rank of matrices (n, rows, columns). Entries are compared with `scale`, or with
    the largest of their row; for products, `scale` is `product_size`.
    """
    matrices = unit_rows(matrices) if scale is None else matrices / (scale or 1.0)
    ranks = {int(np.linalg.matrix_rank(matrix, tol=ZERO)) if matrix.size else 0
             for matrix in matrices}
    if len(ranks) > 1:
        raise MechanicsError(f"{what} has ranks {', '.join(map(str, sorted(ranks)))} at different "
                             "points of the manifold: it must be constant; give a state of the "
                             "wanted motion as `near`")
    return ranks.pop()


def null_space(matrix: np.ndarray, scale: float | None = None) -> np.ndarray:
    """Orthonormal basis of the kernel of (m, n), (n, n - rank); `scale` as for `common_rank`."""
    if not matrix.size:
        return np.eye(matrix.shape[1])
    _, values, vt = np.linalg.svd(matrix)
    return vt[int((values > ZERO * (values.max() if scale is None else scale)).sum()):].T


def product_size(left: np.ndarray, right: np.ndarray) -> float:
    """The largest entry of |A| |B|; rounding errors in A B are small relative to it, in any
    unit."""
    return float((np.abs(left) @ np.abs(right)).max(initial=0.0))


def _term_size(expression: ca.SX) -> ca.SX:
    """The sum of the magnitudes of the terms of a scalar, such as |a| + |b| for a - b; rounding
    errors are small relative to it."""
    size, waiting = ca.SX(0.0), [ca.SX(expression)]
    while waiting:
        e = waiting.pop()
        if e.n_dep() and e.op() in (ca.OP_ADD, ca.OP_SUB, ca.OP_NEG):
            waiting += (e.dep(i) for i in range(e.n_dep()))
        else:
            size += ca.fabs(e)
    return size
