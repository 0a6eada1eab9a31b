"""What goes into a batch: arrays of the right shapes, cases on their constraints, answers of a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from ..compile.lanes import RAN, SINGULAR, LaneState, Limits
from ..errors import NhmechError, SimulationError
from .chart import LOOSE, POOR
from .command import controller_name, raised_in
from .lane_step import Stepper

Policy = Callable[[float, np.ndarray], np.ndarray]
UNCHECKED = Limits(-np.inf, -np.inf, np.inf)


def start_states(constrained, poses: Iterable, *, joints: Mapping[str, float] | None = None, xi=None) -> np.ndarray:
    """x0 (N, nx) for `simulate_batch`, from what `Simulator.reset` takes: a pose each, or a q (nq,) without wheels.

    joints, xi  the same for all. Raises as `Simulator.reset` does.
    """
    from .simulator import Simulator

    simulator, rows = Simulator(constrained), []
    for pose in poses:
        standing = simulator.subject.vehicle is not None
        state = simulator.reset(pose, joints, xi) if standing else simulator.reset(q=pose, xi=xi)
        rows.append(simulator.primary.flat.flatten(state.q, state.v[simulator.primary.speeds]))
    return np.array(rows)


def checked(name: str, value, shapes: list[tuple], columns: tuple[str, ...]) -> np.ndarray:
    """An array of finite numbers of one of the shapes (None stands for any number). Raises `SimulationError`."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise SimulationError(f"{name} is no array of numbers: {error}") from error
    fits = any(len(shape) == array.ndim and all(n in (None, m) for n, m in zip(shape, array.shape)) for shape in shapes)
    if not fits or 0 in array.shape[:-1]:
        wanted = " or ".join(str(shape).replace("None", "N") for shape in shapes)
        raise SimulationError(f"{name} has shape {array.shape}, expected {wanted} with columns "
                              f"{', '.join(columns) or 'none'}")
    if not np.isfinite(array).all():
        where = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
        raise SimulationError(f"{name}{list(where)} ({columns[where[-1]]}) = {array[where]} must be finite")
    return _strided(array)


def started(made: Stepper, x0: np.ndarray, theta: np.ndarray) -> LaneState:
    """The cases on their constraints, by a step of no duration; `SimulationError` for cases that are not near them."""
    state = LaneState.of(x0, made.runner.width)
    nothing = np.zeros((len(x0), made.step.size1_in(2)))
    made.runner.run(state, nothing, theta, dt=0.0, k0=0, steps=1, limits=UNCHECKED)
    off = np.flatnonzero((state.status != RAN) | (state.health[0] > LOOSE))
    off = off[off < state.count]
    if len(off):
        ran = state.status[off[0]] == RAN
        how = f"|phi| = {state.health[0, off[0]]:.3g} m" if ran else "numbers that are not finite"
        raise SimulationError(f"x0 of case {off[0]} (one of {len(off)} such) is off the constraints: {how}. "
                              "start_states places a vehicle")
    state.side[:] = np.sign(state.health[1])
    state.status[np.abs(state.health[1]) < POOR] = SINGULAR
    return state


def asked(policy: Policy, t: float, x: np.ndarray, nu: int) -> np.ndarray:
    """What the policy answers, (N, nu); a case stops if not finite. `SimulationError` for errors and shapes."""
    who = f"policy {controller_name(policy)}"
    try:
        answer = policy(t, x)
    except NhmechError as error:
        raise SimulationError(f"{who} at t = {t:.6g} s: {error}") from error
    except Exception as error:
        where = raised_in(error, "(t, x)")
        raise SimulationError(f"{who} raised {type(error).__name__} at t = {t:.6g} s: {error}{where}") from error
    try:
        command = np.asarray(answer, dtype=float)
    except (TypeError, ValueError) as error:
        raise SimulationError(f"{who} at t = {t:.6g} s returned {type(answer).__name__}, no array of numbers: "
                              f"{error}") from error
    if command.shape not in ((len(x), nu), (nu,)):
        raise SimulationError(f"{who} gave shape {command.shape} at t = {t:.6g} s, expected {(len(x), nu)} or {(nu,)}")
    command = np.broadcast_to(command, (len(x), nu))
    return _strided(command)


def _strided(array: np.ndarray) -> np.ndarray:
    """The array, or a copy where its strides are not whole numbers of doubles, which the loop in C asks for."""
    return np.ascontiguousarray(array) if any(stride % 8 for stride in array.strides) else array
