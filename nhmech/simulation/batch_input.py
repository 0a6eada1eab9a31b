"""The inputs of a batch: arrays are checked, cases are put on their constraints, and policies are
called."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..checks import as_items, read_time
from ..compile.gpu import Kernel, compile_kernel
from ..compile.lanes import Lanes, LaneState, compile_lanes
from ..compile.mapped_lanes import MappedLanes
from ..compile.status import Status
from ..errors import CompileError, InputError, NhmechError, SimulationError, listed
from ..mechanics.equations import Equations
from ..mechanics.system import HasConstrained
from .bounds import Bounds
from .callbacks import controller_name, error_location
from .feedback import Feedback, feedback_function
from .integration.conservation import check_scheme
from .integration.integrators import (
    POOR,
    advance_function,
    keeping_advance_function,
    projection_function,
    rate_function,
    step_function,
)
from .integration.schemes import SCHEMES, Scheme
from .simulated import Simulated
from .state_vector import StateVector

Policy = Callable[[float, np.ndarray], np.ndarray]


def start_states(constrained: HasConstrained, poses: Iterable[Any], *,
                 joints: Mapping[str, float] | None = None,
                 xi: Mapping[str, float] | Sequence[float] | None = None) -> np.ndarray:
    """Initial states x0 (N, nx) for `simulate_batch`.

    The arguments are those of `Simulator.reset`.

    Parameters
    ----------
    constrained
        A vehicle or a `ConstrainedSystem`.
    poses
        One pose for each case; without wheels, one q (nq,) for each.
    joints, xi
        As in `Simulator.reset`; the same for all cases.

    Examples
    --------
    >>> start_states(vehicle, [(0.0, 0.0, 0.0), (1.0, 0.0, 0.5)]).shape
    (2, 11)
    """
    from .simulator import Simulator

    simulator, rows = Simulator(constrained), []
    for pose in as_items(poses):
        standing = simulator.simulated.vehicle is not None
        state = simulator.reset(pose, joints, xi) if standing else simulator.reset(q=pose, xi=xi)
        chart = simulator.atlas.primary
        rows.append(chart.state_vector.assemble(state.q, state.v[chart.speeds]))
    return np.array(rows)


def read_rows(name: str, value: object, shapes: list[tuple[int | None, ...]],
              columns: tuple[str, ...]) -> np.ndarray:
    """Finite numbers in one of the shapes (None is any number). Raises `InputError`."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} is not an array of numbers: {error}") from error
    fits = any(len(shape) == array.ndim
               and all(n in (None, m) for n, m in zip(shape, array.shape)) for shape in shapes)
    if not fits or 0 in array.shape[:-1]:
        wanted = " or ".join(str(shape).replace("None", "N") for shape in shapes)
        raise InputError(f"{name} has shape {array.shape}, expected {wanted} with columns "
                         f"{listed(columns)}")
    if not np.isfinite(array).all():
        where = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
        raise InputError(f"{name}{list(where)} ({columns[where[-1]]}) = {array[where]} must be "
                         "finite")
    return _align(array)


def read_inputs(u: object, count: int, periods: int, names: tuple[str, ...]) -> np.ndarray:
    """Inputs as (count, nu), constant in time, or (periods, count, nu). Raises `InputError`."""
    nu = len(names)
    if u is None:
        return np.zeros((count, nu))
    array = read_rows("u", u, [(count, periods, nu), (count, nu), (nu,)], names)
    return array.swapaxes(0, 1) if array.ndim == 3 else np.broadcast_to(array, (count, nu))


def read_steps(duration: object, dt: float) -> int:
    """Number of steps of dt [s] in a duration [s]. Raises `InputError` unless it is an integer."""
    time = read_time("duration", duration)
    steps = round(time / dt)
    if abs(steps * dt - time) > 1e-9 * time:
        raise InputError(f"duration = {duration!r} s must be a multiple of dt = {dt} s")
    return steps


def check_feedback(law: Feedback | None, constrained: HasConstrained, references: object,
                   period: int) -> None:
    """Raises `InputError` for references without a law, for a law made for another system, and for
    a control period other than dt."""
    if law is None and references is not None:
        raise InputError("references= belong to a Feedback: give one as u")
    if law is not None and period != 1:
        raise InputError("a batch evaluates a Feedback at each step: remove control_period, or "
                         "give u as a policy")
    if law is not None and (notice := law.check_drives(Simulated.of(constrained))) is not None:
        logging.getLogger("nhmech").warning("%s", notice)


def check_integrator(simulated: Simulated, integrator: str, u: object) -> None:
    """Logs a notice if the integrator is meant to conserve what the motion does not conserve.
    Raises `InputError` if the integrator does not support the motion."""
    notice = check_scheme(SCHEMES[integrator], simulated, driven=u is not None, kinematic=False)
    if notice is not None:
        logging.getLogger("nhmech").info("%s", notice)


def start_cases(made: Stepper, x0: np.ndarray, theta: np.ndarray,
                u: np.ndarray | None = None) -> LaneState:
    """The cases, projected onto their constraints by a step of length zero with the first of
    the inputs u. (A law may be undefined for other inputs.) Raises `InputError` for cases far from
    their constraints."""
    state = LaneState.of(x0, made.runner.width)
    if u is None:
        u = np.zeros((len(x0), made.step.size1_in(2)))
    made.runner.run(state, u, theta, dt=0.0, k0=0, steps=1, mended=1)
    bounded = np.isin(state.status, (Status.LIMIT, Status.GROUNDED))
    off = np.flatnonzero(np.where(bounded, Status.DONE, state.status)[:state.count])
    if len(off):
        finite = state.status[off[0]] == Status.OFF
        how = (f"|phi| = {state.health[0, off[0]]:.3g} m" if finite
               else "numbers that are not finite")
        raise InputError(f"x0 of case {off[0]} (one of {len(off)}) violates the constraints: "
                         f"{how}. start_states(...) places a vehicle on the ground")
    state.side[:] = np.sign(state.health[1])
    state.status[(np.abs(state.health[1]) < POOR) & ~bounded] = Status.SINGULAR
    return state


def ask_policy(policy: Policy, t: float, x: np.ndarray, nu: int) -> np.ndarray:
    """The inputs (N, nu) that a policy returns; those of a case need not be finite. Raises
    `SimulationError` if the policy fails, and for a wrong shape."""
    who = f"policy {controller_name(policy)}"
    try:
        answer = policy(t, x)
    except NhmechError as error:
        raise SimulationError(f"{who} at t = {t:.6g} s: {error}") from error
    except Exception as error:
        where = error_location(error, "(t, x)")
        raise SimulationError(f"{who} raised {type(error).__name__} at t = {t:.6g} s: "
                              f"{error}{where}") from error
    try:
        command = np.asarray(answer, dtype=float)
    except (TypeError, ValueError) as error:
        raise SimulationError(f"{who} at t = {t:.6g} s returned {type(answer).__name__}, no array "
                              f"of numbers: {error}") from error
    if command.shape not in ((len(x), nu), (nu,)):
        raise SimulationError(f"{who} gave shape {command.shape} at t = {t:.6g} s, expected "
                              f"{(len(x), nu)} or {(nu,)}")
    return _align(np.broadcast_to(command, (len(x), nu)))


def _align(array: np.ndarray) -> np.ndarray:
    """The array, or a copy if its strides are not whole numbers of doubles, as the loop in C needs
    them."""
    return np.ascontiguousarray(array) if any(stride % 8 for stride in array.strides) else array


@dataclass(frozen=True)
class Stepper:
    """A system with a compiled step for many cases; `cost`: instructions of one step."""

    simulated: Simulated
    equations: Equations
    state_vector: StateVector
    step: ca.Function
    cost: int
    runner: Lanes | MappedLanes | Kernel
    bounds: Bounds
    control: ca.Function | None = None       # (t, x, references, theta) -> u, where a law drives

    def __repr__(self) -> str:
        return f"<Stepper of {self.simulated.name}: {self.cost} instructions a step>"

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Names of the columns of x, of xi (the last columns of x), of u and of theta."""
        system, xi = self.simulated.constrained.system, self.equations.names
        return {"x": self.state_vector.names(xi), "xi": xi, "u": system.u_names,
                "theta": system.theta_names}


def _cost(advance: ca.Function, equations: Equations, scheme: Scheme) -> int:
    """Number of operations in one step; if the step consists of calls, that of its rates and its
    projection."""
    if advance.is_a("SXFunction"):
        return advance.n_instructions()
    assert scheme.method is not None, "of steps that are their user's"
    return (scheme.method.rates * rate_function(equations).n_instructions()
            + projection_function(equations).n_instructions())


def stepper(constrained: HasConstrained, device: str = "cpu", on_limit: str = "stop",
            on_fall: str = "stop", integrator: str = "rk4",
            law: ca.Function | None = None) -> Stepper:
    """The `Stepper` of a system, device ("cpu" or "gpu"), choice of bounds, integrator and law. The
    last `KEPT` of them are cached, with their systems.

    With a law, the step has the references in place of u.
    """
    key = id(constrained), device, on_limit, on_fall, integrator, law
    made = _kept.get(key)
    if made is None:
        simulated, scheme = Simulated.of(constrained), SCHEMES[integrator]
        equations, bounds = simulated.equations, Bounds.of(simulated, on_limit, on_fall)
        assert scheme.method is not None, "of steps that are their user's"
        control = None if law is None else feedback_function(law, equations)
        margins = bounds.along(equations)
        bounded = None if margins is None else (margins, [bound.status for bound in bounds.found])
        steps = []
        for make, name in ((advance_function, "nhmech_step"),
                           (keeping_advance_function, "nhmech_swift")):
            advance = make(equations, scheme.method)
            if advance is not None:
                advance = advance if control is None else _with_control(advance, control)
                steps.append(step_function(advance, bounded, name))
                cost = _cost(advance, equations, scheme)
        step = steps[0]
        runner = compile_kernel(cost, *steps) if device == "gpu" else _runner(*steps)
        made = _kept[key] = Stepper(simulated, equations, StateVector.of(equations), step, cost,
                                    runner, bounds, control)
        if key[0] not in _watched:       # a wrapper that `Simulated` does not hold may go
            _watched.add(key[0])
            weakref.finalize(constrained, _forget, key[0])
        while len(_kept) > KEPT:
            _kept.pop(next(iter(_kept)), None)
    return made


KEPT = 64       # so that a sweep over vehicles does not fill the memory
_kept: dict[tuple[int, str, str, str, str, ca.Function | None], Stepper] = {}
_watched: set[int] = set()      # ids of systems whose steppers are dropped with them


def _forget(system: int) -> None:
    _watched.discard(system)
    for key in [key for key in list(_kept) if key[0] == system]:
        _kept.pop(key, None)


def _with_control(advance: ca.Function, control: ca.Function) -> ca.Function:
    """A step (t, x, references, theta, dt) -> ... that first evaluates the controller."""
    symbolic = advance.is_a("SXFunction")
    t, x, u, theta, dt = advance.sx_in() if symbolic else advance.mx_in()
    references = type(t).sym("references", control.size1_in(2))
    found = control(t, x, references, theta)
    held = ca.vertcat(found, type(t).zeros(u.numel() - found.numel(), 1))
    return ca.Function("nhmech_asking", [t, x, references, theta, dt],
                       advance.call([t, x, held, theta, dt]), {"cse": True} if symbolic else {})


def _runner(step: ca.Function, swift: ca.Function | None = None) -> Lanes | MappedLanes:
    try:
        lanes = compile_lanes(step, swift)
    except CompileError as error:
        lanes = None
        logging.getLogger("nhmech").warning(
            "no C++ on vectors: batches run in CasADi's virtual machine, a hundred times slower or "
            "more. %s", str(error)[:300])
    return lanes or MappedLanes(step)
