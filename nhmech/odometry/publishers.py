"""Joint states that several publishers send on one topic, each for its own joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline

from ..errors import InputError
from .findings import Finding
from .samples import JointSamples
from .stamps import FEW, clean


def clean_joints(joints: JointSamples) -> tuple[JointSamples, list[Finding]]:
    """The messages with rising stamps, as if one publisher had sent them, and findings about them.

    Messages that name none of the joints belong to other publishers. If no publisher names all
    joints, each joint is taken from the publisher that sends it most often, at the stamps of the
    slowest of these; between its own stamps a position follows a cubic spline.
    """
    if joints.named is None:
        return clean(joints)
    masks = {name: _usual_mask(joints, k) for k, name in enumerate(joints.names)}
    streams: dict[bytes, JointSamples] = {}
    found: list[Finding] = []
    for pattern in {one.tobytes(): one for one in masks.values()}.values():
        rows = np.flatnonzero((joints.named == pattern).all(1))
        names = [name for name, own in masks.items() if (own == pattern).all()]
        streams[pattern.tobytes()], notes = clean(replace(joints, named=None).take(rows)
                                                  .select(names))
        found += notes
    slowest = min(streams.values(), key=len)
    t = slowest.t
    t = t[(t >= max(one.t[0] for one in streams.values()))
          & (t <= min(one.t[-1] for one in streams.values()))]
    if len(t) < FEW:
        apart = " and ".join(one.names[0] for one in streams.values())
        raise InputError(f"{joints.topic} has {apart} in different messages, which have no time in "
                         "common")
    columns = [streams[masks[name].tobytes()].select([name]) for name in joints.names]
    position, velocity, effort = (
        np.column_stack([_at(t, one.t, getattr(one, part)[:, 0], part == "position")
                         for one in columns]) for part in ("position", "velocity", "effort"))
    received = None if slowest.received is None else np.interp(t, slowest.t, slowest.received)
    return JointSamples(joints.topic, t, received, joints.names, position, velocity, effort), found


def _usual_mask(joints: JointSamples, k: int) -> np.ndarray:
    """The names (n,) that are in most of the messages which name joint k, together."""
    assert joints.named is not None
    patterns, counts = np.unique(joints.named[joints.named[:, k]], axis=0, return_counts=True)
    return patterns[counts.argmax()]


def _at(t: np.ndarray, stamps: np.ndarray, values: np.ndarray, is_smooth: bool) -> np.ndarray:
    """Values at other times; NaN if there are none."""
    known = np.isfinite(values)
    if known.sum() < FEW:
        return np.full(len(t), np.nan)
    if len(t) == len(stamps) and (t == stamps).all():
        return values
    if is_smooth:
        return CubicSpline(stamps[known], np.unwrap(values[known]))(t)
    return np.interp(t, stamps[known], values[known])
