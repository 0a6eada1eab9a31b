"""A vehicle that is driven by twists as they arrive, in step with an external clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.contact_load import contact_load
from ..analysis.friction import coefficients
from ..analysis.validity import can_roll, why_not
from ..errors import InputError, NhmechError
from ..simulation.command import Command, Controller
from ..simulation.contact.force_reader import force_reader
from ..simulation.simulator import Simulator
from ..simulation.state import State
from ..vehicle.vehicle import Vehicle
from .balance import Balance
from .combinators import Exchange
from .demo import DemoDrive, easy_speed
from .push import Push
from .twist import TwistDrive
from .twist_limits import NO_LIMITS, Twist, TwistLimits, coasts, moves_sideways
from .twist_rule import planar_twist_function
from .wheel_servo import WheelServo

CONTROL_PERIOD = 0.01      # [s], a fifth of the time constant of `WheelServo`
JUDGED = 0.1               # [s] between two looks at whether the wheels still roll
AGAIN = 1.0                # [s] before what failed is looked at again
LATE = 0.25                # [s]: further behind, it gives up catching up, where nobody says more
STILL = 1e-9               # [m/s] of lateral speed that counts as none
NEAR = 1e-9                # [m, rad] from the pose that was asked for
PLACED = 20                # times at most: each leaves sin^2 of the slope
OWN = "twists"             # name of the controller that follows the twists


class Teleoperation:
    """Simulates a vehicle in real time, or by another clock, and follows twists.

    They go through the limits to `WheelServo`, or to `Balance` where the vehicle's pitch is free;
    what no twist can drive is pushed off and coasts. Problems are reported and never raised.

    Parameters
    ----------
    controller
        Commands instead of what follows the twists.
    others
        Name -> controller that the twists' can be exchanged for by `choose`.
    start
        Arguments of `Simulator.reset`, beside those that go with the controller.
    dt
        Step [s].
    timeout
        [s] after which the last twist ends and the vehicle brakes; 0 for never.
    speed_factor
        Simulated seconds in a second.
    mu
        Friction coefficients for the judgement of rolling, as in `analysis.validity`.
    push
        Whether a hand pushes what no twist can drive.
    late
        [s] of the clock that may pass at once; the vehicle's time leaves out what is beyond.
    called
        What messages call a twist.
    say
        Takes the name of a thing and one line about it.
    on_twist
        Told (vehicle's time [s], twist) when the twist that is followed changes.

    Attributes
    ----------
    simulator
        What simulates it.
    has_lateral
        Whether it can move sideways.
    twist
        The twist that is commanded now, after the limits.
    is_paused
        Whether the vehicle's time stands still.
    behind
        [s] of the vehicle's time that are left to simulate.
    steps
        How many were taken; no restart sets them back.
    failure
        Why it stands still until it is restarted; empty if it does not.
    slips
        (time [s], why) where ideal rolling does not hold.
    """

    def __init__(self, vehicle: Vehicle, controller: Controller | None = None, *,
                 others: Mapping[str, Controller] | None = None,
                 start: Mapping[str, Any] | None = None, dt: float = 1e-3,
                 limits: TwistLimits = NO_LIMITS, timeout: float = 0.5,
                 speed_factor: float = 1.0, mu: float | Mapping[str, float] | None = None,
                 push: bool = False, late: float = LATE, called: str = "twist",
                 say: Callable[[str, str], None] = lambda what, line: None,
                 on_twist: Callable[[float, Twist], None] | None = None):
        self.vehicle, self.limits, self.timeout = vehicle, limits, timeout
        self.speed_factor, self._called, self._say = speed_factor, called, say
        self.has_lateral = moves_sideways(vehicle)
        self._late = late
        self._known = known = coefficients(vehicle, mu)
        self._grip = 1 / np.array([known[row.contact] for row in vehicle.contact_rows
                                   if row.is_normal])
        every = max(1, round(CONTROL_PERIOD / dt))
        self._drive: TwistDrive | None = None
        own = controller or self._follower()
        # of what balances or is pushed off
        self._begin = DemoDrive(vehicle).start if own is None else getattr(own, "start", {})
        self._begin = {**self._begin, **(start or {})}
        self._exchange = Exchange({OWN: own or _coast, **others}) if others else None
        hand = Push(vehicle, self._follow) if push and self.coasts else None
        # commands jump, and what lifts off is said by `_judge`: a loop does not end there
        self.simulator = Simulator(vehicle, self._exchange or own, dt=dt,
                                   control_period=every * dt, on_lift="ignore",
                                   wrench=None if hand is None else {hand.link: hand})
        self._hand, self.vehicle = hand, self.simulator.simulated.vehicle or vehicle
        self.is_paused, self.steps = False, 0
        self.twist: Twist = (0.0, 0.0, 0.0)
        self._earlier = self.twist              # the one before
        self._followed: float | None = None     # when: None where it begins
        self._on_twist: Callable[[float, Twist], None] | None = None
        self._warm_up()
        self.restart()
        self.steps, self._on_twist = 0, on_twist

    def __repr__(self) -> str:
        return f"<Teleoperation of {self.vehicle.name!r} at t = {self.simulator.t:.6g} s>"

    def _follower(self) -> Balance | WheelServo | None:
        if self.coasts:
            return None
        if "pitch_rate" in self.vehicle.speeds:
            balance = Balance(self.vehicle, self._follow)
            self._drive = balance.drive
            return balance
        self._drive = TwistDrive(self.vehicle, self._follow)
        return WheelServo(self.vehicle, commands=self._drive)

    @property
    def coasts(self) -> bool:
        """Whether no twist can drive the vehicle."""
        return coasts(self.vehicle)

    # -- before the clock starts -------------------------------------------------------------------
    def _warm_up(self) -> None:
        """Builds code and tables before the clock starts."""
        for name in self.controllers:
            self.restart()
            self.choose(name)
            state = self.simulator.step()
        self.choose(OWN)
        # at rest and on its way it may command joints of other names
        self._wanted, self._heard = (easy_speed(self.vehicle), 0.0, 0.0), math.inf
        self.simulator.reset(**self._begin)
        self.simulator.step()
        self.simulator.compile()
        for vehicle in (self.vehicle, *self.vehicle.rechosen.values()):
            force_reader(vehicle).function.compile()
        why_not(self.vehicle, contact_load(self.vehicle, state.t, state.q, state.v, state.u),
                self._known)

    # -- in ----------------------------------------------------------------------------------------
    def take(self, forward: float, lateral: float, yaw_rate: float, age: float = 0.0) -> bool:
        """A command [m/s, m/s, rad/s] that was given `age` [s] ago. Returns whether it is followed,
        without its lateral speed perhaps."""
        command = float(forward), float(lateral), float(yaw_rate)
        if not all(map(math.isfinite, command)):
            self._say("twist", f"{self._called} {command} is ignored because it is not finite")
            return False
        if self.coasts and self._hand is None:
            self._refused = (f"{self._called} is refused: {self.vehicle.name} can only coast, "
                             "because it has no driven wheel or would fall over")
            self._say("coasts", self._refused)
            return False
        self._refused = ""
        if abs(lateral) > STILL and not self.has_lateral:
            self._refused = (f"lateral speed {lateral:g} m/s is refused: {self.vehicle.name} "
                             "cannot move sideways")
            self._say("lateral", self._refused)
            command = command[0], 0.0, command[2]
        self._wanted, self._heard, self._is_silent = command, self.simulator.t - age, False
        return True

    @property
    def refused(self) -> str:
        """Why the last twist was not followed, or a part of it; empty if it was."""
        return self._refused or ("" if self.is_paused else self._left_out)

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names for `choose`: first the controller that follows twists, then the others."""
        return (OWN,) if self._exchange is None else tuple(self._exchange.controllers)

    @property
    def chosen(self) -> str:
        """Name of the controller that commands."""
        return OWN if self._exchange is None else self._exchange.chosen

    def choose(self, name: str) -> None:
        """Hands over to another controller. The one that follows twists begins with the present
        twist of the vehicle, from which the limits let it go on. Raises `InputError` for an unknown
        name."""
        before = self.chosen
        if self._exchange is not None:
            self._exchange.choose(name)
        elif name != OWN:
            raise InputError(f"controller = {name!r}: there is only {OWN!r}")
        if before != OWN == name:
            self._followed, self.twist = None, self._present_twist()
            self._earlier = self.twist

    def _present_twist(self) -> Twist:
        """The twist of the base; zero for a vehicle that coasts, which may be pushed at any
        speed."""
        if self.coasts:
            return 0.0, 0.0, 0.0
        state = self.simulator.state
        forward, lateral, yaw_rate = planar_twist_function(self.vehicle)(
            state.q, state.v).full().ravel().tolist()
        return forward, lateral, yaw_rate

    def restart(self, pose: tuple[float, float, float] | None = None) -> None:
        """Puts the vehicle at x [m], y [m] and yaw [rad] as seen from above, at rest; where it
        began, if None. Raises `NhmechError` if it cannot be placed; it stays where it is, or
        is where it began on a slope that is too steep to place it."""
        if pose is None:
            self.simulator.reset(**self._begin)
        else:
            self._place(pose)
        self.behind = 0.0
        if self._hand is not None:
            self._hand.reset()
        self._wanted, self._heard, self._is_silent = (0.0, 0.0, 0.0), -math.inf, False
        self.twist = self._earlier = (0.0, 0.0, 0.0)
        self._followed = None
        self._told: Twist | None = None
        self._has_told = False
        self._refused = self._left_out = self.failure = ""
        self._judged = -math.inf
        self.slips: tuple[float, str] | None = None

    def _place(self, pose: tuple[float, float, float]) -> None:
        """Puts the vehicle on the ground at a pose seen from above. On a slope, moving it along the
        normal changes that pose; the remainder is corrected until it is small."""
        known = self._begin.get("pose")
        lean = known[2:5] if isinstance(known, Sequence) and len(known) == 6 else (0, 0, 0)
        x, y, yaw = pose
        for _ in range(PLACED):
            seen = self.simulator.reset(**{**self._begin, "pose": (x, y, *lean, yaw)}).pose
            off = pose[0] - seen[0], pose[1] - seen[1], math.remainder(pose[2] - seen[2], math.tau)
            if max(map(abs, off)) < NEAR:
                return
            x, y, yaw = x + off[0], y + off[1], yaw + off[2]
        self.simulator.reset(**self._begin)
        raise NhmechError(f"no pose near {tuple(pose)} exists on a slope this steep; the vehicle "
                          "is back at its start")

    # -- time --------------------------------------------------------------------------------------
    def advance(self, passed: float) -> State:
        """Simulates `passed` [s] of the clock, in whole steps, and returns the state."""
        if self.is_paused or self.failure:
            return self.simulator.state
        self.behind += self.leave_out(passed) * self.speed_factor
        dt = self.simulator.dt
        try:
            while self.behind > 0.5 * dt:
                self.simulator.step()
                self.steps += 1
                self.behind -= dt
        except NhmechError as error:
            self.failure = error.text
            self.behind = 0.0
            self._say("failure", f"the simulation has stopped; reset it to go on: {error}")
        self._look_at_shortfall()
        state = self.simulator.state
        self._judge(state)
        return state

    def _look_at_shortfall(self) -> None:
        """Reports the part of the twist that joint limits prevent, once, when it no longer changes
        as the vehicle speeds up."""
        left_out = "" if self._drive is None or self.chosen != OWN else self._drive.shortfall
        if not left_out:
            self._has_told = False
        elif not self._has_told and self.twist == self._earlier:
            self._has_told = True
            self._say("shortfall", f"{self._called} {left_out}")
        self._left_out = left_out and f"{self._called} {left_out}"

    def leave_out(self, passed: float) -> float:
        """The part of the passed time [s] that is simulated; the rest is reported."""
        if passed > self._late:
            self._say("late", f"the computer was late, by {passed:.3g} s: simulated time skips "
                              f"{passed - self._late:.3g} s")
        return min(passed, self._late)

    def _follow(self, t: float, state: State) -> Twist:
        """The twist at a moment of the vehicle's time: limits, and the end of an old command."""
        wanted = self._wanted
        if self.timeout and t - self._heard > self.timeout + 0.5 * self.simulator.dt:
            if not self._is_silent and any(self.twist):
                self._say("timeout", f"no {self._called} for {self.timeout:g} s: the vehicle "
                                     "brakes")
            wanted, self._is_silent = (0.0, 0.0, 0.0), True
        passed = CONTROL_PERIOD if self._followed is None else t - self._followed
        self._followed = t
        self._earlier, self.twist = self.twist, self.limits.clip(wanted, self.twist, passed,
                                                                 self._earlier)
        if self._on_twist is not None and self.twist != self._told:
            self._told = self.twist
            self._on_twist(t, self.twist)
        return self.twist

    def _judge(self, state: State) -> None:
        """Looks now and then at whether the wheels can roll as they do. The forces' shortest split
        mostly shows that they can, in no time; where it does not, some split that holds is looked
        for, and the kindest of all only to say once why there is none."""
        if state.t - self._judged < (JUDGED if self.slips is None else AGAIN):
            return
        self._judged = state.t
        moment = state.t, state.q, state.v, state.u
        if min(force_reader(self.vehicle).room(*moment, self._grip)) >= 0:
            self.slips = None
            return
        load = contact_load(self.vehicle, *moment)
        if can_roll(load, self._known):
            self.slips = None
        elif self.slips is None:
            self.slips = state.t, why_not(self.vehicle, load, self._known)


def _coast(t: float, state: State) -> Command:
    """A command without efforts, with which the vehicle coasts."""
    return None
