"""From commands to efforts or speeds: exact inverse dynamics on the distribution, within the limits
of the joints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..errors import REPR, listed
from ..mechanics.equations import Equations
from ..once import cached_property
from ..urdf.description import NO_LIMITS, JointLimits
from .command import BadCommand, Command, JointPosition, JointTorque
from .command_function import CommandFunction, CommandSymbols
from .command_reader import CommandReader, Part
from .integration.integrators import projection_function, symbols_of
from .least_squares import SINGULAR, WELL, LeastSquares
from .moment import Moment
from .state_vector import StateVector

VELOCITY_TIME = 0.05     # [s], time constant of a velocity error
POSITION_TIME = 0.10     # [s], time constant of a position error, critically damped

# (u without the efforts sought, rows of the joints in v, columns in u, accelerations) -> efforts;
# None if all wheels roll
Sliding = Callable[[Sequence[float], Sequence[int], Sequence[int], Sequence[float]],
                   np.ndarray | None]


@dataclass(frozen=True)
class Target:
    """A joint whose velocity or position is commanded."""

    rate: int  # index of its rate in v
    # index of its position in the state vector; None if not needed, for a commanded velocity of a
    # joint without position limits
    position: int | None
    limits: JointLimits
    is_position: bool  # whether its position is commanded

    def acceleration(self, wanted: Any, v: Any, x: Any) -> Any:
        """The acceleration that reduces its error, symbolic; x is the state vector.

        The rate stays within its limit. A commanded velocity is reduced near a position limit so
        that the joint comes to rest there, as if that position were commanded.
        """
        rate, limits = v[self.rate], self.limits
        position = None if self.position is None else x[self.position]
        if self.is_position:
            error = clip(wanted, limits.lower, limits.upper) - position
            towards = clip(error / (2 * POSITION_TIME), -limits.velocity, limits.velocity)
            return 2 * (towards - rate) / POSITION_TIME
        wanted = self._approach(clip(wanted, -limits.velocity, limits.velocity), position,
                                2 * POSITION_TIME)
        return (wanted - rate) / VELOCITY_TIME

    def speed(self, wanted: Any, x: Any) -> Any:
        """The speed that reduces its error, in a kinematic run."""
        limits = self.limits
        position = None if self.position is None else x[self.position]
        if self.is_position:
            error = clip(wanted, limits.lower, limits.upper) - position
            wanted = error / POSITION_TIME
        wanted = clip(wanted, -limits.velocity, limits.velocity)
        return wanted if self.is_position else self._approach(wanted, position, POSITION_TIME)

    def _approach(self, rate: Any, position: Any, time: float) -> Any:
        """The rate, reduced so that the joint reaches a position limit in no less than `time`."""
        if self.position is None:
            return rate
        lower, upper = self.limits.lower, self.limits.upper
        # a joint beyond a limit is not driven back unless that is commanded
        return clip(rate,
                    lower if math.isinf(lower) else ca.fmin(lower - position, 0.0) / time,
                    upper if math.isinf(upper) else ca.fmax(upper - position, 0.0) / time)


@dataclass(frozen=True)
class Servo:
    """The function that carries out a command of efforts, velocities and positions."""

    rows: tuple[int, ...]  # indices in v of the joints with commanded velocity or position
    columns: tuple[int, ...]  # indices of their efforts in u
    # computes u (nu,) within the limits; u without the efforts of these joints; and the
    # accelerations that they shall have
    function: CommandFunction


class InverseDynamics:
    """Turns commands into inputs by inverse dynamics of the whole system.

    A commanded joint gets the acceleration a = (rate* - rate) / T or a = (p* - p) / T^2 - 2 rate /
    T. The efforts that produce these accelerations follow from the equations of motion, which are
    affine in u (least norm if they are not unique). Efforts and commanded velocities are clipped at
    the limits of the joints. In a kinematic run `move` turns commands into xi.

    Parameters
    ----------
    equations
        The equations of motion.
    limits
        Joint name -> limits of position, velocity and effort.
    nu
        Number of inputs that a controller sets.
    """

    def __init__(self, equations: Equations, limits: Mapping[str, JointLimits], nu: int):
        system = equations.constrained.system
        self.equations = equations
        self.v_names = system.algebroid.v_names
        self.u_names = system.u_names
        self.speeds = equations.frame.names
        self.limits = limits
        self.nu = nu
        self._no_efforts = np.zeros(nu)

    def __repr__(self) -> str:
        return (f"<InverseDynamics: speeds {listed(self.speeds, REPR)}, "
                f"inputs {listed(self.u_names, REPR)}>")

    @cached_property
    def accelerations(self) -> ca.Function:
        """(t, q, xi, theta) -> acceleration without efforts, and its derivative by the efforts."""
        system = self.equations.constrained.system
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
    def servos(self) -> CommandReader[Servo]:
        """Reads the commands of a dynamic run."""
        return CommandReader(self._plan_servo, "efforts", self.u_names[:self.nu])

    @cached_property
    def courses(self) -> CommandReader[CommandFunction]:
        """Reads the commands of a kinematic run; each function computes q, v, x and health."""
        return CommandReader(self._plan_course, "speeds", self.speeds)

    def learn(self, other: InverseDynamics) -> None:
        """Prepares for the kinds of commands that another object has been given."""
        self.servos.learn(other.servos)
        self.courses.learn(other.courses)

    def efforts(self, command: Command, moment: Moment, theta: np.ndarray,
                sliding: Sliding | None = None) -> np.ndarray:
        """u of the driven joints, (nu,), valid until the next call.

        Parameters
        ----------
        sliding
            Finds the efforts if wheels may slide.

        Raises
        ------
        BadCommand
            For a wrong size, unknown joints, and numbers that are not finite.
        """
        if command is None:
            return self._no_efforts
        servo, numbers = self.servos.read(command, moment)
        function = servo.function
        quality = function.follow(numbers, moment, theta)
        if quality < 0:
            _, numbers = self.servos.check(command, moment.t)
            quality = function.follow(numbers, moment, theta)
        u, others, wanted = function.results
        if servo.rows and sliding is not None:
            found = sliding(others.tolist(), servo.rows, servo.columns, wanted.tolist())
            if found is not None:
                function.finish(found)
                return u
        if not quality > WELL:
            function.finish(function.least_squares())
        return u

    def move(self, command: Command, moment: Moment, theta: np.ndarray) -> None:
        """Sets xi of a moment of a kinematic run so that it follows the command, and projects the
        moment onto the constraints. Raises `BadCommand` as `efforts` does.

        Joints that are not named move as little as possible. Commands that contradict each other,
        for instance of redundant wheels, are followed in the least-squares sense.
        """
        if command is None:
            command = moment.x[len(moment.x) - len(self.speeds):]
        course, numbers = self.courses.read(command, moment)
        moment.begin()
        quality = course.follow(numbers, moment, theta, moment.next)
        if quality < 0:
            _, numbers = self.courses.check(command, moment.t)
            quality = course.follow(numbers, moment, theta, moment.next)
        if not quality > WELL:
            course.finish(course.least_squares())
        moment.adopt()

    def fit_speeds(self, t: float, q: np.ndarray, theta: np.ndarray, rows: Sequence[int],
                   wanted: np.ndarray, slip: ca.Function | None = None) -> tuple[np.ndarray, float]:
        """The xi (nxi,) of least norm for which some fibre coordinates are closest to wanted
        values, and the largest remaining error.

        Parameters
        ----------
        rows
            Indices of the fibre coordinates.
        wanted
            Their values (len(rows),).
        slip
            As `VehicleFunctions.slip`; if given, the slip speeds are as small as possible.
        """
        E, e0 = (found.full() for found in self._frame(t, q, theta))
        e0 = e0.ravel()
        xi = LeastSquares(len(rows), len(self.speeds))(E[rows], wanted - e0[rows])
        if slip is not None:
            S, offset = (found.full() for found in slip(t, q, theta))
            _, s, vt = np.linalg.svd(E[rows])
            free = vt[int(np.sum(s > SINGULAR * s.max(initial=0.0))):].T
            sliding = S @ (E @ xi + e0) + offset.ravel()
            xi = xi - free @ np.linalg.lstsq(S @ E @ free, sliding, rcond=SINGULAR)[0]
        return xi, float(np.abs(E[rows] @ xi + e0[rows] - wanted).max(initial=0.0))

    # -- by name -----------------------------------------------------------------------------------
    def _plan_servo(self, parts: Sequence[Part] | None) -> Servo:
        driven, rows, columns = self.u_names[:self.nu], [], []
        parts = (Part(JointTorque, driven),) if parts is None else parts
        is_direct = all(part.kind is JointTorque for part in parts)
        symbols = self._symbols([] if is_direct else [self.accelerations], parts)
        u, accelerations = [symbols.kind(0)] * self.nu, []
        for part, numbers, most in symbols.of(parts):
            wanted = []
            for name, number in zip(part.joints, numbers):
                if name not in driven:
                    raise BadCommand(f"joint {name!r} is not driven; driven joints are "
                                     f"{listed(driven)}")
                column = driven.index(name)
                if part.kind is JointTorque:
                    u[column] = number
                elif name in self.v_names:
                    target = self.target(name, part.kind is JointPosition)
                    wanted.append(target.acceleration(number, symbols.v, symbols.x))
                    rows.append(target.rate)
                    columns.append(column)
                else:
                    raise BadCommand(f"the input {name!r} is no joint; command its effort")
            accelerations += _hold_back(wanted, most)
        u, wanted = (ca.vertcat(symbols.kind(0, 1), *one) for one in (u, accelerations))
        A, b = symbols.kind(0, 0), symbols.kind(0, 1)
        if rows:
            xi = symbols.x[symbols.x.numel() - len(self.speeds):]
            a0, effect = self.accelerations(symbols.t, symbols.q, xi, symbols.theta)
            A, b = effect[rows, columns], wanted - a0[rows] - effect[rows, :self.nu] @ u

        def finish(efforts: ca.SX | ca.MX) -> list:
            every = ca.vertsplit(u + ca.DM.eye(self.nu)[:, columns] @ efforts)
            return [ca.vertcat(symbols.kind(0, 1), *map(self._limit, driven, every)), u, wanted]

        return Servo(tuple(rows), tuple(columns), CommandFunction(symbols, A, b, finish))

    def _plan_course(self, parts: Sequence[Part] | None) -> CommandFunction:
        rows, wanted = [], []
        project = projection_function(self.equations)
        symbols = self._symbols([self._frame, project],
                                (Part(JointTorque, self.speeds),) if parts is None else parts)
        for part, numbers, _ in symbols.of(parts or ()):
            for name, number in zip(part.joints, numbers):
                if part.kind is JointTorque:
                    raise BadCommand("efforts mean nothing in kinematic mode; command velocities "
                                     "or positions")
                known = self._positions if part.kind is JointPosition else self.v_names
                if name not in known:
                    raise BadCommand(f"unknown joint {name!r}; there are {listed(known)}")
                target = self.target(name, part.kind is JointPosition)
                rows.append(target.rate)
                wanted.append(target.speed(number, symbols.x))
        E, e0 = self._frame(symbols.t, symbols.q, symbols.theta)
        A, b = E[rows, :], ca.vertcat(symbols.kind(0, 1), *wanted) - e0[rows]
        if parts is None:
            A, b = symbols.kind.eye(len(self.speeds)), symbols.numbers
        nconf = symbols.x.numel() - len(self.speeds)

        def finish(xi: ca.SX | ca.MX) -> list:
            x, q, v, health = project(symbols.t, ca.vertcat(symbols.x[:nconf], xi), symbols.theta)
            return [q, v, x, health]

        return CommandFunction(symbols, A, b, finish)

    def _symbols(self, functions: Sequence[ca.Function], parts: Sequence[Part]) -> CommandSymbols:
        """The symbols of commands with these parts, for these functions."""
        is_short = all(isinstance(symbols_of(function)[0], ca.SX) for function in functions)
        space = self.equations.constrained.system.algebroid
        theta = self.equations.constrained.system.theta
        sizes = space.nq, space.nv, StateVector.of(self.equations).nx, theta.numel()
        return CommandSymbols(ca.SX if is_short else ca.MX, sizes,
                              sum(len(part.joints) for part in parts),
                              sum(part.is_limited for part in parts))

    def target(self, name: str, is_position: bool) -> Target:
        """The target of a joint whose position or velocity is commanded."""
        limits = self.limits.get(name, NO_LIMITS)
        is_free = math.isinf(limits.lower) and math.isinf(limits.upper)
        position = None if is_free and not is_position else self._positions[name]
        return Target(self.v_names.index(name), position, limits, is_position)

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Joint -> index of its position in x."""
        names = StateVector.of(self.equations).names(())
        return {name: i for i, name in enumerate(names) if name in self.v_names}

    def _limit(self, name: str, effort: Any) -> Any:
        """An effort, clipped to the limit of the joint."""
        most = self.limits.get(name, NO_LIMITS).effort
        return clip(effort, -most, most)


def _hold_back(wanted: list, most: Any) -> list:
    """Accelerations, all scaled by one factor so that none exceeds `most`, symbolic; `most` is None
    without a limit."""
    if most is None or not wanted:
        return wanted
    share = ca.fmin(1, most / ca.mmax(ca.fabs(ca.vertcat(*wanted))))
    return [share * one for one in wanted]


def clip(value: Any, lower: Any, upper: Any) -> Any:
    """A symbolic value clipped to two bounds, either of which may be infinite."""
    value = value if _is_infinite(lower) else ca.fmax(value, lower)
    return value if _is_infinite(upper) else ca.fmin(value, upper)


def _is_infinite(bound: Any) -> bool:
    return isinstance(bound, float) and math.isinf(bound)
