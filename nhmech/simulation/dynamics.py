"""The dynamics as one explicit ordinary differential equation, for optimal control, estimation and
learning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from ..checks import check_arguments
from ..ctrl_c import hear_ctrl_c
from ..errors import InputError, SimulationError, listed
from ..mechanics.algebroid import rotation
from ..mechanics.system import HasConstrained
from ..once import cached_property
from .integration.integrators import advance_function, rate_function
from .integration.schemes import RK4
from .simulated import Simulated
from .state import State
from .state_vector import StateVector, state_symbols

Number: TypeAlias = "float | ca.SX | ca.MX | ca.DM"
Array: TypeAlias = "Number | Sequence[float] | np.ndarray"


@dataclass(frozen=True, eq=False, repr=False)
class Dynamics:
    """The dynamics dx/dt = f(t, x, u, theta) with the simulator's step, made by `dynamics`.

    It accepts numbers and CasADi symbols (SX, MX).

    x (nx,) is the configuration with unwrapped angles, then the independent speeds xi. Of a vehicle
    on the ground: base position (x, y, z) [m], attitude as quaternion (x, y, z, w), positions of
    the joints in the order of the model [rad, m], xi. u (nu,) are efforts of the driven joints [N
    m, N]; theta (ntheta,) the parameters named in `vehicle.with_parameters(symbolic=[...])`.

    x has more entries than there are degrees of freedom: its quaternion has length 1 and the wheels
    stand on the ground. f preserves both conditions, so an optimisation must not impose them again:
    fix the whole x at one moment (`start_states`), and at others only free quantities such as
    `pose` and speeds. Wheel angles are unbounded.

    Attributes
    ----------
    simulated
        The simulated system.
    state_vector
        Layout of x.
    rate
        `casadi.Function` (t, x, u, theta) -> dx/dt (nx,).
    integrator
        `casadi.Function` (t, x, u, theta, dt) -> x at t + dt, health: Runge-Kutta's scheme of
        fourth order, then the projection.

    Examples
    --------
    >>> f = nhmech.dynamics(vehicle)
    >>> f
    <Dynamics of 'differential_drive', dx/dt = f(t, x, u, theta): nx 11, nu 2, ntheta 0>
    >>> x = nhmech.start_states(vehicle, [(0.0, 0.0, 0.0)])[0]
    >>> f(0.0, x, [0.2, 0.2]).shape, f.step(0.0, x, [0.2, 0.2], 0.01).shape
    ((11, 1), (11, 1))
    """

    simulated: Simulated
    state_vector: StateVector
    rate: ca.Function
    integrator: ca.Function

    def __call__(self, t: Number, x: Array, u: Array, theta: Array | None = None) -> Any:
        """dx/dt (nx,) at t [s]; theta are the system's own values if None."""
        self._check_shapes(x, u)
        return self.rate(t, x, u, self.theta if theta is None else theta)

    def step(self, t: Number, x: Array, u: Array, dt: Number, theta: Array | None = None) -> Any:
        """x after a step of dt [s] from t with constant u, as in `Simulator`."""
        self._check_shapes(x, u)
        return self.integrator(t, x, u, self.theta if theta is None else theta, dt)[0]

    def _check_shapes(self, x: Array, u: Array) -> None:
        """Raises `InputError` for vectors of another length; CasADi takes one number for all, and
        several columns."""
        for what, value, names in (("x", x, self.names), ("u", u, self.inputs)):
            shape = getattr(value, "shape", (len(value),) if isinstance(value, Sequence) else ())
            if len(names) not in shape and prod(shape) != 1:
                raise InputError(f"{what} has shape {shape}, expected ({len(names)},): "
                                 f"{listed(names)}")

    def __repr__(self) -> str:
        return (f"<Dynamics of {self.simulated.name}, dx/dt = f(t, x, u, theta): nx {self.nx}, "
                f"nu {self.nu}, ntheta {len(self.parameters)}>")

    # -- sizes and names ---------------------------------------------------------------------------
    @property
    def nx(self) -> int:
        return self.state_vector.nx

    @property
    def nu(self) -> int:
        return len(self.inputs)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of x. A joint whose rate is an independent speed occurs twice; see `coordinate` and
        `speed`."""
        return self.state_vector.names(self.simulated.equations.names)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of u."""
        return self.simulated.constrained.system.u_names

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of theta."""
        return self.simulated.constrained.system.theta_names

    @property
    def theta(self) -> np.ndarray:
        """The system's values of theta, (ntheta,)."""
        return self.simulated.theta

    def coordinate(self, name: str) -> int:
        """Index of a coordinate (position of a joint) in x. Raises `InputError` with the names."""
        return _index(name, self.names[:self.state_vector.nconf], "coordinate")

    def speed(self, name: str) -> int:
        """Index of an independent speed in x; `velocity` has the others. Raises `InputError` with
        the names."""
        nconf = self.state_vector.nconf
        return nconf + _index(name, self.names[nconf:], "independent speed")

    # -- quantities of x ---------------------------------------------------------------------------
    @cached_property
    def pose(self) -> ca.Function:
        """x -> (x [m], y [m], heading [rad] in (-pi, pi]) of a vehicle's base, (3,), seen from
        above."""
        if self.simulated.vehicle is None:
            raise SimulationError("only a vehicle has a pose; a system written by hand has its "
                                  "coordinates, the first part of x")
        x = ca.SX.sym("x", self.nx)
        R_WB = rotation(x[3:7])
        return ca.Function("pose", [x], [ca.vertcat(x[:2], ca.atan2(R_WB[1, 0], R_WB[0, 0]))],
                           ["x"], ["pose"])

    @cached_property
    def velocity(self) -> ca.Function:
        """(t, x, theta) -> v (nv,), named `v_names`: base twist in the base's frame, then the
        joints' rates."""
        system = self.simulated.constrained.system
        x, _, v = state_symbols(self.simulated.equations)
        return ca.Function("velocity", [system.t, x, system.theta], [ca.densify(v)],
                           ["t", "x", "theta"], ["v"])

    @property
    def v_names(self) -> tuple[str, ...]:
        return self.simulated.constrained.system.algebroid.v_names

    def of(self, state: State, near: np.ndarray | None = None) -> np.ndarray:
        """x of a `State`; angles are those that the state counts, or the nearest to `near`."""
        speeds = self.simulated.equations.frame.speeds
        x = self.state_vector.assemble(state.q, state.v[list(speeds)], near)
        if near is None:
            names = self.names
            for i in self.state_vector.angle_slots():
                x[i] = state.angles[names[i]]
        return x


@check_arguments
@hear_ctrl_c()
def dynamics(constrained: HasConstrained) -> Dynamics:
    """The explicit dynamics of a vehicle or a `ConstrainedSystem`.

    It comes from the Gibbs-Appell equations in one fixed choice of independent speeds. The
    simulator changes that choice where it becomes singular; a symbolic function cannot.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.

    Examples
    --------
    >>> f = nhmech.dynamics(vehicle)
    >>> f.names[:3], f.inputs
    (('x', 'y', 'z'), ('left_wheel_joint', 'right_wheel_joint'))
    """
    simulated = Simulated.of(constrained)
    equations = simulated.equations
    return Dynamics(simulated, StateVector.of(equations), _name_arguments(rate_function(equations)),
                    advance_function(equations, RK4))


def _name_arguments(rate: ca.Function) -> ca.Function:
    inputs = rate.sx_in()
    return ca.Function("dynamics", inputs, [rate(*inputs)], ["t", "x", "u", "theta"], ["x_rate"])


def _index(name: str, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        raise InputError(f"no {what} {name!r}; there are {listed(names)}")
    return names.index(name)
