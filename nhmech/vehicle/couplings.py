"""Steered wheels whose axles must meet in one rotation centre: the holonomic condition against
locking.

A lateral row without a joint-rate column reads row . (forward, lateral, yaw) = 0. Three such rows
allow a motion only where they are linearly dependent: phi_i = det(a, b, row_i) = 0 for a pair (a,
b) of independent ones. With a fixed axle, a is that axle and b the leader; without one, (a, b) are
two leaders, and another pair describes the same manifold where this one degenerates.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice

import casadi as ca
import numpy as np
import pinocchio as pin

from ..errors import ModelError, listed
from ..urdf.description import JointLimits
from ..urdf.remedy import option, suggest

PLANAR = (0, 1, 5)        # forward, lateral, yaw in the base's twist
CLOSED = 1e-9             # [rad] that a limit found by bisection is off, with room to spare
TURNLESS = 1e-6           # axles that meet nowhere nearer than 1 / TURNLESS lengths are parallel
ALIGNED = 0.03            # sine between axles that are told as one line
STEEP = 0.8               # of the most independent pair: above it the first one will do
BISECTIONS = 40           # of a quarter turn: finer than any encoder


@dataclass(frozen=True, eq=False)
class Axle:
    """One lateral row seen in the plane."""

    wheel: str  # its name
    steering: str  # the joint that turns it; "" where none does
    row: ca.SX  # (3,) expression in the steering angle, yaw component per `length`
    # numbers of the row at zero steering; `across` at 90 degrees: row = straight cos + across sin +
    # (0, 0, trail)
    straight: np.ndarray
    across: np.ndarray
    # how far the wheel's centre is from the steering axis, along the wheel, in `length`s: the row's
    # speed is row . (forward, lateral, length yaw) + trail length (rate of the joint).
    trail: float = 0.0

    def __repr__(self) -> str:
        turned = f"turned by {self.steering!r}" if self.steering else "fixed"
        return f"<Axle of {self.wheel!r}, {turned}>"

    def at(self, angle: float) -> np.ndarray:
        """Numbers of the row (3,) at a steering angle [rad]."""
        return self.straight * np.cos(angle) + self.across * np.sin(angle) + (0, 0, self.trail)

    def angle_for(self, twist: np.ndarray | ca.SX, near: float | ca.SX = 0.0):
        """The steering angle nearest to `near` at which the wheel lets the twist (forward, lateral,
        yaw * length), (3,) or (3, ...), numbers or symbols, pass while it is not turned.

        For a wheel with a trail, the nearest to the two angles without it; half a turn apart, they
        move by the trail in opposite ways. If the centre is nearer to the steering axis than the
        trail, no angle does, and the one that comes nearest is taken.
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
    """All axles of a vehicle that constrain the planar motion."""

    # without a steering joint; they meet in one point, or the vehicle is locked
    fixed: tuple[Axle, ...]
    steered: tuple[Axle, ...]  # one for each steering joint, leaders first
    length: float  # [m], the common unit
    # one for each upright joint that its wheels trail: turning moves them sideways, so that they do
    # not constrain the base
    trailing: tuple[Axle, ...] = ()

    @cached_property
    def binding(self) -> tuple[Axle, ...]:
        """The fixed axles that are not on one line with another: none, one, or two, which say where
        the rotation centre is."""
        apart = (axle for axle in self.fixed[1:]
                 if np.linalg.norm(np.cross(self.fixed[0].straight, axle.straight)) > TURNLESS)
        return (*self.fixed[:1], *islice(apart, 1))

    @property
    def coupled(self) -> bool:
        """Whether there are more axles than a rotation centre leaves free."""
        return bool(self.steered) and len(self.steered) + len(self.binding) > 2

    def pair(self, angles: dict[str, float] | None = None,
             leaders: Collection[str] = ()) -> tuple[Axle, Axle]:
        """(a, b) for the determinants: two fixed axles, a fixed axle and a leader (first of
        `leaders`), or the steered ones most independent at `angles`."""
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
            Where the two axles coincide.
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
        """Two steered axles that are all but one line at these angles; none where there are not."""
        rows = [axle.at(angles.get(axle.steering, 0.0)) for axle in self.steered]
        rows = [row / np.linalg.norm(row) for row in rows]
        apart, pair = min(((np.linalg.norm(np.cross(a, b)), (one, other)) for (a, one), (b, other)
                           in combinations(zip(rows, self.steered), 2)), default=(np.inf, ()),
                          key=lambda found: found[0])
        return pair if apart < ALIGNED else ()

    def followers(self, angles: dict[str, float], pair: tuple[Axle, Axle]) -> dict[str, float]:
        """Angles of all steering joints in which every axle passes through the pair's rotation
        centre."""
        if not self.coupled:
            return dict(angles)
        twist = self.twist(angles, pair)
        now = {axle.steering: angles.get(axle.steering, 0.0) for axle in self.steered}
        return now | {axle.steering: axle.angle_for(twist, now[axle.steering])
                      for axle in self.steered if axle not in pair}


def check_can_move(steering: Steering) -> None:
    """Raises `ModelError` that names the axles where ideal rolling leaves no way to move: fixed
    ones that do not meet in one point, near or at infinity."""
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
    """The error where constraints lose rank at angles of the steering `joints`, and the posture to
    hold where two steered axles have become one line."""
    at = listed(f"{name} = {angles[name]:+.4f} rad" for name in joints)
    text = f"the constraints lose rank {where}. Steering joints: {at}"
    aligned = steering.find_aligned(angles)
    if not aligned:
        return ModelError(text)
    # each axle goes through the other's pivot, about which neither of its rows lets a point move
    held = {axle.steering: round(float(axle.angle_for(np.cross(other.straight, other.across),
                                                      angles[axle.steering])), 6)
            for axle, other in zip(aligned, aligned[::-1])}
    return ModelError(
        f"{text}. The axles of {listed(axle.wheel for axle in aligned)} are one line there, so "
        "that rolling lets the vehicle turn about any point of it: what it does next is open",
        suggest("Steer round that, or hold them there: ", option("locked", held)))


def narrow_limits(limits: dict[str, JointLimits], steering: Steering) -> dict[str, JointLimits]:
    """The limits, those of a single leader drawn in to where every follower keeps to its own, and
    those of the followers to where the leader's put them: commands to both would contradict each
    other beyond.

    With two leaders (no fixed axle) the admissible angles are no intervals; theirs stay as they
    are.
    """
    if not (steering.coupled and len(steering.binding) == 1):
        return dict(limits)
    pair = steering.pair()
    leader = pair[1]
    own = limits.get(leader.steering, JointLimits())
    ends = max(own.lower, -np.pi / 2), min(own.upper, np.pi / 2)
    reached = [_reach(steering, pair, leader, limits, end) for end in ends]
    drawn = {leader.steering: replace(own, lower=max(own.lower, reached[0]),
                                      upper=min(own.upper, reached[1]))}
    led = [steering.followers({leader.steering: angle}, pair) for angle in reached]
    # a leader that turns round may be past the ends
    names = [name for name in led[0] if name in limits and name != leader.steering
             and np.isfinite([own.lower, own.upper]).all()]
    for name in names:
        (lower, upper), its = sorted(float(angles[name]) for angles in led), limits[name]
        # of one that turns past the sideways position on the way, the ends are no bounds
        if max(lower, its.lower) <= 0 <= min(upper, its.upper):
            drawn[name] = replace(its, lower=max(its.lower, lower - CLOSED),
                                  upper=min(its.upper, upper + CLOSED))
    return limits | drawn


def _reach(steering: Steering, pair: tuple[Axle, Axle], leader: Axle,
           limits: dict[str, JointLimits], end: float) -> float:
    """The angle nearest to `end`, from zero, at which all followers are within their limits."""
    def fits(angle: float) -> bool:
        angles = steering.followers({leader.steering: angle}, pair)
        bounded = [name for name in angles if name in limits and name != leader.steering]
        return all(limits[name].lower <= angles[name] <= limits[name].upper for name in bounded)

    if not fits(0.0) or fits(end):
        return end
    good, bad = 0.0, end
    for _ in range(BISECTIONS):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good
