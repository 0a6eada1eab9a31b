"""Integrators on the state vector, each a pure step (t, x, u, theta, dt) -> x followed by the same
projection.

Configurations are integrated in their embedding and pulled back, which keeps the order of the
scheme on the manifold; an averaged velocity fed to the exponential map would not.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ..compile.adaptive import ATOL, REACHED, RTOL, TOO_SMALL, Adaptive
from ..compile.buffered import Buffered
from ..errors import SimulationError
from ..mechanics.equations import Equations
from .state_vector import StateVector

INLINE = 3000      # operations of a step up to which it is written as one expression
TRIALS = 12        # states at which it is tried whether a scheme keeps the constraints
INTEGRATORS = "rk4", "dop853"
Step = Callable[[float, np.ndarray, np.ndarray, np.ndarray, float], list[np.ndarray]]


def rate_function(equations: Equations, vector: StateVector,
                  kinematic: bool = False) -> ca.Function:
    """(t, x, u, theta) -> dx/dt; in kinematic mode xi is held."""
    system = equations.frame.constrained.system
    x = ca.SX.sym("x", vector.nx)
    q = vector.configuration(x[:vector.nconf])
    q_rate, xi_rate = equations.drift(system.t, q, x[vector.nconf:], system.u, system.theta)
    if kinematic:
        xi_rate = ca.SX.zeros(vector.nxi, 1)
    v = equations.velocity(system.t, q, x[vector.nconf:], system.theta)
    return ca.Function("rate", [system.t, x, system.u, system.theta],
                       [ca.densify(vector.rate(q_rate, v, xi_rate))], {"cse": True})


def projection_function(equations: Equations, vector: StateVector) -> ca.Function:
    """(t, x, theta) -> x on the constraint manifold, q, v, and health (3,): old |phi|, frame's
    margin, least guard.

    One Newton step that leaves xi alone; what it leaves of phi is the square of what the integrator
    made.
    """
    frame = equations.frame
    constrained = frame.constrained
    system, algebroid = constrained.system, constrained.system.algebroid
    x = ca.SX.sym("x", vector.nx)
    start = vector.unit(x[:vector.nconf])
    raw = vector.configuration(start)
    correction = frame.correction()
    step = vector.rate(*system.expand(algebroid.anchor @ correction, correction), ca.SX(0, 1))
    step, phi = ca.substitute([step, constrained.distribution.phi], [algebroid.q], [raw])
    moved = vector.unit(start + step)
    q = vector.configuration(moved)
    xi = x[vector.nconf:]
    margin, guards = ca.substitute([frame.margin, constrained.guards], [algebroid.q], [q])
    v = equations.velocity(system.t, q, xi, system.theta)
    health = ca.vertcat(ca.norm_inf(phi) if phi.numel() else 0, margin,
                        ca.mmin(guards) if guards.numel() else 1)
    return ca.Function("nhmech_project", [system.t, x, system.theta],
                       [ca.densify(e) for e in (ca.vertcat(moved, xi), q, v, health)],
                       {"cse": True})


def reading_function(equations: Equations, vector: StateVector) -> ca.Function:
    """(t, x, theta) -> q, v: what is shown of a state, only where needed. (`read` alone is a name
    of the C library.)"""
    system = equations.frame.constrained.system
    x = ca.SX.sym("x", vector.nx)
    q = vector.configuration(x[:vector.nconf])
    v = equations.velocity(system.t, q, x[vector.nconf:], system.theta)
    return ca.Function("nhmech_read", [system.t, x, system.theta], [ca.densify(q), ca.densify(v)],
                       {"cse": True})


def normalising_function(equations: Equations, vector: StateVector) -> ca.Function:
    """(t, x, theta) -> x with unit quaternions, and the frame's margin: the projection where phi
    does not change."""
    system = equations.frame.constrained.system
    x = ca.SX.sym("x", vector.nx)
    configuration = vector.unit(x[:vector.nconf])
    margin = ca.substitute(equations.frame.margin, system.q, vector.configuration(configuration))
    return ca.Function("nhmech_normalise", [system.t, x, system.theta],
                       [ca.vertcat(configuration, x[vector.nconf:]), ca.densify(margin)])


def rk4_function(equations: Equations, vector: StateVector, kinematic: bool = False) -> ca.Function:
    """(t, x, u, theta, dt) -> x, health: the classical Runge-Kutta scheme of fourth order and the
    projection.

    One expression where it is short, for that is the faster code; calls of its parts where it would
    be slow to compile.
    """
    return _rk4_then(rate_function(equations, vector, kinematic),
                     projection_function(equations, vector))


def free_rk4_function(equations: Equations, vector: StateVector,
                      kinematic: bool = False) -> ca.Function | None:
    """Likewise (t, x, u, theta, dt) -> x, margin, if Runge-Kutta's scheme keeps constraints and
    guards by itself.

    Else None. So it is where the attitude is frozen. Not proved but tried: steps of 0.3 s from
    random states must leave phi below 1e-14 m and each guard where it was. Only for short steps,
    where the projection is much of the cost.
    """
    rate = rate_function(equations, vector, kinematic)
    project = projection_function(equations, vector)
    if 4 * rate.n_instructions() + project.n_instructions() > INLINE or not _keeps(
        rate, project, equations, vector
    ):
        return None
    return _rk4_then(rate, normalising_function(equations, vector))


def _rk4_then(rate: ca.Function, end: ca.Function) -> ca.Function:
    """Runge-Kutta's scheme followed by `end` (t, x, theta) -> (x, ..., health)."""
    inline = 4 * rate.n_instructions() + end.n_instructions() <= INLINE
    symbol = ca.SX if inline else ca.MX
    t, dt, x = symbol.sym("t"), symbol.sym("dt"), symbol.sym("x", rate.size1_in(1))
    u, theta = symbol.sym("u", rate.size1_in(2)), symbol.sym("theta", rate.size1_in(3))
    x_next, *_, health = end(t + dt, _rk4_end(rate, t, x, u, theta, dt), theta)
    return ca.Function("nhmech_rk4", [t, x, u, theta, dt], [x_next, health],
                       {"cse": True} if inline else {})


def _rk4_end(rate: ca.Function, t, x, u, theta, dt):
    k1 = rate(t, x, u, theta)
    k2 = rate(t + dt / 2, x + dt / 2 * k1, u, theta)
    k3 = rate(t + dt / 2, x + dt / 2 * k2, u, theta)
    k4 = rate(t + dt, x + dt * k3, u, theta)
    return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _keeps(rate: ca.Function, project: ca.Function, equations: Equations,
           vector: StateVector) -> bool:
    constrained = equations.frame.constrained
    theta, random = np.asarray(constrained.parameters, dtype=float), np.random.default_rng(0)
    for q in constrained.configurations[:TRIALS]:
        t, u, xi = (
            random.normal(), random.normal(size=rate.size1_in(2)), random.normal(size=vector.nxi),
        )
        x, _, _, before = project(t, vector.assemble(q, xi), theta)
        _, _, _, before = project(t, x, theta)
        _, _, _, after = project(t + 0.3, _rk4_end(rate, t, x, u, theta, 0.3), theta)
        if not (float(after[0]) <= 1e-14 and abs(float(after[2] - before[2])) <= 1e-14):
            return False
    return True


def rk4(equations: Equations, vector: StateVector, kinematic: bool = False) -> Step:
    """`rk4_function` followed by what is shown of its end."""
    advance, read = rk4_function(equations, vector, kinematic), reading_function(equations, vector)
    inputs = advance.mx_in()
    x, health = advance(*inputs)
    q, v = read(inputs[0] + inputs[4], x, inputs[3])
    return Buffered(ca.Function("step", inputs, [x, q, v, health]))


def dop853(adaptive: Adaptive | None, rate: ca.Function, project: ca.Function) -> Step:
    """DOP853 (adaptive, order 8) over a span, then the projection: in C, or SciPy's where there is
    no compiler.

    Raises
    ------
    SimulationError
        Where it gives up.
    """
    project = Buffered(project)
    if adaptive is None:
        return _scipy_dop853(Buffered(rate), project)

    def step(t, x, u, theta, dt):
        y = np.array(x)
        status, reached = adaptive.run(t, dt, np.ascontiguousarray(u), np.ascontiguousarray(theta),
                                       y)
        if status != REACHED:
            why = (
                "its step became too small"
                if status == TOO_SMALL
                else "the rate is not finite there"
            )
            raise SimulationError(f"DOP853 stopped at t = {reached:.6g} s: {why}")
        return project(t + dt, y, theta)

    return step


def _scipy_dop853(rate: Buffered, project: Buffered) -> Step:
    from scipy.integrate import solve_ivp

    def step(t, x, u, theta, dt):
        solution = solve_ivp(lambda s, y: rate(s, y, u, theta)[0].copy(), (t, t + dt), np.array(x),
                             method="DOP853", rtol=RTOL, atol=ATOL)
        if not solution.success:
            raise SimulationError(f"DOP853 stopped at t = {solution.t[-1]:.6g} s: "
                                  f"{solution.message}")
        return project(t + dt, solution.y[:, -1], theta)

    return step
