"""The shortest path of bounded curvature between two poses."""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, atan2, cos, hypot, pi, sin, sqrt

import numpy as np

from ..checks import check_arguments, read_array, read_positive
from .path import Arcs

# [rad], of unit radius: an arc this little short of a full turn is none, circles this near touch
WHOLE = 1e-10


def dubins_words(d: float, a: float, b: float) -> dict[str, tuple[float, float, float]]:
    """Lengths of the three parts of every word that exists, for unit radius.

    From heading a at (0, 0) to heading b at (d, 0).

    L. E. Dubins, Amer. J. Math. 79 (1957) 497: the shortest path is one of six words of left, right
    and straight. Formulas after A. M. Shkel, V. Lumelsky, Robotics and Autonomous Systems 34 (2001)
    179, three of them; the other three are their mirror images.
    """
    return _begin_with("L", "R", d, a, b) | _begin_with("R", "L", d, -a, -b)


def _begin_with(left: str, right: str, d: float, a: float,
                b: float) -> dict[str, tuple[float, float, float]]:
    """The words that begin with a turn to the left; all of them mirrored, where it is called R."""
    found = {}
    span, rise = d + sin(a) - sin(b), cos(a) - cos(b)
    course = atan2(-rise, span) if hypot(span, rise) > WHOLE else a              # all one arc
    found[f"{left}S{left}"] = (_turn(course - a), hypot(span, rise), _turn(b - course))
    wide, high = d + sin(a) + sin(b), cos(a) + cos(b)
    square = wide * wide + high * high - 4
    if square >= -WHOLE:
        straight = sqrt(max(square, 0.0))
        course = atan2(-high, wide) + atan2(2, straight)
        found[f"{left}S{right}"] = (_turn(course - a), straight, _turn(course - b))
    c = 1 - (span * span + rise * rise) / 8
    if c >= -1 - WHOLE:
        middle = 2 * pi - acos(max(c, -1.0))
        first = _turn(atan2(-rise, span) - a + middle / 2)
        found[f"{left}{right}{left}"] = (first, middle, _turn(b - a - first + middle))
    return found


def _turn(angle: float) -> float:
    """The angle in [0, 2 pi)."""
    angle %= 2 * pi
    return 0.0 if 2 * pi - angle < WHOLE else angle


@check_arguments
def dubins(start: Sequence[float], end: Sequence[float], radius: float) -> Arcs:
    """The shortest path between two poses with a bounded curvature (Dubins).

    Parameters
    ----------
    start, end
        (x [m], y [m], yaw [rad]).
    radius
        The smallest turning radius [m].

    Raises
    ------
    InputError
        For numbers that are not finite, and where both poses are the same.
    """
    r = read_positive("radius", radius)
    expected = "a pose (x [m], y [m], yaw [rad]) of finite numbers"
    poses = np.array([read_array("start", start, (3,), expected),
                      read_array("end", end, (3,), expected)])
    across, up = poses[1, :2] - poses[0, :2]
    course = atan2(up, across)
    found = dubins_words(hypot(across, up) / r, poses[0, 2] - course, poses[1, 2] - course)
    word = min(found, key=lambda name: sum(found[name]))
    bend = {"L": 1 / r, "S": 0.0, "R": -1 / r}
    return Arcs([(bend[letter], part * r) for letter, part in zip(word, found[word])],
                poses[0])
