"""From commands to efforts: exact inverse dynamics on the distribution, with the limits of the
joints."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from ..compile.buffered import Buffered
from ..mechanics.equations import Equations
from .arguments import finite
from .command import NAMED, BadCommand, JointPosition, JointTorque, JointVelocity
from .state import State

VELOCITY_TIME = 0.05     # [s] in which a servo closes an error of velocity
POSITION_TIME = 0.10     # [s] likewise of position; both critically damped
_FLOAT = np.dtype(float)


class InverseDynamics:
    """Turns commands into inputs by inverse dynamics of the whole vehicle.

    A commanded joint gets the acceleration that closes its error, a = (rate* - rate) / T or
    a = (p* - p) / T^2 - 2 rate / T; the efforts that produce these accelerations follow from the
    equations of motion, which are affine in u (least norm where several efforts do). Efforts and
    commanded velocities are cut at the limits of the joints.

    Parameters
    ----------
    equations
        The equations of motion.
    limits
        Joint name -> limits of effort and velocity.
    kinematic
        Whether xi is commanded, and no efforts are needed.
    """

    def __init__(self, equations: Equations, limits, kinematic: bool = False):
        system = equations.frame.constrained.system
        self.equations = equations
        self.kinematic = kinematic
        self.v_names = system.algebroid.v_names
        self.u_names = system.u_names
        self.speeds = equations.frame.names
        self.limits = limits
        self.effort = [float(getattr(limits.get(name), "effort", np.inf)) for name in self.u_names]
        self._most = [min(limit, sys.float_info.max) for limit in self.effort]

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
                                     ca.densify(effect)]))

    @cached_property
    def frame_at(self) -> Buffered:
        """(t, q, theta) -> E (nv, nxi), e0 (nv,)."""
        frame = self.equations.frame
        system, xi = frame.constrained.system, ca.SX.sym("xi", len(self.speeds))
        base = ca.substitute(frame.velocity(xi), xi, ca.SX.zeros(len(self.speeds), 1))
        return Buffered(ca.Function("frame", [system.t, system.q, system.theta],
                                    [ca.densify(e) for e in system.expand(frame.E, base)]))

    def efforts(self, command, state: State, t: float, q: np.ndarray, xi: np.ndarray,
                theta: np.ndarray, nu: int) -> np.ndarray:
        """u of the driven joints, (nu,). Raises `BadCommand` for a wrong size, unknown joints,
        numbers not finite."""
        if command is None:
            return np.zeros(nu)
        if not is_commands(command):
            return self.plain(command, t, nu)
        u = np.zeros(nu)
        wanted: dict[str, float] = {}
        torques: set[str] = set()
        for part in command if isinstance(command, (list, tuple)) else (command,):
            values = _named(part, t)
            for name, value in values.items():
                if name not in self.u_names[:nu]:
                    raise BadCommand(f"at t = {t:.6g} s: joint {name!r} is not driven; driven "
                                     f"joints are {', '.join(self.u_names[:nu])}")
                if name in wanted or name in torques:
                    raise BadCommand(f"at t = {t:.6g} s: joint {name!r} is commanded twice")
                if isinstance(part, JointTorque):
                    torques.add(name)
                    u[self.u_names.index(name)] = value
                else:
                    wanted[name] = self._acceleration(part, name, value, state)
        if wanted:
            a0, effect = self._dynamics(t, q, xi, theta)
            rows = [self.v_names.index(name) for name in wanted]
            columns = [self.u_names.index(name) for name in wanted]
            target = np.array(list(wanted.values())) - a0[rows] - effect[rows][:, :nu] @ u
            u[columns] += np.linalg.lstsq(effect[np.ix_(rows, columns)], target, rcond=1e-9)[0]
        return self._limited(u.tolist())

    def plain(self, command, t: float, nu: int) -> np.ndarray | list[float]:
        """u from plain numbers, one for each driven joint. Raises `BadCommand` as `efforts`
        does."""
        if type(command) is np.ndarray and command.dtype is _FLOAT and command.shape == (nu,):
            for value, most in zip(command.tolist(), self._most):
                if not -most <= value <= most:
                    break
            else:
                return command
        return self._limited(_checked(command, nu, "efforts", self.u_names[:nu], t))

    def speeds_for(self, command, state: State, t: float, q: np.ndarray, xi: np.ndarray,
                   theta: np.ndarray) -> np.ndarray:
        """Kinematic mode: xi that follows the command, (nxi,); joints that are not named keep the
        least motion, and commands that contradict each other, as of redundant wheels, are followed
        in the least-squares sense."""
        n = len(self.speeds)
        if command is None:
            return xi
        if not is_commands(command):
            return np.array(_checked(command, n, "speeds", self.speeds, t))
        rates: dict[str, float] = {}
        for part in command if isinstance(command, (list, tuple)) else (command,):
            if isinstance(part, JointTorque):
                raise BadCommand(f"at t = {t:.6g} s: efforts mean nothing in kinematic mode; "
                                 "command velocities or positions")
            known = list(state.joint_position) if isinstance(part, JointPosition) else self.v_names
            for name, value in _named(part, t).items():
                if name not in known:
                    raise BadCommand(f"at t = {t:.6g} s: unknown joint {name!r}; there are "
                                     f"{', '.join(known)}")
                if name in rates:
                    raise BadCommand(f"at t = {t:.6g} s: joint {name!r} is commanded twice")
                if isinstance(part, JointPosition):
                    value = (self._within(name, value) - state.joint_position[name]) / POSITION_TIME
                rates[name] = self._cut(name, value)
        E, e0 = self.frame_at(t, q, theta)
        rows = [self.v_names.index(name) for name in rates]
        return np.linalg.lstsq(E[rows], np.array(list(rates.values())) - e0[rows], rcond=1e-9)[0]

    def _acceleration(self, part, name: str, value: float, state: State) -> float:
        rate = state.joint_velocity[name]
        if isinstance(part, JointVelocity):
            return (self._cut(name, value) - rate) / VELOCITY_TIME
        wanted = self._cut(name,
                           (self._within(name,
                                         value) - state.joint_position[name]) / (2 * POSITION_TIME))
        return 2 * (wanted - rate) / POSITION_TIME

    def _within(self, name: str, position: float) -> float:
        limit = self.limits.get(name)
        return position if limit is None else min(max(position, limit.lower), limit.upper)

    def _cut(self, name: str, rate: float) -> float:
        limit = self.limits.get(name)
        return rate if limit is None else min(max(rate, -limit.velocity), limit.velocity)

    def _limited(self, u: list[float]) -> list[float]:
        return [value if -limit <= value <= limit else math.copysign(limit, value)
                for value, limit in zip(u, self.effort)]


def is_commands(command) -> bool:
    """Whether a command is made of named ones rather than of plain numbers."""
    first = command[0] if isinstance(command, (list, tuple)) and len(command) else command
    return isinstance(first, NAMED)


def _named(part, t: float) -> dict[str, float]:
    if not isinstance(part, NAMED):
        raise BadCommand(f"at t = {t:.6g} s returned {type(part).__name__}; return an array, "
                         "JointTorque, JointVelocity or JointPosition")
    if not isinstance(part.values, Mapping):
        raise BadCommand(f"at t = {t:.6g} s: {type(part).__name__} takes a mapping of joint names "
                         f"to numbers, not {part.values!r}")
    for name, value in part.values.items():
        number = isinstance(value, (int, float, np.number))
        if not number or not finite(value):
            raise BadCommand(f"at t = {t:.6g} s: {type(part).__name__} for {name!r} is "
                             f"{value if number else repr(value)}; expected a finite number")
    return dict(part.values)


def _checked(command, n: int, what: str, names: Sequence[str], t: float) -> list[float]:
    try:
        value = np.asarray(command, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadCommand(f"at t = {t:.6g} s returned {type(command).__name__}; return an array, "
                         f"JointTorque, JointVelocity or JointPosition (an array has {n} "
                         f"numbers: {_listed(what, names)})") from error
    if value.shape != (n,):
        raise BadCommand(f"at t = {t:.6g} s returned shape {value.shape}, expected ({n},): "
                         f"{_listed(what, names)}")
    numbers = value.tolist()                             # for so few, faster than arrays
    if not all(map(math.isfinite, numbers)):
        raise BadCommand(f"at t = {t:.6g} s returned {value}: not finite ({_listed(what, names)})")
    return numbers


def _listed(what: str, names: Sequence[str]) -> str:
    return f"{what} of {', '.join(names) or 'no joint'}"
