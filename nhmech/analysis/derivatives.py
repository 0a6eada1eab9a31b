"""Derivatives of one integration step with respect to state, input and parameters, compiled.

Runge-Kutta's scheme applied to the variational equation dS/dt = f_x S + f_z is the exact derivative
of the scheme, so that a step and its Jacobian come from one pass; f_x and f_z are sparse and come
from automatic differentiation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..checks import check_arguments, read_time
from ..compile.compiled_function import compile_function
from ..errors import InputError
from ..mechanics.system import HasConstrained
from ..once import cached_property
from ..simulation.integration.integrators import projection_function, rate_function
from ..simulation.integration.schemes import RK4
from ..simulation.simulated import Simulated
from ..simulation.state_vector import StateVector
from ..symbolic.buffered import Buffered

# instructions up to which the derivative is one sparse expression: quicker, but slow to compile
INLINE = 20_000


@dataclass(frozen=True, eq=False)
class StepJacobian:
    """Jacobians of one step, made by `step_jacobian`.

    (t, x, u, theta) -> A = dx'/dx (nx, nx), B = dx'/du (nx, nu), C = dx'/dtheta (nx, ntheta).

    x' = F(t, x, u, theta) is one step.

    Attributes
    ----------
    evaluate
        The compiled function.
    dt
        The step [s].
    names, inputs, parameters
        Of the rows and columns; x is the state vector, angles unwrapped.
    """

    evaluate: Buffered = field(repr=False)
    dt: float
    names: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]

    def __call__(self, t: float, x: np.ndarray, u: np.ndarray,
                 theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.with_step(t, x, u, theta)[1:]

    def with_step(self, t: float, x: np.ndarray, u: np.ndarray,
                  theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """x' (nx,) at no extra cost, then A, B, C."""
        following, A, B, C = self.evaluate(t, *_read_arguments(self, x, u, theta), self.dt)
        return following.copy(), A.copy(), B.copy(), C.copy()


@dataclass(frozen=True, eq=False)
class StepAdjoint:
    """Products of weights with the Jacobians of one step, made by `step_adjoint`.

    (t, x, u, theta, w) -> w'A (nx,), w'B (nu,), w'C (ntheta,) for weights w (nx,) on x', without
    the Jacobians themselves.

    Attributes
    ----------
    evaluate
        The compiled function.
    dt
        The step [s].
    names, inputs, parameters
        Of the rows and columns; x is the state vector, angles unwrapped.
    """

    evaluate: Buffered = field(repr=False)
    dt: float
    names: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]

    def __call__(self, t: float, x: np.ndarray, u: np.ndarray, theta: np.ndarray,
                 w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, u, theta = _read_arguments(self, x, u, theta)
        z = self.evaluate(t, np.concatenate([x, u, theta]), _read_vector("w", w, self.names),
                          self.dt)[0]
        at_x, at_u, at_theta = np.split(z.copy(), np.cumsum([len(x), len(u)]))
        return at_x, at_u, at_theta


@check_arguments
def step_jacobian(constrained: HasConstrained, dt: float) -> StepJacobian:
    """Exact Jacobians of the simulator's step: classical Runge-Kutta, then the projection.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`; symbolic parameters are theta
        (`vehicle.with_parameters(symbolic=...)`).
    dt
        Step [s].

    Raises
    ------
    InputError
        For a dt that is not a positive time.
    CompileError
        If the compiler refuses.
    """
    parts = _Parts(Simulated.of(constrained))
    return StepJacobian(compile_function(parts.jacobian(), matrices=(1, 2, 3)),
                        read_time("dt", dt), *parts.names)


@check_arguments
def step_adjoint(constrained: HasConstrained, dt: float) -> StepAdjoint:
    """Products of weights on a step's end with its Jacobians, by reverse differentiation.

    Errors as in `step_jacobian`.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`; symbolic parameters are theta.
    dt
        Step [s].
    """
    parts = _Parts(Simulated.of(constrained))
    return StepAdjoint(compile_function(parts.adjoint()), read_time("dt", dt), *parts.names)


def adjoint_function(simulated: Simulated) -> ca.Function:
    """(t, z, w, dt) -> w' dx'/dz (nx + nu + ntheta,), z = (x, u, theta), of the same step."""
    return _Parts(simulated).adjoint()


@dataclass(frozen=True, eq=False)
class _Parts:
    """Rate and projection of a simulated system, and the functions made from them."""

    simulated: Simulated

    @cached_property
    def state_vector(self) -> StateVector:
        return StateVector.of(self.simulated.equations)

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        system = self.simulated.constrained.system
        x_names = self.state_vector.names(self.simulated.equations.names)
        return x_names, system.u_names, system.theta_names

    @cached_property
    def rate(self) -> ca.Function:
        return rate_function(self.simulated.equations)

    @cached_property
    def project(self) -> ca.Function:
        return projection_function(self.simulated.equations)

    def jacobian(self) -> ca.Function:
        """(t, x, u, theta, dt) -> x', A, B, C: the scheme over x and its derivatives."""
        rate, project = _with_jacobian(self.rate), _with_jacobian(self.project)
        inline = len(RK4.stages) * rate.n_instructions() + project.n_instructions() <= INLINE
        symbol = ca.SX if inline else ca.MX
        t, dt = symbol.sym("t"), symbol.sym("dt")
        inputs = [symbol.sym(name, n) for name, n in zip(("x", "u", "theta"), self.sizes)]
        x, u, theta = inputs
        nx, nu, ntheta = self.sizes
        unit = symbol(ca.DM.eye(nx + nu + ntheta))
        start, held = unit[:nx, :], unit[nx:, :]

        def stage(time: ca.SX | ca.MX, moved: ca.SX | ca.MX) -> ca.SX | ca.MX:
            value, J = rate(time, moved[:, 0], u, theta)
            return ca.horzcat(value, J @ ca.vertcat(moved[:, 1:], held))

        moved = RK4.advance(stage, t, ca.horzcat(x, start), dt)
        end, J = project(t + dt, moved[:, 0], theta)
        S = J @ ca.vertcat(moved[:, 1:], held[nu:, :])
        ends = (0, nx, nx + nu, nx + nu + ntheta)
        blocks = [ca.densify(S[:, begin:end]) for begin, end in zip(ends, ends[1:])]
        return ca.Function("nhmech_step_jacobian", [t, *inputs, dt], [end, *blocks],
                           {"cse": True} if inline else {})

    def adjoint(self) -> ca.Function:
        """(t, z, w, dt) -> w' dx'/dz for z = (x, u, theta) as one vector: one reverse sweep."""
        nx, nu, ntheta = self.sizes
        t, dt, w = ca.MX.sym("t"), ca.MX.sym("dt"), ca.MX.sym("w", nx)
        z = ca.MX.sym("z", nx + nu + ntheta)
        x, u, theta = z[:nx], z[nx:nx + nu], z[nx + nu:]
        raw = RK4.advance(lambda t, x: self.rate(t, x, u, theta), t, x, dt)
        end = self.project(t + dt, raw, theta)[0]
        return ca.Function("nhmech_step_adjoint", [t, z, w, dt],
                           [ca.densify(ca.jtimes(end, z, w, True))])

    @property
    def sizes(self) -> tuple[int, int, int]:
        """nx, nu, ntheta."""
        return self.state_vector.nx, self.rate.size1_in(2), self.rate.size1_in(3)


def _with_jacobian(function: ca.Function) -> ca.Function:
    """First output and its sparse Jacobian with respect to all inputs but t, one function with
    common parts shared."""
    inputs = function.sx_in()
    value = function.call(inputs)[0]
    return ca.Function(f"{function.name()}_jacobian", inputs,
                       [value, ca.jacobian(value, ca.vertcat(*inputs[1:]))], {"cse": True})


def _read_arguments(step: StepJacobian | StepAdjoint, x: np.ndarray, u: np.ndarray,
                    theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (_read_vector("x", x, step.names), _read_vector("u", u, step.inputs),
            _read_vector("theta", theta, step.parameters))


def _read_vector(what: str, value: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """A number for each name. Numbers that are not finite pass: they show in the derivatives."""
    value = np.asarray(value, dtype=float)
    if value.shape != (len(names),):
        raise InputError(f"{what} ({', '.join(names)}) has shape {value.shape}, expected "
                         f"({len(names)},)")
    return value
