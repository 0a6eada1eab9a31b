"""Wheel-speed control as motor drivers do it: joint velocities in, torques out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from ..analysis.motions import kernel
from ..checks import check_arguments, read_time
from ..errors import InputError, ModelError
from ..simulation.command import (
    NAMED,
    Command,
    Controller,
    JointPosition,
    JointTorque,
    JointVelocity,
)
from ..simulation.state import State
from ..symbolic.buffered import Buffered
from ..vehicle.friction import as_rolling
from ..vehicle.vehicle import Vehicle
from .combinators import Combinator
from .twist import Twist, TwistDrive

# of the square of the proportional gain: a joint as heavy as expected is critically damped
INTEGRAL = 0.25
# of the inertia of a joint whose wheel slides: a loop for a heavier one comes near to instability,
# where the control period is a fifth of T
LIGHTEST = 5.0
RANK = 1e-9       # of the largest singular value: what is below is none


@check_arguments
class WheelServo(Combinator):
    """Wheel-speed PI servo: joint velocities to torques; inertia, weight and damping fed forward.

    For each driven joint j that is commanded a rate w* [rad/s], from its own encoder's rate w, once
    per call::

        r' = (w* - r) / T                         the command, as fast as the joint is to follow,
                                                  within `JointVelocity.acceleration`
        tau_j = J_j (e / T + i / (4 T^2)) + d_j (r + i / T) + sum_k M_jk (r'_k - a_k),   e = r - w
        i' = e                                    held where tau_j is at its limit, on e's side

    With B = d(dw/dt)/du and a = dw/dt at rest without efforts [rad/s^2], from the equations of
    motion: J_j = 1 / B_jj [kg m^2] is the inertia felt at the joint while the others are free, at
    the vehicle's neutral configuration; M = B^+ that of all commanded joints together, and -M a
    what holds them on a slope, at the present one; d_j [N m s/rad] is the joint's damping. Gains
    have no unit but time, and are the same for a robot of 1 kg and one of 1000 kg. A mode of the
    joints whose load is J / lambda has e'' + lambda e'/T + lambda e/(4 T^2) = 0 without damping:
    stable for every lambda > 0, critically damped for 1. With x = d T/J, a mode of lambda = 1 has
    the damping ratio (1 + x)/sqrt(1 + 4 x) >= 0.86; where damping prevails, errors decay as
    exp(-t/T). Constant loads that the model does not know are taken up by the integral: in steady
    motion the error is zero.

    If wheels scrub by friction or have tyres, J_j is at most five times the inertia felt while they
    slide.

    A commanded position p* [rad] becomes the rate (p* - p) / (4 T), the cascade of a steering
    motor: both loops together are critically damped at 2 T. Commanded efforts pass; joints without
    a command get none. If more joints are driven than can move independently (all wheels of a car),
    efforts with which they only push against each other are omitted and not integrated: only the
    part P of the efforts along rates that the joints can have together counts, at the present
    configuration.

    Two-degree-of-freedom PI control with conditional integration: K. J. Astrom and T. Hagglund,
    Advanced PID Control (2006), sections 3.4 and 3.5. `simulation.inverse_dynamics` closes the same
    commands exactly, by inverse dynamics of the whole vehicle at every step: that is a constraint
    with a time constant; this is the servo of a real robot.

    Parameters
    ----------
    vehicle
        With driven wheels; where they scrub by friction, M is that of the mid-axle model; where
        they have tyres, that of wheels that roll.
    twist
        (forward [m/s], lateral [m/s], yaw rate [rad/s]) of the base, or a callable (t, state) ->
        twist; goes through `TwistDrive`.
    commands
        Instead of a twist, a controller (t, state) that returns JointVelocity, JointPosition or
        several of them.
    time
        T [s], the time constant of errors; the control period should be at most a fifth of it.

    Raises
    ------
    ModelError
        For a vehicle without driven joints.
    InputError
        For a time that is not positive, and unless exactly one of twist and commands is given.

    Examples
    --------
    >>> from nhmech.control import WheelServo
    >>> servo = WheelServo(vehicle, (0.5, 0.0, 0.0))
    >>> run = Simulator(vehicle, servo, control_period=0.01).run(0.1)
    >>> bool(run.column("forward_speed")[-1] > 0.1)
    True
    """

    def __init__(self, vehicle: Vehicle, twist: Twist | None = None, *,
                 commands: Controller | None = None, time: float = 0.05):
        if twist is not None and commands is None:
            commands = TwistDrive(vehicle, twist)
        elif twist is not None or commands is None:
            raise InputError("WheelServo follows a twist or a controller's commands: give exactly "
                             "one")
        super().__init__(commands)
        if not vehicle.driven:
            raise ModelError(f"{vehicle.name!r} has no driven joint: there is nothing to control")
        self.vehicle, self._model = vehicle, as_rolling(vehicle)
        self.time = read_time("time", time)
        self.joints = vehicle.driven
        self._places = [vehicle.algebroid.v_names.index(name) for name in self.joints]
        s = self._model.constrained.system
        mass, bias = s.mass_and_bias()
        moving = ca.vertcat(s.v, s.u)
        weight = ca.substitute(s.force - bias, moving, ca.DM.zeros(moving.shape))
        self._at_rest = Buffered(ca.Function("at_rest", [s.t, s.q, s.theta], [
            ca.densify(mass), ca.densify(weight)], {"cse": True}), matrices=[0])
        q = self._model.configuration()
        rates, effect, _ = self._motions(0.0, q)
        self.inertia = 1 / np.diag(effect)                                # J (nu,)
        slides = self._model is not vehicle
        if slides:
            free = np.linalg.pinv(self._at_rest(0.0, q, self._model.theta)[0], hermitian=True)
            self.inertia = np.minimum(self.inertia, LIGHTEST / np.diag(free)[self._places])
        self.damping = np.array([vehicle.parameters.values[f"{name}.damping"]
                                 for name in self.joints])                # d (nu,)
        self.effort = np.array([vehicle.limits[name].effort for name in self.joints])
        # wheels that slide have rates of their own
        self._is_redundant = not slides and np.linalg.matrix_rank(rates, RANK) < len(rates)
        self._forget()

    def _motions(self, t: float, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the joints: their rates in each motion of a basis of those that the wheels allow
        (nu, d); what a unit effort on each adds to the acceleration of each, B (nu, nu); and the
        accelerations at rest without efforts, a (nu,)."""
        model = self._model
        q = q[:model.algebroid.nq]       # the deflections of tyres come last
        A = model.functions.rows(t, q, model.theta)[0]
        motions = kernel(A[list(model.frame.kept)])
        mass, weight = self._at_rest(t, q, model.theta)
        rates = motions[self._places]
        effect = np.linalg.solve(motions.T @ mass @ motions, np.c_[rates.T, motions.T @ weight])
        return rates, rates @ effect[:, :-1], rates @ effect[:, -1]

    def _forget(self) -> None:
        n = len(self.joints)
        self._t: float | None = None
        self._reference = np.full(n, np.nan)
        self._growth: np.ndarray = np.zeros(n)
        self._integral: np.ndarray = np.zeros(n)

    def __call__(self, t: float, state: State) -> Command:
        command = self.inside[0](t, state)
        parts = command if isinstance(command, (list, tuple)) else (command,)
        if not _is_readable(parts, self.joints):
            return command      # nothing to follow; the simulator reports what is wrong with it
        wanted, torque = np.full(len(self.joints), np.nan), {}
        held: list[tuple[JointVelocity, list[int]]] = []
        for part in parts:
            if isinstance(part, JointVelocity) and part.acceleration is not None:
                held.append((part, [self.joints.index(name) for name in part.values]))
            for name, value in part.values.items():
                if isinstance(part, JointTorque):
                    torque[name] = value
                else:
                    wanted[self.joints.index(name)] = self._rate(part, name, value, state)
        return JointTorque(torque | self._torques(t, state, wanted, held))

    def _rate(self, part: JointVelocity | JointPosition, name: str, value: float,
              state: State) -> float:
        """The rate that a command asks of a joint [rad/s]."""
        limit, angle = self.vehicle.limits[name], state.encoder.angle[name]
        if isinstance(part, JointPosition):
            wanted = min(max(value, limit.lower), limit.upper)
            value = (wanted - angle) / (4 * self.time)
        else:
            # no faster than it comes to rest at a limit
            value = min(max(value, min((limit.lower - angle) / (4 * self.time), 0.0)),
                        max((limit.upper - angle) / (4 * self.time), 0.0))
        return min(max(value, -limit.velocity), limit.velocity)

    def _torques(self, t: float, state: State, wanted: np.ndarray,
                 held: Sequence[tuple[JointVelocity, list[int]]]) -> dict[str, float]:
        """Torques of the joints whose rates are wanted; the others have NaN. Those of some commands
        are held back."""
        T, on = self.time, np.isfinite(wanted)
        encoder = state.encoder.rate
        rate = np.array([encoder[name] for name in self.joints])
        passed = 0.0 if self._t is None else t - self._t
        # as far as the feed-forward has brought an ideal joint meanwhile
        self._reference += self._growth * passed
        fresh = on & np.isnan(self._reference)
        self._reference[fresh], self._integral[fresh] = rate[fresh], 0.0
        self._reference[~on] = np.nan
        reference = np.where(on, self._reference, 0.0)
        error = np.where(on, reference - rate, 0.0)
        integral = self._integral + error * passed
        self._growth = np.where(on, (wanted - reference) / T, 0.0)
        for part, places in held:
            self._growth[places] *= part.hold_back(self._growth[places].tolist())
        rates, effect, fall = self._motions(t, state.q)
        feed = np.zeros(len(on))
        feed[on] = np.linalg.lstsq(effect[on][:, on], (self._growth - fall)[on], rcond=RANK)[0]
        if self._is_redundant:
            # without efforts that only brace joints against each other: these do no work in any
            # motion that the wheels allow
            rates *= on[:, None]
            moving = rates @ np.linalg.pinv(rates, rcond=RANK)
            integral = moving @ (self.inertia * integral) / self.inertia
        effort = (self.inertia * (error / T + INTEGRAL * integral / T ** 2)
                  + self.damping * (reference + integral / T))
        effort = feed + (moving @ effort if self._is_redundant else effort)
        stuck = (np.abs(effort) > self.effort) & (effort * error > 0)
        self._t, self._integral = t, np.where(stuck, self._integral, integral)
        effort = np.clip(effort, -self.effort, self.effort)
        return {name: float(value) for name, value, is_on in zip(self.joints, effort, on) if is_on}


def _is_readable(parts: Sequence, joints: Sequence[str]) -> bool:
    """Whether all parts are named commands with one finite number for some driven joints."""
    names: list[str] = []
    for part in parts:
        if not (isinstance(part, NAMED) and isinstance(part.values, Mapping)):
            return False
        if not all(isinstance(value, (int, float, np.number)) and math.isfinite(value)
                   for value in part.values.values()):
            return False
        names += part.values
    return len(set(names)) == len(names) and set(names) <= set(joints)
