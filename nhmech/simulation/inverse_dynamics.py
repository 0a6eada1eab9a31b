"""From commands to efforts or speeds: exact inverse dynamics on the distribution, within the limits
of the joints."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..errors import REPR, listed
from ..mechanics.equations import Equations
from ..urdf.description import JointLimits
from .command import (
    BadCommand,
    Command,
    JointPosition,
    JointTorque,
    JointVelocity,
    NamedCommand,
    is_named,
)
from .integration.integrators import symbols_of
from .least_squares import SINGULAR, LeastSquares, LeastSquaresFunction
from .moment import Moment
from .named_commands import Entry, NamedReader
from .state_vector import StateVector

VELOCITY_TIME = 0.05     # [s] in which a joint closes an error of its velocity
POSITION_TIME = 0.10     # [s] likewise of its position; both critically damped
_FLOAT = np.dtype(float)
NO_LIMITS = JointLimits()

# (u without the efforts sought, rows of the joints in v, columns in u, accelerations) -> efforts;
# None where wheels roll
Sliding = Callable[[Sequence[float], Sequence[int], Sequence[int], Sequence[float]],
                   np.ndarray | None]


@dataclass(frozen=True)
class Target:
    """A joint whose velocity or position is commanded.

    Attributes
    ----------
    rate
        Which fibre coordinate it is.
    position
        Which coordinate of the state vector; None where nothing needs it: the velocity of a joint
        without limits of position is commanded.
    is_position
        Whether its position is commanded.
    """

    rate: int
    position: int | None
    limits: JointLimits
    is_position: bool

    def acceleration(self, wanted: float, moment: Moment) -> float:
        """That closes its error; the rate on the way keeps its limit."""
        position = None if self.position is None else moment.x.item(self.position)
        return self.close(wanted, moment.v.item(self.rate), position)

    def close(self, wanted: Any, rate: Any, position: Any, clip: Callable | None = None) -> Any:
        """The same for a rate and a position, numbers, or symbols with a `clip` of theirs.

        A commanded velocity is cut so that the joint comes to rest at its limits, as if their
        positions were commanded, and is not driven beyond them.
        """
        clip, limits = clip or _clip, self.limits
        if self.is_position:
            error = clip(wanted, limits.lower, limits.upper) - position
            towards = clip(error / (2 * POSITION_TIME), -limits.velocity, limits.velocity)
            return 2 * (towards - rate) / POSITION_TIME
        wanted = self._approach(clip(wanted, -limits.velocity, limits.velocity), position,
                                2 * POSITION_TIME, clip)
        return (wanted - rate) / VELOCITY_TIME

    def speed(self, wanted: Any, x: Any) -> Any:
        """That closes its error, where speeds are commanded; of symbols, x the state vector."""
        limits = self.limits
        position = None if self.position is None else x[self.position]
        if self.is_position:
            error = clip(wanted, limits.lower, limits.upper) - position
            wanted = error / POSITION_TIME
        wanted = clip(wanted, -limits.velocity, limits.velocity)
        return wanted if self.is_position else self._approach(wanted, position, POSITION_TIME, clip)

    def _approach(self, rate: Any, position: Any, time: float, clip: Callable) -> Any:
        """A rate at which the joint comes to a limit of its position in no less than `time`."""
        if self.position is None:
            return rate
        lower, upper = self.limits.lower, self.limits.upper
        # a joint that is beyond one is not driven back by what does not ask for it
        return clip(rate,
                    lower if math.isinf(lower) else clip(lower - position, -math.inf, 0.0) / time,
                    upper if math.isinf(upper) else clip(upper - position, 0.0, math.inf) / time)


@dataclass(frozen=True)
class Servo:
    """What is known of a command's joints where efforts are commanded.

    Attributes
    ----------
    order
        Joint by joint: a target, or where in u an effort goes that is commanded itself.
    columns
        Where the efforts of the targets stand in u.
    solve
        (t, q, xi, theta, accelerations of the targets, u without their efforts) -> these; None
        where there is no target.
    """

    order: tuple[Target | int, ...]
    columns: tuple[int, ...]
    solve: LeastSquaresFunction | None

    @property
    def rows(self) -> list[int]:
        """The targets' fibre coordinates."""
        return [target.rate for target in self.order if isinstance(target, Target)]


class InverseDynamics:
    """Turns commands into inputs by inverse dynamics of the whole system.

    A commanded joint gets the acceleration that closes its error, a = (rate* - rate) / T or
    a = (p* - p) / T^2 - 2 rate / T; the efforts that produce these accelerations follow from the
    equations of motion, which are affine in u (least norm where several efforts do). Efforts and
    commanded velocities are cut at the limits of the joints. Where speeds are commanded, in a
    kinematic run, `speeds_for` turns commands into xi.

    Parameters
    ----------
    equations
        The equations of motion.
    limits
        Joint name -> limits of position, velocity and effort.
    nu
        How many of the inputs a controller sets.
    """

    def __init__(self, equations: Equations, limits: Mapping[str, JointLimits], nu: int):
        system = equations.frame.constrained.system
        self.equations = equations
        self.v_names = system.algebroid.v_names
        self.u_names = system.u_names
        self.speeds = equations.frame.names
        self.limits = limits
        self.nu = nu
        self._shape = (nu,)
        self.effort = [float(getattr(limits.get(name), "effort", np.inf)) for name in self.u_names]
        # a finite bound lets one comparison refuse infinity and NaN too
        self._most = [min(limit, sys.float_info.max) for limit in self.effort]

    def __repr__(self) -> str:
        return (f"<InverseDynamics: speeds {listed(self.speeds, REPR)}, "
                f"inputs {listed(self.u_names, REPR)}>")

    @cached_property
    def accelerations(self) -> ca.Function:
        """(t, q, xi, theta) -> acceleration without efforts, and what each effort adds to it."""
        system = self.equations.frame.constrained.system
        inputs = [system.t, system.q, ca.SX.sym("xi", len(self.speeds)), system.theta]
        u, zero = system.u, ca.SX.zeros(system.u.numel(), 1)
        acceleration = self.equations.acceleration(*inputs[:3], u, system.theta)
        return ca.Function("servo", inputs, [ca.substitute(acceleration, u, zero),
                                             ca.jacobian(acceleration, u)], {"cse": True})

    @cached_property
    def _frame(self) -> ca.Function:
        """(t, q, theta) -> E (nv, nxi), e0 (nv,)."""
        frame = self.equations.frame
        system, xi = frame.constrained.system, ca.SX.sym("xi", len(self.speeds))
        base = ca.substitute(frame.velocity(xi), xi, ca.SX.zeros(len(self.speeds), 1))
        return ca.Function("frame", [system.t, system.q, system.theta],
                           list(system.expand(frame.E, base)), {"cse": True})

    @cached_property
    def servos(self) -> NamedReader[Servo]:
        """Of a run with forces."""
        return NamedReader(self._plan_servo)

    @cached_property
    def courses(self) -> NamedReader[LeastSquaresFunction]:
        """Of a kinematic run: (t, q, theta, x, numbers of the command) -> xi."""
        return NamedReader(self._plan_course)

    def learn(self, other: InverseDynamics) -> None:
        """Prepares for the commands that another one has been given."""
        self.servos.learn(other.servos)
        self.courses.learn(other.courses)

    def efforts(self, command: Command, moment: Moment, theta: np.ndarray,
                sliding: Sliding | None = None) -> Sequence[float]:
        """u of the driven joints, (nu,).

        Parameters
        ----------
        sliding
            What finds efforts where wheels may slide.

        Raises
        ------
        BadCommand
            For a wrong size, unknown joints, and numbers that are not finite.
        """
        if type(command) is np.ndarray and command.dtype is _FLOAT and command.shape == self._shape:
            plain: list[float] = command.tolist()
            for value, most in zip(plain, self._most):
                if not -most <= value <= most:
                    break
            else:
                return plain
        if command is None:
            return [0.0] * self.nu
        if not is_named(command):
            names = self.u_names[:self.nu]
            return self._limit(_read_plain(command, self.nu, "efforts", names, moment.t))
        servo, numbers = self.servos(command, moment.t)
        u = [0.0] * self.nu
        if servo.solve is None:
            for column, number in zip(servo.order, numbers):
                u[column] = number       # type: ignore[index]
            return self._limit(u)
        wanted = []
        for target, number in zip(servo.order, numbers):
            if isinstance(target, int):
                u[target] = number
            else:
                wanted.append(target.acceleration(number, moment))
        _hold_back(command, wanted)
        xi = moment.x[len(moment.x) - len(self.speeds):]
        found = None if sliding is None else sliding(u, servo.rows, servo.columns, wanted)
        if found is None:
            found = servo.solve(moment.t, moment.q, xi, theta, wanted, u)
        for column, value in zip(servo.columns, found.tolist()):
            u[column] += value
        return self._limit(u)

    def speeds_for(self, command: Command, moment: Moment, theta: np.ndarray) -> np.ndarray:
        """xi that follows the command, (nxi,), for a kinematic run. Raises `BadCommand` as
        `efforts` does.

        Joints that are not named keep the least motion, and commands that contradict each other, as
        of redundant wheels, are followed in the least-squares sense.
        """
        if command is None:
            return moment.x[len(moment.x) - len(self.speeds):]
        if not is_named(command):
            return np.array(_read_plain(command, len(self.speeds), "speeds", self.speeds, moment.t))
        t = moment.t
        solve, numbers = self.courses(command, t)
        return solve(t, moment.q, theta, moment.x, numbers)

    def fit_speeds(self, t: float, q: np.ndarray, theta: np.ndarray, rows: Sequence[int],
                   wanted: np.ndarray, slip: ca.Function | None = None) -> tuple[np.ndarray, float]:
        """The least xi (nxi,) for which some fibre coordinates come closest to wanted values, and
        the largest error that is left.

        Parameters
        ----------
        rows
            Which fibre coordinates.
        wanted
            Their values (len(rows),).
        slip
            As `VehicleFunctions.slip`: of all these xi one with the least of such speeds.
        """
        E, e0 = (found.full() for found in self._frame(t, q, theta))
        e0 = e0.ravel()
        xi = LeastSquares(len(rows), len(self.speeds))(E[rows], wanted - e0[rows])
        if slip is not None:
            S, offset = (found.full() for found in slip(t, q, theta))
            _, s, vt = np.linalg.svd(E[rows])
            free = vt[int(np.sum(s > SINGULAR * s.max(initial=1e-300))):].T
            sliding = S @ (E @ xi + e0) + offset.ravel()
            xi = xi - free @ np.linalg.lstsq(S @ E @ free, sliding, rcond=SINGULAR)[0]
        return xi, float(np.abs(E[rows] @ xi + e0[rows] - wanted).max(initial=0.0))

    # -- what is known of names --------------------------------------------------------------------
    def _plan_servo(self, entries: Sequence[Entry]) -> Servo:
        driven, columns = self.u_names[:self.nu], []
        order: list[Target | int] = []
        for kind, name in entries:
            if name not in driven:
                raise BadCommand(f"joint {name!r} is not driven; driven joints are "
                                 f"{listed(driven)}")
            column = driven.index(name)
            if issubclass(kind, JointTorque):
                order.append(column)
            elif name in self.v_names:
                order.append(self.target(name, issubclass(kind, JointPosition)))
                columns.append(column)
            else:
                raise BadCommand(f"the input {name!r} is no joint; command its effort")
        rows = [target.rate for target in order if isinstance(target, Target)]
        if not rows:
            return Servo(tuple(order), (), None)
        inputs = symbols_of(self.accelerations)
        symbol = type(inputs[0])
        wanted, u = symbol.sym("wanted", len(rows)), symbol.sym("u", self.nu)
        a0, effect = self.accelerations(*inputs)
        needed = wanted - a0[rows] - effect[rows, :self.nu] @ u
        solve = LeastSquaresFunction([*inputs, wanted, u], effect[rows, columns], needed)
        return Servo(tuple(order), tuple(columns), solve)

    def _plan_course(self, entries: Sequence[Entry]) -> LeastSquaresFunction:
        order = []
        for kind, name in entries:
            if issubclass(kind, JointTorque):
                raise BadCommand("efforts mean nothing in kinematic mode; command velocities or "
                                 "positions")
            known = self._positions if issubclass(kind, JointPosition) else self.v_names
            if name not in known:
                raise BadCommand(f"unknown joint {name!r}; there are {listed(known)}")
            order.append(self.target(name, issubclass(kind, JointPosition)))
        rows, inputs = [target.rate for target in order], symbols_of(self._frame)
        symbol = type(inputs[0])
        x = symbol.sym("x", StateVector.of(self.equations).nx)
        numbers = symbol.sym("numbers", len(order))
        wanted = [target.speed(numbers[i], x) for i, target in enumerate(order)]
        E, e0 = self._frame(*inputs)
        return LeastSquaresFunction([*inputs, x, numbers], E[rows, :],
                                    ca.vertcat(symbol(0, 1), *wanted) - e0[rows])

    def target(self, name: str, is_position: bool) -> Target:
        """A joint, of which the position or the velocity is commanded."""
        limits = self.limits.get(name, NO_LIMITS)
        is_free = math.isinf(limits.lower) and math.isinf(limits.upper)
        position = None if is_free and not is_position else self._positions[name]
        return Target(self.v_names.index(name), position, limits, is_position)

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Joint -> where its position stands in x."""
        names = StateVector.of(self.equations).names(())
        return {name: i for i, name in enumerate(names) if name in self.v_names}

    def _limit(self, u: list[float]) -> list[float]:
        return [value if -limit <= value <= limit else math.copysign(limit, value)
                for value, limit in zip(u, self.effort)]


def _hold_back(command: NamedCommand | Sequence[NamedCommand], wanted: list[float]) -> None:
    """Cuts the accelerations that commands with a limit ask for, in place; they stand in the order
    of the joints in the commands, those of efforts left out."""
    place = 0
    for part in command if isinstance(command, (list, tuple)) else (command,):
        if isinstance(part, JointTorque):
            continue
        end = place + len(part.values)
        if isinstance(part, JointVelocity) and part.acceleration is not None:
            factor = part.hold_back(wanted[place:end])
            wanted[place:end] = [factor * value for value in wanted[place:end]]
        place = end


def clip(value: Any, lower: Any, upper: Any) -> Any:
    """Within two bounds, either of which may be infinite; of symbols."""
    value = value if _is_infinite(lower) else ca.fmax(value, lower)
    return value if _is_infinite(upper) else ca.fmin(value, upper)


def _is_infinite(bound: Any) -> bool:
    return isinstance(bound, float) and math.isinf(bound)


def _clip(value: float, lower: float, upper: float) -> float:
    return lower if value < lower else upper if value > upper else value


def _read_plain(command: object, n: int, what: str, names: Sequence[str], t: float) -> list[float]:
    columns = f"{what} of {', '.join(names) or 'no joint'}"
    try:
        value = np.asarray(command, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadCommand(f"at t = {t:.6g} s returned {type(command).__name__}; return an array, "
                         f"JointTorque, JointVelocity or JointPosition (an array has {n} "
                         f"numbers: {columns})") from error
    if value.shape != (n,):
        raise BadCommand(f"at t = {t:.6g} s returned shape {value.shape}, expected ({n},): "
                         f"{columns}")
    # for so few numbers, faster than arrays
    numbers = value.tolist()
    if not all(map(math.isfinite, numbers)):
        raise BadCommand(f"at t = {t:.6g} s returned {value}: not finite ({columns})")
    return numbers
