"""Integrators on the flat state, each a pure step (t, x, u, theta, dt) -> x followed by the same projection.

Configurations are integrated in their embedding and pulled back, which keeps the order of the scheme on the manifold; an averaged
velocity fed to the exponential map would not.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ..compile.adaptive import REACHED, TOO_SMALL, compiled_adaptive
from ..compile.buffered import Buffered
from ..errors import SimulationError
from ..mechanics.equations import Equations
from .flat import FlatState

INLINE = 3000      # operations of a step up to which it is written as one expression
Step = Callable[[float, np.ndarray, np.ndarray, np.ndarray, float], list[np.ndarray]]


def rate_function(equations: Equations, flat: FlatState, kinematic: bool = False) -> ca.Function:
    """(t, x, u, theta) -> dx/dt; in kinematic mode xi is held."""
    system = equations.frame.constrained.system
    x = ca.SX.sym("x", flat.nx)
    q = flat.configuration(x[:flat.nconf])
    q_rate, xi_rate = equations.drift(system.t, q, x[flat.nconf:], system.u, system.theta)
    if kinematic:
        xi_rate = ca.SX.zeros(flat.nxi, 1)
    v = equations.velocity(system.t, q, x[flat.nconf:], system.theta)
    return ca.Function("rate", [system.t, x, system.u, system.theta], [ca.densify(flat.rate(q_rate, v, xi_rate))], {"cse": True})


def projection_function(equations: Equations, flat: FlatState) -> ca.Function:
    """(t, x, theta) -> x on the constraint manifold, q, v, and health (3,): |phi| before, the frame's margin, least guard.

    One Newton step that leaves xi alone; what it leaves of phi is the square of what the integrator made.
    """
    frame = equations.frame
    constrained = frame.constrained
    system, algebroid = constrained.system, constrained.system.algebroid
    x = ca.SX.sym("x", flat.nx)
    quaternions = [ix for ix, iq, _ in flat.slots if iq in algebroid.quaternions]

    def unit(configuration: ca.SX) -> ca.SX:
        for ix in quaternions:
            configuration[ix:ix + 4] = configuration[ix:ix + 4] / ca.norm_2(configuration[ix:ix + 4])
        return configuration

    start = unit(x[:flat.nconf])
    raw = flat.configuration(start)
    correction = frame.correction()
    step = flat.rate(*system.expand(algebroid.anchor @ correction, correction), ca.SX(0, 1))
    step, phi = ca.substitute([step, constrained.distribution.phi], [algebroid.q], [raw])
    moved = unit(start + step)
    q = flat.configuration(moved)
    xi = x[flat.nconf:]
    margin, guards = ca.substitute([frame.margin, constrained.guards], [algebroid.q], [q])
    v = equations.velocity(system.t, q, xi, system.theta)
    health = ca.vertcat(ca.norm_inf(phi) if phi.numel() else 0, margin, ca.mmin(guards) if guards.numel() else 1)
    return ca.Function("nhmech_project", [system.t, x, system.theta], [ca.densify(e) for e in (ca.vertcat(moved, xi), q, v, health)], {"cse": True})


def reading_function(equations: Equations, flat: FlatState) -> ca.Function:
    """(t, x, theta) -> q, v: what is shown of a state, and needed only where it is. (`read` alone is a name of the C library.)"""
    system = equations.frame.constrained.system
    x = ca.SX.sym("x", flat.nx)
    q = flat.configuration(x[:flat.nconf])
    v = equations.velocity(system.t, q, x[flat.nconf:], system.theta)
    return ca.Function("nhmech_read", [system.t, x, system.theta], [ca.densify(q), ca.densify(v)], {"cse": True})


def rk4_function(equations: Equations, flat: FlatState, kinematic: bool = False) -> ca.Function:
    """(t, x, u, theta, dt) -> x, health: the classical Runge-Kutta scheme of fourth order and the projection.

    One expression where it is short, for that is the faster code; calls of its parts where it would be slow to compile.
    """
    rate, project = rate_function(equations, flat, kinematic), projection_function(equations, flat)
    inline = 4 * rate.n_instructions() + project.n_instructions() <= INLINE
    symbol = ca.SX if inline else ca.MX
    t, dt, x = symbol.sym("t"), symbol.sym("dt"), symbol.sym("x", flat.nx)
    u, theta = symbol.sym("u", rate.size1_in(2)), symbol.sym("theta", rate.size1_in(3))
    k1 = rate(t, x, u, theta)
    k2 = rate(t + dt / 2, x + dt / 2 * k1, u, theta)
    k3 = rate(t + dt / 2, x + dt / 2 * k2, u, theta)
    k4 = rate(t + dt, x + dt * k3, u, theta)
    x_next, _, _, health = project(t + dt, x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), theta)
    return ca.Function("nhmech_rk4", [t, x, u, theta, dt], [x_next, health], {"cse": True} if inline else {})


def rk4(equations: Equations, flat: FlatState, kinematic: bool = False) -> Step:
    """`rk4_function` followed by what is shown of its end."""
    advance, read = rk4_function(equations, flat, kinematic), reading_function(equations, flat)
    inputs = advance.mx_in()
    x, health = advance(*inputs)
    q, v = read(inputs[0] + inputs[4], x, inputs[3])
    return Buffered(ca.Function("step", inputs, [x, q, v, health]))


def dop853(equations: Equations, flat: FlatState, kinematic: bool = False, rtol: float = 1e-11, atol: float = 1e-12) -> Step:
    """DOP853 (adaptive, order 8) over each step, then the projection: in C, or SciPy's where there is no compiler.

    Raises `SimulationError` where it gives up.
    """
    rate = rate_function(equations, flat, kinematic)
    project = Buffered(projection_function(equations, flat))
    compiled = compiled_adaptive(rate)
    if compiled is None:
        return _scipy_dop853(Buffered(rate), project, rtol, atol)

    def step(t, x, u, theta, dt):
        y = np.array(x)
        status, reached = compiled.run(t, dt, np.ascontiguousarray(u), np.ascontiguousarray(theta), y, rtol, atol)
        if status != REACHED:
            raise SimulationError(f"DOP853 stopped at t = {reached:.6g} s: " + ("its step became too small" if status == TOO_SMALL else
                                                                             "the rate is not finite there"))
        return project(t + dt, y, theta)

    return step


def _scipy_dop853(rate: Buffered, project: Buffered, rtol: float, atol: float) -> Step:
    from scipy.integrate import solve_ivp

    def step(t, x, u, theta, dt):
        solution = solve_ivp(lambda s, y: rate(s, y, u, theta)[0].copy(), (t, t + dt), np.array(x), method="DOP853", rtol=rtol, atol=atol)
        if not solution.success:
            raise SimulationError(f"DOP853 stopped at t = {solution.t[-1]:.6g} s: {solution.message}")
        return project(t + dt, solution.y[:, -1], theta)

    return step


INTEGRATORS = {"rk4": rk4, "dop853": dop853}
