"""Search for symmetries: the conditions are linear in the generator, so that the solutions among
combinations of candidates are a null space."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from ..errors import MechanicsError
from .algebroid import LieAlgebroid
from .frame import at_samples
from .invariance import evaluate, invariances
from .symmetry import ZERO, Symmetry, symmetry
from .system import ConstrainedSystem, HasConstrained, LagrangianSystem, require_constrained

TRIES = 20          # for each random state
NOTHING = 1e-12     # terms of this size, relative to the largest, are rounding


@check_arguments
@hear_ctrl_c()
def find_symmetry(constrained: HasConstrained) -> Symmetry:
    """All symmetries among the combinations of simple candidates, in echelon form.

    Candidates: each basis section of the fibre (translations, and S^1 of an angle or a wheel); q_i
    d/dq_j of all flat coordinates, from which turns such as x d/dy - y d/dx + d/dphi are made;
    turns of quaternions about axes of space and of the body. This finds SE(2), SE(3), tori and
    products, but no symmetry that is not affine in these coordinates.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.

    Raises
    ------
    MechanicsError
        Where nothing is a symmetry.
    """
    constrained = require_constrained(constrained)
    space, rng = constrained.system.algebroid, np.random.default_rng(1)
    anywhere = replace(constrained,
                       samples=np.array([space.normalise(rng.normal(size=space.nq))
                                         for _ in range(8)]))
    names, sections = candidates(constrained.system)
    names, sections = _independent(anywhere, names, sections, ca.fabs(sections))
    found = invariances(constrained, sections)
    values = evaluate(constrained, found, 2 * len(names) + 8)
    units = row_units(np.concatenate([size.max(axis=0, initial=0.0) for _, size in values]))
    rows, sizes = (np.concatenate([value[part] for value in values], axis=1) / units[:, None]
                   for part in (0, 1))
    rows, sizes = (part.reshape(-1, len(names)) for part in (rows, sizes))
    # sizes include rounding errors, so that every nonzero one counts
    basis = null_combinations(rows, sizes, 0.0)
    found_names, generators = _independent(
        constrained, [name_combination(row, names) for row in basis],
        sections @ ca.DM(basis.T), ca.fabs(sections) @ ca.DM(np.abs(basis.T))) if len(
            basis) else ([], sections)
    if not found_names:
        raise MechanicsError("none of the candidates is a symmetry: " + ", ".join(names))
    return symmetry(constrained, {name: generators[:, i] for i, name in enumerate(found_names)})


def candidates(system: LagrangianSystem) -> tuple[list[str], ca.SX]:
    """Names and sections (nv, n) of the candidates, simple ones first."""
    space, q = system.algebroid, system.q
    names, columns = [f"d/d{name.removesuffix(chr(39))}"
                      for name in space.v_names], [ca.SX.eye(space.nv)]
    bent = {i + n for i in space.quaternions
            for n in range(4)} | {i + n for i, _ in space.circles for n in range(2)}
    flat = [j for j in range(space.nq) if j not in bent]
    fields = []
    for j in flat:
        unit = ca.DM.zeros(space.nq, 1)
        unit[j] = 1
        fields.append((f"d/d{space.q_names[j]} ", ca.SX(unit)))
        fields += [(f"{space.q_names[i]} d/d{space.q_names[j]}", q[i] * unit) for i in flat]
    for i in space.quaternions:
        x, y, z, w = (q[i + n] for n in range(4))
        turns = (("x", (w, -z, y, -x)), ("y", (z, w, -x, -y)), ("z", (-y, x, w, -z)),
                 ("x'", (w, z, -y, -x)), ("y'", (-z, w, x, -y)), ("z'", (y, -x, w, -z)))
        for axis, turned in turns:                     # of space, and of the body
            field = ca.SX.zeros(space.nq, 1)
            field[i:i + 4] = ca.vertcat(*turned) / 2
            fields.append((f"turn of {space.q_names[i]}.. about {axis}", field))
    moving = [a for a in range(space.nv) if not space.anchor[:, a].is_zero()]
    rho = space.anchor[:, moving]
    if fields and _injective(space, rho):
        names += [name for name, _ in fields]
        lifted = ca.SX(space.nv, len(fields))
        lifted[moving, :] = ca.solve(rho.T @ rho, rho.T @ ca.horzcat(*[x for _, x in fields]))
        columns.append(lifted)
    return names, ca.horzcat(*columns)


def _injective(space: LieAlgebroid, rho: ca.SX) -> bool:
    """Whether these columns of the anchor are independent: a vector field on Q comes from one
    section at most."""
    q = space.normalise(np.random.default_rng(0).normal(size=space.nq))
    return np.linalg.matrix_rank(ca.Function("rho", [space.q], [rho])(q).full()) == rho.shape[1]


def _independent(constrained: ConstrainedSystem, names: list[str], sections: ca.SX,
                 sizes: ca.SX) -> tuple[list[str], ca.SX]:
    """The names and sections without those that depend on earlier ones at the samples, or vanish
    there but for rounding; `sizes` (nv, n) are those of the terms that cancel in the sections."""
    values, terms = (at_samples(constrained, ca.densify(part)).reshape(-1, len(names))
                    for part in (sections, sizes))
    kept: list[int] = []
    norms = np.linalg.norm(values, axis=0)
    vanish = norms <= NOTHING * np.linalg.norm(terms, axis=0)
    rest = np.where(vanish, 0.0, values / np.where(vanish, 1.0, norms))
    for i in range(len(names)):
        size = np.linalg.norm(rest[:, i])
        if size > 1e-7:
            kept.append(i)
            direction = rest[:, i] / size
            rest -= np.outer(direction, direction @ rest)
    return [names[i] for i in kept], sections[:, kept]


def null_combinations(rates: np.ndarray, sizes: np.ndarray, nothing: float = NOTHING,
                      extents: np.ndarray | float = 1.0) -> np.ndarray:
    """Combinations (d, n) of candidates whose rates (N, n) vanish, in echelon form.

    Columns are scaled by the sizes (N, n) of the terms that cancel in them, so that the result does
    not depend on units; a size that is not above `nothing` times the largest, each relative to the
    extent (n,) of its candidate, is replaced by that.
    """
    extents = np.where(extents, extents, 1.0)
    norms = np.linalg.norm(sizes, axis=0) / extents
    largest = norms.max(initial=0.0) or 1.0
    scale = extents * np.where(norms > nothing * largest, norms, largest)
    _, s, vt = np.linalg.svd(rates / scale)
    return echelon(vt[int((s > ZERO).sum()):], scale)


def row_units(sizes: np.ndarray) -> np.ndarray:
    """Units u (N,) of rows such that sizes (N, n) = u_i w_j as nearly as possible, by least squares
    of logarithms. Another unit of length, mass or time changes u and w, but not the residual."""
    i, j = np.nonzero(sizes)
    matrix = np.zeros((len(i), sum(sizes.shape)))
    matrix[range(len(i)), i] = matrix[range(len(i)), sizes.shape[0] + j] = 1
    logs = np.linalg.lstsq(matrix, np.log(sizes[i, j]), rcond=None)[0]
    return np.exp(logs[:sizes.shape[0]])


def finite_points(tried: Iterable[list[np.ndarray]], wanted: int,
                  cure: str) -> list[list[np.ndarray]]:
    """The first `wanted` points at which all values are finite."""
    found = list(islice((point for point in tried
                         if all(np.isfinite(part).all() for part in point)), wanted))
    if len(found) < wanted:
        raise MechanicsError(f"everything is finite at only {len(found)} of {wanted} random "
                             f"states, too few to decide: {cure}")
    return found


def echelon(basis: np.ndarray, scale: np.ndarray | float = 1.0) -> np.ndarray:
    """Reduced row echelon form of basis / scale: each vector has an entry 1 where all others have
    0. Rounding errors are removed before the division."""
    basis, scale, r = basis.copy(), np.broadcast_to(scale, basis.shape[1:]), 0
    for column in range(basis.shape[1]):
        if r == len(basis):
            break
        pivot = r + int(np.argmax(np.abs(basis[r:, column])))
        if np.abs(basis[pivot, column]) <= 1e-8 * np.abs(basis[r:]).max():
            basis[r:, column] = 0
            continue
        basis[[r, pivot]] = basis[[pivot, r]]
        basis[r] *= scale[column] / basis[r, column]
        others = [i for i in range(len(basis)) if i != r]
        basis[others] -= np.outer(basis[others, column] / scale[column], basis[r])
        r += 1
    sizes = np.abs(basis).max(axis=1, initial=0.0, keepdims=True)
    basis = np.where(np.abs(basis) < ZERO * sizes, 0.0, basis) / scale
    near = np.round(basis)
    return np.where(np.abs(basis - near) < ZERO * np.abs(near), near, basis)


def name_combination(row: np.ndarray, names: list[str]) -> str:
    """A name such as "d/dphi - y d/dx + x d/dy"."""
    parts = []
    for coefficient, name in zip(row, names):
        if coefficient:
            size = "" if abs(coefficient) == 1 else f"{abs(coefficient):.6g} "
            parts.append(("-" if coefficient < 0 else "+", size + name.strip()))
    text = " ".join(f"{sign} {part}" for sign, part in parts)
    return text.removeprefix("+ ")
