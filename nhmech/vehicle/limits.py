"""Joint limits in a vehicle whose steering is coupled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .couplings import Axle, Steering
from .description import Limits

STEPS = 40      # bisections; finer than any encoder


def limits_with_followers(limits: dict[str, Limits], steering: Steering) -> dict[str, Limits]:
    """The limits, those of a single leader drawn in to where every follower keeps to its own.

    With two leaders (no fixed axle) the admissible angles are no intervals; theirs stay as they are.
    """
    if not (steering.coupled and steering.fixed):
        return dict(limits)
    pair = steering.pair()
    leader = pair[1]
    own = limits.get(leader.steering, Limits())
    ends = max(own.lower, -np.pi / 2), min(own.upper, np.pi / 2)
    lower, upper = (_reach(steering, pair, leader, limits, end) for end in ends)
    return {**limits, leader.steering: replace(own, lower=max(own.lower, lower), upper=min(own.upper, upper))}


def _reach(steering: Steering, pair: tuple[Axle, Axle], leader: Axle, limits: dict[str, Limits], end: float) -> float:
    """The angle nearest to `end`, coming from zero, at which all followers are within their limits."""
    def fits(angle: float) -> bool:
        closed = steering.followers({leader.steering: angle}, pair)
        bounded = [name for name in closed if name in limits and name != leader.steering]
        return all(limits[name].lower <= closed[name] <= limits[name].upper for name in bounded)

    if not fits(0.0) or fits(end):
        return end
    good, bad = 0.0, end
    for _ in range(STEPS):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good
