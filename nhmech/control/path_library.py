"""Paths: line, circle, figure-eight, lane change, cubic spline, Dubins; `make_path` makes them by
name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_arguments, read_number, read_positive, read_word, show
from ..errors import InputError, listed
from .dubins import dubins
from .path import Arcs, Curve, Path

if TYPE_CHECKING:
    from scipy.interpolate import BPoly

# of each span of a parametric curve, between which arc length is interpolated by a quintic
PIECES, DOUBLINGS = 64, 7
# of |dp/ds|: the pieces are halved until it is 1 so exactly, or there are `MOST`
EVEN = 1e-10
NODES = 8                    # of Gauss's quadrature in each piece

# u -> p, dp/du, d2p/du2, each (..., 2)
Derivatives = Callable[[np.ndarray], Sequence[np.ndarray]]


def line(length: float) -> Path:
    """A straight line from the origin along x.

    Parameters
    ----------
    length
        [m].
    """
    return Arcs([(0.0, read_positive("length", length))])


@check_arguments
def circle(radius: float, left: bool = True) -> Path:
    """A circle from the origin along x.

    Parameters
    ----------
    radius
        [m].
    left
        Whether its centre is to the left.
    """
    r = read_positive("radius", radius)
    return Arcs([((1 if left else -1) / r, 2 * math.pi * r)], closed=True)


class FigureEight(Path):
    """Bernoulli's lemniscate r^2 = a^2 cos 2 theta, from its crossing into the right lobe, then
    through the left one.

    Parameters
    ----------
    a
        Half its width [m]; the tightest radius, at both tips, is a / 3.

    Notes
    -----
    Its radius is the lemniscate sine of its arc length; in Jacobi's functions of modulus^2 1/2 at w
    = sqrt(2) s / a::

        p = a / (2 dn^2) (sn, sn cn)
        heading = 3 arctan(cn) - pi/2
        curvature = -3 sn / (sqrt(2) a dn)

    so that arc length is exact and the path is smooth everywhere (C. L. Siegel, Topics in Complex
    Function Theory, vol. I, chapter 1).
    """

    def __init__(self, a: float):
        from scipy.special import ellipj, ellipk

        self.a, self.closed, self._jacobi = read_positive("a", a), True, ellipj
        self.length = 2 * math.sqrt(2) * self.a * float(ellipk(0.5))

    def _inner(self, s: float | np.ndarray) -> Curve:
        sn, cn, dn, _ = map(np.asarray, self._jacobi(math.sqrt(2) / self.a * s, 0.5))
        across = self.a * sn / (2 * dn * dn)
        return (across, across * cn, 3 * np.arctan(cn) - math.pi / 2,
                -3 * sn / (math.sqrt(2) * self.a * dn))


class Parametric(Path):
    """A curve given by any parameter, run through by arc length.

    s(u) by Gauss's quadrature in pieces; u(s) the quintic that has the value, slope and second
    derivative of the inverse at both ends of each piece. Point, heading and curvature are those of
    the curve at u(s).

    Parameters
    ----------
    derivatives
        u -> (p, dp/du, d2p/du2), each (..., 2).
    knots
        Values of u between which the curve is smooth; the first is the beginning.

    Raises
    ------
    InputError
        If the curve stands still, and so has no heading.
    """

    def __init__(self, derivatives: Derivatives, knots: Sequence[float] | np.ndarray,
                 closed: bool = False):
        ends = np.asarray(knots, dtype=float)
        for k in range(DOUBLINGS):
            u, s, self._u = _by_length(derivatives, ends, PIECES << k)
            if _unevenness(derivatives, s, self._u) <= EVEN:
                break
        first = derivatives(u)[1]
        self._derivatives = derivatives
        self._headings = s, np.unwrap(np.arctan2(first[:, 1], first[:, 0]))
        self.length, self.closed = float(s[-1]), closed

    def _inner(self, s: float | np.ndarray) -> Curve:
        lap = np.floor(s / self.length) if self.closed else 0.0
        s = s - lap * self.length
        p, first, second = self._derivatives(self._u(s))
        near, (at, headings) = np.arctan2(first[..., 1], first[..., 0]), self._headings
        turns = np.round((np.interp(s, at, headings) - near) / (2 * math.pi))
        heading = near + 2 * math.pi * turns + lap * (headings[-1] - headings[0])
        cross = first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
        return p[..., 0], p[..., 1], heading, cross / np.hypot(first[..., 0], first[..., 1]) ** 3


def _by_length(derivatives: Derivatives, knots: np.ndarray,
               pieces: int) -> tuple[np.ndarray, np.ndarray, BPoly]:
    """u and s at the ends of all pieces, and u(s)."""
    from scipy.interpolate import BPoly

    spans = [np.linspace(a, b, pieces, endpoint=False) for a, b in zip(knots, knots[1:])]
    u = np.concatenate([*spans, knots[-1:]])
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(u) / 2
    speeds = np.linalg.norm(derivatives((u[:-1] + half)[:, None] + half[:, None] * nodes)[1],
                            axis=-1)
    _, first, second = derivatives(u)
    speed = np.linalg.norm(first, axis=-1)
    if not min(speed.min(), speeds.min()) > 1e-6 * speeds.mean():
        raise InputError(f"the curve stands still near {derivatives(u[np.argmin(speed)])[0]}: its "
                         "heading is undefined. Two waypoints may be too close together, or the "
                         "curve reverses")
    s = np.concatenate([[0.0], np.cumsum(half * (speeds @ weights))])
    # du/ds and d2u/ds2, times the length of a piece; and with them Bernstein's coefficients of a
    # quintic, three from either end (`BPoly.from_derivatives` takes them piece by piece in Python)
    h, slope, bend = np.diff(s), 1 / speed, -np.sum(first * second, axis=-1) / speed ** 4
    begin, end = ((at, sign * h * d / 5, h ** 2 * dd / 20) for sign, at, d, dd in
                  ((1, u[:-1], slope[:-1], bend[:-1]), (-1, u[1:], slope[1:], bend[1:])))
    ends = [[at, at + step, at + 2 * step + second] for at, step, second in (begin, end)]
    return u, s, BPoly(np.stack([*ends[0], *ends[1][::-1]]), s)


def _unevenness(derivatives: Derivatives, s: np.ndarray, u: BPoly) -> float:
    """Largest | |dp/ds| - 1 |, at the quarters of the pieces."""
    at = s[:-1] + np.diff(s) / 4
    speed = np.linalg.norm(derivatives(u(at))[1], axis=-1)
    return float(np.abs(speed * u.derivative()(at) - 1).max())


@check_arguments
def spline(waypoints: ArrayLike, closed: bool = False) -> Path:
    """A cubic spline through waypoints, twice differentiable in the chords' length.

    Parameters
    ----------
    waypoints
        (n, 2) [m], in their order.
    closed
        Goes on from the last waypoint to the first; else the curvature is zero at both ends.

    Raises
    ------
    InputError
        For fewer than two waypoints (three of a closed path), numbers that are not finite, or
        neighbours that coincide.
    """
    from scipy.interpolate import CubicSpline

    points = np.asarray(waypoints, dtype=float)
    least = 3 if closed else 2
    shaped = points.ndim == 2 and points.shape[1] == 2 and len(points) >= least
    if not shaped or not np.isfinite(points).all():
        raise InputError(f"waypoints must be {least} or more rows of x and y, "
                         f"finite numbers [m]; got shape {points.shape}")
    if closed:
        points = np.vstack([points, points[:1]])
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not chords.min() > 1e-9 * chords.max():
        i = int(np.argmin(chords))
        raise InputError(f"waypoints {i} and {i + 1} coincide at {points[i]}: remove one of them")
    knots = np.concatenate([[0.0], np.cumsum(chords)])
    curve = CubicSpline(knots, points, bc_type="periodic" if closed else "natural")
    first, second = curve.derivative(), curve.derivative(2)
    return Parametric(lambda u: (curve(u), first(u), second(u)), knots, closed)


@check_arguments
def lane_change(length: float, offset: float, before: float = 0.0, after: float = 0.0) -> Path:
    """A change of lane along x: straight, over to the side, straight.

    y = offset (10 w^3 - 15 w^4 + 6 w^5) with w = (x - before) / length: the curvature is
    continuous, and zero at both ends.

    Parameters
    ----------
    length
        Of the change, along x [m].
    offset
        To the left [m].
    before, after
        Lengths of the straight parts [m].
    """
    length = read_positive("length", length)
    offset = read_number("offset", offset, "a finite number [m]")
    for name, value in (("before", before), ("after", after)):
        if read_number(name, value, "a finite number [m]") < 0:
            raise InputError(f"{name} = {value!r} must be a length [m], not negative")

    def derivatives(x: np.ndarray) -> tuple[np.ndarray, ...]:
        w = np.clip((x - before) / length, 0.0, 1.0)
        y = offset * w ** 3 * (10 - 15 * w + 6 * w * w)
        dy = offset / length * 30 * w ** 2 * (1 - w) ** 2
        ddy = offset / length ** 2 * 60 * w * (1 - w) * (1 - 2 * w)
        columns = (x, y), (np.ones_like(w), dy), (np.zeros_like(w), ddy)
        return tuple(np.stack(pair, axis=-1) for pair in columns)

    middle = np.linspace(before, before + length, 5)
    return Parametric(derivatives, [*([0.0] if before else []), *middle,
                                    *([before + length + after] if after else [])])


# name -> (what `size` [m] is, maker)
PATHS: dict[str, tuple[str, Callable[[float], Path]]] = {
    "line": ("its length", line),
    "circle": ("its radius", circle),
    "figure8": ("half its width; the smallest radius is a third of it", FigureEight),
    "lane_change": ("the width of the lane; the change is six widths long",
                    lambda size: lane_change(6 * size, size, 2 * size, 4 * size)),
    "dubins": ("its turning radius; ends three ahead and three to the left, heading left",
               lambda size: dubins((0.0, 0.0, 0.0), (3 * size, 3 * size, math.pi / 2), size)),
    "slalom": ("how far its gates are to either side, three apart",
               lambda size: spline([(0, 0), (3 * size, size), (6 * size, -size), (9 * size, size),
                                    (12 * size, -size), (15 * size, 0)])),
}


def make_path(name: str, size: float = 1.0) -> Path:
    """A path of the library by name, from the origin along x.

    `Path.place(x, y, yaw)` puts it elsewhere.

    Parameters
    ----------
    name
        One of `path_library.PATHS`: "line", "circle", "figure8", "lane_change", ....
    size
        Its characteristic length [m].

    Raises
    ------
    InputError
        For a name that does not exist or a size that is not positive.

    Examples
    --------
    >>> path = make_path("circle", 2.0).place(1.0, 0.0, 0.5)
    >>> round(path.length, 3), path.closed
    (12.566, True)
    """
    if not isinstance(name, str):
        raise InputError(f"path = {show(name)} must be a name, one of {listed(PATHS)}; "
                         "spline([(0, 0), (2, 1), (4, 0)]) goes through waypoints x, y [m]")
    read_word("path", name, PATHS)
    return PATHS[name][1](read_positive(f"size of {name!r}", size))
