"""The constraint algorithm for singular Lagrangians and for constraints that fail the compatibility
condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from ..errors import MechanicsError
from ..symbolic.row_reduction import row_reduce, row_reduce_avoiding
from .constraint_manifold import (
    ConstraintManifold,
    Near,
    common_rank,
    make_manifold,
    null_space,
    product_size,
    write_out,
)
from .equations import solve_definite
from .gauss_principle import moving_by
from .system import ConstrainedSystem, HasConstrained, LagrangianSystem, require_constrained


def constraint_classes(system: LagrangianSystem, manifold: ConstraintManifold) -> tuple[int, int]:
    """Numbers of first-class and of second-class constraints that define M_f = Leg(manifold) in the
    dual bundle.

    The second is the rank of the matrix of brackets of the constraints on M_f, the first the
    remainder of the codimension; primary constraints (those of the Legendre map) are among them.
    Brackets on the dual of an algebroid: {q^i, p_a} = rho^i_a, {p_a, p_b} = -c^g_ab p_g; on a
    tangent bundle the canonical ones.
    Source: paper 004, section II.A; Dirac 1964.
    """
    space, v = system.algebroid, system.v
    unit = _unit_of_inertia(manifold.at_points(system.mass_and_bias()[0]))
    momentum = ca.gradient(system.require_lagrangian("constraint_classes"), v) / unit
    state = ca.vertcat(system.q, v)
    embedding = space.embedding(system.q)
    functions = ca.vertcat(manifold.constraints, embedding)
    rho = space.anchor
    turning = ca.SX.zeros(space.nv, space.nv)
    for g, c in enumerate(space.structure):
        turning -= c * momentum[g]
    poisson = ca.blockcat([[ca.SX(space.nq, space.nq), rho], [-rho.T, turning]])
    legendre = ca.jacobian(ca.vertcat(system.q, momentum), state)
    parts = [manifold.at_points(part)
             for part in (ca.jacobian(functions, state), legendre, poisson)]
    normals = [null_space((leg @ kernel).T, product_size(leg, kernel))
               for leg, kernel in zip(parts[1], map(null_space, parts[0]))]
    codimension, *others = {normal.shape[1] for normal in normals}
    if others:
        raise MechanicsError(f"the Legendre image of the manifold has codimensions {codimension}, "
                             f"{', '.join(map(str, others))} at different points")
    brackets = np.array([normal.T @ bracket @ normal for normal, bracket in zip(normals, parts[2])])
    second = common_rank(brackets, "the matrix of brackets",
                         float(np.abs(parts[2]).max(initial=0.0)))
    return codimension - embedding.numel() - second, second


@dataclass(frozen=True)
class AlgorithmStep:
    """One step of the algorithm."""

    rank: int  # of the linear system for accelerations and multipliers
    unknowns: int
    constraints: ca.SX  # new functions of (t, q, v) that must vanish, (k,); none in the last step
    dimension: int  # of the manifold after the step


@dataclass(frozen=True)
class ConstraintAlgorithm:
    """The final constraint manifold and the dynamics on it.

    Attributes
    ----------
    original
        The original system.
    steps
        The iterations; a system that has a solution everywhere needs one.
    given
        Functions that vanish by assumption: holonomic ones, rows, nonlinear constraints.
    constraints
        All functions chi(t, q, v) that define the final manifold, independent, (k,).
    dimension
        Dimension of the final manifold, a subset of velocity phase space at fixed time.
    hessian_rank
        Rank of the Hessian of L.
    gauge
        Number of accelerations that remain undetermined.
    undetermined_reactions
        Number of multipliers that remain undetermined with all accelerations given.
    first_class, second_class
        Numbers of constraints on the momentum side, primary ones included (see
        `constraint_classes`); None where nonholonomic constraints act, whose reactions are no
        brackets, or where there is no Lagrangian.
    drift
        (t, q, v, u, theta) -> dq/dt (nq,), dv/dt (nv,) on the final manifold, gauge fixed.
    multipliers
        (t, q, v, u, theta) -> lambda (m,) of the rows, then of the nonlinear constraints.
    residual
        (t, q, v, theta) -> constraints (k,).
    manifold
        Random points, and `project` for initial states.
    constrained
        The motion on the final manifold as a system without rows, for `Simulator` and everything
        else that accepts a constrained system.
    """

    original: ConstrainedSystem
    steps: tuple[AlgorithmStep, ...]
    given: ca.SX
    constraints: ca.SX
    dimension: int
    hessian_rank: int
    gauge: int
    undetermined_reactions: int
    first_class: int | None
    second_class: int | None
    drift: ca.Function
    multipliers: ca.Function
    residual: ca.Function
    manifold: ConstraintManifold = field(repr=False)
    constrained: ConstrainedSystem = field(repr=False)

    def __repr__(self) -> str:
        return (f"<ConstraintAlgorithm: {len(self.steps)} steps to a manifold of dimension "
                f"{self.dimension}>")

    def describe(self) -> str:
        """The result in words."""
        space = self.original.system.algebroid
        lines = [f"Hessian of rank {self.hessian_rank} of {space.nv}: "
                 f"{'regular' if self.hessian_rank == space.nv else 'singular'}."]
        lines += [f"Given constraint: {given} = 0." for given in self._name_symbols(self.given)]
        for k, step in enumerate(self.steps):
            new = self._name_symbols(step.constraints)
            lines.append(f"Step {k}: rank {step.rank} of {step.unknowns}; " + (
                f"new: {', '.join(f'{chi} = 0' for chi in new)}; "
                f"dimension {step.dimension}." if new else "no new constraint."))
        lines.append(f"Final manifold of dimension {self.dimension}, {self.constraints.numel()} "
                     "constraints.")
        if self.first_class is not None:
            lines.append(f"On the momentum side {self.first_class} of first class, "
                         f"{self.second_class} of second class.")
        undetermined = f"Undetermined accelerations (gauge): {self.gauge}."
        lines.append(undetermined if self.gauge else "All accelerations are determined.")
        if self.undetermined_reactions:
            lines.append(f"Undetermined reactions: {self.undetermined_reactions}.")
        return "\n".join(lines)

    def _name_symbols(self, functions: ca.SX) -> list[str]:
        """The text of the functions, with the names of q, v, theta."""
        s = self.original.system
        names = (s.algebroid.q_names, s.algebroid.v_names, s.theta_names)
        named = [ca.vertcat(ca.SX(0, 1), *[ca.SX.sym(name) for name in part]) for part in names]
        if not functions.numel():
            return []
        renamed = ca.substitute([ca.densify(functions)], [s.q, s.v, s.theta], named)[0]
        return [write_out(ca.simplify(renamed[i])) for i in range(renamed.numel())]


@check_arguments
@hear_ctrl_c()
def constraint_algorithm(constrained: HasConstrained, *, nonlinear: ca.SX | None = None,
                         gauge: Mapping[str, float | ca.SX] | None = None,
                         near: Near | None = None) -> ConstraintAlgorithm:
    """The constraint algorithm of Dirac and Gotay-Nester, for singular systems.

    It adds constraints chi(t, q, v) until K w = r has a solution w = (dv/dt, lambda) that is
    tangent to all of them::

        K = [M  -R^T; dchi/dv  0],   r = [tau - h; -dchi/dq rho v - dchi/dt]

    M, h from dS/da = M a + h; R the rows A, and dC/dv of nonlinear constraints (Chetaev). New
    constraints are the left null vectors of K times r. Ranks are decided at random points of the
    manifold so far; the null vectors come from elimination.

    The second-order condition dq/dt = rho v is imposed from the start: the final manifold is the
    part of Gotay and Nester's P_f that solutions of the Euler-Lagrange equations pass through; its
    Legendre image is their final manifold on the momentum side. Source: paper 004, sections II.A,
    II.B, eqs. (3), (11), remark III.3; Gotay and Nester 1979, 1980.

    Parameters
    ----------
    constrained
        A `ConstrainedSystem`, or anything with one as `.constrained`.
    nonlinear
        C(t, q, v) (k,) that vanish, with reactions by Chetaev's rule.
    gauge
        Values for undetermined accelerations by name of their fibre coordinate, numbers or
        expressions in the system's symbols; without them, least norm of w over what is
        undetermined.
    near
        (q, v) near which the manifold is meant, where it has several pieces or singular points.

    Raises
    ------
    MechanicsError
        Where the manifold is empty, a rank jumps, a constraint is not regular or depends on an
        input, or a named acceleration is not free.
    """
    constrained = require_constrained(constrained)
    constrained.require_ideal("constraint_algorithm")
    s, d = constrained.system, constrained.distribution
    extra = ca.SX(0, 1) if nonlinear is None else ca.SX(nonlinear)
    M, h = s.mass_and_bias()
    reactions = ca.vertcat(d.A, ca.jacobian(extra, s.v))
    manifold = make_manifold(constrained, extra, near)
    given, steps = manifold.constraints, []
    nv, unknowns = s.algebroid.nv, s.algebroid.nv + reactions.shape[0]
    unit = _unit_of_inertia(manifold.at_points(M))
    while True:
        chi = manifold.constraints
        slope = ca.jacobian(chi, s.v)
        matrix = ca.blockcat([[M / unit, -reactions.T],
                              [slope, ca.SX(slope.shape[0], reactions.shape[0])]])
        right = ca.densify(ca.vertcat((s.force - h) / unit, -s.rate(chi)))
        samples = manifold.at_points(matrix)
        rank = common_rank(samples, "the system for accelerations and multipliers")
        reduced = row_reduce(matrix, right, samples, rank)
        scale = float(np.abs(manifold.at_points(right)).max(initial=0.0))
        new = [added for condition in reduced.conditions
               for added in manifold.impose(_free_of_inputs(condition, constrained), scale)]
        steps.append(AlgorithmStep(rank, unknowns, ca.vertcat(ca.SX(0, 1), *new),
                                   manifold.dimension))
        if not new:
            break
    spare = reactions.shape[0] - common_rank(manifold.at_points(reactions), "the set of reactions")
    undetermined = unknowns - rank - spare
    w = _solution(constrained, matrix, right, samples, rank, undetermined, gauge or {})
    holonomic = d.m == d.phi.numel() and not extra.numel()
    first, second = (constraint_classes(s, manifold) if holonomic and s.lagrangian is not None
                     else (None, None))
    inputs, names, options = ([s.t, s.q, s.v, s.u, s.theta], ["t", "q", "v", "u", "theta"],
                              {"cse": True})
    return ConstraintAlgorithm(
        constrained, tuple(steps), given, manifold.constraints, manifold.dimension,
        common_rank(manifold.at_points(M), "the Hessian of L"), undetermined, spare,
        first, second,
        ca.Function("drift", inputs, [ca.densify(s.q_rate), ca.densify(w[:nv])], names,
                    ["q_rate", "v_rate"], options),
        ca.Function("multipliers", inputs, [ca.densify(unit * w[nv:])], names, ["lam"], options),
        ca.Function("residual", [s.t, s.q, s.v, s.theta],
                    [ca.densify(manifold.constraints)], ["t", "q", "v", "theta"], ["chi"], options),
        manifold, moving_by(constrained, w[:nv], manifold))


def _unit_of_inertia(M: np.ndarray) -> float:
    """The power of a thousand next to the largest entry of M (n, nv, nv), in which accelerations
    and multipliers are of one size; 1 if there is no inertia."""
    size = float(np.abs(M).max(initial=0.0))
    return 1000.0 ** round(log(size, 1000)) if size else 1.0


def _free_of_inputs(condition: ca.SX, constrained: ConstrainedSystem) -> ca.SX:
    """The simplified condition. Raises `MechanicsError` if it depends on an input, so that it does
    not constrain the state."""
    condition = ca.simplify(ca.densify(condition))
    for i, name in enumerate(constrained.system.u_names):
        if ca.depends_on(condition, constrained.system.u[i]):
            raise MechanicsError(f"input {name!r} enters the constraint {write_out(condition)}: it "
                                 "acts where the acceleration is undetermined")
    return condition


def _solution(constrained: ConstrainedSystem, matrix: ca.SX, right: ca.SX, samples: np.ndarray,
              rank: int, gauge: int, named: Mapping[str, float | ca.SX]) -> ca.SX:
    """w (unknowns,) with the given accelerations, and least norm over the other undetermined
    unknowns."""
    names = constrained.system.algebroid.v_names
    columns = {_index(names, name): ca.SX(value) for name, value in named.items()}
    reduced = row_reduce_avoiding(matrix, right, samples, rank, tuple(columns))
    if reduced is None or len(columns) > gauge:
        raise MechanicsError(f"the accelerations of {', '.join(named)} cannot be chosen: {gauge} "
                             f"of {len(names)} are undetermined, and these are not, or follow from "
                             "each other")
    w = reduced.solve(columns)
    kernel = reduced.kernel([j for j in reduced.free if j not in columns])
    return w - kernel @ solve_definite(kernel.T @ kernel, kernel.T @ w) if kernel.shape[1] else w


def _index(names: Sequence[str], name: str) -> int:
    for candidate in (name, f"{name}'"):
        if candidate in names:
            return names.index(candidate)
    raise MechanicsError(f"no fibre coordinate {name!r}; there are {', '.join(names)}")
