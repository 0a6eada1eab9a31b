"""One step of a run as CasADi functions of the state vector: the step of a scheme, the projection
onto the constraints, and the rule by which a step is accepted.

Configurations are integrated in their embedding and projected, which preserves the order of the
scheme on the manifold; the exponential map of an averaged velocity would not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...compile.adaptive import ATOL, RTOL, Adaptive
from ...compile.loop import NEWTON
from ...compile.status import CODES, Status
from ...mechanics.equations import Equations, solve_definite
from ...once import once
from ...symbolic.buffered import Buffered
from ...symbolic.reciprocals import share_reciprocals
from ..state_vector import StateVector, state_symbols
from .flow import INLINE, Flow, Method
from .schemes import RK4, Scheme

TRIALS = 12        # states at which a test checks whether steps keep the constraints
# a step to a smaller margin, or to the other side of a singularity, is taken in another chart
POOR = 0.1
FAR = 1e10       # larger numbers are not accepted [m, rad, m/s, rad/s]
LOOSE = 1e-6     # [m] one Newton step reduces a smaller |phi| to less than 1e-12
# a guard below this that changes by half in one step is about to vanish, or has changed sign
FLAT = 0.1


class Step(NamedTuple):
    """The result of a step."""

    x: np.ndarray  # the state vector
    q: np.ndarray
    v: np.ndarray
    health: np.ndarray  # (3,) |phi| before the last projection [m], frame's margin, least guard
    status: Status  # DONE if the step is accepted
    t: float  # time that was reached [s]; before the end of the step if the integrator failed


# (t, x, u, theta, dt, side, guard) -> Step
Advance = Callable[[float, np.ndarray, np.ndarray, np.ndarray, float, float, float], Step]

# (t, x, theta) -> margins (n,), and the status of a step that makes each of them negative
Bounded = tuple[ca.Function, Sequence[Status]]


@once
def rate_function(equations: Equations, kinematic: bool = False) -> ca.Function:
    """(t, x, u, theta) -> dx/dt; xi is constant in kinematic mode."""
    vector, system = StateVector.of(equations), equations.constrained.system
    x, q, v = state_symbols(equations)
    _, xi = vector.split(x)
    q_rate, xi_rate = equations.drift(system.t, q, xi, system.u, system.theta)
    if kinematic:
        xi_rate = ca.SX.zeros(vector.nxi, 1)
    return share_reciprocals(ca.Function(
        "rate", [system.t, x, system.u, system.theta],
        [ca.densify(vector.rate(q_rate, v, xi_rate))], {"cse": True}))


@once
def projection_function(equations: Equations) -> ca.Function:
    """(t, x, theta) -> x on the constraint manifold, q, v, and health (3,): |phi| and |invariant|
    before, margin of the frame, least guard.

    One Newton step, which does not change xi, reduces phi quadratically. Functions of the state
    that must stay zero get another Newton step, in q and xi.
    """
    vector, frame = StateVector.of(equations), equations.frame
    constrained = frame.constrained
    system, algebroid = constrained.system, constrained.system.algebroid
    x = ca.SX.sym("x", vector.nx)
    configuration, xi = vector.split(x)
    start = vector.unit(configuration)
    raw = vector.configuration(start)
    correction = frame.correction()
    moved_q, moved_v = system.expand(algebroid.anchor @ correction, correction)
    step = vector.rate(moved_q, moved_v, ca.SX(0, 1))
    step, phi = ca.substitute([step, constrained.distribution.phi], [algebroid.q], [raw])
    moved = vector.unit(start + step)
    moved, xi, off = _onto_invariant(equations, moved, xi)
    q = vector.configuration(moved)
    margin, guards = ca.substitute([frame.margin, constrained.guards], [algebroid.q], [q])
    v = equations.velocity(system.t, q, xi, system.theta)
    phi = ca.vertcat(phi, off)
    health = ca.vertcat(ca.norm_inf(phi) if phi.numel() else 0, margin,
                        ca.mmin(guards) if guards.numel() else 1)
    return share_reciprocals(ca.Function(
        "nhmech_project", [system.t, x, system.theta],
        [ca.densify(e) for e in (ca.vertcat(moved, xi), q, v, health)], {"cse": True}))


def _onto_invariant(equations: Equations, configuration: ca.SX,
                    xi: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """The configuration's part of x, and xi, after the shortest Newton step onto `invariant` = 0,
    in velocities along the frame and in xi; and `invariant` before."""
    vector, frame = StateVector.of(equations), equations.frame
    constrained = frame.constrained
    system, chi = constrained.system, constrained.invariant
    if not chi.numel():
        return configuration, xi, chi
    speeds = ca.SX.sym("xi", vector.nxi)
    v = equations.velocity(system.t, system.q, speeds, system.theta)
    chi, E = ca.substitute(chi, system.v, v), frame.E
    slope = ca.horzcat(ca.jacobian(chi, system.q) @ system.algebroid.anchor @ E,
                       ca.jacobian(chi, speeds))
    step = -slope.T @ solve_definite(ca.densify(slope @ slope.T), chi)
    along = ca.densify(E @ step[:vector.nxi])
    moved = vector.rate(system.algebroid.anchor @ along, along, step[vector.nxi:])
    moved, chi = ca.substitute([ca.densify(moved), chi], [system.q, speeds],
                               [vector.configuration(configuration), xi])
    return (vector.unit(configuration + moved[:vector.nconf]), xi + moved[vector.nconf:], chi)


@once
def reading_function(equations: Equations) -> ca.Function:
    """(t, x, theta) -> q, v, for the moments that are recorded or shown. (The name `read` is taken
    by the C library.)"""
    system, (x, q, v) = equations.constrained.system, state_symbols(equations)
    return ca.Function("nhmech_read", [system.t, x, system.theta], [ca.densify(q), ca.densify(v)],
                       {"cse": True})


def normalising_function(equations: Equations) -> ca.Function:
    """(t, x, theta) -> x with unit quaternions, and the margin of the frame: the projection if phi
    does not change."""
    vector, system = StateVector.of(equations), equations.constrained.system
    x = ca.SX.sym("x", vector.nx)
    configuration, xi = vector.split(x)
    configuration = vector.unit(configuration)
    margin = ca.substitute(equations.frame.margin, system.q, vector.configuration(configuration))
    return ca.Function("nhmech_normalise", [system.t, x, system.theta],
                       [ca.vertcat(configuration, xi), ca.densify(margin)])


@once
def lift_function(equations: Equations) -> ca.Function:
    """(t, x, theta) -> directions (nx, k) and phi (k,), as in `Flow.lift`."""
    vector, frame = StateVector.of(equations), equations.frame
    constrained = frame.constrained
    system, distribution = constrained.system, constrained.distribution
    x = ca.SX.sym("x", vector.nx)
    kept = [i for i, row in enumerate(distribution.phi_rows) if row in frame.kept]
    wanted = ca.SX(len(frame.kept), len(kept))
    for column, i in enumerate(kept):
        wanted[frame.kept.index(distribution.phi_rows[i]), column] = 1
    moved = frame.solve(ca.SX(frame.nxi, len(kept)), wanted)
    still, columns = ca.SX(frame.nxi, 1), []
    for v in ca.horzsplit(moved) if kept else ():
        q_rate, v = system.expand(system.algebroid.anchor @ v, v)
        columns.append(vector.rate(q_rate, v, still))
    directions, phi = ca.substitute(
        [ca.horzcat(ca.SX(vector.nx, 0), *columns), distribution.phi[kept]], [system.q],
        [vector.configuration(x[:vector.nconf])])
    return ca.Function("nhmech_lift", [system.t, x, system.theta],
                       [ca.densify(directions), ca.densify(phi)], {"cse": True})


def no_lift(equations: Equations) -> ca.Function:
    """The same without directions, for steps that keep phi."""
    vector, system = StateVector.of(equations), equations.constrained.system
    x = ca.SX.sym("x", vector.nx)
    return ca.Function("nhmech_lift", [system.t, x, system.theta],
                       [ca.SX(vector.nx, 0), ca.SX(0, 1)])


# -- acceptance ------------------------------------------------------------------------------------
def acceptance_function(nx: int) -> ca.Function:
    """(x, health, side, guard) -> `Status` of a step that ends at x.

    The step is accepted if all numbers are finite and no larger than FAR, |phi| <= LOOSE, the
    margin of the frame has the sign `side` (1 or -1) and is at least POOR, and no guard is about to
    vanish, that is, below FLAT after a change by half from `guard`, its value before the step. NaN
    stands for an unknown side or guard, as at the start.
    """
    x, health = ca.SX.sym("x", nx), ca.SX.sym("health", 3)
    side, guard = ca.SX.sym("side"), ca.SX.sym("guard")
    phi, margin, least = health[0], health[1], health[2]
    # A sum with a NaN or an infinite term is not finite. (CasADi simplifies x - x and 0 x to 0, and
    # (a - b) + b to a, but not absolute values.)
    sizes = [ca.fabs(entry) for entry in ca.vertsplit(ca.vertcat(x, health))]
    finite = _sum(sizes) <= FAR
    # low = (both - change) / 2 is the smaller of the two guards, high the larger one. The condition
    # is low < FLAT and high > 1.5 low; every negative guard satisfies it.
    both, change = least + guard, ca.fabs(least - guard)
    fallen = ca.logic_and(both - change < 2 * FLAT, both < 5 * change)
    status = ca.if_else(margin * side < POOR, int(Status.SINGULAR), int(Status.DONE))
    status = ca.if_else(fallen, int(Status.FALLEN), status)
    status = ca.if_else(phi > LOOSE, int(Status.OFF), status)
    status = ca.if_else(finite, status, int(Status.NOT_FINITE))
    return ca.Function("nhmech_accept", [x, health, side, guard], [ca.densify(status)])


def _sum(terms: list[ca.SX]) -> ca.SX:
    """A sum by pairs, which the processor can add in parallel."""
    half = len(terms) // 2
    return _sum(terms[:half]) + _sum(terms[half:]) if half else terms[0]


def step_function(advance: ca.Function, bounds: Bounded | None = None,
                  name: str = "nhmech_step") -> ca.Function:
    """(t, x, u, theta, dt, side, guard) -> x, health, status: the step of `advance` with its
    status. A step that reaches one of the `bounds` gets the status of that bound.

    If steps keep the constraints and guards by themselves, `advance` returns only the margin in
    place of health.
    """
    inputs = advance.sx_in() if advance.is_a("SXFunction") else advance.mx_in()
    symbol = type(inputs[0])
    side, guard = symbol.sym("side"), symbol.sym("guard")
    x, health, *met = advance(*inputs)
    if health.numel() == 1:
        health = ca.vertcat(0, health, guard)
    status = acceptance_function(x.numel())(x, health, side, guard)
    for is_met, failure in zip(met, (Status.UNSOLVED, Status.WORKED)):
        status = ca.if_else(is_met, status, int(failure))
    if bounds is not None:
        margins, codes = bounds
        reached = margins(inputs[0] + inputs[4], x, inputs[3]) <= 0
        # by pairs, because lanes have no `mmax` of a vector
        most = reduce(ca.fmax, ca.vertsplit(reached * ca.DM([int(code) for code in codes])))
        status = ca.if_else(status == int(Status.DONE), most, status)
    return ca.Function(name, [*inputs, side, guard], [x, ca.densify(health), status],
                       {"cse": True} if symbol is ca.SX else {})


@once
def settle_function(equations: Equations) -> ca.Function:
    """(t, x, theta, side, guard) -> x, health, status: one projection, and the status after it."""
    project = projection_function(equations)
    inputs = symbols_of(project)
    side, guard = type(inputs[0]).sym("side"), type(inputs[0]).sym("guard")
    x, _, _, health = project(*inputs)
    status = acceptance_function(x.numel())(x, health, side, guard)
    return ca.Function("nhmech_settle", [*inputs, side, guard], [x, health, status],
                       {"cse": True} if type(inputs[0]) is ca.SX else {})


@once
def loop_step(equations: Equations, method: Method, kinematic: bool) -> tuple[ca.Function, bool]:
    """The step for compiled code, and whether it keeps the constraints by itself."""
    keeping = keeping_advance_function(equations, method, kinematic)
    kept = keeping is not None
    return step_function(keeping or advance_function(equations, method, kinematic)), kept


def symbols_of(function: ca.Function) -> list[ca.SX] | list[ca.MX]:
    """Symbols for the inputs of a function: SX, so that a short function is inlined into another,
    or MX, so that a long one is called."""
    return function.sx_in() if function.n_instructions() <= INLINE else function.mx_in()


# -- steps of a method -----------------------------------------------------------------------------
@once
def advance_function(equations: Equations, method: Method, kinematic: bool = False) -> ca.Function:
    """(t, x, u, theta, dt) -> x, health: a step of the method, then the projection; for an implicit
    method also whether its equations were solved, for one that conserves energy also whether forces
    did no work."""
    return method.step(_flow(equations, kinematic, projection_function(equations),
                             lift_function(equations)))


@once
def keeping_advance_function(equations: Equations, method: Method,
                             kinematic: bool = False) -> ca.Function | None:
    """(t, x, u, theta, dt) -> x, margin: a step without projection, if steps of any length keep
    constraints and guards by themselves; else None.

    That is so if the attitude cannot change. It is not proved but tested: steps of 0.3 s from
    random states must leave phi below 1e-14 m, and must not change any guard. Only for steps with
    few operations, of which the projection is a large part.
    """
    flow = _flow(equations, kinematic, normalising_function(equations), no_lift(equations))
    is_short = flow.symbol(method.rates) is ca.SX
    return method.step(flow) if is_short and _keeps(equations, kinematic) else None


def _flow(equations: Equations, kinematic: bool, end: ca.Function, lift: ca.Function) -> Flow:
    return Flow(equations, rate_function(equations, kinematic), rate_function(equations, True), end,
                lift)


@once
def _keeps(equations: Equations, kinematic: bool) -> bool:
    """Whether steps of 0.3 s from random states do not change phi and the guards."""
    rate, project = rate_function(equations, kinematic), projection_function(equations)
    vector, constrained = StateVector.of(equations), equations.constrained
    theta, random = np.asarray(constrained.parameters, dtype=float), np.random.default_rng(0)
    for q in constrained.configurations[:TRIALS]:
        t, u = random.normal(), random.normal(size=rate.size1_in(2))
        xi = random.normal(size=vector.nxi)
        x = project(t, vector.assemble(q, xi), theta)[0]
        before = project(t, x, theta)[3]
        raw = RK4.advance(lambda t, x, u=u: rate(t, x, u, theta), t, x, 0.3)
        after = project(t + 0.3, raw, theta)[3]
        if not (float(after[0]) <= 1e-14 and abs(float(after[2] - before[2])) <= 1e-14):
            return False
    return True


# -- steps from Python -----------------------------------------------------------------------------
def python_step(equations: Equations, scheme: Scheme, kinematic: bool,
                adaptive: Adaptive | None) -> Advance:
    """The step of a scheme, for calls from Python, projected again up to `NEWTON` times if one
    projection does not suffice.

    `adaptive`: the compiled DOP853; None without a compiler, where SciPy's is used.
    """
    settle = Buffered(_settle_and_read(equations))
    if scheme.method is not None:
        step = Buffered(_step_and_read(equations, scheme.method, kinematic))

        def first(t, x, u, theta, dt, side, guard):
            return step(t, x, u, theta, dt, side, guard), t + dt
    else:
        rate = rate_function(equations, kinematic)
        span = _scipy_span(Buffered(rate)) if adaptive is None else adaptive.run

        def first(t, x, u, theta, dt, side, guard):
            end, status, reached = span(t, x, u, theta, dt)
            found = settle(reached, end, theta, side, guard)
            if status:
                found[-1][0] = status
            return found, reached

    def advance(t, x, u, theta, dt, side, guard) -> Step:
        found, reached = first(t, x, u, theta, dt, side, guard)
        for _ in range(NEWTON):
            # as a plain number, because NumPy is slow with enumerations
            if found[-1].item() != CODES["OFF"]:
                break
            found = settle(reached, found[0].copy(), theta, side, guard)
        x, q, v, health, status = found
        return Step(x.copy(), q.copy(), v.copy(), health.copy(), Status(int(status.item())),
                    reached)

    return advance


@once
def _settle_and_read(equations: Equations) -> ca.Function:
    settle = settle_function(equations)
    t, _, theta, *_ = inputs = settle.mx_in()
    return _append_state(settle, inputs, reading_function(equations), t, theta)


@once
def _step_and_read(equations: Equations, method: Method, kinematic: bool) -> ca.Function:
    step = step_function(advance_function(equations, method, kinematic))
    t, _, _, theta, dt, *_ = inputs = step.mx_in()
    return _append_state(step, inputs, reading_function(equations), t + dt, theta)


def _append_state(step: ca.Function, inputs: list[ca.MX], read: ca.Function, t: ca.MX,
                  theta: ca.MX) -> ca.Function:
    """The function of `inputs` with q and v of its x, at t, as additional outputs."""
    x, health, status = step(*inputs)
    return ca.Function("step", inputs, [x, *read(t, x, theta), health, status])


def _scipy_span(rate: Buffered) -> Callable:
    from scipy.integrate import solve_ivp

    def span(t, x, u, theta, dt):
        # SciPy would try a first step without a length for ever
        if np.isnan(rate(t, x, u, theta)[0]).any():
            return np.array(x), Status.NOT_FINITE, t
        solution = solve_ivp(lambda s, y: rate(s, y, u, theta)[0].copy(), (t, t + dt), np.array(x),
                             method="DOP853", rtol=RTOL, atol=ATOL)
        end, reached = solution.y[:, -1], float(solution.t[-1])
        if solution.success:
            return end, Status.DONE, reached
        finite = np.isfinite(rate(reached, end, u, theta)[0]).all()
        return end, Status.TOO_SMALL if finite else Status.NOT_FINITE, reached

    return span
