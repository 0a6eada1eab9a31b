"""Steered wheels whose axles must meet in one centre of rotation: the holonomic condition that
prevents locking.

A lateral row without a joint-rate column reads row . (forward, lateral, yaw) = 0. Three such rows
allow a motion only if they are linearly dependent: phi_i = det(a, b, row_i) = 0 for a pair (a, b)
of independent ones. With a fixed axle, a is that axle and b the leader; without one, a and b are
two leaders, and where this pair becomes dependent, another pair describes the same manifold.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import combinations, islice

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import ModelError, listed
from ..once import cached_property
from ..urdf.description import NO_LIMITS, JointLimits
from ..urdf.remedy import option, suggest

PLANAR = (0, 1, 5)        # forward, lateral, yaw in the twist of a base that is upright
CLOSED = 1e-9             # [rad] error of a limit found by bisection, with a margin
TURNLESS = 1e-6           # axles that meet farther away than 1 / TURNLESS lengths are parallel
ALIGNED = 0.03            # axles with a smaller sine between them are reported as one line
STEEP = 0.8               # of the best pair's independence: the first pair is used above it
BISECTIONS = 40           # of a quarter turn, finer than any encoder
START = 1e-3              # of a leader's way: where followers show to which side they turn


def level_twists(normal: np.ndarray) -> np.ndarray:
    """(6, 3): the base's twist, in its frame, of (forward, lateral, yaw rate) along the ground,
    whose normal in this frame is `normal` (3,); forward is at right angles to the y axis."""
    forward = np.array([normal[2], 0.0, -normal[0]]) / np.hypot(normal[0], normal[2])
    twists = np.zeros((6, 3))
    twists[:3, 0], twists[:3, 1], twists[3:, 2] = forward, np.cross(normal, forward), normal
    return twists


@dataclass(frozen=True, eq=False)
class Axle:
    """The lateral row of one wheel, restricted to planar motion."""

    wheel: str  # name of the wheel
    steering: str  # the joint that steers it; "" if none does
    row: ca.SX  # (3,) expression in the steering angle, yaw component per `length`
    # numbers of the row at zero steering; `across` at 90 degrees: row = straight cos + across sin +
    # (0, 0, trail)
    straight: np.ndarray
    across: np.ndarray
    # distance of the wheel's centre from the steering axis, along the wheel, divided by `length`:
    # the speed of the row is row . (forward, lateral, length yaw) + trail length (rate of the
    # joint).
    trail: float = 0.0

    def __repr__(self) -> str:
        turned = f"turned by {self.steering!r}" if self.steering else "fixed"
        return f"<Axle of {self.wheel!r}, {turned}>"

    def at(self, angle: float) -> np.ndarray:
        """The row (3,) at a steering angle [rad]."""
        return self.straight * np.cos(angle) + self.across * np.sin(angle) + (0, 0, self.trail)

    def angle_for(self, twist: np.ndarray | ca.SX, near: float | ca.SX = 0.0):
        """The steering angle nearest to `near` at which the wheel allows the twist (forward,
        lateral, yaw * length), (3,) or (3, ...), numbers or symbols, at constant steering angle.

        Without a trail there are two such angles, half a turn apart; a trail moves them in opposite
        directions, and the one nearest to either is returned. If the centre of rotation is nearer
        to the steering axis than the trail, no angle allows the twist, and the best one is
        returned.
        """
        if isinstance(twist, ca.SX):
            kind, ahead, aside = ca, ca.dot(self.straight, twist), ca.dot(self.across, twist)
            angle = near - ca.remainder(near - ca.atan2(-ahead, aside), np.pi)
        else:
            x, y, z = twist
            kind, ahead, aside = np, *(row[0] * x + row[1] * y + row[2] * z
                                       for row in (self.straight, self.across))
            angle = np.arctan2(-ahead, aside)
            angle += np.pi * np.round((near - angle) / np.pi)
        if self.trail == 0.0:
            return angle
        # there ahead cos + aside sin vanishes, and has this slope
        slope, turning = aside * kind.cos(angle) - ahead * kind.sin(angle), self.trail * twist[2]
        rest = kind.sqrt(kind.fmax(slope * slope - turning * turning, 0.0))
        return angle - kind.arctan2(turning * kind.sign(slope), rest)


@dataclass(frozen=True)
class Steering:
    """All axles of a vehicle that constrain its planar motion."""

    # axles without a steering joint; if they do not meet in one point, the vehicle is locked
    fixed: tuple[Axle, ...]
    steered: tuple[Axle, ...]  # one for each steering joint, leaders first
    length: float  # [m], unit of length in the rows
    # one for each upright joint with trailing wheels, which do not constrain the base, because they
    # move sideways when the joint turns
    trailing: tuple[Axle, ...] = ()

    @cached_property
    def binding(self) -> tuple[Axle, ...]:
        """The fixed axles on different lines: none, one, or two, which determine the centre of
        rotation."""
        apart = (axle for axle in self.fixed[1:]
                 if np.linalg.norm(np.cross(self.fixed[0].straight, axle.straight)) > TURNLESS)
        return (*self.fixed[:1], *islice(apart, 1))

    @property
    def coupled(self) -> bool:
        """Whether there are more axles than can be chosen independently."""
        return bool(self.steered) and len(self.steered) + len(self.binding) > 2

    def pair(self, angles: dict[str, float] | None = None,
             leaders: Collection[str] = ()) -> tuple[Axle, Axle]:
        """(a, b) for the determinants: two fixed axles, a fixed axle and a leader (first of
        `leaders`), or the two steered axles that are most independent at `angles`."""
        if self.binding:
            named_leaders = [axle for axle in self.steered if axle.steering in leaders]
            a, b, *_ = *self.binding, *named_leaders, *self.steered
            return a, b
        angles = angles or {}
        rows = {axle.steering: axle.at(angles.get(axle.steering, 0.0)) for axle in self.steered}

        pairs = list(combinations(self.steered, 2))
        named = [sum(axle.steering in leaders for axle in pair) for pair in pairs]
        pairs = [pair for pair, count in zip(pairs, named) if count == max(named)]
        first, second = (np.array([rows[axle.steering] for axle in axles]) for axles in zip(*pairs))
        sizes = np.linalg.norm(np.cross(first, second), axis=1)
        return pairs[int(np.argmax(sizes >= STEEP * sizes.max()))]

    def functions(self, pair: tuple[Axle, Axle]) -> dict[str, ca.SX]:
        """Follower's joint name -> phi = det(a, b, row)."""
        a, b = pair
        centre = ca.cross(a.row, b.row)
        followers = [axle for axle in self.steered if axle not in pair] if self.coupled else []
        return {axle.steering: ca.dot(centre, axle.row) for axle in followers}

    def twist(self, angles: dict[str, float], pair: tuple[Axle, Axle]) -> np.ndarray:
        """The one planar twist (forward, lateral, yaw * length), unit, that both axles of the pair
        allow.

        Raises
        ------
        ModelError
            If the two axles coincide.
        """
        a, b = (axle.at(angles.get(axle.steering, 0.0)) for axle in pair)
        twist = pin.skew(a) @ b
        size = np.linalg.norm(twist)
        if size < TURNLESS:
            raise ModelError(f"the axles of {pair[0].wheel!r} and {pair[1].wheel!r} coincide at "
                             "these steering angles: they do not determine the motion; name other "
                             "steering joints")
        return twist / size

    def find_aligned(self, angles: dict[str, float]) -> tuple[Axle, ...]:
        """Two steered axles that nearly lie on one line at these angles; empty if there are
        none."""
        rows = [axle.at(angles.get(axle.steering, 0.0)) for axle in self.steered]
        rows = [row / np.linalg.norm(row) for row in rows]
        apart, pair = min(((np.linalg.norm(np.cross(a, b)), (one, other)) for (a, one), (b, other)
                           in combinations(zip(rows, self.steered), 2)), default=(np.inf, ()),
                          key=lambda found: found[0])
        return pair if apart < ALIGNED else ()

    def followers(self, angles: dict[str, float], pair: tuple[Axle, Axle]) -> dict[str, float]:
        """Angles of all steering joints at which every axle passes through the centre of rotation
        of the pair."""
        if not self.coupled:
            return dict(angles)
        twist = self.twist(angles, pair)
        now = {axle.steering: angles.get(axle.steering, 0.0) for axle in self.steered}
        return now | {axle.steering: axle.angle_for(twist, now[axle.steering])
                      for axle in self.steered if axle not in pair}


def check_can_move(steering: Steering) -> None:
    """Raises a `ModelError` that names the axles if ideal rolling allows no motion: fixed axles
    that do not meet in one point, near or at infinity."""
    fixed = steering.fixed
    if len(fixed) < 3:
        return
    rows = np.array([axle.straight for axle in fixed])
    values = np.linalg.svd(rows, compute_uv=False)
    if values[2] <= TURNLESS * values[0]:
        return
    raise ModelError(
        "ideal rolling allows no motion: the fixed axles of "
        f"{', '.join(repr(axle.wheel) for axle in fixed)} do not meet in one point",
        suggest("Slipping is how such a vehicle turns: choose ", option("skid", "mid-axle"),
                " (or a track factor, or the names of wheels whose lateral rows are freed), or "
                "give the wheels the kind omni or mecanum if they have rollers"))


def rank_error(steering: Steering, joints: Collection[str], angles: dict[str, float],
               where: str) -> ModelError:
    """The error if constraints lose rank at these angles of the steering `joints`, with a remedy if
    two steered axles have become one line."""
    at = listed(f"{name} = {angles[name]:+.4f} rad" for name in joints)
    text = f"the constraints lose rank {where}. Steering joints: {at}"
    aligned = steering.find_aligned(angles)
    if not aligned:
        return ModelError(text)
    # each axle passes through the pivot of the other
    held = {axle.steering: round(float(axle.angle_for(np.cross(other.straight, other.across),
                                                      angles[axle.steering])), 6)
            for axle, other in zip(aligned, aligned[::-1])}
    return ModelError(
        f"{text}. The axles of {listed(axle.wheel for axle in aligned)} are one line there, so "
        "that rolling lets the vehicle turn about any point of it: what it does next is open",
        suggest("Steer round that, or hold them there: ", option("locked", held)))


def narrow_limits(limits: dict[str, JointLimits], steering: Steering) -> dict[str, JointLimits]:
    """The limits, with those of a single leader narrowed to where every follower is within its own,
    and those of the followers to where the leader can move them; beyond, commands to both would
    contradict each other.

    With two leaders (no fixed axle) the admissible angles are not intervals; their limits stay.
    """
    if not (steering.coupled and len(steering.binding) == 1):
        return dict(limits)
    pair = steering.pair()
    leader = pair[1]
    own = limits.get(leader.steering, NO_LIMITS)
    ends = max(own.lower, -np.pi / 2), min(own.upper, np.pi / 2)
    reached = [_reach(steering, pair, leader, limits, end) for end in ends]
    drawn = {leader.steering: replace(own, lower=max(own.lower, reached[0]),
                                      upper=min(own.upper, reached[1]))}
    led = [steering.followers({leader.steering: angle}, pair) for angle in reached]
    # a leader that can turn fully may exceed the ends
    names = [axle.steering for axle in steering.steered if axle not in pair
             and axle.steering in limits and np.isfinite([own.lower, own.upper]).all()]
    for name in names:
        (lower, upper), its = sorted(float(angles[name]) for angles in led), limits[name]
        # the ends are no bounds for a follower that passes the sideways position on the way
        if max(lower, its.lower) <= 0 <= min(upper, its.upper):
            drawn[name] = replace(its, lower=max(its.lower, lower - CLOSED),
                                  upper=min(its.upper, upper + CLOSED))
    return limits | drawn


def _reach(steering: Steering, pair: tuple[Axle, Axle], leader: Axle,
           limits: dict[str, JointLimits], end: float) -> float:
    """The angle nearest to `end`, between zero and `end`, at which all followers are within their
    limits."""
    still, begun = (steering.followers({leader.steering: part * end}, pair) for part in (0, START))

    def turned(name: str, angle: float) -> float:
        """The angle of a follower, which may pass the sideways position on its way."""
        back = angle < still[name] < begun[name] or angle > still[name] > begun[name]
        return angle + back * np.copysign(np.pi, begun[name] - still[name])

    def fits(angle: float) -> bool:
        angles = steering.followers({leader.steering: angle}, pair)
        bounded = [name for name in angles if name in limits and name != leader.steering]
        return all(limits[name].lower <= turned(name, angles[name]) <= limits[name].upper
                   for name in bounded)

    if not fits(0.0) or fits(end):
        return end
    good, bad = 0.0, end
    for _ in range(BISECTIONS):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good
