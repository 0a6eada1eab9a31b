"""The wheel in a cloud of vertices: radius, width and centre of what is round about an axle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# part of the radius: vertices this much nearer to the axle still belong to the same circle
_WINDOW = 0.01
# part of the radius, each way: a tyre may be drawn so far beside its axle (5 % of a diameter)
_WIDE = 0.05
OFF_AXLE = 0.03      # part of the radius: the centre of a tread is at most this far from the axle
# rad: neighbours on a full circle are nearer than this; an octagon is one, a square is not
_GAP = np.radians(50.0)
_SMALLEST = 0.02     # of the largest distance: where the search for a circle ends
# of the surface: where more of it lies outside of a circle, it is not a wheel that was drawn
_OUTSIDE = 0.25
_SECTORS = 24        # of 15 degrees each, in which the outermost vertices are compared
_TREAD = 0.95        # of the radius: vertices beyond it are the tread, of which the width is taken
# of the sectors: a stray part in one or two of them does not move radius and width
_MOST, _FEW = 0.9, 0.1


@dataclass(frozen=True)
class Solid:
    """What is round about an axle."""

    radius: float  # largest distance of the tread from the axle [m]
    along: float  # where the middle of the tread is on the axle [m]
    width: float  # of the tread along the axle [m]


def find_solid(points: np.ndarray, axis: np.ndarray,
               areas: Callable[[], np.ndarray] | None = None) -> Solid | None:
    """The wheel about an `axis` (3,) through the origin, from vertices (n, 3) [m]; None without a
    full circle of them.

    The tread is the outermost circle that is covered all around, up to gaps of `_GAP`: a part that
    sticks out on one side does not count. `areas` returns the surface (n,) of each vertex, in any
    unit; it is called only if parts stick out.
    """
    if len(points) == 0 or not np.all(np.isfinite(points)):
        return None
    along = points @ axis
    flat, beside = points @ _plane(axis), 0.0
    found = _outer_circle(flat, _WINDOW)
    wide = _outer_circle(flat, _WIDE)
    if wide is not None and (found is None or found < wide * (1 - _WINDOW)):
        # a circle beside the axle, or a lump: the fit tells which
        centre = _fit_centre(flat, wide)
        if np.linalg.norm(centre) > OFF_AXLE * wide:
            return None
        flat = flat - centre
        found, beside = _outer_circle(flat, _WINDOW), float(np.linalg.norm(centre))
    if found is None:
        return None
    distance = np.linalg.norm(flat, axis=1)
    outside = distance > found * (1 + _WINDOW)
    if np.any(outside):
        share = np.ones(len(points)) if areas is None else areas()
        if share[outside].sum() > _OUTSIDE * share.sum():
            return None
    near = (distance >= _TREAD * found) & (distance <= found * (1 + _WINDOW))
    sector, along = _sector(flat[near]), along[near]
    inside = [sector == s for s in np.unique(sector)]
    low = np.quantile([along[i].min() for i in inside], _FEW)
    high = np.quantile([along[i].max() for i in inside], 1 - _FEW)
    radius = np.quantile([distance[near][i].max() for i in inside], _MOST)
    return Solid(float(radius) + beside, float(low + high) / 2, float(high - low))


def _plane(axis: np.ndarray) -> np.ndarray:
    """Two directions (3, 2) across an axis and each other."""
    return np.linalg.svd(axis.reshape(1, 3))[2][1:].T


def _sector(flat: np.ndarray) -> np.ndarray:
    angle = np.arctan2(flat[:, 1], flat[:, 0])
    return np.floor(angle / (2 * np.pi) * _SECTORS).astype(int) % _SECTORS


def _outer_circle(flat: np.ndarray, window: float) -> float | None:
    """The upper edge of the outermost ring (r (1 - window), r] that points cover all around."""
    distance = np.linalg.norm(flat, axis=1)
    order = np.argsort(-distance)
    distance = distance[order]
    angle = np.arctan2(flat[order, 1], flat[order, 0])
    steps = int(np.log(_SMALLEST) / np.log1p(-window / 4))
    edges = distance[0] * (1 - window / 4) ** np.arange(steps)
    # `distance` falls, so that a ring is one slice
    starts = np.searchsorted(-distance, -edges, side="left")
    stops = np.searchsorted(-distance, -edges * (1 - window), side="right")
    for k in np.flatnonzero(stops - starts >= 2 * np.pi / _GAP):
        if _largest_gap(angle[starts[k]:stops[k]]) < _GAP:
            return float(edges[k])
    return None


def _largest_gap(angle: np.ndarray) -> float:
    angle = np.sort(angle)
    return float(np.max(np.diff(angle, append=angle[0] + 2 * np.pi)))


def _fit_centre(flat: np.ndarray, radius: float) -> np.ndarray:
    """The centre (2,) of the circle through the outermost points of all sectors within a radius;
    points far off it are left out at the second and third fit."""
    distance = np.linalg.norm(flat, axis=1)
    flat, distance = flat[distance <= radius], distance[distance <= radius]
    sector = _sector(flat)
    rim = np.array([flat[np.flatnonzero(sector == s)[np.argmax(distance[sector == s])]]
                    for s in np.unique(sector)])
    rim = rim[np.linalg.norm(rim, axis=1) > radius * (1 - 2 * _WIDE)]
    centre = np.zeros(2)
    for _ in range(3):
        # |p|^2 = 2 p . c + k, linear in the centre c and k
        system = np.column_stack([2 * rim, np.ones(len(rim))])
        *centre, _ = np.linalg.lstsq(system, np.sum(rim ** 2, axis=1), rcond=None)[0]
        off = np.linalg.norm(rim - centre, axis=1)
        off = np.abs(off - np.median(off))
        rim = rim[off <= max(3 * np.median(off), 1e-3 * radius)]
    return np.array(centre)
