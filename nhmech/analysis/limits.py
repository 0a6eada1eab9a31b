"""How fast a vehicle turns, how hard it starts and stops and how steep it climbs before a wheel
slips or leaves the ground: from the exact reactions, without a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from math import atan, degrees
from weakref import WeakKeyDictionary

import numpy as np

from ..checks import check_arguments, read_positive
from ..ctrl_c import hear_ctrl_c
from ..errors import InputError, listed
from ..vehicle.friction import wheels_with_tyres, without_tyres
from ..vehicle.vehicle import Vehicle
from .contact_load import NOTHING, ContactLoad
from .demand import Demand, Unattainable, steady_turn
from .friction import known_coefficients, least_use, shares, slack
from .ignorable import frozen_parts
from .secants import find_zero

FIRST, LAST = 0.125, 1e6  # trial values: what holds beyond the last one has no limit
BEYOND = 1e-6             # relative: where the wheels that give way are read off
EQUAL = 1e-4              # relative: wheels within it give way together

State = Callable[[float], tuple[ContactLoad, np.ndarray]]


class Cause(Enum):
    """The cause of a limit."""

    SLIP = "slip"
    LIFT_OFF = "lift-off"
    EFFORT = "effort"
    VELOCITY = "velocity"


# what one of those that set a limit does, and what several do
VERBS = {Cause.SLIP: ("slips", "slip"), Cause.LIFT_OFF: ("lifts off", "lift off"),
         Cause.EFFORT: ("is at its effort limit", "are at their effort limits"),
         Cause.VELOCITY: ("is at its velocity limit", "are at their velocity limits")}
SHOWN = 4      # names in a line


@dataclass(frozen=True)
class Limit:
    """How far a vehicle can go in one respect.

    Attributes
    ----------
    value
        The largest admissible value; None if there is none, and `reason` says why.
    cause
        What happens beyond it.
    names
        The wheels or driven joints that reach the limit.
    reason
        Why there is no value.
    when
        Of two sides, the one on which the limit is reached first.
    """

    value: float | None
    cause: Cause | None = None
    names: tuple[str, ...] = ()
    reason: str = ""
    when: str = ""

    def describe(self, unit: str, factor: float = 1.0) -> str:
        """The limit in words, such as "2.31 m/s: left_wheel_joint slips"."""
        if self.value is None:
            return f"none: {self.reason}"
        text = f"{factor * self.value:.4g} {unit}: {self.event}"
        return f"{text}, {self.when}" if self.when else text

    @property
    def event(self) -> str:
        """The event in words, such as "left_wheel_joint slips"."""
        if self.cause is None:
            return self.reason
        return f"{listed(self.names, SHOWN)} {VERBS[self.cause][len(self.names) > 1]}"


@dataclass(frozen=True)
class Limits:
    """The result of `limits`, for a vehicle on level ground.

    Attributes
    ----------
    mu
        Friction coefficient of each wheel; infinite for one that cannot slip.
    radius
        Of the circle [m]: forward speed over yaw rate.
    speed
        From which it stops, and with which the speeds on the circle are compared [m/s].
    slip, lift_off
        Speed on the circle at which a wheel first slips, and at which one first lifts off [m/s];
        the lower value of a left and a right turn.
    top_speed
        Speed on the circle that the velocity limits of the driven joints allow [m/s].
    acceleration, deceleration
        On a straight line, at low speed, by the driven joints [m/s^2].
    up, down, across
        Slope of the ground [rad] on which it stands or drives steadily, facing uphill, downhill,
        and across it to the worse side.
    not_judged
        Contacts that slide sideways in the model.
    tyres
        Wheels with tyres, which are taken to roll without slip.
    """

    mu: Mapping[str, float]
    radius: float
    speed: float
    slip: Limit
    lift_off: Limit
    top_speed: Limit
    acceleration: Limit
    deceleration: Limit
    up: Limit
    down: Limit
    across: Limit
    not_judged: tuple[str, ...] = ()
    tyres: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (f"<Limits on a circle of {self.radius:g} m: first slip "
                f"{self.slip.describe('m/s')}; first lift-off {self.lift_off.describe('m/s')}>")

    @property
    def stopping_distance(self) -> float | None:
        """v^2 / (2 a) [m] from `speed` at the largest deceleration; None if there is none."""
        return self.speed ** 2 / (2 * self.deceleration.value) if self.deceleration.value else None

    def margin(self, limit: Limit) -> float | None:
        """The fraction by which `speed` may be exceeded on the circle: 0.5 means half as fast
        again, a negative value that `speed` is too fast; None without a limit."""
        return None if limit.value is None else limit.value / self.speed - 1

    def describe(self) -> str:
        """One line for each number; one in all where none exists for one reason."""
        lines = {"first slip": self._speed_line(self.slip),
                 "first lift-off": self._speed_line(self.lift_off),
                 "top speed": self._speed_line(self.top_speed),
                 "acceleration": self.acceleration.describe("m/s^2"),
                 "deceleration": self.deceleration.describe("m/s^2")}
        distance = self.stopping_distance
        lines["stopping"] = (f"none: {self.deceleration.reason or 'it cannot brake'}"
                             if distance is None else f"{distance:.4g} m from {self.speed:g} m/s")
        lines |= {f"slope {name}": limit.describe("degrees", degrees(1)) for name, limit in
                  (("up", self.up), ("down", self.down), ("across", self.across))}
        if len({*lines.values()}) == 1:
            lines = {"limits": lines["stopping"]}
        if self.not_judged:
            lines["not judged"] = f"{', '.join(self.not_judged)}: slide sideways by the model"
        if self.tyres:
            lines["tyres"] = f"{', '.join(self.tyres)}: taken to roll without slip"
        width = max(map(len, lines))
        return "\n".join(f"{name:<{width}}  {text}" for name, text in lines.items())

    def _speed_line(self, limit: Limit) -> str:
        text, margin = limit.describe("m/s"), self.margin(limit)
        if margin is None:
            return text
        side = "above" if margin >= 0 else "below"
        compared = (f"{1 + margin:.3g} times" if margin >= 1
                    else f"{100 * abs(margin):.3g} % {side}")
        return f"{text}; {compared} {self.speed:g} m/s"


@check_arguments
@hear_ctrl_c()
def limits(vehicle: Vehicle, mu: float | Mapping[str, float] | None = None, *,
           radius: float = 1.0, speed: float = 1.0) -> Limits:
    """What a vehicle can do before ideal rolling ends, on level ground with friction `mu`.

    The forces at the contacts are the exact reactions of a steady turn, of a straight acceleration
    and of rest on a slope: affine in the square of the speed, the acceleration, and the tangent of
    the slope. Limits hold for the most favourable distribution of the load, as in `validity`, and
    end earlier if a driven joint reaches its effort limit; efforts of several driven joints are
    those of least norm. Tyres, whose force takes slip, are taken to roll without.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`, with the shape of its zero pose.
    mu
        As in `validity`; the wheels' own if None.
    radius
        Of the circle [m]: forward speed over yaw rate.
    speed
        From which it stops, and with which the speeds on the circle are compared [m/s].

    Raises
    ------
    InputError
        For numbers that are not positive, unknown wheels, wheels without a friction coefficient,
        and ground that moves.

    Examples
    --------
    >>> from nhmech.analysis import limits
    >>> found = limits(vehicle, 0.6, radius=1.5)
    >>> round(found.slip.value, 2), found.slip.cause.name
    (2.59, 'SLIP')
    """
    read_positive("radius", radius)
    read_positive("speed", speed)
    known, tyres = known_coefficients(vehicle, mu), wheels_with_tyres(vehicle)
    if any(vehicle.ground.velocity) or any(vehicle.ground.angular_velocity):
        raise InputError("the ground moves; limits need ground at rest")
    vehicle = without_tyres(vehicle)
    judge = _Judge(vehicle, known)
    turns = [[replace(limit, when=f"turning {side}") for limit in judge.turn(sign / radius)]
             for sign, side in ((1, "left"), (-1, "right"))]
    across = [replace(judge.slope((0, sign)), when=f"its {side} side uphill")
              for sign, side in ((1, "left"), (-1, "right"))]
    sliding = [c.name for c in vehicle.contacts if "lateral" in c.held
               and (c.name, "lateral") not in vehicle.contact_rows]
    slip, lift_off, top_speed = (_least(*sides) for sides in zip(*turns))
    return Limits(known, radius, speed, slip, lift_off, top_speed, judge.acceleration(1.0),
                  judge.acceleration(-1.0), judge.slope((1, 0)), judge.slope((-1, 0)),
                  _least(*across), tuple(sliding), tyres)


@check_arguments
def lift_acceleration(vehicle: Vehicle) -> float:
    """The acceleration, ahead or back on level ground, at which a wheel lifts off [m/s^2].

    It is infinite if no wheel lifts before the driven joints reach their effort limits, if a wheel
    carries no load at rest, and if it depends on further quantities.

    Parameters
    ----------
    vehicle
        A vehicle from `nhmech.load`.

    Examples
    --------
    >>> from nhmech.analysis import lift_acceleration
    >>> round(lift_acceleration(vehicle), 2)
    3.34
    """
    if vehicle not in _lift_accelerations:
        judge = _Judge(without_tyres(vehicle), dict.fromkeys(vehicle.contact_names, np.inf))
        found = [judge.acceleration(way) for way in (1.0, -1.0)]
        _lift_accelerations[vehicle] = min(
            (limit.value for limit in found
             if limit.value is not None and limit.value > IDLE and limit.cause is Cause.LIFT_OFF),
            default=np.inf)
    return _lift_accelerations[vehicle]


# [m/s^2] at less than this a wheel lifts off that bears nothing at rest but rounding; runs do not
# watch such wheels either
IDLE = 1e-5
_lift_accelerations: WeakKeyDictionary[Vehicle, float] = WeakKeyDictionary()


@dataclass(frozen=True)
class _Judge:
    """Finds the limits of one vehicle."""

    vehicle: Vehicle
    mu: Mapping[str, float]

    def turn(self, curvature: float) -> tuple[Limit, Limit, Limit]:
        """Speeds of the first slip (or end of effort), of the first lift-off, and that the driven
        joints allow."""
        try:
            demand = steady_turn(self.vehicle, curvature)
            load = cache(demand.load)      # each cause is looked for at the same trial values
            lift = self._first(load, Cause.LIFT_OFF)
            slip = self._earliest(load, lift)
        except Unattainable as error:
            return (self._refuse(error),) * 3
        if slip.cause is Cause.LIFT_OFF:
            slip = Limit(None, reason=f"{slip.event} before a wheel slips")
        return slip, lift, self._fastest(demand.velocity)

    def _fastest(self, velocity: np.ndarray) -> Limit:
        """The speed at which a driven joint reaches its velocity limit; `velocity` (nv,) is that at
        speed one."""
        names = self.vehicle.algebroid.v_names
        speeds = {name: self.vehicle.limits[name].velocity / rate for name in self.vehicle.driven
                  if name in self.vehicle.limits and (rate := abs(velocity[names.index(name)])) > 0}
        least = min(speeds.values(), default=np.inf)
        if least == np.inf:
            return Limit(None, reason="no driven joint has a velocity limit")
        first = tuple(name for name, value in speeds.items() if value <= least * (1 + EQUAL))
        return Limit(float(least), Cause.VELOCITY, first)

    def acceleration(self, way: float) -> Limit:
        """Forwards, or backwards for way = -1."""
        return self._straight(lambda demand, size: demand.load(acceleration=way * size))

    def slope(self, uphill: tuple[int, int]) -> Limit:
        """The angle of a slope that rises towards (forward, left)."""
        forward, left = uphill
        found = self._straight(
            lambda demand, size: demand.load(uphill=(size * forward, size * left)))
        return found if found.value is None else replace(found, value=atan(found.value))

    def _straight(self, load: Callable[[Demand, float], tuple[ContactLoad, np.ndarray]]) -> Limit:
        try:
            demand = steady_turn(self.vehicle, 0.0)
            return self._earliest(cache(lambda size: load(demand, size)))
        except Unattainable as error:
            return self._refuse(error)

    def _refuse(self, error: Unattainable) -> Limit:
        """No limit, because this motion does not exist."""
        if not self.vehicle.driven:
            return Limit(None, reason="nothing drives it")
        if not {"pitch", "roll"} <= set(frozen_parts(self.vehicle)):
            return Limit(None, reason="it can pitch or lean, so its limits depend on how it is "
                                      "balanced")
        return Limit(None, reason=error.text)

    def _earliest(self, state: State, lift: Limit | None = None) -> Limit:
        """The first of slip, lift-off and the effort limit."""
        lift = lift or self._first(state, Cause.LIFT_OFF)
        found = self._first(state, Cause.EFFORT)
        if any(map(np.isfinite, self.mu.values())):      # else a wheel slips where it lifts off
            found = _least(self._first(state, Cause.SLIP), found)
        # a wheel whose load vanishes has no friction left: it lifts off, rather than slips
        if lift.value is not None and (found.value is None
                                       or found.value >= lift.value * (1 - EQUAL)):
            return lift
        return found

    def _first(self, state: State, cause: Cause) -> Limit:
        """Where a margin vanishes. Beyond it, it stays negative: for forces affine in the motion,
        the possible ones are an interval."""
        margin = {Cause.SLIP: self._slack, Cause.LIFT_OFF: self._normal,
                  Cause.EFFORT: self._effort}[cause]
        left, low, high = margin(*state(0.0)), 0.0, FIRST
        if left < 0:
            return Limit(0.0, cause, self._names(*state(0.0), cause))
        while (over := margin(*state(high))) >= 0:
            low, left, high = high, over, 2 * high
            if high > LAST:
                return Limit(None, reason="nothing sets one")
        found = find_zero(lambda size: margin(*state(size)), low, high, left, over)
        return Limit(found, cause, self._names(*state(found * (1 + BEYOND)), cause))

    def _slack(self, load: ContactLoad, _: np.ndarray) -> float:
        """Friction left at the worst wheel [N], in the kindest split."""
        return slack(load, self.mu) + NOTHING * load.size

    def _normal(self, load: ContactLoad, _: np.ndarray) -> float:
        return load.least_normal + NOTHING * load.size

    def _effort(self, _: ContactLoad, efforts: np.ndarray) -> float:
        """Remaining effort of the joint that reaches its limit first, as a part of the limit."""
        return 1.0 - max(self._uses(efforts), default=0.0)

    def _uses(self, efforts: np.ndarray) -> list[float]:
        return [abs(float(effort)) / self.vehicle.limits[name].effort
                if name in self.vehicle.limits else 0.0
                for name, effort in zip(self.vehicle.driven, efforts)]

    def _names(self, load: ContactLoad, efforts: np.ndarray, cause: Cause) -> tuple[str, ...]:
        """The wheels or joints that fail in a state beyond the limit."""
        if cause is Cause.EFFORT:
            uses = dict(zip(self.vehicle.driven, self._uses(efforts)))
        elif cause is Cause.LIFT_OFF:
            normals = {wheel: -float(force) for (wheel, direction), force
                       in zip(load.names, load.split) if direction == "normal"}
            return (max(normals, key=lambda wheel: normals[wheel]),)
        else:
            needed = shares(load, least_use(load, self.mu)[1])
            uses = {wheel: need / self.mu[wheel] for wheel, need in needed.items()}
        most = max(uses.values())
        return tuple(name for name, use in uses.items() if use >= most * (1 - EQUAL))


def _least(*found: Limit) -> Limit:
    """The smallest of the existing limits; the first of equal ones."""
    sizes = [np.inf if limit.value is None else limit.value for limit in found]
    return next(limit for limit, size in zip(found, sizes) if size <= min(sizes) * (1 + EQUAL))
