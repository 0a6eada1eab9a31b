"""Symmetries of constrained systems: infinitesimal generators, their invariance, their algebra and
their class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import casadi as ca
import numpy as np

from ..checks import check_arguments, show
from ..ctrl_c import hear_ctrl_c
from ..errors import REPR, MechanicsError, listed
from ..symbolic.foreign import foreign_symbols
from ..symbolic.row_reduction import ZERO
from .algebroid import LieAlgebroid, bracket
from .frame import at_samples
from .invariance import evaluate, invariances
from .system import ConstrainedSystem, HasConstrained, LagrangianSystem, require_constrained
from .writing import Symbols, symbols

Section: TypeAlias = ca.SX | Callable[[Symbols], Mapping[str, ca.SX]]

PURELY_KINEMATIC, HORIZONTAL, GENERAL = "purely kinematic", "horizontal", "general"
TRANSVERSE = "transverse"
STATES = 12      # random states at which invariance is checked


def symmetry_class(vertical: int, horizontal: int, motion: int, tangent: int) -> str:
    """Class of paper 004, section VI, from dim V, dim of V meet D, dim D, dim T.

    "purely kinematic" (i): V meets D in 0 only and V + D is everything; "horizontal" (ii): V lies
    in D; "general" (iii): V meet D is neither 0 nor V. What is left is none of the three:
    "transverse", V meets D in 0 only and both together leave directions over, so that there is
    neither a connection nor a momentum equation.
    """
    if horizontal == 0:
        return PURELY_KINEMATIC if vertical + motion == tangent else TRANSVERSE
    return HORIZONTAL if horizontal == vertical else GENERAL


@dataclass(frozen=True)
class Symmetry:
    """A group that acts on a constrained system and leaves it invariant, given by its generators.

    Made by `symmetry` and `find_symmetry`.

    Attributes
    ----------
    constrained
        The system.
    names
        Names of the generators.
    generators
        (nv, k): columns are sections s_i of the algebroid, functions of (q, theta).
    constants
        (k, k, k): [s_i, s_j] = constants[l, i, j] s_l, as brackets of sections (vector fields); for
        an action from the left these are minus the constants of the group's Lie algebra.
    dim_vertical
        Dim V, V spanned by the generators.
    dim_horizontal
        Dim of V meet D.
    dim_motion
        Dim D.
    dim_tangent
        Dim of the fibre tangent to the holonomic constraints.
    """

    constrained: ConstrainedSystem
    names: tuple[str, ...]
    generators: ca.SX
    constants: np.ndarray
    dim_vertical: int
    dim_horizontal: int
    dim_motion: int
    dim_tangent: int

    def __repr__(self) -> str:
        return f"<Symmetry, {self.kind}: {listed(self.names, REPR)}>"

    @property
    def kind(self) -> str:
        """The position of V relative to D, see `symmetry_class`; V meet D is V meet F on TQ,
        because a complete lift lies in F = D^v where its section lies in D."""
        return symmetry_class(self.dim_vertical, self.dim_horizontal, self.dim_motion,
                              self.dim_tangent)

    @property
    def abelian(self) -> bool:
        return not self.constants.any()

    def require(self, method: str, kind: str) -> None:
        """Raises `MechanicsError` with the dimensions if the class is another one, or if the
        generators depend on each other pointwise."""
        if self.kind != kind:
            raise MechanicsError(f"{method} needs a {kind} symmetry, this one "
                                 f"({', '.join(self.names)}) is {self.kind}: dim V = "
                                 f"{self.dim_vertical}, dim D = {self.dim_motion}, dim of V meet D "
                                 f"= {self.dim_horizontal}, of {self.dim_tangent}")
        if self.dim_vertical < len(self.names):
            raise MechanicsError(f"{method} needs a free action: the {len(self.names)} generators "
                                 f"{', '.join(self.names)} span only {self.dim_vertical} "
                                 "dimensions")


@check_arguments
@hear_ctrl_c()
def symmetry(constrained: HasConstrained, generators: Mapping[str, Section]) -> Symmetry:
    """A symmetry from its infinitesimal generators, checked at random states.

    Along the complete lift of each generator L, the forces and the distribution do not change;
    the generators close under the bracket with constant coefficients.
    Source: paper 004, sections V and VI.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    generators
        Name -> section: an (nv,) column in the fibre's basis, or s -> {name of a fibre coordinate:
        component}.

    Raises
    ------
    MechanicsError
        Where something is not invariant under a generator, the bracket of two generators leaves
        them, generators depend on each other, or the class changes between configurations; the
        message names them.
    """
    constrained = require_constrained(constrained)
    if not generators:
        raise MechanicsError("a symmetry needs at least one generator")
    names = tuple(generators)
    S = ca.horzcat(*[ca.densify(section_column(constrained.system, value, name))
                     for name, value in generators.items()])
    found = invariances(constrained, S)
    for quantity, (derivative, size) in zip(found, evaluate(constrained, found, STATES)):
        wrong = ~(np.abs(derivative) <= ZERO * size.max(axis=0, initial=0.0))
        if wrong.any():
            state, entry, i = (int(n) for n in np.argwhere(wrong)[0])
            label = f" {quantity.labels[entry]!r}" if quantity.labels[entry] else ""
            raise MechanicsError(f"generator {names[i]!r} is no symmetry: {quantity.what}{label} "
                                 f"changes along it at a rate of {derivative[state, entry, i]:.3g} "
                                 f"(random state {state})")
    return Symmetry(constrained, names, S, _constants(constrained, S, names),
                    *_dimensions(constrained, S))


def section_column(system: LagrangianSystem, value: Section, name: str = "section") -> ca.SX:
    """(nv,) column of a section, itself or s -> {name of a fibre coordinate: component}."""
    v_names = system.algebroid.v_names
    if callable(value):
        column, given = ca.SX(len(v_names), 1), value(symbols(system))
        if not isinstance(given, Mapping):
            raise MechanicsError(f"generator {name!r} returned {show(given)}; return a mapping, "
                                 "name of a fibre coordinate -> component")
        for key, component in given.items():
            index = next((v_names.index(n) for n in (key, f"{key}'") if n in v_names), None)
            if index is None:
                raise MechanicsError(f"generator {name!r} has a component along {key!r}; "
                                     f"there are {', '.join(v_names)}")
            column[index] = component
        value = column
    value = ca.SX(value)
    if value.shape != (len(v_names), 1):
        raise MechanicsError(f"generator {name!r} has shape {value.shape}, a section of this "
                             f"fibre is ({len(v_names)}, 1)")
    foreign = foreign_symbols(value, ca.vertcat(system.q, system.theta))
    if foreign:
        raise MechanicsError(f"generator {name!r} may depend only on q and parameters, and "
                             f"contains {listed(symbol.name() for symbol in foreign)}")
    return value


def _constants(constrained: ConstrainedSystem, S: ca.SX, names: tuple[str, ...]) -> np.ndarray:
    k, algebroid = len(names), constrained.system.algebroid
    stacked = at_samples(constrained, S).reshape(-1, k)
    lengths = np.linalg.norm(stacked, axis=0)
    rank = _rank(stacked / _largest(lengths))
    if rank < k:
        raise MechanicsError(f"the generators {', '.join(names)} depend on each other: rank {rank} "
                             f"of {k}")
    constants = np.zeros((k, k, k))
    for i, j in combinations(range(k), 2):
        values = at_samples(constrained,
                            ca.densify(bracket(algebroid, S[:, i], S[:, j]))).reshape(-1)
        coefficients = np.linalg.lstsq(stacked / lengths, values, rcond=None)[0] / lengths
        defect = np.abs(stacked @ coefficients - values).max()
        sizes = at_samples(constrained, ca.densify(_bracket_size(algebroid, S[:, i], S[:, j])))
        if not defect <= ZERO * np.abs(sizes).max():
            raise MechanicsError(f"the bracket of the generators {names[i]!r} and {names[j]!r} "
                                 f"is not a combination of {', '.join(names)} with constant "
                                 f"coefficients (defect {defect:.3g}): add it as a generator")
        coefficients = np.where(np.abs(coefficients) * lengths < ZERO * np.linalg.norm(sizes),
                                0.0, coefficients)
        constants[:, i, j], constants[:, j, i] = coefficients, -coefficients
    return constants + 0.0                               # removes negative zeros


def _bracket_size(algebroid: LieAlgebroid, X: ca.SX, Y: ca.SX) -> ca.SX:
    """Size of the terms that cancel in [X, Y], (nv,)."""
    q, rho = algebroid.q, ca.fabs(algebroid.anchor)
    constant = ca.vertcat(*[ca.fabs(X).T @ ca.fabs(c) @ ca.fabs(Y) for c in algebroid.structure])
    return (ca.fabs(ca.jacobian(Y, q)) @ rho @ ca.fabs(X)
            + ca.fabs(ca.jacobian(X, q)) @ rho @ ca.fabs(Y) + constant)


def _dimensions(constrained: ConstrainedSystem, S: ca.SX) -> tuple[int, int, int, int]:
    """dim V, dim of V meet D, dim D, dim T at the sample configurations; V meet D is the kernel of
    A on V."""
    d, nv = constrained.distribution, constrained.system.algebroid.nv
    A, V, holonomic = at_samples(constrained, d.A), at_samples(constrained, S), list(d.phi_rows)
    A, V = (values / _largest(np.abs(values).max(axis=axes, keepdims=True))
            for values, axes in ((A, (0, 2)), (V, (0, 1))))
    found = []
    for forms, vertical in zip(A, V):
        dim_v, dim_av = _rank(vertical), _rank(forms @ vertical)
        found.append((dim_v, dim_v - dim_av, nv - _rank(forms), nv - _rank(forms[holonomic])))
    if len(set(found)) > 1:
        raise MechanicsError("the class of the symmetry changes between configurations: (dim V, "
                             "dim of V meet D, dim D, dim T) are "
                             f"{' and '.join(str(dims) for dims in sorted(set(found)))}; give "
                             "samples where they are constant")
    return found[0]


def _rank(matrix: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(matrix, tol=ZERO)) if matrix.size else 0


def _largest(sizes: np.ndarray) -> np.ndarray:
    return np.where(sizes > 0, sizes, 1.0)
