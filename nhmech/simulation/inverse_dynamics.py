"""From commands to efforts or speeds: exact inverse dynamics on the distribution, within the limits
of the joints."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from ..checks import is_finite
from ..compile.buffered import Buffered
from ..errors import REPR, listed
from ..mechanics.equations import Equations
from ..urdf.description import JointLimits
from .command import (
    NAMED,
    BadCommand,
    Command,
    JointPosition,
    JointTorque,
    JointVelocity,
    NamedCommand,
    is_named,
)
from .state import State

VELOCITY_TIME = 0.05     # [s] in which a joint closes an error of its velocity
POSITION_TIME = 0.10     # [s] likewise of its position; both critically damped
_FLOAT = np.dtype(float)


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
    """

    def __init__(self, equations: Equations, limits: Mapping[str, JointLimits]):
        system = equations.frame.constrained.system
        self.equations = equations
        self.v_names = system.algebroid.v_names
        self.u_names = system.u_names
        self.speeds = equations.frame.names
        self.limits = limits
        self.effort = [float(getattr(limits.get(name), "effort", np.inf)) for name in self.u_names]
        # a finite bound lets one comparison refuse infinity and NaN too
        self._most = [min(limit, sys.float_info.max) for limit in self.effort]

    def __repr__(self) -> str:
        return (f"<InverseDynamics: speeds {listed(self.speeds, REPR)}, "
                f"inputs {listed(self.u_names, REPR)}>")

    @cached_property
    def _dynamics(self) -> Buffered:
        """(t, q, xi, theta) -> acceleration without efforts, and what each effort adds to it."""
        system = self.equations.frame.constrained.system
        inputs = [system.t, system.q, ca.SX.sym("xi", len(self.speeds)), system.theta]
        u, zero = system.u, ca.SX.zeros(system.u.numel(), 1)
        acceleration = self.equations.acceleration(*inputs[:3], u, system.theta)
        effect = ca.jacobian(acceleration, u)
        return Buffered(ca.Function("servo", inputs,
                                    [ca.densify(ca.substitute(acceleration, u, zero)),
                                     ca.densify(effect)]), matrices=[1])

    @cached_property
    def frame_at(self) -> Buffered:
        """(t, q, theta) -> E (nv, nxi), e0 (nv,)."""
        frame = self.equations.frame
        system, xi = frame.constrained.system, ca.SX.sym("xi", len(self.speeds))
        base = ca.substitute(frame.velocity(xi), xi, ca.SX.zeros(len(self.speeds), 1))
        return Buffered(ca.Function("frame", [system.t, system.q, system.theta],
                                    [ca.densify(e) for e in system.expand(frame.E, base)]),
                        matrices=[0])

    def efforts(self, command: Command, state: State, xi: np.ndarray, theta: np.ndarray,
                nu: int) -> np.ndarray:
        """u of the driven joints, (nu,).

        Parameters
        ----------
        xi
            Independent speeds of this chart.
        nu
            How many of the inputs a controller sets.

        Raises
        ------
        BadCommand
            For a wrong size, unknown joints, and numbers that are not finite.
        """
        if command is None:
            return np.zeros(nu)
        if not is_named(command):
            return self.plain(command, state.t, nu)
        u = np.zeros(nu)
        wanted: dict[str, float] = {}
        torques: set[str] = set()
        for part, name, value in _entries(command, state.t):
            if name not in self.u_names[:nu]:
                raise BadCommand(f"at t = {state.t:.6g} s: joint {name!r} is not driven; driven "
                                 f"joints are {listed(self.u_names[:nu])}")
            if name in wanted or name in torques:
                raise BadCommand(f"at t = {state.t:.6g} s: joint {name!r} is commanded twice")
            if isinstance(part, JointTorque):
                torques.add(name)
                u[self.u_names.index(name)] = value
            else:
                wanted[name] = self._acceleration(part, name, value, state)
        if wanted:
            a0, effect = self._dynamics(state.t, state.q, xi, theta)
            rows = [self.v_names.index(name) for name in wanted]
            columns = [self.u_names.index(name) for name in wanted]
            target = np.array(list(wanted.values())) - a0[rows] - effect[rows][:, :nu] @ u
            u[columns] += np.linalg.lstsq(effect[np.ix_(rows, columns)], target, rcond=1e-9)[0]
        return self._limit(u.tolist())

    def plain(self, command: object, t: float, nu: int) -> np.ndarray:
        """u from plain numbers, one for each driven joint. Raises `BadCommand` as `efforts`
        does."""
        if type(command) is np.ndarray and command.dtype is _FLOAT and command.shape == (nu,):
            for value, most in zip(command.tolist(), self._most):
                if not -most <= value <= most:
                    break
            else:
                return command
        return self._limit(_read_plain(command, nu, "efforts", self.u_names[:nu], t))

    def speeds_for(self, command: Command, state: State, xi: np.ndarray,
                   theta: np.ndarray) -> np.ndarray:
        """xi that follows the command, (nxi,), for a kinematic run. Raises `BadCommand` as
        `efforts` does.

        Joints that are not named keep the least motion, and commands that contradict each other, as
        of redundant wheels, are followed in the least-squares sense.
        """
        if command is None:
            return xi
        if not is_named(command):
            return np.array(_read_plain(command, len(self.speeds), "speeds", self.speeds, state.t))
        rates: dict[str, float] = {}
        for part, name, value in _entries(command, state.t):
            if isinstance(part, JointTorque):
                raise BadCommand(f"at t = {state.t:.6g} s: efforts mean nothing in kinematic mode; "
                                 "command velocities or positions")
            known = list(state.joint_position) if isinstance(part, JointPosition) else self.v_names
            if name not in known:
                raise BadCommand(f"at t = {state.t:.6g} s: unknown joint {name!r}; there are "
                                 f"{listed(known)}")
            if name in rates:
                raise BadCommand(f"at t = {state.t:.6g} s: joint {name!r} is commanded twice")
            if isinstance(part, JointPosition):
                error = self._clip_position(name, value) - state.joint_position[name]
                value = error / POSITION_TIME
            rates[name] = self._clip_rate(name, value)
        rows = [self.v_names.index(name) for name in rates]
        return self.fit_speeds(state.t, state.q, theta, rows, np.array(list(rates.values())))[0]

    def fit_speeds(self, t: float, q: np.ndarray, theta: np.ndarray, rows: Sequence[int],
                   wanted: np.ndarray) -> tuple[np.ndarray, float]:
        """The least xi (nxi,) for which some fibre coordinates come closest to wanted values, and
        the largest error that is left.

        Parameters
        ----------
        rows
            Which fibre coordinates.
        wanted
            Their values (len(rows),).
        """
        E, e0 = self.frame_at(t, q, theta)
        xi = np.linalg.lstsq(E[rows], wanted - e0[rows], rcond=1e-9)[0]
        return xi, float(np.abs(E[rows] @ xi + e0[rows] - wanted).max(initial=0.0))

    def _acceleration(self, part: NamedCommand, name: str, value: float, state: State) -> float:
        rate = state.joint_velocity[name]
        if isinstance(part, JointVelocity):
            return (self._clip_rate(name, value) - rate) / VELOCITY_TIME
        error = self._clip_position(name, value) - state.joint_position[name]
        return 2 * (self._clip_rate(name, error / (2 * POSITION_TIME)) - rate) / POSITION_TIME

    def _clip_position(self, name: str, position: float) -> float:
        limit = self.limits.get(name)
        return position if limit is None else min(max(position, limit.lower), limit.upper)

    def _clip_rate(self, name: str, rate: float) -> float:
        limit = self.limits.get(name)
        return rate if limit is None else min(max(rate, -limit.velocity), limit.velocity)

    def _limit(self, u: list[float]) -> np.ndarray:
        return np.array([value if -limit <= value <= limit else math.copysign(limit, value)
                         for value, limit in zip(u, self.effort)])


def _entries(command: NamedCommand | Sequence[NamedCommand],
             t: float) -> Iterator[tuple[NamedCommand, str, float]]:
    """(command, joint, number) of each joint that is named."""
    for part in command if isinstance(command, (list, tuple)) else (command,):
        for name, value in _read_named(part, t).items():
            yield part, name, value


def _read_named(part: object, t: float) -> dict[str, float]:
    if not isinstance(part, NAMED):
        raise BadCommand(f"at t = {t:.6g} s returned {type(part).__name__}; return an array, "
                         "JointTorque, JointVelocity or JointPosition")
    if not isinstance(part.values, Mapping):
        raise BadCommand(f"at t = {t:.6g} s: {type(part).__name__} takes a mapping of joint names "
                         f"to numbers, not {part.values!r}")
    for name, value in part.values.items():
        number = isinstance(value, (int, float, np.number))
        if not number or not is_finite(value):
            raise BadCommand(f"at t = {t:.6g} s: {type(part).__name__} for {name!r} is "
                             f"{value if number else repr(value)}; expected a finite number")
    return dict(part.values)


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
